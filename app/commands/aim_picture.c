// The picture of the command aim: the posture pale, the answer over it, and where it looks.
#include "aim_print.h"

#include "cli/save.h"
#include "cli/words.h"

#include <math.h>
#include <stdio.h>

enum { MOST_POSES = 9 };

static const char *const bone = "#56748f", *const old_bone = "#d5dde5", *const joint = "#ffffff", *const amber = "#e8a33d",
                         *const red = "#c8452d";

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

// Where the axis should point, from the tip: to the place, along the direction, or as the orientation has it. Unit.
static poise_vec3 asked_direction(const aim_job *job, const aim_target *target, poise_vec3 tip)
{
    poise_vec3 d = target->vector;
    if (target->kind == AIM_ORIENTATION) {
        poise_quat from_body = poise_quat_conjugate(job->end.tip.rotation);
        return poise_quat_rotate(poise_quat_multiply(target->rotation, from_body), job->end.axis);
    }
    if (target->kind == AIM_POINT) {
        d = poise_vec3_make(d.x - tip.x, d.y - tip.y, d.z - tip.z);
    }
    double l = sqrt(d.x * d.x + d.y * d.y + d.z * d.z);
    return l > 0 ? poise_vec3_make(d.x / l, d.y / l, d.z / l) : d;
}

// Where the tip points, in amber; where it should, in red, if it does not.
static void draw_gaze(picture *p, const aim_job *job, const poise_kinematics *kinematics, int index, double far)
{
    const aim_target *target = &job->path.targets[index];
    poise_vec3 tip = poise_kinematics_point(kinematics, job->end.body, job->end.tip.position);
    poise_vec3 axis = poise_kinematics_direction(kinematics, job->end.body, job->end.axis);
    bool misses = !job->results[index].faces;
    if (target->kind == AIM_POINT) {
        poise_vec3 t = target->vector;
        far = sqrt((t.x - tip.x) * (t.x - tip.x) + (t.y - tip.y) * (t.y - tip.y) + (t.z - tip.z) * (t.z - tip.z));
        picture_ring(p, t, 7, misses ? red : amber);
    }
    if (misses) {
        poise_vec3 d = asked_direction(job, target, tip), to = {tip.x + far * d.x, tip.y + far * d.y, tip.z + far * d.z};
        picture_line(p, PICTURE_PAGE, tip, to, 1.5, red, "2 4");
    }
    poise_vec3 to = {tip.x + far * axis.x, tip.y + far * axis.y, tip.z + far * axis.z};
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
        draw_gaze(p, job, kinematics, pose_index(job, i), far);
    }
}

bool aim_save_picture(const aim_job *job, const char *name)
{
    poise_kinematics *kinematics;
    char caption[160];
    double largest = 0;
    int missed = 0;
    for (int i = 0; i < job->path.count; ++i) {
        largest = fmax(largest, job->results[i].angle);
        missed += !job->results[i].faces;
    }
    snprintf(caption, sizeof caption, "%s, %d target%s, %.3f degrees left at most; pale: the posture%s", job->method,
             job->path.count, job->path.count == 1 ? "" : "s", largest * DEGREES_PER_RADIAN,
             missed > 0 ? "; red: asked for and missed" : "");
    picture *p = begin_picture(SKELETON_WIDTH, SKELETON_HEIGHT, "Holding a posture, facing a target", caption, job->model,
                               &kinematics);
    draw(p, job, kinematics);
    return save_picture(p, kinematics, name);
}
