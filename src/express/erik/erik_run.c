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

// Keep the candidate if it is the best so far; is it good enough?
static bool is_good_enough(poise_erik *erik)
{
    pz_measure m = pz_erik_measure(erik, &erik->now);
    if (m.error <= erik->best_measure.error) {
        erik->best_measure = m;
        erik->report.followed = false;
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

bool pz_erik_begin(poise_erik *erik, bool warm)
{
    erik->report = (poise_erik_report){.outcome = POISE_OUTCOME_STALLED};
    erik->error_count = 0;
    erik->is_empty = !warm;
    if (erik->is_empty) {
        take_zero_pose(erik);
    } else {
        pz_chain_set(&erik->chain, erik->previous, &erik->now);
    }
    erik->best_measure = pz_erik_measure(erik, &erik->now);
    return is_good_enough(erik);
}

// The posture with its end turned towards the target worked with, whether or not limits allow that.
static void warp_posture(poise_erik *erik)
{
    pz_chain_set(&erik->chain, erik->psi, &erik->warped);
    pz_bwcd_posture(erik, &erik->warped);
}

// Joints of the warped posture at a limit or beyond are brought inside: a shape with less in it that cannot be done. Once,
// before the iterations, as Alg. 3 has it. Where they fail, the posture that the offset trick warps anew is left as it
// comes; with its joints brought inside, too, the trick would lose more than it gains (7 % of the successes on skeleton E).
static void avoid_posture_edges(poise_erik *erik)
{
    for (int k = 0; k < erik->chain.count; ++k) {
        double inside = pz_avoid_edge(&erik->chain.links[k], erik->warped.theta[k], erik->options.disturbance);
        pz_set_angle(&erik->warped, k, inside);
    }
    pz_chain_forward(&erik->chain, 0, &erik->warped);
}

// ---- The previous solution -----------------------------------------------------------------------------------------------

// The angle of a joint in the posture as the previous solution bends: of the two that bend as much, and of an inner twister
// and its half turns, the one nearest to `was`. Twisters at either end are set by the target.
static double posture_angle(const poise_erik *erik, int k, double was)
{
    const pz_link *link = &erik->chain.links[k];
    double psi = erik->psi[k], angle = was, least = INFINITY;
    bool is_twister = link->kind == PZ_LINK_TWISTER;
    if (is_twister && (k == 0 || k == erik->chain.count - 1)) {
        return was;
    }
    for (int i = -2; i <= 2; ++i) {
        double other = is_twister ? psi + i * PZ_PI : i % 2 == 0 ? psi : 2.0 * link->theta0 - psi;
        double held = pz_limit_angle(link, other), left = fabs(held - was);
        if (left < least && (!is_twister || held == other)) {
            least = left;
            angle = held;
        }
    }
    return angle;
}

// Go on from the previous solution: every joint a share of the way to the posture, in the branch where it is, then BWCD
// without a half turn. True when that is good enough.
static bool follow_previous(poise_erik *erik)
{
    const double share = 0.1;
    for (int k = 0; k < erik->chain.count; ++k) {
        double was = erik->previous[k];
        pz_set_angle(&erik->now, k, was + share * (posture_angle(erik, k, was) - was));
    }
    pz_chain_forward(&erik->chain, 0, &erik->now);
    pz_bwcd_solution(erik, &erik->now, erik->previous);
    erik->best_measure.error = INFINITY;
    bool is_good = is_good_enough(erik);
    erik->report.followed = true;
    return is_good;
}

// ---- Non-convergence -----------------------------------------------------------------------------------------------------

bool pz_erik_is_stuck(const double *errors, int count, int window, double tolerance)
{
    int w = window;
    if (count < w) {
        return false;
    }
    double newest = errors[(count - 1) % w], oldest = errors[count % w], least = oldest, largest = oldest;
    bool repeats = w >= 3;
    for (int i = 0; i < w; ++i) {
        double error = errors[(count - 1 - i + w) % w];
        least = min2(least, error);
        largest = max2(largest, error);
        repeats = repeats && (i < 2 || fabs(error - errors[(count - 1 - i + 2) % w]) <= tolerance);
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
    warp_posture(erik);
}

static bool try_ccd(poise_erik *erik)
{
    erik->report.used_ccd = true;
    pz_ccd_solution(erik, &erik->now);
    if (is_good_enough(erik)) {
        return true;
    }
    take_zero_pose(erik);
    pz_ccd_solution(erik, &erik->now);
    return is_good_enough(erik);
}

// ---- The solve -----------------------------------------------------------------------------------------------------------

// One iteration: phases, then BWCD on what they left; true when either is good enough.
static bool iterate(poise_erik *erik)
{
    pz_forward_phase(erik);
    pz_backward_phase(erik);
    erik->is_empty = false;
    if (is_good_enough(erik)) {
        return true;
    }
    pz_bwcd_solution(erik, &erik->now, NULL);
    return is_good_enough(erik);
}

// Iterations and tricks, from the candidate.
static poise_outcome run_iterations(poise_erik *erik)
{
    const poise_erik_options *o = &erik->options;
    for (erik->report.iterations = 1; erik->report.iterations <= o->max_iterations; ++erik->report.iterations) {
        if (iterate(erik)) {
            return POISE_OUTCOME_REACHED;
        }
        erik->errors[erik->error_count++ % o->window] = pz_erik_measure(erik, &erik->now).error;
        if (!pz_erik_is_stuck(erik->errors, erik->error_count, erik->options.window, erik->options.tolerance)) {
            continue;
        }
        if (!o->offset_trick || erik->report.used_offset) {
            return o->ccd_trick && try_ccd(erik) ? POISE_OUTCOME_REACHED : POISE_OUTCOME_STALLED;
        }
        offset_target(erik);
    }
    erik->report.iterations = o->max_iterations;
    return POISE_OUTCOME_BUDGET;
}

// What follows the previous solution stands unless the iterations find something better by the gain.
poise_outcome pz_erik_run(poise_erik *erik)
{
    bool is_warm = erik->options.warm;
    if (is_warm && follow_previous(erik)) {
        return POISE_OUTCOME_REACHED;
    }
    pz_measure followed = erik->best_measure;
    if (is_warm) {
        erik->best_measure.error -= erik->options.gain;
        pz_chain_set(&erik->chain, erik->previous, &erik->now);
    }
    warp_posture(erik);
    if (erik->options.avoid_edges) {
        avoid_posture_edges(erik);
    }
    poise_outcome outcome = run_iterations(erik);
    erik->best_measure = erik->report.followed ? followed : erik->best_measure;
    return outcome;
}
