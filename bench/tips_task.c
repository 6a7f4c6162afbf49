#include "tips_task.h"

#include "bench.h"

#include <poise/io.h>
#include <scenes/scenes.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEAR     0.1
#define AT_LIMIT 0.3 // share of the coordinates

// ---- Robots --------------------------------------------------------------------------------------------------------------

// NULL: it is not there.
static poise_model *read_model(const bench *b, const tips_row *row)
{
    const char *path = bench_data(b, row->file, row->name);
    if (!path) {
        return NULL;
    }
    FILE *file = fopen(path, "rb");
    if (!file) {
        bench_fail("%s: cannot be read", path);
    }
    size_t room = (size_t)1 << 22;
    char *bytes = bench_take(room, 1);
    size_t size = fread(bytes, 1, room, file);
    fclose(file);
    poise_file *read;
    poise_error error = {.text = ""};
    if (poise_read(bytes, size, NULL, NULL, &read, &error) != POISE_OK) {
        bench_fail("%s: %s", path, error.text);
    }
    poise_model *model = read->model;
    read->model = NULL;
    poise_file_destroy(read);
    free(bytes);
    return model;
}

// The same robot with its root free to move.
static poise_model *set_afloat(poise_model *model)
{
    poise_builder *builder;
    poise_model *made = NULL;
    poise_error error = {.text = ""};
    poise_status status = poise_builder_create(NULL, &builder, &error);
    poise_model_summary summary = poise_model_info(model);
    for (int k = 0; k < summary.joints && status == POISE_OK; ++k) {
        poise_joint_info info = poise_model_joint_info(model, k);
        poise_joint joint = *info.given;
        joint.type = info.parent == POISE_WORLD ? POISE_JOINT_FREE : joint.type;
        status = poise_builder_add_joint(builder, &joint, &error);
    }
    for (int k = 0; k < summary.tools && status == POISE_OK; ++k) {
        poise_tool_info info = poise_model_tool_info(model, k);
        poise_tool tool = {info.name, poise_model_joint_info(model, info.body).body, info.pose};
        status = poise_builder_add_tool(builder, &tool, &error);
    }
    status = status == POISE_OK ? poise_model_create(builder, NULL, &made, &error) : status;
    poise_builder_destroy(builder);
    poise_model_destroy(model);
    if (status != POISE_OK) {
        bench_fail("with a free root: %s", error.text);
    }
    return made;
}

// The limits of coordinate i; false where it has not both.
static bool limits_of(const poise_model *model, int i, double *lower, double *upper)
{
    poise_coordinate c = poise_model_coordinate(model, i);
    const poise_joint *given = poise_model_joint_info(model, c.joint).given;
    *lower = given->lower[c.place];
    *upper = given->upper[c.place];
    return isfinite(*lower) && isfinite(*upper);
}

static void set_middle(tips_task *t)
{
    poise_model_neutral(t->model, t->middle);
    for (int i = 0; i < t->nq; ++i) {
        double lower, upper;
        t->middle[i] = limits_of(t->model, i, &lower, &upper) ? 0.5 * (lower + upper) : t->middle[i];
    }
    poise_model_clamp(t->model, t->middle, NULL, NULL);
}

bool tips_open(const bench *b, const tips_row *row, tips_task *task)
{
    poise_model *model = NULL;
    poise_error error = {.text = ""};
    if (row->scene && scene_create(row->scene, NULL, &model, &error) != POISE_OK) {
        bench_fail("%s: %s", row->scene, error.text);
    }
    model = row->scene ? model : read_model(b, row);
    if (!model) {
        return false;
    }
    tips_open_model(row->is_floating ? set_afloat(model) : model, row, task);
    return true;
}

void tips_open_model(poise_model *model, const tips_row *row, tips_task *task)
{
    poise_error error = {.text = ""};
    *task = (tips_task){.row = row, .model = model};
    while (task->count < TIPS_MOST && row->tips[task->count]) {
        int i = task->count++;
        task->bodies[i] = poise_model_find_part(task->model, row->tips[i], &task->locals[i], &error);
        if (task->bodies[i] < 0) {
            bench_fail("%s: %s", row->name, error.text);
        }
    }
    task->nq = poise_model_info(task->model).nq;
    task->middle = bench_take((size_t)task->nq, sizeof(double));
    task->wanted = bench_take((size_t)task->nq, sizeof(double));
    task->q = bench_take((size_t)task->nq, sizeof(double));
    if (poise_kinematics_create(task->model, NULL, &task->kinematics, &error) != POISE_OK) {
        bench_fail("%s: %s", row->name, error.text);
    }
    set_middle(task);
}

void tips_close(tips_task *task)
{
    poise_kinematics_destroy(task->kinematics);
    poise_model_destroy(task->model);
    free(task->middle);
    free(task->wanted);
    free(task->q);
}

// ---- Targets -------------------------------------------------------------------------------------------------------------

static poise_pose pose_of(const tips_task *t, int i)
{
    poise_pose at = poise_kinematics_body_pose(t->kinematics, t->bodies[i]);
    return poise_pose_multiply(at, t->locals[i]);
}

// Some coordinates go to a limit.
static void push_to_limits(tips_task *t, scene_random *random)
{
    for (int i = 0; i < t->nq; ++i) {
        double share = scene_random_uniform(random), side = scene_random_uniform(random), lower, upper;
        bool is_limited = limits_of(t->model, i, &lower, &upper);
        t->wanted[i] = share < AT_LIMIT && is_limited ? (side < 0.5 ? lower : upper) : t->wanted[i];
    }
}

void tips_draw(tips_task *t, tips_targets targets, tips_start start, scene_random *random)
{
    scene_random_configuration(random, t->model, t->wanted);
    if (targets == TIPS_AT_LIMITS) {
        push_to_limits(t, random);
    }
    poise_kinematics_update(t->kinematics, t->wanted, NULL);
    for (int i = 0; i < t->count; ++i) {
        poise_pose target = pose_of(t, i);
        t->goals[i] = t->row->has_points ? poise_goal_position(t->bodies[i], t->locals[i].position, target.position)
                                         : poise_goal_pose(t->bodies[i], t->locals[i], target);
    }
    memcpy(t->q, start == TIPS_NEAR ? t->wanted : t->middle, (size_t)t->nq * sizeof *t->q);
    for (int i = 0; i < t->nq && start == TIPS_NEAR; ++i) {
        t->q[i] += NEAR * (2.0 * scene_random_uniform(random) - 1.0);
    }
    if (start == TIPS_NEAR) {
        poise_model_clamp(t->model, t->q, NULL, NULL);
    }
}

double tips_error(const tips_task *t)
{
    double worst = poise_model_within_limits(t->model, t->q) ? 0.0 : INFINITY;
    poise_kinematics_update(t->kinematics, t->q, NULL);
    for (int i = 0; i < t->count; ++i) {
        poise_pose at = pose_of(t, i), target = t->goals[i].target;
        double x = at.position.x - target.position.x, y = at.position.y - target.position.y;
        double z = at.position.z - target.position.z;
        worst = fmax(worst, sqrt(x * x + y * y + z * z));
        if (!t->row->has_points) {
            poise_quat p = at.rotation, r = target.rotation;
            double same = p.w * r.w + p.x * r.x + p.y * r.y + p.z * r.z;
            // the vector part of conj(p) r: sin of half the angle, without cancellation
            double u = p.w * r.x - p.x * r.w - p.y * r.z + p.z * r.y, v = p.w * r.y - p.y * r.w - p.z * r.x + p.x * r.z;
            double w = p.w * r.z - p.z * r.w - p.x * r.y + p.y * r.x;
            worst = fmax(worst, 2.0 * atan2(sqrt(u * u + v * v + w * w), fabs(same)));
        }
    }
    return worst;
}
