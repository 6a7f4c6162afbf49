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
    a->obstacles = needed(realloc(a->obstacles, (size_t)(a->obstacle_count + count + 1) * sizeof *a->obstacles));
    if (count > 0) {
        memcpy(a->obstacles + a->obstacle_count, shapes, (size_t)count * sizeof *shapes);
    }
    a->obstacle_count += count;
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

// The pairs of a SRDF file. False after one line on standard error.
static bool read_excluded(avoided *a, const char *srdf, poise_file **file)
{
    load_options how = {.model = a->file->model};
    *file = load_file(srdf, &how);
    if (*file && (*file)->format != POISE_FORMAT_SRDF) {
        complain("%s: is no SRDF file: it has no <disable_collisions>", srdf);
        poise_file_destroy(*file);
        *file = NULL;
    }
    return *file != NULL;
}

static bool find_pairs(avoided *a, const char *command, const char *name, const arguments *args)
{
    poise_error error;
    poise_file *file = NULL;
    const char *srdf = option_text(args, "srdf", NULL);
    if (srdf && !read_excluded(a, srdf, &file)) {
        return false;
    }
    poise_pairs_options options = poise_pairs_options_default();
    options.neighbours = a->neighbours = option_count(args, "neighbours", 1);
    options.excluded = file ? file->excluded : NULL;
    options.excluded_count = file ? file->excluded_count : 0;
    poise_status status =
        poise_file_clearance(a->file, a->obstacles, a->obstacle_count, &options, NULL, &a->clearance, &error);
    poise_file_destroy(file);
    if (status != POISE_OK) {
        complain(status == POISE_ERROR_NOT_FOUND ? "%s: %s has %s" : "%s: %s: %s", command, name, error.text);
        return false;
    }
    return true;
}

// ---- All -----------------------------------------------------------------------------------------------------------------

static bool collect_shapes(avoided *a, const char *command, const char *name, const arguments *args)
{
    const char *text;
    for (int i = 0; (text = option_text_at(args, "obstacle", i)); ++i) {
        if (!add_obstacles(a, command, text)) {
            return false;
        }
    }
    if (!find_pairs(a, command, name, args)) {
        return false;
    }
    a->constraints[0] = *a->clearance;
    a->constraints[0].margin = option_number(args, "margin", 0);
    a->has_shapes = true;
    a->allows_missing = option_given(args, "allow-missing");
    a->count = 1;
    return true;
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
    free(a->obstacles);
    free(a->constraints);
    poise_bytes_release(NULL, a->clearance);
}

// ---- Names ---------------------------------------------------------------------------------------------------------------

void avoid_name_pair(const avoided *a, int pair, char first[128], char second[128])
{
    poise_shape_describe(a->clearance, a->clearance->pairs[pair].a, a->file, first, 128);
    poise_shape_describe(a->clearance, a->clearance->pairs[pair].b, a->file, second, 128);
}

void avoid_name(const avoided *a, int constraint, int item, char *text, size_t size)
{
    poise_constraint_describe(&a->constraints[constraint], item, a->file, text, size);
}
