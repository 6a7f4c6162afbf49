// The paths of points on a moving skeleton, as markers.
#include <poise/track.h>

#include "base/arena.h"
#include "base/error.h"
#include "kin/kin.h"

// A set of gaps with the points' labels.
static poise_status make_markers(const poise_clip *clip, const poise_placement *points, int count,
                                 const poise_allocator *allocator, poise_markers **markers, poise_error *error)
{
    const char **labels = pz_allocate(allocator, ((size_t)count + 1) * sizeof *labels);
    if (!labels) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    for (int i = 0; i < count; ++i) {
        labels[i] = points[i].label ? points[i].label : "";
    }
    poise_status status =
        poise_markers_create(clip->frames, count, 1.0 / clip->frame_time, labels, allocator, markers, error);
    pz_release(allocator, labels);
    return status;
}

poise_status poise_markers_from_clip(const poise_model *model, const poise_clip *clip, poise_scale scale,
                                     const poise_placement *points, int count, const poise_allocator *allocator,
                                     poise_markers **markers, poise_error *error)
{
    if (!model || !clip || clip->nq != model->nq || count < 0 || (count > 0 && !points) || !markers) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "model, clip, points and markers must not be NULL, and the clip must be of this model");
    }
    for (int i = 0; i < count; ++i) {
        if (points[i].body < 0 || points[i].body >= model->joint_count) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT, "points[%d]: body %d does not exist: the model has %d bodies",
                                i, points[i].body, model->joint_count);
        }
    }
    poise_kinematics *kin;
    poise_markers *made = NULL;
    poise_status status = poise_kinematics_create(model, allocator, &kin, error);
    if (status != POISE_OK) {
        return status;
    }
    status = make_markers(clip, points, count, allocator, &made, error);
    for (int f = 0; f < clip->frames && status == POISE_OK; ++f) {
        status = poise_kinematics_update(kin, clip->q + (size_t)f * (size_t)clip->nq, error);
        for (int i = 0; i < count && status == POISE_OK; ++i) {
            made->position[(size_t)f * (size_t)count + (size_t)i] =
                poise_kinematics_point(kin, points[i].body, points[i].local);
        }
    }
    poise_kinematics_destroy(kin);
    if (status != POISE_OK) {
        poise_markers_destroy(made);
        return status;
    }
    made->scale = scale;
    *markers = made;
    return POISE_OK;
}
