// Pictures become files.
#ifndef APP_SAVE_PICTURE_H
#define APP_SAVE_PICTURE_H

#include <poise/kinematics.h>
#include <scenes/picture.h>

// Write the picture, if it is whole, and release it and the kinematics it was drawn with (each may be NULL: there was no
// memory for it). False after one line on standard error.
bool save_picture(picture *p, poise_kinematics *kinematics, const char *name);

#endif
