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
#include "solve/solver_state.h"

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
        pz_bend_blocks(solver->at);
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
