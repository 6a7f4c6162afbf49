// TRC: markers as a table in a text.
//
//   PathFileType  4  (X/Y/Z)  name of the file
//   DataRate  CameraRate  NumFrames  NumMarkers  Units  ...
//   100  100  5  3  mm  ...
//   Frame#  Time  first marker      second marker  ...
//                 X1  Y1  Z1  X2  Y2  Z2  ...
//
//   1  0.00  x y z ...
//
// between tabs; an empty cell or a NaN is a gap. Dialects: blanks instead of tabs; one or two empty cells between the names;
// no line of axes, no empty line; header and rows that disagree about the number of markers.
//
// Warned of: counts in the header that disagree with the rows, lines that are no rows, a unit that is no length.
// Refused: a file that ends within its header, names without "Frame#" and "Time", rows too uneven for a table.
#include "io/io_core.h"
#include "num/real.h"

#define WARNINGS_MOST 4 // warnings of one kind

typedef struct trc {
    pz_input *input;
    double rate, camera_rate;
    int frames, markers; // as the header says; -1: it does not
    pz_word unit;
    int first_frame;
    pz_word *name;
    size_t name_count, name_capacity;
    pz_scan rows;     // where they begin
    size_t row_count; // rows that begin with a number
    size_t width;     // markers in the widest row
    int warnings;
} trc;

// ---- Header --------------------------------------------------------------------------------------------------------------

// Is it the word, alone or before a blank?
static bool begins_with_word(pz_word cell, const char *word)
{
    size_t length = strlen(word);
    bool ends = cell.length == length || (cell.length > length && cell.text[length] == ' ');
    return ends && pz_word_is_like((pz_word){cell.text, length}, word);
}

static poise_status read_title(trc *t, pz_scan *scan)
{
    pz_word line = {"", 0}, cell;
    pz_scan_line(scan, &line);
    pz_cells cells = pz_cells_of(line);
    if (!pz_cells_next(&cells, &cell) || !begins_with_word(cell, "PathFileType")) { // some write blanks instead of tabs
        bool has_commas = line.length > 12 && pz_word_is_like((pz_word){line.text, 13}, "PathFileType,");
        return pz_input_fail(t->input, POISE_ERROR_FORMAT, 1,
                             has_commas ? "cells are separated by commas; a TRC file uses tabs: replace them"
                                        : "not a TRC file: \"PathFileType\" expected");
    }
    for (int i = 0; i < 3 && pz_cells_next(&cells, &cell); ++i) {
        if (i == 2 && cell.length > 0) {
            t->input->file->title = pz_pool_copy(&t->input->pool, cell.text, cell.length);
            if (!t->input->file->title) {
                return pz_input_no_memory(t->input);
            }
        }
    }
    return POISE_OK;
}

static void parse_value(trc *t, pz_word key, pz_word value)
{
    double number = -1.0;
    bool is_count = pz_word_number(value, &number) && number >= 0.0 && number <= INT32_MAX;
    if (pz_word_is_like(key, "DataRate")) {
        t->rate = number;
    } else if (pz_word_is_like(key, "CameraRate")) {
        t->camera_rate = number;
    } else if (pz_word_is_like(key, "NumFrames")) {
        t->frames = is_count ? (int)number : -1;
    } else if (pz_word_is_like(key, "NumMarkers")) {
        t->markers = is_count ? (int)number : -1;
    } else if (pz_word_is_like(key, "Units")) {
        t->unit = value;
    } else if (pz_word_is_like(key, "OrigDataStartFrame")) {
        t->first_frame = is_count ? (int)number : 1;
    }
}

static poise_status read_values(trc *t, pz_scan *scan)
{
    pz_word line, key, value;
    if (!pz_scan_line(scan, &line)) {
        return pz_input_fail(t->input, POISE_ERROR_FORMAT, 2, "the file ends before the line of DataRate, NumFrames, ...");
    }
    pz_cells keys = pz_cells_of(line);
    if (!pz_scan_line(scan, &line)) {
        return pz_input_fail(t->input, POISE_ERROR_FORMAT, 3, "the file ends before the values of DataRate, NumFrames, ...");
    }
    pz_cells values = pz_cells_of(line);
    while (pz_cells_next(&keys, &key) && pz_cells_next(&values, &value)) {
        parse_value(t, key, value);
    }
    return POISE_OK;
}

static poise_status read_names(trc *t, pz_scan *scan)
{
    pz_word line, cell;
    if (!pz_scan_line(scan, &line)) {
        return pz_input_fail(t->input, POISE_ERROR_FORMAT, 4, "the file ends before the line of marker names");
    }
    pz_cells cells = pz_cells_of(line);
    bool begins = pz_cells_next(&cells, &cell) && pz_word_is_like(cell, "Frame#");
    if (!begins || !pz_cells_next(&cells, &cell) || !(pz_word_is_like(cell, "Time") || pz_word_is_like(cell, "Times"))) {
        return pz_input_fail(t->input, POISE_ERROR_FORMAT, 4, "\"Frame#\" and \"Time\" expected, then the names of markers");
    }
    while (pz_cells_next(&cells, &cell)) {
        if (cell.length == 0) {
            continue;
        }
        pz_word *name = pz_pool_grow(&t->input->pool, t->name, t->name_count, &t->name_capacity, sizeof *name);
        if (!name) {
            return pz_input_no_memory(t->input);
        }
        t->name = name;
        t->name[t->name_count++] = cell;
    }
    return POISE_OK;
}

// ---- Rows ----------------------------------------------------------------------------------------------------------------

// A number from the start of a cell to its end. An empty cell and NaN are NaN.
static bool cell_number(pz_word cell, double *value)
{
    const char *end = cell.text + cell.length;
    if (cell.length == 0) {
        const uint64_t nan = (uint64_t)0x7ff8 << 48;
        memcpy(value, &nan, sizeof *value);
        return true;
    }
    return pz_number_read(cell.text, end, value) == end;
}

static bool is_row(pz_word line)
{
    pz_cells cells = pz_cells_of(line);
    pz_word cell;
    double number;
    return pz_cells_next(&cells, &cell) && pz_word_number(cell, &number);
}

// Markers in a row up to its last cell that is not empty.
static size_t row_width(pz_word line)
{
    pz_word whole = pz_word_trimmed(line.text, line.text + line.length), cell;
    pz_cells cells = pz_cells_of(whole);
    size_t count = 0;
    if (cells.separator == '\t') {
        for (count = 1; (cells.at = memchr(cells.at, '\t', (size_t)(cells.end - cells.at))); ++count) {
            ++cells.at;
        }
    } else {
        while (pz_cells_next(&cells, &cell)) {
            ++count;
        }
    }
    return count > 2 ? (count - 2 + 2) / 3 : 0;
}

// Count rows and markers; the line of axes and empty lines come before the first row.
static void measure(trc *t, pz_scan scan)
{
    pz_word line;
    int before = scan.line, others = 0;
    t->rows = scan;
    for (; pz_scan_line(&scan, &line); before = scan.line) {
        if (is_row(line)) {
            size_t width = row_width(line);
            t->row_count += 1;
            t->width = width > t->width ? width : t->width;
        } else if (pz_word_trimmed(line.text, line.text + line.length).length > 0 && (++others > 1 || t->row_count > 0)) {
            t->warnings += 1;
            if (t->warnings <= WARNINGS_MOST) {
                pz_input_warn(t->input, before, "the line does not begin with a frame number and is ignored");
            }
        }
    }
}

// Count a fault; false: so many were said that this one is only counted.
static bool may_say(trc *t)
{
    t->warnings += 1;
    return t->warnings <= WARNINGS_MOST;
}

static void complain_of_cell(trc *t, int line, pz_word cell, const char *what_follows)
{
    char said[PZ_SAID_SIZE];
    if (may_say(t)) {
        pz_input_warn(t->input, line, "\"%s\" is not a number; %s", pz_word_said(cell, said), what_follows);
    }
}

// The next three cells; a point that is not whole is a gap.
static void read_point(trc *t, pz_cells *cells, int line, poise_vec3 *point)
{
    double c[3] = {0, 0, 0};
    int there = 0, numbers = 0;
    for (int i = 0; i < 3; ++i) {
        pz_word cell = {"", 0};
        bool is_left = pz_cells_next(cells, &cell);
        bool is_number = is_left && cell_number(cell, &c[i]);
        there += is_left && cell.length > 0;
        numbers += is_number && c[i] - c[i] == 0.0;
        if (is_left && !is_number) {
            complain_of_cell(t, line, cell, "the point counts as a gap");
        }
    }
    if (numbers == 3) {
        *point = (poise_vec3){c[0], c[1], c[2]};
    } else if (there != 0 && there != 3 && may_say(t)) {
        pz_input_warn(t->input, line, "a point has %d of its three numbers; it counts as a gap", there);
    }
}

typedef struct times {
    double first, middle; // the last one may be off: what remained of a clip that was thinned out
    bool has_jumped;      // frames are not numbered one after the other
} times;

static void read_rows(trc *t, poise_markers *markers, times *when)
{
    pz_scan scan = t->rows;
    pz_word line, cell;
    size_t row = 0, count = (size_t)markers->count;
    int before = scan.line;
    double expected = 0.0;
    for (; row < t->row_count && pz_scan_line(&scan, &line); before = scan.line) {
        pz_cells cells = pz_cells_of(line);
        double frame = 0.0, time = 0.0;
        if (!pz_cells_next(&cells, &cell) || !pz_word_number(cell, &frame)) {
            continue;
        }
        if (!pz_cells_next(&cells, &cell) || !cell_number(cell, &time)) {
            complain_of_cell(t, before, cell, "0 is assumed");
        }
        if (row == 0) {
            bool fits = frame >= -2147483648.0 && frame <= 2147483647.0;
            markers->first_frame = fits ? (int)frame : 1;
            when->first = time;
        } else if (frame != expected && !when->has_jumped) {
            pz_input_warn(t->input, before, "frame %g found where %g was expected; frames are numbered consecutively", frame,
                          expected);
            when->has_jumped = true;
        }
        expected = frame + 1.0;
        when->middle = row == t->row_count / 2 ? time : when->middle;
        for (size_t i = 0; i < count; ++i) {
            read_point(t, &cells, before, &markers->position[row * count + i]);
        }
        ++row;
    }
}

// ---- The file ------------------------------------------------------------------------------------------------------------

static const char **labels_of(trc *t, size_t count)
{
    const char **label = pz_pool_take(&t->input->pool, count, sizeof *label);
    for (size_t i = 0; label && i < count; ++i) {
        char digits[24], *digit = digits + sizeof digits;
        pz_word name = i < t->name_count ? t->name[i] : (pz_word){"", 0};
        for (size_t n = i + 1; name.length == 0 && n > 0; n /= 10) {
            *--digit = (char)('0' + n % 10);
        }
        if (name.length == 0) {
            name = (pz_word){digit, (size_t)(digits + sizeof digits - digit)};
        }
        label[i] = pz_pool_copy(&t->input->pool, name.text, name.length);
        if (!label[i]) {
            return NULL;
        }
    }
    return label;
}

static void compare_counts(trc *t, size_t count)
{
    if (t->markers != (int)count) {
        pz_input_warn(t->input, 3, "NumMarkers says %d, but there are %d names, and the widest row has %d markers",
                      t->markers, (int)t->name_count, (int)t->width);
    } else if (t->name_count != count) {
        pz_input_warn(t->input, 4, "%d names for %d markers; the rest are numbered", (int)t->name_count, (int)count);
    }
    if (t->frames != (int)t->row_count) {
        pz_input_warn(t->input, 3, "NumFrames says %d, but there are %d rows", t->frames, (int)t->row_count);
    }
}

static bool is_rate(double rate)
{
    return rate > 0.0 && rate < 1e9;
}

// The times count where they and DataRate differ: by more than rounding to milliseconds makes.
static void settle_rate(trc *t, const times *when, poise_markers *markers)
{
    size_t half = t->row_count / 2; // rows up to the middle
    double step = half > 0 ? (when->middle - when->first) / (double)half : 0.0;
    double by_times = step > 0.0 ? 1.0 / step : 0.0;
    bool has_rate = is_rate(t->rate), has_times = is_rate(by_times);
    double rate = has_rate ? t->rate : is_rate(t->camera_rate) ? t->camera_rate : has_times ? by_times : 1.0;
    double off = step * rate - 1.0;
    if (has_times && !(off < 0.02 && off > -0.02)) {
        pz_input_warn(t->input, 0, "times are %g s apart, DataRate says %g s; the times are used", step, 1.0 / rate);
        rate = by_times;
    } else if (!has_rate) {
        pz_input_warn(t->input, 3, "DataRate is not a number above 0; %g assumed", rate);
    }
    markers->rate = rate;
}

static poise_status make_markers(trc *t)
{
    size_t count = t->name_count > t->width ? t->name_count : t->width;
    // rows may leave out gaps at their end, but a few long lines must not blow up a file of short ones
    if (count > INT32_MAX || t->row_count > INT32_MAX ||
        (count > 0 && t->row_count > (16 * t->input->size + 4096) / count)) {
        return pz_input_fail(t->input, POISE_ERROR_FORMAT, 0, "%g rows of up to %g markers are too uneven for a table",
                             (double)t->row_count, (double)count);
    }
    compare_counts(t, count);
    double metres = pz_unit_metres(t->unit);
    if (metres == 0.0 && !pz_word_is_like(t->unit, "unknown")) {
        char said[PZ_SAID_SIZE];
        pz_input_warn(t->input, 3, "\"%s\" is not a unit of length", pz_word_said(t->unit, said));
    }
    const char **labels = labels_of(t, count);
    poise_markers *markers = NULL;
    if (!labels || poise_markers_create((int)t->row_count, (int)count, 1.0, labels, t->input->allocator, &markers, NULL)) {
        return pz_input_no_memory(t->input);
    }
    t->input->file->markers = markers;
    markers->first_frame = t->first_frame;
    markers->scale.metres = metres;
    times when = {0, 0, false};
    read_rows(t, markers, &when);
    settle_rate(t, &when, markers);
    markers->start_time = when.first - when.first == 0.0 ? when.first : 0.0;
    if (t->warnings > WARNINGS_MOST) {
        pz_input_warn(t->input, 0, "and %d more such lines or cells", t->warnings - WARNINGS_MOST);
    }
    return POISE_OK;
}

static poise_status read_trc(pz_input *input)
{
    trc t = {.input = input, .frames = -1, .markers = -1, .unit = {"", 0}, .first_frame = 1};
    pz_scan scan = pz_scan_over(input->bytes, input->size);
    poise_status status = read_title(&t, &scan);
    status = status == POISE_OK ? read_values(&t, &scan) : status;
    status = status == POISE_OK ? read_names(&t, &scan) : status;
    if (status != POISE_OK) {
        return status;
    }
    measure(&t, scan);
    status = make_markers(&t);
    if (status == POISE_OK) {
        pz_zeros_are_gaps(input);
    }
    return status;
}

// ---- Writing -------------------------------------------------------------------------------------------------------------

// A name in a cell of its own: what would end the cell becomes '_'. Returns whether it had to change.
static bool write_name(pz_output *output, const char *name)
{
    bool changes = false;
    for (; *name; ++name) {
        bool is_end = *name == '\t' || *name == '\n' || *name == '\r';
        changes = changes || is_end;
        pz_put_bytes(output, is_end ? "_" : name, 1);
    }
    return changes;
}

static void write_header(const poise_file *file, pz_output *output)
{
    const poise_markers *m = file->markers;
    const char *unit = m->scale.metres > 0.0 ? pz_unit_name(m->scale.metres) : NULL;
    if (!unit && m->scale.metres > 0.0) {
        pz_output_warn(output, "a unit of %g metres has no name in a TRC file and is left out", m->scale.metres);
    }
    pz_put(output, "PathFileType\t4\t(X/Y/Z)\t");
    write_name(output, file->title ? file->title : "markers.trc");
    pz_put(output,
           "\nDataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames\n");
    pz_put_number(output, m->rate);
    pz_put(output, "\t");
    pz_put_number(output, m->rate);
    pz_put(output, "\t");
    pz_put_integer(output, m->frames);
    pz_put(output, "\t");
    pz_put_integer(output, m->count);
    pz_put(output, "\t");
    pz_put(output, unit ? unit : "unknown");
    pz_put(output, "\t");
    pz_put_number(output, m->rate);
    pz_put(output, "\t");
    pz_put_integer(output, m->first_frame);
    pz_put(output, "\t");
    pz_put_integer(output, m->frames);
    pz_put(output, "\n");
}

static void write_names(const poise_markers *m, pz_output *output)
{
    int changed = 0;
    pz_put(output, "Frame#\tTime");
    for (int i = 0; i < m->count; ++i) {
        pz_put(output, i == 0 ? "\t" : "\t\t\t");
        if (m->label[i][0] == '\0') {
            pz_put_integer(output, i + 1);
            ++changed;
        } else {
            changed += write_name(output, m->label[i]);
        }
    }
    pz_put(output, "\n\t");
    for (int i = 0; i < m->count; ++i) {
        for (int axis = 0; axis < 3; ++axis) {
            const char name[3] = {'\t', (char)('X' + axis), '\0'};
            pz_put(output, name);
            pz_put_integer(output, i + 1);
        }
    }
    pz_put(output, "\n\n");
    if (changed > 0) {
        pz_output_warn(output, "%d labels are empty or contain tabs or line breaks and are changed", changed);
    }
}

static void write_row(const poise_markers *m, int frame, pz_output *output)
{
    long long number = (long long)m->first_frame + frame;
    pz_put_integer(output, number);
    pz_put(output, "\t");
    int before = m->first_frame > 0 ? m->first_frame - 1 : 0; // frames, where the first of all is at 0
    bool is_counted = m->start_time == 0.0 || fabs(m->start_time - before / m->rate) < 1e-9;
    pz_put_number(output, is_counted ? ((double)before + frame) / m->rate : m->start_time + frame / m->rate);
    for (int i = 0; i < m->count; ++i) {
        poise_vec3 p = m->position[(size_t)frame * (size_t)m->count + (size_t)i];
        double finite = (p.x - p.x) + (p.y - p.y) + (p.z - p.z); // 0, or no number
        double c[3] = {p.x, p.y, p.z};
        for (int axis = 0; axis < 3; ++axis) {
            pz_put(output, "\t");
            if (finite == 0.0) {
                pz_put_number(output, c[axis]);
            }
        }
    }
    pz_put(output, "\n");
}

static bool has_residuals(const poise_markers *m)
{
    size_t points = (size_t)m->frames * (size_t)m->count;
    for (size_t i = 0; m->residual && i < points; ++i) {
        if (m->residual[i] > 0.0f) {
            return true;
        }
    }
    return false;
}

static poise_status write_trc(const poise_file *file, pz_output *output)
{
    const poise_markers *m = file->markers;
    if (!m) {
        return pz_error_set(output->error, POISE_ERROR_ARGUMENT, "a TRC file holds markers, and there are none");
    }
    if (m->scale.up != POISE_UP_UNKNOWN) {
        pz_output_warn(output, "a TRC file cannot store the upward axis");
    }
    if (has_residuals(m)) {
        pz_output_warn(output, "a TRC file holds no residuals");
    }
    write_header(file, output);
    write_names(m, output);
    for (int frame = 0; frame < m->frames && !output->failed; ++frame) {
        write_row(m, frame, output);
    }
    return POISE_OK;
}

const pz_format_row pz_trc_format = {.name = "trc", .extension = ".trc", .read = read_trc, .write = write_trc};
