// The search for a zero of the pose error: Gauss-Newton with a damping in proportion to the energy.
//
// With K the 6 x n matrix of columns [J_i ; a_i], residuals [r ; v/kappa] and kappa = cos(phi/2), each step solves
//
//   (sum J J^T + kappa a a^T + lambda I) x = -(J . r + a . v)          lambda = 0.05 f + 1e-12
//
// kappa makes the step of a pure turn 2 sin(phi/2) instead of sin(phi), as good as the angle itself and without an arc
// tangent. Every step is accepted, whatever it does to f: only zeros are looked for, and a search that does not close in on
// one is dropped after few iterations (ARM_CREEPS), since another start is cheaper.
//
// For six joints and more the same step comes from the 6 x 6 matrix K K^T, which is no larger for longer chains:
//
//   [ sum J J^T + lambda I          sum J a^T           ] [ y ]   [ -r       ]
//   [     sum a J^T          sum a a^T + lambda/kappa I ] [ z ] = [ -v/kappa ]          x_i = J_i . y + a_i . z
//
// since with w = diag(1, kappa) the step is x = -(K^T w K + lambda I)^-1 K^T w rho = -K^T (K K^T + lambda w^-1)^-1 rho.
//
// A joint at a limit that descent would leave has its column cleared and so takes no step; one that leaves its interval is
// turned back by whole turns, or clamped.
#include "solve/arm/arm_kernel.h"

// ---- Fewer than six joints: n x n ----------------------------------------------------------------------------------------

PZ_INLINE void small_step(int n, const arm_column *columns, const arm_error *error, double lambda, double kappa, double *x)
{
    double A[5][8];
    for (int i = 0; i < n; ++i) {
        vec3 a = v3_scale(columns[i].a, kappa);
        for (int j = 0; j <= i; ++j) {
            A[i][j] = A[j][i] = v3_dot(columns[i].J, columns[j].J) + v3_dot(a, columns[j].a);
        }
        A[i][i] += lambda;
        A[i][n] = -arm_slope(&columns[i], 1.0, error);
    }
    arm_eliminate(n, A);
    for (int i = 0; i < n; ++i) {
        x[i] = A[i][n];
    }
}

// ---- Six joints and more: 6 x 6 ------------------------------------------------------------------------------------------

PZ_INLINE void block_step(int n, const arm_column *columns, const arm_error *error, double lambda, double kappa, double *x)
{
    double inverse = 1.0 / kappa;
    arm_blocks b = {.P = sym3_identity(lambda * inverse), .Q = sym3_identity(lambda)};
    b.X = (mat3){{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    for (int i = 0; i < n; ++i) {
        vec3 a = columns[i].a, J = columns[i].J;
        b.P = sym3_add(b.P, sym3_outer(1.0, a));
        b.Q = sym3_add(b.Q, sym3_outer(1.0, J));
        b.X = (mat3){v3_mad(b.X.x, J.x, a), v3_mad(b.X.y, J.y, a), v3_mad(b.X.z, J.z, a)};
    }
    vec3 y, z;
    arm_solve_blocks(&b, v3_neg(error->r), v3_scale(error->v, -inverse), &y, &z);
    for (int i = 0; i < n; ++i) {
        x[i] = v3_dot(columns[i].J, y) + v3_dot(columns[i].a, z);
    }
}

// ---- Search --------------------------------------------------------------------------------------------------------------

static void note_for_trace(int n, const arm_column *columns, const arm_error *error, const double *x, pz_arm_run *run)
{
    run->slope = run->longest = 0.0;
    for (int i = 0; i < n; ++i) {
        run->slope = max2(run->slope, fabs(arm_slope(&columns[i], 1.0, error)));
        run->longest = max2(run->longest, fabs(x[i]));
    }
}

// One step from the point that `frames` and `error` describe.
PZ_INLINE void take_step(const pz_arm_chain *chain, int n, bool slides, const arm_frames *frames, const arm_error *error,
                         double lambda, pz_arm_run *run)
{
    arm_column columns[PZ_ARM_MOST];
    double x[PZ_ARM_MOST];
    double kappa = sqrt(max2(1.0 - 0.5 * error->e, ARM_KAPPA_LEAST));
    for (int i = 0; i < n; ++i) {
        columns[i] = arm_column_of(chain, slides, frames, i);
        if (run->side[i] != 0 && arm_is_held(run->side[i], arm_slope(&columns[i], 1.0, error))) {
            columns[i] = (arm_column){{0, 0, 0}, {0, 0, 0}};
        }
    }
    if (n < 6) {
        small_step(n, columns, error, lambda, kappa, x);
    } else {
        block_step(n, columns, error, lambda, kappa, x);
    }
    if (run->trace) {
        note_for_trace(n, columns, error, x, run);
    }
    arm_move(chain, n, slides, x, run);
}

PZ_INLINE bool search(const pz_arm_chain *chain, const pz_arm_target *target, int most, pz_arm_run *run, int n, bool slides)
{
    arm_frames frames;
    double f1 = INFINITY, f2 = INFINITY, f3 = INFINITY, lambda = 0.0; // f of the iterates before
    for (int k = 0;; ++k) {
        arm_forward(chain, n, slides, run->q, &frames);
        arm_error error = arm_error_at(&frames, target);
        double f = 0.5 * error.rr + error.e;
        bool met = arm_is_met(&error, target);
        if (k == 0) {
            run->first_r = error.rr, run->first_e = error.e;
        }
        if (run->trace && k > 0) {
            pz_arm_record(run, 0.5 * target->W * error.rr + error.e, lambda, false);
        } else if (run->trace) {
            run->best = min2(run->best, 0.5 * target->W * error.rr + error.e);
        }
        if (met || (k >= ARM_FIRST_LOOK && !(f <= ARM_CREEPS * f3)) || k == most) {
            arm_note(chain, n, slides, &frames, &error, target, met, run);
            run->iterations += k;
            run->evaluations += k + 1;
            return met;
        }
        f3 = f2, f2 = f1, f1 = f;
        lambda = ARM_DAMPING * f + ARM_DAMPING_LEAST;
        take_step(chain, n, slides, &frames, &error, lambda, run);
    }
}

// Instances for the usual arms: constant n lets the loops unroll, which takes a quarter off an iteration.
bool pz_arm_search(const pz_arm_chain *chain, const pz_arm_target *target, int most, pz_arm_run *run)
{
    if (chain->is_wide && !chain->slides && chain->n >= 6 && !run->trace) {
        return pz_arm_search_wide(chain, target, most, run);
    }
    switch (chain->slides ? 0 : chain->n) {
    case 3:
        return search(chain, target, most, run, 3, false);
    case 4:
        return search(chain, target, most, run, 4, false);
    case 5:
        return search(chain, target, most, run, 5, false);
    case 6:
        return search(chain, target, most, run, 6, false);
    case 7:
        return search(chain, target, most, run, 7, false);
    case 8:
        return search(chain, target, most, run, 8, false);
    default:
        return search(chain, target, most, run, chain->n, true);
    }
}
