#include "body_on_host.h"

#define BODY_DOUBLE
#include "lib/body_finish.h"

void BODY_ON_HOST(finish)(const body_task *task, const pz_cuda_tree_batch *batch, const body_work *work)
{
    double *m = work->state;
    for (int problem = 0; problem < batch->count; ++problem) {
        body_finish f;
        body_next next = BODY_LOOK;
        finish_begin(task, batch, work, problem, m, &f);
        while (next == BODY_LOOK) {
            body_look look = body_forward(task, m);
            next = finish_judge(task, batch, work, &look, m, &f);
            if (next == BODY_SOLVE) {
                finish_solve(task, batch, m, &f);
                next = BODY_LOOK;
            }
        }
    }
}
