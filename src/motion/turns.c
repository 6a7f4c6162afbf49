// Angles that say the same. A hinge may be a whole turn further on, and three Euler angles, or three hinges through one
// point, each at right angles to the next, give every rotation in two ways:
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

// May the coordinates turn for ever, and does no other joint follow them?
static bool is_open(const poise_model *model, int joint, int first, int count)
{
    poise_model_summary size = poise_model_info(model);
    for (int i = first; i < first + count; ++i) {
        if (size.lower[i] > -INFINITY || size.upper[i] < INFINITY) {
            return false;
        }
    }
    for (int k = 0; k < size.joints; ++k) {
        if (poise_model_joint_info(model, k).mimic == joint) {
            return false;
        }
    }
    return true;
}

static bool is_open_hinge(const poise_model *model, int joint)
{
    poise_joint_info info = poise_model_joint_info(model, joint);
    return info.type == POISE_JOINT_REVOLUTE && info.nq == 1 && is_open(model, joint, info.q, 1);
}

// Is it a joint of three such angles? *first: where they begin.
static bool is_open_euler(const poise_model *model, int joint, int *first)
{
    poise_joint_info info = poise_model_joint_info(model, joint);
    *first = info.q + (info.type == POISE_JOINT_FREE_EULER ? 3 : 0);
    return (info.type == POISE_JOINT_BALL_EULER || info.type == POISE_JOINT_FREE_EULER) && is_open(model, joint, *first, 3);
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

// An angle, whole turns nearer; else the same number, to the last bit.
static bool turn_back(const double *near, int at, double *q)
{
    double angle = wrapped(q[at], near[at]);
    bool changed = fabs(angle - q[at]) > 1.0;
    q[at] = changed ? angle : q[at];
    return changed;
}

// The other way of three angles, where it is nearer.
static bool flip(const int at[3], bool same, const double *near, double *q)
{
    double other[3], here = 0.0, there = 0.0;
    for (int i = 0; i < 3; ++i) {
        double angle = q[at[i]], goal = near[at[i]];
        other[i] = wrapped(i != 1 ? angle + PI : same ? -angle : PI - angle, goal);
        here += (angle - goal) * (angle - goal);
        there += (other[i] - goal) * (other[i] - goal);
    }
    for (int i = 0; i < 3 && there < here; ++i) {
        q[at[i]] = other[i];
    }
    return there < here;
}

static bool turn_joint(const poise_model *model, int joint, const double *near, double *q)
{
    int first;
    if (is_open_hinge(model, joint)) {
        return turn_back(near, poise_model_joint_info(model, joint).q, q);
    }
    if (!is_open_euler(model, joint, &first)) {
        return false;
    }
    bool changed = false;
    for (int i = 0; i < 3; ++i) {
        changed = turn_back(near, first + i, q) || changed;
    }
    bool same = poise_model_joint_info(model, joint).given->order >= POISE_EULER_XYX;
    return flip((const int[3]){first, first + 1, first + 2}, same, near, q) || changed;
}

bool pz_nearest_turns(const poise_model *model, const poise_placement *placements, int count, const double *near, double *q)
{
    bool changed = false, is_near = true;
    for (int i = 0; i < poise_model_info(model).nq && is_near; ++i) {
        is_near = fabs(q[i] - near[i]) <= 0.5 * PI;
    }
    for (int k = 0; k < poise_model_info(model).joints && !is_near; ++k) {
        changed = turn_joint(model, k, near, q) || changed;
    }
    for (int k = 0; k < poise_model_info(model).joints && !is_near; ++k) {
        int above = poise_model_joint_info(model, k).parent;
        int joint[3] = {above >= 0 ? poise_model_joint_info(model, above).parent : POISE_NONE, above, k};
        bool same;
        if (are_one_rotation(model, placements, count, joint, &same)) {
            int at[3];
            for (int i = 0; i < 3; ++i) {
                at[i] = poise_model_joint_info(model, joint[i]).q;
            }
            changed = flip(at, same, near, q) || changed;
        }
    }
    return changed;
}
