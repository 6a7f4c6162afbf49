// Answers at the limits, where restarts have missed: what arms do (arm_beyond.c), for goals of all kinds on all models.
//
// A run clamps joints on its way, so that an answer with several joints at their limits is found from few starts only. Without
// limits one is found from most. It is brought inside: hinges by whole turns as near to the middle of their interval as they
// come, what is still outside to its limit. By turns a run without limits and the next clamping come to where the answers
// meet the limits, if they converge (von Neumann's alternating projections), and a run within the limits ends there.
//
// Where goals are met without limits, and never within, an answer may have been missed: nothing is called the closest then.
#include "solve/solver_state.h"

#define PROJECTIONS 8    // onto the limits, from one answer
#define CONVERGES   0.9  // what a projection may leave of the way that the one before had to go
#define INSIDE      1e-9 // of that way, in radians or lengths: there is nothing to return for
#define MOST        64   // starts where limits alone are in the way,
#define LEAST       32   // and at least
#define CLAIM       128  // starts before goals count as out of reach,
#define ALIKE       16   // or this often for one point to the same lowest cost, that of the closest pose of all,
#define ALIKE_MORE  64   // and for other goals
#define SAME        1e-6 // a share of it

// Goals that can be met, each of them: no pull, no loss that gives some up, no markers to be fitted.
static bool are_to_be_met(const poise_solver *s)
{
    bool fits = s->options.prior == 0 && !s->at->markers->any && s->goal_count > 0;
    for (int i = 0; i < s->goal_count && fits; ++i) {
        poise_goal_kind kind = s->goals[i].kind;
        bool is_soft = kind == POISE_GOAL_POSTURE || kind == POISE_GOAL_SMOOTHNESS || kind == POISE_GOAL_CALLBACK;
        fits = !is_soft && s->goals[i].loss == POISE_LOSS_NONE;
    }
    return fits;
}

// Is a point out of reach, whatever the joints do?
static bool is_out_of_reach(const poise_solver *s)
{
    bool is_out = false;
    for (int i = 0; i < s->goal_count && !is_out; ++i) {
        const poise_goal *goal = &s->goals[i];
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

// ---- Limits --------------------------------------------------------------------------------------------------------------

// The current method from solver->q_try, without limits.
static poise_outcome run_open(poise_solver *s)
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
    poise_outcome outcome = pz_solver_run_from(s, s->q_try);
    memcpy(s->box, s->limits, size);
    s->has_swings = has_swings;
    return outcome;
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
static double bring_inside(poise_solver *s)
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
static bool look_inside(poise_solver *s)
{
    double before = INFINITY, far = bring_inside(s);
    for (int k = 1; k < PROJECTIONS && far > INSIDE && far < CONVERGES * before; ++k) {
        if (run_open(s) != POISE_OUTCOME_REACHED) {
            break;
        }
        before = far;
        far = bring_inside(s);
    }
    return pz_solver_run_from(s, s->q_try) == POISE_OUTCOME_REACHED;
}

// ---- The look ------------------------------------------------------------------------------------------------------------

void pz_look_beyond(poise_solver *s)
{
    poise_report *r = &s->report;
    if (r->outcome != POISE_OUTCOME_CLOSEST || s->options.restarts == 0 || s->options.method != POISE_METHOD_AUTO ||
        !s->options.use_limits || !are_to_be_met(s) || is_out_of_reach(s)) {
        return;
    }
    poise_why why = r->why;
    int first = s->options.restarts + 1, capacity = s->options.trace_capacity;
    int count = s->options.restarts < LEAST ? LEAST : least(s->options.restarts, MOST);
    bool is_within = false, is_beyond = false;
    double lowest = INFINITY;
    int alike = 0, enough = s->goal_count == 1 && s->goals[0].kind == POISE_GOAL_POSITION ? ALIKE : ALIKE_MORE;
    s->options.trace_capacity = 0; // a trace calls no step accepted that leaves the limits
    for (int m = 0; !is_within && (is_beyond ? m < count : m < CLAIM && alike < enough); ++m) {
        pz_solve_start(s, first + m, true);
        bool is_met = run_open(s) == POISE_OUTCOME_REACHED;
        is_beyond = is_beyond || is_met;
        double cost = s->at->cost;
        alike = cost < (1.0 - SAME) * lowest ? 1 : alike + (cost <= (1.0 + SAME) * lowest);
        lowest = min2(lowest, cost);
        is_within = is_met && look_inside(s);
    }
    s->options.trace_capacity = capacity;
    r->outcome = is_within ? POISE_OUTCOME_REACHED : is_beyond ? POISE_OUTCOME_STALLED : POISE_OUTCOME_CLOSEST;
    r->why = is_within ? POISE_WHY_REACHED : is_beyond ? POISE_WHY_LIMITS : why;
    if (is_within) {
        memcpy(s->q_best, s->at->kin.q, (size_t)s->model->nq * sizeof *s->q_best);
    }
}
