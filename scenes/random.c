// Random numbers for tests and benchmarks.
#include "random.h"

#include <math.h>

#define PI 3.14159265358979323846

scene_random scene_random_make(uint64_t seed)
{
    return (scene_random){seed};
}

uint64_t scene_random_bits(scene_random *random)
{
    random->state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = random->state;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

double scene_random_uniform(scene_random *random)
{
    return (double)(scene_random_bits(random) >> 11) * 0x1p-53;
}

double scene_random_range(scene_random *random, double low, double high)
{
    // both products are rounded, so the sum can pass an end by a bit
    double u = scene_random_uniform(random);
    double x = low * (1.0 - u) + high * u;
    return x < low ? low : x > high ? high : x;
}

int scene_random_index(scene_random *random, int count)
{
    return (int)(scene_random_uniform(random) * count); // count < 2^31, so the bias is below 2^-22
}

double scene_random_normal(scene_random *random)
{
    double sum = -6.0;
    for (int i = 0; i < 12; ++i) {
        sum += scene_random_uniform(random);
    }
    return sum;
}

// Points of the cube that fall outside the ball are drawn again; so are those near 0, where a quotient would lose digits.
poise_vec3 scene_random_direction(scene_random *random)
{
    for (;;) {
        double x = scene_random_range(random, -1, 1);
        double y = scene_random_range(random, -1, 1);
        double z = scene_random_range(random, -1, 1);
        double n = x * x + y * y + z * z;
        if (n <= 1.0 && n >= 1e-4) {
            double s = 1.0 / sqrt(n);
            return poise_vec3_make(s * x, s * y, s * z);
        }
    }
}

poise_quat scene_random_rotation(scene_random *random)
{
    for (;;) {
        double x = scene_random_range(random, -1, 1);
        double y = scene_random_range(random, -1, 1);
        double z = scene_random_range(random, -1, 1);
        double w = scene_random_range(random, -1, 1);
        double n = x * x + y * y + z * z + w * w;
        if (n <= 1.0 && n >= 1e-4) {
            double s = 1.0 / sqrt(n);
            return (poise_quat){s * x, s * y, s * z, s * w};
        }
    }
}

// One number between its limits, or within +-range where there are none.
static double between(scene_random *random, double lower, double upper, double range)
{
    double low = isfinite(lower) ? lower : isfinite(upper) ? upper - 2.0 * range : -range;
    double high = isfinite(upper) ? upper : low + 2.0 * range;
    return scene_random_range(random, low, high);
}

static void write_quat(scene_random *random, double *q)
{
    poise_quat r = scene_random_rotation(random);
    q[0] = r.x, q[1] = r.y, q[2] = r.z, q[3] = r.w;
}

// A rotation vector: in the box of its limits, or, where one of them is missing, in the ball of radius pi.
static void write_expmap(scene_random *random, const double *lower, const double *upper, double *q)
{
    bool boxed = true;
    for (int i = 0; i < 3; ++i) {
        boxed = boxed && isfinite(lower[i]) && isfinite(upper[i]);
    }
    poise_vec3 d = scene_random_direction(random);
    double angle = scene_random_range(random, 0, PI);
    double v[3] = {angle * d.x, angle * d.y, angle * d.z};
    for (int i = 0; i < 3; ++i) {
        double x = boxed ? scene_random_range(random, lower[i], upper[i]) : v[i];
        q[i] = x < lower[i] ? lower[i] : x > upper[i] ? upper[i] : x;
    }
}

static void write_swing_twist(scene_random *random, const double half_axes[2], const double *lower, const double *upper,
                              double *q)
{
    double a, b, radius;
    do {
        q[0] = between(random, lower[0], upper[0], PI);
        q[1] = between(random, lower[1], upper[1], PI);
        a = q[0] / half_axes[0]; // 0 where there is no ellipse
        b = q[1] / half_axes[1];
        radius = sqrt(q[0] * q[0] + q[1] * q[1]);
    } while (a * a + b * b > 1.0 || radius >= PI);
    q[2] = between(random, lower[2], upper[2], PI);
}

void scene_random_configuration(scene_random *random, const poise_model *model, double *q)
{
    const double *lower = poise_model_info(model).lower, *upper = poise_model_info(model).upper;
    for (int j = 0; j < poise_model_info(model).joints; ++j) {
        int count = 0;
        int at = poise_model_joint_info(model, j).q;
        count = poise_model_joint_info(model, j).nq;
        if (count == 0) {
            continue;
        }
        poise_joint_type type = poise_model_joint_info(model, j).type;
        bool slides = type == POISE_JOINT_PRISMATIC || type == POISE_JOINT_TRANSLATION || type == POISE_JOINT_PLANAR ||
                      type == POISE_JOINT_FREE || type == POISE_JOINT_FREE_EXPMAP || type == POISE_JOINT_FREE_EULER;
        int lengths = !slides ? 0 : type == POISE_JOINT_PLANAR ? 2 : count < 3 ? count : 3;
        for (int i = 0; i < count; ++i) {
            q[at + i] = between(random, lower[at + i], upper[at + i], i < lengths ? 1.0 : PI);
        }
        int turn = at + lengths; // where the rotation's numbers begin
        if (type == POISE_JOINT_BALL_QUATERNION || type == POISE_JOINT_FREE) {
            write_quat(random, q + turn);
        } else if (type == POISE_JOINT_BALL_EXPMAP || type == POISE_JOINT_FREE_EXPMAP) {
            write_expmap(random, lower + turn, upper + turn, q + turn);
        } else if (type == POISE_JOINT_SWING_TWIST) {
            poise_joint joint = *poise_model_joint_info(model, j).given;
            write_swing_twist(random, joint.swing, lower + at, upper + at, q + at);
        }
    }
}
