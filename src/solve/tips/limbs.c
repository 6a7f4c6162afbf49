#include "solve/tips/limbs.h"

#include "num/trig.h"

// ---- Which goals a dof moves ---------------------------------------------------------------------------------------------

void pz_limbs_find(const poise_solver *solver, const poise_goal *goals, int count, pz_goal_set *moves)
{
    const poise_model *model = solver->model;
    memset(moves, 0, (size_t)model->nv * sizeof *moves);
    for (int i = 0; i < count; ++i) {
        int axis = goals[i].body == POISE_WORLD ? -1 : model->joints[goals[i].body].last_axis;
        for (; axis >= 0; axis = model->axes[axis].parent) {
            int dof = model->axes[axis].dof;
            moves[dof] |= solver->box[dof].locked ? 0 : pz_goal_bit(i);
        }
    }
}

bool pz_has_free_root(const poise_solver *solver)
{
    const poise_model *model = solver->model;
    poise_joint_type type = model->joint_count > 0 ? model->given[0].type : POISE_JOINT_FIXED;
    bool is_free = type == POISE_JOINT_FREE || type == POISE_JOINT_FREE_EXPMAP || type == POISE_JOINT_FREE_EULER;
    if (!is_free || model->joints[0].subtree != model->joint_count) {
        return false;
    }
    for (int i = model->joints[0].v_begin; i < model->joints[0].v_end; ++i) {
        const pz_box *box = &solver->box[i];
        is_free = is_free && !box->locked && box->lower == -INFINITY && box->upper == INFINITY;
    }
    return is_free;
}

// ---- Draws ---------------------------------------------------------------------------------------------------------------

uint64_t pz_limbs_state(uint64_t seed, int body, int restart, int draw)
{
    uint64_t state = seed * UINT64_C(0xD1342543DE82EF95) + (uint64_t)body * UINT64_C(0x2545F4914F6CDD1D);
    return (state ^ (uint64_t)restart) * UINT64_C(0x9E6C63D0876A9A99) + (uint64_t)draw * UINT64_C(0xC2B2AE3D27D4EB4F);
}

// A coordinate between its limits; beyond a turn of a hinge there is nothing new.
static double draw_coordinate(const poise_solver *solver, int dof, double length, double share)
{
    const pz_box *box = &solver->box[dof];
    double start = solver->q_start[box->q], lower = box->lower, upper = box->upper;
    double half = pz_axis_slides(solver->model, solver->model->dof_axis[dof]) ? length : PZ_PI;
    bool has_lower = is_finite(lower), has_upper = is_finite(upper);
    double first = has_lower ? lower : has_upper ? upper - 2.0 * half : start - half;
    double span = has_lower && has_upper ? upper - lower : 2.0 * half;
    return clamp(first + span * share, lower, upper);
}

// Swings with an ellipse: uniform in it.
static void draw_swings(const poise_solver *solver, const pz_goal_set *moves, pz_goal_set among, uint64_t *state, double *q)
{
    const poise_model *model = solver->model;
    for (int k = 0; solver->has_swings && k < model->joint_count; ++k) {
        const poise_joint *given = &model->given[k];
        int dof = model->joints[k].v_begin;
        const pz_box *box = &solver->box[dof];
        if (given->type != POISE_JOINT_SWING_TWIST || !is_finite(given->swing[0]) || box[0].locked || box[1].locked ||
            !pz_is_within(moves[dof], among)) {
            continue;
        }
        double radius = sqrt(next_uniform(state)), sine, cosine;
        pz_sincos(PZ_TWO_PI * next_uniform(state), &sine, &cosine);
        q[box[0].q] = clamp(radius * cosine * given->swing[0], box[0].lower, box[0].upper);
        q[box[1].q] = clamp(radius * sine * given->swing[1], box[1].lower, box[1].upper);
    }
}

// The steps of joints that turn about all axes at once, by a vector within the ball of half a turn.
static void draw_balls(const poise_solver *solver, const pz_goal_set *moves, pz_goal_set among, uint64_t *state,
                       double *step)
{
    const poise_model *model = solver->model;
    memset(step, 0, (size_t)model->nv * sizeof *step);
    for (int s = pz_has_free_root(solver) ? model->joints[0].step_end : 0; s < model->step_count; ++s) {
        int dof = model->axes[model->steps[s].axis].dof;
        if (!model->steps[s].own || pz_step_nv(model->steps[s].kind) != 3 || !pz_is_within(moves[dof], among)) {
            continue;
        }
        double z = 2.0 * next_uniform(state) - 1.0, across = sqrt(1.0 - z * z), sine, cosine;
        pz_sincos(PZ_TWO_PI * next_uniform(state), &sine, &cosine);
        double angle = PZ_PI * next_uniform(state);
        step[dof] = angle * across * cosine, step[dof + 1] = angle * across * sine, step[dof + 2] = angle * z;
    }
}

void pz_limbs_draw(poise_solver *solver, const pz_goal_set *moves, pz_goal_set among, double length, uint64_t state,
                   double *q)
{
    const poise_model *model = solver->model;
    double *turned = solver->trial->kin.q; // scratch: the next evaluation fills it
    draw_balls(solver, moves, among, &state, solver->step);
    pz_step_within(solver, solver->q_start, solver->step, turned);
    int first = pz_has_free_root(solver) ? model->joints[0].step_end : 0;
    for (int s = first; s < model->step_count; ++s) {
        const pz_step *step = &model->steps[s];
        for (int i = 0; step->own && i < pz_step_nq(step->kind); ++i) {
            int dof = model->axes[step->axis].dof + (pz_step_nv(step->kind) > i ? i : 0);
            if (!pz_is_within(moves[dof], among)) {
                continue;
            }
            bool is_ball = pz_step_nv(step->kind) == 3 && !is_finite(solver->box[dof].lower);
            double share = next_uniform(&state);
            q[step->q + i] = is_ball ? turned[step->q + i] : draw_coordinate(solver, dof, length, share);
        }
    }
    draw_swings(solver, moves, among, &state, q);
}
