// Search along a direction within the limits: what BFGS, LBFGS, CONJUGATE_GRADIENT, NEWTON and GRADIENT_DESCENT
// share.
#ifndef PZ_PAPERS_LINE_SEARCH_H
#define PZ_PAPERS_LINE_SEARCH_H

#include <poise/method.h>

#include "num/dense.h"
#include "num/real.h"

#define PZ_FLAT 1e-15 // a share of the cost that its own rounding hides

typedef struct pz_line {
    double *direction; // nv
    double *taken;     // nv: the step behind the last point tried
    double *velocity;  // nv: of the path at that point
    double *D;         // nv: the metric of pz_make_metric
    bool *hold;        // nv: dofs that the method's matrix leaves out (pz_line_hold)
    double *q_trial;   // nq
    double t;          // length of the step, in directions
    bool has_jumped;   // a rotation vector changed its form on the way: old and new coordinates have nothing in common
} pz_line;

typedef enum pz_wolfe {
    PZ_LINE_ARMIJO = 0, // sufficient decrease: backtracking only
    PZ_LINE_WEAK_WOLFE  // and a slope that has risen enough
} pz_wolfe;

void pz_line_lay_out(pz_line *line, const poise_method_run *run, poise_method_memory *memory);

// Choose the dofs that a direction treats one by one, and set their direction: 0 for locked dofs and those at a bound that
// descent would leave; -g_i/D_i for those about to reach it. Returns how many are held.
int pz_line_hold(const poise_method_run *run, pz_line *line);

// Walk along line->direction from the current point. True: the current point is now one that meets the conditions. False:
// none was found that lowers the cost; nothing has changed.
bool pz_line_search(poise_method_run *run, pz_line *line, pz_wolfe conditions);

// The length alpha at which the Gauss-Newton model is least along -alpha p, p the projected gradient at the current point
// (jacobian_transpose.c); 0 when the model has no curvature there. p and Gp are scratch, nv numbers each.
double pz_transpose_length(const poise_method_run *run, double *p, double *Gp);

#endif
