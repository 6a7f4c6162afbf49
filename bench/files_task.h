// Files for the suite "files", by groups of formats.
#ifndef BENCH_FILES_TASK_H
#define BENCH_FILES_TASK_H

#include "suite.h"

#include <poise/io.h>

// One row: how fast these bytes are read, and how fast what was read is written again, beside copying them.
void files_row(const bench *b, const char *what, poise_format format, const poise_model *model, const void *bytes,
               size_t size);

void files_add_markers(const bench *b); // C3D, TRC
void files_add_motions(const bench *b); // BVH, AMC

#endif
