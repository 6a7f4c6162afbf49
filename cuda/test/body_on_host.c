// The kernels of bodies on the host, one problem after the other. Compiled once for each number type and for those who work
// on a problem, with BODY_DOUBLE for the finish and with BODY_TEAM for teams.
#include "body_on_host.h"

#ifdef BODY_TEAM
#define BODY_ON_HOST(part) body_##part##_by_team
#else
#define BODY_ON_HOST(part) body_##part##_on_host
#endif

#ifdef BODY_DOUBLE

#include "body/body_finish.h"

static void finish(const body_task *task, const pz_cuda_tree_batch *batch, const body_work *work, int problem, body_finish f)
{
    double *m = work->state;
    body_next next = BODY_EVALUATE;
    finish_begin(task, batch, work, problem, m, &f);
    while (next == BODY_EVALUATE) {
        body_value value = finish_evaluate(task, m, &f);
        next = finish_judge(task, batch, work, &value, m, &f);
        while (next == BODY_SOLVE) {
            next = finish_solve(task, m, &f);
        }
        if (next != BODY_EVALUATE && !finish_end(task, batch, work, m, next, &f)) {
            next = BODY_EVALUATE;
        }
    }
}

void BODY_ON_HOST(finish)(const body_task *task, const pz_cuda_tree_batch *batch, const body_work *work)
{
    for (int problem = 0; problem < batch->count; ++problem) {
        finish(task, batch, work, problem, (body_finish){.is_direct = false});
    }
}

void BODY_ON_HOST(clips)(const body_task *task, const pz_cuda_tree_batch *batch, const body_work *work,
                         const body_clips *clips)
{
    for (int clip = 0; clip < clips->count; ++clip) {
        for (int problem = clips->begin[clip]; problem < clips->begin[clip + 1]; ++problem) {
            bool is_first = problem == clips->begin[clip];
            if (!is_first) {
                finish_go_on(task, batch, problem);
            }
            const poise_cuda_calm *calm = clips->calm ? &clips->calm[clip] : NULL;
            finish(task, batch, work, problem, (body_finish){.is_direct = true, .is_first = is_first, .calm = calm});
        }
    }
}

#else

#include "body/body_search.h"

#include <limits.h>
#include <math.h>

static void run(const body_task *t, const pz_cuda_tree_batch *batch, const body_work *work, int problem, int number)
{
    body_run r;
    body_best *best = &work->best[problem];
    float *m = work->state;
    body_next next = BODY_EVALUATE;
    search_begin(t, batch, problem, number, m, &r);
    while (next == BODY_EVALUATE) {
        body_value value = search_evaluate(t, m, &r);
        next = search_judge(t, &value, m, &r);
        if (next == BODY_SOLVE) {
            search_solve(t, m, &r);
            next = BODY_EVALUATE;
        }
    }
    bool found = next == BODY_FOUND, is_first = body_lane() == 0;
    if (is_first) {
        work->passes[(size_t)problem * (size_t)(t->restarts + 1) + (size_t)number] = search_passes(&r);
        best->start_cost = number == 0 ? r.start_cost : best->start_cost;
        best->won = found && number < best->won ? number : best->won;
    }
    body_sync();
    bool is_best = search_precedes(&r, found, best->won, best->run, best->cost);
    body_sync();
    if (is_best) {
        search_keep(t, m, &r, work->ends);
        if (is_first) {
            best->run = number, best->cost = r.cost;
        }
    }
    body_sync();
}

void BODY_ON_HOST(search)(const body_task *task, const pz_cuda_tree_batch *batch, const body_work *work, bool backwards)
{
    for (int problem = body_lane(); problem < batch->count; problem += BODY_LANES) {
        work->best[problem] = (body_best){.won = INT_MAX, .run = INT_MAX, .cost = INFINITY};
    }
    body_sync();
    for (int i = 0; i <= task->restarts; ++i) {
        int number = backwards ? task->restarts - i : i;
        for (int problem = 0; problem < batch->count; ++problem) {
            if (work->best[problem].won > number) {
                run(task, batch, work, problem, number);
            }
        }
    }
}

#endif
