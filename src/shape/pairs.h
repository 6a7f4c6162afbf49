// Which bodies may touch, by the tree, and random configurations in which to see what touches.
#ifndef PZ_SHAPE_PAIRS_H
#define PZ_SHAPE_PAIRS_H

#include <poise/constraint.h>

#include "model/model.h"

// Joints that move between two bodies: 0 within a rigid group, which the world is one of. *is_chain (may be NULL): they are
// joints of one chain, not of two branches.
int pz_joints_between(const poise_model *model, int a, int b, bool *is_chain);

// Is a pair of bodies in a list of them, either way round?
bool pz_is_excluded(const poise_pair *excluded, int count, int a, int b);

// Do groups allow that two shapes meet? One without any meets all.
static inline bool pz_groups_meet(uint32_t groups, uint32_t against, uint32_t other_groups, uint32_t other_against)
{
    bool is_free = (groups | against) == 0 || (other_groups | other_against) == 0;
    return is_free || (groups & other_against) != 0 || (other_groups & against) != 0;
}

// A configuration within the limits.
void pz_draw_configuration(const poise_model *model, uint64_t *state, double *q);

#endif
