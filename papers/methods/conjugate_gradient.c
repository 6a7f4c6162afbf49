// CONJUGATE_GRADIENT: nonlinear conjugate gradients, projected onto the limits.
//
//   d = -D^-1 g + beta d_last,      beta = max(0, g . D^-1 (g - g_last) / (g_last . D^-1 g_last))
//
// (R. Fletcher & C. Reeves 1964; beta of E. Polak & G. Ribiere 1969, kept from below as by M. Powell 1984; for skeletons M.
// Engell-Norregard & K. Erleben, "A projected non-linear conjugate gradient method for interactive inverse kinematics",
// 2009, which Erleben & Andrews 2019 name in section 2.) D is the metric of the damped methods. Each search begins at the
// length where the Gauss-Newton model is least along d, one product in O(N): directions are as conjugate as searches are
// exact.
//
// A new beginning, d = -D^-1 g, is made where d would not descend, where other dofs are held than before, where a swing
// reaches or leaves its edge or a rotation vector changes its form, and after a search that found nothing lower.
#include "papers/methods/methods.h"

#include <string.h>

typedef struct conjugate_scratch {
    pz_line line;
    double *g_last;   // nv: projected onto edges of swings
    double *d_last;   // nv: the last direction, of any length
    double *product;  // nv
    bool *hold_last;  // nv
    int edges;        // active edges of swings at g_last
    bool is_first;    // there is no last direction
    double last_size; // g_last . D^-1 g_last
} conjugate_scratch;

static void *lay_out(const poise_method_run *run, poise_method_memory *memory)
{
    size_t n = (size_t)run->nv;
    conjugate_scratch blank = {0}, *scratch = run->call->take(memory, 1, sizeof *scratch);
    conjugate_scratch *s = scratch ? scratch : &blank;
    pz_line_lay_out(&s->line, run, memory);
    s->g_last = run->call->take(memory, n, sizeof *s->g_last);
    s->d_last = run->call->take(memory, n, sizeof *s->d_last);
    s->product = run->call->take(memory, n, sizeof *s->product);
    s->hold_last = run->call->take(memory, n, sizeof *s->hold_last);
    return scratch;
}

// Sum of a_i b_i/D_i over the free dofs.
static double free_dot(const poise_method_run *run, const conjugate_scratch *s, const double *a, const double *b)
{
    double sum = 0.0;
    for (int i = 0; i < run->nv; ++i) {
        sum += s->line.hold[i] ? 0.0 : a[i] * b[i] / s->line.D[i];
    }
    return sum;
}

// beta, and the memory for the next one. 0 without a last direction that still counts.
static double take_beta(const poise_method_run *run, conjugate_scratch *s, int edges)
{
    int n = run->nv;
    double size = free_dot(run, s, run->projected, run->projected), across = 0.0;
    bool is_same = !s->is_first && edges == s->edges && memcmp(s->line.hold, s->hold_last, (size_t)n * sizeof(bool)) == 0;
    if (is_same) {
        across = free_dot(run, s, run->projected, s->g_last);
    }
    double beta = is_same ? max2((size - across) / s->last_size, 0.0) : 0.0;
    memcpy(s->g_last, run->projected, (size_t)n * sizeof *s->g_last);
    memcpy(s->hold_last, s->line.hold, (size_t)n * sizeof *s->hold_last);
    s->edges = edges;
    s->last_size = size;
    return is_finite(beta) ? beta : 0.0;
}

// d, and d_last with it; dofs that are held keep the direction of pz_line_hold.
static void find_direction(poise_method_run *run, conjugate_scratch *s)
{
    int n = run->nv;
    double *d = s->line.direction, slope = 0.0;
    run->call->metric(run, s->line.D);
    pz_line_hold(run, &s->line);
    memcpy(s->product, run->at.gradient, (size_t)n * sizeof *s->product);
    double beta = take_beta(run, s, run->call->project_on_edges(run, s->product));
    for (int pass = 0; pass < 2 && !(slope < 0); ++pass, beta = 0.0) { // the second: where the first does not descend
        slope = 0.0;
        for (int i = 0; i < n; ++i) {
            if (!s->line.hold[i]) {
                d[i] = -run->projected[i] / s->line.D[i] + (beta > 0 ? beta * s->d_last[i] : 0.0);
                slope += d[i] * run->projected[i];
            }
        }
    }
    run->call->project_on_edges(run, d);
    memcpy(s->d_last, d, (size_t)n * sizeof *s->d_last);
    s->is_first = false;
}

// Make d as long as the Gauss-Newton model says. d_last keeps its length: beta belongs to that.
static void scale_direction(const poise_method_run *run, conjugate_scratch *s)
{
    int n = run->nv;
    double *d = s->line.direction;
    poise_objective_multiply(run->at.objective, POISE_HESSIAN_GAUSS_NEWTON, d, s->product, NULL);
    double curvature = pz_dot(d, s->product, n), length = -pz_dot(run->at.gradient, d, n) / curvature;
    if (!(curvature > 0) || !(length > 0) || !is_finite(length)) {
        return;
    }
    for (int i = 0; i < n; ++i) {
        d[i] *= length;
    }
}

static poise_outcome solve(poise_method_run *run)
{
    conjugate_scratch *s = run->scratch;
    poise_outcome outcome;
    s->is_first = true;
    for (;;) {
        if (run->call->is_done(run, false, &outcome)) {
            return outcome;
        }
        bool was_first = s->is_first;
        find_direction(run, s);
        scale_direction(run, s);
        bool accepted = pz_line_search(run, &s->line, PZ_LINE_WEAK_WOLFE);
        double longest = s->line.t * pz_largest(s->line.direction, run->nv);
        bool more = run->call->count(run, s->line.t, longest, accepted, false);
        if (!accepted && was_first) {
            return run->call->stuck(run, false);
        }
        s->is_first = !accepted || s->line.has_jumped;
        if (!more) {
            return run->call->is_done(run, false, &outcome) ? outcome : POISE_OUTCOME_BUDGET;
        }
    }
}

const poise_method_engine pz_conjugate_gradient_engine = {.name = "conjugate_gradient", .lay_out = lay_out, .run = solve};
