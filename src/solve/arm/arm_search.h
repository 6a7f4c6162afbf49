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
#ifndef PZ_SOLVE_ARM_SEARCH_H
#define PZ_SOLVE_ARM_SEARCH_H

#include "solve/arm/arm_kernel.h"

// The step x for six joints and more: 6 x 6.
REAL_FN void arm_block_step(int n, const arm_column *columns, unsigned busy, const arm_error *error, real lambda,
                            real inverse_kappa, real *x)
{
    real3 y, z;
    arm_blocks blocks = arm_blocks_of(n, columns, lambda, inverse_kappa);
    arm_solve_blocks(&blocks, busy, v3_neg(error->r), v3_scale(error->v, -inverse_kappa), &y, &z);
    for (int i = 0; i < n; ++i) {
        x[i] = v3_dot(pack3_vector(columns[i].J), y) + v3_dot(pack3_vector(columns[i].a), z);
    }
}

#if REAL_WIDTH == 1

// The same for fewer than six joints: n x n.
REAL_FN void arm_small_step(int n, const arm_column *columns, const arm_error *error, double lambda, double kappa, double *x)
{
    double A[5][8];
    for (int i = 0; i < n; ++i) {
        vec3 J = pack3_vector(columns[i].J), a = v3_scale(pack3_vector(columns[i].a), kappa);
        for (int j = 0; j <= i; ++j) {
            A[i][j] = A[j][i] = v3_dot(J, pack3_vector(columns[j].J)) + v3_dot(a, pack3_vector(columns[j].a));
        }
        A[i][i] += lambda;
        A[i][n] = -arm_slope(&columns[i], 1.0, error);
    }
    arm_eliminate(n, A);
    for (int i = 0; i < n; ++i) {
        x[i] = A[i][n];
    }
}

// What the trace says of a step.
REAL_TARGET static inline void arm_note_step(int n, const arm_column *columns, const arm_error *error, const double *x,
                                             pz_arm_run *run)
{
    run->slope = run->longest = 0.0;
    for (int i = 0; i < n; ++i) {
        run->slope = max2(run->slope, fabs(arm_slope(&columns[i], 1.0, error)));
        run->longest = max2(run->longest, fabs(x[i]));
    }
}

// One step from the point that `frames` and `error` describe.
REAL_FN void arm_take_step(const pz_arm_chain *chain, int n, bool slides, const arm_frames *frames, const arm_error *error,
                           double lambda, pz_arm_run *run)
{
    arm_column columns[PZ_ARM_MOST];
    double x[PZ_ARM_MOST], kappa = arm_kappa(error->e);
    for (int i = 0; i < n; ++i) {
        columns[i] = arm_column_of(chain, slides, frames, i);
        if (run->side[i] != 0 && arm_is_held(run->side[i], arm_slope(&columns[i], 1.0, error))) {
            columns[i] = (arm_column){pack3_of(v3_zero()), pack3_of(v3_zero())};
        }
    }
    if (n < 6) {
        arm_small_step(n, columns, error, lambda, kappa, x);
    } else {
        arm_block_step(n, columns, ARM_ALONE, error, lambda, 1.0 / kappa, x);
    }
    if (ARM_REPORTS && run->trace) {
        arm_note_step(n, columns, error, x, run);
    }
    arm_joints joints = arm_joints_of(run);
    arm_move(chain, n, slides, x, &joints);
}

// Note an iterate: where the search began, and in the trace. `cost` is over rotation_weight, `lambda` of the step before.
REAL_FN void arm_note_iterate(double k, double rr, double e, double cost, double lambda, pz_arm_run *run)
{
    if (k == 0) {
        run->first_r = rr, run->first_e = e;
    }
    if (ARM_REPORTS && run->trace && k > 0) {
        pz_arm_record(run, cost, lambda, false);
    } else if (ARM_REPORTS && run->trace) {
        run->best = min2(run->best, cost);
    }
}

REAL_FN bool arm_search(const pz_arm_chain *chain, const pz_arm_target *target, int most, pz_arm_run *run, int n,
                        bool slides)
{
    arm_progress progress = arm_progress_begin();
    double lambda = 0.0;
    for (;;) {
        arm_frames frames;
        arm_error error = arm_look(chain, n, slides, run->q, target, &frames);
        double f = arm_energy(&error);
        bool met = arm_target_is_met(&error, target);
        arm_note_iterate(progress.k, error.rr, error.e, 0.5 * target->W * error.rr + error.e, lambda, run);
        if (arm_ends(&progress, f, met, most)) {
            arm_note(chain, n, slides, &frames, &error, target, met, run);
            run->iterations += (int)progress.k - 1;
            run->evaluations += (int)progress.k;
            return met;
        }
        lambda = arm_damping(f);
        arm_take_step(chain, n, slides, &frames, &error, lambda, run);
    }
}

#endif

#endif
