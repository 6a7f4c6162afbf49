// Limbs: which joints move which goals, and new places for the limbs of goals that were missed.
//
// A goal's limb is what moves this goal and no other: an arm below the torso, a finger below the wrist. A search that missed
// some goals starts again with their limbs elsewhere and everything else where it is; the chances of the others to be met
// are not thrown away.
#ifndef PZ_SOLVE_TIPS_LIMBS_H
#define PZ_SOLVE_TIPS_LIMBS_H

#include "solve/solver_state.h"

#define PZ_LIMBS_MOST 16 // goals

// A set of goals: bit i for goal i.
typedef uint32_t pz_goal_set;

static inline pz_goal_set pz_goal_bit(int goal)
{
    return (pz_goal_set)1 << goal;
}

static inline bool pz_is_single(pz_goal_set set)
{
    return set != 0 && (set & (set - 1)) == 0;
}

// Fill moves[dof], nv sets: the goals that the dof moves, none for a locked one. Goals on a body, PZ_LIMBS_MOST at most.
void pz_limbs_find(const poise_solver *solver, const poise_goal *goals, int count, pz_goal_set *moves);

// A state of next_uniform for draw number `draw` of restart number `restart`, of the problem whose first goal is on `body`:
// from numbers alone, so that it does not matter what was drawn before.
uint64_t pz_limbs_state(uint64_t seed, int body, int restart, int draw);

// The dofs that move goals of `among`, and no others: the limb of a goal, or all of a problem.
static inline bool pz_is_within(pz_goal_set moved, pz_goal_set among)
{
    return moved != 0 && (moved & ~among) == 0;
}

// Redraw coordinates, uniformly within the limits, where every goal that the dof moves is in `among`; the others keep their
// value in q. Where there is no limit: within half a turn of the start, slides within `length` of it; ball joints turn from
// the start by a vector of at most half a turn. A root that is free to move stays. solver->step is scratch.
void pz_limbs_draw(poise_solver *solver, const pz_goal_set *moves, pz_goal_set among, double length, uint64_t state,
                   double *q);

// Has the model one root, free in all directions, that nothing locks or limits?
bool pz_has_free_root(const poise_solver *solver);

#endif
