// Derivatives of an answer: the implicit function theorem over the factor of the tree.
//
// With H = L^T D L on the coordinates that no limit holds (packed_factor.h) a pivot d_j that vanishes belongs to a null
// vector z = L^-1 e_j, since H z = L^T D e_j = 0. With Z an orthonormal basis of these the least solution of H x = b, for
// what of b can be met, is
//
//   b <- b - Z Z^T b,   L^T D L x0 = b with x0_j = 0,   x = x0 - Z Z^T x0
//
// **Swings** at an active edge of their ellipse move along it: with its normal n and the part kappa W that the curvature of
// the edge adds (swing_limits.c) the block of the two coordinates becomes H + kappa W + sigma n n^T, sigma so large that
// little is left along n.
#include "solve/sensitivity_state.h"

#include "base/error.h"

#include <string.h>

enum { REFINEMENTS = 2 };
#define RIGID 1e8 // sigma over the block's diagonal: what is left along n, and what is rounded off beside it, are 1e-8 of H

// ---- Life ----------------------------------------------------------------------------------------------------------------

static void lay_out(poise_sensitivity *s, const poise_model *model, int coupled_goals, pz_arena *arena)
{
    size_t nv = (size_t)model->nv, joints = (size_t)model->joint_count, blocks = (size_t)model->block_count;
    pz_objective_lay_out(&s->objective, model, coupled_goals, arena);
    s->single.sums = (pz_sum *)pz_arena_take(arena, joints, sizeof(pz_sum));
    s->single.extras = (pz_extra *)pz_arena_take(arena, joints, sizeof(pz_extra));
    s->single.gradient = (double *)pz_arena_take(arena, nv, sizeof(double));
    s->single.curvature = (double *)pz_arena_take(arena, nv, sizeof(double));
    s->single.block[0] = (sym3 *)pz_arena_take(arena, blocks, sizeof(sym3));
    s->single.block[1] = (sym3 *)pz_arena_take(arena, blocks, sizeof(sym3));
    s->H = (double *)pz_arena_take(arena, nv * (nv + 1) / 2, sizeof(double));
    s->square = (double *)pz_arena_take(arena, nv, nv * sizeof(double));
    s->null = s->square; // the one is done with before the other begins
    s->diagonal = (double *)pz_arena_take(arena, nv, sizeof(double));
    s->side = (signed char *)pz_arena_take(arena, nv, sizeof(signed char));
    s->x = (double *)pz_arena_take(arena, nv, sizeof(double));
    s->y = (double *)pz_arena_take(arena, nv, sizeof(double));
    s->b = (double *)pz_arena_take(arena, nv, sizeof(double));
    s->r = (double *)pz_arena_take(arena, nv, sizeof(double));
    s->V = (spatial *)pz_arena_take(arena, joints, sizeof(spatial));
    s->U = (wrench *)pz_arena_take(arena, joints, sizeof(wrench));
}

poise_status poise_sensitivity_create(const poise_model *model, int coupled_goals, const poise_allocator *allocator,
                                      poise_sensitivity **sensitivity, poise_error *error)
{
    if (!model || coupled_goals < 0 || !sensitivity) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "model and sensitivity must not be NULL, and coupled_goals must be >= 0");
    }
    poise_sensitivity blank, *s = NULL;
    pz_owned owned;
    pz_arena arena = pz_arena_counting();
    pz_arena_take(&arena, 1, sizeof blank);
    lay_out(&blank, model, coupled_goals, &arena);
    size_t size = pz_arena_bytes(&arena);
    if (!pz_owned_take(&owned, allocator, size)) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory: the sensitivity needs %g bytes", (double)size);
    }
    arena = pz_arena_over(owned.memory, size);
    s = (poise_sensitivity *)pz_arena_take(&arena, 1, sizeof *s);
    memset(s, 0, sizeof *s);
    s->model = model;
    s->owned = owned;
    lay_out(s, model, coupled_goals, &arena);
    poise_model_neutral(model, s->objective.kin.q);
    pz_kin_sweep(&s->objective.kin, s->objective.kin.q);
    *sensitivity = s;
    return POISE_OK;
}

void poise_sensitivity_destroy(poise_sensitivity *sensitivity)
{
    if (sensitivity) {
        pz_owned_release(&sensitivity->owned);
    }
}

// ---- What limits hold ----------------------------------------------------------------------------------------------------

// A coordinate at a limit that descent would leave, or between two that are one. Where the goals are met nothing is pushed:
// what is left of the gradient is rounding.
static void find_held(poise_sensitivity *s, const double *q)
{
    const poise_model *model = s->model;
    poise_model_summary info = poise_model_info(model);
    for (int k = 0; k < model->step_count; ++k) {
        const pz_step *step = &model->steps[k];
        for (int n = 0; step->own && step->kind != PZ_QUATERNION && n < pz_step_nv(step->kind); ++n) {
            int i = step->q + n, dof = model->axes[step->axis + n].dof;
            double g = s->objective.gradient[dof];
            bool is_below = q[i] <= info.lower[i] && g > 0, is_above = q[i] >= info.upper[i] && g < 0;
            s->side[dof] = info.lower[i] >= info.upper[i] || (is_below && !s->is_met) ? -1 : is_above && !s->is_met ? 1 : 0;
        }
    }
}

// Entry (i, i + 1) of two coordinates of one joint, in the rows of the lower triangle.
static double *beside(const poise_sensitivity *s, int i)
{
    poise_packed_row row = pz_packed_row(&s->rows, i + 1);
    return s->H + row.begin + (size_t)row.count - 2;
}

static double *on_diagonal(const poise_sensitivity *s, int i)
{
    poise_packed_row row = pz_packed_row(&s->rows, i);
    return s->H + row.begin + (size_t)row.count - 1;
}

// A swing at an active edge of its ellipse: it moves along the edge alone.
static void stiffen_swing(poise_sensitivity *s, const poise_joint *given, const double *q, int v)
{
    const double *g = s->objective.gradient + v;
    double W[2], r[2];
    for (int i = 0; i < 2; ++i) {
        W[i] = 1.0 / (given->swing[i] * given->swing[i]);
        r[i] = s->side[v + i] ? 0.0 : W[i] * q[i];
    }
    double down = g[0] * r[0] + g[1] * r[1], square = r[0] * r[0] + r[1] * r[1];
    if (s->is_met || pz_swing_excess(given, q) < 1.0 - 8.0 * PZ_EPSILON || !(down < 0) || !(square > 0)) {
        return;
    }
    double kappa = -down / square;
    double sigma = RIGID * (fabs(*on_diagonal(s, v)) + fabs(*on_diagonal(s, v + 1)) + kappa * (W[0] + W[1])) / square;
    for (int i = 0; i < 2; ++i) {
        *on_diagonal(s, v + i) += kappa * W[i] + sigma * r[i] * r[i];
        s->diagonal[v + i] = *on_diagonal(s, v + i);
    }
    *beside(s, v) += sigma * r[0] * r[1];
}

// A row and column of zeros but for a 1 on the diagonal.
static void hold(poise_sensitivity *s, int dof)
{
    for (int i = dof; i < s->rows.nv; ++i) {
        poise_packed_row row = pz_packed_row(&s->rows, i);
        int above = i;
        for (int a = row.count - 1; a >= 0; --a) {
            if (i == dof || above == dof) {
                s->H[row.begin + (size_t)a] = above == dof && i == dof ? 1.0 : 0.0;
            }
            above = pz_packed_row(&s->rows, above).parent;
        }
    }
    s->diagonal[dof] = 1.0;
}

static void apply_limits(poise_sensitivity *s, const double *q)
{
    find_held(s, q);
    for (int k = 0; k < s->model->joint_count; ++k) {
        const poise_joint *given = &s->model->given[k];
        if (given->type == POISE_JOINT_SWING_TWIST && is_finite(given->swing[0])) {
            stiffen_swing(s, given, q + s->model->joints[k].q_begin, s->model->joints[k].v_begin);
        }
    }
    for (int i = 0; i < s->rows.nv; ++i) {
        if (s->side[i]) {
            hold(s, i);
        }
    }
}

// ---- The factor and its null space ---------------------------------------------------------------------------------------

static double dot(const double *a, const double *b, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; ++i) {
        sum += a[i] * b[i];
    }
    return sum;
}

static void project_out(const poise_sensitivity *s, int count, double *x)
{
    int nv = s->rows.nv;
    for (int k = 0; k < count; ++k) {
        const double *z = s->null + (size_t)k * (size_t)nv;
        double part = dot(z, x, nv);
        for (int i = 0; i < nv; ++i) {
            x[i] -= part * z[i];
        }
    }
}

// An orthonormal basis of the null space: Gram and Schmidt, twice.
static void find_null(poise_sensitivity *s)
{
    int nv = s->rows.nv;
    double largest = 0.0;
    for (int i = 0; i < nv; ++i) {
        largest = max2(largest, s->diagonal[i]);
    }
    s->null_count = 0;
    for (int j = 0; j < nv; ++j) {
        if (pz_pivot(&s->rows, s->H, j) > 0 || !(s->diagonal[j] > 1e-18 * largest)) {
            continue; // determined, or seen by no goal at all
        }
        double *z = s->null + (size_t)s->null_count * (size_t)nv;
        memset(z, 0, (size_t)nv * sizeof *z);
        z[j] = 1.0;
        pz_packed_solve_down(&s->rows, s->H, z);
        project_out(s, s->null_count, z);
        project_out(s, s->null_count, z);
        double length = sqrt(dot(z, z, nv));
        for (int i = 0; i < nv; ++i) {
            z[i] /= length;
        }
        ++s->null_count;
    }
}

// The same once, by the factor as it is.
static void solve_once(const poise_sensitivity *s, double *x)
{
    for (int i = 0; i < s->rows.nv; ++i) {
        x[i] = s->side[i] ? 0.0 : x[i];
    }
    project_out(s, s->null_count, x);
    pz_packed_solve_up(&s->rows, s->H, x);
    for (int i = 0; i < s->rows.nv; ++i) {
        double d = pz_pivot(&s->rows, s->H, i);
        x[i] = d > 0 ? x[i] / d : 0.0;
    }
    pz_packed_solve_down(&s->rows, s->H, x);
    project_out(s, s->null_count, x);
}

// r = b - H x on the coordinates that can move.
static void find_rest(poise_sensitivity *s, const double *b, const double *x, double *r)
{
    poise_objective_multiply(&s->objective, s->is_met ? POISE_HESSIAN_GAUSS_NEWTON : POISE_HESSIAN_EXACT, x, r, NULL);
    for (int i = 0; i < s->rows.nv; ++i) {
        r[i] = s->side[i] ? 0.0 : b[i] - r[i];
    }
}

// x = the least solution of H x = b, in place; held coordinates and those that no goal sees are 0. With joints to spare
// small pivots come before the one that vanishes, and what they lost of the answer is found again from what is left of b.
static void solve(poise_sensitivity *s, double *x)
{
    size_t bytes = (size_t)s->rows.nv * sizeof *x;
    int again = s->is_met && s->null_count > 0 ? REFINEMENTS : 0;
    memcpy(s->b, x, bytes);
    project_out(s, s->null_count, s->b);
    solve_once(s, x);
    for (int n = 0; n < again; ++n) {
        find_rest(s, s->b, x, s->r);
        solve_once(s, s->r);
        for (int i = 0; i < s->rows.nv; ++i) {
            x[i] += s->r[i];
        }
    }
    project_out(s, s->null_count, x);
}

// H z = 0, once more: what is left of it tells how far z is off.
static void refine_null(poise_sensitivity *s)
{
    int nv = s->rows.nv;
    memset(s->b, 0, (size_t)nv * sizeof *s->b);
    for (int k = 0; s->is_met && k < REFINEMENTS * s->null_count; ++k) {
        double *z = s->null + (size_t)(k % s->null_count) * (size_t)nv;
        find_rest(s, s->b, z, s->r);
        solve_once(s, s->r);
        for (int i = 0; i < nv; ++i) {
            z[i] += s->r[i];
        }
        double length = sqrt(dot(z, z, nv));
        for (int i = 0; i < nv; ++i) {
            z[i] /= length;
        }
    }
}

// H at the answer. Goals that are met, all of them, have no second-order terms: what rounding leaves of these would decide
// whether a direction that no goal sees is a valley or a ridge. Met is f <= (PZ_MET L)^2/2 with L^2 the largest entry of the
// diagonal: an error of PZ_MET beside the longest lever.
static poise_status fill(poise_sensitivity *s, poise_error *error)
{
    poise_status status = pz_packed_fill(&s->rows, &s->objective, POISE_HESSIAN_EXACT, s->H, s->square, s->diagonal, error);
    double largest = 0.0;
    for (int i = 0; i < s->rows.nv && status == POISE_OK; ++i) {
        largest = max2(largest, s->diagonal[i]);
    }
    s->is_met = status == POISE_OK && poise_objective_value(&s->objective).cost <= 0.5 * PZ_MET * PZ_MET * largest;
    if (!s->is_met) {
        return status;
    }
    return pz_packed_fill(&s->rows, &s->objective, POISE_HESSIAN_GAUSS_NEWTON, s->H, s->square, s->diagonal, error);
}

poise_status poise_sensitivity_update(poise_sensitivity *sensitivity, const poise_goal *goals, int count, const double *q,
                                      bool use_limits, poise_error *error)
{
    if (!sensitivity) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "sensitivity must not be NULL");
    }
    poise_sensitivity *s = sensitivity;
    s->is_ready = false;
    poise_status status = poise_objective_set_goals(&s->objective, goals, count, error);
    if (status == POISE_OK) {
        status = poise_objective_evaluate(&s->objective, q, POISE_LEVEL_HESSIAN, error);
    }
    s->rows = pz_packed_of(&s->objective);
    if (status == POISE_OK) {
        status = fill(s, error);
    }
    if (status != POISE_OK) {
        return status;
    }
    memset(s->side, 0, (size_t)s->rows.nv * sizeof *s->side);
    if (use_limits) {
        apply_limits(s, q);
    }
    if (!pz_packed_factor(&s->rows, !s->is_met, PZ_OPEN_ZERO, s->H, s->diagonal)) {
        return pz_error_set(error, POISE_ERROR_NUMERIC,
                            "q is no minimum of these goals: the cost falls along a direction of negative curvature");
    }
    find_null(s);
    refine_null(s);
    s->is_ready = true;
    return POISE_OK;
}

// ---- Both ways -----------------------------------------------------------------------------------------------------------

// The motions of all bodies along the step x. Axes lie in the order of their joints, parents first.
static void move_bodies(poise_sensitivity *s, const double *x)
{
    const poise_model *model = s->model;
    int i = 0;
    for (int k = 0; k < model->joint_count; ++k) {
        int parent = model->joints[k].parent;
        spatial V = parent == POISE_WORLD ? (spatial){{0, 0, 0}, {0, 0, 0}} : s->V[parent];
        for (; i < model->axis_count && model->axes[i].joint == k; ++i) {
            V = spatial_mad(V, model->axes[i].factor * x[model->axes[i].dof], s->objective.kin.S[i]);
        }
        s->V[k] = V;
    }
}

// Wrenches on bodies as forces on coordinates: sums up the tree, then along the axes.
static void gather(poise_sensitivity *s, double *dofs)
{
    const poise_model *model = s->model;
    for (int k = model->joint_count - 1; k >= 0; --k) {
        int parent = model->joints[k].parent;
        if (parent != POISE_WORLD) {
            s->U[parent] = wrench_add(s->U[parent], s->U[k]);
        }
    }
    for (int i = 0; i < model->axis_count; ++i) {
        const pz_axis *axis = &model->axes[i];
        dofs[axis->dof] += axis->factor * spatial_dot(s->objective.kin.S[i], s->U[axis->joint]);
    }
}

static poise_status check(const poise_sensitivity *s, const void *changes, const double *numbers, poise_error *error)
{
    if (!s || !s->is_ready) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "call poise_sensitivity_update first, and let it succeed");
    }
    if (!numbers || (s->objective.goal_count > 0 && !changes)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "an array for every goal and nv numbers are wanted, not NULL");
    }
    return POISE_OK;
}

poise_status poise_sensitivity_forward(poise_sensitivity *sensitivity, const poise_goal_change *changes, double *dq,
                                       poise_error *error)
{
    poise_status status = check(sensitivity, changes, dq, error);
    if (status != POISE_OK) {
        return status;
    }
    poise_sensitivity *s = sensitivity;
    memset(s->U, 0, (size_t)s->model->joint_count * sizeof *s->U);
    memset(s->x, 0, (size_t)s->rows.nv * sizeof *s->x);
    for (int i = 0; i < s->objective.goal_count; ++i) {
        pz_goal_forward(s, &s->objective.goals[i], &changes[i], s->x);
    }
    gather(s, s->x);
    solve(s, s->x);
    for (int i = 0; i < s->rows.nv; ++i) {
        dq[i] = -s->x[i];
    }
    return POISE_OK;
}

poise_status poise_sensitivity_backward(poise_sensitivity *sensitivity, const double *dL_dq, poise_goal_change *gradients,
                                        double *lower, double *upper, poise_error *error)
{
    poise_status status = check(sensitivity, gradients, dL_dq, error);
    poise_sensitivity *s = sensitivity;
    if (status == POISE_OK && !all_finite(dL_dq, (size_t)s->rows.nv)) {
        status = pz_error_set(error, POISE_ERROR_ARGUMENT, "dL_dq must hold %d finite numbers", s->rows.nv);
    }
    if (status != POISE_OK) {
        return status;
    }
    memcpy(s->x, dL_dq, (size_t)s->rows.nv * sizeof *s->x);
    solve(s, s->x);
    move_bodies(s, s->x);
    for (int i = 0; i < s->objective.goal_count; ++i) {
        pz_goal_backward(s, &s->objective.goals[i], &gradients[i]);
    }
    if (lower || upper) {
        status = poise_objective_multiply(&s->objective, POISE_HESSIAN_EXACT, s->x, s->y, error);
        for (int i = 0; i < s->rows.nv; ++i) {
            double moved = dL_dq[i] - s->y[i];
            if (lower) {
                lower[i] = s->side[i] < 0 ? moved : 0.0;
            }
            if (upper) {
                upper[i] = s->side[i] > 0 ? moved : 0.0;
            }
        }
    }
    return status;
}
