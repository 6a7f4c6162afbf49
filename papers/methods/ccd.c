// CCD, cyclic coordinate descent: from the ends to the root, every joint in turn goes where the goals below it have the
// least energy (L.-C. T. Wang & C. C. Chen, "A combined optimization method for solving the inverse kinematics problem of
// mechanical manipulators", 1991).
//
// A joint sees what the joints below have just done and those above as they were, so that one forward sweep of the
// kinematics serves all of them: pulls are carried along by each move and handed to the parent. Each move is the exact
// minimum over one step of the joint, or lower than before where there is no closed form (geometric.c): the cost cannot
// rise.
//
// BWCD, backward coordinate descent: CCD from the root to the ends, so that most of the change happens near the root and the
// shape of the rest is kept (T. Ribeiro & A. Paiva, "Expressive Inverse Kinematics Solving in Real-time for Virtual and
// Robotic Interactive Characters", 2019, section 3.2).
//
// A joint sees those above where they have just moved and those below as they were. Seen from the world as it was, the joint
// and all below it have not moved yet, but the targets have, the opposite way: so again one forward sweep serves all.
#include "papers/methods/geometric.h"

#include "base/error.h"

#include <string.h>

// How AIM goals are held back: not at first, and as soon as a sweep raises the cost.
#define CAUTION_FIRST  1.0
#define CAUTION_GROWTH 4.0
#define CAUTION_MOST   1e6 // steps a millionth as long, and still no gain

// One sweep over the joints, from the current point to geometric->q. Returns the longest step of a coordinate; *bounds says
// whether the pulls bounded the energy.
typedef double sweep(poise_method_run *run, double caution, bool *bounds);

static void *lay_out(const poise_method_run *run, poise_method_memory *memory)
{
    pz_geometric blank = {0}, *scratch = run->call->take(memory, 1, sizeof *scratch);
    pz_geometric_lay_out(run, memory, scratch ? scratch : &blank);
    return scratch;
}

// ---- What can be served --------------------------------------------------------------------------------------------------

static bool is_served(poise_goal_kind kind)
{
    switch (kind) {
    case POISE_GOAL_POSITION:
    case POISE_GOAL_DIRECTION:
    case POISE_GOAL_ORIENTATION:
    case POISE_GOAL_POSE:
    case POISE_GOAL_AIM:
        return true;
    default:
        return false;
    }
}

static poise_status check(const poise_method_run *run, poise_error *error)
{
    const char *name = run->options->engine->name;
    for (int i = 0; i < run->goal_count; ++i) {
        const poise_goal *goal = &run->goals[i];
        if (!is_served(goal->kind)) {
            return pz_error_set(error, POISE_ERROR_UNSUPPORTED,
                                "goal %d (%s): %s supports only position, direction, orientation, pose and aim goals", i,
                                poise_goal_kind_name(goal->kind), name);
        }
        bool turns = goal->kind == POISE_GOAL_ORIENTATION || goal->kind == POISE_GOAL_POSE;
        if (turns && has_band(goal->rotation_tolerance)) {
            return pz_error_set(
                error, POISE_ERROR_UNSUPPORTED,
                "goal %d (%s): %s does not support rotation_tolerance; to free a rotation use a direction goal", i,
                poise_goal_kind_name(goal->kind), name);
        }
    }
    return pz_geometric_check_model(run, name, error);
}

// ---- CCD -----------------------------------------------------------------------------------------------------------------

static double sweep_to_root(poise_method_run *run, double caution, bool *bounds)
{
    pz_geometric *g = run->scratch;
    double longest = 0.0;
    memcpy(g->q, run->at.q, (size_t)run->nq * sizeof *g->q);
    *bounds = pz_pull_goals(run, caution, g->joint_count, g->pulls);
    for (int k = g->joint_count - 1; k >= 0; --k) {
        pz_pull *pull = &g->pulls[k];
        if (pz_pull_is_empty(pull)) {
            continue;
        }
        longest = max2(longest, pz_best_move(run, k, pull, g->q, NULL));
        int parent = g->parent[k];
        if (parent != POISE_WORLD) {
            pz_pull_add(&g->pulls[parent], 1.0, pull);
        }
    }
    return longest;
}

// ---- BWCD ----------------------------------------------------------------------------------------------------------------

static double sweep_from_root(poise_method_run *run, double caution, bool *bounds)
{
    pz_geometric *g = run->scratch;
    memcpy(g->q, run->at.q, (size_t)run->nq * sizeof *g->q);
    *bounds = pz_pull_goals(run, caution, g->joint_count, g->pulls);
    for (int k = g->joint_count - 1; k >= 0; --k) {
        int parent = g->parent[k];
        if (parent != POISE_WORLD && !pz_pull_is_empty(&g->pulls[k])) {
            pz_pull_add(&g->pulls[parent], 1.0, &g->pulls[k]);
        }
    }
    return pz_move_from_root(run, g);
}

// ---- Runs ----------------------------------------------------------------------------------------------------------------

// A start where the gradient vanishes may be the worst place of all, such as a direction that points away: a sweep sees that
// and leaves it, so the start alone is never the closest.
static poise_outcome descend(poise_method_run *run, sweep *one)
{
    pz_geometric *g = run->scratch;
    poise_outcome outcome;
    double caution = 0.0;
    pz_geometric_begin(run, g);
    bool has_moved = false, fresh = true;
    for (;;) {
        if (fresh && run->call->is_done(run, true, &outcome) && (outcome == POISE_OUTCOME_REACHED || has_moved)) {
            return outcome;
        }
        bool bounds;
        double longest = one(run, caution, &bounds), used = caution;
        fresh = run->call->evaluate(run, g->q, POISE_LEVEL_HESSIAN) < run->at.cost;
        if (fresh) {
            run->call->accept(run);
            has_moved = true;
            caution = caution > CAUTION_FIRST ? caution / CAUTION_GROWTH : 0.0;
        } else {
            caution = max2(CAUTION_FIRST, CAUTION_GROWTH * caution);
        }
        bool more = run->call->count(run, used, longest, fresh, false);
        if (!fresh && (bounds || caution > CAUTION_MOST)) {
            return run->call->stuck(run, false);
        }
        if (!more) {
            if (fresh && run->call->is_done(run, true, &outcome)) {
                return outcome;
            }
            run->report->why = POISE_WHY_BUDGET;
            return POISE_OUTCOME_BUDGET;
        }
    }
}

static poise_outcome solve_ccd(poise_method_run *run)
{
    return descend(run, sweep_to_root);
}

static poise_outcome solve_bwcd(poise_method_run *run)
{
    return descend(run, sweep_from_root);
}

const poise_method_engine pz_ccd_engine = {.name = "ccd", .lay_out = lay_out, .run = solve_ccd, .check = check};
const poise_method_engine pz_bwcd_engine = {.name = "bwcd", .lay_out = lay_out, .run = solve_bwcd, .check = check};
