// Derivatives of points, directions, frames and the centre of mass.
#include "base/error.h"
#include "kin/kin.h"

#include <string.h>

// ---- First derivatives ---------------------------------------------------------------------------------------------------
//
//   point      J_i = w_i x x + v_i       x relative to the reference point, S_i = [w_i ; v_i]
//   direction  J_i = w_i x d
//   turn       J_i = w_i
//
// for the axes i on the path from the body to the root, zero for all others.

// POISE_OK when a derivative of the point `local` of `body` can be written to `out`; otherwise the reason is in `error`.
static poise_status check_point(const poise_kinematics *kin, int body, vec3 local, const double *out, poise_error *error)
{
    if (!kin || !out) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "kinematics and the matrix must not be NULL");
    }
    if (body < 0 || body >= kin->model->joint_count) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "body %d does not exist: the model has %d bodies", body,
                            kin->model->joint_count);
    }
    return v3_is_finite(local) ? POISE_OK : pz_error_set(error, POISE_ERROR_ARGUMENT, "local must be finite");
}

// Add a column at the dof of an axis, times its mimic's factor.
static inline void add_column(const poise_kinematics *kin, int axis, vec3 c, double *J)
{
    const pz_axis *a = &kin->model->axes[axis];
    double *at = J + a->dof;
    at[0] += a->factor * c.x;
    at[kin->model->nv] += a->factor * c.y;
    at[2 * kin->model->nv] += a->factor * c.z;
}

static void clear_columns(const poise_kinematics *kin, double *J)
{
    memset(J, 0, 3 * (size_t)kin->model->nv * sizeof *J);
}

poise_status poise_kinematics_jacobian(const poise_kinematics *kinematics, int body, poise_vec3 local, double *J,
                                       double *J_turn, poise_error *error)
{
    if (check_point(kinematics, body, local, J ? J : J_turn, error) != POISE_OK) {
        return POISE_ERROR_ARGUMENT;
    }
    vec3 x = pz_kin_point(kinematics, body, local);
    if (J) {
        clear_columns(kinematics, J);
    }
    if (J_turn) {
        clear_columns(kinematics, J_turn);
    }
    for (int i = pz_kin_last_axis(kinematics, body); i >= 0; i = kinematics->model->axes[i].parent) {
        if (J) {
            add_column(kinematics, i, pz_velocity(kinematics->S[i], x), J);
        }
        if (J_turn) {
            add_column(kinematics, i, kinematics->S[i].w, J_turn);
        }
    }
    return POISE_OK;
}

poise_status poise_kinematics_direction_jacobian(const poise_kinematics *kinematics, int body, poise_vec3 local, double *J,
                                                 poise_error *error)
{
    if (check_point(kinematics, body, local, J, error) != POISE_OK) {
        return POISE_ERROR_ARGUMENT;
    }
    vec3 d = pz_kin_direction(kinematics, body, local);
    clear_columns(kinematics, J);
    for (int i = pz_kin_last_axis(kinematics, body); i >= 0; i = kinematics->model->axes[i].parent) {
        add_column(kinematics, i, v3_cross(kinematics->S[i].w, d), J);
    }
    return POISE_OK;
}

// J of the centre of mass, from the leaves up: axis i moves the masses below it as one,
//
//   J_i = sum_b (m_b/M) (w_i x x_b + v_i) = w_i x c_k + mu_k v_i,   c_k = sum (m_b/M) x_b,  mu_k = sum m_b/M  below k
//
// Two passes over the joints without scratch memory: the sums of a subtree are sums over a run of indices, so each joint
// adds its mass to the axes on its own path. O(sum of depths).
void pz_kin_mass_center_columns(const poise_kinematics *kin, double *J)
{
    const poise_model *model = kin->model;
    clear_columns(kin, J);
    for (int k = 0; k < model->joint_count; ++k) {
        double share = model->joints[k].mass / model->total_mass;
        if (share == 0) {
            continue;
        }
        vec3 x = v3_add(kin->p[k], m3_apply(&kin->R[k], model->joints[k].mass_center));
        for (int i = model->joints[k].last_axis; i >= 0; i = model->axes[i].parent) {
            add_column(kin, i, v3_scale(pz_velocity(kin->S[i], x), share), J);
        }
    }
}

double poise_kinematics_mass_center(const poise_kinematics *kinematics, poise_vec3 *center, double *J)
{
    if (!kinematics || kinematics->model->total_mass == 0) {
        if (center) {
            *center = v3(0, 0, 0);
        }
        return 0.0;
    }
    if (center) {
        *center = v3_add(kinematics->origin, pz_kin_mass_center(kinematics));
    }
    if (J) {
        pz_kin_mass_center_columns(kinematics, J);
    }
    return kinematics->model->total_mass;
}

// ---- Second derivatives of a point ---------------------------------------------------------------------------------------
//
// Turning about an axis h above i carries everything below along, the velocity J_i included:
//
//   K_hi = d2x / dq_h dq_i = w_h x J_i                                (h before i on the path; 0 when h slides)
//
// Two axes i, j of one rotation block, R(v) = R_before exp(v), have no order. With S_i = J_l e_i, and the symmetric part of
// dJ_l/dv written out (num/rotation.h; E_i e_j terms are antisymmetric and drop out),
//
//   K_ij = (w_i x J_j + w_j x J_i)/2 + D_ij x (x - p)
//   D_ij = R_before ( db (v_j v x e_i + v_i v x e_j)/2 + dc (v_j v x (v x e_i) + v_i v x (v x e_j))/2
//                     + c (v delta_ij - (e_i v_j + e_j v_i)/2) )
//
// A quaternion's step starts at v = 0, where D = 0. The axis of a curve changes with its own coordinate (kinematics.c):
//
//   K_ii = w_i x J_i + D_w x x + D_v
//
// Source of the ordered form: Erleben & Andrews 2019, eq. (22)-(27) and Table 2, read with h upstream of k.

static inline double component(vec3 v, int i)
{
    return i == 0 ? v.x : i == 1 ? v.y : v.z;
}

static inline vec3 unit(int i)
{
    return v3(i == 0, i == 1, i == 2);
}

// D_ij of a block, in world axes.
static vec3 block_curvature(const pz_block *block, int i, int j)
{
    vec3 v = block->v;
    double vi = component(v, i), vj = component(v, j);
    vec3 turn_i = v3_cross(v, unit(i)), turn_j = v3_cross(v, unit(j));
    vec3 once = v3_combine(0.5 * vj, turn_i, 0.5 * vi, turn_j);
    vec3 twice = v3_cross(v, once);
    vec3 rest = v3_combine(-0.5 * vj, unit(i), -0.5 * vi, unit(j));
    rest = i == j ? v3_add(rest, v) : rest;
    vec3 D = v3_combine(block->k.db, once, block->k.dc, twice);
    return m3_apply(&block->before, v3_mad(D, block->k.c, rest));
}

// Write one entry and its mirror, for the dofs behind two axes.
static void add_entry(const poise_model *model, int h, int i, vec3 k, double *K)
{
    const pz_axis *a = &model->axes[h], *b = &model->axes[i];
    double factor = a->factor * b->factor;
    size_t n = (size_t)model->nv, there = (size_t)a->dof * n + (size_t)b->dof, back = (size_t)b->dof * n + (size_t)a->dof;
    double row[3] = {factor * k.x, factor * k.y, factor * k.z};
    for (size_t r = 0; r < 3; ++r) {
        K[r * n * n + there] += row[r];
        if (h != i) {
            K[r * n * n + back] += row[r];
        }
    }
}

// The block that an axis belongs to, or NULL, and the axis's number in it.
static const pz_block *block_of(const poise_kinematics *kin, int axis, int *number)
{
    const pz_joint *joint = &kin->model->joints[kin->model->axes[axis].joint];
    for (int s = joint->step_begin; s < joint->step_end; ++s) {
        const pz_step *step = &kin->model->steps[s];
        if (pz_step_is_block(step->kind) && axis >= step->axis && axis < step->axis + pz_step_nv(step->kind)) {
            *number = axis - step->axis;
            return &kin->blocks[step->block];
        }
    }
    return NULL;
}

// dS/dq of an axis that is a curve's, or NULL.
static const spatial *curve_of(const poise_kinematics *kin, int axis)
{
    const pz_joint *joint = &kin->model->joints[kin->model->axes[axis].joint];
    const pz_step *step = &kin->model->steps[joint->step_begin];
    return step->kind == PZ_CURVE ? &kin->D[step->value] : NULL;
}

// The row of entries of axis i with every axis at or above it.
static void add_row(const poise_kinematics *kin, int i, vec3 x, double *K)
{
    const poise_model *model = kin->model;
    vec3 J_i = pz_velocity(kin->S[i], x);
    int number_i = 0, number_h = 0;
    const spatial *curve = curve_of(kin, i);
    const pz_block *block = curve ? NULL : block_of(kin, i, &number_i);
    for (int h = i; h >= 0; h = model->axes[h].parent) {
        vec3 k = v3_cross(kin->S[h].w, J_i);
        if (h == i && curve) {
            k = v3_add(k, pz_velocity(*curve, x));
        } else if (block && block_of(kin, h, &number_h) == block) {
            vec3 other = v3_cross(kin->S[i].w, pz_velocity(kin->S[h], x));
            vec3 arm = v3_sub(x, kin->p[model->axes[i].joint]);
            k = v3_add(v3_combine(0.5, k, 0.5, other), v3_cross(block_curvature(block, number_h, number_i), arm));
        }
        add_entry(model, h, i, k, K);
    }
}

poise_status poise_kinematics_point_tensor(const poise_kinematics *kinematics, int body, poise_vec3 local, double *K,
                                           poise_error *error)
{
    if (check_point(kinematics, body, local, K, error) != POISE_OK) {
        return POISE_ERROR_ARGUMENT;
    }
    size_t n = (size_t)kinematics->model->nv;
    memset(K, 0, 3 * n * n * sizeof *K);
    vec3 x = pz_kin_point(kinematics, body, local);
    for (int i = pz_kin_last_axis(kinematics, body); i >= 0; i = kinematics->model->axes[i].parent) {
        add_row(kinematics, i, x, K);
    }
    return POISE_OK;
}
