// Problems with constraints: robots among obstacles, closed mechanisms, a humanoid that stands.
#ifndef BENCH_CONSTRAINED_TASK_H
#define BENCH_CONSTRAINED_TASK_H

#include "../tips_task.h"

#define CONSTRAINED_MOST  16   // constraints
#define CONSTRAINED_GOALS 4    // goals
#define CONSTRAINED_PAIRS 1024 // pairs of shapes

// A robot with what must hold. Its `tips` have the model, kinematics, targets and the start, tips.q.
typedef struct constrained_task {
    tips_task tips;
    poise_constraint given[CONSTRAINED_MOST];
    int count;
    poise_goal goals[CONSTRAINED_GOALS];
    int goal_count;
    poise_shape *shapes;
    int shape_count;
    poise_pair *pairs;
    poise_vec3 polygon[4];
    double *posture, *weights; // nq each: of a goal that has some
} constrained_task;

// One problem. `open` gives false where a file is missing, which the report says; `draw` makes the goals of the next solve, and
// its start in task->tips.q, which holds the last answer before.
typedef struct constrained_row {
    const char *name;
    bool (*open)(constrained_task *task, const bench *b);
    void (*draw)(constrained_task *task, int frame, scene_random *random);
    poise_start start;
    int restarts;
    double tolerance;
    bool is_promised; // every target is reached
} constrained_row;

// By table: constrained_robots.c, constrained_bodies.c, constrained_loops.c. Each list ends with a row without a name.
extern const constrained_row constrained_arms[], constrained_moving[], constrained_bodies[], constrained_loops[],
    constrained_standing[];

void constrained_close(constrained_task *task);

// Room for shapes, and a capsule along every link that is 8 cm long or more.
void constrained_take_shapes(constrained_task *task, int capacity);
void constrained_add_shape(constrained_task *task, poise_shape shape);
void constrained_add_links(constrained_task *task, double radius);

// The shapes so far as a CLEARANCE; bodies up to `neighbours` joints apart, and those excluded, are left alone.
void constrained_keep_apart(constrained_task *task, double margin, int neighbours, const poise_pair *excluded, int count);

// Another constraint, with its defaults.
poise_constraint *constrained_add(constrained_task *task, poise_constraint_kind kind);

// The index of a body; ends the program where there is none.
int constrained_body(const constrained_task *task, const char *name);

// Poses of the tips in a configuration with 1 mm to spare, and the middle of the limits to start from.
void constrained_draw_free(constrained_task *task, int frame, scene_random *random);

#endif
