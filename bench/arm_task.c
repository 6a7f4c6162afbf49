#include "arm_task.h"

#include "bench.h"

#include <scenes/scenes.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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

// ---- Chain files ---------------------------------------------------------------------------------------------------------

// `count` numbers from the text; returns what follows, or NULL.
static const char *read_numbers(const char *text, double *numbers, int count)
{
    for (int i = 0; i < count; ++i) {
        char *end;
        numbers[i] = strtod(text, &end);
        if (end == text) {
            return NULL;
        }
        text = end;
    }
    return text;
}

static const char *read_frame(const char *text, frame *f)
{
    text = read_numbers(text, f->p, 3);
    return text ? read_numbers(text, f->R, 9) : NULL;
}

// One line: "joint name type p(3) R(9) axis(3) lower upper", "tip p(3) R(9)", or "chain name n".
static bool read_line(const char *line, arm *a)
{
    char word[16], name[64], type[16];
    int used = 0;
    if (sscanf(line, "%15s%n", word, &used) != 1) {
        return true;
    }
    if (strcmp(word, "chain") == 0) {
        return sscanf(line + used, "%63s", a->name) == 1;
    }
    if (strcmp(word, "tip") == 0) {
        return read_frame(line + used, &a->tip) != NULL;
    }
    int more = 0;
    if (strcmp(word, "joint") != 0 || a->n == ARM_MOST || sscanf(line + used, "%63s %15s%n", name, type, &more) != 2) {
        return false;
    }
    link *l = &a->links[a->n++];
    memcpy(l->name, name, sizeof name);
    l->slides = strcmp(type, "prismatic") == 0;
    l->continuous = strcmp(type, "continuous") == 0;
    const char *text = read_frame(line + used + more, &l->offset);
    text = text ? read_numbers(text, l->axis, 3) : NULL;
    text = text ? read_numbers(text, &l->lower, 1) : NULL;
    return text && read_numbers(text, &l->upper, 1);
}

static void make_model(arm *a)
{
    poise_builder *builder;
    poise_error error = {.text = ""};
    poise_status status = poise_builder_create(NULL, &builder, NULL);
    for (int i = 0; i < a->n && status == POISE_OK; ++i) {
        const link *l = &a->links[i];
        poise_joint joint = poise_joint_default();
        joint.name = l->name;
        joint.parent = i ? a->links[i - 1].name : NULL;
        joint.type = l->slides ? POISE_JOINT_PRISMATIC : POISE_JOINT_REVOLUTE;
        joint.offset = arm_pose_of(&l->offset);
        joint.axis = poise_vec3_make(l->axis[0], l->axis[1], l->axis[2]);
        joint.lower[0] = l->continuous ? -INFINITY : l->lower;
        joint.upper[0] = l->continuous ? INFINITY : l->upper;
        status = poise_builder_add_joint(builder, &joint, &error);
    }
    status = status == POISE_OK ? poise_model_create(builder, NULL, &a->model, &error) : status;
    poise_builder_destroy(builder);
    if (status != POISE_OK) {
        bench_fail("%s: %s", a->name, error.text);
    }
}

bool arm_read(const char *folder, const char *name, arm *a)
{
    char path[1024], line[4096];
    snprintf(path, sizeof path, "%s/%s.chain", folder, name);
    FILE *file = fopen(path, "r");
    *a = (arm){.n = 0};
    if (!file) {
        return false;
    }
    bool ok = true;
    while (ok && fgets(line, sizeof line, file)) {
        ok = read_line(line, a);
    }
    fclose(file);
    if (!ok || a->n == 0) {
        bench_fail("%s: not a chain file", path);
    }
    make_model(a);
    return true;
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
    snprintf(l.name, sizeof l.name, "%s", joint.name);
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

int arm_read_all(const char *folder, arm arms[ARM_COUNT])
{
    static const char *const names[ARM_COUNT] = {"panda", "iiwa14", "ur5", "jaco2", "gen3", "pr2", "baxter"};
    int count = 0;
    for (int i = 0; i < ARM_COUNT; ++i) {
        count += arm_read(folder, names[i], &arms[count]);
    }
    return count;
}

int arm_take_all(const char *folder, arm arms[ARM_COUNT])
{
    int count = arm_read_all(folder, arms);
    if (count == 0) {
        arm_from_scene("arm6", &arms[count++]);
        arm_from_scene("arm7", &arms[count++]);
    }
    return count;
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
