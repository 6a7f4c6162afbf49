// What one thread does about marker problems: it takes them, or their restarts, one after another, and carries each on by
// iterations (tree.cu).
#ifndef POISE_CUDA_TREE_WORKER_H
#define POISE_CUDA_TREE_WORKER_H

#include "tree_sources.h"

#include "lib/cuda_tree.h"

#include <limits.h>

typedef struct worker {
    const pz_cuda_tree_task *task;
    const pz_cuda_tree_batch *batch;
    const pz_cuda_tree_work *work;
    poise_solver *solver;
    poise_goal *goals;
    bool arrives;            // the run waits for the evaluation where it begins
    pz_auto state;           // of AUTO
    pz_cuda_tree_open *open; // the problem that a restart belongs to
    int problem, run;
} worker;

// ---- Memory --------------------------------------------------------------------------------------------------------------

// A solver and the goals, over the thread's own memory.
__device__ __noinline__ static bool open_worker(const pz_cuda_tree_task *task, const pz_cuda_tree_batch *batch,
                                                const pz_cuda_tree_work *work, unsigned char *memory, worker *w)
{
    size_t goals = ((size_t)task->goal_count * sizeof *w->goals + PZ_ALIGNMENT - 1) / PZ_ALIGNMENT * PZ_ALIGNMENT;
    w->task = task;
    w->batch = batch;
    w->work = work;
    w->goals = (poise_goal *)memory;
    for (int i = 0; i < task->goal_count; ++i) {
        w->goals[i] = task->goals[i];
    }
    size_t left = (size_t)task->size - goals;
    w->solver = pz_solver_init(task->model, &task->options, memory + goals, left);
    if (!w->solver) {
        return false;
    }
    w->solver->box = (pz_box *)task->box;
    ((pz_damped *)w->solver->method)->tree->groups = (pz_group *)task->groups;
    return true;
}

// ---- One run -------------------------------------------------------------------------------------------------------------

__device__ __forceinline__ static double *q_of(const worker *w)
{
    return w->batch->q + (size_t)w->problem * (size_t)w->task->nq;
}

// Take the problem's goals and start.
__device__ static void take_problem(worker *w)
{
    size_t first = (size_t)w->problem * (size_t)w->task->goal_count;
    for (int i = 0; i < w->task->goal_count; ++i) {
        w->goals[i].target.position = w->batch->targets[first + (size_t)i];
        w->goals[i].weight = w->batch->weights ? w->batch->weights[first + (size_t)i] : w->task->goals[i].weight;
    }
    pz_solve_begin(w->solver, w->goals, w->task->goal_count, q_of(w), NULL);
}

// Begin run number w->run of problem w->problem.
__device__ __noinline__ static void begin_run(worker *w)
{
    take_problem(w);
    pz_solve_start(w->solver, w->run);
    pz_auto_begin(w->solver, &w->state);
    w->arrives = true;
}

// Evaluate where the run begins, or where its step leads: in one place of the program, so that threads do it together.
__device__ __forceinline__ static double evaluate(worker *w)
{
    poise_solver *s = w->solver;
    const pz_damped *d = (const pz_damped *)s->method;
    bool has_point = w->arrives || d->has_step;
    return has_point ? pz_try(s, w->arrives ? s->q_try : d->q_trial, POISE_LEVEL_HESSIAN) : INFINITY;
}

// Go on from there. False: the run has ended.
__device__ __noinline__ static bool judge(worker *w, double cost)
{
    if (w->arrives) {
        w->arrives = false;
        return pz_solver_arrive(w->solver, cost, &w->state.outcome);
    }
    return pz_auto_judge(w->solver, &w->state, cost);
}

// ---- Answers -------------------------------------------------------------------------------------------------------------

// solver->q_best and the report are the problem's answer.
__device__ static void give_answer(worker *w)
{
    poise_report r;
    pz_solve_end(w->solver, q_of(w), &r);
    if (w->batch->answers) {
        w->batch->answers[w->problem] = poise_cuda_tree_answer{.outcome = r.outcome,
                                                               .iterations = r.iterations,
                                                               .evaluations = r.evaluations,
                                                               .restarts = r.restarts,
                                                               .active_limits = r.active_limits,
                                                               .moved_joints = r.moved_joints,
                                                               .start_cost = r.start_cost,
                                                               .cost = r.cost,
                                                               .gradient = r.gradient,
                                                               .distance = r.distance,
                                                               .worst_length = r.worst_length};
    }
}

__device__ __forceinline__ static pz_cuda_tree_run *runs_of(const worker *w, const pz_cuda_tree_open *open)
{
    return w->work->runs + (size_t)(open - w->work->open) * (size_t)(w->task->options.restarts + 1);
}

__device__ static void note_run(const worker *w, const pz_cuda_tree_open *open)
{
    const poise_solver *s = w->solver;
    runs_of(w, open)[w->run] = pz_cuda_tree_run{.cost = s->at->cost,
                                                .is_there = 1,
                                                .outcome = (int16_t)w->state.outcome,
                                                .iterations = s->report.iterations,
                                                .evaluations = s->report.evaluations};
}

__device__ static double *best_of(const worker *w, const pz_cuda_tree_open *open)
{
    return w->work->best + (size_t)(open - w->work->open) * (size_t)w->task->nq;
}

// The first run has ended: it has met the goals, or the problem is left open.
__device__ __noinline__ static void end_first_run(worker *w)
{
    poise_solver *s = w->solver;
    if (w->state.outcome == POISE_OUTCOME_REACHED || w->task->options.restarts == 0) {
        s->report.outcome = w->state.outcome;
        copy(s->q_best, s->at->kin.q, w->task->nq);
        give_answer(w);
        return;
    }
    pz_cuda_tree_open *open = &w->work->open[atomicAdd(&w->work->counters->open, 1)];
    *open = pz_cuda_tree_open{.problem = w->problem,
                              .reached = INT_MAX,
                              .best_run = 0,
                              .lock = 0,
                              .start_cost = s->report.start_cost,
                              .best_cost = s->at->cost};
    for (int run = 1; run <= w->task->options.restarts; ++run) {
        runs_of(w, open)[run].is_there = 0;
    }
    note_run(w, open);
    copy(best_of(w, open), s->at->kin.q, w->task->nq);
}

// Does the run that has ended come before the best so far? One that met the goals before all that did not, the first of
// those; else the one of least cost, the first of those. That is the answer of runs one after another, unless a run that met
// the goals has a larger cost than one before it, which settle_problem sees.
__device__ static bool precedes(const worker *w, const pz_cuda_tree_open *open)
{
    double cost = w->solver->at->cost;
    if (w->state.outcome == POISE_OUTCOME_REACHED) {
        return w->run <= open->reached;
    }
    return open->reached == INT_MAX && (cost < open->best_cost || (cost == open->best_cost && w->run < open->best_run));
}

__device__ __noinline__ static void end_restart(worker *w)
{
    pz_cuda_tree_open *open = w->open;
    note_run(w, open);
    if (w->state.outcome == POISE_OUTCOME_REACHED) {
        atomicMin(&open->reached, w->run);
    }
    for (bool done = false; !done;) {
        if (atomicCAS(&open->lock, 0u, 1u) == 0u) {
            __threadfence();
            volatile pz_cuda_tree_open *now = open;
            pz_cuda_tree_open seen = {.problem = 0,
                                      .reached = now->reached,
                                      .best_run = now->best_run,
                                      .lock = 0,
                                      .start_cost = 0,
                                      .best_cost = now->best_cost};
            if (precedes(w, &seen)) {
                now->best_run = w->run;
                now->best_cost = w->solver->at->cost;
                copy(best_of(w, open), w->solver->at->kin.q, w->task->nq);
            }
            __threadfence();
            atomicExch(&open->lock, 0u);
            done = true;
        }
    }
}

// Has a run before this one met the goals?
__device__ static bool is_idle(const worker *w)
{
    return *(volatile const int *)&w->open->reached < w->run;
}

// ---- Settling ------------------------------------------------------------------------------------------------------------

// The runs in their order, as poise_solve has them; one that was left out, or whose end was not kept, is run here.
__device__ __noinline__ static void settle_problem(worker *w, const pz_cuda_tree_open *open)
{
    poise_solver *s = w->solver;
    pz_cuda_tree_run *runs = runs_of(w, open);
    w->problem = open->problem;
    take_problem(w);
    poise_report total = s->report;
    total.start_cost = open->start_cost;
    total.iterations = runs[0].iterations, total.evaluations = runs[0].evaluations;
    total.outcome = (poise_outcome)runs[0].outcome;
    double best = runs[0].cost;
    int winner = 0;
    for (int run = 1; run <= w->task->options.restarts && total.outcome != POISE_OUTCOME_REACHED; ++run) {
        if (!runs[run].is_there) {
            s->report = total;
            s->report.iterations = s->report.evaluations = 0;
            pz_solve_start(s, run);
            w->run = run;
            w->state.outcome = pz_solver_run_from(s, s->q_try);
            note_run(w, open);
        }
        total.iterations += runs[run].iterations, total.evaluations += runs[run].evaluations;
        total.restarts += 1;
        if (runs[run].cost < best) {
            best = runs[run].cost;
            total.outcome = (poise_outcome)runs[run].outcome;
            winner = run;
        }
    }
    if (winner != open->best_run) {
        pz_solve_start(s, winner);
        pz_solver_run_from(s, s->q_try);
        copy(s->q_best, s->at->kin.q, w->task->nq);
    } else {
        copy(s->q_best, best_of(w, open), w->task->nq);
    }
    s->report = total;
    pz_objective_evaluate(s->at, s->q_best, POISE_LEVEL_HESSIAN);
    give_answer(w);
}

#endif
