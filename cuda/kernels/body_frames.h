// The frames that the finish takes on the device, whoever works on them (body/body_team.h): problems on their own, or clips,
// frame after frame.
#ifndef POISE_CUDA_BODY_FRAMES_H
#define POISE_CUDA_BODY_FRAMES_H

#include "body/body_finish.h"

// Where a worker is.
typedef struct frame_place {
    int at, end;
} frame_place;

__device__ static bool goes_on(const frame_place *p)
{
    return p->at + 1 < p->end;
}

// The next frame of the clip, or the first one of the next clip, for f. False: there are no more.
__device__ static bool next_frame(const body_task *t, const pz_cuda_tree_batch *batch, const body_work *work,
                                  const body_clips *clips, frame_place *p, body_finish *f)
{
    f->is_first = !goes_on(p);
    if (goes_on(p)) {
        p->at += 1;
        finish_go_on(t, batch, p->at);
        return true;
    }
    int count = clips->begin ? clips->count : batch->count, next;
    do {
        next = body_agree(body_lane() == 0 ? atomicAdd(&work->counters->next_finish, 1) : 0);
        if (next < count) {
            p->at = clips->begin ? clips->begin[next] : next;
            p->end = clips->begin ? clips->begin[next + 1] : next + 1;
            f->calm = clips->calm ? &clips->calm[next] : NULL;
        }
    } while (next < count && p->at == p->end);
    return next < count;
}

#endif
