// PSEUDO_INVERSE, DAMPED_LEAST_SQUARES and SELECTIVELY_DAMPED: steps x for J x = e by the singular values of J.
//
// With J = sum_k s_k u_k v_k^T, e = -r what the goals ask for, and alpha_k = u_k . e, all three are sums over the v_k:
//
//   PSEUDO_INVERSE          x = sum_k alpha_k/s_k v_k                              the shortest x with the least |J x - e|
//   DAMPED_LEAST_SQUARES    x = sum_k alpha_k s_k/(s_k^2 + lambda^2) v_k           long steps cost lambda^2 |x|^2
//   SELECTIVELY_DAMPED      x = sum_k clamp(alpha_k/s_k) v_k                       each by how far it would move the ends
//
// They run in the frame of all methods over rows (<poise/method.h>): a step that would raise the cost is shortened.
#include "papers/methods/methods.h"

// ---- PSEUDO_INVERSE: x = J^+ e + (I - J^+ J) z ---------------------------------------------------------------------------
//
// The shortest step that removes the residual, and a posture in what it leaves.
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

static bool pseudo_inverse_step(const poise_method_run *run, poise_method_rows *rows, double *x)
{
    return rows->level == 0 ? main_step(run, rows, x) : posture_step(run, rows, x);
}

static const poise_row_method pseudo_inverse = {POISE_ROWS_POSTURE, pseudo_inverse_step};
const poise_method_engine pz_pseudo_inverse_engine = {.name = "pseudo_inverse", .rows = &pseudo_inverse};

// ---- DAMPED_LEAST_SQUARES: x = J^T (J J^T + lambda^2 I)^-1 e -------------------------------------------------------------
//
// Minimises |J x - e|^2 + lambda^2 |x|^2 (C. Wampler 1986; Y. Nakamura & H. Hanafusa 1986), with the damping of A.
// Maciejewski & C. Klein, "Numerical filtering for the operation of robotic manipulators through kinematically singular
// configurations" (1988); Ribeiro & Paiva 2019, eq. 9, 10 and 15. This is the step that the solver's PRIORITY takes for each
// of its levels, and src/solve/priority.c has its derivation: here all goals are one level.
//
// options.rows.clamp cuts the residual of every goal first (S. Buss, "Introduction to inverse kinematics with Jacobian
// transpose, pseudoinverse and damped least squares methods", 2009). The cost never rises: a step that would raise it is
// shortened.

static const poise_row_method damped_least_squares = {POISE_ROWS_ONE, NULL};
const poise_method_engine pz_damped_least_squares_engine = {.name = "damped_least_squares", .rows = &damped_least_squares};

// ---- SELECTIVELY_DAMPED --------------------------------------------------------------------------------------------------
//
// Every singular direction is damped on its own, by how far it would move the ends.
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

static bool selectively_damped_step(const poise_method_run *run, poise_method_rows *rows, double *x)
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

static const poise_row_method selectively_damped = {POISE_ROWS_ONE, selectively_damped_step};
const poise_method_engine pz_selectively_damped_engine = {.name = "selectively_damped", .rows = &selectively_damped};
