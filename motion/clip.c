// Clips: time series of configurations, and where they lead.
#include "motion/clip.h"

#include "base/error.h"
#include "kin/kin.h"
#include "model/model.h"
#include "num/rotation.h"

#include <limits.h>
#include <string.h>

// A clip and its numbers are one block; the struct takes whole cache lines, so that the numbers begin at one.
#define HEAD ((sizeof(poise_clip) + PZ_ALIGNMENT - 1) / PZ_ALIGNMENT * PZ_ALIGNMENT)

poise_status poise_clip_create(int frames, int nq, double frame_time, const poise_allocator *allocator, poise_clip **clip,
                               poise_error *error)
{
    if (!clip) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "clip must not be NULL");
    }
    if (frames < 0 || nq < 0) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "%s must be >= 0, not %d", frames < 0 ? "frames" : "nq",
                            frames < 0 ? frames : nq);
    }
    if (!(frame_time > 0.0) || !is_finite(frame_time)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "frame_time, in seconds, must be finite and > 0, not %g",
                            frame_time);
    }
    size_t numbers = (size_t)frames * (size_t)nq; // below 2^62
    bool fits = numbers <= (SIZE_MAX / 2 - HEAD) / sizeof(double);
    poise_clip *made = fits ? pz_allocate(allocator, HEAD + numbers * sizeof(double)) : NULL;
    if (!made) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory for %d frames of %d numbers", frames, nq);
    }
    *made = (poise_clip){.frames = frames, .nq = nq, .frame_time = frame_time, .has_allocator = allocator != NULL};
    if (allocator) {
        made->allocator = *allocator;
    }
    made->q = (double *)(void *)((unsigned char *)made + HEAD);
    memset(made->q, 0, numbers * sizeof(double));
    *clip = made;
    return POISE_OK;
}

void poise_clip_destroy(poise_clip *clip)
{
    if (clip) {
        poise_allocator allocator = clip->allocator;
        pz_release(clip->has_allocator ? &allocator : NULL, clip);
    }
}

static const double *frame_of(const poise_clip *clip, int frame)
{
    return clip->q + (size_t)frame * (size_t)clip->nq;
}

poise_status poise_clip_trim(const poise_clip *clip, int first, int count, const poise_allocator *allocator,
                             poise_clip **trimmed, poise_error *error)
{
    if (!clip || !trimmed || first < 0 || count < 0 || count > clip->frames - first) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "frames from %d, %d of them, are not all in the clip, which has %d",
                            first, count, clip ? clip->frames : 0);
    }
    poise_clip *made;
    poise_status status = poise_clip_create(count, clip->nq, clip->frame_time, allocator, &made, error);
    if (status != POISE_OK) {
        return status;
    }
    made->start_time = clip->start_time + first * clip->frame_time;
    size_t numbers = (size_t)count * (size_t)clip->nq;
    if (numbers > 0) {
        memcpy(made->q, frame_of(clip, first), numbers * sizeof(double));
    }
    *trimmed = made;
    return POISE_OK;
}

// ---- Between two frames --------------------------------------------------------------------------------------------------

// The way of an angle: the difference, less whole turns where it jumps by more than half a turn, unless the limits leave
// less than a whole turn, so that the joint cannot go round.
//
// Limits of +-180 degrees in radians may miss the whole turn by rounding.
static double angle_way(double from, double to, double lower, double upper)
{
    double way = to - from;
    if (fabs(way) <= PZ_PI || upper - lower < PZ_TWO_PI * (1.0 - 8 * PZ_EPSILON) || fabs(way) > 1e9) {
        return way;
    }
    double turns = way / PZ_TWO_PI;
    return way - PZ_TWO_PI * (double)(long long)(turns + (turns < 0.0 ? -0.5 : 0.5));
}

// At u in (0, 1) along the way from one number to another; a way beyond the range of numbers is taken in two parts.
static double between(double from, double to, double way, double u)
{
    return is_finite(way) ? from + u * way : (1.0 - u) * from + u * to;
}

// At u in (0, 1) along the great arc between two rotations: from exp(u log(from^-1 to)).
static quat arc(quat from, quat to, double u)
{
    vec3 way = so3_log(quat_mul(quat_conj(from), to));
    return quat_mul(from, so3_exp_quat(v3_scale(way, u)));
}

static bool is_unlimited(const poise_model *model, int first, int count)
{
    for (int i = first; i < first + count; ++i) {
        if (is_finite(model->lower[i]) || is_finite(model->upper[i])) {
            return false;
        }
    }
    return true;
}

static void step_between(const poise_model *model, const pz_step *step, const double *a, const double *b, double u,
                         double *q)
{
    int first = step->q, count = pz_step_nq(step->kind);
    const double *from = a + first, *to = b + first;
    double *at = q + first;
    if (step->kind == PZ_QUATERNION) {
        quat r = arc(quat_normalize((quat){from[0], from[1], from[2], from[3]}),
                     quat_normalize((quat){to[0], to[1], to[2], to[3]}), u);
        r = quat_normalize(r);
        at[0] = r.x, at[1] = r.y, at[2] = r.z, at[3] = r.w;
    } else if (step->kind == PZ_EXPMAP && is_unlimited(model, first, count)) {
        vec3 v = so3_log(arc(so3_exp_quat(v3(from[0], from[1], from[2])), so3_exp_quat(v3(to[0], to[1], to[2])), u));
        at[0] = v.x, at[1] = v.y, at[2] = v.z;
    } else if (pz_step_is_turn(step->kind)) {
        at[0] = between(from[0], to[0], angle_way(from[0], to[0], model->lower[first], model->upper[first]), u);
    } else {
        for (int i = 0; i < count; ++i) {
            at[i] = between(from[i], to[i], to[i] - from[i], u);
        }
    }
}

// Is this a joint of three turns without limits of which one changes by more than `apart`?
static bool is_far_triple(const poise_model *model, int joint, const double *a, const double *b, double apart)
{
    double far = 0.0;
    const pz_step *turn = &model->steps[model->joints[joint].step_end - 3];
    if (!pz_joint_row_of(model->given[joint].type)->euler || !turn->own) {
        return false;
    }
    for (int i = 0; i < 3; ++i) {
        far = max2(far, is_unlimited(model, turn[i].q, 1) ? fabs(b[turn[i].q] - a[turn[i].q]) : INFINITY);
    }
    return far > apart && is_finite(far);
}

// Three turns one after the other are a rotation, and go along its arc, too: angle by angle a blend of triples that lie far
// apart tumbles.
static void joint_between(const poise_model *model, int k, const double *a, const double *b, double u, double apart,
                          double *q)
{
    const pz_joint *joint = &model->joints[k];
    bool is_triple = joint->step_end > joint->step_begin && is_far_triple(model, k, a, b, apart);
    mat3 M = {0};
    if (is_triple) {
        mat3 A = pz_rotation_of_joint(model, joint, a), B = pz_rotation_of_joint(model, joint, b);
        M = quat_matrix(arc(quat_from_matrix(&A), quat_from_matrix(&B), u));
    }
    for (int s = joint->step_begin; s < joint->step_end; ++s) {
        if (model->steps[s].own) {
            step_between(model, &model->steps[s], a, b, u, q);
        }
    }
    if (is_triple) {
        pz_set_rotation_near(model, joint, &M, q);
    }
}

// The frame at or before `place` (in frames) and the share of the way to the next one; on a frame the share is 0.
//
// A place within `near` frames of a frame is that frame: a time is a product of rounded numbers.
static int frame_before(double place, int frames, double *share)
{
    const double near = 1e-9;
    *share = 0.0;
    if (!(place > 0.0)) {
        return 0;
    }
    if (place >= frames - 1) {
        return frames - 1;
    }
    int frame = (int)place;
    double u = place - frame;
    if (u > 1.0 - near) {
        return frame + 1;
    }
    *share = u < near ? 0.0 : u;
    return frame;
}

// `apart`: angles that change by more are taken as rotations.
static poise_status mix(const poise_model *model, const double *from, const double *to, double share, double apart,
                        double *q, poise_error *error)
{
    if (!model || !from || !to || !q || !(share >= 0.0 && share <= 1.0)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "model, from, to and q must not be NULL, and share in [0, 1]");
    }
    if (!pz_model_accepts(model, from) || !pz_model_accepts(model, to)) {
        return pz_refuse_q(model, pz_model_accepts(model, from) ? to : from, "a frame of the clip", error);
    }
    if (share == 0.0 || share == 1.0) {
        memmove(q, share == 0.0 ? from : to, (size_t)model->nq * sizeof *q);
        return POISE_OK;
    }
    for (int k = 0; k < model->joint_count; ++k) {
        joint_between(model, k, from, to, share, apart, q);
    }
    return POISE_OK;
}

// From frame to frame the arc and its angles differ invisibly little, up to this change of an angle.
#define SMALL_TURN 0.5

poise_status pz_clip_between(const poise_model *model, const double *from, const double *to, double share, double *q,
                             poise_error *error)
{
    return mix(model, from, to, share, SMALL_TURN, q, error);
}

poise_status pz_clip_blend(const poise_model *model, const double *from, const double *to, double share, double *q,
                           poise_error *error)
{
    return mix(model, from, to, share, 0.0, q, error);
}

static poise_status sample_at(const poise_clip *clip, const poise_model *model, double place, double *q, poise_error *error)
{
    double u;
    int frame = frame_before(place, clip->frames, &u);
    const double *a = frame_of(clip, frame);
    if (u == 0.0) {
        if (!pz_model_accepts(model, a)) {
            return pz_refuse_q(model, a, "a frame of the clip", error);
        }
        memcpy(q, a, (size_t)clip->nq * sizeof *q);
        return POISE_OK;
    }
    return pz_clip_between(model, a, a + clip->nq, u, q, error);
}

poise_status poise_clip_sample(const poise_clip *clip, const poise_model *model, double time, double *q, poise_error *error)
{
    if (!clip || !model || !q || clip->frames < 1 || clip->nq != model->nq || !is_finite(time)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "clip, model and q must not be NULL, the clip not empty and of this model, time finite");
    }
    return sample_at(clip, model, (time - clip->start_time) / clip->frame_time, q, error);
}

poise_status poise_clip_resample(const poise_clip *clip, const poise_model *model, double frame_time,
                                 const poise_allocator *allocator, poise_clip **resampled, poise_error *error)
{
    if (!clip || !model || !resampled || clip->nq != model->nq || !(frame_time > 0.0) || !is_finite(frame_time)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "clip, model and resampled must not be NULL, the clip of this model, frame_time finite and > 0");
    }
    // a last frame that rounding pushed past the end is still one
    double ratio = frame_time / clip->frame_time;
    double last = clip->frames > 1 ? (clip->frames - 1) / ratio * (1.0 + 1e-12) + 1e-9 : 0.0;
    if (!(last < INT_MAX - 1)) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "too many frames for one clip: raise frame_time");
    }
    int frames = clip->frames > 0 ? (int)last + 1 : 0;
    poise_clip *made;
    poise_status status = poise_clip_create(frames, clip->nq, frame_time, allocator, &made, error);
    if (status != POISE_OK) {
        return status;
    }
    made->start_time = clip->start_time;
    for (int i = 0; i < frames && status == POISE_OK; ++i) {
        status = sample_at(clip, model, i * ratio, made->q + (size_t)i * (size_t)made->nq, error);
    }
    if (status != POISE_OK) {
        poise_clip_destroy(made);
        return status;
    }
    *resampled = made;
    return POISE_OK;
}

// ---- Prediction ----------------------------------------------------------------------------------------------------------
//
// Where a motion leads, from its last four frames. With d_1, d_2, d_3 the steps between them, the last one first,
// polynomials of order 0, 1 and 2 lead to the upper row, and missed the last frame, from those before it, by the lower one:
//
//   q        q + d_1         q + 2 d_1 - d_2
//   |d_1|    |d_1 - d_2|     |d_1 - 2 d_2 + d_3|
//
// Noise makes every order worse than the one below, by sqrt(3) and more, and what no goal sees drifts: a higher order has to
// have been much better.

#define ORDERS 3
#define BETTER 0.1 // squared misses, of an order over the one below

// Frames from the last one backwards; before the first nothing moved.
typedef struct last_frames {
    const double *q[ORDERS + 1];
} last_frames;

// The step to the frame number k from the one before it, in the dofs of one element of a joint.
static inline void step_to(const poise_model *model, const last_frames *last, int k, const pz_step *step, double *d)
{
    if (pz_step_is_block(step->kind)) {
        pz_step_difference(model, step, last->q[k + 1], last->q[k], d);
    } else {
        d[0] = last->q[k][step->q] - last->q[k + 1][step->q];
    }
}

static int best_order(const poise_model *model, const last_frames *last, int count)
{
    double missed[ORDERS] = {0.0};
    for (int s = 0; s < model->step_count; ++s) {
        const pz_step *step = &model->steps[s];
        double d1[3], d2[3], d3[3];
        if (!step->own) {
            continue;
        }
        step_to(model, last, 0, step, d1);
        step_to(model, last, 1, step, d2);
        step_to(model, last, 2, step, d3);
        for (int i = 0; i < pz_step_nv(step->kind); ++i) {
            double change = d1[i] - d2[i], bend = change - (d2[i] - d3[i]);
            missed[0] += d1[i] * d1[i];
            missed[1] += change * change;
            missed[2] += bend * bend;
        }
    }
    int order = 0;
    while (order + 1 < ORDERS && order + 3 <= count && missed[order + 1] < BETTER * missed[order]) {
        order += 1;
    }
    return order;
}

static void go_on(const poise_model *model, const last_frames *last, int order, double *q)
{
    for (int s = 0; s < model->step_count; ++s) {
        const pz_step *step = &model->steps[s];
        double d1[3] = {0.0}, d2[3] = {0.0};
        if (!step->own) {
            continue;
        }
        if (order > 0) {
            step_to(model, last, 0, step, d1);
        }
        if (order > 1) {
            step_to(model, last, 1, step, d2);
        }
        for (int i = 0; order > 1 && i < pz_step_nv(step->kind); ++i) {
            d1[i] += d1[i] - d2[i];
        }
        if (pz_step_is_block(step->kind)) {
            pz_step_retract(model, step, last->q[0], d1, q);
        } else {
            q[step->q] = last->q[0][step->q] + d1[0];
        }
    }
}

poise_status poise_predict(const poise_model *model, const double *frames, int count, double *q, poise_error *error)
{
    if (!model || !frames || count < 1 || !q) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "model, frames and q must not be NULL, and count must be at least 1");
    }
    last_frames last;
    for (int f = 0; f <= ORDERS; ++f) {
        int frame = count - 1 - f < 0 ? 0 : count - 1 - f;
        last.q[f] = frames + (size_t)frame * (size_t)model->nq;
        if (f < count && !pz_model_accepts(model, last.q[f])) {
            return pz_refuse_q(model, last.q[f], "a frame", error);
        }
    }
    go_on(model, &last, best_order(model, &last, count), q);
    return POISE_OK;
}
