// What the parts of a body are called, in one table.
//
// Dialects: CMU and HDM05 (ASF/AMC, and BVH made of them), Mixamo, LAFAN1, Xsens/MVN, Rokoko, 100STYLE, Bandai-Namco,
// GAMES-105, MakeHuman, Daz, VRM and Unity, Unreal, Rigify, OptiTrack, SMPL, Kinect, OpenSim, VRChat; Unitree, Atlas, NAO,
// Robotis OP3, Apollo, Berkeley Humanoid Lite, MuJoCo's humanoids; Babylon.js's hands. Arms and legs whose joints are only
// numbered (Talos, some glTF figures) are cut by the lengths of their bones: roles.c.
#include "motion/retarget/roles.h"

#include "base/text.h"
#include "motion/plain_name.h"

#include <string.h>

// Names without side, number and noise, the surest first: a skeleton's body is the one with the earliest word. An empty
// string ends a row.
const char *const pz_role_words[PZ_PART_ROLES][PZ_ROLE_WORDS] = {
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
    for (int role = 0; role < PZ_PART_ROLES && !found; ++role) {
        found = is_one_of(word, pz_role_words[role], PZ_ROLE_WORDS);
    }
    return found || strcmp(word, "hipjoint") == 0;
}

// "ffmiddle": the finger's code and a segment.
static bool take_finger(const char *word, pz_role_name *name)
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
static void take_word(const char *word, pz_role_name *name)
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
static void drop_limb(pz_role_name *name)
{
    bool has_limb = strncmp(name->key, "arm", 3) == 0 || strncmp(name->key, "leg", 3) == 0;
    if (has_limb && is_part(name->key + 3)) {
        memmove(name->key, name->key + 3, strlen(name->key) - 2);
    }
}

pz_role_name pz_role_name_of(const char *text)
{
    pz_role_name name = {.side = PZ_MIDDLE, .number = 0, .key = ""};
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
