// Are two models the same, to the last bit?
#ifndef TEST_IO_MODELS_H
#define TEST_IO_MODELS_H

#include "io_check.h"

#include <poise/poise.h>

static inline void io_same_joints(poise_joint a, poise_joint b)
{
    ck_assert_str_eq(a.name, b.name);
    ck_assert_int_eq(a.parent == NULL, b.parent == NULL);
    if (a.parent) {
        ck_assert_str_eq(a.parent, b.parent);
    }
    ck_assert_msg(a.type == b.type, "joint %s: %s and %s", a.name, poise_joint_type_name(a.type),
                  poise_joint_type_name(b.type));
    ck_assert_int_eq(a.order, b.order);
    ck_assert_msg(memcmp(&a.offset, &b.offset, sizeof a.offset) == 0, "joint %s: offset", a.name);
    ck_assert_msg(memcmp(&a.axis, &b.axis, sizeof a.axis) == 0, "joint %s: axis", a.name);
    ck_assert_msg(memcmp(&a.axis2, &b.axis2, sizeof a.axis2) == 0, "joint %s: axis2", a.name);
    ck_assert_msg(memcmp(&a.axes, &b.axes, sizeof a.axes) == 0, "joint %s: axes", a.name);
    ck_assert_msg(memcmp(a.lower, b.lower, sizeof a.lower) == 0, "joint %s: lower limits", a.name);
    ck_assert_msg(memcmp(a.upper, b.upper, sizeof a.upper) == 0, "joint %s: upper limits", a.name);
}

static inline void io_same_models(const poise_model *a, const poise_model *b)
{
    ck_assert_int_eq(poise_model_joint_count(a), poise_model_joint_count(b));
    ck_assert_int_eq(poise_model_tool_count(a), poise_model_tool_count(b));
    ck_assert_int_eq(poise_model_nq(a), poise_model_nq(b));
    for (int j = 0; j < poise_model_joint_count(a); ++j) {
        io_same_joints(poise_model_joint(a, j), poise_model_joint(b, j));
    }
    for (int t = 0; t < poise_model_tool_count(a); ++t) {
        poise_pose p = poise_model_tool_pose(a, t), r = poise_model_tool_pose(b, t);
        ck_assert_str_eq(poise_model_tool_name(a, t), poise_model_tool_name(b, t));
        ck_assert_int_eq(poise_model_tool_body(a, t), poise_model_tool_body(b, t));
        ck_assert_msg(memcmp(&p, &r, sizeof p) == 0, "tool %s", poise_model_tool_name(a, t));
    }
}

// Where a joint, or else a tool, of that name is in a frame of the clip.
static inline poise_vec3 io_place(const poise_model *model, const poise_clip *clip, int frame, const char *name)
{
    poise_kinematics *kinematics;
    ck_assert_int_eq(poise_kinematics_create(model, NULL, &kinematics, NULL), POISE_OK);
    ck_assert_int_eq(poise_kinematics_update(kinematics, clip->q + (size_t)frame * (size_t)clip->nq, NULL), POISE_OK);
    int joint = poise_model_find_joint(model, name), tool = poise_model_find_tool(model, name);
    ck_assert_msg(joint >= 0 || tool >= 0, "no %s", name);
    poise_pose pose =
        joint >= 0 ? poise_kinematics_body_pose(kinematics, joint) : poise_kinematics_tool_pose(kinematics, tool);
    poise_kinematics_destroy(kinematics);
    return pose.position;
}

// Coordinates within `tolerance` of what is expected.
static inline void io_near(poise_vec3 p, const double expected[3], double tolerance, const char *what)
{
    double d[3] = {p.x - expected[0], p.y - expected[1], p.z - expected[2]};
    for (int i = 0; i < 3; ++i) {
        ck_assert_msg(d[i] <= tolerance && d[i] >= -tolerance, "%s: (%g %g %g), expected (%g %g %g)", what, p.x, p.y, p.z,
                      expected[0], expected[1], expected[2]);
    }
}

#endif
