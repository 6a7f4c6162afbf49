// Life of a poise_kinematics, and where things are.
#include "kin/kin.h"

#include "base/error.h"
#include "model/model.h"

// ---- Life ----------------------------------------------------------------------------------------------------------------

poise_status poise_kinematics_create(const poise_model *model, const poise_allocator *allocator,
                                     poise_kinematics **kinematics, poise_error *error)
{
    if (!model || !kinematics) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "model and kinematics must not be NULL");
    }
    poise_kinematics blank = {0}, *kin = NULL;
    pz_arena arena = pz_arena_counting();
    pz_arena_take(&arena, 1, sizeof blank);
    pz_kin_layout(&blank, model, &arena);
    size_t size = pz_arena_bytes(&arena);
    if (!pz_owned_take(&blank.owned, allocator, size)) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory: kinematics need %g bytes", (double)size);
    }
    arena = pz_arena_over(blank.owned.memory, size);
    kin = pz_arena_take(&arena, 1, sizeof *kin);
    *kin = (poise_kinematics){.owned = blank.owned};
    pz_kin_layout(kin, model, &arena);
    poise_model_neutral(model, kin->q);
    pz_kin_sweep(kin, kin->q);
    *kinematics = kin;
    return POISE_OK;
}

void poise_kinematics_destroy(poise_kinematics *kinematics)
{
    if (kinematics) {
        pz_owned_release(&kinematics->owned);
    }
}

poise_status poise_kinematics_update(poise_kinematics *kinematics, const double *q, poise_error *error)
{
    if (!kinematics) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "kinematics must not be NULL");
    }
    if (!q || !pz_model_accepts(kinematics->model, q)) {
        return pz_refuse_q(kinematics->model, q, "q", error);
    }
    pz_kin_sweep(kinematics, q);
    return POISE_OK;
}

// ---- Where things are ----------------------------------------------------------------------------------------------------

static bool has_body(const poise_kinematics *kin, int body)
{
    return kin && body >= 0 && body < kin->model->joint_count;
}

mat3 pz_kin_rotation(const poise_kinematics *kin, int body)
{
    if (body == POISE_WORLD) {
        return m3_identity();
    }
    const pz_joint *joint = &kin->model->joints[body];
    return joint->B_is_identity ? kin->R[body] : m3_mul(&kin->R[body], &joint->B);
}

poise_pose poise_kinematics_body_pose(const poise_kinematics *kinematics, int body)
{
    if (!has_body(kinematics, body)) {
        return poise_pose_identity();
    }
    mat3 R = pz_kin_rotation(kinematics, body);
    return (poise_pose){quat_from_matrix(&R), v3_add(kinematics->origin, kinematics->p[body])};
}

poise_pose poise_kinematics_tool_pose(const poise_kinematics *kinematics, int tool)
{
    if (!kinematics || tool < 0 || tool >= kinematics->model->tool_count) {
        return poise_pose_identity();
    }
    const poise_model *model = kinematics->model;
    return poise_pose_multiply(poise_kinematics_body_pose(kinematics, model->tool_body[tool]), model->tools[tool].pose);
}

void poise_kinematics_body_frame(const poise_kinematics *kinematics, int body, double rotation[9], double position[3])
{
    mat3 product = m3_identity();
    const mat3 *R = &product;
    vec3 p = v3(0, 0, 0);
    if (has_body(kinematics, body)) {
        const pz_joint *joint = &kinematics->model->joints[body];
        R = &kinematics->R[body];
        if (!joint->B_is_identity) {
            product = m3_mul(R, &joint->B);
            R = &product;
        }
        p = v3_add(kinematics->origin, kinematics->p[body]);
    }
    m3_to_rows(R, rotation);
    position[0] = p.x, position[1] = p.y, position[2] = p.z;
}

poise_vec3 poise_kinematics_point(const poise_kinematics *kinematics, int body, poise_vec3 local)
{
    return has_body(kinematics, body) ? v3_add(kinematics->origin, pz_kin_point(kinematics, body, local)) : local;
}

poise_vec3 poise_kinematics_direction(const poise_kinematics *kinematics, int body, poise_vec3 local)
{
    return has_body(kinematics, body) ? pz_kin_direction(kinematics, body, local) : local;
}

vec3 pz_kin_mass_center(const poise_kinematics *kin)
{
    const poise_model *model = kin->model;
    vec3 sum = {0, 0, 0};
    for (int k = 0; k < model->joint_count; ++k) {
        vec3 x = v3_add(kin->p[k], m3_apply(&kin->R[k], model->joints[k].mass_center));
        sum = v3_mad(sum, model->joints[k].mass / model->total_mass, x);
    }
    return sum;
}
