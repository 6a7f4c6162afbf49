// Which body plays which role on a skeleton.
#ifndef PZ_MOTION_RETARGET_ROLES_H
#define PZ_MOTION_RETARGET_ROLES_H

#include <poise/kinematics.h>
#include <poise/retarget.h>

#include "motion/anatomy.h"

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

#endif
