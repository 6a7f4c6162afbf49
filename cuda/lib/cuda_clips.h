// Clips in host memory: to the device, frame after frame, and back.
#ifndef POISE_CUDA_CUDA_CLIPS_H
#define POISE_CUDA_CUDA_CLIPS_H

#include "cuda_body.h"

// What the clips of a call have in common.
typedef struct pz_cuda_clips {
    const poise_model *model;
    const poise_goal *goals;
    int goal_count;
    bool has_poses; // targets are poses
} pz_cuda_clips;

// Clips that are not sound get their status and are left out.
poise_status pz_cuda_clips_solve(pz_cuda_room *room, const pz_cuda_body *body, const pz_cuda_clips *all,
                                 poise_cuda_clip *clips, int count, poise_error *error);

#endif
