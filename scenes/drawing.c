// Drawing whole skeletons.
#include "drawing.h"

#include <math.h>

static double part(poise_vec3 v, int axis)
{
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

static poise_vec3 unit(int axis)
{
    return poise_vec3_make(axis == 0, axis == 1, axis == 2);
}

// ---- Boxes and views -----------------------------------------------------------------------------------------------------

drawing_box drawing_box_empty(void)
{
    return (drawing_box){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
}

void drawing_box_add(drawing_box *box, poise_vec3 v)
{
    box->least = poise_vec3_make(fmin(box->least.x, v.x), fmin(box->least.y, v.y), fmin(box->least.z, v.z));
    box->most = poise_vec3_make(fmax(box->most.x, v.x), fmax(box->most.y, v.y), fmax(box->most.z, v.z));
}

// A body that never moves.
static bool is_still(const poise_model *model, int body)
{
    bool moves = false;
    for (int k = body; k != POISE_WORLD && !moves; k = poise_model_joint_info(model, k).parent) {
        moves = poise_model_joint_info(model, k).nv > 0;
    }
    return !moves;
}

// A free joint leaves what never moves behind: what leads there is no bone.
static bool leaves_parent(const poise_model *model, int joint)
{
    poise_joint_info info = poise_model_joint_info(model, joint);
    return info.nv == 6 && info.parent != POISE_WORLD && is_still(model, info.parent);
}

// What never moves in a file whose figure is free of it: the scene around a character.
static bool is_scenery(const poise_model *model, int body)
{
    bool is_left = false;
    for (int k = 0; k < poise_model_info(model).joints && !is_left && is_still(model, body); ++k) {
        is_left = leaves_parent(model, k);
    }
    return is_left;
}

void drawing_box_add_skeleton(drawing_box *box, const poise_model *model, const poise_kinematics *kinematics)
{
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        if (!is_scenery(model, k)) {
            drawing_box_add(box, poise_kinematics_body_pose(kinematics, k).position);
        }
    }
    for (int i = 0; i < poise_model_info(model).tools; ++i) {
        drawing_box_add(box, poise_kinematics_tool_pose(kinematics, i).position);
    }
}

// The largest extent of the eight corners in the picture's two directions gives the scale.
picture_view drawing_view(const drawing_box *box, poise_vec3 up, double x, double y, double width, double height)
{
    bool is_y = up.y > 0.5; // figures with y up look along +z, robots with z up stand before -y
    picture_view view = picture_look(is_y ? poise_vec3_make(0.55, 0.3, 1) : poise_vec3_make(0.45, -1, 0.35), up);
    double right[2] = {INFINITY, -INFINITY}, above[2] = {INFINITY, -INFINITY};
    for (int corner = 0; corner < 8; ++corner) {
        poise_vec3 c = poise_vec3_make(corner & 1 ? box->most.x : box->least.x, corner & 2 ? box->most.y : box->least.y,
                                       corner & 4 ? box->most.z : box->least.z);
        double r = c.x * view.right.x + c.y * view.right.y + c.z * view.right.z;
        double u = c.x * view.up.x + c.y * view.up.y + c.z * view.up.z;
        right[0] = fmin(right[0], r);
        right[1] = fmax(right[1], r);
        above[0] = fmin(above[0], u);
        above[1] = fmax(above[1], u);
    }
    view.center = poise_vec3_make((box->least.x + box->most.x) / 2, (box->least.y + box->most.y) / 2,
                                  (box->least.z + box->most.z) / 2);
    view.x = x;
    view.y = y;
    double wide = right[1] - right[0], high = above[1] - above[0];
    view.scale = wide > 0 || high > 0 ? fmin(width / fmax(wide, 1e-12), height / fmax(high, 1e-12)) : 100;
    return view;
}

poise_vec3 drawing_guess_up(const poise_model *model)
{
    poise_kinematics *kinematics = NULL;
    if (poise_kinematics_create(model, NULL, &kinematics, NULL) != POISE_OK) {
        return unit(2);
    }
    drawing_box box = drawing_box_empty();
    drawing_box_add_skeleton(&box, model, kinematics);
    poise_kinematics_destroy(kinematics);
    double size[3];
    for (int axis = 0; axis < 3; ++axis) {
        size[axis] = part(box.most, axis) - part(box.least, axis);
    }
    return unit(size[1] > size[2] && size[1] >= size[0] ? 1 : 2);
}

// ---- Shapes --------------------------------------------------------------------------------------------------------------

static double distance(poise_vec3 a, poise_vec3 b)
{
    return hypot(hypot(a.x - b.x, a.y - b.y), a.z - b.z);
}

static void draw_bone(picture *p, poise_vec3 from, poise_vec3 to, double radius, const char *color)
{
    if (distance(from, to) > 0.1 * radius) {
        picture_limb(p, from, radius, to, 0.7 * radius, color);
    }
}

// Pixels per unit of length of the view that is set.
static double scale_of(const picture *p)
{
    double x[4], y[4];
    picture_project(p, poise_vec3_make(0, 0, 0), &x[3], &y[3]);
    double sum = 0;
    for (int axis = 0; axis < 3; ++axis) {
        picture_project(p, unit(axis), &x[axis], &y[axis]);
        sum += (x[axis] - x[3]) * (x[axis] - x[3]) + (y[axis] - y[3]) * (y[axis] - y[3]);
    }
    return sqrt(sum / 2); // an orthonormal frame in a parallel projection: the squares add up to twice the scale's
}

void drawing_skeleton(picture *p, const poise_model *model, const poise_kinematics *kinematics, double thickness,
                      const char *bone, const char *joint)
{
    double radius = thickness / fmax(scale_of(p), 1e-12);
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        poise_vec3 here = poise_kinematics_body_pose(kinematics, k).position;
        int parent = poise_model_joint_info(model, k).parent;
        if (is_scenery(model, k)) {
            continue;
        }
        if (parent != POISE_WORLD && !leaves_parent(model, k)) {
            draw_bone(p, poise_kinematics_body_pose(kinematics, parent).position, here, radius, bone);
        } else if (poise_model_joint_info(model, k).type == POISE_JOINT_REVOLUTE) {
            draw_bone(p, poise_vec3_make(0, 0, 0), here, radius, bone); // the foot of an arm
        }
        if (poise_model_joint_info(model, k).type != POISE_JOINT_FIXED) {
            double x, y;
            picture_project(p, here, &x, &y);
            picture_page_dot(p, x, y, 0.35 * thickness, joint);
        }
    }
    for (int i = 0; i < poise_model_info(model).tools; ++i) {
        poise_vec3 from = poise_kinematics_body_pose(kinematics, poise_model_tool_info(model, i).body).position;
        draw_bone(p, from, poise_kinematics_tool_pose(kinematics, i).position, 0.8 * radius, bone);
    }
}

void drawing_ground(picture *p, const drawing_box *box, poise_vec3 up, double ground, const char *color)
{
    enum { CELLS = 8 };
    int vertical = up.y > 0.5 ? 1 : 2, a = 0, b = 3 - vertical;
    double size = fmax(part(box->most, a) - part(box->least, a), part(box->most, b) - part(box->least, b));
    double middle_a = (part(box->most, a) + part(box->least, a)) / 2,
           middle_b = (part(box->most, b) + part(box->least, b)) / 2;
    for (int i = 0; i <= CELLS; ++i) {
        double at = size * ((double)i / CELLS - 0.5), end = size * 0.5;
        for (int turn = 0; turn < 2; ++turn) {
            double u[2] = {turn ? at : -end, turn ? at : end}, v[2] = {turn ? -end : at, turn ? end : at};
            poise_vec3 line[2];
            for (int k = 0; k < 2; ++k) {
                double place[3];
                place[a] = middle_a + u[k];
                place[b] = middle_b + v[k];
                place[vertical] = ground;
                line[k] = poise_vec3_make(place[0], place[1], place[2]);
            }
            picture_line(p, PICTURE_FLOOR, line[0], line[1], 0.8, color, NULL);
        }
    }
}
