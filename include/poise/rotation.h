// Poise: rotations as exponential maps, after Grassia, "Practical Parameterization of Rotations Using the Exponential
// Map" (1998).
//
// An exponential map is a vector v: its direction is the axis of the rotation, its length theta the angle. The map has no
// singularity for theta < 2 pi. Each rotation has two such vectors, and the shorter one, theta <= pi, stays clear of the
// singularity, so the functions that make a poise_expmap replace v by (1 - 2 pi / theta) v when theta > pi ("dynamic
// reparameterisation"). The rotation does not change; a caller that keeps v in a state vector must copy it back.
//
// A poise_expmap caches what every derivative needs (half-angle sine and cosine, the quaternion, and its derivatives), so
// R, dR/dv_i and v' together cost one evaluation of sine and cosine.
//
// Two degrees of freedom: v = a s + b t with s and t unit and orthogonal, both orthogonal to the limb. That is swing
// without twist.
#ifndef POISE_ROTATION_H
#define POISE_ROTATION_H

#include <poise/math.h>

#ifdef __cplusplus
extern "C" {
#endif

// An exponential map and everything derived from it. The members are read-only.
typedef struct poise_expmap {
    poise_vec3 v;         // the vector, |v| <= pi
    double theta;         // |v|
    double cos_half;      // cos(theta / 2)
    double sin_half;      // sin(theta / 2)
    poise_quat q;         // the rotation
    poise_quat dq[3];     // dq / dv_i, i = x, y, z
    bool reparameterised; // v was replaced by the shorter vector
} poise_expmap;

// An exponential map of two degrees of freedom.
typedef struct poise_swing {
    poise_expmap map; // of v = a s + b t; map.v holds v
    double a, b;      // the coordinates, after reparameterisation
    poise_vec3 s, t;  // the basis of the swing plane
    poise_quat dq[2]; // dq / da, dq / db
} poise_swing;

// Fill `map` for the vector `v`. Fails when v is not finite.
POISE_API poise_status poise_expmap_make(poise_vec3 v, poise_expmap *map, poise_error *error);

// Fill `swing` for the coordinates (a, b) in the basis (s, t). Fails when a number is not finite, or when s and t are not
// unit and orthogonal to 1e-9.
POISE_API poise_status poise_swing_make(double a, double b, poise_vec3 s, poise_vec3 t, poise_swing *swing,
                                        poise_error *error);

// The exponential map of a unit quaternion, |v| <= pi. The inverse of poise_expmap_make.
POISE_API poise_vec3 poise_expmap_from_quat(poise_quat rotation);

// dR, row-major: the derivative of the rotation matrix of the unit quaternion `q` along `dq`. With dq = map.dq[i] it is
// dR / dv_i, with swing.dq[0] and [1] dR / da and dR / db. R itself: poise_quat_to_matrix(map.q, R). Not a rotation.
POISE_API void poise_quat_partial(poise_quat q, poise_quat dq, double dR[9]);

// v', the rate of v at which the body turns with the angular velocity `omega`, given in the same frame as v: for
// integrating a rotation as an exponential map. For a swing, a' and b' are the components of v' along s and t; this
// projects omega onto the swing plane and drops its twist.
POISE_API poise_vec3 poise_expmap_rate(const poise_expmap *map, poise_vec3 omega);

#ifdef __cplusplus
}
#endif

#endif
