// The orientation of the end to rounding, within the limits, from where ERIK left it.
//
// Damped Newton on the rotation left, e = log(target end^T). With J the world axes (3 x n) of the joints that are free to
// go where the step takes them,
//
//   step = J^T (J J^T + mu I)^-1 e
//
// is the shortest one that removes e but for the damping mu, which grows where a step does not help and falls where it
// does. A joint at a limit that the step would push beyond it takes no part (an active set, found joint by joint).
#include "express/erik/erik_state.h"

#include "num/dense.h"
#include "num/rotation.h"

#include <string.h>

#define REACHED    1e-9  // radians
#define MU_FIRST   1e-6  // of |J J^T|, which is about the number of joints
#define MU_LEAST   1e-14 // rounding of J J^T
#define MU_MOST    1e6
#define ITERATIONS 60
#define FIRST_SEED 0x9e3779b97f4a7c15u

// The rotation left, in the world: to the target, or to its twin by half a roll where that is allowed and nearer.
static vec3 rotation_left(const poise_erik *erik)
{
    const mat3 *Q = &erik->now.Q[erik->chain.count];
    mat3 t = erik->tau, back = m3_transpose(Q);
    if (erik->options.symmetric_endpoint && v3_dot(Q->x, t.x) + v3_dot(Q->z, t.z) < 0.0) {
        t.x = v3_neg(t.x);
        t.z = v3_neg(t.z);
    }
    mat3 M = m3_mul(&t, &back);
    return so3_log(quat_from_matrix(&M));
}

// The step for the free joints; false when the matrix is not positive definite.
static bool solve_free(const poise_erik *erik, const double *is_free, vec3 e, double mu, double *step)
{
    const pz_chain *chain = &erik->chain;
    double M[9] = {mu, 0, 0, 0, mu, 0, 0, 0, mu}, y[3] = {e.x, e.y, e.z};
    for (int k = 0; k < chain->count; ++k) {
        vec3 r = v3_scale(pz_link_axis(&chain->links[k], &erik->now.Q[k]), is_free[k]);
        M[0] += r.x * r.x;
        M[3] += r.y * r.x;
        M[4] += r.y * r.y;
        M[6] += r.z * r.x;
        M[7] += r.z * r.y;
        M[8] += r.z * r.z;
    }
    if (!pz_cholesky(3, M)) {
        return false;
    }
    pz_cholesky_solve(3, M, y);
    for (int k = 0; k < chain->count; ++k) {
        step[k] = is_free[k] * v3_dot(pz_link_axis(&chain->links[k], &erik->now.Q[k]), v3(y[0], y[1], y[2]));
    }
    return true;
}

// Joints at a limit that the step pushes beyond it are held, until none is left.
static bool find_step(const poise_erik *erik, vec3 e, double mu, double *is_free, double *step)
{
    const pz_chain *chain = &erik->chain;
    for (int k = 0; k < chain->count; ++k) {
        is_free[k] = 1.0;
    }
    for (bool has_changed = true; has_changed;) {
        has_changed = false;
        if (!solve_free(erik, is_free, e, mu, step)) {
            return false;
        }
        for (int k = 0; k < chain->count; ++k) {
            const pz_link *link = &chain->links[k];
            double angle = erik->now.theta[k];
            if (is_free[k] > 0.0 && ((angle <= link->lower && step[k] < 0.0) || (angle >= link->upper && step[k] > 0.0))) {
                is_free[k] = 0.0;
                has_changed = true;
            }
        }
    }
    return true;
}

// Search from the current pose; returns the remaining angle.
static double search(poise_erik *erik)
{
    const pz_chain *chain = &erik->chain;
    int n = chain->count;
    double *is_free = erik->work, *step = is_free + n, *start = step + n, mu = MU_FIRST;
    vec3 e = rotation_left(erik);
    double left = v3_norm(e);
    for (int i = 0; i < ITERATIONS && left > REACHED && mu < MU_MOST; ++i) {
        if (!find_step(erik, e, mu, is_free, step)) {
            mu = max2(10.0 * mu, MU_FIRST);
            continue;
        }
        memcpy(start, erik->now.theta, (size_t)n * sizeof *start);
        for (int k = 0; k < n; ++k) {
            const pz_link *link = &chain->links[k];
            pz_set_angle(&erik->now, k, clamp(start[k] + step[k], link->lower, link->upper));
        }
        pz_chain_forward(chain, 0, &erik->now);
        vec3 e_new = rotation_left(erik);
        if (v3_norm(e_new) < left) {
            e = e_new;
            left = v3_norm(e);
            mu = max2(0.1 * mu, MU_LEAST);
        } else {
            pz_chain_set(chain, start, &erik->now);
            mu *= 10.0;
        }
    }
    return left;
}

// Where search number `number` begins: the answer, the posture, the zero pose, then anywhere within the limits.
static void take_start(poise_erik *erik, int number, uint64_t *state)
{
    const pz_chain *chain = &erik->chain;
    double *theta = erik->now.theta;
    for (int k = 0; k < chain->count; ++k) {
        const pz_link *link = &chain->links[k];
        double lower = max2(link->lower, link->center - PZ_PI), upper = min2(link->upper, link->center + PZ_PI);
        switch (number) {
        case 0:
            theta[k] = erik->best[k];
            break;
        case 1:
            theta[k] = pz_limit_angle(link, erik->psi[k]);
            break;
        case 2:
            theta[k] = pz_zero_angle(link);
            break;
        default:
            theta[k] = clamp(lower + next_uniform(state) * (upper - lower), link->lower, link->upper);
        }
    }
    pz_chain_set(chain, theta, &erik->now);
}

void pz_erik_finish(poise_erik *erik)
{
    uint64_t state = FIRST_SEED;
    for (int number = 0; number < 3 + erik->options.restarts; ++number) {
        take_start(erik, number, &state);
        bool is_reached = search(erik) <= REACHED;
        pz_measure m = pz_erik_measure(erik, &erik->now);
        if (is_reached || m.angle < erik->best_measure.angle) {
            erik->best_measure = m;
            memcpy(erik->best, erik->now.theta, (size_t)erik->chain.count * sizeof *erik->best);
        }
        if (is_reached) {
            erik->report.exact = true;
            break;
        }
    }
    if (erik->best_measure.error <= erik->options.threshold) {
        erik->report.outcome = POISE_OUTCOME_REACHED;
    } else if (erik->report.outcome == POISE_OUTCOME_REACHED) {
        erik->report.outcome = POISE_OUTCOME_STALLED;
    }
}
