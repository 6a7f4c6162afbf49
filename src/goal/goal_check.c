// What a goal must satisfy before it is evaluated.
#include "base/error.h"
#include "goal/goal_kind.h"

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

static poise_status refuse(poise_error *error, const poise_goal *goal, const char *why)
{
    return pz_error_set(error, POISE_ERROR_ARGUMENT, "%s goal: %s", poise_goal_kind_name(goal->kind), why);
}

static poise_status refuse_body(poise_error *error, const char *kind, const char *member, int body, const poise_model *model)
{
    if (body == POISE_NONE) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "%s goal: %s is POISE_NONE: no body has the name that was looked up", kind, member);
    }
    return pz_error_set(error, POISE_ERROR_ARGUMENT, "%s goal: %s %d does not exist; the model has %d bodies", kind, member,
                        body, model->joint_count);
}

static poise_status check_configuration(const poise_goal *goal, const poise_model *model, poise_error *error)
{
    if (!goal->q || !pz_model_accepts(model, goal->q)) {
        return refuse(error, goal, "q must hold nq finite numbers and no zero quaternion");
    }
    if (goal->q_before && !pz_model_accepts(model, goal->q_before)) {
        return refuse(error, goal, "q_before must hold nq finite numbers and no zero quaternion");
    }
    for (int i = 0; goal->q_weights && i < model->nv; ++i) {
        if (!is_weight(goal->q_weights[i])) {
            return refuse(error, goal, "every weight in q_weights must be finite and >= 0");
        }
    }
    return POISE_OK;
}

static poise_status check_geometry(const poise_goal *goal, int needs, poise_error *error)
{
    if ((needs & PZ_NEEDS_POINT) && !(v3_is_finite(goal->local.position) && v3_is_finite(goal->target.position))) {
        return refuse(error, goal, "local and target positions must be finite");
    }
    if ((needs & PZ_NEEDS_ROTATION) && !(is_unit_quat(goal->local.rotation) && is_unit_quat(goal->target.rotation))) {
        return refuse(error, goal, "local and target rotations must be unit quaternions");
    }
    if ((needs & PZ_NEEDS_AXIS) && !is_unit(v3_dot(goal->axis, goal->axis))) {
        return refuse(error, goal, "axis must be a unit vector");
    }
    if ((needs & PZ_NEEDS_DIRECTION) && !is_unit(v3_dot(goal->direction, goal->direction))) {
        return refuse(error, goal, "direction must be a unit vector");
    }
    // a band is laid along the axes of the target, so that its rotation counts even where no orientation is asked for
    if (pz_has_band(goal->tolerance) && !is_unit_quat(goal->target.rotation)) {
        return refuse(error, goal, "a tolerance needs a target rotation: its axes are the target's");
    }
    return POISE_OK;
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
    if ((row->needs & PZ_NEEDS_BODY) && (goal->body < 0 || goal->body >= model->joint_count)) {
        return refuse_body(error, row->name, "body", goal->body, model);
    }
    bool follows = goal->kind == POISE_GOAL_RELATIVE && goal->body2 != POISE_WORLD;
    if (follows && (goal->body2 < 0 || goal->body2 >= model->joint_count)) {
        return refuse_body(error, row->name, "body2", goal->body2, model);
    }
    if (!is_weight(goal->weight) || !is_weight(goal->rotation_weight)) {
        return refuse(error, goal, "weights must be finite and >= 0");
    }
    if ((unsigned)goal->loss >= POISE_LOSS_COUNT ||
        (goal->loss != POISE_LOSS_NONE && !(goal->loss_scale > 0 && is_finite(goal->loss_scale)))) {
        return refuse(error, goal, "loss must be known and its scale finite and > 0");
    }
    if (!is_band(goal->tolerance) || !is_band(goal->rotation_tolerance)) {
        return refuse(error, goal, "tolerances must be >= 0");
    }
    if (goal->kind == POISE_GOAL_DISTANCE && !is_weight(goal->distance)) {
        return refuse(error, goal, "distance must be finite and >= 0");
    }
    if (goal->kind == POISE_GOAL_CALLBACK && !goal->function) {
        return refuse(error, goal, "function must not be NULL");
    }
    if (goal->kind == POISE_GOAL_CENTER_OF_MASS && model->total_mass == 0) {
        return refuse(error, goal, "the model has no mass");
    }
    poise_status status = check_geometry(goal, row->needs, error);
    return status == POISE_OK && (row->needs & PZ_NEEDS_Q) ? check_configuration(goal, model, error) : status;
}

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
