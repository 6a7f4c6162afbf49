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

static poise_retarget_task task_of_files(const poise_file *motion, const poise_file *robot)
{
    poise_retarget_task task = poise_retarget_task_default();
    task.from = motion->model;
    task.clip = motion->clip;
    task.to = robot->model;
    task.from_up = motion->scale.up;
    task.to_up = robot->scale.up;
    task.shapes = robot->shapes;
    task.shape_count = robot->shape_count;
    return task;
}

// H1's ankles do not roll and its hips hardly turn out; G1's shoulders pass through gimbal locks. Bounds are in metres.
TEST_DATA(robots_stand_on_their_feet_at_speeds_that_they_have, "data/urdf/h1.urdf")
{
    static const struct {
        const char *motion, *robot;
        double hips; // mean distance from their path, of the leg
    } rows[] = {{"bvh/three_pirouette.bvh", "urdf/h1.urdf", 0.1},
                {"bvh/cmu_11_01.bvh", "urdf/h1.urdf", 0.05},
                {"bvh/ad_dab.bvh", "urdf/g1_29dof_rev_1_0.urdf", 0.08}};
    for (size_t i = 0; i < TEST_COUNT(rows); ++i) {
        poise_file *motion = io_read_shared(rows[i].motion, POISE_FORMAT_BVH, NULL), *robot = read_robot(rows[i].robot);
        int nv = poise_model_info(robot->model).nv;
        double *velocity = calloc((size_t)nv, sizeof *velocity);
        for (int k = 0; k < poise_model_info(robot->model).joints; ++k) {
            poise_joint_info joint = poise_model_joint_info(robot->model, k);
            for (int v = joint.v; v < joint.v + joint.nv; ++v) {
                velocity[v] = joint.nv == 6 ? INFINITY : joint.given->velocity;
            }
        }
        poise_retarget_task task = task_of_files(motion, robot);
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
TEST_DATA(a_part_of_a_motion_is_taken_as_the_whole_is, "data/urdf/h1.urdf")
{
    enum { PART = 90 };
    poise_file *motion = io_read_shared("bvh/ad_rokoko_jesse_dance.bvh", POISE_FORMAT_BVH, NULL);
    poise_file *robot = read_robot("urdf/g1_29dof_rev_1_0.urdf");
    poise_retarget_task task = task_of_files(motion, robot);
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
TEST_DATA(fingers_of_a_hand_with_numbers_for_names_follow, "data/urdf/allegro_hand_right.urdf")
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
    poise_file *robot = io_read_shared("urdf/allegro_hand_right.urdf", POISE_FORMAT_URDF, NULL);
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
