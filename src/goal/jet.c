// Moving a jet to the reference point and adding it to its body.
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
#include "goal/goal_kind.h"

#include <string.h>

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
