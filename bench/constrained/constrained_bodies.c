// Two arms and humanoids that keep clear of themselves, and one that stands on both feet. The scene "android" has shapes of its
// own; files of others have meshes, and a capsule along each link stands for them.
#include "constrained_task.h"

#include "../bench.h"

#include <scenes/android.h>

#include <string.h>

#define SHAPES     64
#define NEIGHBOURS 3 // clusters of short hinges touch by design

static const tips_row android = {
    .name = "android", .scene = "android", .tips = {"left_palm", "right_palm", "left_sole", "right_sole"}};
static const tips_row android_afloat = {.name = "android F",
                                        .scene = "android",
                                        .is_floating = true,
                                        .tips = {"left_palm", "right_palm", "left_sole", "right_sole"}};
static const tips_row baxter = {.name = "Baxter", .file = "urdf/baxter.urdf", .tips = {"left_hand_link", "right_hand_link"}};
static const tips_row g1 = {
    .name = "G1",
    .file = "urdf/g1_29dof_rev_1_0.urdf",
    .tips = {"left_wrist_yaw_link", "right_wrist_yaw_link", "left_ankle_roll_link", "right_ankle_roll_link"}};
static const tips_row g1_afloat = {
    .name = "G1 F",
    .file = "urdf/g1_29dof_rev_1_0.urdf",
    .is_floating = true,
    .tips = {"left_wrist_yaw_link", "right_wrist_yaw_link", "left_ankle_roll_link", "right_ankle_roll_link"}};

static bool open_body(constrained_task *task, const bench *b, const tips_row *row)
{
    *task = (constrained_task){.count = 0};
    if (!tips_open(b, row, &task->tips)) {
        return false;
    }
    constrained_take_shapes(task, SHAPES);
    if (row->scene) {
        android_shapes(task->tips.model, task->shapes);
        task->shape_count = ANDROID_SHAPES;
    } else {
        constrained_add_links(task, 0.06);
    }
    constrained_keep_apart(task, 0, NEIGHBOURS, NULL, 0);
    return true;
}

static bool open_android(constrained_task *task, const bench *b)
{
    return open_body(task, b, &android);
}

static bool open_android_afloat(constrained_task *task, const bench *b)
{
    return open_body(task, b, &android_afloat);
}

static bool open_baxter(constrained_task *task, const bench *b)
{
    return open_body(task, b, &baxter);
}

static bool open_g1(constrained_task *task, const bench *b)
{
    return open_body(task, b, &g1);
}

static bool open_g1_afloat(constrained_task *task, const bench *b)
{
    return open_body(task, b, &g1_afloat);
}

// ---- Standing ------------------------------------------------------------------------------------------------------------

// Both feet welded to where they are at rest, the centre of mass above the four corners of the feet: the last two tips.
static bool open_standing(constrained_task *task, const bench *b, const tips_row *row)
{
    if (!open_body(task, b, row)) {
        return false;
    }
    tips_task *t = &task->tips;
    poise_model_neutral(t->model, t->middle);
    poise_model_clamp(t->model, t->middle, NULL, NULL);
    poise_kinematics_update(t->kinematics, t->middle, NULL);
    for (int i = 0; i < 2; ++i) {
        poise_constraint *weld = constrained_add(task, POISE_CONSTRAINT_WELD);
        weld->body = t->bodies[2 + i];
        weld->target = poise_kinematics_body_pose(t->kinematics, weld->body);
        poise_vec3 at = weld->target.position; // the left foot has the larger y
        double side = i == 0 ? 0.03 : -0.03;
        task->polygon[i == 0 ? 2 : 1] = poise_vec3_make(at.x + 0.12, at.y + side, 0);
        task->polygon[i == 0 ? 3 : 0] = poise_vec3_make(at.x - 0.05, at.y + side, 0);
    }
    poise_constraint *balance = constrained_add(task, POISE_CONSTRAINT_BALANCE);
    balance->polygon = task->polygon;
    balance->corner_count = 4;
    task->posture = bench_take((size_t)t->nq, sizeof(double));
    memcpy(task->posture, t->middle, (size_t)t->nq * sizeof(double));
    return true;
}

static bool open_android_standing(constrained_task *task, const bench *b)
{
    return open_standing(task, b, &android_afloat);
}

static bool open_g1_standing(constrained_task *task, const bench *b)
{
    return open_standing(task, b, &g1_afloat);
}

// Both hands somewhere in front, from standing at rest.
static void draw_standing(constrained_task *task, int frame, scene_random *random)
{
    (void)frame;
    tips_task *t = &task->tips;
    memcpy(t->q, t->middle, (size_t)t->nq * sizeof(double));
    for (int i = 0; i < 2; ++i) {
        poise_vec3 at = {scene_random_range(random, 0.1, 0.7), (i == 0 ? 1 : -1) * scene_random_range(random, 0, 0.5),
                         scene_random_range(random, -0.5, 0.5)};
        task->goals[i] = poise_goal_position(t->bodies[i], t->locals[i].position, at);
    }
    task->goals[2] = poise_goal_posture(task->posture, 1e-4);
    task->goal_count = 3;
}

const constrained_row constrained_bodies[] = {
    {"android", open_android, constrained_draw_free, POISE_START_COLD, 200, 1e-6, false},
    {"android F", open_android_afloat, constrained_draw_free, POISE_START_COLD, 100, 1e-6, false},
    {"Baxter", open_baxter, constrained_draw_free, POISE_START_COLD, 100, 1e-6, true},
    {"G1", open_g1, constrained_draw_free, POISE_START_COLD, 200, 1e-6, false},
    {"G1 F", open_g1_afloat, constrained_draw_free, POISE_START_COLD, 100, 1e-6, false},
    {.name = NULL}};

const constrained_row constrained_standing[] = {
    {"android F", open_android_standing, draw_standing, POISE_START_WARM, 0, 1e-6, false},
    {"G1 F", open_g1_standing, draw_standing, POISE_START_WARM, 0, 1e-6, false},
    {.name = NULL}};
