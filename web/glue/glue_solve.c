// Solvers.
#include "glue.h"

// Row: the members of poise_solver_options in their order, flags as 0 and 1, the seed as a whole number below 2^53.
poise_solver_options web_get_solver_options(web_row *row)
{
    poise_solver_options o = {.method = (poise_method)web_get_int(row)};
    o.start = (poise_start)web_get_int(row);
    o.use_limits = web_get_bool(row);
    o.max_iterations = web_get_int(row);
    o.restarts = web_get_int(row);
    o.seed = (uint64_t)web_get(row);
    o.arm.seed_table = web_get_bool(row);
    o.cost_tolerance = web_get(row);
    o.gradient_tolerance = web_get(row);
    o.position_tolerance = web_get(row);
    o.rotation_tolerance = web_get(row);
    o.prior = web_get(row);
    o.step_limit = web_get(row);
    o.coupled_goals = web_get_int(row);
    o.rows.max_rows = web_get_int(row);
    o.lbfgs.memory = web_get_int(row);
    o.damping = web_get(row);
    o.rows.clamp = web_get(row);
    o.trust_region.band = web_get_int(row);
    o.trust_region.cg_tolerance = web_get(row);
    o.locked = web_get_address(row);
    o.trace = web_get_address(row);
    o.trace_capacity = web_get_int(row);
    return o;
}

void web_put_solver_options(web_row *row, const poise_solver_options *o)
{
    web_put(row, o->method);
    web_put(row, o->start);
    web_put(row, o->use_limits);
    web_put(row, o->max_iterations);
    web_put(row, o->restarts);
    web_put(row, (double)o->seed);
    web_put(row, o->arm.seed_table);
    web_put(row, o->cost_tolerance);
    web_put(row, o->gradient_tolerance);
    web_put(row, o->position_tolerance);
    web_put(row, o->rotation_tolerance);
    web_put(row, o->prior);
    web_put(row, o->step_limit);
    web_put(row, o->coupled_goals);
    web_put(row, o->rows.max_rows);
    web_put(row, o->lbfgs.memory);
    web_put(row, o->damping);
    web_put(row, o->rows.clamp);
    web_put(row, o->trust_region.band);
    web_put(row, o->trust_region.cg_tolerance);
    web_put_address(row, o->locked);
    web_put_address(row, o->trace);
    web_put(row, o->trace_capacity);
}

void WEB_EXPORT(web_solver_defaults)(double *numbers)
{
    poise_solver_options options = poise_solver_options_default();
    web_put_solver_options(&(web_row){numbers}, &options);
}

poise_solver *WEB_EXPORT(web_solver_create)(const poise_model *model, double *numbers)
{
    poise_solver_options options = web_get_solver_options(&(web_row){numbers});
    poise_solver *solver = NULL;
    poise_solver_create(model, &options, NULL, &solver, web_error_clear());
    return solver;
}

// Row: outcome, iterations, evaluations, restarts, traced, active limits, moved joints, start cost, cost, gradient,
// distance, worst length, worst angle, address of the reason.
static void put_report(web_row *row, const poise_report *r)
{
    web_put(row, r->outcome);
    web_put(row, r->iterations);
    web_put(row, r->evaluations);
    web_put(row, r->restarts);
    web_put(row, r->traced);
    web_put(row, r->active_limits);
    web_put(row, r->moved_joints);
    web_put(row, r->start_cost);
    web_put(row, r->cost);
    web_put(row, r->gradient);
    web_put(row, r->distance);
    web_put(row, r->worst_length);
    web_put(row, r->worst_angle);
    web_put_address(row, r->reason);
}

poise_status WEB_EXPORT(web_solve)(poise_solver *solver, const poise_goal *goals, int count, double *q, double *numbers)
{
    poise_report report;
    poise_status status = poise_solve(solver, goals, count, q, &report, web_error_clear());
    if (status == POISE_OK) {
        put_report(&(web_row){numbers}, &report);
    }
    return status;
}

// How many answers, or -1 with an error.
int WEB_EXPORT(web_solve_all)(poise_solver *solver, const poise_goal *goal, const double *q_start, double *solutions,
                              int capacity, double *numbers)
{
    poise_report report;
    int count = 0;
    if (poise_solve_all(solver, goal, q_start, solutions, capacity, &count, &report, web_error_clear()) != POISE_OK) {
        return -1;
    }
    put_report(&(web_row){numbers}, &report);
    return count;
}

void WEB_EXPORT(web_active_limits)(const poise_solver *solver, int count, int8_t *active)
{
    for (int i = 0; i < count; ++i) {
        active[i] = (int8_t)poise_solver_active_limit(solver, i);
    }
}

// Room for so many records of a trace; release it with web_release.
poise_trace *WEB_EXPORT(web_trace_create)(int capacity)
{
    return web_take((size_t)capacity, sizeof(poise_trace));
}

// Six numbers for each record: cost, gradient, damping, step, accepted, exact.
void WEB_EXPORT(web_trace)(const poise_trace *trace, int count, double *numbers)
{
    web_row row = {numbers};
    for (int i = 0; i < count; ++i) {
        web_put(&row, trace[i].cost);
        web_put(&row, trace[i].gradient);
        web_put(&row, trace[i].damping);
        web_put(&row, trace[i].step);
        web_put(&row, trace[i].accepted);
        web_put(&row, trace[i].exact);
    }
}
