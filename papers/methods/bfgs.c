// BFGS: a dense approximation B of the inverse Hessian, learnt from gradients, with a weak Wolfe line search.
//
//   d = -B g                                                                  Nocedal & Wright 2006, eq. 6.18
//   s = step taken,  y = g(new) - g(old),  rho = 1/(s . y)
//   B <- (I - rho s y^T) B (I - rho y s^T) + rho s s^T                        eq. 6.17
//
// (C. Broyden 1970, R. Fletcher 1970, D. Goldfarb 1970, D. Shanno 1970; the quasi-Newton method that Erleben & Andrews 2019,
// section 6, compare with.) The first B is D^-1, the metric of the damped methods, scaled by (s . y)/(y . D^-1 y) before the
// first update (eq. 6.20 with D for I).
//
// Quaternion joints: s and y belong to the tangent space at the old point. Components of gradients are taken over from one
// body-fixed basis to the next as they are: transport by the identity, off by a rotation of half the step.
//
// Limits: dofs held by pz_line_hold have steps of their own; for the free ones the matrix is the inverse of the free
// block of B^-1, so that what was learnt about held dofs is neither used nor lost. The path is projected onto the
// limits. At edges of swings y is the change of the gradient along the edge, which holds the curvature of the edge
// (calls.project_on_edges of <poise/method.h>).
#include "papers/methods/methods.h"

#include <string.h>

#define LEAST_CURVATURE 1e-10 // of s . y beside |s| |y|: less is rounding

typedef struct bfgs_scratch {
    pz_line line;
    double *B;      // nv x nv
    double *held;   // nv x nv at most: the block of B of the held dofs, factored
    double *g_last; // nv
    double *y;      // nv
    double *work;   // nv
    int *held_dof;  // nv
    bool is_first;  // B is D^-1
    int edges;      // active edges of swings at g_last
} bfgs_scratch;

static void *lay_out(const poise_method_run *run, poise_method_memory *memory)
{
    size_t n = (size_t)run->nv;
    bfgs_scratch blank = {0}, *scratch = run->call->take(memory, 1, sizeof *scratch);
    bfgs_scratch *s = scratch ? scratch : &blank;
    pz_line_lay_out(&s->line, run, memory);
    s->B = run->call->take(memory, n * n, sizeof *s->B);
    s->held = run->call->take(memory, n * n, sizeof *s->held);
    s->g_last = run->call->take(memory, n, sizeof *s->g_last);
    s->y = run->call->take(memory, n, sizeof *s->y);
    s->work = run->call->take(memory, n, sizeof *s->work);
    s->held_dof = run->call->take(memory, n, sizeof *s->held_dof);
    return scratch;
}

static double *row(double *A, int n, int i)
{
    return A + (size_t)i * (size_t)n;
}

// ---- Update --------------------------------------------------------------------------------------------------------------

// The update above, multiplied out with b = B y: B += rho (1 + rho y . b) s s^T - rho (b s^T + s b^T). Lower triangle, then
// mirrored: B stays symmetric to the last bit.
bool pz_bfgs_update(int n, const double *s, const double *y, double *B, double *work)
{
    double sy = pz_dot(s, y, n), scale = sqrt(pz_dot(s, s, n) * pz_dot(y, y, n));
    if (!(sy > LEAST_CURVATURE * scale) || !is_finite(scale)) {
        return false;
    }
    double rho = 1.0 / sy, *b = work;
    for (int i = 0; i < n; ++i) {
        b[i] = pz_dot(row(B, n, i), y, n);
    }
    double factor = rho * (1.0 + rho * pz_dot(y, b, n));
    for (int i = 0; i < n; ++i) {
        double *B_i = row(B, n, i);
        for (int j = 0; j <= i; ++j) {
            B_i[j] += factor * s[i] * s[j] - rho * (b[i] * s[j] + s[i] * b[j]);
            row(B, n, j)[i] = B_i[j];
        }
    }
    return true;
}

static void forget(const poise_method_run *run, bfgs_scratch *s)
{
    int n = run->nv;
    memset(s->B, 0, (size_t)n * (size_t)n * sizeof *s->B);
    for (int i = 0; i < n; ++i) {
        row(s->B, n, i)[i] = 1.0 / s->line.D[i];
    }
    s->is_first = true;
}

// B from the step just taken. Locked dofs learn nothing.
static void learn(poise_method_run *run, bfgs_scratch *s)
{
    int n = run->nv;
    if (s->line.has_jumped) {
        run->call->metric(run, s->line.D);
        forget(run, s);
        return;
    }
    memcpy(s->y, run->at.gradient, (size_t)n * sizeof *s->y);
    if (run->call->project_on_edges(run, s->y) != s->edges) {
        return; // two gradients that have no more in common than a corner's
    }
    for (int i = 0; i < n; ++i) {
        s->y[i] = run->bounds[i].locked ? 0.0 : s->y[i] - s->g_last[i];
    }
    double sy = pz_dot(s->line.taken, s->y, n), square = 0.0;
    for (int i = 0; s->is_first && i < n; ++i) {
        square += s->y[i] * s->y[i] / s->line.D[i];
    }
    if (sy > 0 && square > 0 && is_finite(sy / square)) {
        for (int i = 0; i < n; ++i) {
            row(s->B, n, i)[i] *= sy / square;
        }
    }
    s->is_first = !pz_bfgs_update(n, s->line.taken, s->y, s->B, s->work) && s->is_first;
}

// ---- Direction -----------------------------------------------------------------------------------------------------------

// B_hh mu = -(B g)_h, then d = -B (g + mu on the held dofs), which is zero on them: with K = B^-1 that is the solution of
// K_ff d_f = -g_f. False when B_hh is no longer positive definite.
static bool multipliers(poise_method_run *run, bfgs_scratch *s, double *g)
{
    int n = run->nv, m = 0;
    for (int i = 0; i < n; ++i) {
        if (s->line.hold[i]) {
            s->held_dof[m++] = i;
        }
    }
    for (int a = 0; a < m; ++a) {
        const double *B_a = row(s->B, n, s->held_dof[a]);
        s->work[a] = -pz_dot(B_a, g, n);
        for (int b = 0; b <= a; ++b) {
            row(s->held, m, a)[b] = B_a[s->held_dof[b]];
        }
    }
    if (!pz_cholesky(m, s->held)) {
        return false;
    }
    pz_cholesky_solve(m, s->held, s->work);
    for (int a = 0; a < m; ++a) {
        g[s->held_dof[a]] = s->work[a];
    }
    return true;
}

static bool find_direction(poise_method_run *run, bfgs_scratch *s)
{
    int n = run->nv, held = pz_line_hold(run, &s->line);
    double *g = s->y, *d = s->line.direction;
    for (int i = 0; i < n; ++i) {
        g[i] = s->line.hold[i] ? 0.0 : run->projected[i];
    }
    if (held > 0 && !multipliers(run, s, g)) {
        return false;
    }
    for (int i = 0; i < n; ++i) {
        if (!s->line.hold[i]) {
            d[i] = -pz_dot(row(s->B, n, i), g, n);
        }
    }
    run->call->project_on_edges(run, d);
    return true;
}

// ---- Run -----------------------------------------------------------------------------------------------------------------

static poise_outcome solve(poise_method_run *run)
{
    bfgs_scratch *s = run->scratch;
    int n = run->nv;
    poise_outcome outcome;
    run->call->metric(run, s->line.D);
    forget(run, s);
    for (;;) {
        if (run->call->is_done(run, false, &outcome)) {
            return outcome;
        }
        memcpy(s->g_last, run->at.gradient, (size_t)n * sizeof *s->g_last);
        s->edges = run->call->project_on_edges(run, s->g_last);
        s->line.t = 0.0; // without a direction there is no search to say so
        bool accepted = find_direction(run, s) && pz_line_search(run, &s->line, PZ_LINE_WEAK_WOLFE);
        bool more = run->call->count(run, s->line.t, s->line.t * pz_largest(s->line.direction, n), accepted, false);
        if (accepted) {
            learn(run, s);
        } else if (s->is_first) {
            return run->call->stuck(run, false);
        } else {
            run->call->metric(run, s->line.D);
            forget(run, s);
        }
        if (!more) {
            return run->call->is_done(run, false, &outcome) ? outcome : POISE_OUTCOME_BUDGET;
        }
    }
}

const poise_method_engine pz_bfgs_engine = {.name = "bfgs", .lay_out = lay_out, .run = solve};
