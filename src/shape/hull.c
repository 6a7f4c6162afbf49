// Convex hulls: the distance of two, and their depth where they overlap, by support points alone; the hull of a shape and
// that of a cloud of points.
//
// With A and B the sets of points, a - b ranges over the convex set M = A - B, whose outermost point along n is
//
//   s_M(n) = s_A(n) - s_B(-n)        h(n) = n . s_M(n)
//
// Apart: the distance is that of M from the origin. GJK (Gilbert, Johnson & Keerthi 1988; C. Ericson, "Real-Time Collision
// Detection", 2005, section 9.5) keeps a simplex of at most four points of M, finds its point v next to the origin, and adds
// s_M(-v). For every direction, -h(-v / |v|) is a bound from below, so that one support point often proves two hulls apart,
// and |v| - (-h(-v / |v|)) bounds the error.
//
// Overlapping: the depth is the least h(n) over all n, the distance of the origin from the surface of M. EPA (van den Bergen
// 2001) keeps a polytope of points of M and pushes its face of least offset out to the support point there, until there is
// none beyond it. Offsets have signs, so that the polytope need not hold the origin to begin with: as long as it does not,
// the face that looks away from it is pushed out first, and M itself holds it.
//
// Radii around the hulls are subtracted from the distance, also where they overlap: h grows by both for every n.
#include "shape/shape.h"

#include "base/arena.h"
#include "base/error.h"
#include "kin/kin.h"

#include <poise/hull.h>

#include <string.h>

#define EXACT     1e-10 // of the size: what GJK and EPA are content with
#define FLAT      1e-11 // of the size: thinner than this has no volume
#define MOST_GJK  64
#define MOST_EPA  160 // points of the polytope
#define MOST_FACE (2 * MOST_EPA)
#define MOST_EDGE (3 * MOST_EPA)

// ---- Support points ------------------------------------------------------------------------------------------------------

// A point of M, and those of A and B whose difference it is.
typedef struct support_point {
    vec3 w, a, b;
} support_point;

static void scan_corners(const pz_solid *s, vec3 along, int first, int end, double *most, int *found)
{
    for (int i = first; i < end; ++i) {
        double here = v3_dot(along, s->corner[i]);
        if (here > *most) {
            *most = here;
            *found = i;
        }
    }
}

static int clusters_of(int count)
{
    return (count + PZ_CLUSTER - 1) / PZ_CLUSTER;
}

// The cluster that may reach farthest is looked at first: few of the others may then reach farther.
static int scan_clusters(const pz_solid *s, vec3 along)
{
    int count = clusters_of(s->count), best = 0, found = 0;
    double length = v3_norm(along), highest = -INFINITY, most = -INFINITY;
    for (int k = 0; k < count; ++k) {
        double bound = v3_dot(along, s->cluster[k].center) + length * s->cluster[k].reach;
        best = bound > highest ? k : best;
        highest = max2(highest, bound);
    }
    scan_corners(s, along, best * PZ_CLUSTER, least(s->count, (best + 1) * PZ_CLUSTER), &most, &found);
    for (int k = 0; k < count; ++k) {
        if (k != best && v3_dot(along, s->cluster[k].center) + length * s->cluster[k].reach > most) {
            scan_corners(s, along, k * PZ_CLUSTER, least(s->count, (k + 1) * PZ_CLUSTER), &most, &found);
        }
    }
    return found;
}

static vec3 farthest_corner(const pz_solid *s, vec3 n)
{
    vec3 along = m3_apply_transposed(&s->axes, n);
    double most = -INFINITY;
    int found = 0;
    if (s->cluster) {
        found = scan_clusters(s, along);
    } else {
        scan_corners(s, along, 0, s->count, &most, &found);
    }
    return v3_add(s->at, m3_apply(&s->axes, s->corner[found]));
}

// Move the `below` corners that lie lowest along an axis to the front (Hoare's selection).
static void select_lowest(vec3 *c, int count, int below, int axis)
{
    int low = 0, high = count - 1;
    while (low < high) {
        double middle = v3_get(c[(low + high) / 2], axis);
        int i = low, k = high;
        while (i <= k) {
            for (; v3_get(c[i], axis) < middle; ++i) {
            }
            for (; v3_get(c[k], axis) > middle; --k) {
            }
            if (i <= k) {
                vec3 kept = c[i];
                c[i++] = c[k];
                c[k--] = kept;
            }
        }
        low = below > k ? i : low; // what is wanted is on one side, or between k and i
        high = below < i ? k : high;
        if (below > k && below < i) {
            return;
        }
    }
}

void pz_solid_cluster(vec3 *corner, int count, pz_cluster *cluster)
{
    vec3 lower = corner[0], upper = corner[0];
    for (int i = 1; i < count; ++i) {
        vec3 x = corner[i];
        lower = v3(min2(lower.x, x.x), min2(lower.y, x.y), min2(lower.z, x.z));
        upper = v3(max2(upper.x, x.x), max2(upper.y, x.y), max2(upper.z, x.z));
    }
    if (count > PZ_CLUSTER) { // cut across the longest side, into whole clusters
        vec3 side = v3_sub(upper, lower);
        int axis = side.x >= side.y ? (side.x >= side.z ? 0 : 2) : (side.y >= side.z ? 1 : 2);
        int half = (clusters_of(count) + 1) / 2;
        select_lowest(corner, count, half * PZ_CLUSTER, axis);
        pz_solid_cluster(corner, half * PZ_CLUSTER, cluster);
        pz_solid_cluster(corner + half * PZ_CLUSTER, count - half * PZ_CLUSTER, cluster + half);
        return;
    }
    *cluster = (pz_cluster){.center = v3_scale(v3_add(lower, upper), 0.5)};
    for (int i = 0; i < count; ++i) {
        cluster->reach = max2(cluster->reach, v3_norm(v3_sub(corner[i], cluster->center)) * (1 + 1e-12));
    }
}

static support_point support(const pz_solid *a, const pz_solid *b, vec3 n)
{
    support_point s = {.a = farthest_corner(a, n), .b = farthest_corner(b, v3_neg(n))};
    s.w = v3_sub(s.a, s.b);
    return s;
}

double pz_solid_apart_along(const pz_solid *a, const pz_solid *b, vec3 way)
{
    return v3_dot(way, support(a, b, v3_neg(way)).w) / v3_norm(way) - a->radius - b->radius;
}

double pz_solid_lowest(const pz_solid *solid, vec3 up)
{
    return v3_dot(farthest_corner(solid, v3_neg(up)), up) - solid->radius;
}

// ---- The point of a simplex next to the origin ---------------------------------------------------------------------------

typedef struct simplex {
    support_point at[4];
    double share[4]; // of the nearest point
    int count;
} simplex;

static void keep_two(simplex *s, int i, int j, double of_j)
{
    support_point p = s->at[i], q = s->at[j];
    s->at[0] = p, s->at[1] = q;
    s->share[0] = 1 - of_j, s->share[1] = of_j;
    s->count = 2;
}

static void keep_one(simplex *s, int i)
{
    s->at[0] = s->at[i];
    s->share[0] = 1;
    s->count = 1;
}

static void reduce_segment(simplex *s)
{
    vec3 d = v3_sub(s->at[1].w, s->at[0].w);
    double t = -v3_dot(s->at[0].w, d), square = v3_dot(d, d);
    if (t <= 0) {
        keep_one(s, 0);
    } else if (t >= square) {
        keep_one(s, 1);
    } else {
        keep_two(s, 0, 1, t / square);
    }
}

// Ericson, section 5.1.5, for the origin.
static void reduce_triangle(simplex *s)
{
    vec3 a = s->at[0].w, b = s->at[1].w, c = s->at[2].w, ab = v3_sub(b, a), ac = v3_sub(c, a);
    double d1 = -v3_dot(ab, a), d2 = -v3_dot(ac, a), d3 = -v3_dot(ab, b), d4 = -v3_dot(ac, b);
    double d5 = -v3_dot(ab, c), d6 = -v3_dot(ac, c);
    double vc = d1 * d4 - d3 * d2, vb = d5 * d2 - d1 * d6, va = d3 * d6 - d5 * d4, sum = va + vb + vc;
    if (d1 <= 0 && d2 <= 0) {
        keep_one(s, 0);
    } else if (d3 >= 0 && d4 <= d3) {
        keep_one(s, 1);
    } else if (d6 >= 0 && d5 <= d6) {
        keep_one(s, 2);
    } else if (vc <= 0 && d1 >= 0 && d3 <= 0) {
        keep_two(s, 0, 1, d1 / (d1 - d3));
    } else if (vb <= 0 && d2 >= 0 && d6 <= 0) {
        keep_two(s, 0, 2, d2 / (d2 - d6));
    } else if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) {
        keep_two(s, 1, 2, (d4 - d3) / ((d4 - d3) + (d5 - d6)));
    } else {
        s->share[0] = va / sum, s->share[1] = vb / sum, s->share[2] = vc / sum;
    }
}

static vec3 nearest_of(const simplex *s)
{
    vec3 v = v3_scale(s->at[0].w, s->share[0]);
    for (int i = 1; i < s->count; ++i) {
        v = v3_mad(v, s->share[i], s->at[i].w);
    }
    return v;
}

// False: the origin lies within.
static bool reduce_tetrahedron(simplex *s, double flat)
{
    static const int faces[4][4] = {{0, 1, 2, 3}, {0, 1, 3, 2}, {0, 2, 3, 1}, {1, 2, 3, 0}};
    simplex best = {.count = 0};
    double least = INFINITY;
    for (int f = 0; f < 4; ++f) {
        vec3 a = s->at[faces[f][0]].w;
        vec3 n = v3_cross(v3_sub(s->at[faces[f][1]].w, a), v3_sub(s->at[faces[f][2]].w, a));
        double other = v3_dot(n, v3_sub(s->at[faces[f][3]].w, a)), origin = -v3_dot(n, a);
        bool is_flat = fabs(other) <= flat * v3_norm(n);
        if (!is_flat && !(other > 0 ? origin < 0 : origin > 0)) {
            continue; // on the inner side
        }
        simplex face = {.at = {s->at[faces[f][0]], s->at[faces[f][1]], s->at[faces[f][2]]}, .count = 3};
        reduce_triangle(&face);
        vec3 v = nearest_of(&face);
        if (v3_dot(v, v) < least) {
            least = v3_dot(v, v);
            best = face;
        }
    }
    if (best.count > 0) {
        *s = best;
    }
    return best.count > 0;
}

static bool reduce(simplex *s, double flat)
{
    s->share[0] = 1;
    if (s->count == 2) {
        reduce_segment(s);
    } else if (s->count == 3) {
        reduce_triangle(s);
    } else if (s->count == 4) {
        return reduce_tetrahedron(s, flat);
    }
    return true;
}

static bool simplex_has(const simplex *s, vec3 w)
{
    bool found = false;
    for (int i = 0; i < s->count; ++i) {
        found = found || memcmp(&s->at[i].w, &w, sizeof w) == 0;
    }
    return found;
}

// ---- Apart ---------------------------------------------------------------------------------------------------------------

static pz_gap gap_of(const simplex *s, vec3 v, double length, const pz_solid *a, const pz_solid *b)
{
    vec3 on_a = v3_scale(s->at[0].a, s->share[0]), on_b = v3_scale(s->at[0].b, s->share[0]), n = v3_scale(v, 1 / length);
    for (int i = 1; i < s->count; ++i) {
        on_a = v3_mad(on_a, s->share[i], s->at[i].a);
        on_b = v3_mad(on_b, s->share[i], s->at[i].b);
    }
    return (pz_gap){.distance = length - a->radius - b->radius,
                    .normal = n,
                    .a = v3_mad(on_a, -a->radius, n),
                    .b = v3_mad(on_b, b->radius, n),
                    .is_exact = true};
}

// False: they overlap, and `s` is where the origin was found.
static bool gjk(const pz_solid *a, const pz_solid *b, vec3 guess, double enough, double size, simplex *s, pz_gap *gap)
{
    double radii = a->radius + b->radius, length = v3_norm(guess);
    vec3 v = length > 0 ? v3_scale(guess, 1 / length) : v3(1, 0, 0);
    *s = (simplex){.count = 0};
    for (int i = 0; i < MOST_GJK; ++i) {
        support_point found = support(a, b, v3_neg(v));
        double norm = v3_norm(v), bound = v3_dot(v, found.w) / norm;
        if (bound - radii > enough) {
            *gap = (pz_gap){.distance = bound - radii, .normal = v3_scale(v, 1 / norm)};
            return true;
        }
        if (s->count > 0 && (norm - bound <= EXACT * size || simplex_has(s, found.w))) {
            *gap = gap_of(s, v, norm, a, b);
            return true;
        }
        simplex before = *s;
        s->at[s->count++] = found;
        if (!reduce(s, FLAT * size)) {
            return false;
        }
        vec3 next = nearest_of(s);
        double after = v3_norm(next);
        if (after <= EXACT * size) {
            return false;
        }
        if (before.count > 0 && after >= norm) { // rounding
            *gap = gap_of(&before, v, norm, a, b);
            return true;
        }
        v = next;
    }
    *gap = gap_of(s, v, v3_norm(v), a, b);
    return true;
}

// ---- Overlapping ---------------------------------------------------------------------------------------------------------

typedef struct face {
    int corner[3]; // counter-clockwise, seen from outside
    vec3 normal;   // unit; zero: it has no area
    double offset; // of its plane; infinite without area
} face;

typedef struct polytope {
    support_point at[MOST_EPA];
    face faces[MOST_FACE];
    int edges[MOST_EDGE][2];
    int corner_count, face_count, edge_count;
} polytope;

static void add_face(polytope *p, int i, int j, int k)
{
    vec3 n = v3_cross(v3_sub(p->at[j].w, p->at[i].w), v3_sub(p->at[k].w, p->at[i].w));
    double norm = v3_norm(n);
    face f = {{i, j, k}, v3(0, 0, 0), INFINITY};
    if (norm > 0) {
        f.normal = v3_scale(n, 1 / norm);
        f.offset = v3_dot(f.normal, p->at[i].w);
    }
    p->faces[p->face_count++] = f;
}

// Edges of faces that go away; one that two of them share is inside.
static void add_edge(polytope *p, int from, int to)
{
    for (int i = 0; i < p->edge_count; ++i) {
        if (p->edges[i][0] == to && p->edges[i][1] == from) {
            p->edge_count -= 1;
            p->edges[i][0] = p->edges[p->edge_count][0];
            p->edges[i][1] = p->edges[p->edge_count][1];
            return;
        }
    }
    if (p->edge_count < MOST_EDGE) {
        p->edges[p->edge_count][0] = from;
        p->edges[p->edge_count][1] = to;
        p->edge_count += 1;
    }
}

static void expand(polytope *p, const support_point *to, double beyond)
{
    int kept = 0, number = p->corner_count;
    p->edge_count = 0;
    for (int i = 0; i < p->face_count; ++i) {
        face f = p->faces[i];
        if (v3_dot(f.normal, to->w) - f.offset > beyond) {
            add_edge(p, f.corner[0], f.corner[1]);
            add_edge(p, f.corner[1], f.corner[2]);
            add_edge(p, f.corner[2], f.corner[0]);
        } else {
            p->faces[kept++] = f;
        }
    }
    p->face_count = kept;
    p->at[p->corner_count++] = *to;
    for (int i = 0; i < p->edge_count && p->face_count < MOST_FACE; ++i) {
        add_face(p, p->edges[i][0], p->edges[i][1], number);
    }
}

static bool make_tetrahedron(polytope *p, double flat)
{
    vec3 a = p->at[0].w, n = v3_cross(v3_sub(p->at[1].w, a), v3_sub(p->at[2].w, a));
    double height = v3_dot(n, v3_sub(p->at[3].w, a)), area = v3_norm(n);
    if (!(fabs(height) > flat * area) || !(area > flat * flat)) {
        return false;
    }
    bool turned = height > 0; // so that the first face looks away from the last corner
    p->corner_count = 4;
    p->face_count = 0;
    add_face(p, 0, turned ? 2 : 1, turned ? 1 : 2);
    add_face(p, 0, turned ? 1 : 3, turned ? 3 : 1);
    add_face(p, 1, turned ? 2 : 3, turned ? 3 : 2);
    add_face(p, 2, turned ? 0 : 3, turned ? 3 : 0);
    return true;
}

// Four points of M that hold a volume. *normal: across M where it is flat.
static bool seed_polytope(const pz_solid *a, const pz_solid *b, polytope *p, double flat, vec3 *normal)
{
    static const vec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    double most = -1;
    for (int i = 0; i < 3; ++i) {
        support_point low = support(a, b, v3_neg(axes[i])), high = support(a, b, axes[i]);
        double length = v3_norm(v3_sub(high.w, low.w));
        if (length > most) {
            most = length;
            p->at[0] = low, p->at[1] = high;
        }
    }
    *normal = axes[2];
    if (!(most > flat)) {
        return false;
    }
    vec3 u = v3_normalize(v3_sub(p->at[1].w, p->at[0].w)), across = v3(0, 0, 0);
    most = 0;
    for (int i = 0; i < 6; ++i) {
        vec3 n = v3_cross(u, axes[i % 3]);
        if (!(v3_norm(n) > 0.1)) {
            continue;
        }
        support_point s = support(a, b, i < 3 ? n : v3_neg(n));
        vec3 d = v3_sub(s.w, p->at[0].w), off = v3_mad(d, -v3_dot(d, u), u);
        *normal = most > 0 ? *normal : v3_normalize(n);
        if (v3_norm(off) > max2(most, flat)) {
            most = v3_norm(off);
            p->at[2] = s;
            across = off;
        }
    }
    if (!(most > flat)) {
        return false;
    }
    vec3 n = v3_normalize(v3_cross(u, across));
    *normal = n;
    support_point up = support(a, b, n), down = support(a, b, v3_neg(n));
    double above = v3_dot(n, v3_sub(up.w, p->at[0].w)), below = v3_dot(n, v3_sub(p->at[0].w, down.w));
    p->at[3] = above > below ? up : down;
    return make_tetrahedron(p, flat);
}

// The point of a face next to the origin, as shares of its corners.
static pz_gap gap_within(const polytope *p, const face *f, double depth, const pz_solid *a, const pz_solid *b)
{
    simplex s = {.at = {p->at[f->corner[0]], p->at[f->corner[1]], p->at[f->corner[2]]}, .count = 3};
    reduce_triangle(&s);
    vec3 on_a = v3_scale(s.at[0].a, s.share[0]), on_b = v3_scale(s.at[0].b, s.share[0]), n = v3_neg(f->normal);
    for (int i = 1; i < s.count; ++i) {
        on_a = v3_mad(on_a, s.share[i], s.at[i].a);
        on_b = v3_mad(on_b, s.share[i], s.at[i].b);
    }
    return (pz_gap){.distance = -depth - a->radius - b->radius,
                    .normal = n,
                    .a = v3_mad(on_a, -a->radius, n),
                    .b = v3_mad(on_b, b->radius, n),
                    .is_exact = true};
}

static vec3 middle_of(const pz_solid *s)
{
    vec3 sum = v3(0, 0, 0);
    for (int i = 0; i < s->count; ++i) {
        sum = v3_add(sum, s->corner[i]);
    }
    return v3_add(s->at, m3_apply(&s->axes, v3_scale(sum, 1.0 / s->count)));
}

// Cores that cross without a volume, as two segments: only the radii overlap.
static pz_gap crossing_gap(const pz_solid *a, const pz_solid *b, const simplex *met, vec3 normal)
{
    vec3 n = v3_dot(normal, v3_sub(middle_of(a), middle_of(b))) < 0 ? v3_neg(normal) : normal;
    pz_gap gap = gap_of(met, n, 1.0, a, b);
    gap.distance = -a->radius - b->radius;
    return gap;
}

static pz_gap epa(const pz_solid *a, const pz_solid *b, const simplex *met, double size)
{
    polytope p; // large: most of it is never touched
    p.corner_count = p.face_count = p.edge_count = 0;
    vec3 normal = v3(0, 0, 1);
    bool is_ready = false;
    if (met->count == 4) {
        memcpy(p.at, met->at, sizeof met->at);
        is_ready = make_tetrahedron(&p, 1e3 * FLAT * size);
    }
    if (!is_ready && !seed_polytope(a, b, &p, FLAT * size, &normal)) {
        simplex at = *met;
        at.count = at.count > 3 ? 3 : at.count;
        return crossing_gap(a, b, &at, normal);
    }
    while (true) {
        const face *least = &p.faces[0];
        for (int i = 1; i < p.face_count; ++i) {
            least = p.faces[i].offset < least->offset ? &p.faces[i] : least;
        }
        face nearest = *least;
        support_point out = support(a, b, nearest.normal);
        double gain = v3_dot(nearest.normal, out.w) - nearest.offset;
        if (gain <= EXACT * size || p.corner_count == MOST_EPA || p.face_count + 2 > MOST_FACE) {
            return gap_within(&p, &nearest, max2(0.0, nearest.offset + max2(gain, 0.0)), a, b);
        }
        expand(&p, &out, 0.01 * EXACT * size);
    }
}

pz_gap pz_solid_gap(const pz_solid *a, const pz_solid *b, vec3 guess, double enough, double size)
{
    simplex met;
    pz_gap gap;
    return gjk(a, b, guess, enough, size, &met, &gap) ? gap : epa(a, b, &met, size);
}

// ---- Hulls of a model ----------------------------------------------------------------------------------------------------

static poise_status hull_check(const poise_hull *hull, const poise_model *model, poise_error *error)
{
    bool is_sound = hull && hull->corners && hull->corner_count > 0 && hull->corner_count <= PZ_HULL_MOST_CORNERS;
    if (!is_sound || !(hull->radius >= 0) || !is_finite(hull->radius) ||
        !(hull->body == POISE_WORLD || (hull->body >= 0 && hull->body < model->joint_count))) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "a hull has corners, a radius >= 0, and a body of the model or POISE_WORLD");
    }
    for (int i = 0; i < hull->corner_count; ++i) {
        if (!v3_is_finite(hull->corners[i])) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT, "corner %d of a hull is not finite", i);
        }
    }
    return POISE_OK;
}

static pz_solid solid_of(const poise_kinematics *kin, const poise_hull *hull)
{
    return (pz_solid){.corner = hull->corners,
                      .count = hull->corner_count,
                      .axes = pz_kin_rotation(kin, hull->body),
                      .at = pz_kin_point(kin, hull->body, v3(0, 0, 0)),
                      .radius = hull->radius};
}

static double reach_of(const poise_hull *hull)
{
    double most = 0;
    for (int i = 0; i < hull->corner_count; ++i) {
        most = max2(most, v3_norm(v3_sub(hull->corners[i], hull->corners[0])));
    }
    return most;
}

poise_status poise_hull_distance(const poise_kinematics *kinematics, const poise_hull *a, const poise_hull *b,
                                 poise_nearest *nearest, poise_error *error)
{
    if (!kinematics || !nearest) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "kinematics and nearest must not be NULL");
    }
    if (hull_check(a, kinematics->model, error) != POISE_OK || hull_check(b, kinematics->model, error) != POISE_OK) {
        return POISE_ERROR_ARGUMENT;
    }
    pz_solid first = solid_of(kinematics, a), second = solid_of(kinematics, b);
    double size = max2(kinematics->model->unit * 1e-3, max2(reach_of(a), reach_of(b)));
    pz_gap gap = pz_solid_gap(&first, &second, v3_sub(first.at, second.at), INFINITY, size);
    if (!is_finite(gap.distance) || !v3_is_finite(gap.normal)) {
        return pz_error_set(error, POISE_ERROR_NUMERIC, "so large, or so far apart, that squares are beyond all numbers");
    }
    *nearest = (poise_nearest){.distance = gap.distance,
                               .on_a = v3_add(kinematics->origin, gap.a),
                               .on_b = v3_add(kinematics->origin, gap.b),
                               .normal = gap.normal};
    return POISE_OK;
}

// ---- Hulls of shapes -----------------------------------------------------------------------------------------------------

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

// ---- Hulls of clouds -----------------------------------------------------------------------------------------------------
//
// The hull of a cloud begins as a tetrahedron and takes in the point farthest outside, until none is farther outside than
// the tolerance (quickhull): a mesh of ten thousand triangles is left with some hundred corners.

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

static size_t outermost_point(const polyhedron *p, vec3 n)
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

// Assign a point to one of the facets from `begin` on that it lies outside of. A point inside of all is dropped.
static void assign_point(polyhedron *p, int point, int begin)
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
static void add_horizon_edge(polyhedron *p, int from, int to)
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
static void mark_visible(polyhedron *p, int from, vec3 point, double beyond)
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
static bool add_farthest_point(polyhedron *p, int from, double beyond)
{
    int kept = 0, homeless = -1, point = p->facets[from].farthest;
    vec3 to = p->points[point];
    p->edge_count = 0;
    mark_visible(p, from, to, beyond);
    for (int i = 0; i < p->facet_count; ++i) {
        for (int side = 0; side < 3 && p->seen[i]; ++side) {
            add_horizon_edge(p, p->facets[i].corner[side], p->facets[i].corner[(side + 1) % 3]);
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
        assign_point(p, k, kept);
    }
    return true;
}

// Two points far apart, one far from their line, one far from their plane. The number of those that there are; `across` is
// that plane's normal, or a direction off the line.
static int seed_corners(polyhedron *p, double flat, vec3 *across)
{
    static const vec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    double most = -1;
    for (int i = 0; i < 3; ++i) {
        vec3 low = p->points[outermost_point(p, v3_neg(axes[i]))], high = p->points[outermost_point(p, axes[i])];
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
    vec3 up = p->points[outermost_point(p, *across)], down = p->points[outermost_point(p, v3_neg(*across))];
    double above = v3_dot(*across, v3_sub(up, p->corners[0])), below = v3_dot(*across, v3_sub(p->corners[0], down));
    p->corners[3] = above > below ? up : down;
    return max2(above, below) > flat ? 4 : 3;
}

static void seed_facets(polyhedron *p, vec3 across)
{
    bool turned =
        v3_dot(across, v3_sub(p->corners[3], p->corners[0])) > 0; // the first facet looks away from the last corner
    p->count = 4;
    add_facet(p, 0, turned ? 2 : 1, turned ? 1 : 2);
    add_facet(p, 0, turned ? 1 : 3, turned ? 3 : 1);
    add_facet(p, 1, turned ? 2 : 3, turned ? 3 : 2);
    add_facet(p, 2, turned ? 0 : 3, turned ? 3 : 0);
    for (size_t i = 0; i < p->point_count; ++i) {
        assign_point(p, (int)i, 0);
    }
}

// Push the facet that a point lies farthest outside of out to that point, again and again (quickhull: Barber, Dobkin &
// Huhdanpaa 1996). Returns how far a point still lies outside.
static double quickhull(polyhedron *p, int capacity, double flat)
{
    while (true) {
        int widest = 0;
        for (int i = 1; i < p->facet_count; ++i) {
            widest = p->facets[i].gain > p->facets[widest].gain ? i : widest;
        }
        double gain = p->facets[widest].gain;
        if (p->facets[widest].farthest < 0 || p->count == capacity || !add_farthest_point(p, widest, flat)) {
            return gain;
        }
    }
}

// Points of a plane, or of a line: the outermost in directions within it, until none lies outside.
static double quickhull_flat(polyhedron *p, int capacity, double size)
{
    double out = 0;
    vec3 guess = v3(0, 0, 0);
    for (size_t i = 0; i < p->point_count;) {
        pz_solid point = {.corner = &p->points[i], .count = 1, .axes = m3_identity()};
        pz_solid hull = {.corner = p->corners, .count = p->count, .axes = m3_identity()};
        pz_gap gap = pz_solid_gap(&point, &hull, guess, INFINITY, size);
        guess = gap.normal;
        if (gap.distance > p->least && p->count < capacity) {
            p->corners[p->count++] = p->points[outermost_point(p, gap.normal)];
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
    p.count = seed_corners(&p, flat, &across);
    if (p.count == 4) {
        seed_facets(&p, across);
        out = quickhull(&p, capacity, 0.01 * flat);
    } else if (p.count > 1) {
        out = quickhull_flat(&p, capacity, size);
    }
    pz_release(NULL, memory);
    *corner_count = p.count;
    if (overhang) {
        *overhang = out;
    }
    return POISE_OK;
}
