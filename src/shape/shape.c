// Shapes: constructors, checks, and the distance of two of any kind.
//
// Every core is a segment, a box or a plane. How a segment comes nearest to a segment or a box: nearest_points.h. Cores that
// overlap: the greatest separation over the axes that can part them (S. Gottschalk, M. Lin, D. Manocha, "OBBTree", 1996),
// which are normals of faces and cross products of edges. Two boxes that are apart come nearest at an edge of one of them,
// ends included: the least of 24 segments against a box.
#include "shape/shape.h"

#include "base/error.h"

#define ACROSS 1e-12 // sin^2 below which two edges count as parallel

// ---- Making them ---------------------------------------------------------------------------------------------------------

// A rotation that takes z to `direction`; the identity for a zero vector.
static quat z_along(vec3 direction)
{
    vec3 d = v3_normalize(direction);
    if (d.z < -0.9) { // far from z: over x
        return quat_normalize((quat){1.0 - d.z, 0.0, d.x, -d.y});
    }
    return quat_normalize((quat){-d.y, d.x, 0.0, 1.0 + d.z});
}

poise_shape poise_shape_capsule(int body, poise_vec3 from, poise_vec3 to, double radius)
{
    vec3 way = v3_sub(to, from);
    return (poise_shape){.kind = POISE_SHAPE_CAPSULE,
                         .body = body,
                         .pose = {z_along(way), v3_mad(from, 0.5, way)},
                         .half = {0, 0, 0.5 * v3_norm(way)},
                         .radius = radius};
}

poise_shape poise_shape_box(int body, poise_pose pose, poise_vec3 half)
{
    return (poise_shape){.kind = POISE_SHAPE_BOX, .body = body, .pose = pose, .half = half};
}

poise_shape poise_shape_half_space(int body, poise_vec3 origin, poise_vec3 normal)
{
    return (poise_shape){.kind = POISE_SHAPE_HALF_SPACE, .body = body, .pose = {z_along(normal), origin}};
}

poise_status poise_shape_check(const poise_shape *shape, const poise_model *model, poise_error *error)
{
    if (!shape || !model) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "shape and model must not be NULL");
    }
    quat r = shape->pose.rotation;
    double square = r.x * r.x + r.y * r.y + r.z * r.z + r.w * r.w;
    const struct {
        bool is_sound;
        const char *rule;
    } checks[] = {
        {(unsigned)shape->kind < POISE_SHAPE_KIND_COUNT, "kind must be one of poise_shape_kind"},
        {shape->body == POISE_WORLD || (shape->body >= 0 && shape->body < model->joint_count),
         "body must be one of the model's, or POISE_WORLD"},
        {v3_is_finite(shape->pose.position), "pose.position must be finite"},
        {fabs(square - 1.0) <= 1e-6, "pose.rotation must be a unit quaternion"},
        {v3_is_finite(shape->half) && shape->half.x >= 0 && shape->half.y >= 0 && shape->half.z >= 0,
         "half must be finite and >= 0"},
        {is_finite(shape->radius) && shape->radius >= 0, "radius must be finite and >= 0"},
    };
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; ++i) {
        if (!checks[i].is_sound) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT, "shape: %s", checks[i].rule);
        }
    }
    return POISE_OK;
}

// ---- In place ------------------------------------------------------------------------------------------------------------

pz_placed pz_place(const poise_kinematics *kin, const poise_shape *shape)
{
    mat3 R = pz_kin_rotation(kin, shape->body), local = quat_matrix(shape->pose.rotation);
    pz_placed placed = {.kind = shape->kind,
                        .body = shape->body,
                        .center = pz_kin_point(kin, shape->body, shape->pose.position),
                        .axes = shape->body == POISE_WORLD ? local : m3_mul(&R, &local),
                        .half = shape->half,
                        .radius = shape->radius,
                        .meets = PZ_CORES_MEET * kin->model->unit};
    placed.reach = shape->kind == POISE_SHAPE_CAPSULE ? shape->half.z + shape->radius
                   : shape->kind == POISE_SHAPE_BOX   ? v3_norm(shape->half) + shape->radius
                                                      : INFINITY;
    return placed;
}

static pz_segment segment_of(const pz_placed *capsule)
{
    return (pz_segment){capsule->center, capsule->axes.z, capsule->half.z};
}

static pz_contact contact_turned(pz_contact contact)
{
    static const pz_side other[] = {PZ_SIDE_NONE, PZ_SIDE_B, PZ_SIDE_A};
    vec3 a = contact.a;
    contact.a = contact.b;
    contact.b = a;
    contact.normal = v3_neg(contact.normal);
    contact.face = other[contact.face];
    for (int i = 0; i < contact.slide_count; ++i) {
        contact.slides[i].side = other[contact.slides[i].side];
    }
    return contact;
}

// ---- Segment and segment -------------------------------------------------------------------------------------------------

static void add_slide(pz_contact *contact, pz_side side, vec3 along, double at, double half)
{
    if (fabs(at) < half) {
        contact->slides[contact->slide_count++] = (pz_slide){side, along};
    }
}

static pz_contact segment_segment(const pz_segment *a, const pz_segment *b, double meets)
{
    double s, t, square = pz_nearest_of_segments(a, b, &s, &t);
    vec3 u = a->along, v = b->along;
    pz_contact contact = {.a = v3_mad(a->center, s, u), .b = v3_mad(b->center, t, v)};
    vec3 apart = v3_sub(contact.a, contact.b);
    double gap = v3_norm(apart);
    contact.gap = gap;
    contact.is_smooth = gap > meets;
    if (contact.is_smooth) {
        contact.normal = v3_scale(apart, 1.0 / gap);
        add_slide(&contact, PZ_SIDE_A, u, s, a->half);
        add_slide(&contact, PZ_SIDE_B, v, t, b->half);
    } else {
        contact.normal = square > PZ_PARALLEL ? v3_normalize(v3_cross(u, v)) : v3_across(u);
    }
    return contact;
}

// ---- A segment in the frame of a box (nearest_points.h) ------------------------------------------------------------------

static vec3 column_of(const mat3 *R, int i)
{
    return i == 0 ? R->x : i == 1 ? R->y : R->z;
}

static pz_boxed_segment to_box(const pz_segment *segment, const pz_placed *box)
{
    pz_boxed_segment s = {.half = segment->half};
    v3_store(m3_apply_transposed(&box->axes, v3_sub(segment->center, box->center)), s.p);
    v3_store(m3_apply_transposed(&box->axes, segment->along), s.e);
    v3_store(box->half, s.h);
    return s;
}

// ---- A segment that runs into a box --------------------------------------------------------------------------------------

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
    vec3 x = v3_mad(v3_load(s->p), t, v3_load(s->e)), n = v3_load(best.n);
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
    contact.b = v3_add(box->center, m3_apply(&box->axes, v3_load(on)));
    contact.normal = v3_scale(m3_apply(&box->axes, v3_load(out)), 1.0 / gap);
    contact.a = v3_mad(contact.b, gap, contact.normal);
    if (inside && clamped > 1) {
        contact.slides[contact.slide_count++] = (pz_slide){PZ_SIDE_A, a->along};
    }
    if (clamped == 2) {
        contact.slides[contact.slide_count++] = (pz_slide){PZ_SIDE_B, column_of(&box->axes, free_axis)};
    }
    return contact;
}

static pz_contact segment_box(const pz_segment *a, const pz_placed *box)
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
        vec3 axis = column_of(&box->axes, i);
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
        vec3 u = column_of(&a->axes, i), v = column_of(&b->axes, i);
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
        try_axis(&best, a, b, column_of(&a->axes, i), (box_parting){.face = PZ_SIDE_A});
        try_axis(&best, a, b, column_of(&b->axes, i), (box_parting){.face = PZ_SIDE_B});
    }
    for (int i = 0; i < 9; ++i) {
        vec3 n = v3_cross(column_of(&a->axes, i / 3), column_of(&b->axes, i % 3));
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
        vec3 u = column_of(&a->axes, best->edge_a), across = v3_cross(column_of(&b->axes, best->edge_b), best->n);
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
    vec3 center = v3_mad(box->center, i & 1 ? half[j] : -half[j], column_of(&box->axes, j));
    center = v3_mad(center, i & 2 ? half[k] : -half[k], column_of(&box->axes, k));
    return (pz_segment){center, column_of(&box->axes, along), half[along]};
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
        *nearest = turns ? contact_turned(contact) : contact;
    }
}

static pz_contact box_box(const pz_placed *a, const pz_placed *b)
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

// ---- Above a plane -------------------------------------------------------------------------------------------------------

// A point of a core above the plane of a half-space: d = n . (x - o), smooth everywhere.
static pz_contact above_plane(vec3 x, const pz_placed *plane)
{
    vec3 n = plane->axes.z;
    double gap = v3_dot(n, v3_sub(x, plane->center));
    return (pz_contact){.a = x, .b = v3_mad(x, -gap, n), .normal = n, .gap = gap, .face = PZ_SIDE_B, .is_smooth = true};
}

static int corners_above(const pz_placed *box, const pz_placed *plane, pz_contact *contacts)
{
    const mat3 *R = &box->axes;
    for (int i = 0; i < 8; ++i) {
        vec3 corner = v3_mad(box->center, i & 1 ? box->half.x : -box->half.x, R->x);
        corner = v3_mad(corner, i & 2 ? box->half.y : -box->half.y, R->y);
        corner = v3_mad(corner, i & 4 ? box->half.z : -box->half.z, R->z);
        contacts[i] = above_plane(corner, plane);
    }
    return 8;
}

static int ends_above(const pz_placed *capsule, const pz_placed *plane, pz_contact *contacts)
{
    int count = capsule->half.z > 0 ? 2 : 1;
    for (int i = 0; i < count; ++i) {
        contacts[i] =
            above_plane(v3_mad(capsule->center, i == 0 ? -capsule->half.z : capsule->half.z, capsule->axes.z), plane);
    }
    return count;
}

// ---- Any two -------------------------------------------------------------------------------------------------------------

int pz_contact_count(const poise_shape *a, const poise_shape *b)
{
    if (a->kind != POISE_SHAPE_HALF_SPACE && b->kind != POISE_SHAPE_HALF_SPACE) {
        return 1;
    }
    const poise_shape *other = a->kind == POISE_SHAPE_HALF_SPACE ? b : a;
    return other->kind == POISE_SHAPE_BOX ? 8 : other->half.z > 0 ? 2 : 1;
}

// The kind of a comes first in the enumeration, or is that of b.
static int ordered_contacts(const pz_placed *a, const pz_placed *b, pz_contact *contacts)
{
    if (b->kind == POISE_SHAPE_HALF_SPACE) {
        return a->kind == POISE_SHAPE_BOX ? corners_above(a, b, contacts) : ends_above(a, b, contacts);
    }
    if (a->kind == POISE_SHAPE_BOX) {
        contacts[0] = box_box(a, b);
        return 1;
    }
    pz_segment first = segment_of(a), second = segment_of(b);
    contacts[0] = b->kind == POISE_SHAPE_BOX ? segment_box(&first, b) : segment_segment(&first, &second, a->meets);
    return 1;
}

int pz_contacts(const pz_placed *a, const pz_placed *b, pz_contact contacts[PZ_MOST_CONTACTS])
{
    bool turned = a->kind > b->kind;
    int count = turned ? ordered_contacts(b, a, contacts) : ordered_contacts(a, b, contacts);
    for (int i = 0; i < count; ++i) {
        contacts[i] = turned ? contact_turned(contacts[i]) : contacts[i];
        contacts[i].distance = contacts[i].gap - a->radius - b->radius;
    }
    return count;
}

poise_status poise_distance(const poise_kinematics *kinematics, const poise_shape *a, const poise_shape *b,
                            poise_nearest *nearest, poise_error *error)
{
    if (!kinematics || !nearest) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "kinematics and nearest must not be NULL");
    }
    if (poise_shape_check(a, kinematics->model, error) != POISE_OK ||
        poise_shape_check(b, kinematics->model, error) != POISE_OK) {
        return POISE_ERROR_ARGUMENT;
    }
    if (a->kind == POISE_SHAPE_HALF_SPACE && b->kind == POISE_SHAPE_HALF_SPACE) {
        return pz_error_set(error, POISE_ERROR_UNSUPPORTED, "two half-spaces have no distance");
    }
    pz_placed at = pz_place(kinematics, a), other = pz_place(kinematics, b);
    pz_contact contacts[PZ_MOST_CONTACTS];
    int count = pz_contacts(&at, &other, contacts), least = 0;
    for (int i = 1; i < count; ++i) {
        least = contacts[i].distance < contacts[least].distance ? i : least;
    }
    const pz_contact *c = &contacts[least];
    if (!is_finite(c->distance) || !is_finite(v3_norm(c->normal))) {
        return pz_error_set(error, POISE_ERROR_NUMERIC, "so large, or so far apart, that squares are beyond all numbers");
    }
    *nearest = (poise_nearest){.distance = c->distance,
                               .on_a = v3_add(kinematics->origin, v3_mad(c->a, -at.radius, c->normal)),
                               .on_b = v3_add(kinematics->origin, v3_mad(c->b, other.radius, c->normal)),
                               .normal = c->normal};
    return POISE_OK;
}
