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
//
// A sequence turns about e1, e2, e3 in turn: e1 is fixed in P, e3 in D, and e2, at right angles to both, floats. A relative
// turn w changes the angles by
//
//   a' = w . (e2 x e3)/d      b' = w . e2      c' = w . (e1 x e2)/d      d = e1 . (e2 x e3)
//
// d is 0 in gimbal lock. An angle whose row lies across all axes that the joints between P and D have is never turned: a
// hinge has no adduction. It stays what the skeleton was built with, so nothing is measured and none is given.
#include "motion/clinical.h"

#include "base/arena.h"
#include "base/error.h"

#define DEGREES 57.29577951308232

#define MOST_OF_A_JOINT 270.0 // degrees
#define TURNED          0.5   // of an angle's row: what lies along the joints' axes, where they turn it
#define ALONG           1e-3  // of the longest: an axis that the others do not make up
#define LOCKED          1e-6  // d of gimbal lock

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

static const pz_segment *segment_of(const pz_clinic *c, pz_part part, pz_side side)
{
    return &c->anatomy.part[part][pz_part_has_sides(part) ? side : PZ_MIDDLE];
}

// Axes of a segment now; the world's, as the skeleton stands, for PZ_PART_COUNT. False: the skeleton has no such part.
static bool axes_of(const pz_clinic *c, pz_part part, pz_side side, mat3 *axes)
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
static bool is_one_body(const pz_clinic *c, const joint_row *row, pz_side side)
{
    return row->proximal != PZ_PART_COUNT &&
           segment_of(c, row->proximal, side)->body == segment_of(c, row->distal, side)->body;
}

static void measure_frame(const pz_clinic *c, const double *before, double *out)
{
    const bool *moves = c->moves;
    for (int r = 0; r < ROWS; ++r) {
        for (int i = 0; i < sides_of(&rows[r]); ++i, out += 3, moves += 3, before = before ? before + 3 : NULL) {
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
                bool is_turned = is_there && moves[k];
                double degrees = is_turned ? DEGREES * rows[r].sign[k] * angle[k] : (double)NAN;
                out[k] = is_turned ? nearest(degrees, before ? before[k] : (double)NAN, most) : degrees;
            }
        }
    }
}

static void keep_neutral(pz_clinic *c)
{
    for (int part = 0; part < PZ_PART_COUNT; ++part) {
        for (int side = 0; side < 3; ++side) {
            int body = c->anatomy.part[part][side].body;
            c->neutral[part][side] = body >= 0 ? poise_kinematics_body_pose(c->kin, body).rotation : (quat){0, 0, 0, 1};
        }
    }
}

// ---- How they change -----------------------------------------------------------------------------------------------------

typedef struct angle_at {
    const joint_row *row;
    pz_side side;
    int which; // of the three
} angle_at;

static angle_at angle_of(int angle)
{
    const joint_row *row = rows;
    for (; angle >= 3 * sides_of(row); ++row) {
        angle -= 3 * sides_of(row);
    }
    pz_side side = sides_of(row) == 1 ? PZ_MIDDLE : angle < 3 ? PZ_RIGHT : PZ_LEFT;
    return (angle_at){row, side, angle % 3};
}

// By what a turn changes the angle: its row. False: the skeleton lacks a part, or is in gimbal lock.
static bool row_of(const pz_clinic *c, angle_at a, vec3 *row)
{
    mat3 P, D;
    if (is_one_body(c, a.row, a.side) || !axes_of(c, a.row->proximal, a.side, &P) ||
        !axes_of(c, a.row->distal, a.side, &D)) {
        return false;
    }
    vec3 e1 = a.row->order == Z_X_Y ? P.z : P.y, e3 = a.row->order == Y_X_Z ? D.z : D.y;
    vec3 across = v3_cross(e3, e1);
    double d = v3_norm(across);
    if (!(d > LOCKED)) {
        return false;
    }
    vec3 e2 = v3_scale(across, 1.0 / d);
    bool is_first = (a.which == 0) != (a.row->order == Y_X_Z); // whose angles are listed from the last to the first
    *row = a.which == 1 ? e2 : v3_scale(is_first ? v3_cross(e2, e3) : v3_cross(e1, e2), 1.0 / d);
    return true;
}

// How the distal segment turns against the proximal one with a step, into 3 x nv numbers of c->turns.
static const double *turns_of(const pz_clinic *c, angle_at a)
{
    size_t size = 3 * (size_t)poise_model_info(c->model).nv;
    double *D = c->turns, *P = c->turns + size;
    poise_kinematics_jacobian(c->kin, segment_of(c, a.row->distal, a.side)->body, v3(0, 0, 0), NULL, D, NULL);
    if (a.row->proximal != PZ_PART_COUNT) {
        poise_kinematics_jacobian(c->kin, segment_of(c, a.row->proximal, a.side)->body, v3(0, 0, 0), NULL, P, NULL);
        for (size_t i = 0; i < size; ++i) {
            D[i] -= P[i];
        }
    }
    return D;
}

double pz_angle_gradient(const pz_clinic *c, int angle, double *gradient)
{
    angle_at a = angle_of(angle);
    size_t nv = (size_t)poise_model_info(c->model).nv;
    vec3 row;
    bool is_there = row_of(c, a, &row);
    const double *turns = is_there ? turns_of(c, a) : NULL;
    for (size_t i = 0; i < nv; ++i) {
        gradient[i] = is_there ? row.x * turns[i] + row.y * turns[nv + i] + row.z * turns[2 * nv + i] : 0.0;
    }
    return is_there ? v3_norm(row) : 0.0;
}

// May this component of a step move at all?
static bool is_locked(const poise_model *model, int dof)
{
    poise_model_summary size = poise_model_info(model);
    for (int k = 0; k < size.joints; ++k) {
        poise_joint_info joint = poise_model_joint_info(model, k);
        int q = joint.q + dof - joint.v;
        if (dof >= joint.v && dof < joint.v + joint.nv && joint.nq == joint.nv) {
            return size.lower[q] == size.upper[q];
        }
    }
    return false;
}

// Does a row lie along what the joints turn about? Their axes are made orthogonal, the longest first.
static bool is_moved(const pz_clinic *c, int angle)
{
    angle_at a = angle_of(angle);
    size_t nv = (size_t)poise_model_info(c->model).nv;
    vec3 row;
    if (!row_of(c, a, &row)) {
        return a.row->order == Y_X_Y; // an arm that hangs down in the neutral configuration is in gimbal lock
    }
    const double *turns = turns_of(c, a);
    vec3 along[3] = {{0, 0, 0}}, left = row;
    double longest = 0.0;
    for (int n = 0; n < 3; ++n) {
        double most = 0.0;
        for (size_t i = 0; i < nv; ++i) {
            vec3 axis = v3(turns[i], turns[nv + i], turns[2 * nv + i]);
            for (int k = 0; k < n; ++k) {
                axis = v3_sub(axis, v3_scale(along[k], v3_dot(along[k], axis)));
            }
            if (v3_norm(axis) > most && !is_locked(c->model, (int)i)) {
                most = v3_norm(axis);
                along[n] = v3_scale(axis, 1.0 / most);
            }
        }
        longest = max2(longest, most);
        if (!(most > ALONG * longest)) {
            break;
        }
        left = v3_sub(left, v3_scale(along[n], v3_dot(along[n], left)));
    }
    return v3_dot(row, row) - v3_dot(left, left) >= TURNED * TURNED * v3_dot(row, row);
}

bool pz_angle_spans(const pz_clinic *c, int angle, int joint)
{
    angle_at a = angle_of(angle);
    int from = a.row->proximal != PZ_PART_COUNT ? segment_of(c, a.row->proximal, a.side)->body : POISE_WORLD;
    for (int k = segment_of(c, a.row->distal, a.side)->body; k >= 0 && k != from;) {
        if (k == joint) {
            return true;
        }
        k = poise_model_joint_info(c->model, k).parent;
    }
    return false;
}

int pz_angle_body(const pz_clinic *c, int angle)
{
    angle_at a = angle_of(angle);
    return segment_of(c, a.row->distal, a.side)->body;
}

poise_status pz_clinic_begin(const poise_model *model, const poise_allocator *allocator, pz_clinic *c, poise_error *error)
{
    *c = (pz_clinic){.model = model};
    c->turns = pz_allocate(allocator, (6 * (size_t)poise_model_info(model).nv + 1) * sizeof *c->turns);
    if (!c->turns || pz_anatomy_of(model, allocator, &c->anatomy) != POISE_OK ||
        poise_kinematics_create(model, allocator, &c->kin, NULL) != POISE_OK) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    keep_neutral(c); // a new kinematics is in the neutral configuration
    for (int i = 0; i < POISE_ANGLE_COUNT; ++i) {
        c->moves[i] = is_moved(c, i);
    }
    return POISE_OK;
}

void pz_clinic_end(pz_clinic *c, const poise_allocator *allocator)
{
    poise_kinematics_destroy(c->kin);
    pz_release(allocator, c->turns);
}

// ---- The calls -----------------------------------------------------------------------------------------------------------

poise_status poise_joint_angles(const poise_model *model, const poise_clip *clip, const poise_allocator *allocator,
                                double *angles, poise_error *error)
{
    if (!model || !clip || !angles || clip->nq != poise_model_info(model).nq) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "model, its clip and angles must not be NULL");
    }
    pz_clinic c;
    poise_status status = pz_clinic_begin(model, allocator, &c, error);
    if (status == POISE_OK && !(c.anatomy.stature > 0.0)) {
        status = pz_error_set(error, POISE_ERROR_NOT_FOUND, "the body names are not those of a human skeleton");
    }
    for (int f = 0; f < clip->frames && status == POISE_OK; ++f) {
        double *out = angles + (size_t)f * POISE_ANGLE_COUNT;
        status = poise_kinematics_update(c.kin, clip->q + (size_t)f * (size_t)clip->nq, error);
        if (status == POISE_OK) {
            measure_frame(&c, f > 0 ? out - POISE_ANGLE_COUNT : NULL, out);
        }
    }
    pz_clinic_end(&c, allocator);
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
    pz_clinic c;
    poise_status status = pz_clinic_begin(model, allocator, &c, error);
    for (int i = 0; i < POISE_ANGLE_COUNT && status == POISE_OK; ++i) {
        seen[i] = c.moves[i] && is_marked(model, pz_angle_body(&c, i), placements, count);
    }
    pz_clinic_end(&c, allocator);
    return status;
}

// Is a joint between the two parts hidden? A clavicle does not count: the upper arm's own markers tell its angles to the
// trunk.
static bool hides(const pz_clinic *c, const poise_model *model, const bool *joints, const joint_row *row, pz_side side)
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
    pz_clinic c = {.kin = NULL};
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
