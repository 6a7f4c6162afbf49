#include "avoid.h"

#include "cli/command.h"
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
static bool read_obstacle(const avoid_asked *asked, const char *text, poise_shape *shape)
{
    char word[16] = "";
    int used = 0, kind = 0, kinds = (int)(sizeof obstacles / sizeof obstacles[0]);
    sscanf(text, " %15[a-z]%n", word, &used); // NOLINT(cert-err34-c): a word
    while (kind < kinds && strcmp(word, obstacles[kind].name) != 0) {
        kind += 1;
    }
    if (kind == kinds) {
        complain("%s: --obstacle \"%s\": begin with box, sphere, capsule or floor, or name a .json file", asked->command,
                 text);
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
        x[count++] = value * asked->unit;
    }
    poise_error error;
    if (count != obstacles[kind].count || at[strspn(at, " ")] != '\0') {
        complain("%s: --obstacle \"%s\": a %s needs %d numbers: %s", asked->command, text, word, obstacles[kind].count,
                 obstacles[kind].numbers);
        return false;
    }
    *shape = make_obstacle(kind, x, asked->up);
    if (poise_shape_check(shape, asked->file->model, &error) != POISE_OK) {
        complain("%s: --obstacle \"%s\": %s", asked->command, text, error.text);
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

static bool names_file(const char *text)
{
    const char *dot = strrchr(text, '.');
    return dot && strcmp(dot, ".json") == 0;
}

bool avoid_check_obstacles(const avoid_asked *asked, const arguments *args)
{
    const char *text;
    poise_shape shape;
    for (int i = 0; (text = option_text_at(args, "obstacle", i)); ++i) {
        if (!names_file(text) && !read_obstacle(asked, text, &shape)) {
            return false;
        }
    }
    return true;
}

// One obstacle in words, or those of a file.
static bool add_obstacles(avoided *a, const avoid_asked *asked, const char *text)
{
    if (!names_file(text)) {
        poise_shape shape;
        bool works = read_obstacle(asked, text, &shape);
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
            asked->command, text);
    }
    poise_file_destroy(file);
    return works;
}

// ---- Pairs ---------------------------------------------------------------------------------------------------------------

bool avoid_load_srdf(poise_file *model, const arguments *args, bool quiet, more_postures *srdf)
{
    const char *name = option_text(args, "srdf", NULL);
    load_options how = {.model = model->model, .quiet = quiet};
    *srdf = (more_postures){.file = name ? load_file(name, &how) : NULL};
    if (srdf->file && srdf->file->format != POISE_FORMAT_SRDF) {
        complain("%s: is not an SRDF file: it has no <disable_collisions>", name);
        release_more_postures(srdf);
    }
    if (srdf->file) {
        add_more_postures(model, srdf);
    }
    return !name || srdf->file;
}

static bool find_pairs(avoided *a, const avoid_asked *asked, const arguments *args)
{
    poise_error error;
    poise_pairs_options options = poise_pairs_options_default();
    options.neighbours = a->neighbours = option_count(args, "neighbours", 1);
    options.excluded = asked->srdf ? asked->srdf->excluded : NULL;
    options.excluded_count = asked->srdf ? asked->srdf->excluded_count : 0;
    poise_status status =
        poise_file_clearance(a->file, a->obstacles, a->obstacle_count, &options, NULL, &a->clearance, &error);
    if (status != POISE_OK) {
        complain(status == POISE_ERROR_NOT_FOUND ? "%s: %s has %s" : "%s: %s: %s", asked->command, asked->name, error.text);
        return false;
    }
    need(poise_file_touching(a->file, a->clearance, &options, NULL, &a->touching, NULL) == POISE_OK);
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

static bool collect_shapes(avoided *a, const avoid_asked *asked, const arguments *args)
{
    const char *text;
    for (int i = 0; (text = option_text_at(args, "obstacle", i)); ++i) {
        if (!add_obstacles(a, asked, text)) {
            return false;
        }
    }
    add_shapes(a, asked->floor, asked->floor != NULL);
    if (!find_pairs(a, asked, args)) {
        return false;
    }
    a->constraints[0] = *a->clearance;
    a->constraints[0].margin = option_number(args, "margin", 0) * asked->unit;
    if (option_given(args, "self-margin")) {
        set_margins(a, a->constraints[0].margin, option_number(args, "self-margin", 0) * asked->unit);
    }
    a->has_shapes = true;
    a->allows_missing = option_given(args, "allow-missing");
    a->count = 1;
    return true;
}

// ---- Balance -------------------------------------------------------------------------------------------------------------

// "X Y X Y X Y ...": the corners of a convex polygon on the ground, either way around.
static bool collect_polygon(avoided *a, const avoid_asked *asked, const char *text)
{
    enum { MOST = 64 };
    double x[2 * MOST], area = 0;
    int count = parse_numbers(text, x, 2 * MOST);
    if (count < 6 || count > 2 * MOST || count % 2 != 0) {
        complain("%s: --balance \"%s\": needs at least three corners of two numbers each: \"-0.1 -0.1 0.1 -0.1 0.1 0.1\"",
                 asked->command, text);
        return false;
    }
    int corners = count / 2;
    for (int i = 0; i < corners; ++i) {
        int j = (i + 1) % corners;
        area += x[2 * i] * x[2 * j + 1] - x[2 * j] * x[2 * i + 1];
    }
    poise_up up = asked->up;
    bool turns = up == POISE_UP_Y ? area > 0 : area < 0; // x to z is clockwise about y
    a->polygon = needed(calloc((size_t)corners, sizeof *a->polygon));
    for (int i = 0; i < corners; ++i) {
        const double *at = &x[2 * (turns ? corners - 1 - i : i)];
        double first = at[0] * asked->unit, second = at[1] * asked->unit;
        a->polygon[i] = up == POISE_UP_X   ? poise_vec3_make(0, first, second)
                        : up == POISE_UP_Y ? poise_vec3_make(first, 0, second)
                                           : poise_vec3_make(first, second, 0);
    }
    poise_constraint *balance = &a->constraints[a->count++];
    *balance = poise_constraint_default(POISE_CONSTRAINT_BALANCE);
    balance->polygon = a->polygon;
    balance->corner_count = corners;
    balance->axis = poise_vec3_make(up == POISE_UP_X, up == POISE_UP_Y, up != POISE_UP_X && up != POISE_UP_Y);
    poise_error error;
    if (poise_constraint_check(balance, a->file->model, &error) != POISE_OK) {
        complain("%s: --balance \"%s\": %s", asked->command, text, error.text);
        return false;
    }
    return true;
}

bool avoid_check_use(const arguments *args, const char *command, bool has_shapes)
{
    static const char *const needs_shapes[] = {"margin", "self-margin", "neighbours", "allow-missing"};
    has_shapes = has_shapes || option_given(args, "avoid") || option_given(args, "obstacle");
    for (size_t i = 0; i < sizeof needs_shapes / sizeof needs_shapes[0]; ++i) {
        if (!has_shapes && option_given(args, needs_shapes[i])) {
            complain("%s: --%s needs --avoid", command, needs_shapes[i]);
            return false;
        }
    }
    return true;
}

bool avoid_collect(avoided *a, const avoid_asked *asked, const arguments *args)
{
    const poise_file *file = asked->file;
    *a = (avoided){.file = file};
    a->constraints = needed(calloc((size_t)file->loop_count + 2, sizeof *a->constraints));
    bool avoids = option_given(args, "avoid") || option_given(args, "obstacle") || asked->floor;
    if (avoids && !collect_shapes(a, asked, args)) {
        return false;
    }
    if (option_given(args, "balance") && !collect_polygon(a, asked, option_text(args, "balance", ""))) {
        return false;
    }
    a->first_loop = a->count;
    for (int i = 0; i < file->loop_count; ++i) {
        a->constraints[a->count++] = file->loops[i];
    }
    return true;
}

int avoid_unwatched(const avoided *a)
{
    int skipped = a->allows_missing ? 0 : a->file->shapes_skipped;
    return !a->has_shapes ? 0 : skipped > 0 || a->constraints[0].pair_count > 0 ? skipped : 1;
}

bool avoid_checks_all(const avoided *a)
{
    return avoid_unwatched(a) == 0;
}

void avoid_release(avoided *a)
{
    free(a->obstacles);
    free(a->margins);
    free(a->polygon);
    free(a->constraints);
    poise_bytes_release(NULL, a->clearance);
    poise_bytes_release(NULL, a->touching);
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

// ---- Pairs that touch in most poses --------------------------------------------------------------------------------------

// Is this the first pair of its two bodies? Of several shapes on a body there are many.
static bool is_first_of_bodies(const poise_constraint *c, int pair)
{
    int a = c->shapes[c->pairs[pair].a].body, b = c->shapes[c->pairs[pair].b].body;
    for (int i = 0; i < pair; ++i) {
        if (c->shapes[c->pairs[i].a].body == a && c->shapes[c->pairs[i].b].body == b) {
            return false;
        }
    }
    return true;
}

void avoid_describe_touching(const avoided *a, char *text, size_t size)
{
    enum { SHOWN = 3 };
    int pairs = a->touching ? a->touching->pair_count : 0, bodies = 0;
    text[0] = '\0';
    if (pairs == 0) {
        return;
    }
    size_t used = (size_t)snprintf(text, size, "%d pair%s of shapes that touch%s in most poses, on ", pairs,
                                   pairs == 1 ? "" : "s", pairs == 1 ? "es" : "");
    for (int i = 0; i < pairs; ++i) {
        if (is_first_of_bodies(a->touching, i) && ++bodies <= SHOWN && used < size) {
            char name[300];
            poise_constraint_describe(a->touching, i, a->file, name, sizeof name);
            used += (size_t)snprintf(text + used, size - used, "%s%s", bodies > 1 ? ", " : "", name);
        }
    }
    if (bodies > SHOWN && used < size) {
        snprintf(text + used, size - used, ", and %d more", bodies - SHOWN);
    }
    text_make_printable(text);
}

json_node *avoid_touching_as_json(const avoided *a)
{
    json_node *list = json_new(JSON_ARRAY);
    for (int i = 0; a->touching && i < a->touching->pair_count; ++i) {
        if (is_first_of_bodies(a->touching, i)) {
            char first[128], second[128];
            poise_shape_describe(a->touching, a->touching->pairs[i].a, a->file, first, sizeof first);
            poise_shape_describe(a->touching, a->touching->pairs[i].b, a->file, second, sizeof second);
            json_append(list, json_make("{s:o, s:o}", "a", json_from_text(first), "b", json_from_text(second)));
        }
    }
    return list;
}

// ---- What cannot move ----------------------------------------------------------------------------------------------------

static bool can_move(const poise_model *model, int body)
{
    while (body != POISE_WORLD) {
        poise_joint_info joint = poise_model_joint_info(model, body);
        if (joint.nv > 0 || joint.mimic != POISE_NONE) {
            return true;
        }
        body = joint.parent;
    }
    return false;
}

// The deepest overlap of a body that cannot move with obstacle number `shape`; its distance, 0 where there is none.
static double deepest_of_still(const avoided *a, const poise_kinematics *kinematics, int shape, int *body)
{
    const poise_shape *shapes = a->clearance->shapes;
    double deepest = 0;
    for (int i = 0; i < a->file->shape_count; ++i) {
        poise_nearest nearest;
        bool is_still = !can_move(a->file->model, shapes[i].body);
        if (is_still && poise_distance(kinematics, &shapes[i], &shapes[shape], &nearest, NULL) == POISE_OK &&
            nearest.distance < deepest) {
            deepest = nearest.distance;
            *body = i;
        }
    }
    return deepest;
}

json_node *avoid_still_as_json(const avoided *a)
{
    json_node *list = json_new(JSON_ARRAY);
    poise_kinematics *kinematics = NULL;
    need(poise_kinematics_create(a->file->model, NULL, &kinematics, NULL) == POISE_OK);
    for (int i = a->file->shape_count; i < a->clearance->shape_count; ++i) {
        char first[128], second[128];
        int body = 0;
        double distance = deepest_of_still(a, kinematics, i, &body);
        if (distance < 0 && a->clearance->shapes[i].body == POISE_WORLD) {
            poise_shape_describe(a->clearance, body, a->file, first, sizeof first);
            poise_shape_describe(a->clearance, i, a->file, second, sizeof second);
            json_append(list, json_make("{s:o, s:o, s:o}", "a", json_from_text(first), "b", json_from_text(second),
                                        "distance", json_from_number(distance)));
        }
    }
    poise_kinematics_destroy(kinematics);
    return list;
}
