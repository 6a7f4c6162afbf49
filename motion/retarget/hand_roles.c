// The fingers of a hand whose bodies are only numbered: chains that hang from one body, the palm.
//
// The thumb is the chain that points elsewhere and begins farther back; the others follow from the one next to it. The last
// three bodies of a chain that move are its segments.
#include "motion/retarget/roles.h"

#include "num/real.h"
#include "num/trig.h"
#include "num/vector.h"

enum { FINGERS_MOST = 5, FINGERS_LEAST = 3, SEGMENTS = 3, JOINTS_LEAST = 2 };

#define BY_SHAPE 0.6

typedef struct finger {
    int body[SEGMENTS], count; // that move, the last ones
    vec3 knuckle, along;       // along: to its tip, not of unit length
    double aside;              // across the palm, away from the thumb
} finger;

static vec3 place(const poise_kinematics *kin, int body)
{
    return poise_kinematics_body_pose(kin, body).position;
}

// The chain that begins with `first` and continues with what carries most.
static finger follow_chain(const poise_model *model, const poise_kinematics *kin, int first)
{
    finger f = {.count = 0};
    int last = first;
    for (int k = first; k != POISE_NONE;) {
        poise_joint_info joint = poise_model_joint_info(model, k);
        if (joint.nv > 0) {
            f.knuckle = f.count == 0 ? place(kin, k) : f.knuckle;
            for (int i = 0; f.count >= SEGMENTS && i + 1 < SEGMENTS; ++i) {
                f.body[i] = f.body[i + 1];
            }
            f.body[least(f.count, SEGMENTS - 1)] = k;
            f.count += 1;
        }
        last = k;
        int next = POISE_NONE, most = 0;
        for (int c = k + 1; c < k + joint.subtree; c += poise_model_joint_info(model, c).subtree) {
            int carried = poise_model_joint_info(model, c).subtree;
            next = carried > most ? c : next;
            most = carried > most ? carried : most;
        }
        k = next;
    }
    f.along = v3_sub(place(kin, last), f.knuckle);
    return f;
}

// The chains that hang from a body; 0 where there are fewer than a hand has fingers, or more.
static int find_fingers(const poise_model *model, const poise_kinematics *kin, int palm, finger *fingers)
{
    int count = 0, end = palm + poise_model_joint_info(model, palm).subtree;
    for (int c = palm + 1; c < end; c += poise_model_joint_info(model, c).subtree) {
        finger f = follow_chain(model, kin, c);
        if (f.count >= JOINTS_LEAST && v3_norm(f.along) > 0) {
            if (count == FINGERS_MOST) {
                return 0;
            }
            fingers[count++] = f;
        }
    }
    return count >= FINGERS_LEAST ? count : 0;
}

// How much chain i is a thumb: the angle between it and the others, and how far back it begins, in lengths of a finger.
static double thumbness(const finger *fingers, int count, int i)
{
    vec3 along = v3(0, 0, 0), knuckle = v3(0, 0, 0);
    for (int j = 0; j < count; ++j) {
        along = j == i ? along : v3_add(along, fingers[j].along);
        knuckle = j == i ? knuckle : v3_add(knuckle, fingers[j].knuckle);
    }
    vec3 back = v3_sub(v3_scale(knuckle, 1.0 / (count - 1)), fingers[i].knuckle);
    double size = v3_norm(along) / (count - 1);
    double angle = poise_atan2(v3_norm(v3_cross(along, fingers[i].along)), v3_dot(along, fingers[i].along));
    return size > 0 ? angle + v3_dot(back, v3_normalize(along)) / size : 0.0;
}

static void order_fingers(finger *fingers, int count)
{
    int thumb = 0;
    for (int i = 1; i < count; ++i) {
        thumb = thumbness(fingers, count, i) > thumbness(fingers, count, thumb) ? i : thumb;
    }
    finger first = fingers[thumb];
    fingers[thumb] = fingers[0];
    fingers[0] = first;
    vec3 across = v3(0, 0, 0), middle = v3(0, 0, 0);
    for (int i = 1; i < count; ++i) {
        middle = v3_mad(middle, 1.0 / (count - 1), fingers[i].knuckle);
        for (int j = 1; j < i; ++j) {
            vec3 apart = v3_sub(fingers[i].knuckle, fingers[j].knuckle);
            across = v3_norm(apart) > v3_norm(across) ? apart : across;
        }
    }
    double sign = v3_dot(across, v3_sub(first.knuckle, middle)) > 0 ? -1.0 : 1.0;
    for (int i = 1; i < count; ++i) {
        fingers[i].aside = sign * v3_dot(across, fingers[i].knuckle);
    }
    for (int i = 2; i < count; ++i) {
        for (int j = i; j > 1 && fingers[j].aside < fingers[j - 1].aside; --j) {
            finger other = fingers[j];
            fingers[j] = fingers[j - 1];
            fingers[j - 1] = other;
        }
    }
}

static void give(pz_roles *roles, int role, int body)
{
    roles->body[role] = body;
    roles->confidence[role] = BY_SHAPE;
}

bool pz_is_beside_hands(const poise_model *model, const int *palms, int count)
{
    int inside = 0, beside = 0;
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        bool is_inside = false, is_above = false;
        for (int i = 0; i < count; ++i) {
            is_inside = is_inside || pz_is_below(model, palms[i], k);
            is_above = is_above || (palms[i] >= 0 && pz_is_below(model, k, palms[i]));
        }
        bool moves = poise_model_joint_info(model, k).nv > 0;
        inside += moves && is_inside;
        beside += moves && !is_inside && !is_above;
    }
    return beside > inside;
}

void pz_hand_find(const poise_model *model, const poise_kinematics *kin, pz_roles *roles)
{
    finger fingers[FINGERS_MOST], found[FINGERS_MOST];
    int count = 0, palm = POISE_NONE;
    pz_side side = PZ_MIDDLE;
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        int more = find_fingers(model, kin, k, found);
        for (int i = 0; i < more && more > count; ++i) {
            fingers[i] = found[i];
        }
        palm = more > count ? k : palm;
        count = more > count ? more : count;
        pz_side named = pz_role_name_of(poise_model_joint_info(model, k).body).side;
        side = named != PZ_MIDDLE ? named : side;
    }
    if (count == 0 || pz_is_beside_hands(model, &palm, 1)) {
        return;
    }
    int offset = side == PZ_LEFT ? 0 : POISE_ROLE_SIDE;
    order_fingers(fingers, count);
    give(roles, POISE_ROLE_HAND + offset, palm);
    for (int i = 0; i < count; ++i) {
        int segments = least(fingers[i].count, SEGMENTS);
        for (int s = 0; s < segments; ++s) {
            give(roles, POISE_ROLE_THUMB + SEGMENTS * i + s + offset, fingers[i].body[s]);
        }
    }
    roles->has_side = side != PZ_MIDDLE;
}

bool pz_is_hand(const pz_roles *roles)
{
    bool has_limbs = false, has_fingers = false;
    for (int offset = 0; offset <= POISE_ROLE_SIDE; offset += POISE_ROLE_SIDE) {
        has_limbs =
            has_limbs || roles->body[POISE_ROLE_THIGH + offset] >= 0 || roles->body[POISE_ROLE_UPPER_ARM + offset] >= 0;
        has_fingers = has_fingers || roles->body[POISE_ROLE_INDEX + offset] >= 0;
    }
    return has_fingers && !has_limbs;
}

void pz_hand_other_side(pz_roles *roles)
{
    for (int role = POISE_ROLE_LEFT; role < POISE_ROLE_RIGHT; ++role) {
        int body = roles->body[role];
        double confidence = roles->confidence[role];
        roles->body[role] = roles->body[role + POISE_ROLE_SIDE];
        roles->confidence[role] = roles->confidence[role + POISE_ROLE_SIDE];
        roles->body[role + POISE_ROLE_SIDE] = body;
        roles->confidence[role + POISE_ROLE_SIDE] = confidence;
    }
}
