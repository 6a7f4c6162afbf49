// The picture of the command aim: the posture pale, the answer over it, and where it looks.
#include "aim_print.h"

#include "cli/joint_names.h"
#include "cli/save_picture.h"

#include <scenes/drawing.h>

#include <math.h>
#include <stdio.h>

enum { WIDTH = 760, HEIGHT = 640, TOP = 80, EDGE = 40, MOST_POSES = 9 };

static const char *const ink = "#2f3b4a", *const pale = "#7b8794", *const bone = "#56748f", *const old_bone = "#d5dde5",
                         *const joint = "#ffffff", *const ground = "#e3e8ed", *const amber = "#e8a33d";

static const double *answer(const aim_job *job, int i)
{
    return job->q + (size_t)i * (size_t)poise_model_nq(job->model);
}

// How many answers of a path are drawn, evenly spread; the last of a closed path is the first again.
static int pose_count(const aim_job *job)
{
    return job->path.count < MOST_POSES ? job->path.count : MOST_POSES;
}

static int pose_index(const aim_job *job, int i)
{
    int n = pose_count(job);
    return n > 1 ? i * (job->path.count - 1) / (n - 1) : 0;
}

// From the tip along the axis, as far as the point that is faced, or `far`.
static void draw_gaze(picture *p, const aim_job *job, const poise_kinematics *kinematics, const aim_target *target,
                      double far)
{
    poise_vec3 tip = poise_kinematics_point(kinematics, job->end.body, job->end.tip.position);
    poise_vec3 axis = poise_kinematics_direction(kinematics, job->end.body, job->end.axis);
    poise_vec3 to = {tip.x + far * axis.x, tip.y + far * axis.y, tip.z + far * axis.z};
    if (target->kind == AIM_POINT) {
        to = target->vector;
        picture_ring(p, to, 7, amber);
    }
    picture_line(p, PICTURE_PAGE, tip, to, 1.5, amber, "5 4");
}

static void draw(picture *p, const aim_job *job, poise_kinematics *kinematics)
{
    poise_up side = job->file->scale.up;
    poise_vec3 up = side == POISE_UP_Y   ? poise_vec3_make(0, 1, 0)
                    : side == POISE_UP_Z ? poise_vec3_make(0, 0, 1)
                                         : drawing_guess_up(job->model);
    drawing_box box = drawing_box_empty();
    poise_kinematics_update(kinematics, job->posture, NULL);
    drawing_box_add_skeleton(&box, job->model, kinematics);
    for (int i = 0; i < pose_count(job); ++i) {
        const aim_target *target = &job->path.targets[pose_index(job, i)];
        poise_kinematics_update(kinematics, answer(job, pose_index(job, i)), NULL);
        drawing_box_add_skeleton(&box, job->model, kinematics);
        if (target->kind == AIM_POINT) {
            drawing_box_add(&box, target->vector);
        }
    }
    double *floor = up.y > 0.5 ? &box.least.y : &box.least.z;
    *floor = fmin(*floor, 0);
    double far = 0.15 * fmax(box.most.x - box.least.x, fmax(box.most.y - box.least.y, box.most.z - box.least.z));
    picture_view view = drawing_view(&box, up, WIDTH / 2.0, (HEIGHT + TOP) / 2.0, WIDTH - 4 * EDGE, HEIGHT - TOP - 3 * EDGE);
    picture_set_view(p, &view);
    drawing_ground(p, &box, up, *floor, ground);
    poise_kinematics_update(kinematics, job->posture, NULL);
    drawing_skeleton(p, job->model, kinematics, 5, old_bone, old_bone);
    for (int i = 0; i < pose_count(job); ++i) {
        picture_next_figure(p);
        poise_kinematics_update(kinematics, answer(job, pose_index(job, i)), NULL);
        drawing_skeleton(p, job->model, kinematics, job->is_path ? 5 : 7, bone, joint);
        draw_gaze(p, job, kinematics, &job->path.targets[pose_index(job, i)], far);
    }
}

bool aim_save_picture(const aim_job *job, const char *name)
{
    picture *p = picture_create(WIDTH, HEIGHT);
    poise_kinematics *kinematics = NULL;
    if (p && poise_kinematics_create(job->model, NULL, &kinematics, NULL) == POISE_OK) {
        char caption[160];
        double largest = 0;
        for (int i = 0; i < job->path.count; ++i) {
            largest = fmax(largest, job->results[i].angle);
        }
        snprintf(caption, sizeof caption, "%s, %d target%s, %.3f degrees left at most; pale: the posture", job->method,
                 job->path.count, job->path.count == 1 ? "" : "s", largest * DEGREES_PER_RADIAN);
        draw(p, job, kinematics);
        picture_text(p, 30, 40, 20, PICTURE_LEFT, ink, "Holding a posture, facing a target");
        picture_text(p, 30, 62, 13, PICTURE_LEFT, pale, caption);
    }
    return save_picture(p, kinematics, name);
}
