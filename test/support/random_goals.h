// Random goals of every kind, for tests. No function of <math.h> is used, as in random_model.h.
#ifndef TEST_RANDOM_GOALS_H
#define TEST_RANDOM_GOALS_H

#include "random_model.h"

#define RANDOM_GOAL_NUMBERS 1024 // room for q and for a step
#define RANDOM_GOALS        22   // every kind, with its losses and bands
#define RANDOM_COUPLED      3    // of them, at the end, tie bodies together

// The goals and the arrays they point to. Do not copy it.
typedef struct random_goals {
    poise_goal goals[RANDOM_GOALS];
    double posture[RANDOM_GOAL_NUMBERS];
    double before[RANDOM_GOAL_NUMBERS];
    double weights[RANDOM_GOAL_NUMBERS];
    double numbers[6]; // of the callback
} random_goals;

// Fill all goals for a model, which must have mass. Bodies, points, targets and weights are random.
void random_goals_make(scene_random *random, const poise_model *model, random_goals *out);

#endif
