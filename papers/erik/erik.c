// ERIK as printed: T. Ribeiro & A. Paiva, "Expressive inverse kinematics solving in real-time for virtual and robotic
// interactive characters" (2019), Alg. 2, 3, 7 to 22 and eq. 19 to 22; and, beyond the paper, going on from the previous
// solution and a last step to an exact orientation.
//
// A chain of hinges is to face an orientation, and to look like a posture while it does. Psi, the posture turned as a whole
// towards the target, shows the shape; iterations bring the candidate Theta near to it, within the limits:
//
//   warp        turn the posture until its end faces the target, whatever the limits say      BWCD, Alg. 19 and 20
//   forward     from the end to the root: angles that lead from each frame of Psi to the next           Alg. 8 to 14
//   backward    from the root to the end: aim at where the forward phase had the next joint             Alg. 15 to 18
//   descend     where that is not good enough, joint by joint towards the target                        Alg. 19 to 22
//
// The error of a candidate is measured against target and posture (eq. 19 to 22); at the threshold the solve ends. Where
// errors stand still, tricks follow: a target a little beside, then CCD, also from the zero pose.
#include "papers/erik/erik.h"

#include "base/error.h"
#include "num/dense.h"
#include "num/rotation.h"

#include <string.h>

// ---- Errors of a pose (eq. 19 to 22) -------------------------------------------------------------------------------------

// u(theta) . P, the cosine of the angle between the segments before and after the joint.
double pz_bend(const pz_link *link, double sine, double cosine)
{
    return link->A + link->B * cosine + link->C_sine * sine;
}

bool pz_erik_take(poise_erik *erik, const double *posture, poise_quat target)
{
    const pz_chain *chain = &erik->chain;
    quat unit = quat_normalize(target);
    if (!quat_is_finite(target) || !(fabs(unit.x) + fabs(unit.y) + fabs(unit.z) + fabs(unit.w) > 0.0)) {
        return false;
    }
    for (int k = 0; k < chain->count; ++k) {
        if (!is_finite(posture[chain->links[k].q])) {
            return false;
        }
    }
    for (int k = 0; k < chain->count; ++k) {
        const pz_link *link = &chain->links[k];
        double sine, cosine;
        erik->psi[k] = posture[link->q];
        pz_sincos(erik->psi[k], &sine, &cosine);
        erik->psi_bend[k] = pz_bend(link, sine, cosine);
    }
    // the end is Q_N E
    mat3 R = quat_matrix(unit), back = m3_transpose(&chain->E);
    erik->tau = m3_mul(&R, &back);
    erik->t = erik->tau;
    return true;
}

// With q = (x, y, z, w) the rotation from the target to the end and phi its angle, |w| = cos(phi/2):
//
//   Z = min |tau -+ omega|/sqrt 2 = sqrt(1 - |w|) = sqrt((x^2 + y^2 + z^2)/(1 + |w|))
//
// the last form keeps its digits. Half a roll about the pointing axis y swaps w and y.
static void measure_orientation(const poise_erik *erik, const mat3 *Q, pz_measure *m)
{
    mat3 back = m3_transpose(&erik->tau), M = m3_mul(&back, Q);
    quat q = quat_from_matrix(&M);
    double w = fabs(q.w), y = fabs(q.y);
    if (erik->options.symmetric_endpoint && y > w) {
        double other = w;
        w = y;
        y = other;
    }
    double rest = q.x * q.x + y * y + q.z * q.z;
    m->orientation = sqrt(rest / (1.0 + w));
    m->angle = 2.0 * pz_atan2(sqrt(rest), w);
}

pz_measure pz_erik_measure(const poise_erik *erik, const pz_chain_pose *pose)
{
    const pz_chain *chain = &erik->chain;
    pz_measure m = {0};
    measure_orientation(erik, &pose->Q[chain->count], &m);
    for (int k = 0; k < chain->count; ++k) {
        const pz_link *link = &chain->links[k];
        if (link->weight > 0.0) {
            double bend = pz_bend(link, pose->sine[k], pose->cosine[k]);
            m.posture += link->weight * (0.5 * fabs(bend - erik->psi_bend[k]));
        }
    }
    m.error = erik->options.orientation_weight * m.orientation + erik->options.posture_weight * m.posture;
    return m;
}

// ---- The forward phase (Alg. 8 to 14) ------------------------------------------------------------------------------------
//
// From the end to the root, every joint turns its frame of the candidate into that of the warped posture, finds the angle
// that would lead from there to the frame of the joint after it, and is moved to where that angle does lead there. The root
// comes off its place.

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

// ---- The backward phase (Alg. 15 to 18) ----------------------------------------------------------------------------------
//
// From the root to the end, every joint is put where the one before ends, and aims at where the forward phase had the joint
// after it. A swing below a twister may use it: what the swing cannot do in its own plane, the twister turns that plane to.

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

// ---- Descents (Alg. 19 to 22) --------------------------------------------------------------------------------------------
//
// BWCD and CCD as ERIK uses them: one joint at a time turns the direction of the end towards that of the target.
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

// On the posture, without limits.
void pz_bwcd_posture(const poise_erik *erik, pz_chain_pose *pose)
{
    for (int i = 0; i < erik->options.max_sweeps; ++i) {
        if (sweep_from_root(erik, pose, BOUNDS_NONE)) {
            return;
        }
    }
}

// On the candidate, within limits. `near`: angles to stay near, so that no twister takes half a turn but the end's.
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

// ---- Candidates ----------------------------------------------------------------------------------------------------------

// Keep the candidate if it is the best so far; is it good enough?
static bool is_good_enough(poise_erik *erik)
{
    pz_measure m = pz_erik_measure(erik, &erik->now);
    if (m.error <= erik->best_measure.error) {
        erik->best_measure = m;
        erik->report.followed = false;
        memcpy(erik->best, erik->now.theta, (size_t)erik->chain.count * sizeof *erik->best);
    }
    return m.error <= erik->options.threshold;
}

// Zero within the limits.
static double zero_angle(const pz_link *link)
{
    return clamp(0.0, link->lower, link->upper);
}

static void take_zero_pose(poise_erik *erik)
{
    for (int k = 0; k < erik->chain.count; ++k) {
        pz_set_angle(&erik->now, k, zero_angle(&erik->chain.links[k]));
    }
    erik->now.Q[0] = erik->chain.base;
    pz_chain_forward(&erik->chain, 0, &erik->now);
}

bool pz_erik_begin(poise_erik *erik, bool warm)
{
    erik->report = (poise_erik_report){.outcome = POISE_OUTCOME_STALLED};
    erik->error_count = 0;
    erik->is_empty = !warm;
    if (erik->is_empty) {
        take_zero_pose(erik);
    } else {
        pz_chain_set(&erik->chain, erik->previous, &erik->now);
    }
    erik->best_measure = pz_erik_measure(erik, &erik->now);
    return is_good_enough(erik);
}

// The posture with its end turned towards the target worked with, whether or not limits allow that.
static void warp_posture(poise_erik *erik)
{
    pz_chain_set(&erik->chain, erik->psi, &erik->warped);
    pz_bwcd_posture(erik, &erik->warped);
}

// Joints of the warped posture at a limit or beyond are brought inside: a shape with less in it that cannot be done. Once,
// before the iterations, as Alg. 3 has it. Where they fail, the posture that the offset trick warps anew is left as it
// comes; with its joints brought inside, too, the trick would lose more than it gains (7 % of the successes on skeleton E).
static void avoid_posture_edges(poise_erik *erik)
{
    for (int k = 0; k < erik->chain.count; ++k) {
        double inside = pz_avoid_edge(&erik->chain.links[k], erik->warped.theta[k], erik->options.disturbance);
        pz_set_angle(&erik->warped, k, inside);
    }
    pz_chain_forward(&erik->chain, 0, &erik->warped);
}

// ---- The previous solution -----------------------------------------------------------------------------------------------

// The angle of a joint in the posture as the previous solution bends: of the two that bend as much, and of an inner twister
// and its half turns, the one nearest to `was`. Twisters at either end are set by the target.
static double posture_angle(const poise_erik *erik, int k, double was)
{
    const pz_link *link = &erik->chain.links[k];
    double psi = erik->psi[k], angle = was, least = INFINITY;
    bool is_twister = link->kind == PZ_LINK_TWISTER;
    if (is_twister && (k == 0 || k == erik->chain.count - 1)) {
        return was;
    }
    for (int i = -2; i <= 2; ++i) {
        double other = is_twister ? psi + i * PZ_PI : i % 2 == 0 ? psi : 2.0 * link->theta0 - psi;
        double held = pz_limit_angle(link, other), left = fabs(held - was);
        if (left < least && (!is_twister || held == other)) {
            least = left;
            angle = held;
        }
    }
    return angle;
}

// Go on from the previous solution: every joint a share of the way to the posture, in the branch where it is, then BWCD
// without a half turn. True when that is good enough.
static bool follow_previous(poise_erik *erik)
{
    const double share = 0.1;
    for (int k = 0; k < erik->chain.count; ++k) {
        double was = erik->previous[k];
        pz_set_angle(&erik->now, k, was + share * (posture_angle(erik, k, was) - was));
    }
    pz_chain_forward(&erik->chain, 0, &erik->now);
    pz_bwcd_solution(erik, &erik->now, erik->previous);
    erik->best_measure.error = INFINITY;
    bool is_good = is_good_enough(erik);
    erik->report.followed = true;
    return is_good;
}

// ---- Non-convergence -----------------------------------------------------------------------------------------------------

bool pz_erik_is_stuck(const double *errors, int count, int window, double tolerance)
{
    int w = window;
    if (count < w) {
        return false;
    }
    double newest = errors[(count - 1) % w], oldest = errors[count % w], least = oldest, largest = oldest;
    bool repeats = w >= 3;
    for (int i = 0; i < w; ++i) {
        double error = errors[(count - 1 - i + w) % w];
        least = min2(least, error);
        largest = max2(largest, error);
        repeats = repeats && (i < 2 || fabs(error - errors[(count - 1 - i + 2) % w]) <= tolerance);
    }
    return largest - least <= tolerance || repeats || newest > oldest - tolerance;
}

// Turn the target about the world axes of the first two joints, each away from its nearer limit: what is exactly out of
// reach, or straight ahead of a joint that cannot tell left from right, may not be so a little beside.
static void offset_target(poise_erik *erik)
{
    const pz_chain *chain = &erik->chain;
    for (int k = 0; k < 2 && k < chain->count; ++k) {
        const pz_link *link = &chain->links[k];
        vec3 r = pz_link_axis(link, &erik->now.Q[k]);
        bool is_near_lower = fabs(erik->now.theta[k] - link->lower) < fabs(erik->now.theta[k] - link->upper);
        double s, c;
        pz_sincos(is_near_lower ? erik->options.disturbance : -erik->options.disturbance, &s, &c);
        erik->t = (mat3){pz_rotate_about(r, s, c, erik->t.x), pz_rotate_about(r, s, c, erik->t.y),
                         pz_rotate_about(r, s, c, erik->t.z)};
    }
    erik->report.used_offset = true;
    warp_posture(erik);
}

static bool try_ccd(poise_erik *erik)
{
    erik->report.used_ccd = true;
    pz_ccd_solution(erik, &erik->now);
    if (is_good_enough(erik)) {
        return true;
    }
    take_zero_pose(erik);
    pz_ccd_solution(erik, &erik->now);
    return is_good_enough(erik);
}

// ---- Iterations (Alg. 2, 3 and 7) ----------------------------------------------------------------------------------------

// One iteration: phases, then BWCD on what they left; true when either is good enough.
static bool iterate(poise_erik *erik)
{
    pz_forward_phase(erik);
    pz_backward_phase(erik);
    erik->is_empty = false;
    if (is_good_enough(erik)) {
        return true;
    }
    pz_bwcd_solution(erik, &erik->now, NULL);
    return is_good_enough(erik);
}

// Iterations and tricks, from the candidate.
static poise_outcome run_iterations(poise_erik *erik)
{
    const poise_erik_options *o = &erik->options;
    for (erik->report.iterations = 1; erik->report.iterations <= o->max_iterations; ++erik->report.iterations) {
        if (iterate(erik)) {
            return POISE_OUTCOME_REACHED;
        }
        erik->errors[erik->error_count++ % o->window] = pz_erik_measure(erik, &erik->now).error;
        if (!pz_erik_is_stuck(erik->errors, erik->error_count, erik->options.window, erik->options.tolerance)) {
            continue;
        }
        if (!o->offset_trick || erik->report.used_offset) {
            return o->ccd_trick && try_ccd(erik) ? POISE_OUTCOME_REACHED : POISE_OUTCOME_STALLED;
        }
        offset_target(erik);
    }
    erik->report.iterations = o->max_iterations;
    return POISE_OUTCOME_BUDGET;
}

// What follows the previous solution stands unless the iterations find something better by the gain.
static poise_outcome run(poise_erik *erik)
{
    bool is_warm = erik->options.warm;
    if (is_warm && follow_previous(erik)) {
        return POISE_OUTCOME_REACHED;
    }
    pz_measure followed = erik->best_measure;
    if (is_warm) {
        erik->best_measure.error -= erik->options.gain;
        pz_chain_set(&erik->chain, erik->previous, &erik->now);
    }
    warp_posture(erik);
    if (erik->options.avoid_edges) {
        avoid_posture_edges(erik);
    }
    poise_outcome outcome = run_iterations(erik);
    erik->best_measure = erik->report.followed ? followed : erik->best_measure;
    return outcome;
}

// ---- The orientation to rounding -----------------------------------------------------------------------------------------
//
// Not in the paper: the orientation of the end to rounding, within the limits, from where ERIK left it.
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
            theta[k] = zero_angle(link);
            break;
        default:
            theta[k] = clamp(lower + next_uniform(state) * (upper - lower), link->lower, link->upper);
        }
    }
    pz_chain_set(chain, theta, &erik->now);
}

static void make_exact(poise_erik *erik)
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

// ---- Options and memory --------------------------------------------------------------------------------------------------

static bool is_count(int value, int least)
{
    return value >= least;
}

static poise_status check_options(const poise_erik_options *o, poise_error *error)
{
    const struct {
        const char *name;
        bool is_sound;
    } checks[] = {
        {"orientation_weight must be >= 0", pz_is_amount(o->orientation_weight)},
        {"posture_weight must be >= 0", pz_is_amount(o->posture_weight)},
        {"threshold must be >= 0", pz_is_amount(o->threshold)},
        {"aggravation must be > 0", pz_is_amount(o->aggravation) && o->aggravation > 0.0},
        {"max_iterations must be >= 1", is_count(o->max_iterations, 1)},
        {"max_sweeps must be >= 1", is_count(o->max_sweeps, 1)},
        {"precision must be >= 0", pz_is_amount(o->precision)},
        {"stall must be >= 0", pz_is_amount(o->stall)},
        {"disturbance must be >= 0", pz_is_amount(o->disturbance)},
        {"window must be from 2 to 64", is_count(o->window, 2) && o->window <= PZ_LARGEST_WINDOW},
        {"tolerance must be >= 0", pz_is_amount(o->tolerance)},
        {"gain must be >= 0", pz_is_amount(o->gain)},
        {"restarts must be >= 0", is_count(o->restarts, 0)},
        {"tip must be finite, its rotation not zero",
         v3_is_finite(o->tip.position) && quat_is_finite(o->tip.rotation) &&
             fabs(o->tip.rotation.x) + fabs(o->tip.rotation.y) + fabs(o->tip.rotation.z) + fabs(o->tip.rotation.w) > 0.0},
    };
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; ++i) {
        if (!checks[i].is_sound) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT, "options: %s", checks[i].name);
        }
    }
    return POISE_OK;
}

// Where everything lies; a counting arena gives the size.
static poise_erik *lay_out(const poise_erik *plan, pz_arena *arena)
{
    size_t n = (size_t)plan->chain.count;
    poise_erik made = *plan, *erik = pz_arena_take(arena, 1, sizeof *erik);
    made.chain.links = pz_arena_take(arena, n, sizeof *made.chain.links);
    made.joints = pz_arena_take(arena, n, sizeof *made.joints);
    made.psi = pz_arena_take(arena, n, sizeof *made.psi);
    made.psi_bend = pz_arena_take(arena, n, sizeof *made.psi_bend);
    made.warped = pz_chain_pose_lay_out((int)n, arena);
    made.now = pz_chain_pose_lay_out((int)n, arena);
    made.forward = pz_arena_take(arena, n + 1, sizeof *made.forward);
    made.best = pz_arena_take(arena, n, sizeof *made.best);
    made.previous = pz_arena_take(arena, n, sizeof *made.previous);
    made.errors = pz_arena_take(arena, (size_t)plan->options.window, sizeof *made.errors);
    made.work = pz_arena_take(arena, 3 * n, sizeof *made.work);
    if (erik && !arena->full) {
        *erik = made;
        pz_chain_build(made.model, &made.options, &erik->chain);
        for (size_t i = 0; i < n; ++i) {
            const pz_link *link = &erik->chain.links[i];
            made.joints[i] = (poise_erik_link){.index = link->joint, .is_twister = link->kind == PZ_LINK_TWISTER};
        }
    }
    return erik;
}

// What is known before there is memory.
static poise_status plan_for(const poise_model *model, const poise_erik_options *options, poise_erik *plan,
                             poise_error *error)
{
    poise_error found = {.status = POISE_ERROR_ARGUMENT, .text = "model and options must not be NULL"};
    if (!model || !options) {
        return pz_error_set(error, found.status, "%s", found.text);
    }
    poise_status status = check_options(options, error);
    if (status != POISE_OK) {
        return status;
    }
    int count = pz_chain_measure(model, options, &found);
    if (count == 0) {
        return pz_error_set(error, found.status, "%s", found.text);
    }
    *plan = (poise_erik){.model = model, .options = *options};
    plan->chain.count = count;
    return POISE_OK;
}

static size_t planned_size(const poise_erik *plan)
{
    pz_arena counting = pz_arena_counting();
    lay_out(plan, &counting);
    return pz_arena_bytes(&counting);
}

size_t pz_erik_size(const poise_model *model, const poise_erik_options *options)
{
    poise_erik plan = {0};
    return plan_for(model, options, &plan, NULL) == POISE_OK ? planned_size(&plan) : 0;
}

poise_erik *pz_erik_init(const poise_model *model, const poise_erik_options *options, void *memory, size_t size)
{
    poise_erik plan = {0};
    plan_for(model, options, &plan, NULL);
    pz_arena arena = pz_arena_over(memory, size);
    return lay_out(&plan, &arena);
}

poise_status poise_erik_create(const poise_model *model, const poise_erik_options *options, const poise_allocator *allocator,
                               poise_erik **erik, poise_error *error)
{
    poise_erik plan = {0};
    poise_status status = plan_for(model, options, &plan, error);
    if (status != POISE_OK) {
        return status;
    }
    if (!erik) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "erik must not be NULL");
    }
    pz_owned owned;
    size_t size = planned_size(&plan);
    if (!pz_owned_take(&owned, allocator, size)) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory: ERIK needs %g bytes", (double)size);
    }
    *erik = pz_erik_init(model, options, owned.memory, size);
    (*erik)->owned = owned;
    return POISE_OK;
}

void poise_erik_destroy(poise_erik *erik)
{
    if (erik) {
        pz_owned_release(&erik->owned);
    }
}

poise_erik_chain poise_erik_joints(const poise_erik *erik)
{
    return erik ? (poise_erik_chain){erik->chain.count, erik->joints} : (poise_erik_chain){0};
}

// ---- Solve and measure ---------------------------------------------------------------------------------------------------

void pz_erik_hand_out(poise_erik *erik, double *q, poise_erik_report *report)
{
    poise_erik_report *r = &erik->report;
    r->reason = r->outcome == POISE_OUTCOME_REACHED  ? "the error is within the threshold"
                : r->outcome == POISE_OUTCOME_BUDGET ? "the iterations were used up"
                                                     : "neither iterations nor tricks bring the error below the threshold";
    r->error = erik->best_measure.error;
    r->orientation = erik->best_measure.orientation;
    r->posture = erik->best_measure.posture;
    r->angle = erik->best_measure.angle;
    r->active_limits = 0;
    for (int k = 0; k < erik->chain.count; ++k) {
        const pz_link *link = &erik->chain.links[k];
        r->active_limits += erik->best[k] == link->lower || erik->best[k] == link->upper;
        if (q) {
            q[link->q] = erik->best[k];
        }
    }
    if (report) {
        *report = *r;
    }
}

poise_status poise_erik_solve(poise_erik *erik, const double *posture, poise_quat target, double *q,
                              poise_erik_report *report, poise_error *error)
{
    if (!erik || !posture) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "erik and posture must not be NULL");
    }
    poise_status sound = poise_model_check(erik->model, q, "q", error);
    if (sound != POISE_OK) {
        return sound;
    }
    if (!pz_erik_take(erik, posture, target)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "posture and target must be finite, and target must not be zero");
    }
    for (int k = 0; k < erik->chain.count; ++k) {
        const pz_link *link = &erik->chain.links[k];
        erik->previous[k] = clamp(q[link->q], link->lower, link->upper);
    }
    pz_erik_begin(erik, erik->options.warm);
    erik->report.outcome = run(erik);
    if (erik->options.exact_orientation) {
        make_exact(erik);
    }
    pz_erik_hand_out(erik, q, report);
    return POISE_OK;
}

poise_status poise_erik_measure(poise_erik *erik, const double *posture, poise_quat target, const double *q,
                                poise_erik_report *report, poise_error *error)
{
    if (!erik || !posture || !report) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "erik, report and posture must not be NULL");
    }
    poise_status sound = poise_model_check(erik->model, q, "q", error);
    if (sound != POISE_OK) {
        return sound;
    }
    if (!pz_erik_take(erik, posture, target)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "posture and target must be finite, and target must not be zero");
    }
    for (int k = 0; k < erik->chain.count; ++k) {
        erik->best[k] = q[erik->chain.links[k].q];
    }
    pz_chain_set(&erik->chain, erik->best, &erik->now);
    erik->best_measure = pz_erik_measure(erik, &erik->now);
    bool is_reached = erik->best_measure.error <= erik->options.threshold;
    erik->report = (poise_erik_report){.outcome = is_reached ? POISE_OUTCOME_REACHED : POISE_OUTCOME_STALLED};
    pz_erik_hand_out(erik, NULL, report);
    return POISE_OK;
}
