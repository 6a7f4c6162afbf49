// Steps: from a configuration by a tangent vector to another, and back.
#include "kin/retract.h"

#include "base/error.h"
#include "model/model.h"

static quat quat_at(const double *q)
{
    return (quat){q[0], q[1], q[2], q[3]};
}

static void put_quat(quat a, double *q)
{
    q[0] = a.x, q[1] = a.y, q[2] = a.z, q[3] = a.w;
}

// A rotation vector; a swing has two components.
static vec3 vector_at(const pz_step *step, const double *q)
{
    return v3(q[step->q], q[step->q + 1], step->kind == PZ_EXPMAP ? q[step->q + 2] : 0.0);
}

// Is it a rotation vector without limits, so that either of its two short forms will do?
static bool takes_other_form(const poise_model *model, const pz_step *step)
{
    if (step->kind != PZ_EXPMAP && step->kind != PZ_SWING) {
        return false;
    }
    for (int i = step->q; i < step->q + pz_step_nq(step->kind); ++i) {
        if (is_finite(model->lower[i]) || is_finite(model->upper[i])) {
            return false;
        }
    }
    int joint = model->axes[step->axis].joint;
    return step->kind != PZ_SWING || !is_finite(model->given[joint].swing[0]);
}

static bool reparameterise(const poise_model *model, const pz_step *step, double *q)
{
    if (!takes_other_form(model, step)) {
        return false;
    }
    double *c = q + step->q;
    vec3 v = vector_at(step, q);
    if (!so3_reparameterise(&v)) {
        return false;
    }
    c[0] = v.x, c[1] = v.y;
    if (step->kind == PZ_EXPMAP) {
        c[2] = v.z;
    }
    return true;
}

int pz_kin_reparameterise(const poise_model *model, double *q)
{
    if (!model || !q || !pz_model_accepts(model, q)) {
        return 0;
    }
    int changed = 0;
    for (int s = 0; s < model->step_count; ++s) {
        changed += reparameterise(model, &model->steps[s], q);
    }
    return changed;
}

// q exp(v). Without a turn, the bits of a unit quaternion stay.
static quat turned(quat q, vec3 v)
{
    if (v.x == 0 && v.y == 0 && v.z == 0) {
        return pz_unit_quat(q);
    }
    return quat_normalize(quat_mul(quat_normalize(q), so3_exp_quat(v)));
}

void pz_step_retract(const poise_model *model, const pz_step *step, const double *q, const double *dv, double *q_out)
{
    if (step->kind == PZ_QUATERNION) {
        put_quat(turned(quat_at(q + step->q), v3(dv[0], dv[1], dv[2])), q_out + step->q);
        return;
    }
    for (int i = 0; i < pz_step_nq(step->kind); ++i) {
        q_out[step->q + i] = q[step->q + i] + dv[i];
    }
    reparameterise(model, step, q_out);
}

void pz_kin_retract(const poise_model *model, const double *q, const double *v, double *q_out)
{
    for (int s = 0; s < model->step_count; ++s) {
        const pz_step *step = &model->steps[s];
        if (step->own) {
            pz_step_retract(model, step, q, v + model->axes[step->axis].dof, q_out);
        }
    }
}

// Does every sum of a coordinate and its step fit into a number?
static bool sums_are_finite(const poise_model *model, const double *q, const double *v)
{
    for (int s = 0; s < model->step_count; ++s) {
        const pz_step *step = &model->steps[s];
        const double *dv = v + (step->own ? model->axes[step->axis].dof : 0);
        for (int i = 0; step->own && step->kind != PZ_QUATERNION && i < pz_step_nq(step->kind); ++i) {
            if (!is_finite(q[step->q + i] + dv[i])) {
                return false;
            }
        }
    }
    return true;
}

poise_status poise_retract(const poise_model *model, const double *q, const double *v, double *q_out, poise_error *error)
{
    if (!model || !v || !q_out) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "model, v and q_out must not be NULL");
    }
    if (!q || !pz_model_accepts(model, q)) {
        return pz_refuse_q(model, q, "q", error);
    }
    if (!all_finite(v, (size_t)model->nv)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "v must hold %d finite numbers", model->nv);
    }
    if (!sums_are_finite(model, q, v)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "a coordinate plus its step overflows");
    }
    pz_kin_retract(model, q, v, q_out);
    return POISE_OK;
}

void pz_step_difference(const poise_model *model, const pz_step *step, const double *q_from, const double *q_to, double *dv)
{
    if (step->kind == PZ_QUATERNION) {
        quat from = quat_normalize(quat_at(q_from + step->q)), to = quat_normalize(quat_at(q_to + step->q));
        vec3 turn = so3_log(quat_mul(quat_conj(from), to));
        dv[0] = turn.x, dv[1] = turn.y, dv[2] = turn.z;
        return;
    }
    if (takes_other_form(model, step)) {
        vec3 from = vector_at(step, q_from), turn = v3_sub(so3_nearer(vector_at(step, q_to), from), from);
        dv[0] = turn.x, dv[1] = turn.y;
        if (step->kind == PZ_EXPMAP) {
            dv[2] = turn.z;
        }
        return;
    }
    for (int i = 0; i < pz_step_nq(step->kind); ++i) {
        dv[i] = q_to[step->q + i] - q_from[step->q + i];
    }
}

void pz_kin_difference(const poise_model *model, const double *q_from, const double *q_to, double *v)
{
    for (int s = 0; s < model->step_count; ++s) {
        const pz_step *step = &model->steps[s];
        if (step->own) {
            pz_step_difference(model, step, q_from, q_to, v + model->axes[step->axis].dof);
        }
    }
}

poise_status poise_difference(const poise_model *model, const double *q_from, const double *q_to, double *v,
                              poise_error *error)
{
    if (!model || !v) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "model and v must not be NULL");
    }
    if (!q_from || !pz_model_accepts(model, q_from)) {
        return pz_refuse_q(model, q_from, "q_from", error);
    }
    if (!q_to || !pz_model_accepts(model, q_to)) {
        return pz_refuse_q(model, q_to, "q_to", error);
    }
    for (int i = 0; i < model->nq; ++i) {
        if (!is_finite(q_to[i] - q_from[i])) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT, "coordinate %d: %g and %g are too far apart to represent", i,
                                q_from[i], q_to[i]);
        }
    }
    pz_kin_difference(model, q_from, q_to, v);
    return POISE_OK;
}
