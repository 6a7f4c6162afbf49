// A control step: one damped Gauss-Newton step whose velocities stay within what limits of velocity, acceleration and
// position leave them.
//
// **Limits.** A dof at velocity u that brakes with a from now on still goes u^2/2a. So that there is room for that after a
// step of dt towards a limit at the distance r, u may be at most
//
//   u dt + u^2/2a = r,     u = 2 r/(dt + sqrt(dt^2 + 2 r/a))
//
// A step of any dt' that brakes goes (u - a dt') dt' and leaves room for what follows:
//
//   (u - a dt')^2/2a + (u - a dt') dt' = u^2/2a - a dt'^2/2
//
// So the limits hold for good, also where dt is another one each time.
//
// **Goals.** The same keeps a dof from passing where the goals have it, d away by the step without limits: it may go
// towards that place no faster than the place itself moves, w, and what it can brake within d. w is how far q + d has gone
// since the step before. So a goal that leaps is reached without swinging about it, and one that moves is followed without
// the lag w^2/2a that braking for a place at rest would leave. Here steps count as equal, and no room is left over: in units
// of a dt for velocities and a dt^2 for lengths, a dof at velocity u that brakes at each step from the next one on still
// goes, this step included,
//
//   f(u) = u + (u - 1) + (u - 2) + ... = (n + 1) u - n (n + 1)/2,     n = floor(u)
//
// and f(u) = d gives, with n the largest of n (n + 1)/2 <= d, u = (d + n (n + 1)/2)/(n + 1).
//
// **Out of reach.** What is left of the errors at the closest pose bends the cost: the exact Hessian is H = G + sum e d2r,
// and along a stretched limb, where G is nearly singular, the second term is all there is. The step x of G is far too long
// there and swings to and fro. Where x . H x is clearly more than x . G x, H takes the place of G, with as much damping as
// makes it positive definite, and the place counts as at rest: how it moves says more of the bend than of the goals.
#include "base/error.h"
#include "solve/auto.h"
#include "solve/step_kernel.h"

#include <string.h>

#define MOST_SOLVES     4    // of the active set in one step
#define MOST_RESISTANCE 1.5  // of the exact Hessian to a step, beside Gauss-Newton's; from 2 on the step raises the cost
#define MORE_DAMPING    10.0 // at a time, until the exact Hessian is positive definite
#define MOST_DAMPING    1.0

// ---- Intervals -----------------------------------------------------------------------------------------------------------

typedef struct span {
    double slowest, fastest;
} span;

// The part of `from` within `to`; where there is none, the end of `from` that is nearest to it.
static span narrowed(span from, span to)
{
    return (span){clamp(to.slowest, from.slowest, from.fastest), clamp(to.fastest, from.slowest, from.fastest)};
}

// The fastest way towards a limit at the distance `room` >= 0 from which it can brake with the acceleration a.
static double fastest_to_limit(double room, double a, double dt)
{
    return is_finite(room) ? 2.0 * room / (dt + sqrt(dt * dt + 2.0 * room / a)) : INFINITY;
}

// The fastest way to a place at the distance `room` >= 0 from which it comes to rest there in equal steps.
static double fastest_to_place(double room, double a, double dt)
{
    double r = room / (a * dt * dt);
    if (!(r > 1.0) || !is_finite(r)) { // it is there in one step; without a limit of acceleration r is 0
        return room / dt;
    }
    double n = floor(0.5 * (sqrt(1.0 + 8.0 * r) - 1.0));
    return (r + 0.5 * n * (n + 1.0)) / (n + 1.0) * a * dt;
}

static double limit_of(const double *limits, int dof)
{
    return limits ? limits[dof] : INFINITY;
}

static bool is_outside(const pz_box *box, double q)
{
    return q < box->lower || q > box->upper;
}

// The velocities that a dof may have next.
static span velocities(const pz_box *box, const double *q, double v, double dt, double fastest, double a)
{
    span change = {v - a * dt, v + a * dt}, own = {-fastest, fastest};
    if (a == INFINITY) {
        change = own;
    }
    span all = narrowed(change, own);
    if (box->q < 0) {
        return all;
    }
    double at = q[box->q];
    if (is_outside(box, at)) {
        double back = ((at < box->lower ? box->lower : box->upper) - at) / dt;
        return narrowed(all, (span){back, back});
    }
    span room = {-fastest_to_limit(at - box->lower, a, dt), fastest_to_limit(box->upper - at, a, dt)};
    return narrowed(room, all);
}

static void make_spans(const poise_solver *s, pz_damped *d, double dt, const poise_step_options *o, const double *q,
                       const double *v)
{
    for (int i = 0; i < s->model->nv; ++i) {
        span all = velocities(&s->box[i], q, v[i], dt, limit_of(o->velocity, i), limit_of(o->acceleration, i));
        d->slowest[i] = s->box[i].locked ? 0.0 : all.slowest;
        d->fastest[i] = s->box[i].locked ? 0.0 : all.fastest;
    }
}

// How fast the goals move a dof's place: from what was left of its way to what there is now.
static double speed_of_place(const pz_damped *d, int dof, double dt, double fastest)
{
    return d->has_way ? clamp((d->way[dof] - d->way_left[dof]) / dt, -fastest, fastest) : 0.0;
}

// Brake for where the goals have each dof, which will have moved on when the step is done.
static void brake_for_goals(const poise_solver *s, pz_damped *d, double dt, const poise_step_options *o)
{
    for (int i = 0; i < s->model->nv; ++i) {
        double a = limit_of(o->acceleration, i);
        if (a == INFINITY) {
            continue;
        }
        double place = speed_of_place(d, i, dt, limit_of(o->velocity, i)), left = d->way[i] - place * dt;
        double most = fastest_to_place(fabs(left), a, dt);
        span goal = {left < 0.0 ? place - most : -INFINITY, left > 0.0 ? place + most : INFINITY};
        span all = narrowed((span){d->slowest[i], d->fastest[i]}, goal);
        d->slowest[i] = all.slowest;
        d->fastest[i] = all.fastest;
    }
}

// ---- Active set ----------------------------------------------------------------------------------------------------------

// Hold a dof at one end of its interval.
static void hold_at(pz_damped *d, int dof, double velocity, double dt)
{
    d->hold[dof] = true;
    d->hold_value[dof] = velocity * dt;
}

// Hold what cannot move: locked dofs, and those at a limit that descent would leave.
static void hold_first(const poise_solver *s, pz_damped *d)
{
    for (int i = 0; i < s->model->nv; ++i) {
        d->hold[i] = pz_is_held(s, i);
        d->hold_value[i] = 0.0;
    }
}

// Hold the dofs that the step takes out of their interval at its end; are there any?
static bool hold_faster(const poise_solver *s, pz_damped *d, double dt)
{
    bool holds = false;
    for (int i = 0; i < s->model->nv; ++i) {
        bool below = s->step[i]<d->slowest[i] * dt, above = s->step[i]> d->fastest[i] * dt;
        if (below || above) {
            hold_at(d, i, below ? d->slowest[i] : d->fastest[i], dt);
            holds = true;
        }
    }
    return holds;
}

// Is a dof held at one end of an interval that has two?
static bool is_held_at_end(const pz_damped *d, int dof)
{
    return d->hold[dof] && d->slowest[dof] < d->fastest[dof];
}

static poise_hessian hessian_of(const pz_damped *d)
{
    return d->exact ? POISE_HESSIAN_EXACT : POISE_HESSIAN_GAUSS_NEWTON;
}

static bool solve_by(poise_solver *s, pz_damped *d, poise_hessian kind)
{
    return pz_tree_solve(d->tree, s->at, kind, d->damping.lambda, d->D, d->hold, d->hold_value, s->step);
}

// Let go of the dofs whose multiplier pulls them back inside, by the gradient g + (H + lambda D) x of the model there; are
// there any?
static bool release(poise_solver *s, pz_damped *d, double dt)
{
    bool is_held = false, lets_go = false;
    for (int i = 0; i < s->model->nv; ++i) {
        is_held = is_held || is_held_at_end(d, i);
    }
    if (!is_held) {
        return false;
    }
    poise_objective_multiply(s->at, hessian_of(d), s->step, d->product, NULL);
    for (int i = 0; i < s->model->nv; ++i) {
        double x = s->step[i], slope = s->at->gradient[i] + d->product[i] + d->damping.lambda * d->D[i] * x;
        bool pulls = slope < 0.0 ? x == d->slowest[i] * dt : slope > 0.0 && x == d->fastest[i] * dt;
        if (pulls && is_held_at_end(d, i)) {
            d->hold[i] = false;
            lets_go = true;
        }
    }
    return lets_go;
}

// solver->step of the damped system, by the exact Hessian as long as that is wanted and positive definite; zeros where
// rounding keeps it from being solved.
static void control_solve(poise_solver *s, pz_damped *d)
{
    d->exact = d->exact && solve_by(s, d, POISE_HESSIAN_EXACT);
    if (!d->exact && !solve_by(s, d, POISE_HESSIAN_GAUSS_NEWTON)) {
        memset(s->step, 0, (size_t)s->model->nv * sizeof *s->step);
    }
}

// Does the exact Hessian resist solver->step clearly more than Gauss-Newton's? The step x solves
// (G + lambda D) x = -g, where held dofs stay: x . G x = -x . (g + lambda D x).
static bool is_too_long(poise_solver *s, pz_damped *d)
{
    double gauss_newton = 0.0, exact = 0.0;
    poise_objective_multiply(s->at, POISE_HESSIAN_EXACT, s->step, d->product, NULL);
    for (int i = 0; i < s->model->nv; ++i) {
        double x = s->step[i];
        gauss_newton -= x * (s->at->gradient[i] + d->damping.lambda * d->D[i] * x);
        exact += x * d->product[i];
    }
    return exact > MOST_RESISTANCE * gauss_newton;
}

// solver->step by the exact Hessian, with as much more damping as makes it positive definite.
static void solve_exactly(poise_solver *s, pz_damped *d)
{
    d->exact = solve_by(s, d, POISE_HESSIAN_EXACT);
    while (!d->exact && d->damping.lambda < MOST_DAMPING) {
        d->damping.lambda *= MORE_DAMPING;
        d->exact = solve_by(s, d, POISE_HESSIAN_EXACT);
    }
    if (!d->exact) {
        control_solve(s, d);
    }
    d->has_way = false;
}

// The way without limits of velocity and acceleration, of which a step takes a share; it ends at the limits of position.
static void control_find_way(poise_solver *s, pz_damped *d, double gain)
{
    hold_first(s, d);
    d->exact = false;
    control_solve(s, d);
    if (is_too_long(s, d)) {
        solve_exactly(s, d);
    }
    for (int i = 0; i < s->model->nv; ++i) {
        const pz_box *box = &s->box[i];
        double at = box->q < 0 ? 0.0 : s->at->kin.q[box->q];
        d->way[i] = clamp(s->step[i], min2(box->lower - at, 0.0), max2(box->upper - at, 0.0));
        s->step[i] *= gain;
        s->at->gradient[i] *= gain;
    }
}

// solver->step within the intervals, by the active set. Dofs are released once; after the last solve the rest is clipped.
static void control_find_step(poise_solver *s, pz_damped *d, double dt)
{
    bool may_release = true;
    for (int solve = 0; solve < MOST_SOLVES; ++solve) {
        if (!hold_faster(s, d, dt)) {
            if (!may_release || !release(s, d, dt)) {
                return;
            }
            may_release = false;
        }
        control_solve(s, d);
    }
}

// ---- Going there ---------------------------------------------------------------------------------------------------------

// A rotation vector r that was given its other form a r takes its velocity along: d(a r) = a v + (1 - a) r (r . v)/(r . r).
static void follow_form(const poise_model *model, const double *q, const double *step, const double *q_out, double *v)
{
    for (int s = 0; s < model->step_count; ++s) {
        const pz_step *at = &model->steps[s];
        int n = pz_step_nv(at->kind), dof = model->axes[at->axis].dof;
        if (!at->own || (at->kind != PZ_EXPMAP && at->kind != PZ_SWING)) {
            continue;
        }
        double rr = 0.0, rv = 0.0, ra = 0.0, largest = 0.0;
        for (int i = 0; i < n; ++i) {
            double r = q[at->q + i] + step[dof + i];
            rr += r * r;
            rv += r * v[dof + i];
            ra += r * q_out[at->q + i];
            largest = max2(largest, fabs(r - q_out[at->q + i]));
        }
        double a = largest > 1.0 ? ra / rr : 1.0; // clamping moves it by no more than roundings
        for (int i = 0; i < n && a < 0.0; ++i) {
            double r = q[at->q + i] + step[dof + i];
            v[dof + i] = a * v[dof + i] + (1.0 - a) * r * rv / rr;
        }
    }
}

// A swing that its ellipse turned aside: no faster than its limits (the way to q_out lies inside, as ellipses are convex),
// and with the velocity that it has now.
static void slow_swings(const poise_solver *s, const double *q, double dt, const poise_step_options *o, double *q_out,
                        double *v)
{
    const poise_model *model = s->model;
    for (int k = 0; k < model->joint_count; ++k) {
        int first = model->joints[k].q_begin, dof = model->joints[k].v_begin;
        if (model->given[k].type != POISE_JOINT_SWING_TWIST || !is_finite(model->given[k].swing[0])) {
            continue;
        }
        double share = 1.0;
        for (int i = 0; i < 2; ++i) {
            double way = fabs(q_out[first + i] - q[first + i]), most = limit_of(o->velocity, dof + i) * dt;
            share = way > most ? min2(share, most / way) : share;
        }
        for (int i = 0; i < 2; ++i) {
            double way = share * (q_out[first + i] - q[first + i]);
            q_out[first + i] = share < 1.0 ? q[first + i] + way : q_out[first + i];
            v[dof + i] = way / dt;
        }
    }
    pz_model_clamp_swings(model, q_out);
}

// From q by solver->step to s->q_best; v is the velocity on the way. False: one of them is too large to represent.
static bool control_go(poise_solver *s, const pz_damped *d, double dt, const poise_step_options *o, const double *q,
                       double *v)
{
    const poise_model *model = s->model;
    for (int i = 0; i < model->nv; ++i) {
        v[i] = clamp(s->step[i] / dt, d->slowest[i], d->fastest[i]);
        s->step[i] = v[i] * dt;
    }
    pz_kin_retract(model, q, s->step, s->q_best);
    for (int i = 0; i < model->nv; ++i) {
        const pz_box *box = &s->box[i];
        if (box->q >= 0) {
            double at = q[box->q], next = box->keeps_form ? at + s->step[i] : s->q_best[box->q];
            s->q_best[box->q] = box->locked ? at : clamp(next, min2(at, box->lower), max2(at, box->upper));
        }
    }
    follow_form(model, q, s->step, s->q_best, v);
    if (s->has_swings) {
        pz_keep_in_swings(s, s->q_best);
        slow_swings(s, q, dt, o, s->q_best, v);
    }
    return all_finite(v, (size_t)model->nv) && all_finite(s->q_best, (size_t)model->nq);
}

// What is left of the way, for the next step.
static void remember(const poise_solver *s, pz_damped *d)
{
    for (int i = 0; i < s->model->nv; ++i) {
        d->way_left[i] = d->way[i] - s->step[i];
    }
    memcpy(d->q_after, s->q_best, (size_t)s->model->nq * sizeof *d->q_after);
    d->has_way = true;
}

// ---- The call ------------------------------------------------------------------------------------------------------------

static bool all_positive(const double *limits, int count)
{
    for (int i = 0; limits && i < count; ++i) {
        if (!(limits[i] > 0.0)) {
            return false;
        }
    }
    return true;
}

static poise_status control_check(const poise_solver *s, double dt, const poise_step_options *o, const double *v,
                                  poise_error *error)
{
    if (!s || !o) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "solver and options must not be NULL");
    }
    if (s->options.method != POISE_METHOD_AUTO && s->options.method != POISE_METHOD_LEVENBERG_MARQUARDT) {
        return pz_error_set(error, POISE_ERROR_UNSUPPORTED,
                            "a control step needs a solver of the method auto or levenberg_marquardt, not %s",
                            pz_method_name(s));
    }
    const struct {
        bool is_sound;
        const char *rule;
    } checks[] = {
        {dt > 0.0 && is_finite(dt), "dt must be finite and > 0"},
        {o->gain > 0.0 && o->gain <= 1.0, "gain must be in (0, 1]"},
        {all_positive(o->velocity, s->model->nv), "velocity limits must be > 0; infinity for none"},
        {all_positive(o->acceleration, s->model->nv), "acceleration limits must be > 0; infinity for none"},
        {v && all_finite(v, (size_t)s->model->nv), "v must hold nv finite numbers: zeros at rest"},
    };
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; ++i) {
        if (!checks[i].is_sound) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT, "control step: %s", checks[i].rule);
        }
    }
    return POISE_OK;
}

static int count_outside(const poise_solver *s, const double *q)
{
    int count = 0, last = POISE_NONE;
    for (int i = 0; i < s->model->nv; ++i) {
        int joint = s->model->axes[s->model->dof_axis[i]].joint;
        if (s->box[i].q >= 0 && is_outside(&s->box[i], q[s->box[i].q]) && joint != last) {
            count += 1;
            last = joint;
        }
    }
    return count;
}

// The report, with the goals measured where the step led.
static void report_step(poise_solver *s, const double *q, poise_report *report)
{
    s->answer->report.moved_joints = count_outside(s, q);
    s->answer->report.start_cost = s->at->cost;
    s->answer->report.gradient = pz_largest(s->at->gradient, s->model->nv);
    s->answer->report.cost = pz_try(s, s->q_best, POISE_LEVEL_COST);
    pz_accept(s);
    pz_solve_measure_goals(s);
    bool is_met = true;
    for (int i = 0; i < s->problem->goal_count && is_met; ++i) {
        is_met = pz_goal_is_met(s, &s->problem->goals[i]);
    }
    s->answer->end = is_met ? pz_reached : (pz_end){POISE_OUTCOME_BUDGET, POISE_WHY_STEP};
    s->answer->may_keep_start = false; // the answer is where the velocities lead, even if that costs more
    pz_solve_end(s, s->q_try, report);
}

poise_status poise_step(poise_solver *solver, const poise_goal *goals, int count, double dt,
                        const poise_step_options *options, double *q, double *v, poise_report *report, poise_error *error)
{
    poise_solver *s = solver;
    poise_status status = control_check(s, dt, options, v, error);
    status = status == POISE_OK ? pz_solve_begin_at(s, goals, count, q, error) : status;
    if (status != POISE_OK) {
        return status;
    }
    if (pz_try(s, q, POISE_LEVEL_HESSIAN) == INFINITY) {
        return pz_error_set(error, POISE_ERROR_NUMERIC, "the cost at q is too large to represent");
    }
    pz_accept(s);
    pz_damped *d = (pz_damped *)s->method;
    d->damping.lambda = s->options.damping > 0.0 ? s->options.damping : PZ_LAMBDA_WARM;
    d->has_way = d->has_way && memcmp(d->q_after, q, (size_t)s->model->nq * sizeof *q) == 0;
    pz_damped_refresh(d, s, true);
    control_find_way(s, d, options->gain);
    make_spans(s, d, dt, options, q, v);
    brake_for_goals(s, d, dt, options);
    control_find_step(s, d, dt);
    double *v_next = d->product;
    if (!control_go(s, d, dt, options, q, v_next)) {
        d->has_way = false;
        return pz_error_set(error, POISE_ERROR_NUMERIC, "control step: q or v would be too large to represent");
    }
    remember(s, d);
    s->answer->report.iterations = 1;
    s->answer->is_measured = true; // questions about goals look at q_best
    if (report) {
        report_step(s, q, report);
    }
    memcpy(q, s->q_best, (size_t)s->model->nq * sizeof *q);
    memcpy(v, v_next, (size_t)s->model->nv * sizeof *v);
    return POISE_OK;
}
