// The distance of two convex hulls, and their depth where they overlap, by support points alone.
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
// A radius around each changes the distance by itself, and nothing else, also within: h grows by it for every n.
#include "shape/hull.h"

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
typedef struct spot {
    vec3 w, a, b;
} spot;

static void look_at(const pz_solid *s, vec3 along, int first, int end, double *most, int *found)
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
static int look_at_clusters(const pz_solid *s, vec3 along)
{
    int count = clusters_of(s->count), best = 0, found = 0;
    double length = v3_norm(along), highest = -INFINITY, most = -INFINITY;
    for (int k = 0; k < count; ++k) {
        double bound = v3_dot(along, s->cluster[k].center) + length * s->cluster[k].reach;
        best = bound > highest ? k : best;
        highest = max2(highest, bound);
    }
    look_at(s, along, best * PZ_CLUSTER, least(s->count, (best + 1) * PZ_CLUSTER), &most, &found);
    for (int k = 0; k < count; ++k) {
        if (k != best && v3_dot(along, s->cluster[k].center) + length * s->cluster[k].reach > most) {
            look_at(s, along, k * PZ_CLUSTER, least(s->count, (k + 1) * PZ_CLUSTER), &most, &found);
        }
    }
    return found;
}

static vec3 farthest(const pz_solid *s, vec3 n)
{
    vec3 along = m3_apply_transposed(&s->axes, n);
    double most = -INFINITY;
    int found = 0;
    if (s->cluster) {
        found = look_at_clusters(s, along);
    } else {
        look_at(s, along, 0, s->count, &most, &found);
    }
    return v3_add(s->at, m3_apply(&s->axes, s->corner[found]));
}

static double part(vec3 v, int axis)
{
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

// Move the `below` corners that lie lowest along an axis to the front (Hoare's selection).
static void select_lowest(vec3 *c, int count, int below, int axis)
{
    int low = 0, high = count - 1;
    while (low < high) {
        double middle = part(c[(low + high) / 2], axis);
        int i = low, k = high;
        while (i <= k) {
            for (; part(c[i], axis) < middle; ++i) {
            }
            for (; part(c[k], axis) > middle; --k) {
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

static spot support(const pz_solid *a, const pz_solid *b, vec3 n)
{
    spot s = {.a = farthest(a, n), .b = farthest(b, v3_neg(n))};
    s.w = v3_sub(s.a, s.b);
    return s;
}

double pz_solid_apart_along(const pz_solid *a, const pz_solid *b, vec3 way)
{
    return v3_dot(way, support(a, b, v3_neg(way)).w) / v3_norm(way) - a->radius - b->radius;
}

double pz_solid_lowest(const pz_solid *solid, vec3 up)
{
    return v3_dot(farthest(solid, v3_neg(up)), up) - solid->radius;
}

// ---- The point of a simplex next to the origin ---------------------------------------------------------------------------

typedef struct simplex {
    spot at[4];
    double share[4]; // of the nearest point
    int count;
} simplex;

static void keep_two(simplex *s, int i, int j, double of_j)
{
    spot p = s->at[i], q = s->at[j];
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

static bool is_in(const simplex *s, vec3 w)
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
static bool apart(const pz_solid *a, const pz_solid *b, vec3 guess, double enough, double size, simplex *s, pz_gap *gap)
{
    double radii = a->radius + b->radius, length = v3_norm(guess);
    vec3 v = length > 0 ? v3_scale(guess, 1 / length) : v3(1, 0, 0);
    *s = (simplex){.count = 0};
    for (int i = 0; i < MOST_GJK; ++i) {
        spot found = support(a, b, v3_neg(v));
        double norm = v3_norm(v), bound = v3_dot(v, found.w) / norm;
        if (bound - radii > enough) {
            *gap = (pz_gap){.distance = bound - radii, .normal = v3_scale(v, 1 / norm)};
            return true;
        }
        if (s->count > 0 && (norm - bound <= EXACT * size || is_in(s, found.w))) {
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
    spot at[MOST_EPA];
    face faces[MOST_FACE];
    int edges[MOST_EDGE][2];
    int spots, face_count, edge_count;
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

static void push_out(polytope *p, const spot *to, double beyond)
{
    int kept = 0, number = p->spots;
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
    p->at[p->spots++] = *to;
    for (int i = 0; i < p->edge_count && p->face_count < MOST_FACE; ++i) {
        add_face(p, p->edges[i][0], p->edges[i][1], number);
    }
}

static bool close_tetrahedron(polytope *p, double flat)
{
    vec3 a = p->at[0].w, n = v3_cross(v3_sub(p->at[1].w, a), v3_sub(p->at[2].w, a));
    double height = v3_dot(n, v3_sub(p->at[3].w, a)), area = v3_norm(n);
    if (!(fabs(height) > flat * area) || !(area > flat * flat)) {
        return false;
    }
    bool turned = height > 0; // so that the first face looks away from the last corner
    p->spots = 4;
    p->face_count = 0;
    add_face(p, 0, turned ? 2 : 1, turned ? 1 : 2);
    add_face(p, 0, turned ? 1 : 3, turned ? 3 : 1);
    add_face(p, 1, turned ? 2 : 3, turned ? 3 : 2);
    add_face(p, 2, turned ? 0 : 3, turned ? 3 : 0);
    return true;
}

// Four points of M that hold a volume. *normal: across M where it is flat.
static bool spread_out(const pz_solid *a, const pz_solid *b, polytope *p, double flat, vec3 *normal)
{
    static const vec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    double most = -1;
    for (int i = 0; i < 3; ++i) {
        spot low = support(a, b, v3_neg(axes[i])), high = support(a, b, axes[i]);
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
        spot s = support(a, b, i < 3 ? n : v3_neg(n));
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
    spot up = support(a, b, n), down = support(a, b, v3_neg(n));
    double above = v3_dot(n, v3_sub(up.w, p->at[0].w)), below = v3_dot(n, v3_sub(p->at[0].w, down.w));
    p->at[3] = above > below ? up : down;
    return close_tetrahedron(p, flat);
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
static pz_gap crossed(const pz_solid *a, const pz_solid *b, const simplex *met, vec3 normal)
{
    vec3 n = v3_dot(normal, v3_sub(middle_of(a), middle_of(b))) < 0 ? v3_neg(normal) : normal;
    pz_gap gap = gap_of(met, n, 1.0, a, b);
    gap.distance = -a->radius - b->radius;
    return gap;
}

static pz_gap within(const pz_solid *a, const pz_solid *b, const simplex *met, double size)
{
    polytope p; // large: most of it is never touched
    p.spots = p.face_count = p.edge_count = 0;
    vec3 normal = v3(0, 0, 1);
    bool is_ready = false;
    if (met->count == 4) {
        memcpy(p.at, met->at, sizeof met->at);
        is_ready = close_tetrahedron(&p, 1e3 * FLAT * size);
    }
    if (!is_ready && !spread_out(a, b, &p, FLAT * size, &normal)) {
        simplex at = *met;
        at.count = at.count > 3 ? 3 : at.count;
        return crossed(a, b, &at, normal);
    }
    while (true) {
        const face *least = &p.faces[0];
        for (int i = 1; i < p.face_count; ++i) {
            least = p.faces[i].offset < least->offset ? &p.faces[i] : least;
        }
        face nearest = *least;
        spot out = support(a, b, nearest.normal);
        double gain = v3_dot(nearest.normal, out.w) - nearest.offset;
        if (gain <= EXACT * size || p.spots == MOST_EPA || p.face_count + 2 > MOST_FACE) {
            return gap_within(&p, &nearest, max2(0.0, nearest.offset + max2(gain, 0.0)), a, b);
        }
        push_out(&p, &out, 0.01 * EXACT * size);
    }
}

pz_gap pz_solid_gap(const pz_solid *a, const pz_solid *b, vec3 guess, double enough, double size)
{
    simplex met;
    pz_gap gap;
    return apart(a, b, guess, enough, size, &met, &gap) ? gap : within(a, b, &met, size);
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
