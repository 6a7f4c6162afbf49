// The suites of poise-bench, and what they ask of the command line.
#ifndef BENCH_SUITE_H
#define BENCH_SUITE_H

#include "bench_report.h"

#include <poise/solve.h>

typedef struct bench {
    bench_report *report;
    bool is_quick, with_peers;
    const char *suite; // its name and number, for progress
    int number, count;
    const struct bench_values *values;
} bench;

typedef struct bench_suite {
    const char *name; // a plural, as on the command line
    const char *summary;
    const char *tables; // their names, for --tables
    void (*run)(const bench *b);
} bench_suite;

// One function for each row of the table in main.c.
void suite_kinematics(const bench *b);
void suite_derivatives(const bench *b);
void suite_methods(const bench *b);
void suite_scaling(const bench *b);
void suite_arms(const bench *b);
void suite_arm_batches(const bench *b);
void suite_tips(const bench *b);
void suite_constraints(const bench *b);
void suite_markers(const bench *b);
void suite_marker_batches(const bench *b);
void suite_hdm05(const bench *b);
void suite_fits(const bench *b);
void suite_files(const bench *b);
void suite_erik(const bench *b);
void suite_expressive(const bench *b);
void suite_warps(const bench *b);
void suite_steps(const bench *b);
void suite_sequences(const bench *b);
void suite_gpu_apart(const bench *b);
void suite_gpu_arms(const bench *b);
void suite_gpu_clips(const bench *b);
void suite_gpu_markers(const bench *b);
void suite_gpu_tips(const bench *b);

// What an option says, or else what is usual, or what a quick run takes.
int bench_number(const bench *b, const char *option, int usual, int quick);
const char *bench_text(const bench *b, const char *option, const char *usual);
bool bench_flag(const bench *b, const char *option);

// The path of a file of the data folder, such as "urdf/baxter.urdf" (docs/data.md; --data or POISE_DATA names it); valid until
// the next call. NULL where it is not there: then a line below the suite says that `what` is left out, and why. A file that
// is not as tools/data.tsv lists it ends the program.
const char *bench_data(const bench *b, const char *file, const char *what);

// Is this table wanted? By default all are but those that only run when asked for.
bool bench_wants(const bench *b, const char *table);
bool bench_asks_for(const bench *b, const char *table);

// Does this run take that method? A quick one leaves out those that factor all rows at once: a tenth of a second a frame.
bool bench_takes(const bench *b, poise_method method);

// The current case, on a terminal.
void bench_progress(const bench *b, const char *what);

// Threads for work that uses several: --threads, or else one for each processor, eight at most.
int bench_threads(const bench *b);

#endif
