#include "body_on_host.h"

#define BODY_DOUBLE
#include "body/body_finish.h"

static void finish(const body_task *task, const pz_cuda_tree_batch *batch, const body_work *work, int problem, body_finish f)
{
    double *m = work->state;
    body_next next = BODY_LOOK;
    finish_begin(task, batch, work, problem, m, &f);
    while (next == BODY_LOOK) {
        body_look look = finish_look(task, m, &f);
        next = finish_judge(task, batch, work, &look, m, &f);
        while (next == BODY_SOLVE) {
            next = finish_solve(task, m, &f);
        }
        if (next != BODY_LOOK && !finish_end(task, batch, work, m, next, &f)) {
            next = BODY_LOOK;
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
