// poise solve, in parts: collecting goals, printing, drawing.
#ifndef APP_SOLVE_PARTS_H
#define APP_SOLVE_PARTS_H

#include "avoid.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/json_output.h"
#include "cli/load.h"

#include <stdio.h>

// Is it a soft goal, which pulls on the answer and is never met exactly (POSTURE, SMOOTHNESS)?
static inline bool goal_is_soft(const poise_goal *goal)
{
    return goal->kind == POISE_GOAL_POSTURE || goal->kind == POISE_GOAL_SMOOTHNESS;
}

typedef struct solve_job {
    const char *name;
    poise_file *file;      // with the model
    poise_file *goal_file; // --goals in JSON; NULL: none
    const poise_model *model;
    poise_goal_list *list;
    double *start, *q; // nq numbers
    bool *locked;      // nv flags
    poise_solver_options options;
    poise_solver *solver;
    poise_report report;
    bool reached;       // every goal that is not soft is met, and what is to keep apart does
    avoided avoided;    // shapes of --avoid and --obstacle, and loops
    more_postures srdf; // its pairs and postures
    double *solutions;  // of --all, solution_count x nq
    int solution_count, solutions_asked;
    bool has_more_solutions; // than were asked for
    poise_trace *trace;      // NULL: not wanted
    const char *length_unit; // "m", or "units"
} solve_job;

// All goals of the command line, of --goals, or of the model's own file. False after one line on standard error.
bool solve_collect_goals(solve_job *job, const arguments *args);

// What is said about shapes and loops; what was not checked of them.
void solve_print_shapes(const solve_job *job);
void solve_print_unchecked(const solve_job *job);
json_node *solve_shapes_as_json(const solve_job *job);
json_node *solve_balance_as_json(const solve_job *job);
json_node *solve_loops_as_json(const solve_job *job);

// Is goal i met? A soft goal always is.
bool solve_goal_is_met(const solve_job *job, int goal);

// 0 only where every goal is met and all that was to keep apart was watched.
app_exit solve_exit(const solve_job *job);

// Why nothing was found that keeps the shapes apart: the pairs in the way and what may help.
void solve_add_blocking(const solve_job *job, FILE *stream);

void solve_print_people(const solve_job *job);
app_exit solve_print_machine(const solve_job *job);

// The skeleton at the start and at the answer, and the goals, as SVG. False after one line on standard error.
bool solve_save_picture(const solve_job *job, const char *name);

#endif
