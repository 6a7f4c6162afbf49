// Refinement: damped Gauss-Newton on goals and posture, within limits by an active set.
//
//   F(q) = W f(q) + posture_weight sum_i w_i (sqrt(r_i^2 + eps^2) - eps)
//
// f is the objective of the goals. W makes what is left of the goals small beside the posture's pull; `finish` removes the
// rest. eps falls with every accepted step: far away all joints share the change, in the end few joints pay for it, as a
// sum of absolute values has it. (K. Levenberg 1944, D. Marquardt 1963 for the damping.)
#include "express/expressive_state.h"

#include "num/dense.h"

#include <string.h>

#define GOAL_WEIGHT  100.0 // W: an orientation gives way by less than 0.1/W rad, the slope of the posture error being 0.1
#define SHARPEST     1e-3  // least eps: an error of 1e-3 posture_weight at most
#define SHARPEN      0.4   // eps from step to step
#define FIRST_LAMBDA 1e-3
#define LEAST_LAMBDA 1e-9
#define MOST_LAMBDA  1e6
#define PASSES       4    // of the active set in one step
#define STILL        1e-7 // radians or lengths: a step below this is the last
#define FLOOR        1e-3 // share of the mean in the metric of the damping

// What is minimised: weights of its parts, and the smoothing.
typedef struct blend {
    double goals, posture, pull, eps;
} blend;

// pull/2 |step from solver->q_start to q|^2 and, unless they are NULL, its derivatives, added to g and to H's diagonal.
static double pull_cost(poise_expressive *e, const double *q, double pull, double *g, double *H)
{
    double sum = 0.0;
    size_t n = (size_t)e->model->nv;
    pz_kin_difference(e->model, e->solver->q_start, q, e->difference);
    for (size_t i = 0; i < n; ++i) {
        double d = e->difference[i];
        sum += 0.5 * pull * d * d;
        if (g) {
            g[i] += pull * d;
            H[i * n + i] += pull;
        }
    }
    return sum;
}

static double cost_at(poise_expressive *e, const poise_objective *o, const blend *b)
{
    double posture = b->posture > 0.0 ? pz_terms_cost(e, o->kin.q, b->eps, 0.0, NULL, NULL) : 0.0;
    double pull = b->pull > 0.0 ? pull_cost(e, o->kin.q, b->pull, NULL, NULL) : 0.0;
    return b->goals * o->cost + b->posture * posture + pull;
}

// Gradient, Hessian, metric of the damping, and dofs at a limit that descent would leave, at the current point.
static void linearise(poise_expressive *e, const blend *b)
{
    const poise_solver *s = e->solver;
    size_t n = (size_t)e->model->nv;
    double mean = 0.0;
    poise_objective_hessian(s->at, POISE_HESSIAN_GAUSS_NEWTON, e->H, NULL);
    for (size_t i = 0; i < n * n; ++i) {
        e->H[i] *= b->goals;
    }
    for (size_t i = 0; i < n; ++i) {
        e->g[i] = b->goals * s->at->gradient[i];
    }
    if (b->posture > 0.0) {
        pz_terms_cost(e, s->at->kin.q, b->eps, b->posture, e->g, e->H);
    }
    if (b->pull > 0.0) {
        pull_cost(e, s->at->kin.q, b->pull, e->g, e->H);
    }
    for (size_t i = 0; i < n; ++i) {
        mean += e->H[i * n + i] / (double)n;
    }
    for (size_t i = 0; i < n; ++i) {
        const pz_box *box = &s->box[i];
        e->D[i] = e->H[i * n + i] + FLOOR * mean + 1e-30;
        double q = box->q >= 0 ? s->at->kin.q[box->q] : 0.0;
        e->held[i] = (q <= box->lower && e->g[i] >= 0.0) || (q >= box->upper && e->g[i] <= 0.0);
    }
}

// (H + lambda D) x = -g over the dofs that are not held, x = 0 or what leads to the limit for the others. Their number in
// A's order is the order of dofs.
static bool solve_free(poise_expressive *e, double lambda, const bool *held, double *x)
{
    size_t n = (size_t)e->model->nv, m = 0, row = 0;
    double *rhs = e->solver->gradient;
    for (size_t i = 0; i < n; ++i) {
        m += !held[i];
    }
    for (size_t i = 0; i < n; ++i) {
        if (held[i]) {
            continue;
        }
        double sum = -e->g[i], *A_row = e->A + row * m;
        size_t column = 0;
        for (size_t j = 0; j < n; ++j) {
            if (held[j]) {
                sum -= e->H[i * n + j] * x[j];
            } else if (j <= i) {
                A_row[column++] = e->H[i * n + j];
            }
        }
        A_row[row] += lambda * e->D[i];
        rhs[row++] = sum;
    }
    if (!pz_cholesky((int)m, e->A)) {
        return false;
    }
    pz_cholesky_solve((int)m, e->A, rhs);
    for (size_t i = 0, k = 0; i < n; ++i) {
        x[i] = held[i] ? x[i] : rhs[k++];
    }
    return true;
}

// A step: dofs that would leave their limits stop there, and the others are solved for again.
static bool find_step(poise_expressive *e, double lambda)
{
    const poise_solver *s = e->solver;
    int n = e->model->nv;
    double *x = s->step;
    bool *held = e->held + n; // those of this step
    memcpy(held, e->held, (size_t)n * sizeof *held);
    memset(x, 0, (size_t)n * sizeof *x);
    for (int pass = 0; pass < PASSES; ++pass) {
        bool is_inside = true;
        if (!solve_free(e, lambda, held, x)) {
            return false;
        }
        for (int i = 0; i < n; ++i) {
            const pz_box *box = &s->box[i];
            double q = box->q >= 0 ? s->at->kin.q[box->q] : 0.0, to = clamp(q + x[i], box->lower, box->upper);
            if (!held[i] && to != q + x[i]) {
                x[i] = to - q;
                held[i] = true;
                is_inside = false;
            }
        }
        if (is_inside) {
            return true;
        }
    }
    return true;
}

// Steps until they stand still.
static void descend(poise_expressive *e, blend b, double sharpest)
{
    poise_solver *s = e->solver;
    int n = e->model->nv;
    double lambda = FIRST_LAMBDA;
    bool is_fresh = true;
    double cost = cost_at(e, s->at, &b);
    for (int i = 0; i < e->options.max_iterations && lambda < MOST_LAMBDA; ++i) {
        if (is_fresh) {
            linearise(e, &b);
        }
        double next = INFINITY;
        if (find_step(e, lambda)) {
            pz_step_within(s, s->at->kin.q, s->step, e->q_trial);
            bool is_sound = is_finite(pz_try(s, e->q_trial, POISE_LEVEL_HESSIAN));
            next = is_sound ? cost_at(e, s->trial, &b) : INFINITY;
        }
        double length = pz_largest(s->step, n);
        is_fresh = next < cost;
        if (!is_fresh) {
            if (length < STILL && b.eps <= sharpest) {
                return;
            }
            lambda *= 8.0;
            continue;
        }
        bool is_last = b.eps <= sharpest && length < STILL;
        pz_accept(s);
        if (is_last) {
            return;
        }
        b.eps = max2(b.eps * SHARPEN, sharpest);
        cost = cost_at(e, s->at, &b);
        lambda = max2(lambda * 0.1, LEAST_LAMBDA);
    }
}

void pz_expressive_refine(poise_expressive *e, double eps, double pull)
{
    blend b = {GOAL_WEIGHT * e->options.goal_weight, e->options.posture_weight, pull, max2(eps, SHARPEST)};
    descend(e, b, SHARPEST);
}

void pz_expressive_finish(poise_expressive *e)
{
    descend(e, (blend){.goals = 1.0}, 0.0);
}
