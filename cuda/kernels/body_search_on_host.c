#include "body_on_host.h"

#include "lib/body_search.h"

#include <limits.h>
#include <math.h>

static void run(const body_task *t, const pz_cuda_tree_batch *batch, const body_work *work, int problem, int number)
{
    body_run r;
    body_best *best = &work->best[problem];
    float *m = work->state;
    body_next next = BODY_LOOK;
    search_begin(t, batch, problem, number, m, &r);
    while (next == BODY_LOOK) {
        body_look look = body_forward(t, m);
        next = search_judge(t, &look, m, &r);
        if (next == BODY_SOLVE) {
            search_solve(t, m, &r);
            next = BODY_LOOK;
        }
    }
    work->passes[(size_t)problem * (size_t)(t->restarts + 1) + (size_t)number] = (uint16_t)r.looks;
    best->start_cost = number == 0 ? r.start_cost : best->start_cost;
    bool found = next == BODY_FOUND;
    best->won = found && number < best->won ? number : best->won;
    if (search_precedes(&r, found, best->won, best->run, best->cost)) {
        best->run = number;
        best->cost = r.cost;
        search_keep(t, m, &r, work->ends);
    }
}

void body_search_on_host(const body_task *task, const pz_cuda_tree_batch *batch, const body_work *work, bool backwards)
{
    for (int problem = 0; problem < batch->count; ++problem) {
        work->best[problem] = (body_best){.won = INT_MAX, .run = INT_MAX, .cost = INFINITY};
    }
    for (int i = 0; i <= task->restarts; ++i) {
        int number = backwards ? task->restarts - i : i;
        for (int problem = 0; problem < batch->count; ++problem) {
            if (work->best[problem].won > number) {
                run(task, batch, work, problem, number);
            }
        }
    }
}
