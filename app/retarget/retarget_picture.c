// The picture of poise retarget: poses of the motion on the left, the same of the other skeleton on the right, at one scale
// and from one side.
#include "retarget_parts.h"

#include "cli/save.h"

#include <math.h>

static const char *const from_bones[] = {"#d5dde5", "#56748f"}, *const to_bones[] = {"#f5dfb8", "#d18a1f"};

enum { POSES = 3, WIDTH = 760, HEIGHT = 440, TOP = 90, BOTTOM = 40, SIDES = 36, TINY = 4 };

typedef struct pane {
    const poise_model *model;
    const poise_clip *clip;
    poise_kinematics *kinematics;
    drawing_box box;  // in space
    drawing_box seen; // on the page
    poise_vec3 up;
    double metres;
    picture_view view;
} pane;

// Poses from an eighth of the clip to seven eighths of it; the one in the middle is the last to be drawn.
static void pose(pane *a, int i)
{
    static const double share[POSES] = {0.125, 0.875, 0.5};
    int frame = (int)(share[i] * (a->clip->frames - 1));
    poise_kinematics_update(a->kinematics, a->clip->q + (size_t)frame * (size_t)a->clip->nq, NULL);
}

static pane pane_of(const poise_model *model, const poise_clip *clip, poise_up up, double metres,
                    poise_kinematics *kinematics, double x)
{
    pane a = {.model = model, .clip = clip, .kinematics = kinematics, .box = drawing_box_empty()};
    poise_figure figure;
    bool has_figure = poise_model_figure(model, &figure, NULL) == POISE_OK;
    a.up = up == POISE_UP_Y   ? poise_vec3_make(0, 1, 0)
           : up == POISE_UP_Z ? poise_vec3_make(0, 0, 1)
                              : drawing_guess_up(model);
    a.metres = metres > 0 ? metres : has_figure ? figure.metres : 1;
    for (int i = 0; i < POSES; ++i) {
        pose(&a, i);
        drawing_box_add_skeleton(&a.box, model, kinematics);
    }
    a.view = drawing_view(&a.box, a.up, x, 0, 1, 1);
    return a;
}

static double ground_of(const pane *a)
{
    return a->up.y > 0.5 ? a->box.least.y : a->box.least.z;
}

// The corners of the ground, as they are seen.
static void add_ground(pane *a)
{
    drawing_box foot = drawing_footprint(&a->box, a->up, ground_of(a));
    for (int corner = 0; corner < 8; ++corner) {
        poise_vec3 c = poise_vec3_make(corner & 1 ? foot.most.x : foot.least.x, corner & 2 ? foot.most.y : foot.least.y,
                                       corner & 4 ? foot.most.z : foot.least.z);
        poise_vec3 r = a->view.right, u = a->view.up;
        drawing_box_add(&a->seen, poise_vec3_make(r.x * c.x + r.y * c.y + r.z * c.z, u.x * c.x + u.y * c.y + u.z * c.z, 0));
    }
}

// The scale at which all poses and the ground have room.
static double room(pane *a)
{
    a->seen = drawing_box_empty();
    add_ground(a);
    for (int i = 0; i < POSES; ++i) {
        pose(a, i);
        drawing_box_add_seen(&a->seen, &a->view, a->model, a->kinematics);
    }
    double wide = a->seen.most.x - a->seen.least.x, high = a->seen.most.y - a->seen.least.y;
    return fmin((WIDTH / 2.0 - SIDES) / fmax(wide, 1e-12), (HEIGHT - TOP - BOTTOM) / fmax(high, 1e-12));
}

// See a figure from the side that another is seen from; `turn` leads from this one's world to that of the other.
static void look_alike(pane *a, const pane *other, poise_quat turn)
{
    poise_quat back = {-turn.x, -turn.y, -turn.z, turn.w};
    a->view.right = poise_quat_rotate(back, other->view.right);
    a->view.up = poise_quat_rotate(back, other->view.up);
    a->view.toward = poise_quat_rotate(back, other->view.toward);
}

// Both reach down to one line of the page.
static void draw(picture *p, pane *a, double pixels, const char *const bones[2])
{
    a->view.scale = pixels * a->metres;
    a->view.center = poise_vec3_make(0, 0, 0);
    a->view.x -= 0.5 * a->view.scale * (a->seen.least.x + a->seen.most.x);
    a->view.y = HEIGHT - BOTTOM + a->view.scale * a->seen.least.y;
    picture_set_view(p, &a->view);
    drawing_ground(p, &a->box, a->up, ground_of(a), "#e3e8ed");
    for (int i = 0; i < POSES; ++i) {
        bool is_last = i == POSES - 1;
        pose(a, i);
        picture_next_figure(p);
        drawing_skeleton(p, a->model, a->kinematics, is_last ? 4 : 3, bones[is_last], is_last ? "#ffffff" : bones[0]);
    }
}

bool retarget_picture(const retarget_job *j, const char *name)
{
    poise_kinematics *of_source, *of_target;
    poise_file *source = j->skeleton ? j->skeleton : j->motion;
    picture *p = begin_picture(WIDTH, HEIGHT, "One motion, two skeletons", "left: as recorded; right: as retargeted",
                               j->from, &of_source);
    if (poise_kinematics_create(j->target->model, NULL, &of_target, NULL) != POISE_OK) {
        of_target = NULL;
    }
    bool works = of_target != NULL;
    if (works) {
        pane a = pane_of(j->from, j->source, j->outcome.from_up, source->scale.metres, of_source, 0.25 * WIDTH);
        pane b = pane_of(j->target->model, j->clip, j->outcome.to_up, j->target->scale.metres, of_target, 0.75 * WIDTH);
        look_alike(&a, &b, j->outcome.axes);
        double of_a = room(&a) / a.metres, of_b = room(&b) / b.metres, pixels = fmin(of_a, of_b);
        bool is_tiny = fmax(of_a, of_b) > TINY * pixels; // a hand beside a person has a scale of its own
        draw(p, &a, is_tiny ? of_a : pixels, from_bones);
        draw(p, &b, is_tiny ? of_b : pixels, to_bones);
    }
    poise_kinematics_destroy(of_target);
    return save_picture(p, of_source, name) && works;
}
