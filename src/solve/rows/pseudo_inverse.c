// PSEUDO_INVERSE: x = J^+ e + (I - J^+ J) z, the shortest step that removes the residual, and a posture in what it leaves.
//
//   J^+ e = sum_k (u_k . e)/s_k v_k                             over the singular values that are not rounding
//   z     = -xi grad h,  h the energy of the POSTURE and SMOOTHNESS goals (and options.prior)
//
// (A. Liegeois, "Automatic supervisory control of the configuration and behavior of multibody mechanisms", 1977; Ribeiro &
// Paiva 2019, eq. 5 and 6.) h is a sum of squares r_2 . r_2/2 with the Jacobian J_2, grad h = J_2^T r_2. The gain
//
//   xi = 1/(largest column of J_2 . itself)
//
// takes every coordinate at most to its posture: all the way when the weights are equal.
//
// Nothing is damped: near a singularity the step is long, cut to half a turn, and shortened until the cost of the main goals
// falls. Their cost never rises; that of the posture rises only with a fall of theirs (levels.c).
#include "solve/methods.h"
#include "solve/rows/residual_rows.h"

static bool main_step(pz_rows *rows, pz_level *level, double *x)
{
    if (!pz_rows_factor(rows, level)) {
        return false;
    }
    const pz_factors *f = &rows->factors;
    for (int k = 0; k < f->rank; ++k) {
        double part = rows->alpha[k] / f->s[k];
        for (int j = 0; j < f->n; ++j) {
            x[j] += part * pz_right(f, j, k);
        }
    }
    level->damping = 0.0;
    return true;
}

// x += (I - J^+ J) z, with -grad h = J_2^T e_2 at the current point.
static bool posture_step(pz_rows *rows, pz_level *level, double *x)
{
    double *z = rows->line, most = 0.0;
    const double *J = rows->J + (size_t)level->first * (size_t)rows->nv, *wanted = rows->wanted + level->first;
    for (int j = 0; j < rows->nv; ++j) {
        double column = 0.0, sum = 0.0;
        for (int i = 0; i < level->count && !rows->hold[j]; ++i) {
            double entry = J[(size_t)i * (size_t)rows->nv + (size_t)j];
            column += entry * entry;
            sum += entry * wanted[i];
        }
        z[j] = sum;
        most = max2(most, column);
    }
    pz_rows_project(rows, z);
    level->damping = 0.0;
    for (int j = 0; j < rows->nv; ++j) {
        x[j] += most > 0 ? z[j] / most : 0.0;
    }
    return true;
}

static bool step(const poise_solver *solver, pz_rows *rows, pz_level *level, double *x)
{
    (void)solver;
    return level == rows->levels ? main_step(rows, level, x) : posture_step(rows, level, x);
}

void *pz_pseudo_inverse_lay_out(poise_solver *solver, pz_arena *arena)
{
    return pz_rows_lay_out(solver, arena, PZ_LEVELS_POSTURE);
}

poise_outcome pz_pseudo_inverse_run(poise_solver *solver)
{
    static const pz_row_method method = {PZ_LEVELS_POSTURE, step};
    return pz_rows_run(solver, &method);
}
