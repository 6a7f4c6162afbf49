// Any model, goals, options and start: a status, with q as it was, or a finite answer within the limits whose cost is not
// above that of the start.
#include "fuzz.h"
#include "structured.h"

#include <math.h>
#include <poise/papers.h>
#include <string.h>

typedef struct task {
    poise_model *model;
    int count;
    poise_goal goals[FUZZ_GOALS];
    double numbers[FUZZ_NUMBERS]; // what goals point to
    double q[FUZZ_NUMBERS];
    bool locked[FUZZ_NUMBERS];
    poise_trace trace[8];
    poise_solver_options options;
} task;

static void take_options(fuzz_bytes *bytes, task *t)
{
    poise_solver_options *o = &t->options;
    *o = poise_solver_options_default();
    o->method = (poise_method)fuzz_index(bytes, POISE_METHOD_COUNT);
    o->engine = poise_papers_engine(o->method);
    int features = fuzz_byte(bytes);
    o->max_iterations = 1 + fuzz_index(bytes, 24);
    o->start = (poise_start)(features & 1);
    o->use_limits = !(features & 2);
    o->arm.seed_table = features & 4;
    o->restarts = features & 8 ? fuzz_index(bytes, 3) : 0;
    if (features & 16) {
        o->cost_tolerance = fuzz_number_or(bytes, o->cost_tolerance);
        o->gradient_tolerance = fuzz_number_or(bytes, o->gradient_tolerance);
        o->position_tolerance = fuzz_number_or(bytes, o->position_tolerance);
        o->rotation_tolerance = fuzz_number_or(bytes, o->rotation_tolerance);
        o->prior = fuzz_number_or(bytes, o->prior);
        o->step_limit = fuzz_number_or(bytes, o->step_limit);
    }
    if (features & 32) {
        o->coupled_goals = fuzz_index(bytes, 8) - 1;
        o->rows.max_rows = fuzz_index(bytes, 64) - 1;
        o->lbfgs.memory = fuzz_index(bytes, 12) - 1;
        o->trust_region.band = fuzz_index(bytes, 12) - 1;
        o->damping = fuzz_number_or(bytes, o->damping);
        o->rows.clamp = fuzz_number_or(bytes, o->rows.clamp);
        o->trust_region.cg_tolerance = fuzz_number_or(bytes, o->trust_region.cg_tolerance);
        o->trust_region.cg_iterations = fuzz_index(bytes, 12) - 1;
        o->trust_region.nearest = fuzz_index(bytes, 2) == 1;
    }
    for (int i = 0; i < FUZZ_NUMBERS && (features & 64); ++i) {
        t->locked[i] = fuzz_byte(bytes) & 1;
        o->locked = t->locked;
    }
    if (features & 128) {
        o->trace = t->trace;
        o->trace_capacity = fuzz_index(bytes, 9);
    }
}

// POSTURE and SMOOTHNESS go to the null space of PSEUDO_INVERSE, later levels to that of PRIORITY: these may rise.
static bool has_one_level(const task *t)
{
    for (int i = 0; i < t->count; ++i) {
        bool is_posture = t->goals[i].kind == POISE_GOAL_POSTURE || t->goals[i].kind == POISE_GOAL_SMOOTHNESS;
        if (t->options.method == POISE_METHOD_PSEUDO_INVERSE && is_posture) {
            return false;
        }
        if (t->options.method == POISE_METHOD_PRIORITY && t->goals[i].priority != t->goals[0].priority) {
            return false;
        }
    }
    return true;
}

// An arm's searches have sums of their own, which differ by rounding, and stop anywhere within the tolerances.
static bool has_not_risen(const task *t, const poise_report *r)
{
    bool is_arm = t->options.method == POISE_METHOD_AUTO && t->count == 1 && t->goals[0].kind == POISE_GOAL_POSE;
    if (is_arm && (r->outcome == POISE_OUTCOME_REACHED || r->cost <= r->start_cost + 1e-9 * (1.0 + r->start_cost))) {
        return true;
    }
    return r->cost <= r->start_cost;
}

static void check_report(const task *t, const poise_report *r)
{
    fuzz_require((unsigned)r->outcome < POISE_OUTCOME_COUNT && r->reason, "no outcome");
    fuzz_require(isfinite(r->start_cost) && isfinite(r->cost), "a cost is not finite");
    fuzz_require(isfinite(r->gradient) && isfinite(r->distance), "gradient or distance is not finite");
    fuzz_require(isfinite(r->worst_length) && isfinite(r->worst_angle), "an error is not finite");
    fuzz_require(r->traced >= 0 && r->traced <= t->options.trace_capacity, "trace");
    for (int i = 0; i < r->traced; ++i) {
        fuzz_require(isfinite(t->trace[i].cost) && isfinite(t->trace[i].step), "a trace is not finite");
    }
    fuzz_require(!has_one_level(t) || has_not_risen(t, r), "the cost has risen");
}

static void solve_twice(task *t, poise_solver *solver)
{
    double first[FUZZ_NUMBERS] = {0};
    poise_report reports[2];
    poise_error error = {.text = ""};
    for (int k = 0; k < 2; ++k) {
        double q[FUZZ_NUMBERS];
        memcpy(q, t->q, sizeof q);
        poise_status status = poise_solve(solver, t->goals, t->count, q, &reports[k], &error);
        if (status != POISE_OK) {
            fuzz_require(memcmp(q, t->q, sizeof q) == 0, "q was touched");
            fuzz_require(error.text[0] != '\0', "an error without words");
            return;
        }
        fuzz_check_answer(t->model, q, t->options.use_limits);
        check_report(t, &reports[k]);
        fuzz_require(k == 0 || memcmp(q, first, sizeof q) == 0, "a second solve gives other bits");
        memcpy(first, q, sizeof q);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_bytes bytes = {data, data + size};
    static task t;
    t = (task){0};
    take_options(&bytes, &t);
    t.model = fuzz_model(&bytes, NULL, 0);
    if (!t.model) {
        return 0;
    }
    fuzz_configuration(&bytes, t.model, t.q);
    fuzz_configuration(&bytes, t.model, t.numbers);
    t.count = fuzz_index(&bytes, FUZZ_GOALS + 1);
    for (int i = 0; i < t.count; ++i) {
        t.goals[i] = fuzz_goal(&bytes, t.numbers);
        t.goals[i].priority = fuzz_index(&bytes, 3);
    }
    poise_solver *solver = NULL;
    poise_error error = {.text = ""};
    poise_status status = poise_solver_create(t.model, &t.options, NULL, &solver, &error);
    fuzz_require((status == POISE_OK) == (error.text[0] == '\0'), "an error without words");
    if (status == POISE_OK) {
        solve_twice(&t, solver);
        poise_solver_destroy(solver);
    }
    poise_model_destroy(t.model);
    return 0;
}
