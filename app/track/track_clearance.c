// Following a recording above the ground and without collisions: what every frame keeps to, and which frames could not.
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

static void watch_pair(track_clearance *c, poise_pair pair)
{
    c->pairs[c->kept.pair_count++] = pair;
}

// A skeleton without shapes: its joints and tools, as points. Bones between them are above the floor where both ends are.
static void watch_points(track_result *r, poise_shape floor)
{
    track_clearance *c = &r->clearance;
    const poise_model *model = r->problem.model;
    int joints = poise_model_info(model).joints, tools = poise_model_info(model).tools, count = joints + tools;
    c->shapes = needed(calloc((size_t)count + 1, sizeof *c->shapes));
    c->pairs = needed(calloc((size_t)count + 1, sizeof *c->pairs));
    for (int i = 0; i < count; ++i) {
        poise_tool_info tool = poise_model_tool_info(model, i - joints); // out of range: the identity
        poise_vec3 at = tool.pose.position;
        c->shapes[i] = poise_shape_capsule(i < joints ? i : tool.body, at, at, 0);
        watch_pair(c, (poise_pair){i, count});
    }
    c->shapes[count] = floor;
    c->kept.shapes = c->shapes;
    c->kept.shape_count = count + 1;
}

static bool has_shapes(const poise_file *file)
{
    bool has = false;
    for (int i = 0; i < file->shape_count; ++i) {
        has = has || file->shapes[i].body >= 0;
    }
    return has;
}

// The shapes of the file: from each other where that is asked for, and from the floor.
static bool watch_shapes(const track_request *request, track_result *r, const poise_shape *floor)
{
    track_clearance *c = &r->clearance;
    poise_error error;
    poise_status status = poise_file_clearance(r->skeleton, floor, floor != NULL, NULL, NULL, &c->of_file, &error);
    if (status != POISE_OK) {
        complain(status == POISE_ERROR_NOT_FOUND ? "track: --avoid: %s has %s" : "track: --avoid: %s: %s", r->model_name,
                 error.text);
        return false;
    }
    const poise_constraint *all = c->of_file;
    c->kept.shapes = all->shapes;
    c->kept.shape_count = all->shape_count;
    c->pairs = needed(calloc((size_t)all->pair_count + 1, sizeof *c->pairs));
    for (int i = 0; i < all->pair_count; ++i) {
        int last = all->pairs[i].a > all->pairs[i].b ? all->pairs[i].a : all->pairs[i].b;
        if (request->avoids || last == r->skeleton->shape_count) { // the floor comes after the shapes of the file
            watch_pair(c, all->pairs[i]);
        }
    }
    return true;
}

bool track_take_clearance(const track_request *request, track_result *r)
{
    track_clearance *c = &r->clearance;
    if (!request->avoids && !request->has_floor) {
        return true;
    }
    poise_shape floor = floor_at(r, request->floor);
    c->kept = poise_constraint_default(POISE_CONSTRAINT_CLEARANCE);
    c->kept.margin = request->margin * units_per_metre(r);
    c->has_floor = request->has_floor;
    if (!request->avoids && !has_shapes(r->skeleton)) {
        watch_points(r, floor);
    } else if (!watch_shapes(request, r, request->has_floor ? &floor : NULL)) {
        return false;
    }
    c->kept.pairs = c->pairs;
    c->is_asked = true;
    c->checks_all = c->kept.pair_count > 0 && (r->skeleton->shapes_skipped == 0 || request->allows_missing);
    r->problem.track.constraints = &c->kept;
    r->problem.track.constraint_count = 1;
    if (r->skeleton->shapes_skipped > 0) {
        track_note(r, "%d collision meshes of the skeleton could not be read and are not looked after%s",
                   r->skeleton->shapes_skipped, request->allows_missing ? "" : " (--allow-missing)");
    }
    return true;
}

// ---- After ---------------------------------------------------------------------------------------------------------------

// The pair of this frame that lacks most, and the distance of it.
static double nearest_of(const track_clearance *c, const poise_kinematics *at, int *pair)
{
    double least = INFINITY;
    for (int i = 0; i < c->kept.pair_count; ++i) {
        poise_nearest nearest;
        const poise_shape *a = &c->kept.shapes[c->pairs[i].a], *b = &c->kept.shapes[c->pairs[i].b];
        if (poise_distance(at, a, b, &nearest, NULL) == POISE_OK && nearest.distance < least) {
            least = nearest.distance;
            *pair = i;
        }
    }
    return least;
}

bool track_check_clearance(track_result *r)
{
    track_clearance *c = &r->clearance;
    const poise_clip *clip = r->made->clip;
    poise_kinematics *at = NULL;
    poise_error error;
    if (!c->is_asked) {
        return true;
    }
    if (poise_kinematics_create(r->made->model, NULL, &at, &error) != POISE_OK) {
        complain("%s: %s", r->model_name, error.text);
        return false;
    }
    c->broken = needed(calloc((size_t)clip->frames + 1, sizeof *c->broken));
    c->least = INFINITY;
    for (int f = 0; f < clip->frames; ++f) {
        int pair = 0;
        poise_kinematics_update(at, clip->q + (size_t)f * (size_t)clip->nq, NULL);
        double least = nearest_of(c, at, &pair);
        c->broken[f] = least < c->kept.margin;
        c->broken_count += c->broken[f];
        if (least < c->least) {
            c->least = least;
            c->frame = f;
            c->pair = pair;
        }
    }
    poise_kinematics_destroy(at);
    if (r->made->fitted) {
        track_note(r, "shapes and tools were kept clear as large as %s has them, though bones were scaled", r->model_name);
    }
    if (c->broken_count > 0 && r->made->verdict.level == POISE_VERDICT_GOOD) {
        r->made->verdict.level = POISE_VERDICT_DOUBTFUL;
    }
    return true;
}

bool track_leaves_clearance(const track_result *r)
{
    return r->clearance.is_asked && (r->clearance.broken_count > 0 || !r->clearance.checks_all);
}

// "left_foot", "the world", "the floor".
static const char *name_of(const track_result *r, int shape)
{
    const track_clearance *c = &r->clearance;
    int body = c->kept.shapes[shape].body;
    bool is_floor = c->has_floor && shape == c->kept.shape_count - 1;
    return is_floor ? "the floor" : body < 0 ? "the world" : poise_model_joint_info(r->made->model, body).body;
}

void track_describe_clearance(const track_result *r, char *text, size_t size)
{
    const track_clearance *c = &r->clearance;
    const char *unit;
    double per = track_unit(r, &unit);
    char frames[64] = "";
    if (c->kept.pair_count == 0) {
        snprintf(text, size, "no pair of shapes is left to watch");
        return;
    }
    if (c->broken_count > 0) {
        snprintf(frames, sizeof frames, "not kept in %d of %d frames; ", c->broken_count, r->made->clip->frames);
    }
    double distance = 1e-3 * floor(1e3 * fabs(c->least) * per + 0.5); // micrometres of what touches tell nothing
    snprintf(text, size, "%s%s and %s %s %.4g %s in frame %d", frames, name_of(r, c->pairs[c->pair].a),
             name_of(r, c->pairs[c->pair].b), c->least < 0 ? "overlap by" : "are apart by", distance, unit,
             r->made->first + c->frame);
    text_make_printable(text);
}

json_node *track_clearance_as_json(const track_result *r)
{
    const track_clearance *c = &r->clearance;
    double per = r->made->scale.metres > 0 ? r->made->scale.metres : 1;
    char text[TRACK_NOTE_SIZE];
    json_node *broken = json_new(JSON_ARRAY);
    for (int f = 0; f < r->made->clip->frames; ++f) {
        if (c->broken[f]) {
            json_append(broken, json_from_integer(r->made->first + f));
        }
    }
    track_describe_clearance(r, text, sizeof text);
    return json_make("{s:b, s:b, s:i, s:o, s:o, s:o, s:o}", "holds", c->broken_count == 0, "checks_all", c->checks_all,
                     "pairs", c->kept.pair_count, "margin", json_from_number(c->kept.margin * per), "nearest",
                     c->kept.pair_count > 0 ? json_from_number(c->least * per) : json_new(JSON_NULL), "text",
                     json_from_text(text), "broken", broken);
}

void track_release_clearance(track_clearance *c)
{
    free(c->shapes);
    free(c->pairs);
    free(c->broken);
    poise_bytes_release(NULL, c->of_file);
}
