// How a retargeted motion compares with what it follows.
#include "motion/retarget/retarget_work.h"

#include "num/trig.h"

#define ASIDE   0.7853981633974483 // radians: a limb that is off by more points elsewhere
#define JUMP    0.5                // radians in a frame, beyond what the source turns
#define STRAIN  0.15               // of the leg: hips that planted feet take farther from their path
#define TIPPED  0.2                // radians: a sole that is tilted by more does not stand flat
#define NEAR    0.06               // of the leg: a sole that is lower above the ground is near it
#define UPRIGHT 0.5                // of the leg: hips that are higher stand above it
#define CALM    0.2 // of the turn into the second frame: after a pose of its own the motion continues with less

static double turn_between(quat a, quat b)
{
    return poise_quat_angle(quat_mul(quat_conj(a), b));
}

static double between_bones(quat is, quat wanted, vec3 bone)
{
    vec3 a = quat_rotate(is, bone), b = quat_rotate(wanted, bone);
    return poise_atan2(v3_norm(v3_cross(a, b)), v3_dot(a, b));
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
    o->starts_apart = frames > 2 && w->led[0] > JUMP && w->led[1] < CALM * w->led[0];
    o->turn_mean = all > 0 ? o->turn_mean / all : 0.0;
    o->bone_mean = limbs > 0 ? o->bone_mean / limbs : 0.0;
    o->hips_mean = frames > 0 ? o->hips_mean / frames : 0.0;
    o->skate_mean = held > 0 ? o->skate_mean / held : 0.0;
    o->unplanted = o->contact > 0 || o->released > 0 ? 0 : o->unplanted;
    o->contact = frames > 0 ? o->contact / (2.0 * frames) : 0.0;
}
