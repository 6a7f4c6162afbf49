// A pose goal on an arm, from start to answer: searches, the closest pose where they fail, the report.
#include "num/trig.h"
#include "solve/arm/arm_kernel.h"
#include "solve/methods.h"

#define MARGIN      0.9999 // of the tolerances: what another order of the same sums may make of the error
#define ALIKE       1e-3   // radians, or lengths over L: solutions are the same when no joint differs by more
#define FARTHEST    1e300  // of the energy: nothing overflows on the way
#define LOOKS       3      // at a pose that is called closest
#define BESIDE_ZERO 1e-5   // energy of a closest pose that may be one that searches missed
#define POLISHED    1e-9   // error to which solutions are brought that are compared

struct pz_arm {
    int body; // what the chain was made for; -1: nothing
    poise_pose local;
    bool fits;    // it could be made
    double chord; // 2 sin of half the rotation tolerance
    pz_arm_chain chain;
    pz_arm_call *call;   // the current one
    pz_arm_call own;     // of a solve that goes from begin to end at once
    pz_arm_table *table; // NULL: none is wanted
    bool has_table;      // it fits the chain
};

pz_arm *pz_arm_lay_out(const poise_solver *solver, pz_arena *arena)
{
    pz_arm *arm = pz_arena_take(arena, 1, sizeof *arm);
    pz_arm_table *table = solver->options.arm.seed_table ? pz_arena_take(arena, 1, sizeof *table) : NULL;
    if (arm) {
        double sine, cosine, tolerance = min2(solver->options.rotation_tolerance, PZ_PI);
        pz_sincos(0.5 * tolerance, &sine, &cosine);
        *arm = (pz_arm){.body = -1, .table = table, .chord = 2.0 * sine};
    }
    return arm;
}

void pz_arm_record(pz_arm_run *run, double f, double damping, bool exact)
{
    const poise_solver_options *options = &run->trace->options;
    poise_report *report = &run->trace->report;
    double weight = run->trace->goals[0].rotation_weight;
    if (report->traced < options->trace_capacity) {
        options->trace[report->traced++] = (poise_trace){.cost = pz_finite(weight * f),
                                                         .gradient = pz_finite(weight * run->slope),
                                                         .damping = pz_finite(damping),
                                                         .step = pz_finite(run->longest),
                                                         .accepted = f < run->best,
                                                         .exact = exact};
    }
    run->best = min2(run->best, f);
}

// ---- Is this a problem for an arm? ---------------------------------------------------------------------------------------

bool pz_arm_options_fit(const poise_solver_options *options)
{
    return options->prior == 0 && options->max_iterations > 0 && !is_finite(options->step_limit) && options->damping == 0;
}

static bool goal_fits(const poise_solver *solver)
{
    const poise_goal *goal = solver->goals;
    return solver->goal_count == 1 && goal->kind == POISE_GOAL_POSE && goal->weight > 0 && goal->rotation_weight > 0 &&
           goal->loss == POISE_LOSS_NONE;
}

static void make_chain(const poise_solver *solver, pz_arm *arm, const poise_goal *goal, const poise_kinematics *held)
{
    arm->fits = pz_arm_chain_make(solver->model, solver->box, held, goal->body, &goal->local, &arm->chain);
    arm->body = goal->body;
    arm->local = goal->local;
    arm->has_table = arm->fits && arm->table && pz_arm_table_make(&arm->chain, arm->table);
}

bool pz_arm_make_chain(const poise_solver *solver, pz_arm *arm, const poise_goal *goal)
{
    if (goal->body != arm->body || memcmp(&goal->local, &arm->local, sizeof arm->local) != 0) {
        make_chain(solver, arm, goal, NULL);
    }
    return arm->fits;
}

double pz_arm_square(double tolerance, double size)
{
    double rounding = 16.0 * PZ_EPSILON * size;
    double t = max2(MARGIN * tolerance - rounding, rounding);
    return t * t;
}

// False when a number overflows: that is left to the general path.
static bool make_target(const poise_solver *solver, pz_arm *arm)
{
    const poise_goal *goal = solver->goals;
    const poise_solver_options *options = &solver->options;
    const pz_arm_chain *chain = &arm->chain;
    pz_arm_target *target = &arm->call->target;
    double scale = 1.0 / chain->unit;
    target->has_band = pz_has_band(goal->tolerance) || pz_has_band(goal->rotation_tolerance);
    pz_arm_aim(chain, &goal->target, target);
    if (target->has_band) {
        target->turn = quat_from_matrix(&target->u);
        target->tolerance = v3_scale(goal->tolerance, scale);
        target->rotation_tolerance = goal->rotation_tolerance;
        target->most_e = pz_arm_square(options->rotation_tolerance, 1.0);
    } else {
        target->most_e = options->rotation_tolerance < PZ_PI ? pz_arm_square(arm->chord, 1.0) : INFINITY;
    }
    target->most_r = pz_arm_square(options->position_tolerance * scale, chain->size);
    target->W = goal->weight * chain->unit * chain->unit / goal->rotation_weight;
    target->cost = MARGIN * options->cost_tolerance / goal->rotation_weight;
    target->stationary = options->gradient_tolerance;
    double farthest = v3_dot(target->t, target->t) + chain->size * chain->size;
    return max2(target->W, 1.0) * farthest < FARTHEST; // W may underflow to 0: the search has its own
}

const pz_arm_chain *pz_arm_prepare(poise_solver *solver, pz_arm_call *call)
{
    pz_arm *arm = solver->arm;
    if (!arm || !pz_arm_options_fit(&solver->options) || !goal_fits(solver) ||
        !pz_arm_make_chain(solver, arm, solver->goals)) {
        return NULL;
    }
    arm->call = call;
    if (!make_target(solver, arm)) {
        return NULL;
    }
    const pz_arm_chain *chain = &arm->chain;
    for (int i = 0; i < chain->n; ++i) {
        call->q_start[i] = solver->q_start[chain->q[i]];
    }
    call->run.iterations = call->run.evaluations = 0;
    call->run.best = INFINITY;
    call->run.trace = solver->options.trace && solver->options.trace_capacity > 0 ? solver : NULL;
    call->end_count = call->search = 0;
    call->last_search = pz_arm_last_search(chain, &call->target, solver->options.restarts);
    call->met = false;
    call->reach = PZ_ARM_UNKNOWN;
    pz_arm_open(chain, call->q_start, &call->run);
    return chain;
}

void pz_arm_take_up(poise_solver *solver, pz_arm_call *call)
{
    solver->arm->call = call;
}

// ---- Searches ------------------------------------------------------------------------------------------------------------

// Where search number m begins: the caller's start, then entries of the table, then the sequence.
static void begin_search(const poise_solver *solver, pz_arm *arm, int m)
{
    double q[PZ_ARM_MOST];
    pz_arm_call *call = arm->call;
    int from_table = arm->has_table && !call->target.has_band ? PZ_ARM_NEAR : 0;
    if (m == 1 && from_table > 0) {
        pz_arm_table_aim(&arm->chain, &call->target, arm->table);
    }
    if (m > 0 && m <= from_table) {
        pz_arm_table_next(&arm->chain, &call->target, arm->table, q);
    } else if (m > 0) {
        pz_arm_restart(&arm->chain, pz_arm_first_start(solver->options.seed) + m - from_table, q);
    }
    pz_arm_begin(&arm->chain, m == 0 ? call->q_start : q, &call->run);
}

void pz_arm_begin_search(const poise_solver *solver)
{
    begin_search(solver, solver->arm, solver->arm->call->search);
}

// The chain's coordinates put into a configuration of the model.
static void put(const poise_solver *solver, const pz_arm *arm, const double *q, double *configuration)
{
    memcpy(configuration, solver->q_start, (size_t)solver->model->nq * sizeof *configuration);
    for (int i = 0; i < arm->chain.n; ++i) {
        configuration[arm->chain.q[i]] = q[i];
    }
}

// Of the iterations recorded since `first`, only those count as accepted that came closer than all before.
static void judge_trace(const poise_solver *solver, pz_arm_run *run, int first)
{
    for (int i = first; i < solver->report.traced; ++i) {
        poise_trace *record = &solver->options.trace[i];
        double f = record->cost / solver->goals[0].rotation_weight;
        record->accepted = record->accepted && f < run->best;
        run->best = min2(run->best, f);
    }
}

// The general method from run->q, for goals with bands.
static pz_arm_end run_general(poise_solver *solver, pz_arm *arm)
{
    int traced = solver->report.traced;
    put(solver, arm, arm->call->run.q, solver->q_try);
    poise_outcome outcome = pz_solver_run_from(solver, solver->q_try);
    judge_trace(solver, &arm->call->run, traced);
    for (int i = 0; i < arm->chain.n; ++i) {
        arm->call->run.q[i] = solver->at->kin.q[arm->chain.q[i]];
    }
    return outcome == POISE_OUTCOME_REACHED   ? PZ_ARM_MET
           : outcome == POISE_OUTCOME_CLOSEST ? PZ_ARM_CLOSEST
           : outcome == POISE_OUTCOME_STALLED ? PZ_ARM_STALLED
                                              : PZ_ARM_BUDGET;
}

// Look for a zero from where the search begins.
static bool look_for_zero(const poise_solver *solver, pz_arm *arm)
{
    int most = pz_arm_search_most(solver->options.max_iterations);
    pz_arm_call *call = arm->call;
    return call->target.has_band ? pz_arm_search_banded(&arm->chain, &call->target, most, &call->run)
                                 : pz_arm_search(&arm->chain, &call->target, most, &call->run);
}

bool pz_arm_finish_search(const pz_arm_chain *chain, const pz_arm_target *target, int max_iterations, pz_arm_run *run)
{
    return !target->has_band && pz_arm_is_near_zero(run) &&
           pz_arm_finish(chain, target, true, pz_arm_finish_most(max_iterations), run) == PZ_ARM_MET;
}

static bool finish_search(const poise_solver *solver, pz_arm *arm, bool met)
{
    pz_arm_call *call = arm->call;
    return met || pz_arm_finish_search(&arm->chain, &call->target, solver->options.max_iterations, &call->run);
}

static void note_search(poise_solver *solver, const pz_arm_call *call, int m)
{
    if (m == 0) {
        double f = 0.5 * call->target.W * call->run.first_r + call->run.first_e;
        solver->report.start_cost = solver->goals[0].rotation_weight * f;
    }
    solver->report.restarts = m;
}

// Would the caller keep this answer, as it would be handed out?
static bool is_accepted(poise_solver *solver, pz_arm *arm)
{
    if (!solver->accepts) {
        return true;
    }
    pz_arm_turn_back(&arm->chain, arm->call->q_start, arm->call->run.q);
    put(solver, arm, arm->call->run.q, solver->q_try);
    return solver->accepts(solver, solver->q_try);
}

bool pz_arm_end_search(poise_solver *solver, bool met)
{
    pz_arm_call *call = solver->arm->call;
    call->met = finish_search(solver, solver->arm, met) && is_accepted(solver, solver->arm);
    note_search(solver, call, call->search);
    if (call->met) {
        return true;
    }
    pz_arm_keep_end(call);
    call->search += 1;
    return call->search > call->last_search;
}

// ---- The closest pose ----------------------------------------------------------------------------------------------------

pz_arm_end pz_arm_find_closest(pz_arm_call *call, bool only_near, pz_arm_minimise minimise, void *context)
{
    pz_arm_end end, best_end;
    double best = minimise(context, call, call->q_start, &best_end);
    pz_arm_run closest = call->run;
    for (int k = 0; k < call->end_count && !only_near && best_end != PZ_ARM_MET; ++k) {
        double cost = minimise(context, call, call->ends[k].q, &end);
        if (end == PZ_ARM_MET || cost < best) {
            best = cost;
            best_end = end;
            closest = call->run;
        }
    }
    closest.iterations = call->run.iterations, closest.evaluations = call->run.evaluations, closest.best = call->run.best;
    call->run = closest;
    return best_end;
}

static double minimise(void *context, pz_arm_call *call, const double *q, pz_arm_end *end)
{
    poise_solver *solver = context;
    pz_arm *arm = solver->arm;
    pz_arm_begin(&arm->chain, q, &call->run);
    if (!call->target.has_band) {
        *end = pz_arm_finish(&arm->chain, &call->target, false, solver->options.max_iterations, &call->run);
        return pz_arm_cost(&call->target, &call->run);
    }
    *end = run_general(solver, arm);
    return solver->at->cost / solver->goals[0].rotation_weight;
}

// A warm start without restarts wants the closest pose near it. Otherwise the best ends of the searches are tried, too.
static pz_arm_end find_closest(poise_solver *solver)
{
    bool only_near = solver->options.restarts == 0 && solver->options.start == POISE_START_WARM;
    return pz_arm_find_closest(solver->arm->call, only_near, minimise, solver);
}

// ---- Beyond the limits ---------------------------------------------------------------------------------------------------

// Where searches missed, is the pose reached beyond the limits, or in a corner of them? A solve without restarts does not
// ask.
static pz_arm_reach look_beyond(poise_solver *solver, bool (*keeps)(void *context), void *context)
{
    const poise_solver_options *options = &solver->options;
    const pz_arm_chain *chain = &solver->arm->chain;
    pz_arm_call *call = solver->arm->call;
    int count = pz_arm_beyond_count(chain, &call->target, options->restarts);
    int first = pz_arm_first_start(options->seed) + call->last_search + 1;
    return pz_arm_look_beyond(chain, call, first, count, options->max_iterations, keeps, context);
}

static bool keeps_it(void *context)
{
    poise_solver *solver = context;
    return is_accepted(solver, solver->arm);
}

// ---- Answer --------------------------------------------------------------------------------------------------------------

// The largest component of the projected gradient at the answer, per unit of a coordinate.
static double slope_of(const pz_arm *arm)
{
    const pz_arm_call *call = arm->call;
    const pz_arm_chain *chain = &arm->chain;
    double largest = 0.0;
    for (int i = 0; i < chain->n; ++i) {
        double q = call->run.q[i], g = call->run.g[i];
        bool held = (q <= chain->lower[i] && g >= 0) || (q >= chain->upper[i] && g <= 0);
        largest = held ? largest : max2(largest, chain->slides ? fabs(g) / chain->rate[i] : fabs(g));
    }
    return largest;
}

// Measure an answer without a band by the chain's own numbers, which are those of the general objective up to rounding:
// r is over L, energies are over rotation_weight. True when the goal is met.
static bool is_reached(poise_solver *solver, const pz_arm *arm)
{
    const pz_arm_call *call = arm->call;
    const poise_solver_options *options = &solver->options;
    poise_report *report = &solver->report;
    double w = solver->goals[0].rotation_weight;
    report->cost = w * pz_arm_cost(&call->target, &call->run);
    report->gradient = w * slope_of(arm);
    report->worst_length = arm->chain.unit * sqrt(call->run.r);
    report->worst_angle = pz_arm_angle(call->run.e);
    solver->is_measured =
        (report->worst_length <= options->position_tolerance && report->worst_angle <= options->rotation_tolerance) ||
        report->cost <= options->cost_tolerance;
    return solver->is_measured;
}

#define BESIDE 0.05 // radians beyond a limit, where standing at the limit may do as well

// Is a hinge more than half a turn from where it started?
static bool has_turned_far(const pz_arm_chain *chain, const double *q_start, const double *q)
{
    int far = 0;
    for (int i = 0; i < chain->n; ++i) {
        far += (chain->turn[i] != 0) & (fabs(q[i] - q_start[i]) > PZ_PI);
    }
    return far > 0;
}

// Hinges that are a whole turn from the start, only because next to it they would be a little beyond a limit, are put at
// that limit in q, and held on its side in `run`. False: there are none.
static bool put_at_limits(const pz_arm_chain *chain, const double *q_start, double *q, pz_arm_run *run)
{
    bool are_there = false;
    for (int i = 0; i < chain->n; ++i) {
        double near = turn_near(q[i], q_start[i]), side = near > q_start[i] ? 1.0 : -1.0;
        double limit = side > 0 ? chain->upper[i] : chain->lower[i];
        if (chain->turn[i] != 0 && fabs(q[i] - q_start[i]) > PZ_PI && fabs(near - limit) <= BESIDE) {
            q[i] = limit;
            run->lower[i] = min2(limit, limit - side), run->upper[i] = max2(limit, limit - side);
            run->middle[i] = limit - 0.5 * side;
            are_there = true;
        }
    }
    return are_there;
}

// An answer that lies at a limit, or within the tolerance of it, is not given up for one a whole turn away.
static void stay_at_limits(poise_solver *solver, pz_arm *arm)
{
    pz_arm_call *call = arm->call;
    pz_arm_run found = call->run;
    pz_arm_end end;
    double q[PZ_ARM_MOST];
    memcpy(q, found.q, sizeof q);
    if (!put_at_limits(&arm->chain, call->q_start, q, &call->run)) {
        return;
    }
    minimise(solver, call, q, &end);
    pz_arm_turn_back(&arm->chain, call->q_start, call->run.q);
    if (end != PZ_ARM_MET || !is_accepted(solver, arm)) {
        found.iterations = call->run.iterations, found.evaluations = call->run.evaluations, found.best = call->run.best;
        call->run = found;
    }
}

// A pose is called the closest where none that meets the goal was missed, as far as was looked: not where limits alone are in
// the way, between which there may be one, nor so near the goal that ends of searches look like it.
static void doubt(poise_solver *solver, const pz_arm_call *call)
{
    bool is_near = call->reach == PZ_ARM_NOWHERE && !call->target.has_band && 0.5 * call->run.r + call->run.e < BESIDE_ZERO;
    if (solver->report.outcome == POISE_OUTCOME_CLOSEST && (is_near || call->reach == PZ_ARM_BEYOND_LIMITS)) {
        solver->report.outcome = POISE_OUTCOME_STALLED;
        solver->report.why = is_near ? POISE_WHY_BESIDE : POISE_WHY_LIMITS;
    }
}

// The descent stops where the gradient vanishes, which may be a saddle: the general method looks for a way out of it, and goes
// on from there. Again where a limit is hardly pushed against, and a second look leads down from it.
static void leave_saddle(poise_solver *solver)
{
    size_t size = (size_t)solver->model->nq * sizeof *solver->q_try;
    bool goes_on = true;
    memcpy(solver->q_try, solver->q_best, size);
    for (int k = 0; k < LOOKS && goes_on; ++k) {
        memcpy(solver->q_best, solver->q_try, size);
        solver->report.outcome = pz_solver_run_from(solver, solver->q_best);
        goes_on = solver->report.outcome == POISE_OUTCOME_CLOSEST && pz_has_weak_bound(solver) && pz_is_refuted(solver);
    }
    memcpy(solver->q_best, solver->at->kin.q, size);
    if (goes_on) {
        solver->report.outcome = POISE_OUTCOME_STALLED;
        solver->report.why = POISE_WHY_REFUTED;
    }
}

static void conclude(poise_solver *solver, pz_arm *arm, pz_arm_end end)
{
    pz_arm_call *call = arm->call;
    poise_report *report = &solver->report;
    pz_arm_turn_back(&arm->chain, call->q_start, call->run.q);
    if (end == PZ_ARM_MET && !call->target.has_band && has_turned_far(&arm->chain, call->q_start, call->run.q)) {
        stay_at_limits(solver, arm);
    }
    put(solver, arm, call->run.q, solver->q_best);
    report->iterations += call->run.iterations;
    report->evaluations += call->run.evaluations;
    if (end == PZ_ARM_MET && !call->target.has_band && is_reached(solver, arm)) {
        report->outcome = POISE_OUTCOME_REACHED;
        report->why = POISE_WHY_REACHED;
        return;
    }
    pz_try(solver, solver->q_best, POISE_LEVEL_HESSIAN);
    pz_accept(solver);
    pz_refresh_diagonal(solver);
    if (pz_is_done(solver, &report->outcome)) {
        if (report->outcome == POISE_OUTCOME_CLOSEST) {
            leave_saddle(solver);
        }
        doubt(solver, call);
        return;
    }
    report->outcome = end == PZ_ARM_MET ? POISE_OUTCOME_STALLED : pz_arm_outcome(end);
    report->why = end == PZ_ARM_BUDGET ? POISE_WHY_BUDGET : end == PZ_ARM_CLOSEST ? POISE_WHY_CLOSEST : POISE_WHY_STALLED;
    doubt(solver, call);
}

void pz_arm_conclude(poise_solver *solver)
{
    pz_arm_call *call = solver->arm->call;
    if (!call->met) {
        call->reach = look_beyond(solver, keeps_it, solver);
        call->met = call->reach == PZ_ARM_WITHIN_LIMITS;
    }
    conclude(solver, solver->arm, call->met ? PZ_ARM_MET : find_closest(solver));
}

bool pz_arm_solve(poise_solver *solver)
{
    pz_arm *arm = solver->arm;
    if (!arm || !pz_arm_prepare(solver, &arm->own)) {
        return false;
    }
    do {
        pz_arm_begin_search(solver);
    } while (!pz_arm_end_search(solver, look_for_zero(solver, arm)));
    pz_arm_conclude(solver);
    return true;
}

// ---- All solutions -------------------------------------------------------------------------------------------------------

static double distance_of(const poise_solver *solver, const pz_arm *arm, const double *q)
{
    double sum = 0.0;
    for (int i = 0; i < arm->chain.n; ++i) {
        double d = q[arm->chain.q[i]] - solver->q_start[arm->chain.q[i]];
        sum += d * d;
    }
    return sum;
}

// The same but for whole turns of hinges? An angle of pi is one of -pi.
static bool are_alike(const pz_arm *arm, const double *a, const double *b)
{
    for (int i = 0; i < arm->chain.n; ++i) {
        int q = arm->chain.q[i];
        double apart = a[q] - b[q];
        apart -= arm->chain.turn[i] == 0 ? 0.0 : PZ_TWO_PI * arm_round(apart / PZ_TWO_PI);
        if (fabs(apart) > ALIKE * arm->chain.rate[i]) {
            return false;
        }
    }
    return true;
}

// Put the solution `found` among the rows, nearest first, unless it is there or the rows are full of nearer ones.
static void add_solution(const poise_solver *solver, const pz_arm *arm, const double *found, double *rows, int capacity,
                         int *count)
{
    size_t nq = (size_t)solver->model->nq;
    double distance = distance_of(solver, arm, found);
    int at = 0;
    for (int k = 0; k < *count; ++k) {
        if (are_alike(arm, found, rows + (size_t)k * nq)) {
            return;
        }
        at += distance_of(solver, arm, rows + (size_t)k * nq) <= distance;
    }
    if (at == capacity) {
        return;
    }
    *count = least(*count + 1, capacity);
    memmove(rows + (size_t)(at + 1) * nq, rows + (size_t)at * nq, (size_t)(*count - 1 - at) * nq * sizeof *rows);
    memcpy(rows + (size_t)at * nq, found, nq * sizeof *rows);
}

// Search from where the run is, to far below the tolerance so that two finds of one solution are alike.
static bool find_sharply(poise_solver *solver, pz_arm *arm)
{
    pz_arm_call *call = arm->call;
    pz_arm_target wanted = call->target;
    call->target.most_r = min2(wanted.most_r, POLISHED * POLISHED);
    call->target.most_e = min2(wanted.most_e, POLISHED * POLISHED);
    bool met = finish_search(solver, arm, look_for_zero(solver, arm));
    call->target = wanted;
    return met || (call->run.r <= wanted.most_r && 2.0 * call->run.e <= wanted.most_e);
}

// The solutions found so far.
typedef struct solution_rows {
    poise_solver *solver;
    double *rows;
    int capacity, count;
} solution_rows;

static void take_solution(solution_rows *found)
{
    poise_solver *solver = found->solver;
    pz_arm *arm = solver->arm;
    pz_arm_turn_back(&arm->chain, arm->own.q_start, arm->own.run.q);
    put(solver, arm, arm->own.run.q, solver->q_try);
    add_solution(solver, arm, solver->q_try, found->rows, found->capacity, &found->count);
}

// One from beyond the limits; others may follow.
static bool takes(void *context)
{
    solution_rows *found = context;
    if (find_sharply(found->solver, found->solver->arm)) {
        take_solution(found);
    }
    return false;
}

static int find_all(poise_solver *solver, pz_arm *arm, double *solutions, int capacity)
{
    solution_rows all = {solver, solutions, capacity, 0};
    for (int m = 0; m <= solver->options.restarts; ++m) {
        begin_search(solver, arm, m);
        if (find_sharply(solver, arm)) {
            take_solution(&all);
        } else {
            pz_arm_keep_end(&arm->own);
        }
        note_search(solver, &arm->own, m);
    }
    arm->own.reach = look_beyond(solver, takes, &all);
    int found = all.count;
    if (found > 0) {
        for (int i = 0; i < arm->chain.n; ++i) {
            arm->own.run.q[i] = solutions[arm->chain.q[i]];
        }
        pz_arm_measure(&arm->chain, &arm->own.target, &arm->own.run);
    }
    conclude(solver, arm, found > 0 ? PZ_ARM_MET : find_closest(solver));
    return found;
}

// The chain is made with locked joints where the start has them, and not kept: the next start may have them elsewhere.
bool pz_arm_solve_all(poise_solver *solver, double *solutions, int capacity, int *count)
{
    pz_arm *arm = solver->arm;
    if (!arm || !goal_fits(solver)) {
        return false;
    }
    if (solver->options.locked) {
        pz_kin_sweep(&solver->trial->kin, solver->q_start);
        make_chain(solver, arm, solver->goals, &solver->trial->kin);
    }
    bool fits = pz_arm_prepare(solver, &arm->own) != NULL;
    if (fits) {
        *count = find_all(solver, arm, solutions, capacity);
    }
    arm->body = solver->options.locked ? -1 : arm->body;
    return fits;
}
