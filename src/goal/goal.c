// Goals: the one table of their kinds, and what all kinds share. What a kind is (its energy with its derivatives, its error,
// its residual rows, what it must satisfy, its constructor) is told by its own file; a new kind is such a file and a line here.
#include "goal/goal.h"

#include "base/error.h"

static const pz_goal_row *const kinds[POISE_GOAL_KIND_COUNT] = {
    [POISE_GOAL_POSITION] = &pz_goal_position,
    [POISE_GOAL_DIRECTION] = &pz_goal_direction,
    [POISE_GOAL_ORIENTATION] = &pz_goal_orientation,
    [POISE_GOAL_POSE] = &pz_goal_pose,
    [POISE_GOAL_AIM] = &pz_goal_aim,
    [POISE_GOAL_PLANE] = &pz_goal_plane,
    [POISE_GOAL_LINE] = &pz_goal_line,
    [POISE_GOAL_DISTANCE] = &pz_goal_distance,
    [POISE_GOAL_POSTURE] = &pz_goal_posture,
    [POISE_GOAL_SMOOTHNESS] = &pz_goal_smoothness,
    [POISE_GOAL_RELATIVE] = &pz_goal_relative,
    [POISE_GOAL_CENTER_OF_MASS] = &pz_goal_center_of_mass,
    [POISE_GOAL_CALLBACK] = &pz_goal_callback,
};

const pz_goal_row *pz_goal_row_of(poise_goal_kind kind)
{
    return (unsigned)kind < POISE_GOAL_KIND_COUNT ? kinds[kind] : NULL;
}

// ---- Checks --------------------------------------------------------------------------------------------------------------

// How far from 1 the length of a direction or quaternion may be: what a caller's own rounding to seven digits leaves.
#define UNIT_TOLERANCE 1e-6

static bool is_unit(double square)
{
    return fabs(square - 1.0) <= 2.0 * UNIT_TOLERANCE; // false for NaN
}

static bool is_unit_quat(quat q)
{
    return is_unit(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
}

static bool is_weight(double w)
{
    return w >= 0 && is_finite(w);
}

static bool is_band(vec3 tolerance)
{
    return tolerance.x >= 0 && tolerance.y >= 0 && tolerance.z >= 0; // infinity is fine, NaN is not
}

poise_status pz_refuse_goal(poise_error *error, const poise_goal *goal, const char *why)
{
    return pz_error_set(error, POISE_ERROR_ARGUMENT, "%s goal: %s", poise_goal_kind_name(goal->kind), why);
}

poise_status pz_check_goal_body(const poise_goal *goal, const char *member, int body, const poise_model *model,
                                poise_error *error)
{
    const char *kind = poise_goal_kind_name(goal->kind);
    if (body == POISE_NONE) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "%s goal: %s is POISE_NONE: no body has the name that was looked up", kind, member);
    }
    if (body < 0 || body >= model->joint_count) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "%s goal: %s %d does not exist; the model has %d bodies", kind,
                            member, body, model->joint_count);
    }
    return POISE_OK;
}

static poise_status check_geometry(const poise_goal *goal, int needs, poise_error *error)
{
    if ((needs & PZ_NEEDS_POINT) && !(v3_is_finite(goal->local.position) && v3_is_finite(goal->target.position))) {
        return pz_refuse_goal(error, goal, "local and target positions must be finite");
    }
    if ((needs & PZ_NEEDS_ROTATION) && !(is_unit_quat(goal->local.rotation) && is_unit_quat(goal->target.rotation))) {
        return pz_refuse_goal(error, goal, "local and target rotations must be unit quaternions");
    }
    if ((needs & PZ_NEEDS_AXIS) && !is_unit(v3_dot(goal->axis, goal->axis))) {
        return pz_refuse_goal(error, goal, "axis must be a unit vector");
    }
    if ((needs & PZ_NEEDS_DIRECTION) && !is_unit(v3_dot(goal->direction, goal->direction))) {
        return pz_refuse_goal(error, goal, "direction must be a unit vector");
    }
    // a band is laid along the axes of the target, so that its rotation counts even where no orientation is asked for
    if (pz_has_band(goal->tolerance) && !is_unit_quat(goal->target.rotation)) {
        return pz_refuse_goal(error, goal, "a tolerance needs a target rotation: its axes are the target's");
    }
    return POISE_OK;
}

int poise_goal_residuals(const poise_kinematics *kinematics, const poise_goal *goal, double *r, double *J)
{
    const pz_goal_row *row = kinematics && goal ? pz_goal_row_of(goal->kind) : NULL;
    return row && row->rows ? row->rows(kinematics, goal, r, J) : 0;
}

poise_status poise_goal_check(const poise_goal *goal, const poise_model *model, poise_error *error)
{
    if (!goal || !model) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "goal and model must not be NULL");
    }
    const pz_goal_row *row = pz_goal_row_of(goal->kind);
    if (!row) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "unknown goal: kind %d does not exist", (int)goal->kind);
    }
    poise_status status = row->needs & PZ_NEEDS_BODY ? pz_check_goal_body(goal, "body", goal->body, model, error) : POISE_OK;
    if (status != POISE_OK) {
        return status;
    }
    if (!is_weight(goal->weight) || !is_weight(goal->rotation_weight)) {
        return pz_refuse_goal(error, goal, "weights must be finite and >= 0");
    }
    if ((unsigned)goal->loss >= POISE_LOSS_COUNT ||
        (goal->loss != POISE_LOSS_NONE && !(goal->loss_scale > 0 && is_finite(goal->loss_scale)))) {
        return pz_refuse_goal(error, goal, "loss must be known and its scale finite and > 0");
    }
    if (!is_band(goal->tolerance) || !is_band(goal->rotation_tolerance)) {
        return pz_refuse_goal(error, goal, "tolerances must be >= 0");
    }
    status = check_geometry(goal, row->needs, error);
    return status == POISE_OK && row->check ? row->check(goal, model, error) : status;
}

// ---- At a tool -----------------------------------------------------------------------------------------------------------

poise_status poise_goal_at_tool(poise_goal *goal, const poise_model *model, const char *tool, poise_error *error)
{
    if (!goal || !model || !tool) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "goal, model and tool must not be NULL");
    }
    const pz_goal_row *row = pz_goal_row_of(goal->kind);
    if (!row || !(row->needs & PZ_NEEDS_BODY)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "a %s goal has no body, so it cannot use the tool \"%s\"",
                            poise_goal_kind_name(goal->kind), tool);
    }
    int index = poise_model_find_tool(model, tool);
    if (index == POISE_NONE) {
        return pz_error_set(error, POISE_ERROR_NOT_FOUND, "the model has no tool \"%s\"; it has %d tools%s%s%s", tool,
                            model->tool_count, model->tool_count > 0 ? ", the first is \"" : "",
                            model->tool_count > 0 ? model->tools[0].name : "", model->tool_count > 0 ? "\"" : "");
    }
    poise_tool_info info = poise_model_tool_info(model, index);
    goal->body = info.body;
    goal->local = poise_pose_multiply(info.pose, goal->local);
    goal->axis = poise_quat_rotate(info.pose.rotation, goal->axis);
    return POISE_OK;
}

// ---- Reach ---------------------------------------------------------------------------------------------------------------

// Does it turn only, so that the distance between the joints before and after it stays?
static bool keeps_length(poise_joint_type type)
{
    const pz_joint_row *row = pz_joint_row_of(type);
    for (int s = 0; s < row->step_count; ++s) {
        pz_step_kind step = row->steps[s];
        if (step == PZ_SLIDE_X || step == PZ_SLIDE_Y || step == PZ_SLIDE_Z || step == PZ_CURVE) {
            return false;
        }
    }
    return true;
}

// sum of |offset| from the joint after the first one that turns down to the body, and of |local|
double poise_goal_reach(const poise_goal *goal, const poise_model *model, int *first)
{
    double length = v3_norm(goal->local.position), reach = INFINITY;
    *first = POISE_NONE;
    for (int k = goal->body; k >= 0; k = poise_model_joint_info(model, k).parent) {
        const poise_joint *joint = poise_model_joint_info(model, k).given;
        if (!keeps_length(joint->type)) {
            *first = POISE_NONE;
            return INFINITY;
        }
        if (joint->type != POISE_JOINT_FIXED) {
            *first = k;
            reach = length;
        }
        length += v3_norm(joint->offset.position);
    }
    return reach;
}

bool poise_goal_suspect_millimetres(const poise_goal *goal, const poise_kinematics *kinematics, double *distance,
                                    double *reach)
{
    int first = POISE_NONE;
    bool has_place = goal->kind == POISE_GOAL_POSITION || goal->kind == POISE_GOAL_POSE;
    double length = has_place ? poise_goal_reach(goal, kinematics->model, &first) : INFINITY;
    if (first == POISE_NONE) {
        return false;
    }
    poise_vec3 from = poise_kinematics_body_pose(kinematics, first).position;
    double away = v3_norm(v3_sub(goal->target.position, from));
    if (distance) {
        *distance = away;
    }
    if (reach) {
        *reach = length;
    }
    return away > 30 * length && v3_norm(v3_sub(v3_scale(goal->target.position, 1e-3), from)) <= length;
}
