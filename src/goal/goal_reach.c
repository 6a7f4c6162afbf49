// How far the point of a goal can get: the length of its chain.
#include "goal/goal_kind.h"

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
