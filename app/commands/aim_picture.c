// The picture of the command aim: the posture pale, the answer over it, and where it looks.
#include "aim_print.h"

#include "cli/degrees.h"
#include "cli/save_picture.h"

#include <math.h>
#include <stdio.h>

enum { MOST_POSES = 9 };

static const char *const bone = "#56748f", *const old_bone = "#d5dde5", *const joint = "#ffffff", *const amber = "#e8a33d";

static const double *answer(const aim_job *job, int i)
{
    return job->q + (size_t)i * (size_t)poise_model_info(job->model).nq;
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
    show_box(p, job->file, &box, 80);
    double far = 0.15 * fmax(box.most.x - box.least.x, fmax(box.most.y - box.least.y, box.most.z - box.least.z));
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
    poise_kinematics *kinematics;
    char caption[160];
    double largest = 0;
    for (int i = 0; i < job->path.count; ++i) {
        largest = fmax(largest, job->results[i].angle);
    }
    snprintf(caption, sizeof caption, "%s, %d target%s, %.3f degrees left at most; pale: the posture", job->method,
             job->path.count, job->path.count == 1 ? "" : "s", largest * DEGREES_PER_RADIAN);
    picture *p = begin_picture(SKELETON_WIDTH, SKELETON_HEIGHT, "Holding a posture, facing a target", caption, job->model,
                               &kinematics);
    draw(p, job, kinematics);
    return save_picture(p, kinematics, name);
}
