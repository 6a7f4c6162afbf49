// Goals between what a clip does and what is requested.
//
// Positions and distances go along straight lines, rotations and directions along great arcs:
//
//   p + a (p' - p)      R exp(a log(R^-1 R'))      exp(a log(u -> u')) u      q (+) a (q' (-) q)
#include "motion/edit/goal_mix.h"

#include "num/rotation.h"

double pz_ease(double u)
{
    u = clamp(u, 0.0, 1.0);
    return u * u * u * (10.0 + u * (-15.0 + u * 6.0));
}

static bool is_posture(poise_goal_kind kind)
{
    return kind == POISE_GOAL_POSTURE || kind == POISE_GOAL_SMOOTHNESS;
}

static bool same(vec3 a, vec3 b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

bool pz_goals_match(const poise_goal *a, const poise_goal *b)
{
    if (a->kind != b->kind) {
        return false;
    }
    if (is_posture(a->kind) || a->kind == POISE_GOAL_CENTER_OF_MASS) {
        return true;
    }
    quat r = a->local.rotation, s = b->local.rotation;
    return a->body == b->body && a->body2 == b->body2 && same(a->local.position, b->local.position) &&
           same(a->axis, b->axis) && r.x == s.x && r.y == s.y && r.z == s.z && r.w == s.w;
}

poise_goal pz_goal_met(const poise_goal *goal, const poise_kinematics *kin, const double *q)
{
    poise_goal met = *goal;
    bool has_body = !is_posture(goal->kind) && goal->kind != POISE_GOAL_CENTER_OF_MASS;
    poise_pose frame = has_body ? poise_kinematics_body_pose(kin, goal->body) : poise_pose_identity();
    poise_pose place = poise_pose_multiply(frame, goal->local);
    vec3 away = v3_sub(goal->target.position, place.position);
    met.q = is_posture(goal->kind) ? q : goal->q;
    switch (goal->kind) {
    case POISE_GOAL_POSITION:
    case POISE_GOAL_PLANE:
    case POISE_GOAL_LINE:
        met.target.position = place.position;
        break;
    case POISE_GOAL_ORIENTATION:
    case POISE_GOAL_POSE:
        met.target = place;
        break;
    case POISE_GOAL_DIRECTION:
        met.direction = quat_rotate(frame.rotation, goal->axis);
        break;
    case POISE_GOAL_AIM:
        met.target.position = v3_mad(place.position, v3_norm(away), quat_rotate(frame.rotation, goal->axis));
        break;
    case POISE_GOAL_DISTANCE:
        met.distance = v3_norm(away);
        break;
    case POISE_GOAL_RELATIVE:
        if (goal->body2 != POISE_WORLD) {
            place = poise_pose_multiply(poise_pose_inverse(poise_kinematics_body_pose(kin, goal->body2)), place);
        }
        met.target = place;
        break;
    case POISE_GOAL_CENTER_OF_MASS:
        poise_kinematics_mass_center(kin, &met.target.position, NULL);
        break;
    default:
        break;
    }
    return met;
}

static quat turned(quat from, quat to, double share)
{
    vec3 way = so3_log(quat_mul(quat_conj(from), to));
    return quat_normalize(quat_mul(from, so3_exp_quat(v3_scale(way, share))));
}

// From one unit vector towards another, by the shortest turn; opposite ones have none, and go straight over.
static vec3 swung(vec3 from, vec3 to, double share)
{
    vec3 axis = v3_cross(from, to);
    double sine = v3_norm(axis);
    if (!(sine > 0.0)) {
        return share < 0.5 ? from : to;
    }
    quat turn = poise_quat_from_axis_angle(axis, share * poise_atan2(sine, v3_dot(from, to)));
    return v3_normalize(quat_rotate(turn, from));
}

poise_goal pz_goal_mix(const poise_model *model, const poise_goal *from, const poise_goal *to, double share, double *q)
{
    poise_goal mixed = *to;
    if (is_posture(to->kind)) {
        poise_interpolate(model, from->q, to->q, min2(share, 1.0), 0.5, q, NULL);
        mixed.q = q;
        return mixed;
    }
    if (share >= 1.0) {
        return mixed;
    }
    mixed.target.position = v3_combine(1.0 - share, from->target.position, share, to->target.position);
    mixed.target.rotation = turned(from->target.rotation, to->target.rotation, share);
    mixed.direction = to->kind == POISE_GOAL_DIRECTION ? swung(from->direction, to->direction, share) : to->direction;
    mixed.distance = from->distance + share * (to->distance - from->distance);
    return mixed;
}

// ---- Keys ----------------------------------------------------------------------------------------------------------------

// Numbers of a target that a spline goes through: position, rotation, direction, distance.
enum { NUMBERS = 11 };

static double number_of(const poise_goal *g, int i)
{
    const poise_pose *t = &g->target;
    const double all[NUMBERS] = {t->position.x, t->position.y,  t->position.z,  t->rotation.x,  t->rotation.y, t->rotation.z,
                                 t->rotation.w, g->direction.x, g->direction.y, g->direction.z, g->distance};
    return all[i];
}

// Second derivatives at the knots of the natural cubic spline through y, by the tridiagonal system
//
//   h_(k-1) m_(k-1) + 2 (h_(k-1) + h_k) m_k + h_k m_(k+1) = 6 ((y_(k+1) - y_k)/h_k - (y_k - y_(k-1))/h_(k-1))
static void bend_spline(const poise_pin_key *keys, const double *y, int count, double *m, double *work)
{
    m[0] = work[0] = 0.0;
    for (int k = 1; k + 1 < count; ++k) {
        double left = keys[k].time - keys[k - 1].time, right = keys[k + 1].time - keys[k].time;
        double pivot = 2.0 * (left + right) - left * work[k - 1];
        work[k] = right / pivot;
        m[k] = (6.0 * ((y[k + 1] - y[k]) / right - (y[k] - y[k - 1]) / left) - left * m[k - 1]) / pivot;
    }
    m[count - 1] = 0.0;
    for (int k = count - 2; k > 0; --k) {
        m[k] -= work[k] * m[k + 1];
    }
}

// Quaternions next to each other on the same half of the sphere.
static double sign_of(const poise_pin_key *keys, int k)
{
    double sign = 1.0;
    for (int i = 1; i <= k; ++i) {
        quat a = keys[i - 1].goal.target.rotation, b = keys[i].goal.target.rotation;
        sign = a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w < 0.0 ? -sign : sign;
    }
    return sign;
}

poise_goal pz_goal_on_keys(const poise_pin_key *keys, int count, double time, double *work)
{
    int k = 0;
    while (k + 2 < count && time > keys[k + 1].time) {
        ++k;
    }
    if (count < 2 || time <= keys[0].time || time >= keys[count - 1].time) {
        return keys[count < 2 || time <= keys[0].time ? 0 : count - 1].goal;
    }
    poise_goal goal = keys[k].goal;
    double *y = work, *m = work + count, *scratch = work + 2 * count, value[NUMBERS];
    double h = keys[k + 1].time - keys[k].time, b = (time - keys[k].time) / h, a = 1.0 - b;
    for (int i = 0; i < NUMBERS; ++i) {
        for (int j = 0; j < count; ++j) {
            y[j] = number_of(&keys[j].goal, i) * (i >= 3 && i < 7 ? sign_of(keys, j) : 1.0);
        }
        bend_spline(keys, y, count, m, scratch);
        value[i] = a * y[k] + b * y[k + 1] + ((a * a * a - a) * m[k] + (b * b * b - b) * m[k + 1]) * h * h / 6.0;
    }
    goal.target.position = v3(value[0], value[1], value[2]);
    goal.target.rotation = quat_normalize((quat){value[3], value[4], value[5], value[6]});
    goal.direction = v3_normalize(v3(value[7], value[8], value[9]));
    goal.distance = max2(value[10], 0.0);
    return goal;
}
