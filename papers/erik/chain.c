// The chain: from a model to links, the model of one joint, and the angles whose segments go through given positions.
#include "papers/erik/erik.h"

#include "base/error.h"

#include <string.h>

#define SNAP     1e-12 // a direction this near to an axis of its frame is meant to be that axis
#define ALONG    1e-6  // sine of the angle up to which two directions count as one
#define SHORTEST 1e-12 // a segment below this share of the longest has no direction of its own

// ---- Which joints --------------------------------------------------------------------------------------------------------

// quat_normalize, but for quaternions that are unit to rounding, which stay as they are, as those of a model do.
static quat unit_quat(quat q)
{
    double square = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
    return fabs(square - 1.0) <= 8.0 * PZ_EPSILON ? q : quat_normalize(q);
}

static int end_body(const poise_model *model, const poise_erik_options *options)
{
    return options->body == POISE_NONE ? poise_model_info(model).joints - 1 : options->body;
}

static bool is_hinge(const poise_model *model, int k)
{
    return poise_model_joint_info(model, k).type == POISE_JOINT_REVOLUTE;
}

int pz_chain_measure(const poise_model *model, const poise_erik_options *options, poise_error *error)
{
    if (options->body != POISE_NONE && (options->body < 0 || options->body >= poise_model_info(model).joints)) {
        pz_error_set(error, POISE_ERROR_ARGUMENT, "there is no body %d", options->body);
        return 0;
    }
    int count = 0;
    for (int k = end_body(model, options); k != POISE_WORLD; k = poise_model_joint_info(model, k).parent) {
        poise_joint_info joint = poise_model_joint_info(model, k);
        if (joint.mimic != POISE_NONE) {
            pz_error_set(error, POISE_ERROR_UNSUPPORTED,
                         "joint \"%s\": is a mimic joint, but ERIK sets each joint independently", joint.name);
            return 0;
        }
        if (joint.type != POISE_JOINT_REVOLUTE && joint.type != POISE_JOINT_FIXED) {
            pz_error_set(error, POISE_ERROR_UNSUPPORTED,
                         "joint \"%s\": is %s, but ERIK supports only chains of revolute joints", joint.name,
                         poise_joint_type_name(joint.type));
            return 0;
        }
        count += is_hinge(model, k);
    }
    if (count == 0) {
        pz_error_set(error, POISE_ERROR_UNSUPPORTED, "no joint between the root and the end can move");
    }
    return count;
}

// ---- Frames --------------------------------------------------------------------------------------------------------------

// The shortest turn that takes y to the unit vector v.
//   with n = y x v, c = y . v:  I + [n]x + [n]x^2 / (1 + c);  half a turn about x for v = -y
static mat3 arc_from_y(vec3 v)
{
    if (fabs(v.x) <= SNAP && fabs(v.z) <= SNAP) {
        return v.y > 0.0 ? m3_identity() : (mat3){{1, 0, 0}, {0, -1, 0}, {0, 0, -1}};
    }
    double s = v3_norm(v3(v.z, 0.0, v.x)), c = v.y;
    vec3 n = v3(v.z / s, 0.0, -v.x / s);
    return (mat3){pz_rotate_about(n, s, c, v3(1, 0, 0)), pz_rotate_about(n, s, c, v3(0, 1, 0)),
                  pz_rotate_about(n, s, c, v3(0, 0, 1))};
}

// A unit vector whose components that are rounding are 0.
static vec3 snap(vec3 v)
{
    return v3_normalize(v3(fabs(v.x) <= SNAP ? 0.0 : v.x, fabs(v.y) <= SNAP ? 0.0 : v.y, fabs(v.z) <= SNAP ? 0.0 : v.z));
}

// What the model says, before frames are chosen. C of a link is the turn from the body of the hinge before to the frame of
// this one at rest, S the way from this hinge to the next in the frame of its body, R the axis in the same; E is the turn
// from the last body to the end. Parents come first, so the joints above the end are met in order.
static void read_model(const poise_model *model, const poise_erik_options *options, pz_chain *chain)
{
    int end = end_body(model, options), n = 0;
    mat3 turn = m3_identity();
    vec3 way = v3(0, 0, 0);
    for (int k = 0; k <= end + 1; ++k) {
        poise_joint_info joint = poise_model_joint_info(model, k);
        if (k <= end && end >= k + joint.subtree) { // not above the end
            continue;
        }
        poise_pose offset = k <= end ? joint.given->offset : options->tip;
        mat3 own = quat_matrix(unit_quat(offset.rotation));
        way = v3_add(way, m3_apply(&turn, offset.position));
        turn = m3_mul(&turn, &own);
        if (k <= end && !is_hinge(model, k)) {
            continue;
        }
        if (n > 0) {
            chain->links[n - 1].S = way;
        }
        if (k > end) {
            break;
        }
        chain->links[n++] = (pz_link){.R = v3_normalize(joint.given->axis), .C = turn, .joint = k, .q = joint.q};
        turn = m3_identity();
        way = v3(0, 0, 0);
    }
    chain->E = turn;
}

// ---- Segments ------------------------------------------------------------------------------------------------------------

static bool is_zero(vec3 v)
{
    return v3_dot(v, v) == 0.0;
}

// Ways to directions. A segment without length continues the one before, at rest; the first ones, before any length, go
// where the first one with a length goes; without any the chain goes along y of its end.
static void set_directions(pz_chain *chain)
{
    pz_link *links = chain->links;
    int n = chain->count, first = 0;
    double longest = 0.0;
    for (int k = 0; k < n; ++k) {
        longest = max2(longest, v3_norm(links[k].S));
    }
    for (int k = 0; k < n; ++k) {
        links[k].S = v3_norm(links[k].S) > SHORTEST * longest ? v3_normalize(links[k].S) : v3(0, 0, 0);
    }
    while (first < n - 1 && is_zero(links[first].S)) {
        first += 1;
    }
    links[first].S = is_zero(links[first].S) ? chain->E.y : links[first].S;
    for (int k = first; k > 0; --k) {
        links[k - 1].S = m3_apply(&links[k].C, links[k].S);
    }
    for (int k = first + 1; k < n; ++k) {
        links[k].S = is_zero(links[k].S) ? m3_apply_transposed(&links[k].C, links[k - 1].S) : links[k].S;
    }
}

// ---- Links ---------------------------------------------------------------------------------------------------------------

static void set_limits(const poise_model *model, pz_link *link)
{
    double lower = poise_model_info(model).lower[link->q], upper = poise_model_info(model).upper[link->q];
    link->lower = lower;
    link->upper = upper;
    if (is_finite(lower) && is_finite(upper)) {
        link->center = 0.5 * lower + 0.5 * upper;
    } else if (is_finite(lower)) {
        link->center = max2(0.0, lower + PZ_PI);
    } else {
        link->center = is_finite(upper) ? min2(0.0, upper - PZ_PI) : 0.0;
    }
}

// With P = y:  u(theta) . P = (R . S)(R . P) + (S . P - (R . S)(R . P)) cos theta + (R x S) . P sin theta
static void set_latitude(pz_link *link)
{
    vec3 R = link->R, S = link->S;
    bool is_straight = S.y == 1.0;
    link->A = v3_dot(R, S) * R.y;
    link->B = is_straight ? 1.0 - link->A : S.y - link->A;
    link->C_sine = is_straight ? 0.0 : v3_cross(R, S).y;
    link->h = is_straight ? link->B : sqrt(link->B * link->B + link->C_sine * link->C_sine);
    link->theta0 = pz_atan2(link->C_sine, link->B);
    link->top = is_straight ? 0.0 : link->A + link->h - 1.0;
    link->bottom = link->A - link->h + 1.0;
}

static void classify(pz_link *link)
{
    vec3 R = link->R;
    link->sign = v3_dot(R, link->S) < 0.0 ? -1.0 : 1.0;
    link->kind = v3_norm(v3_cross(R, link->S)) <= ALONG       ? PZ_LINK_TWISTER
                 : v3_norm(v3_cross(R, v3(0, 1, 0))) <= ALONG ? PZ_LINK_PAN
                                                              : PZ_LINK_SWING;
    link->axis = R.x == 1.0 ? PZ_AXIS_X : R.y == 1.0 ? PZ_AXIS_Y : R.z == 1.0 ? PZ_AXIS_Z : PZ_AXIS_ANY;
}

// a^i / sum a^i over swings, i = 0, 1, .. (eq. 21 and 22, with one counter for both). Powers go down from the largest, so
// that none overflows.
static void set_weights(double aggravation, pz_chain *chain)
{
    double power = 1.0, sum = 0.0, ratio = aggravation > 1.0 ? 1.0 / aggravation : aggravation;
    for (int i = 0; i < chain->count; ++i) {
        pz_link *link = &chain->links[aggravation > 1.0 ? chain->count - 1 - i : i];
        link->weight = link->kind == PZ_LINK_TWISTER ? 0.0 : power;
        sum += link->weight;
        power *= link->kind == PZ_LINK_TWISTER ? 1.0 : ratio;
    }
    for (int k = 0; k < chain->count && sum > 0.0; ++k) {
        chain->links[k].weight /= sum;
    }
}

// With A_k the turn that lines y of frame k up with the segment before, in the frame of the hinge, and F_k the turn from
// the body before to the hinge:
//
//   R_k = A_k^T axis,   S_k = A_k^T segment,   C_k = A_k^T F_k+1 A_k+1,   Q_0 = F_0 A_0
void pz_chain_build(const poise_model *model, const poise_erik_options *options, pz_chain *chain)
{
    pz_link *links = chain->links;
    int n = chain->count;
    read_model(model, options, chain);
    set_directions(chain);
    vec3 before = m3_apply(&links[0].C, links[0].S); // segment k - 1 in the frame of its body; the root continues itself
    mat3 A_before = m3_identity();
    for (int k = 0; k < n; ++k) {
        pz_link *link = &links[k];
        mat3 A = arc_from_y(snap(m3_apply_transposed(&link->C, before))), FA = m3_mul(&link->C, &A);
        before = link->S;
        link->R = snap(m3_apply_transposed(&A, link->R));
        link->S = snap(m3_apply_transposed(&A, link->S));
        set_limits(model, link);
        set_latitude(link);
        classify(link);
        mat3 back = m3_transpose(&A_before), C = m3_mul(&back, &FA);
        *(k == 0 ? &chain->base : &links[k - 1].C) = C;
        A_before = A;
    }
    links[n - 1].C = arc_from_y(links[n - 1].S);
    mat3 AC = m3_mul(&A_before, &links[n - 1].C), back = m3_transpose(&AC);
    chain->E = m3_mul(&back, &chain->E);
    for (int k = 0; k < n; ++k) {
        const mat3 *C = &links[k].C;
        links[k].C_is_identity = C->x.x == 1.0 && C->y.y == 1.0 && C->z.z == 1.0;
    }
    set_weights(options->aggravation, chain);
}

// ---- Poses ---------------------------------------------------------------------------------------------------------------

pz_chain_pose pz_chain_pose_lay_out(int count, pz_arena *arena)
{
    size_t n = (size_t)count;
    pz_chain_pose pose;
    pose.theta = pz_arena_take(arena, n, sizeof *pose.theta);
    pose.sine = pz_arena_take(arena, n, sizeof *pose.sine);
    pose.cosine = pz_arena_take(arena, n, sizeof *pose.cosine);
    pose.Q = pz_arena_take(arena, n + 1, sizeof *pose.Q);
    return pose;
}

void pz_chain_set(const pz_chain *chain, const double *theta, pz_chain_pose *pose)
{
    for (int k = 0; k < chain->count; ++k) {
        pz_set_angle(pose, k, theta[k]);
    }
    pose->Q[0] = chain->base;
    pz_chain_forward(chain, 0, pose);
}

// ---- The model of one joint ----------------------------------------------------------------------------------------------
//
// Which angle points its segment where, and which angle it may take instead.

#define AT_LIMIT 1e-9 // radians: nearer than this is at the limit; rounding of a few turns is far below

// Latitude (Ribeiro & Paiva 2019, section 3.4). A target t has the latitude lambda = (t . P + 1)/2 and lies in the
// hemisphere sigma = sign(t . (R x P)), 0 counting as +. The paper tabulates lambda over the joint's angle. There is a
// closed form: with u(a) = rot(R, a) S, theta0 = atan2((R x S) . P, S . P - A), A = (R . S)(R . P),
//
//   u . P       = A + h cos(a - theta0)                h^2 = (S . P - A)^2 + ((R x S) . P)^2
//   u . (R x P) =     h sin(a - theta0)                since (R x S) . (R x P) = S . P - A
//
// so that the angle in the hemisphere sigma with the latitude of t is
//
//   a = theta0 + sigma beta,    beta = acos((t . P - A)/h)
//     = theta0 + sigma atan2(sqrt((h + A - t . P)(h - A + t . P)), t . P - A)
//
// The two factors are built from 1 - t . P = |t - P|^2/2 and 1 + t . P = |t + P|^2/2, which keep their digits at the poles;
// a latitude beyond the joint's gives the nearest.
void pz_latitude_angles(const pz_link *link, vec3 t, double angle[2])
{
    if (link->kind != PZ_LINK_SWING) {
        // one latitude only: aim as near as it gets
        double a;
        bool has_angle = pz_angle_about(link->R, link->S, t, &a);
        angle[0] = angle[1] = has_angle ? a : 0.0;
        return;
    }
    double across = t.x * t.x + t.z * t.z, low = 1.0 - t.y, high = 1.0 + t.y;
    double from_top = link->top + 0.5 * (across + low * low), from_bottom = 0.5 * (across + high * high) - link->bottom;
    double beta = pz_atan2(sqrt(max2(from_top, 0.0) * max2(from_bottom, 0.0)), t.y - link->A);
    double hemisphere = t.x * -link->R.z + t.z * link->R.x; // t . (R x y)
    beta = hemisphere < 0.0 ? -beta : beta;
    angle[0] = link->theta0 + beta;
    angle[1] = link->theta0 - beta;
}

// ---- Limits --------------------------------------------------------------------------------------------------------------

double pz_near_center(const pz_link *link, double angle)
{
    double turns = (angle - link->center) / PZ_TWO_PI;
    if (fabs(turns) < 0.5) {
        return angle;
    }
    if (fabs(turns) > 1e15) {
        return link->center; // what is left of such an angle is not an angle
    }
    double whole = (double)(int64_t)(turns < 0.0 ? turns - 0.5 : turns + 0.5);
    return angle - PZ_TWO_PI * whole;
}

double pz_limit_angle(const pz_link *link, double angle)
{
    return clamp(pz_near_center(link, angle), link->lower, link->upper);
}

static bool is_within(const pz_link *link, double angle)
{
    return angle >= link->lower && angle <= link->upper;
}

double pz_limit_twist(const pz_link *link, double angle, bool half_turns)
{
    double a = pz_near_center(link, angle);
    if (is_within(link, a)) {
        return a;
    }
    double b = pz_near_center(link, a < link->center ? a + PZ_PI : a - PZ_PI);
    return half_turns && is_within(link, b) ? b : clamp(a, link->lower, link->upper);
}

double pz_limit_end_twist(const pz_link *link, double angle, bool half_turns)
{
    double a = pz_near_center(link, angle);
    if (half_turns) {
        double b = a < link->center ? a + PZ_PI : a - PZ_PI;
        a = fabs(b - link->center) < fabs(a - link->center) ? b : a;
    }
    return pz_limit_twist(link, a, half_turns);
}

double pz_avoid_edge(const pz_link *link, double angle, double disturbance)
{
    double inwards = min2(disturbance, 0.5 * (link->upper - link->lower));
    if (angle <= link->lower + AT_LIMIT) {
        return min2(link->lower + inwards, link->upper);
    }
    if (angle >= link->upper - AT_LIMIT) {
        return max2(link->upper - inwards, link->lower);
    }
    return angle;
}

// ---- Twists --------------------------------------------------------------------------------------------------------------

double pz_twist_to(const mat3 *from, const mat3 *to)
{
    bool by_x = fabs(v3_dot(to->x, from->y)) < fabs(v3_dot(to->z, from->y));
    double angle;
    bool has_angle = pz_angle_about(from->y, by_x ? from->x : from->z, by_x ? to->x : to->z, &angle);
    return has_angle ? angle : 0.0;
}

// With q the quaternion of M = from^T to:  tan(twist) = 2 w y/(w^2 - y^2) = (M_xz - M_zx)/(M_xx + M_zz), which is yaw +
// roll of M = R_y(yaw) R_x(pitch) R_y(roll).
double pz_twist_between(const mat3 *from, const mat3 *to)
{
    double s = v3_dot(from->x, to->z) - v3_dot(from->z, to->x), c = v3_dot(from->x, to->x) + v3_dot(from->z, to->z);
    return s * s + c * c < PZ_NO_DIRECTION ? 0.0 : pz_atan2(s, c);
}

// ---- A posture from positions --------------------------------------------------------------------------------------------
//
// The angles whose segments point as those between the positions do.
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
static void bend_start(const pz_chain *chain, int number, pz_chain_pose *pose)
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
        bend_start(chain, number, pose);
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
