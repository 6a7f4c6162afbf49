// Candidates on a chain: patterns of bends, with root, end and one more joint in closed form.
//
// A *pattern* gives every swing the posture's angle or the one that bends as much the other way. The first joint turns all
// of the chain about an axis a that stands still, so that only a . d, d the direction of the end, is left for the others.
// Turning joint j, with axis n, by x changes it to
//
//   a . rot(n, x) d = A + B cos x + C sin x,   A = (a . n)(n . d),   B = a . d - A,   C = a . (n x d)
//
// which is a . target at x = atan2(C, B) +- acos((a . target - A)/sqrt(B^2 + C^2)). One joint that pays is where a sum of
// absolute values has its minimum more often than not. Then the first joint turns d to the target, and a twister at the
// end turns the rest.
#include "express/expressive_state.h"

#include <string.h>

#define LEAST_LEVER 1e-9 // a joint that moves the end's direction by less has no say in it
#define PAID        1e-6 // cosine: nothing is left for a second joint
#define MOST_UNITS  6    // 64 patterns; chains with more swings mirror runs, with more runs nothing

// What a pattern is made of: swings, or runs, whose mirror image differs.
typedef struct units {
    int count;
    int first[MOST_UNITS], last[MOST_UNITS]; // links
} units;

typedef struct pattern {
    unsigned bits;
    bool by_two; // two joints pay
    pz_chain_pose *pose;
    vec3 a; // axis of the first joint
} pattern;

static double mirror(const pz_link *link, double angle)
{
    return 2.0 * link->theta0 - angle;
}

static bool is_swing(const pz_link *link)
{
    return link->kind != PZ_LINK_TWISTER;
}

static void find_units(const poise_expressive *e, units *u)
{
    const pz_chain *chain = &e->erik->chain;
    for (int by_run = 0; by_run < 2; ++by_run) {
        bool fits = true;
        u->count = 0;
        for (int k = 0; k < chain->count && fits; ++k) {
            const pz_link *link = &chain->links[k];
            bool follows = by_run && u->count > 0 && u->last[u->count - 1] == k - 1;
            if (!is_swing(link) || (!by_run && mirror(link, e->erik->psi[k]) == e->erik->psi[k])) {
                continue;
            }
            if (follows) {
                u->last[u->count - 1] = k;
            } else if (u->count < MOST_UNITS) {
                u->first[u->count] = u->last[u->count] = k;
                u->count += 1;
            } else {
                fits = false;
            }
        }
        if (fits) {
            return;
        }
    }
    u->count = 0;
}

// Inner twisters turn by half a turn between a swing that bends as the posture does and one that bends the other way, where
// their limits allow that.
static void turn_twisters(const poise_expressive *e, double *theta)
{
    const pz_chain *chain = &e->erik->chain;
    bool was_turned = false;
    int twister = -1;
    for (int k = 0; k < chain->count; ++k) {
        const pz_link *link = &chain->links[k];
        double psi = e->erik->psi[k];
        if (!is_swing(link)) {
            twister = k > 0 ? k : twister;
            continue;
        }
        bool is_turned = fabs(theta[k] - mirror(link, psi)) < fabs(theta[k] - psi);
        if (twister > 0 && is_turned != was_turned) {
            const pz_link *inner = &chain->links[twister];
            double angle = pz_near_center(inner, e->erik->psi[twister] + PZ_PI);
            theta[twister] = angle >= inner->lower && angle <= inner->upper ? angle : theta[twister];
        }
        was_turned = is_turned;
        twister = -1;
    }
}

// The angles of a pattern within the limits.
static void set_pattern(const poise_expressive *e, const units *u, unsigned bits, double *theta)
{
    const pz_chain *chain = &e->erik->chain;
    for (int k = 0; k < chain->count; ++k) {
        const pz_link *link = &chain->links[k];
        double angle = e->erik->psi[k];
        for (int i = 0; i < u->count; ++i) {
            bool is_turned = (bits >> i & 1u) && k >= u->first[i] && k <= u->last[i];
            angle = is_turned ? mirror(link, angle) : angle;
        }
        theta[k] = pz_limit_angle(link, angle);
    }
    if (e->options.mode == POISE_EXPRESSIVE_SHAPE) {
        turn_twisters(e, theta);
    }
}

// ---- Scores --------------------------------------------------------------------------------------------------------------

// sqrt(1 - |w|) of the rotation M = tau^T Q, 4 w^2 = 1 + tr M; half a roll about y has 4 w^2 = 1 + M_yy - M_xx - M_zz.
static double orientation_error(const poise_expressive *e, const mat3 *Q)
{
    const mat3 *tau = &e->erik->tau;
    double x = v3_dot(tau->x, Q->x), y = v3_dot(tau->y, Q->y), z = v3_dot(tau->z, Q->z);
    double square = 0.25 * (1.0 + x + y + z), twin = 0.25 * (1.0 + y - x - z);
    square = e->options.symmetric_endpoint ? max2(square, twin) : square;
    return sqrt(max2(0.0, 1.0 - sqrt(max2(0.0, square))));
}

static mat3 turned(const mat3 *Q, vec3 axis, double angle)
{
    double s, c;
    pz_sincos(angle, &s, &c);
    return (mat3){pz_rotate_about(axis, s, c, Q->x), pz_rotate_about(axis, s, c, Q->y), pz_rotate_about(axis, s, c, Q->z)};
}

// Keep the best few, one of each pattern and paying joint.
static void keep(poise_expressive *e, const pz_candidate *made)
{
    int most = e->options.searches, at = e->found_count;
    for (int i = 0; i < e->found_count; ++i) {
        if (e->found[i].pattern == made->pattern && e->found[i].joint == made->joint) {
            if (e->found[i].score <= made->score) {
                return;
            }
            at = i;
            break;
        }
    }
    if (at == most) {
        at -= 1;
        if (e->found[at].score <= made->score) {
            return;
        }
    } else if (at == e->found_count) {
        e->found_count += 1;
    }
    while (at > 0 && e->found[at - 1].score > made->score) {
        e->found[at] = e->found[at - 1];
        at -= 1;
    }
    e->found[at] = *made;
}

// The posture error with the joints of a candidate in place.
static double posture_with(const poise_expressive *e, const pz_candidate *made)
{
    int places[3] = {0, made->joint, made->second};
    double angles[3] = {made->root, made->paid, made->second_paid}, was[6] = {0};
    for (int i = 0; i < 3; ++i) {
        double *cost = places[i] >= 0 ? e->link_cost + 2 * places[i] : was + 2 * i;
        was[2 * i] = cost[0];
        was[2 * i + 1] = cost[1];
        if (places[i] >= 0) {
            pz_terms_link_cost(e, places[i], angles[i], cost);
        }
    }
    double posture = pz_terms_least(e, NULL);
    for (int i = 0; i < 3; ++i) {
        if (places[i] >= 0) {
            memcpy(e->link_cost + 2 * places[i], was + 2 * i, 2 * sizeof *was);
        }
    }
    return e->options.posture_weight * posture;
}

// Turn first joint and end towards the target, for a chain whose end has the frame Q, and keep what comes out.
static void complete(poise_expressive *e, const pattern *p, pz_candidate made, mat3 Q)
{
    const pz_chain *chain = &e->erik->chain;
    const pz_link *root = &chain->links[0], *end = &chain->links[chain->count - 1];
    double turn, root_was = p->pose->theta[0], end_was = p->pose->theta[chain->count - 1];
    made.pattern = p->bits;
    made.root = root_was;
    made.end = end_was;
    if (pz_angle_about(p->a, Q.y, e->erik->tau.y, &turn)) {
        made.root = pz_limit_angle(root, root_was + turn);
    }
    made.score = posture_with(e, &made);
    if (e->found_count == e->options.searches && made.score >= e->found[e->found_count - 1].score) {
        return;
    }
    Q = turned(&Q, p->a, made.root - root_was);
    if (end->kind == PZ_LINK_TWISTER && chain->count > 1) {
        double twist = pz_twist_to(&Q, &e->erik->tau);
        made.end = pz_limit_end_twist(end, end_was + end->sign * twist, e->options.symmetric_endpoint);
        Q = turned(&Q, Q.y, end->sign * (made.end - end_was));
    }
    made.score += e->options.goal_weight * orientation_error(e, &Q);
    keep(e, &made);
}

// The two angles of a link, whose axis is n, for which the direction d of the end has the target's angle from the axis of
// the first joint, or comes nearest to it, within limits. False when the link cannot change it.
static bool paying_angles(const poise_expressive *e, const pattern *p, int j, vec3 n, vec3 d, double angles[2])
{
    const pz_link *link = &e->erik->chain.links[j];
    double A = v3_dot(p->a, n) * v3_dot(n, d), B = v3_dot(p->a, d) - A, C = v3_dot(p->a, v3_cross(n, d));
    double h = sqrt(B * B + C * C);
    if (h < LEAST_LEVER) {
        return false;
    }
    double x = clamp((v3_dot(p->a, e->erik->tau.y) - A) / h, -1.0, 1.0);
    double middle = pz_atan2(C, B), half = pz_atan2(sqrt(1.0 - x * x), x);
    for (int i = 0; i < 2; ++i) {
        angles[i] = pz_limit_angle(link, p->pose->theta[j] + middle + (i ? half : -half));
    }
    return true;
}

// May joint j pay? Not the first one, and not a twister at the end, which are set by what is left.
static bool may_pay(const pz_chain *chain, int j)
{
    return j > 0 && (j < chain->count - 1 || is_swing(&chain->links[j]));
}

// A second joint pays for what the first, which has turned by `turn` about n, could not.
static void let_second_pay(poise_expressive *e, const pattern *p, pz_candidate made, const mat3 *Q, vec3 n, double turn)
{
    const pz_chain *chain = &e->erik->chain;
    double s, c, angles[2];
    pz_sincos(turn, &s, &c);
    for (int j = 1; j < chain->count; ++j) {
        if (!may_pay(chain, j) || j == made.joint) {
            continue;
        }
        vec3 axis = pz_link_axis(&chain->links[j], &p->pose->Q[j]);
        axis = j > made.joint ? pz_rotate_about(n, s, c, axis) : axis;
        if (!paying_angles(e, p, j, axis, Q->y, angles)) {
            continue;
        }
        for (int i = 0; i < 2; ++i) {
            made.second = j;
            made.second_paid = angles[i];
            complete(e, p, made, turned(Q, axis, angles[i] - p->pose->theta[j]));
        }
    }
}

// Does the first joint alone cost as much as the candidates that were found?
static bool is_dear(const poise_expressive *e, const pattern *p, pz_candidate made)
{
    made.root = p->pose->theta[0];
    return e->found_count == e->options.searches && posture_with(e, &made) >= e->found[e->found_count - 1].score;
}

// Joint j pays.
static void let_pay(poise_expressive *e, const pattern *p, int j)
{
    const pz_chain *chain = &e->erik->chain;
    const mat3 *Q = &p->pose->Q[chain->count];
    vec3 n = pz_link_axis(&chain->links[j], &p->pose->Q[j]);
    double angles[2];
    if (!paying_angles(e, p, j, n, Q->y, angles)) {
        return;
    }
    for (int i = 0; i < 2; ++i) {
        double turn = angles[i] - p->pose->theta[j];
        pz_candidate made = {.joint = j, .second = -1, .paid = angles[i]};
        mat3 after = turned(Q, n, turn);
        if (!p->by_two) {
            complete(e, p, made, after);
        } else if (fabs(v3_dot(p->a, after.y) - v3_dot(p->a, e->erik->tau.y)) > PAID && !is_dear(e, p, made)) {
            let_second_pay(e, p, made, &after, n, turn);
        }
    }
}

// ---- All of them ---------------------------------------------------------------------------------------------------------

// Start a pattern: its angles, frames and costs.
static void begin_pattern(poise_expressive *e, const units *u, unsigned bits)
{
    const pz_chain *chain = &e->erik->chain;
    set_pattern(e, u, bits, e->theta);
    for (int k = 0; k < chain->count; ++k) {
        pz_terms_link_cost(e, k, e->theta[k], e->link_cost + 2 * k);
    }
}

// One joint pays for what is left; where that is dear, two.
static void find_facing(poise_expressive *e, const units *u)
{
    poise_erik *erik = e->erik;
    const pz_chain *chain = &erik->chain;
    for (int by_two = 0; by_two < 2 && !(by_two && e->found[0].score < e->options.gain); ++by_two) {
        for (unsigned bits = 0; bits < 1u << u->count; ++bits) {
            pattern p = {bits, by_two == 1, &erik->now, pz_link_axis(&chain->links[0], &chain->base)};
            begin_pattern(e, u, bits);
            pz_chain_set(chain, e->theta, &erik->now);
            if (!by_two) {
                complete(e, &p, (pz_candidate){.joint = -1, .second = -1}, erik->now.Q[chain->count]);
            }
            for (int j = 1; j < chain->count; ++j) {
                if (may_pay(chain, j)) {
                    let_pay(e, &p, j);
                }
            }
        }
    }
}

// Without an orientation of the end: patterns as they are, by the goals. sqrt(2 f) is an angle where goals are one.
static void find_other(poise_expressive *e, const units *u)
{
    poise_solver *s = e->solver;
    int n = e->erik->chain.count;
    for (unsigned bits = 0; bits < 1u << u->count; ++bits) {
        begin_pattern(e, u, bits);
        pz_candidate made = {.pattern = bits, .joint = -1, .second = -1, .root = e->theta[0], .end = e->theta[n - 1]};
        pz_expressive_place(e, &made, e->q_trial);
        double cost = pz_try(s, e->q_trial, POISE_LEVEL_COST), angle = is_finite(cost) ? sqrt(2.0 * cost) : INFINITY;
        made.score = e->options.goal_weight * 0.35 * angle + e->options.posture_weight * pz_terms_least(e, NULL);
        keep(e, &made);
    }
}

void pz_expressive_find(poise_expressive *e)
{
    e->found_count = 0;
    if (!e->erik || e->options.searches == 0) {
        return;
    }
    units u;
    find_units(e, &u);
    if (e->facing >= 0) {
        find_facing(e, &u);
    } else {
        find_other(e, &u);
    }
}

void pz_expressive_place(const poise_expressive *e, const pz_candidate *candidate, double *q)
{
    const pz_chain *chain = &e->erik->chain;
    units u;
    find_units(e, &u);
    set_pattern(e, &u, candidate->pattern, e->theta);
    if (candidate->joint >= 0) {
        e->theta[candidate->joint] = candidate->paid;
    }
    if (candidate->second >= 0) {
        e->theta[candidate->second] = candidate->second_paid;
    }
    e->theta[0] = candidate->root;
    if (chain->links[chain->count - 1].kind == PZ_LINK_TWISTER && chain->count > 1) {
        e->theta[chain->count - 1] = candidate->end;
    }
    for (int k = 0; k < chain->count; ++k) {
        q[chain->links[k].q] = e->theta[k];
    }
}
