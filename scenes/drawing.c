// Drawing whole skeletons.
#include "drawing.h"

#include <poise/retarget.h>

#include <math.h>

static double part(poise_vec3 v, int axis)
{
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

static double dot(poise_vec3 a, poise_vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
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

static int children(const poise_model *model, int body)
{
    int count = 0, end = body + poise_model_joint_info(model, body).subtree;
    for (int k = body + 1; k < end; ++k) {
        count += poise_model_joint_info(model, k).parent == body;
    }
    return count;
}

// A body that carries nothing but the next one, as all above it: a reference that stands on the ground below a figure.
static bool is_carrier(const poise_model *model, int body)
{
    bool carries = true;
    for (int k = body; k != POISE_WORLD && carries; k = poise_model_joint_info(model, k).parent) {
        carries = children(model, k) == 1;
    }
    return carries;
}

// A free joint leaves behind what never moves, and what only carries a figure that branches: what leads there is no bone.
static bool leaves_parent(const poise_model *model, int joint)
{
    poise_joint_info info = poise_model_joint_info(model, joint);
    return info.nv == 6 && info.parent != POISE_WORLD &&
           (is_still(model, info.parent) || (is_carrier(model, info.parent) && children(model, joint) > 1));
}

// What a figure leaves behind: the scene around a character, a reference on the ground.
static bool is_scenery(const poise_model *model, int body)
{
    bool is_left = false, can_be = is_still(model, body) || is_carrier(model, body);
    for (int k = 0; k < poise_model_info(model).joints && !is_left && can_be; ++k) {
        is_left = leaves_parent(model, k) && k != body;
    }
    return is_left;
}

// Points are added as they are, or, with a view, as that sees them.
static void add_skeleton(drawing_box *box, const picture_view *view, const poise_model *model,
                         const poise_kinematics *kinematics)
{
    int joints = poise_model_info(model).joints, tools = poise_model_info(model).tools;
    for (int k = 0; k < joints + tools; ++k) {
        if (k < joints && is_scenery(model, k)) {
            continue;
        }
        poise_vec3 v = k < joints ? poise_kinematics_body_pose(kinematics, k).position
                                  : poise_kinematics_tool_pose(kinematics, k - joints).position;
        drawing_box_add(box, view ? poise_vec3_make(dot(view->right, v), dot(view->up, v), 0) : v);
    }
}

void drawing_box_add_skeleton(drawing_box *box, const poise_model *model, const poise_kinematics *kinematics)
{
    add_skeleton(box, NULL, model, kinematics);
}

void drawing_box_add_seen(drawing_box *box, const picture_view *view, const poise_model *model,
                          const poise_kinematics *kinematics)
{
    add_skeleton(box, view, model, kinematics);
}

// The largest extent of the eight corners in the picture's two directions gives the scale.
void drawing_fit_view(picture_view *view, const drawing_box *box, double x, double y, double width, double height)
{
    double right[2] = {INFINITY, -INFINITY}, above[2] = {INFINITY, -INFINITY};
    for (int corner = 0; corner < 8; ++corner) {
        poise_vec3 c = poise_vec3_make(corner & 1 ? box->most.x : box->least.x, corner & 2 ? box->most.y : box->least.y,
                                       corner & 4 ? box->most.z : box->least.z);
        double r = dot(c, view->right), u = dot(c, view->up);
        right[0] = fmin(right[0], r);
        right[1] = fmax(right[1], r);
        above[0] = fmin(above[0], u);
        above[1] = fmax(above[1], u);
    }
    view->center = poise_vec3_make((box->least.x + box->most.x) / 2, (box->least.y + box->most.y) / 2,
                                   (box->least.z + box->most.z) / 2);
    view->x = x;
    view->y = y;
    double wide = right[1] - right[0], high = above[1] - above[0];
    view->scale = wide > 0 || high > 0 ? fmin(width / fmax(wide, 1e-12), height / fmax(high, 1e-12)) : 100;
}

picture_view drawing_view(const drawing_box *box, poise_vec3 up, double x, double y, double width, double height)
{
    bool is_y = up.y > 0.5; // figures with y up look along +z, robots with z up stand before -y
    picture_view view = picture_look(is_y ? poise_vec3_make(0.55, 0.3, 1) : poise_vec3_make(0.45, -1, 0.35), up);
    drawing_fit_view(&view, box, x, y, width, height);
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

// The body that is a person's head; POISE_NONE: there is none.
static int head_of(const poise_model *model)
{
    poise_clip *neutral = NULL;
    poise_role_map map = {.role[POISE_ROLE_HEAD].from = POISE_NONE};
    if (poise_clip_create(1, poise_model_info(model).nq, 1, NULL, &neutral, NULL) == POISE_OK) {
        poise_retarget_task task = poise_retarget_task_default();
        poise_model_neutral(model, neutral->q);
        task.from = task.to = model;
        task.clip = neutral;
        poise_roles_match(&task, NULL, &map, NULL);
    }
    poise_clip_destroy(neutral);
    return map.role[POISE_ROLE_HEAD].from;
}

static poise_vec3 farther(poise_vec3 from, poise_vec3 a, poise_vec3 b)
{
    return distance(from, a) < distance(from, b) ? b : a;
}

static poise_vec3 between(poise_vec3 a, poise_vec3 b, double share)
{
    return poise_vec3_make(a.x + share * (b.x - a.x), a.y + share * (b.y - a.y), a.z + share * (b.z - a.z));
}

// A head reaches from its joint to what is farthest from there of its tools and the bodies on it, and hides its tools.
static void draw_head(picture *p, const poise_model *model, const poise_kinematics *kinematics, int head, const char *color)
{
    poise_vec3 here = poise_kinematics_body_pose(kinematics, head).position, crown = here;
    for (int k = head + 1; k < head + poise_model_joint_info(model, head).subtree; ++k) {
        crown = farther(here, crown, poise_kinematics_body_pose(kinematics, k).position);
    }
    for (int i = 0; i < poise_model_info(model).tools; ++i) {
        if (poise_model_tool_info(model, i).body == head) {
            crown = farther(here, crown, poise_kinematics_tool_pose(kinematics, i).position);
        }
    }
    double size = distance(here, crown);
    picture_limb(p, between(here, crown, 0.35), 0.27 * size, between(here, crown, 0.65), 0.35 * size, color);
}

void drawing_skeleton(picture *p, const poise_model *model, const poise_kinematics *kinematics, double thickness,
                      const char *bone, const char *joint)
{
    double radius = thickness / fmax(scale_of(p), 1e-12);
    int head = head_of(model);
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
        int body = poise_model_tool_info(model, i).body;
        if (body != head) {
            draw_bone(p, poise_kinematics_body_pose(kinematics, body).position,
                      poise_kinematics_tool_pose(kinematics, i).position, 0.8 * radius, bone);
        }
    }
    if (head != POISE_NONE) {
        draw_head(p, model, kinematics, head, bone);
    }
}

enum { CELLS = 8 }; // of the ground, on its longer side

// A grid of square cells below the box, of the longer side by CELLS cells, with room around the figures.
drawing_box drawing_footprint(const drawing_box *box, poise_vec3 up, double ground)
{
    enum { LEAST_CELLS = 4 };
    int vertical = up.y > 0.5 ? 1 : 2, side[2] = {0, 3 - vertical};
    double size[2], least[3], most[3];
    for (int i = 0; i < 2; ++i) {
        size[i] = part(box->most, side[i]) - part(box->least, side[i]);
    }
    double cell = fmax(size[0], size[1]) / CELLS;
    for (int i = 0; i < 2; ++i) {
        double middle = (part(box->most, side[i]) + part(box->least, side[i])) / 2;
        double cells = fmin(fmax(ceil(size[i] / cell) + 1, LEAST_CELLS), CELLS), half = cells * cell / 2;
        least[side[i]] = middle - (cell > 0 ? half : 0);
        most[side[i]] = middle + (cell > 0 ? half : 0);
    }
    least[vertical] = most[vertical] = ground;
    return (drawing_box){poise_vec3_make(least[0], least[1], least[2]), poise_vec3_make(most[0], most[1], most[2])};
}

void drawing_ground(picture *p, const drawing_box *box, poise_vec3 up, double ground, const char *color)
{
    drawing_box foot = drawing_footprint(box, up, ground);
    int vertical = up.y > 0.5 ? 1 : 2, side[2] = {0, 3 - vertical};
    double cell =
        fmax(part(foot.most, side[0]) - part(foot.least, side[0]), part(foot.most, side[1]) - part(foot.least, side[1])) /
        CELLS;
    for (int i = 0; i < 2 && cell > 0; ++i) { // lines across side i, along the other
        int across = side[i], along = side[1 - i];
        int count = (int)((part(foot.most, across) - part(foot.least, across)) / cell + 0.5);
        for (int k = 0; k <= count; ++k) {
            double from[3] = {0}, to[3] = {0};
            from[across] = to[across] = part(foot.least, across) + k * cell;
            from[along] = part(foot.least, along);
            to[along] = part(foot.most, along);
            from[vertical] = to[vertical] = ground;
            picture_line(p, PICTURE_FLOOR, poise_vec3_make(from[0], from[1], from[2]), poise_vec3_make(to[0], to[1], to[2]),
                         0.8, color, NULL);
        }
    }
}
