#include "erik_sets.h"

#define PI 3.14159265358979323846

static int common_divisor(int a, int b)
{
    while (b != 0) {
        int rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

// The Moebius function.
static int moebius(int n)
{
    int sign = 1;
    for (int p = 2; p <= n; ++p) {
        if (n % p == 0) {
            n /= p;
            if (n % p == 0) {
                return 0;
            }
            sign = -sign;
        }
    }
    return sign;
}

int64_t evaluate_grid_count(int dimensions, int finest)
{
    int64_t count = 0;
    for (int q = 1; q <= finest; ++q) {
        for (int g = 1; g <= q; ++g) {
            if (q % g != 0) {
                continue;
            }
            int64_t points = 1;
            for (int i = 0; i < dimensions; ++i) {
                points *= q / g + 1;
            }
            count += moebius(g) * points;
        }
    }
    return count;
}

// A point of the grid q is in a coarser one when its numerators and q share a divisor.
static bool is_new(const unsigned char *point, int dimensions, int q)
{
    int divisor = q;
    for (int i = 0; i < dimensions; ++i) {
        divisor = common_divisor(divisor, point[i]);
    }
    return divisor == 1;
}

// The next point of the grid q as the digits of a number; false after the last.
static bool advance(unsigned char *point, int dimensions, int q)
{
    for (int i = dimensions - 1; i >= 0; --i) {
        if (point[i] < q) {
            point[i] = (unsigned char)(point[i] + 1);
            return true;
        }
        point[i] = 0;
    }
    return false;
}

void evaluate_grid_points(int dimensions, int finest, unsigned char *points, unsigned char *denominators)
{
    for (int q = 1; q <= finest; ++q) {
        unsigned char point[EVALUATE_MOST_DIMENSIONS] = {0};
        do {
            if (is_new(point, dimensions, q)) {
                for (int i = 0; i < dimensions; ++i) {
                    *points++ = point[i];
                }
                *denominators++ = (unsigned char)q;
            }
        } while (advance(point, dimensions, q));
    }
}

poise_quat evaluate_orientation(evaluate_angles angles, const unsigned char point[3], int denominator)
{
    double a[3];
    for (int i = 0; i < 3; ++i) {
        a[i] = PI * (2.0 * point[i] / denominator - 1.0);
    }
    poise_quat yaw = poise_quat_from_axis_angle(poise_vec3_make(0, 1, 0), a[0]);
    poise_quat pitch = poise_quat_from_axis_angle(poise_vec3_make(1, 0, 0), a[1]);
    poise_vec3 roll_axis = angles == EVALUATE_YXZ ? poise_vec3_make(0, 0, 1) : poise_vec3_make(0, 1, 0);
    poise_quat roll = poise_quat_from_axis_angle(roll_axis, a[2]);
    return poise_quat_multiply(poise_quat_multiply(yaw, pitch), roll);
}
