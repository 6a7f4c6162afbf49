// What a solve on an arm does around its searches: where they begin, what they aim at, which ends are kept. Nothing here
// knows of a solver, so that others than arm_solve.c can use it.
#include "solve/arm/arm_kernel.h"

// ---- Restarts ------------------------------------------------------------------------------------------------------------

double pz_arm_sequence_at(const pz_arm_chain *chain, int i, double ratio, int m)
{
    double at = 0.5 + (double)m * ratio;
    at -= (double)(int64_t)at;
    return clamp(chain->first[i] + chain->span[i] * at, chain->lower[i], chain->upper[i]);
}

void pz_arm_restart(const pz_arm_chain *chain, int restart, double *q)
{
    for (int i = 0; i < chain->n; ++i) {
        q[i] = pz_arm_sequence_at(chain, i, chain->ratio[i], restart);
    }
}

// ---- Runs ----------------------------------------------------------------------------------------------------------------

void pz_arm_open(const pz_arm_chain *chain, const double *q, pz_arm_run *run)
{
    arm_open(chain, chain->n, q, run);
}

void pz_arm_begin(const pz_arm_chain *chain, const double *q, pz_arm_run *run)
{
    arm_begin(chain, chain->n, q, run);
}

// ---- Target --------------------------------------------------------------------------------------------------------------

// q/|q| for |q|^2 = 1 + d, |d| < 1e-5 by the checks of goals: 1 - d/2 + 3/8 d^2 is 1/|q| to rounding.
static quat unit(quat q)
{
    double d = (q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w) - 1.0, s = 1.0 - d * (0.5 - 0.375 * d);
    return (quat){s * q.x, s * q.y, s * q.z, s * q.w};
}

void pz_arm_aim(const pz_arm_chain *chain, const poise_pose *pose, pz_arm_target *target)
{
    mat3 R = quat_matrix(unit(pose->rotation)), back = m3_transpose(&chain->base);
    target->u = m3_mul(&back, &R);
    target->t = v3_scale(m3_apply(&back, v3_sub(pose->position, chain->base_at)), 1.0 / chain->unit);
    if (!target->has_band) {
        mat3 tail = m3_transpose(&chain->tail);
        target->u = m3_mul(&target->u, &tail);
    }
}

bool pz_arm_is_out_of_reach(const pz_arm_chain *chain, const pz_arm_target *target)
{
    double most = chain->reach * (1.0 + 1e-9) + sqrt(target->most_r);
    return !target->has_band && v3_dot(target->t, target->t) > most * most;
}

int pz_arm_last_search(const pz_arm_chain *chain, const pz_arm_target *target, int restarts)
{
    return pz_arm_is_out_of_reach(chain, target) ? least(restarts, PZ_ARM_FAR_SEARCHES) : restarts;
}

int pz_arm_beyond_count(const pz_arm_chain *chain, const pz_arm_target *target, int restarts)
{
    int wanted = PZ_ARM_BEYOND_EACH * least(restarts, PZ_ARM_BEYOND_MOST / PZ_ARM_BEYOND_EACH);
    bool looks = restarts > 0 && !pz_arm_is_out_of_reach(chain, target);
    return !looks ? 0 : wanted < PZ_ARM_BEYOND_LEAST ? PZ_ARM_BEYOND_LEAST : wanted;
}

// ---- Ends ----------------------------------------------------------------------------------------------------------------

double pz_arm_angle(double e)
{
    return 2.0 * pz_atan2(sqrt(0.5 * e), sqrt(max2(1.0 - 0.5 * e, 0.0)));
}

poise_outcome pz_arm_outcome(pz_arm_end end)
{
    return end == PZ_ARM_MET       ? POISE_OUTCOME_REACHED
           : end == PZ_ARM_CLOSEST ? POISE_OUTCOME_CLOSEST
           : end == PZ_ARM_BUDGET  ? POISE_OUTCOME_BUDGET
                                   : POISE_OUTCOME_STALLED;
}

void pz_arm_keep_end(pz_arm_call *call)
{
    double cost = pz_arm_cost(&call->target, &call->run);
    if (!is_finite(cost) || (call->end_count == PZ_ARM_ENDS && !(cost < call->ends[PZ_ARM_ENDS - 1].cost))) {
        return;
    }
    int at = call->end_count < PZ_ARM_ENDS ? call->end_count++ : PZ_ARM_ENDS - 1;
    for (; at > 0 && cost < call->ends[at - 1].cost; --at) {
        call->ends[at] = call->ends[at - 1];
    }
    call->ends[at].cost = cost;
    memcpy(call->ends[at].q, call->run.q, sizeof call->ends[at].q);
}

void pz_arm_turn_back(const pz_arm_chain *chain, const double *q_start, double *q)
{
    arm_turn_back(chain, chain->n, q_start, q);
}
