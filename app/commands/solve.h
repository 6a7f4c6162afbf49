// poise solve, in parts: collecting goals, printing, drawing.
#ifndef APP_SOLVE_H
#define APP_SOLVE_H

#include "avoid.h"
#include "cli/command.h"
#include "cli/json.h"
#include "cli/load.h"

#include <poise/verdict.h>

#include <stdio.h>

// Is it a soft goal, which pulls on the answer and is never met exactly (POSTURE, SMOOTHNESS)?
static inline bool goal_is_soft(const poise_goal *goal)
{
    return goal->kind == POISE_GOAL_POSTURE || goal->kind == POISE_GOAL_SMOOTHNESS;
}

// One pose of --path, and how it went.
typedef struct solve_path_row {
    int line;   // of the file
    char *goal; // in words
    bool is_met, holds;
    double error, rotation_error;
    double step; // the largest of a coordinate from the row before, in radians or length units,
    int step_of; // and of which degree of freedom
} solve_path_row;

typedef struct solve_path {
    const char *name; // of the file; NULL: no path
    solve_path_row *rows;
    int count;
    double factor;    // of its lengths, by --path-unit
    double nearest;   // of its points, from the origin
    int turned;       // rows in which a hinge turns by more than half a turn
    poise_clip *clip; // the answers
    double rate;      // poses a second, as --rate says; 0: it does not, and speeds are not judged
    double step[2];   // of --step: how far a joint may turn, radians, and slide, metres, from pose to pose
    poise_verdict verdict;
    poise_finding *findings; // a pose has one at most, the path one more
} solve_path;

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
    int solutions_dropped;   // that break a constraint
    bool has_more_solutions; // than were asked for
    bool blockers_sought;    // goals were missed within constraints, and it was asked why
    unsigned blockers;       // bits of poise_blocker
    poise_trace *trace;      // NULL: not wanted
    const char *length_unit; // "m", or "units"
    solve_path path;         // of --path
} solve_job;

// All goals of the command line, of --goals, or of the model's own file. False after one line on standard error.
bool solve_collect_goals(solve_job *job, const arguments *args);

// Goal i becomes what these words, of a line of --path, say. False after one line on standard error.
bool solve_set_goal(solve_job *job, int goal, const char *words, int line);

// One solve of the job's goals from its start. False after one line on standard error.
bool solve_run(solve_job *job);

// --path: read it, solve its poses one after the other, print how it went. False after one line on standard error.
bool solve_read_path(solve_job *job, const arguments *args);
bool solve_follow_path(solve_job *job);
void solve_release_path(solve_path *path);
poise_joint_info solve_joint_of_dof(const poise_model *model, int dof);
void solve_print_path(const solve_job *job);
app_exit solve_print_path_machine(const solve_job *job);

// What is said about shapes and loops; what was not checked of them.
void solve_print_shapes(const solve_job *job);
void solve_print_unchecked(const solve_job *job);
json_node *solve_shapes_as_json(const solve_job *job);
json_node *solve_balance_as_json(const solve_job *job);
json_node *solve_loops_as_json(const solve_job *job);

// Two bodies of a pair, and how far apart they are.
typedef struct solve_close_bodies {
    char a[128], b[128];
    double distance;
} solve_close_bodies;

// Bodies with less than `room` to spare at the answer, the nearest first, each two once. Returns how many; free *list.
int solve_find_close(const solve_job *job, double room, solve_close_bodies **list);

// Which constraints keep a job that was not reached from its goals; what is said of them.
void solve_find_blockers(solve_job *job);
void solve_add_blockers(const solve_job *job, FILE *stream);
void solve_add_limits(const solve_job *job, FILE *stream); // joints at a limit that move a missed goal
void solve_add_pull(const solve_job *job, FILE *stream);   // the same of soft goals
json_node *solve_blockers_as_json(const solve_job *job);

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
