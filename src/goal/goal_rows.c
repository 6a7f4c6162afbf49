// What the goals' residual rows are made of.
//
// Row k of a goal on one body is a wrench g_k: the residual changes with the body's motion as dr_k = g_k . motion, and the
// motion with the coordinates along the axes S_i on the path to the root, so that
//
//   J_ki = g_k . S_i
//
// A point x along a direction a has dr = a . (w x x + v), hence g = [x x a ; a]; a direction d has dr = a . (w x d), hence
// g = [d x a ; 0].
#include "goal/goal_kind.h"

#include <string.h>

double pz_goal_energy(const poise_kinematics *kin, const poise_goal *goal)
{
    pz_evaluation evaluation = {.kin = kin, .level = POISE_LEVEL_COST};
    pz_goal_row_of(goal->kind)->evaluate(&evaluation, goal);
    return evaluation.cost;
}

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

// The rows of A = r_w I - [vec(r)]x (orientation.c) are the columns of r_w I + [vec(r)]x, turned to world axes.
mat3 pz_rotation_gradients(quat r, const mat3 *T)
{
    return (mat3){m3_apply(T, v3(r.w, r.z, -r.y)), m3_apply(T, v3(-r.z, r.w, r.x)), m3_apply(T, v3(r.y, -r.x, r.w))};
}
