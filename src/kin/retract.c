// The space of configurations: a step from one by a tangent vector to another, and back; coordinates for a rotation or a
// pose that a joint is to have; what lies between two configurations, and beyond the last of several.
#include "kin/kin.h"

#include "base/error.h"
#include "num/rotation.h"

#include <string.h>

static quat quat_at(const double *q)
{
    return (quat){q[0], q[1], q[2], q[3]};
}

static void store_quat(quat a, double *q)
{
    q[0] = a.x, q[1] = a.y, q[2] = a.z, q[3] = a.w;
}

// A rotation vector; a swing has two components.
static vec3 vector_at(const pz_step *step, const double *q)
{
    return v3(q[step->q], q[step->q + 1], step->kind == PZ_EXPMAP ? q[step->q + 2] : 0.0);
}

// Is it a rotation vector without limits, so that either of its two short forms will do?
static bool takes_other_form(const poise_model *model, const pz_step *step)
{
    if (step->kind != PZ_EXPMAP && step->kind != PZ_SWING) {
        return false;
    }
    for (int i = step->q; i < step->q + pz_step_nq(step->kind); ++i) {
        if (is_finite(model->lower[i]) || is_finite(model->upper[i])) {
            return false;
        }
    }
    int joint = model->axes[step->axis].joint;
    return step->kind != PZ_SWING || !is_finite(model->given[joint].swing[0]);
}

static bool reparameterise(const poise_model *model, const pz_step *step, double *q)
{
    if (!takes_other_form(model, step)) {
        return false;
    }
    double *c = q + step->q;
    vec3 v = vector_at(step, q);
    if (!so3_reparameterise(&v)) {
        return false;
    }
    c[0] = v.x, c[1] = v.y;
    if (step->kind == PZ_EXPMAP) {
        c[2] = v.z;
    }
    return true;
}

int pz_kin_reparameterise(const poise_model *model, double *q)
{
    if (!model || !q || !pz_model_accepts(model, q)) {
        return 0;
    }
    int changed = 0;
    for (int s = 0; s < model->step_count; ++s) {
        changed += reparameterise(model, &model->steps[s], q);
    }
    return changed;
}

// q exp(v). Without a turn, the bits of a unit quaternion stay.
static quat turned(quat q, vec3 v)
{
    if (v.x == 0 && v.y == 0 && v.z == 0) {
        return pz_unit_quat(q);
    }
    return quat_normalize(quat_mul(quat_normalize(q), so3_exp_quat(v)));
}

// From q by dv in the dofs of one element, into its coordinates of q_out.
static void step_retract(const poise_model *model, const pz_step *step, const double *q, const double *dv, double *q_out)
{
    if (step->kind == PZ_QUATERNION) {
        store_quat(turned(quat_at(q + step->q), v3(dv[0], dv[1], dv[2])), q_out + step->q);
        return;
    }
    for (int i = 0; i < pz_step_nq(step->kind); ++i) {
        q_out[step->q + i] = q[step->q + i] + dv[i];
    }
    reparameterise(model, step, q_out);
}

void pz_kin_retract(const poise_model *model, const double *q, const double *v, double *q_out)
{
    for (int s = 0; s < model->step_count; ++s) {
        const pz_step *step = &model->steps[s];
        if (step->own) {
            step_retract(model, step, q, v + model->axes[step->axis].dof, q_out);
        }
    }
}

// Does every sum of a coordinate and its step fit into a number?
static bool sums_are_finite(const poise_model *model, const double *q, const double *v)
{
    for (int s = 0; s < model->step_count; ++s) {
        const pz_step *step = &model->steps[s];
        const double *dv = v + (step->own ? model->axes[step->axis].dof : 0);
        for (int i = 0; step->own && step->kind != PZ_QUATERNION && i < pz_step_nq(step->kind); ++i) {
            if (!is_finite(q[step->q + i] + dv[i])) {
                return false;
            }
        }
    }
    return true;
}

poise_status poise_retract(const poise_model *model, const double *q, const double *v, double *q_out, poise_error *error)
{
    if (!model || !v || !q_out) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "model, v and q_out must not be NULL");
    }
    if (!q || !pz_model_accepts(model, q)) {
        return pz_refuse_q(model, q, "q", error);
    }
    if (!all_finite(v, (size_t)model->nv)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "v must hold %d finite numbers", model->nv);
    }
    if (!sums_are_finite(model, q, v)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "a coordinate plus its step overflows");
    }
    pz_kin_retract(model, q, v, q_out);
    return POISE_OK;
}

// The step from q_from to q_to in the dofs of one element, dv[0] the first of them.
static void step_difference(const poise_model *model, const pz_step *step, const double *q_from, const double *q_to,
                            double *dv)
{
    if (step->kind == PZ_QUATERNION) {
        quat from = quat_normalize(quat_at(q_from + step->q)), to = quat_normalize(quat_at(q_to + step->q));
        vec3 turn = so3_log(quat_mul(quat_conj(from), to));
        dv[0] = turn.x, dv[1] = turn.y, dv[2] = turn.z;
        return;
    }
    if (takes_other_form(model, step)) {
        vec3 from = vector_at(step, q_from), turn = v3_sub(so3_nearer(vector_at(step, q_to), from), from);
        dv[0] = turn.x, dv[1] = turn.y;
        if (step->kind == PZ_EXPMAP) {
            dv[2] = turn.z;
        }
        return;
    }
    for (int i = 0; i < pz_step_nq(step->kind); ++i) {
        dv[i] = q_to[step->q + i] - q_from[step->q + i];
    }
}

void pz_kin_difference(const poise_model *model, const double *q_from, const double *q_to, double *v)
{
    for (int s = 0; s < model->step_count; ++s) {
        const pz_step *step = &model->steps[s];
        if (step->own) {
            step_difference(model, step, q_from, q_to, v + model->axes[step->axis].dof);
        }
    }
}

poise_status poise_difference(const poise_model *model, const double *q_from, const double *q_to, double *v,
                              poise_error *error)
{
    if (!model || !v) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "model and v must not be NULL");
    }
    if (!q_from || !pz_model_accepts(model, q_from)) {
        return pz_refuse_q(model, q_from, "q_from", error);
    }
    if (!q_to || !pz_model_accepts(model, q_to)) {
        return pz_refuse_q(model, q_to, "q_to", error);
    }
    for (int i = 0; i < model->nq; ++i) {
        if (!is_finite(q_to[i] - q_from[i])) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT, "coordinate %d: %g and %g are too far apart to represent", i,
                                q_from[i], q_to[i]);
        }
    }
    pz_kin_difference(model, q_from, q_to, v);
    return POISE_OK;
}

// ---- Coordinates for a rotation or a pose --------------------------------------------------------------------------------

// The three turns of an Euler order, of a joint that has them.
static const pz_step *turns_of(const poise_model *model, const pz_joint *joint)
{
    return &model->steps[joint->step_end - 3];
}

static bool has_turns(const poise_model *model, const pz_joint *joint)
{
    if (joint->step_end - joint->step_begin < 3) {
        return false;
    }
    const pz_step *last = turns_of(model, joint);
    return pz_step_is_turn(last[0].kind) && pz_step_is_turn(last[1].kind) && pz_step_is_turn(last[2].kind);
}

static const pz_step *last_step(const poise_model *model, const pz_joint *joint)
{
    return &model->steps[joint->step_end - 1];
}

bool pz_joint_has_rotation(const poise_model *model, const pz_joint *joint)
{
    if (joint->step_end == joint->step_begin) {
        return false;
    }
    pz_step_kind kind = last_step(model, joint)->kind;
    return kind == PZ_QUATERNION || kind == PZ_EXPMAP || has_turns(model, joint);
}

static mat3 turn_about(int axis, double angle)
{
    return quat_matrix(so3_exp_quat(v3_scale(unit_axis(axis), angle)));
}

// The first angle given, the others follow: what is left, R_a(-first) M, is R_b R_c.
static void angles_after(const pz_step *turns, const mat3 *M, double first, double angles[3])
{
    int b = (int)turns[1].kind, c = (int)turns[2].kind;
    mat3 back = turn_about((int)turns[0].kind, -first), left = m3_mul(&back, M);
    vec3 image = m3_apply(&left, unit_axis(c)); // R_b c
    angles[0] = first;
    angles[1] = pz_atan2(v3_dot(unit_axis(b), v3_cross(unit_axis(c), image)), v3_dot(unit_axis(c), image));
    mat3 undo = turn_about(b, -angles[1]), inner = m3_mul(&undo, &left);
    vec3 moved = m3_apply(&inner, unit_axis(b));
    angles[2] = pz_atan2(v3_dot(unit_axis(c), v3_cross(unit_axis(b), moved)), v3_dot(unit_axis(b), moved));
}

// Both triples of an Euler order that give M, the second with the first angle half a turn on, each with the whole turns that
// bring it next to `near`; in gimbal lock the one that keeps its first angle.
static void nearest_angles(const pz_step *turns, const mat3 *M, const double near[3], double best[3])
{
    const double lock = 1e-7; // as euler_angles has it
    double angles[3], least_way = 0.0;
    int a = (int)turns[0].kind, c = (int)turns[2].kind;
    vec3 image = m3_apply(M, unit_axis(c));
    bool is_locked = v3_norm(v3_mad(image, -v3_dot(image, unit_axis(a)), unit_axis(a))) < lock;
    euler_angles(a, (int)turns[1].kind, c, M, angles);
    double first = is_locked ? near[0] : angles[0];
    for (int k = 0; k < (is_locked ? 1 : 2); ++k) {
        double way = 0.0;
        angles_after(turns, M, first + k * PZ_PI, angles);
        for (int i = 0; i < 3; ++i) {
            angles[i] = turn_near(angles[i], near[i]);
            way += (angles[i] - near[i]) * (angles[i] - near[i]);
        }
        if (k == 0 || way < least_way) {
            memcpy(best, angles, sizeof angles);
            least_way = way;
        }
    }
}

// Coordinates of the rotation M of a joint's motion next to those that q has: of all angles, or quaternions, of M the ones
// that change them least. In gimbal lock the first angle stays. False: the joint has not every rotation.
static bool set_rotation_near(const poise_model *model, const pz_joint *joint, const mat3 *M, double *q)
{
    if (!pz_joint_has_rotation(model, joint)) {
        return false;
    }
    if (has_turns(model, joint)) {
        const pz_step *turns = turns_of(model, joint);
        double before[3], best[3];
        for (int i = 0; i < 3; ++i) {
            before[i] = q[turns[i].q];
        }
        nearest_angles(turns, M, before, best);
        for (int i = 0; i < 3; ++i) {
            q[turns[i].q] = best[i];
        }
        return true;
    }
    quat r = quat_from_matrix(M);
    double *c = q + last_step(model, joint)->q;
    if (last_step(model, joint)->kind == PZ_QUATERNION) {
        double sign = c[0] * r.x + c[1] * r.y + c[2] * r.z + c[3] * r.w < 0.0 ? -1.0 : 1.0;
        c[0] = sign * r.x, c[1] = sign * r.y, c[2] = sign * r.z, c[3] = sign * r.w;
    } else {
        vec3 v = so3_log(r);
        c[0] = v.x, c[1] = v.y, c[2] = v.z;
    }
    return true;
}

bool poise_set_joint_pose(const poise_model *model, int joint, const poise_pose *parent, const poise_pose *pose, double *q)
{
    if (!model || joint < 0 || joint >= model->joint_count || !parent || !pose || !q) {
        return false;
    }
    const pz_joint *j = &model->joints[joint];
    mat3 P = quat_matrix(parent->rotation), R = quat_matrix(pose->rotation), B = m3_transpose(&j->B);
    if (j->parent >= 0) { // ours from the user's: user rotation = R B
        mat3 back = m3_transpose(&model->joints[j->parent].B);
        P = m3_mul(&P, &back);
    }
    mat3 world = m3_mul(&P, &j->C), undo = m3_transpose(&world);
    R = m3_mul(&R, &B);
    mat3 M = m3_mul(&undo, &R);
    vec3 away = v3_sub(m3_apply_transposed(&P, v3_sub(pose->position, parent->position)), j->t);
    vec3 s = m3_apply_transposed(&j->C, away);
    for (int i = j->step_begin; i < j->step_begin + j->slide_count; ++i) {
        const pz_step *step = &model->steps[i];
        if (pz_step_is_slide(step->kind) && step->own) {
            q[step->q] = step->kind == PZ_SLIDE_X ? s.x : step->kind == PZ_SLIDE_Y ? s.y : s.z;
        }
    }
    return set_rotation_near(model, j, &M, q) && j->slide_count == 3;
}

static double angles_distance(const double *a, const double *b)
{
    return fabs(a[0] - b[0]) + fabs(a[1] - b[1]) + fabs(a[2] - b[2]);
}

static bool is_unlimited(const poise_model *model, int q)
{
    return !is_finite(model->lower[q]) && !is_finite(model->upper[q]);
}

// Three turns that may be exchanged for others.
static bool is_triple(const poise_model *model, const pz_joint *joint)
{
    if (!has_turns(model, joint)) {
        return false;
    }
    const pz_step *turns = turns_of(model, joint);
    return turns[0].own && is_unlimited(model, turns[0].q) && is_unlimited(model, turns[1].q) &&
           is_unlimited(model, turns[2].q);
}

// R_a(x) R_b(y) R_c(z) is also R_a(x + pi) R_b(pi - y) R_c(z + pi), or, where c is a, R_a(x + pi) R_b(-y) R_c(z + pi).
static void turn_triple(const pz_step *turns, const double *near, double *q)
{
    double own[3], other[3], to[3];
    bool repeats = turns[0].kind == turns[2].kind;
    for (int i = 0; i < 3; ++i) {
        to[i] = near[turns[i].q];
        own[i] = turn_near(q[turns[i].q], to[i]);
        other[i] = turn_near(i != 1 ? own[i] + PZ_PI : repeats ? -own[1] : PZ_PI - own[1], to[i]);
    }
    const double *best = angles_distance(other, to) < angles_distance(own, to) ? other : own;
    for (int i = 0; i < 3; ++i) {
        q[turns[i].q] = best[i];
    }
}

void poise_set_same_pose_near(const poise_model *model, const double *near, double *q)
{
    for (int k = 0; model && near && q && k < model->joint_count; ++k) {
        const pz_joint *joint = &model->joints[k];
        if (is_triple(model, joint)) {
            turn_triple(turns_of(model, joint), near, q);
            continue;
        }
        for (int i = joint->step_begin; i < joint->step_end; ++i) {
            const pz_step *step = &model->steps[i];
            if (pz_step_is_turn(step->kind) && step->own && is_unlimited(model, step->q)) {
                q[step->q] = turn_near(q[step->q], near[step->q]);
            }
        }
    }
}

// The rotation M of a joint's motion at q. The joint has any.
static mat3 rotation_of_joint(const poise_model *model, const pz_joint *joint, const double *q)
{
    const pz_step *step = last_step(model, joint);
    const double *c = q + step->q;
    if (step->kind == PZ_QUATERNION) {
        return quat_matrix(quat_normalize((quat){c[0], c[1], c[2], c[3]}));
    }
    if (step->kind == PZ_EXPMAP) {
        return quat_matrix(so3_exp_quat(v3(c[0], c[1], c[2])));
    }
    const pz_step *turns = turns_of(model, joint);
    mat3 outer = turn_about((int)turns[0].kind, q[turns[0].q]), middle = turn_about((int)turns[1].kind, q[turns[1].q]),
         inner = turn_about((int)turns[2].kind, q[turns[2].q]), both = m3_mul(&outer, &middle);
    return m3_mul(&both, &inner);
}

// ---- Between two configurations, and beyond the last of several ----------------------------------------------------------

// The way of an angle: the difference, less whole turns where it jumps by more than half a turn, unless the limits leave
// less than a whole turn, so that the joint cannot go round.
//
// Limits of +-180 degrees in radians may miss the whole turn by rounding.
static double angle_way(double from, double to, double lower, double upper)
{
    double way = to - from;
    if (fabs(way) <= PZ_PI || upper - lower < PZ_TWO_PI * (1.0 - 8 * PZ_EPSILON) || fabs(way) > 1e9) {
        return way;
    }
    double turns = way / PZ_TWO_PI;
    return way - PZ_TWO_PI * (double)(long long)(turns + (turns < 0.0 ? -0.5 : 0.5));
}

// At u in (0, 1) along the way from one number to another; a way beyond the range of numbers is taken in two parts.
static double between(double from, double to, double way, double u)
{
    return is_finite(way) ? from + u * way : (1.0 - u) * from + u * to;
}

// At u in (0, 1) along the great arc between two rotations: from exp(u log(from^-1 to)).
static quat arc(quat from, quat to, double u)
{
    vec3 way = so3_log(quat_mul(quat_conj(from), to));
    return quat_mul(from, so3_exp_quat(v3_scale(way, u)));
}

static bool is_free_vector(const poise_model *model, int first, int count)
{
    for (int i = first; i < first + count; ++i) {
        if (is_finite(model->lower[i]) || is_finite(model->upper[i])) {
            return false;
        }
    }
    return true;
}

static void step_between(const poise_model *model, const pz_step *step, const double *a, const double *b, double u,
                         double *q)
{
    int first = step->q, count = pz_step_nq(step->kind);
    const double *from = a + first, *to = b + first;
    double *at = q + first;
    if (step->kind == PZ_QUATERNION) {
        quat r = arc(quat_normalize((quat){from[0], from[1], from[2], from[3]}),
                     quat_normalize((quat){to[0], to[1], to[2], to[3]}), u);
        r = quat_normalize(r);
        at[0] = r.x, at[1] = r.y, at[2] = r.z, at[3] = r.w;
    } else if (step->kind == PZ_EXPMAP && is_free_vector(model, first, count)) {
        vec3 v = so3_log(arc(so3_exp_quat(v3(from[0], from[1], from[2])), so3_exp_quat(v3(to[0], to[1], to[2])), u));
        at[0] = v.x, at[1] = v.y, at[2] = v.z;
    } else if (pz_step_is_turn(step->kind)) {
        at[0] = between(from[0], to[0], angle_way(from[0], to[0], model->lower[first], model->upper[first]), u);
    } else {
        for (int i = 0; i < count; ++i) {
            at[i] = between(from[i], to[i], to[i] - from[i], u);
        }
    }
}

// Is this a joint of three turns without limits of which one changes by more than `apart`?
static bool is_far_triple(const poise_model *model, int joint, const double *a, const double *b, double apart)
{
    double far = 0.0;
    const pz_step *turn = &model->steps[model->joints[joint].step_end - 3];
    if (!pz_joint_row_of(model->given[joint].type)->euler || !turn->own) {
        return false;
    }
    for (int i = 0; i < 3; ++i) {
        far = max2(far, is_free_vector(model, turn[i].q, 1) ? fabs(b[turn[i].q] - a[turn[i].q]) : INFINITY);
    }
    return far > apart && is_finite(far);
}

// Three turns one after the other are a rotation, and go along its arc, too: angle by angle a blend of triples that lie far
// apart tumbles.
static void joint_between(const poise_model *model, int k, const double *a, const double *b, double u, double apart,
                          double *q)
{
    const pz_joint *joint = &model->joints[k];
    bool is_triple = joint->step_end > joint->step_begin && is_far_triple(model, k, a, b, apart);
    mat3 M = {0};
    if (is_triple) {
        mat3 A = rotation_of_joint(model, joint, a), B = rotation_of_joint(model, joint, b);
        M = quat_matrix(arc(quat_from_matrix(&A), quat_from_matrix(&B), u));
    }
    for (int s = joint->step_begin; s < joint->step_end; ++s) {
        if (model->steps[s].own) {
            step_between(model, &model->steps[s], a, b, u, q);
        }
    }
    if (is_triple) {
        set_rotation_near(model, joint, &M, q);
    }
}

poise_status poise_interpolate(const poise_model *model, const double *from, const double *to, double share, double apart,
                               double *q, poise_error *error)
{
    if (!model || !from || !to || !q || !(share >= 0.0 && share <= 1.0) || !(apart >= 0.0)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "model, from, to and q must not be NULL, share in [0, 1] and apart >= 0");
    }
    if (!pz_model_accepts(model, from) || !pz_model_accepts(model, to)) {
        bool is_to = pz_model_accepts(model, from);
        return pz_refuse_q(model, is_to ? to : from, is_to ? "to" : "from", error);
    }
    if (share == 0.0 || share == 1.0) {
        memmove(q, share == 0.0 ? from : to, (size_t)model->nq * sizeof *q);
        return POISE_OK;
    }
    for (int k = 0; k < model->joint_count; ++k) {
        joint_between(model, k, from, to, share, apart, q);
    }
    return POISE_OK;
}

// ---- Prediction ----------------------------------------------------------------------------------------------------------
//
// Where a motion leads, from its last four frames. With d_1, d_2, d_3 the steps between them, the last one first,
// polynomials of order 0, 1 and 2 lead to the upper row, and missed the last frame, from those before it, by the lower one:
//
//   q        q + d_1         q + 2 d_1 - d_2
//   |d_1|    |d_1 - d_2|     |d_1 - 2 d_2 + d_3|
//
// Noise makes every order worse than the one below, by sqrt(3) and more, and what no goal sees drifts: a higher order has to
// have been much better.

#define ORDERS 3
#define BETTER 0.1 // squared misses, of an order over the one below

// Frames from the last one backwards; before the first nothing moved.
typedef struct last_frames {
    const double *q[ORDERS + 1];
} last_frames;

// The step to the frame number k from the one before it, in the dofs of one element of a joint.
static inline void frame_step(const poise_model *model, const last_frames *last, int k, const pz_step *step, double *d)
{
    if (pz_step_is_block(step->kind)) {
        step_difference(model, step, last->q[k + 1], last->q[k], d);
    } else {
        d[0] = last->q[k][step->q] - last->q[k + 1][step->q];
    }
}

static int best_order(const poise_model *model, const last_frames *last, int count)
{
    double missed[ORDERS] = {0.0};
    for (int s = 0; s < model->step_count; ++s) {
        const pz_step *step = &model->steps[s];
        double d1[3], d2[3], d3[3];
        if (!step->own) {
            continue;
        }
        frame_step(model, last, 0, step, d1);
        frame_step(model, last, 1, step, d2);
        frame_step(model, last, 2, step, d3);
        for (int i = 0; i < pz_step_nv(step->kind); ++i) {
            double change = d1[i] - d2[i], bend = change - (d2[i] - d3[i]);
            missed[0] += d1[i] * d1[i];
            missed[1] += change * change;
            missed[2] += bend * bend;
        }
    }
    int order = 0;
    while (order + 1 < ORDERS && order + 3 <= count && missed[order + 1] < BETTER * missed[order]) {
        order += 1;
    }
    return order;
}

static void extrapolate(const poise_model *model, const last_frames *last, int order, double *q)
{
    for (int s = 0; s < model->step_count; ++s) {
        const pz_step *step = &model->steps[s];
        double d1[3] = {0.0}, d2[3] = {0.0};
        if (!step->own) {
            continue;
        }
        if (order > 0) {
            frame_step(model, last, 0, step, d1);
        }
        if (order > 1) {
            frame_step(model, last, 1, step, d2);
        }
        for (int i = 0; order > 1 && i < pz_step_nv(step->kind); ++i) {
            d1[i] += d1[i] - d2[i];
        }
        if (pz_step_is_block(step->kind)) {
            step_retract(model, step, last->q[0], d1, q);
        } else {
            q[step->q] = last->q[0][step->q] + d1[0];
        }
    }
}

poise_status poise_predict(const poise_model *model, const double *frames, int count, double *q, poise_error *error)
{
    if (!model || !frames || count < 1 || !q) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "model, frames and q must not be NULL, and count must be at least 1");
    }
    last_frames last;
    for (int f = 0; f <= ORDERS; ++f) {
        int frame = count - 1 - f < 0 ? 0 : count - 1 - f;
        last.q[f] = frames + (size_t)frame * (size_t)model->nq;
        if (f < count && !pz_model_accepts(model, last.q[f])) {
            return pz_refuse_q(model, last.q[f], "a frame", error);
        }
    }
    extrapolate(model, &last, best_order(model, &last, count), q);
    return POISE_OK;
}
