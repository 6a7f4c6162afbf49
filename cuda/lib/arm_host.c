// The stages of arm.cu one after the other, for one target.
#include "arm_host.h"

#include "arm_fast.h"

// A target at hand.
typedef struct host_call {
    const pz_cuda_task *task;
    double start[PZ_ARM_MOST]; // within the limits
    pz_arm_call arm;           // its target, run and ends
} host_call;

static int least(int a, int b)
{
    return a < b ? a : b;
}

static void hand_out(host_call *call, poise_outcome outcome, int number, double *q, poise_cuda_answer *answer)
{
    const pz_cuda_task *task = call->task;
    pz_arm_run *run = &call->arm.run;
    pz_arm_turn_back(&task->chain, call->start, run->q);
    for (int i = 0; i < task->chain.n; ++i) {
        q[task->chain.q[i]] = run->q[i];
    }
    *answer = pz_cuda_answer_of(task, run, outcome, number);
}

// ---- Searches in single precision ----------------------------------------------------------------------------------------

// Search number m from its begin to its end. True: it came near, which run->q has.
PZ_INLINE bool comes_near(const pz_fast_chain *fast, int n, const fast_target *aim, int m, const double *q, fast_run *run)
{
    fast_begin(fast, n, m, q, run);
    for (;;) {
        fast_point at;
        fast_look(fast, n, aim, run, &at);
        fast_end end = fast_judge(&at, run);
        if (end == FAST_DROPPED) {
            return false;
        }
        fast_step(fast, n, &at, run);
        if (end == FAST_NEAR) {
            return true;
        }
    }
}

PZ_FUSED static bool comes_near_6(const pz_fast_chain *fast, const fast_target *aim, int m, const double *q, fast_run *run)
{
    return comes_near(fast, 6, aim, m, q, run);
}

PZ_FUSED static bool comes_near_7(const pz_fast_chain *fast, const fast_target *aim, int m, const double *q, fast_run *run)
{
    return comes_near(fast, 7, aim, m, q, run);
}

PZ_FUSED static bool has_aim(const pz_fast_chain *fast, const poise_pose *pose, fast_target *aim)
{
    *aim = fast_aim(fast, pose);
    return !fast_is_far(fast, aim);
}

// From where a search came near, to the tolerance: it begins with a look, which is all that most of them need.
static bool settle(const fast_run *near, host_call *call)
{
    double q[PZ_ARM_MOST];
    const pz_arm_chain *chain = &call->task->chain;
    for (int i = 0; i < chain->n; ++i) {
        q[i] = pz_fast_coordinate(chain, i, near->q[i]);
    }
    pz_arm_begin(chain, q, &call->arm.run);
    return pz_arm_search(chain, &call->arm.target, PZ_SETTLE_MOST, &call->arm.run);
}

// The number of the first of `count` searches that meets the target; -1: none.
static int search_fast(const pz_fast_chain *fast, const poise_pose *pose, const double *q, int count, host_call *call)
{
    fast_target aim;
    fast_run run;
    int m = 0;
    if (!has_aim(fast, pose, &aim)) {
        return -1;
    }
    for (; m < count; ++m) {
        bool near = call->task->chain.n == 6 ? comes_near_6(fast, &aim, m, q, &run) : comes_near_7(fast, &aim, m, q, &run);
        if (near && settle(&run, call)) {
            return m;
        }
    }
    return -1;
}

// ---- The library's algorithm ---------------------------------------------------------------------------------------------

// Search number m, as solve/arm/arm_solve.c has it.
static bool search(host_call *call, int m)
{
    const pz_cuda_task *task = call->task;
    pz_arm_run *run = &call->arm.run;
    double q[PZ_ARM_MOST];
    if (m > 0) {
        pz_arm_restart(&task->chain, task->first_start + m, q);
    }
    pz_arm_begin(&task->chain, m == 0 ? call->start : q, run);
    return pz_arm_search(&task->chain, &call->arm.target, least(PZ_ARM_SEARCH_ITERATIONS, task->max_iterations), run) ||
           (run->f < PZ_ARM_NEAR_ZERO &&
            pz_arm_finish(&task->chain, &call->arm.target, true, least(PZ_ARM_FINISH_ITERATIONS, task->max_iterations),
                          run) == PZ_ARM_MET);
}

// As find_closest of solve/arm/arm_solve.c.
static pz_arm_end find_closest(host_call *call)
{
    const pz_cuda_task *task = call->task;
    int count = task->only_near ? 0 : call->arm.end_count;
    pz_arm_run best = call->arm.run, *run = &call->arm.run;
    pz_arm_end best_end = PZ_ARM_BUDGET;
    double least_cost = INFINITY;
    for (int k = -1; k < count && (k < 0 || best_end != PZ_ARM_MET); ++k) {
        pz_arm_begin(&task->chain, k < 0 ? call->start : call->arm.ends[k].q, run);
        pz_arm_end end = pz_arm_finish(&task->chain, &call->arm.target, false, task->max_iterations, run);
        double cost = 0.5 * call->arm.target.W * run->r + run->e;
        if (k < 0 || end == PZ_ARM_MET || cost < least_cost) {
            best = *run;
            best_end = end;
            least_cost = cost;
        }
    }
    *run = best;
    return best_end;
}

static bool solve_last(host_call *call, int patience, double *q, poise_cuda_answer *answer)
{
    const pz_cuda_task *task = call->task;
    bool is_far = pz_arm_is_out_of_reach(&task->chain, &call->arm.target);
    int most = is_far ? least(task->restarts, PZ_ARM_FAR_SEARCHES) : task->restarts;
    if (is_far && patience <= most) {
        return false;
    }
    for (int m = 0; m <= most; ++m) {
        if (m == patience) {
            return false;
        }
        if (search(call, m)) {
            hand_out(call, POISE_OUTCOME_REACHED, m, q, answer);
            return true;
        }
        pz_arm_keep_end(&call->arm);
    }
    hand_out(call, pz_cuda_outcome_of(find_closest(call)), most, q, answer);
    return true;
}

// ---- One target ----------------------------------------------------------------------------------------------------------

bool pz_cuda_host_serves(const pz_fast_chain *fast)
{
    return !fast || pz_cpu_is_fused();
}

bool pz_cuda_host_solve(const pz_cuda_task *task, const pz_fast_chain *fast, const poise_pose *pose, int patience, double *q,
                        poise_cuda_answer *answer)
{
    const pz_arm_chain *chain = &task->chain;
    host_call call;
    call.task = task;
    call.arm.target = task->target;
    call.arm.end_count = 0;
    call.arm.run.iterations = call.arm.run.evaluations = 0;
    call.arm.run.trace = NULL;
    pz_arm_aim(chain, pose, &call.arm.target);
    for (int i = 0; i < chain->n; ++i) {
        call.start[i] = clamp(q[chain->q[i]], chain->lower[i], chain->upper[i]);
    }
    pz_arm_open(chain, call.start, &call.arm.run);
    if (fast) {
        int count = least(task->restarts, PZ_FAST_SEARCHES - 1) + 1;
        int met = search_fast(fast, pose, q, least(count, patience), &call);
        if (met >= 0) {
            hand_out(&call, POISE_OUTCOME_REACHED, met, q, answer);
            return true;
        }
        if (patience < count) {
            return false;
        }
    }
    return solve_last(&call, patience, q, answer);
}
