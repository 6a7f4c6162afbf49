// Solving within constraints: goals first, constraints after.
//
//   for each start   A  the goals alone: the searches for arms and for several tips, AUTO elsewhere
//                    B  does everything hold there? done
//                    C  sequential quadratic programming within the constraints from there
//
// Warm starts and loops go straight to C. Restarts redraw the joints that move a goal that is missed, or a body of a row
// that is broken; every second one keeps those that also move goals that are met, every sixth redraws everything.
//
// C takes the exact Hessian of the goals:
//
//   min f(q)   s.t.  c_i(q) >= 0,  h_j(q) = 0,  limits
//
// Each iteration solves a quadratic program (dual.c) for the step, with M the Hessian of the Lagrangian, damped, where
// that is positive definite on the null space of the active rows A:
//
//   M = H_f - sum mu_i d2c_i + lambda D + sum over A of sigma J^T J          g = df/dq + sum over A of sigma c J
//
// with the multipliers mu of the last step (the sigma terms change nothing about a step that keeps A active); elsewhere
// M = H_GaussNewton + lambda D. The step is judged by the merit f + nu (sum |h| + sum max(0, -c)).
#include "solve/constrained.h"

#include "base/error.h"
#include "solve/arm.h"
#include "solve/auto.h"
#include "solve/step_kernel.h"
#include "solve/tips.h"

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

#define OUT_OF_BOUNDS 40   // steps of a start that breaks constraints and may not be exchanged
#define LAST_STEPS    12   // at the end of a run
#define ACTIVE        1e-6 // room, in units of the model, below which a row counts as active
#define ALL_ANEW      6    // every so many restarts

// A row, or the limit of a dof, that was active in the last step.
typedef struct pz_hint {
    int constraint, item, part; // constraint < 0: a limit; `item` is its dof, `part` 1 for the upper
    double mu;
} pz_hint;

typedef struct pz_constrained {
    pz_constraints constraints;
    pz_constraint_rows at, trial;
    pz_dual dual;
    pz_damping damping;
    double nu;
    double *J, *c; // of the rows at the current point
    bool *is_equality;
    double *c_trial;              // of the same rows at the trial
    double *noise;                // what may be left of a row of a loop that depends on others
    bool *is_noise;               // by row of a loop: the last program left it out as such
    double *exact, *gauss_newton; // nv x nv: Hessians of the current point
    bool has_exact, has_gauss_newton;
    pz_leaf_factor factor; // of M
    double *D, *g;         // nv
    double *span;          // nv: 1, or the unit of length where a dof slides
    double *lower, *upper, *correction;
    double *q_trial;
    int hint_count;
    pz_hint *hints;
    int *hint_ids;
    // over all starts
    bool is_surveyed; // `at` has the rows of the answer already, and:
    double clearance; // the least distance of its pairs
    bool has_held;    // a point that holds everything was seen; the best of them:
    double held_cost;
    bool held_reaches, held_is_tight;
    int in_way, in_way_item; // the constraint, and its item, broken most where the goals alone were met; POISE_NONE
    bool misses_goals;       // the search for several tips found nothing, and is not tried again
    double *q_held;
    double least_worst; // the point that breaks least
    double *q_least;
    double base_merit; // the end that restarts begin from
    double *q_base;
    double *q_start;      // where the current run begins
    unsigned char *marks; // by joint: what it moves
} pz_constrained;

// ---- Memory --------------------------------------------------------------------------------------------------------------

static double *numbers(pz_arena *arena, size_t count)
{
    return (double *)pz_arena_take(arena, count, sizeof(double));
}

pz_constrained *pz_constrained_lay_out(const poise_solver *solver, pz_arena *arena)
{
    const poise_constraint_options *options = &solver->options.constraints;
    size_t n = (size_t)solver->model->nv, nq = (size_t)solver->model->nq, rows = (size_t)options->rows;
    if (rows == 0) {
        return NULL;
    }
    pz_constrained w = {0}, *made = (pz_constrained *)pz_arena_take(arena, 1, sizeof *made);
    pz_constraints_lay_out(&w.constraints, solver->model, options, arena);
    pz_dual_lay_out(&w.dual, (int)n, options->rows, arena);
    w.at.row = (pz_constraint_row *)pz_arena_take(arena, rows, sizeof *w.at.row);
    w.trial.row = (pz_constraint_row *)pz_arena_take(arena, rows, sizeof *w.trial.row);
    w.is_equality = (bool *)pz_arena_take(arena, rows, sizeof *w.is_equality);
    w.hints = (pz_hint *)pz_arena_take(arena, (size_t)w.dual.capacity, sizeof *w.hints);
    w.hint_ids = (int *)pz_arena_take(arena, (size_t)w.dual.capacity, sizeof *w.hint_ids);
    w.J = numbers(arena, rows * n);
    w.c = numbers(arena, rows);
    w.c_trial = numbers(arena, rows);
    w.noise = numbers(arena, rows);
    w.is_noise = (bool *)pz_arena_take(arena, rows, sizeof *w.is_noise);
    w.exact = numbers(arena, n * n);
    w.gauss_newton = numbers(arena, n * n);
    pz_leaf_factor_lay_out(&w.factor, (int)n, arena);
    w.span = numbers(arena, n);
    w.D = numbers(arena, n);
    w.g = numbers(arena, n);
    w.correction = numbers(arena, n);
    w.lower = numbers(arena, n);
    w.upper = numbers(arena, n);
    w.q_trial = numbers(arena, nq);
    w.q_held = numbers(arena, nq);
    w.q_least = numbers(arena, nq);
    w.q_base = numbers(arena, nq);
    w.q_start = numbers(arena, nq);
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

// Does everything hold at the current point?
static bool holds_everything(const poise_solver *solver, const pz_constraint_rows *rows)
{
    for (int i = 0; i < rows->count; ++i) {
        if (!pz_constraint_holds(&rows->row[i], solver->options.constraints.closure_tolerance)) {
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
    for (int i = 0; i < solver->problem->goal_count; ++i) {
        if (!pz_goal_is_met(solver, &solver->problem->goals[i])) {
            return false;
        }
    }
    return true;
}

// Rows of loops are the same in every point, in the same order: which of them does the program leave out as noise?
static void keep_noise(pz_constrained *w)
{
    int loop = 0;
    for (int i = 0; i < w->at.count; ++i) {
        if (w->is_equality[i]) {
            w->is_noise[loop++] = w->dual.noise && pz_dual_left_out(&w->dual, i);
        }
    }
}

// What such rows are open by at a point, as far as they may be: nothing to mend.
static double noise_at(const pz_constrained *w, const pz_constraint_rows *rows)
{
    double sum = 0.0;
    for (int i = 0, loop = 0; i < rows->count; ++i) {
        if (rows->row[i].is_equality && w->is_noise[loop++]) {
            sum += min2(fabs(rows->row[i].room), w->constraints.closure);
        }
    }
    return sum;
}

static double broken_at(const pz_constrained *w, const pz_constraint_rows *rows)
{
    return rows->broken - noise_at(w, rows);
}

// Are loops closed as they would be if they had no tolerance, noise aside?
static bool is_tight(const pz_constrained *w)
{
    bool tight = true;
    for (int i = 0, loop = 0; i < w->at.count; ++i) {
        const pz_constraint_row *row = &w->at.row[i];
        tight = tight && (!row->is_equality || w->is_noise[loop] || fabs(row->room) <= PZ_ROW_AIM);
        loop += row->is_equality;
    }
    return tight;
}

// Remember the current point where it is the best so far.
static void note_point(const poise_solver *solver, pz_constrained *w)
{
    size_t size = (size_t)solver->model->nq * sizeof(double);
    const double *q = solver->at->kin.q;
    if (w->at.worst < w->least_worst) {
        w->least_worst = w->at.worst;
        memcpy(w->q_least, q, size);
    }
    bool tight = is_tight(w), is_better = tight != w->held_is_tight ? tight : solver->at->cost < w->held_cost;
    if ((is_better || !w->has_held) && holds_everything(solver, &w->at)) {
        w->has_held = true;
        w->held_is_tight = tight;
        w->held_cost = solver->at->cost;
        w->held_reaches = reaches(solver);
        memcpy(w->q_held, q, size);
    }
}

// The trial's rows become the current ones.
static void within_accept(poise_solver *solver, pz_constrained *w)
{
    pz_constraint_rows was = w->at;
    w->at = w->trial;
    w->trial = was;
    pz_accept(solver);
    w->has_exact = w->has_gauss_newton = false;
    note_point(solver, w);
}

static double within_evaluate(poise_solver *solver, pz_constrained *w, const double *step)
{
    pz_step_within(solver, solver->at->kin.q, step, w->q_trial);
    double cost = pz_try(solver, w->q_trial, POISE_LEVEL_HESSIAN);
    pz_constraints_evaluate(&w->constraints, &solver->trial->kin, &w->trial);
    return cost;
}

static double square_in_spans(const pz_constrained *w, int row, int nv)
{
    double sum = 0.0;
    for (int i = 0; i < nv; ++i) {
        double across = w->J[(size_t)row * (size_t)nv + (size_t)i] * w->span[i];
        sum += across * across;
    }
    return sum;
}

// What is noise in each row of a loop, by the largest of its kind in that loop.
static void weigh_noise(pz_constrained *w, int nv)
{
    double share = NOISE * w->constraints.closure * w->constraints.closure;
    for (int i = 0; i < w->at.count; ++i) {
        const pz_constraint_row *row = &w->at.row[i];
        bool is_first = i == 0 || row[-1].constraint != row->constraint || row[-1].form != row->form;
        w->noise[i] = is_first ? 0.0 : w->noise[i - 1];
        w->noise[i] = row->is_equality ? max2(w->noise[i], share * square_in_spans(w, i, nv)) : 0.0;
    }
    for (int i = w->at.count - 2; i >= 0; --i) {
        const pz_constraint_row *row = &w->at.row[i];
        if (row[1].constraint == row->constraint && row[1].form == row->form) {
            w->noise[i] = w->noise[i + 1];
        }
    }
}

// Rows with their derivatives, metric and bounds of the step; what is locked does not move.
static void within_prepare(poise_solver *solver, pz_constrained *w)
{
    int nv = solver->model->nv;
    const double *q = solver->at->kin.q;
    pz_make_metric(solver, w->D);
    for (int i = 0; i < w->at.count; ++i) {
        pz_constraint_derivative(&w->constraints, &solver->at->kin, &w->at.row[i], w->J + (size_t)i * (size_t)nv);
        w->c[i] = pz_constraint_value(&w->at.row[i]);
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

static int find_row(const pz_constraint_rows *rows, int constraint, int item, int part)
{
    for (int i = 0; i < rows->count; ++i) {
        const pz_constraint_row *row = &rows->row[i];
        if (row->constraint == constraint && row->item == item && row->part == part) {
            return i;
        }
    }
    return -1;
}

// The hints as ids of the current rows; those that are not near any more drop out.
static void match_hints(pz_constrained *w)
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

static void keep_hints(pz_constrained *w)
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
            const pz_constraint_row *row = &w->at.row[id];
            w->hints[w->hint_count++] = (pz_hint){row->constraint, row->item, row->part, mu};
        }
    }
}

// ---- The matrix ----------------------------------------------------------------------------------------------------------

// The mean of D, per span of a dof.
static double mean_of(const pz_constrained *w, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; ++i) {
        sum += w->D[i] * w->span[i] * w->span[i];
    }
    return sum / (double)(n > 0 ? n : 1);
}

// H_f - sum mu d2c at the current point, once.
static void make_exact(poise_solver *solver, pz_constrained *w)
{
    for (int i = 0; i < w->hint_count; ++i) {
        if (w->hint_ids[i] < w->at.count) {
            pz_constraint_bend_tree(&w->at.row[w->hint_ids[i]], -w->hints[i].mu, solver->at);
        }
    }
    pz_objective_hessian(solver->at, POISE_HESSIAN_EXACT, w->exact);
    for (int i = 0; i < w->hint_count; ++i) {
        if (w->hint_ids[i] < w->at.count) {
            pz_constraint_bend(&w->constraints, &solver->at->kin, &w->at.row[w->hint_ids[i]], -w->hints[i].mu, w->exact);
        }
    }
    w->has_exact = true;
}

// M and g with sigma J^T J and sigma c J of one row.
static void stiffen(pz_constrained *w, int nv, int id, double mean)
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

static void damp(const poise_solver *solver, pz_constrained *w)
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
static bool factor(poise_solver *solver, pz_constrained *w, bool exact)
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

static void pose_program(pz_constrained *w, const double *g, const pz_leaf_factor *L)
{
    pz_dual *d = &w->dual;
    d->row_count = w->at.count;
    d->J = w->J;
    d->c = w->c;
    d->is_equality = w->is_equality;
    d->lower = w->lower;
    d->upper = w->upper;
    d->g = g;
    d->L = L;
    d->D = w->D;
    d->span = w->span;
    d->soften = SOFTEN;
    d->deep = DEEP;
    d->slack = SLACK;
    d->agrees = max2(PZ_DUAL_AGREES, w->constraints.closure);
    d->noise = w->constraints.closure > CLOSURE_EXACT ? w->noise : NULL;
}

// What is broken after the step by the linear model.
static double predicted_broken(const pz_constrained *w, const double *x, int nv)
{
    double broken = 0.0;
    for (int i = 0; i < w->at.count; ++i) {
        double value = w->c[i] + pz_dot(w->J + (size_t)i * (size_t)nv, x, nv);
        broken += w->is_equality[i] ? fabs(value) : max2(0.0, -value);
    }
    return broken;
}

// x . H x by the matrix that was used.
static double curvature(const pz_constrained *w, const double *x, int nv, bool exact)
{
    const double *H = exact ? w->exact : w->gauss_newton;
    double sum = 0.0;
    for (int i = 0; i < nv; ++i) {
        sum += x[i] * pz_dot(H + (size_t)i * (size_t)nv, x, nv);
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

static void weigh(pz_constrained *w, int nv)
{
    double most = 1.5 * largest_multiplier(&w->dual);
    w->nu = w->dual.is_consistent ? max2(most, NU_FALL * w->nu) : max2(w->nu, min2(most, NU_MOST * mean_of(w, nv)));
}

// Does no direction lead down? The gradient of the Lagrangian against what each dof can do (step.c).
static bool within_is_stationary(const poise_solver *solver, pz_constrained *w)
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
static double within_correct(poise_solver *solver, pz_constrained *w)
{
    int nv = solver->model->nv;
    for (int i = 0; i < w->at.count; ++i) {
        const pz_constraint_row *row = &w->at.row[i];
        int there = find_row(&w->trial, row->constraint, row->item, row->part);
        w->c_trial[i] = there < 0 ? 0.0 : pz_constraint_value(&w->trial.row[there]);
    }
    pz_dual_correct(&w->dual, w->c_trial, w->correction);
    for (int i = 0; i < nv; ++i) {
        solver->step[i] += w->correction[i];
    }
    return within_evaluate(solver, w, solver->step);
}

// A step from the current point, and whether it was kept.
static void within_make_step(poise_solver *solver, pz_constrained *w, bool wants_exact, pz_trial *t)
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
    double cost = within_evaluate(solver, w, solver->step);
    double open = broken_at(w, &w->at);
    t->before = solver->at->cost + w->nu * open;
    t->predicted = w->nu * (open - left) - pz_dot(w->g, solver->step, nv) - 0.5 * curvature(w, solver->step, nv, exact);
    t->after = cost + w->nu * broken_at(w, &w->trial);
    if (!pz_is_accepted(t) && broken_at(w, &w->trial) > left + PZ_ROW_SPARE) {
        cost = within_correct(solver, w);
        t->after = cost + w->nu * broken_at(w, &w->trial);
    }
}

// ---- Mending -------------------------------------------------------------------------------------------------------------

// solver->step: the shortest one, in the metric D, that mends every row by its linear model up to `slack`.
static void find_mending_step(poise_solver *solver, pz_constrained *w, double slack)
{
    int nv = solver->model->nv;
    within_prepare(solver, w);
    memset(w->g, 0, (size_t)nv * sizeof *w->g);
    pose_program(w, w->g, NULL);
    w->dual.slack = slack;
    pz_dual_solve(&w->dual, NULL, 0);
    keep_noise(w);
    memcpy(solver->step, w->dual.x, (size_t)nv * sizeof *solver->step);
}

// Steps of least length that mend what is broken at the current point, at most so many. True: everything holds there.
static bool mend(poise_solver *solver, pz_constrained *w, int steps)
{
    int nv = solver->model->nv;
    for (int i = 0; i < steps && !holds_everything(solver, &w->at); ++i) {
        find_mending_step(solver, w, SLACK);
        bool is_better = false;
        for (int half = 0; half < 4 && !is_better; ++half) {
            is_better = within_evaluate(solver, w, solver->step) < INFINITY && w->trial.broken < w->at.broken;
            for (int k = 0; k < nv && !is_better; ++k) {
                solver->step[k] *= 0.5;
            }
        }
        if (!is_better) {
            return false;
        }
        within_accept(solver, w);
    }
    return holds_everything(solver, &w->at);
}

// The largest error of a loop; `rounding` is what the sums behind the errors have of it.
static double closure_of(const pz_constraint_rows *rows, double *rounding)
{
    double closure = 0.0, size = 1.0;
    for (int i = 0; i < rows->count; ++i) {
        const pz_constraint_row *row = &rows->row[i];
        if (row->is_equality) {
            closure = max2(closure, fabs(row->room));
            size = max2(size, row->slope * v3_norm(row->contact.a));
        }
    }
    *rounding = ROUNDING * size;
    return closure;
}

// One more step that closes loops which are closed to the tolerance as far as rounding allows. True: the current point is
// such an answer, and still meets the goals if it did.
static bool close_loops_fully(poise_solver *solver, pz_constrained *w)
{
    double rounding, closure = closure_of(&w->at, &rounding);
    if (closure <= rounding) {
        return false;
    }
    bool was_reached = reaches(solver), is_closer = false;
    for (int i = 0; i < 3 && closure > rounding; ++i) {
        find_mending_step(solver, w, 0.0); // a step that a limit cuts short, by however little, closes nothing
        within_evaluate(solver, w, solver->step);
        double next = closure_of(&w->trial, &rounding);
        if (!(next < closure) || !holds_everything(solver, &w->trial)) {
            break;
        }
        within_accept(solver, w);
        closure = next;
        is_closer = true;
    }
    return is_closer && (!was_reached || reaches(solver));
}

static void copy(double *to, const double *from, int count)
{
    memcpy(to, from, (size_t)count * sizeof *to);
}

// ---- A run ---------------------------------------------------------------------------------------------------------------

static pz_damping damping_after(pz_damping was, const pz_trial *t)
{
    pz_damping next = pz_damping_after(was, t);
    next.lambda = max2(next.lambda, pz_is_accepted(t) ? LAMBDA_LEAST : LAMBDA_REFUSE);
    return next;
}

static bool is_over(const poise_solver *solver, const pz_constrained *w)
{
    return holds_everything(solver, &w->at) && reaches(solver);
}

// Where the goals are met and only loops are a little open, closing them at once is the shorter way.
static void close_loops(poise_solver *solver, pz_constrained *w)
{
    if (w->at.worst > 0 && w->at.worst < max2(CLOSING, w->constraints.closure) && reaches(solver)) {
        mend(solver, w, 4);
        close_loops_fully(solver, w);
    }
}

// Improve solver->at, where the rows are known. With `may_drop` a run that comes to nothing ends early.
static pz_end run_within(poise_solver *solver, pz_constrained *w, bool may_drop)
{
    pz_auto a = pz_auto_start();
    double watched = INFINITY;
    w->damping = pz_damping_begin(&solver->options);
    w->hint_count = 0;
    w->nu = 0.0;
    w->has_exact = w->has_gauss_newton = false; // what is there belongs to another point
    for (int i = 0;; ++i) {
        if (a.is_fresh) {
            close_loops(solver, w);
            if (is_over(solver, w)) {
                return pz_reached;
            }
            within_prepare(solver, w);
        }
        if (solver->iterations_left == 0) {
            return pz_used_up;
        }
        within_make_step(solver, w, pz_wants_exact(&a), &a.trial);
        if (a.is_fresh && broken_at(w, &w->at) <= PZ_ROW_AIM && within_is_stationary(solver, w)) {
            return pz_closest(solver->problem->goals, solver->problem->goal_count);
        }
        bool accepted = pz_is_accepted(&a.trial);
        keep_hints(w);
        if (accepted) {
            within_accept(solver, w);
        }
        pz_count_iteration(solver, w->damping.lambda, pz_largest(solver->step, solver->model->nv), accepted, a.trial.exact);
        w->damping = damping_after(w->damping, &a.trial);
        pz_auto_learn(&a, &a.trial);
        if (!accepted && pz_is_stuck(&a.trial, w->damping)) {
            bool is_closest = pz_is_flat(&a.trial) && broken_at(w, &w->at) <= PZ_ROW_AIM;
            return is_closest ? pz_closest(solver->problem->goals, solver->problem->goal_count) : pz_stalled;
        }
        if (may_drop && i >= TRIED && i % WATCHED == 0) {
            double merit = solver->at->cost + w->nu * w->at.broken;
            if (merit > SLOWEST * watched) {
                return pz_stalled;
            }
            watched = merit;
        }
    }
}

// ---- Restarts ------------------------------------------------------------------------------------------------------------

// Mark the joints that move a body; `mark` is ORed.
static void mark_path(const poise_model *model, int body, unsigned char mark, unsigned char *marks)
{
    for (int k = body; k >= 0; k = model->joints[k].parent) {
        int own = model->joints[k].mimic >= 0 ? model->joints[k].mimic : k;
        marks[own] |= mark;
    }
}

#define MISSED 1
#define MET    2

// What the joints of the base, where restarts begin from, do.
static void mark_joints(poise_solver *s, pz_constrained *w, unsigned char *marks)
{
    const poise_model *model = s->model;
    memset(marks, 0, (size_t)model->joint_count);
    for (int i = 0; i < s->problem->goal_count; ++i) {
        const poise_goal *goal = &s->problem->goals[i];
        int needs = pz_goal_row_of(goal->kind)->needs;
        unsigned char mark = pz_goal_is_met(s, goal) ? MET : MISSED;
        if (needs & PZ_NEEDS_BODY) {
            mark_path(model, goal->body, mark, marks);
        }
        if (goal->kind == POISE_GOAL_RELATIVE) {
            mark_path(model, goal->body2, mark, marks);
        }
    }
    for (int i = 0; i < w->at.count; ++i) {
        const pz_constraint_row *row = &w->at.row[i];
        if (!pz_constraint_holds(row, s->options.constraints.closure_tolerance)) {
            mark_path(model, row->body_a, MISSED, marks);
            mark_path(model, row->body_b, MISSED, marks);
        }
    }
}

// s->q_try for restart number `run`: the frame's, with what is kept taken from the base.
static void restart(poise_solver *s, pz_constrained *w, int run)
{
    const poise_model *model = s->model;
    pz_solve_start(s, run, false);
    if (run % ALL_ANEW == 0 || !is_finite(w->base_merit)) {
        return;
    }
    pz_try(s, w->q_base, POISE_LEVEL_COST);
    pz_accept(s);
    pz_constraints_evaluate(&w->constraints, &s->at->kin, &w->at);
    mark_joints(s, w, w->marks);
    for (int k = 0; k < model->joint_count; ++k) {
        bool is_missed = (w->marks[k] & MISSED) != 0, is_met = (w->marks[k] & MET) != 0;
        bool redraws = is_missed && !(run % 2 == 1 && is_met);
        if (!redraws) {
            copy(s->q_try + model->joints[k].q_begin, w->q_base + model->joints[k].q_begin,
                 model->joints[k].q_end - model->joints[k].q_begin);
        }
    }
}

// ---- Starts --------------------------------------------------------------------------------------------------------------

static bool has_loops(const pz_constraints *c)
{
    for (int i = 0; i < c->count; ++i) {
        poise_constraint_kind kind = c->constraint[i].kind;
        bool is_between = kind == POISE_CONSTRAINT_DISTANCE || kind == POISE_CONSTRAINT_PLANE;
        if (kind != POISE_CONSTRAINT_CLEARANCE && kind != POISE_CONSTRAINT_BALANCE &&
            !(is_between && c->constraint[i].lower < c->constraint[i].upper)) {
            return true;
        }
    }
    return false;
}

// Evaluate q as the current point, with its rows. False: the run is over there, for the reason of `end`.
static bool arrive(poise_solver *s, pz_constrained *w, const double *q, pz_end *end)
{
    double cost = pz_try(s, q, POISE_LEVEL_HESSIAN);
    bool goes_on = pz_solver_arrive(s, cost, end);
    end->outcome = POISE_OUTCOME_BUDGET;
    pz_constraints_evaluate(&w->constraints, &s->at->kin, &w->at);
    return goes_on;
}

// Remember the end of a run as the base of restarts, if it is the best.
static void keep_base(poise_solver *s, pz_constrained *w)
{
    double unit = w->constraints.unit, merit = s->at->cost / (unit * unit) + w->at.broken;
    if (merit < w->base_merit) {
        w->base_merit = merit;
        copy(w->q_base, s->at->kin.q, s->model->nq);
    }
}

// Meet goals at several tips by their search (tips.h) from q_try, with other draws in each run, into w->q_start.
// False: it does not serve them, or finds no way to.
static bool search_tips(poise_solver *s, pz_constrained *w, int run)
{
    if (w->misses_goals || !pz_tips_serves(s)) {
        return false;
    }
    if (run == 0) {
        s->answer->report.start_cost = pz_try(s, s->q_try, POISE_LEVEL_COST);
    }
    const pz_problem *given = s->problem;
    pz_problem from_here = *given;
    from_here.q_start = w->q_trial;
    from_here.seed += (uint64_t)run;
    copy(from_here.q_start, s->q_try, s->model->nq);
    poise_report before = s->answer->report;
    pz_set_problem(s, &from_here);
    bool met = pz_tips_solve(s) && s->answer->end.outcome == POISE_OUTCOME_REACHED;
    pz_set_problem(s, given);
    before.iterations = s->answer->report.iterations;
    before.evaluations = s->answer->report.evaluations;
    s->answer->report = before;
    s->answer->is_measured = false;
    w->misses_goals = !met;
    copy(w->q_start, s->q_best, s->model->nq);
    return met;
}

// Meet the goals alone, from q_try, into w->q_start; returns the iterations that are left for the constraints.
static int meet_goals(poise_solver *s, pz_constrained *w, int run, bool *met)
{
    int most = s->options.max_iterations;
    *met = search_tips(s, w, run);
    if (*met) {
        return most;
    }
    *met = pz_solver_run_from(s, s->q_try).outcome == POISE_OUTCOME_REACHED;
    copy(w->q_start, s->at->kin.q, s->model->nq);
    return *met ? most : s->iterations_left > most / 2 ? s->iterations_left : most / 2;
}

// The goals alone are met, and what is broken most there keeps them from it; the first such place counts.
static void note_in_way(const poise_solver *s, pz_constrained *w, const pz_constraint_rows *rows)
{
    double least = 0.0;
    for (int i = 0; i < rows->count && w->in_way == POISE_NONE; ++i) {
        const pz_constraint_row *row = &rows->row[i];
        double room = row->is_equality ? -fabs(row->room) : row->room;
        least = !pz_constraint_holds(row, s->options.constraints.closure_tolerance) ? min2(least, room) : least;
    }
    for (int i = 0; i < rows->count && w->in_way == POISE_NONE && least < 0; ++i) {
        const pz_constraint_row *row = &rows->row[i];
        if ((row->is_equality ? -fabs(row->room) : row->room) == least) {
            w->in_way = row->constraint;
            w->in_way_item = row->item;
        }
    }
}

// From q_try to where start number `run` ends.
static pz_end run_from(poise_solver *s, pz_constrained *w, int run, bool goals_first)
{
    bool is_last = run == s->options.restarts;
    int iterations = s->options.max_iterations;
    bool met = false;
    if (goals_first) {
        iterations = meet_goals(s, w, run, &met);
    } else {
        copy(w->q_start, s->q_try, s->model->nq);
    }
    pz_end end;
    if (!arrive(s, w, w->q_start, &end)) {
        note_point(s, w);
        return end;
    }
    s->iterations_left = iterations;
    note_point(s, w);
    if (met) {
        note_in_way(s, w, &w->at);
    }
    if (is_last && s->options.restarts == 0 && !holds_everything(s, &w->at)) {
        mend(s, w, OUT_OF_BOUNDS);
    }
    end = run_within(s, w, !is_last);
    keep_base(s, w);
    if (!holds_everything(s, &w->at)) {
        mend(s, w, LAST_STEPS);
    }
    return end;
}

// Does what is held cost less than the end of a run, by more than its last steps?
static bool is_below(const pz_constrained *w, double cost)
{
    return w->held_cost < (1.0 - 1e-6) * cost;
}

// A run may pass a pose that holds, for one that mends more, and end above it: it goes on from there. Returns how that ends;
// below what is held then nothing is proved.
static pz_end go_on_from_held(poise_solver *s, pz_constrained *w)
{
    int left = s->iterations_left;
    copy(w->q_start, w->q_held, s->model->nq);
    pz_end end;
    bool goes_on = arrive(s, w, w->q_start, &end);
    s->iterations_left = left;
    end = goes_on ? run_within(s, w, false) : end;
    return end.outcome == POISE_OUTCOME_CLOSEST && is_below(w, s->at->cost) ? pz_stalled : end;
}

// A start that holds is never exchanged for something worse. Where the goals came first it has not been checked yet.
static void fall_back_on_start(poise_solver *s, pz_constrained *w)
{
    double before = w->held_cost;
    if (w->has_held && w->held_reaches) {
        return;
    }
    pz_try(s, s->problem->q_start, POISE_LEVEL_HESSIAN);
    pz_accept(s);
    pz_constraints_evaluate(&w->constraints, &s->at->kin, &w->at);
    if (holds_everything(s, &w->at)) {
        note_point(s, w);
    }
    if (w->held_cost != before) {
        s->answer->end = w->held_reaches ? pz_reached : pz_stalled;
    }
}

static void run_all(poise_solver *s, pz_constrained *w)
{
    bool is_warm = s->options.start == POISE_START_WARM, loops = has_loops(&w->constraints);
    pz_end best = pz_used_up;
    for (int run = 0; run <= s->options.restarts; ++run) {
        double before = w->held_cost;
        if (run == 0) {
            pz_solve_start(s, 0, false);
            s->answer->report.start_cost = NAN;
        } else {
            restart(s, w, run);
            s->answer->report.restarts += 1;
        }
        pz_end end = run_from(s, w, run, !loops && !(run == 0 && is_warm));
        if (end.outcome == POISE_OUTCOME_CLOSEST && w->held_cost != before && is_below(w, s->at->cost)) {
            end = go_on_from_held(s, w);
        }
        if (run == 0 || w->held_cost != before) {
            best = end;
        }
        if (w->has_held && w->held_reaches) {
            best = pz_reached;
            break;
        }
    }
    if (best.outcome == POISE_OUTCOME_REACHED && !w->held_reaches) {
        best.outcome = POISE_OUTCOME_STALLED;
    }
    s->answer->end = best;
}

// ---- Arms ----------------------------------------------------------------------------------------------------------------

static bool arm_answer_holds(poise_solver *s, const double *q)
{
    pz_constrained *w = s->constrained;
    pz_kin_sweep(&s->trial->kin, q);
    bool holds = pz_constraints_hold(&w->constraints, &s->trial->kin, s->options.constraints.closure_tolerance);
    if (!holds && w->in_way == POISE_NONE) {
        pz_constraints_evaluate(&w->constraints, &s->trial->kin, &w->trial);
        note_in_way(s, w, &w->trial);
    }
    return holds;
}

// The rows of the answer, where `kin` is, and how near its shapes come to each other.
static void survey(pz_constrained *w, const poise_kinematics *kin)
{
    w->clearance = pz_constraints_survey(&w->constraints, kin, &w->at);
}

// The search for arms, with answers that collide refused. True: it found one that holds.
static bool within_search_arm(poise_solver *s, pz_constrained *w)
{
    if (s->options.start == POISE_START_WARM || has_loops(&w->constraints)) {
        return false;
    }
    const pz_problem *given = s->problem;
    pz_problem guarded = *given;
    guarded.accepts = arm_answer_holds;
    pz_set_problem(s, &guarded);
    bool solved = pz_arm_solve(s, s->arm);
    pz_set_problem(s, given);
    if (solved && s->answer->end.outcome == POISE_OUTCOME_REACHED) {
        pz_kin_sweep(&s->trial->kin, s->q_best);
        survey(w, &s->trial->kin);
        if (holds_everything(s, &w->at)) {
            w->has_held = w->held_reaches = w->is_surveyed = true;
            return true;
        }
    }
    if (solved) { // continue below with what it found
        s->answer->is_measured = false;
        s->answer->report.restarts = 0;
    }
    return false;
}

// ---- The call ------------------------------------------------------------------------------------------------------------

// What the report says about constraints at the answer.
static void within_describe(poise_solver *s, pz_constrained *w)
{
    poise_report *r = &s->answer->report;
    pz_end *end = &s->answer->end;
    double least = ACTIVE;
    if (!w->is_surveyed) {
        survey(w, &s->at->kin); // pz_solve_end has been there
    }
    r->holds = holds_everything(s, &w->at);
    for (int i = 0; i < w->at.count; ++i) {
        const pz_constraint_row *row = &w->at.row[i];
        double room = row->is_equality ? -fabs(row->room) : row->room;
        r->closure = row->is_equality ? max2(r->closure, pz_finite(pz_constraint_error(row))) : r->closure;
        r->active_constraints += !row->is_equality && room < ACTIVE;
        bool counts = !row->is_equality || !pz_constraint_holds(row, s->options.constraints.closure_tolerance);
        if (counts && room < least) {
            least = room;
            r->blocking = row->constraint;
            r->blocking_item = row->item;
        }
    }
    if (r->blocking == POISE_NONE && end->outcome != POISE_OUTCOME_REACHED) {
        r->blocking = w->in_way;
        r->blocking_item = w->in_way == POISE_NONE ? 0 : w->in_way_item;
    }
    r->clearance = min2(r->clearance, w->clearance);
    if (!r->holds) {
        end->outcome = POISE_OUTCOME_INFEASIBLE;
        end->why = POISE_WHY_INFEASIBLE;
    } else if (end->outcome == POISE_OUTCOME_CLOSEST && r->active_constraints > 0 && end->why != POISE_WHY_HELD) {
        end->why = end->why == POISE_WHY_PULLED ? POISE_WHY_CONSTRAINED_PULLED : POISE_WHY_CONSTRAINED;
    }
}

// The answer that was found, with its loops closed to rounding.
static void close_answer(poise_solver *s, pz_constrained *w)
{
    if (memcmp(s->at->kin.q, s->q_best, (size_t)s->model->nq * sizeof *s->q_best) != 0) { // the last run was not the best
        pz_try(s, s->q_best, POISE_LEVEL_HESSIAN);
        pz_accept(s);
        pz_constraints_evaluate(&w->constraints, &s->at->kin, &w->at);
    }
    if (close_loops_fully(s, w)) {
        copy(s->q_best, s->at->kin.q, s->model->nq);
    }
}

static void within_solve(poise_solver *s, pz_constrained *w)
{
    w->has_held = w->held_reaches = w->held_is_tight = w->is_surveyed = w->misses_goals = false;
    memset(w->is_noise, 0, (size_t)w->constraints.row_capacity * sizeof *w->is_noise);
    w->in_way = POISE_NONE;
    w->held_cost = w->least_worst = w->base_merit = INFINITY;
    if (within_search_arm(s, w)) {
        return;
    }
    run_all(s, w);
    fall_back_on_start(s, w);
    copy(s->q_best, w->has_held ? w->q_held : w->q_least, s->model->nq);
    if (w->has_held && has_loops(&w->constraints)) {
        close_answer(s, w);
    }
}

static poise_status within_refuse(const poise_solver *s, const poise_constraint *constraints, int count, poise_error *error)
{
    if (s->options.method != POISE_METHOD_AUTO) {
        return pz_error_set(error, POISE_ERROR_UNSUPPORTED, "only AUTO supports constraints, not %s", pz_method_name(s));
    }
    if (!s->constrained) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "the solver has no memory for constraints: set options.constraints (poise_constraints_size)");
    }
    return pz_constraints_check(&s->constrained->constraints, s->model, constraints, count, error);
}

poise_status poise_solve_within(poise_solver *solver, const poise_goal *goals, int count,
                                const poise_constraint *constraints, int constraint_count, double *q, poise_report *report,
                                poise_error *error)
{
    if (constraint_count == 0 || !solver) {
        return poise_solve(solver, goals, count, q, report, error);
    }
    poise_solver *s = solver;
    poise_status status = within_refuse(s, constraints, constraint_count, error);
    if (status != POISE_OK) {
        return status;
    }
    status = pz_solve_begin(s, goals, count, q, error);
    if (status != POISE_OK) {
        return status;
    }
    s->answer->may_keep_start = false;
    s->constrained->constraints.constraint = constraints;
    s->constrained->constraints.count = constraint_count;
    within_solve(s, s->constrained);
    pz_solve_end(s, q, NULL);
    within_describe(s, s->constrained);
    pz_report_hand_out(s, report);
    return POISE_OK;
}

double poise_solver_constraint_room(poise_solver *solver, int constraint, int *item)
{
    pz_constrained *w = solver ? solver->constrained : NULL;
    if (!w || constraint < 0 || constraint >= w->constraints.count) {
        return 0.0;
    }
    pz_kin_sweep(&solver->trial->kin, solver->q_best);
    return pz_finite(pz_constraint_room(&w->constraints, &solver->trial->kin, constraint, item));
}
