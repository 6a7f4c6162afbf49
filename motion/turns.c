// Angles that say the same. A hinge may be a whole turn further on, and three Euler angles, or three hinges through one
// point, each at right angles to the next, give every rotation in two ways:
//
//   R1(a) R2(b) R3(c) = R1(a + pi) R2(pi - b) R3(c + pi)     first and last axis at right angles
//                     = R1(a + pi) R2(-b) R3(c + pi)         the same axis
//
// A cold start finds any of them. Of those within the limits, the one nearest to where the joint was is meant.
#include "motion/turns.h"

#include "num/real.h"
#include "num/trig.h"
#include "num/vector.h"

#define EXACT 1e-9 // cosine of axes that are at right angles, or lengths that are nothing

static bool is_within(const poise_model *model, int at, double angle)
{
    poise_model_summary size = poise_model_info(model);
    return angle >= size.lower[at] && angle <= size.upper[at];
}

static bool is_followed(const poise_model *model, int joint)
{
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        if (poise_model_joint_info(model, k).mimic == joint) {
            return true;
        }
    }
    return false;
}

static bool is_lone_hinge(const poise_model *model, int joint)
{
    poise_joint_info info = poise_model_joint_info(model, joint);
    return info.type == POISE_JOINT_REVOLUTE && info.nq == 1 && !is_followed(model, joint);
}

// Is it a joint of three angles? *first: where they begin.
static bool is_euler(const poise_model *model, int joint, int *first)
{
    poise_joint_info info = poise_model_joint_info(model, joint);
    *first = info.q + (info.type == POISE_JOINT_FREE_EULER ? 3 : 0);
    return (info.type == POISE_JOINT_BALL_EULER || info.type == POISE_JOINT_FREE_EULER) && !is_followed(model, joint);
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
        if (joint[i] < 0 || !is_lone_hinge(model, joint[i]) ||
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
static bool turn_back(const poise_model *model, const double *near, int at, double *q)
{
    double angle = turn_near(q[at], near[at]);
    bool changed = fabs(angle - q[at]) > 1.0 && is_within(model, at, angle);
    q[at] = changed ? angle : q[at];
    return changed;
}

// The other way of three angles, where it is nearer and within the limits.
static bool flip(const poise_model *model, const int at[3], bool same, const double *near, double *q)
{
    double other[3], here = 0.0, there = 0.0;
    bool is_there = true;
    for (int i = 0; i < 3; ++i) {
        double angle = q[at[i]], goal = near[at[i]];
        other[i] = turn_near(i != 1 ? angle + PZ_PI : same ? -angle : PZ_PI - angle, goal);
        here += (angle - goal) * (angle - goal);
        there += (other[i] - goal) * (other[i] - goal);
        is_there = is_there && is_within(model, at[i], other[i]);
    }
    is_there = is_there && there < here;
    for (int i = 0; i < 3 && is_there; ++i) {
        q[at[i]] = other[i];
    }
    return is_there;
}

static bool turn_joint(const poise_model *model, int joint, const double *near, double *q)
{
    int first;
    if (is_lone_hinge(model, joint)) {
        return turn_back(model, near, poise_model_joint_info(model, joint).q, q);
    }
    if (!is_euler(model, joint, &first)) {
        return false;
    }
    bool changed = false;
    for (int i = 0; i < 3; ++i) {
        changed = turn_back(model, near, first + i, q) || changed;
    }
    bool same = poise_model_joint_info(model, joint).given->order >= POISE_EULER_XYX;
    return flip(model, (const int[3]){first, first + 1, first + 2}, same, near, q) || changed;
}

bool pz_nearest_turns(const poise_model *model, const poise_placement *placements, int count, const double *near, double *q)
{
    bool changed = false, is_near = true;
    for (int i = 0; i < poise_model_info(model).nq && is_near; ++i) {
        is_near = fabs(q[i] - near[i]) <= 0.5 * PZ_PI;
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
            changed = flip(model, at, same, near, q) || changed;
        }
    }
    return changed;
}
