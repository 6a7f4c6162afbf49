// A skeleton as retargeting sees it: which body plays which role, the pose it rests in, where its limbs point there; and
// what each body of another one follows.
#ifndef PZ_MOTION_RETARGET_ACTOR_H
#define PZ_MOTION_RETARGET_ACTOR_H

#include <poise/kinematics.h>
#include <poise/retarget.h>

#include "motion/anatomy.h"
#include "num/vector.h"

// ---- Roles ---------------------------------------------------------------------------------------------------------------

// The role that poise_role_name calls so; POISE_NONE: none.
int pz_role_called(const char *name);

// The roles of a skeleton, by names and by the tree.
typedef struct pz_roles {
    int body[POISE_ROLE_COUNT]; // POISE_NONE: none
    double confidence[POISE_ROLE_COUNT];
    bool has_side; // of a hand alone: its names say which it is
} pz_roles;

// `kin` has the model in any pose: the lengths of bones are read off it.
void pz_roles_find(const poise_model *model, const poise_kinematics *kin, pz_roles *roles);

// Do more bodies move beside these palms than below them? Then the hands are those of a figure, whatever its limbs are
// called. A palm may be POISE_NONE.
bool pz_is_beside_hands(const poise_model *model, const int *palms, int count);

// Fingers, and neither arms nor legs?
bool pz_is_hand(const pz_roles *roles);

// A right hand becomes a left one, and the other way round.
void pz_hand_other_side(pz_roles *roles);

// The parts of the figure that a clip moves: by the names of anatomy.c, or, where those show no two legs with feet, by all
// that roles know. Fails only with MEMORY.
poise_status pz_figure_of(const poise_model *model, const poise_allocator *allocator, pz_anatomy *anatomy);

// Is `body` the ancestor, or below it?
static inline bool pz_is_below(const poise_model *model, int ancestor, int body)
{
    return ancestor >= 0 && body >= ancestor && body < ancestor + poise_model_joint_info(model, ancestor).subtree;
}

// ---- Actors --------------------------------------------------------------------------------------------------------------

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

// ---- What follows what ---------------------------------------------------------------------------------------------------

// One body of the target. It turns as the source's body `from` has turned from its rest, or as something between that and
// `next`, where a trunk has other joints than the source's.
typedef struct pz_pair {
    int to, from, next;
    double share;              // of `next`, in [0, 1)
    int role;                  // POISE_NONE: none
    quat from_back, next_back; // inverse turns at rest, from the source's world to its body
    quat to_rest;              // C^-1 R_to(rest)
    quat correction;           // C
    bool has_bone;             // it is a limb that points somewhere:
    vec3 bone;                 // unit, in the target body's frame
    double turn_weight, bone_weight;
    double bone_off; // sum over frames of the angle that the bone is off by
    int aside;       // frames in which that is more than 45 degrees
} pz_pair;

typedef struct pz_followed {
    pz_pair *pair; // room for as many as the target has bodies
    int count;
    int roles;  // of them
    quat world; // A: from the source's world to the target's
    bool same;  // the same skeleton: body by body the same name, parent, place and turn
    double factor;
    int base;       // of the source: what a hand's forearm or palm, which cannot turn, stands for; POISE_NONE: the world
    quat base_rest; // its turn at rest
    quat base_turn; // C of the palm
    int root_to, root_from; // of skeletons without legs: bodies whose places correspond; POISE_NONE: none
} pz_followed;

// Which body follows which. `followed->pair` has room. Without `copies` even the same skeleton is followed part by part, so
// that feet may go elsewhere.
void pz_followed_find(const pz_actor *from, const pz_actor *to, bool copies, pz_followed *followed);

// The turn that the target's body is to have, with the source where `kin` has it.
quat pz_followed_turn(const pz_followed *followed, const pz_pair *pair, const poise_kinematics *kin);

#endif
