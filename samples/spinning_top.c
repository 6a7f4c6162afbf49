// A top that spins and precesses, integrated as an exponential map: v' = v'(v, omega) of Grassia, "Practical
// Parameterization of Rotations Using the Exponential Map" (1998), with his dynamic reparameterisation on the way.
//
//   orientation       R(t) = R_z(P t) R_x(tilt) R_z(S t)             P precession, S spin
//   angular velocity  omega(t) = P z + S R(t) z                      in the world: all that the integrator is told
//   state             v with R = exp(v), |v| <= pi; a step of Runge and Kutta (fourth order) by poise_expmap_rate
//
// The map is singular at |v| = 2 pi. When a step ends beyond pi, poise_expmap_make replaces v by (1 - 2 pi/|v|) v, which is
// the same rotation. The program compares the result with R(t) and exits with 0 when both agree and v was replaced at
// least once.
#include <poise/poise.h>

#include <math.h>
#include <stdio.h>

#define PI         3.14159265358979323846
#define PRECESSION 0.7
#define SPIN       5.0
#define TILT       0.4
#define SECONDS    10.0
#define STEPS      4000

// R_z(a) R_x(b) R_z(c)
static poise_quat orientation(double a, double b, double c)
{
    poise_quat z1 = {0, 0, sin(a / 2), cos(a / 2)}, x = {sin(b / 2), 0, 0, cos(b / 2)}, z2 = {0, 0, sin(c / 2), cos(c / 2)};
    return poise_quat_multiply(poise_quat_multiply(z1, x), z2);
}

static poise_quat exact(double t)
{
    return orientation(PRECESSION * t, TILT, SPIN * t);
}

// The axis of the top is R_z(P t) R_x(tilt) z.
static poise_vec3 angular_velocity(double t)
{
    double a = PRECESSION * t;
    return poise_vec3_make(SPIN * sin(TILT) * sin(a), -SPIN * sin(TILT) * cos(a), PRECESSION + SPIN * cos(TILT));
}

// x + h y
static poise_vec3 add(poise_vec3 x, double h, poise_vec3 y)
{
    return poise_vec3_make(x.x + h * y.x, x.y + h * y.y, x.z + h * y.z);
}

// v' at v. A stage of a step may lie beyond pi, where the map holds the short form u = (1 - 2 pi/|v|) v. Since
// v = (1 - 2 pi/|u|) u, its rate is
//
//   v' = (1 - 2 pi/|u|) u' + 2 pi (u . u')/|u|^3 u
static poise_vec3 rate(poise_vec3 v, double t)
{
    poise_expmap map;
    if (poise_expmap_make(v, &map, NULL) != POISE_OK) {
        return poise_vec3_make(NAN, NAN, NAN);
    }
    poise_vec3 u = map.v, du = poise_expmap_rate(&map, angular_velocity(t)), zero = {0, 0, 0};
    if (!map.reparameterised) {
        return du;
    }
    double along = (u.x * du.x + u.y * du.y + u.z * du.z) / (map.theta * map.theta * map.theta);
    return add(add(zero, 1 - 2 * PI / map.theta, du), 2 * PI * along, u);
}

static poise_vec3 step(poise_vec3 v, double t, double h)
{
    poise_vec3 a = rate(v, t);
    poise_vec3 b = rate(add(v, h / 2, a), t + h / 2);
    poise_vec3 c = rate(add(v, h / 2, b), t + h / 2);
    poise_vec3 d = rate(add(v, h, c), t + h);
    return add(add(add(add(v, h / 6, a), h / 3, b), h / 3, c), h / 6, d);
}

// The angle between two orientations: |p - q| = 2 sin(angle/4) for the nearer sign of q.
static double angle_between(poise_quat p, poise_quat q)
{
    double sign = p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w < 0 ? -1 : 1;
    double x = p.x - sign * q.x, y = p.y - sign * q.y, z = p.z - sign * q.z, w = p.w - sign * q.w;
    return 4 * asin(sqrt(x * x + y * y + z * z + w * w) / 2);
}

int main(void)
{
    poise_vec3 v = poise_expmap_from_quat(exact(0));
    double h = SECONDS / STEPS, worst = 0, longest = 0;
    int replaced = 0;
    printf("     time   |v|     error\n");
    for (int k = 1; k <= STEPS; ++k) {
        poise_expmap map;
        if (poise_expmap_make(step(v, (k - 1) * h, h), &map, NULL) != POISE_OK) {
            return 1;
        }
        double error = angle_between(map.q, exact(k * h));
        v = map.v;
        replaced += map.reparameterised;
        longest = fmax(longest, map.theta);
        worst = fmax(worst, error);
        if (map.reparameterised || k % (STEPS / 10) == 0) {
            printf("%7.4f s  %.3f  %.1e%s\n", k * h, map.theta, error, map.reparameterised ? "  reparameterised" : "");
        }
    }
    printf("%d steps, %d times reparameterised, |v| at most %.4f, largest error %.1e rad\n", STEPS, replaced, longest,
           worst);
    return worst <= 1e-9 && replaced > 0 && longest <= PI ? 0 : 1;
}
