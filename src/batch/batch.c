// Batches: pieces for the caller's threads, and in each piece the problems for each engine.
#include "batch/batch.h"
#include "base/cpu.h"
#include "base/error.h"

#define ENGINES     2
#define LEAST_PIECE 64 // problems
#define LEAST_SLOW  4  // the same where constraints make each a long one
#define PIECES_EACH 4  // for each worker, if there are so many
#define AHEAD       8  // problems whose goals are on their way while one is looked at

static const pz_engine_row *const engine_rows[ENGINES] = {&pz_arm_engine, &pz_tree_engine};

typedef struct worker {
    poise_solver *solver;
    void *scratch[ENGINES];
    poise_problem **queue[ENGINES + 1]; // PZ_PIECE each: problems of one engine, and those that go one by one
} worker;

struct poise_batch {
    const poise_model *model;
    poise_batch_options options;
    pz_owned owned;
    int lanes[ENGINES];
    worker *workers;
    poise_problem *problems; // of the current call
    int count, piece;        // problems in all, and in a piece but the last
};

// ---- Life ----------------------------------------------------------------------------------------------------------------

static poise_status check_options(const poise_model *model, const poise_batch_options *o, poise_error *error)
{
    if (!model || !o) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "model and options must not be NULL");
    }
    const char *rule = o->solver.trace    ? "solver.trace must be NULL"
                       : o->workers < 1   ? "workers must be >= 1"
                       : o->lanes < 0     ? "lanes must be >= 0"
                       : o->max_goals < 0 ? "max_goals must be >= 0"
                                          : NULL;
    return rule ? pz_error_set(error, POISE_ERROR_ARGUMENT, "batch options: %s", rule)
                : pz_solver_check_options(model, &o->solver, error);
}

// One worker's memory.
static void worker_lay_out(const poise_batch *batch, worker *w, pz_arena *arena)
{
    const poise_solver_options *options = &batch->options.solver;
    size_t size = pz_solver_size(batch->model, options);
    void *memory = pz_arena_take(arena, size, 1);
    w->solver = memory ? pz_solver_init(batch->model, options, memory, size) : NULL;
    for (int e = 0; e <= ENGINES; ++e) {
        w->queue[e] = pz_arena_take(arena, PZ_PIECE, sizeof *w->queue[e]);
    }
    for (int e = 0; e < ENGINES; ++e) {
        bool has_lanes = batch->lanes[e] > 1;
        w->scratch[e] =
            has_lanes ? engine_rows[e]->lay_out(w->solver, &batch->options, batch->model, batch->lanes[e], arena) : NULL;
    }
}

static poise_batch *batch_lay_out(const poise_batch *plan, pz_arena *arena)
{
    poise_batch *batch = pz_arena_take(arena, 1, sizeof *batch);
    worker *workers = pz_arena_take(arena, (size_t)plan->options.workers, sizeof *workers);
    if (!workers) { // counting: all are alike
        worker first;
        size_t used = arena->used;
        worker_lay_out(plan, &first, arena);
        pz_arena_take(arena, (size_t)plan->options.workers - 1, arena->used - used);
    }
    for (int i = 0; workers && i < plan->options.workers; ++i) {
        worker_lay_out(plan, &workers[i], arena);
    }
    if (batch && !arena->full) {
        *batch = *plan;
        batch->workers = workers;
    }
    return batch;
}

poise_status poise_batch_create(const poise_model *model, const poise_batch_options *options,
                                const poise_allocator *allocator, poise_batch **batch, poise_error *error)
{
    poise_status status = check_options(model, options, error);
    if (status != POISE_OK) {
        return status;
    }
    if (!batch) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "batch must not be NULL");
    }
    poise_batch plan = {.model = model, .options = *options};
    for (int e = 0; e < ENGINES; ++e) {
        plan.lanes[e] = engine_rows[e]->lanes(model, options);
    }
    pz_arena counting = pz_arena_counting();
    batch_lay_out(&plan, &counting);
    size_t size = pz_arena_bytes(&counting);
    if (!pz_owned_take(&plan.owned, allocator, size)) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory: the batch needs %g bytes", (double)size);
    }
    pz_arena arena = pz_arena_over(plan.owned.memory, size);
    *batch = batch_lay_out(&plan, &arena);
    return POISE_OK;
}

void poise_batch_destroy(poise_batch *batch)
{
    if (batch) {
        pz_owned_release(&batch->owned);
    }
}

poise_batch_lanes poise_batch_lane_counts(const poise_batch *batch)
{
    return batch ? (poise_batch_lanes){.arms = batch->lanes[0], .trees = batch->lanes[1]} : (poise_batch_lanes){1, 1};
}

// ---- Solving -------------------------------------------------------------------------------------------------------------

// The engine that serves this problem, or ENGINES.
static int engine_of(const poise_batch *batch, const worker *w, const poise_problem *problem)
{
    int e = problem->constraint_count == 0 ? 0 : ENGINES;
    while (e < ENGINES && !(batch->lanes[e] > 1 && engine_rows[e]->serves(w->scratch[e], problem))) {
        e += 1;
    }
    return e;
}

static void run_piece(void *work, int piece, int worker_number)
{
    poise_batch *batch = work;
    worker *w = &batch->workers[worker_number];
    int first = piece * batch->piece, left = batch->count - first, count = left < batch->piece ? left : batch->piece;
    int queued[ENGINES + 1] = {0};
    for (int i = first; i < first + count; ++i) {
        if (i + AHEAD < batch->count) {
            PZ_FETCH(batch->problems[i + AHEAD].goals);
        }
        int e = engine_of(batch, w, &batch->problems[i]);
        w->queue[e][queued[e]++] = &batch->problems[i];
    }
    for (int e = 0; e < ENGINES; ++e) {
        if (queued[e] > 0) {
            engine_rows[e]->run(w->scratch[e], w->queue[e], queued[e]);
        }
    }
    for (int i = 0; i < queued[ENGINES]; ++i) {
        poise_problem *p = w->queue[ENGINES][i];
        p->status = poise_solve_within(w->solver, p->goals, p->goal_count, p->constraints, p->constraint_count, p->q,
                                       &p->report, NULL);
    }
}

// Problems in a piece: so few that every worker gets several, so that workers that finish early take more; and not fewer
// than keep lanes busy.
static int piece_for(const poise_batch_options *options, int count)
{
    int pieces = options->parallel_for && options->workers < count ? PIECES_EACH * options->workers : 1,
        piece = count / pieces, least = options->solver.constraints.rows > 0 ? LEAST_SLOW : LEAST_PIECE;
    return piece < least ? least : piece > PZ_PIECE ? PZ_PIECE : piece;
}

poise_status poise_batch_solve(poise_batch *batch, poise_problem *problems, int count, poise_error *error)
{
    if (!batch || count < 0 || (count > 0 && !problems)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "batch and problems must not be NULL, and count must be >= 0");
    }
    batch->problems = problems;
    batch->count = count;
    batch->piece = piece_for(&batch->options, count);
    int pieces = count / batch->piece + (count % batch->piece > 0);
    if (batch->options.parallel_for && pieces > 0) {
        batch->options.parallel_for(batch->options.user, pieces, run_piece, batch);
        return POISE_OK;
    }
    for (int piece = 0; piece < pieces; ++piece) {
        run_piece(batch, piece, 0);
    }
    return POISE_OK;
}
