// Following a recording: what was decided for the user, in words.
#include "track_parts.h"

#include "cli/files.h"
#include "cli/terminal.h"
#include "cli/words.h"

#include <math.h>
#include <stdarg.h>
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
