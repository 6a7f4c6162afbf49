// Frames of a clip that come as near to the original as goals allow.
#ifndef PZ_MOTION_EDIT_EDITOR_H
#define PZ_MOTION_EDIT_EDITOR_H

#include <poise/edit.h>

#include "base/arena.h"
#include "num/real.h"

// The solver of a frame: the least change of a configuration that meets goals.
typedef struct pz_least_change {
    const poise_model *model;
    poise_kinematics *kin; // at the current q
    const double *weight;  // nv: > 0
    const bool *locked;    // nv; NULL: none
    double *lower, *upper; // nv: of the change
    int *coordinate;       // nv: that a degree of freedom is; -1: of a quaternion
    int row_room, rows;
    double *r, *J;      // rows; rows x nv
    double *y, *A;      // rows; rows x rows
    double *change;     // nv: from the original
    double *next;       // nv: the same after the step
    double *step;       // nv: the last step in full
    double *over;       // nv: a row of J_F W_F^-1
    signed char *bound; // nv: -1, 1 at a limit, 0 free, 2 locked
    double *trial;      // nq
    int iterations;     // of the last solve
    bool is_met;        // its goals are met
} pz_least_change;

// A clip that is being edited. Goals are added to `goals` up to `goal_room`, then pz_editor_solve.
typedef struct pz_editor {
    const poise_model *model; // the caller's
    poise_model *limited;     // the same with the limits of the current frame; NULL before the first
    poise_model *wide;        // and with limits for all frames of the original
    poise_solver *search;     // over `wide`: where goals are out of reach
    poise_clip *clip;
    double *original;      // frames x nq: as the clip was
    double *reference;     // frames x nq: what a frame stays near to
    bool is_smooth;        // that is a smooth change of the original, not the original
    poise_kinematics *kin; // of the original, where pz_editor_begin was called for
    poise_kinematics *at;  // of the answer
    pz_least_change solver;
    poise_objective *objective; // to measure goals
    poise_goal *goals;          // of the frame
    bool *yields;               // by goal: it gives way where not all can be met
    int goal_room, goal_count;
    bool *is_length;          // nv
    double *weight;           // nv: what moves of the skeleton with a degree of freedom
    double *jacobian;         // 3 nv
    double *step;             // nv: from the original to the last answer
    int last;                 // frame that it is of; POISE_NONE: none
    bool *changed;            // by frame
    bool *missed;             // by frame: some goal
    bool *is_outside;         // nq: the original leaves its limits somewhere
    double *goal_q;           // goal_room x nq: postures of goals
    double size;              // of the skeleton, in length units
    int iterations;           // of all solves
    double *lower, *upper;    // nq: of `limited`
    double *lowest, *highest; // nq: of `wide`
    double *found;            // nq
    double *swing;            // by joint, two numbers: ellipses of `limited`
    pz_owned owned;
} pz_editor;

// S(u) = u^3 (10 - 15 u + 6 u^2): from 0 at u <= 0 to 1 at u >= 1, with two derivatives that are 0 there.
static inline double pz_ease(double u)
{
    u = clamp(u, 0.0, 1.0);
    return u * u * u * (10.0 + u * (-15.0 + u * 6.0));
}

// Rows that a goal of this kind may have at most.
int pz_goal_rows_most(const poise_model *model, poise_goal_kind kind);

// What an edit needs room for.
typedef struct pz_editor_room {
    int goals;          // in a frame
    int rows;           // that they have: pz_goal_rows_most of each
    int coupled;        // RELATIVE and CENTER_OF_MASS goals
    const bool *locked; // nv; NULL: none
    const bool *moved;  // by body: goals are there to move it, on its own or with one that carries it; NULL: all
} pz_editor_room;

// On any status but POISE_OK there is nothing to close.
poise_status pz_editor_open(const poise_model *model, const pz_editor_room *room, poise_clip *clip,
                            const poise_allocator *allocator, pz_editor *editor, poise_error *error);
void pz_editor_close(pz_editor *editor);

// The original of a frame.
static inline const double *pz_editor_original(const pz_editor *e, int frame)
{
    return e->original + (size_t)frame * (size_t)e->clip->nq;
}

static inline double *pz_editor_reference(const pz_editor *e, int frame)
{
    return e->reference + (size_t)frame * (size_t)e->clip->nq;
}

static inline double *pz_editor_frame(const pz_editor *e, int frame)
{
    return e->clip->q + (size_t)frame * (size_t)e->clip->nq;
}

// Begin a frame: no goals, e->kin at its original.
poise_status pz_editor_begin(pz_editor *e, int frame, poise_error *error);

// Add a goal with weights as a skeleton of this size needs them, times `weight`. A posture is kept by the editor.
void pz_editor_add(pz_editor *e, const poise_goal *goal, double weight);

// Solve the frame for its goals, on from the last one where that is the frame before and nothing was made smooth.
poise_status pz_editor_solve(pz_editor *e, int frame, poise_error *error);

// Make the change smooth in time: frames that are solved from now on stay near to that.
poise_status pz_editor_smooth(pz_editor *e, const poise_allocator *allocator, poise_error *error);

// How far a goal is missed by a frame of the clip, or of the original.
poise_status pz_editor_error(pz_editor *e, const poise_goal *goal, const double *q, poise_goal_error *miss,
                             poise_error *error);

// The largest jolt that an edit adds to the point of a goal in frames first to last, where it is larger than that of the
// report.
poise_status pz_editor_find_jolt(pz_editor *e, const poise_goal *point, int first, int last, poise_pin_report *report,
                                 poise_error *error);

// Changes of the whole clip, for a report.
poise_status pz_editor_measure(pz_editor *e, poise_pin_report *report, poise_error *error);

// Joints first..last, each the only child of the one before, that move the figure as a whole. `last` is its body.
typedef struct pz_moving_root {
    int first, last;
} pz_moving_root;

// Files may have a joint above the hips that stands still, with channels of its own. So it is the first joint that slides in
// a clip, where all that moves hangs from it and that is most of the skeleton; else the first one of the model. `other` may
// be NULL: a clip of the same model to which it applies, too.
pz_moving_root pz_moving_root_of(const poise_model *model, const poise_clip *clip, const poise_clip *other);

#endif
