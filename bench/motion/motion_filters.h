// Filters of clips, as they are used after tracking frame by frame: what a whole-clip solver is measured against.
#ifndef BENCH_MOTION_FILTERS_H
#define BENCH_MOTION_FILTERS_H

#include <poise/poise.h>

// Let every rotation vector and angle go on from frame to frame without a leap of whole turns.
void filter_unwrap(const poise_model *model, poise_clip *clip);

// Whittaker's smoother (1923): the x that minimises sum (x - y)^2 + weight sum (second difference of x)^2, by coordinate.
void filter_whittaker(const poise_clip *from, double weight, poise_clip *to);

// Butterworth of second order, forwards and backwards, with `cutoff` in Hz; the ends are mirrored.
void filter_butterworth(const poise_clip *from, double cutoff, poise_clip *to);

#endif
