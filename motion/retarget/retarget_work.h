// What one call of poise_retarget works with.
#ifndef PZ_MOTION_RETARGET_WORK_H
#define PZ_MOTION_RETARGET_WORK_H

#include "motion/retarget/feet.h"
#include "motion/retarget/pairs_followed.h"

typedef struct pz_retarget_work {
    const poise_retarget_task *task;
    pz_actor from, to;
    pz_followed followed;
    pz_foot foot[2];         // left, right
    poise_vec3 *hips;        // by frame: where the hips are to be; NULL: no legs
    pz_ground ground;        // of the target
    bool planted;            // feet are planted
    bool loose;              // feet only show where they reach: the solve leaves that in their paths
    bool in_place;           // the target's root cannot move
    bool same_shape;         // bones have the same proportions
    double *posture;         // nv: weights of the rest pose
    double *steady;          // nv: weights of the last frame's answer
    bool *locked;            // nv: slides that stay
    const poise_hull *hulls; // of the target, or of its shapes
    int hull_count;
    double *reach;         // by hull: of its surface from its first corner
    poise_goal *goals;     // of a frame
    quat *turn;            // by pair: what it is to have, of this frame and the one before
    quat *turned;          // by pair: what it had in the frame before
    double *v;             // nv: from the last frame to this one
    double *held;          // nv: weights of joints that are as fast as they may be,
    double *slow;          // and nq: where they are held
    double *lower, *upper; // nq: how far coordinates go in a frame
    double *velocity;      // nv: limits for a step; NULL: none
    bool *strained;        // by frame: planted feet take the hips far from their path
    int stumbles;          // frames in which trunk or legs jump; arms jump for reasons of their own
    double led[2];         // largest turns that the source asks for, into the second frame and the third
    bool *late;            // by frame: velocity limits leave a joint behind
    const double *old;     // an answer for the same frames with other feet; NULL: none
    bool *changed;         // by frame: with that, where the feet are to go elsewhere
} pz_retarget_work;

// Solve all frames into `clip`, and measure.
poise_status pz_retarget_solve(pz_retarget_work *w, const poise_allocator *allocator, poise_clip *clip,
                               poise_retarget_outcome *outcome, poise_error *error);

// Measuring, frame by frame, with w->to.kin at the answer.
void pz_retarget_measure(pz_retarget_work *w, int frame, poise_retarget_outcome *outcome);
void pz_retarget_measured(const pz_retarget_work *w, poise_retarget_outcome *outcome);

// What the whole motion shows: speeds of joints, feet that slide though the actor's rest, bodies inside each other.
poise_status pz_retarget_check(const pz_retarget_work *w, const poise_allocator *allocator, const poise_clip *clip,
                               poise_retarget_outcome *outcome, poise_error *error);

#endif
