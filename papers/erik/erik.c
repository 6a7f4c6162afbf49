// ERIK: the solve (Ribeiro & Paiva 2019, Alg. 2, 3 and 7).
#include "papers/erik/erik.h"
#include "base/error.h"

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

// ---- Errors of a pose ----------------------------------------------------------------------------------------------------
//
// How far a pose is from its target and from its posture (Ribeiro & Paiva 2019, eq. 19 to 22).

// u(theta) . P, the cosine of the angle between the segments before and after the joint.
double pz_bend(const pz_link *link, double sine, double cosine)
{
    return link->A + link->B * cosine + link->C_sine * sine;
}

bool pz_erik_take(poise_erik *erik, const double *posture, poise_quat target)
{
    const pz_chain *chain = &erik->chain;
    quat unit = quat_normalize(target);
    if (!quat_is_finite(target) || !(fabs(unit.x) + fabs(unit.y) + fabs(unit.z) + fabs(unit.w) > 0.0)) {
        return false;
    }
    for (int k = 0; k < chain->count; ++k) {
        if (!is_finite(posture[chain->links[k].q])) {
            return false;
        }
    }
    for (int k = 0; k < chain->count; ++k) {
        const pz_link *link = &chain->links[k];
        double sine, cosine;
        erik->psi[k] = posture[link->q];
        pz_sincos(erik->psi[k], &sine, &cosine);
        erik->psi_bend[k] = pz_bend(link, sine, cosine);
    }
    // the end is Q_N E
    mat3 R = quat_matrix(unit), back = m3_transpose(&chain->E);
    erik->tau = m3_mul(&R, &back);
    erik->t = erik->tau;
    return true;
}

// With q = (x, y, z, w) the rotation from the target to the end and phi its angle, |w| = cos(phi/2):
//
//   Z = min |tau -+ omega|/sqrt 2 = sqrt(1 - |w|) = sqrt((x^2 + y^2 + z^2)/(1 + |w|))
//
// the last form keeps its digits. Half a roll about the pointing axis y swaps w and y.
static void measure_orientation(const poise_erik *erik, const mat3 *Q, pz_measure *m)
{
    mat3 back = m3_transpose(&erik->tau), M = m3_mul(&back, Q);
    quat q = quat_from_matrix(&M);
    double w = fabs(q.w), y = fabs(q.y);
    if (erik->options.symmetric_endpoint && y > w) {
        double other = w;
        w = y;
        y = other;
    }
    double rest = q.x * q.x + y * y + q.z * q.z;
    m->orientation = sqrt(rest / (1.0 + w));
    m->angle = 2.0 * pz_atan2(sqrt(rest), w);
}

pz_measure pz_erik_measure(const poise_erik *erik, const pz_chain_pose *pose)
{
    const pz_chain *chain = &erik->chain;
    pz_measure m = {0};
    measure_orientation(erik, &pose->Q[chain->count], &m);
    for (int k = 0; k < chain->count; ++k) {
        const pz_link *link = &chain->links[k];
        if (link->weight > 0.0) {
            double bend = pz_bend(link, pose->sine[k], pose->cosine[k]);
            m.posture += link->weight * (0.5 * fabs(bend - erik->psi_bend[k]));
        }
    }
    m.error = erik->options.orientation_weight * m.orientation + erik->options.posture_weight * m.posture;
    return m;
}

// ---- Options, memory, and what users call --------------------------------------------------------------------------------
//
// ERIK: making one, and what users call.

// ---- Options and memory --------------------------------------------------------------------------------------------------

poise_erik_options poise_erik_options_default(void)
{
    return (poise_erik_options){.body = POISE_NONE,
                                .tip = poise_pose_identity(),
                                .orientation_weight = 1.0,
                                .posture_weight = 0.2,
                                .threshold = 0.04,
                                .aggravation = 1.46,
                                .max_iterations = 13,
                                .max_sweeps = 20,
                                .precision = 4.8e-4,
                                .stall = 1e-6,
                                .disturbance = 0.046,
                                .window = 4,
                                .tolerance = 1e-9,
                                .symmetric_endpoint = true,
                                .avoid_edges = true,
                                .offset_trick = true,
                                .ccd_trick = true,
                                .gain = 0.02,
                                .exact_orientation = false,
                                .restarts = 30};
}

static bool is_count(int value, int least)
{
    return value >= least;
}

static poise_status check_options(const poise_erik_options *o, poise_error *error)
{
    const struct {
        const char *name;
        bool is_sound;
    } checks[] = {
        {"orientation_weight must be >= 0", pz_is_amount(o->orientation_weight)},
        {"posture_weight must be >= 0", pz_is_amount(o->posture_weight)},
        {"threshold must be >= 0", pz_is_amount(o->threshold)},
        {"aggravation must be > 0", pz_is_amount(o->aggravation) && o->aggravation > 0.0},
        {"max_iterations must be >= 1", is_count(o->max_iterations, 1)},
        {"max_sweeps must be >= 1", is_count(o->max_sweeps, 1)},
        {"precision must be >= 0", pz_is_amount(o->precision)},
        {"stall must be >= 0", pz_is_amount(o->stall)},
        {"disturbance must be >= 0", pz_is_amount(o->disturbance)},
        {"window must be from 2 to 64", is_count(o->window, 2) && o->window <= PZ_LARGEST_WINDOW},
        {"tolerance must be >= 0", pz_is_amount(o->tolerance)},
        {"gain must be >= 0", pz_is_amount(o->gain)},
        {"restarts must be >= 0", is_count(o->restarts, 0)},
        {"tip must be finite, its rotation not zero",
         v3_is_finite(o->tip.position) && quat_is_finite(o->tip.rotation) &&
             fabs(o->tip.rotation.x) + fabs(o->tip.rotation.y) + fabs(o->tip.rotation.z) + fabs(o->tip.rotation.w) > 0.0},
    };
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; ++i) {
        if (!checks[i].is_sound) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT, "options: %s", checks[i].name);
        }
    }
    return POISE_OK;
}

// Where everything lies; a counting arena gives the size.
static poise_erik *lay_out(const poise_erik *plan, pz_arena *arena)
{
    size_t n = (size_t)plan->chain.count;
    poise_erik made = *plan, *erik = pz_arena_take(arena, 1, sizeof *erik);
    made.chain.links = pz_arena_take(arena, n, sizeof *made.chain.links);
    made.joints = pz_arena_take(arena, n, sizeof *made.joints);
    made.psi = pz_arena_take(arena, n, sizeof *made.psi);
    made.psi_bend = pz_arena_take(arena, n, sizeof *made.psi_bend);
    made.warped = pz_chain_pose_lay_out((int)n, arena);
    made.now = pz_chain_pose_lay_out((int)n, arena);
    made.forward = pz_arena_take(arena, n + 1, sizeof *made.forward);
    made.best = pz_arena_take(arena, n, sizeof *made.best);
    made.previous = pz_arena_take(arena, n, sizeof *made.previous);
    made.errors = pz_arena_take(arena, (size_t)plan->options.window, sizeof *made.errors);
    made.work = pz_arena_take(arena, 3 * n, sizeof *made.work);
    if (erik && !arena->full) {
        *erik = made;
        pz_chain_build(made.model, &made.options, &erik->chain);
        for (size_t i = 0; i < n; ++i) {
            const pz_link *link = &erik->chain.links[i];
            made.joints[i] = (poise_erik_link){.index = link->joint, .is_twister = link->kind == PZ_LINK_TWISTER};
        }
    }
    return erik;
}

// What is known before there is memory.
static poise_status plan_for(const poise_model *model, const poise_erik_options *options, poise_erik *plan,
                             poise_error *error)
{
    poise_error found = {.status = POISE_ERROR_ARGUMENT, .text = "model and options must not be NULL"};
    if (!model || !options) {
        return pz_error_set(error, found.status, "%s", found.text);
    }
    poise_status status = check_options(options, error);
    if (status != POISE_OK) {
        return status;
    }
    int count = pz_chain_measure(model, options, &found);
    if (count == 0) {
        return pz_error_set(error, found.status, "%s", found.text);
    }
    *plan = (poise_erik){.model = model, .options = *options};
    plan->chain.count = count;
    return POISE_OK;
}

static size_t planned_size(const poise_erik *plan)
{
    pz_arena counting = pz_arena_counting();
    lay_out(plan, &counting);
    return pz_arena_bytes(&counting);
}

size_t pz_erik_size(const poise_model *model, const poise_erik_options *options)
{
    poise_erik plan = {0};
    return plan_for(model, options, &plan, NULL) == POISE_OK ? planned_size(&plan) : 0;
}

poise_erik *pz_erik_init(const poise_model *model, const poise_erik_options *options, void *memory, size_t size)
{
    poise_erik plan = {0};
    plan_for(model, options, &plan, NULL);
    pz_arena arena = pz_arena_over(memory, size);
    return lay_out(&plan, &arena);
}

poise_status poise_erik_create(const poise_model *model, const poise_erik_options *options, const poise_allocator *allocator,
                               poise_erik **erik, poise_error *error)
{
    poise_erik plan = {0};
    poise_status status = plan_for(model, options, &plan, error);
    if (status != POISE_OK) {
        return status;
    }
    if (!erik) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "erik must not be NULL");
    }
    pz_owned owned;
    size_t size = planned_size(&plan);
    if (!pz_owned_take(&owned, allocator, size)) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory: ERIK needs %g bytes", (double)size);
    }
    *erik = pz_erik_init(model, options, owned.memory, size);
    (*erik)->owned = owned;
    return POISE_OK;
}

void poise_erik_destroy(poise_erik *erik)
{
    if (erik) {
        pz_owned_release(&erik->owned);
    }
}

poise_erik_chain poise_erik_joints(const poise_erik *erik)
{
    return erik ? (poise_erik_chain){erik->chain.count, erik->joints} : (poise_erik_chain){0};
}

// ---- Solve and measure ---------------------------------------------------------------------------------------------------

void pz_erik_hand_out(poise_erik *erik, double *q, poise_erik_report *report)
{
    poise_erik_report *r = &erik->report;
    r->reason = r->outcome == POISE_OUTCOME_REACHED  ? "the error is within the threshold"
                : r->outcome == POISE_OUTCOME_BUDGET ? "the iterations were used up"
                                                     : "neither iterations nor tricks bring the error below the threshold";
    r->error = erik->best_measure.error;
    r->orientation = erik->best_measure.orientation;
    r->posture = erik->best_measure.posture;
    r->angle = erik->best_measure.angle;
    r->active_limits = 0;
    for (int k = 0; k < erik->chain.count; ++k) {
        const pz_link *link = &erik->chain.links[k];
        r->active_limits += erik->best[k] == link->lower || erik->best[k] == link->upper;
        if (q) {
            q[link->q] = erik->best[k];
        }
    }
    if (report) {
        *report = *r;
    }
}

poise_status poise_erik_solve(poise_erik *erik, const double *posture, poise_quat target, double *q,
                              poise_erik_report *report, poise_error *error)
{
    if (!erik || !posture) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "erik and posture must not be NULL");
    }
    poise_status sound = poise_model_check(erik->model, q, "q", error);
    if (sound != POISE_OK) {
        return sound;
    }
    if (!pz_erik_take(erik, posture, target)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "posture and target must be finite, and target must not be zero");
    }
    for (int k = 0; k < erik->chain.count; ++k) {
        const pz_link *link = &erik->chain.links[k];
        erik->previous[k] = clamp(q[link->q], link->lower, link->upper);
    }
    pz_erik_begin(erik, erik->options.warm);
    erik->report.outcome = pz_erik_run(erik);
    if (erik->options.exact_orientation) {
        pz_erik_finish(erik);
    }
    pz_erik_hand_out(erik, q, report);
    return POISE_OK;
}

poise_status poise_erik_measure(poise_erik *erik, const double *posture, poise_quat target, const double *q,
                                poise_erik_report *report, poise_error *error)
{
    if (!erik || !posture || !report) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "erik, report and posture must not be NULL");
    }
    poise_status sound = poise_model_check(erik->model, q, "q", error);
    if (sound != POISE_OK) {
        return sound;
    }
    if (!pz_erik_take(erik, posture, target)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "posture and target must be finite, and target must not be zero");
    }
    for (int k = 0; k < erik->chain.count; ++k) {
        erik->best[k] = q[erik->chain.links[k].q];
    }
    pz_chain_set(&erik->chain, erik->best, &erik->now);
    erik->best_measure = pz_erik_measure(erik, &erik->now);
    bool is_reached = erik->best_measure.error <= erik->options.threshold;
    erik->report = (poise_erik_report){.outcome = is_reached ? POISE_OUTCOME_REACHED : POISE_OUTCOME_STALLED};
    pz_erik_hand_out(erik, NULL, report);
    return POISE_OK;
}
