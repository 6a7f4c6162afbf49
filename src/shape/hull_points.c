// Hulls from shapes and from clouds of points.
//
// The hull of a cloud begins as a tetrahedron and takes in the point farthest outside, until none is farther outside than the
// tolerance: a mesh of ten thousand triangles is left with some hundred corners.
#include <poise/hull.h>

#include "base/arena.h"
#include "base/error.h"
#include "num/vector.h"
#include "shape/hull.h"

#define MOST_POINTS (SIZE_MAX / 64 < INT32_MAX ? SIZE_MAX / 64 : INT32_MAX)

poise_status poise_hull_of_shape(const poise_shape *shape, poise_vec3 *corners, poise_hull *hull, poise_error *error)
{
    if (!shape || !corners || !hull) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "shape, corners and hull must not be NULL");
    }
    if (shape->kind != POISE_SHAPE_CAPSULE && shape->kind != POISE_SHAPE_BOX) {
        return pz_error_set(error, POISE_ERROR_UNSUPPORTED, "a %s is no hull", poise_shape_kind_name(shape->kind));
    }
    vec3 half = shape->kind == POISE_SHAPE_BOX ? shape->half : v3(0, 0, shape->half.z);
    int count = 0;
    for (int i = 0; i < POISE_HULL_OF_SHAPE; ++i) {
        bool is_new = !(i & 1 && half.x == 0) && !(i & 2 && half.y == 0) && !(i & 4 && half.z == 0);
        vec3 at = v3(i & 1 ? half.x : -half.x, i & 2 ? half.y : -half.y, i & 4 ? half.z : -half.z);
        if (is_new) {
            corners[count++] = poise_pose_transform(shape->pose, at);
        }
    }
    *hull = (poise_hull){.body = shape->body,
                         .corners = corners,
                         .corner_count = count,
                         .radius = shape->radius,
                         .groups = shape->groups,
                         .against = shape->against};
    return POISE_OK;
}

// ---- Clouds --------------------------------------------------------------------------------------------------------------

typedef struct facet {
    int corner[3]; // counter-clockwise, seen from outside
    vec3 normal;   // unit; zero: it has no area
    double offset; // of its plane
    int first;     // of the points outside it, in a list; -1: none
    int farthest;  // of these
    double gain;   // by how much
} facet;

typedef struct polyhedron {
    const vec3 *points;
    size_t point_count;
    double least; // points farther outside than this count
    vec3 *corners;
    int count;
    facet *facets;
    int facet_count, facet_room;
    bool *seen; // by facet
    int *stack; // of facets
    int (*edges)[2];
    int edge_count;
    int *next; // by point: the next one outside the same facet
} polyhedron;

static size_t outermost(const polyhedron *p, vec3 n)
{
    size_t found = 0;
    double most = v3_dot(n, p->points[0]);
    for (size_t i = 1; i < p->point_count; ++i) {
        double here = v3_dot(n, p->points[i]);
        if (here > most) {
            most = here;
            found = i;
        }
    }
    return found;
}

static void add_facet(polyhedron *p, int i, int j, int k)
{
    vec3 n = v3_cross(v3_sub(p->corners[j], p->corners[i]), v3_sub(p->corners[k], p->corners[i]));
    double area = v3_norm(n);
    facet *f = &p->facets[p->facet_count++];
    *f = (facet){.corner = {i, j, k}, .first = -1, .farthest = -1};
    if (area > 0) {
        f->normal = v3_scale(n, 1 / area);
        f->offset = v3_dot(f->normal, p->corners[i]);
    }
}

// Give a point to one of the facets from `begin` on that it lies outside of; within all of them it is done with.
static void hand_over(polyhedron *p, int point, int begin)
{
    for (int i = begin; i < p->facet_count; ++i) {
        facet *f = &p->facets[i];
        double gain = v3_dot(f->normal, p->points[point]) - f->offset;
        if (gain > p->least) {
            p->next[point] = f->first;
            f->first = point;
            f->farthest = gain > f->gain ? point : f->farthest;
            f->gain = max2(f->gain, gain);
            return;
        }
    }
}

// An edge of a facet that goes away; one that two of them share is inside.
static void add_edge(polyhedron *p, int from, int to)
{
    for (int i = 0; i < p->edge_count; ++i) {
        if (p->edges[i][0] == to && p->edges[i][1] == from) {
            p->edge_count -= 1;
            p->edges[i][0] = p->edges[p->edge_count][0];
            p->edges[i][1] = p->edges[p->edge_count][1];
            return;
        }
    }
    p->edges[p->edge_count][0] = from;
    p->edges[p->edge_count][1] = to;
    p->edge_count += 1;
}

// Mark the facets that a point sees, from one that it does on: neighbours alone, so that what goes away is in one piece.
static void mark_seen(polyhedron *p, int from, vec3 point, double beyond)
{
    int open = 0, stack_end = 0;
    for (int i = 0; i < p->facet_count; ++i) {
        p->seen[i] = false;
    }
    p->seen[from] = true;
    p->stack[stack_end++] = from;
    while (open < stack_end) {
        const int *corner = p->facets[p->stack[open++]].corner;
        for (int i = 0; i < p->facet_count; ++i) {
            const facet *f = &p->facets[i];
            if (p->seen[i] || v3_dot(f->normal, point) - f->offset <= beyond) {
                continue;
            }
            for (int side = 0; side < 9 && !p->seen[i]; ++side) {
                int k = side / 3, m = side % 3;
                p->seen[i] = f->corner[k] == corner[(m + 1) % 3] && f->corner[(k + 1) % 3] == corner[m];
            }
            if (p->seen[i]) {
                p->stack[stack_end++] = i;
            }
        }
    }
}

// False: there is no room, or facets are so thin that rounding decides where they look.
static bool push_out(polyhedron *p, int from, double beyond)
{
    int kept = 0, homeless = -1, point = p->facets[from].farthest;
    vec3 to = p->points[point];
    p->edge_count = 0;
    mark_seen(p, from, to, beyond);
    for (int i = 0; i < p->facet_count; ++i) {
        for (int side = 0; side < 3 && p->seen[i]; ++side) {
            add_edge(p, p->facets[i].corner[side], p->facets[i].corner[(side + 1) % 3]);
        }
        kept += !p->seen[i];
    }
    if (kept + p->edge_count > p->facet_room) {
        return false;
    }
    kept = 0;
    for (int i = 0; i < p->facet_count; ++i) {
        facet f = p->facets[i];
        if (!p->seen[i]) {
            p->facets[kept++] = f;
            continue;
        }
        for (int k = f.first, after; k >= 0; k = after) {
            after = p->next[k];
            p->next[k] = homeless;
            homeless = k;
        }
    }
    p->facet_count = kept;
    p->corners[p->count] = to;
    for (int i = 0; i < p->edge_count; ++i) {
        add_facet(p, p->edges[i][0], p->edges[i][1], p->count);
    }
    p->count += 1;
    for (int k = homeless, after; k >= 0; k = after) {
        after = p->next[k];
        hand_over(p, k, kept);
    }
    return true;
}

// Two points far apart, one far from their line, one far from their plane. The number of those that there are; `across` is
// that plane's normal, or a direction off the line.
static int spread(polyhedron *p, double flat, vec3 *across)
{
    static const vec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    double most = -1;
    for (int i = 0; i < 3; ++i) {
        vec3 low = p->points[outermost(p, v3_neg(axes[i]))], high = p->points[outermost(p, axes[i])];
        if (v3_norm(v3_sub(high, low)) > most) {
            most = v3_norm(v3_sub(high, low));
            p->corners[0] = low, p->corners[1] = high;
        }
    }
    if (!(most > flat)) {
        return 1;
    }
    vec3 u = v3_normalize(v3_sub(p->corners[1], p->corners[0])), off = v3(0, 0, 0);
    most = flat;
    for (size_t i = 0; i < p->point_count; ++i) {
        vec3 d = v3_sub(p->points[i], p->corners[0]), from_line = v3_mad(d, -v3_dot(d, u), u);
        if (v3_norm(from_line) > most) {
            most = v3_norm(from_line);
            off = from_line;
            p->corners[2] = p->points[i];
        }
    }
    if (!(most > flat)) {
        return 2;
    }
    *across = v3_normalize(v3_cross(u, off));
    vec3 up = p->points[outermost(p, *across)], down = p->points[outermost(p, v3_neg(*across))];
    double above = v3_dot(*across, v3_sub(up, p->corners[0])), below = v3_dot(*across, v3_sub(p->corners[0], down));
    p->corners[3] = above > below ? up : down;
    return max2(above, below) > flat ? 4 : 3;
}

static void close_tetrahedron(polyhedron *p, vec3 across)
{
    bool turned =
        v3_dot(across, v3_sub(p->corners[3], p->corners[0])) > 0; // the first facet looks away from the last corner
    p->count = 4;
    add_facet(p, 0, turned ? 2 : 1, turned ? 1 : 2);
    add_facet(p, 0, turned ? 1 : 3, turned ? 3 : 1);
    add_facet(p, 1, turned ? 2 : 3, turned ? 3 : 2);
    add_facet(p, 2, turned ? 0 : 3, turned ? 3 : 0);
    for (size_t i = 0; i < p->point_count; ++i) {
        hand_over(p, (int)i, 0);
    }
}

// Push the facet that a point lies farthest outside of out to that point, again and again (quickhull: Barber, Dobkin &
// Huhdanpaa 1996). Returns how far a point still lies outside.
static double grow(polyhedron *p, int capacity, double flat)
{
    while (true) {
        int widest = 0;
        for (int i = 1; i < p->facet_count; ++i) {
            widest = p->facets[i].gain > p->facets[widest].gain ? i : widest;
        }
        double gain = p->facets[widest].gain;
        if (p->facets[widest].farthest < 0 || p->count == capacity || !push_out(p, widest, flat)) {
            return gain;
        }
    }
}

// Points of a plane, or of a line: the outermost in directions within it, until none lies outside.
static double grow_flat(polyhedron *p, int capacity, double size)
{
    double out = 0;
    vec3 guess = v3(0, 0, 0);
    for (size_t i = 0; i < p->point_count;) {
        pz_solid point = {.corner = &p->points[i], .count = 1, .axes = m3_identity()};
        pz_solid hull = {.corner = p->corners, .count = p->count, .axes = m3_identity()};
        pz_gap gap = pz_solid_gap(&point, &hull, guess, INFINITY, size);
        guess = gap.normal;
        if (gap.distance > p->least && p->count < capacity) {
            p->corners[p->count++] = p->points[outermost(p, gap.normal)];
            continue; // the same point once more
        }
        out = max2(out, gap.distance);
        ++i;
    }
    return out;
}

static void polyhedron_lay_out(polyhedron *p, pz_arena *arena, int capacity)
{
    size_t corners = (size_t)capacity;
    size_t facets = 2 * corners + 8;
    p->facet_room = (int)facets;
    p->facets = pz_arena_take(arena, facets, sizeof *p->facets);
    p->seen = pz_arena_take(arena, facets, sizeof *p->seen);
    p->stack = pz_arena_take(arena, facets, sizeof *p->stack);
    p->edges = pz_arena_take(arena, 3 * facets, sizeof *p->edges);
    p->next = pz_arena_take(arena, p->point_count, sizeof *p->next);
}

poise_status poise_hull_reduce(const poise_vec3 *points, size_t point_count, double tolerance, poise_vec3 *corners,
                               int capacity, int *corner_count, double *overhang, poise_error *error)
{
    if (!points || point_count == 0 || point_count > MOST_POINTS || !(tolerance >= 0) || !corners || capacity < 4 ||
        capacity > PZ_HULL_MOST_CORNERS || !corner_count) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "points, a tolerance >= 0, room for 4 corners and corner_count are required");
    }
    double size = 0;
    for (size_t i = 0; i < point_count; ++i) {
        if (!v3_is_finite(points[i])) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT, "point %g is not finite", (double)i);
        }
        size = max2(size, v3_norm(v3_sub(points[i], points[0])));
    }
    polyhedron p = {.points = points, .point_count = point_count, .least = max2(tolerance, 1e-9 * size), .corners = corners};
    pz_arena arena = pz_arena_counting();
    polyhedron_lay_out(&p, &arena, capacity);
    size_t bytes = pz_arena_bytes(&arena);
    void *memory = pz_allocate(NULL, bytes);
    if (!memory) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory: a hull of %g points", (double)point_count);
    }
    arena = pz_arena_over(memory, bytes);
    polyhedron_lay_out(&p, &arena, capacity);
    vec3 across;
    double flat = max2(1e-9 * size, 0.01 * tolerance), out = 0;
    p.count = spread(&p, flat, &across);
    if (p.count == 4) {
        close_tetrahedron(&p, across);
        out = grow(&p, capacity, 0.01 * flat);
    } else if (p.count > 1) {
        out = grow_flat(&p, capacity, size);
    }
    pz_release(NULL, memory);
    *corner_count = p.count;
    if (overhang) {
        *overhang = out;
    }
    return POISE_OK;
}
