// Axes of plots: ranges, ticks and labels, and how wide a text is.
#ifndef PAPERS_PLOT_AXIS_H
#define PAPERS_PLOT_AXIS_H

#include "plot.h"

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
