// The picture of poise solve.
#include "cli/save_picture.h"
#include "solve_parts.h"

#include <scenes/drawing.h>

#include <math.h>
#include <stdio.h>

enum { WIDTH = 760, HEIGHT = 640, TOP = 80, EDGE = 40 };

static const char *const ink = "#2f3b4a", *const pale = "#7b8794", *const bone = "#56748f", *const old_bone = "#d5dde5",
                         *const joint = "#ffffff", *const ground = "#e3e8ed", *const red = "#d1495b",
                         *const green = "#3c9d6b";

static bool has_point(const poise_goal *goal)
{
    switch (goal->kind) {
    case POISE_GOAL_POSITION:
    case POISE_GOAL_POSE:
    case POISE_GOAL_AIM:
    case POISE_GOAL_PLANE:
    case POISE_GOAL_LINE:
    case POISE_GOAL_DISTANCE:
    case POISE_GOAL_CENTER_OF_MASS:
        return true;
    default:
        return false;
    }
}

// A ring where the goal is, and a dashed line to it from the point that should go there.
static void draw_goal(picture *p, const solve_job *job, const poise_kinematics *kinematics, int index)
{
    const poise_goal *goal = &job->list.goals[index];
    if (!has_point(goal)) {
        return;
    }
    const char *color = solve_goal_is_met(job, index) ? green : red;
    poise_vec3 from = poise_kinematics_point(kinematics, goal->body, goal->local.position);
    if (goal->kind == POISE_GOAL_CENTER_OF_MASS) {
        poise_kinematics_mass_center(kinematics, &from);
    }
    picture_ring(p, goal->target.position, 8, color);
    picture_line(p, PICTURE_PAGE, from, goal->target.position, 1.2, color, "5 4");
}

static void draw(picture *p, const solve_job *job, poise_kinematics *kinematics)
{
    poise_up side = job->file->scale.up;
    poise_vec3 up = side == POISE_UP_Y   ? poise_vec3_make(0, 1, 0)
                    : side == POISE_UP_Z ? poise_vec3_make(0, 0, 1)
                                         : drawing_guess_up(job->model);
    drawing_box box = drawing_box_empty();
    const double *poses[] = {job->start, job->q};
    for (int i = 0; i < 2; ++i) {
        poise_kinematics_update(kinematics, poses[i], NULL);
        drawing_box_add_skeleton(&box, job->model, kinematics);
    }
    for (int i = 0; i < job->list.count; ++i) {
        if (has_point(&job->list.goals[i])) {
            drawing_box_add(&box, job->list.goals[i].target.position);
        }
    }
    double *floor = up.y > 0.5 ? &box.least.y : &box.least.z;
    *floor = fmin(*floor, 0);
    picture_view view = drawing_view(&box, up, WIDTH / 2.0, (HEIGHT + TOP) / 2.0, WIDTH - 3 * EDGE, HEIGHT - TOP - 2 * EDGE);
    picture_set_view(p, &view);
    drawing_ground(p, &box, up, *floor, ground);
    poise_kinematics_update(kinematics, job->start, NULL);
    drawing_skeleton(p, job->model, kinematics, 5, old_bone, old_bone);
    picture_next_figure(p);
    poise_kinematics_update(kinematics, job->q, NULL);
    drawing_skeleton(p, job->model, kinematics, 7, bone, joint);
    for (int i = 0; i < job->list.count; ++i) {
        draw_goal(p, job, kinematics, i);
    }
}

bool solve_save_picture(const solve_job *job, const char *name)
{
    picture *p = picture_create(WIDTH, HEIGHT);
    poise_kinematics *kinematics = NULL;
    if (p && poise_kinematics_create(job->model, NULL, &kinematics, NULL) == POISE_OK) {
        char caption[160];
        int missed = 0;
        for (int i = 0; i < job->list.count; ++i) {
            missed += !solve_goal_is_met(job, i);
        }
        snprintf(caption, sizeof caption, "%d goal%s, %d missed; pale: the start; rings: where goals are", job->list.count,
                 job->list.count == 1 ? "" : "s", missed);
        draw(p, job, kinematics);
        picture_text(p, 30, 40, 20, PICTURE_LEFT, ink, job->reached ? "Reached" : "The closest pose");
        picture_text(p, 30, 62, 13, PICTURE_LEFT, pale, caption);
    }
    return save_picture(p, kinematics, name);
}
