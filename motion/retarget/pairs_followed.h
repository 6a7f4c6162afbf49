// Bodies of the target, and what each follows.
#ifndef PZ_MOTION_RETARGET_PAIRS_FOLLOWED_H
#define PZ_MOTION_RETARGET_PAIRS_FOLLOWED_H

#include "motion/retarget/actor.h"

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
