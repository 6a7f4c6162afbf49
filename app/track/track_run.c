// Following a recording: its files, a static trial, what every frame keeps to, a device, the run itself.
#include "cli/files.h"
#include "cli/latency.h"
#include "cli/programs.h"
#include "cli/terminal.h"
#include "cli/threads.h"
#include "cli/words.h"
#include "track/track.h"

#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
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

// ---- A static trial first, which tells where markers sit and how long bones are ------------------------------------------

static void note_standing(track_result *r)
{
    const poise_recording_result *stood = r->stood;
    const char *unit;
    r->made = r->stood; // whose unit is asked for
    double per = track_unit(r, &unit);
    r->made = NULL;
    track_note(r, "%d marker places%s from the static trial, which fits to %.3g %s: %s", stood->placement_count,
               stood->fitted ? " and bones" : "", stood->summary.mean * per, unit, poise_verdict_name(stood->verdict.level));
}

bool track_take_standing(const char *name, poise_scale scale, track_result *r)
{
    load_options options = {.model = r->skeleton->model};
    poise_error error = {0};
    r->standing = load_file(name, &options);
    if (!r->standing) {
        return false;
    }
    if (!r->standing->markers || !r->problem.markers) {
        complain("%s: a static trial has markers, and so has what is followed after it",
                 r->standing->markers ? r->source_name : name);
        return false;
    }
    poise_recording_problem trial = poise_recording_trial(&r->problem, r->standing->markers, scale);
    if (poise_track_recording(&trial, NULL, &r->stood, &error) != POISE_OK) {
        complain("%s: %s", name, error.text);
        return false;
    }
    poise_recording_stand(&r->problem, r->stood);
    note_standing(r);
    return true;
}

// ---- What every frame keeps to: the ground, collisions, balance, closed loops --------------------------------------------

// ---- Before --------------------------------------------------------------------------------------------------------------

static double units_per_metre(const track_result *r)
{
    return r->made->scale.metres > 0 ? 1 / r->made->scale.metres : 1;
}

// All below `height` metres.
static poise_shape floor_at(const track_result *r, double height)
{
    poise_up up = r->made->scale.up;
    double h = height * units_per_metre(r);
    poise_vec3 normal = poise_vec3_make(up == POISE_UP_X, up == POISE_UP_Y, up != POISE_UP_X && up != POISE_UP_Y);
    return poise_shape_half_space(POISE_WORLD, poise_vec3_make(h * normal.x, h * normal.y, h * normal.z), normal);
}

static bool has_shapes(const poise_file *file)
{
    bool has = false;
    for (int i = 0; i < file->shape_count; ++i) {
        has = has || file->shapes[i].body >= 0;
    }
    return has;
}

// A skeleton without shapes: its joints and tools, as points. Bones between them are above the floor where both ends are.
static poise_constraint watch_points(track_result *r, poise_shape floor, double margin)
{
    track_clearance *c = &r->clearance;
    const poise_model *model = r->problem.model;
    int joints = poise_model_info(model).joints, tools = poise_model_info(model).tools, count = joints + tools;
    c->points = needed(calloc((size_t)count + 1, sizeof *c->points));
    c->pairs = needed(calloc((size_t)count + 1, sizeof *c->pairs));
    for (int i = 0; i < count; ++i) {
        poise_tool_info tool = poise_model_tool_info(model, i - joints); // out of range: the identity
        poise_vec3 at = tool.pose.position;
        c->points[i] = poise_shape_capsule(i < joints ? i : tool.body, at, at, 0);
        c->pairs[i] = (poise_pair){i, count};
    }
    c->points[count] = floor;
    poise_constraint kept = poise_constraint_default(POISE_CONSTRAINT_CLEARANCE);
    kept.shapes = c->points, kept.shape_count = count + 1;
    kept.pairs = c->pairs, kept.pair_count = count;
    kept.margin = margin;
    return kept;
}

// Of the pairs of a clearance, those of the last shape, which is the floor.
static poise_constraint floor_alone(track_clearance *c, poise_constraint all)
{
    int count = 0;
    c->pairs = needed(calloc((size_t)all.pair_count + 1, sizeof *c->pairs));
    for (int i = 0; i < all.pair_count; ++i) {
        if (all.pairs[i].a == all.shape_count - 1 || all.pairs[i].b == all.shape_count - 1) {
            c->pairs[count++] = all.pairs[i];
        }
    }
    all.pairs = c->pairs, all.pair_count = count;
    return all;
}

// What the options and the skeleton's file ask for, with the floor among the shapes where there are shapes.
static bool collect(const track_request *request, track_result *r, const poise_shape *floor)
{
    track_clearance *c = &r->clearance;
    avoid_asked asked = {.command = "track",
                         .name = r->model_name,
                         .file = r->skeleton,
                         .up = r->made->scale.up,
                         .unit = units_per_metre(r),
                         .floor = floor};
    if (!avoid_load_srdf(r->skeleton, request->kept, false, &c->srdf)) {
        return false;
    }
    asked.srdf = c->srdf.file;
    return avoid_collect(&c->avoided, &asked, request->kept);
}

// The constraints of every frame, those of the options but for the clearance, which may be another.
static void keep(track_clearance *c, const poise_constraint *clearance, bool holds_loops)
{
    const avoided *a = &c->avoided;
    c->kept = needed(calloc((size_t)a->count + 1, sizeof *c->kept));
    if (clearance) {
        c->kept[c->count++] = *clearance;
    }
    for (int i = a->has_shapes; i < (holds_loops ? a->count : a->first_loop); ++i) {
        c->kept[c->count++] = a->constraints[i];
    }
    c->asked[POISE_KEPT_CLEARANCE] = clearance != NULL;
    c->asked[POISE_KEPT_BALANCE] = a->polygon != NULL;
    c->asked[POISE_KEPT_LOOPS] = holds_loops && a->count > a->first_loop;
}

bool track_holds_loops(const track_request *request)
{
    return request->kept && !request->problem.whole && !option_given(request->kept, "sensors") &&
           request->problem.track.solver.method == POISE_METHOD_AUTO;
}

static void note_touching(track_result *r, bool avoids)
{
    char touching[TRACK_NOTE_SIZE - 20] = "";
    if (avoids) {
        avoid_describe_touching(&r->clearance.avoided, touching, sizeof touching);
    }
    if (touching[0]) {
        track_note(r, "left out: %s", touching);
    }
}

bool track_take_clearance(const track_request *request, track_result *r)
{
    track_clearance *c = &r->clearance;
    if (!request->kept) {
        return true;
    }
    bool avoids = option_given(request->kept, "avoid") || option_given(request->kept, "obstacle");
    bool has_points = request->has_floor && !avoids && !has_shapes(r->skeleton);
    poise_shape floor = floor_at(r, request->floor);
    if (!collect(request, r, request->has_floor && !has_points ? &floor : NULL)) {
        return false;
    }
    c->has_floor = request->has_floor;
    bool is_asked = has_points || c->avoided.has_shapes;
    poise_constraint clearance = poise_constraint_default(POISE_CONSTRAINT_CLEARANCE);
    if (has_points) {
        clearance = watch_points(r, floor, option_number(request->kept, "margin", 0) * units_per_metre(r));
    } else if (c->avoided.has_shapes) {
        clearance = avoids ? c->avoided.constraints[0] : floor_alone(c, c->avoided.constraints[0]);
    }
    keep(c, is_asked ? &clearance : NULL, track_holds_loops(request));
    c->checks_all = !is_asked || (clearance.pair_count > 0 && (has_points || avoid_checks_all(&c->avoided)));
    r->problem.track.constraints = c->kept;
    r->problem.track.constraint_count = c->count;
    r->problem.track.solver.constraints.closure_tolerance = POISE_CLOSURE_OF_FILES;
    if (is_asked && r->skeleton->shapes_skipped > 0) {
        track_note(r, "%d collision mesh%s of the skeleton could not be read and %s not looked after%s",
                   r->skeleton->shapes_skipped, r->skeleton->shapes_skipped == 1 ? "" : "es",
                   r->skeleton->shapes_skipped == 1 ? "is" : "are", c->avoided.allows_missing ? "" : " (--allow-missing)");
    }
    note_touching(r, avoids);
    return true;
}

// ---- After ---------------------------------------------------------------------------------------------------------------

bool track_check_clearance(track_result *r)
{
    track_clearance *c = &r->clearance;
    poise_kept_problem problem = {.model = r->made->model,
                                  .clip = r->made->clip,
                                  .constraints = c->kept,
                                  .constraint_count = c->count,
                                  .closure_tolerance = POISE_CLOSURE_OF_FILES};
    poise_error error;
    if (c->count == 0) {
        return true;
    }
    c->broken = needed(calloc((size_t)r->made->clip->frames + 1, sizeof *c->broken));
    if (poise_kept_measure(&problem, NULL, &c->found, c->broken, &error) != POISE_OK) {
        complain("%s: %s", r->model_name, error.text);
        return false;
    }
    if (r->made->fitted) {
        track_note(r, "%s %s has them, though bones were scaled",
                   c->asked[POISE_KEPT_CLEARANCE] ? "shapes and tools were kept clear as large as"
                                                  : "loops were closed where",
                   r->model_name);
    }
    return true;
}

bool track_leaves_clearance(const track_result *r)
{
    return r->clearance.count > 0 && (r->clearance.found.broken > 0 || !r->clearance.checks_all);
}

// ---- In words ------------------------------------------------------------------------------------------------------------

const char *track_kept_reason(const track_clearance *c, int frame)
{
    unsigned broken = c->broken ? c->broken[frame] : 0;
    return broken & 1U << POISE_KEPT_CLEARANCE ? (c->has_floor ? "not clear of floor or shapes" : "shapes overlap")
           : broken & 1U << POISE_KEPT_BALANCE ? "out of balance"
           : broken & 1U << POISE_KEPT_LOOPS   ? "a loop is open"
                                               : NULL;
}

// "left_foot", "obstacle 1 (box)", "the world", "the floor".
static void name_shape(const track_result *r, int shape, char *text, size_t size)
{
    const track_clearance *c = &r->clearance;
    if (c->has_floor && shape == c->kept[0].shape_count - 1) {
        snprintf(text, size, "the floor");
    } else if (c->points) {
        snprintf(text, size, "%s", poise_model_joint_info(r->made->model, c->points[shape].body).body);
    } else {
        poise_shape_describe(&c->kept[0], shape, r->skeleton, text, size);
    }
}

static double distance_of(const track_clearance *c)
{
    const poise_kept_worst *worst = &c->found.worst[POISE_KEPT_CLEARANCE];
    const poise_constraint *apart = &c->kept[0];
    return worst->room + (apart->margins ? apart->margins[worst->item] : apart->margin);
}

static double micrometres(double length) // those of what touches tell nothing
{
    return 1e-3 * floor(1e3 * fabs(length) + 0.5);
}

// What the worst frame is like.
static void describe_worst(const track_result *r, poise_kept_sort which, char *text, size_t size)
{
    const track_clearance *c = &r->clearance;
    const poise_kept_worst *worst = &c->found.worst[which];
    const char *unit;
    double per = track_unit(r, &unit);
    int frame = r->made->first + worst->frame;
    char first[128], second[128], loop[300];
    if (which == POISE_KEPT_CLEARANCE) {
        double distance = distance_of(c);
        name_shape(r, c->kept[0].pairs[worst->item].a, first, sizeof first);
        name_shape(r, c->kept[0].pairs[worst->item].b, second, sizeof second);
        snprintf(text, size, "%s and %s %s %.4g %s in frame %d", first, second, distance < 0 ? "overlap by" : "are apart by",
                 micrometres(distance * per), unit, frame);
    } else if (which == POISE_KEPT_BALANCE) {
        snprintf(text, size, "the centre of mass is %.4g %s %s the polygon in frame %d", micrometres(worst->room * per),
                 unit, worst->room < 0 ? "outside" : "inside", frame);
    } else if (worst->broken == 0) {
        int loops = c->count - c->asked[POISE_KEPT_CLEARANCE] - c->asked[POISE_KEPT_BALANCE];
        snprintf(text, size, "%d closed in every frame, to %.1g", loops, -worst->room);
    } else {
        poise_constraint_describe(&c->kept[worst->constraint], worst->item, r->skeleton, loop, sizeof loop);
        snprintf(text, size, "%s is open by %.2g in frame %d", loop, -worst->room, frame);
    }
}

void track_describe_kept(const track_result *r, poise_kept_sort which, char *text, size_t size)
{
    const track_clearance *c = &r->clearance;
    const poise_kept_worst *worst = &c->found.worst[which];
    char words[600], frames[64] = "";
    if (which == POISE_KEPT_CLEARANCE && c->kept[0].pair_count == 0) {
        snprintf(text, size, "no pair of shapes is left to watch");
        return;
    }
    if (worst->broken > 0) {
        snprintf(frames, sizeof frames, "not kept in %d of %d frames; ", worst->broken, r->made->clip->frames);
    }
    describe_worst(r, which, words, sizeof words);
    snprintf(text, size, "%s%s", frames, words);
    text_make_printable(text);
}

const char *track_kept_words(const track_clearance *c)
{
    static const char *const words[8] = {"",      "shapes",           "balance",           "shapes and balance",
                                         "loops", "shapes and loops", "balance and loops", "shapes, balance and loops"};
    static const char *const with_floor[8] = {
        "",      "floor and shapes",        "balance",           "floor, shapes and balance",
        "loops", "floor, shapes and loops", "balance and loops", "floor, shapes, balance and loops"};
    unsigned broken = 0;
    for (int which = 0; which < POISE_KEPT_SORTS; ++which) {
        broken |= c->found.worst[which].broken > 0 ? 1U << which : 0U;
    }
    return c->has_floor ? with_floor[broken] : words[broken];
}

json_node *track_kept_as_json(const track_result *r, poise_kept_sort which)
{
    const track_clearance *c = &r->clearance;
    double per = r->made->scale.metres > 0 ? r->made->scale.metres : 1;
    char text[TRACK_NOTE_SIZE];
    json_node *broken = json_new(JSON_ARRAY);
    for (int f = 0; f < r->made->clip->frames; ++f) {
        if (c->broken[f] & 1U << which) {
            json_append(broken, json_from_integer(r->made->first + f));
        }
    }
    track_describe_kept(r, which, text, sizeof text);
    json_node *o = json_make("{s:b}", "holds", c->found.worst[which].broken == 0);
    if (which == POISE_KEPT_CLEARANCE) {
        bool has_pairs = c->kept[0].pair_count > 0;
        json_set(o, "checks_all", json_from_bool(c->checks_all));
        json_set(o, "pairs", json_from_integer(c->kept[0].pair_count));
        json_set(o, "pairs_left_out", json_from_integer(c->avoided.touching ? c->avoided.touching->pair_count : 0));
        json_set(o, "always_touch", avoid_touching_as_json(&c->avoided));
        json_set(o, "margin", json_from_number(c->kept[0].margin * per));
        json_set(o, "nearest", has_pairs ? json_from_number(distance_of(c) * per) : json_new(JSON_NULL));
    } else {
        bool is_loop = which == POISE_KEPT_LOOPS;
        json_set(o, is_loop ? "error" : "room",
                 json_from_number(is_loop ? -c->found.worst[which].room : c->found.worst[which].room * per));
    }
    json_set(o, "text", json_from_text(text));
    json_set(o, "broken", broken);
    return o;
}

void track_release_clearance(track_clearance *c)
{
    free(c->points);
    free(c->pairs);
    free(c->broken);
    free(c->kept);
    avoid_release(&c->avoided);
    release_more_postures(&c->srdf);
}

// ---- The device of `poise track --device` --------------------------------------------------------------------------------

static const track_device *joined;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

const track_device *track_device_now(void)
{
    return joined;
}

void track_device_join(const track_device *device)
{
    joined = device;
}

void track_turn_take(void)
{
    pthread_mutex_lock(&turn);
}

void track_turn_leave(void)
{
    pthread_mutex_unlock(&turn);
}

bool track_device_find(const arguments *args, const track_device **found)
{
    *found = NULL;
    if (strcmp(option_text(args, "device", "cpu"), "cpu") == 0) {
        return true;
    }
    if (option_given(args, "sensors")) {
        complain("track: --sensors are followed on the processors alone; leave --device out");
        return false;
    }
    if (!joined) {
        become_device_program(args, "track");
        return false;
    }
    *found = joined;
    return joined->begin();
}

// ---- A recording ---------------------------------------------------------------------------------------------------------

static poise_status open_body(track_on_device *on, const poise_track_plan *plan, poise_error *error)
{
    poise_error why = {.status = POISE_OK};
    track_device_leave(on);
    on->body = on->device->open(plan, &why);
    if (!on->body) {
        snprintf(on->why, sizeof on->why, "%s", why.text);
        if (error) {
            *error = why;
        }
    }
    return on->body ? POISE_OK : why.status;
}

poise_status track_device_ahead(void *user, const poise_track_plan *plan, poise_track_stretch *stretches, int count,
                                poise_error *error)
{
    track_on_device *on = user;
    FILE *mine = messages_to(NULL);
    track_turn_leave();
    poise_status status = plan->round == 0 ? open_body(on, plan, error) : POISE_OK;
    status = status == POISE_OK ? on->device->solve(on->body, plan, stretches, count, error) : status;
    track_turn_take();
    messages_to(mine);
    return status;
}

void track_device_leave(track_on_device *on)
{
    if (on->body) {
        on->device->close(on->body);
        on->body = NULL;
    }
}

// ---- Following a recording: calibrating, tracking, measuring, writing ----------------------------------------------------

#define DEGREES (180 / 3.14159265358979323846)

static bool no_memory(void)
{
    complain("no memory left");
    return false;
}

// ---- Tracking ------------------------------------------------------------------------------------------------------------

enum { MOST_WORKERS = 256 };

// Counts frames for the progress bar and takes the processor time of each, on whichever thread it is tracked.
typedef struct watch {
    int threads;
    poise_piece run;
    void *work;
    double stamp[MOST_WORKERS]; // by worker: its thread's processor time when the last frame was done
    atomic_llong *nanoseconds;  // by frame
    atomic_int done;            // frames that have been tracked at least once
    double begin_spent, spent;  // of the tracking: the calling thread's processor time, seconds
} watch;

static void watched_piece(void *argument, int piece, int worker)
{
    watch *w = argument;
    w->stamp[worker] = cpu_seconds_now();
    w->run(w->work, piece, worker);
}

// poise_parallel_for. What comes after it, on the calling thread, is worker 0's as well.
static void run_watched(void *user, int count, poise_piece run, void *work)
{
    watch *w = user;
    w->run = run;
    w->work = work;
    threads_run(&w->threads, count, watched_piece, w);
    w->stamp[0] = cpu_seconds_now();
}

static void on_frame(void *user, int frame, int worker)
{
    watch *w = user;
    double now = cpu_seconds_now();
    long long spent = (long long)(1e9 * (now - w->stamp[worker])) + 1;
    w->stamp[worker] = now;
    bool is_new = atomic_fetch_add(&w->nanoseconds[frame], spent) == 0;
    int done = atomic_fetch_add(&w->done, is_new) + is_new;
    if (worker == 0) {
        progress_show(done);
    }
}

// poise_recording_problem.on_stage
static void on_stage(void *user, poise_recording_stage stage, int frames)
{
    watch *w = user;
    progress_end();
    if (stage == POISE_STAGE_CALIBRATE) {
        progress_start("calibrating", "frames", frames);
        progress_show(0);
    } else if (stage == POISE_STAGE_TRACK) {
        progress_start("tracking", "frames", frames);
        w->begin_spent = w->stamp[0] = cpu_seconds_now();
    } else {
        w->spent = cpu_seconds_now() - w->begin_spent;
    }
}

// ---- Times ---------------------------------------------------------------------------------------------------------------

static int by_size(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static bool measure_times(track_result *r, const watch *w)
{
    int n = r->made->markers->frames;
    double *sorted = n > 0 ? calloc((size_t)n, sizeof *sorted) : NULL;
    if (!sorted) {
        return no_memory();
    }
    for (int f = 0; f < n; ++f) {
        r->seconds[f] = sorted[f] = 1e-9 * (double)atomic_load(&w->nanoseconds[f]);
        r->mean_time += r->seconds[f] / n;
    }
    qsort(sorted, (size_t)n, sizeof *sorted, by_size);
    r->p50 = sorted_quantile(sorted, n, 0.5);
    r->p99 = sorted_quantile(sorted, n, 0.99);
    free(sorted);
    return true;
}

// All frames at once have the same share of the time.
static void share_time(const track_result *r, watch *w)
{
    int frames = r->made->markers->frames;
    for (int f = 0; f < frames && r->problem.whole; ++f) {
        atomic_store(&w->nanoseconds[f], (long long)(1e9 * w->spent / frames));
    }
}

// ---- On a device ---------------------------------------------------------------------------------------------------------

// Why no frame can be solved there; NULL: the device decides.
static const char *why_not_on_device(const track_result *r)
{
    const poise_recording_problem *p = &r->problem;
    return p->whole                        ? "all frames are solved at once (--whole)"
           : p->lag >= 0                   ? "frames are solved as they come in (--lag)"
           : p->track.constraint_count > 0 ? "what every frame keeps to is held there"
           : p->track.task_weights != NULL ? "tasks of coordinates are met there"
                                           : NULL;
}

static void put_on_device(const track_request *request, track_result *r, track_on_device *on)
{
    const char *why = why_not_on_device(r);
    on->device = request->device;
    if (why) {
        snprintf(on->why, sizeof on->why, "%s", why);
    } else if (request->device) {
        r->problem.track.ahead = track_device_ahead;
        r->problem.track.ahead_user = on;
    }
}

static void say_who_solved(track_result *r, const track_on_device *on)
{
    if (on->device && on->why[0]) {
        warn("%s: solved on the processors: %s", r->source_name, on->why);
    } else if (on->device) {
        track_note(r, "%d of %d frames solved on the %s, the others on the processors", r->made->summary.ahead,
                   r->made->markers->frames, on->device->name());
    }
}

static bool follow(const track_request *request, track_result *r, watch *w)
{
    poise_recording_problem *p = &r->problem;
    poise_error error = {0};
    p->track.workers = r->threads = w->threads = request->threads < MOST_WORKERS ? request->threads : MOST_WORKERS;
    p->track.parallel_for = run_watched;
    p->track.on_frame = p->whole ? NULL : on_frame;
    p->track.user = w;
    p->on_stage = on_stage;
    track_on_device on = {.device = NULL};
    put_on_device(request, r, &on);
    bool works = poise_recording_follow(p, r->made, &error) == POISE_OK;
    track_device_leave(&on);
    progress_end();
    double metres = r->made->said.metres;
    if (!works && metres > 0 && is_no_person(&r->made->figure, metres)) {
        complain("%s: in its units of %g m the person is %.3g m tall; --source-unit %g would make it %.3g m", r->source_name,
                 metres, r->made->figure.height * metres, r->made->figure.metres,
                 r->made->figure.height * r->made->figure.metres);
    } else if (!works) {
        complain("%s: %s", r->source_name, error.text);
    }
    if (!works) {
        return false;
    }
    track_note_followed(r);
    say_who_solved(r, &on);
    share_time(r, w);
    return track_check_clearance(r) && measure_times(r, w);
}

bool track_run(const track_request *request, track_result *r)
{
    size_t frames = (size_t)r->made->markers->frames;
    r->seconds = calloc(frames, sizeof *r->seconds);
    watch *w = calloc(1, sizeof *w);
    atomic_llong *nanoseconds = calloc(frames, sizeof *nanoseconds);
    bool works = r->seconds && w && nanoseconds;
    if (works) {
        w->nanoseconds = nanoseconds;
        works = follow(request, r, w);
    } else {
        no_memory();
    }
    free(nanoseconds);
    free(w);
    return works;
}

// ---- In words ------------------------------------------------------------------------------------------------------------

double track_unit(const track_result *r, const char **unit)
{
    *unit = r->made->scale.metres > 0 ? "mm" : "units";
    return r->made->scale.metres > 0 ? 1000 * r->made->scale.metres : 1;
}

// Add words to a list separated by commas; what does not fit is left out.
static void say(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    if (used > 0 && used + 3 < size) {
        memcpy(text + used, ", ", 3);
        used += 2;
    }
    va_list values;
    va_start(values, format);
    vsnprintf(text + used, size - used, format, values);
    va_end(values);
}

void track_reason(const track_result *r, int frame, char *text, size_t size)
{
    const poise_track_frame *f = &r->made->frames[frame];
    text[0] = '\0';
    if (f->flags & POISE_TRACK_HELD) {
        if (f->flags & POISE_TRACK_JUMP) {
            say(text, size, "held: its jump is not believed");
        } else {
            say(text, size, "held: %d marker%s seen", f->seen, f->seen == 1 ? "" : "s");
        }
    } else if (f->flags & POISE_TRACK_JUMP) {
        say(text, size, "jump of %.0f degrees", f->turn * DEGREES);
    }
    const char *kept = track_kept_reason(&r->clearance, frame);
    if (kept) {
        say(text, size, "%s", kept);
    }
    if (f->flags & POISE_TRACK_RESTARTED && frame > 0) {
        say(text, size, "found afresh");
    }
    if (f->flags & POISE_TRACK_OUTLIERS) {
        say(text, size, "%d ignored", f->let_go);
    }
    if (f->flags & POISE_TRACK_GAPS) {
        say(text, size, "%d missing", r->made->placement_count - f->seen);
    }
}

// ---- Writing -------------------------------------------------------------------------------------------------------------

static poise_file as_file(const track_result *r, poise_clip *clip)
{
    bool is_opensim = r->skeleton->format == POISE_FORMAT_OSIM || r->task;
    return (poise_file){.format = is_opensim ? POISE_FORMAT_OSIM : r->skeleton->format,
                        .model = (poise_model *)r->made->model,
                        .clip = clip,
                        .scale = r->made->scale,
                        .placements = r->made->placements,
                        .placement_count = r->made->placement_count,
                        .carried = clip ? r->skeleton->carried : NULL, // the mesh of a character
                        .title = r->skeleton->title};
}

bool track_can_write(const track_result *r, const char *name)
{
    poise_file file = as_file(r, NULL);
    file.carried = r->skeleton->carried;
    return motion_can_be_written(&file, name);
}

bool track_write(const track_result *r, const char *name)
{
    poise_file file = as_file(r, r->made->clip);
    char motion[128];
    name_of_motion(r->source, r->source_name, motion, sizeof motion);
    file.motion = motion;
    return save_motion(name, &file) && (!r->made->fitted || save_skeleton_of(name, &file, r->model_name));
}
