#include "kin/forward_kernel.h"

void pz_kin_layout(poise_kinematics *kin, const poise_model *model, pz_arena *arena)
{
    kin->model = model;
    kin->q = pz_arena_take(arena, (size_t)model->nq, sizeof *kin->q);
    // one more than there are: pack3_load reads beyond the last
    kin->R = pz_arena_take(arena, (size_t)model->joint_count + 1, sizeof *kin->R);
    kin->p = pz_arena_take(arena, (size_t)model->joint_count + 1, sizeof *kin->p);
    kin->S = pz_arena_take(arena, (size_t)model->axis_count, sizeof *kin->S);
    kin->blocks = pz_arena_take(arena, (size_t)model->block_count, sizeof *kin->blocks);
    kin->D = pz_arena_take(arena, (size_t)model->curve_count, sizeof *kin->D);
    kin->value = pz_arena_take(arena, (size_t)model->value_count + SWEEP_SPARE, sizeof *kin->value);
    kin->sine = pz_arena_take(arena, (size_t)model->turn_count + SWEEP_SPARE, sizeof *kin->sine);
    kin->cosine = pz_arena_take(arena, (size_t)model->turn_count + SWEEP_SPARE, sizeof *kin->cosine);
    for (int i = 0; kin->value && i < SWEEP_SPARE; ++i) {
        kin->value[model->value_count + i] = 0.0;
    }
}

void pz_kin_sweep(poise_kinematics *kin, const double *q)
{
    const poise_model *model = kin->model;
    for (int i = 0; i < model->nq; ++i) {
        kin->q[i] = q[i];
    }
    if (model->is_wide) {
        pz_kin_sweep_wide(kin);
    } else {
        sweep_forward(kin);
    }
}
