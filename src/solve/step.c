// What methods share: evaluating, stepping within limits, stopping, counting.
#include "solve/auto.h"
#include "solve/step_kernel.h"

double pz_try(poise_solver *solver, const double *q, poise_level level)
{
    solver->answer->report.evaluations += 1;
    if (pz_objective_evaluate(solver->trial, q, level) != POISE_OK) {
        return INFINITY;
    }
    return solver->trial->cost;
}

void pz_accept(poise_solver *solver)
{
    poise_objective *was = solver->at;
    solver->at = solver->trial;
    solver->trial = was;
    solver->diagonal_is_fresh = false;
}

void pz_refresh_diagonal(poise_solver *solver)
{
    if (!solver->diagonal_is_fresh) {
        pz_objective_diagonal(solver->at, POISE_HESSIAN_GAUSS_NEWTON, solver->diagonal);
        solver->diagonal_is_fresh = true;
    }
}

// ---- Limits --------------------------------------------------------------------------------------------------------------

void pz_step_within(const poise_solver *solver, const double *q, const double *step, double *q_out)
{
    pz_kin_retract(solver->model, q, step, q_out);
    if (solver->has_bounds) {
        keep_in_boxes(solver->model, solver->box, q, step, q_out);
    }
    if (solver->has_swings) {
        pz_keep_in_swings(solver, q_out);
    }
}

bool pz_is_at_bound(const poise_solver *solver, int dof)
{
    const pz_box *box = &solver->box[dof];
    return box->q >= 0 && box_holds(box, solver->at->kin.q[box->q], solver->at->gradient[dof]);
}

bool pz_is_held(const poise_solver *solver, int dof)
{
    return solver->box[dof].locked ||
           (pz_is_at_bound(solver, dof) && !(solver->has_swings && pz_edge_leads_inwards(solver, dof)));
}

double pz_project_gradient(poise_solver *solver)
{
    for (int i = 0; i < solver->model->nv; ++i) {
        solver->gradient[i] = solver->has_bounds && pz_is_held(solver, i) ? 0.0 : solver->at->gradient[i];
    }
    pz_project_on_swings(solver, solver->gradient);
    return pz_largest(solver->gradient, solver->model->nv);
}

// ---- Stopping ------------------------------------------------------------------------------------------------------------

// A part of a goal without weight asks for nothing.
bool pz_goal_is_met(const poise_solver *solver, const poise_goal *goal)
{
    if (pz_is_marker(goal)) {
        return pz_marker_error(&solver->at->kin, goal) <= solver->options.position_tolerance;
    }
    poise_goal_error e = pz_counted_error(goal, pz_goal_row_of(goal->kind)->error(&solver->at->kin, goal));
    double tolerance = e.unit == POISE_UNIT_ANGLE ? solver->options.rotation_tolerance : solver->options.position_tolerance;
    return e.error <= tolerance && e.rotation_error <= solver->options.rotation_tolerance;
}

// Goals near their tolerance have a cost near w tol^2/2; only then is it worth asking each one.
static bool goals_are_met(const poise_solver *solver)
{
    for (int i = 0; i < solver->problem->goal_count; ++i) {
        if (!pz_goal_is_met(solver, &solver->problem->goals[i])) {
            return false;
        }
    }
    return true;
}

// |projected gradient_i| <= tolerance sqrt(2 f) sqrt(G_ii): by Cauchy-Schwarz the left side is at most sqrt(2 f)
// sqrt(G_ii), so the ratio is the cosine between the residuals and what dof i can do about them. The gradient is divided
// before it is squared: with weights of 1e160 its own square is beyond all numbers. `least` is added to the diagonal.
static bool is_stationary(const poise_solver *solver, double tolerance, double least)
{
    const poise_objective *o = solver->at;
    if (o->cost < 0) {
        return false; // there is no scale to measure by
    }
    double inverse = 1.0 / (tolerance * sqrt(2.0 * o->cost));
    for (int i = 0; i < solver->model->nv; ++i) {
        double g = solver->gradient[i] * inverse;
        if (g * g > solver->diagonal[i] + least) {
            return false;
        }
    }
    return true;
}

// Does rounding alone change the cost by more than a share of it? It moves coordinate i by eps |q_i| and a body by eps |p|,
// residuals by at most sqrt(G_ii) and sqrt(max G) times that, and the cost f by sqrt(2 f) times as much. Asked only where a
// number of q is large: rounding at the scale of a body hides nothing.
#define ROUNDING_SHARE 1e-9

static bool is_noise(const poise_solver *solver)
{
    const poise_kinematics *kin = &solver->at->kin;
    if (pz_largest(kin->q, solver->model->nq) <= PZ_LARGE) {
        return false;
    }
    double place = 0.0;
    for (int k = 0; k < solver->model->joint_count; ++k) {
        place = max2(place, v3_norm(v3_add(kin->origin, kin->p[k])));
    }
    double most = place * sqrt(pz_largest(solver->diagonal, solver->model->nv));
    for (int i = 0; i < solver->model->nv; ++i) {
        int q = solver->box[i].q;
        most = max2(most, q < 0 ? 0.0 : fabs(kin->q[q]) * sqrt(solver->diagonal[i]));
    }
    return PZ_EPSILON * most * sqrt(2.0) > ROUNDING_SHARE * sqrt(solver->at->cost);
}

// The diagonal of a point before is good enough to continue, but not to stop.
static bool is_closest(poise_solver *solver)
{
    double tolerance = solver->options.gradient_tolerance;
    if (!is_stationary(solver, tolerance, 0.0)) {
        return false;
    }
    pz_refresh_diagonal(solver);
    return is_stationary(solver, tolerance, 0.0);
}

// With this tolerance no dof can gain more than 100 PZ_FLAT of the cost, g_i^2/(2 G_ii) by Gauss-Newton.
#define STUCK_TOLERANCE (10.0 * sqrt(PZ_FLAT))

// A cost that no longer falls proves less: a scaling that the way left behind may hold steps back where a slope is. Dofs
// that move no goal have gradients of rounding.
#define FLAT_TOLERANCE 1e-2
#define FLAT_LEAST     1e-12 // of the largest of the diagonal, whose zeros are rounding as well

// Of the diagonal, but for dofs that are held, which tell nothing of the others.
static double largest_free(const poise_solver *solver)
{
    double largest = 0.0;
    for (int i = 0; i < solver->model->nv; ++i) {
        bool is_held = solver->has_bounds && pz_is_held(solver, i);
        largest = is_held ? largest : max2(largest, solver->diagonal[i]);
    }
    return largest;
}

// The closest, where it is proved.
static pz_end end_where(const poise_solver *solver, bool is_proved)
{
    return is_proved ? pz_closest(solver->problem->goals, solver->problem->goal_count) : pz_stalled;
}

pz_end pz_stuck(poise_solver *solver, bool is_flat)
{
    pz_refresh_diagonal(solver);
    double gradient = pz_project_gradient(solver), size = pz_largest(solver->at->kin.q, solver->model->nq);
    bool is_resolved = pz_is_resolved(gradient, size, solver->at->cost);
    double least = is_flat ? FLAT_LEAST * largest_free(solver) : 0.0;
    return end_where(solver, is_resolved && !is_noise(solver) &&
                                 is_stationary(solver, is_flat ? FLAT_TOLERANCE : STUCK_TOLERANCE, least));
}

bool pz_is_done(poise_solver *solver, pz_end *end)
{
    solver->answer->report.gradient = pz_project_gradient(solver);
    if (pz_cost_is_met(solver) || goals_are_met(solver)) {
        *end = pz_reached;
        return true;
    }
    if (is_closest(solver)) {
        *end = end_where(solver, !is_noise(solver));
        return true;
    }
    return false;
}

bool pz_is_done_afresh(poise_solver *solver, pz_end *end)
{
    pz_refresh_diagonal(solver);
    return pz_is_done(solver, end);
}

// ---- Counting ------------------------------------------------------------------------------------------------------------

void pz_trace(poise_solver *solver, poise_trace record)
{
    if (pz_is_traced(solver)) {
        record.cost = pz_finite(record.cost);
        record.gradient = pz_finite(record.gradient);
        record.damping = pz_finite(record.damping);
        record.step = pz_finite(record.step);
        solver->options.trace[solver->answer->report.traced++] = record;
    }
}

bool pz_count_iteration(poise_solver *solver, double damping, double step, bool accepted, bool exact)
{
    poise_report *report = &solver->answer->report;
    pz_trace(solver, (poise_trace){.cost = solver->at->cost,
                                   .gradient = report->gradient,
                                   .damping = damping,
                                   .step = step,
                                   .accepted = accepted,
                                   .exact = exact});
    report->iterations += 1;
    solver->iterations_left -= 1;
    return solver->iterations_left > 0;
}

// ---- Edges of swing ellipses ---------------------------------------------------------------------------------------------
//
// Swings at the edge of their ellipse, for every method that works on free coordinates.
//
// A swing (a, b) keeps to (a/A)^2 + (b/B)^2 <= 1, with W = diag(1/A^2, 1/B^2): x . W x <= 1. At the edge r = W x is the
// outward normal. The edge is *active* when descent points out of it, g . r < 0. There a step t along the edge is
// followed by the way back to it along the ray to the centre (pz_model_clamp_swings), x + t -> (x + t)/sqrt(1 + t . W
// t), which to second order adds -x (t . W t)/2. So along the edge the cost has the Hessian
//
//   P (H + kappa W) P,     kappa = -g . x = -(g . r)/|r|^2 > 0 where g is normal, as it is at a minimum
//
// with P = I - r r^T/|r|^2: the Hessian of the Lagrangian (Nocedal & Wright 2006, section 12.5).
//
// **Corners.** A swing may stand at the edge and at a bound of one coordinate i at once, both of which -g leaves; j is the
// other one. There -g = a e + b r, e the outward normal of the bound, which points as r_i does since bounds include 0:
//
//   b = -g_j/r_j,     a = |g_i| - b |r_i|
//
// With a, b >= 0 no direction within both improves the cost: i is held, and with it left out the normal is along j. With
// a < 0 descent along the edge leads i inwards: the bound does not count. With b < 0 the edge does not.

#define ROUNDS 16 // of shrinking by another rounding

typedef struct edge {
    int v;            // first dof
    double x[2];      // the swing
    double W[2];      // 1/A^2, 1/B^2
    double normal[2]; // r/|r|
    double kappa;
} edge;

// Does the joint have a swing with limits?
static bool has_ellipse(const poise_solver *solver, int joint)
{
    const poise_joint *given = &solver->model->given[joint];
    return solver->options.use_limits && given->type == POISE_JOINT_SWING_TWIST && is_finite(given->swing[0]);
}

// a < 0, b > 0 above, without divisions. A bound at 0 has r_i = 0 and so always counts.
bool pz_edge_leads_inwards(const poise_solver *solver, int dof)
{
    int joint = solver->model->axes[solver->model->dof_axis[dof]].joint, v = solver->model->joints[joint].v_begin;
    if (!has_ellipse(solver, joint) || dof > v + 1) {
        return false;
    }
    const poise_joint *given = &solver->model->given[joint];
    const double *q = solver->at->kin.q + solver->model->joints[joint].q_begin, *g = solver->at->gradient + v;
    int i = dof - v, j = 1 - i;
    double r[2] = {q[0] / (given->swing[0] * given->swing[0]), q[1] / (given->swing[1] * given->swing[1])};
    bool is_free = !solver->box[v + j].locked && !pz_is_at_bound(solver, v + j);
    bool is_at_edge = pz_swing_excess(given, q) >= 1.0 - 8.0 * PZ_EPSILON;
    return is_free && is_at_edge && g[j] * r[j] < 0 && fabs(g[i] * r[j]) < fabs(g[j] * r[i]);
}

// The swing of a joint that has an ellipse. True when it stands at an active edge. A held dof has no part in the normal.
static bool find_edge(const poise_solver *solver, int joint, edge *e)
{
    const poise_joint *given = &solver->model->given[joint];
    e->v = solver->model->joints[joint].v_begin;
    const double *q = solver->at->kin.q + solver->model->joints[joint].q_begin, *g = solver->at->gradient + e->v;
    double r[2];
    for (int i = 0; i < 2; ++i) {
        e->x[i] = q[i];
        e->W[i] = 1.0 / (given->swing[i] * given->swing[i]);
        r[i] = pz_is_held(solver, e->v + i) ? 0.0 : e->W[i] * q[i];
    }
    double along = g[0] * r[0] + g[1] * r[1], length = sqrt(r[0] * r[0] + r[1] * r[1]);
    if (pz_swing_excess(given, q) < 1.0 - 8.0 * PZ_EPSILON || !(along < 0) || !(length > 0)) {
        return false;
    }
    e->normal[0] = r[0] / length;
    e->normal[1] = r[1] / length;
    e->kappa = -along / (length * length);
    return true;
}

int pz_project_on_swings(const poise_solver *solver, double *x)
{
    int count = 0;
    edge e;
    for (int k = 0; solver->has_swings && k < solver->model->joint_count; ++k) {
        if (has_ellipse(solver, k) && find_edge(solver, k, &e)) {
            double along = x[e.v] * e.normal[0] + x[e.v + 1] * e.normal[1];
            x[e.v] -= along * e.normal[0];
            x[e.v + 1] -= along * e.normal[1];
            count += 1;
        }
    }
    return count;
}

// Which dof of a swing gives way alone, so that the other one stays: where that one is locked, or at a bound within the
// ellipse, so that the corner of both can be reached. 2: both do. -1: neither can.
static int gives_way(const poise_solver *solver, const edge *e, const double *x)
{
    const pz_box *box = &solver->box[e->v];
    if (box[0].locked || box[1].locked) {
        return !box[1].locked ? 1 : !box[0].locked ? 0 : -1;
    }
    bool at_bound[2];
    for (int i = 0; i < 2; ++i) {
        at_bound[i] = (x[i] <= box[i].lower || x[i] >= box[i].upper) && x[i] * x[i] * e->W[i] < 1.0;
    }
    return at_bound[0] == at_bound[1] ? 2 : at_bound[0] ? 1 : 0;
}

// Into the ellipse: along the ray to the centre, or by the one dof that gives way, |b| <= B sqrt(1 - (a/A)^2). Rounding may
// leave that a hair outside, so shrink on until it is inside.
static void clamp_swing(int way, const edge *e, double *x)
{
    double excess = x[0] * x[0] * e->W[0] + x[1] * x[1] * e->W[1];
    if (!(excess > 1.0) || way < 0) {
        return;
    }
    if (way == 2) {
        double size = sqrt(excess);
        x[0] /= size;
        x[1] /= size;
        return;
    }
    double rest = max2(1.0 - x[1 - way] * x[1 - way] * e->W[1 - way], 0.0), most = sqrt(rest / e->W[way]);
    x[way] = clamp(x[way], -most, most);
}

// The block of a swing holds its two dofs in xx, xy, yy. P W P = (t . W t) t t^T, t = (-n_1, n_0).
int pz_stiffen_edges(poise_solver *solver, double spring)
{
    const poise_model *model = solver->model;
    int count = 0;
    edge e;
    for (int k = 0; solver->has_swings && k < model->joint_count; ++k) {
        if (!has_ellipse(solver, k) || !find_edge(solver, k, &e)) {
            continue;
        }
        double n0 = e.normal[0], n1 = e.normal[1];
        double curvature = e.kappa * (e.W[0] * n1 * n1 + e.W[1] * n0 * n0);
        double xx = curvature * n1 * n1 + spring * n0 * n0, yy = curvature * n0 * n0 + spring * n1 * n1;
        double xy = (spring - curvature) * n0 * n1;
        int block = model->steps[model->joints[k].step_begin].block;
        pz_add_block_curvature(solver->at);
        for (int kind = 0; kind < 2; ++kind) {
            sym3 *H = &solver->at->block[kind][block];
            *H = sym3_add(*H, (sym3){.xx = xx, .xy = xy, .yy = yy});
        }
        count += 1;
    }
    return count;
}

// The largest beta with (y + beta s) . W (y + beta s) <= 1: with a = s . W s, b = y . W s, c = 1 - y . W y >= 0,
// beta = c/(b + sqrt(b^2 + a c)), or (sqrt(b^2 + a c) - b)/a where b < 0 would cancel.
static double room_of_swing(const edge *e, const double *base, const double *step)
{
    double y[2] = {e->x[0] + (base ? base[e->v] : 0.0), e->x[1] + (base ? base[e->v + 1] : 0.0)};
    const double *s = step + e->v;
    double a = s[0] * s[0] * e->W[0] + s[1] * s[1] * e->W[1];
    double b = y[0] * s[0] * e->W[0] + y[1] * s[1] * e->W[1];
    double c = max2(1.0 - (y[0] * y[0] * e->W[0] + y[1] * y[1] * e->W[1]), 0.0);
    double root = sqrt(b * b + a * c);
    if (!(root > 0)) {
        return a > 0 ? 0.0 : INFINITY;
    }
    return b > 0 ? c / (b + root) : (root - b) / a;
}

double pz_room_of_swings(const poise_solver *solver, const double *base, const double *step)
{
    double most = INFINITY;
    edge e;
    for (int k = 0; solver->has_swings && k < solver->model->joint_count; ++k) {
        if (has_ellipse(solver, k) && !find_edge(solver, k, &e)) {
            most = min2(most, room_of_swing(&e, base, step));
        }
    }
    return most;
}

int pz_clip_to_swings(const poise_solver *solver, double *step)
{
    int count = 0;
    edge e;
    for (int k = 0; solver->has_swings && k < solver->model->joint_count; ++k) {
        if (!has_ellipse(solver, k) || find_edge(solver, k, &e)) {
            continue;
        }
        double y[2] = {e.x[0] + step[e.v], e.x[1] + step[e.v + 1]};
        double excess = y[0] * y[0] * e.W[0] + y[1] * y[1] * e.W[1];
        if (excess > 1.0 && is_finite(excess)) {
            clamp_swing(gives_way(solver, &e, y), &e, y);
            step[e.v] = y[0] - e.x[0];
            step[e.v + 1] = y[1] - e.x[1];
            count += 1;
        }
    }
    return count;
}

void pz_keep_in_swings(const poise_solver *solver, double *q)
{
    edge e;
    for (int k = 0; k < solver->model->joint_count; ++k) {
        if (!has_ellipse(solver, k)) {
            continue;
        }
        const poise_joint *given = &solver->model->given[k];
        double *x = q + solver->model->joints[k].q_begin;
        find_edge(solver, k, &e);
        int way = gives_way(solver, &e, x);
        for (int round = 0; (way == 0 || way == 1) && pz_swing_excess(given, x) > 1.0 && round < ROUNDS; ++round) {
            clamp_swing(way, &e, x);
            x[way] *= 1.0 - round * PZ_EPSILON;
        }
    }
    pz_model_clamp_swings(solver->model, q); // the others
}
