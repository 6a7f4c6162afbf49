// A second look at an answer that a method calls closest.
//
// A method stops where the projected gradient vanishes. There the cost f is stationary, which does not make it a minimum. A
// lower f is looked for in two ways.
//
//   first order    f(retract(q, +-h e_i)) < f for some dof i, with h = LOOK_STEP. A gradient proves little
//                    at a bound that descent hardly pushes against   |g_i| < LOOK_WEAK sqrt(2 f) sqrt(max G_ii)
//                    near half a turn of a rotation vector
//                    with tolerances, whose edges are kinks of f
//                    at the tip of a cone, where the gradient is any, and with an eye on what it looks at, where f leaps
//   second order   f(retract(q, +-t x)) < f along an x with x . H x < 0, over the dofs that are free to move. Conjugate
//                  gradients on (H + LOOK_SHIFT D) x = r have directions p_k that are conjugate in H: if H is negative
//                  along anything that r leads to, p_k . H p_k < 0 for some k. Each k costs one product with H, O(joints).
//
// What is found refutes the claim: the answer stays as it is, and is called stalled.
#include "solve/step_kernel.h"

#define LOOK_STEP 1e-3 // how far, by dof
#define LOOK_GAIN 1e-9 // a share of the cost

// First order.
#define LOOK_WEAK   1e-3 // the cosine between residuals and the most that a dof can do about them
#define LOOK_KINK   0.5  // of the rise the other way
#define LOOK_BEYOND 16   // steps beyond a kink
#define LOOK_PAIRS  64   // of dofs, in a corner

// Second order.
#define LOOK_PRODUCTS 64                  // with the Hessian, at most
#define LOOK_SHIFT    1e-9                // of D: curvature below this is rounding
#define LOOK_PUSH     1e-9                // the cosine from which descent pushes a dof against its bound
#define LOOK_LEAST    1e-20               // of the first residual, squared
#define GOLDEN_SHARE  0.61803398874989485 // its multiples, without their whole parts, are spread evenly

bool pz_has_weak_bound(poise_solver *solver)
{
    pz_refresh_diagonal(solver);
    const double *gradient = solver->at->gradient;
    double weak = LOOK_WEAK * sqrt(2.0 * solver->at->cost) * sqrt(pz_largest(solver->diagonal, solver->model->nv));
    bool found = false;
    for (int i = 0; i < solver->model->nv && solver->has_bounds && !found; ++i) {
        bool is_seen = solver->diagonal[i] > 0; // by some goal
        found = is_seen && fabs(gradient[i]) <= weak && !solver->box[i].locked && pz_is_at_bound(solver, i);
    }
    return found;
}

// Is the cost lower at the end of a step, by more than a gradient within its tolerance c may leave: c^2 f by each dof?
static bool leads_down(poise_solver *solver, const double *x)
{
    double c = solver->options.gradient_tolerance, gain = LOOK_GAIN + (double)solver->model->nv * c * c;
    pz_step_within(solver, solver->at->kin.q, x, solver->q_try);
    return pz_objective_evaluate(solver->trial, solver->q_try, POISE_LEVEL_COST) == POISE_OK &&
           solver->trial->cost < (1.0 - gain) * solver->at->cost;
}

// Set a step along dof i, one way or the other.
static void step_along(const poise_solver *solver, int i, bool is_forward, double *x)
{
    for (int k = 0; k < solver->model->nv; ++k) {
        x[k] = k != i || solver->box[k].locked ? 0.0 : is_forward ? LOOK_STEP : -LOOK_STEP;
    }
}

// Does scaled descent, -g/D with D in solver->diagonal, lead further down from the end of a step?
static bool leads_down_beyond(poise_solver *solver, double *x)
{
    bool found = leads_down(solver, x);
    for (int count = 0; count < LOOK_BEYOND && !found; ++count) {
        if (pz_objective_evaluate(solver->trial, solver->q_try, POISE_LEVEL_GRADIENT) != POISE_OK) {
            return false;
        }
        for (int k = 0; k < solver->model->nv; ++k) {
            x[k] -= solver->box[k].locked ? 0.0 : solver->trial->gradient[k] / solver->diagonal[k];
        }
        found = leads_down(solver, x);
    }
    return found;
}

// Does a short way along some dof lead down? At the edge of a goal's tolerance the cost has a kink: it rises less on the far
// side, and may fall again from there.
static bool leads_down_along_dof(poise_solver *solver)
{
    double *x = solver->step, rise[2];
    bool found = false;
    for (int i = 0; i < solver->model->nv && !found; ++i) {
        for (int way = 0; way < 2 && !found; ++way) {
            step_along(solver, i, way == 1, x);
            found = leads_down(solver, x);
            rise[way] = solver->trial->cost - solver->at->cost;
        }
        if (!found && (rise[0] < LOOK_KINK * rise[1] || rise[1] < LOOK_KINK * rise[0])) {
            step_along(solver, i, rise[1] < rise[0], x);
            found = leads_down_beyond(solver, x);
        }
    }
    return found;
}

// Is the dof held where it is? One at a bound that descent does not push against may leave it.
static bool stays(const poise_solver *solver, int i)
{
    double g = solver->at->gradient[i], least = LOOK_PUSH * LOOK_PUSH * 2.0 * solver->at->cost * solver->diagonal[i];
    return pz_is_held(solver, i) && (solver->box[i].locked || g * g > least);
}

// In a corner of the limits neither dof may lead down alone, and conjugate gradients may lead out of it: two by two, one of
// them at a limit that descent does not push against.
static bool leads_down_in_corner(poise_solver *solver)
{
    double *x = solver->step;
    int n = solver->model->nv, looks = LOOK_PAIRS;
    bool found = false;
    for (int i = 0; i < n && !found && solver->has_bounds; ++i) {
        const pz_box *box = &solver->box[i];
        double q = box->q >= 0 ? solver->at->kin.q[box->q] : 0.0;
        bool is_at_bound = box->q >= 0 && (q <= box->lower || q >= box->upper);
        if (box->locked || !is_at_bound || stays(solver, i)) {
            continue;
        }
        for (int k = 0; k < 4 * n && !found && looks > 0; ++k) {
            int j = k / 4;
            if (j == i || solver->box[j].locked) {
                continue;
            }
            step_along(solver, i, k % 2 == 1, x);
            x[j] = k % 4 < 2 ? LOOK_STEP : -LOOK_STEP;
            found = leads_down(solver, x);
            looks -= 1;
        }
    }
    return found;
}

// Begin conjugate gradients: the residual r and the direction p = D^-1 r, with D in solver->diagonal. Returns r . p.
static double begin_curvature(poise_solver *solver, double *r, double *p)
{
    double size = 0.0, share = 0.0;
    for (int i = 0; i < solver->model->nv; ++i) {
        share += GOLDEN_SHARE - (share + GOLDEN_SHARE > 1.0 ? 1.0 : 0.0);
        r[i] = stays(solver, i) ? 0.0 : sqrt(solver->diagonal[i]) * (share - 0.5);
        p[i] = r[i] / solver->diagonal[i];
        size += r[i] * p[i];
    }
    return size;
}

// A direction of negative curvature over the free dofs, into solver->step: conjugate gradients on (H + LOOK_SHIFT D) x = r
// meet one where there is one, from any r that it is not orthogonal to. False: none was met.
static bool find_curvature(poise_solver *solver)
{
    int n = solver->model->nv;
    double *r = solver->gradient, *p = solver->step, *product = solver->q_try;
    const double *D = solver->diagonal;
    double size = begin_curvature(solver, r, p), least = LOOK_LEAST * size;
    for (int count = 0; count < n && count < LOOK_PRODUCTS && size > least; ++count) {
        if (poise_objective_multiply(solver->at, POISE_HESSIAN_EXACT, p, product, NULL) != POISE_OK) {
            return false;
        }
        double curvature = 0.0, next = 0.0;
        for (int i = 0; i < n; ++i) {
            product[i] = stays(solver, i) ? 0.0 : product[i] + LOOK_SHIFT * D[i] * p[i];
            curvature += p[i] * product[i];
        }
        if (!(curvature > 0)) {
            return curvature < 0;
        }
        for (int i = 0; i < n; ++i) {
            r[i] -= size / curvature * product[i];
            next += r[i] * r[i] / D[i];
        }
        for (int i = 0; i < n; ++i) {
            p[i] = r[i] / D[i] + next / size * p[i];
        }
        size = next;
    }
    return false;
}

// Is this a saddle? Each way along the negative curvature, a short way and further.
static bool is_saddle(poise_solver *solver)
{
    bool is_known = solver->at->level >= POISE_LEVEL_HESSIAN ||
                    pz_objective_evaluate(solver->at, solver->q_best, POISE_LEVEL_HESSIAN) == POISE_OK;
    if (!is_known || !find_curvature(solver)) {
        return false;
    }
    double length = LOOK_STEP / pz_largest(solver->step, solver->model->nv);
    bool found = false;
    for (int attempt = 0; attempt < 6 && is_finite(length) && !found; ++attempt) {
        for (int i = 0; i < solver->model->nv; ++i) {
            solver->step[i] *= length;
        }
        found = leads_down(solver, solver->step);
        length = attempt % 2 == 0 ? -1.0 : -10.0; // the other way, then further
    }
    return found;
}

bool pz_is_refuted(poise_solver *solver)
{
    solver->diagonal_is_fresh = false;
    pz_refresh_diagonal(solver);
    make_metric(solver->model, solver->diagonal, true, solver->diagonal);
    solver->diagonal_is_fresh = false;
    return leads_down_along_dof(solver) || leads_down_in_corner(solver) || is_saddle(solver);
}

// ---- What is called the closest ------------------------------------------------------------------------------------------

// AUTO looks for ways out of saddles on its way (auto.c): there is more to see only where it has no attempt left, goals have
// tolerances or limits hardly push.
static bool is_open_to_doubt(poise_solver *s)
{
    bool is_looked_at = s->problem->goal_count <= PZ_LOOKED_AT &&
                        (pz_has_tolerances(s->problem->goals, s->problem->goal_count) || pz_has_weak_bound(s));
    return s->options.method != POISE_METHOD_AUTO || s->answer->is_unproved || is_looked_at;
}

// By levels of priority an answer is closest in another sense, and another reason says so.
void pz_certify(poise_solver *s)
{
    const pz_end *end = &s->answer->end;
    poise_why usual = pz_closest(s->problem->goals, s->problem->goal_count).why;
    bool is_claimed = end->outcome == POISE_OUTCOME_CLOSEST && (end->why == usual || end->why == POISE_WHY_HELD);
    if (is_claimed && is_open_to_doubt(s) && pz_is_refuted(s)) {
        s->answer->end = (pz_end){POISE_OUTCOME_STALLED, POISE_WHY_REFUTED};
    }
}
