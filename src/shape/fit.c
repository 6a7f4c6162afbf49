// Shapes that cover a mesh.
//
// A piece is what lies on one side of a few planes. Of each the outermost corners in 98 directions are kept; their
// principal axes give three capsules and a box, of which the smallest is taken and widened until it covers every corner.
// A piece is cut in two across its longest axis where the two halves take at most SMALLER of its volume. Triangles are
// clipped at the cuts, and all shapes are convex: what is covered is the surface, and with it all that it encloses.
#include "base/error.h"
#include "math/dense.h"
#include "math/quat.h"
#include "shape/shape.h"

#define SMALLER     0.8 // what two shapes may have of the volume of one, to be taken for it
#define BOX_PAYS    0.7 // a box is taken where it has less than this of the volume of the best capsule
#define MOST_CUTS   3
#define MOST_PIECES 8 // 2^MOST_CUTS
#define MOST_SIDES  (3 + MOST_CUTS)
#define DIRECTIONS  98
#define WIDER       (1 + 1e-9) // that a shape is made, so that rounding leaves no corner outside

typedef struct half_space {
    vec3 normal; // inside: normal . x <= offset
    double offset;
} half_space;

typedef struct piece {
    const vec3 *corners;
    size_t triangles;
    int cut_count;
    half_space cuts[MOST_CUTS];
} piece;

typedef struct polygon {
    vec3 at[MOST_SIDES];
    int count;
} polygon;

// ---- Pieces --------------------------------------------------------------------------------------------------------------

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

static polygon polygon_of(const piece *p, size_t triangle)
{
    const vec3 *c = p->corners + 3 * triangle;
    polygon made = {.at = {c[0], c[1], c[2]}, .count = 3};
    for (int i = 0; i < p->cut_count && made.count > 0; ++i) {
        made = clip(&made, &p->cuts[i]);
    }
    return made;
}

// The outermost corners; returns how many, 0 for an empty piece.
static int outermost(const piece *p, vec3 found[DIRECTIONS])
{
    vec3 direction[DIRECTIONS];
    double farthest[DIRECTIONS];
    int count = 0;
    for (int i = -2; i <= 2; ++i) {
        for (int j = -2; j <= 2; ++j) {
            for (int k = -2; k <= 2; ++k) {
                if (i * i == 4 || j * j == 4 || k * k == 4) {
                    farthest[count] = -INFINITY;
                    direction[count++] = v3(i, j, k);
                }
            }
        }
    }
    for (size_t t = 0; t < p->triangles; ++t) {
        polygon made = polygon_of(p, t);
        for (int i = 0; i < made.count; ++i) {
            for (int k = 0; k < DIRECTIONS; ++k) {
                double reach = v3_dot(direction[k], made.at[i]);
                if (reach > farthest[k]) {
                    farthest[k] = reach;
                    found[k] = made.at[i];
                }
            }
        }
    }
    return farthest[0] > -INFINITY ? DIRECTIONS : 0;
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

static double volume_of(const poise_shape *shape)
{
    vec3 h = shape->half;
    double r = shape->radius;
    return shape->kind == POISE_SHAPE_BOX ? 8 * h.x * h.y * h.z : PZ_PI * r * r * (2 * h.z + 4.0 / 3.0 * r);
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
    enum { STEPS = 200 };
    for (int step = 1; step <= STEPS; ++step) {
        vec3 farthest = {0, 0, 0};
        *radius = 0;
        for (int i = 0; i < count; ++i) {
            vec3 d = v3_sub(x[i], middle), across = v3_mad(d, -v3_dot(d, z), z);
            if (v3_norm(across) > *radius) {
                *radius = v3_norm(across);
                farthest = across;
            }
        }
        middle = step < STEPS ? v3_mad(middle, 1.0 / (step + 1), farthest) : middle;
    }
    return middle;
}

// The capsule along z whose ends reach no farther than they must.
static poise_shape capsule_along(const vec3 *x, int count, vec3 mean, vec3 across, vec3 z)
{
    double radius = 0, first = INFINITY, last = -INFINITY;
    vec3 middle = middle_across(x, count, mean, z, &radius);
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

static void widen(poise_shape *shape, vec3 corner)
{
    vec3 x = poise_pose_transform(poise_pose_inverse(shape->pose), corner);
    if (shape->kind == POISE_SHAPE_BOX) {
        shape->half = v3(max2(shape->half.x, fabs(x.x)), max2(shape->half.y, fabs(x.y)), max2(shape->half.z, fabs(x.z)));
        return;
    }
    x.z = max2(0.0, fabs(x.z) - shape->half.z);
    shape->radius = max2(shape->radius, v3_norm(x));
}

// The shape of a piece and its longest axis, with the extent along it; false: the piece is empty.
static bool fit(const piece *p, poise_shape *best, vec3 *longest, double extent[2])
{
    vec3 x[DIRECTIONS], mean;
    int count = outermost(p, x);
    if (count == 0) {
        return false;
    }
    mat3 axes = principal_axes(x, count, &mean);
    poise_shape tried[] = {capsule_along(x, count, mean, axes.x, axes.z), capsule_along(x, count, mean, axes.z, axes.y),
                           capsule_along(x, count, mean, axes.y, axes.x)};
    poise_shape box = box_along(x, count, &axes);
    *best = tried[0];
    for (int i = 1; i < 3; ++i) {
        *best = volume_of(&tried[i]) < volume_of(best) ? tried[i] : *best;
    }
    *best = volume_of(&box) < BOX_PAYS * volume_of(best) ? box : *best;
    *longest = axes.z;
    extent[0] = v3_dot(axes.z, box.pose.position) - box.half.z;
    extent[1] = v3_dot(axes.z, box.pose.position) + box.half.z;
    for (size_t t = 0; t < p->triangles; ++t) {
        polygon made = polygon_of(p, t);
        for (int i = 0; i < made.count; ++i) {
            widen(best, made.at[i]);
        }
    }
    best->radius *= WIDER;
    best->half = best->kind == POISE_SHAPE_BOX ? v3_scale(best->half, WIDER) : best->half;
    return true;
}

static piece part_of(const piece *whole, vec3 normal, double offset)
{
    piece part = *whole;
    part.cuts[part.cut_count++] = (half_space){normal, offset};
    return part;
}

// Cover a piece by at most `capacity` shapes; returns how many.
static int cover(const piece *p, poise_shape *shapes, int capacity)
{
    static const double places[] = {0.5, 0.35, 0.65};
    vec3 axis, ignored;
    double extent[2], unused[2];
    if (!fit(p, &shapes[0], &axis, extent)) {
        return 0;
    }
    if (capacity < 2 || p->cut_count == MOST_CUTS) {
        return 1;
    }
    double smallest = SMALLER * volume_of(&shapes[0]);
    int best = -1;
    for (int i = 0; i < 3; ++i) {
        double at = extent[0] + places[i] * (extent[1] - extent[0]);
        piece low = part_of(p, axis, at), high = part_of(p, v3_neg(axis), -at);
        poise_shape a, b;
        double volume = fit(&low, &a, &ignored, unused) ? volume_of(&a) : 0.0;
        volume += fit(&high, &b, &ignored, unused) ? volume_of(&b) : 0.0;
        if (volume < smallest) {
            smallest = volume;
            best = i;
        }
    }
    if (best < 0) {
        return 1;
    }
    double at = extent[0] + places[best] * (extent[1] - extent[0]);
    piece low = part_of(p, axis, at), high = part_of(p, v3_neg(axis), -at);
    int count = cover(&low, shapes, capacity / 2);
    return count + cover(&high, shapes + count, capacity - capacity / 2);
}

poise_status poise_shapes_fit(int body, const poise_vec3 *corners, size_t triangles, poise_shape *shapes, int capacity,
                              int *count, poise_error *error)
{
    if (!corners || triangles == 0 || !shapes || capacity < 1 || !count) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "a mesh needs triangles, and room for one shape at least");
    }
    for (size_t i = 0; i < 3 * triangles; ++i) {
        vec3 x = corners[i];
        if (!v3_is_finite(x) || !(fabs(x.x) + fabs(x.y) + fabs(x.z) < 1e9)) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT, "corner %g of the mesh is not finite, or beyond 1e9",
                                (double)i);
        }
    }
    piece whole = {.corners = corners, .triangles = triangles};
    *count = cover(&whole, shapes, least(capacity, MOST_PIECES));
    for (int i = 0; i < *count; ++i) {
        shapes[i].body = body;
    }
    return POISE_OK;
}
