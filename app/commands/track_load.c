// Following a recording: reading it, and bringing markers and skeleton together.
#include "track_parts.h"

#include "cli/scale_words.h"
#include "cli/terminal.h"
#include "cli/whole_files.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define KNOWN 0.01 // of the stature: how far a marker may be from the place that a file gives it

track_request track_request_default(void)
{
    return (track_request){.last = -1,
                           .calibration_frames = 50,
                           .thresholds = poise_verdict_problem_default().thresholds,
                           .track = poise_track_problem_default(),
                           .sequence = poise_sequence_options_default(),
                           .threads = 1};
}

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

void track_release(track_result *r)
{
    free(r->placements);
    free(r->priors);
    free(r->q_start);
    free(r->task);
    free(r->task_weights);
    free(r->unseen);
    for (int i = 0; i < r->absent_count; ++i) {
        free(r->absent[i]);
    }
    free(r->absent);
    free(r->frames);
    free(r->seconds);
    free(r->distances);
    free(r->by_marker);
    free(r->findings);
    poise_clip_destroy(r->clip);
    poise_markers_destroy(r->markers);
    poise_model_destroy(r->fitted);
    poise_file_destroy(r->skeleton);
    poise_file_destroy(r->source);
    poise_file_destroy(r->places);
    *r = (track_result){0};
}

static bool no_memory(void)
{
    complain("no memory left");
    return false;
}

// ---- Units ---------------------------------------------------------------------------------------------------------------

// A person who would be as tall as a house, or as a hand, by the unit that the file says.
static void note_size(track_result *r)
{
    poise_figure figure;
    char unit[32];
    double metres = r->markers->scale.metres;
    if (poise_markers_figure(r->markers, &figure, NULL) == POISE_OK && metres > 0 && is_no_person(&figure, metres)) {
        track_note(r, "in units of %g m the person is %.3g m tall; in %s it would be %.3g m (--source-unit)", metres,
                   figure.height * metres, unit_name(figure.metres, unit), figure.height * figure.metres);
    }
}

// What a file does not say and was found out; 0 and UNKNOWN: nothing.
static void note_taken(track_result *r, const char *which, double metres, poise_up up, const char *options)
{
    char text[32];
    if (metres > 0 || up != POISE_UP_UNKNOWN) {
        track_note(r, "the %s is taken as %s%s%s%s, by the figure; see %s", which, metres > 0 ? unit_name(metres, text) : "",
                   metres > 0 && up != POISE_UP_UNKNOWN ? ", " : "", up != POISE_UP_UNKNOWN ? up_name(up) : "",
                   up != POISE_UP_UNKNOWN ? " up" : "", options);
    }
}

// Bring the markers into the units and axes of the skeleton, and say how.
static bool match_scale(track_result *r)
{
    poise_scale_match m;
    poise_scale said = r->markers->scale, model = r->scale;
    note_size(r);
    if (poise_markers_match(r->markers, r->model, &r->scale, &m, NULL) != POISE_OK) {
        return no_memory();
    }
    if (m.markers_unknown && m.model_unknown) {
        if (m.by_size) {
            track_note(r, "no file says its unit: markers times %g, by their size; see --unit", m.from.metres);
        }
    }
    bool is_both = m.markers_unknown && m.model_unknown;
    note_taken(r, "recording", m.markers_unknown && !is_both ? m.from.metres : 0,
               said.up == POISE_UP_UNKNOWN && m.up_by_figure ? m.from.up : POISE_UP_UNKNOWN, "--source-unit, --source-up");
    note_taken(r, "skeleton", m.model_unknown && !is_both ? r->scale.metres : 0,
               model.up == POISE_UP_UNKNOWN && m.up_by_figure ? r->scale.up : POISE_UP_UNKNOWN, "--unit, --up");
    if (m.turned_over) {
        track_note(r, "the person stood upside down along %s and was turned over", up_name(m.from.up));
    }
    if (m.from.metres != r->scale.metres) {
        track_note(r, "markers times %g: from units of %g m to %g m", m.from.metres / r->scale.metres, m.from.metres,
                   r->scale.metres);
    }
    if (m.from.up != r->scale.up) {
        track_note(r, "markers turned from %s up to %s up", up_name(m.from.up), up_name(r->scale.up));
    }
    return true;
}

// ---- Frames --------------------------------------------------------------------------------------------------------------

static bool choose_frames(const track_request *request, track_result *r)
{
    int frames = r->markers->frames, last = request->last < 0 ? frames - 1 : request->last;
    if (frames == 0) {
        complain("%s: has no frames", r->source_name);
        return false;
    }
    if (request->first >= frames || last >= frames || request->first > last) {
        complain("%s: has frames 0 to %d; --first %d --last %d is no part of that", r->source_name, frames - 1,
                 request->first, last);
        return false;
    }
    poise_markers *part = NULL;
    if ((request->first > 0 || last < frames - 1)) {
        if (poise_markers_trim(r->markers, request->first, last - request->first + 1, NULL, &part, NULL) != POISE_OK) {
            return no_memory();
        }
        poise_markers_destroy(r->markers);
        r->markers = part;
        r->first = request->first;
    }
    if (request->rate > 0 && request->rate != r->markers->rate) {
        if (poise_markers_resample(r->markers, request->rate, NULL, &part, NULL) != POISE_OK) {
            return no_memory();
        }
        track_note(r, "resampled from %g to %g per second; frames are counted after that", r->markers->rate, request->rate);
        poise_markers_destroy(r->markers);
        r->markers = part;
        r->first = 0;
    }
    return true;
}

// ---- Marker places -------------------------------------------------------------------------------------------------------

static bool keep_places(track_result *r, const poise_placement *places, int count)
{
    r->placements = calloc((size_t)count + 1, sizeof *r->placements);
    if (!r->placements) {
        return no_memory();
    }
    memcpy(r->placements, places, (size_t)count * sizeof *places);
    r->placement_count = count;
    return true;
}

// Places on the bodies of another file's skeleton, where this one has bodies of the same names.
static bool places_of_source(track_result *r, const poise_file *source, const char *name)
{
    if (!keep_places(r, source->placements, source->placement_count)) {
        return false;
    }
    r->placement_count = 0;
    for (int i = 0; i < source->placement_count; ++i) {
        poise_placement place = source->placements[i];
        place.body = poise_model_find_body(r->model, poise_model_joint_info(source->model, place.body).body);
        if (place.body >= 0) {
            r->placements[r->placement_count++] = place;
        }
    }
    if (r->placement_count > 0) {
        track_note(r, "marker places from %s, by the names of bodies", name);
    }
    return true;
}

// Leave out places whose markers the recording does not have.
static void drop_absent(track_result *r)
{
    int kept = 0;
    for (int i = 0; i < r->placement_count; ++i) {
        if (poise_markers_find(r->markers, r->placements[i].label) >= 0) {
            r->placements[kept++] = r->placements[i];
        }
    }
    if (kept > 0 && kept < r->placement_count) {
        track_note(r, "%d of %d places have no marker in the recording", r->placement_count - kept, r->placement_count);
    }
    r->placement_count = kept;
}

// Places that a file knows are held where they are where others, or bones, are calibrated.
static void hold_known(track_result *r, int known)
{
    double deviation = KNOWN * r->anatomy.stature;
    for (int i = 0; i < known && r->priors; ++i) {
        poise_vec3 place = r->placements[i].local;
        if (isfinite(place.x) && isfinite(place.y) && isfinite(place.z)) {
            r->priors[i] = (poise_place_prior){.place = place, .axis = {1, 0, 0}, .along = deviation, .across = deviation};
        }
    }
    r->named = r->placement_count - known;
    if (!(deviation > 0) && r->named == 0) { // no human skeleton
        free(r->priors);
        r->priors = NULL;
    }
}

// Places by common names, beside those that the skeleton's file knows; `rows` go before the built-in one.
static bool add_named(const track_request *request, track_result *r, const char *rows)
{
    int capacity = r->markers->count, known = r->placement_count;
    size_t room = (size_t)known + (size_t)capacity + 1;
    poise_placement *all = realloc(r->placements, room * sizeof *all);
    poise_placement *named = calloc((size_t)capacity + 1, sizeof *named);
    poise_place_prior *priors = calloc((size_t)capacity + 1, sizeof *priors);
    r->placements = all ? all : r->placements;
    r->priors = calloc(room, sizeof *r->priors);
    poise_error error;
    bool works = all && named && priors && r->priors;
    if (!works) {
        no_memory();
    } else if (poise_places_by_name(r->model, r->markers, rows, named, priors, capacity, &r->anatomy, &error) != POISE_OK) {
        complain("%s: %s", request->labels, error.text);
        works = false;
    }
    for (int i = 0; works && i < r->anatomy.placed; ++i) {
        bool is_new = true;
        for (int k = 0; k < known && is_new; ++k) {
            is_new =
                poise_markers_find(r->markers, r->placements[k].label) != poise_markers_find(r->markers, named[i].label);
        }
        if (is_new) {
            r->placements[r->placement_count] = named[i];
            r->priors[r->placement_count++] = priors[i];
        }
    }
    free(named);
    free(priors);
    hold_known(r, known);
    if (works && r->placement_count == 0) {
        complain("%s: none of its markers has a place on %s; give them with --placements FILE.json", r->source_name,
                 r->model_name);
    } else if (works && r->placement_count > known) {
        track_note(r, "%d of %d markers placed by common names, then calibrated", r->placement_count - known, capacity);
    }
    return works && r->placement_count > 0;
}

static bool places_by_name(const track_request *request, track_result *r)
{
    file_bytes file = {.bytes = NULL};
    if (request->labels && !file_read(request->labels, &file)) {
        return false;
    }
    bool works = add_named(request, r, file.bytes);
    file_release(&file);
    return works;
}

static bool places_of_file(const char *name, track_result *r)
{
    load_options options = {.model = r->model};
    const poise_file *file = r->places = load_file(name, &options);
    if (!file) {
        return false;
    }
    if (file->placement_count == 0) {
        complain("%s: holds no marker places; it needs \"placements\", see docs/formats.md", name);
        return false;
    }
    // the indices of a file that holds a skeleton belong to that one
    return file->model ? places_of_source(r, file, name) : keep_places(r, file->placements, file->placement_count);
}

static bool find_places(const track_request *request, track_result *r)
{
    if (request->placements) {
        return places_of_file(request->placements, r);
    }
    if (r->skeleton->placement_count > 0 && !keep_places(r, r->skeleton->placements, r->skeleton->placement_count)) {
        return false;
    }
    if (r->placement_count == 0 && r->source->placement_count > 0 && r->source->model &&
        !places_of_source(r, r->source, r->source_name)) {
        return false;
    }
    drop_absent(r);
    bool is_opensim = (r->skeleton->format == POISE_FORMAT_OSIM || request->tasks) && r->placement_count > 0;
    return is_opensim || places_by_name(request, r);
}

// Find the markers of the places, and speak of those that have none.
static bool find_markers(track_result *r)
{
    int found = 0;
    for (int i = 0; i < r->placement_count; ++i) {
        found += poise_markers_find(r->markers, r->placements[i].label) >= 0;
    }
    if (found == 0) {
        complain("%s: has none of the %d markers that %s places, such as \"%s\"", r->source_name, r->placement_count,
                 r->model_name, r->placement_count > 0 ? r->placements[0].label : "");
        return false;
    }
    if (found < r->placement_count) {
        track_note(r, "%d of %d places have no marker in the recording", r->placement_count - found, r->placement_count);
    }
    if (found < r->markers->count) {
        track_note(r, "%d of %d markers have no place on the skeleton and are left out", r->markers->count - found,
                   r->markers->count);
    }
    return true;
}

// ---- All together --------------------------------------------------------------------------------------------------------

// What the user says counts more than what the file says.
static void prefer(poise_scale *scale, poise_scale wanted)
{
    scale->metres = wanted.metres > 0 ? wanted.metres : scale->metres;
    scale->up = wanted.up != POISE_UP_UNKNOWN ? wanted.up : scale->up;
}

// Bodies of the motion's skeleton that nothing follows, by name.
static void note_unpaired(track_result *r, const poise_model *model)
{
    char names[TRACK_NOTE_SIZE - 60] = "";
    int count = 0;
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        const char *name = poise_model_joint_info(model, k).body;
        size_t used = strlen(names);
        if (poise_markers_find(r->markers, name) >= 0) {
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

// The points that a motion's skeleton and this one have in common, as markers.
static bool take_motion(const track_request *request, track_result *r, const poise_model *model)
{
    poise_retarget_problem problem = {.from = model,
                                      .clip = r->source->clip,
                                      .from_scale = r->source->scale,
                                      .to = r->model,
                                      .to_scale = r->scale,
                                      .pairs = request->pairs,
                                      .pair_count = request->pair_count,
                                      .keep_size = request->keep_size};
    size_t most = (size_t)poise_model_info(model).joints + (size_t)poise_model_info(model).tools;
    poise_retarget_report report;
    poise_error error;
    r->from_motion = true;
    r->placements = calloc(most + 1, sizeof *r->placements);
    if (!r->placements) {
        return no_memory();
    }
    poise_status status = poise_retarget_points(&problem, NULL, &r->markers, r->placements, &report, &error);
    if (status != POISE_OK) {
        complain("%s: %s", status == POISE_ERROR_ARGUMENT ? "track" : r->source_name, error.text);
        return false;
    }
    r->placement_count = report.points;
    r->scale = report.scale;
    track_note(r, "%d points followed, by the names of bodies and tools", report.points);
    note_unpaired(r, model);
    if (report.factor != 1) {
        track_note(r, "motion times %.6g, to the size of the skeleton%s", report.factor,
                   request->keep_size ? "'s units" : "; --keep-size leaves it");
    }
    if (report.is_turned) {
        track_note(r, "motion turned so that up is up");
    }
    if (!choose_frames(request, r)) {
        return false;
    }
    for (int i = 0; i < r->placement_count; ++i) {
        r->placements[i].label = r->markers->label[i]; // those of all frames may be gone
    }
    return true;
}

// One subject of several.
static bool choose_subject(const track_request *request, track_result *r)
{
    poise_markers *part = NULL;
    poise_error error = {0};
    if (poise_markers_select(r->markers, request->subject, NULL, &part, &error) != POISE_OK) {
        complain("%s: %s%s", r->source_name, error.text, request->subject ? "" : ": --subject NAME");
        return false;
    }
    if (part) {
        track_note(r, "subject %s: %d of %d markers", request->subject ? request->subject : "with a whole body", part->count,
                   r->markers->count);
        poise_markers_destroy(r->markers);
        r->markers = part;
    }
    return true;
}

static bool take_source(const track_request *request, track_result *r, const poise_file *other)
{
    poise_file *source = r->source;
    const poise_model *model = source->model ? source->model : other ? other->model : NULL;
    bool use_markers = source->markers && !request->use_bodies;
    prefer(&source->scale, request->source_scale);
    if (!use_markers && !(source->clip && model)) {
        complain("%s: holds %s to follow; markers come from C3D, TRC and JSON, motions from BVH, AMC, MOT, glTF and JSON",
                 r->source_name,
                 source->clip ? "no skeleton (--source-model FILE gives one)" : "neither markers nor motion");
        return false;
    }
    if (!use_markers) {
        return take_motion(request, r, model) && find_markers(r);
    }
    r->markers = source->markers;
    prefer(&r->markers->scale, request->source_scale);
    source->markers = NULL;
    track_request within = *request;
    return choose_subject(request, r) && track_take_times(&within, r->markers) && choose_frames(&within, r) &&
           match_scale(r) && find_places(request, r) && track_take_tasks(request, r) && find_markers(r);
}

bool track_load(const track_request *request, track_result *r)
{
    *r = (track_result){.model_name = request->model, .source_name = request->source};
    load_options options = {.floating = request->floating};
    r->skeleton = load_model(request->model, &options);
    if (!r->skeleton) {
        return false;
    }
    r->model = r->skeleton->model;
    r->scale = r->skeleton->scale;
    prefer(&r->scale, request->scale);
    poise_file *other;
    if (!load_any(request->source, request->source_model, NULL, &r->source, &other)) {
        r->source = NULL;
        return false;
    }
    bool works = take_source(request, r, other);
    poise_file_destroy(other);
    return works;
}
