// Parts of the figure that a clip moves, by the names that retargeting knows.
#include "motion/edit/edited_figure.h"

#include "kin/kin.h"
#include "motion/retarget/roles.h"

static bool has_legs(const pz_anatomy *a)
{
    static const pz_part leg[] = {PZ_THIGH, PZ_SHANK, PZ_FOOT};
    bool has_all = true;
    for (size_t i = 0; i < sizeof leg / sizeof leg[0]; ++i) {
        has_all = has_all && a->part[leg[i]][PZ_LEFT].body >= 0 && a->part[leg[i]][PZ_RIGHT].body >= 0;
    }
    return has_all;
}

poise_status pz_figure_of(const poise_model *model, const poise_allocator *allocator, pz_anatomy *anatomy)
{
    static const struct {
        pz_part part;
        int role;
    } limbs[] = {{PZ_CLAVICLE, POISE_ROLE_CLAVICLE}, {PZ_UPPER_ARM, POISE_ROLE_UPPER_ARM}, {PZ_FOREARM, POISE_ROLE_FOREARM},
                 {PZ_HAND, POISE_ROLE_HAND},         {PZ_THIGH, POISE_ROLE_THIGH},         {PZ_SHANK, POISE_ROLE_SHANK},
                 {PZ_FOOT, POISE_ROLE_FOOT}};
    poise_status status = pz_anatomy_of(model, allocator, anatomy);
    if (status != POISE_OK || has_legs(anatomy)) {
        return status;
    }
    poise_kinematics *kin;
    status = poise_kinematics_create(model, allocator, &kin, NULL);
    if (status != POISE_OK) {
        return status;
    }
    pz_roles roles;
    pz_part_bodies given;
    for (int p = 0; p < PZ_PART_COUNT; ++p) {
        given.body[p][PZ_MIDDLE] = given.body[p][PZ_LEFT] = given.body[p][PZ_RIGHT] = POISE_NONE;
    }
    pz_roles_find(model, kin, &roles);
    for (size_t i = 0; i < sizeof limbs / sizeof limbs[0]; ++i) {
        given.body[limbs[i].part][PZ_LEFT] = roles.body[limbs[i].role];
        given.body[limbs[i].part][PZ_RIGHT] = roles.body[limbs[i].role + POISE_ROLE_SIDE];
    }
    poise_kinematics_destroy(kin);
    return pz_anatomy_given(model, &given, allocator, anatomy);
}
