// Shapes in place, and what is known where two of them come nearest; convex hulls; what covers of meshes are made of.
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

// ---- Convex hulls: their distance, and how deep they overlap (hull.c) ----------------------------------------------------

#define PZ_CLUSTER           16 // corners of one
#define PZ_HULL_MOST_CORNERS 1000000

// Corners next to each other lie within a ball: where it does not reach out far enough, none of them does.
typedef struct pz_cluster {
    vec3 center;
    double reach;
} pz_cluster;

// The convex hull of points, at x = at + axes corner, with a radius around it.
typedef struct pz_solid {
    const vec3 *corner;
    int count;
    const pz_cluster *cluster; // of PZ_CLUSTER corners each, in order; NULL: none
    mat3 axes;
    vec3 at;
    double radius;
} pz_solid;

// Where two of them come nearest.
typedef struct pz_gap {
    double distance; // < 0: they overlap, and a shift of so much along the normal takes them apart
    vec3 normal;     // unit, from b to a
    vec3 a, b;       // points of the surfaces, as far as is_exact
    bool is_exact;   // false: the distance is larger than `enough`, and this is a bound of it from below
} pz_gap;

// `guess` is a direction from b to a, such as the normal of a moment ago; any length, zero is allowed. The answer is exact
// to about 1e-9 of `size`, a length that the solids have. Beyond `enough` a bound will do.
pz_gap pz_solid_gap(const pz_solid *a, const pz_solid *b, vec3 guess, double enough, double size);

// How far they are apart along a direction from b to a, of any length but 0; < 0: how far they overlap there. For every
// direction it is a bound of the distance from below.
double pz_solid_apart_along(const pz_solid *a, const pz_solid *b, vec3 way);

// Put corners that are next to each other one after the other, and find their clusters: one for every PZ_CLUSTER, the last
// with what is left. `cluster` has room for them.
void pz_solid_cluster(vec3 *corner, int count, pz_cluster *cluster);

// The height of the lowest point of a solid along `up`.
double pz_solid_lowest(const pz_solid *solid, vec3 up);

// ---- What covering a mesh by shapes (cover.c) is made of: marks of its triangles, and points around it -------------------

// What is remembered of each triangle of a mesh while it is covered. It saves time and changes nothing: a corner that an
// earlier triangle has as well need not be looked at again, and a piece looks at the triangles it holds alone.
typedef struct pz_mesh_marks {
    unsigned char *fresh; // by triangle, bits: no triangle before has this corner. NULL: not known
    unsigned char *held;  // by triangle, bits: the pieces that hold some of it. NULL: not known
} pz_mesh_marks;

// Piece 0 holds everything. Both are NULL where there is no memory for them.
pz_mesh_marks pz_mesh_marks_make(const vec3 *corners, size_t triangles);
void pz_mesh_marks_release(pz_mesh_marks *marks);

// Points in and around a mesh that tell how loose its cover is: each that is covered counts, and the more the farther it
// lies outside.
#define PZ_DIRECTIONS   98
#define PZ_CLOUD_POINTS 4096

// How far a piece reaches.
typedef struct pz_outline {
    vec3 direction[PZ_DIRECTIONS]; // unit
    vec3 corner[PZ_DIRECTIONS];    // the outermost there
    double reach[PZ_DIRECTIONS];   // direction . corner
} pz_outline;

typedef struct pz_cloud {
    vec3 low, side;                        // of the box that the points lie in
    float weight[PZ_CLOUD_POINTS];         // what each counts
    unsigned char covers[PZ_CLOUD_POINTS]; // how many shapes cover it
} pz_cloud;

// The points around a mesh, none of them covered.
void pz_cloud_make(pz_cloud *c, const pz_outline *whole);

// Add a shape to the cover (by 1), or take it away (by -1).
void pz_cloud_count(pz_cloud *c, const poise_shape *shape, int by);

// Of all shapes that were added.
double pz_cloud_looseness(const pz_cloud *c);

#endif
