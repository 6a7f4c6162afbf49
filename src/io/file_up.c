// Which axis points up in a file.
//
// What the file says counts. Most motion files say nothing: then the figure in it tells, standing at rest or in most of its
// motion. Where there is no figure, a tree that can move freely lies flat on the ground: in the plane that it is thin across,
// at rest and as it moves. Else it is as the format has it by custom.
#include <poise/io.h>

#include "math/scalar.h"

#include <math.h>

#define FLAT 2.0 // times as far along z as along y: it does not stand along y

// How far the bodies reach along y and z; `q` NULL: in the neutral configuration. False: out of memory.
static bool reach_of(const poise_model *model, const double *q, double *y, double *z)
{
    poise_kinematics *kin = NULL;
    int bodies = poise_model_info(model).joints;
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    if (poise_kinematics_create(model, NULL, &kin, NULL) != POISE_OK) { // neutral
        return false;
    }
    bool works = !q || poise_kinematics_update(kin, q, NULL) == POISE_OK;
    for (int k = 0; k < bodies && works; ++k) {
        poise_vec3 at = poise_kinematics_body_pose(kin, k).position;
        low[0] = min2(low[0], at.y), high[0] = max2(high[0], at.y);
        low[1] = min2(low[1], at.z), high[1] = max2(high[1], at.z);
    }
    poise_kinematics_destroy(kin);
    *y = high[0] - low[0];
    *z = high[1] - low[1];
    return works && bodies > 0;
}

static bool is_flat(const poise_model *model, const double *q)
{
    double y, z;
    return reach_of(model, q, &y, &z) && z > FLAT * y;
}

// Programs that write these formats have y up, most of them; the others are of robots.
static poise_up custom_of(const poise_file *file)
{
    bool is_of_figures = file->format == POISE_FORMAT_BVH || file->format == POISE_FORMAT_ASF ||
                         file->format == POISE_FORMAT_AMC || file->format == POISE_FORMAT_GLTF ||
                         file->format == POISE_FORMAT_GLB;
    bool is_free = poise_model_info(file->model).joints > 0 && poise_model_joint_info(file->model, 0).nv == 6;
    bool moves = file->clip && file->clip->frames > 0 && file->clip->nq == poise_model_info(file->model).nq;
    bool lies = is_free && is_flat(file->model, NULL) && (!moves || is_flat(file->model, file->clip->q));
    return is_of_figures && !lies ? POISE_UP_Y : POISE_UP_Z;
}

poise_up poise_file_up(const poise_file *file, poise_up_source *source)
{
    poise_up_source none;
    source = source ? source : &none;
    *source = POISE_UP_BY_FILE;
    if (file->scale.up != POISE_UP_UNKNOWN || !file->model) {
        return file->scale.up;
    }
    poise_figure figure;
    poise_up up = POISE_UP_UNKNOWN;
    *source = POISE_UP_BY_FIGURE;
    if (poise_clip_figure(file->model, file->clip, &figure, NULL) == POISE_OK && !figure.is_upside_down) {
        up = figure.up;
    }
    up = up == POISE_UP_UNKNOWN ? poise_clip_up(file->model, file->clip) : up; // by shape, where no name tells
    if (up == POISE_UP_UNKNOWN) {
        *source = POISE_UP_BY_CUSTOM;
        up = custom_of(file);
    }
    return up;
}
