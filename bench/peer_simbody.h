// Simbody's Assembler with Markers as a baseline, behind a C interface. Built only where Simbody is installed.
#ifndef BENCH_PEER_SIMBODY_H
#define BENCH_PEER_SIMBODY_H

#include <poise/model.h>
#include <scenes/scenes.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct peer_simbody peer_simbody;

// The same skeleton and markers, at the neutral pose. NULL for joints other than hinges, ball joints and free roots.
peer_simbody *peer_simbody_create(const poise_model *model, const scene_marker *markers, int count, double accuracy);
void peer_simbody_destroy(peer_simbody *peer);

// Where the markers were seen, for the next solve.
void peer_simbody_observe(peer_simbody *peer, const poise_vec3 *seen);

// Assemble (cold), or track from the frame before. Returns how often the goal was evaluated.
int peer_simbody_solve(peer_simbody *peer, bool cold);

// Where the markers are now.
void peer_simbody_points(const peer_simbody *peer, poise_vec3 *points);

#ifdef __cplusplus
}
#endif

#endif
