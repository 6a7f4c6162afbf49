// What poise solve keeps apart: the shapes of the model's file, and obstacles of the command line.
#include "cli/memory.h"
#include "cli/terminal.h"
#include "solve_parts.h"

#include <float.h>
#include <stdio.h>
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

static poise_shape make_obstacle(int kind, const double *x, bool z_up)
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
    default:
        return poise_shape_half_space(POISE_WORLD, z_up ? poise_vec3_make(0, 0, x[0]) : poise_vec3_make(0, x[0], 0),
                                      z_up ? poise_vec3_make(0, 0, 1) : poise_vec3_make(0, 1, 0));
    }
}

// "box 0.5 0 0.3 0.1 0.1 0.6"
static bool read_obstacle(const solve_job *job, const char *text, poise_shape *shape)
{
    char word[16] = "";
    int used = 0, kind = 0, kinds = (int)(sizeof obstacles / sizeof obstacles[0]);
    sscanf(text, " %15[a-z]%n", word, &used); // NOLINT(cert-err34-c): a word
    while (kind < kinds && strcmp(word, obstacles[kind].name) != 0) {
        kind += 1;
    }
    if (kind == kinds) {
        complain("solve: --obstacle \"%s\": begin with box, sphere, capsule or floor", text);
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
        complain("solve: --obstacle \"%s\": a %s takes %d numbers: %s", text, word, obstacles[kind].count,
                 obstacles[kind].numbers);
        return false;
    }
    *shape = make_obstacle(kind, x, job->file->scale.up != POISE_UP_Y);
    if (poise_shape_check(shape, job->model, &error) != POISE_OK) {
        complain("solve: --obstacle \"%s\": %s", text, error.text);
        return false;
    }
    return true;
}

// ---- Setting up ----------------------------------------------------------------------------------------------------------

static bool find_pairs(solve_job *job, int neighbours)
{
    int found = 0;
    poise_error error;
    poise_pairs_options options = poise_pairs_options_default();
    options.neighbours = neighbours;
    poise_constraint *apart = &job->apart;
    for (int pass = 0; pass < 2; ++pass) {
        if (poise_pairs_find(job->model, job->shapes, apart->shape_count, &options, NULL, job->pairs, found, &found,
                             &error) != POISE_OK) {
            complain("solve: %s", error.text);
            return false;
        }
        job->pairs = pass == 0 ? needed(calloc((size_t)found + 1, sizeof *job->pairs)) : job->pairs;
    }
    apart->pairs = job->pairs;
    apart->pair_count = found;
    return true;
}

bool solve_collect_shapes(solve_job *job, const arguments *args)
{
    int given = 0, own = job->file->shape_count;
    while (option_text_at(args, "obstacle", given)) {
        given += 1;
    }
    if (!option_given(args, "avoid") && given == 0) {
        return true;
    }
    job->shapes = needed(calloc((size_t)(own + given) + 1, sizeof *job->shapes));
    if (own > 0) {
        memcpy(job->shapes, job->file->shapes, (size_t)own * sizeof *job->shapes);
    }
    for (int i = 0; i < given; ++i) {
        if (!read_obstacle(job, option_text_at(args, "obstacle", i), &job->shapes[own + i])) {
            return false;
        }
    }
    if (own == 0) {
        complain("solve: %s holds no collision shapes that are read (%d meshes): boxes, spheres and cylinders are",
                 job->name, job->file->shapes_skipped);
        return false;
    }
    job->apart = poise_constraint_default(POISE_CONSTRAINT_CLEARANCE);
    job->apart.shapes = job->shapes;
    job->apart.shape_count = own + given;
    job->apart.margin = option_number(args, "margin", 0);
    job->apart_count = 1;
    if (!find_pairs(job, option_count(args, "neighbours", 1))) {
        return false;
    }
    poise_constraints_size(&job->apart, 1, &job->options.constraints);
    return true;
}

// ---- What is said --------------------------------------------------------------------------------------------------------

static void name_shape(const solve_job *job, int shape, char *text, size_t size)
{
    int body = job->shapes[shape].body;
    if (body != POISE_WORLD) {
        snprintf(text, size, "%s", poise_model_joint_info(job->model, body).body);
    } else {
        snprintf(text, size, "obstacle %d", shape - job->file->shape_count + 1);
    }
}

// The pair that is nearest, by name.
static double nearest_pair(const solve_job *job, char a[128], char b[128])
{
    int item = 0;
    double room = poise_solver_constraint_room(job->solver, 0, &item);
    if (job->apart.pair_count > 0) {
        name_shape(job, job->pairs[item].a, a, 128);
        name_shape(job, job->pairs[item].b, b, 128);
    }
    return room + job->apart.margin;
}

void solve_print_shapes(const solve_job *job)
{
    if (job->apart_count == 0) {
        return;
    }
    char a[128] = "", b[128] = "";
    double distance = nearest_pair(job, a, b);
    printf("\n%d shapes, %d pairs watched", job->apart.shape_count, job->apart.pair_count);
    if (job->file->shapes_skipped > 0) {
        printf("; %d of the file's collision shapes are meshes, which are not read", job->file->shapes_skipped);
    }
    if (job->apart.pair_count == 0 || distance > DBL_MAX / 2) {
        putchar('\n');
    } else if (distance >= 0) {
        printf("\nnearest: %s and %s, %.4g %s apart%s\n", a, b, distance, job->length_unit,
               job->report.holds ? "" : ", less than the margin");
    } else {
        printf("\nin the way: %s and %s overlap by %.4g %s\n", a, b, -distance, job->length_unit);
    }
}

json_node *solve_shapes_as_json(const solve_job *job)
{
    char a[128] = "", b[128] = "";
    double distance = nearest_pair(job, a, b);
    json_node *o = json_make("{s:b, s:i, s:i, s:i, s:o, s:o}", "holds", job->report.holds, "shapes", job->apart.shape_count,
                             "pairs", job->apart.pair_count, "meshes_not_read", job->file->shapes_skipped, "margin",
                             json_from_number(job->apart.margin), "clearance", json_from_number(distance));
    json_set(o, "nearest", json_make("{s:o, s:o}", "a", json_from_text(a), "b", json_from_text(b)));
    json_set(o, "blocks", json_from_bool(job->report.blocking != POISE_NONE));
    return o;
}
