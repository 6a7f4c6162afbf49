// What a retargeted motion is like, frame by frame and as a whole, and how far it can be trusted.
//
// Frame by frame, while it is solved: how bones, hips and feet compare with what they follow. As a whole: how fast joints and
// hips are, whether it is the other way up than the actor, whether feet slide that the actor keeps still or scrape over the
// ground, whether it hovers in the air, how far it gets, and whether bodies lie inside each other or below the ground, or have
// no shapes that could show it.
//
// The rate of a joint is that of its body's turn against the parent's, about whatever axis: coordinates of a ball joint in
// Euler angles may race through a gimbal lock while nothing moves. A hinge has one axis, and its coordinate is that turn. The
// hips turn in the world, as fast as people do at most: a dancer's pirouette has 19 rad/s.
#include <poise/constraint.h>
#include <poise/retarget.h>
#include <poise/rotation.h>

#include "base/arena.h"
#include "base/error.h"
#include "motion/retarget/actor.h"
#include "motion/retarget/retarget_work.h"
#include "motion/verdict.h"
#include "num/real.h"
#include "num/rotation.h"
#include "num/trig.h"

#define ASIDE     0.7853981633974483 // radians: a limb that is off by more points elsewhere
#define JUMP      0.5                // radians in a frame, beyond what the source turns
#define STRAIN    0.15               // of the leg: hips that planted feet take farther from their path
#define TIPPED    0.2                // radians: a sole that is tilted by more does not stand flat
#define NEAR      0.06               // of the leg: a sole that is lower above the ground is near it
#define UPRIGHT   0.5                // of the leg: hips that are higher stand above it
#define CONTINUES 0.2 // of the turn into the second frame: after a pose of its own the motion continues with less

#define DEFAULT_SPEED  20.0   // rad/s: a limit for joints whose file has none
#define ABRUPT         1000.0 // rad/s^2
#define SLIDE          0.06   // leg lengths a second: what is faster slides,
#define CREEP          0.02   // where it carries the weight
#define LEAST_SLIDE    0.15   // seconds: what is shorter is the way from one contact to the next
#define SLIDE_WINDOW   0.1    // seconds over which that is measured
#define SCUFF          0.6    // leg lengths a second: a foot that is not planted and touches the ground scrapes over it,
#define LEAST_SCUFF    0.05   // seconds, unless it is shorter: it comes down, or leaves
#define TOUCH          0.002  // of the leg: what is lower touches the ground
#define JUMP_TIME      1.0    // seconds: nobody is longer in the air
#define LIFTED         0.2    // of the leg: a body whose origin is higher is not on the ground
#define FASTEST_PERSON 12.0   // m/s: nobody is faster
#define LURCH_WINDOW   0.0333 // seconds over which the speed of hips is measured, at least
#define TINY           0.04 // of the leg, 2 % of the height: what is smaller is no shape of a limb, but a mesh in the wrong unit

// ---- Frame by frame ------------------------------------------------------------------------------------------------------

static double turn_between(quat a, quat b)
{
    return poise_quat_angle(quat_mul(quat_conj(a), b));
}

static double between_bones(quat is, quat wanted, vec3 bone)
{
    return v3_angle(quat_rotate(is, bone), quat_rotate(wanted, bone));
}

// Is this one of those whose bones are compared? On the same skeleton all are, by their whole turn.
static bool counts(const pz_retarget_work *w, const pz_pair *p)
{
    return p->has_bone || w->followed.same;
}

// Does a body move with an arm? What feet do does not count there.
static bool is_of_arm(const pz_retarget_work *w, const pz_pair *p)
{
    bool found = false;
    for (int offset = 0; offset <= POISE_ROLE_SIDE; offset += POISE_ROLE_SIDE) {
        int arm = w->to.roles.body[POISE_ROLE_UPPER_ARM + offset];
        found = found || (arm >= 0 && pz_is_below(w->to.model, arm, p->to));
    }
    return found;
}

// Sums go into the means until pz_retarget_measured divides them.
static void measure_pairs(pz_retarget_work *w, int frame, poise_retarget_outcome *o)
{
    bool jumps = false, stumbles = false;
    for (int i = 0; i < w->followed.count; ++i) {
        pz_pair *p = &w->followed.pair[i];
        quat is = poise_kinematics_body_pose(w->to.kin, p->to).rotation;
        double off = turn_between(w->turn[i], is);
        o->turn_mean += off;
        o->turn_worst = max2(o->turn_worst, off);
        if (counts(w, p)) {
            double bone = p->has_bone ? between_bones(is, w->turn[i], p->bone) : off;
            o->bone_mean += bone;
            p->bone_off += bone;
            p->aside += bone > ASIDE;
            if (bone > o->bone_worst) {
                o->bone_worst = bone;
                o->bone_role = p->role;
                o->bone_frame = frame;
            }
        }
        if (frame > 0) {
            double moved = turn_between(w->turned[i], is), led = turn_between(w->turn[w->followed.count + i], w->turn[i]);
            o->turn_most = max2(o->turn_most, moved);
            bool has_jumped = moved > JUMP + led;
            if (has_jumped && moved - led > o->jump_worst) {
                o->jump_worst = moved - led;
                o->jump_body = p->to;
                o->jump_frame = frame;
            }
            if (frame <= 2) {
                w->led[frame - 1] = max2(w->led[frame - 1], led);
            }
            jumps = jumps || has_jumped;
            stumbles = stumbles || (has_jumped && !is_of_arm(w, p));
        }
        w->turned[i] = is;
    }
    o->jumps += jumps;
    w->stumbles += stumbles;
}

// Depth of the deepest corner of a foot below the ground.
static double depth_of(const pz_retarget_work *w, const pz_foot *foot, poise_pose pose)
{
    double lowest = foot->corners > 0 ? INFINITY : pz_sole_height(foot, pose, w->ground.up, PZ_HEEL | PZ_TOE, NULL);
    double origin = 0;
    vec3 up = w->ground.up;
    for (int i = 0; i < foot->corners; ++i) {
        const pz_sole_point *p = &foot->corner[i];
        if (i == 0 || p->body != foot->corner[i - 1].body) { // up, seen from the body
            poise_pose at = poise_kinematics_body_pose(w->to.kin, p->body);
            up = quat_rotate(quat_conj(at.rotation), w->ground.up);
            origin = v3_dot(at.position, w->ground.up);
        }
        lowest = min2(lowest, origin + v3_dot(p->at, up) - p->radius);
    }
    return w->ground.height - lowest;
}

// Distance along the ground that the ends `held` of a sole moved, the farther of them: where they touch it.
static double slip_of(const pz_retarget_work *w, const pz_foot *foot, poise_pose pose, unsigned char held)
{
    double farthest = 0.0;
    for (int end = PZ_HEEL; end <= PZ_TOE; ++end) {
        vec3 point = end == PZ_HEEL ? foot->heel : foot->toe;
        if (held & end) {
            pz_sole_height(foot, pose, w->ground.up, (unsigned char)end, &point);
            vec3 moved = v3_sub(poise_pose_transform(pose, point), poise_pose_transform(foot->last, point));
            farthest = max2(farthest, v3_norm(v3_mad(moved, -v3_dot(moved, w->ground.up), w->ground.up)));
        }
    }
    return farthest;
}

// Of a sole that is to stand flat: how far it is tilted, whichever way.
static double tilt_of(const pz_retarget_work *w, const pz_foot *foot, poise_pose pose)
{
    vec3 up = quat_rotate(quat_mul(pose.rotation, quat_conj(foot->rest)), w->ground.up);
    return poise_atan2(v3_norm(v3_cross(up, w->ground.up)), v3_dot(up, w->ground.up));
}

// Depth of the deepest hull of another part than the feet.
static void measure_parts(const pz_retarget_work *w, int frame, poise_retarget_outcome *o)
{
    for (int i = 0; i < w->hull_count; ++i) {
        const poise_hull *h = &w->hulls[i];
        bool is_part = h->body >= 0;
        for (int side = 0; side < 2 && is_part; ++side) {
            is_part = w->foot[side].body < 0 || !pz_is_below(w->to.model, w->foot[side].body, h->body);
        }
        if (!is_part) {
            continue;
        }
        poise_pose pose = poise_kinematics_body_pose(w->to.kin, h->body);
        double first = v3_dot(poise_pose_transform(pose, h->corners[0]), w->ground.up) - w->ground.height;
        if (first - w->reach[i] > -o->buried) {
            continue;
        }
        vec3 up = quat_rotate(quat_conj(pose.rotation), w->ground.up);
        double lowest = INFINITY;
        for (int k = 0; k < h->corner_count; ++k) {
            lowest = min2(lowest, v3_dot(h->corners[k], up));
        }
        double depth = w->ground.height - v3_dot(pose.position, w->ground.up) - lowest + h->radius;
        if (depth > o->buried) {
            o->buried = depth;
            o->buried_body = h->body;
            o->buried_frame = frame;
        }
    }
}

static void measure_feet(pz_retarget_work *w, int frame, poise_retarget_outcome *o)
{
    bool is_tipped = false, is_near = false;
    double hips = v3_dot(w->hips[frame], w->ground.up) - w->ground.height;
    for (int side = 0; side < 2; ++side) {
        pz_foot *foot = &w->foot[side];
        if (foot->body < 0) {
            continue;
        }
        poise_pose pose = poise_kinematics_body_pose(w->to.kin, foot->body);
        unsigned char held = frame > 0 ? foot->contact[frame] & foot->contact[frame - 1] : 0;
        double depth = depth_of(w, foot, pose);
        o->sunk = max2(o->sunk, depth);
        is_near = is_near || (depth > -NEAR * w->to.leg && hips > UPRIGHT * w->to.leg);
        o->contact += foot->contact[frame] != 0;
        if (held) {
            double speed = slip_of(w, foot, pose, held) / w->ground.frame_time;
            foot->held += 1;
            o->skate_mean += speed;
            o->skate_frame = speed > o->skate_worst ? frame : o->skate_frame;
            o->skate_worst = max2(o->skate_worst, speed);
        }
        double tilt = foot->flat[frame] && !w->ground.released[frame] ? tilt_of(w, foot, pose) : 0.0;
        o->tipped_frame = tilt > o->tipped_worst ? frame : o->tipped_frame;
        o->tipped_worst = max2(o->tipped_worst, tilt);
        is_tipped = is_tipped || tilt > TIPPED;
        foot->last = pose;
    }
    o->tipped += is_tipped;
    o->unplanted += is_near;
}

void pz_retarget_measure(pz_retarget_work *w, int frame, poise_retarget_outcome *o)
{
    measure_pairs(w, frame, o);
    if (w->hips) {
        vec3 hips = poise_kinematics_point(w->to.kin, w->to.roles.body[POISE_ROLE_PELVIS], w->to.hips);
        double off = v3_norm(v3_sub(hips, w->hips[frame]));
        o->hips_mean += off;
        o->hips_worst = max2(o->hips_worst, off);
        w->strained[frame] = off > STRAIN * w->to.leg && (w->foot[0].contact[frame] || w->foot[1].contact[frame]);
        measure_feet(w, frame, o);
        if (!w->in_place) {
            measure_parts(w, frame, o);
        }
    }
}

void pz_retarget_measured(const pz_retarget_work *w, poise_retarget_outcome *o)
{
    int bones = 0, frames = w->task->clip->frames, held = w->foot[0].held + w->foot[1].held;
    for (int i = 0; i < w->followed.count; ++i) {
        const pz_pair *p = &w->followed.pair[i];
        double mean = frames > 0 ? p->bone_off / frames : 0.0;
        bones += counts(w, p);
        if (p->role >= 0 && mean > o->limb_mean) {
            o->limb_mean = mean;
            o->limb_role = p->role;
        }
        if (p->role >= 0 && p->aside > o->aside) {
            o->aside = p->aside;
            o->aside_role = p->role;
        }
    }
    double all = (double)frames * w->followed.count, limbs = (double)frames * bones;
    o->starts_apart = frames > 2 && w->led[0] > JUMP && w->led[1] < CONTINUES * w->led[0];
    o->turn_mean = all > 0 ? o->turn_mean / all : 0.0;
    o->bone_mean = limbs > 0 ? o->bone_mean / limbs : 0.0;
    o->hips_mean = frames > 0 ? o->hips_mean / frames : 0.0;
    o->skate_mean = held > 0 ? o->skate_mean / held : 0.0;
    o->unplanted = o->contact > 0 || o->released > 0 ? 0 : o->unplanted;
    o->contact = frames > 0 ? o->contact / (2.0 * frames) : 0.0;
}

// ---- As a whole ----------------------------------------------------------------------------------------------------------

typedef struct checked {
    const pz_retarget_work *w;
    poise_retarget_outcome *o;
    double *v;          // nv: the step from the frame before
    int sliding;        // frames, up to this one, in which a foot slides,
    int slides[2];      // and in which each does
    poise_pose foot[2]; // of the frame before,
    int scuffing;       // frames, up to this one, in which one scrapes,
    int hovers;         // or nothing is near the ground
    vec3 actor_hips;    // in the frame before
    double *actor;      // by frame: how far its hips have moved from the frame before, scaled
    quat *before;       // by joint: the turn against the parent, in the frame before,
    vec3 *rate;         // and its rate into that frame
    vec3 *end[4];       // by frame: ankle and toe, left and right
    vec3 *hips;         // by frame
} checked;

// ---- Joints --------------------------------------------------------------------------------------------------------------

// Is this the root, or above it? It moves with the whole body.
static bool is_root(const pz_retarget_work *w, int joint)
{
    int pelvis = w->to.roles.body[POISE_ROLE_PELVIS];
    bool is_above = false;
    for (int k = pelvis; k >= 0 && !is_above; k = poise_model_joint_info(w->to.model, k).parent) {
        is_above = k == joint;
    }
    poise_joint_info info = poise_model_joint_info(w->to.model, joint);
    return is_above || (info.parent == POISE_WORLD && info.nv == 6);
}

// The turn of a joint, or that of the whole body.
static quat turn_of(const pz_retarget_work *w, int joint)
{
    poise_joint_info info = poise_model_joint_info(w->to.model, joint);
    quat is = poise_kinematics_body_pose(w->to.kin, joint).rotation;
    return info.parent < 0 || is_root(w, joint)
               ? is
               : quat_mul(quat_conj(poise_kinematics_body_pose(w->to.kin, info.parent).rotation), is);
}

static double limit_of(const pz_retarget_work *w, const poise_joint_info *joint, bool is_hips)
{
    double own = joint->given->velocity, asked = w->task->velocity ? w->task->velocity[joint->v] : INFINITY;
    return is_hips ? DEFAULT_SPEED : asked < INFINITY ? asked : own > 0 ? own : DEFAULT_SPEED;
}

// As the task's limits count it, one coordinate at a time, where there are some.
static double speed_of(const checked *c, const poise_joint_info *joint, int k)
{
    double most = 0;
    if (is_root(c->w, k) || !c->w->task->velocity || joint->nv == 1 || !(c->w->task->velocity[joint->v] < INFINITY)) {
        return v3_norm(c->rate[k]);
    }
    for (int i = joint->v; i < joint->v + joint->nv; ++i) {
        most = max2(most, fabs(c->v[i]) / c->w->ground.frame_time);
    }
    return most;
}

static void measure_rates(checked *c, int frame, const double *q, int nq)
{
    const pz_retarget_work *w = c->w;
    double dt = w->ground.frame_time, steepest = 0;
    bool has_steps = frame > 0 && poise_difference(w->to.model, q - nq, q, c->v, NULL) == POISE_OK;
    for (int k = 0; k < poise_model_info(w->to.model).joints; ++k) {
        poise_joint_info joint = poise_model_joint_info(w->to.model, k);
        bool is_hips = is_root(w, k) && k == w->to.roles.body[POISE_ROLE_PELVIS];
        if ((joint.nv == 0 || is_root(w, k)) && !is_hips) {
            continue;
        }
        bool slides = joint.nv == 1 && !is_hips && poise_model_coordinate(w->to.model, joint.q).unit == POISE_UNIT_LENGTH;
        vec3 step = v3(has_steps && joint.nv > 0 ? c->v[joint.v] : 0, 0, 0), was = c->rate[k];
        if (joint.nv > 1 || is_hips) {
            quat before = c->before[k];
            c->before[k] = turn_of(w, k);
            step = has_steps ? poise_expmap_from_quat(quat_mul(quat_conj(before), c->before[k])) : step;
        }
        if (!has_steps) {
            continue;
        }
        c->rate[k] = v3_scale(step, 1 / dt);
        double speed = speed_of(c, &joint, k), limit = limit_of(w, &joint, is_hips);
        bool has_limit = !slides || joint.given->velocity > 0;
        if (has_limit && speed > c->o->fast * limit) {
            c->o->fast = speed / limit;
            c->o->fast_speed = speed;
            c->o->fast_joint = k;
            c->o->fast_frame = frame;
        }
        double rise = frame > 1 && !slides ? v3_norm(v3_sub(c->rate[k], was)) / dt : 0;
        steepest = max2(steepest, rise);
        if (rise > c->o->acceleration) {
            c->o->acceleration = rise;
            c->o->abrupt_joint = k;
            c->o->abrupt_frame = frame;
        }
    }
    c->o->abrupt += steepest > ABRUPT;
}

// ---- Hips and head -------------------------------------------------------------------------------------------------------

// How far the head, or the chest, is above the hips, along the axis of the file: that it says, or guessed, points up.
static bool head_above_hips(const pz_actor *a, double *height)
{
    static const int high[] = {POISE_ROLE_HEAD, POISE_ROLE_CHEST};
    int top = pz_plays(a, high[0]) ? 0 : 1, pelvis = a->roles.body[POISE_ROLE_PELVIS];
    if (pelvis < 0 || !pz_plays(a, high[top]) || a->roles.body[high[top]] == pelvis) {
        return false;
    }
    vec3 away = v3_sub(poise_kinematics_body_pose(a->kin, a->roles.body[high[top]]).position,
                       poise_kinematics_point(a->kin, pelvis, a->hips));
    *height = a->axis == 0 ? away.x : a->axis == 1 ? away.y : away.z;
    return true;
}

// Both skeletons are in their poses of this frame.
static void measure_sides_up(const checked *c)
{
    double actor = 0, target = 0;
    if (head_above_hips(&c->w->from, &actor) && head_above_hips(&c->w->to, &target)) {
        c->o->upright += target > 0;
        c->o->overturned += target > 0 && actor < 0;
    }
}

// How much faster the hips are than the actor's, or than anybody's.
static void measure_lurches(const checked *c)
{
    const pz_ground *g = &c->w->ground;
    int step = 1;
    while (step < g->frames && step * g->frame_time < LURCH_WINDOW - 1e-9) {
        step += 1;
    }
    for (int f = step; f < g->frames; ++f) {
        double actor = 0, metres = c->o->metres / (step * g->frame_time);
        for (int k = f - step + 1; k <= f; ++k) {
            actor += c->actor[k];
        }
        double speed = metres * v3_norm(v3_sub(c->hips[f], c->hips[f - step]));
        double excess = speed - min2(metres * actor, FASTEST_PERSON);
        if (excess > c->o->lurch) {
            c->o->lurch = excess;
            c->o->lurch_speed = speed;
            c->o->lurch_frame = f;
        }
    }
}

// ---- Feet ----------------------------------------------------------------------------------------------------------------

static void note_places(checked *c, int frame)
{
    const pz_retarget_work *w = c->w;
    vec3 was = c->actor_hips;
    c->actor_hips = poise_kinematics_point(w->from.kin, w->from.roles.body[POISE_ROLE_PELVIS], w->from.hips);
    c->actor[frame] = frame > 0 ? w->followed.factor * v3_norm(v3_sub(c->actor_hips, was)) : 0.0;
    c->hips[frame] = poise_kinematics_point(w->to.kin, w->to.roles.body[POISE_ROLE_PELVIS], w->to.hips);
    for (int side = 0; side < 2; ++side) {
        const pz_foot *foot = &w->foot[side];
        c->end[2 * side][frame] = foot->body >= 0 ? poise_kinematics_point(w->to.kin, foot->body, foot->ankle) : v3(0, 0, 0);
        c->end[2 * side + 1][frame] =
            foot->body >= 0 ? poise_kinematics_point(w->to.kin, foot->body, foot->toe) : v3(0, 0, 0);
    }
}

// Along the ground, over a few frames around this one; < 0: too near an end of the motion.
static double speed_at(const checked *c, const vec3 *place, int frame, bool level)
{
    const pz_ground *g = &c->w->ground;
    int around = (int)(0.5 * SLIDE_WINDOW / g->frame_time + 0.5);
    around = around > 0 ? around : 1;
    if (frame < around || frame + around >= g->frames) {
        return -1;
    }
    vec3 moved = v3_sub(place[frame + around], place[frame - around]);
    moved = level ? v3_mad(moved, -v3_dot(moved, g->up), g->up) : moved;
    return v3_norm(moved) / (2 * around * g->frame_time);
}

// How fast the ends of a foot are at least that rest, by these bits; 0: none does.
static double slowest_end(const checked *c, int side, int frame, int rests)
{
    double slowest = INFINITY;
    for (int end = 0; end < 2; ++end) {
        bool counts = rests & (end == 0 ? PZ_HEEL : PZ_TOE);
        slowest = counts ? min2(slowest, speed_at(c, c->end[2 * side + end], frame, false)) : slowest;
    }
    return slowest < INFINITY ? slowest : 0;
}

// The height of the lower end of a foot.
static double height_of(const checked *c, int side, int frame)
{
    vec3 up = c->w->ground.up;
    return min2(v3_dot(c->end[2 * side][frame], up), v3_dot(c->end[2 * side + 1][frame], up));
}

// Frames to count where something is so, or is not: once it is so for `least` seconds, with what was before. `row` is how many
// there were in a row.
static int count_long(const checked *c, int *row, bool is_so, double least)
{
    double dt = c->w->ground.frame_time;
    *row = is_so ? *row + 1 : 0;
    bool begins = *row * dt >= least && (*row - 1) * dt < least;
    return begins ? *row : *row * dt >= least;
}

// Feet of the actor that rest and are not planted: does the target's stay where it is? Either both ends rest; or no foot is
// planted, and the lower one, which then carries the weight, is slow, as on steps.
static void measure_loose(checked *c, int frame)
{
    const pz_foot *feet = c->w->foot;
    bool any_slides = false, is_held = (feet[0].contact[frame] | feet[1].contact[frame]) != 0 && c->w->planted;
    for (int side = 0; side < 2; ++side) {
        int rests = feet[side].rests[frame];
        bool is_planted = feet[side].contact[frame] != 0 && c->w->planted;
        bool stands = (rests & (PZ_HEEL | PZ_TOE)) == (PZ_HEEL | PZ_TOE);
        if (feet[side].body < 0) {
            continue;
        }
        bool carries = !is_held && feet[1 - side].body >= 0 && rests / PZ_SLOW != 0 &&
                       height_of(c, side, frame) <= height_of(c, 1 - side, frame);
        double least = carries ? CREEP : SLIDE;
        double speed = is_planted ? 0
                       : carries  ? slowest_end(c, side, frame, rests / PZ_SLOW)
                       : stands   ? slowest_end(c, side, frame, rests)
                                  : 0;
        bool slides = speed > least * c->w->to.leg;
        c->o->stances += is_planted || stands || carries;
        c->o->loose_stances += count_long(c, &c->slides[side], slides, LEAST_SLIDE);
        any_slides = any_slides || slides;
        if (slides && speed > c->o->loose_speed) {
            c->o->loose_speed = speed;
            c->o->loose_role = POISE_ROLE_FOOT + side * POISE_ROLE_SIDE;
            c->o->loose_frame = frame;
        }
    }
    c->o->loose += count_long(c, &c->sliding, any_slides, LEAST_SLIDE);
}

// The points of a foot that may touch the ground.
static const pz_sole_point *points_of(const pz_foot *foot, int *count)
{
    *count = foot->corners > 0 ? foot->corners : foot->soles;
    return foot->corners > 0 ? foot->corner : foot->sole;
}

// How far the points of a foot that touch the ground have moved over it since the frame before, the least of them; 0: none
// touches it. `lowest` receives the height of the lowest.
static double scraped_by(const pz_retarget_work *w, const pz_foot *foot, poise_pose was, poise_pose is, double *lowest)
{
    double least = INFINITY, touch = TOUCH * w->to.leg;
    vec3 up = w->ground.up, down = quat_rotate(quat_conj(is.rotation), v3_scale(up, -1));
    int count;
    const pz_sole_point *points = points_of(foot, &count);
    *lowest = INFINITY;
    for (int i = 0; i < count; ++i) {
        if (points[i].body != foot->body) {
            continue;
        }
        vec3 point = v3_mad(points[i].at, points[i].radius, down), at = poise_pose_transform(is, point);
        double height = v3_dot(at, up) - w->ground.height;
        *lowest = min2(*lowest, height);
        if (height < touch) {
            vec3 from = poise_pose_transform(was, point), moved = v3_sub(at, from);
            bool touched = v3_dot(from, up) - w->ground.height < touch;
            least = touched ? min2(least, v3_norm(v3_mad(moved, -v3_dot(moved, up), up))) : least;
        }
    }
    return least < INFINITY ? least : 0;
}

// Feet on their way from one contact to the next that scrape over the ground, and a body of which nothing is near it.
static void measure_ground(checked *c, int frame)
{
    const pz_retarget_work *w = c->w;
    double fastest = 0;
    int role = POISE_NONE;
    bool is_near = false;
    for (int side = 0; side < 2; ++side) {
        const pz_foot *foot = &w->foot[side];
        double lowest;
        if (foot->body < 0) {
            continue;
        }
        poise_pose pose = poise_kinematics_body_pose(w->to.kin, foot->body);
        double speed = scraped_by(w, foot, frame > 0 ? c->foot[side] : pose, pose, &lowest) / w->ground.frame_time;
        bool is_held = foot->contact[frame] != 0 || (frame > 0 && foot->contact[frame - 1] != 0);
        if (!is_held && speed > SCUFF * w->to.leg && speed > fastest) {
            fastest = speed;
            role = POISE_ROLE_FOOT + side * POISE_ROLE_SIDE;
        }
        is_near = is_near || lowest < NEAR * w->to.leg;
        c->foot[side] = pose;
    }
    for (int k = 0; k < poise_model_info(w->to.model).joints && !is_near; ++k) {
        vec3 at = poise_kinematics_body_pose(w->to.kin, k).position;
        is_near = !is_root(w, k) && v3_dot(at, w->ground.up) - w->ground.height < LIFTED * w->to.leg;
    }
    int scuffed = count_long(c, &c->scuffing, role >= 0, LEAST_SCUFF);
    c->o->scuffed += scuffed;
    if (scuffed > 0 && fastest > c->o->scuff_speed) {
        c->o->scuff_speed = fastest;
        c->o->scuff_role = role;
        c->o->scuff_frame = frame;
    }
    c->o->hovering += count_long(c, &c->hovers, !is_near, JUMP_TIME);
    if (c->hovers * w->ground.frame_time >= JUMP_TIME && c->hovers > c->o->hover_last - c->o->hover_first + 1) {
        c->o->hover_first = frame - c->hovers + 1;
        c->o->hover_last = frame;
    }
}

// How far the loops that the file closes are open.
static void measure_loops(const checked *c, int frame)
{
    const poise_retarget_task *task = c->w->task;
    for (int i = 0; i < task->loop_count; ++i) {
        double open = -poise_constraint_room(c->w->to.kin, &task->loops[i], NULL);
        if (open > c->o->unclosed) {
            c->o->unclosed = open;
            c->o->unclosed_frame = frame;
        }
    }
}

// Soles near the ground, below hips that travel: a walk or a run leaves them behind, one that glides takes them along.
static void measure_travel(const checked *c)
{
    const pz_ground *g = &c->w->ground;
    double soles = 0, hips = 0;
    for (int f = 0; f < g->frames; ++f) {
        vec3 away = v3_sub(c->hips[f], c->hips[0]);
        c->o->travel = max2(c->o->travel, v3_norm(v3_mad(away, -v3_dot(away, g->up), g->up)));
        double of_hips = speed_at(c, c->hips, f, true), slowest = INFINITY;
        bool stands = v3_dot(c->hips[f], g->up) - g->height > UPRIGHT * g->leg;
        for (int end = 0; end < 4 && stands && of_hips >= 0; ++end) {
            bool is_near = v3_dot(c->end[end][f], g->up) - g->height < NEAR * g->leg && c->w->foot[end / 2].body >= 0;
            slowest = is_near ? min2(slowest, speed_at(c, c->end[end], f, true)) : slowest;
        }
        soles += slowest < INFINITY ? slowest : 0;
        hips += slowest < INFINITY ? of_hips : 0;
    }
    c->o->glide = hips > 0 ? soles / hips : 0;
}

// ---- Bodies --------------------------------------------------------------------------------------------------------------

static double metres_of(const pz_retarget_work *w)
{
    poise_figure figure = {.metres = 0};
    if (w->task->metres > 0) {
        return w->task->metres;
    }
    poise_model_figure(w->to.model, &figure, NULL);
    return figure.metres > 0 ? figure.metres : w->to.leg > 0 ? 0.85 / w->to.leg : 1.0;
}

static bool is_of_limbs(int role)
{
    int part = role < POISE_ROLE_RIGHT ? role : role - POISE_ROLE_SIDE;
    return part == POISE_ROLE_PELVIS || part == POISE_ROLE_CHEST || part == POISE_ROLE_UPPER_ARM ||
           part == POISE_ROLE_FOREARM || part == POISE_ROLE_THIGH || part == POISE_ROLE_SHANK || part == POISE_ROLE_FOOT;
}

static bool plays_any(const pz_retarget_work *w, int body)
{
    bool found = false;
    for (int role = 0; role < POISE_ROLE_COUNT && !found; ++role) {
        found = w->to.roles.body[role] == body;
    }
    return found;
}

// The body that moves a body: itself, or the one that it is fixed to.
static int carrier_of(const poise_model *model, int body)
{
    while (body >= 0 && poise_model_joint_info(model, body).nv == 0 && poise_model_joint_info(model, body).parent >= 0) {
        body = poise_model_joint_info(model, body).parent;
    }
    return body;
}

// Is a hull, or what lies around it on its body, as large as a part of a body? A mesh in the wrong unit is a dot; the points
// under a foot are far from each other.
static bool is_large(const pz_retarget_work *w, int hull)
{
    const poise_hull *h = &w->hulls[hull];
    double least = TINY * w->to.leg;
    bool found = w->reach[hull] >= least;
    for (int i = 0; i < w->hull_count && !found; ++i) {
        found = w->hulls[i].body == h->body && v3_norm(v3_sub(w->hulls[i].corners[0], h->corners[0])) >= least;
    }
    return found;
}

// Has a body that plays a role a hull: itself, what is fixed to it, or what is between it and the next role?
static bool has_hull(const pz_retarget_work *w, int body, bool is_large_enough)
{
    const poise_model *model = w->to.model;
    bool found = false;
    for (int i = 0; i < w->hull_count && !found; ++i) {
        int k = w->hulls[i].body, carrier = carrier_of(model, k);
        while (k >= 0 && !plays_any(w, k)) {
            k = poise_model_joint_info(model, k).parent;
        }
        bool is_of = k == body || (carrier >= 0 && carrier == carrier_of(model, body));
        found = is_of && (!is_large_enough || is_large(w, i));
    }
    return found;
}

// A pelvis that is one link of the waist may be inside the chest.
static bool is_in_chest(const pz_retarget_work *w, int role)
{
    int chest = w->to.roles.body[POISE_ROLE_CHEST];
    return role == POISE_ROLE_PELVIS && chest >= 0 && has_hull(w, chest, true);
}

// Limbs and trunk of a robot without shapes: what does not exist overlaps with nothing. A hand alone has only fingers.
static void measure_bare(const pz_retarget_work *w, poise_retarget_outcome *o)
{
    for (int pass = 0; pass < 2 && o->bare == 0; ++pass) {
        for (int role = 0; role < POISE_ROLE_COUNT && (pass == 0 || w->hull_count == 0); ++role) {
            int body = w->to.roles.body[role], part = role < POISE_ROLE_RIGHT ? role : role - POISE_ROLE_SIDE;
            bool may_be_point = part == POISE_ROLE_FOOT;
            if (body >= 0 && (pass > 0 || is_of_limbs(role)) && !has_hull(w, body, !may_be_point) && !is_in_chest(w, role)) {
                o->bare_by_size = o->bare_by_size || has_hull(w, body, false);
                o->bare_body = o->bare == 0 ? body : o->bare_body;
                o->bare += 1;
            }
        }
    }
}

static poise_status measure_bodies(const pz_retarget_work *w, const poise_allocator *allocator, const poise_clip *clip,
                                   poise_retarget_outcome *o, poise_error *error)
{
    poise_overlap_problem problem = poise_overlap_problem_default();
    problem.model = w->to.model;
    problem.clip = clip;
    problem.hulls = w->hulls;
    problem.hull_count = w->hull_count;
    problem.excluded = w->task->excluded;
    problem.excluded_count = w->task->excluded_count;
    problem.metres = o->metres;
    problem.up = w->hips && !w->in_place ? w->ground.up : v3(0, 0, 0);
    problem.ground = w->ground.height;
    o->has_bodies = w->hull_count > 0;
    if (w->task->is_robot) {
        measure_bare(w, o);
    }
    return poise_overlap_measure(&problem, allocator, &o->overlap, error);
}

// ---- All -----------------------------------------------------------------------------------------------------------------

static void lay_out(checked *c, pz_arena *arena)
{
    poise_model_summary to = poise_model_info(c->w->to.model);
    size_t joints = (size_t)to.joints + 1, frames = (size_t)c->w->ground.frames + 1;
    c->v = pz_arena_take(arena, (size_t)to.nv + 1, sizeof *c->v);
    c->before = pz_arena_take(arena, joints, sizeof *c->before);
    c->rate = pz_arena_take(arena, joints, sizeof *c->rate);
    c->hips = pz_arena_take(arena, frames, sizeof *c->hips);
    c->actor = pz_arena_take(arena, frames, sizeof *c->actor);
    for (int end = 0; end < 4; ++end) {
        c->end[end] = pz_arena_take(arena, frames, sizeof *c->end[end]);
    }
}

poise_status pz_retarget_check(const pz_retarget_work *w, const poise_allocator *allocator, const poise_clip *clip,
                               poise_retarget_outcome *outcome, poise_error *error)
{
    checked c = {.w = w, .o = outcome};
    outcome->metres = metres_of(w);
    pz_arena arena = pz_arena_counting();
    lay_out(&c, &arena);
    size_t bytes = pz_arena_bytes(&arena);
    void *memory = pz_allocate(allocator, bytes);
    if (!memory) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    arena = pz_arena_over(memory, bytes);
    lay_out(&c, &arena);
    poise_status status = POISE_OK;
    for (int f = 0; f < clip->frames && status == POISE_OK; ++f) {
        const double *q = clip->q + (size_t)f * (size_t)clip->nq;
        status = poise_kinematics_update(w->to.kin, q, error);
        const poise_clip *source = w->task->clip;
        if (status == POISE_OK) {
            measure_rates(&c, f, q, clip->nq);
            measure_loops(&c, f);
            if (w->hips && !w->in_place && !w->followed.same) {
                measure_ground(&c, f);
            }
            status = poise_kinematics_update(w->from.kin, source->q + (size_t)f * (size_t)source->nq, error);
        }
        if (status == POISE_OK) {
            measure_sides_up(&c);
        }
        if (status == POISE_OK && w->hips) {
            note_places(&c, f);
        }
    }
    for (int f = 0; f < clip->frames && status == POISE_OK && w->hips && !w->in_place && !w->followed.same; ++f) {
        measure_loose(&c, f);
    }
    if (status == POISE_OK && w->hips) {
        measure_travel(&c);
        measure_lurches(&c);
    }
    pz_release(allocator, memory);
    return status == POISE_OK ? measure_bodies(w, allocator, clip, outcome, error) : status;
}

// ---- How far it can be trusted -------------------------------------------------------------------------------------------

#define TRAVELS       2.0 // leg lengths: farther is no walk on the spot
#define LEAST_STANCES 20  // frames: of fewer a share says little
#define LEFT_BEHIND   0.6 // of the speed of the hips: soles near the ground that are slower stay behind, as in a run

static const char motions[] = "the motion's skeleton", followers[] = "the skeleton that follows", maps[] = "the map";

// What a part that only one skeleton has takes from the motion.
typedef enum loss {
    NOTHING = 0,   // fingers, toes, collars and hands may be missing
    WORTH_KNOWING, // heads and chests: many robots have neither, and their trunk is one piece
    A_LIMB         // arms, legs, hips
} loss;

static loss loss_of(int role, bool is_targets)
{
    int part = role < POISE_ROLE_RIGHT ? role : role - POISE_ROLE_SIDE;
    if (part == POISE_ROLE_HEAD || (part == POISE_ROLE_CHEST && !is_targets)) {
        return WORTH_KNOWING;
    }
    return part == POISE_ROLE_CLAVICLE || part == POISE_ROLE_HAND || part >= POISE_ROLE_TOE ? NOTHING : A_LIMB;
}

// Can a body, or what hangs from it, move at all?
static bool moves(const poise_model *model, int body)
{
    int last = body + poise_model_joint_info(model, body).subtree, k = body;
    while (k < last && poise_model_joint_info(model, k).nv == 0) {
        ++k;
    }
    return k < last;
}

static bool only_one_plays(const poise_role_map *map, int role)
{
    return (map->role[role].from >= 0) != (map->role[role].to >= 0);
}

static bool both_play(const poise_role_map *map, int role)
{
    return map->role[role].from >= 0 && map->role[role].to >= 0;
}

// The part nearer to the trunk that tells of a limb as a whole; POISE_NONE: this one does.
static int limb_above(int role)
{
    int part = role < POISE_ROLE_RIGHT ? role : role - POISE_ROLE_SIDE;
    bool goes_on = part == POISE_ROLE_FOREARM || part == POISE_ROLE_SHANK || part == POISE_ROLE_FOOT;
    return part == POISE_ROLE_THIGH ? POISE_ROLE_PELVIS : goes_on ? role - 1 : POISE_NONE;
}

// Legs that follow below hips that do not: nothing hangs together.
static bool is_cut_off(const poise_role_map *map, int role)
{
    int right = POISE_ROLE_SIDE;
    bool legs = both_play(map, POISE_ROLE_SHANK) || both_play(map, POISE_ROLE_SHANK + right) ||
                both_play(map, POISE_ROLE_FOOT) || both_play(map, POISE_ROLE_FOOT + right);
    bool is_hip = role == POISE_ROLE_PELVIS || role == POISE_ROLE_THIGH || role == POISE_ROLE_THIGH + right;
    return is_hip && legs;
}

// A leg of which a map leaves out a part that neither is to play: hips and feet do not know how long it is, and stay behind.
static bool is_gap_of_leg(const poise_role_map *map, int role)
{
    int part = role < POISE_ROLE_RIGHT ? role : role - POISE_ROLE_SIDE, offset = role - part;
    bool nobody = map->role[role].from < 0 && map->role[role].to < 0;
    bool has_thigh = both_play(map, POISE_ROLE_THIGH + offset), has_shank = both_play(map, POISE_ROLE_SHANK + offset);
    bool has_foot = both_play(map, POISE_ROLE_FOOT + offset);
    return nobody &&
           ((part == POISE_ROLE_THIGH && (has_shank || has_foot)) || (part == POISE_ROLE_SHANK && (has_thigh || has_foot)) ||
            (part == POISE_ROLE_FOOT && (has_thigh || has_shank)) || (part == POISE_ROLE_PELVIS && is_cut_off(map, role)));
}

// The same of an arm, whose hand follows in any case, but from elsewhere.
static bool is_gap_of_arm(const poise_retarget_task *task, int role)
{
    const poise_role_map *map = task->map;
    int part = role < POISE_ROLE_RIGHT ? role : role - POISE_ROLE_SIDE, offset = role - part;
    const poise_role_pair *hand = &map->role[POISE_ROLE_HAND + offset], *upper = &map->role[POISE_ROLE_UPPER_ARM + offset];
    bool nobody = map->role[role].from < 0 && map->role[role].to < 0;
    bool has_hand = both_play(map, POISE_ROLE_HAND + offset);
    if (part == POISE_ROLE_FOREARM && nobody && has_hand && both_play(map, POISE_ROLE_UPPER_ARM + offset)) {
        return poise_model_joint_info(task->from, hand->from).parent != upper->from && // both have something in between
               poise_model_joint_info(task->to, hand->to).parent != upper->to;
    }
    return part == POISE_ROLE_UPPER_ARM && nobody && both_play(map, POISE_ROLE_FOREARM + offset);
}

// Does a joint move a body against the trunk that its limb hangs from, or against the part of the limb above it?
static bool is_moved(const poise_model *model, const poise_role_map *map, int role)
{
    int above = limb_above(role), part = role < POISE_ROLE_RIGHT ? role : role - POISE_ROLE_SIDE;
    int stop = map->role[above >= 0 ? above : POISE_ROLE_CHEST].to, k = map->role[role].to;
    bool is_root = false, moves_it = false;
    for (; k >= 0 && k != stop && !is_root && !moves_it; k = poise_model_joint_info(model, k).parent) {
        is_root = poise_model_joint_info(model, k).parent < 0 || k == map->role[POISE_ROLE_PELVIS].to;
        moves_it = poise_model_joint_info(model, k).nv > 0 && !is_root;
    }
    return moves_it || part < POISE_ROLE_UPPER_ARM;
}

// Arms and legs that the target has and cannot move: nothing of them is followed, and no number tells. What hangs from a
// part that is told is not told again.
static void judge_fixed(const poise_retarget_task *task, pz_findings *found)
{
    const poise_role_map *map = task->map;
    for (int role = POISE_ROLE_LEFT; role < POISE_ROLE_COUNT; ++role) {
        int above = limb_above(role);
        bool is_told = above > POISE_ROLE_PELVIS && both_play(map, above) && !is_moved(task->to, map, above);
        if (both_play(map, role) && loss_of(role, true) == A_LIMB && !is_told && moves(task->from, map->role[role].from) &&
            !is_moved(task->to, map, role)) {
            poise_finding f = {.kind = POISE_FINDING_FIXED, .name = poise_role_name(role), .other = followers, .value = 1.0};
            poise_verdict_weigh(found->thresholds, f, false, &found->verdict, found->list, found->capacity);
        }
    }
}

static bool is_hand(const poise_model *to, const poise_role_map *map)
{
    int palms[] = {map->role[POISE_ROLE_HAND].to, map->role[POISE_ROLE_HAND + POISE_ROLE_SIDE].to};
    bool has_limbs = pz_is_beside_hands(to, palms, 2), has_fingers = false;
    for (int offset = 0; offset <= POISE_ROLE_SIDE; offset += POISE_ROLE_SIDE) {
        has_limbs =
            has_limbs || map->role[POISE_ROLE_THIGH + offset].to >= 0 || map->role[POISE_ROLE_UPPER_ARM + offset].to >= 0;
        has_fingers = has_fingers || map->role[POISE_ROLE_INDEX + offset].to >= 0;
    }
    return has_fingers && !has_limbs;
}

// A hand alone: fingers that only one hand has. The robot's would not move.
static void judge_fingers(const poise_retarget_task *task, pz_findings *found)
{
    for (int offset = 0; offset <= POISE_ROLE_SIDE; offset += POISE_ROLE_SIDE) {
        bool has_palm = task->map->role[POISE_ROLE_HAND + offset].to >= 0;
        for (int role = POISE_ROLE_THUMB + offset; role <= POISE_ROLE_LITTLE + offset && has_palm; role += 3) {
            bool is_targets = task->map->role[role].to >= 0;
            poise_finding f = {.kind = POISE_FINDING_UNMATCHED,
                               .name = poise_role_name(role),
                               .other = is_targets ? motions : followers,
                               .value = is_targets ? 1.0 : 0.0};
            if (only_one_plays(task->map, role)) {
                poise_verdict_weigh(found->thresholds, f, true, &found->verdict, found->list, found->capacity);
            }
        }
    }
}

static void judge_roles(const poise_retarget_task *task, pz_findings *found)
{
    const poise_role_map *map = task->map;
    for (int role = 0; role < POISE_ROLE_COUNT; ++role) {
        const poise_role_pair *p = &map->role[role];
        bool is_targets = p->to >= 0;
        loss lost = loss_of(role, is_targets);
        bool is_gap = is_gap_of_leg(map, role);
        if (is_gap || is_gap_of_arm(task, role)) {
            poise_finding gap = {
                .kind = POISE_FINDING_UNMATCHED, .name = poise_role_name(role), .other = maps, .value = is_gap ? 2.0 : 1.0};
            poise_verdict_weigh(found->thresholds, gap, true, &found->verdict, found->list, found->capacity);
        }
        int above = limb_above(role);
        bool is_told = above >= 0 && only_one_plays(map, above) && (map->role[above].to >= 0) == is_targets;
        if (lost == NOTHING || is_told || !only_one_plays(map, role) ||
            !moves(is_targets ? task->to : task->from, is_targets ? p->to : p->from)) {
            continue;
        }
        poise_finding f = {.kind = POISE_FINDING_UNMATCHED,
                           .name = poise_role_name(role),
                           .other = is_targets ? motions : followers,
                           .value = lost == WORTH_KNOWING   ? 0.0
                                    : is_cut_off(map, role) ? 2.0
                                                            : 1.0};
        poise_verdict_weigh(found->thresholds, f, true, &found->verdict, found->list, found->capacity);
    }
}

static void weigh(pz_findings *found, poise_finding f)
{
    poise_verdict_weigh(found->thresholds, f, false, &found->verdict, found->list, found->capacity);
}

// Does it travel, and leave soles behind that are near the ground? A run whose contacts are too short to be found does.
static bool runs(const poise_retarget_outcome *o)
{
    return o->travel > TRAVELS * o->leg && o->glide < LEFT_BEHIND;
}

static void judge_feet(const poise_retarget_task *task, const poise_retarget_outcome *o, double frames, pz_findings *found)
{
    if (o->planted) {
        pz_weigh(found, POISE_FINDING_UNPLANTED, NULL, runs(o) ? 0.0 : o->unplanted / frames, false);
        pz_weigh(found, POISE_FINDING_RELEASED, NULL, o->released / frames, false);
        pz_weigh(found, POISE_FINDING_TIPPED, NULL, o->tipped / frames, false);
    }
    if (!o->same) { // feet of the same proportions do what the actor's do
        weigh(found, (poise_finding){.kind = POISE_FINDING_LOOSE,
                                     .name = poise_role_name(o->loose_role),
                                     .value = o->stances >= LEAST_STANCES ? (double)o->loose_stances / o->stances
                                                                          : o->loose / frames,
                                     .first = o->loose_frame,
                                     .last = o->loose_frame});
        weigh(found, (poise_finding){.kind = POISE_FINDING_SCUFFED,
                                     .name = poise_role_name(o->scuff_role),
                                     .value = o->scuffed / frames,
                                     .first = o->scuff_frame,
                                     .last = o->scuff_frame,
                                     .distance = o->scuff_speed * (o->metres > 0 ? o->metres : 1.0)});
        weigh(found, (poise_finding){.kind = POISE_FINDING_HOVERING,
                                     .value = o->hovering / frames,
                                     .first = o->hover_first,
                                     .last = o->hover_last});
        pz_weigh(found, POISE_FINDING_SKATE, NULL, o->skate_mean / o->leg, false);
        pz_weigh(found, POISE_FINDING_SLIPPED, NULL, o->skate_worst / o->leg, false);
        pz_weigh(found, POISE_FINDING_SUNK, NULL, max2(o->sunk, 0.0) / o->leg, false);
    }
    const char *buried = o->buried > 0 ? poise_model_joint_info(task->to, o->buried_body).body : NULL;
    pz_weigh(found, POISE_FINDING_BURIED, buried, o->buried / o->leg, false);
}

static void judge_rates(const poise_retarget_task *task, const poise_retarget_outcome *o, double frames, pz_findings *found)
{
    weigh(found, (poise_finding){.kind = POISE_FINDING_FAST,
                                 .name = o->fast_joint >= 0 ? poise_model_joint_info(task->to, o->fast_joint).name : NULL,
                                 .value = o->fast,
                                 .first = o->fast_frame,
                                 .last = o->fast_frame,
                                 .distance = o->fast_speed});
    weigh(found,
          (poise_finding){.kind = POISE_FINDING_ABRUPT,
                          .name = o->abrupt_joint >= 0 ? poise_model_joint_info(task->to, o->abrupt_joint).name : NULL,
                          .value = o->abrupt / frames,
                          .first = o->abrupt_frame,
                          .last = o->abrupt_frame,
                          .distance = o->acceleration});
}

static void judge_bodies(const poise_retarget_task *task, const poise_retarget_outcome *o, double frames, pz_findings *found)
{
    const poise_overlap *bodies = &o->overlap;
    poise_overlap_problem problem = poise_overlap_problem_default();
    problem.model = task->to;
    problem.clip = task->clip;
    problem.metres = o->metres > 0 ? o->metres : 1.0;
    if (task->shapes_skipped > 0) {
        pz_weigh(found, POISE_FINDING_UNCHECKED, followers, task->shapes_skipped, false);
    } else if (o->bare > 0) {
        weigh(found, (poise_finding){.kind = POISE_FINDING_UNCHECKED,
                                     .name = poise_model_joint_info(task->to, o->bare_body).body,
                                     .other = o->bare_by_size ? "have no collision shapes, or far too small ones"
                                                              : "have no collision shapes",
                                     .value = o->bare});
    }
    poise_overlap_judge(&problem, bodies, found->thresholds, &found->verdict, found->list, found->capacity);
    weigh(found, (poise_finding){
                     .kind = POISE_FINDING_FLOOR,
                     .name = bodies->buried_body >= 0 ? poise_model_joint_info(task->to, bodies->buried_body).body : NULL,
                     .value = bodies->buried_count / frames,
                     .first = bodies->buried_frame,
                     .last = bodies->buried_frame,
                     .distance = bodies->buried * problem.metres});
}

poise_status poise_retarget_judge(const poise_retarget_task *task, const poise_retarget_outcome *outcome,
                                  const poise_thresholds *thresholds, poise_verdict *verdict, poise_finding *findings,
                                  int capacity, poise_error *error)
{
    if (!task || !task->from || !task->to || !task->map || !task->clip || !outcome || !verdict || capacity < 0 ||
        (capacity > 0 && !findings)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "task, its models, map and clip, outcome and verdict must not be NULL");
    }
    poise_thresholds usual = poise_thresholds_default();
    pz_findings found = {.thresholds = thresholds ? thresholds : &usual, .list = findings, .capacity = capacity};
    double frames = task->clip->frames > 0 ? task->clip->frames : 1;
    if (is_hand(task->to, task->map)) {
        judge_fingers(task, &found);
    } else {
        judge_roles(task, &found);
        judge_fixed(task, &found);
    }
    pz_weigh(&found, POISE_FINDING_BONES, NULL, outcome->bone_mean, false);
    pz_weigh(&found, POISE_FINDING_LIMB, poise_role_name(outcome->limb_role), outcome->limb_mean, false);
    pz_weigh(&found, POISE_FINDING_ASIDE, poise_role_name(outcome->aside_role), outcome->aside / frames, false);
    const char *jumped = outcome->jumps > 0 ? poise_model_joint_info(task->to, outcome->jump_body).body : NULL;
    pz_weigh(&found, POISE_FINDING_JUMPED, jumped, outcome->jumps / frames, false);
    const char *late = outcome->late > 0 ? poise_model_joint_info(task->to, outcome->late_joint).name : NULL;
    pz_weigh(&found, POISE_FINDING_LATE, late, outcome->late / frames, false);
    pz_weigh(&found, POISE_FINDING_POSE, motions, outcome->from_stands ? 0.0 : 1.0, false);
    pz_weigh(&found, POISE_FINDING_POSE, followers, outcome->to_stands ? 0.0 : 1.0, false);
    pz_weigh(&found, POISE_FINDING_REVERSED, motions, outcome->from_reversed ? 1.0 : 0.0, false);
    pz_weigh(&found, POISE_FINDING_REVERSED, followers, outcome->to_reversed ? 1.0 : 0.0, false);
    if (outcome->starts_apart) {
        pz_weigh(&found, POISE_FINDING_APART, NULL, 1.0, true);
    }
    if (outcome->leg > 0) {
        pz_weigh(&found, POISE_FINDING_HIPS, NULL, outcome->hips_mean / outcome->leg, false);
    }
    if (outcome->leg > 0 && !outcome->in_place) {
        judge_feet(task, outcome, frames, &found);
    }
    weigh(&found, (poise_finding){.kind = POISE_FINDING_LURCHED,
                                  .value = outcome->lurch,
                                  .first = outcome->lurch_frame,
                                  .last = outcome->lurch_frame,
                                  .distance = outcome->lurch_speed});
    pz_weigh(&found, POISE_FINDING_OVERTURNED, NULL,
             outcome->upright > 0 ? outcome->overturned / (double)outcome->upright : 0.0, false);
    weigh(&found, (poise_finding){.kind = POISE_FINDING_UNCLOSED,
                                  .value = outcome->unclosed * (outcome->metres > 0 ? outcome->metres : 1.0),
                                  .first = outcome->unclosed_frame,
                                  .last = outcome->unclosed_frame});
    judge_rates(task, outcome, frames, &found);
    judge_bodies(task, outcome, frames, &found);
    *verdict = found.verdict;
    return POISE_OK;
}
