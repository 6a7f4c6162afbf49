// Clips as wholes: backwards, faster and slower, one after another, one that can be repeated, and mirrored; and which way
// up the figure stands in them.
//
// Where two clips meet, over `blend` seconds, the later one is brought to where the earlier one is: turned about the upward
// axis and moved along the ground, so that root and heading agree in the middle. There the one fades into the other by S(u),
// joint by joint, rotations along their arcs. Whole turns of angles, and Euler angles that mean the same, follow each other
// without a jump.
#include <poise/edit.h>
#include <poise/kinematics.h>
#include <poise/solve.h>

#include "base/error.h"
#include "motion/edit/editor.h"
#include "motion/pieces.h"
#include "motion/retarget/actor.h"
#include "num/real.h"
#include "num/trig.h"

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

// ---- Mirrored ------------------------------------------------------------------------------------------------------------

// With W the reflection across an upright plane, m(b) the body of the other side and M_b a reflection that takes the frame
// of one to that of the other,
//
//   R'_b = W R_m(b) M_b        root' = W root
//
// In a symmetric neutral pose N, with n the normal of the plane between left and right, W = S = I - 2 n n^T and
// M_b = N_m(b)^T S N_b: turns from the neutral pose are mirrored. Where figures do not stand in it (bones all along one
// axis), or in mid-stride (a file whose neutral pose is its first frame), W stands between left and right of a frame in
// which they stand, and M_b is of those that turn axes of the frame round the one that fits offsets and the clip best.
// Displacements of joints that slide are mirrored; bones keep their lengths. What stands still above the body that carries
// the motion stays.
//
// Joints that allow any rotation take theirs as it is. The others are found by a solve for all orientations at once.

#define SYMMETRIC 0.1  // of the stature: pairs may be off by this
#define FITS      1e-4 // of the squares of offsets: a neutral pose that misses fewer is symmetric
#define MET       1e-7 // radians: what a body may be off by in an answer that is exact

typedef struct job {
    pz_editor editor;
    vec3 normal; // of the mirror
    pz_moving_root root;
    mat3 *flip;        // by body: M
    poise_pose *image; // by body: in the mirror
    int *other;        // by body
} job;

static vec3 mirrored(vec3 v, vec3 n)
{
    return v3_mad(v, -2.0 * v3_dot(v, n), n);
}

static vec3 snapped(vec3 v, double share)
{
    double x = fabs(v.x), y = fabs(v.y), z = fabs(v.z), most = max2(x, max2(y, z));
    return most < share ? v : v3(x == most, x < most && y == most, x < most && y < most);
}

static mat3 reflection(vec3 n)
{
    return (mat3){mirrored(v3(1, 0, 0), n), mirrored(v3(0, 1, 0), n), mirrored(v3(0, 0, 1), n)};
}

static mat3 rotation_of(const poise_kinematics *kin, int body)
{
    return quat_matrix(poise_kinematics_body_pose(kin, body).rotation);
}

// How far the pairs of the neutral pose, which j->editor.kin is in, are from being each other's images, and between which.
static double asymmetry(const job *j, int *worst_body)
{
    const poise_model *m = j->editor.model;
    double most = 0.0, middle = NAN;
    for (int b = 0; b < poise_model_info(m).joints; ++b) {
        if (j->other[b] <= b) {
            continue;
        }
        vec3 one = poise_kinematics_body_pose(j->editor.kin, b).position;
        vec3 two = poise_kinematics_body_pose(j->editor.kin, j->other[b]).position;
        vec3 apart = v3_sub(one, two);
        double here = 0.5 * v3_dot(v3_add(one, two), j->normal);
        middle = middle == middle ? middle : here;
        double off = v3_norm(v3_mad(apart, -v3_dot(apart, j->normal), j->normal)) + fabs(here - middle);
        *worst_body = off > most ? b : *worst_body;
        most = max2(most, off);
    }
    return most;
}

// M_b = N_m(b)^T S N_b.
static poise_status flip_neutral(job *j, double stature, poise_error *error)
{
    pz_editor *e = &j->editor;
    mat3 S = reflection(j->normal);
    poise_model_neutral(e->model, e->found);
    poise_status status = poise_kinematics_update(e->kin, e->found, error);
    for (int b = 0; b < poise_model_info(e->model).joints && status == POISE_OK; ++b) {
        mat3 own = rotation_of(e->kin, b), other = rotation_of(e->kin, j->other[b]), back = m3_transpose(&other);
        back = m3_mul(&back, &S);
        j->flip[b] = m3_mul(&back, &own);
    }
    int body = 0;
    double off = status == POISE_OK ? asymmetry(j, &body) : 0.0;
    if (off > SYMMETRIC * stature) {
        return pz_error_set(
            error, POISE_ERROR_UNSUPPORTED,
            "mirroring needs a neutral pose in which left and right are mirror images, but \"%s\" and "
            "\"%s\" are off by %d %% of the stature: retarget the motion onto a skeleton with such a pose first",
            poise_model_joint_info(e->model, body).body, poise_model_joint_info(e->model, j->other[body]).body,
            (int)min2(100.0 * off / stature, 1e9));
    }
    return status;
}

// Reflections that turn axes of a frame round: one, or all.
enum { FLIPS = 4 };

static mat3 flip_number(int i)
{
    return (mat3){v3(i == 0 || i == 3 ? -1 : 1, 0, 0), v3(0, i == 1 || i == 3 ? -1 : 1, 0),
                  v3(0, 0, i == 2 || i == 3 ? -1 : 1)};
}

// Add, squared, what M misses when it takes the offsets of what a body carries to those of the other side, and these.
static void add_offsets(const job *j, int b, const mat3 *M, double *missed, double *all)
{
    const poise_model *m = j->editor.model;
    for (int c = b + 1; c < b + poise_model_joint_info(m, b).subtree; c += poise_model_joint_info(m, c).subtree) {
        vec3 own = poise_model_joint_info(m, c).given->offset.position,
             other = poise_model_joint_info(m, j->other[c]).given->offset.position;
        vec3 miss = v3_sub(m3_apply(M, own), other);
        *missed += v3_dot(miss, miss);
        *all += v3_dot(other, other);
    }
}

// How well M does so: 0, or less.
static double fit_of_offsets(const job *j, int b, const mat3 *M)
{
    double missed = 0.0, all = 0.0;
    add_offsets(j, b, M, &missed, &all);
    return all > 0.0 ? -missed / all : 0.0;
}

// The share of the squares of all offsets that the reflections of bodies miss.
static double missed_offsets(const job *j)
{
    double missed = 0.0, all = 0.0;
    for (int b = j->root.last; b < poise_model_info(j->editor.model).joints; ++b) {
        add_offsets(j, b, &j->flip[b], &missed, &all);
    }
    return all > 0.0 ? missed / all : 0.0;
}

// How similarly the sides then move over the clip, seen from the root, rel = R_root^T R: the mean over frames of tr(rel_b^T
// M_root^T rel_m(b) M_b)/3.
static double fit_of_clip(job *j, int b, const mat3 *M)
{
    pz_editor *e = &j->editor;
    const int looks = 40;
    double sum = 0.0;
    int count = 0;
    for (int f = 0; f < e->clip->frames; f += e->clip->frames / looks + 1, ++count) {
        if (poise_kinematics_update(e->kin, pz_editor_original(e, f), NULL) != POISE_OK) {
            return 0.0;
        }
        mat3 root = rotation_of(e->kin, j->root.last), back = m3_transpose(&root), own = rotation_of(e->kin, b),
             other = rotation_of(e->kin, j->other[b]);
        own = m3_mul(&back, &own);
        other = m3_mul(&back, &other);
        other = m3_mul(&j->flip[j->root.last], &other);
        other = m3_mul(&other, M);
        sum += v3_dot(own.x, other.x) + v3_dot(own.y, other.y) + v3_dot(own.z, other.z);
    }
    return sum / (3 * count);
}

// Bodies come after those above them, the root first.
static void flip_frames(job *j)
{
    const double offsets = 100.0; // against how the sides move: it decides what offsets leave open
    for (int b = j->root.last; b < poise_model_info(j->editor.model).joints; ++b) {
        double best = -INFINITY;
        mat3 chosen = flip_number(0);
        for (int i = 0; i < FLIPS; ++i) {
            mat3 M = flip_number(i);
            double fit = offsets * fit_of_offsets(j, b, &M) + (b > j->root.last ? fit_of_clip(j, b, &M) : 0.0);
            chosen = fit > best ? M : chosen;
            best = max2(best, fit);
        }
        j->flip[b] = chosen;
    }
}

// By the neutral pose, or, where the skeleton is symmetric and that pose is not, by axes that are turned round, and a mirror
// across `standing`.
static poise_status flip_upright(job *j, double stature, vec3 standing, poise_error *error)
{
    vec3 neutral = j->normal;
    poise_status status = flip_neutral(j, stature, error);
    if (status == POISE_OK ? missed_offsets(j) <= FITS : status != POISE_ERROR_UNSUPPORTED) {
        return status;
    }
    j->normal = standing;
    flip_frames(j);
    if (missed_offsets(j) <= FITS) {
        return POISE_OK;
    }
    j->normal = neutral;
    return flip_neutral(j, stature, error);
}

// The mirror, and what it does to the frames of bodies.
static poise_status find_planes(job *j, const poise_allocator *allocator, poise_error *error)
{
    const double straight = 0.98; // cosine: a plane this near to one of the axes is meant to be that
    pz_anatomy anatomy;
    pz_actor actor;
    poise_status status = pz_figure_of(j->editor.model, allocator, &anatomy);
    if (status != POISE_OK || !(anatomy.stature > 0)) {
        return status != POISE_OK ? pz_error_set(error, status, "out of memory")
                                  : pz_error_set(error, POISE_ERROR_NOT_FOUND,
                                                 "the body names do not show the left and right of a figure with legs");
    }
    status = pz_actor_open(j->editor.model, j->editor.clip, POISE_UP_UNKNOWN, NULL, allocator, &actor);
    bool is_upright = status == POISE_OK && (!actor.has_frame || fabs(v3_dot(anatomy.up, actor.up)) > 0.5);
    j->normal = is_upright ? snapped(anatomy.left, straight) : snapped(actor.left, 0.0);
    vec3 standing = snapped(actor.left, 0.0);
    pz_actor_close(&actor, allocator);
    if (status != POISE_OK) {
        return pz_error_set(error, status, "out of memory");
    }
    if (is_upright) {
        return flip_upright(j, anatomy.stature, standing, error);
    }
    flip_frames(j);
    return POISE_OK;
}

// Sides, the mirror, and what it does to frames.
static poise_status read_model(job *j, const poise_allocator *allocator, int *pairs, poise_error *error)
{
    const poise_model *m = j->editor.model;
    *pairs = 0;
    for (int b = 0; b < poise_model_info(m).joints; ++b) {
        int other = pz_mirror_body(m, b);
        j->other[b] = other >= 0 ? other : b;
        *pairs += other > b;
    }
    if (*pairs == 0) {
        return pz_error_set(error, POISE_ERROR_NOT_FOUND,
                            "the body names do not show the left and right of a figure with legs");
    }
    return find_planes(j, allocator, error);
}

// Does what carries the motion carry this body, too?
static bool is_carried(const job *j, int body)
{
    return body >= j->root.first && body < j->root.first + poise_model_joint_info(j->editor.model, j->root.first).subtree;
}

static poise_pose pose_above(const job *j, const poise_pose *image, int body)
{
    int parent = poise_model_joint_info(j->editor.model, body).parent;
    return parent < 0 ? poise_pose_identity() : image ? image[parent] : poise_kinematics_body_pose(j->editor.kin, parent);
}

// Where a body is in the mirror, after those above it. Its joint's displacement from the offset is mirrored, too.
static poise_pose image_of(const job *j, int b)
{
    const poise_model *m = j->editor.model;
    int other = j->other[b];
    poise_pose there = poise_kinematics_body_pose(j->editor.kin, other);
    if (!is_carried(j, b)) {
        return poise_kinematics_body_pose(j->editor.kin, b);
    }
    mat3 R = quat_matrix(there.rotation), W = reflection(j->normal);
    R = m3_mul(&W, &R);
    R = m3_mul(&R, &j->flip[b]);
    poise_pose image = {.rotation = quat_normalize(quat_from_matrix(&R))};
    if (b <= j->root.last) {
        image.position = mirrored(there.position, j->normal);
        return image;
    }
    poise_pose own = pose_above(j, j->image, b), above = pose_above(j, NULL, other);
    vec3 moved =
        v3_sub(there.position, poise_pose_transform(above, poise_model_joint_info(m, other).given->offset.position));
    image.position =
        v3_add(poise_pose_transform(own, poise_model_joint_info(m, b).given->offset.position), mirrored(moved, j->normal));
    return image;
}

// Where a frame begins: after the one before; the first with left and right exchanged.
static void place_start(job *j, int frame)
{
    pz_editor *e = &j->editor;
    const poise_model *m = e->model;
    double *near = pz_editor_reference(e, frame);
    if (frame > 0) {
        memcpy(near, pz_editor_frame(e, frame - 1), (size_t)poise_model_info(m).nq * sizeof *near);
        return;
    }
    memcpy(near, pz_editor_original(e, 0), (size_t)poise_model_info(m).nq * sizeof *near);
    for (int b = j->root.first; b < poise_model_info(m).joints && is_carried(j, b); ++b) {
        poise_joint_info own = poise_model_joint_info(m, b), other = poise_model_joint_info(m, j->other[b]);
        for (int i = 0; own.type == other.type && i < own.nq; ++i) {
            near[own.q + i] = pz_editor_original(e, 0)[other.q + i];
        }
    }
}

// The largest miss of all goals in an answer, an angle, or a length over the size of the skeleton, and whose it is.
static poise_status measure(job *j, int frame, double *worst, int *body, poise_error *error)
{
    pz_editor *e = &j->editor;
    poise_status status = POISE_OK;
    *worst = 0.0;
    for (int g = 0; g < e->goal_count && status == POISE_OK; ++g) {
        poise_goal_error miss = {0};
        status = pz_editor_error(e, &e->goals[g], pz_editor_frame(e, frame), &miss, error);
        double own = miss.unit == POISE_UNIT_ANGLE ? miss.error : miss.error / e->size;
        *body = own > *worst ? e->goals[g].body : *body;
        *worst = max2(*worst, own);
    }
    return status;
}

// How far bodies are from where the mirror has those of the other side: a skeleton's sides may differ.
static poise_status measure_places(job *j, int frame, poise_mirror_report *report, poise_error *error)
{
    pz_editor *e = &j->editor;
    poise_status status = poise_kinematics_update(e->at, pz_editor_frame(e, frame), error);
    for (int b = 0; b < poise_model_info(e->model).joints && status == POISE_OK; ++b) {
        vec3 there = mirrored(poise_kinematics_body_pose(e->kin, j->other[b]).position, j->normal);
        double off = is_carried(j, b) ? v3_norm(v3_sub(poise_kinematics_body_pose(e->at, b).position, there)) : 0.0;
        if (off > report->worst_length) {
            report->worst_length = off;
            report->worst_length_body = b;
            report->worst_length_frame = frame;
        }
    }
    return status;
}

// A skeleton whose joints have any rotation takes the answer as it is; one that can do in the mirror what it did has one,
// which the tree solver finds at once. Where it cannot, the frame takes the least change.
static poise_status solve_frame(job *j, int frame, double *worst, int *body, poise_error *error)
{
    pz_editor *e = &j->editor;
    double *q = pz_editor_frame(e, frame);
    memcpy(q, pz_editor_reference(e, frame), (size_t)poise_model_info(e->model).nq * sizeof *q);
    for (int b = 0; b < poise_model_info(e->model).joints; ++b) {
        poise_pose above = pose_above(j, j->image, b);
        if (is_carried(j, b) && poise_model_joint_info(e->model, b).mimic < 0) {
            poise_set_joint_pose(e->model, b, &above, &j->image[b], q);
        }
    }
    bool is_within = poise_model_within_limits(e->limited, q);
    poise_status status = measure(j, frame, worst, body, error);
    if (status == POISE_OK && (*worst > MET || !is_within)) {
        status = poise_solve(e->search, e->goals, e->goal_count, q, NULL, error);
        status = status == POISE_OK ? measure(j, frame, worst, body, error) : status;
    }
    if (status == POISE_OK && *worst > MET) {
        status = pz_editor_solve(e, frame, error);
        status = status == POISE_OK ? measure(j, frame, worst, body, error) : status;
    }
    return status;
}

static poise_status mirror_frame(job *j, int frame, poise_mirror_report *report, poise_error *error)
{
    pz_editor *e = &j->editor;
    poise_status status = pz_editor_begin(e, frame, error);
    for (int b = 0; b < poise_model_info(e->model).joints && status == POISE_OK; ++b) {
        j->image[b] = image_of(j, b);
        poise_goal goal = poise_goal_orientation(b, j->image[b].rotation);
        if (is_carried(j, b)) {
            pz_editor_add(e, &goal, 1.0);
        }
        if (is_carried(j, b) &&
            (b == j->root.last || (b > j->root.last && pz_lengths_of(poise_model_joint_info(e->model, b).type) > 0))) {
            goal = poise_goal_position(b, v3(0, 0, 0), j->image[b].position);
            pz_editor_add(e, &goal, 1.0);
        }
    }
    e->last = POISE_NONE;
    place_start(j, frame);
    double worst = 0.0;
    int body = POISE_NONE;
    status = status == POISE_OK ? solve_frame(j, frame, &worst, &body, error) : status;
    status = status == POISE_OK ? measure_places(j, frame, report, error) : status;
    if (worst > report->worst_angle) {
        report->worst_angle = worst;
        report->worst_body = body;
        report->worst_frame = frame;
    }
    return status;
}

static poise_status mirror_all(job *j, const poise_allocator *allocator, poise_mirror_report *report, poise_error *error)
{
    pz_owned owned = {0};
    size_t bodies = (size_t)poise_model_info(j->editor.model).joints;
    j->flip = pz_owned_take(&owned, allocator, bodies * (sizeof *j->flip + sizeof *j->image + sizeof *j->other));
    j->image = j->flip ? (poise_pose *)(j->flip + bodies) : NULL;
    j->other = j->flip ? (int *)(j->image + bodies) : NULL;
    poise_status status =
        j->flip ? read_model(j, allocator, &report->pairs, error) : pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    for (int f = 0; f < j->editor.clip->frames && status == POISE_OK; ++f) {
        status = mirror_frame(j, f, report, error);
    }
    pz_owned_release(&owned);
    return status;
}

poise_status poise_clip_mirror(const poise_model *model, const poise_clip *clip, const poise_allocator *allocator,
                               poise_clip **made, poise_mirror_report *report, poise_error *error)
{
    if (!model || !clip || !made || clip->nq != poise_model_info(model).nq) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "model, clip and mirrored must not be NULL, and the clip of this model");
    }
    job j = {.root = pz_moving_root_of(model, clip, NULL)};
    poise_clip *copy;
    poise_mirror_report found = {.worst_frame = POISE_NONE,
                                 .worst_body = POISE_NONE,
                                 .worst_length_body = POISE_NONE,
                                 .worst_length_frame = POISE_NONE};
    pz_editor_room room = {.goals = 2 * poise_model_info(model).joints + 1,
                           .rows = 6 * poise_model_info(model).joints + 2 * POISE_GOAL_RESIDUALS};
    poise_status status = poise_clip_trim(clip, 0, clip->frames, allocator, &copy, error);
    if (status != POISE_OK) {
        return status;
    }
    status = pz_editor_open(model, &room, copy, allocator, &j.editor, error);
    if (status == POISE_OK) {
        found.size = j.editor.size;
        status = mirror_all(&j, allocator, &found, error);
        pz_editor_close(&j.editor);
    }
    if (status != POISE_OK) {
        poise_clip_destroy(copy);
        return status;
    }
    *made = copy;
    if (report) {
        *report = found;
    }
    return POISE_OK;
}
