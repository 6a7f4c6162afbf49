// What a plot is made of, for plot.c, which collects it, and plot_draw.c, which draws it.
#ifndef RESEARCH_PLOT_PARTS_H
#define RESEARCH_PLOT_PARTS_H

#include "plot.h"

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

// Pixels that a text takes in Helvetica of that size.
double plot_text_width(const char *text, double size);

// ---- Axes ----------------------------------------------------------------------------------------------------------------

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
