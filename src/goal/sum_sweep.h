// What an objective does joint by joint between its goals and its Hessian (objective.c), for registers of every width.
#ifndef PZ_GOAL_SUM_SWEEP_H
#define PZ_GOAL_SUM_SWEEP_H

#include "goal/objective_state.h"
#include "goal/sum_kernel.h"

// The wrenches c of all axes.
REAL_FN void make_forces(const poise_objective *o, poise_hessian kind)
{
    const poise_model *model = o->kin.model;
    bool exact = kind == POISE_HESSIAN_EXACT;
    wrench *c = o->c[kind];
    for (int k = 0; k < model->joint_count; ++k) {
        const pz_joint *joint = &model->joints[k];
        const pz_sum *sum = &o->sums[k];
        int i = joint->axis_begin;
        for (; i < joint->axis_begin + joint->slide_count; ++i) {
            c[i] = slide_force(sum_lever(sum, exact, exact), sum->n, o->kin.S[i].v);
        }
        if (i < joint->axis_end) {
            turning_view view = view_of(sum, &o->kin.p[k], exact, exact);
            for (; i < joint->axis_end; ++i) {
                turn_force(&view, &o->kin.S[i].w, &c[i]);
            }
        }
    }
}

#endif
