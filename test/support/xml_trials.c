#include "xml_trials.h"

#include "meter.h"

#include <math.h>
#include <stdarg.h>
#include <time.h>

// ---- Reading -------------------------------------------------------------------------------------------------------------

poise_file *trial_read_with(poise_format format, const char *text, const poise_read_options *options)
{
    poise_read_options given = options ? *options : poise_read_options_default();
    given.format = format;
    poise_file *file = NULL;
    poise_error error = {.text = ""};
    poise_status status = poise_read(text, strlen(text), &given, NULL, &file, &error);
    ck_assert_msg(status == POISE_OK, "line %d: %s", error.line, error.text);
    return file;
}

poise_file *trial_read(poise_format format, const char *text)
{
    return trial_read_with(format, text, NULL);
}

void trial_refused(poise_format format, const char *text, poise_status status, int line, const char *words)
{
    poise_read_options options = poise_read_options_default();
    options.format = format;
    poise_file *file = NULL;
    poise_error error = {.text = ""};
    poise_status got = poise_read(text, strlen(text), &options, NULL, &file, &error);
    ck_assert_msg(got == status, "%s, not %s, for: %s (%s)", poise_status_name(got), poise_status_name(status), text,
                  error.text);
    ck_assert_ptr_null(file);
    ck_assert_int_eq(error.status, status);
    ck_assert_msg(error.line == line, "line %d, not %d: %s", error.line, line, error.text);
    ck_assert_msg(strstr(error.text, words) != NULL, "\"%s\" does not say \"%s\"", error.text, words);
    ck_assert_int_eq(poise_read(text, strlen(text), &options, NULL, &file, NULL), status); // an error is not asked for
}

void trial_warned(const poise_file *file, int line, const char *words)
{
    for (int i = 0; i < file->warning_count; ++i) {
        if (strstr(file->warnings[i].text, words) && file->warnings[i].line == line) {
            return;
        }
    }
    for (int i = 0; i < file->warning_count; ++i) {
        printf("    line %d: %s\n", file->warnings[i].line, file->warnings[i].text);
    }
    ck_abort_msg("no warning in line %d says \"%s\"", line, words);
}

char *trial_load(const char *path, size_t *size)
{
    char full[4096];
    snprintf(full, sizeof full, "%s/%s", POISE_SHARED_DIR, path);
    FILE *file = fopen(full, "rb");
    ck_assert_msg(file != NULL, "no %s", full);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*size + 1);
    ck_assert_uint_eq(fread(bytes, 1, *size, file), *size);
    bytes[*size] = '\0';
    fclose(file);
    return bytes;
}

// ---- Hostile input -------------------------------------------------------------------------------------------------------

void trial_cut(poise_format format, const char *text, size_t size)
{
    poise_read_options options = poise_read_options_default();
    options.format = format;
    size_t step = 1 + size * size / 16000000; // 8 MB are read in all, at most
    for (size_t cut = 0; cut < size; cut += step) {
        char *part = malloc(cut + (cut == 0)); // so that a step beyond the end is seen
        memcpy(part, text, cut);
        poise_file *file = NULL;
        poise_error error = {.text = ""};
        poise_status status = poise_read(part, cut, &options, NULL, &file, &error);
        ck_assert_msg((status == POISE_OK) == (file != NULL), "cut at %zu", cut);
        ck_assert_msg(status == POISE_OK || (error.status == status && error.text[0]), "cut at %zu: no reason", cut);
        ck_assert_msg(status == POISE_OK || status == POISE_ERROR_FORMAT || status == POISE_ERROR_MODEL, "cut at %zu: %s",
                      cut, error.text);
        poise_file_destroy(file);
        free(part);
    }
}

// One read with the n-th request failing; true when there was no n-th request any more.
static bool read_failing(poise_format format, const char *text, int n)
{
    meter m = {.fail_from = n, .fail_to = n};
    poise_allocator allocator = {meter_allocate, meter_release, &m};
    poise_read_options options = poise_read_options_default();
    options.format = format;
    poise_file *file = NULL;
    poise_error error = {.text = ""};
    poise_status status = poise_read(text, strlen(text), &options, &allocator, &file, &error);
    if (status != POISE_OK) {
        ck_assert_msg(status == POISE_ERROR_MEMORY && m.requests >= n, "%s", error.text);
        ck_assert_ptr_null(file);
    }
    poise_file_destroy(file);
    ck_assert_msg(m.live == 0, "%d blocks leaked", m.live);
    return m.requests < n;
}

// A warning that finds no memory is dropped, so some failed requests let the read go on.
void trial_without_memory(poise_format format, const char *text)
{
    int n = 1;
    while (!read_failing(format, text, n)) {
        n += 1;
    }
    ck_assert_int_gt(n, 6);
}

static double seconds_to_read(poise_format format, const char *text)
{
    poise_read_options options = poise_read_options_default();
    options.format = format;
    clock_t start = clock();
    poise_file *file = NULL;
    poise_error error = {.text = ""};
    poise_status status = poise_read(text, strlen(text), &options, NULL, &file, &error);
    clock_t end = clock();
    ck_assert_msg(status == POISE_OK, "line %d: %s", error.line, error.text);
    poise_file_destroy(file);
    return (double)(end - start) / CLOCKS_PER_SEC;
}

// The least of several runs, and three tries: other processes only ever add time.
void trial_linear_time(poise_format format, char *(*write)(int n), int n)
{
    char *small = write(n), *large = write(10 * n);
    double ratio = INFINITY;
    for (int try = 0; try < 3 && ratio > 20.0; ++try) {
        double few = INFINITY, many = INFINITY;
        for (int i = 0; i < 4; ++i) {
            few = fmin(few, seconds_to_read(format, small));
            many = fmin(many, seconds_to_read(format, large));
        }
        ratio = many / few;
    }
    free(small);
    free(large);
    ck_assert_msg(ratio <= 20.0, "ten times the size takes %.1f times the time", ratio);
}

// ---- Kinematics ----------------------------------------------------------------------------------------------------------

static poise_pose pose_of(const poise_model *model, const double *q, int body, int tool)
{
    const double nothing = 0;
    poise_kinematics *kinematics;
    ck_assert_int_eq(poise_kinematics_create(model, NULL, &kinematics, NULL), POISE_OK);
    ck_assert_int_eq(poise_kinematics_update(kinematics, q ? q : &nothing, NULL), POISE_OK);
    poise_pose pose =
        body >= 0 ? poise_kinematics_body_pose(kinematics, body) : poise_kinematics_tool_pose(kinematics, tool);
    poise_kinematics_destroy(kinematics);
    return pose;
}

poise_pose trial_body(const poise_model *model, const double *q, const char *body)
{
    int index = poise_model_find_body(model, body);
    ck_assert_msg(index >= 0, "no body %s", body);
    return pose_of(model, q, index, -1);
}

poise_pose trial_tool(const poise_model *model, const double *q, const char *tool)
{
    int index = poise_model_find_tool(model, tool);
    ck_assert_msg(index >= 0, "no tool %s", tool);
    return pose_of(model, q, -1, index);
}

void trial_same_pose(const char *what, poise_pose a, poise_pose b, double tolerance)
{
    poise_vec3 p = a.position, r = b.position;
    poise_quat s = a.rotation, t = b.rotation;
    double sign = s.x * t.x + s.y * t.y + s.z * t.z + s.w * t.w < 0 ? -1 : 1;
    double far = fmax(fmax(fabs(p.x - r.x), fabs(p.y - r.y)), fabs(p.z - r.z));
    double turned =
        fmax(fmax(fabs(s.x - sign * t.x), fabs(s.y - sign * t.y)), fmax(fabs(s.z - sign * t.z), fabs(s.w - sign * t.w)));
    ck_assert_msg(far <= tolerance && turned <= tolerance,
                  "%s: p (%g %g %g), not (%g %g %g); q (%g %g %g %g), not (%g %g %g %g)", what, p.x, p.y, p.z, r.x, r.y, r.z,
                  s.x, s.y, s.z, s.w, t.x, t.y, t.z, t.w);
}

void trial_put(trial_text *out, const char *format, ...)
{
    char piece[4096];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(piece, sizeof piece, format, arguments);
    va_end(arguments);
    ck_assert(length >= 0 && (size_t)length < sizeof piece);
    if (out->size + (size_t)length + 1 > out->capacity) {
        out->capacity = 2 * (out->size + (size_t)length + 1);
        out->text = realloc(out->text, out->capacity);
    }
    memcpy(out->text + out->size, piece, (size_t)length + 1);
    out->size += (size_t)length;
}
