// Goals at several tips, from start to answer: what goals and joints have to do with each other (the plan, which stays while
// goals sit in the same places), where limbs begin again, the search of a part, and part by part one report (tips.h says
// more). A part that is missed ends in the closest pose by descent; the worst end of all parts is that of the whole.
#include "solve/tips.h"

#include "num/rotation.h"
#include "num/trig.h"
#include "solve/auto.h"

#define UNIT_SHARE 0.3 // L over the length of a chain, as for arms

pz_tips *pz_tips_lay_out(poise_solver *solver, pz_arena *arena)
{
    const poise_model *model = solver->model;
    size_t nq = (size_t)model->nq;
    pz_tips *made = pz_arena_take(arena, 1, sizeof *made), blank, *t = made ? made : &blank;
    *t = (pz_tips){.count = -1};
    t->moves = pz_arena_take(arena, (size_t)model->nv, sizeof *t->moves);
    t->part_of = pz_arena_take(arena, nq, sizeof *t->part_of);
    t->answer = pz_arena_take(arena, nq, sizeof *t->answer);
    t->q_kept = pz_arena_take(arena, nq, sizeof *t->q_kept);
    t->ends = pz_arena_take(arena, PZ_TIPS_ENDS * nq, sizeof *t->ends);
    int tips = 0; // a chain to each
    for (int k = 0; k < model->joint_count; ++k) {
        tips += model->joints[k].subtree == 1;
    }
    for (t->arm_count = 0; t->arm_count < least(tips, PZ_TIPS_MOST) && tips > 1; ++t->arm_count) {
        t->arms[t->arm_count] = pz_arm_lay_out(solver, arena);
    }
    pz_trees_lay_out(t, model, arena);
    return made;
}

// ---- Which goals a dof moves ---------------------------------------------------------------------------------------------

// Fill moves[dof], nv sets: the goals that the dof moves, none for a locked one.
static void find_moves(const poise_solver *solver, const poise_goal *goals, int count, pz_goal_set *moves)
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

// ---- Which goals are tips ------------------------------------------------------------------------------------------------

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

static pz_tip_key tip_key_of(const poise_goal *goal)
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
    double length = v3_norm(solver->problem->goals[goal].local.position), ranges = 0.0, ends = 0.0;
    mat3 R = m3_identity();
    vec3 at = {0, 0, 0};
    bool is_bounded = !has_free_root;
    int body = solver->problem->goals[goal].body, shoulder = body;
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
    double links = v3_norm(solver->problem->goals[goal].local.position);
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
        if (is_in && solver->problem->goals[i].kind != POISE_GOAL_POSITION) {
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
                      used < tips->arm_count &&
                      pz_arm_make_chain(solver, tips->arms[used], &solver->problem->goals[part->first]);
        part->arm = is_arm ? tips->arms[used++] : NULL;
        part->tree = NULL;
        if (!is_arm) {
            pz_tree_make(solver, tips, part, &part->tree);
        }
    }
}

static bool make_plan(const poise_solver *solver, pz_tips *tips)
{
    find_moves(solver, solver->problem->goals, tips->count, tips->moves);
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

// Make the plan for the solver's goals, unless it is there. False: this path does not serve them.
static bool plan_for(poise_solver *solver, pz_tips *tips)
{
    int count = solver->problem->goal_count;
    bool is_new = count != tips->count;
    for (int i = 0; i < count; ++i) {
        if (!is_tip(&solver->problem->goals[i])) {
            tips->count = -1;
            return false;
        }
        pz_tip_key key = tip_key_of(&solver->problem->goals[i]);
        is_new = is_new || memcmp(&key, &tips->keys[i], sizeof key) != 0;
        tips->keys[i] = key;
    }
    if (is_new) {
        tips->count = count;
        tips->fits = make_plan(solver, tips);
    }
    return tips->fits;
}

// ---- Where limbs begin again ---------------------------------------------------------------------------------------------

// The dofs that move goals of `among`, and no others: the limb of a goal, or all of a problem.
static bool is_moved_within(pz_goal_set moved, pz_goal_set among)
{
    return moved != 0 && (moved & ~among) == 0;
}

// A coordinate between its limits; beyond a turn of a hinge there is nothing new.
static double draw_coordinate(const poise_solver *solver, int dof, double length, double share)
{
    const pz_box *box = &solver->box[dof];
    double start = solver->problem->q_start[box->q], lower = box->lower, upper = box->upper;
    double half = pz_axis_slides(solver->model, solver->model->dof_axis[dof]) ? length : PZ_PI;
    bool has_lower = is_finite(lower), has_upper = is_finite(upper);
    double first = has_lower ? lower : has_upper ? upper - 2.0 * half : start - half;
    double span = has_lower && has_upper ? upper - lower : 2.0 * half;
    return clamp(first + span * share, lower, upper);
}

// Swings with an ellipse: uniform in it.
static void tips_draw_swings(const poise_solver *solver, const pz_goal_set *moves, pz_goal_set among, uint64_t *state,
                             double *q)
{
    const poise_model *model = solver->model;
    for (int k = 0; solver->has_swings && k < model->joint_count; ++k) {
        const poise_joint *given = &model->given[k];
        int dof = model->joints[k].v_begin;
        const pz_box *box = &solver->box[dof];
        if (given->type != POISE_JOINT_SWING_TWIST || !is_finite(given->swing[0]) || box[0].locked || box[1].locked ||
            !is_moved_within(moves[dof], among)) {
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
        if (!model->steps[s].own || pz_step_nv(model->steps[s].kind) != 3 || !is_moved_within(moves[dof], among)) {
            continue;
        }
        double z = 2.0 * next_uniform(state) - 1.0, across = sqrt(1.0 - z * z), sine, cosine;
        pz_sincos(PZ_TWO_PI * next_uniform(state), &sine, &cosine);
        double angle = PZ_PI * next_uniform(state);
        step[dof] = angle * across * cosine;
        step[dof + 1] = angle * across * sine;
        step[dof + 2] = angle * z;
    }
}

// Redraw coordinates, uniformly within the limits, where every goal that the dof moves is in `among`; the others keep their
// value in q. Where there is no limit: within half a turn of the start, slides within `length` of it; ball joints turn from
// the start by a vector of at most half a turn. A root that is free to move stays. solver->step is scratch.
static void draw_limbs(poise_solver *solver, const pz_goal_set *moves, pz_goal_set among, double length, uint64_t state,
                       double *q)
{
    const poise_model *model = solver->model;
    double *turned = solver->trial->kin.q; // scratch: the next evaluation fills it
    draw_balls(solver, moves, among, &state, solver->step);
    pz_step_within(solver, solver->problem->q_start, solver->step, turned);
    int first = pz_has_free_root(solver) ? model->joints[0].step_end : 0;
    for (int s = first; s < model->step_count; ++s) {
        const pz_step *step = &model->steps[s];
        for (int i = 0; step->own && i < pz_step_nq(step->kind); ++i) {
            int dof = model->axes[step->axis].dof + (pz_step_nv(step->kind) > i ? i : 0);
            if (!is_moved_within(moves[dof], among)) {
                continue;
            }
            bool is_ball = pz_step_nv(step->kind) == 3 && !is_finite(solver->box[dof].lower);
            double share = next_uniform(&state);
            q[step->q + i] = is_ball ? turned[step->q + i] : draw_coordinate(solver, dof, length, share);
        }
    }
    tips_draw_swings(solver, moves, among, &state, q);
}

// ---- A free root laid onto the targets -----------------------------------------------------------------------------------
//
// The rotation B and the shift b = tm - B xm that bring points x nearest to t and directions d to u,
//
//   sum |B x + b - t|^2/L^2 + 1/2 sum |B d - u|^2 least:  tr(B S) largest,  S = sum (x - xm)(t - tm)^T/L^2 + 1/2 sum d u^T
//
// xm, tm the means over the points (Horn 1987, as in restarts.c). The columns of a POSE goal's frame are directions, so that
// one of them is enough. What they leave open is settled by a light pull towards where the root is.

typedef struct cloud {
    int points;
    vec3 x, t; // means
    mat3 S;
} cloud;

static bool is_point(const poise_goal *goal)
{
    return (goal->kind == POISE_GOAL_POSITION || goal->kind == POISE_GOAL_POSE) && goal->weight > 0;
}

static void add_directions(const poise_kinematics *kin, const poise_goal *goal, mat3 *S)
{
    if (goal->kind == POISE_GOAL_DIRECTION) {
        pz_add_pair(S, 0.5, pz_kin_direction(kin, goal->body, goal->axis), goal->direction);
    }
    bool turns = goal->kind == POISE_GOAL_ORIENTATION || (goal->kind == POISE_GOAL_POSE && goal->rotation_weight > 0);
    if (turns) {
        mat3 R = pz_kin_rotation(kin, goal->body), L = quat_matrix(goal->local.rotation);
        mat3 d = m3_mul(&R, &L), u = quat_matrix(goal->target.rotation);
        pz_add_pair(S, 0.5, d.x, u.x);
        pz_add_pair(S, 0.5, d.y, u.y);
        pz_add_pair(S, 0.5, d.z, u.z);
    }
}

static cloud tips_cloud_of(const poise_solver *s, const poise_kinematics *kin, double unit)
{
    cloud c = {.S = {{PZ_TIPS_STAY, 0, 0}, {0, PZ_TIPS_STAY, 0}, {0, 0, PZ_TIPS_STAY}}};
    for (int i = 0; i < s->problem->goal_count; ++i) {
        if (is_point(&s->problem->goals[i])) {
            c.points += 1;
            c.x = v3_add(c.x, pz_kin_point(kin, s->problem->goals[i].body, s->problem->goals[i].local.position));
            c.t = v3_add(c.t, pz_goal_target(kin, &s->problem->goals[i]));
        }
    }
    double share = c.points > 0 ? 1.0 / c.points : 0.0;
    c.x = v3_scale(c.x, share);
    c.t = v3_scale(c.t, share);
    for (int i = 0; i < s->problem->goal_count; ++i) {
        const poise_goal *goal = &s->problem->goals[i];
        if (is_point(goal)) {
            pz_add_pair(&c.S, 1.0 / (unit * unit), v3_sub(pz_kin_point(kin, goal->body, goal->local.position), c.x),
                        v3_sub(pz_goal_target(kin, goal), c.t));
        }
        add_directions(kin, goal, &c.S);
    }
    return c;
}

// Move a free root so that points and frames of the solver's goals, placed as in `kin`, lie nearest to their targets; L the
// unit of length. False, with q as it was: there is no such root.
static bool align_root(const poise_solver *s, const poise_kinematics *kin, double unit, double *q)
{
    quat turn;
    if (!pz_has_free_root(s)) {
        return false;
    }
    cloud c = tips_cloud_of(s, kin, unit);
    turn = pz_best_quat(&c.S, 4, &turn) ? turn : (quat){0, 0, 0, 1};
    return pz_place_root(s, kin, turn, c.x, c.t, q);
}

// ---- The search of a part ------------------------------------------------------------------------------------------------
//
// The search for a zero of several goals on a tree: Gauss-Newton with a damping in proportion to the energy.
//
// Each step solves (G + lambda D) x = -g over the tree, G the Gauss-Newton matrix of F (tips.h), D = 1 for turns and 1/L^2
// for slides, lambda = 0.05 F + 1e-12. A dof at a limit that descent would leave is held; one that leaves its interval is
// turned back by whole turns, or clamped. Every step is taken: only zeros are looked for, and a search that does not close
// in on one is dropped after few iterations, since new limbs are cheaper. This serves joints and goals of all kinds.

#define DAMPING       0.05 // lambda over F
#define DAMPING_LEAST 1e-12
#define FIRST_LOOK    5    // iterates before a search is judged
#define CREEPS        0.7  // F over that three iterates before: above, the search is dropped
#define NO_TURN       3.14 // a hinge this close to the middle of its interval gains nothing by whole turns

void pz_tips_take_goals(const poise_solver *solver, pz_tips *tips, const pz_part *part)
{
    double lengths = 1.0 / (part->unit * part->unit);
    int count = 0;
    for (int i = 0; i < tips->count; ++i) {
        if (part->goals & pz_goal_bit(i)) {
            poise_goal *goal = &tips->search[count];
            *goal = tips->own[count] = solver->problem->goals[i];
            goal->weight = tips->keys[i].has_lengths ? lengths : goal->weight > 0 ? 1.0 : 0.0;
            goal->rotation_weight = tips->keys[i].has_turns ? 1.0 : 0.0;
            tips->goal_of[count++] = i;
        }
    }
}

// The energy of goal i of the part, by `goals`, which are tips->own or tips->search.
static double energy_of(const poise_kinematics *kin, const poise_goal *goal)
{
    pz_evaluation evaluation = {.kin = kin, .level = POISE_LEVEL_COST};
    pz_goal_row_of(goal->kind)->evaluate(&evaluation, goal);
    return evaluation.cost;
}

static double cost_of(const poise_kinematics *kin, const poise_goal *goals, int count)
{
    double sum = 0.0;
    for (int i = 0; i < count; ++i) {
        sum += energy_of(kin, &goals[i]);
    }
    return sum;
}

// Are all goals met at the current point? Not while F is more than their tolerances allow.
static bool is_part_met(const poise_solver *solver, const pz_part *part)
{
    double length = solver->options.position_tolerance / part->unit, angle = solver->options.rotation_tolerance;
    if (solver->at->cost > 1.01 * solver->problem->goal_count * 0.5 * (length * length + angle * angle)) {
        return false;
    }
    for (int i = 0; i < solver->problem->goal_count; ++i) {
        if (!pz_goal_is_met(solver, &solver->problem->goals[i])) {
            return false;
        }
    }
    return true;
}

// Hinges that the step takes out of their interval come back by whole turns where that is possible. Followers would not.
static void tips_turn_hinges_back(const poise_solver *solver, double *q)
{
    const poise_model *model = solver->model;
    for (int i = 0; i < model->nv && !model->has_mimic; ++i) {
        const pz_box *box = &solver->box[i];
        if (box->q < 0 || box->locked || solver->step[i] == 0 || !(box->upper - box->lower < INFINITY)) {
            continue;
        }
        double next = solver->at->kin.q[box->q] + solver->step[i], middle = 0.5 * (box->lower + box->upper);
        int joint = model->axes[model->dof_axis[i]].joint;
        bool is_hinge = pz_step_is_turn(model->steps[model->joints[joint].step_end - 1].kind) &&
                        !pz_axis_slides(model, model->dof_axis[i]);
        if (is_hinge && (next < box->lower || next > box->upper) && fabs(next - middle) > NO_TURN) {
            double turned = next - PZ_TWO_PI * round_down((next - middle) / PZ_TWO_PI + 0.5);
            q[box->q] = turned > box->lower && turned < box->upper ? turned : q[box->q];
        }
    }
}

// One step from the current point, into solver->q_try. False: no system could be solved.
static bool step_within_part(poise_solver *solver, const pz_part *part, double lambda)
{
    const poise_model *model = solver->model;
    pz_damped *d = (pz_damped *)solver->method;
    for (int i = 0; i < model->nv; ++i) {
        d->D[i] = pz_axis_slides(model, model->dof_axis[i]) ? 1.0 / (part->unit * part->unit) : 1.0;
    }
    d->damping.lambda = 0.0; // its metric is that above
    pz_damped_refresh(d, solver, false);
    pz_hold_at_bounds(solver, d);
    if (!pz_tree_solve(d->tree, solver->at, POISE_HESSIAN_GAUSS_NEWTON, lambda, d->D, d->hold, d->hold_value,
                       solver->step)) {
        return false;
    }
    if (d->has_edges) {
        pz_project_on_swings(solver, solver->step);
    }
    if (solver->has_swings) {
        pz_clip_to_swings(solver, solver->step);
    }
    pz_step_within(solver, solver->at->kin.q, solver->step, solver->q_try);
    tips_turn_hinges_back(solver, solver->q_try);
    return true;
}

// Count the iteration that led to the current point; a trace has the part's own cost.
static void tips_count_iteration(poise_solver *solver, const pz_tips *tips, double lambda)
{
    solver->answer->report.iterations += 1;
    if (pz_is_traced(solver)) {
        pz_trace(solver, (poise_trace){.cost = cost_of(&solver->at->kin, tips->own, solver->problem->goal_count),
                                       .gradient = pz_project_gradient(solver),
                                       .damping = lambda,
                                       .step = pz_largest(solver->step, solver->model->nv),
                                       .accepted = true}); // if it is the best so far, which is judged at the end
    }
}

// From solver->q_try. True when all goals are met at the current point, where it ends.
static bool tips_search_zero(poise_solver *solver, const pz_tips *tips, const pz_part *part)
{
    double f[3] = {INFINITY, INFINITY, INFINITY}, lambda = 0.0;
    int most = least(PZ_TIPS_ITERATIONS, solver->options.max_iterations);
    for (int k = 0;; ++k) {
        double F = pz_try(solver, solver->q_try, POISE_LEVEL_HESSIAN);
        if (!is_finite(F)) {
            return false;
        }
        pz_accept(solver);
        if (k > 0) {
            tips_count_iteration(solver, tips, lambda);
        }
        if (is_part_met(solver, part)) {
            return true;
        }
        lambda = DAMPING * F + DAMPING_LEAST;
        bool creeps = k >= FIRST_LOOK && !(F <= CREEPS * f[k % 3]);
        f[k % 3] = F;
        if (creeps || k == most || !step_within_part(solver, part, lambda)) {
            return false;
        }
    }
}

// What a search left near a zero is finished by descent, which a trace does not show.
static bool tips_finish_search(poise_solver *solver, const pz_part *part)
{
    if (!(solver->at->cost < PZ_TIPS_NEAR_ZERO)) {
        return false;
    }
    solver->is_quiet = true;
    memcpy(solver->q_try, solver->at->kin.q, (size_t)solver->model->nq * sizeof *solver->q_try);
    pz_solver_run_from(solver, solver->q_try);
    solver->is_quiet = false;
    return is_part_met(solver, part);
}

static void copy_q(const poise_solver *solver, const double *from, double *to)
{
    memcpy(to, from, (size_t)solver->model->nq * sizeof *to);
}

// The limbs of the goals that were missed at the current point, as sets of goals that share one; those of all where none
// was. 0: none of them has a limb.
static int missed_limbs(const poise_solver *solver, const pz_tips *tips, pz_goal_set *limbs)
{
    int count = 0;
    pz_goal_set missed = 0, seen = 0;
    for (int i = 0; i < solver->problem->goal_count; ++i) {
        bool is_missed = energy_of(&solver->at->kin, &solver->problem->goals[i]) >= PZ_TIPS_MISSED;
        missed |= is_missed ? pz_goal_bit(tips->goal_of[i]) : 0;
    }
    for (int i = 0; i < solver->problem->goal_count; ++i) {
        int goal = tips->goal_of[i];
        pz_goal_set alike = tips->alike[goal];
        if ((missed != 0 && !(missed & alike)) || (seen & alike)) {
            continue;
        }
        seen |= alike;
        for (int dof = 0; dof < solver->model->nv; ++dof) {
            if (is_moved_within(tips->moves[dof], alike)) {
                limbs[count++] = alike;
                break;
            }
        }
    }
    return count;
}

// The energy of a limb's goals at q.
static double limb_energy(poise_solver *solver, const pz_tips *tips, pz_goal_set limb, const double *q)
{
    double sum = 0.0;
    pz_kin_sweep(&solver->trial->kin, q);
    for (int i = 0; i < solver->problem->goal_count; ++i) {
        if (limb & pz_goal_bit(tips->goal_of[i])) {
            sum += energy_of(&solver->trial->kin, &solver->problem->goals[i]);
        }
    }
    return sum;
}

// A new place for one limb, the best of some, in solver->q_try.
static void tips_draw_limb(poise_solver *solver, pz_tips *tips, pz_goal_set limb, int restart)
{
    double least_energy = INFINITY;
    int first = 0;
    while (!(limb & pz_goal_bit(first))) {
        first += 1;
    }
    copy_q(solver, solver->q_try, tips->q_kept);
    for (int draw = 0; draw < PZ_TIPS_DRAWS; ++draw) {
        uint64_t state = pz_limbs_state(solver->problem->seed, tips->keys[first].body, restart, draw);
        draw_limbs(solver, tips->moves, limb, tips->length[first], state, tips->q_kept);
        double energy = limb_energy(solver, tips, limb, tips->q_kept);
        if (energy < least_energy) {
            least_energy = energy;
            copy_q(solver, tips->q_kept, solver->q_try);
        }
    }
}

// Redraw everything: all dofs of the part, a free root aligned.
static void tips_draw_all(poise_solver *solver, const pz_tips *tips, const pz_part *part, int restart)
{
    uint64_t state = pz_limbs_state(solver->problem->seed, tips->keys[part->first].body, restart, PZ_TIPS_DRAWS);
    draw_limbs(solver, tips->moves, part->goals, tips->length[part->first], state, solver->q_try);
    pz_kin_sweep(&solver->trial->kin, solver->q_try);
    align_root(solver, &solver->trial->kin, part->unit, solver->q_try);
}

// Where a search begins, into solver->q_try: number 0 at the caller's start, with a free root aligned when that is cold.
static void tips_begin_search(poise_solver *solver, pz_tips *tips, const pz_part *part, int restart, int *rounds)
{
    pz_goal_set limbs[PZ_TIPS_MOST];
    if (restart == 0) {
        copy_q(solver, solver->problem->q_start, solver->q_try);
        if (solver->options.start == POISE_START_COLD) {
            pz_kin_sweep(&solver->trial->kin, solver->q_try);
            align_root(solver, &solver->trial->kin, part->unit, solver->q_try);
        }
        return;
    }
    copy_q(solver, solver->at->kin.q, solver->q_try);
    int count = *rounds < PZ_TIPS_ROUNDS ? missed_limbs(solver, tips, limbs) : 0;
    for (int i = 0; i < count; ++i) {
        tips_draw_limb(solver, tips, limbs[i], restart);
    }
    *rounds = count > 0 ? *rounds + 1 : 0;
    if (count == 0) {
        tips_draw_all(solver, tips, part, restart);
    }
}

void pz_tips_keep_end(const poise_solver *solver, pz_tips *tips, double cost, const double *q)
{
    size_t nq = (size_t)solver->model->nq;
    if (!is_finite(cost) || (tips->end_count == PZ_TIPS_ENDS && !(cost < tips->end_cost[PZ_TIPS_ENDS - 1]))) {
        return;
    }
    int at = tips->end_count < PZ_TIPS_ENDS ? tips->end_count++ : PZ_TIPS_ENDS - 1;
    for (; at > 0 && cost < tips->end_cost[at - 1]; --at) {
        tips->end_cost[at] = tips->end_cost[at - 1];
        memcpy(tips->ends + (size_t)at * nq, tips->ends + (size_t)(at - 1) * nq, nq * sizeof *tips->ends);
    }
    tips->end_cost[at] = cost;
    memcpy(tips->ends + (size_t)at * nq, q, nq * sizeof *tips->ends);
}

// A goal that no posture comes near to needs fewer.
int pz_tips_restarts(const poise_solver *solver, const pz_tips *tips, const pz_part *part)
{
    for (int i = 0; i < part->count; ++i) {
        const poise_goal *goal = &tips->own[i];
        int at = tips->goal_of[i];
        bool is_point = (goal->kind == POISE_GOAL_POSITION || goal->kind == POISE_GOAL_POSE) && goal->weight > 0;
        double away = v3_norm(v3_sub(goal->target.position, tips->shoulder[at]));
        if (is_point && !pz_has_band(goal->tolerance) &&
            away > tips->reach[at] * (1.0 + 1e-9) + solver->options.position_tolerance) {
            return least(solver->options.restarts, PZ_TIPS_FAR);
        }
    }
    return solver->options.restarts;
}

// A warm start without restarts wants the closest pose near it.
void pz_tips_find_closest(poise_solver *solver, pz_tips *tips)
{
    double start_cost = solver->answer->report.start_cost, best = INFINITY;
    bool is_near = solver->options.restarts == 0 && solver->options.start == POISE_START_WARM, is_open = true;
    for (int k = -1; k < (is_near ? 0 : tips->end_count) && is_open; ++k) {
        if (k < 0) {
            pz_solve_start(solver, 0, false);
        } else {
            copy_q(solver, tips->ends + (size_t)k * (size_t)solver->model->nq, solver->q_try);
        }
        pz_end end = pz_solver_run_from(solver, solver->q_try);
        if (k < 0 || end.outcome == POISE_OUTCOME_REACHED || solver->at->cost < best) {
            best = solver->at->cost;
            solver->answer->end = end;
            copy_q(solver, solver->at->kin.q, solver->q_best);
        }
        is_open = end.outcome != POISE_OUTCOME_REACHED;
    }
    solver->answer->report.start_cost = start_cost;
    pz_search_beyond_limits(solver);
}

// Solve for the goals of a part into solver->q_best, with report and outcome of this part alone.
static void search_part(poise_solver *solver, pz_tips *tips, const pz_part *part)
{
    const pz_problem *whole = solver->problem;
    pz_tips_take_goals(solver, tips, part);
    int rounds = 0, last = 0;
    bool met = false;
    tips->end_count = 0;
    pz_kin_sweep(&solver->trial->kin, solver->problem->q_start);
    solver->answer->report.start_cost = cost_of(&solver->trial->kin, tips->own, part->count);
    pz_problem search = pz_tips_problem(solver, tips->search, part->count), own = search;
    own.goals = tips->own;
    pz_set_problem(solver, &search);
    last = pz_tips_restarts(solver, tips, part);
    for (int m = 0; m <= last && !met; ++m) {
        tips_begin_search(solver, tips, part, m, &rounds);
        met = tips_search_zero(solver, tips, part) || tips_finish_search(solver, part);
        solver->answer->report.restarts = m;
        if (met) {
            copy_q(solver, solver->at->kin.q, solver->q_best);
        } else {
            pz_tips_keep_end(solver, tips, cost_of(&solver->at->kin, tips->own, part->count), solver->at->kin.q);
        }
    }
    pz_set_problem(solver, &own);
    solver->answer->end = pz_reached;
    if (!met) {
        pz_tips_find_closest(solver, tips);
    }
    if (solver->options.trace) { // it wants the cost where this ends
        pz_objective_evaluate(solver->at, solver->q_best, POISE_LEVEL_COST);
    }
    pz_set_problem(solver, whole);
}

// ---- Part by part --------------------------------------------------------------------------------------------------------

// Several goals, none of them condensed with others; where steps may be small, one part's own step is as good as any.
bool pz_tips_serves(poise_solver *solver)
{
    pz_tips *tips = solver->tips;
    bool fits = tips && solver->problem->goal_count >= 2 && solver->problem->goal_count <= PZ_TIPS_MOST &&
                pz_arm_options_fit(&solver->options) && !solver->at->markers->any && plan_for(solver, tips);
    bool is_near = solver->options.start == POISE_START_WARM && solver->options.restarts == 0;
    for (int k = 0; fits && is_near && k < tips->part_count; ++k) {
        fits = tips->parts[k].arm || tips->parts[k].tree; // other searches pay where a start may be far off
    }
    return fits;
}

static void solve_part(poise_solver *solver, pz_tips *tips, const pz_part *part)
{
    solver->answer->is_measured = false;
    const pz_problem *whole = solver->problem;
    bool is_done = false;
    if (part->arm) {
        pz_problem one = pz_tips_problem(solver, &whole->goals[part->first], 1);
        pz_set_problem(solver, &one);
        is_done = pz_arm_solve(solver, part->arm);
        pz_set_problem(solver, whole);
    }
    if (part->tree) {
        pz_tree_solve_part(solver, tips, part);
    } else if (!is_done) { // no arm, or numbers that overflow there
        search_part(solver, tips, part);
    }
}

// The worst outcome of the parts is that of the whole.
static bool is_worse(poise_outcome a, poise_outcome b)
{
    static const int rank[POISE_OUTCOME_COUNT] = {[POISE_OUTCOME_REACHED] = 0,
                                                  [POISE_OUTCOME_CLOSEST] = 1,
                                                  [POISE_OUTCOME_STALLED] = 2,
                                                  [POISE_OUTCOME_BUDGET] = 3,
                                                  [POISE_OUTCOME_INFEASIBLE] = 4};
    return rank[a] > rank[b];
}

// Add the answer of part k, and put its coordinates into that of the whole.
static void add_answer(const poise_solver *solver, pz_tips *tips, int k, const pz_answer *part, pz_answer *whole)
{
    const poise_report *r = &part->report;
    poise_report *total = &whole->report;
    whole->is_measured = whole->is_measured && part->is_measured;
    whole->is_unproved = whole->is_unproved || part->is_unproved;
    whole->end = k == 0 || is_worse(part->end.outcome, whole->end.outcome) ? part->end : whole->end;
    total->iterations += r->iterations;
    total->evaluations += r->evaluations;
    total->restarts += r->restarts;
    total->traced = r->traced;
    total->start_cost += r->start_cost;
    total->cost += r->cost;
    total->gradient = max2(total->gradient, r->gradient);
    total->worst_length = max2(total->worst_length, r->worst_length);
    total->worst_angle = max2(total->worst_angle, r->worst_angle);
    for (int i = 0; i < solver->model->nq; ++i) {
        tips->answer[i] = tips->part_of[i] == k ? solver->q_best[i] : tips->answer[i];
    }
}

// Where a part could not be measured by its own numbers, the whole is.
static void tips_conclude(poise_solver *solver, const pz_tips *tips)
{
    pz_end end, parts = solver->answer->end;
    memcpy(solver->q_best, tips->answer, (size_t)solver->model->nq * sizeof *solver->q_best);
    if (solver->answer->is_measured) {
        return;
    }
    pz_try(solver, solver->q_best, POISE_LEVEL_HESSIAN);
    pz_accept(solver);
    if (solver->at->cost > solver->answer->report.start_cost && // by the sums of the parts, which round otherwise
        pz_objective_evaluate(solver->trial, solver->problem->q_start, POISE_LEVEL_COST) == POISE_OK) {
        solver->answer->report.start_cost = solver->trial->cost;
    }
    pz_refresh_diagonal(solver);
    bool is_reached = pz_is_done(solver, &end) && end.outcome == POISE_OUTCOME_REACHED;
    bool is_lost = !is_reached && parts.outcome == POISE_OUTCOME_REACHED; // by rounding
    solver->answer->end = is_reached ? pz_reached : is_lost ? pz_stalled : parts;
}

// A part records its own cost; a trace has that of the whole, with the other parts where they are at that time, and calls a
// step accepted when it came closer than all before.
static void tips_judge_trace(const poise_solver *solver, int first, double *whole)
{
    const poise_report *r = &solver->answer->report;
    double others = *whole - r->start_cost, best = *whole;
    for (int i = first; i < r->traced; ++i) {
        poise_trace *record = &solver->options.trace[i];
        record->cost = pz_finite(record->cost + others);
        record->accepted = record->accepted && record->cost < best;
        best = record->accepted ? record->cost : best;
    }
    *whole = others + (solver->answer->is_measured ? r->cost : solver->at->cost);
}

bool pz_tips_solve(poise_solver *solver)
{
    if (!pz_tips_serves(solver)) {
        return false;
    }
    pz_tips *tips = solver->tips;
    const pz_problem *given = solver->problem;
    pz_answer *whole = solver->answer, part = {.is_measured = false};
    pz_problem shared = *given;
    shared.cost_tolerance = given->cost_tolerance / tips->part_count; // costs add
    memcpy(tips->answer, given->q_start, (size_t)solver->model->nq * sizeof *tips->answer);
    solver->answer = &part;
    bool is_traced = solver->options.trace && solver->options.trace_capacity > 0;
    double cost = is_traced ? pz_try(solver, given->q_start, POISE_LEVEL_COST) : 0.0;
    whole->is_measured = true;
    for (int k = 0; k < tips->part_count; ++k) {
        part = (pz_answer){.report.traced = whole->report.traced};
        pz_set_problem(solver, &shared);
        solve_part(solver, tips, &tips->parts[k]);
        if (is_traced) {
            tips_judge_trace(solver, whole->report.traced, &cost);
        }
        add_answer(solver, tips, k, &part, whole);
    }
    solver->answer = whole;
    pz_set_problem(solver, given);
    tips_conclude(solver, tips);
    return true;
}
