// Frames of a clip that come as near to the original as goals allow: the least change, weighed by what moves with it, and
// smooth in time.
//
//   w_i = sum over bodies b of c_b |dx_b/dq_i|^2/size^2 + LEAST
//
// c_b is 1 for bodies that the goals are there to move, with what carries them and what they carry, and OTHERS for the
// rest: a hand is followed by its arm, and the trunk leans, which takes head and other arm along, only where the arm does
// not reach. Lengths count in units of the skeleton's size. The answer depends smoothly on the original and on the goals
// wherever the joints that are at their limits stay the same ones.
#include "motion/edit/editor.h"

#include <poise/kinematics.h>

#include "base/error.h"
#include "motion/anatomy.h"
#include "motion/pieces.h"
#include "num/dense.h"
#include "num/real.h"
#include "num/rotation.h"

#include <string.h>

// ---- The least change that meets goals -----------------------------------------------------------------------------------
//
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
    return is_posture ? poise_model_info(model).nv : POISE_GOAL_RESIDUALS;
}

static void least_change_lay_out(pz_least_change *s, pz_arena *arena)
{
    size_t nv = (size_t)poise_model_info(s->model).nv, rows = (size_t)s->row_room;
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
    s->trial = pz_arena_take(arena, (size_t)poise_model_info(s->model).nq, sizeof(double));
}

static void least_change_begin(pz_least_change *s)
{
    for (int k = 0; k < poise_model_info(s->model).joints; ++k) {
        pz_piece piece[PZ_MOST_PIECES];
        for (int p = pz_pieces_of(s->model, k, piece) - 1; p >= 0; --p) {
            for (int i = 0; i < piece[p].nv; ++i) {
                s->coordinate[piece[p].v + i] = piece[p].kind == PZ_PIECE_QUATERNION ? -1 : piece[p].q + i;
            }
        }
    }
}

// ---- One step ------------------------------------------------------------------------------------------------------------

// Residuals and their derivatives where s->kin is; |r|^2.
static double read_rows(pz_least_change *s, const poise_goal *goals, int count)
{
    double sum = 0.0;
    size_t nv = (size_t)poise_model_info(s->model).nv;
    s->rows = 0;
    for (int i = 0; i < count; ++i) {
        s->rows += poise_goal_residuals(s->kin, &goals[i], s->r + s->rows, s->J + (size_t)s->rows * nv);
    }
    for (int i = 0; i < s->rows; ++i) {
        sum += s->r[i] * s->r[i];
    }
    return sum;
}

static const double *jacobian_row(const pz_least_change *s, int row)
{
    return s->J + (size_t)row * (size_t)poise_model_info(s->model).nv;
}

// z_F for the components that are free now.
static bool solve_free(pz_least_change *s, double mu)
{
    int nv = poise_model_info(s->model).nv, rows = s->rows;
    for (int a = 0; a < rows; ++a) {
        const double *Ja = jacobian_row(s, a);
        s->y[a] = -s->r[a];
        for (int i = 0; i < nv; ++i) {
            s->y[a] += Ja[i] * (s->bound[i] == 0 ? s->change[i] : s->change[i] - s->next[i]);
        }
        for (int i = 0; i < nv; ++i) {
            s->over[i] = s->bound[i] == 0 ? Ja[i] / s->weight[i] : 0.0;
        }
        for (int b = 0; b <= a; ++b) {
            s->A[a * rows + b] = s->A[b * rows + a] = dense_dot(nv, s->over, jacobian_row(s, b)) + (a == b ? mu : 0.0);
        }
    }
    if (!pz_cholesky(rows, s->A)) {
        return false;
    }
    pz_cholesky_solve(rows, s->A, s->y);
    for (int i = 0; i < nv; ++i) {
        double pull = 0.0;
        for (int a = 0; a < rows && s->bound[i] == 0; ++a) {
            pull += jacobian_row(s, a)[i] * s->y[a];
        }
        s->next[i] = s->bound[i] == 0 ? pull / s->weight[i] : s->next[i];
    }
    return true;
}

// Hold components that go beyond a limit at it; how many there are.
static int hold_at_limits(pz_least_change *s)
{
    int count = 0;
    for (int i = 0; i < poise_model_info(s->model).nv; ++i) {
        if (s->bound[i] == 0 && (s->next[i] < s->lower[i] || s->next[i] > s->upper[i])) {
            s->bound[i] = s->next[i] < s->lower[i] ? -1 : 1;
            s->next[i] = s->bound[i] < 0 ? s->lower[i] : s->upper[i];
            count += 1;
        }
    }
    return count;
}

// Release the component at a limit whose pull W z - J^T y is strongest away from it; false: none is.
static bool release_strongest(pz_least_change *s)
{
    int most = -1;
    double strongest = 1e-12;
    for (int i = 0; i < poise_model_info(s->model).nv; ++i) {
        if (s->bound[i] == -1 || s->bound[i] == 1) {
            double pull = s->weight[i] * s->next[i];
            for (int a = 0; a < s->rows; ++a) {
                pull -= jacobian_row(s, a)[i] * s->y[a];
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
    for (int i = 0; i < poise_model_info(s->model).nv; ++i) {
        s->bound[i] = s->locked && s->locked[i] ? 2 : s->bound[i] == 2 ? 0 : s->bound[i];
        s->next[i] = s->bound[i] == 2 ? s->change[i] : s->bound[i] == 0 ? 0.0 : s->bound[i] < 0 ? s->lower[i] : s->upper[i];
    }
    for (int pass = 0; pass < PASSES; ++pass) {
        if (!solve_free(s, mu)) {
            return false;
        }
        if (hold_at_limits(s) == 0 && !release_strongest(s)) {
            return true;
        }
    }
    return solve_free(s, mu) && hold_at_limits(s) >= 0;
}

// ---- The solve -----------------------------------------------------------------------------------------------------------

// The interval of every component of the change.
static void set_bounds(pz_least_change *s, const poise_model *limited, const double *original)
{
    for (int i = 0; i < poise_model_info(s->model).nv; ++i) {
        int c = s->coordinate[i];
        s->lower[i] = c < 0 ? -INFINITY : poise_model_info(limited).lower[c] - original[c];
        s->upper[i] = c < 0 ? INFINITY : poise_model_info(limited).upper[c] - original[c];
        s->bound[i] = 0;
    }
}

// q after `share` of the step from s->change to s->next.
static poise_status go(pz_least_change *s, const poise_model *limited, double share, const double *q, double *to,
                       poise_error *error)
{
    for (int i = 0; i < poise_model_info(s->model).nv; ++i) {
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
    for (int i = 0; i < poise_model_info(s->model).nv; ++i) {
        most = max2(most, fabs(s->next[i] - s->change[i]));
    }
    return most;
}

// How much of this step to take, after a step of which `share` was taken. A sequence that oscillates, or creeps, follows a
// straight line between the two to where steps vanish. (B. Irons, R. Tuck, A version of the Aitken accelerator, 1969.)
static double relaxed(pz_least_change *s, double share)
{
    double along = 0.0, square = 0.0;
    for (int i = 0; i < poise_model_info(s->model).nv; ++i) {
        double step = s->next[i] - s->change[i], before = s->step[i], turn = step - before;
        along -= s->weight[i] * before * turn;
        square += s->weight[i] * turn * turn;
        s->step[i] = step;
    }
    return s->iterations > 0 && square > 0.0 ? min2(max2(share * along / square, SHARE_LEAST), SHARE_MOST) : 1.0;
}

static poise_status least_change_solve(pz_least_change *s, const poise_model *limited, const poise_goal *goals, int count,
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
            memcpy(q, s->trial, (size_t)poise_model_info(s->model).nq * sizeof *q);
        }
        s->is_met = square < REACHED && step < LOOSE;
        if (step < STILL || (s->is_met && s->iterations > ITERATIONS / 2)) {
            break;
        }
    }
    return status;
}

// ---- Life ----------------------------------------------------------------------------------------------------------------

#define LEAST  0.02 // weight of a joint that moves nothing else
#define OTHERS 10.0 // weight of bodies that no goal is there to move
#define STAY   1e-4 // of the change, against goals that are out of reach

static void lay_out(pz_editor *e, int frames, pz_arena *arena)
{
    const poise_model *m = e->model;
    size_t nq = (size_t)poise_model_info(m).nq, nv = (size_t)poise_model_info(m).nv, goals = (size_t)e->goal_room + 1;
    e->original = pz_arena_take(arena, (size_t)frames * nq, sizeof(double));
    e->reference = pz_arena_take(arena, (size_t)frames * nq, sizeof(double));
    e->goals = pz_arena_take(arena, goals, sizeof *e->goals);
    e->yields = pz_arena_take(arena, goals, sizeof *e->yields);
    e->goal_q = pz_arena_take(arena, goals * nq, sizeof(double));
    e->weight = pz_arena_take(arena, nv, sizeof(double));
    e->jacobian = pz_arena_take(arena, 3 * nv, sizeof(double));
    e->step = pz_arena_take(arena, nv, sizeof(double));
    e->changed = pz_arena_take(arena, (size_t)frames, sizeof *e->changed);
    e->missed = pz_arena_take(arena, (size_t)frames, sizeof *e->missed);
    e->is_outside = pz_arena_take(arena, nq, sizeof *e->is_outside);
    e->lower = pz_arena_take(arena, nq, sizeof(double));
    e->upper = pz_arena_take(arena, nq, sizeof(double));
    e->lowest = pz_arena_take(arena, nq, sizeof(double));
    e->highest = pz_arena_take(arena, nq, sizeof(double));
    e->found = pz_arena_take(arena, nq, sizeof(double));
    e->is_length = pz_arena_take(arena, nv, sizeof *e->is_length);
    e->swing = pz_arena_take(arena, 2 * (size_t)poise_model_info(m).joints, sizeof *e->swing);
    least_change_lay_out(&e->solver, arena);
}

static poise_status open_parts(pz_editor *e, int coupled, const poise_allocator *allocator, poise_error *error)
{
    poise_status status = poise_kinematics_create(e->model, allocator, &e->kin, error);
    status = status == POISE_OK ? poise_kinematics_create(e->model, allocator, &e->at, error) : status;
    status = status == POISE_OK ? poise_objective_create(e->model, coupled, allocator, &e->objective, error) : status;
    poise_solver_options options = poise_solver_options_default();
    options.locked = e->solver.locked;
    options.coupled_goals = coupled;
    options.position_tolerance = options.rotation_tolerance = 0.0; // the way along the goals counts, too
    status = status == POISE_OK ? poise_solver_create(e->wide, &options, allocator, &e->search, error) : status;
    e->solver.kin = e->at;
    e->solver.weight = e->weight;
    least_change_begin(&e->solver);
    return status;
}

// w_i at the first frame of the clip.
static poise_status weigh(pz_editor *e, const bool *moved, poise_error *error)
{
    const poise_model *m = e->model;
    poise_status status = poise_kinematics_update(e->kin, e->original, error);
    pz_find_lengths(m, e->is_length);
    for (int i = 0; i < poise_model_info(m).nv; ++i) {
        e->weight[i] = e->is_length[i] ? LEAST / (e->size * e->size) : LEAST;
    }
    for (int b = 0; b < poise_model_info(m).joints && status == POISE_OK; ++b) {
        status = poise_kinematics_jacobian(e->kin, b, v3(0, 0, 0), e->jacobian, NULL, error);
        double share = (moved && !moved[b] ? OTHERS : 1.0) / (e->size * e->size);
        for (int i = 0; i < 3 * poise_model_info(m).nv && status == POISE_OK; ++i) {
            e->weight[i % poise_model_info(m).nv] += share * e->jacobian[i] * e->jacobian[i];
        }
    }
    for (int k = 0; k < poise_model_info(m).joints; ++k) { // a quaternion takes its first weight: the largest of the three
        pz_piece piece[PZ_MOST_PIECES];
        for (int p = pz_pieces_of(m, k, piece) - 1; p >= 0; --p) {
            double *w = e->weight + piece[p].v;
            if (piece[p].kind == PZ_PIECE_QUATERNION) {
                w[0] = max2(w[0], max2(w[1], w[2]));
            }
        }
    }
    return status;
}

static poise_status check(const poise_model *model, const poise_clip *clip, poise_error *error)
{
    if (!model || !clip || clip->nq != poise_model_info(model).nq) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "model and clip must not be NULL, and the clip of this model");
    }
    for (int f = 0; f < clip->frames; ++f) {
        const double *q = clip->q + (size_t)f * (size_t)clip->nq;
        poise_status status = poise_model_check(model, q, "a frame of the clip", error);
        if (status != POISE_OK) {
            return status;
        }
    }
    return POISE_OK;
}

static void copy_clip(pz_editor *e)
{
    size_t size = (size_t)e->clip->frames * (size_t)e->clip->nq * sizeof(double);
    if (size > 0) {
        memcpy(e->original, e->clip->q, size);
        memcpy(e->reference, e->clip->q, size);
    }
}

// The model with limits for all frames.
static poise_status widen_limits(pz_editor *e, const poise_allocator *allocator, poise_error *error)
{
    const poise_model *m = e->model;
    for (int i = 0; i < poise_model_info(m).nq; ++i) {
        e->lowest[i] = poise_model_info(m).lower[i];
        e->highest[i] = poise_model_info(m).upper[i];
        for (int f = 0; f < e->clip->frames; ++f) {
            e->lowest[i] = min2(e->lowest[i], pz_editor_original(e, f)[i]);
            e->highest[i] = max2(e->highest[i], pz_editor_original(e, f)[i]);
        }
    }
    return poise_model_with_limits(m, e->lowest, e->highest, NULL, allocator, &e->wide, error);
}

poise_status pz_editor_open(const poise_model *model, const pz_editor_room *room, poise_clip *clip,
                            const poise_allocator *allocator, pz_editor *e, poise_error *error)
{
    *e = (pz_editor){.model = model,
                     .clip = clip,
                     .goal_room = room->goals,
                     .last = POISE_NONE,
                     .solver = {.model = model, .row_room = room->rows, .locked = room->locked}};
    poise_status status = check(model, clip, error);
    if (status != POISE_OK) {
        return status;
    }
    pz_arena counting = pz_arena_counting();
    lay_out(e, clip->frames, &counting);
    size_t size = pz_arena_bytes(&counting);
    if (!pz_owned_take(&e->owned, allocator, size)) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory: the clip needs %g bytes", (double)size);
    }
    memset(e->owned.memory, 0, size);
    pz_arena arena = pz_arena_over(e->owned.memory, size);
    lay_out(e, clip->frames, &arena);
    copy_clip(e);
    status = pz_skeleton_size(model, allocator, &e->size);
    e->size = e->size > 0.0 ? e->size : 1.0;
    status = status == POISE_OK ? widen_limits(e, allocator, error) : pz_error_set(error, status, "out of memory");
    status = status == POISE_OK ? open_parts(e, room->coupled, allocator, error) : status;
    status = status == POISE_OK && clip->frames > 0 ? weigh(e, room->moved, error) : status;
    if (status != POISE_OK) {
        pz_editor_close(e);
    }
    return status;
}

void pz_editor_close(pz_editor *e)
{
    poise_solver_destroy(e->search);
    poise_model_destroy(e->limited);
    poise_model_destroy(e->wide);
    poise_kinematics_destroy(e->kin);
    poise_kinematics_destroy(e->at);
    poise_objective_destroy(e->objective);
    pz_owned_release(&e->owned);
}

// ---- A frame -------------------------------------------------------------------------------------------------------------

// The limits of the model, wide enough for the original.
static poise_status open_limits(pz_editor *e, const double *q, poise_error *error)
{
    const poise_model *m = e->model;
    for (int i = 0; i < poise_model_info(m).nq; ++i) {
        e->lower[i] = min2(poise_model_info(m).lower[i], q[i]);
        e->upper[i] = max2(poise_model_info(m).upper[i], q[i]);
    }
    for (int k = 0; k < poise_model_info(m).joints; ++k) {
        const poise_joint *given = poise_model_joint_info(m, k).given;
        double beyond = sqrt(pz_beyond_ellipse(given, q + poise_model_joint_info(m, k).q));
        for (int i = 0; i < 2; ++i) {
            e->swing[2 * k + i] = given->swing[i] * (beyond > 1.0 ? beyond * (1.0 + 8 * PZ_EPSILON) : 1.0);
        }
    }
    poise_model_destroy(e->limited);
    e->limited = NULL;
    const poise_allocator *allocator = e->owned.allocator.allocate ? &e->owned.allocator : NULL;
    return poise_model_with_limits(m, e->lower, e->upper, e->swing, allocator, &e->limited, error);
}

poise_status pz_editor_begin(pz_editor *e, int frame, poise_error *error)
{
    e->goal_count = 0;
    poise_status status = open_limits(e, pz_editor_original(e, frame), error);
    return status == POISE_OK ? poise_kinematics_update(e->kin, pz_editor_original(e, frame), error) : status;
}

void pz_editor_add(pz_editor *e, const poise_goal *goal, double weight)
{
    size_t nq = (size_t)poise_model_info(e->model).nq;
    poise_goal *g = &e->goals[e->goal_count];
    bool is_angle = goal->kind == POISE_GOAL_DIRECTION || goal->kind == POISE_GOAL_ORIENTATION ||
                    goal->kind == POISE_GOAL_AIM || goal->kind == POISE_GOAL_POSTURE || goal->kind == POISE_GOAL_SMOOTHNESS;
    double *q = e->goal_q + (size_t)e->goal_count * nq;
    *g = *goal;
    e->yields[e->goal_count] = false;
    g->weight *= is_angle ? weight : weight / (e->size * e->size);
    g->rotation_weight *= weight;
    if (goal->q) {
        memmove(q, goal->q, nq * sizeof *q);
        g->q = q;
        g->q_before = NULL;
    }
    e->goal_count += 1;
}

// Where goals are out of reach: the pose that comes closest, held near the reference a little.
static poise_status search(pz_editor *e, const double *near, double *q, poise_error *error)
{
    poise_goal stay = poise_goal_posture(near, STAY);
    poise_report report;
    stay.q_weights = e->weight;
    e->goals[e->goal_count] = stay;
    poise_status status = poise_solve(e->search, e->goals, e->goal_count + 1, q, &report, error);
    if (status == POISE_OK && !poise_model_within_limits(e->limited, q)) {
        status = poise_model_clamp(e->limited, q, NULL, error);
    }
    e->iterations += report.iterations;
    return status;
}

// From a pose q that comes closest to all goals, the least change that meets those which do not yield. Takes the others out.
static poise_status meet_firm(pz_editor *e, const double *q, poise_error *error)
{
    int firm = 0;
    for (int i = 0; i < e->goal_count; ++i) {
        if (!e->yields[i]) {
            e->goals[firm++] = e->goals[i];
        }
    }
    bool has_both = firm > 0 && firm < e->goal_count;
    e->goal_count = firm;
    memcpy(e->found, q, (size_t)poise_model_info(e->model).nq * sizeof *q);
    return has_both ? least_change_solve(&e->solver, e->limited, e->goals, firm, q, e->found, error) : POISE_OK;
}

poise_status pz_editor_solve(pz_editor *e, int frame, poise_error *error)
{
    double *near = pz_editor_reference(e, frame), *q = pz_editor_frame(e, frame);
    size_t size = (size_t)poise_model_info(e->model).nq * sizeof *q;
    poise_status status = POISE_OK;
    if (!e->changed[frame] || e->is_smooth) {
        if (!poise_model_within_limits(e->limited, near)) {
            status = poise_model_clamp(e->limited, near, NULL, error);
        }
        memcpy(q, near, size);
        if (e->last == frame - 1 && frame > 0 && !e->is_smooth && status == POISE_OK) {
            status = poise_retract(e->model, near, e->step, q, error);
        }
    }
    memcpy(e->found, q, size);
    if (status == POISE_OK) {
        status = least_change_solve(&e->solver, e->limited, e->goals, e->goal_count, near, e->found, error);
    }
    e->iterations += e->solver.iterations;
    if (status == POISE_OK && !e->solver.is_met) { // out of reach, or hard to find: on from the closest pose
        status = search(e, near, q, error);
        memcpy(e->found, q, size);
        if (status == POISE_OK) {
            status = least_change_solve(&e->solver, e->limited, e->goals, e->goal_count, near, e->found, error);
        }
    }
    if (status == POISE_OK && !e->solver.is_met) {
        status = meet_firm(e, q, error);
    }
    if (status == POISE_OK && e->solver.is_met) {
        memcpy(q, e->found, size);
    }
    status = status == POISE_OK ? poise_difference(e->model, near, q, e->step, error) : status;
    e->changed[frame] = true;
    e->last = frame;
    return status;
}

poise_status pz_editor_error(pz_editor *e, const poise_goal *goal, const double *q, poise_goal_error *miss,
                             poise_error *error)
{
    poise_status status = poise_objective_set_goals(e->objective, goal, 1, error);
    status = status == POISE_OK ? poise_objective_evaluate(e->objective, q, POISE_LEVEL_COST, error) : status;
    if (status == POISE_OK) {
        *miss = poise_objective_goal_error(e->objective, 0);
    }
    return status;
}

// ---- Smooth in time ------------------------------------------------------------------------------------------------------

// A smooth change in place of one that was found frame by frame. Over each stretch of frames that an edit changes,
//
//   min over s  sum_t (s_t - d_t)^2 + K sum_t (s_(t+3) - 3 s_(t+2) + 3 s_(t+1) - s_t)^2
//
// for every degree of freedom, with s = 0 in the frames around it: where it begins and ends, so do its first two
// derivatives. (E. T. Whittaker, On a New Method of Graduation, 1923; third differences.) K is such that half of a swing of
// SECONDS stays.
#define SECONDS 0.35
#define BAND    4 // diagonals of the matrix on one side, its own included

// The matrix I + K D^T D of a stretch, lower band by rows: A[t * BAND + b] is the entry (t, t - b). D has a row for every
// four frames that the clip has around the stretch.
static void fill(double *A, int first, int count, int frames, double K)
{
    static const double d[BAND] = {-1.0, 3.0, -3.0, 1.0};
    for (int t = 0; t < count; ++t) {
        for (int b = 0; b < BAND; ++b) {
            A[t * BAND + b] = b == 0 ? 1.0 : 0.0;
        }
    }
    for (int row = first - 3; row < first + count; ++row) { // frames row .. row + 3
        if (row < 0 || row + 3 >= frames) {
            continue;
        }
        for (int i = 0; i < BAND; ++i) {
            for (int j = 0; j <= i; ++j) {
                int ti = row + i - first, tj = row + j - first;
                if (ti >= 0 && ti < count && tj >= 0) {
                    A[ti * BAND + (i - j)] += K * d[i] * d[j];
                }
            }
        }
    }
}

// A = L L^T in place, and x <- A^-1 x, `stride` numbers apart.
static void factor(double *A, int count)
{
    for (int t = 0; t < count; ++t) {
        for (int b = BAND - 1; b >= 0; --b) {
            int col = t - b;
            if (col < 0) {
                continue;
            }
            double sum = A[t * BAND + b];
            for (int k = b + 1; k < BAND && t - k >= 0; ++k) {
                sum -= A[t * BAND + k] * A[col * BAND + (k - b)];
            }
            A[t * BAND + b] = b == 0 ? sqrt(sum) : sum / A[col * BAND];
        }
    }
}

static void substitute(const double *L, int count, double *x, int stride)
{
    for (int t = 0; t < count; ++t) {
        double sum = x[(size_t)t * (size_t)stride];
        for (int k = 1; k < BAND && t - k >= 0; ++k) {
            sum -= L[t * BAND + k] * x[(size_t)(t - k) * (size_t)stride];
        }
        x[(size_t)t * (size_t)stride] = sum / L[t * BAND];
    }
    for (int t = count - 1; t >= 0; --t) {
        double sum = x[(size_t)t * (size_t)stride];
        for (int k = 1; k < BAND && t + k < count; ++k) {
            sum -= L[(t + k) * BAND + k] * x[(size_t)(t + k) * (size_t)stride];
        }
        x[(size_t)t * (size_t)stride] = sum / L[t * BAND];
    }
}

// One stretch: the changes, made smooth, become the reference.
static poise_status smooth_stretch(pz_editor *e, int first, int count, double *A, double *change, poise_error *error)
{
    const double two_pi = 6.28318530717958647692;
    double turn = two_pi * e->clip->frame_time / SECONDS, square = turn * turn;
    int nv = poise_model_info(e->model).nv;
    poise_status status = POISE_OK;
    fill(A, first, count, e->clip->frames, 1.0 / (square * square * square));
    factor(A, count);
    for (int t = 0; t < count && status == POISE_OK; ++t) {
        status = poise_difference(e->model, pz_editor_original(e, first + t), pz_editor_frame(e, first + t),
                                  change + (size_t)t * (size_t)nv, error);
    }
    for (int i = 0; i < nv && status == POISE_OK; ++i) {
        substitute(A, count, change + i, nv);
    }
    for (int t = 0; t < count && status == POISE_OK; ++t) {
        status = poise_retract(e->model, pz_editor_original(e, first + t), change + (size_t)t * (size_t)nv,
                               pz_editor_reference(e, first + t), error);
    }
    return status;
}

poise_status pz_editor_smooth(pz_editor *e, const poise_allocator *allocator, poise_error *error)
{
    int frames = e->clip->frames, end;
    pz_owned owned = {0};
    double *A =
        pz_owned_take(&owned, allocator, (size_t)frames * (size_t)(BAND + poise_model_info(e->model).nv) * sizeof(double));
    if (!A) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory for %d frames", frames);
    }
    poise_status status = POISE_OK;
    for (int first = 0; first < frames && status == POISE_OK; first = end) {
        for (end = first; end < frames && e->changed[end] == e->changed[first]; ++end) {
        }
        if (e->changed[first]) {
            status = smooth_stretch(e, first, end - first, A, A + (size_t)frames * BAND, error);
        }
    }
    pz_owned_release(&owned);
    e->is_smooth = true;
    return status;
}

// ---- What an edit changed ------------------------------------------------------------------------------------------------

#define SNAP      0.25  // radians from frame to frame that an edit must not add all of a sudden, and
#define FLIP      0.8   // not at all
#define JOLT      0.012 // of the skeleton's size: likewise of a jolt
#define JOLT_NEAR 2     // frames around in which a jolt of the original counts for an edit's

// The largest turn from frame f - 1 to f, and of which degree of freedom.
static poise_status turn_between(pz_editor *e, const double *q, double *way, poise_error *error)
{
    return poise_difference(e->model, q - poise_model_info(e->model).nq, q, way, error);
}

static bool is_turn(const pz_editor *e, int dof)
{
    return !e->is_length[dof];
}

// Does a degree of freedom turn by so much in frame f alone? One that gathers speed over several frames does not snap,
// unless it turns by more than FLIP.
static bool is_sudden(pz_editor *e, int f, int dof, double turn)
{
    double *way = e->jacobian + 2 * poise_model_info(e->model).nv, around = 0.0;
    for (int g = f - 1; g <= f + 1; g += 2) {
        if (g > 0 && g < e->clip->frames && turn_between(e, pz_editor_frame(e, g), way, NULL) == POISE_OK) {
            around = max2(around, fabs(way[dof]));
        }
    }
    return turn > 2.0 * around || turn > FLIP;
}

static void measure_step(pz_editor *e, int f, poise_pin_report *r)
{
    double rate = 1.0 / e->clip->frame_time, *before = e->jacobian, *after = e->jacobian + poise_model_info(e->model).nv;
    for (int i = 0; i < poise_model_info(e->model).nv; ++i) {
        if (is_turn(e, i)) {
            r->speed_before = max2(r->speed_before, fabs(before[i]) * rate);
            r->speed_after = max2(r->speed_after, fabs(after[i]) * rate);
            if (r->snap_frame == POISE_NONE && fabs(after[i]) > max2(SNAP, 2.0 * fabs(before[i])) &&
                is_sudden(e, f, i, fabs(after[i]))) {
                r->snap_frame = f;
                r->snap_dof = i;
            }
        }
    }
}

// The rotation of a body against its parent.
static quat turn_of(const poise_kinematics *kin, int body, int parent)
{
    quat own = poise_kinematics_body_pose(kin, body).rotation;
    return parent < 0 ? own : quat_mul(quat_conj(poise_kinematics_body_pose(kin, parent).rotation), own);
}

// The largest turn of a joint, |log(R^-1 R')|, whatever angles its coordinates are.
static poise_status measure_turn(pz_editor *e, int f, poise_pin_report *r, poise_error *error)
{
    const poise_model *m = e->model;
    poise_status status = poise_kinematics_update(e->kin, pz_editor_original(e, f), error);
    status = status == POISE_OK ? poise_kinematics_update(e->at, pz_editor_frame(e, f), error) : status;
    for (int k = 0; k < poise_model_info(m).joints && status == POISE_OK; ++k) {
        int parent = poise_model_joint_info(m, k).parent,
            last = poise_model_joint_info(m, k).v + poise_model_joint_info(m, k).nv - 1;
        if (last < poise_model_joint_info(m, k).v || !is_turn(e, last)) { // slides come first
            continue;
        }
        quat before = turn_of(e->kin, k, parent), after = turn_of(e->at, k, parent);
        double angle = v3_norm(so3_log(quat_mul(quat_conj(before), after)));
        if (angle > r->turn) {
            r->turn = angle;
            r->turn_dof = last;
            r->turn_frame = f;
        }
    }
    return status;
}

static poise_status measure_frame(pz_editor *e, int f, poise_pin_report *r, poise_error *error)
{
    const poise_model *m = e->model;
    const double *q = pz_editor_frame(e, f), *original = pz_editor_original(e, f);
    poise_status status = e->changed[f] ? measure_turn(e, f, r, error) : POISE_OK;
    r->frames += e->changed[f];
    r->outside += e->changed[f] && !poise_model_within_limits(m, q) && poise_model_within_limits(m, original);
    for (int i = 0; i < poise_model_info(m).nq && e->changed[f]; ++i) {
        bool is_outside = original[i] < poise_model_info(m).lower[i] || original[i] > poise_model_info(m).upper[i];
        r->widened += is_outside && !e->is_outside[i];
        e->is_outside[i] = e->is_outside[i] || is_outside;
    }
    if (f > 0 && (e->changed[f] || e->changed[f - 1]) && status == POISE_OK) {
        status = turn_between(e, original, e->jacobian, error);
        status = status == POISE_OK ? turn_between(e, q, e->jacobian + poise_model_info(m).nv, error) : status;
        measure_step(e, f, r);
    }
    return status;
}

// ---- Jolts ---------------------------------------------------------------------------------------------------------------

static poise_status place_of(pz_editor *e, const poise_goal *point, const double *q, vec3 *place, poise_error *error)
{
    poise_status status = poise_kinematics_update(e->at, q, error);
    *place = status == POISE_OK ? poise_kinematics_point(e->at, point->body, point->local.position) : v3(0, 0, 0);
    return status;
}

// |x(f+1) - 2 x(f) + x(f-1)| of a point; `frames` is the original or the clip.
static poise_status jolt_at(pz_editor *e, const poise_goal *point, const double *frames, int f, double *jolt,
                            poise_error *error)
{
    vec3 x[3] = {v3(0, 0, 0)};
    size_t nq = (size_t)e->clip->nq;
    poise_status status = POISE_OK;
    for (int i = 0; i < 3 && status == POISE_OK; ++i) {
        status = place_of(e, point, frames + (size_t)(f + i - 1) * nq, &x[i], error);
    }
    *jolt = v3_norm(v3_sub(v3_add(x[0], x[2]), v3_scale(x[1], 2.0)));
    return status;
}

poise_status pz_editor_find_jolt(pz_editor *e, const poise_goal *point, int first, int last, poise_pin_report *r,
                                 poise_error *error)
{
    poise_status status = POISE_OK;
    int end = e->clip->frames - 1;
    for (int f = first > 1 ? first : 1; f <= last && f < end && status == POISE_OK; ++f) {
        double after, before, own = 0.0;
        status = jolt_at(e, point, e->clip->q, f, &after, error);
        int from = f - JOLT_NEAR > 1 ? f - JOLT_NEAR : 1, to = least(f + JOLT_NEAR, end - 1);
        for (int k = from; k <= to && after > JOLT * e->size && status == POISE_OK; ++k) {
            status = jolt_at(e, point, e->original, k, &before, error);
            own = max2(own, before);
        }
        if (after - own > max2(JOLT * e->size, r->jolt) && status == POISE_OK) {
            bool is_first = r->snap_frame == POISE_NONE || r->snap_dof == POISE_NONE;
            r->jolt = after - own;
            r->jolt_body = point->body;
            r->snap_frame = is_first ? f : r->snap_frame;
        }
    }
    return status;
}

poise_status pz_editor_measure(pz_editor *e, poise_pin_report *report, poise_error *error)
{
    poise_status status = POISE_OK;
    *report = (poise_pin_report){.snap_frame = POISE_NONE,
                                 .snap_dof = POISE_NONE,
                                 .jolt_body = POISE_NONE,
                                 .turn_dof = POISE_NONE,
                                 .turn_frame = POISE_NONE,
                                 .iterations = e->iterations};
    for (int f = 0; f < e->clip->frames && status == POISE_OK; ++f) {
        status = measure_frame(e, f, report, error);
    }
    return status;
}

// ---- The body that carries a motion --------------------------------------------------------------------------------------

#define MOTIONLESS 1e-9 // length units, radians: a coordinate that changes by less does not move

// Does one of the coordinates first..end-1 move in a clip?
static bool coordinate_moves(const poise_clip *clip, int first, int end)
{
    for (int i = first; clip && i < end; ++i) {
        for (int f = 1; f < clip->frames; ++f) {
            if (fabs(clip->q[(size_t)f * (size_t)clip->nq + (size_t)i] - clip->q[i]) > MOTIONLESS) {
                return true;
            }
        }
    }
    return false;
}

static int q_end_of(const poise_model *m, int joint)
{
    return poise_model_joint_info(m, joint).q + poise_model_joint_info(m, joint).nq;
}

static bool joint_slides(const poise_model *m, int joint, const poise_clip *clip, const poise_clip *other)
{
    int first = poise_model_joint_info(m, joint).q,
        end = least(first + pz_lengths_of(poise_model_joint_info(m, joint).type), q_end_of(m, joint));
    return coordinate_moves(clip, first, end) || coordinate_moves(other, first, end);
}

pz_moving_root pz_moving_root_of(const poise_model *m, const poise_clip *clip, const poise_clip *other)
{
    int first = 0;
    while (first < poise_model_info(m).joints &&
           !coordinate_moves(clip, poise_model_joint_info(m, first).q, q_end_of(m, first)) &&
           !coordinate_moves(other, poise_model_joint_info(m, first).q, q_end_of(m, first))) {
        ++first;
    }
    bool carries = first < poise_model_info(m).joints &&
                   2 * poise_model_joint_info(m, first).subtree > poise_model_info(m).joints &&
                   joint_slides(m, first, clip, other);
    for (int k = carries ? first + poise_model_joint_info(m, first).subtree : poise_model_info(m).joints;
         k < poise_model_info(m).joints && carries; ++k) {
        carries = !coordinate_moves(clip, poise_model_joint_info(m, k).q, q_end_of(m, k)) &&
                  !coordinate_moves(other, poise_model_joint_info(m, k).q, q_end_of(m, k));
    }
    first = carries ? first : 0;
    pz_moving_root root = {first, first};
    int dofs = poise_model_joint_info(m, first).nv;
    while (dofs < 6 && root.last + 1 < poise_model_info(m).joints &&
           poise_model_joint_info(m, root.last + 1).parent == root.last &&
           poise_model_joint_info(m, root.last + 1).subtree == poise_model_joint_info(m, root.last).subtree - 1) {
        root.last += 1;
        dofs += poise_model_joint_info(m, root.last).nv;
    }
    return root;
}
