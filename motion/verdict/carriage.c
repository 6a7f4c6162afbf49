// How a person carries themselves tells of a recording what its distances cannot.
//
// A mirror image keeps all distances and exchanges the hands. Where the markers of a frame, x, and their places on the
// skeleton at rest, p, differ by a turn, det sum (x - mean)(p - mean)^T is positive; where they differ by a mirror, negative.
// Limbs that move blur it, so head, trunk, pelvis and feet count alone, whose markers lie deep enough in space.
//
// A walk sets one foot before the other. People who walk slowly take 1.2 s for a step; longer ones that reach as far, one
// after the other, are those of a recording whose rate is wrong. And the lower foot, which carries, goes backwards under the
// pelvis, unless a person walks backwards or time does.
//
// Nobody falls faster than things do, but for a moment in which legs are drawn up: the rate is wrong where hips do, also of
// motions so slow that ten times their accelerations are no haste, as of a squat.
//
// Who stands on a floor has the hips above the feet, on average, and the soles flat on it where they rest. Where both lean the
// same way, the room does. People who lean, or sit, keep their soles flat; soles on a slope, or calibrated askew, leave the
// hips above them.
#include "motion/verdict/carriage.h"

#include "base/arena.h"
#include "base/error.h"
#include "motion/tracker.h"
#include "num/vector.h"

#include <poise/kinematics.h>

#define LOOKS  200  // frames in which the hand is looked at
#define LEAST  7    // markers that tell it
#define STEP   0.10 // of the stature: how far one ankle is before the other in a step
#define STEPS  3    // one after the other, at least
#define EVEN   2.0  // times the shortest step: those of a walk are not longer
#define WALK   0.5  // of the time: that much of it is steps
#define LOWER  0.01 // of the stature: by how much the foot that carries is lower
#define MOVES  0.2  // statures per second: slower ones tell no direction
#define RESTS  0.5  // radians per second: a sole that turns by less is flat on the ground
#define FLAT   0.5  // of all: how much of up a sole or a body keeps that stands at all
#define ALIKE  0.7  // cosine between leans of the same way
#define TELLS  10   // frames in which soles rest, at least
#define WINDOW 0.05 // seconds: over which an acceleration is taken
#define FALL   19.6 // m/s2: twice that of gravity
#define TALL   1.75 // metres, where units are unknown
#define STRIDE 0.3  // of the frames in which the foot moves as in a walk, at least

typedef struct carriage {
    const poise_verdict_problem *problem;
    const pz_anatomy *anatomy;
    poise_kinematics *rest, *kin;
} carriage;

static double det(const double a[9])
{
    return a[0] * (a[4] * a[8] - a[5] * a[7]) - a[1] * (a[3] * a[8] - a[5] * a[6]) + a[2] * (a[3] * a[7] - a[4] * a[6]);
}

static bool tells_hand(const carriage *c, int body)
{
    static const pz_part parts[] = {PZ_HEAD, PZ_THORAX, PZ_PELVIS, PZ_CLAVICLE, PZ_FOOT};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; ++i) {
        for (int side = PZ_MIDDLE; side <= PZ_RIGHT; ++side) {
            if (c->anatomy->part[parts[i]][side].body == body) {
                return true;
            }
        }
    }
    return false;
}

// The place of placement i at rest: where anatomy has it, else where it is.
static vec3 place_at_rest(const carriage *c, int i)
{
    const poise_placement *p = &c->problem->track->placements[i];
    const poise_place_prior *prior = c->problem->priors ? &c->problem->priors[i] : NULL;
    bool is_known = prior && prior->along > 0 && v3_is_finite(prior->place);
    double size = c->problem->calibration ? c->problem->calibration->size : 1.0;
    return poise_kinematics_point(c->rest, p->body, is_known ? v3_scale(prior->place, size) : p->local);
}

// -1: a mirror image; 1: none; 0: not told.
static int hand_in(const carriage *c, int frame)
{
    const poise_track_problem *track = c->problem->track;
    const poise_markers *m = track->markers;
    vec3 mean[2] = {v3(0, 0, 0), v3(0, 0, 0)};
    double A[9] = {0};
    int count = 0;
    for (int round = 0; round < 2; ++round) {
        for (int i = 0; i < track->placement_count; ++i) {
            const poise_placement *p = &track->placements[i];
            int marker = p->label ? poise_markers_find(m, p->label) : POISE_NONE;
            if (marker < 0 || !poise_markers_seen(m, frame, marker) || !tells_hand(c, p->body)) {
                continue;
            }
            vec3 x = m->position[(size_t)frame * (size_t)m->count + (size_t)marker], r = place_at_rest(c, i);
            if (round == 0) {
                mean[0] = v3_add(mean[0], x);
                mean[1] = v3_add(mean[1], r);
                count += 1;
                continue;
            }
            x = v3_sub(x, v3_scale(mean[0], 1.0 / count));
            r = v3_sub(r, v3_scale(mean[1], 1.0 / count));
            const double a[3] = {x.x, x.y, x.z}, b[3] = {r.x, r.y, r.z};
            for (int k = 0; k < 9; ++k) {
                A[k] += a[k / 3] * b[k % 3];
            }
        }
        if (count < LEAST) {
            return 0;
        }
    }
    return det(A) < 0.0 ? -1 : 1;
}

static void weigh_hand(const carriage *c, pz_findings *found)
{
    int frames = c->problem->clip->frames, every = frames / LOOKS + 1, mirrored = 0, told = 0;
    for (int f = 0; f < frames; f += every) {
        int hand = hand_in(c, f);
        told += hand != 0;
        mirrored += hand < 0;
    }
    if (told > 0) {
        pz_weigh(found, POISE_FINDING_MIRRORED, NULL, (double)mirrored / told, false);
    }
}

// ---- Steps ---------------------------------------------------------------------------------------------------------------

typedef struct stance {
    vec3 ankle[2];
    double before; // how far the left ankle is before the right one, along the pelvis' forward
    vec3 forward, pelvis;
} stance;

static bool look(const carriage *c, int frame, stance *s)
{
    const pz_segment *pelvis = &c->anatomy->part[PZ_PELVIS][PZ_MIDDLE];
    const poise_clip *clip = c->problem->clip;
    bool is_held = c->problem->frames && (c->problem->frames[frame].flags & POISE_TRACK_HELD);
    if (is_held || poise_kinematics_update(c->kin, clip->q + (size_t)frame * (size_t)clip->nq, NULL) != POISE_OK) {
        return false;
    }
    for (int i = 0; i < 2; ++i) {
        s->ankle[i] = poise_kinematics_body_pose(c->kin, c->anatomy->part[PZ_FOOT][PZ_LEFT + i].body).position;
    }
    poise_pose pose = poise_kinematics_body_pose(c->kin, pelvis->body);
    poise_quat rest = poise_kinematics_body_pose(c->rest, pelvis->body).rotation;
    s->pelvis = pose.position;
    s->forward = poise_quat_rotate(pose.rotation, poise_quat_rotate(poise_quat_conjugate(rest), c->anatomy->forward));
    s->before = v3_dot(v3_sub(s->ankle[0], s->ankle[1]), s->forward);
    return true;
}

// Steps, from one foot before the other to the other before the one; and which way the lower foot goes.
static void weigh_steps(const carriage *c, pz_findings *found)
{
    enum { MOST = 64 };
    double step[MOST], stature = c->anatomy->stature, dt = c->problem->clip->frame_time;
    int steps = 0, side = 0, since = 0, frames = c->problem->clip->frames, back = 0, on = 0;
    stance was, is;
    bool is_known = false;
    for (int f = 0; f < frames; ++f) {
        if (!look(c, f, &is)) {
            is_known = false;
            continue;
        }
        int now = is.before > STEP * stature ? 1 : is.before < -STEP * stature ? -1 : 0;
        if (now != 0 && now != side) {
            if (side != 0 && steps < MOST) {
                step[steps++] = (f - since) * dt;
            }
            side = now;
            since = f;
        }
        double lower = v3_dot(v3_sub(is.ankle[0], is.ankle[1]), c->anatomy->up);
        if (is_known && fabs(lower) > LOWER * stature) {
            int k = lower > 0.0;
            vec3 moved = v3_sub(v3_sub(is.ankle[k], is.pelvis), v3_sub(was.ankle[k], was.pelvis));
            double speed = v3_dot(moved, is.forward) / dt / stature;
            back += speed < -MOVES;
            on += speed > MOVES;
        }
        was = is;
        is_known = true;
    }
    if (steps < STEPS) {
        return;
    }
    double shortest = step[0], longest = step[0];
    for (int i = 1; i < steps; ++i) {
        shortest = min2(shortest, step[i]);
        longest = max2(longest, step[i]);
    }
    double middle = pz_middle_of(step, steps);
    if (longest < EVEN * shortest && steps * middle > WALK * frames * dt) {
        pz_weigh(found, POISE_FINDING_SLOW, NULL, middle, false);
    }
    if (back + on > STRIDE * frames) {
        pz_weigh(found, POISE_FINDING_BACKWARDS, NULL, (double)on / (back + on), false);
    }
}

// ---- Falls ---------------------------------------------------------------------------------------------------------------

// The share of the frames in which hips fall faster than they can.
static poise_status weigh_falls(const carriage *c, const poise_allocator *allocator, pz_findings *found, poise_error *error)
{
    double dt = c->problem->clip->frame_time, metres = c->problem->track->markers->scale.metres;
    int frames = c->problem->clip->frames, h = (int)(WINDOW / dt + 0.5), falls = 0, told = 0;
    double *high = pz_allocate(allocator, ((size_t)frames + 1) * sizeof *high), t = (h > 1 ? h : 1) * dt;
    if (!high) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    h = h > 1 ? h : 1;
    metres = metres > 0.0 ? metres : TALL / c->anatomy->stature;
    for (int f = 0; f < frames; ++f) {
        stance s;
        high[f] = look(c, f, &s) ? metres * v3_dot(s.pelvis, c->anatomy->up) : (double)NAN;
    }
    for (int f = h; f + h < frames; ++f) {
        double a = (high[f - h] - 2.0 * high[f] + high[f + h]) / (t * t);
        falls += a < -FALL;
        told += a == a;
    }
    pz_release(allocator, high);
    if (told >= TELLS) {
        pz_weigh(found, POISE_FINDING_FALLING, NULL, (double)falls / told, false);
    }
    return POISE_OK;
}

// ---- Ground --------------------------------------------------------------------------------------------------------------

// What the part of a body's rest that points up has become.
static vec3 upright_of(const carriage *c, int body)
{
    poise_quat rest = poise_kinematics_body_pose(c->rest, body).rotation;
    poise_quat is = poise_kinematics_body_pose(c->kin, body).rotation;
    return poise_quat_rotate(is, poise_quat_rotate(poise_quat_conjugate(rest), c->anatomy->up));
}

// How a direction leans, as the tangent of its angle to up.
static vec3 lean_of(const carriage *c, vec3 direction)
{
    double up = v3_dot(direction, c->anatomy->up);
    return up > 0.0 ? v3_sub(v3_scale(direction, 1.0 / up), c->anatomy->up) : v3(0, 0, 0);
}

// From the feet to the hips, and the soles that rest: the lesser of the angles by which both lean the same way.
static void weigh_tilt(const carriage *c, pz_findings *found)
{
    int frames = c->problem->clip->frames, soles = 0;
    double most = 1.0 - 0.5 * RESTS * RESTS * c->problem->clip->frame_time * c->problem->clip->frame_time;
    vec3 body = v3(0, 0, 0), sole = v3(0, 0, 0), was[2] = {v3(0, 0, 0), v3(0, 0, 0)};
    bool is_known = false;
    for (int f = 0; f < frames; ++f) {
        stance s;
        if (!look(c, f, &s)) {
            is_known = false;
            continue;
        }
        vec3 legs = v3_sub(s.pelvis, v3_scale(v3_add(s.ankle[0], s.ankle[1]), 0.5));
        double length = v3_norm(legs), high = v3_dot(legs, c->anatomy->up);
        int low = v3_dot(v3_sub(s.ankle[0], s.ankle[1]), c->anatomy->up) > 0.0;
        for (int i = 0; i < 2; ++i) {
            vec3 is = upright_of(c, c->anatomy->part[PZ_FOOT][PZ_LEFT + i].body);
            if (is_known && i == low && high > FLAT * length && v3_dot(is, was[i]) >= most &&
                v3_dot(is, c->anatomy->up) > FLAT) {
                sole = v3_add(sole, is);
                body = v3_add(body, v3_scale(legs, 1.0 / length));
                soles += 1;
            }
            was[i] = is;
        }
        is_known = true;
    }
    vec3 a = lean_of(c, body), b = lean_of(c, sole);
    if (soles >= TELLS && v3_dot(a, b) > ALIKE * v3_norm(a) * v3_norm(b)) {
        pz_weigh(found, POISE_FINDING_TILTED, NULL, poise_atan2(min2(v3_norm(a), v3_norm(b)), 1.0), false);
    }
}

poise_status pz_weigh_carriage(const poise_verdict_problem *problem, const pz_anatomy *anatomy,
                               const poise_allocator *allocator, pz_findings *found, poise_error *error)
{
    const poise_model *model = problem->track->model;
    carriage c = {.problem = problem, .anatomy = anatomy};
    size_t nq = (size_t)poise_model_info(model).nq;
    if (!(anatomy->stature > 0.0) || anatomy->part[PZ_PELVIS][PZ_MIDDLE].body < 0 ||
        anatomy->part[PZ_FOOT][PZ_LEFT].body < 0 || anatomy->part[PZ_FOOT][PZ_RIGHT].body < 0) {
        return POISE_OK;
    }
    double *neutral = pz_allocate(allocator, (nq + 1) * sizeof *neutral);
    poise_status status = neutral ? poise_kinematics_create(model, allocator, &c.kin, error)
                                  : pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    status = status == POISE_OK ? poise_kinematics_create(model, allocator, &c.rest, error) : status;
    if (status == POISE_OK) {
        poise_model_neutral(model, neutral);
        poise_kinematics_update(c.rest, neutral, NULL);
        weigh_hand(&c, found);
        weigh_steps(&c, found);
        status = weigh_falls(&c, allocator, found, error);
        weigh_tilt(&c, found);
    }
    poise_kinematics_destroy(c.rest);
    poise_kinematics_destroy(c.kin);
    pz_release(allocator, neutral);
    return status;
}
