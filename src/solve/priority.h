// Methods over residual rows of the goals, level by level: PRIORITY, and the frame of those that engines from outside step
// with.
//
// Every goal is a residual r with the Jacobian J (goal/goal.h). A method over rows says which goals form a level and how to
// step for one level; the rest is shared: limits, strict levels, backtracking, stopping. Most methods have one level only.
#ifndef PZ_SOLVE_PRIORITY_H
#define PZ_SOLVE_PRIORITY_H

#include "solve/solver.h"

#include <limits.h>

#define PZ_NEVER INT_MAX

typedef poise_row_levels pz_level_rule; // which goals form a level

typedef struct pz_level {
    int first, count;  // its rows
    double cost;       // energy of its goals at the current point
    double cost_trial; // at the point being tried
    double floor;      // a cost up to this is rounding
    double slope;      // what it can still do about its residual: |p|/(|J| |e|), p its gradient in what is free
    double damping;    // lambda of its step
    double best;       // energy of the goals that are missed, at the best end of the starts so far
} pz_level;

// Singular value decomposition A = sum s_k u_k v_k^T of m rows by n columns, in the form that pz_svd leaves it.
typedef struct pz_factors {
    int m, n;
    int count;       // min(m, n)
    int rank;        // singular values above rounding
    double *s;       // count, descending
    double *longer;  // max(m, n) x count: v_k when m < n, else u_k, as columns
    double *shorter; // count x count: the other one
} pz_factors;

typedef struct pz_rows {
    pz_level_rule rule;
    int nv, capacity; // columns; rows that fit
    int count;        // current rows
    pz_level *levels; // capacity + 1
    int level_count;
    double *r;      // residuals
    double *J;      // count x nv
    double *wanted; // -r, each goal's part clamped
    int *block;     // first row of the part of a goal that a row belongs to

    // The step for one level.
    double *e; // what is left to remove: wanted - J x
    pz_factors factors;
    double *alpha;   // factors.count: u_k . e
    int used_count;  // directions that are out of reach for this level
    double *used;    // used_count x nv, orthonormal
    bool *hold;      // nv: dofs that no level moves: columns left out
    int *hold_level; // nv: the level from which on a dof is kept at a bound, PZ_NEVER for none
    double *hold_by; // nv: the step to that bound
    int *edge_level; // by joint: the level from which on a swing may only move along the edge of its ellipse

    // The step for all levels.
    int level;        // the first that is not at rest
    double *x;        // nv: for all levels
    double *x_level;  // nv: up to that level
    double *taken;    // nv: what is being tried, at full length
    double *line;     // nv: scratch
    double *gradient; // nv: of one level
    double *q_trial;  // nq
} pz_rows;

typedef struct pz_row_method {
    pz_level_rule rule;
    // Add the step for one level to x (nv numbers), given rows->e. False: the numbers are not finite.
    bool (*step)(const poise_solver *solver, pz_rows *rows, pz_level *level, double *x);
} pz_row_method;

// The rows of an engine that steps with one level, or with several, which takes its step function from options.engine.
extern const pz_method_row pz_priority_method, pz_one_level_method, pz_levels_method;

// Of poise_method_calls: factor the rows of the level at hand; leave out of x what levels above use.
bool pz_rows_call_factor(poise_method_rows *rows);
void pz_rows_call_project(const poise_method_rows *rows, double *x);

// Energy by level, at the current point (is_trial false) or the one being tried.
void pz_rows_evaluate_costs(const poise_solver *solver, pz_rows *rows, bool is_trial);

#endif
