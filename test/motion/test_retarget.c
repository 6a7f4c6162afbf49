// Retargeting: who is who, rest poses, feet, limits, verdict.
#include "motion/named_figures.h"
#include "motion/retarget/actor.h"
#include "support/test_main.h"

#include <poise/retarget.h>
#include <scenes/scenes.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 60 };

typedef struct take {
    poise_model *model;
    poise_clip *clip;
} take;

static take record(const char *scene, const char *motion)
{
    take t;
    ck_assert_int_eq(scene_create(scene, NULL, &t.model, NULL), POISE_OK);
    int nq = poise_model_info(t.model).nq;
    ck_assert_int_eq(poise_clip_create(FRAMES, nq, 1.0 / 60, NULL, &t.clip, NULL), POISE_OK);
    for (int f = 0; f < FRAMES; ++f) {
        scene_motion_pose(t.model, motion, f / 60.0, t.clip->q + f * nq);
    }
    return t;
}

static void forget(take *t)
{
    poise_clip_destroy(t->clip);
    poise_model_destroy(t->model);
}

static poise_retarget_task task_of(const take *t, const poise_model *to)
{
    poise_retarget_task task = poise_retarget_task_default();
    task.from = t->model;
    task.clip = t->clip;
    task.to = to;
    return task;
}

static poise_role_map matched(const poise_retarget_task *task)
{
    poise_role_map map;
    ck_assert_int_eq(poise_roles_match(task, NULL, &map, NULL), POISE_OK);
    return map;
}

// What comes of a task with these roles.
typedef struct judged {
    poise_retarget_outcome outcome;
    poise_verdict verdict;
    poise_finding found[8];
} judged;

static judged retarget_and_judge(poise_retarget_task *task, const poise_role_map *map)
{
    judged j;
    poise_clip *made;
    task->map = map;
    ck_assert_int_eq(poise_retarget(task, NULL, &made, NULL, &j.outcome, NULL), POISE_OK);
    ck_assert_int_eq(poise_retarget_judge(task, &j.outcome, NULL, &j.verdict, j.found, 8, NULL), POISE_OK);
    poise_clip_destroy(made);
    return j;
}

// Largest angle between bodies of the same name in two clips.
static double apart(const poise_model *a, const poise_clip *p, const poise_model *b, const poise_clip *q)
{
    poise_kinematics *x, *y;
    double worst = 0;
    ck_assert_int_eq(poise_kinematics_create(a, NULL, &x, NULL), POISE_OK);
    ck_assert_int_eq(poise_kinematics_create(b, NULL, &y, NULL), POISE_OK);
    for (int f = 0; f < p->frames; ++f) {
        ck_assert_int_eq(poise_kinematics_update(x, p->q + f * p->nq, NULL), POISE_OK);
        ck_assert_int_eq(poise_kinematics_update(y, q->q + f * q->nq, NULL), POISE_OK);
        for (int k = 0; k < poise_model_info(b).joints; ++k) {
            int other = poise_model_find_body(a, poise_model_joint_info(b, k).body);
            ck_assert_int_ge(other, 0);
            poise_pose u = poise_kinematics_body_pose(x, other), v = poise_kinematics_body_pose(y, k);
            worst = fmax(worst, poise_quat_angle(poise_quat_multiply(poise_quat_conjugate(u.rotation), v.rotation)));
        }
    }
    poise_kinematics_destroy(x);
    poise_kinematics_destroy(y);
    return worst;
}

// ---- The same skeleton ---------------------------------------------------------------------------------------------------

TEST(a_motion_on_its_own_skeleton_comes_back)
{
    static const char *const scenes[] = {"humanoid", "humanoid-euler"}, *const motions[] = {"walk", "kick", "punch"};
    for (size_t i = 0; i < TEST_COUNT(scenes) * TEST_COUNT(motions); ++i) {
        take t = record(scenes[i % 2], motions[i / 2]);
        poise_retarget_task task = task_of(&t, t.model);
        poise_clip *made;
        poise_retarget_outcome outcome;
        ck_assert_int_eq(poise_retarget(&task, NULL, &made, NULL, &outcome, NULL), POISE_OK);
        ck_assert(outcome.same && !outcome.planted && outcome.outside == 0 && outcome.jumps == 0);
        for (int k = 0; k < FRAMES * t.clip->nq; ++k) {
            ck_assert_double_eq_tol(made->q[k], t.clip->q[k], 1e-12);
        }
        poise_clip_destroy(made);
        forget(&t);
    }
}

TEST(another_kind_of_joints_has_the_same_orientations)
{
    static const char *const motions[] = {"walk", "kick", "punch"};
    poise_model *euler;
    ck_assert_int_eq(scene_create("humanoid-euler", NULL, &euler, NULL), POISE_OK);
    for (size_t i = 0; i < TEST_COUNT(motions); ++i) {
        take t = record("humanoid", motions[i]);
        poise_retarget_task task = task_of(&t, euler);
        poise_clip *made;
        poise_retarget_outcome outcome;
        ck_assert_int_eq(poise_retarget(&task, NULL, &made, NULL, &outcome, NULL), POISE_OK);
        ck_assert(outcome.same);
        ck_assert_double_lt(apart(t.model, t.clip, euler, made), 1e-6);
        ck_assert_msg(outcome.bone_worst > 0 && outcome.bone_worst < 1e-6, "%s: %g", motions[i], outcome.bone_worst);
        poise_clip_destroy(made);
        forget(&t);
    }
    poise_model_destroy(euler);
}

// ---- Another one ---------------------------------------------------------------------------------------------------------

// A skeleton with other proportions: legs twice as long, the rest as it is.
static poise_model *with_long_legs(const poise_model *model)
{
    enum { MOST = 64 };
    double factors[MOST];
    poise_model *made;
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        const char *name = poise_model_joint_info(model, k).body;
        bool is_leg = strstr(name, "shin") || strstr(name, "shank") || strstr(name, "tibia") || strstr(name, "foot");
        factors[k] = is_leg ? 1.6 : 1.0;
    }
    ck_assert_int_eq(poise_model_rescale(model, factors, NULL, &made, NULL), POISE_OK);
    return made;
}

TEST(feet_are_planted_on_the_ground_and_limits_hold)
{
    take t = record("humanoid", "kick");
    poise_model *tall = with_long_legs(t.model);
    poise_retarget_task task = task_of(&t, tall);
    poise_clip *made;
    poise_retarget_outcome outcome;
    unsigned char contacts[FRAMES];
    ck_assert_int_eq(poise_retarget(&task, NULL, &made, contacts, &outcome, NULL), POISE_OK);
    ck_assert(!outcome.same && outcome.planted && outcome.outside == 0 && outcome.jumps == 0);
    ck_assert_double_gt(outcome.factor, 1.3);
    ck_assert_double_gt(outcome.contact, 0.2);
    ck_assert(outcome.skate_mean > 0 && outcome.skate_mean <= outcome.skate_worst);
    ck_assert_double_lt(outcome.skate_worst, 0.03);
    ck_assert_double_lt(outcome.sunk, 0.002);
    ck_assert_double_lt(outcome.bone_mean, 0.1);
    poise_clip_destroy(made);
    poise_model_destroy(tall);
    forget(&t);
}

// BVH files made of CMU's recordings begin with a T-pose, which is no part of the motion.
TEST(a_first_frame_that_is_a_pose_of_its_own_is_told)
{
    take t = record("humanoid", "kick");
    poise_model *robot = with_long_legs(t.model);
    for (int begins_apart = 0; begins_apart < 2; ++begins_apart) {
        poise_retarget_task task = task_of(&t, robot);
        if (begins_apart) { // arms stretched out
            int arm = poise_model_joint_info(t.model, poise_model_find_body(t.model, "left_upper_arm")).q;
            t.clip->q[arm] += 1.2;
        }
        poise_role_map map = matched(&task);
        judged j = retarget_and_judge(&task, &map);
        ck_assert_int_eq(j.outcome.starts_apart, begins_apart);
        ck_assert_int_eq(j.verdict.level,
                         begins_apart ? POISE_VERDICT_DOUBTFUL : POISE_VERDICT_GOOD); // arms leap from there
        ck_assert_int_eq(j.verdict.worst[POISE_FINDING_APART] > 0, begins_apart);
        ck_assert_int_eq(j.verdict.worst[POISE_FINDING_FAST] > 1, begins_apart);
    }
    poise_model_destroy(robot);
    forget(&t);
}

TEST(velocity_limits_hold_in_every_frame)
{
    take t = record("humanoid", "punch");
    poise_model *tall = with_long_legs(t.model);
    int nv = poise_model_info(tall).nv;
    double *velocity = calloc((size_t)nv, sizeof *velocity), *v = calloc((size_t)nv, sizeof *v);
    ck_assert(!poise_retarget_velocities(tall, INFINITY, velocity)); // its file gives none
    ck_assert(poise_retarget_velocities(tall, 2.0, velocity));
    for (int i = 0; i < nv; ++i) {
        ck_assert_double_eq(velocity[i], i < poise_model_joint_info(tall, 0).nv ? INFINITY : 2.0);
    }
    poise_retarget_task task = task_of(&t, tall);
    task.velocity = velocity;
    poise_clip *made;
    poise_retarget_outcome outcome;
    ck_assert_int_eq(poise_retarget(&task, NULL, &made, NULL, &outcome, NULL), POISE_OK);
    ck_assert(outcome.late > 0 && outcome.velocity <= 1.0 + 1e-9 && outcome.outside == 0);
    for (int f = 1; f < FRAMES; ++f) {
        ck_assert_int_eq(poise_difference(tall, made->q + (f - 1) * made->nq, made->q + f * made->nq, v, NULL), POISE_OK);
        for (int i = 0; i < nv; ++i) {
            ck_assert_double_le(fabs(v[i]) * 60, velocity[i] * (1 + 1e-9));
        }
    }
    poise_clip_destroy(made);
    poise_model_destroy(tall);
    free(velocity);
    free(v);
    forget(&t);
}

// ---- Legs that do not reach ----------------------------------------------------------------------------------------------

static const named plain[2] = {{"LeftUpLeg", "LeftLeg", "LeftFoot", "LeftArm", "LeftForeArm", "LeftHand"},
                               {"RightUpLeg", "RightLeg", "RightFoot", "RightArm", "RightForeArm", "RightHand"}};

// A figure `size` times as large as the others, whose hips, knees and ankles are hinges that hardly turn.
static poise_model *stiff_figure(double size)
{
    poise_builder *loose, *stiff;
    poise_model *model;
    ck_assert_int_eq(poise_builder_create(NULL, &loose, NULL), POISE_OK);
    ck_assert_int_eq(poise_builder_create(NULL, &stiff, NULL), POISE_OK);
    add_figure(loose, &plain[0], &plain[1], "Trunk", "Breast", "Head", NULL);
    ck_assert_int_eq(poise_model_create(loose, NULL, &model, NULL), POISE_OK);
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        poise_joint joint = *poise_model_joint_info(model, k).given;
        poise_vec3 *p = &joint.offset.position;
        *p = poise_vec3_make(size * p->x, size * p->y, size * p->z);
        if (strstr(joint.name, "Leg") || strstr(joint.name, "Foot")) {
            joint.type = POISE_JOINT_REVOLUTE;
            joint.axis = poise_vec3_make(1, 0, 0);
            joint.lower[0] = -0.25, joint.upper[0] = 0.25;
        }
        ck_assert_int_eq(poise_builder_add_joint(stiff, &joint, NULL), POISE_OK);
    }
    poise_model_destroy(model); // whose names the builder has copied
    ck_assert_int_eq(poise_model_create(stiff, NULL, &model, NULL), POISE_OK);
    poise_builder_destroy(loose);
    poise_builder_destroy(stiff);
    return model;
}

// Legs that do not reach are found by their own measure: whatever the unit of length, feet go to the same places.
TEST(legs_that_do_not_reach_plan_alike_at_every_size)
{
    static const double sizes[] = {1.0, 0.3, 30.0};
    static const char *const motions[] = {"punch", "walk"};
    for (size_t m = 0; m < TEST_COUNT(motions); ++m) {
        take t = record("humanoid", motions[m]);
        poise_retarget_outcome outcome[TEST_COUNT(sizes)];
        for (size_t i = 0; i < TEST_COUNT(sizes); ++i) {
            poise_model *robot = stiff_figure(sizes[i]);
            poise_retarget_task task = task_of(&t, robot);
            poise_clip *made;
            ck_assert_int_eq(poise_retarget(&task, NULL, &made, NULL, &outcome[i], NULL), POISE_OK);
            double mean = outcome[i].hips_mean / outcome[i].leg, first = outcome[0].hips_mean / outcome[0].leg;
            ck_assert_msg(fabs(mean - first) < 1e-6, "%s, size %g: hips %g legs off, %g", motions[m], sizes[i], mean, first);
            ck_assert_int_eq(outcome[i].released, outcome[0].released);
            poise_clip_destroy(made);
            poise_model_destroy(robot);
        }
        ck_assert_double_gt(outcome[0].hips_mean, 0.03 * outcome[0].leg);
        forget(&t);
    }
}

// A robot on hinges, its hips that far from the middle, whose legs do not come together: hips roll outwards by at least `out`,
// ankles by at most `ankle`. Its soles are boxes, whose mass is below the ankle and a little behind it: that does not say where
// toes are.
static poise_model *wide_robot(double hips, double out, double ankle, poise_shape soles[2])
{
    const struct {
        const char *name;
        poise_vec3 axis;
        double down, lower, upper;
    } parts[] = {{"hip_yaw", {0, 1, 0}, 0, -1, 1},           {"hip_roll", {0, 0, 1}, 0, out, 0.9},
                 {"hip_pitch", {1, 0, 0}, 0, -1.8, 1.5},     {"knee", {1, 0, 0}, 0.4, 0, 2.3},
                 {"ankle_pitch", {1, 0, 0}, 0.4, -0.9, 0.9}, {"ankle_roll", {0, 0, 1}, 0, -ankle, ankle}};
    poise_builder *b;
    poise_model *model;
    ck_assert_int_eq(poise_builder_create(NULL, &b, NULL), POISE_OK);
    add_joint(b, "pelvis", NULL, 0, 0.87, 0);
    for (int side = 0; side < 2; ++side) {
        char name[TEST_COUNT(parts)][32];
        double x = side == 0 ? 1 : -1;
        for (size_t i = 0; i < TEST_COUNT(parts); ++i) {
            poise_joint joint = poise_joint_default();
            bool is_swapped = parts[i].axis.z > 0 && side == 1;
            snprintf(name[i], sizeof name[i], "%s_%s", side == 0 ? "left" : "right", parts[i].name);
            joint.name = name[i];
            joint.parent = i == 0 ? "pelvis" : name[i - 1];
            joint.type = POISE_JOINT_REVOLUTE;
            joint.axis = parts[i].axis;
            joint.offset.position = poise_vec3_make(i == 0 ? hips * x : 0, -parts[i].down, 0);
            joint.lower[0] = is_swapped ? -parts[i].upper : parts[i].lower;
            joint.upper[0] = is_swapped ? -parts[i].lower : parts[i].upper;
            joint.mass = i + 1 == TEST_COUNT(parts);
            joint.mass_center = poise_vec3_make(0, -0.05, -0.001);
            ck_assert_int_eq(poise_builder_add_joint(b, &joint, NULL), POISE_OK);
        }
        add_joint(b, side == 0 ? "left_upper_arm" : "right_upper_arm", "pelvis", 0.2 * x, 0.4, 0);
        add_joint(b, side == 0 ? "left_forearm" : "right_forearm", side == 0 ? "left_upper_arm" : "right_upper_arm", 0.3 * x,
                  0, 0);
    }
    ck_assert_int_eq(poise_model_create(b, NULL, &model, NULL), POISE_OK);
    poise_builder_destroy(b);
    for (int side = 0; side < 2; ++side) {
        int foot = poise_model_find_body(model, side == 0 ? "left_ankle_roll" : "right_ankle_roll");
        poise_pose pose = poise_pose_identity();
        pose.position = poise_vec3_make(0, -0.05, 0.04);
        soles[side] = poise_shape_box(foot, pose, poise_vec3_make(0.05, 0.02, 0.11));
    }
    return model;
}

// Turn a body sideways.
static void set_turn(const poise_model *model, const char *body, double angle, double *q)
{
    poise_quat turn = poise_quat_from_axis_angle(poise_vec3_make(0, 0, 1), angle);
    double *own = q + poise_model_joint_info(model, poise_model_find_body(model, body)).q;
    own[0] = turn.x, own[1] = turn.y, own[2] = turn.z, own[3] = turn.w;
}

// Three seconds in which a figure puts its feet together, by `closed` radians of its hips.
static take stand(double closed)
{
    static const char *const parts[][2] = {{"LeftUpLeg", "LeftFoot"}, {"RightUpLeg", "RightFoot"}};
    take t = {.model = figure(&plain[0], &plain[1])};
    int nq = poise_model_info(t.model).nq;
    ck_assert_int_eq(poise_clip_create(90, nq, 1.0 / 30, NULL, &t.clip, NULL), POISE_OK);
    for (int f = 0; f < 90; ++f) {
        double *q = t.clip->q + f * nq, in = fmin(f / 30.0, 1) * closed;
        poise_model_neutral(t.model, q);
        q[1] += 0.87 * (cos(in) - 1);
        for (int side = 0; side < 2; ++side) {
            set_turn(t.model, parts[side][0], side == 0 ? -in : in, q);
            set_turn(t.model, parts[side][1], side == 0 ? in : -in, q);
        }
    }
    return t;
}

static judged stand_on(double out, double ankle, double closed, const poise_shape *more)
{
    take t = stand(closed);
    poise_shape shapes[3];
    poise_model *robot = wide_robot(0.1, out, ankle, shapes);
    poise_retarget_task task = task_of(&t, robot);
    shapes[2] = more ? *more : shapes[1];
    task.shapes = shapes;
    task.shape_count = more ? 3 : 2;
    poise_role_map map = matched(&task);
    judged j = retarget_and_judge(&task, &map);
    if (more) { // while there is a robot whose names findings have
        ck_assert_int_eq(j.found[0].kind, POISE_FINDING_BURIED);
        ck_assert_str_eq(j.found[0].name, poise_model_joint_info(robot, more->body).body);
    }
    poise_model_destroy(robot);
    forget(&t);
    return j;
}

// An actor who stands with straight legs; a robot with hips of another width stands so, too, its feet below its own hips.
TEST(feet_are_as_far_from_their_own_hips_as_the_actors)
{
    static const char *const joints[] = {"left_hip_yaw", "right_hip_yaw", "left_ankle_roll", "right_ankle_roll"};
    take t = stand(0);
    poise_shape soles[2];
    poise_model *robot = wide_robot(0.16, -0.3, 0.44, soles);
    poise_retarget_task task = task_of(&t, robot);
    task.shapes = soles;
    task.shape_count = 2;
    poise_clip *made;
    poise_kinematics *kin;
    poise_vec3 place[4];
    ck_assert_int_eq(poise_retarget(&task, NULL, &made, NULL, NULL, NULL), POISE_OK);
    ck_assert_int_eq(poise_kinematics_create(robot, NULL, &kin, NULL), POISE_OK);
    for (int f = 0; f < made->frames; ++f) {
        poise_kinematics_update(kin, made->q + (size_t)f * (size_t)made->nq, NULL);
        for (int i = 0; i < 4; ++i) {
            place[i] = poise_kinematics_body_pose(kin, poise_model_find_body(robot, joints[i])).position;
        }
        double hips = place[0].x - place[1].x, feet = place[2].x - place[3].x;
        ck_assert_msg(hips > 0.3 && fabs(hips - feet) < 0.005, "hips %g apart, feet %g", hips, feet);
    }
    poise_kinematics_destroy(kin);
    poise_clip_destroy(made);
    poise_model_destroy(robot);
    forget(&t);
}

// Where legs do not reach the places of their feet, the feet are planted elsewhere, as flat as the actor's.
TEST(soles_stay_flat_where_legs_do_not_reach)
{
    judged j = stand_on(0.1, 0.44, 0.21, NULL);
    ck_assert_msg(j.outcome.contact > 0.85 && j.outcome.released == 0, "contact %g, %d released", j.outcome.contact,
                  j.outcome.released);
    ck_assert(j.outcome.tipped == 0 && j.outcome.tipped_worst < 0.05);
    for (int i = 0; i < j.verdict.count; ++i) { // feet that are put together are too wide for that: nothing else is wrong
        bool overlaps = j.found[i].kind == POISE_FINDING_SELF || j.found[i].kind == POISE_FINDING_PIERCED;
        ck_assert(overlaps || j.found[i].level == POISE_VERDICT_GOOD);
    }
    ck_assert_int_eq(j.verdict.level, POISE_VERDICT_FAILED);
}

TEST(soles_that_tip_and_parts_below_the_ground_are_doubtful)
{
    judged j = stand_on(0, 0.01, -0.4, NULL); // legs that stand apart on ankles that do not roll
    ck_assert_msg(j.outcome.tipped > 9 && j.outcome.tipped_worst > 0.2, "%d frames", j.outcome.tipped);
    ck_assert(j.verdict.level != POISE_VERDICT_GOOD && j.verdict.worst[POISE_FINDING_TIPPED] > 0.1);

    poise_shape skirt = poise_shape_box(0, poise_pose_identity(), poise_vec3_make(0.1, 1, 0.1)); // from pelvis to below
    j = stand_on(0, 0.44, 0, &skirt);
    ck_assert_msg(fabs(j.outcome.buried - 0.13) < 0.01, "%g", j.outcome.buried);
    ck_assert_int_eq(j.outcome.buried_body, 0);
    ck_assert_int_eq(j.verdict.level, POISE_VERDICT_DOUBTFUL);
}

// A dancer has toes; what the robot's feet have instead of a bone leads down.
TEST(a_foot_whose_mass_is_below_its_ankle_points_forward)
{
    take t = record("humanoid", "kick");
    poise_shape soles[2];
    poise_model *robot = wide_robot(0.1, -0.3, 0.44, soles);
    poise_retarget_task task = task_of(&t, robot);
    task.shapes = soles;
    task.shape_count = 2;
    poise_role_map map = matched(&task);
    judged j = retarget_and_judge(&task, &map);
    ck_assert_msg(j.outcome.contact > 0.5 && j.outcome.turn_mean < 0.15, "contact %g, turn %g", j.outcome.contact,
                  j.outcome.turn_mean);
    poise_model_destroy(robot);
    forget(&t);
}

// ---- Trunks --------------------------------------------------------------------------------------------------------------

// A figure with so many joints between pelvis and chest, at most three; with none the pelvis hangs from the chest.
static poise_model *figure_with_trunk(int joints)
{
    static const char *const trunk[] = {"Spine", "Spine1", "Chest"};
    poise_builder *b;
    poise_model *model;
    ck_assert_int_eq(poise_builder_create(NULL, &b, NULL), POISE_OK);
    add_joint(b, joints == 0 ? "Chest" : "Hips", NULL, 0, joints == 0 ? 1.3 : 1, 0);
    for (int k = 0; k < joints; ++k) {
        const char *above = k == 0 ? "Hips" : trunk[3 - joints + k - 1];
        add_joint(b, trunk[3 - joints + k], above, 0, 0.3 / joints, 0);
    }
    if (joints == 0) {
        add_joint(b, "Hips", "Chest", 0, -0.3, 0);
    }
    add_joint(b, "Head", "Chest", 0, 0.2, 0);
    for (int side = 0; side < 2; ++side) {
        double x = side == 0 ? 1 : -1;
        add_joint(b, plain[side].thigh, "Hips", 0.1 * x, 0, 0);
        add_joint(b, plain[side].shank, plain[side].thigh, 0, -0.45, 0);
        add_joint(b, plain[side].foot, plain[side].shank, 0, -0.42, 0);
        add_joint(b, plain[side].upper_arm, "Chest", 0.2 * x, 0.1, 0);
        add_joint(b, plain[side].forearm, plain[side].upper_arm, 0.3 * x, 0, 0);
        add_joint(b, plain[side].hand, plain[side].forearm, 0.25 * x, 0, 0);
    }
    ck_assert_int_eq(poise_model_create(b, NULL, &model, NULL), POISE_OK);
    poise_builder_destroy(b);
    return model;
}

static double angle_between(const poise_kinematics *kin, const poise_model *model, const char *one, const char *other)
{
    poise_quat a = poise_kinematics_body_pose(kin, poise_model_find_body(model, one)).rotation;
    poise_quat b = poise_kinematics_body_pose(kin, poise_model_find_body(model, other)).rotation;
    return poise_quat_angle(poise_quat_multiply(poise_quat_conjugate(a), b));
}

// An actor that bends evenly, at one joint or at two, says nothing of more joints than it has: each takes its share.
TEST_ROWS(a_spine_of_more_joints_than_the_actors_bends_all_along, 3)
{
    static const struct {
        int joints;
        bool has_pelvis;
    } rows[] = {{0, true}, {0, false}, {2, true}};
    take t = {.model = figure_with_trunk(rows[test_row].joints)};
    poise_model *robot = figure_with_trunk(3);
    int nq = poise_model_info(t.model).nq;
    ck_assert_int_eq(poise_clip_create(FRAMES, nq, 1.0 / 60, NULL, &t.clip, NULL), POISE_OK);
    for (int f = 0; f < FRAMES; ++f) {
        double *q = t.clip->q + f * nq, bend = 0.9 * f / FRAMES;
        poise_model_neutral(t.model, q);
        set_turn(t.model, rows[test_row].joints == 0 ? "Hips" : "Chest", rows[test_row].joints == 0 ? bend : bend / 2, q);
        if (rows[test_row].joints == 2) {
            set_turn(t.model, "Spine1", bend / 2, q);
        }
    }
    poise_retarget_task task = task_of(&t, robot);
    poise_role_map map = matched(&task);
    poise_clip *made;
    poise_kinematics *kin;
    ck_assert_int_ge(map.role[POISE_ROLE_CHEST].from, 0);
    ck_assert_int_ge(map.role[POISE_ROLE_PELVIS].from, 0);
    map.role[POISE_ROLE_PELVIS].from = rows[test_row].has_pelvis ? map.role[POISE_ROLE_PELVIS].from : POISE_NONE;
    task.map = &map;
    ck_assert_int_eq(poise_retarget(&task, NULL, &made, NULL, NULL, NULL), POISE_OK);
    ck_assert_int_eq(poise_kinematics_create(robot, NULL, &kin, NULL), POISE_OK);
    ck_assert_int_eq(poise_kinematics_update(kin, made->q + (FRAMES - 1) * made->nq, NULL), POISE_OK);
    double whole = angle_between(kin, robot, "Hips", "Chest");
    ck_assert_double_gt(whole, 0.5);
    for (int k = 0; k < 3; ++k) {
        static const char *const trunk[] = {"Hips", "Spine", "Spine1", "Chest"};
        double share = angle_between(kin, robot, trunk[k], trunk[k + 1]);
        ck_assert_msg(fabs(share - whole / 3) < 1e-3, "%s bends by %g of %g", trunk[k + 1], share, whole);
    }
    poise_kinematics_destroy(kin);
    poise_clip_destroy(made);
    poise_model_destroy(robot);
    forget(&t);
}

// ---- Maps ----------------------------------------------------------------------------------------------------------------

TEST(a_map_is_written_and_read_and_what_is_wrong_in_it_is_named)
{
    take t = record("humanoid", "walk");
    poise_retarget_task task = task_of(&t, t.model);
    poise_role_map map, again;
    char text[8192];
    poise_error error;
    ck_assert_int_eq(poise_roles_match(&task, NULL, &map, NULL), POISE_OK);
    size_t size = poise_role_map_write(&map, t.model, t.model, text, sizeof text);
    ck_assert_uint_eq(size, strlen(text));
    ck_assert_int_eq(poise_role_map_read(text, t.model, t.model, &again, &error), POISE_OK);
    for (int role = 0; role < POISE_ROLE_COUNT; ++role) {
        ck_assert(map.role[role].from == again.role[role].from && map.role[role].to == again.role[role].to);
        ck_assert_int_eq(pz_role_called(poise_role_name(role)), role);
    }
    const char *quoted = "head \"head\" \"head\"\npelvis\t\"pelvis\" - # a name may stand in quotes\n";
    int head = poise_model_find_body(t.model, "head"), pelvis = poise_model_find_body(t.model, "pelvis");
    ck_assert_int_eq(poise_role_map_read(quoted, t.model, t.model, &again, &error), POISE_OK);
    int head_role = pz_role_called("head"), pelvis_role = pz_role_called("pelvis");
    ck_assert(again.role[head_role].from == head && again.role[head_role].to == head);
    ck_assert(again.role[pelvis_role].from == pelvis && again.role[pelvis_role].to < 0);
    static const struct {
        const char *text, *says;
        int line;
    } wrong[] = {{"# nothing\nelbow a b\n", "\"elbow\" is not a role", 2},
                 {"pelvis\n", "source is missing", 1},
                 {"\n\nhead pelvsi -\n", "did you mean", 3},
                 {"head head head\npelvis - -\nhead head head\n", "role head has a line already: head head", 3},
                 {"head - head\nchest - head\n", "target: \"head\" is both head and chest", 2},
                 {"pelvis head -\nhead head head\n", "source: \"head\" is both pelvis and head", 2}};
    for (size_t i = 0; i < TEST_COUNT(wrong); ++i) {
        ck_assert_int_eq(poise_role_map_read(wrong[i].text, t.model, t.model, &again, &error), POISE_ERROR_FORMAT);
        ck_assert_msg(strstr(error.text, wrong[i].says) && error.line == wrong[i].line, "%d: %s", error.line, error.text);
    }
    forget(&t);
}

TEST(what_has_nothing_in_common_is_refused_and_what_is_missing_is_doubtful)
{
    take t = record("humanoid", "walk");
    poise_model *arm;
    poise_clip *made = NULL;
    poise_error error;
    ck_assert_int_eq(scene_create("arm7", NULL, &arm, NULL), POISE_OK);
    poise_retarget_task task = task_of(&t, arm);
    ck_assert_int_eq(poise_retarget(&task, NULL, &made, NULL, NULL, &error), POISE_ERROR_NOT_FOUND);
    ck_assert(made == NULL && strstr(error.text, "--map"));
    poise_model_destroy(arm);

    poise_model *tall = with_long_legs(t.model);
    task = task_of(&t, tall);
    poise_role_map map = matched(&task);
    map.role[POISE_ROLE_FOREARM].from = POISE_NONE;
    judged j = retarget_and_judge(&task, &map);
    ck_assert_int_eq(j.verdict.level, POISE_VERDICT_DOUBTFUL);
    ck_assert(j.found[0].kind == POISE_FINDING_UNMATCHED && strcmp(j.found[0].name, "forearm.left") == 0);
    poise_model_destroy(tall);
    forget(&t);
}

// Without a thigh the length of the leg is unknown, and the figure would walk on the spot.
TEST(a_map_that_leaves_out_part_of_a_leg_fails_and_part_of_an_arm_is_doubtful)
{
    static const struct {
        int role;
        poise_verdict_level level;
        const char *name;
    } rows[] = {{POISE_ROLE_THIGH, POISE_VERDICT_FAILED, "thigh.left"},
                {POISE_ROLE_FOREARM, POISE_VERDICT_DOUBTFUL, "forearm.left"},
                {POISE_ROLE_UPPER_ARM + POISE_ROLE_SIDE, POISE_VERDICT_DOUBTFUL, "upper_arm.right"}};
    take t = record("humanoid", "walk");
    poise_model *robot = with_long_legs(t.model);
    for (size_t i = 0; i < TEST_COUNT(rows); ++i) {
        poise_retarget_task task = task_of(&t, robot);
        poise_role_map map = matched(&task);
        map.role[rows[i].role].from = map.role[rows[i].role].to = POISE_NONE;
        judged j = retarget_and_judge(&task, &map);
        ck_assert_int_eq(j.verdict.level, rows[i].level);
        ck_assert_str_eq(j.found[0].name, rows[i].name);
        ck_assert_str_eq(j.found[0].other, "the map");
    }
    poise_model_destroy(robot);
    forget(&t);
}

// Roles that nothing plays in the motion, or in the skeleton that follows, and the verdict on that.
TEST(a_limb_that_only_one_skeleton_has_is_found)
{
    enum { FROM = 0, TO = 1, R = POISE_ROLE_SIDE };
    static const struct {
        int side, roles[8], count;
        poise_verdict_level level;
        const char *name;
        int findings;
    } rows[] = {
        {TO, {POISE_ROLE_UPPER_ARM, POISE_ROLE_FOREARM, POISE_ROLE_HAND}, 3, POISE_VERDICT_DOUBTFUL, "upper_arm.left", 1},
        {FROM, {POISE_ROLE_UPPER_ARM, POISE_ROLE_FOREARM, POISE_ROLE_HAND}, 3, POISE_VERDICT_DOUBTFUL, "upper_arm.left", 1},
        {TO, {POISE_ROLE_FOREARM + R}, 1, POISE_VERDICT_DOUBTFUL, "forearm.right", 1},
        {TO, {POISE_ROLE_PELVIS, POISE_ROLE_THIGH, POISE_ROLE_THIGH + R}, 3, POISE_VERDICT_FAILED, "pelvis", 1},
        {FROM, {POISE_ROLE_CHEST}, 1, POISE_VERDICT_DOUBTFUL, "chest", 1},
        {TO, {POISE_ROLE_CHEST, POISE_ROLE_HEAD}, 2, POISE_VERDICT_GOOD, "chest", 2},
        {TO, {POISE_ROLE_HAND, POISE_ROLE_TOE, POISE_ROLE_CLAVICLE}, 3, POISE_VERDICT_GOOD, NULL, 0},
    };
    take t = record("humanoid", "walk");
    poise_retarget_task task = task_of(&t, t.model);
    poise_role_map whole = matched(&task), map;
    for (size_t i = 0; i < TEST_COUNT(rows); ++i) {
        poise_retarget_outcome outcome = {.from_stands = true, .to_stands = true};
        poise_verdict verdict;
        poise_finding findings[8];
        map = whole;
        for (int k = 0; k < rows[i].count; ++k) {
            poise_role_pair *p = &map.role[rows[i].roles[k]];
            *(rows[i].side == TO ? &p->to : &p->from) = POISE_NONE;
        }
        task.map = &map;
        ck_assert_int_eq(poise_retarget_judge(&task, &outcome, NULL, &verdict, findings, 8, NULL), POISE_OK);
        ck_assert_msg(verdict.level == rows[i].level && verdict.count == rows[i].findings, "row %zu: %s, %d", i,
                      poise_verdict_name(verdict.level), verdict.count);
        ck_assert(!rows[i].name || strcmp(findings[0].name, rows[i].name) == 0);
    }
    forget(&t);
}

TEST(sides_with_each_others_names_and_a_limb_that_points_elsewhere_are_doubtful)
{
    take t = record("humanoid", "walk");
    poise_retarget_task task = task_of(&t, t.model);
    poise_role_map map = matched(&task);
    for (int role = POISE_ROLE_LEFT; role < POISE_ROLE_RIGHT; ++role) {
        int left = map.role[role].from;
        map.role[role].from = map.role[role + POISE_ROLE_SIDE].from;
        map.role[role + POISE_ROLE_SIDE].from = left;
    }
    judged j = retarget_and_judge(&task, &map);
    ck_assert(j.outcome.from_reversed && !j.outcome.to_reversed);
    ck_assert(j.verdict.level != POISE_VERDICT_GOOD && j.verdict.worst[POISE_FINDING_REVERSED] > 0);

    j.outcome = (poise_retarget_outcome){
        .from_stands = true, .to_stands = true, .bone_mean = 0.1, .limb_mean = 0.8, .limb_role = POISE_ROLE_FOREARM};
    ck_assert_int_eq(poise_retarget_judge(&task, &j.outcome, NULL, &j.verdict, j.found, 8, NULL), POISE_OK);
    ck_assert(j.verdict.level == POISE_VERDICT_DOUBTFUL && j.verdict.count == 1);
    ck_assert(j.found[0].kind == POISE_FINDING_LIMB && strcmp(j.found[0].name, "forearm.left") == 0);
    forget(&t);
}
