// The evaluation of expressive inverse kinematics: seven skeletons, every posture of a set at every orientation of a set
// (Ribeiro & Paiva 2019, section 4), in whole or as a sample.
#ifndef RESEARCH_ERIK_EVALUATION_H
#define RESEARCH_ERIK_EVALUATION_H

#include "erik_sets.h"
#include "statistics.h"

#include <poise/express.h>

#ifdef __cplusplus
extern "C" {
#endif

// Numbers of the paper; 0 where it prints none.
typedef struct evaluate_printed {
    int64_t postures, samples;
    double iterations, iterations_deviation, iterations_most; // Table 8
    double milliseconds, least_milliseconds, most_milliseconds, milliseconds_deviation;
    double error, error_deviation;             // Table 9: skeleton C only
    double orientation, orientation_deviation; //
    double posture, posture_deviation;         // weighted by 0.2
} evaluate_printed;

typedef struct evaluate_skeleton {
    char letter;
    const char *scene;
    int finest; // of its postures
    evaluate_printed printed;
} evaluate_skeleton;

#define EVALUATE_SKELETONS 7
const evaluate_skeleton *evaluate_skeleton_at(int index);              // NULL out of range
const evaluate_printed *evaluate_printed_two_task(int max_iterations); // 100, 200, 400; NULL otherwise

// A skeleton with its sets, shared between threads once made.
typedef struct evaluate_problem {
    const evaluate_skeleton *skeleton;
    poise_model *model;
    poise_erik_options options;
    evaluate_angles angles;
    int swept; // joints that postures differ in: all but twisters at either end
    int joints[EVALUATE_MOST_DIMENSIONS];
    int64_t posture_count, orientation_count;
    unsigned char *postures, *posture_denominators;
    poise_quat *orientations;
} evaluate_problem;

// `options` without body and tip, which are the scene's. Release with evaluate_problem_destroy.
poise_status evaluate_problem_create(int skeleton, const poise_erik_options *options, evaluate_angles angles,
                                     int orientation_finest, evaluate_problem **problem);
void evaluate_problem_destroy(evaluate_problem *problem);

// Posture i as a configuration (nq numbers).
void evaluate_posture(const evaluate_problem *problem, int64_t index, double *q);

typedef enum evaluate_solver {
    EVALUATE_ERIK = 0,
    EVALUATE_TWO_TASK, // with the posture
    EVALUATE_TWO_TASK_NO_POSTURE
} evaluate_solver;

typedef struct evaluate_run {
    evaluate_solver solver;
    int max_iterations;  // two tasks
    bool correct_flip;   // two tasks: by the posture
    bool as_printed;     // two tasks: by the side that the target faces, as the paper has it
    double filter;       // two tasks: leave samples out whose orientation error without posture task is above this; 0: none
    double (*now)(void); // nanoseconds; NULL: no times
} evaluate_run;

typedef struct evaluate_results {
    evaluate_statistics error, orientation, posture, iterations, time; // posture weighted; time in microseconds
    int64_t reached;                                                   // error within the threshold
    int64_t aimed;                                                     // orientation error within the threshold
    int64_t violations;                                                // answers outside the limits
    int64_t left_out;                                                  // by the filter
} evaluate_results;

evaluate_results evaluate_results_make(void);
void evaluate_results_merge(evaluate_results *results, const evaluate_results *other);

// Add a sample that was solved: what is said of its answer q, and its time in microseconds.
void evaluate_add(const evaluate_problem *problem, const poise_erik_report *report, const double *q, double time,
                  evaluate_results *results);

// Solve one sample and add it. `erik` is over problem->model, one per thread; q has room for nq numbers.
void evaluate_sample(const evaluate_problem *problem, const evaluate_run *run, poise_erik *erik, int64_t posture,
                     int64_t orientation, double *q, evaluate_results *results);

// Sample number `index` of a random sample: postures in turn, so that each comes as often as any other, orientations by
// chance (splitmix64 of seed and index).
void evaluate_draw(const evaluate_problem *problem, uint64_t seed, int64_t index, int64_t *posture, int64_t *orientation);

// A stretch of an evaluation: postures from .. to - 1, each at all orientations; or numbers from .. to - 1 of a random
// sample that takes one draw in `stride`.
typedef struct evaluate_stretch {
    const evaluate_problem *problem;
    int64_t from, to;
    bool is_whole; // the former
    int64_t stride;
    uint64_t seed;
} evaluate_stretch;

int64_t evaluate_stretch_count(const evaluate_stretch *stretch);

// Sample i < count.
void evaluate_stretch_at(const evaluate_stretch *stretch, int64_t index, int64_t *posture, int64_t *orientation);

#ifdef __cplusplus
}
#endif

#endif
