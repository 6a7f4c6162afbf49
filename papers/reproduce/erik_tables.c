// Ribeiro & Paiva 2019, section 4: the evaluation on skeletons A to G, and its Tables 8 and 9.
//
// A part is a range of samples; parts are run on all threads and put together in their order, so that the numbers do not
// depend on the number of threads or processes. In a full run the results of every part go to a file at once, one file for
// each process, and a run that was stopped goes on from there to the same bytes, with however many processes.
#include "reproduce.h"

#include "cli/programs.h"
#include "cli/terminal.h"
#include "system/system.h"

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define ORIENTATION_FINEST 12
#define BASELINE_SHARE     50 // baselines are slower by that much
#define POSTURES_PER_PART  50
#define SAMPLES_PER_PART   2500
#define SEED               2019

typedef struct part {
    const erik_row *row;
    int index; // of the row
    evaluate_range samples;
} part;

const char *const erik_colors[EVALUATE_SKELETONS] = {PLOT_GREY, PLOT_RED,  PLOT_ORANGE, PLOT_GREEN,
                                                     PLOT_SKY,  PLOT_BLUE, PLOT_PURPLE};

typedef struct work {
    part *parts;
    int count;
    evaluate_results *results;
    bool *done;   // in this run or an earlier one
    bool *mine;   // done by this process
    int before;   // how many were done in an earlier run
    int kept;     // those, and what this process has done since
    FILE *file;   // may be NULL
    bool is_kept; // all that was done is in the file
    const reproduce *r;
    pthread_mutex_t lock;
} work;

// ---- Problems ------------------------------------------------------------------------------------------------------------

void erik_run_destroy(struct erik_run *run)
{
    for (int i = 0; run && i < EVALUATE_SKELETONS; ++i) {
        evaluate_problem_destroy(run->problems[i]);
    }
    free(run);
}

static void name_rows(erik_run *run)
{
    for (int i = 0; i < EVALUATE_SKELETONS; ++i) {
        erik_row *row = &run->rows[i];
        row->problem = i;
        row->printed = &run->problems[i]->skeleton->printed;
        row->run = (evaluate_run){.solver = EVALUATE_ERIK, .now = reproduce_now};
        snprintf(row->name, sizeof row->name, "%c", run->problems[i]->skeleton->letter);
    }
    for (int i = ERIK_TWO_TASK; i < ERIK_ROWS; ++i) {
        erik_row *row = &run->rows[i];
        bool has_posture = i < ERIK_NO_POSTURE, as_printed = i >= ERIK_AS_PRINTED && has_posture;
        int most = has_posture ? 100 << ((i - ERIK_TWO_TASK) % 3) : 100;
        double filter = 3.0 * run->problems[ERIK_C]->options.threshold; // the paper's
        row->problem = ERIK_C;
        row->printed = has_posture ? evaluate_printed_two_task(most) : NULL;
        row->run = (evaluate_run){.solver = has_posture ? EVALUATE_TWO_TASK : EVALUATE_TWO_TASK_NO_POSTURE,
                                  .max_iterations = most,
                                  .correct_flip = true,
                                  .as_printed = as_printed,
                                  .filter = filter,
                                  .now = reproduce_now};
        snprintf(row->name, sizeof row->name, "DLS%d%s", most, !has_posture ? "_nopost" : as_printed ? " printed" : "");
    }
}

// Problems and rows of a setting, without results.
static erik_run *erik_make_run(const poise_erik_options *options)
{
    erik_run *run = needed(calloc(1, sizeof *run));
    for (int i = 0; i < EVALUATE_SKELETONS; ++i) {
        need(evaluate_problem_create(i, options, EVALUATE_YXZ, ORIENTATION_FINEST, &run->problems[i]) == POISE_OK);
    }
    name_rows(run);
    return run;
}

const erik_run *erik_problems(reproduce *r)
{
    poise_erik_options options = poise_erik_options_default();
    r->erik = r->erik ? r->erik : erik_make_run(&options);
    return r->erik;
}

// ---- Parts ---------------------------------------------------------------------------------------------------------------

// Skeleton A misses by much more than the others: its bins are wider.
static evaluate_results empty_results(const evaluate_problem *problem)
{
    evaluate_results results = evaluate_results_make();
    if (problem->skeleton->letter == 'A') {
        results.error = results.orientation = results.posture = evaluate_statistics_make(0.8);
    }
    return results;
}

static bool solve_samples(const part *p, evaluate_results *results)
{
    const evaluate_problem *problem = p->samples.problem;
    int64_t count = evaluate_range_count(&p->samples);
    poise_erik *erik;
    double q[EVALUATE_MOST_DIMENSIONS + 2];
    if (poise_erik_create(problem->model, &problem->options, NULL, &erik, NULL) != POISE_OK) {
        return false;
    }
    for (int64_t i = 0; i < count; ++i) {
        int64_t posture, orientation;
        evaluate_range_at(&p->samples, i, &posture, &orientation);
        evaluate_sample(problem, &p->row->run, erik, posture, orientation, q, results);
    }
    poise_erik_destroy(erik);
    return true;
}

// What Ctrl-C says from now on.
static void tell_place(const work *w)
{
    if (rank_leads()) {
        interrupt_words("poise: reproduce: stopped in %s; %d of %d parts are kept in %s.\nTo go on from there:\n  %s\n",
                        w->r->now->name, w->kept, w->count, w->r->out, w->r->again);
    }
}

static bool run_part(void *user, int index)
{
    work *w = user;
    const part *p = &w->parts[index];
    if (w->done[index]) {
        return true;
    }
    evaluate_results results = empty_results(p->samples.problem);
    if (!solve_samples(p, &results)) {
        return false;
    }
    pthread_mutex_lock(&w->lock);
    w->results[index] = results;
    w->done[index] = w->mine[index] = true;
    if (w->file) { // a machine that goes down takes nothing along
        evaluate_progress_write(w->file, index, &results);
        bool is_kept = system_flush(w->file) && !ferror(w->file);
        w->is_kept = is_kept && w->is_kept;
        w->kept += is_kept;
        tell_place(w);
    }
    pthread_mutex_unlock(&w->lock);
    return true;
}

// The parts of rows first to last - 1: all samples where `samples` is 0.
static void cut_into_parts(const erik_run *run, int first, int last, int64_t samples, work *w)
{
    for (int i = first; i < last; ++i) {
        const evaluate_problem *problem = run->problems[run->rows[i].problem];
        bool is_whole = samples == 0;
        int64_t whole = is_whole ? problem->posture_count : samples;
        int64_t size = is_whole ? POSTURES_PER_PART : SAMPLES_PER_PART;
        int count = (int)((whole + size - 1) / size);
        w->parts = needed(realloc(w->parts, (size_t)(w->count + count) * sizeof *w->parts));
        for (int k = 0; k < count; ++k) {
            int64_t from = k * size, to = from + size < whole ? from + size : whole;
            // fewer samples than postures are spread over all postures, which come in order of fineness
            int64_t stride = !is_whole && samples < problem->posture_count ? problem->posture_count / samples : 1;
            w->parts[w->count++] = (part){&run->rows[i], i, {problem, from, to, is_whole, stride, SEED}};
        }
    }
    w->results = needed(calloc((size_t)w->count + 1, sizeof *w->results));
    w->done = needed(calloc((size_t)w->count + 1, sizeof *w->done));
    w->mine = needed(calloc((size_t)w->count + 1, sizeof *w->mine));
}

// "NAME" or "NAME.3": the file of rank 0 or 3.
static bool is_progress(const char *file, const char *name)
{
    size_t length = strlen(name);
    if (strncmp(file, name, length) != 0) {
        return false;
    }
    const char *rank = file + length;
    return !*rank || (rank[0] == '.' && isdigit((unsigned char)rank[1]) && rank[1 + strspn(rank + 1, "0123456789")] == '\0');
}

// What earlier runs have left, in whatever number of files. The number of parts; -1 after one line on standard error.
static int read_progress(const reproduce *r, const char *file_name, const char *name, work *w)
{
    DIR *folder = opendir(r->out);
    int found = 0;
    for (struct dirent *entry; found >= 0 && folder && (entry = readdir(folder));) {
        char path[1024];
        if (!is_progress(entry->d_name, file_name)) {
            continue;
        }
        int more = path_join(path, sizeof path, r->out, entry->d_name)
                       ? evaluate_progress_read(path, name, w->count, w->results, w->done)
                       : -1;
        if (more < 0) {
            complain("%s: belongs to another run; remove it, or choose another folder with -o", path);
        }
        found = more < 0 ? -1 : found + more;
    }
    if (folder) {
        closedir(folder);
    }
    return found;
}

static FILE *append_progress(const reproduce *r, const char *file_name, const char *name)
{
    char path[1024], own[128];
    snprintf(own, sizeof own, rank_leads() ? "%s" : "%s.%d", file_name, ranks_current()->rank);
    FILE *file = path_join(path, sizeof path, r->out, own) ? evaluate_progress_append(path, name) : NULL;
    if (!file) {
        complain("%s: cannot be written", path);
    }
    return file;
}

// Together: rank 0 reads what there is and tells the others what is done; each opens its file for more.
static bool open_progress(const reproduce *r, const char *file_name, int64_t samples, work *w)
{
    char name[256];
    snprintf(name, sizeof name, "poise %s %s, %" PRId64 " samples, parts of %d and %d", poise_version(), file_name, samples,
             POSTURES_PER_PART, SAMPLES_PER_PART);
    int found = rank_leads() ? read_progress(r, file_name, name, w) : 0;
    if (!ranks_current()->agree(found >= 0)) {
        return false;
    }
    ranks_current()->share(w->done, (size_t)w->count * sizeof *w->done);
    w->file = append_progress(r, file_name, name);
    w->is_kept = true;
    w->before = w->kept = found > 0 ? found : 0;
    if (w->file) {
        tell_place(w);
    }
    if (found > 0 && !r->result) {
        printf("Going on: %d of %d parts are there from an earlier run.\n", found, w->count);
    }
    return ranks_current()->agree(w->file != NULL);
}

static void close_work(const reproduce *r, work *w)
{
    if (w->file && !w->is_kept) {
        warn("%s: not all parts could be kept there; a run that is stopped will do some again", r->out);
    }
    if (w->file) {
        fclose(w->file);
    }
    pthread_mutex_destroy(&w->lock);
    free(w->parts);
    free(w->results);
    free(w->done);
    free(w->mine);
}

// The results of rows first to last - 1, all samples where `samples` is 0; together, and the results are rank 0's.
static bool erik_run_rows(reproduce *r, erik_run *run, int first, int last, int64_t samples, const char *file_name)
{
    work w = {.r = r};
    pthread_mutex_init(&w.lock, NULL);
    cut_into_parts(run, first, last, samples, &w);
    bool works = (!r->is_full || open_progress(r, file_name, samples, &w)) &&
                 reproduce_shared_jobs(r, w.count, w.before, run_part, &w);
    if (works) {
        ranks_current()->collect(w.count, w.mine, w.results, sizeof *w.results);
    }
    for (int i = first; i < last && works; ++i) {
        run->rows[i].results = empty_results(run->problems[run->rows[i].problem]);
    }
    for (int i = 0; i < w.count && works; ++i) {
        evaluate_results_merge(&run->rows[w.parts[i].index].results, &w.results[i]);
    }
    close_work(r, &w);
    return works;
}

const erik_run *erik_results(reproduce *r, bool with_baselines)
{
    erik_problems(r);
    erik_run *run = r->erik;
    int64_t samples = r->samples > 0 ? r->samples : r->is_full ? 0 : ERIK_SAMPLES;
    int64_t baselines = samples > 0 ? (samples + BASELINE_SHARE - 1) / BASELINE_SHARE : 0;
    if (!run->has_erik) {
        run->has_erik = erik_run_rows(r, run, ERIK_A, ERIK_TWO_TASK, samples, "erik-evaluation.progress");
    }
    if (run->has_erik && with_baselines && !run->has_baselines) {
        run->has_baselines = erik_run_rows(r, run, ERIK_TWO_TASK, ERIK_ROWS, baselines, "erik-baselines.progress");
    }
    if (!run->has_erik || (with_baselines && !run->has_baselines) || !rank_leads()) {
        return NULL;
    }
    reproduce_note(r,
                   "%s%" PRId64 " sample%s of %s: postures in unions of grids as the paper has them, %" PRId64
                   " orientations R_y R_x R_z (the paper's 7609 are not known), one setting for all.%s",
                   samples > 0 ? "" : "All there are, ", run->rows[ERIK_C].results.error.count,
                   run->rows[ERIK_C].results.error.count == 1 ? "" : "s", samples > 0 ? "each skeleton" : "skeleton C",
                   run->problems[0]->orientation_count, samples > 0 && !r->is_full ? " --full takes them all." : "");
    return run;
}

// ---- Tables 8 and 9 ------------------------------------------------------------------------------------------------------
//
// Tables 8 and 9 of Ribeiro & Paiva 2019: printed, then ours.

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

static bool run_erik_table8(reproduce *r)
{
    const erik_run *run = erik_results(r, true);
    if (!run || !print_iterations(r, run) || !print_times(r, run) || !draw_iterations(r, run)) {
        return false;
    }
    note_iterations(r, run);
    return true;
}

const experiment erik_table8 = {.name = "erik-table8",
                                .title = "Iterations and time of ERIK and DLS",
                                .source = REPRODUCE_ERIK ", Table 8",
                                .run = run_erik_table8,
                                .is_shared = true};

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

static bool run_erik_table9(reproduce *r)
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

const experiment erik_table9 = {.name = "erik-table9",
                                .title = "Errors of ERIK and DLS on skeleton C",
                                .source = REPRODUCE_ERIK ", Table 9",
                                .run = run_erik_table9,
                                .is_shared = true};

// ---- What the paper leaves open ------------------------------------------------------------------------------------------
//
// What the paper does not print: how its numbers depend on the settings that it leaves open, and the one setting that fits
// them all.

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

static bool run_erik_aggravation(reproduce *r)
{
    erik_run *runs[AGGRAVATIONS] = {NULL};
    int64_t samples = r->samples > 0 ? r->samples : r->is_full ? 10 * ERIK_SAMPLES : ERIK_SAMPLES / 5;
    bool works = true;
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

const experiment erik_aggravation = {.name = "erik-aggravation",
                                     .title = "Errors and iterations against the aggravation",
                                     .source = REPRODUCE_ERIK ", eq. 21",
                                     .run = run_erik_aggravation,
                                     .is_shared = true};

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

static bool run_erik_fit(reproduce *r)
{
    int64_t samples = r->samples > 0 ? r->samples : r->is_full ? 10 * ERIK_SAMPLES : ERIK_SAMPLES / 5;
    reproduce_note(r,
                   "%" PRId64 " sample%s of each skeleton. The paper gives weights and threshold; the other settings were "
                   "searched on all its numbers together.",
                   samples, samples == 1 ? "" : "s");
    note_noise(r, samples);
    return print_around(r, samples);
}

const experiment erik_fit = {.name = "erik-fit",
                             .title = "The defaults against the printed numbers",
                             .source = REPRODUCE_ERIK ", Tables 8-9",
                             .run = run_erik_fit,
                             .is_shared = true};
