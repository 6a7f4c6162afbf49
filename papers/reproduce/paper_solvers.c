// The baselines of Erleben & Andrews 2019 as the authors ran them: MATLAB's fminunc and LMFsolve.
//
// BFGS as fminunc:
//
//   B_0 = I, scaled by (s . y)/(y . y) after the first step, before its update       d = -B g
//   first trial length min(1, 1/|g|max), later 1
//   search for f(a) <= f + 0.01 a f' and |f'(a)| <= 0.9 |f'| (R. Fletcher, Practical Methods of Optimization, 1987, section
//   2.6): a bracket, widened at most ninefold, then sections of it, lengths by the cubic through both ends
//
// LM as LMFsolve, with f = |r|^2/2, A = J^T J, g = J^T r:
//
//   (A + l D) d = -g,  l = 1 at first,  D = diag(A) of the start
//   gain R = (f - f(new))/(-g . d - d . A d/2)
//   l/2 where R is above 3/4;  l times 2 - 2 (f(new) - f)/(g . d), kept in [2, 10], where it is below 1/4
//   accepted when f falls; every trial is an iteration, and the start is not tested for convergence
#include "hessian_study.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef struct work {
    const paper_problem *p;
    int n;        // free coordinates
    int *index;   // n: where they are
    double *full; // all coordinates of a trial
    double *x, *trial, *g, *g_trial, *d, *s, *y;
    double *A; // n x n: B, or A + l D
    double *H; // all x all: the Gauss-Newton matrix as it comes
    double *D;
    int evaluations;
    double f;
} work;

static double dot(const double *a, const double *b, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; ++i) {
        sum += a[i] * b[i];
    }
    return sum;
}

// f and its gradient at x over the free coordinates. NAN where it cannot be evaluated.
static double evaluate(work *w, const double *x, double *g, poise_level level)
{
    for (int i = 0; i < w->n; ++i) {
        w->full[w->index[i]] = x[i];
    }
    w->evaluations += 1;
    if (poise_objective_evaluate(w->p->objective, w->full, level, NULL) != POISE_OK) {
        return NAN;
    }
    const double *gradient = poise_objective_value(w->p->objective).gradient;
    for (int i = 0; i < w->n; ++i) {
        g[i] = gradient[w->index[i]];
    }
    return poise_objective_value(w->p->objective).cost;
}

// ---- BFGS ----------------------------------------------------------------------------------------------------------------

// A point of the search: length, f and slope there.
typedef struct point {
    double a, f, slope;
} point;

// The least value on [low, high] of the cubic that has f and slope of p and q.
static double cubic_minimum(point p, point q, double low, double high)
{
    double width = q.a - p.a, c0 = p.f, c1 = width * p.slope;
    double c2 = 3.0 * (q.f - p.f) - (2.0 * p.slope + q.slope) * width;
    double c3 = (p.slope + q.slope) * width - 2.0 * (q.f - p.f);
    double z[4] = {(low - p.a) / width, (high - p.a) / width};
    double from = fmin(z[0], z[1]), to = fmax(z[0], z[1]), root = c2 * c2 - 3.0 * c3 * c1;
    int count = 2;
    if (c3 != 0.0 && root >= 0.0) {
        double sum = -(c2 + copysign(sqrt(root), c2)); // no cancellation: the second root is c1 over it
        z[count++] = sum / (3.0 * c3);
        z[count++] = sum != 0.0 ? c1 / sum : 0.0;
    } else if (c3 == 0.0 && c2 != 0.0) {
        z[count++] = -0.5 * c1 / c2;
    }
    double best = z[0], least = INFINITY;
    for (int i = 0; i < count; ++i) {
        double value = c0 + z[i] * (c1 + z[i] * (c2 + z[i] * c3));
        if (z[i] >= from && z[i] <= to && value < least) {
            least = value;
            best = z[i];
        }
    }
    return p.a + best * width;
}

static point try_length(work *w, double a)
{
    for (int i = 0; i < w->n; ++i) {
        w->trial[i] = w->x[i] + a * w->d[i];
    }
    double f = evaluate(w, w->trial, w->g_trial, POISE_LEVEL_GRADIENT);
    return (point){a, f, dot(w->g_trial, w->d, w->n)};
}

#define DECREASE 0.01
#define SLOPE    0.9
#define WIDEN    9.0
#define TRIALS   60

static bool falls_too_little(point start, point p)
{
    return !(p.f <= start.f + DECREASE * p.a * start.slope);
}

static bool is_flat(point start, point p)
{
    return fabs(p.slope) <= -SLOPE * start.slope;
}

// Shrink the bracket from a, the better end, to b. True: w->trial is acceptable.
static bool section(work *w, point start, point a, point b)
{
    for (int trial = 0; trial < TRIALS; ++trial) {
        double length = cubic_minimum(a, b, a.a + 0.1 * (b.a - a.a), b.a - 0.5 * (b.a - a.a));
        if (!(fabs((length - a.a) * a.slope) > 0.0)) {
            return false;
        }
        point p = try_length(w, length);
        if (falls_too_little(start, p) || p.f >= a.f) {
            b = p;
            continue;
        }
        w->f = p.f;
        if (is_flat(start, p)) {
            return true;
        }
        b = (b.a - a.a) * p.slope >= 0.0 ? a : b;
        a = p;
    }
    return false;
}

// A length along w->d that meets both conditions, from `length` on. True: w->trial, w->g_trial and w->f are its.
static bool search(work *w, double length)
{
    point start = {0.0, w->f, dot(w->g, w->d, w->n)}, before = start;
    double most = 1e8 * (1.0 + fabs(start.f)) / (-DECREASE * start.slope);
    for (int trial = 0; trial < TRIALS && start.slope < 0.0; ++trial) {
        point p = try_length(w, length);
        if (falls_too_little(start, p) || p.f >= before.f) {
            return section(w, start, before, p);
        }
        w->f = p.f;
        if (is_flat(start, p)) {
            return true;
        }
        if (p.slope >= 0.0) {
            return section(w, start, p, before);
        }
        double nearest = 2.0 * p.a - before.a;
        length = nearest < most ? cubic_minimum(before, p, nearest, fmin(most, p.a + WIDEN * (p.a - before.a))) : most;
        before = p;
    }
    return false;
}

// B from the step s and the change y of the gradient; y . B y and B y are of the scaled identity at first.
static void update(work *w, bool first)
{
    int n = w->n;
    double sy = dot(w->s, w->y, n), size = sqrt(dot(w->s, w->s, n) * dot(w->y, w->y, n));
    for (int i = 0; first && sy > 0.0 && i < n; ++i) {
        w->A[(size_t)i * (size_t)n + (size_t)i] = sy / dot(w->y, w->y, n);
    }
    if (!(sy > 1.5e-8 * fmax(2.3e-16, size))) {
        return;
    }
    double *By = w->D;
    for (int i = 0; i < n; ++i) {
        By[i] = dot(w->A + (size_t)i * (size_t)n, w->y, n);
    }
    double factor = (1.0 + dot(w->y, By, n) / sy) / sy;
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            w->A[(size_t)i * (size_t)n + (size_t)j] += factor * w->s[i] * w->s[j] - (w->s[i] * By[j] + By[i] * w->s[j]) / sy;
        }
    }
}

static int run_bfgs(work *w, double *history)
{
    int n = w->n, k = 0;
    double largest = 0.0;
    for (int i = 0; i < n; ++i) {
        w->A[(size_t)i * (size_t)n + (size_t)i] = 1.0;
        largest = fmax(largest, fabs(w->g[i]));
    }
    while (k < w->p->max_iterations && w->f >= w->p->tolerance) {
        for (int i = 0; i < n; ++i) {
            w->d[i] = -dot(w->A + (size_t)i * (size_t)n, w->g, n);
        }
        double before = w->f;
        if (!search(w, k == 0 ? fmin(1.0, 1.0 / largest) : 1.0)) {
            w->f = before;
            return k;
        }
        for (int i = 0; i < n; ++i) {
            w->s[i] = w->trial[i] - w->x[i];
            w->y[i] = w->g_trial[i] - w->g[i];
            w->x[i] = w->trial[i];
            w->g[i] = w->g_trial[i];
        }
        update(w, k == 0);
        history[++k] = w->f;
    }
    return k;
}

// ---- Levenberg-Marquardt -------------------------------------------------------------------------------------------------

// A = J^T J over the free coordinates, of the last evaluation.
static bool gauss_newton(work *w)
{
    int n = w->n, all = w->p->n;
    if (poise_objective_hessian(w->p->objective, POISE_HESSIAN_GAUSS_NEWTON, w->H, NULL) != POISE_OK) {
        return false;
    }
    for (int i = 0; i < n; ++i) { // rows and columns move up and left, never over one that is still to be read
        for (int j = 0; j < n; ++j) {
            w->H[(size_t)i * (size_t)n + (size_t)j] = w->H[(size_t)w->index[i] * (size_t)all + (size_t)w->index[j]];
        }
    }
    return true;
}

// d with (A + l D) d = -g, and what the model says f falls by.
static double damped_step(work *w, double l)
{
    int n = w->n;
    memcpy(w->A, w->H, (size_t)n * (size_t)n * sizeof *w->A);
    for (int i = 0; i < n; ++i) {
        w->A[(size_t)i * (size_t)n + (size_t)i] += l * w->D[i];
        w->d[i] = -w->g[i];
    }
    if (!symmetric_solve(n, w->A, w->d)) {
        return NAN;
    }
    double curvature = 0.0;
    for (int i = 0; i < n; ++i) {
        curvature += w->d[i] * dot(w->H + (size_t)i * (size_t)n, w->d, n);
    }
    return -dot(w->g, w->d, n) - 0.5 * curvature;
}

static int run_lm(work *w, double *history)
{
    int n = w->n;
    double l = 1.0;
    bool works = gauss_newton(w);
    for (int i = 0; i < n && works; ++i) {
        double diagonal = w->H[(size_t)i * (size_t)n + (size_t)i];
        w->D[i] = diagonal > 0.0 ? diagonal : 1.0;
    }
    for (int k = 0; k < w->p->max_iterations && works;) {
        double promised = damped_step(w, l);
        point next = try_length(w, 1.0);
        double gain = (w->f - next.f) / promised;
        if (gain > 0.75) {
            l *= 0.5;
        } else if (!(gain >= 0.25)) {
            l *= fmin(fmax(2.0 - 2.0 * (next.f - w->f) / dot(w->g, w->d, n), 2.0), 10.0);
        }
        if (next.f < w->f) {
            w->f = next.f;
            memcpy(w->x, w->trial, (size_t)n * sizeof *w->x);
            evaluate(w, w->x, w->g, POISE_LEVEL_HESSIAN); // the trial again, with its matrix
            w->evaluations -= 1;
            works = gauss_newton(w);
        }
        history[++k] = w->f;
        if (w->f < w->p->tolerance) {
            return k;
        }
    }
    return works ? w->p->max_iterations : -1;
}

// ---- Both ----------------------------------------------------------------------------------------------------------------

bool paper_solve(paper_solver solver, const paper_problem *problem, double *x, double *history, paper_result *result)
{
    size_t all = (size_t)problem->n;
    work w = {.p = problem};
    double *numbers = calloc(9 * all + 2 * all * all + (size_t)problem->max_iterations + 2, sizeof *numbers);
    w.index = calloc(all + 1, sizeof *w.index);
    if (!numbers || !w.index) {
        free(numbers);
        free(w.index);
        return false;
    }
    double **arrays[] = {&w.full, &w.x, &w.trial, &w.g, &w.g_trial, &w.d, &w.s, &w.y, &w.D};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; ++i) {
        *arrays[i] = numbers + i * all;
    }
    w.A = numbers + 9 * all;
    w.H = w.A + all * all;
    double *f = history ? history : w.H + all * all;
    memcpy(w.full, x, all * sizeof *x);
    for (int i = 0; i < problem->n; ++i) {
        if (!problem->locked || !problem->locked[i]) {
            w.x[w.n] = x[i];
            w.index[w.n++] = i;
        }
    }
    w.f = f[0] = evaluate(&w, w.x, w.g, POISE_LEVEL_HESSIAN);
    int iterations = !isfinite(w.f) ? -1 : solver == PAPER_BFGS ? run_bfgs(&w, f) : run_lm(&w, f);
    for (int i = 0; i < w.n; ++i) {
        x[w.index[i]] = w.x[i];
    }
    *result = (paper_result){iterations, w.evaluations, w.f};
    free(numbers);
    free(w.index);
    return iterations >= 0;
}

// ---- Symmetric matrices --------------------------------------------------------------------------------------------------

#define SWEEPS 30 // six to ten are enough

bool symmetric_solve(int n, double *A, double *x)
{
    for (int i = 0; i < n; ++i) {
        double *row = A + (size_t)i * (size_t)n;
        for (int j = 0; j <= i; ++j) {
            const double *other = A + (size_t)j * (size_t)n;
            double sum = row[j];
            for (int k = 0; k < j; ++k) {
                sum -= row[k] * other[k];
            }
            if (j == i && !(sum > 0.0)) {
                return false;
            }
            row[j] = j == i ? sqrt(sum) : sum / other[j];
        }
    }
    for (int i = 0; i < n; ++i) {
        for (int k = 0; k < i; ++k) {
            x[i] -= A[(size_t)i * (size_t)n + (size_t)k] * x[k];
        }
        x[i] /= A[(size_t)i * (size_t)n + (size_t)i];
    }
    for (int i = n - 1; i >= 0; --i) {
        for (int k = i + 1; k < n; ++k) {
            x[i] -= A[(size_t)k * (size_t)n + (size_t)i] * x[k];
        }
        x[i] /= A[(size_t)i * (size_t)n + (size_t)i];
    }
    return true;
}

// Turn rows and columns p and q so that A_pq = 0: t = tan of the angle, the smaller root of t^2 + 2 theta t = 1.
static void rotate(int n, double *A, int p, int q)
{
    double *P = A + (size_t)p * (size_t)n, *Q = A + (size_t)q * (size_t)n;
    double theta = 0.5 * (Q[q] - P[p]) / P[q];
    double t = 1.0 / (theta + copysign(sqrt(theta * theta + 1.0), theta)), c = 1.0 / sqrt(t * t + 1.0), s = t * c;
    for (int k = 0; k < n; ++k) {
        double a = P[k], b = Q[k];
        P[k] = c * a - s * b;
        Q[k] = s * a + c * b;
    }
    for (int k = 0; k < n; ++k) {
        double *row = A + (size_t)k * (size_t)n, a = row[p], b = row[q];
        row[p] = c * a - s * b;
        row[q] = s * a + c * b;
    }
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void symmetric_eigenvalues(int n, double *A, double *w)
{
    double size = 0.0, off = INFINITY;
    for (int i = 0; i < n * n; ++i) {
        size += A[i] * A[i];
    }
    for (int sweep = 0; sweep < SWEEPS && off > 1e-34 * size; ++sweep) {
        off = 0.0;
        for (int p = 0; p < n; ++p) {
            for (int q = p + 1; q < n; ++q) {
                double entry = A[(size_t)p * (size_t)n + (size_t)q];
                off += entry * entry;
                if (entry != 0.0) {
                    rotate(n, A, p, q);
                }
            }
        }
    }
    for (int i = 0; i < n; ++i) {
        w[i] = A[(size_t)i * (size_t)n + (size_t)i];
    }
    qsort(w, (size_t)n, sizeof *w, compare);
}
