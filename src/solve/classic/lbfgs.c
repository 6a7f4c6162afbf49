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
#include "solve/classic/line_search.h"
#include "solve/methods.h"

#include "solve/damped_step.h"

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

void *pz_lbfgs_lay_out(poise_solver *solver, pz_arena *arena)
{
    size_t n = (size_t)solver->model->nv, m = (size_t)solver->options.lbfgs.memory;
    lbfgs_scratch blank = {0}, *scratch = pz_arena_take(arena, 1, sizeof *scratch);
    lbfgs_scratch *s = scratch ? scratch : &blank;
    pz_line_lay_out(&s->line, solver, arena);
    s->steps = pz_arena_take(arena, m, n * sizeof *s->steps);
    s->changes = pz_arena_take(arena, m, n * sizeof *s->changes);
    s->rho = pz_arena_take(arena, m, sizeof *s->rho);
    s->alpha = pz_arena_take(arena, m, sizeof *s->alpha);
    s->g_last = pz_arena_take(arena, n, sizeof *s->g_last);
    return scratch;
}

// Pair number k counted back from the newest, 0.
static int place(const poise_solver *solver, const lbfgs_scratch *s, int k)
{
    int m = solver->options.lbfgs.memory;
    return (s->newest + m - k) % m;
}

static double *at_place(const poise_solver *solver, double *pairs, int place_of_pair)
{
    return pairs + (size_t)place_of_pair * (size_t)solver->model->nv;
}

// Sum of a_i b_i over the free dofs, with weights 1/D_i if there is D.
static double free_dot(const poise_solver *solver, const lbfgs_scratch *s, const double *a, const double *b, const double *D)
{
    double sum = 0.0;
    for (int i = 0; i < solver->model->nv; ++i) {
        if (!s->line.hold[i]) {
            sum += D ? a[i] * b[i] / D[i] : a[i] * b[i];
        }
    }
    return sum;
}

static void free_add(const poise_solver *solver, const lbfgs_scratch *s, double factor, const double *from, double *to)
{
    for (int i = 0; i < solver->model->nv; ++i) {
        to[i] += s->line.hold[i] ? 0.0 : factor * from[i];
    }
}

// rho of every pair over the free dofs, 0 for those to leave out. Returns gamma.
static double weigh_pairs(const poise_solver *solver, lbfgs_scratch *s)
{
    double gamma = 0.0;
    for (int k = 0; k < s->count; ++k) {
        int at = place(solver, s, k);
        const double *step = at_place(solver, s->steps, at), *change = at_place(solver, s->changes, at);
        double sy = free_dot(solver, s, step, change, NULL);
        double ss = free_dot(solver, s, step, step, NULL), yy = free_dot(solver, s, change, change, NULL);
        s->rho[at] = sy > LEAST_CURVATURE * sqrt(ss * yy) ? 1.0 / sy : 0.0;
        if (gamma == 0 && s->rho[at] > 0) {
            gamma = sy / free_dot(solver, s, change, change, s->line.D);
        }
    }
    return gamma > 0 && is_finite(gamma) ? gamma : 1.0;
}

// The two loops; d holds q and r.
static void find_direction(poise_solver *solver, lbfgs_scratch *s)
{
    int n = solver->model->nv;
    double *d = s->line.direction;
    pz_line_hold(solver, &s->line);
    double gamma = weigh_pairs(solver, s);
    for (int i = 0; i < n; ++i) {
        d[i] = s->line.hold[i] ? d[i] : -solver->gradient[i];
    }
    for (int k = 0; k < s->count; ++k) {
        int at = place(solver, s, k);
        s->alpha[at] = s->rho[at] * free_dot(solver, s, at_place(solver, s->steps, at), d, NULL);
        free_add(solver, s, -s->alpha[at], at_place(solver, s->changes, at), d);
    }
    for (int i = 0; i < n; ++i) {
        d[i] *= s->line.hold[i] ? 1.0 : gamma / s->line.D[i];
    }
    for (int k = s->count - 1; k >= 0; --k) {
        int at = place(solver, s, k);
        double beta = s->rho[at] * free_dot(solver, s, at_place(solver, s->changes, at), d, NULL);
        free_add(solver, s, s->alpha[at] - beta, at_place(solver, s->steps, at), d);
    }
    pz_project_on_swings(solver, d);
}

// Keep the step just taken, over the oldest when the memory is full.
static void learn(const poise_solver *solver, lbfgs_scratch *s)
{
    int m = solver->options.lbfgs.memory;
    if (s->line.has_jumped) {
        s->count = 0;
        return;
    }
    int next = (s->newest + 1) % m;
    double *step = at_place(solver, s->steps, next), *change = at_place(solver, s->changes, next);
    memcpy(change, solver->at->gradient, (size_t)solver->model->nv * sizeof *change);
    if (pz_project_on_swings(solver, change) != s->edges) {
        s->count -= s->count == m; // the pair that stood here is gone
        return;
    }
    for (int i = 0; i < solver->model->nv; ++i) {
        step[i] = s->line.taken[i];
        change[i] -= s->g_last[i];
    }
    s->newest = next;
    s->count = s->count < m ? s->count + 1 : m;
}

poise_outcome pz_lbfgs_run(poise_solver *solver)
{
    lbfgs_scratch *s = solver->method;
    int n = solver->model->nv;
    poise_outcome outcome;
    s->count = s->newest = 0;
    for (;;) {
        if (pz_is_done(solver, &outcome)) {
            return outcome;
        }
        pz_make_metric(solver, s->line.D);
        memcpy(s->g_last, solver->at->gradient, (size_t)n * sizeof *s->g_last);
        s->edges = pz_project_on_swings(solver, s->g_last);
        find_direction(solver, s);
        bool accepted = pz_line_search(solver, &s->line, PZ_LINE_WEAK_WOLFE);
        bool more = pz_count_iteration(solver, s->line.t, s->line.t * pz_largest(s->line.direction, n), accepted, false);
        if (accepted) {
            learn(solver, s);
        } else if (s->count == 0) {
            return pz_stuck_outcome(solver, false);
        } else {
            s->count = 0;
        }
        if (!more) {
            return pz_is_done(solver, &outcome) ? outcome : POISE_OUTCOME_BUDGET;
        }
    }
}
