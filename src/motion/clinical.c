// Joint angles as clinicians name them, from the rotations of bodies.
//
// A segment's axes in the neutral configuration, in the world: x forward, y towards the head (against the bone of a limb), z
// to the right; they turn with the body. For two segments P, D the rotation R = P^T D is decomposed as
//
//   Z-X-Y   R = Rz(a) Rx(b) Ry(c):   a = atan2(-R01, R11), b = asin(R21), c = atan2(-R20, R22)
//   Y-X-Y   R = Ry(a) Rx(-b) Ry(c):  a = atan2(-R01, -R21), b = acos(R11), c = atan2(-R10, R12)
//   Y-X-Z   R = Ry(c) Rx(b) Rz(a):   a = atan2(R10, R11), b = asin(-R12), c = atan2(R02, R22)
//
// (rows and columns from 0), where b >= 0 raises the right arm: outwards with a = 0, forwards with a = 90 degrees. What is
// on the left is mirrored first: angles about x and y change their signs. The pelvis is decomposed with its rotation
// outermost (Baker 2001), so that tilt and obliquity do not depend on where in the room a person walks.
#include <poise/track.h>

#include "base/arena.h"
#include "base/error.h"
#include "kin/kin.h"
#include "motion/anatomy.h"

#define PI      3.14159265358979323846
#define DEGREES 57.29577951308232

#define MOST_OF_A_JOINT 270.0 // degrees

typedef enum axis_order { Z_X_Y, Y_X_Y, Y_X_Z } axis_order;

typedef struct joint_row {
    const char *names[2][3];  // of the angles: right (or middle), left
    pz_part proximal, distal; // PZ_PART_COUNT: the world
    double sign[3];           // on the right
    axis_order order;
} joint_row;

static const joint_row rows[] = {
    {{{"pelvis_tilt", "pelvis_obliquity", "pelvis_rotation"}, {NULL}}, PZ_PART_COUNT, PZ_PELVIS, {-1, 1, 1}, Y_X_Z},
    {{{"hip_flexion_r", "hip_adduction_r", "hip_rotation_r"}, {"hip_flexion_l", "hip_adduction_l", "hip_rotation_l"}},
     PZ_PELVIS,
     PZ_THIGH,
     {1, 1, 1},
     Z_X_Y},
    {{{"knee_flexion_r", "knee_adduction_r", "knee_rotation_r"}, {"knee_flexion_l", "knee_adduction_l", "knee_rotation_l"}},
     PZ_THIGH,
     PZ_SHANK,
     {-1, 1, 1},
     Z_X_Y},
    {{{"ankle_dorsiflexion_r", "ankle_inversion_r", "ankle_adduction_r"},
      {"ankle_dorsiflexion_l", "ankle_inversion_l", "ankle_adduction_l"}},
     PZ_SHANK,
     PZ_FOOT,
     {1, 1, 1},
     Z_X_Y},
    {{{"trunk_flexion", "trunk_bending", "trunk_rotation"}, {NULL}}, PZ_PELVIS, PZ_THORAX, {-1, 1, 1}, Z_X_Y},
    {{{"neck_flexion", "neck_bending", "neck_rotation"}, {NULL}}, PZ_THORAX, PZ_HEAD, {-1, 1, 1}, Z_X_Y},
    {{{"shoulder_plane_r", "shoulder_elevation_r", "shoulder_rotation_r"},
      {"shoulder_plane_l", "shoulder_elevation_l", "shoulder_rotation_l"}},
     PZ_THORAX,
     PZ_UPPER_ARM,
     {1, 1, 1},
     Y_X_Y},
    {{{"elbow_flexion_r", "elbow_adduction_r", "elbow_pronation_r"},
      {"elbow_flexion_l", "elbow_adduction_l", "elbow_pronation_l"}},
     PZ_UPPER_ARM,
     PZ_WRIST,
     {1, 1, 1},
     Z_X_Y},
};

enum { ROWS = sizeof rows / sizeof rows[0] };

static int sides_of(const joint_row *row)
{
    return row->names[1][0] ? 2 : 1;
}

const char *poise_angle_name(int angle)
{
    for (int r = 0; r < ROWS && angle >= 0; ++r) {
        int here = 3 * sides_of(&rows[r]);
        if (angle < here) {
            return rows[r].names[angle / 3][angle % 3];
        }
        angle -= here;
    }
    return "";
}

// ---- Segments ------------------------------------------------------------------------------------------------------------

// Columns x, y, z of a segment in the neutral configuration.
static mat3 neutral_axes(const pz_segment *s, pz_part part)
{
    bool is_trunk = part == PZ_HEAD || part == PZ_THORAX || part == PZ_PELVIS;
    vec3 x = part == PZ_FOOT ? s->axis[0] : s->axis[1];
    vec3 y = part == PZ_FOOT ? s->axis[1] : is_trunk ? s->axis[0] : v3_scale(s->axis[0], -1.0);
    return (mat3){x, y, v3_cross(x, y)};
}

typedef struct clinic {
    pz_anatomy anatomy;
    poise_kinematics *kin;
    quat neutral[PZ_PART_COUNT][3]; // of the bodies
} clinic;

static const pz_segment *segment_of(const clinic *c, pz_part part, pz_side side)
{
    return &c->anatomy.part[part][pz_part_has_sides(part) ? side : PZ_MIDDLE];
}

// Axes of a segment now; the world's, as the skeleton stands, for PZ_PART_COUNT. False: the skeleton has no such part.
static bool axes_of(const clinic *c, pz_part part, pz_side side, mat3 *axes)
{
    if (part == PZ_PART_COUNT) {
        *axes = (mat3){c->anatomy.forward, c->anatomy.up, v3_cross(c->anatomy.forward, c->anatomy.up)};
        return true;
    }
    const pz_segment *s = segment_of(c, part, side);
    if (s->body < 0) {
        return false;
    }
    mat3 start = neutral_axes(s, part);
    quat turned = quat_mul(poise_kinematics_body_pose(c->kin, s->body).rotation,
                           quat_conj(c->neutral[part][pz_part_has_sides(part) ? side : PZ_MIDDLE]));
    *axes = (mat3){quat_rotate(turned, start.x), quat_rotate(turned, start.y), quat_rotate(turned, start.z)};
    return true;
}

// ---- Angles --------------------------------------------------------------------------------------------------------------

// Angles of D against P; `mirror` is -1 for those of the mirror image, in which z, and so turns about x and y, change sides.
static void take_apart(const mat3 *P, const mat3 *D, axis_order order, double mirror, double angle[3])
{
    double r01 = v3_dot(P->x, D->y), r11 = v3_dot(P->y, D->y), r21 = mirror * v3_dot(P->z, D->y);
    double r10 = v3_dot(P->y, D->x), r12 = mirror * v3_dot(P->y, D->z), r22 = v3_dot(P->z, D->z);
    if (order == Y_X_Y) {
        angle[0] = poise_atan2(-r01, -r21);
        angle[1] = poise_atan2(sqrt(r01 * r01 + r21 * r21), r11);
        angle[2] = poise_atan2(-r10, r12);
    } else if (order == Y_X_Z) {
        double r02 = mirror * v3_dot(P->x, D->z);
        angle[0] = poise_atan2(r10, r11);
        angle[1] = poise_atan2(-r12, sqrt(r10 * r10 + r11 * r11));
        angle[2] = poise_atan2(r02, r22);
    } else {
        double r20 = mirror * v3_dot(P->z, D->x);
        angle[0] = poise_atan2(-r01, r11);
        angle[1] = poise_atan2(r21, sqrt(r01 * r01 + r11 * r11));
        angle[2] = poise_atan2(-r20, r22);
    }
}

// The same angle, less than half a turn from the one before. A person may turn round and round, a joint does not: the plane
// of an arm that swings round its side would count turns, so beyond `most` the angle starts again.
static double nearest(double angle, double before, double most)
{
    double near = before == before ? angle - 360.0 * round_down((angle - before) / 360.0 + 0.5) : angle;
    return fabs(near) > most ? angle : near;
}

// Is there no joint between the two, as between OpenSim's torso and its head?
static bool is_one_body(const clinic *c, const joint_row *row, pz_side side)
{
    return row->proximal != PZ_PART_COUNT &&
           segment_of(c, row->proximal, side)->body == segment_of(c, row->distal, side)->body;
}

static void measure_frame(const clinic *c, const double *before, double *out)
{
    for (int r = 0; r < ROWS; ++r) {
        for (int i = 0; i < sides_of(&rows[r]); ++i, out += 3, before += before ? 3 : 0) {
            pz_side side = sides_of(&rows[r]) == 1 ? PZ_MIDDLE : i == 0 ? PZ_RIGHT : PZ_LEFT;
            double angle[3], mirror = side == PZ_LEFT ? -1.0 : 1.0;
            double most = rows[r].proximal == PZ_PART_COUNT ? (double)INFINITY : MOST_OF_A_JOINT;
            mat3 P, D;
            bool is_there = !is_one_body(c, &rows[r], side) && axes_of(c, rows[r].proximal, side, &P) &&
                            axes_of(c, rows[r].distal, side, &D);
            if (is_there) {
                take_apart(&P, &D, rows[r].order, mirror, angle);
            }
            for (int k = 0; k < 3; ++k) {
                double degrees = is_there ? DEGREES * rows[r].sign[k] * angle[k] : (double)NAN;
                out[k] = is_there ? nearest(degrees, before ? before[k] : (double)NAN, most) : degrees;
            }
        }
    }
}

static void keep_neutral(clinic *c)
{
    for (int part = 0; part < PZ_PART_COUNT; ++part) {
        for (int side = 0; side < 3; ++side) {
            int body = c->anatomy.part[part][side].body;
            c->neutral[part][side] = body >= 0 ? poise_kinematics_body_pose(c->kin, body).rotation : (quat){0, 0, 0, 1};
        }
    }
}

poise_status poise_joint_angles(const poise_model *model, const poise_clip *clip, const poise_allocator *allocator,
                                double *angles, poise_error *error)
{
    if (!model || !clip || !angles || clip->nq != poise_model_info(model).nq) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "model, its clip and angles must not be NULL");
    }
    clinic c = {.kin = NULL};
    if (pz_anatomy_of(model, allocator, &c.anatomy) != POISE_OK ||
        poise_kinematics_create(model, allocator, &c.kin, NULL) != POISE_OK) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    poise_status status = POISE_OK;
    if (!(c.anatomy.stature > 0.0)) {
        status = pz_error_set(error, POISE_ERROR_NOT_FOUND, "the body names are not those of a human skeleton");
    }
    keep_neutral(&c); // a new kinematics is in the neutral configuration
    for (int f = 0; f < clip->frames && status == POISE_OK; ++f) {
        double *out = angles + (size_t)f * POISE_ANGLE_COUNT;
        status = poise_kinematics_update(c.kin, clip->q + (size_t)f * (size_t)clip->nq, error);
        if (status == POISE_OK) {
            measure_frame(&c, f > 0 ? out - POISE_ANGLE_COUNT : NULL, out);
        }
    }
    poise_kinematics_destroy(c.kin);
    return status;
}

static bool is_marked(const poise_model *model, int body, const poise_placement *placements, int count)
{
    int end = body >= 0 ? body + poise_model_joint_info(model, body).subtree : body;
    for (int i = 0; i < count; ++i) {
        if (placements[i].weight > 0 && placements[i].body >= body && placements[i].body < end) {
            return true;
        }
    }
    return false;
}

poise_status poise_joint_angles_seen(const poise_model *model, const poise_placement *placements, int count,
                                     const poise_allocator *allocator, bool *seen, poise_error *error)
{
    if (!model || (count > 0 && !placements) || !seen) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "model, placements and seen must not be NULL");
    }
    clinic c = {.kin = NULL};
    if (pz_anatomy_of(model, allocator, &c.anatomy) != POISE_OK) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    for (int r = 0; r < ROWS; ++r) {
        for (int i = 0; i < sides_of(&rows[r]); ++i, seen += 3) {
            pz_side side = sides_of(&rows[r]) == 1 ? PZ_MIDDLE : i == 0 ? PZ_RIGHT : PZ_LEFT;
            seen[0] = seen[1] = seen[2] = is_marked(model, segment_of(&c, rows[r].distal, side)->body, placements, count);
        }
    }
    return POISE_OK;
}

// Is a joint between the two parts hidden? A clavicle does not count: the upper arm's own markers tell its angles to the
// trunk.
static bool hides(const clinic *c, const poise_model *model, const bool *joints, const joint_row *row, pz_side side)
{
    int from = row->proximal != PZ_PART_COUNT ? segment_of(c, row->proximal, side)->body : POISE_WORLD;
    for (int k = segment_of(c, row->distal, side)->body; k >= 0 && k != from;) {
        bool is_clavicle =
            k == c->anatomy.part[PZ_CLAVICLE][PZ_LEFT].body || k == c->anatomy.part[PZ_CLAVICLE][PZ_RIGHT].body;
        if (joints[k] && !is_clavicle) {
            return true;
        }
        k = poise_model_joint_info(model, k).parent;
    }
    return false;
}

poise_status poise_joint_angles_hidden(const poise_model *model, const bool *joints, int frames,
                                       const poise_allocator *allocator, bool *hidden, poise_error *error)
{
    if (!model || (frames > 0 && (!joints || !hidden))) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "model, joints and hidden must not be NULL");
    }
    clinic c = {.kin = NULL};
    if (pz_anatomy_of(model, allocator, &c.anatomy) != POISE_OK) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    for (int f = 0; f < frames; ++f, joints += poise_model_info(model).joints) {
        for (int r = 0; r < ROWS; ++r) {
            for (int i = 0; i < sides_of(&rows[r]); ++i, hidden += 3) {
                pz_side side = sides_of(&rows[r]) == 1 ? PZ_MIDDLE : i == 0 ? PZ_RIGHT : PZ_LEFT;
                hidden[0] = hidden[1] = hidden[2] = hides(&c, model, joints, &rows[r], side);
            }
        }
    }
    return POISE_OK;
}

// ---- Centres -------------------------------------------------------------------------------------------------------------

int poise_joint_centres(const poise_model *model, const poise_allocator *allocator, poise_placement *places, int capacity)
{
    static const struct {
        const char *right, *left;
        pz_part part;
    } centres[] = {{"RHJC", "LHJC", PZ_THIGH},     {"RKJC", "LKJC", PZ_SHANK},   {"RAJC", "LAJC", PZ_FOOT},
                   {"RSJC", "LSJC", PZ_UPPER_ARM}, {"REJC", "LEJC", PZ_FOREARM}, {"RWJC", "LWJC", PZ_HAND}};
    pz_anatomy anatomy;
    poise_kinematics *kin = NULL;
    int count = 0;
    if (!model || pz_anatomy_of(model, allocator, &anatomy) != POISE_OK ||
        poise_kinematics_create(model, allocator, &kin, NULL) != POISE_OK) {
        return 0;
    }
    for (size_t i = 0; i < 2 * sizeof centres / sizeof centres[0]; ++i) {
        bool is_left = i % 2 == 1;
        const pz_segment *s = &anatomy.part[centres[i / 2].part][is_left ? PZ_LEFT : PZ_RIGHT];
        if (s->body >= 0 && count < capacity) {
            poise_pose at = poise_pose_inverse(poise_kinematics_body_pose(kin, s->body)); // neutral, as new
            places[count] = (poise_placement){is_left ? centres[i / 2].left : centres[i / 2].right, s->body,
                                              poise_pose_transform(at, s->origin), 1.0};
        }
        count += s->body >= 0;
    }
    poise_kinematics_destroy(kin);
    return count;
}
