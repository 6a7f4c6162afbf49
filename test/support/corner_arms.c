#include "corner_arms.h"

#include <math.h>
#include <stdio.h>

#include "own.h"

#define PI    3.14159265358979323846
#define RIGHT (0.5 * PI)
#define MOST  7

// Frame i+1 in frame i: Rz(q + offset) Tz(d) Tx(a) Rx(alpha).
typedef struct dh_row {
    double a, alpha, d, offset, lower, upper;
} dh_row;

typedef struct dh_arm {
    const char *name;
    int count;
    dh_row rows[MOST];
} dh_arm;

static const dh_arm arms[CORNER_ARMS] = {
    {"elbow, spherical wrist, 150 degrees",
     6,
     {{0, -RIGHT, 0.15, 0, -2.617, 2.617},
      {0.62, 0, 0.035, -RIGHT, -2.617, 2.617},
      {0, RIGHT, 0, RIGHT, -2.617, 2.617},
      {0, -RIGHT, 0.56, 0, -2.617, 2.617},
      {0, RIGHT, 0, 0, -2.617, 2.617},
      {0, 0, 0.12, 0, -2.617, 2.617}}},
    {"the same, right angles to three digits",
     6, // so that branches miss limits by 1e-4
     {{0, -1.571, 0.15, 0, -2.617, 2.617},
      {0.62, 0, 0.035, -1.571, -2.617, 2.617},
      {0, 1.571, 0, 1.571, -2.617, 2.617},
      {0, -1.571, 0.56, 0, -2.617, 2.617},
      {0, 1.571, 0, 0, -2.617, 2.617},
      {0, 0, 0.12, 0, -2.617, 2.617}}},
    {"shoulder and elbow offsets, wide wrist",
     6,
     {{0.15, -RIGHT, 0.45, 0, -2.97, 2.97},
      {0.6, 0, 0, -RIGHT, -1.57, 1.92},
      {0.12, -RIGHT, 0, 0, -4.1, 0.96},
      {0, RIGHT, 0.62, 0, -3.49, 3.49},
      {0, -RIGHT, 0, 0, -2.0, 2.0},
      {0, 0, 0.07, 0, -6.98, 6.98}}},
    {"three parallel axes, offset wrist",
     6,
     {{0, RIGHT, 0.09, 0, -2 * PI, 2 * PI},
      {-0.425, 0, 0, 0, -2 * PI, 2 * PI},
      {-0.39, 0, 0, 0, -PI, PI},
      {0, RIGHT, 0.11, 0, -2 * PI, 2 * PI},
      {0, -RIGHT, 0.095, 0, -2 * PI, 2 * PI},
      {0, 0, 0.082, 0, -2 * PI, 2 * PI}}},
    {"three parallel axes, half turns",
     6,
     {{0, RIGHT, 0.13, 0, -PI, PI},
      {-0.36, 0, 0, 0, -PI, PI},
      {-0.33, 0, 0, 0, -2.6, 2.6},
      {0, RIGHT, 0.13, 0, -PI, PI},
      {0, -RIGHT, 0.1, 0, -PI, PI},
      {0, 0, 0.1, 0, -PI, PI}}},
    {"small arm, limits on one side of 0",
     6,
     {{0, -RIGHT, 0.123, 0, -2.618, 2.618},
      {0.285, 0, 0, -3.0, 0, 3.14},
      {-0.022, RIGHT, 0, -1.79, -2.967, 0},
      {0, -RIGHT, 0.25, 0, -1.832, 1.832},
      {0, RIGHT, 0, 0, -1.22, 1.22},
      {0, 0, 0.091, 0, -3.14, 3.14}}},
    {"pitch, pitch, pitch, yaw, roll",
     6,
     {{0.02, -RIGHT, 0.1, 0, -3.14, 3.14},
      {0.264, 0, 0, PI, 0, 3.14},
      {0.252, 0, 0, PI, 0, 3.14},
      {0.06, -RIGHT, 0, 0.24, -1.7, 1.7},
      {0, RIGHT, 0, RIGHT, -1.7, 1.7},
      {0, 0, 0.1, 0, -3.14, 3.14}}},
    {"modules in a line, 168 degrees",
     6,
     {{0, -RIGHT, 0.205, 0, -2.94, 2.94},
      {0.35, 0, 0, -RIGHT, -2.94, 2.94},
      {0, RIGHT, 0, RIGHT, -2.68, 2.68},
      {0, -RIGHT, 0.305, 0, -2.94, 2.94},
      {0, RIGHT, 0, 0, -2.94, 2.94},
      {0, 0, 0.075, 0, -2.94, 2.94}}},
    {"five hinges",
     5,
     {{0.033, RIGHT, 0.147, 0, -2.95, 2.95},
      {0.155, 0, 0, RIGHT, -1.13, 1.57},
      {0.135, 0, 0, 0, -2.64, 2.55},
      {0, RIGHT, 0, RIGHT, -1.78, 1.78},
      {0, 0, 0.2, 0, -2.92, 2.92}}},
    {"shoulder, elbow and wrist of three axes",
     7,
     {{0, -RIGHT, 0.36, 0, -2.97, 2.97},
      {0, RIGHT, 0, 0, -2.09, 2.09},
      {0, RIGHT, 0.42, 0, -2.97, 2.97},
      {0, -RIGHT, 0, 0, -2.09, 2.09},
      {0, -RIGHT, 0.4, 0, -2.97, 2.97},
      {0, RIGHT, 0, 0, -2.09, 2.09},
      {0, 0, 0.126, 0, -3.05, 3.05}}},
    {"seven hinges, offsets, an elbow that bends one way",
     7,
     {{0, -RIGHT, 0.333, 0, -2.8973, 2.8973},
      {0, RIGHT, 0, 0, -1.7628, 1.7628},
      {0.0825, RIGHT, 0.316, 0, -2.8973, 2.8973},
      {-0.0825, -RIGHT, 0, 0, -3.0718, -0.0698},
      {0, RIGHT, 0.384, 0, -2.8973, 2.8973},
      {0.088, RIGHT, 0, 0, -0.0175, 3.7525},
      {0, 0, 0.107, 0, -2.8973, 2.8973}}},
    {"seven hinges, a shoulder offset",
     7,
     {{0.069, -RIGHT, 0.27, 0, -1.7017, 1.7017},
      {0, RIGHT, 0, RIGHT, -2.147, 1.047},
      {0.069, -RIGHT, 0.364, 0, -3.0542, 3.0542},
      {0, RIGHT, 0, 0, -0.05, 2.618},
      {0.01, -RIGHT, 0.374, 0, -3.059, 3.059},
      {0, RIGHT, 0, 0, -1.5708, 2.094},
      {0, 0, 0.28, 0, -3.059, 3.059}}},
};

// What row i carries after its motion.
static poise_pose link_of(const dh_row *row)
{
    return (poise_pose){poise_quat_from_axis_angle(poise_vec3_make(1, 0, 0), row->alpha), {row->a, 0, row->d}};
}

test_arm corner_arm(int index)
{
    const dh_arm *from = &arms[index];
    test_arm arm = {
        .name = from->name, .n = from->count, .body = from->count - 1, .tip = link_of(&from->rows[from->count - 1])};
    poise_builder *builder;
    char name[8], parent[8];
    ck_assert_int_eq(poise_builder_create(NULL, &builder, NULL), POISE_OK);
    for (int i = 0; i < from->count; ++i) {
        const dh_row *row = &from->rows[i];
        poise_joint joint = poise_joint_default();
        poise_pose turned = {poise_quat_from_axis_angle(poise_vec3_make(0, 0, 1), row->offset), {0, 0, 0}};
        snprintf(name, sizeof name, "%d", i + 1);
        snprintf(parent, sizeof parent, "%d", i);
        joint.name = name;
        joint.parent = i > 0 ? parent : NULL;
        joint.type = POISE_JOINT_REVOLUTE;
        joint.axis = poise_vec3_make(0, 0, 1);
        joint.offset = i > 0 ? poise_pose_multiply(link_of(row - 1), turned) : turned;
        joint.lower[0] = row->lower;
        joint.upper[0] = row->upper;
        ck_assert_int_eq(poise_builder_add_joint(builder, &joint, NULL), POISE_OK);
    }
    ck_assert_int_eq(poise_model_create(builder, NULL, &arm.model, NULL), POISE_OK);
    own_model(arm.model);
    poise_builder_destroy(builder);
    return arm;
}

// ---- Corners -------------------------------------------------------------------------------------------------------------

const char *corner_name(corner_kind corner)
{
    static const char *const names[CORNER_COUNT] = {"one at a limit", "two at limits", "all at limits", "all beside limits",
                                                    "home",           "right angles",  "half turns"};
    return names[corner];
}

static double at_limit(scene_random *random, double lower, double upper, double inside)
{
    return scene_random_index(random, 2) ? upper - inside : lower + inside;
}

static double stand(corner_kind corner, scene_random *random, double lower, double upper)
{
    double right[] = {lower, upper, 0.0, RIGHT, -RIGHT}, half = scene_random_index(random, 2) ? PI : -PI, q = 0.0;
    q = corner == CORNER_RIGHT    ? right[scene_random_index(random, 5)]
        : corner == CORNER_TURNED ? half
        : corner == CORNER_HOME   ? 0.0
                                  : at_limit(random, lower, upper, corner == CORNER_BESIDE ? 1e-9 : 0.0);
    return fmin(fmax(q, lower), upper);
}

void corner_configuration(const test_arm *arm, corner_kind corner, scene_random *random, double *q)
{
    poise_model_summary info = poise_model_info(arm->model);
    bool is_few = corner == CORNER_ONE || corner == CORNER_TWO;
    scene_random_configuration(random, arm->model, q);
    for (int i = 0; i < arm->n && !is_few; ++i) {
        q[i] = stand(corner, random, info.lower[i], info.upper[i]);
    }
    int placed = corner == CORNER_ONE || corner == CORNER_HOME ? 1 : corner == CORNER_TWO ? 2 : 0;
    for (int k = 0; k < placed; ++k) {
        int i = scene_random_index(random, arm->n);
        q[i] = at_limit(random, info.lower[i], info.upper[i], 0.0);
    }
}
