// Poise: whole clips. All frames at once, as a spline in time, instead of one frame after the other.
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
// so that markers and smoothness decide together: gaps are bridged by the motion around them, noise is averaged along the
// joints and not marker by marker, and nothing lags. W_i is (noise of the markers / acceleration of the motion)^2, both by
// frame. Rotations as quaternions, and rotation vectors without limits, are smoothed as rotations: there is no gimbal lock.
//
// **Limits.** The numbers of a spline lie between those of its coefficients: joint limits on these hold at every time.
// Velocities and accelerations are limited in the same way, on differences of coefficients.
//
// **Windows.** The clip is solved in windows of `window` frames, from its beginning to its end. What is nearer to a window's
// end than `overlap` frames is solved again in the next one, on from what is settled: so memory does not grow with the
// clip, and frames can be handed out `window` frames after they were recorded. Farther than 48 frames from its end a
// window's answer is that of the whole clip to about 0.001 degrees at 120 frames a second.
#ifndef POISE_SEQUENCE_H
#define POISE_SEQUENCE_H

#include <poise/track.h>

#ifdef __cplusplus
extern "C" {
#endif

// Fill with poise_sequence_options_default(), change what you like. Arrays must stay valid during the call.
typedef struct poise_sequence_options {
    int knot;                   // 4: frames from knot to knot; poise_track_whole halves it where splines cannot follow
    double noise;               // 0: of a coordinate of a marker, in length units; 0: estimated (poise_track_whole)
    double acceleration_usual;  // 70: of the turns of a motion, radians a second squared; slides a tenth, in metres
    const double *smoothness;   // NULL: the weights W, nv numbers >= 0; NULL: by noise and acceleration_usual
    const double *velocity;     // NULL: limits, nv numbers > 0, per second; infinity for none
    const double *acceleration; // NULL: the same, per second squared
    const bool *locked;         // NULL: nv flags: dofs that keep the values of the start
    int window;                 // 256: frames
    int overlap;                // 48: of those, that the next window solves again
    int max_iterations;         // 12: in a window
    double tolerance;           // 1e-3: stop when an iteration lowers the cost by less than this share
    bool use_limits;            // true
} poise_sequence_options;

// The defaults that stand beside the members.
POISE_API poise_sequence_options poise_sequence_options_default(void);

// What came of it.
typedef struct poise_sequence_report {
    int windows;         // solved
    int iterations;      // of all of them
    int most_iterations; // of one
    int products;        // of the conjugate gradients
    bool converged;      // every window came to its tolerance
    double cost;         // of the whole clip: goals and smoothness
    double noise;        // of a coordinate of a marker, as given or estimated; 0: poise_sequence_solve
    double smoothness;   // W of the turns
    double velocity;     // largest share of a velocity limit; 0 without
    double acceleration; // of an acceleration limit
} poise_sequence_report;

// The goals of frame `frame`, *count of them, valid until the next call. It may be asked for a frame any number of times,
// and must answer the same.
typedef const poise_goal *(*poise_sequence_goals)(void *user, int frame, int *count);

// Improve a clip for goals that change over time. The clip is where it starts; it must be near enough for its knots to be
// control points. UNSUPPORTED: the model has joints that follow others, or a goal ties bodies together. On any status but
// POISE_OK the clip is as it was or solved in part. `report` may be NULL.
POISE_API poise_status poise_sequence_solve(const poise_model *model, const poise_sequence_options *options,
                                            poise_sequence_goals goals, void *user, poise_clip *clip,
                                            const poise_allocator *allocator, poise_sequence_report *report,
                                            poise_error *error);

// poise_track for the whole recording at once. It starts from every knot-th frame tracked (`problem` counts for that), from
// whose residuals the noise is estimated; what splines miss by counts as noise, too. Markers that are far off are let go.
// `frames` (may be NULL) takes markers->frames records, which mean what poise_track says they do; HELD is a frame that lies
// in a gap of more than a quarter of a second in which too few markers were seen. Frames before the first with enough
// markers hold its pose, those after the last hold that one's: limits of velocity and acceleration count between them.
POISE_API poise_status poise_track_whole(const poise_track_problem *problem, const poise_sequence_options *options,
                                         const poise_allocator *allocator, poise_clip **clip, poise_track_frame *frames,
                                         poise_sequence_report *report, poise_error *error);

// ---- Live ----------------------------------------------------------------------------------------------------------------

// Markers as they arrive, smoothed as whole clips are, a fixed number of frames behind:
//
//   poise_live_create(&problem, &options, 120.0, 32, NULL, &live, &error);
//   poise_live_next(live, seen, q, &frame, NULL, &error);      // at each frame; q is that of `frame`, 32 frames ago
//   while (poise_live_next(live, NULL, q, &frame, NULL, &error) == POISE_OK && frame >= 0) {}   // at the end: the rest
//
// 32 frames behind, 0.27 s at 120 a second, are nearly as good as the whole clip, 12 a third worse; fewer than three knots
// are refused. Once in every `knot` frames a window is solved, which takes about as long as tracking all its frames, and
// allocates: at 120 frames a second there is time for it several times over.
typedef struct poise_live poise_live;

// A live tracker for frames at `rate` a second, `lag` frames behind. Of the options knot, noise, acceleration_usual,
// smoothness, locked, tolerance and use_limits count; UNSUPPORTED: limits of velocity or acceleration, tasks, constraints,
// and what poise_track_whole does not support. Placements are copied, their labels not; the model must stay valid.
POISE_API poise_status poise_live_create(const poise_track_problem *problem, const poise_sequence_options *options,
                                         double rate, int lag, const poise_allocator *allocator, poise_live **live,
                                         poise_error *error);
POISE_API void poise_live_destroy(poise_live *live); // NULL is allowed

// The next frame: `seen` has a point for every placement, not finite where it was not seen; NULL: nothing comes any more.
// Fills q (nq numbers) and `frame`, counted from 0; POISE_NONE, with q as it was, while none is due or when all were given.
// `record` (may be NULL) says what tracking it on its own came to.
POISE_API poise_status poise_live_next(poise_live *live, const poise_vec3 *seen, double *q, int *frame,
                                       poise_track_frame *record, poise_error *error);

// A recording as a live tracker would give it; `frames` (may be NULL) as in poise_track.
POISE_API poise_status poise_track_live(const poise_track_problem *problem, const poise_sequence_options *options, int lag,
                                        const poise_allocator *allocator, poise_clip **clip, poise_track_frame *frames,
                                        poise_error *error);

#ifdef __cplusplus
}
#endif

#endif
