// f(q) and its derivatives by one sweep down the tree and one up.
//
//   sum the goals' wrenches g and symmetric second derivatives G up the tree:  g_k, G_k for the subtree of joint k
//   gradient       df/dq_i = g_k . S_i                                  (i an axis of joint k)
//   Hessian        H_hi = S_h . (G_k S_i) + g_k . (S_h x S_i)/2         (h above i)
//                       = S_h . c_i,   c_i = G_k S_i + (S_i x* g_k)/2
//
// Derivation: along the motions S_i and S_h the second derivative of the subtree's energy is S_h . G S_i, symmetric, when
// the two act at once; moving by h first carries S_i along, dS_i = S_h x S_i, half of which that symmetric derivative has
// already counted. Axes of one rotation block act at once, with dS_i/dq_j = D_ij of their own:
//
//   H_ij = S_i . (G_k S_j) + g_k . sym(D_ij)
//
// so within a block the half cross product is taken back and the symmetric part of D put in its place (block_correction).
// The pattern is that of composite rigid bodies in dynamics, with goals for masses (Featherstone 2008, chapter 6).
#include "goal/objective.h"

#include "base/error.h"
#include "goal/sum_kernel.h"
#include "model/model.h"

#include <string.h>

// ---- Life ----------------------------------------------------------------------------------------------------------------

static int deepest(const poise_model *model)
{
    int depth = 0;
    for (int i = 0; i < model->axis_count; ++i) {
        depth = model->axes[i].depth > depth ? model->axes[i].depth : depth;
    }
    return depth;
}

void pz_objective_lay_out(poise_objective *o, const poise_model *model, int coupled_goals, pz_arena *arena)
{
    size_t axes = (size_t)model->axis_count, blocks = (size_t)model->block_count, nv = (size_t)model->nv;
    size_t rows = (size_t)coupled_goals * PZ_ROWS_PER_GOAL;
    pz_kin_layout(&o->kin, model, arena);
    o->coupled_capacity = coupled_goals;
    o->gradient = pz_arena_take(arena, nv, sizeof *o->gradient);
    o->sums = pz_arena_take(arena, (size_t)model->joint_count, sizeof *o->sums);
    o->own_markers.any = o->own_markers.all = o->moves_followers = false;
    o->markers = &o->own_markers;
    pz_markers_lay_out(&o->own_markers, model, arena);
    o->extras = pz_arena_take(arena, (size_t)model->joint_count, sizeof *o->extras);
    for (int kind = 0; kind < 2; ++kind) {
        o->c[kind] = pz_arena_take(arena, axes, sizeof *o->c[kind]);
        o->block[kind] = pz_arena_take(arena, blocks, sizeof *o->block[kind]);
    }
    o->made = pz_arena_take(arena, 2, sizeof *o->made);
    o->has_block_curvature = pz_arena_take(arena, 1, sizeof *o->has_block_curvature);
    o->diagonal = pz_arena_take(arena, nv, sizeof *o->diagonal);
    o->rows = pz_arena_take(arena, rows, nv * sizeof *o->rows);
    o->row_weights = pz_arena_take(arena, rows, sizeof *o->row_weights);
    size_t blocks_of_path = (size_t)pz_path_blocks(deepest(model));
    o->stack = pz_arena_take(arena, blocks_of_path, sizeof *o->stack);
    o->entries = pz_arena_take(arena, blocks_of_path * PZ_PATH_LANES, sizeof *o->entries);
    o->path = pz_arena_take(arena, blocks_of_path * PZ_PATH_LANES, sizeof *o->path);
    o->V = pz_arena_take(arena, axes, sizeof *o->V);
    o->U = pz_arena_take(arena, axes, sizeof *o->U);
}

poise_status poise_objective_create(const poise_model *model, int coupled_goals, const poise_allocator *allocator,
                                    poise_objective **objective, poise_error *error)
{
    if (!model || coupled_goals < 0 || !objective) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "model and objective must not be NULL, and coupled_goals must be >= 0");
    }
    poise_objective blank, *o = NULL;
    pz_owned owned;
    pz_arena arena = pz_arena_counting();
    pz_arena_take(&arena, 1, sizeof blank);
    pz_objective_lay_out(&blank, model, coupled_goals, &arena);
    size_t size = pz_arena_bytes(&arena);
    if (!pz_owned_take(&owned, allocator, size)) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory: the objective needs %g bytes", (double)size);
    }
    arena = pz_arena_over(owned.memory, size);
    o = pz_arena_take(&arena, 1, sizeof *o);
    *o = (poise_objective){.owned = owned, .level = POISE_LEVEL_COST};
    pz_objective_lay_out(o, model, coupled_goals, &arena);
    poise_model_neutral(model, o->kin.q);
    pz_kin_sweep(&o->kin, o->kin.q);
    *objective = o;
    return POISE_OK;
}

void poise_objective_destroy(poise_objective *objective)
{
    if (objective) {
        pz_owned_release(&objective->owned);
    }
}

// Does a goal see a body that moves with a follower? Where none does, nothing of H lies beside the tree.
static bool moves_followers(const poise_model *model, const poise_goal *goal)
{
    int needs = pz_goal_row_of(goal->kind)->needs;
    bool is_below = (needs & PZ_NEEDS_BODY) && goal->body != POISE_WORLD && model->joints[goal->body].below_mimic;
    return is_below || (needs & PZ_NEEDS_COUPLING);
}

// Does a goal pass poise_goal_check as a marker without loss and band? One sum tells, since x - x is 0 for finite x: markers
// come by the dozen in every frame.
static inline bool is_sound_marker(const poise_model *model, const poise_goal *goal)
{
    vec3 l = goal->local.position, t = goal->target.position, band = goal->rotation_tolerance;
    vec3 none = v3_add(v3_sub(l, l), v3_sub(t, t));
    double weights = goal->weight + goal->rotation_weight;
    return goal->kind == POISE_GOAL_POSITION && goal->loss == POISE_LOSS_NONE && !pz_has_band(goal->tolerance) &&
           (unsigned)goal->body < (unsigned)model->joint_count && goal->weight >= 0 && goal->rotation_weight >= 0 &&
           band.x >= 0 && band.y >= 0 && band.z >= 0 && none.x + none.y + none.z + (weights - weights) == 0;
}

poise_status poise_objective_set_goals(poise_objective *objective, const poise_goal *goals, int count, poise_error *error)
{
    if (!objective || (count > 0 && !goals)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "%s must not be NULL", objective ? "goals" : "objective");
    }
    if (count < 0) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "the number of goals is %d, and must not be negative", count);
    }
    int coupled = 0;
    bool all_plain = true;
    for (int i = 0; i < count; ++i) {
        if (is_sound_marker(objective->kin.model, &goals[i])) {
            continue;
        }
        all_plain = false;
        poise_status status = poise_goal_check(&goals[i], objective->kin.model, error);
        if (status != POISE_OK) { // "position goal: ..." becomes "goal 2 (position): ..."
            return error ? pz_error_set(error, status, "goal %d (%s)%s", i, poise_goal_kind_name(goals[i].kind),
                                        strchr(error->text, ':'))
                         : status;
        }
        coupled += (pz_goal_row_of(goals[i].kind)->needs & PZ_NEEDS_COUPLING) != 0;
    }
    if (coupled > objective->coupled_capacity) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "%d goals tie bodies together, but the objective was created for %d: raise coupled_goals",
                            coupled, objective->coupled_capacity);
    }
    const poise_model *model = objective->kin.model;
    objective->moves_followers = false;
    for (int i = 0; i < count && model->has_mimic && !objective->moves_followers; ++i) {
        objective->moves_followers = moves_followers(model, &goals[i]);
    }
    pz_markers_condense(&objective->own_markers, objective->kin.model, goals, count);
    objective->markers = &objective->own_markers;
    objective->all_plain = all_plain;
    objective->goals = goals;
    objective->goal_count = count;
    objective->level = POISE_LEVEL_COST;
    return POISE_OK;
}

void pz_objective_share_goals(const poise_objective *from, poise_objective *to)
{
    to->goals = from->goals;
    to->goal_count = from->goal_count;
    to->markers = from->markers;
    to->all_plain = from->all_plain;
    to->moves_followers = from->moves_followers;
    to->level = POISE_LEVEL_COST;
}

// ---- Evaluation ----------------------------------------------------------------------------------------------------------

// The goals that are not condensed.
static void evaluate_apart(const poise_objective *o, pz_evaluation *evaluation)
{
#if PZ_HAS_WIDE
    if (o->kin.model->is_wide && o->all_plain) {
        pz_evaluate_plain_wide(o, evaluation);
        return;
    }
#endif
    for (int i = 0; i < o->goal_count; ++i) {
        const poise_goal *goal = &o->goals[i];
        if (!o->markers->any || !pz_is_condensed(o->markers, goal)) {
            pz_goal_row_of(goal->kind)->evaluate(evaluation, goal);
        }
    }
}

// Clear what goals add to, and let them add.
static void evaluate_goals(poise_objective *o, poise_level level)
{
    const poise_model *model = o->kin.model;
    pz_evaluation evaluation = {.kin = &o->kin,
                                .level = level,
                                .sums = o->sums,
                                .extras = o->extras,
                                .dof_gradient = o->gradient,
                                .dof_curvature = o->diagonal,
                                .block_curvature = o->block[POISE_HESSIAN_EXACT],
                                .block_gauss_newton = o->block[POISE_HESSIAN_GAUSS_NEWTON],
                                .rows = o->rows,
                                .row_weights = o->row_weights};
    if (level != POISE_LEVEL_COST) {
        memset(o->sums, 0, (size_t)model->joint_count * sizeof *o->sums);
        memset(o->gradient, 0, (size_t)model->nv * sizeof *o->gradient);
        memset(o->diagonal, 0, (size_t)model->nv * sizeof *o->diagonal);
        for (int i = 0; i < model->block_count; ++i) {
            o->block[0][i] = o->block[1][i] = (sym3){0};
        }
    }
    if (!o->markers->all) {
        evaluate_apart(o, &evaluation);
    }
    if (o->markers->any) {
        pz_markers_evaluate(o->markers, &evaluation);
    }
    if (o->prior) {
        pz_goal_row_of(o->prior->kind)->evaluate(&evaluation, o->prior);
    }
    o->cost = evaluation.cost;
    o->row_count = evaluation.row_count;
    o->has_extras = evaluation.has_extras;
}

static inline void add_numbers(double *restrict to, const double *restrict from, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        to[i] += from[i];
    }
}

// Add the sums of every joint to its parent's, leaves first. The gradient alone needs the wrenches.
static void sum_up(poise_objective *o, poise_level level)
{
    bool is_wide = false;
#if PZ_HAS_WIDE
    is_wide = o->kin.model->is_wide && level == POISE_LEVEL_HESSIAN;
    if (is_wide) {
        pz_sum_up_wide(o);
    }
#endif
    for (int k = o->kin.model->joint_count - 1; k > 0 && (!is_wide || o->has_extras); --k) {
        int parent = o->kin.model->joints[k].parent;
        if (parent == POISE_WORLD) {
            continue;
        }
        if (level == POISE_LEVEL_GRADIENT) {
            o->sums[parent].g = wrench_add(o->sums[parent].g, o->sums[k].g);
        } else if (!is_wide) {
            add_numbers((double *)&o->sums[parent], (const double *)&o->sums[k], sizeof(pz_sum) / sizeof(double));
        }
        if (o->has_extras) {
            add_numbers((double *)&o->extras[parent], (const double *)&o->extras[k], sizeof(pz_extra) / sizeof(double));
        }
    }
}

static void add_gradient(poise_objective *o)
{
    const poise_model *model = o->kin.model;
    for (int i = 0; i < model->axis_count; ++i) {
        const pz_axis *axis = &model->axes[i];
        o->gradient[axis->dof] += axis->factor * spatial_dot(o->kin.S[i], o->sums[axis->joint].g);
    }
}

// A curve's axis does not pass through p: what is left of its motion is a slide.
static void add_curve_forces(const poise_objective *o, poise_hessian kind)
{
    const poise_model *model = o->kin.model;
    bool exact = kind == POISE_HESSIAN_EXACT;
    for (int s = 0; s < model->step_count; ++s) {
        const pz_step *step = &model->steps[s];
        if (step->kind == PZ_CURVE) {
            int k = model->axes[step->axis].joint;
            const pz_sum *sum = &o->sums[k];
            spatial S = o->kin.S[step->axis];
            vec3 slide = v3_sub(S.v, v3_cross(o->kin.p[k], S.w));
            wrench more = slide_force(sum_lever(sum, exact, exact), sum->n, slide);
            o->c[kind][step->axis] = wrench_add(o->c[kind][step->axis], more);
        }
    }
}

static void add_extra_forces(const poise_objective *o, poise_hessian kind)
{
    const poise_model *model = o->kin.model;
    for (int i = 0; i < model->axis_count; ++i) {
        const pz_extra *extra = &o->extras[model->axes[i].joint];
        const sym6 *G = kind == POISE_HESSIAN_EXACT ? &extra->exact : &extra->gauss_newton;
        o->c[kind][i] = wrench_add(o->c[kind][i], sym6_apply(G, o->kin.S[i]));
    }
}

// What the exact Hessian has within the blocks of one joint for the wrench g on it and what it carries: for a curve g . D.
// Linear in g.
static void add_block_curvature(const poise_objective *o, int k, wrench g)
{
    const poise_model *model = o->kin.model;
    for (int s = model->joints[k].step_begin; s < model->joints[k].step_end; ++s) {
        const pz_step *step = &model->steps[s];
        if (!pz_step_is_block(step->kind)) {
            continue;
        }
        sym3 *exact = &o->block[POISE_HESSIAN_EXACT][step->block];
        if (step->kind == PZ_CURVE) {
            exact->xx += spatial_dot(o->kin.D[step->value], g);
        } else {
            *exact = sym3_add(*exact, block_correction(&o->kin.blocks[step->block], &o->kin.S[step->axis],
                                                       pz_step_nv(step->kind), o->kin.p[k], g));
        }
    }
}

void pz_add_block_curvature(const poise_objective *o)
{
    for (int k = 0; !*o->has_block_curvature && o->kin.model->block_count > 0 && k < o->kin.model->joint_count; ++k) {
        add_block_curvature(o, k, o->sums[k].g);
    }
    *o->has_block_curvature = true;
}

static void make_forces_of(const poise_objective *o, poise_hessian kind)
{
#if PZ_HAS_WIDE
    if (o->kin.model->is_wide) {
        pz_make_forces_wide(o, kind);
        return;
    }
#endif
    make_forces(o, kind);
}

const wrench *pz_forces(const poise_objective *o, poise_hessian kind)
{
    if (kind == POISE_HESSIAN_EXACT) {
        pz_add_block_curvature(o);
    }
    if (!o->made[kind]) {
        make_forces_of(o, kind);
        if (o->kin.model->curve_count > 0) {
            add_curve_forces(o, kind);
        }
        if (o->has_extras) {
            add_extra_forces(o, kind);
        }
        o->made[kind] = true;
    }
    return o->c[kind];
}

void pz_objective_add_curvature(poise_objective *o, int body, wrench g, sym3 K)
{
    pz_add_block_curvature(o);
    for (int k = body; k != POISE_WORLD; k = o->kin.model->joints[k].parent) {
        o->sums[k].g = wrench_add(o->sums[k].g, g);
        o->sums[k].K = sym3_add(o->sums[k].K, K);
        add_block_curvature(o, k, g);
    }
    o->made[POISE_HESSIAN_EXACT] = false;
}

static poise_status overflowed(poise_objective *o)
{
    o->cost = INFINITY;
    o->level = POISE_LEVEL_COST;
    return POISE_ERROR_NUMERIC;
}

poise_status pz_objective_evaluate(poise_objective *o, const double *q, poise_level level)
{
    pz_kin_sweep(&o->kin, q);
    evaluate_goals(o, level);
    if (!is_finite(o->cost)) {
        return overflowed(o);
    }
    if (level != POISE_LEVEL_COST) {
        sum_up(o, level);
        add_gradient(o);
        if (!all_finite(o->gradient, (size_t)o->kin.model->nv)) {
            return overflowed(o);
        }
    }
    if (level == POISE_LEVEL_HESSIAN) {
        o->made[POISE_HESSIAN_EXACT] = o->made[POISE_HESSIAN_GAUSS_NEWTON] = *o->has_block_curvature = false;
    }
    o->level = level;
    return POISE_OK;
}

poise_status poise_objective_evaluate(poise_objective *objective, const double *q, poise_level level, poise_error *error)
{
    if (!objective || (unsigned)level > POISE_LEVEL_HESSIAN) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "objective must not be NULL, and level must be one of poise_level");
    }
    if (!q || !pz_model_accepts(objective->kin.model, q)) {
        return pz_refuse_q(objective->kin.model, q, "q", error);
    }
    poise_status status = pz_objective_evaluate(objective, q, level);
    return status == POISE_OK ? status : pz_error_set(error, status, "the cost or its gradient is too large to represent");
}

// ---- Answers -------------------------------------------------------------------------------------------------------------

poise_value poise_objective_value(const poise_objective *objective)
{
    if (!objective) {
        return (poise_value){0};
    }
    return (poise_value){objective->cost, objective->level != POISE_LEVEL_COST ? objective->gradient : NULL};
}

poise_goal_error poise_objective_goal_error(const poise_objective *objective, int goal)
{
    if (!objective || goal < 0 || goal >= objective->goal_count) {
        return pz_single_error(0.0, POISE_UNIT_NONE);
    }
    const poise_goal *g = &objective->goals[goal];
    poise_goal_error e = pz_goal_row_of(g->kind)->error(&objective->kin, g);
    if (e.error != e.error) { // infinity less infinity, where coordinates overflow
        e.error = INFINITY;
    }
    return e;
}
