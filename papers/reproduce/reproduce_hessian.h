// The experiments of the exact-Hessian paper, which take several files.
#ifndef PAPERS_REPRODUCE_HESSIAN_H
#define PAPERS_REPRODUCE_HESSIAN_H

#include "reproduce.h"

#define HESSIAN_SOURCE "Erleben & Andrews 2019"

// ---- Solvers (reproduce_hessian.c) ---------------------------------------------------------------------------------------

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

enum { HESSIAN_BFGS = 0, HESSIAN_EXACT, HESSIAN_LM, HESSIAN_PRINTED, HESSIAN_ROWS = 8 };
extern const hessian_row hessian_rows[HESSIAN_ROWS];

hessian_run hessian_run_of(const hessian_row *row, int max_iterations, bool has_limits, bool from_zero);

// ---- Takes (reproduce_hessian.c) -----------------------------------------------------------------------------------------

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

// ---- Experiments ---------------------------------------------------------------------------------------------------------

// reproduce_definiteness.c
bool hessian_definiteness(reproduce *r, const experiment *e);
bool hessian_times(reproduce *r, const experiment *e);

// reproduce_pictures.c
bool hessian_frames_drawn(reproduce *r, const experiment *e);
bool hessian_arm(reproduce *r, const experiment *e);
bool hessian_arm_definiteness(reproduce *r, const experiment *e);

#endif
