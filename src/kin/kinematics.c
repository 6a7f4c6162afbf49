// Kinematics: the forward sweep, curves, the life of a poise_kinematics, and where things are.
#include "base/error.h"
#include "kin/forward_kernel.h"
#include "kin/kin.h"
#include "num/trig.h"

#include <string.h>

// ---- The forward sweep ---------------------------------------------------------------------------------------------------

void pz_kin_layout(poise_kinematics *kin, const poise_model *model, pz_arena *arena)
{
    kin->model = model;
    kin->q = pz_arena_take(arena, (size_t)model->nq, sizeof *kin->q);
    // one more than there are: pack3_load reads beyond the last
    kin->R = pz_arena_take(arena, (size_t)model->joint_count + 1, sizeof *kin->R);
    kin->p = pz_arena_take(arena, (size_t)model->joint_count + 1, sizeof *kin->p);
    kin->S = pz_arena_take(arena, (size_t)model->axis_count, sizeof *kin->S);
    kin->blocks = pz_arena_take(arena, (size_t)model->block_count, sizeof *kin->blocks);
    kin->D = pz_arena_take(arena, (size_t)model->curve_count, sizeof *kin->D);
    kin->value = pz_arena_take(arena, (size_t)model->value_count + SWEEP_SPARE, sizeof *kin->value);
    kin->sine = pz_arena_take(arena, (size_t)model->turn_count + SWEEP_SPARE, sizeof *kin->sine);
    kin->cosine = pz_arena_take(arena, (size_t)model->turn_count + SWEEP_SPARE, sizeof *kin->cosine);
    for (int i = 0; kin->value && i < SWEEP_SPARE; ++i) {
        kin->value[model->value_count + i] = 0.0;
    }
}

void pz_kin_sweep(poise_kinematics *kin, const double *q)
{
    const poise_model *model = kin->model;
    for (int i = 0; i < model->nq; ++i) {
        kin->q[i] = q[i];
    }
    if (model->is_wide) {
        pz_kin_sweep_wide(kin);
    } else {
        sweep_forward(kin);
    }
}

// ---- The motion of a CURVE joint and its derivatives ---------------------------------------------------------------------
//
// Steps s are its slides, then its turns; X_s the unit twist of one in the world: (0, R u) of a slide, (w, p x w) of a turn,
// w = u turned by the turns before it, p the origin after the slides. With f_s, f'_s, f''_s its function at q,
//
//   for each step:   D += f''_s X_s + f'_s (S x X_s)       S += f'_s X_s
//
// S is the motion axis and D = dS/dq: the S so far is what has turned X_s before. A follower's functions are those of the
// coordinate it follows, F = f(c(q)):  F' = f' c',  F'' = f'' c'^2 + f' c''.

static pz_jet2 function_of(const pz_curve *curve, int i, const pz_jet2 *inner)
{
    pz_jet2 f = pz_function_at(&curve->value[i], inner->f);
    return (pz_jet2){f.f, f.d1 * inner->d1, f.d2 * inner->d1 * inner->d1 + f.d1 * inner->d2};
}

// R exp(angle u): with a = R u, the columns turn about a.
static mat3 turned_about(const mat3 *R, vec3 a, double angle)
{
    double s, c;
    pz_sincos(angle, &s, &c);
    const vec3 *column = &R->x;
    vec3 out[3];
    for (int i = 0; i < 3; ++i) {
        vec3 x = column[i];
        out[i] = v3_mad(v3_combine(c, x, s, v3_cross(a, x)), (1.0 - c) * v3_dot(a, x), a);
    }
    return (mat3){out[0], out[1], out[2]};
}

void pz_kin_curve(const pz_curve *curve, double q, mat3 *R, vec3 *p, spatial *S, spatial *D)
{
    pz_jet2 inner = {q, 1.0, 0.0};
    if (pz_function_is_there(&curve->inner)) {
        inner = pz_function_at(&curve->inner, q);
    }
    *S = *D = (spatial){{0, 0, 0}, {0, 0, 0}};
    vec3 start = *p;
    for (int i = 3; i < 6; ++i) {
        if (pz_function_is_there(&curve->value[i])) {
            pz_jet2 f = function_of(curve, i, &inner);
            vec3 a = m3_apply(R, curve->axis[i]);
            S->v = v3_mad(S->v, f.d1, a);
            D->v = v3_mad(D->v, f.d2, a);
            start = v3_mad(start, f.f, a);
        }
    }
    *p = start;
    for (int i = 0; i < 3; ++i) {
        if (pz_function_is_there(&curve->value[i])) {
            pz_jet2 f = function_of(curve, i, &inner);
            vec3 w = m3_apply(R, curve->axis[i]);
            spatial X = {w, v3_cross(start, w)};
            *D = spatial_mad(spatial_mad(*D, f.d2, X), f.d1, spatial_cross(*S, X));
            *S = spatial_mad(*S, f.d1, X);
            *R = turned_about(R, w, f.f);
        }
    }
}

poise_pose poise_model_curve_pose(const poise_model *model, int joint, double q)
{
    if (!model || joint < 0 || joint >= model->joint_count || !is_finite(q)) {
        return poise_pose_identity();
    }
    const pz_joint *at = &model->joints[joint];
    const pz_step *step = &model->steps[at->step_begin];
    if (at->step_end != at->step_begin + 1 || step->kind != PZ_CURVE) {
        return poise_pose_identity();
    }
    const poise_joint *given = &model->given[joint];
    mat3 A = m3_transpose(&at->B), R = A;
    vec3 p = {0, 0, 0};
    spatial S, D;
    pz_kin_curve(&model->curves[step->value], q, &R, &p, &S, &D);
    R = m3_mul(&R, &at->B);
    return poise_pose_multiply(given->offset, (poise_pose){quat_from_matrix(&R), p});
}

double poise_model_mimic(const poise_model *model, int joint, double q)
{
    const poise_joint *given = model && joint >= 0 && joint < model->joint_count ? &model->given[joint] : NULL;
    if (!given || !given->mimic) {
        return q;
    }
    if (!given->mimic_function) {
        return given->mimic_multiplier * q + given->mimic_offset;
    }
    const pz_step *step = &model->steps[model->joints[joint].step_begin];
    return pz_function_at(&model->curves[step->value].inner, q).f;
}

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

void poise_kinematics_copy(poise_kinematics *kinematics, const poise_kinematics *from)
{
    poise_kinematics *to = kinematics;
    if (!to || !from || to == from || to->model != from->model) {
        return;
    }
    const poise_model *model = from->model;
    to->origin = from->origin;
    memcpy(to->q, from->q, (size_t)model->nq * sizeof *to->q);
    memcpy(to->R, from->R, (size_t)model->joint_count * sizeof *to->R);
    memcpy(to->p, from->p, (size_t)model->joint_count * sizeof *to->p);
    memcpy(to->S, from->S, (size_t)model->axis_count * sizeof *to->S);
    memcpy(to->blocks, from->blocks, (size_t)model->block_count * sizeof *to->blocks);
    memcpy(to->D, from->D, (size_t)model->curve_count * sizeof *to->D);
    memcpy(to->value, from->value, (size_t)model->value_count * sizeof *to->value);
    memcpy(to->sine, from->sine, (size_t)model->turn_count * sizeof *to->sine);
    memcpy(to->cosine, from->cosine, (size_t)model->turn_count * sizeof *to->cosine);
}

// ---- Where things are ----------------------------------------------------------------------------------------------------

static bool has_body(const poise_kinematics *kin, int body)
{
    return kin && body >= 0 && body < kin->model->joint_count;
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

poise_vec3 poise_kinematics_apart(const poise_kinematics *kinematics, int from_body, poise_vec3 from_local, int to_body,
                                  poise_vec3 to_local)
{
    if (!kinematics) {
        return v3_sub(to_local, from_local);
    }
    vec3 from = pz_kin_point(kinematics, has_body(kinematics, from_body) ? from_body : POISE_WORLD, from_local);
    return v3_sub(pz_kin_point(kinematics, has_body(kinematics, to_body) ? to_body : POISE_WORLD, to_local), from);
}

double poise_kinematics_turn(const poise_kinematics *from, const poise_kinematics *to)
{
    double most = 0.0; // |R - R'|^2 = 8 sin^2(turn/2)
    for (int k = 0; from && to && from->model == to->model && k < from->model->joint_count; ++k) {
        const mat3 *a = &from->R[k], *b = &to->R[k];
        vec3 x = v3_sub(b->x, a->x), y = v3_sub(b->y, a->y), z = v3_sub(b->z, a->z);
        most = max2(most, v3_dot(x, x) + v3_dot(y, y) + v3_dot(z, z));
    }
    double sine = sqrt(min2(most / 8.0, 1.0));
    return 2.0 * poise_atan2(sine, sqrt(1.0 - sine * sine));
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
