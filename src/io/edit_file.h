// The parts of poise_file_edit.
#ifndef PZ_IO_EDIT_FILE_H
#define PZ_IO_EDIT_FILE_H

#include <poise/io.h>

// Joint k as it is to be.
typedef poise_joint (*pz_edit_joint)(const poise_model *model, int k, const void *user);

// A new model with every joint changed by `edit`, and tools at `length` times their place.
poise_status pz_edit_model(const poise_model *model, pz_edit_joint edit, const void *user, double length,
                           const poise_allocator *allocator, poise_model **made, poise_error *error);

// A new model whose world is turned: what points up along `from` does so along `to`. Configurations stay what they are.
poise_status pz_turn_model(const poise_model *model, poise_up from, poise_up to, const poise_allocator *allocator,
                           poise_model **made, poise_error *error);

// Ball joints and free joints of every kind as Euler angles; *count says how many joints that were.
poise_status pz_edit_euler(poise_file *file, int *count, poise_error *error);

#endif
