// Levenberg-Marquardt on marker residuals r = x(q) - seen, all matrices dense:
//
//   (J^T J + lambda I) d = -J^T r        by Cholesky;  J (3 m x n) from the kinematics, marker by marker
//
// A step that lowers |r|^2 is taken and lambda falls tenfold, else lambda grows tenfold and the step is solved again
// (K. Levenberg 1944, D. Marquardt 1963). Rows are padded to whole vectors of eight numbers, and loops run along them; what
// they compute below the diagonal is not used.
#include "textbook_lm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define VECTOR          8
#define MOST_ITERATIONS 100
#define MOST_TRIES      20
#define LAMBDA_LEAST    1e-8
#define LAMBDA_RAISED   1e-5 // the least that a rejection raises lambda to

typedef double vector __attribute__((vector_size(VECTOR * sizeof(double)), may_alias));

struct textbook_lm {
    const poise_model *model;
    const scene_marker *markers;
    int marker_count, n;
    int stride; // n rounded up to whole vectors: the length of rows
    poise_kinematics *kinematics;
    double *H; // n rows: J^T J, upper triangle
    double *U; // n rows: upper triangular factor of J^T J + lambda I
    double *J; // 3 rows: of one marker
    double *g, *d, *q, *columns;
};

textbook_lm *textbook_lm_create(const poise_model *model, const scene_marker *markers, int count)
{
    size_t n = (size_t)poise_model_info(model).nv, nq = (size_t)poise_model_info(model).nq;
    size_t stride = (n + VECTOR - 1) / VECTOR * VECTOR, numbers = stride * (2 * n + 5) + nq + 3 * n;
    size_t bytes = (numbers + VECTOR - 1) / VECTOR * VECTOR * sizeof(double);
    textbook_lm *lm = calloc(1, sizeof *lm);
    double *memory = aligned_alloc(VECTOR * sizeof *memory, bytes);
    if (!lm || !memory || poise_kinematics_create(model, NULL, &lm->kinematics, NULL) != POISE_OK) {
        free(lm);
        free(memory);
        return NULL;
    }
    memset(memory, 0, bytes);
    lm->model = model;
    lm->markers = markers;
    lm->marker_count = count;
    lm->n = (int)n;
    lm->stride = (int)stride;
    lm->H = memory;
    lm->U = lm->H + n * stride;
    lm->J = lm->U + n * stride;
    lm->g = lm->J + 3 * stride;
    lm->d = lm->g + stride;
    lm->q = lm->d + stride;
    lm->columns = lm->q + nq;
    return lm;
}

void textbook_lm_destroy(textbook_lm *lm)
{
    if (lm) {
        poise_kinematics_destroy(lm->kinematics);
        free(lm->H);
        free(lm);
    }
}

// ---- Linear algebra ------------------------------------------------------------------------------------------------------

// H += J^T J for three rows, upper triangle; lengths in vectors
static void add_rows(int n, int length, const vector *restrict J, vector *restrict H)
{
    const vector *x = J, *y = J + length, *z = J + 2 * length;
    for (int i = 0; i < n; ++i) {
        double xi = x[i / VECTOR][i % VECTOR], yi = y[i / VECTOR][i % VECTOR], zi = z[i / VECTOR][i % VECTOR];
        vector *row = H + i * length;
        for (int j = i / VECTOR; j < length; ++j) {
            row[j] += xi * x[j] + yi * y[j] + zi * z[j];
        }
    }
}

// H + lambda I = U^T U. False when it is not positive definite.
static bool factor(int n, int length, const vector *restrict H, double lambda, vector *restrict U)
{
    memcpy(U, H, (size_t)n * (size_t)length * sizeof *U);
    for (int k = 0; k < n; ++k) {
        vector *row = U + k * length;
        double pivot = row[k / VECTOR][k % VECTOR] + lambda;
        if (!(pivot > 0.0)) {
            return false;
        }
        double root = sqrt(pivot), inverse = 1.0 / root;
        for (int j = k / VECTOR; j < length; ++j) {
            row[j] *= inverse;
        }
        row[k / VECTOR][k % VECTOR] = root;
        for (int i = k + 1; i < n; ++i) {
            double u = row[i / VECTOR][i % VECTOR];
            vector *below = U + i * length;
            for (int j = i / VECTOR; j < length; ++j) {
                below[j] -= u * row[j];
            }
        }
    }
    return true;
}

// U^T U d = -g
static void solve(int n, int stride, const double *restrict U, const double *restrict g, double *restrict d)
{
    for (int i = 0; i < n; ++i) {
        d[i] = -g[i];
    }
    for (int k = 0; k < n; ++k) {
        const double *row = U + k * stride;
        d[k] /= row[k];
        for (int j = k + 1; j < n; ++j) {
            d[j] -= d[k] * row[j];
        }
    }
    for (int k = n - 1; k >= 0; --k) {
        const double *row = U + k * stride;
        double sum = d[k];
        for (int j = k + 1; j < n; ++j) {
            sum -= row[j] * d[j];
        }
        d[k] = sum / row[k];
    }
}

// ---- Iteration -----------------------------------------------------------------------------------------------------------

static poise_vec3 residual(const textbook_lm *lm, const poise_vec3 *seen, int i)
{
    poise_vec3 x = poise_kinematics_point(lm->kinematics, lm->markers[i].body, lm->markers[i].local);
    return poise_vec3_make(x.x - seen[i].x, x.y - seen[i].y, x.z - seen[i].z);
}

static double cost(textbook_lm *lm, const poise_vec3 *seen, const double *q)
{
    double sum = 0.0;
    poise_kinematics_update(lm->kinematics, q, NULL);
    for (int i = 0; i < lm->marker_count; ++i) {
        poise_vec3 r = residual(lm, seen, i);
        sum += r.x * r.x + r.y * r.y + r.z * r.z;
    }
    return sum;
}

// H = J^T J and g = J^T r at the pose that the kinematics hold
static void linearise(textbook_lm *lm, const poise_vec3 *seen)
{
    size_t n = (size_t)lm->n, stride = (size_t)lm->stride;
    const double *x = lm->J, *y = x + stride, *z = y + stride;
    memset(lm->H, 0, n * stride * sizeof *lm->H);
    memset(lm->g, 0, n * sizeof *lm->g);
    for (int i = 0; i < lm->marker_count; ++i) {
        poise_vec3 r = residual(lm, seen, i);
        poise_kinematics_jacobian(lm->kinematics, lm->markers[i].body, lm->markers[i].local, lm->columns, NULL, NULL);
        for (size_t row = 0; row < 3; ++row) {
            memcpy(lm->J + row * stride, lm->columns + row * n, n * sizeof *lm->J);
        }
        add_rows(lm->n, lm->stride / VECTOR, (const vector *)lm->J, (vector *)lm->H);
        for (size_t j = 0; j < n; ++j) {
            lm->g[j] += x[j] * r.x + y[j] * r.y + z[j] * r.z;
        }
    }
}

static double largest(const double *x, int n)
{
    double most = 0.0;
    for (int i = 0; i < n; ++i) {
        most = fmax(most, fabs(x[i]));
    }
    return most;
}

// One iteration: raise lambda until a step helps. Returns the largest component of the last step; 0 when none helps.
static double improve(textbook_lm *lm, const poise_vec3 *seen, double stop, double *lambda, double *f, double *q)
{
    for (int tries = 0; tries < MOST_TRIES; ++tries) {
        if (factor(lm->n, lm->stride / VECTOR, (const vector *)lm->H, *lambda, (vector *)lm->U)) {
            solve(lm->n, lm->stride, lm->U, lm->g, lm->d);
            double step = largest(lm->d, lm->n);
            poise_retract(lm->model, q, lm->d, lm->q, NULL);
            double next = cost(lm, seen, lm->q);
            if (next <= *f) {
                memcpy(q, lm->q, (size_t)poise_model_info(lm->model).nq * sizeof *q);
                *f = next;
                *lambda = fmax(*lambda * 0.1, LAMBDA_LEAST);
                return step;
            }
            if (step < stop) {
                return 0.0;
            }
        }
        *lambda = fmax(*lambda * 10.0, LAMBDA_RAISED);
    }
    return 0.0;
}

int textbook_lm_solve(textbook_lm *lm, const poise_vec3 *seen, double stop, double *q)
{
    double lambda = LAMBDA_LEAST, f = cost(lm, seen, q);
    for (int iteration = 1; iteration <= MOST_ITERATIONS; ++iteration) {
        linearise(lm, seen);
        if (improve(lm, seen, stop, &lambda, &f, q) < stop) {
            return iteration;
        }
    }
    return MOST_ITERATIONS;
}
