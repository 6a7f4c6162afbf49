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
// falls. Their cost never rises; that of the posture rises only with a fall of theirs (the frame of all methods over rows).
#include "papers/methods/engines.h"

#include "num/dense.h"
#include "num/real.h"

static bool main_step(const poise_method_run *run, poise_method_rows *rows, double *x)
{
    if (!run->call->factor(rows)) {
        return false;
    }
    for (int k = 0; k < rows->rank; ++k) {
        double part = rows->alpha[k] / rows->s[k];
        for (int j = 0; j < rows->nv; ++j) {
            x[j] += part * rows->right[(size_t)j * (size_t)rows->width + (size_t)k];
        }
    }
    return true;
}

// x += (I - J^+ J) z, with -grad h = J_2^T e_2 at the current point.
static bool posture_step(const poise_method_run *run, poise_method_rows *rows, double *x)
{
    double *z = rows->work, most = 0.0;
    for (int j = 0; j < rows->nv; ++j) {
        double column = 0.0, sum = 0.0;
        for (int i = 0; i < rows->count && !rows->held[j]; ++i) {
            double entry = rows->J[(size_t)i * (size_t)rows->nv + (size_t)j];
            column += entry * entry;
            sum += entry * rows->wanted[i];
        }
        z[j] = sum;
        most = max2(most, column);
    }
    run->call->project_rows(rows, z);
    for (int j = 0; j < rows->nv; ++j) {
        x[j] += most > 0 ? z[j] / most : 0.0;
    }
    return true;
}

static bool step(const poise_method_run *run, poise_method_rows *rows, double *x)
{
    return rows->level == 0 ? main_step(run, rows, x) : posture_step(run, rows, x);
}

static const poise_row_method over_rows = {POISE_ROWS_POSTURE, step};
const poise_method_engine pz_pseudo_inverse_engine = {.name = "pseudo_inverse", .rows = &over_rows};
