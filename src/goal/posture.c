// POSTURE and SMOOTHNESS: the configuration near another one.
//
//   E = w/2 sum_i w_i (q_i - target_i)^2
//
// over plain coordinates: diagonal. A quaternion q against its target t: with r = conj(t) q, r_w >= 0, and u = vec(r), a
// step delta multiplies r from the right by exp(delta), so that dr_w = -u . delta/2 and d2r_w = -r_w |delta|^2/4:
//
//   E = w/2 |2 u|^2 = 2 w (1 - r_w^2)    gradient 2 w r_w u    Hessian w (r_w^2 I - u u^T)    Gauss-Newton w (I - u u^T)
//
// the same energy as ORIENTATION. The target of SMOOTHNESS is the last frame, or with the frame before it q + (q -
// q_before), for quaternions q (conj(q_before) q).
//
// As rows, one per dof: sqrt(w_i) (q_i - target_i), and for a quaternion sqrt(w) 2 u with d(2 u) = r_w delta + u x delta.
#include "goal/goal.h"

static quat quat_at(const double *q)
{
    return quat_normalize((quat){q[0], q[1], q[2], q[3]});
}

static bool extrapolates(const poise_goal *goal)
{
    return goal->kind == POISE_GOAL_SMOOTHNESS && goal->q_before;
}

// A rotation vector of a step; a swing has two components.
static vec3 vector_at(const pz_step *step, const double *q)
{
    return v3(q[step->q], q[step->q + 1], step->kind == PZ_EXPMAP ? q[step->q + 2] : 0.0);
}

// q - target of a step that is not a quaternion.
static void offsets(const poise_kinematics *kin, const poise_goal *goal, const pz_step *step, double off[3])
{
    if (pz_step_nq(step->kind) == 1) {
        double last = goal->q[step->q];
        off[0] = kin->q[step->q] - (extrapolates(goal) ? 2.0 * last - goal->q_before[step->q] : last);
        return;
    }
    vec3 v = vector_at(step, kin->q), target = vector_at(step, goal->q);
    if (extrapolates(goal)) {
        target = v3_sub(v3_scale(target, 2.0), so3_nearer(vector_at(step, goal->q_before), target));
    }
    vec3 d = v3_sub(v, so3_nearer(target, v));
    off[0] = d.x, off[1] = d.y, off[2] = d.z;
}

static quat target_quat(const poise_goal *goal, int i)
{
    quat last = quat_at(goal->q + i);
    if (extrapolates(goal)) {
        return quat_mul(last, quat_mul(quat_conj(quat_at(goal->q_before + i)), last));
    }
    return last;
}

// r = conj(target) q with r_w >= 0
static quat off_target(const poise_kinematics *kin, const poise_goal *goal, int i)
{
    quat r = quat_mul(quat_conj(target_quat(goal, i)), quat_at(kin->q + i));
    return r.w < 0 ? (quat){-r.x, -r.y, -r.z, -r.w} : r;
}

static double weight_of(const poise_goal *goal, int dof)
{
    return goal->weight * (goal->q_weights ? goal->q_weights[dof] : 1.0);
}

static void add_coordinate(pz_evaluation *evaluation, double w, double off, int dof)
{
    evaluation->cost += 0.5 * w * off * off;
    if (evaluation->level != POISE_LEVEL_COST) {
        evaluation->dof_gradient[dof] += w * off;
        evaluation->dof_curvature[dof] += w;
    }
}

static void add_quaternion(pz_evaluation *evaluation, double w, quat r, int dof, int block)
{
    vec3 u = quat_vec(r);
    evaluation->cost += 2.0 * w * v3_dot(u, u);
    if (evaluation->level == POISE_LEVEL_COST) {
        return;
    }
    double *gradient = evaluation->dof_gradient + dof;
    gradient[0] += 2.0 * w * r.w * u.x;
    gradient[1] += 2.0 * w * r.w * u.y;
    gradient[2] += 2.0 * w * r.w * u.z;
    if (evaluation->level == POISE_LEVEL_HESSIAN) {
        sym3 *exact = &evaluation->block_curvature[block], *gn = &evaluation->block_gauss_newton[block];
        *exact = sym3_add(*exact, sym3_add(sym3_identity(w * r.w * r.w), sym3_outer(-w, u)));
        *gn = sym3_add(*gn, sym3_add(sym3_identity(w), sym3_outer(-w, u)));
    }
}

static void posture_evaluate(pz_evaluation *evaluation, const poise_goal *goal)
{
    const poise_kinematics *kin = evaluation->kin;
    const poise_model *model = kin->model;
    for (int s = 0; s < model->step_count; ++s) {
        const pz_step *step = &model->steps[s];
        int dof = model->axes[step->axis].dof;
        if (!step->own) {
            continue;
        }
        if (step->kind == PZ_QUATERNION) {
            add_quaternion(evaluation, weight_of(goal, dof), off_target(kin, goal, step->q), dof, step->block);
            continue;
        }
        double off[3];
        offsets(kin, goal, step, off);
        for (int i = 0; i < pz_step_nq(step->kind); ++i) {
            add_coordinate(evaluation, weight_of(goal, dof + i), off[i], dof + i);
        }
    }
}

// Root mean square over the coordinates that have a weight; a quaternion counts once, with 2 sin(phi/2).
static poise_goal_error posture_error(const poise_kinematics *kin, const poise_goal *goal)
{
    const poise_model *model = kin->model;
    double sum = 0.0;
    int count = 0;
    for (int s = 0; s < model->step_count; ++s) {
        const pz_step *step = &model->steps[s];
        int dof = model->axes[step->axis].dof;
        bool is_quaternion = step->kind == PZ_QUATERNION;
        double off[3];
        if (is_quaternion) {
            off[0] = 2.0 * v3_norm(quat_vec(off_target(kin, goal, step->q)));
        } else if (step->own) {
            offsets(kin, goal, step, off);
        }
        for (int i = 0; step->own && i < (is_quaternion ? 1 : pz_step_nq(step->kind)); ++i) {
            if (!goal->q_weights || goal->q_weights[dof + i] > 0) {
                sum += off[i] * off[i];
                count += 1;
            }
        }
    }
    return pz_single_error(count ? sqrt(sum / count) : 0.0, POISE_UNIT_NONE);
}

// r_w I + [u]x, times the root of the weight, at rows and columns dof .. dof + 2.
static void put_quaternion_rows(quat off, double root, int dof, int nv, double *r, double *J)
{
    vec3 u = quat_vec(off);
    double block[9] = {off.w, -u.z, u.y, u.z, off.w, -u.x, -u.y, u.x, off.w};
    for (int i = 0; i < 9; ++i) {
        J[(size_t)(dof + i / 3) * (size_t)nv + (size_t)(dof + i % 3)] = root * block[i];
    }
    v3_store(v3_scale(u, 2.0 * root), r + dof);
}

static int posture_rows(const poise_kinematics *kin, const poise_goal *goal, double *r, double *J)
{
    const poise_model *model = kin->model;
    int nv = model->nv;
    if (!r) {
        return nv;
    }
    pz_clear_rows(kin, nv, J);
    for (int s = 0; s < model->step_count; ++s) {
        const pz_step *step = &model->steps[s];
        int dof = model->axes[step->axis].dof;
        if (!step->own) {
            continue;
        }
        if (step->kind == PZ_QUATERNION) {
            put_quaternion_rows(off_target(kin, goal, step->q), sqrt(weight_of(goal, dof)), dof, nv, r, J);
            continue;
        }
        double off[3];
        offsets(kin, goal, step, off);
        for (int i = 0; i < pz_step_nq(step->kind); ++i) {
            double root = sqrt(weight_of(goal, dof + i));
            r[dof + i] = root * off[i];
            J[(size_t)(dof + i) * (size_t)nv + (size_t)(dof + i)] = root;
        }
    }
    return nv;
}

static poise_status posture_check(const poise_goal *goal, const poise_model *model, poise_error *error)
{
    if (!goal->q || !pz_model_accepts(model, goal->q)) {
        return pz_refuse_goal(error, goal, "q must hold nq finite numbers and no zero quaternion");
    }
    if (goal->q_before && !pz_model_accepts(model, goal->q_before)) {
        return pz_refuse_goal(error, goal, "q_before must hold nq finite numbers and no zero quaternion");
    }
    for (int i = 0; goal->q_weights && i < model->nv; ++i) {
        if (!(goal->q_weights[i] >= 0 && is_finite(goal->q_weights[i]))) {
            return pz_refuse_goal(error, goal, "every weight in q_weights must be finite and >= 0");
        }
    }
    return POISE_OK;
}

poise_goal poise_goal_posture(const double *q, double weight)
{
    poise_goal goal = poise_goal_default(POISE_GOAL_POSTURE);
    goal.q = q;
    goal.weight = weight;
    return goal;
}

poise_goal poise_goal_smoothness(const double *q, const double *q_before, double weight)
{
    poise_goal goal = poise_goal_default(POISE_GOAL_SMOOTHNESS);
    goal.q = q;
    goal.q_before = q_before;
    goal.weight = weight;
    return goal;
}

const pz_goal_row pz_goal_posture = {
    .check = posture_check,
    .evaluate = posture_evaluate,
    .error = posture_error,
    .rows = posture_rows,
};

const pz_goal_row pz_goal_smoothness = {
    .check = posture_check,
    .evaluate = posture_evaluate,
    .error = posture_error,
    .rows = posture_rows,
};
