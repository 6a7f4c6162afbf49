// Tables and figures of the papers, made again: what the experiments share.
//
// An experiment computes, prints what it found beside what the authors print, and writes files NAME.csv and NAME.svg. The
// arithmetic is in the studies; here are tables and plots. Numbers but times are the same in every run.
#ifndef PAPERS_REPRODUCE_H
#define PAPERS_REPRODUCE_H

#include <papers/reproduce/hessian_study.h>

#include "cli/command.h"
#include "cli/files.h"
#include "cli/json.h"
#include "plot.h"

#include <stdio.h>

// ---- Sheets --------------------------------------------------------------------------------------------------------------
//
// Results in rows: printed as a table for people, written as CSV, or given as JSON.
//
// A sheet has columns that are declared once. Rows are filled cell by cell, in order; a number that is not finite is an
// empty cell. Times of this machine are kept apart, so that a CSV is the same whenever and wherever it is written.

typedef struct sheet_column {
    const char *key;    // in CSV and JSON; NULL ends the list
    const char *head;   // on a terminal; NULL: not shown there
    const char *format; // of a number on a terminal, "%.2f"; NULL: the column holds text
    bool is_time;       // not for the CSV
} sheet_column;

typedef struct sheet sheet;

// The columns must stay valid. NULL without memory, which the other calls accept.
sheet *sheet_create(const sheet_column *columns);
void sheet_destroy(sheet *s);

void sheet_text(sheet *s, const char *text); // copied
void sheet_number(sheet *s, double number);

int sheet_rows(const sheet *s);
bool sheet_has_times(const sheet *s);

// A table with aligned columns on standard output.
void sheet_print(const sheet *s);

// With a line of keys. `times` chooses the texts and times instead of the texts and other numbers.
void sheet_write(const sheet *s, FILE *stream, bool times);

// An array of objects.
json_node *sheet_json(const sheet *s);

// ---- Experiments ---------------------------------------------------------------------------------------------------------

typedef struct reproduce reproduce;

typedef struct experiment {
    const char *name;
    const char *title;                                     // one line, no full stop
    const char *source;                                    // author, year, number
    bool uses_data;                                        // of HDM05
    bool (*run)(reproduce *r, const struct experiment *e); // false after one line on standard error
    bool is_shared;                                        // all ranks run it; else rank 0 runs it alone
} experiment;

extern const experiment hessian_experiments[]; // each list ends with a NULL name
extern const experiment erik_experiments[];
extern const experiment picture_experiments[];

#define REPRODUCE_TAKES 8 // kept at a time: four motions of ours, recordings

struct reproduce {
    const char *out; // folder
    char data[1024]; // folder of recordings; empty: there is none
    bool is_full;
    int every;   // 0: as the experiment does it
    int samples; // 0: as the experiment does it
    int threads;
    const experiment *now;
    json_node *result;  // of the current experiment; NULL for people
    json_node *results; // NULL for people
    char files[512];    // written by the current experiment
    char foot[160];     // of its plots
    char again[1500];   // the command that goes on from this experiment
    // kept for the next experiment
    hessian_study takes[REPRODUCE_TAKES];
    int take_count;
    struct erik_run *erik;
};

// ---- What an experiment says ---------------------------------------------------------------------------------------------

// Why a take is not there and what to do about it, as a sentence.
const char *reproduce_no_take(const reproduce *r);

// A remark, in whole sentences.
void reproduce_note(reproduce *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Print a sheet, write it as NAME`suffix`.csv and its times as NAME`suffix`-times.csv, and release it. `suffix` NULL: no
// files. `title` may be NULL.
bool reproduce_sheet(reproduce *r, sheet *s, const char *title, const char *suffix);

// The same without printing: data of a figure.
bool reproduce_data(reproduce *r, sheet *s, const char *suffix);

// Write NAME`suffix`.svg and release the plot.
bool reproduce_plot(reproduce *r, plot *p, const char *suffix);

// What stands at the foot of a plot of this experiment.
const char *reproduce_foot(const reproduce *r);

// ---- What experiments need -----------------------------------------------------------------------------------------------

// A take, read or made once: a motion of the humanoid ("walk"), or a recording of the folder ("dg_03-05_02"). NULL after one
// line on standard error.
#define REPRODUCE_TAKE "dg_03-05_02" // the one that the authors give away with their program
const hessian_study *reproduce_take(reproduce *r, const char *name);

// Is there such a recording in the folder?
bool reproduce_has_take(const reproduce *r, const char *name);

// `count` jobs on all threads, with a progress bar; false when one of them was false.
typedef bool (*reproduce_job)(void *work, int index);
bool reproduce_jobs(const reproduce *r, int count, reproduce_job job, void *work);

// The same, collective: one rank does each job and keeps what it gives. False for all when one was false; that rank then
// begins no more jobs. `before` of them were done in an earlier run, and are nothing to wait for.
bool reproduce_shared_jobs(const reproduce *r, int count, int before, reproduce_job job, void *work);

// CPU time of the calling thread, in nanoseconds: other work on the machine does not count.
double reproduce_now(void);

void erik_run_destroy(struct erik_run *run); // NULL is allowed

// ---- The command ---------------------------------------------------------------------------------------------------------
//
// The command `reproduce`, for the programs that have it: poise-reproduce and poise-mpi.

// Run it with the words after its name; --help prints its page.
app_exit run_reproduce(int count, char **words);

#endif
