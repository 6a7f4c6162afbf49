// The evaluation of ERIK and of its baseline on skeletons A to G: the numbers of Tables 8 and 9 of Ribeiro & Paiva (2019),
// ours beside the printed ones.
//
// --full takes every posture at every orientation, 288,703,835 samples, and goes on where --progress left off. With
// --two-task or --peers, damped least squares with two tasks on skeleton C, with and without its filter. Same samples, same
// numbers, whatever the number of threads; only times differ.
#include "cli/terminal.h"
#include "suite.h"
#include "thread_pool.h"

#include <papers/reproduce/erik_evaluation.h>

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define ORIENTATION_FINEST 12
#define POSTURES_PER_PART  50   // --full
#define SAMPLES_PER_PART   5000 // otherwise
#define SEED               2019
#define MOST_ROWS          32

typedef struct settings {
    int samples, two_task;
    bool is_full;
    const char *skeletons, *progress, *csv;
    double aggravation;
    evaluate_angles angles;
} settings;

// A part of the work: postures or samples from `from` to `to` of a problem.
typedef struct part {
    const evaluate_problem *problem;
    const evaluate_run *run;
    int64_t from, to;
    bool is_full;
} part;

typedef struct work {
    const bench *bench;
    const part *parts;
    int count, finished;
    evaluate_results *results;
    bool *done;
    FILE *file; // may be NULL
    pthread_mutex_t lock;
} work;

// ---- Parts ---------------------------------------------------------------------------------------------------------------

static evaluate_results run_part(const part *p)
{
    evaluate_results results = evaluate_results_make();
    poise_erik *erik;
    double q[EVALUATE_MOST_DIMENSIONS + 2];
    if (poise_erik_create(p->problem->model, &p->problem->options, NULL, &erik, NULL) != POISE_OK) {
        return results;
    }
    for (int64_t i = p->from; i < p->to; ++i) {
        int64_t posture, orientation;
        if (!p->is_full) {
            evaluate_draw(p->problem, SEED, i, &posture, &orientation);
            evaluate_sample(p->problem, p->run, erik, posture, orientation, q, &results);
            continue;
        }
        for (orientation = 0; orientation < p->problem->orientation_count; ++orientation) {
            evaluate_sample(p->problem, p->run, erik, i, orientation, q, &results);
        }
    }
    poise_erik_destroy(erik);
    return results;
}

static void run_piece(void *user, int i, int worker)
{
    work *w = user;
    (void)worker;
    if (w->done[i]) {
        return;
    }
    evaluate_results results = run_part(&w->parts[i]);
    pthread_mutex_lock(&w->lock);
    w->results[i] = results;
    w->done[i] = true;
    if (w->file) {
        evaluate_progress_write(w->file, i, &results);
    }
    progress_show(++w->finished);
    pthread_mutex_unlock(&w->lock);
}

// ---- Tables --------------------------------------------------------------------------------------------------------------

// A row: results and what is printed for them.
typedef struct row {
    char name[24];
    const evaluate_printed *printed;
    evaluate_results results;
} row;

static double share(int64_t of, int64_t whole)
{
    return whole > 0 ? 100.0 * (double)of / (double)whole : 0.0;
}

// The paper leaves numbers out.
static double printed_or_none(double value)
{
    return value != 0.0 ? value : NAN;
}

static const char *skeleton_of(const row *r)
{
    return strlen(r->name) == 1 ? r->name : "C";
}

static const char *method_of(const row *r)
{
    return strlen(r->name) == 1 ? "erik" : r->name;
}

static void add_iterations(const bench *b, const row *rows, int count)
{
    static const report_column columns[] = {{"samples", "samples", 0, REPORT_FIXED, true},
                                            {"solved", "solved %", 1, REPORT_FIXED, false},
                                            {"aimed", "aimed %", 1, REPORT_FIXED, false},
                                            {"iterations", "iter. mean", 2, REPORT_FIXED, false},
                                            {"iterations_deviation", "iter. SD", 2, REPORT_FIXED, true},
                                            {"iterations_max", "iter. max", 0, REPORT_FIXED, false},
                                            {"printed_iterations", "paper mean", 2, REPORT_FIXED, false},
                                            {"printed_deviation", "paper SD", 2, REPORT_FIXED, true},
                                            {"printed_max", "paper max", 0, REPORT_FIXED, true},
                                            {"us_mean", "us mean", 1, REPORT_FIXED, false},
                                            {"us_deviation", "us SD", 1, REPORT_FIXED, true},
                                            {"printed_ms", "paper ms", 0, REPORT_FIXED, false},
                                            {"ratio", "ratio", 1, REPORT_RATIO, false}};
    static const report_table heads = {"iterations",
                                       "Iterations and time beside the paper's Table 8; solved: error up to 0.04",
                                       "skeleton", columns, (int)(sizeof columns / sizeof columns[0])};
    static const report_race race = {"solved", 0.0, {"us_mean"}};
    report_begin_race(b->report, &heads, &race);
    for (int i = 0; i < count; ++i) {
        const evaluate_results *r = &rows[i].results;
        const evaluate_statistics *n = &r->iterations, *t = &r->time;
        const evaluate_printed *p = rows[i].printed;
        report_row(b->report, skeleton_of(&rows[i]), method_of(&rows[i]),
                   REPORT_VALUES((double)n->count, share(r->reached, r->error.count), share(r->aimed, r->error.count),
                                 n->mean, evaluate_statistics_deviation(n), n->most, printed_or_none(p->iterations),
                                 printed_or_none(p->iterations_deviation), printed_or_none(p->iterations_most), t->mean,
                                 evaluate_statistics_deviation(t), printed_or_none(p->milliseconds)));
    }
}

static void add_errors(const bench *b, const row *rows, int count)
{
    static const report_column columns[] = {{"error", "comb. mean", 4, REPORT_FIXED, false},
                                            {"error_deviation", "comb. SD", 4, REPORT_FIXED, true},
                                            {"error_max", "comb. max", 4, REPORT_FIXED, true},
                                            {"error_orientation", "orient. mean", 4, REPORT_FIXED, false},
                                            {"error_orientation_deviation", "orient. SD", 4, REPORT_FIXED, true},
                                            {"error_orientation_max", "orient. max", 4, REPORT_FIXED, true},
                                            {"error_posture", "posture mean", 4, REPORT_FIXED, false},
                                            {"error_posture_deviation", "posture SD", 4, REPORT_FIXED, true},
                                            {"error_posture_max", "posture max", 4, REPORT_FIXED, true},
                                            {"printed_error", "paper comb.", 4, REPORT_FIXED, false},
                                            {"printed_error_deviation", "paper SD", 4, REPORT_FIXED, true},
                                            {"printed_orientation", "paper orient.", 4, REPORT_FIXED, false},
                                            {"printed_orientation_deviation", "paper SD", 4, REPORT_FIXED, true},
                                            {"printed_posture", "paper posture", 4, REPORT_FIXED, false},
                                            {"printed_posture_deviation", "paper SD", 4, REPORT_FIXED, true},
                                            {"violations", "out- side", 0, REPORT_FIXED, false},
                                            {"left_out", "left out", 0, REPORT_FIXED, true}};
    static const report_table heads = {"errors", "Errors beside the paper's Table 9; the posture's weighted by 0.2",
                                       "skeleton", columns, (int)(sizeof columns / sizeof columns[0])};
    report_begin_table(b->report, &heads);
    for (int i = 0; i < count; ++i) {
        const evaluate_results *r = &rows[i].results;
        const evaluate_printed *p = rows[i].printed;
        const evaluate_statistics *s[3] = {&r->error, &r->orientation, &r->posture};
        const double printed[6] = {p->error,   p->error_deviation,  p->orientation, p->orientation_deviation,
                                   p->posture, p->posture_deviation};
        double values[17];
        for (int k = 0; k < 3; ++k) {
            values[3 * k] = s[k]->mean;
            values[3 * k + 1] = evaluate_statistics_deviation(s[k]);
            values[3 * k + 2] = s[k]->most;
            values[9 + 2 * k] = printed_or_none(printed[2 * k]);
            values[10 + 2 * k] = printed_or_none(printed[2 * k + 1]);
        }
        values[15] = (double)r->violations;
        values[16] = (double)r->left_out;
        report_row(b->report, skeleton_of(&rows[i]), method_of(&rows[i]), 17, values);
        report_promise(b->report, r->violations == 0, "%s: %lld answers outside the limits", rows[i].name,
                       (long long)r->violations);
    }
}

static FILE *open_csv(const char *folder, const char *name, const char *head)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    if (!file) {
        bench_fail("cannot write %s", path);
    }
    fprintf(file, "%s\n", head);
    return file;
}

static void write_csv(const char *folder, const row *rows, int count)
{
    static const char *const names[5] = {"combined", "orientation", "posture", "iterations", "microseconds"};
    FILE *file = open_csv(folder, "expressive.csv",
                          "run,measure,samples,mean,deviation,least,most,reached,aimed,violations,left_out");
    FILE *bins = open_csv(folder, "expressive_histograms.csv", "run,measure,from,to,count");
    for (int i = 0; i < count; ++i) {
        const evaluate_results *r = &rows[i].results;
        const evaluate_statistics *all[5] = {&r->error, &r->orientation, &r->posture, &r->iterations, &r->time};
        for (int k = 0; k < 5; ++k) {
            const evaluate_statistics *s = all[k];
            fprintf(file, "%s,%s,%lld,%.9g,%.9g,%.9g,%.9g,%lld,%lld,%lld,%lld\n", rows[i].name, names[k],
                    (long long)s->count, s->mean, evaluate_statistics_deviation(s), s->least, s->most, (long long)r->reached,
                    (long long)r->aimed, (long long)r->violations, (long long)r->left_out);
            for (int bin = 0; bin <= EVALUATE_BINS; ++bin) {
                fprintf(bins, "%s,%s,%.6g,%.6g,%lld\n", rows[i].name, names[k], bin * s->width,
                        bin < EVALUATE_BINS ? (bin + 1) * s->width : HUGE_VAL, (long long)s->bins[bin]);
            }
        }
    }
    fclose(file);
    fclose(bins);
}

// ---- Runs ----------------------------------------------------------------------------------------------------------------

// What is to be run: rows, and the parts of each.
typedef struct plan {
    evaluate_problem *problems[EVALUATE_SKELETONS];
    evaluate_run runs[MOST_ROWS];
    row rows[MOST_ROWS];
    int row_count;
    part *parts;
    int *row_of;
    int part_count;
} plan;

static void add_row(plan *p, const settings *s, const evaluate_problem *problem, evaluate_run run, int64_t samples,
                    const evaluate_printed *printed, const char *name)
{
    int r = p->row_count++;
    p->runs[r] = run;
    p->rows[r].printed = printed;
    p->rows[r].results = evaluate_results_make();
    snprintf(p->rows[r].name, sizeof p->rows[r].name, "%s", name);
    bool is_full = s->is_full && run.solver == EVALUATE_ERIK;
    int64_t whole = is_full ? problem->posture_count : samples, size = is_full ? POSTURES_PER_PART : SAMPLES_PER_PART;
    int count = (int)((whole + size - 1) / size);
    p->parts = realloc(p->parts, (size_t)(p->part_count + count) * sizeof *p->parts);
    p->row_of = realloc(p->row_of, (size_t)(p->part_count + count) * sizeof *p->row_of);
    if (!p->parts || !p->row_of) {
        bench_fail("out of memory");
    }
    for (int i = 0; i < count; ++i) {
        int64_t from = i * size, to = from + size < whole ? from + size : whole;
        p->parts[p->part_count] = (part){problem, &p->runs[r], from, to, is_full};
        p->row_of[p->part_count++] = r;
    }
}

static void add_two_tasks(plan *p, const settings *s)
{
    static const struct {
        const char *name;
        bool flip, filter;
    } kinds[] = {{"", false, false}, {" filter", false, true}, {" flip", true, true}};
    for (int caps = 100; caps <= 400; caps *= 2) {
        for (int k = 0; k < 3; ++k) {
            char name[24];
            evaluate_run run = {.solver = EVALUATE_TWO_TASK,
                                .max_iterations = caps,
                                .correct_flip = kinds[k].flip,
                                .filter = kinds[k].filter ? 3 * 0.04 : 0.0,
                                .now = bench_now};
            snprintf(name, sizeof name, "2 tasks %d%s", caps, kinds[k].name);
            add_row(p, s, p->problems[2], run, s->two_task, evaluate_printed_two_task(caps), name);
        }
    }
}

static void make_plan(const settings *s, plan *p)
{
    poise_erik_options options = poise_erik_options_default();
    options.aggravation = s->aggravation;
    for (int i = 0; i < EVALUATE_SKELETONS; ++i) {
        if (evaluate_problem_create(i, &options, s->angles, ORIENTATION_FINEST, &p->problems[i]) != POISE_OK) {
            bench_fail("no skeleton %d", i);
        }
        const evaluate_skeleton *skeleton = p->problems[i]->skeleton;
        if (strchr(s->skeletons, skeleton->letter)) {
            char name[2] = {skeleton->letter, '\0'};
            add_row(p, s, p->problems[i], (evaluate_run){.solver = EVALUATE_ERIK, .now = bench_now}, s->samples,
                    &skeleton->printed, name);
        }
    }
    if (s->two_task > 0 && strchr(s->skeletons, 'C')) { // beside ERIK
        add_two_tasks(p, s);
    }
}

// Finished parts of the same run, from the file that keeps them.
static void take_progress(const settings *s, work *w)
{
    char name[256];
    snprintf(name, sizeof name, "expressive 1 full %d samples %d skeletons %s aggravation %g angles %d two-task %d",
             s->is_full, s->samples, s->skeletons, s->aggravation, (int)s->angles, s->two_task);
    w->finished = evaluate_progress_read(s->progress, name, w->count, w->results, w->done);
    if (w->finished < 0 || !(w->file = evaluate_progress_append(s->progress, name))) {
        bench_fail("%s: %s", s->progress, w->finished < 0 ? "is of another run" : "cannot be written");
    }
}

static void run_plan(const bench *b, const settings *s, plan *p)
{
    work w = {.bench = b, .parts = p->parts, .count = p->part_count};
    crew c = {.threads = bench_threads(b)};
    w.results = bench_take((size_t)p->part_count, sizeof *w.results);
    w.done = bench_take((size_t)p->part_count, sizeof *w.done);
    if (s->progress) {
        take_progress(s, &w);
    }
    pthread_mutex_init(&w.lock, NULL);
    progress_start("erik", "parts", w.count);
    progress_resume(w.finished);
    crew_run(&c, w.count, run_piece, &w);
    progress_end();
    pthread_mutex_destroy(&w.lock);
    for (int i = 0; i < w.count; ++i) {
        evaluate_results_merge(&p->rows[p->row_of[i]].results, &w.results[i]);
    }
    if (w.file) {
        fclose(w.file);
    }
    free(w.results);
    free(w.done);
}

static settings read_settings(const bench *b)
{
    settings s = {.samples = bench_number(b, "--samples", 50000, 300),
                  .two_task = bench_number(b, "--two-task", b->with_peers ? 2000 : 0, b->with_peers ? 10 : 0),
                  .is_full = bench_flag(b, "--full"),
                  .skeletons = bench_text(b, "--skeletons", "ABCDEFG"),
                  .progress = bench_text(b, "--progress", NULL),
                  .csv = bench_text(b, "--csv", NULL),
                  .aggravation = poise_erik_options_default().aggravation};
    const char *aggravation = bench_text(b, "--aggravation", NULL);
    s.aggravation = aggravation ? atof(aggravation) : s.aggravation;
    const char *angles = bench_text(b, "--angles", "yxz");
    s.angles = strcmp(angles, "yxy") == 0 ? EVALUATE_YXY : EVALUATE_YXZ;
    if (strcmp(angles, "yxy") != 0 && strcmp(angles, "yxz") != 0) {
        bench_fail("--angles is yxz or yxy");
    }
    return s;
}

void suite_erik(const bench *b)
{
    settings s = read_settings(b);
    plan *p = bench_take(1, sizeof *p);
    make_plan(&s, p);
    report_note(b->report, "Postures in unions of grids, %lld orientations (%s), aggravation %g.",
                (long long)p->problems[0]->orientation_count, s.angles == EVALUATE_YXZ ? "R_y R_x R_z" : "R_y R_x R_y",
                s.aggravation);
    run_plan(b, &s, p);
    if (bench_wants(b, "iterations")) {
        add_iterations(b, p->rows, p->row_count);
    }
    if (bench_wants(b, "errors")) {
        add_errors(b, p->rows, p->row_count);
    }
    if (s.csv) {
        write_csv(s.csv, p->rows, p->row_count);
    }
    for (int i = 0; i < EVALUATE_SKELETONS; ++i) {
        evaluate_problem_destroy(p->problems[i]);
    }
    free(p->parts);
    free(p->row_of);
    free(p);
}
