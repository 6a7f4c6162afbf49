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
#include "motion/express/nutty_filter.h"

#include "num/real.h"
#include "num/trig.h"

#define PI 3.14159265358979323846

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

void pz_nutty_step(const poise_filter_joint *joint, double setpoint, double dt, double *x, double *velocity,
                   double *acceleration)
{
    double v = slowed(joint, (setpoint - *x) / dt, *x), size = fabs(v) / (1.0 - joint->responsiveness);
    double command = size > 0.0 ? v * 0.5 * (tanh_of(pz_power(size, 1.0 - joint->smoothness) - PI) + 1.0) : 0.0;
    double j = bounded(((command - *velocity) / dt - *acceleration) / dt, joint->jerk);
    double a = bounded(*acceleration + j * dt, joint->acceleration);
    double next = bounded(*velocity + a * dt, joint->velocity);
    double to = clamp(*x + next * dt, joint->lower, joint->upper);
    *acceleration = (next - *velocity) / dt;
    *velocity = next;
    *x = to;
}
