// The beginnings and ends of runs on the device, whoever works on them (body/body_team.h).
#ifndef POISE_CUDA_BODY_ENDS_H
#define POISE_CUDA_BODY_ENDS_H

#include "body/body_search.h"

// How many problems a launch has runs of.
__device__ static unsigned problems_of(const pz_cuda_tree_batch *batch, const body_work *work, const body_runs *runs)
{
    int open = runs->of_open ? work->counters->open : batch->count;
    return runs->of_open && (open < runs->least || open > runs->most) ? 0u : (unsigned)open;
}

// The run at a place of the queue: all first runs, then all second ones, and so on.
__device__ static void find_run(const body_work *work, const body_runs *runs, unsigned long long place, unsigned problems,
                                body_run *r)
{
    int problem = (int)(place % problems);
    r->problem = runs->of_open ? work->open[problem] : problem;
    r->run = runs->begin + (int)(place / problems);
}

// Has a run before this one met the goals?
__device__ static bool is_beaten(const body_work *work, const body_run *r)
{
    return body_agree(*(volatile const int *)&work->best[r->problem].won < r->run);
}

// The end of a run: kept if it is the best so far.
BODY_FN void end_run(const body_task *t, const body_work *work, const float *m, const body_run *r, bool found)
{
    body_best *best = &work->best[r->problem];
    bool is_first = body_lane() == 0;
    if (is_first) {
        work->passes[(size_t)r->problem * (size_t)(t->restarts + 1) + (size_t)r->run] = search_passes(r);
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
