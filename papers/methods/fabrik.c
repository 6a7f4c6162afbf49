// FABRIK, forward and backward reaching: joint centres as points on bones of fixed length (A. Aristidou & J. Lasenby,
// "FABRIK: a fast, iterative solver for the Inverse Kinematics problem", 2011), carried out by the joints there are.
//
// One iteration:
//
//   to the root     the goal's point is put on its target; every centre, from there to the root, is put on the line from its
//                   follower to where it was, a bone's length away. Where branches meet, the mean of what they ask for,
//                   weighted by their goals.
//   from the root   every joint turns so that the centres it carries come near to where the first pass put them, by the
//                   closed forms of geometric.c, within limits. For a ball joint that puts the next centre on the line to
//                   its place, a bone's length away: the paper's second pass.
//
// Where all joints from here on are ball joints, each can reach the line to the next centre, so centres further on decide
// only what that leaves open, the twist about the bone. Elsewhere all that a joint carries counts alike, the goal's point
// too.
//
// Without hinges and limits the passes are the paper's. With them the cost may rise for a while, so the best configuration
// is kept, and the run ends when none better is met for some iterations.
#include "papers/methods/geometric.h"

#include "base/error.h"

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

static void *lay_out(const poise_method_run *run, poise_method_memory *memory)
{
    size_t joints = (size_t)poise_model_info(run->model).joints;
    fabrik blank = {0}, *scratch = run->call->take(memory, 1, sizeof *scratch);
    fabrik *f = scratch ? scratch : &blank;
    pz_geometric_lay_out(run, memory, &f->g);
    f->far = run->call->take(memory, joints, sizeof *f->far);
    f->carrier = run->call->take(memory, joints, sizeof *f->carrier);
    f->P = run->call->take(memory, joints, sizeof *f->P);
    f->sum = run->call->take(memory, joints, sizeof *f->sum);
    f->weight = run->call->take(memory, joints, sizeof *f->weight);
    f->is_ball = run->call->take(memory, joints, sizeof *f->is_ball);
    f->follows = run->call->take(memory, joints, sizeof *f->follows);
    f->q_best = run->call->take(memory, (size_t)run->nq, sizeof *f->q_best);
    return scratch;
}

// ---- What can be served --------------------------------------------------------------------------------------------------

static bool slides(const poise_method_run *run, int k)
{
    poise_joint_motion motion;
    bool any = false;
    for (int i = 0; run->call->joint_motion(run, k, i, &motion); ++i) {
        any = any || (motion.kind == POISE_MOTION_SLIDE && !run->bounds[motion.v].locked);
    }
    return any;
}

static bool is_free_root(const poise_method_run *run, int k)
{
    return poise_model_joint_info(run->model, k).parent == POISE_WORLD && pz_slides_freely(run, k);
}

static poise_status check(const poise_method_run *run, poise_error *error)
{
    for (int i = 0; i < run->goal_count; ++i) {
        const poise_goal *goal = &run->goals[i];
        if (goal->kind != POISE_GOAL_POSITION) {
            return pz_error_set(error, POISE_ERROR_UNSUPPORTED, "goal %d (%s): fabrik supports position goals only", i,
                                poise_goal_kind_name(goal->kind));
        }
        for (int k = goal->body; k != POISE_WORLD; k = poise_model_joint_info(run->model, k).parent) {
            if (slides(run, k) && !is_free_root(run, k)) {
                return pz_error_set(
                    error, POISE_ERROR_UNSUPPORTED,
                    "goal %d: joint \"%s\" above it slides, but fabrik needs bones of fixed length; lock that joint", i,
                    poise_model_joint_info(run->model, k).name);
            }
        }
    }
    return pz_geometric_check_model(run, "fabrik", error);
}

// ---- To the root ---------------------------------------------------------------------------------------------------------

// Of the components that turn a joint, how many are free, and how many of those without limits.
typedef struct turning {
    int free, open;
} turning;

static turning turning_of(const poise_method_run *run, int k)
{
    turning t = {0, 0};
    poise_joint_motion motion;
    bool follows = poise_model_joint_info(run->model, k).mimic != POISE_NONE;
    for (int i = 0; !follows && run->call->joint_motion(run, k, i, &motion); ++i) {
        int count = motion.kind == POISE_MOTION_SLIDE                                       ? 0
                    : motion.kind == POISE_MOTION_SWING                                     ? 2
                    : motion.kind == POISE_MOTION_TURN || motion.kind == POISE_MOTION_CURVE ? 1
                                                                                            : 3;
        for (int c = motion.v; c < motion.v + count; ++c) {
            const poise_method_bound *box = &run->bounds[c];
            t.free += !box->locked;
            t.open += !box->locked && !is_finite(box->lower) && !is_finite(box->upper);
        }
    }
    return t;
}

static void find_carriers(const poise_method_run *run, fabrik *f)
{
    for (int k = 0; k < f->g.joint_count; ++k) {
        int parent = f->g.parent[k];
        turning t = turning_of(run, k);
        const poise_joint *given = poise_model_joint_info(run->model, k).given;
        bool has_ellipse = run->options->use_limits && is_finite(given->swing[0]);
        bool moves = t.free > 0 || is_free_root(run, k);
        f->carrier[k] = moves ? k : parent == POISE_WORLD ? POISE_WORLD : f->carrier[parent];
        f->is_ball[k] = !moves || (t.open == 3 && !has_ellipse);
    }
}

// The joint that moves the centre of joint k.
static int leader_of(const fabrik *f, int k)
{
    int parent = f->g.parent[k];
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
static void ask(const poise_method_run *run, fabrik *f, int c, double w, vec3 x, vec3 wanted)
{
    vec3 bone = v3_sub(run->at.origins[c], x);
    f->sum[c] = v3_mad(f->sum[c], w, on_line(wanted, run->at.origins[c], v3_norm(bone), bone));
    f->weight[c] += w;
}

static void reach_to_root(const poise_method_run *run, fabrik *f)
{
    int joints = f->g.joint_count;
    memset(f->sum, 0, (size_t)joints * sizeof *f->sum);
    memset(f->weight, 0, (size_t)joints * sizeof *f->weight);
    for (int i = 0; i < run->goal_count; ++i) {
        const poise_goal *goal = &run->goals[i];
        double w;
        vec3 x = run->call->place(run, goal->body, goal->local.position), t = pz_pull_target(run, goal, x, &w);
        if (f->carrier[goal->body] != POISE_WORLD && w > 0) {
            ask(run, f, f->carrier[goal->body], w, x, t);
        }
    }
    for (int k = joints - 1; k >= 0; --k) {
        if (f->weight[k] > 0) {
            f->P[k] = v3_scale(f->sum[k], 1.0 / f->weight[k]);
            int c = leader_of(f, k);
            if (c != POISE_WORLD) {
                ask(run, f, c, f->weight[k], run->at.origins[k], f->P[k]);
            }
        }
    }
}

// ---- From the root -------------------------------------------------------------------------------------------------------

// The points that bodies carry: the goals' own, and the next centres.
static void place_points(const poise_method_run *run, fabrik *f)
{
    pz_pull *pulls = f->g.pulls;
    for (int i = 0; i < run->goal_count; ++i) {
        const poise_goal *goal = &run->goals[i];
        double w;
        vec3 x = run->call->place(run, goal->body, goal->local.position), t = pz_pull_target(run, goal, x, &w);
        int c = f->carrier[goal->body];
        if (c != POISE_WORLD && w > 0) {
            pz_pull_add_point(&pulls[goal->body], w, x, t);
        }
    }
    for (int k = 0; k < f->g.joint_count; ++k) {
        if (f->weight[k] > 0 && leader_of(f, k) != POISE_WORLD) {
            pz_pull_add_point(&pulls[f->g.parent[k]], f->weight[k], run->at.origins[k], f->P[k]);
        }
    }
}

static void make_pulls(const poise_method_run *run, fabrik *f)
{
    pz_pull *pulls = f->g.pulls, *far = f->far;
    memset(pulls, 0, (size_t)f->g.joint_count * sizeof *pulls);
    memset(far, 0, (size_t)f->g.joint_count * sizeof *far);
    memcpy(f->follows, f->is_ball, (size_t)f->g.joint_count * sizeof *f->follows);
    place_points(run, f);
    for (int k = f->g.joint_count - 1; k >= 0; --k) {
        int parent = f->g.parent[k];
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

static void back_to_best(poise_method_run *run, const fabrik *f, double best)
{
    if (run->at.cost > best) {
        run->call->evaluate(run, f->q_best, POISE_LEVEL_HESSIAN);
        run->call->accept(run);
    }
}

static poise_outcome ended(poise_method_run *run, const fabrik *f, double best, poise_outcome outcome, poise_why why)
{
    poise_outcome at_best;
    back_to_best(run, f, best);
    if (run->call->is_done(run, true, &at_best)) {
        return at_best;
    }
    run->report->why = why;
    return outcome;
}

static poise_outcome solve(poise_method_run *run)
{
    fabrik *f = run->scratch;
    size_t bytes = (size_t)run->nq * sizeof *f->q_best;
    poise_outcome outcome;
    double best = run->at.cost;
    int worse = 0;
    memcpy(f->q_best, run->at.q, bytes);
    pz_geometric_begin(run, &f->g);
    find_carriers(run, f);
    for (;;) {
        if (run->at.cost <= best && run->call->is_done(run, true, &outcome)) {
            return outcome;
        }
        memcpy(f->g.q, run->at.q, bytes);
        reach_to_root(run, f);
        make_pulls(run, f);
        double longest = pz_move_from_root(run, &f->g);
        bool is_better = run->call->evaluate(run, f->g.q, POISE_LEVEL_HESSIAN) < best;
        run->call->accept(run);
        worse = is_better ? 0 : worse + 1;
        if (is_better) {
            best = run->at.cost;
            memcpy(f->q_best, run->at.q, bytes);
        }
        bool more = run->call->count(run, 0.0, longest, is_better, false);
        if (worse >= PATIENCE || !is_finite(run->at.cost)) {
            return ended(run, f, best, POISE_OUTCOME_STALLED, POISE_WHY_REACHING);
        }
        if (!more) {
            return ended(run, f, best, POISE_OUTCOME_BUDGET, POISE_WHY_BUDGET);
        }
    }
}

const poise_method_engine pz_fabrik_engine = {.name = "fabrik", .lay_out = lay_out, .run = solve, .check = check};
