// Goals: the one table of their kinds, and what all kinds share. Each kind has a file of its own (energy and derivatives,
// error, residual rows, what it must satisfy, constructor); a new kind is such a file and a line in the table.
#include "goal/goal.h"

#include "base/error.h"

#include <string.h>

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

// ---- What kinds are made of ----------------------------------------------------------------------------------------------
//
// A goal on one body is a residual with a loss, or another energy, at one point or along one direction of the body. It adds
// a jet, a force or a turn to the sums of its body, and, for methods that want them, residual rows to a Jacobian.

double pz_goal_energy(const poise_kinematics *kin, const poise_goal *goal)
{
    pz_evaluation evaluation = {.kin = kin, .level = POISE_LEVEL_COST};
    pz_goal_row_of(goal->kind)->evaluate(&evaluation, goal);
    return evaluation.cost;
}

// ---- Losses --------------------------------------------------------------------------------------------------------------

// Huber (1964) and Geman & McClure (1985), as functions of the squared error s, k = scale:
//
//   Huber           s                     s <= k^2        rho' = 1              rho'' = 0
//                   2 k sqrt(s) - k^2     beyond          rho' = k/sqrt(s)      rho'' = -k/(2 s sqrt(s))
//   Geman-McClure   s k^2/(s + k^2)                       rho' = (k^2/(s+k^2))^2    rho'' = -2 rho'/(s + k^2)
pz_loss pz_loss_at(poise_loss kind, double scale, double s)
{
    double kk = scale * scale;
    if (kind == POISE_LOSS_HUBER && s > kk) {
        double root = sqrt(s);
        return (pz_loss){2.0 * scale * root - kk, scale / root, -0.5 * scale / (s * root)};
    }
    if (kind == POISE_LOSS_GEMAN_MCCLURE) {
        double ratio = kk / (s + kk);
        return (pz_loss){s * ratio, ratio * ratio, -2.0 * ratio * ratio / (s + kk)};
    }
    return (pz_loss){s, 1.0, 0.0};
}

double pz_row_weight(const poise_goal *goal, double s)
{
    return sqrt(goal->weight * pz_loss_at(goal->loss, goal->loss_scale, s).d1);
}

// E = w/2 rho(s), s = r . r, r = P (x - t) with P^2 = P = P^T, so P r = r:
//
//   force = w rho' r        uu = w (rho' P + 2 rho'' r r^T)       Gauss-Newton: w rho' P
void pz_residual_jet(const poise_goal *goal, const pz_residual *residual, poise_level level, pz_jet *jet)
{
    double w = goal->weight;
    vec3 r = residual->r;
    double s = v3_dot(r, r);
    pz_loss loss = pz_loss_at(goal->loss, goal->loss_scale, s);
    jet->energy = 0.5 * w * loss.rho;
    jet->force = v3_scale(r, w * loss.d1);
    if (level == POISE_LEVEL_HESSIAN) {
        jet->gauss_newton.uu = sym3_scale(residual->P, w * loss.d1);
        jet->exact.uu = sym3_add(jet->gauss_newton.uu, sym3_outer(2.0 * w * loss.d2, r));
    }
}

// ---- Jets, forces, turns -------------------------------------------------------------------------------------------------
//
// A jet is moved to the reference point and added to its body.
//
// A motion [w ; v] about the reference point turns the body by w and moves its point x by
//
//   u = v + w x x              to first order     (= v - X w, X = [x]x)
//       + w x (w x x + v)/2    to second order, along exp(t [w ; v]) for t = 1
//
// so with the jet's E'' = [A B; B^T U] in (w, u), force f and torque n:
//
//   gradient   n + x x f,   f
//   ww         A - B X - (B X)^T - X U X  + (x f^T + f x^T)/2 - (x . f) I
//   wv         B + X U                    - [f]x/2
//   vv         U
//
// The terms in f come from the second-order part of u: f . w x (w x x + v). They fit into K and g of the body's sum.

static void add_curvature(sym6 *sum, const pz_curvature *curvature, const mat3 *X)
{
    mat3 U = sym3_matrix(&curvature->uu);
    mat3 XU = m3_mul(X, &U);
    const mat3 *B = &curvature->wu;
    mat3 T = {v3_mad(XU.x, 2.0, B->x), v3_mad(XU.y, 2.0, B->y), v3_mad(XU.z, 2.0, B->z)}; // 2 B + X U
    mat3 TX = m3_mul(&T, X);
    sum->ww = sym3_add(sum->ww, sym3_mad(curvature->ww, -1.0, sym3_of(&TX)));
    sum->wv.x = v3_add(sum->wv.x, v3_add(B->x, XU.x));
    sum->wv.y = v3_add(sum->wv.y, v3_add(B->y, XU.y));
    sum->wv.z = v3_add(sum->wv.z, v3_add(B->z, XU.z));
    sum->vv = sym3_add(sum->vv, curvature->uu);
}

static pz_extra *extra_of(pz_evaluation *evaluation, int body)
{
    if (!evaluation->has_extras) {
        memset(evaluation->extras, 0, (size_t)evaluation->kin->model->joint_count * sizeof *evaluation->extras);
        evaluation->has_extras = true;
    }
    return &evaluation->extras[body];
}

void pz_add_jet(pz_evaluation *evaluation, int body, const pz_jet *jet)
{
    evaluation->cost += jet->energy;
    if (evaluation->level == POISE_LEVEL_COST) {
        return;
    }
    pz_sum *sum = &evaluation->sums[body];
    sum->g.n = v3_add(sum->g.n, jet->torque);
    pz_add_force(evaluation, body, jet->x, jet->force);
    if (evaluation->level == POISE_LEVEL_HESSIAN) {
        mat3 X = m3_cross(jet->x);
        pz_extra *extra = extra_of(evaluation, body);
        add_curvature(&extra->exact, &jet->exact, &X);
        add_curvature(&extra->gauss_newton, &jet->gauss_newton, &X);
    }
}

void pz_add_turning(pz_evaluation *evaluation, int body, double energy, vec3 torque, const sym3 *ww, const sym3 *K)
{
    evaluation->cost += energy;
    if (evaluation->level == POISE_LEVEL_COST) {
        return;
    }
    pz_sum *sum = &evaluation->sums[body];
    sum->g.n = v3_add(sum->g.n, torque);
    if (evaluation->level == POISE_LEVEL_HESSIAN) {
        sum->ww = sym3_add(sum->ww, *ww);
        sum->K = sym3_add(sum->K, *K);
    }
}

void pz_add_force(pz_evaluation *evaluation, int body, vec3 x, vec3 force)
{
    if (evaluation->level == POISE_LEVEL_COST || body == POISE_WORLD) {
        return;
    }
    pz_sum *sum = &evaluation->sums[body];
    sum->g = wrench_add(sum->g, (wrench){v3_cross(x, force), force});
    if (evaluation->level == POISE_LEVEL_HESSIAN) {
        sum->K = sym3_add(sum->K, pz_turn_curvature(x, force));
    }
}

void pz_add_direction_force(pz_evaluation *evaluation, int body, vec3 d, vec3 force)
{
    if (evaluation->level == POISE_LEVEL_COST || body == POISE_WORLD) {
        return;
    }
    pz_sum *sum = &evaluation->sums[body];
    sum->g.n = v3_add(sum->g.n, v3_cross(d, force));
    if (evaluation->level == POISE_LEVEL_HESSIAN) {
        sum->K = sym3_add(sum->K, pz_turn_curvature(d, force));
    }
}

// ---- Rows ----------------------------------------------------------------------------------------------------------------
//
// Row k of a goal on one body is a wrench g_k: the residual changes with the body's motion as dr_k = g_k . motion, and the
// motion with the coordinates along the axes S_i on the path to the root, so that
//
//   J_ki = g_k . S_i
//
// A point x along a direction a has dr = a . (w x x + v), hence g = [x x a ; a]; a direction d has dr = a . (w x d), hence
// g = [d x a ; 0].

void pz_add_to_row(const poise_kinematics *kin, int body, wrench g, double *row)
{
    for (int i = pz_kin_last_axis(kin, body); i >= 0; i = kin->model->axes[i].parent) {
        const pz_axis *axis = &kin->model->axes[i];
        row[axis->dof] += axis->factor * spatial_dot(kin->S[i], g);
    }
}

void pz_point_rows(const poise_kinematics *kin, int body, vec3 x, const mat3 *A, double *J)
{
    int nv = kin->model->nv;
    pz_clear_rows(kin, 3, J);
    pz_add_to_row(kin, body, (wrench){v3_cross(x, A->x), A->x}, J);
    pz_add_to_row(kin, body, (wrench){v3_cross(x, A->y), A->y}, J + nv);
    pz_add_to_row(kin, body, (wrench){v3_cross(x, A->z), A->z}, J + 2 * nv);
}

// One more Gauss-Newton row of a goal that ties bodies together.
double *pz_add_row(pz_evaluation *evaluation, double weight)
{
    int nv = evaluation->kin->model->nv;
    double *row = evaluation->rows + (size_t)evaluation->row_count * (size_t)nv;
    for (int i = 0; i < nv; ++i) {
        row[i] = 0.0;
    }
    evaluation->row_weights[evaluation->row_count++] = weight;
    return row;
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
