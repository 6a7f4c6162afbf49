// Poise: many problems at once, on one model.
//
//   poise_batch_options options = poise_batch_options_default();
//   poise_batch_create(model, &options, NULL, &batch, &error);
//   poise_batch_solve(batch, problems, count, &error);
//
// Each problem is what one call of poise_solve would get, and its answer has the same bits as that call's: for any batch
// size, any order, any number of workers, any width of the machine's registers. Problems are independent; an invalid one
// gets its own status and the others are solved.
//
// **Constraints.** A problem with constraints is what one call of poise_solve_within would get. Reserve memory for the
// largest problem in options.solver.constraints (poise_constraints_size); problems may share constraints. Each report says
// whether they hold and, if not, which one does not.
//
// **Lanes.** On processors with SIMD registers several problems are solved at once, one per lane, and a lane whose problem
// is done takes the next one. Two kinds of problem have lanes: one POSE goal on a robot arm (see solve.h), and
// POSITION goals on a tree, both with the method AUTO and without constraints. All others are solved one after another.
//
// **Threads.** The library starts none. The caller's function distributes the work of a batch: a loop, a thread pool,
// OpenMP. Poise hands it a number of pieces, each of which may run on any thread at any time, as long as no two run at once
// with the same worker number. A batch serves one poise_batch_solve at a time, called from any thread.
#ifndef POISE_BATCH_H
#define POISE_BATCH_H

#include <poise/solve.h>

#ifdef __cplusplus
extern "C" {
#endif

// One problem: goals and start in, answer out. Goals may be shared between problems.
typedef struct poise_problem {
    const poise_goal *goals; // of this problem
    int goal_count;          // of those
    double *q;               // nq numbers: the start, replaced by the answer; untouched when `status` is not POISE_OK
    const poise_constraint *constraints; // NULL: what must hold in this answer; obstacles may differ from problem to problem
    int constraint_count;                // 0: of those
    poise_report report;                 // out; filled when `status` is POISE_OK
    poise_status status;                 // out; what poise_solve, or poise_solve_within, would return
} poise_problem;

// One piece of work: piece number `piece` on worker `worker`, in [0, workers).
typedef void (*poise_piece)(void *work, int piece, int worker);

// Call run(work, i, w) once for every i in [0, count), in any order, and return when all are done.
typedef void (*poise_parallel_for)(void *user, int count, poise_piece run, void *work);

// Fill with poise_batch_options_default(), change what you like.
typedef struct poise_batch_options {
    poise_solver_options solver;     // as for poise_solve; trace must be NULL
    int workers;                     // 1: how many worker numbers parallel_for uses; scratch memory grows with it
    int lanes;                       // 0: as many as suit the processor; 1: none; 2, 4, 8: that many, if available
    int max_goals;                   // 64: most POSITION goals of a problem on a tree that is solved in a lane
    poise_parallel_for parallel_for; // NULL: the calling thread does it all, as worker 0
    void *user;                      // handed to parallel_for
} poise_batch_options;

// The defaults given beside the members.
static inline poise_batch_options poise_batch_options_default(void)
{
    poise_batch_options options;
    poise_init(POISE_TYPE_BATCH_OPTIONS, &options, sizeof options);
    return options;
}

// Memory for batches over one model: opaque.
typedef struct poise_batch poise_batch;

// Scratch memory for batches on this model, one allocation from `allocator` (NULL: malloc). The model must outlive it; the
// options are copied.
POISE_API poise_status poise_batch_create(const poise_model *model, const poise_batch_options *options,
                                          const poise_allocator *allocator, poise_batch **batch, poise_error *error);
POISE_API void poise_batch_destroy(poise_batch *batch); // NULL is allowed

// Solve all problems; allocates nothing. POISE_OK when every problem has an answer or a status of its own.
POISE_API poise_status poise_batch_solve(poise_batch *batch, poise_problem *problems, int count, poise_error *error);

// Numbers of lanes.
typedef struct poise_batch_lanes {
    int arms;  // one POSE goal on a robot arm
    int trees; // POSITION goals on a tree
} poise_batch_lanes;

// How many problems are solved at once; 1 if there are no lanes for such problems on this model and machine.
POISE_API poise_batch_lanes poise_batch_lane_counts(const poise_batch *batch);

#ifdef __cplusplus
}
#endif

#endif
