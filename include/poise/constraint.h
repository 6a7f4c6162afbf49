// Poise: shapes, and how far apart they are.
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
    int neighbours; // 1: shapes on bodies that at most so many joints lie between are left alone; they touch by design
    int samples;    // 3000: random configurations within the limits that pairs are tried in
    double always;  // 0.95: a pair that overlaps in a larger share of them is left alone, too
    uint64_t seed;  // 1: of those configurations; the same pairs on every machine
} poise_pairs_options;

// The defaults that stand beside the members.
POISE_API poise_pairs_options poise_pairs_options_default(void);

// The pairs among `count` shapes that are worth watching: not two of the world, nor of one rigid group of bodies, nor of
// neighbours, nor those that always overlap. Writes up to `capacity` pairs, ordered; *found says how many there are, which
// may be more. `options` may be NULL: the defaults. Scratch memory from `allocator` (NULL: malloc) is given back.
POISE_API poise_status poise_pairs_find(const poise_model *model, const poise_shape *shapes, int count,
                                        const poise_pairs_options *options, const poise_allocator *allocator,
                                        poise_pair *pairs, int capacity, int *found, poise_error *error);

#ifdef __cplusplus
}
#endif

#endif
