// The motion of a CURVE joint and its derivatives.
//
// Steps s are its slides, then its turns; X_s the unit twist of one in the world: (0, R u) of a slide, (w, p x w) of a turn,
// w = u turned by the turns before it, p the origin after the slides. With f_s, f'_s, f''_s its function at q,
//
//   for each step:   D += f''_s X_s + f'_s (S x X_s)       S += f'_s X_s
//
// S is the motion axis and D = dS/dq: the S so far is what has turned X_s before. A follower's functions are those of the
// coordinate it follows, F = f(c(q)):  F' = f' c',  F'' = f'' c'^2 + f' c''.
#include "kin/kin.h"

#include "num/trig.h"

static pz_jet2 function_of(const pz_curve *curve, int i, const pz_jet2 *inner)
{
    pz_jet2 f = pz_function_at(&curve->value[i], inner->f);
    return (pz_jet2){f.f, f.d1 * inner->d1, f.d2 * inner->d1 * inner->d1 + f.d1 * inner->d2};
}

// R exp(angle u): with a = R u, the columns turn about a.
static mat3 turned(const mat3 *R, vec3 a, double angle)
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
            *R = turned(R, w, f.f);
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
