// One run of sequential quadratic programming (within.h).
#include "solve/constrained/within.h"
#include "solve/step_kernel.h"
#include "solve/tree/damped_step.h"

#include <string.h>

#define SIGMA_LOOPS   10.0 // sigma, in units of mean(D)/|J|^2: equalities
#define SIGMA_OTHERS  1.0  // inequalities and limits
#define LAMBDA_LEAST  1e-9
#define LAMBDA_REFUSE 1e-3  // a rejected step raises lambda to at least this
#define NU_FALL       0.3   // the merit's weight of what is broken falls no faster
#define NU_MOST       10.0  // nor rises beyond this, in units of mean(D), where rows contradict each other
#define DEEP          0.02  // rows broken by more give way a little,
#define SOFTEN        0.02  // by this share: linearisations that contradict each other stay bounded
#define TRIED         12    // iterations before a run may be dropped,
#define WATCHED       6     // over which the merit must fall
#define SLOWEST       0.9   // to less than this share of what it was
#define SLACK         1e-11 // what a step may lack of an inequality, or exceed a limit by
#define CLOSING       1e-6  // loops open by less than this, or than the tolerance, are closed before anything else
#define NOISE         1e4   // axes are known as well as a lever of 1/100 whose end is known to the tolerance; squared
#define CLOSURE_EXACT 1e-9  // loops with a smaller tolerance have no noise
#define ROUNDING      2e-15 // errors of loops below this, for lengths of one unit, are rounding

// ---- Memory --------------------------------------------------------------------------------------------------------------

static double *numbers(pz_arena *arena, size_t count)
{
    return (double *)pz_arena_take(arena, count, sizeof(double));
}

pz_within *pz_within_lay_out(const poise_solver *solver, pz_arena *arena)
{
    const poise_constraint_options *options = &solver->options.constraints;
    size_t n = (size_t)solver->model->nv, nq = (size_t)solver->model->nq, rows = (size_t)options->rows;
    if (rows == 0) {
        return NULL;
    }
    pz_within w = {0}, *made = (pz_within *)pz_arena_take(arena, 1, sizeof *made);
    pz_constraints_lay_out(&w.constraints, solver->model, options, arena);
    pz_dual_lay_out(&w.dual, (int)n, options->rows, arena);
    w.at.row = (pz_row *)pz_arena_take(arena, rows, sizeof *w.at.row);
    w.trial.row = (pz_row *)pz_arena_take(arena, rows, sizeof *w.trial.row);
    w.is_equality = (bool *)pz_arena_take(arena, rows, sizeof *w.is_equality);
    w.hints = (pz_hint *)pz_arena_take(arena, (size_t)w.dual.capacity, sizeof *w.hints);
    w.hint_ids = (int *)pz_arena_take(arena, (size_t)w.dual.capacity, sizeof *w.hint_ids);
    w.J = numbers(arena, rows * n), w.c = numbers(arena, rows), w.c_trial = numbers(arena, rows);
    w.noise = numbers(arena, rows);
    w.is_noise = (bool *)pz_arena_take(arena, rows, sizeof *w.is_noise);
    w.exact = numbers(arena, n * n), w.gauss_newton = numbers(arena, n * n),
    pz_leaf_factor_lay_out(&w.factor, (int)n, arena);
    w.span = numbers(arena, n), w.D = numbers(arena, n), w.g = numbers(arena, n), w.correction = numbers(arena, n);
    w.lower = numbers(arena, n), w.upper = numbers(arena, n);
    w.q_trial = numbers(arena, nq), w.q_held = numbers(arena, nq);
    w.q_least = numbers(arena, nq), w.q_base = numbers(arena, nq), w.q_start = numbers(arena, nq);
    w.marks = (unsigned char *)pz_arena_take(arena, (size_t)solver->model->joint_count, sizeof *w.marks);
    for (size_t i = 0; w.span && i < n; ++i) {
        w.span[i] = pz_axis_slides(solver->model, solver->model->dof_axis[i]) ? solver->model->unit : 1.0;
    }
    if (made) {
        *made = w;
    }
    return made;
}

// ---- The point -----------------------------------------------------------------------------------------------------------

bool pz_within_holds(const poise_solver *solver, const pz_rows *rows)
{
    for (int i = 0; i < rows->count; ++i) {
        if (!pz_row_holds(&rows->row[i], solver->options.constraints.closure_tolerance)) {
            return false;
        }
    }
    return true;
}

// Are all goals met at the current point?
static bool reaches(const poise_solver *solver)
{
    if (pz_cost_is_met(solver)) {
        return true;
    }
    for (int i = 0; i < solver->goal_count; ++i) {
        if (!pz_goal_is_met(solver, &solver->goals[i])) {
            return false;
        }
    }
    return true;
}

// Rows of loops are the same in every point, in the same order: which of them does the program leave out as noise?
static void keep_noise(pz_within *w)
{
    int loop = 0;
    for (int i = 0; i < w->at.count; ++i) {
        if (w->is_equality[i]) {
            w->is_noise[loop++] = w->dual.noise && pz_dual_left_out(&w->dual, i);
        }
    }
}

// What such rows are open by at a point, as far as they may be: nothing to mend.
static double noise_at(const pz_within *w, const pz_rows *rows)
{
    double sum = 0.0;
    for (int i = 0, loop = 0; i < rows->count; ++i) {
        if (rows->row[i].is_equality && w->is_noise[loop++]) {
            sum += min2(fabs(rows->row[i].room), w->constraints.closure);
        }
    }
    return sum;
}

static double broken_at(const pz_within *w, const pz_rows *rows)
{
    return rows->broken - noise_at(w, rows);
}

// Are loops closed as they would be if they had no tolerance, noise aside?
static bool is_tight(const pz_within *w)
{
    bool tight = true;
    for (int i = 0, loop = 0; i < w->at.count; ++i) {
        const pz_row *row = &w->at.row[i];
        tight = tight && (!row->is_equality || w->is_noise[loop] || fabs(row->room) <= PZ_ROW_AIM);
        loop += row->is_equality;
    }
    return tight;
}

void pz_within_note(const poise_solver *solver, pz_within *w)
{
    size_t size = (size_t)solver->model->nq * sizeof(double);
    const double *q = solver->at->kin.q;
    if (w->at.worst < w->least_worst) {
        w->least_worst = w->at.worst;
        memcpy(w->q_least, q, size);
    }
    bool tight = is_tight(w), is_better = tight != w->held_is_tight ? tight : solver->at->cost < w->held_cost;
    if ((is_better || !w->has_held) && pz_within_holds(solver, &w->at)) {
        w->has_held = true;
        w->held_is_tight = tight;
        w->held_cost = solver->at->cost;
        w->held_reaches = reaches(solver);
        memcpy(w->q_held, q, size);
    }
}

// The trial's rows become the current ones.
static void accept(poise_solver *solver, pz_within *w)
{
    pz_rows was = w->at;
    w->at = w->trial;
    w->trial = was;
    pz_accept(solver);
    w->has_exact = w->has_gauss_newton = false;
    pz_within_note(solver, w);
}

static double evaluate(poise_solver *solver, pz_within *w, const double *step)
{
    pz_step_within(solver, solver->at->kin.q, step, w->q_trial);
    double cost = pz_try(solver, w->q_trial, POISE_LEVEL_HESSIAN);
    pz_rows_evaluate(&w->constraints, &solver->trial->kin, &w->trial);
    return cost;
}

static double square_in_spans(const pz_within *w, int row, int nv)
{
    double sum = 0.0;
    for (int i = 0; i < nv; ++i) {
        double across = w->J[(size_t)row * (size_t)nv + (size_t)i] * w->span[i];
        sum += across * across;
    }
    return sum;
}

// What is noise in each row of a loop, by the largest of its kind in that loop.
static void weigh_noise(pz_within *w, int nv)
{
    double share = NOISE * w->constraints.closure * w->constraints.closure;
    for (int i = 0; i < w->at.count; ++i) {
        const pz_row *row = &w->at.row[i];
        bool is_first = i == 0 || row[-1].constraint != row->constraint || row[-1].form != row->form;
        w->noise[i] = is_first ? 0.0 : w->noise[i - 1];
        w->noise[i] = row->is_equality ? max2(w->noise[i], share * square_in_spans(w, i, nv)) : 0.0;
    }
    for (int i = w->at.count - 2; i >= 0; --i) {
        const pz_row *row = &w->at.row[i];
        if (row[1].constraint == row->constraint && row[1].form == row->form) {
            w->noise[i] = w->noise[i + 1];
        }
    }
}

// Rows with their derivatives, metric and bounds of the step; what is locked does not move.
static void prepare(poise_solver *solver, pz_within *w)
{
    int nv = solver->model->nv;
    const double *q = solver->at->kin.q;
    pz_make_metric(solver, w->D);
    for (int i = 0; i < w->at.count; ++i) {
        pz_row_derivative(&w->constraints, &solver->at->kin, &w->at.row[i], w->J + (size_t)i * (size_t)nv);
        w->c[i] = pz_row_value(&w->at.row[i]);
        w->is_equality[i] = w->at.row[i].is_equality;
    }
    for (int i = 0; i < nv; ++i) {
        const pz_box *box = &solver->box[i];
        double limit = solver->options.step_limit, at = box->q < 0 ? 0.0 : q[box->q];
        w->g[i] = box->locked ? 0.0 : solver->at->gradient[i];
        w->lower[i] = max2(box->q < 0 ? -INFINITY : box->lower - at, -limit);
        w->upper[i] = min2(box->q < 0 ? INFINITY : box->upper - at, limit);
        for (int r = 0; box->locked && r < w->at.count; ++r) {
            w->J[(size_t)r * (size_t)nv + (size_t)i] = 0.0;
        }
    }
    if (w->constraints.closure > CLOSURE_EXACT) {
        weigh_noise(w, nv);
    }
}

static int find_row(const pz_rows *rows, int constraint, int item, int part)
{
    for (int i = 0; i < rows->count; ++i) {
        const pz_row *row = &rows->row[i];
        if (row->constraint == constraint && row->item == item && row->part == part) {
            return i;
        }
    }
    return -1;
}

// The hints as ids of the current rows; those that are not near any more drop out.
static void match_hints(pz_within *w)
{
    int count = 0;
    for (int i = 0; i < w->hint_count; ++i) {
        pz_hint hint = w->hints[i];
        int id = hint.constraint < 0 ? w->at.count + 2 * hint.item + hint.part
                                     : find_row(&w->at, hint.constraint, hint.item, hint.part);
        if (id >= 0) {
            w->hint_ids[count] = id;
            w->hints[count++] = hint;
        }
    }
    w->hint_count = count;
}

static void keep_hints(pz_within *w)
{
    const pz_dual *d = &w->dual;
    w->hint_count = 0;
    for (int i = 0; i < d->used_count; ++i) {
        int id = d->id[d->used[i]];
        double mu = d->mu[d->used[i]];
        if (id >= d->row_count) {
            int bound = id - d->row_count;
            w->hints[w->hint_count++] = (pz_hint){-1, bound / 2, bound % 2, mu};
        } else {
            const pz_row *row = &w->at.row[id];
            w->hints[w->hint_count++] = (pz_hint){row->constraint, row->item, row->part, mu};
        }
    }
}

// ---- The matrix ----------------------------------------------------------------------------------------------------------

// The mean of D, per span of a dof.
static double mean_of(const pz_within *w, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; ++i) {
        sum += w->D[i] * w->span[i] * w->span[i];
    }
    return sum / (double)(n > 0 ? n : 1);
}

// H_f - sum mu d2c at the current point, once.
static void make_exact(poise_solver *solver, pz_within *w)
{
    for (int i = 0; i < w->hint_count; ++i) {
        if (w->hint_ids[i] < w->at.count) {
            pz_row_bend_tree(&w->at.row[w->hint_ids[i]], -w->hints[i].mu, solver->at);
        }
    }
    pz_objective_hessian(solver->at, POISE_HESSIAN_EXACT, w->exact);
    for (int i = 0; i < w->hint_count; ++i) {
        if (w->hint_ids[i] < w->at.count) {
            pz_row_bend(&w->constraints, &solver->at->kin, &w->at.row[w->hint_ids[i]], -w->hints[i].mu, w->exact);
        }
    }
    w->has_exact = true;
}

// M and g with sigma J^T J and sigma c J of one row.
static void stiffen(pz_within *w, int nv, int id, double mean)
{
    if (id >= w->at.count) {
        int dof = (id - w->at.count) / 2;
        double room = (id - w->at.count) % 2 == 0 ? -w->lower[dof] : -w->upper[dof];
        double sigma = SIGMA_OTHERS * mean / (w->span[dof] * w->span[dof]);
        w->factor.L[(size_t)dof * (size_t)(nv + 1)] += sigma;
        w->correction[dof] += sigma * room;
        return;
    }
    const double *J = w->J + (size_t)id * (size_t)nv;
    double square = square_in_spans(w, id, nv);
    double sigma = square > 0 ? (w->is_equality[id] ? SIGMA_LOOPS : SIGMA_OTHERS) * mean / square : 0.0;
    for (int i = 0; i < nv; ++i) {
        double scaled = sigma * J[i];
        w->correction[i] += scaled * w->c[id];
        for (int j = 0; scaled != 0 && j <= i; ++j) {
            w->factor.L[(size_t)i * (size_t)nv + (size_t)j] += scaled * J[j];
        }
    }
}

static void damp(const poise_solver *solver, pz_within *w)
{
    int nv = solver->model->nv;
    for (int i = 0; i < nv; ++i) {
        double *row = w->factor.L + (size_t)i * (size_t)nv;
        row[i] += w->damping.lambda * w->D[i];
        for (int j = 0; solver->box[i].locked && j < nv; ++j) {
            row[j] = w->factor.L[(size_t)j * (size_t)nv + (size_t)i] = i == j ? 1.0 : 0.0;
        }
    }
}

// w->correction is the gradient to use with M. False: not positive definite.
static bool factor(poise_solver *solver, pz_within *w, bool exact)
{
    int nv = solver->model->nv;
    size_t size = (size_t)nv * (size_t)nv * sizeof(double);
    memcpy(w->correction, w->g, (size_t)nv * sizeof(double));
    if (!exact) {
        if (!w->has_gauss_newton) {
            pz_objective_hessian(solver->at, POISE_HESSIAN_GAUSS_NEWTON, w->gauss_newton);
            w->has_gauss_newton = true;
        }
        memcpy(w->factor.L, w->gauss_newton, size);
        damp(solver, w);
        return pz_leaf_factor_make(&w->factor);
    }
    if (!w->has_exact) {
        make_exact(solver, w);
    }
    memcpy(w->factor.L, w->exact, size);
    double mean = mean_of(w, nv);
    for (int i = 0; i < w->at.count; ++i) {
        if (w->is_equality[i]) {
            stiffen(w, nv, i, mean);
        }
    }
    for (int i = 0; i < w->hint_count; ++i) {
        int id = w->hint_ids[i];
        if (w->hints[i].mu > 0 && (id >= w->at.count || !w->is_equality[id])) {
            stiffen(w, nv, id, mean);
        }
    }
    damp(solver, w);
    return pz_leaf_factor_make(&w->factor);
}

// ---- The step ------------------------------------------------------------------------------------------------------------

static void pose_program(pz_within *w, const double *g, const pz_leaf_factor *L)
{
    pz_dual *d = &w->dual;
    d->row_count = w->at.count;
    d->J = w->J, d->c = w->c, d->is_equality = w->is_equality;
    d->lower = w->lower, d->upper = w->upper;
    d->g = g, d->L = L, d->D = w->D, d->span = w->span;
    d->soften = SOFTEN, d->deep = DEEP;
    d->slack = SLACK;
    d->agrees = max2(PZ_DUAL_AGREES, w->constraints.closure);
    d->noise = w->constraints.closure > CLOSURE_EXACT ? w->noise : NULL;
}

static double dot(int n, const double *a, const double *b)
{
    double sum = 0.0;
    for (int i = 0; i < n; ++i) {
        sum += a[i] * b[i];
    }
    return sum;
}

// What is broken after the step by the linear model.
static double predicted_broken(const pz_within *w, const double *x, int nv)
{
    double broken = 0.0;
    for (int i = 0; i < w->at.count; ++i) {
        double value = w->c[i] + dot(nv, w->J + (size_t)i * (size_t)nv, x);
        broken += w->is_equality[i] ? fabs(value) : max2(0.0, -value);
    }
    return broken;
}

// x . H x by the matrix that was used.
static double curvature(const pz_within *w, const double *x, int nv, bool exact)
{
    const double *H = exact ? w->exact : w->gauss_newton;
    double sum = 0.0;
    for (int i = 0; i < nv; ++i) {
        sum += x[i] * dot(nv, H + (size_t)i * (size_t)nv, x);
    }
    return sum;
}

static double largest_multiplier(const pz_dual *d)
{
    double most = 0.0;
    for (int i = 0; i < d->used_count; ++i) {
        most = d->id[d->used[i]] < d->row_count ? max2(most, fabs(d->mu[d->used[i]])) : most;
    }
    return most;
}

static void weigh(pz_within *w, int nv)
{
    double most = 1.5 * largest_multiplier(&w->dual);
    w->nu = w->dual.is_consistent ? max2(most, NU_FALL * w->nu) : max2(w->nu, min2(most, NU_MOST * mean_of(w, nv)));
}

// Does no direction lead down? The gradient of the Lagrangian against what each dof can do (stepping.c).
static bool is_stationary(const poise_solver *solver, pz_within *w)
{
    int nv = solver->model->nv;
    const pz_dual *d = &w->dual;
    double *r = w->correction;
    if (solver->at->cost < 0) {
        return false; // there is no scale to measure by
    }
    memcpy(r, w->g, (size_t)nv * sizeof *r);
    for (int i = 0; i < d->used_count; ++i) {
        int id = d->id[d->used[i]];
        double mu = d->mu[d->used[i]];
        if (id >= d->row_count) {
            r[(id - d->row_count) / 2] -= (id - d->row_count) % 2 == 0 ? mu : -mu;
        } else {
            for (int j = 0; j < nv; ++j) {
                r[j] -= mu * w->J[(size_t)id * (size_t)nv + (size_t)j];
            }
        }
    }
    double scale = solver->options.gradient_tolerance * sqrt(2.0 * solver->at->cost);
    for (int i = 0; i < nv; ++i) {
        if (r[i] * r[i] > scale * scale * w->D[i]) { // D: a dof that no goal sees has rounding, too
            return false;
        }
    }
    return true;
}

// One second-order correction: the same rows, from where the trial has them.
static double correct(poise_solver *solver, pz_within *w)
{
    int nv = solver->model->nv;
    for (int i = 0; i < w->at.count; ++i) {
        const pz_row *row = &w->at.row[i];
        int there = find_row(&w->trial, row->constraint, row->item, row->part);
        w->c_trial[i] = there < 0 ? 0.0 : pz_row_value(&w->trial.row[there]);
    }
    pz_dual_correct(&w->dual, w->c_trial, w->correction);
    for (int i = 0; i < nv; ++i) {
        solver->step[i] += w->correction[i];
    }
    return evaluate(solver, w, solver->step);
}

// A step from the current point, and whether it was kept.
static void make_step(poise_solver *solver, pz_within *w, bool wants_exact, pz_trial *t)
{
    int nv = solver->model->nv;
    match_hints(w);
    bool exact = wants_exact && factor(solver, w, true);
    bool is_whole = !solver->has_swings && !is_finite(solver->options.step_limit); // limits are part of the program
    *t = (pz_trial){.before = solver->at->cost,
                    .after = INFINITY,
                    .predicted = INFINITY,
                    .lambda = w->damping.lambda,
                    .wants_exact = wants_exact,
                    .exact = exact,
                    .is_newton = is_whole};
    if (!exact && !factor(solver, w, false)) {
        return;
    }
    pose_program(w, w->correction, &w->factor);
    pz_dual_solve(&w->dual, w->hint_ids, w->hint_count);
    keep_noise(w);
    weigh(w, nv);
    memcpy(solver->step, w->dual.x, (size_t)nv * sizeof *solver->step);
    double left = predicted_broken(w, solver->step, nv) - noise_at(w, &w->at);
    double cost = evaluate(solver, w, solver->step);
    double open = broken_at(w, &w->at);
    t->before = solver->at->cost + w->nu * open;
    t->predicted = w->nu * (open - left) - dot(nv, w->g, solver->step) - 0.5 * curvature(w, solver->step, nv, exact);
    t->after = cost + w->nu * broken_at(w, &w->trial);
    if (!pz_is_accepted(t) && broken_at(w, &w->trial) > left + PZ_ROW_SPARE) {
        cost = correct(solver, w);
        t->after = cost + w->nu * broken_at(w, &w->trial);
    }
}

// ---- A run ---------------------------------------------------------------------------------------------------------------

static pz_damping damping_after(pz_damping was, const pz_trial *t)
{
    pz_damping next = pz_damping_after(was, t);
    next.lambda = max2(next.lambda, pz_is_accepted(t) ? LAMBDA_LEAST : LAMBDA_REFUSE);
    return next;
}

static bool is_over(poise_solver *solver, pz_within *w, poise_outcome *outcome)
{
    if (pz_within_holds(solver, &w->at) && reaches(solver)) {
        solver->report.why = POISE_WHY_REACHED;
        *outcome = POISE_OUTCOME_REACHED;
        return true;
    }
    return false;
}

// Where the goals are met and only loops are a little open, closing them at once is the shorter way.
static void close_loops(poise_solver *solver, pz_within *w)
{
    if (w->at.worst > 0 && w->at.worst < max2(CLOSING, w->constraints.closure) && reaches(solver)) {
        pz_within_mend(solver, w, 4);
        pz_within_close_fully(solver, w);
    }
}

poise_outcome pz_within_run(poise_solver *solver, pz_within *w, bool may_drop)
{
    pz_auto a = pz_auto_start();
    poise_outcome outcome = POISE_OUTCOME_BUDGET;
    double watched = INFINITY;
    w->damping = pz_damping_begin(&solver->options);
    w->hint_count = 0;
    w->nu = 0.0;
    w->has_exact = w->has_gauss_newton = false; // what is there belongs to another point
    solver->report.why = POISE_WHY_BUDGET;
    for (int i = 0;; ++i) {
        if (a.is_fresh) {
            close_loops(solver, w);
            if (is_over(solver, w, &outcome)) {
                return outcome;
            }
            prepare(solver, w);
        }
        if (solver->iterations_left == 0) {
            return outcome;
        }
        make_step(solver, w, pz_wants_exact(&a), &a.trial);
        if (a.is_fresh && broken_at(w, &w->at) <= PZ_ROW_AIM && is_stationary(solver, w)) {
            solver->report.why = pz_why_closest(solver->goals, solver->goal_count);
            return POISE_OUTCOME_CLOSEST;
        }
        bool accepted = pz_is_accepted(&a.trial);
        keep_hints(w);
        if (accepted) {
            accept(solver, w);
        }
        pz_count_iteration(solver, w->damping.lambda, pz_largest(solver->step, solver->model->nv), accepted, a.trial.exact);
        w->damping = damping_after(w->damping, &a.trial);
        pz_auto_learn(&a, &a.trial);
        if (!accepted && pz_is_stuck(&a.trial, w->damping)) {
            bool is_closest = pz_is_flat(&a.trial) && broken_at(w, &w->at) <= PZ_ROW_AIM;
            solver->report.why = is_closest ? pz_why_closest(solver->goals, solver->goal_count) : POISE_WHY_STALLED;
            return is_closest ? POISE_OUTCOME_CLOSEST : POISE_OUTCOME_STALLED;
        }
        if (may_drop && i >= TRIED && i % WATCHED == 0) {
            double merit = solver->at->cost + w->nu * w->at.broken;
            if (merit > SLOWEST * watched) {
                solver->report.why = POISE_WHY_STALLED;
                return POISE_OUTCOME_STALLED;
            }
            watched = merit;
        }
    }
}

// ---- Mending -------------------------------------------------------------------------------------------------------------

// solver->step: the shortest one, in the metric D, that mends every row by its linear model up to `slack`.
static void find_mending_step(poise_solver *solver, pz_within *w, double slack)
{
    int nv = solver->model->nv;
    prepare(solver, w);
    memset(w->g, 0, (size_t)nv * sizeof *w->g);
    pose_program(w, w->g, NULL);
    w->dual.slack = slack;
    pz_dual_solve(&w->dual, NULL, 0);
    keep_noise(w);
    memcpy(solver->step, w->dual.x, (size_t)nv * sizeof *solver->step);
}

bool pz_within_mend(poise_solver *solver, pz_within *w, int steps)
{
    int nv = solver->model->nv;
    for (int i = 0; i < steps && !pz_within_holds(solver, &w->at); ++i) {
        find_mending_step(solver, w, SLACK);
        bool is_better = false;
        for (int half = 0; half < 4 && !is_better; ++half) {
            is_better = evaluate(solver, w, solver->step) < INFINITY && w->trial.broken < w->at.broken;
            for (int k = 0; k < nv && !is_better; ++k) {
                solver->step[k] *= 0.5;
            }
        }
        if (!is_better) {
            return false;
        }
        accept(solver, w);
    }
    return pz_within_holds(solver, &w->at);
}

// The largest error of a loop; `rounding` is what the sums behind the errors have of it.
static double closure_of(const pz_rows *rows, double *rounding)
{
    double closure = 0.0, size = 1.0;
    for (int i = 0; i < rows->count; ++i) {
        const pz_row *row = &rows->row[i];
        if (row->is_equality) {
            closure = max2(closure, fabs(row->room));
            size = max2(size, row->slope * v3_norm(row->contact.a));
        }
    }
    *rounding = ROUNDING * size;
    return closure;
}

bool pz_within_close_fully(poise_solver *solver, pz_within *w)
{
    double rounding, closure = closure_of(&w->at, &rounding);
    if (closure <= rounding) {
        return false;
    }
    bool was_reached = reaches(solver), is_closer = false;
    for (int i = 0; i < 3 && closure > rounding; ++i) {
        find_mending_step(solver, w, 0.0); // a step that a limit cuts short, by however little, closes nothing
        evaluate(solver, w, solver->step);
        double next = closure_of(&w->trial, &rounding);
        if (!(next < closure) || !pz_within_holds(solver, &w->trial)) {
            break;
        }
        accept(solver, w);
        closure = next;
        is_closer = true;
    }
    return is_closer && (!was_reached || reaches(solver));
}
