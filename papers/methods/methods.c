// What the methods of the literature share: the table that says which engine serves which, and the search along a direction.
#include "papers/methods/methods.h"

#include <string.h>

const poise_method_engine *poise_papers_engine(poise_method method)
{
    static const poise_method_engine *const engines[POISE_METHOD_COUNT] = {
        [POISE_METHOD_GRADIENT_DESCENT] = &pz_gradient_descent_engine,
        [POISE_METHOD_JACOBIAN_TRANSPOSE] = &pz_jacobian_transpose_engine,
        [POISE_METHOD_PSEUDO_INVERSE] = &pz_pseudo_inverse_engine,
        [POISE_METHOD_DAMPED_LEAST_SQUARES] = &pz_damped_least_squares_engine,
        [POISE_METHOD_SELECTIVELY_DAMPED] = &pz_selectively_damped_engine,
        [POISE_METHOD_CCD] = &pz_ccd_engine,
        [POISE_METHOD_BWCD] = &pz_bwcd_engine,
        [POISE_METHOD_FABRIK] = &pz_fabrik_engine,
        [POISE_METHOD_BFGS] = &pz_bfgs_engine,
        [POISE_METHOD_LBFGS] = &pz_lbfgs_engine,
        [POISE_METHOD_TRUST_REGION] = &pz_trust_region_engine,
        [POISE_METHOD_NEWTON] = &pz_newton_engine,
        [POISE_METHOD_CONJUGATE_GRADIENT] = &pz_conjugate_gradient_engine,
    };
    return (unsigned)method < POISE_METHOD_COUNT ? engines[method] : NULL;
}

// ---- Search along a direction --------------------------------------------------------------------------------------------
//
// The path searched is the projected one, q(t) = P(retract(q, t d)), P the projection onto the limits.
//
// With s(t) the step behind q(t), which is t d but for dofs that a bound has stopped, a point is good when
//
//   f(q(t)) <= f + c1 g . s(t)      sufficient decrease (L. Armijo 1966; along the path: D. Bertsekas, "Projected Newton
//                                   methods for optimization problems with simple constraints", 1982)
//   g(t) . d' >= c2 g . d           the slope has risen (P. Wolfe 1969, weak form); d' = d without stopped dofs
//
// Bracket and bisect (A. Lewis & M. Overton, "Nonsmooth optimization via quasi-Newton methods", 2013, algorithm 2.6): t too
// long when the first fails, too short when only the second does. Inside the bracket the minimum of a parabola takes the
// place of the midpoint, kept off the ends.

#define C1     1e-4 // the usual constants of quasi-Newton methods (Nocedal & Wright 2006, section 3.1)
#define C2     0.9
#define TRIALS 40   // a bracket this often halved has no numbers left inside
#define MARGIN 0.1  // of the bracket, that the parabola keeps off its ends
#define NEAR   1e-3 // a dof this near to its bound, in units of the coordinate or its range, may be held

void pz_line_lay_out(pz_line *line, const poise_method_run *run, poise_method_memory *memory)
{
    size_t n = (size_t)run->nv;
    line->direction = run->call->take(memory, n, sizeof *line->direction);
    line->taken = run->call->take(memory, n, sizeof *line->taken);
    line->velocity = run->call->take(memory, n, sizeof *line->velocity);
    line->D = run->call->take(memory, n, sizeof *line->D);
    line->hold = run->call->take(memory, n, sizeof *line->hold);
    line->q_trial = run->call->take(memory, (size_t)run->nq, sizeof *line->q_trial);
}

// A dof close to a bound that its own scaled descent -g/D crosses: Bertsekas's set I+ (1982), without which a
// direction may point out of many bounds at once and be cut to nothing.
static bool is_near_bound(const poise_method_run *run, const double *D, int i)
{
    const poise_method_bound *box = &run->bounds[i];
    if (box->q < 0 || (run->has_swings && run->call->edge_leads_inwards(run, i))) {
        return false;
    }
    double q = run->at.q[box->q], next = q - run->at.gradient[i] / D[i];
    double near = NEAR * min2(1.0, box->upper - box->lower);
    return (next < box->lower && q - box->lower < near) || (next > box->upper && box->upper - q < near);
}

int pz_line_hold(const poise_method_run *run, pz_line *line)
{
    int count = 0;
    for (int i = 0; i < run->nv; ++i) {
        bool is_held = run->call->is_held(run, i);
        line->hold[i] = is_held || is_near_bound(run, line->D, i);
        line->direction[i] = is_held || !line->hold[i] ? 0.0 : -run->at.gradient[i] / line->D[i];
        count += line->hold[i];
    }
    return count;
}

// ---- Path ----------------------------------------------------------------------------------------------------------------

// The longest t that step_limit allows, and a direction without overflow.
static double longest_step(const poise_method_run *run, const pz_line *line)
{
    double longest = pz_largest(line->direction, run->nv);
    return longest > 0 && is_finite(longest) ? run->options->step_limit / longest : 0.0;
}

// q(t) into q_trial, s(t) into taken. A rotation vector that retract has brought back to the short form moved by 2 pi along
// its axis, hence by at least 2 pi/sqrt(3) in some coordinate beside its step.
static void walk(const poise_method_run *run, pz_line *line, double t)
{
    const double *q = run->at.q;
    line->t = t;
    line->has_jumped = false;
    for (int i = 0; i < run->nv; ++i) {
        line->taken[i] = t * line->direction[i];
    }
    run->call->step_within(run, q, line->taken, line->q_trial);
    for (int i = 0; i < run->nv; ++i) {
        int at = run->bounds[i].q;
        if (at < 0 || line->q_trial[at] == q[at] + line->taken[i]) {
            continue;
        }
        double moved = line->q_trial[at] - q[at];
        if (fabs(moved - line->taken[i]) > PZ_PI) {
            line->has_jumped = true;
        } else {
            line->taken[i] = moved;
        }
    }
}

// Slope of the path at the point tried: dofs that stand at the bound they walk into no longer move, and swings at an active
// edge move along it.
static double slope_at_trial(poise_method_run *run, pz_line *line)
{
    const double *g = run->trial.gradient;
    int n = run->nv;
    memcpy(line->velocity, line->direction, (size_t)n * sizeof *line->velocity);
    for (int i = 0; i < n; ++i) {
        const poise_method_bound *box = &run->bounds[i];
        double q = box->q < 0 ? 0.0 : line->q_trial[box->q], *d = &line->velocity[i];
        *d = box->q >= 0 && ((q <= box->lower && *d < 0) || (q >= box->upper && *d > 0)) ? 0.0 : *d;
    }
    if (run->has_swings) {
        run->call->accept(run); // edges are those of the current point
        run->call->project_on_edges(run, line->velocity);
        run->call->accept(run);
    }
    return pz_dot(g, line->velocity, n);
}

// ---- Bracket -------------------------------------------------------------------------------------------------------------

typedef struct bracket {
    double a, f_a, slope_a; // decrease enough, but slope too steep
    double b, f_b;          // not enough decrease; b is infinite until there is such a point
} bracket;

// The minimum of the parabola through f_a, slope_a and f_b, kept off the ends; without b, twice as far.
static double next_length(const bracket *w)
{
    if (!is_finite(w->b)) {
        return 2.0 * w->a;
    }
    double width = w->b - w->a, over = w->f_b - w->f_a - w->slope_a * width;
    double share = is_finite(over) && over > 0 ? -0.5 * w->slope_a * width / over : 0.5;
    return w->a + width * clamp(share, MARGIN, 1.0 - MARGIN);
}

// Evaluate at t and put it into the bracket. True when it meets the conditions.
static bool try_length(poise_method_run *run, pz_line *line, pz_wolfe conditions, double t, double slope, bracket *w)
{
    double before = run->at.cost;
    walk(run, line, t);
    double after = run->call->evaluate(run, line->q_trial, POISE_LEVEL_HESSIAN);
    double expected = pz_dot(run->at.gradient, line->taken, run->nv);
    if (!(after < before && after <= before + C1 * expected)) {
        w->b = t;
        w->f_b = after;
        return false;
    }
    double risen = slope_at_trial(run, line);
    if (conditions == PZ_LINE_WEAK_WOLFE && risen < C2 * slope) {
        w->a = t;
        w->f_a = after;
        w->slope_a = risen;
        return false;
    }
    return true;
}

bool pz_line_search(poise_method_run *run, pz_line *line, pz_wolfe conditions)
{
    double slope = pz_dot(run->at.gradient, line->direction, run->nv);
    double most = longest_step(run, line), t = min2(1.0, most);
    line->t = 0.0;
    if (!(slope < 0) || !(t > 0)) {
        memset(line->taken, 0, (size_t)run->nv * sizeof *line->taken);
        return false;
    }
    bracket w = {.a = 0.0, .f_a = run->at.cost, .slope_a = slope, .b = INFINITY};
    for (int trial = 0; trial < TRIALS; ++trial) {
        if (try_length(run, line, conditions, t, slope, &w) || (w.a == most && t == most)) {
            run->call->accept(run);
            return true;
        }
        t = min2(next_length(&w), most);
        bool is_flat = w.a == 0 && -slope * w.b <= PZ_FLAT * fabs(run->at.cost);
        if (!(t > w.a && t < w.b) || is_flat) {
            break;
        }
    }
    if (w.a > 0) { // lower, if not as flat as asked for
        walk(run, line, w.a);
        if (run->call->evaluate(run, line->q_trial, POISE_LEVEL_HESSIAN) < run->at.cost) {
            run->call->accept(run);
            return true;
        }
    }
    return false;
}
