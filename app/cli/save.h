// Pictures of skeletons, from an empty page to a file.
#ifndef POISE_CLI_SAVE_H
#define POISE_CLI_SAVE_H

#include <poise/io.h>
#include <poise/poise.h>

#include <scenes/drawing.h>
#include <scenes/picture.h>

// Ink that all pictures share.
#define INK      "#2f3b4a"
#define PALE_INK "#7b8794"

// A page with title and caption, and kinematics of the model to draw with.
picture *begin_picture(int width, int height, const char *title, const char *caption, const poise_model *model,
                       poise_kinematics **kinematics);

// The page of a single skeleton: 760 x 640. show_box sets the view so that the box fills it but for `edge` pixels on each
// side, and draws the ground below.
enum { SKELETON_WIDTH = 760, SKELETON_HEIGHT = 640 };
void show_box(picture *p, const poise_file *file, drawing_box *box, double edge);

// Write the picture and release it and its kinematics. False after one line on standard error.
bool save_picture(picture *p, poise_kinematics *kinematics, const char *name);

// ---- Motions as tables of joint values (.csv) ----------------------------------------------------------------------------

// Is this the name of such a table?
bool is_joint_table(const char *name);

// A row for every frame: its time, then all numbers of the configuration with all their digits, in the units of the model
// and radians. Columns are called "joint", or "joint/coordinate" where a joint has several, as in a MOT.
bool save_joint_table(const poise_model *model, const poise_clip *clip, const char *name);

#endif
