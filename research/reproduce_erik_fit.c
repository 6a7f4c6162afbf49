// What the paper does not print: how its numbers depend on the settings that it leaves open, and the one setting that fits
// them all.
#include "reproduce_erik.h"

#include "cli/ranks_seam.h"

#include <inttypes.h>
#include <math.h>

// ---- The aggravation -----------------------------------------------------------------------------------------------------

enum { AGGRAVATIONS = 4 };
static const double aggravations[AGGRAVATIONS] = {1.0, 1.25, 1.5, 2.0};

static bool print_aggravation(reproduce *r, erik_run *const *runs)
{
    static const sheet_column columns[] = {
        {.key = "skeleton", .head = "skeleton"},
        {.key = "printed_iterations", .head = "iter.", .format = "%.2f"},
        {.key = "iterations_1", .head = "1.0", .format = "%.2f"},
        {.key = "iterations_1.25", .head = "1.25", .format = "%.2f"},
        {.key = "iterations_1.5", .head = "1.5", .format = "%.2f"},
        {.key = "iterations_2", .head = "2.0", .format = "%.2f"},
        {.key = "printed_combined", .head = "error", .format = "%.4f"},
        {.key = "combined_1", .head = "1.0", .format = "%.4f"},
        {.key = "combined_1.25", .head = "1.25", .format = "%.4f"},
        {.key = "combined_1.5", .head = "1.5", .format = "%.4f"},
        {.key = "combined_2", .head = "2.0", .format = "%.4f"},
        {0},
    };
    sheet *s = sheet_create(columns);
    for (int i = 0; i < EVALUATE_SKELETONS; ++i) {
        const evaluate_printed *printed = runs[0]->rows[i].printed;
        sheet_text(s, runs[0]->rows[i].name);
        sheet_number(s, printed->iterations);
        for (int k = 0; k < AGGRAVATIONS; ++k) {
            sheet_number(s, runs[k]->rows[i].results.iterations.mean);
        }
        sheet_number(s, printed->error != 0.0 ? printed->error : NAN);
        for (int k = 0; k < AGGRAVATIONS; ++k) {
            sheet_number(s, runs[k]->rows[i].results.error.mean);
        }
    }
    return reproduce_sheet(r, s, "Mean iterations and combined error: printed, then ours at four aggravations", "");
}

static bool draw_aggravation(reproduce *r, erik_run *const *runs)
{
    plot *p = plot_create(r->now->title, "How much more a bend counts than the one before it; 1.46 is the default here",
                          reproduce_foot(r), 2, 1, 300.0, 230.0);
    for (int panel = 0; panel < 2; ++panel) {
        plot_panel(p, panel, 0,
                   &(plot_panel_options){.title = panel == 0 ? "combined error" : "iterations, % off the printed ones",
                                         .x = {.label = "aggravation", .from = 0.9, .to = 2.1, .step = 0.5},
                                         .y = {.from = panel == 0 ? 0.0 : -40.0, .to = panel == 0 ? 0.05 : 40.0}});
        for (int i = 1; i < EVALUATE_SKELETONS; ++i) {
            double y[AGGRAVATIONS];
            for (int k = 0; k < AGGRAVATIONS; ++k) {
                const erik_row *row = &runs[k]->rows[i];
                y[k] = panel == 0 ? row->results.error.mean
                                  : 100.0 * (row->results.iterations.mean / row->printed->iterations - 1.0);
            }
            plot_style look = {.color = erik_colors[i], .width = 2.0, .size = 6.0};
            plot_line(p, look, aggravations, y, AGGRAVATIONS, runs[0]->rows[i].name);
            plot_points(p, look, aggravations, y, AGGRAVATIONS, NULL);
        }
    }
    return reproduce_plot(r, p, "");
}

// Iterations vary by about their mean, so that a mean of n of them is off by 1/sqrt(n) of it.
static void note_noise(reproduce *r, int64_t samples)
{
    const int enough = ERIK_SAMPLES / 5;
    if (samples < enough) {
        reproduce_note(
            r, "So few are noisy: means of iterations move by some %.1f %% from draw to draw; --samples %d is enough.",
            100.0 / sqrt((double)samples), enough);
    }
}

bool erik_print_aggravation(reproduce *r, const experiment *e)
{
    erik_run *runs[AGGRAVATIONS] = {NULL};
    int64_t samples = r->samples > 0 ? r->samples : r->is_full ? 10 * ERIK_SAMPLES : ERIK_SAMPLES / 5;
    bool works = true;
    (void)e;
    reproduce_note(r, "%" PRId64 " sample%s of each skeleton. The paper does not give its aggravation.", samples,
                   samples == 1 ? "" : "s");
    note_noise(r, samples);
    for (int k = 0; k < AGGRAVATIONS && works; ++k) {
        char file[64];
        snprintf(file, sizeof file, "erik-aggravation-%g.progress", aggravations[k]);
        poise_erik_options options = poise_erik_options_default();
        options.aggravation = aggravations[k];
        runs[k] = erik_make_run(&options);
        works = erik_run_rows(r, runs[k], ERIK_A, ERIK_TWO_TASK, samples, file);
    }
    works = works && rank_leads() && print_aggravation(r, runs) && draw_aggravation(r, runs);
    for (int k = 0; k < AGGRAVATIONS; ++k) {
        erik_run_destroy(runs[k]);
    }
    return works;
}

// ---- The fit -------------------------------------------------------------------------------------------------------------

// What is compared: of each skeleton three numbers, and six of the errors of C.
static void add_fit(sheet *s, const char *run, const char *what, double printed, double ours)
{
    sheet_text(s, run);
    sheet_text(s, what);
    sheet_number(s, printed);
    sheet_number(s, ours);
    sheet_number(s, 100.0 * (ours / printed - 1.0));
}

static bool print_fit(reproduce *r, const erik_run *run)
{
    static const sheet_column columns[] = {
        {.key = "skeleton", .head = "skeleton"},
        {.key = "number", .head = "number"},
        {.key = "printed", .head = "printed", .format = "%.5g"},
        {.key = "ours", .head = "ours", .format = "%.5g"},
        {.key = "off_percent", .head = "off %", .format = "%+.1f"},
        {0},
    };
    sheet *s = sheet_create(columns);
    for (int i = 0; i < EVALUATE_SKELETONS; ++i) {
        const erik_row *row = &run->rows[i];
        const evaluate_printed *p = row->printed;
        add_fit(s, row->name, "iterations, mean", p->iterations, row->results.iterations.mean);
        add_fit(s, row->name, "iterations, SD", p->iterations_deviation,
                evaluate_statistics_deviation(&row->results.iterations));
        add_fit(s, row->name, "iterations, max", p->iterations_most, row->results.iterations.most);
    }
    const evaluate_results *x = &run->rows[ERIK_C].results;
    const evaluate_printed *p = run->rows[ERIK_C].printed;
    add_fit(s, "C", "combined error, mean", p->error, x->error.mean);
    add_fit(s, "C", "combined error, SD", p->error_deviation, evaluate_statistics_deviation(&x->error));
    add_fit(s, "C", "orientation, mean", p->orientation, x->orientation.mean);
    add_fit(s, "C", "orientation, SD", p->orientation_deviation, evaluate_statistics_deviation(&x->orientation));
    add_fit(s, "C", "posture x 0.2, mean", p->posture, x->posture.mean);
    add_fit(s, "C", "posture x 0.2, SD", p->posture_deviation, evaluate_statistics_deviation(&x->posture));
    return reproduce_sheet(r, s, "The defaults against the printed numbers", "");
}

// Of the orders that section 4 states, how many come out otherwise: combined and posture error fall from A or C by E, D and
// F to G; D aims better than F; G does not aim best.
static int orders_broken(const erik_run *run)
{
    enum { A, B, C, D, E, F, G };
    static const int order[] = {A, B, C, E, D, F, G};
    const erik_row *x = run->rows;
    int broken = x[D].results.orientation.mean >= x[F].results.orientation.mean;
    bool is_best = true;
    for (int i = 1; i < EVALUATE_SKELETONS; ++i) {
        const evaluate_results *worse = &x[order[i - 1]].results, *better = &x[order[i]].results;
        broken += better->error.mean >= worse->error.mean;
        broken += i > 2 && better->posture.mean >= worse->posture.mean;
        is_best = is_best && x[G].results.orientation.mean < x[order[i - 1]].results.orientation.mean;
    }
    return broken + is_best;
}

typedef struct setting {
    const char *name;
    double aggravation, precision, disturbance;
    int window;
} setting;

static void add_setting(sheet *s, const setting *t, const poise_erik_options *o, const erik_run *run)
{
    double worst = 0.0;
    for (int i = 0; i < EVALUATE_SKELETONS; ++i) {
        const erik_row *row = &run->rows[i];
        worst = fmax(worst, fabs(row->results.iterations.mean / row->printed->iterations - 1.0));
    }
    sheet_text(s, t->name);
    sheet_number(s, o->aggravation);
    sheet_number(s, o->precision);
    sheet_number(s, o->disturbance);
    sheet_number(s, o->window);
    sheet_number(s, 100.0 * worst);
    sheet_number(s, 100.0 * (run->rows[ERIK_C].results.error.mean / run->rows[ERIK_C].printed->error - 1.0));
    sheet_number(s, orders_broken(run));
}

// The settings around the one that was chosen: 0 is the default.
static bool print_around(reproduce *r, int64_t samples)
{
    static const sheet_column columns[] = {
        {.key = "setting", .head = "setting"},
        {.key = "aggravation", .head = "aggravation", .format = "%.4g"},
        {.key = "precision", .head = "precision", .format = "%.4g"},
        {.key = "disturbance", .head = "disturbance", .format = "%.4g"},
        {.key = "window", .head = "window", .format = "%.0f"},
        {.key = "worst_mean_percent", .head = "worst mean %", .format = "%.1f"},
        {.key = "combined_percent", .head = "C off %", .format = "%+.1f"},
        {.key = "orders_broken", .head = "orders broken", .format = "%.0f"},
        {0},
    };
    static const setting settings[] = {
        {"chosen", 0, 0, 0, 0},          {"aggravation -", 1.25, 0, 0, 0}, {"aggravation +", 1.75, 0, 0, 0},
        {"precision -", 0, 1e-4, 0, 0},  {"precision +", 0, 2e-3, 0, 0},   {"disturbance -", 0, 0, 0.02, 0},
        {"disturbance +", 0, 0, 0.1, 0}, {"window -", 0, 0, 0, 3},         {"window +", 0, 0, 0, 5},
    };
    sheet *s = sheet_create(columns);
    bool works = true;
    for (size_t i = 0; i < sizeof settings / sizeof settings[0] && works; ++i) {
        const setting *t = &settings[i];
        char file[64];
        poise_erik_options o = poise_erik_options_default();
        o.aggravation = t->aggravation > 0 ? t->aggravation : o.aggravation;
        o.precision = t->precision > 0 ? t->precision : o.precision;
        o.disturbance = t->disturbance > 0 ? t->disturbance : o.disturbance;
        o.window = t->window > 0 ? t->window : o.window;
        snprintf(file, sizeof file, "erik-fit-%d.progress", (int)i);
        erik_run *run = erik_make_run(&o);
        works = erik_run_rows(r, run, ERIK_A, ERIK_TWO_TASK, samples, file);
        works = works && (!rank_leads() || i > 0 || print_fit(r, run));
        if (works && rank_leads()) {
            add_setting(s, t, &o, run);
        }
        erik_run_destroy(run);
    }
    if (!works || !rank_leads()) {
        sheet_destroy(s);
        return works && !rank_leads();
    }
    return reproduce_sheet(r, s, "Settings around it: largest distance of a mean, error of C, orders of section 4",
                           "-around");
}

bool erik_print_fit(reproduce *r, const experiment *e)
{
    int64_t samples = r->samples > 0 ? r->samples : r->is_full ? 10 * ERIK_SAMPLES : ERIK_SAMPLES / 5;
    (void)e;
    reproduce_note(r,
                   "%" PRId64 " sample%s of each skeleton. The paper gives weights and threshold; the other settings were "
                   "searched on all its numbers together.",
                   samples, samples == 1 ? "" : "s");
    note_noise(r, samples);
    return print_around(r, samples);
}
