// ERIK's baseline: two tasks in order of priority, by damped least squares.
//
// What the paper of ERIK compares with (Ribeiro & Paiva 2019, eq. 25; P. Baerlocher 2001): damped least squares for the
// orientation, and what its null space allows for the posture,
//
//   step = J1^+l1 e1 + (J2 (I - J1^+ J1))^+l2 (e2 - J2 J1^+l1 e1),     e2 = posture - (q + J1^+l1 e1)
//
// with J2 the identity but for a twister at the root or the end, each damping l from its smallest singular value (A.
// Maciejewski & C. Klein 1988), limits clamped after each step. Starts at the zero pose, stops at the threshold.
//
// It runs over the chain and the measures of a poise_erik, so that both are judged alike.
#ifndef PAPERS_TWO_TASK_H
#define PAPERS_TWO_TASK_H

#include <poise/express.h>

// Fill with two_task_options_default(), change what you like.
typedef struct two_task_options {
    int max_iterations;   // 100
    bool use_posture;     // true: false leaves the second task out, and only the orientation decides when to stop
    bool correct_flip;    // true: of the target and its twin by half a roll aim at the one that the posture, turned at the
                          // root towards the target, is nearer to; needs symmetric_endpoint
    bool flip_as_printed; // false: choose the twin as the paper does instead: a target that faces forward has its z down,
                          // one that faces backward up, which suits its skeleton C
    double longest_step;  // 0.3 rad: bound of each task's step, for its damping; > 0
    double error_clamp;   // 0.5 rad: longest rotation that a step is computed for; > 0
} two_task_options;

// The defaults that stand beside the members.
two_task_options two_task_options_default(void);

// As poise_erik_solve, with the errors, threshold and symmetric end of `erik`; report->iterations counts steps. `options`
// may be NULL for the defaults. Takes scratch memory from malloc: POISE_ERROR_MEMORY when there is none.
poise_status two_task_solve(poise_erik *erik, const two_task_options *options, const double *posture, poise_quat target,
                            double *q, poise_erik_report *report);

#endif
