// Edits of clips as other programs write them: a joint that stands still above the hips, six channels at every joint, bones
// along one axis so that the figure does not stand in its neutral pose, right limbs with all axes turned round.
#include "motion/named_figures.h"
#include "support/own.h"

#include <poise/edit.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES 60
#define PI     3.14159265358979323846

// Lengths in centimetres; angles about z, y, x that make the figure stand, and how far the first swings over time.
static const struct {
    const char *name, *parent;
    double offset[3], angle[3], swing, phase;
} joints[] = {
    {"joint_Root", NULL, {0, 0, 0}, {0, 0, 0}, 0, 0},
    {"Hips", "joint_Root", {0, 93.9, -3}, {PI / 2, 0, 0}, 0.05, 0.3},
    {"Chest", "Hips", {24, 0, 0}, {0, 0, PI / 2}, 0.1, 1},
    {"Head", "Chest", {23, 0, 0}, {0, 0, 0}, 0.2, 0.4},
    {"UpperArm_L", "Chest", {13, 0, 10}, {PI, 0, 0}, 0.6, 0},
    {"LowerArm_L", "UpperArm_L", {24, 0, 0}, {0.4, 0, 0}, 0.3, 0.2},
    {"Hand_L", "LowerArm_L", {22, 0, 0}, {0, 0, 0}, 0.1, 0.7},
    {"UpperArm_R", "Chest", {13, 0, -10}, {0, 0, 0}, 0.5, PI},
    {"LowerArm_R", "UpperArm_R", {-24, 0, 0}, {0.4, 0, 0}, 0.2, 1.2},
    {"Hand_R", "LowerArm_R", {-22, 0, 0}, {0, 0, 0}, 0.3, 0.1},
    {"UpperLeg_L", "Hips", {-2, -6.5, 0}, {PI, 0, 0}, 0.1, PI},
    {"LowerLeg_L", "UpperLeg_L", {39, 0, 0}, {0, 0.2, 0}, 0.1, 0.5},
    {"Foot_L", "LowerLeg_L", {41, 0, 0}, {0, -1.2, 0}, 0.05, 0.9},
    {"Toes_L", "Foot_L", {12, 0, 0}, {0, 0, 0}, 0, 0},
    {"UpperLeg_R", "Hips", {-2, 6.5, 0}, {0, 0, 0}, 0.1, 0},
    {"LowerLeg_R", "UpperLeg_R", {-39, 0, 0}, {0, 0.2, 0}, 0.08, 0.1},
    {"Foot_R", "LowerLeg_R", {-41, 0, 0}, {0, -1.2, 0}, 0.02, 0.3},
    {"Toes_R", "Foot_R", {-12, 0, 0}, {0, 0, 0}, 0, 0},
};

#define JOINTS TEST_COUNT(joints)

typedef struct stage {
    poise_model *model;
    poise_clip *clip;
    poise_kinematics *kin;
} stage;

// Two seconds of a walk along z.
static stage open_walk(void)
{
    stage s;
    poise_builder *builder;
    ck_assert_int_eq(poise_builder_create(NULL, &builder, NULL), POISE_OK);
    for (size_t k = 0; k < JOINTS; ++k) {
        poise_joint joint = poise_joint_default();
        joint.name = joints[k].name;
        joint.parent = joints[k].parent;
        joint.type = POISE_JOINT_FREE_EULER;
        joint.order = POISE_EULER_ZYX;
        joint.offset.position = poise_vec3_make(joints[k].offset[0], joints[k].offset[1], joints[k].offset[2]);
        ck_assert_int_eq(poise_builder_add_joint(builder, &joint, NULL), POISE_OK);
    }
    ck_assert_int_eq(poise_model_create(builder, NULL, &s.model, NULL), POISE_OK);
    poise_builder_destroy(builder);
    own_model(s.model);
    ck_assert_int_eq(poise_clip_create(FRAMES, 6 * (int)JOINTS, 0.0333333, NULL, &s.clip, NULL), POISE_OK);
    own_clip(s.clip);
    for (int f = 0; f < FRAMES; ++f) {
        for (size_t k = 0; k < JOINTS; ++k) {
            double *q = s.clip->q + f * s.clip->nq + poise_model_joint_info(s.model, (int)k).q;
            memcpy(q + 3, joints[k].angle, sizeof joints[k].angle);
            q[3] += joints[k].swing * sin(0.15 * f + joints[k].phase);
            q[2] = k == 1 ? 4.0 * f - 100 : 0;
            q[0] = k == 1 ? 2.0 * sin(0.15 * f) : 0;
        }
    }
    ck_assert_int_eq(poise_kinematics_create(s.model, NULL, &s.kin, NULL), POISE_OK);
    own_kinematics(s.kin);
    return s;
}

static double *row(const poise_clip *clip, int frame)
{
    return clip->q + (size_t)frame * (size_t)clip->nq;
}

static poise_vec3 place(stage *s, const poise_clip *clip, int frame, const char *body)
{
    ck_assert_int_eq(poise_kinematics_update(s->kin, row(clip, frame), NULL), POISE_OK);
    return poise_kinematics_body_pose(s->kin, poise_model_find_body(s->model, body)).position;
}

static double apart(poise_vec3 a, poise_vec3 b)
{
    return sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y) + (a.z - b.z) * (a.z - b.z));
}

// The largest way of a body from one frame to the next.
static double longest_step(stage *s, const poise_clip *clip)
{
    double most = 0;
    for (int f = 1; f < clip->frames; ++f) {
        for (size_t k = 0; k < JOINTS; ++k) {
            most = fmax(most, apart(place(s, clip, f - 1, joints[k].name), place(s, clip, f, joints[k].name)));
        }
    }
    return most;
}

static double largest_jump(const poise_clip *clip)
{
    double most = 0;
    for (int f = 1; f < clip->frames; ++f) {
        for (int i = 0; i < clip->nq; ++i) {
            most = i % 6 >= 3 ? fmax(most, fabs(row(clip, f)[i] - row(clip, f - 1)[i])) : most;
        }
    }
    return most;
}

// "Foot_L" of "Foot_R", and the other way round.
static const char *other_side(const char *name, char other[32])
{
    size_t last = strlen(name) - 1;
    snprintf(other, 32, "%s", name);
    if (name[last - 1] == '_') {
        other[last] = name[last] == 'L' ? 'R' : 'L';
    }
    return other;
}

TEST(a_mirror_is_one_of_places)
{
    stage s = open_walk();
    poise_clip *seen = NULL;
    poise_mirror_report report;
    char other[32];
    ck_assert_int_eq(poise_clip_mirror(s.model, s.clip, NULL, &seen, &report, NULL), POISE_OK);
    own_clip(seen);
    for (int f = 0; f < FRAMES; ++f) {
        for (size_t k = 1; k < JOINTS; ++k) {
            poise_vec3 image = place(&s, s.clip, f, joints[k].name);
            image.x = -image.x;
            ck_assert_double_lt(apart(image, place(&s, seen, f, other_side(joints[k].name, other))), 1e-9);
        }
    }
    ck_assert_int_eq(report.pairs, 7);
    ck_assert_double_lt(report.worst_angle, 1e-9);
    ck_assert_double_lt(report.worst_length, 1e-9);
    ck_assert_mem_eq(seen->q, s.clip->q, 6 * sizeof(double)); // what stands above the hips stays
}

TEST(a_mirror_takes_lengths_of_the_clip_along)
{
    stage s = open_walk();
    poise_clip *seen = NULL;
    poise_mirror_report report;
    int arm = poise_model_joint_info(s.model, poise_model_find_joint(s.model, "LowerArm_R")).q;
    for (int f = 0; f < FRAMES; ++f) {
        row(s.clip, f)[arm] -= 3;
    }
    ck_assert_int_eq(poise_clip_mirror(s.model, s.clip, NULL, &seen, &report, NULL), POISE_OK);
    own_clip(seen);
    ck_assert_double_lt(report.worst_length, 1e-9);
    ck_assert_double_eq_tol(apart(place(&s, seen, 9, "UpperArm_L"), place(&s, seen, 9, "LowerArm_L")), 27, 1e-9);
}

TEST(clips_are_joined_at_the_hips)
{
    stage s = open_walk();
    poise_clip *whole = NULL, *loop = NULL;
    double usual = longest_step(&s, s.clip);
    ck_assert_int_eq(poise_clip_append(s.model, s.clip, s.clip, 0.3, POISE_UP_Y, NULL, &whole, NULL), POISE_OK);
    own_clip(whole);
    ck_assert_int_eq(poise_clip_loop(s.model, s.clip, 0.3, POISE_UP_Y, NULL, &loop, NULL), POISE_OK);
    own_clip(loop);
    ck_assert_double_lt(longest_step(&s, whole), 2 * usual);
    ck_assert_double_lt(longest_step(&s, loop), 2 * usual);
    ck_assert_double_gt(place(&s, whole, whole->frames - 1, "Hips").z, 300); // it walks on
    for (int i = 0; i < 6; ++i) {
        ck_assert(row(whole, whole->frames - 1)[i] == 0);
    }
}

// Euler angles that mean the same as others, half a turn on: rotations are what is blended.
TEST(a_blend_turns_no_somersault)
{
    stage s = open_walk();
    poise_clip *next = NULL, *whole = NULL;
    double usual = longest_step(&s, s.clip), jump = largest_jump(s.clip);
    ck_assert_int_eq(poise_clip_trim(s.clip, 0, FRAMES, NULL, &next, NULL), POISE_OK);
    own_clip(next);
    for (int f = 0; f < FRAMES; ++f) {
        for (size_t k = 1; k < JOINTS; ++k) {
            double *q = row(next, f) + 6 * k + 3;
            q[0] += PI, q[1] = PI - q[1], q[2] += k % 2 ? PI : -PI;
        }
    }
    ck_assert_int_eq(poise_clip_append(s.model, s.clip, next, 0.3, POISE_UP_Y, NULL, &whole, NULL), POISE_OK);
    own_clip(whole);
    ck_assert_double_lt(longest_step(&s, whole), 2 * usual);
    ck_assert_double_lt(largest_jump(whole), 4 * jump);
}

TEST(pins_stretch_no_bone)
{
    stage s = open_walk();
    poise_clip *before = NULL;
    poise_pin pin = poise_pin_default();
    poise_pin_result result;
    ck_assert_int_eq(poise_clip_trim(s.clip, 0, FRAMES, NULL, &before, NULL), POISE_OK);
    own_clip(before);
    pin.goal = poise_goal_position(poise_model_find_body(s.model, "Hand_L"), poise_vec3_make(0, 0, 0),
                                   poise_vec3_make(150, 200, 0));
    pin.from = 0.7, pin.to = 1;
    ck_assert_int_eq(poise_clip_pin(s.model, &pin, 1, NULL, s.clip, NULL, &result, NULL, NULL), POISE_OK);
    ck_assert_int_gt(result.missed, 0);
    for (int f = 0; f < FRAMES; ++f) {
        for (size_t i = 0; i < 6 * JOINTS; ++i) {
            bool is_length = i % 6 < 3 && i / 6 != 1;
            ck_assert(!is_length || row(s.clip, f)[i] == row(before, f)[i]);
        }
    }
}

// 30 frames a second, written 0.0333333: second 1 is frame 30.
TEST(a_time_is_the_frame_that_was_meant)
{
    stage s = open_walk();
    poise_pin pin = poise_pin_default();
    poise_pin_result result;
    pin.goal =
        poise_goal_position(poise_model_find_body(s.model, "Hand_L"), poise_vec3_make(0, 0, 0), poise_vec3_make(0, 0, 0));
    pin.target = POISE_PIN_HERE;
    pin.from = 1, pin.to = 1.5;
    ck_assert_int_eq(poise_clip_pin(s.model, &pin, 1, NULL, s.clip, NULL, &result, NULL, NULL), POISE_OK);
    ck_assert_int_eq(result.held_first, 30);
    ck_assert_int_eq(result.held_last, 45);
}

TEST(up_is_where_the_figure_stands)
{
    stage s = open_walk();
    ck_assert_int_eq(poise_clip_up(s.model, s.clip), POISE_UP_Y);
    ck_assert_int_eq(poise_clip_up(s.model, NULL), POISE_UP_UNKNOWN);
}

// Its neutral pose lies along x, and its lengths are centimetres.
TEST(a_figure_in_a_clip_stands_as_it_does_there)
{
    stage s = open_walk();
    poise_figure lying, standing;
    ck_assert_int_eq(poise_clip_figure(s.model, NULL, &lying, NULL), POISE_OK);
    ck_assert_int_eq(poise_clip_figure(s.model, s.clip, &standing, NULL), POISE_OK);
    ck_assert_int_ne(lying.up, POISE_UP_Y);
    ck_assert_int_eq(standing.up, POISE_UP_Y);
    ck_assert(!standing.is_upside_down && standing.is_named);
    ck_assert_double_eq(standing.metres, 0.01);
    ck_assert_double_eq(standing.height, lying.height);
    ck_assert_str_eq(poise_unit_name(standing.metres), "centimetres");
    ck_assert_ptr_null(poise_unit_name(0.0254 / 0.45));
    poise_clip other = *s.clip;
    other.nq -= 1;
    ck_assert_int_eq(poise_clip_figure(s.model, &other, &standing, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_clip_figure(NULL, s.clip, &standing, NULL), POISE_ERROR_ARGUMENT);
}

// Turned as a whole: along each axis, and on its head.
TEST(a_figure_in_a_clip_stands_along_the_axis_of_its_trunk)
{
    static const struct {
        double about_z, about_x;
        poise_up up;
        bool is_upside_down;
    } turns[] = {{0, 0, POISE_UP_Y, false},      {0, PI, POISE_UP_Y, true},       {0, PI / 2, POISE_UP_Z, false},
                 {0, -PI / 2, POISE_UP_Z, true}, {-PI / 2, 0, POISE_UP_X, false}, {PI / 2, 0, POISE_UP_X, true}};
    for (size_t i = 0; i < TEST_COUNT(turns); ++i) {
        stage s = open_walk();
        poise_figure figure;
        for (int f = 0; f < FRAMES; ++f) { // joint_Root: three places, then z, y, x
            row(s.clip, f)[3] = turns[i].about_z, row(s.clip, f)[5] = turns[i].about_x;
        }
        ck_assert_int_eq(poise_clip_figure(s.model, s.clip, &figure, NULL), POISE_OK);
        ck_assert_msg(figure.up == turns[i].up && figure.is_upside_down == turns[i].is_upside_down, "turn %zu: %d, %d", i,
                      (int)figure.up, figure.is_upside_down);
    }
}

// The figure stands, and slides sideways at 15 cm/s: its feet rest in all frames, whichever way its neutral pose lies.
TEST(feet_rest_by_the_height_that_the_clip_has)
{
    stage s = open_walk();
    poise_pin pins[64];
    poise_feet_report feet = {0};
    for (int f = 0; f < FRAMES; ++f) {
        memcpy(row(s.clip, f), row(s.clip, 0), (size_t)s.clip->nq * sizeof(double));
        row(s.clip, f)[poise_model_joint_info(s.model, 1).q] += 0.5 * f;
    }
    ck_assert_int_eq(poise_feet_pins(s.model, s.clip, NULL, pins, 64, &feet, NULL), POISE_OK);
    ck_assert_msg(feet.frames >= FRAMES, "%d frames in %d contacts", feet.frames, feet.contacts);
    ck_assert_double_eq_tol(feet.skate_mean, 15.0, 0.01);
    for (int i = 0; i < feet.contacts; ++i) {
        ck_assert(pins[i].to > pins[i].from);
    }
    ck_assert_double_gt(pins[feet.contacts / 2 - 1].to, 1.6); // of the left foot: until the end
}

// Names that only retargeting knows: NVIDIA's SOMA, and VRM's beside hair that has other names.
TEST(edits_know_the_names_that_retargeting_knows)
{
    static const named sides[][2] = {
        {{"LeftLeg", "LeftShin", "LeftFoot", "LeftArm", "LeftForeArm", "LeftHand"},
         {"RightLeg", "RightShin", "RightFoot", "RightArm", "RightForeArm", "RightHand"}},
        {{"J_Bip_L_UpperLeg", "J_Bip_L_LowerLeg", "J_Bip_L_Foot", "J_Bip_L_UpperArm", "J_Bip_L_LowerArm", "J_Bip_L_Hand"},
         {"J_Bip_R_UpperLeg", "J_Bip_R_LowerLeg", "J_Bip_R_Foot", "J_Bip_R_UpperArm", "J_Bip_R_LowerArm", "J_Bip_R_Hand"}}};
    for (size_t i = 0; i < TEST_COUNT(sides); ++i) {
        poise_model *model = figure_with(&sides[i][0], &sides[i][1], "Head", "J_Sec_Hair1_01");
        int nq = poise_model_info(model).nq;
        poise_clip *clip, *seen;
        poise_pin pins[4];
        poise_feet_report feet;
        poise_mirror_report report;
        own_model(model);
        ck_assert_int_eq(poise_clip_create(FRAMES, nq, 0.03, NULL, &clip, NULL), POISE_OK);
        own_clip(clip);
        for (int f = 0; f < FRAMES; ++f) {
            poise_model_neutral(model, row(clip, f));
        }
        ck_assert_int_eq(poise_feet_pins(model, clip, NULL, pins, 4, &feet, NULL), POISE_OK);
        ck_assert_int_eq(feet.contacts, 2);
        ck_assert_int_eq(pins[0].goal.body, poise_model_find_body(model, sides[i][0].foot));
        ck_assert_int_eq(poise_clip_mirror(model, clip, NULL, &seen, &report, NULL), POISE_OK);
        own_clip(seen);
        ck_assert_int_eq(report.pairs, 6);
    }
}

// ---- Joints of few freedoms ----------------------------------------------------------------------------------------------

// A chain of joints, 0.3 apart along x; their own units.
static stage open_chain(const poise_joint *links, int count, int frames)
{
    stage s;
    poise_builder *builder;
    char name[] = "a", parent[] = "a";
    ck_assert_int_eq(poise_builder_create(NULL, &builder, NULL), POISE_OK);
    for (int k = 0; k < count; ++k) {
        poise_joint joint = links[k];
        name[0] = (char)('a' + k), parent[0] = (char)('a' + k - 1);
        joint.name = name, joint.parent = k > 0 ? parent : NULL;
        joint.offset.position.x = k > 0 ? 0.3 : 0;
        ck_assert_int_eq(poise_builder_add_joint(builder, &joint, NULL), POISE_OK);
    }
    ck_assert_int_eq(poise_model_create(builder, NULL, &s.model, NULL), POISE_OK);
    poise_builder_destroy(builder);
    own_model(s.model);
    ck_assert_int_eq(poise_clip_create(frames, poise_model_info(s.model).nq, 0.1, NULL, &s.clip, NULL), POISE_OK);
    own_clip(s.clip);
    ck_assert_int_eq(poise_kinematics_create(s.model, NULL, &s.kin, NULL), POISE_OK);
    own_kinematics(s.kin);
    return s;
}

static poise_joint link_of(poise_joint_type type, double x, double y, double z)
{
    poise_joint joint = poise_joint_default();
    joint.type = type;
    joint.axis = poise_vec3_make(x, y, z);
    return joint;
}

static void *zeroed(void *user, size_t size)
{
    (void)user;
    return calloc(1, size);
}

static void release(void *user, void *memory)
{
    (void)user;
    free(memory);
}

// A turn that stands still carries slides along x and z and a turn that move.
TEST(a_joint_that_stands_still_above_several_that_carry_the_motion_goes_on_doing_so)
{
    const poise_joint links[] = {link_of(POISE_JOINT_REVOLUTE, 0, 1, 0), link_of(POISE_JOINT_PRISMATIC, 1, 0, 0),
                                 link_of(POISE_JOINT_PRISMATIC, 0, 0, 1), link_of(POISE_JOINT_REVOLUTE, 0, 1, 0)};
    const poise_allocator allocator = {zeroed, release, NULL};
    stage s = open_chain(links, 4, 20);
    poise_clip *whole = NULL;
    for (int f = 0; f < 20; ++f) {
        memcpy(row(s.clip, f), (double[]){0, 0.1 * f, 0.05 * f, 0.08 * f}, 4 * sizeof(double));
    }
    ck_assert_int_eq(poise_clip_append(s.model, s.clip, s.clip, 0.3, POISE_UP_Y, &allocator, &whole, NULL), POISE_OK);
    own_clip(whole);
    ck_assert_double_gt(row(whole, whole->frames - 1)[3], 2);
    for (int f = 0; f < whole->frames; ++f) {
        ck_assert_double_eq(row(whole, f)[0], 0);
    }
}

// A hinge in the place that is pinned has nothing to do with it. Without it there are eight, which fill a line of the cache.
TEST(a_hinge_at_a_pinned_place_changes_nothing_of_the_others)
{
    double q[2][9];
    for (int with = 0; with < 2; ++with) {
        poise_joint links[9];
        for (int k = 0; k < 9; ++k) {
            links[k] = link_of(k < 8 + with ? POISE_JOINT_REVOLUTE : POISE_JOINT_FIXED, 0, k % 2, 1 - k % 2);
        }
        stage s = open_chain(links, 9, 1);
        for (int i = 0; i < 8; ++i) {
            s.clip->q[i] = 0.2;
        }
        poise_pin pin = poise_pin_default();
        poise_pin_result result;
        pin.goal = poise_goal_position(8, poise_vec3_make(0, 0, 0), poise_vec3_make(1, 0.7, -0.4));
        ck_assert_int_eq(poise_clip_pin(s.model, &pin, 1, NULL, s.clip, NULL, &result, NULL, NULL), POISE_OK);
        ck_assert_int_eq(result.missed, 0);
        memcpy(q[with], s.clip->q, 8 * sizeof(double));
    }
    for (int i = 0; i < 8; ++i) {
        ck_assert_double_eq_tol(q[0][i], q[1][i], 1e-9);
    }
}

TEST(a_swing_that_is_beyond_its_limits_stays_where_nothing_moves_it)
{
    poise_joint links[] = {link_of(POISE_JOINT_REVOLUTE, 0, 0, 1), link_of(POISE_JOINT_SWING_TWIST, 0, 0, 1),
                           link_of(POISE_JOINT_FIXED, 0, 0, 1)};
    links[1].swing[0] = links[1].swing[1] = 0.5;
    stage s = open_chain(links, 3, 5);
    for (int f = 0; f < 5; ++f) {
        row(s.clip, f)[2] = 0.8;
    }
    poise_pin pin = poise_pin_default();
    poise_pin_report report;
    pin.goal = poise_goal_position(2, poise_vec3_make(0, 0, 0), poise_vec3_make(0, 0, 0));
    pin.target = POISE_PIN_HERE;
    ck_assert_int_eq(poise_clip_pin(s.model, &pin, 1, NULL, s.clip, NULL, NULL, &report, NULL), POISE_OK);
    for (int f = 0; f < 5; ++f) {
        for (int i = 0; i < 4; ++i) {
            ck_assert_double_eq_tol(row(s.clip, f)[i], i == 2 ? 0.8 : 0, 1e-9);
        }
    }
}

// A file whose neutral pose is its first frame: in mid-stride, and with a place of its own for one foot.
TEST(a_mirror_of_who_is_in_mid_stride_in_the_neutral_pose)
{
    static const char *const names[][2] = {{"Hips", NULL},         {"Chest", "Hips"},          {"Head", "Chest"},
                                           {"LeftUpLeg", "Hips"},  {"LeftLeg", "LeftUpLeg"},   {"LeftFoot", "LeftLeg"},
                                           {"RightUpLeg", "Hips"}, {"RightLeg", "RightUpLeg"}, {"RightFoot", "RightLeg"}};
    static const double offsets[][3] = {{0, 1, 0},        {0, 0.4, 0},      {0, 0.2, 0},   {0.1, -0.02, 0}, {0, -0.45, 0},
                                        {0, -0.42, 0.02}, {-0.1, -0.02, 0}, {0, -0.45, 0}, {0, -0.42, 0.02}};
    static const double strides[] = {0, 0, 0, 0.04, -0.03, 0, -0.04, -0.01, 0};
    poise_builder *builder;
    stage s = {.model = NULL};
    ck_assert_int_eq(poise_builder_create(NULL, &builder, NULL), POISE_OK);
    for (size_t k = 0; k < TEST_COUNT(names); ++k) {
        poise_joint joint = poise_joint_default();
        joint.name = names[k][0];
        joint.parent = names[k][1];
        joint.type = k == 0 || k == 8 ? POISE_JOINT_FREE : POISE_JOINT_BALL_QUATERNION;
        joint.offset.position = poise_vec3_make(offsets[k][0], offsets[k][1], offsets[k][2]);
        joint.offset.rotation = (poise_quat){sin(strides[k]), 0, 0, cos(strides[k])};
        ck_assert_int_eq(poise_builder_add_joint(builder, &joint, NULL), POISE_OK);
    }
    ck_assert_int_eq(poise_model_create(builder, NULL, &s.model, NULL), POISE_OK);
    poise_builder_destroy(builder);
    own_model(s.model);
    int nq = poise_model_info(s.model).nq;
    ck_assert_int_eq(poise_clip_create(FRAMES, nq, 0.02, NULL, &s.clip, NULL), POISE_OK);
    own_clip(s.clip);
    for (int f = 0; f < FRAMES; ++f) {
        double *q = s.clip->q + (size_t)f * (size_t)nq;
        poise_model_neutral(s.model, q);
        for (int k = 3; k < 8; ++k) { // legs swing
            double *turn = q + poise_model_joint_info(s.model, k).q, half = 0.1 * sin(0.1 * f + k);
            turn[0] = sin(half);
            turn[3] = cos(half);
        }
    }
    poise_clip *seen = NULL;
    poise_mirror_report report;
    poise_error error = {0};
    ck_assert_msg(poise_clip_mirror(s.model, s.clip, NULL, &seen, &report, &error) == POISE_OK, "%s", error.text);
    own_clip(seen);
    ck_assert_int_eq(report.pairs, 3);
    ck_assert_msg(report.worst_length < 1e-6, "off by %g", report.worst_length);
}
