// Motions and wrenches of reals (real.h), as math/spatial.h explains them; with the width 1 they are those.
#ifndef PZ_SIMD_LANE_MOTION_H
#define PZ_SIMD_LANE_MOTION_H

#include "simd/real3.h"

#if REAL_WIDTH == 1
typedef spatial real_motion;
typedef wrench real_wrench;
#else
typedef struct real_motion {
    real3 w, v;
} real_motion;

typedef struct real_wrench {
    real3 n, f;
} real_wrench;
#endif

REAL_FN real_motion real_motion_zero(void)
{
    return (real_motion){real3_zero(), real3_zero()};
}

// a + s b
REAL_FN real_motion real_motion_mad(real_motion a, real s, real_motion b)
{
    return (real_motion){real3_mad(a.w, s, b.w), real3_mad(a.v, s, b.v)};
}

REAL_FN real_motion real_motion_cross(real_motion a, real_motion b)
{
    return (real_motion){real3_cross(a.w, b.w), real3_add(real3_cross(a.w, b.v), real3_cross(a.v, b.w))};
}

REAL_FN real_wrench real_wrench_zero(void)
{
    return (real_wrench){real3_zero(), real3_zero()};
}

REAL_FN real_wrench real_wrench_add(real_wrench a, real_wrench b)
{
    return (real_wrench){real3_add(a.n, b.n), real3_add(a.f, b.f)};
}

// a + s b
REAL_FN real_wrench real_wrench_mad(real_wrench a, real s, real_wrench b)
{
    return (real_wrench){real3_mad(a.n, s, b.n), real3_mad(a.f, s, b.f)};
}

// w . n + v . f, the power of the wrench g along the motion m
REAL_FN real real_power(real_motion m, real_wrench g)
{
    return real3_dot(m.w, g.n) + real3_dot(m.v, g.f);
}

#endif
