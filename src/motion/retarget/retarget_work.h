// What one call of poise_retarget works with.
#ifndef PZ_MOTION_RETARGET_WORK_H
#define PZ_MOTION_RETARGET_WORK_H

#include "motion/retarget/feet.h"
#include "motion/retarget/pairs_followed.h"

typedef struct pz_retarget_work {
    const poise_retarget_task *task;
    pz_actor from, to;
    pz_followed followed;
    pz_foot foot[2];   // left, right
    poise_vec3 *hips;  // by frame: where the hips are to be; NULL: no legs
    pz_ground ground;  // of the target
    bool planted;      // feet are planted
    bool in_place;     // the target's root cannot move
    bool same_shape;   // bones have the same proportions
    double *posture;   // nv: weights of the rest pose
    bool *locked;      // nv: slides that stay
    poise_goal *goals; // of a frame
    quat *turn;        // by pair: what it is to have, of this frame and the one before
    quat *turned;      // by pair: what it had in the frame before
    double *v;         // nv
    double *velocity;  // nv: limits for a step; NULL: none
} pz_retarget_work;

// Where hips and feet are to go, by frame, and when feet rest. `contacts` may be NULL.
poise_status pz_retarget_paths(pz_retarget_work *w, const poise_allocator *allocator, unsigned char *contacts);

// Solve all frames into `clip`, and measure.
poise_status pz_retarget_solve(pz_retarget_work *w, const poise_allocator *allocator, poise_clip *clip,
                               poise_retarget_outcome *outcome, poise_error *error);

// Measuring, frame by frame, with w->to.kin at the answer.
void pz_retarget_measure(pz_retarget_work *w, int frame, poise_retarget_outcome *outcome);
void pz_retarget_measured(const pz_retarget_work *w, poise_retarget_outcome *outcome);

#endif
