// Shapes in place, and what is known where two of them come nearest.
//
// Every shape is a core and a radius: d = |a - b| - r_A - r_B, with a and b the nearest points of the cores and n the unit
// vector from b to a. The points are optimal, so that to first order only the motion of the bodies counts:
//
//   dd = n . (da - db)          a and b fixed in their bodies: a force n at a, and -n at b
//
// To second order the points slide along their cores. With D = |a - b|, R = da - db (3 x nv), K = (I - n n^T)/D and the
// directions z_p in which a (z = u) or b (z = -u) is free to slide,
//
//   d2d = n . (d2a - d2b) + R^T K R - Y^T N^-1 Y        Y_p = z_p^T K R + n . dz_p,    N_pq = z_p . K z_q
//
// A face slides in both directions across its normal; there the sum is, with w the axes of the face and D signed,
//
//   d2d = n . (d2a - d2b) - 2 sum_w (w . R)(n . dw) - D sum_w (n . dw)^2
#ifndef PZ_SHAPE_SHAPE_H
#define PZ_SHAPE_SHAPE_H

#include <poise/constraint.h>

#include "kin/kin.h"
#include "shape/nearest_points.h"

#define PZ_MOST_CONTACTS 8 // of one pair: the corners of a box above a plane
#define PZ_MOST_SLIDES   2

// A shape where its body has it, relative to the reference point of the kinematics.
typedef struct pz_placed {
    poise_shape_kind kind;
    int body;
    vec3 center;
    mat3 axes;
    vec3 half;
    double radius;
    double reach; // of the surface from the centre; infinite for a half-space
    double meets; // gaps from here on up have a direction that is not lost in rounding
} pz_placed;

// Which of the two bodies something belongs to.
typedef enum pz_side { PZ_SIDE_NONE = 0, PZ_SIDE_A, PZ_SIDE_B } pz_side;

// Where a point is free to slide.
typedef struct pz_slide {
    pz_side side;
    vec3 along; // unit
} pz_slide;

// One place where two shapes come nearest.
typedef struct pz_contact {
    double distance; // between the surfaces
    vec3 a, b;       // nearest points of the cores
    vec3 normal;     // n
    double gap;      // n . (a - b)
    pz_side face;    // whose face it is that n belongs to; NONE: K and the slides count
    bool is_smooth;  // the second derivative below is known; false: cores overlap there
    int slide_count;
    pz_slide slides[PZ_MOST_SLIDES];
} pz_contact;

pz_placed pz_place(const poise_kinematics *kin, const poise_shape *shape);

// Most contacts that two shapes have: 1, or one for each end or corner above a half-space.
int pz_contact_count(const poise_shape *a, const poise_shape *b);

// Where two shapes come nearest; returns how many places. Not for two half-spaces.
int pz_contacts(const pz_placed *a, const pz_placed *b, pz_contact contacts[PZ_MOST_CONTACTS]);

// How far a point lies from the core of a box; within it, < 0: how far from its nearest face.
static inline double pz_from_box(vec3 x, const pz_placed *box)
{
    vec3 at = m3_apply_transposed(&box->axes, v3_sub(x, box->center));
    double u = fabs(at.x) - box->half.x, v = fabs(at.y) - box->half.y, w = fabs(at.z) - box->half.z;
    double deepest = max2(u, max2(v, w));
    u = max2(u, 0.0), v = max2(v, 0.0), w = max2(w, 0.0);
    return deepest < 0 ? deepest : sqrt(u * u + v * v + w * w);
}

// A bound of the distance from below, at once: the sphere around one of them against a half-space, a box or a sphere.
static inline double pz_distance_bound(const pz_placed *a, const pz_placed *b)
{
    if (b->kind == POISE_SHAPE_BOX && a->kind != POISE_SHAPE_HALF_SPACE) {
        return pz_from_box(a->center, b) - b->radius - a->reach;
    }
    if (a->kind == POISE_SHAPE_BOX && b->kind == POISE_SHAPE_CAPSULE) {
        return pz_from_box(b->center, a) - a->radius - b->reach;
    }
    if (a->kind == POISE_SHAPE_HALF_SPACE) {
        return v3_dot(a->axes.z, v3_sub(b->center, a->center)) - a->radius - b->reach;
    }
    if (b->kind == POISE_SHAPE_HALF_SPACE) {
        return v3_dot(b->axes.z, v3_sub(a->center, b->center)) - b->radius - a->reach;
    }
    return v3_norm(v3_sub(a->center, b->center)) - a->reach - b->reach;
}

// A closer bound for two boxes than pz_distance_bound: their separation along the normals of faces.
double pz_boxes_bound(const pz_placed *a, const pz_placed *b);

// Gaps below this, in units of the model, count as none: the direction between the points is lost in rounding.
#define PZ_CORES_MEET 1e-9

// ---- Which bodies may touch, by the tree, and random configurations in which to see what touches (pairs.c) ---------------

// Joints that move between two bodies: 0 within a rigid group, which the world is one of. *is_chain (may be NULL): they are
// joints of one chain, not of two branches.
int pz_joints_between(const poise_model *model, int a, int b, bool *is_chain);

// Is a pair of bodies in a list of them, either way round?
bool pz_is_excluded(const poise_pair *excluded, int count, int a, int b);

// Do groups allow that two shapes meet? One without any meets all.
static inline bool pz_groups_meet(uint32_t groups, uint32_t against, uint32_t other_groups, uint32_t other_against)
{
    bool is_free = (groups | against) == 0 || (other_groups | other_against) == 0;
    return is_free || (groups & other_against) != 0 || (other_groups & against) != 0;
}

// A configuration within the limits.
void pz_random_configuration(const poise_model *model, uint64_t *state, double *q);

#endif
