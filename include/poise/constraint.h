// Poise: constraints. What must hold in the answer, as limits do: no collisions, closed loops, balance.
//
//   poise_constraint apart = poise_constraint_default(POISE_CONSTRAINT_CLEARANCE);
//   apart.shapes = shapes, apart.shape_count = n, apart.pairs = pairs, apart.pair_count = m, apart.margin = 0.01;
//   poise_constraints_size(&apart, 1, &options.constraints);                      // before the solver is made
//   poise_solve_within(solver, goals, count, &apart, 1, q, &report, &error);      // solve.h; report.holds
//
// A constraint is a plain struct, checked in each call and never copied. Either a frame of `body` is tied to one of `body2`,
// or shapes are kept apart, or the centre of mass above a polygon:
//
// | kind      | what holds                                                                           | rows             |
// |-----------|--------------------------------------------------------------------------------------|------------------|
// | CLEARANCE | every pair of shapes is at least `margin` apart                                      | 1 a pair (1)     |
// | CONNECT   | the points local.position and target.position are one: a ball joint                  | 3                |
// | WELD      | the frames are one                                                                   | 6                |
// | HINGE     | the points and the z axes of the frames are one                                      | 5                |
// | DISTANCE  | lower <= distance of the points <= upper; a rod where both are the same              | 2                |
// | PLANE     | lower <= height of the point above the plane x, y of `target` <= upper               | 2                |
// | BALANCE   | the centre of mass stays `margin` inside the sides of the polygon, seen along `axis` | 1 a corner       |
//
// (1) Above a half-space a capsule has 2 rows, for its ends, and a box 8, for its corners.
//
// A shape is a core and a radius around it: a segment makes a capsule or a sphere, a box a box with round edges. Shapes
// belong to bodies of a model, or to the world, where they are obstacles.
//
//   poise_shape hand = poise_shape_capsule(body, from, to, 0.05), table = poise_shape_box(POISE_WORLD, pose, half);
//   poise_distance(kinematics, &hand, &table, &nearest, &error);       // nearest.distance < 0: they overlap
//
// | kind       | core                                      | in its own frame                                  |
// |------------|-------------------------------------------|---------------------------------------------------|
// | CAPSULE    | a segment; of length 0: a sphere          | along z from -half.z to half.z                    |
// | BOX        | a box; with a radius its edges are round  | -half to half                                     |
// | HALF_SPACE | all below a plane: floors, walls          | z <= 0                                            |
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
POISE_API const char *poise_shape_kind_name(poise_shape_kind kind);

// One shape. Make it with a constructor below.
typedef struct poise_shape {
    poise_shape_kind kind; // what its core is
    int body;              // that carries it; POISE_WORLD: an obstacle, which may be elsewhere in the next call
    poise_pose pose;       // of its frame in the body's
    poise_vec3 half;       // BOX: half the sides of its core; CAPSULE: z is half the length of its core; others 0
    double radius;         // >= 0: around the core
    uint32_t groups;       // bits: what the shape is,
    uint32_t against;      // and what it is kept apart from (poise_pairs_find); 0 and 0: everything
} poise_shape;

// Two shapes that must not touch, by their place in an array of shapes.
typedef struct poise_pair {
    int a, b; // any order
} poise_pair;

// A capsule around the segment between two points of the body; both the same: a sphere.
POISE_API poise_shape poise_shape_capsule(int body, poise_vec3 from, poise_vec3 to, double radius);

// A box with sharp edges.
POISE_API poise_shape poise_shape_box(int body, poise_pose pose, poise_vec3 half);

// All that lies below the plane through `origin` with the normal `normal`, which points out of it and need not be a unit
// vector.
POISE_API poise_shape poise_shape_half_space(int body, poise_vec3 origin, poise_vec3 normal);

// Capsules and boxes that cover a mesh: `corners` has three for each triangle, in the frame of the body. Further
// shapes are taken while each makes the cover a few percent tighter, up to `capacity` (>= 1, at most 8 are used).
// POISE_ERROR_ARGUMENT: no triangles, or a corner that is not finite.
POISE_API poise_status poise_shapes_fit(int body, const poise_vec3 *corners, size_t triangles, poise_shape *shapes,
                                        int capacity, int *count, poise_error *error);

// Check one shape against a model: its kind, its body, numbers finite, a unit quaternion, sizes >= 0.
POISE_API poise_status poise_shape_check(const poise_shape *shape, const poise_model *model, poise_error *error);

// Where two shapes come nearest, in the world.
typedef struct poise_nearest {
    double distance;   // between the surfaces; < 0: how deep they overlap
    poise_vec3 on_a;   // the point of the first
    poise_vec3 on_b;   // the point of the second
    poise_vec3 normal; // unit, from the second to the first: moving the first along it takes them apart
} poise_nearest;

// The distance of two shapes where `kinematics` has their bodies. Exact between cores that do not overlap; of cores that do,
// the shortest way apart (of two segments that cross, 0). POISE_ERROR_UNSUPPORTED for two half-spaces.
POISE_API poise_status poise_distance(const poise_kinematics *kinematics, const poise_shape *a, const poise_shape *b,
                                      poise_nearest *nearest, poise_error *error);

// Which pairs of shapes to watch.
typedef struct poise_pairs_options {
    // 1: shapes on bodies that at most so many joints lie between are left alone; they touch by design
    int neighbours;
    int samples;   // 3000: random configurations within the limits that pairs are tried in
    double always; // 0.95: bodies whose shapes overlap in a larger share of them are left alone, too; obstacles never
    uint64_t seed; // 1: of those configurations; the same pairs on every machine
    const poise_pair *excluded; // NULL: pairs of bodies, POISE_WORLD among them, whose shapes are left alone
    int excluded_count;         // 0: of those
} poise_pairs_options;

// The defaults that stand beside the members.
POISE_API poise_pairs_options poise_pairs_options_default(void);

// The pairs among `count` shapes that are worth watching: not two of the world, nor of one rigid group of bodies, nor of
// neighbours, nor of bodies that are excluded or always overlap, nor of shapes whose groups do not meet: where both have
// some, a.groups & b.against or b.groups & a.against must have a bit. Writes up to `capacity` pairs, ordered; *found says
// how many there are, which may be more. `options` may be NULL: the defaults. Scratch memory from `allocator` (NULL: malloc)
// is given back.
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
POISE_API const char *poise_constraint_kind_name(poise_constraint_kind kind);

// One constraint. Start from poise_constraint_default() and set what its kind uses.
typedef struct poise_constraint {
    poise_constraint_kind kind; // what must hold
    int body, body2;            // loops: two bodies; one may be POISE_WORLD
    poise_pose local, target;   // loops: frames on body and on body2
    double lower, upper;        // DISTANCE, PLANE; -infinity or infinity: not bounded on that side
    double margin;              // CLEARANCE, BALANCE: >= 0
    const poise_shape *shapes;  // CLEARANCE
    int shape_count;            // of them
    const poise_pair *pairs;    // CLEARANCE: the pairs to watch (poise_pairs_find)
    int pair_count;             // of them
    const double *margins;      // CLEARANCE: NULL, or one for each pair instead of `margin`
    const poise_vec3 *polygon;  // BALANCE: corners in the world, convex, counter-clockwise about `axis`
    int corner_count;           // of them
    poise_vec3 axis;            // BALANCE: up; any length but 0
} poise_constraint;

// Identity frames, body 0 against the world, lower = upper = 0, no margin, axis z.
POISE_API poise_constraint poise_constraint_default(poise_constraint_kind kind);

// Check one constraint against a model. Solvers call this themselves.
POISE_API poise_status poise_constraint_check(const poise_constraint *constraint, const poise_model *model,
                                              poise_error *error);

// What room a constraint has where `kinematics` has the bodies: the least of its pairs or sides, or minus the largest error
// of a loop; >= 0: it holds. *item (may be NULL) is the pair, side or row that has it. Infinite where it has no pairs, NaN
// where it is not sound for the model.
POISE_API double poise_constraint_room(const poise_kinematics *kinematics, const poise_constraint *constraint, int *item);

// A pair of a clearance that is nearer than it may be.
typedef struct poise_close_pair {
    int pair;              // by its place in `pairs` of the clearance
    double room;           // its distance less its margin
    poise_nearest nearest; // where its shapes come nearest
} poise_close_pair;

// The pairs of a clearance whose room is below `room` (0: those that break it) where `kinematics` has the bodies, the one
// with least room first. Writes up to `capacity`; *found says how many there are, which may be more.
POISE_API poise_status poise_pairs_close(const poise_kinematics *kinematics, const poise_constraint *clearance, double room,
                                         poise_close_pair *close, int capacity, int *found, poise_error *error);

// Room for constraints in a solver.
typedef struct poise_constraint_options {
    int rows;                 // 0: rows that the constraints of a call may have, by the table above
    int shapes;               // 0: shapes that they may have
    double closure_tolerance; // 1e-12: a loop whose error, in length units or radians, is at most this is closed
} poise_constraint_options;

// Raise options->rows and ->shapes to what these constraints need.
POISE_API void poise_constraints_size(const poise_constraint *constraints, int count, poise_constraint_options *options);

#ifdef __cplusplus
}
#endif

#endif
