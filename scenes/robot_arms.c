// The tables of the arms, from the makers' public descriptions (URDF):
//
//   panda   moveit/moveit_resources, panda_description/urdf/panda.urdf: panda_link0 to panda_link8
//   iiwa14  petercorke/robotics-toolbox-python, kuka_lbr_iiwa/urdf/lbr_iiwa_14_r820.urdf: base_link to tool0
//   ur5     Gepetto/example-robot-data, ur_description/urdf/ur5_robot.urdf: base_link to tool0
//   jaco2   Gepetto/example-robot-data, kinova_description/robots/kinova.urdf: j2s6s200_link_base to j2s6s200_end_effector
//   gen3    petercorke/robotics-toolbox-python, kortex_description/arms/gen3/7dof/urdf/GEN3_URDF_V12.urdf: base_link to
//           EndEffector_Link; angles below 1e-14 rad, which its exporter left, are 0
//   pr2     aprotyas/trac_ik, trac_ik_examples/launch/pr2.urdf: torso_lift_link to r_wrist_roll_link
//   baxter  Gepetto/example-robot-data, baxter_description/urdf/baxter.urdf: torso to left_gripper
#include "robot_arms.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Angles have the digits of the descriptions.
#define RIGHT   1.57079632679
#define HALF    3.14159265359
#define WHOLE   6.28318530718
#define QUARTER 0.78539816339744831 // of pi
#define FOREVER -INFINITY, INFINITY

static const robot_arm arms[ROBOT_ARMS] = {
    {"panda",
     7,
     {{{{0, 0, 0.333}, {0, 0, 0}}, {0, 0, 1}, -2.9671, 2.9671},
      {{{0, 0, 0}, {-RIGHT, 0, 0}}, {0, 0, 1}, -1.8326, 1.8326},
      {{{0, -0.316, 0}, {RIGHT, 0, 0}}, {0, 0, 1}, -2.9671, 2.9671},
      {{{0.0825, 0, 0}, {RIGHT, 0, 0}}, {0, 0, 1}, -3.1416, 0.0873},
      {{{-0.0825, 0.384, 0}, {-RIGHT, 0, 0}}, {0, 0, 1}, -2.9671, 2.9671},
      {{{0, 0, 0}, {RIGHT, 0, 0}}, {0, 0, 1}, -0.0873, 3.8223},
      {{{0.088, 0, 0}, {RIGHT, 0, 0}}, {0, 0, 1}, -2.9671, 2.9671}},
     {{0, 0, 0.107}, {0, 0, 0}}},
    {"iiwa14",
     7,
     {{{{0, 0, 0}, {0, 0, 0}}, {0, 0, 1}, -2.9668, 2.9668},
      {{{-0.00043624, 0, 0.36}, {0, 0, 0}}, {0, 1, 0}, -2.0942, 2.0942},
      {{{0, 0, 0}, {0, 0, 0}}, {0, 0, 1}, -2.9668, 2.9668},
      {{{0.00043624, 0, 0.42}, {0, 0, 0}}, {0, -1, 0}, -2.0942, 2.0942},
      {{{0, 0, 0}, {0, 0, 0}}, {0, 0, 1}, -2.9668, 2.9668},
      {{{0, 0, 0.4}, {0, 0, 0}}, {0, 1, 0}, -2.0942, 2.0942},
      {{{0, 0, 0}, {0, 0, 0}}, {0, 0, 1}, -3.0541, 3.0541}},
     {{0, 0, 0.126}, {0, 0, 0}}},
    {"ur5",
     6,
     {{{{0, 0, 0.089159}, {0, 0, 0}}, {0, 0, 1}, -WHOLE, WHOLE},
      {{{0, 0.13585, 0}, {0, RIGHT, 0}}, {0, 1, 0}, -WHOLE, WHOLE},
      {{{0, -0.1197, 0.425}, {0, 0, 0}}, {0, 1, 0}, -HALF, HALF},
      {{{0, 0, 0.39225}, {0, RIGHT, 0}}, {0, 1, 0}, -WHOLE, WHOLE},
      {{{0, 0.093, 0}, {0, 0, 0}}, {0, 0, 1}, -WHOLE, WHOLE},
      {{{0, 0, 0.09465}, {0, 0, 0}}, {0, 1, 0}, -WHOLE, WHOLE}},
     {{0, 0.0823, 0}, {-RIGHT, 0, 0}}},
    {"jaco2",
     6,
     {{{{0, 0, 0.15675}, {0, HALF, 0}}, {0, 0, 1}, FOREVER},
      {{{0, 0.0016, -0.11875}, {-RIGHT, 0, HALF}}, {0, 0, 1}, 0.820304748437, 5.46288055874},
      {{{0, -0.41, 0}, {0, HALF, 0}}, {0, 0, 1}, 0.331612557879, 5.9515727493},
      {{{0, 0.2073, -0.0114}, {-RIGHT, 0, HALF}}, {0, 0, 1}, FOREVER},
      {{{0, 0, -0.10375}, {RIGHT, 0, HALF}}, {0, 0, 1}, 0.523598775598, 5.75958653158},
      {{{0, 0.10375, 0}, {-RIGHT, 0, HALF}}, {0, 0, 1}, FOREVER}},
     {{0, 0, -0.16}, {HALF, RIGHT, 0}}},
    {"gen3",
     7,
     {{{{0, 0, 0.15643}, {3.1416, 0, 0}}, {0, 0, 1}, FOREVER},
      {{{0, 0.005375, -0.12838}, {1.5708, 0, 0}}, {0, 0, 1}, -2.41, 2.41},
      {{{0, -0.21038, -0.006375}, {-1.5708, 0, 0}}, {0, 0, 1}, FOREVER},
      {{{0, 0.006375, -0.21038}, {1.5708, 0, 0}}, {0, 0, 1}, -2.66, 2.66},
      {{{0, -0.20843, -0.006375}, {-1.5708, 0, 0}}, {0, 0, 1}, FOREVER},
      {{{0, 0.00017505, -0.10593}, {1.5708, 0, 0}}, {0, 0, 1}, -2.23, 2.23},
      {{{0, -0.10593, -0.00017505}, {-1.5708, 0, 0}}, {0, 0, 1}, FOREVER}},
     {{0, 0, -0.0615250000000001}, {3.14159265358979, 0, 0}}},
    {"pr2",
     7,
     {{{{0, -0.188, 0}, {0, 0, 0}}, {0, 0, 1}, -1.5 - QUARTER, 1.5 - QUARTER},
      {{{0.1, 0, 0}, {0, 0, 0}}, {0, 1, 0}, -0.5236, 1.3963},
      {{{0, 0, 0}, {0, 0, 0}}, {1, 0, 0}, -3.1 - 0.8, 0.8},
      {{{0.4, 0, 0}, {0, 0, 0}}, {0, 1, 0}, -2.3213, 0},
      {{{0, 0, 0}, {0, 0, 0}}, {1, 0, 0}, FOREVER},
      {{{0.321, 0, 0}, {0, 0, 0}}, {0, 1, 0}, -2.18, 0},
      {{{0, 0, 0}, {0, 0, 0}}, {1, 0, 0}, FOREVER}},
     {{0, 0, 0}, {0, 0, 0}}},
    {"baxter",
     7,
     {{{{0.06402723984846331, 0.2590273845077734, 0.129626}, {0, 0, 0.7854}}, {0, 0, 1}, -1.70167993878, 1.70167993878},
      {{{0.069, 0, 0.27035}, {-RIGHT, 0, 0}}, {0, 0, 1}, -2.147, 1.047},
      {{{0.102, 0, 0}, {RIGHT, 0, RIGHT}}, {0, 0, 1}, -3.05417993878, 3.05417993878},
      {{{0.069, 0, 0.26242}, {-RIGHT, -RIGHT, 0}}, {0, 0, 1}, -0.05, 2.618},
      {{{0.10359, 0, 0}, {RIGHT, 0, RIGHT}}, {0, 0, 1}, -3.059, 3.059},
      {{{0.01, 0, 0.2707}, {-RIGHT, -RIGHT, 0}}, {0, 0, 1}, -RIGHT, 2.094},
      {{{0.115975, 0, 0}, {RIGHT, 0, RIGHT}}, {0, 0, 1}, -3.059, 3.059}},
     {{0, 0, 0.27125}, {0, 0, 0}}},
};

const robot_arm *robot_arm_at(int index)
{
    return index >= 0 && index < ROBOT_ARMS ? &arms[index] : NULL;
}

const robot_arm *robot_arm_find(const char *name)
{
    for (int i = 0; i < ROBOT_ARMS; ++i) {
        if (strcmp(arms[i].name, name) == 0) {
            return &arms[i];
        }
    }
    return NULL;
}

void robot_arm_rotation(const robot_arm_frame *frame, double R[9])
{
    double sr, cr, sp, cp, sy, cy;
    poise_sincos(frame->rpy[0], &sr, &cr);
    poise_sincos(frame->rpy[1], &sp, &cp);
    poise_sincos(frame->rpy[2], &sy, &cy);
    const double rows[9] = {cy * cp,
                            cy * sp * sr - sy * cr,
                            cy * sp * cr + sy * sr, //
                            sy * cp,
                            sy * sp * sr + cy * cr,
                            sy * sp * cr - cy * sr, //
                            -sp,
                            cp * sr,
                            cp * cr};
    memcpy(R, rows, sizeof rows);
}

poise_pose robot_arm_pose(const robot_arm_frame *frame)
{
    double R[9];
    robot_arm_rotation(frame, R);
    return (poise_pose){poise_quat_from_matrix(R), {frame->position[0], frame->position[1], frame->position[2]}};
}

poise_status robot_arm_create(const robot_arm *arm, const poise_allocator *allocator, poise_model **model,
                              poise_error *error)
{
    poise_builder *builder;
    poise_status status = poise_builder_create(allocator, &builder, error);
    if (status != POISE_OK) {
        return status;
    }
    for (int i = 0; i < arm->count && status == POISE_OK; ++i) {
        const robot_arm_joint *from = &arm->joints[i];
        char name[8], parent[8];
        snprintf(name, sizeof name, "%d", i + 1);
        snprintf(parent, sizeof parent, "%d", i);
        poise_joint joint = poise_joint_default();
        joint.name = name;
        joint.parent = i ? parent : NULL;
        joint.type = POISE_JOINT_REVOLUTE;
        joint.offset = robot_arm_pose(&from->at);
        joint.axis = poise_vec3_make(from->axis[0], from->axis[1], from->axis[2]);
        joint.lower[0] = from->lower;
        joint.upper[0] = from->upper;
        status = poise_builder_add_joint(builder, &joint, error);
    }
    status = status == POISE_OK ? poise_model_create(builder, allocator, model, error) : status;
    poise_builder_destroy(builder);
    return status;
}
