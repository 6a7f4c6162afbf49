// POSE: POSITION with `weight` and ORIENTATION with `rotation_weight`.
#include "goal/goal_kind.h"

void pz_pose_evaluate(pz_evaluation *evaluation, const poise_goal *goal)
{
    pz_position_evaluate(evaluation, goal);
    pz_orientation_add(evaluation, goal, goal->rotation_weight);
}

poise_goal_error pz_pose_error(const poise_kinematics *kin, const poise_goal *goal)
{
    poise_goal_error error = pz_position_error(kin, goal);
    error.rotation_error = pz_orientation_error(kin, goal).error;
    return error;
}

int pz_pose_rows(const poise_kinematics *kin, const poise_goal *goal, double *r, double *J)
{
    if (r) {
        pz_position_rows(kin, goal, r, J);
        pz_rotation_rows(kin, goal, goal->rotation_weight, r + 3, J + 3 * kin->model->nv);
    }
    return 6;
}
