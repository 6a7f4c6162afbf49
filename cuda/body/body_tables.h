// The tables of a body_task, made from a model, goals and options; in host memory.
#ifndef POISE_CUDA_BODY_TABLES_H
#define POISE_CUDA_BODY_TABLES_H

#include "body_task.h"

// The task, whose pointers are to the arrays beside it.
typedef struct body_tables {
    body_task task;
    body_joint *joints;
    body_chain *chains;
    int16_t *levels, *goal;
    float *single;
    double *numbers, *starts, *pulls; // pulls: rest, rest_pull, steady_pull
    int8_t *start_kind, *part;
    int number_count, swing_room;
} body_tables;

// Does the fast way serve these goals, with options that have been checked? If not, `why` says what it does not know.
// Clips may have a POSTURE and a SMOOTHNESS besides, and then are all that is served: *only_clips.
bool pz_body_serves(const poise_model *model, const poise_goal *goals, int goal_count, const poise_solver_options *options,
                    bool *only_clips, const char **why);

// POISE_OK, or POISE_ERROR_MEMORY with nothing made.
poise_status pz_body_tables_make(const poise_model *model, const poise_goal *goals, int goal_count,
                                 const poise_solver_options *options, body_tables *tables);
void pz_body_tables_free(body_tables *tables);

#endif
