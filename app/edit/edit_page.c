// A page about an edit: the figure before and after, when pins hold, and the numbers.
#include "edit/edit_parts.h"
#include "page/page.h"

#include <poise/retarget.h>

// A pin over time: what it changes, where it holds in full, and how far it missed.
static json_node *pin_as_json(const edit_job *job, int i)
{
    const poise_pin_result *r = &job->results[i];
    bool is_foot = i >= job->pins->count;
    const poise_goal *goal = is_foot ? NULL : &job->pins->pins[i].goal;
    return json_make("{s:o, s:i, s:i, s:i, s:i, s:i, s:i, s:f, s:f, s:i}", "text",
                     json_from_text(is_foot ? "a foot that rests" : job->pins->texts[i]), "body",
                     goal ? goal->body : POISE_NONE, "first", r->first, "last", r->last, "held_first", r->held_first,
                     "held_last", r->held_last, "missed", r->missed, "worst_length", r->worst_length, "worst_angle",
                     r->worst_angle, "worst_frame", r->worst_frame);
}

static json_node *pins_as_json(const edit_job *job)
{
    json_node *list = json_new(JSON_ARRAY);
    for (int i = 0; job->results && i < job->pins->count + job->foot_pins; ++i) {
        json_append(list, pin_as_json(job, i));
    }
    return list;
}

// Which bodies are left and right, for their colours.
static void find_roles(const edit_job *job, int body[POISE_ROLE_COUNT])
{
    poise_role_map map;
    poise_retarget_task task = poise_retarget_task_default();
    task.from = task.to = job->file->model;
    task.clip = job->before;
    bool is_found = poise_roles_match(&task, NULL, &map, NULL) == POISE_OK;
    for (int role = 0; role < POISE_ROLE_COUNT; ++role) {
        body[role] = is_found ? map.role[role].from : POISE_NONE;
    }
}

bool edit_save_page(const edit_job *job, const char *name, const arguments *args)
{
    const poise_model *model = job->file->model;
    const poise_clip *clip = job->file->clip;
    int body[POISE_ROLE_COUNT], step = page_step(clip->frames, 2 * poise_model_info(model).joints);
    poise_up up = edit_up(job);
    find_roles(job, body);
    json_node *data = json_make(
        "{s:o, s:i, s:f, s:f, s:i, s:i, s:i, s:f, s:f, s:f, s:f, s:f, s:o}", "motion", json_from_text(page_name(job->input)),
        "frames", clip->frames, "frame_time", clip->frame_time, "metres", job->metres, "changed", job->report.frames,
        "missed", job->report.missed, "snap_frame", job->report.frames > 0 ? job->report.snap_frame : POISE_NONE, "jolt",
        job->report.snap_dof < 0 ? job->report.jolt : 0.0, "turn", job->report.turn, "skate_before",
        job->feet_before.skate_mean, "skate_after", job->feet_after.skate_mean, "mirror_angle", job->mirror.worst_angle,
        "pins", pins_as_json(job));
    json_set(data, "source", page_figure(model, job->before, body, up, "before", step));
    json_set(data, "target", page_figure(model, clip, body, up, "after", step));
    return page_write_pair(data, args, clip->frames, step, name);
}
