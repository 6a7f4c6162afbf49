// CCD, cyclic coordinate descent: from the ends to the root, every joint in turn goes where the goals below it have the
// least energy (L.-C. T. Wang & C. C. Chen, "A combined optimization method for solving the inverse kinematics problem of
// mechanical manipulators", 1991).
//
// A joint sees what the joints below have just done and those above as they were, so that one forward sweep of the
// kinematics serves all of them: pulls are carried along by each move and handed to the parent. Each move is the exact
// minimum over one step of the joint, or lower than before where there is no closed form (best_move.c): the cost cannot
// rise.
#include "solve/geometric/geometric.h"
#include "solve/methods.h"

#include <string.h>

static double sweep_to_root(poise_solver *solver, double caution, bool *bounds)
{
    const poise_model *model = solver->model;
    pz_geometric *g = solver->method;
    double longest = 0.0;
    memcpy(g->q, solver->at->kin.q, (size_t)model->nq * sizeof *g->q);
    *bounds = pz_pull_goals(solver, caution, g->pulls);
    for (int k = model->joint_count - 1; k >= 0; --k) {
        pz_pull *pull = &g->pulls[k];
        if (pz_pull_is_empty(pull)) {
            continue;
        }
        longest = max2(longest, pz_best_move(solver, k, pull, g->q, NULL));
        int parent = model->joints[k].parent;
        if (parent != POISE_WORLD) {
            pz_pull_add(&g->pulls[parent], 1.0, pull);
        }
    }
    return longest;
}

poise_outcome pz_ccd_run(poise_solver *solver)
{
    return pz_descend(solver, sweep_to_root);
}
