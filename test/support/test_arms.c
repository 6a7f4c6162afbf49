#include "test_arms.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "own.h"
#include "scenes/robot_arms.h"
#include "scenes/scenes.h"

#define PI 3.14159265358979323846

// ---- Random --------------------------------------------------------------------------------------------------------------

static poise_quat random_turn(scene_random *random, unsigned features)
{
    static const poise_vec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    if (!(features & ARM_RIGHT_ANGLES)) {
        return scene_random_rotation(random);
    }
    return poise_quat_from_axis_angle(axes[scene_random_index(random, 2)], 0.5 * PI * scene_random_index(random, 4));
}

static poise_joint random_joint_of_arm(scene_random *random, unsigned features)
{
    poise_joint joint = poise_joint_default();
    poise_vec3 direction = scene_random_direction(random);
    double length = scene_random_range(random, 0.1, 0.5);
    bool slides = (features & ARM_SLIDES) && scene_random_index(random, 3) == 0;
    bool is_free = (features & ARM_CONTINUOUS) && !slides && scene_random_index(random, 3) == 0;
    joint.type = slides ? POISE_JOINT_PRISMATIC : POISE_JOINT_REVOLUTE;
    joint.offset.position = poise_vec3_make(length * direction.x, length * direction.y, length * direction.z);
    joint.offset.rotation = random_turn(random, features);
    joint.axis = features & ARM_RIGHT_ANGLES ? poise_vec3_make(0, 0, 1) : scene_random_direction(random);
    double half = slides ? scene_random_range(random, 0.1, 0.5) : scene_random_range(random, 0.5 * PI, PI);
    double shift = 0.3 * half * (scene_random_uniform(random) - 0.5);
    if (!is_free) {
        joint.lower[0] = shift - half;
        joint.upper[0] = shift + half;
    }
    return joint;
}

// A fixed joint, so that constants of several joints add up.
static void add_fixed(scene_random *random, poise_builder *builder, const char *name, const char *parent)
{
    poise_joint fixed = poise_joint_default();
    fixed.name = name;
    fixed.parent = parent;
    fixed.offset.rotation = scene_random_rotation(random);
    fixed.offset.position = poise_vec3_make(0.05, -0.02, 0.03);
    ck_assert_int_eq(poise_builder_add_joint(builder, &fixed, NULL), POISE_OK);
}

test_arm arm_random(scene_random *random, int n, unsigned features)
{
    poise_builder *builder;
    test_arm arm = {.name = "random", .n = n};
    char name[16], parent[16] = "", still[16];
    ck_assert_int_eq(poise_builder_create(NULL, &builder, NULL), POISE_OK);
    for (int i = 0; i < n; ++i) {
        poise_joint joint = random_joint_of_arm(random, features);
        snprintf(name, sizeof name, "j%d", i);
        if ((features & ARM_FIXED) && i % 3 == 1) {
            snprintf(still, sizeof still, "f%d", i);
            add_fixed(random, builder, still, parent);
            memcpy(parent, still, sizeof parent);
        }
        joint.name = name;
        joint.parent = parent[0] ? parent : NULL;
        ck_assert_int_eq(poise_builder_add_joint(builder, &joint, NULL), POISE_OK);
        memcpy(parent, name, sizeof parent);
    }
    ck_assert_int_eq(poise_model_create(builder, NULL, &arm.model, NULL), POISE_OK);
    own_model(arm.model);
    poise_builder_destroy(builder);
    arm.body = poise_model_find_body(arm.model, parent);
    arm.tip = (poise_pose){scene_random_rotation(random), {0.1, 0.02, -0.05}};
    return arm;
}

test_arm arm_planar(int n)
{
    poise_builder *builder;
    test_arm arm = {.name = "planar", .n = n, .body = n - 1, .tip = {{0, 0, 0, 1}, {0.2, 0, 0}}};
    char name[16], parent[16] = "";
    ck_assert_int_eq(poise_builder_create(NULL, &builder, NULL), POISE_OK);
    for (int i = 0; i < n; ++i) {
        poise_joint joint = poise_joint_default();
        snprintf(name, sizeof name, "j%d", i);
        joint.name = name;
        joint.parent = i ? parent : NULL;
        joint.type = POISE_JOINT_REVOLUTE;
        joint.offset.position = poise_vec3_make(i ? 0.2 : 0.0, i ? -0.2 : 0.0, 0.0);
        joint.axis = i ? poise_vec3_make(1, 1, 1) : poise_vec3_make(0, 0, 1);
        joint.lower[0] = -2.0;
        joint.upper[0] = 2.0;
        ck_assert_int_eq(poise_builder_add_joint(builder, &joint, NULL), POISE_OK);
        memcpy(parent, name, sizeof parent);
    }
    ck_assert_int_eq(poise_model_create(builder, NULL, &arm.model, NULL), POISE_OK);
    own_model(arm.model);
    poise_builder_destroy(builder);
    return arm;
}

test_arm arm_of_scene(const char *scene)
{
    test_arm arm = {.name = scene};
    ck_assert_int_eq(scene_create(scene, NULL, &arm.model, NULL), POISE_OK);
    own_model(arm.model);
    int tool = poise_model_find_tool(arm.model, "tip");
    ck_assert_int_ge(tool, 0);
    arm.n = poise_model_info(arm.model).nq;
    arm.body = poise_model_tool_info(arm.model, tool).body;
    arm.tip = poise_model_tool_info(arm.model, tool).pose;
    return arm;
}

test_arm arm_of_robot(const char *name)
{
    const robot_arm *robot = robot_arm_find(name);
    test_arm arm = {.name = name};
    ck_assert_ptr_nonnull(robot);
    ck_assert_int_eq(robot_arm_create(robot, NULL, &arm.model, NULL), POISE_OK);
    own_model(arm.model);
    arm.n = robot->count;
    arm.body = robot->count - 1;
    arm.tip = robot_arm_pose(&robot->tip);
    return arm;
}

// ---- Poses ---------------------------------------------------------------------------------------------------------------

poise_pose arm_pose(const test_arm *arm, const double *q)
{
    poise_kinematics *kinematics;
    ck_assert_int_eq(poise_kinematics_create(arm->model, NULL, &kinematics, NULL), POISE_OK);
    ck_assert_int_eq(poise_kinematics_update(kinematics, q, NULL), POISE_OK);
    poise_pose pose = poise_pose_multiply(poise_kinematics_body_pose(kinematics, arm->body), arm->tip);
    poise_kinematics_destroy(kinematics);
    return pose;
}

poise_goal arm_goal(const test_arm *arm, const double *q)
{
    return poise_goal_pose(arm->body, arm->tip, arm_pose(arm, q));
}

void arm_pose_error(poise_pose a, poise_pose b, double *distance, double *angle)
{
    poise_pose d = poise_pose_multiply(poise_pose_inverse(a), b);
    *distance = sqrt(d.position.x * d.position.x + d.position.y * d.position.y + d.position.z * d.position.z);
    *angle = poise_quat_angle(d.rotation);
}

poise_solver *arm_solver(const test_arm *arm, const poise_solver_options *options)
{
    poise_solver *solver;
    ck_assert_int_eq(poise_solver_create(arm->model, options, NULL, &solver, NULL), POISE_OK);
    return own_solver(solver);
}

bool arm_meets(const test_arm *arm, const poise_goal *goal, const double *q, double tolerance)
{
    double distance, angle;
    arm_pose_error(goal->target, arm_pose(arm, q), &distance, &angle);
    return distance <= tolerance && angle <= tolerance;
}
