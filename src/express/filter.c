// The motion filter: time-optimal motion to rest under limits of velocity, acceleration and jerk, planned anew each step.
//
// A plan has a speed w to go at: first from (v, a) to (w, 0), then, if there is room, on at w, then from (w, 0) to rest.
// Each change of speed takes a jerk of +-J and an acceleration up to A:
//
//   to go from v, a to w > v + a|a|/2J (the speed that is left when the acceleration fades), the acceleration rises to
//   p = min(A, sqrt(J (w - v) + a^2/2)), stays, and falls to 0; and mirrored for a smaller w.
//
// The way of a plan without its middle part grows with w, so the w that ends at the set-point is found by bisection in
// [-V, V], or is the bound, with a middle part.
//
// Why limits hold: positions come from a function of time with |x'| <= V, |x''| <= A, |x'''| <= J, and a difference quotient
// is a mean of the derivative. A plan that would leave the range is not followed: by the plan of the step before, the joint
// can still turn back in time with all its effort.
#include <poise/filter.h>

#include "base/arena.h"
#include "base/error.h"
#include "num/real.h"
#include "num/trig.h"
#include "num/vector.h"

#include <float.h>

#define SOFTEST  0.05 // least share of the speed near the ends of the range
#define HALVINGS 60   // of the interval of w: to the last bit
#define AT_REST  1e-13
#define PIECES   7 // of a plan

// Constant jerk for some time.
typedef struct piece {
    double jerk, time;
} piece;

typedef struct state {
    double x, v, a;
} state;

typedef struct channel {
    poise_filter_joint limits;
    state at;
    double setpoint;
    double left; // seconds of the plan
} channel;

// ---- Plans ---------------------------------------------------------------------------------------------------------------

static state state_after(state s, double jerk, double t)
{
    return (state){
        .x = s.x + t * (s.v + t * (s.a / 2.0 + t * jerk / 6.0)), .v = s.v + t * (s.a + t * jerk / 2.0), .a = s.a + t * jerk};
}

// Three pieces that bring the speed v with acceleration a to w, at acceleration 0.
static void change_speed(const poise_filter_joint *l, double v, double a, double w, piece out[3])
{
    double side = w >= v + a * fabs(a) / (2.0 * l->jerk) ? 1.0 : -1.0;
    double rise = side * (w - v), own = side * a;
    double peak = min2(l->acceleration, sqrt(max2(l->jerk * rise + own * own / 2.0, 0.0)));
    double covered = peak * peak / l->jerk - own * own / (2.0 * l->jerk);
    out[0] = (piece){side * l->jerk, max2((peak - own) / l->jerk, 0.0)};
    out[1] = (piece){0.0, peak > 0 ? max2((rise - covered) / peak, 0.0) : 0.0};
    out[2] = (piece){-side * l->jerk, peak / l->jerk};
}

// Where a plan with speed w and no middle part ends.
static double plan_end(const poise_filter_joint *l, state s, double w)
{
    piece pieces[3];
    change_speed(l, s.v, s.a, w, pieces);
    for (int i = 0; i < 3; ++i) {
        s = state_after(s, pieces[i].jerk, pieces[i].time);
    }
    change_speed(l, w, 0.0, 0.0, pieces);
    s.v = w;
    s.a = 0.0;
    for (int i = 0; i < 3; ++i) {
        s = state_after(s, pieces[i].jerk, pieces[i].time);
    }
    return s.x;
}

// The speed to go at, at most `most`, and the time to stay at it.
static double choose_speed(const poise_filter_joint *l, state s, double setpoint, double most, double *stay)
{
    *stay = 0.0;
    double low = -most, high = most;
    double room_above = setpoint - plan_end(l, s, high), room_below = setpoint - plan_end(l, s, low);
    if (room_above >= 0) {
        *stay = room_above / most;
        return high;
    }
    if (room_below <= 0) {
        *stay = room_below / low;
        return low;
    }
    for (int i = 0; i < HALVINGS; ++i) {
        double middle = 0.5 * (low + high);
        bool is_beyond = plan_end(l, s, middle) > setpoint;
        high = is_beyond ? middle : high;
        low = is_beyond ? low : middle;
    }
    return fabs(low) < fabs(high) ? low : high;
}

// ---- Shape ---------------------------------------------------------------------------------------------------------------

// The speed to aim at: less towards the nearer end of the range, by 1 - |u|^(2 soft) with u in [-1, 1] from its middle.
static double speed_limit(const channel *j)
{
    const poise_filter_joint *l = &j->limits;
    double half = 0.5 * (l->upper - l->lower), u = (j->at.x - 0.5 * (l->lower + l->upper)) / half;
    bool goes_outwards = u * (j->setpoint - j->at.x) > 0;
    if (l->soft > 0 && is_finite(half) && half > 0 && goes_outwards) {
        return l->velocity * max2(1.0 - pz_power(fabs(u), 2.0 * l->soft), SOFTEST);
    }
    return l->velocity;
}

// Acceleration and jerk to plan with. Smoothness sigma and responsiveness rho (Ribeiro & Paiva 2019, section 3.7) ease the
// motion by k = 1 - sigma (1 - rho): accelerations by k, jerks by k^2, as in slower time. (The paper's eq. 23 scales the
// speed instead, by a function that closes near the set-point: inside the loop that is a drag, which begins too late for a
// heavy joint and never ends.)
static poise_filter_joint eased(const poise_filter_joint *limits)
{
    poise_filter_joint l = *limits;
    double k = 1.0 - l.smoothness * (1.0 - l.responsiveness);
    l.acceleration *= k;
    l.jerk *= k * k;
    return l;
}

// ---- The Nutty Motion Filter ---------------------------------------------------------------------------------------------

// Ribeiro & Paiva 2019, eq. 23, with the time steps that it leaves out and without the factor v that it has twice:
//
//   v  = W(e, x),  e = (s - x)/dt                  the speed that would be there at once, less towards an end of the range
//   c  = v (tanh((|v|/(1 - rho))^(1 - sigma) - pi) + 1)/2          the command: almost none for a small v
//   j  = L(((c - x')/dt - x'')/dt, jerk)           L(z, k) = k tanh(z/k)
//   a  = L(x'' + j dt, acceleration)
//   x' = L(x' + a dt, velocity),   x = x + x' dt,   x'' = the change of x' over dt
//   W(e, x) = e (1 - |u|^(2 beta)) on the way outwards, u in [-1, 1] from the middle of the range; e otherwise
//
// (As printed it runs away: an acceleration is added to a velocity, and positions to velocities. L as printed ends at k/2,
// and W compares x with half the range in place of its middle.) It swings and creeps as its character says; velocity stays
// within its limit, acceleration and jerk nearly so, since L bends what it bounds.

// 1 - 2/(e^2x + 1), by the sign that does not overflow
static double tanh_of(double x)
{
    double e = pz_exp(-2.0 * min2(fabs(x), 20.0)), t = (1.0 - e) / (1.0 + e);
    return x < 0.0 ? -t : t;
}

static double bounded(double x, double most)
{
    return most * tanh_of(x / most);
}

static double slowed(const poise_filter_joint *l, double speed, double x)
{
    double half = 0.5 * (l->upper - l->lower), u = (x - 0.5 * (l->lower + l->upper)) / half;
    if (!is_finite(half) || !(half > 0.0) || !(u * speed > 0.0)) {
        return speed;
    }
    double beta = l->soft > 0.0 ? l->soft : 1.0;
    return speed * max2(1.0 - pz_power(min2(fabs(u), 1.0), 2.0 * beta), 0.0);
}

static void nutty_step(const poise_filter_joint *joint, double setpoint, double dt, double *x, double *velocity,
                       double *acceleration)
{
    double v = slowed(joint, (setpoint - *x) / dt, *x), size = fabs(v) / (1.0 - joint->responsiveness);
    double command = size > 0.0 ? v * 0.5 * (tanh_of(pz_power(size, 1.0 - joint->smoothness) - PZ_PI) + 1.0) : 0.0;
    double j = bounded(((command - *velocity) / dt - *acceleration) / dt, joint->jerk);
    double a = bounded(*acceleration + j * dt, joint->acceleration);
    double next = bounded(*velocity + a * dt, joint->velocity);
    double to = clamp(*x + next * dt, joint->lower, joint->upper);
    *acceleration = (next - *velocity) / dt;
    *velocity = next;
    *x = to;
}

// ---- Steps of one number -------------------------------------------------------------------------------------------------

// Go at w, stay for a while, come to rest.
static void make_plan(const poise_filter_joint *l, state s, double w, double stay, piece plan[PIECES])
{
    change_speed(l, s.v, s.a, w, plan);
    plan[3] = (piece){0.0, stay};
    change_speed(l, w, 0.0, 0.0, plan + 4);
}

static void plan_to(const channel *j, const poise_filter_joint *l, piece plan[PIECES])
{
    double stay, w = choose_speed(l, j->at, j->setpoint, speed_limit(j), &stay);
    make_plan(l, j->at, w, stay, plan);
}

// Widen [*low, *high] by where a piece turns: v + a t + jerk t^2/2 = 0 within its time.
static void add_turns(state s, piece p, double *low, double *high)
{
    double half = 0.5 * p.jerk, root = s.a * s.a - 4.0 * half * s.v;
    if (root < 0) {
        return;
    }
    double q = -0.5 * (s.a + (s.a < 0 ? -sqrt(root) : sqrt(root))); // the roots are q/half and v/q, without cancellation
    const double times[2] = {half != 0 ? q / half : -1.0, q != 0 ? s.v / q : -1.0};
    for (int i = 0; i < 2; ++i) {
        if (times[i] > 0 && times[i] < p.time) {
            double x = state_after(s, p.jerk, times[i]).x;
            *low = min2(*low, x);
            *high = max2(*high, x);
        }
    }
}

// Does the plan stay within the range and, if `strictly`, on this side of the set-point?
static bool stays_in_range(const channel *j, const piece plan[PIECES], bool strictly)
{
    state s = j->at;
    double low = s.x, high = s.x;
    for (int i = 0; i < PIECES; ++i) {
        add_turns(s, plan[i], &low, &high);
        s = state_after(s, plan[i].jerk, plan[i].time);
    }
    double least = j->limits.lower, most = j->limits.upper;
    if (strictly) {
        least = j->at.x > j->setpoint ? j->setpoint : least;
        most = j->at.x < j->setpoint ? j->setpoint : most;
    }
    double slack = AT_REST * max2(1.0, fabs(j->setpoint));
    return low >= least - slack && high <= most + slack;
}

// The first of these that stays inside: with eased limits and not past the set-point; with full limits; with all effort away
// from the end of the range that it comes too near, which the plan of the last step has left possible.
static void choose_plan(const channel *j, piece plan[PIECES])
{
    poise_filter_joint l = eased(&j->limits);
    double faded = j->at.v + j->at.a * fabs(j->at.a) / (2.0 * l.jerk);
    bool is_calm = fabs(j->at.a) <= l.acceleration && fabs(faded) <= l.velocity;
    if (is_calm) {
        plan_to(j, &l, plan);
        if (stays_in_range(j, plan, true)) {
            return;
        }
    }
    plan_to(j, &j->limits, plan);
    if (!stays_in_range(j, plan, false)) {
        make_plan(&j->limits, j->at, j->at.v < 0 ? j->limits.velocity : -j->limits.velocity, 0.0, plan);
    }
}

// By eq. 23, or at once.
static void step_without_plan(channel *j, double dt)
{
    state *s = &j->at;
    if (j->limits.mode == POISE_FILTER_NUTTY) {
        nutty_step(&j->limits, j->setpoint, dt, &s->x, &s->v, &s->a);
    } else {
        *s = (state){.x = j->setpoint};
    }
    j->left = s->x == j->setpoint ? 0.0 : dt;
}

static void step_by_plan(channel *j, double dt)
{
    piece plan[PIECES];
    choose_plan(j, plan);
    j->left = 0.0;
    double rest = dt;
    for (int i = 0; i < PIECES; ++i) {
        double t = min2(plan[i].time, rest);
        j->at = state_after(j->at, plan[i].jerk, t);
        j->left += plan[i].time;
        rest -= t;
    }
    j->left = rest > 0 ? 0.0 : j->left - dt;
    if (rest > 0 && fabs(j->at.x - j->setpoint) <= AT_REST * max2(1.0, fabs(j->setpoint))) {
        j->at.v = j->at.a = 0.0; // the plan has ended: what rounding left of speed is none
    }
}

static void channel_step(channel *j, double dt)
{
    const poise_filter_joint *l = &j->limits;
    double before = j->at.x;
    if (l->mode != POISE_FILTER_TIME_OPTIMAL) {
        step_without_plan(j, dt);
    } else {
        step_by_plan(j, dt);
    }
    if (!is_finite(j->at.x) || !is_finite(j->at.v) || !is_finite(j->at.a) || !is_finite(j->left)) {
        j->at = (state){.x = before}; // squares of the numbers overflow, and there is no plan: it stays
        j->left = before == j->setpoint ? 0.0 : DBL_MAX;
    }
    if (l->mode == POISE_FILTER_TIME_OPTIMAL) {
        j->at.v = clamp(j->at.v, -l->velocity, l->velocity);
        j->at.a = clamp(j->at.a, -l->acceleration, l->acceleration);
        j->at.x = clamp(j->at.x, l->lower, l->upper);
    }
}

// ---- Configurations of a model -------------------------------------------------------------------------------------------

// Every number of a configuration is filtered by itself, but for four kinds:
//
//   a hinge without limits              the nearest of the angles that mean the same, q + 2 pi k
//   a rotation vector without limits    the nearest of the vectors that mean the same, v (1 + 2 pi k / |v|)
//   Euler angles without limits         the nearest of the triples that mean the same: whole turns, and (a + pi, pi - b,
//                                       c + pi), or (a + pi, -b, c + pi) where the first axis comes again
//   a quaternion                        the rotation vector from the pose of the last reset, likewise the nearest
//
// Where a swing is limited by an ellipse, which no filter of single numbers knows, the ellipse comes before the limits of
// velocity, acceleration and jerk.
typedef enum part_kind {
    PART_PLAIN,  // one number as it is
    PART_TURNS,  // a hinge without limits: one number, and whole turns
    PART_EULER,  // Euler angles without limits: three, and those that mean the same
    PART_VECTOR, // a rotation vector without limits: three, and whole turns
    PART_QUAT    // a quaternion: four numbers become three
} part_kind;

typedef struct part {
    part_kind kind;
    int joint;
    int q, x;                  // where it begins in a configuration, and in what is filtered
    bool is_length, is_proper; // a length; Euler angles whose first axis comes again
} part;

typedef struct filter_map {
    pz_owned owned;
    const poise_model *model;
    int part_count, count; // parts; numbers that are filtered
    double size;           // of the model: the longest way from the root to a leaf; 1 where it has none
    part *parts;
    double *reference;    // nq: the pose of the last reset
    double *setpoint, *x; // count each: the last set-points, scratch
} filter_map;

static bool is_limited(const poise_model *model, int first, int count)
{
    poise_model_summary info = poise_model_info(model);
    for (int i = first; i < first + count; ++i) {
        if (is_finite(info.lower[i]) || is_finite(info.upper[i])) {
            return true;
        }
    }
    return false;
}

static void add_part(filter_map *map, part_kind kind, int joint, int q, int count)
{
    map->parts[map->part_count++] = (part){.kind = kind, .joint = joint, .q = q, .x = map->count};
    map->count += count;
}

static void add_joint(filter_map *map, int joint)
{
    poise_joint_info info = poise_model_joint_info(map->model, joint);
    bool is_euler = info.type == POISE_JOINT_BALL_EULER || info.type == POISE_JOINT_FREE_EULER;
    bool vector = info.type == POISE_JOINT_BALL_EXPMAP || info.type == POISE_JOINT_FREE_EXPMAP;
    bool is_quat = info.type == POISE_JOINT_BALL_QUATERNION || info.type == POISE_JOINT_FREE;
    is_euler = is_euler && info.nq >= 3 && !is_limited(map->model, info.q + info.nq - 3, 3);
    int rotation = vector || is_euler ? info.nq - 3
                   : is_quat          ? info.nq - 4
                                      : info.nq; // where it begins; lengths come before
    rotation = rotation < 0 ? 0 : rotation;
    for (int i = 0; i < rotation; ++i) {
        bool turns = info.type == POISE_JOINT_REVOLUTE && !is_limited(map->model, info.q, 1);
        add_part(map, turns ? PART_TURNS : PART_PLAIN, joint, info.q + i, 1);
        map->parts[map->part_count - 1].is_length = poise_model_coordinate(map->model, info.q + i).unit == POISE_UNIT_LENGTH;
    }
    if (is_euler) {
        add_part(map, PART_EULER, joint, info.q + rotation, 3);
        map->parts[map->part_count - 1].is_proper = info.given->order >= POISE_EULER_XYX;
    } else if (info.nq > 0 && is_quat) {
        add_part(map, PART_QUAT, joint, info.q + rotation, 3);
    } else if (info.nq > 0 && vector && !is_limited(map->model, info.q + rotation, 3)) {
        add_part(map, PART_VECTOR, joint, info.q + rotation, 3);
    } else {
        for (int i = rotation; i < info.nq; ++i) {
            add_part(map, PART_PLAIN, joint, info.q + i, 1);
        }
    }
}

// The rotation vector of a quaternion of any sign, up to pi long.
static void quat_log(quat q, double *v)
{
    double sign = q.w < 0 ? -1 : 1, s = sqrt(q.x * q.x + q.y * q.y + q.z * q.z);
    double scale = s > 1e-12 ? sign * 2 * pz_atan2(s, sign * q.w) / s : sign * 2;
    v[0] = scale * q.x;
    v[1] = scale * q.y;
    v[2] = scale * q.z;
}

static double distance2(const double *a, const double *b)
{
    double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return x * x + y * y + z * z;
}

// Of the vectors of one rotation, v (1 + 2 pi k / |v|), the one nearest to `near`: k by the projection of `near` on v.
static void unwrap(double *v, const double *near)
{
    double l = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    if (!(l > 1e-9)) {
        return; // the direction of a turn is lost here, and the zero is as good as any
    }
    double along = (v[0] * near[0] + v[1] * near[1] + v[2] * near[2]) / l;
    double turns = round_down((along - l) / PZ_TWO_PI + 0.5);
    double scale = 1 + PZ_TWO_PI * turns / l, other[3] = {v[0] * scale, v[1] * scale, v[2] * scale};
    if (turns != 0 && distance2(other, near) < distance2(v, near)) {
        memcpy(v, other, sizeof other);
    }
}

// Of the Euler angles of one rotation those nearest to `near`.
static void unwrap_euler(const part *p, double *v, const double *near)
{
    double other[3] = {v[0] + PZ_PI, p->is_proper ? -v[1] : PZ_PI - v[1], v[2] + PZ_PI};
    for (int i = 0; i < 3; ++i) {
        v[i] = turn_near(v[i], near[i]);
        other[i] = turn_near(other[i], near[i]);
    }
    if (distance2(other, near) < distance2(v, near)) {
        memcpy(v, other, sizeof other);
    }
}

static quat quat_at(const double *q)
{
    return (quat){q[0], q[1], q[2], q[3]};
}

// The numbers of q, near the last ones; the last ones where q holds a number that is not finite.
static const double *to_numbers(filter_map *map, const double *q)
{
    if (!all_finite(q, (size_t)poise_model_info(map->model).nq)) {
        return map->setpoint;
    }
    for (int k = 0; k < map->part_count; ++k) {
        const part *p = &map->parts[k];
        double last[3], *to = map->setpoint + p->x;
        switch (p->kind) {
        case PART_PLAIN:
            to[0] = q[p->q];
            break;
        case PART_TURNS:
            to[0] = turn_near(q[p->q], to[0]);
            break;
        case PART_EULER:
            memcpy(last, to, sizeof last);
            memcpy(to, q + p->q, sizeof last);
            unwrap_euler(p, to, last);
            break;
        default:
            memcpy(last, to, sizeof last);
            if (p->kind == PART_VECTOR) {
                memcpy(to, q + p->q, sizeof last);
            } else {
                quat_log(quat_mul(quat_conj(quat_at(map->reference + p->q)), quat_at(q + p->q)), to);
            }
            unwrap(to, last);
        }
    }
    return map->setpoint;
}

// Rotations count from q on, moved into the limits; the numbers are then those of q. NULL when q is no configuration.
static const double *map_reset(filter_map *map, const double *q)
{
    size_t size = (size_t)poise_model_info(map->model).nq * sizeof *q;
    memcpy(map->x, q, size);
    if (poise_model_clamp(map->model, map->x, NULL, NULL) != POISE_OK) {
        return NULL;
    }
    memcpy(map->reference, map->x, size);
    memset(map->setpoint, 0, (size_t)map->count * sizeof *map->setpoint);
    return to_numbers(map, map->reference);
}

// The configuration of these numbers, within the limits.
static void from_numbers(const filter_map *map, const double *x, double *q)
{
    for (int k = 0; k < map->part_count; ++k) {
        const part *p = &map->parts[k];
        const double *from = x + p->x;
        if (p->kind == PART_QUAT) {
            vec3 v = {from[0], from[1], from[2]};
            double angle = v3_norm(v); // where it overflows there is no turn
            quat turn = poise_quat_from_axis_angle(v, is_finite(angle) ? angle : 0.0);
            quat r = quat_mul(quat_at(map->reference + p->q), turn);
            memcpy(q + p->q, (double[]){r.x, r.y, r.z, r.w}, 4 * sizeof *q);
        } else {
            memcpy(q + p->q, from, (p->kind == PART_VECTOR || p->kind == PART_EULER ? 3 : 1) * sizeof *q);
        }
    }
    if (!poise_model_within_limits(map->model, q)) {
        poise_model_clamp(map->model, q, NULL, NULL); // swing ellipses
    }
}

// The longest way from the root to a joint, along the offsets at rest.
static double size_of(const poise_model *model)
{
    double longest = 0.0;
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        double way = 0.0;
        for (int i = k; i != POISE_WORLD; i = poise_model_joint_info(model, i).parent) {
            way += v3_norm(poise_model_joint_info(model, i).given->offset.position);
        }
        longest = max2(longest, way);
    }
    return longest > 0.0 ? longest : 1.0;
}

static filter_map *map_lay_out(pz_arena *arena, size_t nq)
{
    filter_map *map = pz_arena_take(arena, 1, sizeof *map);
    part *parts = pz_arena_take(arena, nq, sizeof *parts);
    double *numbers[3];
    for (int i = 0; i < 3; ++i) {
        numbers[i] = pz_arena_take(arena, nq, sizeof *numbers[i]);
    }
    if (map) {
        *map = (filter_map){.parts = parts, .reference = numbers[0], .setpoint = numbers[1], .x = numbers[2]};
    }
    return map;
}

// NULL: out of memory.
static filter_map *map_create(const poise_model *model, const poise_allocator *allocator)
{
    poise_model_summary info = poise_model_info(model);
    pz_arena count = pz_arena_counting();
    map_lay_out(&count, (size_t)info.nq);
    pz_owned owned = {0};
    void *memory = pz_owned_take(&owned, allocator, pz_arena_bytes(&count));
    if (!memory) {
        return NULL;
    }
    pz_arena arena = pz_arena_over(memory, pz_arena_bytes(&count));
    filter_map *map = map_lay_out(&arena, (size_t)info.nq);
    map->owned = owned;
    map->model = model;
    for (int k = 0; k < info.joints; ++k) {
        add_joint(map, k);
    }
    map->size = size_of(model);
    poise_model_neutral(model, map->reference);
    map_reset(map, map->reference);
    return map;
}

static void map_destroy(filter_map *map)
{
    if (map) {
        pz_owned owned = map->owned;
        pz_owned_release(&owned);
    }
}

static const part *part_of(const filter_map *map, int i)
{
    int k = 0;
    while (k + 1 < map->part_count && map->parts[k + 1].x <= i) {
        k += 1;
    }
    return &map->parts[k];
}

// The limits and manners of number i, if `joint` is those of its joint, which is returned.
static int number_limits(const filter_map *map, int i, const poise_filter_joint *joint, poise_filter_joint *number)
{
    poise_model_summary info = poise_model_info(map->model);
    const part *p = part_of(map, i);
    double unit = p->is_length ? joint->length_unit > 0.0 ? joint->length_unit : map->size : 1.0;
    *number = *joint;
    number->lower = p->kind == PART_PLAIN ? info.lower[p->q] : -INFINITY;
    number->upper = p->kind == PART_PLAIN ? info.upper[p->q] : INFINITY;
    number->velocity *= unit;
    number->acceleration *= unit;
    number->jerk *= unit;
    return p->joint;
}

// Those of all numbers, `joints` having one for each joint of the model (NULL: defaults).
static void all_limits(const filter_map *map, const poise_filter_joint *joints, poise_filter_joint *numbers)
{
    poise_filter_joint usual = poise_filter_joint_default();
    for (int i = 0; i < map->count; ++i) {
        number_limits(map, i, joints ? &joints[part_of(map, i)->joint] : &usual, &numbers[i]);
    }
}

// ---- The filter ----------------------------------------------------------------------------------------------------------

struct poise_filter {
    poise_allocator allocator;
    bool has_allocator;
    filter_map *map; // NULL: numbers, not configurations of a model
    int count;
    channel joints[]; // one for each number that is filtered
};

poise_status poise_filter_step(poise_filter *filter, const double *setpoints, double dt, double *x, poise_error *error)
{
    if (!filter || !setpoints || !x) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "filter, setpoints and x must not be NULL");
    }
    if (!(dt > 0) || !is_finite(dt)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "dt is %g: it must be finite and > 0", dt);
    }
    double *q = x;
    if (filter->map) {
        setpoints = to_numbers(filter->map, setpoints);
        x = filter->map->x;
    }
    for (int i = 0; i < filter->count; ++i) {
        channel *j = &filter->joints[i];
        if (is_finite(setpoints[i])) {
            j->setpoint = clamp(setpoints[i], j->limits.lower, j->limits.upper);
        }
        channel_step(j, dt);
        x[i] = j->at.x;
    }
    if (filter->map) {
        from_numbers(filter->map, x, q);
    }
    return POISE_OK;
}

bool poise_filter_rests(const poise_filter *filter)
{
    const double near = 1e-5, slow = 1e-3;
    for (int i = 0; filter && i < filter->count; ++i) {
        const channel *j = &filter->joints[i];
        if (fabs(j->at.x - j->setpoint) > near || fabs(j->at.v) > slow) {
            return false;
        }
    }
    return true;
}

void poise_filter_state(const poise_filter *filter, double *x, double *velocity, double *acceleration, double *time_left)
{
    for (int i = 0; filter && i < filter->count; ++i) {
        const state *s = &filter->joints[i].at;
        if (x) {
            x[i] = s->x;
        }
        if (velocity) {
            velocity[i] = s->v;
        }
        if (acceleration) {
            acceleration[i] = s->a;
        }
        if (time_left) {
            time_left[i] = filter->joints[i].left;
        }
    }
}

void poise_filter_limits(const poise_filter *filter, double *velocity, double *acceleration)
{
    for (int i = 0; filter && i < filter->count; ++i) { // a number is a degree of freedom, in the same order
        const poise_filter_joint *l = &filter->joints[i].limits;
        if (velocity) {
            velocity[i] = l->mode == POISE_FILTER_OFF ? INFINITY : l->velocity;
        }
        if (acceleration) {
            acceleration[i] = l->mode == POISE_FILTER_OFF ? INFINITY : l->acceleration;
        }
    }
}

// ---- Life ----------------------------------------------------------------------------------------------------------------

void poise_filter_joints(const poise_model *model, double metres, poise_filter_joint *joints)
{
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        poise_joint_info info = poise_model_joint_info(model, k);
        bool is_free =
            info.type == POISE_JOINT_FREE || info.type == POISE_JOINT_FREE_EXPMAP || info.type == POISE_JOINT_FREE_EULER;
        joints[k] = poise_filter_joint_default();
        joints[k].mode = is_free && info.parent == POISE_WORLD ? POISE_FILTER_OFF : POISE_FILTER_TIME_OPTIMAL;
        joints[k].length_unit = metres > 0.0 ? 1.0 / metres : 0.0;
    }
}

static bool is_rate(double x)
{
    return x > 0 && is_finite(x);
}

// The rule that a joint breaks; NULL: none.
static const char *broken_rule(const poise_filter_joint *l)
{
    const struct {
        bool is_sound;
        const char *rule;
    } checks[] = {
        {l->lower <= l->upper, "lower must not exceed upper"},
        {is_rate(l->velocity), "velocity must be finite and > 0"},
        {is_rate(l->acceleration), "acceleration must be finite and > 0"},
        {is_rate(l->jerk), "jerk must be finite and > 0"},
        {l->smoothness >= 0 && l->smoothness < 1, "smoothness must be in [0, 1)"},
        {l->responsiveness >= 0 && l->responsiveness <= 1, "responsiveness must be in [0, 1]"},
        {l->soft >= 0 && is_finite(l->soft), "soft must be finite and >= 0"},
        {(unsigned)l->mode < POISE_FILTER_MODE_COUNT, "there is no such mode"},
        {l->mode != POISE_FILTER_NUTTY || l->responsiveness < 1, "responsiveness must be below 1 in the nutty mode"},
        {l->length_unit >= 0 && is_finite(l->length_unit), "length_unit must be finite and >= 0"},
    };
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; ++i) {
        if (!checks[i].is_sound) {
            return checks[i].rule;
        }
    }
    return NULL;
}

static poise_status create_plain(const poise_filter_joint *joints, int count, const poise_allocator *allocator,
                                 poise_filter **filter, poise_error *error)
{
    for (int i = 0; i < count; ++i) {
        const char *rule = broken_rule(&joints[i]);
        if (rule) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT, "filter joint %d: %s", i, rule);
        }
    }
    poise_filter *made = pz_allocate(allocator, sizeof *made + (size_t)count * sizeof made->joints[0]);
    if (!made) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    *made = (poise_filter){.has_allocator = allocator != NULL, .count = count};
    if (allocator) {
        made->allocator = *allocator;
    }
    for (int i = 0; i < count; ++i) {
        double start = clamp(0.0, joints[i].lower, joints[i].upper);
        made->joints[i] = (channel){.limits = joints[i], .at = {.x = start}, .setpoint = start};
    }
    *filter = made;
    return POISE_OK;
}

static poise_status create_for_model(const poise_model *model, const poise_filter_joint *joints,
                                     const poise_allocator *allocator, poise_filter **filter, poise_error *error)
{
    for (int k = 0; joints && k < poise_model_info(model).joints; ++k) {
        poise_filter_joint free_of_limits = joints[k];
        free_of_limits.lower = free_of_limits.upper = 0; // the model has them
        const char *rule = broken_rule(&free_of_limits);
        if (rule) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT, "joint \"%s\": %s", poise_model_joint_info(model, k).name,
                                rule);
        }
    }
    filter_map *map = map_create(model, allocator);
    int count = map ? map->count : 0;
    poise_filter_joint *numbers = map ? pz_allocate(allocator, ((size_t)count + 1) * sizeof *numbers) : NULL;
    poise_filter *made = NULL;
    if (!numbers) {
        map_destroy(map);
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    all_limits(map, joints, numbers);
    poise_status status = create_plain(numbers, count, allocator, &made, error);
    pz_release(allocator, numbers);
    if (status != POISE_OK) {
        map_destroy(map);
        return status;
    }
    made->map = map;
    *filter = made;
    return POISE_OK;
}

poise_status poise_filter_create(const poise_model *model, const poise_filter_joint *joints, int count,
                                 const poise_allocator *allocator, poise_filter **filter, poise_error *error)
{
    if (count < 0 || (count > 0 && !joints) || !filter) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "filter must not be NULL, and joints must not be NULL if count > 0");
    }
    if (model && count > 0 && count != poise_model_info(model).joints) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "%d joints given for a model that has %d", count,
                            poise_model_info(model).joints);
    }
    return model ? create_for_model(model, count > 0 ? joints : NULL, allocator, filter, error)
                 : create_plain(joints, count, allocator, filter, error);
}

// The state moves into the new limits.
static void set_number(channel *j, const poise_filter_joint *limits)
{
    j->limits = *limits;
    j->setpoint = clamp(j->setpoint, limits->lower, limits->upper);
    j->at.x = clamp(j->at.x, limits->lower, limits->upper);
    j->at.v = clamp(j->at.v, -limits->velocity, limits->velocity);
    j->at.a = clamp(j->at.a, -limits->acceleration, limits->acceleration);
}

poise_status poise_filter_set_joint(poise_filter *filter, int number, const poise_filter_joint *limits, poise_error *error)
{
    if (!filter || !limits) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "filter and limits must not be NULL");
    }
    int count = filter->map ? poise_model_info(filter->map->model).joints : filter->count;
    poise_filter_joint checked = *limits;
    if (filter->map) {
        checked.lower = checked.upper = 0; // the model has them
    }
    const char *rule = number < 0 || number >= count ? "there is no such joint" : broken_rule(&checked);
    if (rule) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "filter joint %d: %s", number, rule);
    }
    if (!filter->map) {
        set_number(&filter->joints[number], limits);
        return POISE_OK;
    }
    for (int i = 0; i < filter->count; ++i) {
        poise_filter_joint own;
        if (number_limits(filter->map, i, limits, &own) == number) {
            set_number(&filter->joints[i], &own);
        }
    }
    return POISE_OK;
}

void poise_filter_destroy(poise_filter *filter)
{
    if (filter) {
        map_destroy(filter->map);
        poise_allocator allocator = filter->allocator;
        pz_release(filter->has_allocator ? &allocator : NULL, filter);
    }
}

poise_status poise_filter_reset(poise_filter *filter, const double *x, poise_error *error)
{
    if (filter && filter->map && x) {
        x = map_reset(filter->map, x);
    }
    if (!filter || !x || !all_finite(x, (size_t)filter->count)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "filter must not be NULL, and x must hold %d finite numbers",
                            filter ? filter->count : 0);
    }
    for (int i = 0; i < filter->count; ++i) {
        channel *j = &filter->joints[i];
        j->setpoint = clamp(x[i], j->limits.lower, j->limits.upper);
        j->at = (state){.x = j->setpoint};
        j->left = 0.0;
    }
    return POISE_OK;
}
