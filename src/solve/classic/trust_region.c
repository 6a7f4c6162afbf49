// TRUST_REGION: Newton with the exact Hessian in a trust region, limits by interior-reflective scaling.
//
// The method of Erleben & Andrews 2019, section 6: T. Coleman & Y. Li, "An interior trust region approach for nonlinear
// minimization subject to bounds", 1996, with the step by preconditioned conjugate gradients (steihaug.c), whose
// preconditioner is the Cholesky factor of a band of the matrix (section 6.7 of the former).
//
// At a minimum g_i = 0 or q_i stands at the bound that -g_i points at. With b_i the distance to that bound (infinite when
// there is none) and w_i half the interval (1 when it is open on one side), |v_i| = min(1, b_i/w_i) makes that |v| g = 0.
// Newton's method on this equation, symmetric in x^ = Dx, D_i^2 = M_i/|v_i| (Coleman & Li, section 2, there with M = 1 and
// w = 1; here M is the metric of the damped methods, so that the ball has no favourite unit):
//
//   minimise  psi(s^) = g^ . s^ + s^ . (D^-1 H D^-1 + E) s^/2   over |s^| <= radius,      g^ = D^-1 g
//   E_i = |g_i|/(w_i M_i) where b_i < w_i, else 0               (their C = D E D)
//
// options.trust_region.nearest: D^-1 H D^-1 gives way to the nearest positive semidefinite matrix (Higham 1988; section 6.7
// of Erleben & Andrews, for starts far off), dense and in O(n^3). psi is convex then: saddles do not attract, nor are they
// left along negative curvature, which psi no longer shows.
//
// The points stay strictly inside the limits. Where the step s^ would leave them, the best by psi of four is taken: s^
// as far as its first bound; from there on with the components that hit reversed (the reflection); s^ with each
// component stopped on its own; and the same of the scaled gradient -g^. All end a share 1 - theta before a bound, and
// theta goes to 1 with the gradient. Dofs that end that near to their bound are put onto it when the rest has converged:
// limits are then exact, not approached.
//
// Edges of swing ellipses are no boxes: a swing that reaches one stays on it while descent points out, and gradient and
// Hessian are those along the edge (swing_limits.c).
#include "solve/classic/line_search.h"
#include "solve/classic/second_order.h"
#include "solve/damped_step.h"
#include "solve/methods.h"

#include <string.h>

#define RADIUS_WARM 4.0 // of |r| = sqrt(2 f), which D makes the unit of steps
#define RADIUS_COLD 0.1
#define GAIN_LOW    0.25 // the usual constants (Nocedal & Wright 2006, algorithm 4.1)
#define GAIN_HIGH   0.75
#define CUT_RADIUS  4.0  // of the length of a step that the limits cut short
#define THETA       0.95 // least share of the way to a bound
#define INSIDE      1e-3 // of half the interval, that the start keeps off a bound
#define SETTLED     1e-6 // scaled gradient below which dofs near a bound are put onto it
#define AT_BOUND    1e-3 // |v| of such dofs
#define SHIFT_LEAST 1e-3 // of the preconditioner, whose diagonal D makes about 1
#define CG_PER_DOF  4    // conjugate gradients end after n iterations but for rounding
#define CG_MORE     10

typedef struct region {
    const poise_solver *solver;
    double *M;       // nv: metric
    double *v;       // nv: |v|
    double *inverse; // nv: 1/D, 0 for held dofs
    double *E;       // nv
    double *g;       // nv: g^
    double *s;       // nv: s^
    double *base, *direction, *best;
    double *product; // nv
    double *work;    // 4 nv
    double *q_trial; // nq
    pz_band band, factor;
    double *S;     // nv x nv: the nearest semidefinite matrix; NULL: D^-1 H D^-1 itself, by products
    double *V, *w; // nv x nv, nv: for its eigenvalues
    double radius, theta;
    double value;   // psi(best)
    bool is_cut;    // s^ leaves the limits
    bool has_edges; // swings at the edge of their ellipse
} region;

void *pz_trust_region_lay_out(poise_solver *solver, pz_arena *arena)
{
    size_t n = (size_t)solver->model->nv;
    int half =
        solver->options.trust_region.band < solver->model->nv ? solver->options.trust_region.band : solver->model->nv - 1;
    half = half > 0 ? half : 0;
    region blank = {0}, *scratch = pz_arena_take(arena, 1, sizeof *scratch);
    region *r = scratch ? scratch : &blank;
    double **arrays[] = {&r->M, &r->v, &r->inverse, &r->E, &r->g, &r->s, &r->base, &r->direction, &r->best, &r->product};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; ++i) {
        *arrays[i] = pz_arena_take(arena, n, sizeof(double));
    }
    r->work = pz_arena_take(arena, 4 * n, sizeof *r->work);
    r->q_trial = pz_arena_take(arena, (size_t)solver->model->nq, sizeof *r->q_trial);
    r->band = (pz_band){solver->model->nv, half, pz_arena_take(arena, n, (size_t)(half + 1) * sizeof(double))};
    r->factor = (pz_band){solver->model->nv, half, pz_arena_take(arena, n, (size_t)(half + 1) * sizeof(double))};
    r->S = NULL;
    if (solver->options.trust_region.nearest) {
        r->S = pz_arena_take(arena, n * n, sizeof *r->S);
        r->V = pz_arena_take(arena, n * n, sizeof *r->V);
        r->w = pz_arena_take(arena, n, sizeof *r->w);
    }
    return scratch;
}

// ---- Scaling -------------------------------------------------------------------------------------------------------------

// |r| = sqrt(2 f); the energy of a callback may be negative.
static double residual_size(const poise_solver *solver)
{
    return sqrt(2.0 * fabs(solver->at->cost));
}

// w: half the interval, in which distances to its ends are counted.
static double half_width(const pz_box *box)
{
    double width = 0.5 * (box->upper - box->lower);
    return is_finite(width) ? width : 1.0;
}

// b: from the coordinate to the bound that -g points at.
static double distance_to_bound(const poise_solver *solver, int i)
{
    const pz_box *box = &solver->box[i];
    if (box->q < 0) {
        return INFINITY;
    }
    double q = solver->at->kin.q[box->q];
    return solver->at->gradient[i] < 0 ? box->upper - q : q - box->lower;
}

// |v|, D, E and g^ at the current point, whose projected gradient is known; theta with them.
static void make_scaling(poise_solver *solver, region *r)
{
    int n = solver->model->nv;
    pz_make_metric(solver, r->M);
    for (int i = 0; i < n; ++i) {
        const pz_box *box = &solver->box[i];
        double w = half_width(box), b = distance_to_bound(solver, i);
        bool is_free = !pz_is_held(solver, i) && w > 0 && b > 0;
        r->v[i] = b < w ? b / w : 1.0;
        r->inverse[i] = is_free ? sqrt(r->v[i] / r->M[i]) : 0.0;
        r->E[i] = is_free && b < w ? fabs(solver->gradient[i]) / (w * r->M[i]) : 0.0;
        r->g[i] = r->inverse[i] * solver->gradient[i];
    }
    r->has_edges = pz_stiffen_edges(solver, 0.0) > 0;
    r->theta = max2(THETA, 1.0 - sqrt(pz_dot(r->g, r->g, n)) / residual_size(solver));
}

// The step P D^-1 x behind x^ = x, into `out`; P projects onto active edges of swings.
static const double *step_of(const region *r, const double *x, double *out)
{
    for (int i = 0; i < r->solver->model->nv; ++i) {
        out[i] = r->inverse[i] * x[i];
    }
    if (r->has_edges) {
        pz_project_on_swings(r->solver, out);
    }
    return out;
}

// S = D^-1 P H P D^-1, then the nearest semidefinite matrix. Rows of P H P are products with columns of P, which makes that
// of a held dof 0.
static void make_nearest(const poise_solver *solver, region *r)
{
    int n = solver->model->nv;
    for (int i = 0; i < n; ++i) {
        double *row = r->S + (size_t)i * (size_t)n;
        memset(r->direction, 0, (size_t)n * sizeof *r->direction);
        r->direction[i] = 1.0;
        poise_objective_multiply(solver->at, POISE_HESSIAN_EXACT, step_of(r, r->direction, r->product), row, NULL);
        if (r->has_edges) {
            pz_project_on_swings(solver, row);
        }
        for (int j = 0; j < n; ++j) {
            row[j] *= r->inverse[j];
        }
    }
    for (int i = 0; i < n; ++i) { // the lower triangle is what is read: symmetric to the last bit
        for (int j = 0; j < i; ++j) {
            r->S[(size_t)j * (size_t)n + (size_t)i] = r->S[(size_t)i * (size_t)n + (size_t)j];
        }
    }
    pz_nearest_semidefinite(n, r->S, r->V, r->w, r->work);
}

// y = (D^-1 P H P D^-1 + E) x, or (S + E) x
static void multiply_scaled(const void *user, const double *x, double *y)
{
    const region *r = user;
    int n = r->solver->model->nv;
    if (r->S) {
        for (int i = 0; i < n; ++i) {
            y[i] = pz_dot(r->S + (size_t)i * (size_t)n, x, n) + r->E[i] * x[i];
        }
        return;
    }
    poise_objective_multiply(r->solver->at, POISE_HESSIAN_EXACT, step_of(r, x, r->product), y, NULL);
    if (r->has_edges) {
        pz_project_on_swings(r->solver, y);
    }
    for (int i = 0; i < n; ++i) {
        y[i] = r->inverse[i] * y[i] + r->E[i] * x[i];
    }
}

// The band of D^-1 H D^-1 or S.
static void fill_band(const poise_solver *solver, region *r)
{
    int n = r->band.n, half = r->band.half;
    if (!r->S) {
        pz_band_of_hessian(solver->at, POISE_HESSIAN_EXACT, &r->band);
    }
    for (int i = 0; i < n; ++i) {
        double *row = r->band.rows + (size_t)i * (size_t)(half + 1);
        for (int j = i > half ? i - half : 0; j <= i; ++j) {
            double *entry = &row[half - (i - j)];
            *entry = r->S ? r->S[(size_t)i * (size_t)n + (size_t)j] : *entry * (r->inverse[i] * r->inverse[j]);
        }
    }
}

// The band of the same matrix, plus the least multiple of the identity found that makes it positive definite (Nocedal &
// Wright 2006, algorithm 3.3). A held dof has an empty row: 1 on its diagonal.
static void make_preconditioner(const poise_solver *solver, region *r)
{
    int n = r->band.n, half = r->band.half;
    size_t width = (size_t)(half + 1);
    fill_band(solver, r);
    double least = INFINITY;
    for (int i = 0; i < n; ++i) {
        double *row = r->band.rows + (size_t)i * width;
        row[half] += r->inverse[i] > 0 ? r->E[i] : 1.0;
        least = min2(least, row[half]);
    }
    double shift = least > 0 ? 0.0 : SHIFT_LEAST - least;
    for (;;) {
        memcpy(r->factor.rows, r->band.rows, (size_t)n * width * sizeof *r->factor.rows);
        for (int i = 0; i < n; ++i) {
            r->factor.rows[(size_t)i * width + (size_t)half] += shift;
        }
        if (pz_band_cholesky(&r->factor) || !is_finite(shift)) {
            return;
        }
        shift = max2(2.0 * shift, SHIFT_LEAST);
    }
}

// ---- Step ----------------------------------------------------------------------------------------------------------------

// How many times `direction` fits from `base` (NULL: from the current point) before the first bound. With `turned`, it
// receives the direction with the components reversed that stop there.
static double room(const poise_solver *solver, const region *r, const double *base, const double *direction, double *turned)
{
    double most = INFINITY;
    for (int pass = 0; pass < (turned ? 2 : 1); ++pass) {
        for (int i = 0; i < solver->model->nv; ++i) {
            const pz_box *box = &solver->box[i];
            double speed = r->inverse[i] * direction[i];
            if (box->q < 0 || speed == 0) {
                continue;
            }
            double at = solver->at->kin.q[box->q] + (base ? r->inverse[i] * base[i] : 0.0);
            double times = max2(((speed > 0 ? box->upper : box->lower) - at) / speed, 0.0);
            if (pass == 1) {
                turned[i] = times <= most ? -direction[i] : direction[i];
            } else {
                most = min2(most, times);
            }
        }
    }
    return most;
}

// The same, with edges of swings for bounds too.
static double room_of_all(const poise_solver *solver, const region *r, const double *base, const double *direction)
{
    double most = room(solver, r, base, direction, NULL);
    if (solver->has_swings) {
        const double *from = base ? step_of(r, base, r->work) : NULL;
        const double *step = step_of(r, direction, r->product);
        most = min2(most, pz_room_of_swings(solver, from, step));
    }
    return most;
}

// Minimise psi over base + beta direction, 0 < beta <= most, and keep the point if it is the best so far.
static void consider(poise_solver *solver, region *r, const double *base, const double *direction, double most)
{
    int n = solver->model->nv;
    double *product = r->work;
    double slope = pz_dot(r->g, direction, n), value = 0.0;
    if (base) {
        multiply_scaled(r, base, product);
        slope += pz_dot(direction, product, n);
        value = pz_dot(r->g, base, n) + 0.5 * pz_dot(base, product, n);
    }
    multiply_scaled(r, direction, product);
    double curvature = pz_dot(direction, product, n);
    double beta = curvature > 0 ? min2(-slope / curvature, most) : most;
    if (!(slope < 0) || !is_finite(beta)) {
        return;
    }
    value += beta * (slope + 0.5 * beta * curvature);
    if (value < r->value) {
        r->value = value;
        for (int i = 0; i < n; ++i) {
            r->best[i] = (base ? base[i] : 0.0) + beta * direction[i];
        }
    }
}

// The direction with every component, and every swing, stopped on its own; swings at their edge, where they may stay.
static void stop_each(poise_solver *solver, region *r, double *direction)
{
    int n = solver->model->nv;
    for (int i = 0; i < n; ++i) {
        const pz_box *box = &solver->box[i];
        double d = r->inverse[i];
        if (box->q >= 0 && d > 0) {
            double q = solver->at->kin.q[box->q];
            direction[i] = clamp(direction[i], r->theta * (box->lower - q) / d, r->theta * (box->upper - q) / d);
        }
    }
    if (solver->has_swings) {
        step_of(r, direction, r->product);
        pz_clip_to_swings(solver, r->product);
        for (int i = 0; i < n; ++i) {
            direction[i] = r->inverse[i] > 0 ? r->product[i] / r->inverse[i] : 0.0;
        }
    }
}

// The other ways for a step s^ that leaves the limits after `hit` of its length.
static void consider_within(poise_solver *solver, region *r, double hit)
{
    int n = solver->model->nv;
    for (int i = 0; i < n; ++i) {
        r->base[i] = r->theta * hit * r->s[i];
    }
    memcpy(r->direction, r->s, (size_t)n * sizeof *r->direction);
    room(solver, r, NULL, r->s, r->direction);
    double most = pz_to_boundary(r->base, r->direction, r->radius, n);
    consider(solver, r, r->base, r->direction, min2(most, r->theta * room_of_all(solver, r, r->base, r->direction)));

    memcpy(r->direction, r->s, (size_t)n * sizeof *r->direction);
    stop_each(solver, r, r->direction);
    consider(solver, r, NULL, r->direction, 1.0);

    multiply_scaled(r, r->g, r->work);
    double square = pz_dot(r->g, r->g, n), curvature = pz_dot(r->g, r->work, n);
    most = r->radius / sqrt(square);
    most = curvature > 0 ? min2(square / curvature, most) : most;
    for (int i = 0; i < n; ++i) {
        r->direction[i] = -most * r->g[i];
    }
    stop_each(solver, r, r->direction);
    consider(solver, r, NULL, r->direction, 1.0);
}

// r->best and solver->step. False when psi has no descent.
static bool find_step(poise_solver *solver, region *r)
{
    int n = solver->model->nv;
    pz_quadratic m = {n, multiply_scaled, r, r->g, &r->factor};
    int most = solver->options.trust_region.cg_iterations;
    most = most > 0 ? most : CG_PER_DOF * n + CG_MORE;
    pz_steihaug(&m, r->radius, solver->options.trust_region.cg_tolerance, most, r->work, r->s, NULL);
    double hit = room_of_all(solver, r, NULL, r->s);
    r->value = 0.0;
    consider(solver, r, NULL, r->s, hit > 1.0 ? 1.0 : r->theta * hit);
    r->is_cut = !(hit > 1.0);
    if (r->is_cut) {
        consider_within(solver, r, hit);
    }
    if (!(r->value < 0)) {
        memset(solver->step, 0, (size_t)n * sizeof *solver->step);
        return false;
    }
    step_of(r, r->best, solver->step);
    double longest = pz_largest(solver->step, n);
    if (longest > solver->options.step_limit) {
        memcpy(r->direction, r->best, (size_t)n * sizeof *r->direction);
        r->value = 0.0;
        consider(solver, r, NULL, r->direction, solver->options.step_limit / longest);
        step_of(r, r->best, solver->step);
    }
    return true;
}

// rho = (f(new) - f + s^ . E s^/2)/psi(s^)  (Coleman & Li). Accept what lowers the cost; adapt the radius.
static bool try_step(poise_solver *solver, region *r)
{
    int n = solver->model->nv;
    double before = solver->at->cost, convex = 0.0, length = sqrt(pz_dot(r->best, r->best, n));
    for (int i = 0; i < n; ++i) {
        convex += 0.5 * r->E[i] * r->best[i] * r->best[i];
    }
    pz_step_within(solver, solver->at->kin.q, solver->step, r->q_trial);
    double after = pz_try(solver, r->q_trial, POISE_LEVEL_HESSIAN);
    double gain = (after - before + convex) / r->value;
    if (!(gain >= GAIN_LOW)) {
        r->radius = 0.25 * length;
    } else if (gain > GAIN_HIGH && length > 0.8 * r->radius) {
        r->radius *= 2.0;
    } else if (r->is_cut) { // a ball much larger than the way to the limits aims at nothing within them
        r->radius = min2(r->radius, CUT_RADIUS * length);
    }
    if (!(after < before)) {
        return false;
    }
    pz_accept(solver);
    return true;
}

// ---- Inside and back -----------------------------------------------------------------------------------------------------

// Move the current point strictly inside its intervals. What no goal sees stays.
static void move_inside(poise_solver *solver, region *r)
{
    const double *q = solver->at->kin.q;
    memcpy(r->q_trial, q, (size_t)solver->model->nq * sizeof *r->q_trial);
    bool has_moved = false;
    for (int i = 0; i < solver->model->nv; ++i) {
        const pz_box *box = &solver->box[i];
        bool is_seen = solver->diagonal[i] > 0 || solver->at->gradient[i] != 0;
        if (box->q >= 0 && !box->locked && is_seen) {
            double off = INSIDE * half_width(box);
            r->q_trial[box->q] = clamp(q[box->q], box->lower + off, box->upper - off);
            has_moved = has_moved || r->q_trial[box->q] != q[box->q];
        }
    }
    if (solver->has_swings) {
        pz_keep_in_swings(solver, r->q_trial);
    }
    if (has_moved && is_finite(pz_try(solver, r->q_trial, POISE_LEVEL_HESSIAN))) {
        pz_accept(solver);
    }
}

// Is |v| g small beside what residuals of this size could make it?
static bool has_settled(const poise_solver *solver, const region *r)
{
    double scale = SETTLED * residual_size(solver);
    for (int i = 0; i < solver->model->nv; ++i) {
        if (r->v[i] * fabs(solver->gradient[i]) > scale * sqrt(r->M[i])) {
            return false;
        }
    }
    return true;
}

// Put dofs that are close to the bound that descent points at onto it. True when that lowered the cost.
static bool put_onto_bounds(poise_solver *solver, region *r)
{
    const double *q = solver->at->kin.q;
    memcpy(r->q_trial, q, (size_t)solver->model->nq * sizeof *r->q_trial);
    bool has_moved = false;
    for (int i = 0; i < solver->model->nv; ++i) {
        const pz_box *box = &solver->box[i];
        if (r->inverse[i] > 0 && r->v[i] < AT_BOUND) {
            r->q_trial[box->q] = solver->at->gradient[i] < 0 ? box->upper : box->lower;
            has_moved = true;
        }
    }
    if (solver->has_swings) {
        pz_keep_in_swings(solver, r->q_trial);
    }
    if (!has_moved || !(pz_try(solver, r->q_trial, POISE_LEVEL_HESSIAN) < solver->at->cost)) {
        return false;
    }
    pz_accept(solver);
    return true;
}

// The end without convergence: at bounds, and never above the start, which moving inside may have left behind.
static poise_outcome give_up(poise_solver *solver, region *r, double start_cost, poise_outcome outcome)
{
    poise_outcome better;
    pz_project_gradient(solver);
    make_scaling(solver, r);
    put_onto_bounds(solver, r);
    if (solver->at->cost > start_cost && pz_try(solver, solver->q_try, POISE_LEVEL_HESSIAN) <= start_cost) {
        pz_accept(solver);
    }
    return pz_is_done(solver, &better) ? better : outcome;
}

// In units of |r|.
static double first_radius(const poise_solver_options *options)
{
    double usual = options->start == POISE_START_COLD ? RADIUS_COLD : RADIUS_WARM;
    return options->damping > 0 ? options->damping : usual;
}

poise_outcome pz_trust_region_run(poise_solver *solver)
{
    region *r = solver->method;
    poise_outcome outcome;
    double start_cost = solver->at->cost;
    if (pz_is_done(solver, &outcome)) {
        return outcome;
    }
    r->solver = solver;
    move_inside(solver, r);
    r->radius = first_radius(&solver->options) * residual_size(solver);
    bool fresh = true;
    for (;;) {
        if (fresh && pz_is_done(solver, &outcome)) {
            return outcome;
        }
        if (fresh) {
            make_scaling(solver, r);
            if (has_settled(solver, r) && put_onto_bounds(solver, r)) {
                continue;
            }
            if (r->S) {
                make_nearest(solver, r);
            }
            make_preconditioner(solver, r);
        }
        double radius = r->radius, before = solver->at->cost;
        bool found = find_step(solver, r), accepted = found && try_step(solver, r);
        fresh = accepted;
        bool more = pz_count_iteration(solver, radius, pz_largest(solver->step, solver->model->nv), accepted, true);
        if (!accepted && -r->value <= PZ_FLAT * fabs(before)) {
            return give_up(solver, r, start_cost, pz_stuck_outcome(solver, false));
        }
        if (!more) {
            return give_up(solver, r, start_cost, POISE_OUTCOME_BUDGET);
        }
    }
}
