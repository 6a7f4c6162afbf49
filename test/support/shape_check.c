#include "support/shape_check.h"

#include <math.h>

typedef struct core {
    const poise_shape *shape;
    double R[9], p[3]; // world frame, R row-major
} core;

static core core_of(const poise_kinematics *kinematics, const poise_shape *shape)
{
    poise_pose body = poise_pose_identity();
    if (shape->body != POISE_WORLD) {
        body = poise_kinematics_body_pose(kinematics, shape->body);
    }
    poise_pose pose = poise_pose_multiply(body, shape->pose);
    core c = {.shape = shape, .p = {pose.position.x, pose.position.y, pose.position.z}};
    poise_quat_to_matrix(pose.rotation, c.R);
    return c;
}

// The point of a core for local coordinates.
static void to_world(const core *c, const double x[3], double out[3])
{
    for (int i = 0; i < 3; ++i) {
        out[i] = c->p[i] + c->R[3 * i] * x[0] + c->R[3 * i + 1] * x[1] + c->R[3 * i + 2] * x[2];
    }
}

static double clamped(double x, double most)
{
    return x < -most ? -most : x > most ? most : x;
}

// The point of a core next to x.
static void project(const core *c, const double x[3], double out[3])
{
    double local[3];
    for (int i = 0; i < 3; ++i) {
        local[i] = c->R[i] * (x[0] - c->p[0]) + c->R[3 + i] * (x[1] - c->p[1]) + c->R[6 + i] * (x[2] - c->p[2]);
    }
    if (c->shape->kind == POISE_SHAPE_HALF_SPACE) {
        local[2] = local[2] < 0 ? local[2] : 0;
    } else {
        local[0] = clamped(local[0], c->shape->half.x);
        local[1] = clamped(local[1], c->shape->half.y);
        local[2] = clamped(local[2], c->shape->half.z);
    }
    to_world(c, local, out);
}

static double apart(const double a[3], const double b[3])
{
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}

static double from_segment(const core *segment, double t, const core *other)
{
    double x[3], y[3];
    to_world(segment, (double[3]){0, 0, t}, x);
    project(other, x, y);
    return apart(x, y);
}

// The distance to a convex core is convex along the segment: golden section.
static double along_segment(const core *segment, const core *other)
{
    const double golden = 0.6180339887498949;
    double lower = -segment->shape->half.z, upper = -lower, least = INFINITY;
    for (int i = 0; i < 100; ++i) {
        double s = upper - golden * (upper - lower), t = lower + golden * (upper - lower);
        double at_s = from_segment(segment, s, other), at_t = from_segment(segment, t, other);
        least = fmin(least, fmin(at_s, at_t));
        if (at_s < at_t) {
            upper = t;
        } else {
            lower = s;
        }
    }
    return fmin(least, fmin(from_segment(segment, segment->shape->half.z, other),
                            from_segment(segment, -segment->shape->half.z, other)));
}

// Projections in turn come to the nearest points of two convex sets.
static double in_turn(const core *a, const core *b)
{
    double x[3] = {a->p[0], a->p[1], a->p[2]}, y[3], before = INFINITY, now = 0;
    for (int i = 0; i < 200000 && (i % 100 != 1 || before - now > 1e-15); ++i) {
        before = i % 100 == 0 ? now : before;
        project(b, x, y);
        project(a, y, x);
        now = apart(x, y);
        before = i == 0 ? INFINITY : before;
    }
    return now;
}

// The signed height of the lowest point of a core above a plane.
static double above(const core *c, const core *plane)
{
    double height = 0, n[3] = {plane->R[2], plane->R[5], plane->R[8]};
    const double half[3] = {c->shape->half.x, c->shape->half.y, c->shape->half.z};
    for (int i = 0; i < 3; ++i) {
        height += n[i] * (c->p[i] - plane->p[i]);
    }
    for (int j = 0; j < 3; ++j) {
        height -= half[j] * fabs(n[0] * c->R[j] + n[1] * c->R[3 + j] + n[2] * c->R[6 + j]);
    }
    return height;
}

double checked_distance(const poise_kinematics *kinematics, const poise_shape *a, const poise_shape *b)
{
    core first = core_of(kinematics, a), second = core_of(kinematics, b);
    double radii = a->radius + b->radius;
    if (a->kind == POISE_SHAPE_HALF_SPACE || b->kind == POISE_SHAPE_HALF_SPACE) {
        return (b->kind == POISE_SHAPE_HALF_SPACE ? above(&first, &second) : above(&second, &first)) - radii;
    }
    if (a->kind == POISE_SHAPE_CAPSULE || b->kind == POISE_SHAPE_CAPSULE) {
        bool first_is_segment = a->kind == POISE_SHAPE_CAPSULE;
        return along_segment(first_is_segment ? &first : &second, first_is_segment ? &second : &first) - radii;
    }
    return in_turn(&first, &second) - radii;
}

static poise_vec3 within(scene_random *random, double size)
{
    double x = scene_random_uniform(random), y = scene_random_uniform(random), z = scene_random_uniform(random);
    return poise_vec3_make(size * (2 * x - 1), size * (2 * y - 1), size * (2 * z - 1));
}

poise_shape random_shape(scene_random *random, poise_shape_kind kind, int body, double size)
{
    poise_vec3 at = within(random, 0.3 * size), turn = within(random, 1), half = within(random, 0.4 * size);
    poise_shape shape = {
        .kind = kind, .body = body, .pose = {poise_quat_from_axis_angle(turn, 3 * scene_random_uniform(random)), at}};
    shape.radius = 0.2 * size * scene_random_uniform(random) * (scene_random_uniform(random) < 0.7);
    if (kind == POISE_SHAPE_BOX) {
        shape.half = poise_vec3_make(0.05 * size + fabs(half.x), 0.05 * size + fabs(half.y), 0.05 * size + fabs(half.z));
    } else if (kind == POISE_SHAPE_CAPSULE) {
        shape.half.z = scene_random_uniform(random) < 0.15 ? 0 : fabs(half.z);
    } else {
        shape.pose.rotation = poise_quat_from_axis_angle(turn, 0.5);
    }
    return shape;
}
