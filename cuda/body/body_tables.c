#include "body_task.h"

#include "num/trig.h"
#include "num/vector.h"
#include "solve/auto.h"

#include <stdlib.h>

#define UNKNOWN_GOALS "tolerance bands, goals on the world and losses of directions"

// ---- What is served ------------------------------------------------------------------------------------------------------

// Markers that a goal is taken as; 0 where it is not served.
static int markers_of(const poise_goal *goal)
{
    bool has_no_band = goal->body >= 0 && !pz_has_band(goal->tolerance) && !pz_has_band(goal->rotation_tolerance);
    bool is_plain = has_no_band && goal->loss == POISE_LOSS_NONE;
    switch (goal->kind) {
    case POISE_GOAL_POSITION:
        return has_no_band ? 1 : 0;
    case POISE_GOAL_DIRECTION:
        return is_plain ? 1 : 0;
    case POISE_GOAL_ORIENTATION:
        return is_plain ? 3 : 0;
    case POISE_GOAL_POSE:
        return has_no_band ? 4 : 0;
    default:
        return 0;
    }
}

static int count_markers(const poise_goal *goals, int goal_count)
{
    int count = 0;
    for (int i = 0; i < goal_count; ++i) {
        count += markers_of(&goals[i]);
    }
    return count;
}

// Does a goal pull on the coordinates themselves, of clips?
static bool is_pull(const poise_goal *goal)
{
    bool is_steady = goal->kind == POISE_GOAL_SMOOTHNESS && !goal->q_before;
    return (goal->kind == POISE_GOAL_POSTURE || is_steady) && goal->loss == POISE_LOSS_NONE;
}

static double weight_of(const poise_goal *goal, int dof)
{
    return goal->q_weights ? goal->q_weights[dof] : 1.0;
}

// Two pulls on one quaternion are not one pull (body_pass.h).
static bool pull_on_one_quaternion(const poise_model *model, const poise_goal *a, const poise_goal *b)
{
    bool both = false;
    for (int i = 0; i < model->step_count && a && b; ++i) {
        int dof = model->axes[model->steps[i].axis].dof;
        both = both || (model->steps[i].kind == PZ_QUATERNION && weight_of(a, dof) > 0 && weight_of(b, dof) > 0);
    }
    return both;
}

bool pz_body_serves(const poise_model *model, const poise_goal *goals, int goal_count, const poise_solver_options *options,
                    bool *only_clips, const char **why)
{
    int pulls[2] = {0, 0};
    const poise_goal *last[2] = {NULL, NULL};
    *why = model->has_mimic || model->curve_count > 0                 ? "mimic and curve joints"
           : model->nq > INT16_MAX / 4 || goal_count > INT16_MAX / 16 ? "models of this size"
           : options->step_limit < INFINITY || options->damping > 0   ? "a step limit or a damping to begin with"
           : options->prior > 0 || options->method != POISE_METHOD_AUTO || options->engine
               ? "other methods than AUTO, or a prior"
           : options->max_iterations < 1 || options->max_iterations > 60000 ? "this number of iterations"
                                                                            : NULL;
    for (int i = 0; i < goal_count && !*why; ++i) {
        int which = goals[i].kind == POISE_GOAL_SMOOTHNESS, *same = &pulls[which];
        *same += is_pull(&goals[i]);
        last[which] = is_pull(&goals[i]) ? &goals[i] : last[which];
        *why = *same > 1 ? "two postures" : markers_of(&goals[i]) > 0 || is_pull(&goals[i]) ? NULL : UNKNOWN_GOALS;
    }
    *only_clips = pulls[0] + pulls[1] > 0;
    *why = *why                                              ? *why
           : pulls[0] + pulls[1] == goal_count               ? "postures alone"
           : pull_on_one_quaternion(model, last[0], last[1]) ? "a posture and the last frame that pull on one quaternion"
                                                             : NULL;
    return !*why;
}

// ---- Joints --------------------------------------------------------------------------------------------------------------

static bool has_ellipse(const poise_solver *s, int k)
{
    const poise_joint *given = &s->model->given[k];
    return s->options.use_limits && given->type == POISE_JOINT_SWING_TWIST && is_finite(given->swing[0]);
}

// Numbers of a rotation vector that no limit and no lock ties to one of its forms.
static int shortens(const poise_solver *s, int k)
{
    const pz_joint *joint = &s->model->joints[k];
    for (int i = joint->step_begin; i < joint->step_end; ++i) {
        const pz_step *step = &s->model->steps[i];
        int dof = s->model->axes[step->axis].dof, count = pz_step_nv(step->kind);
        bool is_vector = (step->kind == PZ_EXPMAP || step->kind == PZ_SWING) && !has_ellipse(s, k);
        for (int n = dof; is_vector && n < dof + count; ++n) {
            is_vector = !is_finite(s->box[n].lower) && !is_finite(s->box[n].upper) && !s->box[n].keeps_form;
        }
        if (is_vector) {
            return count;
        }
    }
    return 0;
}

static int children_of(const poise_model *model, int parent)
{
    int count = 0;
    for (int k = parent + 1; k < model->joint_count; ++k) {
        count += model->joints[k].parent == parent;
    }
    return count;
}

static void fill_joint(const poise_solver *s, body_tables *b, int k)
{
    const poise_model *model = s->model;
    const pz_joint *joint = &model->joints[k];
    int parent = joint->parent;
    body_joint *to = &b->joints[k];
    bool has_slot = k == 0 || children_of(model, k) > 1;
    int slot = has_slot ? b->task.slot_count++ : -1, above = parent == POISE_WORLD ? -1 : b->joints[parent].slot;
    *to = (body_joint){.from = (int16_t)(parent == POISE_WORLD                          ? BODY_WORLD
                                         : above >= 0 && children_of(model, parent) > 1 ? above
                                                                                        : BODY_FOLLOWS),
                       .slot = (int16_t)slot,
                       .q = (int16_t)joint->q_begin,
                       .v = (int16_t)joint->v_begin,
                       .swing = (int16_t)(has_ellipse(s, k) ? b->task.swing_count++ : -1),
                       .step_count = (int8_t)(joint->step_end - joint->step_begin),
                       .slides = (int8_t)joint->slide_count,
                       .dofs = (int8_t)(joint->v_end - joint->v_begin),
                       .shortens = (int8_t)shortens(s, k),
                       .has_turn = !joint->C_is_identity};
    for (int i = 0; i < to->step_count; ++i) {
        to->steps[i] = (int8_t)model->steps[joint->step_begin + i].kind;
        to->has_quaternion = to->has_quaternion || to->steps[i] == PZ_QUATERNION;
    }
}

static void put3(double *to, vec3 a)
{
    to[0] = a.x, to[1] = a.y, to[2] = a.z;
}

static void fill_joints(const poise_solver *s, body_tables *b)
{
    const poise_model *model = s->model;
    for (int k = 0; k < model->joint_count; ++k) {
        const pz_joint *joint = &model->joints[k];
        double *n = b->numbers + BODY_JOINT * k;
        fill_joint(s, b, k);
        put3(n, joint->C.x), put3(n + 3, joint->C.y), put3(n + 6, joint->C.z);
        put3(n + 9, joint->parent == POISE_WORLD ? v3_sub(joint->t, model->joints[0].t) : joint->t);
        if (b->joints[k].swing >= 0) {
            const double *radius = model->given[k].swing;
            double *W = b->numbers + b->task.swing_numbers + BODY_SWING * b->joints[k].swing;
            W[0] = 1.0 / (radius[0] * radius[0]), W[1] = 1.0 / (radius[1] * radius[1]);
            W[BODY_SWING * b->swing_room] = radius[0], W[BODY_SWING * b->swing_room + 1] = radius[1];
        }
    }
}

// ---- Chains --------------------------------------------------------------------------------------------------------------

static int end_of_chain(const body_tables *b, int k)
{
    do {
        ++k;
    } while (k < b->task.joint_count && b->joints[k].from == BODY_FOLLOWS);
    return k;
}

// Adds the chains whose first joint hangs on `parent`; how many there are now.
static int add_chains_on(const poise_model *model, body_tables *b, int parent, int count)
{
    for (int k = 0; k < model->joint_count; ++k) {
        if (model->joints[k].parent == parent && b->joints[k].from != BODY_FOLLOWS) {
            b->chains[count++] = (body_chain){.begin = (int16_t)k, .end = (int16_t)end_of_chain(b, k)};
        }
    }
    return count;
}

static void fill_chains(const poise_model *model, body_tables *b)
{
    int begin = 0, end = add_chains_on(model, b, POISE_WORLD, 0);
    body_task *t = &b->task;
    while (begin < end) {
        int next = end;
        b->levels[t->level_count++] = (int16_t)begin;
        for (int c = begin; c < end; ++c) {
            b->chains[c].child_begin = (int16_t)next;
            next = add_chains_on(model, b, b->chains[c].end - 1, next);
            b->chains[c].child_end = (int16_t)next;
        }
        begin = end, end = next;
    }
    b->levels[t->level_count] = (int16_t)end;
    t->chain_count = end;
}

// ---- Markers, dofs, starts -----------------------------------------------------------------------------------------------

// `share` is what its weight is of the goal's.
static void add_marker(body_tables *b, int *made, int goal, body_part part, vec3 own, double weight, double share)
{
    double *n = b->numbers + b->task.marker_numbers + BODY_MARKER * *made;
    put3(n, own);
    n[3] = weight;
    n[4] = share;
    b->goal[*made] = (int16_t)goal;
    b->part[*made] = (int8_t)part;
    *made += 1;
}

static void add_point(const mat3 *B, const poise_goal *goal, int i, body_tables *b, int *made)
{
    if (goal->kind == POISE_GOAL_POSITION || goal->kind == POISE_GOAL_POSE) {
        double *loss = b->numbers + b->task.marker_numbers + BODY_MARKER * *made + 5,
               kk = goal->loss_scale * goal->loss_scale;
        add_marker(b, made, i, BODY_POINT, m3_apply(B, goal->local.position), goal->weight, 1.0);
        *loss = goal->loss == POISE_LOSS_HUBER ? -kk : goal->loss == POISE_LOSS_GEMAN_MCCLURE ? kk : 0.0;
        b->task.has_losses = b->task.has_losses || goal->loss != POISE_LOSS_NONE;
        b->task.has_saddles = b->task.has_saddles || goal->loss == POISE_LOSS_GEMAN_MCCLURE;
    }
}

static void add_arrows(const mat3 *B, const poise_goal *goal, int i, body_tables *b, int *made)
{
    if (goal->kind == POISE_GOAL_DIRECTION) {
        add_marker(b, made, i, BODY_DIRECTION, m3_apply(B, goal->axis), goal->weight, 1.0);
    } else if (goal->kind == POISE_GOAL_ORIENTATION || goal->kind == POISE_GOAL_POSE) {
        mat3 local = quat_matrix(quat_normalize(goal->local.rotation)), frame = m3_mul(B, &local);
        double weight = 0.5 * (goal->kind == POISE_GOAL_POSE ? goal->rotation_weight : goal->weight);
        double share = goal->weight > 0 ? weight / goal->weight : 0.5;
        add_marker(b, made, i, BODY_AXIS_X, frame.x, weight, share);
        add_marker(b, made, i, BODY_AXIS_Y, frame.y, weight, share);
        add_marker(b, made, i, BODY_AXIS_Z, frame.z, weight, share);
    }
}

// POSTURE and SMOOTHNESS, by dof.
static void fill_pulls(const poise_model *model, const poise_goal *goals, int count, body_tables *b)
{
    body_task *t = &b->task;
    double *rest = b->pulls, *rest_pull = rest + model->nq, *steady_pull = rest_pull + model->nv;
    t->rest = rest, t->rest_pull = rest_pull, t->steady_pull = steady_pull;
    t->steady_goal = -1;
    poise_model_neutral(model, rest);
    for (int i = 0; i < count; ++i) {
        bool is_posture = goals[i].kind == POISE_GOAL_POSTURE;
        if (!is_pull(&goals[i])) {
            continue;
        }
        t->has_pulls = true;
        t->steady_goal = is_posture ? t->steady_goal : i;
        t->steady_weight = is_posture ? t->steady_weight : goals[i].weight;
        for (int k = 0; k < model->nv; ++k) {
            double weight = weight_of(&goals[i], k);
            (is_posture ? rest_pull : steady_pull)[k] = is_posture ? goals[i].weight * weight : weight;
        }
        for (int k = 0; k < model->nq && is_posture; ++k) {
            rest[k] = goals[i].q[k];
        }
    }
}

// By joint, its points and then its directions.
static void fill_markers(const poise_model *model, const poise_goal *goals, int count, body_tables *b)
{
    int made = 0;
    for (int k = 0; k < model->joint_count; ++k) {
        const mat3 *B = &model->joints[k].B;
        b->joints[k].marker_begin = (int16_t)made;
        for (int i = 0; i < count; ++i) {
            if (goals[i].body == k) {
                add_point(B, &goals[i], i, b, &made);
            }
        }
        b->joints[k].marker_end = (int16_t)made;
        for (int i = 0; i < count; ++i) {
            if (goals[i].body == k) {
                add_arrows(B, &goals[i], i, b, &made);
            }
        }
        b->joints[k].arrow_end = (int16_t)made;
        b->task.has_arrows = b->task.has_arrows || b->joints[k].arrow_end > b->joints[k].marker_end;
    }
}

// Intervals, and the metric of the damping, that of all markers at the neutral pose: a constant of the model.
static void fill_dofs(poise_solver *s, const double *D, body_tables *b)
{
    for (int i = 0; i < s->model->nv; ++i) {
        double *n = b->numbers + b->task.dof_numbers + BODY_DOF * i;
        n[0] = s->box[i].lower, n[1] = s->box[i].upper;
        n[2] = s->box[i].locked ? -1.0 : D[i];
    }
}

static bool is_between_limits(const pz_box *box)
{
    return is_finite(box->lower) && is_finite(box->upper) && !box->locked && !box->keeps_form;
}

#define TURN (2 * PZ_PI)

// How restarts choose a dof (solve/restarts.c): swings with an ellipse and intervals up to a turn have their values.
static void fill_start_kinds(const poise_solver *s, body_tables *b)
{
    for (int i = 0; i < s->model->nv; ++i) {
        const pz_box *box = &s->box[i];
        int axis = s->model->dof_axis[i], k = s->model->axes[axis].joint, first = s->model->joints[k].v_begin;
        bool is_short = pz_axis_slides(s->model, axis) || box->upper - box->lower <= TURN;
        bool is_swing = has_ellipse(s, k) && i < first + 2 && !s->box[first].locked && !s->box[first + 1].locked;
        b->start_kind[i] = is_swing                  ? BODY_START_AT
                           : !is_between_limits(box) ? BODY_START_AROUND
                           : is_short                ? BODY_START_AT
                                                     : BODY_START_IN_TURN;
    }
}

// The library's own restarts, from the neutral pose; what depends on the start is made relative to it.
static void fill_starts(poise_solver *s, double *q, body_tables *b)
{
    int nv = s->model->nv;
    for (int run = 1; run <= s->options.restarts; ++run) {
        double *chosen = b->starts + (size_t)(run - 1) * (size_t)nv;
        pz_restart_configuration(s, run, false, q);
        for (int i = 0; i < nv; ++i) {
            const pz_box *box = &s->box[i];
            double first =
                box->q >= 0 ? clamp(s->problem->q_start[box->q] - 0.5 * TURN, box->lower, box->upper - TURN) : 0.0;
            chosen[i] = b->start_kind[i] == BODY_START_AROUND ? s->step[i]
                        : b->start_kind[i] == BODY_START_AT   ? q[box->q]
                                                              : q[box->q] - first;
        }
    }
}

// Root mean square of the markers about their mean, or the length of all bones where they do not spread.
static double size_of(const poise_solver *s)
{
    const poise_kinematics *kin = &s->at->kin;
    vec3 mean = v3(0, 0, 0);
    double square = 0.0, length = 0.0;
    for (int i = 0; i < s->problem->goal_count; ++i) {
        mean = v3_mad(mean, 1.0 / s->problem->goal_count,
                      pz_kin_point(kin, s->problem->goals[i].body, s->problem->goals[i].local.position));
    }
    for (int i = 0; i < s->problem->goal_count; ++i) {
        vec3 x = v3_sub(pz_kin_point(kin, s->problem->goals[i].body, s->problem->goals[i].local.position), mean);
        square += v3_dot(x, x) / s->problem->goal_count;
        length += v3_norm(s->problem->goals[i].local.position);
    }
    for (int k = 0; k < s->model->joint_count; ++k) {
        length += s->model->joints[k].parent == POISE_WORLD ? 0.0 : v3_norm(s->model->joints[k].t);
    }
    double size = sqrt(square);
    return size > 1e-6 * length && size > 0 ? size : length > 0 ? length : 1.0;
}

// ---- All -----------------------------------------------------------------------------------------------------------------

static int part(int *used, int count)
{
    int at = *used;
    *used += count;
    return at;
}

static void lay_out(body_task *t)
{
    int used = 0;
    body_layout *at = &t->at;
    at->q = part(&used, t->nq), at->trial = part(&used, t->nq), at->step = part(&used, t->nv);
    at->axis = part(&used, 3 * t->nv), at->place = part(&used, 3 * t->joint_count);
    at->point = part(&used, 3 * t->marker_count), at->target = part(&used, 3 * t->marker_count);
    at->weight = part(&used, t->marker_count), at->solved = part(&used, BODY_SOLVED * t->nv);
    at->edge = part(&used, 2 * t->swing_count), at->held = part(&used, t->nv);
    at->frame = part(&used, BODY_FRAME * t->slot_count), at->velocity = part(&used, BODY_VELOCITY * t->slot_count);
    at->sums = part(&used, BODY_SUMS * t->chain_count);
    at->parts = part(&used, BODY_PARTS * t->chain_count > t->joint_count ? BODY_PARTS * t->chain_count : t->joint_count);
    at->base = part(&used, 6);
    at->pull = part(&used, t->has_pulls ? t->nv + 2 : 0);
    at->home = part(&used, t->has_pulls ? t->nq : 0);
    at->size = used;
}

// In single precision bounds are rounded inwards.
static void fill_single(body_tables *b)
{
    for (int i = 0; i < b->number_count; ++i) {
        b->single[i] = (float)b->numbers[i];
    }
    for (int i = 0; i < b->task.nv; ++i) {
        const double *n = b->numbers + b->task.dof_numbers + BODY_DOF * i;
        float *f = b->single + b->task.dof_numbers + BODY_DOF * i;
        f[0] = (double)f[0] < n[0] ? nextafterf(f[0], INFINITY) : f[0];
        f[1] = (double)f[1] > n[1] ? nextafterf(f[1], -INFINITY) : f[1];
    }
}

// A turn by phi moves one of three axes by |d - u|^2 >= 2/3 (2 sin(phi/2))^2, and a direction by (2 sin(phi/2))^2 itself.
static void put_scales(const poise_solver_options *options, body_task *t)
{
    double sine, cosine, chord, length = max2(options->position_tolerance, 1e-150);
    pz_sincos(0.5 * min2(options->rotation_tolerance, PZ_PI), &sine, &cosine);
    chord = max2(4.0 * sine * sine, 1e-300);
    t->direction_scale = length * length / chord;
    t->axis_scale = 1.5 * t->direction_scale;
}

// Tips, which have directions, at the ends of two chains or more, and restarts to take other places from.
static bool find_limbs(body_tables *b)
{
    int limbs = 0;
    bool has_directions = false;
    for (int i = 0; i < b->task.marker_count; ++i) {
        has_directions = has_directions || b->part[i] != BODY_POINT;
    }
    for (int c = 0; c < b->task.chain_count; ++c) {
        body_chain *chain = &b->chains[c];
        chain->is_limb = chain->child_begin == chain->child_end &&
                         b->joints[chain->end - 1].arrow_end > b->joints[chain->begin].marker_begin;
        limbs += chain->is_limb;
    }
    return has_directions && limbs > 1 && b->task.restarts > 0;
}

static void fill_task(const poise_solver *s, body_tables *b)
{
    const poise_model *model = s->model;
    const pz_joint *root = &model->joints[0];
    const pz_step *steps = &model->steps[root->step_begin];
    poise_joint_type type = model->given[0].type;
    body_task *t = &b->task;
    bool is_free = type == POISE_JOINT_FREE || type == POISE_JOINT_FREE_EXPMAP || type == POISE_JOINT_FREE_EULER;
    t->is_afloat = root->slide_count == 3 && steps[0].kind == PZ_SLIDE_X && steps[1].kind == PZ_SLIDE_Y;
    t->can_align = is_free && model->joint_count == root->subtree;
    for (int i = root->v_begin; i < root->v_end; ++i) {
        t->can_align = t->can_align && !s->box[i].locked;
    }
    put_scales(&s->options, t);
    put3(t->root, root->t);
    t->is_cold = s->options.start == POISE_START_COLD;
    t->tolerance = s->options.position_tolerance;
    t->cost_tolerance = s->problem->cost_tolerance;
    t->gradient_tolerance = s->options.gradient_tolerance;
    t->max_iterations = s->options.max_iterations;
    t->restarts = s->options.restarts;
    t->joints = b->joints, t->chains = b->chains, t->levels = b->levels, t->goal = b->goal, t->single = b->single,
    t->numbers = b->numbers;
    t->part = b->part;
    t->starts = b->starts, t->start_kind = b->start_kind;
    t->has_limbs = find_limbs(b);
}

// `goals` are those that are taken as markers, `given` all of them.
static void fill(poise_solver *s, const poise_goal *goals, int goal_count, const poise_goal *given, int given_count,
                 double *scratch, body_tables *b)
{
    double *q = scratch, *D = scratch + s->model->nq;
    poise_model_neutral(s->model, q);
    pz_solve_begin(s, goals, goal_count, q, NULL);
    pz_try(s, s->problem->q_start, POISE_LEVEL_HESSIAN);
    pz_accept(s);
    pz_make_metric(s, D);
    b->task.size = size_of(s);
    fill_joints(s, b);
    fill_chains(s->model, b);
    fill_markers(s->model, given, given_count, b);
    fill_pulls(s->model, given, given_count, b);
    fill_dofs(s, D, b);
    fill_start_kinds(s, b);
    fill_starts(s, q, b);
    fill_task(s, b);
    lay_out(&b->task);
    fill_single(b);
}

static int count_ellipses(const poise_solver *s)
{
    int count = 0;
    for (int k = 0; k < s->model->joint_count; ++k) {
        count += has_ellipse(s, k);
    }
    return count;
}

static bool take(body_tables *b, const poise_solver *s, int goal_count, int marker_count)
{
    const poise_model *model = s->model;
    body_task *t = &b->task;
    t->joint_count = model->joint_count, t->marker_count = marker_count, t->goal_count = goal_count, t->nq = model->nq,
    t->nv = model->nv;
    b->swing_room = count_ellipses(s);
    int used = 0;
    part(&used, BODY_JOINT * t->joint_count);
    t->dof_numbers = part(&used, BODY_DOF * t->nv);
    t->marker_numbers = part(&used, BODY_MARKER * marker_count);
    t->swing_numbers = part(&used, 2 * BODY_SWING * b->swing_room);
    b->number_count = t->number_count = used;
    b->joints = calloc((size_t)t->joint_count, sizeof *b->joints);
    b->chains = calloc((size_t)t->joint_count, sizeof *b->chains);
    b->levels = calloc((size_t)t->joint_count + 1, sizeof *b->levels);
    b->goal = calloc((size_t)marker_count, sizeof *b->goal);
    b->part = calloc((size_t)marker_count, sizeof *b->part);
    b->single = calloc((size_t)used, sizeof *b->single);
    b->numbers = calloc((size_t)used, sizeof *b->numbers);
    b->starts = calloc((size_t)(s->options.restarts + 1) * (size_t)t->nv, sizeof *b->starts);
    b->start_kind = calloc((size_t)t->nv, sizeof *b->start_kind);
    b->pulls = calloc((size_t)(t->nq + 2 * t->nv), sizeof *b->pulls);
    return b->joints && b->chains && b->levels && b->goal && b->single && b->numbers && b->starts && b->start_kind &&
           b->part && b->pulls;
}

poise_status pz_body_tables_make(const poise_model *model, const poise_goal *goals, int goal_count,
                                 const poise_solver_options *options, body_tables *tables)
{
    poise_solver *solver = NULL;
    poise_solver_options own = *options;
    own.coupled_goals = 0;
    *tables = (body_tables){.number_count = 0};
    poise_goal *even = malloc((size_t)goal_count * sizeof *even); // all weights 1, for the metric
    double *scratch = malloc((size_t)(model->nq + model->nv) * sizeof *scratch);
    bool is_made = even && scratch && poise_solver_create(model, &own, NULL, &solver, NULL) == POISE_OK &&
                   take(tables, solver, goal_count, count_markers(goals, goal_count));
    if (is_made) {
        int count = 0;
        for (int i = 0; i < goal_count; ++i) {
            if (markers_of(&goals[i]) > 0) {
                even[count] = goals[i];
                even[count].weight = 1.0;
                even[count++].target.position = poise_vec3_make(0, 0, 0);
            }
        }
        fill(solver, even, count, goals, goal_count, scratch, tables);
    } else {
        pz_body_tables_free(tables);
    }
    poise_solver_destroy(solver);
    free(even), free(scratch);
    return is_made ? POISE_OK : POISE_ERROR_MEMORY;
}

void pz_body_tables_free(body_tables *b)
{
    free(b->joints), free(b->chains), free(b->levels), free(b->goal);
    free(b->single), free(b->numbers), free(b->starts), free(b->start_kind), free(b->part);
    free(b->pulls);
    *b = (body_tables){.number_count = 0};
}
