// What one joint or tool must satisfy by itself.
#include "base/error.h"
#include "model/builder.h"
#include "num/vector.h"

#include <string.h>

// Lengths beyond this are refused: their squares and products must stay far from overflow.
#define LARGEST 1e100

// How far two unit axes of a universal joint may be from orthogonal: the error of axes typed with ten digits.
#define ORTHOGONAL 1e-9

static bool in_range(double x)
{
    return fabs(x) <= LARGEST; // false for NaN
}

static bool vec3_in_range(vec3 v)
{
    return in_range(v.x) && in_range(v.y) && in_range(v.z);
}

static vec3 unit_vec3(vec3 v)
{
    return pz_is_unit(v3_dot(v, v)) ? v : v3_normalize(v);
}

static poise_status check_quat(quat *q, const char *kind, const char *name, const char *what, poise_error *error)
{
    quat unit = quat_is_finite(*q) ? pz_unit_quat(*q) : (quat){0, 0, 0, 0};
    if (unit.x == 0 && unit.y == 0 && unit.z == 0 && unit.w == 0) {
        return pz_error_set(error, POISE_ERROR_MODEL,
                            "%s \"%s\": %s is not a rotation: give a finite quaternion other than 0", kind, name, what);
    }
    *q = unit;
    return POISE_OK;
}

static poise_status check_axis(vec3 *axis, const char *name, const char *what, poise_error *error)
{
    if (!v3_is_finite(*axis)) {
        return pz_error_set(error, POISE_ERROR_MODEL, "joint \"%s\": %s is not finite", name, what);
    }
    vec3 unit = unit_vec3(*axis);
    if (unit.x == 0 && unit.y == 0 && unit.z == 0) {
        return pz_error_set(error, POISE_ERROR_MODEL, "joint \"%s\": %s is zero: give it a direction", name, what);
    }
    *axis = unit;
    return POISE_OK;
}

static poise_status check_axes(poise_joint *joint, poise_error *error)
{
    poise_joint_type type = joint->type;
    if (type == POISE_JOINT_REVOLUTE || type == POISE_JOINT_PRISMATIC || type == POISE_JOINT_UNIVERSAL) {
        poise_status status = check_axis(&joint->axis, joint->name, "axis", error);
        if (status != POISE_OK || type != POISE_JOINT_UNIVERSAL) {
            return status;
        }
        status = check_axis(&joint->axis2, joint->name, "axis2", error);
        if (status != POISE_OK) {
            return status;
        }
        if (fabs(v3_dot(joint->axis, joint->axis2)) > ORTHOGONAL) {
            return pz_error_set(error, POISE_ERROR_MODEL,
                                "joint \"%s\": axis and axis2 must be orthogonal; otherwise use two revolute joints",
                                joint->name);
        }
        return POISE_OK;
    }
    return check_quat(&joint->axes, "joint", joint->name, "axes", error);
}

// Axes of functions that are there; those of others may be anything.
static poise_status check_curve(const poise_joint *joint, poise_error *error)
{
    static const char *const names[] = {"turn 1", "turn 2", "turn 3", "slide 1", "slide 2", "slide 3"};
    if ((joint->type == POISE_JOINT_CURVE) != (joint->curve != NULL)) {
        return pz_error_set(error, POISE_ERROR_MODEL,
                            joint->curve ? "joint \"%s\": only curve joints take a curve" : "joint \"%s\": give it a curve",
                            joint->name);
    }
    for (int i = 0; joint->curve && i < 6; ++i) {
        vec3 axis = joint->curve->axis[i];
        poise_status status = pz_function_check(&joint->curve->value[i], joint->name, names[i], error);
        if (status == POISE_OK && joint->curve->value[i].count > 0) {
            status = check_axis(&axis, joint->name, names[i], error);
        }
        if (status != POISE_OK) {
            return status;
        }
    }
    return POISE_OK;
}

static poise_status check_limits(const poise_joint *joint, poise_error *error)
{
    pz_step_kind steps[PZ_MAX_STEPS];
    int step_count = pz_joint_steps(joint->type, joint->order, steps);
    int c = 0;
    for (int s = 0; s < step_count; ++s) {
        for (int i = 0; i < pz_step_nq(steps[s]); ++i, ++c) {
            double lower = joint->lower[c], upper = joint->upper[c];
            if (lower != lower || upper != upper) {
                return pz_error_set(error, POISE_ERROR_MODEL, "joint \"%s\": %s limit nan; without one it is %sINFINITY",
                                    joint->name, lower != lower ? "lower" : "upper", lower != lower ? "-" : "");
            }
            if (lower > upper) {
                return pz_error_set(error, POISE_ERROR_MODEL,
                                    "joint \"%s\": lower limit %g is above upper limit %g: exchange them, or correct one",
                                    joint->name, lower, upper);
            }
            if (lower == INFINITY || upper == -INFINITY) {
                return pz_error_set(error, POISE_ERROR_MODEL, "joint \"%s\": limits %g to %g leave no value", joint->name,
                                    lower, upper);
            }
            if (steps[s] == PZ_QUATERNION && (is_finite(lower) || is_finite(upper))) {
                return pz_error_set(error, POISE_ERROR_MODEL,
                                    "joint \"%s\": quaternion coordinates take no limits; use "
                                    "swing_twist",
                                    joint->name);
            }
        }
    }
    return POISE_OK;
}

static poise_status check_swing(const poise_joint *joint, poise_error *error)
{
    double a = joint->swing[0], b = joint->swing[1];
    if (a == INFINITY && b == INFINITY) {
        return POISE_OK;
    }
    if (joint->type != POISE_JOINT_SWING_TWIST) {
        return pz_error_set(error, POISE_ERROR_MODEL, "joint \"%s\": only swing_twist joints take a swing limit",
                            joint->name);
    }
    if (!(a > 0 && a < PZ_PI && b > 0 && b < PZ_PI)) {
        return pz_error_set(error, POISE_ERROR_MODEL, "joint \"%s\": swing limits %g and %g must lie between 0 and pi",
                            joint->name, a, b);
    }
    // the ray to the centre must lead into the box as well
    if (!(joint->lower[0] <= 0 && 0 <= joint->upper[0] && joint->lower[1] <= 0 && 0 <= joint->upper[1])) {
        return pz_error_set(error, POISE_ERROR_MODEL,
                            "joint \"%s\": with a swing ellipse, the limits of the swing coordinates must include 0",
                            joint->name);
    }
    return POISE_OK;
}

static poise_status check_mimic_function(const poise_joint *joint, poise_error *error)
{
    if (!joint->mimic) {
        return pz_error_set(error, POISE_ERROR_MODEL, "joint \"%s\": mimic_function without a joint to mimic", joint->name);
    }
    if (joint->mimic_multiplier != 1.0 || joint->mimic_offset != 0.0) {
        return pz_error_set(error, POISE_ERROR_MODEL,
                            "joint \"%s\": give it a multiplier and an offset, or a mimic_function, not both", joint->name);
    }
    if (is_finite(joint->lower[0]) || is_finite(joint->upper[0])) {
        return pz_error_set(
            error, POISE_ERROR_MODEL,
            "joint \"%s\": follows \"%s\" by a function, so it cannot have limits; set them on the joint it follows",
            joint->name, joint->mimic);
    }
    if (joint->mimic_function->count < 1) {
        return pz_error_set(error, POISE_ERROR_MODEL, "joint \"%s\": mimic_function has no numbers", joint->name);
    }
    return pz_function_check(joint->mimic_function, joint->name, "mimic_function", error);
}

static poise_status check_mimic(const poise_joint *joint, poise_error *error)
{
    if (joint->mimic_function) {
        poise_status status = check_mimic_function(joint, error);
        if (status != POISE_OK) {
            return status;
        }
    }
    if (!joint->mimic) {
        return POISE_OK;
    }
    if (strcmp(joint->mimic, joint->name) == 0) {
        return pz_error_set(error, POISE_ERROR_MODEL, "joint \"%s\": it mimics itself; name another joint, or none",
                            joint->name);
    }
    if (joint->type != POISE_JOINT_REVOLUTE && joint->type != POISE_JOINT_PRISMATIC && joint->type != POISE_JOINT_CURVE) {
        return pz_error_set(error, POISE_ERROR_MODEL, "joint \"%s\": only revolute, prismatic and curve joints can mimic",
                            joint->name);
    }
    if (!in_range(joint->mimic_multiplier) || !in_range(joint->mimic_offset)) {
        return pz_error_set(error, POISE_ERROR_MODEL, "joint \"%s\": mimic multiplier and offset must be finite",
                            joint->name);
    }
    return POISE_OK;
}

poise_status pz_joint_check(poise_joint *joint, poise_error *error)
{
    if (!joint->name || !joint->name[0] || (joint->body && !joint->body[0])) {
        return pz_error_set(error, POISE_ERROR_MODEL, "a joint and its body need a name");
    }
    if (!pz_joint_row_of(joint->type) || (unsigned)joint->order >= POISE_EULER_ORDER_COUNT) {
        return pz_error_set(error, POISE_ERROR_MODEL, "joint \"%s\": unknown type or Euler order", joint->name);
    }
    if (!vec3_in_range(joint->offset.position)) {
        return pz_error_set(error, POISE_ERROR_MODEL, "joint \"%s\": offset is not finite, or beyond 1e100", joint->name);
    }
    if (!(joint->mass >= 0 && joint->mass <= LARGEST) || !vec3_in_range(joint->mass_center)) {
        return pz_error_set(error, POISE_ERROR_MODEL, "joint \"%s\": mass must be finite and not negative", joint->name);
    }
    if (!(joint->velocity >= 0)) {
        return pz_error_set(error, POISE_ERROR_MODEL, "joint \"%s\": velocity must not be negative", joint->name);
    }
    poise_status status = check_quat(&joint->offset.rotation, "joint", joint->name, "offset", error);
    if (status == POISE_OK) {
        status = check_axes(joint, error);
    }
    if (status == POISE_OK) {
        status = check_curve(joint, error);
    }
    if (status == POISE_OK) {
        status = check_limits(joint, error);
    }
    if (status == POISE_OK) {
        status = check_swing(joint, error);
    }
    return status == POISE_OK ? check_mimic(joint, error) : status;
}

poise_status pz_tool_check(poise_tool *tool, poise_error *error)
{
    if (!tool->name || !tool->name[0]) {
        return pz_error_set(error, POISE_ERROR_MODEL, "a tool needs a name");
    }
    if (!tool->body || !tool->body[0]) {
        return pz_error_set(error, POISE_ERROR_MODEL, "tool \"%s\": name the body that carries it", tool->name);
    }
    if (!vec3_in_range(tool->pose.position)) {
        return pz_error_set(error, POISE_ERROR_MODEL, "tool \"%s\": position is not finite, or beyond 1e100", tool->name);
    }
    return check_quat(&tool->pose.rotation, "tool", tool->name, "rotation", error);
}
