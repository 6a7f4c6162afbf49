// A human body of 58 degrees of freedom, 1.75 m tall, 75 kg, in three sets of coordinates.
//
//   root 6, spine 2 x 3, neck 3, head 3                                                            18
//   each arm: collar 2, shoulder 3, elbow 1, forearm 1, wrist 2, thumb 2, index 1, fingers 1       13
//   each leg: hip 3, knee 1, ankle 2, toes 1                                                        7
//
// Shares of the mass are rounded from de Leva, "Adjustments to Zatsiorsky-Seluyanov's segment inertia parameters" (1996).
//
// Ranges are those of the supplest people published, not the common ones of the American Academy of Orthopaedic Surgeons
// ("Joint Motion: Method of Measuring and Recording", 1965): a limit that a person passes does not stop the person, it bends
// the neighbouring joints instead. In degrees, where they go beyond the common ones:
//
//   knee       extension 25: genu recurvatum (Loudon et al. 1998; Beighton's score of hypermobility counts from 10);
//              flexion 165: squatting and kneeling (Mulholland & Wyss 2001)
//   elbow      extension 20 (Beighton counts from 10)
//   ankle      plantar flexion 80: dancers on pointe, less what the foot's own joints add (Russell et al. 2010);
//              dorsiflexion 50: lunges under weight (Hoch & McKeon 2011)
//   hip        extension 45, abduction 95, flexion 150, rotation 90 out and 70 in: dancers (Hamilton et al. 1992)
//   shoulder   rotation 120: throwers (Wilk et al. 2002); overhead and across the back with the clavicle's share
//   trunk      65 back to 95 forwards over two joints, 55 sideways, 70 turned: gymnasts
#include "humanoid.h"

#include <stdio.h>
#include <string.h>

typedef struct bone_row {
    const char *joint, *body;
    bone_frame frame;
    double lower[3], upper[3]; // degrees, of the angles of bone_frame
    double swing[2];           // degrees: the swing ellipse of a swing-twist joint; 0: the box above instead
    double mass;
    poise_vec3 mass_center;
} bone_row;

// The middle of the body and its left side. Positive angles are
//   spine, neck, head     forwards; to the left; turn to the left
//   collar, shoulder      up; forwards; (shoulder) turn inwards
//   elbow, fingers        bent
//   forearm, wrist        thumb down; bent to the palm, towards the thumb
//   hip                   forwards; outwards; toes outwards
//   knee, ankle, toes     bent; toes up, outer edge up; toes up
static const bone_row middle[] = {
    {"root", "pelvis", {BONE_ROOT, POISE_WORLD, {0, 0.965, 0}, {0, 0, 0}, {0, 0, 0}}, {0}, {0}, {0}, 8.4, {0, 0.02, -0.01}},
    {"waist",
     "lumbar",
     {BONE_BALL, PELVIS, {0, 0.075, -0.02}, {1, 0, 0}, {0, 0, -1}},
     {-35, -30, -25},
     {55, 30, 25},
     {0},
     12.18,
     {0, 0.08, 0.02}},
    {"chest",
     "thorax",
     {BONE_BALL, LUMBAR, {0, 0.165, 0}, {1, 0, 0}, {0, 0, -1}},
     {-30, -25, -45},
     {40, 25, 45},
     {0},
     10.8,
     {0, 0.11, 0.02}},
    {"neck",
     "neck",
     {BONE_BALL, THORAX, {0, 0.255, -0.01}, {1, 0, 0}, {0, 0, -1}},
     {-55, -40, -55},
     {55, 40, 55},
     {55, 40},
     1.2,
     {0, 0.05, 0.01}},
    {"head",
     "head",
     {BONE_BALL, NECK, {0, 0.095, 0.015}, {1, 0, 0}, {0, 0, -1}},
     {-40, -25, -50},
     {40, 25, 50},
     {40, 25},
     4.0,
     {0, 0.08, 0.02}},
};

static const bone_row arm[] = {
    {"clavicle",
     "clavicle",
     {BONE_UNIVERSAL, THORAX, {0.02, 0.205, 0.025}, {0, 0, 1}, {0, -1, 0}},
     {-20, -30},
     {55, 40},
     {0},
     0.6,
     {0.08, 0, -0.01}},
    {"shoulder",
     "upper_arm",
     {BONE_BALL, LEFT_CLAVICLE, {0.155, -0.005, -0.03}, {0, 0, 1}, {0, -1, 0}},
     {-110, -90, -120},
     {110, 140, 120},
     {0},
     2.03,
     {0.13, 0, 0}},
    {"elbow",
     "ulna",
     {BONE_HINGE, LEFT_UPPER_ARM, {0.29, 0, 0}, {0, -1, 0}, {0, 0, 0}},
     {-20},
     {165},
     {0},
     0.62,
     {0.07, 0, 0}},
    {"forearm", "radius", {BONE_HINGE, LEFT_ULNA, {0.1, 0, 0}, {1, 0, 0}, {0, 0, 0}}, {-105}, {105}, {0}, 0.6, {0.07, 0, 0}},
    {"wrist",
     "hand",
     {BONE_UNIVERSAL, LEFT_RADIUS, {0.155, 0, 0}, {0, 0, -1}, {0, -1, 0}},
     {-95, -50},
     {100, 40},
     {0},
     0.34,
     {0.05, 0, 0}},
    {"thumb",
     "thumb",
     {BONE_UNIVERSAL, LEFT_HAND, {0.03, -0.01, 0.025}, {0, 1, 0}, {1, 0, -1}},
     {-30, -20},
     {40, 60},
     {0},
     0.03,
     {0.02, 0, 0.02}},
    {"index",
     "index",
     {BONE_HINGE, LEFT_HAND, {0.09, 0, 0.025}, {0, 0, -1}, {0, 0, 0}},
     {-20},
     {95},
     {0},
     0.03,
     {0.04, 0, 0}},
    {"fingers",
     "fingers",
     {BONE_HINGE, LEFT_HAND, {0.09, 0, -0.01}, {0, 0, -1}, {0, 0, 0}},
     {-20},
     {95},
     {0},
     0.06,
     {0.04, 0, 0}},
};

static const bone_row leg[] = {
    {"hip",
     "thigh",
     {BONE_BALL, PELVIS, {0.09, -0.05, 0}, {-1, 0, 0}, {0, 0, 1}},
     {-45, -45, -70},
     {150, 95, 90},
     {0},
     10.62,
     {0, -0.18, 0}},
    {"knee", "shin", {BONE_HINGE, LEFT_THIGH, {0, -0.425, 0}, {1, 0, 0}, {0, 0, 0}}, {-25}, {165}, {0}, 3.25, {0, -0.18, 0}},
    {"ankle",
     "foot",
     {BONE_UNIVERSAL, LEFT_SHIN, {0, -0.415, 0}, {-1, 0, 0}, {0, 0, 1}},
     {-80, -50},
     {50, 45},
     {0},
     0.88,
     {0, -0.04, 0.05}},
    {"toes",
     "toes",
     {BONE_HINGE, LEFT_FOOT, {0, -0.06, SCENE_FOOT_LENGTH}, {-1, 0, 0}, {0, 0, 0}},
     {-45},
     {95},
     {0},
     0.15,
     {0, 0, 0.03}},
};

typedef struct marker_row {
    const char *name;
    bone body;
    poise_vec3 local;
} marker_row;

static const marker_row middle_markers[] = {
    {"back_pelvis_l", PELVIS, {0.05, 0.05, -0.11}}, {"back_pelvis_r", PELVIS, {-0.05, 0.05, -0.11}},
    {"front_pelvis_l", PELVIS, {0.12, 0.06, 0.1}},  {"front_pelvis_r", PELVIS, {-0.12, 0.06, 0.1}},
    {"back_waist", LUMBAR, {0, 0.1, -0.1}},         {"back_neck", NECK, {0, 0.05, -0.06}},
    {"back_chest", THORAX, {0, 0.22, -0.09}},       {"breastbone", THORAX, {0, 0.05, 0.13}},
    {"collarbones", THORAX, {0, 0.19, 0.06}},       {"front_head_l", HEAD, {0.07, 0.13, 0.08}},
    {"front_head_r", HEAD, {-0.07, 0.13, 0.08}},    {"back_head_l", HEAD, {0.06, 0.13, -0.08}},
    {"back_head_r", HEAD, {-0.06, 0.13, -0.08}},
};

// Of the left side.
static const marker_row side_markers[] = {
    {"shoulder", LEFT_CLAVICLE, {0.15, 0.05, -0.03}},
    {"upper_arm", LEFT_UPPER_ARM, {0.15, 0.03, -0.05}},
    {"elbow", LEFT_UPPER_ARM, {0.285, 0, -0.04}},
    {"wrist_thumb", LEFT_RADIUS, {0.145, 0.01, 0.035}},
    {"wrist_little", LEFT_RADIUS, {0.145, 0.01, -0.035}},
    {"hand", LEFT_HAND, {0.08, 0.02, 0}},
    {"thumb_tip", LEFT_THUMB, {0.045, 0, 0.04}},
    {"index_tip", LEFT_INDEX, {0.085, 0.005, 0}},
    {"finger_tip", LEFT_FINGERS, {0.085, 0.005, 0}},
    {"thigh", LEFT_THIGH, {0.08, -0.22, 0.05}},
    {"knee", LEFT_THIGH, {0.055, -0.42, 0}},
    {"ankle", LEFT_SHIN, {0.045, -0.41, -0.01}},
    {"heel", LEFT_FOOT, {0, -0.04, -0.05}},
    {"toe_tip", LEFT_TOES, {0, 0.01, 0.06}},
};

enum {
    MIDDLE_MARKERS = (int)(sizeof middle_markers / sizeof middle_markers[0]),
    SIDE_MARKERS = (int)(sizeof side_markers / sizeof side_markers[0])
};

_Static_assert(sizeof middle / sizeof middle[0] == LEFT_CLAVICLE, "rows of the middle");
_Static_assert(sizeof arm / sizeof arm[0] == ARM_BONES, "rows of an arm");
_Static_assert(sizeof leg / sizeof leg[0] == LEG_BONES, "rows of a leg");
_Static_assert(MIDDLE_MARKERS + 2 * SIDE_MARKERS == 41, "markers");

// The row of a bone; a right one's is its left twin's, and *right tells.
static const bone_row *row_of(bone b, bool *right)
{
    *right = (b >= RIGHT_CLAVICLE && b < LEFT_THIGH) || b >= RIGHT_THIGH;
    if (b < LEFT_CLAVICLE) {
        return &middle[b];
    }
    return b < LEFT_THIGH ? &arm[(b - LEFT_CLAVICLE) % ARM_BONES] : &leg[(b - LEFT_THIGH) % LEG_BONES];
}

static bone right_twin(bone left)
{
    int step = left < LEFT_THIGH ? ARM_BONES : LEG_BONES;
    return (bone)((int)left + step);
}

static poise_vec3 mirror_point(poise_vec3 p)
{
    return vec(-p.x, p.y, p.z);
}

static poise_vec3 mirror_axis(poise_vec3 a)
{
    return vec(a.x, -a.y, -a.z);
}

bone_frame scene_bone_frame(bone b)
{
    bool right;
    bone_frame frame = row_of(b, &right)->frame;
    if (right) {
        frame.offset = mirror_point(frame.offset);
        frame.axis = mirror_axis(frame.axis);
        frame.axis2 = mirror_axis(frame.axis2);
        if (frame.parent >= LEFT_CLAVICLE) {
            frame.parent = (int)right_twin((bone)frame.parent);
        }
    }
    return frame;
}

poise_quat scene_bone_axes(const bone_frame *frame)
{
    poise_vec3 a = frame->axis, b = frame->axis2;
    poise_vec3 c = vec(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
    return poise_quat_from_matrix((double[9]){a.x, b.x, c.x, a.y, b.y, c.y, a.z, b.z, c.z});
}

static void side_name(char *text, size_t size, const char *name, bone b, bool right)
{
    snprintf(text, size, "%s%s", b < LEFT_CLAVICLE ? "" : right ? "right_" : "left_", name);
}

// ---- Model ---------------------------------------------------------------------------------------------------------------

typedef struct variant {
    const char *scene;
    poise_joint_type root, spine, limb; // limb: neck, head, shoulders, hips
} variant;

static const variant variants[] = {
    {"humanoid", POISE_JOINT_FREE_EXPMAP, POISE_JOINT_BALL_EXPMAP, POISE_JOINT_SWING_TWIST},
    {"humanoid-euler", POISE_JOINT_FREE_EULER, POISE_JOINT_BALL_EULER, POISE_JOINT_BALL_EULER},
    {"humanoid-quaternion", POISE_JOINT_FREE, POISE_JOINT_BALL_QUATERNION, POISE_JOINT_BALL_QUATERNION},
};

static poise_joint_type joint_type(const variant *v, bone b, bone_kind kind)
{
    switch (kind) {
    case BONE_ROOT:
        return v->root;
    case BONE_BALL:
        return b == LUMBAR || b == THORAX ? v->spine : v->limb;
    case BONE_UNIVERSAL:
        return POISE_JOINT_UNIVERSAL;
    default:
        return POISE_JOINT_REVOLUTE;
    }
}

// Limits of the angles serve as limits of a rotation vector too, and of swing and twist where there is no ellipse: for one
// axis at a time the three agree. Quaternions and the root have none.
static void set_limits(poise_joint *joint, const bone_row *row)
{
    int count = row->frame.kind == BONE_HINGE ? 1 : row->frame.kind == BONE_UNIVERSAL ? 2 : 3;
    if (row->frame.kind == BONE_ROOT || joint->type == POISE_JOINT_BALL_QUATERNION) {
        return;
    }
    bool ellipse = joint->type == POISE_JOINT_SWING_TWIST && row->swing[0] > 0;
    if (ellipse) {
        joint->swing[0] = deg(row->swing[0]);
        joint->swing[1] = deg(row->swing[1]);
    }
    for (int i = ellipse ? 2 : 0; i < count; ++i) {
        joint->lower[i] = deg(row->lower[i]);
        joint->upper[i] = deg(row->upper[i]);
    }
}

static void add_bone(scene_builder *scene, const variant *v, bone b)
{
    bool right, parent_right;
    const bone_row *row = row_of(b, &right);
    bone_frame frame = scene_bone_frame(b);
    char name[32], body[32], parent[32];
    side_name(name, sizeof name, row->joint, b, right);
    side_name(body, sizeof body, row->body, b, right);

    poise_joint joint = poise_joint_default();
    joint.name = name;
    joint.body = body;
    if (frame.parent != POISE_WORLD) {
        const bone_row *parent_row = row_of((bone)frame.parent, &parent_right);
        side_name(parent, sizeof parent, parent_row->body, (bone)frame.parent, parent_right);
        joint.parent = parent;
    }
    joint.type = joint_type(v, b, frame.kind);
    joint.offset.position = frame.offset;
    joint.axis = frame.axis;
    joint.axis2 = frame.axis2;
    if (frame.kind == BONE_BALL) {
        joint.axes = scene_bone_axes(&frame);
    }
    joint.order = frame.kind == BONE_ROOT ? POISE_EULER_YXZ : POISE_EULER_XYZ;
    joint.mass = row->mass;
    joint.mass_center = right ? mirror_point(row->mass_center) : row->mass_center;
    set_limits(&joint, row);
    scene_add_joint(scene, &joint);
}

void scene_build_humanoid(scene_builder *scene, const char *name)
{
    const variant *v = &variants[0];
    while (strcmp(v->scene, name) != 0) {
        v += 1;
    }
    for (int b = 0; b < BONE_COUNT; ++b) {
        add_bone(scene, v, (bone)b);
    }
    scene_add_tool(scene, "crown", "head", at(0, 0.195, 0));
    scene_add_tool(scene, "eyes", "head", at(0, 0.08, 0.1));
    scene_add_tool(scene, "left_palm", "left_hand", at(0.07, -0.02, 0));
    scene_add_tool(scene, "right_palm", "right_hand", at(-0.07, -0.02, 0));
    scene_add_tool(scene, "left_sole", "left_foot", at(0, -SCENE_ANKLE_HEIGHT, 0));
    scene_add_tool(scene, "right_sole", "right_foot", at(0, -SCENE_ANKLE_HEIGHT, 0));
}

const char *scene_bone_joint(bone b)
{
    bool right;
    return row_of(b, &right)->joint;
}

// ---- Markers -------------------------------------------------------------------------------------------------------------

static void write_marker(const marker_row *row, bool side, bool right, scene_marker *marker)
{
    if (side) {
        snprintf(marker->name, sizeof marker->name, "%s_%s", right ? "right" : "left", row->name);
    } else {
        snprintf(marker->name, sizeof marker->name, "%s", row->name);
    }
    marker->body = (int)(right ? right_twin(row->body) : row->body);
    marker->local = right ? mirror_point(row->local) : row->local;
}

int scene_humanoid_markers(scene_marker *markers, int capacity)
{
    int count = MIDDLE_MARKERS + 2 * SIDE_MARKERS;
    for (int i = 0; i < count && i < capacity; ++i) {
        int s = i - MIDDLE_MARKERS;
        const marker_row *row = s < 0 ? &middle_markers[i] : &side_markers[s % SIDE_MARKERS];
        write_marker(row, s >= 0, s >= SIDE_MARKERS, &markers[i]);
    }
    return count;
}
