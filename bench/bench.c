#define _POSIX_C_SOURCE 200809L

#include "bench.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WINDOW_NS 200e3 // one window: long against the clock's own 0.3 us, short against a time slice
#define WINDOWS   60
#define ENOUGH    5   // windows, once a race has taken RACE_NS
#define RACE_NS   2e9 // of CPU time

#ifndef POISE_BENCH_FLAGS
#define POISE_BENCH_FLAGS ""
#endif

static volatile double sink;
static bool hurries;

void bench_use(double value)
{
    sink = value;
}

void bench_hurry(void)
{
    hurries = true;
}

_Noreturn void bench_fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "poise-bench: ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    exit(2);
}

void *bench_take(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    if (!memory) {
        bench_fail("out of memory");
    }
    return memory;
}

// ---- Clocks --------------------------------------------------------------------------------------------------------------

static double read_clock(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

double bench_now(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

double bench_wall(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

static double window(bench_work work, void *user, int calls, int *round)
{
    double start = bench_now();
    for (int i = 0; i < calls; ++i) {
        work(user, (*round)++);
    }
    return (bench_now() - start) / calls;
}

// Calls that fill a window.
static int calls_for(bench_work work, void *user, int *round)
{
    int calls = 1;
    while (window(work, user, calls, round) * calls < WINDOW_NS && calls < 1 << 24) {
        calls *= 2;
    }
    return calls;
}

void bench_race(const bench_work *works, void *const *users, int count, double *ns)
{
    int calls[16], round = 0, most = hurries ? 2 : WINDOWS;
    double start = bench_now();
    for (int k = 0; k < count; ++k) {
        calls[k] = calls_for(works[k], users[k], &round);
        ns[k] = INFINITY;
    }
    for (int w = 0; w < most && (w < ENOUGH || bench_now() - start < RACE_NS); ++w) {
        for (int k = 0; k < count; ++k) {
            ns[k] = fmin(ns[k], window(works[k], users[k], calls[k], &round));
        }
    }
}

// ---- Percentiles ---------------------------------------------------------------------------------------------------------

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

bench_times bench_times_of(double *us, int count)
{
    if (count < 1) {
        return (bench_times){NAN, NAN, NAN, NAN};
    }
    bench_times t = {.mean = 0.0};
    qsort(us, (size_t)count, sizeof *us, by_size);
    for (int i = 0; i < count; ++i) {
        t.mean += us[i] / count;
    }
    t.p50 = us[count / 2];
    t.p99 = us[(int)(0.99 * count)];
    t.most = us[count - 1];
    return t;
}

// ---- The machine ---------------------------------------------------------------------------------------------------------

static void read_processor(char *name, size_t size)
{
    FILE *info = fopen("/proc/cpuinfo", "r");
    char line[256];
    snprintf(name, size, "unknown processor");
    while (info && fgets(line, sizeof line, info)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon) {
            snprintf(name, size, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
            break;
        }
    }
    if (info) {
        fclose(info);
    }
}

static int processors(void)
{
#ifdef _SC_NPROCESSORS_ONLN
    return (int)sysconf(_SC_NPROCESSORS_ONLN);
#else
    const char *count = getenv("NUMBER_OF_PROCESSORS"); // Windows
    return count ? atoi(count) : 1;
#endif
}

bench_machine bench_machine_now(void)
{
    bench_machine m = {.cores = processors()};
    time_t now = time(NULL);
    struct tm utc;
    read_processor(m.processor, sizeof m.processor);
    strftime(m.date, sizeof m.date, "%Y-%m-%d", gmtime_r(&now, &utc));
#if defined(__clang__)
    snprintf(m.compiler, sizeof m.compiler, "clang %s", __clang_version__);
#else
    snprintf(m.compiler, sizeof m.compiler, "gcc %s", __VERSION__);
#endif
    snprintf(m.flags, sizeof m.flags, "%s", POISE_BENCH_FLAGS);
    return m;
}
