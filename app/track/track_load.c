// Following a recording: reading it, and what the command line says of it.
#include "track_parts.h"

#include "cli/files.h"
#include "cli/terminal.h"

#include <stdlib.h>
#include <string.h>

track_request track_request_default(void)
{
    return (track_request){.threads = 1, .problem = poise_recording_problem_default()};
}

void track_release(track_result *r)
{
    poise_recording_destroy(r->made);
    poise_recording_destroy(r->stood);
    free(r->task);
    free(r->task_weights);
    for (int i = 0; i < r->absent_count; ++i) {
        free(r->absent[i]);
    }
    free(r->absent);
    free(r->seconds);
    track_release_clearance(&r->clearance);
    free(r->labels);
    poise_file_destroy(r->skeleton);
    poise_file_destroy(r->source);
    poise_file_destroy(r->other);
    poise_file_destroy(r->places);
    poise_file_destroy(r->standing);
    *r = (track_result){0};
}

// ---- What files and command line say -------------------------------------------------------------------------------------

// What the user says counts more than what the file says.
static void prefer(poise_scale *scale, poise_scale wanted)
{
    scale->metres = wanted.metres > 0 ? wanted.metres : scale->metres;
    scale->up = wanted.up != POISE_UP_UNKNOWN ? wanted.up : scale->up;
}

static bool read_labels(const char *name, track_result *r)
{
    file_bytes file = {.bytes = NULL};
    if (!file_read(name, &file)) {
        return false;
    }
    r->labels = file.bytes; // whose bytes end in a zero
    return true;
}

static bool read_places(const char *name, track_result *r)
{
    load_options options = {.model = r->skeleton->model};
    const poise_file *file = r->places = load_file(name, &options);
    if (!file) {
        return false;
    }
    if (file->placement_count == 0) {
        complain("%s: holds no marker positions; it needs \"placements\", see docs/formats.md", name);
        return false;
    }
    r->problem.placements = file->placements;
    r->problem.placement_count = file->placement_count;
    r->problem.placements_from = file->model; // the indices of a file that holds a skeleton belong to that one
    r->problem.only_placements = true;
    return true;
}

// Does the recording have a marker of some place?
static bool any_is_seen(const poise_recording_problem *p)
{
    bool seen = false;
    for (int i = 0; i < p->placement_count && !seen; ++i) {
        seen = poise_markers_find(p->markers, p->placements[i].label) >= 0;
    }
    return seen;
}

// The problem of the files, with the options of the request.
static bool take_files(const track_request *request, track_result *r)
{
    poise_recording_problem of_files = poise_recording_of_files(r->skeleton, r->source), *p = &r->problem;
    *p = request->problem;
    p->model = of_files.model;
    p->scale = of_files.scale;
    p->posture = of_files.posture;
    p->markers = request->use_bodies ? NULL : of_files.markers;
    p->clip = of_files.clip;
    p->from = of_files.from ? of_files.from : r->other ? r->other->model : NULL;
    p->from_scale = p->markers ? of_files.from_scale : r->source->scale;
    p->placements = of_files.placements;
    p->placement_count = of_files.placement_count;
    p->placements_from = of_files.placements_from;
    p->only_placements = of_files.only_placements;
    prefer(&p->scale, request->scale);
    prefer(&p->from_scale, request->source_scale);
    if (!p->markers && !(p->clip && p->from)) {
        complain("%s: holds %s to follow; markers come from C3D, TRC and JSON, motions from BVH, AMC, MOT, glTF and JSON",
                 r->source_name, p->clip ? "no skeleton (--source-model FILE gives one)" : "neither markers nor motion");
        return false;
    }
    if (!p->markers) {
        return true;
    }
    if (request->tasks) {
        p->posture = track_default_posture(r);
        p->only_placements = any_is_seen(p);
    }
    return (!request->labels || read_labels(request->labels, r)) &&
           (!request->placements || read_places(request->placements, r)) &&
           (!request->tasks || track_take_times(request->tasks, p->markers, p));
}

// ---- All together --------------------------------------------------------------------------------------------------------

// Are the frames that --first and --last ask for there? False after one line on standard error.
static bool check_frames(const track_result *r, int frames)
{
    const poise_recording_problem *p = &r->problem;
    if (p->last >= 0 && p->first > p->last) {
        complain("track: --first %d is after --last %d", p->first, p->last);
        return false;
    }
    bool is_late = p->first >= frames;
    if (is_late || p->last >= frames) {
        complain("%s: has frames 0 to %d, so --%s %d is beyond its end", r->source_name, frames - 1,
                 is_late ? "first" : "last", is_late ? p->first : p->last);
        return false;
    }
    return true;
}

static bool match(const track_request *request, track_result *r)
{
    poise_error error = {0};
    const poise_recording_problem *p = &r->problem;
    int frames = p->markers ? p->markers->frames : p->clip->frames;
    if (frames > 0 && !check_frames(r, frames)) {
        return false;
    }
    switch (poise_recording_match(p, NULL, &r->made, &error)) {
    case POISE_OK:
        return true;
    case POISE_ERROR_ARGUMENT:
        complain("%s: %s", p->markers || frames == 0 ? r->source_name : "track", error.text);
        break;
    case POISE_ERROR_FORMAT:
        complain("%s: %s", request->labels, error.text);
        break;
    case POISE_ERROR_UNSUPPORTED:
        complain("%s: %s%s", r->source_name, error.text, p->subject ? "" : ": --subject NAME");
        break;
    case POISE_ERROR_NOT_FOUND:
        if (p->markers && !p->only_placements && !p->subject) {
            complain("%s: the names of its %d markers (\"%s\"%s) do not say where on %s they sit; give positions with "
                     "--placements FILE.json or names with --labels FILE (poise help markers)",
                     r->source_name, p->markers->count, p->markers->label[0], p->markers->count > 1 ? ", ..." : "",
                     r->model_name);
            break;
        }
        // fall through
    default:
        complain("%s: %s", r->source_name, error.text);
    }
    r->made = NULL;
    return false;
}

// Can a skeleton leave its place? Some joint slides that carries most of it.
static bool can_travel(const poise_model *model)
{
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        poise_joint_info joint = poise_model_joint_info(model, k);
        for (int i = 0; i < joint.nq && 2 * joint.subtree >= poise_model_info(model).joints; ++i) {
            if (poise_model_coordinate(model, joint.q + i).unit == POISE_UNIT_LENGTH) {
                return true;
            }
        }
    }
    return false;
}

// The skeleton. A character whose file has no animation that moves its root could not follow a person who walks: its root is
// left free, as --floating leaves it.
static bool load_skeleton(const track_request *request, track_result *r)
{
    bool avoids = request->kept && (option_given(request->kept, "avoid") || option_given(request->kept, "obstacle"));
    load_options options = {
        .floating = request->floating, .meshes = avoids || request->has_floor, .holds_loops = track_holds_loops(request)};
    r->skeleton = load_model(request->model, &options);
    bool is_character = r->skeleton && (r->skeleton->format == POISE_FORMAT_GLTF || r->skeleton->format == POISE_FORMAT_GLB);
    if (!is_character || options.floating || can_travel(r->skeleton->model) || strcmp(request->model, "-") == 0) {
        return r->skeleton != NULL;
    }
    poise_file_destroy(r->skeleton);
    options.floating = options.quiet = true; // its warnings were printed
    r->skeleton = load_model(request->model, &options);
    r->freed = r->skeleton && can_travel(r->skeleton->model);
    return r->skeleton != NULL;
}

bool track_load(const track_request *request, track_result *r)
{
    *r = (track_result){.model_name = request->model, .source_name = request->source, .places_name = request->placements};
    if (!load_skeleton(request, r)) {
        return false;
    }
    if (!load_any(request->source, request->source_model, NULL, &r->source, &r->other)) {
        r->source = r->other = NULL;
        return false;
    }
    if (!take_files(request, r)) {
        return false;
    }
    r->problem.labels = r->labels;
    if (request->standing && !track_take_standing(request->standing, request->source_scale, r)) {
        return false;
    }
    if (!match(request, r) || (request->tasks && r->problem.markers && !track_take_tasks(request->tasks, r))) {
        return false;
    }
    track_note_matched(r);
    return track_take_clearance(request, r);
}
