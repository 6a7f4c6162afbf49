// Tables 8 and 9 of Ribeiro & Paiva 2019: printed, then ours.
#include "reproduce_erik.h"

#include <math.h>

static double or_nothing(double printed)
{
    return printed != 0.0 ? printed : NAN;
}

// Printed and ours side by side at place `at`.
static void draw_pair(plot *p, double at, double printed, double ours)
{
    if (printed > 0.0) {
        plot_bar(p, (plot_style){.fill = PLOT_GREY}, at - 0.36, 0.0, at - 0.02, printed, "printed");
    }
    plot_bar(p, (plot_style){.fill = PLOT_BLUE}, at + 0.02, 0.0, at + 0.36, ours, "here");
}

static bool draw_iterations(reproduce *r, const erik_run *run)
{
    static const char *const skeletons[] = {"A", "B", "C", "D", "E", "F", "G"};
    static const char *const baselines[] = {"DLS100", "DLS200", "DLS400"};
    plot *p = plot_create(r->now->title, "Mean iterations of a sample", reproduce_foot(r), 2, 1, 320.0, 220.0);
    plot_panel(p, 0, 0,
               &(plot_panel_options){.title = "ERIK on skeletons A to G",
                                     .x = {.names = skeletons, .name_count = 7},
                                     .y = {.label = "iterations"}});
    for (int i = 0; i < EVALUATE_SKELETONS; ++i) {
        draw_pair(p, i, run->rows[i].printed->iterations, run->rows[i].results.iterations.mean);
    }
    plot_panel(p, 1, 0,
               &(plot_panel_options){.title = "two-task damped least squares on C",
                                     .x = {.names = baselines, .name_count = 3},
                                     .y = {.label = NULL}});
    for (int i = 0; i < 3; ++i) {
        const erik_row *row = &run->rows[ERIK_TWO_TASK + i];
        draw_pair(p, i, row->printed->iterations, row->results.iterations.mean);
    }
    return reproduce_plot(r, p, "");
}

static bool draw_errors(reproduce *r, const erik_run *run)
{
    static const char *const solvers[] = {"ERIK", "DLS100", "DLS200", "DLS400"};
    static const char *const titles[] = {"combined error", "orientation error", "posture error × 0.2"};
    plot *p = plot_create(r->now->title, "Mean errors", reproduce_foot(r), 3, 1, 240.0, 200.0);
    for (int k = 0; k < 3; ++k) {
        plot_panel(p, k, 0,
                   &(plot_panel_options){.title = titles[k],
                                         .x = {.names = solvers, .name_count = 4},
                                         .y = {.from = 0.0, .to = 0.1, .step = 0.02}});
        for (int i = 0; i < 4; ++i) {
            const erik_row *row = &run->rows[i == 0 ? ERIK_C : ERIK_TWO_TASK + i - 1];
            const evaluate_printed *q = row->printed;
            const evaluate_results *x = &row->results;
            draw_pair(p, i,
                      k == 0   ? q->error
                      : k == 1 ? q->orientation
                               : q->posture,
                      k == 0   ? x->error.mean
                      : k == 1 ? x->orientation.mean
                               : x->posture.mean);
        }
    }
    return reproduce_plot(r, p, "");
}

// Both halves of Table 8, of one kind of number each: printed, then ours.
typedef struct spread {
    double least, most, mean, deviation;
} spread;

static spread spread_of(const evaluate_statistics *s, double unit)
{
    return (spread){s->least * unit, s->most * unit, s->mean * unit, evaluate_statistics_deviation(s) * unit};
}

static void add_spreads(sheet *s, spread printed, spread ours)
{
    sheet_number(s, printed.least);
    sheet_number(s, ours.least);
    sheet_number(s, printed.most);
    sheet_number(s, ours.most);
    sheet_number(s, printed.mean);
    sheet_number(s, ours.mean);
    sheet_number(s, printed.deviation);
    sheet_number(s, ours.deviation);
}

static bool print_iterations(reproduce *r, const erik_run *run)
{
    static const sheet_column columns[] = {
        {.key = "run", .head = "run"},
        {.key = "samples", .head = "samples", .format = "%.0f"},
        {.key = "left_out", .head = NULL, .format = "%.0f"},
        {.key = "printed_iterations_least", .head = "min", .format = "%.0f"},
        {.key = "iterations_least", .head = "ours", .format = "%.0f"},
        {.key = "printed_iterations_most", .head = "max", .format = "%.0f"},
        {.key = "iterations_most", .head = "ours", .format = "%.0f"},
        {.key = "printed_iterations", .head = "mean", .format = "%.2f"},
        {.key = "iterations", .head = "ours", .format = "%.2f"},
        {.key = "printed_iterations_deviation", .head = "SD", .format = "%.2f"},
        {.key = "iterations_deviation", .head = "ours", .format = "%.2f"},
        {0},
    };
    sheet *s = sheet_create(columns);
    for (int i = 0; i < ERIK_NO_POSTURE; ++i) {
        const evaluate_results *x = &run->rows[i].results;
        const evaluate_printed *p = run->rows[i].printed;
        sheet_text(s, run->rows[i].name);
        sheet_number(s, (double)x->iterations.count);
        sheet_number(s, (double)x->left_out);
        add_spreads(s, (spread){1.0, p->iterations_most, p->iterations, p->iterations_deviation},
                    spread_of(&x->iterations, 1.0));
    }
    return reproduce_sheet(r, s, "Iterations: printed, then ours", "");
}

static bool print_times(reproduce *r, const erik_run *run)
{
    static const sheet_column columns[] = {
        {.key = "run", .head = "run"},
        {.key = "printed_least_ms", .head = "min ms", .format = "%.3g", .is_time = true},
        {.key = "least_us", .head = "us", .format = "%.4g", .is_time = true},
        {.key = "printed_most_ms", .head = "max ms", .format = "%.4g", .is_time = true},
        {.key = "most_us", .head = "us", .format = "%.4g", .is_time = true},
        {.key = "printed_milliseconds", .head = "mean ms", .format = "%.3g", .is_time = true},
        {.key = "microseconds", .head = "us", .format = "%.4g", .is_time = true},
        {.key = "printed_deviation_ms", .head = "SD ms", .format = "%.3g", .is_time = true},
        {.key = "deviation_us", .head = "us", .format = "%.3g", .is_time = true},
        {0},
    };
    sheet *s = sheet_create(columns);
    for (int i = 0; i < ERIK_NO_POSTURE; ++i) {
        const evaluate_printed *p = run->rows[i].printed;
        sheet_text(s, run->rows[i].name);
        add_spreads(s, (spread){p->least_milliseconds, p->most_milliseconds, p->milliseconds, p->milliseconds_deviation},
                    spread_of(&run->rows[i].results.time, 1.0));
    }
    return reproduce_sheet(r, s, "Time of a sample: printed in ms, then ours in us of CPU time", "-time");
}

// "30 % fewer"
static const char *compared(char text[32], double ours, double printed)
{
    double share = 100.0 * (ours / printed - 1.0);
    snprintf(text, 32, "%.0f %% %s", fabs(share), share < 0.0 ? "fewer" : "more");
    return text;
}

static void note_iterations(reproduce *r, const erik_run *run)
{
    const evaluate_results *x = &run->rows[ERIK_TWO_TASK].results;
    double drawn = (double)(x->iterations.count + x->left_out);
    reproduce_note(r,
                   "samples: how many problems a row is the mean of. Of damped least squares %.0f of skeleton C were drawn, "
                   "%s; its filter leaves out "
                   "those whose orientation it misses even without the posture, here %.1f %%, in the paper 28.7 %%.",
                   drawn, r->is_full ? "all there are" : "fewer than of ERIK, which is quicker",
                   100.0 * (double)x->left_out / drawn);
    char text[800], share[32];
    int at = 0;
    for (int i = ERIK_TWO_TASK; i < ERIK_NO_POSTURE; ++i) {
        double ours = run->rows[i].results.iterations.mean, printed = run->rows[i].printed->iterations;
        at += snprintf(text + at, sizeof text - (size_t)at, "%s%s %s", i > ERIK_TWO_TASK ? ", " : "", run->rows[i].name,
                       compared(share, ours, printed));
    }
    reproduce_note(r, "Mean iterations of damped least squares against those printed: %s.", text);
}

bool erik_print_iterations(reproduce *r, const experiment *e)
{
    const erik_run *run = erik_results(r, true);
    (void)e;
    if (!run || !print_iterations(r, run) || !print_times(r, run) || !draw_iterations(r, run)) {
        return false;
    }
    note_iterations(r, run);
    return true;
}

static void add_errors(sheet *s, const erik_row *row)
{
    static const char *const names[3] = {"combined", "orientation", "posture x 0.2"};
    const evaluate_printed *p = row->printed;
    const evaluate_statistics *x[3] = {&row->results.error, &row->results.orientation, &row->results.posture};
    const double printed[3][2] = {
        {p->error, p->error_deviation}, {p->orientation, p->orientation_deviation}, {p->posture, p->posture_deviation}};
    for (int k = 0; k < 3; ++k) {
        sheet_text(s, row->problem == ERIK_C && row->run.solver == EVALUATE_ERIK ? "ERIK" : row->name);
        sheet_text(s, names[k]);
        sheet_number(s, or_nothing(printed[k][0]));
        sheet_number(s, x[k]->mean);
        sheet_number(s, or_nothing(printed[k][1]));
        sheet_number(s, evaluate_statistics_deviation(x[k]));
        sheet_number(s, x[k]->most);
        sheet_number(s, (double)x[k]->count);
    }
}

static bool print_skeletons(reproduce *r, const erik_run *run)
{
    static const sheet_column columns[] = {
        {.key = "skeleton", .head = "skeleton"},
        {.key = "combined", .head = "combined", .format = "%.4f"},
        {.key = "orientation", .head = "orientation", .format = "%.4f"},
        {.key = "posture", .head = "posture x 0.2", .format = "%.4f"},
        {.key = "reached_percent", .head = "<= 0.04 %", .format = "%.2f"},
        {.key = "aimed_percent", .head = "aimed %", .format = "%.2f"},
        {.key = "limits_broken", .head = "broken", .format = "%.0f"},
        {0},
    };
    sheet *s = sheet_create(columns);
    for (int i = 0; i < EVALUATE_SKELETONS; ++i) {
        const evaluate_results *x = &run->rows[i].results;
        double share = 100.0 / (double)x->error.count;
        sheet_text(s, run->rows[i].name);
        sheet_number(s, x->error.mean);
        sheet_number(s, x->orientation.mean);
        sheet_number(s, x->posture.mean);
        sheet_number(s, share * (double)x->reached);
        sheet_number(s, share * (double)x->aimed);
        sheet_number(s, (double)x->violations);
    }
    return reproduce_sheet(r, s, "ERIK on all skeletons, ours (the paper prints figures only)", "-skeletons");
}

bool erik_print_errors(reproduce *r, const experiment *e)
{
    static const sheet_column columns[] = {
        {.key = "solver", .head = "solver"},
        {.key = "error", .head = "error"},
        {.key = "printed_mean", .head = "mean", .format = "%.6f"},
        {.key = "mean", .head = "ours", .format = "%.6f"},
        {.key = "printed_deviation", .head = "SD", .format = "%.6f"},
        {.key = "deviation", .head = "ours", .format = "%.6f"},
        {.key = "most", .head = "max", .format = "%.4f"},
        {.key = "samples", .head = NULL, .format = "%.0f"},
        {0},
    };
    const erik_run *run = erik_results(r, true);
    sheet *s = run ? sheet_create(columns) : NULL;
    (void)e;
    if (!run) {
        return false;
    }
    add_errors(s, &run->rows[ERIK_C]);
    for (int i = ERIK_TWO_TASK; i < ERIK_NO_POSTURE; ++i) {
        add_errors(s, &run->rows[i]);
    }
    return reproduce_sheet(r, s, "Errors on skeleton C: printed, then ours", "") && print_skeletons(r, run) &&
           draw_errors(r, run);
}
