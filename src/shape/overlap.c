// How far the bodies of a model lie inside each other, and below the ground, over a motion.
//
// For each pair of hulls a lower bound of their distance is kept. From one frame to the next no point of a hull moves
// farther than
//
//   |dc| + r |dR|_F / sqrt 2          c its centre, r how far it reaches from there, R its rotation
//
// seen from the root, and the bound sinks by that of both hulls. The distance itself is computed (hull.c, beginning with the
// direction of the last time) only when the bound has reached 0. For pairs that overlap there is an upper bound as well: the
// depth is computed only where the two bounds disagree whether the overlap counts, or where it may be the deepest so far.
//
// Compared with the motion before an edit, an overlap counts only as far as it is deeper than it was in that frame.
#include <poise/hull.h>

#include "base/arena.h"
#include "base/error.h"
#include "kin/kin.h"
#include "shape/shape.h"

#include <string.h>

#define EXACT_WITHIN 0.02  // metres: what is farther apart is not measured exactly
#define SAMPLES      200   // random poses; that overlap which overlaps
#define ALWAYS       0.95  // in so many of them
#define DEEPER       0.002 // metres: less is not deeper than before, where it did not count before

// A hull, seen from the root.
typedef struct placed {
    pz_solid solid;
    vec3 middle, center; // in its body, and in place
    double reach;        // of the surface from there
    double moved;        // how far a point of it may have moved since the last pose
} placed;

typedef struct watched {
    int a, b;    // hulls
    double room; // no less apart,
    double most; // and no more
    vec3 guess;  // from b to a
} watched;

typedef struct work {
    const poise_overlap_problem *problem;
    const poise_hull *hulls;
    int count;
    poise_kinematics kin;
    double *q;
    placed *placed;
    placed *earlier; // where the hulls were before, of the frames in which that is asked for
    watched *pairs;
    int pair_count, pair_room;
    bool *may;     // body x body, the lesser first: they overlap at rest, or always
    vec3 *corners; // of all hulls, in clusters
    pz_cluster *clusters;
    double size, exact_within;
    int tests;
} work;

// ---- Poses ---------------------------------------------------------------------------------------------------------------

static void measure_hulls(work *w)
{
    vec3 *corners = w->corners;
    pz_cluster *clusters = w->clusters;
    w->size = 1e-3 * w->problem->model->unit;
    for (int i = 0; i < w->count; ++i) {
        const poise_hull *h = &w->hulls[i];
        placed *p = &w->placed[i];
        vec3 low = h->corners[0], high = low;
        for (int k = 1; k < h->corner_count; ++k) {
            vec3 x = h->corners[k];
            low = v3(min2(low.x, x.x), min2(low.y, x.y), min2(low.z, x.z));
            high = v3(max2(high.x, x.x), max2(high.y, x.y), max2(high.z, x.z));
        }
        *p = (placed){.middle = v3_scale(v3_add(low, high), 0.5)};
        memcpy(corners, h->corners, (size_t)h->corner_count * sizeof *corners);
        pz_solid_cluster(corners, h->corner_count, clusters);
        p->solid = (pz_solid){.corner = corners, .count = h->corner_count, .cluster = clusters, .radius = h->radius};
        corners += h->corner_count;
        clusters += (h->corner_count + PZ_CLUSTER - 1) / PZ_CLUSTER;
        for (int k = 0; k < h->corner_count; ++k) {
            p->reach = max2(p->reach, v3_norm(v3_sub(h->corners[k], p->middle)) + h->radius);
        }
        w->size = max2(w->size, p->reach);
    }
}

static double rotation_distance(const mat3 *A, const mat3 *B)
{
    vec3 x = v3_sub(A->x, B->x), y = v3_sub(A->y, B->y), z = v3_sub(A->z, B->z);
    return sqrt(0.5 * (v3_dot(x, x) + v3_dot(y, y) + v3_dot(z, z)));
}

// Put hulls where w->kin has them.
static void place_hulls(const work *w, placed *all)
{
    mat3 root = w->kin.model->joint_count > 0 ? pz_kin_rotation(&w->kin, 0) : m3_identity();
    for (int i = 0; i < w->count; ++i) {
        placed *p = &all[i];
        int body = w->hulls[i].body;
        mat3 before = p->solid.axes, rotation = pz_kin_rotation(&w->kin, body);
        mat3 back = m3_transpose(&root);
        vec3 was = p->center;
        p->solid.axes = m3_mul(&back, &rotation);
        p->solid.at = m3_apply(&back, pz_kin_point(&w->kin, body, v3(0, 0, 0)));
        p->center = v3_add(p->solid.at, m3_apply(&p->solid.axes, p->middle));
        p->moved = v3_norm(v3_sub(p->center, was)) + p->reach * rotation_distance(&p->solid.axes, &before);
    }
}

static void place(work *w)
{
    place_hulls(w, w->placed);
}

static pz_gap gap_of(work *w, watched *pair, double enough)
{
    const placed *a = &w->placed[pair->a], *b = &w->placed[pair->b];
    vec3 way = v3_sub(a->center, b->center);
    double apart = v3_norm(way) - a->reach - b->reach;
    if (apart > enough) {
        return (pz_gap){.distance = apart, .normal = pair->guess};
    }
    w->tests += 1;
    pz_gap gap =
        pz_solid_gap(&a->solid, &b->solid, v3_dot(pair->guess, pair->guess) > 0 ? pair->guess : way, enough, w->size);
    pair->guess = gap.normal;
    return gap;
}

// ---- Which pairs ---------------------------------------------------------------------------------------------------------

static bool *may_overlap(const work *w, int a, int b)
{
    int first = w->hulls[a].body, second = w->hulls[b].body;
    int lesser = first < second ? first : second, other = first < second ? second : first;
    return &w->may[lesser * w->kin.model->joint_count + other]; // not for the world
}

static bool is_candidate(const work *w, int a, int b)
{
    const poise_hull *x = &w->hulls[a], *y = &w->hulls[b];
    const poise_overlap_problem *problem = w->problem;
    bool is_world = x->body == POISE_WORLD || y->body == POISE_WORLD;
    return pz_groups_meet(x->groups, x->against, y->groups, y->against) &&
           pz_joints_between(problem->model, x->body, y->body, NULL) > (is_world ? 0 : 1) &&
           !pz_is_excluded(problem->excluded, problem->excluded_count, x->body, y->body);
}

static void allow_overlaps_at(work *w, const double *q)
{
    pz_kin_sweep(&w->kin, q);
    place(w);
    for (int i = 0; i < w->pair_count; ++i) {
        watched *pair = &w->pairs[i];
        if (w->hulls[pair->a].body != POISE_WORLD && w->hulls[pair->b].body != POISE_WORLD &&
            gap_of(w, pair, 0.0).distance < 0) {
            *may_overlap(w, pair->a, pair->b) = true;
        }
    }
}

// Which bodies always overlap: by random poses, until so many of them are apart that it cannot be.
static void allow_frequent_overlaps(work *w)
{
    uint64_t state = UINT64_C(0x9E3779B97F4A7C15);
    int most = (int)(SAMPLES * (1 - ALWAYS)), open = w->pair_count;
    for (int i = 0; i < w->pair_count; ++i) {
        w->pairs[i].room = 0; // here: in how many poses they are apart
    }
    for (int k = 0; k < SAMPLES && open > 0; ++k) {
        pz_random_configuration(w->kin.model, &state, w->q);
        pz_kin_sweep(&w->kin, w->q);
        place(w);
        open = 0;
        for (int i = 0; i < w->pair_count; ++i) {
            watched *pair = &w->pairs[i];
            bool is_world = w->hulls[pair->a].body == POISE_WORLD || w->hulls[pair->b].body == POISE_WORLD;
            if (!is_world && pair->room <= most) {
                pair->room += gap_of(w, pair, 0.0).distance >= 0;
                open += pair->room <= most;
            }
        }
    }
    for (int i = 0; i < w->pair_count; ++i) {
        watched *pair = &w->pairs[i];
        bool is_world = w->hulls[pair->a].body == POISE_WORLD || w->hulls[pair->b].body == POISE_WORLD;
        if (!is_world && pair->room <= most) {
            *may_overlap(w, pair->a, pair->b) = true;
        }
    }
}

static void choose_pairs(work *w, poise_overlap *o)
{
    const poise_model *model = w->problem->model;
    size_t bodies = (size_t)model->joint_count;
    memset(w->may, 0, (bodies * bodies + 1) * sizeof *w->may);
    poise_model_neutral(model, w->q);
    allow_overlaps_at(w, w->q);
    if (w->problem->rest) {
        allow_overlaps_at(w, w->problem->rest);
    }
    allow_frequent_overlaps(w);
    int kept = 0;
    for (int i = 0; i < w->pair_count; ++i) {
        watched pair = w->pairs[i];
        bool is_world = w->hulls[pair.a].body == POISE_WORLD || w->hulls[pair.b].body == POISE_WORLD;
        if (is_world || !*may_overlap(w, pair.a, pair.b)) {
            w->pairs[kept++] = (watched){.a = pair.a, .b = pair.b, .room = -INFINITY, .most = INFINITY};
        }
    }
    o->left_out = w->pair_count - kept;
    o->pairs = w->pair_count = kept;
    w->tests = 0;
}

// ---- Frames --------------------------------------------------------------------------------------------------------------

// Do the bounds of a pair tell all that counts? `deepest` is that of the frame so far.
static bool is_known_enough(const work *w, const watched *pair, double deepest, double worst)
{
    double metres = w->problem->metres, least = -pair->most * metres, most = -pair->room * metres;
    bool is_alike = (least > POISE_OVERLAP_TOUCH) == (most > POISE_OVERLAP_TOUCH) &&
                    (least > POISE_OVERLAP_PIERCE) == (most > POISE_OVERLAP_PIERCE);
    return pair->room > 0 || (-pair->room <= worst && (is_alike || -pair->room <= deepest));
}

// How deep a pair was in this frame before the edit. The model is posed so once for each frame, by the first call.
static double depth_before(work *w, int frame, const watched *pair, bool *is_placed)
{
    const poise_clip *before = w->problem->before;
    if (!*is_placed) {
        pz_kin_sweep(&w->kin, before->q + (size_t)frame * (size_t)before->nq);
        place_hulls(w, w->earlier);
        *is_placed = true;
    }
    w->tests += 1;
    return -pz_solid_gap(&w->earlier[pair->a].solid, &w->earlier[pair->b].solid, pair->guess, 0.0, w->size).distance;
}

static void measure_overlaps(work *w, int frame, poise_overlap *o)
{
    double deepest = 0;
    bool is_placed = false;
    for (int i = 0; i < w->pair_count; ++i) {
        watched *pair = &w->pairs[i];
        const placed *a = &w->placed[pair->a], *b = &w->placed[pair->b];
        pair->room -= a->moved + b->moved;
        pair->most += a->moved + b->moved;
        if (pair->room > 0) {
            continue;
        }
        if (pair->most < INFINITY) {
            pair->room = max2(pair->room, pz_solid_apart_along(&a->solid, &b->solid, pair->guess));
        }
        if (is_known_enough(w, pair, deepest, o->depth)) {
            deepest = max2(deepest, -pair->most);
            continue;
        }
        pz_gap gap = gap_of(w, pair, w->exact_within);
        pair->room = gap.distance;
        pair->most = gap.is_exact ? gap.distance : INFINITY;
        if (w->problem->before && gap.distance < 0) {
            pair->most = INFINITY; // so that it is looked at in every frame
            double was = max2(depth_before(w, frame, pair, &is_placed), 0.0) * w->problem->metres;
            if (-gap.distance * w->problem->metres - was < (was > POISE_OVERLAP_TOUCH ? POISE_OVERLAP_TOUCH : DEEPER)) {
                continue;
            }
        }
        deepest = max2(deepest, -gap.distance);
        if (-gap.distance > o->depth) {
            o->depth = -gap.distance;
            o->a = w->hulls[pair->a].body;
            o->b = w->hulls[pair->b].body;
            o->frame = frame;
        }
    }
    o->frames += deepest * w->problem->metres > POISE_OVERLAP_TOUCH;
    o->pierced += deepest * w->problem->metres > POISE_OVERLAP_PIERCE;
}

static void measure_ground(const work *w, int frame, poise_overlap *o)
{
    mat3 root = pz_kin_rotation(&w->kin, 0);
    vec3 up = m3_apply_transposed(&root, w->problem->up);
    double origin = v3_dot(w->kin.origin, w->problem->up) - w->problem->ground, deepest = 0;
    for (int i = 0; i < w->count; ++i) {
        const placed *p = &w->placed[i];
        if (w->hulls[i].body == POISE_WORLD || origin + v3_dot(p->center, up) - p->reach > -deepest) {
            continue;
        }
        double depth = -(origin + pz_solid_lowest(&p->solid, up));
        deepest = max2(deepest, depth);
        if (depth > o->buried) {
            o->buried = depth;
            o->buried_body = w->hulls[i].body;
            o->buried_frame = frame;
        }
    }
    o->buried_count += deepest * w->problem->metres > POISE_OVERLAP_TOUCH;
}

// ---- The call ------------------------------------------------------------------------------------------------------------

static poise_status check(const poise_overlap_problem *p, poise_error *error)
{
    bool has_arrays = p && p->model && p->clip && p->hull_count >= 0 && p->shape_count >= 0 && p->excluded_count >= 0 &&
                      (p->hull_count == 0 || p->hulls) && (p->shape_count == 0 || p->shapes) &&
                      (p->excluded_count == 0 || p->excluded);
    if (!has_arrays || p->clip->nq != p->model->nq) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "model, a clip of it, and arrays for all counts are required for overlaps");
    }
    size_t values = (size_t)p->clip->nq * (size_t)p->clip->frames;
    bool is_as_long = !p->before || (p->before->nq == p->clip->nq && p->before->frames == p->clip->frames);
    for (size_t i = 0; i < values && is_as_long && p->before; ++i) {
        is_as_long = is_finite(p->before->q[i]);
    }
    if (!is_as_long) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "the motion before must have as many coordinates and frames, and finite ones");
    }
    if (!(p->metres > 0) || !is_finite(p->metres) || !v3_is_finite(p->up) || !is_finite(p->ground)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "metres must be > 0, up and ground finite");
    }
    for (int i = 0; i < p->hull_count; ++i) {
        const poise_hull *h = &p->hulls[i];
        bool is_sound = h->corners && h->corner_count > 0 && h->radius >= 0 && is_finite(h->radius) &&
                        h->body >= POISE_WORLD && h->body < p->model->joint_count;
        for (int k = 0; is_sound && k < h->corner_count; ++k) {
            is_sound = v3_is_finite(h->corners[k]);
        }
        if (!is_sound) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT,
                                "hull %d: it needs finite corners, a radius >= 0, and a body of the model or POISE_WORLD",
                                i);
        }
    }
    for (int i = 0; i < p->shape_count && p->hull_count == 0; ++i) {
        poise_status status = poise_shape_check(&p->shapes[i], p->model, error);
        if (status != POISE_OK) {
            return status;
        }
    }
    return POISE_OK;
}

static void overlap_lay_out(work *w, pz_arena *arena, poise_hull **hulls, poise_vec3 **corners)
{
    const poise_overlap_problem *p = w->problem;
    size_t n = (size_t)w->count, bodies = (size_t)p->model->joint_count, own = p->hull_count == 0 ? n : 0;
    pz_kin_layout(&w->kin, p->model, arena);
    w->q = pz_arena_take(arena, (size_t)p->model->nq + 1, sizeof *w->q);
    w->placed = pz_arena_take(arena, n + 1, sizeof *w->placed);
    w->earlier = pz_arena_take(arena, p->before ? n + 1 : 1, sizeof *w->earlier);
    w->pairs = pz_arena_take(arena, (size_t)w->pair_room + 1, sizeof *w->pairs);
    w->may = pz_arena_take(arena, bodies * bodies + 1, sizeof *w->may);
    size_t all = own * POISE_HULL_OF_SHAPE, clusters = n + all / PZ_CLUSTER;
    for (int i = 0; i < p->hull_count; ++i) {
        all += (size_t)p->hulls[i].corner_count;
        clusters += (size_t)p->hulls[i].corner_count / PZ_CLUSTER;
    }
    w->corners = pz_arena_take(arena, all + 1, sizeof *w->corners);
    w->clusters = pz_arena_take(arena, clusters + 1, sizeof *w->clusters);
    *hulls = pz_arena_take(arena, own + 1, sizeof **hulls);
    *corners = pz_arena_take(arena, own * POISE_HULL_OF_SHAPE + 1, sizeof **corners);
}

static int hulls_of_shapes(const poise_overlap_problem *p, poise_hull *hulls, poise_vec3 *corners)
{
    int count = 0;
    for (int i = 0; i < p->shape_count; ++i) {
        if (p->shapes[i].kind != POISE_SHAPE_HALF_SPACE) {
            poise_hull_of_shape(&p->shapes[i], corners + (size_t)count * POISE_HULL_OF_SHAPE, &hulls[count], NULL);
            count += 1;
        }
    }
    return count;
}

static int list_candidates(work *w)
{
    int count = 0;
    for (int a = 0; a < w->count; ++a) {
        for (int b = a + 1; b < w->count; ++b) {
            if (is_candidate(w, a, b)) {
                if (w->pairs) {
                    w->pairs[count] = (watched){.a = a, .b = b};
                }
                count += 1;
            }
        }
    }
    return count;
}

static poise_status measure_clip(work *w, poise_overlap *o, poise_error *error)
{
    const poise_clip *clip = w->problem->clip;
    bool has_ground = v3_dot(w->problem->up, w->problem->up) > 0;
    if (w->problem->before) {
        memcpy(w->earlier, w->placed, (size_t)w->count * sizeof *w->earlier);
    }
    choose_pairs(w, o);
    poise_status status = POISE_OK;
    for (int f = 0; f < clip->frames && status == POISE_OK; ++f) {
        status = poise_kinematics_update(&w->kin, clip->q + (size_t)f * (size_t)clip->nq, error);
        if (status == POISE_OK) {
            place(w);
            if (has_ground) {
                measure_ground(w, f, o);
            }
            measure_overlaps(w, f, o);
        }
    }
    o->tests = w->tests;
    return status;
}

poise_status poise_overlap_measure(const poise_overlap_problem *problem, const poise_allocator *allocator,
                                   poise_overlap *overlap, poise_error *error)
{
    poise_status status =
        overlap ? check(problem, error) : pz_error_set(error, POISE_ERROR_ARGUMENT, "overlap must not be NULL");
    if (status != POISE_OK) {
        return status;
    }
    poise_overlap made = {.a = POISE_NONE, .b = POISE_NONE, .buried_body = POISE_NONE};
    work w = {.problem = problem,
              .count = problem->hull_count > 0 ? problem->hull_count : problem->shape_count,
              .exact_within = EXACT_WITHIN / problem->metres};
    w.pair_room = w.count * (w.count - 1) / 2;
    if (w.count == 0) {
        *overlap = made;
        return POISE_OK;
    }
    if (w.count > 4096) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "there are more than 4096 hulls");
    }
    poise_hull *hulls = NULL;
    poise_vec3 *corners = NULL;
    pz_arena arena = pz_arena_counting();
    overlap_lay_out(&w, &arena, &hulls, &corners);
    size_t size = pz_arena_bytes(&arena);
    void *memory = pz_allocate(allocator, size);
    if (!memory) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory: overlaps need %g bytes", (double)size);
    }
    arena = pz_arena_over(memory, size);
    overlap_lay_out(&w, &arena, &hulls, &corners);
    if (problem->hull_count == 0) {
        w.count = hulls_of_shapes(problem, hulls, corners);
    }
    w.hulls = problem->hull_count > 0 ? problem->hulls : hulls;
    w.kin.model = problem->model;
    measure_hulls(&w);
    w.pair_count = list_candidates(&w);
    status = measure_clip(&w, &made, error);
    pz_release(allocator, memory);
    if (status == POISE_OK) {
        *overlap = made;
    }
    return status;
}
