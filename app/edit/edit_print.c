// What poise edit prints.
#include "cli/json.h"
#include "cli/terminal.h"
#include "cli/verdict_text.h"
#include "cli/words.h"
#include "edit/edit_parts.h"

#include <math.h>
#include <stdio.h>

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

bool edit_mirror_is_off(const edit_job *job)
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

poise_up edit_up(const edit_job *job)
{
    poise_figure figure = {.up = POISE_UP_UNKNOWN};
    poise_up up = job->file->scale.up;
    up = up != POISE_UP_UNKNOWN ? up : poise_clip_up(job->file->model, job->file->clip);
    poise_model_figure(job->file->model, &figure, NULL);
    return up != POISE_UP_UNKNOWN ? up : figure.up;
}

bool edit_print_text(const edit_job *job, const char *const files[], int count)
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

bool edit_print_json(const edit_job *job, const char *output)
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
