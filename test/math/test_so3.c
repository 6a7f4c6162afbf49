// Exponential map, logarithm, left Jacobian and its derivative: identities, differences, and a table of exact values.
#include "num/rotation.h"
#include "num/trig.h"
#include "so3_table.h"
#include "support/test_main.h"

#include <float.h>

#define EPS DBL_EPSILON

#define SWITCH 2.5 // between series and closed form

// Where formulas change or degenerate.
static const double angles[] = {
    0.0,
    1e-300,
    1e-160,
    1e-9,
    9e-7,
    1e-5,
    1e-3,
    0.5,
    1.0,
    PZ_HALF_PI,
    2.0, // small
    SWITCH,
    2.4999999999999996,
    2.5000000000000004, // at the switch
    3.0,
    PZ_PI - 1e-6,
    PZ_PI,
    PZ_PI + 1e-6,
    4.0,
    5.0,
    PZ_TWO_PI - 1e-3, // large
};
#define ANGLES     (sizeof angles / sizeof angles[0])
#define DIRECTIONS 12
#define CASES      (ANGLES * DIRECTIONS)

// Uniform in (-1, 1) (Marsaglia 2003, xorshift64).
static double random_number(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (double)(int64_t)*state * 0x1p-63;
}

// The axes, the diagonal, then random directions.
static vec3 direction(size_t i)
{
    static const vec3 fixed[] = {{1, 0, 0}, {0, -1, 0}, {0, 0, 1}, {1, 1, 1}, {1, 1e-8, 0}};
    if (i < 5) {
        return v3_normalize(fixed[i]);
    }
    uint64_t state = 88172645463325252u + 1000003u * i;
    vec3 d;
    do {
        d = v3(random_number(&state), random_number(&state), random_number(&state));
    } while (v3_dot(d, d) > 1.0 || v3_dot(d, d) < 0.01);
    return v3_normalize(d);
}

static vec3 case_vector(size_t i)
{
    return v3_scale(direction(i % DIRECTIONS), angles[i / DIRECTIONS]);
}

static double largest(const mat3 *A)
{
    double m[9], most = 0.0;
    m3_to_rows(A, m);
    for (int i = 0; i < 9; ++i) {
        most = fmax(most, fabs(m[i]));
    }
    return most;
}

static mat3 difference(const mat3 *A, const mat3 *B)
{
    return (mat3){v3_sub(A->x, B->x), v3_sub(A->y, B->y), v3_sub(A->z, B->z)};
}

// largest entry of A - B; NaN counts as infinite
static double distance(const mat3 *A, const mat3 *B)
{
    mat3 D = difference(A, B);
    double sum = v3_dot(v3_add(D.x, v3_add(D.y, D.z)), v3(1, 1, 1));
    return sum - sum == 0.0 ? largest(&D) : INFINITY;
}

static vec3 unit(int j)
{
    return v3(j == 0, j == 1, j == 2);
}

static double orthonormality_defect(const mat3 *R)
{
    mat3 T = m3_transpose(R), P = m3_mul(&T, R), I = m3_identity();
    return distance(&P, &I);
}

// ---- Coefficients --------------------------------------------------------------------------------------------------------

TEST(coefficients_match_exact_values_to_4e_15)
{
    for (size_t i = 0; i < sizeof so3_table / sizeof so3_table[0]; ++i) {
        const double *row = so3_table[i];
        so3_coefficients k = so3_coefficients_of(v3(0, row[0], 0));
        double got[5] = {k.a, k.b, k.c, k.db, k.dc};
        for (int j = 0; j < 5; ++j) {
            double error = fabs(got[j] / row[1 + j] - 1.0);
            ck_assert_msg(error <= 4e-15, "theta %.17g coefficient %d: relative error %g", row[0], j, error);
        }
    }
}

TEST(series_and_closed_form_meet_at_the_switch)
{
    // one ulp of theta moves no coefficient by more than its own ulp; the rest is rounding of both forms, 30 u for dc
    so3_coefficients s = so3_coefficients_of(v3(SWITCH, 0, 0));
    so3_coefficients c = so3_coefficients_of(v3(nextafter(SWITCH, 9), 0, 0));
    ck_assert_double_le(fabs(s.a / c.a - 1.0), 16 * EPS);
    ck_assert_double_le(fabs(s.b / c.b - 1.0), 8 * EPS);
    ck_assert_double_le(fabs(s.c / c.c - 1.0), 8 * EPS);
    ck_assert_double_le(fabs(s.db / c.db - 1.0), 8 * EPS);
    ck_assert_double_le(fabs(s.dc / c.dc - 1.0), 16 * EPS);
    ck_assert_msg(s.a != c.a || s.b != c.b || s.c != c.c || s.db != c.db || s.dc != c.dc, "the switch is elsewhere");
}

TEST(inverse_left_jacobian_matches_exact_values)
{
    for (size_t i = 0; i < sizeof so3_table / sizeof so3_table[0]; ++i) {
        // for v along x the lower right block is h cot(h) I + ..., and its rounding is that of e theta^2 = 1 - h cot(h)
        double h_cot_h = so3_table[i][6];
        mat3 inverse = so3_left_jacobian_inverse(v3(so3_table[i][0], 0, 0));
        double tolerance = 8 * EPS * fmax(1.0, fabs(1.0 - h_cot_h));
        ck_assert_double_le(fabs(inverse.y.y - h_cot_h), tolerance);
        ck_assert_double_le(fabs(inverse.z.z - h_cot_h), tolerance);
    }
}

// ---- exp and log ---------------------------------------------------------------------------------------------------------

TEST(exp_is_orthonormal_to_rounding)
{
    for (size_t i = 0; i < CASES; ++i) {
        // b theta^2 = 1 - cos(theta) <= 2 carries about 4 eps of its own size: theta^2, the sine, its square, the products.
        // A defect e of it is one of 2 |cos(theta)| e in R^T R. The rest is rounding of sums of entries below 1.
        vec3 v = case_vector(i);
        double cosine = cos(v3_norm(v));
        mat3 R = so3_exp(v);
        ck_assert_double_le(orthonormality_defect(&R), (8 * fabs(cosine) * (1.0 - cosine) + 4) * EPS);
    }
}

TEST(exp_turns_about_z_by_sine_and_cosine)
{
    for (size_t i = 0; i < ANGLES; ++i) {
        mat3 R = so3_exp(v3(0, 0, angles[i]));
        double s = sin(angles[i]), c = cos(angles[i]);
        mat3 expected = {{c, s, 0}, {-s, c, 0}, {0, 0, 1}};
        ck_assert_double_le(distance(&R, &expected), 4 * EPS);
    }
}

TEST(exp_as_quaternion_is_the_same_rotation)
{
    for (size_t i = 0; i < CASES; ++i) {
        quat q = so3_exp_quat(case_vector(i));
        mat3 R = so3_exp(case_vector(i)), Q = quat_matrix(q);
        ck_assert_double_le(distance(&R, &Q), 8 * EPS);
        ck_assert_double_le(fabs(quat_mul(q, quat_conj(q)).w - 1.0), 4 * EPS);
    }
}

TEST(exp_of_a_tiny_vector_keeps_every_digit)
{
    vec3 v = {1e-300, -3e-301, 7e-305};
    mat3 R = so3_exp(v);
    ck_assert_double_eq(R.y.z, v.x);
    ck_assert_double_eq(R.z.x, v.y);
    ck_assert_double_eq(R.x.y, v.z);
    vec3 back = so3_log(so3_exp_quat(v));
    ck_assert(back.x == v.x && back.y == v.y && back.z == v.z);
}

TEST(log_of_exp_is_the_identity)
{
    for (size_t i = 0; i < CASES; ++i) {
        vec3 v = case_vector(i), back = so3_log(so3_exp_quat(v));
        so3_reparameterise(&v);
        // at half a turn v and -v are the same rotation
        double d = v3_norm(v3_sub(back, v));
        if (fabs(v3_norm(v) - PZ_PI) < 8 * EPS) {
            d = fmin(d, v3_norm(v3_add(back, v)));
        }
        // below pi relative to the length; a turn less has the absolute error of the longer vector
        double scale = angles[i / DIRECTIONS] <= PZ_PI ? v3_norm(v) : PZ_TWO_PI;
        ck_assert_msg(d <= 6 * EPS * scale, "theta %.17g: %g", angles[i / DIRECTIONS], d);
    }
}

TEST(exp_of_log_is_the_identity)
{
    uint64_t state = 2463534242u;
    for (int i = 0; i < 1000; ++i) {
        double w_scale = i % 4 == 0 ? 1e-12 : i % 4 == 1 ? 1e-17 : 1.0, u_scale = i % 4 == 3 ? 1e-7 : 1.0;
        quat q = {u_scale * random_number(&state), u_scale * random_number(&state), u_scale * random_number(&state),
                  w_scale * random_number(&state)};
        q = quat_normalize(q);
        quat p = so3_exp_quat(so3_log(q));
        // p q* is the rotation that is missing, its vector part half the angle
        ck_assert_double_le(v3_norm(quat_vec(quat_mul(p, quat_conj(q)))), 6 * EPS);
    }
}

TEST(log_of_half_a_turn_has_length_pi)
{
    static const double ws[] = {0.0, -0.0, 1e-17, -1e-17, 1e-300};
    for (int i = 0; i < 5; ++i) {
        for (size_t k = 0; k < 200; ++k) {
            vec3 n = direction(k);
            vec3 v = so3_log((quat){n.x, n.y, n.z, ws[i]});
            ck_assert_double_le(v3_norm(v), PZ_PI);
            ck_assert_double_ge(v3_norm(v), PZ_PI * (1.0 - 8 * EPS));
        }
    }
}

TEST(log_does_not_see_the_sign_of_the_quaternion)
{
    for (size_t k = 0; k < 50; ++k) {
        quat q = so3_exp_quat(v3_scale(direction(k), 0.06 * (double)(k + 1)));
        vec3 a = so3_log(q), b = so3_log((quat){-q.x, -q.y, -q.z, -q.w});
        ck_assert(a.x == b.x && a.y == b.y && a.z == b.z);
    }
}

// ---- Jacobian ------------------------------------------------------------------------------------------------------------

// Differences of fourth order, (8 D(h) - D(2 h)) / 6 with D(h) = f(h) - f(-h) over 2 h: error h^4 times a fifth derivative
// (below 1) and eps/h. With h = 1e-3 both stay near 1e-12.
#define STEP                 1e-3
#define DIFFERENCE_TOLERANCE 1e-11

// log(exp(v + s) exp(v - s)^-1), which is 2 J_l s up to third order
static vec3 turn_between(vec3 v, vec3 s)
{
    quat ahead = so3_exp_quat(v3_add(v, s)), behind = so3_exp_quat(v3_sub(v, s));
    return so3_log(quat_mul(ahead, quat_conj(behind)));
}

TEST(left_jacobian_matches_differences_of_exp)
{
    for (size_t i = 0; i < CASES; ++i) {
        vec3 v = case_vector(i);
        mat3 J = so3_left_jacobian(v);
        for (int j = 0; j < 3; ++j) {
            vec3 near = turn_between(v, v3_scale(unit(j), STEP)), far = turn_between(v, v3_scale(unit(j), 2 * STEP));
            vec3 slope = v3_combine(8.0 / (12.0 * STEP), near, -1.0 / (12.0 * STEP), far);
            ck_assert_double_le(v3_norm(v3_sub(slope, m3_apply(&J, unit(j)))), DIFFERENCE_TOLERANCE);
        }
    }
}

static mat3 jacobian_difference(vec3 v, vec3 s)
{
    mat3 ahead = so3_left_jacobian(v3_add(v, s)), behind = so3_left_jacobian(v3_sub(v, s));
    return difference(&ahead, &behind);
}

TEST(derivative_of_left_jacobian_matches_differences)
{
    for (size_t i = 0; i < CASES; ++i) {
        vec3 v = case_vector(i);
        mat3 dJ[3];
        so3_left_jacobian_derivative(v, dJ);
        for (int j = 0; j < 3; ++j) {
            mat3 near = jacobian_difference(v, v3_scale(unit(j), STEP));
            mat3 far = jacobian_difference(v, v3_scale(unit(j), 2 * STEP));
            double s = 8.0 / (12.0 * STEP), t = -1.0 / (12.0 * STEP);
            mat3 slope = {v3_combine(s, near.x, t, far.x), v3_combine(s, near.y, t, far.y), v3_combine(s, near.z, t, far.z)};
            ck_assert_double_le(distance(&slope, &dJ[j]), DIFFERENCE_TOLERANCE);
        }
    }
}

TEST(derivative_of_left_jacobian_closes_the_structure_equation)
{
    // second derivatives of exp do not depend on their order: d_i J_j - d_j J_i = J_i x J_j, to rounding
    for (size_t i = 0; i < CASES; ++i) {
        mat3 J = so3_left_jacobian(case_vector(i)), dJ[3];
        so3_left_jacobian_derivative(case_vector(i), dJ);
        for (int a = 0; a < 3; ++a) {
            int b = (a + 1) % 3;
            vec3 left = v3_sub(m3_apply(&dJ[a], unit(b)), m3_apply(&dJ[b], unit(a)));
            vec3 right = v3_cross(m3_apply(&J, unit(a)), m3_apply(&J, unit(b)));
            ck_assert_double_le(v3_norm(v3_sub(left, right)), 8 * EPS);
        }
    }
}

TEST(left_jacobian_times_its_inverse_is_the_identity)
{
    mat3 I = m3_identity();
    for (size_t i = 0; i < CASES; ++i) {
        mat3 J = so3_left_jacobian(case_vector(i)), inverse = so3_left_jacobian_inverse(case_vector(i));
        mat3 P = m3_mul(&J, &inverse);
        ck_assert_double_le(distance(&P, &I), 8 * EPS * largest(&inverse)); // J has entries up to 1
    }
}

// ---- Lengths -------------------------------------------------------------------------------------------------------------

TEST(reparameterised_vector_is_short_and_turns_the_same)
{
    static const double lengths[] = {
        PZ_PI + 1e-6, 4.0, PZ_TWO_PI - 1e-3, PZ_TWO_PI, PZ_TWO_PI + 1e-9, 7.0, 3 * PZ_PI, 12.0, 1e6, 1e15, 1e100};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; ++i) {
        for (size_t k = 0; k < DIRECTIONS; ++k) {
            vec3 v = v3_scale(direction(k), lengths[i]), given = v;
            ck_assert(so3_reparameterise(&v));
            ck_assert_double_le(v3_norm(v), PZ_PI);
            mat3 R = so3_exp(v), expected = so3_exp(given);
            ck_assert_double_le(distance(&R, &expected), 8 * EPS * PZ_PI); // v has rounding errors of up to eps pi
            vec3 again = v;
            ck_assert(!so3_reparameterise(&again));
        }
    }
}

TEST(one_turn_too_many_is_taken_off_as_grassia_does)
{
    for (size_t k = 0; k < DIRECTIONS; ++k) {
        vec3 v = v3_scale(direction(k), 4.0), expected = v3_scale(v, 1.0 - PZ_TWO_PI / 4.0);
        ck_assert(so3_reparameterise(&v));
        ck_assert_double_le(v3_norm(v3_sub(v, expected)), 8 * EPS * PZ_PI);
    }
}

TEST(short_vectors_are_not_reparameterised)
{
    static const double lengths[] = {0.0, 1e-300, 1.0, 3.0, PZ_PI};
    for (int i = 0; i < 5; ++i) {
        vec3 v = {0, lengths[i], 0};
        ck_assert(!so3_reparameterise(&v));
        ck_assert(v.x == 0.0 && v.y == lengths[i] && v.z == 0.0);
    }
    vec3 nan = {NAN, 0, 0};
    ck_assert(!so3_reparameterise(&nan));
}

TEST(huge_vectors_give_finite_rotations_and_jacobians)
{
    static const double lengths[] = {1e15, 1e100, 1e149, 1e151, 1e200, 1e308};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; ++i) {
        vec3 v = {lengths[i], 0, 0};
        mat3 R = so3_exp(v), J = so3_left_jacobian(v), dJ[3], zero = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
        so3_left_jacobian_derivative(v, dJ);
        double s, c; // right at any length, says test_trig.c; those of the system are not everywhere
        pz_sincos(lengths[i], &s, &c);
        mat3 expected = {{1, 0, 0}, {0, c, s}, {0, -s, c}}, along = {{1, 0, 0}, {0, 0, 0}, {0, 0, 0}};
        quat q = so3_exp_quat(v);
        mat3 Q = quat_matrix(q);
        ck_assert_double_le(distance(&R, &expected), 8 * EPS * PZ_PI);
        ck_assert_double_le(distance(&Q, &expected), 8 * EPS * PZ_PI);
        ck_assert_double_le(distance(&J, &along), 2.0 / lengths[i] + EPS);
        for (int j = 0; j < 3; ++j) {
            ck_assert_double_le(distance(&dJ[j], &zero), 4.0 / fmin(lengths[i], 1e90));
        }
    }
    mat3 R = so3_exp(v3(DBL_MAX, -DBL_MAX, DBL_MAX));
    ck_assert_double_le(orthonormality_defect(&R), 4 * EPS);
}
