// AUTO: exact Newton where the Hessian is positive definite, Gauss-Newton elsewhere, one damping for both.
//
// Each iteration solves (H + lambda D) x = -g over the free dofs with the tree step, H exact if H + lambda D is positive
// definite, else Gauss-Newton with the same lambda, which always is. Metric, active set and the control of lambda are those
// of damped.c. While the cost falls fast the exact Hessian is not worth a try: it is indefinite there. Where it is
// indefinite and the cost hardly falls, or has no slope left, a direction of negative curvature is tried.
#include "solve/arm/arm.h"
#include "solve/methods.h"
#include "solve/tree/damped_step.h"

#define ESCAPES 3 // from saddles, that a solve may try

static double step_length(const poise_solver *solver)
{
    return pz_largest(solver->step, solver->model->nv);
}

void *pz_auto_lay_out(poise_solver *solver, pz_arena *arena)
{
    pz_damped blank = {0}, *scratch = pz_arena_take(arena, 1, sizeof *scratch);
    pz_damped_lay_out(scratch ? scratch : &blank, solver, arena);
    solver->arm = pz_arm_lay_out(solver, arena);
    return scratch;
}

// ---- Between what it asks for --------------------------------------------------------------------------------------------

typedef enum next {
    ENDED = 0,
    WAITS, // for what it asks
    LOOKS, // around, at the point at hand
    STEPS  // from there
} next;

static next ask_for(pz_auto *a, pz_auto_ask what)
{
    a->ask = what;
    return WAITS;
}

// A step from the point at hand.
static void begin_step(poise_solver *solver, pz_auto *a)
{
    pz_damped *d = (pz_damped *)solver->method;
    if (a->fresh) {
        pz_damped_refresh(d, solver, a->first);
        a->first = false;
    }
    a->wants_exact = !a->falls_fast;
    a->before = solver->at->cost;
    a->lambda = d->lambda;
    pz_damped_open(solver, d, a->wants_exact);
    a->ask = PZ_ASK_SOLVE;
}

// May the run end here? A point without a slope may be a saddle; it is not where the last step solved with a positive
// definite H.
static next look_around(poise_solver *solver, pz_auto *a, poise_outcome *outcome)
{
    if (!a->fresh || !pz_is_done(solver, outcome)) {
        return STEPS;
    }
    if (*outcome != POISE_OUTCOME_CLOSEST || a->is_minimum || a->escapes == 0) {
        return ENDED;
    }
    pz_damped_refresh((pz_damped *)solver->method, solver, true);
    a->escapes -= 1;
    a->is_end = true;
    return ask_for(a, PZ_ASK_CURVE);
}

// After a trial, and after the way out of a saddle where that was tried: does the run go on?
static next go_on(poise_solver *solver, pz_auto *a, poise_outcome *outcome)
{
    if (!a->accepted && ((pz_damped *)solver->method)->is_flat) {
        solver->report.reason = "no direction within the limits comes closer";
        *outcome = POISE_OUTCOME_CLOSEST;
        return ENDED;
    }
    if (!a->can_move) {
        solver->report.reason = "steps no longer change the cost";
        *outcome = POISE_OUTCOME_STALLED;
        return ENDED;
    }
    if (!a->more) {
        *outcome = a->accepted && pz_is_done(solver, outcome) ? *outcome : POISE_OUTCOME_BUDGET;
        return ENDED;
    }
    return LOOKS;
}

static next end_step(poise_solver *solver, pz_auto *a, bool accepted, double gain, poise_outcome *outcome)
{
    pz_damped *d = (pz_damped *)solver->method;
    a->accepted = a->fresh = accepted;
    a->falls_fast = accepted && solver->at->cost < PZ_FALLS_FAST * a->before;
    a->is_minimum = accepted && d->exact;
    a->can_move = pz_damped_adapt(d, accepted, gain);
    a->more = pz_count_iteration(solver, a->lambda, step_length(solver), accepted, d->exact);
    bool is_stuck = (!accepted && d->is_flat) || !a->can_move;
    bool is_slow = a->wants_exact && solver->at->cost > PZ_SLOW * a->before;
    if ((is_slow || is_stuck) && !d->exact && a->more && a->escapes > 0) {
        a->escapes -= 1;
        a->is_end = false;
        return ask_for(a, PZ_ASK_CURVE);
    }
    return go_on(solver, a, outcome);
}

// The way out of a saddle was found and gone, or not.
static next end_escape(poise_solver *solver, pz_auto *a, bool found, poise_outcome *outcome)
{
    bool more = found && pz_count_iteration(solver, ((pz_damped *)solver->method)->lambda, step_length(solver), true, true);
    if (a->is_end) {
        return more ? STEPS : ENDED;
    }
    if (found) {
        a->more = more;
        a->fresh = a->falls_fast = a->can_move = a->accepted = true;
    }
    return go_on(solver, a, outcome);
}

// What comes after what it asked for.
static next answered(poise_solver *solver, pz_auto *a, poise_outcome *outcome)
{
    pz_damped *d = (pz_damped *)solver->method;
    if (a->ask == PZ_ASK_SOLVE) {
        pz_step_state state = pz_damped_take(solver, d, a->solved);
        if (state == PZ_STEP_READY) {
            pz_damped_propose(solver, d);
            return ask_for(a, PZ_ASK_TRIAL);
        }
        return state == PZ_STEP_AGAIN ? WAITS : end_step(solver, a, false, -1.0, outcome);
    }
    if (a->ask == PZ_ASK_TRIAL) {
        double gain;
        bool accepted = pz_damped_judge(solver, d, a->cost, &gain);
        return end_step(solver, a, accepted, gain, outcome);
    }
    if (a->ask == PZ_ASK_ARRIVAL) {
        pz_accept(solver);
        return end_escape(solver, a, true, outcome);
    }
    if (a->ask == PZ_ASK_EXIT && pz_damped_is_away(solver, a->cost)) {
        return ask_for(a, PZ_ASK_ARRIVAL);
    }
    bool goes_on = a->ask == PZ_ASK_EXIT ? pz_damped_turn(solver, d) : a->solved && pz_damped_leave(solver, d);
    return goes_on ? ask_for(a, PZ_ASK_EXIT) : end_escape(solver, a, false, outcome);
}

// ---- Run -----------------------------------------------------------------------------------------------------------------

static bool ends(poise_solver *solver, pz_auto *a, next then, poise_outcome *outcome)
{
    if (then == LOOKS) {
        then = look_around(solver, a, outcome);
    }
    if (then == STEPS) {
        begin_step(solver, a);
    }
    return then == ENDED;
}

bool pz_auto_begin(poise_solver *solver, pz_auto *a, poise_outcome *outcome)
{
    *a = (pz_auto){.falls_fast = true, .fresh = true, .first = true, .escapes = ESCAPES};
    pz_damped_begin((pz_damped *)solver->method, solver);
    return ends(solver, a, LOOKS, outcome);
}

bool pz_auto_advance(poise_solver *solver, pz_auto *a, poise_outcome *outcome)
{
    return ends(solver, a, answered(solver, a, outcome), outcome);
}

poise_outcome pz_auto_run(poise_solver *solver)
{
    pz_damped *d = (pz_damped *)solver->method;
    pz_auto a;
    poise_outcome outcome;
    bool ended = pz_auto_begin(solver, &a, &outcome);
    while (!ended) {
        if (a.ask == PZ_ASK_SOLVE) {
            a.solved = pz_damped_solve(solver, d);
        } else if (a.ask == PZ_ASK_CURVE) {
            a.solved = pz_damped_curve(solver, d);
        } else {
            a.cost = pz_try(solver, d->q_trial, pz_auto_level(&a));
        }
        ended = pz_auto_advance(solver, &a, &outcome);
    }
    return outcome;
}
