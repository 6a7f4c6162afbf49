// The least change of a configuration that meets goals:
//
//   min over d  1/2 d^T W d + 1/(2 mu) |r(original (+) d)|^2     lower <= d <= upper
//
// r being the residuals of the goals. About the current d, with r + J (z - d) for the residuals after a step to z, free
// components F and components B at a limit,
//
//   (mu I + J_F W_F^-1 J_F^T) y = J d - r - J_B z_B,     z_F = W_F^-1 J_F^T y
//
// a system of as many equations as there are residuals, however many joints there are. At its fixed point d = W^-1 J^T y: no
// change that leaves the goals alone is smaller. mu falls with |r|^2, so that goals in reach hold to rounding; goals out of
// reach are left to another method.
#include "motion/edit/least_change.h"

#include "num/dense.h"

#include <poise/kinematics.h>
#include <string.h>

#define MU_LEAST    1e-11
#define MU_SHARE    1e-2  // of |r|^2
#define FARTHEST    0.4   // of a component in one step
#define STILL       1e-10 // a step this short ends it
#define LOOSE       1e-6  // a step after which the goals are met still
#define REACHED     1e-14 // of squared residuals: rounding may raise them from here
#define SHARE_LEAST 0.1   // of a step
#define SHARE_MOST  2.0
#define ITERATIONS  60
#define PASSES      12   // of finding which limits are reached
#define LOOK        8    // iterations after which
#define FALLEN      0.8  // of the squared residuals may be left at most, as long as they are more than
#define FAR         1e-6 // in units of the skeleton: otherwise the goals are out of reach

int pz_goal_rows_most(const poise_model *model, poise_goal_kind kind)
{
    bool is_posture = kind == POISE_GOAL_POSTURE || kind == POISE_GOAL_SMOOTHNESS;
    return is_posture ? model->nv : PZ_ROWS_PER_GOAL;
}

void pz_least_change_lay_out(pz_least_change *s, pz_arena *arena)
{
    size_t nv = (size_t)s->model->nv, rows = (size_t)s->row_room;
    s->lower = pz_arena_take(arena, nv, sizeof(double));
    s->upper = pz_arena_take(arena, nv, sizeof(double));
    s->coordinate = pz_arena_take(arena, nv, sizeof *s->coordinate);
    s->r = pz_arena_take(arena, rows, sizeof(double));
    s->J = pz_arena_take(arena, rows * nv, sizeof(double));
    s->y = pz_arena_take(arena, rows, sizeof(double));
    s->A = pz_arena_take(arena, rows * rows, sizeof(double));
    s->change = pz_arena_take(arena, nv, sizeof(double));
    s->next = pz_arena_take(arena, nv, sizeof(double));
    s->over = pz_arena_take(arena, nv, sizeof(double));
    s->bound = pz_arena_take(arena, nv, sizeof *s->bound);
    s->step = pz_arena_take(arena, nv, sizeof(double));
    s->trial = pz_arena_take(arena, (size_t)s->model->nq, sizeof(double));
}

void pz_least_change_begin(pz_least_change *s)
{
    const poise_model *m = s->model;
    for (int k = 0; k < m->step_count; ++k) {
        const pz_step *step = &m->steps[k];
        for (int i = 0; step->own && i < pz_step_nv(step->kind); ++i) {
            s->coordinate[m->axes[step->axis + i].dof] = step->kind == PZ_QUATERNION ? -1 : step->q + i;
        }
    }
}

// ---- One step ------------------------------------------------------------------------------------------------------------

// Residuals and their derivatives where s->kin is; |r|^2.
static double read_rows(pz_least_change *s, const poise_goal *goals, int count)
{
    double sum = 0.0;
    s->rows = 0;
    for (int i = 0; i < count; ++i) {
        s->rows += pz_goal_row_of(goals[i].kind)
                       ->rows(s->kin, &goals[i], s->r + s->rows, s->J + (size_t)s->rows * (size_t)s->model->nv);
    }
    for (int i = 0; i < s->rows; ++i) {
        sum += s->r[i] * s->r[i];
    }
    return sum;
}

static const double *row_of(const pz_least_change *s, int row)
{
    return s->J + (size_t)row * (size_t)s->model->nv;
}

// z_F for the components that are free now.
static bool solve_free(pz_least_change *s, double mu)
{
    int nv = s->model->nv, rows = s->rows;
    for (int a = 0; a < rows; ++a) {
        const double *Ja = row_of(s, a);
        s->y[a] = -s->r[a];
        for (int i = 0; i < nv; ++i) {
            s->y[a] += Ja[i] * (s->bound[i] == 0 ? s->change[i] : s->change[i] - s->next[i]);
        }
        for (int i = 0; i < nv; ++i) {
            s->over[i] = s->bound[i] == 0 ? Ja[i] / s->weight[i] : 0.0;
        }
        for (int b = 0; b <= a; ++b) {
            s->A[a * rows + b] = s->A[b * rows + a] = dense_dot(nv, s->over, row_of(s, b)) + (a == b ? mu : 0.0);
        }
    }
    if (!pz_cholesky(rows, s->A)) {
        return false;
    }
    pz_cholesky_solve(rows, s->A, s->y);
    for (int i = 0; i < nv; ++i) {
        double pull = 0.0;
        for (int a = 0; a < rows && s->bound[i] == 0; ++a) {
            pull += row_of(s, a)[i] * s->y[a];
        }
        s->next[i] = s->bound[i] == 0 ? pull / s->weight[i] : s->next[i];
    }
    return true;
}

// Hold components that go beyond a limit at it; how many there are.
static int hold(pz_least_change *s)
{
    int count = 0;
    for (int i = 0; i < s->model->nv; ++i) {
        if (s->bound[i] == 0 && (s->next[i] < s->lower[i] || s->next[i] > s->upper[i])) {
            s->bound[i] = s->next[i] < s->lower[i] ? -1 : 1;
            s->next[i] = s->bound[i] < 0 ? s->lower[i] : s->upper[i];
            count += 1;
        }
    }
    return count;
}

// Release the component at a limit whose pull W z - J^T y is strongest away from it; false: none is.
static bool release(pz_least_change *s)
{
    int most = -1;
    double strongest = 1e-12;
    for (int i = 0; i < s->model->nv; ++i) {
        if (s->bound[i] == -1 || s->bound[i] == 1) {
            double pull = s->weight[i] * s->next[i];
            for (int a = 0; a < s->rows; ++a) {
                pull -= row_of(s, a)[i] * s->y[a];
            }
            if (s->bound[i] * pull > strongest) {
                strongest = s->bound[i] * pull;
                most = i;
            }
        }
    }
    if (most >= 0) {
        s->bound[most] = 0;
    }
    return most >= 0;
}

// s->next, the change after a step in full. False: the numbers do not allow it.
static bool find_step(pz_least_change *s, double mu)
{
    for (int i = 0; i < s->model->nv; ++i) {
        s->bound[i] = s->locked && s->locked[i] ? 2 : s->bound[i] == 2 ? 0 : s->bound[i];
        s->next[i] = s->bound[i] == 2 ? s->change[i] : s->bound[i] == 0 ? 0.0 : s->bound[i] < 0 ? s->lower[i] : s->upper[i];
    }
    for (int pass = 0; pass < PASSES; ++pass) {
        if (!solve_free(s, mu)) {
            return false;
        }
        if (hold(s) == 0 && !release(s)) {
            return true;
        }
    }
    return solve_free(s, mu) && hold(s) >= 0;
}

// ---- The solve -----------------------------------------------------------------------------------------------------------

// The interval of every component of the change.
static void set_bounds(pz_least_change *s, const poise_model *limited, const double *original)
{
    for (int i = 0; i < s->model->nv; ++i) {
        int c = s->coordinate[i];
        s->lower[i] = c < 0 ? -INFINITY : limited->lower[c] - original[c];
        s->upper[i] = c < 0 ? INFINITY : limited->upper[c] - original[c];
        s->bound[i] = 0;
    }
}

// q after `share` of the step from s->change to s->next.
static poise_status go(pz_least_change *s, const poise_model *limited, double share, const double *q, double *to,
                       poise_error *error)
{
    for (int i = 0; i < s->model->nv; ++i) {
        s->next[i] = share * (s->next[i] - s->change[i]);
    }
    poise_status status = poise_retract(s->model, q, s->next, to, error);
    if (status == POISE_OK && !poise_model_within_limits(limited, to)) {
        status = poise_model_clamp(limited, to, NULL, error);
    }
    return status;
}

static double longest(const pz_least_change *s)
{
    double most = 0.0;
    for (int i = 0; i < s->model->nv; ++i) {
        most = max2(most, fabs(s->next[i] - s->change[i]));
    }
    return most;
}

// How much of this step to take, after a step of which `share` was taken. A sequence that oscillates, or creeps, follows a
// straight line between the two to where steps vanish. (B. Irons, R. Tuck, A version of the Aitken accelerator, 1969.)
static double relaxed(pz_least_change *s, double share)
{
    double along = 0.0, square = 0.0;
    for (int i = 0; i < s->model->nv; ++i) {
        double step = s->next[i] - s->change[i], before = s->step[i], turn = step - before;
        along -= s->weight[i] * before * turn;
        square += s->weight[i] * turn * turn;
        s->step[i] = step;
    }
    return s->iterations > 0 && square > 0.0 ? min2(max2(share * along / square, SHARE_LEAST), SHARE_MOST) : 1.0;
}

poise_status pz_least_change_solve(pz_least_change *s, const poise_model *limited, const poise_goal *goals, int count,
                                   const double *original, double *q, poise_error *error)
{
    poise_status status = POISE_OK;
    double far = FARTHEST, last = INFINITY, looked = INFINITY, share = 1.0;
    s->is_met = false;
    set_bounds(s, limited, original);
    for (s->iterations = 0; s->iterations < ITERATIONS && status == POISE_OK; ++s->iterations) {
        status = poise_kinematics_update(s->kin, q, error);
        status = status == POISE_OK ? poise_difference(s->model, original, q, s->change, error) : status;
        double square = status == POISE_OK ? read_rows(s, goals, count) : 0.0;
        if (status != POISE_OK || !find_step(s, MU_LEAST + MU_SHARE * square)) {
            break;
        }
        far = square > last && square > REACHED ? 0.5 * far : min2(1.5 * far, FARTHEST);
        last = square;
        if (s->iterations % LOOK == LOOK - 1) {
            if (square > FAR && square > FALLEN * looked) {
                break;
            }
            looked = square;
        }
        double step = longest(s);
        share = min2(relaxed(s, share), far / step);
        status = go(s, limited, share, q, s->trial, error);
        if (status == POISE_OK) {
            memcpy(q, s->trial, (size_t)s->model->nq * sizeof *q);
        }
        s->is_met = square < REACHED && step < LOOSE;
        if (step < STILL || (s->is_met && s->iterations > ITERATIONS / 2)) {
            break;
        }
    }
    return status;
}
