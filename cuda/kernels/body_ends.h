// The ends of runs on the device, whoever works on them (lib/body_team.h).
#ifndef POISE_CUDA_BODY_ENDS_H
#define POISE_CUDA_BODY_ENDS_H

#include "lib/body_search.h"

// Has a run before this one met the goals?
__device__ static bool is_beaten(const body_work *work, const body_run *r)
{
    return body_agree(*(volatile const int *)&work->best[r->problem].won < r->run);
}

// The end of a run: kept if it is the best so far.
__device__ __noinline__ static void end_run(const body_task *t, const body_work *work, const float *m, const body_run *r,
                                            bool found)
{
    body_best *best = &work->best[r->problem];
    bool is_first = body_lane() == 0;
    if (is_first) {
        work->passes[(size_t)r->problem * (size_t)(t->restarts + 1) + (size_t)r->run] = (uint16_t)r->looks;
        if (r->run == 0) {
            best->start_cost = r->start_cost;
        }
        if (found) {
            atomicMin(&best->won, r->run);
        }
    }
    for (bool done = false; !done;) {
        if (body_agree(is_first && atomicCAS(&best->lock, 0u, 1u) == 0u)) {
            __threadfence();
            volatile body_best *now = best;
            if (body_agree(search_precedes(r, found, now->won, now->run, now->cost))) {
                search_keep(t, m, r, work->ends);
                if (is_first) {
                    now->run = r->run;
                    now->cost = r->cost;
                }
            }
            __threadfence();
            body_meet();
            if (is_first) {
                atomicExch(&best->lock, 0u);
            }
            done = true;
        }
    }
}

#endif
