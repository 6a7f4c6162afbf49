// Timing and tables for the benchmarks.
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stdbool.h>
#include <stdint.h>

// CPU time of the calling thread, in nanoseconds: other work on the machine does not count.
double bench_now(void);

// One piece of work; `round` numbers the calls, so that each can have its own input.
typedef void (*bench_work)(void *user, int round);

// Nanoseconds per call: the smallest mean over many short windows, which is what the work costs when nothing disturbs it.
double bench_time(bench_work work, void *user);

// The same for several pieces of work in turn, window by window, so that all of them see the same machine.
void bench_race(const bench_work *works, void *const *users, int count, double *ns);

// The header line of every report: machine, compiler, flags, date.
void bench_print_machine(void);

// Keep a result from being optimised away.
void bench_use(double value);

#endif
