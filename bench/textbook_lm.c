// Levenberg-Marquardt on marker residuals r = x(q) - seen, all matrices dense:
//
//   (J^T J + mu I) d = -J^T r        by Cholesky;  J (3 m x n) from the kinematics, marker by marker
//
// The damping follows the gain ratio, how much of the promised decrease a step brings (H. B. Nielsen 1999; K. Madsen, H. B.
// Nielsen, O. Tingleff: Methods for non-linear least squares problems, 2004, algorithm 3.16). Limits hold by projection:
// steps are clamped, and coordinates whose limit the gradient presses on are left out of the equations. It stops as Poise is
// told to: where the markers are met, or where the residuals are orthogonal to all that the joints can do. Rows are padded to
// whole vectors of eight numbers, and loops run along them; what they compute below the diagonal is not used.
#include "textbook_lm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define VECTOR          8
#define MOST_ITERATIONS 100
#define MOST_TRIES      30
#define STEP_LEAST      1e-9 // radians or metres: shorter ones change nothing

// mu at the start, over the largest entry on the diagonal: what takes fewest iterations from the neutral pose, and from the
// answer for the frame before.
#define DAMPING_COLD 1e-3
#define DAMPING_WARM 1e-6

typedef double vector __attribute__((vector_size(VECTOR * sizeof(double)), may_alias));

struct textbook_lm {
    const poise_model *model;
    const scene_marker *markers;
    double reached, cosine;
    int marker_count, n;
    int stride; // n rounded up to whole vectors: the length of rows
    poise_kinematics *kinematics;
    double *H; // n rows: J^T J, upper triangle
    double *U; // n rows: upper triangular factor of J^T J + mu I
    double *J; // 3 rows: of one marker
    double *g, *d, *q, *columns;
};

textbook_lm *textbook_lm_create(const poise_model *model, const scene_marker *markers, int count, double reached,
                                double cosine)
{
    size_t n = (size_t)poise_model_info(model).nv, nq = (size_t)poise_model_info(model).nq;
    size_t stride = (n + VECTOR - 1) / VECTOR * VECTOR, numbers = stride * (2 * n + 5) + nq + 3 * n;
    size_t bytes = (numbers + VECTOR - 1) / VECTOR * VECTOR * sizeof(double);
    textbook_lm *lm = calloc(1, sizeof *lm);
    double *memory = aligned_alloc(VECTOR * sizeof *memory, bytes);
    if (!lm || !memory || n != nq || poise_kinematics_create(model, NULL, &lm->kinematics, NULL) != POISE_OK) {
        free(lm);
        free(memory);
        return NULL;
    }
    memset(memory, 0, bytes);
    lm->model = model;
    lm->markers = markers;
    lm->marker_count = count;
    lm->reached = reached;
    lm->cosine = cosine;
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

// H + mu I = U^T U. False when it is not positive definite.
static bool factor(int n, int length, const vector *restrict H, double mu, vector *restrict U)
{
    memcpy(U, H, (size_t)n * (size_t)length * sizeof *U);
    for (int k = 0; k < n; ++k) {
        vector *row = U + k * length;
        double pivot = row[k / VECTOR][k % VECTOR] + mu;
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

// The kinematics are at q from then on.
static double cost(textbook_lm *lm, const poise_vec3 *seen, const double *q, double *worst)
{
    double sum = 0.0;
    *worst = 0.0;
    poise_kinematics_update(lm->kinematics, q, NULL);
    for (int i = 0; i < lm->marker_count; ++i) {
        poise_vec3 r = residual(lm, seen, i);
        double square = r.x * r.x + r.y * r.y + r.z * r.z;
        sum += square;
        *worst = fmax(*worst, sqrt(square));
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

// Leave out coordinate i: a row and a column of the identity.
static void hold(textbook_lm *lm, int i)
{
    size_t stride = (size_t)lm->stride;
    for (int k = 0; k < lm->n; ++k) {
        lm->H[(size_t)(k < i ? k : i) * stride + (size_t)(k < i ? i : k)] = k == i;
    }
    lm->g[i] = 0.0;
}

// Hold what presses on a limit. Returns the largest cosine between the residuals, |r|^2 = f, and a column of J that is left.
static double project(textbook_lm *lm, const double *q, double f, double *diagonal)
{
    const poise_model_summary info = poise_model_info(lm->model);
    double cosine = 0.0;
    *diagonal = 0.0;
    for (int i = 0; i < lm->n; ++i) {
        double square = lm->H[(size_t)i * (size_t)lm->stride + (size_t)i];
        *diagonal = fmax(*diagonal, square);
        if ((q[i] <= info.lower[i] && lm->g[i] > 0.0) || (q[i] >= info.upper[i] && lm->g[i] < 0.0)) {
            hold(lm, i);
        } else if (square > 0.0) {
            cosine = fmax(cosine, fabs(lm->g[i]) / sqrt(square * f));
        }
    }
    return cosine;
}

// The decrease of |r|^2 that the linear model promises for the step d.
static double promise(const textbook_lm *lm, double mu)
{
    double sum = 0.0;
    for (int i = 0; i < lm->n; ++i) {
        sum += lm->d[i] * (mu * lm->d[i] - lm->g[i]);
    }
    return sum;
}

static bool moves(const textbook_lm *lm, const double *q)
{
    double most = 0.0;
    for (int i = 0; i < lm->n; ++i) {
        most = fmax(most, fabs(lm->q[i] - q[i]));
    }
    return most > STEP_LEAST;
}

typedef struct state {
    double f, worst;   // |r|^2; the largest distance of a marker
    double mu, growth; // damping, and what it grows by when the next step fails
} state;

// One iteration: raise the damping until a step helps. False when none does.
static bool improve(textbook_lm *lm, const poise_vec3 *seen, state *s, double *q)
{
    for (int tries = 0; tries < MOST_TRIES; ++tries) {
        if (factor(lm->n, lm->stride / VECTOR, (const vector *)lm->H, s->mu, (vector *)lm->U)) {
            double worst;
            solve(lm->n, lm->stride, lm->U, lm->g, lm->d);
            poise_retract(lm->model, q, lm->d, lm->q, NULL);
            poise_model_clamp(lm->model, lm->q, NULL, NULL);
            if (!moves(lm, q)) {
                return false;
            }
            double next = cost(lm, seen, lm->q, &worst), gain = (s->f - next) / promise(lm, s->mu);
            if (next < s->f) {
                memcpy(q, lm->q, (size_t)lm->n * sizeof *q);
                s->f = next;
                s->worst = worst;
                s->mu *= fmax(1.0 / 3.0, 1.0 - (2.0 * gain - 1.0) * (2.0 * gain - 1.0) * (2.0 * gain - 1.0));
                s->growth = 2.0;
                return true;
            }
        }
        s->mu *= s->growth;
        s->growth *= 2.0;
    }
    return false;
}

int textbook_lm_solve(textbook_lm *lm, const poise_vec3 *seen, bool cold, double *q)
{
    state s = {.growth = 2.0};
    s.f = cost(lm, seen, q, &s.worst);
    for (int iteration = 0; iteration < MOST_ITERATIONS; ++iteration) {
        double diagonal;
        if (s.worst <= lm->reached) {
            return iteration;
        }
        linearise(lm, seen);
        if (project(lm, q, s.f, &diagonal) <= lm->cosine) {
            return iteration;
        }
        s.mu = iteration > 0 ? s.mu : (cold ? DAMPING_COLD : DAMPING_WARM) * diagonal;
        if (!improve(lm, seen, &s, q)) {
            return iteration + 1;
        }
    }
    return MOST_ITERATIONS;
}
