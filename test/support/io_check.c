#include "io_check.h"

#include "meter.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>

io_bytes io_load(const char *path)
{
    FILE *file = fopen(test_data(path), "rb");
    ck_assert_msg(file != NULL, "%s", path);
    fseek(file, 0, SEEK_END);
    io_bytes got = {NULL, (size_t)ftell(file)};
    rewind(file);
    got.bytes = malloc(got.size + 1);
    ck_assert_uint_eq(fread(got.bytes, 1, got.size, file), got.size);
    got.bytes[got.size] = '\0';
    fclose(file);
    test_own(free, got.bytes);
    return got;
}

void io_put(io_text *out, const char *format, ...)
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

static void destroy_file(void *file)
{
    poise_file_destroy(file);
}

static void release_bytes(void *bytes)
{
    poise_bytes_release(NULL, bytes);
}

// ---- Reading -------------------------------------------------------------------------------------------------------------

poise_read_options io_options(poise_format format, const poise_model *model)
{
    poise_read_options options = {0};
    options.format = format;
    options.model = model;
    return options;
}

poise_file *io_own(poise_file *file)
{
    test_own(destroy_file, file);
    return file;
}

static poise_file *read_or_fail(const void *bytes, size_t size, const poise_read_options *options)
{
    poise_file *file = NULL;
    poise_error error = {0};
    poise_status status = poise_read(bytes, size, options, NULL, &file, &error);
    ck_assert_msg(status == POISE_OK, "%s: line %d: %s", poise_status_name(status), error.line, error.text);
    return io_own(file);
}

poise_file *io_read_bytes(io_bytes bytes, const poise_read_options *options)
{
    return read_or_fail(bytes.bytes, bytes.size, options);
}

poise_file *io_read(const void *bytes, size_t size, poise_format format, const poise_model *model)
{
    poise_read_options options = io_options(format, model);
    return read_or_fail(bytes, size, &options);
}

poise_file *io_read_text(const char *text, poise_format format, const poise_model *model)
{
    return io_read(text, strlen(text), format, model);
}

poise_file *io_read_with(const char *text, const poise_read_options *options)
{
    return read_or_fail(text, strlen(text), options);
}

poise_file *io_read_data(const char *path, poise_format format, const poise_model *model)
{
    io_bytes bytes = io_load(path);
    return io_read(bytes.bytes, bytes.size, format, model);
}

void io_refused(const void *bytes, size_t size, const poise_read_options *options, int line, const char *words)
{
    poise_file *file = NULL;
    poise_error error = {0};
    poise_status status = poise_read(bytes, size, options, NULL, &file, &error);
    ck_assert_msg(status != POISE_OK, "read, but \"%s\" was expected", words);
    ck_assert_ptr_null(file);
    ck_assert_int_eq(error.status, status);
    ck_assert_msg(strstr(error.text, words) != NULL, "\"%s\" has no \"%s\"", error.text, words);
    ck_assert_msg(error.line == line, "\"%s\" on line %d, not %d", error.text, error.line, line);
    ck_assert_int_eq(poise_read(bytes, size, options, NULL, &file, NULL), status); // an error is not asked for
}

void io_refused_text(const char *text, poise_format format, const poise_model *model, int line, const char *words)
{
    poise_read_options options = io_options(format, model);
    io_refused(text, strlen(text), &options, line, words);
}

void io_case_refused(const io_case *c, poise_format format, const poise_model *model)
{
    io_refused_text(c->text, format, model, c->line, c->words);
}

void io_refusal_holds(const io_refusal *r, poise_format format)
{
    io_case_refused(&r->what, format, NULL);
    poise_read_options options = io_options(format, NULL);
    poise_file *file = NULL;
    poise_status status = poise_read(r->what.text, strlen(r->what.text), &options, NULL, &file, NULL);
    ck_assert_msg(status == r->status, "%s: %s", r->what.text, poise_status_name(status));
}

poise_file *io_case_warned(const io_case *c, poise_format format, const poise_model *model)
{
    poise_file *file = io_read_text(c->text, format, model);
    if (c->words) {
        io_check_warned(file, c->line, c->words);
    } else {
        ck_assert_msg(file->warning_count == 0, "%s: %s", c->text, file->warning_count > 0 ? file->warnings[0].text : "");
    }
    ck_assert(io_is_sound(file));
    return file;
}

bool io_warned(const poise_file *file, int line, const char *part)
{
    for (int i = 0; i < file->warning_count; ++i) {
        if (strstr(file->warnings[i].text, part) && (line == 0 || file->warnings[i].line == line)) {
            return true;
        }
    }
    return false;
}

void io_check_warned(const poise_file *file, int line, const char *part)
{
    for (int i = 0; i < file->warning_count; ++i) {
        if (strstr(file->warnings[i].text, part) && file->warnings[i].line == line) {
            return;
        }
    }
    ck_abort_msg("no warning on line %d says \"%s\"; the first of %d is on line %d: %s", line, part, file->warning_count,
                 file->warning_count > 0 ? file->warnings[0].line : 0,
                 file->warning_count > 0 ? file->warnings[0].text : "");
}

void io_warned_text(const char *text, poise_format format, int line, const char *part)
{
    io_case_warned(&(io_case){text, line, part}, format, NULL);
}

// ---- Writing -------------------------------------------------------------------------------------------------------------

io_bytes io_write(const poise_file *file, poise_format format, int warnings)
{
    void *bytes = NULL;
    size_t size = 0;
    poise_error error = {0};
    poise_warning said[8];
    int count = 8;
    poise_status status = poise_write(file, format, NULL, &bytes, &size, said, &count, &error);
    ck_assert_msg(status == POISE_OK, "%s: %s", poise_status_name(status), error.text);
    ck_assert_msg(warnings < 0 || count == warnings, "%d warnings; first: %s", count, count > 0 ? said[0].text : "");
    test_own(release_bytes, bytes);
    return (io_bytes){bytes, size};
}

void io_write_warns(const poise_file *file, poise_format format, const char *part)
{
    void *bytes = NULL;
    size_t size = 0;
    poise_warning said[8];
    int count = 8;
    ck_assert_int_eq(poise_write(file, format, NULL, &bytes, &size, said, &count, NULL), POISE_OK);
    bool found = false;
    for (int i = 0; i < count && i < 8; ++i) {
        found = found || strstr(said[i].text, part) != NULL;
    }
    ck_assert_msg(found, "no warning with \"%s\" among %d; first: %s", part, count, count > 0 ? said[0].text : "");
    poise_bytes_release(NULL, bytes);
}

void io_write_refused(const poise_file *file, poise_format format, const char *part)
{
    void *bytes = NULL;
    size_t size = 0;
    poise_error error = {0};
    ck_assert_int_ne(poise_write(file, format, NULL, &bytes, &size, NULL, NULL, &error), POISE_OK);
    ck_assert_ptr_null(bytes);
    ck_assert_msg(strstr(error.text, part) != NULL, "\"%s\" has no \"%s\"", error.text, part);
}

void io_round_trip(const poise_file *file, poise_format format, int warnings)
{
    io_bytes bytes = io_write(file, format, warnings);
    ck_assert_int_eq(poise_format_detect(bytes.bytes, bytes.size, NULL), format);
    poise_file *back = io_read(bytes.bytes, bytes.size, POISE_FORMAT_UNKNOWN, file->model);
    bool is_open = format == POISE_FORMAT_BVH && io_warned(file, 0, "does not settle how they combine"); // and stays so
    bool may_warn = format == POISE_FORMAT_C3D || is_open; // C3D: of a unit that nobody gave
    ck_assert_msg(may_warn || back->warning_count == 0, "%s", back->warning_count > 0 ? back->warnings[0].text : "");
    poise_file whole = *back, as_held = *file;
    if (!back->model) { // the format holds no model
        whole.model = as_held.model = file->model;
        whole.scale = file->scale;
    }
    as_held.title = file->title ? file->title : back->title; // some formats must have one
    io_same_files(&as_held, &whole);
    io_bytes again = io_write(&whole, format, -1);
    ck_assert_uint_eq(again.size, bytes.size);
    ck_assert(memcmp(again.bytes, bytes.bytes, bytes.size) == 0);
}

// ---- The same bits -------------------------------------------------------------------------------------------------------

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

static void same_function(const poise_function *a, const poise_function *b)
{
    ck_assert_msg(!a == !b, "function");
    if (a) {
        bool has_points = a->count > 0 && a->kind != POISE_FUNCTION_POLYNOMIAL;
        ck_assert_int_eq(a->count, b->count);
        ck_assert(a->count == 0 || a->kind == b->kind);
        same_numbers(has_points ? a->x : NULL, has_points ? b->x : NULL, a->count, "points of a function");
        same_numbers(a->count ? a->y : NULL, b->count ? b->y : NULL, a->count, "values of a function");
    }
}

static void same_curve(const poise_curve *a, const poise_curve *b)
{
    ck_assert_msg(!a == !b, "curve");
    for (int i = 0; a && i < 6; ++i) {
        same_function(&a->value[i], &b->value[i]);
        same_numbers(&a->axis[i].x, &b->axis[i].x, 3, "axis of a curve");
    }
}

static void same_joint(const poise_joint *a, const poise_joint *b)
{
    static const int coordinates[POISE_JOINT_TYPE_COUNT] = {0, 1, 1, 2, 3, 3, 4, 3, 3, 3, 7, 6, 6, 1};
    same_text(a->name, b->name);
    same_text(a->body, b->body);
    same_text(a->parent, b->parent);
    same_text(a->mimic, b->mimic);
    ck_assert_msg(a->type == b->type, "%s: %s and %s", a->name, poise_joint_type_name(a->type),
                  poise_joint_type_name(b->type));
    same_numbers(&a->offset.rotation.x, &b->offset.rotation.x, 7, "offset");
    same_numbers(a->lower, b->lower, coordinates[a->type], "lower");
    same_numbers(a->upper, b->upper, coordinates[a->type], "upper");
    same_numbers(a->swing, b->swing, 2, "swing");
    same_numbers(&a->mimic_multiplier, &b->mimic_multiplier, 2, "mimic");
    same_numbers(&a->mass, &b->mass, 4, "mass");
    same_curve(a->curve, b->curve);
    same_function(a->mimic_function, b->mimic_function);
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

void io_same_models(const poise_model *a, const poise_model *b)
{
    ck_assert(!a == !b);
    ck_assert_int_eq(poise_model_info(a).joints, poise_model_info(b).joints);
    ck_assert_int_eq(poise_model_info(a).tools, poise_model_info(b).tools);
    for (int k = 0; k < poise_model_info(a).joints; ++k) {
        poise_joint one = *poise_model_joint_info(a, k).given, other = *poise_model_joint_info(b, k).given;
        same_joint(&one, &other);
    }
    for (int i = 0; i < poise_model_info(a).tools; ++i) {
        poise_pose one = poise_model_tool_info(a, i).pose, other = poise_model_tool_info(b, i).pose;
        same_text(poise_model_tool_info(a, i).name, poise_model_tool_info(b, i).name);
        ck_assert_int_eq(poise_model_tool_info(a, i).body, poise_model_tool_info(b, i).body);
        same_numbers(&one.rotation.x, &other.rotation.x, 7, "tool");
    }
}

void io_same_clips(const poise_clip *a, const poise_clip *b)
{
    ck_assert_int_eq(a->frames, b->frames);
    ck_assert_int_eq(a->nq, b->nq);
    same_numbers(&a->frame_time, &b->frame_time, 1, "frame_time");
    same_numbers(&a->start_time, &b->start_time, 1, "start_time");
    ck_assert(memcmp(a->q, b->q, (size_t)a->frames * (size_t)a->nq * sizeof *a->q) == 0);
}

void io_same_markers(const poise_markers *a, const poise_markers *b)
{
    ck_assert_int_eq(a->frames, b->frames);
    ck_assert_int_eq(a->count, b->count);
    ck_assert_int_eq(a->first_frame, b->first_frame);
    ck_assert_int_eq(a->scale.up, b->scale.up);
    same_numbers(&a->rate, &b->rate, 1, "rate");
    same_numbers(&a->scale.metres, &b->scale.metres, 1, "scale");
    for (int i = 0; i < a->count; ++i) {
        same_text(a->label[i], b->label[i]);
    }
    for (int i = 0; i < a->frames * a->count; ++i) {
        int f = i / a->count, m = i % a->count;
        bool is_seen = poise_markers_seen(a, f, m);
        if (is_seen != poise_markers_seen(b, f, m) ||
            (is_seen && memcmp(&a->position[i], &b->position[i], sizeof a->position[i]) != 0)) {
            ck_abort_msg("frame %d, marker %d differs", f, m);
        }
        bool both = a->residual && b->residual; // a format may lack them
        if (both && a->residual[i] != b->residual[i] && !(isnan(a->residual[i]) && isnan(b->residual[i]))) {
            ck_abort_msg("residual of frame %d, marker %d: %g and %g", f, m, (double)a->residual[i], (double)b->residual[i]);
        }
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
    same_numbers(a->q, b->q, poise_model_info(model).nq, "q");
    same_numbers(a->q_before, b->q_before, poise_model_info(model).nq, "q_before");
    same_numbers(a->q_weights, b->q_weights, poise_model_info(model).nv, "q_weights");
}

void io_same_files(const poise_file *a, const poise_file *b)
{
    ck_assert(!a->clip == !b->clip && !a->markers == !b->markers);
    same_text(a->title, b->title);
    same_numbers(&a->scale.metres, &b->scale.metres, 1, "scale");
    ck_assert_int_eq(a->scale.up, b->scale.up);
    io_same_models(a->model, b->model);
    if (a->clip) {
        io_same_clips(a->clip, b->clip);
    }
    if (a->markers) {
        io_same_markers(a->markers, b->markers);
    }
    ck_assert_int_eq(a->goal_count, b->goal_count);
    for (int i = 0; i < a->goal_count; ++i) {
        same_goal(&a->goals[i], &b->goals[i], a->model);
    }
    ck_assert_int_eq(a->posture_count, b->posture_count);
    for (int i = 0; i < a->posture_count; ++i) {
        same_text(a->postures[i].name, b->postures[i].name);
        same_numbers(a->postures[i].q, b->postures[i].q, poise_model_info(a->model).nq, "posture");
    }
    ck_assert_int_eq(a->placement_count, b->placement_count);
    for (int i = 0; i < a->placement_count; ++i) {
        const poise_placement *p = &a->placements[i], *r = &b->placements[i];
        same_text(p->label, r->label);
        ck_assert_int_eq(p->body, r->body);
        same_numbers(&p->weight, &r->weight, 1, "weight");
        ck_assert_int_eq(isnan(p->local.x), isnan(r->local.x));
        same_numbers(&p->local.x, &r->local.x, isnan(p->local.x) ? 0 : 3, "local");
    }
    io_same_bounds(a, b);
}

// ---- Kinematics ----------------------------------------------------------------------------------------------------------

poise_pose io_pose(const poise_model *model, const double *q, const char *name)
{
    poise_kinematics *kinematics;
    ck_assert_int_eq(poise_kinematics_create(model, NULL, &kinematics, NULL), POISE_OK);
    if (q) {
        ck_assert_int_eq(poise_kinematics_update(kinematics, q, NULL), POISE_OK);
    }
    int body = poise_model_find_body(model, name), tool = poise_model_find_tool(model, name);
    ck_assert_msg(body >= 0 || tool >= 0, "no %s", name);
    poise_pose pose =
        body >= 0 ? poise_kinematics_body_pose(kinematics, body) : poise_kinematics_tool_pose(kinematics, tool);
    poise_kinematics_destroy(kinematics);
    return pose;
}

poise_vec3 io_place(const poise_model *model, const poise_clip *clip, int frame, const char *name)
{
    return io_pose(model, clip->q + (size_t)frame * (size_t)clip->nq, name).position;
}

void io_near(poise_vec3 p, const double expected[3], double tolerance, const char *what)
{
    double d[3] = {p.x - expected[0], p.y - expected[1], p.z - expected[2]};
    for (int i = 0; i < 3; ++i) {
        ck_assert_msg(d[i] <= tolerance && d[i] >= -tolerance, "%s: (%.17g %.17g %.17g), expected (%g %g %g)", what, p.x,
                      p.y, p.z, expected[0], expected[1], expected[2]);
    }
}

void io_same_pose(const char *what, poise_pose a, poise_pose b, double tolerance)
{
    poise_quat s = a.rotation, t = b.rotation;
    double sign = s.x * t.x + s.y * t.y + s.z * t.z + s.w * t.w < 0 ? -1 : 1;
    double turned =
        fmax(fmax(fabs(s.x - sign * t.x), fabs(s.y - sign * t.y)), fmax(fabs(s.z - sign * t.z), fabs(s.w - sign * t.w)));
    const double expected[3] = {b.position.x, b.position.y, b.position.z};
    io_near(a.position, expected, tolerance, what);
    ck_assert_msg(turned <= tolerance, "%s: q (%g %g %g %g), not (%g %g %g %g)", what, s.x, s.y, s.z, s.w, t.x, t.y, t.z,
                  t.w);
}

// ---- Hard times ----------------------------------------------------------------------------------------------------------

bool io_is_sound(const poise_file *file)
{
    const poise_clip *clip = file->clip;
    for (size_t i = 0; clip && i < (size_t)clip->frames * (size_t)clip->nq; ++i) {
        if (!isfinite(clip->q[i])) {
            return false;
        }
    }
    for (int i = 0; file->model && i < file->shape_count; ++i) {
        if (poise_shape_check(&file->shapes[i], file->model, NULL) != POISE_OK) {
            return false;
        }
    }
    for (int i = 0; file->model && i < file->loop_count; ++i) {
        if (poise_constraint_check(&file->loops[i], file->model, NULL) != POISE_OK) {
            return false;
        }
    }
    bool has_rate = !file->markers || (file->markers->rate > 0.0 && isfinite(file->markers->rate));
    return has_rate && (!clip || clip->frame_time > 0.0) && (!file->model || poise_model_info(file->model).joints > 0);
}

// An error has words and a place: a line of a text, a byte of a binary, or the name of what is missing.
static bool has_place(const poise_error *error, poise_format format)
{
    bool is_binary = format == POISE_FORMAT_C3D || format == POISE_FORMAT_GLB;
    return is_binary ? strstr(error->text, "byte") != NULL || strpbrk(error->text, ".:[") != NULL : error->line >= 1;
}

static void survives(const unsigned char *bytes, size_t size, const poise_read_options *options, size_t where)
{
    poise_file *file = NULL;
    poise_error error = {.text = ""};
    poise_status status = poise_read(bytes, size, options, NULL, &file, &error);
    if (status == POISE_OK) {
        ck_assert_msg(file && io_is_sound(file), "byte %zu: not sound", where);
    } else {
        ck_assert_msg(!file && error.status == status && error.text[0] != '\0', "byte %zu: no words", where);
        ck_assert_msg(status != POISE_ERROR_MEMORY, "byte %zu: %s", where, error.text);
        ck_assert_msg(has_place(&error, options->format), "byte %zu: no place: %s", where, error.text);
    }
    poise_file_destroy(file);
}

// Does a number, a word or a mark end there?
static bool is_boundary(const unsigned char *bytes, size_t at)
{
    return isalnum(bytes[at - 1]) == 0 || isalnum(bytes[at]) == 0;
}

static void survives_cut(io_bytes file, size_t cut, const poise_read_options *options)
{
    unsigned char *part = malloc(cut + (cut == 0)); // so that a step beyond the end is seen
    memcpy(part, file.bytes, cut);
    poise_format_detect(part, cut, NULL);
    survives(part, cut, options, cut);
    free(part);
}

void io_survives_cuts(io_bytes file, poise_format format, const poise_model *model)
{
    poise_read_options options = io_options(format, model);
    size_t ends = 0, seen = 0;
    for (size_t i = 1; i < file.size; ++i) {
        ends += is_boundary(file.bytes, i);
    }
    // every byte, or every end of a token, or as many of these as make 4 MB to read, and those near both ends
    size_t step = file.size <= 12000 ? 1 : 1 + ends * file.size / 8000000;
    for (size_t cut = 0; cut <= file.size; ++cut) {
        bool is_end = cut > 0 && cut < file.size && is_boundary(file.bytes, cut) && seen++ % step == 0;
        bool is_outer = cut < 64 || (cut + 64 > file.size && file.size < 1000000);
        if (file.size <= 4096 || is_end || is_outer || cut == file.size) {
            survives_cut(file, cut, &options);
        }
    }
}

void io_survives_changes(io_bytes file, poise_format format, const poise_model *model)
{
    static const unsigned char others[] = {0, '0', '9', '-', '.', '"', '<', '}', ' ', '\n', 0x7f, 0xff};
    poise_read_options options = io_options(format, model);
    size_t step = file.size <= 2048 ? 1 : 1 + file.size * file.size / 700000, count = 0; // 2 MB, or a little more
    unsigned char *copy = malloc(file.size);
    memcpy(copy, file.bytes, file.size);
    for (size_t at = 0; at < file.size; at += step) {
        for (int k = 0; k < 3; ++k, ++count) {
            copy[at] = (unsigned char)(k == 0 ? file.bytes[at] ^ 1u << (count / 3 % 8) : others[count % sizeof others]);
            survives(copy, file.size, &options, at);
        }
        copy[at] = file.bytes[at];
    }
    free(copy);
}

// ---- Memory that runs out ------------------------------------------------------------------------------------------------

static char nowhere; // outputs start as this address, and keep it

typedef poise_status (*attempt)(const void *what, const poise_allocator *allocator);

typedef struct reading {
    io_bytes file;
    poise_read_options options;
} reading;

static poise_status read_once(const void *what, const poise_allocator *allocator)
{
    const reading *r = what;
    poise_file *file = (poise_file *)(void *)&nowhere;
    poise_error error = {.text = ""};
    poise_status status = poise_read(r->file.bytes, r->file.size, &r->options, allocator, &file, &error);
    if (status == POISE_OK) {
        poise_file_destroy(file);
    } else {
        ck_assert_msg(error.status == status && error.text[0] != '\0', "no words");
        ck_assert_ptr_eq(file, (poise_file *)(void *)&nowhere);
    }
    return status;
}

typedef struct writing {
    const poise_file *file;
    poise_format format;
} writing;

static poise_status write_once(const void *what, const poise_allocator *allocator)
{
    const writing *w = what;
    void *bytes = &nowhere;
    size_t size = 12345;
    poise_error error = {.text = ""};
    poise_status status = poise_write(w->file, w->format, allocator, &bytes, &size, NULL, NULL, &error);
    if (status == POISE_OK) {
        poise_bytes_release(allocator, bytes);
    } else {
        ck_assert_msg(error.status == status && error.text[0] != '\0', "no words");
        ck_assert(bytes == &nowhere && size == 12345);
    }
    return status;
}

static int without_memory(attempt run, const void *what)
{
    int refused = 0;
    for (int n = 1; n < 20000; ++n) {
        for (int for_good = 0; for_good < 2; ++for_good) {
            meter m = {.fail_from = n, .fail_to = for_good ? 1 << 30 : n};
            poise_allocator allocator = {meter_allocate, meter_release, &m};
            poise_status status = run(what, &allocator);
            ck_assert_msg(m.live == 0, "request %d: %d blocks left", n, m.live);
            if (m.requests < n) {
                ck_assert_int_eq(status, POISE_OK);
                ck_assert_int_ge(refused, 2); // for what is made and for what it holds
                return n - 1;
            }
            ck_assert_msg(status == POISE_OK || status == POISE_ERROR_MEMORY, "request %d: %s", n,
                          poise_status_name(status));
            refused += status != POISE_OK;
        }
    }
    ck_abort_msg("more than 20000 requests for memory");
}

int io_reads_without_memory(io_bytes file, poise_format format, const poise_model *model)
{
    reading r = {file, io_options(format, model)};
    return without_memory(read_once, &r);
}

int io_writes_without_memory(const poise_file *file, poise_format format)
{
    writing w = {file, format};
    return without_memory(write_once, &w);
}
