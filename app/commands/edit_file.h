// Changes to what a file holds: some frames, another rate, other units, another upward axis.
//
// All change `file`, which poise_read made, in place: its clip, markers, model, goals, postures and placements stay
// consistent with each other. `model` is the skeleton of its clip where the file has none itself. False after one line on
// standard error that begins with `name`; the file can then only be destroyed.
#ifndef APP_EDIT_FILE_H
#define APP_EDIT_FILE_H

#include <poise/io.h>

// Keep frames first to last, both included; last < 0: to the end.
bool change_frames(poise_file *file, const char *name, int first, int last);

// Frames per second.
bool change_rate(poise_file *file, const char *name, const poise_model *model, double rate);

// Units and upward axis; 0 and UNKNOWN leave them as they are. What the file itself does not say is taken from `assumed`.
bool change_scale(poise_file *file, const char *name, poise_scale assumed, poise_scale scale);

// Ball joints and free joints of every kind as Euler angles, for formats that have nothing else; *count says how many
// joints that were. The motion stays what it is; their limits, and postures and goals, are left out.
bool change_to_euler(poise_file *file, const char *name, int *count);

#endif
