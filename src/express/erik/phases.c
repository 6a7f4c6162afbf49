// The forward and backward phases: from the frames of a warped posture to angles within the limits (Ribeiro & Paiva 2019,
// Alg. 8 to 18).
//
// Forward, from the end to the root: every joint turns its frame of the candidate into that of the warped posture, finds the
// angle that would lead from there to the frame of the joint after it, and is moved to where that angle does lead there. The
// root comes off its place. Backward, from the root to the end: every joint is put where the one before ends, and aims at
// where the forward phase had the joint after it. A swing below a twister may use it: what the swing cannot do in its own
// plane, the twister turns that plane to.
#include "express/erik/erik_state.h"

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
