// Poise: convex hulls of the bodies, and how far they lie inside each other over a motion.
//
//   poise_overlap_problem problem = poise_overlap_problem_default();
//   problem.model = model, problem.clip = clip;
//   problem.hulls = file->hulls, problem.hull_count = file->hull_count;
//   problem.excluded = file->excluded, problem.excluded_count = file->excluded_count;
//   problem.metres = file->scale.metres;
//   poise_overlap_measure(&problem, NULL, &overlap, &error);                  // overlap.frames, .depth, .a, .b, .frame
//   poise_overlap_judge(&problem, &overlap, NULL, &verdict, findings, 64);    // SELF, PIERCED (verdict.h)
//
// A hull is the convex hull of points with a radius around it: a sphere has one point, a capsule two, a box eight, a mesh
// its outermost vertices. Simulators collide the same hulls. The shapes of constraint.h, which solvers keep apart, are
// covers that are larger; use hulls to measure.
//
// **Which pairs.** As in a simulator: hulls on different bodies, but not those of a body and the one that a single joint
// joins it to, and not those of bodies that the file excludes, that overlap in the neutral pose or in `rest`, or that
// overlap in 95 % of random poses. What is left out is counted.
//
// **Threads.** Calls keep nothing.
#ifndef POISE_HULL_H
#define POISE_HULL_H

#include <poise/constraint.h>
#include <poise/motion.h>

#ifdef __cplusplus
extern "C" {
#endif

// The convex hull of some points of a body, with a radius around it.
typedef struct poise_hull {
    int body;                  // that carries it; POISE_WORLD: it stands still
    const poise_vec3 *corners; // points in the frame of the body
    int corner_count;          // how many, >= 1; points within the hull of the others do no harm, but cost time
    double radius;             // >= 0: thickness around it
    uint32_t groups;           // bits: the groups that it belongs to
    uint32_t against;          // bits: the groups that it collides with (as poise_shape); both 0: everything
} poise_hull;

// Most corners that poise_hull_of_shape writes.
#define POISE_HULL_OF_SHAPE 8

// A capsule, a sphere or a box as a hull, exactly; `corners` has room for POISE_HULL_OF_SHAPE points and must outlive the
// hull. UNSUPPORTED: a half-space.
POISE_API poise_status poise_hull_of_shape(const poise_shape *shape, poise_vec3 *corners, poise_hull *hull,
                                           poise_error *error);

// The points of a cloud, such as the vertices of a mesh, that its convex hull needs: no point lies farther than `tolerance`
// outside the hull of those written, each of which is one of the cloud. Writes up to `capacity` (>= 4), the most important
// first; *overhang (may be NULL) is how far a point still lies outside. ARGUMENT: no points, or one that is not finite.
POISE_API poise_status poise_hull_reduce(const poise_vec3 *points, size_t point_count, double tolerance, poise_vec3 *corners,
                                         int capacity, int *corner_count, double *overhang, poise_error *error);

// The distance of two hulls, with their bodies posed by `kinematics`. Exact (GJK) where they are apart; < 0 where they
// overlap: the least shift that separates them (EPA). ARGUMENT: a body, a count or a number is not sound.
POISE_API poise_status poise_hull_distance(const poise_kinematics *kinematics, const poise_hull *a, const poise_hull *b,
                                           poise_nearest *nearest, poise_error *error);

// ---- A motion ------------------------------------------------------------------------------------------------------------

// What to measure. Start from poise_overlap_problem_default(), set model, clip, and hulls or shapes.
typedef struct poise_overlap_problem {
    const poise_model *model; // that has the hulls
    const poise_clip *clip;   // its motion
    const poise_clip *before; // NULL: that motion before an edit, as long. A pair that was as deep in a frame does not count
    const poise_hull *hulls;  // NULL: those of `shapes`, exactly
    int hull_count;           // 0: how many
    const poise_shape *shapes;  // NULL; only looked at without hulls. Covers of meshes are larger than the meshes
    int shape_count;            // 0: how many
    const poise_pair *excluded; // NULL: pairs of bodies that may overlap (poise_file.excluded)
    int excluded_count;         // 0: how many
    const double *rest;         // NULL: nq numbers, a pose such as the robot's home; what overlaps there may overlap
    double metres;              // 1: per unit of length
    poise_vec3 up;              // zero: no ground; else a unit vector: the ground is below `ground` along it
    double ground;              // 0
} poise_overlap_problem;

// The defaults given beside the members.
static inline poise_overlap_problem poise_overlap_problem_default(void)
{
    poise_overlap_problem problem;
    poise_init(POISE_TYPE_OVERLAP_PROBLEM, &problem, sizeof problem);
    return problem;
}

// Depths from which frames count, in metres.
#define POISE_OVERLAP_TOUCH  0.005
#define POISE_OVERLAP_PIERCE 0.02

// What was found. Depths are in units of the model.
typedef struct poise_overlap {
    int pairs;        // of hulls that were watched
    int left_out;     // pairs of hulls left out because their bodies overlap at rest or always
    int frames;       // in which two bodies overlap by more than POISE_OVERLAP_TOUCH
    int pierced;      // and by more than POISE_OVERLAP_PIERCE
    double depth;     // the largest overlap; 0: none
    int a, b;         // of which bodies; POISE_NONE: none
    int frame;        // when
    double buried;    // largest depth of a hull below the ground; 0: none, or no ground
    int buried_body;  // which; POISE_NONE: none
    int buried_frame; // when
    int buried_count; // frames in which a hull is more than POISE_OVERLAP_TOUCH below the ground
    int tests;        // exact tests of two hulls that it took
} poise_overlap;

// Measure how far bodies lie inside each other, and below the ground, in every frame of a motion. A pair of hulls is tested
// again only when both have moved far enough to meet. Without hulls and shapes there are 0 pairs: nothing was measured.
POISE_API poise_status poise_overlap_measure(const poise_overlap_problem *problem, const poise_allocator *allocator,
                                             poise_overlap *overlap, poise_error *error);

#ifdef __cplusplus
}
#endif

#endif
