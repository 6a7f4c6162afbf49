// Changes to what a file holds: some frames, another rate, other units, another upward axis, joints as Euler angles.
#include "io/io_core.h"

#include "base/error.h"
#include "io/skeleton.h"

#include <string.h>

// Joint k as it is to be.
typedef poise_joint (*edit_joint)(const poise_model *model, int k, const void *user);

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

// A new model with every joint changed by `edit`, and tools at `length` times their place.
static poise_status edit_model(const poise_model *model, edit_joint edit, const void *user, double length,
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
    return edit_model(model, rescaled_joint, &r, 1, allocator, made, error);
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
    poise_status status = edit_model(old, rescaled_joint, r, r->factor, NULL, &made, error);
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

// ---- Euler angles --------------------------------------------------------------------------------------------------------

// A joint that changes keeps its frame; its axes frame becomes the identity. With parent pose P, offset O and body pose W
//
//   (P O)^-1 W = motion of the joint = translation, then Rx(a) Ry(b) Rz(c)
//
// so a, b, c come from the poses of the old model, each triple next to that of the frame before.

// The type that holds the same motion in Euler angles; the type itself where it need not change.
static poise_joint_type euler_type(poise_joint_type type)
{
    switch (type) {
    case POISE_JOINT_BALL_EXPMAP:
    case POISE_JOINT_BALL_QUATERNION:
    case POISE_JOINT_SWING_TWIST:
        return POISE_JOINT_BALL_EULER;
    case POISE_JOINT_FREE:
    case POISE_JOINT_FREE_EXPMAP:
        return POISE_JOINT_FREE_EULER;
    default:
        return type;
    }
}

static bool changes(const poise_model *model, int joint)
{
    poise_joint_type type = poise_model_joint_info(model, joint).type;
    return euler_type(type) != type;
}

static poise_joint changed_joint(const poise_model *model, int k, const void *user)
{
    (void)user;
    poise_joint joint = *poise_model_joint_info(model, k).given;
    if (changes(model, k)) {
        poise_joint plain = poise_joint_default();
        joint.type = euler_type(joint.type);
        joint.order = POISE_EULER_XYZ;
        joint.axes = poise_pose_identity().rotation;
        memcpy(joint.lower, plain.lower, sizeof joint.lower); // limits of a rotation vector are none of its angles
        memcpy(joint.upper, plain.upper, sizeof joint.upper);
        memcpy(joint.swing, plain.swing, sizeof joint.swing);
    }
    return joint;
}

// The coordinates of the new model for the pose that `kinematics` has; `q` holds those of the frame before.
static void express(const poise_model *old, const poise_model *made, const poise_kinematics *kinematics, const double *q_old,
                    double *q)
{
    for (int k = 0; k < poise_model_info(old).joints; ++k) {
        int first = poise_model_joint_info(made, k).q, count = poise_model_joint_info(made, k).nq,
            parent = poise_model_joint_info(old, k).parent;
        if (!changes(old, k)) {
            memcpy(q + first, q_old + poise_model_joint_info(old, k).q, sizeof *q * (size_t)count);
            continue;
        }
        poise_pose frame = poise_model_joint_info(old, k).given->offset;
        if (parent != POISE_WORLD) {
            frame = poise_pose_multiply(poise_kinematics_body_pose(kinematics, parent), frame);
        }
        poise_pose motion = poise_pose_multiply(poise_pose_inverse(frame), poise_kinematics_body_pose(kinematics, k));
        if (count == 6) {
            q[first] = motion.position.x;
            q[first + 1] = motion.position.y;
            q[first + 2] = motion.position.z;
        }
        double R[9];
        poise_quat_to_matrix(motion.rotation, R);
        pz_euler_next(R, 0, q + first + count - 3);
    }
}

// ---- Files ---------------------------------------------------------------------------------------------------------------

static poise_status change_clip(const poise_clip *clip, const poise_model *old, const poise_model *made,
                                poise_clip **changed, poise_error *error)
{
    poise_kinematics *kinematics = NULL;
    size_t nq = (size_t)poise_model_info(made).nq;
    poise_status status = poise_kinematics_create(old, NULL, &kinematics, error);
    if (status == POISE_OK) {
        status = poise_clip_create(clip->frames, (int)nq, clip->frame_time, NULL, changed, error);
    }
    for (int f = 0; f < clip->frames && status == POISE_OK; ++f) {
        const double *from = clip->q + (size_t)f * (size_t)clip->nq;
        double *to = (*changed)->q + (size_t)f * nq;
        status = poise_kinematics_update(kinematics, from, error);
        if (f > 0) {
            memcpy(to, to - nq, nq * sizeof *to);
        }
        express(old, made, kinematics, from, to);
    }
    if (*changed) {
        (*changed)->start_time = clip->start_time;
    }
    poise_kinematics_destroy(kinematics);
    return status;
}

// Ball joints and free joints of every kind as Euler angles; *count says how many joints that were.
//
// Postures and goals, which neither ASF nor AMC holds, are left out.
static poise_status edit_euler(poise_file *file, int *count, poise_error *error)
{
    *count = 0;
    for (int k = 0; k < poise_model_info(file->model).joints; ++k) {
        *count += changes(file->model, k);
    }
    if (*count == 0) {
        return POISE_OK;
    }
    poise_model *made = NULL;
    poise_clip *clip = NULL;
    poise_status status = edit_model(file->model, changed_joint, NULL, 1, NULL, &made, error);
    if (status == POISE_OK && file->clip) {
        status = change_clip(file->clip, file->model, made, &clip, error);
    }
    if (status != POISE_OK) {
        poise_clip_destroy(clip);
        poise_model_destroy(made);
        return status;
    }
    poise_clip_destroy(file->clip);
    poise_model_destroy(file->model);
    file->clip = clip;
    file->model = made;
    file->posture_count = file->goal_count = 0;
    return POISE_OK;
}

// ---- All -----------------------------------------------------------------------------------------------------------------

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
        status = edit_euler(file, euler_joints ? euler_joints : &count, error);
    }
    return status;
}
