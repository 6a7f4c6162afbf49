// Obstacles as wires: the edges of a box, circles and lines of a capsule, a grid for a half-space.
#include <scenes/drawing.h>

#include <math.h>

#define WIRE 1.1 // pixels

enum { CORNERS = 24, CELLS = 6 };

static const double pi = 3.14159265358979323846;

// A point of the shape's own frame in the world.
static poise_vec3 at(const poise_shape *shape, double x, double y, double z)
{
    return poise_pose_transform(shape->pose, poise_vec3_make(x, y, z));
}

static void wire(picture *p, poise_vec3 a, poise_vec3 b, const char *color)
{
    picture_line(p, PICTURE_SCENE, a, b, WIRE, color, NULL);
}

static void draw_box(picture *p, const poise_shape *box, const char *color)
{
    double x = box->half.x + box->radius, y = box->half.y + box->radius, z = box->half.z + box->radius;
    for (int i = 0; i < 4; ++i) {
        double u = i & 1 ? 1 : -1, v = i & 2 ? 1 : -1;
        wire(p, at(box, -x, u * y, v * z), at(box, x, u * y, v * z), color);
        wire(p, at(box, u * x, -y, v * z), at(box, u * x, y, v * z), color);
        wire(p, at(box, u * x, v * y, -z), at(box, u * x, v * y, z), color);
    }
}

// Both ends of a capsule have a circle across its axis and half a circle over the top in two planes.
static void draw_capsule(picture *p, const poise_shape *capsule, const char *color)
{
    double r = capsule->radius, h = capsule->half.z;
    for (int i = 0; i < CORNERS; ++i) {
        double s0 = r * sin(2 * pi * i / CORNERS), c0 = r * cos(2 * pi * i / CORNERS);
        double s1 = r * sin(2 * pi * (i + 1) / CORNERS), c1 = r * cos(2 * pi * (i + 1) / CORNERS);
        double end = i < CORNERS / 2 ? h : -h; // of the arcs
        wire(p, at(capsule, c0, s0, h), at(capsule, c1, s1, h), color);
        wire(p, at(capsule, c0, 0, end + s0), at(capsule, c1, 0, end + s1), color);
        wire(p, at(capsule, 0, c0, end + s0), at(capsule, 0, c1, end + s1), color);
        if (h > 0) {
            wire(p, at(capsule, c0, s0, -h), at(capsule, c1, s1, -h), color);
        }
    }
    for (int i = 0; i < 4 && h > 0; ++i) {
        double x = i < 2 ? (i == 0 ? r : -r) : 0, y = i < 2 ? 0 : (i == 2 ? r : -r);
        wire(p, at(capsule, x, y, -h), at(capsule, x, y, h), color);
    }
}

// The part of its plane that is below or beside the box.
static void draw_half_space(picture *p, const poise_shape *plane, const drawing_box *box, const char *color)
{
    poise_vec3 middle = poise_pose_transform(
        poise_pose_inverse(plane->pose), poise_vec3_make((box->least.x + box->most.x) / 2, (box->least.y + box->most.y) / 2,
                                                         (box->least.z + box->most.z) / 2));
    double wide = fmax(box->most.x - box->least.x, fmax(box->most.y - box->least.y, box->most.z - box->least.z));
    for (int i = 0; i <= CELLS; ++i) {
        double place = wide * ((double)i / CELLS - 0.5), end = wide / 2, z = plane->radius;
        wire(p, at(plane, middle.x + place, middle.y - end, z), at(plane, middle.x + place, middle.y + end, z), color);
        wire(p, at(plane, middle.x - end, middle.y + place, z), at(plane, middle.x + end, middle.y + place, z), color);
    }
}

void drawing_box_add_obstacle(drawing_box *box, const poise_shape *shape)
{
    double r = shape->radius;
    for (int i = 0; i < 8 && shape->kind != POISE_SHAPE_HALF_SPACE; ++i) {
        drawing_box_add(box, at(shape, (i & 1 ? 1 : -1) * (shape->half.x + r), (i & 2 ? 1 : -1) * (shape->half.y + r),
                                (i & 4 ? 1 : -1) * (shape->half.z + r)));
    }
}

void drawing_obstacle(picture *p, const poise_shape *shape, const drawing_box *box, const char *color)
{
    if (shape->kind == POISE_SHAPE_BOX) {
        draw_box(p, shape, color);
    } else if (shape->kind == POISE_SHAPE_CAPSULE) {
        draw_capsule(p, shape, color);
    } else {
        draw_half_space(p, shape, box, color);
    }
}
