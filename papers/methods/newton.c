// NEWTON_PROJECTED: Newton's method with the exact Hessian brought to the nearest positive definite matrix.
//
//   H^ = D^-1/2 H D^-1/2 = V^T diag(w) V (rows of V the eigenvectors)      H+ = V^T diag(max(w, delta)) V
//
// H+ is nearest to H^ in the Frobenius norm among the matrices whose eigenvalues are at least delta (S. Cheng & N. Higham,
// "A modified Cholesky algorithm based on a symmetric indefinite factorization", 1998, section 3; delta = 0: N. Higham,
// "Computing a nearest symmetric positive semidefinite matrix", 1988, which Erleben & Andrews 2019, section 6.7, use: that
// is options.trust_region.nearest). A line search needs delta > 0, since H+ x = -g has no solution where an eigenvalue is 0:
//
//   x = -D^-1/2 sum over k of v_k (v_k . D^-1/2 g) / max(w_k, delta),      delta = max(FLOOR w_max, -w_min)
//
// The negative part of H^ is the size of what the residuals add to J^T J. Eigenvalues below that size say nothing about
// how far to go, and as the residuals vanish so does delta, down to rounding: the method stays quadratic. D is the metric of
// the damped methods. Without it lengths and angles would be compared: of markers in cm, turns have eigenvalues a thousand
// times those of the root's translation, which delta would then all but hold fast.
//
// Then backtracking along the path projected onto the limits (methods.c), with held dofs left out of H (Bertsekas 1982).
// Dense: O(n^3).
#include "papers/methods/methods.h"

#include <string.h>

#define FLOOR 1e-12 // of the largest eigenvalue: just above what rounding does to the small ones

typedef struct projected_scratch {
    pz_line line;
    double *V;       // nv x nv: the Hessian, then its eigenvectors
    double *w;       // nv
    double *work;    // nv
    int *free_dof;   // nv
    double *root;    // nv: D^-1/2 over the free dofs
    double *descent; // nv: -D^-1/2 g over the free dofs
} projected_scratch;

static void *lay_out(const poise_method_run *run, poise_method_memory *memory)
{
    size_t n = (size_t)run->nv;
    projected_scratch blank = {0}, *scratch = run->call->take(memory, 1, sizeof *scratch);
    projected_scratch *s = scratch ? scratch : &blank;
    pz_line_lay_out(&s->line, run, memory);
    s->V = run->call->take(memory, n * n, sizeof *s->V);
    s->w = run->call->take(memory, n, sizeof *s->w);
    s->work = run->call->take(memory, n, sizeof *s->work);
    s->free_dof = run->call->take(memory, n, sizeof *s->free_dof);
    s->root = run->call->take(memory, n, sizeof *s->root);
    s->descent = run->call->take(memory, n, sizeof *s->descent);
    return scratch;
}

static double *row(double *A, int n, int i)
{
    return A + (size_t)i * (size_t)n;
}

bool pz_nearest_semidefinite(int n, double *A, double *V, double *w, double *work)
{
    memcpy(V, A, (size_t)n * (size_t)n * sizeof *V);
    if (!pz_symmetric_eigen(n, V, w, true, work)) {
        return false;
    }
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j <= i; ++j) {
            double sum = 0.0;
            for (int k = 0; k < n; ++k) {
                sum += max2(w[k], 0.0) * row(V, n, k)[i] * row(V, n, k)[j];
            }
            row(A, n, i)[j] = row(A, n, j)[i] = sum;
        }
    }
    return true;
}

// P H P, P the projection onto active edges of swings: rows, then columns, which are the rows of the transpose.
static void project_hessian(const poise_method_run *run, double *H)
{
    int n = run->nv;
    for (int side = 0; side < 2; ++side) {
        for (int i = 0; i < n; ++i) {
            if (run->call->project_on_edges(run, row(H, n, i)) == 0) {
                return;
            }
        }
        for (int i = 0; i < n; ++i) {
            for (int j = 0; j < i; ++j) {
                double swap = row(H, n, i)[j];
                row(H, n, i)[j] = row(H, n, j)[i];
                row(H, n, j)[i] = swap;
            }
        }
    }
}

// H^ over the free dofs, at the front of V. Returns how many there are.
static int free_hessian(poise_method_run *run, projected_scratch *s)
{
    int n = run->nv, m = 0;
    run->call->stiffen_edges(run, 0.0);
    poise_objective_hessian(run->at.objective, POISE_HESSIAN_EXACT, s->V, NULL);
    project_hessian(run, s->V);
    for (int i = 0; i < n; ++i) {
        // a row of zeros belongs to what no goal sees: left out, no eigenvector mixes it in by rounding
        if (!s->line.hold[i] && (run->projected[i] != 0 || pz_largest(row(s->V, n, i), n) > 0)) {
            s->root[m] = 1.0 / sqrt(s->line.D[i]);
            s->descent[m] = -s->root[m] * run->projected[i];
            s->free_dof[m++] = i;
        }
    }
    for (int a = 0; a < m; ++a) { // rows move up and left, never over one that is still to be read
        for (int b = 0; b <= a; ++b) {
            row(s->V, m, a)[b] = s->root[a] * s->root[b] * row(s->V, n, s->free_dof[a])[s->free_dof[b]];
        }
    }
    return m;
}

static bool find_direction(poise_method_run *run, projected_scratch *s)
{
    double *d = s->line.direction;
    pz_line_hold(run, &s->line);
    int m = free_hessian(run, s);
    if (m == 0) {
        return true;
    }
    if (!pz_symmetric_eigen(m, s->V, s->w, true, s->work)) {
        return false;
    }
    double delta = max2(FLOOR * max2(s->w[m - 1], -s->w[0]), -s->w[0]);
    for (int k = 0; k < m && delta > 0; ++k) {
        const double *v = row(s->V, m, k);
        double share = pz_dot(v, s->descent, m) / max2(s->w[k], delta);
        for (int a = 0; a < m; ++a) {
            d[s->free_dof[a]] += share * s->root[a] * v[a];
        }
    }
    run->call->project_on_edges(run, d);
    return true;
}

// Descent in the metric, for where Newton's direction finds nothing lower.
static void use_gradient(const poise_method_run *run, pz_line *line)
{
    for (int i = 0; i < run->nv; ++i) {
        line->direction[i] = -run->projected[i] / line->D[i];
    }
    run->call->project_on_edges(run, line->direction);
}

static poise_outcome solve(poise_method_run *run)
{
    projected_scratch *s = run->scratch;
    poise_outcome outcome;
    for (;;) {
        if (run->call->is_done(run, false, &outcome)) {
            return outcome;
        }
        run->call->metric(run, s->line.D);
        bool exact = find_direction(run, s) && pz_line_search(run, &s->line, PZ_LINE_ARMIJO);
        bool accepted = exact;
        if (!exact) {
            use_gradient(run, &s->line);
            accepted = pz_line_search(run, &s->line, PZ_LINE_ARMIJO);
        }
        double longest = s->line.t * pz_largest(s->line.direction, run->nv);
        bool more = run->call->count(run, s->line.t, longest, accepted, exact);
        if (!accepted) {
            return run->call->stuck(run, false);
        }
        if (!more) {
            return run->call->is_done(run, false, &outcome) ? outcome : POISE_OUTCOME_BUDGET;
        }
    }
}

const poise_method_engine pz_newton_engine = {.name = "newton", .lay_out = lay_out, .run = solve};
