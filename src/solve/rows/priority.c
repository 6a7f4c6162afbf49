// PRIORITY: any number of strict levels, by goal.priority, 0 first.
//
// (P. Baerlocher & R. Boulic, "An inverse kinematics architecture enforcing an arbitrary number of strict priority levels",
// 2004; Ribeiro & Paiva 2019, eq. 13 and 14.) With J_l the rows of level l and P_l the projection onto the null space of all
// levels above together:
//
//   x_l = x_l-1 + (J_l P_l)^+lambda_l (e_l - J_l x_l-1),      P_0 = I,   P_l+1 = P_l - sum_k v_k v_k^T
//
// where the v_k are the right singular vectors of J_l P_l, which lie in the range of P_l. (J_l x_l-1 is subtracted once: e_l
// is the residual at the current point, before any level has moved.) ^+lambda is the damped inverse of
// damped_least_squares.c with a lambda for each level, from the smallest singular value of J_l P_l. That value gets small
// where level l conflicts with the levels above although J_l itself is sound, an "algorithmic singularity" (S. Chiaverini,
// "Singularity-robust task-priority redundancy resolution for real-time kinematic control of robot manipulators", 1997); the
// damping bounds the step there as it does at other singularities.
//
// x_l - x_l-1 lies in the range of P_l however much it is damped, so J_m x does not change for the levels m above l. What
// remains is the curvature of finite steps, which levels.c takes back before a step counts: from step to step the costs of
// the levels fall in the order of the dictionary, and the cost of the sum may rise.
#include "solve/methods.h"
#include "solve/rows/residual_rows.h"

void *pz_priority_lay_out(poise_solver *solver, pz_arena *arena)
{
    return pz_rows_lay_out(solver, arena, PZ_LEVELS_PRIORITY);
}

poise_outcome pz_priority_run(poise_solver *solver)
{
    static const pz_row_method method = {PZ_LEVELS_PRIORITY, pz_damped_rows_step};
    return pz_rows_run(solver, &method);
}
