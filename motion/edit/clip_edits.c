// Clips as wholes: backwards, faster and slower, one after another, and one that can be repeated; and which way up the
// figure stands in them.
//
// Where two clips meet, over `blend` seconds, the later one is brought to where the earlier one is: turned about the upward
// axis and moved along the ground, so that root and heading agree in the middle. There the one fades into the other by S(u),
// joint by joint, rotations along their arcs. Whole turns of angles, and Euler angles that mean the same, follow each other
// without a jump.
#include <poise/edit.h>

#include "base/error.h"
#include "motion/edit/editor.h"
#include "motion/edit/goal_mix.h"
#include "motion/retarget/actor.h"
#include "num/real.h"
#include "num/trig.h"
#include <poise/kinematics.h>

#include <limits.h>
#include <string.h>

#define OFF 1e-6 // of the skeleton's size, or radians: what a root may miss its place by

// ---- Time ----------------------------------------------------------------------------------------------------------------

poise_status poise_clip_reverse(const poise_clip *clip, const poise_allocator *allocator, poise_clip **reversed,
                                poise_error *error)
{
    if (!clip || !reversed) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "clip and reversed must not be NULL");
    }
    poise_clip *made;
    poise_status status = poise_clip_create(clip->frames, clip->nq, clip->frame_time, allocator, &made, error);
    if (status != POISE_OK) {
        return status;
    }
    made->start_time = clip->start_time;
    for (int f = 0; f < clip->frames && clip->nq > 0; ++f) {
        const double *from = clip->q + (size_t)(clip->frames - 1 - f) * (size_t)clip->nq;
        memcpy(made->q + (size_t)f * (size_t)clip->nq, from, (size_t)clip->nq * sizeof *from);
    }
    *reversed = made;
    return POISE_OK;
}

poise_status poise_clip_speed(const poise_clip *clip, const poise_model *model, double speed,
                              const poise_allocator *allocator, poise_clip **changed, poise_error *error)
{
    if (!clip || !(speed > 0.0) || !is_finite(speed)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "clip must not be NULL, speed finite and > 0");
    }
    poise_clip played = *clip; // the same frames, sooner or later
    played.frame_time = clip->frame_time / speed;
    return poise_clip_resample(&played, model, clip->frame_time, allocator, changed, error);
}

// ---- Which way up --------------------------------------------------------------------------------------------------------

// How a figure stands.
typedef struct stance {
    poise_up up;         // the axis of trunk and legs; UNKNOWN: no legs, or out of memory
    bool is_upside_down; // its head is at the lower end
    bool is_standing;    // trunk up, legs down: in the neutral pose, else in some frame of the clip
} stance;

// In most of a clip; `clip` NULL: in the neutral pose.
static stance stance_of(const poise_model *model, const poise_clip *clip)
{
    pz_actor actor;
    stance s = {.up = POISE_UP_UNKNOWN};
    if (pz_actor_open(model, clip, POISE_UP_UNKNOWN, NULL, NULL, &actor) == POISE_OK && actor.leg > 0) {
        s.up = (poise_up)((int)POISE_UP_X + actor.axis);
        s.is_upside_down = actor.up.x + actor.up.y + actor.up.z < 0;
        s.is_standing = actor.is_standing;
    }
    pz_actor_close(&actor, NULL);
    return s;
}

poise_up poise_clip_up(const poise_model *model, const poise_clip *clip)
{
    bool fits = model && clip && clip->nq == poise_model_info(model).nq;
    return fits ? stance_of(model, clip).up : POISE_UP_UNKNOWN;
}

poise_status poise_clip_figure(const poise_model *model, const poise_clip *clip, poise_figure *figure, poise_error *error)
{
    poise_status status = poise_model_figure(model, figure, error);
    if (status != POISE_OK || !clip || clip->frames == 0) {
        return status;
    }
    if (clip->nq != poise_model_info(model).nq) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "the clip has %d numbers per frame, but the model has %d", clip->nq,
                            poise_model_info(model).nq);
    }
    // nobody's world has x up: bones are laid out along it, and the motion raises them
    bool is_common = figure->up == POISE_UP_Y || figure->up == POISE_UP_Z;
    bool is_told = !figure->is_named || (is_common && stance_of(model, NULL).is_standing);
    if (is_told) {
        return POISE_OK;
    }
    stance s = stance_of(model, clip);
    if (s.up != POISE_UP_UNKNOWN) {
        figure->up = s.up;
        figure->is_upside_down = s.is_upside_down;
    }
    return POISE_OK;
}

// ---- Where clips meet ----------------------------------------------------------------------------------------------------

// x -> turn x + shift, along the ground.
typedef struct move {
    quat turn;
    vec3 shift;
} move;

static const double *row(const poise_clip *clip, int frame)
{
    return clip->q + (size_t)frame * (size_t)clip->nq;
}

// The turn about `up` nearest to a rotation.
static quat twist_of(quat q, vec3 up)
{
    double along = v3_dot(quat_vec(q), up), length = sqrt(along * along + q.w * q.w);
    vec3 v = v3_scale(up, length > 0.0 ? along / length : 0.0);
    return (quat){v.x, v.y, v.z, length > 0.0 ? q.w / length : 1.0};
}

static move align(poise_pose to, poise_pose from, vec3 up)
{
    move m = {.turn = twist_of(quat_mul(to.rotation, quat_conj(from.rotation)), up)};
    vec3 shift = v3_sub(to.position, quat_rotate(m.turn, from.position));
    m.shift = v3_mad(shift, -v3_dot(shift, up), up);
    return m;
}

// A joint with any pose takes a new one as it is; every other root is solved for. One that cannot be moved is refused.
static poise_status move_frame(pz_editor *e, pz_moving_root root, int frame, const poise_pose *to, poise_error *error)
{
    poise_goal goal = poise_goal_pose(root.last, poise_pose_identity(), *to);
    poise_goal_error miss = {0};
    int parent = poise_model_joint_info(e->model, root.first).parent;
    poise_pose above = parent >= 0 ? poise_kinematics_body_pose(e->kin, parent) : poise_pose_identity();
    double *q = pz_editor_frame(e, frame);
    poise_status status = POISE_OK;
    bool is_placed = root.first == root.last && poise_set_joint_pose(e->model, root.last, &above, to, q) &&
                     poise_model_within_limits(e->limited, q);
    if (!is_placed) {
        pz_editor_add(e, &goal, 1.0);
        status = pz_editor_solve(e, frame, error);
    }
    status = status == POISE_OK ? pz_editor_error(e, &goal, q, &miss, error) : status;
    if (status == POISE_OK && max2(miss.error / e->size, miss.rotation_error) > OFF) {
        status = pz_error_set(error, POISE_ERROR_UNSUPPORTED, "\"%s\" cannot be moved to the other clip",
                              poise_model_joint_info(e->model, root.last).body);
    }
    return status;
}

static poise_status move_clip(const poise_model *model, pz_moving_root root, move m, poise_clip *clip, const bool *locked,
                              const poise_allocator *allocator, poise_error *error)
{
    pz_editor e;
    pz_editor_room room = {.goals = 1, .rows = POISE_GOAL_RESIDUALS, .locked = locked};
    poise_status status = pz_editor_open(model, &room, clip, allocator, &e, error);
    if (status != POISE_OK) {
        return status;
    }
    for (int f = 0; f < clip->frames && status == POISE_OK; ++f) {
        status = pz_editor_begin(&e, f, error);
        poise_pose at = poise_kinematics_body_pose(e.kin, root.last);
        poise_pose to = {quat_normalize(quat_mul(m.turn, at.rotation)), v3_add(quat_rotate(m.turn, at.position), m.shift)};
        status = status == POISE_OK ? move_frame(&e, root, f, &to, error) : status;
    }
    pz_editor_close(&e);
    return status;
}

// A part of `later`, aligned so that its frame `there` meets frame `here` of `earlier`.
static poise_status bring(const poise_model *model, pz_moving_root root, const poise_clip *earlier, int here,
                          poise_clip *part, int there, vec3 up, const poise_allocator *allocator, poise_error *error)
{
    poise_kinematics *kin = NULL;
    pz_owned owned = {0};
    bool *locked = pz_owned_take(&owned, allocator, (size_t)poise_model_info(model).nv + 1);
    poise_status status = locked ? poise_kinematics_create(model, allocator, &kin, error)
                                 : pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    poise_pose to = poise_pose_identity(), from = to;
    if (status == POISE_OK) {
        for (int i = 0; i < poise_model_info(model).nv; ++i) {
            locked[i] = i < poise_model_joint_info(model, root.first).v ||
                        i >= poise_model_joint_info(model, root.last).v + poise_model_joint_info(model, root.last).nv;
        }
        status = poise_kinematics_update(kin, row(earlier, here), error);
        to = poise_kinematics_body_pose(kin, root.last);
        status = status == POISE_OK ? poise_kinematics_update(kin, row(part, there), error) : status;
        from = poise_kinematics_body_pose(kin, root.last);
    }
    poise_kinematics_destroy(kin);
    if (status == POISE_OK) {
        status = move_clip(model, root, align(to, from, up), part, locked, allocator, error);
    }
    pz_owned_release(&owned);
    return status;
}

// `ends`: how many of them a clip must have room for.
static poise_status check(const poise_model *model, const poise_clip *a, const poise_clip *b, double blend, int ends,
                          poise_up up, poise_error *error)
{
    if (!model || !a || !b || a->nq != poise_model_info(model).nq || b->nq != poise_model_info(model).nq || a->frames < 1 ||
        b->frames < 1 || poise_model_info(model).joints < 1) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "model and clips must not be NULL, the clips of this model, not empty");
    }
    if (!(blend >= 0.0) || up == POISE_UP_UNKNOWN) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "blend must be >= 0, and the upward axis known");
    }
    double most = min2(a->frames * a->frame_time, b->frames * b->frame_time);
    if (ends * blend >= most) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "a blend of %g s is too long: %s of %g s, it must be below %g s",
                            blend, ends == 1 ? "for a clip" : "to loop a clip", most, most / ends);
    }
    return POISE_OK;
}

static vec3 vector_of(poise_up up)
{
    return v3(up == POISE_UP_X, up == POISE_UP_Y, up == POISE_UP_Z);
}

// `count` frames that lead from one clip into another, beside both of them.
static poise_status fade(const poise_model *model, const double *from, const double *to, int count, double *out,
                         poise_error *error)
{
    poise_status status = POISE_OK;
    for (int k = 0; k < count && status == POISE_OK; ++k) {
        size_t at = (size_t)k * (size_t)poise_model_info(model).nq;
        status = poise_interpolate(model, from + at, to + at, pz_ease((k + 1.0) / (count + 1.0)), 0.0, out + at, error);
    }
    return status;
}

poise_status poise_clip_append(const poise_model *model, const poise_clip *clip, const poise_clip *next, double blend,
                               poise_up up, const poise_allocator *allocator, poise_clip **made, poise_error *error)
{
    poise_status status = check(model, clip, next, blend, 1, up, error);
    poise_clip *later = NULL, *whole = NULL;
    if (status != POISE_OK || !made) {
        return status != POISE_OK ? status : pz_error_set(error, POISE_ERROR_ARGUMENT, "joined must not be NULL");
    }
    int n = clip->frames, overlap = (int)(blend / clip->frame_time + 0.5);
    pz_moving_root root = pz_moving_root_of(model, clip, next);
    status = poise_clip_resample(next, model, clip->frame_time, allocator, &later, error);
    overlap = status == POISE_OK ? least(overlap, least(later->frames, n) - 1) : 0;
    if (status == POISE_OK && n > INT_MAX - later->frames) {
        status = pz_error_set(error, POISE_ERROR_MEMORY, "too many frames for one clip");
    }
    status = status == POISE_OK ? bring(model, root, clip, least(n - overlap + overlap / 2, n - 1), later, overlap / 2,
                                        vector_of(up), allocator, error)
                                : status;
    status = status == POISE_OK
                 ? poise_clip_create(n + later->frames - overlap, clip->nq, clip->frame_time, allocator, &whole, error)
                 : status;
    if (status == POISE_OK) {
        size_t nq = (size_t)clip->nq, first = (size_t)(n - overlap) * nq;
        whole->start_time = clip->start_time;
        memcpy(whole->q, clip->q, (size_t)n * nq * sizeof *whole->q);
        memcpy(whole->q + first, later->q, (size_t)later->frames * nq * sizeof *whole->q);
        status = fade(model, row(clip, n - overlap), later->q, overlap, whole->q + first, error);
        for (int f = n - overlap; f < whole->frames && f > 0; ++f) {
            poise_set_same_pose_near(model, row(whole, f - 1), whole->q + (size_t)f * nq);
        }
    }
    poise_clip_destroy(later);
    if (status != POISE_OK) {
        poise_clip_destroy(whole);
        return status;
    }
    *made = whole;
    return POISE_OK;
}

poise_status poise_clip_loop(const poise_model *model, const poise_clip *clip, double blend, poise_up up,
                             const poise_allocator *allocator, poise_clip **made, poise_error *error)
{
    poise_status status = check(model, clip, clip, blend, 2, up, error);
    poise_clip *tail = NULL, *whole = NULL;
    if (status != POISE_OK || !made) {
        return status != POISE_OK ? status : pz_error_set(error, POISE_ERROR_ARGUMENT, "looped must not be NULL");
    }
    int n = clip->frames, overlap = (int)(blend / clip->frame_time + 0.5);
    pz_moving_root root = pz_moving_root_of(model, clip, NULL);
    status = poise_clip_trim(clip, n - overlap, overlap, allocator, &tail, error);
    if (status == POISE_OK && overlap > 0) {
        status = bring(model, root, clip, overlap / 2, tail, overlap / 2, vector_of(up), allocator, error);
    }
    status = status == POISE_OK ? poise_clip_trim(clip, 0, n - overlap, allocator, &whole, error) : status;
    if (status == POISE_OK) {
        status = fade(model, tail->q, clip->q, overlap, whole->q, error);
        for (int f = overlap - 1; f >= 0 && overlap < whole->frames; --f) { // from where the clip continues backwards
            poise_set_same_pose_near(model, row(whole, f + 1), whole->q + (size_t)f * (size_t)clip->nq);
        }
    }
    poise_clip_destroy(tail);
    if (status != POISE_OK) {
        poise_clip_destroy(whole);
        return status;
    }
    *made = whole;
    return POISE_OK;
}

// The frame after the last one is taken to move on from it as the second moves on from the first.
poise_status poise_clip_repeated(const poise_model *model, const poise_clip *clip, poise_up up,
                                 const poise_allocator *allocator, poise_clip_travel *travel, poise_error *error)
{
    poise_status status = check(model, clip, clip, 0.0, 1, up, error);
    if (status != POISE_OK || !travel) {
        return status != POISE_OK ? status : pz_error_set(error, POISE_ERROR_ARGUMENT, "travel must not be NULL");
    }
    poise_kinematics *kin = NULL;
    int frames[] = {0, least(1, clip->frames - 1), clip->frames - 1};
    poise_pose pose[3];
    pz_moving_root root = pz_moving_root_of(model, clip, NULL);
    status = poise_kinematics_create(model, allocator, &kin, error);
    for (int i = 0; i < 3 && status == POISE_OK; ++i) {
        status = poise_kinematics_update(kin, row(clip, frames[i]), error);
        pose[i] = status == POISE_OK ? poise_kinematics_body_pose(kin, root.last) : poise_pose_identity();
    }
    poise_kinematics_destroy(kin);
    if (status != POISE_OK) {
        return status;
    }
    vec3 axis = vector_of(up);
    poise_pose step = poise_pose_multiply(poise_pose_inverse(pose[0]), pose[1]);
    poise_pose next = poise_pose_multiply(pose[2], step);
    quat turn = align(next, pose[0], axis).turn;
    vec3 way = v3_sub(next.position, pose[0].position);
    double sign = turn.w < 0.0 ? -1.0 : 1.0;
    travel->turn = 2.0 * poise_atan2(sign * v3_dot(quat_vec(turn), axis), sign * turn.w);
    travel->length = v3_norm(v3_mad(way, -v3_dot(way, axis), axis));
    return POISE_OK;
}
