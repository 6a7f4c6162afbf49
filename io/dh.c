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
//
// Warned of: columns with other names (left out), angles that look like degrees.
// Refused: a table without the columns a, alpha, d, theta, a column twice or empty, cells beyond the columns ("a decimal
// comma?"); writing a model that branches or does not move.
#include "io/io_core.h"

#include "num/vector.h"

#include <math.h>
#include <string.h>

// ---- Reading -------------------------------------------------------------------------------------------------------------

#define WARNINGS_MOST 4 // warnings of one kind

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
        ++unit->text;
        --unit->length;
    }
    return f;
}

static poise_status parse_unit(table *t, field f, pz_word unit)
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
    if (f == IGNORED && t->ignored <= WARNINGS_MOST) {
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
    return unit.length > 0 ? parse_unit(t, f, unit) : POISE_OK;
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
    if (t->ignored > WARNINGS_MOST) {
        pz_input_warn(t->input, t->header_line, "and %d more columns that are left out", t->ignored - WARNINGS_MOST);
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
static void parse_convention(table *t, pz_word line, bool *is_said)
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
                parse_convention(t, whole, &is_said);
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

static poise_status read_dh(pz_input *input)
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

// ---- Writing: parameters from the geometry of a chain --------------------------------------------------------------------
//
// With a screw about z, Z = Rz(theta) Tz(d), and one about x, X = Tx(a) Rx(alpha), a chain of joints 1..n and its tip is
//
//   Z_0 X_0  Z_1(q_1) X_1  ...  Z_n(q_n) X_n  Z_n+1
//
// Z_i X_i carries a frame whose z lies on axis i to one whose z lies on axis i+1 (axis 0 is the z of the world, axis n+1
// that of the tip): x turns to the common normal of both, and a is its length. Classic tables have rows (Z X), modified ones
// (X Z); what is left over at either end becomes a row of type fixed, where it is not the identity. Denavit and Hartenberg
// 1955; Craig, Introduction to Robotics, 1986.
//
// Everything is done in the frames that the written numbers lead to, so that rounding does not add up along the chain.

#define PARALLEL           1e-12 // radians: axes that differ by less are parallel
#define SKEW               1e-7  // radians: below, the common normal is so far away that digits are lost: parallel, and told
#define DEGREES_PER_RADIAN (180.0 / 3.14159265358979323846)
#define SNAP               1e-13 // degrees: a few units in the last place of 180

typedef struct screw {
    double theta, d; // about z; degrees
    double a, alpha; // then about x; degrees
} screw;

// One moving joint, or the tip: a line in the world at q = 0.
typedef struct line {
    int joint; // -1: the tip
    poise_vec3 point, direction;
} line;

typedef struct chain {
    const poise_model *model;
    pz_output *output;
    line *lines;   // count + 1: joints, then the tip
    screw *screws; // count + 2: [0] to the first axis, [count] to the tip, [count + 1] the last screw about z
    int count;
    poise_pose tip;
    int last;     // body of the tip
    int tip_tool; // POISE_NONE: the frame of that body
    int left_out; // bodies that do not lie between the world and the tip
    double size;  // of the chain
    double tilt;  // radians: the largest between axes that are not parallel and were taken as such
} chain;

// ---- Small things --------------------------------------------------------------------------------------------------------

static poise_pose along_z(double degrees, double d)
{
    double s, c;
    poise_sincos(0.5 * (degrees * PZ_RADIANS_PER_DEGREE), &s, &c);
    return (poise_pose){{0, 0, s, c}, {0, 0, d}};
}

static poise_pose along_x(double degrees, double a)
{
    double s, c;
    poise_sincos(0.5 * (degrees * PZ_RADIANS_PER_DEGREE), &s, &c);
    return (poise_pose){{s, 0, 0, c}, {a, 0, 0}};
}

// The shortest decimal within `slack` of x: 90 instead of 89.99999999999999.
static double snapped(double x, double slack)
{
    double power = 1.0;
    for (int digits = 0; digits <= 15; ++digits, power *= 10.0) { // powers up to 10^15 are exact
        double scaled = x * power;
        if (fabs(scaled) > 1e15) {
            break;
        }
        double near = (double)(long long)(scaled + (scaled < 0.0 ? -0.5 : 0.5)) / power;
        if (fabs(near - x) <= slack) {
            return near == 0.0 ? 0.0 : near;
        }
    }
    return x;
}

static double snapped_length(const chain *c, double x)
{
    return snapped(x, 8.0 * 2.220446049250313e-16 * c->size);
}

static double snapped_angle(double y, double x)
{
    double degrees = snapped(poise_atan2(y, x) * DEGREES_PER_RADIAN, SNAP);
    return degrees <= -180.0 ? degrees + 360.0 : degrees;
}

static poise_status refuse(const chain *c, const char *format, const char *a, const char *b)
{
    return pz_error_set(c->output->error, POISE_ERROR_UNSUPPORTED, format, a, b);
}

// ---- From model to lines -------------------------------------------------------------------------------------------------

static int parent_of(const chain *c, int k)
{
    return poise_model_joint_info(c->model, k).parent;
}

static bool moves(const chain *c, int k)
{
    return poise_model_joint_info(c->model, k).type != POISE_JOINT_FIXED;
}

static bool is_at_or_above(const chain *c, int k, int body)
{
    while (body > k) { // parents come first
        body = parent_of(c, body);
    }
    return body == k;
}

// The last body that no joint moves against the last joint that moves; -1: none moves. Frames that a file fixes elsewhere,
// such as "base" beside "base_link", are no branches of the chain.
static int find_last(const chain *c)
{
    int joints = poise_model_info(c->model).joints, moving = joints - 1, last;
    while (moving >= 0 && !moves(c, moving)) {
        --moving;
    }
    last = moving;
    for (int k = moving + 1; moving >= 0 && k < joints; ++k) {
        last = is_at_or_above(c, moving, k) ? k : last;
    }
    return last;
}

static poise_status check_joint(const chain *c, int k)
{
    poise_joint joint = *poise_model_joint_info(c->model, k).given;
    if (!is_at_or_above(c, k, c->last)) {
        return refuse(c, "joint \"%s\": a Denavit-Hartenberg table holds one chain, but the model branches here%s",
                      joint.name, "");
    }
    if (joint.type != POISE_JOINT_REVOLUTE && joint.type != POISE_JOINT_PRISMATIC) {
        return refuse(c, "joint \"%s\" is of type %s; a Denavit-Hartenberg table holds revolute and prismatic ones",
                      joint.name, poise_joint_type_name(joint.type));
    }
    if (joint.mimic) {
        return refuse(c, "joint \"%s\" follows \"%s\"; a Denavit-Hartenberg table cannot hold mimic joints", joint.name,
                      joint.mimic);
    }
    return POISE_OK;
}

// The tip: the tool "<last body>.tip", or else the first tool of the last body, or else the body.
static int find_tip(const chain *c)
{
    int found = POISE_NONE, last = c->last;
    for (int i = 0; i < poise_model_info(c->model).tools; ++i) {
        const char *name = poise_model_tool_info(c->model, i).name, *body = poise_model_joint_info(c->model, last).body;
        size_t length = strlen(body);
        bool is_tip = strncmp(name, body, length) == 0 && strcmp(name + length, ".tip") == 0;
        if (poise_model_tool_info(c->model, i).body == last && (found == POISE_NONE || is_tip)) {
            found = i;
        }
    }
    return found;
}

// The lines of the joints that move between the world and the tip.
static poise_status list_lines(chain *c)
{
    poise_pose pose = poise_pose_identity();
    c->last = find_last(c);
    if (c->last < 0) {
        return refuse(c, "the model has no joint that moves%s%s", "", "");
    }
    for (int k = 0; k < poise_model_info(c->model).joints; ++k) {
        poise_status status = moves(c, k) ? check_joint(c, k) : POISE_OK;
        if (status != POISE_OK) {
            return status;
        }
        if (!is_at_or_above(c, k, c->last)) {
            c->left_out += 1;
            continue;
        }
        poise_joint joint = *poise_model_joint_info(c->model, k).given;
        pose = poise_pose_multiply(pose, joint.offset);
        c->size += v3_norm(joint.offset.position);
        if (moves(c, k)) {
            poise_vec3 axis = poise_quat_rotate(pose.rotation, joint.axis);
            c->lines[c->count++] = (line){k, pose.position, axis};
        }
    }
    c->tip_tool = find_tip(c);
    poise_pose tool = c->tip_tool == POISE_NONE ? poise_pose_identity() : poise_model_tool_info(c->model, c->tip_tool).pose;
    c->tip = poise_pose_multiply(pose, tool);
    c->size += v3_norm(tool.position);
    c->lines[c->count] = (line){-1, c->tip.position, poise_quat_rotate(c->tip.rotation, (poise_vec3){0, 0, 1})};
    return POISE_OK;
}

// ---- From lines to screws ------------------------------------------------------------------------------------------------

// The screw from the frame at the origin to the line through p along u, axes parallel: any common normal will do. The one at
// the height of the joint's own origin is what a table that was read had; to the tip it is the one at the height of p, where
// x follows the tip's own if it can.
static screw parallel_screw(const chain *c, int i, double own, poise_vec3 p, poise_vec3 u, poise_vec3 tip_x)
{
    screw s = {.d = snapped_length(c, i == c->count ? p.z : own), .alpha = u.z < 0.0 ? 180.0 : 0.0};
    double distance = sqrt(p.x * p.x + p.y * p.y);
    if (distance <= 16.0 * 2.220446049250313e-16 * c->size) {
        s.theta = i == c->count ? snapped_angle(tip_x.y, tip_x.x) : 0.0;
        return s;
    }
    bool flips = i == c->count ? p.x * tip_x.x + p.y * tip_x.y < 0.0 : p.x < 0.0;
    s.theta = snapped_angle(flips ? -p.y : p.y, flips ? -p.x : p.x);
    s.a = snapped_length(c, flips ? -distance : distance);
    return s;
}

// Axes that cross or pass: x' = +-(z x u)/|z x u|. In the turned frame u = (0, -sin(alpha), cos(alpha)), and the foot of the
// normal on the line is at y = 0.
static screw crossing_screw(const chain *c, int i, poise_vec3 p, poise_vec3 u, poise_vec3 tip_x)
{
    double sine = sqrt(u.x * u.x + u.y * u.y);
    double nx = -u.y / sine, ny = u.x / sine;
    bool flips = i == c->count ? nx * tip_x.x + ny * tip_x.y < 0.0 : nx < 0.0 || (nx == 0.0 && ny < 0.0);
    nx = flips ? -nx : nx;
    ny = flips ? -ny : ny;
    double py = -ny * p.x + nx * p.y, uy = -ny * u.x + nx * u.y;
    return (screw){.theta = snapped_angle(ny, nx),
                   .d = snapped_length(c, p.z - py / uy * u.z),
                   .a = snapped_length(c, nx * p.x + ny * p.y),
                   .alpha = snapped_angle(-uy, u.z)};
}

static void find_screws(chain *c)
{
    poise_pose frame = poise_pose_identity();
    poise_vec3 tip_x = poise_quat_rotate(c->tip.rotation, (poise_vec3){1, 0, 0});
    for (int i = 0; i <= c->count; ++i) {
        poise_pose inverse = poise_pose_inverse(frame);
        poise_vec3 p = poise_pose_transform(inverse, c->lines[i].point);
        poise_vec3 u = poise_quat_rotate(inverse.rotation, c->lines[i].direction);
        poise_vec3 x = poise_quat_rotate(inverse.rotation, tip_x);
        double own = i > 0 ? poise_pose_transform(inverse, c->lines[i - 1].point).z : 0.0;
        double sine = sqrt(u.x * u.x + u.y * u.y);
        if (sine > PARALLEL && sine < SKEW) {
            c->tilt = sine > c->tilt ? sine : c->tilt;
        }
        c->screws[i] = sine < SKEW ? parallel_screw(c, i, own, p, u, x) : crossing_screw(c, i, p, u, x);
        frame = poise_pose_multiply(frame, along_z(c->screws[i].theta, c->screws[i].d));
        frame = poise_pose_multiply(frame, along_x(c->screws[i].alpha, c->screws[i].a));
    }
    poise_pose rest = poise_pose_multiply(poise_pose_inverse(frame), c->tip);
    poise_vec3 x = poise_quat_rotate(rest.rotation, (poise_vec3){1, 0, 0});
    c->screws[c->count + 1] =
        (screw){.theta = snapped_angle(x.y, x.x), .d = snapped_length(c, rest.position.z), .a = 0.0, .alpha = 0.0};
}

// ---- Rows ----------------------------------------------------------------------------------------------------------------

// A name between commas.
static bool write_name(pz_output *output, const char *name)
{
    bool changes = false;
    for (; *name; ++name) {
        bool is_bad = strchr(",\n\r", *name) != NULL;
        changes = changes || is_bad;
        pz_put_bytes(output, is_bad ? "_" : name, 1);
    }
    return changes;
}

static void write_limit(pz_output *output, double value, bool is_angle)
{
    pz_put(output, ",");
    if (value - value != 0.0) {
        return;
    }
    if (is_angle) {
        pz_put_degrees(output, value);
    } else {
        pz_put_number(output, value);
    }
}

// One row of a screw about x and one about z; joint -1: fixed.
static void write_row(const chain *c, int k, screw about_x, screw about_z)
{
    poise_joint joint = k < 0 ? poise_joint_default() : *poise_model_joint_info(c->model, k).given;
    bool is_angle = joint.type == POISE_JOINT_REVOLUTE;
    double numbers[4] = {about_x.a, about_x.alpha, about_z.d, about_z.theta};
    if (k >= 0 && write_name(c->output, joint.name)) {
        pz_output_warn(c->output, "joint \"%s\": a comma or line break in its name is replaced", joint.name);
    }
    pz_put(c->output, k < 0 ? ",fixed" : is_angle ? ",revolute" : ",prismatic");
    for (int i = 0; i < 4; ++i) {
        pz_put(c->output, ",");
        pz_put_number(c->output, numbers[i]);
    }
    write_limit(c->output, k < 0 ? -(double)INFINITY : joint.lower[0], is_angle);
    write_limit(c->output, k < 0 ? (double)INFINITY : joint.upper[0], is_angle);
    pz_put(c->output, "\n");
}

static bool has_z(screw s)
{
    return s.theta != 0.0 || s.d != 0.0;
}

static bool has_x(screw s)
{
    return s.a != 0.0 || s.alpha != 0.0;
}

static void write_head(const chain *c, poise_scale scale, bool is_modified)
{
    const char *unit = scale.metres > 0.0 ? pz_unit_name(scale.metres) : NULL;
    if (scale.metres > 0.0 && !unit) {
        pz_output_warn(c->output, "a unit of %g metres has no name and is left out", scale.metres);
    }
    const char *parts[] = {"# convention: ",
                           is_modified ? "modified" : "classic",
                           "\nname,type,a",
                           unit ? "_" : "",
                           unit ? unit : "",
                           ",alpha_deg,d",
                           unit ? "_" : "",
                           unit ? unit : "",
                           ",theta_deg,lower_deg,upper_deg\n"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; ++i) {
        pz_put(c->output, parts[i]);
    }
}

static void write_table(const chain *c, poise_scale scale)
{
    const screw *s = c->screws;
    int n = c->count;
    int classic = (has_z(s[0]) || has_x(s[0])) + has_z(s[n + 1]);
    int modified = has_z(s[0]) + (has_x(s[n]) || has_z(s[n + 1]));
    bool is_modified = modified < classic;
    const screw none = {0, 0, 0, 0};
    write_head(c, scale, is_modified);
    if (has_z(s[0]) || (!is_modified && has_x(s[0]))) {
        write_row(c, -1, is_modified ? none : s[0], s[0]);
    }
    for (int i = 1; i <= n; ++i) {
        write_row(c, c->lines[i - 1].joint, s[is_modified ? i - 1 : i], s[i]);
    }
    if (has_z(s[n + 1]) || (is_modified && has_x(s[n]))) {
        write_row(c, -1, is_modified ? s[n] : none, s[n + 1]);
    }
    if ((is_modified ? modified : classic) > 0) {
        pz_output_warn(c->output, "base or tip do not match the convention; rows of type fixed make up the difference");
    }
}

static void warn_of_losses(const chain *c)
{
    bool has_mass = false, has_bodies = false;
    for (int k = 0; k < poise_model_info(c->model).joints; ++k) {
        poise_joint joint = *poise_model_joint_info(c->model, k).given;
        has_mass = has_mass || joint.mass > 0.0;
        has_bodies = has_bodies || strcmp(joint.name, joint.body) != 0;
    }
    if (c->tilt > 0.0) {
        pz_output_warn(c->output, "axes that are %g rad from parallel, as rounded angles make them, are written as parallel",
                       c->tilt);
    }
    if (c->left_out > 0) {
        pz_output_warn(c->output, "the tip is \"%s\"; %d other bod%s without joints of %s own %s left out",
                       poise_model_joint_info(c->model, c->last).body, c->left_out, c->left_out == 1 ? "y" : "ies",
                       c->left_out == 1 ? "its" : "their", c->left_out == 1 ? "is" : "are");
    }
    int tools = poise_model_info(c->model).tools - (c->tip_tool != POISE_NONE);
    if (tools > 0) {
        pz_output_warn(c->output, "%d tools other than the tip are left out", tools);
    }
    if (has_mass) {
        pz_output_warn(c->output, "a Denavit-Hartenberg table holds no masses");
    }
    if (has_bodies) {
        pz_output_warn(c->output, "bodies take the names of their joints, and their frames lie on the axes");
    }
}

static poise_status write_dh(const poise_file *file, pz_output *output)
{
    if (!file->model) {
        return pz_error_set(output->error, POISE_ERROR_ARGUMENT, "a Denavit-Hartenberg table holds a model; there is none");
    }
    size_t joints = (size_t)poise_model_info(file->model).joints;
    pz_pool pool = {.allocator = output->allocator};
    chain c = {.model = file->model, .output = output};
    c.lines = pz_pool_take(&pool, joints + 1, sizeof *c.lines);
    c.screws = pz_pool_take(&pool, joints + 2, sizeof *c.screws);
    if (!c.lines || !c.screws) {
        output->failed = true; // the caller reports it
        pz_pool_release(&pool);
        return POISE_OK;
    }
    poise_status status = list_lines(&c);
    if (status == POISE_OK) {
        find_screws(&c);
        write_table(&c, file->scale);
        warn_of_losses(&c);
    }
    pz_pool_release(&pool);
    return status;
}

const pz_format_row pz_dh_format = {.name = "dh", .extension = ".csv", .read = read_dh, .write = write_dh, .is_still = true};
