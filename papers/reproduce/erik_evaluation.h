// The postures and orientations that expressive inverse kinematics is evaluated on.
//
// A set is the union, for q = 1 .. finest, of the grids of q + 1 equally spaced values per dimension between two bounds,
// each point once: coarse grids come first, so that a finer set begins with the coarser one. With `finest` 10, 7 and 4 and
// the bounds of the joints this gives the numbers of postures that Ribeiro & Paiva (2019) print, Table 8. Their 7609
// orientations are not of that kind; the nearest set is `finest` 12 with 7265.
#ifndef PAPERS_ERIK_EVALUATION_H
#define PAPERS_ERIK_EVALUATION_H

#include <poise/express.h>
#include <poise/math.h>

#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EVALUATE_MOST_DIMENSIONS 16

// Points in the union of grids, by counting: sum over q and divisors g of q of mu(g) (q/g + 1)^dimensions.
int64_t evaluate_grid_count(int dimensions, int finest);

// The union of grids as numerators: `points` has room for evaluate_grid_count x dimensions; point i is numerator[i][..] /
// q[i] with q[i] in `denominators`. Ordered by q, then as the digits of a number.
void evaluate_grid_points(int dimensions, int finest, unsigned char *points, unsigned char *denominators);

// How three angles make an orientation.
typedef enum evaluate_angles {
    EVALUATE_YXZ = 0, // R_y(yaw) R_x(pitch) R_z(roll)
    EVALUATE_YXY      // R_y(yaw) R_x(pitch) R_y(roll): roll about the direction that y points to
} evaluate_angles;

// Orientation of point i of a set of three dimensions over [-pi, pi]^3.
poise_quat evaluate_orientation(evaluate_angles angles, const unsigned char point[3], int denominator);

// ---- Statistics ----------------------------------------------------------------------------------------------------------
//
// Mean, standard deviation, extremes and a histogram of numbers that come one by one, and of parts put together.

#define EVALUATE_BINS 100

typedef struct evaluate_statistics {
    int64_t count;
    double mean;
    double squares; // sum of squared distances from the mean
    double least, most;
    double width;                    // of a bin
    int64_t bins[EVALUATE_BINS + 1]; // from 0; the last takes what lies beyond
} evaluate_statistics;

// Empty, with bins from 0 to `top`.
evaluate_statistics evaluate_statistics_make(double top);

// Add a number, by the update of B. P. Welford (1962), which does not cancel.
void evaluate_statistics_add(evaluate_statistics *s, double x);

// Put `other`, with the same bins, to `s` (T. F. Chan, G. H. Golub & R. J. LeVeque 1979).
void evaluate_statistics_merge(evaluate_statistics *s, const evaluate_statistics *other);

// Of the numbers as a whole, not of a sample; 0 without numbers.
double evaluate_statistics_deviation(const evaluate_statistics *s);

// ---- The evaluation ------------------------------------------------------------------------------------------------------
//
// The evaluation of expressive inverse kinematics: seven skeletons, every posture of a set at every orientation of a set
// (Ribeiro & Paiva 2019, section 4), in whole or as a sample.

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

// Solve one sample and add it. `erik` is over problem->model, one per thread; q has room for nq numbers.
void evaluate_sample(const evaluate_problem *problem, const evaluate_run *run, poise_erik *erik, int64_t posture,
                     int64_t orientation, double *q, evaluate_results *results);

// Sample number `index` of a random sample: postures in turn, so that each comes as often as any other, orientations by
// chance (splitmix64 of seed and index).
void evaluate_draw(const evaluate_problem *problem, uint64_t seed, int64_t index, int64_t *posture, int64_t *orientation);

// A range of an evaluation: postures from .. to - 1, each at all orientations; or numbers from .. to - 1 of a random
// sample that takes one draw in `stride`.
typedef struct evaluate_range {
    const evaluate_problem *problem;
    int64_t from, to;
    bool is_whole; // the former
    int64_t stride;
    uint64_t seed;
} evaluate_range;

int64_t evaluate_range_count(const evaluate_range *range);

// Sample i < count.
void evaluate_range_at(const evaluate_range *range, int64_t index, int64_t *posture, int64_t *orientation);

// ---- Runs that go on -----------------------------------------------------------------------------------------------------
//
// Results of the parts of a long run in a text file, one line each, so that a run that was stopped goes on where it was.
//
// The first line names the run; a file of another run is refused. Numbers are written as hexadecimal floats: what is read
// back is what was written, to the bit. A last line that was cut off is ignored.

// Write the results of part `part` as one line.
void evaluate_progress_write(FILE *file, int part, const evaluate_results *results);

// Read a file of the run `name`: results of part i go to results[i] and done[i] is set, for i < count. Returns the number
// of parts read, 0 when there is no such file, -1 when it is of another run.
int evaluate_progress_read(const char *path, const char *name, int count, evaluate_results *results, bool *done);

// Open it for more lines, with `name` as its first when it is new or empty. NULL on failure.
FILE *evaluate_progress_append(const char *path, const char *name);

#ifdef __cplusplus
}
#endif

#endif
