// POSITION goals on a tree, several problems side by side: which problem is in which lane, and what each does next.
//
// A pass is one system solved and one point evaluated, in all lanes. Between the two every lane does what the loop of AUTO
// does (solve/auto.c), and decides as it decides (solve/auto.h). A lane that needs
// its system solved again (a pivot was not positive, a dof left its interval) or its old point evaluated again (the trial
// was rejected) takes another pass for it while the others go on. Whatever is rare leaves its lane: the problem is handed to
// poise_solve from its start.
#include "batch/batch.h"

#include "base/cpu.h"
#include "solve/auto.h"
#include "solve/tips.h"
#include "solve/tree_lanes.h"

#include <math.h>
#include <string.h>

#define EIGHT_LANES_DOFS 200 // beyond, the numbers of eight lanes (5 kB a dof) crowd the second-level cache: four are faster
#define MOST_GOALS       (1 << 20) // what a problem may have at most, so that sizes are within an int
#define VAIN_AFTER       32        // problems begun in lanes may tell that the rest had better not

#define QUEUE PZ_PIECE // problems that are looked through for those that fit the lanes' layout

typedef enum stage {
    FIRST = 0, // waits for its first evaluation
    STEP,      // at its point, looking for a step
    AGAIN,     // waits for its point to be evaluated again
    LAST       // the same, and then it is done
} stage;

typedef struct pz_tree_lane {
    poise_problem *problem; // NULL: idle
    pz_call call;           // of the problem, in the solver
    stage stage;
    double cost; // at its point
    pz_damping damping;
    pz_auto state;       // of AUTO
    int iterations_left; // of the budget
    int passes;          // of the active set in this step
    bool begins;         // the step begins with this pass
    bool exact, newton;  // as in solve/auto.c
} pz_tree_lane;

// ---- Plan ----------------------------------------------------------------------------------------------------------------

static int tree_lane_count(const poise_model *model, const poise_batch_options *options)
{
    const poise_solver_options *o = &options->solver;
    bool serves = o->method == POISE_METHOD_AUTO && !o->engine && o->max_iterations > 0 && o->prior == 0 &&
                  o->step_limit == INFINITY && o->gradient_tolerance >= PZ_BY_COST && !model->has_mimic &&
                  model->curve_count == 0 && model->nv > 0 && options->max_goals > 0;
    int best = model->nv <= EIGHT_LANES_DOFS ? 8 : 4, wanted = !serves ? 1 : options->lanes == 0 ? best : options->lanes;
    return pz_cpu_lanes(wanted);
}

static void plan_groups(pz_tree_lanes *t, const pz_group *groups)
{
    const poise_model *model = t->model;
    for (int g = 0; g < t->group_count; ++g) {
        const pz_group *from = &groups[g];
        int joint = model->axes[from->axis].joint, slides = 0;
        while (slides < from->count && pz_axis_slides(model, from->axis + slides)) {
            slides += 1;
        }
        t->groups[g] = (pz_lane_group){.axis = from->axis,
                                       .count = from->count,
                                       .parent = from->parent,
                                       .joint = joint,
                                       .slides = slides,
                                       .block = from->block_count > 0 ? from->block : -1,
                                       .block_count = from->block_count,
                                       .is_leaf = true};
    }
    for (int g = t->group_count - 1; g >= 0; --g) {
        int parent = t->groups[g].parent;
        if (parent >= 0) {
            t->groups[g].is_last_child = t->groups[parent].is_leaf;
            t->groups[parent].is_leaf = false;
        }
    }
}

static bool is_unlimited(const poise_model *model, const pz_step *step)
{
    bool free = step->kind == PZ_EXPMAP || step->kind == PZ_SWING;
    for (int i = step->q; i < step->q + pz_step_nq(step->kind); ++i) {
        free = free && !is_finite(model->lower[i]) && !is_finite(model->upper[i]);
    }
    return free && !(step->kind == PZ_SWING && is_finite(model->given[model->axes[step->axis].joint].swing[0]));
}

static void plan(pz_tree_lanes *t)
{
    const poise_model *model = t->model;
    int count;
    plan_groups(t, pz_tree_groups(((const pz_damped *)t->solver->method)->tree, &count));
    for (int s = 0; s < model->step_count; ++s) {
        t->is_unlimited[s] = is_unlimited(model, &model->steps[s]);
    }
    for (int k = 0; k < model->joint_count; ++k) {
        t->joints[k] = (pz_lane_joint){.is_leaf = true};
    }
    for (int k = model->joint_count - 1; k >= 0; --k) {
        int parent = model->joints[k].parent;
        if (parent != POISE_WORLD) {
            t->joints[k].is_last_child = t->joints[parent].is_leaf;
            t->joints[parent].is_leaf = false;
        }
    }
}

// ---- Memory --------------------------------------------------------------------------------------------------------------

// Registers for `count` numbers, cleared.
static double *allocate_registers(const pz_tree_lanes *t, int count, pz_arena *arena)
{
    double *taken = pz_arena_take(arena, (size_t)count * (size_t)t->lanes, sizeof *taken);
    if (taken) {
        memset(taken, 0, (size_t)count * (size_t)t->lanes * sizeof *taken);
    }
    return taken;
}

static void allocate_goals(pz_tree_lanes *t, pz_arena *arena)
{
    int n = t->max_goals, joints = t->model->joint_count, places = 2 * n; // a body with 4 markers or more rounds up to 4
    t->goals = pz_arena_take(arena, (size_t)n, sizeof *t->goals);
    t->by_body = pz_arena_take(arena, (size_t)n, sizeof *t->by_body);
    t->goal_l = allocate_registers(t, 3 * n, arena);
    t->goal_t = allocate_registers(t, 3 * n, arena);
    t->goal_w = allocate_registers(t, n, arena);
    t->goal_cost = allocate_registers(t, n, arena);
    t->goal_is_off = (int64_t *)allocate_registers(t, n, arena);
    t->place_l = allocate_registers(t, 3 * places, arena);
    t->place_t = allocate_registers(t, 3 * places, arena);
    t->place_w = allocate_registers(t, places, arena);
    t->moment = allocate_registers(t, 22 * joints, arena);
    t->body_cost = allocate_registers(t, joints, arena);
}

static void allocate_point(pz_tree_lanes *t, pz_arena *arena)
{
    const poise_model *model = t->model;
    t->q_at = allocate_registers(t, model->nq, arena);
    t->q_try = allocate_registers(t, model->nq, arena);
    t->origin = allocate_registers(t, 3, arena);
    t->R = allocate_registers(t, 9 * model->joint_count, arena);
    t->p = allocate_registers(t, 3 * model->joint_count, arena);
    t->S = allocate_registers(t, 6 * model->axis_count, arena);
    t->value = allocate_registers(t, model->value_count, arena);
    t->sine = allocate_registers(t, model->turn_count, arena);
    t->cosine = allocate_registers(t, model->turn_count, arena);
    t->blocks = allocate_registers(t, 17 * model->block_count, arena);
    t->sums = allocate_registers(t, 22 * model->joint_count, arena);
    t->gradient = allocate_registers(t, model->nv, arena);
    t->diagonal = allocate_registers(t, model->nv, arena);
    t->D = allocate_registers(t, model->nv, arena);
    t->cost = allocate_registers(t, 1, arena);
}

static void allocate_step(pz_tree_lanes *t, pz_arena *arena)
{
    int nv = t->model->nv, groups = t->group_count;
    t->hold = (int64_t *)allocate_registers(t, nv, arena);
    t->hold_value = allocate_registers(t, nv, arena);
    t->x = allocate_registers(t, nv, arena);
    t->Pi = allocate_registers(t, 21 * groups, arena);
    t->pi = allocate_registers(t, 6 * groups, arena);
    t->B = allocate_registers(t, 18 * groups, arena);
    t->L = allocate_registers(t, 6 * groups, arena);
    t->gamma = allocate_registers(t, 3 * groups, arena);
    t->V = allocate_registers(t, 6 * groups, arena);
    t->product = allocate_registers(t, nv, arena);
    t->axis_V = allocate_registers(t, 6 * nv, arena);
    t->axis_U = allocate_registers(t, 6 * nv, arena);
    t->lambda = allocate_registers(t, 1, arena);
    t->largest = allocate_registers(t, 1, arena);
    t->worst = allocate_registers(t, 1, arena);
    t->predicted = allocate_registers(t, 1, arena);
}

static void tree_set_idle(pz_tree_lanes *t, int lane);

static void *tree_lay_out(poise_solver *solver, const poise_batch_options *options, const poise_model *model, int lanes,
                          pz_arena *arena)
{
    pz_tree_lanes blank, *made = pz_arena_take(arena, 1, sizeof *made), *t = made ? made : &blank;
    *t = (pz_tree_lanes){.model = model, .solver = solver, .lanes = lanes};
    t->max_goals = options->max_goals < MOST_GOALS ? options->max_goals : MOST_GOALS;
    t->kernels = lanes == 8 ? &pz_tree_kernels_8 : lanes == 4 ? &pz_tree_kernels_4 : &pz_tree_kernels_2;
    t->group_count = model->axis_count; // no more than that
    t->groups = pz_arena_take(arena, (size_t)t->group_count, sizeof *t->groups);
    t->is_unlimited = pz_arena_take(arena, (size_t)model->step_count, sizeof *t->is_unlimited);
    t->joints = pz_arena_take(arena, (size_t)model->joint_count, sizeof *t->joints);
    t->lane = pz_arena_take(arena, (size_t)lanes, sizeof *t->lane);
    t->is_taken = pz_arena_take(arena, QUEUE / 64, sizeof *t->is_taken);
    double *q_start = pz_arena_take(arena, (size_t)lanes * (size_t)model->nq, sizeof *q_start);
    allocate_goals(t, arena);
    allocate_point(t, arena);
    allocate_step(t, arena);
    if (made && !arena->full) {
        pz_tree_groups(((const pz_damped *)solver->method)->tree, &t->group_count);
        plan(t);
        for (int i = 0; i < lanes; ++i) {
            t->lane[i] = (pz_tree_lane){.call.problem.q_start = q_start + (size_t)i * (size_t)model->nq};
            tree_set_idle(t, i);
        }
    }
    return made;
}

// ---- Layout --------------------------------------------------------------------------------------------------------------

// A marker as lanes know them, or one without weight, on a body that there is.
static bool is_plain_goal(const pz_tree_lanes *t, const poise_goal *goal)
{
    return goal->kind == POISE_GOAL_POSITION && goal->loss == POISE_LOSS_NONE && !pz_has_band(goal->tolerance) &&
           goal->body >= 0 && goal->body < t->model->joint_count;
}

// By the first goal. The others are looked at when a lane is free, so that they come into the cache once.
static bool tree_serves(void *scratch, const poise_problem *problem)
{
    const pz_tree_lanes *t = scratch;
    return problem->goals && problem->q && problem->goal_count >= 1 && problem->goal_count <= t->max_goals &&
           is_plain_goal(t, &problem->goals[0]);
}

static bool all_are_plain(const pz_tree_lanes *t, const poise_problem *problem)
{
    bool plain = true;
    for (int i = 0; i < problem->goal_count && plain; ++i) {
        plain = is_plain_goal(t, &problem->goals[i]);
    }
    return plain;
}

static bool fits(const pz_tree_lanes *t, const poise_problem *problem)
{
    bool same = problem->goal_count == t->goal_count;
    for (int i = 0; i < t->goal_count && same; ++i) {
        same = problem->goals[i].body == t->goals[i].body && is_plain_goal(t, &problem->goals[i]);
    }
    return same;
}

// Take the layout of a problem: goals by body, and places for bodies that may have enough of them to be condensed.
static void set_layout(pz_tree_lanes *t, const poise_problem *problem)
{
    int joints = t->model->joint_count, goals = 0, places = 0;
    t->goal_count = problem->goal_count;
    for (int k = 0; k < joints; ++k) {
        t->joints[k].goal_begin = t->joints[k].goal_end = 0;
    }
    for (int i = 0; i < t->goal_count; ++i) {
        t->goals[i] = (pz_lane_goal){.body = problem->goals[i].body};
        t->joints[t->goals[i].body].goal_end += 1; // their count
    }
    for (int k = 0; k < joints; ++k) {
        pz_lane_joint *joint = &t->joints[k];
        int count = joint->goal_end, room = (count + PZ_MARKER_LANES - 1) / PZ_MARKER_LANES * PZ_MARKER_LANES;
        joint->goal_begin = joint->goal_end = goals;
        joint->condensed = 0;
        joint->place_begin = places;
        places += count >= PZ_CONDENSED_MARKERS ? room : 0;
        joint->place_end = places;
        goals += count;
    }
    for (int i = 0; i < t->goal_count; ++i) {
        t->by_body[t->joints[t->goals[i].body].goal_end++] = i;
    }
}

// ---- Lanes ---------------------------------------------------------------------------------------------------------------

static void store3(double *registers, size_t lanes, vec3 v)
{
    registers[0] = v.x;
    registers[lanes] = v.y;
    registers[2 * lanes] = v.z;
}

// No problem: a pose that costs no trouble.
static void tree_set_idle(pz_tree_lanes *t, int lane)
{
    double *q = t->solver->q_try;
    poise_model_neutral(t->model, q);
    for (int i = 0; i < t->model->nq; ++i) {
        t->q_at[i * t->lanes + lane] = t->q_try[i * t->lanes + lane] = q[i];
    }
    t->lane[lane].problem = NULL;
    for (int i = 0; i < t->goal_count; ++i) {
        t->goals[i].single &= ~(1u << lane);
    }
    for (int k = 0; k < t->model->joint_count; ++k) {
        t->joints[k].condensed &= ~(1u << lane);
    }
}

// Goals one by one, all of them plain. Those that are condensed count for nothing here.
static void load_goals(pz_tree_lanes *t, int lane, const poise_goal *goals, const pz_marker_set *set)
{
    size_t lanes = (size_t)t->lanes;
    double *l = t->goal_l + lane, *target = t->goal_t + lane, *w = t->goal_w + lane;
    int64_t *is_off = t->goal_is_off + lane;
    for (int i = 0; i < t->goal_count; ++i, l += 3 * lanes, target += 3 * lanes, w += lanes, is_off += lanes) {
        const poise_goal *goal = &goals[i];
        const pz_joint *joint = &t->model->joints[goal->body];
        bool has_weight = goal->weight > 0, single = !(set->any && has_weight && set->body[goal->body].count > 0);
        store3(l, lanes, joint->B_is_identity ? goal->local.position : m3_apply(&joint->B, goal->local.position));
        store3(target, lanes, goal->target.position);
        *w = single ? goal->weight : 0.0;
        *is_off = has_weight ? 0 : -1;
        t->goals[i].single = (t->goals[i].single & ~(1u << lane)) | (unsigned)single << lane;
    }
}

// The condensed markers of a body, which has places; empty ones are cleared.
static void load_condensed(pz_tree_lanes *t, int lane, int k, const pz_marker_set *set)
{
    static const pz_markers none = {0};
    pz_lane_joint *joint = &t->joints[k];
    bool condensed = set->any && set->body[k].count > 0;
    const pz_markers *m = condensed ? &set->body[k] : &none;
    size_t lanes = (size_t)t->lanes, first = (size_t)joint->place_begin * lanes;
    double *l = t->place_l + 3 * first + lane, *target = t->place_t + 3 * first + lane, *w = t->place_w + first + lane;
    int count = joint->place_end - joint->place_begin;
    for (int i = 0; i < count; ++i, l += 3 * lanes, target += 3 * lanes, w += lanes) {
        int from = m->first + i;
        bool filled = i < m->slots;
        vec3 zero = {0, 0, 0};
        store3(l, lanes, filled ? v3(set->l[0][from], set->l[1][from], set->l[2][from]) : zero);
        store3(target, lanes, filled ? v3(set->t[0][from], set->t[1][from], set->t[2][from]) : zero);
        *w = filled ? set->w[from] : 0.0;
    }
    double number[22];
    memcpy(number, &m->moments, sizeof number);
    for (size_t i = 0; i < 22; ++i) {
        t->moment[((size_t)k * 22 + i) * lanes + (size_t)lane] = number[i];
    }
    joint->condensed = (joint->condensed & ~(1u << lane)) | (unsigned)condensed << lane;
}

// Is a swing near the edge of its ellipse, at the start of the solver?
static bool starts_at_edge(const poise_solver *s)
{
    bool any = false;
    for (int k = 0; s->has_swings && k < s->model->joint_count; ++k) {
        const poise_joint *given = &s->model->given[k];
        const double *q = s->q_try + s->model->joints[k].q_begin;
        bool inside = given->type != POISE_JOINT_SWING_TWIST ||
                      (pz_swing_excess(given, q) < PZ_NEAR_EDGE && q[0] * q[0] + q[1] * q[1] < PZ_LONG_SQUARE);
        any = any || !inside;
    }
    return any;
}

static void tree_solve_alone(pz_tree_lanes *t, poise_problem *p)
{
    p->status = poise_solve(t->solver, p->goals, p->goal_count, p->q, &p->report, NULL);
}

// Have most problems had to leave their lanes, so that their passes were in vain? Poses at the edges of swings do, all over.
static bool lanes_are_vain(const pz_tree_lanes *t)
{
    return t->begun >= VAIN_AFTER && 2 * t->left > t->begun;
}

// Begin a problem in a lane. False when there is nothing left to do: it is not sound, or was solved alone.
static bool load(pz_tree_lanes *t, int lane, poise_problem *problem)
{
    poise_solver *s = t->solver;
    pz_tree_lane *at = &t->lane[lane];
    if (lanes_are_vain(t)) {
        tree_solve_alone(t, problem);
        return false;
    }
    problem->status = pz_solve_begin_call(s, &at->call, problem->goals, problem->goal_count, problem->q, NULL);
    if (problem->status != POISE_OK) {
        return false;
    }
    pz_solve_start(s, 0, false);
    if (starts_at_edge(s) || pz_tips_serves(s)) {
        tree_solve_alone(t, problem);
        return false;
    }
    const pz_marker_set *set = s->at->markers;
    load_goals(t, lane, problem->goals, set);
    for (int k = 0; k < t->model->joint_count; ++k) {
        if (t->joints[k].place_end > t->joints[k].place_begin) {
            load_condensed(t, lane, k, set);
        }
    }
    for (int i = 0; i < t->model->nq; ++i) {
        t->q_at[i * t->lanes + lane] = t->q_try[i * t->lanes + lane] = s->q_try[i];
    }
    t->begun += 1;
    at->problem = problem;
    at->call.answer.end = pz_used_up;
    at->stage = FIRST;
    at->iterations_left = s->options.max_iterations;
    at->state = pz_auto_start();
    at->damping = pz_damping_begin(&s->options);
    return true;
}

// The next problem of this layout goes into a lane, or the lane is idle.
static void tree_refill(pz_tree_lanes *t, int lane)
{
    for (; t->next < t->queue_count; ++t->next) {
        uint64_t bit = UINT64_C(1) << (t->next % 64), *taken = &t->is_taken[t->next / 64];
        poise_problem *problem = t->queue[t->next];
        if (!(*taken & bit) && fits(t, problem)) {
            *taken |= bit;
            if (load(t, lane, problem)) {
                t->next += 1;
                return;
            }
        }
    }
    tree_set_idle(t, lane);
}

// Out of its lane: from the start, on its own.
static void hand_over(pz_tree_lanes *t, int lane)
{
    t->left += 1;
    tree_solve_alone(t, t->lane[lane].problem);
    tree_refill(t, lane);
}

// Is the lane's point called closest where poise_solve looks again?
static bool needs_certifying(const pz_tree_lanes *t, const pz_tree_lane *at, int lane)
{
    const poise_problem *p = at->problem;
    bool is_looked_at = at->call.answer.end.outcome == POISE_OUTCOME_CLOSEST && p->goal_count <= PZ_LOOKED_AT;
    bool is_at_limit = false;
    for (int i = 0; i < t->model->nq && is_looked_at; ++i) {
        double q = t->q_at[i * t->lanes + lane];
        is_at_limit = is_at_limit || q <= t->model->lower[i] || q >= t->model->upper[i];
    }
    return is_looked_at && (is_at_limit || pz_has_tolerances(p->goals, p->goal_count));
}

// The answer and its report.
static void tree_finish_lane(pz_tree_lanes *t, int lane)
{
    pz_tree_lane *at = &t->lane[lane];
    poise_solver *s = t->solver;
    poise_report *r = &at->call.answer.report;
    if ((at->call.answer.end.outcome != POISE_OUTCOME_REACHED && s->options.restarts > 0) || needs_certifying(t, at, lane)) {
        hand_over(t, lane);
        return;
    }
    r->cost = at->cost;
    r->worst_length = t->worst[lane];
    for (int i = 0; i < t->model->nq; ++i) {
        s->q_best[i] = t->q_at[i * t->lanes + lane];
    }
    pz_solve_continue(s, &at->call);
    at->call.answer.is_measured = true;
    pz_solve_end(s, at->problem->q, &at->problem->report);
    tree_refill(t, lane);
}

// ---- Passes --------------------------------------------------------------------------------------------------------------

static void begin_step(pz_tree_lane *at)
{
    at->stage = STEP;
    at->begins = true;
    at->exact = pz_wants_exact(&at->state);
    at->newton = true;
    at->passes = 0;
}

// Do most lanes wait for their first evaluation? Then the others wait with them, so that all look for a step together: where
// one or two steps are enough, half of the systems would be solved for lanes that have no use for it (7 % of the time).
static bool solve_can_wait(const pz_tree_lanes *t)
{
    int first = 0, seeking = 0;
    for (int i = 0; i < t->lanes; ++i) {
        const pz_tree_lane *at = &t->lane[i];
        first += at->problem && at->stage == FIRST;
        seeking += at->problem && at->stage == STEP;
    }
    return first > seeking;
}

// Solve in the lanes that look for a step. Returns those that have one.
static unsigned find_steps(pz_tree_lanes *t, unsigned *newton, unsigned *exact)
{
    unsigned seeking = 0, begin = 0, ready = 0, leaving, ask = 0;
    for (int i = 0; i < t->lanes; ++i) {
        pz_tree_lane *at = &t->lane[i];
        bool seeks = at->problem && at->stage == STEP;
        t->lambda[i] = at->damping.lambda;
        seeking |= (unsigned)seeks << i;
        begin |= (unsigned)(seeks && at->begins) << i;
        ask |= (unsigned)(seeks && at->exact) << i;
        at->begins = false;
    }
    unsigned positive = seeking ? t->kernels->solve(t, begin, ask, &leaving) : 0;
    *newton = *exact = 0;
    for (int i = 0; i < t->lanes; ++i) {
        pz_tree_lane *at = &t->lane[i];
        if (!(seeking >> i & 1u)) {
            continue;
        }
        if (!(positive >> i & 1u)) {
            if (!at->exact) { // rounding alone can cause this
                hand_over(t, i);
            }
            at->exact = false;
            continue;
        }
        bool leaves = leaving >> i & 1u;
        at->newton = at->newton && !leaves;
        at->passes += 1;
        ready |= (unsigned)(!leaves || at->passes == PZ_PASSES) << i;
        *newton |= (unsigned)at->newton << i;
        *exact |= (unsigned)at->exact << i;
    }
    *newton &= ready;
    return ready;
}

// The largest number of q where a lane is.
static double size_at(const pz_tree_lanes *t, int lane)
{
    double size = 0.0;
    for (int i = 0; i < t->model->nq; ++i) {
        size = max2(size, fabs(t->q_at[i * t->lanes + lane]));
    }
    return size;
}

// After the evaluation of a trial: accepted or not, lambda, the budget. True when it was accepted.
static bool judge(pz_tree_lanes *t, int lane)
{
    pz_tree_lane *at = &t->lane[lane];
    pz_trial trial = {.before = at->cost,
                      .after = t->cost[lane],
                      .predicted = t->predicted[lane],
                      .lambda = at->damping.lambda,
                      .is_newton = at->newton,
                      .wants_exact = pz_wants_exact(&at->state),
                      .exact = at->exact};
    at->call.answer.report.evaluations += 1;
    at->call.answer.report.iterations += 1;
    at->iterations_left -= 1;
    at->damping = pz_damping_after(at->damping, &trial);
    pz_auto_learn(&at->state, &trial);
    if (at->iterations_left > 0 && pz_may_escape(&at->state, &trial, at->damping)) {
        hand_over(t, lane);
        return false;
    }
    if (pz_is_accepted(&trial)) {
        at->cost = trial.after;
        return true;
    }
    if (pz_is_stuck(&trial, at->damping)) {
        // whether that is closest or stalled, the gradient tells
        hand_over(t, lane);
        return false;
    }
    at->stage = at->iterations_left == 0 ? LAST : AGAIN;
    at->call.answer.end = pz_used_up;
    return false;
}

// At a new point: is the lane done? Otherwise it begins a step.
static bool tree_lane_is_done(pz_tree_lanes *t, int lane, bool met, bool stationary)
{
    pz_tree_lane *at = &t->lane[lane];
    at->call.answer.report.gradient = t->largest[lane];
    if (at->cost <= at->call.problem.cost_tolerance || met) {
        at->call.answer.end = pz_reached;
    } else if (stationary && (size_at(t, lane) > PZ_LARGE ||
                              (at->iterations_left > 0 && pz_may_be_saddle(&at->state, POISE_OUTCOME_CLOSEST)))) {
        hand_over(t, lane);
        return false;
    } else if (stationary) {
        at->call.answer.end = pz_closest(at->problem->goals, at->problem->goal_count);
    } else if (at->iterations_left == 0) {
        at->call.answer.end = pz_used_up;
    } else {
        begin_step(at);
        return false;
    }
    return true;
}

// Take in the evaluation. Lanes at a new point go to *fresh (their first) and *moved; returns those that are done.
static unsigned take_evaluation(pz_tree_lanes *t, unsigned ready, unsigned *fresh, unsigned *moved)
{
    unsigned overflowed = t->kernels->overflowed(t), done = 0;
    *fresh = *moved = 0;
    for (int i = 0; i < t->lanes; ++i) {
        pz_tree_lane *at = &t->lane[i];
        if (!at->problem) {
            continue;
        }
        if (overflowed >> i & 1u) {
            hand_over(t, i);
        } else if (at->stage == FIRST) {
            at->cost = t->cost[i];
            at->call.answer.report.evaluations += 1;
            at->call.answer.report.start_cost = at->call.answer.report.start_cost != at->call.answer.report.start_cost
                                                    ? at->cost
                                                    : at->call.answer.report.start_cost;
            *fresh |= 1u << i;
        } else if (at->stage == AGAIN) {
            begin_step(at);
        } else if (at->stage == LAST) {
            done |= 1u << i;
        } else if (ready >> i & 1u) {
            *moved |= (unsigned)judge(t, i) << i;
        }
    }
    return done;
}

// One pass. False when no lane has a problem.
static bool tree_pass(pz_tree_lanes *t)
{
    unsigned newton = 0, exact = 0, fresh, moved, metric = 0, met = 0, busy = 0;
    unsigned ready = solve_can_wait(t) ? 0 : find_steps(t, &newton, &exact);
    unsigned near_edge = t->kernels->propose(t, ready, newton, exact);
    for (int i = 0; i < t->lanes; ++i) {
        if (near_edge >> i & 1u) {
            hand_over(t, i);
        }
    }
    ready &= ~near_edge;
    t->kernels->evaluate(t);
    unsigned done = take_evaluation(t, ready, &fresh, &moved);
    t->kernels->accept(t, moved);
    for (int i = 0; i < t->lanes; ++i) {
        metric |= (unsigned)((moved >> i & 1u) && pz_needs_metric(t->lane[i].damping)) << i;
    }
    if (fresh | moved) {
        unsigned stationary = t->kernels->inspect(t, fresh, moved, metric, &met);
        for (int i = 0; i < t->lanes; ++i) {
            if ((fresh | moved) >> i & 1u) {
                done |= (unsigned)tree_lane_is_done(t, i, met >> i & 1u, stationary >> i & 1u) << i;
            }
        }
    }
    if (done) {
        t->kernels->measure(t);
    }
    for (int i = 0; i < t->lanes; ++i) {
        if (done >> i & 1u) {
            tree_finish_lane(t, i);
        }
        busy |= t->lane[i].problem != NULL;
    }
    return busy;
}

// Up to QUEUE problems: those of the first one's layout, then those of the first that is left, and so on.
static void run_queue(pz_tree_lanes *t)
{
    memset(t->is_taken, 0, QUEUE / 8);
    t->begun = t->left = 0;
    t->fetch = t->fetch_end = NULL;
    for (int first = 0; first < t->queue_count; ++first) {
        if (t->is_taken[first / 64] >> (first % 64) & 1u) {
            continue;
        }
        if (!all_are_plain(t, t->queue[first])) { // it fits no layout
            tree_solve_alone(t, t->queue[first]);
            continue;
        }
        set_layout(t, t->queue[first]);
        t->next = t->fetching = first;
        bool busy = false;
        for (int i = 0; i < t->lanes; ++i) {
            tree_refill(t, i);
            busy = busy || t->lane[i].problem;
        }
        while (busy) {
            busy = tree_pass(t);
        }
    }
}

static void tree_run(void *scratch, poise_problem *const *problems, int count)
{
    pz_tree_lanes *t = scratch;
    for (int first = 0; first < count; first += QUEUE) {
        t->queue = problems + first;
        t->queue_count = count - first < QUEUE ? count - first : QUEUE;
        run_queue(t);
    }
}

const pz_engine_row pz_tree_engine = {
    .lanes = tree_lane_count, .lay_out = tree_lay_out, .serves = tree_serves, .run = tree_run};
