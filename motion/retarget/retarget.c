// Retargeting a clip: who plays which role, where hips and feet go, the solve, and a second one where legs do not reach.
//
// The paths of hips and ankles are the source's, in the target's size and on the target's ground:
//
//   p_to = ground_to + A s (p_from - ground_from) + (h_to - s h_from) up
//
// and feet, each in its size from its own hip, are moved apart by +/- 1/2 (b_to - s b_from) l(t): b how far apart the
// joints of the thighs are at rest, l(t) the actor's left, while a foot rests as it landed. Robots have wide hips; with
// the actor's narrow steps their feet would overlap. s is the ratio of the legs, h the height of an ankle above the sole.
// The source's ground lies h_from below the lowest place of its ankles. What bodies turn by is in actor.c, how feet are
// planted in feet.c, what the outcome says in retarget_verdict.c.
//
// A sole that is held in a place is held firmly: where the hip cannot turn the foot out as far as the actor's, or the leg is
// too short for the step, the hips go elsewhere and the trunk turns. Then the clip is solved with loose feet, which shows
// where the legs do reach; the feet are planted there, and the clip is solved again. Where that is so in few frames, as when
// the actor turns above feet that stay and the robot's hips cannot, feet are released in these.
#include <poise/retarget.h>

#include "base/arena.h"
#include "base/error.h"
#include "motion/contacts.h"
#include "motion/pieces.h"
#include "motion/retarget/retarget_work.h"
#include "num/trig.h"

#include <string.h>

enum { LEAST_BODIES = 3 };

#define PROPORTION  1e-6 // bones whose ratio differs by less have the same proportions
#define REST_SPEED  0.05 // leg lengths a second: what is slower does not move,
#define SLOW_SPEED  0.15 // and what is as slow may carry weight
#define REST_WINDOW 0.1  // seconds over which that is measured
#define LEAST_REST  0.15 // seconds: shorter is no rest

#define FAR_HIPS 0.06 // of the leg: hips that are farther off their path, mean over the frames, say that legs do not reach
#define LET_GO   0.1  // seconds before and after a strained frame, in which no foot is planted

#define ON_ITS_SIDE 0.3 // of a unit vector: where less of the pelvis' left is along the ground, the pelvis lies on its side

#define NEAR_CONTACT 0.2 // seconds: farther away a contact changes nothing

bool poise_retarget_velocities(const poise_model *to, double all, double *velocity)
{
    bool has_any = false;
    for (int k = 0; k < poise_model_info(to).joints; ++k) {
        poise_joint_info joint = poise_model_joint_info(to, k);
        bool is_root = joint.nv == 6 && joint.parent == POISE_WORLD;
        double own = joint.given->velocity > 0.0 ? joint.given->velocity : INFINITY;
        for (int i = joint.v; i < joint.v + joint.nv; ++i) {
            velocity[i] = is_root ? INFINITY : min2(own, all);
            has_any = has_any || velocity[i] < INFINITY;
        }
    }
    return has_any;
}

static poise_status check_task(const poise_retarget_task *task, poise_error *error)
{
    if (!task || !task->from || !task->clip || !task->to) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "from, clip and to must not be NULL");
    }
    if (task->clip->nq != poise_model_info(task->from).nq ||
        (task->from_clip && task->from_clip->nq != poise_model_info(task->from).nq) ||
        (task->to_clip && task->to_clip->nq != poise_model_info(task->to).nq)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "a clip must be of its skeleton");
    }
    if (task->hull_count < 0 || (task->hull_count > 0 && !task->hulls) || task->shape_count < 0 ||
        (task->shape_count > 0 && !task->shapes) || task->excluded_count < 0 ||
        (task->excluded_count > 0 && !task->excluded)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "hulls, shapes and excluded pairs must not be NULL where they count");
    }
    for (int i = 0; i < task->hull_count; ++i) {
        const poise_hull *h = &task->hulls[i];
        if (!h->corners || h->corner_count <= 0 || h->body >= poise_model_info(task->to).joints) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT, "hull %d has no corners, or no body of the skeleton", i);
        }
    }
    for (int i = 0; i < poise_model_info(task->to).nv && task->velocity; ++i) {
        if (!(task->velocity[i] > 0)) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT, "velocity[%d] must be > 0", i);
        }
    }
    return POISE_OK;
}

// ---- Roles ---------------------------------------------------------------------------------------------------------------

static void roles_of_map(const poise_role_map *map, bool is_target, pz_roles *roles)
{
    for (int role = 0; role < POISE_ROLE_COUNT; ++role) {
        roles->body[role] = is_target ? map->role[role].to : map->role[role].from;
        roles->confidence[role] = map->role[role].confidence;
    }
}

// A hand whose names do not say which it is follows the only one that moves.
static bool is_other_hand(const pz_roles *from, const pz_roles *to)
{
    int left = POISE_ROLE_INDEX, right = POISE_ROLE_INDEX + POISE_ROLE_SIDE;
    return pz_is_hand(to) && !to->has_side && from->body[right] < 0 && from->body[left] >= 0;
}

static poise_status open_actors(const poise_retarget_task *task, const poise_allocator *allocator, pz_actor *from,
                                pz_actor *to)
{
    pz_roles roles;
    if (task->map) {
        roles_of_map(task->map, false, &roles);
    }
    const poise_clip *shown = task->from_clip ? task->from_clip : task->clip;
    poise_status status = pz_actor_open(task->from, shown, task->from_up, task->map ? &roles : NULL, allocator, from);
    if (task->map) {
        roles_of_map(task->map, true, &roles);
    }
    if (status == POISE_OK) {
        status = pz_actor_open(task->to, task->to_clip, task->to_up, task->map ? &roles : NULL, allocator, to);
    }
    if (status == POISE_OK && !task->map && is_other_hand(&from->roles, &to->roles)) {
        roles = to->roles;
        pz_hand_other_side(&roles);
        pz_actor_close(to, allocator);
        status = pz_actor_open(task->to, task->to_clip, task->to_up, &roles, allocator, to);
    }
    return status;
}

poise_status poise_roles_match(const poise_retarget_task *task, const poise_allocator *allocator, poise_role_map *map,
                               poise_error *error)
{
    poise_status status = check_task(task, error);
    if (status != POISE_OK || !map) {
        return status != POISE_OK ? status : pz_error_set(error, POISE_ERROR_ARGUMENT, "map must not be NULL");
    }
    poise_retarget_task found = *task;
    pz_actor from = {.model = NULL}, to = {.model = NULL};
    found.map = NULL;
    status = open_actors(&found, allocator, &from, &to);
    for (int role = 0; role < POISE_ROLE_COUNT && status == POISE_OK; ++role) {
        int a = from.roles.body[role], b = to.roles.body[role];
        double sure = min2(from.roles.confidence[role], to.roles.confidence[role]);
        map->role[role] = (poise_role_pair){.from = a, .to = b, .confidence = a >= 0 && b >= 0 ? sure : 0.0};
    }
    pz_actor_close(&to, allocator);
    pz_actor_close(&from, allocator);
    return status == POISE_OK ? status : pz_error_set(error, status, "out of memory");
}

// ---- Where hips and feet go ----------------------------------------------------------------------------------------------

// Of a foot of the source, by frame.
typedef struct source_foot {
    poise_vec3 *ankle, *toe;
    poise_vec3 *left; // of the pelvis, along the ground; both feet share it
    double *yaw;      // from left[0] to where this foot is moved apart, about the vertical
    vec3 tip;         // in the foot's frame
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

// The actor's left, of its pelvis, along the ground. While the pelvis lies on its side it is that of the frame before.
static vec3 left_of_pelvis(const pz_actor *a, int f, const poise_vec3 *left)
{
    int pelvis = a->roles.body[POISE_ROLE_PELVIS];
    quat turn = quat_mul(poise_kinematics_body_pose(a->kin, pelvis).rotation, quat_conj(a->pose[pelvis].rotation));
    vec3 l = quat_rotate(turn, a->left);
    l = v3_mad(l, -v3_dot(l, a->up), a->up);
    double length = v3_norm(l);
    return length >= ON_ITS_SIDE ? v3_scale(l, 1.0 / length) : f > 0 ? left[f - 1] : a->left;
}

static void read_source(pz_retarget_work *w, int f, source_foot *feet)
{
    const pz_actor *a = &w->from;
    feet[0].left[f] = left_of_pelvis(a, f, feet[0].left);
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

// How far apart the joints of the thighs are at rest; 0: not known.
static double hips_across(const pz_actor *a)
{
    int left = POISE_ROLE_THIGH, right = left + POISE_ROLE_SIDE;
    bool is_known = a->has_frame && pz_plays(a, left) && pz_plays(a, right);
    return is_known ? v3_dot(a->left, v3_sub(pz_joint_place(a, left), pz_joint_place(a, right))) : 0.0;
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

static void find_all_rests(pz_retarget_work *w, const source_foot *feet)
{
    for (int side = 0; side < 2; ++side) {
        memset(w->foot[side].rests, 0, (size_t)w->ground.frames);
        for (int end = PZ_HEEL; end <= PZ_TOE; ++end) {
            const poise_vec3 *place = end == PZ_HEEL ? feet[side].ankle : feet[side].toe;
            find_rests(w, place, REST_SPEED, end, w->foot[side].rests);
            find_rests(w, place, SLOW_SPEED, end * PZ_SLOW, w->foot[side].rests);
        }
    }
}

// How far the pelvis has turned about the vertical since the first frame, whole turns counted.
static void measure_yaw(const poise_vec3 *left, vec3 up, int frames, double *yaw)
{
    double sum = 0.0;
    for (int f = 0; f < frames; ++f) {
        int last = f > 0 ? f - 1 : 0;
        sum += pz_atan2(v3_dot(up, v3_cross(left[last], left[f])), v3_dot(left[last], left[f]));
        yaw[f] = sum;
    }
}

// Where a foot is moved apart turns with the pelvis, but not while the foot rests, when it would slide: there it is as it
// landed. What it is behind the pelvis when it leaves fades evenly until it lands again.
static void hold_yaw(const unsigned char *rests, int frames, const double *pelvis, double *yaw)
{
    double behind = 0.0;
    for (int first = 0, end; first < frames; first = end) {
        end = first;
        while (end < frames && !rests[end] == !rests[first]) {
            ++end;
        }
        for (int f = first; f < end; ++f) {
            yaw[f] = rests[first] ? pelvis[first] : pelvis[f] - behind * (end - f) / (end - first + 1);
        }
        behind = rests[first] ? pelvis[end - 1] - pelvis[first] : 0.0;
    }
}

// From the source's world to the target's: a floor that drifts becomes level, and each foot is as far from its own hip.
static void transfer_paths(pz_retarget_work *w, const source_foot *feet, double low, const double *floor)
{
    const pz_actor *b = &w->to;
    double s = w->followed.factor;
    bool keeps_height = w->followed.same || w->same_shape;
    double from = hips_across(&w->from), to = hips_across(b);
    double outward = keeps_height || !(from > 0.0 && to > 0.0) ? 0.0 : 0.5 * (to - s * from);
    w->ground.height = keeps_height ? s * low - w->foot[0].height : 0.0;
    for (int f = 0; f < w->ground.frames; ++f) {
        double lift = keeps_height ? 0.0 : w->foot[0].height - s * floor[f];
        w->hips[f] = v3_mad(quat_rotate(w->followed.world, v3_scale(w->hips[f], s)), lift, b->up);
        for (int side = 0; side < 2; ++side) {
            vec3 ankle = quat_rotate(w->followed.world, v3_scale(feet[side].ankle[f], s));
            poise_pose *pose = &w->foot[side].path[f];
            vec3 center = b->center[POISE_ROLE_FOOT + side * POISE_ROLE_SIDE];
            double sine, cosine;
            pz_sincos(feet[side].yaw[f], &sine, &cosine);
            vec3 left = v3_combine(cosine, feet[0].left[0], sine, v3_cross(w->from.up, feet[0].left[0]));
            ankle = v3_mad(ankle, lift, b->up);
            ankle = v3_mad(ankle, side == 0 ? outward : -outward, quat_rotate(w->followed.world, left));
            pose->position = v3_sub(ankle, quat_rotate(pose->rotation, center));
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

static void find_contacts(pz_retarget_work *w, const source_foot *feet, double low, const double *floor, poise_vec3 *scratch,
                          bool plants)
{
    pz_walk walk = walk_of(w);
    for (int side = 0; side < 2; ++side) {
        unsigned char *contact = w->foot[side].contact;
        memset(contact, 0, (size_t)w->ground.frames);
        double heel = pz_low_height(&walk, feet[side].ankle) - low, toe = pz_low_height(&walk, feet[side].toe) - low;
        pz_contacts_find(&walk, feet[side].ankle, floor, max2(heel, 0.0), PZ_HEEL, contact);
        pz_contacts_find(&walk, feet[side].toe, floor, toe, PZ_TOE, contact);
        if (plants && w->planted && w->foot[side].body >= 0) {
            pz_foot_plant(&w->foot[side], &w->ground, scratch);
        }
    }
}

// The contacts of both feet, by frame. `contacts` may be NULL.
static void report_contacts(const pz_retarget_work *w, unsigned char *contacts)
{
    for (int f = 0; f < w->ground.frames && contacts; ++f) {
        int both = w->hips ? w->foot[0].contact[f] | w->foot[1].contact[f] << 2 : 0;
        contacts[f] = (unsigned char)both;
    }
}

// Where hips and feet are to go, by frame, and when feet rest; with `plants` they are planted there.
static poise_status plan_paths(pz_retarget_work *w, const poise_allocator *allocator, bool plants)
{
    int frames = w->task->clip->frames;
    const pz_actor *a = &w->from;
    source_foot feet[2];
    poise_vec3 *room = pz_allocate(allocator, (size_t)frames * 7 * sizeof *room + 1); // two for planting
    double *floor = pz_allocate(allocator, (size_t)frames * 5 * sizeof *floor + 1);   // of them three are yaws
    if (!room || !floor) {
        pz_release(allocator, floor);
        pz_release(allocator, room);
        return POISE_ERROR_MEMORY;
    }
    for (int side = 0; side < 2; ++side) {
        int role = POISE_ROLE_FOOT + side * POISE_ROLE_SIDE, body = a->roles.body[role];
        feet[side].ankle = room + (size_t)(2 + side) * (size_t)frames;
        feet[side].toe = room + (size_t)(4 + side) * (size_t)frames;
        feet[side].left = room + (size_t)6 * (size_t)frames;
        feet[side].yaw = floor + (size_t)(3 + side) * (size_t)frames;
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
        find_all_rests(w, feet);
        double *yaw = floor + (size_t)2 * (size_t)frames;
        measure_yaw(feet[0].left, a->up, frames, yaw);
        for (int side = 0; side < 2; ++side) {
            hold_yaw(w->foot[side].rests, frames, yaw, feet[side].yaw);
        }
        transfer_paths(w, feet, low, floor);
        if (w->in_place) {
            stay_in_place(w);
        }
        find_contacts(w, feet, low, floor, room, plants);
    }
    pz_release(allocator, floor);
    pz_release(allocator, room);
    return status;
}

// ---- The solve, frame by frame -------------------------------------------------------------------------------------------

// Goals, a solve from the last frame's answer, and a second one where that is too fast.

#define HIPS_WEIGHT    10.0 // of square metres of a person
#define ANKLE_WEIGHT   200.0
#define FOOT_WEIGHT    2e4  // of a heel or toe that rests
#define GROUND_WEIGHT  5e4  // of a sole below the ground
#define FLAT           1e-5 // of the leg: a sole tilted by less is flat
#define HIGH           20.0 // legs: up to there a sole is above the ground
#define FOOT_TURN      1.0
#define LOOSE_TURN     0.05  // of feet that are only to show how far they reach,
#define LOOSE_TILT     0.3   // and of their soles, which stay as flat as the actor's
#define UNUSED_POSTURE 1e-3  // pull of the rest pose on joints that nothing moves
#define SPARE_POSTURE  1e-5  // on those of chains with more joints than they need
#define STEADY         0.005 // seconds: by this much hinges lag behind a limb, so that they pass through a gimbal lock
#define PERSON         0.85  // metres: the leg of that person
#define HELD_WEIGHT    1e6   // of joints that are as fast as they may be
#define LATE_BY        0.1   // radians or metres: what is farther behind is late
#define MOST_ROUNDS    4     // in which more such joints are found
#define SAME_ANSWER    1e-7  // an answer that differs by less from an earlier one continues as that did
#define ROUNDING       1e-9  // of the way to an end of such an interval
#define MOST_STEPS     30    // iterations of a frame
#define FIRST_RESTARTS 50    // of the first frame on the same skeleton

// ---- Goals ---------------------------------------------------------------------------------------------------------------

static int add_pairs(pz_retarget_work *w, poise_goal *goals)
{
    int count = 0;
    for (int i = 0; i < w->followed.count; ++i) {
        const pz_pair *p = &w->followed.pair[i];
        bool is_led = p->to == w->foot[0].body || p->to == w->foot[1].body;
        if (!is_led || w->followed.same) {
            goals[count] = poise_goal_orientation(p->to, w->turn[i]);
            goals[count++].weight = p->turn_weight;
        }
        if (p->has_bone) {
            goals[count] = poise_goal_direction(p->to, p->bone, quat_rotate(w->turn[i], p->bone));
            goals[count++].weight = p->bone_weight;
        }
    }
    return count;
}

static bool slides(poise_joint_type type)
{
    return type == POISE_JOINT_PRISMATIC || type == POISE_JOINT_TRANSLATION || type == POISE_JOINT_PLANAR ||
           type == POISE_JOINT_FREE || type == POISE_JOINT_FREE_EXPMAP || type == POISE_JOINT_FREE_EULER ||
           type == POISE_JOINT_CURVE;
}

// Places of the same skeleton: those of bodies that slide.
static int add_places(pz_retarget_work *w, poise_goal *goals)
{
    int count = 0;
    for (int i = 0; i < w->followed.count; ++i) {
        const pz_pair *p = &w->followed.pair[i];
        if (slides(poise_model_joint_info(w->to.model, p->to).type)) {
            goals[count++] =
                poise_goal_position(p->to, v3(0, 0, 0), poise_kinematics_body_pose(w->from.kin, p->from).position);
        }
    }
    return count;
}

// A number along the axis that is up, and one along the others.
static vec3 along_up(const pz_retarget_work *w, double up, double level)
{
    return v3(w->to.axis == 0 ? up : level, w->to.axis == 1 ? up : level, w->to.axis == 2 ? up : level);
}

// How far a heel or toe is above the lowest point of its end; 0: the sole is flat, which makes goals without bands, and
// these are cheap.
static double edge_of(const pz_retarget_work *w, const pz_foot *foot, vec3 point, unsigned char end)
{
    double height = v3_dot(poise_pose_transform(foot->last, point), w->ground.up);
    double edge = height - pz_sole_height(foot, foot->last, w->ground.up, end, NULL);
    return edge > FLAT * w->to.leg && edge < INFINITY ? edge : 0.0;
}

// A heel or toe that rests. An ankle that cannot roll tilts the sole to a side, and round soles roll: the point is then
// above the ground by as much as the lowest of its end of the sole is below it.
static poise_goal held_point(const pz_retarget_work *w, const pz_foot *foot, vec3 point, poise_pose pose, double edge,
                             double weight)
{
    vec3 place = poise_pose_transform(pose, point);
    double above = foot->has_edges ? edge - max2(v3_dot(place, w->ground.up) - w->ground.height, 0.0) : 0.0;
    above = fabs(above) > FLAT * w->to.leg ? above : 0.0;
    poise_goal held = poise_goal_position(foot->body, point, v3_mad(place, 0.5 * above, w->ground.up));
    held.tolerance = along_up(w, 0.5 * fabs(above), 0.0);
    held.weight = weight;
    return held;
}

// The edge of a heel or toe that rests, by its ends; while the other one does, too, by its middle.
static int add_held(const pz_retarget_work *w, const pz_foot *foot, unsigned char end, poise_pose pose, double weight,
                    bool is_level, poise_goal *goals)
{
    vec3 point = end == PZ_HEEL ? foot->heel : foot->toe;
    int ends = foot->has_edges && !is_level ? 2 : 1;
    for (int i = 0; i < ends && weight > 0.0; ++i) {
        vec3 at = ends == 1 ? point : v3_mad(point, i == 0 ? 1.0 : -1.0, foot->across);
        goals[i] = held_point(w, foot, at, pose, edge_of(w, foot, at, end), weight / ends);
    }
    return weight > 0.0 ? ends : 0;
}

// The points of a sole that must not be below the ground.
static int add_sole(const pz_retarget_work *w, const pz_foot *foot, double per_area, poise_goal *goals)
{
    double far = HIGH * w->to.leg;
    for (int i = 0; i < foot->soles; ++i) {
        const pz_sole_point *p = &foot->sole[i];
        goals[i] = poise_goal_position(p->body, p->at, v3_scale(w->ground.up, w->ground.height + p->radius + far));
        goals[i].tolerance = along_up(w, far, INFINITY);
        goals[i].weight = GROUND_WEIGHT * per_area;
    }
    return foot->soles;
}

// One foot: its ankle and turn, heel and toe the more firmly the more they rest, and no corner of the sole below the ground.
static int add_foot(const pz_retarget_work *w, int side, int frame, double per_area, poise_goal *goals)
{
    const pz_foot *foot = &w->foot[side];
    poise_pose pose = foot->path[frame];
    vec3 center = w->to.center[POISE_ROLE_FOOT + side * POISE_ROLE_SIDE];
    int count = 0;
    goals[count] = poise_goal_position(foot->body, center, poise_pose_transform(pose, center));
    goals[count++].weight = ANKLE_WEIGHT * per_area;
    goals[count] = poise_goal_orientation(foot->body, pose.rotation);
    goals[count++].weight = w->loose ? LOOSE_TURN : FOOT_TURN;
    if (w->loose) {
        vec3 sole = quat_rotate(quat_conj(foot->rest), w->ground.up);
        goals[count] = poise_goal_direction(foot->body, sole, quat_rotate(pose.rotation, sole));
        goals[count++].weight = LOOSE_TILT;
    }
    if (w->planted && !w->loose) {
        double heel = pz_foot_firmness(foot, &w->ground, PZ_HEEL, frame);
        double toe = pz_foot_firmness(foot, &w->ground, PZ_TOE, frame), most = FOOT_WEIGHT * per_area;
        bool is_level = heel == 1.0 && toe == 1.0;
        count += add_held(w, foot, PZ_HEEL, pose, most * heel * heel * heel * heel, is_level, goals + count);
        count += add_held(w, foot, PZ_TOE, pose, most * toe * toe * toe * toe, is_level, goals + count);
        count += add_sole(w, foot, per_area, goals + count);
    }
    return count;
}

static int add_legs(pz_retarget_work *w, int frame, poise_goal *goals)
{
    int count = 0;
    double unit = w->to.leg / PERSON, per_area = 1.0 / (unit * unit);
    goals[count] = poise_goal_position(w->to.roles.body[POISE_ROLE_PELVIS], w->to.hips, w->hips[frame]);
    goals[count++].weight = HIPS_WEIGHT * per_area;
    for (int side = 0; side < 2; ++side) {
        count += w->foot[side].body >= 0 ? add_foot(w, side, frame, per_area, goals + count) : 0;
    }
    return count;
}

// `before` is the answer of the last frame.
static int make_goals(pz_retarget_work *w, int frame, const double *before)
{
    int count = add_pairs(w, w->goals);
    if (w->followed.same) {
        count += add_places(w, w->goals + count);
    } else if (w->hips) {
        count += add_legs(w, frame, w->goals + count);
    }
    w->goals[count] = poise_goal_posture(w->to.rest, 1.0);
    w->goals[count++].q_weights = w->posture;
    if (frame > 0 && !w->followed.same && !w->same_shape) {
        w->goals[count] = poise_goal_smoothness(before, NULL, 1.0);
        w->goals[count++].q_weights = w->steady;
    }
    return count;
}

// ---- Joints that nothing moves -------------------------------------------------------------------------------------------

// Weights of the rest pose, and slides below the pelvis that stay.
static void find_posture(pz_retarget_work *w)
{
    const poise_model *model = w->to.model;
    poise_model_summary info = poise_model_info(model);
    for (int i = 0; i < info.nv; ++i) {
        w->posture[i] = w->followed.same ? 0.0 : UNUSED_POSTURE;
        w->steady[i] = 0.0;
        w->locked[i] = false;
    }
    for (int k = 0; k < info.joints; ++k) {
        poise_joint_info joint = poise_model_joint_info(model, k);
        if (joint.type == POISE_JOINT_REVOLUTE && joint.nv == 1) {
            w->steady[joint.v] = STEADY / w->ground.frame_time;
        }
    }
    for (int i = 0; i < w->followed.count && !w->followed.same; ++i) {
        int freedom = 0;
        for (int pass = 0; pass < 2; ++pass) { // count, then set
            bool is_end = false;
            for (int k = w->followed.pair[i].to; k >= 0 && !is_end;) {
                poise_joint_info joint = poise_model_joint_info(model, k);
                freedom += pass == 0 ? joint.nv : 0;
                for (int v = 0; v < joint.nv && pass == 1; ++v) {
                    w->posture[joint.v + v] = freedom > 6 || (freedom > 3 && joint.parent >= 0) ? SPARE_POSTURE : 0.0;
                }
                k = joint.parent;
                for (int j = 0; j < w->followed.count && k >= 0; ++j) {
                    is_end = is_end || w->followed.pair[j].to == k;
                }
            }
        }
    }
    int pelvis = w->to.roles.body[POISE_ROLE_PELVIS];
    for (int k = 0; k < info.joints && !w->followed.same; ++k) {
        poise_joint_info joint = poise_model_joint_info(model, k);
        bool leads = joint.parent < 0 || (pelvis >= 0 && pz_is_below(model, k, pelvis));
        int sliding = joint.type == POISE_JOINT_PRISMATIC                     ? 1
                      : slides(joint.type) && joint.type != POISE_JOINT_CURVE ? least(joint.nv, 3)
                                                                              : 0;
        for (int v = 0; v < sliding && !leads; ++v) {
            w->locked[joint.v + v] = true;
        }
    }
}

// ---- One frame -----------------------------------------------------------------------------------------------------------

// The largest share of a velocity limit on the way from one frame to the next, which w->v has.
static double speed_share(pz_retarget_work *w, const double *before, const double *q)
{
    double share = 0.0, dt = w->ground.frame_time;
    if (!w->velocity || poise_difference(w->to.model, before, q, w->v, NULL) != POISE_OK) {
        return 0.0;
    }
    for (int i = 0; i < poise_model_info(w->to.model).nv; ++i) {
        share = max2(share, fabs(w->v[i]) / (w->velocity[i] * dt));
    }
    return share;
}

// A frame that is too fast, with w->v as long as it would need it: is a joint left behind, and which one the farthest?
static bool is_late(const pz_retarget_work *w, poise_retarget_outcome *outcome)
{
    double most = 0.0;
    for (int k = 0; k < poise_model_info(w->to.model).joints; ++k) {
        poise_joint_info joint = poise_model_joint_info(w->to.model, k);
        for (int i = joint.v; i < joint.v + joint.nv; ++i) {
            double behind = fabs(w->v[i]) - w->velocity[i] * w->ground.frame_time;
            most = max2(most, behind);
            if (behind > outcome->late_worst) {
                outcome->late_worst = behind;
                outcome->late_joint = k;
            }
        }
    }
    return most > LATE_BY;
}

// Cut w->v to the velocities, and with `holds` give the joints that were too fast the weight that holds them.
static void cut_velocities(pz_retarget_work *w, bool holds)
{
    for (int k = 0; k < poise_model_info(w->to.model).joints; ++k) {
        poise_joint_info joint = poise_model_joint_info(w->to.model, k);
        bool is_fast = false;
        for (int i = joint.v; i < joint.v + joint.nv; ++i) {
            double most = w->velocity[i] * w->ground.frame_time;
            is_fast = is_fast || fabs(w->v[i]) > most;
            w->v[i] = clamp(w->v[i], -most, most);
        }
        for (int i = joint.v; i < joint.v + joint.nv && is_fast && holds; ++i) {
            w->held[i] = HELD_WEIGHT;
        }
    }
}

// What is within reach of `before` in a frame, as an interval of each coordinate that is a degree of freedom of its own.
static poise_status narrow(const pz_retarget_work *w, poise_solver *solver, const double *before, poise_error *error)
{
    const poise_model *model = w->to.model;
    for (int i = 0; i < poise_model_info(model).nq; ++i) {
        w->lower[i] = -INFINITY;
        w->upper[i] = INFINITY;
    }
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        pz_piece piece[PZ_MOST_PIECES];
        for (int p = pz_pieces_of(model, k, piece) - 1; p >= 0; --p) {
            for (int i = 0; i < piece[p].nv && piece[p].kind != PZ_PIECE_QUATERNION; ++i) {
                double reach = (1.0 - ROUNDING) * w->velocity[piece[p].v + i] * w->ground.frame_time;
                w->lower[piece[p].q + i] = before[piece[p].q + i] - reach;
                w->upper[piece[p].q + i] = before[piece[p].q + i] + reach;
            }
        }
    }
    return poise_solver_narrow(solver, w->lower, w->upper, error);
}

// A frame that is too fast, with hinges and slides kept within what they may go: the others make up for it.
static poise_status solve_within_velocity(pz_retarget_work *w, poise_solver *solver, int count, const double *before,
                                          double *q, poise_error *error)
{
    memcpy(q, before, (size_t)poise_model_info(w->to.model).nq * sizeof *q);
    poise_status status = narrow(w, solver, before, error);
    status = status == POISE_OK ? poise_solve(solver, w->goals, count, q, NULL, error) : status;
    poise_solver_narrow(solver, NULL, NULL, NULL);
    return status;
}

// Joints of which the solver keeps no intervals, such as balls, are held where they may go to; the others make up for it.
static poise_status hold_fast_joints(pz_retarget_work *w, poise_solver *solver, int count, const double *before, double *q,
                                     poise_error *error)
{
    poise_model_summary info = poise_model_info(w->to.model);
    poise_status status = POISE_OK;
    memset(w->held, 0, (size_t)info.nv * sizeof *w->held);
    w->goals[count] = poise_goal_posture(w->slow, 1.0);
    w->goals[count].q_weights = w->held;
    for (int round = 0; round < MOST_ROUNDS && status == POISE_OK && speed_share(w, before, q) > 1.0; ++round) {
        cut_velocities(w, true);
        status = poise_retract(w->to.model, before, w->v, w->slow, error);
        memcpy(q, w->slow, (size_t)info.nq * sizeof *q);
        status = status == POISE_OK ? poise_solve(solver, w->goals, count + 1, q, NULL, error) : status;
    }
    if (status == POISE_OK && speed_share(w, before, q) > 1.0) {
        cut_velocities(w, false);
        status = poise_retract(w->to.model, before, w->v, q, error);
        if (w->task->use_limits) { // rounding
            poise_model_clamp(w->to.model, q, NULL, NULL);
        }
    }
    return status;
}

// The first frame: the root alone, then everything.
static poise_status place_root(pz_retarget_work *w, poise_solver *solver, double *q, poise_error *error)
{
    int pelvis = w->to.roles.body[POISE_ROLE_PELVIS];
    memcpy(q, w->to.rest, (size_t)poise_model_info(w->to.model).nq * sizeof *q);
    for (int i = 0; i < w->followed.count; ++i) {
        if (w->hips && w->followed.pair[i].to == pelvis && !w->followed.same) {
            poise_pose local = {.rotation = {0, 0, 0, 1}, .position = w->to.hips};
            poise_pose target = {.rotation = w->turn[i], .position = w->hips[0]};
            poise_goal alone[2] = {poise_goal_pose(pelvis, local, target), poise_goal_posture(w->to.rest, UNUSED_POSTURE)};
            return poise_solve(solver, alone, 2, q, NULL, error);
        }
    }
    return POISE_OK;
}

// The first frame without what holds feet, which is so stiff that a leg may fold the wrong way.
static poise_status solve_with_loose_feet(pz_retarget_work *w, poise_solver *solver, double *q, poise_error *error)
{
    bool was_loose = w->loose;
    if (w->loose || !w->planted || !w->hips || w->followed.same) {
        return POISE_OK;
    }
    w->loose = true;
    int count = make_goals(w, 0, q);
    w->loose = was_loose;
    return poise_solve(solver, w->goals, count, q, NULL, error);
}

// Have two models the same coordinates?
static bool has_same_numbers(const poise_model *a, const poise_model *b)
{
    bool same = poise_model_info(a).joints == poise_model_info(b).joints;
    for (int k = 0; k < poise_model_info(b).joints && same; ++k) {
        poise_joint_info x = poise_model_joint_info(a, k), y = poise_model_joint_info(b, k);
        same = x.type == y.type && x.q == y.q && x.nq == y.nq && x.given->order == y.given->order &&
               v3_norm(v3_sub(x.given->axis, y.given->axis)) == 0;
    }
    return same;
}

// Would a frame come out as it did before? Its goals are the same, and so is the frame before, but for what its velocities
// may not exceed.
static bool comes_out_as_before(pz_retarget_work *w, int f, const double *before, size_t nq)
{
    double most = 0.0;
    for (size_t i = 0; i < nq && f > 0 && w->old; ++i) {
        most = max2(most, fabs(before[i] - w->old[(size_t)(f - 1) * nq + i]));
    }
    return w->old && !w->changed[f] && most <= SAME_ANSWER &&
           (f == 0 || speed_share(w, before, w->old + (size_t)f * nq) <= 1.0);
}

// `first`: a solver for the first frame; NULL: the same one.
static poise_status solve_frame(pz_retarget_work *w, poise_solver *solver, poise_solver *first, int f, poise_clip *clip,
                                bool copies, poise_retarget_outcome *outcome, poise_error *error)
{
    size_t nq = (size_t)clip->nq;
    double *q = clip->q + (size_t)f * nq;
    const double *before = q - nq;
    poise_report report = {.iterations = 0};
    poise_status status = POISE_OK;
    if (comes_out_as_before(w, f, before, nq)) {
        memcpy(q, w->old + (size_t)f * nq, nq * sizeof *q);
        return POISE_OK;
    }
    int count = 0;
    w->late[f] = false;
    if (copies) {
        memcpy(q, w->task->clip->q + (size_t)f * nq, nq * sizeof *q);
    } else if (f > 0) {
        memcpy(q, before, nq * sizeof *q);
    } else {
        status = place_root(w, solver, q, error);
        status = status == POISE_OK ? solve_with_loose_feet(w, solver, q, error) : status;
    }
    count = make_goals(w, f, before);
    status = status == POISE_OK ? poise_solve(f == 0 && first ? first : solver, w->goals, count, q, &report, error) : status;
    if (status == POISE_OK && f > 0 && speed_share(w, before, q) > 1.0) {
        w->late[f] = is_late(w, outcome);
        status = solve_within_velocity(w, solver, count, before, q, error);
        status = status == POISE_OK ? hold_fast_joints(w, solver, count, before, q, error) : status;
    }
    outcome->iterations += report.iterations;
    return status;
}

// What a frame says of limits.
static void measure_limits(pz_retarget_work *w, int f, const poise_clip *clip, poise_retarget_outcome *outcome)
{
    const double *q = clip->q + (size_t)f * (size_t)clip->nq;
    outcome->velocity = f > 0 ? max2(outcome->velocity, speed_share(w, q - clip->nq, q)) : 0.0;
    outcome->outside += w->task->use_limits && !poise_model_within_limits(w->to.model, q);
    outcome->late += w->late[f];
}

// Solve all frames into `clip`, and measure.
static poise_status solve_clip(pz_retarget_work *w, const poise_allocator *allocator, poise_clip *clip,
                               poise_retarget_outcome *outcome, poise_error *error)
{
    poise_solver_options options = poise_solver_options_default();
    poise_solver *solver = NULL, *first = NULL;
    bool copies = w->followed.same && has_same_numbers(w->from.model, w->to.model);
    find_posture(w);
    w->stumbles = 0;
    w->led[0] = w->led[1] = 0.0;
    for (int side = 0; side < 2; ++side) {
        w->foot[side].held = 0;
        w->foot[side].last.rotation = w->foot[side].rest;
    }
    for (int i = 0; i < w->followed.count; ++i) {
        w->followed.pair[i].bone_off = 0.0;
    }
    options.use_limits = w->task->use_limits;
    options.locked = w->locked;
    options.gradient_tolerance = w->loose ? 1e-3 : w->planted ? 1e-6 : 1e-8;
    options.max_iterations = MOST_STEPS;
    poise_status status = poise_solver_create(w->to.model, &options, allocator, &solver, error);
    if (status == POISE_OK && w->followed.same && !copies) {
        options.restarts = FIRST_RESTARTS; // every pose of the same skeleton can be met, but not from everywhere
        status = poise_solver_create(w->to.model, &options, allocator, &first, error);
    }
    for (int f = 0; f < clip->frames && status == POISE_OK; ++f) {
        const poise_clip *source = w->task->clip;
        status = poise_kinematics_update(w->from.kin, source->q + (size_t)f * (size_t)source->nq, error);
        for (int i = 0; i < w->followed.count && status == POISE_OK; ++i) {
            w->turn[w->followed.count + i] = w->turn[i];
            w->turn[i] = pz_followed_turn(&w->followed, &w->followed.pair[i], w->from.kin);
        }
        status = status == POISE_OK ? solve_frame(w, solver, first, f, clip, copies, outcome, error) : status;
        if (status == POISE_OK) {
            status = poise_kinematics_update(w->to.kin, clip->q + (size_t)f * (size_t)clip->nq, error);
            measure_limits(w, f, clip, outcome);
            pz_retarget_measure(w, f, outcome);
        }
        for (int side = 0; side < 2 && w->loose && status == POISE_OK; ++side) {
            w->foot[side].path[f] = w->foot[side].last;
        }
    }
    if (status == POISE_OK) {
        pz_retarget_measured(w, outcome);
    }
    poise_solver_destroy(first);
    poise_solver_destroy(solver);
    return status;
}

// ---- Feet that legs do not reach -----------------------------------------------------------------------------------------

static bool is_out_of_reach(const pz_retarget_work *w, const poise_retarget_outcome *o)
{
    return w->hips && w->planted && (o->hips_mean > FAR_HIPS * w->to.leg || w->stumbles > 0);
}

// A jump weighs as much as a hip that is off by a hundredth of the leg in every frame, and the frame in which it is farthest
// off as much as ten.
static double badness(const pz_retarget_work *w, const poise_retarget_outcome *o)
{
    double frames = w->ground.frames;
    return (o->hips_mean + 10.0 / (frames + 10.0) * o->hips_worst) / w->to.leg + 0.01 * o->jumps;
}

static poise_status plant_where_reached(pz_retarget_work *w, const poise_allocator *allocator)
{
    poise_vec3 *scratch = pz_allocate(allocator, 2 * (size_t)w->ground.frames * sizeof *scratch + 1);
    for (int side = 0; side < 2 && scratch; ++side) {
        if (w->foot[side].body >= 0) {
            pz_foot_plant(&w->foot[side], &w->ground, scratch);
        }
    }
    pz_release(allocator, scratch);
    return scratch ? POISE_OK : POISE_ERROR_MEMORY;
}

// Where the feet go, planted where the actor's are or, with `loosely`, where legs reach.
static poise_status plan(pz_retarget_work *w, const poise_allocator *allocator, poise_clip *clip, bool loosely,
                         poise_retarget_outcome *loose, poise_error *error)
{
    poise_status status = plan_paths(w, allocator, !loosely);
    if (status != POISE_OK || !loosely) {
        return status;
    }
    w->loose = true;
    status = solve_clip(w, allocator, clip, loose, error);
    w->loose = false;
    return status == POISE_OK ? plant_where_reached(w, allocator) : status;
}

// The best so far.
typedef struct best {
    poise_retarget_outcome outcome;
    bool loosely;
    double *q;              // of the clip
    size_t bytes;           // of q
    unsigned char *contact; // of both feet, by frame
    poise_pose *path;       // of both feet, likewise
    bool *strained;         // by frame
} best;

static bool open_best(const poise_clip *clip, const poise_allocator *allocator, best *b)
{
    size_t frames = (size_t)clip->frames;
    b->bytes = frames * (size_t)clip->nq * sizeof *clip->q;
    b->q = pz_allocate(allocator, b->bytes + 1);
    b->contact = pz_allocate(allocator, 2 * frames + 1);
    b->path = pz_allocate(allocator, (2 * frames + 1) * sizeof *b->path);
    b->strained = pz_allocate(allocator, (frames + 1) * sizeof *b->strained);
    return b->q && b->contact && b->path && b->strained;
}

static void close_best(const poise_allocator *allocator, best *b)
{
    pz_release(allocator, b->strained);
    pz_release(allocator, b->path);
    pz_release(allocator, b->contact);
    pz_release(allocator, b->q);
}

static void keep(const pz_retarget_work *w, const poise_clip *clip, best *b)
{
    size_t frames = (size_t)w->ground.frames;
    memcpy(b->q, clip->q, b->bytes);
    for (size_t side = 0; side < 2; ++side) {
        memcpy(b->contact + side * frames, w->foot[side].contact, frames);
        memcpy(b->path + side * frames, w->foot[side].path, frames * sizeof *b->path);
    }
    memcpy(b->strained, w->strained, frames * sizeof *b->strained);
}

static void bring_back(pz_retarget_work *w, poise_clip *clip, const best *b)
{
    size_t frames = (size_t)w->ground.frames;
    memcpy(clip->q, b->q, b->bytes);
    memcpy(w->foot[0].contact, b->contact, frames);
    memcpy(w->foot[1].contact, b->contact + frames, frames);
}

// Frames in which a foot is to go elsewhere than in the best, or near to such a contact.
static void find_changes(pz_retarget_work *w, const best *b)
{
    int frames = w->ground.frames, around = (int)(NEAR_CONTACT / w->ground.frame_time) + 1, until = -1;
    for (int f = 0; f < frames + around; ++f) {
        for (int side = 0; side < 2 && f < frames; ++side) {
            const poise_pose *was = &b->path[side * frames + f], *is = &w->foot[side].path[f];
            bool differs = b->contact[side * frames + f] != w->foot[side].contact[f] || memcmp(was, is, sizeof *is) != 0;
            until = differs ? f + 2 * around : until;
        }
        if (f >= around) {
            w->changed[f - around] = f <= until;
        }
    }
}

// The clip again, planned otherwise; it is kept where it is better. Frames that come out as before are not solved.
static poise_status try_again(pz_retarget_work *w, const poise_allocator *allocator, poise_clip *clip, bool loosely,
                              const poise_retarget_outcome *blank, best *b, poise_error *error)
{
    poise_retarget_outcome loose = *blank, now = *blank;
    poise_status status = plan(w, allocator, clip, loosely, &loose, error);
    find_changes(w, b);
    w->old = loosely ? NULL : b->q; // a loose plan changes them all
    now.late_worst = loosely ? 0.0 : b->outcome.late_worst;
    now.late_joint = loosely ? POISE_NONE : b->outcome.late_joint;
    status = status == POISE_OK ? solve_clip(w, allocator, clip, &now, error) : status;
    w->old = NULL;
    int iterations = b->outcome.iterations + loose.iterations + now.iterations;
    if (status == POISE_OK && badness(w, &now) < badness(w, &b->outcome)) {
        b->outcome = now;
        b->loosely = loosely;
        keep(w, clip, b);
    }
    b->outcome.iterations = iterations;
    return status;
}

// Let feet go in the frames that are strained, and a little before and after. Returns how many that are.
static int release_strained(pz_retarget_work *w, const bool *strained)
{
    int around = (int)(LET_GO / w->ground.frame_time) + 1, frames = w->ground.frames, count = 0, until = -1;
    for (int f = 0; f < frames + around; ++f) {
        until = f < frames && strained[f] ? f + 2 * around : until;
        if (f >= around) {
            w->ground.released[f - around] = f <= until;
            count += f <= until;
        }
    }
    return count;
}

// Solve, and where legs do not reach the places of their feet solve again with feet planted where they do. `outcome` comes
// in as it is before any frame is measured.
static poise_status solve_in_reach(pz_retarget_work *w, const poise_allocator *allocator, poise_clip *clip,
                                   poise_retarget_outcome *outcome, poise_error *error)
{
    poise_retarget_outcome blank = *outcome;
    poise_status status = solve_clip(w, allocator, clip, outcome, error);
    bool is_strained = w->hips && w->planted && release_strained(w, w->strained) > 0;
    if (status != POISE_OK || !(is_out_of_reach(w, outcome) || is_strained)) {
        return status;
    }
    best b = {.outcome = *outcome};
    status = open_best(clip, allocator, &b) ? POISE_OK : POISE_ERROR_MEMORY;
    if (status == POISE_OK) {
        keep(w, clip, &b);
        memset(w->ground.released, 0, (size_t)w->ground.frames * sizeof *w->ground.released);
    }
    if (status == POISE_OK && is_out_of_reach(w, outcome)) {
        status = try_again(w, allocator, clip, true, &blank, &b, error);
    }
    if (status == POISE_OK && (blank.released = release_strained(w, b.strained)) > 0) {
        status = try_again(w, allocator, clip, b.loosely, &blank, &b, error);
    }
    if (status == POISE_OK) {
        bring_back(w, clip, &b);
        *outcome = b.outcome;
    }
    close_best(allocator, &b);
    return status;
}

// ---- The call ------------------------------------------------------------------------------------------------------------

// How many corners the hulls have, and how many hulls have to be made of shapes.
static size_t corners_of(const poise_retarget_task *task)
{
    size_t sum = task->hull_count > 0 ? 0 : POISE_HULL_OF_SHAPE * (size_t)task->shape_count;
    for (int i = 0; i < task->hull_count; ++i) {
        sum += (size_t)task->hulls[i].corner_count;
    }
    return sum;
}

static size_t hull_room(const poise_retarget_task *task)
{
    return task->hull_count > 0 ? 0 : (size_t)task->shape_count;
}

static void take_hulls(pz_retarget_work *w, poise_hull *hulls, poise_vec3 *places)
{
    const poise_retarget_task *task = w->task;
    w->hulls = task->hulls, w->hull_count = task->hull_count;
    for (int i = 0; i < task->shape_count && task->hull_count == 0; ++i) {
        poise_vec3 *corners = places + (size_t)w->hull_count * POISE_HULL_OF_SHAPE;
        bool is_hull = poise_hull_of_shape(&task->shapes[i], corners, &hulls[w->hull_count], NULL) == POISE_OK;
        w->hull_count += is_hull;
        w->hulls = hulls;
    }
    for (int i = 0; i < w->hull_count; ++i) {
        const poise_hull *h = &w->hulls[i];
        w->reach[i] = h->radius;
        for (int k = 0; k < h->corner_count; ++k) {
            w->reach[i] = max2(w->reach[i], v3_norm(v3_sub(h->corners[k], h->corners[0])) + h->radius);
        }
    }
}

// All memory of a call, in one piece.
static poise_status take_memory(pz_retarget_work *w, const poise_allocator *allocator, void **memory)
{
    poise_model_summary to = poise_model_info(w->to.model);
    size_t frames = (size_t)w->task->clip->frames, nv = (size_t)to.nv, bodies = (size_t)to.joints;
    size_t corners = corners_of(w->task), own = hull_room(w->task), bytes = 0;
    poise_hull *hulls = NULL;
    poise_vec3 *places = NULL;
    for (int pass = 0; pass < 2; ++pass) {
        pz_arena arena = pass == 0 ? pz_arena_counting() : pz_arena_over(*memory, bytes);
        w->followed.pair = pz_arena_take(&arena, bodies + 1, sizeof *w->followed.pair);
        w->turn = pz_arena_take(&arena, 2 * bodies + 2, sizeof *w->turn);
        w->turned = pz_arena_take(&arena, bodies + 1, sizeof *w->turned);
        w->goals = pz_arena_take(&arena, 3 * bodies + 20 + 2 * PZ_SOLE_MOST, sizeof *w->goals);
        w->posture = pz_arena_take(&arena, nv + 1, sizeof *w->posture);
        w->steady = pz_arena_take(&arena, nv + 1, sizeof *w->steady);
        w->velocity = pz_arena_take(&arena, nv + 1, sizeof *w->velocity);
        w->v = pz_arena_take(&arena, nv + 1, sizeof *w->v);
        w->held = pz_arena_take(&arena, nv + 1, sizeof *w->held);
        w->slow = pz_arena_take(&arena, (size_t)to.nq + 1, sizeof *w->slow);
        w->lower = pz_arena_take(&arena, (size_t)to.nq + 1, sizeof *w->lower);
        w->upper = pz_arena_take(&arena, (size_t)to.nq + 1, sizeof *w->upper);
        w->locked = pz_arena_take(&arena, nv + 1, sizeof *w->locked);
        w->hips = pz_arena_take(&arena, frames + 1, sizeof *w->hips);
        w->strained = pz_arena_take(&arena, frames + 1, sizeof *w->strained);
        w->ground.released = pz_arena_take(&arena, frames + 1, sizeof *w->ground.released);
        w->late = pz_arena_take(&arena, frames + 1, sizeof *w->late);
        w->changed = pz_arena_take(&arena, frames + 1, sizeof *w->changed);
        for (int side = 0; side < 2; ++side) {
            w->foot[side].path = pz_arena_take(&arena, frames + 1, sizeof *w->foot[side].path);
            w->foot[side].contact = pz_arena_take(&arena, frames + 1, sizeof *w->foot[side].contact);
            w->foot[side].flat = pz_arena_take(&arena, frames + 1, sizeof *w->foot[side].flat);
            w->foot[side].rests = pz_arena_take(&arena, frames + 1, sizeof *w->foot[side].rests);
            w->foot[side].corner = pz_arena_take(&arena, corners + 1, sizeof *w->foot[side].corner);
        }
        hulls = pz_arena_take(&arena, own + 1, sizeof *hulls);
        places = pz_arena_take(&arena, own * POISE_HULL_OF_SHAPE + 1, sizeof *places);
        w->reach = pz_arena_take(&arena, own + (size_t)w->task->hull_count + 1, sizeof *w->reach);
        bytes = pz_arena_bytes(&arena);
        if (pass == 0 && !(*memory = pz_allocate(allocator, bytes))) {
            return POISE_ERROR_MEMORY;
        }
    }
    take_hulls(w, hulls, places);
    for (int side = 0; side < 2; ++side) {
        memset(w->foot[side].rests, 0, frames + 1);
        memset(w->foot[side].contact, 0, frames + 1);
        memset(w->foot[side].flat, 0, (frames + 1) * sizeof *w->foot[side].flat);
    }
    memset(w->ground.released, 0, (frames + 1) * sizeof *w->ground.released);
    return POISE_OK;
}

static bool has_legs(const pz_actor *a)
{
    return a->leg > 0 && pz_plays(a, POISE_ROLE_PELVIS) && a->has_frame;
}

static poise_status prepare(pz_retarget_work *w, const poise_allocator *allocator, poise_error *error)
{
    const poise_retarget_task *task = w->task;
    pz_followed_find(&w->from, &w->to, task->feet != POISE_FEET_PLANT, &w->followed);
    if (!w->followed.same && w->followed.count < LEAST_BODIES) {
        return pz_error_set(error, POISE_ERROR_NOT_FOUND,
                            "the skeletons have %d parts in common, by name or by the map, but %d are needed; assign "
                            "bodies to roles in a map (--write-map, --map)",
                            w->followed.count, LEAST_BODIES);
    }
    w->ground = (pz_ground){.up = w->to.up,
                            .leg = w->to.leg,
                            .frames = task->clip->frames,
                            .frame_time = task->clip->frame_time,
                            .released = w->ground.released};
    for (int i = 0; i < poise_model_info(w->to.model).nv && task->velocity; ++i) {
        w->velocity[i] = task->velocity[i] * (1.0 - 1e-9);
    }
    w->velocity = task->velocity ? w->velocity : NULL;
    for (int side = 0; side < 2; ++side) {
        pz_foot_measure(&w->to, side * POISE_ROLE_SIDE, w->hulls, w->hull_count, task->sole, &w->foot[side]);
    }
    if (has_legs(&w->from) && has_legs(&w->to)) {
        poise_status status = plan_paths(w, allocator, true);
        for (int f = 0; f < 2 * task->clip->frames && w->planted; ++f) {
            pz_foot *foot = &w->foot[f % 2];
            foot->flat[f / 2] = foot->contact[f / 2] == (PZ_HEEL | PZ_TOE);
        }
        return status == POISE_OK ? status : pz_error_set(error, status, "a frame is not finite, or out of memory");
    }
    w->hips = NULL;
    w->foot[0].body = w->foot[1].body = POISE_NONE;
    return POISE_OK;
}

static poise_status run(pz_retarget_work *w, const poise_allocator *allocator, unsigned char *contacts, poise_clip **made,
                        poise_retarget_outcome *o, poise_error *error)
{
    void *memory = NULL;
    poise_status status = take_memory(w, allocator, &memory);
    if (status != POISE_OK) {
        return pz_error_set(error, status, "out of memory");
    }
    const poise_clip *source = w->task->clip;
    status = prepare(w, allocator, error);
    if (status == POISE_OK) {
        status =
            poise_clip_create(source->frames, poise_model_info(w->to.model).nq, source->frame_time, allocator, made, error);
    }
    if (status == POISE_OK) {
        *o = (poise_retarget_outcome){.roles = w->followed.roles,
                                      .bodies = w->followed.count,
                                      .factor = w->followed.factor,
                                      .leg = w->hips ? w->to.leg : 0.0,
                                      .same = w->followed.same || (w->hips && w->same_shape),
                                      .planted = w->hips && w->planted,
                                      .in_place = w->hips && w->in_place,
                                      .from_up = (poise_up)(POISE_UP_X + w->from.axis),
                                      .to_up = (poise_up)(POISE_UP_X + w->to.axis),
                                      .axes = w->followed.world,
                                      .from_stands = w->from.is_standing,
                                      .to_stands = w->to.is_standing,
                                      .from_reversed = w->from.is_reversed,
                                      .to_reversed = w->to.is_reversed,
                                      .ground = w->ground.height,
                                      .soles_guessed = w->hips && (w->foot[0].is_guessed || w->foot[1].is_guessed),
                                      .late_joint = POISE_NONE,
                                      .jump_body = POISE_NONE,
                                      .buried_body = POISE_NONE,
                                      .bone_role = POISE_NONE,
                                      .limb_role = POISE_NONE,
                                      .aside_role = POISE_NONE,
                                      .fast_joint = POISE_NONE,
                                      .abrupt_joint = POISE_NONE,
                                      .loose_role = POISE_NONE,
                                      .scuff_role = POISE_NONE,
                                      .bare_body = POISE_NONE,
                                      .seconds_of_clip = source->frames * source->frame_time};
        (*made)->start_time = source->start_time;
        status = solve_in_reach(w, allocator, *made, o, error);
        report_contacts(w, contacts);
        status = status == POISE_OK ? pz_retarget_check(w, allocator, *made, o, error) : status;
        if (status != POISE_OK) {
            poise_clip_destroy(*made);
        }
    }
    pz_release(allocator, memory);
    return status;
}

poise_status poise_retarget(const poise_retarget_task *task, const poise_allocator *allocator, poise_clip **clip,
                            unsigned char *contacts, poise_retarget_outcome *outcome, poise_error *error)
{
    poise_status status = check_task(task, error);
    if (status != POISE_OK || !clip) {
        return status != POISE_OK ? status : pz_error_set(error, POISE_ERROR_ARGUMENT, "clip must not be NULL");
    }
    pz_retarget_work w = {.task = task};
    poise_retarget_outcome measured = {.roles = 0};
    poise_clip *made = NULL;
    status = open_actors(task, allocator, &w.from, &w.to);
    status = status == POISE_OK ? run(&w, allocator, contacts, &made, &measured, error)
                                : pz_error_set(error, status, "out of memory, or a pose is not finite");
    if (status == POISE_OK) {
        *clip = made;
        if (outcome) {
            *outcome = measured;
        }
    }
    pz_actor_close(&w.to, allocator);
    pz_actor_close(&w.from, allocator);
    return status;
}
