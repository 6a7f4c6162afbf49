// TRUST_REGION: Newton with the exact Hessian in a trust region, limits by interior-reflective scaling.
//
// The method of Erleben & Andrews 2019, section 6: T. Coleman & Y. Li, "An interior trust region approach for nonlinear
// minimization subject to bounds", 1996, with the step by preconditioned conjugate gradients (below), whose
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
// Hessian are those along the edge (calls.stiffen_edges of <poise/method.h>).
#include "papers/methods/methods.h"

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

// ---- Truncated conjugate gradients in a ball -----------------------------------------------------------------------------
//
//   minimise m(s) = g . s + s . M s/2 over |s| <= radius
//
// Conjugate gradients on M s = -g from s = 0, with the preconditioner P = L L^T. Where the path leaves the ball, or
// meets a direction of negative curvature, it is followed to the boundary and ends there (P. Toint, "Towards an
// efficient sparsity exploiting Newton method for minimization", 1981; T. Steihaug, "The conjugate gradient method and
// trust regions in large scale optimization", 1983; Nocedal & Wright 2006, algorithm 7.2). The ball is that of the
// Euclidean norm, not of P's, in which alone the lengths of the iterates are sure to grow; the cost of the model falls
// at every step all the same.

// The tau >= 0 with |s + tau p| = radius: with b = s . p, c = radius^2 - s . s >= 0, a = p . p,
//
//   tau = (-b + sqrt(b^2 + a c)) / a = c / (b + sqrt(b^2 + a c))
//
// the second form where b > 0 would cancel.
double pz_to_boundary(const double *s, const double *p, double radius, int n)
{
    double a = pz_dot(p, p, n), b = pz_dot(s, p, n), c = max2(radius * radius - pz_dot(s, s, n), 0.0);
    double root = sqrt(b * b + a * c);
    if (!(root > 0)) {
        return 0.0;
    }
    return b > 0 ? c / (b + root) : (root - b) / a;
}

static void add_to(double *s, double tau, const double *p, int n)
{
    for (int i = 0; i < n; ++i) {
        s[i] += tau * p[i];
    }
}

// z = P^-1 r
static void precondition(const pz_quadratic *m, const double *r, double *z)
{
    memcpy(z, r, (size_t)m->n * sizeof *z);
    if (m->factor) {
        pz_band_solve(m->factor, z);
    }
}

// Would the step of length alpha leave the ball?
static bool leaves(const double *s, double alpha, const double *p, double radius, int n)
{
    double square = 0.0;
    for (int i = 0; i < n; ++i) {
        double next = s[i] + alpha * p[i];
        square += next * next;
    }
    return !(square < radius * radius);
}

pz_cg_end pz_steihaug(const pz_quadratic *m, double radius, double tolerance, int most, double *work, double *s,
                      int *iterations)
{
    int n = m->n, count = 0;
    double *r = work, *z = r + n, *p = z + n, *Mp = p + n;
    pz_cg_end end = PZ_CG_BUDGET;
    memset(s, 0, (size_t)n * sizeof *s);
    memcpy(r, m->g, (size_t)n * sizeof *r);
    precondition(m, r, z);
    double rz = pz_dot(r, z, n), enough = tolerance * tolerance * rz;
    for (int i = 0; i < n; ++i) {
        p[i] = -z[i];
    }
    if (!(rz > 0)) {
        end = PZ_CG_CONVERGED;
        most = 0;
    }
    for (; count < most; ++count) {
        m->multiply(m->user, p, Mp);
        double curvature = pz_dot(p, Mp, n), alpha = rz / curvature;
        bool is_negative = !(curvature > 0);
        if (is_negative || leaves(s, alpha, p, radius, n)) {
            add_to(s, pz_to_boundary(s, p, radius, n), p, n);
            end = is_negative ? PZ_CG_NEGATIVE : PZ_CG_BOUNDARY;
            ++count;
            break;
        }
        add_to(s, alpha, p, n);
        add_to(r, alpha, Mp, n);
        precondition(m, r, z);
        double rz_next = pz_dot(r, z, n);
        if (!(rz_next > enough)) {
            end = PZ_CG_CONVERGED;
            ++count;
            break;
        }
        for (int i = 0; i < n; ++i) {
            p[i] = -z[i] + (rz_next / rz) * p[i];
        }
        rz = rz_next;
    }
    if (iterations) {
        *iterations = count;
    }
    return end;
}

// ---- The model -----------------------------------------------------------------------------------------------------------

typedef struct region {
    const poise_method_run *run;
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

static void *lay_out(const poise_method_run *run, poise_method_memory *memory)
{
    size_t n = (size_t)run->nv;
    int half = run->options->trust_region.band < run->nv ? run->options->trust_region.band : run->nv - 1;
    half = half > 0 ? half : 0;
    region blank = {0}, *scratch = run->call->take(memory, 1, sizeof *scratch);
    region *r = scratch ? scratch : &blank;
    double **arrays[] = {&r->M, &r->v, &r->inverse, &r->E, &r->g, &r->s, &r->base, &r->direction, &r->best, &r->product};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; ++i) {
        *arrays[i] = run->call->take(memory, n, sizeof(double));
    }
    r->work = run->call->take(memory, 4 * n, sizeof *r->work);
    r->q_trial = run->call->take(memory, (size_t)run->nq, sizeof *r->q_trial);
    r->band = (pz_band){run->nv, half, run->call->take(memory, n, (size_t)(half + 1) * sizeof(double))};
    r->factor = (pz_band){run->nv, half, run->call->take(memory, n, (size_t)(half + 1) * sizeof(double))};
    r->S = NULL;
    if (run->options->trust_region.nearest) {
        r->S = run->call->take(memory, n * n, sizeof *r->S);
        r->V = run->call->take(memory, n * n, sizeof *r->V);
        r->w = run->call->take(memory, n, sizeof *r->w);
    }
    return scratch;
}

// ---- Scaling -------------------------------------------------------------------------------------------------------------

// |r| = sqrt(2 f); the energy of a callback may be negative.
static double residual_size(const poise_method_run *run)
{
    return sqrt(2.0 * fabs(run->at.cost));
}

// w: half the interval, in which distances to its ends are counted.
static double half_width(const poise_method_bound *box)
{
    double width = 0.5 * (box->upper - box->lower);
    return is_finite(width) ? width : 1.0;
}

// b: from the coordinate to the bound that -g points at.
static double distance_to_bound(const poise_method_run *run, int i)
{
    const poise_method_bound *box = &run->bounds[i];
    if (box->q < 0) {
        return INFINITY;
    }
    double q = run->at.q[box->q];
    return run->at.gradient[i] < 0 ? box->upper - q : q - box->lower;
}

// |v|, D, E and g^ at the current point, whose projected gradient is known; theta with them.
static void make_scaling(poise_method_run *run, region *r)
{
    int n = run->nv;
    run->call->metric(run, r->M);
    for (int i = 0; i < n; ++i) {
        const poise_method_bound *box = &run->bounds[i];
        double w = half_width(box), b = distance_to_bound(run, i);
        bool is_free = !run->call->is_held(run, i) && w > 0 && b > 0;
        r->v[i] = b < w ? b / w : 1.0;
        r->inverse[i] = is_free ? sqrt(r->v[i] / r->M[i]) : 0.0;
        r->E[i] = is_free && b < w ? fabs(run->projected[i]) / (w * r->M[i]) : 0.0;
        r->g[i] = r->inverse[i] * run->projected[i];
    }
    r->has_edges = run->call->stiffen_edges(run, 0.0) > 0;
    r->theta = max2(THETA, 1.0 - sqrt(pz_dot(r->g, r->g, n)) / residual_size(run));
}

// The step P D^-1 x behind x^ = x, into `out`; P projects onto active edges of swings.
static const double *step_of(const region *r, const double *x, double *out)
{
    for (int i = 0; i < r->run->nv; ++i) {
        out[i] = r->inverse[i] * x[i];
    }
    if (r->has_edges) {
        r->run->call->project_on_edges(r->run, out);
    }
    return out;
}

// S = D^-1 P H P D^-1, then the nearest semidefinite matrix. Rows of P H P are products with columns of P, which makes that
// of a held dof 0.
static void make_nearest(const poise_method_run *run, region *r)
{
    int n = run->nv;
    for (int i = 0; i < n; ++i) {
        double *row = r->S + (size_t)i * (size_t)n;
        memset(r->direction, 0, (size_t)n * sizeof *r->direction);
        r->direction[i] = 1.0;
        poise_objective_multiply(run->at.objective, POISE_HESSIAN_EXACT, step_of(r, r->direction, r->product), row, NULL);
        if (r->has_edges) {
            run->call->project_on_edges(run, row);
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
    int n = r->run->nv;
    if (r->S) {
        for (int i = 0; i < n; ++i) {
            y[i] = pz_dot(r->S + (size_t)i * (size_t)n, x, n) + r->E[i] * x[i];
        }
        return;
    }
    poise_objective_multiply(r->run->at.objective, POISE_HESSIAN_EXACT, step_of(r, x, r->product), y, NULL);
    if (r->has_edges) {
        r->run->call->project_on_edges(r->run, y);
    }
    for (int i = 0; i < n; ++i) {
        y[i] = r->inverse[i] * y[i] + r->E[i] * x[i];
    }
}

// The band of D^-1 H D^-1 or S.
static void fill_band(const poise_method_run *run, region *r)
{
    int n = r->band.n, half = r->band.half;
    if (!r->S) {
        run->call->hessian_band(run, POISE_HESSIAN_EXACT, half, r->band.rows);
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
static void make_preconditioner(const poise_method_run *run, region *r)
{
    int n = r->band.n, half = r->band.half;
    size_t width = (size_t)(half + 1);
    fill_band(run, r);
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
static double room(const poise_method_run *run, const region *r, const double *base, const double *direction, double *turned)
{
    double most = INFINITY;
    for (int pass = 0; pass < (turned ? 2 : 1); ++pass) {
        for (int i = 0; i < run->nv; ++i) {
            const poise_method_bound *box = &run->bounds[i];
            double speed = r->inverse[i] * direction[i];
            if (box->q < 0 || speed == 0) {
                continue;
            }
            double at = run->at.q[box->q] + (base ? r->inverse[i] * base[i] : 0.0);
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
static double room_of_all(const poise_method_run *run, const region *r, const double *base, const double *direction)
{
    double most = room(run, r, base, direction, NULL);
    if (run->has_swings) {
        const double *from = base ? step_of(r, base, r->work) : NULL;
        const double *step = step_of(r, direction, r->product);
        most = min2(most, run->call->room_of_edges(run, from, step));
    }
    return most;
}

// Minimise psi over base + beta direction, 0 < beta <= most, and keep the point if it is the best so far.
static void consider(poise_method_run *run, region *r, const double *base, const double *direction, double most)
{
    int n = run->nv;
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
static void stop_each(poise_method_run *run, region *r, double *direction)
{
    int n = run->nv;
    for (int i = 0; i < n; ++i) {
        const poise_method_bound *box = &run->bounds[i];
        double d = r->inverse[i];
        if (box->q >= 0 && d > 0) {
            double q = run->at.q[box->q];
            direction[i] = clamp(direction[i], r->theta * (box->lower - q) / d, r->theta * (box->upper - q) / d);
        }
    }
    if (run->has_swings) {
        step_of(r, direction, r->product);
        run->call->clip_to_edges(run, r->product);
        for (int i = 0; i < n; ++i) {
            direction[i] = r->inverse[i] > 0 ? r->product[i] / r->inverse[i] : 0.0;
        }
    }
}

// The other ways for a step s^ that leaves the limits after `hit` of its length.
static void consider_within(poise_method_run *run, region *r, double hit)
{
    int n = run->nv;
    for (int i = 0; i < n; ++i) {
        r->base[i] = r->theta * hit * r->s[i];
    }
    memcpy(r->direction, r->s, (size_t)n * sizeof *r->direction);
    room(run, r, NULL, r->s, r->direction);
    double most = pz_to_boundary(r->base, r->direction, r->radius, n);
    consider(run, r, r->base, r->direction, min2(most, r->theta * room_of_all(run, r, r->base, r->direction)));

    memcpy(r->direction, r->s, (size_t)n * sizeof *r->direction);
    stop_each(run, r, r->direction);
    consider(run, r, NULL, r->direction, 1.0);

    multiply_scaled(r, r->g, r->work);
    double square = pz_dot(r->g, r->g, n), curvature = pz_dot(r->g, r->work, n);
    most = r->radius / sqrt(square);
    most = curvature > 0 ? min2(square / curvature, most) : most;
    for (int i = 0; i < n; ++i) {
        r->direction[i] = -most * r->g[i];
    }
    stop_each(run, r, r->direction);
    consider(run, r, NULL, r->direction, 1.0);
}

// r->best and run->step. False when psi has no descent.
static bool find_step(poise_method_run *run, region *r)
{
    int n = run->nv;
    pz_quadratic m = {n, multiply_scaled, r, r->g, &r->factor};
    int most = run->options->trust_region.cg_iterations;
    most = most > 0 ? most : CG_PER_DOF * n + CG_MORE;
    pz_steihaug(&m, r->radius, run->options->trust_region.cg_tolerance, most, r->work, r->s, NULL);
    double hit = room_of_all(run, r, NULL, r->s);
    r->value = 0.0;
    consider(run, r, NULL, r->s, hit > 1.0 ? 1.0 : r->theta * hit);
    r->is_cut = !(hit > 1.0);
    if (r->is_cut) {
        consider_within(run, r, hit);
    }
    if (!(r->value < 0)) {
        memset(run->step, 0, (size_t)n * sizeof *run->step);
        return false;
    }
    step_of(r, r->best, run->step);
    double longest = pz_largest(run->step, n);
    if (longest > run->options->step_limit) {
        memcpy(r->direction, r->best, (size_t)n * sizeof *r->direction);
        r->value = 0.0;
        consider(run, r, NULL, r->direction, run->options->step_limit / longest);
        step_of(r, r->best, run->step);
    }
    return true;
}

// rho = (f(new) - f + s^ . E s^/2)/psi(s^)  (Coleman & Li). Accept what lowers the cost; adapt the radius.
static bool try_step(poise_method_run *run, region *r)
{
    int n = run->nv;
    double before = run->at.cost, convex = 0.0, length = sqrt(pz_dot(r->best, r->best, n));
    for (int i = 0; i < n; ++i) {
        convex += 0.5 * r->E[i] * r->best[i] * r->best[i];
    }
    run->call->step_within(run, run->at.q, run->step, r->q_trial);
    double after = run->call->evaluate(run, r->q_trial, POISE_LEVEL_HESSIAN);
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
    run->call->accept(run);
    return true;
}

// ---- Inside and back -----------------------------------------------------------------------------------------------------

// Move the current point strictly inside its intervals. What no goal sees stays.
static void move_inside(poise_method_run *run, region *r)
{
    const double *q = run->at.q;
    memcpy(r->q_trial, q, (size_t)run->nq * sizeof *r->q_trial);
    bool has_moved = false;
    for (int i = 0; i < run->nv; ++i) {
        const poise_method_bound *box = &run->bounds[i];
        bool is_seen = run->diagonal[i] > 0 || run->at.gradient[i] != 0;
        if (box->q >= 0 && !box->locked && is_seen) {
            double off = INSIDE * half_width(box);
            r->q_trial[box->q] = clamp(q[box->q], box->lower + off, box->upper - off);
            has_moved = has_moved || r->q_trial[box->q] != q[box->q];
        }
    }
    if (run->has_swings) {
        run->call->keep_in_edges(run, r->q_trial);
    }
    if (has_moved && is_finite(run->call->evaluate(run, r->q_trial, POISE_LEVEL_HESSIAN))) {
        run->call->accept(run);
    }
}

// Is |v| g small beside what residuals of this size could make it?
static bool has_settled(const poise_method_run *run, const region *r)
{
    double scale = SETTLED * residual_size(run);
    for (int i = 0; i < run->nv; ++i) {
        if (r->v[i] * fabs(run->projected[i]) > scale * sqrt(r->M[i])) {
            return false;
        }
    }
    return true;
}

// Put dofs that are close to the bound that descent points at onto it. True when that lowered the cost.
static bool put_onto_bounds(poise_method_run *run, region *r)
{
    const double *q = run->at.q;
    memcpy(r->q_trial, q, (size_t)run->nq * sizeof *r->q_trial);
    bool has_moved = false;
    for (int i = 0; i < run->nv; ++i) {
        const poise_method_bound *box = &run->bounds[i];
        if (r->inverse[i] > 0 && r->v[i] < AT_BOUND) {
            r->q_trial[box->q] = run->at.gradient[i] < 0 ? box->upper : box->lower;
            has_moved = true;
        }
    }
    if (run->has_swings) {
        run->call->keep_in_edges(run, r->q_trial);
    }
    if (!has_moved || !(run->call->evaluate(run, r->q_trial, POISE_LEVEL_HESSIAN) < run->at.cost)) {
        return false;
    }
    run->call->accept(run);
    return true;
}

// The end without convergence: at bounds, and never above the start, which moving inside may have left behind.
static poise_outcome give_up(poise_method_run *run, region *r, double start_cost, poise_outcome outcome)
{
    poise_outcome better;
    run->call->project(run);
    make_scaling(run, r);
    put_onto_bounds(run, r);
    if (run->at.cost > start_cost && run->call->evaluate(run, run->q_begin, POISE_LEVEL_HESSIAN) <= start_cost) {
        run->call->accept(run);
    }
    return run->call->is_done(run, false, &better) ? better : outcome;
}

// In units of |r|.
static double first_radius(const poise_solver_options *options)
{
    double usual = options->start == POISE_START_COLD ? RADIUS_COLD : RADIUS_WARM;
    return options->damping > 0 ? options->damping : usual;
}

static poise_outcome solve(poise_method_run *run)
{
    region *r = run->scratch;
    poise_outcome outcome;
    double start_cost = run->at.cost;
    if (run->call->is_done(run, false, &outcome)) {
        return outcome;
    }
    r->run = run;
    move_inside(run, r);
    r->radius = first_radius(run->options) * residual_size(run);
    bool fresh = true;
    for (;;) {
        if (fresh && run->call->is_done(run, false, &outcome)) {
            return outcome;
        }
        if (fresh) {
            make_scaling(run, r);
            if (has_settled(run, r) && put_onto_bounds(run, r)) {
                continue;
            }
            if (r->S) {
                make_nearest(run, r);
            }
            make_preconditioner(run, r);
        }
        double radius = r->radius, before = run->at.cost;
        bool found = find_step(run, r), accepted = found && try_step(run, r);
        fresh = accepted;
        bool more = run->call->count(run, radius, pz_largest(run->step, run->nv), accepted, true);
        if (!accepted && -r->value <= PZ_FLAT * fabs(before)) {
            return give_up(run, r, start_cost, run->call->stuck(run, false));
        }
        if (!more) {
            return give_up(run, r, start_cost, POISE_OUTCOME_BUDGET);
        }
    }
}

const poise_method_engine pz_trust_region_engine = {.name = "trust_region", .lay_out = lay_out, .run = solve};
