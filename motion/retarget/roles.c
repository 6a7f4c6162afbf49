// Roles: the parts of a body, whatever a file calls them; which body of a skeleton plays which; and the text that says so.
//
// What parts are called stands in one table. Dialects: CMU and HDM05 (ASF/AMC, and BVH made of them), Mixamo, LAFAN1,
// Xsens/MVN, Rokoko, 100STYLE, Bandai-Namco, GAMES-105, MakeHuman, Daz, VRM and Unity, Unreal, Rigify, OptiTrack, SMPL,
// Kinect, OpenSim, VRChat; Unitree, Atlas, NAO, Robotis OP3, Apollo, Berkeley Humanoid Lite, MuJoCo's humanoids; Babylon.js's
// hands. Limbs are found by these names, pelvis and chest by where limbs meet. Arms and legs whose joints are only numbered
// (Talos, some glTF figures) are cut by the lengths of their bones, fingers whose bodies are only numbered are told by the
// shape of the hand.
#include "motion/retarget/actor.h"

#include "base/error.h"
#include "base/text.h"
#include "motion/plain_name.h"
#include "num/real.h"
#include "num/trig.h"
#include "num/vector.h"

#include <string.h>

enum { PART_ROLES = POISE_ROLE_RIGHT, WORDS_MOST = 12 }; // roles with words of their own: trunk and left side

// Names without side, number and noise, the surest first: a skeleton's body is the one with the earliest word. An empty
// string ends a row.
static const char *const role_words[PART_ROLES][WORDS_MOST] = {
    [POISE_ROLE_CLAVICLE] = {"clavicle", "collar", "clav", "torsoclavicle", "scapula", "shoulder"},
    [POISE_ROLE_UPPER_ARM] = {"humerus", "upperarm", "uparm", "uarm", "bicep", "shldr", "arm", "shoulder", "sho"},
    [POISE_ROLE_FOREARM] = {"forearm", "lowerarm", "lowarm", "loarm", "larm", "farm", "ulna", "radius", "elbow", "el"},
    [POISE_ROLE_HAND] = {"hand", "palm", "handpalm", "rubberhand", "wrist"},
    [POISE_ROLE_THIGH] = {"femur", "thigh", "upleg", "upperleg", "uleg", "hip"},
    [POISE_ROLE_SHANK] = {"tibia", "shin", "shank", "calf", "lowerleg", "lowleg", "loleg", "lleg", "knee", "leg"},
    [POISE_ROLE_FOOT] = {"calcn", "foot", "ankle", "talus", "ank"},
    [POISE_ROLE_TOE] = {"toes", "toebase", "toe", "ball"},
    [POISE_ROLE_THUMB] = {"thumb", "handthumb", "fingerthumb", "th"},
    [POISE_ROLE_INDEX] = {"index", "handindex", "fingerindex", "forefinger", "ff", "if"},
    [POISE_ROLE_MIDDLE] = {"middle", "handmiddle", "mid", "fingermiddle", "mf"},
    [POISE_ROLE_RING] = {"ring", "handring", "fingerring", "rf"},
    [POISE_ROLE_LITTLE] = {"pinky", "little", "handpinky", "handlittle", "fingerpinky", "lf"},
    [POISE_ROLE_HEAD] = {"head", "skull", "torsohead", "upperneck", "neck"},
};

// Words that say nothing: of joints, of axes (fe, aa, ie: flexion, abduction, internal rotation), of who made the file.
static const char *const noise[] = {
    "joint", "link", "pitch",     "roll", "yaw", "j",  "c",   "bip",      "bip01",      "mixamorig", "model", "bone",
    "x",     "y",    "z",         "rx",   "ry",  "rz", "def", "skeleton", "valvebiped", "b",         "body",  "bind",
    "jnt",   "skel", "character", "bend", "fe",  "aa", "ie",  "pd",       "phalanx",    "f"};

static const struct {
    const char *word;
    int number;
} phalanges[] = {{"proximal", 1}, {"knuckle", 1}, {"px", 1},     {"prox", 1}, {"intermediate", 2}, {"medial", 2},
                 {"md", 2},       {"int", 2},     {"distal", 3}, {"last", 3}, {"ds", 3},           {"dist", 3}};

// Fingers as robot hands write them: "ffmiddle" is the middle of the forefinger.
static const char *const finger_codes[] = {"ff", "mf", "rf", "lf", "th"};
static const char *const finger_names[] = {"thumb", "index", "middle", "ring", "little"};

// ---- Words of a name -----------------------------------------------------------------------------------------------------

// What a name says.
typedef struct role_name {
    pz_side side;
    int number;        // the last of one digit; 0: none
    int number_before; // the one before that
    char key[64];      // what is left: words of the table, joined
} role_name;

// Where the word that begins at `text` ends: letters up to a capital after a small one, or digits.
static size_t word_length(const char *text)
{
    size_t n = 1;
    if (is_digit(text[0])) {
        while (is_digit(text[n])) {
            ++n;
        }
        return n;
    }
    while ((is_lower(text[n]) || is_upper(text[n])) && !(is_lower(text[n - 1]) && is_upper(text[n])) &&
           !(is_upper(text[n - 1]) && is_upper(text[n]) && is_lower(text[n + 1]))) {
        ++n;
    }
    return n;
}

static bool is_one_of(const char *word, const char *const *list, size_t count)
{
    bool found = false;
    for (size_t i = 0; i < count && !found; ++i) {
        found = list[i] && strcmp(list[i], word) == 0;
    }
    return found;
}

static bool is_part(const char *word)
{
    bool found = false;
    for (int role = 0; role < PART_ROLES && !found; ++role) {
        found = is_one_of(word, role_words[role], WORDS_MOST);
    }
    return found || strcmp(word, "hipjoint") == 0;
}

// "ffmiddle": the finger's code and a segment.
static bool take_finger(const char *word, role_name *name)
{
    for (size_t i = 0; i < sizeof finger_codes / sizeof finger_codes[0]; ++i) {
        if (strncmp(word, finger_codes[i], 2) == 0 && word[2] && !name->key[0]) {
            int number = strcmp(word + 2, "middle") == 0 ? 2 : 0;
            for (size_t p = 0; p < sizeof phalanges / sizeof phalanges[0]; ++p) {
                number = strcmp(word + 2, phalanges[p].word) == 0 ? phalanges[p].number : number;
            }
            if (number > 0) {
                memcpy(name->key, finger_codes[i], 3);
                name->number = number;
                return true;
            }
        }
    }
    return false;
}

// A word of a name, in lower case: a side, a number, noise, or a piece of the key.
static void take_word(const char *word, role_name *name)
{
    static const char *const lefts[] = {"left", "l", "lh"}, *const rights[] = {"right", "r", "rh"};
    pz_side side = is_one_of(word, lefts, 3) ? PZ_LEFT : is_one_of(word, rights, 3) ? PZ_RIGHT : PZ_MIDDLE;
    if (side != PZ_MIDDLE) {
        name->side = side;
        return;
    }
    if (is_digit(word[0])) {
        name->number_before = name->number;
        name->number = word[1] ? name->number : word[0] - '0';
        return;
    }
    if (take_finger(word, name)) {
        return;
    }
    if (strcmp(word, "middle") == 0 && is_one_of(name->key, finger_names, 5)) { // "index_middle"
        name->number = 2;
        return;
    }
    for (size_t i = 0; i < sizeof phalanges / sizeof phalanges[0]; ++i) {
        if (strcmp(word, phalanges[i].word) == 0) {
            name->number = phalanges[i].number;
            return;
        }
    }
    if (is_one_of(word, noise, sizeof noise / sizeof noise[0])) {
        return;
    }
    size_t glued = strncmp(word, "left", 4) == 0 ? 4 : strncmp(word, "right", 5) == 0 ? 5 : 1; // "leftupleg", "lfemur"
    bool is_glued = (word[0] == 'l' || word[0] == 'r') && !is_part(word) && is_part(word + glued);
    if (is_glued) {
        name->side = word[0] == 'l' ? PZ_LEFT : PZ_RIGHT;
        word += glued;
    }
    size_t used = strlen(name->key), more = strlen(word);
    if (used + more < sizeof name->key) {
        memcpy(name->key + used, word, more + 1);
    }
}

// Is this a character that an FBX export replaced by its code: "FBXASC046" for a dot?
static bool is_escape(const char *text)
{
    return strncmp(text, "FBXASC", 6) == 0 && is_digit(text[6]) && is_digit(text[7]) && is_digit(text[8]);
}

// "arm_left_elbow" and "leg_left_knee": the limb before its part says nothing.
static void drop_limb(role_name *name)
{
    bool has_limb = strncmp(name->key, "arm", 3) == 0 || strncmp(name->key, "leg", 3) == 0;
    if (has_limb && is_part(name->key + 3)) {
        memmove(name->key, name->key + 3, strlen(name->key) - 2);
    }
}

static role_name read_name(const char *text)
{
    role_name name = {.side = PZ_MIDDLE, .number = 0, .key = ""};
    const char *colon = strrchr(text, ':');
    for (text = colon ? colon + 1 : text; *text;) {
        if (is_escape(text)) {
            text += strlen("FBXASC046");
            continue;
        }
        if (!is_digit(*text) && !is_lower(*text) && !is_upper(*text)) {
            ++text;
            continue;
        }
        char word[PZ_NAME_LONGEST] = "";
        size_t length = word_length(text), kept = length < sizeof word ? length : sizeof word - 1;
        for (size_t i = 0; i < kept; ++i) {
            word[i] = is_upper(text[i]) ? (char)(text[i] - 'A' + 'a') : text[i];
        }
        take_word(word, &name);
        text += length;
    }
    if (strcmp(name.key, "finger") == 0 && name.number_before >= 1 && name.number_before <= 5) { // "finger2-1"
        const char *finger = finger_names[name.number_before - 1];
        memcpy(name.key, finger, strlen(finger) + 1);
    }
    if (name.side == PZ_MIDDLE && (name.key[0] == 'l' || name.key[0] == 'r') && !is_part(name.key) &&
        is_part(name.key + 1)) {
        name.side = name.key[0] == 'l' ? PZ_LEFT : PZ_RIGHT; // "LUArm", of the words "LU" and "Arm"
        memmove(name.key, name.key + 1, strlen(name.key));
    }
    if (strcmp(name.key, "hipjoint") == 0) {
        name.key[strlen("hip")] = '\0';
    }
    drop_limb(&name);
    return name;
}

// ---- Names of roles ------------------------------------------------------------------------------------------------------

static const char *const names[POISE_ROLE_COUNT] = {
    "pelvis",        "chest",        "head",         "clavicle.left", "upper_arm.left", "forearm.left",   "hand.left",
    "thigh.left",    "shank.left",   "foot.left",    "toe.left",      "thumb1.left",    "thumb2.left",    "thumb3.left",
    "index1.left",   "index2.left",  "index3.left",  "middle1.left",  "middle2.left",   "middle3.left",   "ring1.left",
    "ring2.left",    "ring3.left",   "little1.left", "little2.left",  "little3.left",   "clavicle.right", "upper_arm.right",
    "forearm.right", "hand.right",   "thigh.right",  "shank.right",   "foot.right",     "toe.right",      "thumb1.right",
    "thumb2.right",  "thumb3.right", "index1.right", "index2.right",  "index3.right",   "middle1.right",  "middle2.right",
    "middle3.right", "ring1.right",  "ring2.right",  "ring3.right",   "little1.right",  "little2.right",  "little3.right"};

const char *poise_role_name(int role)
{
    return role >= 0 && role < POISE_ROLE_COUNT ? names[role] : "";
}

int pz_role_called(const char *name)
{
    for (int role = 0; name && role < POISE_ROLE_COUNT; ++role) {
        if (strcmp(names[role], name) == 0) {
            return role;
        }
    }
    return POISE_NONE;
}

// ---- A hand --------------------------------------------------------------------------------------------------------------

// The fingers of a hand whose bodies are only numbered: chains that hang from one body, the palm.
//
// The thumb is the chain that points elsewhere and begins farther back; the others follow from the one next to it. The last
// three bodies of a chain that move are its segments.
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

// The roles of a hand alone, by its shape.
static void find_hand(const poise_model *model, const poise_kinematics *kin, pz_roles *roles)
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
        pz_side named = read_name(poise_model_joint_info(model, k).body).side;
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

// ---- A figure ------------------------------------------------------------------------------------------------------------

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
    for (int i = 0; i < WORDS_MOST && role_words[part][i]; ++i) {
        if (strcmp(role_words[part][i], key) == 0) {
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
static role_name name_of(const poise_model *model, bodies among, int body)
{
    const char *name = body_name(model, body);
    bool has_start = strncmp(name, body_name(model, among.end - 1), (size_t)among.start) == 0;
    return read_name(name + (has_start ? among.start : 0));
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
    return among.end - among.begin > CHAIN_LEAST && read_name(text).side == PZ_MIDDLE ? start : 0;
}

// The body that has the best word for a part; `number` 0: any. Of several that share a word, one that nothing moves, such as
// the end of a rod beside the ankle, is none.
static int find_named(const poise_model *model, bodies among, int part, pz_side side, int number)
{
    int best = POISE_NONE, best_rank = WORDS_MOST;
    for (int k = among.begin; k < among.end; ++k) {
        role_name name = name_of(model, among, k);
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
    role_name name = name_of(model, among, body);
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
    role_name name = read_name(joint.name);
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
        role_name name = name_of(model, among, head);
        for (int k = head + 1; k < among.end && pz_is_below(model, head, k); ++k) {
            role_name other = name_of(model, among, k);
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

// ---- What limbs tell of the rest -----------------------------------------------------------------------------------------

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
        find_hand(model, kin, roles);
    }
}

// ---- Parts of a figure, by anatomy or by roles ---------------------------------------------------------------------------

static bool has_legs(const pz_anatomy *a)
{
    static const pz_part leg[] = {PZ_THIGH, PZ_SHANK, PZ_FOOT};
    bool has_all = true;
    for (size_t i = 0; i < sizeof leg / sizeof leg[0]; ++i) {
        has_all = has_all && a->part[leg[i]][PZ_LEFT].body >= 0 && a->part[leg[i]][PZ_RIGHT].body >= 0;
    }
    return has_all;
}

poise_status pz_figure_of(const poise_model *model, const poise_allocator *allocator, pz_anatomy *anatomy)
{
    static const struct {
        pz_part part;
        int role;
    } limbs[] = {{PZ_CLAVICLE, POISE_ROLE_CLAVICLE}, {PZ_UPPER_ARM, POISE_ROLE_UPPER_ARM}, {PZ_FOREARM, POISE_ROLE_FOREARM},
                 {PZ_HAND, POISE_ROLE_HAND},         {PZ_THIGH, POISE_ROLE_THIGH},         {PZ_SHANK, POISE_ROLE_SHANK},
                 {PZ_FOOT, POISE_ROLE_FOOT}};
    poise_status status = pz_anatomy_of(model, allocator, anatomy);
    if (status != POISE_OK || has_legs(anatomy)) {
        return status;
    }
    poise_kinematics *kin;
    status = poise_kinematics_create(model, allocator, &kin, NULL);
    if (status != POISE_OK) {
        return status;
    }
    pz_roles roles;
    pz_part_bodies given;
    for (int p = 0; p < PZ_PART_COUNT; ++p) {
        given.body[p][PZ_MIDDLE] = given.body[p][PZ_LEFT] = given.body[p][PZ_RIGHT] = POISE_NONE;
    }
    pz_roles_find(model, kin, &roles);
    for (size_t i = 0; i < sizeof limbs / sizeof limbs[0]; ++i) {
        given.body[limbs[i].part][PZ_LEFT] = roles.body[limbs[i].role];
        given.body[limbs[i].part][PZ_RIGHT] = roles.body[limbs[i].role + POISE_ROLE_SIDE];
    }
    poise_kinematics_destroy(kin);
    return pz_anatomy_given(model, &given, allocator, anatomy);
}

// ---- A map of roles as a text --------------------------------------------------------------------------------------------

enum { WORD_LONGEST = 256 };

typedef struct writer {
    char *text;
    size_t size, used;
} writer;

static void put(writer *w, const char *part, size_t length)
{
    for (size_t i = 0; i < length; ++i, ++w->used) {
        if (w->used + 1 < w->size) {
            w->text[w->used] = part[i];
        }
    }
}

// A word, in quotes where it has blanks, and blanks up to a column.
static void put_word(writer *w, const char *word, size_t width)
{
    bool quoted = strchr(word, ' ') || strchr(word, '\t') || strchr(word, '#');
    size_t before = w->used;
    put(w, "\"", quoted ? 1 : 0);
    put(w, word, strlen(word));
    put(w, "\"", quoted ? 1 : 0);
    do {
        put(w, " ", 1);
    } while (w->used - before < width);
}

static const char *map_name(const poise_model *model, int body)
{
    return body >= 0 ? poise_model_joint_info(model, body).body : "-";
}

size_t poise_role_map_write(const poise_role_map *map, const poise_model *from, const poise_model *to, char *text,
                            size_t size)
{
    writer w = {.text = text, .size = size};
    size_t widths[2] = {8, 8};
    for (int role = 0; role < POISE_ROLE_COUNT; ++role) {
        size_t a = strlen(map_name(from, map->role[role].from)) + 4, b = strlen(map_name(to, map->role[role].to)) + 4;
        widths[0] = a > widths[0] ? a : widths[0];
        widths[1] = b > widths[1] ? b : widths[1];
    }
    put(&w, "# role            ", 18);
    put_word(&w, "source", widths[0]);
    put_word(&w, "target", widths[1]);
    put(&w, "confidence\n", 11);
    for (int role = 0; role < POISE_ROLE_COUNT; ++role) {
        const poise_role_pair *p = &map->role[role];
        if (p->from >= 0 || p->to >= 0) {
            int tenths = (int)(p->confidence * 10.0 + 0.5);
            char digits[] = {(char)('0' + tenths / 10), '.', (char)('0' + tenths % 10), '\n'};
            put_word(&w, poise_role_name(role), 18);
            put_word(&w, map_name(from, p->from), widths[0]);
            put_word(&w, map_name(to, p->to), widths[1]);
            put(&w, digits, sizeof digits);
        }
    }
    if (size > 0) {
        text[w.used < size ? w.used : size - 1] = '\0';
    }
    return w.used;
}

// ---- And back ------------------------------------------------------------------------------------------------------------

// The next word of a line, which ends at its end or a #. False: there is none.
static bool next_word(const char **text, char *word)
{
    const char *c = *text;
    size_t length = 0;
    while (*c == ' ' || *c == '\t' || *c == '\r') {
        ++c;
    }
    char end = *c == '"' ? '"' : ' ';
    if (*c == '\0' || *c == '\n' || *c == '#') {
        *text = c;
        return false;
    }
    c += end == '"';
    for (; *c && *c != '\n' && *c != '\r' && *c != end && !(end == ' ' && *c == '\t'); ++c) {
        if (length + 1 < WORD_LONGEST) {
            word[length++] = *c;
        }
    }
    word[length] = '\0';
    *text = c + (end == '"' && *c == '"');
    return true;
}

static poise_status fail_at(poise_error *error, int line, poise_status status)
{
    if (error) {
        error->line = line;
    }
    return status;
}

// One body of a line: "-" is none.
static poise_status read_body(const char **text, const poise_model *model, const char *which, int *body, poise_error *error)
{
    char word[WORD_LONGEST];
    poise_error why;
    *body = POISE_NONE;
    if (!next_word(text, word)) {
        return pz_error_set(error, POISE_ERROR_FORMAT, "a line is ROLE SOURCE TARGET; the %s is missing", which);
    }
    if (strcmp(word, "-") != 0 && (*body = poise_model_find_part(model, word, NULL, &why)) < 0) {
        return pz_error_set(error, POISE_ERROR_FORMAT, "%s: %s", which, why.text);
    }
    return POISE_OK;
}

// Refuse a role that has a line already, and a body that plays another one.
static poise_status check_new(const poise_role_map *map, int role, const poise_role_pair *pair, const poise_model *from,
                              const poise_model *to, poise_error *error)
{
    const poise_role_pair *old = &map->role[role];
    if (old->confidence > 0.0) {
        return pz_error_set(error, POISE_ERROR_FORMAT, "role %s has a line already: %s %s", poise_role_name(role),
                            map_name(from, old->from), map_name(to, old->to));
    }
    for (int other = 0; other < POISE_ROLE_COUNT; ++other) {
        const poise_role_pair *p = &map->role[other];
        bool is_source = pair->from >= 0 && p->from == pair->from;
        if (is_source || (pair->to >= 0 && p->to == pair->to)) {
            return pz_error_set(error, POISE_ERROR_FORMAT, "%s: \"%s\" is both %s and %s; a body has one role",
                                is_source ? "source" : "target",
                                is_source ? map_name(from, pair->from) : map_name(to, pair->to), poise_role_name(other),
                                poise_role_name(role));
        }
    }
    return POISE_OK;
}

poise_status poise_role_map_read(const char *text, const poise_model *from, const poise_model *to, poise_role_map *map,
                                 poise_error *error)
{
    if (!text || !from || !to || !map) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "text, models and map must not be NULL");
    }
    poise_role_map made;
    for (int role = 0; role < POISE_ROLE_COUNT; ++role) {
        made.role[role] = (poise_role_pair){.from = POISE_NONE, .to = POISE_NONE};
    }
    for (int line = 1; *text; ++line) {
        char word[WORD_LONGEST];
        if (next_word(&text, word)) {
            int role = pz_role_called(word);
            if (role < 0) {
                return fail_at(error, line,
                               pz_error_set(error, POISE_ERROR_FORMAT,
                                            "\"%s\" is not a role; roles are pelvis, chest, head, clavicle.left, ...",
                                            word));
            }
            poise_role_pair pair = {.confidence = 1.0};
            poise_status status = read_body(&text, from, "source", &pair.from, error);
            status = status == POISE_OK ? read_body(&text, to, "target", &pair.to, error) : status;
            status = status == POISE_OK ? check_new(&made, role, &pair, from, to, error) : status;
            if (status != POISE_OK) {
                return fail_at(error, line, status);
            }
            made.role[role] = pair;
        }
        while (*text && *text != '\n') {
            ++text;
        }
        text += *text == '\n';
    }
    *map = made;
    return POISE_OK;
}
