// Clocks, races and percentiles for the benchmarks.
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// CPU time of the calling thread, in nanoseconds: other work on the machine does not count.
double bench_now(void);

// The clock on the wall, in nanoseconds.
double bench_wall(void);

// One piece of work; `round` numbers the calls, so that each can have its own input.
typedef void (*bench_work)(void *user, int round);

// Nanoseconds per call of up to 16 pieces of work, in turn, window by window, so that all of them see the same machine: the
// smallest mean over many short windows, which is what the work costs when nothing disturbs it.
void bench_race(const bench_work *works, void *const *users, int count, double *ns);

// From now on races have few windows: numbers to see that all works, not to quote.
void bench_hurry(void);

// What many calls took.
typedef struct bench_times {
    double mean, p50, p99, most;
} bench_times;

// Sorts `us`; not-a-numbers all through where there are none.
bench_times bench_times_of(double *us, int count);

// Zeroed memory. Without it, and where a benchmark cannot go on, the program ends with status 2.
void *bench_take(size_t count, size_t size);
_Noreturn void bench_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

// Keep a result from being optimised away.
void bench_use(double value);

// The machine in words, and how this program was compiled.
typedef struct bench_machine {
    char processor[128];
    int cores;
    char compiler[128], flags[256];
    char date[16]; // year-month-day
} bench_machine;

bench_machine bench_machine_now(void);

#endif
