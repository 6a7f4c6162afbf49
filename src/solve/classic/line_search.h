// Search along a direction within the limits: what BFGS, LBFGS, CONJUGATE_GRADIENT and NEWTON_PROJECTED share.
#ifndef PZ_SOLVE_LINE_SEARCH_H
#define PZ_SOLVE_LINE_SEARCH_H

#include "solve/solver_state.h"

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

// Take the arrays from an arena (see base/arena.h).
void pz_line_lay_out(pz_line *line, const poise_solver *solver, pz_arena *arena);

// Choose the dofs that a direction treats one by one, and set their direction: 0 for locked dofs and those at a bound that
// descent would leave; -g_i/D_i for those about to reach it. Returns how many are held.
int pz_line_hold(const poise_solver *solver, pz_line *line);

// Walk along line->direction from the current point. True: the current point is now one that meets the conditions. False:
// none was found that lowers the cost; nothing has changed.
bool pz_line_search(poise_solver *solver, pz_line *line, pz_wolfe conditions);

// Sum of a_i b_i.
double pz_dot(const double *a, const double *b, int n);

#endif
