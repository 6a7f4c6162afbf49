// Shapes: constructors, checks, and the distance of two of any kind.
#include "shape/shape.h"

#include "base/error.h"
#include "model/model.h"
#include "num/vector.h"

// ---- Making them ---------------------------------------------------------------------------------------------------------

const char *poise_shape_kind_name(poise_shape_kind kind)
{
    static const char *const names[] = {"capsule", "box", "half_space"};
    return (unsigned)kind < POISE_SHAPE_KIND_COUNT ? names[kind] : "unknown";
}

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

pz_contact pz_contact_turned(pz_contact contact)
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
        contacts[0] = pz_box_box(a, b);
        return 1;
    }
    pz_segment first = segment_of(a), second = segment_of(b);
    contacts[0] = b->kind == POISE_SHAPE_BOX ? pz_segment_box(&first, b) : pz_segment_segment(&first, &second, a->meets);
    return 1;
}

int pz_contacts(const pz_placed *a, const pz_placed *b, pz_contact contacts[PZ_MOST_CONTACTS])
{
    bool turned = a->kind > b->kind;
    int count = turned ? ordered_contacts(b, a, contacts) : ordered_contacts(a, b, contacts);
    for (int i = 0; i < count; ++i) {
        contacts[i] = turned ? pz_contact_turned(contacts[i]) : contacts[i];
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
