// Public value types: quaternions, poses, angles; and the six-vectors behind them.
#include "num/vector.h"
#include "support/test_main.h"

#include <float.h>

#define EPS DBL_EPSILON

// Uniform in (-1, 1) (Marsaglia 2003, xorshift64).
static double random_number(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (double)(int64_t)*state * 0x1p-63;
}

static vec3 random_vector(uint64_t *state)
{
    double x = random_number(state), y = random_number(state), z = random_number(state);
    return v3(x, y, z);
}

static quat random_rotation(uint64_t *state)
{
    vec3 u = random_vector(state);
    return quat_normalize((quat){u.x, u.y, u.z, random_number(state)});
}

static poise_pose random_pose(uint64_t *state)
{
    quat rotation = random_rotation(state);
    return (poise_pose){rotation, random_vector(state)};
}

static double distance(vec3 a, vec3 b)
{
    return v3_norm(v3_sub(a, b));
}

// half the angle between two rotations: the vector part of a b*
static double turn(quat a, quat b)
{
    return v3_norm(quat_vec(quat_mul(a, quat_conj(b))));
}

static double length(quat q)
{
    return sqrt(quat_mul(q, quat_conj(q)).w);
}

// ---- Matrix to quaternion ------------------------------------------------------------------------------------------------

TEST(quaternion_of_a_matrix_of_a_quaternion_is_the_same)
{
    // one rotation for each of the four largest components, then random ones
    static const quat fixed[] = {{0.1, -0.2, 0.3, 0.9},  {0.9, 0.3, -0.2, 0.1},  {-0.2, 0.9, 0.3, -0.1},
                                 {0.3, 0.1, -0.9, 0.2},  {0, 0, 0, 1},           {0.5, 0.5, 0.5, 0.5},
                                 {1e-8, 3e-9, 1, -2e-8}, {1e-8, 1, -3e-9, 2e-8}, {1, 1e-8, -3e-9, 2e-8}};
    uint64_t state = 2463534242u;
    for (int i = 0; i < 500; ++i) {
        quat q = i < 9 ? quat_normalize(fixed[i]) : random_rotation(&state);
        double m[9];
        poise_quat_to_matrix(q, m);
        quat back = poise_quat_from_matrix(m);
        ck_assert_double_le(turn(q, back), 6 * EPS); // sums of three entries, of a few ulp each
        ck_assert_double_le(fabs(length(back) - 1.0), 2 * EPS);
        ck_assert_double_ge(back.w, 0.0);
    }
}

TEST(half_turns_survive_the_matrix)
{
    // w = 0: the branches of x, y and z, and the ties between them
    static const vec3 axes[] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 0}, {0, -1, 1}, {-1, 1, 1}, {1e-9, 1, 0}};
    for (int i = 0; i < 7; ++i) {
        vec3 n = v3_normalize(axes[i]);
        double m[9];
        poise_quat_to_matrix((quat){n.x, n.y, n.z, 0.0}, m);
        quat q = poise_quat_from_matrix(m);
        ck_assert_double_le(turn(q, (quat){n.x, n.y, n.z, 0.0}), 6 * EPS);
        ck_assert_double_le(fabs(length(q) - 1.0), 2 * EPS);
        ck_assert_double_le(fabs(q.w), EPS);
    }
}

TEST(matrix_that_is_a_little_off_gives_a_unit_quaternion)
{
    static const double m[9] = {0, -1.0000001, 0, 0.9999999, 0, 0, 0, 0, 1.0000001};
    quat q = poise_quat_from_matrix(m);
    ck_assert_double_le(fabs(length(q) - 1.0), 2 * EPS);
    ck_assert_double_le(turn(q, (quat){0, 0, sqrt(0.5), sqrt(0.5)}), 1e-6);
}

TEST(a_matrix_is_a_pose_or_none)
{
    static const struct {
        int entry; // that gets this value
        double value;
        bool is_pose;
    } rows[] = {{0, 1, true},     {0, 1.0004, true}, {0, 1.001, false}, {0, -1, false}, {1, 5e-4, true},
                {1, 2e-3, false}, {3, 7, true},      {12, 1e-9, false}, {15, 2, false}, {3, NAN, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        double m[16] = {1, 0, 0, 4, 0, 1, 0, 5, 0, 0, 1, 6, 0, 0, 0, 1};
        m[rows[i].entry] = rows[i].value;
        poise_pose pose = poise_pose_identity();
        ck_assert_msg(poise_pose_from_matrix(m, &pose) == rows[i].is_pose, "row %d", (int)i);
        ck_assert_int_eq(poise_pose_from_matrix(m, NULL), rows[i].is_pose);
        ck_assert_double_eq(pose.position.z, rows[i].is_pose ? 6 : 0);
        ck_assert_double_le(fabs(length(pose.rotation) - 1.0), 2 * EPS);
    }
}

TEST(matrix_is_row_major)
{
    double m[9];
    poise_quat_to_matrix(poise_quat_from_axis_angle(v3(0, 0, 1), 0.3), m);
    double s = sin(0.3), c = cos(0.3), expected[9] = {c, -s, 0, s, c, 0, 0, 0, 1};
    for (int i = 0; i < 9; ++i) {
        ck_assert_double_le(fabs(m[i] - expected[i]), 2 * EPS);
    }
}

// ---- Rotations -----------------------------------------------------------------------------------------------------------

TEST(axis_need_not_be_a_unit_vector)
{
    quat expected = poise_quat_from_axis_angle(v3(1, 2, -2), 0.7);
    ck_assert_double_le(fabs(length(expected) - 1.0), 2 * EPS);
    ck_assert_double_le(fabs(expected.x - sin(0.35) / 3.0), EPS);
    ck_assert_double_le(turn(poise_quat_from_axis_angle(v3(1e200, 2e200, -2e200), 0.7), expected), 2 * EPS);
    ck_assert_double_le(turn(poise_quat_from_axis_angle(v3(1e-200, 2e-200, -2e-200), 0.7), expected), 2 * EPS);
}

TEST(zero_axis_gives_the_identity_and_nan_gives_nan)
{
    quat q = poise_quat_from_axis_angle(v3(0, -0.0, 0), 0.7);
    ck_assert(q.x == 0.0 && q.y == 0.0 && q.z == 0.0 && q.w == 1.0);
    ck_assert(!quat_is_finite(poise_quat_from_axis_angle(v3(NAN, 0, 0), 0.7)));
    ck_assert(!quat_is_finite(poise_quat_from_axis_angle(v3(0, INFINITY, 0), 0.7)));
    ck_assert(!quat_is_finite(poise_quat_from_axis_angle(v3(0, 1, 0), NAN)));
}

TEST(roll_pitch_yaw_is_the_product_of_three_turns)
{
    uint64_t state = 362436069u;
    for (int i = 0; i < 100; ++i) {
        vec3 a = v3_scale(random_vector(&state), 4.0);
        quat x = poise_quat_from_axis_angle(v3(1, 0, 0), a.x), y = poise_quat_from_axis_angle(v3(0, 1, 0), a.y);
        quat z = poise_quat_from_axis_angle(v3(0, 0, 1), a.z);
        quat expected = poise_quat_multiply(z, poise_quat_multiply(y, x));
        ck_assert_double_le(turn(poise_quat_from_roll_pitch_yaw(a.x, a.y, a.z), expected), 4 * EPS);
    }
}

// Back to the angles, with the pitch in [-pi/2, pi/2]; upright, where roll and yaw turn about one axis, the roll is 0.
TEST(roll_pitch_yaw_are_found_again)
{
    uint64_t state = 5783321u;
    for (int i = 0; i < 100; ++i) {
        vec3 u = random_vector(&state), a = v3(3.1 * u.x, 1.5 * u.y, 3.1 * u.z);
        vec3 back = poise_quat_to_roll_pitch_yaw(poise_quat_from_roll_pitch_yaw(a.x, a.y, a.z));
        ck_assert_msg(distance(a, back) < 1e-13, "%g %g %g", a.x, a.y, a.z); // EPS over a cosine of 0.07
        double sign = i % 2 ? 1.0 : -1.0;
        quat upright = poise_quat_from_roll_pitch_yaw(a.x, sign * acos(0.0), a.z);
        back = poise_quat_to_roll_pitch_yaw(upright);
        ck_assert(back.x == 0);
        ck_assert_double_le(turn(poise_quat_from_roll_pitch_yaw(0, back.y, back.z), upright), 1e-7);
    }
}

TEST(product_turns_by_the_second_factor_first)
{
    uint64_t state = 521288629u;
    for (int i = 0; i < 100; ++i) {
        quat a = random_rotation(&state), b = random_rotation(&state);
        vec3 v = random_vector(&state);
        vec3 together = poise_quat_rotate(poise_quat_multiply(a, b), v);
        vec3 in_turn = poise_quat_rotate(a, poise_quat_rotate(b, v));
        ck_assert_double_le(distance(together, in_turn), 16 * EPS); // |v| <= sqrt(3), a few ulp in each of three turns
        vec3 back = poise_quat_rotate(poise_quat_conjugate(a), poise_quat_rotate(a, v));
        poise_quat longer = {3 * a.x, 3 * a.y, 3 * a.z, 3 * a.w}, unit = poise_quat_normalize(longer);
        ck_assert_double_eq_tol(unit.x * a.x + unit.y * a.y + unit.z * a.z + unit.w * a.w, 1, 1e-15);
        ck_assert_double_le(distance(back, v), 16 * EPS);
    }
}

TEST(rotating_equals_the_matrix_product)
{
    uint64_t state = 88675123u;
    for (int i = 0; i < 100; ++i) {
        quat q = random_rotation(&state);
        vec3 v = random_vector(&state), turned = poise_quat_rotate(q, v);
        double m[9];
        poise_quat_to_matrix(q, m);
        vec3 product = {m[0] * v.x + m[1] * v.y + m[2] * v.z, m[3] * v.x + m[4] * v.y + m[5] * v.z,
                        m[6] * v.x + m[7] * v.y + m[8] * v.z};
        ck_assert_double_le(distance(turned, product), 12 * EPS);
    }
}

TEST(angle_is_accurate_near_zero_and_near_half_a_turn)
{
    static const double angles[] = {0.0, 1e-100, 1e-12, 1e-8, 1e-3, 1.0, 3.0, PZ_PI - 1e-8, PZ_PI};
    for (int i = 0; i < 9; ++i) {
        quat q = poise_quat_from_axis_angle(v3(2, -1, 2), angles[i]);
        ck_assert_double_le(fabs(poise_quat_angle(q) - angles[i]), 4 * EPS * angles[i]);
        quat minus = {-q.x, -q.y, -q.z, -q.w};
        ck_assert_double_eq(poise_quat_angle(minus), poise_quat_angle(q));
    }
    // the long way round is the short way back
    ck_assert_double_le(fabs(poise_quat_angle(poise_quat_from_axis_angle(v3(0, 1, 0), 5.0)) - (PZ_TWO_PI - 5.0)), 8 * EPS);
}

// ---- Poses ---------------------------------------------------------------------------------------------------------------

TEST(product_of_poses_transforms_by_the_second_first)
{
    uint64_t state = 5783321u;
    for (int i = 0; i < 100; ++i) {
        poise_pose a = random_pose(&state), b = random_pose(&state);
        vec3 p = random_vector(&state);
        vec3 together = poise_pose_transform(poise_pose_multiply(a, b), p);
        vec3 in_turn = poise_pose_transform(a, poise_pose_transform(b, p));
        ck_assert_double_le(distance(together, in_turn), 24 * EPS);
    }
}

TEST(pose_times_its_inverse_is_the_identity)
{
    uint64_t state = 6615241u;
    for (int i = 0; i < 100; ++i) {
        poise_pose a = random_pose(&state), inverse = poise_pose_inverse(a);
        poise_pose left = poise_pose_multiply(inverse, a), right = poise_pose_multiply(a, inverse);
        ck_assert_double_le(v3_norm(left.position), 16 * EPS);
        ck_assert_double_le(v3_norm(right.position), 16 * EPS);
        ck_assert_double_le(turn(left.rotation, poise_pose_identity().rotation), 2 * EPS);
        ck_assert_double_le(turn(right.rotation, poise_pose_identity().rotation), 2 * EPS);
    }
}

TEST(constructors_give_what_they_say)
{
    vec3 v = poise_vec3_make(1, 2, 3), p = poise_pose_transform((poise_pose){{0, 0, 0, 1}, {1, 2, 3}}, v);
    ck_assert(v.x == 1.0 && v.y == 2.0 && v.z == 3.0);
    ck_assert(p.x == 2.0 && p.y == 4.0 && p.z == 6.0);
    vec3 same = poise_pose_transform(poise_pose_identity(), v);
    ck_assert(same.x == v.x && same.y == v.y && same.z == v.z);
}

TEST(public_sine_cosine_and_arc_tangent_agree_with_libm_to_rounding)
{
    uint64_t state = 88172645463325252u;
    for (int i = 0; i < 1000; ++i) {
        double x = 100.0 * random_number(&state), y = random_number(&state), s, c;
        poise_sincos(x, &s, &c);
        // below 1 ulp here and below 1 ulp there
        ck_assert_double_le(fabs(s - sin(x)), 2 * EPS * fabs(sin(x)));
        ck_assert_double_le(fabs(c - cos(x)), 2 * EPS * fabs(cos(x)));
        ck_assert_double_le(fabs(poise_atan2(y, x) - atan2(y, x)), 2 * EPS * fabs(atan2(y, x)));
    }
}

// ---- Six-vectors ---------------------------------------------------------------------------------------------------------

static spatial random_motion(uint64_t *state)
{
    vec3 w = random_vector(state);
    return (spatial){w, random_vector(state)};
}

static double motion_length(spatial a)
{
    return sqrt(v3_dot(a.w, a.w) + v3_dot(a.v, a.v));
}

TEST(motion_cross_product_is_a_lie_bracket)
{
    uint64_t state = 1234567u;
    for (int i = 0; i < 50; ++i) {
        spatial a = random_motion(&state), b = random_motion(&state), c = random_motion(&state);
        ck_assert_double_le(motion_length(spatial_cross(a, a)), 4 * EPS);
        spatial jacobi = spatial_mad(spatial_cross(a, spatial_cross(b, c)), 1.0, spatial_cross(b, spatial_cross(c, a)));
        jacobi = spatial_mad(jacobi, 1.0, spatial_cross(c, spatial_cross(a, b)));
        ck_assert_double_le(motion_length(jacobi), 64 * EPS); // 6 triple products of vectors up to sqrt(3) long
    }
}

TEST(motion_cross_product_is_the_rate_of_a_carried_motion)
{
    // b, turning about a line along z through o, is carried by a rotation about x through the origin: the axis becomes
    // R z, the line goes through R o, and d/dt [R z ; R o x R z] at 0 is a x b
    vec3 o = {0.3, -0.4, 0.5}, z = {0, 0, 1};
    spatial a = {{1, 0, 0}, {0, 0, 0}}, b = {z, v3_cross(o, z)}, rate = spatial_cross(a, b);
    double h = 1e-5;
    quat ahead = poise_quat_from_axis_angle(v3(1, 0, 0), h), behind = quat_conj(ahead);
    vec3 dw = v3_sub(quat_rotate(ahead, z), quat_rotate(behind, z));
    vec3 dv = v3_sub(v3_cross(quat_rotate(ahead, o), quat_rotate(ahead, z)),
                     v3_cross(quat_rotate(behind, o), quat_rotate(behind, z)));
    ck_assert_double_le(distance(v3_scale(dw, 0.5 / h), rate.w), 1e-9); // h^2 and eps/h
    ck_assert_double_le(distance(v3_scale(dv, 0.5 / h), rate.v), 1e-9);
}

TEST(wrench_sums_are_by_component)
{
    wrench a = {{1, 2, 3}, {4, 5, 6}}, b = {{-1, 0, 1}, {2, 0, -2}};
    wrench sum = wrench_add(wrench_add(a, b), b), same = wrench_mad(a, 2.0, b);
    ck_assert_double_eq(distance(sum.n, v3(-1, 2, 5)) + distance(sum.f, v3(8, 5, 2)), 0.0);
    ck_assert_double_eq(distance(sum.n, same.n) + distance(sum.f, same.f), 0.0);
    spatial m = {{2, 0, 0}, {0, 2, 0}};
    ck_assert_double_eq(spatial_dot(m, a), 2.0 + 10.0);
}
