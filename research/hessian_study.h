// The experiments of Erleben & Andrews 2019 (Solving inverse kinematics using exact Hessian matrices) on a recording or on a
// motion that stands in for it: hdm05_task.h says what the problem is. Markers are at own places, so that f = 0 can be
// reached. Frames are counted from 0 here; f is in cm^2.
//
// A study may be used by several threads at once.
#ifndef RESEARCH_HESSIAN_STUDY_H
#define RESEARCH_HESSIAN_STUDY_H

#include "hdm05_task.h"
#include <research/hessian/paper_solvers.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hessian_study {
    char name[64]; // "dg_03-05_02", "walk"
    hdm05_task task;
    poise_model *limited; // the same skeleton with the authors' limits: the range of each angle over the take, each end
                          // moved outwards by 5 % of its own size, the root free
} hessian_study;

// A recording of `folder`, "dg_03-05_02" from HDM_dg.asf, HDM_dg_03-05_02_120.amc and .c3d, or, where that is NULL, a motion
// of the humanoid. False, with the reason in study->task.error, on
// failure. Release with hessian_study_destroy.
bool hessian_study_create(const char *folder, const char *name, hessian_study *study);
void hessian_study_destroy(hessian_study *study);

typedef struct hessian_run {
    poise_method method;
    paper_solver paper; // in its place; PAPER_NONE: the method. Without limits
    int max_iterations;
    double tolerance; // f at which to stop
    double damping;   // to begin with; 0: the method's own for starts nearby
    int band;         // of the trust region's preconditioner
    double cg_tolerance;
    int cg_iterations; // most for one step; 0: the solver's own
    bool nearest;      // the nearest semidefinite matrix inside the trust region
    bool has_limits;
    bool is_cold;        // tell the solver that it starts from far off
    int restarts;        // from elsewhere, where f is not reached
    double (*now)(void); // nanoseconds; NULL: no times
} hessian_run;

// The authors' settings: band 24, tolerance of conjugate gradients 0.1, as many of them as degrees of freedom squared, f
// down to 1e-2; no limits.
hessian_run hessian_run_default(poise_method method, int max_iterations);

// f at the start and after each iteration in f[0 .. *count - 1], which has room for max_iterations + 1, from the pose of the
// frame before or from zero. False on failure.
bool hessian_curve(const hessian_study *study, const hessian_run *run, int frame, bool from_zero, double *f, int *count);

// Sums over frames. "Before" are those before the take dg_03-05_02 flips; all frames of others.
typedef struct hessian_sums {
    int frames, before, below; // below: f <= 1e-2
    double error;              // |r|, the length of the stacked residual, cm
    double before_error;
    double distances; // sum of the distances of the markers, cm
    double iterations, evaluations;
    double time; // nanoseconds
} hessian_sums;

// One frame in `every`, each from the pose of the frame before; or `count` frames of a list, counted from 1.
bool hessian_frames(const hessian_study *study, const hessian_run *run, int every, hessian_sums *sums);
bool hessian_listed(const hessian_study *study, const hessian_run *run, const int *frames, int count, hessian_sums *sums);

// Where the first frame of a sequence starts: its pose, as in the authors' program; zero, as they write; zero, but told to
// be far off, for AUTO alone, which then aligns the root and starts again from elsewhere if it must.
typedef enum hessian_first { HESSIAN_FROM_POSE = 0, HESSIAN_FROM_ZERO, HESSIAN_COLD } hessian_first;

// Up to `frames` frames, each from the answer before: from the first on, or in `pieces` that are spread over the motion, of
// which those after the first start at their pose.
bool hessian_sequence(const hessian_study *study, const hessian_run *run, hessian_first first, int pieces, int frames,
                      hessian_sums *sums);

// Definiteness of the Hessian of an arm of two unit links whose tip is to go to (goal_x, 0), over size x size angles from
// -180 to 180 degrees, theta_1 by row; f and the smaller and larger eigenvalue as well, each size x size numbers.
bool hessian_map(double goal_x, int size, poise_definiteness *kind, double *f, double *smaller, double *larger);

#ifdef __cplusplus
}
#endif

#endif
