// Plots as SVG: what is drawn is collected first, then laid out and written.
#include "plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum mark_kind {
    MARK_LINE = 0,
    MARK_POINTS,
    MARK_POLYGON,
    MARK_SEGMENTS,
    MARK_STEPS, // corners of the outline
    MARK_RULE_X,
    MARK_RULE_Y,
    MARK_CELLS,
    MARK_TEXT,
    MARK_LEGEND
} mark_kind;

typedef struct mark {
    mark_kind kind;
    plot_style style;
    const char *name;
    int count;
    double *x, *y;
    // of cells
    plot_grid grid;
    unsigned char *cells;
    const char *const *colors;
    // of text
    char *text;
    plot_anchor anchor;
    double right, up;
} mark;

typedef struct panel {
    plot_panel_options options;
    int column, row;
    mark *marks;
    int count, room;
} panel;

struct plot {
    const char *title, *subtitle, *foot;
    int columns, rows;
    double width, height; // of a drawing area
    panel *panels;
    int count, room;
    bool is_lost; // there was no memory for something
};

plot *plot_create(const char *title, const char *subtitle, const char *foot, int columns, int rows, double width,
                  double height)
{
    plot *p = calloc(1, sizeof *p);
    if (p) {
        *p = (plot){title, subtitle, foot, columns, rows, width, height, NULL, 0, 0, false};
    }
    return p;
}

void plot_destroy(plot *p)
{
    for (int i = 0; p && i < p->count; ++i) {
        for (int k = 0; k < p->panels[i].count; ++k) {
            mark *m = &p->panels[i].marks[k];
            free(m->x);
            free(m->y);
            free(m->cells);
            free(m->text);
        }
        free(p->panels[i].marks);
    }
    if (p) {
        free(p->panels);
    }
    free(p);
}

// `list` of `count` things of `size` bytes with room for one more; NULL, with the list untouched, when there is none.
static void *grow(void *list, int count, int *room, size_t size)
{
    if (count < *room) {
        return list;
    }
    int more = *room ? 2 * *room : 8;
    void *grown = realloc(list, (size_t)more * size);
    *room = grown ? more : *room;
    return grown;
}

void plot_panel(plot *p, int column, int row, const plot_panel_options *options)
{
    panel *panels = p ? grow(p->panels, p->count, &p->room, sizeof *panels) : NULL;
    if (!panels) {
        if (p) {
            p->is_lost = true;
        }
        return;
    }
    p->panels = panels;
    panels[p->count++] = (panel){.options = *options, .column = column, .row = row};
}

// ---- Marks ---------------------------------------------------------------------------------------------------------------

static double *copy_numbers(const double *numbers, int count)
{
    double *copy = malloc((size_t)count * sizeof *copy + 1);
    if (copy && count > 0) {
        memcpy(copy, numbers, (size_t)count * sizeof *copy);
    }
    return copy;
}

// The new mark of the last panel; NULL when there is no memory. Numbers are taken over by the mark.
static mark *add(plot *p, mark_kind kind, plot_style style, double *x, double *y, int count, const char *name)
{
    panel *last = p && p->count > 0 ? &p->panels[p->count - 1] : NULL;
    mark *marks = last && x && y ? grow(last->marks, last->count, &last->room, sizeof *marks) : NULL;
    if (!marks) {
        free(x);
        free(y);
        if (p) {
            p->is_lost = true;
        }
        return NULL;
    }
    last->marks = marks;
    marks[last->count] = (mark){.kind = kind, .style = style, .name = name, .count = count, .x = x, .y = y};
    return &marks[last->count++];
}

void plot_line(plot *p, plot_style style, const double *x, const double *y, int count, const char *name)
{
    add(p, MARK_LINE, style, copy_numbers(x, count), copy_numbers(y, count), count, name);
}

void plot_points(plot *p, plot_style style, const double *x, const double *y, int count, const char *name)
{
    add(p, MARK_POINTS, style, copy_numbers(x, count), copy_numbers(y, count), count, name);
}

void plot_polygon(plot *p, plot_style style, const double *x, const double *y, int count, const char *name)
{
    add(p, MARK_POLYGON, style, copy_numbers(x, count), copy_numbers(y, count), count, name);
}

void plot_segments(plot *p, plot_style style, const double *x, const double *y, int count, const char *name)
{
    add(p, MARK_SEGMENTS, style, copy_numbers(x, 2 * count), copy_numbers(y, 2 * count), 2 * count, name);
}

void plot_steps(plot *p, plot_style style, double from, double width, const double *height, int count, const char *name)
{
    int corners = 2 * count + 2;
    double *x = malloc((size_t)corners * sizeof *x), *y = malloc((size_t)corners * sizeof *y);
    for (int i = 0; x && y && i <= count; ++i) {
        x[2 * i] = x[2 * i + 1] = from + i * width;
        y[2 * i] = i > 0 ? height[i - 1] : 0.0;
        y[2 * i + 1] = i < count ? height[i] : 0.0;
    }
    add(p, MARK_STEPS, style, x, y, corners, name);
}

void plot_bar(plot *p, plot_style style, double x0, double y0, double x1, double y1, const char *name)
{
    const double x[4] = {x0, x1, x1, x0}, y[4] = {y0, y0, y1, y1};
    plot_polygon(p, style, x, y, 4, name);
}

void plot_rule_x(plot *p, plot_style style, double at, const char *name)
{
    add(p, MARK_RULE_X, style, copy_numbers(&at, 1), copy_numbers(&at, 1), 1, name);
}

void plot_rule_y(plot *p, plot_style style, double at, const char *name)
{
    add(p, MARK_RULE_Y, style, copy_numbers(&at, 1), copy_numbers(&at, 1), 1, name);
}

void plot_cells(plot *p, const plot_grid *grid, const unsigned char *kind, const char *const *colors)
{
    // the corners, which the axes must hold
    const double x[2] = {grid->x - 0.5 * grid->dx, grid->x + (grid->columns - 0.5) * grid->dx};
    const double y[2] = {grid->y - 0.5 * grid->dy, grid->y + (grid->rows - 0.5) * grid->dy};
    mark *m = add(p, MARK_CELLS, (plot_style){.width = 0}, copy_numbers(x, 2), copy_numbers(y, 2), 2, NULL);
    if (m) {
        size_t count = (size_t)grid->columns * (size_t)grid->rows;
        m->grid = *grid;
        m->colors = colors;
        m->cells = malloc(count + 1);
        p->is_lost = p->is_lost || !m->cells;
        if (m->cells) {
            memcpy(m->cells, kind, count);
        }
    }
}

void plot_legend(plot *p, const char *fill, const char *name)
{
    add(p, MARK_LEGEND, (plot_style){.fill = fill}, copy_numbers(NULL, 0), copy_numbers(NULL, 0), 0, name);
}

void plot_text(plot *p, const char *color, double size, plot_anchor anchor, double x, double y, double right, double up,
               const char *text)
{
    mark *m =
        add(p, MARK_TEXT, (plot_style){.color = color, .size = size}, copy_numbers(&x, 1), copy_numbers(&y, 1), 1, NULL);
    if (m) {
        m->anchor = anchor;
        m->right = right;
        m->up = up;
        m->text = malloc(strlen(text) + 1);
        p->is_lost = p->is_lost || !m->text;
        if (m->text) {
            memcpy(m->text, text, strlen(text) + 1);
        }
    }
}

// ---- Colours -------------------------------------------------------------------------------------------------------------

bool plot_ramp(double value, char color[8])
{
    static const double stops[5][3] = {{247, 251, 255}, {198, 219, 239}, {107, 174, 214}, {33, 113, 181}, {8, 48, 107}};
    double at = fmin(fmax(value, 0.0), 1.0) * 4.0;
    int i = at < 3.0 ? (int)at : 3;
    int rgb[3];
    for (int k = 0; k < 3; ++k) {
        rgb[k] = (int)(stops[i][k] + (at - i) * (stops[i + 1][k] - stops[i][k]) + 0.5);
    }
    snprintf(color, 8, "#%02x%02x%02x", (unsigned)rgb[0] & 255U, (unsigned)rgb[1] & 255U, (unsigned)rgb[2] & 255U);
    return at > 2.2;
}

// ---- Axes: ranges and ticks ----------------------------------------------------------------------------------------------

// Widths of the characters from ' ' to '~' in thousandths of the size: those of Helvetica. Its usual substitutes are up to
// an eighth wider, and texts must not meet.
static const short widths[95] = {
    278, 278, 355, 556, 556, 889, 667, 191, 333,  333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556, 556,
    556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
    667, 778, 722, 667, 611, 722, 667, 944, 667,  667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556,
    556, 222, 222, 500, 222, 833, 556, 556, 556,  556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584};

double plot_text_width(const char *text, double size)
{
    int sum = 0;
    for (const char *c = text; *c; ++c) {
        int code = (unsigned char)*c;
        bool is_more = (code & 0xc0) == 0x80; // of a character that has been counted
        sum += code >= 32 && code < 127 ? widths[code - 32] : is_more ? 0 : 556;
    }
    return 1.125 * sum * size / 1000.0;
}

static double to_scale(const scale *s, double value)
{
    return !s->is_log ? value : value > 0.0 ? log10(value) : s->from;
}

double scale_place(const scale *s, double value)
{
    return (to_scale(s, value) - s->from) / (s->to - s->from) * s->length;
}

static void add_tick(scale *s, double at, int exponent, const char *text)
{
    if (s->ticks < MOST_TICKS) {
        s->tick[s->ticks] = at;
        s->exponent[s->ticks] = exponent;
        snprintf(s->text[s->ticks], sizeof s->text[0], "%s", text);
        s->ticks += 1;
    }
}

// The least of 1, 2, 5 times a power of ten that is not below `least`.
static double nice_step(double least)
{
    double power = pow(10.0, floor(log10(least)));
    double ratio = least / power;
    return power * (ratio <= 1.0 + 1e-9 ? 1.0 : ratio <= 2.0 + 1e-9 ? 2.0 : ratio <= 5.0 + 1e-9 ? 5.0 : 10.0);
}

static void make_linear_ticks(scale *s, double step)
{
    int decimals = (int)fmax(0.0, ceil(-log10(step) - 1e-9));
    double scaled = step * pow(10.0, decimals); // 2.5 needs one digit more than 2
    decimals += fabs(scaled - round(scaled)) > 1e-6 ? 1 : 0;
    double first = ceil(s->from / step - 1e-6), last = floor(s->to / step + 1e-6);
    for (double k = first; k <= last; k += 1.0) {
        char text[32];
        double value = fabs(k) < 0.5 ? 0.0 : k * step;
        snprintf(text, sizeof text, "%s%.*f", value < 0.0 ? "−" : "", decimals, fabs(value));
        add_tick(s, value, 0, text);
    }
}

static void make_log_ticks(scale *s, double gap)
{
    double decades = s->to - s->from, most = fmax(1.0, s->length / gap);
    double every = fmax(1.0, ceil(decades / most));
    if (decades < 2.0) { // too few powers: 1, 2 and 5 times them
        for (double k = floor(s->from); k <= s->to; k += 1.0) {
            for (int i = 0; i < 3; ++i) {
                double value = pow(10.0, k) * (i == 0 ? 1.0 : i == 1 ? 2.0 : 5.0), at = log10(value);
                char text[32];
                snprintf(text, sizeof text, "%g", value);
                if (at >= s->from - 1e-9 && at <= s->to + 1e-9) {
                    add_tick(s, at, 0, text);
                }
            }
        }
        return;
    }
    for (double k = every * ceil(s->from / every - 1e-9); k <= s->to + 1e-9; k += every) {
        char text[32];
        snprintf(text, sizeof text, "%s", k < 0.5 && k > -0.5 ? "1" : "10");
        add_tick(s, k, k > 1.5 || k < -0.5 ? (int)k : 0, text);
    }
}

static void make_ticks(scale *s, const plot_axis *axis, double gap)
{
    s->ticks = 0;
    if (axis->names) {
        for (int i = 0; i < axis->name_count; ++i) {
            add_tick(s, i, 0, axis->names[i]);
        }
    } else if (s->is_log) {
        make_log_ticks(s, gap);
    } else {
        make_linear_ticks(s, axis->step > 0.0 ? axis->step : nice_step((s->to - s->from) * gap / s->length));
    }
}

void scale_settle(scale *s, const plot_axis *axis, double low, double high, double length, double gap)
{
    bool is_given = axis->from < axis->to;
    *s = (scale){.length = length, .is_log = axis->is_log};
    if (axis->names && !is_given) {
        low = -0.5;
        high = axis->name_count - 0.5;
    } else if (is_given) {
        low = axis->from;
        high = axis->to;
    }
    if (!(low <= high)) { // no mark says anything
        low = axis->is_log ? 1.0 : 0.0;
        high = axis->is_log ? 10.0 : 1.0;
    }
    s->from = axis->is_log ? log10(low) : low;
    s->to = axis->is_log ? log10(high) : high;
    if (s->to - s->from <= 1e-12 * fmax(1.0, fabs(s->to))) {
        s->from -= 0.5;
        s->to += 0.5;
    }
    if (!is_given && !axis->names) {
        if (axis->is_log) {
            s->from = floor(s->from + 1e-9);
            s->to = ceil(s->to - 1e-9);
        } else {
            double step = nice_step((s->to - s->from) * gap / length);
            s->from = step * floor(s->from / step + 1e-6);
            s->to = step * ceil(s->to / step - 1e-6);
        }
    }
    make_ticks(s, axis, gap);
}

void scale_widen(scale *s, const plot_axis *axis, double factor, double gap)
{
    double middle = 0.5 * (s->from + s->to), half = 0.5 * (s->to - s->from) * factor;
    s->from = middle - half;
    s->to = middle + half;
    make_ticks(s, axis, gap);
}

double scale_label_width(const scale *s, double size)
{
    double widest = 0.0;
    for (int i = 0; i < s->ticks; ++i) {
        char exponent[16] = "";
        if (s->exponent[i] != 0) {
            snprintf(exponent, sizeof exponent, "%d", s->exponent[i]);
        }
        widest = fmax(widest, plot_text_width(s->text[i], size) + plot_text_width(exponent, 0.75 * size));
    }
    return widest;
}

// ---- Drawing -------------------------------------------------------------------------------------------------------------
//
// A plot as SVG. Coordinates are whole tenths of a pixel, written by integer arithmetic, and relative along a path, so that
// files are small and the same everywhere.

#define OUTER    18.0 // margin of the page
#define GUTTER   20.0 // between columns
#define INK      "#333333"
#define FAINT    "#6b6b6b"
#define GRID     "#e6e6e6"
#define FRAME    "#9a9a9a"
#define TITLE    16.0 // sizes of letters
#define SUBTITLE 12.0
#define PANEL    12.5
#define LABEL    11.5
#define TICK     10.5
#define FOOT     9.5

enum { MOST_COLUMNS = 8, MOST_ROWS = 12, MOST_NAMES = 24 };

// Where everything goes.
typedef struct layout {
    double width, height;      // of the page
    double head;               // height of title, subtitle and legend
    double left[MOST_COLUMNS]; // where drawing areas begin
    double top[MOST_ROWS];     //
    const mark *legend[MOST_NAMES];
    int names;
} layout;

typedef struct area {
    double x, y, width, height; // of the drawing area, y of its upper edge
    scale sx, sy;
} area;

// ---- Drawing numbers and texts -------------------------------------------------------------------------------------------

static long tenths(double pixels)
{
    return lround(fmin(fmax(pixels, -1e6), 1e6) * 10.0);
}

static void put_tenths(FILE *out, long t)
{
    long rest = labs(t) % 10;
    fprintf(out, "%s%ld", t < 0 ? "-" : "", labs(t) / 10);
    if (rest) {
        fprintf(out, ".%ld", rest);
    }
}

static void put_attribute(FILE *out, const char *name, double pixels)
{
    fprintf(out, " %s=\"", name);
    put_tenths(out, tenths(pixels));
    fputc('"', out);
}

// After a number or a letter.
static void put_next(FILE *out, long t, bool is_first)
{
    if (t >= 0 && !is_first) {
        fputc(' ', out);
    }
    put_tenths(out, t);
}

static void put_escaped(FILE *out, const char *text)
{
    for (const char *c = text; *c; ++c) {
        if (*c == '&' || *c == '<' || *c == '>' || *c == '"') {
            fprintf(out, "&#%d;", *c);
        } else {
            fputc(*c, out);
        }
    }
}

static void put_text(FILE *out, double x, double y, double size, plot_anchor anchor, const char *color, const char *more,
                     const char *text)
{
    static const char *const anchors[] = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
    fputs("<text", out);
    put_attribute(out, "x", x);
    put_attribute(out, "y", y);
    put_attribute(out, "font-size", size);
    fprintf(out, "%s fill=\"%s\"%s>", anchors[anchor], color, more);
    put_escaped(out, text);
    fputs("</text>\n", out);
}

// A point of a path after (*x, *y), which it moves there; `is_first` begins the path.
static void put_point(FILE *out, double px, double py, bool is_first, long *x, long *y)
{
    long tx = tenths(px), ty = tenths(py);
    if (is_first) {
        fputc('M', out);
        put_next(out, tx, true);
        put_next(out, ty, false);
    } else {
        fputc('l', out);
        put_next(out, tx - *x, true);
        put_next(out, ty - *y, false);
    }
    *x = tx;
    *y = ty;
}

static void put_stroke(FILE *out, const plot_style *s)
{
    fprintf(out, " stroke=\"%s\"", s->color ? s->color : "none");
    if (s->color) {
        put_attribute(out, "stroke-width", s->width > 0.0 ? s->width : 1.5);
    }
    if (s->is_dashed) {
        fputs(" stroke-dasharray=\"5 4\"", out);
    }
    if (s->opacity > 0.0 && s->opacity < 1.0) {
        fprintf(out, " opacity=\"0.%02d\"", (int)lround(100.0 * s->opacity));
    }
}

// ---- Drawing marks -------------------------------------------------------------------------------------------------------

static double place_x(const area *a, double value)
{
    return a->x + scale_place(&a->sx, value);
}

static double place_y(const area *a, double value)
{
    return a->y + a->height - scale_place(&a->sy, value);
}

// The points that are numbers, joined; a new line begins after one that is none.
static void draw_path(FILE *out, const area *a, const mark *m)
{
    long x = 0, y = 0;
    bool is_first = true, is_closed = m->kind == MARK_POLYGON, is_filled = is_closed || m->kind == MARK_STEPS;
    fprintf(out, "<path fill=\"%s\"", is_filled && m->style.fill ? m->style.fill : "none");
    put_stroke(out, &m->style);
    fputs(" d=\"", out);
    for (int i = 0; i < m->count; ++i) {
        if (!isfinite(m->x[i]) || !isfinite(m->y[i])) {
            is_first = true;
            continue;
        }
        bool begins = is_first || (m->kind == MARK_SEGMENTS && i % 2 == 0);
        put_point(out, place_x(a, m->x[i]), place_y(a, m->y[i]), begins, &x, &y);
        is_first = false;
    }
    fprintf(out, "%s\"/>\n", is_closed ? "z" : "");
}

// Dots as lines of no length with round ends.
static void draw_points(FILE *out, const area *a, const mark *m)
{
    plot_style s = m->style;
    s.width = s.size > 0.0 ? s.size : 4.0;
    fputs("<path fill=\"none\" stroke-linecap=\"round\"", out);
    put_stroke(out, &s);
    fputs(" d=\"", out);
    for (int i = 0; i < m->count; ++i) {
        if (isfinite(m->x[i]) && isfinite(m->y[i])) {
            long x, y;
            put_point(out, place_x(a, m->x[i]), place_y(a, m->y[i]), true, &x, &y);
            fputs("h0", out);
        }
    }
    fputs("\"/>\n", out);
}

static void draw_rule(FILE *out, const area *a, const mark *m)
{
    bool is_x = m->kind == MARK_RULE_X;
    double at = is_x ? place_x(a, m->x[0]) : place_y(a, m->y[0]);
    long x = 0, y = 0;
    fputs("<path fill=\"none\"", out);
    put_stroke(out, &m->style);
    fputs(" d=\"", out);
    put_point(out, is_x ? at : a->x, is_x ? a->y : at, true, &x, &y);
    put_point(out, is_x ? at : a->x + a->width, is_x ? a->y + a->height : at, false, &x, &y);
    fputs("\"/>\n", out);
}

// One path for each colour, cells of a row that follow each other as one rectangle.
static void draw_cells(FILE *out, const area *a, const mark *m)
{
    const plot_grid *g = &m->grid;
    bool is_used[256] = {false};
    for (int i = 0; m->cells && i < g->columns * g->rows; ++i) {
        is_used[m->cells[i]] = true;
    }
    for (int kind = 0; kind < 256; ++kind) {
        if (!is_used[kind]) {
            continue;
        }
        fprintf(out, "<path shape-rendering=\"crispEdges\" fill=\"%s\" d=\"", m->colors[kind]);
        for (int r = 0; r < g->rows; ++r) {
            const unsigned char *row = m->cells + (size_t)r * (size_t)g->columns;
            for (int c = 0; c < g->columns; ++c) {
                int from = c;
                while (c < g->columns && row[c] == kind) {
                    ++c;
                }
                if (c == from) {
                    continue;
                }
                long x0 = tenths(place_x(a, g->x + (from - 0.5) * g->dx)), x1 = tenths(place_x(a, g->x + (c - 0.5) * g->dx));
                long y0 = tenths(place_y(a, g->y + (r + 0.5) * g->dy)), y1 = tenths(place_y(a, g->y + (r - 0.5) * g->dy));
                fputc('M', out);
                put_next(out, x0, true);
                put_next(out, y0, false);
                fputc('h', out);
                put_next(out, x1 - x0, true);
                fputc('v', out);
                put_next(out, y1 - y0, true);
                fputc('h', out);
                put_next(out, x0 - x1, true);
                fputc('z', out);
            }
        }
        fputs("\"/>\n", out);
    }
}

static void draw_mark(FILE *out, const area *a, const mark *m)
{
    switch (m->kind) {
    case MARK_LINE:
    case MARK_POLYGON:
    case MARK_SEGMENTS:
    case MARK_STEPS:
        draw_path(out, a, m);
        break;
    case MARK_POINTS:
        draw_points(out, a, m);
        break;
    case MARK_RULE_X:
    case MARK_RULE_Y:
        draw_rule(out, a, m);
        break;
    case MARK_CELLS:
        draw_cells(out, a, m);
        break;
    case MARK_TEXT:
        put_text(out, place_x(a, m->x[0]) + m->right, place_y(a, m->y[0]) + 0.36 * m->style.size - m->up, m->style.size,
                 m->anchor, m->style.color, "", m->text ? m->text : "");
        break;
    case MARK_LEGEND:
        break;
    }
}

// ---- Panels --------------------------------------------------------------------------------------------------------------

// What the marks take up on one axis; log axes see positive numbers only.
static void find_range(const panel *p, bool is_x, double *low, double *high)
{
    bool is_log = is_x ? p->options.x.is_log : p->options.y.is_log;
    *low = INFINITY;
    *high = -INFINITY;
    for (int i = 0; i < p->count; ++i) {
        const mark *m = &p->marks[i];
        if (m->kind == MARK_RULE_X || m->kind == MARK_RULE_Y) {
            continue;
        }
        for (int k = 0; k < m->count; ++k) {
            double v = is_x ? m->x[k] : m->y[k];
            if (isfinite(v) && (!is_log || v > 0.0)) {
                *low = fmin(*low, v);
                *high = fmax(*high, v);
            }
        }
    }
}

#define X_GAP 52.0 // least distance of ticks
#define Y_GAP 30.0

static void settle(const panel *p, area *a)
{
    double low, high;
    find_range(p, true, &low, &high);
    scale_settle(&a->sx, &p->options.x, low, high, a->width, X_GAP);
    find_range(p, false, &low, &high);
    scale_settle(&a->sy, &p->options.y, low, high, a->height, Y_GAP);
    if (p->options.is_equal) {
        double ux = (a->sx.to - a->sx.from) / a->width, uy = (a->sy.to - a->sy.from) / a->height;
        scale_widen(&a->sx, &p->options.x, fmax(1.0, uy / ux), X_GAP);
        scale_widen(&a->sy, &p->options.y, fmax(1.0, ux / uy), Y_GAP);
    }
}

static void draw_tick_text(FILE *out, double x, double y, plot_anchor anchor, const scale *s, int i)
{
    if (s->exponent[i] == 0) {
        put_text(out, x, y, TICK, anchor, INK, "", s->text[i]);
        return;
    }
    fputs("<text", out);
    put_attribute(out, "x", x);
    put_attribute(out, "y", y);
    put_attribute(out, "font-size", TICK);
    fprintf(out, " text-anchor=\"%s\" fill=\"%s\">%s<tspan dy=\"-4\" font-size=\"7.9\">%s%d</tspan></text>\n",
            anchor == PLOT_END ? "end" : "middle", INK, s->text[i], s->exponent[i] < 0 ? "−" : "", abs(s->exponent[i]));
}

static void draw_grid(FILE *out, const panel *p, const area *a)
{
    long x = 0, y = 0;
    fprintf(out, "<path fill=\"none\" stroke=\"%s\" d=\"", GRID);
    for (int i = 0; i < a->sx.ticks && !p->options.x.names; ++i) {
        double at = a->x + (a->sx.tick[i] - a->sx.from) / (a->sx.to - a->sx.from) * a->width;
        put_point(out, at, a->y, true, &x, &y);
        put_point(out, at, a->y + a->height, false, &x, &y);
    }
    for (int i = 0; i < a->sy.ticks && !p->options.y.names; ++i) {
        double at = a->y + a->height - (a->sy.tick[i] - a->sy.from) / (a->sy.to - a->sy.from) * a->height;
        put_point(out, a->x, at, true, &x, &y);
        put_point(out, a->x + a->width, at, false, &x, &y);
    }
    fputs("\"/>\n", out);
}

static void draw_axes(FILE *out, const panel *p, const area *a)
{
    double bottom = a->y + a->height, wide = scale_label_width(&a->sy, TICK);
    fprintf(out, "<rect fill=\"none\" stroke=\"%s\"", FRAME);
    put_attribute(out, "x", a->x);
    put_attribute(out, "y", a->y);
    put_attribute(out, "width", a->width);
    put_attribute(out, "height", a->height);
    fputs("/>\n", out);
    for (int i = 0; i < a->sx.ticks; ++i) {
        double at = a->x + (a->sx.tick[i] - a->sx.from) / (a->sx.to - a->sx.from) * a->width;
        draw_tick_text(out, at, bottom + 14.0, PLOT_MIDDLE, &a->sx, i);
    }
    for (int i = 0; i < a->sy.ticks; ++i) {
        double at = bottom - (a->sy.tick[i] - a->sy.from) / (a->sy.to - a->sy.from) * a->height;
        draw_tick_text(out, a->x - 6.0, at + 0.36 * TICK, PLOT_END, &a->sy, i);
    }
    if (p->options.x.label) {
        put_text(out, a->x + 0.5 * a->width, bottom + 30.0, LABEL, PLOT_MIDDLE, INK, "", p->options.x.label);
    }
    if (p->options.y.label) {
        char turn[80];
        double x = a->x - wide - 14.0, y = a->y + 0.5 * a->height;
        snprintf(turn, sizeof turn, " transform=\"rotate(-90 %ld %ld)\"", lround(x), lround(y));
        put_text(out, (double)lround(x), (double)lround(y), LABEL, PLOT_MIDDLE, INK, turn, p->options.y.label);
    }
}

static void draw_panel(FILE *out, const panel *p, const area *a, int number)
{
    if (p->options.title) {
        put_text(out, a->x + 0.5 * a->width, a->y - 7.0, PANEL, PLOT_MIDDLE, INK, " font-weight=\"600\"", p->options.title);
    }
    fprintf(out, "<clipPath id=\"c%d\"><rect", number);
    put_attribute(out, "x", a->x);
    put_attribute(out, "y", a->y);
    put_attribute(out, "width", a->width);
    put_attribute(out, "height", a->height);
    fputs("/></clipPath>\n", out);
    if (!p->options.is_bare) {
        draw_grid(out, p, a);
    }
    fprintf(out, "<g clip-path=\"url(#c%d)\" stroke-linejoin=\"round\">\n", number);
    for (int i = 0; i < p->count; ++i) {
        draw_mark(out, a, &p->marks[i]);
    }
    fputs("</g>\n", out);
    if (!p->options.is_bare) {
        draw_axes(out, p, a);
    }
}

// ---- Page ----------------------------------------------------------------------------------------------------------------

static void collect_names(const plot *p, layout *l)
{
    for (int i = 0; i < p->count; ++i) {
        for (int k = 0; k < p->panels[i].count; ++k) {
            const mark *m = &p->panels[i].marks[k];
            bool is_new = m->name != NULL && l->names < MOST_NAMES;
            for (int n = 0; n < l->names && is_new; ++n) {
                is_new = strcmp(l->legend[n]->name, m->name) != 0;
            }
            if (is_new) {
                l->legend[l->names++] = m;
            }
        }
    }
}

#define SAMPLE 22.0
#define ENTRY  18.0 // between entries
#define LINE   18.0 // height of a line of the legend

// Draw the legend, or, without a stream, only find its height.
static double draw_legend(const layout *l, double top, FILE *out)
{
    double x = OUTER, y = top;
    for (int i = 0; i < l->names; ++i) {
        const mark *m = l->legend[i];
        double width = SAMPLE + 6.0 + plot_text_width(m->name, LABEL);
        if (x > OUTER && x + width > l->width - OUTER) {
            x = OUTER;
            y += LINE;
        }
        if (out) {
            plot_style s = m->style;
            bool is_filled = s.fill && (m->kind == MARK_LEGEND || m->kind == MARK_POLYGON || m->kind == MARK_STEPS);
            double thick = m->kind == MARK_POINTS ? fmax(s.size, 6.0) : fmax(s.width, 2.0);
            s.opacity = 1.0;
            s.width = is_filled ? 1.0 : thick;
            s.color = m->kind == MARK_LEGEND ? FRAME : s.color;
            double left = is_filled ? x + 8.0 : m->kind == MARK_POINTS ? x + 0.5 * SAMPLE : x;
            fprintf(out, "<path fill=\"%s\"", is_filled ? s.fill : "none");
            fputs(m->kind == MARK_POINTS ? " stroke-linecap=\"round\"" : "", out);
            put_stroke(out, &s);
            fputs(" d=\"", out);
            long px, py;
            put_point(out, left, y + (is_filled ? 3.0 : 8.5), true, &px, &py);
            fprintf(out, "%s\"/>\n", is_filled ? "h12v11h-12z" : m->kind == MARK_POINTS ? "h0" : "h22");
            put_text(out, x + SAMPLE + 6.0, y + 12.5, LABEL, PLOT_START, INK, "", m->name);
        }
        x += width + ENTRY;
    }
    return l->names > 0 ? y + LINE + 4.0 - top : 0.0;
}

// The subtitle in lines that fit; without a stream only the height.
static double draw_subtitle(const char *text, double top, double width, FILE *out)
{
    double y = top;
    while (text && *text) {
        size_t length = 0, best = 0;
        char line[512];
        while (length < sizeof line - 1) {
            if (text[length] == '\0' || text[length] == ' ') {
                memcpy(line, text, length);
                line[length] = '\0';
                if (best > 0 && plot_text_width(line, SUBTITLE) > width) {
                    break;
                }
                best = length;
            }
            if (text[length] == '\0') {
                break;
            }
            ++length;
        }
        best = best > 0 ? best : length;
        memcpy(line, text, best);
        line[best] = '\0';
        if (out) {
            put_text(out, OUTER, y + 11.0, SUBTITLE, PLOT_START, FAINT, "", line);
        }
        y += 16.0;
        text += best + (text[best] == ' ');
    }
    return y - top;
}

static double head_height(const plot *p, const layout *l, FILE *out)
{
    double y = OUTER;
    if (p->title) {
        if (out) {
            put_text(out, OUTER, y + 13.0, TITLE, PLOT_START, INK, " font-weight=\"600\"", p->title);
        }
        y += 24.0;
    }
    y += draw_subtitle(p->subtitle, y, l->width - 2.0 * OUTER, out);
    y += p->subtitle ? 6.0 : 0.0;
    return y + draw_legend(l, y, out);
}

static int last_column(const panel *p)
{
    return p->column + (p->options.span > 1 ? p->options.span : 1) - 1;
}

static void find_columns(const plot *p, const area *areas, layout *l)
{
    double x = OUTER;
    for (int c = 0; c < p->columns && c < MOST_COLUMNS; ++c) {
        double before = 0.0;
        for (int i = 0; i < p->count; ++i) {
            const plot_panel_options *o = &p->panels[i].options;
            if (p->panels[i].column == c && !o->is_bare) {
                before = fmax(before, scale_label_width(&areas[i].sy, TICK) + 8.0 + (o->y.label ? 18.0 : 0.0));
            }
        }
        l->left[c] = x + before;
        x = l->left[c] + p->width + GUTTER;
    }
    l->width = x - GUTTER + OUTER;
}

static void find_rows(const plot *p, layout *l)
{
    double y = l->head;
    for (int r = 0; r < p->rows && r < MOST_ROWS; ++r) {
        double above = 6.0, below = 4.0;
        for (int i = 0; i < p->count; ++i) {
            const plot_panel_options *o = &p->panels[i].options;
            if (p->panels[i].row == r) {
                above = o->title ? fmax(above, 24.0) : above;
                below = o->is_bare ? below : fmax(below, o->x.label ? 38.0 : 22.0);
            }
        }
        l->top[r] = y + above;
        y = l->top[r] + p->height + below;
    }
    l->height = y + (p->foot ? 20.0 : 6.0) + 6.0;
}

static layout lay_out(const plot *p, area *areas)
{
    layout l = {.names = 0};
    for (int i = 0; i < p->count; ++i) { // for the widths of labels; widths of areas follow
        areas[i] = (area){.width = p->width, .height = p->height};
        settle(&p->panels[i], &areas[i]);
    }
    find_columns(p, areas, &l);
    collect_names(p, &l);
    l.head = head_height(p, &l, NULL);
    find_rows(p, &l);
    for (int i = 0; i < p->count; ++i) {
        const panel *q = &p->panels[i];
        areas[i].x = l.left[q->column];
        areas[i].y = l.top[q->row];
        areas[i].width = l.left[last_column(q)] + p->width - areas[i].x;
        settle(q, &areas[i]);
    }
    return l;
}

bool plot_write(const plot *p, FILE *stream)
{
    area *areas = p ? calloc((size_t)p->count + 1, sizeof *areas) : NULL;
    if (!areas) {
        return false;
    }
    layout l = lay_out(p, areas);
    long width = lround(ceil(l.width)), height = lround(ceil(l.height));
    fprintf(stream,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%ld\" height=\"%ld\" viewBox=\"0 0 %ld %ld\" role=\"img\""
            " font-family=\"Helvetica, Arial, Liberation Sans, sans-serif\">\n<title>",
            width, height, width, height);
    put_escaped(stream, p->title ? p->title : "");
    fprintf(stream, "</title>\n<rect width=\"%ld\" height=\"%ld\" fill=\"#ffffff\"/>\n", width, height);
    head_height(p, &l, stream);
    for (int i = 0; i < p->count; ++i) {
        draw_panel(stream, &p->panels[i], &areas[i], i);
    }
    if (p->foot) {
        put_text(stream, OUTER, (double)height - 9.0, FOOT, PLOT_START, FRAME, "", p->foot);
    }
    fputs("</svg>\n", stream);
    free(areas);
    return !p->is_lost;
}
