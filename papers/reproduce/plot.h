// Plots as SVG text: panels on a page, each with axes and marks. The same calls give the same bytes.
//
//   plot *p = plot_create("Convergence", "f after each iteration", NULL, 1, 1, 400, 260);
//   plot_panel(p, 0, 0, &(plot_panel_options){.x = {.label = "iteration"}, .y = {.label = "f, cm²", .is_log = true}});
//   plot_line(p, (plot_style){.color = PLOT_BLUE}, x, y, count, "newton");
//   plot_write(p, stream);
//   plot_destroy(p);
//
// Marks go to the panel made last, in the order of the calls, and are copied. A mark with a name appears once in the legend,
// which is common to the page and stands above the panels, where it hides nothing. What there is no memory for is left out,
// and plot_write then says false. All other texts must stay valid until the plot is written.
#ifndef PAPERS_PLOT_H
#define PAPERS_PLOT_H

#include <stdbool.h>
#include <stdio.h>

// Colours that people with any colour vision can tell apart (M. Okabe & K. Ito 2008).
#define PLOT_BLUE   "#0072b2"
#define PLOT_RED    "#d55e00"
#define PLOT_GREEN  "#009e73"
#define PLOT_PURPLE "#cc79a7"
#define PLOT_ORANGE "#e69f00"
#define PLOT_SKY    "#56b4e9"
#define PLOT_BLACK  "#333333"
#define PLOT_GREY   "#999999"

typedef struct plot plot;

// From pale (0) to dark (1) blue, for heat maps; `color` has room for 8 characters. True when white text reads better on it.
bool plot_ramp(double value, char color[8]);

typedef struct plot_axis {
    const char *label;        // with the unit; NULL: none
    double from, to;          // from < to; both 0: as the marks need
    double step;              // between ticks; 0: chosen
    bool is_log;              // numbers that are not positive lie at the lower end
    const char *const *names; // of 0, 1, 2 ...: ticks have names instead of numbers; NULL: none
    int name_count;
} plot_axis;

typedef struct plot_panel_options {
    const char *title; // NULL: none
    plot_axis x, y;
    bool is_bare;  // no frame, ticks or labels: a picture
    bool is_equal; // a unit is as long on x as on y: the range that is too short is widened
    int span;      // columns it takes; 0: one
} plot_panel_options;

typedef struct plot_style {
    const char *color; // of lines and points; NULL: none (of filled shapes)
    const char *fill;  // of histograms, bars and polygons; NULL: none
    double width;      // of lines, in pixels; 0: 1.5
    double size;       // diameter of points, in pixels; 0: 4
    double opacity;    // 0: 1
    bool is_dashed;
} plot_style;

// A page of rows x columns panels, each with a drawing area of the given size in pixels. `title` and `subtitle` (may be
// NULL) stand at its top, `foot` (may be NULL) small at its bottom. NULL when there is no memory, which the other calls
// accept.
plot *plot_create(const char *title, const char *subtitle, const char *foot, int columns, int rows, double width,
                  double height);
void plot_destroy(plot *p);

// Begin the panel at a column and row, counted from 0 at the upper left.
void plot_panel(plot *p, int column, int row, const plot_panel_options *options);

// ---- Marks ---------------------------------------------------------------------------------------------------------------

// `name` is for the legend; NULL: none.
void plot_line(plot *p, plot_style style, const double *x, const double *y, int count, const char *name);
void plot_points(plot *p, plot_style style, const double *x, const double *y, int count, const char *name);
void plot_polygon(plot *p, plot_style style, const double *x, const double *y, int count, const char *name);

// Lines from (x, y)[2 i] to (x, y)[2 i + 1].
void plot_segments(plot *p, plot_style style, const double *x, const double *y, int count, const char *name);

// A histogram: `count` bins of equal width from `from` on; the outline, filled down to the axis.
void plot_steps(plot *p, plot_style style, double from, double width, const double *height, int count, const char *name);

// A bar from (x0, y0) to (x1, y1).
void plot_bar(plot *p, plot_style style, double x0, double y0, double x1, double y1, const char *name);

// A line across the panel, at a place on x or on y. Does not widen the axis.
void plot_rule_x(plot *p, plot_style style, double at, const char *name);
void plot_rule_y(plot *p, plot_style style, double at, const char *name);

// A grid of columns x rows cells, row by row from the bottom, each of the colour colors[kind]; cell (0, 0) has its centre at
// (x, y), and centres are dx and dy apart. `colors` must stay valid.
typedef struct plot_grid {
    int columns, rows;
    double x, y, dx, dy;
} plot_grid;
void plot_cells(plot *p, const plot_grid *grid, const unsigned char *kind, const char *const *colors);

// A square in the legend, with no mark: what a colour of cells means.
void plot_legend(plot *p, const char *fill, const char *name);

// Text with its middle at (x, y), moved by (right, up) pixels.
typedef enum plot_anchor { PLOT_START = 0, PLOT_MIDDLE, PLOT_END } plot_anchor;
void plot_text(plot *p, const char *color, double size, plot_anchor anchor, double x, double y, double right, double up,
               const char *text); // copied

// ---- Writing -------------------------------------------------------------------------------------------------------------

// False when memory ran out on the way.
bool plot_write(const plot *p, FILE *stream);

// ---- Axes ----------------------------------------------------------------------------------------------------------------
//
// What drawing does with an axis; tests look at it alone.

// Pixels that a text takes in Helvetica of that size.
double plot_text_width(const char *text, double size);

enum { MOST_TICKS = 40 };

// An axis with its range and ticks settled. Places are in pixels from the lower end.
typedef struct scale {
    double from, to; // logarithms to base 10 where it is logarithmic
    double length;
    bool is_log;
    int ticks;
    double tick[MOST_TICKS]; // as `from` and `to`
    char text[MOST_TICKS][32];
    int exponent[MOST_TICKS]; // of the label 10^exponent; 0: the text as it is
} scale;

// Settle the range [low, high] that the marks need, and the ticks. `gap` is the least distance of ticks in pixels.
void scale_settle(scale *s, const plot_axis *axis, double low, double high, double length, double gap);

// Widen the range about its middle by a factor >= 1, and find the ticks again.
void scale_widen(scale *s, const plot_axis *axis, double factor, double gap);

double scale_place(const scale *s, double value);

// Width of the widest label in pixels.
double scale_label_width(const scale *s, double size);

#endif
