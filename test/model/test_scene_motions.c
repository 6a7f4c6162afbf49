// The humanoids' motions: the same in every set of coordinates, smooth, within limits, and what they are named after.
#include "scenes/scenes.h"
#include "support/test_main.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

enum { BODIES = 29, LARGEST_NQ = 67 };

static const char *const humanoids[] = {"humanoid", "humanoid-euler", "humanoid-quaternion"};

// A humanoid and where it is.
typedef struct actor {
    poise_model *model;
    poise_kinematics *kinematics;
    double q[LARGEST_NQ];
} actor;

static actor make_actor(const char *scene)
{
    actor a = {0};
    ck_assert_int_eq(scene_create(scene, NULL, &a.model, NULL), POISE_OK);
    ck_assert_int_eq(poise_kinematics_create(a.model, NULL, &a.kinematics, NULL), POISE_OK);
    return a;
}

static void end_actor(actor *a)
{
    poise_kinematics_destroy(a->kinematics);
    poise_model_destroy(a->model);
}

static void play(actor *a, const char *motion, double t)
{
    ck_assert_int_eq(scene_motion_pose(a->model, motion, t, a->q), POISE_OK);
    ck_assert_int_eq(poise_kinematics_update(a->kinematics, a->q, NULL), POISE_OK);
}

static poise_vec3 point(const actor *a, const char *body, double x, double y, double z)
{
    int index = poise_model_find_body(a->model, body);
    ck_assert_msg(index != POISE_WORLD, "no body %s", body);
    return poise_kinematics_point(a->kinematics, index, (poise_vec3){x, y, z});
}

static double distance(poise_vec3 a, poise_vec3 b)
{
    return sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y) + (a.z - b.z) * (a.z - b.z));
}

// Height of the lowest of heel, ball and toe tip of one foot.
static double foot_height(const actor *a, bool left)
{
    const char *foot = left ? "left_foot" : "right_foot", *toes = left ? "left_toes" : "right_toes";
    double heel = point(a, foot, 0, -0.075, -0.05).y, ball = point(a, foot, 0, -0.075, 0.135).y;
    return fmin(fmin(heel, ball), point(a, toes, 0, -0.015, 0.065).y);
}

// ---- all motions ---------------------------------------------------------------------------------------------------------

TEST(every_motion_stays_within_the_limits_of_every_humanoid)
{
    enum { SAMPLES = 2000 };
    for (size_t h = 0; h < TEST_COUNT(humanoids); ++h) {
        actor a = make_actor(humanoids[h]);
        for (int m = 0; m < scene_motion_count(); ++m) {
            const char *motion = scene_motion_name(m);
            for (int i = 0; i < SAMPLES; ++i) {
                double t = scene_motion_duration(motion) * i / SAMPLES;
                ck_assert_int_eq(scene_motion_pose(a.model, motion, t, a.q), POISE_OK);
                ck_assert_msg(poise_model_within_limits(a.model, a.q), "%s of %s at %g s", motion, humanoids[h], t);
            }
        }
        end_actor(&a);
    }
}

// Three parameterisations of the same rotations through paths of a dozen joints, each rounded to about 1e-15. The tolerance
// leaves room for the conversion to swing and twist, whose error grows near a swing of a half turn.
TEST(the_humanoids_take_the_same_poses_in_their_own_coordinates)
{
    actor actors[3] = {make_actor(humanoids[0]), make_actor(humanoids[1]), make_actor(humanoids[2])};
    for (int m = 0; m < scene_motion_count(); ++m) {
        const char *motion = scene_motion_name(m);
        for (int i = 0; i < 300; ++i) {
            for (int h = 0; h < 3; ++h) {
                play(&actors[h], motion, scene_motion_duration(motion) * i / 300);
            }
            for (int b = 0; b < BODIES; ++b) {
                poise_pose first = poise_kinematics_body_pose(actors[0].kinematics, b);
                for (int h = 1; h < 3; ++h) {
                    poise_pose other = poise_kinematics_body_pose(actors[h].kinematics, b);
                    ck_assert_double_le(distance(first.position, other.position), 1e-13);
                    poise_quat apart = poise_quat_multiply(poise_quat_conjugate(first.rotation), other.rotation);
                    ck_assert_double_le(poise_quat_angle(apart), 1e-13);
                }
            }
        }
    }
    for (int h = 0; h < 3; ++h) {
        end_actor(&actors[h]);
    }
}

// Second differences over every half millisecond of a period, its end included. A jump of a velocity by dv shows up as dv /
// h = 2000 dv, a jump of a position far more; the bound is what limbs and the passing of support in the cartwheel come to.
TEST(velocities_of_all_markers_are_continuous_through_the_whole_period)
{
    static const struct {
        const char *motion;
        double bound; // m/s^2
    } rows[] = {{"walk", 200}, {"punch", 200}, {"kick", 200}, {"cartwheel", 800}};
    const double h = 5e-4;
    scene_marker markers[41];
    scene_markers("humanoid", markers, 41);
    actor a = make_actor("humanoid");
    ck_assert_int_eq((int)TEST_COUNT(rows), scene_motion_count());
    for (size_t m = 0; m < TEST_COUNT(rows); ++m) {
        poise_vec3 p[3][41] = {{{0, 0, 0}}};
        int steps = (int)(scene_motion_duration(rows[m].motion) / h) + 2;
        for (int i = -2; i <= steps; ++i) {
            play(&a, rows[m].motion, i * h);
            memmove(p[0], p[1], 2 * sizeof p[0]);
            for (int k = 0; k < 41; ++k) {
                p[2][k] = poise_kinematics_point(a.kinematics, markers[k].body, markers[k].local);
                poise_vec3 middle = {(p[0][k].x + p[2][k].x) / 2, (p[0][k].y + p[2][k].y) / 2, (p[0][k].z + p[2][k].z) / 2};
                ck_assert_msg(i < 0 || 2 * distance(middle, p[1][k]) <= rows[m].bound * h * h, "%s at %g s: %s",
                              rows[m].motion, i * h, markers[k].name);
            }
        }
    }
    end_actor(&a);
}

TEST(motions_repeat_after_their_duration_and_before_zero)
{
    actor a = make_actor("humanoid-quaternion"), b = make_actor("humanoid-quaternion");
    for (int m = 0; m < scene_motion_count(); ++m) {
        const char *motion = scene_motion_name(m);
        double duration = scene_motion_duration(motion);
        play(&a, motion, 0.3 * duration);
        for (int turns = -2; turns <= 2; ++turns) {
            play(&b, motion, (0.3 + turns) * duration);
            for (int k = 0; k < BODIES; ++k) { // times rounded to 1e-15 s, speeds up to 10 m/s
                ck_assert_double_le(distance(poise_kinematics_body_pose(a.kinematics, k).position,
                                             poise_kinematics_body_pose(b.kinematics, k).position),
                                    1e-13);
            }
        }
    }
    end_actor(&a);
    end_actor(&b);
}

TEST(motions_refuse_unknown_names_other_models_and_times_that_are_not_finite)
{
    actor a = make_actor("humanoid");
    poise_model *tree = NULL, *lamp = NULL;
    ck_assert_int_eq(scene_create("tree-58", NULL, &tree, NULL), POISE_OK);
    ck_assert_int_eq(scene_create("lamp", NULL, &lamp, NULL), POISE_OK);
    a.q[0] = 9;
    ck_assert_int_eq(scene_motion_pose(a.model, "swim", 0, a.q), POISE_ERROR_NOT_FOUND);
    ck_assert_int_eq(scene_motion_pose(tree, "walk", 0, a.q), POISE_ERROR_UNSUPPORTED);
    ck_assert_int_eq(scene_motion_pose(lamp, "walk", 0, a.q), POISE_ERROR_UNSUPPORTED);
    ck_assert_int_eq(scene_motion_pose(a.model, "walk", NAN, a.q), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(scene_motion_pose(a.model, "walk", INFINITY, a.q), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(scene_motion_pose(NULL, "walk", 0, a.q), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(scene_motion_pose(a.model, NULL, 0, a.q), POISE_ERROR_ARGUMENT);
    ck_assert_double_eq(a.q[0], 9);
    ck_assert_double_eq(scene_motion_duration("swim"), 0);
    ck_assert_double_eq(scene_motion_duration(NULL), 0);
    ck_assert_ptr_null(scene_motion_name(-1));
    ck_assert_ptr_null(scene_motion_name(scene_motion_count()));
    poise_model_destroy(tree);
    poise_model_destroy(lamp);
    end_actor(&a);
}

// ---- walk ----------------------------------------------------------------------------------------------------------------

TEST(half_a_period_later_the_walk_is_its_mirror_image)
{
    actor a = make_actor("humanoid"), b = make_actor("humanoid");
    double duration = scene_motion_duration("walk");
    for (int i = 0; i < 50; ++i) {
        play(&a, "walk", duration * i / 50);
        play(&b, "walk", duration * i / 50 + 0.5 * duration);
        for (int k = 0; k < BODIES; ++k) {
            char name[64];
            const char *body = poise_model_joint_info(a.model, k).body;
            bool left = strncmp(body, "left_", 5) == 0, right = strncmp(body, "right_", 6) == 0;
            snprintf(name, sizeof name, "%s%s", left ? "right_" : right ? "left_" : "", body + (left ? 5 : right ? 6 : 0));
            poise_vec3 p = poise_kinematics_body_pose(a.kinematics, k).position, image = {-p.x, p.y, p.z};
            ck_assert_double_le(distance(image, point(&b, name, 0, 0, 0)), 1e-13); // as above
        }
    }
    end_actor(&a);
    end_actor(&b);
}

TEST(the_walk_always_has_a_foot_on_the_floor_and_none_below_it)
{
    actor a = make_actor("humanoid");
    for (int i = 0; i < 440; ++i) {
        play(&a, "walk", 0.0025 * i);
        double lowest = fmin(foot_height(&a, true), foot_height(&a, false));
        ck_assert(lowest > -0.003 && lowest < 0.003);
    }
    end_actor(&a);
}

TEST(a_standing_foot_moves_with_the_treadmill_and_the_other_overtakes)
{
    actor a = make_actor("humanoid");
    double duration = scene_motion_duration("walk"), speed = 1.2 / duration;
    play(&a, "walk", 0.12 * duration);
    poise_vec3 start = point(&a, "left_foot", 0, -0.075, 0), swing = point(&a, "right_foot", 0, 0, 0);
    for (int i = 1; i <= 10; ++i) { // until the heel lifts, at a third of the cycle
        double t = 0.02 * i * duration;
        play(&a, "walk", 0.12 * duration + t);
        poise_vec3 moved = {start.x, start.y, start.z - speed * t};
        ck_assert_double_le(distance(point(&a, "left_foot", 0, -0.075, 0), moved), 1e-13);
    }
    ck_assert_double_gt(point(&a, "right_foot", 0, 0, 0).z, swing.z + 0.3);

    // the ball of the foot stays until 0.58, but for the turn of the foot about it with the leg
    play(&a, "walk", 0.12 * duration);
    poise_vec3 ball = point(&a, "left_toes", 0, 0, 0);
    for (int i = 1; i <= 46; ++i) {
        double t = 0.01 * i * duration;
        play(&a, "walk", 0.12 * duration + t);
        poise_vec3 moved = {ball.x, ball.y, ball.z - speed * t};
        ck_assert_double_le(distance(point(&a, "left_toes", 0, 0, 0), moved), 0.01);
    }
    end_actor(&a);
}

TEST(walking_arms_swing_against_the_legs_and_the_pelvis_rises_twice)
{
    enum { SAMPLES = 100 };
    actor a = make_actor("humanoid");
    double arms_with_legs = 0, height[SAMPLES];
    for (int i = 0; i < SAMPLES; ++i) {
        play(&a, "walk", scene_motion_duration("walk") * i / SAMPLES);
        double arm = point(&a, "left_hand", 0, 0, 0).z - point(&a, "right_hand", 0, 0, 0).z;
        double leg = point(&a, "left_foot", 0, 0, 0).z - point(&a, "right_foot", 0, 0, 0).z;
        arms_with_legs += arm * leg / SAMPLES;
        height[i] = point(&a, "pelvis", 0, 0, 0).y;
    }
    ck_assert_double_lt(arms_with_legs, -0.05); // square metres
    int tops = 0;
    for (int i = 0; i < SAMPLES; ++i) {
        tops += height[i] > height[(i + SAMPLES - 1) % SAMPLES] && height[i] >= height[(i + 1) % SAMPLES];
    }
    ck_assert_int_eq(tops, 2);
    end_actor(&a);
}

// ---- punch, kick, cartwheel ----------------------------------------------------------------------------------------------

TEST(the_punch_reaches_forward_at_the_height_of_the_shoulder_and_comes_back)
{
    actor a = make_actor("humanoid");
    play(&a, "punch", 0);
    poise_vec3 guard = point(&a, "right_hand", -0.08, 0, 0), left_foot = point(&a, "left_foot", 0, 0, 0);
    ck_assert_double_gt(guard.y, point(&a, "right_upper_arm", 0, 0, 0).y - 0.2);
    play(&a, "punch", 0.46 * scene_motion_duration("punch"));
    poise_vec3 fist = point(&a, "right_hand", -0.08, 0, 0), shoulder = point(&a, "right_upper_arm", 0, 0, 0);
    ck_assert_double_gt(fist.z, guard.z + 0.5);
    ck_assert_double_gt(distance(fist, shoulder), 0.58); // of 0.625 for a straight arm
    ck_assert_double_lt(fabs(fist.y - shoulder.y), 0.12);
    ck_assert_double_lt(fabs(fist.x), 0.2); // on the line of the chin
    ck_assert_double_le(distance(left_foot, point(&a, "left_foot", 0, 0, 0)), 1e-14);
    end_actor(&a);
}

TEST(the_kick_lifts_the_right_foot_above_the_hip_over_a_planted_left_one)
{
    actor a = make_actor("humanoid");
    play(&a, "kick", 0);
    poise_vec3 planted = point(&a, "left_foot", 0, 0, 0);
    double highest = 0, farthest = 0;
    for (int i = 0; i < 160; ++i) {
        play(&a, "kick", 0.01 * i);
        poise_vec3 foot = point(&a, "right_foot", 0, 0, 0);
        highest = fmax(highest, foot.y - point(&a, "right_thigh", 0, 0, 0).y);
        farthest = fmax(farthest, foot.z);
        ck_assert_double_le(distance(planted, point(&a, "left_foot", 0, 0, 0)), 1e-14);
        ck_assert_double_gt(foot_height(&a, false), -0.003);
        ck_assert_double_gt(foot_height(&a, true), -0.003);
    }
    ck_assert_double_gt(highest, 0.15);
    ck_assert_double_gt(farthest, planted.z + 0.5);
    end_actor(&a);
}

TEST(the_cartwheel_turns_once_to_the_left_over_its_hands_and_once_back)
{
    enum { SAMPLES = 1000 };
    actor a = make_actor("humanoid");
    double duration = scene_motion_duration("cartwheel"), turned[2] = {0, 0}, last = 0;
    for (int i = 1; i <= SAMPLES; ++i) {
        play(&a, "cartwheel", duration * i / SAMPLES);
        poise_vec3 up = poise_kinematics_direction(a.kinematics, 0, (poise_vec3){0, 1, 0});
        double angle = atan2(up.x, up.y); // to the left
        turned[i > SAMPLES / 2] += remainder(angle - last, 2 * PI);
        last = angle;

        double left_hand = point(&a, "left_hand", 0.07, -0.02, 0).y, right_hand = point(&a, "right_hand", -0.07, -0.02, 0).y;
        double feet = fmin(foot_height(&a, true), foot_height(&a, false));
        double lowest = fmin(feet, fmin(left_hand, right_hand));
        ck_assert(lowest > -0.03 && lowest < 0.05);
        if (up.y < -0.9) { // upside down it stands on a hand
            ck_assert_double_lt(fmin(left_hand, right_hand), 0.05);
            ck_assert_double_gt(feet, 1);
        }
    }
    ck_assert_double_eq_tol(turned[0], 2 * PI, 1e-12);
    ck_assert_double_eq_tol(turned[1], -2 * PI, 1e-12);
    play(&a, "cartwheel", 0.5 * duration);
    ck_assert_double_gt(point(&a, "pelvis", 0, 0, 0).x, 4);
    end_actor(&a);
}
