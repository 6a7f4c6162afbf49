// Retargeting real recordings onto real robots.
#include "support/io_check.h"
#include "support/test_main.h"

#include <poise/retarget.h>
#include <scenes/scenes.h>

#include <math.h>
#include <stdlib.h>

static poise_file *read_robot(const char *path)
{
    io_bytes bytes = io_load(path);
    poise_read_options options = io_options(POISE_FORMAT_URDF, NULL);
    options.floating = true;
    return io_read_with((const char *)bytes.bytes, &options);
}

// ---- Soles ---------------------------------------------------------------------------------------------------------------

// Depth of the deepest corner of the shapes of two bodies below the ground, which is at height 0 of z. `slip` receives how
// fast the lower of two corners of toes moves along the ground while only they rest; `toe` is where those begin.
static double deepest_corner(const poise_file *robot, const char *const feet[2], const poise_clip *clip,
                             const unsigned char *contacts, double toe, double *slip)
{
    poise_kinematics *kin;
    double deepest = -INFINITY;
    *slip = 0.0;
    ck_assert_int_eq(poise_kinematics_create(robot->model, NULL, &kin, NULL), POISE_OK);
    for (int side = 0; side < 2; ++side) {
        int body = poise_model_find_body(robot->model, feet[side]);
        unsigned heel_bit = side == 0 ? POISE_CONTACT_LEFT_HEEL : POISE_CONTACT_RIGHT_HEEL, toe_bit = heel_bit << 1;
        poise_pose before = {.rotation = {0, 0, 0, 1}};
        for (int f = 0; f < clip->frames; ++f) {
            double lowest = INFINITY;
            poise_vec3 touches = {0, 0, 0};
            ck_assert_int_eq(poise_kinematics_update(kin, clip->q + (size_t)f * (size_t)clip->nq, NULL), POISE_OK);
            poise_pose pose = poise_kinematics_body_pose(kin, body);
            for (int i = 0; i < robot->shape_count; ++i) {
                const poise_shape *s = &robot->shapes[i];
                for (int corner = 0; corner < 8 && s->body == body; ++corner) {
                    poise_vec3 at = {corner & 1 ? s->half.x : -s->half.x, corner & 2 ? s->half.y : -s->half.y,
                                     corner & 4 ? s->half.z : -s->half.z};
                    at = poise_pose_transform(s->pose, at);
                    poise_vec3 place = poise_pose_transform(pose, at);
                    place.z -= s->radius;
                    deepest = fmax(deepest, -place.z);
                    if (at.x > toe && place.z < lowest) {
                        lowest = place.z;
                        touches = poise_pose_transform(poise_pose_inverse(pose), place);
                    }
                }
            }
            bool is_on_toes = f > 0 && (contacts[f] & (heel_bit | toe_bit)) == toe_bit &&
                              (contacts[f - 1] & (heel_bit | toe_bit)) == toe_bit;
            poise_vec3 now = poise_pose_transform(pose, touches), then = poise_pose_transform(before, touches);
            *slip = is_on_toes ? fmax(*slip, hypot(now.x - then.x, now.y - then.y) / clip->frame_time) : *slip;
            before = pose;
        }
    }
    poise_kinematics_destroy(kin);
    return deepest;
}

static void add_leg(io_text *out, const char *side, double y)
{
    static const struct {
        const char *name, *parent, *axis, *place;
        double lower, upper;
    } rows[] = {{"hip_pitch", "", "0 1 0", "", -2.5, 2.5},
                {"hip_roll", "hip_pitch", "1 0 0", "0 0 0", -0.8, 0.8},
                {"hip_yaw", "hip_roll", "0 0 1", "0 0 0", -1.5, 1.5},
                {"knee", "hip_yaw", "0 1 0", "0 0 -0.35", 0, 2.6},
                {"ankle_pitch", "knee", "0 1 0", "0 0 -0.35", -1.2, 1.2},
                {"ankle_roll", "ankle_pitch", "1 0 0", "0 0 0", -0.5, 0.5}};
    for (size_t i = 0; i < TEST_COUNT(rows); ++i) {
        io_put(out, "<joint name='%s_%s_joint' type='revolute'><parent link='", side, rows[i].name);
        io_put(out, i == 0 ? "pelvis" : "%s_%s_link", side, rows[i].parent);
        io_put(out, "'/><child link='%s_%s_link'/><axis xyz='%s'/>", side, rows[i].name, rows[i].axis);
        io_put(out, "<limit lower='%g' upper='%g' effort='1' velocity='50'/>", rows[i].lower, rows[i].upper);
        if (i == 0) {
            io_put(out, "<origin xyz='0 %g -0.05'/></joint>", y);
        } else {
            io_put(out, "<origin xyz='%s'/></joint>", rows[i].place);
        }
        io_put(out, "<link name='%s_%s_link'><inertial><origin xyz='0.035 0 -0.02'/><mass value='1'/>", side, rows[i].name);
        io_put(out, "<inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>");
        for (int ball = 0; ball < 4 && i + 1 == TEST_COUNT(rows); ++ball) {
            io_put(out, "<collision><origin xyz='%g %g -0.05'/><geometry><sphere radius='0.01'/></geometry></collision>",
                   ball & 1 ? 0.16 : -0.06, ball & 2 ? 0.04 : -0.03);
        }
        io_put(out, "</link>");
    }
}

// A robot whose feet are four balls each. The centre of their mass is near the ankle, and tells nothing about toes.
TEST(soles_of_shapes_stay_above_the_ground_and_tip_about_their_toes)
{
    enum { FRAMES = 180 };
    static const char *const feet[2] = {"left_ankle_roll_link", "right_ankle_roll_link"};
    io_text text = {.text = NULL};
    io_put(&text, "<robot name='walker'><link name='pelvis'/>");
    add_leg(&text, "left", 0.1);
    add_leg(&text, "right", -0.1);
    io_put(&text, "</robot>");
    poise_read_options options = io_options(POISE_FORMAT_URDF, NULL);
    options.floating = true;
    poise_file *robot = io_read_with(text.text, &options);
    poise_model *human;
    poise_clip *walk, *made;
    ck_assert_int_eq(scene_create("humanoid", NULL, &human, NULL), POISE_OK);
    ck_assert_int_eq(poise_clip_create(FRAMES, poise_model_info(human).nq, 1.0 / 60, NULL, &walk, NULL), POISE_OK);
    for (int f = 0; f < FRAMES; ++f) {
        scene_motion_pose(human, "walk", f / 60.0, walk->q + (size_t)f * (size_t)walk->nq);
    }
    poise_retarget_task task = poise_retarget_task_default();
    task.from = human, task.clip = walk, task.to = robot->model;
    for (int shapes = 0; shapes < 2; ++shapes) {
        poise_retarget_outcome o;
        unsigned char contacts[FRAMES];
        double slip;
        task.shapes = shapes ? robot->shapes : NULL;
        task.shape_count = shapes ? robot->shape_count : 0;
        ck_assert_int_eq(poise_retarget(&task, NULL, &made, contacts, &o, NULL), POISE_OK);
        double deepest = deepest_corner(robot, feet, made, contacts, 0.1, &slip);
        ck_assert(o.planted && o.soles_guessed == !shapes);
        ck_assert_msg(!shapes ||
                          (fabs(o.sunk - deepest) < 1e-9 && deepest < 0.001 && slip < 0.01 && slip <= o.skate_worst + 1e-9),
                      "%g m deep, %g said; toes slip at %g m/s, %g said", deepest, o.sunk, slip, o.skate_worst);
        poise_clip_destroy(made);
    }
    poise_clip_destroy(walk);
    poise_model_destroy(human);
    free(text.text);
}

// G1's feet are four balls, H1's a box. What is said of them is what forward kinematics say.
TEST_DATA(toes_of_robots_stay_above_the_ground, "urdf/h1.urdf")
{
    static const struct {
        const char *motion, *robot, *feet[2];
        double toe, slip;
    } rows[] = {
        {"bvh/cmu_07_05.bvh", "urdf/g1_29dof_rev_1_0.urdf", {"left_ankle_roll_link", "right_ankle_roll_link"}, 0.1, 0.01},
        {"bvh/cmu_09_06.bvh", "urdf/g1_29dof_rev_1_0.urdf", {"left_ankle_roll_link", "right_ankle_roll_link"}, 0.1, 0.01},
        {"bvh/cmu_07_05.bvh", "urdf/h1.urdf", {"left_ankle_link", "right_ankle_link"}, 0.1, 0.03}};
    for (size_t i = 0; i < TEST_COUNT(rows); ++i) {
        poise_file *motion = io_read_data(rows[i].motion, POISE_FORMAT_BVH, NULL), *robot = read_robot(rows[i].robot);
        poise_retarget_task task = poise_retarget_of_files(motion, robot);
        poise_clip *made, *part;
        poise_retarget_outcome o;
        ck_assert_int_eq(poise_clip_trim(motion->clip, 1, motion->clip->frames - 1, NULL, &part, NULL), POISE_OK);
        task.clip = part;
        unsigned char *contacts = calloc((size_t)part->frames, 1);
        double slip;
        ck_assert_int_eq(poise_retarget(&task, NULL, &made, contacts, &o, NULL), POISE_OK);
        double deepest = deepest_corner(robot, rows[i].feet, made, contacts, rows[i].toe, &slip);
        ck_assert_msg(fabs(fmax(o.sunk, 0) - fmax(deepest, 0)) < 1e-9 && deepest < 0.002 && slip < rows[i].slip,
                      "%s onto %s: %g m deep, %g said; toes slip at %g m/s", rows[i].motion, rows[i].robot, deepest, o.sunk,
                      slip);
        free(contacts);
        poise_clip_destroy(part);
        poise_clip_destroy(made);
    }
}

// H1's ankles do not roll and its hips hardly turn out; G1's shoulders pass through gimbal locks. Bounds are in metres.
TEST_DATA(robots_stand_on_their_feet_at_speeds_that_they_have, "urdf/h1.urdf")
{
    static const struct {
        const char *motion, *robot;
        double hips; // mean distance from their path, of the leg
    } rows[] = {{"bvh/three_pirouette.bvh", "urdf/h1.urdf", 0.1},
                {"bvh/cmu_11_01.bvh", "urdf/h1.urdf", 0.05},
                {"bvh/ad_dab.bvh", "urdf/g1_29dof_rev_1_0.urdf", 0.08}};
    for (size_t i = 0; i < TEST_COUNT(rows); ++i) {
        poise_file *motion = io_read_data(rows[i].motion, POISE_FORMAT_BVH, NULL), *robot = read_robot(rows[i].robot);
        int nv = poise_model_info(robot->model).nv;
        double *velocity = calloc((size_t)nv, sizeof *velocity);
        for (int k = 0; k < poise_model_info(robot->model).joints; ++k) {
            poise_joint_info joint = poise_model_joint_info(robot->model, k);
            for (int v = joint.v; v < joint.v + joint.nv; ++v) {
                velocity[v] = joint.nv == 6 ? INFINITY : joint.given->velocity;
            }
        }
        poise_retarget_task task = poise_retarget_of_files(motion, robot);
        task.velocity = velocity;
        poise_clip *made;
        poise_retarget_outcome o;
        ck_assert_int_eq(poise_retarget(&task, NULL, &made, NULL, &o, NULL), POISE_OK);
        ck_assert_msg(o.sunk < 0.002 && o.skate_mean < 0.003 && o.jumps == 0 && o.outside == 0 && o.velocity <= 1 + 1e-9 &&
                          o.hips_mean < rows[i].hips * o.leg,
                      "%s: sunk %g, skate %g, jumps %d, velocity %g, hips %g", rows[i].motion, o.sunk, o.skate_mean, o.jumps,
                      o.velocity, o.hips_mean / o.leg);
        poise_clip_destroy(made);
        free(velocity);
    }
}

// The rest pose of a file that has none is a frame of the whole motion, whichever part of it is retargeted.
TEST_DATA(a_part_of_a_motion_is_taken_as_the_whole_is, "urdf/h1.urdf")
{
    enum { PART = 90 };
    poise_file *motion = io_read_data("bvh/ad_rokoko_jesse_dance.bvh", POISE_FORMAT_BVH, NULL);
    poise_file *robot = read_robot("urdf/g1_29dof_rev_1_0.urdf");
    poise_retarget_task task = poise_retarget_of_files(motion, robot);
    poise_clip *parts[2], *made[2];
    task.feet = POISE_FEET_FOLLOW;
    task.from_clip = motion->clip;
    for (int i = 0; i < 2; ++i) {
        int frames = i == 0 ? PART : motion->clip->frames;
        ck_assert_int_eq(poise_clip_trim(motion->clip, 0, frames, NULL, &parts[i], NULL), POISE_OK);
        task.clip = parts[i];
        ck_assert_int_eq(poise_retarget(&task, NULL, &made[i], NULL, NULL, NULL), POISE_OK);
    }
    for (int k = 7; k < made[0]->nq; ++k) {
        ck_assert_double_eq_tol(made[0]->q[k], made[1]->q[k], 1e-6);
    }
    for (int i = 0; i < 2; ++i) {
        poise_clip_destroy(made[i]);
        poise_clip_destroy(parts[i]);
    }
}

// Allegro's links are only numbered: fingers from the index on, then the thumb. A finger that bends is followed by its own.
TEST_DATA(fingers_of_a_hand_with_numbers_for_names_follow, "urdf/allegro_hand_right.urdf")
{
    enum { FRAMES = 20 };
    static const struct {
        int role;
        const char *body;
    } rows[] = {{POISE_ROLE_INDEX, "link_1.0"},
                {POISE_ROLE_INDEX + 2, "link_3.0"},
                {POISE_ROLE_MIDDLE, "link_5.0"},
                {POISE_ROLE_RING, "link_9.0"},
                {POISE_ROLE_THUMB + 2, "link_15.0"}};
    poise_file *robot = io_read_data("urdf/allegro_hand_right.urdf", POISE_FORMAT_URDF, NULL);
    poise_model *hand;
    poise_clip *clip, *made;
    ck_assert_int_eq(scene_create("hand", NULL, &hand, NULL), POISE_OK);
    ck_assert_int_eq(poise_clip_create(FRAMES, poise_model_info(hand).nq, 1.0 / 30, NULL, &clip, NULL), POISE_OK);
    int bend = poise_model_joint_info(hand, poise_model_find_body(hand, "index_knuckle")).q + 1;
    for (int f = 0; f < FRAMES; ++f) {
        poise_model_neutral(hand, clip->q + f * clip->nq);
        clip->q[f * clip->nq + bend] = 1.0 * f / (FRAMES - 1);
    }
    poise_retarget_task task = poise_retarget_task_default();
    task.from = hand;
    task.clip = clip;
    task.to = robot->model;
    poise_role_map map;
    ck_assert_int_eq(poise_roles_match(&task, NULL, &map, NULL), POISE_OK);
    for (size_t i = 0; i < TEST_COUNT(rows); ++i) {
        int body = map.role[rows[i].role + POISE_ROLE_SIDE].to;
        ck_assert_str_eq(body >= 0 ? poise_model_joint_info(robot->model, body).body : "nobody", rows[i].body);
    }
    task.map = &map;
    ck_assert_int_eq(poise_retarget(&task, NULL, &made, NULL, NULL, NULL), POISE_OK);
    const double *last = made->q + (FRAMES - 1) * made->nq;
    for (int k = 1; k <= 9; k += 4) {
        char name[16] = {'l', 'i', 'n', 'k', '_', (char)('0' + k), '.', '0', '\0'};
        int q = poise_model_joint_info(robot->model, poise_model_find_body(robot->model, name)).q;
        ck_assert_double_eq_tol(last[q] - made->q[q], k == 1 ? 1.0 : 0.0, 0.1);
    }
    poise_clip_destroy(made);
    poise_clip_destroy(clip);
    poise_model_destroy(hand);
}
