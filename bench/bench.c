#define _POSIX_C_SOURCE 200809L

#include "bench.h"

#include <poise/base.h>

#include <stdio.h>
#include <string.h>
#include <time.h>

#define WINDOW_NS 200e3 // one window: long against the clock's own 0.3 us, short against a time slice
#define WINDOWS   60

static volatile double sink;

void bench_use(double value)
{
    sink = value;
}

double bench_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
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
    int calls[16], round = 0;
    for (int k = 0; k < count; ++k) {
        calls[k] = calls_for(works[k], users[k], &round);
        ns[k] = 1e300;
    }
    for (int w = 0; w < WINDOWS; ++w) {
        for (int k = 0; k < count; ++k) {
            double mean = window(works[k], users[k], calls[k], &round);
            ns[k] = mean < ns[k] ? mean : ns[k];
        }
    }
}

double bench_time(bench_work work, void *user)
{
    double ns;
    bench_race(&work, &user, 1, &ns);
    return ns;
}

static void print_processor(void)
{
    FILE *info = fopen("/proc/cpuinfo", "r");
    char line[256];
    while (info && fgets(line, sizeof line, info)) {
        if (strncmp(line, "model name", 10) == 0) {
            const char *colon = strchr(line, ':');
            printf("machine   %s", colon ? colon + 2 : "\n");
            break;
        }
    }
    if (info) {
        fclose(info);
    }
}

void bench_print_machine(void)
{
    time_t now = time(NULL);
    char date[32];
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    print_processor();
#if defined(__clang__)
    printf("compiler  clang %s\n", __clang_version__);
#else
    printf("compiler  gcc %s\n", __VERSION__);
#endif
    printf("poise     %s, %s, one thread, CPU time\n\n", poise_version(), date);
}
