// Derivatives of an answer q to goals with the parameters p: the implicit function theorem, H dq = -d2f/dq dp, over the
// factor of the tree, H = L^T D L on the coordinates that no limit holds (goal/hessian.c). One POSE that is met has a
// shorter way (sensitivity_pose.c); a factor with small pivots is done again by one that tells what goals leave open.
//
// **Swings** at an active edge of their ellipse move along it: with its normal n and the part kappa W that the curvature of
// the edge adds (step.c) the block of the two coordinates becomes H + kappa W + sigma n n^T, sigma so large that
// little is left along n.
//
// **Kinks.** A coordinate that touches a limit, and is not pushed against it, is free for changes that move it inside and
// held for the others: the answer has a derivative along every change of its goals, which is not linear. Forward finds it,
// by holding what would leave; backward, which is linear, takes the side within the limits.
#include "solve/sensitivity.h"

#include "base/error.h"
#include "model/model.h"

#include <string.h>

#define RIGID  1e8 // sigma over the block's diagonal: what is left along n, and what is rounded off beside it, are 1e-8 of H
#define SMALL  1e-6  // of H_ii: pivots up to which the factor of the tree is looked at twice
#define TINY   1e-9  // of H_ii: pivots up to which it is not trusted
#define PUSHED 1e-10 // of sqrt(2 f H_ii), the most that a gradient can be: less is rounding
#define AWAY   1e-3  // radians, or of the skeleton's size: a Newton step from q to the minimum that makes q no answer

// ---- Life ----------------------------------------------------------------------------------------------------------------

static void open_lay_out(pz_open_factor *open, size_t nv, pz_arena *arena)
{
    open->order = (int *)pz_arena_take(arena, nv, sizeof(int));
    open->share = (double *)pz_arena_take(arena, nv, sizeof(double));
    open->basis = (double *)pz_arena_take(arena, nv, nv * sizeof(double));
    open->R = (double *)pz_arena_take(arena, nv, nv * sizeof(double));
    open->dense = (double *)pz_arena_take(arena, nv, nv * sizeof(double));
}

static void sensitivity_lay_out(poise_sensitivity *s, const poise_model *model, int coupled_goals, pz_arena *arena)
{
    size_t nv = (size_t)model->nv, joints = (size_t)model->joint_count, blocks = (size_t)model->block_count;
    pz_objective_lay_out(&s->objective, model, coupled_goals, arena);
    s->single.sums = (pz_sum *)pz_arena_take(arena, joints, sizeof(pz_sum));
    s->single.extras = (pz_extra *)pz_arena_take(arena, joints, sizeof(pz_extra));
    s->single.gradient = (double *)pz_arena_take(arena, nv, sizeof(double));
    s->single.curvature = (double *)pz_arena_take(arena, nv, sizeof(double));
    s->single.block[0] = (sym3 *)pz_arena_take(arena, blocks, sizeof(sym3));
    s->single.block[1] = (sym3 *)pz_arena_take(arena, blocks, sizeof(sym3));
    s->H = (double *)pz_arena_take(arena, nv * (nv + 1) / 2, sizeof(double));
    s->square = (double *)pz_arena_take(arena, nv, nv * sizeof(double));
    open_lay_out(&s->open, nv, arena);
    s->diagonal = (double *)pz_arena_take(arena, nv, sizeof(double));
    s->limit = (signed char *)pz_arena_take(arena, nv, sizeof(signed char));
    s->kept = (signed char *)pz_arena_take(arena, nv, sizeof(signed char));
    s->x = (double *)pz_arena_take(arena, nv, sizeof(double));
    s->y = (double *)pz_arena_take(arena, nv, sizeof(double));
    s->r = (double *)pz_arena_take(arena, nv, sizeof(double));
    s->dq = (double *)pz_arena_take(arena, nv, sizeof(double));
    s->q = (double *)pz_arena_take(arena, (size_t)model->nq, sizeof(double));
    s->q_answer = (double *)pz_arena_take(arena, (size_t)model->nq, sizeof(double));
    s->V = (spatial *)pz_arena_take(arena, joints, sizeof(spatial));
    s->U = (wrench *)pz_arena_take(arena, joints, sizeof(wrench));
}

poise_status poise_sensitivity_create(const poise_model *model, int coupled_goals, const poise_allocator *allocator,
                                      poise_sensitivity **sensitivity, poise_error *error)
{
    if (!model || coupled_goals < 0 || !sensitivity) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "model and sensitivity must not be NULL, and coupled_goals must be >= 0");
    }
    poise_sensitivity blank, *s = NULL;
    pz_owned owned;
    pz_arena arena = pz_arena_counting();
    pz_arena_take(&arena, 1, sizeof blank);
    sensitivity_lay_out(&blank, model, coupled_goals, &arena);
    size_t size = pz_arena_bytes(&arena);
    if (!pz_owned_take(&owned, allocator, size)) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory: the sensitivity needs %g bytes", (double)size);
    }
    arena = pz_arena_over(owned.memory, size);
    s = (poise_sensitivity *)pz_arena_take(&arena, 1, sizeof *s);
    memset(s, 0, sizeof *s);
    s->model = model;
    s->owned = owned;
    s->path.body = POISE_NONE;
    sensitivity_lay_out(s, model, coupled_goals, &arena);
    poise_model_neutral(model, s->objective.kin.q);
    pz_kin_sweep(&s->objective.kin, s->objective.kin.q);
    *sensitivity = s;
    return POISE_OK;
}

void poise_sensitivity_destroy(poise_sensitivity *sensitivity)
{
    if (sensitivity) {
        pz_owned_release(&sensitivity->owned);
    }
}

// ---- H and what limits hold ----------------------------------------------------------------------------------------------

// A coordinate at a limit is held if it is pushed against it, or between two limits that are one; it touches if nothing
// pushes it, as where goals are met: what is left of the gradient is rounding.
static void find_limits(poise_sensitivity *s, const double *q)
{
    const poise_model *model = s->model;
    double size = sqrt(2.0 * max2(0.0, s->objective.cost));
    for (int k = 0; k < model->step_count; ++k) {
        const pz_step *step = &model->steps[k];
        for (int n = 0; step->own && step->kind != PZ_QUATERNION && n < pz_step_nv(step->kind); ++n) {
            int i = step->q + n, dof = model->axes[step->axis + n].dof;
            double push = s->is_met ? 0.0 : s->objective.gradient[dof];
            double least = PUSHED * size * sqrt(fabs(s->diagonal[dof]));
            bool is_below = q[i] <= model->lower[i], is_above = q[i] >= model->upper[i], touches = fabs(push) <= least;
            s->limit[dof] = is_below && (push > least || is_above) ? POISE_HELD_LOWER
                            : is_above && push < -least            ? POISE_HELD_UPPER
                            : is_below && touches                  ? POISE_TOUCHES_LOWER
                            : is_above && touches                  ? POISE_TOUCHES_UPPER
                                                                   : POISE_FREE;
        }
    }
}

// Entry (i, i + 1) of two coordinates of one joint, in the rows of the lower triangle.
static double *beside(const poise_sensitivity *s, int i)
{
    poise_packed_row row = pz_packed_row(&s->rows, i + 1);
    return s->H + row.begin + (size_t)row.count - 2;
}

static double *on_diagonal(const poise_sensitivity *s, int i)
{
    poise_packed_row row = pz_packed_row(&s->rows, i);
    return s->H + row.begin + (size_t)row.count - 1;
}

// A swing at an active edge of its ellipse: it moves along the edge alone.
static void stiffen_swing(poise_sensitivity *s, const poise_joint *given, const double *q, int v)
{
    const double *g = s->objective.gradient + v;
    double W[2], r[2];
    for (int i = 0; i < 2; ++i) {
        W[i] = 1.0 / (given->swing[i] * given->swing[i]);
        r[i] = pz_limit_holds(s, v + i) ? 0.0 : W[i] * q[i];
    }
    double down = g[0] * r[0] + g[1] * r[1], square = r[0] * r[0] + r[1] * r[1];
    if (s->is_met || pz_swing_excess(given, q) < 1.0 - 8.0 * PZ_EPSILON || !(down < 0) || !(square > 0)) {
        return;
    }
    double kappa = -down / square;
    double sigma = RIGID * (fabs(*on_diagonal(s, v)) + fabs(*on_diagonal(s, v + 1)) + kappa * (W[0] + W[1])) / square;
    for (int i = 0; i < 2; ++i) {
        *on_diagonal(s, v + i) += kappa * W[i] + sigma * r[i] * r[i];
    }
    *beside(s, v) += sigma * r[0] * r[1];
}

// A row and column of zeros but for the diagonal.
static void hold_still(poise_sensitivity *s, int dof)
{
    s->diagonal[dof] = s->diagonal[dof] > 0 ? s->diagonal[dof] : 1.0;
    for (int i = dof; i < s->rows.nv; ++i) {
        poise_packed_row row = pz_packed_row(&s->rows, i);
        int above = i;
        for (int a = row.count - 1; a >= 0; --a) {
            if (i == dof || above == dof) {
                s->H[row.begin + (size_t)a] = above == dof && i == dof ? s->diagonal[dof] : 0.0;
            }
            above = pz_packed_row(&s->rows, above).parent;
        }
    }
}

static void apply_limits(poise_sensitivity *s)
{
    const double *q = s->objective.kin.q;
    for (int k = 0; k < s->model->joint_count && s->use_limits; ++k) {
        const poise_joint *given = &s->model->given[k];
        if (given->type == POISE_JOINT_SWING_TWIST && is_finite(given->swing[0])) {
            stiffen_swing(s, given, q + s->model->joints[k].q_begin, s->model->joints[k].v_begin);
        }
    }
    for (int i = 0; i < s->rows.nv; ++i) {
        if (pz_limit_holds(s, i)) {
            hold_still(s, i);
        }
    }
}

static poise_status fill_without_limits(poise_sensitivity *s, poise_error *error)
{
    poise_hessian kind = s->is_met ? POISE_HESSIAN_GAUSS_NEWTON : POISE_HESSIAN_EXACT;
    return pz_packed_fill(&s->rows, &s->objective, kind, s->H, s->square, s->diagonal, error);
}

static poise_status fill(poise_sensitivity *s, poise_error *error)
{
    poise_status status = fill_without_limits(s, error);
    if (status == POISE_OK) {
        apply_limits(s);
    }
    return status;
}

// H at the answer, without limits, and what limits do. Goals that are met, all of them, have no second-order terms: what
// rounding leaves of these would decide whether a direction that no goal sees is a valley or a ridge. Met is f <= (PZ_MET
// L)^2/2 with L^2 the largest entry of the diagonal: an error of PZ_MET beside the longest lever.
static poise_status assess(poise_sensitivity *s, const double *q, poise_error *error)
{
    s->is_met = false;
    memset(s->limit, POISE_FREE, (size_t)s->rows.nv * sizeof *s->limit);
    poise_status status = fill_without_limits(s, error);
    double largest = 0.0;
    for (int i = 0; i < s->rows.nv && status == POISE_OK; ++i) {
        largest = max2(largest, s->diagonal[i]);
    }
    s->is_met = status == POISE_OK && s->objective.cost <= 0.5 * PZ_MET * PZ_MET * largest;
    if (status == POISE_OK && s->is_met) {
        status = fill_without_limits(s, error);
    }
    if (status == POISE_OK && s->use_limits) {
        find_limits(s, q);
    }
    return status;
}

// ---- Goals ---------------------------------------------------------------------------------------------------------------
//
// How the gradient changes with the parameters p of one goal: d2E/dq dp.
//
// **Targets.** E depends on where the body is as its target sees it. So a target that moves by the motion eta (about the
// reference point) is a body that, after its own motion xi, moves by -eta; with log(exp(-eta) exp(xi)) = xi - eta - [eta,
// xi]/2 to second order, the wrench g and the symmetric second derivative G of E (goal/goal.h)
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

static bool is_posture(const poise_goal *goal)
{
    return goal->kind == POISE_GOAL_POSTURE || goal->kind == POISE_GOAL_SMOOTHNESS;
}

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
static wrench coadjoint(wrench g, spatial xi)
{
    return (wrench){v3_add(v3_cross(g.n, xi.w), v3_cross(g.f, xi.v)), v3_cross(g.f, xi.w)};
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
    return v3_sub(single->target.position, s->objective.kin.origin);
}

// lambda . gradient of the goal with these weights; d2E/dq dw.
static double gradient_along(poise_sensitivity *s, const poise_goal *goal, double weight, double rotation_weight)
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
    gradient->translation = v3_scale(moved, goal->weight);
    gradient->weight = -v3_dot(off, moved);
}

static void mass_forward(poise_sensitivity *s, const poise_goal *goal, const poise_goal_change *change)
{
    vec3 off = v3_sub(pz_kin_mass_center(&s->objective.kin), place_of(s, goal));
    vec3 force = v3_mad(v3_scale(change->translation, -goal->weight), change->weight, off);
    for (int k = 0; k < s->model->joint_count; ++k) {
        vec3 f = v3_scale(force, s->model->joints[k].mass / s->model->total_mass);
        s->U[k] = wrench_add(s->U[k], (wrench){v3_cross(mass_at(s, k), f), f});
    }
}

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
        product[v] += p.x;
        product[v + 1] += p.y;
        product[v + 2] += p.z;
    }
}

// A POSITION as markers have it: E = w/2 |x - t|^2.
static bool is_plain_point(const poise_goal *goal)
{
    return goal->kind == POISE_GOAL_POSITION && goal->loss == POISE_LOSS_NONE && !pz_has_band(goal->tolerance);
}

// d2E/dx dt = -w I, d2E/dx dw = x - t; for the velocity of x along lambda.
static void point_backward(const poise_sensitivity *s, const poise_goal *goal, poise_goal_change *gradient)
{
    vec3 x = pz_kin_point(&s->objective.kin, goal->body, goal->local.position);
    vec3 velocity = pz_velocity(s->V[goal->body], x);
    gradient->translation = v3_scale(velocity, goal->weight);
    gradient->weight = -v3_dot(velocity, v3_sub(x, place_of(s, goal)));
}

static void goal_backward(poise_sensitivity *s, const poise_goal *goal, poise_goal_change *gradient)
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
        gradient->weight = -gradient_along(s, goal, 1.0, 0.0);
        evaluate_alone(s, goal);
        if (posture) {
            posture_product(s, -1.0, s->x, posture);
        }
        return;
    }
    poise_goal single = as_single(s, goal);
    spatial xi =
        spatial_mad(s->V[goal->body], -1.0, motion_of(s, goal->kind == POISE_GOAL_RELATIVE ? goal->body2 : POISE_WORLD));
    spatial kept = s->V[goal->body];
    s->V[goal->body] = xi; // what the goal itself sees
    gradient->weight = -gradient_along(s, &single, 1.0, 0.0);
    gradient->rotation_weight = has_rotation_weight(goal) ? -gradient_along(s, &single, 0.0, 1.0) : 0.0;
    s->V[goal->body] = kept;
    evaluate_alone(s, &single);
    const pz_sum *sum = &s->single.sums[goal->body];
    wrench w = wrench_mad(stiffness(sum, &s->single.extras[goal->body], xi), -0.5, coadjoint(sum->g, xi));
    gradient->translation = w.f;
    gradient->rotation = v3_add(w.n, v3_cross(w.f, place_of(s, &single)));
}

// Add d2f/dq dp times a change of a goal: wrenches to U, by body, and numbers to `dofs`.
static void goal_forward(poise_sensitivity *s, const poise_goal *goal, const poise_goal_change *change, double *dofs)
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
    spatial eta = {change->rotation, v3_add(change->translation, v3_cross(place_of(s, &single), change->rotation))};
    // as a wrench in xi: -G eta - h/2 with h . xi = g . (eta x xi)
    wrench w = wrench_mad(by_weight, -1.0, stiffness(sum, &s->single.extras[goal->body], eta));
    w = wrench_mad(w, -0.5, coadjoint(sum->g, eta));
    s->U[goal->body] = wrench_add(s->U[goal->body], w);
    if (goal->kind == POISE_GOAL_RELATIVE && goal->body2 != POISE_WORLD) {
        s->U[goal->body2] = wrench_mad(s->U[goal->body2], -1.0, w);
    }
}

// ---- Motions and forces of bodies ----------------------------------------------------------------------------------------

// The motions of all bodies along the step x, into V. Axes lie in the order of their joints, parents first.
static void move_bodies(poise_sensitivity *s, const double *x)
{
    const poise_model *model = s->model;
    int i = 0;
    for (int k = 0; k < model->joint_count; ++k) {
        int parent = model->joints[k].parent;
        spatial V = parent == POISE_WORLD ? (spatial){{0, 0, 0}, {0, 0, 0}} : s->V[parent];
        for (; i < model->axis_count && model->axes[i].joint == k; ++i) {
            V = spatial_mad(V, model->axes[i].factor * x[model->axes[i].dof], s->objective.kin.S[i]);
        }
        s->V[k] = V;
    }
}

// Wrenches on bodies as forces on coordinates: sums up the tree, then along the axes.
static void dofs_of_wrenches(poise_sensitivity *s, double *dofs)
{
    const poise_model *model = s->model;
    for (int k = model->joint_count - 1; k >= 0; --k) {
        int parent = model->joints[k].parent;
        if (parent != POISE_WORLD) {
            s->U[parent] = wrench_add(s->U[parent], s->U[k]);
        }
    }
    for (int i = 0; i < model->axis_count; ++i) {
        const pz_axis *axis = &model->axes[i];
        dofs[axis->dof] += axis->factor * spatial_dot(s->objective.kin.S[i], s->U[axis->joint]);
    }
}

// ---- Coordinates that goals leave open -----------------------------------------------------------------------------------
//
// Answers whose goals leave coordinates open, or nearly: an arm with more joints than its pose needs, a hand that is placed
// by a whole body, a singular configuration. H = A^T A has a null space then, or nearly, with A the residual rows of goals
// that are met, or else a Cholesky factor of H that takes the largest pivot first. Gram and Schmidt with the largest row
// first tell the rank k:
//
//   A = R^T Q^T (k orthonormal rows Q^T),   R = C P^T (k orthonormal rows P^T),   H = Q C C^T Q^T
//
// so that the least solution of H x = b is x = Q C^-T C^-1 Q^T b. Rows have the condition of J, and H its square.
//
// **There is no derivative** where k is not the same all around the answer: at a singular configuration of goals that are
// met (the answer leaves it with the root of a change), told by the rank at a configuration nearby; and where goals that
// are not met pull along the null space, told by d2f/dq dp along a vector of it.

#define NO_ROW   1e-9  // of a row's length: what is left of one that the others contain
#define NO_PIVOT 1e-13 // of H_ii: a pivot that has vanished
#define UNSEEN   1e-18 // of the largest H_ii: no goal sees the coordinate; one on an axis is moved by its rounding alone
#define NEGATIVE 1e-9  // of H_ii: pivots below less that are not rounding
#define CLEAR    1e-4  // of H_ii: pivots by which the distance to the true answer is measured
#define BESIDE   1e-3  // radians or lengths to the configuration nearby
#define PULLED   1e-5  // of d2f/dq dp: along the null space, more than rounding

// A Newton step from q to the minimum, s->x, that makes q no answer: by its largest component, in radians or, for slides, of
// the skeleton's size.
static poise_status check_distance(const poise_sensitivity *s, poise_error *error)
{
    const poise_model *model = s->model;
    const poise_kinematics *kin = &s->objective.kin;
    double size = 0.0, away = 0.0;
    for (int k = 1; k < model->joint_count; ++k) {
        size = max2(size, v3_norm(v3_sub(kin->p[k], kin->p[0])));
    }
    for (int i = 0; i < model->axis_count; ++i) {
        bool turns = v3_dot(kin->S[i].w, kin->S[i].w) > 0;
        double step = fabs(s->x[model->axes[i].dof]);
        away = max2(away, turns ? step : size > 0 ? step / size : 0.0);
    }
    if (away <= AWAY) {
        return POISE_OK;
    }
    return pz_error_set(error, POISE_ERROR_NUMERIC,
                        "q is not a minimum of these goals: it is about %g rad (or skeleton sizes) away; solve for it "
                        "first, with enough iterations and a small gradient_tolerance",
                        away);
}

static double *open_row(const poise_sensitivity *s, double *matrix, int i)
{
    return matrix + (size_t)i * (size_t)s->rows.nv;
}

// A number in [-1, 1) that has nothing to do with the model.
static double fixed_number(int i)
{
    double x = 0.6180339887498949 * (i + 1);
    return 2.0 * (x - (double)(int)x) - 1.0;
}

// Coordinates that some goal sees and no limit holds, into open.order; returns how many.
static int open_list(poise_sensitivity *s)
{
    int count = 0;
    double largest = 0.0;
    for (int i = 0; i < s->rows.nv; ++i) {
        largest = max2(largest, pz_limit_holds(s, i) ? 0.0 : s->diagonal[i]);
    }
    for (int i = 0; i < s->rows.nv; ++i) {
        if (!pz_limit_holds(s, i) && s->diagonal[i] > UNSEEN * largest) {
            s->open.order[count++] = i;
        }
    }
    return count;
}

// Can the goals be told by nv rows, or fewer?
static bool has_few_rows(const poise_sensitivity *s)
{
    int count = 0;
    bool has = s->is_met;
    for (int g = 0; g < s->objective.goal_count && has; ++g) {
        const poise_goal *goal = &s->objective.goals[g];
        const pz_goal_row *kind = pz_goal_row_of(goal->kind);
        count += kind->rows ? kind->rows(&s->objective.kin, goal, NULL, NULL) : s->rows.nv + 1;
        has = count <= s->rows.nv;
    }
    return has;
}

// The goals' rows into open.dense. Returns how many.
static int open_by_rows(poise_sensitivity *s)
{
    int count = 0;
    for (int g = 0; g < s->objective.goal_count; ++g) {
        const poise_goal *goal = &s->objective.goals[g];
        count += pz_goal_row_of(goal->kind)->rows(&s->objective.kin, goal, s->r, open_row(s, s->open.dense, count));
    }
    for (int n = 0; n < count; ++n) {
        for (int i = 0; i < s->rows.nv; ++i) {
            double *number = open_row(s, s->open.dense, n) + i;
            *number = pz_limit_holds(s, i) ? 0.0 : *number;
        }
    }
    return count;
}

// Row i of the packed H in the columns of all that may move.
static void open_spread(poise_sensitivity *s, double *dense)
{
    memset(dense, 0, (size_t)s->rows.nv * (size_t)s->rows.nv * sizeof *dense);
    for (int i = 0; i < s->rows.nv; ++i) {
        poise_packed_row row = pz_packed_row(&s->rows, i);
        int above = i;
        for (int a = row.count - 1; a >= 0; --a) {
            open_row(s, dense, i)[above] = open_row(s, dense, above)[i] = s->H[row.begin + (size_t)a];
            above = pz_packed_row(&s->rows, above).parent;
        }
    }
}

// The place of the next pivot: the largest, of its H_ii, into *share.
static int open_pivot(const poise_sensitivity *s, int from, int count, double *share)
{
    int best = from;
    *share = -INFINITY;
    for (int n = from; n < count; ++n) {
        int i = s->open.order[n];
        double part = open_row(s, s->open.R, i)[i] / s->diagonal[i];
        if (part > *share) {
            *share = part;
            best = n;
        }
    }
    return best;
}

// H = A^T A by pivots, rows of A into open.dense; what is left of H is in open.R. Returns how many.
static int open_by_factor(poise_sensitivity *s, int count)
{
    pz_open_factor *open = &s->open;
    open_spread(s, open->R);
    for (int k = 0; k < count; ++k) {
        int best = open_pivot(s, k, count, &open->share[k]), pivot = open->order[best];
        if (!(open->share[k] > NO_PIVOT)) {
            return k;
        }
        open->order[best] = open->order[k];
        open->order[k] = pivot;
        double *row = open_row(s, open->dense, k), *left = open_row(s, open->R, pivot), root = sqrt(left[pivot]);
        memset(row, 0, (size_t)s->rows.nv * sizeof *row);
        for (int n = k; n < count; ++n) {
            row[open->order[n]] = left[open->order[n]] / root;
        }
        for (int n = k + 1; n < count; ++n) {
            int i = open->order[n];
            for (int m = k + 1; m < count; ++m) {
                open_row(s, open->R, i)[open->order[m]] -= row[i] * row[open->order[m]];
            }
        }
    }
    return count;
}

// Is the diagonal negative somewhere, or what is left behind the last pivot, by more than `slack`? Pairs count: [0 1; 1 0]
// falls, too.
static bool cost_falls(const poise_sensitivity *s, int rank, int count, double slack)
{
    bool is = false;
    double largest = 0.0;
    for (int i = 0; i < s->rows.nv; ++i) {
        largest = max2(largest, fabs(s->diagonal[i]));
    }
    for (int i = 0; i < s->rows.nv; ++i) {
        is = is || s->diagonal[i] < -slack * largest;
    }
    for (int n = rank; n < count; ++n) {
        int i = s->open.order[n];
        is = is || open_row(s, s->open.R, i)[i] < -slack * s->diagonal[i];
        for (int m = rank; m < n; ++m) {
            int j = s->open.order[m];
            is = is || fabs(open_row(s, s->open.R, i)[j]) > slack * sqrt(s->diagonal[i] * s->diagonal[j]);
        }
    }
    return is;
}

// Take the rows [0, count) of `basis` out of x, and add the parts to parts[stride n] unless NULL.
static void remove_parts(const poise_sensitivity *s, double *basis, int count, double *x, double *parts)
{
    for (int n = 0; n < count; ++n) {
        const double *row = open_row(s, basis, n);
        double part = pz_dot(row, x, s->rows.nv);
        for (int i = 0; i < s->rows.nv; ++i) {
            x[i] -= part * row[i];
        }
        if (parts) {
            parts[n] += part;
        }
    }
}

// Rows of `from`, count of them, become orthonormal rows of `basis`, the longest of what it was first; what row n has of
// basis vector k comes to parts[n][k]. Returns the rank.
static int orthonormalise(poise_sensitivity *s, double *from, int count, double *basis, double *parts)
{
    int nv = s->rows.nv, rank = 0;
    memset(parts, 0, (size_t)nv * (size_t)nv * sizeof *parts);
    for (int n = 0; n < count; ++n) {
        s->y[n] = sqrt(pz_dot(open_row(s, from, n), open_row(s, from, n), nv)); // what it was; 0: done with
    }
    while (rank < count) {
        int best = -1;
        double most = NO_ROW, length = 0.0;
        for (int n = 0; n < count; ++n) {
            double *row = open_row(s, from, n), left = s->y[n] > 0 ? sqrt(pz_dot(row, row, nv)) : 0.0;
            if (left > most * s->y[n]) {
                most = left / s->y[n];
                length = left;
                best = n;
            }
        }
        if (best < 0) {
            break;
        }
        double *vector = open_row(s, basis, rank), *row = open_row(s, from, best);
        for (int i = 0; i < nv; ++i) {
            vector[i] = row[i] / length;
        }
        remove_parts(s, basis, rank, vector, NULL); // once more, for what rounding left
        double again = sqrt(pz_dot(vector, vector, nv));
        for (int i = 0; i < nv; ++i) {
            vector[i] /= again;
        }
        ++rank;
        for (int n = 0; n < count; ++n) { // those that are done with have nothing left of it
            double *other = open_row(s, from, n), part = s->y[n] > 0 ? pz_dot(vector, other, nv) : 0.0;
            open_row(s, parts, n)[rank - 1] = part;
            for (int i = 0; i < nv && part != 0; ++i) {
                other[i] -= part * vector[i];
            }
        }
        s->y[best] = 0.0;
    }
    return rank;
}

// A in open.dense, `count` rows, as R^T Q^T, then R as C P^T: Q^T into open.basis, C into open.R.
static void open_factor(poise_sensitivity *s, int count)
{
    pz_open_factor *open = &s->open;
    int nv = s->rows.nv;
    open->rank = orthonormalise(s, open->dense, count, open->basis, open->R);
    for (int k = 0; k < open->rank; ++k) { // R, k rows of `count` numbers
        double *row = open_row(s, open->dense, k);
        memset(row, 0, (size_t)nv * sizeof *row);
        for (int n = 0; n < count; ++n) {
            row[n] = open_row(s, open->R, n)[k];
        }
    }
    memset(open->R, 0, (size_t)nv * (size_t)nv * sizeof *open->R);
    for (int k = 0; k < open->rank; ++k) {
        double *row = open_row(s, open->dense, k), *c = open_row(s, open->R, k);
        remove_parts(s, open->dense, k, row, c);
        remove_parts(s, open->dense, k, row, c);
        c[k] = sqrt(pz_dot(row, row, nv));
        for (int n = 0; n < nv; ++n) {
            row[n] /= c[k];
        }
    }
}

// x = the least solution of H x = b, in place.
static void open_solve(poise_sensitivity *s, double *x)
{
    pz_open_factor *open = &s->open;
    double *y = s->y;
    for (int k = 0; k < open->rank; ++k) {
        y[k] = pz_dot(open_row(s, open->basis, k), x, s->rows.nv);
    }
    for (int k = 0; k < open->rank; ++k) {
        const double *c = open_row(s, open->R, k);
        y[k] = (y[k] - pz_dot(c, y, k)) / c[k];
    }
    for (int k = open->rank - 1; k >= 0; --k) {
        for (int n = k + 1; n < open->rank; ++n) {
            y[k] -= open_row(s, open->R, n)[k] * y[n];
        }
        y[k] /= open_row(s, open->R, k)[k];
    }
    memset(x, 0, (size_t)s->rows.nv * sizeof *x);
    for (int k = 0; k < open->rank; ++k) {
        const double *row = open_row(s, open->basis, k);
        for (int i = 0; i < s->rows.nv; ++i) {
            x[i] += y[k] * row[i];
        }
    }
}

// How far q is from the true answer: a Newton step along what is well determined, which is left in s->x.
static double open_distance(poise_sensitivity *s, int count)
{
    int clear = 0;
    while (clear < count && s->open.share[clear] > CLEAR) {
        ++clear;
    }
    open_factor(s, clear);
    memcpy(s->x, s->objective.gradient, (size_t)s->rows.nv * sizeof *s->x);
    open_solve(s, s->x);
    return sqrt(pz_dot(s->x, s->x, s->rows.nv));
}

// The largest derivative of a goal's pull along the step s->x by one of its own numbers.
static double pull_along(poise_sensitivity *s, const poise_goal *goal)
{
    poise_goal_change g = {.posture = s->y};
    memset(s->y, 0, (size_t)s->rows.nv * sizeof *s->y);
    goal_backward(s, goal, &g);
    const double all[] = {g.translation.x, g.translation.y, g.translation.z, g.rotation.x,
                          g.rotation.y,    g.rotation.z,    g.weight,        g.rotation_weight};
    double most = sqrt(pz_dot(s->y, s->y, s->rows.nv));
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
        most = max2(most, fabs(all[i]));
    }
    return most;
}

// Does a change of some goal pull along the null space?
static bool is_pulled(poise_sensitivity *s, int free_count, double slack)
{
    bool is = false;
    for (int g = 0; g < s->objective.goal_count && !is; ++g) {
        memset(s->x, 0, (size_t)s->rows.nv * sizeof *s->x);
        for (int n = 0; n < free_count; ++n) {
            s->x[s->open.order[n]] = fixed_number(n);
        }
        move_bodies(s, s->x);
        double freely = pull_along(s, &s->objective.goals[g]);
        remove_parts(s, s->open.basis, s->open.rank, s->x, NULL);
        remove_parts(s, s->open.basis, s->open.rank, s->x, NULL);
        move_bodies(s, s->x);
        is = pull_along(s, &s->objective.goals[g]) > max2(PULLED, slack) * freely;
    }
    return is;
}

// The rank of A near q; 0 where it cannot be computed.
static int rank_beside(poise_sensitivity *s, const double *q)
{
    for (int i = 0; i < s->rows.nv; ++i) {
        s->x[i] = pz_limit_holds(s, i) ? 0.0 : BESIDE * fixed_number(i);
    }
    pz_kin_retract(s->model, q, s->x, s->q);
    if (pz_objective_evaluate(&s->objective, s->q, POISE_LEVEL_HESSIAN) != POISE_OK || fill(s, NULL) != POISE_OK) {
        return 0;
    }
    int free_count = open_list(s);
    open_factor(s, has_few_rows(s) ? open_by_rows(s) : open_by_factor(s, free_count));
    return s->open.rank;
}

static poise_status no_derivative(poise_error *error, const char *why)
{
    return pz_error_set(error, POISE_ERROR_NUMERIC, "the answer has no derivative: %s", why);
}

// Goals that are met.
static poise_status factor_met(poise_sensitivity *s, int free_count, int rank_nearby, poise_error *error)
{
    open_factor(s, has_few_rows(s) ? open_by_rows(s) : open_by_factor(s, free_count));
    return rank_nearby > s->open.rank ? no_derivative(error, "q is a singular configuration") : POISE_OK;
}

// Goals that are not.
static poise_status factor_missed(poise_sensitivity *s, int free_count, poise_error *error)
{
    int count = open_by_factor(s, free_count);
    bool is_falling = cost_falls(s, count, free_count, NEGATIVE), is_clearly = cost_falls(s, count, free_count, CLEAR);
    double slack = PZ_CHANGE * open_distance(s, count);
    if (is_clearly || (is_falling && slack < NEGATIVE)) {
        return pz_error_set(error, POISE_ERROR_NUMERIC,
                            "q is not a minimum of these goals: the cost falls along a direction of negative curvature");
    }
    poise_status status = check_distance(s, error); // before what is less well determined is taken for open
    if (status != POISE_OK) {
        return status;
    }
    open_by_factor(s, open_list(s));
    while (count > 0 && s->open.share[count - 1] < slack) {
        --count;
    }
    open_factor(s, count);
    return s->open.rank < free_count && is_pulled(s, free_count, slack)
               ? no_derivative(error,
                               "goals pull along directions in which the cost has no curvature; add a posture of small "
                               "weight, or solve with a smaller gradient_tolerance")
               : POISE_OK;
}

// Factor H at q, where the objective is evaluated. NUMERIC where there is no derivative.
static poise_status open_factorise(poise_sensitivity *s, const double *q, poise_error *error)
{
    int rank_nearby = s->is_met ? rank_beside(s, q) : 0;
    poise_status status = pz_objective_evaluate(&s->objective, q, POISE_LEVEL_HESSIAN);
    if (status == POISE_OK) {
        status = fill(s, error);
    }
    if (status != POISE_OK) {
        return status;
    }
    int free_count = open_list(s);
    status = s->is_met ? factor_met(s, free_count, rank_nearby, error) : factor_missed(s, free_count, error);
    s->open.null_count = free_count - s->open.rank;
    return status;
}

// ---- The factor and the answer -------------------------------------------------------------------------------------------

// The least pivot, of its H_ii, but for those of coordinates that no goal sees.
static double least_pivot(const poise_sensitivity *s)
{
    double least_share = 1.0;
    for (int i = 0; i < s->rows.nv; ++i) {
        double d = pz_pivot(&s->rows, s->H, i);
        least_share = d > 0 ? min2(least_share, d / s->diagonal[i]) : least_share;
    }
    return least_share;
}

static void solve_tree(const poise_sensitivity *s, double *x)
{
    for (int i = 0; i < s->rows.nv; ++i) {
        x[i] = pz_limit_holds(s, i) ? 0.0 : x[i];
    }
    pz_packed_solve_up(&s->rows, s->H, x);
    for (int i = 0; i < s->rows.nv; ++i) {
        double d = pz_pivot(&s->rows, s->H, i);
        x[i] = d > 0 ? x[i] / d : 0.0;
    }
    pz_packed_solve_down(&s->rows, s->H, x);
}

// Is the factor of the tree as good as any? Pivots are well above rounding, or at least above what they may change by on the
// way to the true answer, which is a Newton step away.
static bool is_sound(poise_sensitivity *s)
{
    double share = least_pivot(s), most = 0.0;
    if (share > SMALL || s->is_met || share < TINY) {
        return share > SMALL;
    }
    memcpy(s->x, s->objective.gradient, (size_t)s->rows.nv * sizeof *s->x);
    solve_tree(s, s->x);
    for (int i = 0; i < s->rows.nv; ++i) {
        most = max2(most, fabs(s->x[i]));
    }
    return PZ_CHANGE * most < share;
}

// Factor s->H, in which limits are not yet applied, with those that s->limit says.
static poise_status factorise(poise_sensitivity *s, poise_error *error)
{
    apply_limits(s);
    s->open.null_count = 0;
    s->way = PZ_WAY_TREE;
    if (pz_packed_factor(&s->rows, !s->is_met, s->H, s->diagonal) && is_sound(s)) {
        return POISE_OK;
    }
    memcpy(s->q_answer, s->objective.kin.q, (size_t)s->model->nq * sizeof *s->q_answer);
    poise_status status = open_factorise(s, s->q_answer, error);
    s->way = status == POISE_OK ? PZ_WAY_OPEN : PZ_WAY_NONE;
    return status;
}

// The same after a change of s->limit.
static poise_status factorise_again(poise_sensitivity *s, poise_error *error)
{
    poise_status status = fill_without_limits(s, error);
    return status == POISE_OK ? factorise(s, error) : status;
}

// x = the least solution of H x = b, in place; held coordinates and those that no goal sees are 0.
static void solve_factor(poise_sensitivity *s, double *x)
{
    if (s->way == PZ_WAY_OPEN) {
        open_solve(s, x);
    } else {
        solve_tree(s, x);
    }
}

// Limits that an answer that meets its POSE touches.
static void find_touched(poise_sensitivity *s, const double *q)
{
    const poise_model *model = s->model;
    memset(s->limit, POISE_FREE, (size_t)model->nv * sizeof *s->limit);
    for (int n = 0; n < s->path.count && s->use_limits; ++n) {
        int i = s->path.coordinate[n];
        if (i >= 0) {
            bool is_below = q[i] <= model->lower[i], is_above = q[i] >= model->upper[i];
            s->limit[s->path.dof[n]] = is_below ? POISE_TOUCHES_LOWER : is_above ? POISE_TOUCHES_UPPER : POISE_FREE;
        }
    }
}

// One POSE that is met, the short way. False: by the way of all goals.
static bool update_by_pose(poise_sensitivity *s, const poise_goal *goal, const double *q)
{
    if (!pz_pose_is_plain(s, goal) || s->path.has_fixed || poise_goal_check(goal, s->model, NULL) != POISE_OK || !q ||
        !pz_model_accepts(s->model, q) || !pz_pose_factorise(s, goal, &goal->target, q)) {
        return false;
    }
    s->objective.goals = goal;
    s->objective.goal_count = 1;
    s->is_met = true;
    s->open.null_count = s->path.count - PZ_POSE_ROWS;
    s->way = PZ_WAY_POSE;
    memcpy(s->q_answer, q, (size_t)s->model->nq * sizeof *q);
    find_touched(s, q);
    return true;
}

static poise_status check_minimum(poise_sensitivity *s, poise_error *error)
{
    if (s->is_met) {
        return POISE_OK;
    }
    memcpy(s->x, s->objective.gradient, (size_t)s->rows.nv * sizeof *s->x);
    solve_factor(s, s->x);
    poise_status status = check_distance(s, error);
    s->way = status == POISE_OK ? s->way : PZ_WAY_NONE;
    return status;
}

// The way of all goals.
static poise_status update_by_goals(poise_sensitivity *s, const poise_goal *goals, int count, const double *q,
                                    poise_error *error)
{
    poise_status status = poise_objective_set_goals(&s->objective, goals, count, error);
    if (status == POISE_OK) {
        status = poise_objective_evaluate(&s->objective, q, POISE_LEVEL_HESSIAN, error);
    }
    s->rows = pz_packed_of(&s->objective);
    if (status == POISE_OK) {
        status = assess(s, q, error);
    }
    return status == POISE_OK ? factorise(s, error) : status;
}

poise_status poise_sensitivity_update(poise_sensitivity *sensitivity, const poise_goal *goals, int count, const double *q,
                                      bool use_limits, poise_error *error)
{
    if (!sensitivity) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "sensitivity must not be NULL");
    }
    poise_sensitivity *s = sensitivity;
    s->way = PZ_WAY_NONE;
    s->use_limits = use_limits;
    if (count == 1 && goals && update_by_pose(s, goals, q)) {
        return POISE_OK;
    }
    poise_status status = update_by_goals(s, goals, count, q, error);
    return status == POISE_OK ? check_minimum(s, error) : status;
}

poise_sensitivity_info poise_sensitivity_describe(const poise_sensitivity *sensitivity)
{
    const poise_sensitivity *s = sensitivity;
    poise_sensitivity_info info = {0};
    if (!s || s->way == PZ_WAY_NONE) {
        return info;
    }
    info.open = s->open.null_count;
    info.limits = s->limit;
    for (int i = 0; i < s->model->nv; ++i) {
        info.held += pz_limit_holds(s, i);
        info.touching += s->limit[i] == POISE_TOUCHES_LOWER || s->limit[i] == POISE_TOUCHES_UPPER;
    }
    return info;
}

// ---- Both ways -----------------------------------------------------------------------------------------------------------

static poise_status check_call(const poise_sensitivity *s, const void *changes, const double *numbers, poise_error *error)
{
    if (!s || s->way == PZ_WAY_NONE) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "call poise_sensitivity_update successfully first");
    }
    if (!numbers || (s->objective.goal_count > 0 && !changes)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "the arrays (one entry per goal, nv numbers) must not be NULL");
    }
    return POISE_OK;
}

// dq for changes of the goals, with the limits that are held now.
static void step_forward(poise_sensitivity *s, const poise_goal_change *changes, double *dq)
{
    if (s->way == PZ_WAY_POSE) {
        pz_pose_forward(s, &changes->translation.x, dq); // and the rotation, which follows
        return;
    }
    memset(s->U, 0, (size_t)s->model->joint_count * sizeof *s->U);
    memset(s->x, 0, (size_t)s->rows.nv * sizeof *s->x);
    for (int i = 0; i < s->objective.goal_count; ++i) {
        goal_forward(s, &s->objective.goals[i], &changes[i], s->x);
    }
    dofs_of_wrenches(s, s->x);
    solve_factor(s, s->x);
    for (int i = 0; i < s->rows.nv; ++i) {
        dq[i] = -s->x[i];
    }
}

// The coordinate that touches a limit and leaves it most, by a step that is no rounding of others; POISE_NONE.
static int leaving(const poise_sensitivity *s, const double *dq)
{
    int worst = POISE_NONE;
    double longest = 0.0, most = 0.0;
    for (int i = 0; i < s->model->nv; ++i) {
        longest = max2(longest, fabs(dq[i]));
    }
    for (int i = 0; i < s->model->nv; ++i) {
        double out = s->limit[i] == POISE_TOUCHES_LOWER ? -dq[i] : s->limit[i] == POISE_TOUCHES_UPPER ? dq[i] : 0.0;
        if (out > max2(most, 1e-9 * longest)) {
            most = out;
            worst = i;
        }
    }
    return worst;
}

// The same where coordinates touch limits: those that would leave are held.
static poise_status step_forward_within(poise_sensitivity *s, const poise_goal_change *changes, double *dq,
                                        poise_error *error)
{
    poise_status status = POISE_OK;
    int out = leaving(s, dq);
    if (out == POISE_NONE) {
        return status;
    }
    size_t bytes = (size_t)s->model->nv * sizeof *s->limit;
    pz_way way = s->way;
    memcpy(s->kept, s->limit, bytes);
    if (way == PZ_WAY_POSE) { // its objective was not evaluated
        status = update_by_goals(s, s->objective.goals, 1, s->q_answer, error);
        memcpy(s->limit, s->kept, bytes);
    }
    for (; out != POISE_NONE && status == POISE_OK; out = leaving(s, dq)) {
        s->limit[out] = s->limit[out] == POISE_TOUCHES_LOWER ? POISE_HELD_LOWER : POISE_HELD_UPPER;
        status = factorise_again(s, error);
        if (status == POISE_OK) {
            step_forward(s, changes, dq);
        }
    }
    memcpy(s->limit, s->kept, bytes);
    if (way == PZ_WAY_POSE) { // its factor is still there
        s->way = way;
    } else if (factorise_again(s, NULL) != POISE_OK) {
        s->way = PZ_WAY_NONE;
    }
    return status;
}

static poise_status check_changes(const poise_sensitivity *s, const poise_goal_change *changes, poise_error *error)
{
    for (int i = 0; i < s->objective.goal_count; ++i) {
        const poise_goal_change *c = &changes[i];
        poise_goal_kind kind = s->objective.goals[i].kind;
        bool has_posture = c->posture && (kind == POISE_GOAL_POSTURE || kind == POISE_GOAL_SMOOTHNESS);
        if (!all_finite(&c->translation.x, 3) || !all_finite(&c->rotation.x, 3) || !is_finite(c->weight) ||
            !is_finite(c->rotation_weight) || (has_posture && !all_finite(c->posture, (size_t)s->model->nv))) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT, "change %d: all numbers must be finite", i);
        }
    }
    return POISE_OK;
}

poise_status poise_sensitivity_forward(poise_sensitivity *sensitivity, const poise_goal_change *changes, double *dq,
                                       poise_error *error)
{
    poise_sensitivity *s = sensitivity;
    poise_status status = check_call(s, changes, dq, error);
    status = status == POISE_OK ? check_changes(s, changes, error) : status;
    if (status != POISE_OK) {
        return status;
    }
    size_t nv = (size_t)s->model->nv;
    step_forward(s, changes, s->dq);
    status = step_forward_within(s, changes, s->dq, error);
    if (status == POISE_OK && !all_finite(s->dq, nv)) {
        status = pz_error_set(error, POISE_ERROR_NUMERIC, "the step is too large to represent; make the changes smaller");
    }
    if (status == POISE_OK) {
        memcpy(dq, s->dq, nv * sizeof *dq);
    }
    return status;
}

static poise_status refuse_gradients(poise_error *error)
{
    return pz_error_set(error, POISE_ERROR_NUMERIC, "the gradients are too large to represent; make dL_dq smaller");
}

// The gradients of one POSE that is met: its weights and the limits do not matter. False: they are not finite.
static bool pose_gradients(const poise_sensitivity *s, const double *dL_dq, poise_goal_change *gradient, double *lower,
                           double *upper)
{
    double *posture = gradient->posture, g[PZ_POSE_ROWS];
    size_t bytes = (size_t)s->model->nv * sizeof *lower;
    pz_pose_backward(s, dL_dq, g);
    if (!all_finite(g, PZ_POSE_ROWS)) {
        return false;
    }
    *gradient = (poise_goal_change){.translation = {g[0], g[1], g[2]}, .rotation = {g[3], g[4], g[5]}, .posture = posture};
    if (lower) {
        memset(lower, 0, bytes);
    }
    if (upper) {
        memset(upper, 0, bytes);
    }
    return true;
}

#define TAME 1e50 // products of a few numbers below this do not overflow

static bool is_tame(double x)
{
    return fabs(x) < TAME;
}

static bool is_tame3(vec3 x)
{
    return is_tame(x.x) && is_tame(x.y) && is_tame(x.z);
}

// Are all gradients finite that x leads to? They are where everything in them is tame; otherwise they are tried.
static bool gradients_are_finite(poise_sensitivity *s)
{
    size_t nv = (size_t)s->model->nv;
    bool tame = is_tame3(s->objective.kin.origin);
    for (size_t i = 0; i < nv && tame; ++i) {
        tame = is_tame(s->x[i]);
    }
    for (int k = 0; k < s->model->joint_count && tame; ++k) {
        tame = is_tame3(s->objective.kin.p[k]);
    }
    for (int i = 0; i < s->objective.goal_count; ++i) {
        const poise_goal *goal = &s->objective.goals[i];
        bool is_plain = tame && is_tame3(goal->local.position) && is_tame3(goal->target.position) && is_tame(goal->weight) &&
                        is_tame(goal->rotation_weight);
        if (is_plain) {
            continue;
        }
        poise_goal_change tried = {.posture = s->dq};
        memset(s->dq, 0, nv * sizeof *s->dq);
        goal_backward(s, goal, &tried);
        if (!all_finite(&tried.translation.x, 3) || !all_finite(&tried.rotation.x, 3) || !is_finite(tried.weight) ||
            !is_finite(tried.rotation_weight) || !all_finite(s->dq, nv)) {
            return false;
        }
    }
    return true;
}

poise_status poise_sensitivity_backward(poise_sensitivity *sensitivity, const double *dL_dq, poise_goal_change *gradients,
                                        double *lower, double *upper, poise_error *error)
{
    poise_status status = check_call(sensitivity, gradients, dL_dq, error);
    poise_sensitivity *s = sensitivity;
    if (status == POISE_OK && !all_finite(dL_dq, (size_t)s->model->nv)) {
        status = pz_error_set(error, POISE_ERROR_ARGUMENT, "dL_dq must hold %d finite numbers", s->model->nv);
    }
    if (status != POISE_OK) {
        return status;
    }
    if (s->way == PZ_WAY_POSE) {
        return pose_gradients(s, dL_dq, gradients, lower, upper) ? POISE_OK : refuse_gradients(error);
    }
    memcpy(s->x, dL_dq, (size_t)s->rows.nv * sizeof *s->x);
    solve_factor(s, s->x);
    move_bodies(s, s->x);
    if (!gradients_are_finite(s)) {
        return refuse_gradients(error);
    }
    for (int i = 0; i < s->objective.goal_count; ++i) {
        goal_backward(s, &s->objective.goals[i], &gradients[i]);
    }
    if (lower || upper) {
        status = poise_objective_multiply(&s->objective, POISE_HESSIAN_EXACT, s->x, s->y, error);
        for (int i = 0; i < s->rows.nv; ++i) {
            double moved = dL_dq[i] - s->y[i];
            if (lower) {
                lower[i] = s->limit[i] == POISE_HELD_LOWER ? moved : 0.0;
            }
            if (upper) {
                upper[i] = s->limit[i] == POISE_HELD_UPPER ? moved : 0.0;
            }
        }
    }
    return status;
}
