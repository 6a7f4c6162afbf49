// Goals at several tips, from start to answer: which goals hang together, what moves them, and part by part one report.
#include "solve/tips.h"
#include "num/rotation.h"
#include "num/trig.h"

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
    pz_trees_lay_out(t, pz_trees_most_branches(model), arena);
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

static cloud cloud_of(const poise_solver *s, const poise_kinematics *kin, double unit)
{
    cloud c = {.S = {{PZ_TIPS_STAY, 0, 0}, {0, PZ_TIPS_STAY, 0}, {0, 0, PZ_TIPS_STAY}}};
    for (int i = 0; i < s->goal_count; ++i) {
        if (is_point(&s->goals[i])) {
            c.points += 1;
            c.x = v3_add(c.x, pz_kin_point(kin, s->goals[i].body, s->goals[i].local.position));
            c.t = v3_add(c.t, pz_goal_target(kin, &s->goals[i]));
        }
    }
    double share = c.points > 0 ? 1.0 / c.points : 0.0;
    c.x = v3_scale(c.x, share);
    c.t = v3_scale(c.t, share);
    for (int i = 0; i < s->goal_count; ++i) {
        const poise_goal *goal = &s->goals[i];
        if (is_point(goal)) {
            pz_add_pair(&c.S, 1.0 / (unit * unit), v3_sub(pz_kin_point(kin, goal->body, goal->local.position), c.x),
                        v3_sub(pz_goal_target(kin, goal), c.t));
        }
        add_directions(kin, goal, &c.S);
    }
    return c;
}

bool pz_tips_align(const poise_solver *s, const poise_kinematics *kin, double unit, double *q)
{
    quat turn;
    if (!pz_has_free_root(s)) {
        return false;
    }
    cloud c = cloud_of(s, kin, unit);
    turn = pz_best_quat(&c.S, 4, &turn) ? turn : (quat){0, 0, 0, 1};
    return pz_place_root(s, kin, turn, c.x, c.t, q);
}

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
    find_moves(solver, solver->goals, tips->count, tips->moves);
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

// ---- Part by part --------------------------------------------------------------------------------------------------------

// Several goals, none of them condensed with others; where steps may be small, one part's own step is as good as any.
bool pz_tips_serves(poise_solver *solver)
{
    pz_tips *tips = solver->tips;
    bool fits = tips && solver->goal_count >= 2 && solver->goal_count <= PZ_TIPS_MOST &&
                pz_arm_options_fit(&solver->options) && !solver->at->markers->any && plan_for(solver, tips);
    bool is_near = solver->options.start == POISE_START_WARM && solver->options.restarts == 0;
    for (int k = 0; fits && is_near && k < tips->part_count; ++k) {
        fits = tips->parts[k].arm || tips->parts[k].tree; // other searches pay where a start may be far off
    }
    return fits;
}

static void solve_part(poise_solver *solver, pz_tips *tips, const pz_part *part)
{
    solver->is_measured = false;
    const poise_goal *goals = solver->goals;
    bool is_done = false;
    if (part->arm) {
        pz_tips_use_goals(solver, &goals[part->first], 1);
        is_done = pz_arm_solve(solver, part->arm);
        pz_tips_use_goals(solver, goals, tips->count);
    }
    if (part->tree) {
        pz_tree_solve_part(solver, tips, part);
    } else if (!is_done) { // no arm, or numbers that overflow there
        pz_tips_search_part(solver, tips, part);
    }
}

// Add a part's report, and put its coordinates into the answer.
static void take_answer(const poise_solver *solver, pz_tips *tips, int k, poise_report *total)
{
    const poise_report *r = &solver->report;
    if (k == 0 || pz_outcome_is_worse(r->outcome, total->outcome)) {
        total->outcome = r->outcome;
        total->why = r->why;
    }
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
static void conclude(poise_solver *solver, const pz_tips *tips, bool is_measured)
{
    poise_outcome outcome, parts = solver->report.outcome;
    poise_why why = solver->report.why;
    memcpy(solver->q_best, tips->answer, (size_t)solver->model->nq * sizeof *solver->q_best);
    solver->is_measured = is_measured;
    if (is_measured) {
        return;
    }
    pz_try(solver, solver->q_best, POISE_LEVEL_HESSIAN);
    pz_accept(solver);
    if (solver->at->cost > solver->report.start_cost && // by the sums of the parts, which round otherwise
        pz_objective_evaluate(solver->trial, solver->q_start, POISE_LEVEL_COST) == POISE_OK) {
        solver->report.start_cost = solver->trial->cost;
    }
    pz_refresh_diagonal(solver);
    bool is_reached = pz_is_done(solver, &outcome) && outcome == POISE_OUTCOME_REACHED;
    bool is_lost = !is_reached && parts == POISE_OUTCOME_REACHED; // by rounding
    solver->report.outcome = is_reached ? POISE_OUTCOME_REACHED : is_lost ? POISE_OUTCOME_STALLED : parts;
    solver->report.why = is_reached ? POISE_WHY_REACHED : is_lost ? POISE_WHY_STALLED : why;
}

// A part records its own cost; a trace has that of the whole, with the other parts where they are at that time, and calls a
// step accepted when it came closer than all before.
static void judge_trace(const poise_solver *solver, int first, double *whole)
{
    const poise_report *r = &solver->report;
    double others = *whole - r->start_cost, best = *whole;
    for (int i = first; i < r->traced; ++i) {
        poise_trace *record = &solver->options.trace[i];
        record->cost = pz_finite(record->cost + others);
        record->accepted = record->accepted && record->cost < best;
        best = record->accepted ? record->cost : best;
    }
    *whole = others + (solver->is_measured ? r->cost : solver->at->cost);
}

bool pz_tips_solve(poise_solver *solver)
{
    if (!pz_tips_serves(solver)) {
        return false;
    }
    pz_tips *tips = solver->tips;
    const poise_goal *goals = solver->goals;
    int count = solver->goal_count;
    poise_report total = solver->report;
    double tolerance = solver->options.cost_tolerance;
    bool is_measured = true;
    bool is_traced = solver->options.trace && solver->options.trace_capacity > 0;
    double whole = is_traced ? pz_try(solver, solver->q_start, POISE_LEVEL_COST) : 0.0;
    memcpy(tips->answer, solver->q_start, (size_t)solver->model->nq * sizeof *tips->answer);
    solver->options.cost_tolerance = tolerance / tips->part_count; // costs add
    for (int k = 0; k < tips->part_count; ++k) {
        solver->report = (poise_report){.traced = total.traced};
        solve_part(solver, tips, &tips->parts[k]);
        if (is_traced) {
            judge_trace(solver, total.traced, &whole);
        }
        take_answer(solver, tips, k, &total);
        is_measured = is_measured && solver->is_measured;
        pz_tips_use_goals(solver, goals, count);
    }
    solver->options.cost_tolerance = tolerance;
    solver->report = total;
    conclude(solver, tips, is_measured);
    return true;
}
