// Random problems that a method can serve, for tests of what must hold for every method. No function of <math.h> is used, as
// in random_model.h.
#ifndef TEST_PROBLEMS_H
#define TEST_PROBLEMS_H

#include "random_goals.h"

#define PROBLEM_NUMBERS 128 // room for q and for a step
#define PROBLEM_GOALS   RANDOM_GOALS
#define PROBLEM_TRACE   256

// A model, goals, a start and options that point to the arrays beside them. Do not copy it.
typedef struct problem {
    poise_model *model;
    int nq, nv;
    int count; // of goals
    poise_goal goals[PROBLEM_GOALS];
    double start[PROBLEM_NUMBERS]; // within the limits
    bool locked[PROBLEM_NUMBERS];
    poise_solver_options options;
    poise_trace trace[PROBLEM_TRACE];
    random_goals all; // what the goals were picked from
    bool is_in_reach; // some configuration within the limits meets the goals
} problem;

// What a solve gave.
typedef struct answer {
    poise_status status;
    poise_error error; // the reason, where status is not POISE_OK
    double q[PROBLEM_NUMBERS];
    poise_report report;
} answer;

// What tests must know of a method; one row for each, in problems.c.
typedef struct method_facts {
    const char *name;
    bool points;     // serves POSITION goals alone, on joints that turn; slides only in a free root
    bool axes;       // serves points and axes: POSITION, DIRECTION, ORIENTATION, POSE and AIM, without bands for rotations
    bool rows;       // serves what has residual rows: not CALLBACK
    bool null_space; // POSTURE and SMOOTHNESS stand below the other goals: the cost may rise for them
    bool levels;     // serves goal.priority
    bool open_steps; // a step may not be unique: equal singular values, a twist that is left open
} method_facts;

extern const method_facts facts_of[POISE_METHOD_COUNT];

static inline bool method_is_geometric(int method)
{
    return facts_of[method].points || facts_of[method].axes;
}

// Does the method serve such a goal?
bool method_serves(int method, const poise_goal *goal);

typedef enum problem_feature {
    PROBLEM_PLAIN = 0,
    PROBLEM_LIMITS = 1,
    PROBLEM_LOCKS = 2,     // about a quarter of the coordinates keep their values
    PROBLEM_FIXED = 4,     // no goal that a motion of the world changes in other ways than its target: no CALLBACK
    PROBLEM_ONE_LEVEL = 8, // no goal that goes to the null space: the cost falls for every method
    PROBLEM_CURVES = 16,   // joints of curves and followers by functions are among the others
    PROBLEM_WIDTHS = 32    // with PROBLEM_LIMITS: some of no width, some on one side alone, some wider than any turn
} problem_feature;

// A random tree of up to `joints` joints of every type and up to four goals of kinds that the method serves; NULL when
// memory is short. FABRIK's joints turn, but for a free root.
problem *problem_make(scene_random *random, poise_method method, int joints, unsigned features);

// A pose goal on an arm of `joints` hinges and slides, for AUTO: near the reach, or a little out of it.
problem *problem_make_arm(scene_random *random, int joints);

// A pose goal on such an arm that is met in a corner of its limits, with restarts.
problem *problem_make_corner(scene_random *random, int joints);

// A hinge, a joint of the type, a hinge, and a POSITION goal for a point of the last where a small step takes it. The joint
// may follow the first.
problem *problem_make_limb(scene_random *random, poise_method method, poise_joint_type type, bool is_mimic);

void problem_destroy(problem *p);

// Solve from `start` with a solver of its own.
answer problem_solve(problem *p);

// The same with a given solver.
answer problem_solve_with(const problem *p, poise_solver *solver);

// Are q and all numbers of the report the same, to the bit?
bool answers_are_equal(const problem *p, const answer *a, const answer *b);

// Are q and all numbers of the report finite?
bool answer_is_finite(const problem *p, const answer *a);

// Does one of 200 small steps within the limits, along every dof and at random, lower the cost by more than rounding does? A
// problem without locks; `objective` is one of its model.
// The first gives the largest share of the cost that one of them takes off.
double answer_gain(const problem *p, const double *q, poise_objective *objective, scene_random *random);
bool answer_is_refuted(const problem *p, const double *q, poise_objective *objective, scene_random *random);

#endif
