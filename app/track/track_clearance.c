// Following a recording above the ground, without collisions, in balance and with closed loops: what every frame keeps to,
// and which frames could not.
#include "track_print.h"

#include "cli/memory.h"
#include "cli/terminal.h"

#include <math.h>
#include <stdlib.h>

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
