// Two frames that belong together, each fixed in a body: ends of a RELATIVE goal, and of constraints that close loops.
#ifndef PZ_GOAL_FRAME_ENDS_H
#define PZ_GOAL_FRAME_ENDS_H

#include "kin/kin.h"

typedef struct pz_ends {
    vec3 x, y; // origins of `local` on the body, and of `target` on body2
    mat3 d, c; // their axes
} pz_ends;

static inline mat3 pz_axes_on(const poise_kinematics *kin, int body, quat local)
{
    mat3 R = pz_kin_rotation(kin, body), L = quat_matrix(local);
    return m3_mul(&R, &L);
}

static inline pz_ends pz_ends_of(const poise_kinematics *kin, int body, poise_pose local, int body2, poise_pose target)
{
    return (pz_ends){.x = pz_kin_point(kin, body, local.position),
                     .y = pz_kin_point(kin, body2, target.position),
                     .d = pz_axes_on(kin, body, local.rotation),
                     .c = pz_axes_on(kin, body2, target.rotation)};
}

#endif
