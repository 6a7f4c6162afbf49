// The parts of ERIK's solve, one after the other: its two phases, the descents between them, the last step to an exact
// orientation; and a posture from positions.
//
// The forward and backward phases: from the frames of a warped posture to angles within the limits (Ribeiro & Paiva 2019,
// Alg. 8 to 18).
//
// Forward, from the end to the root: every joint turns its frame of the candidate into that of the warped posture, finds the
// angle that would lead from there to the frame of the joint after it, and is moved to where that angle does lead there. The
// root comes off its place. Backward, from the root to the end: every joint is put where the one before ends, and aims at
// where the forward phase had the joint after it. A swing below a twister may use it: what the swing cannot do in its own
// plane, the twister turns that plane to.
#include "base/error.h"
#include "num/dense.h"
#include "num/rotation.h"
#include "papers/erik/erik.h"

#include <string.h>

// ---- Forward -------------------------------------------------------------------------------------------------------------

static double forward_angle(const poise_erik *erik, int k, const mat3 *Q, const mat3 *T)
{
    const pz_link *link = &erik->chain.links[k];
    if (link->kind == PZ_LINK_TWISTER) {
        bool is_end = k == erik->chain.count - 1;
        mat3 rest = link->C_is_identity ? *Q : m3_mul(Q, &link->C);
        double twist = link->sign * (is_end ? pz_twist_to(&rest, T) : pz_twist_between(&rest, T));
        return is_end ? pz_limit_end_twist(link, twist, erik->options.symmetric_endpoint)
                      : pz_limit_twist(link, twist, true);
    }
    double angle[2];
    pz_latitude_angles(link, m3_apply_transposed(Q, T->y), angle);
    return pz_limit_angle(link, angle[0]);
}

// PitchRA: the axis, in the frame of joint k > 0, by which a frame's roll is told. A twister goes by the joint before it.
static vec3 pitch_axis(const pz_chain *chain, int k)
{
    const pz_link *link = &chain->links[k], *parent = &chain->links[k - 1];
    return link->kind != PZ_LINK_TWISTER ? link->R
           : parent->C_is_identity       ? parent->R
                                         : m3_apply_transposed(&parent->C, parent->R);
}

// The angle that rolls the pitch axis `from` to `to`. It is measured about the direction that the candidate's segment has,
// which is that of the frame only where the joint is straight: so iterations differ, until they agree. An empty solution
// has no direction: the projections are then the axes themselves, and the angle has no sign.
static double roll_angle(const poise_erik *erik, int k, vec3 from, vec3 to)
{
    double angle;
    if (erik->is_empty) {
        return pz_atan2(v3_norm(v3_cross(from, to)), v3_dot(from, to));
    }
    return pz_angle_about(erik->now.Q[k + 1].y, from, to, &angle) ? angle : 0.0;
}

// The frame that joint k > 0 starts from (Alg. 8, lines 4 to 9): the candidate's, turned the shortest way until its y is
// that of the warped posture, then rolled about y.
static mat3 start_frame(const poise_erik *erik, int k)
{
    const mat3 *P = &erik->warped.Q[k], *Q = &erik->now.Q[k];
    vec3 n = v3_cross(Q->y, P->y), axis = pitch_axis(&erik->chain, k);
    double s = v3_norm(n), c = v3_dot(Q->y, P->y);
    mat3 F = c < 0.0 ? (mat3){Q->x, v3_scale(Q->y, -1.0), v3_scale(Q->z, -1.0)} : *Q; // half a turn about x
    if (s > 1e-9) {
        n = v3_scale(n, 1.0 / s);
        F = (mat3){pz_rotate_about(n, s, c, Q->x), pz_rotate_about(n, s, c, Q->y), pz_rotate_about(n, s, c, Q->z)};
    }
    pz_sincos(roll_angle(erik, k, m3_apply(&F, axis), m3_apply(P, axis)), &s, &c);
    return (mat3){pz_rotate_about(F.y, s, c, F.x), F.y, pz_rotate_about(F.y, s, c, F.z)};
}

void pz_forward_phase(poise_erik *erik)
{
    const pz_chain *chain = &erik->chain;
    pz_chain_pose *now = &erik->now;
    int n = chain->count;
    mat3 T = erik->t;
    for (int k = n - 1; k >= 0; --k) {
        const pz_link *link = &chain->links[k];
        mat3 Q = k > 0 ? start_frame(erik, k) : chain->base;
        double angle = forward_angle(erik, k, &Q, &T);
        pz_set_angle(now, k, erik->options.avoid_edges ? pz_avoid_edge(link, angle, erik->options.disturbance) : angle);
        if (k == n - 1) {
            erik->forward[n] = pz_turn(link, &Q, now->sine[k], now->cosine[k]);
            T = Q;
        } else {
            T = pz_turn_back(link, &T, now->sine[k], now->cosine[k]);
        }
        erik->forward[k] = T;
    }
}

// ---- Backward ------------------------------------------------------------------------------------------------------------

// The frame of the child of twister k, rolled about the child's segment c until the child's y and the twister's own lie in
// one plane with c (Alg. 16); by x or z where y has no direction across c.
static mat3 roll_child(const poise_erik *erik, int k, const mat3 *own)
{
    const mat3 *child = &erik->forward[k + 1], *Q = &erik->now.Q[k];
    vec3 axis = pz_link_axis(&erik->chain.links[k + 1], child), c = erik->forward[k + 2].y;
    double angle;
    if (fabs(v3_dot(axis, own->y)) <= 1e-9) {
        return *child;
    }
    if (!pz_angle_about(c, child->y, own->y, &angle)) {
        bool by_x = 1.0 - fabs(v3_dot(child->z, c)) < 1e-9 || fabs(v3_dot(child->x, own->y)) < 1e-9;
        if (!pz_angle_about(c, by_x ? child->x : child->z, by_x ? Q->x : Q->z, &angle)) {
            return *child;
        }
    }
    double s, cosine;
    pz_sincos(angle, &s, &cosine);
    return (mat3){pz_rotate_about(c, s, cosine, child->x), pz_rotate_about(c, s, cosine, child->y),
                  pz_rotate_about(c, s, cosine, child->z)};
}

static void backward_twister(poise_erik *erik, int k)
{
    pz_chain_pose *now = &erik->now;
    const pz_link *link = &erik->chain.links[k];
    mat3 own = pz_turn(link, &now->Q[k], now->sine[k], now->cosine[k]);
    if (k == erik->chain.count - 1) {
        double angle = now->theta[k] + link->sign * pz_twist_to(&own, &erik->t);
        pz_set_angle(now, k, pz_limit_end_twist(link, angle, erik->options.symmetric_endpoint));
        return;
    }
    mat3 T = roll_child(erik, k, &own);
    pz_set_angle(now, k, pz_limit_twist(link, now->theta[k] + link->sign * pz_twist_to(&own, &T), true));
}

// Of the two angles with the latitude of d the one that, within the limits, comes closer to d; where both are as near the
// one closer to where the next segment goes.
static void pick_swing(poise_erik *erik, int k, vec3 d)
{
    const pz_chain *chain = &erik->chain;
    const pz_link *link = &chain->links[k];
    pz_chain_pose *now = &erik->now;
    double angle[2], near[2], s[2], c[2];
    vec3 u[2], t = m3_apply_transposed(&now->Q[k], d);
    pz_latitude_angles(link, t, angle);
    for (int i = 0; i < 2; ++i) {
        angle[i] = pz_limit_angle(link, angle[i]);
        pz_sincos(angle[i], &s[i], &c[i]);
        u[i] = pz_rotate_about(link->R, s[i], c[i], link->S);
        near[i] = v3_dot(u[i], t);
    }
    if (fabs(near[1] - near[0]) <= 1e-12 && k < chain->count - 1) {
        vec3 next = m3_apply_transposed(&now->Q[k], erik->forward[k + 2].y);
        near[0] = v3_dot(u[0], next);
        near[1] = v3_dot(u[1], next);
    }
    int i = near[1] > near[0] ? 1 : 0;
    now->theta[k] = angle[i];
    now->sine[k] = s[i];
    now->cosine[k] = c[i];
}

// Turn the twister above swing k so that the plane in which k swings goes through d: by less than a quarter turn, since k
// may swing to either side.
static bool turn_parent(poise_erik *erik, int k, vec3 d)
{
    pz_chain_pose *now = &erik->now;
    const pz_link *link = &erik->chain.links[k], *parent = &erik->chain.links[k - 1];
    vec3 t = m3_apply_transposed(&now->Q[k], d), y = v3(0, 1, 0);
    vec3 u = pz_rotate_about(link->R, now->sine[k], now->cosine[k], link->S);
    double turn;
    if (u.x * u.x + u.z * u.z < PZ_NO_DIRECTION) {
        u = v3_normalize(v3_cross(link->R, y));
    }
    if (link->kind == PZ_LINK_PAN || !pz_angle_about(y, u, t, &turn)) {
        return false;
    }
    turn = turn > PZ_HALF_PI ? turn - PZ_PI : turn <= -PZ_HALF_PI ? turn + PZ_PI : turn;
    pz_set_angle(now, k - 1, pz_limit_twist(parent, now->theta[k - 1] + parent->sign * turn, true));
    now->Q[k] = pz_turn(parent, &now->Q[k - 1], now->sine[k - 1], now->cosine[k - 1]);
    return true;
}

void pz_backward_phase(poise_erik *erik)
{
    const pz_chain *chain = &erik->chain;
    pz_chain_pose *now = &erik->now;
    now->Q[0] = chain->base;
    for (int k = 0; k < chain->count; ++k) {
        const pz_link *link = &chain->links[k];
        if (link->kind == PZ_LINK_TWISTER) {
            backward_twister(erik, k);
        } else {
            vec3 d = k < chain->count - 1 ? erik->forward[k + 1].y : erik->t.y;
            pick_swing(erik, k, d);
            if (k > 0 && chain->links[k - 1].kind == PZ_LINK_TWISTER && turn_parent(erik, k, d)) {
                pick_swing(erik, k, d);
            }
        }
        now->Q[k + 1] = pz_turn(link, &now->Q[k], now->sine[k], now->cosine[k]);
    }
}

// ---- Descents ------------------------------------------------------------------------------------------------------------
//
// BWCD and CCD as ERIK uses them: one joint at a time turns the direction of the end towards that of the target (Ribeiro &
// Paiva 2019, Alg. 19 to 22).
//
// Joint k, with the world axis r, takes the angle from the end's direction e to the target's d, both seen along r. What a
// turn does to e is known without the frames below: rot(r, turn) e.

// How descents treat limits.
typedef enum bounds {
    BOUNDS_NONE,   // the posture has none
    BOUNDS_CYCLE,  // within; twisters may be half a turn off
    BOUNDS_NEAREST // within, at the nearer one where an angle is outside
} bounds;

// An angle less the whole steps in it: from -step/2 to step/2.
static double angle_between_turns(double angle, double step)
{
    double steps = angle / step;
    return fabs(steps) < 1e15 ? angle - step * (double)(int64_t)(steps < 0.0 ? steps - 0.5 : steps + 0.5) : 0.0;
}

// (1 - cos of the angle between them)/2
static double miss(vec3 e, vec3 d)
{
    return 0.5 * (1.0 - v3_dot(e, d));
}

// Of the angles that do the same at the end, each `step` from the next: those within the limits before the others, and of
// them the one nearest to `near`.
static double twist_near(const pz_link *link, double angle, double step, double near)
{
    double nearest = near + angle_between_turns(angle - near, step), best = clamp(nearest, link->lower, link->upper);
    double least = fabs(best - nearest);
    for (int side = -1; side <= 1; side += 2) {
        double other = nearest + side * step, held = clamp(other, link->lower, link->upper);
        if (fabs(held - other) < least) {
            least = fabs(held - other);
            best = held;
        }
    }
    return best;
}

// Twist of the last joint towards t; nothing where it is not a twister.
static void twist_end(const poise_erik *erik, pz_chain_pose *pose, const double *near)
{
    int k = erik->chain.count - 1;
    const pz_link *link = &erik->chain.links[k];
    if (link->kind != PZ_LINK_TWISTER) {
        return;
    }
    bool half_turns = erik->options.symmetric_endpoint;
    double angle = pose->theta[k] + link->sign * pz_twist_to(&pose->Q[k + 1], &erik->t);
    pz_set_angle(pose, k,
                 near ? twist_near(link, angle, half_turns ? PZ_PI : PZ_TWO_PI, near[k])
                      : pz_limit_end_twist(link, angle, half_turns));
    pz_chain_forward(&erik->chain, k, pose);
}

static double limited(const poise_erik *erik, int k, double angle, bounds how)
{
    const pz_link *link = &erik->chain.links[k];
    if (how == BOUNDS_NONE) {
        return angle;
    }
    if (how == BOUNDS_NEAREST) {
        return clamp(angle, link->lower, link->upper);
    }
    if (link->kind == PZ_LINK_TWISTER) {
        return pz_limit_twist(link, angle, k < erik->chain.count - 1 || erik->options.symmetric_endpoint);
    }
    return pz_limit_angle(link, angle);
}

// Turn joint k to `angle` and take the end's direction along: the sine and cosine of the turn come from those of the
// angles.
static void move_joint(pz_chain_pose *pose, int k, double angle, vec3 r, vec3 *e)
{
    double s = pose->sine[k], c = pose->cosine[k];
    pz_set_angle(pose, k, angle);
    double turn_s = pose->sine[k] * c - pose->cosine[k] * s, turn_c = pose->cosine[k] * c + pose->sine[k] * s;
    *e = pz_rotate_about(r, turn_s, turn_c, *e);
}

// One sweep from the root; true when the end points at the target. Frames are right afterwards.
static bool sweep_from_root(const poise_erik *erik, pz_chain_pose *pose, bounds how)
{
    const pz_chain *chain = &erik->chain;
    vec3 e = pose->Q[chain->count].y, d = erik->t.y;
    int first = chain->count; // joint that moved
    for (int k = 0; k < chain->count; ++k) {
        if (miss(e, d) <= erik->options.precision) {
            pz_chain_forward(chain, k, pose);
            return true;
        }
        const pz_link *link = &chain->links[k];
        vec3 r = pz_link_axis(link, &pose->Q[k]);
        double turn;
        if (pz_angle_about(r, e, d, &turn)) {
            move_joint(pose, k, limited(erik, k, pose->theta[k] + turn, how), r, &e);
            first = k < first ? k : first;
        }
        if (k >= first) {
            pose->Q[k + 1] = pz_turn(link, &pose->Q[k], pose->sine[k], pose->cosine[k]);
        }
    }
    return miss(pose->Q[chain->count].y, d) <= erik->options.precision;
}

void pz_bwcd_posture(const poise_erik *erik, pz_chain_pose *pose)
{
    for (int i = 0; i < erik->options.max_sweeps; ++i) {
        if (sweep_from_root(erik, pose, BOUNDS_NONE)) {
            return;
        }
    }
}

// Limits can hold the end where it is: a sweep that moves nothing will not be followed by one that does.
void pz_bwcd_solution(const poise_erik *erik, pz_chain_pose *pose, const double *near)
{
    for (int i = 0; i < erik->options.max_sweeps; ++i) {
        if (sweep_from_root(erik, pose, near ? BOUNDS_NEAREST : BOUNDS_CYCLE)) {
            break;
        }
    }
    twist_end(erik, pose, near);
}

// One sweep from the end: the axes of the joints above are not changed by those below.
static bool sweep_from_end(const poise_erik *erik, pz_chain_pose *pose, double *missed)
{
    const pz_chain *chain = &erik->chain;
    const poise_erik_options *o = &erik->options;
    vec3 e = pose->Q[chain->count].y, d = erik->t.y;
    bool is_done = false;
    for (int k = chain->count - 1; k >= 0 && !is_done; --k) {
        const pz_link *link = &chain->links[k];
        vec3 r = pz_link_axis(link, &pose->Q[k]);
        double turn;
        if (miss(e, d) > o->precision && pz_angle_about(r, e, d, &turn)) {
            double angle = limited(erik, k, pose->theta[k] + turn, BOUNDS_CYCLE);
            move_joint(pose, k, o->avoid_edges ? pz_avoid_edge(link, angle, o->disturbance) : angle, r, &e);
        }
        is_done = miss(e, d) <= o->precision;
    }
    pz_chain_forward(chain, 0, pose);
    *missed = miss(pose->Q[chain->count].y, d);
    return is_done;
}

void pz_ccd_solution(const poise_erik *erik, pz_chain_pose *pose)
{
    double last = 2.0, missed = 2.0;
    for (int i = 0; i < erik->options.max_sweeps; ++i) {
        if (sweep_from_end(erik, pose, &missed) || fabs(last - missed) <= erik->options.stall) {
            break;
        }
        last = missed;
    }
    twist_end(erik, pose, NULL);
}

// ---- The orientation to rounding -----------------------------------------------------------------------------------------
//
// The orientation of the end to rounding, within the limits, from where ERIK left it.
//
// Damped Newton on the rotation left, e = log(target end^T). With J the world axes (3 x n) of the joints that are free to
// go where the step takes them,
//
//   step = J^T (J J^T + mu I)^-1 e
//
// is the shortest one that removes e but for the damping mu, which grows where a step does not help and falls where it
// does. A joint at a limit that the step would push beyond it takes no part (an active set, found joint by joint).

#define REACHED    1e-9  // radians
#define MU_FIRST   1e-6  // of |J J^T|, which is about the number of joints
#define MU_LEAST   1e-14 // rounding of J J^T
#define MU_MOST    1e6
#define ITERATIONS 60
#define FIRST_SEED 0x9e3779b97f4a7c15u

// The rotation left, in the world: to the target, or to its twin by half a roll where that is allowed and nearer.
static vec3 rotation_left(const poise_erik *erik)
{
    const mat3 *Q = &erik->now.Q[erik->chain.count];
    mat3 t = erik->tau, back = m3_transpose(Q);
    if (erik->options.symmetric_endpoint && v3_dot(Q->x, t.x) + v3_dot(Q->z, t.z) < 0.0) {
        t.x = v3_neg(t.x);
        t.z = v3_neg(t.z);
    }
    mat3 M = m3_mul(&t, &back);
    return so3_log(quat_from_matrix(&M));
}

// The step for the free joints; false when the matrix is not positive definite.
static bool solve_free(const poise_erik *erik, const double *is_free, vec3 e, double mu, double *step)
{
    const pz_chain *chain = &erik->chain;
    double M[9] = {mu, 0, 0, 0, mu, 0, 0, 0, mu}, y[3] = {e.x, e.y, e.z};
    for (int k = 0; k < chain->count; ++k) {
        vec3 r = v3_scale(pz_link_axis(&chain->links[k], &erik->now.Q[k]), is_free[k]);
        M[0] += r.x * r.x;
        M[3] += r.y * r.x;
        M[4] += r.y * r.y;
        M[6] += r.z * r.x;
        M[7] += r.z * r.y;
        M[8] += r.z * r.z;
    }
    if (!pz_cholesky(3, M)) {
        return false;
    }
    pz_cholesky_solve(3, M, y);
    for (int k = 0; k < chain->count; ++k) {
        step[k] = is_free[k] * v3_dot(pz_link_axis(&chain->links[k], &erik->now.Q[k]), v3(y[0], y[1], y[2]));
    }
    return true;
}

// Joints at a limit that the step pushes beyond it are held, until none is left.
static bool find_step(const poise_erik *erik, vec3 e, double mu, double *is_free, double *step)
{
    const pz_chain *chain = &erik->chain;
    for (int k = 0; k < chain->count; ++k) {
        is_free[k] = 1.0;
    }
    for (bool has_changed = true; has_changed;) {
        has_changed = false;
        if (!solve_free(erik, is_free, e, mu, step)) {
            return false;
        }
        for (int k = 0; k < chain->count; ++k) {
            const pz_link *link = &chain->links[k];
            double angle = erik->now.theta[k];
            if (is_free[k] > 0.0 && ((angle <= link->lower && step[k] < 0.0) || (angle >= link->upper && step[k] > 0.0))) {
                is_free[k] = 0.0;
                has_changed = true;
            }
        }
    }
    return true;
}

// Search from the current pose; returns the remaining angle.
static double search(poise_erik *erik)
{
    const pz_chain *chain = &erik->chain;
    int n = chain->count;
    double *is_free = erik->work, *step = is_free + n, *start = step + n, mu = MU_FIRST;
    vec3 e = rotation_left(erik);
    double left = v3_norm(e);
    for (int i = 0; i < ITERATIONS && left > REACHED && mu < MU_MOST; ++i) {
        if (!find_step(erik, e, mu, is_free, step)) {
            mu = max2(10.0 * mu, MU_FIRST);
            continue;
        }
        memcpy(start, erik->now.theta, (size_t)n * sizeof *start);
        for (int k = 0; k < n; ++k) {
            const pz_link *link = &chain->links[k];
            pz_set_angle(&erik->now, k, clamp(start[k] + step[k], link->lower, link->upper));
        }
        pz_chain_forward(chain, 0, &erik->now);
        vec3 e_new = rotation_left(erik);
        if (v3_norm(e_new) < left) {
            e = e_new;
            left = v3_norm(e);
            mu = max2(0.1 * mu, MU_LEAST);
        } else {
            pz_chain_set(chain, start, &erik->now);
            mu *= 10.0;
        }
    }
    return left;
}

// Where search number `number` begins: the answer, the posture, the zero pose, then anywhere within the limits.
static void take_start(poise_erik *erik, int number, uint64_t *state)
{
    const pz_chain *chain = &erik->chain;
    double *theta = erik->now.theta;
    for (int k = 0; k < chain->count; ++k) {
        const pz_link *link = &chain->links[k];
        double lower = max2(link->lower, link->center - PZ_PI), upper = min2(link->upper, link->center + PZ_PI);
        switch (number) {
        case 0:
            theta[k] = erik->best[k];
            break;
        case 1:
            theta[k] = pz_limit_angle(link, erik->psi[k]);
            break;
        case 2:
            theta[k] = pz_zero_angle(link);
            break;
        default:
            theta[k] = clamp(lower + next_uniform(state) * (upper - lower), link->lower, link->upper);
        }
    }
    pz_chain_set(chain, theta, &erik->now);
}

void pz_erik_finish(poise_erik *erik)
{
    uint64_t state = FIRST_SEED;
    for (int number = 0; number < 3 + erik->options.restarts; ++number) {
        take_start(erik, number, &state);
        bool is_reached = search(erik) <= REACHED;
        pz_measure m = pz_erik_measure(erik, &erik->now);
        if (is_reached || m.angle < erik->best_measure.angle) {
            erik->best_measure = m;
            memcpy(erik->best, erik->now.theta, (size_t)erik->chain.count * sizeof *erik->best);
        }
        if (is_reached) {
            erik->report.exact = true;
            break;
        }
    }
    if (erik->best_measure.error <= erik->options.threshold) {
        erik->report.outcome = POISE_OUTCOME_REACHED;
    } else if (erik->report.outcome == POISE_OUTCOME_REACHED) {
        erik->report.outcome = POISE_OUTCOME_STALLED;
    }
}

// ---- A posture from positions --------------------------------------------------------------------------------------------
//
// A posture from positions: the angles whose segments point as those between the positions do.
//
// With d_j the directions of the segments and u_j those asked for, every joint in turn goes where sum_j d_j . u_j is
// largest. Joint k turns the segments from its own on about its axis r, so that the sum is a constant plus B cos a + C sin
// a,
//
//   B = sum_j d_j . u_j - (r . d_j)(r . u_j),    C = sum_j r . (d_j x u_j)         j >= k
//
// and the best a = atan2(C, B) is the global optimum of that joint. The sum never falls; it may end at a bend to the wrong
// side, so that several starts are tried.

#define SWEEPS 400
#define STARTS 40
#define GOOD   1e-9  // misfit, radians: rounding of directions made of positions
#define STILL  1e-13 // radians: no joint moved farther in a sweep

static bool has_direction(vec3 u)
{
    return v3_dot(u, u) > 0.0;
}

// One sweep; the largest turn.
static double sweep(const pz_chain *chain, const vec3 *u, pz_chain_pose *pose)
{
    double longest = 0.0;
    for (int k = 0; k < chain->count; ++k) {
        vec3 r = pz_link_axis(&chain->links[k], &pose->Q[k]);
        double B = 0.0, C = 0.0;
        for (int j = k; j < chain->count; ++j) {
            vec3 d = pose->Q[j + 1].y;
            B += v3_dot(d, u[j]) - v3_dot(r, d) * v3_dot(r, u[j]);
            C += v3_dot(r, v3_cross(d, u[j]));
        }
        if (B * B + C * C > PZ_NO_DIRECTION) {
            double turn = pz_atan2(C, B);
            longest = max2(longest, fabs(turn));
            pz_set_angle(pose, k, pose->theta[k] + turn);
            pz_chain_forward(chain, k, pose);
        }
    }
    return longest;
}

static double misfit_of(const pz_chain *chain, const vec3 *u, const pz_chain_pose *pose)
{
    double sum = 0.0;
    int counted = 0;
    for (int k = 0; k < chain->count; ++k) {
        vec3 d = pose->Q[k + 1].y;
        if (has_direction(u[k])) {
            double angle = pz_atan2(v3_norm(v3_cross(d, u[k])), v3_dot(d, u[k]));
            sum += angle * angle;
            counted += 1;
        }
    }
    return counted > 0 ? sqrt(sum / counted) : 0.0;
}

// Start number i: straight, then bends of a fixed sequence to either side.
static void take_start_of_sweeps(const pz_chain *chain, int number, pz_chain_pose *pose)
{
    unsigned bits = (unsigned)number * 2654435761u;
    for (int k = 0; k < chain->count; ++k) {
        bits = bits * 1664525u + 1013904223u;
        pz_set_angle(pose, k, number == 0 ? 0.0 : (double)(bits >> 16) / 65536.0 * 4.0 - 2.0);
    }
    pose->Q[0] = chain->base;
    pz_chain_forward(chain, 0, pose);
}

static double fit(const pz_chain *chain, const vec3 *u, pz_chain_pose *pose, double *best)
{
    double least = 4.0;
    for (int number = 0; number < STARTS && least > GOOD; ++number) {
        take_start_of_sweeps(chain, number, pose);
        for (int i = 0; i < SWEEPS && sweep(chain, u, pose) > STILL; ++i) {
        }
        double misfit = misfit_of(chain, u, pose);
        if (misfit < least) {
            least = misfit;
            memcpy(best, pose->theta, (size_t)chain->count * sizeof *best);
        }
    }
    return least;
}

poise_status poise_erik_posture_from_positions(poise_erik *erik, const poise_vec3 *positions, int count, double *posture,
                                               double *misfit, poise_error *error)
{
    if (!erik || !positions || !posture || count != erik->chain.count + 1) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "erik, positions and posture must not be NULL, and count must be %d",
                            erik ? erik->chain.count + 1 : 0);
    }
    for (int i = 0; i < count; ++i) {
        if (!v3_is_finite(positions[i])) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT, "positions[%d] must be finite", i);
        }
    }
    const pz_chain *chain = &erik->chain;
    vec3 *u = (vec3 *)(void *)erik->work;
    bool shows_any = false;
    for (int k = 0; k < chain->count; ++k) {
        u[k] = v3_normalize(v3_sub(positions[k + 1], positions[k]));
        shows_any = shows_any || has_direction(u[k]);
    }
    if (!shows_any) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "all positions are equal: they give no directions");
    }
    double least = fit(chain, u, &erik->now, erik->best);
    for (int k = 0; k < chain->count; ++k) {
        posture[chain->links[k].q] = pz_near_center(&chain->links[k], erik->best[k]);
    }
    if (misfit) {
        *misfit = least;
    }
    return POISE_OK;
}
