// The picture of poise edit: the paths of the bodies that were pinned, before and after, with a pose of the middle.
#include "cli/save_picture.h"
#include "edit/edit_parts.h"

#include <stdio.h>

static const char *const bone = "#56748f", *const old_bone = "#d5dde5", *const joint = "#ffffff", *const amber = "#e8a33d",
                         *const old_path = "#9aa7b4", *const red = "#c8452d";

static const double *row(const poise_clip *clip, int frame)
{
    return clip->q + (size_t)frame * (size_t)clip->nq;
}

static bool has_body(const poise_goal *goal)
{
    return goal->kind != POISE_GOAL_POSTURE && goal->kind != POISE_GOAL_SMOOTHNESS &&
           goal->kind != POISE_GOAL_CENTER_OF_MASS;
}

static poise_vec3 place_of(poise_kinematics *kinematics, const poise_clip *clip, int frame, const poise_goal *goal)
{
    poise_kinematics_update(kinematics, row(clip, frame), NULL);
    return poise_kinematics_point(kinematics, goal->body, goal->local.position);
}

// The frames that a pin changes, and a little around them.
static void range_of(const edit_job *job, int i, int *first, int *last)
{
    const poise_pin_result *r = &job->results[i];
    int more = (r->last - r->first) / 4 + 2, end = job->before->frames - 1;
    *first = r->first - more > 0 ? r->first - more : 0;
    *last = r->last + more < end ? r->last + more : end;
}

static void draw_path(picture *p, const edit_job *job, poise_kinematics *kinematics, int i)
{
    const poise_goal *goal = &job->pins->pins[i].goal;
    const poise_pin_result *r = &job->results[i];
    int first, last;
    range_of(job, i, &first, &last);
    poise_vec3 old = place_of(kinematics, job->before, first, goal),
               now = place_of(kinematics, job->file->clip, first, goal);
    for (int f = first + 1; f <= last; ++f) {
        poise_vec3 old_next = place_of(kinematics, job->before, f, goal);
        poise_vec3 next = place_of(kinematics, job->file->clip, f, goal);
        bool is_held = f > r->held_first && f <= r->held_last;
        picture_line(p, PICTURE_PAGE, old, old_next, 1.5, old_path, "4 3");
        picture_line(p, PICTURE_PAGE, now, next, is_held ? 3.5 : 2, is_held && r->missed > 0 ? red : amber, NULL);
        old = old_next;
        now = next;
    }
    if (r->held_last >= r->held_first) {
        picture_ring(p, place_of(kinematics, job->file->clip, r->held_first, goal), 7, r->missed > 0 ? red : amber);
    }
}

// The skeleton in the middle of the first pin that has a body, before and after.
static int middle_frame(const edit_job *job)
{
    for (int i = 0; job->results && i < job->pins->count; ++i) {
        const poise_pin_result *r = &job->results[i];
        if (r->held_last >= r->held_first && job->pins->pins[i].target != POISE_PIN_PATH) {
            return (r->held_first + r->held_last) / 2;
        }
    }
    return job->before->frames / 2;
}

static void draw(picture *p, const edit_job *job, poise_kinematics *kinematics)
{
    const poise_model *model = job->file->model;
    drawing_box box = drawing_box_empty();
    int middle = middle_frame(job), first, last;
    poise_file shown = *job->file; // upright, where the file does not say what that is
    poise_figure figure;
    if (shown.scale.up == POISE_UP_UNKNOWN && poise_model_figure(model, &figure, NULL) == POISE_OK) {
        shown.scale.up = figure.up;
    }
    for (int i = 0; job->results && i < job->pins->count; ++i) {
        range_of(job, i, &first, &last);
        for (int f = first; has_body(&job->pins->pins[i].goal) && f <= last; ++f) {
            drawing_box_add(&box, place_of(kinematics, job->before, f, &job->pins->pins[i].goal));
        }
    }
    const poise_clip *both[] = {job->before, job->file->clip};
    for (int k = 0; k < 2; ++k) {
        poise_kinematics_update(kinematics, row(both[k], middle), NULL);
        drawing_box_add_skeleton(&box, model, kinematics);
    }
    show_box(p, &shown, &box, 70);
    poise_kinematics_update(kinematics, row(job->before, middle), NULL);
    drawing_skeleton(p, model, kinematics, 4, old_bone, old_bone);
    picture_next_figure(p);
    poise_kinematics_update(kinematics, row(job->file->clip, middle), NULL);
    drawing_skeleton(p, model, kinematics, 6, bone, joint);
    for (int i = 0; job->results && i < job->pins->count; ++i) {
        if (has_body(&job->pins->pins[i].goal)) {
            draw_path(p, job, kinematics, i);
        }
    }
}

bool edit_save_picture(const edit_job *job, const char *name)
{
    poise_kinematics *kinematics;
    char caption[160];
    snprintf(caption, sizeof caption, "frame %d; dashed: the path before, amber: after, thick: pinned%s", middle_frame(job),
             job->report.missed > 0 ? "; red: missed" : "");
    picture *p =
        begin_picture(SKELETON_WIDTH, SKELETON_HEIGHT, "Before and after the edit", caption, job->file->model, &kinematics);
    draw(p, job, kinematics);
    return save_picture(p, kinematics, name);
}
