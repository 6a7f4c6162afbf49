// The picture of poise edit: the paths of the bodies that were pinned, before and after, with a pose of the middle.
#include "cli/save.h"
#include "edit/edit_parts.h"

#include <math.h>
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

// Does a pin miss its place in a frame that it holds? As far as a picture shows; keys are shown missed all along.
static bool is_missed(const edit_job *job, poise_kinematics *kinematics, int i, poise_vec3 at)
{
    const double seen = 1e-3; // of the skeleton
    const poise_pin *pin = &job->pins->pins[i];
    const poise_pin_result *r = &job->results[i];
    bool is_place = pin->goal.kind == POISE_GOAL_POSITION || pin->goal.kind == POISE_GOAL_POSE;
    if (r->missed == 0 || !is_place || pin->key_count > 0 || pin->target == POISE_PIN_PATH) {
        return r->missed > 0;
    }
    poise_vec3 to = pin->target == POISE_PIN_HERE ? place_of(kinematics, job->before, r->held_first, &pin->goal)
                                                  : pin->goal.target.position;
    return sqrt((at.x - to.x) * (at.x - to.x) + (at.y - to.y) * (at.y - to.y) + (at.z - to.z) * (at.z - to.z)) >
           seen * r->size;
}

static poise_vec3 between(poise_vec3 a, poise_vec3 b, double share)
{
    return poise_vec3_make(a.x + share * (b.x - a.x), a.y + share * (b.y - a.y), a.z + share * (b.z - a.z));
}

// A piece of a dashed line of which `*done` pixels are behind. Dashes go on from piece to piece, however short.
static void draw_dashed(picture *p, poise_vec3 a, poise_vec3 b, double *done)
{
    const double dash = 4, period = 9;
    double x[2], y[2];
    picture_project(p, a, &x[0], &y[0]);
    picture_project(p, b, &x[1], &y[1]);
    double length = hypot(x[1] - x[0], y[1] - y[0]), end = *done + length;
    for (double start = period * floor(*done / period); start < end && length > 0; start += period) {
        double from = (fmax(start, *done) - *done) / length, to = (fmin(start + dash, end) - *done) / length;
        if (from < to) {
            picture_line(p, PICTURE_PAGE, between(a, b, from), between(a, b, to), 2, old_path, NULL);
        }
    }
    *done = end;
}

static void draw_path(picture *p, const edit_job *job, poise_kinematics *kinematics, int i)
{
    const poise_goal *goal = &job->pins->pins[i].goal;
    const poise_pin_result *r = &job->results[i];
    int first, last;
    double dashed = 0;
    range_of(job, i, &first, &last);
    poise_vec3 old = place_of(kinematics, job->before, first, goal),
               now = place_of(kinematics, job->file->clip, first, goal);
    for (int f = first + 1; f <= last; ++f) {
        poise_vec3 old_next = place_of(kinematics, job->before, f, goal);
        poise_vec3 next = place_of(kinematics, job->file->clip, f, goal);
        bool is_held = f > r->held_first && f <= r->held_last;
        draw_dashed(p, old, old_next, &dashed);
        picture_line(p, PICTURE_PAGE, now, next, is_held ? 3.5 : 2,
                     is_held && is_missed(job, kinematics, i, next) ? red : amber, NULL);
        old = old_next;
        now = next;
    }
    if (r->held_last >= r->held_first) {
        now = place_of(kinematics, job->file->clip, r->held_first, goal);
        picture_ring(p, now, 7, is_missed(job, kinematics, i, now) ? red : amber);
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
    shown.scale.up = edit_up(job);
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
