// Motions as tables of joint values (.csv).
#ifndef APP_SAVE_TABLE_H
#define APP_SAVE_TABLE_H

#include <poise/poise.h>

// Is this the name of such a table?
bool is_joint_table(const char *name);

// A row for every frame: its time, then all numbers of the configuration with all their digits, in the units of the model
// and radians. Columns are called "joint", or "joint/coordinate" where a joint has several, as in a MOT.
bool save_joint_table(const poise_model *model, const poise_clip *clip, const char *name);

#endif
