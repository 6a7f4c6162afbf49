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
// Then backtracking along the path projected onto the limits (line_search.c), with held dofs left out of H (Bertsekas 1982).
// Dense: O(n^3).
#include "solve/classic/line_search.h"
#include "solve/classic/second_order.h"
#include "solve/methods.h"

#include "num/dense.h"
#include "solve/damped_step.h"

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

void *pz_newton_projected_lay_out(poise_solver *solver, pz_arena *arena)
{
    size_t n = (size_t)solver->model->nv;
    projected_scratch blank = {0}, *scratch = pz_arena_take(arena, 1, sizeof *scratch);
    projected_scratch *s = scratch ? scratch : &blank;
    pz_line_lay_out(&s->line, solver, arena);
    s->V = pz_arena_take(arena, n * n, sizeof *s->V);
    s->w = pz_arena_take(arena, n, sizeof *s->w);
    s->work = pz_arena_take(arena, n, sizeof *s->work);
    s->free_dof = pz_arena_take(arena, n, sizeof *s->free_dof);
    s->root = pz_arena_take(arena, n, sizeof *s->root);
    s->descent = pz_arena_take(arena, n, sizeof *s->descent);
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
static void project_hessian(const poise_solver *solver, double *H)
{
    int n = solver->model->nv;
    for (int side = 0; side < 2; ++side) {
        for (int i = 0; i < n; ++i) {
            if (pz_project_on_swings(solver, row(H, n, i)) == 0) {
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
static int free_hessian(poise_solver *solver, projected_scratch *s)
{
    int n = solver->model->nv, m = 0;
    pz_stiffen_edges(solver, 0.0);
    poise_objective_hessian(solver->at, POISE_HESSIAN_EXACT, s->V, NULL);
    project_hessian(solver, s->V);
    for (int i = 0; i < n; ++i) {
        // a row of zeros belongs to what no goal sees: left out, no eigenvector mixes it in by rounding
        if (!s->line.hold[i] && (solver->gradient[i] != 0 || pz_largest(row(s->V, n, i), n) > 0)) {
            s->root[m] = 1.0 / sqrt(s->line.D[i]);
            s->descent[m] = -s->root[m] * solver->gradient[i];
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

static bool find_direction(poise_solver *solver, projected_scratch *s)
{
    double *d = s->line.direction;
    pz_line_hold(solver, &s->line);
    int m = free_hessian(solver, s);
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
    pz_project_on_swings(solver, d);
    return true;
}

// Descent in the metric, for where Newton's direction finds nothing lower.
static void use_gradient(const poise_solver *solver, pz_line *line)
{
    for (int i = 0; i < solver->model->nv; ++i) {
        line->direction[i] = -solver->gradient[i] / line->D[i];
    }
    pz_project_on_swings(solver, line->direction);
}

poise_outcome pz_newton_projected_run(poise_solver *solver)
{
    projected_scratch *s = solver->method;
    poise_outcome outcome;
    for (;;) {
        if (pz_is_done(solver, &outcome)) {
            return outcome;
        }
        pz_make_metric(solver, s->line.D);
        bool exact = find_direction(solver, s) && pz_line_search(solver, &s->line, PZ_LINE_ARMIJO);
        bool accepted = exact;
        if (!exact) {
            use_gradient(solver, &s->line);
            accepted = pz_line_search(solver, &s->line, PZ_LINE_ARMIJO);
        }
        double longest = s->line.t * pz_largest(s->line.direction, solver->model->nv);
        bool more = pz_count_iteration(solver, s->line.t, longest, accepted, exact);
        if (!accepted) {
            return pz_stuck_outcome(solver, false);
        }
        if (!more) {
            return pz_is_done(solver, &outcome) ? outcome : POISE_OUTCOME_BUDGET;
        }
    }
}
