// Results of the parts of a long run in a text file, one line each, so that a run that was stopped goes on where it was.
//
// The first line names the run; a file of another run is refused. Numbers are written as hexadecimal floats: what is read
// back is what was written, to the bit. A last line that was cut off is ignored.
#ifndef RESEARCH_RESUME_H
#define RESEARCH_RESUME_H

#include "erik_evaluation.h"

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

// Write the results of part `part` as one line.
void evaluate_progress_write(FILE *file, int part, const evaluate_results *results);

// Read a file of the run `name`: results of part i go to results[i] and done[i] is set, for i < count. Returns the number
// of parts read, 0 when there is no such file, -1 when it is of another run.
int evaluate_progress_read(const char *path, const char *name, int count, evaluate_results *results, bool *done);

// Open it for more lines, with `name` as its first when it is new or empty. NULL on failure.
FILE *evaluate_progress_append(const char *path, const char *name);

#ifdef __cplusplus
}
#endif

#endif
