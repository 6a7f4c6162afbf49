// Skeletons of other sizes.
#include <poise/track.h>

#include "base/error.h"
#include "model/model.h"
#include "num/real.h"

// The factor of what is fixed to a body: the mean of those of the joints that hang from it.
static double body_scale(const poise_model *model, const double *scale, int body)
{
    double sum = 0.0;
    int count = 0;
    int end = body + poise_model_joint_info(model, body).subtree;
    for (int k = body + 1; k < end; k += poise_model_joint_info(model, k).subtree) {
        sum += scale[k];
        count += 1;
    }
    return count > 0 ? sum / count : scale[body];
}

static poise_pose scaled(poise_pose pose, double s)
{
    pose.position = (poise_vec3){s * pose.position.x, s * pose.position.y, s * pose.position.z};
    return pose;
}

static poise_status add_all(const poise_model *model, const double *scale, poise_builder *builder, poise_error *error)
{
    for (int k = 0; k < model->joint_count; ++k) {
        poise_joint joint = *poise_model_joint_info(model, k).given;
        double own = poise_model_joint_info(model, k).parent == POISE_WORLD ? 1.0 : scale[k];
        joint.offset = scaled(joint.offset, own);
        poise_pose center = scaled((poise_pose){.position = joint.mass_center}, body_scale(model, scale, k));
        joint.mass_center = center.position;
        poise_status status = poise_builder_add_joint(builder, &joint, error);
        if (status != POISE_OK) {
            return status;
        }
    }
    for (int i = 0; i < poise_model_info(model).tools; ++i) {
        int body = poise_model_tool_info(model, i).body;
        poise_tool tool = {.name = poise_model_tool_info(model, i).name,
                           .body = poise_model_joint_info(model, body).body,
                           .pose = scaled(poise_model_tool_info(model, i).pose, body_scale(model, scale, body))};
        poise_status status = poise_builder_add_tool(builder, &tool, error);
        if (status != POISE_OK) {
            return status;
        }
    }
    return POISE_OK;
}

poise_status poise_model_rescale(const poise_model *model, const double *scale, const poise_allocator *allocator,
                                 poise_model **rescaled, poise_error *error)
{
    if (!model || !scale || !rescaled) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "model, scale and rescaled must not be NULL");
    }
    for (int k = 0; k < model->joint_count; ++k) {
        if (!(scale[k] > 0) || !is_finite(scale[k])) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT, "joint \"%s\": a scale must be > 0",
                                poise_model_joint_info(model, k).name);
        }
    }
    poise_builder *builder;
    poise_status status = poise_builder_create(allocator, &builder, NULL);
    if (status != POISE_OK) {
        return pz_error_set(error, status, "out of memory");
    }
    status = add_all(model, scale, builder, error);
    if (status == POISE_OK) {
        status = poise_model_create(builder, allocator, rescaled, error);
    }
    poise_builder_destroy(builder);
    return status;
}
