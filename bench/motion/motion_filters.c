#include "motion_filters.h"

#include "bench/bench.h"

#include <math.h>
#include <stdlib.h>

#define PI 3.14159265358979323846

// ---- Unwrapping ----------------------------------------------------------------------------------------------------------

static void unwrap_vector(const double *before, double *r)
{
    double length = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
    double along = length > 1e-9 ? (before[0] * r[0] + before[1] * r[1] + before[2] * r[2]) / length : 0;
    double turns = length > 1e-9 ? round((along - length) / (2 * PI)) : 0;
    for (int i = 0; i < 3 && turns != 0; ++i) {
        r[i] *= 1 + 2 * PI * turns / length;
    }
}

void filter_unwrap(const poise_model *model, poise_clip *clip)
{
    for (int t = 1; t < clip->frames; ++t) {
        double *q = clip->q + (size_t)t * (size_t)clip->nq, *before = q - clip->nq;
        for (int k = 0; k < poise_model_info(model).joints; ++k) {
            poise_joint_info joint = poise_model_joint_info(model, k);
            if (joint.type == POISE_JOINT_BALL_EXPMAP || joint.type == POISE_JOINT_FREE_EXPMAP) {
                int first = joint.q + joint.nq - 3;
                unwrap_vector(before + first, q + first);
            } else {
                for (int i = joint.q; i < joint.q + joint.nq; ++i) {
                    bool is_angle = poise_model_coordinate(model, i).unit == POISE_UNIT_ANGLE;
                    q[i] -= is_angle ? 2 * PI * round((q[i] - before[i]) / (2 * PI)) : 0;
                }
            }
        }
    }
}

// ---- Whittaker -----------------------------------------------------------------------------------------------------------

// (I + w D^T D) x = y for one coordinate; a matrix of five diagonals, L D L^T.
static void whittaker(const double *y, int n, int stride, double w, double *work, double *x)
{
    double *d = work, *e = work + n, *f = work + 2 * n, *z = work + 3 * n;
    for (int i = 0; i < n; ++i) {
        double inner = (i >= 2) + 4.0 * (i >= 1 && i + 1 < n) + (i + 2 < n);
        double one = i + 1 < n ? -2.0 * ((i >= 1) + (i + 2 < n)) : 0;
        double two = i + 2 < n ? 1 : 0;
        d[i] = 1 + w * inner - (i > 0 ? e[i - 1] * e[i - 1] * d[i - 1] : 0) - (i > 1 ? f[i - 2] * f[i - 2] * d[i - 2] : 0);
        e[i] = (w * one - (i > 0 ? e[i - 1] * f[i - 1] * d[i - 1] : 0)) / d[i];
        f[i] = w * two / d[i];
        z[i] = y[(size_t)i * (size_t)stride] - (i > 0 ? e[i - 1] * z[i - 1] : 0) - (i > 1 ? f[i - 2] * z[i - 2] : 0);
    }
    for (int i = n - 1; i >= 0; --i) {
        double next = i + 1 < n ? x[(size_t)(i + 1) * (size_t)stride] : 0,
               after = i + 2 < n ? x[(size_t)(i + 2) * (size_t)stride] : 0;
        x[(size_t)i * (size_t)stride] = z[i] / d[i] - e[i] * next - f[i] * after;
    }
}

void filter_whittaker(const poise_clip *from, double weight, poise_clip *to)
{
    double *work = bench_take(4 * (size_t)from->frames, sizeof *work);
    for (int i = 0; i < from->nq && from->frames > 2; ++i) {
        whittaker(from->q + i, from->frames, from->nq, weight, work, to->q + i);
    }
    free(work);
}

// ---- Butterworth ---------------------------------------------------------------------------------------------------------

static void run_once(double *x, int n, double b0, double a1, double a2)
{
    double x1 = x[0], x2 = x[0], y1 = x[0], y2 = x[0];
    for (int i = 0; i < n; ++i) {
        double y = b0 * (x[i] + 2 * x1 + x2) - a1 * y1 - a2 * y2;
        x2 = x1, x1 = x[i], y2 = y1, y1 = y;
        x[i] = y;
    }
}

static void reverse(double *x, int n)
{
    for (int i = 0; i < n / 2; ++i) {
        double kept = x[i];
        x[i] = x[n - 1 - i];
        x[n - 1 - i] = kept;
    }
}

void filter_butterworth(const poise_clip *from, double cutoff, poise_clip *to)
{
    int n = from->frames, pad = n < 60 ? n - 1 : 59, all = n + 2 * pad;
    double *x = bench_take((size_t)all + 1, sizeof *x);
    double c = tan(PI * cutoff * from->frame_time / 0.802), scale = 1 / (1 + sqrt(2) * c + c * c); // 0.802: run twice
    double b0 = c * c * scale, a1 = 2 * (c * c - 1) * scale, a2 = (1 - sqrt(2) * c + c * c) * scale;
    for (int i = 0; i < from->nq && n > 2; ++i) {
        for (int t = 0; t < all; ++t) {
            int at = t - pad;
            int inside = at < 0 ? -at : at >= n ? 2 * (n - 1) - at : at, end = at < 0 ? 0 : n - 1;
            double value = from->q[(size_t)inside * (size_t)from->nq + (size_t)i];
            double edge = from->q[(size_t)end * (size_t)from->nq + (size_t)i];
            x[t] = at < 0 || at >= n ? 2 * edge - value : value;
        }
        for (int pass = 0; pass < 2; ++pass) {
            run_once(x, all, b0, a1, a2);
            reverse(x, all);
        }
        for (int t = 0; t < n; ++t) {
            to->q[(size_t)t * (size_t)from->nq + (size_t)i] = x[t + pad];
        }
    }
    free(x);
}
