// The state behind poise_kinematics: world frames and motion axes of one configuration.
//
// Everything is relative to one reference point, the position of body 0, so that a skeleton far from the world's origin
// loses no digits. Derivatives hold that point fixed in the world.
#ifndef PZ_KIN_KIN_H
#define PZ_KIN_KIN_H

#include <poise/kinematics.h>

#include "model/model.h"
#include "num/rotation.h"
#include "num/vector.h"

// What a rotation block needs for its second derivatives.
typedef struct pz_block {
    mat3 before;        // frame before the block's rotation
    vec3 v;             // rotation vector; 0 for a quaternion, whose step starts from 0
    so3_coefficients k; // of v
} pz_block;

struct poise_kinematics {
    const poise_model *model;
    pz_owned owned;
    vec3 origin; // the reference point, in the world
    double *q;   // the configuration
    mat3 *R;     // by joint: world rotation of our body frame
    vec3 *p;     // by joint: position, relative to the reference point
    spatial *S;  // by axis: motion axis about the reference point
    pz_block *blocks;
    spatial *D;            // by curve: dS/dq with everything above held
    double *value;         // by value: angle or length
    double *sine, *cosine; // by turn
};

// Take the arrays of `kin` from an arena (see base/arena.h) and tie it to its model.
void pz_kin_layout(poise_kinematics *kin, const poise_model *model, pz_arena *arena);

// The forward sweep for a q that pz_model_accepts; q may be kin->q. The second: of kin->q, with wider registers.
void pz_kin_sweep(poise_kinematics *kin, const double *q);
void pz_kin_sweep_wide(poise_kinematics *kin);

// What a curve does to the frame R, p before it, at the coordinate q: R and p after it, its axis S and D = dS/dq.
void pz_kin_curve(const pz_curve *curve, double q, mat3 *R, vec3 *p, spatial *S, spatial *D);

#if REAL_WIDTH == 1

// A point fixed in a body, relative to the reference point, and a direction. POISE_WORLD is a body that does not move.
PZ_FN vec3 pz_kin_direction(const poise_kinematics *kin, int body, vec3 local)
{
    if (body == POISE_WORLD) {
        return local;
    }
    const pz_joint *joint = &kin->model->joints[body];
    return m3_apply(&kin->R[body], joint->B_is_identity ? local : m3_apply(&joint->B, local));
}

PZ_FN vec3 pz_kin_point(const poise_kinematics *kin, int body, vec3 local)
{
    vec3 origin = body == POISE_WORLD ? v3_neg(kin->origin) : kin->p[body];
    return v3_add(origin, pz_kin_direction(kin, body, local));
}

// Rotation of the user's body frame.
PZ_FN mat3 pz_kin_rotation(const poise_kinematics *kin, int body)
{
    if (body == POISE_WORLD) {
        return m3_identity();
    }
    const pz_joint *joint = &kin->model->joints[body];
    return joint->B_is_identity ? kin->R[body] : m3_mul(&kin->R[body], &joint->B);
}

// w x x + v: the velocity that the motion m gives to the point x
PZ_FN vec3 pz_velocity(spatial m, vec3 x)
{
    return v3_add(v3_cross(m.w, x), m.v);
}

#endif

// The centre of mass, relative to the reference point. The model has mass.
vec3 pz_kin_mass_center(const poise_kinematics *kin);

// Jacobian of the centre of mass, 3 x nv. The model has mass.
void pz_kin_mass_center_columns(const poise_kinematics *kin, double *J);

// poise_retract for arguments that are known to be sound; q_out may be q.
void pz_kin_retract(const poise_model *model, const double *q, const double *v, double *q_out);

// poise_difference, the same.
void pz_kin_difference(const poise_model *model, const double *q_from, const double *q_to, double *v);

// The last axis that moves `body`, or -1; the rest follow by pz_axis.parent.
PZ_FN int pz_kin_last_axis(const poise_kinematics *kin, int body)
{
    return body == POISE_WORLD ? -1 : kin->model->joints[body].last_axis;
}

// Shorten every exponential map in q whose length exceeds pi, by v <- (1 - 2 pi / |v|) v, or by more turns where it is
// longer still; the pose does not change. Joints with finite limits on their rotation vector are left alone. Returns how
// many joints changed; 0 for NULL arguments.
int pz_kin_reparameterise(const poise_model *model, double *q);

// ---- Elements of joints (retract.c) --------------------------------------------------------------------------------------

// Has a joint any rotation: a quaternion, a rotation vector, or the three turns of an Euler order?
bool pz_joint_has_rotation(const poise_model *model, const pz_joint *joint);

#endif
