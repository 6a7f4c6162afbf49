// LBFGS: BFGS that remembers the last m steps instead of a matrix (J. Nocedal, "Updating quasi-Newton matrices with limited
// storage", 1980; D. Liu & J. Nocedal 1989).
//
//   q <- g;  newest pair first  alpha_k = rho_k s_k . q,  q <- q - alpha_k y_k
//   r <- gamma D^-1 q;  oldest first  beta = rho_k y_k . r,  r <- r + (alpha_k - beta) s_k;  d = -r
//
// (Nocedal & Wright 2006, algorithm 7.4), rho_k = 1/(s_k . y_k), gamma = (s . y)/(y . D^-1 y) of the newest pair (eq.
// 7.20 with the metric D of the damped methods for I). Quaternion joints and the projected path as in bfgs.c.
//
// Limits: products run over the free dofs only, so that a pair says y_f = K_ff s_f about the free block K_ff of the Hessian,
// exactly so when held dofs did not move. Pairs that lose their curvature by that are left out.
#include "papers/methods/methods.h"

#include <string.h>

#define LEAST_CURVATURE 1e-10 // of s . y beside |s| |y|: less is rounding

typedef struct lbfgs_scratch {
    pz_line line;
    double *steps, *changes; // memory x nv: s and y
    double *rho, *alpha;     // memory
    double *g_last;          // nv
    int count, newest;
    int edges; // active edges of swings at g_last
} lbfgs_scratch;

static void *lay_out(const poise_method_run *run, poise_method_memory *memory)
{
    size_t n = (size_t)run->nv, m = (size_t)run->options->lbfgs.memory;
    lbfgs_scratch blank = {0}, *scratch = run->call->take(memory, 1, sizeof *scratch);
    lbfgs_scratch *s = scratch ? scratch : &blank;
    pz_line_lay_out(&s->line, run, memory);
    s->steps = run->call->take(memory, m, n * sizeof *s->steps);
    s->changes = run->call->take(memory, m, n * sizeof *s->changes);
    s->rho = run->call->take(memory, m, sizeof *s->rho);
    s->alpha = run->call->take(memory, m, sizeof *s->alpha);
    s->g_last = run->call->take(memory, n, sizeof *s->g_last);
    return scratch;
}

// Pair number k counted back from the newest, 0.
static int place(const poise_method_run *run, const lbfgs_scratch *s, int k)
{
    int m = run->options->lbfgs.memory;
    return (s->newest + m - k) % m;
}

static double *at_place(const poise_method_run *run, double *pairs, int place_of_pair)
{
    return pairs + (size_t)place_of_pair * (size_t)run->nv;
}

// Sum of a_i b_i over the free dofs, with weights 1/D_i if there is D.
static double free_dot(const poise_method_run *run, const lbfgs_scratch *s, const double *a, const double *b,
                       const double *D)
{
    double sum = 0.0;
    for (int i = 0; i < run->nv; ++i) {
        if (!s->line.hold[i]) {
            sum += D ? a[i] * b[i] / D[i] : a[i] * b[i];
        }
    }
    return sum;
}

static void free_add(const poise_method_run *run, const lbfgs_scratch *s, double factor, const double *from, double *to)
{
    for (int i = 0; i < run->nv; ++i) {
        to[i] += s->line.hold[i] ? 0.0 : factor * from[i];
    }
}

// rho of every pair over the free dofs, 0 for those to leave out. Returns gamma.
static double weigh_pairs(const poise_method_run *run, lbfgs_scratch *s)
{
    double gamma = 0.0;
    for (int k = 0; k < s->count; ++k) {
        int at = place(run, s, k);
        const double *step = at_place(run, s->steps, at), *change = at_place(run, s->changes, at);
        double sy = free_dot(run, s, step, change, NULL);
        double ss = free_dot(run, s, step, step, NULL), yy = free_dot(run, s, change, change, NULL);
        s->rho[at] = sy > LEAST_CURVATURE * sqrt(ss * yy) ? 1.0 / sy : 0.0;
        if (gamma == 0 && s->rho[at] > 0) {
            gamma = sy / free_dot(run, s, change, change, s->line.D);
        }
    }
    return gamma > 0 && is_finite(gamma) ? gamma : 1.0;
}

// The two loops; d holds q and r.
static void find_direction(poise_method_run *run, lbfgs_scratch *s)
{
    int n = run->nv;
    double *d = s->line.direction;
    pz_line_hold(run, &s->line);
    double gamma = weigh_pairs(run, s);
    for (int i = 0; i < n; ++i) {
        d[i] = s->line.hold[i] ? d[i] : -run->projected[i];
    }
    for (int k = 0; k < s->count; ++k) {
        int at = place(run, s, k);
        s->alpha[at] = s->rho[at] * free_dot(run, s, at_place(run, s->steps, at), d, NULL);
        free_add(run, s, -s->alpha[at], at_place(run, s->changes, at), d);
    }
    for (int i = 0; i < n; ++i) {
        d[i] *= s->line.hold[i] ? 1.0 : gamma / s->line.D[i];
    }
    for (int k = s->count - 1; k >= 0; --k) {
        int at = place(run, s, k);
        double beta = s->rho[at] * free_dot(run, s, at_place(run, s->changes, at), d, NULL);
        free_add(run, s, s->alpha[at] - beta, at_place(run, s->steps, at), d);
    }
    run->call->project_on_edges(run, d);
}

// Keep the step just taken, over the oldest when the memory is full.
static void learn(const poise_method_run *run, lbfgs_scratch *s)
{
    int m = run->options->lbfgs.memory;
    if (s->line.has_jumped) {
        s->count = 0;
        return;
    }
    int next = (s->newest + 1) % m;
    double *step = at_place(run, s->steps, next), *change = at_place(run, s->changes, next);
    memcpy(change, run->at.gradient, (size_t)run->nv * sizeof *change);
    if (run->call->project_on_edges(run, change) != s->edges) {
        s->count -= s->count == m; // the pair that stood here is gone
        return;
    }
    for (int i = 0; i < run->nv; ++i) {
        step[i] = s->line.taken[i];
        change[i] -= s->g_last[i];
    }
    s->newest = next;
    s->count = s->count < m ? s->count + 1 : m;
}

static poise_outcome solve(poise_method_run *run)
{
    lbfgs_scratch *s = run->scratch;
    int n = run->nv;
    poise_outcome outcome;
    s->count = s->newest = 0;
    for (;;) {
        if (run->call->is_done(run, false, &outcome)) {
            return outcome;
        }
        run->call->metric(run, s->line.D);
        memcpy(s->g_last, run->at.gradient, (size_t)n * sizeof *s->g_last);
        s->edges = run->call->project_on_edges(run, s->g_last);
        find_direction(run, s);
        bool accepted = pz_line_search(run, &s->line, PZ_LINE_WEAK_WOLFE);
        bool more = run->call->count(run, s->line.t, s->line.t * pz_largest(s->line.direction, n), accepted, false);
        if (accepted) {
            learn(run, s);
        } else if (s->count == 0) {
            return run->call->stuck(run, false);
        } else {
            s->count = 0;
        }
        if (!more) {
            return run->call->is_done(run, false, &outcome) ? outcome : POISE_OUTCOME_BUDGET;
        }
    }
}

const poise_method_engine pz_lbfgs_engine = {.name = "lbfgs", .lay_out = lay_out, .run = solve};
