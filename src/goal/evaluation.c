// How the energies of goals get into an evaluation: what the kinds are made of.
//
// A goal on one body is a residual with a loss, or another energy, at one point or along one direction of the body. It adds a
// jet, a force or a turn to the sums of its body, and, for methods that want them, residual rows to a Jacobian.
#include "goal/goal.h"

#include <string.h>

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

void pz_clear_rows(const poise_kinematics *kin, int count, double *J)
{
    memset(J, 0, (size_t)count * (size_t)kin->model->nv * sizeof *J);
}

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
