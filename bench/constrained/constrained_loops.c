// Closed mechanisms that move a little from frame to frame: a four-bar, a Delta robot, a Stewart platform, Cassie's legs.
#include "constrained_task.h"

#include "../bench.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PI 3.14159265358979323846

static double turn_of(int frame, int period)
{
    return 2 * PI * frame / period;
}

// ---- Builders ------------------------------------------------------------------------------------------------------------

static poise_builder *begin_model(void)
{
    poise_builder *builder;
    poise_error error = {.text = ""};
    if (poise_builder_create(NULL, &builder, &error) != POISE_OK) {
        bench_fail("%s", error.text);
    }
    return builder;
}

static void add_joint(poise_builder *builder, const char *name, const char *parent, poise_joint_type type, poise_vec3 at,
                      poise_vec3 axis)
{
    poise_joint joint = poise_joint_default();
    poise_error error = {.text = ""};
    joint.name = name;
    joint.parent = parent;
    joint.type = type;
    joint.offset.position = at;
    joint.axis = axis;
    joint.axis2 = poise_vec3_make(0, 1, 0);
    if (poise_builder_add_joint(builder, &joint, &error) != POISE_OK) {
        bench_fail("%s: %s", name, error.text);
    }
}

static void end_model(constrained_task *task, poise_builder *builder, const tips_row *row)
{
    poise_model *model = NULL;
    poise_error error = {.text = ""};
    if (poise_model_create(builder, NULL, &model, &error) != POISE_OK) {
        bench_fail("%s: %s", row->name, error.text);
    }
    poise_builder_destroy(builder);
    *task = (constrained_task){.count = 0};
    tips_open_model(model, row, &task->tips);
    task->posture = bench_take((size_t)task->tips.nq, sizeof(double));
    task->weights = bench_take((size_t)task->tips.nq, sizeof(double));
}

static poise_constraint *tie(constrained_task *task, poise_constraint_kind kind, const char *body, poise_vec3 at,
                             const char *body2, poise_vec3 at2)
{
    poise_constraint *made = constrained_add(task, kind);
    made->body = constrained_body(task, body);
    made->body2 = body2 ? constrained_body(task, body2) : POISE_WORLD;
    made->local.position = at;
    made->target.position = at2;
    return made;
}

// ---- Four bars: crank 0.2, coupler 0.5, rocker 0.4, ground 0.5 -----------------------------------------------------------

static const poise_vec3 X = {1, 0, 0}, Y = {0, 1, 0}, Z = {0, 0, 1}, ZERO = {0, 0, 0};

static bool open_four_bar(constrained_task *task, const bench *b)
{
    static const tips_row row = {.name = "four-bar"};
    static const double start[3] = {0.3, 0.6, 1.5};
    (void)b;
    poise_builder *builder = begin_model();
    add_joint(builder, "crank", NULL, POISE_JOINT_REVOLUTE, ZERO, Z);
    add_joint(builder, "coupler", "crank", POISE_JOINT_REVOLUTE, poise_vec3_make(0.2, 0, 0), Z);
    add_joint(builder, "rocker", NULL, POISE_JOINT_REVOLUTE, poise_vec3_make(0.5, 0, 0), Z);
    end_model(task, builder, &row);
    tie(task, POISE_CONSTRAINT_CONNECT, "coupler", poise_vec3_make(0.5, 0, 0), "rocker", poise_vec3_make(0.4, 0, 0));
    memcpy(task->tips.q, start, sizeof start);
    task->weights[0] = 1;
    return true;
}

static void draw_crank(constrained_task *task, int frame, scene_random *random)
{
    (void)random;
    task->posture[0] = 0.3 + turn_of(frame, 120);
    task->goals[0] = poise_goal_posture(task->posture, 1.0);
    task->goals[0].q_weights = task->weights;
    task->goal_count = 1;
}

// A point of the coupler towards a path that one degree of freedom does not meet.
static void draw_coupler(constrained_task *task, int frame, scene_random *random)
{
    (void)random;
    double at = turn_of(frame, 120);
    task->goals[0] = poise_goal_position(task->given[0].body, poise_vec3_make(0.25, 0.2, 0),
                                         poise_vec3_make(0.2 + 0.2 * cos(at), 0.3 + 0.2 * sin(at), 0));
    task->goal_count = 1;
}

// ---- Delta: three cranks, six rods, a plate that only shifts -------------------------------------------------------------

#define DELTA_BASE  0.2
#define DELTA_PLATE 0.06
#define DELTA_CRANK 0.2
#define DELTA_ROD   0.45

static bool open_delta(constrained_task *task, const bench *b)
{
    static const tips_row row = {.name = "Delta"};
    static const char *const cranks[] = {"crank1", "crank2", "crank3"};
    (void)b;
    poise_builder *builder = begin_model();
    for (int i = 0; i < 3; ++i) {
        double c = cos(turn_of(i, 3)), s = sin(turn_of(i, 3));
        add_joint(builder, cranks[i], NULL, POISE_JOINT_REVOLUTE, poise_vec3_make(DELTA_BASE * c, DELTA_BASE * s, 0),
                  poise_vec3_make(-s, c, 0));
    }
    add_joint(builder, "plate", NULL, POISE_JOINT_TRANSLATION, ZERO, Z);
    end_model(task, builder, &row);
    for (int i = 0; i < 6; ++i) {
        double c = cos(turn_of(i / 2, 3)), s = sin(turn_of(i / 2, 3)), side = i % 2 == 0 ? 0.04 : -0.04;
        poise_vec3 elbow = {DELTA_CRANK * c - side * s, DELTA_CRANK * s + side * c, 0};
        poise_vec3 wrist = {DELTA_PLATE * c - side * s, DELTA_PLATE * s + side * c, 0};
        poise_constraint *rod = tie(task, POISE_CONSTRAINT_DISTANCE, cranks[i / 2], elbow, "plate", wrist);
        rod->lower = rod->upper = DELTA_ROD;
    }
    task->tips.q[5] = -0.35;
    return true;
}

static void draw_delta(constrained_task *task, int frame, scene_random *random)
{
    (void)random;
    double at = turn_of(frame, 400);
    task->goals[0] =
        poise_goal_position(3, ZERO, poise_vec3_make(0.08 * cos(at), 0.08 * sin(at), -0.36 + 0.03 * sin(3 * at)));
    task->goal_count = 1;
}

// ---- Stewart: a plate on six legs, each a universal joint and a slide ----------------------------------------------------

static poise_vec3 on_circle(double radius, double angle)
{
    return poise_vec3_make(radius * cos(angle), radius * sin(angle), 0);
}

static bool open_stewart(constrained_task *task, const bench *b)
{
    static const tips_row row = {.name = "Stewart"};
    char foot[16], leg[16];
    (void)b;
    poise_builder *builder = begin_model();
    add_joint(builder, "plate", NULL, POISE_JOINT_FREE, ZERO, Z);
    for (int i = 0; i < 6; ++i) {
        snprintf(foot, sizeof foot, "foot%d", i);
        snprintf(leg, sizeof leg, "leg%d", i);
        add_joint(builder, foot, NULL, POISE_JOINT_UNIVERSAL, on_circle(0.5, turn_of(i / 2, 3) + (i % 2 ? 0.3 : -0.3)), X);
        add_joint(builder, leg, foot, POISE_JOINT_PRISMATIC, poise_vec3_make(0, 0, 0.6), Z);
    }
    end_model(task, builder, &row);
    for (int i = 0; i < 6; ++i) {
        snprintf(leg, sizeof leg, "leg%d", i);
        double at = turn_of(i / 2, 3) + (i % 2 ? PI / 3 - 0.3 : 0.3 - PI / 3);
        tie(task, POISE_CONSTRAINT_CONNECT, leg, ZERO, "plate", on_circle(0.3, at));
    }
    poise_model_neutral(task->tips.model, task->tips.q);
    task->tips.q[2] = 0.6;
    return true;
}

static void draw_stewart(constrained_task *task, int frame, scene_random *random)
{
    (void)random;
    double at = turn_of(frame, 400);
    poise_quat turn =
        poise_quat_multiply(poise_quat_from_axis_angle(X, 0.15 * sin(at)), poise_quat_from_axis_angle(Y, 0.15 * cos(at)));
    poise_pose target = {turn, {0.08 * cos(at), 0.08 * sin(at), 0.6 + 0.05 * sin(2 * at)}};
    task->goals[0] = poise_goal_pose(0, poise_pose_identity(), target);
    task->goal_count = 1;
}

// ---- Cassie: a rod in each leg, pelvis and toes given --------------------------------------------------------------------

static void bend_leg(constrained_task *task, const char *side)
{
    static const struct {
        const char *joint;
        double angle;
    } legs[] = {{"hip_pitch", 0.5}, {"knee", -1.2}, {"ankle_joint", 1.4}, {"toe", -1.5}};
    for (size_t i = 0; i < sizeof legs / sizeof legs[0]; ++i) {
        char name[48];
        snprintf(name, sizeof name, "%s_%s", legs[i].joint, side);
        int joint = poise_model_find_joint(task->tips.model, name);
        if (joint < 0) {
            bench_fail("Cassie: no joint %s", name);
        }
        task->tips.q[poise_model_joint_info(task->tips.model, joint).q] = legs[i].angle;
    }
}

static bool open_cassie(constrained_task *task, const bench *from)
{
    static const tips_row row = {.name = "Cassie",
                                 .file = "urdf/cassie_v2.urdf",
                                 .is_floating = true,
                                 .has_points = true,
                                 .tips = {"pelvis", "toe_left", "toe_right"}};
    static const char *const sides[] = {"left", "right"};
    *task = (constrained_task){.count = 0};
    if (!tips_open(from, &row, &task->tips)) {
        return false;
    }
    poise_model_neutral(task->tips.model, task->tips.q);
    for (int i = 0; i < 2; ++i) {
        bend_leg(task, sides[i]);
    }
    poise_kinematics_update(task->tips.kinematics, task->tips.q, NULL);
    for (int i = 0; i < 2; ++i) {
        char thigh[24], heel[24];
        snprintf(thigh, sizeof thigh, "thigh_%s", sides[i]);
        snprintf(heel, sizeof heel, "heel_spring_%s", sides[i]);
        poise_constraint *rod = tie(task, POISE_CONSTRAINT_DISTANCE, thigh, poise_vec3_make(0, 0, i == 0 ? 0.045 : -0.045),
                                    heel, poise_vec3_make(0.11877, i == 0 ? -0.01 : 0.01, 0));
        poise_vec3 a = poise_kinematics_point(task->tips.kinematics, rod->body, rod->local.position);
        poise_vec3 b = poise_kinematics_point(task->tips.kinematics, rod->body2, rod->target.position);
        rod->lower = rod->upper = sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y) + (a.z - b.z) * (a.z - b.z));
        task->polygon[i] = poise_kinematics_point(task->tips.kinematics, task->tips.bodies[1 + i], ZERO);
    }
    return true;
}

// The pelvis circles, the toes stay.
static void draw_cassie(constrained_task *task, int frame, scene_random *random)
{
    (void)random;
    double at = turn_of(frame, 400);
    poise_pose pelvis = {{0, 0, 0, 1}, {0.05 * sin(at), 0.05 * cos(at), 0.04 * sin(2 * at)}};
    task->goals[0] = poise_goal_pose(task->tips.bodies[0], poise_pose_identity(), pelvis);
    for (int i = 0; i < 2; ++i) {
        task->goals[1 + i] = poise_goal_position(task->tips.bodies[1 + i], ZERO, task->polygon[i]);
    }
    task->goal_count = 3;
}

const constrained_row constrained_loops[] = {
    {"four-bar", open_four_bar, draw_crank, POISE_START_WARM, 0, 1e-9, true},
    {"four-bar, near", open_four_bar, draw_coupler, POISE_START_WARM, 0, 1e-9, false},
    {"Delta", open_delta, draw_delta, POISE_START_WARM, 0, 1e-9, true},
    {"Stewart", open_stewart, draw_stewart, POISE_START_WARM, 0, 1e-9, true},
    {"Cassie", open_cassie, draw_cassie, POISE_START_WARM, 0, 1e-9, true},
    {.name = NULL}};
