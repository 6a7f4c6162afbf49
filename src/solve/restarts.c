// Cold starts: the root laid onto the markers, and configurations for restarts.
#include "num/rotation.h"
#include "solve/solver_state.h"

// ---- Alignment -----------------------------------------------------------------------------------------------------------
//
// The rotation R and shift that bring points x nearest to t, sum w |R (x - xm) + tm - t|^2 least: R has the largest tr(R M),
// M = sum w (x - xm) (t - tm)^T (B. K. P. Horn, "Closed-form solution of absolute orientation using unit quaternions", 1987;
// num/davenport.c).

typedef struct cloud {
    double weight;
    int count;
    vec3 x, t; // means
    mat3 M;
} cloud;

static bool is_marker(const poise_goal *goal)
{
    return (goal->kind == POISE_GOAL_POSITION || goal->kind == POISE_GOAL_POSE) && goal->weight > 0;
}

static cloud cloud_of(const poise_solver *s, const poise_kinematics *kin)
{
    cloud c = {.weight = 0};
    for (int i = 0; i < s->goal_count; ++i) {
        const poise_goal *goal = &s->goals[i];
        if (is_marker(goal)) {
            c.weight += goal->weight;
            c.count += 1;
            c.x = v3_mad(c.x, goal->weight, pz_kin_point(kin, goal->body, goal->local.position));
            c.t = v3_mad(c.t, goal->weight, pz_goal_target(kin, goal));
        }
    }
    if (c.count == 0) {
        return c;
    }
    c.x = v3_scale(c.x, 1.0 / c.weight);
    c.t = v3_scale(c.t, 1.0 / c.weight);
    for (int i = 0; i < s->goal_count; ++i) {
        const poise_goal *goal = &s->goals[i];
        if (is_marker(goal)) {
            vec3 x = v3_sub(pz_kin_point(kin, goal->body, goal->local.position), c.x);
            vec3 t = v3_scale(v3_sub(pz_goal_target(kin, goal), c.t), goal->weight);
            c.M.x = v3_mad(c.M.x, t.x, x);
            c.M.y = v3_mad(c.M.y, t.y, x);
            c.M.z = v3_mad(c.M.z, t.z, x);
        }
    }
    return c;
}

// Angles of the rotation M for three turns in sequence (the steps of an Euler order), into q. Near gimbal lock the first
// takes all.
static bool turn_angles(const pz_step *steps, const mat3 *M, double *q)
{
    if (!pz_step_is_turn(steps[0].kind) || !pz_step_is_turn(steps[1].kind) || !pz_step_is_turn(steps[2].kind)) {
        return false;
    }
    double angles[3];
    euler_angles((int)steps[0].kind, (int)steps[1].kind, (int)steps[2].kind, M, angles);
    for (int i = 0; i < 3; ++i) {
        q[steps[i].q] = angles[i];
    }
    return true;
}

// Coordinates of the rotation M for a step sequence: a block, or three turns of an Euler order. False: neither.
static bool put_rotation(const poise_model *model, const pz_joint *joint, const mat3 *M, double *q)
{
    const pz_step *step = &model->steps[joint->step_end - 1];
    quat r = quat_from_matrix(M);
    if (step->kind == PZ_QUATERNION) {
        double *c = q + step->q;
        c[0] = r.x, c[1] = r.y, c[2] = r.z, c[3] = r.w;
        return true;
    }
    if (step->kind == PZ_EXPMAP) {
        vec3 v = so3_log(r);
        double *c = q + step->q;
        c[0] = v.x, c[1] = v.y, c[2] = v.z;
        return true;
    }
    return turn_angles(&model->steps[joint->step_end - 3], M, q);
}

bool pz_set_root(const poise_model *model, const mat3 *R, vec3 away, double *q)
{
    const pz_joint *root = &model->joints[0];
    mat3 back = m3_transpose(&root->C), M = m3_mul(&back, R); // world frame of the root's rotation: C M(q)
    vec3 d = m3_apply_transposed(&root->C, away);
    if (!v3_is_finite(d) || !put_rotation(model, root, &M, q)) {
        return false;
    }
    q[root->q_begin] = d.x, q[root->q_begin + 1] = d.y, q[root->q_begin + 2] = d.z;
    return poise_model_clamp(model, q, NULL, NULL) == POISE_OK;
}

bool pz_put_root(const poise_solver *s, const poise_kinematics *kin, quat turn, vec3 from, vec3 to, double *q)
{
    mat3 T = quat_matrix(turn), R = m3_mul(&T, &kin->R[0]);
    vec3 p = v3_add(to, m3_apply(&T, v3_neg(from))); // where body 0, now at 0, goes
    return pz_set_root(s->model, &R, v3_add(v3_sub(kin->origin, s->model->joints[0].t), p), q);
}

bool pz_align_root(const poise_solver *s, const poise_kinematics *kin, double *q)
{
    const poise_model *model = s->model;
    const pz_joint *root = &model->joints[0];
    poise_joint_type type = model->given[0].type;
    bool is_free = type == POISE_JOINT_FREE || type == POISE_JOINT_FREE_EXPMAP || type == POISE_JOINT_FREE_EULER;
    quat turn;
    cloud c = cloud_of(s, kin);
    if (!is_free || model->joint_count != root->subtree || c.count < 3 || !pz_best_quat(&c.M, 4, &turn)) {
        return false;
    }
    for (int i = root->v_begin; i < root->v_end; ++i) {
        if (s->box[i].locked) {
            return false;
        }
    }
    return pz_put_root(s, kin, turn, c.x, c.t, q);
}

// ---- Restarts ------------------------------------------------------------------------------------------------------------

// A start that stands on its limits (elbows and knees at 0) is a poor place to begin near: what is clamped there starts
// held. So a coordinate between two limits begins in the middle of its range (restart 1), then anywhere in the middle part
// of it. The others begin around the start. The root of a free skeleton is laid onto its markers afterwards.
//
// Where the whole of the reach is to be looked at, all of a range counts, and other turns begin anywhere.
#define SPREAD   0.4         // standard deviation around the start, radians
#define ANYWHERE 2.0         // the same where a turn may begin anywhere in its circle
#define MIDDLE   0.7         // that part of a range
#define TURN     (2 * PZ_PI) // hinges gain nothing beyond

// A sum of twelve uniform numbers: mean 0, deviation 1, no logarithm.
static double next_normal(uint64_t *state)
{
    double sum = -6.0;
    for (int i = 0; i < 12; ++i) {
        sum += next_uniform(state);
    }
    return sum;
}

static bool is_between_limits(const pz_box *box)
{
    return is_finite(box->lower) && is_finite(box->upper) && !box->locked && !box->keeps_form;
}

// A hinge of more than a turn draws from the turn around its start.
static double draw_between(const poise_solver *s, int dof, double part)
{
    const pz_box *box = &s->box[dof];
    double lower = box->lower, upper = box->upper;
    if (!pz_axis_slides(s->model, s->model->dof_axis[dof]) && upper - lower > TURN) {
        lower = clamp(s->q_start[box->q] - 0.5 * TURN, lower, upper - TURN);
        upper = lower + TURN;
    }
    return clamp(lower + (upper - lower) * (0.5 + part), box->lower, box->upper);
}

// Swings with an ellipse: uniform in the middle `part` of it.
static void draw_swings(const poise_solver *s, double part, uint64_t *state, double *q)
{
    const poise_model *model = s->model;
    for (int k = 0; s->has_swings && k < model->joint_count; ++k) {
        const poise_joint *given = &model->given[k];
        const pz_box *box = &s->box[model->joints[k].v_begin];
        if (given->type != POISE_JOINT_SWING_TWIST || !is_finite(given->swing[0]) || box[0].locked || box[1].locked) {
            continue;
        }
        double radius = sqrt(next_uniform(state)) * part, sine, cosine;
        pz_sincos(TURN * next_uniform(state), &sine, &cosine);
        q[box[0].q] = clamp(radius * cosine * given->swing[0], box[0].lower, box[0].upper);
        q[box[1].q] = clamp(radius * sine * given->swing[1], box[1].lower, box[1].upper);
    }
}

void pz_restart_configuration(poise_solver *s, int restart, bool is_anywhere, double *q)
{
    const poise_model *model = s->model;
    uint64_t state = s->options.seed * UINT64_C(0xD1342543DE82EF95) + (uint64_t)restart;
    double spread = is_anywhere ? ANYWHERE : SPREAD, part = is_anywhere ? 1.0 : restart == 1 ? 0.0 : MIDDLE;
    for (int i = 0; i < model->nv; ++i) {
        bool still = s->box[i].locked || pz_axis_slides(model, model->dof_axis[i]) || is_between_limits(&s->box[i]);
        double draw = spread * next_normal(&state);
        s->step[i] = still ? 0.0 : draw;
    }
    pz_step_within(s, s->q_start, s->step, q);
    for (int i = 0; i < model->nv; ++i) {
        double share = next_uniform(&state) - 0.5;
        if (is_between_limits(&s->box[i])) {
            q[s->box[i].q] = draw_between(s, i, part * share);
        }
    }
    draw_swings(s, part, &state, q);
}
