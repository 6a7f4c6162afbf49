// Rows of the table that bench_read prints, by groups of formats.
#ifndef BENCH_READ_H
#define BENCH_READ_H

#include <poise/io.h>

// One row: how fast these bytes are read, and how fast what was read is written again, beside copying them.
void bench_read_row(const char *what, poise_format format, const poise_model *model, const void *bytes, size_t size);

void bench_read_markers(void); // C3D, TRC
void bench_read_motion(void);  // BVH, AMC

#endif
