// A baseline: Levenberg-Marquardt with a dense Jacobian, as textbooks have it, within limits.
#ifndef BENCH_TEXTBOOK_LM_H
#define BENCH_TEXTBOOK_LM_H

#include <poise/kinematics.h>
#include <scenes/scenes.h>

typedef struct textbook_lm textbook_lm;

// It stops where every marker is within `reached` metres, or where no coordinate has a larger cosine than `cosine` between the
// residuals and what it can do about them (gradient_tolerance in solve.h). The markers must stay valid. NULL when there is no
// memory, and for joints with quaternions.
textbook_lm *textbook_lm_create(const poise_model *model, const scene_marker *markers, int count, double reached,
                                double cosine);
void textbook_lm_destroy(textbook_lm *lm);

// Improve q, from the neutral pose or another far away (cold), or the answer for the frame before. Returns the iterations:
// 100 at most.
int textbook_lm_solve(textbook_lm *lm, const poise_vec3 *seen, bool cold, double *q);

#endif
