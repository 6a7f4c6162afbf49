// FABRIK, forward and backward reaching: joint centres as points on bones of fixed length (A. Aristidou & J. Lasenby,
// "FABRIK: a fast, iterative solver for the Inverse Kinematics problem", 2011), carried out by the joints there are.
//
// One iteration:
//
//   to the root     the goal's point is put on its target; every centre, from there to the root, is put on the line from its
//                   follower to where it was, a bone's length away. Where branches meet, the mean of what they ask for,
//                   weighted by their goals.
//   from the root   every joint turns so that the centres it carries come near to where the first pass put them, by the
//                   closed forms of best_move.c, within limits. For a ball joint that puts the next centre on the line to
//                   its place, a bone's length away: the paper's second pass.
//
// Where all joints from here on are ball joints, each can reach the line to the next centre, so centres further on decide
// only what that leaves open, the twist about the bone. Elsewhere all that a joint carries counts alike, the goal's point
// too.
//
// Without hinges and limits the passes are the paper's. With them the cost may rise for a while, so the best configuration
// is kept, and the run ends when none better is met for some iterations.
#include "base/error.h"
#include "solve/geometric/geometric.h"
#include "solve/methods.h"

#include <string.h>

#define FURTHER  1e-5 // weight of further centres where ball joints follow: decides the twist, moves no bone
#define PATIENCE 10   // iterations without a new best; ending at the first loses 3 of 100 targets on a humanoid

typedef struct fabrik {
    pz_geometric g; // what the fit works on; a pull at first holds what the joint's own bones carry
    pz_pull *far;   // by joint: what is carried by joints below it
    int *carrier;   // by body: the joint whose turns move it, itself or above; POISE_WORLD: none
    vec3 *P;        // by joint: its centre as the passes have it
    vec3 *sum;      // by joint: weighted sum of what its followers ask for
    double *weight; // by joint: of the goals that its turns move
    bool *is_ball;  // by joint: it turns all ways, without limits, or not at all
    bool *follows;  // by joint: it and all below it on the way to goals are balls
    double *q_best; // nq
} fabrik;

void *pz_fabrik_lay_out(poise_solver *solver, pz_arena *arena)
{
    size_t joints = (size_t)solver->model->joint_count;
    fabrik blank = {0}, *scratch = pz_arena_take(arena, 1, sizeof *scratch);
    fabrik *f = scratch ? scratch : &blank;
    f->g.pulls = pz_arena_take(arena, joints, sizeof *f->g.pulls);
    f->g.moves = pz_arena_take(arena, joints, sizeof *f->g.moves);
    f->g.q = pz_arena_take(arena, (size_t)solver->model->nq, sizeof *f->g.q);
    f->far = pz_arena_take(arena, joints, sizeof *f->far);
    f->carrier = pz_arena_take(arena, joints, sizeof *f->carrier);
    f->P = pz_arena_take(arena, joints, sizeof *f->P);
    f->sum = pz_arena_take(arena, joints, sizeof *f->sum);
    f->weight = pz_arena_take(arena, joints, sizeof *f->weight);
    f->is_ball = pz_arena_take(arena, joints, sizeof *f->is_ball);
    f->follows = pz_arena_take(arena, joints, sizeof *f->follows);
    f->q_best = pz_arena_take(arena, (size_t)solver->model->nq, sizeof *f->q_best);
    return scratch;
}

// ---- What can be served --------------------------------------------------------------------------------------------------

static bool slides(const poise_solver *solver, int k)
{
    const pz_joint *joint = &solver->model->joints[k];
    bool any = false;
    for (int i = joint->axis_begin; i < joint->axis_begin + joint->slide_count; ++i) {
        any = any || !solver->box[solver->model->axes[i].dof].locked;
    }
    return any;
}

static bool is_free_root(const poise_solver *solver, int k)
{
    return solver->model->joints[k].parent == POISE_WORLD && pz_slides_freely(solver, k);
}

poise_status pz_fabrik_check(poise_solver *solver)
{
    for (int i = 0; i < solver->goal_count; ++i) {
        const poise_goal *goal = &solver->goals[i];
        if (goal->kind != POISE_GOAL_POSITION) {
            return pz_error_set(solver->error, POISE_ERROR_UNSUPPORTED, "goal %d (%s): fabrik supports position goals only",
                                i, poise_goal_kind_name(goal->kind));
        }
        for (int k = goal->body; k != POISE_WORLD; k = solver->model->joints[k].parent) {
            if (slides(solver, k) && !is_free_root(solver, k)) {
                return pz_error_set(
                    solver->error, POISE_ERROR_UNSUPPORTED,
                    "goal %d: joint \"%s\" above it slides, but fabrik needs bones of fixed length; lock that joint", i,
                    solver->model->given[k].name);
            }
        }
    }
    return pz_geometric_check_model(solver);
}

// ---- To the root ---------------------------------------------------------------------------------------------------------

static bool turns(const poise_solver *solver, int k)
{
    const pz_joint *joint = &solver->model->joints[k];
    bool any = false;
    for (int i = joint->axis_begin + joint->slide_count; i < joint->axis_end && joint->mimic == POISE_WORLD; ++i) {
        any = any || !solver->box[solver->model->axes[i].dof].locked;
    }
    return any;
}

// Does the joint turn all ways, without limits?
static bool turns_all_ways(const poise_solver *solver, int k)
{
    const pz_joint *joint = &solver->model->joints[k];
    int count = 0;
    for (int i = joint->axis_begin + joint->slide_count; i < joint->axis_end && joint->mimic == POISE_WORLD; ++i) {
        const pz_box *box = &solver->box[solver->model->axes[i].dof];
        count += !box->locked && !is_finite(box->lower) && !is_finite(box->upper);
    }
    bool has_ellipse = solver->options.use_limits && is_finite(solver->model->given[k].swing[0]);
    return count == 3 && !has_ellipse;
}

static void find_carriers(const poise_solver *solver, fabrik *f)
{
    for (int k = 0; k < solver->model->joint_count; ++k) {
        int parent = solver->model->joints[k].parent;
        bool moves = turns(solver, k) || is_free_root(solver, k);
        f->carrier[k] = moves ? k : parent == POISE_WORLD ? POISE_WORLD : f->carrier[parent];
        f->is_ball[k] = !moves || turns_all_ways(solver, k);
    }
}

// The joint that moves the centre of joint k.
static int leader_of(const poise_solver *solver, const fabrik *f, int k)
{
    int parent = solver->model->joints[k].parent;
    return parent == POISE_WORLD ? POISE_WORLD : f->carrier[parent];
}

// The point on the line from `from` to `to`, a length away; along `instead` where the two are one.
static vec3 on_line(vec3 from, vec3 to, double length, vec3 instead)
{
    vec3 d = v3_normalize(v3_sub(to, from));
    if (d.x == 0 && d.y == 0 && d.z == 0) {
        d = v3_normalize(instead);
    }
    return v3_mad(from, length, d);
}

// A follower at x, pulled to `wanted`, asks its leader c to come a bone's length near.
static void ask(const poise_kinematics *kin, fabrik *f, int c, double w, vec3 x, vec3 wanted)
{
    vec3 bone = v3_sub(kin->p[c], x);
    f->sum[c] = v3_mad(f->sum[c], w, on_line(wanted, kin->p[c], v3_norm(bone), bone));
    f->weight[c] += w;
}

static void reach_to_root(const poise_solver *solver, fabrik *f)
{
    const poise_kinematics *kin = &solver->at->kin;
    int joints = solver->model->joint_count;
    memset(f->sum, 0, (size_t)joints * sizeof *f->sum);
    memset(f->weight, 0, (size_t)joints * sizeof *f->weight);
    for (int i = 0; i < solver->goal_count; ++i) {
        const poise_goal *goal = &solver->goals[i];
        double w;
        vec3 x = pz_kin_point(kin, goal->body, goal->local.position), t = pz_pull_target(solver, goal, x, &w);
        if (f->carrier[goal->body] != POISE_WORLD && w > 0) {
            ask(kin, f, f->carrier[goal->body], w, x, t);
        }
    }
    for (int k = joints - 1; k >= 0; --k) {
        if (f->weight[k] > 0) {
            f->P[k] = v3_scale(f->sum[k], 1.0 / f->weight[k]);
            int c = leader_of(solver, f, k);
            if (c != POISE_WORLD) {
                ask(kin, f, c, f->weight[k], kin->p[k], f->P[k]);
            }
        }
    }
}

// ---- From the root -------------------------------------------------------------------------------------------------------

// The points that bodies carry: the goals' own, and the next centres.
static void place_points(const poise_solver *solver, fabrik *f)
{
    const poise_model *model = solver->model;
    const poise_kinematics *kin = &solver->at->kin;
    pz_pull *pulls = f->g.pulls;
    for (int i = 0; i < solver->goal_count; ++i) {
        const poise_goal *goal = &solver->goals[i];
        double w;
        vec3 x = pz_kin_point(kin, goal->body, goal->local.position), t = pz_pull_target(solver, goal, x, &w);
        int c = f->carrier[goal->body];
        if (c != POISE_WORLD && w > 0) {
            pz_pull_add_point(&pulls[goal->body], w, x, t);
        }
    }
    for (int k = 0; k < model->joint_count; ++k) {
        if (f->weight[k] > 0 && leader_of(solver, f, k) != POISE_WORLD) {
            pz_pull_add_point(&pulls[model->joints[k].parent], f->weight[k], kin->p[k], f->P[k]);
        }
    }
}

static void make_pulls(const poise_solver *solver, fabrik *f)
{
    const poise_model *model = solver->model;
    pz_pull *pulls = f->g.pulls, *far = f->far;
    memset(pulls, 0, (size_t)model->joint_count * sizeof *pulls);
    memset(far, 0, (size_t)model->joint_count * sizeof *far);
    memcpy(f->follows, f->is_ball, (size_t)model->joint_count * sizeof *f->follows);
    place_points(solver, f);
    for (int k = model->joint_count - 1; k >= 0; --k) {
        int parent = model->joints[k].parent;
        if (pz_pull_is_empty(&pulls[k]) && pz_pull_is_empty(&far[k])) {
            continue;
        }
        if (parent != POISE_WORLD) {
            f->follows[parent] = f->follows[parent] && f->follows[k];
            pz_pull_add(f->carrier[k] == k ? &far[parent] : &pulls[parent], 1.0, &pulls[k]);
            pz_pull_add(&far[parent], 1.0, &far[k]);
        }
        pz_pull_add(&pulls[k], f->follows[k] ? FURTHER : 1.0, &far[k]);
    }
}

// ---- Run -----------------------------------------------------------------------------------------------------------------

static void back_to_best(poise_solver *solver, const fabrik *f, double best)
{
    if (solver->at->cost > best) {
        pz_try(solver, f->q_best, POISE_LEVEL_HESSIAN);
        pz_accept(solver);
    }
}

static poise_outcome ended(poise_solver *solver, const fabrik *f, double best, poise_outcome outcome, poise_why why)
{
    poise_outcome at_best;
    back_to_best(solver, f, best);
    if (pz_is_done_afresh(solver, &at_best)) {
        return at_best;
    }
    solver->report.why = why;
    return outcome;
}

poise_outcome pz_fabrik_run(poise_solver *solver)
{
    fabrik *f = solver->method;
    size_t bytes = (size_t)solver->model->nq * sizeof *f->q_best;
    poise_outcome outcome;
    double best = solver->at->cost;
    int worse = 0;
    memcpy(f->q_best, solver->at->kin.q, bytes);
    find_carriers(solver, f);
    for (;;) {
        if (solver->at->cost <= best && pz_is_done_afresh(solver, &outcome)) {
            return outcome;
        }
        memcpy(f->g.q, solver->at->kin.q, bytes);
        reach_to_root(solver, f);
        make_pulls(solver, f);
        double longest = pz_move_from_root(solver, &f->g);
        bool is_better = pz_try(solver, f->g.q, POISE_LEVEL_HESSIAN) < best;
        pz_accept(solver);
        worse = is_better ? 0 : worse + 1;
        if (is_better) {
            best = solver->at->cost;
            memcpy(f->q_best, solver->at->kin.q, bytes);
        }
        bool more = pz_count_iteration(solver, 0.0, longest, is_better, false);
        if (worse >= PATIENCE || !is_finite(solver->at->cost)) {
            return ended(solver, f, best, POISE_OUTCOME_STALLED, POISE_WHY_REACHING);
        }
        if (!more) {
            return ended(solver, f, best, POISE_OUTCOME_BUDGET, POISE_WHY_BUDGET);
        }
    }
}
