// The picture of poise retarget: poses of the motion on the left, the same of the other skeleton on the right, at one scale.
#include "retarget_parts.h"

#include "cli/save_picture.h"

#include <math.h>

static const char *const from_bones[] = {"#d5dde5", "#56748f"}, *const to_bones[] = {"#f5dfb8", "#d18a1f"};

enum { POSES = 3, WIDTH = 760, HEIGHT = 440, TOP = 90 };

typedef struct pane {
    const poise_model *model;
    const poise_clip *clip;
    poise_kinematics *kinematics;
    drawing_box box;
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
    a.view = drawing_view(&a.box, a.up, x, (HEIGHT + TOP) / 2.0, WIDTH / 2.0 - 60, HEIGHT - TOP - 30);
    return a;
}

// Both stand on one line of the page.
static void draw(picture *p, pane *a, double pixels, const char *const bones[2])
{
    double x, y, ground = a->up.y > 0.5 ? a->box.least.y : a->box.least.z;
    poise_vec3 below = poise_vec3_make(0.5 * (a->box.least.x + a->box.most.x), 0.5 * (a->box.least.y + a->box.most.y),
                                       0.5 * (a->box.least.z + a->box.most.z));
    *(a->up.y > 0.5 ? &below.y : &below.z) = ground;
    a->view.scale = pixels * a->metres;
    picture_set_view(p, &a->view);
    picture_project(p, below, &x, &y);
    a->view.y += HEIGHT - 50 - y;
    picture_set_view(p, &a->view);
    drawing_ground(p, &a->box, a->up, ground, "#e3e8ed");
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
        double pixels = fmin(a.view.scale / a.metres, b.view.scale / b.metres);
        draw(p, &a, pixels, from_bones);
        draw(p, &b, pixels, to_bones);
    }
    poise_kinematics_destroy(of_target);
    return save_picture(p, of_source, name) && works;
}
