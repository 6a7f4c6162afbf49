#include "plot_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

// ---- Colours and texts ---------------------------------------------------------------------------------------------------

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
