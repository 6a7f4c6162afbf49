// Angles that say the same. Those that may turn for ever go on from frame to frame, also where chunks of a recording meet.
#include "motion/tracker.h"
#include "support/test_main.h"

#include <poise/track.h>

#include <math.h>

#define PI 3.14159265358979323846

enum { FRAMES = 400 };

static void add(poise_builder *builder, const char *name, const char *parent, poise_joint_type type, poise_vec3 axis,
                poise_euler_order order)
{
    poise_joint joint = poise_joint_default();
    joint.name = joint.body = name;
    joint.parent = parent;
    joint.type = type;
    joint.axis = axis;
    joint.order = order;
    ck_assert_int_eq(poise_builder_add_joint(builder, &joint, NULL), POISE_OK);
}

// OpenSim's pelvis: three slides, then hinges about z, x and y, none of them with limits.
static void add_hinges(poise_builder *builder, poise_euler_order order)
{
    static const struct {
        const char *name;
        poise_joint_type type;
        poise_vec3 axis;
    } rows[] = {{"tx", POISE_JOINT_PRISMATIC, {1, 0, 0}},  {"ty", POISE_JOINT_PRISMATIC, {0, 1, 0}},
                {"tz", POISE_JOINT_PRISMATIC, {0, 0, 1}},  {"tilt", POISE_JOINT_REVOLUTE, {0, 0, 1}},
                {"list", POISE_JOINT_REVOLUTE, {1, 0, 0}}, {"rotation", POISE_JOINT_REVOLUTE, {0, 1, 0}}};
    for (size_t i = 0; i < TEST_COUNT(rows); ++i) {
        add(builder, rows[i].name, i > 0 ? rows[i - 1].name : NULL, rows[i].type, rows[i].axis, order);
    }
}

// The root of a BVH or an ASF.
static void add_root(poise_builder *builder, poise_euler_order order)
{
    add(builder, "root", NULL, POISE_JOINT_FREE_EULER, (poise_vec3){0, 0, 1}, order);
}

// All have the coordinates x y z and three angles, of which the middle one stays away from where the others are one.
static const struct {
    void (*add)(poise_builder *builder, poise_euler_order order);
    poise_euler_order order;
    double middle;
} pelves[] = {{add_hinges, POISE_EULER_ZXY, 0.0},
              {add_root, POISE_EULER_ZXY, 0.0},
              {add_root, POISE_EULER_XYZ, -0.6},
              {add_root, POISE_EULER_ZXZ, 1.2}};

// More than two turns, from where the person looks back.
static void turn(double middle, poise_clip *clip)
{
    for (int f = 0; f < FRAMES; ++f) {
        double *q = clip->q + 6 * f;
        q[3] = 0.2 * sin(0.05 * f);
        q[4] = middle + 0.1 * cos(0.07 * f);
        q[5] = 2.8 + 0.035 * f;
    }
}

TEST_ROWS(angles_without_limits_go_on_from_frame_to_frame, TEST_COUNT(pelves))
{
    poise_builder *builder = NULL;
    poise_model *model = NULL;
    ck_assert_int_eq(poise_builder_create(NULL, &builder, NULL), POISE_OK);
    pelves[test_row].add(builder, pelves[test_row].order);
    ck_assert_int_eq(poise_model_create(builder, NULL, &model, NULL), POISE_OK);
    poise_builder_destroy(builder);
    int body = poise_model_info(model).joints - 1;
    poise_placement places[4] = {
        {"a", body, {0.1, 0, 0}, 1}, {"b", body, {0, 0.1, 0}, 1}, {"c", body, {0, 0, 0.1}, 1}, {"d", body, {0, 0, 0}, 1}};
    poise_clip *truth = NULL, *found = NULL;
    poise_markers *seen = NULL;
    poise_track_frame frames[FRAMES];
    ck_assert_int_eq(poise_clip_create(FRAMES, 6, 0.01, NULL, &truth, NULL), POISE_OK);
    turn(pelves[test_row].middle, truth);
    poise_scale metres = {1.0, POISE_UP_Y};
    ck_assert_int_eq(poise_markers_from_clip(model, truth, metres, places, 4, NULL, &seen, NULL), POISE_OK);
    poise_track_problem problem = poise_track_problem_default();
    problem.model = model;
    problem.placements = places;
    problem.placement_count = 4;
    problem.markers = seen;
    problem.chunk = 60;
    ck_assert_int_eq(poise_track(&problem, NULL, &found, frames, NULL), POISE_OK);
    double start = found->q[5] - truth->q[5], turns = floor(start / 6.283185307179586 + 0.5);
    for (int i = 0; i < 6 * FRAMES; ++i) {
        double off = found->q[i] - truth->q[i] - (i % 6 == 5 ? turns * 6.283185307179586 : 0.0);
        ck_assert_msg(fabs(off) < 1e-3, "frame %d, coordinate %d: off by %g", i / 6, i % 6, off);
        ck_assert_msg(!(frames[i / 6].flags & POISE_TRACK_JUMP), "frame %d is called a jump", i / 6);
    }
    poise_clip_destroy(truth);
    poise_clip_destroy(found);
    poise_markers_destroy(seen);
    poise_model_destroy(model);
}

// A shoulder of OpenSim: its limits may hold both ways to say a rotation. The one nearer to the rest pose is meant.
TEST(limits_that_hold_both_ways_leave_the_nearer_one)
{
    static const poise_vec3 axes[3] = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}};
    static const char *const names[] = {"flex", "add", "rot"};
    poise_builder *builder = NULL;
    poise_model *model = NULL;
    double limit = 1.3;
    ck_assert_int_eq(poise_builder_create(NULL, &builder, NULL), POISE_OK);
    for (int i = 0; i < 3; ++i) {
        poise_joint joint = poise_joint_default();
        joint.name = joint.body = names[i];
        joint.parent = i > 0 ? names[i - 1] : NULL;
        joint.type = POISE_JOINT_REVOLUTE;
        joint.axis = axes[i];
        joint.lower[0] = -limit, joint.upper[0] = limit;
        ck_assert_int_eq(poise_builder_add_joint(builder, &joint, NULL), POISE_OK);
    }
    ck_assert_int_eq(poise_model_create(builder, NULL, &model, NULL), POISE_OK);
    poise_builder_destroy(builder);
    for (int n = 0; n < 300; ++n) {
        double truth[3] = {1.5 * sin(1.3 * n), 1.2 * sin(2.9 * n + 1), 1.5 * sin(0.7 * n + 2)}, rest[3] = {0, 0, 0};
        double q[3] = {truth[0] + (truth[0] > 0 ? -PI : PI), PI - truth[1], truth[2] + (truth[2] > 0 ? -PI : PI)};
        bool is_within = fabs(truth[0]) <= limit && fabs(truth[2]) <= limit;
        double other = q[1];
        ck_assert(pz_nearest_turns(model, NULL, 0, rest, q) == is_within);
        ck_assert_double_eq_tol(q[1], is_within ? truth[1] : other, 1e-12);
        for (int i = 0; i < 3 && is_within; ++i) {
            ck_assert_double_eq_tol(q[i], truth[i], 1e-12);
        }
    }
    poise_model_destroy(model);
}
