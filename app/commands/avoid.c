#include "avoid.h"

#include "cli/memory.h"
#include "cli/parse_text.h"
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

bool avoid_load_srdf(poise_file *model, const arguments *args, more_postures *srdf)
{
    const char *name = option_text(args, "srdf", NULL);
    load_options how = {.model = model->model};
    *srdf = (more_postures){.file = name ? load_file(name, &how) : NULL};
    if (srdf->file && srdf->file->format != POISE_FORMAT_SRDF) {
        complain("%s: is no SRDF file: it has no <disable_collisions>", name);
        release_more_postures(srdf);
    }
    if (srdf->file) {
        add_more_postures(model, srdf);
    }
    return !name || srdf->file;
}

static bool find_pairs(avoided *a, const char *command, const char *name, const arguments *args)
{
    poise_error error;
    poise_pairs_options options = poise_pairs_options_default();
    options.neighbours = a->neighbours = option_count(args, "neighbours", 1);
    options.excluded = a->srdf ? a->srdf->excluded : NULL;
    options.excluded_count = a->srdf ? a->srdf->excluded_count : 0;
    poise_status status =
        poise_file_clearance(a->file, a->obstacles, a->obstacle_count, &options, NULL, &a->clearance, &error);
    if (status != POISE_OK) {
        complain(status == POISE_ERROR_NOT_FOUND ? "%s: %s has %s" : "%s: %s: %s", command, name, error.text);
        return false;
    }
    return true;
}

// ---- All -----------------------------------------------------------------------------------------------------------------

static void set_margins(avoided *a, double margin, double of_itself)
{
    const poise_constraint *apart = a->clearance;
    a->margins = needed(calloc((size_t)apart->pair_count + 1, sizeof *a->margins));
    for (int i = 0; i < apart->pair_count; ++i) {
        bool is_obstacle =
            apart->shapes[apart->pairs[i].a].body == POISE_WORLD || apart->shapes[apart->pairs[i].b].body == POISE_WORLD;
        a->margins[i] = is_obstacle ? margin : of_itself;
    }
    a->constraints[0].margins = a->margins;
}

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
    if (option_given(args, "self-margin")) {
        set_margins(a, a->constraints[0].margin, option_number(args, "self-margin", 0));
    }
    a->has_shapes = true;
    a->allows_missing = option_given(args, "allow-missing");
    a->count = 1;
    return true;
}

// ---- Balance -------------------------------------------------------------------------------------------------------------

// "X Y X Y X Y ...": the corners of a convex polygon on the ground, either way around.
static bool collect_polygon(avoided *a, const char *command, const char *text)
{
    enum { MOST = 64 };
    double x[2 * MOST], area = 0;
    int count = parse_numbers(text, x, 2 * MOST);
    if (count < 6 || count > 2 * MOST || count % 2 != 0) {
        complain("%s: --balance \"%s\": three corners or more, two numbers each: \"-0.1 -0.1 0.1 -0.1 0.1 0.1\"", command,
                 text);
        return false;
    }
    int corners = count / 2;
    for (int i = 0; i < corners; ++i) {
        int j = (i + 1) % corners;
        area += x[2 * i] * x[2 * j + 1] - x[2 * j] * x[2 * i + 1];
    }
    poise_up up = a->file->scale.up;
    bool turns = up == POISE_UP_Y ? area > 0 : area < 0; // x to z is clockwise about y
    a->polygon = needed(calloc((size_t)corners, sizeof *a->polygon));
    for (int i = 0; i < corners; ++i) {
        const double *at = &x[2 * (turns ? corners - 1 - i : i)];
        a->polygon[i] = up == POISE_UP_X   ? poise_vec3_make(0, at[0], at[1])
                        : up == POISE_UP_Y ? poise_vec3_make(at[0], 0, at[1])
                                           : poise_vec3_make(at[0], at[1], 0);
    }
    poise_constraint *balance = &a->constraints[a->count++];
    *balance = poise_constraint_default(POISE_CONSTRAINT_BALANCE);
    balance->polygon = a->polygon;
    balance->corner_count = corners;
    balance->axis = poise_vec3_make(up == POISE_UP_X, up == POISE_UP_Y, up != POISE_UP_X && up != POISE_UP_Y);
    poise_error error;
    if (poise_constraint_check(balance, a->file->model, &error) != POISE_OK) {
        complain("%s: --balance \"%s\": %s", command, text, error.text);
        return false;
    }
    return true;
}

bool avoid_collect(avoided *a, const char *command, const char *name, const poise_file *file, const poise_file *srdf,
                   const arguments *args)
{
    static const char *const needs_shapes[] = {"margin", "self-margin", "neighbours", "allow-missing"};
    *a = (avoided){.file = file, .srdf = srdf};
    a->constraints = needed(calloc((size_t)file->loop_count + 2, sizeof *a->constraints));
    bool avoids = option_given(args, "avoid") || option_given(args, "obstacle");
    for (size_t i = 0; i < sizeof needs_shapes / sizeof needs_shapes[0]; ++i) {
        if (!avoids && option_given(args, needs_shapes[i])) {
            complain("%s: --%s is about shapes: add --avoid", command, needs_shapes[i]);
            return false;
        }
    }
    if (!avoids && option_given(args, "srdf") && !option_given(args, "from")) {
        complain("%s: --srdf has pairs for --avoid and postures for --from: add one of them", command);
        return false;
    }
    if (avoids && !collect_shapes(a, command, name, args)) {
        return false;
    }
    if (option_given(args, "balance") && !collect_polygon(a, command, option_text(args, "balance", ""))) {
        return false;
    }
    a->first_loop = a->count;
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
    free(a->margins);
    free(a->polygon);
    free(a->constraints);
    poise_bytes_release(NULL, a->clearance);
}

double avoid_margin(const avoided *a, int pair)
{
    return a->margins ? a->margins[pair] : a->constraints[0].margin;
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
