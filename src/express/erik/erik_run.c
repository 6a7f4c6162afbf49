// ERIK: the solve (Ribeiro & Paiva 2019, Alg. 2, 3 and 7).
#include "express/erik/erik_state.h"

void pz_chain_set(const pz_chain *chain, const double *theta, pz_chain_pose *pose)
{
    for (int k = 0; k < chain->count; ++k) {
        pz_set_angle(pose, k, theta[k]);
    }
    pose->Q[0] = chain->base;
    pz_chain_forward(chain, 0, pose);
}

// ---- Candidates ----------------------------------------------------------------------------------------------------------

bool pz_erik_test(poise_erik *erik)
{
    pz_measure m = pz_erik_measure(erik, &erik->now);
    if (m.error <= erik->best_measure.error) {
        erik->best_measure = m;
        memcpy(erik->best, erik->now.theta, (size_t)erik->chain.count * sizeof *erik->best);
    }
    return m.error <= erik->options.threshold;
}

static void take_zero_pose(poise_erik *erik)
{
    for (int k = 0; k < erik->chain.count; ++k) {
        pz_set_angle(&erik->now, k, pz_zero_angle(&erik->chain.links[k]));
    }
    erik->now.Q[0] = erik->chain.base;
    pz_chain_forward(&erik->chain, 0, &erik->now);
}

bool pz_erik_begin(poise_erik *erik)
{
    erik->report = (poise_erik_report){.outcome = POISE_OUTCOME_STALLED};
    erik->error_count = 0;
    take_zero_pose(erik);
    erik->best_measure = pz_erik_measure(erik, &erik->now);
    return pz_erik_test(erik);
}

// The posture with its end turned towards the target worked with, whether or not limits allow that.
static void warp_posture(poise_erik *erik)
{
    pz_chain_set(&erik->chain, erik->psi, &erik->warped);
    pz_bwcd_posture(erik, &erik->warped);
}

// Joints of the warped posture at a limit or beyond are brought inside. The end then no longer points at the target, and
// the first iteration gets a shape with less in it that cannot be done; where that fails, the posture that the offset trick
// warps anew is left as it comes. (Alg. 3 has it once, before the iterations. Doing it again loses 7 % of the successes on
// skeleton C, 7 % on G; never doing it dead-locks 4 % of C at limits that are singular, such as a quarter turn.)
static void avoid_posture_edges(poise_erik *erik)
{
    for (int k = 0; k < erik->chain.count; ++k) {
        double inside = pz_avoid_edge(&erik->chain.links[k], erik->warped.theta[k], erik->options.disturbance);
        pz_set_angle(&erik->warped, k, inside);
    }
    pz_chain_forward(&erik->chain, 0, &erik->warped);
}

// ---- Non-convergence -----------------------------------------------------------------------------------------------------

// Do the last `window` errors stand still, come back every second time, or gain nothing?
static bool is_not_converging(const poise_erik *erik)
{
    int w = erik->options.window;
    if (erik->error_count < w) {
        return false;
    }
    double tolerance = erik->options.tolerance, newest = erik->errors[(erik->error_count - 1) % w];
    double oldest = erik->errors[erik->error_count % w], least = oldest, largest = oldest;
    bool repeats = w >= 3;
    for (int i = 0; i < w; ++i) {
        double error = erik->errors[(erik->error_count - 1 - i + w) % w];
        least = min2(least, error);
        largest = max2(largest, error);
        repeats = repeats && (i < 2 || fabs(error - erik->errors[(erik->error_count - 1 - i + 2) % w]) <= tolerance);
    }
    return largest - least <= tolerance || repeats || newest > oldest - tolerance;
}

// Turn the target about the world axes of the first two joints, each away from its nearer limit: what is exactly out of
// reach, or straight ahead of a joint that cannot tell left from right, may not be so a little beside.
static void offset_target(poise_erik *erik)
{
    const pz_chain *chain = &erik->chain;
    for (int k = 0; k < 2 && k < chain->count; ++k) {
        const pz_link *link = &chain->links[k];
        vec3 r = pz_link_axis(link, &erik->now.Q[k]);
        bool is_near_lower = fabs(erik->now.theta[k] - link->lower) < fabs(erik->now.theta[k] - link->upper);
        double s, c;
        pz_sincos(is_near_lower ? erik->options.disturbance : -erik->options.disturbance, &s, &c);
        erik->t = (mat3){pz_rotate_about(r, s, c, erik->t.x), pz_rotate_about(r, s, c, erik->t.y),
                         pz_rotate_about(r, s, c, erik->t.z)};
    }
    erik->report.used_offset = true;
    erik->error_count = 0;
    warp_posture(erik);
}

static bool try_ccd(poise_erik *erik)
{
    erik->report.used_ccd = true;
    pz_ccd_solution(erik, &erik->now);
    if (pz_erik_test(erik)) {
        return true;
    }
    take_zero_pose(erik);
    pz_ccd_solution(erik, &erik->now);
    return pz_erik_test(erik);
}

// ---- The solve -----------------------------------------------------------------------------------------------------------

// One iteration: phases, then BWCD on what they left; true when either is good enough.
static bool iterate(poise_erik *erik)
{
    pz_forward_phase(erik);
    pz_backward_phase(erik);
    if (pz_erik_test(erik)) {
        return true;
    }
    pz_bwcd_solution(erik, &erik->now);
    return pz_erik_test(erik);
}

poise_outcome pz_erik_run(poise_erik *erik)
{
    const poise_erik_options *o = &erik->options;
    bool has_changed = true; // posture or target; while they have not, an iteration would repeat the last one to the bit
    double error = 0.0;
    warp_posture(erik);
    if (o->avoid_edges) {
        avoid_posture_edges(erik);
    }
    for (erik->report.iterations = 1; erik->report.iterations <= o->max_iterations; ++erik->report.iterations) {
        if (has_changed) {
            if (iterate(erik)) {
                return POISE_OUTCOME_REACHED;
            }
            error = pz_erik_measure(erik, &erik->now).error;
            has_changed = false;
        }
        erik->errors[erik->error_count++ % o->window] = error;
        if (!is_not_converging(erik)) {
            continue;
        }
        if (o->offset_trick && !erik->report.used_offset) {
            offset_target(erik);
            has_changed = true;
        } else {
            return o->ccd_trick && try_ccd(erik) ? POISE_OUTCOME_REACHED : POISE_OUTCOME_STALLED;
        }
    }
    erik->report.iterations = o->max_iterations;
    return POISE_OUTCOME_BUDGET;
}
