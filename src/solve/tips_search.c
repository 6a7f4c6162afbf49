// The search for a zero of several goals on a tree: Gauss-Newton with a damping in proportion to the energy.
//
// Each step solves (G + lambda D) x = -g over the tree, G the Gauss-Newton matrix of F (tips.h), D = 1 for turns and 1/L^2
// for slides, lambda = 0.05 F + 1e-12. A dof at a limit that descent would leave is held; one that leaves its interval is
// turned back by whole turns, or clamped. Every step is taken: only zeros are looked for, and a search that does not close
// in on one is dropped after few iterations, since new limbs are cheaper. This serves joints and goals of all kinds.
#include "solve/auto.h"
#include "solve/tips.h"

#define DAMPING       0.05 // lambda over F
#define DAMPING_LEAST 1e-12
#define FIRST_LOOK    5    // iterates before a search is judged
#define CREEPS        0.7  // F over that three iterates before: above, the search is dropped
#define NO_TURN       3.14 // a hinge this close to the middle of its interval gains nothing by whole turns

// ---- Goals ---------------------------------------------------------------------------------------------------------------

void pz_tips_use_goals(poise_solver *solver, const poise_goal *goals, int count)
{
    solver->goals = solver->at->goals = solver->trial->goals = goals;
    solver->goal_count = solver->at->goal_count = solver->trial->goal_count = count;
    solver->at->level = solver->trial->level = POISE_LEVEL_COST;
}

void pz_tips_take_goals(const poise_solver *solver, pz_tips *tips, const pz_part *part)
{
    double lengths = 1.0 / (part->unit * part->unit);
    int count = 0;
    for (int i = 0; i < tips->count; ++i) {
        if (part->goals & pz_goal_bit(i)) {
            poise_goal *goal = &tips->search[count];
            *goal = tips->own[count] = solver->goals[i];
            goal->weight = tips->keys[i].has_lengths ? lengths : goal->weight > 0 ? 1.0 : 0.0;
            goal->rotation_weight = tips->keys[i].has_turns ? 1.0 : 0.0;
            tips->goal_of[count++] = i;
        }
    }
}

// The energy of goal i of the part, by `goals`, which are tips->own or tips->search.
static double energy_of(const poise_kinematics *kin, const poise_goal *goal)
{
    pz_evaluation evaluation = {.kin = kin, .level = POISE_LEVEL_COST};
    pz_goal_row_of(goal->kind)->evaluate(&evaluation, goal);
    return evaluation.cost;
}

static double cost_of(const poise_kinematics *kin, const poise_goal *goals, int count)
{
    double sum = 0.0;
    for (int i = 0; i < count; ++i) {
        sum += energy_of(kin, &goals[i]);
    }
    return sum;
}

// ---- One search ----------------------------------------------------------------------------------------------------------

// Are all goals met at the current point? Not while F is more than their tolerances allow.
static bool is_met(const poise_solver *solver, const pz_part *part)
{
    double length = solver->options.position_tolerance / part->unit, angle = solver->options.rotation_tolerance;
    if (solver->at->cost > 1.01 * solver->goal_count * 0.5 * (length * length + angle * angle)) {
        return false;
    }
    for (int i = 0; i < solver->goal_count; ++i) {
        if (!pz_goal_is_met(solver, &solver->goals[i])) {
            return false;
        }
    }
    return true;
}

// Hinges that the step takes out of their interval come back by whole turns where that is possible. Followers would not.
static void turn_back(const poise_solver *solver, double *q)
{
    const poise_model *model = solver->model;
    for (int i = 0; i < model->nv && !model->has_mimic; ++i) {
        const pz_box *box = &solver->box[i];
        if (box->q < 0 || box->locked || solver->step[i] == 0 || !(box->upper - box->lower < INFINITY)) {
            continue;
        }
        double next = solver->at->kin.q[box->q] + solver->step[i], middle = 0.5 * (box->lower + box->upper);
        int joint = model->axes[model->dof_axis[i]].joint;
        bool is_hinge = pz_step_is_turn(model->steps[model->joints[joint].step_end - 1].kind) &&
                        !pz_axis_slides(model, model->dof_axis[i]);
        if (is_hinge && (next < box->lower || next > box->upper) && fabs(next - middle) > NO_TURN) {
            double turned = next - PZ_TWO_PI * round_down((next - middle) / PZ_TWO_PI + 0.5);
            q[box->q] = turned > box->lower && turned < box->upper ? turned : q[box->q];
        }
    }
}

// One step from the current point, into solver->q_try. False: no system could be solved.
static bool take_step(poise_solver *solver, const pz_part *part, double lambda)
{
    const poise_model *model = solver->model;
    pz_damped *d = (pz_damped *)solver->method;
    for (int i = 0; i < model->nv; ++i) {
        d->D[i] = pz_axis_slides(model, model->dof_axis[i]) ? 1.0 / (part->unit * part->unit) : 1.0;
    }
    d->damping.lambda = 0.0; // its metric is that above
    pz_damped_refresh(d, solver, false);
    pz_hold_at_bounds(solver, d);
    if (!pz_tree_solve(d->tree, solver->at, POISE_HESSIAN_GAUSS_NEWTON, lambda, d->D, d->hold, d->hold_value,
                       solver->step)) {
        return false;
    }
    if (d->has_edges) {
        pz_project_on_swings(solver, solver->step);
    }
    if (solver->has_swings) {
        pz_clip_to_swings(solver, solver->step);
    }
    pz_step_within(solver, solver->at->kin.q, solver->step, solver->q_try);
    turn_back(solver, solver->q_try);
    return true;
}

// Count the iteration that led to the current point; a trace has the part's own cost.
static void count_iteration(poise_solver *solver, const pz_tips *tips, double lambda)
{
    poise_report *report = &solver->report;
    report->iterations += 1;
    if (solver->options.trace && report->traced < solver->options.trace_capacity) {
        double cost = cost_of(&solver->at->kin, tips->own, solver->goal_count);
        solver->options.trace[report->traced++] =
            (poise_trace){.cost = pz_finite(cost),
                          .gradient = pz_finite(pz_project_gradient(solver)),
                          .damping = lambda,
                          .step = pz_finite(pz_largest(solver->step, solver->model->nv)),
                          .accepted = true}; // if it is the best so far, which is judged at the end
    }
}

// From solver->q_try. True when all goals are met at the current point, where it ends.
static bool look_for_zero(poise_solver *solver, const pz_tips *tips, const pz_part *part)
{
    double f[3] = {INFINITY, INFINITY, INFINITY}, lambda = 0.0;
    int most = least(PZ_TIPS_ITERATIONS, solver->options.max_iterations);
    for (int k = 0;; ++k) {
        double F = pz_try(solver, solver->q_try, POISE_LEVEL_HESSIAN);
        if (!is_finite(F)) {
            return false;
        }
        pz_accept(solver);
        if (k > 0) {
            count_iteration(solver, tips, lambda);
        }
        if (is_met(solver, part)) {
            return true;
        }
        lambda = DAMPING * F + DAMPING_LEAST;
        bool creeps = k >= FIRST_LOOK && !(F <= CREEPS * f[k % 3]);
        f[k % 3] = F;
        if (creeps || k == most || !take_step(solver, part, lambda)) {
            return false;
        }
    }
}

// What a search left near a zero is finished by descent, which a trace does not show.
static bool finish(poise_solver *solver, const pz_part *part)
{
    if (!(solver->at->cost < PZ_TIPS_NEAR_ZERO)) {
        return false;
    }
    int capacity = solver->options.trace_capacity;
    solver->options.trace_capacity = 0;
    memcpy(solver->q_try, solver->at->kin.q, (size_t)solver->model->nq * sizeof *solver->q_try);
    pz_solver_run_from(solver, solver->q_try);
    solver->options.trace_capacity = capacity;
    return is_met(solver, part);
}

// ---- Restarts ------------------------------------------------------------------------------------------------------------

static void copy(const poise_solver *solver, const double *from, double *to)
{
    memcpy(to, from, (size_t)solver->model->nq * sizeof *to);
}

// The limbs of the goals that were missed at the current point, as sets of goals that share one; those of all where none
// was. 0: none of them has a limb.
static int missed_limbs(const poise_solver *solver, const pz_tips *tips, pz_goal_set *limbs)
{
    int count = 0;
    pz_goal_set missed = 0, seen = 0;
    for (int i = 0; i < solver->goal_count; ++i) {
        bool is_missed = energy_of(&solver->at->kin, &solver->goals[i]) >= PZ_TIPS_MISSED;
        missed |= is_missed ? pz_goal_bit(tips->goal_of[i]) : 0;
    }
    for (int i = 0; i < solver->goal_count; ++i) {
        int goal = tips->goal_of[i];
        pz_goal_set alike = tips->alike[goal];
        if ((missed != 0 && !(missed & alike)) || (seen & alike)) {
            continue;
        }
        seen |= alike;
        for (int dof = 0; dof < solver->model->nv; ++dof) {
            if (pz_is_within(tips->moves[dof], alike)) {
                limbs[count++] = alike;
                break;
            }
        }
    }
    return count;
}

// The energy of a limb's goals at q.
static double limb_energy(poise_solver *solver, const pz_tips *tips, pz_goal_set limb, const double *q)
{
    double sum = 0.0;
    pz_kin_sweep(&solver->trial->kin, q);
    for (int i = 0; i < solver->goal_count; ++i) {
        if (limb & pz_goal_bit(tips->goal_of[i])) {
            sum += energy_of(&solver->trial->kin, &solver->goals[i]);
        }
    }
    return sum;
}

// A new place for one limb, the best of some, in solver->q_try.
static void draw_limb(poise_solver *solver, pz_tips *tips, pz_goal_set limb, int restart)
{
    double least_energy = INFINITY;
    int first = 0;
    while (!(limb & pz_goal_bit(first))) {
        first += 1;
    }
    copy(solver, solver->q_try, tips->q_kept);
    for (int draw = 0; draw < PZ_TIPS_DRAWS; ++draw) {
        uint64_t state = pz_limbs_state(solver->options.seed, tips->keys[first].body, restart, draw);
        pz_limbs_draw(solver, tips->moves, limb, tips->length[first], state, tips->q_kept);
        double energy = limb_energy(solver, tips, limb, tips->q_kept);
        if (energy < least_energy) {
            least_energy = energy;
            copy(solver, tips->q_kept, solver->q_try);
        }
    }
}

// Redraw everything: all dofs of the part, a free root aligned.
static void draw_all(poise_solver *solver, const pz_tips *tips, const pz_part *part, int restart)
{
    uint64_t state = pz_limbs_state(solver->options.seed, tips->keys[part->first].body, restart, PZ_TIPS_DRAWS);
    pz_limbs_draw(solver, tips->moves, part->goals, tips->length[part->first], state, solver->q_try);
    pz_kin_sweep(&solver->trial->kin, solver->q_try);
    pz_tips_align(solver, &solver->trial->kin, part->unit, solver->q_try);
}

// Where a search begins, into solver->q_try: number 0 at the caller's start, with a free root aligned when that is cold.
static void begin(poise_solver *solver, pz_tips *tips, const pz_part *part, int restart, int *rounds)
{
    pz_goal_set limbs[PZ_TIPS_MOST];
    if (restart == 0) {
        copy(solver, solver->q_start, solver->q_try);
        if (solver->options.start == POISE_START_COLD) {
            pz_kin_sweep(&solver->trial->kin, solver->q_try);
            pz_tips_align(solver, &solver->trial->kin, part->unit, solver->q_try);
        }
        return;
    }
    copy(solver, solver->at->kin.q, solver->q_try);
    int count = *rounds < PZ_TIPS_ROUNDS ? missed_limbs(solver, tips, limbs) : 0;
    for (int i = 0; i < count; ++i) {
        draw_limb(solver, tips, limbs[i], restart);
    }
    *rounds = count > 0 ? *rounds + 1 : 0;
    if (count == 0) {
        draw_all(solver, tips, part, restart);
    }
}

void pz_tips_keep_end(const poise_solver *solver, pz_tips *tips, double cost, const double *q)
{
    size_t nq = (size_t)solver->model->nq;
    if (!is_finite(cost) || (tips->end_count == PZ_TIPS_ENDS && !(cost < tips->end_cost[PZ_TIPS_ENDS - 1]))) {
        return;
    }
    int at = tips->end_count < PZ_TIPS_ENDS ? tips->end_count++ : PZ_TIPS_ENDS - 1;
    for (; at > 0 && cost < tips->end_cost[at - 1]; --at) {
        tips->end_cost[at] = tips->end_cost[at - 1];
        memcpy(tips->ends + (size_t)at * nq, tips->ends + (size_t)(at - 1) * nq, nq * sizeof *tips->ends);
    }
    tips->end_cost[at] = cost;
    memcpy(tips->ends + (size_t)at * nq, q, nq * sizeof *tips->ends);
}

// ---- A part --------------------------------------------------------------------------------------------------------------

// A goal that no posture comes near to needs fewer.
int pz_tips_restarts(const poise_solver *solver, const pz_tips *tips, const pz_part *part)
{
    for (int i = 0; i < part->count; ++i) {
        const poise_goal *goal = &tips->own[i];
        int at = tips->goal_of[i];
        bool is_point = (goal->kind == POISE_GOAL_POSITION || goal->kind == POISE_GOAL_POSE) && goal->weight > 0;
        double away = v3_norm(v3_sub(goal->target.position, tips->shoulder[at]));
        if (is_point && !pz_has_band(goal->tolerance) &&
            away > tips->reach[at] * (1.0 + 1e-9) + solver->options.position_tolerance) {
            return least(solver->options.restarts, PZ_TIPS_FAR);
        }
    }
    return solver->options.restarts;
}

// A warm start without restarts wants the closest pose near it.
void pz_tips_find_closest(poise_solver *solver, pz_tips *tips)
{
    double start_cost = solver->report.start_cost, best = INFINITY;
    bool is_near = solver->options.restarts == 0 && solver->options.start == POISE_START_WARM, is_open = true;
    for (int k = -1; k < (is_near ? 0 : tips->end_count) && is_open; ++k) {
        poise_why why = solver->report.why;
        if (k < 0) {
            pz_solve_start(solver, 0, false);
        } else {
            copy(solver, tips->ends + (size_t)k * (size_t)solver->model->nq, solver->q_try);
        }
        poise_outcome outcome = pz_solver_run_from(solver, solver->q_try);
        if (k < 0 || outcome == POISE_OUTCOME_REACHED || solver->at->cost < best) {
            best = solver->at->cost;
            solver->report.outcome = outcome;
            copy(solver, solver->at->kin.q, solver->q_best);
        } else {
            solver->report.why = why;
        }
        is_open = outcome != POISE_OUTCOME_REACHED;
    }
    solver->report.start_cost = start_cost;
    pz_search_beyond_limits(solver);
}

void pz_tips_search_part(poise_solver *solver, pz_tips *tips, const pz_part *part)
{
    pz_tips_take_goals(solver, tips, part);
    int rounds = 0, last = 0;
    bool met = false;
    tips->end_count = 0;
    pz_kin_sweep(&solver->trial->kin, solver->q_start);
    solver->report.start_cost = cost_of(&solver->trial->kin, tips->own, part->count);
    pz_tips_use_goals(solver, tips->search, part->count);
    last = pz_tips_restarts(solver, tips, part);
    for (int m = 0; m <= last && !met; ++m) {
        begin(solver, tips, part, m, &rounds);
        met = look_for_zero(solver, tips, part) || finish(solver, part);
        solver->report.restarts = m;
        if (met) {
            copy(solver, solver->at->kin.q, solver->q_best);
        } else {
            pz_tips_keep_end(solver, tips, cost_of(&solver->at->kin, tips->own, part->count), solver->at->kin.q);
        }
    }
    pz_tips_use_goals(solver, tips->own, part->count);
    solver->report.outcome = POISE_OUTCOME_REACHED;
    solver->report.why = POISE_WHY_REACHED;
    if (!met) {
        pz_tips_find_closest(solver, tips);
    }
    if (solver->options.trace) { // it wants the cost where this ends
        pz_objective_evaluate(solver->at, solver->q_best, POISE_LEVEL_COST);
    }
}
