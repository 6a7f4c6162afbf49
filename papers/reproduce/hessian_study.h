// The problem of Erleben & Andrews 2019 on their own data: HDM05, actor dg, markers and motion of one take.
//
// The skeleton and its poses come from an ASF and an AMC, the markers from the C3D of the same take, read through poise_io.
// Lengths in cm, y up, angles in radians: the authors take an inch for 2.5189 cm, and so does this. Thumbs stay at zero.
//
// Each marker sits on one bone. Its place there is either found anew in every frame from the frame's AMC pose, as the
// authors do, so that the pose of the AMC meets all markers; or fixed at the mean over all frames. With fixed places the
// markers are those of the recording, which no pose meets, or where the AMC pose takes those places, which that pose does.
//
// Where the recording is not available, a motion of the humanoid of the scenes can stand in for it: as many markers, lengths
// in cm, 120 frames a second, Euler angles; its markers sit where they sit, so own and mean places are the same.
#ifndef PAPERS_HESSIAN_STUDY_H
#define PAPERS_HESSIAN_STUDY_H

#include <poise/poise.h>

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HDM05_MARKERS 41
#define HDM05_FTOL    1e-2 // cm^2: where the authors stop

// Frames in which the AMC itself jumps, counted from 1 (the right thigh turns by half a turn at its ends).
#define HDM05_FLIPS_FIRST 2842
#define HDM05_FLIPS_LAST  3299

typedef struct hdm05_task {
    poise_error error; // why there is no task
    poise_model *model;
    int nq, nv, frames;
    double frame_time;
    double *amc;                    // frames x nq: poses of the AMC, root in cm
    poise_vec3 *target;             // frames x HDM05_MARKERS
    poise_vec3 *own;                // frames x HDM05_MARKERS: places that meet the markers
    poise_vec3 mean[HDM05_MARKERS]; // places fixed at their means
    char label[HDM05_MARKERS][32];  // without the subject's name
    int body[HDM05_MARKERS];
    bool *locked;                 // nv: the thumbs; none of the humanoid's
    bool is_recording;            // read, not made
    bool has_flips;               // dg_03-05_02, the take with the frames above
    poise_kinematics *kinematics; // scratch
} hdm05_task;

// Read a take from `folder`, such as take "HDM_dg_03-05_02_120" of the skeleton "HDM_dg". False, with the reason in
// task->error, when a file is not there or does not hold what it should.
bool hdm05_read(const char *folder, const char *skeleton, const char *take, hdm05_task *task);

void hdm05_free(hdm05_task *task);

static inline const double *hdm05_pose(const hdm05_task *task, int frame)
{
    return task->amc + (size_t)frame * (size_t)task->nq;
}

typedef enum hdm05_kind {
    HDM05_OWN_PLACES, // the authors' problem
    HDM05_MEAN_PLACES,
    HDM05_MADE_MARKERS // mean places, markers where the AMC pose takes them
} hdm05_kind;

// The goals of a frame: HDM05_MARKERS of them. Several threads may ask for own and mean places at once; made markers use
// the scratch of the task.
void hdm05_goals(const hdm05_task *task, int frame, hdm05_kind kind, poise_goal *goals);

// The authors' start from nothing: all angles zero, the root at the mean of the markers.
void hdm05_zero(const hdm05_task *task, int frame, double *q);

// Does this frame, counted from 0, come before the AMC jumps for the first time? After that a solver that follows its own
// answers may stay in another basin for good.
static inline bool hdm05_is_before_flip(int frame)
{
    return frame + 1 < HDM05_FLIPS_FIRST;
}

// Is this frame, counted from 0, outside the window in which the AMC jumps?
static inline bool hdm05_is_outside_flips(int frame)
{
    return frame + 1 < HDM05_FLIPS_FIRST || frame + 1 > HDM05_FLIPS_LAST;
}

// ---- The authors' baselines (paper_solvers.c) ----------------------------------------------------------------------------
//
// The baselines as the authors ran them, beside the product's own BFGS and LEVENBERG_MARQUARDT:
// MATLAB's fminunc with its quasi-Newton algorithm, and LMFsolve (M. Balda 2007) as their program has it. Neither knows
// limits. The coordinates must be numbers that a step adds to: no quaternions.

typedef enum paper_solver {
    PAPER_NONE = 0,
    PAPER_BFGS, // "as fminunc"
    PAPER_LM    // "as LMFsolve"
} paper_solver;

typedef struct paper_problem {
    poise_objective *objective; // with its goals
    int n;                      // coordinates
    const bool *locked;         // n flags of coordinates that stay; NULL: none
    int max_iterations;
    double tolerance; // stop when f is below
} paper_problem;

typedef struct paper_result {
    int iterations, evaluations;
    double f;
} paper_result;

// Improve x (n numbers). `history` (may be NULL) receives f at the start and after each iteration: max_iterations + 1
// numbers. False without memory, or where f cannot be evaluated.
bool paper_solve(paper_solver solver, const paper_problem *problem, double *x, double *history, paper_result *result);

// ---- Symmetric matrices --------------------------------------------------------------------------------------------------
//
// Symmetric matrices of experiments: row-major, n x n, the caller's memory.

// x <- A^-1 x by Cholesky's factor, which takes the place of A. False when A is not positive definite.
bool symmetric_solve(int n, double *A, double *x);

// Eigenvalues in ascending order to w (n numbers), by the rotations of Jacobi; A is spoilt.
void symmetric_eigenvalues(int n, double *A, double *w);

// ---- Studies -------------------------------------------------------------------------------------------------------------
//
// The experiments of Erleben & Andrews 2019 (Solving inverse kinematics using exact Hessian matrices) on a recording or on a
// motion that stands in for it: the top of this file says what the problem is. Markers are at own places, so that f = 0 can
// be reached. Frames are counted from 0 here; f is in cm^2.
//
// A study may be used by several threads at once.

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

// ---- Definiteness (definiteness.c) ---------------------------------------------------------------------------------------
//
// Definiteness and condition of the exact Hessian of a study, by parameterisation of ball joints:
// what Erleben & Andrews 2019 say in sections 4, 6.3, 6.7 and Appendix A without an experiment. Raw coordinates, as
// theirs: cm and radians. Frames are counted from 0.

typedef enum definiteness_chart {
    CHART_EULER = 0,   // as the study has it
    CHART_SWING_TWIST, // twist about the limb; the root by a rotation vector
    CHART_VECTOR,      // rotation vectors: the exponential map
    CHART_QUATERNION,
    CHARTS
} definiteness_chart;

typedef enum definiteness_state {
    STATE_BEFORE = 0, // the pose of the frame before
    STATE_ZERO,       // all angles zero, the root at the mean of the markers
    STATE_RANDOM,     // every angle from -180 to 180 degrees, the root as in the frame before
    STATE_IN_LIMITS,  // every angle within the authors' limits, the root as in the frame before
    STATES
} definiteness_state;

typedef struct definiteness_case {
    definiteness_chart chart;
    definiteness_state state;
    double prior;      // weight of a pull towards angles of zero, cm^2/rad^2
    double smoothness; // of one towards the pose of the frame before
} definiteness_case;

// Over frames.
typedef struct definiteness_sums {
    int frames, indefinite;
    double negative;  // eigenvalues below 0, in sum
    int ill;          // condition number above 1e5
    double condition; // median of |eigenvalue| largest over smallest
    double worst;     // largest
} definiteness_sums;

// One frame in `every`. False without memory.
bool definiteness_along(const hessian_study *study, const definiteness_case *what, int every, definiteness_sums *sums);

// The same at the iterates of TRUST_REGION from zero, with or without limits; over the coordinates that are not at a limit.
// One frame in `every`, the first `iterations` iterates.
bool definiteness_of_path(const hessian_study *study, bool has_limits, int every, int iterations, definiteness_sums *sums);

// A ball joint with three markers at its solution: the smallest eigenvalue of its Hessian over the largest, with the middle
// Euler angle (order ZYX) at `angle`, the others 0.3.
bool definiteness_gimbal(definiteness_chart chart, double angle, double *ratio);

#ifdef __cplusplus
}
#endif

#endif
