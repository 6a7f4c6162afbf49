// CALLBACK: an energy of the pose of a body's frame `local` that the caller supplies, as a jet at the frame's origin.
#include "goal/goal.h"

#define ROUNDING 1e-9 // an energy that is below 0 by no more is taken for 0; one that is farther below is never met

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

// Is a symmetric matrix positive semidefinite, to rounding? By elimination; a pivot that is zero has a zero column.
static bool is_semidefinite(const double H[36])
{
    double A[6][6], largest = 0;
    for (int i = 0; i < 6; ++i) {
        for (int k = 0; k < 6; ++k) {
            A[i][k] = 0.5 * (H[6 * i + k] + H[6 * k + i]);
            largest = fabs(A[i][k]) > largest ? fabs(A[i][k]) : largest;
        }
    }
    for (int p = 0; p < 6; ++p) {
        bool is_zero = fabs(A[p][p]) <= 1e-12 * largest;
        if (A[p][p] < 0 && !is_zero) {
            return false;
        }
        for (int i = p + 1; i < 6; ++i) {
            if (is_zero && fabs(A[i][p]) > 1e-6 * largest) {
                return false;
            }
            double factor = is_zero ? 0 : A[i][p] / A[p][p];
            for (int k = p + 1; k < 6; ++k) {
                A[i][k] -= factor * A[p][k];
            }
        }
    }
    return true;
}

// What stands in for a Gauss-Newton matrix that the caller left unset: the Hessian where it is positive semidefinite, else
// that of one residual sqrt(2 E), g g^T / 2E.
static void fill_gauss_newton(poise_body_energy *answer)
{
    bool keeps_hessian = is_semidefinite(answer->hessian);
    double scale = answer->energy > 0 ? 0.5 / answer->energy : 0;
    for (int i = 0; i < 36; ++i) {
        answer->gauss_newton[i] =
            keeps_hessian ? answer->hessian[i] : scale * answer->gradient[i / 6] * answer->gradient[i % 6];
    }
}

// Ask the caller about the frame. False when the goal drops out.
static bool call_user(const poise_kinematics *kin, const poise_goal *goal, poise_body_energy *answer)
{
    *answer = (poise_body_energy){.energy = 0};
    answer->gauss_newton[0] = NAN;
    poise_pose pose = poise_pose_multiply(poise_kinematics_body_pose(kin, goal->body), goal->local);
    if (!goal->function(goal->user, &pose, answer)) {
        return false;
    }
    if (answer->gauss_newton[0] != answer->gauss_newton[0]) {
        fill_gauss_newton(answer);
    }
    return is_finite(answer->energy) && all_finite(answer->gradient, 6) && all_finite(answer->hessian, 36) &&
           all_finite(answer->gauss_newton, 36);
}

static void callback_evaluate(pz_evaluation *evaluation, const poise_goal *goal)
{
    poise_body_energy answer;
    if (!call_user(evaluation->kin, goal, &answer)) {
        return;
    }
    double w = goal->weight;
    for (int i = 0; i < 36; ++i) {
        answer.hessian[i] *= w;
        answer.gauss_newton[i] *= w;
    }
    const double *g = answer.gradient;
    pz_jet jet = {.x = pz_kin_point(evaluation->kin, goal->body, goal->local.position),
                  .energy = w * answer.energy,
                  .torque = v3(w * g[0], w * g[1], w * g[2]),
                  .force = v3(w * g[3], w * g[4], w * g[5]),
                  .exact = blocks_of(answer.hessian),
                  .gauss_newton = blocks_of(answer.gauss_newton)};
    pz_add_jet(evaluation, goal->body, &jet);
}

static poise_goal_error callback_error(const poise_kinematics *kin, const poise_goal *goal)
{
    poise_body_energy answer;
    double energy = call_user(kin, goal, &answer) ? answer.energy : 0.0;
    double error = energy > 0 ? sqrt(2.0 * energy) : energy < -ROUNDING ? INFINITY : 0.0;
    return pz_single_error(error, POISE_UNIT_NONE);
}

static poise_status callback_check(const poise_goal *goal, const poise_model *model, poise_error *error)
{
    (void)model;
    return goal->function ? POISE_OK : pz_refuse_goal(error, goal, "function must not be NULL");
}

poise_goal poise_goal_callback(int body, poise_goal_function function, void *user)
{
    poise_goal goal = poise_goal_default(POISE_GOAL_CALLBACK);
    goal.body = body;
    goal.function = function;
    goal.user = user;
    return goal;
}

const pz_goal_row pz_goal_callback = {
    .needs = PZ_NEEDS_BODY | PZ_NEEDS_POINT | PZ_NEEDS_ROTATION,
    .check = callback_check,
    .evaluate = callback_evaluate,
    .error = callback_error,
};
