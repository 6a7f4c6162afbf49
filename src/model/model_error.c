#include "model/model_error.h"

#include "base/error.h"

// The joint that coordinate i belongs to.
static const char *joint_of(const poise_model *model, int i)
{
    int k = 0;
    while (k + 1 < model->joint_count && i >= model->joints[k].q_end) {
        ++k;
    }
    return model->given[k].name;
}

poise_status pz_refuse_q(const poise_model *model, const double *q, const char *name, poise_error *error)
{
    if (!q) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "%s must not be NULL", name);
    }
    for (int i = 0; i < model->nq; ++i) {
        if (!is_finite(q[i])) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT, "%s[%d], of joint \"%s\", is %g: it must be finite", name, i,
                                joint_of(model, i), q[i]);
        }
    }
    for (int s = 0; s < model->step_count; ++s) {
        const double *c = q + model->steps[s].q;
        if (model->steps[s].kind == PZ_QUATERNION && c[0] == 0 && c[1] == 0 && c[2] == 0 && c[3] == 0) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT,
                                "%s: the quaternion of joint \"%s\" is zero: set it to 0 0 0 1 for no rotation", name,
                                joint_of(model, model->steps[s].q));
        }
    }
    return pz_error_set(error, POISE_ERROR_ARGUMENT, "%s is not a configuration of this model", name);
}
