// Goals in words: "position hand 0.4 0.1 0.3 weight 2; aim head to 1 0 1.5". `poise help goals` explains the language.
//
// Nothing here opens a file or prints.
#ifndef APP_GOAL_LANGUAGE_H
#define APP_GOAL_LANGUAGE_H

#include <poise/goal.h>

// What the words may refer to.
typedef struct goal_context {
    const poise_model *model;
    const double *start; // nq numbers: where "stay" stays; NULL: the neutral configuration

    // A posture by the name that was given; fills q (nq numbers). NULL: "neutral" and numbers are all there is. Without an
    // answer it may have written a line about it into `error`.
    bool (*posture)(const void *user, const char *name, double *q, char *error, size_t size);
    const void *user;
} goal_context;

// Goals, the words they came from, and the numbers they point to. Start with {0}.
typedef struct goal_list {
    poise_goal *goals;
    char **texts; // one for each goal, as it was written
    int count, room;
    double **numbers; // what goals point to
    int number_count;
} goal_list;

// Add the goals in `text` (zero-terminated), parted by semicolons. False, with a line in `error` such as
// `goal 2, word 3: no body or tool is called "hnad"; did you mean "hand"?`; the list then has the goals before that one.
bool goals_parse(goal_list *list, const goal_context *context, const char *text, char *error, size_t size);

// Add a goal that came from elsewhere; what it points to must stay valid. False: no memory.
bool goals_add(goal_list *list, const poise_goal *goal, const char *text);

// What a goal is about, in words that goals_parse would take: "position hand 0.4 0.1 0.3".
void goal_describe(const poise_goal *goal, const poise_model *model, char *text, size_t size);

// Is it a wish, which pulls on the answer and is never met exactly (POSTURE, SMOOTHNESS)?
bool goal_is_wish(const poise_goal *goal);

void goals_release(goal_list *list);

#endif
