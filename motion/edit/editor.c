// Frames of a clip that come as near to the original as goals allow: the least change, weighed by what moves with it.
//
//   w_i = sum over bodies b of c_b |dx_b/dq_i|^2/size^2 + LEAST
//
// c_b is 1 for bodies that the goals are there to move, with what carries them and what they carry, and OTHERS for the
// rest: a hand is followed by its arm, and the trunk leans, which takes head and other arm along, only where the arm does
// not reach. Lengths count in units of the skeleton's size. The answer depends smoothly on the original and on the goals
// wherever the joints that are at their limits stay the same ones.
#include "motion/edit/editor.h"

#include "base/error.h"
#include "model/model.h"
#include "motion/anatomy.h"

#include <string.h>

#define LEAST  0.02 // weight of a joint that moves nothing else
#define OTHERS 10.0 // weight of bodies that no goal is there to move
#define STAY   1e-4 // of the change, against goals that are out of reach

// ---- Life ----------------------------------------------------------------------------------------------------------------

static void lay_out(pz_editor *e, int frames, pz_arena *arena)
{
    const poise_model *m = e->model;
    size_t nq = (size_t)m->nq, nv = (size_t)m->nv, goals = (size_t)e->goal_room + 1;
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
    e->given = pz_arena_take(arena, (size_t)m->joint_count, sizeof *e->given);
    pz_least_change_lay_out(&e->solver, arena);
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
    status = status == POISE_OK ? poise_solver_create(&e->wide, &options, allocator, &e->search, error) : status;
    e->solver.kin = e->at;
    e->solver.weight = e->weight;
    pz_least_change_begin(&e->solver);
    return status;
}

// w_i at the first frame of the clip.
static poise_status weigh(pz_editor *e, const bool *moved, poise_error *error)
{
    const poise_model *m = e->model;
    poise_status status = poise_kinematics_update(e->kin, e->original, error);
    for (int i = 0; i < m->nv; ++i) {
        e->weight[i] = pz_axis_slides(m, m->dof_axis[i]) ? LEAST / (e->size * e->size) : LEAST;
    }
    for (int b = 0; b < m->joint_count && status == POISE_OK; ++b) {
        status = poise_kinematics_jacobian(e->kin, b, v3(0, 0, 0), e->jacobian, NULL, error);
        double share = (moved && !moved[b] ? OTHERS : 1.0) / (e->size * e->size);
        for (int i = 0; i < 3 * m->nv && status == POISE_OK; ++i) {
            e->weight[i % m->nv] += share * e->jacobian[i] * e->jacobian[i];
        }
    }
    for (int s = 0; s < m->step_count; ++s) { // a quaternion takes its first weight: the largest of the three
        int dof = m->axes[m->steps[s].axis].dof;
        if (m->steps[s].kind == PZ_QUATERNION) {
            e->weight[dof] = max2(e->weight[dof], max2(e->weight[dof + 1], e->weight[dof + 2]));
        }
    }
    return status;
}

static poise_status check(const poise_model *model, const poise_clip *clip, poise_error *error)
{
    if (!model || !clip || clip->nq != model->nq) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "model and clip must not be NULL, and the clip of this model");
    }
    for (int f = 0; f < clip->frames; ++f) {
        const double *q = clip->q + (size_t)f * (size_t)clip->nq;
        if (!pz_model_accepts(model, q)) {
            return pz_refuse_q(model, q, "a frame of the clip", error);
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

// Models with limits of their own: for each frame, and for all of them.
static void set_limits(pz_editor *e)
{
    const poise_model *m = e->model;
    memcpy(e->given, m->given, (size_t)m->joint_count * sizeof *e->given);
    for (int i = 0; i < m->nq; ++i) {
        e->lowest[i] = m->lower[i];
        e->highest[i] = m->upper[i];
        for (int f = 0; f < e->clip->frames; ++f) {
            e->lowest[i] = min2(e->lowest[i], pz_editor_original(e, f)[i]);
            e->highest[i] = max2(e->highest[i], pz_editor_original(e, f)[i]);
        }
    }
    e->limited = e->wide = *m;
    e->limited.lower = e->lower, e->limited.upper = e->upper, e->limited.given = e->given;
    e->wide.lower = e->lowest, e->wide.upper = e->highest;
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
    set_limits(e);
    status = pz_skeleton_size(model, allocator, &e->size);
    e->size = e->size > 0.0 ? e->size : 1.0;
    status =
        status == POISE_OK ? open_parts(e, room->coupled, allocator, error) : pz_error_set(error, status, "out of memory");
    status = status == POISE_OK && clip->frames > 0 ? weigh(e, room->moved, error) : status;
    if (status != POISE_OK) {
        pz_editor_close(e);
    }
    return status;
}

void pz_editor_close(pz_editor *e)
{
    poise_solver_destroy(e->search);
    poise_kinematics_destroy(e->kin);
    poise_kinematics_destroy(e->at);
    poise_objective_destroy(e->objective);
    pz_owned_release(&e->owned);
}

// ---- A frame -------------------------------------------------------------------------------------------------------------

// The limits of the model, wide enough for the original.
static void open_limits(pz_editor *e, const double *q)
{
    const poise_model *m = e->model;
    for (int i = 0; i < m->nq; ++i) {
        e->lower[i] = min2(m->lower[i], q[i]);
        e->upper[i] = max2(m->upper[i], q[i]);
    }
    for (int k = 0; k < m->joint_count; ++k) {
        const double *own = q + m->joints[k].q_begin;
        bool has_swing = m->given[k].type == POISE_JOINT_SWING_TWIST && is_finite(m->given[k].swing[0]);
        double beyond = has_swing ? sqrt(pz_swing_excess(&m->given[k], own)) : 0.0;
        for (int i = 0; i < 2 && has_swing; ++i) {
            e->given[k].swing[i] = m->given[k].swing[i] * (beyond > 1.0 ? beyond * (1.0 + 8 * PZ_EPSILON) : 1.0);
        }
    }
}

poise_status pz_editor_begin(pz_editor *e, int frame, poise_error *error)
{
    e->goal_count = 0;
    open_limits(e, pz_editor_original(e, frame));
    return poise_kinematics_update(e->kin, pz_editor_original(e, frame), error);
}

void pz_editor_add(pz_editor *e, const poise_goal *goal, double weight)
{
    size_t nq = (size_t)e->model->nq;
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
    if (status == POISE_OK && !poise_model_within_limits(&e->limited, q)) {
        status = poise_model_clamp(&e->limited, q, NULL, error);
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
    memcpy(e->found, q, (size_t)e->model->nq * sizeof *q);
    return has_both ? pz_least_change_solve(&e->solver, &e->limited, e->goals, firm, q, e->found, error) : POISE_OK;
}

poise_status pz_editor_solve(pz_editor *e, int frame, poise_error *error)
{
    double *near = pz_editor_reference(e, frame), *q = pz_editor_frame(e, frame);
    size_t size = (size_t)e->model->nq * sizeof *q;
    poise_status status = POISE_OK;
    if (!e->changed[frame] || e->is_smooth) {
        if (!poise_model_within_limits(&e->limited, near)) {
            status = poise_model_clamp(&e->limited, near, NULL, error);
        }
        memcpy(q, near, size);
        if (e->last == frame - 1 && frame > 0 && !e->is_smooth && status == POISE_OK) {
            status = poise_retract(e->model, near, e->step, q, error);
        }
    }
    memcpy(e->found, q, size);
    if (status == POISE_OK) {
        status = pz_least_change_solve(&e->solver, &e->limited, e->goals, e->goal_count, near, e->found, error);
    }
    e->iterations += e->solver.iterations;
    if (status == POISE_OK && !e->solver.is_met) { // out of reach, or hard to find: on from the closest pose
        status = search(e, near, q, error);
        memcpy(e->found, q, size);
        if (status == POISE_OK) {
            status = pz_least_change_solve(&e->solver, &e->limited, e->goals, e->goal_count, near, e->found, error);
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
