// Retargeting: who is who, rest poses, feet, limits, verdict.
#include "motion/named_figures.h"
#include "motion/retarget/roles.h"
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
    take t = record("humanoid", "walk");
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
        ck_assert_int_eq(j.verdict.level, POISE_VERDICT_GOOD);
        ck_assert_int_eq(j.verdict.count, begins_apart);
        ck_assert(!begins_apart || j.found[0].kind == POISE_FINDING_APART);
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

// ---- Names ---------------------------------------------------------------------------------------------------------------

static const named dialects[][2] = {
    {{"LeftUpLeg", "LeftLeg", "LeftFoot", "LeftArm", "LeftForeArm", "LeftHand"},
     {"RightUpLeg", "RightLeg", "RightFoot", "RightArm", "RightForeArm", "RightHand"}},
    {{"lfemur", "ltibia", "lfoot", "lhumerus", "lradius", "lhand"},
     {"rfemur", "rtibia", "rfoot", "rhumerus", "rradius", "rhand"}},
    {{"LeftHip", "LeftKnee", "LeftAnkle", "LeftShoulder", "LeftElbow", "LeftWrist"},
     {"RightHip", "RightKnee", "RightAnkle", "RightShoulder", "RightElbow", "RightWrist"}},
    {{"UpperLeg_L", "LowerLeg_L", "Foot_L", "UpperArm_L", "LowerArm_L", "Hand_L"},
     {"UpperLeg_R", "LowerLeg_R", "Foot_R", "UpperArm_R", "LowerArm_R", "Hand_R"}},
    {{"lHip", "lKnee", "lAnkle", "lShoulder", "lElbow", "lWrist"},
     {"rHip", "rKnee", "rAnkle", "rShoulder", "rElbow", "rWrist"}},
    {{"J_Bip_L_UpperLeg", "J_Bip_L_LowerLeg", "J_Bip_L_Foot", "J_Bip_L_UpperArm", "J_Bip_L_LowerArm", "J_Bip_L_Hand"},
     {"J_Bip_R_UpperLeg", "J_Bip_R_LowerLeg", "J_Bip_R_Foot", "J_Bip_R_UpperArm", "J_Bip_R_LowerArm", "J_Bip_R_Hand"}},
    {{"left_hip_yaw_link", "left_knee_link", "left_ankle_roll_link", "left_shoulder_yaw_link", "left_elbow_link",
      "left_wrist_yaw_link"},
     {"right_hip_yaw_link", "right_knee_link", "right_ankle_roll_link", "right_shoulder_yaw_link", "right_elbow_link",
      "right_wrist_yaw_link"}},
    {{"l_uleg", "l_lleg", "l_foot", "l_uarm", "l_larm", "l_hand"},
     {"r_uleg", "r_lleg", "r_foot", "r_uarm", "r_larm", "r_hand"}},
    {{"leg_left_3_link", "leg_left_4_link", "leg_left_6_link", "arm_left_3_link", "arm_left_4_link", "arm_left_7_link"},
     {"leg_right_3_link", "leg_right_4_link", "leg_right_6_link", "arm_right_3_link", "arm_right_4_link",
      "arm_right_7_link"}},
    {{"mixamorig:LeftUpLeg", "mixamorig:LeftLeg", "mixamorig:LeftFoot", "mixamorig:LeftArm", "mixamorig:LeftForeArm",
      "mixamorig:LeftHand"},
     {"mixamorig:RightUpLeg", "mixamorig:RightLeg", "mixamorig:RightFoot", "mixamorig:RightArm", "mixamorig:RightForeArm",
      "mixamorig:RightHand"}},
    {{"leftupleg", "leftleg", "leftfoot", "leftarm", "leftforearm", "lefthand"},
     {"rightupleg", "rightleg", "rightfoot", "rightarm", "rightforearm", "righthand"}},
    {{"lThighBend", "lShin", "lFoot", "lShldrBend", "lForearmBend", "lHand"},
     {"rThighBend", "rShin", "rFoot", "rShldrBend", "rForearmBend", "rHand"}},
    {{"Skel_LThigh", "Skel_LShin", "Skel_LFoot", "Skel_LUArm", "Skel_LFArm", "Skel_LHand"},
     {"Skel_RThigh", "Skel_RShin", "Skel_RFoot", "Skel_RUArm", "Skel_RFArm", "Skel_RHand"}},
    {{"DEF-thigh.L", "DEF-shin.L", "DEF-foot.L", "DEF-upper_arm.L", "DEF-forearm.L", "DEF-hand.L"},
     {"DEF-thigh.R", "DEF-shin.R", "DEF-foot.R", "DEF-upper_arm.R", "DEF-forearm.R", "DEF-hand.R"}},
    {{"zleg_l1_link", "zleg_l2_link", "zleg_l3_link", "zarm_l1_link", "zarm_l2_link", "zarm_l3_link"},
     {"zleg_r1_link", "zleg_r2_link", "zleg_r3_link", "zarm_r1_link", "zarm_r2_link", "zarm_r3_link"}},
    {{"Left_Hip_Yaw/LL1", "Left_Knee_Pitch/LL2", "Left_Ankle_Roll/LL3", "Left_Shoulder_Roll/AL1", "Left_Elbow_Pitch/AL2",
      "Left_Hand/left_hand_link"},
     {"Right_Hip_Yaw/LR1", "Right_Knee_Pitch/LR2", "Right_Ankle_Roll/LR3", "Right_Shoulder_Roll/AR1",
      "Right_Elbow_Pitch/AR2", "Right_Hand/right_hand_link"}},
};

// The roles of two figures at rest.
static poise_role_map roles_at_rest(poise_model *from, const poise_model *to)
{
    poise_clip *clip;
    ck_assert_int_eq(poise_clip_create(1, poise_model_info(from).nq, 1, NULL, &clip, NULL), POISE_OK);
    poise_model_neutral(from, clip->q);
    take t = {from, clip};
    poise_retarget_task task = task_of(&t, to);
    poise_role_map map = matched(&task);
    poise_clip_destroy(clip);
    return map;
}

typedef struct role_body {
    int role;
    const char *body; // NULL: none
} role_body;

// Bodies of the target, by role.
static void check_roles(const poise_role_map *map, const poise_model *to, const role_body *expected, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        int body = map->role[expected[i].role].to;
        const char *name = body >= 0 ? poise_model_joint_info(to, body).body : "none";
        ck_assert_msg(strcmp(name, expected[i].body ? expected[i].body : "none") == 0, "%s is %s",
                      poise_role_name(expected[i].role), name);
    }
}

// A robot whose hip motors are called "leg" and lie above a knee with a name, and whose arm's yaw motor lies at the elbow.
TEST(motors_of_a_hip_and_at_an_elbow_are_the_thigh_and_part_of_the_upper_arm)
{
    poise_builder *b;
    poise_model *robot, *first = figure(&dialects[0][0], &dialects[0][1]);
    ck_assert_int_eq(poise_builder_create(NULL, &b, NULL), POISE_OK);
    add_joint(b, "waist_link", NULL, 0, 1, 0);
    add_joint(b, "torso_link", "waist_link", 0, 0.3, 0);
    add_joint(b, "neck_link", "torso_link", 0, 0.2, 0);
    for (int side = 0; side < 2; ++side) {
        static const char *const parts[] = {"leg_roll",      "leg_yaw", "leg_pitch",   "knee", "ankle_roll",
                                            "shoulder_roll", "arm_yaw", "elbow_pitch", "hand"};
        static const double down[] = {0, 0, 0.1, 0.35, 0.42, -0.1, 0.3, 0, 0.25};
        char name[TEST_COUNT(parts)][40];
        for (size_t i = 0; i < TEST_COUNT(parts); ++i) {
            bool begins = i == 0 || i == 5;
            snprintf(name[i], sizeof name[i], "%s_%s_link", side == 0 ? "left" : "right", parts[i]);
            add_joint(b, name[i],
                      i == 0   ? "waist_link"
                      : i == 5 ? "torso_link"
                               : name[i - 1],
                      begins ? (side == 0 ? 0.15 : -0.15) : 0, -down[i], 0);
        }
    }
    ck_assert_int_eq(poise_model_create(b, NULL, &robot, NULL), POISE_OK);
    poise_builder_destroy(b);
    poise_role_map map = roles_at_rest(first, robot);
    static const role_body expected[] = {
        {POISE_ROLE_THIGH, "left_leg_pitch_link"},     {POISE_ROLE_SHANK, "left_knee_link"},
        {POISE_ROLE_FOOT, "left_ankle_roll_link"},     {POISE_ROLE_UPPER_ARM, "left_shoulder_roll_link"},
        {POISE_ROLE_FOREARM, "left_elbow_pitch_link"}, {POISE_ROLE_CLAVICLE, NULL}};
    check_roles(&map, robot, expected, TEST_COUNT(expected));
    poise_model_destroy(robot);
    poise_model_destroy(first);
}

TEST(every_dialect_finds_its_roles_and_moves_as_the_others_do)
{
    poise_model *first = figure(&dialects[0][0], &dialects[0][1]);
    int nq = poise_model_info(first).nq;
    poise_clip *clip;
    ck_assert_int_eq(poise_clip_create(5, nq, 1.0 / 60, NULL, &clip, NULL), POISE_OK);
    for (int f = 0; f < 5; ++f) {
        double *q = clip->q + f * nq;
        poise_model_neutral(first, q);
        for (int k = 3; k < nq; ++k) {
            q[k] += 0.03 * f * sin(k);
        }
    }
    static const int roles[] = {POISE_ROLE_PELVIS,    POISE_ROLE_CHEST,   POISE_ROLE_HEAD,
                                POISE_ROLE_THIGH,     POISE_ROLE_SHANK,   POISE_ROLE_FOOT,
                                POISE_ROLE_UPPER_ARM, POISE_ROLE_FOREARM, POISE_ROLE_HAND};
    for (size_t i = 0; i < TEST_COUNT(dialects); ++i) {
        poise_model *other = figure(&dialects[i][0], &dialects[i][1]);
        take t = {first, clip};
        poise_retarget_task task = task_of(&t, other);
        task.feet = POISE_FEET_FOLLOW;
        poise_role_map map;
        ck_assert_int_eq(poise_roles_match(&task, NULL, &map, NULL), POISE_OK);
        for (size_t r = 0; r < TEST_COUNT(roles); ++r) {
            for (int offset = 0; offset <= (roles[r] >= POISE_ROLE_LEFT ? POISE_ROLE_SIDE : 0); offset += POISE_ROLE_SIDE) {
                const poise_role_pair *p = &map.role[roles[r] + offset];
                ck_assert_msg(p->from >= 0 && p->to == p->from, "%s of dialect %zu", poise_role_name(roles[r] + offset), i);
            }
        }
        poise_clip *made;
        poise_retarget_outcome outcome;
        ck_assert_int_eq(poise_retarget(&task, NULL, &made, NULL, &outcome, NULL), POISE_OK);
        ck_assert_msg(outcome.turn_worst < 1e-6, "dialect %zu: %g", i, outcome.turn_worst);
        ck_assert_double_lt(outcome.hips_worst, 1e-6);
        poise_clip_destroy(made);
        poise_model_destroy(other);
    }
    poise_clip_destroy(clip);
    poise_model_destroy(first);
}

// SMPL and Kinect call the toes a foot, below an ankle; Xsens and 100STYLE have four chests and collars; Rigify numbers the
// spine up to the head.
// A figure `size` times as large as the others, whose hips, knees and ankles are hinges that hardly turn.
static poise_model *stiff_figure(double size)
{
    poise_builder *loose, *stiff;
    poise_model *model;
    ck_assert_int_eq(poise_builder_create(NULL, &loose, NULL), POISE_OK);
    ck_assert_int_eq(poise_builder_create(NULL, &stiff, NULL), POISE_OK);
    add_figure(loose, &dialects[0][0], &dialects[0][1], "Trunk", "Breast", "Head", NULL);
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

TEST(feet_below_ankles_are_toes_and_the_last_of_a_spine_is_the_head)
{
    static const char *const dialects_of_legs[][3] = {{"L_Ankle", "L_Foot", "Head"},     // SMPL
                                                      {"AnkleLeft", "FootLeft", "Head"}, // Kinect
                                                      {"LeftAnkle", "LeftToe", "spine.006"}};
    for (size_t i = 0; i < TEST_COUNT(dialects_of_legs); ++i) {
        const char *const *n = dialects_of_legs[i];
        poise_builder *b;
        poise_model *model;
        ck_assert_int_eq(poise_builder_create(NULL, &b, NULL), POISE_OK);
        add_joint(b, "Hips", NULL, 0, 1, 0);
        add_joint(b, "Chest", "Hips", 0, 0.1, 0);
        add_joint(b, "Chest2", "Chest", 0, 0.1, 0);
        add_joint(b, "Chest3", "Chest2", 0, 0.1, 0);
        add_joint(b, "Chest4", "Chest3", 0, 0.1, 0);
        add_joint(b, "spine.005", "Chest4", 0, 0.1, 0);
        add_joint(b, n[2], "spine.005", 0, 0.1, 0);
        add_joint(b, "face", n[2], 0, 0, 0); // which is no head, whatever it has
        add_joint(b, "jaw", "face", 0, 0, 0.05);
        add_joint(b, "nose", "face", 0, 0.05, 0.1);
        for (int side = 0; side < 2; ++side) {
            static const char *const limbs[][3] = {{"LeftCollar", "LeftShoulder", "LeftHip"},
                                                   {"RightCollar", "RightShoulder", "RightHip"}};
            double x = side == 0 ? 1 : -1;
            add_joint(b, limbs[side][0], "Chest4", 0.03 * x, 0.08, 0);
            add_joint(b, limbs[side][1], limbs[side][0], 0.14 * x, 0, 0);
            add_joint(b, limbs[side][2], "Hips", 0.1 * x, 0, 0);
        }
        add_joint(b, "LeftKnee", "LeftHip", 0, -0.42, 0);
        add_joint(b, n[0], "LeftKnee", 0, -0.41, 0);
        add_joint(b, n[1], n[0], 0, -0.07, 0.16);
        ck_assert_int_eq(poise_model_create(b, NULL, &model, NULL), POISE_OK);
        poise_builder_destroy(b);
        poise_role_map map = roles_at_rest(model, model);
        const role_body expected[] = {{POISE_ROLE_FOOT, n[0]},
                                      {POISE_ROLE_TOE, n[1]},
                                      {POISE_ROLE_HEAD, n[2]},
                                      {POISE_ROLE_CHEST, "Chest4"},
                                      {POISE_ROLE_CLAVICLE, "LeftCollar"},
                                      {POISE_ROLE_UPPER_ARM, "LeftShoulder"}};
        check_roles(&map, model, expected, TEST_COUNT(expected));
        poise_model_destroy(model);
    }
}

// Talos tilts its head by one motor and turns it by the next: the body that both move is the head.
TEST(a_head_of_two_motors_is_what_both_of_them_move)
{
    poise_model *actor = figure(&dialects[0][0], &dialects[0][1]);
    poise_model *robot = figure_with(&dialects[0][0], &dialects[0][1], "head_1_link", "head_2_link");
    poise_role_map map = roles_at_rest(actor, robot);
    check_roles(&map, robot, &(role_body){POISE_ROLE_HEAD, "head_2_link"}, 1);
    poise_model_destroy(robot);
    poise_model_destroy(actor);
}

// Two people in one file: the second's names are the better words, yet the first is taken as a whole.
TEST(of_two_figures_the_first_is_followed_whatever_its_names_begin_with)
{
    static const named left = {"Bob_1_LeftHip",      "Bob_1_LeftKnee",  "Bob_1_LeftAnkle",
                               "Bob_1_LeftShoulder", "Bob_1_LeftElbow", "Bob_1_LeftWrist"};
    static const named right = {"Bob_1_RightHip",      "Bob_1_RightKnee",  "Bob_1_RightAnkle",
                                "Bob_1_RightShoulder", "Bob_1_RightElbow", "Bob_1_RightWrist"};
    static const struct {
        const named *left, *right;
        const char *trunk, *chest, *head;
    } people[2] = {{&left, &right, "Bob_1", "Bob_1_Breast", "Bob_1_Head"},
                   {&dialects[0][0], &dialects[0][1], "Trunk", "Breast", "Head"}};
    poise_builder *b;
    poise_model *pair, *robot = figure(&dialects[0][0], &dialects[0][1]);
    ck_assert_int_eq(poise_builder_create(NULL, &b, NULL), POISE_OK);
    for (int i = 0; i < 2; ++i) {
        add_figure(b, people[i].left, people[i].right, people[i].trunk, people[i].chest, people[i].head, NULL);
    }
    ck_assert_int_eq(poise_model_create(b, NULL, &pair, NULL), POISE_OK);
    poise_builder_destroy(b);
    poise_role_map map = roles_at_rest(pair, robot);
    for (int role = 0; role < POISE_ROLE_COUNT; ++role) {
        ck_assert_msg(map.role[role].from < poise_model_info(pair).joints / 2, "%s", poise_role_name(role));
    }
    ck_assert_int_ge(map.role[POISE_ROLE_THIGH].from, 0);
    ck_assert_int_ge(map.role[POISE_ROLE_HEAD].from, 0);
    poise_model_destroy(robot);
    poise_model_destroy(pair);
}

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
