#define _XOPEN_SOURCE 700

// Plots: well-formed, the same bytes for the same calls, ticks at round numbers, marks where they belong.
#include "support/test_main.h"

#include "papers/reproduce/plot.h"
#include <scenes/random.h>

#include <expat.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// The plot as text; release it. The plot is destroyed.
static char *draw(plot *p, size_t *size)
{
    char *text = NULL;
    FILE *stream = open_memstream(&text, size);
    ck_assert_ptr_nonnull(stream);
    ck_assert(plot_write(p, stream));
    fclose(stream);
    plot_destroy(p);
    return text;
}

static void check_well_formed(const char *text, size_t size)
{
    XML_Parser parser = XML_ParserCreate("UTF-8");
    enum XML_Status status = XML_Parse(parser, text, (int)size, 1);
    ck_assert_msg(status == XML_STATUS_OK, "line %lu: %s", XML_GetCurrentLineNumber(parser),
                  XML_ErrorString(XML_GetErrorCode(parser)));
    XML_ParserFree(parser);
}

static int count_of(const char *text, const char *word)
{
    int count = 0;
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) {
        count += 1;
    }
    return count;
}

// One of everything, with texts and numbers that invite mistakes.
static plot *make_odd_plot(void)
{
    static const char *const colors[] = {"#ffffff", "#000000"};
    static const char *const names[] = {"a & b", "<c>"};
    const double x[6] = {0.0, 1.0, NAN, 3.0, INFINITY, 5.0}, y[6] = {1.0, -1.0, 2.0, NAN, 1.0, 1e300};
    const double height[3] = {0.0, 5.0, 1.0};
    const unsigned char kind[6] = {0, 1, 1, 0, 0, 1};
    plot *p = plot_create("Title <&> \"quoted\"",
                          "A subtitle that is long enough to need more than one line on a page as "
                          "narrow as this one is & has < in it",
                          "foot & co", 2, 3, 150.0, 100.0);
    plot_panel(p, 0, 0, &(plot_panel_options){.title = "lines <", .x = {.label = "x & y"}, .y = {.is_log = true}});
    plot_line(p, (plot_style){.color = PLOT_BLUE, .is_dashed = true, .opacity = 0.5}, x, y, 6, "line <1>");
    plot_points(p, (plot_style){.color = PLOT_RED}, x, y, 6, "points & co");
    plot_rule_x(p, (plot_style){.color = PLOT_BLACK}, 2.0, "rule");
    plot_rule_y(p, (plot_style){.color = PLOT_BLACK}, 0.0, NULL);
    plot_panel(p, 1, 0, &(plot_panel_options){.is_bare = true, .is_equal = true});
    plot_steps(p, (plot_style){.color = PLOT_BLUE, .fill = PLOT_SKY}, 0.0, 0.1, height, 3, "steps");
    plot_text(p, PLOT_BLACK, 10.0, PLOT_END, 0.1, 1.0, 0.0, 0.0, "\"text\" & <more>");
    plot_panel(p, 0, 1, &(plot_panel_options){.span = 2, .x = {.names = names, .name_count = 2}});
    plot_bar(p, (plot_style){.fill = PLOT_GREEN}, -0.3, 0.0, 0.3, 4.0, "bar");
    plot_segments(p, (plot_style){.color = PLOT_BLACK}, x, y, 1, NULL);
    plot_panel(p, 0, 2, &(plot_panel_options){.title = "cells"});
    plot_cells(p, &(plot_grid){3, 2, 0.0, 0.0, 1.0, 1.0}, kind, colors);
    plot_legend(p, "#000000", "black");
    plot_panel(p, 1, 2, &(plot_panel_options){.title = "nothing at all"});
    return p;
}

TEST(a_plot_with_odd_texts_and_numbers_is_well_formed)
{
    size_t size;
    char *text = draw(make_odd_plot(), &size);
    check_well_formed(text, size);
    ck_assert_ptr_null(strstr(text, "nan"));
    ck_assert_ptr_null(strstr(text, "inf"));
    free(text);
}

TEST(the_same_calls_give_the_same_bytes)
{
    size_t size, other_size;
    char *text = draw(make_odd_plot(), &size), *other = draw(make_odd_plot(), &other_size);
    ck_assert_uint_eq(size, other_size);
    ck_assert_mem_eq(text, other, size);
    free(text);
    free(other);
}

TEST(a_name_is_in_the_legend_once_however_many_marks_have_it)
{
    const double x[2] = {0.0, 1.0};
    size_t size;
    plot *p = plot_create(NULL, NULL, NULL, 2, 1, 100.0, 100.0);
    for (int i = 0; i < 2; ++i) {
        plot_panel(p, i, 0, &(plot_panel_options){.title = NULL});
        for (int k = 0; k < 5; ++k) {
            plot_line(p, (plot_style){.color = PLOT_BLUE}, x, x, 2, k % 2 ? "odd" : "even");
        }
    }
    char *text = draw(p, &size);
    ck_assert_int_eq(count_of(text, ">odd<"), 1);
    ck_assert_int_eq(count_of(text, ">even<"), 1);
    free(text);
}

// Paths are relative: rounding each step on its own would drift by a pixel in a few hundred points.
TEST(a_long_line_ends_where_its_last_point_is)
{
    enum { POINTS = 5000 };
    double x[POINTS], y[POINTS], at[2] = {0.0, 0.0}, first[2] = {0.0, 0.0};
    size_t size;
    for (int i = 0; i < POINTS; ++i) {
        x[i] = i / (POINTS - 1.0);
        y[i] = 0.5 + 0.4 * sin(0.01 * i);
    }
    plot *p = plot_create(NULL, NULL, NULL, 1, 1, 300.0, 200.0);
    plot_panel(p, 0, 0,
               &(plot_panel_options){.is_bare = true, .x = {.from = 0.0, .to = 1.0}, .y = {.from = 0.0, .to = 1.0}});
    plot_line(p, (plot_style){.color = PLOT_BLUE}, x, y, POINTS, NULL);
    char *text = draw(p, &size), *d = strstr(strstr(text, "<g clip-path"), " d=\"M") + 5;
    at[0] = first[0] = strtod(d, &d);
    at[1] = first[1] = strtod(d, &d);
    while (*d == 'l') {
        at[0] += strtod(d + 1, &d);
        at[1] += strtod(d, &d);
    }
    // both ends are rounded to tenths of a pixel
    ck_assert_double_eq_tol(at[0] - first[0], 300.0, 0.11);
    ck_assert_double_eq_tol(at[1] - first[1], -200.0 * (y[POINTS - 1] - y[0]), 0.11);
    free(text);
}

TEST(every_cell_of_a_grid_is_drawn_once)
{
    enum { COLUMNS = 17, ROWS = 9 };
    static const char *const colors[] = {"#111111", "#222222", "#333333"};
    unsigned char kind[COLUMNS * ROWS];
    scene_random random = scene_random_make(7);
    size_t size;
    for (int i = 0; i < COLUMNS * ROWS; ++i) {
        kind[i] = (unsigned char)(3.0 * scene_random_uniform(&random));
    }
    plot *p = plot_create(NULL, NULL, NULL, 1, 1, 10.0 * COLUMNS, 10.0 * ROWS);
    plot_panel(p, 0, 0,
               &(plot_panel_options){.is_bare = true, .x = {.from = 0.0, .to = COLUMNS}, .y = {.from = 0.0, .to = ROWS}});
    plot_cells(p, &(plot_grid){COLUMNS, ROWS, 0.5, 0.5, 1.0, 1.0}, kind, colors);
    char *text = draw(p, &size);
    double area = 0.0;
    for (char *d = strstr(text, "crispEdges"); (d = strchr(d, 'h')); ++d) {
        char *end;
        double width = strtod(d + 1, &end);
        area += *end == 'v' ? width * strtod(end + 1, NULL) : 0.0;
    }
    ck_assert_double_eq_tol(area, 100.0 * COLUMNS * ROWS, 1e-6);
    free(text);
}

TEST(ticks_are_evenly_spaced_round_and_within_the_axis)
{
    scene_random random = scene_random_make(3);
    for (int i = 0; i < 2000; ++i) {
        double low = 1e3 * (scene_random_uniform(&random) - 0.5),
               high = low + pow(10.0, 8.0 * scene_random_uniform(&random) - 4.0);
        scale s;
        scale_settle(&s, &(plot_axis){.label = NULL}, low, high, 300.0, 50.0);
        ck_assert_int_ge(s.ticks, 2);
        ck_assert_double_le(s.from, low + 1e-9 * fabs(low));
        ck_assert_double_ge(s.to, high - 1e-9 * fabs(high));
        double step = s.tick[1] - s.tick[0], digits = step / pow(10.0, floor(log10(step) + 1e-6));
        ck_assert(fabs(digits - 1.0) < 1e-3 || fabs(digits - 2.0) < 1e-3 || fabs(digits - 5.0) < 1e-3);
        ck_assert_double_ge(step / (s.to - s.from) * 300.0, 50.0 * 0.6); // the range may have grown by a step at either end
        for (int k = 0; k < s.ticks; ++k) {
            const char *text = s.text[k];
            double sign = strncmp(text, "−", strlen("−")) == 0 ? -1.0 : 1.0;
            double shown = sign * strtod(sign < 0.0 ? text + strlen("−") : text, NULL);
            ck_assert_double_eq_tol(shown, s.tick[k], 1e-6 * step + 1e-9);
        }
    }
}

TEST(ticks_of_many_decades_are_powers_of_ten)
{
    scale s;
    scale_settle(&s, &(plot_axis){.is_log = true}, 3e-20, 2e5, 220.0, 30.0);
    ck_assert_double_eq_tol(s.from, -20.0, 1e-9);
    ck_assert_double_eq_tol(s.to, 6.0, 1e-9);
    ck_assert_int_ge(s.ticks, 5);
    for (int k = 0; k < s.ticks; ++k) {
        bool is_plain = s.tick[k] > -0.5 && s.tick[k] < 1.5; // 1 and 10 are written out
        ck_assert_int_eq(s.exponent[k], is_plain ? 0 : (int)lround(s.tick[k]));
    }
}

TEST(numbers_that_are_not_positive_lie_at_the_lower_end_of_a_log_axis)
{
    scale s;
    scale_settle(&s, &(plot_axis){.is_log = true}, 1e-3, 1e3, 60.0, 10.0);
    ck_assert_double_eq_tol(scale_place(&s, 0.0), 0.0, 1e-12);
    ck_assert_double_eq_tol(scale_place(&s, -5.0), 0.0, 1e-12);
    ck_assert_double_eq_tol(scale_place(&s, 1.0), 30.0, 1e-9);
}

TEST(the_ramp_goes_from_pale_to_dark)
{
    char color[8];
    long last = 0xffffff + 1;
    for (int i = 0; i <= 20; ++i) {
        plot_ramp(i / 20.0, color);
        long red = strtol(color + 1, NULL, 16) >> 16;
        ck_assert_int_eq((int)strlen(color), 7);
        ck_assert_int_le((int)red, (int)last);
        last = red;
    }
    ck_assert(!plot_ramp(0.0, color) && plot_ramp(1.0, color));
    ck_assert(plot_ramp(7.0, color) && !plot_ramp(-7.0, color));
}
