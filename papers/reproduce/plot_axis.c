// Ranges and ticks of axes.
#include "plot_axis.h"

#include <math.h>

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
