// BWCD, backward coordinate descent: CCD from the root to the ends, so that most of the change happens near the root and the
// shape of the rest is kept (T. Ribeiro & A. Paiva, "Expressive Inverse Kinematics Solving in Real-time for Virtual and
// Robotic Interactive Characters", 2019, section 3.2).
//
// A joint sees those above where they have just moved and those below as they were. Seen from the world as it was, the joint
// and all below it have not moved yet, but the targets have, the opposite way: so again one forward sweep serves all.
#include "solve/geometric/geometric.h"
#include "solve/methods.h"

#include <string.h>

static double sweep_from_root(poise_solver *solver, double caution, bool *bounds)
{
    const poise_model *model = solver->model;
    pz_geometric *g = solver->method;
    memcpy(g->q, solver->at->kin.q, (size_t)model->nq * sizeof *g->q);
    *bounds = pz_pull_goals(solver, caution, g->pulls);
    for (int k = model->joint_count - 1; k >= 0; --k) {
        int parent = model->joints[k].parent;
        if (parent != POISE_WORLD && !pz_pull_is_empty(&g->pulls[k])) {
            pz_pull_add(&g->pulls[parent], 1.0, &g->pulls[k]);
        }
    }
    return pz_move_from_root(solver, g);
}

double pz_move_from_root(const poise_solver *solver, pz_geometric *g)
{
    const poise_model *model = solver->model;
    double longest = 0.0;
    for (int k = 0; k < model->joint_count; ++k) {
        pz_pull *pull = &g->pulls[k];
        if (pz_pull_is_empty(pull)) {
            continue;
        }
        int parent = model->joints[k].parent;
        pz_move above = parent == POISE_WORLD ? pz_move_identity() : g->moves[parent], own = pz_move_identity();
        pz_pull_carry_targets_back(pull, &above);
        longest = max2(longest, pz_best_move(solver, k, pull, g->q, &own));
        g->moves[k] = pz_move_after(&above, &own);
    }
    return longest;
}

poise_outcome pz_bwcd_run(poise_solver *solver)
{
    return pz_descend(solver, sweep_from_root);
}
