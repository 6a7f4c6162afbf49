// The picture of poise solve.
#include "cli/save.h"
#include "solve_parts.h"

#include <stdio.h>

static const char *const bone = "#56748f", *const old_bone = "#d5dde5", *const joint = "#ffffff", *const red = "#d1495b",
                         *const green = "#3c9d6b", *const brown = "#b08d57";

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
    const poise_goal *goal = &job->list->goals[index];
    if (!has_point(goal)) {
        return;
    }
    const char *color = solve_goal_is_met(job, index) ? green : red;
    poise_vec3 from = poise_kinematics_point(kinematics, goal->body, goal->local.position);
    if (goal->kind == POISE_GOAL_CENTER_OF_MASS) {
        poise_kinematics_mass_center(kinematics, &from, NULL);
    }
    picture_ring(p, goal->target.position, 8, color);
    picture_line(p, PICTURE_PAGE, from, goal->target.position, 1.2, color, "5 4");
}

// Obstacle number i, of the file or of --obstacle; NULL: there are fewer.
static const poise_shape *obstacle(const solve_job *job, int i)
{
    const poise_constraint *apart = job->avoided.clearance;
    for (int k = 0; apart && k < apart->shape_count; ++k) {
        if (apart->shapes[k].body == POISE_WORLD && i-- == 0) {
            return &apart->shapes[k];
        }
    }
    return NULL;
}

static void draw(picture *p, const solve_job *job, poise_kinematics *kinematics)
{
    drawing_box box = drawing_box_empty();
    const poise_shape *shape;
    const double *poses[] = {job->start, job->q};
    for (int i = 0; i < 2; ++i) {
        poise_kinematics_update(kinematics, poses[i], NULL);
        drawing_box_add_skeleton(&box, job->model, kinematics);
    }
    for (int i = 0; i < job->list->count; ++i) {
        if (has_point(&job->list->goals[i])) {
            drawing_box_add(&box, job->list->goals[i].target.position);
        }
    }
    for (int i = 0; (shape = obstacle(job, i)); ++i) {
        drawing_box_add_obstacle(&box, shape);
    }
    show_box(p, job->file, &box, 60);
    poise_kinematics_update(kinematics, job->start, NULL);
    drawing_skeleton(p, job->model, kinematics, 5, old_bone, old_bone);
    picture_next_figure(p);
    poise_kinematics_update(kinematics, job->q, NULL);
    for (int i = 0; (shape = obstacle(job, i)); ++i) {
        drawing_obstacle(p, shape, &box, brown);
    }
    drawing_skeleton(p, job->model, kinematics, 7, bone, joint);
    for (int i = 0; i < job->list->count; ++i) {
        draw_goal(p, job, kinematics, i);
    }
}

bool solve_save_picture(const solve_job *job, const char *name)
{
    poise_kinematics *kinematics;
    char caption[160];
    int missed = 0;
    for (int i = 0; i < job->list->count; ++i) {
        missed += !solve_goal_is_met(job, i);
    }
    snprintf(caption, sizeof caption, "%d goal%s, %d missed; pale: the start; rings: where goals are%s", job->list->count,
             job->list->count == 1 ? "" : "s", missed, obstacle(job, 0) ? "; brown: obstacles" : "");
    picture *p = begin_picture(SKELETON_WIDTH, SKELETON_HEIGHT, job->reached ? "Reached" : "The closest pose", caption,
                               job->model, &kinematics);
    draw(p, job, kinematics);
    return save_picture(p, kinematics, name);
}
