// The least change of a configuration that meets goals.
#ifndef PZ_MOTION_EDIT_LEAST_CHANGE_H
#define PZ_MOTION_EDIT_LEAST_CHANGE_H

#include "base/arena.h"
#include "goal/goal.h"

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

// Rows that a goal of this kind may have at most.
int pz_goal_rows_most(const poise_model *model, poise_goal_kind kind);

// Take its arrays from an arena; model, kin, weight, locked and row_room are set.
void pz_least_change_lay_out(pz_least_change *s, pz_arena *arena);

// What stays the same from frame to frame.
void pz_least_change_begin(pz_least_change *s);

// Improve q, which is where it begins, so that the goals hold with the least change from `original`, within the limits of
// `limited` (a model like s->model), which hold at `original`.
poise_status pz_least_change_solve(pz_least_change *s, const poise_model *limited, const poise_goal *goals, int count,
                                   const double *original, double *q, poise_error *error);

#endif
