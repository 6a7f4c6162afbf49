// Searches of several arm problems side by side, one in each lane: what the engine (arm_lanes.c) asks of the kernel of each
// width, and that kernel, for sources that define REAL_WIDTH (lanes_2.c and so on).
#ifndef PZ_BATCH_ARM_LANES_H
#define PZ_BATCH_ARM_LANES_H

#include "solve/arm.h"
#include "solve/arm_kernel.h"

#define PZ_ARM_LANES_MOST 8

// What evaluate() found: bits of lanes.
typedef struct pz_arm_stops {
    unsigned stopped; // the search ends here
    unsigned met;     // and the target is met
} pz_arm_stops;

// `lanes` is the kernel's memory for the searches under way on one chain of hinges: `size` bytes, aligned to PZ_ALIGNMENT,
// all 0 at first. `busy` has the bits of the lanes that hold a search; what the others compute does not matter.
typedef struct pz_arm_kernel {
    size_t size;
    // Put a problem into a lane: its target, and the intervals of its run.
    void (*aim)(void *lanes, int lane, const pz_arm_chain *chain, const pz_arm_target *target, const pz_arm_run *run);
    // Begin a search at the run's q.
    void (*begin)(void *lanes, int lane, const pz_arm_chain *chain, const pz_arm_run *run);
    // Evaluate all lanes at q and say which searches end, `most` the iterations that each may take.
    pz_arm_stops (*evaluate)(void *lanes, unsigned busy, const pz_arm_chain *chain, int most);
    // One step of all lanes from where evaluate() was.
    void (*step)(void *lanes, unsigned busy, const pz_arm_chain *chain);
    // What pz_arm_search leaves in a run: get_end, before step(), where the search stopped; get_numbers, after it, the
    // rest.
    void (*get_end)(const void *lanes, int lane, const pz_arm_chain *chain, pz_arm_run *run);
    void (*get_numbers)(const void *lanes, int lane, const pz_arm_chain *chain, pz_arm_run *run);
} pz_arm_kernel;

extern const pz_arm_kernel pz_arm_kernel_2, pz_arm_kernel_4, pz_arm_kernel_8;

#if REAL_WIDTH > 1

// ---- The kernel ----------------------------------------------------------------------------------------------------------
//
// The search of solve/arm_kernel.h for six hinges and more, one problem to a lane. Searches take their steps together, but
// begin and end one by one.

typedef struct lanes_state {
    real q[PZ_ARM_MOST], side[PZ_ARM_MOST], lower[PZ_ARM_MOST], upper[PZ_ARM_MOST], middle[PZ_ARM_MOST]; // of pz_arm_run
    real33 u;                                                                                            // of the target
    real3 t;
    real most_r, most_e, W, cost;
    arm_progress progress;
    real first_r, first_e; // where the search began

    // at q, from evaluate()
    arm_frames frames;
    arm_error error;
    real f, inverse_kappa;

    // at the q before, from step()
    real g[PZ_ARM_MOST]; // W J . r + a . v, held or not
} lanes_state;

REAL_TARGET static void aim_lane(void *lanes, int l, const pz_arm_chain *chain, const pz_arm_target *target,
                                 const pz_arm_run *run)
{
    lanes_state *s = (lanes_state *)lanes;
    real3_set(&s->u.x, l, target->u.x), real3_set(&s->u.y, l, target->u.y), real3_set(&s->u.z, l, target->u.z);
    real3_set(&s->t, l, target->t);
    real_set(&s->most_r, l, target->most_r), real_set(&s->most_e, l, target->most_e);
    real_set(&s->W, l, target->W), real_set(&s->cost, l, target->cost);
    for (int i = 0; i < chain->n; ++i) {
        real_set(&s->lower[i], l, run->lower[i]);
        real_set(&s->upper[i], l, run->upper[i]);
        real_set(&s->middle[i], l, run->middle[i]);
    }
}

REAL_TARGET static void begin_lane(void *lanes, int l, const pz_arm_chain *chain, const pz_arm_run *run)
{
    lanes_state *s = (lanes_state *)lanes;
    for (int i = 0; i < chain->n; ++i) {
        real_set(&s->q[i], l, run->q[i]), real_set(&s->side[i], l, run->side[i]);
    }
    real_set(&s->progress.k, l, 0.0);
    real_set(&s->progress.f1, l, INFINITY), real_set(&s->progress.f2, l, INFINITY), real_set(&s->progress.f3, l, INFINITY);
}

REAL_TARGET static void get_end(const void *lanes, int l, const pz_arm_chain *chain, pz_arm_run *run)
{
    const lanes_state *s = (const lanes_state *)lanes;
    for (int i = 0; i < chain->n; ++i) {
        run->q[i] = real_get(&s->q[i], l), run->side[i] = real_get(&s->side[i], l);
    }
}

REAL_TARGET static void get_numbers(const void *lanes, int l, const pz_arm_chain *chain, pz_arm_run *run)
{
    const lanes_state *s = (const lanes_state *)lanes;
    int evaluations = (int)real_get(&s->progress.k, l);
    run->f = real_get(&s->f, l), run->r = real_get(&s->error.rr, l), run->e = real_get(&s->error.e, l);
    run->first_r = real_get(&s->first_r, l), run->first_e = real_get(&s->first_e, l);
    run->iterations += evaluations - 1;
    run->evaluations += evaluations;
    for (int i = 0; i < chain->n; ++i) {
        run->g[i] = real_get(&s->g[i], l);
    }
}

REAL_FN pz_arm_stops evaluate_lanes(lanes_state *s, unsigned busy, const pz_arm_chain *chain, int n, int most)
{
    arm_forward(chain, n, false, busy, s->q, &s->frames);
    arm_error error = arm_error_at(&s->frames, &s->u, s->t);
    real_mask first = s->progress.k == 0.0, met = arm_is_met(&error, s->most_r, s->most_e, s->W, s->cost);
    s->error = error;
    s->f = arm_energy(&error);
    s->inverse_kappa = 1.0 / arm_kappa(error.e); // for step(): here, root and division hide behind other work
    s->first_r = real_select(first, error.rr, s->first_r);
    s->first_e = real_select(first, error.e, s->first_e);
    return (pz_arm_stops){.stopped = mask_bits(arm_ends(&s->progress, s->f, met, most)), .met = mask_bits(met)};
}

REAL_FN void step_lanes(lanes_state *s, unsigned busy, const pz_arm_chain *chain, int n)
{
    arm_column columns[PZ_ARM_MOST];
    real x[PZ_ARM_MOST];
    arm_error error = s->error;
    for (int i = 0; i < n; ++i) {
        arm_column column = arm_column_of(chain, false, &s->frames, i);
        s->g[i] = arm_slope(&column, s->W, &error);
        real_mask moves = mask_not(arm_is_held(s->side[i], arm_slope(&column, real_of(1.0), &error)));
        columns[i] = (arm_column){pack3_where(moves, column.a), pack3_where(moves, column.J)};
    }
    arm_block_step(n, columns, busy, &error, arm_damping(s->f), s->inverse_kappa, x);
    arm_joints joints = {s->q, s->side, s->lower, s->upper, s->middle};
    arm_move(chain, n, false, x, &joints);
}

REAL_TARGET static pz_arm_stops evaluate_all(void *lanes, unsigned busy, const pz_arm_chain *chain, int most)
{
    switch (chain->n) {
    case 6:
        return evaluate_lanes((lanes_state *)lanes, busy, chain, 6, most);
    case 7:
        return evaluate_lanes((lanes_state *)lanes, busy, chain, 7, most);
    default:
        return evaluate_lanes((lanes_state *)lanes, busy, chain, chain->n, most);
    }
}

REAL_TARGET static void step_all(void *lanes, unsigned busy, const pz_arm_chain *chain)
{
    switch (chain->n) {
    case 6:
        step_lanes((lanes_state *)lanes, busy, chain, 6);
        break;
    case 7:
        step_lanes((lanes_state *)lanes, busy, chain, 7);
        break;
    default:
        step_lanes((lanes_state *)lanes, busy, chain, chain->n);
        break;
    }
}

// The kernel of this width.
#define ARM_KERNEL                                                                                                          \
    {                                                                                                                       \
        .size = sizeof(lanes_state), .aim = aim_lane, .begin = begin_lane, .evaluate = evaluate_all, .step = step_all,      \
        .get_end = get_end, .get_numbers = get_numbers                                                                      \
    }

#else

#define ARM_KERNEL                                                                                                          \
    {                                                                                                                       \
        0                                                                                                                   \
    } // never used: pz_cpu_lanes

#endif

#endif
