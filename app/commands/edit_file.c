// Changes to what a file holds.
#include "edit_file.h"

#include "cli/joint_names.h"
#include "cli/terminal.h"

static bool fail(const char *name, poise_status status)
{
    if (status == POISE_ERROR_MEMORY) {
        complain("%s: no memory left for it", name);
    } else {
        complain("%s: a number in it is not finite, or a quaternion is zero", name);
    }
    return false;
}

// ---- Time ----------------------------------------------------------------------------------------------------------------

static void replace_clip(poise_file *file, poise_clip *clip)
{
    poise_clip_destroy(file->clip);
    file->clip = clip;
}

static void replace_markers(poise_file *file, poise_markers *markers)
{
    poise_markers_destroy(file->markers);
    file->markers = markers;
}

bool change_frames(poise_file *file, const char *name, int first, int last)
{
    int frames = file->clip ? file->clip->frames : file->markers ? file->markers->frames : 0;
    if (file->clip && file->markers && file->markers->frames < frames) {
        frames = file->markers->frames;
    }
    last = last < 0 ? frames - 1 : last;
    if (last >= frames || first > last) {
        if (frames == 0) {
            complain("%s: holds no frames to choose from", name);
        } else {
            complain("%s: frames %d to %d are not in it, only 0 to %d", name, first, last, frames - 1);
        }
        return false;
    }
    poise_clip *clip = NULL;
    poise_markers *markers = NULL;
    poise_status status = file->clip ? poise_clip_trim(file->clip, first, last - first + 1, NULL, &clip, NULL) : POISE_OK;
    if (status == POISE_OK && file->markers) {
        status = poise_markers_trim(file->markers, first, last - first + 1, NULL, &markers, NULL);
    }
    if (status != POISE_OK) {
        poise_clip_destroy(clip);
        return fail(name, status);
    }
    replace_clip(file, clip);
    replace_markers(file, markers);
    return true;
}

bool change_rate(poise_file *file, const char *name, const poise_model *model, double rate)
{
    poise_clip *clip = NULL;
    poise_markers *markers = NULL;
    if (!file->clip && !file->markers) {
        complain("%s: holds no frames whose rate could change", name);
        return false;
    }
    poise_status status = file->clip ? poise_clip_resample(file->clip, model, 1 / rate, NULL, &clip, NULL) : POISE_OK;
    if (status == POISE_OK && file->markers) {
        status = poise_markers_resample(file->markers, rate, NULL, &markers, NULL);
    }
    if (status != POISE_OK) {
        poise_clip_destroy(clip);
        return fail(name, status);
    }
    replace_clip(file, clip);
    replace_markers(file, markers);
    return true;
}

// ---- Space ---------------------------------------------------------------------------------------------------------------

// What happens to lengths, and to the world: a point p of the world goes to turn(factor p).
typedef struct rescaling {
    double factor;
    poise_quat turn;
} rescaling;

static poise_vec3 times(poise_vec3 v, double s)
{
    return poise_vec3_make(v.x * s, v.y * s, v.z * s);
}

// The turns of poise_markers_rescale: x to y to z to x, as often as it takes. By 120 degrees about (1, 1, 1).
static poise_quat cycle(int turns)
{
    return turns == 0   ? poise_pose_identity().rotation
           : turns == 1 ? (poise_quat){0.5, 0.5, 0.5, 0.5}
                        : (poise_quat){-0.5, -0.5, -0.5, 0.5};
}

static bool is_length(const poise_model *model, int joint, int place)
{
    return joint_coordinate_unit(poise_model_joint_info(model, joint).type, place) == COORDINATE_LENGTH;
}

// Lengths in a configuration; the root's turn is in its offset.
static void rescale_q(const poise_model *model, double factor, double *q)
{
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        int first = poise_model_joint_info(model, k).q, count = poise_model_joint_info(model, k).nq;
        for (int i = 0; i < count; ++i) {
            q[first + i] *= is_length(model, k, i) ? factor : 1;
        }
    }
}

static poise_joint rescaled_joint(const poise_model *model, int k, const rescaling *r)
{
    poise_joint joint = *poise_model_joint_info(model, k).given;
    joint.offset.position = times(joint.offset.position, r->factor);
    joint.mass_center = times(joint.mass_center, r->factor);
    if (poise_model_joint_info(model, k).parent == POISE_WORLD) {
        joint.offset = poise_pose_multiply((poise_pose){.rotation = r->turn}, joint.offset);
    }
    for (int i = 0; i < 7; ++i) {
        double factor = joint_coordinate_unit(joint.type, i) == COORDINATE_LENGTH ? r->factor : 1;
        joint.lower[i] *= factor;
        joint.upper[i] *= factor;
    }
    int other = poise_model_joint_info(model, k).mimic;
    if (other != POISE_NONE) { // q = multiplier * q_other + offset, each in its own unit
        double own = is_length(model, k, 0) ? r->factor : 1, others = is_length(model, other, 0) ? r->factor : 1;
        joint.mimic_multiplier *= own / others;
        joint.mimic_offset *= own;
    }
    return joint;
}

static poise_status rescale_model(const poise_model *model, const rescaling *r, poise_model **made)
{
    poise_builder *builder = NULL;
    poise_status status = poise_builder_create(NULL, &builder, NULL);
    for (int k = 0; k < poise_model_info(model).joints && status == POISE_OK; ++k) {
        poise_joint joint = rescaled_joint(model, k, r);
        status = poise_builder_add_joint(builder, &joint, NULL);
    }
    for (int i = 0; i < poise_model_info(model).tools && status == POISE_OK; ++i) {
        poise_tool tool = {.name = poise_model_tool_info(model, i).name,
                           .body = poise_model_joint_info(model, poise_model_tool_info(model, i).body).body,
                           .pose = poise_model_tool_info(model, i).pose};
        tool.pose.position = times(tool.pose.position, r->factor);
        status = poise_builder_add_tool(builder, &tool, NULL);
    }
    status = status == POISE_OK ? poise_model_create(builder, NULL, made, NULL) : status;
    poise_builder_destroy(builder);
    return status;
}

// Energies of lengths stay what they are: weights go with the square.
static void rescale_goal(const poise_model *model, const rescaling *r, poise_goal *goal)
{
    goal->local.position = times(goal->local.position, r->factor);
    goal->target.position = times(goal->target.position, r->factor);
    goal->tolerance = times(goal->tolerance, r->factor);
    goal->distance *= r->factor;
    goal->loss_scale *= r->factor;
    bool is_angle = goal->kind == POISE_GOAL_DIRECTION || goal->kind == POISE_GOAL_ORIENTATION ||
                    goal->kind == POISE_GOAL_AIM || goal->kind == POISE_GOAL_POSTURE || goal->kind == POISE_GOAL_SMOOTHNESS;
    goal->weight /= is_angle ? 1 : r->factor * r->factor;
    if (goal->kind != POISE_GOAL_RELATIVE || goal->body2 == POISE_WORLD) {
        goal->target = poise_pose_multiply((poise_pose){.rotation = r->turn}, goal->target);
    }
    goal->direction = poise_quat_rotate(r->turn, goal->direction);
    const double *lists[] = {goal->q, goal->q_before};
    for (int i = 0; i < 2; ++i) {
        if (lists[i]) {
            rescale_q(model, r->factor, (double *)lists[i]); // the file's own numbers
        }
    }
}

// Everything that the model has a say in.
static poise_status rescale_figure(poise_file *file, const rescaling *r)
{
    poise_model *old = file->model, *made = NULL;
    poise_status status = rescale_model(old, r, &made);
    if (status != POISE_OK) {
        return status;
    }
    for (int f = 0; file->clip && f < file->clip->frames; ++f) {
        rescale_q(old, r->factor, file->clip->q + (size_t)f * (size_t)file->clip->nq);
    }
    for (int i = 0; i < file->posture_count; ++i) {
        rescale_q(old, r->factor, (double *)file->postures[i].q);
    }
    for (int i = 0; i < file->placement_count; ++i) {
        file->placements[i].local = times(file->placements[i].local, r->factor);
    }
    for (int i = 0; i < file->goal_count; ++i) {
        rescale_goal(old, r, &file->goals[i]);
    }
    poise_model_destroy(old);
    file->model = made;
    return POISE_OK;
}

// Fill in what is not known; false when it stays unknown and is asked for.
static bool know(poise_scale *scale, poise_scale assumed, poise_scale wanted, const char *name)
{
    scale->metres = scale->metres > 0 ? scale->metres : assumed.metres;
    scale->up = scale->up != POISE_UP_UNKNOWN ? scale->up : assumed.up;
    if (wanted.metres > 0 && !(scale->metres > 0)) {
        complain("%s: does not say in which unit it is; say it with --from-unit", name);
        return false;
    }
    if (wanted.up != POISE_UP_UNKNOWN && scale->up == POISE_UP_UNKNOWN) {
        complain("%s: does not say which axis points up; say it with --from-up", name);
        return false;
    }
    return true;
}

bool change_scale(poise_file *file, const char *name, poise_scale assumed, poise_scale scale)
{
    poise_status status = POISE_OK;
    if (file->markers) {
        if (!know(&file->markers->scale, assumed, scale, name)) {
            return false;
        }
        status = poise_markers_rescale(file->markers, scale, NULL);
    }
    if (status == POISE_OK && file->model) {
        if (!know(&file->scale, assumed, scale, name)) {
            return false;
        }
        int turns = scale.up != POISE_UP_UNKNOWN ? ((int)scale.up - (int)file->scale.up + 3) % 3 : 0;
        rescaling r = {.factor = scale.metres > 0 ? file->scale.metres / scale.metres : 1, .turn = cycle(turns)};
        status = r.factor == 1 && turns == 0 ? POISE_OK : rescale_figure(file, &r);
        file->scale.metres = scale.metres > 0 ? scale.metres : file->scale.metres;
        file->scale.up = scale.up != POISE_UP_UNKNOWN ? scale.up : file->scale.up;
    }
    return status == POISE_OK || fail(name, status);
}
