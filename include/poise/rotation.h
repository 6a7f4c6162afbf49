// Poise: rotations as exponential maps, after Grassia, "Practical Parameterization of Rotations Using the Exponential
// Map" (1998).
//
// An exponential map is a vector v: its direction is the axis of the rotation, its length theta the angle. The map is free
// of singularities for theta < 2 pi; a rotation has two such vectors, and the shorter one, theta <= pi, keeps clear of the
// singularity, so the functions that make a poise_expmap replace v by (1 - 2 pi / theta) v when theta > pi ("dynamic
// reparameterisation"). The rotation does not change; the caller who keeps v in a state vector must copy it back.
//
// A poise_expmap caches what every derivative needs (half-angle sine and cosine, the quaternion, and its derivatives), so
// that R, dR/dv_i and v' cost one evaluation of sine and cosine together.
//
// Two degrees of freedom: v = a s + b t with s and t unit and orthogonal, both orthogonal to the limb. That is swing
// without twist.
#ifndef POISE_ROTATION_H
#define POISE_ROTATION_H

#include <poise/math.h>

#ifdef __cplusplus
extern "C" {
#endif

// An exponential map with everything that depends on it alone. Read the members, do not write them.
typedef struct poise_expmap {
    poise_vec3 v;         // the vector, |v| <= pi
    double theta;         // |v|
    double cos_half;      // cos(theta / 2)
    double sin_half;      // sin(theta / 2)
    poise_quat q;         // the rotation
    poise_quat dq[3];     // dq / dv_i, i = x, y, z
    bool reparameterised; // v is not the vector that was given
} poise_expmap;

// The same for two degrees of freedom.
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

// R, row-major.
POISE_API void poise_expmap_rotation(const poise_expmap *map, double R[9]);

// dR / dv_i, row-major; i in 0..2. Not a rotation.
POISE_API void poise_expmap_partial(const poise_expmap *map, int i, double dR[9]);

// dR / da (i = 0) or dR / db (i = 1), row-major.
POISE_API void poise_swing_partial(const poise_swing *swing, int i, double dR[9]);

// v', the rate of v that turns the body at the angular velocity `omega`, given in the frame that v is given in: for
// integrating a rotation as an exponential map.
POISE_API poise_vec3 poise_expmap_rate(const poise_expmap *map, poise_vec3 omega);

// (a', b') that turns the limb as omega does, as far as a swing can: the twist part of omega is dropped by projection of
// v' on the swing plane. rate[0] = a', rate[1] = b'.
POISE_API void poise_swing_rate(const poise_swing *swing, poise_vec3 omega, double rate[2]);

#ifdef __cplusplus
}
#endif

#endif
