// What `poise track` says.
#include "track_print.h"

#include "cli/terminal.h"
#include "cli/verdict_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- For people ----------------------------------------------------------------------------------------------------------

enum { WORST_FRAMES = 5, WORST_MARKERS = 5 };

// Held frames are the worst, then those with the largest error.
static double badness(const track_result *r, int frame)
{
    const poise_track_frame *f = &r->made->frames[frame];
    return f->flags & POISE_TRACK_HELD ? INFINITY : f->rms;
}

// The worst frames, worst first; returns how many.
static int worst_frames(const track_result *r, int *worst)
{
    int count = 0, end = r->made->markers->frames - r->made->summary.after;
    for (int f = r->made->summary.before; f < end; ++f) {
        int place = count;
        while (place > 0 && badness(r, f) > badness(r, worst[place - 1])) {
            place -= 1;
        }
        if (place < WORST_FRAMES) {
            int moved = (count < WORST_FRAMES ? count : WORST_FRAMES - 1) - place;
            memmove(worst + place + 1, worst + place, (size_t)moved * sizeof *worst);
            worst[place] = f;
            count += count < WORST_FRAMES;
        }
    }
    return count;
}

static void print_frames(const track_result *r, FILE *stream)
{
    int worst[WORST_FRAMES], count = worst_frames(r, worst);
    const char *unit;
    double per = track_unit(r, &unit);
    char head[160];
    snprintf(head, sizeof head, ">worst frames\t>time (s)\t>rms (%s)\t>largest\t>iterations\twhat", unit);
    table *t = table_create(head);
    for (int i = 0; i < count; ++i) {
        char reason[128];
        const poise_track_frame *f = &r->made->frames[worst[i]];
        track_reason(r, worst[i], reason, sizeof reason);
        double time = r->made->clip->start_time + worst[i] * r->made->clip->frame_time;
        if (f->flags & POISE_TRACK_HELD) {
            table_row(t, "%d\t%.3f\t-\t-\t%d\t%s", r->made->first + worst[i], time, f->iterations, reason);
        } else {
            table_row(t, "%d\t%.3f\t%.3g\t%.3g\t%d\t%s", r->made->first + worst[i], time, f->rms * per, f->worst * per,
                      f->iterations, reason);
        }
    }
    fputc('\n', stream);
    table_end(t, stream);
}

static void print_markers(const track_result *r, FILE *stream)
{
    const char *unit;
    double per = track_unit(r, &unit);
    bool *shown = calloc((size_t)r->made->placement_count + 1, sizeof *shown);
    char head[160];
    snprintf(head, sizeof head, "worst markers\tbody\t>mean (%s)\t>largest\t>in frame\t>seen\t>ignored", unit);
    table *t = table_create(head);
    for (int n = 0; shown && n < WORST_MARKERS && n < r->made->placement_count; ++n) {
        int most = -1;
        for (int i = 0; i < r->made->placement_count; ++i) {
            if (!shown[i] && r->made->by_marker[i].seen > 0 &&
                (most < 0 || r->made->by_marker[i].mean > r->made->by_marker[most].mean)) {
                most = i;
            }
        }
        if (most < 0) {
            break;
        }
        const poise_marker_error *m = &r->made->by_marker[most];
        shown[most] = true;
        table_row(t, "%s\t%s\t%.3g\t%.3g\t%d\t%d\t%d", r->made->placements[most].label,
                  poise_model_joint_info(r->made->model, r->made->placements[most].body).body, m->mean * per, m->worst * per,
                  r->made->first + m->worst_frame, m->seen, m->let_go);
    }
    fputc('\n', stream);
    table_end(t, stream);
    free(shown);
}

static void print_counts(const track_result *r, FILE *stream)
{
    const struct {
        int count;
        const char *what;
    } counts[] = {{r->made->summary.jumps, "with a jump"},
                  {r->made->summary.restarts - ((r->made->frames[0].flags & POISE_TRACK_RESTARTED) != 0), "found afresh"},
                  {r->made->summary.outliers, "with ignored markers"},
                  {r->made->summary.gaps, "with gaps"}};
    const poise_track_summary *s = &r->made->summary;
    const char *bad = s->held > 0 && stream == stdout ? style_code(STYLE_BAD) : "";
    int tracked = r->made->markers->frames - s->before - s->after - s->held;
    fprintf(stream, "  frames      %d tracked, %s%d held%s\n", tracked, bad, s->held, bad[0] ? style_code(STYLE_PLAIN) : "");
    const char *before = "  among them  ";
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; ++i) {
        if (counts[i].count > 0) {
            fprintf(stream, "%s%d %s", before, counts[i].count, counts[i].what);
            before = ", ";
        }
    }
    fputs(before[0] == ',' ? "\n" : "", stream);
}

static void print_calibration(const track_result *r, FILE *stream)
{
    const char *unit;
    double per = track_unit(r, &unit);
    if (r->made->calibrated) {
        const poise_calibration_report *c = &r->made->calibration;
        fprintf(stream, "  calibrated  on %d frame%s, mean %.3g %s", c->frames, c->frames == 1 ? "" : "s", c->mean * per,
                unit);
        if (r->made->fitted) {
            fprintf(stream, ", bones scaled by %.3f", c->scale);
        }
        fprintf(stream, "\n");
    }
}

static void print_whole(const track_result *r, FILE *stream)
{
    const char *unit;
    double per = track_unit(r, &unit);
    const poise_sequence_report *w = &r->made->sequence;
    fprintf(stream, "  whole clip  noise %.3g %s a direction; %d window%s, at most %d iterations%s\n", w->noise * per, unit,
            w->windows, w->windows == 1 ? "" : "s", w->most_iterations, w->converged ? "" : ", not all converged");
    if (w->velocity > 0 || w->acceleration > 0) {
        const char *comma = "";
        fputs("  limits     ", stream);
        if (r->problem.velocity > 0) {
            fprintf(stream, " velocity %.4f", w->velocity);
            comma = ",";
        }
        if (r->problem.acceleration > 0) {
            fprintf(stream, "%s acceleration %.4f", comma, w->acceleration);
        }
        fputs(" of what is allowed\n", stream);
    }
}

static bool has_tracked(const track_result *r)
{
    const poise_track_summary *s = &r->made->summary;
    return r->made->markers->frames - s->before - s->after > s->held;
}

static void print_error(const track_result *r, FILE *stream)
{
    const char *unit;
    double per = track_unit(r, &unit);
    const poise_track_summary *s = &r->made->summary;
    if (!has_tracked(r)) {
        fprintf(stream, "  error       none: no frame was tracked\n");
        return;
    }
    fprintf(stream, "  error       mean %.3g %s, largest %.3g %s (%s, frame %d)\n", s->mean * per, unit, s->worst * per,
            unit, r->made->placements[s->worst_marker].label, r->made->first + s->worst_frame);
}

void track_print(const track_result *r, FILE *stream)
{
    const char *bold = stream == stdout ? style_code(STYLE_BOLD) : "";
    fprintf(stream, "%s%s follows %s%s\n", bold, r->model_name, r->source_name, bold[0] ? style_code(STYLE_PLAIN) : "");
    fprintf(stream, "  skeleton    %d joints, %d degrees of freedom\n", poise_model_info(r->made->model).joints,
            poise_model_info(r->made->model).nv);
    fprintf(stream, "  recording   %d frame%s, %.6g per second, %d %s\n", r->made->markers->frames,
            r->made->markers->frames == 1 ? "" : "s", r->made->markers->rate, r->made->markers->count,
            r->made->from_motion ? "points of bodies" : "markers");
    for (int i = 0; i < r->note_count; ++i) {
        print_fact(stream, "note", r->note[i], false);
    }
    print_calibration(r, stream);
    print_counts(r, stream);
    print_error(r, stream);
    if (r->problem.whole) {
        print_whole(r, stream);
    } else {
        fprintf(stream, "  iterations  mean %.1f, largest %d, method %s\n", r->made->summary.mean_iterations,
                r->made->summary.most_iterations, poise_method_name(r->problem.track.solver.method));
    }
    fprintf(stream, "  time        %.0f us a frame (p50 %.0f, p99 %.0f); %.2f s in all, %d thread%s\n", 1e6 * r->mean_time,
            1e6 * r->p50, 1e6 * r->p99, r->wall, r->threads, r->threads == 1 ? "" : "s");
    for (int which = 0; which < POISE_KEPT_SORTS; ++which) {
        char text[TRACK_NOTE_SIZE];
        if (r->clearance.asked[which]) {
            track_describe_kept(r, (poise_kept_sort)which, text, sizeof text);
            fprintf(stream, "  %-11s %s\n", poise_kept_name((poise_kept_sort)which), text);
        }
    }
    verdict_print(&r->made->verdict, r->made->findings, stream);
    print_frames(r, stream);
    if (has_tracked(r)) {
        print_markers(r, stream);
    }
}

// ---- For machines --------------------------------------------------------------------------------------------------------

static json_node *frames_with(const track_result *r, int flags)
{
    json_node *list = json_new(JSON_ARRAY);
    for (int f = 0; f < r->made->markers->frames; ++f) {
        if (r->made->frames[f].flags & flags && !track_is_away(r, f)) {
            json_append(list, json_from_integer(r->made->first + f));
        }
    }
    return list;
}

static json_node *flagged_frames(const track_result *r)
{
    json_node *list = json_new(JSON_ARRAY);
    for (int f = 0; f < r->made->markers->frames; ++f) {
        char reason[128];
        if (!track_is_away(r, f) && r->made->frames[f].flags & ~POISE_TRACK_GAPS &&
            (f > 0 || r->made->frames[f].flags & ~POISE_TRACK_RESTARTED)) {
            track_reason(r, f, reason, sizeof reason);
            json_append(list, json_make("{s:i, s:s}", "frame", r->made->first + f, "reason", reason));
        }
    }
    return list;
}

static json_node *markers_as_json(const track_result *r, double per)
{
    json_node *list = json_new(JSON_ARRAY);
    for (int i = 0; i < r->made->placement_count; ++i) {
        const poise_marker_error *m = &r->made->by_marker[i];
        json_append(list,
                    json_make("{s:o, s:o, s:i, s:i, s:o, s:o}", "name", json_from_text(r->made->placements[i].label), "body",
                              json_from_text(poise_model_joint_info(r->made->model, r->made->placements[i].body).body),
                              "seen", m->seen, "let_go", m->let_go, "mean", json_from_number(m->mean * per), "max",
                              json_from_number(m->worst * per)));
    }
    return list;
}

json_node *track_as_json(const track_result *r, const char *out, const char *report)
{
    double per = r->made->scale.metres > 0 ? r->made->scale.metres : 1;
    json_node *o =
        json_make("{s:o, s:o, s:i, s:i, s:f, s:s, s:o}", "model", json_from_text(r->model_name), "source",
                  json_from_text(r->source_name), "frames", r->made->markers->frames, "first_frame", r->made->first, "rate",
                  r->made->markers->rate, "method", poise_method_name(r->problem.track.solver.method), "failed_frames",
                  frames_with(r, POISE_TRACK_HELD));
    json_set(o, "verdict", verdict_as_json(&r->made->verdict, r->made->findings, VERDICT_OF_TRACK));
    json_set(o, "error",
             json_make("{s:f, s:f, s:f, s:s, s:i, s:o}", "mean", r->made->summary.mean * per, "max",
                       r->made->summary.worst * per, "rms", r->made->summary.rms * per, "unit",
                       r->made->scale.metres > 0 ? "m" : "unit", "frame", r->made->first + r->made->summary.worst_frame,
                       "marker", json_from_text(r->made->placements[r->made->summary.worst_marker].label)));
    json_set(o, "iterations",
             json_make("{s:f, s:i}", "mean", r->made->summary.mean_iterations, "max", r->made->summary.most_iterations));
    json_set(o, "us_per_frame",
             json_make("{s:f, s:f, s:f}", "mean", 1e6 * r->mean_time, "p50", 1e6 * r->p50, "p99", 1e6 * r->p99));
    json_set(o, "seconds", json_from_number(r->wall));
    json_set(o, "threads", json_from_integer(r->threads));
    json_set(o, "flags",
             json_make("{s:i, s:i, s:i, s:i, s:i}", "held", r->made->summary.held, "jump", r->made->summary.jumps,
                       "restarted", r->made->summary.restarts, "outliers", r->made->summary.outliers, "gaps",
                       r->made->summary.gaps));
    json_set(o, "away", json_make("{s:i, s:i}", "before", r->made->summary.before, "after", r->made->summary.after));
    json_set(o, "flagged", flagged_frames(r));
    json_set(o, "markers", markers_as_json(r, per));
    json_set(o, "calibration",
             r->made->calibrated ? json_make("{s:i, s:i, s:f, s:f}", "frames", r->made->calibration.frames, "rounds",
                                             r->made->calibration.rounds, "mean", r->made->calibration.mean * per, "scale",
                                             r->made->calibration.scale)
                                 : json_new(JSON_NULL));
    const poise_sequence_report *w = &r->made->sequence;
    if (r->problem.whole) {
        json_set(o, "whole",
                 json_make("{s:f, s:i, s:i, s:b, s:f, s:f}", "noise", w->noise * per, "windows", w->windows, "iterations",
                           w->iterations, "converged", w->converged, "velocity", w->velocity, "acceleration",
                           w->acceleration));
    }
    for (int which = 0; which < POISE_KEPT_SORTS; ++which) {
        if (r->clearance.asked[which]) {
            json_set(o, poise_kept_name((poise_kept_sort)which), track_kept_as_json(r, (poise_kept_sort)which));
        }
    }
    json_node *notes = json_new(JSON_ARRAY);
    for (int i = 0; i < r->note_count; ++i) {
        json_append(notes, json_from_text(r->note[i]));
    }
    json_set(o, "notes", notes);
    json_set(o, "output", json_from_text(out));
    json_set(o, "report", json_from_text(report));
    return o;
}
