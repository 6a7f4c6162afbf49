// Skeletons of other sizes: a model with scaled bones, and how far one that was scaled by measurements can be trusted.
#include <poise/track.h>
#include <poise/verdict.h>

#include "base/arena.h"
#include "base/error.h"
#include "motion/anatomy.h"
#include "motion/verdict.h"
#include "num/real.h"
#include "num/vector.h"

// ---- Rescale -------------------------------------------------------------------------------------------------------------

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
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
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
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
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

// ---- Judge ---------------------------------------------------------------------------------------------------------------

// How far from 1, upwards or downwards; beyond all thresholds for what is no factor.
static double departure(double factor)
{
    return factor > 0.0 ? max2(factor, 1.0 / factor) : 1e9;
}

static bool is_scaled(poise_vec3 f)
{
    return f.x == f.x && f.y == f.y && f.z == f.z;
}

// The middle one of all factors, found by counting those that are not larger; 1 without any.
static double middle_factor(const poise_scaling_problem *p, int bodies)
{
    double middle = 1.0;
    int fewest = -1;
    for (int i = 0; i < 3 * bodies; ++i) {
        double f = v3_get(p->factors[i / 3], i % 3);
        int below = 0, all = 0;
        for (int k = 0; k < 3 * bodies; ++k) {
            double other = v3_get(p->factors[k / 3], k % 3);
            all += is_scaled(p->factors[k / 3]);
            below += other <= f;
        }
        if (is_scaled(p->factors[i / 3]) && 2 * below >= all && (fewest < 0 || below < fewest)) {
            fewest = below;
            middle = f;
        }
    }
    return middle;
}

static void judge_body(pz_findings *found, const poise_scaling_problem *p, int body, double middle)
{
    const char *name = poise_model_joint_info(p->model, body).body;
    int other = pz_mirror_body(p->model, body);
    bool has_twin = other > body && is_scaled(p->factors[other]); // each pair once
    double stretched = 1.0, sides = 1.0;
    for (int axis = 0; axis < 3; ++axis) {
        double factor = v3_get(p->factors[body], axis);
        stretched = max2(stretched, departure(factor / middle));
        sides = has_twin ? max2(sides, departure(factor / v3_get(p->factors[other], axis))) : sides;
    }
    pz_weigh(found, POISE_FINDING_STRETCHED, name, stretched, false);
    if (has_twin) {
        pz_weigh_two(found, POISE_FINDING_SIDES, name, poise_model_joint_info(p->model, other).body, sides);
    }
}

poise_thresholds poise_scaling_thresholds(void)
{
    poise_thresholds t = poise_thresholds_default();
    t.doubtful[POISE_FINDING_SIZE] = 1.6;
    t.failed[POISE_FINDING_SIZE] = 2.5;
    t.doubtful[POISE_FINDING_STRETCHED] = 1.25;
    t.failed[POISE_FINDING_STRETCHED] = 1.6;
    return t;
}

poise_status poise_scaling_judge(const poise_scaling_problem *problem, const poise_allocator *allocator,
                                 poise_verdict *verdict, poise_finding *findings, int capacity, poise_error *error)
{
    if (!problem || !problem->model || !problem->factors || !verdict || capacity < 0 || (capacity > 0 && !findings)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "model, factors and verdict must not be NULL");
    }
    pz_findings found = {.thresholds = &problem->thresholds, .list = findings, .capacity = capacity};
    int bodies = poise_model_info(problem->model).joints;
    double middle = middle_factor(problem, bodies), stature;
    if (pz_skeleton_size(problem->model, allocator, &stature) != POISE_OK) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    pz_weigh(&found, POISE_FINDING_SIZE, NULL, departure(middle), false);
    for (int k = 0; k < bodies; ++k) {
        if (is_scaled(problem->factors[k])) {
            judge_body(&found, problem, k, middle > 0.0 ? middle : 1.0);
        }
    }
    pz_weigh(&found, POISE_FINDING_GIVEN, NULL, stature > 0.0 ? problem->miss / stature : 0.0, false);
    for (int i = 0; i < problem->absent_count; ++i) {
        pz_weigh(&found, POISE_FINDING_ABSENT, problem->absent[i], 1.0, false);
    }
    *verdict = found.verdict;
    return POISE_OK;
}
