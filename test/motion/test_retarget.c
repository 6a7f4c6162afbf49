// Retargeting: who is who, rest poses, feet, limits, verdict.
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

typedef struct named {
    const char *thigh, *shank, *foot, *upper_arm, *forearm, *hand; // of the left side; R for the right
} named;

static void add_joint(poise_builder *b, const char *name, const char *parent, double x, double y, double z)
{
    poise_joint joint = poise_joint_default();
    const char *slash = strchr(name, '/'), *above = parent ? strchr(parent, '/') : NULL; // "JOINT/BODY" has two names
    char own[64];
    snprintf(own, sizeof own, "%.*s", slash ? (int)(slash - name) : (int)strlen(name), name);
    joint.name = own;
    joint.body = slash ? slash + 1 : NULL;
    joint.parent = above ? above + 1 : parent;
    joint.type = parent ? POISE_JOINT_BALL_QUATERNION : POISE_JOINT_FREE;
    joint.offset.position = poise_vec3_make(x, y, z);
    ck_assert_int_eq(poise_builder_add_joint(b, &joint, NULL), POISE_OK);
}

// A figure with arms and legs, its left side named as given and its right one by another word for the side.
static poise_model *figure(const named *left, const named *right)
{
    poise_builder *b;
    poise_model *model;
    ck_assert_int_eq(poise_builder_create(NULL, &b, NULL), POISE_OK);
    add_joint(b, "Trunk", NULL, 0, 1, 0);
    add_joint(b, "Breast", "Trunk", 0, 0.3, 0);
    add_joint(b, "Head", "Breast", 0, 0.2, 0);
    for (int side = 0; side < 2; ++side) {
        const named *n = side == 0 ? left : right;
        double x = side == 0 ? 1 : -1;
        add_joint(b, n->thigh, "Trunk", 0.1 * x, 0, 0);
        add_joint(b, n->shank, n->thigh, 0, -0.45, 0);
        add_joint(b, n->foot, n->shank, 0, -0.42, 0);
        add_joint(b, n->upper_arm, "Breast", 0.2 * x, 0.1, 0);
        add_joint(b, n->forearm, n->upper_arm, 0.3 * x, 0, 0);
        add_joint(b, n->hand, n->forearm, 0.25 * x, 0, 0);
    }
    ck_assert_int_eq(poise_model_create(b, NULL, &model, NULL), POISE_OK);
    poise_builder_destroy(b);
    return model;
}

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
    {{"zleg_l1_link", "zleg_l2_link", "zleg_l3_link", "zarm_l1_link", "zarm_l2_link", "zarm_l3_link"},
     {"zleg_r1_link", "zleg_r2_link", "zleg_r3_link", "zarm_r1_link", "zarm_r2_link", "zarm_r3_link"}},
    {{"Left_Hip_Yaw/LL1", "Left_Knee_Pitch/LL2", "Left_Ankle_Roll/LL3", "Left_Shoulder_Roll/AL1", "Left_Elbow_Pitch/AL2",
      "Left_Hand/left_hand_link"},
     {"Right_Hip_Yaw/LR1", "Right_Knee_Pitch/LR2", "Right_Ankle_Roll/LR3", "Right_Shoulder_Roll/AR1",
      "Right_Elbow_Pitch/AR2", "Right_Hand/right_hand_link"}},
};

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
    static const struct {
        const char *text, *says;
        int line;
    } wrong[] = {{"# nothing\nelbow a b\n", "is no role", 2},
                 {"pelvis\n", "source is missing", 1},
                 {"\n\nhead pelvsi -\n", "did you mean", 3}};
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
    poise_role_map map;
    poise_retarget_outcome outcome;
    poise_verdict verdict;
    poise_finding findings[8];
    task = task_of(&t, tall);
    ck_assert_int_eq(poise_roles_match(&task, NULL, &map, NULL), POISE_OK);
    map.role[POISE_ROLE_FOREARM].from = POISE_NONE;
    task.map = &map;
    ck_assert_int_eq(poise_retarget(&task, NULL, &made, NULL, &outcome, &error), POISE_OK);
    ck_assert_int_eq(poise_retarget_judge(&task, &outcome, NULL, &verdict, findings, 8, NULL), POISE_OK);
    ck_assert_int_eq(verdict.level, POISE_VERDICT_DOUBTFUL);
    ck_assert(findings[0].kind == POISE_FINDING_UNMATCHED && strcmp(findings[0].name, "forearm.left") == 0);
    poise_clip_destroy(made);
    poise_model_destroy(tall);
    forget(&t);
}

// Who plays nothing on the motion's side, or on that of the skeleton that follows, and what is made of it.
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
    poise_role_map whole, map;
    ck_assert_int_eq(poise_roles_match(&task, NULL, &whole, NULL), POISE_OK);
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
    poise_role_map map;
    poise_clip *made;
    poise_retarget_outcome outcome;
    poise_verdict verdict;
    poise_finding findings[8];
    ck_assert_int_eq(poise_roles_match(&task, NULL, &map, NULL), POISE_OK);
    for (int role = POISE_ROLE_LEFT; role < POISE_ROLE_RIGHT; ++role) {
        int left = map.role[role].from;
        map.role[role].from = map.role[role + POISE_ROLE_SIDE].from;
        map.role[role + POISE_ROLE_SIDE].from = left;
    }
    task.map = &map;
    ck_assert_int_eq(poise_retarget(&task, NULL, &made, NULL, &outcome, NULL), POISE_OK);
    ck_assert(outcome.from_reversed && !outcome.to_reversed);
    ck_assert_int_eq(poise_retarget_judge(&task, &outcome, NULL, &verdict, findings, 8, NULL), POISE_OK);
    ck_assert(verdict.level != POISE_VERDICT_GOOD && verdict.worst[POISE_FINDING_REVERSED] > 0);
    poise_clip_destroy(made);

    outcome = (poise_retarget_outcome){
        .from_stands = true, .to_stands = true, .bone_mean = 0.1, .limb_mean = 0.8, .limb_role = POISE_ROLE_FOREARM};
    ck_assert_int_eq(poise_retarget_judge(&task, &outcome, NULL, &verdict, findings, 8, NULL), POISE_OK);
    ck_assert(verdict.level == POISE_VERDICT_DOUBTFUL && verdict.count == 1);
    ck_assert(findings[0].kind == POISE_FINDING_LIMB && strcmp(findings[0].name, "forearm.left") == 0);
    forget(&t);
}
