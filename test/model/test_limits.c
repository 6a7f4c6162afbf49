// Limits of a configuration: boxes, swing ellipses, mimics that narrow their leader.
#include "support/skeleton.h"

#include <float.h>
#include <math.h>

#define MODELS  100
#define JOINTS  30
#define NUMBERS (7 * JOINTS)

static poise_model *limited_model(uint64_t seed)
{
    scene_random random = scene_random_make(seed);
    poise_model *model = own_model(random_model(&random, JOINTS, RANDOM_LIMITS | RANDOM_MIMICS));
    return model;
}

// A model of one joint with these limits on every coordinate.
static poise_model *single(poise_joint_type type, double lower, double upper, double swing_a, double swing_b)
{
    poise_builder *builder = new_builder();
    poise_joint joint = poise_joint_default();
    joint.name = "a";
    joint.type = type;
    for (int i = 0; i < 7; ++i) {
        joint.lower[i] = lower;
        joint.upper[i] = upper;
    }
    joint.swing[0] = swing_a;
    joint.swing[1] = swing_b;
    add(builder, &joint);
    return model_of(builder);
}

// ---- Clamp ---------------------------------------------------------------------------------------------------------------

TEST(a_configuration_inside_is_not_moved)
{
    for (uint64_t seed = 0; seed < MODELS; ++seed) {
        poise_model *model = limited_model(seed);
        scene_random random = scene_random_make(seed + 2000);
        for (int trial = 0; trial < 20; ++trial) {
            double q[NUMBERS], before[NUMBERS];
            scene_random_configuration(&random, model, q);
            ck_assert(poise_model_within_limits(model, q));
            size_t bytes = (size_t)poise_model_info(model).nq * sizeof *q;
            memcpy(before, q, bytes);
            int moved = -1;
            ck_assert_int_eq(poise_model_clamp(model, q, &moved, NULL), POISE_OK);
            ck_assert_int_eq(moved, 0);
            ck_assert_mem_eq(q, before, bytes);
        }
    }
}

TEST(a_coordinate_outside_moves_to_the_limit_it_passed)
{
    poise_model *model = single(POISE_JOINT_TRANSLATION, -0.1, 0.3, INFINITY, INFINITY);
    double q[3] = {-7, 0.2, 0.30000000000000004};
    int moved = -1;
    ck_assert(!poise_model_within_limits(model, q));
    ck_assert_int_eq(poise_model_clamp(model, q, &moved, NULL), POISE_OK);
    ck_assert(q[0] == -0.1 && q[1] == 0.2 && q[2] == 0.3);
    ck_assert_int_eq(moved, 1); // joints, not coordinates
}

TEST(numbers_that_look_like_degrees_are_suspected)
{
    poise_model *model = single(POISE_JOINT_REVOLUTE, -3, 3, INFINITY, INFINITY);
    ck_assert_int_eq(poise_model_suspect_degrees(model, (double[]){-90}), 0);
    ck_assert_int_eq(poise_model_suspect_degrees(model, (double[]){6.2}), POISE_NONE); // beyond a limit, and no whole turn
    model = single(POISE_JOINT_REVOLUTE, -12, 12, INFINITY, INFINITY);
    ck_assert_int_eq(poise_model_suspect_degrees(model, (double[]){11}), POISE_NONE); // a wrist that turns twice
    model = single(POISE_JOINT_REVOLUTE, -INFINITY, INFINITY, INFINITY, INFINITY);
    ck_assert_int_eq(poise_model_suspect_degrees(model, (double[]){19}), POISE_NONE);
    ck_assert_int_eq(poise_model_suspect_degrees(model, (double[]){45}), 0);
    model = single(POISE_JOINT_PRISMATIC, -0.1, 0.3, INFINITY, INFINITY);
    ck_assert_int_eq(poise_model_suspect_degrees(model, (double[]){90}), POISE_NONE); // no angle
}

TEST(the_limits_themselves_are_within_the_limits)
{
    poise_model *model = single(POISE_JOINT_REVOLUTE, -0.1, 0.3, INFINITY, INFINITY);
    ck_assert(poise_model_within_limits(model, (double[]){-0.1}));
    ck_assert(poise_model_within_limits(model, (double[]){0.3}));
    ck_assert(!poise_model_within_limits(model, (double[]){nextafter(-0.1, -1)}));
    ck_assert(!poise_model_within_limits(model, (double[]){nextafter(0.3, 1)}));
}

TEST(a_clamp_makes_quaternions_unit_and_keeps_the_rotation)
{
    poise_model *model = single(POISE_JOINT_FREE, -INFINITY, INFINITY, INFINITY, INFINITY);
    static const double sizes[] = {1e-300, 1e-8, 1.0 + 1e-9, 3, 1e300};
    scene_random random = scene_random_make(4);
    for (size_t i = 0; i < TEST_COUNT(sizes); ++i) {
        poise_quat unit = scene_random_rotation(&random);
        double s = sizes[i], q[7] = {1, 2, 3, s * unit.x, s * unit.y, s * unit.z, s * unit.w};
        int moved = -1;
        ck_assert(poise_model_within_limits(model, q)); // unit or not
        ck_assert_int_eq(poise_model_clamp(model, q, &moved, NULL), POISE_OK);
        ck_assert_int_eq(moved, 0);
        ck_assert(q[0] == 1 && q[1] == 2 && q[2] == 3);
        // scaled, divided and divided again: three roundings on each side
        ck_assert_double_eq_tol(q[3], unit.x, 8 * DBL_EPSILON);
        ck_assert_double_eq_tol(q[4], unit.y, 8 * DBL_EPSILON);
        ck_assert_double_eq_tol(q[5], unit.z, 8 * DBL_EPSILON);
        ck_assert_double_eq_tol(q[6], unit.w, 8 * DBL_EPSILON);
        ck_assert_double_eq_tol(q[3] * q[3] + q[4] * q[4] + q[5] * q[5] + q[6] * q[6], 1.0, 8 * DBL_EPSILON);
    }
}

static void assert_clamp_refused(const poise_model *model, const double *q)
{
    double before[NUMBERS], after[NUMBERS];
    size_t bytes = (size_t)poise_model_info(model).nq * sizeof *q;
    memcpy(before, q, bytes);
    memcpy(after, q, bytes);
    int moved = -7;
    ck_assert(!poise_model_within_limits(model, q));
    ck_assert_int_eq(poise_model_clamp(model, after, &moved, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_mem_eq(after, before, bytes);
    ck_assert_int_eq(moved, -7);
}

TEST(a_zero_quaternion_is_outside_and_stays_as_it_is)
{
    poise_model *ball = single(POISE_JOINT_BALL_QUATERNION, -INFINITY, INFINITY, INFINITY, INFINITY);
    poise_model *root = single(POISE_JOINT_FREE, -INFINITY, INFINITY, INFINITY, INFINITY);
    assert_clamp_refused(ball, (double[]){0, -0.0, 0, 0});
    assert_clamp_refused(root, (double[]){1, 2, 3, 0, 0, 0, 0});
    ck_assert(poise_model_within_limits(ball, (double[]){0, 5e-324, 0, 0}));
    ck_assert_int_eq(poise_model_clamp(ball, NULL, NULL, NULL), POISE_ERROR_ARGUMENT);
    ck_assert(!poise_model_within_limits(ball, NULL));
}

// ---- Swing ---------------------------------------------------------------------------------------------------------------

static double ellipse(const double *q, double a, double b)
{
    return (q[0] / a) * (q[0] / a) + (q[1] / b) * (q[1] / b);
}

TEST(a_swing_outside_its_ellipse_moves_along_the_ray_to_the_centre)
{
    scene_random random = scene_random_make(6);
    static const double sizes[] = {1, 4, 1e3, 1e150, 1e200, 1.7e308};
    for (int trial = 0; trial < 20000; ++trial) {
        double a = scene_random_range(&random, 1e-3, 3.1), b = scene_random_range(&random, 1e-3, 3.1);
        double size = sizes[trial % (int)TEST_COUNT(sizes)];
        poise_model *model = single(POISE_JOINT_SWING_TWIST, -INFINITY, INFINITY, a, b);
        double q[3] = {scene_random_range(&random, -size, size), scene_random_range(&random, -size, size), 0.7};
        double before[3] = {q[0], q[1], q[2]};
        bool outside = !(ellipse(q, a, b) <= 1.0);
        ck_assert_int_eq(poise_model_within_limits(model, q), !outside);
        int moved = -1;
        ck_assert_int_eq(poise_model_clamp(model, q, &moved, NULL), POISE_OK);
        ck_assert_int_eq(moved, outside);
        ck_assert_double_eq(q[2], 0.7);
        ck_assert_double_le(ellipse(q, a, b), 1.0);
        if (outside) {
            // on the edge, on the ray: a root and two quotients, and as much again to get inside
            ck_assert_double_ge(ellipse(q, a, b), 1.0 - 32 * DBL_EPSILON);
            double cross = (q[0] * (before[1] / size) - q[1] * (before[0] / size));
            ck_assert_double_le(fabs(cross), 32 * DBL_EPSILON * (fabs(q[0]) + fabs(q[1])));
            ck_assert(q[0] * (before[0] / size) >= 0 && q[1] * (before[1] / size) >= 0);
        }
        test_sweep();
    }
}

TEST(an_ellipse_of_denormal_numbers_is_no_endless_loop)
{
    static const double axes[] = {5e-324, 1e-320, 1e-310, 2.3e-308, 1e-300};
    for (size_t i = 0; i < TEST_COUNT(axes); ++i) {
        for (size_t j = 0; j < TEST_COUNT(axes); ++j) {
            poise_model *model = single(POISE_JOINT_SWING_TWIST, -INFINITY, INFINITY, axes[i], axes[j]);
            double q[3] = {axes[j] * 3, -axes[i] * 2, 0.7}, far[3] = {0.5, -1e300, 0.7};
            ck_assert_int_eq(poise_model_clamp(model, q, NULL, NULL), POISE_OK);
            ck_assert_int_eq(poise_model_clamp(model, far, NULL, NULL), POISE_OK);
            ck_assert(poise_model_within_limits(model, q) && poise_model_within_limits(model, far));
        }
    }
}

TEST(a_swing_keeps_to_its_box_and_its_ellipse_at_once)
{
    poise_builder *builder = new_builder();
    poise_joint joint = poise_joint_default();
    joint.name = "a";
    joint.type = POISE_JOINT_SWING_TWIST;
    joint.swing[0] = 1.0;
    joint.swing[1] = 0.5;
    joint.lower[0] = -0.2;
    joint.upper[0] = 0.0;
    joint.upper[1] = 0.45;
    joint.lower[2] = -0.1;
    joint.upper[2] = 0.1;
    add(builder, &joint);
    poise_model *model = model_of(builder);
    scene_random random = scene_random_make(9);
    for (int trial = 0; trial < 5000; ++trial) {
        double q[3] = {scene_random_range(&random, -2, 2), scene_random_range(&random, -2, 2), 3};
        ck_assert_int_eq(poise_model_clamp(model, q, NULL, NULL), POISE_OK);
        ck_assert(poise_model_within_limits(model, q));
        ck_assert(q[0] >= -0.2 && q[0] <= 0.0 && q[1] <= 0.45 && q[2] == 0.1 && ellipse(q, 1.0, 0.5) <= 1.0);
    }
}

TEST(a_swing_without_an_ellipse_has_its_box_only)
{
    poise_model *model = single(POISE_JOINT_SWING_TWIST, -10, 10, INFINITY, INFINITY);
    ck_assert(poise_model_within_limits(model, (double[]){10, -10, 10}));
    ck_assert(!poise_model_within_limits(model, (double[]){10.1, 0, 0}));
}

// ---- Mimics --------------------------------------------------------------------------------------------------------------

typedef struct follower {
    double multiplier, offset, lower, upper;
} follower;

// A leader with the limits -1 .. 1 and a joint that follows it.
static poise_model *leader_and(follower f)
{
    poise_builder *builder = new_builder();
    poise_joint joint = poise_joint_default();
    joint.name = "leader";
    joint.type = POISE_JOINT_REVOLUTE;
    joint.lower[0] = -1;
    joint.upper[0] = 1;
    add(builder, &joint);
    joint = poise_joint_default();
    joint.name = "follower";
    joint.parent = "leader";
    joint.type = POISE_JOINT_PRISMATIC;
    joint.mimic = "leader";
    joint.mimic_multiplier = f.multiplier;
    joint.mimic_offset = f.offset;
    joint.lower[0] = f.lower;
    joint.upper[0] = f.upper;
    add(builder, &joint);
    return model_of(builder);
}

static void assert_narrowed(follower f, double lower, double upper)
{
    poise_model *model = leader_and(f);
    ck_assert_int_eq(poise_model_info(model).nq, 1);
    ck_assert_int_eq(poise_model_info(model).nv, 1);
    ck_assert_int_eq(poise_model_joint_info(model, 1).mimic, 0);
    ck_assert_double_eq(poise_model_info(model).lower[0], lower);
    ck_assert_double_eq(poise_model_info(model).upper[0], upper);
}

TEST(a_mimic_with_a_positive_multiplier_narrows_its_leader)
{
    assert_narrowed((follower){2, 0.5, -0.5, 1.0}, -0.5, 0.25);
    assert_narrowed((follower){0.5, 0, -0.25, 10}, -0.5, 1);
}

TEST(a_mimic_with_a_negative_multiplier_narrows_its_leader)
{
    assert_narrowed((follower){-2, 0.5, -0.5, 1.0}, -0.25, 0.5);
    assert_narrowed((follower){-1, 0, 0.125, INFINITY}, -1, -0.125);
}

TEST(a_mimic_with_a_zero_multiplier_leaves_its_leader_alone)
{
    assert_narrowed((follower){0, 0.5, 0.5, 0.5}, -1, 1);
}

TEST(a_mimic_without_limits_leaves_its_leader_alone)
{
    assert_narrowed((follower){3, 7, -INFINITY, INFINITY}, -1, 1);
    assert_narrowed((follower){-3, 7, -INFINITY, INFINITY}, -1, 1);
}

TEST(two_mimics_narrow_one_leader_together)
{
    poise_builder *builder = new_builder();
    static const char *const names[] = {"a", "b", "c"};
    for (int i = 0; i < 3; ++i) {
        poise_joint joint = poise_joint_default();
        joint.name = names[i];
        joint.type = POISE_JOINT_PRISMATIC;
        joint.mimic = i == 1 ? NULL : "b"; // "a" stands before its leader
        joint.lower[0] = i == 0 ? -0.25 : -1;
        joint.upper[0] = i == 2 ? 0.5 : 1;
        add(builder, &joint);
    }
    poise_model *model = model_of(builder);
    ck_assert_int_eq(poise_model_joint_info(model, 0).mimic, 1);
    ck_assert_double_eq(poise_model_info(model).lower[0], -0.25);
    ck_assert_double_eq(poise_model_info(model).upper[0], 0.5);
}

// What the forward sweep makes of the leader's coordinate; monotonic, so the ends stand for all between them.
TEST(a_leader_at_its_limits_holds_its_mimic_within_the_mimics_limits_exactly)
{
    scene_random random = scene_random_make(12);
    for (int trial = 0; trial < 20000; ++trial) {
        follower f = {.multiplier = scene_random_range(&random, -3, 3), .offset = scene_random_range(&random, -0.5, 0.5)};
        double middle = f.offset + f.multiplier * scene_random_range(&random, -0.5, 0.5);
        f.lower = middle - scene_random_range(&random, 0, 0.3);
        f.upper = middle + scene_random_range(&random, 0, 0.3);
        poise_model *model = leader_and(f);
        double low = poise_model_info(model).lower[0], high = poise_model_info(model).upper[0];
        double at_low = f.multiplier * low + f.offset, at_high = f.multiplier * high + f.offset;
        ck_assert_msg(at_low >= f.lower && at_low <= f.upper && at_high >= f.lower && at_high <= f.upper,
                      "trial %d: %.17g and %.17g against %.17g .. %.17g", trial, at_low, at_high, f.lower, f.upper);
        // and no more than rounding is lost of the range
        double spare = 16 * DBL_EPSILON * (1.0 + 1.0 / fabs(f.multiplier));
        double least = fmin(at_low, at_high), most = fmax(at_low, at_high);
        ck_assert(low == -1 || high == 1 || (least - f.lower < spare && f.upper - most < spare));
        test_sweep();
    }
}
