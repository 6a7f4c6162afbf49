// MOT and STO: OpenSim's storage files, a motion as a table in a text.
//
//   name
//   version=1
//   nRows=151
//   nColumns=11
//   inDegrees=yes
//   endheader
//   time  pelvis_tilt  ...
//   0.0   10.33        ...
//
// A column is a coordinate of the model: "<joint>/<coordinate>", or the name of the joint alone where it has one coordinate.
//
// Coordinates are called as poise_model_coordinate has them: tx ty tz, rx ry rz in the order of the joint (a second turn
// about an axis is rx2, ...), vx vy vz, qx qy qz qw, swing1 swing2 twist, angle1 angle2.
//
// Angles and rotation vectors are in degrees where inDegrees=yes; lengths, quaternions and other values are as they are.
//
// A table with commas and without a header, as spreadsheets write it, is read as well: "time,<coordinate>,..." in radians.
//
// Warned of: columns that are no coordinate (left out), coordinates without a column (neutral), counts that disagree.
// Refused: without a model ("give it as model"), without "endheader" or a column "time", and cells that are no numbers.
#include "base/text.h"
#include "io/io_core.h"

#define WARNINGS_MOST 4 // warnings of one kind

// ---- Names to coordinates ------------------------------------------------------------------------------------------------

typedef struct coordinate {
    const char *name;
    int q;
    bool is_angle;
} coordinate;

typedef struct coordinates {
    coordinate *list;
    size_t count;
    pz_names names;
} coordinates;

static const char *coordinate_name_at(const void *owner, int position)
{
    return ((const coordinates *)owner)->list[position].name;
}

static void add_coordinate(coordinates *all, const char *name, int q, bool angle)
{
    if (pz_names_find(&all->names, name, coordinate_name_at, all) >= 0) {
        return; // a joint called "a/tx" may be in the way of another; the first one stays
    }
    all->list[all->count] = (coordinate){name, q, angle};
    pz_names_add(&all->names, name, (int)all->count);
    all->count += 1;
}

// "<joint>/<part>" in the pool, or NULL.
static char *whole_name(pz_pool *pool, const char *joint, const char *part)
{
    size_t length = strlen(joint), rest = strlen(part);
    char *name = pz_pool_take(pool, length + rest + 2, 1);
    if (name) {
        memcpy(name, joint, length);
        name[length] = '/';
        memcpy(name + length + 1, part, rest + 1);
    }
    return name;
}

static bool name_coordinates(pz_pool *pool, const poise_model *model, coordinates *all)
{
    size_t most = 2 * (size_t)poise_model_info(model).nq + 1;
    all->names.capacity = pz_names_capacity(most);
    all->names.slots = pz_pool_take(pool, all->names.capacity, sizeof *all->names.slots);
    all->list = pz_pool_take(pool, most, sizeof *all->list);
    if (!all->names.slots || !all->list) {
        return false;
    }
    memset(all->names.slots, 0, all->names.capacity * sizeof *all->names.slots);
    for (int i = 0; i < poise_model_info(model).nq; ++i) {
        poise_coordinate c = poise_model_coordinate(model, i);
        poise_joint_info joint = poise_model_joint_info(model, c.joint);
        char *name = whole_name(pool, joint.name, c.name);
        if (!name) {
            return false;
        }
        add_coordinate(all, name, i, c.unit == POISE_UNIT_ANGLE);
        if (joint.nq == 1) {
            add_coordinate(all, joint.name, i, c.unit == POISE_UNIT_ANGLE);
        }
    }
    return true;
}

// The coordinate of a column, or NULL. OpenSim 4 writes paths, "/jointset/hip_r/hip_flexion_r/value": the last two parts, or
// the last one, may be a name.
static const coordinate *find_coordinate(const coordinates *all, const char *name)
{
    int at = pz_names_find(&all->names, name, coordinate_name_at, all);
    const char *slash = strrchr(name, '/');
    if (at < 0 && slash) {
        const char *before = slash;
        while (before > name && before[-1] != '/') {
            --before;
        }
        at = pz_names_find(&all->names, before, coordinate_name_at, all);
        at = at >= 0 ? at : pz_names_find(&all->names, slash + 1, coordinate_name_at, all);
    }
    return at >= 0 ? &all->list[at] : NULL;
}

// The same for "joint.coordinate", as other programs write it.
static const coordinate *find_dotted(const coordinates *all, char *name)
{
    char *dot = strrchr(name, '.');
    if (!dot) {
        return NULL;
    }
    *dot = '/';
    const coordinate *found = find_coordinate(all, name);
    *dot = '.';
    return found;
}

// ---- Reading -------------------------------------------------------------------------------------------------------------

typedef struct column {
    int q; // -1: not of the model
    bool is_angle;
} column;

typedef struct mot {
    pz_input *input;
    const poise_model *model;
    int version, rows, columns; // as the header says; -1: it does not
    int degrees;                // 1 yes, 0 no, -1: not said
    double frame_time;          // 0: not said
    char separator;             // of cells in a row: ' ', or ',' of a table without a header
    column *column;
    size_t column_count, column_capacity;
    size_t time; // the column of times
    pz_scan data;
    size_t row_count;
    int gaps;
} mot;

static void parse_header(mot *m, pz_word line)
{
    const char *equals = line.length > 0 ? memchr(line.text, '=', line.length) : NULL;
    pz_word key, value;
    if (equals) {
        key = pz_word_trimmed(line.text, equals);
        value = pz_word_trimmed(equals + 1, line.text + line.length);
    } else { // SIMM: "datarows 73"
        pz_cells cells = {line.text, line.text + line.length, ' '};
        if (!pz_cells_next(&cells, &key) || !pz_cells_next(&cells, &value)) {
            return;
        }
    }
    if (pz_word_is_like(key, "version")) {
        pz_word_integer(value, &m->version);
    } else if (pz_word_is_like(key, "nRows") || pz_word_is_like(key, "datarows")) {
        pz_word_integer(value, &m->rows);
    } else if (pz_word_is_like(key, "nColumns") || pz_word_is_like(key, "datacolumns")) {
        pz_word_integer(value, &m->columns);
    } else if (pz_word_is_like(key, "inDegrees")) {
        m->degrees = pz_word_is_like(value, "yes") || pz_word_is_like(value, "true");
    } else if (pz_word_is_like(key, "frame_time")) {
        pz_word_number(value, &m->frame_time);
    }
}

static poise_status read_header(mot *m, pz_scan *scan)
{
    pz_word line;
    bool is_first = true;
    pz_scan start = *scan;
    if (pz_scan_line(&start, &line) && pz_begins_table(line)) {
        m->separator = ',';
        m->degrees = 0;
        return POISE_OK;
    }
    while (pz_scan_line(scan, &line)) {
        pz_word word = pz_word_trimmed(line.text, line.text + line.length);
        if (pz_word_is_like(word, "endheader")) {
            return POISE_OK;
        }
        if (pz_ends_header_with_commas(word)) {
            return pz_input_fail(m->input, POISE_ERROR_FORMAT, scan->line - 1,
                                 "cells are separated by commas; a MOT file uses tabs or blanks: replace them");
        }
        if (is_first && word.length > 0 && !memchr(word.text, '=', word.length)) {
            m->input->file->title = pz_pool_copy(&m->input->pool, word.text, word.length);
            if (!m->input->file->title) {
                return pz_input_no_memory(m->input);
            }
        }
        is_first = false;
        parse_header(m, word);
    }
    return pz_input_fail(m->input, POISE_ERROR_FORMAT, scan->line, "not a MOT file: no line \"endheader\"");
}

static void settle_degrees(mot *m)
{
    if (m->degrees < 0) {
        m->degrees = m->version < 1; // files from before there were versions are in degrees
        pz_input_warn(m->input, 0, "no line inDegrees=yes or no; %s assumed", m->degrees ? "degrees" : "radians");
    }
}

// Does the last part of a name belong to a joint that follows another one? Its column says what the model knows.
static bool is_follower(const poise_model *model, const char *name)
{
    const char *slash = strrchr(name, '/');
    return poise_model_joint_info(model, poise_model_find_joint(model, slash ? slash + 1 : name)).mimic >= 0;
}

// One name of the line of columns.
static poise_status add_column(mot *m, const coordinates *all, pz_word cell, int line, int *strangers)
{
    column *list = pz_pool_grow(&m->input->pool, m->column, m->column_count, &m->column_capacity, sizeof *list);
    const size_t tail = 6;
    bool is_value = cell.length > tail && pz_word_is((pz_word){cell.text + cell.length - tail, tail}, "/value");
    char *name = pz_pool_copy(&m->input->pool, cell.text, cell.length - (is_value ? tail : 0));
    if (!list || !name) {
        return pz_input_no_memory(m->input);
    }
    m->column = list;
    const coordinate *found = find_coordinate(all, name);
    found = found ? found : find_dotted(all, name);
    m->column[m->column_count] = (column){found ? found->q : -1, found && found->is_angle};
    if (pz_word_is_like(cell, "time") && m->time == SIZE_MAX) {
        m->time = m->column_count;
        m->column[m->column_count].q = -1;
    } else if (!found && !is_follower(m->model, name)) {
        *strangers += 1;
        if (*strangers <= WARNINGS_MOST) {
            pz_input_warn(m->input, line, "column \"%s\" is not a coordinate of the model and is left out", name);
        }
    }
    m->column_count += 1;
    return POISE_OK;
}

// Coordinates without a column, or with several.
static poise_status check_columns(mot *m, int line)
{
    size_t nq = (size_t)poise_model_info(m->model).nq;
    int *uses = pz_pool_take(&m->input->pool, nq, sizeof *uses);
    if (!uses) {
        return pz_input_no_memory(m->input);
    }
    memset(uses, 0, nq * sizeof *uses);
    int twice = 0, never = 0;
    for (size_t c = 0; c < m->column_count; ++c) {
        if (m->column[c].q >= 0) {
            twice += uses[m->column[c].q]++ == 1;
        }
    }
    for (size_t i = 0; i < nq; ++i) {
        never += uses[i] == 0;
    }
    if (nq > 0 && (size_t)never == nq) {
        const char *first = poise_model_joint_info(m->model, poise_model_coordinate(m->model, 0).joint).name;
        return pz_input_fail(
            m->input, POISE_ERROR_FORMAT, line,
            "no column is a coordinate of this model, whose first joint is \"%s\"; is it for another model?", first);
    }
    if (twice > 0) {
        pz_input_warn(m->input, line, "%d coordinates have several columns; the last is used", twice);
    }
    if (never > 0) {
        pz_input_warn(m->input, line, "%d of %d coordinates of the model have no column and stay neutral", never, (int)nq);
    }
    return POISE_OK;
}

static poise_status read_columns(mot *m, pz_scan *scan)
{
    coordinates all = {.count = 0};
    if (!name_coordinates(&m->input->pool, m->model, &all)) {
        return pz_input_no_memory(m->input);
    }
    pz_word line = {"", 0}, cell;
    int number = scan->line, strangers = 0;
    while (pz_word_trimmed(line.text, line.text + line.length).length == 0) {
        number = scan->line;
        if (!pz_scan_line(scan, &line)) {
            return pz_input_fail(m->input, POISE_ERROR_FORMAT, number, "the file ends before the line of column names");
        }
    }
    pz_word names = pz_word_trimmed(line.text, line.text + line.length);
    pz_cells cells = m->separator == ',' ? (pz_cells){names.text, names.text + names.length, ','} : pz_cells_of(names);
    m->time = SIZE_MAX;
    while (pz_cells_next(&cells, &cell)) {
        poise_status status = add_column(m, &all, cell, number, &strangers);
        if (status != POISE_OK) {
            return status;
        }
    }
    if (m->time == SIZE_MAX) {
        return pz_input_fail(m->input, POISE_ERROR_FORMAT, number, "no column is called \"time\"");
    }
    if (strangers > WARNINGS_MOST) {
        pz_input_warn(m->input, number, "and %d more columns that are left out", strangers - WARNINGS_MOST);
    }
    if (m->columns >= 0 && m->columns != (int)m->column_count) {
        pz_input_warn(m->input, number, "nColumns says %d, but there are %d names", m->columns, (int)m->column_count);
    }
    return check_columns(m, number);
}

static void count_rows(mot *m, pz_scan scan)
{
    pz_word line;
    m->data = scan;
    while (pz_scan_line(&scan, &line)) {
        m->row_count += pz_word_trimmed(line.text, line.text + line.length).length > 0;
    }
    if (m->rows >= 0 && (size_t)m->rows != m->row_count) {
        pz_input_warn(m->input, 0, "nRows says %d, but there are %d rows", m->rows, (int)m->row_count);
    }
}

// One row into q, which holds the row before (or the neutral configuration): a NaN leaves its coordinate as it was.
static poise_status read_row(mot *m, pz_word line, int number, double *time, double *q)
{
    pz_cells cells = {line.text, line.text + line.length, m->separator};
    for (size_t c = 0; c < m->column_count; ++c) {
        pz_word cell = {"", 0};
        if (!pz_cells_next(&cells, &cell)) {
            return pz_input_fail(m->input, POISE_ERROR_FORMAT, number, "%d numbers for %d columns", (int)c,
                                 (int)m->column_count);
        }
        double value;
        const char *end = cell.text + cell.length;
        bool is_degrees = m->column[c].is_angle && m->degrees;
        const char *stop = is_degrees ? pz_number_read_scaled(cell.text, end, PZ_RADIANS_PER_DEGREE, &value)
                                      : pz_number_read(cell.text, end, &value);
        if (stop != end || (c == m->time && value - value != 0.0)) {
            char said[PZ_SAID_SIZE];
            return pz_input_fail(m->input, POISE_ERROR_FORMAT, number, "column %d: \"%s\" is not a number", (int)c + 1,
                                 pz_word_said(cell, said));
        }
        if (c == m->time) {
            *time = value;
        } else if (value - value != 0.0) {
            m->gaps += m->column[c].q >= 0;
        } else if (m->column[c].q >= 0) {
            q[m->column[c].q] = value;
        }
    }
    return POISE_OK;
}

static poise_status read_rows(mot *m, poise_clip *clip, double *times)
{
    pz_scan scan = m->data;
    pz_word line;
    size_t row = 0, nq = (size_t)clip->nq;
    int number = scan.line, first_gap = 0;
    for (; row < m->row_count && pz_scan_line(&scan, &line); number = scan.line) {
        if (pz_word_trimmed(line.text, line.text + line.length).length == 0) {
            continue;
        }
        double *q = clip->q + row * nq;
        if (row == 0) {
            poise_model_neutral(m->model, q);
        } else {
            memcpy(q, q - nq, nq * sizeof *q);
        }
        poise_status status = read_row(m, line, number, &times[row], q);
        if (status != POISE_OK) {
            return status;
        }
        first_gap = first_gap == 0 && m->gaps > 0 ? number : first_gap;
        ++row;
    }
    if (m->gaps > 0) {
        pz_input_warn(m->input, first_gap, "%d values are not numbers; the previous values are kept", m->gaps);
    }
    return POISE_OK;
}

// Rows are taken to be equally far apart.
static void settle_time(mot *m, poise_clip *clip, const double *times)
{
    size_t rows = m->row_count;
    bool has_own = m->frame_time > 0.0 && m->frame_time < 1e9;
    double step = rows > 1 ? (times[rows - 1] - times[0]) / (double)(rows - 1) : has_own ? m->frame_time : 1.0;
    clip->start_time = rows > 0 ? times[0] : 0.0;
    if (!(step > 0.0) || !(step < 1e9)) {
        pz_input_warn(m->input, 0, "times do not increase; 1 s between frames assumed");
        return;
    }
    bool agrees = has_own && m->frame_time < 1.0001 * step && m->frame_time > 0.9999 * step;
    clip->frame_time = agrees ? m->frame_time : step;
    for (size_t i = 1; i < rows; ++i) {
        double off = (times[i] - times[0]) / step - (double)i;
        if (off > 0.5 || off < -0.5) {
            pz_input_warn(m->input, 0, "row %d: times are not evenly spaced; %g s between rows assumed", (int)i + 1, step);
            return;
        }
    }
}

static poise_status read_mot(pz_input *input)
{
    mot m = {.input = input,
             .model = input->options->model,
             .version = 0,
             .rows = -1,
             .columns = -1,
             .degrees = -1,
             .separator = ' '};
    if (!m.model) {
        return pz_input_fail(input, POISE_ERROR_ARGUMENT, 0, "a MOT file needs its skeleton: give it as model");
    }
    pz_scan scan = pz_scan_over(input->bytes, input->size);
    poise_status status = read_header(&m, &scan);
    if (status == POISE_OK) {
        settle_degrees(&m);
        status = read_columns(&m, &scan);
    }
    if (status != POISE_OK) {
        return status;
    }
    count_rows(&m, scan);
    double *times = pz_pool_take(&input->pool, m.row_count, sizeof *times);
    if (m.row_count > INT32_MAX || !times) {
        return pz_input_no_memory(input);
    }
    poise_clip *clip = NULL;
    if (poise_clip_create((int)m.row_count, poise_model_info(m.model).nq, 1.0, input->allocator, &clip, NULL) != POISE_OK) {
        return pz_input_no_memory(input);
    }
    input->file->clip = clip;
    status = read_rows(&m, clip, times);
    if (status == POISE_OK) {
        settle_time(&m, clip, times);
    }
    return status;
}

// ---- Writing -------------------------------------------------------------------------------------------------------------

// A name in a cell of its own.
static void write_name(pz_output *output, const char *name)
{
    for (; *name; ++name) {
        bool is_end = *name == '\t' || *name == '\n' || *name == '\r';
        pz_put_bytes(output, is_end ? "_" : name, 1);
    }
}

// Joints that follow others have no number in q. In a motion of an OpenSim model they have a column, as in its own tables;
// "knee_angle.rotation3", another axis of the coordinate knee_angle, has none.
static bool follows(const poise_file *file, int joint)
{
    poise_joint_info info = poise_model_joint_info(file->model, joint);
    if (file->format != POISE_FORMAT_OSIM || info.mimic < 0) {
        return false;
    }
    const char *leader = poise_model_joint_info(file->model, info.mimic).name;
    size_t length = strlen(leader);
    return strncmp(info.name, leader, length) != 0 || info.name[length] != '.';
}

static int count_followers(const poise_file *file)
{
    int count = 0;
    for (int k = 0; k < poise_model_info(file->model).joints; ++k) {
        count += follows(file, k);
    }
    return count;
}

static void write_value(pz_output *output, bool is_angle, double value)
{
    pz_put(output, "\t");
    if (is_angle) {
        pz_put_degrees(output, value);
    } else {
        pz_put_number(output, value);
    }
}

static void write_followers(const poise_file *file, const double *q, pz_output *output)
{
    const poise_model *model = file->model;
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        poise_joint_info joint = poise_model_joint_info(model, k);
        if (follows(file, k)) {
            double value = poise_model_mimic(model, k, q[poise_model_joint_info(model, joint.mimic).q]);
            write_value(output, poise_joint_coordinate(joint.given, 0).unit == POISE_UNIT_ANGLE, value);
        }
    }
}

static void write_head(const poise_file *file, pz_output *output)
{
    const char *title = file->title && !strchr(file->title, '=') ? file->title : "motion";
    write_name(output, title);
    pz_put(output, "\nversion=1\nnRows=");
    pz_put_integer(output, file->clip->frames);
    pz_put(output, "\nnColumns=");
    pz_put_integer(output, (long long)file->clip->nq + count_followers(file) + 1);
    pz_put(output, "\ninDegrees=yes\nframe_time=");
    pz_put_number(output, file->clip->frame_time);
    pz_put(output, "\nendheader\ntime");
}

// The names of the columns; angle[i] tells whether coordinate i is one.
static void write_columns(const poise_file *file, bool *angle, pz_output *output)
{
    const poise_model *model = file->model;
    for (int i = 0; i < poise_model_info(model).nq; ++i) {
        poise_coordinate c = poise_model_coordinate(model, i);
        poise_joint_info joint = poise_model_joint_info(model, c.joint);
        angle[i] = c.unit == POISE_UNIT_ANGLE;
        pz_put(output, "\t");
        write_name(output, joint.name);
        if (joint.nq > 1) {
            pz_put(output, "/");
            pz_put(output, c.name);
        }
    }
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        if (follows(file, k)) {
            pz_put(output, "\t");
            write_name(output, poise_model_joint_info(model, k).name);
        }
    }
    pz_put(output, "\n");
}

static poise_status write_mot(const poise_file *file, pz_output *output)
{
    const poise_clip *clip = file->clip;
    if (!clip || !file->model) {
        return pz_error_set(output->error, POISE_ERROR_ARGUMENT,
                            "a MOT file holds a clip and needs its model; %s is missing", clip ? "the model" : "the clip");
    }
    if (clip->nq != poise_model_info(file->model).nq) {
        return pz_error_set(output->error, POISE_ERROR_ARGUMENT, "the clip has %d coordinates, but the model has %d",
                            clip->nq, poise_model_info(file->model).nq);
    }
    pz_pool pool = {.allocator = output->allocator};
    bool *angle = pz_pool_take(&pool, (size_t)clip->nq, sizeof *angle);
    if (!angle) {
        output->failed = true;
        return POISE_OK; // the caller reports it
    }
    write_head(file, output);
    write_columns(file, angle, output);
    const double *q = clip->q;
    for (int frame = 0; frame < clip->frames && !output->failed; ++frame) {
        pz_put_number(output, clip->start_time + frame * clip->frame_time);
        for (int i = 0; i < clip->nq; ++i, ++q) {
            write_value(output, angle[i], *q);
        }
        write_followers(file, q - clip->nq, output);
        pz_put(output, "\n");
    }
    pz_pool_release(&pool);
    return POISE_OK;
}

const pz_format_row pz_mot_format = {.name = "mot", .extension = ".mot", .read = read_mot, .write = write_mot};
