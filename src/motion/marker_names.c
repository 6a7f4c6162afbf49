// Which body a marker sits on, by the names that both commonly have.
//
// A label says a side and a place of the body; a skeleton's bodies say which part they are in one of a few dialects
// (ASF/AMC "lfemur", BVH "LeftUpLeg", OpenSim "femur_l", our own "left_thigh"). Both sides of the table below are compared
// without case, and without what is neither letter nor digit.
#include <poise/track.h>

#include "math/scalar.h"
#include "motion/plain_name.h"

typedef enum part {
    HEAD,
    NECK,
    CHEST,
    WAIST,
    PELVIS,
    CLAVICLE,
    UPPER_ARM,
    FOREARM,
    WRIST,
    FINGERS,
    THIGH,
    SHIN,
    FOOT,
    TOES
} part;

// Names of the body that carries a marker of each part, the first that the skeleton has; without their side.
static const char *const body_names[][8] = {
    [HEAD] = {"head", "skull", "upperneck", "neck"},
    [NECK] = {"lowerneck", "neck", "neck1", "thorax", "chest", "spine2", "torso"},
    [CHEST] = {"thorax", "chest", "spine2", "spine1", "upperback", "torso", "spine"},
    [WAIST] = {"lowerback", "lumbar", "abdomen", "spine", "torso", "pelvis", "hips", "root"},
    [PELVIS] = {"pelvis", "hips", "hip", "root"},
    [CLAVICLE] = {"clavicle", "shoulder", "collar", "scapula", "thorax", "chest", "torso"},
    [UPPER_ARM] = {"humerus", "upperarm", "arm", "uparm"},
    [FOREARM] = {"radius", "forearm", "lowerarm", "ulna"},
    [WRIST] = {"wrist", "hand", "radius", "forearm", "lowerarm"},
    [FINGERS] = {"fingers", "finger", "hand", "wrist"},
    [THIGH] = {"femur", "thigh", "upleg", "upperleg"},
    [SHIN] = {"tibia", "shin", "leg", "lowerleg", "calf"},
    [FOOT] = {"foot", "calcn", "talus", "ankle"},
    [TOES] = {"toes", "toe", "toebase", "foot", "calcn"},
};

// Labels of the usual sets (Vicon Plug-in Gait and its relatives, OpenSim's examples), without their side.
static const struct {
    const char *label;
    part part;
} labels[] = {
    {"fhd", HEAD},          {"bhd", HEAD},          {"tophead", HEAD},     {"head", HEAD},       {"c7", NECK},
    {"clav", CHEST},        {"strn", CHEST},        {"sternum", CHEST},    {"bac", CHEST},       {"t10", WAIST},
    {"fwt", PELVIS},        {"bwt", PELVIS},        {"asi", PELVIS},       {"psi", PELVIS},      {"asis", PELVIS},
    {"psis", PELVIS},       {"sacr", PELVIS},       {"sacral", PELVIS},    {"vsacral", PELVIS},  {"sho", CLAVICLE},
    {"acromium", CLAVICLE}, {"acromion", CLAVICLE}, {"upa", UPPER_ARM},    {"elb", UPPER_ARM},   {"bicep", UPPER_ARM},
    {"elbow", UPPER_ARM},   {"frm", FOREARM},       {"fra", FOREARM},      {"forearm", FOREARM}, {"wra", WRIST},
    {"wrb", WRIST},         {"wristmed", WRIST},    {"wristlat", WRIST},   {"fin", FINGERS},     {"thi", THIGH},
    {"kne", THIGH},         {"thighupper", THIGH},  {"thighfront", THIGH}, {"thighrear", THIGH}, {"kneelat", THIGH},
    {"kneemed", THIGH},     {"shn", SHIN},          {"tib", SHIN},         {"shankupper", SHIN}, {"shankfront", SHIN},
    {"shankrear", SHIN},    {"ankle", SHIN},        {"anklelat", SHIN},    {"anklemed", SHIN},   {"ank", FOOT},
    {"hee", FOOT},          {"heel", FOOT},         {"midfootsup", FOOT},  {"midfootlat", FOOT}, {"toe", TOES},
    {"mt5", TOES},          {"toelat", TOES},       {"toemed", TOES},      {"toetip", TOES},
};

// Is `n` the word `word` with `side` ("l", "left", "") before or after it?
static bool is_with_side(const pz_plain_name *n, const char *word, const char *side)
{
    size_t w = strlen(word), s = strlen(side);
    if (n->length != w + s) {
        return false;
    }
    bool before = memcmp(n->text, side, s) == 0 && memcmp(n->text + s, word, w) == 0;
    bool after = memcmp(n->text, word, w) == 0 && memcmp(n->text + w, side, s) == 0;
    return before || after;
}

static bool is_on_side(const pz_plain_name *n, const char *word, char side)
{
    if (side == 0) {
        return is_with_side(n, word, "");
    }
    return is_with_side(n, word, side == 'l' ? "l" : "r") || is_with_side(n, word, side == 'l' ? "left" : "right");
}

// The part and side that a label names. False when the table has no such label.
static bool find_label(const pz_plain_name *n, part *found, char *side)
{
    static const char sides[3] = {0, 'l', 'r'};
    for (size_t s = 0; s < 3; ++s) {
        for (size_t i = 0; i < sizeof labels / sizeof labels[0]; ++i) {
            if (is_on_side(n, labels[i].label, sides[s])) {
                *found = labels[i].part;
                *side = sides[s];
                return true;
            }
        }
    }
    return false;
}

// The body that carries this part on this side; parts in the middle of the body serve both.
static int find_body(const poise_model *model, part wanted, char side)
{
    for (size_t i = 0; i < 8 && body_names[wanted][i]; ++i) {
        for (int pass = 0; pass < 2; ++pass) {
            for (int k = 0; k < poise_model_info(model).joints; ++k) {
                pz_plain_name n = pz_plain_name_of(poise_model_joint_info(model, k).body);
                if (is_on_side(&n, body_names[wanted][i], pass == 0 ? side : 0)) {
                    return k;
                }
            }
        }
    }
    return POISE_NONE;
}

int poise_placements_by_name(const poise_model *model, const poise_markers *markers, poise_placement *placements,
                             int capacity)
{
    int count = 0;
    for (int i = 0; model && markers && i < markers->count; ++i) {
        pz_plain_name n = pz_plain_name_of(markers->label[i]);
        part wanted;
        char side;
        int body = find_label(&n, &wanted, &side) ? find_body(model, wanted, side) : POISE_NONE;
        if (body == POISE_NONE) {
            continue;
        }
        if (count < capacity && placements) {
            placements[count] = (poise_placement){markers->label[i], body, {NAN, NAN, NAN}, 1.0};
        }
        count += 1;
    }
    return count;
}
