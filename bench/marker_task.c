#include "marker_task.h"

#include <scenes/random.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PI          3.14159265358979323846
#define FRAME_TIME  0.01 // seconds
#define MOTION_SEED 777
#define NOISE_SEED  999

static void *take(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    if (!memory) {
        fprintf(stderr, "out of memory\n");
        exit(2);
    }
    return memory;
}

static void require(poise_status status, const poise_error *error)
{
    if (status != POISE_OK) {
        fprintf(stderr, "%s\n", error->text);
        exit(2);
    }
}

// ---- Skeleton ------------------------------------------------------------------------------------------------------------

static void add_body(poise_builder *builder, const char *name, const char *parent, const char *kind, const double *number)
{
    poise_joint joint = poise_joint_default();
    poise_error error;
    joint.name = name;
    joint.parent = strcmp(parent, "world") == 0 ? NULL : parent;
    joint.offset.position = poise_vec3_make(number[0], number[1], number[2]);
    joint.type = strcmp(kind, "free") == 0   ? POISE_JOINT_FREE_EXPMAP
                 : strcmp(kind, "ball") == 0 ? POISE_JOINT_BALL_EXPMAP
                                             : POISE_JOINT_REVOLUTE;
    if (joint.type == POISE_JOINT_REVOLUTE) {
        joint.axis = poise_vec3_make(number[3], number[4], number[5]);
    }
    require(poise_builder_add_joint(builder, &joint, &error), &error);
}

// Markers are tools of the model until their bodies have indices.
static void add_marker(poise_builder *builder, const char *body, const double *number, int index)
{
    char name[16];
    snprintf(name, sizeof name, "m%d", index);
    poise_tool tool = {.name = name, .body = body, .pose.rotation = {0, 0, 0, 1}};
    tool.pose.position = poise_vec3_make(number[0], number[1], number[2]);
    poise_error error;
    require(poise_builder_add_tool(builder, &tool, &error), &error);
}

static void read_lines(FILE *file, poise_builder *builder)
{
    char line[256], name[64], parent[64], kind[16];
    double x[6];
    for (int markers = 0; fgets(line, sizeof line, file);) {
        int found = sscanf(line, "body %63s %63s %15s %lf %lf %lf %lf %lf %lf", name, parent, kind, &x[0], &x[1], &x[2],
                           &x[3], &x[4], &x[5]);
        if (found >= 6) {
            add_body(builder, name, parent, kind, x);
        } else if (sscanf(line, "marker %63s %lf %lf %lf", name, &x[0], &x[1], &x[2]) == 4) {
            add_marker(builder, name, x, markers++);
        }
    }
}

static void take_model(marker_task *task, poise_model *model, int frames)
{
    task->model = model;
    task->nq = poise_model_info(model).nq;
    task->nv = poise_model_info(model).nv;
    task->frame_count = frames;
    task->q = take((size_t)task->nq, sizeof *task->q);
    poise_model_neutral(model, task->q);
    task->truth = take((size_t)frames * (size_t)task->nq, sizeof *task->truth);
}

static void take_tools_as_markers(marker_task *task)
{
    task->marker_count = poise_model_info(task->model).tools;
    task->markers = take((size_t)task->marker_count, sizeof *task->markers);
    for (int i = 0; i < task->marker_count; ++i) {
        task->markers[i].body = poise_model_tool_info(task->model, i).body;
        task->markers[i].local = poise_model_tool_info(task->model, i).pose.position;
    }
}

// ---- Motion --------------------------------------------------------------------------------------------------------------

// Coordinates of a free root are drawn rotation first; in q the translation comes first.
static int drawn_coordinate(poise_joint_type type, int begin, int i)
{
    return type == POISE_JOINT_FREE_EXPMAP ? begin + (i + 3) % 6 : begin + i;
}

static double amplitude(poise_joint_type type, int i)
{
    return type == POISE_JOINT_BALL_EXPMAP ? 0.35 : type == POISE_JOINT_FREE_EXPMAP && i >= 3 ? 0.3 : 0.5;
}

static double draw(scene_random *random, double low, double high)
{
    return low + (high - low) * scene_random_uniform(random);
}

static void swing_every_coordinate(marker_task *task)
{
    scene_random random = scene_random_make(MOTION_SEED);
    for (int k = 0; k < poise_model_info(task->model).joints; ++k) {
        poise_joint_type type = poise_model_joint_info(task->model, k).type;
        int begin = poise_model_joint_info(task->model, k).q, count = poise_model_joint_info(task->model, k).nq;
        for (int i = 0; i < count; ++i) {
            double f = draw(&random, 0.3, 1.2), phase = draw(&random, 0.0, 2.0 * PI);
            double *q = task->truth + drawn_coordinate(type, begin, i);
            for (int t = 0; t < task->frame_count; ++t) {
                q[t * task->nq] = amplitude(type, i) * sin(2.0 * PI * f * t * FRAME_TIME + phase);
            }
        }
    }
}

// Box and Muller's normal number, the cosine of the two.
static double gauss(scene_random *random)
{
    double u = scene_random_uniform(random), v = scene_random_uniform(random);
    return sqrt(-2.0 * log(u + 1e-300)) * cos(2.0 * PI * v);
}

void marker_task_points(const marker_task *task, poise_kinematics *kinematics, const double *q, poise_vec3 *points)
{
    poise_kinematics_update(kinematics, q, NULL);
    for (int i = 0; i < task->marker_count; ++i) {
        points[i] = poise_kinematics_point(kinematics, task->markers[i].body, task->markers[i].local);
    }
}

static void see(marker_task *task, double sigma)
{
    scene_random random = scene_random_make(NOISE_SEED);
    poise_kinematics *kinematics;
    poise_error error = {.text = "out of memory"};
    require(poise_kinematics_create(task->model, NULL, &kinematics, NULL), &error);
    task->seen = take((size_t)task->frame_count * (size_t)task->marker_count, sizeof *task->seen);
    for (int t = 0; t < task->frame_count; ++t) {
        poise_vec3 *x = task->seen + (size_t)t * (size_t)task->marker_count;
        marker_task_points(task, kinematics, task->truth + (size_t)t * (size_t)task->nq, x);
        for (int i = 0; i < task->marker_count; ++i) {
            x[i].x += sigma * gauss(&random);
            x[i].y += sigma * gauss(&random);
            x[i].z += sigma * gauss(&random);
        }
    }
    poise_kinematics_destroy(kinematics);
}

// ---- Tasks ---------------------------------------------------------------------------------------------------------------

bool marker_task_read(const char *path, int frames, double sigma, marker_task *task)
{
    FILE *file = fopen(path, "r");
    if (!file) {
        return false;
    }
    poise_builder *builder;
    poise_model *model;
    poise_error error = {.text = "out of memory"};
    require(poise_builder_create(NULL, &builder, NULL), &error);
    read_lines(file, builder);
    fclose(file);
    require(poise_model_create(builder, NULL, &model, &error), &error);
    poise_builder_destroy(builder);

    *task = (marker_task){.name = ""};
    take_model(task, model, frames);
    take_tools_as_markers(task);
    swing_every_coordinate(task);
    see(task, sigma);
    snprintf(task->name, sizeof task->name, "%.90s", path);
    return true;
}

void marker_task_scene(const char *motion, int frames, double sigma, marker_task *task)
{
    static const char scene[] = "humanoid";
    poise_model *model;
    poise_error error;
    require(scene_create(scene, NULL, &model, &error), &error);
    *task = (marker_task){.name = ""};
    take_model(task, model, frames);
    task->marker_count = scene_marker_count(scene);
    task->markers = take((size_t)task->marker_count, sizeof *task->markers);
    scene_markers(scene, task->markers, task->marker_count);
    for (int t = 0; t < frames; ++t) {
        scene_motion_pose(model, motion, t * FRAME_TIME, task->truth + (size_t)t * (size_t)task->nq);
    }
    see(task, sigma);
    snprintf(task->name, sizeof task->name, "scene %s, motion %s", scene, motion);
}

void marker_task_free(marker_task *task)
{
    poise_model_destroy(task->model);
    free(task->markers);
    free(task->q);
    free(task->truth);
    free(task->seen);
}
