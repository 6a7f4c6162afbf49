// Descent with exact second derivatives: the last stretch where a search creeps (at the edge of the workspace, with the
// elbow straight, at limits), and the closest pose where no zero is within reach.
//
//   f = W/2 |r|^2 + E         g_i = W J_i . r + a_i . v
//   H_hi = W J_h . J_i + a_h . c_i,  h at or before i,     c_i = tr(M) a_i - M a_i + W J_i x r + a_i x v/2
//
// with M = 1/4 sum (u_k d_k^T + d_k u_k^T). Derivation: turning joint h carries everything after it along, so that J_i and
// a_i change by a_h x J_i and a_h x a_i (not at all when h slides, a_h = 0), which gives W r . (a_h x J_i) =
// a_h . (W J_i x r). The directions d_k move by a_i x d_k, and E = 3/2 - 1/2 sum u_k . d_k has the second
// derivative along a_i and a_h
//
//   -1/2 sum u_k . (a_h x (a_i x d_k)) = 1/2 sum (a_h . a_i)(u_k . d_k) - (a_i . u_k)(a_h . d_k)
//
// whose symmetric part is a_h . (tr(M) a_i - M a_i) and whose other part a_h . (a_i x v/2).
//
// Steps solve (H + lambda I) x = -g with H exact where that is positive definite, else Gauss-Newton; lambda by the gain
// ratio (H. B. Nielsen, "Damping parameter in Marquardt's method", 1999). f falls with every step that is taken.
#ifndef PZ_SOLVE_ARM_DESCENT_H
#define PZ_SOLVE_ARM_DESCENT_H

#include "solve/arm_kernel.h"

#define ARM_LAMBDA_NEAR  1e-4 // where a search left off
#define ARM_LAMBDA_FAR   0.1
#define ARM_LAMBDA_LEAST 1e-15
#define ARM_LAMBDA_MOST  1e12 // steps this short change nothing
#define ARM_SHRINK_MOST  (1.0 / 3.0)
#define ARM_ROUNDING     (8.0 * PZ_EPSILON)
#define ARM_BLIND_STEPS  5    // taken on trust, where f no longer shows a decrease
#define ARM_HOPELESS     0.03 // a zero is not near when the exact model promises less of f than this

// The quadratic model at a point. Only entries j <= i are used.
typedef struct arm_model {
    arm_column columns[PZ_ARM_MOST];
    double g[PZ_ARM_MOST];
    double gauss_newton[PZ_ARM_MOST][PZ_ARM_MOST];
    double exact[PZ_ARM_MOST][PZ_ARM_MOST];
} arm_model;

PZ_INLINE void arm_make_exact(int n, const arm_frames *frames, const arm_error *error, const pz_arm_target *target, double W,
                              arm_model *m)
{
    const mat3 *d = &frames->d, *u = &target->u;
    sym3 M = sym3_scale(sym3_add(sym3_add(sym3_pair(u->x, d->x), sym3_pair(u->y, d->y)), sym3_pair(u->z, d->z)), 0.5);
    sym3 N = sym3_mad(sym3_identity(M.xx + M.yy + M.zz), -1.0, M);
    vec3 force = v3_scale(error->r, W), half = v3_scale(error->v, 0.5);
    for (int i = 0; i < n; ++i) {
        vec3 a = m->columns[i].a, J = m->columns[i].J, WJ = v3_scale(J, W);
        vec3 c = v3_add(v3_add(sym3_apply(&N, a), v3_cross(J, force)), v3_cross(a, half));
        for (int h = 0; h <= i; ++h) {
            m->exact[i][h] = v3_dot(WJ, m->columns[h].J) + v3_dot(c, m->columns[h].a);
        }
    }
}

PZ_INLINE void arm_make_gauss_newton(int n, double W, arm_model *m)
{
    for (int i = 0; i < n; ++i) {
        vec3 WJ = v3_scale(m->columns[i].J, W);
        for (int h = 0; h <= i; ++h) {
            m->gauss_newton[i][h] = v3_dot(WJ, m->columns[h].J) + v3_dot(m->columns[i].a, m->columns[h].a);
        }
    }
}

// Columns and gradient, with the joints held that descent would take out of their limits.
PZ_INLINE void arm_make_columns(const pz_arm_chain *chain, int n, bool slides, const arm_frames *frames,
                                const arm_error *error, double W, const double *side, arm_model *m)
{
    for (int i = 0; i < n; ++i) {
        arm_column column = arm_column_of(chain, slides, frames, i);
        double g = arm_slope(&column, W, error);
        bool held = arm_is_held(side[i], g);
        m->columns[i] = held ? (arm_column){{0, 0, 0}, {0, 0, 0}} : column;
        m->g[i] = held ? 0.0 : g;
    }
}

// x = -(H + lambda I)^-1 g by L D L^T, of which only the lower triangle is stored. False when a pivot is not > 0.
PZ_INLINE bool arm_solve_model(int n, double (*H)[PZ_ARM_MOST], const double *g, double lambda, double *x)
{
    double L[PZ_ARM_MOST][PZ_ARM_MOST], inverse[PZ_ARM_MOST];
    for (int i = 0; i < n; ++i) {
        double pivot = H[i][i] + lambda, y = -g[i];
        for (int j = 0; j < i; ++j) {
            double entry = H[i][j];
            for (int k = 0; k < j; ++k) {
                entry -= L[i][k] * L[j][k];
            }
            L[i][j] = entry;
        }
        for (int j = 0; j < i; ++j) { // L[i][j] is still times D_j
            double scaled = L[i][j] * inverse[j];
            pivot -= scaled * L[i][j];
            y -= scaled * x[j];
            L[i][j] = scaled;
        }
        if (!(pivot > 0)) {
            return false;
        }
        inverse[i] = 1.0 / pivot;
        x[i] = y;
    }
    for (int i = n - 1; i >= 0; --i) {
        x[i] *= inverse[i];
        for (int j = i + 1; j < n; ++j) {
            x[i] -= L[j][i] * x[j];
        }
    }
    return true;
}

// Decrease of the model along x, -(g . x + x . H x/2).
PZ_INLINE double arm_decrease(int n, double (*H)[PZ_ARM_MOST], const double *g, const double *x)
{
    double sum = 0.0;
    for (int i = 0; i < n; ++i) {
        double row = 0.5 * H[i][i] * x[i];
        for (int j = 0; j < i; ++j) {
            row += H[i][j] * x[j];
        }
        sum -= x[i] * (g[i] + row);
    }
    return sum;
}

// Move q by x within the limits. x becomes the step that was taken; true when a joint was clamped.
PZ_INLINE bool arm_move_or_clamp(const pz_arm_chain *chain, int n, bool slides, pz_arm_run *run, double *x)
{
    arm_joints joints = arm_joints_of(run);
    bool clamped = false;
    for (int i = 0; i < n; ++i) {
        double rate = slides ? chain->rate[i] : 1.0, q = run->q[i] + rate * x[i];
        if (x[i] != 0 && !(q > run->lower[i] && q < run->upper[i])) {
            double at = run->q[i];
            arm_set_within(chain, &joints, i, q);
            x[i] = run->side[i] != 0 ? (run->q[i] - at) / rate : x[i];
            clamped = clamped || run->side[i] != 0;
        } else {
            run->q[i] = q;
            run->side[i] = x[i] != 0 ? 0.0 : run->side[i];
        }
    }
    return clamped;
}

// |g_i| <= tolerance sqrt(2 f) sqrt(G_ii), as every method has it (step.c), G the Gauss-Newton matrix.
PZ_INLINE bool arm_is_stationary(int n, const arm_model *m, double W, double f, double tolerance)
{
    double scale = tolerance * tolerance * 2.0 * f;
    for (int i = 0; i < n; ++i) {
        vec3 a = m->columns[i].a, J = m->columns[i].J;
        if (m->g[i] * m->g[i] > scale * (W * v3_dot(J, J) + v3_dot(a, a))) {
            return false;
        }
    }
    return true;
}

// A point of the descent.
typedef struct arm_point {
    arm_frames frames;
    arm_error error;
    double f;
} arm_point;

// A descent in progress: the current point, the model there, the damping, the last step. By value and without pointers into
// itself, so that a graphics processor can hold it in registers.
typedef struct arm_descent {
    arm_point at;
    arm_model model;
    double W, lambda, growth;
    double x[PZ_ARM_MOST], predicted;
    bool exact, clamped, has_gauss_newton;
    bool has_step; // else x = 0, and more damping is needed
    bool blind;    // the step promises less than the rounding of f hides
    int blind_left;
} arm_descent;

PZ_INLINE void arm_evaluate_point(const pz_arm_chain *chain, const pz_arm_target *target, int n, bool slides,
                                  const pz_arm_run *run, double W, arm_point *point)
{
    point->error = arm_evaluate(chain, n, slides, run->q, target, &point->frames);
    point->f = 0.5 * W * point->error.rr + point->error.e;
}

// The frames that a chain of n joints has, not all that there is room for.
PZ_INLINE void arm_copy_point(int n, const arm_point *from, arm_point *to)
{
    for (int i = 0; i < n; ++i) {
        to->frames.a[i] = from->frames.a[i];
        to->frames.o[i] = from->frames.o[i];
    }
    to->frames.d = from->frames.d;
    to->frames.p = from->frames.p;
    to->error = from->error;
    to->f = from->f;
}

// The step for the current damping, exact if that is positive definite. Rounding can take that from Gauss-Newton, too,
// where weights are so large that the damping is lost beside them.
PZ_INLINE void arm_find_step(int n, arm_descent *d)
{
    arm_model *m = &d->model;
    d->has_step = d->exact = arm_solve_model(n, m->exact, m->g, d->lambda, d->x);
    if (!d->exact) {
        if (!d->has_gauss_newton) {
            arm_make_gauss_newton(n, d->W, m);
            d->has_gauss_newton = true;
        }
        d->has_step = arm_solve_model(n, m->gauss_newton, m->g, d->lambda, d->x);
        for (int i = 0; i < n; ++i) {
            d->x[i] = d->has_step ? d->x[i] : 0.0;
        }
    }
}

// Try the step: true when the trial is the current point now. A step that promises less than f can show is taken on trust a
// few times, as long as f does not visibly rise: the last steps of Newton's method, which make the gradient vanish. What f
// cannot show is the rounding of |r|^2, r of size `reach`, and of E.
PZ_INLINE bool arm_try_step(const pz_arm_chain *chain, const pz_arm_target *target, int n, bool slides, pz_arm_run *run,
                            arm_descent *d)
{
    double q[PZ_ARM_MOST], side[PZ_ARM_MOST], f = d->at.f;
    arm_model *m = &d->model;
    arm_point trial;
    for (int i = 0; i < n; ++i) {
        q[i] = run->q[i];
        side[i] = run->side[i];
    }
    d->clamped = arm_move_or_clamp(chain, n, slides, run, d->x);
    d->predicted = d->exact ? arm_decrease(n, m->exact, m->g, d->x) : arm_decrease(n, m->gauss_newton, m->g, d->x);
    arm_evaluate_point(chain, target, n, slides, run, d->W, &trial);
    double noise = ARM_ROUNDING * (f + d->W * chain->size * sqrt(d->at.error.rr) + sqrt(d->at.error.e));
    d->blind = d->has_step && fabs(d->predicted) <= noise;
    if (trial.f < f || (d->blind && trial.f <= f + noise)) {
        arm_copy_point(n, &trial, &d->at);
        return true;
    }
    for (int i = 0; i < n; ++i) {
        run->q[i] = q[i];
        run->side[i] = side[i];
    }
    return false;
}

// lambda after a trial; false when there is no point in going on.
PZ_INLINE bool arm_adapt(arm_descent *d, bool accepted, double before)
{
    d->blind_left -= d->blind;
    if (accepted) {
        double shrink = d->blind ? 1.0 : 2.0 * (before - d->at.f) / d->predicted - 1.0;
        d->lambda = max2(d->lambda * max2(ARM_SHRINK_MOST, 1.0 - shrink * shrink * shrink), ARM_LAMBDA_LEAST);
        d->growth = 2.0;
    } else {
        d->lambda *= d->growth;
        d->growth *= 2.0;
    }
    return d->blind_left >= 0 && !(d->lambda > ARM_LAMBDA_MOST);
}

PZ_FN void arm_record_step(const arm_descent *d, int n, double lambda, pz_arm_run *run)
{
    run->slope = pz_largest(d->model.g, n);
    run->longest = pz_largest(d->x, n);
    arm_record(run, d->at.f, lambda, d->exact);
}

// May the descent stop here? Otherwise the model is made.
PZ_INLINE bool arm_is_done(const pz_arm_chain *chain, const pz_arm_target *target, bool zero, int n, bool slides,
                           const pz_arm_run *run, arm_descent *d, pz_arm_end *end)
{
    const arm_point *at = &d->at;
    if (arm_target_is_met(&at->error, target)) {
        *end = PZ_ARM_MET;
        return true;
    }
    arm_make_columns(chain, n, slides, &at->frames, &at->error, d->W, run->side, &d->model);
    if (!zero && arm_is_stationary(n, &d->model, d->W, at->f, target->stationary)) {
        *end = PZ_ARM_CLOSEST;
        return true;
    }
    arm_make_exact(n, &at->frames, &at->error, target, d->W, &d->model);
    d->has_gauss_newton = false;
    return false;
}

// Descend from run->q, at most `most` iterations. `zero`: look for a zero of the search's energy and give up at a minimum
// above it; otherwise minimise the goal's cost until it is met or stationary.
PZ_INLINE pz_arm_end arm_descend(const pz_arm_chain *chain, const pz_arm_target *target, bool zero, int most,
                                 pz_arm_run *run, int n, bool slides)
{
    arm_descent d;
    d.W = zero ? 1.0 : target->W;
    d.lambda = zero ? ARM_LAMBDA_NEAR : ARM_LAMBDA_FAR;
    d.growth = 2.0;
    d.blind_left = ARM_BLIND_STEPS;
    arm_evaluate_point(chain, target, n, slides, run, d.W, &d.at);
    pz_arm_end end = PZ_ARM_BUDGET;
    bool accepted = true;
    int k = 0;
    while (!(accepted && arm_is_done(chain, target, zero, n, slides, run, &d, &end)) && k < most) {
        double before = d.at.f, lambda = d.lambda;
        arm_find_step(n, &d);
        accepted = arm_try_step(chain, target, n, slides, run, &d);
        bool hopeless = zero && d.exact && !d.clamped && d.predicted < ARM_HOPELESS * before;
        bool can_move = arm_adapt(&d, accepted, before);
        k += 1;
        if (ARM_REPORTS && run->trace && !zero) {
            arm_record_step(&d, n, lambda, run);
        }
        if (hopeless || !can_move) {
            end = hopeless ? PZ_ARM_GAVE_UP : d.blind_left < 0 ? PZ_ARM_CLOSEST : PZ_ARM_STALLED;
            break;
        }
    }
    arm_note(chain, n, slides, &d.at.frames, &d.at.error, target, end == PZ_ARM_MET, run);
    run->iterations += k;
    run->evaluations += k + 1;
    return end;
}

#endif
