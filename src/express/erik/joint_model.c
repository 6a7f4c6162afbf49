// The model of one joint: which angle points its segment where, and which angle it may take instead.
#include "express/erik/chain.h"

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
