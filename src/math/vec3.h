// Three-vectors. Everything is small enough to be inline; names are bare because formulas are made of them.
#ifndef PZ_MATH_VEC3_H
#define PZ_MATH_VEC3_H

#include <poise/math.h>

#include "math/scalar.h"

typedef poise_vec3 vec3;

static inline vec3 v3(double x, double y, double z)
{
    return (vec3){x, y, z};
}

static inline vec3 v3_add(vec3 a, vec3 b)
{
    return v3(a.x + b.x, a.y + b.y, a.z + b.z);
}

static inline vec3 v3_sub(vec3 a, vec3 b)
{
    return v3(a.x - b.x, a.y - b.y, a.z - b.z);
}

static inline vec3 v3_neg(vec3 a)
{
    return v3(-a.x, -a.y, -a.z);
}

static inline vec3 v3_scale(vec3 a, double s)
{
    return v3(a.x * s, a.y * s, a.z * s);
}

// a + s b
static inline vec3 v3_mad(vec3 a, double s, vec3 b)
{
    return v3(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
}

// s a + t b
static inline vec3 v3_combine(double s, vec3 a, double t, vec3 b)
{
    return v3(s * a.x + t * b.x, s * a.y + t * b.y, s * a.z + t * b.z);
}

static inline double v3_dot(vec3 a, vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline vec3 v3_cross(vec3 a, vec3 b)
{
    return v3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

static inline double v3_norm(vec3 a)
{
    return sqrt(v3_dot(a, a));
}

static inline bool v3_is_finite(vec3 a)
{
    return is_finite(a.x) && is_finite(a.y) && is_finite(a.z);
}

// a / |a|, safe against overflow and underflow of the squares; the zero vector stays zero.
static inline vec3 v3_normalize(vec3 a)
{
    double largest = max2(fabs(a.x), max2(fabs(a.y), fabs(a.z)));
    if (!(largest > 0.0)) {
        return v3(0.0, 0.0, 0.0);
    }
    vec3 b = v3(a.x / largest, a.y / largest, a.z / largest);
    double n = v3_norm(b);
    return v3(b.x / n, b.y / n, b.z / n);
}

#endif
