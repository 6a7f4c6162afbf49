// SELECTIVELY_DAMPED: every singular direction is damped on its own, by how far it would move the ends.
//
// (S. Buss & J.-S. Kim, "Selectively damped least squares for inverse kinematics", 2005; Ribeiro & Paiva 2019, eq. 11 and
// 12.) With J = sum s_k u_k v_k^T, alpha_k = u_k . e, and l over the ends, here the parts of the goals:
//
//   N_k   = sum_l |u_k in the rows of l|                        how far the ends should move along u_k
//   rho_lj = |column j of J in the rows of l|                   how fast dof j moves end l
//   M_k   = 1/s_k sum_l sum_j |v_jk| rho_lj                     how far they would go along the way at most
//   gamma_k = min(1, N_k/M_k) gamma_max
//   phi_k = ClampMaxAbs(alpha_k/s_k v_k, gamma_k)               each component at most gamma_k
//   x     = ClampMaxAbs(sum_k phi_k, gamma_max)
//
// ClampMaxAbs scales the whole vector. Where no clamp bites, x is the step of the pseudo-inverse. Each phi_k is a positive
// multiple of alpha_k v_k, so x is a direction of descent: g . x = -sum_k (positive) alpha_k^2. The cost never rises: a step
// that would raise it is shortened (levels.c).
#include "solve/methods.h"
#include "solve/rows/residual_rows.h"

// gamma_max, the authors' choice: no dof moves further in one step.
#define LONGEST_STEP (0.25 * PZ_PI)

// N_k.
static double reach(const pz_rows *rows, const pz_level *level, int k)
{
    double sum = 0.0;
    for (int i = 0; i < level->count;) {
        int block = rows->block[level->first + i];
        double square = 0.0;
        for (; i < level->count && rows->block[level->first + i] == block; ++i) {
            double u = pz_left(&rows->factors, i, k);
            square += u * u;
        }
        sum += sqrt(square);
    }
    return sum;
}

// sum_l rho_lj for one dof.
static double speed(const pz_rows *rows, const pz_level *level, int dof)
{
    double sum = 0.0;
    for (int i = level->first; i < level->first + level->count && !rows->hold[dof];) {
        int block = rows->block[i];
        double square = 0.0;
        for (; i < level->first + level->count && rows->block[i] == block; ++i) {
            double entry = rows->J[(size_t)i * (size_t)rows->nv + (size_t)dof];
            square += entry * entry;
        }
        sum += sqrt(square);
    }
    return sum;
}

// The factor that takes a vector with this largest component to at most `most`.
static double clamp_factor(double longest, double most)
{
    return longest > most ? most / longest : 1.0;
}

static bool step(const poise_solver *solver, pz_rows *rows, pz_level *level, double *x)
{
    (void)solver;
    if (!pz_rows_factor(rows, level)) {
        return false;
    }
    const pz_factors *f = &rows->factors;
    double *speeds = rows->line, *sum = rows->x_level, longest = 0.0;
    for (int j = 0; j < f->n; ++j) {
        speeds[j] = speed(rows, level, j);
        sum[j] = 0.0;
    }
    for (int k = 0; k < f->rank; ++k) {
        double way = 0.0, largest = 0.0, part = rows->alpha[k] / f->s[k];
        for (int j = 0; j < f->n; ++j) {
            way += fabs(pz_right(f, j, k)) * speeds[j];
            largest = max2(largest, fabs(pz_right(f, j, k)));
        }
        double gamma = min2(1.0, reach(rows, level, k) * f->s[k] / way) * LONGEST_STEP; // way/s_k = M_k
        part *= clamp_factor(fabs(part) * largest, gamma);
        for (int j = 0; j < f->n; ++j) {
            sum[j] += part * pz_right(f, j, k);
        }
    }
    for (int j = 0; j < f->n; ++j) {
        longest = max2(longest, fabs(sum[j]));
    }
    double factor = clamp_factor(longest, LONGEST_STEP);
    for (int j = 0; j < f->n; ++j) {
        x[j] += factor * sum[j];
    }
    level->damping = 0.0;
    return true;
}

void *pz_selectively_damped_lay_out(poise_solver *solver, pz_arena *arena)
{
    return pz_rows_lay_out(solver, arena, PZ_LEVELS_ONE);
}

poise_outcome pz_selectively_damped_run(poise_solver *solver)
{
    static const pz_row_method method = {PZ_LEVELS_ONE, step};
    return pz_rows_run(solver, &method);
}
