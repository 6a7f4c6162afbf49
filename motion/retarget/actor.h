// A skeleton as retargeting sees it: its roles, the pose it rests in, where its limbs point there.
#ifndef PZ_MOTION_RETARGET_ACTOR_H
#define PZ_MOTION_RETARGET_ACTOR_H

#include "motion/retarget/roles.h"
#include "num/vector.h"

#include <poise/kinematics.h>

enum { PZ_TRUNK_MOST = 24 };

typedef struct pz_actor {
    const poise_model *model;
    const poise_clip *clip; // NULL: none
    pz_roles roles;
    poise_kinematics *kin;
    double *rest;                     // nq: the pose in which limbs are compared
    poise_pose *pose;                 // of all bodies in it
    int spine[PZ_TRUNK_MOST], spines; // bodies from the pelvis, left out, to the chest
    int neck[PZ_TRUNK_MOST], necks;   // from the chest, left out, to the head
    int axis;                         // that is up: 0, 1, 2
    vec3 up, left, forward;           // in the rest pose; up is an axis of the world
    bool has_frame;                   // left and forward are known
    bool is_reversed;                 // its feet point backwards: left and right are likely to have each other's names
    bool is_standing;                 // the rest pose is one
    vec3 center[POISE_ROLE_COUNT];    // of the joint that moves a role, in its body's frame
    bool has_tip[POISE_ROLE_COUNT];
    vec3 tip[POISE_ROLE_COUNT]; // where the bone of a role ends, in the rest pose
    double leg;                 // hip to ankle; 0: no legs
    vec3 hips;                  // between the hips, in the pelvis' frame
} pz_actor;

// `up` UNKNOWN: found. `roles` NULL: found. Release with pz_actor_close in any case.
poise_status pz_actor_open(const poise_model *model, const poise_clip *clip, poise_up up, const pz_roles *roles,
                           const poise_allocator *allocator, pz_actor *actor);
void pz_actor_close(pz_actor *actor, const poise_allocator *allocator);

// Can the hips be moved from place to place?
bool pz_hips_can_move(const pz_actor *actor);

static inline vec3 pz_place(const pz_actor *a, int body)
{
    return a->pose[body].position;
}

// Where the joint is that moves a role, in the rest pose.
static inline vec3 pz_joint_place(const pz_actor *a, int role)
{
    return poise_pose_transform(a->pose[a->roles.body[role]], a->center[role]);
}

// Is a role played by a body?
static inline bool pz_plays(const pz_actor *a, int role)
{
    return a->roles.body[role] >= 0;
}

#endif
