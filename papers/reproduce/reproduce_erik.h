// The evaluation of Ribeiro & Paiva 2019, run once for all its tables and figures.
#ifndef PAPERS_REPRODUCE_ERIK_H
#define PAPERS_REPRODUCE_ERIK_H

#include "reproduce.h"

#include <papers/reproduce/erik_evaluation.h>

#define ERIK_SOURCE "Ribeiro & Paiva 2019"

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

// reproduce_erik_figures.c
bool erik_draw_postures(reproduce *r, const experiment *e);
bool erik_draw_orientations(reproduce *r, const experiment *e);
bool erik_draw_histograms(reproduce *r, const experiment *e);
bool erik_draw_normals(reproduce *r, const experiment *e);
bool erik_draw_filter(reproduce *r, const experiment *e);

#endif
