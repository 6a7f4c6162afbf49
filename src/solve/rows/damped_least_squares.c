// DAMPED_LEAST_SQUARES: x = J^T (J J^T + lambda^2 I)^-1 e, with lambda from the smallest singular value.
//
// Minimises |J x - e|^2 + lambda^2 |x|^2 (C. Wampler 1986; Y. Nakamura & H. Hanafusa 1986). With J = sum s_k u_k v_k^T:
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
//
// options.rows.clamp cuts the residual of every goal first (Buss 2009). The cost never rises: a step that would raise it is
// shortened (levels.c).
#include "solve/methods.h"
#include "solve/rows/residual_rows.h"

#include "solve/classic/line_search.h"

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

void *pz_damped_least_squares_lay_out(poise_solver *solver, pz_arena *arena)
{
    return pz_rows_lay_out(solver, arena, PZ_LEVELS_ONE);
}

poise_outcome pz_damped_least_squares_run(poise_solver *solver)
{
    static const pz_row_method method = {PZ_LEVELS_ONE, pz_damped_rows_step};
    return pz_rows_run(solver, &method);
}
