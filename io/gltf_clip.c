// glTF: animations. What moves, and one animation as a clip.
#include "io/gltf.h"

#include <string.h>

typedef enum path { PATH_TRANSLATION = 0, PATH_ROTATION, PATH_SCALE, PATH_OTHER } path;
typedef enum interpolation { LINEAR = 0, STEP, CUBICSPLINE } interpolation;

typedef struct channel {
    int node;
    path what;
    interpolation how;
    const double *times;  // count
    const double *values; // count x 3 or 4; CUBICSPLINE: in-tangent, value, out-tangent for each key
    size_t count;
    size_t doubled; // the first key at the time of the one before it, or 0
    int doubles;
} channel;

// Frames between keys that are not on a common grid, and where the curve between keys is not the straight way. Hertz.
#define RATE 60.0

// How far from the grid a key may lie, in spacings.
#define ON_GRID 1e-3

// The same while the grid is being looked for.
#define NEAR_GRID 0.125

// Changes of a translation or scale below this, of the largest length or of 1, are rounding in single precision.
#define CONSTANT 1e-6

// Times of keys that differ by less are the same, up to rounding: of a time, or of a second. The later key counts.
#define SAME_TIME 0x1p-20

// ---- Channels ------------------------------------------------------------------------------------------------------------

static double rounding_at(double time)
{
    return SAME_TIME * max2(1.0, fabs(time));
}

static poise_status read_how(const pz_item *sampler, interpolation *how)
{
    static const char *const names[] = {"LINEAR", "STEP", "CUBICSPLINE"};
    const char *name = names[LINEAR];
    poise_status status = pz_json_string_of(sampler, "interpolation", &name);
    for (int i = 0; i < 3 && status == POISE_OK; ++i) {
        if (strcmp(name, names[i]) == 0) {
            *how = (interpolation)i;
            return POISE_OK;
        }
    }
    pz_item item = pz_json_get(sampler, "interpolation");
    return status != POISE_OK ? status
                              : pz_json_fail(&item, POISE_ERROR_FORMAT, "%s is not LINEAR, STEP or CUBICSPLINE", name);
}

// Node and path; a channel without a node belongs to an extension.
static poise_status read_target(const pz_gltf *gltf, const pz_item *item, channel *c)
{
    static const char *const names[] = {"translation", "rotation", "scale"};
    pz_item target = pz_json_get(item, "target"), nodes = pz_json_get(&gltf->root, "nodes");
    poise_status status = pz_json_need_object(&target);
    pz_item node = pz_json_get(&target, "node"), path_at = pz_json_get(&target, "path");
    const char *name = NULL;
    status = status == POISE_OK ? pz_json_string(&path_at, &name) : status;
    c->what = PATH_OTHER;
    for (int i = 0; i < 3 && status == POISE_OK; ++i) {
        if (strcmp(name, names[i]) == 0) {
            c->what = (path)i;
        }
    }
    if (status == POISE_OK && !node.value) {
        c->what = PATH_OTHER;
    }
    return status == POISE_OK && c->what != PATH_OTHER ? pz_gltf_index(&node, &nodes, &c->node) : status;
}

static poise_status check_keys(const pz_item *item, channel *c)
{
    double latest = c->times[0];
    for (size_t i = 1; i < c->count; ++i) {
        if (c->times[i] < latest - rounding_at(latest)) {
            return pz_json_fail(item, POISE_ERROR_FORMAT,
                                "key %d comes %g s before the one in front of it, at %g s; times must increase", (int)i,
                                latest - c->times[i], latest);
        }
        if (c->times[i] <= latest) {
            c->doubled = c->doubles == 0 ? i : c->doubled;
            c->doubles += 1;
        }
        latest = max2(latest, c->times[i]);
    }
    size_t stride = c->how == CUBICSPLINE ? 12 : 4;
    for (size_t i = 0; i < c->count && c->what == PATH_ROTATION; ++i) {
        const double *r = c->values + i * stride + (c->how == CUBICSPLINE ? 4 : 0);
        if (!(r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3] > 1e-6)) {
            return pz_json_fail(item, POISE_ERROR_FORMAT, "key %d is a zero quaternion", (int)i);
        }
    }
    return POISE_OK;
}

// Times are not looked at for scales, of which only the values matter.
static poise_status read_channel(pz_gltf *gltf, const pz_item *animation, const pz_item *item, channel *c)
{
    poise_status status = pz_json_need_object(item);
    status = status == POISE_OK ? read_target(gltf, item, c) : status;
    if (status != POISE_OK || c->what == PATH_OTHER) {
        return status;
    }
    pz_item samplers = pz_json_get(animation, "samplers"), reference = pz_json_get(item, "sampler");
    samplers.key = "samplers";
    int index = 0;
    status = pz_gltf_index(&reference, &samplers, &index);
    pz_item sampler = pz_json_at(&samplers, (size_t)index);
    status = status == POISE_OK ? pz_json_need_object(&sampler) : status;
    status = status == POISE_OK ? read_how(&sampler, &c->how) : status;
    pz_item input = pz_json_get(&sampler, "input"), output = pz_json_get(&sampler, "output");
    pz_gltf_array times = {0}, values = {0};
    status = status == POISE_OK ? pz_gltf_accessor(gltf, &input, 1, &times) : status;
    status = status == POISE_OK ? pz_gltf_accessor(gltf, &output, c->what == PATH_ROTATION ? 4 : 3, &values) : status;
    if (status != POISE_OK) {
        return status;
    }
    size_t wanted = times.count * (c->how == CUBICSPLINE ? 3 : 1);
    if (values.count != wanted) {
        return pz_json_fail(&sampler, POISE_ERROR_FORMAT, "%d times need %d values; there are %d", (int)times.count,
                            (int)wanted, (int)values.count);
    }
    if (times.count == 0) {
        return pz_json_fail(&sampler, POISE_ERROR_FORMAT, "there are no keys");
    }
    c->times = times.values;
    c->values = values.values;
    c->count = times.count;
    bool is_here = c->times && c->values;
    return is_here && c->what != PATH_SCALE ? check_keys(&sampler, c) : POISE_OK;
}

// ---- What moves ----------------------------------------------------------------------------------------------------------

// The largest |v_i - rest| over all keys, tangents left out.
static double change_of(const channel *c, vec3 rest)
{
    double most = 0;
    size_t stride = c->how == CUBICSPLINE ? 9 : 3;
    for (size_t i = 0; i < c->count; ++i) {
        const double *v = c->values + i * stride + (c->how == CUBICSPLINE ? 3 : 0);
        most = max2(most, v3_norm(v3_sub(v3(v[0], v[1], v[2]), rest)));
    }
    return most;
}

static double largest_length(const pz_gltf *gltf)
{
    double largest = 0;
    for (int i = 0; i < gltf->node_count; ++i) {
        largest = max2(largest, v3_norm(gltf->nodes[i].translation));
    }
    return largest;
}

static void warn_of_doubles(const pz_item *item, const channel *c, pz_cause *doubled)
{
    if (c->doubles > 0 && pz_is_among_first(doubled)) {
        bool is_one = c->doubles == 1;
        pz_json_warn(item, "%d %s the time of the one before, such as key %d at %g s; the later one counts", c->doubles,
                     is_one ? "key has" : "keys have", (int)c->doubled, c->times[c->doubled]);
    }
}

static poise_status mark(pz_gltf *gltf, const pz_item *animation, double length, int *scaled, pz_cause *doubled)
{
    pz_item channels = pz_json_get(animation, "channels");
    poise_status status = pz_json_need_object(animation);
    status = status == POISE_OK ? pz_json_need_array(&channels) : status;
    for (size_t i = 0; i < pz_json_length(&channels) && status == POISE_OK; ++i) {
        channel c = {0};
        pz_item item = pz_json_at(&channels, i);
        status = read_channel(gltf, animation, &item, &c);
        if (status != POISE_OK || c.what == PATH_OTHER) {
            continue;
        }
        warn_of_doubles(&item, &c, doubled);
        pz_gltf_node *node = &gltf->nodes[c.node];
        bool is_here = c.times && c.values;
        if (c.what == PATH_ROTATION) {
            node->turns = true;
        } else if (c.what == PATH_TRANSLATION) {
            node->moves = node->moves || !is_here || change_of(&c, node->translation) > CONSTANT * length;
        } else if (is_here && change_of(&c, node->scale) > 100 * CONSTANT && (*scaled)++ < 5) {
            pz_json_warn(&item, "an animated scale, which joints do not support; left out");
        }
    }
    return status;
}

poise_status pz_gltf_find_motion(pz_gltf *gltf)
{
    pz_item animations = pz_json_get(&gltf->root, "animations");
    poise_status status = animations.value ? pz_json_need_array(&animations) : POISE_OK;
    double length = largest_length(gltf);
    int scaled = 0;
    pz_cause doubled = {.what = "channels with keys at the same time"};
    for (size_t i = 0; i < pz_json_length(&animations) && status == POISE_OK; ++i) {
        pz_item animation = pz_json_at(&animations, i);
        status = mark(gltf, &animation, length, &scaled, &doubled);
    }
    if (scaled > 5) {
        pz_json_warn(&animations, "and %d more animated scales", scaled - 5);
    }
    pz_causes_close(gltf->input, &doubled, 1);
    return status;
}

// ---- The grid ------------------------------------------------------------------------------------------------------------

typedef struct grid {
    double start, spacing, tolerance; // seconds
    int frames;
    bool is_exact; // every key is on it, and the straight way between frames is that of the file
} grid;

// Does every key lie on start + k spacing?
static bool fits(const channel *channels, size_t count, double start, double spacing, double tolerance)
{
    for (size_t i = 0; i < count; ++i) {
        for (size_t k = 0; k < channels[i].count; ++k) {
            double at = (channels[i].times[k] - start) / spacing;
            double off = at - (double)(long long)(at + 0.5);
            if (fabs(off) * spacing > tolerance) {
                return false;
            }
        }
    }
    return true;
}

// The least time between two keys of one channel that is more than rounding, or between the start and a first key.
static double finest_of(const channel *channels, size_t count, double start, double end)
{
    double finest = end - start;
    for (size_t i = 0; i < count; ++i) {
        const channel *c = &channels[i];
        for (size_t k = 1; k < c->count; ++k) {
            double step = c->times[k] - c->times[k - 1];
            finest = step < finest && step > rounding_at(c->times[k]) ? step : finest;
        }
        if (c->count > 0 && c->times[0] > start && c->times[0] - start < finest) {
            finest = c->times[0] - start;
        }
    }
    return finest;
}

// The difference of two times in single precision is so coarse that over thousands of keys it would miscount them. A key n
// spacings from the start knows the spacing n times as well, well enough to count on to the next one.
static double sharpen(const channel *channels, size_t count, double start, double spacing)
{
    double farthest = 1.0;
    for (size_t i = 0; i < count; ++i) {
        for (size_t k = 0; k < channels[i].count; ++k) {
            double time = channels[i].times[k] - start, at = time / spacing, n = (double)(long long)(at + 0.5);
            if (n > farthest && fabs(at - n) < NEAR_GRID) {
                spacing = time / n;
                farthest = n;
            }
        }
    }
    return spacing;
}

// The finest spacing between two keys of one channel, or an even part of it, on which all keys lie: the grid that keeps
// every key. The whole time is divided evenly, so that single precision in each key does not add up.
static bool find_spacing(const channel *channels, size_t count, double start, double end, double *spacing, double *tolerance)
{
    double finest = finest_of(channels, count, start, end);
    if (!((end - start) / finest < 1e8)) {
        return false;
    }
    double rounding = 0x1p-23 * max2(fabs(start), fabs(end));
    double whole = (double)(long long)((end - start) / sharpen(channels, count, start, finest) + 0.5);
    for (int m = 1; m <= 4; ++m) {
        *spacing = (end - start) / (whole * m);
        *tolerance = max2(ON_GRID * *spacing, rounding);
        if (*tolerance < 0.25 * *spacing && fits(channels, count, start, *spacing, *tolerance)) {
            return true;
        }
    }
    return false;
}

static poise_status make_grid(const pz_item *animation, const channel *channels, size_t count, grid *g)
{
    double start = channels[0].times[0], end = start;
    bool is_curved = false;
    for (size_t i = 0; i < count; ++i) {
        const channel *c = &channels[i];
        start = c->times[0] < start ? c->times[0] : start;
        end = max2(end, c->times[c->count - 1]);
        is_curved = is_curved || (c->how != LINEAR && c->count > 1);
    }
    *g = (grid){.start = start, .spacing = 1.0 / RATE, .frames = 1, .is_exact = true};
    if (!(end > start)) {
        return POISE_OK;
    }
    bool is_even = find_spacing(channels, count, start, end, &g->spacing, &g->tolerance);
    g->is_exact = is_even && !is_curved;
    if (!is_even) {
        g->spacing = 1.0 / RATE;
        g->tolerance = 0;
    } else if (is_curved && g->spacing * RATE > 1.0 + 1e-6) {
        g->spacing /= (double)(long long)(g->spacing * RATE + 1.0 - 1e-6);
    }
    double last = (end - start) / g->spacing;
    if (!(last < 1e8)) {
        return pz_json_fail(animation, POISE_ERROR_UNSUPPORTED,
                            "%g seconds of keys without a common spacing; resample the animation", end - start);
    }
    double whole = (double)(long long)(last + 0.5);
    bool ends_on_grid = fabs(last - whole) <= (is_even ? 0.25 : 1e-6);
    g->frames = (int)(ends_on_grid ? whole : (double)(long long)last + 1.0) + 1;
    return POISE_OK;
}

// ---- Sampling ------------------------------------------------------------------------------------------------------------

// From a to b the shorter way, at constant speed (K. Shoemake, "Animating rotation with quaternion curves", 1985):
//   a (a^-1 b)^t
static quat slerp(quat a, quat b, double t)
{
    a = quat_normalize(a);
    b = quat_normalize(b);
    quat r = quat_mul(quat_conj(a), b);
    if (r.w < 0) {
        r = (quat){-r.x, -r.y, -r.z, -r.w};
    }
    double sine = v3_norm(quat_vec(r)), s, c;
    if (!(sine > 0)) {
        return a;
    }
    poise_sincos(t * poise_atan2(sine, r.w), &s, &c);
    return quat_mul(a, (quat){r.x * (s / sine), r.y * (s / sine), r.z * (s / sine), c});
}

// Cubic Hermite between keys k and k + 1, h seconds apart (specification, appendix C.4):
//   (2 t^3 - 3 t^2 + 1) v_k + h (t^3 - 2 t^2 + t) b_k + (3 t^2 - 2 t^3) v_k+1 + h (t^3 - t^2) a_k+1
static void hermite(const double *key, const double *next, size_t n, double h, double t, double *value)
{
    double t2 = t * t, t3 = t2 * t;
    for (size_t i = 0; i < n; ++i) {
        value[i] = (2 * t3 - 3 * t2 + 1) * key[n + i] + h * (t3 - 2 * t2 + t) * key[2 * n + i] +
                   (3 * t2 - 2 * t3) * next[n + i] + h * (t3 - t2) * next[i];
    }
}

// The value at `time`; *key is the last key at or before it, or 0, and only grows.
static void sample(const channel *c, double time, double tolerance, size_t *key, double *value)
{
    size_t n = c->what == PATH_ROTATION ? 4 : 3;
    size_t stride = c->how == CUBICSPLINE ? 3 * n : n, middle = c->how == CUBICSPLINE ? n : 0;
    while (*key + 1 < c->count && c->times[*key + 1] <= time + tolerance) {
        *key += 1;
    }
    const double *at = c->values + *key * stride;
    double since = time - c->times[*key];
    if (since <= tolerance || *key + 1 == c->count || c->how == STEP) {
        memcpy(value, at + middle, n * sizeof *value);
        return;
    }
    double h = c->times[*key + 1] - c->times[*key], t = since / h;
    const double *next = at + stride;
    if (c->how == CUBICSPLINE) {
        hermite(at, next, n, h, t, value);
    } else if (c->what == PATH_ROTATION) {
        quat r = slerp((quat){at[0], at[1], at[2], at[3]}, (quat){next[0], next[1], next[2], next[3]}, t);
        memcpy(value, (double[]){r.x, r.y, r.z, r.w}, 4 * sizeof *value);
    } else {
        for (size_t i = 0; i < n; ++i) {
            value[i] = at[i] + t * (next[i] - at[i]);
        }
    }
}

// Where a channel goes in q, given the rest transform T, R of the node:
//   BALL_QUATERNION  local rotation = R q                so  q = R^-1 rotation
//   FREE             local rotation = q R, position = T + p   so  q = rotation R^-1,  p = translation - T
//   TRANSLATION      position = T + p
// Quaternions keep the length they have in the file, so that they can be written with the same bits.
static poise_status fill(pz_gltf *gltf, const pz_item *item, const channel *c, const grid *g)
{
    const poise_model *model = gltf->input->file->model;
    poise_clip *clip = gltf->input->file->clip;
    const pz_gltf_node *node = &gltf->nodes[c->node];
    bool is_free = poise_model_joint_info(model, node->joint).type == POISE_JOINT_FREE;
    int begin = poise_model_joint_info(model, node->joint).q + (is_free && c->what == PATH_ROTATION ? 3 : 0);
    quat back = quat_conj(node->rotation);
    size_t key = 0;
    for (int f = 0; f < clip->frames; ++f) {
        double v[4];
        sample(c, g->start + f * g->spacing, g->tolerance, &key, v);
        double *q = clip->q + (size_t)f * (size_t)clip->nq + begin;
        if (c->what == PATH_ROTATION) {
            quat turn = {v[0], v[1], v[2], v[3]};
            if (!(v3_dot(quat_vec(turn), quat_vec(turn)) + turn.w * turn.w > 1e-6)) {
                return pz_json_fail(item, POISE_ERROR_FORMAT, "the curve passes through a zero quaternion");
            }
            turn = is_free ? quat_mul(turn, back) : quat_mul(back, turn);
            memcpy(q, (double[]){turn.x, turn.y, turn.z, turn.w}, 4 * sizeof *q);
        } else {
            q[0] = node->carried.x * (v[0] - node->translation.x);
            q[1] = node->carried.y * (v[1] - node->translation.y);
            q[2] = node->carried.z * (v[2] - node->translation.z);
        }
        if (!all_finite(q, c->what == PATH_ROTATION ? 4 : 3)) {
            return pz_json_fail(item, POISE_ERROR_FORMAT, "the curve overflows");
        }
    }
    return POISE_OK;
}

// ---- One animation -------------------------------------------------------------------------------------------------------

// The channels that move a joint; others are left out. `missing`: numbers in a file that was not handed in.
static poise_status read_channels(pz_gltf *gltf, const pz_item *animation, channel *channels, size_t *count, bool *missing)
{
    pz_item list = pz_json_get(animation, "channels");
    poise_status status = POISE_OK;
    for (size_t i = 0; i < pz_json_length(&list) && status == POISE_OK; ++i) {
        channel c = {0};
        pz_item item = pz_json_at(&list, i);
        status = read_channel(gltf, animation, &item, &c);
        bool counts = status == POISE_OK && (c.what == PATH_ROTATION || c.what == PATH_TRANSLATION);
        if (!counts || (c.what == PATH_TRANSLATION && !gltf->nodes[c.node].moves)) {
            continue;
        }
        int *taken = c.what == PATH_ROTATION ? &gltf->nodes[c.node].turned_by : &gltf->nodes[c.node].moved_by;
        if (*taken) {
            pz_json_warn(&item, "another channel animates the same property of this node; this one is left out");
            continue;
        }
        *taken = 1;
        *missing = *missing || !c.times || !c.values;
        channels[(*count)++] = c;
    }
    return status;
}

// What a writer of Poise notes beside the times, which the format keeps in single precision.
static void set_exact_times(const pz_item *animation, const grid *g, poise_clip *clip)
{
    pz_item extras = pz_json_get(animation, "extras");
    const pz_json_value *time = pz_json_find(extras.value, "frame_time"), *start = pz_json_find(extras.value, "start_time");
    double t = pz_json_as_number(time), s = pz_json_as_number(start);
    if (g->is_exact && pz_json_is(time, PZ_JSON_NUMBER) && fabs(t - g->spacing) <= 1e-5 * g->spacing && t > 0) {
        clip->frame_time = t;
    }
    if (pz_json_is(start, PZ_JSON_NUMBER) && fabs(s - g->start) <= 0x1p-23 * fabs(g->start)) {
        clip->start_time = s;
    }
}

static poise_status make_clip(pz_gltf *gltf, const pz_item *animation, const channel *channels, size_t count)
{
    pz_input *input = gltf->input;
    grid g;
    poise_status status = make_grid(animation, channels, count, &g);
    int nq = poise_model_info(input->file->model).nq;
    status = status == POISE_OK ? pz_gltf_charge(gltf, animation, (double)g.frames * nq) : status;
    if (status != POISE_OK) {
        return status;
    }
    if (!g.is_exact) {
        pz_json_warn(animation, "keys without a common spacing, or curves between them: sampled every %g s", g.spacing);
    }
    poise_clip *clip = NULL;
    if (poise_clip_create(g.frames, nq, g.spacing, input->allocator, &clip, NULL) != POISE_OK) {
        return pz_input_no_memory(input);
    }
    input->file->clip = clip;
    clip->start_time = g.start;
    set_exact_times(animation, &g, clip);
    for (int f = 0; f < clip->frames; ++f) {
        poise_model_neutral(input->file->model, clip->q + (size_t)f * (size_t)nq);
    }
    for (size_t i = 0; i < count && status == POISE_OK; ++i) {
        status = fill(gltf, animation, &channels[i], &g);
    }
    return status;
}

// ---- Which animation -----------------------------------------------------------------------------------------------------

static const char *name_of(const pz_item *animations, int i)
{
    const char *name = "";
    pz_item animation = pz_json_at(animations, (size_t)i);
    pz_json_string_of(&animation, "name", &name);
    return name;
}

// Says which one is not there, and which are: `0 "walk", 1 "run"`.
static poise_status refuse_choice(const pz_item *animations, const poise_read_options *options, int total)
{
    poise_error said = {.line = 0};
    const char *name = options->animation_name;
    if (name) {
        pz_error_set(&said, POISE_ERROR_ARGUMENT, "there is no animation called \"%s\"; there are %d:", name, total);
    } else {
        pz_error_set(&said, POISE_ERROR_ARGUMENT, "there is no animation %d; there are %d:", options->animation, total);
    }
    for (int i = 0; i < total; ++i) {
        poise_error before = said;
        pz_error_set(&said, POISE_ERROR_ARGUMENT, "%s%s %d \"%s\"", before.text, i > 0 ? "," : "", i,
                     name_of(animations, i));
    }
    return pz_json_fail_as(animations, POISE_ERROR_ARGUMENT, &said);
}

static poise_status choose(pz_gltf *gltf, const pz_item *animations, int total)
{
    const poise_read_options *options = gltf->input->options;
    int chosen = options->animation_name ? 0 : options->animation;
    while (options->animation_name && chosen < total && strcmp(name_of(animations, chosen), options->animation_name) != 0) {
        ++chosen;
    }
    if (chosen < 0 || chosen >= total) {
        return refuse_choice(animations, options, total);
    }
    if (total > 1 && !options->animation_name) {
        pz_json_warn(animations,
                     "%d animations; the clip is number %d \"%s\" (--animation, or options.animation in C, takes another)",
                     total, chosen, name_of(animations, chosen));
    }
    gltf->animation = chosen;
    return POISE_OK;
}

poise_status pz_gltf_read_clip(pz_gltf *gltf)
{
    pz_item animations = pz_json_get(&gltf->root, "animations");
    int total = (int)pz_json_length(&animations);
    if (total == 0) {
        return POISE_OK;
    }
    poise_status status = choose(gltf, &animations, total);
    if (status != POISE_OK) {
        return status;
    }
    pz_item animation = pz_json_at(&animations, (size_t)gltf->animation);
    pz_item list = pz_json_get(&animation, "channels");
    channel *channels = pz_pool_take(&gltf->input->pool, pz_json_length(&list), sizeof *channels);
    if (!channels) {
        return pz_input_no_memory(gltf->input);
    }
    size_t count = 0;
    bool missing = false;
    status = read_channels(gltf, &animation, channels, &count, &missing);
    return status == POISE_OK && count > 0 && !missing ? make_clip(gltf, &animation, channels, count) : status;
}
