// A baseline: Levenberg-Marquardt with a dense Jacobian, as textbooks have it.
#ifndef BENCH_TEXTBOOK_LM_H
#define BENCH_TEXTBOOK_LM_H

#include <poise/kinematics.h>
#include <scenes/scenes.h>

typedef struct textbook_lm textbook_lm;

// The markers must stay valid. NULL when there is no memory.
textbook_lm *textbook_lm_create(const poise_model *model, const scene_marker *markers, int count);
void textbook_lm_destroy(textbook_lm *lm);

// Improve q until the largest component of a step is below `stop`, or 100 iterations are done. Returns how many there were.
int textbook_lm_solve(textbook_lm *lm, const poise_vec3 *seen, double stop, double *q);

#endif
