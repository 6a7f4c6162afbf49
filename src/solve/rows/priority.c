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
// the next paragraph with a lambda for each level, from the smallest singular value of J_l P_l. That value gets small
// where level l conflicts with the levels above although J_l itself is sound, an "algorithmic singularity" (S. Chiaverini,
// "Singularity-robust task-priority redundancy resolution for real-time kinematic control of robot manipulators", 1997); the
// damping bounds the step there as it does at other singularities.
//
// x_l - x_l-1 lies in the range of P_l however much it is damped, so J_m x does not change for the levels m above l. What
// remains is the curvature of finite steps, which levels.c takes back before a step counts: from step to step the costs of
// the levels fall in the order of the dictionary, and the cost of the sum may rise.
//
// **The damped inverse.** x = J^T (J J^T + lambda^2 I)^-1 e minimises |J x - e|^2 + lambda^2 |x|^2 (C. Wampler 1986; Y. Nakamura &
// H. Hanafusa 1986). With J = sum s_k u_k v_k^T:
//
//   x = sum_k s_k/(s_k^2 + lambda^2) (u_k . e) v_k         (Ribeiro & Paiva 2019, eq. 9 and 10)
//
// Damping by A. Maciejewski & C. Klein, "Numerical filtering for the operation of robotic manipulators through kinematically
// singular configurations" (1988); Ribeiro & Paiva, eq. 15. With d = |e|/b, b the longest step asked for:
//
//   lambda = d/2                      s_min <= d/2
//            sqrt(s_min (d - s_min))  between
//            0                        s_min >= d
//
// Then |x| <= b: s/(s^2 + lambda^2) is at most 1/(2 lambda) = 1/d in the first case, 1/s_min <= 1/d in the last, and in the
// middle one it is 1/d at s_min and falls beyond it, since lambda < s_min. Two refinements, neither of which the bound
// minds: s_min is the smallest singular value that is not rounding, since a goal such as a direction has three rows and two
// degrees of freedom, which makes J singular everywhere; and |e| is the length of what J can reach at all, the root of
// sum_k (u_k . e)^2, since the rest takes no part in x but would damp it for good where goals cannot be met.
// options.damping > 0 is lambda itself, in the units of s: roots of weights times lengths.
#include "num/dense.h"
#include "solve/methods.h"
#include "solve/rows/residual_rows.h"

// b, in radians and length units: a step that linear motion describes to a few percent
#define LONGEST_STEP 0.5

// d/2, .. as above.
static double maciejewski_damping(double s_min, double e)
{
    double d = e / LONGEST_STEP;
    if (s_min >= d) {
        return 0.0;
    }
    return s_min <= 0.5 * d ? 0.5 * d : sqrt(s_min * (d - s_min));
}

bool pz_damped_rows_step(const poise_solver *solver, pz_rows *rows, pz_level *level, double *x)
{
    if (!pz_rows_factor(rows, level)) {
        return false;
    }
    const pz_factors *f = &rows->factors;
    double s_min = f->rank > 0 ? f->s[f->rank - 1] : 0.0, e = sqrt(pz_dot(rows->alpha, rows->alpha, f->rank));
    double lambda = solver->options.damping > 0 ? solver->options.damping : maciejewski_damping(s_min, e);
    for (int k = 0; k < f->rank; ++k) {
        double part = rows->alpha[k] / (f->s[k] + lambda * (lambda / f->s[k]));
        for (int j = 0; j < f->n; ++j) {
            x[j] += part * pz_right(f, j, k);
        }
    }
    level->damping = lambda;
    return true;
}

void *pz_priority_lay_out(poise_solver *solver, pz_arena *arena)
{
    return pz_rows_lay_out(solver, arena, POISE_ROWS_PRIORITY);
}

poise_outcome pz_priority_run(poise_solver *solver)
{
    static const pz_row_method method = {POISE_ROWS_PRIORITY, pz_damped_rows_step};
    return pz_rows_run(solver, &method);
}
