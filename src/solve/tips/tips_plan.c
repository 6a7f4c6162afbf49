// Which goals are solved for together, and how large what they hang on is.
#include "solve/tips/tips_tree.h"

#define UNIT_SHARE 0.3 // L over the length of a chain, as for arms

// ---- Which goals ---------------------------------------------------------------------------------------------------------

// By what the kind uses: points are compared in length units but where an axis goes with them.
static bool has_lengths(const poise_goal *goal)
{
    int needs = pz_goal_row_of(goal->kind)->needs;
    return (needs & PZ_NEEDS_POINT) && !(needs & PZ_NEEDS_AXIS) && goal->weight > 0;
}

static bool has_turns(const poise_goal *goal)
{
    int needs = pz_goal_row_of(goal->kind)->needs;
    double weight = goal->kind == POISE_GOAL_POSE ? goal->rotation_weight : goal->weight;
    return (needs & (PZ_NEEDS_ROTATION | PZ_NEEDS_AXIS)) && weight > 0;
}

// A goal on one body whose error can be zero wherever the others stand.
static bool is_tip(const poise_goal *goal)
{
    const pz_goal_row *row = pz_goal_row_of(goal->kind);
    bool is_on_body = (row->needs & PZ_NEEDS_BODY) && !(row->needs & PZ_NEEDS_COUPLING) && row->rows;
    return is_on_body && (has_lengths(goal) || has_turns(goal)) && goal->loss == POISE_LOSS_NONE;
}

static pz_tip_key key_of(const poise_goal *goal)
{
    pz_tip_key key;
    memset(&key, 0, sizeof key); // padding is compared, too
    key.kind = goal->kind;
    key.body = goal->body;
    key.has_lengths = has_lengths(goal);
    key.has_turns = has_turns(goal);
    key.has_band = pz_has_band(goal->tolerance) || pz_has_band(goal->rotation_tolerance);
    key.local = goal->local;
    return key;
}

// ---- Chains --------------------------------------------------------------------------------------------------------------

// The chain from the first joint that moves, below a free root, to the point of the goal: its length, with half the range of
// slides as far as that counts, and its reach.
static void measure_chain(const poise_solver *solver, pz_tips *tips, int goal)
{
    const poise_model *model = solver->model;
    bool has_free_root = pz_has_free_root(solver);
    double length = v3_norm(solver->goals[goal].local.position), ranges = 0.0, ends = 0.0;
    mat3 R = m3_identity();
    vec3 at = {0, 0, 0};
    bool is_bounded = !has_free_root;
    int body = solver->goals[goal].body, shoulder = body;
    for (int k = body; k != POISE_WORLD && !(has_free_root && k == 0); k = model->joints[k].parent) {
        const pz_joint *joint = &model->joints[k];
        shoulder = joint->step_begin < joint->step_end ? k : shoulder;
        is_bounded =
            is_bounded && !(joint->step_begin < joint->step_end && model->steps[joint->step_begin].kind == PZ_CURVE);
        for (int i = joint->v_begin; i < joint->v_begin + joint->slide_count && joint->mimic == POISE_WORLD; ++i) {
            const pz_box *box = &solver->box[i];
            double range = 0.5 * (box->upper - box->lower);
            ranges += is_finite(range) ? range : 0.0;
            ends += max2(fabs(box->lower), fabs(box->upper));
        }
        is_bounded = is_bounded && (joint->mimic == POISE_WORLD || joint->slide_count == 0);
    }
    double links = v3_norm(solver->goals[goal].local.position);
    for (int k = body; k != shoulder; k = model->joints[k].parent) {
        links += v3_norm(model->joints[k].t);
        length += v3_norm(model->joints[k].t);
    }
    int path[64], count = pz_model_path(model, shoulder, path, 64);
    for (int k = 0; k < count && count <= 64; ++k) { // nothing above the shoulder moves
        at = v3_add(at, m3_apply(&R, model->joints[path[k]].t));
        R = m3_mul(&R, &model->joints[path[k]].C);
    }
    tips->length[goal] = length + pz_counted_ranges(length, ranges);
    tips->reach[goal] = is_bounded && count <= 64 ? links + ends : INFINITY;
    tips->shoulder[goal] = at;
}

// ---- Parts ---------------------------------------------------------------------------------------------------------------

// All goals that are tied to those of `set` by dofs that move several.
static pz_goal_set tied_to(const poise_model *model, const pz_goal_set *moves, pz_goal_set set)
{
    for (bool grows = true; grows;) {
        grows = false;
        for (int i = 0; i < model->nv; ++i) {
            bool more = (moves[i] & set) != 0 && (moves[i] & ~set) != 0;
            set |= more ? moves[i] : 0;
            grows = grows || more;
        }
    }
    return set;
}

static void find_alike(const poise_solver *solver, pz_tips *tips)
{
    for (int i = 0; i < tips->count; ++i) {
        tips->alike[i] = ~(pz_goal_set)0 >> (8 * sizeof(pz_goal_set) - (size_t)tips->count);
        for (int k = 0; k < solver->model->nv; ++k) {
            bool moves = tips->moves[k] & pz_goal_bit(i);
            tips->alike[i] &= moves ? tips->moves[k] : ~tips->moves[k];
        }
    }
}

// POSITION goals alone that ask for more than their dofs can give are markers to be fitted, not tips to be reached.
static bool is_fit(const poise_solver *solver, const pz_tips *tips, const pz_part *part)
{
    int dofs = 0, rows = 0;
    for (int i = 0; i < solver->model->nv; ++i) {
        dofs += (tips->moves[i] & part->goals) != 0;
    }
    for (int i = 0; i < tips->count; ++i) {
        bool is_in = part->goals & pz_goal_bit(i);
        if (is_in && solver->goals[i].kind != POISE_GOAL_POSITION) {
            return false;
        }
        rows += is_in ? 3 : 0;
    }
    return rows > dofs;
}

static void add_part(const poise_solver *solver, pz_tips *tips, int first)
{
    pz_part part = {.first = first, .goals = tied_to(solver->model, tips->moves, pz_goal_bit(first))};
    double length = 0.0;
    for (int i = 0; i < tips->count; ++i) {
        bool is_in = part.goals & pz_goal_bit(i);
        part.count += is_in;
        length += is_in ? tips->length[i] : 0.0;
    }
    length /= (double)part.count;
    part.unit = length > 0 && is_finite(length) ? UNIT_SHARE * length : 1.0;
    tips->parts[tips->part_count++] = part;
}

static void find_coordinates(const poise_solver *solver, const pz_tips *tips)
{
    const poise_model *model = solver->model;
    for (int s = 0; s < model->step_count; ++s) {
        const pz_step *step = &model->steps[s];
        int dof = model->axes[step->axis].dof;
        pz_goal_set moved = 0;
        for (int i = 0; step->own && i < pz_step_nv(step->kind); ++i) {
            moved |= tips->moves[dof + i];
        }
        for (int i = 0; step->own && i < pz_step_nq(step->kind); ++i) {
            int *part_of = &tips->part_of[step->q + i];
            *part_of = -1;
            for (int k = 0; k < tips->part_count; ++k) {
                *part_of = (tips->parts[k].goals & moved) != 0 ? k : *part_of;
            }
        }
    }
}

// How each part is solved: one POSE goal on a chain as an arm, others on a tree of hinges and slides.
static void find_ways(const poise_solver *solver, pz_tips *tips)
{
    int used = 0;
    tips->tree_count = tips->branch_count = tips->tip_count = 0;
    for (int k = 0; k < tips->part_count; ++k) {
        pz_part *part = &tips->parts[k];
        const pz_tip_key *key = &tips->keys[part->first];
        bool is_arm = part->count == 1 && key->kind == POISE_GOAL_POSE && key->has_lengths && key->has_turns &&
                      used < tips->arm_count && pz_arm_make_chain(solver, tips->arms[used], &solver->goals[part->first]);
        part->arm = is_arm ? tips->arms[used++] : NULL;
        part->tree = NULL;
        if (!is_arm) {
            pz_tree_make(solver, tips, part, &part->tree);
        }
    }
}

static bool make_plan(const poise_solver *solver, pz_tips *tips)
{
    pz_limbs_find(solver, solver->goals, tips->count, tips->moves);
    find_alike(solver, tips);
    pz_goal_set moved = 0, seen = 0;
    for (int i = 0; i < solver->model->nv; ++i) {
        moved |= tips->moves[i];
    }
    tips->part_count = 0;
    for (int i = 0; i < tips->count; ++i) {
        if (!(moved & pz_goal_bit(i))) { // nothing to be done about it
            return false;
        }
        measure_chain(solver, tips, i);
    }
    for (int i = 0; i < tips->count; ++i) {
        if (!(seen & pz_goal_bit(i))) {
            add_part(solver, tips, i);
            seen |= tips->parts[tips->part_count - 1].goals;
            if (is_fit(solver, tips, &tips->parts[tips->part_count - 1])) {
                return false;
            }
        }
    }
    find_coordinates(solver, tips);
    find_ways(solver, tips);
    return true;
}

bool pz_tips_plan(poise_solver *solver, pz_tips *tips)
{
    int count = solver->goal_count;
    bool is_new = count != tips->count;
    for (int i = 0; i < count; ++i) {
        if (!is_tip(&solver->goals[i])) {
            tips->count = -1;
            return false;
        }
        pz_tip_key key = key_of(&solver->goals[i]);
        is_new = is_new || memcmp(&key, &tips->keys[i], sizeof key) != 0;
        tips->keys[i] = key;
    }
    if (is_new) {
        tips->count = count;
        tips->fits = make_plan(solver, tips);
    }
    return tips->fits;
}
