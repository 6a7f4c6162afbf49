// Joint angles and centres as clinicians read them, on the built-in humanoid.
#include "support/own.h"
#include "support/test_main.h"

#include <poise/track.h>
#include <scenes/scenes.h>

#include <math.h>
#include <string.h>

#define DEGREES 57.29577951308232

static poise_model *humanoid(void)
{
    poise_model *model;
    ck_assert_int_eq(scene_create("humanoid", NULL, &model, NULL), POISE_OK);
    own_model(model);
    return model;
}

static int angle_called(const char *name)
{
    for (int i = 0; i < POISE_ANGLE_COUNT; ++i) {
        if (strcmp(poise_angle_name(i), name) == 0) {
            return i;
        }
    }
    ck_abort_msg("no angle %s", name);
    return -1;
}

// The angles of one configuration.
static void measure(const poise_model *model, const double *q, double *angles)
{
    poise_clip *clip;
    int nq = poise_model_info(model).nq;
    ck_assert_int_eq(poise_clip_create(1, nq, 0.01, NULL, &clip, NULL), POISE_OK);
    memcpy(clip->q, q, (size_t)nq * sizeof *q);
    ck_assert_int_eq(poise_joint_angles(model, clip, NULL, angles, NULL), POISE_OK);
    poise_clip_destroy(clip);
}

// Turns a world direction into "how far the distal end of a bone goes that way" for a small change of one coordinate.
static poise_vec3 end_of(const poise_model *model, const double *q, const char *body)
{
    poise_kinematics *kin;
    ck_assert_int_eq(poise_kinematics_create(model, NULL, &kin, NULL), POISE_OK);
    ck_assert_int_eq(poise_kinematics_update(kin, q, NULL), POISE_OK);
    poise_vec3 at = poise_kinematics_body_pose(kin, poise_model_find_body(model, body)).position;
    poise_kinematics_destroy(kin);
    return at;
}

TEST(every_angle_has_a_name_of_its_own)
{
    for (int i = 0; i < POISE_ANGLE_COUNT; ++i) {
        ck_assert_int_gt((int)strlen(poise_angle_name(i)), 3);
        ck_assert_int_eq(angle_called(poise_angle_name(i)), i);
    }
    ck_assert_str_eq(poise_angle_name(POISE_ANGLE_COUNT), "");
    ck_assert_str_eq(poise_angle_name(-1), "");
}

TEST(a_knee_that_bends_flexes_and_sides_are_alike)
{
    poise_model *model = humanoid();
    double q[128], angles[POISE_ANGLE_COUNT];
    poise_model_neutral(model, q);
    measure(model, q, angles);
    ck_assert_double_lt(fabs(angles[angle_called("knee_flexion_r")]), 8.0);
    ck_assert_double_lt(fabs(angles[angle_called("pelvis_tilt")]), 1e-6);
    for (int side = 0; side < 2; ++side) {
        const char *knee = side ? "left_knee" : "right_knee";
        poise_joint_info joint = poise_model_joint_info(model, poise_model_find_joint(model, knee));
        double before = angles[angle_called(side ? "knee_flexion_l" : "knee_flexion_r")], bent[POISE_ANGLE_COUNT];
        poise_vec3 rest = end_of(model, q, side ? "left_foot" : "right_foot");
        for (int sign = -1; sign <= 1; sign += 2) {
            q[joint.q] = 0.4 * sign;
            measure(model, q, bent);
            poise_vec3 now = end_of(model, q, side ? "left_foot" : "right_foot");
            double flexion = bent[angle_called(side ? "knee_flexion_l" : "knee_flexion_r")] - before;
            ck_assert_double_eq_tol(fabs(flexion), 0.4 * DEGREES, 0.5);
            ck_assert((flexion > 0) == (now.z < rest.z)); // the humanoid looks along z: a heel goes back
        }
        q[joint.q] = 0;
    }
}

TEST(angles_go_on_over_whole_turns)
{
    poise_model *model = humanoid();
    enum { FRAMES = 60 };
    poise_clip *clip;
    int nq = poise_model_info(model).nq, yaw = angle_called("pelvis_rotation");
    double angles[FRAMES * POISE_ANGLE_COUNT];
    ck_assert_int_eq(poise_clip_create(FRAMES, nq, 0.01, NULL, &clip, NULL), POISE_OK);
    own_clip(clip);
    for (int f = 0; f < FRAMES; ++f) {
        scene_motion_pose(model, "walk", 0.01 * f, clip->q + f * nq);
    }
    ck_assert_int_eq(poise_joint_angles(model, clip, NULL, angles, NULL), POISE_OK);
    for (int f = 1; f < FRAMES; ++f) {
        for (int i = 0; i < POISE_ANGLE_COUNT; ++i) {
            double step = angles[f * POISE_ANGLE_COUNT + i] - angles[(f - 1) * POISE_ANGLE_COUNT + i];
            ck_assert_msg(!(fabs(step) > 180.0), "%s jumps by %g", poise_angle_name(i), step);
        }
    }
    ck_assert(isfinite(angles[yaw]));
}

TEST(centres_are_where_the_joints_are)
{
    poise_model *model = humanoid();
    poise_placement places[16];
    ck_assert_int_eq(poise_joint_centres(model, NULL, places, 16), 12);
    ck_assert_str_eq(places[0].label, "RHJC");
    ck_assert_str_eq(poise_model_joint_info(model, places[0].body).body, "right_thigh");
    ck_assert_str_eq(places[3].label, "LKJC");
    ck_assert_str_eq(poise_model_joint_info(model, places[3].body).body, "left_shin");
    for (int i = 0; i < 12; ++i) {
        ck_assert(isfinite(places[i].local.x) && isfinite(places[i].local.y) && isfinite(places[i].local.z));
    }
}

TEST(a_robot_has_no_hips)
{
    poise_model *model;
    poise_clip *clip;
    double angles[POISE_ANGLE_COUNT];
    ck_assert_int_eq(scene_create("arm7", NULL, &model, NULL), POISE_OK);
    own_model(model);
    ck_assert_int_eq(poise_clip_create(1, poise_model_info(model).nq, 0.01, NULL, &clip, NULL), POISE_OK);
    own_clip(clip);
    poise_error error;
    ck_assert_int_eq(poise_joint_angles(model, clip, NULL, angles, &error), POISE_ERROR_NOT_FOUND);
}
