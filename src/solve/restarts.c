// The engine of all that is neither an arm nor tips: the method from the caller's start and, while goals are missed, from
// one start after the other. What a start is made of comes first: the root laid onto the markers, and configurations for
// restarts. Then what is tried when restarts end in what seems to be the closest: answers at the limits, from beyond them.
// The search itself is at the end. Whoever fails leaves the best end in q_best, and says how it ended in the report.
#include "num/rotation.h"
#include "solve/solver.h"

#include <string.h>

// ---- Alignment -----------------------------------------------------------------------------------------------------------
//
// The rotation R and shift that bring points x nearest to t, sum w |R (x - xm) + tm - t|^2 least: R has the largest tr(R M),
// M = sum w (x - xm) (t - tm)^T (B. K. P. Horn, "Closed-form solution of absolute orientation using unit quaternions", 1987;
// num/rotation.c).

typedef struct cloud {
    double weight;
    int count;
    vec3 x, t; // means
    mat3 M;
} cloud;

static bool is_marker(const poise_goal *goal)
{
    return (goal->kind == POISE_GOAL_POSITION || goal->kind == POISE_GOAL_POSE) && goal->weight > 0;
}

static cloud marker_cloud(const poise_solver *s, const poise_kinematics *kin)
{
    cloud c = {.weight = 0};
    for (int i = 0; i < s->problem->goal_count; ++i) {
        const poise_goal *goal = &s->problem->goals[i];
        if (is_marker(goal)) {
            c.weight += goal->weight;
            c.count += 1;
            c.x = v3_mad(c.x, goal->weight, pz_kin_point(kin, goal->body, goal->local.position));
            c.t = v3_mad(c.t, goal->weight, pz_goal_target(kin, goal));
        }
    }
    if (c.count == 0) {
        return c;
    }
    c.x = v3_scale(c.x, 1.0 / c.weight);
    c.t = v3_scale(c.t, 1.0 / c.weight);
    for (int i = 0; i < s->problem->goal_count; ++i) {
        const poise_goal *goal = &s->problem->goals[i];
        if (is_marker(goal)) {
            vec3 x = v3_sub(pz_kin_point(kin, goal->body, goal->local.position), c.x);
            vec3 t = v3_scale(v3_sub(pz_goal_target(kin, goal), c.t), goal->weight);
            c.M.x = v3_mad(c.M.x, t.x, x);
            c.M.y = v3_mad(c.M.y, t.y, x);
            c.M.z = v3_mad(c.M.z, t.z, x);
        }
    }
    return c;
}

// Angles of the rotation M for three turns in sequence (the steps of an Euler order), into q. Near gimbal lock the first
// takes all.
static bool turn_angles(const pz_step *steps, const mat3 *M, double *q)
{
    if (!pz_step_is_turn(steps[0].kind) || !pz_step_is_turn(steps[1].kind) || !pz_step_is_turn(steps[2].kind)) {
        return false;
    }
    double angles[3];
    euler_angles(pz_step_axis(steps[0].kind), pz_step_axis(steps[1].kind), pz_step_axis(steps[2].kind), M, angles);
    for (int i = 0; i < 3; ++i) {
        q[steps[i].q] = angles[i];
    }
    return true;
}

// Coordinates of the rotation M for a step sequence: a block, or three turns of an Euler order. False: neither.
static bool set_rotation(const poise_model *model, const pz_joint *joint, const mat3 *M, double *q)
{
    const pz_step *step = &model->steps[joint->step_end - 1];
    quat r = quat_from_matrix(M);
    if (step->kind == PZ_QUATERNION) {
        double *c = q + step->q;
        c[0] = r.x;
        c[1] = r.y;
        c[2] = r.z;
        c[3] = r.w;
        return true;
    }
    if (step->kind == PZ_EXPMAP) {
        vec3 v = so3_log(r);
        double *c = q + step->q;
        c[0] = v.x;
        c[1] = v.y;
        c[2] = v.z;
        return true;
    }
    return turn_angles(&model->steps[joint->step_end - 3], M, q);
}

bool pz_set_root(const poise_model *model, const mat3 *R, vec3 away, double *q)
{
    const pz_joint *root = &model->joints[0];
    mat3 back = m3_transpose(&root->C), M = m3_mul(&back, R); // world frame of the root's rotation: C M(q)
    vec3 d = m3_apply_transposed(&root->C, away);
    if (!v3_is_finite(d) || !set_rotation(model, root, &M, q)) {
        return false;
    }
    q[root->q_begin] = d.x;
    q[root->q_begin + 1] = d.y;
    q[root->q_begin + 2] = d.z;
    return poise_model_clamp(model, q, NULL, NULL) == POISE_OK;
}

bool pz_place_root(const poise_solver *s, const poise_kinematics *kin, quat turn, vec3 from, vec3 to, double *q)
{
    mat3 T = quat_matrix(turn), R = m3_mul(&T, &kin->R[0]);
    vec3 p = v3_add(to, m3_apply(&T, v3_neg(from))); // where body 0, now at 0, goes
    return pz_set_root(s->model, &R, v3_add(v3_sub(kin->origin, s->model->joints[0].t), p), q);
}

bool pz_align_root(const poise_solver *s, const poise_kinematics *kin, double *q)
{
    const poise_model *model = s->model;
    const pz_joint *root = &model->joints[0];
    poise_joint_type type = model->given[0].type;
    bool is_free = type == POISE_JOINT_FREE || type == POISE_JOINT_FREE_EXPMAP || type == POISE_JOINT_FREE_EULER;
    quat turn;
    cloud c = marker_cloud(s, kin);
    if (!is_free || model->joint_count != root->subtree || c.count < 3 || !pz_best_quat(&c.M, 4, &turn)) {
        return false;
    }
    for (int i = root->v_begin; i < root->v_end; ++i) {
        if (s->box[i].locked) {
            return false;
        }
    }
    return pz_place_root(s, kin, turn, c.x, c.t, q);
}

// ---- Restarts ------------------------------------------------------------------------------------------------------------

// A start that stands on its limits (elbows and knees at 0) is a poor place to begin near: what is clamped there starts
// held. So a coordinate between two limits begins in the middle of its range (restart 1), then anywhere in the middle part
// of it. The others begin around the start. The root of a free skeleton is laid onto its markers afterwards.
//
// Where the whole of the reach is to be looked at, all of a range counts, and other turns begin anywhere.
#define SPREAD   0.4         // standard deviation around the start, radians
#define ANYWHERE 2.0         // the same where a turn may begin anywhere in its circle
#define MIDDLE   0.7         // that part of a range
#define TURN     (2 * PZ_PI) // hinges gain nothing beyond

// A sum of twelve uniform numbers: mean 0, deviation 1, no logarithm.
static double next_normal(uint64_t *state)
{
    double sum = -6.0;
    for (int i = 0; i < 12; ++i) {
        sum += next_uniform(state);
    }
    return sum;
}

static bool is_between_limits(const pz_box *box)
{
    return is_finite(box->lower) && is_finite(box->upper) && !box->locked && !box->keeps_form;
}

// A hinge of more than a turn draws from the turn around its start.
static double draw_between(const poise_solver *s, int dof, double part)
{
    const pz_box *box = &s->box[dof];
    double lower = box->lower, upper = box->upper;
    if (!pz_axis_slides(s->model, s->model->dof_axis[dof]) && upper - lower > TURN) {
        lower = clamp(s->problem->q_start[box->q] - 0.5 * TURN, lower, upper - TURN);
        upper = lower + TURN;
    }
    return clamp(lower + (upper - lower) * (0.5 + part), box->lower, box->upper);
}

// Swings with an ellipse: uniform in the middle `part` of it.
static void restart_draw_swings(const poise_solver *s, double part, uint64_t *state, double *q)
{
    const poise_model *model = s->model;
    for (int k = 0; s->has_swings && k < model->joint_count; ++k) {
        const poise_joint *given = &model->given[k];
        const pz_box *box = &s->box[model->joints[k].v_begin];
        if (given->type != POISE_JOINT_SWING_TWIST || !is_finite(given->swing[0]) || box[0].locked || box[1].locked) {
            continue;
        }
        double radius = sqrt(next_uniform(state)) * part, sine, cosine;
        pz_sincos(TURN * next_uniform(state), &sine, &cosine);
        q[box[0].q] = clamp(radius * cosine * given->swing[0], box[0].lower, box[0].upper);
        q[box[1].q] = clamp(radius * sine * given->swing[1], box[1].lower, box[1].upper);
    }
}

void pz_restart_configuration(poise_solver *s, int restart, bool is_anywhere, double *q)
{
    const poise_model *model = s->model;
    uint64_t state = s->problem->seed * UINT64_C(0xD1342543DE82EF95) + (uint64_t)restart;
    double spread = is_anywhere ? ANYWHERE : SPREAD, part = is_anywhere ? 1.0 : restart == 1 ? 0.0 : MIDDLE;
    for (int i = 0; i < model->nv; ++i) {
        bool still = s->box[i].locked || pz_axis_slides(model, model->dof_axis[i]) || is_between_limits(&s->box[i]);
        double draw = spread * next_normal(&state);
        s->step[i] = still ? 0.0 : draw;
    }
    pz_step_within(s, s->problem->q_start, s->step, q);
    for (int i = 0; i < model->nv; ++i) {
        double share = next_uniform(&state) - 0.5;
        if (is_between_limits(&s->box[i])) {
            q[s->box[i].q] = draw_between(s, i, part * share);
        }
    }
    restart_draw_swings(s, part, &state, q);
}

// ---- Where a run begins --------------------------------------------------------------------------------------------------

static void copy(double *to, const double *from, int count)
{
    memcpy(to, from, (size_t)count * sizeof *to);
}

// A cold start: q_try, or q_try with the root aligned if that is better.
static void align_start(poise_solver *s)
{
    if (pz_objective_evaluate(s->trial, s->q_try, POISE_LEVEL_COST) != POISE_OK) {
        return;
    }
    s->answer->report.start_cost = s->trial->cost;
    copy(s->q_best, s->q_try, s->model->nq);
    if (pz_align_root(s, &s->trial->kin, s->q_best) &&
        pz_try(s, s->q_best, POISE_LEVEL_COST) < s->answer->report.start_cost) {
        copy(s->q_try, s->q_best, s->model->nq);
    }
}

void pz_solve_start(poise_solver *s, int run, bool is_anywhere)
{
    if (run > 0) {
        pz_restart_configuration(s, run, is_anywhere, s->q_try);
        pz_objective_evaluate(s->trial, s->q_try, POISE_LEVEL_COST);
        pz_align_root(s, &s->trial->kin, s->q_try);
        return;
    }
    copy(s->q_try, s->problem->q_start, s->model->nq);
    s->answer->report.start_cost = NAN; // the first run will know it
    if (s->options.start == POISE_START_COLD) {
        align_start(s);
    }
}

// ---- Beyond the limits ---------------------------------------------------------------------------------------------------
//
// Answers at the limits, where restarts have missed: what arms do (arm.c), for goals of all kinds on all models.
//
// A run clamps joints on its way, so that an answer with several joints at their limits is found from few starts only.
// Without limits one is found from most. It is brought inside: hinges by whole turns as near to the middle of their interval
// as they come, what is still outside to its limit. By turns a run without limits and the next clamping come to where the
// answers meet the limits, if they converge (von Neumann's alternating projections), and a run within the limits ends there.
//
// Where goals are met without limits, and never within, an answer may have been missed: nothing is called the closest then.

#define BEYOND_PROJECTIONS 8    // onto the limits, from one answer
#define BEYOND_CONVERGES   0.9  // what a projection may leave of the way that the one before had to go
#define BEYOND_INSIDE      1e-9 // of that way, in radians or lengths: there is nothing to return for
#define BEYOND_MOST        64   // starts where limits alone are in the way,
#define BEYOND_LEAST       32   // and at least
#define BEYOND_CLAIM       128  // starts before goals count as out of reach,
#define ALIKE_POINT        16   // or this often for one point to the same lowest cost, that of the closest pose of all,
#define ALIKE_MOST         64   // and for other goals
#define SAME_COST          1e-6 // a share of it

// Goals that can be met, each of them: no pull, no loss that gives some up, no markers to be fitted.
static bool are_to_be_met(const poise_solver *s)
{
    bool fits = s->options.prior == 0 && !s->at->markers->any && s->problem->goal_count > 0;
    for (int i = 0; i < s->problem->goal_count && fits; ++i) {
        poise_goal_kind kind = s->problem->goals[i].kind;
        bool is_soft = kind == POISE_GOAL_POSTURE || kind == POISE_GOAL_SMOOTHNESS || kind == POISE_GOAL_CALLBACK;
        fits = !is_soft && s->problem->goals[i].loss == POISE_LOSS_NONE;
    }
    return fits;
}

// Is a point out of reach, whatever the joints do?
static bool is_out_of_reach(const poise_solver *s)
{
    bool is_out = false;
    for (int i = 0; i < s->problem->goal_count && !is_out; ++i) {
        const poise_goal *goal = &s->problem->goals[i];
        int first = POISE_NONE;
        bool is_point =
            (goal->kind == POISE_GOAL_POSITION || goal->kind == POISE_GOAL_POSE) && !pz_has_band(goal->tolerance);
        double reach = is_point && goal->weight > 0 ? poise_goal_reach(goal, s->model, &first) : INFINITY;
        if (first != POISE_NONE) {
            vec3 away = v3_sub(goal->target.position, poise_kinematics_body_pose(&s->at->kin, first).position);
            is_out = v3_norm(away) > reach * (1.0 + 1e-9) + s->options.position_tolerance;
        }
    }
    return is_out;
}

// The current method from solver->q_try, without limits.
static pz_end run_open(poise_solver *s)
{
    size_t size = (size_t)s->model->nv * sizeof *s->box;
    bool has_swings = s->has_swings;
    memcpy(s->limits, s->box, size);
    for (int i = 0; i < s->model->nv; ++i) {
        bool stays = s->box[i].locked || s->box[i].keeps_form;
        s->box[i].lower = stays ? s->box[i].lower : -INFINITY;
        s->box[i].upper = stays ? s->box[i].upper : INFINITY;
    }
    s->has_swings = false;
    pz_end end = pz_solver_run_from(s, s->q_try);
    memcpy(s->box, s->limits, size);
    s->has_swings = has_swings;
    return end;
}

// x by whole turns into the interval or next to it.
static double turned(const pz_box *box, double x)
{
    double middle = 0.5 * (box->lower + box->upper);
    bool is_inside = x >= box->lower && x <= box->upper;
    return is_inside || !is_finite(middle) || fabs(x - middle) <= PZ_PI
               ? x
               : x - PZ_TWO_PI * round_down((x - middle) / PZ_TWO_PI + 0.5);
}

// The current point moved inside the limits, into solver->q_try. Returns how far the number farthest outside was moved.
static double bring_point_inside(poise_solver *s)
{
    const poise_model *model = s->model;
    double farthest = 0.0;
    memcpy(s->q_try, s->at->kin.q, (size_t)model->nq * sizeof *s->q_try);
    for (int i = 0; i < model->nv && !model->has_mimic; ++i) {
        const pz_box *box = &s->box[i];
        int axis = model->dof_axis[i], last = model->joints[model->axes[axis].joint].step_end - 1;
        bool is_hinge = pz_step_is_turn(model->steps[last].kind) && !pz_axis_slides(model, axis);
        if (box->q >= 0 && !box->locked && is_hinge) {
            s->q_try[box->q] = turned(box, s->q_try[box->q]);
        }
    }
    for (int i = 0; i < model->nv; ++i) {
        const pz_box *box = &s->box[i];
        if (box->q >= 0) {
            double x = s->q_try[box->q];
            farthest = max2(farthest, max2(box->lower - x, x - box->upper));
            s->q_try[box->q] = clamp(x, box->lower, box->upper);
        }
    }
    if (s->has_swings) {
        pz_keep_in_swings(s, s->q_try); // by the dofs that are not locked
    }
    return poise_model_clamp(model, s->q_try, NULL, NULL) == POISE_OK ? farthest : INFINITY;
}

// From an answer without limits, the current point, to one within: true when that is the current point.
static bool run_inside(poise_solver *s)
{
    double before = INFINITY, far = bring_point_inside(s);
    for (int k = 1; k < BEYOND_PROJECTIONS && far > BEYOND_INSIDE && far < BEYOND_CONVERGES * before; ++k) {
        if (run_open(s).outcome != POISE_OUTCOME_REACHED) {
            break;
        }
        before = far;
        far = bring_point_inside(s);
    }
    return pz_solver_run_from(s, s->q_try).outcome == POISE_OUTCOME_REACHED;
}

void pz_search_beyond_limits(poise_solver *s)
{
    pz_end *end = &s->answer->end;
    if (end->outcome != POISE_OUTCOME_CLOSEST || s->options.restarts == 0 || s->options.method != POISE_METHOD_AUTO ||
        !s->options.use_limits || !are_to_be_met(s) || is_out_of_reach(s)) {
        return;
    }
    int first = s->options.restarts + 1;
    int count = s->options.restarts < BEYOND_LEAST ? BEYOND_LEAST : least(s->options.restarts, BEYOND_MOST);
    bool is_within = false, is_beyond = false;
    double lowest = INFINITY;
    int alike = 0,
        enough = s->problem->goal_count == 1 && s->problem->goals[0].kind == POISE_GOAL_POSITION ? ALIKE_POINT : ALIKE_MOST;
    s->is_quiet = true; // a trace calls no step accepted that leaves the limits
    for (int m = 0; !is_within && (is_beyond ? m < count : m < BEYOND_CLAIM && alike < enough); ++m) {
        pz_solve_start(s, first + m, true);
        bool is_met = run_open(s).outcome == POISE_OUTCOME_REACHED;
        is_beyond = is_beyond || is_met;
        double cost = s->at->cost;
        alike = cost < (1.0 - SAME_COST) * lowest ? 1 : alike + (cost <= (1.0 + SAME_COST) * lowest);
        lowest = min2(lowest, cost);
        is_within = is_met && run_inside(s);
    }
    s->is_quiet = false;
    if (is_beyond) {
        *end = is_within ? pz_reached : (pz_end){POISE_OUTCOME_STALLED, POISE_WHY_LIMITS};
    }
    if (is_within) {
        memcpy(s->q_best, s->at->kin.q, (size_t)s->model->nq * sizeof *s->q_best);
    }
}

// ---- The search ----------------------------------------------------------------------------------------------------------

// Is the current point better than the best one before, by its cost or as the method has it?
static bool improves(poise_solver *s, double *best, bool first)
{
    bool is_better = s->row->improves ? s->row->improves(s, first) : first || s->at->cost < *best;
    *best = is_better ? s->at->cost : *best;
    return is_better;
}

// Start again from elsewhere while goals are missed and starts are left; the best end is in q_best.
bool pz_search_from_starts(poise_solver *s)
{
    pz_solve_start(s, 0, false);
    s->answer->end = pz_solver_run_from(s, s->q_try);
    copy(s->q_best, s->at->kin.q, s->model->nq);
    double best = INFINITY;
    improves(s, &best, true);
    for (int restart = 1; restart <= s->options.restarts && s->answer->end.outcome != POISE_OUTCOME_REACHED; ++restart) {
        pz_solve_start(s, restart, false);
        pz_end end = pz_solver_run_from(s, s->q_try);
        s->answer->report.restarts += 1;
        if (improves(s, &best, false)) {
            copy(s->q_best, s->at->kin.q, s->model->nq);
            s->answer->end = end;
        }
    }
    pz_search_beyond_limits(s);
    return true;
}
