// The part of the golden computation that solves: every method on small problems, arms, all solutions of an arm, restarts.
#include "golden_parts.h"
#include "model/model.h"
#include "support/problems.h"

#define PROBLEMS 24 // for each method
#define ARMS     40
#define JOINTS   6

static void take_answer(golden_result *r, const problem *p, const answer *a)
{
    golden_require(r, a->status == POISE_OK || a->status == POISE_ERROR_UNSUPPORTED);
    if (a->status != POISE_OK) {
        return;
    }
    const poise_report *report = &a->report;
    for (int i = 0; i < p->nq; ++i) {
        golden_take(r, a->q[i]);
    }
    golden_take(r, report->outcome);
    golden_take(r, report->iterations);
    golden_take(r, report->evaluations);
    golden_take(r, report->active_limits);
    golden_take(r, report->start_cost);
    golden_take(r, report->cost);
    golden_take(r, report->gradient);
    golden_take(r, report->distance);
    golden_take(r, report->worst_length);
    golden_take(r, report->worst_angle);
    for (int i = 0; i < report->traced && i < PROBLEM_TRACE; ++i) {
        golden_take(r, p->trace[i].cost);
        golden_take(r, p->trace[i].step);
    }
}

static void solve_trees(golden_result *r, poise_method method, bool wide)
{
    static const unsigned features[] = {PROBLEM_PLAIN, PROBLEM_LIMITS, PROBLEM_LOCKS, PROBLEM_LIMITS | PROBLEM_LOCKS};
    scene_random random = scene_random_make(60 + (uint64_t)method);
    for (int i = 0; i < PROBLEMS; ++i) {
        problem *p = problem_make(&random, method, JOINTS, features[i % 4]);
        golden_require(r, p != NULL);
        if (p) {
            p->model->is_wide = p->model->is_wide && wide;
            p->options.max_iterations = 12;
            p->options.restarts = i % 5 == 0 ? 2 : 0;
            answer a = problem_solve(p);
            take_answer(r, p, &a);
        }
        problem_destroy(p);
    }
}

static void solve_all(golden_result *r, const problem *p)
{
    enum { MOST = 8 };
    double solutions[MOST * PROBLEM_NUMBERS];
    int count = 0;
    poise_solver *solver = NULL;
    golden_require(r, poise_solver_create(p->model, &p->options, NULL, &solver, NULL) == POISE_OK);
    golden_require(r, poise_solve_all(solver, p->goals, p->start, solutions, MOST, &count, NULL, NULL) == POISE_OK);
    for (int i = 0; i < count * p->nq; ++i) {
        golden_take(r, solutions[i]);
    }
    poise_solver_destroy(solver);
}

static void solve_arms(golden_result *r, bool wide)
{
    scene_random random = scene_random_make(90);
    for (int i = 0; i < ARMS; ++i) {
        problem *p = problem_make_arm(&random, 3 + i % 7);
        golden_require(r, p != NULL);
        if (p) {
            p->model->is_wide = p->model->is_wide && wide;
            p->options.restarts = i % 3 == 0 ? 0 : 10;
            p->options.arm.seed_table = i % 2 == 0;
            p->options.trace = i % 4 == 0 ? p->trace : NULL; // without one the searches may use wide registers
            answer a = problem_solve(p);
            take_answer(r, p, &a);
            solve_all(r, p);
        }
        problem_destroy(p);
    }
}

void golden_solving(golden_result *r, bool wide)
{
    for (int m = 0; m < POISE_METHOD_COUNT; ++m) {
        solve_trees(r, (poise_method)m, wide);
    }
    solve_arms(r, wide);
}
