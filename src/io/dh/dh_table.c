// Denavit-Hartenberg tables as text: a line of column names, then a row for each joint.
//
//   # convention: modified
//   name,type,a_mm,alpha_deg,d_mm,theta_deg,lower_deg,upper_deg
//   base,revolute,0,0,290,0,-165,165
//   ...
//
//   classic    Rz(theta) Tz(d) Tx(a) Rx(alpha)     the row ends at the next joint's axis
//   modified   Rx(alpha) Tx(a) Rz(theta) Tz(d)     the row begins at the previous joint's axis (Craig)
//
// Columns go by name, in any order, between commas, semicolons, tabs or blanks. A unit follows an underscore or stands in
// brackets: deg or rad for angles, mm, m, ... for lengths; without one, angles are radians, and limits are as theta. The
// joint variable adds to theta (revolute) or d (prismatic). A row of type fixed is a constant.
#include "io/io_core.h"

#include <math.h>

#define GRUMBLES 4 // warnings of one kind

typedef enum field { NAME = 0, TYPE, A, ALPHA, D, THETA, LOWER, UPPER, FIELD_COUNT, IGNORED = FIELD_COUNT } field;

static const char *const field_names[FIELD_COUNT] = {"name", "type", "a", "alpha", "d", "theta", "lower", "upper"};

static const struct {
    const char *name;
    field field;
} other_names[] = {
    {"joint", NAME}, {"joint_name", NAME},   {"joint_type", TYPE},   {"joint type", TYPE}, {"kind", TYPE},
    {"r", A},        {"lower_limit", LOWER}, {"upper_limit", UPPER}, {"min", LOWER},       {"max", UPPER},
    {"qmin", LOWER}, {"qmax", UPPER},
};

typedef enum angle_unit { UNSAID = 0, RADIANS, DEGREES } angle_unit;

typedef struct table {
    pz_input *input;
    poise_builder *builder;
    poise_dh_convention convention;
    char separator;
    int header_line;
    field *column;
    size_t column_count, column_capacity;
    bool has[FIELD_COUNT];
    angle_unit unit[FIELD_COUNT];
    double metres;      // of lengths; 0: unknown
    poise_pose pending; // constant since the last joint
    char *last;         // name of the last joint
    int rows, joints, ignored;
    bool is_asked; // whether angles without a unit are degrees
} table;

typedef enum row_type { REVOLUTE = 0, PRISMATIC, FIXED } row_type;

typedef struct row {
    pz_word name;
    row_type type;
    double value[FIELD_COUNT];
} row;

// ---- Columns -------------------------------------------------------------------------------------------------------------

static bool is_unit_mark(char c)
{
    return c == '_' || c == ' ' || c == '(' || c == '[' || c == ')' || c == ']';
}

static field field_of(pz_word name)
{
    for (int f = 0; f < FIELD_COUNT; ++f) {
        if (pz_word_is_like(name, field_names[f])) {
            return (field)f;
        }
    }
    for (size_t i = 0; i < sizeof other_names / sizeof other_names[0]; ++i) {
        if (pz_word_is_like(name, other_names[i].name)) {
            return other_names[i].field;
        }
    }
    return IGNORED;
}

// A name with a unit: "alpha_deg", "d [mm]".
static field field_with_unit(pz_word cell, pz_word *unit)
{
    field f = field_of(cell);
    *unit = (pz_word){cell.text, 0};
    for (size_t i = cell.length; i > 0 && f == IGNORED; --i) {
        if (is_unit_mark(cell.text[i - 1])) {
            f = field_of(pz_word_trimmed(cell.text, cell.text + i - 1));
            *unit = (pz_word){cell.text + i, cell.length - i};
        }
    }
    while (unit->length > 0 && is_unit_mark(unit->text[unit->length - 1])) {
        --unit->length;
    }
    while (unit->length > 0 && is_unit_mark(unit->text[0])) {
        ++unit->text, --unit->length;
    }
    return f;
}

static poise_status take_unit(table *t, field f, pz_word unit)
{
    char said[PZ_SAID_SIZE];
    bool is_degrees = unit.length >= 3 && pz_word_is_like((pz_word){unit.text, 3}, "deg");
    bool is_radians = unit.length >= 3 && pz_word_is_like((pz_word){unit.text, 3}, "rad");
    if (f == A || f == D) {
        double metres = pz_unit_metres(unit);
        if (metres == 0.0 || (t->metres != 0.0 && t->metres != metres)) {
            return pz_input_fail(t->input, POISE_ERROR_FORMAT, t->header_line,
                                 "column \"%s\": \"%s\" is not a unit of length, or differs from the previous one",
                                 field_names[f], pz_word_said(unit, said));
        }
        t->metres = metres;
    } else if (f == NAME || f == TYPE || (!is_degrees && !is_radians)) {
        return pz_input_fail(t->input, POISE_ERROR_FORMAT, t->header_line,
                             "column \"%s\": \"%s\" is not a unit; use deg or rad", field_names[f],
                             pz_word_said(unit, said));
    } else {
        t->unit[f] = is_degrees ? DEGREES : RADIANS;
    }
    return POISE_OK;
}

static poise_status add_column(table *t, pz_word cell)
{
    field *column = pz_pool_grow(&t->input->pool, t->column, t->column_count, &t->column_capacity, sizeof *column);
    if (!column) {
        return pz_input_no_memory(t->input);
    }
    t->column = column;
    pz_word unit;
    field f = field_with_unit(cell, &unit);
    char said[PZ_SAID_SIZE];
    column[t->column_count++] = f;
    if (f == IGNORED) {
        t->ignored += 1;
    }
    if (f == IGNORED && t->ignored <= GRUMBLES) {
        pz_input_warn(t->input, t->header_line, "column \"%s\" is not one of name, type, a, alpha, d, theta, lower, upper",
                      pz_word_said(cell, said));
    }
    if (f == IGNORED) {
        return POISE_OK;
    }
    if (t->has[f]) {
        return pz_input_fail(t->input, POISE_ERROR_FORMAT, t->header_line, "column \"%s\" appears twice", field_names[f]);
    }
    t->has[f] = true;
    return unit.length > 0 ? take_unit(t, f, unit) : POISE_OK;
}

static poise_status is_no_table(const table *t, field missing)
{
    return pz_input_fail(
        t->input, POISE_ERROR_FORMAT, t->header_line,
        "no column \"%s\"; a CSV holds Denavit-Hartenberg parameters, with columns a, alpha, d and theta, or "
        "joint values, with time as its first column (markers come from C3D and TRC)",
        field_names[missing]);
}

static char separator_of(pz_word line)
{
    return memchr(line.text, ',', line.length)    ? ','
           : memchr(line.text, ';', line.length)  ? ';'
           : memchr(line.text, '\t', line.length) ? '\t'
                                                  : ' ';
}

static poise_status read_columns(table *t, pz_word line)
{
    t->separator = separator_of(line);
    pz_cells cells = {line.text, line.text + line.length, t->separator};
    pz_word cell;
    while (pz_cells_next(&cells, &cell)) {
        bool is_motion = pz_word_is_like(cell, "time"); // whose columns may begin like those of a table, as upper_arm does
        poise_status status = is_motion ? is_no_table(t, A) : add_column(t, cell);
        if (status != POISE_OK) {
            return status;
        }
    }
    if (t->ignored > GRUMBLES) {
        pz_input_warn(t->input, t->header_line, "and %d more columns that are left out", t->ignored - GRUMBLES);
    }
    for (int f = A; f <= D; ++f) {
        if (!t->has[f]) {
            return is_no_table(t, (field)f);
        }
    }
    t->unit[LOWER] = t->unit[LOWER] == UNSAID ? t->unit[THETA] : t->unit[LOWER];
    t->unit[UPPER] = t->unit[UPPER] == UNSAID ? t->unit[THETA] : t->unit[UPPER];
    return POISE_OK;
}

// "convention: modified" in a comment, or as a line of its own.
static void take_convention(table *t, pz_word line, bool *is_said)
{
    for (size_t i = 0; i < line.length; ++i) {
        pz_word rest = {line.text + i, line.length - i};
        if (rest.length >= 10 && pz_word_is_like((pz_word){rest.text, 10}, "convention")) {
            for (rest = (pz_word){rest.text + 10, rest.length - 10}; rest.length > 0 && strchr(":=,; \t", rest.text[0]);) {
                rest = (pz_word){rest.text + 1, rest.length - 1};
            }
            bool is_modified = rest.length >= 8 && pz_word_is_like((pz_word){rest.text, 8}, "modified");
            bool is_craig = rest.length >= 5 && pz_word_is_like((pz_word){rest.text, 5}, "craig");
            t->convention = is_modified || is_craig ? POISE_DH_MODIFIED : POISE_DH_CLASSIC;
            *is_said = true;
            return;
        }
    }
}

// ---- Rows ----------------------------------------------------------------------------------------------------------------

// A number, or a multiple of pi as tables have them: pi/2, -pi, 3*pi/4.
static bool read_number(pz_word cell, double *value)
{
    if (pz_word_number(cell, value)) {
        return true;
    }
    const char *at = cell.text, *end = cell.text + cell.length;
    double factor = 1.0, part = 1.0;
    const char *stop = pz_number_read(at, end, &factor);
    if (stop == at) {
        factor = *at == '-' ? -1.0 : 1.0;
        stop += *at == '-' || *at == '+';
    } else if (stop < end && *stop == '*') {
        ++stop;
    }
    if (end - stop < 2 || !pz_word_is_like((pz_word){stop, 2}, "pi")) {
        return false;
    }
    stop += 2;
    if (stop < end &&
        (*stop != '/' || !pz_word_number((pz_word){stop + 1, (size_t)(end - stop - 1)}, &part) || part == 0.0)) {
        return false;
    }
    *value = factor * 3.14159265358979323846 / part;
    return *value - *value == 0.0;
}

// A symbol in the place of the joint variable: q1, theta_1, d3, *.
static bool is_symbol(pz_word cell)
{
    return cell.length > 0 && (cell.text[0] == '*' || cell.text[0] == 'q' || cell.text[0] == 't' || cell.text[0] == 'd');
}

// A constant of more than a turn, or a limit of more than three.
static bool may_be_degrees(double radians, bool is_limit)
{
    return pz_may_be_degrees(radians) || (!is_limit && fabs(radians) > 6.3);
}

static poise_status read_cell(table *t, field f, pz_word cell, int line, row *r)
{
    bool is_limit = f == LOWER || f == UPPER;
    bool is_variable = f == (r->type == PRISMATIC ? D : THETA);
    if (cell.length == 0 || (is_limit && cell.length == 1 && cell.text[0] == '-') || (is_variable && is_symbol(cell))) {
        if (cell.length == 0 && !is_limit && f != THETA) {
            return pz_input_fail(t->input, POISE_ERROR_FORMAT, line, "column \"%s\" is empty", field_names[f]);
        }
        return POISE_OK; // as it was
    }
    double value;
    const char *end = cell.text + cell.length;
    bool is_angle = f == ALPHA || f == THETA || (is_limit && r->type != PRISMATIC);
    bool is_degrees = is_angle && t->unit[f] == DEGREES;
    bool is_read = is_degrees ? pz_number_read_scaled(cell.text, end, PZ_RADIANS_PER_DEGREE, &value) == end
                   : is_angle ? read_number(cell, &value) || pz_number_read(cell.text, end, &value) == end
                              : pz_number_read(cell.text, end, &value) == end;
    if (!is_read || value != value || (!is_limit && value - value != 0.0)) {
        char said[PZ_SAID_SIZE];
        return pz_input_fail(t->input, POISE_ERROR_FORMAT, line, "column \"%s\": \"%s\" is not a number%s", field_names[f],
                             pz_word_said(cell, said),
                             is_variable ? "; for an expression such as \"90 + q2\" write the constant, 90" : "");
    }
    r->value[f] = value;
    if (is_angle && t->unit[f] == UNSAID && !t->is_asked && may_be_degrees(value, is_limit)) {
        t->is_asked = true;
        pz_input_warn(t->input, line, "column \"%s\": %g rad: are these degrees? name the columns \"%s\" and so on",
                      field_names[f], value,
                      is_limit     ? "theta_deg"
                      : f == ALPHA ? "alpha_deg"
                                   : "theta_deg");
    }
    return POISE_OK;
}

static bool read_type(pz_word cell, row_type *type)
{
    static const struct {
        const char *name;
        row_type type;
    } names[] = {{"revolute", REVOLUTE},
                 {"r", REVOLUTE},
                 {"rotational", REVOLUTE},
                 {"continuous", REVOLUTE},
                 {"hinge", REVOLUTE},
                 {"0", REVOLUTE},
                 {"", REVOLUTE},
                 {"prismatic", PRISMATIC},
                 {"p", PRISMATIC},
                 {"slide", PRISMATIC},
                 {"1", PRISMATIC},
                 {"fixed", FIXED},
                 {"f", FIXED}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
        if (pz_word_is_like(cell, names[i].name)) {
            *type = names[i].type;
            return true;
        }
    }
    return false;
}

static pz_word cell_at(const table *t, pz_word line, field f)
{
    pz_cells cells = {line.text, line.text + line.length, t->separator};
    pz_word cell = {"", 0};
    for (size_t c = 0; c < t->column_count; ++c) {
        if (!pz_cells_next(&cells, &cell)) {
            return (pz_word){"", 0};
        }
        if (t->column[c] == f) {
            return cell;
        }
    }
    return (pz_word){"", 0};
}

static poise_status read_row(table *t, pz_word line, int number, row *r)
{
    const double infinity = (double)INFINITY;
    *r = (row){.value = {[LOWER] = -infinity, [UPPER] = infinity}};
    pz_word type = cell_at(t, line, TYPE);
    char said[PZ_SAID_SIZE];
    if (!read_type(type, &r->type)) {
        return pz_input_fail(t->input, POISE_ERROR_FORMAT, number,
                             "\"%s\" is not a joint type; use revolute, prismatic or fixed", pz_word_said(type, said));
    }
    r->name = cell_at(t, line, NAME);
    for (int f = A; f < FIELD_COUNT; ++f) {
        poise_status status = t->has[f] ? read_cell(t, (field)f, cell_at(t, line, (field)f), number, r) : POISE_OK;
        if (status != POISE_OK) {
            return status;
        }
    }
    pz_cells cells = {line.text, line.text + line.length, t->separator};
    size_t count = 0;
    for (pz_word cell; pz_cells_next(&cells, &cell) && count <= t->column_count;) {
        count += cell.length > 0 || count < t->column_count;
    }
    if (count > t->column_count) {
        return pz_input_fail(t->input, POISE_ERROR_FORMAT, number, "more cells than the %d columns (a decimal comma?)",
                             (int)t->column_count);
    }
    return POISE_OK;
}

// ---- The chain -----------------------------------------------------------------------------------------------------------

static poise_pose about_x(const row *r)
{
    double s, c;
    poise_sincos(0.5 * r->value[ALPHA], &s, &c);
    return (poise_pose){{s, 0, 0, c}, {r->value[A], 0, 0}};
}

static poise_pose about_z(const row *r)
{
    double s, c;
    poise_sincos(0.5 * r->value[THETA], &s, &c);
    return (poise_pose){{0, 0, s, c}, {0, 0, r->value[D]}};
}

static char *joint_name(table *t, pz_word given)
{
    char number[24] = "joint", *end = number + 5;
    if (given.length > 0) {
        return pz_pool_copy(&t->input->pool, given.text, given.length);
    }
    int power = 1;
    while (t->joints / power >= 10) {
        power *= 10;
    }
    for (; power > 0; power /= 10) {
        *end++ = (char)('0' + t->joints / power % 10);
    }
    return pz_pool_copy(&t->input->pool, number, (size_t)(end - number));
}

static poise_status add_joint(table *t, const row *r, int line)
{
    t->joints += 1;
    char *name = joint_name(t, r->name);
    if (!name) {
        return pz_input_no_memory(t->input);
    }
    poise_joint joint = poise_joint_default();
    joint.name = name;
    joint.parent = t->last;
    joint.type = r->type == PRISMATIC ? POISE_JOINT_PRISMATIC : POISE_JOINT_REVOLUTE;
    joint.offset = poise_pose_multiply(t->pending, about_z(r));
    joint.lower[0] = r->value[LOWER];
    joint.upper[0] = r->value[UPPER];
    poise_status status = poise_builder_add_joint(t->builder, &joint, t->input->error);
    if (status != POISE_OK && t->input->error) {
        t->input->error->line = line;
    }
    t->last = name;
    return status;
}

static poise_status add_row(table *t, const row *r, int line)
{
    if (t->convention == POISE_DH_MODIFIED) {
        t->pending = poise_pose_multiply(t->pending, about_x(r));
    }
    if (r->type == FIXED) {
        t->pending = poise_pose_multiply(t->pending, about_z(r));
    } else {
        poise_status status = add_joint(t, r, line);
        if (status != POISE_OK) {
            return status;
        }
        t->pending = poise_pose_identity();
    }
    if (t->convention == POISE_DH_CLASSIC) {
        t->pending = poise_pose_multiply(t->pending, about_x(r));
    }
    double p = t->pending.position.x + t->pending.position.y + t->pending.position.z;
    if (p - p != 0.0) {
        return pz_input_fail(t->input, POISE_ERROR_FORMAT, line, "the lengths are too large");
    }
    return POISE_OK;
}

// The frame behind the last row, as a tool.
static poise_status add_tip(table *t)
{
    size_t length = strlen(t->last);
    char *name = pz_pool_take(&t->input->pool, length + 5, 1);
    if (!name) {
        return pz_input_no_memory(t->input);
    }
    memcpy(name, t->last, length);
    memcpy(name + length, ".tip", 5);
    poise_tool tool = {.name = name, .body = t->last, .pose = t->pending};
    return poise_builder_add_tool(t->builder, &tool, t->input->error);
}

static poise_status read_lines(table *t)
{
    pz_scan scan = pz_scan_over(t->input->bytes, t->input->size);
    pz_word line;
    bool is_said = false;
    for (int number = scan.line; pz_scan_line(&scan, &line); number = scan.line) {
        pz_word whole = pz_word_trimmed(line.text, line.text + line.length);
        bool is_note = whole.length > 0 && whole.text[0] == '#';
        bool is_convention = whole.length > 10 && pz_word_is_like((pz_word){whole.text, 10}, "convention");
        poise_status status = POISE_OK;
        if (whole.length == 0 || is_note || (is_convention && t->column_count == 0)) {
            if (t->column_count == 0) {
                take_convention(t, whole, &is_said);
            }
        } else if (t->column_count == 0) {
            t->header_line = number;
            status = read_columns(t, line);
        } else {
            row r;
            t->rows += 1;
            status = read_row(t, line, number, &r);
            status = status == POISE_OK ? add_row(t, &r, number) : status;
        }
        if (status != POISE_OK) {
            return status;
        }
    }
    if (t->joints == 0) {
        return pz_input_fail(t->input, POISE_ERROR_FORMAT, scan.line,
                             t->column_count == 0 ? "no line of column names: a, alpha, d, theta"
                                                  : "the table has no joint");
    }
    if (!is_said) {
        pz_input_warn(t->input, t->header_line, "no line \"# convention: classic\" or modified; classic assumed");
    }
    return add_tip(t);
}

poise_status pz_read_dh(pz_input *input)
{
    table t = {.input = input, .pending = poise_pose_identity()};
    if (poise_builder_create(input->allocator, &t.builder, NULL) != POISE_OK) {
        return pz_input_no_memory(input);
    }
    poise_status status = read_lines(&t);
    if (status == POISE_OK) {
        status = poise_model_create(t.builder, input->allocator, &input->file->model, input->error);
    }
    input->file->scale.metres = t.metres;
    poise_builder_destroy(t.builder);
    return status;
}
