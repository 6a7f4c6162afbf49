// A skeleton as retargeting sees it.
//
// The rest pose is the neutral configuration where a figure stands in it: trunk up, legs down. Some files have none (bones
// all along one axis); then it is the frame of the clip in which the figure stands best.
#include "motion/retarget/actor.h"

#include "base/arena.h"
#include "num/trig.h"

#include <string.h>

#define STANDS 0.6 // radians: mean angle of trunk and legs from upright, up to which a pose is one to compare limbs in

enum { LOOKS = 200 }; // frames of a clip examined

static poise_vec3 place_of(const pz_actor *a, int role)
{
    return poise_kinematics_body_pose(a->kin, a->roles.body[role]).position;
}

static double angle_between(vec3 a, vec3 b)
{
    return poise_atan2(v3_norm(v3_cross(a, b)), v3_dot(a, b));
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
                sum += angle_between(bone, v3_neg(a->up));
                count += 1;
            }
        }
    }
    vec3 trunk = pz_plays(a, POISE_ROLE_CHEST) && pz_plays(a, POISE_ROLE_PELVIS)
                     ? v3_sub(place_of(a, POISE_ROLE_CHEST), place_of(a, POISE_ROLE_PELVIS))
                     : v3(0, 0, 0);
    if (count > 0 && v3_norm(trunk) > 0) {
        sum += angle_between(trunk, a->up);
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
