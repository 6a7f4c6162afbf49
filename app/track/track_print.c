// What poise track says: what was decided for the user, the verdict, a table for people, JSON for machines.
#include "cli/command.h"
#include "cli/files.h"
#include "cli/json.h"
#include "cli/terminal.h"
#include "cli/words.h"
#include "page/page.h"
#include "track/track.h"

#include <poise/edit.h>

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_FRAMES 10
#define AT_LIMIT     0.9 // of the frames

void track_note(track_result *r, const char *format, ...)
{
    if (r->note_count == TRACK_NOTES) {
        return;
    }
    va_list values;
    va_start(values, format);
    vsnprintf(r->note[r->note_count], TRACK_NOTE_SIZE, format, values);
    va_end(values);
    text_make_printable(r->note[r->note_count++]);
}

// ---- Units ---------------------------------------------------------------------------------------------------------------

// A person who would be as tall as a house, or as a hand, by the unit that the file says.
static void note_size(track_result *r)
{
    const poise_figure *figure = &r->made->figure;
    double metres = r->made->said.metres;
    char unit[32];
    if (metres > 0 && is_no_person(figure, metres)) {
        track_note(r, "in units of %g m the person is %.3g m tall; in %s it would be %.3g m (--source-unit)", metres,
                   figure->height * metres, unit_name(figure->metres, unit), figure->height * figure->metres);
    }
}

// What a file does not say and was found out; 0 and UNKNOWN: nothing.
static void note_taken(track_result *r, const char *which, double metres, poise_up up, const char *options)
{
    char text[32];
    if (metres > 0 || up != POISE_UP_UNKNOWN) {
        track_note(r, "the %s is assumed to be %s%s%s%s, from the figure; see %s", which,
                   metres > 0 ? unit_name(metres, text) : "", metres > 0 && up != POISE_UP_UNKNOWN ? ", " : "",
                   up != POISE_UP_UNKNOWN ? up_name(up) : "", up != POISE_UP_UNKNOWN ? " up" : "", options);
    }
}

static void note_scale(track_result *r)
{
    const poise_scale_match *m = &r->made->match;
    poise_scale said = r->made->said, model = r->made->model_said, scale = r->made->scale;
    bool is_both = m->markers_unknown && m->model_unknown;
    note_size(r);
    if (is_both && m->by_size) {
        track_note(r, "no file gives its unit: markers are multiplied by %g to match in size; see --unit", m->from.metres);
    }
    note_taken(r, "recording", m->markers_unknown && !is_both ? m->from.metres : 0,
               said.up == POISE_UP_UNKNOWN && m->up_by_figure ? m->from.up : POISE_UP_UNKNOWN, "--source-unit, --source-up");
    note_taken(r, "skeleton", m->model_unknown && !is_both ? scale.metres : 0,
               model.up == POISE_UP_UNKNOWN && m->up_by_figure ? scale.up : POISE_UP_UNKNOWN, "--unit, --up");
    if (m->turned_over) {
        track_note(r, "the person was upside down along %s and was turned over", up_name(m->from.up));
    }
    if (m->from.metres != scale.metres) {
        track_note(r, "markers times %g: from units of %g m to %g m", m->from.metres / scale.metres, m->from.metres,
                   scale.metres);
    }
    if (m->from.up != scale.up) {
        track_note(r, "markers turned from %s up to %s up", up_name(m->from.up), up_name(scale.up));
    }
}

// ---- Another skeleton's motion -------------------------------------------------------------------------------------------

// Bodies of the motion's skeleton that nothing follows, by name.
static void note_unpaired(track_result *r, const poise_model *model)
{
    char names[TRACK_NOTE_SIZE - 60] = "";
    int count = 0;
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        const char *name = poise_model_joint_info(model, k).body;
        size_t used = strlen(names);
        if (poise_markers_find(r->made->markers, name) >= 0) {
            continue;
        }
        if (used + strlen(name) + 6 < sizeof names) {
            snprintf(names + used, sizeof names - used, "%s%s", count > 0 ? ", " : "", name);
        } else if (used > 4 && strcmp(names + used - 4, " ...") != 0) {
            snprintf(names + used, sizeof names - used, " ...");
        }
        count += 1;
    }
    if (count > 0) {
        track_note(r, "%d bodies have no partner (--pair SOURCE=TARGET): %s", count, names);
    }
}

static void note_motion(track_result *r)
{
    const poise_retarget_report *report = &r->made->retarget;
    track_note(r, "%d points followed, by the names of bodies and tools", report->points);
    track_note(r, "poise retarget %s %s follows turns as well, and plants feet", r->source_name, r->model_name);
    note_unpaired(r, r->problem.from);
    if (report->factor != 1) {
        track_note(r, "motion times %.6g, to the size of the skeleton%s", report->factor,
                   r->problem.keep_size ? "'s units" : "; --keep-size leaves it");
    }
    if (report->is_turned) {
        track_note(r, "motion turned to the skeleton's upward axis");
    }
}

// ---- All of it -----------------------------------------------------------------------------------------------------------

static void note_frames(track_result *r)
{
    if (r->made->rate_before > 0) {
        track_note(r, "resampled from %g to %g per second; frames are counted after that", r->made->rate_before,
                   r->problem.rate);
    }
}

static void note_subject(track_result *r)
{
    if (r->made->markers->count < r->made->recorded) {
        track_note(r, "subject %s: %d of %d markers", r->problem.subject ? r->problem.subject : "with a whole body",
                   r->made->markers->count, r->made->recorded);
    }
}

static void note_places(track_result *r)
{
    const poise_recording_result *m = r->made;
    if (r->problem.placements_from && m->given > 0) {
        track_note(r, "marker places from %s, by the names of bodies", r->places ? r->places_name : r->source_name);
    }
    bool is_opensim = r->skeleton->format == POISE_FORMAT_OSIM && !r->task;
    if (is_opensim && m->given == 0) {
        track_note(r, "%s has no marker places", path_base(r->model_name));
    } else if (is_opensim && m->named > 0) {
        track_note(r, "%d of %d marker places of %s are used: the recording has another marker set", m->given_seen, m->given,
                   path_base(r->model_name));
    } else if (m->given_seen < m->given && (m->given_seen > 0 || is_opensim)) {
        track_note(r, "%d of %d places have no marker in the recording%s", m->given - m->given_seen, m->given,
                   is_opensim ? "; --tasks SETUP.xml selects them" : "");
    }
    if (m->named > 0) {
        track_note(r, "%d of %d markers placed by common names, then calibrated", m->named, m->markers->count);
    }
}

void track_note_matched(track_result *r)
{
    const poise_recording_result *m = r->made;
    if (m->from_motion) {
        note_motion(r);
        note_frames(r);
    } else {
        note_subject(r);
        note_frames(r);
        note_scale(r);
        note_places(r);
    }
    if (r->freed) {
        track_note(r, "no animation of %s moves its root, which is left free here", path_base(r->model_name));
    }
    if (r->untasked > 0) {
        track_note(r, "%d of %d markers have no task and are ignored", r->untasked, r->untasked + m->placement_count);
    }
    if (m->placement_count < m->markers->count) {
        track_note(r, "%d of %d markers have no place on the skeleton and are left out",
                   m->markers->count - m->placement_count, m->markers->count);
    }
}

// Frames with nobody there.
static void note_ends(track_result *r)
{
    const poise_track_summary *s = &r->made->summary;
    int least = r->problem.track.least_markers;
    if (s->before > 0 && s->after > 0) {
        track_note(r, "frames at the beginning with fewer than %d markers: %d, at the end: %d; they hold a pose", least,
                   s->before, s->after);
    } else if (s->before + s->after > 0) {
        track_note(r, "frames at the %s with fewer than %d markers: %d; they hold a pose",
                   s->before > 0 ? "beginning" : "end", least, s->before + s->after);
    }
}

// Is a coordinate at one of its limits in this frame? A joint that cannot move at all is not.
static bool is_at_limit(const track_result *r, int frame, int coordinate)
{
    poise_model_summary size = poise_model_info(r->made->model);
    double low = size.lower[coordinate], high = size.upper[coordinate], hair = 1e-6 * (high - low);
    double q = r->made->clip->q[(size_t)frame * (size_t)size.nq + (size_t)coordinate];
    return low < high && (q - low <= (isfinite(hair) ? hair : 1e-6) || high - q <= (isfinite(hair) ? hair : 1e-6));
}

// Append a name to a list if all of it fits.
static bool append_name(char *names, size_t size, const char *name)
{
    size_t used = strlen(names);
    const char *comma = used > 0 ? ", " : "";
    if (used + strlen(comma) + strlen(name) >= size) {
        return false;
    }
    snprintf(names + used, size - used, "%s%s", comma, name);
    return true;
}

// Joints that markers would move beyond a limit in nearly all frames: the person does what the skeleton does not allow, or
// the skeleton does not fit.
static void note_limits(track_result *r)
{
    poise_model_summary size = poise_model_info(r->made->model);
    char names[TRACK_NOTE_SIZE - 100] = "";
    int dropped = 0, frames = r->made->clip->frames;
    for (int i = 0; i < size.nq; ++i) {
        poise_coordinate c = poise_model_coordinate(r->made->model, i);
        poise_joint_info joint = poise_model_joint_info(r->made->model, c.joint);
        bool is_seen = joint.nq != joint.nv || !r->made->unseen || !r->made->unseen[joint.v + c.place];
        int at = 0;
        for (int f = 0; f < frames && is_seen; ++f) {
            at += is_at_limit(r, f, i);
        }
        if (frames >= LEAST_FRAMES && at >= AT_LIMIT * frames) {
            char name[128];
            snprintf(name, sizeof name, "%s%s%s", joint.name, c.label[0] ? " " : "", c.label);
            dropped += !append_name(names, sizeof names, name);
        }
    }
    if (dropped > 0) {
        track_note(r, "at a limit in nearly all frames: %s and %d more; see poise info, --no-limits", names, dropped);
    } else if (names[0]) {
        track_note(r, "at a limit in nearly all frames: %s; see poise info, --no-limits", names);
    }
}

void track_note_followed(track_result *r)
{
    note_ends(r);
    note_limits(r);
    int unseen = 0;
    for (int i = 0; r->made->unseen && i < poise_model_info(r->made->model).nv; ++i) {
        unseen += r->made->unseen[i];
    }
    if (unseen > 0) {
        track_note(r, "%d coordinates that no marker sees keep their default", unseen);
    }
    if (r->made->calibrated && r->made->calibration.size != 1) {
        track_note(r, "the skeleton times %.3f, to the size of the recorded person", r->made->calibration.size);
    }
}

// ---- Following a recording: how far the result can be trusted, and what clinicians read of it ----------------------------

static bool no_memory(void)
{
    complain("no memory left");
    return false;
}

// ---- Deviations ----------------------------------------------------------------------------------------------------------

// "knee", "hip.twist": a degree of freedom by its joint's name.
static void print_dof(FILE *stream, const poise_model *model, int joint, int i)
{
    poise_joint_info info = poise_model_joint_info(model, joint);
    const char *part = info.nq == info.nv ? poise_joint_coordinate(info.given, i).name : NULL;
    if (part && part[0]) {
        fprintf(stream, ",%s.%s", info.name, part);
    } else if (info.nv > 1) {
        fprintf(stream, ",%s.%d", info.name, i + 1);
    } else {
        fprintf(stream, ",%s", info.name);
    }
}

// Degrees for angles; length units as they are.
static double for_people(const poise_model *model, int joint, int i, double deviation)
{
    poise_joint_info info = poise_model_joint_info(model, joint);
    poise_unit unit = info.nq == info.nv ? poise_joint_coordinate(info.given, i).unit : POISE_UNIT_ANGLE;
    return value_for_people(unit, deviation);
}

static void print_rows(FILE *stream, const track_result *r, const double *deviation)
{
    int joints = poise_model_info(r->made->model).joints, nv = poise_model_info(r->made->model).nv;
    fprintf(stream, "frame,time");
    for (int k = 0; k < joints; ++k) {
        for (int i = 0; i < poise_model_joint_info(r->made->model, k).nv; ++i) {
            print_dof(stream, r->made->model, k, i);
        }
    }
    for (int f = 0; f < r->made->clip->frames; ++f) {
        fprintf(stream, "\n%d,%.6g", r->made->first + f, (r->made->first + f) / r->made->markers->rate);
        for (int k = 0; k < joints; ++k) {
            poise_joint_info info = poise_model_joint_info(r->made->model, k);
            for (int i = 0; i < info.nv; ++i) {
                double d = deviation[(size_t)f * (size_t)nv + (size_t)(info.v + i)];
                if (isfinite(d)) {
                    fprintf(stream, ",%.4g", for_people(r->made->model, k, i, d));
                } else {
                    fputc(',', stream); // not determined
                }
            }
        }
    }
    fputc('\n', stream);
}

// Deviations of all frames; NULL after one line on standard error.
static double *deviations_of(const track_result *r)
{
    poise_track_problem track = poise_track_problem_default();
    track.model = r->made->model;
    track.placements = r->made->placements;
    track.placement_count = r->made->placement_count;
    track.markers = r->made->markers;
    size_t count = (size_t)r->made->clip->frames * (size_t)poise_model_info(r->made->model).nv;
    double *deviation = calloc(count + 1, sizeof *deviation);
    poise_error error = {0};
    if (!deviation) {
        no_memory();
    } else if (poise_track_uncertainty(&track, r->made->clip, r->made->frames, 0, NULL, deviation, NULL, &error) !=
               POISE_OK) {
        complain("%s: %s", r->source_name, error.text);
        free(deviation);
        deviation = NULL;
    }
    return deviation;
}

bool track_write_deviations(const track_result *r, const char *name)
{
    double *deviation = deviations_of(r);
    if (!deviation) {
        return false;
    }
    text_file file;
    text_open(&file);
    print_rows(file.stream, r, deviation);
    free(deviation);
    return text_close(&file, name);
}

static int by_size(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

json_node *track_sureness_as_json(const track_result *r)
{
    int frames = r->made->clip->frames, nv = poise_model_info(r->made->model).nv;
    double *deviation = deviations_of(r), *worst = calloc((size_t)frames + 1, sizeof *worst);
    json_node *list = json_new(JSON_ARRAY);
    for (int k = 0; deviation && worst && k < poise_model_info(r->made->model).joints; ++k) {
        poise_joint_info joint = poise_model_joint_info(r->made->model, k);
        int angles = 0;
        for (int f = 0; f < frames; ++f) {
            worst[f] = 0;
        }
        for (int i = 0; i < joint.nv; ++i) {
            bool is_angle = joint.nq != joint.nv || poise_joint_coordinate(joint.given, i).unit == POISE_UNIT_ANGLE;
            for (int f = 0; is_angle && f < frames; ++f) {
                worst[f] = fmax(worst[f], deviation[(size_t)f * (size_t)nv + (size_t)(joint.v + i)]);
            }
            angles += is_angle;
        }
        qsort(worst, (size_t)frames, sizeof *worst, by_size);
        if (angles > 0 && frames > 0) {
            json_append(list, json_make("[o, o]", json_from_text(joint.name),
                                        json_from_number(DEGREES_PER_RADIAN * worst[frames / 2])));
        }
    }
    free(worst);
    free(deviation);
    return list;
}

// ---- Clinicians ----------------------------------------------------------------------------------------------------------

// Angles of all frames, and the same with gaps where nothing is known of them.
typedef struct angle_table {
    double *of_skeleton, *known; // frames x POISE_ANGLE_COUNT
} angle_table;

static void free_angles(angle_table *t)
{
    free(t->of_skeleton);
    free(t->known);
}

// False after one line on standard error.
static bool find_angles(const track_result *r, angle_table *t)
{
    size_t cells = (size_t)r->made->clip->frames * POISE_ANGLE_COUNT + 1;
    poise_error error = {0};
    *t = (angle_table){calloc(cells, sizeof(double)), calloc(cells, sizeof(double))};
    if (!t->of_skeleton || !t->known) {
        free_angles(t);
        return no_memory();
    }
    if (poise_joint_angles(r->made->model, r->made->clip, NULL, t->of_skeleton, &error) != POISE_OK ||
        poise_recording_angles(r->made, NULL, t->known, &error) != POISE_OK) {
        complain("%s: %s", r->model_name, error.text);
        free_angles(t);
        return false;
    }
    return true;
}

// One line on standard error for what is left empty.
static void tell_empty(const char *name, const char *why, const char *names, int count, const char *what)
{
    if (count > 0) {
        warn("%s: %s %s: %d %s %s left empty", name, why, names, count, what, count == 1 ? "is" : "are");
    }
}

// Add `name` to a list of `size` bytes.
static void add_name(const char *name, char *list, size_t size)
{
    size_t used = strlen(list);
    snprintf(list + used, size - used, "%s%s", used > 0 ? ", " : "", name);
}

// Does the skeleton have the two segments of this angle? It then has a column, be it empty, as that of a hinge's adduction.
static bool has_angle(const angle_table *t, int i)
{
    const double *three = t->of_skeleton + i - i % 3;
    return !isnan(three[0]) || !isnan(three[1]) || !isnan(three[2]);
}

// Does any frame know it?
static bool is_known(const track_result *r, const angle_table *t, int i)
{
    for (int f = 0; f < r->made->clip->frames; ++f) {
        if (!isnan(t->known[f * POISE_ANGLE_COUNT + i])) {
            return true;
        }
    }
    return false;
}

// A number; where nothing is known, nothing between commas and NaN in a .mot file, which has no other word.
static void put_cell(FILE *stream, double degrees, bool is_mot)
{
    fputc(is_mot ? '\t' : ',', stream);
    if (!isnan(degrees)) {
        fprintf(stream, "%.6f", degrees);
    } else if (is_mot) {
        fputs("NaN", stream);
    }
}

bool track_write_angles(const track_result *r, const char *name)
{
    angle_table t;
    if (!find_angles(r, &t)) {
        return false;
    }
    size_t length = strlen(name);
    bool is_mot = length > 4 && strcmp(name + length - 4, ".mot") == 0;
    char cell = is_mot ? '\t' : ',';
    int columns = 1, empty = 0;
    char untold[400] = "";
    for (int i = 0; i < POISE_ANGLE_COUNT; ++i) {
        columns += has_angle(&t, i);
        if (!isnan(t.of_skeleton[i]) && !is_known(r, &t, i)) {
            add_name(poise_angle_name(i), untold, sizeof untold);
            empty += 1;
        }
    }
    text_file file;
    text_open(&file);
    if (is_mot) {
        fprintf(file.stream, "joint angles\nversion=1\nnRows=%d\nnColumns=%d\ninDegrees=yes\nendheader\n",
                r->made->clip->frames, columns);
    }
    fprintf(file.stream, "time");
    for (int i = 0; i < POISE_ANGLE_COUNT; ++i) {
        if (has_angle(&t, i)) {
            fprintf(file.stream, "%c%s", cell, poise_angle_name(i));
        }
    }
    for (int f = 0; f < r->made->clip->frames; ++f) {
        fprintf(file.stream, "\n%.9g", r->made->clip->start_time + f * r->made->clip->frame_time);
        for (int i = 0; i < POISE_ANGLE_COUNT; ++i) {
            if (has_angle(&t, i)) {
                put_cell(file.stream, t.known[f * POISE_ANGLE_COUNT + i], is_mot);
            }
        }
    }
    fputc('\n', file.stream);
    free_angles(&t);
    tell_empty(name, "markers do not tell", untold, empty, empty == 1 ? "angle" : "angles");
    return text_close(&file, name);
}

bool track_write_centres(const track_result *r, const char *name)
{
    poise_markers *markers = NULL;
    poise_error error = {0};
    char unknown[200] = "";
    int empty = 0;
    if (poise_recording_centres(r->made, NULL, &markers, &error) != POISE_OK) {
        complain("%s: %s, so there are no joint centres", r->model_name, error.text);
        return false;
    }
    for (int i = 0; i < markers->count; ++i) {
        int frame = 0;
        while (frame < markers->frames && !poise_markers_seen(markers, frame, i)) {
            ++frame;
        }
        if (frame == markers->frames) {
            add_name(markers->label[i], unknown, sizeof unknown);
            empty += 1;
        }
    }
    tell_empty(name, "markers do not tell", unknown, empty, empty == 1 ? "centre" : "centres");
    poise_file file = {.markers = markers, .scale = markers->scale, .title = "joint centres"};
    bool works = save_file(name, &file);
    poise_markers_destroy(markers);
    return works;
}

json_node *track_angles_as_json(const track_result *r)
{
    enum { MOST = 400 }; // points of a curve
    int frames = r->made->clip->frames, step = (frames + MOST - 1) / MOST;
    double *known = calloc((size_t)frames * POISE_ANGLE_COUNT + 1, sizeof *known), curve[MOST];
    json_node *list = json_new(JSON_ARRAY);
    bool is_human = known && poise_recording_angles(r->made, NULL, known, NULL) == POISE_OK;
    for (int i = 0; is_human && i < POISE_ANGLE_COUNT && frames > 0; ++i) {
        int count = 0, told = 0;
        for (int f = 0; f < frames; f += step) {
            curve[count] = known[f * POISE_ANGLE_COUNT + i];
            told += !isnan(curve[count++]);
        }
        if (told > 0) {
            json_append(list, json_make("{s:s, s:i, s:o}", "name", poise_angle_name(i), "step", step, "values",
                                        json_from_numbers(curve, count)));
        }
    }
    free(known);
    return list;
}

// ---- What `poise track` says ---------------------------------------------------------------------------------------------

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

// ---- The page: the template track_page.html with data put into it --------------------------------------------------------

// track_page.html, ended by a zero; made by cmake/embed.cmake when the program is built
extern const unsigned char track_page_text[];

enum { MOST_POINTS = 4000, MOST_FLAGGED = 500, PLAYBACK_BYTES = 2000000 };

// ---- Curves --------------------------------------------------------------------------------------------------------------

// One point for each `step` frames: the largest of them, and all their flags. NaN: nobody is there in any of them.
static json_node *series_as_json(const track_result *r, double per)
{
    int frames = r->made->markers->frames, step = (frames + MOST_POINTS - 1) / MOST_POINTS,
        count = (frames + step - 1) / step;
    size_t n = (size_t)count;
    float *curves = calloc(3 * n, sizeof *curves);
    unsigned char *flags = calloc(n, 1);
    for (size_t i = 0; curves && i < 2 * n; ++i) {
        curves[i] = NAN;
    }
    for (int f = 0; curves && flags && f < frames; ++f) {
        const poise_track_frame *t = &r->made->frames[f];
        int i = f / step;
        if (!track_is_away(r, f)) {
            curves[i] = fmaxf(curves[i], (float)(t->rms * per));
            curves[count + i] = fmaxf(curves[count + i], (float)(t->worst * per));
        }
        curves[2 * count + i] = fmaxf(curves[2 * count + i], (float)t->iterations);
        flags[i] |= (unsigned char)(t->flags & ~(track_is_away(r, f) ? POISE_TRACK_HELD | POISE_TRACK_GAPS : 0));
    }
    json_node *o = json_make("{s:i, s:o, s:o, s:o, s:o}", "step", step, "rms", page_packed(curves, 4 * n), "worst",
                             page_packed(curves ? curves + n : NULL, 4 * n), "iterations",
                             page_packed(curves ? curves + 2 * n : NULL, 4 * n), "flags", page_packed(flags, n));
    free(curves);
    free(flags);
    return o;
}

// ---- Playback ------------------------------------------------------------------------------------------------------------

// Points of every pose, one after another: bodies, tools and ends, markers as seen, markers as found. An end is the middle
// of the markers of a body from which nothing hangs, such as OpenSim's torso: without it the drawing would have none.
typedef struct playback {
    int step, poses, bodies, tools, ends, markers, points;
    poise_placement *end;  // by end: body and place
    poise_vec3 *at;        // poses x points; not finite: not seen
    unsigned char *states; // poses x markers: 0 not seen, 1 seen, 2 ignored
} playback;

static bool has_more(const poise_model *model, int body)
{
    bool found = false;
    for (int k = 0; k < poise_model_info(model).joints && !found; ++k) {
        found = poise_model_joint_info(model, k).parent == body;
    }
    for (int k = 0; k < poise_model_info(model).tools && !found; ++k) {
        found = poise_model_tool_info(model, k).body == body;
    }
    return found;
}

static bool find_ends(const track_result *r, playback *p)
{
    p->end = calloc((size_t)p->bodies + 1, sizeof *p->end);
    for (int k = 0; k < p->bodies && p->end; ++k) {
        poise_placement end = {.body = k};
        for (int i = 0; i < r->made->placement_count; ++i) {
            const poise_placement *m = &r->made->placements[i];
            if (m->body == k) {
                end.local = (poise_vec3){end.local.x + m->local.x, end.local.y + m->local.y, end.local.z + m->local.z};
                end.weight += 1;
            }
        }
        if (end.weight > 0 && !has_more(r->made->model, k)) {
            poise_vec3 *x = &end.local;
            *x = (poise_vec3){x->x / end.weight, x->y / end.weight, x->z / end.weight};
            p->end[p->ends++] = end;
        }
    }
    return p->end != NULL;
}

static void play_pose(const track_result *r, const poise_kinematics *kinematics, int frame, const playback *p, int pose)
{
    poise_vec3 *at = p->at + (size_t)pose * (size_t)p->points;
    unsigned char *state = p->states + (size_t)pose * (size_t)p->markers;
    for (int k = 0; k < p->bodies; ++k) {
        at[k] = poise_kinematics_body_pose(kinematics, k).position;
    }
    for (int k = 0; k < p->tools; ++k) {
        at[p->bodies + k] = poise_kinematics_tool_pose(kinematics, k).position;
    }
    for (int k = 0; k < p->ends; ++k) {
        at[p->bodies + p->tools + k] = poise_kinematics_point(kinematics, p->end[k].body, p->end[k].local);
    }
    poise_vec3 *seen = at + p->bodies + p->tools + p->ends, *found = seen + p->markers;
    for (int i = 0; i < p->markers; ++i) {
        found[i] = poise_kinematics_point(kinematics, r->made->placements[i].body, r->made->placements[i].local);
        double distance = r->made->distances[(size_t)frame * (size_t)p->markers + (size_t)i];
        seen[i] = found[i];
        if (!isnan(distance)) {
            int marker = poise_markers_find(r->made->markers, r->made->placements[i].label);
            seen[i] = r->made->markers->position[(size_t)frame * (size_t)r->made->markers->count + (size_t)marker];
            state[i] = poise_track_lets_go(&r->made->frames[frame], distance) ? 2 : 1;
        }
    }
}

static bool play(const track_result *r, playback *p)
{
    p->bodies = poise_model_info(r->made->model).joints;
    p->tools = poise_model_info(r->made->model).tools;
    p->markers = r->made->placement_count;
    if (!find_ends(r, p)) {
        return false;
    }
    p->points = p->bodies + p->tools + p->ends + 2 * p->markers;
    int most = PLAYBACK_BYTES / (6 * p->points + p->markers) + 1, frames = r->made->markers->frames;
    p->step = (frames + most - 1) / most;
    p->poses = (frames + p->step - 1) / p->step;
    p->at = calloc((size_t)p->poses * (size_t)p->points, sizeof *p->at);
    p->states = calloc((size_t)p->poses * (size_t)p->markers, 1);
    poise_kinematics *kinematics;
    if (!p->at || !p->states || poise_kinematics_create(r->made->model, NULL, &kinematics, NULL) != POISE_OK) {
        return false;
    }
    for (int i = 0; i < p->poses; ++i) {
        poise_kinematics_update(kinematics, r->made->clip->q + (size_t)(i * p->step) * (size_t)r->made->clip->nq, NULL);
        play_pose(r, kinematics, i * p->step, p, i);
    }
    poise_kinematics_destroy(kinematics);
    return true;
}

// The box that bodies and found markers stay in; what was seen beyond is drawn at its border.
static double box_of(const playback *p, double low[3])
{
    double high[3] = {-INFINITY, -INFINITY, -INFINITY};
    low[0] = low[1] = low[2] = INFINITY;
    for (int i = 0; i < p->poses; ++i) {
        for (int k = 0; k < p->points - 2 * p->markers; ++k) {
            poise_vec3 v = p->at[(size_t)i * (size_t)p->points + (size_t)k];
            const double x[3] = {v.x, v.y, v.z};
            for (int d = 0; d < 3; ++d) {
                low[d] = fmin(low[d], x[d]);
                high[d] = fmax(high[d], x[d]);
            }
        }
    }
    double span = fmax(fmax(high[0] - low[0], high[1] - low[1]), high[2] - low[2]), margin = 0.25 * span + 1e-9;
    for (int d = 0; d < 3; ++d) {
        low[d] -= margin;
    }
    return span + 2 * margin;
}

static uint16_t quantise(double x, double low, double span)
{
    double share = (x - low) / span;
    return (uint16_t)(65534 * (share < 0 ? 0 : share > 1 ? 1 : share) + 0.5);
}

static json_node *points_as_json(const playback *p, const double low[3], double span)
{
    size_t count = (size_t)p->poses * (size_t)p->points;
    uint16_t *words = calloc(3 * count, sizeof *words);
    for (size_t i = 0; words && i < count; ++i) {
        words[3 * i] = quantise(p->at[i].x, low[0], span);
        words[3 * i + 1] = quantise(p->at[i].y, low[1], span);
        words[3 * i + 2] = quantise(p->at[i].z, low[2], span);
    }
    json_node *o = page_packed(words, 6 * count);
    free(words);
    return o;
}

// Does this body only slide through the world, as those of OpenSim's pelvis_tx and pelvis_ty do? They are no bones.
static bool is_slider(const poise_model *model, int body)
{
    while (body >= 0 && poise_model_joint_info(model, body).type == POISE_JOINT_PRISMATIC) {
        body = poise_model_joint_info(model, body).parent;
    }
    return body == POISE_WORLD;
}

// Lines of the drawing: from each body to its parent, from each tool and end to its body.
static json_node *bones_as_json(const poise_model *model, const playback *p)
{
    json_node *list = json_new(JSON_ARRAY);
    for (int k = 0; k < p->bodies; ++k) {
        int parent = poise_model_joint_info(model, k).parent;
        if (parent != POISE_WORLD && !is_slider(model, parent)) {
            json_append(list, json_make("[i, i]", parent, k));
        }
    }
    for (int k = 0; k < p->tools; ++k) {
        json_append(list, json_make("[i, i]", poise_model_tool_info(model, k).body, p->bodies + k));
    }
    for (int k = 0; k < p->ends; ++k) {
        json_append(list, json_make("[i, i]", p->end[k].body, p->bodies + p->tools + k));
    }
    return list;
}

static json_node *play_as_json(const track_result *r)
{
    playback p = {0};
    double low[3], span;
    json_node *o = NULL;
    if (play(r, &p)) {
        json_node *names = json_new(JSON_ARRAY);
        for (int k = 0; k < p.bodies; ++k) {
            json_append(names, json_from_text(poise_model_joint_info(r->made->model, k).body));
        }
        for (int k = 0; k < p.tools; ++k) {
            json_append(names, json_from_text(poise_model_tool_info(r->made->model, k).name));
        }
        for (int k = 0; k < p.ends; ++k) {
            json_append(names, json_from_text(poise_model_joint_info(r->made->model, p.end[k].body).body));
        }
        span = box_of(&p, low);
        o = json_make("{s:i, s:i, s:i, s:o, s:o, s:o, s:f, s:o, s:o}", "step", p.step, "poses", p.poses, "markers",
                      p.markers, "names", names, "bones", bones_as_json(r->made->model, &p), "low",
                      json_from_numbers(low, 3), "span", span, "points", points_as_json(&p, low, span), "states",
                      page_packed(p.states, (size_t)p.poses * (size_t)p.markers));
    }
    free(p.at);
    free(p.end);
    free(p.states);
    return o;
}

// ---- Tables --------------------------------------------------------------------------------------------------------------

static bool is_flagged(const track_result *r, int frame)
{
    int flags = r->made->frames[frame].flags & ~POISE_TRACK_GAPS;
    return !track_is_away(r, frame) && (frame > 0 ? flags != 0 : (flags & ~POISE_TRACK_RESTARTED) != 0);
}

// Frames one after another that are flagged for the same reason.
typedef struct flagged_run {
    int first, last;
    bool is_bad; // held, or a jump
    double rms;  // largest
    char reason[128];
} flagged_run;

// The next run at or after `frame`; false when there is none.
static bool next_run(const track_result *r, int frame, flagged_run *run)
{
    int frames = r->made->markers->frames;
    while (frame < frames && !is_flagged(r, frame)) {
        ++frame;
    }
    if (frame == frames) {
        return false;
    }
    *run = (flagged_run){.first = frame, .is_bad = r->made->frames[frame].flags & (POISE_TRACK_HELD | POISE_TRACK_JUMP)};
    track_reason(r, frame, run->reason, sizeof run->reason);
    char reason[sizeof run->reason];
    do {
        run->rms = fmax(run->rms, r->made->frames[frame].rms);
        run->last = frame++;
        if (frame < frames && is_flagged(r, frame)) {
            track_reason(r, frame, reason, sizeof reason);
        } else {
            reason[0] = '\0';
        }
    } while (strcmp(reason, run->reason) == 0);
    return true;
}

// Where there are too many runs, those with held frames and jumps come first.
static json_node *flagged_as_json(const track_result *r, double per, int *frames, int *runs)
{
    flagged_run run;
    int bad = 0;
    *frames = *runs = 0;
    for (int f = 0; next_run(r, f, &run); f = run.last + 1) {
        *frames += run.last - run.first + 1;
        *runs += 1;
        bad += run.is_bad;
    }
    int others = bad < MOST_FLAGGED ? MOST_FLAGGED - bad : 0, room = MOST_FLAGGED;
    json_node *list = json_new(JSON_ARRAY);
    for (int f = 0; next_run(r, f, &run) && room > 0; f = run.last + 1) {
        if (run.is_bad || others > 0) {
            json_append(list, json_make("[i, i, f, s]", r->made->first + run.first, r->made->first + run.last, run.rms * per,
                                        run.reason));
            others -= !run.is_bad;
            room -= 1;
        }
    }
    return list;
}

static json_node *drawn_markers_as_json(const track_result *r, double per)
{
    json_node *list = json_new(JSON_ARRAY);
    for (int i = 0; i < r->made->placement_count; ++i) {
        const poise_marker_error *m = &r->made->by_marker[i];
        json_append(list, json_make("{s:o, s:o, s:f, s:f, s:i, s:i, s:i}", "name",
                                    json_from_text(r->made->placements[i].label), "body",
                                    json_from_text(poise_model_joint_info(r->made->model, r->made->placements[i].body).body),
                                    "mean", m->mean * per, "most", m->worst * per, "worst_frame",
                                    r->made->first + m->worst_frame, "seen", m->seen, "let_go", m->let_go));
    }
    return list;
}

static json_node *summary_as_json(const track_result *r, double per)
{
    return json_make("{s:f, s:f, s:o, s:i, s:i, s:i, s:f, s:i, s:f, s:f}", "mean", r->made->summary.mean * per, "most",
                     r->made->summary.worst * per, "most_marker",
                     json_from_text(r->made->placements[r->made->summary.worst_marker].label), "most_frame",
                     r->made->first + r->made->summary.worst_frame, "held", r->made->summary.held, "outliers",
                     r->made->summary.outliers, "iterations", r->made->summary.mean_iterations, "most_iterations",
                     r->made->summary.most_iterations, "us", 1e6 * r->mean_time, "p99", 1e6 * r->p99);
}

// Which way is up, for playback, where no file says it: along the axis on which bodies stay nearest to 0 from above, as they
// do on a floor.
static poise_up likely_up(const track_result *r)
{
    if (r->made->scale.up != POISE_UP_UNKNOWN) {
        return r->made->scale.up;
    }
    double below[3] = {0};
    const poise_markers *m = r->made->markers;
    for (int f = 0; f < m->frames; ++f) {
        double low[3] = {INFINITY, INFINITY, INFINITY};
        for (int i = 0; i < m->count; ++i) {
            if (poise_markers_seen(m, f, i)) {
                poise_vec3 v = m->position[(size_t)f * (size_t)m->count + (size_t)i];
                low[0] = fmin(low[0], v.x);
                low[1] = fmin(low[1], v.y);
                low[2] = fmin(low[2], v.z);
            }
        }
        for (int k = 0; k < 3 && isfinite(low[k]); ++k) {
            below[k] += fabs(low[k]);
        }
    }
    int best = below[2] < below[1] ? 2 : 1;
    return below[0] < below[best] ? POISE_UP_X : best == 2 ? POISE_UP_Z : POISE_UP_Y;
}

// When the ball of a foot rests on the ground: [body, first frame, last frame]; none where there are no legs, and while
// nobody is there.
static json_node *contacts_as_json(const track_result *r)
{
    const poise_clip *clip = r->made->clip;
    int before = r->made->summary.before, end = clip->frames - r->made->summary.after;
    poise_feet_report found = {0};
    json_node *list = json_new(JSON_ARRAY);
    poise_pin *pins = NULL;
    if (poise_feet_pins(r->made->model, clip, NULL, NULL, 0, &found, NULL) == POISE_OK && found.contacts > 0) {
        pins = calloc((size_t)found.contacts, sizeof *pins);
    }
    if (pins && poise_feet_pins(r->made->model, clip, NULL, pins, found.contacts, &found, NULL) == POISE_OK) {
        for (int i = 0; i < found.contacts; ++i) {
            int first = (int)((pins[i].from - clip->start_time) / clip->frame_time + 0.5);
            int last = (int)((pins[i].to - clip->start_time) / clip->frame_time + 0.5);
            first = first > before ? first : before;
            last = last < end ? last : end - 1;
            if (first < last) {
                const char *foot = poise_model_joint_info(r->made->model, pins[i].goal.body).body;
                json_append(list,
                            json_make("[o, i, i]", json_from_text(foot), r->made->first + first, r->made->first + last));
            }
        }
    }
    free(pins);
    return list;
}

// ---- The page ------------------------------------------------------------------------------------------------------------

static json_node *data_of(const track_result *r, const arguments *args)
{
    const char *unit;
    double per = track_unit(r, &unit);
    int frames, runs;
    json_node *flagged = flagged_as_json(r, per, &frames, &runs), *notes = json_new(JSON_ARRAY);
    for (int i = 0; i < r->note_count; ++i) {
        json_append(notes, json_from_text(r->note[i]));
    }
    json_node *o =
        json_make("{s:s, s:o, s:o, s:o, s:s, s:s, s:i, s:i, s:i, s:f, s:f, s:i, s:i, s:i, s:b}", "version", poise_version(),
                  "command", page_command(args), "model", json_from_text(r->model_name), "source",
                  json_from_text(r->source_name), "method", poise_method_name(r->problem.track.solver.method), "unit", unit,
                  "frames", r->made->markers->frames, "gaps", r->made->summary.gaps, "first", r->made->first, "rate",
                  r->made->markers->rate, "start", r->made->clip->start_time, "dofs", poise_model_info(r->made->model).nv,
                  "placed", r->made->placement_count, "up", (int)likely_up(r), "from_motion", (int)r->made->from_motion);
    json_node *tables = json_make("{s:o, s:o, s:o, s:o, s:o, s:i, s:i, s:o, s:o, s:o}", "verdict",
                                  verdict_as_json(&r->made->verdict, r->made->findings, VERDICT_OF_TRACK), "sure",
                                  track_sureness_as_json(r), "notes", notes, "summary", summary_as_json(r, per), "flagged",
                                  flagged, "flagged_frames", frames, "flagged_rows", runs, "markers",
                                  drawn_markers_as_json(r, per), "series", series_as_json(r, per), "play", play_as_json(r));
    if (!o || !tables) {
        json_release(o);
        json_release(tables);
        return NULL;
    }
    json_set(tables, "angles", track_angles_as_json(r));
    json_set(tables, "contacts", contacts_as_json(r));
    json_merge(o, tables);
    return o;
}

bool report_write(const track_result *r, const char *name, const arguments *args)
{
    return page_write((const char *)track_page_text, data_of(r, args), name);
}
