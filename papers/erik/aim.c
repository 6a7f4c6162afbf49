// Holding a posture while an end faces something, by the successor of ERIK or by ERIK, behind one call.
//
// The successor takes the target as a goal. ERIK takes orientations: a direction is the end turned towards it the shortest
// way, and the direction to a point, which depends on where the tip comes to lie, is a fixed point that is stepped towards.
// Whatever solved, the answer is measured by ERIK's errors, so that methods can be compared.
#include <poise/expressive.h>

#include "base/arena.h"
#include "base/error.h"
#include "num/trig.h"
#include "num/vector.h"

#include <string.h>

#define JUMP 0.3490658503988659 // 20 degrees

struct poise_aim {
    const poise_model *model;
    poise_aim_options options;
    poise_kinematics *kinematics;
    poise_erik *erik;              // NULL: no chain of hinges
    poise_erik *follower;          // of ERIK: from the last answer
    poise_expressive *cold, *warm; // of EXPRESSIVE only
    pz_owned owned;
};

// ---- Options and life ----------------------------------------------------------------------------------------------------

poise_goal poise_aim_goal(const poise_aim_options *options, const poise_aim_target *target)
{
    poise_goal goal;
    switch (target->kind) {
    case POISE_AIM_DIRECTION:
        return poise_goal_direction(options->body, options->axis, target->vector);
    case POISE_AIM_POINT:
        return poise_goal_aim(options->body, options->tip.position, options->axis, target->vector);
    default:
        goal = poise_goal_orientation(options->body, target->rotation);
        goal.local = options->tip;
        return goal;
    }
}

static poise_status check(const poise_model *model, const poise_aim_options *o, poise_error *error)
{
    if (!model || !o) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "model and options must not be NULL");
    }
    int joints = poise_model_info(model).joints;
    if (o->body < POISE_NONE || o->body >= joints) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "the body %d is out of range", o->body);
    }
    if (o->method < 0 || o->method >= POISE_AIM_METHOD_COUNT) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "unknown method");
    }
    if (o->held_count < 0 || o->held_count > POISE_AIM_MOST_HELD) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "held_count must be in 0 .. %d", POISE_AIM_MOST_HELD);
    }
    for (int i = 0; i < o->held_count; ++i) {
        if (o->held[i] < 0 || o->held[i] >= joints) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT, "held[%d] is no body", i);
        }
    }
    double length = v3_norm(o->axis);
    return length > 0.0 && is_finite(length) ? POISE_OK
                                             : pz_error_set(error, POISE_ERROR_ARGUMENT, "axis must be a direction");
}

static poise_status create_parts(poise_aim *a, const poise_allocator *allocator, poise_error *error)
{
    poise_aim_options *o = &a->options;
    o->expressive.body = o->erik.body = o->body;
    o->expressive.tip = o->erik.tip = o->tip;
    o->expressive.symmetric_endpoint = o->erik.symmetric_endpoint = o->symmetric;
    poise_erik_options cold = o->erik;
    cold.warm = false;
    poise_error why = {.status = POISE_OK};
    poise_status status = poise_erik_create(a->model, &cold, allocator, &a->erik, &why);
    bool has_chain = status == POISE_OK;
    if (!has_chain && (status == POISE_ERROR_MEMORY || status == POISE_ERROR_ARGUMENT || o->method == POISE_AIM_ERIK)) {
        return pz_error_set(error, status, "%s", why.text);
    }
    status = POISE_OK;
    if (has_chain && o->method == POISE_AIM_ERIK && o->erik.warm) {
        status = poise_erik_create(a->model, &o->erik, allocator, &a->follower, error);
    }
    status = status == POISE_OK ? poise_kinematics_create(a->model, allocator, &a->kinematics, error) : status;
    for (int warm = 0; warm < 2 && o->method == POISE_AIM_EXPRESSIVE && status == POISE_OK; ++warm) {
        o->expressive.warm = warm == 1;
        status = poise_expressive_create(a->model, &o->expressive, allocator, warm ? &a->warm : &a->cold, error);
    }
    return status;
}

poise_status poise_aim_create(const poise_model *model, const poise_aim_options *options, const poise_allocator *allocator,
                              poise_aim **aim, poise_error *error)
{
    poise_status status = check(model, options, error);
    pz_owned owned = {0};
    if (status != POISE_OK || !aim) {
        return status != POISE_OK ? status : pz_error_set(error, POISE_ERROR_ARGUMENT, "aim must not be NULL");
    }
    if (!pz_owned_take(&owned, allocator, sizeof(poise_aim))) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    poise_aim *a = owned.memory;
    *a = (poise_aim){.model = model, .options = *options, .owned = owned};
    a->options.body = options->body == POISE_NONE ? poise_model_info(model).joints - 1 : options->body;
    a->options.axis = v3_scale(options->axis, 1.0 / v3_norm(options->axis));
    status = create_parts(a, allocator, error);
    if (status != POISE_OK) {
        poise_aim_destroy(a);
        return status;
    }
    *aim = a;
    return POISE_OK;
}

void poise_aim_destroy(poise_aim *aim)
{
    if (aim) {
        poise_expressive_destroy(aim->cold);
        poise_expressive_destroy(aim->warm);
        poise_erik_destroy(aim->erik);
        poise_erik_destroy(aim->follower);
        poise_kinematics_destroy(aim->kinematics);
        pz_owned owned = aim->owned;
        pz_owned_release(&owned);
    }
}

// ---- Measures ------------------------------------------------------------------------------------------------------------

static double sine(double x)
{
    double s, c;
    poise_sincos(x, &s, &c);
    return s;
}

static double cosine(double x)
{
    double s, c;
    poise_sincos(x, &s, &c);
    return c;
}

static double angle_between(poise_vec3 a, poise_vec3 b)
{
    poise_vec3 c = v3_cross(a, b);
    return poise_atan2(sqrt(v3_dot(c, c)), v3_dot(a, b));
}

static poise_quat tip_rotation(const poise_aim *s)
{
    poise_pose body = poise_kinematics_body_pose(s->kinematics, s->options.body);
    return poise_quat_multiply(body.rotation, s->options.tip.rotation);
}

// What the axis should point along, from where the tip is now; zero where the tip lies on the point.
static poise_vec3 wanted_direction(const poise_aim *s, const poise_aim_target *target)
{
    poise_vec3 tip = poise_kinematics_point(s->kinematics, s->options.body, s->options.tip.position), p = target->vector;
    return target->kind == POISE_AIM_DIRECTION ? p : v3(p.x - tip.x, p.y - tip.y, p.z - tip.z);
}

// The angle left, at the configuration that the kinematics hold. An orientation may be rolled by half a turn about the axis.
static double angle_left(const poise_aim *s, const poise_aim_target *target)
{
    poise_vec3 axis = poise_kinematics_direction(s->kinematics, s->options.body, s->options.axis);
    if (target->kind != POISE_AIM_ORIENTATION) {
        return angle_between(axis, wanted_direction(s, target));
    }
    poise_quat rotation = tip_rotation(s), goal = poise_quat_conjugate(target->rotation);
    double angle = poise_quat_angle(poise_quat_multiply(goal, rotation));
    if (s->options.symmetric) {
        poise_quat rolled = poise_quat_multiply((poise_quat){axis.x, axis.y, axis.z, 0}, rotation);
        angle = min2(angle, poise_quat_angle(poise_quat_multiply(goal, rolled)));
    }
    return angle;
}

double poise_aim_angle(poise_aim *aim, const poise_aim_target *target, const double *q)
{
    poise_kinematics_update(aim->kinematics, q, NULL);
    return angle_left(aim, target);
}

static int joint_q(const poise_aim *s, int position)
{
    return poise_model_joint_info(s->model, poise_erik_joints(s->erik).links[position].index).q;
}

// Runs of swings bend as the posture does or, where the twister before them is half a turn off against it, the other way:
// the least mean over both, run by run. Twisters at root and end are free.
static double shape_error(const poise_aim *s, const double *posture, const double *q)
{
    int count = poise_erik_joints(s->erik).count;
    double weights = 0, power = 1, least[2] = {0, poise_erik_joints(s->erik).links[0].is_twister ? 0 : INFINITY};
    for (int k = 0; k < count; ++k) {
        int i = joint_q(s, k);
        if (!poise_erik_joints(s->erik).links[k].is_twister) {
            least[0] += power * fabs(q[i] - posture[i]);
            least[1] += power * fabs(q[i] + posture[i]);
            weights += power;
            power *= s->options.erik.aggravation;
            continue;
        }
        bool is_inner = weights > 0 && k < count - 1, is_half = cosine(q[i] - posture[i]) < 0;
        double same = is_inner && is_half ? INFINITY : 0, other = is_inner && !is_half ? INFINITY : 0;
        double to[2] = {min2(least[0] + same, least[1] + other), min2(least[1] + same, least[0] + other)};
        memcpy(least, to, sizeof least);
    }
    return weights > 0 ? min2(least[0], least[1]) / weights : 0;
}

// `posture_error`: of the successor, for skeletons that the paper's measure does not know.
static void measure(poise_aim *s, const poise_aim_target *target, const double *posture, const double *q,
                    double posture_error, poise_aim_report *r)
{
    const poise_erik_options *o = &s->options.erik;
    poise_kinematics_update(s->kinematics, q, NULL);
    r->angle = angle_left(s, target);
    r->orientation = sqrt(2) * sine(r->angle / 4);
    r->posture = posture_error;
    r->shape = NAN;
    if (s->erik) {
        poise_erik_report report;
        poise_erik_measure(s->erik, posture, poise_pose_identity().rotation, q, &report, NULL);
        r->posture = report.posture;
        r->shape = shape_error(s, posture, q);
    }
    r->error = o->orientation_weight * r->orientation + o->posture_weight * r->posture;
    r->faces = r->orientation <= o->threshold;
    r->within = r->error <= o->threshold;
    r->limits_hold = poise_model_within_limits(s->model, q);
}

bool poise_aim_has_jumped(const poise_model *model, const double *before, const double *q)
{
    for (int i = 0; i < poise_model_info(model).nq; ++i) {
        if (fabs(q[i] - before[i]) > JUMP) {
            return true;
        }
    }
    return false;
}

// ---- Solving -------------------------------------------------------------------------------------------------------------

// The shortest turn from the direction a to b, neither 0.
static poise_quat arc(poise_vec3 a, poise_vec3 b)
{
    poise_vec3 axis = v3_cross(a, b);
    if (v3_dot(axis, axis) <= 1e-24 * v3_dot(a, a) * v3_dot(b, b)) { // one line: any axis across it
        axis = v3_cross(a, fabs(a.x) < 0.8 * sqrt(v3_dot(a, a)) ? v3(1, 0, 0) : v3(0, 1, 0));
    }
    return poise_quat_from_axis_angle(axis, angle_between(a, b));
}

static poise_vec3 unit(poise_vec3 v, poise_vec3 otherwise)
{
    double l = sqrt(v3_dot(v, v));
    return l > 0 && is_finite(l) ? v3(v.x / l, v.y / l, v.z / l) : otherwise;
}

// A direction as an orientation: the end as the kinematics hold it, turned there the shortest way.
static poise_quat facing(const poise_aim *s, poise_vec3 direction)
{
    poise_vec3 axis = poise_kinematics_direction(s->kinematics, s->options.body, s->options.axis);
    return poise_quat_multiply(arc(axis, direction), tip_rotation(s));
}

static poise_status solve_orientation(poise_aim *s, poise_quat wanted, const double *posture, bool follows, double *q,
                                      poise_erik_report *report)
{
    poise_erik_report now = {.iterations = 0};
    poise_erik *erik = follows && s->follower ? s->follower : s->erik;
    poise_status status = s->options.chain ? s->options.chain(s->options.user, s->erik, posture, wanted, q, &now)
                                           : poise_erik_solve(erik, posture, wanted, q, &now, NULL);
    now.iterations += report->iterations;
    *report = status == POISE_OK ? now : *report;
    return status;
}

// The direction to a point depends on where the tip comes to lie: a fixed point d = direction from the tip of the answer to
// d. Steps towards it, shorter where they lead away, until the angle left is small; then the best of them once more.
static poise_status solve_point(poise_aim *s, const poise_aim_target *target, const double *posture, bool follows, double *q,
                                poise_erik_report *report)
{
    enum { ROUNDS = 40 };
    const double settled = 1e-4;
    double least = INFINITY, share = 1;
    poise_vec3 from = poise_kinematics_direction(s->kinematics, s->options.body, s->options.axis);
    poise_vec3 d = unit(wanted_direction(s, target), from), best = d, wanted = d; // wanted: from the tip of the best
    poise_quat rest = tip_rotation(s);
    for (int i = 0; i < ROUNDS && least > settled; ++i) {
        poise_status status = solve_orientation(s, poise_quat_multiply(arc(from, d), rest), posture, follows, q, report);
        if (status != POISE_OK) {
            return status;
        }
        poise_kinematics_update(s->kinematics, q, NULL);
        double left = angle_left(s, target);
        if (left < least) {
            least = left;
            best = d;
            wanted = unit(wanted_direction(s, target), from);
        } else {
            share *= 0.7;
        }
        double keep = 1 - share;
        d = v3(share * wanted.x + keep * best.x, share * wanted.y + keep * best.y, share * wanted.z + keep * best.z);
        d = unit(d, from);
    }
    return solve_orientation(s, poise_quat_multiply(arc(from, best), rest), posture, follows, q, report);
}

// Searches for a chain take orientations.
static poise_status solve_chain(poise_aim *s, const poise_aim_target *target, const double *posture, bool follows, double *q,
                                poise_erik_report *report)
{
    poise_kinematics_update(s->kinematics, posture, NULL);
    switch (target->kind) {
    case POISE_AIM_POINT:
        return solve_point(s, target, posture, follows, q, report);
    case POISE_AIM_DIRECTION:
        return solve_orientation(s, facing(s, target->vector), posture, follows, q, report);
    default:
        return solve_orientation(s, target->rotation, posture, follows, q, report);
    }
}

static poise_status solve_expressive(poise_aim *s, const poise_aim_target *target, const double *posture, bool follows,
                                     double *q, poise_aim_report *r, double *posture_error, poise_error *error)
{
    const poise_aim_options *o = &s->options;
    poise_goal goals[POISE_AIM_MOST_HELD + 1] = {poise_aim_goal(o, target)};
    poise_expressive_report report;
    poise_kinematics_update(s->kinematics, posture, NULL);
    for (int i = 0; i < o->held_count; ++i) {
        goals[1 + i] =
            poise_goal_pose(o->held[i], poise_pose_identity(), poise_kinematics_body_pose(s->kinematics, o->held[i]));
    }
    poise_status status =
        poise_expressive_solve(follows ? s->warm : s->cold, goals, 1 + o->held_count, posture, q, &report, error);
    if (status == POISE_OK) {
        r->outcome = report.outcome;
        r->iterations = report.evaluations;
        *posture_error = report.posture;
    }
    return status;
}

static poise_status check_solve(const poise_aim *aim, const poise_aim_target *target, const double *posture, const double *q,
                                poise_error *error)
{
    if (!aim || !target || !posture || !q) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "aim, target, posture and q must not be NULL");
    }
    if (target->kind == POISE_AIM_DIRECTION && v3_norm(target->vector) == 0.0) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "the direction must not be zero");
    }
    quat r = target->rotation;
    bool is_finite_target = is_finite(v3_norm(target->vector)) && is_finite(r.x * r.x + r.y * r.y + r.z * r.z + r.w * r.w);
    for (int i = 0; i < poise_model_info(aim->model).nq; ++i) {
        is_finite_target = is_finite_target && is_finite(posture[i]);
    }
    return is_finite_target ? POISE_OK : pz_error_set(error, POISE_ERROR_ARGUMENT, "target and posture must be finite");
}

poise_status poise_aim_solve(poise_aim *aim, const poise_aim_target *target, const double *posture, bool follows, double *q,
                             poise_aim_report *report, poise_error *error)
{
    poise_status status = check_solve(aim, target, posture, q, error);
    poise_aim_report own = {.outcome = POISE_OUTCOME_STALLED};
    double posture_error = NAN;
    if (status == POISE_OK && !follows) {
        memcpy(q, posture, (size_t)poise_model_info(aim->model).nq * sizeof *q);
        poise_model_clamp(aim->model, q, NULL, NULL);
    }
    if (status == POISE_OK && aim->options.method == POISE_AIM_EXPRESSIVE) {
        status = solve_expressive(aim, target, posture, follows, q, &own, &posture_error, error);
    } else if (status == POISE_OK) {
        poise_erik_report of_chain = {.iterations = 0};
        status = solve_chain(aim, target, posture, follows, q, &of_chain);
        own.outcome = of_chain.outcome;
        own.iterations = of_chain.iterations;
        status = status == POISE_OK ? status : pz_error_set(error, status, "the chain was not solved");
    }
    if (status == POISE_OK) {
        measure(aim, target, posture, q, posture_error, &own);
        own.outcome = own.faces                              ? POISE_OUTCOME_REACHED
                      : own.outcome == POISE_OUTCOME_REACHED ? POISE_OUTCOME_CLOSEST
                                                             : own.outcome;
        if (report) {
            *report = own;
        }
    }
    return status;
}
