// The evaluation of ERIK and of its rival on skeletons A to G: the numbers of Tables 8 and 9 of Ribeiro & Paiva (2019),
// ours beside the printed ones.
//
//   bench_erik [--samples N] [--full] [--skeletons ABCDEFG] [--aggravation X] [--angles yxz|yxy] [--two-task N]
//              [--threads N] [--progress FILE] [--csv FOLDER]
//
// By default 100,000 samples of each skeleton. --full takes every posture at every orientation, 288,703,835 samples, and
// goes on where --progress left off. --two-task N adds damped least squares with two tasks on skeleton C, with and without
// its filter, on N samples. Same samples, same numbers, whatever the number of threads; only times differ.
#define _POSIX_C_SOURCE 200809L

#include "bench.h"

#include <evaluate/progress.h>

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ORIENTATION_FINEST 12
#define POSTURES_PER_PART  50   // --full
#define SAMPLES_PER_PART   5000 // otherwise
#define SEED               2019

typedef struct settings {
    int64_t samples;
    bool is_full;
    const char *skeletons;
    double aggravation;
    evaluate_angles angles;
    int64_t two_task;
    int threads;
    const char *progress, *csv;
} settings;

// A part of the work: postures or samples from `from` to `to` of a problem.
typedef struct part {
    const evaluate_problem *problem;
    const evaluate_run *run;
    int64_t from, to;
    bool is_full;
} part;

typedef struct work {
    const part *parts;
    int count, next;
    evaluate_results *results;
    bool *done;
    FILE *file; // may be NULL
    pthread_mutex_t lock;
    double start;
} work;

// For the run as a whole; samples are timed by the CPU time of their thread, whose clock costs 0.3 us of what it measures.
static double wall_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

// ---- Parts and threads ---------------------------------------------------------------------------------------------------

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

static void show_progress(const work *w, int done)
{
    if (isatty(STDERR_FILENO)) {
        fprintf(stderr, "\r%d of %d parts, %.0f s ", done, w->count, (wall_now() - w->start) * 1e-9);
    }
}

static void *work_on(void *user)
{
    work *w = user;
    pthread_mutex_lock(&w->lock);
    while (w->next < w->count) {
        int i = w->next++;
        if (w->done[i]) {
            continue;
        }
        pthread_mutex_unlock(&w->lock);
        evaluate_results results = run_part(&w->parts[i]);
        pthread_mutex_lock(&w->lock);
        w->results[i] = results;
        w->done[i] = true;
        if (w->file) {
            evaluate_progress_write(w->file, i, &results);
        }
        show_progress(w, i + 1);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static bool run_parts(work *w, int threads)
{
    pthread_t thread[64];
    int started = 0;
    pthread_mutex_init(&w->lock, NULL);
    w->start = wall_now();
    while (started < threads - 1 && started < 64 && pthread_create(&thread[started], NULL, work_on, w) == 0) {
        started += 1;
    }
    work_on(w);
    for (int i = 0; i < started; ++i) {
        pthread_join(thread[i], NULL);
    }
    pthread_mutex_destroy(&w->lock);
    if (isatty(STDERR_FILENO)) {
        fprintf(stderr, "\r                                \r");
    }
    return true;
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

static void print_printed(double value, int width, int digits)
{
    if (value != 0.0) {
        printf(" %*.*f", width, digits, value);
    } else {
        printf(" %*s", width, "-");
    }
}

static void print_runs(const row *rows, int count)
{
    printf("\nTable 8: iterations and time (printed numbers in brackets)\n");
    printf("%-12s %11s %6s %6s %4s   (%6s %6s %4s)  %6s %9s %9s (%8s)\n", "", "samples", "mean", "SD", "max", "mean", "SD",
           "max", "diff %", "us mean", "us SD", "ms");
    for (int i = 0; i < count; ++i) {
        const evaluate_statistics *n = &rows[i].results.iterations, *t = &rows[i].results.time;
        const evaluate_printed *p = rows[i].printed;
        printf("%-12s %11lld %6.2f %6.2f %4.0f   (%6.2f %6.2f %4.0f)  %+6.1f %9.1f %9.1f (%8.0f)\n", rows[i].name,
               (long long)n->count, n->mean, evaluate_statistics_deviation(n), n->most, p->iterations,
               p->iterations_deviation, p->iterations_most, 100.0 * (n->mean / p->iterations - 1.0), t->mean,
               evaluate_statistics_deviation(t), p->milliseconds);
    }
}

static void print_errors(const row *rows, int count)
{
    printf("\nTable 9: errors, mean / SD / max, and the printed mean and SD; posture weighted\n");
    printf("%-12s %-24s %-17s %-24s %-17s %-24s %-17s %6s %7s %5s\n", "", "combined", "printed", "orientation", "printed",
           "posture", "printed", "ok %", "aimed %", "viol.");
    for (int i = 0; i < count; ++i) {
        const evaluate_results *r = &rows[i].results;
        const evaluate_printed *p = rows[i].printed;
        const evaluate_statistics *s[3] = {&r->error, &r->orientation, &r->posture};
        const double printed[3][2] = {
            {p->error, p->error_deviation}, {p->orientation, p->orientation_deviation}, {p->posture, p->posture_deviation}};
        printf("%-12s", rows[i].name);
        for (int k = 0; k < 3; ++k) {
            printf(" %.5f %.5f %.4f ", s[k]->mean, evaluate_statistics_deviation(s[k]), s[k]->most);
            print_printed(printed[k][0], 8, 5);
            print_printed(printed[k][1], 8, 5);
        }
        printf(" %6.2f %7.2f %5lld\n", share(r->reached, r->error.count), share(r->aimed, r->error.count),
               (long long)r->violations);
    }
}

static void write_csv(const char *folder, const row *rows, int count)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/expressive.csv", folder);
    FILE *file = fopen(path, "w");
    snprintf(path, sizeof path, "%s/expressive_histograms.csv", folder);
    FILE *bins = fopen(path, "w");
    if (!file || !bins) {
        fprintf(stderr, "cannot write to %s\n", folder);
    }
    static const char *const names[5] = {"combined", "orientation", "posture", "iterations", "microseconds"};
    if (file) {
        fprintf(file, "run,measure,samples,mean,deviation,least,most,reached,aimed,violations,left_out\n");
    }
    if (bins) {
        fprintf(bins, "run,measure,from,to,count\n");
    }
    for (int i = 0; i < count; ++i) {
        const evaluate_results *r = &rows[i].results;
        const evaluate_statistics *all[5] = {&r->error, &r->orientation, &r->posture, &r->iterations, &r->time};
        for (int k = 0; k < 5; ++k) {
            const evaluate_statistics *s = all[k];
            if (file) {
                fprintf(file, "%s,%s,%lld,%.9g,%.9g,%.9g,%.9g,%lld,%lld,%lld,%lld\n", rows[i].name, names[k],
                        (long long)s->count, s->mean, evaluate_statistics_deviation(s), s->least, s->most,
                        (long long)r->reached, (long long)r->aimed, (long long)r->violations, (long long)r->left_out);
            }
            for (int b = 0; b <= EVALUATE_BINS && bins; ++b) {
                fprintf(bins, "%s,%s,%.6g,%.6g,%lld\n", rows[i].name, names[k], b * s->width,
                        b < EVALUATE_BINS ? (b + 1) * s->width : HUGE_VAL, (long long)s->bins[b]);
            }
        }
    }
    if (file) {
        fclose(file);
    }
    if (bins) {
        fclose(bins);
    }
}

// ---- Runs ----------------------------------------------------------------------------------------------------------------

#define MOST_ROWS 32

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
        fprintf(stderr, "out of memory\n");
        exit(EXIT_FAILURE);
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
    } kinds[] = {{"", false, false}, {" filter", false, true}, {" flip+filt", true, true}};
    for (int caps = 100; caps <= 400; caps *= 2) {
        for (int k = 0; k < 3; ++k) {
            char name[24];
            evaluate_run run = {EVALUATE_TWO_TASK, caps, kinds[k].flip, kinds[k].filter ? 3 * 0.04 : 0.0, bench_now};
            snprintf(name, sizeof name, "%d%s", caps, kinds[k].name);
            add_row(p, s, p->problems[2], run, s->two_task, evaluate_printed_two_task(caps), name);
        }
    }
}

static bool make_plan(const settings *s, plan *p)
{
    poise_erik_options options = poise_erik_options_default();
    options.aggravation = s->aggravation;
    for (int i = 0; i < EVALUATE_SKELETONS; ++i) {
        if (evaluate_problem_create(i, &options, s->angles, ORIENTATION_FINEST, &p->problems[i]) != POISE_OK) {
            return false;
        }
        const evaluate_skeleton *skeleton = p->problems[i]->skeleton;
        if (strchr(s->skeletons, skeleton->letter)) {
            char name[2] = {skeleton->letter, '\0'};
            add_row(p, s, p->problems[i], (evaluate_run){.solver = EVALUATE_ERIK, .now = bench_now}, s->samples,
                    &skeleton->printed, name);
        }
    }
    if (s->two_task > 0) {
        add_two_tasks(p, s);
    }
    return true;
}

static bool run_plan(const settings *s, plan *p)
{
    char name[256];
    work w = {.parts = p->parts, .count = p->part_count};
    snprintf(name, sizeof name, "expressive 1 full %d samples %lld skeletons %s aggravation %g angles %d two-task %lld",
             s->is_full, (long long)s->samples, s->skeletons, s->aggravation, (int)s->angles, (long long)s->two_task);
    w.results = calloc((size_t)p->part_count + 1, sizeof *w.results);
    w.done = calloc((size_t)p->part_count + 1, sizeof *w.done);
    if (!w.results || !w.done) {
        return false;
    }
    if (s->progress) {
        int found = evaluate_progress_read(s->progress, name, w.count, w.results, w.done);
        if (found < 0 || !(w.file = evaluate_progress_append(s->progress, name))) {
            fprintf(stderr, "%s: %s\n", s->progress, found < 0 ? "is of another run" : "cannot be written");
            return false;
        }
        if (found > 0) {
            fprintf(stderr, "%d of %d parts were there\n", found, w.count);
        }
    }
    run_parts(&w, s->threads);
    for (int i = 0; i < w.count; ++i) {
        evaluate_results_merge(&p->rows[p->row_of[i]].results, &w.results[i]);
    }
    printf("%.0f s, %d threads, postures in unions of grids, %lld orientations (%s), aggravation %g\n",
           (wall_now() - w.start) * 1e-9, s->threads, (long long)p->problems[0]->orientation_count,
           s->angles == EVALUATE_YXZ ? "R_y R_x R_z" : "R_y R_x R_y", s->aggravation);
    if (w.file) {
        fclose(w.file);
    }
    free(w.results);
    free(w.done);
    return true;
}

static const char *value_of(int count, char **arguments, int *i)
{
    if (*i + 1 >= count) {
        fprintf(stderr, "%s needs a value\n", arguments[*i]);
        exit(EXIT_FAILURE);
    }
    return arguments[++*i];
}

static settings read_arguments(int count, char **arguments)
{
    settings s = {.samples = 100000, .skeletons = "ABCDEFG", .aggravation = poise_erik_options_default().aggravation};
    s.threads = (int)sysconf(_SC_NPROCESSORS_ONLN);
    for (int i = 1; i < count; ++i) {
        const char *name = arguments[i];
        if (strcmp(name, "--full") == 0) {
            s.is_full = true;
        } else if (strcmp(name, "--samples") == 0) {
            s.samples = atoll(value_of(count, arguments, &i));
        } else if (strcmp(name, "--skeletons") == 0) {
            s.skeletons = value_of(count, arguments, &i);
        } else if (strcmp(name, "--aggravation") == 0) {
            s.aggravation = atof(value_of(count, arguments, &i));
        } else if (strcmp(name, "--angles") == 0) {
            s.angles = strcmp(value_of(count, arguments, &i), "yxy") == 0 ? EVALUATE_YXY : EVALUATE_YXZ;
        } else if (strcmp(name, "--two-task") == 0) {
            s.two_task = atoll(value_of(count, arguments, &i));
        } else if (strcmp(name, "--threads") == 0) {
            s.threads = atoi(value_of(count, arguments, &i));
        } else if (strcmp(name, "--progress") == 0) {
            s.progress = value_of(count, arguments, &i);
        } else if (strcmp(name, "--csv") == 0) {
            s.csv = value_of(count, arguments, &i);
        } else {
            fprintf(stderr, "bench_erik does not know %s; see the head of bench_erik.c\n", name);
            exit(EXIT_FAILURE);
        }
    }
    return s;
}

int main(int count, char **arguments)
{
    settings s = read_arguments(count, arguments);
    plan p = {.row_count = 0};
    bench_print_machine();
    if (!make_plan(&s, &p) || !run_plan(&s, &p)) {
        fprintf(stderr, "the evaluation could not be run\n");
        return EXIT_FAILURE;
    }
    print_runs(p.rows, p.row_count);
    print_errors(p.rows, p.row_count);
    if (s.csv) {
        write_csv(s.csv, p.rows, p.row_count);
    }
    for (int i = 0; i < EVALUATE_SKELETONS; ++i) {
        evaluate_problem_destroy(p.problems[i]);
    }
    free(p.parts);
    free(p.row_of);
    return EXIT_SUCCESS;
}
