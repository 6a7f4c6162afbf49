// Poise: constraints, which hold in the answer just as limits do: no collisions, closed loops, balance.
//
//   poise_constraint apart = poise_constraint_default(POISE_CONSTRAINT_CLEARANCE);
//   apart.shapes = shapes, apart.shape_count = n, apart.pairs = pairs, apart.pair_count = m, apart.margin = 0.01;
//   poise_constraints_size(&apart, 1, &options.constraints);                      // before the solver is made
//   poise_solve_within(solver, goals, count, &apart, 1, q, &report, &error);      // solve.h; report.holds
//
// A constraint is a plain struct, checked in each call and never copied. It ties a frame of `body` to one of `body2`, keeps
// shapes apart, or keeps the centre of mass above a polygon:
//
// | kind      | what holds                                                                           | rows             |
// |-----------|--------------------------------------------------------------------------------------|------------------|
// | CLEARANCE | every pair of shapes is at least `margin` apart                                      | 1 a pair (1)     |
// | CONNECT   | the points local.position and target.position coincide: a ball joint                 | 3                |
// | WELD      | the frames coincide                                                                  | 6                |
// | HINGE     | the points and the z axes of the frames coincide                                     | 5                |
// | DISTANCE  | lower <= distance between the points <= upper; a rod if lower = upper                | 2                |
// | PLANE     | lower <= height of the point above the xy plane of `target` <= upper                 | 2                |
// | BALANCE   | the centre of mass stays `margin` inside the sides of the polygon, seen along `axis` | 1 a corner       |
//
// (1) Above a half-space a capsule has 2 rows, for its ends, and a box 8, for its corners.
//
// A shape is a core with a radius around it: a segment gives a capsule or a sphere, a box gives a box with rounded edges.
// Shapes belong to bodies of a model, or to the world, where they are obstacles.
//
//   poise_shape hand = poise_shape_capsule(body, from, to, 0.05), table = poise_shape_box(POISE_WORLD, pose, half);
//   poise_distance(kinematics, &hand, &table, &nearest, &error);       // nearest.distance < 0: they overlap
//
// | kind       | core                                      | in its own frame                                  |
// |------------|-------------------------------------------|---------------------------------------------------|
// | CAPSULE    | a segment; of length 0: a sphere          | along z from -half.z to half.z                    |
// | BOX        | a box; a radius rounds its edges          | -half to half                                     |
// | HALF_SPACE | everything below a plane: floors, walls   | z <= 0                                            |
//
// **Threads.** Shapes are plain structs; poise_pairs_find keeps nothing.
#ifndef POISE_CONSTRAINT_H
#define POISE_CONSTRAINT_H

#include <poise/kinematics.h>

#ifdef __cplusplus
extern "C" {
#endif

// The kinds of shapes: the table above.
typedef enum poise_shape_kind {
    POISE_SHAPE_CAPSULE = 0,
    POISE_SHAPE_BOX,
    POISE_SHAPE_HALF_SPACE,
    POISE_SHAPE_KIND_COUNT
} poise_shape_kind;

// A short lower-case name such as "capsule"; "unknown" outside the enumeration.
static inline const char *poise_shape_kind_name(poise_shape_kind kind)
{
    return poise_name(POISE_TYPE_SHAPE_KIND, (int)kind);
}

// One shape. Make it with a constructor below.
typedef struct poise_shape {
    poise_shape_kind kind; // what its core is
    int body;              // the body that carries it; POISE_WORLD: an obstacle, which may move between calls
    poise_pose pose;       // of the shape's frame in the body's frame
    poise_vec3 half;       // BOX: half the sides of its core; CAPSULE: z is half the length of its core; others 0
    double radius;         // >= 0: thickness around the core
    uint32_t groups;       // bits: the groups that the shape belongs to
    uint32_t against;      // bits: the groups that it is kept apart from (poise_pairs_find); both 0: everything
} poise_shape;

// Two shapes that must not touch, by their index in an array of shapes.
typedef struct poise_pair {
    int a, b; // any order
} poise_pair;

// A capsule around the segment between two points of the body; a sphere if they coincide.
POISE_API poise_shape poise_shape_capsule(int body, poise_vec3 from, poise_vec3 to, double radius);

// A box with sharp edges.
POISE_API poise_shape poise_shape_box(int body, poise_pose pose, poise_vec3 half);

// Everything below the plane through `origin`. `normal` points out of the solid and need not be a unit vector.
POISE_API poise_shape poise_shape_half_space(int body, poise_vec3 origin, poise_vec3 normal);

// Cover a mesh with capsules and boxes: `corners` has three points for each triangle, in the frame of the body. Shapes are
// added while each makes the cover a few percent tighter, up to `capacity` (>= 1; at most 8 are used).
// POISE_ERROR_ARGUMENT: no triangles, or a corner that is not finite.
POISE_API poise_status poise_shapes_fit(int body, const poise_vec3 *corners, size_t triangles, poise_shape *shapes,
                                        int capacity, int *count, poise_error *error);

// Check one shape against a model: its kind, its body, numbers finite, a unit quaternion, sizes >= 0.
POISE_API poise_status poise_shape_check(const poise_shape *shape, const poise_model *model, poise_error *error);

// Where two shapes come nearest, in the world.
typedef struct poise_nearest {
    double distance;   // between the surfaces; < 0: how deep they overlap
    poise_vec3 on_a;   // nearest point on the first shape
    poise_vec3 on_b;   // nearest point on the second shape
    poise_vec3 normal; // unit, from the second to the first: moving the first along it takes them apart
} poise_nearest;

// The distance between two shapes, with their bodies posed by `kinematics`. Exact if the cores do not overlap; if they do,
// the shortest displacement that separates them (0 for two segments that cross). POISE_ERROR_UNSUPPORTED for two
// half-spaces; NUMERIC where squares of lengths overflow, from 1e154 on.
POISE_API poise_status poise_distance(const poise_kinematics *kinematics, const poise_shape *a, const poise_shape *b,
                                      poise_nearest *nearest, poise_error *error);

// Which pairs of shapes to watch.
typedef struct poise_pairs_options {
    // 1: pairs on bodies with at most this many joints between them are left out; they touch by design
    int neighbours;
    int samples;   // 3000: random configurations within the limits in which pairs are tested
    double always; // 0.95: pairs of bodies that overlap in a larger share of these are left out, too; obstacles
                   // never are
    double often;  // 0.5: the same for bodies of one chain with neighbours + 1 joints between them, whose covers
                   // may meet where they do not
    double margin; // 0: bodies that are nearer than this in a share of `always` are left out as well: no pose
                   // holds that margin. To keep them apart by less, give pairs margins of their own
    uint64_t seed; // 1: seed of those configurations; every machine finds the same pairs
    const poise_pair *excluded; // NULL: pairs of bodies (POISE_WORLD is allowed) whose shapes are left out
    int excluded_count;         // 0: length of `excluded`
} poise_pairs_options;

// The defaults given beside the members.
static inline poise_pairs_options poise_pairs_options_default(void)
{
    poise_pairs_options options;
    poise_init(POISE_TYPE_PAIRS_OPTIONS, &options, sizeof options);
    return options;
}

// Find the pairs among `count` shapes that are worth watching. Left out are pairs that are both in the world, on one rigid
// group of bodies, on neighbours, on bodies that are excluded or always overlap, and pairs whose groups do not match: if
// both shapes have groups, a.groups & b.against or b.groups & a.against must be nonzero. Writes up to `capacity` pairs,
// sorted; *found is the total, which may be larger. `options` NULL means the defaults. Scratch memory comes from
// `allocator` (NULL: malloc) and is released before the call returns.
POISE_API poise_status poise_pairs_find(const poise_model *model, const poise_shape *shapes, int count,
                                        const poise_pairs_options *options, const poise_allocator *allocator,
                                        poise_pair *pairs, int capacity, int *found, poise_error *error);

// ---- Constraints ---------------------------------------------------------------------------------------------------------

// The kinds of constraints: the table above.
typedef enum poise_constraint_kind {
    POISE_CONSTRAINT_CLEARANCE = 0,
    POISE_CONSTRAINT_CONNECT,
    POISE_CONSTRAINT_WELD,
    POISE_CONSTRAINT_HINGE,
    POISE_CONSTRAINT_DISTANCE,
    POISE_CONSTRAINT_PLANE,
    POISE_CONSTRAINT_BALANCE,
    POISE_CONSTRAINT_KIND_COUNT
} poise_constraint_kind;

// A short lower-case name such as "clearance"; "unknown" outside the enumeration.
static inline const char *poise_constraint_kind_name(poise_constraint_kind kind)
{
    return poise_name(POISE_TYPE_CONSTRAINT_KIND, (int)kind);
}

// One constraint. Start from poise_constraint_default() and set what its kind uses.
typedef struct poise_constraint {
    poise_constraint_kind kind; // CLEARANCE: what must hold
    int body;                   // 0: loops: a body, or POISE_WORLD
    int body2;                  // WORLD: another body, or POISE_WORLD
    poise_pose local, target;   // identity: loops: frames on body and on body2
    double lower, upper;        // 0: DISTANCE, PLANE; -infinity or infinity: not bounded on that side
    double margin;              // 0: CLEARANCE, BALANCE: >= 0
    const poise_shape *shapes;  // CLEARANCE
    int shape_count;            // 0: how many
    const poise_pair *pairs;    // CLEARANCE: the pairs to watch (poise_pairs_find)
    int pair_count;             // 0: how many
    const double *margins;      // CLEARANCE: NULL, or one for each pair instead of `margin`
    const poise_vec3 *polygon;  // BALANCE: corners in the world, convex, counter-clockwise about `axis`
    int corner_count;           // 0: how many
    poise_vec3 axis;            // z: BALANCE: up; any length but 0
} poise_constraint;

// Identity frames, body 0 against the world, lower = upper = 0, no margin, axis z.
static inline poise_constraint poise_constraint_default(poise_constraint_kind kind)
{
    poise_constraint constraint;
    poise_init(POISE_TYPE_CONSTRAINT, &constraint, sizeof constraint);
    constraint.kind = kind;
    return constraint;
}

// Check one constraint against a model. Solvers call this themselves.
POISE_API poise_status poise_constraint_check(const poise_constraint *constraint, const poise_model *model,
                                              poise_error *error);

// The room that a constraint has in the pose of `kinematics`: the least of its pairs or sides, or minus the largest error
// of a loop, in length units or radians. *item (may be NULL) is the pair, side or row with the least room. Infinite for a
// clearance without pairs, NaN for a constraint that is invalid for the model.
POISE_API double poise_constraint_room(const poise_kinematics *kinematics, const poise_constraint *constraint, int *item);

// Does a constraint hold in the pose of `kinematics`, as in an answer of poise_solve_within: clearances with 1e-9 to spare
// (1), loops closed to `closure_tolerance` (1)? False for a constraint that is invalid for the model.
POISE_API bool poise_constraint_holds(const poise_kinematics *kinematics, const poise_constraint *constraint,
                                      double closure_tolerance);
// (1) Lengths in the unit that suits the size of the model, its longest chain of links: 1 for 1/64 to 16, 1024 for 16 to
//     16,384, and so on, both ways. So a robot in millimetres is treated as the same robot in metres.

// Keep those of *count configurations (nq numbers each) in which all constraints hold (poise_constraint_holds); they move
// up, and *count is how many they are. `kinematics` is updated on the way. For the answers of poise_solve_all.
POISE_API void poise_constraints_sift(poise_kinematics *kinematics, const poise_constraint *constraints,
                                      int constraint_count, double closure_tolerance, double *configurations, int *count);

// A pair of a clearance that is closer than allowed.
typedef struct poise_close_pair {
    int pair;              // its index in `pairs` of the clearance
    double room;           // its distance minus its margin
    poise_nearest nearest; // the nearest points of its shapes
} poise_close_pair;

// The pairs of a clearance with less than `room` to spare (0: those that break it) in the pose of `kinematics`, least room
// first. Writes up to `capacity`; *found is the total, which may be larger.
POISE_API poise_status poise_pairs_close(const poise_kinematics *kinematics, const poise_constraint *clearance, double room,
                                         poise_close_pair *close, int capacity, int *found, poise_error *error);

// Memory that a solver reserves for constraints.
typedef struct poise_constraint_options {
    int rows;                 // 0: most rows that the constraints of one call may have (the table above)
    int shapes;               // 0: most shapes that they may have
    double closure_tolerance; // 1e-12: a loop counts as closed if its error, in units of (1) or radians, is at most this
} poise_constraint_options;

// Raise options->rows and ->shapes to what these constraints need.
POISE_API void poise_constraints_size(const poise_constraint *constraints, int count, poise_constraint_options *options);

#ifdef __cplusplus
}
#endif

#endif
