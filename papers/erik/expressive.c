// The successor of ERIK: goals of any kind on any tree, met with the posture held as well as it can be.
//
//   error = goal_weight (what is left of the goals) + posture_weight (posture error, posture.c)
//
// Candidates are refined, their goals met to rounding where that costs little, and judged by this error, one after the
// other: the last answer; on a chain, patterns of bends in closed form (posture.c); the posture; starts from all over the
// range; ERIK. The last answer stands unless another one is better by the gain; with a stride the way to that one is taken
// in small moves.
#include "papers/erik/expressive.h"

#include "base/error.h"
#include "num/dense.h"

#include <float.h>
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
        {"there is no such body", o->body == POISE_NONE || (o->body >= 0 && o->body < poise_model_info(model).joints)},
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

// Where everything lies; a counting arena gives the size. ERIK makes itself at home in its part.
static poise_expressive *lay_out(const poise_model *model, const poise_expressive_options *options, pz_arena *arena)
{
    poise_model_summary info = poise_model_info(model);
    poise_expressive made = {.model = model, .nq = info.nq, .nv = info.nv, .options = *options, .facing = -1};
    poise_expressive *e = pz_arena_take(arena, 1, sizeof *e);
    poise_erik_options chain = erik_options(options);
    size_t nv = (size_t)info.nv, nq = (size_t)info.nq, terms = nv, erik_size = pz_erik_size(model, &chain);
    void *erik = pz_arena_take(arena, erik_size, 1);
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
    made.q_start = pz_arena_take(arena, nq, sizeof *made.q_start);
    made.q_trial = pz_arena_take(arena, nq, sizeof *made.q_trial);
    made.q_seed = pz_arena_take(arena, nq, sizeof *made.q_seed);
    made.q_refined = pz_arena_take(arena, nq, sizeof *made.q_refined);
    made.q_best = pz_arena_take(arena, nq, sizeof *made.q_best);
    if (!e || arena->full) {
        return NULL;
    }
    *e = made;
    if (erik_size > 0) {
        e->erik = pz_erik_init(model, &chain, erik, erik_size);
        e->end = options->body == POISE_NONE ? info.joints - 1 : options->body;
        e->roll = quat_rotate(quat_normalize(options->tip.rotation), m3_apply_transposed(&e->erik->chain.E, v3(0, 1, 0)));
    }
    return e;
}

// The solver, and what its run tells of the joints.
static poise_status open_solver(poise_expressive *e, const poise_allocator *allocator, poise_error *error)
{
    poise_solver_options solving = solver_options(&e->options);
    poise_status status = poise_solver_create(e->model, &solving, allocator, &e->solver, error);
    status = status == POISE_OK ? poise_kinematics_create(e->model, allocator, &e->kinematics, error) : status;
    if (status == POISE_OK) {
        poise_model_neutral(e->model, e->q_seed);
        status = poise_method_begin(e->solver, NULL, 0, e->q_seed, &e->run, error);
    }
    if (status == POISE_OK) {
        pz_terms_make(e);
    }
    return status;
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
    pz_arena arena = pz_arena_counting();
    lay_out(model, options, &arena);
    pz_owned owned;
    size_t size = pz_arena_bytes(&arena);
    if (!pz_owned_take(&owned, allocator, size)) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory: expressive solving needs %g bytes", (double)size);
    }
    arena = pz_arena_over(owned.memory, size);
    poise_expressive *e = lay_out(model, options, &arena);
    e->owned = owned;
    status = open_solver(e, allocator, error);
    if (status != POISE_OK) {
        poise_expressive_destroy(e);
        return status;
    }
    *expressive = e;
    return POISE_OK;
}

void poise_expressive_destroy(poise_expressive *expressive)
{
    if (expressive) {
        poise_solver_destroy(expressive->solver);
        poise_kinematics_destroy(expressive->kinematics);
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
    poise_method_run *s = e->run;
    if (e->facing < 0 || !e->options.symmetric_endpoint) {
        return;
    }
    poise_goal *goal = &e->goals[e->facing];
    double rows[9], place[3];
    poise_kinematics_update(e->kinematics, q, NULL);
    poise_kinematics_body_frame(e->kinematics, e->end, rows, place);
    mat3 R = {{rows[0], rows[3], rows[6]}, {rows[1], rows[4], rows[7]}, {rows[2], rows[5], rows[8]}};
    quat at = quat_mul(quat_from_matrix(&R), quat_normalize(goal->local.rotation)), a = e->target, b = e->twin;
    double to_target = fabs(at.x * a.x + at.y * a.y + at.z * a.z + at.w * a.w);
    double to_twin = fabs(at.x * b.x + at.y * b.y + at.z * b.z + at.w * b.w);
    goal->target.rotation = to_twin > to_target ? b : a;
    poise_objective_set_goals(s->at.objective, e->goals, e->goal_count, NULL);
    poise_objective_set_goals(s->trial.objective, e->goals, e->goal_count, NULL);
}

// x, or the largest number where x overflowed: what reports say.
static double finite(double x)
{
    return is_finite(x) ? x : x < 0 ? -DBL_MAX : DBL_MAX;
}

// ---- Refinement ----------------------------------------------------------------------------------------------------------
//
// Damped Gauss-Newton on goals and posture, within limits by an active set.
//
//   F(q) = W f(q) + posture_weight sum_i w_i (sqrt(r_i^2 + eps^2) - eps)
//
// f is the objective of the goals. W makes what is left of the goals small beside the posture's pull; meet_goals removes the
// rest. eps falls with every accepted step: far away all joints share the change, in the end few joints change for it, as a
// sum of absolute values has it. (K. Levenberg 1944, D. Marquardt 1963 for the damping.)

#define GOAL_WEIGHT  100.0 // W: an orientation gives way by less than 0.1/W rad, the slope of the posture error being 0.1
#define SHARPEST     1e-3  // least eps: an error of 1e-3 posture_weight at most
#define SHARPEN      0.4   // eps from step to step
#define FIRST_LAMBDA 1e-3
#define LEAST_LAMBDA 1e-9
#define MOST_LAMBDA  1e6
#define PASSES       4    // of the active set in one step
#define STILL        1e-7 // radians or lengths: a step below this is the last
#define FLOOR        1e-3 // share of the mean in the metric of the damping

// What is minimised: weights of its parts, and the smoothing.
typedef struct blend {
    double goals, posture, pull, eps;
} blend;

// pull/2 |step from q_start to q|^2 and, unless they are NULL, its derivatives, added to g and to H's diagonal.
static double pull_cost(poise_expressive *e, const double *q, double pull, double *g, double *H)
{
    double sum = 0.0;
    size_t n = (size_t)e->nv;
    poise_difference(e->model, e->q_start, q, e->difference, NULL);
    for (size_t i = 0; i < n; ++i) {
        double d = e->difference[i];
        sum += 0.5 * pull * d * d;
        if (g) {
            g[i] += pull * d;
            H[i * n + i] += pull;
        }
    }
    return sum;
}

static double cost_at(poise_expressive *e, const poise_method_point *o, const blend *b)
{
    double posture = b->posture > 0.0 ? pz_terms_cost(e, o->q, b->eps, 0.0, NULL, NULL) : 0.0;
    double pull = b->pull > 0.0 ? pull_cost(e, o->q, b->pull, NULL, NULL) : 0.0;
    return b->goals * o->cost + b->posture * posture + pull;
}

// Gradient, Hessian, metric of the damping, and dofs at a limit that descent would leave, at the current point.
static void linearise(poise_expressive *e, const blend *b)
{
    const poise_method_run *s = e->run;
    size_t n = (size_t)e->nv;
    double mean = 0.0;
    poise_objective_hessian(s->at.objective, POISE_HESSIAN_GAUSS_NEWTON, e->H, NULL);
    for (size_t i = 0; i < n * n; ++i) {
        e->H[i] *= b->goals;
    }
    for (size_t i = 0; i < n; ++i) {
        e->g[i] = b->goals * s->at.gradient[i];
    }
    if (b->posture > 0.0) {
        pz_terms_cost(e, s->at.q, b->eps, b->posture, e->g, e->H);
    }
    if (b->pull > 0.0) {
        pull_cost(e, s->at.q, b->pull, e->g, e->H);
    }
    for (size_t i = 0; i < n; ++i) {
        mean += e->H[i * n + i] / (double)n;
    }
    for (size_t i = 0; i < n; ++i) {
        const poise_method_bound *box = &s->bounds[i];
        e->D[i] = e->H[i * n + i] + FLOOR * mean + 1e-30;
        double q = box->q >= 0 ? s->at.q[box->q] : 0.0;
        e->held[i] = (q <= box->lower && e->g[i] >= 0.0) || (q >= box->upper && e->g[i] <= 0.0);
    }
}

// (H + lambda D) x = -g over the dofs that are not held, x = 0 or what leads to the limit for the others. Their number in
// A's order is the order of dofs.
static bool solve_free(poise_expressive *e, double lambda, const bool *held, double *x)
{
    size_t n = (size_t)e->nv, m = 0, row = 0;
    double *rhs = e->run->projected;
    for (size_t i = 0; i < n; ++i) {
        m += !held[i];
    }
    for (size_t i = 0; i < n; ++i) {
        if (held[i]) {
            continue;
        }
        double sum = -e->g[i], *A_row = e->A + row * m;
        size_t column = 0;
        for (size_t j = 0; j < n; ++j) {
            if (held[j]) {
                sum -= e->H[i * n + j] * x[j];
            } else if (j <= i) {
                A_row[column++] = e->H[i * n + j];
            }
        }
        A_row[row] += lambda * e->D[i];
        rhs[row++] = sum;
    }
    if (!pz_cholesky((int)m, e->A)) {
        return false;
    }
    pz_cholesky_solve((int)m, e->A, rhs);
    for (size_t i = 0, k = 0; i < n; ++i) {
        x[i] = held[i] ? x[i] : rhs[k++];
    }
    return true;
}

// A step: dofs that would leave their limits stop there, and the others are solved for again.
static bool find_step(poise_expressive *e, double lambda)
{
    const poise_method_run *s = e->run;
    int n = e->nv;
    double *x = s->step;
    bool *held = e->held + n; // those of this step
    memcpy(held, e->held, (size_t)n * sizeof *held);
    memset(x, 0, (size_t)n * sizeof *x);
    for (int pass = 0; pass < PASSES; ++pass) {
        bool is_inside = true;
        if (!solve_free(e, lambda, held, x)) {
            return false;
        }
        for (int i = 0; i < n; ++i) {
            const poise_method_bound *box = &s->bounds[i];
            double q = box->q >= 0 ? s->at.q[box->q] : 0.0, to = clamp(q + x[i], box->lower, box->upper);
            if (!held[i] && to != q + x[i]) {
                x[i] = to - q;
                held[i] = true;
                is_inside = false;
            }
        }
        if (is_inside) {
            return true;
        }
    }
    return true;
}

// Steps until they stand still.
static void descend(poise_expressive *e, blend b, double sharpest)
{
    poise_method_run *s = e->run;
    int n = e->nv;
    double lambda = FIRST_LAMBDA;
    bool is_fresh = true;
    double cost = cost_at(e, &s->at, &b);
    for (int i = 0; i < e->options.max_iterations && lambda < MOST_LAMBDA; ++i) {
        if (is_fresh) {
            linearise(e, &b);
        }
        double next = INFINITY;
        if (find_step(e, lambda)) {
            s->call->step_within(s, s->at.q, s->step, e->q_trial);
            bool is_sound = is_finite(s->call->evaluate(s, e->q_trial, POISE_LEVEL_HESSIAN));
            next = is_sound ? cost_at(e, &s->trial, &b) : INFINITY;
        }
        double length = pz_largest(s->step, n);
        is_fresh = next < cost;
        if (!is_fresh) {
            if (length < STILL && b.eps <= sharpest) {
                return;
            }
            lambda *= 8.0;
            continue;
        }
        bool is_last = b.eps <= sharpest && length < STILL;
        s->call->accept(s);
        if (is_last) {
            return;
        }
        b.eps = max2(b.eps * SHARPEN, sharpest);
        cost = cost_at(e, &s->at, &b);
        lambda = max2(lambda * 0.1, LEAST_LAMBDA);
    }
}

void pz_expressive_refine(poise_expressive *e, double eps, double pull)
{
    blend b = {GOAL_WEIGHT * e->options.goal_weight, e->options.posture_weight, pull, max2(eps, SHARPEST)};
    descend(e, b, SHARPEST);
}

// From the current point: the goals alone.
static void meet_goals(poise_expressive *e)
{
    descend(e, (blend){.goals = 1.0}, 0.0);
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
    const poise_method_point *at = &e->run->at;
    for (int i = 0; i < e->goal_count; ++i) {
        poise_goal_error left = poise_objective_goal_error(at->objective, i);
        left.error = e->goals[i].weight > 0 ? left.error : 0.0; // without weight it does not count
        left.rotation_error = e->goals[i].rotation_weight > 0 ? left.rotation_error : 0.0;
        double angle = left.unit == POISE_UNIT_LENGTH ? left.rotation_error : max2(left.error, left.rotation_error);
        double length = left.unit == POISE_UNIT_LENGTH ? left.error : 0.0;
        r.goal += angle_error(angle) + length / e->options.length_scale;
        r.worst_angle = max2(r.worst_angle, angle);
        r.worst_length = max2(r.worst_length, length);
    }
    pz_terms_choose_signs(e, at->q);
    r.posture = pz_terms_error(e, at->q);
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
    size_t bytes = (size_t)e->nq * sizeof *e->q_seed;
    pz_expressive_refine(e, eps, pull);
    poise_expressive_report refined = judge(e);
    memcpy(e->q_refined, e->run->at.q, bytes);
    meet_goals(e);
    poise_expressive_report finished = judge(e);
    if (is_met(e, &finished) || finished.error <= refined.error + EXACT) {
        memcpy(e->q_refined, e->run->at.q, bytes);
        return finished;
    }
    return refined;
}

// Improve a candidate; it becomes the answer if its rank is below `bar`.
static bool consider(poise_expressive *e, const double *q, double eps, double pull, double bar)
{
    poise_method_run *s = e->run;
    choose_twin(e, q);
    pz_terms_choose_signs(e, q);
    e->candidates += 1;
    if (!is_finite(s->call->evaluate(s, q, POISE_LEVEL_HESSIAN))) {
        return false;
    }
    s->call->accept(s);
    poise_expressive_report r = improve(e, eps, pull);
    double rank = r.error + (e->options.exact && !is_met(e, &r) ? UNMET : 0.0);
    if (!(rank < bar)) {
        return false;
    }
    e->report = r;
    e->best = rank;
    memcpy(e->q_best, e->q_refined, (size_t)e->nq * sizeof *e->q_best);
    return true;
}

// ---- The solve -----------------------------------------------------------------------------------------------------------

// Of a few configurations from all over the range the one with the least cost, into e->q_seed.
static void draw_start(poise_expressive *e, int number)
{
    double least = INFINITY;
    for (int i = 0; i < DRAWS; ++i) {
        poise_method_restart(e->run, number * DRAWS + i + 1, e->q_trial);
        double cost = e->run->call->evaluate(e->run, e->q_trial, POISE_LEVEL_COST);
        if (i == 0 || cost < least) {
            least = cost;
            memcpy(e->q_seed, e->q_trial, (size_t)e->nq * sizeof *e->q_seed);
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
    size_t bytes = (size_t)e->nq * sizeof(double);
    bool left = false;
    pz_expressive_find(e);
    for (int i = 0; i < e->found_count && !(left && e->best < GOOD * e->options.gain); ++i) {
        memcpy(e->q_seed, e->q_start, bytes);
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
        memcpy(e->q_seed, e->q_start, bytes);
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
    poise_difference(e->model, from, to, e->difference, NULL);
    return pz_largest(e->difference, e->nv);
}

// Meet the goals again a share of the way from the last answer to e->q_best.
static poise_expressive_report go(poise_expressive *e, double share)
{
    poise_method_run *s = e->run;
    longest_move(e, e->q_start, e->q_best);
    for (int i = 0; i < e->nv; ++i) {
        s->step[i] = share * e->difference[i];
    }
    s->call->step_within(s, e->q_start, s->step, e->q_seed);
    choose_twin(e, e->q_seed);
    if (!is_finite(s->call->evaluate(s, e->q_seed, POISE_LEVEL_HESSIAN))) {
        return (poise_expressive_report){.worst_angle = INFINITY};
    }
    s->call->accept(s);
    meet_goals(e);
    return judge(e);
}

// Where e->q_best is further from the last answer than a stride and twice what the goals ask for: a stride on the way there.
static bool take_stride(poise_expressive *e)
{
    poise_method_run *s = e->run;
    double far = longest_move(e, e->q_start, e->q_best), share = SHARE * e->options.stride / far;
    poise_expressive_report r = go(e, 0.0);
    double most = e->options.stride + 2.0 * longest_move(e, e->q_start, s->at.q);
    for (int i = 0; i < SHORTER && is_met(e, &r) && far > most; ++i, share *= 0.5) {
        r = go(e, share);
        double moved = longest_move(e, e->q_start, s->at.q), left = longest_move(e, s->at.q, e->q_best);
        if (is_met(e, &r) && moved <= most && left <= (1.0 - ADVANCE * share) * far) {
            memcpy(e->q_best, s->at.q, (size_t)e->nq * sizeof *e->q_best);
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
    poise_status status = poise_model_check(e->model, posture, "posture", error);
    status = status == POISE_OK ? poise_model_check(e->model, q, "q", error) : status;
    if (status != POISE_OK) {
        return status;
    }
    for (int i = 0; i < count; ++i) {
        e->goals[i] = goals[i];
    }
    e->goal_count = count;
    status = poise_method_begin(e->solver, e->goals, count, e->options.warm ? q : posture, &e->run, error);
    if (status != POISE_OK) {
        return status;
    }
    memcpy(e->q_start, e->run->q_start, (size_t)e->nq * sizeof *e->q_start);
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
    size_t bytes = (size_t)e->nq * sizeof *q;
    e->report = (poise_expressive_report){.error = INFINITY};
    e->best = INFINITY;
    memcpy(e->q_best, e->q_start, bytes);
    e->candidates = 0;
    bool kept = e->options.warm && consider(e, e->q_start, FINE, e->options.inertia, INFINITY);
    double bar = kept ? e->best - e->options.gain : INFINITY;
    if (bar > 0.0) {
        kept = !consider_others(e, bar) && kept;
    }
    e->report.is_on_the_way = e->options.warm && e->options.stride > 0.0 && take_stride(e);
    e->report.kept_branch = kept;
    e->report.candidates = e->candidates;
    e->report.error = finite(e->report.error);
    e->report.goal = finite(e->report.goal);
    e->report.outcome = e->report.error <= e->options.threshold ? POISE_OUTCOME_REACHED : POISE_OUTCOME_CLOSEST;
    e->report.evaluations = e->run->report->evaluations;
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
