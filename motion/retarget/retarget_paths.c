// Where hips and feet of the target go.
//
//   p_to = ground_to + A s (p_from - ground_from) + (h_to - s h_from) up
//
// s the ratio of the legs, h the height of an ankle above the sole. The source's ground lies h_from below the lowest place
// of its ankles.
#include "base/arena.h"
#include "motion/contacts.h"
#include "motion/retarget/retarget_work.h"

#include <string.h>

#define PROPORTION  1e-6 // bones whose ratio differs by less have the same proportions
#define REST_SPEED  0.05 // leg lengths a second: what is slower does not move,
#define SLOW_SPEED  0.15 // and what is as slow may carry weight
#define REST_WINDOW 0.1  // seconds over which that is measured
#define LEAST_REST  0.15 // seconds: shorter is no rest

// Of a foot of the source, by frame.
typedef struct source_foot {
    poise_vec3 *ankle, *toe;
    vec3 tip; // in the foot's frame
    const pz_pair *pair;
} source_foot;

static const pz_pair *pair_of(const pz_followed *f, int to, int role)
{
    for (int i = 0; i < f->count; ++i) {
        if (f->pair[i].role == role || f->pair[i].to == to) {
            return &f->pair[i];
        }
    }
    return NULL;
}

// Do all limbs, and the feet, have the same ratio?
static bool has_same_shape(const pz_retarget_work *w)
{
    const pz_actor *a = &w->from, *b = &w->to;
    bool same = true;
    for (int role = POISE_ROLE_LEFT; role < POISE_ROLE_COUNT && same; ++role) {
        int part = role < POISE_ROLE_RIGHT ? role : role - POISE_ROLE_SIDE;
        bool both = pz_plays(a, role) && pz_plays(b, role) && a->has_tip[role] && b->has_tip[role];
        if (part >= POISE_ROLE_THIGH && part <= POISE_ROLE_FOOT) {
            double x = both ? v3_norm(v3_sub(a->tip[role], pz_joint_place(a, role))) : 0.0;
            double y = both ? v3_norm(v3_sub(b->tip[role], pz_joint_place(b, role))) : 1.0;
            same = fabs(w->followed.factor * x - y) <= PROPORTION * b->leg;
        }
    }
    return same;
}

static void read_source(pz_retarget_work *w, int f, source_foot *feet)
{
    const pz_actor *a = &w->from;
    w->hips[f] = poise_kinematics_point(a->kin, a->roles.body[POISE_ROLE_PELVIS], a->hips);
    for (int side = 0; side < 2; ++side) {
        int body = a->roles.body[POISE_ROLE_FOOT + side * POISE_ROLE_SIDE];
        feet[side].ankle[f] = poise_kinematics_point(a->kin, body, a->center[POISE_ROLE_FOOT + side * POISE_ROLE_SIDE]);
        feet[side].toe[f] = poise_kinematics_point(a->kin, body, feet[side].tip);
        if (w->foot[side].body >= 0) {
            w->foot[side].path[f].rotation = pz_followed_turn(&w->followed, feet[side].pair, a->kin);
        }
    }
}

static poise_status read_frames(pz_retarget_work *w, source_foot *feet)
{
    const poise_clip *clip = w->task->clip;
    poise_status status = POISE_OK;
    for (int f = 0; f < clip->frames && status == POISE_OK; ++f) {
        status = poise_kinematics_update(w->from.kin, clip->q + (size_t)f * (size_t)clip->nq, NULL);
        if (status == POISE_OK) {
            read_source(w, f, feet);
        }
    }
    return status;
}

static pz_walk walk_of(const pz_retarget_work *w)
{
    return (pz_walk){w->ground.frames, w->ground.frame_time, w->from.up, w->from.leg};
}

// The lowest place of the ankles.
static double low_ankles(const pz_retarget_work *w, const source_foot *feet)
{
    const pz_actor *a = &w->from;
    if (is_finite(w->task->ground)) {
        pz_foot standing = {.body = POISE_NONE};
        pz_foot_measure(a, 0, NULL, 0, 0.0, &standing);
        return w->task->ground + (standing.body >= 0 ? standing.height : 0.0);
    }
    pz_walk walk = walk_of(w);
    return min2(pz_low_height(&walk, feet[0].ankle), pz_low_height(&walk, feet[1].ankle));
}

// From the source's world to the target's: a floor that drifts becomes level.
static void carry_over(pz_retarget_work *w, const source_foot *feet, double low, const double *floor)
{
    const pz_actor *b = &w->to;
    double s = w->followed.factor;
    bool keeps_height = w->followed.same || w->same_shape;
    w->ground.height = keeps_height ? s * low - w->foot[0].height : 0.0;
    for (int f = 0; f < w->ground.frames; ++f) {
        double lift = keeps_height ? 0.0 : w->foot[0].height - s * floor[f];
        w->hips[f] = v3_mad(quat_rotate(w->followed.world, v3_scale(w->hips[f], s)), lift, b->up);
        for (int side = 0; side < 2; ++side) {
            vec3 ankle = quat_rotate(w->followed.world, v3_scale(feet[side].ankle[f], s));
            poise_pose *pose = &w->foot[side].path[f];
            vec3 center = b->center[POISE_ROLE_FOOT + side * POISE_ROLE_SIDE];
            pose->position = v3_sub(v3_mad(ankle, lift, b->up), quat_rotate(pose->rotation, center));
        }
    }
}

// A root that cannot move: everything happens where it is.
static void stay_in_place(pz_retarget_work *w)
{
    vec3 place = poise_pose_transform(w->to.pose[w->to.roles.body[POISE_ROLE_PELVIS]], w->to.hips);
    for (int f = 0; f < w->ground.frames; ++f) {
        vec3 back = v3_sub(place, w->hips[f]);
        w->hips[f] = place;
        for (int side = 0; side < 2; ++side) {
            w->foot[side].path[f].position = v3_add(w->foot[side].path[f].position, back);
        }
    }
}

// When an end of a foot of the source stays where it is, at whatever height: on a step, a box, in the air.
static void find_rests(pz_retarget_work *w, const poise_vec3 *place, double slow, int bit, unsigned char *rests)
{
    const double dt = w->ground.frame_time;
    int frames = w->ground.frames, around = (int)(0.5 * REST_WINDOW / dt + 0.5), first = -1;
    around = around > 0 ? around : 1;
    for (int f = 0; f <= frames; ++f) {
        bool is_slow = f >= around && f + around < frames;
        if (is_slow) {
            double speed = v3_norm(v3_sub(place[f + around], place[f - around])) / (2 * around * dt);
            is_slow = speed < slow * w->from.leg;
        }
        first = is_slow && first < 0 ? f : first;
        if (!is_slow && first >= 0) {
            for (int k = first; k < f && (f - first) * dt >= LEAST_REST; ++k) {
                rests[k] = (unsigned char)(rests[k] | bit);
            }
            first = -1;
        }
    }
}

static void find_contacts(pz_retarget_work *w, const source_foot *feet, double low, const double *floor, poise_vec3 *scratch,
                          bool plants)
{
    pz_walk walk = walk_of(w);
    for (int side = 0; side < 2; ++side) {
        unsigned char *contact = w->foot[side].contact;
        memset(contact, 0, (size_t)w->ground.frames);
        memset(w->foot[side].rests, 0, (size_t)w->ground.frames);
        for (int end = PZ_HEEL; end <= PZ_TOE; ++end) {
            const poise_vec3 *place = end == PZ_HEEL ? feet[side].ankle : feet[side].toe;
            find_rests(w, place, REST_SPEED, end, w->foot[side].rests);
            find_rests(w, place, SLOW_SPEED, end * PZ_SLOW, w->foot[side].rests);
        }
        double heel = pz_low_height(&walk, feet[side].ankle) - low, toe = pz_low_height(&walk, feet[side].toe) - low;
        pz_contacts_find(&walk, feet[side].ankle, floor, max2(heel, 0.0), PZ_HEEL, contact);
        pz_contacts_find(&walk, feet[side].toe, floor, toe, PZ_TOE, contact);
        if (plants && w->planted && w->foot[side].body >= 0) {
            pz_foot_plant(&w->foot[side], &w->ground, scratch);
        }
    }
}

void pz_retarget_contacts(const pz_retarget_work *w, unsigned char *contacts)
{
    for (int f = 0; f < w->ground.frames && contacts; ++f) {
        int both = w->hips ? w->foot[0].contact[f] | w->foot[1].contact[f] << 2 : 0;
        contacts[f] = (unsigned char)both;
    }
}

poise_status pz_retarget_paths(pz_retarget_work *w, const poise_allocator *allocator, bool plants)
{
    int frames = w->task->clip->frames;
    const pz_actor *a = &w->from;
    source_foot feet[2];
    poise_vec3 *room = pz_allocate(allocator, (size_t)frames * 6 * sizeof *room + 1); // two for planting
    double *floor = pz_allocate(allocator, (size_t)frames * 2 * sizeof *floor + 1);
    if (!room || !floor) {
        pz_release(allocator, floor);
        pz_release(allocator, room);
        return POISE_ERROR_MEMORY;
    }
    for (int side = 0; side < 2; ++side) {
        int role = POISE_ROLE_FOOT + side * POISE_ROLE_SIDE, body = a->roles.body[role];
        feet[side].ankle = room + (size_t)(2 + side) * (size_t)frames;
        feet[side].toe = room + (size_t)(4 + side) * (size_t)frames;
        vec3 tip = a->has_tip[role] ? a->tip[role] : a->pose[body].position;
        feet[side].tip = poise_pose_transform(poise_pose_inverse(a->pose[body]), tip);
        feet[side].pair = pair_of(&w->followed, w->foot[side].body, role);
        w->foot[side].body = feet[side].pair ? w->foot[side].body : POISE_NONE;
    }
    w->same_shape = has_same_shape(w);
    bool is_other = !w->followed.same && !w->same_shape;
    w->in_place = !w->followed.same && !pz_hips_can_move(&w->to);
    w->planted = !w->in_place && (w->task->feet == POISE_FEET_PLANT || (w->task->feet == POISE_FEET_AUTO && is_other));
    poise_status status = read_frames(w, feet);
    if (status == POISE_OK) {
        double low = low_ankles(w, feet);
        const poise_vec3 *const ankles[2] = {feet[0].ankle, feet[1].ankle};
        pz_walk walk = walk_of(w);
        pz_floor_find(&walk, ankles, low, floor + frames, floor);
        carry_over(w, feet, low, floor);
        if (w->in_place) {
            stay_in_place(w);
        }
        find_contacts(w, feet, low, floor, room, plants);
    }
    pz_release(allocator, floor);
    pz_release(allocator, room);
    return status;
}
