#include "marker_task.h"

#include <scenes/random.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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

#define FREE                                                                                                                \
    POISE_JOINT_FREE_EXPMAP,                                                                                                \
    {                                                                                                                       \
        0, 0, 1                                                                                                             \
    }
#define BALL                                                                                                                \
    POISE_JOINT_BALL_EXPMAP,                                                                                                \
    {                                                                                                                       \
        0, 0, 1                                                                                                             \
    }
#define HINGE(x, y, z)                                                                                                      \
    POISE_JOINT_REVOLUTE,                                                                                                   \
    {                                                                                                                       \
        x, y, z                                                                                                             \
    }

// A body made up for this benchmark, without limits: a T at q = 0, y up, x forwards, z to the right.
static const struct {
    const char *name, *parent;
    poise_vec3 offset;
    poise_joint_type type;
    poise_vec3 axis;
} bodies[] = {
    {"pelvis", NULL, {0, 0.95, 0}, FREE},
    {"lumbar", "pelvis", {0, 0.1, 0}, BALL},
    {"thorax", "lumbar", {0, 0.16, 0}, BALL},
    {"neck", "thorax", {0, 0.24, 0}, BALL},
    {"head", "neck", {0, 0.1, 0}, BALL},
    {"r_clavicle", "thorax", {0, 0.19, 0.03}, BALL},
    {"r_upperarm", "r_clavicle", {0, 0, 0.15}, BALL},
    {"r_ulna", "r_upperarm", {0, 0, 0.29}, HINGE(0, 1, 0)},
    {"r_radius", "r_ulna", {0, 0, 0.04}, HINGE(0, 0, 1)},
    {"r_wrist", "r_radius", {0, 0, 0.21}, HINGE(1, 0, 0)},
    {"r_hand", "r_wrist", {0, 0, 0}, HINGE(0, 1, 0)},
    {"r_fingers", "r_hand", {0, 0, 0.09}, HINGE(1, 0, 0)},
    {"r_thumb", "r_hand", {0.03, 0, 0.03}, HINGE(0, 1, 0)},
    {"l_clavicle", "thorax", {0, 0.19, -0.03}, BALL},
    {"l_upperarm", "l_clavicle", {0, 0, -0.15}, BALL},
    {"l_ulna", "l_upperarm", {0, 0, -0.29}, HINGE(0, 1, 0)},
    {"l_radius", "l_ulna", {0, 0, -0.04}, HINGE(0, 0, 1)},
    {"l_wrist", "l_radius", {0, 0, -0.21}, HINGE(1, 0, 0)},
    {"l_hand", "l_wrist", {0, 0, 0}, HINGE(0, 1, 0)},
    {"l_fingers", "l_hand", {0, 0, -0.09}, HINGE(1, 0, 0)},
    {"l_thumb", "l_hand", {0.03, 0, -0.03}, HINGE(0, 1, 0)},
    {"r_thigh", "pelvis", {0, -0.06, 0.09}, BALL},
    {"r_shank", "r_thigh", {0, -0.42, 0}, HINGE(0, 0, 1)},
    {"r_foot", "r_shank", {0, -0.42, 0}, BALL},
    {"r_toes", "r_foot", {0.14, -0.05, 0}, HINGE(0, 0, 1)},
    {"l_thigh", "pelvis", {0, -0.06, -0.09}, BALL},
    {"l_shank", "l_thigh", {0, -0.42, 0}, HINGE(0, 0, 1)},
    {"l_foot", "l_shank", {0, -0.42, 0}, BALL},
    {"l_toes", "l_foot", {0.14, -0.05, 0}, HINGE(0, 0, 1)},
};

// Its markers, in the frames of the bodies.
static const struct {
    const char *body;
    poise_vec3 local;
} markers[] = {
    {"pelvis", {0.08, 0.02, 0.13}},       {"pelvis", {0.08, 0.02, -0.13}},  {"pelvis", {-0.12, 0.04, 0.05}},
    {"pelvis", {-0.12, 0.04, -0.05}},     {"lumbar", {-0.11, 0.08, 0}},     {"thorax", {0.1, 0.15, 0}},
    {"thorax", {0.09, -0.02, 0}},         {"thorax", {-0.12, 0.12, 0.03}},  {"neck", {-0.06, 0.02, 0}},
    {"head", {0.09, 0.12, 0.07}},         {"head", {0.09, 0.12, -0.07}},    {"head", {-0.09, 0.1, 0.07}},
    {"head", {-0.09, 0.1, -0.07}},        {"r_clavicle", {0, 0.03, 0.13}},  {"r_upperarm", {0.04, 0.02, 0.12}},
    {"r_upperarm", {-0.03, 0.03, 0.26}},  {"r_radius", {0.03, 0.02, 0.1}},  {"r_radius", {-0.02, 0.01, 0.19}},
    {"r_hand", {0.03, 0.01, 0.08}},       {"r_hand", {-0.03, 0.01, 0.07}},  {"r_fingers", {0, 0.01, 0.06}},
    {"r_thumb", {0.01, 0, 0.05}},         {"l_clavicle", {0, 0.03, -0.13}}, {"l_upperarm", {0.04, 0.02, -0.12}},
    {"l_upperarm", {-0.03, 0.03, -0.26}}, {"l_radius", {0.03, 0.02, -0.1}}, {"l_radius", {-0.02, 0.01, -0.19}},
    {"l_hand", {0.03, 0.01, -0.08}},      {"l_hand", {-0.03, 0.01, -0.07}}, {"l_fingers", {0, 0.01, -0.06}},
    {"l_thumb", {0.01, 0, -0.05}},        {"r_thigh", {0.03, -0.22, 0.08}}, {"r_shank", {0.02, 0, 0.06}},
    {"r_shank", {0.05, -0.25, 0.03}},     {"r_foot", {-0.05, -0.03, 0.01}}, {"r_toes", {0.05, 0.01, 0}},
    {"l_thigh", {0.03, -0.22, -0.08}},    {"l_shank", {0.02, 0, -0.06}},    {"l_shank", {0.05, -0.25, -0.03}},
    {"l_foot", {-0.05, -0.03, -0.01}},    {"l_toes", {0.05, 0.01, 0}},
};

static poise_model *make_body(void)
{
    poise_builder *builder;
    poise_model *model;
    poise_error error = {.text = "out of memory"};
    require(poise_builder_create(NULL, &builder, NULL), &error);
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; ++i) {
        poise_joint joint = poise_joint_default();
        joint.name = bodies[i].name;
        joint.parent = bodies[i].parent;
        joint.type = bodies[i].type;
        joint.offset.position = bodies[i].offset;
        joint.axis = bodies[i].axis;
        require(poise_builder_add_joint(builder, &joint, &error), &error);
    }
    require(poise_model_create(builder, NULL, &model, &error), &error);
    poise_builder_destroy(builder);
    return model;
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

static void take_markers(marker_task *task)
{
    task->marker_count = (int)(sizeof markers / sizeof markers[0]);
    task->markers = take((size_t)task->marker_count, sizeof *task->markers);
    for (int i = 0; i < task->marker_count; ++i) {
        task->markers[i].body = poise_model_find_body(task->model, markers[i].body);
        task->markers[i].local = markers[i].local;
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

void marker_task_swing(int frames, double sigma, marker_task *task)
{
    *task = (marker_task){.name = "swing"};
    take_model(task, make_body(), frames);
    take_markers(task);
    swing_every_coordinate(task);
    see(task, sigma);
}

void marker_task_scene(const char *motion, int frames, double sigma, marker_task *task)
{
    static const char scene[] = "humanoid";
    poise_model *model;
    poise_error error;
    require(scene_create(scene, NULL, &model, &error), &error);
    *task = (marker_task){.name = motion};
    take_model(task, model, frames);
    task->marker_count = scene_marker_count(scene);
    task->markers = take((size_t)task->marker_count, sizeof *task->markers);
    scene_markers(scene, task->markers, task->marker_count);
    for (int t = 0; t < frames; ++t) {
        scene_motion_pose(model, motion, t * FRAME_TIME, task->truth + (size_t)t * (size_t)task->nq);
    }
    see(task, sigma);
}

void marker_task_free(marker_task *task)
{
    poise_model_destroy(task->model);
    free(task->markers);
    free(task->q);
    free(task->truth);
    free(task->seen);
}
