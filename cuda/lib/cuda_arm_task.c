// Arm poses: what is made once of a model, a goal and options.
#include "cuda_arm_task.h"

#include "base/error.h"
#include "model/model.h"

#include <stdlib.h>

// ---- The chain in single precision ---------------------------------------------------------------------------------------

// Limits in single precision; double precision has the last word on them. Hinges that can turn for ever are kept near 0.
static void put_limits(const pz_arm_chain *chain, int i, pz_fast_chain *fast)
{
    double lower = chain->lower[i] + chain->offset[i], upper = chain->upper[i] + chain->offset[i];
    fast->is_endless[i] = !is_finite(lower) && !is_finite(upper);
    double middle = is_finite(lower) && is_finite(upper) ? 0.5 * (lower + upper)
                    : is_finite(lower)                   ? lower + PZ_PI
                    : is_finite(upper)                   ? upper - PZ_PI
                                                         : 0.0;
    lower = is_finite(lower) ? lower : middle - ARM_ROOM;
    upper = is_finite(upper) ? upper : middle + ARM_ROOM;
    fast->lower[i] = (float)(lower / PZ_PI);
    fast->upper[i] = (float)(upper / PZ_PI);
    fast->middle[i] = (float)(middle / PZ_PI);
}

static void put_columns(const mat3 *A, float *columns)
{
    const double entries[9] = {A->x.x, A->x.y, A->x.z, A->y.x, A->y.y, A->y.z, A->z.x, A->z.y, A->z.z};
    for (int k = 0; k < 9; ++k) {
        columns[k] = (float)entries[k];
    }
}

bool pz_fast_chain_make(const pz_cuda_task *task, pz_fast_chain *fast)
{
    const pz_arm_chain *chain = &task->chain;
    if (chain->slides || (chain->n != 6 && chain->n != 7)) {
        return false;
    }
    mat3 back = m3_transpose(&chain->base), tail_back = m3_transpose(&chain->tail);
    put_columns(&back, fast->back);
    put_columns(&tail_back, fast->tail_back);
    fast->scale = (float)(1.0 / chain->unit);
    fast->reach = (float)(1.0001 * chain->reach + sqrt(task->target.most_r)); // nearer ones are judged in double
    fast->base_at[0] = chain->base_at.x, fast->base_at[1] = chain->base_at.y, fast->base_at[2] = chain->base_at.z;
    fast->first_start = task->first_start;
    for (int i = 0; i < chain->n; ++i) {
        fast->tx[i] = (float)chain->tx[i], fast->ty[i] = (float)chain->ty[i], fast->tz[i] = (float)chain->tz[i];
        fast->ca[i] = (float)chain->ca[i], fast->sa[i] = (float)chain->sa[i];
        fast->offset[i] = chain->offset[i];
        fast->first[i] = chain->first[i], fast->span[i] = chain->span[i], fast->ratio[i] = chain->ratio[i];
        fast->q[i] = chain->q[i];
        put_limits(chain, i, fast);
    }
    return true;
}

// ---- The task ------------------------------------------------------------------------------------------------------------

poise_status pz_cuda_task_make(const poise_model *model, const poise_goal *goal, const poise_solver_options *options,
                               pz_cuda_task *task, poise_error *error)
{
    poise_solver *solver;
    pz_arm_call *call = malloc(sizeof *call);
    poise_status status = call ? poise_solver_create(model, options, NULL, &solver, error) : POISE_ERROR_MEMORY;
    if (status != POISE_OK) {
        free(call);
        return call ? status : pz_error_set(error, status, "out of memory");
    }
    double *q = malloc((size_t)model->nq * sizeof *q + 1);
    if (q) {
        poise_model_neutral(model, q);
    }
    status = q ? pz_solve_begin(solver, goal, 1, q, error) : POISE_ERROR_MEMORY;
    const pz_arm_chain *chain = status == POISE_OK && pz_arm_prepare(solver, solver->arm, call) ? call->chain : NULL;
    if (status != POISE_OK) {
        status = q ? status : pz_error_set(error, status, "out of memory");
    } else if (!chain || call->target.has_band || options->method != POISE_METHOD_AUTO || options->engine ||
               options->trace) {
        status = pz_error_set(
            error, POISE_ERROR_UNSUPPORTED,
            "the device supports only AUTO for a POSE goal without bands on a chain of revolute and prismatic joints");
    } else {
        *task = (pz_cuda_task){.chain = *chain,
                               .target = call->target,
                               .weight = goal->rotation_weight,
                               .nq = model->nq,
                               .restarts = options->restarts,
                               .first_start = pz_arm_first_start(options->seed),
                               .max_iterations = options->max_iterations,
                               .fast_last = least(options->restarts, PZ_FAST_SEARCHES - 1),
                               .only_near = options->restarts == 0 && options->start == POISE_START_WARM};
    }
    free(q);
    free(call);
    poise_solver_destroy(solver);
    return status;
}
