// Retargeting: which body plays which role, by the names of many dialects and by the tree.
#include "motion/named_figures.h"
#include "motion/retarget/actor.h"
#include "support/test_main.h"

#include <poise/retarget.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

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
    {{"Left leg", "Left knee", "Left ankle", "Left arm", "Left elbow", "Left wrist"},
     {"Right leg", "Right knee", "Right ankle", "Right arm", "Right elbow", "Right wrist"}},
    {{"l_hip_fe_link", "l_knee_fe_link", "l_foot_link", "l_shoulder_fe_link", "l_elbow_fe_link", "l_wrist_pitch_link"},
     {"r_hip_fe_link", "r_knee_fe_link", "r_foot_link", "r_shoulder_fe_link", "r_elbow_fe_link", "r_wrist_pitch_link"}},
    {{"l_hip_pitch_link", "l_knee_link", "l_ank_roll_link", "l_sho_roll_link", "l_el_link", "l_hand_link"},
     {"r_hip_pitch_link", "r_knee_link", "r_ank_roll_link", "r_sho_roll_link", "r_el_link", "r_hand_link"}},
    {{"leg_left_hip_pitch", "leg_left_knee_pitch", "leg_left_ankle_roll", "arm_left_shoulder_yaw", "arm_left_elbow_pitch",
      "arm_left_hand_link"},
     {"leg_right_hip_pitch", "leg_right_knee_pitch", "leg_right_ankle_roll", "arm_right_shoulder_yaw",
      "arm_right_elbow_pitch", "arm_right_hand_link"}},
    {{"thighFBXASC046L", "shinFBXASC046L", "footFBXASC046L", "upper_armFBXASC046L", "forearmFBXASC046L", "handFBXASC046L"},
     {"thighFBXASC046R", "shinFBXASC046R", "footFBXASC046R", "upper_armFBXASC046R", "forearmFBXASC046R", "handFBXASC046R"}},
};

// The roles of two figures at rest.
static poise_role_map roles_at_rest(poise_model *from, const poise_model *to)
{
    poise_clip *clip;
    ck_assert_int_eq(poise_clip_create(1, poise_model_info(from).nq, 1, NULL, &clip, NULL), POISE_OK);
    poise_model_neutral(from, clip->q);
    poise_retarget_task task = poise_retarget_task_default();
    task.from = from, task.to = to, task.clip = clip;
    poise_role_map map;
    ck_assert_int_eq(poise_roles_match(&task, NULL, &map, NULL), POISE_OK);
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

// Five fingers of two bodies each at the end of an arm.
static void add_fingers(poise_builder *b, const char *hand, double x)
{
    for (int i = 0; i < 5; ++i) {
        char first[40], second[40];
        snprintf(first, sizeof first, "%s_%d1", hand, i);
        snprintf(second, sizeof second, "%s_%d2", hand, i);
        add_joint(b, first, hand, i == 0 ? 0.02 * x : 0.09 * x, 0, i == 0 ? 0.04 : 0.02 * (2 - i));
        add_joint(b, second, first, i == 0 ? 0.01 * x : 0.04 * x, 0, i == 0 ? 0.04 : 0);
    }
}

// Nothing lies before or behind the roles that could be taken for a body.
TEST(fingers_of_a_figure_with_one_leg_are_no_hand_alone)
{
    pz_roles roles[3];
    memset(roles, 0xff, sizeof roles);
    roles[1].body[POISE_ROLE_INDEX + POISE_ROLE_SIDE] = 3;
    ck_assert(pz_is_hand(&roles[1]));
    roles[1].body[POISE_ROLE_THIGH + POISE_ROLE_SIDE] = 7;
    ck_assert(!pz_is_hand(&roles[1]));
}

// A figure in a language of its own: nothing is called a limb or a finger. One of its hands must not be taken for all of it.
TEST(a_hand_of_a_figure_without_known_names_is_not_taken_for_a_hand_alone)
{
    static const named left = {"bovenbeen", "onderbeen", "voet", "bovenarm", "onderarm", "greep"};
    static const named right = {"bovenbeen2", "onderbeen2", "voet2", "bovenarm2", "onderarm2", "greep2"};
    for (int hands = 0; hands < 2; ++hands) { // and what is a hand alone still is one
        poise_builder *b;
        poise_model *model, *first = figure(&dialects[0][0], &dialects[0][1]);
        ck_assert_int_eq(poise_builder_create(NULL, &b, NULL), POISE_OK);
        if (hands) {
            add_joint(b, "greep", NULL, 0, 1, 0);
        } else {
            add_figure(b, &left, &right, "romp", "borst", "hoofd", NULL);
            add_fingers(b, "greep2", -1);
        }
        add_fingers(b, "greep", 1);
        ck_assert_int_eq(poise_model_create(b, NULL, &model, NULL), POISE_OK);
        poise_builder_destroy(b);
        poise_role_map map = roles_at_rest(first, model);
        ck_assert_int_eq(map.role[POISE_ROLE_HAND + POISE_ROLE_SIDE].to, hands ? 0 : POISE_NONE);
        poise_model_destroy(model);
        poise_model_destroy(first);
    }
}

// As Booster T1 has them: shoulder, a motor that turns the upper arm, the elbow. Behind an elbow the same motor turns the
// forearm.
TEST(a_motor_that_turns_an_upper_arm_is_no_elbow)
{
    static const char *const arms[][4] = {
        {"Left_Shoulder_Roll/AL2", "Left_Elbow/AE", "Left_Elbow_Pitch", "Left_Elbow_Yaw/left_hand_link"},
        {"Right_Shoulder_Roll/AR2", "Right_Elbow/RE", "Right_Elbow_Pitch", "Right_Elbow_Yaw/right_hand_link"}};
    static const role_body expected[][4] = {{{POISE_ROLE_UPPER_ARM, "AL2"},
                                             {POISE_ROLE_FOREARM, "left_hand_link"},
                                             {POISE_ROLE_HAND, NULL},
                                             {POISE_ROLE_FOREARM + POISE_ROLE_SIDE, "right_hand_link"}},
                                            {{POISE_ROLE_UPPER_ARM, "AL2"},
                                             {POISE_ROLE_FOREARM, "AL3"},
                                             {POISE_ROLE_HAND, "left_hand_link"},
                                             {POISE_ROLE_FOREARM + POISE_ROLE_SIDE, "AR3"}}};
    for (int has_elbow = 0; has_elbow < 2; ++has_elbow) {
        poise_builder *b;
        poise_model *robot, *first = figure(&dialects[0][0], &dialects[0][1]);
        ck_assert_int_eq(poise_builder_create(NULL, &b, NULL), POISE_OK);
        add_joint(b, "Trunk", NULL, 0, 1, 0);
        for (int side = 0; side < 2; ++side) {
            double x = side == 0 ? 1 : -1;
            poise_joint motor = poise_joint_default();
            add_joint(b, arms[side][0], "Trunk", 0.2 * x, 0.3, 0);
            if (has_elbow) {
                add_joint(b, arms[side][1], arms[side][0], 0.2 * x, 0, 0);
            }
            motor.name = arms[side][2];
            motor.body = side == 0 ? "AL3" : "AR3";
            motor.parent = strchr(arms[side][has_elbow], '/') + 1;
            motor.type = POISE_JOINT_REVOLUTE;
            motor.axis = poise_vec3_make(1, 0, 0);
            motor.offset.position = poise_vec3_make(0.06 * x, 0, 0);
            ck_assert_int_eq(poise_builder_add_joint(b, &motor, NULL), POISE_OK);
            add_joint(b, arms[side][3], motor.body, 0.15 * x, 0, 0);
        }
        ck_assert_int_eq(poise_model_create(b, NULL, &robot, NULL), POISE_OK);
        poise_builder_destroy(b);
        poise_role_map map = roles_at_rest(first, robot);
        check_roles(&map, robot, expected[has_elbow], TEST_COUNT(expected[has_elbow]));
        poise_model_destroy(robot);
        poise_model_destroy(first);
    }
}

// Phalanges by their short names, and a wrist beside them, as in the hands of Babylon.js.
TEST(fingers_have_their_roles_by_short_names_of_phalanges)
{
    static const role_body fingers[] = {{POISE_ROLE_HAND, "root_R"},
                                        {POISE_ROLE_INDEX, "index_proxPhalanx_R"},
                                        {POISE_ROLE_INDEX + 1, "index_intPhalanx_R"},
                                        {POISE_ROLE_INDEX + 2, "index_distPhalanx_R"},
                                        {POISE_ROLE_THUMB, "thumb_proxPhalanx_R"},
                                        {POISE_ROLE_THUMB + 2, "thumb_distPhalanx_R"},
                                        {POISE_ROLE_RING, "ring_proxPhalanx_R"}};
    poise_builder *b;
    poise_model *model;
    ck_assert_int_eq(poise_builder_create(NULL, &b, NULL), POISE_OK);
    for (int k = 0; k < (int)TEST_COUNT(fingers); ++k) {
        add_joint(b, fingers[k].body, k == 0 ? NULL : fingers[k == 1 || k == 4 || k == 6 ? 0 : k - 1].body, 0.03, 0, 0.02);
    }
    add_joint(b, "wrist_R", "root_R", 0, 0, 0);
    ck_assert_int_eq(poise_model_create(b, NULL, &model, NULL), POISE_OK);
    poise_builder_destroy(b);
    poise_role_map map = roles_at_rest(model, model);
    for (size_t k = 0; k < TEST_COUNT(fingers); ++k) {
        check_roles(&map, model, &(role_body){fingers[k].role + POISE_ROLE_SIDE, fingers[k].body}, 1);
    }
    poise_model_destroy(model);
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

// A robot with the end of a rod fixed beside its ankle, ankle motors whose axes are apart, and three motors at its shoulder,
// the last of which is called the arm.
TEST(rods_at_an_ankle_are_no_foot_and_motors_of_a_joint_neither_toes_nor_a_collar)
{
    poise_builder *b;
    poise_model *robot, *first = figure(&dialects[0][0], &dialects[0][1]);
    ck_assert_int_eq(poise_builder_create(NULL, &b, NULL), POISE_OK);
    add_joint(b, "pelvis_link", NULL, 0, 1, 0);
    add_joint(b, "torso_link", "pelvis_link", 0, 0.3, 0);
    for (int side = 0; side < 2; ++side) {
        static const char *const parts[] = {"hip_yaw",        "knee",          "ankle_B",   "ankle_pitch", "ankle_roll",
                                            "shoulder_pitch", "shoulder_roll", "upper_arm", "elbow",       "wrist"};
        static const int above[] = {-1, 0, 1, 1, 3, -2, 5, 6, 7, 8};
        static const double down[] = {0, 0.4, 0.1, 0.4, 0.04, -0.1, 0.01, 0.01, 0.3, 0.25};
        char name[TEST_COUNT(parts)][40];
        for (size_t i = 0; i < TEST_COUNT(parts); ++i) {
            snprintf(name[i], sizeof name[i], "%s_%s_link", side == 0 ? "left" : "right", parts[i]);
            const char *parent = above[i] == -1 ? "pelvis_link" : above[i] == -2 ? "torso_link" : name[above[i]];
            poise_joint joint = poise_joint_default();
            joint.name = name[i];
            joint.parent = parent;
            joint.type = strcmp(parts[i], "ankle_B") == 0 ? POISE_JOINT_FIXED : POISE_JOINT_BALL_QUATERNION;
            double x = above[i] < 0 ? (side == 0 ? 0.15 : -0.15) : 0;
            joint.offset.position = poise_vec3_make(x, -down[i], strcmp(parts[i], "ankle_roll") == 0 ? 0.06 : 0);
            ck_assert_int_eq(poise_builder_add_joint(b, &joint, NULL), POISE_OK);
        }
    }
    ck_assert_int_eq(poise_model_create(b, NULL, &robot, NULL), POISE_OK);
    poise_builder_destroy(b);
    poise_role_map map = roles_at_rest(first, robot);
    static const role_body expected[] = {{POISE_ROLE_SHANK, "left_knee_link"},
                                         {POISE_ROLE_FOOT, "left_ankle_roll_link"},
                                         {POISE_ROLE_TOE, NULL},
                                         {POISE_ROLE_CLAVICLE, NULL},
                                         {POISE_ROLE_UPPER_ARM, "left_upper_arm_link"},
                                         {POISE_ROLE_FOREARM, "left_elbow_link"},
                                         {POISE_ROLE_HAND + POISE_ROLE_SIDE, "right_wrist_link"}};
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
        poise_retarget_task task = poise_retarget_task_default();
        task.from = first, task.to = other, task.clip = clip;
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
