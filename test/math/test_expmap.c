// Grassia's functions: rotation, derivatives, two degrees of freedom, rates; against differences and the left Jacobian.
#include "num/rotation.h"
#include "support/test_main.h"

#include <float.h>
#include <poise/rotation.h>
#include <string.h>

#define EPS DBL_EPSILON

#define SWITCH 2.0 // between series and closed form

static const double angles[] = {
    0.0,
    1e-300,
    1e-160,
    1e-9,
    9e-7,
    1e-5,
    1e-3,
    0.5,
    1.0, // small
    SWITCH,
    1.9999999999999998,
    2.0000000000000004, // at the switch
    PZ_HALF_PI,
    2.5,
    PZ_PI - 1e-6,
    PZ_PI, // large
};
// these are reparameterised
static const double long_angles[] = {PZ_PI + 1e-6, 4.0, 5.0, PZ_TWO_PI - 1e-3, PZ_TWO_PI, 7.0, 100.0, 1e6};

static const vec3 directions[] = {{1, 0, 0},           {0, -1, 0},          {0, 0, 1},
                                  {0.48, 0.6, -0.64},  {-0.36, 0.48, 0.8},  {2.0 / 3, 2.0 / 3, 1.0 / 3},
                                  {1.0, 1e-8, -1e-12}, {0.28, -0.96, 1e-3}, {-0.6, -0.6, 0.5291502622129182}};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define CASES        (COUNT(angles) * COUNT(directions))

static vec3 case_vector(size_t i)
{
    vec3 v = v3_scale(v3_normalize(directions[i % COUNT(directions)]), angles[i / COUNT(directions)]);
    while (v3_norm(v) > PZ_PI) { // by rounding; it would be reparameterised
        v = v3_scale(v, 1.0 - EPS);
    }
    return v;
}

static poise_expmap made(vec3 v)
{
    poise_expmap map;
    ck_assert_int_eq(poise_expmap_make(v, &map, NULL), POISE_OK);
    return map;
}

static void rotation_of(vec3 v, double R[9])
{
    mat3 A = so3_exp(v);
    m3_to_rows(&A, R);
}

static double distance(const double *a, const double *b)
{
    double most = 0.0;
    for (int i = 0; i < 9; ++i) {
        most = fabs(a[i] - b[i]) <= most ? most : fabs(a[i] - b[i]); // NaN stays
    }
    return most;
}

static vec3 unit(int j)
{
    return v3(j == 0, j == 1, j == 2);
}

// Central difference of fourth order of exp along d: error h^4 and eps/h, near 1e-12 for h = 1e-3.
#define STEP                 1e-3
#define DIFFERENCE_TOLERANCE 1e-11

static void slope_of_exp(vec3 v, vec3 d, double out[9])
{
    double a[9], b[9], c[9], e[9];
    rotation_of(v3_mad(v, STEP, d), a);
    rotation_of(v3_mad(v, -STEP, d), b);
    rotation_of(v3_mad(v, 2 * STEP, d), c);
    rotation_of(v3_mad(v, -2 * STEP, d), e);
    for (int i = 0; i < 9; ++i) {
        out[i] = (8.0 * (a[i] - b[i]) - (c[i] - e[i])) / (12.0 * STEP);
    }
}

// [J_l d]x R
static void geometric_slope(vec3 v, vec3 d, double out[9])
{
    mat3 J = so3_left_jacobian(v), R = so3_exp(v);
    mat3 W = m3_cross(m3_apply(&J, d)), slope = m3_mul(&W, &R);
    m3_to_rows(&slope, out);
}

// ---- Three degrees of freedom --------------------------------------------------------------------------------------------

TEST(rotation_equals_exp)
{
    for (size_t i = 0; i < CASES; ++i) {
        poise_expmap map = made(case_vector(i));
        double R[9], expected[9];
        poise_quat_to_matrix(map.q, R);
        rotation_of(case_vector(i), expected);
        ck_assert_double_le(distance(R, expected), 12 * EPS); // both forms round 1 - cos(theta) <= 2 a few times
        ck_assert(!map.reparameterised);
    }
}

TEST(cache_holds_what_it_says)
{
    for (size_t i = 0; i < CASES; ++i) {
        vec3 v = case_vector(i);
        poise_expmap map = made(v);
        ck_assert(map.v.x == v.x && map.v.y == v.y && map.v.z == v.z);
        ck_assert_double_eq(map.theta, v3_norm(v));
        ck_assert_double_le(fabs(map.sin_half - sin(0.5 * map.theta)), EPS);
        ck_assert_double_le(fabs(map.cos_half - cos(0.5 * map.theta)), EPS);
        for (int j = 0; j < 3; ++j) {
            // a unit quaternion moves at right angles to itself
            double along = map.q.x * map.dq[j].x + map.q.y * map.dq[j].y + map.q.z * map.dq[j].z + map.q.w * map.dq[j].w;
            ck_assert_double_le(fabs(along), 2 * EPS);
        }
    }
}

TEST(partials_match_differences_of_the_rotation)
{
    for (size_t i = 0; i < CASES; ++i) {
        poise_expmap map = made(case_vector(i));
        for (int j = 0; j < 3; ++j) {
            double dR[9], slope[9];
            poise_quat_partial(map.q, map.dq[j], dR);
            slope_of_exp(case_vector(i), unit(j), slope);
            ck_assert_double_le(distance(dR, slope), DIFFERENCE_TOLERANCE);
        }
    }
}

TEST(partials_equal_the_left_jacobian_to_rounding)
{
    for (size_t i = 0; i < CASES; ++i) {
        poise_expmap map = made(case_vector(i));
        for (int j = 0; j < 3; ++j) {
            double dR[9], slope[9];
            poise_quat_partial(map.q, map.dq[j], dR);
            geometric_slope(case_vector(i), unit(j), slope);
            ck_assert_double_le(distance(dR, slope), 24 * EPS); // 5e-15; entries up to 2, two matrix products
        }
    }
}

TEST(derivatives_join_at_the_switch)
{
    // one ulp of v changes dq by less than its ulp, so the rest is rounding: 5 u in k, times v^2 = 4
    poise_expmap series = made(v3(SWITCH, 0, 0)), closed = made(v3(nextafter(SWITCH, 3), 0, 0));
    ck_assert_double_ne(series.theta, closed.theta);
    for (int j = 0; j < 3; ++j) {
        ck_assert_double_le(fabs(series.dq[j].x - closed.dq[j].x), 4 * EPS);
        ck_assert_double_le(fabs(series.dq[j].y - closed.dq[j].y), 4 * EPS);
        ck_assert_double_le(fabs(series.dq[j].z - closed.dq[j].z), 4 * EPS);
        ck_assert_double_le(fabs(series.dq[j].w - closed.dq[j].w), 4 * EPS);
    }
}

TEST(mixed_derivatives_keep_their_relative_accuracy)
{
    // dq_y/dv_x = k v_x v_y. In long double the closed form of k is good to 2^-64 times 6 (2/theta)^2, from 0.3 rad on; the
    // first terms of the series, -1/24 + x/960, are good below 1e-3 rad.
    static const double lengths[] = {1e-9, 1e-5, 1e-3, 0.35, 0.5, 0.7, 1.0, 1.3, 1.9, 2.1, 3.0};
    for (size_t i = 0; i < COUNT(lengths); ++i) {
        vec3 v = {0.6 * lengths[i], 0.8 * lengths[i], 0.0};
        poise_expmap map = made(v);
        long double x = (long double)v.x * v.x + (long double)v.y * v.y, h = 0.5L * sqrtl(x);
        long double k = i < 3 ? -1.0L / 24.0L + x / 960.0L : 0.5L * (cosl(h) - sinl(h) / h) / x;
        double error = fabs((double)(map.dq[0].y / (k * v.x * v.y) - 1.0L));
        ck_assert_double_le(error, 8 * EPS); // the closed form multiplies 3 u by 4.6 at most
    }
}

TEST(long_vectors_are_shortened_and_turn_the_same)
{
    for (size_t i = 0; i < COUNT(long_angles) * COUNT(directions); ++i) {
        vec3 d = v3_normalize(directions[i % COUNT(directions)]), v = v3_scale(d, long_angles[i / COUNT(directions)]);
        poise_expmap map = made(v);
        double R[9], expected[9], dR[9], slope[9];
        ck_assert(map.reparameterised);
        ck_assert_double_le(v3_norm(map.v), PZ_PI);
        poise_quat_to_matrix(map.q, R);
        rotation_of(v, expected);
        ck_assert_double_le(distance(R, expected), 16 * EPS * PZ_PI);
        // derivatives are those of the vector that is kept
        poise_quat_partial(map.q, map.dq[1], dR);
        slope_of_exp(map.v, unit(1), slope);
        ck_assert_double_le(distance(dR, slope), DIFFERENCE_TOLERANCE);
    }
}

TEST(map_of_the_quaternion_is_the_vector)
{
    for (size_t i = 0; i < CASES; ++i) {
        vec3 v = case_vector(i);
        poise_expmap map = made(v);
        vec3 back = poise_expmap_from_quat(map.q);
        double d = v3_norm(v3_sub(back, v));
        if (map.theta > 3.1415926) { // at half a turn -v is as good
            d = fmin(d, v3_norm(v3_add(back, v)));
        }
        ck_assert_double_le(d, 6 * EPS * map.theta);
        ck_assert_double_le(v3_norm(back), PZ_PI);
    }
}

// ---- Two degrees of freedom ----------------------------------------------------------------------------------------------

static const vec3 basis_s = {0.6, 0.48, 0.64}, basis_t = {0.8, -0.36, -0.48};

static poise_swing swung(double a, double b)
{
    poise_swing swing;
    ck_assert_int_eq(poise_swing_make(a, b, basis_s, basis_t, &swing, NULL), POISE_OK);
    return swing;
}

TEST(swing_equals_the_map_restricted_to_its_plane)
{
    for (size_t i = 0; i < COUNT(angles); ++i) {
        double a = 0.8 * angles[i], b = -0.6 * angles[i];
        poise_swing swing = swung(a, b);
        ck_assert_double_le(fabs(swing.a - a) + fabs(swing.b - b), 0.0);
        poise_expmap map = made(swing.map.v);
        double R[9], expected[9], dR[3][9];
        poise_quat_to_matrix(swing.map.q, R);
        poise_quat_to_matrix(map.q, expected);
        ck_assert_double_eq(distance(R, expected), 0.0);
        for (int j = 0; j < 3; ++j) {
            poise_quat_partial(map.q, map.dq[j], dR[j]);
        }
        for (int j = 0; j < 2; ++j) {
            vec3 d = j == 0 ? basis_s : basis_t;
            double partial[9], chain[9];
            for (int k = 0; k < 9; ++k) {
                chain[k] = d.x * dR[0][k] + d.y * dR[1][k] + d.z * dR[2][k];
            }
            poise_quat_partial(swing.map.q, swing.dq[j], partial);
            ck_assert_double_le(distance(partial, chain), 8 * EPS);
        }
    }
}

TEST(swing_partials_match_differences_and_the_left_jacobian)
{
    for (size_t i = 0; i < COUNT(angles); ++i) {
        poise_swing swing = swung(0.28 * angles[i], 0.96 * angles[i]);
        vec3 v = v3_combine(0.28 * angles[i], basis_s, 0.96 * angles[i], basis_t);
        for (int j = 0; j < 2; ++j) {
            double dR[9], slope[9];
            poise_quat_partial(swing.map.q, swing.dq[j], dR);
            slope_of_exp(v, j == 0 ? basis_s : basis_t, slope);
            ck_assert_double_le(distance(dR, slope), DIFFERENCE_TOLERANCE);
            geometric_slope(v, j == 0 ? basis_s : basis_t, slope);
            ck_assert_double_le(distance(dR, slope), 24 * EPS);
        }
    }
}

TEST(long_swings_are_shortened_in_their_plane)
{
    for (size_t i = 0; i < COUNT(long_angles); ++i) {
        double a = 0.6 * long_angles[i], b = -0.8 * long_angles[i], R[9], expected[9];
        poise_swing swing = swung(a, b);
        ck_assert(swing.map.reparameterised);
        ck_assert_double_le(hypot(swing.a, swing.b), PZ_PI * (1.0 + 8 * EPS));
        vec3 v = v3_combine(swing.a, basis_s, swing.b, basis_t);
        ck_assert_double_le(v3_norm(v3_sub(v, swing.map.v)), 8 * EPS * PZ_PI);
        poise_quat_to_matrix(swing.map.q, R);
        rotation_of(v3_combine(a, basis_s, b, basis_t), expected);
        ck_assert_double_le(distance(R, expected), 16 * EPS * PZ_PI);
    }
    // along an axis two components of v are 0
    vec3 axes[] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 0}};
    for (int i = 0; i < 3; ++i) {
        poise_swing swing;
        ck_assert_int_eq(poise_swing_make(4.0, 0.0, axes[i], axes[i + 1], &swing, NULL), POISE_OK);
        ck_assert_double_le(fabs(swing.a - (4.0 - PZ_TWO_PI)), 8 * EPS);
        ck_assert_double_eq(swing.b, 0.0);
    }
}

// ---- Rates ---------------------------------------------------------------------------------------------------------------

TEST(rate_times_the_left_jacobian_is_the_angular_velocity)
{
    vec3 omega = {0.48, -0.6, 0.64};
    for (size_t i = 0; i < CASES; ++i) {
        poise_expmap map = made(case_vector(i));
        mat3 J = so3_left_jacobian(map.v);
        vec3 back = m3_apply(&J, poise_expmap_rate(&map, omega));
        ck_assert_double_le(v3_norm(v3_sub(back, omega)), 12 * EPS); // |J^-1| <= pi/2, |J| <= 1
    }
}

// One step of Runge-Kutta of fourth order for v' = rate(v, omega).
static vec3 runge_kutta(vec3 v, vec3 omega, double h)
{
    poise_expmap m1 = made(v);
    vec3 k1 = poise_expmap_rate(&m1, omega);
    poise_expmap m2 = made(v3_mad(v, 0.5 * h, k1));
    vec3 k2 = poise_expmap_rate(&m2, omega);
    poise_expmap m3 = made(v3_mad(v, 0.5 * h, k2));
    vec3 k3 = poise_expmap_rate(&m3, omega);
    poise_expmap m4 = made(v3_mad(v, h, k3));
    vec3 k4 = poise_expmap_rate(&m4, omega);
    vec3 sum = v3_add(v3_add(k1, k4), v3_scale(v3_add(k2, k3), 2.0));
    return v3_mad(v, h / 6.0, sum);
}

TEST(integrated_rate_gives_the_turned_rotation)
{
    // a constant omega in the fixed frame: R(1) = exp(omega) R(0); |v| stays below pi on the way
    vec3 start = {0.3, -0.5, 0.8}, omega = {1.0, -0.7, 0.4}, v = start;
    for (int i = 0; i < 500; ++i) {
        v = runge_kutta(v, omega, 1.0 / 500);
    }
    mat3 turn = so3_exp(omega), R0 = so3_exp(start), expected = m3_mul(&turn, &R0);
    double rows[9], R[9];
    m3_to_rows(&expected, rows);
    rotation_of(v, R);
    ck_assert_double_le(distance(R, rows), 1e-12); // h^4 / 120 times a fifth derivative near 1, plus 500 roundings
}

// (a', b', 0), as rotation.h says.
static vec3 swing_rate(const poise_swing *swing, vec3 omega)
{
    vec3 dv = poise_expmap_rate(&swing->map, omega);
    return v3(v3_dot(swing->s, dv), v3_dot(swing->t, dv), 0);
}

TEST(swing_rate_is_the_rate_seen_in_the_plane)
{
    vec3 omega = {0.3, 0.5, -0.2};
    for (size_t i = 0; i < COUNT(angles); ++i) {
        poise_swing swing = swung(0.6 * angles[i], 0.8 * angles[i]);
        vec3 dv = poise_expmap_rate(&swing.map, omega), again = swing_rate(&swing, omega);
        ck_assert_double_le(fabs(again.x - v3_dot(dv, basis_s)), EPS);
        ck_assert_double_le(fabs(again.y - v3_dot(dv, basis_t)), EPS);
    }
    // a swing that turns within its plane is met exactly: omega = J_l (a' s + b' t)
    poise_swing swing = swung(0.7, -1.1);
    mat3 J = so3_left_jacobian(swing.map.v);
    vec3 rate = swing_rate(&swing, m3_apply(&J, v3_combine(0.4, basis_s, 0.9, basis_t)));
    ck_assert_double_le(fabs(rate.x - 0.4) + fabs(rate.y - 0.9), 12 * EPS);
}

// ---- Refusals ------------------------------------------------------------------------------------------------------------

TEST(numbers_that_are_not_finite_are_refused_and_nothing_is_written)
{
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    poise_expmap map, map_before;
    poise_swing swing, swing_before;
    memset(&map, 0x5a, sizeof map);
    memset(&swing, 0x5a, sizeof swing);
    memcpy(&map_before, &map, sizeof map);
    memcpy(&swing_before, &swing, sizeof swing);
    for (int i = 0; i < 3; ++i) {
        double x = bad[i];
        ck_assert_int_eq(poise_expmap_make(v3(x, 0, 0), &map, NULL), POISE_ERROR_ARGUMENT);
        ck_assert_int_eq(poise_expmap_make(v3(0, x, 0), &map, NULL), POISE_ERROR_ARGUMENT);
        ck_assert_int_eq(poise_expmap_make(v3(0, 0, x), &map, NULL), POISE_ERROR_ARGUMENT);
        ck_assert_int_eq(poise_swing_make(x, 0, basis_s, basis_t, &swing, NULL), POISE_ERROR_ARGUMENT);
        ck_assert_int_eq(poise_swing_make(0, x, basis_s, basis_t, &swing, NULL), POISE_ERROR_ARGUMENT);
        ck_assert_int_eq(poise_swing_make(0, 0, v3(x, 0, 0), v3(0, 1, 0), &swing, NULL), POISE_ERROR_ARGUMENT);
        ck_assert_int_eq(poise_swing_make(0, 0, v3(1, 0, 0), v3(0, 1, x), &swing, NULL), POISE_ERROR_ARGUMENT);
    }
    // finite coordinates whose vector is not
    ck_assert_int_eq(poise_swing_make(1.7e308, 1.7e308, basis_s, basis_t, &swing, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_mem_eq(&map, &map_before, sizeof map);
    ck_assert_mem_eq(&swing, &swing_before, sizeof swing);
    ck_assert_int_eq(poise_expmap_make(v3(0, 0, 0), NULL, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_swing_make(0, 0, basis_s, basis_t, NULL, NULL), POISE_ERROR_ARGUMENT);
}

TEST(a_basis_that_is_not_orthonormal_is_refused)
{
    poise_swing swing, before;
    memset(&swing, 0x5a, sizeof swing);
    memcpy(&before, &swing, sizeof swing);
    vec3 x = {1, 0, 0}, y = {0, 1, 0};
    ck_assert_int_eq(poise_swing_make(0.1, 0.2, v3(1.0 + 2e-9, 0, 0), y, &swing, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_swing_make(0.1, 0.2, x, v3(0, 1.0 - 2e-9, 0), &swing, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_swing_make(0.1, 0.2, x, v3(2e-9, 1, 0), &swing, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_swing_make(0.1, 0.2, x, x, &swing, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_swing_make(0.1, 0.2, x, v3(0, 0, 0), &swing, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_mem_eq(&swing, &before, sizeof swing);
    ck_assert_int_eq(poise_swing_make(0.1, 0.2, v3(1.0 + 5e-10, 0, 0), v3(5e-10, 1, 0), &swing, NULL), POISE_OK);
}
