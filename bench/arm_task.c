#include "arm_task.h"

#include "bench.h"

#include <scenes/scenes.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PI 3.14159265358979323846

static frame multiply(const frame *a, const frame *b)
{
    frame c;
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            c.R[3 * i + j] = a->R[3 * i] * b->R[j] + a->R[3 * i + 1] * b->R[3 + j] + a->R[3 * i + 2] * b->R[6 + j];
        }
        c.p[i] = a->p[i] + a->R[3 * i] * b->p[0] + a->R[3 * i + 1] * b->p[1] + a->R[3 * i + 2] * b->p[2];
    }
    return c;
}

// The motion of a joint: a slide, or Rodrigues' formula.
static frame motion(const link *l, double q)
{
    const double *a = l->axis;
    if (l->slides) {
        return (frame){{1, 0, 0, 0, 1, 0, 0, 0, 1}, {a[0] * q, a[1] * q, a[2] * q}};
    }
    double s = sin(q), c = cos(q), v = 1 - c;
    return (frame){{c + a[0] * a[0] * v, a[0] * a[1] * v - a[2] * s, a[0] * a[2] * v + a[1] * s, a[1] * a[0] * v + a[2] * s,
                    c + a[1] * a[1] * v, a[1] * a[2] * v - a[0] * s, a[2] * a[0] * v - a[1] * s, a[2] * a[1] * v + a[0] * s,
                    c + a[2] * a[2] * v},
                   {0, 0, 0}};
}

frame arm_forward(const arm *a, const double *q)
{
    frame at = {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, 0}};
    for (int i = 0; i < a->n; ++i) {
        frame moved = motion(&a->links[i], q[i]);
        at = multiply(&at, &a->links[i].offset);
        at = multiply(&at, &moved);
    }
    return multiply(&at, &a->tip);
}

// Distance, and angle by its sine (from the antisymmetric part of A^T B) and cosine.
void arm_errors(const frame *a, const frame *b, double *distance, double *angle)
{
    double d[3] = {b->p[0] - a->p[0], b->p[1] - a->p[1], b->p[2] - a->p[2]}, M[9];
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            M[3 * i + j] = a->R[i] * b->R[j] + a->R[3 + i] * b->R[3 + j] + a->R[6 + i] * b->R[6 + j];
        }
    }
    double x = M[7] - M[5], y = M[2] - M[6], z = M[3] - M[1];
    *distance = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    *angle = atan2(sqrt(x * x + y * y + z * z), M[0] + M[4] + M[8] - 1);
}

poise_pose arm_pose_of(const frame *f)
{
    return (poise_pose){poise_quat_from_matrix(f->R), {f->p[0], f->p[1], f->p[2]}};
}

// ---- Robots --------------------------------------------------------------------------------------------------------------

static frame frame_at(const robot_arm_frame *from)
{
    frame f = {.p = {from->position[0], from->position[1], from->position[2]}};
    robot_arm_rotation(from, f.R);
    return f;
}

static void arm_of_robot(const robot_arm *robot, arm *a)
{
    poise_error error = {.text = ""};
    *a = (arm){.n = robot->count, .tip = frame_at(&robot->tip)};
    snprintf(a->name, sizeof a->name, "%s", robot->name);
    for (int i = 0; i < robot->count; ++i) {
        const robot_arm_joint *joint = &robot->joints[i];
        link *l = &a->links[i];
        l->continuous = isinf(joint->lower);
        l->offset = frame_at(&joint->at);
        memcpy(l->axis, joint->axis, sizeof l->axis);
        l->lower = l->continuous ? -PI : joint->lower;
        l->upper = l->continuous ? PI : joint->upper;
    }
    if (robot_arm_create(robot, NULL, &a->model, &error) != POISE_OK) {
        bench_fail("%s: %s", robot->name, error.text);
    }
}

void arm_take(const char *name, arm *a)
{
    const robot_arm *robot = robot_arm_find(name);
    if (!robot) {
        bench_fail("no arm %s", name);
    }
    arm_of_robot(robot, a);
}

void arm_take_all(arm arms[ROBOT_ARMS])
{
    for (int i = 0; i < ROBOT_ARMS; ++i) {
        arm_of_robot(robot_arm_at(i), &arms[i]);
    }
}

// ---- Scenes --------------------------------------------------------------------------------------------------------------

// Rotation matrix of a unit quaternion, row-major.
static frame frame_of(poise_pose pose)
{
    poise_quat r = pose.rotation;
    double x = r.x, y = r.y, z = r.z, w = r.w;
    return (frame){{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y), 2 * (x * y + w * z),
                    1 - 2 * (x * x + z * z), 2 * (y * z - w * x), 2 * (x * z - w * y), 2 * (y * z + w * x),
                    1 - 2 * (x * x + y * y)},
                   {pose.position.x, pose.position.y, pose.position.z}};
}

static link link_of(const poise_model *model, int k)
{
    poise_joint joint = *poise_model_joint_info(model, k).given;
    double length = sqrt(joint.axis.x * joint.axis.x + joint.axis.y * joint.axis.y + joint.axis.z * joint.axis.z);
    link l = {.slides = joint.type == POISE_JOINT_PRISMATIC,
              .continuous = !(joint.lower[0] > -INFINITY && joint.upper[0] < INFINITY),
              .offset = frame_of(joint.offset),
              .axis = {joint.axis.x / length, joint.axis.y / length, joint.axis.z / length}};
    l.lower = l.continuous ? -PI : joint.lower[0];
    l.upper = l.continuous ? PI : joint.upper[0];
    return l;
}

void arm_from_scene(const char *scene, arm *a)
{
    *a = (arm){.n = 0};
    snprintf(a->name, sizeof a->name, "%s", scene);
    if (scene_create(scene, NULL, &a->model, NULL) != POISE_OK) {
        bench_fail("no scene %s", scene);
    }
    for (int k = 0; k < poise_model_info(a->model).joints && k < ARM_MOST; ++k) {
        a->links[a->n++] = link_of(a->model, k);
    }
    a->tip = frame_of(poise_model_tool_info(a->model, poise_model_find_tool(a->model, "tip")).pose);
}

void arm_free(arm *a)
{
    poise_model_destroy(a->model);
}

bool arm_within_limits(const arm *a, const double *q, double slack)
{
    for (int i = 0; i < a->n; ++i) {
        const link *l = &a->links[i];
        if (!l->continuous && !(q[i] >= l->lower - slack && q[i] <= l->upper + slack)) {
            return false;
        }
    }
    return true;
}

// ---- Targets and seeds ---------------------------------------------------------------------------------------------------

static double between(scene_random *random, double low, double high)
{
    return low + (high - low) * scene_random_uniform(random);
}

void arm_draw(const arm *a, seed_kind kind, scene_random *random, double *target, double *seed)
{
    for (int i = 0; i < a->n; ++i) {
        target[i] = between(random, a->links[i].lower, a->links[i].upper);
    }
    for (int i = 0; i < a->n; ++i) {
        double u = scene_random_uniform(random), low = a->links[i].lower, high = a->links[i].upper;
        seed[i] = kind == SEED_MID    ? 0.5 * (low + high)
                  : kind == SEED_RAND ? low + (high - low) * u
                                      : target[i] + 0.1 * (2 * u - 1);
        if (kind == SEED_NEAR && !a->links[i].continuous) {
            seed[i] = fmin(high, fmax(low, seed[i]));
        }
    }
}
