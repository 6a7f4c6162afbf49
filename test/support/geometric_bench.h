// A model with a solver's options around it, for the tests of the geometric methods.
#ifndef TEST_GEOMETRIC_BENCH_H
#define TEST_GEOMETRIC_BENCH_H

#include "random_model.h"

#define LARGEST 256 // numbers in q, in a step, in a trace

typedef struct bench {
    poise_model *model;
    poise_solver_options options;
    poise_kinematics *kinematics;
    poise_trace trace[LARGEST];
    bool locked[LARGEST];
    int nq, nv;
} bench;

// CCD, BWCD, FABRIK.
extern const poise_method geometric[3];

// Over a model or a scene, released after the test. 200 iterations, a trace, nothing locked. Do not copy it.
void bench_over(bench *b, poise_model *model, poise_method method);
void bench_open(bench *b, const char *scene, poise_method method);

// One solve with the options as they are. Asserts that no memory was asked for meanwhile, and that there is an error text
// exactly when it failed. `report` may be NULL.
poise_status bench_solve(bench *b, const poise_goal *goals, int count, double *q, poise_report *report);

double bench_cost(const bench *b, const poise_goal *goals, int count, const double *q);

// Position, direction (of y) or pose that a tool has at q, as a goal.
poise_goal bench_tool_goal(bench *b, const char *name, const double *q, poise_goal_kind kind);

// A goal of one of the kinds that CCD and BWCD serve, on a random body.
poise_goal bench_random_goal(scene_random *random, const poise_model *model, bool with_aim);

#endif
