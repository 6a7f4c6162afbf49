// Units and axes in words.
#ifndef APP_SCALE_WORDS_H
#define APP_SCALE_WORDS_H

#include <poise/track.h>

// "x", "y", "z"; NULL for an axis that is not known.
const char *up_name(poise_up up);

// The axis of that name; UNKNOWN for NULL and anything else.
poise_up up_by_name(const char *name);

// "centimetres", or "units of 0.0564 m", which goes to `text`.
const char *unit_name(double metres, char text[32]);

// Would the figure, in this unit, be nothing like a person, and in another unit be one?
bool is_no_person(const poise_figure *figure, double metres);

#endif
