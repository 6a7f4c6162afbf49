// POSE: POSITION with `weight` and ORIENTATION with `rotation_weight`.
#include "goal/goal.h"

static void pose_evaluate(pz_evaluation *evaluation, const poise_goal *goal)
{
    pz_goal_position.evaluate(evaluation, goal);
    pz_add_orientation(evaluation, goal, goal->rotation_weight);
}

static poise_goal_error pose_error(const poise_kinematics *kin, const poise_goal *goal)
{
    poise_goal_error error = pz_goal_position.error(kin, goal);
    error.rotation_error = pz_goal_orientation.error(kin, goal).error;
    return error;
}

static int pose_rows(const poise_kinematics *kin, const poise_goal *goal, double *r, double *J)
{
    if (r) {
        pz_goal_position.rows(kin, goal, r, J);
        pz_rotation_rows(kin, goal, goal->rotation_weight, r + 3, J + 3 * kin->model->nv);
    }
    return 6;
}

poise_goal poise_goal_pose(int body, poise_pose local, poise_pose target)
{
    poise_goal goal = poise_goal_default(POISE_GOAL_POSE);
    goal.body = body;
    goal.local = (poise_pose){quat_normalize(local.rotation), local.position};
    goal.target = (poise_pose){quat_normalize(target.rotation), target.position};
    return goal;
}

const pz_goal_row pz_goal_pose = {
    .needs = PZ_NEEDS_BODY | PZ_NEEDS_POINT | PZ_NEEDS_ROTATION,
    .evaluate = pose_evaluate,
    .error = pose_error,
    .rows = pose_rows,
};
