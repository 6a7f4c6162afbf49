// What an arm must stay clear of: capsules on its links, kept apart from each other and from shapes that stand still.
//
// An answer of a search counts when every pair that is watched is far enough apart. Distances are exact, in double, and the
// same source computes them on the device and on the host. Lengths are over L and places in the frame of the first joint, as
// those of the chain (solve/arm.h).
#ifndef POISE_CUDA_ARM_WORLD_H
#define POISE_CUDA_ARM_WORLD_H

#include "cuda_arm.h"

#include "shape/nearest_points.h"

#define PZ_WORLD_CAPSULES  64
#define PZ_WORLD_OBSTACLES 256
#define PZ_WORLD_WATCHES   4096
#define PZ_WORLD_SPARE     1e-12 // room that an answer must have: the same distance computed in another way holds, too

// A capsule that moves with a link. The frame of link i lies at the origin of joint i, whose z axis it has, after its turn.
typedef struct pz_world_capsule {
    int link; // capsules are ordered by it
    pz_segment core;
} pz_world_capsule;

// A shape that stands still.
typedef struct pz_world_obstacle {
    poise_shape_kind kind;
    vec3 center, half;
    mat3 axes;
} pz_world_obstacle;

// A pair. Those that are broken most often come first, so that most answers which collide are refused at once.
typedef struct pz_world_watch {
    int capsule;
    int obstacle;  // -1 - i: capsule i
    int pair;      // of the constraint
    double apart;  // cores must be so far apart: radii and margin
    double margin; // not over L
} pz_world_watch;

struct pz_arm_world {
    int capsule_count, obstacle_count, watch_count;
    pz_world_capsule capsule[PZ_WORLD_CAPSULES];
    pz_world_obstacle obstacle[PZ_WORLD_OBSTACLES];
    pz_world_watch watch[PZ_WORLD_WATCHES];
};

// How much room there is.
typedef struct pz_world_room {
    double room; // least distance less its margin, over L; infinite where nothing is watched
    int watch;   // which has it; -1: none
} pz_world_room;

// The world of a CLEARANCE for the arm of a task. `error` says what is not served: shapes on links that are no capsules, or
// that joints beside the arm move, pairs that stand still, more of anything than there is room for.
poise_status pz_arm_world_make(const poise_model *model, const pz_cuda_task *task, const poise_constraint *apart,
                               pz_arm_world *world, poise_error *error);

// ---- Places --------------------------------------------------------------------------------------------------------------

// Capsules, ordered by link, where the chain's coordinates q put them.
PZ_INLINE void world_place(const pz_world_capsule *capsules, int count, const pz_arm_chain *chain, const double *q,
                           pz_segment *placed)
{
    double angle[PZ_ARM_MOST], sine[PZ_ARM_MOST], cosine[PZ_ARM_MOST];
    vec3 x = v3(1, 0, 0), y = v3(0, 1, 0), z = v3(0, 0, 1), p = v3(0, 0, 0);
    for (int i = 0; i < chain->n; ++i) {
        angle[i] = chain->turn[i] * q[i] + chain->offset[i];
    }
    pz_sincos_array((size_t)chain->n, angle, sine, cosine);
    for (int i = 0, k = 0; i < chain->n; ++i) {
        vec3 across = v3_combine(cosine[i], y, -sine[i], x), along = v3_combine(cosine[i], x, sine[i], y);
        vec3 origin = v3_mad(p, chain->slide[i] * q[i], z);
        for (; k < count && capsules[k].link == i; ++k) {
            const pz_segment *core = &capsules[k].core;
            vec3 c = core->center, a = core->along;
            placed[k].center = v3_mad(v3_mad(v3_mad(origin, c.x, along), c.y, across), c.z, z);
            placed[k].along = v3_mad(v3_combine(a.x, along, a.y, across), a.z, z);
            placed[k].half = core->half;
        }
        x = along;
        p = v3_mad(v3_mad(v3_mad(origin, chain->tx[i], x), chain->ty[i], across), chain->tz[i], z);
        y = v3_combine(chain->ca[i], across, chain->sa[i], z);
        z = v3_combine(chain->ca[i], z, -chain->sa[i], across);
    }
}

// ---- Distances -----------------------------------------------------------------------------------------------------------

PZ_INLINE double world_from_segment(const pz_segment *a, const pz_segment *b, double enough)
{
    double far = a->half + b->half + enough, s, t;
    vec3 between = v3_sub(a->center, b->center);
    if (v3_dot(between, between) >= far * far) {
        return INFINITY;
    }
    pz_nearest_of_segments(a, b, &s, &t);
    return v3_norm(v3_mad(v3_mad(between, s, a->along), -t, b->along));
}

PZ_INLINE double world_from_box(const pz_segment *a, const pz_world_obstacle *box, double enough)
{
    pz_boxed_segment local;
    double far = a->half + enough, beyond = 0.0, square = 0.0;
    bool inside;
    v3_store(m3_apply_transposed(&box->axes, v3_sub(a->center, box->center)), local.p);
    v3_store(box->half, local.h);
    for (int i = 0; i < 3; ++i) {
        double excess = pz_excess(local.p[i], local.h[i]);
        beyond += excess * excess;
    }
    if (beyond >= far * far) {
        return INFINITY;
    }
    v3_store(m3_apply_transposed(&box->axes, a->along), local.e);
    local.half = a->half;
    double t = pz_nearest_to_box(&local, &inside);
    for (int i = 0; i < 3; ++i) {
        double excess = pz_excess(local.p[i] + t * local.e[i], local.h[i]);
        square += excess * excess;
    }
    return sqrt(square);
}

// The distance between two cores; of one below a plane, how deep, negative. Infinite where it is seen at once to be
// `enough`.
PZ_INLINE double world_gap(const pz_arm_world *world, const pz_world_watch *watch, const pz_segment *placed, double enough)
{
    const pz_segment *a = &placed[watch->capsule];
    if (watch->obstacle < 0) {
        return world_from_segment(a, &placed[-1 - watch->obstacle], enough);
    }
    const pz_world_obstacle *other = &world->obstacle[watch->obstacle];
    if (other->kind == POISE_SHAPE_BOX) {
        return world_from_box(a, other, enough);
    }
    if (other->kind == POISE_SHAPE_HALF_SPACE) {
        vec3 up = other->axes.z;
        return v3_dot(up, v3_sub(a->center, other->center)) - a->half * fabs(v3_dot(up, a->along));
    }
    pz_segment still;
    still.center = other->center, still.along = other->axes.z, still.half = other->half.z;
    return world_from_segment(a, &still, enough);
}

// The room that there is at q. Unless `all`, the first pair that is broken ends it.
PZ_INLINE pz_world_room world_room(const pz_arm_world *world, const pz_arm_chain *chain, const double *q, bool all)
{
    pz_segment placed[PZ_WORLD_CAPSULES];
    pz_world_room least;
    least.room = INFINITY, least.watch = -1;
    world_place(world->capsule, world->capsule_count, chain, q, placed);
    for (int k = 0; k < world->watch_count && (all || least.room >= PZ_WORLD_SPARE); ++k) {
        const pz_world_watch *watch = &world->watch[k];
        double room = world_gap(world, watch, placed, watch->apart + least.room) - watch->apart;
        if (room < least.room) {
            least.room = room, least.watch = k;
        }
    }
    return least;
}

PZ_INLINE bool world_is_clear(pz_world_room room)
{
    return room.room >= PZ_WORLD_SPARE;
}

// What an answer says about it.
PZ_INLINE void world_report(const pz_arm_world *world, const pz_cuda_task *task, pz_world_room room,
                            poise_cuda_answer *answer)
{
    answer->room = task->chain.unit * room.room;
    answer->pair = room.watch >= 0 ? world->watch[room.watch].pair : -1;
}

#endif
