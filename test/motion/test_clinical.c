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

// What no joint turns is not 0 but nothing; with knees and ankles that turn every way, all of it is there.
TEST(a_hinge_has_flexion_and_nothing_else)
{
    static const char *const names[] = {"knee_adduction", "knee_rotation", "ankle_adduction", "elbow_adduction"};
    poise_model *model = humanoid();
    double q[128], angles[POISE_ANGLE_COUNT];
    poise_model_neutral(model, q);
    measure(model, q, angles);
    int empty = 0;
    for (int i = 0; i < POISE_ANGLE_COUNT; ++i) {
        empty += isnan(angles[i]);
    }
    ck_assert_int_eq(empty, 2 * TEST_COUNT(names));
    for (int i = 0; i < 2 * (int)TEST_COUNT(names); ++i) {
        char name[32];
        snprintf(name, sizeof name, "%s_%c", names[i / 2], i % 2 ? 'l' : 'r');
        ck_assert_msg(isnan(angles[angle_called(name)]), "%s is %g", name, angles[angle_called(name)]);
    }
}

// The knee of a person who bends it back by 20 degrees; dancers point their feet by 70.
TEST(the_humanoid_bends_as_far_as_people_do)
{
    poise_model *model = humanoid();
    poise_model_summary size = poise_model_info(model);
    static const struct {
        const char *joint;
        int coordinate;
        double low, high; // degrees
    } reach[] = {{"left_knee", 0, -25, 160},  {"right_knee", 0, -25, 160}, {"left_ankle", 0, -75, 45},
                 {"left_elbow", 0, -15, 155}, {"left_hip", 0, -40, 140},   {"left_forearm", 0, -95, 95}};
    for (int i = 0; i < (int)TEST_COUNT(reach); ++i) {
        int q = poise_model_joint_info(model, poise_model_find_joint(model, reach[i].joint)).q + reach[i].coordinate;
        ck_assert_msg(size.lower[q] <= reach[i].low / DEGREES && size.upper[q] >= reach[i].high / DEGREES, "%s: %g to %g",
                      reach[i].joint, size.lower[q] * DEGREES, size.upper[q] * DEGREES);
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

// ---- Upper limbs, against rotations composed by hand ---------------------------------------------------------------------

// The humanoid looks along z with y up and its left at x, in a T pose.
static const poise_vec3 up = {0, 1, 0}, forward = {0, 0, 1};

static poise_quat turn(poise_vec3 axis, double degrees)
{
    return poise_quat_from_axis_angle(axis, degrees / DEGREES);
}

// Y-X-Y of Wu and others (2005) on the right: about the thorax's y, the plane; about -x, the elevation; about the arm's y,
// inwards. On the left, its mirror image. Before that the arm comes down from the T pose.
static poise_quat arm_turned(bool is_left, double plane, double elevation, double rotation)
{
    double side = is_left ? -1.0 : 1.0;
    poise_quat down = turn(forward, 90.0 * side);
    poise_quat spun = poise_quat_multiply(turn(up, rotation * side), down);
    return poise_quat_multiply(turn(up, plane * side), poise_quat_multiply(turn(forward, -elevation * side), spun));
}

// Turn the body of a ball joint by `rotation`, as the world sees it. The joint has axes of its own: a turn about each shows
// where it points.
static void turn_body(const poise_model *model, const char *joint_name, poise_quat rotation, double *q)
{
    poise_kinematics *kin;
    int k = poise_model_find_joint(model, joint_name);
    poise_joint_info joint = poise_model_joint_info(model, k);
    ck_assert_int_eq(joint.type, POISE_JOINT_BALL_QUATERNION);
    ck_assert_int_eq(poise_kinematics_create(model, NULL, &kin, NULL), POISE_OK);
    double *local = q + joint.q, numbers[4] = {0, 0, 0, rotation.w};
    for (int i = 0; i < 3; ++i) {
        const double quarter_turn[4] = {i == 0, i == 1, i == 2, 1};
        memcpy(local, quarter_turn, sizeof quarter_turn);
        ck_assert_int_eq(poise_kinematics_update(kin, q, NULL), POISE_OK);
        poise_quat axis = poise_kinematics_body_pose(kin, k).rotation;
        numbers[i] = (axis.x * rotation.x + axis.y * rotation.y + axis.z * rotation.z) / axis.w;
    }
    memcpy(local, numbers, sizeof numbers);
    ck_assert_int_eq(poise_kinematics_update(kin, q, NULL), POISE_OK);
    poise_quat off = poise_quat_multiply(poise_quat_conjugate(rotation), poise_kinematics_body_pose(kin, k).rotation);
    ck_assert_double_lt(poise_quat_angle(off), 1e-9);
    poise_kinematics_destroy(kin);
}

// Tilted forwards, its left side up, and turned to anywhere in the room: rotation, then obliquity, then tilt.
TEST_ROWS(a_pelvis_tilts_alike_wherever_it_looks, 8)
{
    poise_model *model;
    double q[128], angles[POISE_ANGLE_COUNT], heading = 45.0 * test_row - 170.0;
    ck_assert_int_eq(scene_create("humanoid-quaternion", NULL, &model, NULL), POISE_OK);
    own_model(model);
    poise_model_neutral(model, q);
    poise_vec3 right = {-1, 0, 0};
    poise_quat leaning = poise_quat_multiply(turn(forward, 6.0), turn(right, -12.0));
    poise_quat placed = poise_quat_multiply(turn(up, heading), leaning);
    poise_joint_info root = poise_model_joint_info(model, 0);
    ck_assert_int_eq(root.nq, 7);
    double *at = q + root.q + 3;
    at[0] = placed.x, at[1] = placed.y, at[2] = placed.z, at[3] = placed.w;
    measure(model, q, angles);
    ck_assert_double_eq_tol(angles[angle_called("pelvis_tilt")], 12.0, 1e-6);
    ck_assert_double_eq_tol(angles[angle_called("pelvis_obliquity")], 6.0, 1e-6);
    ck_assert_double_eq_tol(angles[angle_called("pelvis_rotation")], heading, 1e-6);
}

// An arm that hangs and swings a little, all the way round, three times.
TEST(an_arm_that_circles_counts_no_turns)
{
    enum { FRAMES = 108, AROUND = 36 };
    poise_model *model;
    poise_clip *clip;
    static double angles[FRAMES * POISE_ANGLE_COUNT];
    ck_assert_int_eq(scene_create("humanoid-quaternion", NULL, &model, NULL), POISE_OK);
    own_model(model);
    int nq = poise_model_info(model).nq, plane = angle_called("shoulder_plane_r");
    ck_assert_int_eq(poise_clip_create(FRAMES, nq, 0.01, NULL, &clip, NULL), POISE_OK);
    own_clip(clip);
    for (int f = 0; f < FRAMES; ++f) {
        double *q = clip->q + (size_t)f * (size_t)nq, around = 360.0 * f / AROUND;
        poise_model_neutral(model, q);
        turn_body(model, "right_shoulder", arm_turned(false, around, 20.0, -around), q);
    }
    ck_assert_int_eq(poise_joint_angles(model, clip, NULL, angles, NULL), POISE_OK);
    for (int f = 0; f < FRAMES; ++f) {
        double turns = (angles[f * POISE_ANGLE_COUNT + plane] - 360.0 * f / AROUND) / 360.0;
        ck_assert_double_eq_tol(turns, floor(turns + 0.5), 1e-9);
        ck_assert_double_le(fabs(angles[f * POISE_ANGLE_COUNT + plane]), 270.0 + 1e-9);
        ck_assert_double_le(fabs(angles[f * POISE_ANGLE_COUNT + plane + 2]), 270.0 + 1e-9);
    }
    ck_assert_double_eq_tol(angles[20 * POISE_ANGLE_COUNT + plane], 200.0, 1e-6); // goes on over half a turn
}

static const struct {
    const char *what;
    double plane, elevation, rotation; // degrees
    poise_vec3 elbow;                  // where the right elbow goes from the shoulder: left, up, forward
} arms[] = {
    {"abducted", 0, 90, 0, {-1, 0, 0}},
    {"raised forwards", 90, 90, 0, {0, 0, 1}},
    {"half abducted, turned inwards", 0, 45, 30, {-0.70711, -0.70711, 0}},
    {"behind", -60, 30, -20, {-0.25, -0.86603, -0.43301}},
    {"overhead, turned outwards", 40, 150, -50, {-0.38302, 0.86603, 0.32139}},
};

TEST_ROWS(shoulders_are_taken_apart_as_they_were_composed, TEST_COUNT(arms))
{
    poise_model *model;
    double q[128], angles[POISE_ANGLE_COUNT];
    ck_assert_int_eq(scene_create("humanoid-quaternion", NULL, &model, NULL), POISE_OK);
    own_model(model);
    poise_model_neutral(model, q);
    double plane = arms[test_row].plane, elevation = arms[test_row].elevation, rotation = arms[test_row].rotation;
    turn_body(model, "right_shoulder", arm_turned(false, plane, elevation, rotation), q);
    turn_body(model, "left_shoulder", arm_turned(true, plane, elevation, rotation), q);
    measure(model, q, angles);
    for (int side = 0; side < 2; ++side) {
        const char *const names[2][3] = {{"shoulder_plane_r", "shoulder_elevation_r", "shoulder_rotation_r"},
                                         {"shoulder_plane_l", "shoulder_elevation_l", "shoulder_rotation_l"}};
        ck_assert_double_eq_tol(angles[angle_called(names[side][0])], plane, 1e-6);
        ck_assert_double_eq_tol(angles[angle_called(names[side][1])], elevation, 1e-6);
        ck_assert_double_eq_tol(angles[angle_called(names[side][2])], rotation, 1e-6);
        poise_vec3 shoulder = end_of(model, q, side ? "left_upper_arm" : "right_upper_arm");
        poise_vec3 elbow = end_of(model, q, side ? "left_ulna" : "right_ulna"), way = arms[test_row].elbow;
        double x = elbow.x - shoulder.x, y = elbow.y - shoulder.y, z = elbow.z - shoulder.z, length = hypot(hypot(x, y), z);
        ck_assert_double_eq_tol(x / length, side ? -way.x : way.x, 1e-4);
        ck_assert_double_eq_tol(y / length, way.y, 1e-4);
        ck_assert_double_eq_tol(z / length, way.z, 1e-4);
    }
}

// The humanoid's elbow and forearm are hinges about z and y of the segments: R = Rz(flexion) Ry(pronation).
TEST(elbows_bend_and_forearms_turn_by_the_angles_of_their_hinges)
{
    poise_model *model = humanoid();
    double q[128], angles[POISE_ANGLE_COUNT], before[POISE_ANGLE_COUNT];
    poise_model_neutral(model, q);
    measure(model, q, before);
    for (int side = 0; side < 2; ++side) {
        int elbow = poise_model_find_joint(model, side ? "left_elbow" : "right_elbow");
        int forearm = poise_model_find_joint(model, side ? "left_forearm" : "right_forearm");
        q[poise_model_joint_info(model, elbow).q] = 70 / DEGREES;
        q[poise_model_joint_info(model, forearm).q] = -35 / DEGREES;
    }
    measure(model, q, angles);
    for (int side = 0; side < 2; ++side) {
        int flexion = angle_called(side ? "elbow_flexion_l" : "elbow_flexion_r");
        ck_assert_double_eq_tol(angles[flexion] - before[flexion], 70, 1e-6);
        ck_assert(isnan(angles[flexion + 1])); // no hinge turns that way
        ck_assert_double_eq_tol(angles[flexion + 2] - before[flexion + 2], -35, 1e-6);
    }
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

TEST(a_leg_without_markers_has_no_angles)
{
    poise_model *model = humanoid();
    bool seen[POISE_ANGLE_COUNT];
    poise_placement places[] = {{"LASI", poise_model_find_body(model, "pelvis"), {0, 0, 0}, 1.0},
                                {"RANK", poise_model_find_body(model, "right_shin"), {0, 0, 0}, 1.0},
                                {"LANK", poise_model_find_body(model, "left_shin"), {0, 0, 0}, 0.0}};
    ck_assert_int_eq(poise_joint_angles_seen(model, places, 3, NULL, seen, NULL), POISE_OK);
    ck_assert(seen[angle_called("pelvis_tilt")] && seen[angle_called("hip_flexion_r")] &&
              seen[angle_called("knee_flexion_r")]);
    ck_assert(!seen[angle_called("knee_rotation_r")] && !seen[angle_called("knee_adduction_r")]); // it is a hinge
    ck_assert(!seen[angle_called("ankle_inversion_r")] && !seen[angle_called("hip_flexion_l")] &&
              !seen[angle_called("knee_flexion_l")] && !seen[angle_called("elbow_flexion_r")]);
    ck_assert_int_eq(poise_joint_angles_seen(model, NULL, 3, NULL, seen, NULL), POISE_ERROR_ARGUMENT);
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
