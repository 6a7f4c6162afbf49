// What the numbers of a configuration are called, and what they measure.
#include "model/packed_model.h"

typedef struct part {
    const char *name, *label;
    poise_unit unit;
} part;

#define SLIDES                                                                                                              \
    {"tx", "x", POISE_UNIT_LENGTH}, {"ty", "y", POISE_UNIT_LENGTH},                                                         \
    {                                                                                                                       \
        "tz", "z", POISE_UNIT_LENGTH                                                                                        \
    }
#define VECTOR                                                                                                              \
    {"vx", "vector x", POISE_UNIT_ANGLE}, {"vy", "vector y", POISE_UNIT_ANGLE},                                             \
    {                                                                                                                       \
        "vz", "vector z", POISE_UNIT_ANGLE                                                                                  \
    }
#define QUATERNION                                                                                                          \
    {"qx", "quat x", POISE_UNIT_NONE}, {"qy", "quat y", POISE_UNIT_NONE}, {"qz", "quat z", POISE_UNIT_NONE},                \
    {                                                                                                                       \
        "qw", "quat w", POISE_UNIT_NONE                                                                                     \
    }
#define EULER                                                                                                               \
    {"r", "turn", POISE_UNIT_ANGLE}, {"r", "turn", POISE_UNIT_ANGLE},                                                       \
    {                                                                                                                       \
        "r", "turn", POISE_UNIT_ANGLE                                                                                       \
    } // by the order

static const part parts[POISE_JOINT_TYPE_COUNT][7] = {
    [POISE_JOINT_REVOLUTE] = {{"angle", "", POISE_UNIT_ANGLE}},
    [POISE_JOINT_PRISMATIC] = {{"length", "", POISE_UNIT_LENGTH}},
    [POISE_JOINT_UNIVERSAL] = {{"angle1", "first turn", POISE_UNIT_ANGLE}, {"angle2", "second turn", POISE_UNIT_ANGLE}},
    [POISE_JOINT_BALL_EULER] = {EULER},
    [POISE_JOINT_BALL_EXPMAP] = {VECTOR},
    [POISE_JOINT_BALL_QUATERNION] = {QUATERNION},
    [POISE_JOINT_SWING_TWIST] = {{"swing1", "swing x", POISE_UNIT_ANGLE},
                                 {"swing2", "swing y", POISE_UNIT_ANGLE},
                                 {"twist", "twist", POISE_UNIT_ANGLE}},
    [POISE_JOINT_TRANSLATION] = {SLIDES},
    [POISE_JOINT_PLANAR] = {{"tx", "x", POISE_UNIT_LENGTH},
                            {"ty", "y", POISE_UNIT_LENGTH},
                            {"rz", "turn", POISE_UNIT_ANGLE}},
    [POISE_JOINT_FREE] = {SLIDES, QUATERNION},
    [POISE_JOINT_FREE_EXPMAP] = {SLIDES, VECTOR},
    [POISE_JOINT_FREE_EULER] = {SLIDES, EULER},
    [POISE_JOINT_CURVE] = {{"value", "", POISE_UNIT_NONE}}, // by its functions
};

// The turn number `turn` of an order; a second turn about an axis has a name of its own.
static void name_turn(poise_euler_order order, int turn, poise_coordinate *out)
{
    static const char *const names[] = {"rx", "ry", "rz"}, *const again[] = {"rx2", "ry2", "rz2"};
    static const char *const labels[] = {"turn X", "turn Y", "turn Z"};
    pz_step_kind steps[PZ_MAX_STEPS];
    pz_joint_steps(POISE_JOINT_BALL_EULER, order, steps);
    int axis = (int)steps[turn] - (int)PZ_TURN_X;
    out->name = turn == 2 && steps[0] == steps[2] ? again[axis] : names[axis];
    out->label = labels[axis];
}

// Some axes of a curve, from `first` on, move by +-q itself: then q is an angle, or a length.
static bool has_plain_axis(const poise_curve *curve, int first)
{
    for (int i = first; curve && i < first + 3; ++i) {
        const poise_function *f = &curve->value[i];
        if (f->kind == POISE_FUNCTION_POLYNOMIAL && f->count == 2 && fabs(f->y[0]) == 1.0) {
            return true;
        }
    }
    return false;
}

poise_coordinate poise_joint_coordinate(const poise_joint *joint, int place)
{
    poise_coordinate out = {POISE_NONE, place, NULL, NULL, POISE_UNIT_NONE};
    if (!joint || (unsigned)joint->type >= POISE_JOINT_TYPE_COUNT || place < 0 || place >= 7 ||
        !parts[joint->type][place].name) {
        return out;
    }
    const part *p = &parts[joint->type][place];
    out.name = p->name;
    out.label = p->label;
    out.unit = p->unit;
    bool is_euler = joint->type == POISE_JOINT_BALL_EULER || (joint->type == POISE_JOINT_FREE_EULER && place >= 3);
    if (is_euler && (unsigned)joint->order < POISE_EULER_ORDER_COUNT) {
        name_turn(joint->order, place % 3, &out);
    }
    if (has_plain_axis(joint->curve, 0)) {
        out.name = "angle", out.unit = POISE_UNIT_ANGLE;
    } else if (has_plain_axis(joint->curve, 3)) {
        out.name = "length", out.unit = POISE_UNIT_LENGTH;
    }
    return out;
}

// Coordinates are in the order of the joints; joints without any begin where the next one does.
poise_coordinate poise_model_coordinate(const poise_model *model, int coordinate)
{
    if (!model || coordinate < 0 || coordinate >= model->nq) {
        return poise_joint_coordinate(NULL, coordinate);
    }
    int low = 0, high = model->joint_count - 1;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        bool is_before = model->joints[middle].q_begin <= coordinate;
        low = is_before ? middle : low;
        high = is_before ? high : middle - 1;
    }
    while (low > 0 && model->joints[low].q_begin == model->joints[low].q_end) {
        low -= 1;
    }
    poise_coordinate out = poise_joint_coordinate(&model->given[low], coordinate - model->joints[low].q_begin);
    out.joint = low;
    return out;
}
