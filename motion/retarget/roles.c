// Which body plays which role on a skeleton: limbs by their names, pelvis and chest by where limbs meet, numbered limbs by
// the lengths of their bones.
#include "motion/retarget/roles.h"

#include "num/vector.h"

#include <string.h>

enum { LONGEST_CHAIN = 16, CHAIN_LEAST = 3 };

#define BY_NAME  1.0
#define BY_CHAIN 0.8
#define AT_ELBOW 0.05 // of the bone before: an arm this near to its forearm is a motor at the elbow
#define ALONG    0.9  // cosine: a hinge nearer to a bone than that turns about it

#define TOE_NONE  1e-3 // of the shank: nearer to the ankle there are no toes
#define TOE_LEAST 0.1  // of the shank: a bone from ankle to foot that is longer,
#define TOE_BENT  0.87 // and at more than 30 degrees to the shank (this is the cosine), ends at the toes

static int parent_of(const poise_model *model, int body)
{
    return poise_model_joint_info(model, body).parent;
}

static int common_ancestor(const poise_model *model, int a, int b)
{
    if (a < 0 || b < 0) {
        return POISE_NONE;
    }
    int k = parent_of(model, a);
    while (k >= 0 && !pz_is_below(model, k, b)) {
        k = parent_of(model, k);
    }
    return k >= 0 ? k : POISE_NONE;
}

// The rank of a name among a role's words; -1: it is none of them.
static int rank_of(int part, const char *key)
{
    for (int i = 0; i < PZ_ROLE_WORDS && pz_role_words[part][i]; ++i) {
        if (strcmp(pz_role_words[part][i], key) == 0) {
            return i;
        }
    }
    return -1;
}

// Of several joints that share a word (hip pitch, roll, yaw) the segment is the last where it moves as a whole, the first
// where what follows turns about its length (forearm, shank).
static bool takes_last(int part)
{
    return part == POISE_ROLE_THIGH || part == POISE_ROLE_UPPER_ARM || part == POISE_ROLE_FOOT || part == POISE_ROLE_HAND ||
           part == POISE_ROLE_CLAVICLE || part == POISE_ROLE_HEAD || part >= POISE_ROLE_THUMB;
}

// Does a joint of its own move this body?
static bool is_moved(const poise_model *model, int body)
{
    return poise_model_joint_info(model, body).nv > 0;
}

// The bodies to look at: all, or one of several figures.
typedef struct bodies {
    int begin, end;
    int start; // characters that their names begin with, such as "Actor01_", and that say nothing; 0: none
} bodies;

static const char *body_name(const poise_model *model, int body)
{
    return poise_model_joint_info(model, body).body;
}

// What a body's name says.
static pz_role_name name_of(const poise_model *model, bodies among, int body)
{
    const char *name = body_name(model, body);
    bool has_start = strncmp(name, body_name(model, among.end - 1), (size_t)among.start) == 0;
    return pz_role_name_of(name + (has_start ? among.start : 0));
}

// Characters up to a separator that all names but that of the root begin with. A side says something.
static int common_start(const poise_model *model, bodies among)
{
    const char *last = body_name(model, among.end - 1);
    int start = 0, same = (int)strlen(last);
    for (int k = among.begin + 1; k < among.end - 1; ++k) {
        const char *name = body_name(model, k);
        int n = 0;
        while (n < same && name[n] == last[n]) {
            ++n;
        }
        same = n;
    }
    for (int n = 0; n < same; ++n) {
        start = strchr("_-. ", last[n]) ? n + 1 : start;
    }
    char text[64] = "";
    memcpy(text, last, start < (int)sizeof text ? (size_t)start : 0);
    return among.end - among.begin > CHAIN_LEAST && pz_role_name_of(text).side == PZ_MIDDLE ? start : 0;
}

// The body that has the best word for a part; `number` 0: any. Of several that share a word, one that nothing moves, such as
// the end of a rod beside the ankle, is none.
static int find_named(const poise_model *model, bodies among, int part, pz_side side, int number)
{
    int best = POISE_NONE, best_rank = PZ_ROLE_WORDS;
    for (int k = among.begin; k < among.end; ++k) {
        pz_role_name name = name_of(model, among, k);
        int rank = name.side == side && (number == 0 || name.number == number || (number == 1 && name.number == 0))
                       ? rank_of(part, name.key)
                       : -1;
        bool is_next = rank == best_rank && takes_last(part) && pz_is_below(model, best, k);
        bool is_first_to_move = rank == best_rank && !is_moved(model, best) && is_moved(model, k);
        if (rank >= 0 && (rank < best_rank || is_next || is_first_to_move)) {
            best = k;
            best_rank = rank;
        }
    }
    return best;
}

// ---- Limbs whose joints are numbered -------------------------------------------------------------------------------------

// Is this body called `key`, or 'z' and `key` (Kuavo's "zarm_l1_link")?
static bool is_called(const poise_model *model, bodies among, int body, pz_side side, const char *key)
{
    pz_role_name name = name_of(model, among, body);
    return name.side == side && strcmp(name.key + (name.key[0] == 'z'), key) == 0;
}

// The bodies called `key` on one path, from the trunk outwards.
static int find_chain(const poise_model *model, bodies among, const char *key, pz_side side, int *chain)
{
    int count = 0;
    for (int k = among.begin; k < among.end && count < LONGEST_CHAIN; ++k) {
        if (is_called(model, among, k, side, key) && (count == 0 || pz_is_below(model, chain[count - 1], k))) {
            chain[count++] = k;
        }
    }
    return count;
}

static double bone(const poise_kinematics *kin, const int *chain, int i)
{
    return v3_norm(
        v3_sub(poise_kinematics_body_pose(kin, chain[i + 1]).position, poise_kinematics_body_pose(kin, chain[i]).position));
}

// The two longest bones are thigh and shank, or upper arm and forearm. What follows in one place is one joint.
static void cut_chain(const poise_kinematics *kin, const int *chain, int count, int first_role, pz_roles *roles)
{
    int one = 0, two = -1;
    for (int i = 1; i + 1 < count; ++i) {
        one = bone(kin, chain, i) > bone(kin, chain, one) ? i : one;
    }
    for (int i = 0; i + 1 < count; ++i) {
        two = i != one && (two < 0 || bone(kin, chain, i) > bone(kin, chain, two)) ? i : two;
    }
    int upper = one < two ? one : two, lower = one < two ? two : one, end = lower + 1;
    if (two < 0) {
        return;
    }
    while (end + 1 < count && bone(kin, chain, end) < 0.1 * bone(kin, chain, lower)) {
        ++end;
    }
    bool is_leg = first_role % POISE_ROLE_SIDE == POISE_ROLE_THIGH % POISE_ROLE_SIDE;
    int found[] = {chain[upper], chain[lower], chain[end], is_leg && end + 1 < count ? chain[end + 1] : POISE_NONE};
    for (int i = 0; i < 4; ++i) {
        if (found[i] >= 0) {
            roles->body[first_role + i] = found[i];
            roles->confidence[first_role + i] = BY_CHAIN;
        }
    }
}

// A chain that ends above a knee or an elbow with a name of its own is the thigh or the upper arm alone: one body ("Left
// leg", then "Left knee"), or the motors of one joint ("left_leg_roll", "left_leg_yaw", "left_leg_pitch", then "left_knee").
static void take_chain(const poise_model *model, const poise_kinematics *kin, const int *chain, int count, int first_role,
                       pz_roles *roles)
{
    int middle = roles->body[first_role + 1], last = count > 0 ? chain[count - 1] : POISE_NONE;
    if (count > 0 && middle != last && middle >= 0 && pz_is_below(model, last, middle)) {
        if (roles->body[first_role] < 0) {
            roles->body[first_role] = last;
            roles->confidence[first_role] = BY_NAME;
        }
    } else if (count >= CHAIN_LEAST) {
        cut_chain(kin, chain, count, first_role, roles);
    }
}

static void find_numbered(const poise_model *model, bodies among, const poise_kinematics *kin, pz_roles *roles)
{
    for (pz_side side = PZ_LEFT; side <= PZ_RIGHT; ++side) {
        int offset = side == PZ_RIGHT ? POISE_ROLE_SIDE : 0, chain[LONGEST_CHAIN];
        int legs = find_chain(model, among, "leg", side, chain);
        take_chain(model, kin, chain, legs, POISE_ROLE_THIGH + offset, roles);
        int arms = find_chain(model, among, "arm", side, chain);
        take_chain(model, kin, chain, arms, POISE_ROLE_UPPER_ARM + offset, roles);
    }
}

// ---- Limbs whose joints have the names -----------------------------------------------------------------------------------

static void drop(pz_roles *roles, int role)
{
    roles->body[role] = POISE_NONE;
    roles->confidence[role] = 0.0;
}

// Does the joint that moves a body have a word of one of these parts in its name?
static bool joint_moves(const poise_model *model, int body, pz_side side, int first_part, int last_part)
{
    poise_joint_info joint = poise_model_joint_info(model, body);
    pz_role_name name = pz_role_name_of(joint.name);
    bool found = false;
    for (int part = first_part; part <= last_part && !found; ++part) {
        found = joint.nv > 0 && name.side == side && rank_of(part, name.key) >= 0;
    }
    return found;
}

// A hinge along the bone that it moves turns it and does not bend the limb: that is done where the bone ends.
static bool is_twisted(const poise_model *model, const poise_kinematics *kin, int body, int end)
{
    const poise_joint *joint = poise_model_joint_info(model, body).given;
    poise_pose pose = poise_kinematics_body_pose(kin, body);
    vec3 along = v3_normalize(v3_sub(poise_kinematics_body_pose(kin, end).position, pose.position));
    return joint->type == POISE_JOINT_REVOLUTE && fabs(v3_dot(poise_quat_rotate(pose.rotation, joint->axis), along)) > ALONG;
}

// Bodies that are only numbered ("AL3") may hang from joints that say what they are ("Left_Elbow_Pitch"). Which motor turns
// about which axis differs from robot to robot: the chain, and the hand or foot that has a name, is cut by its lengths.
static void find_limb_by_joints(const poise_model *model, bodies among, const poise_kinematics *kin, pz_side side,
                                int first_part, pz_roles *roles)
{
    int first = first_part + (side == PZ_RIGHT ? POISE_ROLE_SIDE : 0), end = roles->body[first + 2];
    int chain[LONGEST_CHAIN], count = 0;
    if (roles->body[first] >= 0 || roles->body[first + 1] >= 0) {
        return;
    }
    for (int k = among.begin; k < among.end && count < LONGEST_CHAIN; ++k) {
        if ((k == end || joint_moves(model, k, side, first_part, first_part + 2)) &&
            (count == 0 || pz_is_below(model, chain[count - 1], k))) {
            chain[count++] = k;
        }
    }
    if (count >= CHAIN_LEAST) {
        cut_chain(kin, chain, count, first, roles);
        int *limb = &roles->body[first]; // whose upper arm, if it is turned by a motor halfway, was cut in two there
        if (first_part == POISE_ROLE_UPPER_ARM && limb[1] >= 0 && limb[2] >= 0 && parent_of(model, limb[1]) == limb[0] &&
            is_twisted(model, kin, limb[1], limb[2])) {
            limb[1] = limb[2];
            drop(roles, first + 2);
        }
    }
}

static void find_by_joints(const poise_model *model, bodies among, const poise_kinematics *kin, pz_roles *roles)
{
    for (pz_side side = PZ_LEFT; side <= PZ_RIGHT; ++side) {
        find_limb_by_joints(model, among, kin, side, POISE_ROLE_UPPER_ARM, roles);
        find_limb_by_joints(model, among, kin, side, POISE_ROLE_THIGH, roles);
    }
}

// The head: by its name, the last of a numbered chain, or the last body whose joint has the name.
static int find_head(const poise_model *model, bodies among)
{
    int head = find_named(model, among, POISE_ROLE_HEAD, PZ_MIDDLE, 0), by_joint = POISE_NONE;
    for (int k = among.begin; k < among.end && head < 0; ++k) {
        bool is_head = is_called(model, among, k, PZ_MIDDLE, "head") ||
                       joint_moves(model, k, PZ_MIDDLE, POISE_ROLE_HEAD, POISE_ROLE_HEAD);
        by_joint = is_head && (by_joint < 0 || pz_is_below(model, by_joint, k)) ? k : by_joint;
    }
    return head >= 0 ? head : by_joint;
}

// The head of a trunk that is only numbered ("spine.006"): the end of the one chain of balls above the chest, on neither
// side; or of those that share a name, where a face with jaw and nose follows.
static int find_head_above(const poise_model *model, bodies among, int chest)
{
    int head = chest, above = 0;
    bool is_numbered = false; // does it share its name with the body below?
    while (head >= 0) {
        int next = POISE_NONE, named = POISE_NONE, chains = 0;
        pz_role_name name = name_of(model, among, head);
        for (int k = head + 1; k < among.end && pz_is_below(model, head, k); ++k) {
            pz_role_name other = name_of(model, among, k);
            bool is_next =
                parent_of(model, k) == head && poise_model_joint_info(model, k).nv >= 3 && other.side == PZ_MIDDLE;
            next = is_next ? k : next;
            named = is_next && strcmp(name.key, other.key) == 0 ? k : named;
            chains += is_next;
        }
        if (is_numbered && named < 0) {
            return head;
        }
        if (named < 0 && chains != 1) {
            return chains == 0 && above > 0 ? head : POISE_NONE;
        }
        is_numbered = named >= 0;
        head = is_numbered ? named : next;
        above += 1;
    }
    return POISE_NONE;
}

// Where a foot hangs from an ankle and lies ahead of it, as Kinect and SMPL have it, the ankle moves the foot, and that one
// is the toes. Two motors of one ankle (pitch, roll) are no such pair, wherever their axes lie.
static void find_ankles(const poise_model *model, bodies among, const poise_kinematics *kin, pz_roles *roles)
{
    for (int offset = 0; offset <= POISE_ROLE_SIDE; offset += POISE_ROLE_SIDE) {
        int foot = roles->body[POISE_ROLE_FOOT + offset], shank = roles->body[POISE_ROLE_SHANK + offset];
        int ankle = foot >= 0 ? parent_of(model, foot) : POISE_NONE;
        if (ankle < 0 || shank < 0 || ankle == shank || roles->body[POISE_ROLE_TOE + offset] >= 0 ||
            !is_moved(model, foot) || strcmp(name_of(model, among, ankle).key, "ankle") != 0 ||
            strcmp(name_of(model, among, foot).key, "ankle") == 0) {
            continue;
        }
        vec3 middle = poise_kinematics_body_pose(kin, ankle).position;
        vec3 leg = v3_sub(middle, poise_kinematics_body_pose(kin, shank).position);
        vec3 ahead = v3_sub(poise_kinematics_body_pose(kin, foot).position, middle);
        double length = v3_norm(ahead), along = v3_dot(leg, ahead);
        if (length > TOE_LEAST * v3_norm(leg) && along < TOE_BENT * length * v3_norm(leg)) {
            roles->body[POISE_ROLE_FOOT + offset] = ankle;
            roles->body[POISE_ROLE_TOE + offset] = foot;
            roles->confidence[POISE_ROLE_TOE + offset] = BY_NAME;
        }
    }
}

// ---- All together --------------------------------------------------------------------------------------------------------

static void find_sides(const poise_model *model, bodies among, pz_roles *roles)
{
    for (int role = POISE_ROLE_LEFT; role < POISE_ROLE_COUNT; ++role) {
        pz_side side = role < POISE_ROLE_RIGHT ? PZ_LEFT : PZ_RIGHT;
        int part = role < POISE_ROLE_RIGHT ? role : role - POISE_ROLE_SIDE, number = 0;
        if (part >= POISE_ROLE_THUMB) {
            number = (part - POISE_ROLE_THUMB) % 3 + 1;
            part -= number - 1;
        }
        roles->body[role] = find_named(model, among, part, side, number);
        roles->confidence[role] = roles->body[role] >= 0 ? BY_NAME : 0.0;
    }
}

// Where the body that is called the arm lies at the elbow, as the motor that turns it does, the one before it, which is
// called the shoulder, carries the upper arm, and there is no collar. Nor is there one where several motors are called the
// shoulder: they are that joint.
static void find_shoulders(const poise_model *model, bodies among, const poise_kinematics *kin, pz_roles *roles)
{
    for (int offset = 0; offset <= POISE_ROLE_SIDE; offset += POISE_ROLE_SIDE) {
        int motors[LONGEST_CHAIN], count = find_chain(model, among, "shoulder", offset ? PZ_RIGHT : PZ_LEFT, motors);
        int collar = roles->body[POISE_ROLE_CLAVICLE + offset], arm = roles->body[POISE_ROLE_UPPER_ARM + offset];
        int chain[] = {collar, arm, roles->body[POISE_ROLE_FOREARM + offset]};
        bool is_chain = collar >= 0 && arm >= 0 && chain[2] >= 0 && pz_is_below(model, collar, arm) && arm != collar;
        if (is_chain && bone(kin, chain, 1) < AT_ELBOW * bone(kin, chain, 0)) {
            roles->body[POISE_ROLE_UPPER_ARM + offset] = collar;
            drop(roles, POISE_ROLE_CLAVICLE + offset);
        } else if (is_chain && count > 1 && collar == motors[count - 1]) {
            drop(roles, POISE_ROLE_CLAVICLE + offset);
        }
    }
}

// Toes that turn where the ankle does are the foot: its second motor, by another name.
static void find_rolls(const poise_model *model, const poise_kinematics *kin, pz_roles *roles)
{
    for (int offset = 0; offset <= POISE_ROLE_SIDE; offset += POISE_ROLE_SIDE) {
        int foot = roles->body[POISE_ROLE_FOOT + offset], toe = roles->body[POISE_ROLE_TOE + offset];
        int shank = roles->body[POISE_ROLE_SHANK + offset];
        if (foot >= 0 && toe > foot && shank >= 0 && pz_is_below(model, foot, toe)) {
            vec3 ankle = poise_kinematics_body_pose(kin, foot).position;
            double length = v3_norm(v3_sub(ankle, poise_kinematics_body_pose(kin, shank).position));
            if (v3_norm(v3_sub(poise_kinematics_body_pose(kin, toe).position, ankle)) < TOE_NONE * length) {
                roles->body[POISE_ROLE_FOOT + offset] = toe;
                drop(roles, POISE_ROLE_TOE + offset);
            }
        }
    }
}

// "shoulder" is the upper arm where nothing else is, else the collar; one body plays one role.
static void drop_doubles(const poise_model *model, pz_roles *roles)
{
    for (int offset = 0; offset <= POISE_ROLE_SIDE; offset += POISE_ROLE_SIDE) {
        int arm = roles->body[POISE_ROLE_UPPER_ARM + offset], collar = roles->body[POISE_ROLE_CLAVICLE + offset];
        if (collar >= 0 &&
            (collar == arm || pz_is_below(model, arm, collar) || (arm >= 0 && !pz_is_below(model, collar, arm)))) {
            drop(roles, POISE_ROLE_CLAVICLE + offset);
        }
    }
    for (int role = 0; role < POISE_ROLE_COUNT; ++role) {
        for (int other = 0; other < role; ++other) {
            if (roles->body[role] >= 0 && roles->body[other] == roles->body[role]) {
                drop(roles, role);
            }
        }
    }
}

// Where limbs meet: pelvis and chest.
static void find_trunk(const poise_model *model, bodies among, pz_roles *roles)
{
    const int *body = roles->body;
    int hips = common_ancestor(model, body[POISE_ROLE_THIGH], body[POISE_ROLE_THIGH + POISE_ROLE_SIDE]);
    int arms = common_ancestor(model, body[POISE_ROLE_UPPER_ARM], body[POISE_ROLE_UPPER_ARM + POISE_ROLE_SIDE]);
    roles->body[POISE_ROLE_PELVIS] = hips;
    roles->body[POISE_ROLE_CHEST] = arms;
    roles->body[POISE_ROLE_HEAD] = find_head(model, among);
    for (int role = POISE_ROLE_PELVIS; role <= POISE_ROLE_HEAD; ++role) {
        roles->confidence[role] = roles->body[role] >= 0 ? BY_NAME : 0.0;
    }
    if (roles->body[POISE_ROLE_HEAD] < 0 && (roles->body[POISE_ROLE_HEAD] = find_head_above(model, among, arms)) >= 0) {
        roles->confidence[POISE_ROLE_HEAD] = BY_CHAIN;
    }
}

static bool plays_none(const pz_roles *roles, int body)
{
    bool found = false;
    for (int role = 0; role < POISE_ROLE_COUNT && !found; ++role) {
        found = roles->body[role] == body;
    }
    return !found;
}

// The palm of fingers that have names, where none of those above them is called a hand: the body that all hang from.
static void find_palms(const poise_model *model, pz_roles *roles)
{
    for (int offset = 0; offset <= POISE_ROLE_SIDE; offset += POISE_ROLE_SIDE) {
        int index = roles->body[POISE_ROLE_INDEX + offset], other = POISE_NONE;
        for (int role = POISE_ROLE_MIDDLE; role <= POISE_ROLE_LITTLE && other < 0; role += 3) {
            other = roles->body[role + offset];
        }
        int palm = common_ancestor(model, index, other), hand = roles->body[POISE_ROLE_HAND + offset];
        if (palm >= 0 && plays_none(roles, palm) && !pz_is_below(model, hand, index)) {
            roles->body[POISE_ROLE_HAND + offset] = palm;
            roles->confidence[POISE_ROLE_HAND + offset] = BY_CHAIN;
        }
    }
}

static bool has_limbs_or_fingers(const pz_roles *roles)
{
    static const int parts[] = {POISE_ROLE_THIGH, POISE_ROLE_UPPER_ARM, POISE_ROLE_INDEX, POISE_ROLE_MIDDLE};
    bool found = false;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; ++i) {
        found = found || roles->body[parts[i]] >= 0 || roles->body[parts[i] + POISE_ROLE_SIDE] >= 0;
    }
    return found;
}

static void find_limbs(const poise_model *model, bodies among, const poise_kinematics *kin, pz_roles *roles)
{
    find_sides(model, among, roles);
    find_numbered(model, among, kin, roles);
    find_by_joints(model, among, kin, roles);
    find_ankles(model, among, kin, roles);
    find_shoulders(model, among, kin, roles);
    find_rolls(model, kin, roles);
    find_trunk(model, among, roles);
    drop_doubles(model, roles);
    roles->has_side = true;
    find_palms(model, roles);
}

// The same; names that tell nothing are read without what all of them begin with. True: where arms or legs meet was found.
static bool find_figure(const poise_model *model, bodies *among, const poise_kinematics *kin, pz_roles *roles)
{
    const int *body = roles->body;
    find_limbs(model, *among, kin, roles);
    if (body[POISE_ROLE_PELVIS] < 0 && body[POISE_ROLE_CHEST] < 0 && (among->start = common_start(model, *among)) > 0) {
        find_limbs(model, *among, kin, roles);
    }
    return body[POISE_ROLE_PELVIS] >= 0 || body[POISE_ROLE_CHEST] >= 0;
}

// A file may hold several people, each with a root: the first that has both legs, or both arms, is taken as a whole.
static bodies first_figure(const poise_model *model, const poise_kinematics *kin, pz_roles *roles)
{
    bodies all = {0, poise_model_info(model).joints, 0}, first = all;
    int figures = 0;
    for (int root = 0; root < all.end; root += poise_model_joint_info(model, root).subtree) {
        bodies own = {root, root + poise_model_joint_info(model, root).subtree, 0};
        if (find_figure(model, &own, kin, roles)) {
            first = figures == 0 ? own : first;
            figures += 1;
        }
    }
    return figures > 1 || first.start > 0 ? first : all;
}

void pz_roles_find(const poise_model *model, const poise_kinematics *kin, pz_roles *roles)
{
    find_limbs(model, first_figure(model, kin, roles), kin, roles);
    if (!has_limbs_or_fingers(roles)) {
        pz_hand_find(model, kin, roles);
    }
}
