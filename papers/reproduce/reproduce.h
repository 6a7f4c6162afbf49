// Tables and figures of the papers, made again: what the experiments share.
//
// An experiment computes, prints what it found beside what the authors print, and writes files NAME.csv and NAME.svg. The
// arithmetic is in the studies; here are tables and plots. Numbers but times are the same in every run.
#ifndef PAPERS_REPRODUCE_H
#define PAPERS_REPRODUCE_H

#include <papers/reproduce/erik_evaluation.h>
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

// ---- Experiments ---------------------------------------------------------------------------------------------------------

typedef struct reproduce reproduce;

typedef struct experiment {
    const char *name;
    const char *title;         // one line, no full stop
    const char *source;        // author, year, number
    bool uses_data;            // of HDM05
    bool (*run)(reproduce *r); // false after one line on standard error
    bool is_shared;            // all ranks run it; else rank 0 runs it alone
} experiment;

#define REPRODUCE_HESSIAN "Erleben & Andrews 2019"
#define REPRODUCE_ERIK    "Ribeiro & Paiva 2019"

// Each by its file; reproduce.c has the list.
extern const experiment hessian_fig3, hessian_fig4, hessian_fig5, hessian_fig7;                // hessian_convergence.c
extern const experiment hessian_table3, hessian_table4, hessian_fig8, hessian_times;           // hessian_tables.c
extern const experiment hessian_definiteness;                                                  // definiteness.c
extern const experiment hessian_fig2, hessian_fig6, hessian_fig_a9, hessian_fig_a10, notes_2d; // pictures.c
extern const experiment erik_table8, erik_table9, erik_aggravation, erik_fit;                  // erik_tables.c
extern const experiment erik_fig7, erik_fig8, erik_fig9, erik_fig10, erik_fig11, erik_fig12, erik_fig13; // erik_figures.c

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

// ---- ERIK (erik_tables.c) ------------------------------------------------------------------------------------------------
//
// The evaluation of Ribeiro & Paiva 2019, run once for all its tables and figures.

#define ERIK_SAMPLES 100000 // of each skeleton, unless told

// Rows: ERIK on skeletons A to G; damped least squares with two tasks on C, with the paper's filter, at three limits of
// iterations, first with the target flipped to suit the posture, then as the paper flips it; the same without the posture
// task.
enum {
    ERIK_A = 0,
    ERIK_C = 2,
    ERIK_TWO_TASK = EVALUATE_SKELETONS, // 100, 200, 400
    ERIK_AS_PRINTED = ERIK_TWO_TASK + 3,
    ERIK_NO_POSTURE = ERIK_AS_PRINTED + 3,
    ERIK_ROWS
};

typedef struct erik_row {
    char name[16];
    int problem;
    evaluate_run run;
    const evaluate_printed *printed;
    evaluate_results results;
} erik_row;

typedef struct erik_run {
    evaluate_problem *problems[EVALUATE_SKELETONS];
    erik_row rows[ERIK_ROWS];
    bool has_erik, has_baselines;
} erik_run;

extern const char *const erik_colors[EVALUATE_SKELETONS];

// Problems alone, and with the results of ERIK, and with those of its baselines. NULL after one line on standard error. The
// second is together, and for rank 0 alone it is not NULL.
const erik_run *erik_problems(reproduce *r);
const erik_run *erik_results(reproduce *r, bool with_baselines);

// ---- Exact Hessians (hessian_convergence.c) ------------------------------------------------------------------------------
//
// What the experiments of Erleben & Andrews 2019 share: methods and takes.

// The authors' three as they ran them, of which they print numbers, then the product's own.
typedef struct hessian_row {
    const char *name;
    poise_method method;
    paper_solver paper;
    bool nearest;       // the nearest semidefinite matrix inside the trust region
    double far_damping; // damping or radius from zero; 0: AUTO, which is told that it starts from far off, or none
    const char *color;
    bool is_dashed;
} hessian_row;

enum {
    HESSIAN_BFGS = 0,
    HESSIAN_EXACT,
    HESSIAN_LM,
    HESSIAN_PRINTED, // how many
    HESSIAN_AUTO = HESSIAN_PRINTED,
    HESSIAN_OWN_BFGS,
    HESSIAN_NEAREST,
    HESSIAN_OWN_LM,
    HESSIAN_CONJUGATE,
    HESSIAN_ROWS
};
extern const hessian_row hessian_rows[HESSIAN_ROWS];

hessian_run hessian_run_of(const hessian_row *row, int max_iterations, bool has_limits, bool from_zero);

typedef enum paper_scene { PAPER_WALKING = 0, PAPER_PUNCHING, PAPER_KICKING, PAPER_WORKOUT, PAPER_SCENES } paper_scene;

// What the authors show, and what is used here.
typedef struct scene_take {
    const char *motion;         // "walking"
    const hessian_study *study; // their take, or what stands in for it
    bool is_theirs;
    char title[96];    // "walking, dg_03-02_01", "our walk", "dg_03-05_02"
    const int *frames; // theirs, counted from 1; NULL where they are not known, or another take stands in
    int count;
} scene_take;

// The takes of `count` scenes from `first` on, with a note of which stand in. False after one line on standard error.
bool reproduce_scenes(reproduce *r, paper_scene first, int count, scene_take *takes);

// ---- Gradient descent in the plane (pictures.c) --------------------------------------------------------------------------

#define PLANAR_JOINTS 11
#define PLANAR_TIPS   3
#define PLANAR_NODES  (PLANAR_JOINTS + PLANAR_TIPS)
#define PLANAR_MOST   5000 // iterations

typedef enum planar_skeleton { PLANAR_ARM = 0, PLANAR_TREE, PLANAR_SKELETONS } planar_skeleton;

typedef enum planar_method {
    PLANAR_SMALL_STEPS = 0, // h = 0.02
    PLANAR_LINE_SEARCH,     // twice the last h, then halves until the energy falls by a third of what the slope promises
    PLANAR_AUTO,            // the solver's own method
    PLANAR_METHODS
} planar_method;

// What a run went through: joints, then tips, after each iteration, the start first.
typedef struct planar_run {
    int joints, tips;
    int parent[PLANAR_NODES]; // of joints, then of tips; -1: the root has none
    double target_x[PLANAR_TIPS], target_y[PLANAR_TIPS];
    int count; // of entries, iterations + 1
    double x[PLANAR_MOST + 1][PLANAR_NODES], y[PLANAR_MOST + 1][PLANAR_NODES];
    double distance[PLANAR_MOST + 1]; // sqrt(2 E): of the tip, or of all tips together
    double difference;                // largest, of the closed form from the Jacobian of the library, along the way
} planar_run;

// Run until the distance is at most 1e-6. False without memory.
bool planar_descend(planar_skeleton skeleton, planar_method method, planar_run *run);

// ---- The command ---------------------------------------------------------------------------------------------------------
//
// The command `reproduce`, for the programs that have it: poise-reproduce and poise-mpi.

// Run it with the words after its name; --help prints its page.
app_exit run_reproduce(int count, char **words);

#endif
