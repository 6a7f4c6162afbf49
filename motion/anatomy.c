// The parts of a human skeleton, by the names that bodies have in ASF/AMC, BVH, OpenSim, glTF and our own humanoid.
//
//   up       mid hips to mid shoulders, snapped to a coordinate axis within 20 degrees
//   left     right hip to left hip, made orthogonal to up;   forward = left x up
//   stature  (thigh + shank)/0.491, mean of both sides (D. A. Winter, Biomechanics and Motor Control of Human Movement)
//
// Axes of a part: of the trunk (up, forward, outward); of a limb (along the bone d, forward made orthogonal to it, outward =
// forward x d on the left and d x forward on the right: outward for a limb that hangs, upward for an arm held sideways); of
// a foot (forward, up, outward) with up against the shank.
#include "motion/anatomy.h"

#include <poise/track.h>

#include "base/arena.h"
#include "base/error.h"
#include "motion/pieces.h"
#include "motion/plain_name.h"

#define TRUNK_TURN  0.15  // radians: deviation of the joints of spine, neck and clavicles from the neutral posture
#define LIMB_TURN   0.5   // of all others
#define SLIDE       1e-4  // of the stature: deviation of lengths that a file lets joints change, below the root
#define SNAP        0.94  // cosine of 20 degrees
#define ARM_SHARE   0.332 // shoulder to wrist
#define TRUNK_SHARE 0.288 // hips to shoulders
#define HEAD_ABOVE  0.085 // of the stature: head above the shoulders, where the skeleton has none
#define HAND_SHARE  0.05  // of the stature, wrist to knuckles
#define FOOT_SHARE  0.08  // of the stature, ankle to ball

static const char *const part_names[PZ_PART_COUNT] = {"head",  "thorax", "pelvis", "clavicle", "upperarm", "forearm",
                                                      "wrist", "hand",   "thigh",  "shank",    "foot"};

// Names of each part's body, without side: the first that the skeleton has.
static const char *const body_names[PZ_PART_COUNT][10] = {
    [PZ_HEAD] = {"head", "skull", "head1", "upperneck", "neck1", "neck"},
    [PZ_THORAX] = {"thorax", "chest", "torso", "spine2", "spine1", "upperback", "spine"},
    [PZ_PELVIS] = {"pelvis", "hips", "hip", "root"},
    [PZ_CLAVICLE] = {"clavicle", "collar", "clav", "scapula", "shoulder"},
    [PZ_UPPER_ARM] = {"humerus", "upperarm", "uparm", "arm", "shldr", "shoulder"},
    [PZ_FOREARM] = {"ulna", "radius", "forearm", "lowerarm", "lowarm", "loarm", "elbow"},
    [PZ_HAND] = {"hand", "wrist", "palm"},
    [PZ_THIGH] = {"femur", "thigh", "upleg", "upperleg", "hip"},
    [PZ_SHANK] = {"tibia", "shin", "shank", "leg", "lowerleg", "lowleg", "loleg", "calf", "knee"},
    [PZ_FOOT] = {"calcn", "foot", "ankle", "talus", "toes", "toebase", "toe"},
};

bool pz_part_by_name(const char *name, size_t length, pz_part *part)
{
    for (int i = 0; i < PZ_PART_COUNT; ++i) {
        if (strlen(part_names[i]) == length && memcmp(part_names[i], name, length) == 0) {
            *part = (pz_part)i;
            return true;
        }
    }
    return false;
}

bool pz_part_has_sides(pz_part part)
{
    return part >= PZ_CLAVICLE;
}

// ---- Names ---------------------------------------------------------------------------------------------------------------

// Characters that all names begin with ("mixamorig", "Bip01"): a subject's, not a part's.
static size_t common_prefix(const poise_model *model)
{
    int joints = poise_model_info(model).joints;
    if (joints < 6) {
        return 0;
    }
    pz_plain_name first = pz_plain_name_of(poise_model_joint_info(model, 1).body);
    size_t length = first.length;
    for (int k = 2; k < joints; ++k) {
        pz_plain_name n = pz_plain_name_of(poise_model_joint_info(model, k).body);
        size_t same = 0;
        while (same < length && same < n.length && n.text[same] == first.text[same]) {
            ++same;
        }
        length = same;
    }
    return length >= 3 ? length : 0;
}

static bool is_word(const char *text, size_t length, const char *word, const char *side, bool side_first)
{
    size_t w = strlen(word), s = strlen(side);
    return length == w + s && memcmp(text + (side_first ? 0 : w), side, s) == 0 &&
           memcmp(text + (side_first ? s : 0), word, w) == 0;
}

static bool is_body(const pz_plain_name *n, size_t prefix, const char *word, pz_side side)
{
    static const char *const sides[3][2] = {{"", ""}, {"l", "left"}, {"r", "right"}};
    size_t skip = n->length > prefix ? prefix : 0;
    for (int i = 0; i < 4; ++i) {
        if (is_word(n->text + skip, n->length - skip, word, sides[side][i / 2], i % 2 == 0)) {
            return true;
        }
    }
    return false;
}

// Of bodies that share a name and hang from each other ("__Thigh_L" and "Thigh_L" of MakeHuman) it is the last.
static int find_body(const poise_model *model, size_t prefix, pz_part part, pz_side side)
{
    int found = POISE_NONE, end = poise_model_info(model).joints;
    for (int i = 0; i < 10 && body_names[part][i] && found < 0; ++i) {
        for (int k = 0; k < end; ++k) {
            pz_plain_name n = pz_plain_name_of(poise_model_joint_info(model, k).body);
            if (is_body(&n, prefix, body_names[part][i], side)) {
                found = k;
                end = k + poise_model_joint_info(model, k).subtree;
            }
        }
    }
    return found;
}

bool pz_model_has_body(const poise_model *model, const char *name, size_t length)
{
    char copy[PZ_NAME_LONGEST];
    if (!model || length >= sizeof copy) {
        return false;
    }
    memcpy(copy, name, length);
    copy[length] = '\0';
    pz_plain_name wanted = pz_plain_name_of(copy);
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        pz_plain_name n = pz_plain_name_of(poise_model_joint_info(model, k).body);
        if (n.length == wanted.length && memcmp(n.text, wanted.text, n.length) == 0) {
            return true;
        }
    }
    return false;
}

// ---- The tree ------------------------------------------------------------------------------------------------------------

static int parent_of(const poise_model *model, int body)
{
    return poise_model_joint_info(model, body).parent;
}

static bool is_below(const poise_model *model, int ancestor, int body)
{
    return ancestor >= 0 && body >= ancestor && body < ancestor + poise_model_joint_info(model, ancestor).subtree;
}

// The lowest body above both; POISE_NONE where there is none.
static int common_ancestor(const poise_model *model, int a, int b)
{
    if (a < 0 || b < 0) {
        return POISE_NONE;
    }
    int k = parent_of(model, a);
    while (k >= 0 && !is_below(model, k, b)) {
        k = parent_of(model, k);
    }
    return k >= 0 ? k : POISE_NONE;
}

// The first body after `ancestor` on the way down to `body`; `body` itself where it does not hang from it.
static int first_after(const poise_model *model, int ancestor, int body)
{
    int k = body;
    while (is_below(model, ancestor, body) && k != ancestor && parent_of(model, k) != ancestor) {
        k = parent_of(model, k);
    }
    return k;
}

static bool is_thumb(const char *name)
{
    pz_plain_name n = pz_plain_name_of(name);
    bool found = false;
    for (size_t i = 0; i + 5 <= n.length && !found; ++i) {
        found = memcmp(n.text + i, "thumb", 5) == 0;
    }
    return found;
}

// The mean of what hangs from a body, except thumbs; its tip where nothing does. False for neither.
static bool find_end(const poise_model *model, const poise_kinematics *kin, int body, vec3 *end)
{
    vec3 sum = v3(0.0, 0.0, 0.0);
    int count = 0, last = body + poise_model_joint_info(model, body).subtree;
    for (int k = body + 1; k < last; k += poise_model_joint_info(model, k).subtree) {
        if (!is_thumb(poise_model_joint_info(model, k).body)) {
            sum = v3_add(sum, poise_kinematics_body_pose(kin, k).position);
            count += 1;
        }
    }
    for (int i = 0; i < poise_model_info(model).tools && count == 0; ++i) {
        poise_tool_info tool = poise_model_tool_info(model, i);
        size_t length = strlen(tool.name);
        if (tool.body == body && length > 4 && strcmp(tool.name + length - 4, ".tip") == 0) {
            sum = poise_kinematics_tool_pose(kin, i).position;
            count = 1;
        }
    }
    *end = count > 0 ? v3_scale(sum, 1.0 / count) : *end;
    return count > 0;
}

// Is this a joint of spine, neck, head or clavicles?
static bool is_trunk(const pz_anatomy *a, const poise_model *model, int joint)
{
    if (a->part[PZ_PELVIS][PZ_MIDDLE].body == joint) {
        return false;
    }
    int head = a->part[PZ_HEAD][PZ_MIDDLE].body;
    int left = a->part[PZ_CLAVICLE][PZ_LEFT].body, right = a->part[PZ_CLAVICLE][PZ_RIGHT].body;
    return (head >= 0 && is_below(model, joint, head)) || (left >= 0 && is_below(model, joint, left)) ||
           (right >= 0 && is_below(model, joint, right));
}

// Is this a joint that moves the body as a whole: the first, and those after it that all limbs hang from?
static bool is_root(const pz_anatomy *a, const poise_model *model, int joint)
{
    int pelvis = a->part[PZ_PELVIS][PZ_MIDDLE].body, thorax = a->part[PZ_THORAX][PZ_MIDDLE].body;
    return parent_of(model, joint) == POISE_WORLD ||
           (a->stature > 0 && is_below(model, joint, pelvis) && is_below(model, joint, thorax));
}

bool pz_anatomy_holds(const pz_anatomy *anatomy, const poise_model *model, int joint, int dof)
{
    int coordinate = poise_model_joint_info(model, joint).q + dof;
    return anatomy->stature > 0 && !is_root(anatomy, model, joint) &&
           poise_model_coordinate(model, coordinate).unit == POISE_UNIT_LENGTH;
}

void pz_anatomy_posture(const pz_anatomy *anatomy, const poise_model *model, double noise, double *weights)
{
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        poise_joint_info joint = poise_model_joint_info(model, k);
        double turn = is_trunk(anatomy, model, k) ? TRUNK_TURN : LIMB_TURN;
        for (int i = 0; i < joint.nv; ++i) {
            double pull = noise / (pz_anatomy_holds(anatomy, model, k, i) ? SLIDE * anatomy->stature : turn);
            weights[joint.v + i] = is_root(anatomy, model, k) ? 0.0 : pull * pull;
        }
    }
}

poise_status poise_posture_weights(const poise_model *model, double noise, double *weights, poise_error *error)
{
    pz_anatomy anatomy;
    if (!model || !weights || !(noise >= 0) || !is_finite(noise)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "model and weights must not be NULL, noise finite and >= 0");
    }
    if (pz_anatomy_of(model, NULL, &anatomy) != POISE_OK) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    pz_anatomy_posture(&anatomy, model, noise > 0 ? noise : PZ_NOISE_SHARE * anatomy.stature, weights);
    return POISE_OK;
}

// Replace `from` by `to` at `at`; false when it does not stand there.
static bool replaced(const pz_plain_name *n, size_t at, const char *from, const char *to, pz_plain_name *made)
{
    size_t f = strlen(from), t = strlen(to);
    if (at + f > n->length || memcmp(n->text + at, from, f) != 0 || n->length - f + t + 1 >= PZ_NAME_LONGEST) {
        return false;
    }
    *made = *n;
    memcpy(made->text + at, to, t);
    memcpy(made->text + at + t, n->text + at + f, n->length - at - f);
    made->length = n->length - f + t;
    return true;
}

static int body_called(const poise_model *model, const pz_plain_name *name)
{
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        pz_plain_name n = pz_plain_name_of(poise_model_joint_info(model, k).body);
        if (n.length == name->length && memcmp(n.text, name->text, n.length) == 0) {
            return k;
        }
    }
    return POISE_NONE;
}

// Has one joint what the other has, or each any rotation?
static bool is_alike(const poise_model *model, int one, int other)
{
    return poise_model_joint_info(model, one).given->type == poise_model_joint_info(model, other).given->type ||
           (pz_has_rotation(poise_model_joint_info(model, one).type) &&
            pz_has_rotation(poise_model_joint_info(model, other).type));
}

int pz_mirror_body(const poise_model *model, int body)
{
    static const char *const sides[4][2] = {{"left", "right"}, {"right", "left"}, {"l", "r"}, {"r", "l"}};
    pz_plain_name n = pz_plain_name_of(poise_model_joint_info(model, body).body), other;
    for (int i = 0; i < 4; ++i) {
        for (size_t at = 0; at < n.length; ++at) {
            int k = replaced(&n, at, sides[i][0], sides[i][1], &other) ? body_called(model, &other) : POISE_NONE;
            if (k >= 0 && is_alike(model, k, body)) {
                return k;
            }
        }
    }
    return POISE_NONE;
}

// ---- Parts ---------------------------------------------------------------------------------------------------------------

static vec3 place_of(const poise_kinematics *kin, int body)
{
    return poise_kinematics_body_pose(kin, body).position;
}

// Which bodies: limbs by name unless they are given, trunk and pelvis by where limbs meet.
static void find_bodies(const poise_model *model, const pz_part_bodies *given, pz_anatomy *a)
{
    size_t prefix = common_prefix(model);
    for (int p = 0; p < PZ_PART_COUNT; ++p) {
        for (int s = 0; s < 3; ++s) {
            bool fits = pz_part_has_sides((pz_part)p) == (s != PZ_MIDDLE) && p != PZ_WRIST;
            bool is_given = fits && given && given->body[p][s] >= 0;
            a->part[p][s].body = is_given ? given->body[p][s]
                                 : fits   ? find_body(model, prefix, (pz_part)p, (pz_side)s)
                                          : POISE_NONE;
        }
    }
    int hips = common_ancestor(model, a->part[PZ_THIGH][PZ_LEFT].body, a->part[PZ_THIGH][PZ_RIGHT].body);
    int arms = common_ancestor(model, a->part[PZ_UPPER_ARM][PZ_LEFT].body, a->part[PZ_UPPER_ARM][PZ_RIGHT].body);
    a->part[PZ_PELVIS][PZ_MIDDLE].body = hips >= 0 ? hips : a->part[PZ_PELVIS][PZ_MIDDLE].body;
    a->part[PZ_THORAX][PZ_MIDDLE].body = arms >= 0 ? arms : a->part[PZ_THORAX][PZ_MIDDLE].body;
    if (a->part[PZ_HEAD][PZ_MIDDLE].body < 0) {
        a->part[PZ_HEAD][PZ_MIDDLE].body = a->part[PZ_THORAX][PZ_MIDDLE].body;
    }
    for (int p = PZ_HEAD; p <= PZ_PELVIS; ++p) {
        a->part[p][PZ_LEFT].body = a->part[p][PZ_RIGHT].body = a->part[p][PZ_MIDDLE].body;
    }
    for (int s = PZ_LEFT; s <= PZ_RIGHT; ++s) {
        int arm = a->part[PZ_UPPER_ARM][s].body, forearm = a->part[PZ_FOREARM][s].body, hand = a->part[PZ_HAND][s].body;
        int *clavicle = &a->part[PZ_CLAVICLE][s].body;
        if (*clavicle < 0 || *clavicle == arm) {
            *clavicle = arm >= 0 && parent_of(model, arm) >= 0 ? parent_of(model, arm) : a->part[PZ_THORAX][PZ_MIDDLE].body;
        }
        bool is_known = hand >= 0 && forearm >= 0 && hand != forearm && is_below(model, forearm, hand);
        a->part[PZ_WRIST][s].body = is_known ? parent_of(model, hand) : forearm;
    }
}

static vec3 snapped(vec3 u)
{
    vec3 n = v3_normalize(u);
    double x = fabs(n.x), y = fabs(n.y), z = fabs(n.z);
    return x > SNAP   ? v3(n.x > 0 ? 1 : -1, 0, 0)
           : y > SNAP ? v3(0, n.y > 0 ? 1 : -1, 0)
           : z > SNAP ? v3(0, 0, n.z > 0 ? 1 : -1)
                      : n;
}

static vec3 middle(vec3 a, vec3 b)
{
    return v3_scale(v3_add(a, b), 0.5);
}

// Origins and ends of the limbs' bones, which need no axes.
static void find_bones(const poise_model *model, const poise_kinematics *kin, pz_anatomy *a)
{
    static const struct {
        pz_part part, next;
    } bones[] = {{PZ_THIGH, PZ_SHANK},
                 {PZ_SHANK, PZ_FOOT},
                 {PZ_UPPER_ARM, PZ_FOREARM},
                 {PZ_FOREARM, PZ_HAND},
                 {PZ_CLAVICLE, PZ_UPPER_ARM}};
    for (int s = PZ_LEFT; s <= PZ_RIGHT; ++s) {
        for (size_t i = 0; i < sizeof bones / sizeof bones[0]; ++i) {
            pz_segment *part = &a->part[bones[i].part][s];
            int next = a->part[bones[i].next][s].body;
            if (part->body >= 0) {
                part->origin = part->end = place_of(kin, part->body);
            }
            if (part->body >= 0 && next >= 0) {
                bool is_hand = bones[i].next == PZ_HAND;
                part->end = place_of(kin, is_hand ? next : first_after(model, part->body, next));
            } else if (part->body >= 0) {
                find_end(model, kin, part->body, &part->end);
            }
        }
        int body = a->part[PZ_WRIST][s].body;
        a->part[PZ_WRIST][s] = a->part[PZ_FOREARM][s];
        a->part[PZ_WRIST][s].body = body;
    }
}

static double length_of(const pz_segment *part)
{
    return part->body >= 0 ? v3_norm(v3_sub(part->end, part->origin)) : 0.0;
}

// By the legs, else by the arms, else by the trunk.
static double stature_of(const pz_anatomy *a, double trunk)
{
    double leg = 0.0, arm = 0.0;
    for (int s = PZ_LEFT; s <= PZ_RIGHT; ++s) {
        double thigh = length_of(&a->part[PZ_THIGH][s]), shank = length_of(&a->part[PZ_SHANK][s]);
        double upper = length_of(&a->part[PZ_UPPER_ARM][s]), fore = length_of(&a->part[PZ_FOREARM][s]);
        leg += thigh > 0 && shank > 0 ? thigh + shank : INFINITY;
        arm += upper > 0 && fore > 0 ? upper + fore : INFINITY;
    }
    return is_finite(leg) ? 0.5 * leg / PZ_LEG_SHARE : is_finite(arm) ? 0.5 * arm / ARM_SHARE : trunk / TRUNK_SHARE;
}

static bool has_both(const pz_anatomy *a, pz_part part)
{
    return a->part[part][PZ_LEFT].body >= 0 && a->part[part][PZ_RIGHT].body >= 0;
}

// Up, left, forward, stature. False when the skeleton does not determine them.
static bool find_frame(pz_anatomy *a)
{
    bool legs = has_both(a, PZ_THIGH), arms = has_both(a, PZ_UPPER_ARM), shanks = legs && has_both(a, PZ_SHANK);
    vec3 hips = middle(a->part[PZ_THIGH][PZ_LEFT].origin, a->part[PZ_THIGH][PZ_RIGHT].origin);
    vec3 shoulders = middle(a->part[PZ_UPPER_ARM][PZ_LEFT].origin, a->part[PZ_UPPER_ARM][PZ_RIGHT].origin);
    vec3 ankles = middle(a->part[PZ_SHANK][PZ_LEFT].end, a->part[PZ_SHANK][PZ_RIGHT].end);
    if (!legs || (!arms && !shanks)) {
        return false;
    }
    vec3 up = arms ? v3_sub(shoulders, hips) : v3_sub(hips, ankles);
    vec3 left = v3_sub(a->part[PZ_THIGH][PZ_LEFT].origin, a->part[PZ_THIGH][PZ_RIGHT].origin);
    if (!(v3_norm(up) > 0) || !(v3_norm(v3_cross(up, left)) > 0)) {
        return false;
    }
    a->up = snapped(up);
    a->left = v3_orthogonal(left, a->up);
    a->forward = v3_cross(a->left, a->up);
    a->stature = stature_of(a, v3_norm(up));
    return a->stature > 0 && is_finite(a->stature);
}

// The axes of a limb, with the trunk's where its bone has no direction.
static void limb_axes(const pz_anatomy *a, pz_side side, pz_segment *part)
{
    vec3 bone = v3_sub(part->end, part->origin);
    vec3 along = v3_norm(bone) > 0 ? v3_normalize(bone) : v3_neg(a->up);
    vec3 forward = fabs(v3_dot(along, a->forward)) < SNAP ? v3_orthogonal(a->forward, along) : v3_orthogonal(a->up, along);
    part->axis[0] = along;
    part->axis[1] = forward;
    part->axis[2] = side == PZ_LEFT ? v3_cross(forward, along) : v3_cross(along, forward);
}

static void trunk_axes(const pz_anatomy *a, pz_side side, pz_segment *part)
{
    part->axis[0] = a->up;
    part->axis[1] = a->forward;
    part->axis[2] = side == PZ_RIGHT ? v3_neg(a->left) : a->left;
}

static void make_trunk(const poise_kinematics *kin, pz_anatomy *a)
{
    vec3 hips = middle(a->part[PZ_THIGH][PZ_LEFT].origin, a->part[PZ_THIGH][PZ_RIGHT].origin);
    vec3 shoulders = has_both(a, PZ_UPPER_ARM)
                         ? middle(a->part[PZ_UPPER_ARM][PZ_LEFT].origin, a->part[PZ_UPPER_ARM][PZ_RIGHT].origin)
                         : v3_mad(hips, TRUNK_SHARE * a->stature, a->up);
    int head = a->part[PZ_HEAD][PZ_MIDDLE].body, thorax = a->part[PZ_THORAX][PZ_MIDDLE].body;
    vec3 top = head >= 0 && head != thorax ? place_of(kin, head) : v3_mad(shoulders, HEAD_ABOVE * a->stature, a->up);
    for (int s = PZ_MIDDLE; s <= PZ_RIGHT; ++s) {
        pz_segment *pelvis = &a->part[PZ_PELVIS][s];
        a->part[PZ_HEAD][s] = (pz_segment){.body = head, .origin = top, .end = top};
        a->part[PZ_THORAX][s] = (pz_segment){.body = thorax, .origin = shoulders, .end = shoulders};
        pelvis->body = a->part[PZ_PELVIS][PZ_MIDDLE].body;
        pelvis->origin = pelvis->end = s == PZ_MIDDLE ? hips : a->part[PZ_THIGH][s].origin;
        trunk_axes(a, (pz_side)s, &a->part[PZ_HEAD][s]);
        trunk_axes(a, (pz_side)s, &a->part[PZ_THORAX][s]);
        trunk_axes(a, (pz_side)s, pelvis);
    }
}

static void make_foot(const poise_model *model, const poise_kinematics *kin, pz_anatomy *a, pz_side side)
{
    pz_segment *foot = &a->part[PZ_FOOT][side];
    const pz_segment *shank = &a->part[PZ_SHANK][side];
    if (foot->body < 0) {
        return;
    }
    vec3 up = length_of(shank) > 0 ? v3_neg(shank->axis[0]) : a->up;
    foot->axis[0] = v3_orthogonal(a->forward, up);
    foot->axis[1] = up;
    foot->axis[2] = v3_scale(v3_cross(up, foot->axis[0]), side == PZ_LEFT ? 1.0 : -1.0);
    foot->origin = shank->body >= 0 ? shank->end : place_of(kin, foot->body);
    foot->end = v3_mad(foot->origin, FOOT_SHARE * a->stature, foot->axis[0]);
    find_end(model, kin, foot->body, &foot->end);
}

static void make_hand(const poise_model *model, const poise_kinematics *kin, pz_anatomy *a, pz_side side)
{
    pz_segment *hand = &a->part[PZ_HAND][side];
    if (hand->body < 0) {
        return;
    }
    hand->origin = place_of(kin, hand->body);
    hand->end = v3_mad(hand->origin, HAND_SHARE * a->stature, a->part[PZ_FOREARM][side].axis[0]);
    find_end(model, kin, hand->body, &hand->end);
    limb_axes(a, side, hand);
}

static void make_parts(const poise_model *model, const poise_kinematics *kin, pz_anatomy *a)
{
    static const pz_part limbs[] = {PZ_UPPER_ARM, PZ_FOREARM, PZ_WRIST, PZ_THIGH, PZ_SHANK};
    make_trunk(kin, a);
    for (int s = PZ_LEFT; s <= PZ_RIGHT; ++s) {
        for (size_t i = 0; i < sizeof limbs / sizeof limbs[0]; ++i) {
            limb_axes(a, (pz_side)s, &a->part[limbs[i]][s]);
        }
        pz_segment *clavicle = &a->part[PZ_CLAVICLE][s];
        trunk_axes(a, (pz_side)s, clavicle);
        if (a->part[PZ_UPPER_ARM][s].body < 0) { // shoulders that the skeleton does not have
            clavicle->body = a->part[PZ_THORAX][s].body;
            clavicle->end = v3_mad(a->part[PZ_THORAX][s].origin, 0.11 * a->stature, clavicle->axis[2]);
        }
        make_foot(model, kin, a, (pz_side)s);
        make_hand(model, kin, a, (pz_side)s);
    }
}

poise_status pz_anatomy_of(const poise_model *model, const poise_allocator *allocator, pz_anatomy *anatomy)
{
    return pz_anatomy_given(model, NULL, allocator, anatomy);
}

poise_status pz_anatomy_given(const poise_model *model, const pz_part_bodies *given, const poise_allocator *allocator,
                              pz_anatomy *anatomy)
{
    poise_kinematics *kin;
    poise_status status = poise_kinematics_create(model, allocator, &kin, NULL); // at the neutral configuration
    if (status != POISE_OK) {
        return status;
    }
    *anatomy = (pz_anatomy){.stature = 0.0};
    find_bodies(model, given, anatomy);
    find_bones(model, kin, anatomy);
    if (find_frame(anatomy)) {
        make_parts(model, kin, anatomy);
    } else {
        anatomy->stature = 0.0;
    }
    poise_kinematics_destroy(kin);
    return POISE_OK;
}

poise_status pz_skeleton_size(const poise_model *model, const poise_allocator *allocator, double *size)
{
    pz_anatomy anatomy;
    poise_kinematics *kin;
    poise_status status = pz_anatomy_of(model, allocator, &anatomy);
    if (status != POISE_OK) {
        return status;
    }
    if (anatomy.stature > 0) {
        *size = anatomy.stature;
        return POISE_OK;
    }
    status = poise_kinematics_create(model, allocator, &kin, NULL);
    if (status != POISE_OK) {
        return status;
    }
    vec3 mean = v3(0, 0, 0);
    int joints = poise_model_info(model).joints;
    double most = 0.0;
    for (int k = 0; k < joints; ++k) {
        mean = v3_mad(mean, 1.0 / joints, place_of(kin, k));
    }
    for (int k = 0; k < joints; ++k) {
        most = max2(most, v3_norm(v3_sub(place_of(kin, k), mean)));
    }
    poise_kinematics_destroy(kin);
    *size = most > 0 ? 2.0 * most : 1.0;
    return POISE_OK;
}
