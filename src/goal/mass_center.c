// CENTER_OF_MASS: c = sum (m_b/M) x_b at t. E = w/2 |r|^2, r = c - t.
//
// With r held fixed, each body feels the force w (m_b/M) r at its own centre, which stays on the tree; the rows J = dc/dq
// couple all branches.
#include "goal/goal.h"

static vec3 off_target(const poise_kinematics *kin, const poise_goal *goal)
{
    return v3_sub(pz_kin_mass_center(kin), pz_goal_target(kin, goal));
}

static void mass_center_evaluate(pz_evaluation *evaluation, const poise_goal *goal)
{
    const poise_kinematics *kin = evaluation->kin;
    const poise_model *model = kin->model;
    vec3 r = off_target(kin, goal);
    double w = goal->weight;
    evaluation->cost += 0.5 * w * v3_dot(r, r);
    if (evaluation->level == POISE_LEVEL_COST) {
        return;
    }
    for (int k = 0; k < model->joint_count; ++k) {
        if (model->joints[k].mass > 0) {
            vec3 x = v3_add(kin->p[k], m3_apply(&kin->R[k], model->joints[k].mass_center));
            pz_add_force(evaluation, k, x, v3_scale(r, w * model->joints[k].mass / model->total_mass));
        }
    }
    if (evaluation->level == POISE_LEVEL_HESSIAN) {
        double *J = pz_add_row(evaluation, w); // three rows, one after the other
        pz_add_row(evaluation, w);
        pz_add_row(evaluation, w);
        pz_kin_mass_center_columns(kin, J);
    }
}

static poise_goal_error mass_center_error(const poise_kinematics *kin, const poise_goal *goal)
{
    return pz_single_error(v3_norm(off_target(kin, goal)), POISE_UNIT_LENGTH);
}

static int mass_center_rows(const poise_kinematics *kin, const poise_goal *goal, double *r, double *J)
{
    if (!r) {
        return 3;
    }
    double w = sqrt(goal->weight);
    pz_kin_mass_center_columns(kin, J);
    for (int i = 0; i < 3 * kin->model->nv; ++i) {
        J[i] *= w;
    }
    v3_store(v3_scale(off_target(kin, goal), w), r);
    return 3;
}

static poise_status mass_center_check(const poise_goal *goal, const poise_model *model, poise_error *error)
{
    return model->total_mass != 0 ? POISE_OK : pz_refuse_goal(error, goal, "the model has no mass");
}

poise_goal poise_goal_center_of_mass(poise_vec3 target)
{
    poise_goal goal = poise_goal_default(POISE_GOAL_CENTER_OF_MASS);
    goal.target.position = target;
    return goal;
}

const pz_goal_row pz_goal_center_of_mass = {
    .needs = PZ_NEEDS_POINT | PZ_NEEDS_COUPLING,
    .check = mass_center_check,
    .evaluate = mass_center_evaluate,
    .error = mass_center_error,
    .rows = mass_center_rows,
};
