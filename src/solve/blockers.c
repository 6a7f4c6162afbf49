// What keeps a solve from its goals: they are solved for again, from the same start, without one kind of limit or constraint
// at a time. What is left out when they are met was in the way.
#include "solve/solver.h"

#include "base/arena.h"
#include "base/error.h"

#include <string.h>

enum { TRIES = 8 }; // restarts of a solve that is only asked whether it can be done

static unsigned kind_of(const poise_constraint *constraint)
{
    return constraint->kind == POISE_CONSTRAINT_CLEARANCE ? POISE_BLOCKED_BY_SHAPES
           : constraint->kind == POISE_CONSTRAINT_BALANCE ? POISE_BLOCKED_BY_BALANCE
                                                          : POISE_BLOCKED_BY_LOOPS;
}

static bool is_soft(const poise_goal *goal)
{
    return goal->kind == POISE_GOAL_POSTURE || goal->kind == POISE_GOAL_SMOOTHNESS;
}

bool poise_solver_goal_is_met(poise_solver *solver, int goal)
{
    if (!solver || goal < 0 || goal >= solver->problem->goal_count) {
        return false;
    }
    const poise_goal *g = &solver->problem->goals[goal];
    const poise_solver_options *o = &solver->options;
    poise_goal_error e = poise_solver_goal_error(solver, goal);
    bool has_rotation = g->kind == POISE_GOAL_POSE || g->kind == POISE_GOAL_RELATIVE;
    double tolerance = e.unit == POISE_UNIT_ANGLE ? o->rotation_tolerance : o->position_tolerance;
    bool turned = has_rotation && g->rotation_weight > 0 && e.rotation_error > o->rotation_tolerance;
    return is_soft(g) || (!(g->weight > 0 && e.error > tolerance) && !turned);
}

// What a trial works on.
typedef struct trial {
    const poise_solver *asked;
    const poise_goal *goals;
    const poise_constraint *constraints;
    int count, constraint_count;
    const double *start;
    const poise_allocator *allocator;
    poise_goal *some_goals;
    poise_constraint *some;
    double *q;
} trial;

// Are the goals met without these kinds?
static poise_status try_without(const trial *t, unsigned left_out, bool *met, poise_error *error)
{
    poise_solver_options options = t->asked->options;
    poise_solver *solver;
    poise_report report;
    int goals = 0, count = 0;
    for (int i = 0; i < t->constraint_count; ++i) {
        if (!(left_out & kind_of(&t->constraints[i]))) {
            t->some[count++] = t->constraints[i];
        }
    }
    for (int i = 0; i < t->count; ++i) {
        if (!(left_out & POISE_BLOCKED_BY_SOFT_GOALS && is_soft(&t->goals[i]))) {
            t->some_goals[goals++] = t->goals[i];
        }
    }
    options.use_limits = options.use_limits && !(left_out & POISE_BLOCKED_BY_LIMITS);
    options.restarts = options.restarts < TRIES ? options.restarts : TRIES;
    options.trace = NULL;
    options.trace_capacity = 0;
    poise_constraints_size(t->some, count, &options.constraints);
    memcpy(t->q, t->start, (size_t)t->asked->model->nq * sizeof *t->q);
    poise_status status = poise_solver_create(t->asked->model, &options, t->allocator, &solver, error);
    if (status != POISE_OK) {
        return status;
    }
    status = poise_solve_within(solver, t->some_goals, goals, t->some, count, t->q, &report, error);
    *met = status == POISE_OK && report.holds && goals > 0;
    for (int i = 0; i < goals && *met; ++i) {
        *met = poise_solver_goal_is_met(solver, i);
    }
    poise_solver_destroy(solver);
    return status;
}

// The kinds that are there to be left out.
static unsigned present(const trial *t)
{
    unsigned kinds = t->asked->options.use_limits ? POISE_BLOCKED_BY_LIMITS : 0;
    for (int i = 0; i < t->constraint_count; ++i) {
        kinds |= kind_of(&t->constraints[i]);
    }
    for (int i = 0; i < t->count; ++i) {
        kinds |= is_soft(&t->goals[i]) ? POISE_BLOCKED_BY_SOFT_GOALS : 0U;
    }
    return kinds;
}

static poise_status find(const trial *t, unsigned sought, unsigned *found, poise_error *error)
{
    const unsigned hard =
        POISE_BLOCKED_BY_SHAPES | POISE_BLOCKED_BY_BALANCE | POISE_BLOCKED_BY_LOOPS | POISE_BLOCKED_BY_LIMITS;
    unsigned there = present(t);
    poise_status status = POISE_OK;
    *found = 0;
    for (unsigned kind = 1; kind <= POISE_BLOCKED_BY_SOFT_GOALS && status == POISE_OK; kind <<= 1) {
        bool met = false;
        // without limits all pairs are searched, which takes as long as the solve: only where nothing else is in the way
        bool is_last_resort = kind == POISE_BLOCKED_BY_LIMITS && t->constraint_count > 0;
        if (there & sought & kind && !(is_last_resort && *found)) {
            status = try_without(t, kind, &met, error);
            *found |= met ? kind : 0U;
        }
    }
    if (status == POISE_OK && sought & POISE_BLOCKED_TOGETHER && *found == 0 && there & hard) {
        bool met = false;
        status = try_without(t, there & hard, &met, error);
        *found = met ? POISE_BLOCKED_TOGETHER : 0U;
    }
    return status;
}

poise_status poise_solve_blockers(const poise_solver *solver, const poise_goal *goals, int count,
                                  const poise_constraint *constraints, int constraint_count, const double *q_start,
                                  unsigned sought, const poise_allocator *allocator, unsigned *blockers, poise_error *error)
{
    if (!solver || !goals || count <= 0 || !q_start || !blockers || constraint_count < 0 ||
        (constraint_count > 0 && !constraints)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "solver, goals, q_start and blockers must not be NULL, nor constraints that are counted");
    }
    if (solver->options.method != POISE_METHOD_AUTO) {
        return pz_error_set(error, POISE_ERROR_UNSUPPORTED, "method %s does not know constraints: use auto",
                            pz_method_name(solver));
    }
    trial t = {.asked = solver,
               .goals = goals,
               .constraints = constraints,
               .count = count,
               .constraint_count = constraint_count,
               .start = q_start,
               .allocator = allocator};
    t.some_goals = pz_allocate(allocator, (size_t)count * sizeof *t.some_goals);
    t.some = pz_allocate(allocator, ((size_t)constraint_count + 1) * sizeof *t.some);
    t.q = pz_allocate(allocator, ((size_t)solver->model->nq + 1) * sizeof *t.q);
    unsigned found = 0;
    poise_status status = t.some_goals && t.some && t.q ? find(&t, sought, &found, error)
                                                        : pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    if (status == POISE_OK) {
        *blockers = found;
    }
    pz_release(allocator, t.q);
    pz_release(allocator, t.some);
    pz_release(allocator, t.some_goals);
    return status;
}
