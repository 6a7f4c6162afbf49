// H = L^T D L by the tree, without fill: row i of L has entries for the degrees of freedom above i alone. Where H has other
// entries (mimic joints, coupled goals) the same on its whole lower triangle, as if all joints were one chain.
#ifndef PZ_GOAL_PACKED_FACTOR_H
#define PZ_GOAL_PACKED_FACTOR_H

#include "goal/objective_state.h"

// Rows of a lower triangle, by the tree or as a chain.
typedef struct pz_packed {
    const poise_model *model;
    bool is_chain;
    int nv;
} pz_packed;

// The rows that the Hessian of the last evaluation has.
pz_packed pz_packed_of(const poise_objective *objective);

static inline poise_packed_row pz_packed_row(const pz_packed *rows, int i)
{
    size_t n = (size_t)i;
    const pz_axis *axis = &rows->model->axes[i]; // without mimics axis i is that of dof i
    return rows->is_chain ? (poise_packed_row){.begin = n * (n + 1) / 2, .count = i + 1, .parent = i - 1}
                          : (poise_packed_row){rows->model->packed_row[i], axis->depth, axis->parent};
}

// The Hessian into the rows, and its diagonal; `square` is scratch for nv^2 numbers where the rows are a chain.
poise_status pz_packed_fill(const pz_packed *rows, poise_objective *objective, poise_hessian kind, double *H, double *square,
                            double *diagonal, poise_error *error);

// H = L^T D L in place: d_i at the end of row i, l_i before it. `diagonal` is that of H. A pivot that vanishes becomes a
// tiny one, so that what is open in sums of several degrees of freedom alone, and not in one, comes out finite: what is far
// down the tree often is, where two joints above it are known only together. False when a pivot is negative, unless it
// cannot be: H is not positive semidefinite.
bool pz_packed_factor(const pz_packed *rows, bool may_be_negative, double *H, const double *diagonal);

// x = L^-T x, from the leaves on, and x = L^-1 x, from the root on.
void pz_packed_solve_up(const pz_packed *rows, const double *H, double *x);
void pz_packed_solve_down(const pz_packed *rows, const double *H, double *x);

// The pivot d_i.
static inline double pz_pivot(const pz_packed *rows, const double *H, int i)
{
    poise_packed_row row = pz_packed_row(rows, i);
    return H[row.begin + (size_t)row.count - 1];
}

#endif
