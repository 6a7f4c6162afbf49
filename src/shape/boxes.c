// Boxes against segments and boxes.
//
// How a segment and a box come nearest: nearest_points.h.
//
// Cores that overlap: the greatest separation over the axes that can part them (S. Gottschalk, M. Lin, D. Manocha,
// "OBBTree", 1996): normals of faces, and cross products of edges.
//
// Two boxes that are apart come nearest at an edge of one of them, ends included: the least of 24 segments against a box.
#include "shape/shape.h"

#define ACROSS 1e-12 // sin^2 below which two edges count as parallel

// ---- A segment in the frame of a box -------------------------------------------------------------------------------------

static vec3 column(const mat3 *R, int i)
{
    return i == 0 ? R->x : i == 1 ? R->y : R->z;
}

static vec3 get3(const double v[3])
{
    return v3(v[0], v[1], v[2]);
}

static pz_boxed_segment to_box(const pz_segment *segment, const pz_placed *box)
{
    pz_boxed_segment s = {.half = segment->half};
    pz_put3(m3_apply_transposed(&box->axes, v3_sub(segment->center, box->center)), s.p);
    pz_put3(m3_apply_transposed(&box->axes, segment->along), s.e);
    pz_put3(box->half, s.h);
    return s;
}

// ---- Cores that overlap --------------------------------------------------------------------------------------------------

typedef struct parting {
    double separation; // <= 0 where they overlap
    int edge;          // box axis of the edge; -1: a face
    double n[3];       // in the box's frame, towards the segment
} parting;

static parting best_face(const pz_boxed_segment *s)
{
    parting best = {.separation = -INFINITY, .edge = -1};
    for (int i = 0; i < 3; ++i) {
        double separation = fabs(s->p[i]) - s->h[i] - s->half * fabs(s->e[i]);
        if (separation > best.separation) {
            best = (parting){.separation = separation, .edge = -1};
            best.n[i] = s->p[i] < 0 ? -1.0 : 1.0;
        }
    }
    return best;
}

// A face is preferred to an edge that parts no better.
static parting best_parting(const pz_boxed_segment *s, double meets)
{
    parting best = best_face(s);
    for (int i = 0; i < 3 && s->half > 0; ++i) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        double square = s->e[j] * s->e[j] + s->e[k] * s->e[k]; // e x axis i = e_k (axis j) - e_j (axis k)
        if (square <= ACROSS) {
            continue;
        }
        double scale = 1.0 / sqrt(square), n_j = s->e[k] * scale, n_k = -s->e[j] * scale;
        double along = n_j * s->p[j] + n_k * s->p[k];
        double separation = fabs(along) - s->h[j] * fabs(n_j) - s->h[k] * fabs(n_k);
        if (separation > best.separation + meets) {
            double sign = along < 0 ? -1.0 : 1.0;
            best = (parting){.separation = separation, .edge = i};
            best.n[j] = sign * n_j, best.n[k] = sign * n_k;
        }
    }
    return best;
}

// Where the segment goes deepest: an end below a face (the middle where it is parallel), or where it crosses the edge.
static double deepest_place(const pz_boxed_segment *s, const parting *best)
{
    if (best->edge < 0) {
        double rise = best->n[0] * s->e[0] + best->n[1] * s->e[1] + best->n[2] * s->e[2];
        return fabs(rise) < 1e-12 ? 0.0 : rise > 0 ? -s->half : s->half;
    }
    int j = (best->edge + 1) % 3, k = (best->edge + 2) % 3;
    double corner_j = best->n[j] < 0 ? -s->h[j] : s->h[j], corner_k = best->n[k] < 0 ? -s->h[k] : s->h[k];
    double across_j = -best->n[k], across_k = best->n[j]; // across n and the edge
    double speed = across_j * s->e[j] + across_k * s->e[k];
    double way = across_j * (corner_j - s->p[j]) + across_k * (corner_k - s->p[k]);
    return clamp(way / speed, -s->half, s->half);
}

static pz_contact overlap(const pz_boxed_segment *s, const pz_placed *box)
{
    parting best = best_parting(s, box->meets);
    double t = deepest_place(s, &best);
    vec3 x = v3_mad(get3(s->p), t, get3(s->e)), n = get3(best.n);
    pz_contact contact = {.normal = m3_apply(&box->axes, n), .gap = best.separation};
    contact.a = v3_add(box->center, m3_apply(&box->axes, x));
    contact.b = v3_mad(contact.a, -best.separation, contact.normal);
    contact.face = best.edge < 0 ? PZ_SIDE_B : PZ_SIDE_NONE;
    contact.is_smooth = best.edge < 0;
    return contact;
}

// ---- Segment and box -----------------------------------------------------------------------------------------------------

// `s` is the segment in the frame of the box.
static pz_contact nearest_of(const pz_boxed_segment *s, const pz_segment *a, const pz_placed *box)
{
    bool inside;
    double t = pz_nearest_to_box(s, &inside), out[3], on[3], square = 0.0;
    int clamped = 0, free_axis = 0;
    for (int i = 0; i < 3; ++i) {
        double x = s->p[i] + t * s->e[i];
        out[i] = pz_excess(x, s->h[i]);
        on[i] = x - out[i];
        square += out[i] * out[i];
        clamped += out[i] != 0;
        free_axis = out[i] == 0 ? i : free_axis;
    }
    double gap = sqrt(square);
    if (!(gap > box->meets)) {
        return overlap(s, box);
    }
    pz_contact contact = {.gap = gap, .is_smooth = true, .face = clamped == 1 ? PZ_SIDE_B : PZ_SIDE_NONE};
    contact.b = v3_add(box->center, m3_apply(&box->axes, get3(on)));
    contact.normal = v3_scale(m3_apply(&box->axes, get3(out)), 1.0 / gap);
    contact.a = v3_mad(contact.b, gap, contact.normal);
    if (inside && clamped > 1) {
        contact.slides[contact.slide_count++] = (pz_slide){PZ_SIDE_A, a->along};
    }
    if (clamped == 2) {
        contact.slides[contact.slide_count++] = (pz_slide){PZ_SIDE_B, column(&box->axes, free_axis)};
    }
    return contact;
}

pz_contact pz_segment_box(const pz_segment *a, const pz_placed *box)
{
    pz_boxed_segment s = to_box(a, box);
    return nearest_of(&s, a, box);
}

// ---- Two boxes -----------------------------------------------------------------------------------------------------------

static double spread(const pz_placed *box, vec3 n)
{
    const mat3 *R = &box->axes;
    return box->half.x * fabs(v3_dot(n, R->x)) + box->half.y * fabs(v3_dot(n, R->y)) + box->half.z * fabs(v3_dot(n, R->z));
}

// The corner of a box that lies farthest against n; a face or edge across n counts by its middle.
static vec3 lowest(const pz_placed *box, vec3 n)
{
    const double half[3] = {box->half.x, box->half.y, box->half.z};
    vec3 corner = box->center;
    for (int i = 0; i < 3; ++i) {
        vec3 axis = column(&box->axes, i);
        double rise = v3_dot(n, axis);
        corner = fabs(rise) < 1e-12 ? corner : v3_mad(corner, rise > 0 ? -half[i] : half[i], axis);
    }
    return corner;
}

double pz_boxes_bound(const pz_placed *a, const pz_placed *b)
{
    vec3 way = v3_sub(a->center, b->center);
    double most = -INFINITY;
    for (int i = 0; i < 3; ++i) {
        vec3 u = column(&a->axes, i), v = column(&b->axes, i);
        most = max2(most, fabs(v3_dot(u, way)) - (i == 0 ? a->half.x : i == 1 ? a->half.y : a->half.z) - spread(b, u));
        most = max2(most, fabs(v3_dot(v, way)) - (i == 0 ? b->half.x : i == 1 ? b->half.y : b->half.z) - spread(a, v));
    }
    return most - a->radius - b->radius;
}

typedef struct box_parting {
    double separation;
    vec3 n;       // from b to a
    pz_side face; // NONE: of two edges
    int edge_a, edge_b;
} box_parting;

static void try_axis(box_parting *best, const pz_placed *a, const pz_placed *b, vec3 n, box_parting found)
{
    double along = v3_dot(n, v3_sub(a->center, b->center));
    found.separation = fabs(along) - spread(a, n) - spread(b, n);
    if (found.separation > best->separation + (found.face == PZ_SIDE_NONE ? a->meets : 0.0)) {
        found.n = along < 0 ? v3_neg(n) : n;
        *best = found;
    }
}

static box_parting part_boxes(const pz_placed *a, const pz_placed *b)
{
    box_parting best = {.separation = -INFINITY};
    for (int i = 0; i < 3; ++i) {
        try_axis(&best, a, b, column(&a->axes, i), (box_parting){.face = PZ_SIDE_A});
        try_axis(&best, a, b, column(&b->axes, i), (box_parting){.face = PZ_SIDE_B});
    }
    for (int i = 0; i < 9; ++i) {
        vec3 n = v3_cross(column(&a->axes, i / 3), column(&b->axes, i % 3));
        if (v3_dot(n, n) > ACROSS) {
            try_axis(&best, a, b, v3_normalize(n), (box_parting){.edge_a = i / 3, .edge_b = i % 3});
        }
    }
    return best;
}

static pz_contact boxes_overlap(const pz_placed *a, const pz_placed *b, const box_parting *best)
{
    pz_contact contact = {.normal = best->n, .gap = best->separation, .face = best->face};
    contact.is_smooth = best->face != PZ_SIDE_NONE;
    if (best->face == PZ_SIDE_A) { // the corner of b that goes deepest
        contact.b = lowest(b, v3_neg(best->n));
        contact.a = v3_mad(contact.b, best->separation, best->n);
        return contact;
    }
    contact.a = lowest(a, best->n);
    if (best->face == PZ_SIDE_NONE) { // where the edge of a, through that corner, crosses the one of b
        vec3 u = column(&a->axes, best->edge_a), across = v3_cross(column(&b->axes, best->edge_b), best->n);
        vec3 way = v3_sub(lowest(b, v3_neg(best->n)), contact.a);
        contact.a = v3_mad(contact.a, v3_dot(across, way) / v3_dot(across, u), u);
    }
    contact.b = v3_mad(contact.a, -best->separation, best->n);
    return contact;
}

// Edge number i of a box: along axis i / 4, at the corners of the other two.
static pz_segment edge_of(const pz_placed *box, int i)
{
    const double half[3] = {box->half.x, box->half.y, box->half.z};
    int along = i / 4, j = (along + 1) % 3, k = (along + 2) % 3;
    vec3 center = v3_mad(box->center, i & 1 ? half[j] : -half[j], column(&box->axes, j));
    center = v3_mad(center, i & 2 ? half[k] : -half[k], column(&box->axes, k));
    return (pz_segment){center, column(&box->axes, along), half[along]};
}

// A bound of the distance from below: that of the box around the segment, along the axes of the other.
static double from_around(const pz_boxed_segment *s)
{
    double square = 0.0;
    for (int i = 0; i < 3; ++i) {
        double apart = max2(0.0, fabs(s->p[i]) - s->half * fabs(s->e[i]) - s->h[i]);
        square += apart * apart;
    }
    return sqrt(square);
}

// Take the place where edge i of a box comes nearest to another if that is nearer than what there is.
static void take_edge(const pz_placed *box, int i, const pz_placed *other, bool turns, pz_contact *nearest)
{
    pz_segment edge = edge_of(box, i);
    pz_boxed_segment s = to_box(&edge, other);
    if (from_around(&s) > nearest->gap + other->meets) {
        return;
    }
    pz_contact contact = nearest_of(&s, &edge, other);
    if (contact.gap < nearest->gap) {
        *nearest = turns ? pz_contact_turned(contact) : contact;
    }
}

pz_contact pz_box_box(const pz_placed *a, const pz_placed *b)
{
    box_parting best = part_boxes(a, b);
    if (best.separation <= a->meets) {
        return boxes_overlap(a, b, &best);
    }
    pz_contact nearest = {.gap = INFINITY};
    for (int i = 0; i < 12; ++i) {
        take_edge(a, i, b, false, &nearest);
    }
    for (int i = 0; i < 12; ++i) {
        take_edge(b, i, a, true, &nearest);
    }
    return nearest;
}
