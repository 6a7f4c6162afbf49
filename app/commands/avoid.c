#include "avoid.h"

#include "cli/memory.h"
#include "cli/terminal.h"

#include <stdlib.h>
#include <string.h>

// ---- Obstacles -----------------------------------------------------------------------------------------------------------

typedef struct obstacle_row {
    const char *name, *numbers;
    int count;
} obstacle_row;

static const obstacle_row obstacles[] = {{"box", "X Y Z and its sides SX SY SZ", 6},
                                         {"sphere", "X Y Z and its RADIUS", 4},
                                         {"capsule", "X Y Z of both ends and its RADIUS", 7},
                                         {"floor", "the HEIGHT of its surface", 1}};

static poise_shape make_obstacle(int kind, const double *x, poise_up up)
{
    poise_pose pose = poise_pose_identity();
    pose.position = poise_vec3_make(x[0], x[1], x[2]);
    switch (kind) {
    case 0:
        return poise_shape_box(POISE_WORLD, pose, poise_vec3_make(0.5 * x[3], 0.5 * x[4], 0.5 * x[5]));
    case 1:
        return poise_shape_capsule(POISE_WORLD, pose.position, pose.position, x[3]);
    case 2:
        return poise_shape_capsule(POISE_WORLD, pose.position, poise_vec3_make(x[3], x[4], x[5]), x[6]);
    default: {
        poise_vec3 normal = poise_vec3_make(up == POISE_UP_X, up == POISE_UP_Y, up != POISE_UP_X && up != POISE_UP_Y);
        return poise_shape_half_space(POISE_WORLD, poise_vec3_make(x[0] * normal.x, x[0] * normal.y, x[0] * normal.z),
                                      normal);
    }
    }
}

// "box 0.5 0 0.3 0.1 0.1 0.6"
static bool read_obstacle(const avoided *a, const char *command, const char *text, poise_shape *shape)
{
    char word[16] = "";
    int used = 0, kind = 0, kinds = (int)(sizeof obstacles / sizeof obstacles[0]);
    sscanf(text, " %15[a-z]%n", word, &used); // NOLINT(cert-err34-c): a word
    while (kind < kinds && strcmp(word, obstacles[kind].name) != 0) {
        kind += 1;
    }
    if (kind == kinds) {
        complain("%s: --obstacle \"%s\": begin with box, sphere, capsule or floor, or name a .json file", command, text);
        return false;
    }
    double x[8] = {0};
    const char *at = text + used;
    int count = 0;
    for (char *end; count < 8; at = end) {
        double value = strtod(at, &end);
        if (end == at) {
            break;
        }
        x[count++] = value;
    }
    poise_error error;
    if (count != obstacles[kind].count || at[strspn(at, " ")] != '\0') {
        complain("%s: --obstacle \"%s\": a %s takes %d numbers: %s", command, text, word, obstacles[kind].count,
                 obstacles[kind].numbers);
        return false;
    }
    *shape = make_obstacle(kind, x, a->file->scale.up);
    if (poise_shape_check(shape, a->file->model, &error) != POISE_OK) {
        complain("%s: --obstacle \"%s\": %s", command, text, error.text);
        return false;
    }
    return true;
}

static void add_shapes(avoided *a, const poise_shape *shapes, int count)
{
    a->shapes = needed(realloc(a->shapes, (size_t)(a->shape_count + count + 1) * sizeof *a->shapes));
    if (count > 0) {
        memcpy(a->shapes + a->shape_count, shapes, (size_t)count * sizeof *shapes);
    }
    a->shape_count += count;
}

// One obstacle in words, or those of a file.
static bool add_obstacles(avoided *a, const char *command, const char *text)
{
    const char *dot = strrchr(text, '.');
    if (!dot || strcmp(dot, ".json") != 0) {
        poise_shape shape;
        bool works = read_obstacle(a, command, text, &shape);
        add_shapes(a, &shape, works);
        return works;
    }
    load_options how = {.model = a->file->model, .holds_loops = true};
    poise_file *file = load_file(text, &how);
    if (!file) {
        return false;
    }
    bool works = file->shape_count > 0;
    if (works) {
        add_shapes(a, file->shapes, file->shape_count);
    } else {
        complain(
            "%s: --obstacle %s: holds no shapes: {\"poise\": 1, \"shapes\": [{\"kind\": \"box\", \"half\": [1, 1, 1]}]}",
            command, text);
    }
    poise_file_destroy(file);
    return works;
}

// ---- Pairs ---------------------------------------------------------------------------------------------------------------

static bool find_excluded(avoided *a, const char *srdf, int *count)
{
    load_options how = {.model = a->file->model};
    poise_file *file = srdf ? load_file(srdf, &how) : NULL;
    int own = a->file->excluded_count, more = file ? file->excluded_count : 0;
    a->excluded = needed(calloc((size_t)(own + more) + 1, sizeof *a->excluded));
    for (int i = 0; i < own + more; ++i) {
        a->excluded[i] = i < own ? a->file->excluded[i] : file->excluded[i - own];
    }
    *count = own + more;
    bool works = !srdf || (file && file->format == POISE_FORMAT_SRDF);
    if (file && !works) {
        complain("%s: is no SRDF file: it has no <disable_collisions>", srdf);
    }
    poise_file_destroy(file);
    return works;
}

static bool find_pairs(avoided *a, const char *command, const arguments *args)
{
    int found = 0;
    poise_error error;
    poise_pairs_options options = poise_pairs_options_default();
    options.neighbours = a->neighbours = option_count(args, "neighbours", 1);
    if (!find_excluded(a, option_text(args, "srdf", NULL), &options.excluded_count)) {
        return false;
    }
    options.excluded = a->excluded;
    poise_constraint *apart = &a->constraints[0];
    for (int pass = 0; pass < 2; ++pass) {
        if (poise_pairs_find(a->file->model, a->shapes, a->shape_count, &options, NULL, a->pairs, found, &found, &error) !=
            POISE_OK) {
            complain("%s: %s", command, error.text);
            return false;
        }
        a->pairs = pass == 0 ? needed(calloc((size_t)found + 1, sizeof *a->pairs)) : a->pairs;
    }
    apart->pairs = a->pairs;
    apart->pair_count = found;
    return true;
}

// ---- All -----------------------------------------------------------------------------------------------------------------

static bool collect_shapes(avoided *a, const char *command, const char *name, const arguments *args)
{
    add_shapes(a, a->file->shapes, a->file->shape_count);
    const char *text;
    for (int i = 0; (text = option_text_at(args, "obstacle", i)); ++i) {
        if (!add_obstacles(a, command, text)) {
            return false;
        }
    }
    bool has_own = false;
    for (int i = 0; i < a->shape_count; ++i) {
        has_own = has_own || a->shapes[i].body != POISE_WORLD;
    }
    if (!has_own && a->file->shapes_skipped > 0) {
        complain(
            "%s: %s has %d collision shape%s, but none that could be read: its meshes are not STL or OBJ files, or were "
            "not found beside it or in a folder above",
            command, name, a->file->shapes_skipped, a->file->shapes_skipped == 1 ? "" : "s");
        return false;
    }
    if (!has_own) {
        complain(
            "%s: %s has no collision shapes: they come from URDF <collision>, MJCF <geom> or \"shapes\" in Poise's JSON",
            command, name);
        return false;
    }
    a->constraints[0] = poise_constraint_default(POISE_CONSTRAINT_CLEARANCE);
    a->constraints[0].shapes = a->shapes;
    a->constraints[0].shape_count = a->shape_count;
    a->constraints[0].margin = option_number(args, "margin", 0);
    a->has_shapes = true;
    a->allows_missing = option_given(args, "allow-missing");
    a->count = 1;
    return find_pairs(a, command, args);
}

bool avoid_collect(avoided *a, const char *command, const char *name, const poise_file *file, const arguments *args)
{
    static const char *const needs_shapes[] = {"srdf", "margin", "neighbours", "allow-missing"};
    *a = (avoided){.file = file};
    a->constraints = needed(calloc((size_t)file->loop_count + 1, sizeof *a->constraints));
    bool avoids = option_given(args, "avoid") || option_given(args, "obstacle");
    for (size_t i = 0; i < sizeof needs_shapes / sizeof needs_shapes[0]; ++i) {
        if (!avoids && option_given(args, needs_shapes[i])) {
            complain("%s: --%s is about shapes: add --avoid", command, needs_shapes[i]);
            return false;
        }
    }
    if (avoids && !collect_shapes(a, command, name, args)) {
        return false;
    }
    for (int i = 0; i < file->loop_count; ++i) {
        a->constraints[a->count++] = file->loops[i];
    }
    return true;
}

bool avoid_checks_all(const avoided *a)
{
    return !a->has_shapes || (a->constraints[0].pair_count > 0 && (a->file->shapes_skipped == 0 || a->allows_missing));
}

void avoid_release(avoided *a)
{
    free(a->shapes);
    free(a->pairs);
    free(a->excluded);
    free(a->constraints);
}

// ---- Names ---------------------------------------------------------------------------------------------------------------

static const char *body_name(const avoided *a, int body)
{
    return body == POISE_WORLD ? "the world" : poise_model_joint_info(a->file->model, body).body;
}

static void name_shape(const avoided *a, int shape, char text[128])
{
    int own = a->file->shape_count;
    if (shape >= own) {
        snprintf(text, 128, "obstacle %d", shape - own + 1);
    } else {
        snprintf(text, 128, "%s", body_name(a, a->shapes[shape].body));
    }
}

void avoid_name_pair(const avoided *a, int pair, char first[128], char second[128])
{
    name_shape(a, a->pairs[pair].a, first);
    name_shape(a, a->pairs[pair].b, second);
}

void avoid_name(const avoided *a, int constraint, int item, char *text, size_t size)
{
    const poise_constraint *c = &a->constraints[constraint];
    char first[128], second[128];
    if (c->kind == POISE_CONSTRAINT_CLEARANCE) {
        avoid_name_pair(a, item, first, second);
        snprintf(text, size, "%s and %s", first, second);
    } else {
        snprintf(text, size, "the loop of %s and %s (%s)", body_name(a, c->body), body_name(a, c->body2),
                 poise_constraint_kind_name(c->kind));
    }
}
