// Functions of one coordinate.
//
// The spline is SIMM's, after Forsythe, Malcolm & Moler, "Computer Methods for Mathematical Computations", 1977, section
// 4.4: with h_i = x_{i+1} - x_i, m_i = (y_{i+1} - y_i)/h_i and f''(x_i) = 6 s_i,
//
//   h_{i-1} s_{i-1} + 2 (h_{i-1} + h_i) s_i + h_i s_{i+1} = m_i - m_{i-1}
//   -h_0 s_0 + h_0 s_1 = h_0^2 d,   d the third divided difference of the first four points;   mirrored at the other end
//
// so that the third derivatives at the ends are those of the cubics through the first and the last four points. Three
// points: d = 0. Two: a line.
#include "model/model.h"

#include "base/error.h"
#include "num/real.h"

#include <string.h>

#define LARGEST 1e100 // as of lengths: squares and products must stay far from overflow

// ---- Check ---------------------------------------------------------------------------------------------------------------

poise_status pz_function_check(const poise_function *f, const char *joint, const char *what, poise_error *error)
{
    bool has_points = f->kind == POISE_FUNCTION_SPLINE || f->kind == POISE_FUNCTION_LINES;
    if (!has_points && f->kind != POISE_FUNCTION_POLYNOMIAL) {
        return pz_error_set(error, POISE_ERROR_MODEL, "joint \"%s\": %s is of an unknown kind", joint, what);
    }
    if (f->count < 0 || (f->count > 0 && (!f->y || (has_points && !f->x)))) {
        return pz_error_set(error, POISE_ERROR_MODEL, "joint \"%s\": %s needs its numbers", joint, what);
    }
    if (has_points && f->count == 1) {
        return pz_error_set(error, POISE_ERROR_MODEL, "joint \"%s\": %s needs at least two points", joint, what);
    }
    for (int i = 0; i < f->count; ++i) {
        if (!(fabs(f->y[i]) <= LARGEST) || (has_points && !(fabs(f->x[i]) <= LARGEST))) {
            return pz_error_set(error, POISE_ERROR_MODEL,
                                "joint \"%s\": %s has a number that is not finite, or beyond 1e100", joint, what);
        }
        if (has_points && i > 0 && !(f->x[i] > f->x[i - 1])) {
            return pz_error_set(error, POISE_ERROR_MODEL, "joint \"%s\": %s: x must increase, but %g comes after %g", joint,
                                what, f->x[i], f->x[i - 1]);
        }
    }
    return POISE_OK;
}

// ---- Packing -------------------------------------------------------------------------------------------------------------

static bool has_pieces(const poise_function *f)
{
    return f->kind != POISE_FUNCTION_POLYNOMIAL && f->count > 0;
}

size_t pz_function_room(const poise_function *f)
{
    size_t n = (size_t)f->count;
    return has_pieces(f) ? n + 4 * (n + 1) : n;
}

static double slope_of(const poise_function *f, int i)
{
    return (f->y[i + 1] - f->y[i]) / (f->x[i + 1] - f->x[i]);
}

// The third divided difference of four points from i on; 0 where there are fewer.
static double third_difference(const poise_function *f, int i)
{
    if (f->count < 4) {
        return 0.0;
    }
    double first = (slope_of(f, i + 1) - slope_of(f, i)) / (f->x[i + 2] - f->x[i]);
    double second = (slope_of(f, i + 2) - slope_of(f, i + 1)) / (f->x[i + 3] - f->x[i + 1]);
    return (second - first) / (f->x[i + 3] - f->x[i]);
}

// s by elimination, n >= 3. s and the pivots lie at the places of pieces that are filled after them: s_i at c[4 i + 2] and
// its pivot at c[4 i + 3] of the piece that ends at point i.
static void solve_spline(const poise_function *f, double *c)
{
    int n = f->count;
    for (int i = 0; i < n; ++i) {
        double *at = c + 4 * i, *before = at - 4;
        double h = i < n - 1 ? f->x[i + 1] - f->x[i] : 0.0, left = i > 0 ? f->x[i] - f->x[i - 1] : 0.0;
        if (i == 0) {
            at[2] = h * h * third_difference(f, 0);
            at[3] = -h;
            continue;
        }
        bool is_last = i == n - 1;
        double right = is_last ? -left * left * third_difference(f, n - 4) : slope_of(f, i) - slope_of(f, i - 1);
        double pivot = is_last ? -left : 2.0 * (left + h), ratio = left / before[3];
        at[2] = right - ratio * before[2];
        at[3] = pivot - ratio * left;
    }
    double above = 0.0; // s of the point after i, of which there is none behind the last
    for (int i = n - 1; i >= 0; --i) {
        double h = i < n - 1 ? f->x[i + 1] - f->x[i] : 0.0;
        above = c[4 * i + 2] = (c[4 * i + 2] - h * above) / c[4 * i + 3];
    }
}

static void fill_piece(const poise_function *f, int i, double s, double next, double *piece)
{
    double h = f->x[i + 1] - f->x[i];
    piece[0] = f->y[i];
    piece[1] = slope_of(f, i) - h * (next + 2.0 * s);
    piece[2] = 3.0 * s;
    piece[3] = (next - s) / h;
}

// From the pieces between points to the lines before and behind them.
static void fill_ends(const poise_function *f, double *c)
{
    int n = f->count;
    const double *first = c + 4, *last = c + 4 * (n - 1);
    double h = f->x[n - 1] - f->x[n - 2], *end = c + 4 * n;
    double slope = last[1] + h * (2.0 * last[2] + 3.0 * h * last[3]);
    c[0] = f->y[0], c[1] = first[1], c[2] = 0.0, c[3] = 0.0;
    end[0] = f->y[n - 1], end[1] = slope, end[2] = 0.0, end[3] = 0.0;
}

pz_function pz_function_pack(const poise_function *f, double *room)
{
    int n = f->count;
    if (!has_pieces(f)) {
        for (int i = 0; i < n; ++i) {
            room[i] = f->y[i];
        }
        return (pz_function){.count = n, .c = room};
    }
    double *x = room, *c = room + n;
    for (int i = 0; i < n; ++i) {
        x[i] = f->x[i];
    }
    bool is_cubic = f->kind == POISE_FUNCTION_SPLINE && n > 2;
    if (is_cubic) {
        solve_spline(f, c);
    }
    for (int i = n - 2; i >= 0; --i) { // s_i lies in the piece before, s_{i+1} in the one that is filled
        fill_piece(f, i, is_cubic ? c[4 * i + 2] : 0.0, is_cubic ? c[4 * (i + 1) + 2] : 0.0, c + 4 * (i + 1));
    }
    fill_ends(f, c);
    return (pz_function){.points = n, .x = x, .c = c};
}

// ---- Values --------------------------------------------------------------------------------------------------------------

pz_jet2 pz_function_at(const pz_function *f, double x)
{
    if (f->points == 0) {
        pz_jet2 at = {0.0, 0.0, 0.0};
        for (int i = 0; i < f->count; ++i) {
            at.d2 = at.d2 * x + 2.0 * at.d1;
            at.d1 = at.d1 * x + at.f;
            at.f = at.f * x + f->c[i];
        }
        return at;
    }
    int low = 0, high = f->points; // points at or below x: from low to high
    while (low < high) {
        int middle = (low + high) / 2;
        if (f->x[middle] <= x) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    const double *c = f->c + 4 * low;
    double t = x - f->x[low > 0 ? low - 1 : 0];
    return (pz_jet2){c[0] + t * (c[1] + t * (c[2] + t * c[3])), c[1] + t * (2.0 * c[2] + 3.0 * t * c[3]),
                     2.0 * c[2] + 6.0 * t * c[3]};
}

// ---- Copies of the functions of a joint ----------------------------------------------------------------------------------
//
// What a joint's description points to: the curve, the mimic's function, then their numbers.

static bool has_points(const poise_function *f)
{
    return f->kind != POISE_FUNCTION_POLYNOMIAL;
}

static size_t numbers_of(const poise_function *f)
{
    return (size_t)f->count * (has_points(f) ? 2 : 1);
}

size_t pz_functions_size(const poise_joint *joint)
{
    size_t bytes = 0;
    for (int i = 0; joint->curve && i < 6; ++i) {
        bytes += numbers_of(&joint->curve->value[i]) * sizeof(double);
    }
    bytes += joint->curve ? sizeof *joint->curve : 0;
    bytes += joint->mimic_function ? sizeof *joint->mimic_function + numbers_of(joint->mimic_function) * sizeof(double) : 0;
    return bytes;
}

static poise_function copied(const poise_function *f, double **numbers)
{
    size_t count = (size_t)f->count;
    poise_function copy = {.kind = f->kind, .count = f->count};
    if (count > 0 && has_points(f)) {
        copy.x = (const double *)memcpy(*numbers, f->x, count * sizeof **numbers);
        *numbers += count;
    }
    if (count > 0) {
        copy.y = (const double *)memcpy(*numbers, f->y, count * sizeof **numbers);
        *numbers += count;
    }
    return copy;
}

static vec3 normalized(vec3 a)
{
    return pz_is_unit(v3_dot(a, a)) ? a : v3_normalize(a);
}

void pz_functions_copy(poise_joint *joint, void *memory)
{
    poise_curve *curve = (poise_curve *)memory;
    poise_function *mimic = (poise_function *)(void *)(curve + (joint->curve ? 1 : 0));
    double *numbers = (double *)(void *)(mimic + (joint->mimic_function ? 1 : 0));
    if (joint->curve) {
        for (int i = 0; i < 6; ++i) {
            bool is_there = joint->curve->value[i].count > 0;
            curve->axis[i] = is_there ? normalized(joint->curve->axis[i]) : v3(i % 3 == 0, i % 3 == 1, i % 3 == 2);
            curve->value[i] = copied(&joint->curve->value[i], &numbers);
        }
        joint->curve = curve;
    }
    if (joint->mimic_function) {
        *mimic = copied(joint->mimic_function, &numbers);
        joint->mimic_function = mimic;
    }
}
