// Six-vectors: motions and forces of rigid bodies, in world axes about one fixed reference point.
//
// A motion [w ; v] moves the body's point x (relative to the reference point) with the velocity w x x + v. A wrench [n ; f]
// is a torque about the reference point and a force. Their dot product is power, so the two are kept as two types: motions
// pair with wrenches, never with each other. (R. Featherstone, "Rigid Body Dynamics Algorithms", 2008, chapter 2.)
#ifndef PZ_MATH_SPATIAL_H
#define PZ_MATH_SPATIAL_H

#include "math/vec3.h"

typedef struct spatial {
    vec3 w; // angular velocity
    vec3 v; // velocity of the body's point at the reference point
} spatial;

typedef struct wrench {
    vec3 n; // torque about the reference point
    vec3 f; // force
} wrench;

// a + s b
static inline spatial spatial_mad(spatial a, double s, spatial b)
{
    return (spatial){v3_mad(a.w, s, b.w), v3_mad(a.v, s, b.v)};
}

static inline wrench wrench_add(wrench a, wrench b)
{
    return (wrench){v3_add(a.n, b.n), v3_add(a.f, b.f)};
}

// a + s b
static inline wrench wrench_mad(wrench a, double s, wrench b)
{
    return (wrench){v3_mad(a.n, s, b.n), v3_mad(a.f, s, b.f)};
}

// w . n + v . f, the power of the wrench g along the motion m
static inline double spatial_dot(spatial m, wrench g)
{
    return v3_dot(m.w, g.n) + v3_dot(m.v, g.f);
}

// a x b = (w_a x w_b, w_a x v_b + v_a x w_b): the rate of a motion b that is fixed in a body moving with a
static inline spatial spatial_cross(spatial a, spatial b)
{
    return (spatial){v3_cross(a.w, b.w), v3_add(v3_cross(a.w, b.v), v3_cross(a.v, b.w))};
}

#endif
