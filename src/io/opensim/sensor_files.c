// OpenSense's files: orientations as STO tables of quaternions, setups of its placer and its inverse kinematics.
//
//   DataRate=100.000000
//   DataType=Quaternion
//   endheader
//   time   torso_imu            pelvis_imu ...
//   417    w,x,y,z              w,x,y,z
#include "io/opensim/setup.h"

#include "base/arena.h"
#include "math/scalar.h"

#include <string.h>

// As it is handed out.
typedef struct whole_orientations {
    poise_orientations data;
    poise_allocator allocator;
    bool has_allocator;
    pz_pool kept;
} whole_orientations;

typedef struct reader {
    pz_pool kept;
    poise_error *error;
    poise_orientations out;
    pz_scan rows;
    bool is_quaternions;
} reader;

static poise_status fail(reader *r, int line, const char *what)
{
    pz_error_set(r->error, POISE_ERROR_FORMAT, "%s", what);
    if (r->error) {
        r->error->line = line;
    }
    return POISE_ERROR_FORMAT;
}

static poise_status read_header(reader *r, pz_scan *scan)
{
    pz_word line;
    while (pz_scan_line(scan, &line)) {
        pz_word word = pz_word_trimmed(line.text, line.text + line.length);
        const char *equals = word.length > 0 ? memchr(word.text, '=', word.length) : NULL;
        if (pz_word_is_like(word, "endheader")) {
            return r->is_quaternions ? POISE_OK
                                     : fail(r, scan->line, "no line DataType=Quaternion: this table holds no orientations");
        }
        if (pz_ends_header_with_commas(word)) {
            return fail(r, scan->line - 1, "cells are separated by commas; an STO file uses tabs: replace them");
        }
        if (equals) {
            pz_word key = pz_word_trimmed(word.text, equals), value = pz_word_trimmed(equals + 1, word.text + word.length);
            if (pz_word_is_like(key, "DataRate")) {
                pz_word_number(value, &r->out.rate);
            }
            r->is_quaternions =
                r->is_quaternions || (pz_word_is_like(key, "DataType") && pz_word_is_like(value, "Quaternion"));
        }
    }
    return fail(r, scan->line, "no line \"endheader\"");
}

static poise_status read_labels(reader *r, pz_scan *scan)
{
    pz_word line = {"", 0}, cell;
    while (pz_word_trimmed(line.text, line.text + line.length).length == 0) {
        if (!pz_scan_line(scan, &line)) {
            return fail(r, scan->line, "the file ends before the names of the sensors");
        }
    }
    pz_cells cells = pz_cells_of(pz_word_trimmed(line.text, line.text + line.length));
    size_t room = 0;
    if (!pz_cells_next(&cells, &cell) || !pz_word_is_like(cell, "time")) {
        return fail(r, scan->line - 1, "the first column must be called \"time\"");
    }
    while (pz_cells_next(&cells, &cell)) {
        if (cell.length == 0) {
            continue;
        }
        const char **labels = pz_pool_grow(&r->kept, r->out.label, (size_t)r->out.count, &room, sizeof *labels);
        char *label = labels ? pz_pool_copy(&r->kept, cell.text, cell.length) : NULL;
        if (!label) {
            return pz_error_set(r->error, POISE_ERROR_MEMORY, "out of memory");
        }
        r->out.label = labels;
        r->out.label[r->out.count++] = label;
    }
    r->rows = *scan;
    return POISE_OK;
}

// "w,x,y,z"; what is not four numbers is zero.
static poise_quat quat_of(pz_word cell)
{
    double c[4] = {0, 0, 0, 0};
    const char *at = cell.text, *end = cell.text + cell.length;
    for (int i = 0; i < 4; ++i) {
        const char *behind = pz_number_read(at, end, &c[i]);
        if (behind == at || !is_finite(c[i]) || (i < 3 && (behind >= end || *behind != ','))) {
            return (poise_quat){0, 0, 0, 0};
        }
        at = behind + 1;
    }
    return quat_normalize((quat){c[1], c[2], c[3], c[0]});
}

static poise_status read_rows(reader *r)
{
    pz_scan scan = r->rows;
    pz_word line, cell;
    size_t rows = 0, count = (size_t)r->out.count;
    while (pz_scan_line(&scan, &line)) {
        rows += pz_word_trimmed(line.text, line.text + line.length).length > 0;
    }
    r->out.rotation = rows <= INT32_MAX ? pz_pool_take(&r->kept, rows, count * sizeof *r->out.rotation) : NULL;
    if (!r->out.rotation) {
        return pz_error_set(r->error, POISE_ERROR_MEMORY, "out of memory");
    }
    double time = 0.0, last = 0.0;
    scan = r->rows;
    for (int number = scan.line; pz_scan_line(&scan, &line); number = scan.line) {
        pz_word whole = pz_word_trimmed(line.text, line.text + line.length);
        pz_cells cells = {whole.text, whole.text + whole.length, '\t'};
        if (whole.length == 0) {
            continue;
        }
        if (!pz_cells_next(&cells, &cell) || !pz_word_number(cell, &time)) {
            return fail(r, number, "a row must begin with its time");
        }
        r->out.start_time = r->out.frames == 0 ? time : r->out.start_time;
        last = time;
        for (size_t i = 0; i < count; ++i) {
            bool is_there = pz_cells_next(&cells, &cell);
            r->out.rotation[(size_t)r->out.frames * count + i] = is_there ? quat_of(cell) : (poise_quat){0, 0, 0, 0};
        }
        r->out.frames += 1;
    }
    double span = last - r->out.start_time;
    r->out.rate = r->out.frames > 1 && span > 0.0 ? (r->out.frames - 1) / span : r->out.rate > 0.0 ? r->out.rate : 1.0;
    return r->out.frames > 0 && count > 0 ? POISE_OK : fail(r, 0, "the table has no rows, or no sensors");
}

poise_status poise_orientations_read(const void *bytes, size_t size, const poise_allocator *allocator,
                                     poise_orientations **orientations, poise_error *error)
{
    if ((!bytes && size > 0) || !orientations) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "bytes and orientations must not be NULL");
    }
    reader r = {.kept = {.allocator = allocator}, .error = error};
    pz_scan scan = pz_scan_over(bytes ? bytes : "", size);
    poise_status status = read_header(&r, &scan);
    status = status == POISE_OK ? read_labels(&r, &scan) : status;
    status = status == POISE_OK ? read_rows(&r) : status;
    whole_orientations *whole = status == POISE_OK ? pz_allocate(allocator, sizeof *whole) : NULL;
    if (!whole) {
        pz_pool_release(&r.kept);
        return status == POISE_OK ? pz_error_set(error, POISE_ERROR_MEMORY, "out of memory") : status;
    }
    *whole = (whole_orientations){.data = r.out, .has_allocator = allocator != NULL, .kept = {.blocks = r.kept.blocks}};
    if (allocator) {
        whole->allocator = *allocator;
    }
    *orientations = &whole->data;
    return POISE_OK;
}

void poise_orientations_destroy(poise_orientations *orientations)
{
    if (orientations) {
        whole_orientations *whole = (whole_orientations *)(void *)orientations;
        poise_allocator allocator = whole->allocator;
        bool has_allocator = whole->has_allocator;
        whole->kept.allocator = has_allocator ? &allocator : NULL;
        pz_pool_release(&whole->kept);
        pz_release(has_allocator ? &allocator : NULL, whole);
    }
}

// ---- Setups --------------------------------------------------------------------------------------------------------------

static void copy_text(const char *text, char *to, size_t room)
{
    size_t length = text ? strlen(text) : 0;
    length = length < room ? length : room - 1;
    memcpy(to, text ? text : "", length);
    to[length] = '\0';
}

// <OrientationWeight name="pelvis_imu"><weight>..., wherever they stand.
static poise_status read_weights(pz_setup *s, poise_sensor_setup *setup)
{
    poise_status status = POISE_OK;
    for (const pz_xml_node *node = s->root; node && status == POISE_OK; node = pz_xml_after(node, s->root, false)) {
        if (!pz_xml_is(node, "OrientationWeight") || !pz_osim_name(node)) {
            continue;
        }
        if (setup->weight_count == POISE_SENSOR_WEIGHTS) {
            return pz_xml_fail(&s->input, node, POISE_ERROR_FORMAT, "more than %d weights of sensors", POISE_SENSOR_WEIGHTS);
        }
        poise_sensor_weight *made = &setup->weights[setup->weight_count++];
        made->weight = 1.0;
        copy_text(pz_osim_name(node), made->label, sizeof made->label);
        status = pz_osim_number(&s->o, node, "weight", &made->weight);
        if (status == POISE_OK && !(made->weight >= 0.0)) {
            status = pz_xml_fail(&s->input, node, POISE_ERROR_FORMAT, "the weight of \"%s\" is negative", made->label);
        }
    }
    return status;
}

poise_status poise_sensor_setup_read(const void *bytes, size_t size, poise_sensor_setup *setup, poise_error *error)
{
    if ((!bytes && size > 0) || !setup) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "bytes and setup must not be NULL");
    }
    pz_setup s;
    *setup = (poise_sensor_setup){.axis = 'x', .start = -INFINITY, .end = INFINITY};
    poise_status status = pz_setup_open(&s, bytes, size, NULL, error);
    const pz_xml_node *tool = status == POISE_OK ? pz_setup_find(&s, "IMUPlacer") : NULL;
    tool = tool || status != POISE_OK ? tool : pz_setup_find(&s, "IMUInverseKinematicsTool");
    if (status == POISE_OK && !tool) {
        status = pz_xml_fail(&s.input, s.root, POISE_ERROR_FORMAT,
                             "<%s> contains neither an <IMUPlacer> nor an <IMUInverseKinematicsTool>", s.root->name);
    }
    if (status == POISE_OK) {
        const char *axis = pz_xml_child_text(tool, "base_heading_axis");
        const char *file = pz_setup_text(&s, tool, "orientation_file_for_calibration");
        setup->is_backward = axis && axis[0] == '-';
        char letter = axis ? axis[setup->is_backward] : 'x';
        setup->axis = letter == 'y' || letter == 'Y' ? 'y' : letter == 'z' || letter == 'Z' ? 'z' : 'x';
        copy_text(pz_setup_text(&s, tool, "base_imu_label"), setup->base, sizeof setup->base);
        copy_text(file ? file : pz_setup_text(&s, tool, "orientations_file"), setup->file, sizeof setup->file);
        status = pz_osim_vec3(&s.o, tool, "sensor_to_opensim_rotations", &setup->rotations);
        status = status == POISE_OK ? pz_setup_times(&s, tool, &setup->start, &setup->end) : status;
        status = status == POISE_OK ? read_weights(&s, setup) : status;
    }
    pz_setup_close(&s, false);
    return status;
}
