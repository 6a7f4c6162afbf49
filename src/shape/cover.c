// Shapes that cover a mesh.
//
// A piece is what lies on one side of a few planes. Of each the outermost corners in 98 directions are kept. Capsules and
// boxes along their principal axes and along those of the body are tried. The one is taken that has the least volume when it
// is grown by its overhang, which is how far it reaches beyond the whole mesh in the worst of the directions, and it is
// widened until it covers every corner of the piece.
//
// How loose a cover is, is measured by points around the mesh: each that is covered counts, the more the farther outside.
// The piece that gains most by it is cut in two, again and again, while a further shape is worth it. Triangles are clipped
// at the cuts, and all shapes are convex: what is covered is the surface, and with it all that it encloses.
#include "shape/shape.h"

#include "base/arena.h"
#include "base/error.h"
#include "num/dense.h"

#include <string.h>

// ---- Corners that triangles share, found by a table of those seen --------------------------------------------------------

// Mixes the bits of the coordinates (the constants of FNV and of Fibonacci hashing).
static size_t place_of(const vec3 *corner, size_t mask)
{
    uint64_t bits[3], hash = 0xcbf29ce484222325u;
    memcpy(bits, corner, sizeof bits);
    for (int i = 0; i < 3; ++i) {
        hash = (hash ^ bits[i] ^ bits[i] >> 32) * 0x9e3779b97f4a7c15u;
    }
    return (size_t)(hash >> 32) & mask;
}

// `table` has mask + 1 places, at least twice as many as corners; what it holds is an index plus 1.
static void mark_fresh(const vec3 *corners, size_t triangles, unsigned char *fresh, uint32_t *table, size_t mask)
{
    for (size_t i = 0; i < 3 * triangles; ++i) {
        size_t at = place_of(&corners[i], mask);
        while (table[at] != 0 && memcmp(&corners[table[at] - 1], &corners[i], sizeof *corners) != 0) {
            at = (at + 1) & mask;
        }
        if (table[at] == 0) {
            table[at] = (uint32_t)(i + 1);
            fresh[i / 3] |= (unsigned char)(1u << i % 3);
        }
    }
}

pz_mesh_marks pz_mesh_marks_make(const vec3 *corners, size_t triangles)
{
    pz_mesh_marks marks = {NULL, NULL};
    if (triangles > UINT32_MAX / 12) {
        return marks;
    }
    size_t places = 1;
    while (places < 6 * triangles) {
        places *= 2;
    }
    unsigned char *bytes = pz_allocate(NULL, 2 * triangles);
    uint32_t *table = pz_allocate(NULL, places * sizeof *table);
    if (bytes && table) {
        memset(bytes, 0, triangles);
        memset(bytes + triangles, 1, triangles);
        memset(table, 0, places * sizeof *table);
        mark_fresh(corners, triangles, bytes, table, places - 1);
        marks = (pz_mesh_marks){bytes, bytes + triangles};
    } else {
        pz_release(NULL, bytes);
    }
    pz_release(NULL, table);
    return marks;
}

void pz_mesh_marks_release(pz_mesh_marks *marks)
{
    pz_release(NULL, marks->fresh);
    *marks = (pz_mesh_marks){NULL, NULL};
}

// ---- How loose a cover is, by points around the mesh ---------------------------------------------------------------------

#define AROUND  0.3  // of the longest side: how far around the mesh they lie
#define FARTHER 30.0 // what a point counts more that lies outside the mesh by as much as its longest side

// Point i of an even sequence: the fractions of i / g, i / g^2, i / g^3, where g^4 = g + 1 (M. Roberts, "The unreasonable
// effectiveness of quasirandom sequences", 2018).
static vec3 cloud_point(const pz_cloud *c, int i)
{
    double x = 0.5 + i * 0.8191725133961645, y = 0.5 + i * 0.6710436067037893, z = 0.5 + i * 0.5497004779019703;
    vec3 at = {x - (double)(int)x, y - (double)(int)y, z - (double)(int)z};
    return v3(c->low.x + at.x * c->side.x, c->low.y + at.y * c->side.y, c->low.z + at.z * c->side.z);
}

static bool is_inside(const poise_shape *shape, const mat3 *axes, vec3 point)
{
    vec3 d = v3_sub(point, shape->pose.position);
    double x = max2(0.0, fabs(v3_dot(axes->x, d)) - shape->half.x), y = max2(0.0, fabs(v3_dot(axes->y, d)) - shape->half.y);
    double z = max2(0.0, fabs(v3_dot(axes->z, d)) - shape->half.z);
    return x * x + y * y + z * z <= shape->radius * shape->radius;
}

void pz_cloud_make(pz_cloud *c, const pz_outline *whole)
{
    vec3 low = whole->corner[0], high = low;
    for (int k = 1; k < PZ_DIRECTIONS; ++k) {
        vec3 x = whole->corner[k];
        low = v3(min2(low.x, x.x), min2(low.y, x.y), min2(low.z, x.z));
        high = v3(max2(high.x, x.x), max2(high.y, x.y), max2(high.z, x.z));
    }
    double longest = max2(high.x - low.x, max2(high.y - low.y, high.z - low.z)), more = AROUND * longest;
    c->low = v3_sub(low, v3(more, more, more));
    c->side = v3_sub(v3_add(high, v3(more, more, more)), c->low);
    for (int i = 0; i < PZ_CLOUD_POINTS; ++i) {
        vec3 at = cloud_point(c, i);
        double beyond = 0;
        for (int k = 0; k < PZ_DIRECTIONS; ++k) {
            beyond = max2(beyond, v3_dot(whole->direction[k], at) - whole->reach[k]);
        }
        c->weight[i] = (float)(1 + (longest > 0 ? FARTHER * beyond / longest : 0));
        c->covers[i] = 0;
    }
}

void pz_cloud_count(pz_cloud *c, const poise_shape *shape, int by)
{
    mat3 axes = quat_matrix(shape->pose.rotation);
    for (int i = 0; i < PZ_CLOUD_POINTS; ++i) {
        c->covers[i] = (unsigned char)(c->covers[i] + (is_inside(shape, &axes, cloud_point(c, i)) ? by : 0));
    }
}

double pz_cloud_looseness(const pz_cloud *c)
{
    double sum = 0;
    for (int i = 0; i < PZ_CLOUD_POINTS; ++i) {
        sum += c->covers[i] > 0 ? (double)c->weight[i] : 0.0;
    }
    return sum;
}

// What it would be more with these two.
static double cloud_added(const pz_cloud *c, const poise_shape *a, const poise_shape *b)
{
    mat3 A = quat_matrix(a->pose.rotation), B = quat_matrix(b->pose.rotation);
    double sum = 0;
    for (int i = 0; i < PZ_CLOUD_POINTS; ++i) {
        vec3 at = cloud_point(c, i);
        bool is_new = c->covers[i] == 0 && (is_inside(a, &A, at) || is_inside(b, &B, at));
        sum += is_new ? (double)c->weight[i] : 0.0;
    }
    return sum;
}

// ---- Pieces --------------------------------------------------------------------------------------------------------------

#define WORTH       0.04 // of the looseness so far: what a further shape must save
#define BOX_PAYS    0.9  // a box is taken where it costs less than this of the best capsule
#define TURN_PAYS   0.8  // the same of a box that is turned, beside one along the axes of the body
#define MOST_PIECES 8
#define MOST_CUTS   (MOST_PIECES - 1)
#define MOST_SIDES  (3 + MOST_CUTS)
#define WIDER       (1 + 1e-9) // that a shape is made, so that rounding leaves no corner outside

typedef struct half_space {
    vec3 normal; // inside: normal . x <= offset
    double offset;
} half_space;

typedef struct piece {
    const vec3 *corners;
    size_t triangles;
    pz_mesh_marks marks;
    int number; // its bit in marks.held
    int cut_count;
    half_space cuts[MOST_CUTS];
} piece;

// A piece with the shape around it.
typedef struct fitted {
    piece piece;
    poise_shape shape, box; // the one taken; the box along the principal axes
    mat3 axes;              // those, by length
    double cost;            // of the shape: cost_of
} fitted;

typedef struct polygon {
    vec3 at[MOST_SIDES];
    int count;
    bool is_whole; // a triangle that no cut crosses
} polygon;

// Sutherland & Hodgman.
static polygon clip(const polygon *p, const half_space *cut)
{
    polygon kept = {.count = 0};
    for (int i = 0; i < p->count; ++i) {
        vec3 a = p->at[i], b = p->at[(i + 1) % p->count];
        double da = v3_dot(cut->normal, a) - cut->offset, db = v3_dot(cut->normal, b) - cut->offset;
        if (da <= 0 && kept.count < MOST_SIDES) {
            kept.at[kept.count++] = a;
        }
        if ((da < 0) != (db < 0) && da != db && kept.count < MOST_SIDES) {
            kept.at[kept.count++] = v3_mad(a, da / (da - db), v3_sub(b, a));
        }
    }
    return kept;
}

// The part of a triangle that is in the piece; false: none of it is.
static bool take_polygon(const piece *p, size_t triangle, polygon *made)
{
    const vec3 *c = p->corners + 3 * triangle;
    if (p->marks.held && !(p->marks.held[triangle] >> p->number & 1)) {
        return false;
    }
    bool crosses[MOST_CUTS];
    for (int i = 0; i < p->cut_count; ++i) {
        const half_space *cut = &p->cuts[i];
        double d[3] = {v3_dot(cut->normal, c[0]), v3_dot(cut->normal, c[1]), v3_dot(cut->normal, c[2])};
        if (min2(d[0], min2(d[1], d[2])) > cut->offset) {
            return false;
        }
        crosses[i] = max2(d[0], max2(d[1], d[2])) > cut->offset;
    }
    made->at[0] = c[0], made->at[1] = c[1], made->at[2] = c[2];
    made->count = 3;
    made->is_whole = true;
    for (int i = 0; i < p->cut_count && made->count > 0; ++i) {
        if (crosses[i]) {
            *made = clip(made, &p->cuts[i]);
        }
    }
    return made->count > 0;
}

// Has corner i of a polygon been seen, as one of a triangle before?
PZ_INLINE bool is_seen(const piece *p, size_t triangle, const polygon *made, int i)
{
    return made->is_whole && p->marks.fresh && !(p->marks.fresh[triangle] >> i & 1);
}

static void clear(pz_outline *o)
{
    int count = 0;
    for (int i = -2; i <= 2; ++i) {
        for (int j = -2; j <= 2; ++j) {
            for (int k = -2; k <= 2; ++k) {
                if (i * i == 4 || j * j == 4 || k * k == 4) {
                    o->reach[count] = -INFINITY;
                    o->direction[count++] = v3_normalize(v3(i, j, k));
                }
            }
        }
    }
}

static void reach_out(pz_outline *o, int k, double reach, vec3 corner)
{
    if (reach > o->reach[k]) {
        o->reach[k] = reach;
        o->corner[k] = corner;
    }
}

// The first half of the directions and how far a piece reaches along them and against them, four by four: of many corners
// few are farther out than all before. What is beyond the last direction is out of reach.
#define PAIRED (PZ_DIRECTIONS / 2)
#define FOURS  ((PAIRED + 3) / 4)

typedef double four __attribute__((vector_size(32))); // two of two where registers are no wider
typedef int64_t four_masks __attribute__((vector_size(32)));

typedef struct ranges {
    four x[FOURS], y[FOURS], z[FOURS], least[FOURS], most[FOURS];
    bool is_wide; // the processor has registers of four
} ranges;

PZ_INLINE bool look_farther(const ranges *r, const vec3 *corner, four *reach)
{
    four_masks farther = {0, 0, 0, 0};
    for (int k = 0; k < FOURS; ++k) {
        reach[k] = r->x[k] * corner->x + r->y[k] * corner->y + r->z[k] * corner->z;
        farther |= (reach[k] > r->most[k]) | (reach[k] < r->least[k]);
    }
    return (farther[0] | farther[1] | farther[2] | farther[3]) != 0;
}

static bool is_farther(const ranges *r, const vec3 *corner, four *reach)
{
    return look_farther(r, corner, reach);
}

// The same code for processors with wider registers (base/cpu.h).
PZ_WIDE static bool is_farther_wide(const ranges *r, const vec3 *corner, four *reach)
{
    return look_farther(r, corner, reach);
}

// Directions come in opposite pairs, first and last, second and last but one, ...
static void reach_to(pz_outline *o, ranges *r, vec3 corner)
{
    four reach[FOURS];
    if (!(r->is_wide ? is_farther_wide(r, &corner, reach) : is_farther(r, &corner, reach))) {
        return;
    }
    for (int k = 0; k < PAIRED; ++k) {
        reach_out(o, k, reach[k / 4][k % 4], corner);
        reach_out(o, PZ_DIRECTIONS - 1 - k, -reach[k / 4][k % 4], corner);
        r->most[k / 4][k % 4] = o->reach[k];
        r->least[k / 4][k % 4] = -o->reach[PZ_DIRECTIONS - 1 - k];
    }
}

// False: an empty piece.
static bool find_outline(const piece *p, pz_outline *o)
{
    ranges r = {.is_wide = pz_cpu_is_wide()};
    polygon made;
    clear(o);
    for (int k = 0; k < 4 * FOURS; ++k) {
        bool is_direction = k < PAIRED;
        vec3 d = is_direction ? o->direction[k] : v3(0, 0, 0);
        r.x[k / 4][k % 4] = d.x, r.y[k / 4][k % 4] = d.y, r.z[k / 4][k % 4] = d.z;
        r.least[k / 4][k % 4] = is_direction ? INFINITY : -INFINITY;
        r.most[k / 4][k % 4] = is_direction ? -INFINITY : INFINITY;
    }
    for (size_t t = 0; t < p->triangles; ++t) {
        int count = take_polygon(p, t, &made) ? made.count : 0;
        for (int i = 0; i < count; ++i) {
            if (!is_seen(p, t, &made, i)) {
                reach_to(o, &r, made.at[i]);
            }
        }
    }
    return o->reach[0] > -INFINITY;
}

// ---- Shapes around points ------------------------------------------------------------------------------------------------

static mat3 principal_axes(const vec3 *x, int count, vec3 *mean)
{
    double A[9] = {0}, values[3], work[3 * 3 + 6];
    vec3 sum = {0, 0, 0};
    for (int i = 0; i < count; ++i) {
        sum = v3_add(sum, x[i]);
    }
    *mean = v3_scale(sum, 1.0 / count);
    for (int i = 0; i < count; ++i) {
        vec3 d = v3_sub(x[i], *mean);
        double v[3] = {d.x, d.y, d.z};
        for (int r = 0; r < 9; ++r) {
            A[r] += v[r / 3] * v[r % 3];
        }
    }
    mat3 axes = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    if (pz_symmetric_eigen(3, A, values, true, work)) { // ascending
        axes.z = v3_normalize(v3(A[6], A[7], A[8]));
        axes.y = v3_normalize(v3(A[3], A[4], A[5]));
        axes.x = v3_cross(axes.y, axes.z);
    }
    return axes;
}

// How far the shape reaches beyond the outline in the worst direction.
static double overhang(const poise_shape *shape, const pz_outline *o)
{
    mat3 axes = quat_matrix(shape->pose.rotation);
    double most = 0;
    for (int k = 0; k < PZ_DIRECTIONS; ++k) {
        vec3 d = o->direction[k];
        double core = shape->half.x * fabs(v3_dot(axes.x, d)) + shape->half.y * fabs(v3_dot(axes.y, d)) +
                      shape->half.z * fabs(v3_dot(axes.z, d));
        most = max2(most, v3_dot(shape->pose.position, d) + core + shape->radius - o->reach[k]);
    }
    return most;
}

// The volume of the shape, grown by its overhang over `o`.
static double cost_of(const poise_shape *shape, const pz_outline *o)
{
    double more = overhang(shape, o), r = shape->radius + more;
    vec3 h = shape->half;
    return shape->kind == POISE_SHAPE_BOX ? 8 * (h.x + more) * (h.y + more) * (h.z + more)
                                          : PZ_PI * r * r * (2 * h.z + 4.0 / 3.0 * r);
}

// The frame whose z is `z`, with x as given across it.
static quat turned(vec3 x, vec3 z)
{
    vec3 y = v3_cross(z, x);
    return quat_normalize(poise_quat_from_matrix((double[9]){x.x, y.x, z.x, x.y, y.y, z.y, x.z, y.z, z.z}));
}

// The middle of the points across z: towards the farthest by less and less (M. Badoiu & K. Clarkson, "Smaller core-sets for
// balls", SODA 2003).
static vec3 middle_across(const vec3 *x, int count, vec3 middle, vec3 z, double *radius)
{
    enum { STEPS = 60 };
    for (int step = 1; step <= STEPS; ++step) {
        vec3 farthest = {0, 0, 0};
        double square = 0;
        for (int i = 0; i < count; ++i) {
            vec3 d = v3_sub(x[i], middle), across = v3_mad(d, -v3_dot(d, z), z);
            if (v3_dot(across, across) > square) {
                square = v3_dot(across, across);
                farthest = across;
            }
        }
        *radius = sqrt(square);
        middle = step < STEPS ? v3_mad(middle, 1.0 / (step + 1), farthest) : middle;
    }
    return middle;
}

// The capsule along z of this radius and middle whose ends reach no farther than they must.
static poise_shape capsule_along(const vec3 *x, int count, vec3 middle, double radius, vec3 across, vec3 z)
{
    double first = INFINITY, last = -INFINITY;
    for (int i = 0; i < count; ++i) {
        vec3 d = v3_sub(x[i], middle);
        double t = v3_dot(d, z), off = v3_norm(v3_mad(d, -t, z));
        double cap = sqrt(max2(0.0, radius * radius - off * off));
        first = min2(first, t + cap);
        last = max2(last, t - cap);
    }
    double half = 0.5 * (last - first);
    return (poise_shape){.kind = POISE_SHAPE_CAPSULE,
                         .pose = {turned(across, z), v3_mad(middle, 0.5 * (first + last), z)},
                         .half = {0, 0, max2(0.0, half)},
                         .radius = radius};
}

static poise_shape box_along(const vec3 *x, int count, const mat3 *axes)
{
    const vec3 *axis[] = {&axes->x, &axes->y, &axes->z};
    double half[3];
    vec3 center = {0, 0, 0};
    for (int k = 0; k < 3; ++k) {
        double first = INFINITY, last = -INFINITY;
        for (int i = 0; i < count; ++i) {
            first = min2(first, v3_dot(*axis[k], x[i]));
            last = max2(last, v3_dot(*axis[k], x[i]));
        }
        half[k] = 0.5 * (last - first);
        center = v3_mad(center, 0.5 * (first + last), *axis[k]);
    }
    return (poise_shape){
        .kind = POISE_SHAPE_BOX, .pose = {turned(axes->x, axes->z), center}, .half = {half[0], half[1], half[2]}};
}

// ---- Shapes around pieces ------------------------------------------------------------------------------------------------

// `x` in the frame of the shape
static void widen(poise_shape *shape, vec3 x)
{
    if (shape->kind == POISE_SHAPE_BOX) {
        shape->half = v3(max2(shape->half.x, fabs(x.x)), max2(shape->half.y, fabs(x.y)), max2(shape->half.z, fabs(x.z)));
        return;
    }
    x.z = max2(0.0, fabs(x.z) - shape->half.z);
    shape->radius = max2(shape->radius, v3_norm(x));
}

// A shape that costs less takes the place of the best.
static void consider(fitted *f, poise_shape shape, const pz_outline *whole, double handicap)
{
    double cost = cost_of(&shape, whole);
    if (cost < handicap * f->cost) {
        f->shape = shape;
        f->cost = cost;
    }
}

// A capsule with round ends covers flat ones by reaching beyond them: less so the wider it is.
static void consider_capsules(fitted *f, const pz_outline *o, const pz_outline *whole, const mat3 *axes, vec3 mean)
{
    static const double wider[] = {1.0, 1.1, 1.25};
    const vec3 *axis[] = {&axes->x, &axes->y, &axes->z};
    for (int k = 0; k < 3; ++k) {
        double radius = 0;
        vec3 middle = middle_across(o->corner, PZ_DIRECTIONS, mean, *axis[k], &radius);
        for (int i = 0; i < 3; ++i) {
            consider(f, capsule_along(o->corner, PZ_DIRECTIONS, middle, wider[i] * radius, *axis[(k + 1) % 3], *axis[k]),
                     whole, 1);
        }
    }
}

static void widen_to(const piece *p, poise_shape *shape)
{
    poise_pose inverse = poise_pose_inverse(shape->pose);
    polygon made;
    for (size_t t = 0; t < p->triangles; ++t) {
        int count = take_polygon(p, t, &made) ? made.count : 0;
        for (int i = 0; i < count; ++i) {
            if (!is_seen(p, t, &made, i)) {
                widen(shape, poise_pose_transform(inverse, made.at[i]));
            }
        }
    }
    shape->radius *= WIDER;
    shape->half = shape->kind == POISE_SHAPE_BOX ? v3_scale(shape->half, WIDER) : shape->half;
}

// The shape of a piece and its box along the principal axes; false: the piece is empty.
static bool fit(const piece *p, const pz_outline *whole, fitted *f)
{
    static const mat3 body = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    pz_outline o;
    vec3 mean;
    *f = (fitted){.piece = *p, .cost = INFINITY};
    if (!find_outline(p, &o)) {
        return false;
    }
    f->axes = principal_axes(o.corner, PZ_DIRECTIONS, &mean);
    f->box = box_along(o.corner, PZ_DIRECTIONS, &f->axes);
    consider_capsules(f, &o, whole, &f->axes, mean);
    consider_capsules(f, &o, whole, &body, mean);
    poise_shape upright = box_along(o.corner, PZ_DIRECTIONS, &body);
    bool is_upright = TURN_PAYS * cost_of(&upright, whole) <= cost_of(&f->box, whole);
    consider(f, is_upright ? upright : f->box, whole, BOX_PAYS);
    widen_to(p, &f->shape);
    return true;
}

// ---- Cuts ----------------------------------------------------------------------------------------------------------------

static piece part_of(const piece *whole, vec3 normal, double offset)
{
    piece part = *whole;
    part.cuts[part.cut_count++] = (half_space){normal, offset};
    return part;
}

// The best two halves, by what they save.
typedef struct halves {
    fitted part[2];
    double saved; // <= 0: none
} halves;

// Three cuts across the longest axis of the piece, one across each of the others.
static void find_halves(const fitted *f, const pz_outline *whole, pz_cloud *c, halves *best)
{
    static const struct {
        int axis;
        double place;
    } cuts[] = {{2, 0.5}, {2, 0.3}, {2, 0.7}, {1, 0.5}, {0, 0.5}};
    const vec3 axis[] = {f->axes.x, f->axes.y, f->axes.z};
    const double half[] = {f->box.half.x, f->box.half.y, f->box.half.z};
    *best = (halves){.saved = 0};
    pz_cloud_count(c, &f->shape, -1);
    double now = cloud_added(c, &f->shape, &f->shape);
    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0] && f->piece.cut_count < MOST_CUTS; ++i) {
        vec3 normal = axis[cuts[i].axis];
        double at = v3_dot(normal, f->box.pose.position) + (2 * cuts[i].place - 1) * half[cuts[i].axis];
        piece low = part_of(&f->piece, normal, at), high = part_of(&f->piece, v3_neg(normal), -at);
        fitted a, b;
        if (fit(&low, whole, &a) && fit(&high, whole, &b)) {
            double saved = now - cloud_added(c, &a.shape, &b.shape);
            if (saved > best->saved) {
                *best = (halves){{a, b}, saved};
            }
        }
    }
    pz_cloud_count(c, &f->shape, 1);
}

// Note which triangles the parts of a piece hold: `high` is a piece of its own from now on, of this number.
static void divide(const piece *low, piece *high, int number)
{
    polygon ignored;
    for (size_t t = 0; t < low->triangles && low->marks.held; ++t) {
        bool is_low = take_polygon(low, t, &ignored), is_high = take_polygon(high, t, &ignored);
        low->marks.held[t] &= (unsigned char)~(is_low ? 0u : 1u << low->number);
        low->marks.held[t] |= (unsigned char)(is_high ? 1u << number : 0u);
    }
    high->number = number;
}

// Cover the whole by at most `capacity` shapes; returns how many.
static int cover(const piece *all, poise_shape *shapes, int capacity)
{
    pz_outline whole;
    pz_cloud c;
    fitted parts[MOST_PIECES];
    halves cut[MOST_PIECES];
    if (!find_outline(all, &whole) || !fit(all, &whole, &parts[0])) {
        return 0;
    }
    pz_cloud_make(&c, &whole);
    pz_cloud_count(&c, &parts[0].shape, 1);
    find_halves(&parts[0], &whole, &c, &cut[0]);
    int count = 1;
    for (int next = 0; count < capacity && cut[next].saved > WORTH * pz_cloud_looseness(&c); count += 1) {
        pz_cloud_count(&c, &parts[next].shape, -1);
        parts[count] = cut[next].part[1];
        parts[next] = cut[next].part[0];
        divide(&parts[next].piece, &parts[count].piece, count);
        pz_cloud_count(&c, &parts[count].shape, 1);
        pz_cloud_count(&c, &parts[next].shape, 1);
        find_halves(&parts[count], &whole, &c, &cut[count]);
        find_halves(&parts[next], &whole, &c, &cut[next]);
        for (int i = 0; i <= count; ++i) {
            next = cut[i].saved > cut[next].saved ? i : next;
        }
    }
    for (int i = 0; i < count; ++i) {
        shapes[i] = parts[i].shape;
    }
    return count;
}

poise_status poise_shapes_fit(int body, const poise_vec3 *corners, size_t triangles, poise_shape *shapes, int capacity,
                              int *count, poise_error *error)
{
    if (!corners || triangles == 0 || !shapes || capacity < 1 || !count) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "a mesh needs triangles, and capacity must be at least 1");
    }
    for (size_t i = 0; i < 3 * triangles; ++i) {
        vec3 x = corners[i];
        if (!v3_is_finite(x) || !(fabs(x.x) + fabs(x.y) + fabs(x.z) < 1e9)) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT, "corner %g of the mesh is not finite, or beyond 1e9",
                                (double)i);
        }
    }
    piece whole = {.corners = corners, .triangles = triangles, .marks = pz_mesh_marks_make(corners, triangles)};
    *count = cover(&whole, shapes, least(capacity, MOST_PIECES));
    pz_mesh_marks_release(&whole.marks);
    for (int i = 0; i < *count; ++i) {
        shapes[i].body = body;
    }
    return POISE_OK;
}
