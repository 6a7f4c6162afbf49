// Robots with several tips: scenes, or descriptions of the data folder (docs/data.md), with goals at some of their bodies.
#ifndef BENCH_TIPS_TASK_H
#define BENCH_TIPS_TASK_H

#include "suite.h"

#include <poise/poise.h>
#include <scenes/random.h>

#define TIPS_MOST 8

// A problem: a scene, or a file such as "urdf/baxter.urdf" where that is NULL, and the bodies or tools that have a goal.
typedef struct tips_row {
    const char *name, *scene, *file;
    bool is_floating; // the root is made free
    bool has_points;  // POSITION goals, else POSE
    const char *tips[TIPS_MOST];
} tips_row;

typedef struct tips_task {
    const tips_row *row;
    poise_model *model;
    poise_kinematics *kinematics;
    int count, nq;
    int bodies[TIPS_MOST];
    poise_pose locals[TIPS_MOST];
    double *middle; // nq: of the limits
    double *wanted; // nq: where the targets come from
    double *q;      // nq
    poise_goal goals[TIPS_MOST];
} tips_task;

// False where there is no such file, which the report says; one that is wrong, or lacks a tip, ends the program.
bool tips_open(const bench *b, const tips_row *row, tips_task *task);

// The same of a model, which the task releases.
void tips_open_model(poise_model *model, const tips_row *row, tips_task *task);
void tips_close(tips_task *task);

// Where a solve starts: the middle of the limits, with a free root at 0; within 0.1 of the target's coordinates.
typedef enum tips_start { TIPS_MIDDLE = 0, TIPS_NEAR } tips_start;

// Which targets: joints uniform within the limits; the same with three of ten exactly at one.
typedef enum tips_targets { TIPS_UNIFORM = 0, TIPS_AT_LIMITS } tips_targets;

// The next targets, in task->goals, and a start, in task->q.
void tips_draw(tips_task *task, tips_targets targets, tips_start start, scene_random *random);

// The largest error of a tip at task->q, in metres or radians, by the forward kinematics; infinite when a limit is broken.
double tips_error(const tips_task *task);

#endif
