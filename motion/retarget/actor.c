// A skeleton as retargeting sees it.
//
// The rest pose is the neutral configuration where a figure stands in it: trunk up, legs down. Some files have none (bones
// all along one axis); then it is the frame of the clip in which the figure stands best.
#include "motion/retarget/actor.h"

#include "base/arena.h"
#include "num/rotation.h"
#include "num/trig.h"

#include <string.h>

#define STANDS 0.6 // radians: mean angle of trunk and legs from upright, up to which a pose is one to compare limbs in

enum { LOOKS = 200 }; // frames of a clip examined

static poise_vec3 place_of(const pz_actor *a, int role)
{
    return poise_kinematics_body_pose(a->kin, a->roles.body[role]).position;
}

// ---- Poses that are looked at --------------------------------------------------------------------------------------------

static poise_status pose_at(const pz_actor *a, int frame, double *q)
{
    poise_model_neutral(a->model, q);
    if (frame >= 0) {
        memcpy(q, a->clip->q + (size_t)frame * (size_t)a->clip->nq, (size_t)a->clip->nq * sizeof *q);
    }
    return poise_kinematics_update(a->kin, q, NULL);
}

static int step_of(const pz_actor *a)
{
    return a->clip->frames / LOOKS + 1;
}

// ---- Up ------------------------------------------------------------------------------------------------------------------

// From the feet, or hips, to the chest, or head, in the pose that kin has; 0 where the roles do not determine it.
static vec3 upwards(const pz_actor *a)
{
    static const int low[] = {POISE_ROLE_FOOT, POISE_ROLE_SHANK, POISE_ROLE_THIGH};
    static const int high[] = {POISE_ROLE_HEAD, POISE_ROLE_CHEST, POISE_ROLE_PELVIS};
    int bottom = 0, top = 0;
    while (bottom < 3 && (!pz_plays(a, low[bottom]) || !pz_plays(a, low[bottom] + POISE_ROLE_SIDE))) {
        ++bottom;
    }
    while (top < 3 && !pz_plays(a, high[top])) {
        ++top;
    }
    if (bottom == 3 || top == 3) {
        return v3(0, 0, 0);
    }
    vec3 feet = v3_scale(v3_add(place_of(a, low[bottom]), place_of(a, low[bottom] + POISE_ROLE_SIDE)), 0.5);
    return v3_sub(place_of(a, high[top]), feet);
}

static void find_up(pz_actor *a, poise_up given)
{
    vec3 sum = v3(0, 0, 0);
    if (a->clip && a->clip->frames > 0) {
        for (int f = 0; f < a->clip->frames; f += step_of(a)) {
            sum = pose_at(a, f, a->rest) == POISE_OK ? v3_add(sum, upwards(a)) : sum;
        }
    } else {
        sum = pose_at(a, -1, a->rest) == POISE_OK ? upwards(a) : sum;
    }
    double x = fabs(sum.x), y = fabs(sum.y), z = fabs(sum.z);
    a->axis = given != POISE_UP_UNKNOWN ? (int)given - (int)POISE_UP_X : x > y && x > z ? 0 : z > y ? 2 : 1;
    double along = a->axis == 0   ? sum.x
                   : a->axis == 1 ? sum.y
                                  : sum.z,
           sign = given == POISE_UP_UNKNOWN && along < 0 ? -1 : 1;
    a->up = v3(a->axis == 0 ? sign : 0, a->axis == 1 ? sign : 0, a->axis == 2 ? sign : 0);
}

// ---- The rest pose -------------------------------------------------------------------------------------------------------

// How far from standing: mean angle of the trunk from up and of thighs and shanks from down. 0 without legs.
static double leaning(const pz_actor *a)
{
    double sum = 0.0;
    int count = 0;
    for (int offset = 0; offset <= POISE_ROLE_SIDE; offset += POISE_ROLE_SIDE) {
        for (int role = POISE_ROLE_THIGH; role <= POISE_ROLE_SHANK; ++role) {
            if (pz_plays(a, role + offset) && pz_plays(a, role + 1 + offset)) {
                vec3 bone = v3_sub(place_of(a, role + 1 + offset), place_of(a, role + offset));
                sum += v3_angle(bone, v3_neg(a->up));
                count += 1;
            }
        }
    }
    vec3 trunk = pz_plays(a, POISE_ROLE_CHEST) && pz_plays(a, POISE_ROLE_PELVIS)
                     ? v3_sub(place_of(a, POISE_ROLE_CHEST), place_of(a, POISE_ROLE_PELVIS))
                     : v3(0, 0, 0);
    if (count > 0 && v3_norm(trunk) > 0) {
        sum += v3_angle(trunk, a->up);
        count += 1;
    }
    return count > 0 ? sum / count : 0.0;
}

static poise_status find_rest(pz_actor *a)
{
    int best = -1;
    poise_status status = pose_at(a, -1, a->rest);
    double least_lean = status == POISE_OK ? leaning(a) : INFINITY;
    if (least_lean > STANDS && a->clip) {
        for (int f = 0; f < a->clip->frames; f += step_of(a)) {
            double lean = pose_at(a, f, a->rest) == POISE_OK ? leaning(a) : INFINITY;
            best = lean < least_lean ? f : best;
            least_lean = min2(least_lean, lean);
        }
    }
    a->is_standing = least_lean <= STANDS;
    status = pose_at(a, best, a->rest);
    for (int k = 0; k < poise_model_info(a->model).joints && status == POISE_OK; ++k) {
        a->pose[k] = poise_kinematics_body_pose(a->kin, k);
    }
    return status;
}

// ---- What is read off the rest pose --------------------------------------------------------------------------------------

// Is a body one that plays a role?
static bool plays_any(const pz_actor *a, int body)
{
    bool found = false;
    for (int role = 0; role < POISE_ROLE_COUNT && !found; ++role) {
        found = a->roles.body[role] == body;
    }
    return found;
}

// The point that lies nearest to the axes of the last hinges that move a body, up to three of them:
//
//   (sum (1 - a a^T) + e) c = sum (1 - a a^T) o + e origin
//
// A hip of three motors turns about it as a ball joint does. The origin, where the body has a joint of several axes.
static vec3 joint_center(const pz_actor *a, int body)
{
    const double e = 1e-3;
    vec3 origin = pz_place(a, body), x = v3(e, 0, 0), y = v3(0, e, 0), z = v3(0, 0, e), b = v3_scale(origin, e);
    int hinges = 0;
    for (int k = body; k >= 0 && hinges < 3 && (k == body || !plays_any(a, k));) {
        poise_joint_info joint = poise_model_joint_info(a->model, k);
        if (joint.nv > 0 && joint.type != POISE_JOINT_REVOLUTE) {
            break;
        }
        if (joint.nv == 1) {
            vec3 n = v3_normalize(quat_rotate(a->pose[k].rotation, joint.given->axis)), o = pz_place(a, k);
            x = v3_add(x, v3_mad(v3(1, 0, 0), -n.x, n));
            y = v3_add(y, v3_mad(v3(0, 1, 0), -n.y, n));
            z = v3_add(z, v3_mad(v3(0, 0, 1), -n.z, n));
            b = v3_add(b, v3_mad(o, -v3_dot(o, n), n));
            hinges += 1;
        }
        k = joint.parent;
    }
    double det = v3_dot(x, v3_cross(y, z));
    return hinges < 2
               ? origin
               : v3(v3_dot(b, v3_cross(y, z)) / det, v3_dot(b, v3_cross(z, x)) / det, v3_dot(b, v3_cross(x, y)) / det);
}

static void find_centers(pz_actor *a)
{
    for (int role = 0; role < POISE_ROLE_COUNT; ++role) {
        int body = a->roles.body[role];
        a->center[role] = v3(0, 0, 0);
        if (body >= 0 && role >= POISE_ROLE_LEFT) {
            a->center[role] = poise_pose_transform(poise_pose_inverse(a->pose[body]), joint_center(a, body));
        }
    }
}

// Left and forward by hips, else by shoulders.
static void find_frame(pz_actor *a)
{
    static const int sides[] = {POISE_ROLE_THIGH, POISE_ROLE_UPPER_ARM};
    a->has_frame = false;
    for (int i = 0; i < 2 && !a->has_frame; ++i) {
        int l = a->roles.body[sides[i]], r = a->roles.body[sides[i] + POISE_ROLE_SIDE];
        if (l >= 0 && r >= 0) {
            vec3 across = v3_sub(pz_joint_place(a, sides[i]), pz_joint_place(a, sides[i] + POISE_ROLE_SIDE));
            across = v3_mad(across, -v3_dot(across, a->up), a->up);
            a->has_frame = v3_norm(across) > 0;
            a->left = v3_normalize(across);
            a->forward = v3_cross(a->left, a->up);
        }
    }
}

// Where a bone ends that no other role begins at: what hangs from the body, its tips, its centre of mass.
static bool find_end(const pz_actor *a, int body, vec3 *end)
{
    vec3 sum = v3(0, 0, 0);
    int count = 0, last = body + poise_model_joint_info(a->model, body).subtree;
    for (int k = body + 1; k < last; k += poise_model_joint_info(a->model, k).subtree) {
        if (v3_norm(v3_sub(pz_place(a, k), pz_place(a, body))) > 0) {
            sum = v3_add(sum, pz_place(a, k));
            count += 1;
        }
    }
    for (int i = 0; i < poise_model_info(a->model).tools && count == 0; ++i) {
        poise_tool_info tool = poise_model_tool_info(a->model, i);
        if (tool.body == body && v3_norm(tool.pose.position) > 0) {
            sum = poise_pose_transform(a->pose[body], tool.pose.position);
            count = 1;
        }
    }
    const poise_joint *given = poise_model_joint_info(a->model, body).given;
    if (count == 0 && given->mass > 0 && v3_norm(given->mass_center) > 0) {
        sum = poise_pose_transform(a->pose[body], given->mass_center);
        count = 1;
    }
    *end = count > 0 ? v3_scale(sum, 1.0 / count) : *end;
    return count > 0;
}

static void find_tips(pz_actor *a)
{
    for (int role = POISE_ROLE_LEFT; role < POISE_ROLE_COUNT; ++role) {
        int part = role < POISE_ROLE_RIGHT ? role : role - POISE_ROLE_SIDE, body = a->roles.body[role];
        bool has_next = part == POISE_ROLE_CLAVICLE || part == POISE_ROLE_UPPER_ARM || part == POISE_ROLE_FOREARM ||
                        part == POISE_ROLE_THIGH || part == POISE_ROLE_SHANK || part == POISE_ROLE_FOOT ||
                        (part >= POISE_ROLE_THUMB && (part - POISE_ROLE_THUMB) % 3 < 2);
        int next = body >= 0 && has_next ? a->roles.body[role + 1] : POISE_NONE;
        int next_role = part == POISE_ROLE_HAND ? role - POISE_ROLE_HAND + POISE_ROLE_MIDDLE : role + 1;
        next = part == POISE_ROLE_HAND && body >= 0 ? a->roles.body[next_role] : next;
        if (next >= 0 && v3_norm(v3_sub(pz_joint_place(a, next_role), pz_joint_place(a, role))) > 0) {
            a->tip[role] = pz_joint_place(a, next_role);
            a->has_tip[role] = true;
        } else {
            a->has_tip[role] = body >= 0 && find_end(a, body, &a->tip[role]);
        }
    }
}

// Feet point to where forward is by hips, or the names of one side are those of the other. Without toes they do not tell.
static void find_reversed(pz_actor *a)
{
    double forward = 0.0, length = 0.0;
    for (int offset = 0; offset <= POISE_ROLE_SIDE && a->has_frame; offset += POISE_ROLE_SIDE) {
        int foot = POISE_ROLE_FOOT + offset, body = a->roles.body[foot];
        bool has_toes = pz_plays(a, foot + 1) || (body >= 0 && poise_model_joint_info(a->model, body).subtree > 1);
        if (body >= 0 && has_toes && a->has_tip[foot]) {
            vec3 along = v3_sub(a->tip[foot], pz_joint_place(a, foot));
            forward += v3_dot(along, a->forward);
            length += v3_norm(along);
        }
    }
    a->is_reversed = forward < -0.5 * length;
}

// The bodies on the way from `above`, left out, down to `below`.
static int path_between(const poise_model *model, int above, int below, int *path)
{
    int count = 0, k = below;
    while (k >= 0 && !pz_is_below(model, k, above) && count < PZ_TRUNK_MOST) {
        path[count++] = k;
        k = poise_model_joint_info(model, k).parent;
    }
    for (int i = 0; i < count / 2; ++i) {
        int other = path[i];
        path[i] = path[count - 1 - i];
        path[count - 1 - i] = other;
    }
    return above >= 0 && below >= 0 ? count : 0;
}

static void find_legs(pz_actor *a)
{
    double length = 0.0;
    for (int offset = 0; offset <= POISE_ROLE_SIDE; offset += POISE_ROLE_SIDE) {
        if (pz_plays(a, POISE_ROLE_THIGH + offset) && pz_plays(a, POISE_ROLE_SHANK + offset) &&
            pz_plays(a, POISE_ROLE_FOOT + offset)) {
            vec3 knee = pz_joint_place(a, POISE_ROLE_SHANK + offset);
            length += v3_norm(v3_sub(knee, pz_joint_place(a, POISE_ROLE_THIGH + offset))) +
                      v3_norm(v3_sub(pz_joint_place(a, POISE_ROLE_FOOT + offset), knee));
        } else {
            length = NAN;
        }
    }
    a->leg = length > 0 && is_finite(length) ? 0.5 * length : 0.0;
    int pelvis = a->roles.body[POISE_ROLE_PELVIS], right = POISE_ROLE_THIGH + POISE_ROLE_SIDE;
    if (pelvis >= 0 && pz_plays(a, POISE_ROLE_THIGH) && pz_plays(a, right)) {
        vec3 middle = v3_scale(v3_add(pz_joint_place(a, POISE_ROLE_THIGH), pz_joint_place(a, right)), 0.5);
        a->hips = poise_pose_transform(poise_pose_inverse(a->pose[pelvis]), middle);
    }
}

bool pz_hips_can_move(const pz_actor *a)
{
    bool moves = false;
    for (int k = a->roles.body[POISE_ROLE_PELVIS]; k >= 0 && !moves; k = poise_model_joint_info(a->model, k).parent) {
        poise_joint_info joint = poise_model_joint_info(a->model, k);
        for (int i = 0; i < joint.nq && !moves; ++i) {
            moves = poise_model_coordinate(a->model, joint.q + i).unit == POISE_UNIT_LENGTH;
        }
    }
    return moves;
}

// ---- All together --------------------------------------------------------------------------------------------------------

poise_status pz_actor_open(const poise_model *model, const poise_clip *clip, poise_up up, const pz_roles *roles,
                           const poise_allocator *allocator, pz_actor *a)
{
    *a = (pz_actor){.model = model, .clip = clip && clip->frames > 0 ? clip : NULL};
    poise_model_summary info = poise_model_info(model);
    poise_status status = poise_kinematics_create(model, allocator, &a->kin, NULL);
    if (status != POISE_OK) {
        a->kin = NULL;
        return status;
    }
    a->rest = pz_allocate(allocator, ((size_t)info.nq + 1) * sizeof *a->rest);
    a->pose = pz_allocate(allocator, ((size_t)info.joints + 1) * sizeof *a->pose);
    if (!a->rest || !a->pose) {
        return POISE_ERROR_MEMORY;
    }
    if (roles) {
        a->roles = *roles;
    } else {
        pz_roles_find(model, a->kin, &a->roles);
    }
    find_up(a, up);
    status = find_rest(a);
    if (status == POISE_OK) {
        find_centers(a);
        find_frame(a);
        find_tips(a);
        find_reversed(a);
        find_legs(a);
        a->spines = path_between(model, a->roles.body[POISE_ROLE_PELVIS], a->roles.body[POISE_ROLE_CHEST], a->spine);
        a->necks = path_between(model, a->roles.body[POISE_ROLE_CHEST], a->roles.body[POISE_ROLE_HEAD], a->neck);
    }
    return status;
}

void pz_actor_close(pz_actor *a, const poise_allocator *allocator)
{
    pz_release(allocator, a->pose);
    pz_release(allocator, a->rest);
    poise_kinematics_destroy(a->kin);
}

// ---- Bodies of the target, and what each follows -------------------------------------------------------------------------

//   R_to(t) = A D(t) A^-1 C^-1 R_to(rest)     D(t) = R_from(t) R_from(rest)^-1
//
// C is built from the trunk outwards. At the trunk it turns one rest pose to face where the other does; a limb adds the
// shortest turn that brings its bone, as turned so far, onto the target's. So an elbow that is straight in one rest pose and
// bent in the other is turned about the axis that it bends about. Feet rest on the ground in both: they are turned about the
// vertical alone.

#define TRUNK_TURN 0.5
#define LIMB_TURN  0.1
#define LIMB_BONE  1.0
#define HEAD_TURN  0.3
#define OTHER_TURN 0.1
#define STEEP      0.8  // cosine: a bone nearer to the vertical does not say which way a foot points
#define SAME       1e-7 // of the size: places that differ by less are the same

// ---- Turns ---------------------------------------------------------------------------------------------------------------

static const quat no_turn = {0, 0, 0, 1};

// The shortest turn that brings unit vector a onto b; about `axis` where they are opposite.
static quat shortest_turn(vec3 a, vec3 b, vec3 axis)
{
    double c = v3_dot(a, b);
    if (c < -0.999999) {
        return (quat){axis.x, axis.y, axis.z, 0};
    }
    vec3 n = v3_cross(a, b);
    return quat_normalize((quat){n.x, n.y, n.z, 1.0 + c});
}

// From one world to the other: the axes go around until up is up.
static quat world_turn(const pz_actor *from, const pz_actor *to)
{
    double sign = v3_dot(from->up, v3(1, 1, 1)) * v3_dot(to->up, v3(1, 1, 1));
    int steps = (to->axis - from->axis + 3) % 3;
    quat turn = steps == 0 ? no_turn : steps == 1 ? (quat){0.5, 0.5, 0.5, 0.5} : (quat){-0.5, -0.5, -0.5, 0.5};
    if (sign < 0) {
        vec3 other = v3(to->axis == 1 ? 1 : 0, to->axis == 2 ? 1 : 0, to->axis == 0 ? 1 : 0);
        turn = quat_mul((quat){other.x, other.y, other.z, 0}, turn);
    }
    return turn;
}

// The turn about the target's up that brings the source's forward, in the target's world, onto the target's.
static quat facing_turn(const pz_actor *from, const pz_actor *to, quat world)
{
    if (!from->has_frame || !to->has_frame) {
        return no_turn;
    }
    return shortest_turn(quat_rotate(world, from->forward), to->forward, to->up);
}

// ---- Corrections ---------------------------------------------------------------------------------------------------------

static bool bone_at_rest(const pz_actor *a, int role, vec3 *bone)
{
    if (!pz_plays(a, role) || !a->has_tip[role]) {
        return false;
    }
    *bone = v3_normalize(v3_sub(a->tip[role], pz_joint_place(a, role)));
    return v3_norm(*bone) > 0;
}

static bool is_foot(int part)
{
    return part == POISE_ROLE_FOOT || part == POISE_ROLE_TOE;
}

// Which way a foot points, as its bone does; 0 where that leads down to a sole instead of forward to toes.
static vec3 heading(vec3 bone, vec3 up)
{
    return fabs(v3_dot(bone, up)) < STEEP ? v3_orthogonal(bone, up) : v3(0, 0, 0);
}

// The role that a limb's correction continues from; POISE_NONE: the trunk's.
static int role_above(int part)
{
    if (part >= POISE_ROLE_THUMB) {
        return (part - POISE_ROLE_THUMB) % 3 == 0 ? POISE_ROLE_HAND : part - 1;
    }
    return part == POISE_ROLE_FOREARM || part == POISE_ROLE_HAND || part == POISE_ROLE_SHANK ? part - 1 : POISE_NONE;
}

// ---- Hands ---------------------------------------------------------------------------------------------------------------

// Along the fingers, and across them from the last to the first, in the rest pose.
static bool palm_axes(const pz_actor *a, int offset, vec3 *along, vec3 *across)
{
    int last = POISE_NONE;
    *along = v3(0, 0, 0);
    for (int finger = POISE_ROLE_INDEX; finger <= POISE_ROLE_LITTLE; finger += 3) {
        vec3 bone;
        if (bone_at_rest(a, finger + offset, &bone)) {
            *along = v3_add(*along, bone);
            last = finger;
        }
    }
    if (last <= POISE_ROLE_INDEX || !pz_plays(a, POISE_ROLE_INDEX + offset)) {
        return false;
    }
    *along = v3_normalize(*along);
    *across = v3_sub(pz_joint_place(a, POISE_ROLE_INDEX + offset), pz_joint_place(a, last + offset));
    *across = v3_orthogonal(*across, *along);
    return v3_norm(*along) > 0 && v3_norm(*across) > 0;
}

// The turn that lays one palm onto the other.
static bool palm_turn(const pz_actor *from, const pz_actor *to, quat world, int offset, quat *turn)
{
    vec3 along, across, their_along, their_across;
    if (!palm_axes(from, offset, &their_along, &their_across) || !palm_axes(to, offset, &along, &across)) {
        return false;
    }
    their_along = quat_rotate(world, their_along);
    their_across = quat_rotate(world, their_across);
    quat first = shortest_turn(their_along, along, their_across);
    *turn = quat_mul(shortest_turn(quat_rotate(first, their_across), across, along), first);
    return true;
}

// Degrees of freedom between a body and the world.
static int freedom_of(const poise_model *model, int body)
{
    int freedom = 0;
    for (int k = body; k >= 0; k = poise_model_joint_info(model, k).parent) {
        freedom += poise_model_joint_info(model, k).nv;
    }
    return freedom;
}

// A hand that cannot turn as the actor's does moves as though that rested on the same forearm, or the same palm.
static void find_base(pz_followed *f, const pz_actor *from, const pz_actor *to, const quat *correction)
{
    for (int offset = 0; offset <= POISE_ROLE_SIDE && pz_is_hand(&to->roles); offset += POISE_ROLE_SIDE) {
        int palm = to->roles.body[POISE_ROLE_HAND + offset], freedom = palm >= 0 ? freedom_of(to->model, palm) : 3;
        int role = (freedom == 0 ? POISE_ROLE_HAND : POISE_ROLE_FOREARM) + offset;
        if (freedom < 3 && pz_plays(from, role)) {
            f->base = from->roles.body[role];
            f->base_rest = from->pose[f->base].rotation;
            f->base_turn = correction[POISE_ROLE_HAND + offset];
        }
    }
}

// C of every role; `bone` and `has_bone` the target's bones in its world, where both skeletons have one.
static void find_corrections(const pz_actor *from, const pz_actor *to, quat world, quat *correction)
{
    quat facing = facing_turn(from, to, world);
    bool is_hand = pz_is_hand(&from->roles) || pz_is_hand(&to->roles);
    for (int role = 0; role < POISE_ROLE_COUNT; ++role) {
        int part = role < POISE_ROLE_RIGHT ? role : role - POISE_ROLE_SIDE, offset = role - part;
        int above = role_above(part);
        quat c = above == POISE_NONE ? facing : correction[above + offset];
        vec3 a, b;
        bool is_limb = part >= POISE_ROLE_UPPER_ARM && part != POISE_ROLE_HAND;
        if (is_hand && (part == POISE_ROLE_FOREARM || part == POISE_ROLE_HAND)) {
            is_limb = is_limb && !palm_turn(from, to, world, offset, &c);
        }
        if (is_limb && bone_at_rest(from, role, &a) && bone_at_rest(to, role, &b)) {
            vec3 turned = quat_rotate(quat_mul(c, world), a);
            vec3 x = is_foot(part) ? heading(turned, to->up) : turned, y = is_foot(part) ? heading(b, to->up) : b;
            bool is_known = v3_norm(x) > 0 && v3_norm(y) > 0;
            c = is_known ? quat_mul(shortest_turn(x, y, to->has_frame && !is_foot(part) ? to->left : to->up), c) : c;
        }
        correction[role] = c;
    }
}

// ---- Pairs ---------------------------------------------------------------------------------------------------------------

static quat turn_back(const pz_actor *a, int body)
{
    return quat_conj(a->pose[body].rotation);
}

static pz_pair *add_pair(pz_followed *f, const pz_actor *from, const pz_actor *to, int source, int target, quat correction)
{
    pz_pair *p = &f->pair[f->count++];
    *p = (pz_pair){.to = target,
                   .from = source,
                   .next = source,
                   .role = POISE_NONE,
                   .from_back = turn_back(from, source),
                   .next_back = turn_back(from, source),
                   .to_rest = quat_mul(quat_conj(correction), to->pose[target].rotation),
                   .correction = correction,
                   .turn_weight = OTHER_TURN};
    return p;
}

// Degrees of freedom between a body and the nearest body above it that is followed already.
static int freedom_above(const poise_model *model, const pz_followed *f, int body)
{
    int freedom = 0;
    for (int k = body; k >= 0; k = poise_model_joint_info(model, k).parent) {
        for (int i = 0; i < f->count; ++i) {
            if (f->pair[i].to == k) {
                return freedom;
            }
        }
        freedom += poise_model_joint_info(model, k).nv;
    }
    return freedom;
}

static void add_role(pz_followed *f, const pz_actor *from, const pz_actor *to, int role, const quat *correction)
{
    int part = role < POISE_ROLE_RIGHT ? role : role - POISE_ROLE_SIDE;
    if (!pz_plays(from, role) || !pz_plays(to, role) || freedom_above(to->model, f, to->roles.body[role]) == 0) {
        return;
    }
    pz_pair *p = add_pair(f, from, to, from->roles.body[role], to->roles.body[role], correction[role]);
    vec3 bone, other;
    bool is_limb = part >= POISE_ROLE_UPPER_ARM && part != POISE_ROLE_HAND && !is_foot(part);
    p->role = role;
    p->turn_weight = part == POISE_ROLE_PELVIS                            ? 1.0
                     : part == POISE_ROLE_CHEST || is_foot(part)          ? TRUNK_TURN
                     : part == POISE_ROLE_HEAD || part == POISE_ROLE_HAND ? HEAD_TURN
                                                                          : LIMB_TURN;
    if (is_limb && bone_at_rest(from, role, &other) && bone_at_rest(to, role, &bone)) {
        p->has_bone = true;
        p->bone = quat_rotate(quat_conj(to->pose[p->to].rotation), bone);
        p->bone_weight = LIMB_BONE;
    }
    f->roles += 1;
}

static bool is_followed(const pz_followed *f, int body)
{
    bool found = false;
    for (int i = 0; i < f->count && !found; ++i) {
        found = f->pair[i].to == body;
    }
    return found;
}

// Joints of a trunk that are not at its ends: body i of n follows what lies at i m/n among the source's m.
static void add_trunk(pz_followed *f, const pz_actor *from, const pz_actor *to, const int *source, int m, int first,
                      const int *target, int n, quat correction)
{
    for (int i = 1; i < n && m > 0; ++i) {
        int body = target[i - 1], at = i * m / n;
        if (poise_model_joint_info(to->model, body).nv < 3 || is_followed(f, body)) {
            continue;
        }
        int a = at == 0 ? first : source[at - 1], b = at < m ? source[at] : a;
        pz_pair *p = add_pair(f, from, to, a, body, correction);
        p->next = b;
        p->next_back = turn_back(from, b);
        p->share = (double)(i * m % n) / n;
    }
}

// ---- Bodies of the same name ---------------------------------------------------------------------------------------------

static bool is_near(const poise_pose *a, const poise_pose *b, double size)
{
    quat turn = quat_mul(quat_conj(a->rotation), b->rotation);
    return v3_norm(v3_sub(a->position, b->position)) <= SAME * size && v3_norm(quat_vec(turn)) <= SAME;
}

// Is every body of the target one of the source, in the same place?
static bool is_same_skeleton(const pz_actor *from, const pz_actor *to)
{
    int joints = poise_model_info(to->model).joints;
    double size = 0.0;
    for (int k = 0; k < joints; ++k) {
        size = max2(size, v3_norm(poise_model_joint_info(to->model, k).given->offset.position));
    }
    bool same = from->axis == to->axis && poise_model_info(from->model).joints == joints;
    for (int k = 0; k < joints && same; ++k) {
        poise_joint_info a = poise_model_joint_info(from->model, k), b = poise_model_joint_info(to->model, k);
        same = strcmp(a.body, b.body) == 0 && a.parent == b.parent && is_near(&a.given->offset, &b.given->offset, size);
    }
    return same;
}

// Does a body carry, anywhere below it, one that is followed?
static bool carries_followed(const pz_followed *f, const poise_model *model, int body)
{
    bool found = false;
    for (int i = 0; i < f->count && !found; ++i) {
        found = pz_is_below(model, body, f->pair[i].to);
    }
    return found;
}

static void add_namesakes(pz_followed *f, const pz_actor *from, const pz_actor *to, quat correction)
{
    for (int k = 0; k < poise_model_info(to->model).joints; ++k) {
        poise_joint_info joint = poise_model_joint_info(to->model, k);
        int source = poise_model_find_body(from->model, joint.body);
        if (source >= 0 && joint.nv > 0 && (f->same || !carries_followed(f, to->model, k))) {
            add_pair(f, from, to, source, k, correction);
        }
    }
}

// ---- Size ----------------------------------------------------------------------------------------------------------------

// The bones that both have; without legs it says how much larger the target is.
static double bone_ratio(const pz_actor *from, const pz_actor *to)
{
    double ours = 0.0, theirs = 0.0;
    for (int role = POISE_ROLE_LEFT; role < POISE_ROLE_COUNT; ++role) {
        if (pz_plays(from, role) && pz_plays(to, role) && from->has_tip[role] && to->has_tip[role]) {
            theirs += v3_norm(v3_sub(from->tip[role], pz_joint_place(from, role)));
            ours += v3_norm(v3_sub(to->tip[role], pz_joint_place(to, role)));
        }
    }
    return theirs > 0 && ours > 0 ? ours / theirs : 1.0;
}

// ---- All together --------------------------------------------------------------------------------------------------------

void pz_followed_find(const pz_actor *from, const pz_actor *to, bool copies, pz_followed *f)
{
    quat correction[POISE_ROLE_COUNT];
    f->count = f->roles = 0;
    f->same = copies && is_same_skeleton(from, to);
    f->world = world_turn(from, to);
    f->factor = f->same ? 1.0 : from->leg > 0 && to->leg > 0 ? to->leg / from->leg : bone_ratio(from, to);
    f->root_to = f->root_from = f->base = POISE_NONE;
    if (f->same) {
        for (int role = 0; role < POISE_ROLE_COUNT; ++role) {
            f->roles += pz_plays(from, role) && pz_plays(to, role);
        }
        add_namesakes(f, from, to, no_turn);
        f->root_to = f->root_from = f->count > 0 ? f->pair[0].to : POISE_NONE;
        return;
    }
    find_corrections(from, to, f->world, correction);
    find_base(f, from, to, correction);
    for (int role = 0; role < POISE_ROLE_COUNT; ++role) {
        add_role(f, from, to, role, correction);
    }
    const int *a = from->roles.body, *b = to->roles.body;
    quat facing = correction[POISE_ROLE_PELVIS];
    if (a[POISE_ROLE_CHEST] >= 0 && b[POISE_ROLE_CHEST] >= 0) {
        add_trunk(f, from, to, from->spine, from->spines, a[POISE_ROLE_PELVIS], to->spine, to->spines, facing);
        bool heads = a[POISE_ROLE_HEAD] >= 0 && b[POISE_ROLE_HEAD] >= 0;
        if (heads) {
            add_trunk(f, from, to, from->neck, from->necks, a[POISE_ROLE_CHEST], to->neck, to->necks, facing);
        }
    }
    add_namesakes(f, from, to, facing);
}

quat pz_followed_turn(const pz_followed *f, const pz_pair *p, const poise_kinematics *kin)
{
    quat turn = quat_mul(poise_kinematics_body_pose(kin, p->from).rotation, p->from_back);
    if (p->share > 0) {
        quat next = quat_mul(poise_kinematics_body_pose(kin, p->next).rotation, p->next_back);
        vec3 between = so3_log(quat_mul(quat_conj(turn), next));
        turn = quat_mul(turn, so3_exp_quat(v3_scale(between, p->share)));
    }
    if (f->base >= 0) {
        quat base = quat_mul(f->base_rest, quat_conj(poise_kinematics_body_pose(kin, f->base).rotation));
        turn = quat_mul(base, turn);
    }
    turn = quat_mul(quat_mul(f->world, turn), quat_conj(f->world));
    turn = f->base >= 0 ? quat_mul(f->base_turn, turn) : turn;
    return quat_normalize(quat_mul(turn, p->to_rest));
}
