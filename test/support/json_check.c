#define _POSIX_C_SOURCE 200809L // clock_gettime

#include "json_check.h"

#include "test_main.h"

#include <string.h>
#include <time.h>

unsigned char *json_check_load(const char *path, size_t *size)
{
    char full[4096];
    snprintf(full, sizeof full, "%s/%s", POISE_SHARED_DIR, path);
    FILE *file = fopen(full, "rb");
    if (!file) {
        return NULL;
    }
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    unsigned char *bytes = malloc(*size > 0 ? *size : 1);
    ck_assert_uint_eq(fread(bytes, 1, *size, file), *size);
    fclose(file);
    return bytes;
}

static poise_status read_as(const void *bytes, size_t size, poise_format format, const poise_allocator *allocator,
                            poise_file **file, poise_error *error)
{
    poise_read_options options = poise_read_options_default();
    options.format = format;
    return poise_read(bytes, size, &options, allocator, file, error);
}

poise_file *json_check_read(const char *text, poise_format format, poise_error *error)
{
    poise_file *file = NULL;
    poise_status status = read_as(text, strlen(text), format, NULL, &file, error);
    ck_assert(status == POISE_OK ? file != NULL : file == NULL);
    return file;
}

void json_check_refused(const char *text, poise_format format, int line, const char *words)
{
    poise_error error = {.text = ""};
    ck_assert_msg(!json_check_read(text, format, &error), "read: %s", text);
    ck_assert_msg(strstr(error.text, words) != NULL, "\"%s\" is not in \"%s\"", words, error.text);
    ck_assert_msg(error.line == line, "line %d, not %d: %s", error.line, line, error.text);
}

void json_check_warned(const char *text, poise_format format, int line, const char *words)
{
    poise_error error = {.text = ""};
    poise_file *file = json_check_read(text, format, &error);
    ck_assert_msg(file != NULL, "%s", error.text);
    bool is_found = false;
    for (int i = 0; i < file->warning_count; ++i) {
        is_found = is_found || (file->warnings[i].line == line && strstr(file->warnings[i].text, words));
    }
    ck_assert_msg(is_found, "no warning in line %d has \"%s\"; the first of %d is in line %d: %s", line, words,
                  file->warning_count, file->warning_count > 0 ? file->warnings[0].line : 0,
                  file->warning_count > 0 ? file->warnings[0].text : "");
    poise_file_destroy(file);
}

void json_check_truncations(const void *bytes, size_t size, poise_format format)
{
    for (size_t n = 0; n <= size; ++n) {
        unsigned char *part = malloc(n > 0 ? n : 1); // its own allocation, so that reading on is seen
        memcpy(part, bytes, n);
        poise_file *file = NULL;
        poise_error error = {.text = ""};
        if (read_as(part, n, format, NULL, &file, &error) == POISE_OK) {
            poise_file_destroy(file);
        } else {
            ck_assert_msg(!file && error.text[0] != '\0', "%zu bytes: no words", n);
        }
        free(part);
    }
}

// ---- Memory that runs out ------------------------------------------------------------------------------------------------

typedef struct meter {
    int requests, fails_at, held;
} meter;

static void *meter_allocate(void *user, size_t size)
{
    meter *m = user;
    m->requests += 1;
    if (m->requests == m->fails_at) {
        return NULL;
    }
    m->held += 1;
    return malloc(size);
}

static void meter_release(void *user, void *memory)
{
    ((meter *)user)->held -= 1;
    free(memory);
}

// Read and write once. True when nothing failed.
static bool read_and_write(const void *bytes, size_t size, poise_format format, meter *m)
{
    poise_allocator allocator = {meter_allocate, meter_release, m};
    poise_file *file = NULL;
    poise_error error = {.text = ""};
    poise_status status = read_as(bytes, size, format, &allocator, &file, &error);
    void *written = NULL;
    size_t written_size = 0;
    if (status == POISE_OK) {
        status = poise_write(file, format, &allocator, &written, &written_size, NULL, NULL, &error);
    }
    ck_assert_msg(status == POISE_OK || status == POISE_ERROR_MEMORY, "request %d: %s", m->fails_at, error.text);
    ck_assert(status == POISE_OK || !written);
    poise_bytes_release(&allocator, written);
    poise_file_destroy(file);
    ck_assert_msg(m->held == 0, "request %d fails: %d allocations are never released", m->fails_at, m->held);
    return status == POISE_OK && m->requests < m->fails_at;
}

int json_check_failing_allocator(const void *bytes, size_t size, poise_format format)
{
    for (int n = 1;; ++n) {
        meter m = {.fails_at = n};
        if (read_and_write(bytes, size, format, &m)) {
            return m.requests;
        }
    }
}

// ---- The same file -------------------------------------------------------------------------------------------------------

static void same_text(const char *a, const char *b)
{
    ck_assert(!a == !b);
    if (a) {
        ck_assert_str_eq(a, b);
    }
}

static void same_numbers(const double *a, const double *b, int count, const char *what)
{
    ck_assert_msg(!a == !b, "%s", what);
    for (int i = 0; a && i < count; ++i) {
        ck_assert_msg(memcmp(&a[i], &b[i], sizeof *a) == 0, "%s: number %d is %.17g, and was %.17g", what, i, b[i], a[i]);
    }
}

static void same_joint(const poise_joint *a, const poise_joint *b)
{
    static const int coordinates[POISE_JOINT_TYPE_COUNT] = {0, 1, 1, 2, 3, 3, 4, 3, 3, 3, 7, 6, 6};
    same_text(a->name, b->name);
    same_text(a->body, b->body);
    same_text(a->parent, b->parent);
    same_text(a->mimic, b->mimic);
    ck_assert_int_eq(a->type, b->type);
    same_numbers(&a->offset.rotation.x, &b->offset.rotation.x, 7, "offset");
    same_numbers(a->lower, b->lower, coordinates[a->type], "lower");
    same_numbers(a->upper, b->upper, coordinates[a->type], "upper");
    same_numbers(a->swing, b->swing, 2, "swing");
    same_numbers(&a->mimic_multiplier, &b->mimic_multiplier, 2, "mimic");
    same_numbers(&a->mass, &b->mass, 4, "mass");
    bool has_axis = a->type == POISE_JOINT_REVOLUTE || a->type == POISE_JOINT_PRISMATIC || a->type == POISE_JOINT_UNIVERSAL;
    if (has_axis) {
        same_numbers(&a->axis.x, &b->axis.x, 3, "axis");
        same_numbers(&a->axis2.x, &b->axis2.x, a->type == POISE_JOINT_UNIVERSAL ? 3 : 0, "axis2");
    } else {
        same_numbers(&a->axes.x, &b->axes.x, 4, "axes");
    }
    if (a->type == POISE_JOINT_BALL_EULER || a->type == POISE_JOINT_FREE_EULER) {
        ck_assert_int_eq(a->order, b->order);
    }
}

void json_check_same_model(const poise_model *a, const poise_model *b)
{
    ck_assert(!a == !b);
    ck_assert_int_eq(poise_model_joint_count(a), poise_model_joint_count(b));
    ck_assert_int_eq(poise_model_tool_count(a), poise_model_tool_count(b));
    for (int k = 0; k < poise_model_joint_count(a); ++k) {
        poise_joint one = poise_model_joint(a, k), other = poise_model_joint(b, k);
        same_joint(&one, &other);
    }
    for (int i = 0; i < poise_model_tool_count(a); ++i) {
        poise_pose one = poise_model_tool_pose(a, i), other = poise_model_tool_pose(b, i);
        same_text(poise_model_tool_name(a, i), poise_model_tool_name(b, i));
        ck_assert_int_eq(poise_model_tool_body(a, i), poise_model_tool_body(b, i));
        same_numbers(&one.rotation.x, &other.rotation.x, 7, "tool");
    }
}

static void same_markers(const poise_markers *a, const poise_markers *b)
{
    ck_assert_int_eq(a->frames, b->frames);
    ck_assert_int_eq(a->count, b->count);
    ck_assert_int_eq(a->first_frame, b->first_frame);
    ck_assert_int_eq(a->scale.up, b->scale.up);
    same_numbers(&a->rate, &b->rate, 1, "rate");
    same_numbers(&a->scale.metres, &b->scale.metres, 1, "scale");
    ck_assert(!a->residual == !b->residual);
    for (int i = 0; i < a->frames * a->count; ++i) {
        int f = i / a->count, m = i % a->count;
        ck_assert_int_eq(poise_markers_seen(a, f, m), poise_markers_seen(b, f, m));
        if (poise_markers_seen(a, f, m)) {
            same_numbers(&a->position[i].x, &b->position[i].x, 3, "marker");
        }
        if (a->residual) {
            bool is_nan = a->residual[i] != a->residual[i];
            ck_assert(is_nan ? b->residual[i] != b->residual[i] : a->residual[i] == b->residual[i]);
        }
    }
    for (int i = 0; i < a->count; ++i) {
        same_text(a->label[i], b->label[i]);
    }
}

static void same_goal(const poise_goal *a, const poise_goal *b, const poise_model *model)
{
    ck_assert_int_eq(a->kind, b->kind);
    ck_assert_int_eq(a->body, b->body);
    ck_assert_int_eq(a->body2, b->body2);
    ck_assert_int_eq(a->priority, b->priority);
    ck_assert_int_eq(a->loss, b->loss);
    same_numbers(&a->weight, &b->weight, 1, "weight");
    same_numbers(&a->loss_scale, &b->loss_scale, 1, "loss_scale");
    same_numbers(&a->tolerance.x, &b->tolerance.x, 3, "tolerance");
    same_numbers(&a->local.rotation.x, &b->local.rotation.x, 7, "local");
    same_numbers(&a->target.rotation.x, &b->target.rotation.x, 7, "target");
    same_numbers(&a->axis.x, &b->axis.x, 3, "axis");
    same_numbers(&a->direction.x, &b->direction.x, 3, "direction");
    same_numbers(&a->distance, &b->distance, 1, "distance");
    same_numbers(&a->rotation_weight, &b->rotation_weight, 1, "rotation_weight");
    same_numbers(&a->rotation_tolerance.x, &b->rotation_tolerance.x, 3, "rotation_tolerance");
    same_numbers(a->q, b->q, poise_model_nq(model), "q");
    same_numbers(a->q_before, b->q_before, poise_model_nq(model), "q_before");
    same_numbers(a->q_weights, b->q_weights, poise_model_nv(model), "q_weights");
}

void json_check_same(const poise_file *a, const poise_file *b)
{
    ck_assert(!a->clip == !b->clip && !a->markers == !b->markers);
    same_text(a->title, b->title);
    same_numbers(&a->scale.metres, &b->scale.metres, 1, "scale");
    ck_assert_int_eq(a->scale.up, b->scale.up);
    json_check_same_model(a->model, b->model);
    if (a->clip) {
        ck_assert_int_eq(a->clip->frames, b->clip->frames);
        ck_assert_int_eq(a->clip->nq, b->clip->nq);
        same_numbers(&a->clip->frame_time, &b->clip->frame_time, 1, "frame_time");
        same_numbers(&a->clip->start_time, &b->clip->start_time, 1, "start_time");
        same_numbers(a->clip->q, b->clip->q, a->clip->frames * a->clip->nq, "clip");
    }
    if (a->markers) {
        same_markers(a->markers, b->markers);
    }
    ck_assert_int_eq(a->goal_count, b->goal_count);
    for (int i = 0; i < a->goal_count; ++i) {
        same_goal(&a->goals[i], &b->goals[i], a->model);
    }
    ck_assert_int_eq(a->posture_count, b->posture_count);
    for (int i = 0; i < a->posture_count; ++i) {
        same_text(a->postures[i].name, b->postures[i].name);
        same_numbers(a->postures[i].q, b->postures[i].q, poise_model_nq(a->model), "posture");
    }
    ck_assert_int_eq(a->placement_count, b->placement_count);
    for (int i = 0; i < a->placement_count; ++i) {
        same_text(a->placements[i].label, b->placements[i].label);
        ck_assert_int_eq(a->placements[i].body, b->placements[i].body);
        same_numbers(&a->placements[i].weight, &b->placements[i].weight, 1, "weight");
        bool is_known = a->placements[i].local.x == a->placements[i].local.x;
        ck_assert_int_eq(is_known, b->placements[i].local.x == b->placements[i].local.x);
        same_numbers(&a->placements[i].local.x, &b->placements[i].local.x, is_known ? 3 : 0, "local");
    }
}

// ---- Time ----------------------------------------------------------------------------------------------------------------

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

double json_check_time(const void *bytes, size_t size, poise_format format)
{
    double least = 1e9;
    for (int i = 0; i < 3; ++i) {
        poise_file *file = NULL;
        poise_error error = {.text = ""};
        double start = now();
        ck_assert_msg(read_as(bytes, size, format, NULL, &file, &error) == POISE_OK, "%s", error.text);
        double took = now() - start;
        poise_file_destroy(file);
        least = took < least ? took : least;
    }
    return least;
}
