// poise edit: goals over time and other changes to a motion: the picture, the words, the page, then the command.
#include "cli/command.h"
#include <poise/io.h>
#include <poise/poise.h>
#include <poise/retarget.h>

#include "cli/files.h"
#include "cli/json.h"
#include "cli/load.h"
#include "cli/terminal.h"
#include "cli/words.h"
#include "commands/commands.h"
#include "page/page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { EDIT_FINDINGS = 64 };

typedef struct edit_job {
    const char *input;
    poise_file *file;              // with the model and the clip that is edited
    poise_file *skeleton;          // NULL: where the model came from
    poise_clip *before;            // as it was when pins and feet began: what the picture shows
    double metres;                 // of a unit of length; 0: not known
    poise_mirror_report mirror;    // --mirror
    poise_clip_travel travel;      // --loop: from one repetition to the next
    poise_feet_report feet_before; // --clean-feet: as they were,
    poise_feet_report feet_after;  // and as they are
    int foot_pins;                 // contacts that are pinned; the last of the results
    poise_pin_list *pins;          // NULL: none
    poise_pin_result *results;     // of each
    poise_pin_report report;       // of all
    poise_thresholds thresholds;   // --threshold
    poise_verdict verdict;         // on pins and feet; there are none without results
    poise_finding findings[EDIT_FINDINGS];
    bool sees_overlaps; // the skeleton has shapes
} edit_job;

// The axis that points up: by the file, by the figure in the clip, or by the neutral pose.
static poise_up edit_up(const edit_job *job)
{
    poise_figure figure = {.up = POISE_UP_UNKNOWN};
    poise_up up = job->file->scale.up;
    up = up != POISE_UP_UNKNOWN ? up : poise_clip_up(job->file->model, job->file->clip);
    poise_model_figure(job->file->model, &figure, NULL);
    return up != POISE_UP_UNKNOWN ? up : figure.up;
}

// ---- The picture of poise edit: the paths of the bodies that were pinned, before and after, with a pose of the middle ----

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

// Draw the path of the bodies that were edited, before and after.
static bool edit_save_picture(const edit_job *job, const char *name)
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

// ---- What poise edit prints ----------------------------------------------------------------------------------------------

// A length in millimetres, or metres from one metre on, where the unit is known, else as it is.
static void put_length(const edit_job *job, double length, char text[48])
{
    double mm = length * job->metres * 1000;
    if (!(job->metres > 0)) {
        snprintf(text, 48, "%.3g", length);
    } else if (mm < 999.5) {
        snprintf(text, 48, mm < 1e-3 ? "%.1g mm" : "%.3g mm", mm < 1e-6 ? 0.0 : mm); // rounding is said as 0
    } else {
        snprintf(text, 48, mm < 999500 ? "%.3g m" : "%.0f m", 1e-3 * mm);
    }
}

static double time_of(const edit_job *job, int frame)
{
    return job->before->start_time + frame * job->before->frame_time;
}

static const char *dof_name(const poise_model *model, int dof)
{
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        poise_joint_info info = poise_model_joint_info(model, k);
        if (dof >= info.v && dof < info.v + info.nv) {
            return info.body;
        }
    }
    return "?";
}

// A length, an angle, or both: what the goal is about.
static void put_error(const edit_job *job, double length, double angle, bool has_length, bool has_angle, char text[96])
{
    char own[48] = "";
    if (has_length) {
        put_length(job, length, own);
    }
    if (has_angle) {
        double degrees = angle * DEGREES_PER_RADIAN;
        snprintf(text, 96, degrees < 1e-3 ? "%s%s%.1g degrees" : "%s%s%.3g degrees", own, has_length ? ", " : "", degrees);
    } else {
        snprintf(text, 96, "%s", own);
    }
}

static void print_pin(const edit_job *job, int i)
{
    const poise_pin_result *r = &job->results[i];
    char after[96], before[96];
    bool has_angle = r->worst_angle > 0 || r->before_angle > 0;
    bool has_length = r->worst_length > 0 || r->before_length > 0 || !has_angle;
    put_error(job, r->worst_length, r->worst_angle, has_length, has_angle, after);
    put_error(job, r->before_length, r->before_angle, has_length, has_angle, before);
    print_line(stdout, 2, "%s", job->pins->texts[i]);
    if (r->held_last < r->held_first) {
        printf("  holds in no frame\n");
        return;
    }
    char range[96];
    snprintf(range, sizeof range, "  holds in frames %d to %d, fades from %d to %d", r->held_first, r->held_last, r->first,
             r->last);
    if (r->missed > 0) {
        print_line(stdout, 4, "%s: MISSED in %d of %d frames, worst %s at frame %d (%.3f s)", range, r->missed,
                   r->held_last - r->held_first + 1, after, r->worst_frame, time_of(job, r->worst_frame));
    } else {
        print_line(stdout, 4, "%s: within %s (%s before)", range, after, before);
    }
}

static void print_report(const edit_job *job)
{
    const poise_pin_report *r = &job->report;
    const poise_model *model = job->file->model;
    char length[48];
    if (r->turn_dof >= 0) {
        print_line(stdout, 2, "%d of %d frames changed, at most by %.1f degrees (%s, frame %d)", r->frames,
                   job->before->frames, r->turn * DEGREES_PER_RADIAN, dof_name(model, r->turn_dof), r->turn_frame);
    } else {
        printf("%d of %d frames changed\n", r->frames, job->before->frames);
    }
    if (r->kept > 0) {
        put_length(job, r->kept_length, length);
        printf("%s kept on %s path, within %s\n", r->kept == 1 ? "1 foot" : "2 feet", r->kept == 1 ? "its" : "their",
               length);
    }
    if (r->widened > 0) {
        print_line(stdout, 2, "%d coordinates were outside their limits before and are no further outside now", r->widened);
    }
    if (r->snap_frame >= 0 && r->snap_dof < 0) {
        put_length(job, r->jolt, length);
        print_line(stdout, 2,
                   "DOUBTFUL: %s jolts by %s at frame %d (%.3f s), more than before: contacts there are short, or far apart",
                   poise_model_joint_info(model, r->jolt_body).body, length, r->snap_frame, time_of(job, r->snap_frame));
    } else if (r->snap_frame >= 0) {
        print_line(stdout, 2, "DOUBTFUL: %s snaps at frame %d (%.3f s): a longer fade, or a nearer place, is smoother",
                   dof_name(model, r->snap_dof), r->snap_frame, time_of(job, r->snap_frame));
    }
}

// Feet, as they were and as they are.
static void print_feet(const edit_job *job)
{
    const poise_feet_report *a = &job->feet_before, *b = &job->feet_after;
    char mean[48], worst[48], now[48];
    put_length(job, a->skate_mean, mean);
    put_length(job, a->skate_worst, worst);
    put_length(job, b->skate_worst, now);
    print_line(stdout, 2,
               "feet: %d contact%s, %d frames of both feet together; they slipped at %s/s, at most at %s/s; now at most at "
               "%s/s",
               a->contacts, a->contacts == 1 ? "" : "s", a->frames + a->contacts, mean, worst, now);
    for (int i = job->pins->count; i < job->pins->count + job->foot_pins; ++i) {
        const poise_pin_result *r = &job->results[i];
        if (r->missed > 0) {
            put_length(job, r->worst_length, mean);
            print_line(stdout, 4, "  MISSED: the contact of frames %d to %d, by %s at frame %d (%.3f s)", r->held_first,
                       r->held_last, mean, r->worst_frame, time_of(job, r->worst_frame));
        }
    }
}

#define ROUNDING 1e-9 // radians: said as 0
#define MIRRORED 1e-3 // radians that a body may be off in the mirror
#define PLACED   0.05 // of the skeleton's size: the same of its place
#define EQUAL    1e-3 // of the skeleton's size: sides that differ by less are the same

// Did the mirror miss: a body by its rotation, or by its place?
static bool edit_mirror_is_off(const edit_job *job)
{
    return job->mirror.worst_angle > MIRRORED || job->mirror.worst_length > PLACED * job->mirror.size;
}

static void print_mirror(const edit_job *job)
{
    const poise_mirror_report *m = &job->mirror;
    const poise_model *model = job->file->model;
    char far[48];
    put_length(job, m->worst_length, far);
    printf("mirrored: %d pairs of bodies, within %.2g degrees and %s\n", m->pairs,
           m->worst_angle < ROUNDING ? 0.0 : m->worst_angle * DEGREES_PER_RADIAN, far);
    if (m->worst_angle > MIRRORED && m->worst_body >= 0) {
        print_line(
            stdout, 2,
            "MISSED: \"%s\" at frame %d (%.3f s): its joints cannot do in the mirror what those of the other side did",
            poise_model_joint_info(model, m->worst_body).body, m->worst_frame, time_of(job, m->worst_frame));
    } else if (m->worst_length > EQUAL * m->size) {
        print_line(stdout, 2,
                   "%sthe sides of the skeleton differ: \"%s\" is farthest from its mirror image, at frame %d (%.3f s)",
                   edit_mirror_is_off(job) ? "DOUBTFUL: " : "", poise_model_joint_info(model, m->worst_length_body).body,
                   m->worst_length_frame, time_of(job, m->worst_length_frame));
    }
}

#define TURNS 0.02 // radians: a loop that turns by more is said to

// A loop whose next repetition begins elsewhere: that is part of the motion, and players differ in what they do with it.
static void print_travel(const edit_job *job)
{
    char length[48];
    put_length(job, job->travel.length, length);
    if (fabs(job->travel.turn) > TURNS) {
        print_line(stdout, 2,
                   "loop: each repetition turns by %.1f degrees about %s and ends %s from where it began; a player that "
                   "starts again in the same place snaps back by that much",
                   job->travel.turn * DEGREES_PER_RADIAN, up_name(edit_up(job)), length);
    }
}

// Print what was done, and the files that were written; NULL: none. False when standard output is broken.
static bool edit_print_text(const edit_job *job, const char *const files[], int count)
{
    if (job->mirror.pairs > 0) {
        print_mirror(job);
    }
    print_travel(job);
    for (int i = 0; job->results && i < job->pins->count; ++i) {
        print_pin(job, i);
    }
    if (job->foot_pins > 0) {
        print_feet(job);
    }
    if (job->results) {
        print_report(job);
        verdict_print(&job->verdict, job->findings, stdout);
        if (!job->sees_overlaps) {
            print_fact(stdout, "not checked", "overlaps of bodies: the skeleton has no collision shapes", false);
        }
    } else {
        printf("%d frame%s, %.3f s\n", job->before->frames, job->before->frames == 1 ? "" : "s",
               job->before->frames * job->before->frame_time);
    }
    print_written(files, count, stdout);
    return fflush(stdout) == 0;
}

static json_node *json_of_pin(const edit_job *job, int i)
{
    const poise_pin_result *r = &job->results[i];
    return json_make("{s:o, s:i, s:i, s:i, s:i, s:i, s:f, s:f, s:o, s:f, s:f}", "pin", json_from_text(job->pins->texts[i]),
                     "first", r->first, "last", r->last, "held_first", r->held_first, "held_last", r->held_last, "missed",
                     r->missed, "worst_length", r->worst_length, "worst_angle", r->worst_angle, "worst_frame",
                     r->worst_frame >= 0 ? json_from_integer(r->worst_frame) : json_new(JSON_NULL), "before_length",
                     r->before_length, "before_angle", r->before_angle);
}

// What was not measured is null.
static json_node *json_of_verdict(const edit_job *job)
{
    return verdict_as_json(&job->verdict, job->findings, job->sees_overlaps ? VERDICT_OF_EDIT : VERDICT_OF_BARE_EDIT);
}

static bool edit_print_json(const edit_job *job, const char *output)
{
    const poise_pin_report *r = &job->report;
    json_node *pins = json_new(JSON_ARRAY);
    for (int i = 0; job->results && i < job->pins->count; ++i) {
        json_append(pins, json_of_pin(job, i));
    }
    json_node *o = json_make(
        "{s:o, s:o, s:i, s:i, s:i, s:i, s:f, s:i, s:f, s:i, s:[f, f], s:[f, f], s:o, s:f, s:f, s:f, s:o}", "input",
        json_from_text(job->input), "output", json_from_text(output), "frames", job->before->frames, "changed", r->frames,
        "missed", r->missed, "kept_feet", r->kept, "kept_length", r->kept_length, "limits_widened", r->widened,
        "largest_turn", r->turn, "foot_contacts", job->foot_pins, "skate_before", job->feet_before.skate_mean,
        job->feet_before.skate_worst, "skate_after", job->feet_after.skate_mean, job->feet_after.skate_worst, "snap_frame",
        r->frames > 0 && r->snap_frame >= 0 ? json_from_integer(r->snap_frame) : json_new(JSON_NULL), "jolt", r->jolt,
        "loop_turn", job->travel.turn, "loop_travel", job->travel.length, "pins", pins);
    json_set(o, "verdict", job->results ? json_of_verdict(job) : json_new(JSON_NULL));
    return json_print(o);
}

// ---- The page: the figure before and after, when pins hold, and the numbers ----------------------------------------------

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

// A page that plays both, with the pins over time.
static bool edit_save_page(const edit_job *job, const char *name, const arguments *args)
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

// ---- poise edit: goals over time, and other changes to a motion ----------------------------------------------------------

// ---- Pins ----------------------------------------------------------------------------------------------------------------

// A posture by its name in the file, or from another file; poise_goal_words.posture.
static bool find_posture(const void *user, const char *name, double *q, poise_error *error)
{
    complain_to(error->text, sizeof error->text);
    bool works = load_posture(user, name, q);
    complain_to(NULL, 0);
    return works;
}

static poise_goal_words words_of(const edit_job *job)
{
    return (poise_goal_words){.model = job->file->model, .posture = find_posture, .user = job->file};
}

static bool add_text(edit_job *job, const char *text)
{
    poise_error error;
    poise_goal_words words = words_of(job);
    bool works = poise_pin_list_parse(job->pins, &words, job->file->clip, text, &error) == POISE_OK;
    if (!works) {
        complain("--pin: %s", error.text);
    }
    return works;
}

static bool add_document(edit_job *job, const char *name)
{
    file_bytes bytes;
    poise_error error;
    poise_goal_words words = words_of(job);
    if (!file_read(name, &bytes)) {
        return false;
    }
    bool works = poise_pin_list_read(job->pins, &words, job->file->clip, bytes.bytes, bytes.size, &error) == POISE_OK;
    if (!works) {
        complain("%s: %s", name, error.text);
    }
    file_release(&bytes);
    return works;
}

static bool read_pins(const arguments *args, edit_job *job)
{
    bool works = true;
    need(poise_pin_list_create(NULL, &job->pins, NULL) == POISE_OK);
    for (int i = 0; works && option_text_at(args, "pins", i); ++i) {
        works = add_document(job, option_text_at(args, "pins", i));
    }
    for (int i = 0; works && option_text_at(args, "pin", i); ++i) {
        works = add_text(job, option_text_at(args, "pin", i));
    }
    for (int i = 0; works && option_text_at(args, "keep", i); ++i) {
        char text[512];
        snprintf(text, sizeof text, "pose '%s' on its path", option_text_at(args, "keep", i));
        works = add_text(job, text);
    }
    return works;
}

// Degrees of freedom of the joints that --hold names.
static bool read_held(const arguments *args, const edit_job *job, bool *locked)
{
    const poise_model *model = job->file->model;
    for (int i = 0; option_text_at(args, "lock", i); ++i) {
        int body = find_body(model, option_text_at(args, "lock", i), NULL);
        if (body < 0) {
            return false;
        }
        poise_joint_info info = poise_model_joint_info(model, body);
        for (int k = 0; k < info.nv; ++k) {
            locked[info.v + k] = true;
        }
    }
    return true;
}

// The pins of the user and, after them, one for each contact of the feet.
static poise_pin *all_pins(const arguments *args, edit_job *job)
{
    poise_error error;
    poise_feet_report *feet = &job->feet_before;
    const poise_clip *clip = job->file->clip;
    bool cleans = option_given(args, "clean-feet");
    if (cleans && poise_feet_pins(job->file->model, clip, NULL, NULL, 0, feet, &error) != POISE_OK) {
        complain("%s: %s", job->input, error.text);
        return NULL;
    }
    job->foot_pins = feet->contacts;
    if (cleans && feet->contacts == 0) {
        complain("%s: no foot rests on the ground long enough, by height and speed; pin feet by hand: --pin \"BODY where it "
                 "is from ... to ...\"",
                 job->input);
        return NULL;
    }
    poise_pin *pins = needed(calloc((size_t)(job->pins->count + job->foot_pins) + 1, sizeof *pins));
    for (int i = 0; i < job->pins->count; ++i) {
        pins[i] = job->pins->pins[i];
    }
    if (cleans) {
        need(poise_feet_pins(job->file->model, clip, NULL, pins + job->pins->count, job->foot_pins, feet, NULL) == POISE_OK);
    }
    return pins;
}

// How fast what was pinned slips now.
static void measure_feet(edit_job *job, const poise_pin *pins)
{
    poise_kinematics *kinematics;
    const poise_clip *clip = job->file->clip;
    need(poise_kinematics_create(job->file->model, NULL, &kinematics, NULL) == POISE_OK);
    job->feet_after = job->feet_before;
    job->feet_after.skate_mean = job->feet_after.skate_worst = 0;
    for (int i = 0; i < job->foot_pins; ++i) {
        const poise_pin_result *r = &job->results[job->pins->count + i];
        const poise_goal *goal = &pins[job->pins->count + i].goal;
        poise_vec3 last = {0};
        for (int f = r->held_first; f <= r->held_last; ++f) {
            poise_kinematics_update(kinematics, clip->q + (size_t)f * (size_t)clip->nq, NULL);
            poise_vec3 now = poise_kinematics_point(kinematics, goal->body, goal->local.position);
            double x = now.x - last.x, y = now.y - last.y, z = now.z - last.z;
            double speed = f > r->held_first ? sqrt(x * x + y * y + z * z) / clip->frame_time : 0;
            job->feet_after.skate_mean += speed / job->feet_after.frames;
            job->feet_after.skate_worst = fmax(job->feet_after.skate_worst, speed);
            last = now;
        }
    }
    poise_kinematics_destroy(kinematics);
}

// The shapes of the skeleton: of the file itself, or of the one that the skeleton came from.
static poise_overlap_problem overlap_of(const edit_job *job)
{
    poise_overlap_problem overlap = poise_overlap_problem_default();
    bool has_own = job->file->hull_count > 0 || job->file->shape_count > 0 || !job->skeleton;
    const poise_file *file = has_own ? job->file : job->skeleton;
    overlap.hulls = file->hulls;
    overlap.hull_count = file->hull_count;
    overlap.shapes = file->shapes;
    overlap.shape_count = file->shape_count;
    overlap.excluded = file->excluded;
    overlap.excluded_count = file->excluded_count;
    overlap.metres = job->metres > 0 ? job->metres : 1;
    return overlap;
}

// Of the same file.
static int unread_of(const edit_job *job)
{
    bool is_own = job->file->hull_count + job->file->shape_count + job->file->shapes_skipped > 0 || !job->skeleton;
    return is_own ? job->file->shapes_skipped : job->skeleton->shapes_skipped;
}

static bool judge(edit_job *job, const poise_pin *pins, int count)
{
    poise_overlap_problem overlap = overlap_of(job);
    poise_edit_problem problem = poise_edit_problem_default();
    poise_error error;
    problem.model = job->file->model;
    problem.before = job->before;
    problem.after = job->file->clip;
    problem.pins = pins;
    problem.pin_count = count;
    problem.results = job->results;
    problem.report = &job->report;
    problem.overlap = &overlap;
    problem.unread = unread_of(job);
    problem.metres = job->metres;
    problem.thresholds = job->thresholds;
    job->sees_overlaps = overlap.hull_count > 0 || overlap.shape_count > 0;
    if (poise_edit_judge(&problem, NULL, &job->verdict, job->findings, EDIT_FINDINGS, &error) != POISE_OK) {
        complain("%s: %s", job->input, error.text);
        return false;
    }
    job->verdict.count = job->verdict.count < EDIT_FINDINGS ? job->verdict.count : EDIT_FINDINGS;
    return true;
}

static bool pin(const arguments *args, edit_job *job)
{
    bool *locked = needed(calloc((size_t)poise_model_info(job->file->model).nv + 1, sizeof *locked));
    poise_pin *pins = read_pins(args, job) && read_held(args, job, locked) ? all_pins(args, job) : NULL;
    int count = pins ? job->pins->count + job->foot_pins : 0;
    bool works = pins != NULL;
    if (count > 0) {
        poise_pin_options options = poise_pin_options_default();
        poise_error error;
        options.locked = locked;
        options.keep_feet = !option_given(args, "free-feet");
        options.metres = job->metres;
        job->results = needed(calloc((size_t)count, sizeof *job->results));
        works = poise_clip_pin(job->file->model, pins, count, &options, job->file->clip, NULL, job->results, &job->report,
                               &error) == POISE_OK;
        if (works) {
            measure_feet(job, pins);
            works = judge(job, pins, count);
        } else {
            complain("%s: %s", job->input, error.text);
        }
    }
    free(pins);
    free(locked);
    return works;
}

// ---- Time ----------------------------------------------------------------------------------------------------------------

static void replace_clip(edit_job *job, poise_clip *clip)
{
    poise_clip_destroy(job->file->clip);
    job->file->clip = clip;
    if (job->file->markers) { // they were recorded with the motion as it was
        warn("%s: its markers are left out because they no longer match the motion", job->input);
        poise_markers_destroy(job->file->markers);
        job->file->markers = NULL;
    }
}

// Left and right exchanged. A skeleton that cannot do in the mirror what it did is said to miss it.
static bool mirror(const arguments *args, edit_job *job)
{
    poise_clip *made;
    poise_error error;
    if (!option_given(args, "mirror")) {
        return true;
    }
    if (poise_clip_mirror(job->file->model, job->file->clip, NULL, &made, &job->mirror, &error) != POISE_OK) {
        complain("%s: %s", job->input, error.text);
        return false;
    }
    replace_clip(job, made);
    return true;
}

// A clip of another person may have the same joints. Its angles go over as they are, so that hands and feet end elsewhere.
static void compare_bones(const edit_job *job, const poise_file *next, const char *name)
{
    const poise_model *a = job->file->model, *b = next->model;
    const double tolerance = 0.01; // of a bone
    double size = 0;
    for (int k = 1; k < poise_model_info(a).joints; ++k) {
        poise_vec3 p = poise_model_joint_info(a, k).given->offset.position;
        size = fmax(size, sqrt(p.x * p.x + p.y * p.y + p.z * p.z));
    }
    bool is_other = false;
    for (int k = 0; b && !is_other && k < poise_model_info(a).joints && k < poise_model_info(b).joints; ++k) {
        poise_joint_info one = poise_model_joint_info(a, k), two = poise_model_joint_info(b, k);
        poise_vec3 p = one.given->offset.position, q = two.given->offset.position;
        double own = sqrt(p.x * p.x + p.y * p.y + p.z * p.z), other = sqrt(q.x * q.x + q.y * q.y + q.z * q.z);
        is_other = one.parent >= 0 && fabs(other - own) > tolerance * own + 1e-6 * size;
        if (is_other) {
            warn("%s: its bones have other lengths (that to \"%s\" %.4g, here %.4g), so feet would slip; retarget it first: "
                 "poise retarget %s %s -o motion.bvh",
                 name, one.body, other, own, name, job->input);
        }
    }
}

// Another clip after this one, and a clip that can be repeated.
static bool join(const arguments *args, edit_job *job)
{
    const char *name = option_text(args, "append", NULL);
    poise_error error = {.text = ""};
    poise_clip *made;
    double blend = option_number(args, "blend", 0.3);
    const char *animation = option_text(args, "append-animation", NULL);
    if (animation && !name) {
        complain("edit: --append-animation is about another clip: add --append CLIP");
        return false;
    }
    poise_file *next = name ? load_motion_for(name, animation, job->file, job->input) : NULL;
    bool works = !name || (next && load_can_choose(animation, next, name));
    if (next && works) {
        compare_bones(job, next, name);
        works = poise_clip_append(job->file->model, job->file->clip, next->clip, blend, edit_up(job), NULL, &made, &error) ==
                POISE_OK;
        if (works) {
            replace_clip(job, made);
        }
    }
    if (works && option_given(args, "loop")) {
        double length = job->file->clip->frames * job->file->clip->frame_time;
        works = poise_clip_loop(job->file->model, job->file->clip, blend, edit_up(job), NULL, &made, &error) == POISE_OK;
        if (works) {
            replace_clip(job, made);
            poise_clip_repeated(job->file->model, made, edit_up(job), NULL, &job->travel, NULL);
            if (blend > 0.25 * length) {
                warn("%s: the blend of %g s takes %.0f %% of a clip of %g s; --blend sets a shorter one", job->input, blend,
                     100 * blend / length, length);
            }
        }
    }
    if (!works && error.text[0]) {
        complain("%s: %s", job->input, error.text);
    }
    poise_file_destroy(next);
    return works;
}

static bool change_time(const arguments *args, edit_job *job)
{
    poise_clip *made;
    poise_error error;
    poise_status status = POISE_OK;
    if (option_given(args, "reverse")) {
        status = poise_clip_reverse(job->file->clip, NULL, &made, &error);
        if (status == POISE_OK) {
            replace_clip(job, made);
        }
    }
    if (status == POISE_OK && option_given(args, "speed")) {
        status = poise_clip_speed(job->file->clip, job->file->model, option_number(args, "speed", 1), NULL, &made, &error);
        if (status == POISE_OK) {
            replace_clip(job, made);
        }
    }
    if (status != POISE_OK) {
        complain("%s: %s", job->input, error.text);
    }
    return status == POISE_OK;
}

// ---- The command ---------------------------------------------------------------------------------------------------------

// An AMC or MOT and its skeleton become one.
static void join_skeleton(edit_job *job)
{
    if (job->skeleton && !job->file->model) {
        job->file->model = job->skeleton->model;
        job->file->scale = job->skeleton->scale;
        job->skeleton->model = NULL;
    }
}

// What the file does not say of its unit and upward axis: as --from-unit and --from-up have it.
static void complete_scale(const arguments *args, edit_job *job)
{
    const char *up = option_text(args, "source-up", NULL);
    poise_scale *scale = &job->file->scale;
    scale->metres = scale->metres > 0 ? scale->metres : option_number(args, "source-unit", 0);
    scale->up = scale->up != POISE_UP_UNKNOWN || !up ? scale->up : up_by_name(up);
}

static void measure_unit(edit_job *job)
{
    poise_figure figure = {.metres = 0};
    poise_model_figure(job->file->model, &figure, NULL);
    job->metres = job->file->scale.metres > 0 ? job->file->scale.metres : figure.metres;
}

static bool write_all(const arguments *args, const edit_job *job)
{
    const char *output = option_text(args, "output", NULL), *drawing = option_text(args, "picture", NULL);
    const char *page = option_text(args, "report", NULL);
    bool works = (!output || (save_motion(output, job->file) && save_skeleton_of(output, job->file, job->input))) &&
                 (!drawing || edit_save_picture(job, drawing)) && (!page || edit_save_page(job, page, args));
    if (works && !output && !drawing && !page && !arguments_json(args)) {
        warn("nothing was written; -o FILE keeps the motion");
    }
    return works && (arguments_json(args) ? edit_print_json(job, output)
                                          : edit_print_text(job, (const char *[]){output, drawing, page}, 3));
}

static bool has_work(const arguments *args)
{
    static const char *const changes[] = {"pin", "pins", "clean-feet", "mirror", "reverse", "speed", "append", "loop"};
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; ++i) {
        if (option_given(args, changes[i])) {
            return true;
        }
    }
    complain("edit: nothing to do; add --pin, --pins, --clean-feet, --mirror, --reverse, --speed, --append or "
             "--loop (\"poise help edit\")");
    return false;
}

// A mirror that is off is a miss whatever the verdict on pins.
static app_exit status_of(const arguments *args, const edit_job *job)
{
    bool is_worse = job->verdict.level > verdict_level_by_name(option_text(args, "accept", "good"));
    return is_worse || edit_mirror_is_off(job) ? APP_MISSED : APP_DONE;
}

static app_exit run(const arguments *args)
{
    edit_job job = {.input = arguments_at(args, 0)};
    app_exit status = APP_BAD;
    const char *animation = option_text(args, "animation", NULL);
    load_options how = {.meshes = true}; // overlaps are looked at
    load_animation(animation, &how);
    if (!has_work(args) ||
        !load_motion(job.input, option_text(args, "source-model", NULL), &how, &job.file, &job.skeleton)) {
        return status;
    }
    join_skeleton(&job);
    complete_scale(args, &job);
    measure_unit(&job);
    const char *output = option_text(args, "output", NULL);
    bool works = load_can_choose(animation, job.file, job.input) && (!output || motion_can_be_written(job.file, output)) &&
                 mirror(args, &job) && change_time(args, &job) && join(args, &job);
    job.thresholds = poise_thresholds_default();
    works = works && verdict_read_thresholds(args, &job.thresholds);
    need(poise_clip_trim(job.file->clip, 0, job.file->clip->frames, NULL, &job.before, NULL) == POISE_OK);
    if (works && pin(args, &job) && write_all(args, &job)) {
        status = status_of(args, &job);
    }
    poise_clip_destroy(job.before);
    poise_pin_list_destroy(job.pins);
    free(job.results);
    poise_file_destroy(job.file);
    poise_file_destroy(job.skeleton);
    return status;
}

static const app_option options[] = {
    {"pin", 'p', OPTION_TEXT, "PIN", .repeats = true,
     .help = "a goal that holds for a while, such as \"hand 1.2 0.3 0.9 from 2 s to 3 s fade 0.2\""},
    {"pins", 0, OPTION_FILE, "FILE.json", .repeats = true, .help = "read pins from a JSON file, see above"},
    {"clean-feet", .help = "stop feet from skating (human skeletons)"},
    {"mirror", .help = "swap left and right, before anything else"},
    {"reverse", .help = "reverse the motion, before pins"},
    {"speed", 0, OPTION_NUMBER, "X", .lowest = 1e-3, .highest = 1e3,
     .help = "play X times as fast at the same frame rate; after --reverse, before pins"},
    {"append", 0, OPTION_FILE, "CLIP", .help = "append another motion of this skeleton, moved to where this one ends"},
    {"append-animation", 0, OPTION_TEXT, "WHICH",
     .help = "glTF: which animation of that clip, by its name or counted from 0"},
    {"loop", .help = "make the clip loop: its end fades into its beginning"},
    {"blend", 0, OPTION_NUMBER, "S", .lowest = 0, .highest = 1e6,
     .help = "length of the fades of --append and --loop, in seconds (0.3)"},
    {"keep", 'k', OPTION_TEXT, "BODY", .repeats = true, .help = "keep this body on its path, whatever is pinned"},
    {"lock", 0, OPTION_TEXT, "JOINT", .alias = "hold", .repeats = true, .help = "lock this joint: no pin moves it"},
    {"free-feet", .help = "let pins move the feet; by default those of a human skeleton stay on their path"},
    {"source-model", 'm', OPTION_FILE, "FILE", .alias = "model", .help = "skeleton of an AMC or MOT file"},
    {"animation", 0, OPTION_TEXT, "WHICH", .help = "glTF: which animation, by its name or counted from 0"},
    {"source-unit", 0, OPTION_UNIT, "UNIT", .alias = "from-unit",
     .help = "unit of length of CLIP, for formats that do not state it, such as BVH"},
    {"source-up", 0, OPTION_CHOICE, "AXIS", .alias = "from-up", .choices = "x y z",
     .help = "upward axis of CLIP, for formats that do not state it"},
    {"output", 'o', OPTION_OUTPUT, "FILE", .choices = WRITTEN_FILES, .help = "write the motion"},
    {"accept", 0, OPTION_CHOICE, "VERDICT", .choices = "good doubtful failed",
     .help = "worst verdict that still exits with 0 (good)"},
    {"threshold", 0, OPTION_TEXT, "WHAT=D[,F]", .repeats = true,
     .help =
         "beyond D the edit is doubtful, beyond F failed; WHAT is unmet (0 of the frames), jolted (0), collar (0.5 rad), "
         "twisted (1 rad), dragged (0.35 rad), bent (0.3 rad), fast (1 times the limit), self (0.02 of the frames) "
         "or pierced (0.02,0.1)"},
    {"report", 0, OPTION_OUTPUT, "R.html", .choices = ".html .htm",
     .help = "write a page that plays the motion before and after, with the pins"},
    {"picture", 0, OPTION_OUTPUT, "FILE.svg", .choices = ".svg",
     .help = "draw the paths of the pinned bodies, before and after"},
    {0},
};

static const app_example examples[] = {
    {"Hold a hand at a point for half a second",
     "poise edit scene:humanoid/walk --pin \"left_hand 0.3 1.05 0.35 from 0.5 s to 1 s fade 0.3\" -o reach.bvh"},
    {"Stop feet from skating", "poise edit scene:humanoid/kick --clean-feet -o clean.bvh"},
    {"Mirrored", "poise edit scene:humanoid/kick --mirror -o left.bvh"},
    {"Repeated once, as a loop", "poise edit scene:humanoid/walk --append scene:humanoid/walk --loop -o loop.bvh"},
    {"At half speed", "poise edit reach.bvh --speed 0.5 -o slow.bvh"},
    {0},
};

const app_command cmd_edit = {
    .name = "edit",
    .synopsis = "CLIP",
    .least = 1,
    .most = 1,
    .summary = "edit a motion: pin hands, stop feet skating, mirror, loop",
    .description =
        "A pin is a goal (\"poise help goals\") with a time range. Between \"from\" and \"to\" it holds to a micrometre; "
        "before and after, it fades in and out smoothly. Frames outside the fades keep every bit. Joints change as little "
        "as possible, within their limits.\n\n"
        "  hand 1.2 0.3 0.9 from 2 s to 3 s fade 0.2    a place; fade 0.2 0.5: in, out\n"
        "  pose hand 1 0 1 rpy 0 90 0 deg from 240f     place and rotation, from a frame\n"
        "  foot.L where it is from 2 to 3               stays where it is at 2 s\n"
        "  head on its path                             moves as before\n"
        "  hand key 2 s 1.2 0.3 0.9 key 3 s 1.3 0.3 1   through places, smoothly\n"
        "  aim head to 1 0 1.5 axis z from 1 to 4       any kind of goal\n\n"
        "Lengths are in the units of the file, as \"poise fk CLIP\" prints them; times are in seconds, or frames with f. "
        "A pin without times holds throughout the clip. Several pins of one body follow one another. The same in a file "
        "for --pins:\n\n"
        "  {\"pins\": [{\"goal\": \"hand 1.2 0.3 0.9\", \"from\": 2, \"to\": 3, \"fade\": 0.2},\n"
        "            {\"goal\": \"hand\", \"keys\": [{\"time\": 4, \"target\": [1.2, 0.3, 0.9]},\n"
        "                                       {\"time\": 5, \"target\": [1.3, 0.3, 1]}]}]}\n\n"
        "--clean-feet detects when the ball of a foot rests on the ground, by height and speed, and pins it there.\n\n"
        "A verdict says what the edit did to the body beyond what was asked for, compared with the motion as it was: pins "
        "out of reach, joints that snap or are too fast, clavicles and bones of limbs that are twisted, elbows and knees "
        "that bend backwards, a chest that follows a hand, and bodies that overlap, where the file has shapes. The exit "
        "status is 1 unless it is good (--accept).",
    .options = options,
    .examples = examples,
    .run = run,
};
