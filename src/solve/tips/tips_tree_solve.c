// A part on a tree of hinges and slides, from start to answer: searches, new limbs, the closest pose, the report.
#include "num/trig.h"
#include "solve/geometric/geometric.h"
#include "solve/tips/tips_tree.h"

#define FINISH_LAMBDA 1e-4 // where a search left off
#define FINISH_LEAST  1e-15
#define FINISH_MOST   1e6 // steps this short change nothing
#define FINISH_STEPS  80
#define FINISH_LOOK   10 // steps that must halve F

// ---- Coordinates ---------------------------------------------------------------------------------------------------------

// Where a free root is at the start.
static void read_root(const poise_solver *solver, pz_tree *tree)
{
    const poise_model *model = solver->model;
    const pz_joint *root = &model->joints[0];
    const double *q = solver->q_start; // the root's come first
    if (model->given[0].type == POISE_JOINT_FREE) {
        mat3 M = quat_matrix(quat_normalize((quat){q[3], q[4], q[5], q[6]})), R = m3_mul(&root->C, &M);
        tree->B = quat_from_matrix(&R);
        tree->b = v3_add(root->t, m3_apply(&root->C, v3(q[0], q[1], q[2])));
        return;
    }
    pz_kin_sweep(&solver->trial->kin, solver->q_start);
    tree->B = quat_from_matrix(&solver->trial->kin.R[0]);
    tree->b = solver->trial->kin.origin;
}

static void open_branches(const poise_solver *solver, pz_tree *tree)
{
    for (int k = 0; k < tree->branch_count; ++k) {
        pz_branch *branch = &tree->branches[k];
        double q[PZ_ARM_MOST];
        for (int i = 0; i < branch->chain.n; ++i) {
            q[i] = solver->q_start[branch->chain.q[i]];
        }
        arm_open(&branch->chain, branch->chain.n, q, &branch->run);
        arm_begin(&branch->chain, branch->chain.n, q, &branch->run);
    }
    if (tree->has_root) {
        read_root(solver, tree);
    }
}

// The current coordinates as a configuration; hinges next to where they started.
static void write_configuration(const poise_solver *solver, pz_tree *tree, double *q)
{
    memcpy(q, solver->q_start, (size_t)solver->model->nq * sizeof *q);
    for (int k = 0; k < tree->branch_count; ++k) {
        const pz_branch *branch = &tree->branches[k];
        double start[PZ_ARM_MOST], at[PZ_ARM_MOST];
        for (int i = 0; i < branch->chain.n; ++i) {
            start[i] = solver->q_start[branch->chain.q[i]];
            at[i] = branch->run.q[i];
        }
        arm_turn_back(&branch->chain, branch->chain.n, start, at);
        for (int i = 0; i < branch->chain.n; ++i) {
            q[branch->chain.q[i]] = at[i];
        }
    }
    if (tree->has_root) {
        mat3 B = quat_matrix(tree->B);
        pz_set_root(solver->model, &B, v3_sub(tree->b, solver->model->joints[0].t), q);
    }
}

static void keep(pz_tree *tree, bool back)
{
    for (int k = 0; k < tree->branch_count; ++k) {
        pz_branch *branch = &tree->branches[k];
        for (int i = 0; i < branch->chain.n; ++i) {
            double *q = &branch->run.q[i], *side = &branch->run.side[i];
            *(back ? q : &branch->q_kept[i]) = back ? branch->q_kept[i] : *q;
            *(back ? side : &branch->side_kept[i]) = back ? branch->side_kept[i] : *side;
        }
    }
    *(back ? &tree->B : &tree->B_kept) = back ? tree->B_kept : tree->B;
    *(back ? &tree->b : &tree->b_kept) = back ? tree->b_kept : tree->b;
}

// ---- Targets and cost ----------------------------------------------------------------------------------------------------

static void take_targets(const poise_solver *solver, const pz_tips *tips, pz_tree *tree)
{
    const poise_solver_options *o = &solver->options;
    double sine, cosine, scale = 1.0 / tree->unit;
    pz_sincos(0.5 * min2(o->rotation_tolerance, PZ_PI), &sine, &cosine);
    for (int i = 0; i < tree->tip_count; ++i) {
        pz_tip *tip = &tree->tips[i];
        const poise_goal *goal = &solver->goals[tip->goal];
        const pz_arm_chain *chain = &tree->branches[tip->branch].chain;
        mat3 R = quat_matrix(quat_normalize(goal->target.rotation)), tail = m3_transpose(&chain->tail);
        tip->world_u = tip->turns ? m3_mul(&R, &tail) : m3_identity();
        tip->world_t = goal->target.position;
        tip->u = tip->world_u;
        tip->t = v3_scale(v3_sub(tip->world_t, tree->origin), scale);
        tip->most_r = pz_arm_square(o->position_tolerance * scale, tips->length[tip->goal] * scale);
        tip->most_e = !tip->turns || o->rotation_tolerance >= PZ_PI ? INFINITY : pz_arm_square(2.0 * sine, 1.0);
        tip->weight = goal->weight * tree->unit * tree->unit;
        tip->turn_weight = tip->turns ? goal->rotation_weight : 0.0;
    }
}

static double own_cost(const pz_tree *tree)
{
    double sum = 0.0;
    for (int i = 0; i < tree->tip_count; ++i) {
        const pz_tip *tip = &tree->tips[i];
        sum += 0.5 * tip->weight * tip->error.rr + tip->turn_weight * tip->error.e;
    }
    return sum;
}

// Lay a free root onto the targets (tips_align.c), from the frames that were looked at.
static void align(pz_tree *tree)
{
    double share = 1.0 / tree->tip_count, scale = 1.0 / tree->unit;
    vec3 x = {0, 0, 0}, t = {0, 0, 0};
    for (int i = 0; i < tree->tip_count; ++i) {
        x = v3_mad(x, share, tree->branches[tree->tips[i].branch].frames.p);
        t = v3_mad(t, share, tree->tips[i].world_t);
    }
    mat3 B = quat_matrix(tree->B), S = m3_transpose(&B);
    S = (mat3){v3_scale(S.x, PZ_TIPS_STAY), v3_scale(S.y, PZ_TIPS_STAY), v3_scale(S.z, PZ_TIPS_STAY)};
    for (int i = 0; i < tree->tip_count; ++i) {
        const pz_tip *tip = &tree->tips[i];
        const arm_frames *frames = &tree->branches[tip->branch].frames;
        pz_add_pair(&S, scale, v3_sub(frames->p, x), v3_sub(tip->world_t, t));
        if (tip->turns) {
            pz_add_pair(&S, 0.5, frames->d.x, tip->world_u.x);
            pz_add_pair(&S, 0.5, frames->d.y, tip->world_u.y);
            pz_add_pair(&S, 0.5, frames->d.z, tip->world_u.z);
        }
    }
    quat turn;
    tree->B = pz_best_quat(&S, 4, &turn) ? turn : tree->B;
    tree->b = v3_sub(t, v3_scale(quat_rotate(tree->B, x), tree->unit));
}

// ---- One search ----------------------------------------------------------------------------------------------------------

static bool is_met(const poise_solver *solver, const pz_tree *tree)
{
    return pz_tree_is_met(tree) ||
           (solver->options.cost_tolerance > 0 && own_cost(tree) <= 0.9999 * solver->options.cost_tolerance);
}

static void count_iteration(poise_solver *solver, const pz_tree *tree, double lambda)
{
    poise_report *report = &solver->report;
    report->iterations += 1;
    if (solver->options.trace && report->traced < solver->options.trace_capacity) {
        solver->options.trace[report->traced++] = (poise_trace){.cost = pz_finite(own_cost(tree)),
                                                                .gradient = pz_finite(tree->slope),
                                                                .damping = lambda,
                                                                .step = pz_finite(tree->longest),
                                                                .accepted = true}; // judged at the end
    }
}

// From the current coordinates; `is_seen`: they have been evaluated.
static bool look_for_zero(poise_solver *solver, pz_tree *tree, bool is_seen)
{
    int most = least(PZ_TIPS_ITERATIONS, solver->options.max_iterations);
    double lambda = 0.0;
    arm_progress progress = arm_progress_begin();
    for (;; is_seen = false) {
        if (!is_seen) {
            pz_tree_look(tree);
        }
        solver->report.evaluations += 1;
        if (progress.k > 0) {
            count_iteration(solver, tree, lambda);
        }
        bool met = is_met(solver, tree);
        if (arm_ends(&progress, tree->F, met, most)) {
            return met;
        }
        lambda = arm_damping(tree->F);
        pz_tree_move(tree, lambda);
    }
}

// Descent with the same step, where a search was dropped near a zero.
static bool finish(poise_solver *solver, pz_tree *tree)
{
    double lambda = FINISH_LAMBDA, growth = 2.0, before = tree->F;
    int most = least(FINISH_STEPS, solver->options.max_iterations);
    if (!(tree->F < PZ_TIPS_NEAR_ZERO)) {
        return false;
    }
    for (int k = 1; k <= most && lambda < FINISH_MOST; ++k) {
        double F = tree->F;
        keep(tree, false);
        pz_tree_move(tree, lambda);
        pz_tree_look(tree);
        solver->report.evaluations += 1;
        solver->report.iterations += 1;
        if (tree->F < F) {
            lambda = max2(lambda / 3.0, FINISH_LEAST);
            growth = 2.0;
            if (is_met(solver, tree)) {
                return true;
            }
        } else {
            keep(tree, true);
            pz_tree_look(tree);
            lambda *= growth;
            growth *= 2.0;
        }
        if (k % FINISH_LOOK == 0) {
            if (!(tree->F < 0.5 * before)) {
                return false;
            }
            before = tree->F;
        }
    }
    return false;
}

// ---- Restarts ------------------------------------------------------------------------------------------------------------

static void draw_branch(pz_branch *branch, uint64_t *state)
{
    double q[PZ_ARM_MOST];
    const pz_arm_chain *chain = &branch->chain;
    for (int i = 0; i < chain->n; ++i) {
        q[i] = clamp(chain->first[i] + chain->span[i] * next_uniform(state), chain->lower[i], chain->upper[i]);
    }
    arm_begin(chain, chain->n, q, &branch->run);
}

static void draw_limb(const poise_solver *solver, const pz_tips *tips, pz_tree *tree, int tip, int restart)
{
    pz_branch *branch = &tree->branches[tree->tips[tip].branch];
    size_t size = (size_t)branch->chain.n * sizeof branch->run.q[0];
    double best = INFINITY, q[PZ_ARM_MOST] = {0.0};
    for (int draw = 0; draw < PZ_TIPS_DRAWS; ++draw) {
        uint64_t state = pz_limbs_state(solver->options.seed, tips->keys[tree->tips[tip].goal].body, restart, draw);
        draw_branch(branch, &state);
        double f = pz_tree_look_at_limb(tree, tip);
        if (f < best || draw == 0) {
            best = f;
            memcpy(q, branch->run.q, size);
        }
    }
    arm_begin(&branch->chain, branch->chain.n, q, &branch->run);
}

// Where restart number `restart` begins: new limbs for the tips that were missed, for all where none was; everything again
// after some rounds of that, and where those have no joints of their own.
static void begin_again(const poise_solver *solver, const pz_tips *tips, pz_tree *tree, int restart, int *rounds)
{
    bool missed[PZ_TIPS_MOST], any = false;
    int drawn = 0;
    for (int i = 0; i < tree->tip_count; ++i) {
        missed[i] = tree->tips[i].f >= PZ_TIPS_MISSED;
        any = any || missed[i];
    }
    for (int i = 0; i < tree->tip_count && *rounds < PZ_TIPS_ROUNDS; ++i) {
        if ((missed[i] || !any) && tree->branches[tree->tips[i].branch].chain.n > 0) {
            draw_limb(solver, tips, tree, i, restart);
            drawn += 1;
        }
    }
    *rounds = drawn > 0 ? *rounds + 1 : 0;
    if (drawn == 0) {
        uint64_t state = pz_limbs_state(solver->options.seed, tips->keys[tree->tips[0].goal].body, restart, PZ_TIPS_DRAWS);
        for (int k = 0; k < tree->branch_count; ++k) {
            draw_branch(&tree->branches[k], &state);
        }
        if (tree->has_root) {
            pz_tree_look(tree);
            align(tree);
        }
    }
}

// ---- Answer --------------------------------------------------------------------------------------------------------------

// The gradient of a root whose dofs are slides along the axes of its frame and turns about the body's own.
static double slope_of_root(const poise_model *model, const pz_tree *tree, vec3 n, vec3 f)
{
    vec3 along = m3_apply_transposed(&model->joints[0].C, v3_scale(quat_rotate(tree->B, f), 1.0 / tree->unit));
    return max2(max2(max2(fabs(n.x), fabs(n.y)), fabs(n.z)), max2(max2(fabs(along.x), fabs(along.y)), fabs(along.z)));
}

// The largest component of the projected gradient at the answer, per unit of a coordinate.
static double slope_of(const poise_model *model, pz_tree *tree)
{
    double largest = 0.0;
    vec3 n = {0, 0, 0}, f = {0, 0, 0};
    pz_tree_sum_forces(tree, true);
    for (int k = 0; k < tree->branch_count; ++k) {
        const pz_branch *branch = &tree->branches[k];
        n = branch->parent < 0 ? v3_add(n, branch->n) : n;
        f = branch->parent < 0 ? v3_add(f, branch->f) : f;
        const pz_arm_chain *chain = &branch->chain;
        for (int i = 0; i < chain->n; ++i) {
            double q = branch->run.q[i], g = pz_tree_slope(branch, i);
            bool held = (q <= chain->lower[i] && g >= 0) || (q >= chain->upper[i] && g <= 0);
            largest = held ? largest : max2(largest, fabs(g) / chain->rate[i]);
        }
    }
    return tree->has_root ? max2(largest, slope_of_root(model, tree, n, f)) : largest;
}

// The answer by the tree's own numbers; the objective knows the coordinates of other roots.
static void measure(poise_solver *solver, pz_tree *tree)
{
    poise_report *r = &solver->report;
    double rr = 0.0, e = 0.0;
    for (int i = 0; i < tree->tip_count; ++i) {
        rr = max2(rr, tree->tips[i].error.rr);
        e = max2(e, tree->tips[i].error.e);
    }
    r->cost = own_cost(tree);
    r->worst_length = tree->unit * sqrt(rr);
    r->worst_angle = arm_angle(e);
    bool is_reached =
        r->worst_length <= solver->options.position_tolerance && r->worst_angle <= solver->options.rotation_tolerance;
    bool is_known = !tree->has_root || solver->model->given[0].type == POISE_JOINT_FREE;
    solver->is_measured = is_known && (is_reached || r->cost <= solver->options.cost_tolerance);
    r->gradient = solver->is_measured ? slope_of(solver->model, tree) : 0.0;
}

static bool search(poise_solver *solver, pz_tips *tips, const pz_part *part, bool is_seen)
{
    pz_tree *tree = part->tree;
    bool met = look_for_zero(solver, tree, is_seen) || finish(solver, tree);
    int rounds = 0, last = 0;
    tips->end_count = 0;
    if (!met) {
        pz_tips_take_goals(solver, tips, part);
        last = pz_tips_restarts(solver, tips, part);
    }
    for (int m = 1; m <= last && !met; ++m) {
        write_configuration(solver, tree, tips->q_kept);
        pz_tips_keep_end(solver, tips, own_cost(tree), tips->q_kept);
        begin_again(solver, tips, tree, m, &rounds);
        met = look_for_zero(solver, tree, false) || finish(solver, tree);
        solver->report.restarts = m;
    }
    return met;
}

void pz_tree_solve_part(poise_solver *solver, pz_tips *tips, const pz_part *part)
{
    pz_tree *tree = part->tree;
    take_targets(solver, tips, tree);
    open_branches(solver, tree);
    pz_tree_look(tree);
    solver->report.start_cost = own_cost(tree);
    bool aligns = tree->has_root && solver->options.start == POISE_START_COLD;
    if (aligns) {
        align(tree);
    }
    solver->report.outcome = POISE_OUTCOME_REACHED;
    solver->report.why = POISE_WHY_REACHED;
    bool met = search(solver, tips, part, !aligns);
    write_configuration(solver, tree, met ? solver->q_best : tips->q_kept);
    if (met) {
        measure(solver, tree);
    } else {
        pz_tips_keep_end(solver, tips, own_cost(tree), tips->q_kept);
    }
    if (!met || (solver->options.trace && !solver->is_measured)) {
        pz_tips_take_goals(solver, tips, part);
        pz_tips_use_goals(solver, tips->own, part->count);
    }
    if (!met) {
        pz_tips_find_closest(solver, tips);
    }
    if (solver->options.trace && !solver->is_measured) { // it wants the cost where this ends
        pz_objective_evaluate(solver->at, solver->q_best, POISE_LEVEL_COST);
    }
}
