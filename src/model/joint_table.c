#include "model/packed_model.h"

// One row per joint type: its name and the steps that make its motion, from the parent outwards. The Euler types leave three
// places that the order fills.
static const pz_joint_row table[POISE_JOINT_TYPE_COUNT] = {
    [POISE_JOINT_FIXED] = {"fixed", 0, {0}, false},
    [POISE_JOINT_REVOLUTE] = {"revolute", 1, {PZ_TURN_Z}, false},
    [POISE_JOINT_PRISMATIC] = {"prismatic", 1, {PZ_SLIDE_Z}, false},
    [POISE_JOINT_UNIVERSAL] = {"universal", 2, {PZ_TURN_X, PZ_TURN_Y}, false},
    [POISE_JOINT_BALL_EULER] = {"ball_euler", 3, {PZ_TURN_X, PZ_TURN_Y, PZ_TURN_Z}, true},
    [POISE_JOINT_BALL_EXPMAP] = {"ball_expmap", 1, {PZ_EXPMAP}, false},
    [POISE_JOINT_BALL_QUATERNION] = {"ball_quaternion", 1, {PZ_QUATERNION}, false},
    [POISE_JOINT_SWING_TWIST] = {"swing_twist", 2, {PZ_SWING, PZ_TURN_Z}, false},
    [POISE_JOINT_TRANSLATION] = {"translation", 3, {PZ_SLIDE_X, PZ_SLIDE_Y, PZ_SLIDE_Z}, false},
    [POISE_JOINT_PLANAR] = {"planar", 3, {PZ_SLIDE_X, PZ_SLIDE_Y, PZ_TURN_Z}, false},
    [POISE_JOINT_FREE] = {"free", 4, {PZ_SLIDE_X, PZ_SLIDE_Y, PZ_SLIDE_Z, PZ_QUATERNION}, false},
    [POISE_JOINT_FREE_EXPMAP] = {"free_expmap", 4, {PZ_SLIDE_X, PZ_SLIDE_Y, PZ_SLIDE_Z, PZ_EXPMAP}, false},
    [POISE_JOINT_FREE_EULER] = {"free_euler",
                                6,
                                {PZ_SLIDE_X, PZ_SLIDE_Y, PZ_SLIDE_Z, PZ_TURN_X, PZ_TURN_Y, PZ_TURN_Z},
                                true},
    [POISE_JOINT_CURVE] = {"curve", 1, {PZ_CURVE}, false},
};

static const pz_step_kind euler_steps[POISE_EULER_ORDER_COUNT][3] = {
    [POISE_EULER_XYZ] = {PZ_TURN_X, PZ_TURN_Y, PZ_TURN_Z}, [POISE_EULER_XZY] = {PZ_TURN_X, PZ_TURN_Z, PZ_TURN_Y},
    [POISE_EULER_YXZ] = {PZ_TURN_Y, PZ_TURN_X, PZ_TURN_Z}, [POISE_EULER_YZX] = {PZ_TURN_Y, PZ_TURN_Z, PZ_TURN_X},
    [POISE_EULER_ZXY] = {PZ_TURN_Z, PZ_TURN_X, PZ_TURN_Y}, [POISE_EULER_ZYX] = {PZ_TURN_Z, PZ_TURN_Y, PZ_TURN_X},
    [POISE_EULER_XYX] = {PZ_TURN_X, PZ_TURN_Y, PZ_TURN_X}, [POISE_EULER_XZX] = {PZ_TURN_X, PZ_TURN_Z, PZ_TURN_X},
    [POISE_EULER_YXY] = {PZ_TURN_Y, PZ_TURN_X, PZ_TURN_Y}, [POISE_EULER_YZY] = {PZ_TURN_Y, PZ_TURN_Z, PZ_TURN_Y},
    [POISE_EULER_ZXZ] = {PZ_TURN_Z, PZ_TURN_X, PZ_TURN_Z}, [POISE_EULER_ZYZ] = {PZ_TURN_Z, PZ_TURN_Y, PZ_TURN_Z},
};

const pz_joint_row *pz_joint_row_of(poise_joint_type type)
{
    return (unsigned)type < POISE_JOINT_TYPE_COUNT ? &table[type] : NULL;
}

int pz_joint_steps(poise_joint_type type, poise_euler_order order, pz_step_kind steps[PZ_MAX_STEPS])
{
    const pz_joint_row *row = &table[type];
    for (int s = 0; s < row->step_count; ++s) {
        steps[s] = row->steps[s];
    }
    if (row->euler) {
        for (int s = 0; s < 3; ++s) {
            steps[row->step_count - 3 + s] = euler_steps[order][s];
        }
    }
    return row->step_count;
}

const char *poise_joint_type_name(poise_joint_type type)
{
    const pz_joint_row *row = pz_joint_row_of(type);
    return row ? row->name : "unknown";
}
