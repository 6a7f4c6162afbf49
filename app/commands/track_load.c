// Following a recording: reading it, and bringing markers and skeleton together.
#include "track_parts.h"

#include "cli/terminal.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

track_wish track_wish_default(void)
{
    return (track_wish){.last = -1, .calibration_frames = 50, .track = poise_tracker_options_default(), .threads = 1};
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
    for (int i = 0; r->label && i < r->placement_count; ++i) {
        free(r->label[i]);
    }
    free(r->label);
    free(r->placements);
    free(r->marker);
    free(r->q_start);
    free(r->frames);
    free(r->seconds);
    free(r->by_marker);
    poise_clip_destroy(r->clip);
    poise_markers_destroy(r->markers);
    poise_model_destroy(r->fitted);
    poise_file_destroy(r->skeleton);
    *r = (track_result){0};
}

static bool no_memory(void)
{
    complain("no memory left");
    return false;
}

// ---- Units ---------------------------------------------------------------------------------------------------------------

typedef struct box {
    double low[3], high[3];
} box;

static const box empty_box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};

static void box_add(box *b, poise_vec3 p)
{
    const double x[3] = {p.x, p.y, p.z};
    for (int i = 0; i < 3; ++i) {
        b->low[i] = fmin(b->low[i], x[i]);
        b->high[i] = fmax(b->high[i], x[i]);
    }
}

static double box_size(const box *b)
{
    double x = b->high[0] - b->low[0], y = b->high[1] - b->low[1], z = b->high[2] - b->low[2];
    return x >= 0 ? hypot(hypot(x, y), z) : 0;
}

// From corner to corner of the skeleton in its neutral pose; 0 when that cannot be had.
static double skeleton_size(const poise_model *model)
{
    poise_kinematics *kinematics;
    double *q = calloc((size_t)poise_model_nq(model) + 1, sizeof *q);
    if (!q || poise_kinematics_create(model, NULL, &kinematics, NULL) != POISE_OK) {
        free(q);
        return 0;
    }
    box b = empty_box;
    poise_model_neutral(model, q);
    poise_kinematics_update(kinematics, q, NULL);
    for (int k = 0; k < poise_model_joint_count(model); ++k) {
        box_add(&b, poise_kinematics_body_pose(kinematics, k).position);
    }
    for (int k = 0; k < poise_model_tool_count(model); ++k) {
        box_add(&b, poise_kinematics_tool_pose(kinematics, k).position);
    }
    poise_kinematics_destroy(kinematics);
    free(q);
    return box_size(&b);
}

// The same of the markers: the largest of some frames.
static double markers_size(const poise_markers *m)
{
    enum { LOOKS = 50 };
    double most = 0;
    for (int i = 0; i < LOOKS && i < m->frames; ++i) {
        box b = empty_box;
        int frame = (int)((int64_t)i * m->frames / (m->frames < LOOKS ? m->frames : LOOKS));
        for (int k = 0; k < m->count; ++k) {
            if (poise_markers_seen(m, frame, k)) {
                box_add(&b, m->position[(size_t)frame * (size_t)m->count + (size_t)k]);
            }
        }
        most = fmax(most, box_size(&b));
    }
    return most;
}

// The unit, in metres, that makes something of this size, in units, as large as `metres`; 0 when none comes within a factor
// of 2.5. Common ones only: metre, decimetre, centimetre, millimetre, inch, foot.
static double guess_unit(double size, double metres)
{
    static const double units[] = {1, 0.1, 0.01, 0.001, 0.0254, 0.3048};
    double best = 0, least = log(2.5);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; ++i) {
        double off = fabs(log(size * units[i] / metres));
        if (off < least) {
            least = off;
            best = units[i];
        }
    }
    return best;
}

// Where the unit of the skeleton or of the markers is not known, say which one it must be for both to have one size.
static void complete_units(track_result *r)
{
    poise_scale *marks = &r->markers->scale, *bones = &r->scale;
    if ((marks->metres > 0) == (bones->metres > 0) && marks->metres > 0) {
        return;
    }
    double mark_size = markers_size(r->markers), bone_size = skeleton_size(r->model);
    bool sized = mark_size > 0 && bone_size > 0;
    double known = bones->metres > 0 ? bones->metres : marks->metres;
    double guess = !sized              ? 0
                   : bones->metres > 0 ? guess_unit(mark_size, bone_size * bones->metres)
                   : marks->metres > 0 ? guess_unit(bone_size, mark_size * marks->metres)
                                       : guess_unit(mark_size, bone_size);
    const char *whose = bones->metres > 0 ? "the markers" : marks->metres > 0 ? "the skeleton" : "neither";
    if (known > 0 && guess > 0) {
        *(bones->metres > 0 ? &marks->metres : &bones->metres) = guess;
        track_note(r, "the unit of %s is taken as %g m, by its size; see --unit", whose, guess);
    } else if (known > 0) {
        *(bones->metres > 0 ? &marks->metres : &bones->metres) = known;
        track_note(r, "the unit of %s is not known and taken as %g m; see --unit", whose, known);
    } else if (guess > 0 && guess != 1) { // both unknown: only the ratio counts
        marks->metres = guess;
        bones->metres = 1;
        track_note(r, "no file says its unit: markers times %g, by their size; see --unit", guess);
    }
}

static const char *up_name(poise_up up)
{
    static const char *const names[] = {"?", "x", "y", "z"};
    return names[up];
}

// Bring the markers into the units and axes of the skeleton. An axis that only one of them knows is both's; what neither
// knows is left alone.
static bool match_scale(track_result *r)
{
    complete_units(r);
    poise_scale from = r->markers->scale, to = r->scale;
    if (from.metres != to.metres) {
        track_note(r, "markers times %g: from units of %g m to %g m", from.metres / to.metres, from.metres, to.metres);
    }
    from.up = from.up != POISE_UP_UNKNOWN ? from.up : to.up;
    to.up = to.up != POISE_UP_UNKNOWN ? to.up : from.up;
    r->scale.up = to.up;
    if (from.up != to.up) {
        track_note(r, "markers turned from %s up to %s up", up_name(from.up), up_name(to.up));
    }
    if (to.metres == 0) {
        from.metres = to.metres = 1;
    }
    if (to.up == POISE_UP_UNKNOWN) {
        from.up = to.up = POISE_UP_Y;
    }
    r->markers->scale = from;
    if ((from.metres != to.metres || from.up != to.up) && poise_markers_rescale(r->markers, to, NULL) != POISE_OK) {
        return no_memory();
    }
    r->markers->scale = r->scale;
    return true;
}

// ---- Frames --------------------------------------------------------------------------------------------------------------

static bool choose_frames(const track_wish *wish, track_result *r)
{
    int frames = r->markers->frames, last = wish->last < 0 ? frames - 1 : wish->last;
    if (frames == 0) {
        complain("%s: has no frames", r->source_name);
        return false;
    }
    if (wish->first >= frames || last >= frames || wish->first > last) {
        complain("%s: has frames 0 to %d; --first %d --last %d is no part of that", r->source_name, frames - 1, wish->first,
                 last);
        return false;
    }
    poise_markers *part = NULL;
    if ((wish->first > 0 || last < frames - 1)) {
        if (poise_markers_trim(r->markers, wish->first, last - wish->first + 1, NULL, &part, NULL) != POISE_OK) {
            return no_memory();
        }
        poise_markers_destroy(r->markers);
        r->markers = part;
        r->first = wish->first;
    }
    if (wish->rate > 0 && wish->rate != r->markers->rate) {
        if (poise_markers_resample(r->markers, wish->rate, NULL, &part, NULL) != POISE_OK) {
            return no_memory();
        }
        track_note(r, "resampled from %g to %g per second; frames are counted after that", r->markers->rate, wish->rate);
        poise_markers_destroy(r->markers);
        r->markers = part;
        r->first = 0;
    }
    return true;
}

// ---- Marker places -------------------------------------------------------------------------------------------------------

static bool make_room(track_result *r, int count)
{
    size_t n = (size_t)count + 1;
    r->placements = calloc(n, sizeof *r->placements);
    r->label = calloc(n, sizeof *r->label);
    return (r->placements && r->label) || no_memory();
}

// Keep a place with a copy of its label.
static bool keep_place(track_result *r, const poise_placement *place, int body)
{
    size_t size = strlen(place->label) + 1;
    char *label = malloc(size);
    if (!label) {
        return no_memory();
    }
    memcpy(label, place->label, size);
    r->label[r->placement_count] = label;
    r->placements[r->placement_count] = *place;
    r->placements[r->placement_count].label = label;
    r->placements[r->placement_count++].body = body;
    return true;
}

static bool keep_places(track_result *r, const poise_placement *places, int count)
{
    bool works = make_room(r, count);
    for (int i = 0; works && i < count; ++i) {
        works = keep_place(r, &places[i], places[i].body);
    }
    return works;
}

// Places on the bodies of the source's own skeleton, where this one has bodies of the same names.
static bool places_of_source(track_result *r, const poise_file *source)
{
    bool works = make_room(r, source->placement_count);
    for (int i = 0; works && i < source->placement_count; ++i) {
        int body = poise_model_find_body(r->model, poise_model_joint_info(source->model, source->placements[i].body).body);
        works = body == POISE_NONE || keep_place(r, &source->placements[i], body);
    }
    if (works && r->placement_count > 0) {
        track_note(r, "marker places from %s, by the names of bodies", r->source_name);
    }
    return works;
}

static bool places_by_name(track_result *r)
{
    int capacity = r->markers->count;
    poise_placement *places = calloc((size_t)capacity + 1, sizeof *places);
    if (!places) {
        return no_memory();
    }
    int count = poise_placements_by_name(r->model, r->markers, places, capacity);
    bool works = count > 0 && keep_places(r, places, count);
    if (works) {
        track_note(r, "%d of %d markers placed by common names, then calibrated", count, capacity);
    } else if (count <= 0) {
        complain("%s: none of its markers has a place on %s; give them with --placements FILE.json", r->source_name,
                 r->model_name);
    }
    free(places);
    return works;
}

static bool places_of_file(const char *name, track_result *r)
{
    load_options options = {.model = r->model};
    poise_file *file = load_file(name, &options);
    if (!file) {
        return false;
    }
    bool works = file->placement_count > 0;
    if (!works) {
        complain("%s: holds no marker places; it needs \"placements\", see docs/formats.md", name);
    } else if (file->model) { // its indices belong to its own skeleton
        r->source_name = name;
        works = places_of_source(r, file);
    } else {
        works = keep_places(r, file->placements, file->placement_count);
    }
    poise_file_destroy(file);
    return works;
}

static bool find_places(const track_wish *wish, track_result *r, const poise_file *source)
{
    if (wish->placements) {
        const char *name = r->source_name;
        bool works = places_of_file(wish->placements, r);
        r->source_name = name;
        return works;
    }
    if (r->skeleton->placement_count > 0) {
        return keep_places(r, r->skeleton->placements, r->skeleton->placement_count);
    }
    if (source->placement_count > 0 && source->model && !places_of_source(r, source)) {
        return false;
    }
    return r->placement_count > 0 || places_by_name(r);
}

// Find the markers of the places, and speak of those that have none.
static bool find_markers(track_result *r)
{
    int found = 0;
    r->marker = calloc((size_t)r->placement_count + 1, sizeof *r->marker);
    if (!r->marker) {
        return no_memory();
    }
    for (int i = 0; i < r->placement_count; ++i) {
        r->marker[i] = poise_markers_find(r->markers, r->placements[i].label);
        found += r->marker[i] != POISE_NONE;
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

static bool take_source(const track_wish *wish, track_result *r, poise_file *source, const poise_file *other)
{
    const poise_model *model = source->model ? source->model : other ? other->model : NULL;
    bool use_markers = source->markers && !wish->use_bodies;
    prefer(&source->scale, wish->source_scale);
    if (!use_markers && !(source->clip && model)) {
        complain("%s: holds %s to follow; markers come from C3D, TRC and JSON, motions from BVH, AMC, MOT, glTF and JSON",
                 r->source_name,
                 source->clip ? "no skeleton (--source-model FILE gives one)" : "neither markers nor motion");
        return false;
    }
    if (!use_markers) {
        r->from_motion = true;
        return track_take_motion(wish, r, source, model) && choose_frames(wish, r) && find_markers(r);
    }
    r->markers = source->markers;
    prefer(&r->markers->scale, wish->source_scale);
    source->markers = NULL;
    return choose_frames(wish, r) && match_scale(r) && find_places(wish, r, source) && find_markers(r);
}

bool track_load(const track_wish *wish, track_result *r)
{
    *r = (track_result){.model_name = wish->model, .source_name = wish->source};
    load_options options = {.floating = wish->floating};
    r->skeleton = load_model(wish->model, &options);
    if (!r->skeleton) {
        return false;
    }
    r->model = r->skeleton->model;
    r->scale = r->skeleton->scale;
    prefer(&r->scale, wish->scale);
    poise_file *source, *other;
    if (!load_any(wish->source, wish->source_model, NULL, &source, &other)) {
        return false;
    }
    bool works = take_source(wish, r, source, other);
    poise_file_destroy(source);
    poise_file_destroy(other);
    return works;
}
