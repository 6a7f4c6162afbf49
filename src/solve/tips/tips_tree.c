// Which trees: branches between the places where the paths to the tips part.
#include "solve/tips/tips_tree.h"

#define PATH     (8 * PZ_ARM_MOST)
#define FEW_TIPS 4

// Can an arm have this joint?
static bool is_plain(const poise_model *model, const pz_joint *joint)
{
    int steps = joint->step_end - joint->step_begin;
    return steps == 0 ||
           (steps == 1 && joint->mimic == POISE_WORLD && !pz_step_is_block(model->steps[joint->step_begin].kind));
}

// Goals may sit on inner bodies, too.
static int clamp_count(int tips)
{
    return tips < FEW_TIPS ? FEW_TIPS : least(tips, PZ_TIPS_MOST);
}

int pz_trees_most_branches(const poise_model *model)
{
    int tips = 0;
    for (int k = 0; k < model->joint_count; ++k) {
        bool is_tip = model->joints[k].subtree == 1;
        for (int j = k; is_tip && model->joints[j].parent != POISE_WORLD; j = model->joints[j].parent) {
            is_tip = is_plain(model, &model->joints[j]);
        }
        tips += is_tip;
    }
    return tips > 0 ? 2 * clamp_count(tips) - 1 : 0;
}

// The tips that joint k moves; 0 for one that does not move.
static pz_goal_set moved_by(const poise_solver *solver, const pz_tips *tips, int k)
{
    const pz_joint *joint = &solver->model->joints[k];
    return joint->v_begin < joint->v_end ? tips->moves[joint->v_begin] : 0;
}

// A walk down the path to one tip.
typedef struct walk {
    int path[PATH], count;
    int at;     // joints before this are in branches
    int branch; // where it has come to, or -1
} walk;

// The branch above the joint path[at] that moves exactly `moved`, if there is one already.
static int find_branch(const pz_tree *tree, int parent, int first_q)
{
    for (int k = 0; k < tree->branch_count; ++k) {
        const pz_branch *branch = &tree->branches[k];
        if (branch->parent == parent && branch->tip < 0 && branch->chain.n > 0 && branch->chain.q[0] == first_q) {
            return k;
        }
    }
    return -1;
}

// Close the chain of a new branch: its base in the last frame of the one above, lengths over L.
static bool add_branch(pz_tree *tree, int most, const poise_solver *solver, const walk *w, int end, const mat3 *R, vec3 t)
{
    if (tree->branch_count == most) {
        return false;
    }
    pz_branch *branch = &tree->branches[tree->branch_count];
    branch->parent = w->branch;
    branch->tip = -1;
    if (!pz_arm_chain_walk(solver->model, solver->box, NULL, w->path + w->at, end - w->at, R, t, &branch->chain)) {
        return false;
    }
    branch->base = branch->chain.base;
    branch->base_at = v3_scale(branch->chain.base_at, 1.0 / tree->unit);
    if (w->branch >= 0) {
        const mat3 *tail = &tree->branches[w->branch].chain.tail;
        branch->base_at = m3_apply(tail, branch->base_at);
        branch->base = m3_mul(tail, &branch->base);
    }
    pz_arm_chain_scale(tree->unit, &branch->chain);
    tree->branch_count += 1;
    return true;
}

// The inner branch that begins at w->at and moves `moved`, from joint to joint until another set; new unless it is there.
static bool walk_inner(const poise_solver *solver, const pz_tips *tips, pz_tree *tree, int most, walk *w, pz_goal_set moved)
{
    int end = w->at, last = w->at;
    for (; end < w->count; ++end) {
        pz_goal_set here = moved_by(solver, tips, w->path[end]);
        if (here != 0 && here != moved) {
            break;
        }
        last = here != 0 ? end + 1 : last; // fixed joints after the last go with what follows
    }
    int first = w->at;
    while (moved_by(solver, tips, w->path[first]) == 0) {
        first += 1;
    }
    const pz_joint *joint = &solver->model->joints[w->path[first]];
    int found = find_branch(tree, w->branch, joint->q_begin);
    if (found < 0) {
        mat3 I = m3_identity();
        found = tree->branch_count;
        if (!add_branch(tree, most, solver, w, last, &I, v3(0, 0, 0))) {
            return false;
        }
    }
    w->branch = found;
    w->at = last;
    return true;
}

static bool add_tip(const poise_solver *solver, const pz_tips *tips, int goal, int most, pz_tree *tree)
{
    const poise_model *model = solver->model;
    const pz_tip_key *key = &tips->keys[goal];
    bool turns = key->kind == POISE_GOAL_POSE && key->has_turns && key->has_lengths;
    if ((!turns && key->kind != POISE_GOAL_POSITION) || key->has_band) {
        return false;
    }
    walk w = {.branch = -1};
    w.count = pz_model_path(model, key->body, w.path, PATH);
    w.at = tree->has_root ? 1 : 0;
    for (int k = w.at; k < w.count && w.count <= PATH; ++k) {
        const pz_joint *joint = &model->joints[w.path[k]];
        if (!is_plain(model, joint) || (joint->v_begin < joint->v_end && solver->box[joint->v_begin].locked)) {
            return false;
        }
    }
    for (int k = w.at; k < w.count && w.count <= PATH;) {
        pz_goal_set moved = moved_by(solver, tips, w.path[k]);
        if (moved == 0 || pz_is_single(moved)) {
            k += 1;
            continue;
        }
        if (!walk_inner(solver, tips, tree, most, &w, moved)) {
            return false;
        }
        k = w.at;
    }
    mat3 B = model->joints[key->body].B, L = quat_matrix(quat_normalize(key->local.rotation));
    mat3 R = m3_mul(&B, &L);
    if (w.count > PATH || !add_branch(tree, most, solver, &w, w.count, &R, m3_apply(&B, key->local.position))) {
        return false;
    }
    tree->branches[tree->branch_count - 1].tip = tree->tip_count;
    tree->tips[tree->tip_count++] = (pz_tip){.goal = goal, .branch = tree->branch_count - 1, .turns = turns};
    return true;
}

void pz_trees_lay_out(pz_tips *tips, int most, pz_arena *arena)
{
    tips->branch_capacity = most;
    tips->branches = most > 0 ? (pz_branch *)pz_arena_take(arena, (size_t)most, sizeof *tips->branches) : NULL;
    tips->tips = most > 0 ? (pz_tip *)pz_arena_take(arena, PZ_TIPS_MOST, sizeof *tips->tips) : NULL;
    tips->trees = most > 0 ? (pz_tree *)pz_arena_take(arena, PZ_TIPS_MOST, sizeof *tips->trees) : NULL;
}

// Where the root is fixed lengths count from the first joint.
static void set_reference(pz_tree *tree)
{
    vec3 first = tree->branches[0].base_at;
    tree->origin = v3_scale(first, tree->unit);
    for (int k = 0; k < tree->branch_count; ++k) {
        pz_branch *branch = &tree->branches[k];
        branch->base_at = branch->parent < 0 ? v3_sub(branch->base_at, first) : branch->base_at;
    }
}

bool pz_tree_make(const poise_solver *solver, pz_tips *tips, const pz_part *part, pz_tree **made)
{
    if (!tips->trees) {
        return false;
    }
    pz_tree *tree = &tips->trees[tips->tree_count];
    *tree = (pz_tree){.branches = tips->branches + tips->branch_count,
                      .tips = tips->tips + tips->tip_count,
                      .unit = part->unit,
                      .has_root = pz_has_free_root(solver)};
    int most = tips->branch_capacity - tips->branch_count;
    for (int i = 0; i < tips->count; ++i) {
        if ((part->goals & pz_goal_bit(i)) && !add_tip(solver, tips, i, most, tree)) {
            return false;
        }
    }
    if (!tree->has_root) {
        set_reference(tree);
    }
    tips->tree_count += 1;
    tips->branch_count += tree->branch_count;
    tips->tip_count += tree->tip_count;
    *made = tree;
    return true;
}
