// What a batch and its engines agree on.
//
// A worker has a solver for problems that go one by one and one engine for each kind that has lanes. An engine is handed a
// piece: consecutive problems, of which it takes those it serves, in order, each as a lane becomes free.
#ifndef PZ_BATCH_BATCH_H
#define PZ_BATCH_BATCH_H

#include <poise/batch.h>

#include "solve/solver.h"

#define PZ_PIECE 1024 // problems in a piece at most: lanes run dry once in each

typedef struct pz_engine_row {
    // Lanes on this model, machine and options; 1: none, and the rest is not called.
    int (*lanes)(const poise_model *model, const poise_batch_options *options);
    // Take scratch for that many lanes from the arena. `solver` is the worker's, with the batch's options, and outlives it;
    // NULL while the arena only counts.
    void *(*lay_out)(poise_solver *solver, const poise_batch_options *options, const poise_model *model, int lanes,
                     pz_arena *arena);
    // May this problem have a lane, at a glance? It need not be sound, nor fit after all: `run` sees to that.
    bool (*serves)(void *scratch, const poise_problem *problem);
    // Solve problems[0 .. count), all of which it serves, into their q, report and status.
    void (*run)(void *scratch, poise_problem *const *problems, int count);
} pz_engine_row;

extern const pz_engine_row pz_arm_engine;  // arm_lanes.c
extern const pz_engine_row pz_tree_engine; // tree_lanes.c

#endif
