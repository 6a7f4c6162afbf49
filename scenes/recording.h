// Recordings of the humanoids: a motion as a clip, and the markers that a motion-capture system would see of it.
#ifndef SCENES_RECORDING_H
#define SCENES_RECORDING_H

#include <poise/motion.h>

#ifdef __cplusplus
extern "C" {
#endif

// How a motion is recorded. Fill with scene_recording_default(), change what you like.
typedef struct scene_recording {
    int periods;   // 1: of the motion
    double rate;   // 120 frames per second
    double noise;  // 0: standard deviation in metres, in each direction
    double gaps;   // 0: share of points that are not seen, 10 frames in a row each
    bool swapped;  // false: the knees' labels are swapped for a tenth of the time
    uint64_t seed; // 41
} scene_recording;

scene_recording scene_recording_default(void);

// A bad day: 3 mm of noise, 3 % of gaps, swapped knees.
scene_recording scene_recording_noisy(void);

// Record `motion` of a humanoid (`model` is that of `scene`). *clip and *markers (each may be NULL: not wanted) are released
// with poise_clip_destroy and poise_markers_destroy. NOT_FOUND: no such motion. UNSUPPORTED: the model is no humanoid.
poise_status scene_record(const poise_model *model, const char *scene, const char *motion, const scene_recording *how,
                          poise_clip **clip, poise_markers **markers);

#ifdef __cplusplus
}
#endif

#endif
