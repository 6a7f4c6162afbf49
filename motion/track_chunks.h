// A recording that is tracked in chunks (track.c), and what goes through a chunk place by place (track_ahead.c).
#ifndef PZ_MOTION_TRACK_CHUNKS_H
#define PZ_MOTION_TRACK_CHUNKS_H

#include "motion/tracker.h"

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

int pz_track_chunk_count(const pz_track_chunks *r);

// The way of a chunk: places 0, 1, .. are frames that lead in, those of the chunk, and those of the seam beyond its end.
int pz_track_place_count(const pz_track_chunks *r, int chunk);
int pz_track_frame_at(const pz_track_chunks *r, int chunk, int place);

// What was seen in a frame, by placement; not finite where nothing was.
void pz_track_see(const pz_track_chunks *r, int frame, poise_vec3 *seen);

// Track the frame at a place, on from what the tracker did last.
void pz_track_at(const pz_track_chunks *r, poise_tracker *tracker, int worker, int chunk, int place);

// Track a frame into q and *frame, on from what the tracker did last.
void pz_track_next(const pz_track_chunks *r, poise_tracker *tracker, int worker, int number, double *q,
                   poise_track_frame *frame);

// Fill in how far a frame turned from the one before it, which may be more than is believed.
void pz_track_tell_turn(const pz_track_chunks *r, int frame);

// In the end, joints that no marker told anything of for a while go from where they were to where they are found again.
poise_status pz_track_mend_gaps(const pz_track_chunks *r, const poise_track_problem *problem,
                                const poise_allocator *allocator, poise_error *error);

// All chunks from their cold starts to their ends, with frames solved ahead by problem->ahead.
poise_status pz_track_chunks_ahead(pz_track_chunks *r, const poise_track_problem *problem, const poise_allocator *allocator,
                                   poise_error *error);

#endif
