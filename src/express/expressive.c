// The successor of ERIK: making one, and the solve.
#include "express/expressive_state.h"

#include "base/error.h"
#include "model/model.h"

#include <string.h>

#define COARSE   0.3  // eps of a refinement from a pose that meets nothing yet
#define FINE     0.01 // from a candidate whose end faces the target, and from the last answer
#define EXACT    1e-4 // error that bringing the goals to rounding may cost
#define GOOD     0.1  // share of the gain: with such an error there is nothing to look for elsewhere
#define MET      1e-6 // radians, or share of the length scale: goals that are met come before the posture
#define UNMET    10.0 // what is added to the error of a candidate that misses a goal: above any error of one goal
#define RESTARTS 8    // of ERIK's search for an orientation
#define DRAWS    8    // configurations of which the nearest to the goals is such a start
#define SHARE    0.7  // of a stride, before the goals are met again
#define SHORTER  4    // strides tried, each half of the one before
#define ADVANCE  0.03 // share of it that has to be left after that
#define MORE     8    // further starts for each search while goals are missed, without a last answer to go on from

// ---- Options and memory --------------------------------------------------------------------------------------------------

poise_expressive_options poise_expressive_options_default(void)
{
    return (poise_expressive_options){.mode = POISE_EXPRESSIVE_METRIC,
                                      .body = POISE_NONE,
                                      .tip = poise_pose_identity(),
                                      .goal_weight = 1.0,
                                      .posture_weight = 0.2,
                                      .threshold = 0.04,
                                      .aggravation = 1.46,
                                      .length_scale = 1.0,
                                      .symmetric_endpoint = false,
                                      .warm = true,
                                      .exact = true,
                                      .gain = 0.02,
                                      .stride = 0.0,
                                      .inertia = 0.05,
                                      .searches = 4,
                                      .max_iterations = 25,
                                      .max_goals = 16,
                                      .coupled_goals = 2};
}

static poise_status check_options(const poise_model *model, const poise_expressive_options *o, poise_error *error)
{
    if (!model || !o) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "model and options must not be NULL");
    }
    quat r = o->tip.rotation;
    const struct {
        const char *name;
        bool is_sound;
    } checks[] = {
        {"there is no such mode", (unsigned)o->mode < POISE_EXPRESSIVE_MODE_COUNT},
        {"there is no such body", o->body == POISE_NONE || (o->body >= 0 && o->body < model->joint_count)},
        {"tip must be finite, its rotation not zero",
         v3_is_finite(o->tip.position) && quat_is_finite(r) && fabs(r.x) + fabs(r.y) + fabs(r.z) + fabs(r.w) > 0.0},
        {"goal_weight must be > 0", pz_is_amount(o->goal_weight) && o->goal_weight > 0.0},
        {"posture_weight must be >= 0", pz_is_amount(o->posture_weight)},
        {"threshold must be >= 0", pz_is_amount(o->threshold)},
        {"aggravation must be > 0", pz_is_amount(o->aggravation) && o->aggravation > 0.0},
        {"length_scale must be > 0", pz_is_amount(o->length_scale) && o->length_scale > 0.0},
        {"gain must be >= 0", pz_is_amount(o->gain)},
        {"stride must be >= 0", pz_is_amount(o->stride)},
        {"inertia must be >= 0", pz_is_amount(o->inertia)},
        {"searches must be from 0 to 16", o->searches >= 0 && o->searches <= PZ_MOST_SEARCHES},
        {"max_iterations must be >= 1", o->max_iterations >= 1},
        {"max_goals must be >= 1", o->max_goals >= 1},
        {"coupled_goals must be >= 0", o->coupled_goals >= 0},
    };
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; ++i) {
        if (!checks[i].is_sound) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT, "options: %s", checks[i].name);
        }
    }
    return POISE_OK;
}

static poise_erik_options erik_options(const poise_expressive_options *o)
{
    poise_erik_options made = poise_erik_options_default();
    made.body = o->body;
    made.tip = o->tip;
    made.orientation_weight = o->goal_weight;
    made.posture_weight = o->posture_weight;
    made.threshold = o->threshold;
    made.aggravation = o->aggravation;
    made.symmetric_endpoint = o->symmetric_endpoint;
    made.exact_orientation = true;
    made.restarts = RESTARTS;
    return made;
}

static poise_solver_options solver_options(const poise_expressive_options *o)
{
    poise_solver_options made = poise_solver_options_default();
    made.method = POISE_METHOD_LEVENBERG_MARQUARDT;
    made.coupled_goals = o->coupled_goals;
    return made;
}

// Where everything lies; a counting arena gives the size. The solver and ERIK make themselves at home in theirs.
static poise_expressive *lay_out(const poise_model *model, const poise_expressive_options *options, pz_arena *arena)
{
    poise_expressive made = {.model = model, .options = *options, .facing = -1}, *e = pz_arena_take(arena, 1, sizeof *e);
    poise_solver_options solving = solver_options(options);
    poise_erik_options chain = erik_options(options);
    size_t nv = (size_t)model->nv, nq = (size_t)model->nq, terms = (size_t)pz_terms_count(model);
    size_t solver_size = pz_solver_size(model, &solving), erik_size = pz_erik_size(model, &chain);
    void *solver = pz_arena_take(arena, solver_size, 1), *erik = pz_arena_take(arena, erik_size, 1);
    made.goals = pz_arena_take(arena, (size_t)options->max_goals, sizeof *made.goals);
    made.terms = pz_arena_take(arena, terms, sizeof *made.terms);
    made.term_of = pz_arena_take(arena, terms, sizeof *made.term_of);
    made.run_sign = pz_arena_take(arena, terms, sizeof *made.run_sign);
    made.signs = pz_arena_take(arena, terms, sizeof *made.signs);
    made.theta = pz_arena_take(arena, terms, sizeof *made.theta);
    made.link_cost = pz_arena_take(arena, 2 * terms, sizeof *made.link_cost);
    made.H = pz_arena_take(arena, nv * nv, sizeof *made.H);
    made.A = pz_arena_take(arena, nv * nv, sizeof *made.A);
    made.g = pz_arena_take(arena, nv, sizeof *made.g);
    made.D = pz_arena_take(arena, nv, sizeof *made.D);
    made.difference = pz_arena_take(arena, nv, sizeof *made.difference);
    made.held = pz_arena_take(arena, 2 * nv, sizeof *made.held);
    made.q_trial = pz_arena_take(arena, nq, sizeof *made.q_trial);
    made.q_seed = pz_arena_take(arena, nq, sizeof *made.q_seed);
    made.q_refined = pz_arena_take(arena, nq, sizeof *made.q_refined);
    made.q_best = pz_arena_take(arena, nq, sizeof *made.q_best);
    if (!e || arena->full) {
        return NULL;
    }
    *e = made;
    e->solver = pz_solver_init(model, &solving, solver, solver_size);
    if (erik_size > 0) {
        e->erik = pz_erik_init(model, &chain, erik, erik_size);
        e->end = options->body == POISE_NONE ? model->joint_count - 1 : options->body;
        e->roll = quat_rotate(quat_normalize(options->tip.rotation), m3_apply_transposed(&e->erik->chain.E, v3(0, 1, 0)));
    }
    pz_terms_make(e);
    return e;
}

size_t pz_expressive_size(const poise_model *model, const poise_expressive_options *options)
{
    pz_arena arena = pz_arena_counting();
    lay_out(model, options, &arena);
    return pz_arena_bytes(&arena);
}

poise_expressive *pz_expressive_init(const poise_model *model, const poise_expressive_options *options, void *memory,
                                     size_t size)
{
    pz_arena arena = pz_arena_over(memory, size);
    return lay_out(model, options, &arena);
}

poise_status poise_expressive_create(const poise_model *model, const poise_expressive_options *options,
                                     const poise_allocator *allocator, poise_expressive **expressive, poise_error *error)
{
    poise_status status = check_options(model, options, error);
    if (status != POISE_OK) {
        return status;
    }
    if (!expressive) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "expressive must not be NULL");
    }
    pz_owned owned;
    size_t size = pz_expressive_size(model, options);
    if (!pz_owned_take(&owned, allocator, size)) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory: expressive solving needs %g bytes", (double)size);
    }
    *expressive = pz_expressive_init(model, options, owned.memory, size);
    (*expressive)->owned = owned;
    return POISE_OK;
}

void poise_expressive_destroy(poise_expressive *expressive)
{
    if (expressive) {
        pz_owned_release(&expressive->owned);
    }
}

// ---- Goals ---------------------------------------------------------------------------------------------------------------

static bool has_band(const poise_goal *goal)
{
    return v3_norm(goal->rotation_tolerance) > 0.0;
}

// The goal that says which way the end faces, its target for the end's frame, and its twin by half a roll.
static bool find_facing(poise_expressive *e)
{
    e->facing = -1;
    for (int i = 0; e->erik && i < e->goal_count; ++i) {
        const poise_goal *goal = &e->goals[i];
        bool is_it = goal->kind == POISE_GOAL_ORIENTATION && goal->body == e->end && !has_band(goal) && goal->weight > 0.0;
        if (is_it) {
            quat local = quat_normalize(goal->local.rotation);
            vec3 axis = quat_rotate(quat_conj(local), e->roll); // in the frame of the goal
            e->facing = i;
            e->target = quat_normalize(goal->target.rotation);
            e->twin = quat_mul(e->target, (quat){axis.x, axis.y, axis.z, 0.0});
            quat tip = quat_mul(quat_mul(e->target, quat_conj(local)), quat_normalize(e->options.tip.rotation));
            return pz_erik_take(e->erik, e->posture, tip);
        }
    }
    return !e->erik || pz_erik_take(e->erik, e->posture, (quat){0.0, 0.0, 0.0, 1.0});
}

// Of the two orientations take the one that is nearer at q, for both objectives.
static void choose_twin(poise_expressive *e, const double *q)
{
    poise_solver *s = e->solver;
    if (e->facing < 0 || !e->options.symmetric_endpoint) {
        return;
    }
    poise_goal *goal = &e->goals[e->facing];
    pz_kin_sweep(&s->trial->kin, q);
    mat3 R = pz_kin_rotation(&s->trial->kin, e->end);
    quat at = quat_mul(quat_from_matrix(&R), quat_normalize(goal->local.rotation)), a = e->target, b = e->twin;
    double to_target = fabs(at.x * a.x + at.y * a.y + at.z * a.z + at.w * a.w);
    double to_twin = fabs(at.x * b.x + at.y * b.y + at.z * b.z + at.w * b.w);
    goal->target.rotation = to_twin > to_target ? b : a;
    poise_objective_set_goals(s->at, e->goals, e->goal_count, NULL);
    pz_objective_share_goals(s->at, s->trial);
}

// ---- Judging -------------------------------------------------------------------------------------------------------------

// sqrt(2) sin(phi/4)
static double angle_error(double phi)
{
    double s, c;
    pz_sincos(0.25 * phi, &s, &c);
    return 1.4142135623730951 * s;
}

// The error of the current point.
static poise_expressive_report judge(poise_expressive *e)
{
    poise_expressive_report r = {.error = 0.0};
    const poise_objective *at = e->solver->at;
    for (int i = 0; i < e->goal_count; ++i) {
        poise_goal_error left = pz_counted_error(&e->goals[i], poise_objective_goal_error(at, i));
        double angle = left.unit == POISE_UNIT_LENGTH ? left.rotation_error : max2(left.error, left.rotation_error);
        double length = left.unit == POISE_UNIT_LENGTH ? left.error : 0.0;
        r.goal += angle_error(angle) + length / e->options.length_scale;
        r.worst_angle = max2(r.worst_angle, angle);
        r.worst_length = max2(r.worst_length, length);
    }
    pz_terms_choose_signs(e, at->kin.q);
    r.posture = pz_terms_error(e, at->kin.q);
    r.error = e->options.goal_weight * r.goal + e->options.posture_weight * r.posture;
    return r;
}

static bool is_met(const poise_expressive *e, const poise_expressive_report *r)
{
    return r->worst_angle <= MET && r->worst_length <= MET * e->options.length_scale;
}

// Refine a candidate and bring its goals to rounding, unless that costs more than it should.
static poise_expressive_report improve(poise_expressive *e, double eps, double pull)
{
    size_t bytes = (size_t)e->model->nq * sizeof *e->q_seed;
    pz_expressive_refine(e, eps, pull);
    poise_expressive_report refined = judge(e);
    memcpy(e->q_refined, e->solver->at->kin.q, bytes);
    pz_expressive_finish(e);
    poise_expressive_report finished = judge(e);
    if (is_met(e, &finished) || finished.error <= refined.error + EXACT) {
        memcpy(e->q_refined, e->solver->at->kin.q, bytes);
        return finished;
    }
    return refined;
}

// Improve a candidate; it becomes the answer if its rank is below `bar`.
static bool consider(poise_expressive *e, const double *q, double eps, double pull, double bar)
{
    poise_solver *s = e->solver;
    choose_twin(e, q);
    pz_terms_choose_signs(e, q);
    e->candidates += 1;
    if (!is_finite(pz_try(s, q, POISE_LEVEL_HESSIAN))) {
        return false;
    }
    pz_accept(s);
    poise_expressive_report r = improve(e, eps, pull);
    double rank = r.error + (e->options.exact && !is_met(e, &r) ? UNMET : 0.0);
    if (!(rank < bar)) {
        return false;
    }
    e->report = r;
    e->best = rank;
    memcpy(e->q_best, e->q_refined, (size_t)e->model->nq * sizeof *e->q_best);
    return true;
}

// ---- The solve -----------------------------------------------------------------------------------------------------------

// Of a few configurations from all over the range the one with the least cost, into e->q_seed.
static void draw_start(poise_expressive *e, int number)
{
    double least = INFINITY;
    for (int i = 0; i < DRAWS; ++i) {
        pz_restart_configuration(e->solver, number * DRAWS + i + 1, false, e->q_trial);
        double cost = pz_try(e->solver, e->q_trial, POISE_LEVEL_COST);
        if (i == 0 || cost < least) {
            least = cost;
            memcpy(e->q_seed, e->q_trial, (size_t)e->model->nq * sizeof *e->q_seed);
        }
    }
}

// Further starts until one meets the goals.
static bool consider_starts(poise_expressive *e, double bar)
{
    int most = e->options.searches * (e->options.warm ? 1 : MORE);
    bool left = false;
    for (int i = 0; i < most && !is_met(e, &e->report); ++i) {
        draw_start(e, i);
        left |= consider(e, e->q_seed, COARSE, 0.0, left ? e->best : bar);
    }
    return left;
}

// All candidates but the last answer, each of which has to be better than `bar` and than those before.
static bool consider_others(poise_expressive *e, double bar)
{
    size_t bytes = (size_t)e->model->nq * sizeof(double);
    bool left = false;
    pz_expressive_find(e);
    for (int i = 0; i < e->found_count && !(left && e->best < GOOD * e->options.gain); ++i) {
        memcpy(e->q_seed, e->solver->q_start, bytes);
        pz_expressive_place(e, &e->found[i], e->q_seed);
        left |= consider(e, e->q_seed, e->facing >= 0 ? FINE : COARSE, 0.0, left ? e->best : bar);
    }
    if (e->found_count == 0 || e->facing < 0) {
        memcpy(e->q_seed, e->posture, bytes);
        poise_model_clamp(e->model, e->q_seed, NULL, NULL);
        left |= consider(e, e->q_seed, COARSE, 0.0, left ? e->best : bar);
    }
    if (e->facing < 0) {
        left |= consider_starts(e, left ? e->best : bar);
    }
    if ((e->options.use_erik || !is_met(e, &e->report)) && e->facing >= 0) {
        memcpy(e->q_seed, e->solver->q_start, bytes);
        const poise_goal *goal = &e->goals[e->facing];
        quat tip = quat_mul(quat_mul(e->target, quat_conj(quat_normalize(goal->local.rotation))),
                            quat_normalize(e->options.tip.rotation));
        poise_erik_solve(e->erik, e->posture, tip, e->q_seed, NULL, NULL);
        left |= consider(e, e->q_seed, FINE, 0.0, left ? e->best : bar);
    }
    return left;
}

// The longest move of a dof from one configuration to another, and the moves, into e->difference.
static double longest_move(poise_expressive *e, const double *from, const double *to)
{
    pz_kin_difference(e->model, from, to, e->difference);
    return pz_largest(e->difference, e->model->nv);
}

// Meet the goals again a share of the way from the last answer to e->q_best.
static poise_expressive_report go(poise_expressive *e, double share)
{
    poise_solver *s = e->solver;
    longest_move(e, s->q_start, e->q_best);
    for (int i = 0; i < e->model->nv; ++i) {
        s->step[i] = share * e->difference[i];
    }
    pz_step_within(s, s->q_start, s->step, e->q_seed);
    choose_twin(e, e->q_seed);
    if (!is_finite(pz_try(s, e->q_seed, POISE_LEVEL_HESSIAN))) {
        return (poise_expressive_report){.worst_angle = INFINITY};
    }
    pz_accept(s);
    pz_expressive_finish(e);
    return judge(e);
}

// Where e->q_best is further from the last answer than a stride and twice what the goals ask for: a stride on the way there.
static bool take_stride(poise_expressive *e)
{
    poise_solver *s = e->solver;
    double far = longest_move(e, s->q_start, e->q_best), share = SHARE * e->options.stride / far;
    poise_expressive_report r = go(e, 0.0);
    double most = e->options.stride + 2.0 * longest_move(e, s->q_start, s->at->kin.q);
    for (int i = 0; i < SHORTER && is_met(e, &r) && far > most; ++i, share *= 0.5) {
        r = go(e, share);
        double moved = longest_move(e, s->q_start, s->at->kin.q), left = longest_move(e, s->at->kin.q, e->q_best);
        if (is_met(e, &r) && moved <= most && left <= (1.0 - ADVANCE * share) * far) {
            memcpy(e->q_best, s->at->kin.q, (size_t)e->model->nq * sizeof *e->q_best);
            e->report = r;
            return true;
        }
    }
    return false;
}

static poise_status begin(poise_expressive *e, const poise_goal *goals, int count, const double *posture, const double *q,
                          poise_error *error)
{
    if (count < 0 || (count > 0 && !goals)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "goals must not be NULL, and count must be >= 0");
    }
    if (count > e->options.max_goals) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "%d goals, but options.max_goals is %d: raise it", count,
                            e->options.max_goals);
    }
    if (!posture || !pz_model_accepts(e->model, posture)) {
        return pz_refuse_q(e->model, posture, "posture", error);
    }
    for (int i = 0; i < count; ++i) {
        e->goals[i] = goals[i];
    }
    e->goal_count = count;
    poise_status status = pz_solve_begin(e->solver, e->goals, count, q, error);
    if (status != POISE_OK) {
        return status;
    }
    pz_terms_take(e, posture);
    return find_facing(e)
               ? POISE_OK
               : pz_error_set(error, POISE_ERROR_ARGUMENT, "the orientation goal's target must be finite, not zero");
}

poise_status poise_expressive_solve(poise_expressive *expressive, const poise_goal *goals, int count, const double *posture,
                                    double *q, poise_expressive_report *report, poise_error *error)
{
    poise_expressive *e = expressive;
    poise_status status = e ? begin(e, goals, count, posture, q, error)
                            : pz_error_set(error, POISE_ERROR_ARGUMENT, "expressive must not be NULL");
    if (status != POISE_OK) {
        return status;
    }
    size_t bytes = (size_t)e->model->nq * sizeof *q;
    e->report = (poise_expressive_report){.error = INFINITY};
    e->best = INFINITY;
    if (!e->options.warm) {
        memcpy(e->solver->q_start, posture, bytes);
        poise_model_clamp(e->model, e->solver->q_start, NULL, NULL);
    }
    memcpy(e->q_best, e->solver->q_start, bytes);
    e->candidates = 0;
    bool kept = e->options.warm && consider(e, e->solver->q_start, FINE, e->options.inertia, INFINITY);
    double bar = kept ? e->best - e->options.gain : INFINITY;
    if (bar > 0.0) {
        kept = !consider_others(e, bar) && kept;
    }
    e->report.is_on_the_way = e->options.warm && e->options.stride > 0.0 && take_stride(e);
    e->report.kept_branch = kept;
    e->report.candidates = e->candidates;
    e->report.error = pz_finite(e->report.error);
    e->report.goal = pz_finite(e->report.goal);
    e->report.outcome = e->report.error <= e->options.threshold ? POISE_OUTCOME_REACHED : POISE_OUTCOME_CLOSEST;
    e->report.evaluations = e->solver->report.evaluations;
    memcpy(q, e->q_best, bytes);
    if (report) {
        *report = e->report;
    }
    return POISE_OK;
}

poise_status poise_expressive_warp(poise_expressive *expressive, const poise_goal *goals, int count, const double *posture,
                                   poise_filter *filter, double dt, double *answer, double *q,
                                   poise_expressive_report *report, poise_error *error)
{
    if (!filter || !q || !(dt > 0.0) || !is_finite(dt)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "filter and q must not be NULL, and dt must be finite and > 0");
    }
    poise_status status = poise_expressive_solve(expressive, goals, count, posture, answer, report, error);
    return status == POISE_OK ? poise_filter_step(filter, answer, dt, q, error) : status;
}
