// CALLBACK: an energy of one body's pose that the caller supplies, as a jet at the body's origin.
#include "goal/goal_kind.h"

// Blocks of a row-major 6 x 6 matrix; the symmetric ones averaged, so that a caller's rounding does no harm.
static pz_curvature blocks_of(const double H[36])
{
    mat3 ww = {{H[0], H[6], H[12]}, {H[1], H[7], H[13]}, {H[2], H[8], H[14]}};
    mat3 uu = {{H[21], H[27], H[33]}, {H[22], H[28], H[34]}, {H[23], H[29], H[35]}};
    mat3 wu = {{0.5 * (H[3] + H[18]), 0.5 * (H[9] + H[19]), 0.5 * (H[15] + H[20])},
               {0.5 * (H[4] + H[24]), 0.5 * (H[10] + H[25]), 0.5 * (H[16] + H[26])},
               {0.5 * (H[5] + H[30]), 0.5 * (H[11] + H[31]), 0.5 * (H[17] + H[32])}};
    return (pz_curvature){sym3_of(&ww), wu, sym3_of(&uu)};
}

// Ask the caller. False when the goal drops out.
static bool ask(const poise_kinematics *kin, const poise_goal *goal, poise_body_energy *answer)
{
    *answer = (poise_body_energy){.energy = 0};
    answer->gauss_newton[0] = NAN;
    poise_pose pose = poise_kinematics_body_pose(kin, goal->body);
    if (!goal->function(goal->user, &pose, answer)) {
        return false;
    }
    if (answer->gauss_newton[0] != answer->gauss_newton[0]) {
        for (int i = 0; i < 36; ++i) {
            answer->gauss_newton[i] = answer->hessian[i];
        }
    }
    return is_finite(answer->energy) && all_finite(answer->gradient, 6) && all_finite(answer->hessian, 36) &&
           all_finite(answer->gauss_newton, 36);
}

void pz_callback_evaluate(pz_evaluation *evaluation, const poise_goal *goal)
{
    poise_body_energy answer;
    if (!ask(evaluation->kin, goal, &answer)) {
        return;
    }
    double w = goal->weight;
    for (int i = 0; i < 36; ++i) {
        answer.hessian[i] *= w;
        answer.gauss_newton[i] *= w;
    }
    const double *g = answer.gradient;
    pz_jet jet = {.x = evaluation->kin->p[goal->body],
                  .energy = w * answer.energy,
                  .torque = v3(w * g[0], w * g[1], w * g[2]),
                  .force = v3(w * g[3], w * g[4], w * g[5]),
                  .exact = blocks_of(answer.hessian),
                  .gauss_newton = blocks_of(answer.gauss_newton)};
    pz_add_jet(evaluation, goal->body, &jet);
}

poise_goal_error pz_callback_error(const poise_kinematics *kin, const poise_goal *goal)
{
    poise_body_energy answer;
    bool there = ask(kin, goal, &answer);
    return pz_single_error(there && answer.energy > 0 ? sqrt(2.0 * answer.energy) : 0.0, POISE_UNIT_NONE);
}
