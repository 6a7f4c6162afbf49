// Poise: whole clips. Solves all frames at once, as a spline in time, instead of frame by frame.
//
//   poise_sequence_options options = poise_sequence_options_default();
//   poise_track_whole(&problem, &options, NULL, &clip, frames, &report, &error);   // markers in, a clip out
//
// or, for goals of any kind that change over time, poise_sequence_solve.
//
// **What it minimises.** With q(t) a cubic spline with a knot every `knot` frames,
//
//   sum over frames t of f_t(q(t))  +  sum over frames t and dofs i of W_i/2 (q_i(t+1) - 2 q_i(t) + q_i(t-1))^2
//
// so markers and smoothness are weighed together: gaps are bridged by the motion around them, noise is averaged over joint
// motion instead of marker by marker, and nothing lags. W_i is (noise of the markers / acceleration of the motion)^2, both
// per frame. Quaternions, and rotation vectors without limits, are smoothed as rotations, without gimbal lock.
//
// **Limits.** The values of a spline lie between its coefficients, so joint limits imposed on these hold at all times.
// Velocities and accelerations are limited in the same way, through differences of coefficients. Those of quaternions, and
// of rotation vectors without limits, are what the rotation turns by from frame to frame, log(q_t^-1 q_(t+1)), about the
// axes of its body, and its change; they are not limited between frames. What the solver leaves of a violation is removed in
// a last step: each coordinate takes the nearest path within its limits, whatever the goals. `moved` in the report says how
// far that was. So these limits hold in every clip; only dofs that are locked move as they did.
//
// **Windows.** The clip is solved in windows of `window` frames, from beginning to end. The last `overlap` frames of a
// window are solved again in the next one, continuing from the settled frames. So memory does not grow with the clip, and a
// frame is final `window` frames after it was recorded. More than 48 frames from its end, a window's answer agrees with
// that of the whole clip to about 0.001 degrees at 120 frames a second.
#ifndef POISE_SEQUENCE_H
#define POISE_SEQUENCE_H

#include <poise/track.h>

#ifdef __cplusplus
extern "C" {
#endif

// Fill with poise_sequence_options_default(), change what you like. Arrays must stay valid during the call.
typedef struct poise_sequence_options {
    int knot;     // 4: frames between knots; poise_track_whole halves it if splines cannot follow the motion
    double noise; // 0: standard deviation of a marker's coordinate, in length units; 0: estimated (poise_track_whole)
    double acceleration_usual;  // 70: of rotations, radians per second squared; of slides a tenth of it, in metres
    const double *smoothness;   // NULL: the weights W, nv numbers >= 0; NULL: by noise and acceleration_usual
    const double *velocity;     // NULL: limits, nv numbers > 0, per second; infinity for none
    const double *acceleration; // NULL: the same, per second squared
    const bool *locked;         // NULL: nv flags: dofs that keep their initial values
    int window;                 // 256: frames
    int overlap;                // 48: frames that the next window solves again
    int max_iterations;         // 12: per window
    double tolerance;           // 1e-3: stop when an iteration lowers the cost by less than this share
    bool use_limits;            // true
} poise_sequence_options;

// The defaults given beside the members.
static inline poise_sequence_options poise_sequence_options_default(void)
{
    poise_sequence_options options;
    poise_init(POISE_TYPE_SEQUENCE_OPTIONS, &options, sizeof options);
    return options;
}

// How a solve went.
typedef struct poise_sequence_report {
    int windows;         // solved
    int iterations;      // of all windows
    int most_iterations; // largest of one window
    int products;        // Hessian products of the conjugate gradients
    bool converged;      // every window met the tolerance, and no frame is late
    double cost;         // of the whole clip: goals plus smoothness
    double noise;        // of a marker's coordinate, given or estimated; 0 for poise_sequence_solve
    double smoothness;   // W of the turns
    double velocity;     // largest share of a velocity limit that the frames use; 0 without limits
    double acceleration; // the same for acceleration limits
    double moved;        // largest distance, in radians or lengths, that the last step moved a coordinate to hold them
    int late;            // frames in which that was more than a tenth of what the limits allow from knot to knot
    int late_dof;        // the dof that was moved farthest beyond it; 0 if none was
} poise_sequence_report;

// Returns the *count goals of frame `frame`, valid until the next call. It may be called any number of times for a frame
// and must return the same goals each time.
typedef const poise_goal *(*poise_sequence_goals)(void *user, int frame, int *count);

// Improve a clip for goals that change over time, starting from its frames; these must be close enough to serve as control
// points at the knots. UNSUPPORTED: the model has mimic joints, or a goal ties bodies together. On any status but POISE_OK
// the clip is unchanged or partly solved. `report` may be NULL.
POISE_API poise_status poise_sequence_solve(const poise_model *model, const poise_sequence_options *options,
                                            poise_sequence_goals goals, void *user, poise_clip *clip,
                                            const poise_allocator *allocator, poise_sequence_report *report,
                                            poise_error *error);

// poise_track for the whole recording at once. It starts by tracking every knot-th frame (with the options of `problem`)
// and estimates the noise from the residuals; what splines cannot follow counts as noise, too. Outlying markers are
// dropped. `frames` (may be NULL) takes markers->frames records, with the same meaning as in poise_track; HELD is a frame
// inside a gap of more than a quarter of a second in which too few markers were seen. Frames before the first one with
// enough markers hold its pose, frames after the last one hold that one's; limits of velocity and acceleration apply
// between these two. UNSUPPORTED: a marker sits on a body that moves with a mimic joint.
POISE_API poise_status poise_track_whole(const poise_track_problem *problem, const poise_sequence_options *options,
                                         const poise_allocator *allocator, poise_clip **clip, poise_track_frame *frames,
                                         poise_sequence_report *report, poise_error *error);

// ---- Live ----------------------------------------------------------------------------------------------------------------

// Tracking of markers as they arrive, smoothed like a whole clip, with a fixed lag in frames:
//
//   poise_live_create(&problem, &options, 120.0, 32, NULL, &live, &error);
//   poise_live_next(live, seen, q, &frame, NULL, &error);      // at each frame; q is that of `frame`, 32 frames ago
//   while (poise_live_next(live, NULL, q, &frame, NULL, &error) == POISE_OK && frame >= 0) {}   // at the end: the rest
//
// A lag of 32 frames, 0.27 s at 120 frames a second, is nearly as good as the whole clip; 12 frames are a third worse;
// fewer than three knots are refused. Every `knot` frames a window is solved, which takes about as long as tracking all its
// frames, and allocates; at 120 frames a second there is time for that several times over.
typedef struct poise_live poise_live;

// A live tracker for `rate` frames a second, `lag` frames behind. Of the options it uses knot, noise, acceleration_usual,
// smoothness, locked, tolerance and use_limits. UNSUPPORTED: limits of velocity or acceleration, tasks, constraints, and
// anything that poise_track_whole does not support. Placements are copied, but not their labels; the model must stay valid.
POISE_API poise_status poise_live_create(const poise_track_problem *problem, const poise_sequence_options *options,
                                         double rate, int lag, const poise_allocator *allocator, poise_live **live,
                                         poise_error *error);
POISE_API void poise_live_destroy(poise_live *live); // NULL is allowed

// Feed the next frame: `seen` has a point for every placement, non-finite if the marker was not seen; NULL: the recording
// has ended. Fills q (nq numbers) and *frame, counted from 0; *frame is POISE_NONE, with q untouched, while none is due and
// after the last. `record` (may be NULL) says how tracking that frame by itself went.
POISE_API poise_status poise_live_next(poise_live *live, const poise_vec3 *seen, double *q, int *frame,
                                       poise_track_frame *record, poise_error *error);

// Track a whole recording as a live tracker would; `frames` (may be NULL) as in poise_track. Calls problem->on_frame when
// the work that a frame brings as it arrives is done.
POISE_API poise_status poise_track_live(const poise_track_problem *problem, const poise_sequence_options *options, int lag,
                                        const poise_allocator *allocator, poise_clip **clip, poise_track_frame *frames,
                                        poise_error *error);

#ifdef __cplusplus
}
#endif

#endif
