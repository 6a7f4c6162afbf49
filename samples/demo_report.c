// Terminal, table and files of the demonstration.
#define _POSIX_C_SOURCE 200809L

#include "demo.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

// ---- Terminal ------------------------------------------------------------------------------------------------------------

static bool has_terminal(void)
{
    const char *kind = getenv("TERM");
    return isatty(STDOUT_FILENO) && kind && strcmp(kind, "dumb") != 0;
}

// NO_COLOR, set to anything, turns colours off (https://no-color.org).
const char *style(const char *code)
{
    const char *none = getenv("NO_COLOR");
    return has_terminal() && !(none && none[0]) ? code : "";
}

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

progress progress_start(const char *job, const char *items, int total)
{
    return (progress){.job = job, .items = items, .total = total, .drawn = -1, .start = seconds(CLOCK_MONOTONIC)};
}

void progress_show(progress *p, int done)
{
    enum { CELLS = 30 };
    static const char full[CELLS + 1] = "##############################", rest[CELLS + 1] = "..............................";
    int cells = CELLS * done / p->total;
    if (cells == p->drawn || !has_terminal()) {
        return;
    }
    p->drawn = cells;
    double rate = done / fmax(seconds(CLOCK_MONOTONIC) - p->start, 1e-9);
    printf("\r%-16s %s%.*s%s%.*s%s %3d %% %8.0f %s/s%s", p->job, style("\033[36m"), cells, full, style("\033[90m"),
           CELLS - cells, rest, style("\033[0m"), 100 * done / p->total, rate, p->items, done == p->total ? "\n" : "");
    fflush(stdout);
}

// ---- Counting ------------------------------------------------------------------------------------------------------------

bool tally_solve(tally *t, const poise_model *model, poise_solver *solver, const poise_goal *goals, int count, double *q,
                 poise_report *report)
{
    double start = seconds(CLOCK_THREAD_CPUTIME_ID); // what others do on the machine does not count
    poise_status status = poise_solve(solver, goals, count, q, report);
    double end = seconds(CLOCK_THREAD_CPUTIME_ID);
    if (status != POISE_OK || t->count == REACHES) {
        fprintf(stderr, "demo: %s, number %d: %s\n", t->job, t->count + 1, poise_solver_error(solver));
        return false;
    }
    t->time[t->count++] = end - start;
    t->solved += report->outcome <= t->accept;
    t->outside += !poise_model_within_limits(model, q);
    return true;
}

void tally_error(tally *t, double error)
{
    t->error_sum += error;
    t->largest_error = fmax(t->largest_error, error);
    t->errors += 1;
}

double tally_mean(const tally *t)
{
    return t->errors ? t->error_sum / t->errors : INFINITY;
}

void print_head(void)
{
    printf("%s%-16s %-16s  %11s %11s  %9s %9s%s\n", style("\033[1m"), "job", "   solved", "mean error", "largest",
           "mean time", "p99", style("\033[0m"));
}

static int by_size(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

void print_row(tally *t)
{
    double total = 0;
    for (int i = 0; i < t->count; ++i) {
        total += t->time[i];
    }
    qsort(t->time, (size_t)t->count, sizeof *t->time, by_size);
    printf("%-16s %4d/%-4d %-6s  %7.3g %-3s %7.3g %-3s  %6.0f us %6.0f us\n", t->job, t->solved, t->count, t->items,
           tally_mean(t) * t->per_unit, t->unit, t->largest_error * t->per_unit, t->unit, 1e6 * total / t->count,
           1e6 * t->time[t->count * 99 / 100]);
}

// ---- Files ---------------------------------------------------------------------------------------------------------------

static bool complain(const char *what, const char *name)
{
    fprintf(stderr, "demo: cannot %s \"%s\": %s\n", what, name, strerror(errno));
    return false;
}

bool make_folder(const char *folder)
{
    return mkdir(folder, 0777) == 0 || errno == EEXIST || complain("make the folder", folder);
}

bool output_open(output *out, const char *folder, const char *name)
{
    int length = snprintf(out->name, sizeof out->name, "%s/%s", folder, name);
    if (length < 0 || length >= (int)sizeof out->name) {
        errno = ENAMETOOLONG;
        return complain("write into", folder);
    }
    snprintf(out->partial, sizeof out->partial, "%s.part", out->name);
    out->file = fopen(out->partial, "w");
    return out->file || complain("write", out->name);
}

bool output_close(output *out)
{
    bool good = !ferror(out->file);
    good = fclose(out->file) == 0 && good && rename(out->partial, out->name) == 0;
    if (!good) {
        complain("write", out->name);
        remove(out->partial);
    }
    return good;
}
