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
// that would raise it is shortened (the frame of all methods over rows).
#include "papers/methods/engines.h"

#include "num/real.h"

// gamma_max, the authors' choice: no dof moves further in one step.
#define LONGEST_STEP (0.25 * PZ_PI)

// N_k.
static double reach(const poise_method_rows *rows, int k)
{
    double sum = 0.0;
    for (int i = 0; i < rows->count;) {
        int part = rows->part[i];
        double square = 0.0;
        for (; i < rows->count && rows->part[i] == part; ++i) {
            double u = rows->left[(size_t)i * (size_t)rows->width + (size_t)k];
            square += u * u;
        }
        sum += sqrt(square);
    }
    return sum;
}

// sum_l rho_lj for one dof.
static double speed(const poise_method_rows *rows, int dof)
{
    double sum = 0.0;
    for (int i = 0; i < rows->count && !rows->held[dof];) {
        int part = rows->part[i];
        double square = 0.0;
        for (; i < rows->count && rows->part[i] == part; ++i) {
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

static bool step(const poise_method_run *run, poise_method_rows *rows, double *x)
{
    if (!run->call->factor(rows)) {
        return false;
    }
    double *speeds = rows->work, *sum = rows->sum, longest = 0.0;
    for (int j = 0; j < rows->nv; ++j) {
        speeds[j] = speed(rows, j);
        sum[j] = 0.0;
    }
    for (int k = 0; k < rows->rank; ++k) {
        double way = 0.0, largest = 0.0, part = rows->alpha[k] / rows->s[k];
        for (int j = 0; j < rows->nv; ++j) {
            double v = rows->right[(size_t)j * (size_t)rows->width + (size_t)k];
            way += fabs(v) * speeds[j];
            largest = max2(largest, fabs(v));
        }
        double gamma = min2(1.0, reach(rows, k) * rows->s[k] / way) * LONGEST_STEP; // way/s_k = M_k
        part *= clamp_factor(fabs(part) * largest, gamma);
        for (int j = 0; j < rows->nv; ++j) {
            sum[j] += part * rows->right[(size_t)j * (size_t)rows->width + (size_t)k];
        }
    }
    for (int j = 0; j < rows->nv; ++j) {
        longest = max2(longest, fabs(sum[j]));
    }
    double factor = clamp_factor(longest, LONGEST_STEP);
    for (int j = 0; j < rows->nv; ++j) {
        x[j] += factor * sum[j];
    }
    return true;
}

static const poise_row_method over_rows = {POISE_ROWS_ONE, step};
const poise_method_engine pz_selectively_damped_engine = {.name = "selectively_damped", .rows = &over_rows};
