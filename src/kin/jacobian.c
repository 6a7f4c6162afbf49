// First derivatives of points, directions and frames.
//
//   point      J_i = w_i x x + v_i       x relative to the reference point, S_i = [w_i ; v_i]
//   direction  J_i = w_i x d
//   turn       J_i = w_i
//
// for the axes i on the path from the body to the root, zero for all others.
#include "base/error.h"
#include "kin/kin.h"

#include <string.h>

poise_status pz_kin_check(const poise_kinematics *kin, int body, vec3 local, const double *out, poise_error *error)
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

static void clear(const poise_kinematics *kin, double *J)
{
    memset(J, 0, 3 * (size_t)kin->model->nv * sizeof *J);
}

poise_status poise_kinematics_jacobian(const poise_kinematics *kinematics, int body, poise_vec3 local, double *J,
                                       double *J_turn, poise_error *error)
{
    if (pz_kin_check(kinematics, body, local, J ? J : J_turn, error) != POISE_OK) {
        return POISE_ERROR_ARGUMENT;
    }
    vec3 x = pz_kin_point(kinematics, body, local);
    if (J) {
        clear(kinematics, J);
    }
    if (J_turn) {
        clear(kinematics, J_turn);
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
    if (pz_kin_check(kinematics, body, local, J, error) != POISE_OK) {
        return POISE_ERROR_ARGUMENT;
    }
    vec3 d = pz_kin_direction(kinematics, body, local);
    clear(kinematics, J);
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
    clear(kin, J);
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
