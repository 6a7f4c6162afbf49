// The posture of the successor: its error, which every joint adds to, with derivatives; and candidates on a chain that keep
// it, in closed form.
//
//   P(q) = sum_i w_i |r_i(q)|,   sum_i w_i = 1
//
// smoothed for the search as sum_i w_i (sqrt(|r_i|^2 + eps^2) - eps), whose Gauss-Newton Hessian, with r_i linear, is
// bounded from above by that of iteratively reweighted least squares: w_i / sqrt(|r_i|^2 + eps^2) dr_i^T dr_i.
#include "papers/erik/expressive.h"

#include <string.h>

static const pz_link *link_of(const poise_expressive *e, int q, int *place)
{
    for (int k = 0; e->erik && k < e->erik->chain.count; ++k) {
        if (e->erik->chain.links[k].q == q) {
            *place = k;
            return &e->erik->chain.links[k];
        }
    }
    *place = -1;
    return NULL;
}

// The swing before link k, or -1.
static int swing_before(const pz_chain *chain, int k)
{
    do {
        k -= 1;
    } while (k >= 0 && chain->links[k].kind == PZ_LINK_TWISTER);
    return k;
}

// A joint of the chain: swings count, and in SHAPE twisters between them.
static void describe_link(const poise_expressive *e, const pz_link *link, pz_term *term)
{
    const pz_chain *chain = &e->erik->chain;
    bool is_shape = e->options.mode == POISE_EXPRESSIVE_SHAPE, is_twister = link->kind == PZ_LINK_TWISTER;
    int before = swing_before(chain, term->link);
    bool counts = is_twister && is_shape && before >= 0 && term->link < chain->count - 1;
    term->kind = !is_shape ? PZ_TERM_BEND : is_twister ? PZ_TERM_TWIST : PZ_TERM_MIRROR;
    term->weight = counts ? chain->links[before].weight : link->weight;
    term->A = link->A;
    term->B = link->B;
    term->C = link->C_sine;
    term->theta0 = link->theta0;
}

// Runs are the swings between twisters, numbered from the root.
static void number_runs(poise_expressive *e)
{
    int run = -1, before = -2;
    for (int k = 0; e->erik && k < e->erik->chain.count; ++k) {
        if (e->erik->chain.links[k].kind == PZ_LINK_TWISTER) {
            continue;
        }
        run += k != before + 1;
        before = k;
        for (int i = 0; i < e->term_count; ++i) {
            e->terms[i].run = e->terms[i].link == k ? run : e->terms[i].run;
        }
    }
    e->run_count = run + 1;
}

void pz_terms_make(poise_expressive *e)
{
    int swings = 0, joints = poise_model_info(e->model).joints;
    double sum = 0.0;
    for (int k = 0; e->erik && k < e->erik->chain.count; ++k) {
        swings += e->erik->chain.links[k].weight > 0.0;
    }
    double usual = swings > 0 ? 1.0 / swings : 1.0; // what a swing of the chain has on average
    e->term_count = 0;
    for (int k = 0, i = 0; k < joints; ++k, i = 0) {
        poise_joint_motion motion;
        bool follows = poise_model_joint_info(e->model, k).mimic != POISE_NONE;
        while (!follows && e->run->call->joint_motion(e->run, k, i++, &motion)) {
            int count = motion.kind == POISE_MOTION_SWING                                              ? 2
                        : motion.kind == POISE_MOTION_VECTOR || motion.kind == POISE_MOTION_QUATERNION ? 3
                                                                                                       : 1;
            pz_term term = {.dof = motion.v, .count = count, .q = motion.q, .run = -1};
            const pz_link *link = link_of(e, motion.q, &term.link);
            term.scale = motion.kind == POISE_MOTION_SLIDE ? e->options.length_scale : PZ_PI;
            if (link) {
                e->term_of[term.link] = e->term_count;
                describe_link(e, link, &term);
            } else {
                bool is_hinge = motion.kind == POISE_MOTION_TURN && e->options.mode == POISE_EXPRESSIVE_METRIC;
                term.kind = is_hinge ? PZ_TERM_BEND : PZ_TERM_STEP;
                term.weight = usual;
                term.B = 1.0;
            }
            sum += term.weight;
            e->has_steps = e->has_steps || term.kind == PZ_TERM_STEP;
            e->terms[e->term_count++] = term;
        }
    }
    for (int i = 0; i < e->term_count && sum > 0.0; ++i) {
        e->terms[i].weight /= sum;
    }
    number_runs(e);
}

void pz_terms_take(poise_expressive *e, const double *posture)
{
    e->posture = posture;
    for (int i = 0; i < e->term_count; ++i) {
        pz_term *term = &e->terms[i];
        double sine, cosine, angle = posture[term->q];
        if (term->kind == PZ_TERM_BEND) {
            pz_sincos(angle, &sine, &cosine);
            term->psi = term->A + term->B * cosine + term->C * sine;
        } else {
            term->psi = angle;
        }
        term->mirrored = 2.0 * term->theta0 - angle;
    }
}

// ---- Signs ---------------------------------------------------------------------------------------------------------------

// |angle - target|, and from just before straight, theta0, on that much more steeply: a bend keeps its direction while
// another joint can compensate for it. A posture that is nearly straight has no direction to keep. *slope takes the
// derivative's size.
static double bend_cost(const pz_term *term, double target, double angle, double *slope)
{
    const double steepest = 2.0, straight = 0.2, margin = 0.1; // times; radians; share of those
    double bend = target - term->theta0, at_least = margin * min2(fabs(bend), straight);
    double other_side = at_least - (bend > 0.0 ? angle - term->theta0 : term->theta0 - angle);
    double extra = steepest * min2(fabs(bend) / straight, 1.0);
    *slope = other_side > 0.0 ? 1.0 + extra : 1.0;
    return fabs(angle - target) + (other_side > 0.0 ? extra * other_side : 0.0);
}

void pz_terms_link_cost(const poise_expressive *e, int link, double angle, double cost[2])
{
    const pz_term *term = &e->terms[e->term_of[link]];
    cost[0] = cost[1] = 0.0;
    if (!(term->weight > 0.0)) {
        return;
    }
    if (term->kind == PZ_TERM_MIRROR) {
        double slope;
        cost[0] = term->weight * bend_cost(term, term->psi, angle, &slope) / term->scale;
        cost[1] = term->weight * bend_cost(term, term->mirrored, angle, &slope) / term->scale;
    } else if (term->kind == PZ_TERM_TWIST) {
        cost[0] = term->weight * fabs(angle - turn_near(term->psi, angle)) / term->scale;
        cost[1] = term->weight * fabs(angle - turn_near(term->psi + PZ_PI, angle)) / term->scale;
    } else {
        double sine, cosine;
        pz_sincos(angle, &sine, &cosine);
        cost[0] = cost[1] = term->weight * 0.5 * fabs(pz_bend(&e->erik->chain.links[link], sine, cosine) - term->psi);
    }
}

// By the least cost of each sign, link for link. A twister that counts keeps the sign or, half a turn off, changes it; one
// that does not, at the root or the end, does either. A chain without one at its root cannot bend the other way at first.
double pz_terms_least(const poise_expressive *e, int *last)
{
    const pz_chain *chain = &e->erik->chain;
    double least[2] = {0.0, chain->links[0].kind == PZ_LINK_TWISTER ? 0.0 : INFINITY};
    for (int k = 0; k < chain->count; ++k) {
        const double *cost = e->link_cost + 2 * k;
        bool is_twister = chain->links[k].kind == PZ_LINK_TWISTER;
        bool is_free = is_twister && !(e->terms[e->term_of[k]].weight > 0.0);
        double after[2];
        e->signs[k] = 0;
        for (int s = 0; s < 2; ++s) {
            double keep = least[s] + (is_twister ? is_free ? 0.0 : cost[0] : cost[s]);
            double change = is_twister ? least[1 - s] + (is_free ? 0.0 : cost[1]) : INFINITY;
            int from = change < keep ? 1 - s : s;
            after[s] = min2(keep, change);
            e->signs[k] = (unsigned char)(e->signs[k] | from << s);
        }
        least[0] = after[0];
        least[1] = after[1];
    }
    if (last) {
        *last = least[1] < least[0] ? 1 : 0;
    }
    return min2(least[0], least[1]);
}

void pz_terms_choose_signs(poise_expressive *e, const double *q)
{
    if (!e->erik || e->options.mode != POISE_EXPRESSIVE_SHAPE) {
        return;
    }
    const pz_chain *chain = &e->erik->chain;
    int sign;
    for (int k = 0; k < chain->count; ++k) {
        pz_terms_link_cost(e, k, q[chain->links[k].q], e->link_cost + 2 * k);
    }
    pz_terms_least(e, &sign);
    for (int k = chain->count - 1; k >= 0; --k) {
        pz_term *term = &e->terms[e->term_of[k]];
        int before = e->signs[k] >> sign & 1;
        if (term->kind == PZ_TERM_TWIST) {
            term->mirrored = turn_near(term->psi + (before != sign ? PZ_PI : 0.0), q[term->q]);
        } else {
            e->run_sign[term->run] = sign ? -1.0 : 1.0;
        }
        sign = before;
    }
}

// ---- Values --------------------------------------------------------------------------------------------------------------

// |r| of a term and, for one number, r and dr.
static double residual(const poise_expressive *e, const pz_term *term, const double *q, double *r, double *dr)
{
    double sine, cosine, square = 0.0;
    switch (term->kind) {
    case PZ_TERM_BEND:
        pz_sincos(q[term->q], &sine, &cosine);
        *r = 0.5 * (term->A + term->B * cosine + term->C * sine - term->psi);
        *dr = 0.5 * (term->C * cosine - term->B * sine);
        return fabs(*r);
    case PZ_TERM_TWIST:
        *r = (q[term->q] - term->mirrored) / term->scale;
        *dr = 1.0 / term->scale;
        return fabs(*r);
    case PZ_TERM_MIRROR: {
        double target = e->run_sign[term->run] < 0.0 ? term->mirrored : term->psi, slope;
        double cost = bend_cost(term, target, q[term->q], &slope) / term->scale;
        *r = q[term->q] < target ? -cost : cost;
        *dr = slope / term->scale;
        return cost;
    }
    default:
        for (int i = 0; i < term->count; ++i) {
            square += e->difference[term->dof + i] * e->difference[term->dof + i];
        }
        return sqrt(square) / term->scale;
    }
}

static void prepare(poise_expressive *e, const double *q)
{
    if (e->has_steps) {
        poise_difference(e->model, e->posture, q, e->difference, NULL);
    }
}

double pz_terms_error(poise_expressive *e, const double *q)
{
    double sum = 0.0, r = 0.0, dr = 0.0;
    prepare(e, q);
    for (int i = 0; i < e->term_count; ++i) {
        const pz_term *term = &e->terms[i];
        sum += term->weight > 0.0 ? term->weight * residual(e, term, q, &r, &dr) : 0.0;
    }
    return sum;
}

// A step's own coordinates change by what retract adds to them, so d|difference|^2/2 is the difference itself: exactly for
// numbers and for rotations, whose logarithm is an eigenvector of its own Jacobian.
double pz_terms_cost(poise_expressive *e, const double *q, double eps, double factor, double *g, double *H)
{
    double sum = 0.0, r = 0.0, dr = 0.0;
    size_t stride = (size_t)e->nv + 1;
    prepare(e, q);
    for (int i = 0; i < e->term_count; ++i) {
        const pz_term *term = &e->terms[i];
        if (!(term->weight > 0.0)) {
            continue;
        }
        double size = residual(e, term, q, &r, &dr), root = sqrt(size * size + eps * eps);
        sum += term->weight * (root - eps);
        double mu = factor * term->weight / root;
        for (int j = 0; g && j < term->count; ++j) {
            size_t dof = (size_t)(term->dof + j);
            if (term->kind == PZ_TERM_STEP) {
                dr = 1.0 / term->scale;
                r = e->difference[dof] * dr;
            }
            g[dof] += mu * r * dr;
            H[dof * stride] += mu * dr * dr;
        }
    }
    return sum;
}

// ---- Candidates ----------------------------------------------------------------------------------------------------------
//
// Candidates on a chain: patterns of bends, with root, end and one more joint in closed form.
//
// A *pattern* gives every swing the posture's angle or the one that bends as much the other way. The first joint turns all
// of the chain about an axis a that stands still, so that only a . d, d the direction of the end, is left for the others.
// Turning joint j, with axis n, by x changes it to
//
//   a . rot(n, x) d = A + B cos x + C sin x,   A = (a . n)(n . d),   B = a . d - A,   C = a . (n x d)
//
// which is a . target at x = atan2(C, B) +- acos((a . target - A)/sqrt(B^2 + C^2)). One joint that compensates is where a
// sum of absolute values has its minimum more often than not. Then the first joint turns d to the target, and a twister at
// the end turns the rest.

#define LEAST_LEVER 1e-9 // a joint that moves the end's direction by less has no say in it
#define COMPENSATED 1e-6 // cosine: nothing is left for a second joint
#define MOST_UNITS  6    // 64 patterns; chains with more swings mirror runs, with more runs nothing

// What a pattern is made of: swings, or runs, whose mirror image differs.
typedef struct units {
    int count;
    int first[MOST_UNITS], last[MOST_UNITS]; // links
} units;

typedef struct pattern {
    unsigned bits;
    bool by_two; // two joints compensate
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

// Keep the best few, one of each pattern and compensating joint.
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
    double angles[3] = {made->root, made->angle, made->second_angle}, was[6] = {0};
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
static bool compensating_angles(const poise_expressive *e, const pattern *p, int j, vec3 n, vec3 d, double angles[2])
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

// May joint j compensate? Not the first one, and not a twister at the end, which are set by what is left.
static bool may_compensate(const pz_chain *chain, int j)
{
    return j > 0 && (j < chain->count - 1 || is_swing(&chain->links[j]));
}

// A second joint compensates for what the first, which has turned by `turn` about n, could not.
static void compensate_by_second(poise_expressive *e, const pattern *p, pz_candidate made, const mat3 *Q, vec3 n,
                                 double turn)
{
    const pz_chain *chain = &e->erik->chain;
    double s, c, angles[2];
    pz_sincos(turn, &s, &c);
    for (int j = 1; j < chain->count; ++j) {
        if (!may_compensate(chain, j) || j == made.joint) {
            continue;
        }
        vec3 axis = pz_link_axis(&chain->links[j], &p->pose->Q[j]);
        axis = j > made.joint ? pz_rotate_about(n, s, c, axis) : axis;
        if (!compensating_angles(e, p, j, axis, Q->y, angles)) {
            continue;
        }
        for (int i = 0; i < 2; ++i) {
            made.second = j;
            made.second_angle = angles[i];
            complete(e, p, made, turned(Q, axis, angles[i] - p->pose->theta[j]));
        }
    }
}

// Does the first joint alone cost as much as the candidates that were found?
static bool costs_too_much(const poise_expressive *e, const pattern *p, pz_candidate made)
{
    made.root = p->pose->theta[0];
    return e->found_count == e->options.searches && posture_with(e, &made) >= e->found[e->found_count - 1].score;
}

// Joint j compensates for what the first cannot do.
static void compensate_by(poise_expressive *e, const pattern *p, int j)
{
    const pz_chain *chain = &e->erik->chain;
    const mat3 *Q = &p->pose->Q[chain->count];
    vec3 n = pz_link_axis(&chain->links[j], &p->pose->Q[j]);
    double angles[2];
    if (!compensating_angles(e, p, j, n, Q->y, angles)) {
        return;
    }
    for (int i = 0; i < 2; ++i) {
        double turn = angles[i] - p->pose->theta[j];
        pz_candidate made = {.joint = j, .second = -1, .angle = angles[i]};
        mat3 after = turned(Q, n, turn);
        if (!p->by_two) {
            complete(e, p, made, after);
        } else if (fabs(v3_dot(p->a, after.y) - v3_dot(p->a, e->erik->tau.y)) > COMPENSATED && !costs_too_much(e, p, made)) {
            compensate_by_second(e, p, made, &after, n, turn);
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

// One joint compensates for what is left; where that costs too much, two.
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
                if (may_compensate(chain, j)) {
                    compensate_by(e, &p, j);
                }
            }
        }
    }
}

// Without an orientation of the end: patterns as they are, by the goals. sqrt(2 f) is an angle where goals are one.
static void find_other(poise_expressive *e, const units *u)
{
    poise_method_run *s = e->run;
    int n = e->erik->chain.count;
    for (unsigned bits = 0; bits < 1u << u->count; ++bits) {
        begin_pattern(e, u, bits);
        pz_candidate made = {.pattern = bits, .joint = -1, .second = -1, .root = e->theta[0], .end = e->theta[n - 1]};
        pz_expressive_place(e, &made, e->q_trial);
        double cost = s->call->evaluate(s, e->q_trial, POISE_LEVEL_COST),
               angle = is_finite(cost) ? sqrt(2.0 * cost) : INFINITY;
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
        e->theta[candidate->joint] = candidate->angle;
    }
    if (candidate->second >= 0) {
        e->theta[candidate->second] = candidate->second_angle;
    }
    e->theta[0] = candidate->root;
    if (chain->links[chain->count - 1].kind == PZ_LINK_TWISTER && chain->count > 1) {
        e->theta[chain->count - 1] = candidate->end;
    }
    for (int k = 0; k < chain->count; ++k) {
        q[chain->links[k].q] = e->theta[k];
    }
}
