// Changes to what a file holds: some frames, another rate, other units, another upward axis.
#include "io/edit_file.h"

#include "base/error.h"
#include "io/io_core.h"

// ---- Time ----------------------------------------------------------------------------------------------------------------

static void replace(poise_file *file, poise_clip *clip, poise_markers *markers)
{
    if (clip) {
        poise_clip_destroy(file->clip);
        file->clip = clip;
    }
    if (markers) {
        poise_markers_destroy(file->markers);
        file->markers = markers;
    }
}

static poise_status trim(poise_file *file, int first, int count, poise_error *error)
{
    int frames = file->clip ? file->clip->frames : file->markers ? file->markers->frames : 0;
    if (file->clip && file->markers && file->markers->frames < frames) {
        frames = file->markers->frames;
    }
    if (frames == 0) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "holds no frames to choose from");
    }
    int last = count > 0 ? first + (count - 1) : count < 0 ? first + count : frames - 1;
    if (first >= frames || last >= frames) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "has frames 0 to %d, so frame %d is beyond its end", frames - 1,
                            first >= frames ? first : last);
    }
    if (first < 0 || last < first) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "frames %d to %d are no range; it has frames 0 to %d", first, last,
                            frames - 1);
    }
    count = last - first + 1;
    poise_clip *clip = NULL;
    poise_markers *markers = NULL;
    poise_status status = file->clip ? poise_clip_trim(file->clip, first, count, NULL, &clip, error) : POISE_OK;
    if (status == POISE_OK && file->markers) {
        status = poise_markers_trim(file->markers, first, count, NULL, &markers, error);
    }
    if (status != POISE_OK) {
        poise_clip_destroy(clip);
        return status;
    }
    replace(file, clip, markers);
    pz_carried_trim(file->carried, first, count);
    return POISE_OK;
}

static poise_status resample(poise_file *file, double rate, poise_error *error)
{
    poise_clip *clip = NULL;
    poise_markers *markers = NULL;
    if (!file->clip && !file->markers) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "holds no frames whose rate could change");
    }
    poise_status status = file->clip ? poise_clip_resample(file->clip, file->model, 1 / rate, NULL, &clip, error) : POISE_OK;
    if (status == POISE_OK && file->markers) {
        status = poise_markers_resample(file->markers, rate, NULL, &markers, error);
    }
    if (status != POISE_OK) {
        poise_clip_destroy(clip);
        return status;
    }
    pz_carried_trim(file->carried, 0, 0);
    replace(file, clip, markers);
    return POISE_OK;
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
static poise_quat cycle(poise_up from, poise_up to)
{
    int turns = ((int)to - (int)from + 3) % 3;
    return turns == 0   ? poise_pose_identity().rotation
           : turns == 1 ? (poise_quat){0.5, 0.5, 0.5, 0.5}
                        : (poise_quat){-0.5, -0.5, -0.5, 0.5};
}

static bool is_length(const poise_joint *joint, int place)
{
    return poise_joint_coordinate(joint, place).unit == POISE_UNIT_LENGTH && poise_joint_coordinate(joint, place).name;
}

// Lengths in a configuration; the root's turn is in its offset.
static void rescale_q(const poise_model *model, double factor, double *q)
{
    for (int i = 0; i < poise_model_info(model).nq; ++i) {
        q[i] *= poise_model_coordinate(model, i).unit == POISE_UNIT_LENGTH ? factor : 1;
    }
}

static poise_joint rescaled_joint(const poise_model *model, int k, const void *user)
{
    const rescaling *r = (const rescaling *)user;
    poise_joint_info info = poise_model_joint_info(model, k);
    poise_joint joint = *info.given;
    joint.offset.position = times(joint.offset.position, r->factor);
    joint.mass_center = times(joint.mass_center, r->factor);
    if (info.parent == POISE_WORLD) {
        joint.offset = poise_pose_multiply((poise_pose){.rotation = r->turn}, joint.offset);
    }
    for (int i = 0; i < 7; ++i) {
        double factor = is_length(&joint, i) ? r->factor : 1;
        joint.lower[i] *= factor;
        joint.upper[i] *= factor;
    }
    joint.velocity *= is_length(&joint, 0) ? r->factor : 1;
    if (info.mimic != POISE_NONE) { // q = multiplier * q_other + offset, each in its own unit
        double own = is_length(&joint, 0) ? r->factor : 1;
        double others = is_length(poise_model_joint_info(model, info.mimic).given, 0) ? r->factor : 1;
        joint.mimic_multiplier *= own / others;
        joint.mimic_offset *= own;
    }
    return joint;
}

poise_status pz_edit_model(const poise_model *model, pz_edit_joint edit, const void *user, double length,
                           const poise_allocator *allocator, poise_model **made, poise_error *error)
{
    poise_builder *builder = NULL;
    poise_status status = poise_builder_create(allocator, &builder, error);
    for (int k = 0; k < poise_model_info(model).joints && status == POISE_OK; ++k) {
        poise_joint joint = edit(model, k, user);
        status = poise_builder_add_joint(builder, &joint, error);
    }
    for (int i = 0; i < poise_model_info(model).tools && status == POISE_OK; ++i) {
        poise_tool_info info = poise_model_tool_info(model, i);
        poise_tool tool = {.name = info.name, .body = poise_model_joint_info(model, info.body).body, .pose = info.pose};
        tool.pose.position = times(tool.pose.position, length);
        status = poise_builder_add_tool(builder, &tool, error);
    }
    status = status == POISE_OK ? poise_model_create(builder, allocator, made, error) : status;
    poise_builder_destroy(builder);
    return status;
}

poise_status pz_turn_model(const poise_model *model, poise_up from, poise_up to, const poise_allocator *allocator,
                           poise_model **made, poise_error *error)
{
    rescaling r = {.factor = 1, .turn = cycle(from, to)};
    return pz_edit_model(model, rescaled_joint, &r, 1, allocator, made, error);
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

static poise_pose rescaled_pose(const rescaling *r, int body, poise_pose pose)
{
    pose.position = times(pose.position, r->factor);
    return body == POISE_WORLD ? poise_pose_multiply((poise_pose){.rotation = r->turn}, pose) : pose;
}

static void rescale_shape(const rescaling *r, poise_shape *shape)
{
    shape->pose = rescaled_pose(r, shape->body, shape->pose);
    shape->half = times(shape->half, r->factor);
    shape->radius *= r->factor;
}

static void rescale_hull(const rescaling *r, poise_hull *hull)
{
    poise_vec3 *corners = (poise_vec3 *)hull->corners; // the file's own
    for (int i = 0; i < hull->corner_count; ++i) {
        corners[i] = times(corners[i], r->factor);
    }
    hull->radius *= r->factor;
}

static void rescale_loop(const rescaling *r, poise_constraint *loop)
{
    loop->local = rescaled_pose(r, loop->body, loop->local);
    loop->target = rescaled_pose(r, loop->body2, loop->target);
    loop->lower *= r->factor;
    loop->upper *= r->factor;
}

// Everything that the model has a say in.
static poise_status rescale_figure(poise_file *file, const rescaling *r, poise_error *error)
{
    poise_model *old = file->model, *made = NULL;
    poise_status status = pz_edit_model(old, rescaled_joint, r, r->factor, NULL, &made, error);
    if (status != POISE_OK) {
        return status;
    }
    for (int f = 0; file->clip && f < file->clip->frames; ++f) {
        rescale_q(old, r->factor, file->clip->q + (size_t)f * (size_t)file->clip->nq);
    }
    for (int i = 0; i < file->posture_count; ++i) {
        rescale_q(old, r->factor, (double *)file->postures[i].q);
    }
    for (int i = 0; i < file->shape_count; ++i) {
        rescale_shape(r, &file->shapes[i]);
    }
    for (int i = 0; i < file->hull_count; ++i) {
        rescale_hull(r, &file->hulls[i]);
    }
    for (int i = 0; i < file->loop_count; ++i) {
        rescale_loop(r, &file->loops[i]);
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

// Fill in what is not known; UNSUPPORTED when it stays unknown and is asked for.
static poise_status know(poise_scale *scale, poise_scale assumed, poise_scale wanted, poise_error *error)
{
    scale->metres = scale->metres > 0 ? scale->metres : assumed.metres;
    scale->up = scale->up != POISE_UP_UNKNOWN ? scale->up : assumed.up;
    if (wanted.metres > 0 && !(scale->metres > 0)) {
        return pz_error_set(error, POISE_ERROR_UNSUPPORTED, "does not say in which unit it is");
    }
    if (wanted.up != POISE_UP_UNKNOWN && scale->up == POISE_UP_UNKNOWN) {
        return pz_error_set(error, POISE_ERROR_UNSUPPORTED, "does not say which axis points up");
    }
    return POISE_OK;
}

static poise_status rescale(poise_file *file, poise_scale assumed, poise_scale scale, poise_error *error)
{
    poise_status status = file->markers ? know(&file->markers->scale, assumed, scale, error) : POISE_OK;
    if (status == POISE_OK && file->markers) {
        pz_carried_rescale(file->carried, file->markers->scale, scale);
        status = poise_markers_rescale(file->markers, scale, error);
    }
    if (status == POISE_OK && file->model) {
        status = know(&file->scale, assumed, scale, error);
    }
    if (status != POISE_OK || !file->model) {
        return status;
    }
    poise_up up = scale.up != POISE_UP_UNKNOWN ? scale.up : file->scale.up;
    rescaling r = {.factor = scale.metres > 0 ? file->scale.metres / scale.metres : 1, .turn = cycle(file->scale.up, up)};
    status = r.factor == 1 && up == file->scale.up ? POISE_OK : rescale_figure(file, &r, error);
    file->scale.metres = scale.metres > 0 ? scale.metres : file->scale.metres;
    file->scale.up = up;
    return status;
}

poise_status poise_file_edit(poise_file *file, const poise_edit *edit, int *euler_joints, poise_error *error)
{
    if (euler_joints) {
        *euler_joints = 0;
    }
    if (!file || !edit || !(edit->rate >= 0) || edit->rate - edit->rate != 0) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "file and edit must not be NULL, and the rate must be finite and >= 0");
    }
    poise_status status = POISE_OK;
    if (edit->first != 0 || edit->count != 0) {
        status = trim(file, edit->first, edit->count, error);
    }
    if (status == POISE_OK && edit->rate > 0) {
        status = resample(file, edit->rate, error);
    }
    if (status == POISE_OK) {
        status = rescale(file, edit->assumed, edit->scale, error);
    }
    if (status == POISE_OK && edit->euler && file->model) {
        int count;
        status = pz_edit_euler(file, euler_joints ? euler_joints : &count, error);
    }
    return status;
}
