// The stages of arm.cu one after the other, for one target.
#include "num/trig.h"

#include "arm_fast.h"
#include "arm_world.h"

// What a target is solved with.
typedef struct pz_host_task {
    const pz_cuda_task *task;
    const pz_fast_chain *fast; // NULL: none
    const pz_arm_world *world; // NULL: none
} pz_host_task;

static void hand_out(const pz_host_task *own, pz_arm_call *call, poise_outcome outcome, int number, double *q,
                     poise_cuda_answer *answer)
{
    const pz_cuda_task *task = own->task;
    pz_arm_run *run = &call->run;
    pz_world_room room = {INFINITY, -1};
    if (own->world) {
        room = world_room(own->world, &task->chain, run->q, true);
    }
    arm_turn_back(&task->chain, task->chain.n, call->q_start, run->q);
    for (int i = 0; i < task->chain.n; ++i) {
        q[task->chain.q[i]] = run->q[i];
    }
    *answer = pz_cuda_answer_of(task, run, outcome, number);
    if (own->world) {
        world_report(own->world, task, room, answer);
    }
}

// Does nothing collide where the run is?
static bool is_clear(const pz_host_task *own, const pz_arm_run *run)
{
    return !own->world || world_is_clear(world_room(own->world, &own->task->chain, run->q, false));
}

// ---- Searches in single precision ----------------------------------------------------------------------------------------

// Search number m from its begin to its end. True: it came near, which run->q has.
PZ_INLINE bool comes_near(const pz_fast_chain *fast, int n, const fast_target *aim, int m, const double *q, fast_run *run)
{
    fast_begin(fast, n, m, q, run);
    for (;;) {
        fast_point at;
        fast_evaluate(fast, n, aim, run, &at);
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

// From where a search came near, to the tolerance: it begins with an evaluation, which is all that most of them need.
static bool settle(const pz_arm_chain *chain, const fast_run *near, pz_arm_call *call)
{
    double q[PZ_ARM_MOST];
    for (int i = 0; i < chain->n; ++i) {
        q[i] = pz_fast_coordinate(chain, i, near->q[i]);
    }
    arm_begin(chain, chain->n, q, &call->run);
    return pz_arm_search(chain, &call->target, PZ_SETTLE_MOST, &call->run);
}

// The number of the first of `count` searches that meets the target without collisions; -1: none.
static int search_fast(const pz_host_task *own, const poise_pose *pose, const double *q, int count, pz_arm_call *call)
{
    const pz_arm_chain *chain = &own->task->chain;
    const pz_fast_chain *fast = own->fast;
    fast_target aim;
    fast_run run;
    bool has_one = has_aim(fast, pose, &aim);
    for (int m = 0; has_one && m < count; ++m) {
        bool near = chain->n == 6 ? comes_near_6(fast, &aim, m, q, &run) : comes_near_7(fast, &aim, m, q, &run);
        if (near && settle(chain, &run, call) && is_clear(own, &call->run)) {
            return m;
        }
    }
    return -1;
}

// ---- The library's algorithm ---------------------------------------------------------------------------------------------

// Search number m.
static bool search(const pz_cuda_task *task, pz_arm_call *call, int m)
{
    const pz_arm_chain *chain = &task->chain;
    double q[PZ_ARM_MOST];
    if (m > 0) {
        arm_restart(chain, task->first_start + m, q);
    }
    arm_begin(chain, chain->n, m == 0 ? call->q_start : q, &call->run);
    return pz_arm_search(chain, &call->target, pz_arm_search_most(task->max_iterations), &call->run) ||
           pz_arm_finish_search(chain, &call->target, task->max_iterations, &call->run);
}

static double minimise(void *context, pz_arm_call *call, const double *q, pz_arm_end *end)
{
    const pz_cuda_task *task = context;
    arm_begin(&task->chain, task->chain.n, q, &call->run);
    *end = pz_arm_finish(&task->chain, &call->target, false, task->max_iterations, &call->run);
    return pz_arm_cost(&call->target, &call->run);
}

// What met the target, but collides: the one that breaks the least is kept.
typedef struct blocked {
    double room; // -infinity: there is none
    double q[PZ_ARM_MOST], r, e;
} blocked;

static void keep_blocked(const pz_host_task *own, const pz_arm_run *run, blocked *best)
{
    double room = world_room(own->world, &own->task->chain, run->q, true).room;
    if (room > best->room) {
        best->room = room, best->r = run->r, best->e = run->e;
        memcpy(best->q, run->q, sizeof best->q);
    }
}

// No search found an answer: the closest pose, or the one that breaks the least.
static void conclude(const pz_host_task *own, pz_arm_call *call, const blocked *best, int most, double *q,
                     poise_cuda_answer *answer)
{
    poise_outcome outcome = POISE_OUTCOME_INFEASIBLE;
    if (best->room > -INFINITY) {
        memcpy(call->run.q, best->q, sizeof best->q);
        call->run.r = best->r, call->run.e = best->e;
    } else {
        outcome = arm_outcome(pz_arm_find_closest(call, own->task->only_near, minimise, (void *)own->task));
        outcome = is_clear(own, &call->run) ? outcome : POISE_OUTCOME_INFEASIBLE;
    }
    hand_out(own, call, outcome, most, q, answer);
}

static bool solve_last(const pz_host_task *own, pz_arm_call *call, int patience, double *q, poise_cuda_answer *answer)
{
    const pz_cuda_task *task = own->task;
    blocked best = {.room = -INFINITY};
    int most = arm_last_search(&task->chain, &call->target, task->restarts);
    if (patience <= most && arm_is_out_of_reach(&task->chain, &call->target)) {
        return false;
    }
    bool is_short = own->fast && own->world; // all searches were made in single precision
    for (int m = 0; m <= (is_short ? least(most, PZ_FAST_SEARCHES - 1) : most); ++m) {
        if (m == patience) {
            return false;
        }
        if (!search(task, call, m)) {
            arm_keep_end(call);
        } else if (is_clear(own, &call->run)) {
            hand_out(own, call, POISE_OUTCOME_REACHED, m, q, answer);
            return true;
        } else {
            keep_blocked(own, &call->run, &best);
        }
    }
    conclude(own, call, &best, most, q, answer);
    return true;
}

// ---- One target ----------------------------------------------------------------------------------------------------------

bool pz_cuda_host_serves(const pz_fast_chain *fast)
{
    return !fast || pz_cpu_is_fused();
}

bool pz_cuda_host_solve(const pz_cuda_task *task, const pz_fast_chain *fast, const pz_arm_world *world,
                        const poise_pose *pose, int patience, double *q, poise_cuda_answer *answer)
{
    const pz_host_task own = {task, fast, world};
    const pz_arm_chain *chain = &task->chain;
    pz_arm_call call;
    call.target = task->target;
    call.end_count = 0;
    call.run.iterations = call.run.evaluations = 0;
    call.run.trace = NULL;
    arm_aim(chain, pose, &call.target);
    for (int i = 0; i < chain->n; ++i) {
        call.q_start[i] = clamp(q[chain->q[i]], chain->lower[i], chain->upper[i]);
    }
    arm_open(chain, chain->n, call.q_start, &call.run);
    if (fast) {
        int count = task->fast_last + 1;
        int met = search_fast(&own, pose, q, least(count, patience), &call);
        if (met >= 0) {
            hand_out(&own, &call, POISE_OUTCOME_REACHED, met, q, answer);
            return true;
        }
        if (patience < count) {
            return false;
        }
    }
    return solve_last(&own, &call, patience, q, answer);
}
