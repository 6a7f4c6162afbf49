// How the gradient changes with the parameters of one goal: d2E/dq dp.
//
// **Targets.** E depends on where the body is as its target sees it. So a target that moves by the motion eta (about the
// reference point) is a body that, after its own motion xi, moves by -eta; with log(exp(-eta) exp(xi)) = xi - eta - [eta,
// xi]/2 to second order, the wrench g and the symmetric second derivative G of E (goal_kind.h)
//
//   d2E/dxi deta = -xi . G eta + g . (xi x eta)/2
//
// For all kinds of one body, bands and losses included. RELATIVE is a POSE whose target stands where body2 has it, and what
// counts of two motions is xi - xi2: one that carries both bodies along changes nothing.
//
// **Weights.** E is linear in them: d2E/dq dw is the gradient of the goal with a weight of 1.
//
// **Postures.** Of plain coordinates -w w_i on the diagonal. For a quaternion r = conj(t) q, with t -> t exp(u): E does not
// change when r is conjugated, so that exp(-u) r exp(v) counts as r exp(v) exp(-u), whose logarithm is v - u - v x u/2:
// d2E/dv du = -v . H u - g . (v x u)/2.
#include "solve/sensitivity_state.h"

#include <string.h>

static bool is_posture(const poise_goal *goal)
{
    return goal->kind == POISE_GOAL_POSTURE || goal->kind == POISE_GOAL_SMOOTHNESS;
}

// ---- One goal alone ------------------------------------------------------------------------------------------------------

static void evaluate_alone(poise_sensitivity *s, const poise_goal *goal)
{
    const poise_model *model = s->model;
    pz_single *one = &s->single;
    pz_evaluation evaluation = {.kin = &s->objective.kin,
                                .level = POISE_LEVEL_HESSIAN,
                                .sums = one->sums,
                                .extras = one->extras,
                                .has_extras = true,
                                .dof_gradient = one->gradient,
                                .dof_curvature = one->curvature,
                                .block_curvature = one->block[0],
                                .block_gauss_newton = one->block[1]};
    if (is_posture(goal)) {
        memset(one->gradient, 0, (size_t)model->nv * sizeof *one->gradient);
        memset(one->curvature, 0, (size_t)model->nv * sizeof *one->curvature);
        memset(one->block[0], 0, (size_t)model->block_count * sizeof *one->block[0]);
    } else {
        memset(&one->sums[goal->body], 0, sizeof *one->sums);
        memset(&one->extras[goal->body], 0, sizeof *one->extras);
    }
    pz_goal_row_of(goal->kind)->evaluate(&evaluation, goal);
}

// G m: the exact second derivatives of a body's sum, along a motion.
static wrench stiffness(const pz_sum *sum, const pz_extra *extra, spatial m)
{
    vec3 f = sum->g.f;
    wrench more = sym6_apply(&extra->exact, m);
    vec3 n = v3_add(v3_add(sym3_apply(&sum->ww, m.w), sym3_apply(&sum->K, m.w)), v3_cross(sum->c, m.v));
    vec3 u = v3_add(v3_cross(m.w, sum->c), v3_scale(m.v, sum->n));
    return (wrench){v3_add(more.n, v3_mad(n, -0.5, v3_cross(f, m.v))), v3_add(more.f, v3_mad(u, 0.5, v3_cross(f, m.w)))};
}

// The wrench h with h . eta = g . (xi x eta).
static wrench carried(wrench g, spatial xi)
{
    return (wrench){v3_add(v3_cross(g.n, xi.w), v3_cross(g.f, xi.v)), v3_cross(g.f, xi.w)};
}

static spatial minus(spatial a, spatial b)
{
    return spatial_mad(a, -1.0, b);
}

static spatial motion_of(const poise_sensitivity *s, int body)
{
    return body == POISE_WORLD ? (spatial){{0, 0, 0}, {0, 0, 0}} : s->V[body];
}

// RELATIVE as the POSE it is while body2 does not move.
static poise_goal as_single(const poise_sensitivity *s, const poise_goal *goal)
{
    poise_goal single = *goal;
    if (goal->kind == POISE_GOAL_RELATIVE) {
        single.kind = POISE_GOAL_POSE;
        if (goal->body2 != POISE_WORLD) {
            single.target = poise_pose_multiply(poise_kinematics_body_pose(&s->objective.kin, goal->body2), goal->target);
        }
    }
    return single;
}

// The target's place, relative to the reference point.
static vec3 place_of(const poise_sensitivity *s, const poise_goal *single)
{
    poise_vec3 t = single->target.position;
    return v3_sub(v3(t.x, t.y, t.z), s->objective.kin.origin);
}

static poise_vec3 out(vec3 v)
{
    return (poise_vec3){v.x, v.y, v.z};
}

// ---- Weights -------------------------------------------------------------------------------------------------------------

// lambda . gradient of the goal with these weights; d2E/dq dw.
static double along(poise_sensitivity *s, const poise_goal *goal, double weight, double rotation_weight)
{
    poise_goal unit = *goal;
    unit.weight = weight;
    unit.rotation_weight = rotation_weight;
    evaluate_alone(s, &unit);
    double sum = 0.0;
    if (is_posture(goal)) {
        for (int i = 0; i < s->model->nv; ++i) {
            sum += s->x[i] * s->single.gradient[i];
        }
        return sum;
    }
    return spatial_dot(s->V[goal->body], s->single.sums[goal->body].g);
}

static bool has_rotation_weight(const poise_goal *goal)
{
    return goal->kind == POISE_GOAL_POSE || goal->kind == POISE_GOAL_RELATIVE;
}

// ---- Centres of mass -----------------------------------------------------------------------------------------------------

static vec3 mass_at(const poise_sensitivity *s, int k)
{
    const poise_kinematics *kin = &s->objective.kin;
    return v3_add(kin->p[k], m3_apply(&kin->R[k], s->model->joints[k].mass_center));
}

static void mass_backward(poise_sensitivity *s, const poise_goal *goal, poise_goal_change *gradient)
{
    vec3 moved = v3(0, 0, 0);
    for (int k = 0; k < s->model->joint_count; ++k) {
        double share = s->model->joints[k].mass / s->model->total_mass;
        vec3 velocity = v3_add(v3_cross(s->V[k].w, mass_at(s, k)), s->V[k].v);
        moved = v3_mad(moved, share, velocity);
    }
    vec3 off = v3_sub(pz_kin_mass_center(&s->objective.kin), place_of(s, goal));
    gradient->translation = out(v3_scale(moved, goal->weight));
    gradient->weight = -v3_dot(off, moved);
}

static void mass_forward(poise_sensitivity *s, const poise_goal *goal, const poise_goal_change *change)
{
    poise_vec3 t = change->translation;
    vec3 off = v3_sub(pz_kin_mass_center(&s->objective.kin), place_of(s, goal));
    vec3 force = v3_mad(v3_scale(v3(t.x, t.y, t.z), -goal->weight), change->weight, off);
    for (int k = 0; k < s->model->joint_count; ++k) {
        vec3 f = v3_scale(force, s->model->joints[k].mass / s->model->total_mass);
        s->U[k] = wrench_add(s->U[k], (wrench){v3_cross(mass_at(s, k), f), f});
    }
}

// ---- Postures ------------------------------------------------------------------------------------------------------------

// The matrix -d2E/dq dtarget times a step, either way round: sign 1 for steps of the target, -1 for those of q.
static void posture_product(const poise_sensitivity *s, double sign, const double *step_in, double *product)
{
    const poise_model *model = s->model;
    const pz_single *one = &s->single;
    for (int i = 0; i < model->nv; ++i) {
        product[i] = one->curvature[i] * step_in[i];
    }
    for (int k = 0; k < model->step_count; ++k) {
        const pz_step *step = &model->steps[k];
        if (step->kind != PZ_QUATERNION) {
            continue;
        }
        int v = model->axes[step->axis].dof;
        vec3 u = v3(step_in[v], step_in[v + 1], step_in[v + 2]);
        vec3 g = v3(one->gradient[v], one->gradient[v + 1], one->gradient[v + 2]);
        vec3 p = v3_mad(sym3_apply(&one->block[0][step->block], u), -0.5 * sign, v3_cross(g, u));
        product[v] += p.x, product[v + 1] += p.y, product[v + 2] += p.z;
    }
}

// ---- Points --------------------------------------------------------------------------------------------------------------

// A POSITION as markers have it: E = w/2 |x - t|^2.
static bool is_plain_point(const poise_goal *goal)
{
    return goal->kind == POISE_GOAL_POSITION && goal->loss == POISE_LOSS_NONE && !pz_has_band(goal->tolerance);
}

// d2E/dx dt = -w I, d2E/dx dw = x - t; for the velocity of x along lambda.
static void point_backward(const poise_sensitivity *s, const poise_goal *goal, poise_goal_change *gradient)
{
    poise_vec3 local = goal->local.position;
    vec3 x = pz_kin_point(&s->objective.kin, goal->body, v3(local.x, local.y, local.z));
    vec3 velocity = pz_velocity(s->V[goal->body], x);
    gradient->translation = out(v3_scale(velocity, goal->weight));
    gradient->weight = -v3_dot(velocity, v3_sub(x, place_of(s, goal)));
}

// ---- All -----------------------------------------------------------------------------------------------------------------

void pz_goal_backward(poise_sensitivity *s, const poise_goal *goal, poise_goal_change *gradient)
{
    double *posture = gradient->posture;
    *gradient = (poise_goal_change){.posture = posture};
    if (goal->kind == POISE_GOAL_CALLBACK) {
        return;
    }
    if (goal->kind == POISE_GOAL_CENTER_OF_MASS) {
        mass_backward(s, goal, gradient);
        return;
    }
    if (is_plain_point(goal)) {
        point_backward(s, goal, gradient);
        return;
    }
    if (is_posture(goal)) {
        gradient->weight = -along(s, goal, 1.0, 0.0);
        evaluate_alone(s, goal);
        if (posture) {
            posture_product(s, -1.0, s->x, posture);
        }
        return;
    }
    poise_goal single = as_single(s, goal);
    spatial xi = minus(s->V[goal->body], motion_of(s, goal->kind == POISE_GOAL_RELATIVE ? goal->body2 : POISE_WORLD));
    spatial kept = s->V[goal->body];
    s->V[goal->body] = xi; // what the goal itself sees
    gradient->weight = -along(s, &single, 1.0, 0.0);
    gradient->rotation_weight = has_rotation_weight(goal) ? -along(s, &single, 0.0, 1.0) : 0.0;
    s->V[goal->body] = kept;
    evaluate_alone(s, &single);
    const pz_sum *sum = &s->single.sums[goal->body];
    wrench w = wrench_mad(stiffness(sum, &s->single.extras[goal->body], xi), -0.5, carried(sum->g, xi));
    gradient->translation = out(w.f);
    gradient->rotation = out(v3_add(w.n, v3_cross(w.f, place_of(s, &single))));
}

void pz_goal_forward(poise_sensitivity *s, const poise_goal *goal, const poise_goal_change *change, double *dofs)
{
    if (goal->kind == POISE_GOAL_CALLBACK) {
        return;
    }
    if (goal->kind == POISE_GOAL_CENTER_OF_MASS) {
        mass_forward(s, goal, change);
        return;
    }
    poise_goal single = as_single(s, goal), unit = single;
    unit.weight = change->weight; // energies are linear in their weights
    unit.rotation_weight = change->rotation_weight;
    evaluate_alone(s, &unit);
    if (is_posture(goal)) {
        for (int i = 0; i < s->model->nv; ++i) {
            dofs[i] += s->single.gradient[i];
        }
        evaluate_alone(s, goal);
        if (change->posture) {
            posture_product(s, 1.0, change->posture, s->y);
            for (int i = 0; i < s->model->nv; ++i) {
                dofs[i] -= s->y[i];
            }
        }
        return;
    }
    wrench by_weight = s->single.sums[goal->body].g;
    evaluate_alone(s, &single);
    const pz_sum *sum = &s->single.sums[goal->body];
    vec3 turn = v3(change->rotation.x, change->rotation.y, change->rotation.z);
    vec3 shift = v3(change->translation.x, change->translation.y, change->translation.z);
    spatial eta = {turn, v3_add(shift, v3_cross(place_of(s, &single), turn))};
    // as a wrench in xi: -G eta - h/2 with h . xi = g . (eta x xi)
    wrench w = wrench_mad(by_weight, -1.0, stiffness(sum, &s->single.extras[goal->body], eta));
    w = wrench_mad(w, -0.5, carried(sum->g, eta));
    s->U[goal->body] = wrench_add(s->U[goal->body], w);
    if (goal->kind == POISE_GOAL_RELATIVE && goal->body2 != POISE_WORLD) {
        s->U[goal->body2] = wrench_mad(s->U[goal->body2], -1.0, w);
    }
}
