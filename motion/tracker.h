// A tracker from within (tracker.c): what it remembers, for tracking whole recordings (track.c), live (live_tracker.c) and for
// mending gaps (gaps.c); and a recording that is tracked in chunks.
#ifndef PZ_MOTION_TRACKER_H
#define PZ_MOTION_TRACKER_H

#include <poise/track.h>

#include "base/arena.h"
#include "num/vector.h"

// A pose for the current frame.
typedef struct pz_track_pose {
    double *q;             // nq
    poise_kinematics *kin; // there
    double *error;         // by marker: distance
    poise_track_frame frame;
} pz_track_pose;

// The answer to the first solve of a frame, found ahead.
typedef struct pz_track_found {
    const double *from, *q; // nq: where it begins, and the answer
    poise_outcome outcome;
    int iterations;
} pz_track_found;

struct poise_tracker {
    const poise_model *model;
    poise_track_problem problem;
    void *memory; // what _destroy releases
    poise_allocator allocator;
    bool has_allocator;
    int count; // markers
    poise_placement *placements;
    poise_goal *goals;    // one per marker, and room for SMOOTHNESS, POSTURE and the task
    const double *task;   // nq: of the current frame
    double *task_weights; // nv, or none
    double *neutral;      // nq: the neutral configuration, within the limits
    double *posture;      // nv: weights of staying near it; none without
    double *stay;         // nq: the same, but what no marker of the frame sees stays where it was
    bool *in_view;        // by joint: scratch of that
    const double *rest;   // nq: where joints rest in this frame: one of the two, or as pz_tracker_rest says, and
    const double *pull;   // nv, or none: weights of that
    bool is_told;         // pz_tracker_rest has said it
    double *sorted;       // count: scratch of the median
    poise_solver *warm, *cold;
    poise_kinematics *kin;  // scratch
    poise_status status;    // of the current frame's solves: OK until one is refused, and
    poise_error *error;     // NULL, or where the reason goes
    double reach;           // largest distance of a marker from the mean of all, in the neutral pose
    double usual;           // rms of the frames so far, smoothed
    bool has_last;          // a frame was found
    int held;               // frames since that were held
    int strays;             // frames in a row that let markers go
    double *q_start;        // nq: where a cold start begins
    double *before, *ahead; // nq, with a task: the good frame before the last one; where it leads
    double *change;         // nv: scratch
    bool has_before;
    pz_track_pose last;          // good frame
    pz_track_pose now, other;    // tries for the current frame
    const pz_track_found *found; // NULL, or for the next frame
};

// Everything but its recording.
poise_status pz_track_check(const poise_track_problem *problem, poise_error *error);

// How a frame with gaps is pulled to the last one: min((usual/turn)^2, most), where usual += rate (rms - usual).
#define PZ_USUAL_RATE 0.1 // of a frame in the usual rms
#define PZ_GAP_TURN   0.2 // radians
double pz_tracker_most_calm(const poise_tracker *tracker);

// Is there a measurement of the marker at x?
bool pz_tracker_sees(poise_vec3 x);

// Bring q within the limits, if they are to be kept and it is not.
void pz_tracker_keep_limits(const poise_tracker *tracker, double *q);

// poise_tracker_next from the pose q instead of the last one's, as if that had been found in the last frame.
void pz_tracker_go_on_from(poise_tracker *tracker, const double *q);

// From now on joints rest in the pose `rest` (nq), pulled there by the weights `pull` (nv); both stay valid. NULL: as usual
// again.
void pz_tracker_rest(poise_tracker *tracker, const double *rest, const double *pull);

// The middle one of n > 0 numbers, which change places.
double pz_middle_of(double *x, int n);

// Bring the angles of hinges and Euler joints as near to those of `near` as the same pose and the limits allow. True where
// some changed. Bodies between three hinges of one rotation may turn, which is seen only by markers on them: `placements`
// are those.
bool pz_nearest_turns(const poise_model *model, const poise_placement *placements, int count, const double *near, double *q);

// ---- A recording in chunks (track.c) -------------------------------------------------------------------------------------

typedef struct pz_track_chunks {
    const poise_markers *markers;
    const double *q_start;
    int *index; // by placement: marker, or POISE_NONE
    int count;
    int nq, chunk;
    poise_tracker **trackers; // by worker
    poise_vec3 **seen;        // by worker: count
    double **q;               // by worker: nq
    poise_error *refused;     // by worker: why a frame was refused; OK while none was
    poise_clip *clip;
    poise_track_frame *frames;
    double *tail_q; // by chunk: frames x nq beyond its end
    poise_track_frame *tail;
} pz_track_chunks;

// What was seen in a frame, by placement; not finite where nothing was.
void pz_track_see(const pz_track_chunks *r, int frame, poise_vec3 *seen);

// Track a frame into q and *frame, on from what the tracker did last.
void pz_track_next(const pz_track_chunks *r, poise_tracker *tracker, int worker, int number, double *q,
                   poise_track_frame *frame);

// Fill in how far a frame turned from the one before it, which may be more than is believed.
void pz_track_tell_turn(const pz_track_chunks *r, int frame);

#endif
