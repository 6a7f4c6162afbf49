// Pinning a clip as requested, whether in reach or not.
#ifndef PZ_MOTION_EDIT_PINS_H
#define PZ_MOTION_EDIT_PINS_H

#include <poise/edit.h>

// poise_clip_pin in one pass.
poise_status pz_clip_pin(const poise_model *model, const poise_pin *pins, int count, const poise_pin_options *options,
                         poise_clip *clip, const poise_allocator *allocator, poise_pin_result *results,
                         poise_pin_report *report, poise_error *error);

#endif
