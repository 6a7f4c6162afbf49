// Angles that say the same. A hinge may be a whole turn further on, and three hinges through one point, each at right angles
// to the next, give every rotation in two ways:
//
//   R1(a) R2(b) R3(c) = R1(a + pi) R2(pi - b) R3(c + pi)     first and last axis at right angles
//                     = R1(a + pi) R2(-b) R3(c + pi)         the same axis
//
// A cold start finds any of them. Where no limit tells which one is meant, it is the one nearest to where the joint was.
#include "motion/turns.h"

#include "math/quat.h"
#include "math/vec3.h"
#include "model/packed_model.h"

#define PI    3.14159265358979323846
#define EXACT 1e-9 // cosine of axes that are at right angles, or lengths that are nothing

// Whole turns nearer to `near`.
static double wrapped(double angle, double near)
{
    return angle - 2.0 * PI * floor((angle - near) / (2.0 * PI) + 0.5);
}

// A hinge that may turn for ever, and that no other joint follows.
static bool is_open_hinge(const poise_model *model, int joint)
{
    poise_joint_info info = poise_model_joint_info(model, joint);
    poise_model_summary size = poise_model_info(model);
    if (info.type != POISE_JOINT_REVOLUTE || info.nq != 1 || size.lower[info.q] > -INFINITY ||
        size.upper[info.q] < INFINITY) {
        return false;
    }
    for (int k = 0; k < size.joints; ++k) {
        if (poise_model_joint_info(model, k).mimic == joint) {
            return false;
        }
    }
    return true;
}

// Does nothing but its one child hang from the body of this joint?
static bool is_bare(const poise_model *model, const poise_placement *placements, int count, int joint)
{
    int children = 0;
    for (int k = joint + 1; k < poise_model_info(model).joints; ++k) {
        children += poise_model_joint_info(model, k).parent == joint;
    }
    for (int k = 0; k < poise_model_info(model).tools; ++k) {
        children += poise_model_tool_info(model, k).body == joint;
    }
    for (int i = 0; i < count; ++i) {
        children += placements[i].body == joint;
    }
    return children == 1;
}

// Does the joint begin where its parent's body is, turned by nothing?
static bool begins_at_parent(const poise_model *model, int joint)
{
    poise_pose offset = poise_model_joint_info(model, joint).given->offset;
    return v3_norm(offset.position) < EXACT && v3_norm(quat_vec(offset.rotation)) < EXACT;
}

static vec3 axis_of(const poise_model *model, int joint)
{
    return poise_model_joint_info(model, joint).given->axis;
}

// Are these three hinges of one rotation? *same: the last axis is the first one's.
static bool are_one_rotation(const poise_model *model, const poise_placement *placements, int count, const int joint[3],
                             bool *same)
{
    for (int i = 0; i < 3; ++i) {
        if (joint[i] < 0 || !is_open_hinge(model, joint[i]) ||
            (i < 2 && (!is_bare(model, placements, count, joint[i]) || !begins_at_parent(model, joint[i + 1])))) {
            return false;
        }
    }
    vec3 a = axis_of(model, joint[0]), b = axis_of(model, joint[1]), c = axis_of(model, joint[2]);
    double across = fabs(v3_dot(a, c));
    *same = across > 0.5;
    return fabs(v3_dot(a, b)) < EXACT && fabs(v3_dot(b, c)) < EXACT && (across < EXACT || across > 1.0 - EXACT);
}

// The other way of three hinges, where it is nearer.
static bool flip(const poise_model *model, const int joint[3], bool same, const double *near, double *q)
{
    double other[3], here = 0.0, there = 0.0;
    for (int i = 0; i < 3; ++i) {
        int at = poise_model_joint_info(model, joint[i]).q;
        other[i] = wrapped(i != 1 ? q[at] + PI : same ? -q[at] : PI - q[at], near[at]);
        here += (q[at] - near[at]) * (q[at] - near[at]);
        there += (other[i] - near[at]) * (other[i] - near[at]);
    }
    for (int i = 0; i < 3 && there < here; ++i) {
        q[poise_model_joint_info(model, joint[i]).q] = other[i];
    }
    return there < here;
}

bool pz_nearest_turns(const poise_model *model, const poise_placement *placements, int count, const double *near, double *q)
{
    bool changed = false, is_near = true;
    for (int i = 0; i < poise_model_info(model).nq && is_near; ++i) {
        is_near = fabs(q[i] - near[i]) <= 0.5 * PI;
    }
    for (int k = 0; k < poise_model_info(model).joints && !is_near; ++k) {
        int at = poise_model_joint_info(model, k).q;
        if (is_open_hinge(model, k)) {
            double angle = wrapped(q[at], near[at]);
            changed = changed || fabs(angle - q[at]) > 1.0;
            q[at] = fabs(angle - q[at]) > 1.0 ? angle : q[at]; // else the same number, to the last bit
        }
    }
    for (int k = 0; k < poise_model_info(model).joints && !is_near; ++k) {
        int above = poise_model_joint_info(model, k).parent;
        int joint[3] = {above >= 0 ? poise_model_joint_info(model, above).parent : POISE_NONE, above, k};
        bool same;
        if (are_one_rotation(model, placements, count, joint, &same)) {
            changed = flip(model, joint, same, near, q) || changed;
        }
    }
    return changed;
}
