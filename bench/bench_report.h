// What the benchmarks found: tables for people (at most 80 columns), Markdown for a page, or JSON for machines.
//
// A report has suites, a suite has tables, a table has rows. Each row is of a case (a robot, a skeleton, ...) and of a
// method, and has a number for each column of its table; a number that there is none of is NAN.
#ifndef BENCH_BENCH_REPORT_H
#define BENCH_BENCH_REPORT_H

#include "bench.h"

#include <stdio.h>

#define REPORT_MOST_COLUMNS 20

typedef enum report_form {
    REPORT_FIXED = 0, // `digits` after the point, none from 1000 on
    REPORT_FIGURES,   // three of them, such as 1.23e-07
    REPORT_TIMES,     // 3.4x: numbers of one row over each other, or of rows of Poise alone
    REPORT_RATIO,     // 3.4x: against the first row of the case, see below
    REPORT_YES        // yes or NO, for 1 or 0; true or false in JSON
} report_form;

typedef struct report_column {
    const char *key;  // in JSON
    const char *head; // in a table, of one or two words with the unit: the second goes below the first
    int digits;
    report_form form;
    bool is_detail; // left out of a table for people that would be too wide with it
} report_column;

typedef struct report_table {
    const char *name; // one word
    const char *title;
    const char *of; // what the cases are
    const report_column *columns;
    int count;
} report_table;

// A table in which solvers race. A ratio is the time of a row over that of the first row of its case. No suite hands one in:
// the report works it out, and only for a row that got the answer of that first row, by the column `answer`:
//
//   a share of solved problems, in per cent     at least REPORT_SHARE of the first row's
//   an error, in whatever unit                  at most REPORT_ABOVE times the first row's, or `error`, whichever is more
//
// Other rows have no ratio, and the table says so below.
#define REPORT_SHARE 0.95
#define REPORT_ABOVE 1.01
typedef struct report_race {
    const char *answer;
    double error;         // that does not matter; 0: `answer` is a share
    const char *times[2]; // of the columns that are ratios, in their order
} report_race;

typedef enum report_style { REPORT_TABLES = 0, REPORT_MARKDOWN, REPORT_JSON } report_style;

typedef struct bench_report bench_report;

// On standard output. The report ends with report_finish, which also releases it and, unless `path` is NULL, writes the
// JSON there; false when a promise was broken.
bench_report *report_create(report_style style, const bench_machine *machine);
bool report_finish(bench_report *r, const char *path);

// A baseline, and whether this program has it.
void report_peer(bench_report *r, const char *name, const char *package, bool is_built, bool is_asked);

void report_begin_suite(bench_report *r, const char *name, const char *summary);
void report_end_suite(bench_report *r);

// Tables end where the next begins, or the suite ends; they must stay valid until then.
void report_begin_table(bench_report *r, const report_table *table);
void report_begin_race(bench_report *r, const report_table *table, const report_race *race);

// A row has as many values as the table has columns but ratios, or the program ends. Rows of Poise, the first of which the
// others of the case are held against, come before those of other solvers.
void report_row(bench_report *r, const char *of, const char *method, int count, const double *values);

// Values with their count.
#define REPORT_VALUES(...)                                                                                                  \
    (int)(sizeof((double[]){__VA_ARGS__}) / sizeof(double)), (double[])                                                     \
    {                                                                                                                       \
        __VA_ARGS__                                                                                                         \
    }

// In words: below the current table, or below the suite's name; why a suite is skipped; what should hold, when it does not.
void report_note(bench_report *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
void report_skip(bench_report *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
void report_promise(bench_report *r, bool is_held, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
