// Joint types: what each is made of, what its coordinates are called, what its description must satisfy, and limits of a
// configuration. A type is a row of the first table; sweep, derivatives, steps and limits follow from it.
#include "base/error.h"
#include "model/model.h"

#include <string.h>

// ---- What a type is made of ----------------------------------------------------------------------------------------------

// One row per joint type: the steps that make its motion, from the parent outwards. The Euler types leave three
// places that the order fills.
static const pz_joint_row table[POISE_JOINT_TYPE_COUNT] = {
    [POISE_JOINT_FIXED] = {0, {0}, false},
    [POISE_JOINT_REVOLUTE] = {1, {PZ_TURN_Z}, false},
    [POISE_JOINT_PRISMATIC] = {1, {PZ_SLIDE_Z}, false},
    [POISE_JOINT_UNIVERSAL] = {2, {PZ_TURN_X, PZ_TURN_Y}, false},
    [POISE_JOINT_BALL_EULER] = {3, {PZ_TURN_X, PZ_TURN_Y, PZ_TURN_Z}, true},
    [POISE_JOINT_BALL_EXPMAP] = {1, {PZ_EXPMAP}, false},
    [POISE_JOINT_BALL_QUATERNION] = {1, {PZ_QUATERNION}, false},
    [POISE_JOINT_SWING_TWIST] = {2, {PZ_SWING, PZ_TURN_Z}, false},
    [POISE_JOINT_TRANSLATION] = {3, {PZ_SLIDE_X, PZ_SLIDE_Y, PZ_SLIDE_Z}, false},
    [POISE_JOINT_PLANAR] = {3, {PZ_SLIDE_X, PZ_SLIDE_Y, PZ_TURN_Z}, false},
    [POISE_JOINT_FREE] = {4, {PZ_SLIDE_X, PZ_SLIDE_Y, PZ_SLIDE_Z, PZ_QUATERNION}, false},
    [POISE_JOINT_FREE_EXPMAP] = {4, {PZ_SLIDE_X, PZ_SLIDE_Y, PZ_SLIDE_Z, PZ_EXPMAP}, false},
    [POISE_JOINT_FREE_EULER] = {6, {PZ_SLIDE_X, PZ_SLIDE_Y, PZ_SLIDE_Z, PZ_TURN_X, PZ_TURN_Y, PZ_TURN_Z}, true},
    [POISE_JOINT_CURVE] = {1, {PZ_CURVE}, false},
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

// ---- What its coordinates are called, and what they measure --------------------------------------------------------------

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

// ---- What a description of a joint or a tool must satisfy by itself ------------------------------------------------------

// Lengths beyond this are refused: their squares and products must stay far from overflow.
#define LARGEST 1e100

// How far two unit axes of a universal joint may be from orthogonal: the error of axes typed with ten digits.
#define ORTHOGONAL 1e-9

static bool in_range(double x)
{
    return fabs(x) <= LARGEST; // false for NaN
}

static bool vec3_in_range(vec3 v)
{
    return in_range(v.x) && in_range(v.y) && in_range(v.z);
}

static vec3 unit_vec3(vec3 v)
{
    return pz_is_unit(v3_dot(v, v)) ? v : v3_normalize(v);
}

static poise_status check_quat(quat *q, const char *kind, const char *name, const char *what, poise_error *error)
{
    quat unit = quat_is_finite(*q) ? pz_unit_quat(*q) : (quat){0, 0, 0, 0};
    if (unit.x == 0 && unit.y == 0 && unit.z == 0 && unit.w == 0) {
        return pz_error_set(error, POISE_ERROR_MODEL,
                            "%s \"%s\": %s is not a rotation: give a finite quaternion other than 0", kind, name, what);
    }
    *q = unit;
    return POISE_OK;
}

static poise_status check_axis(vec3 *axis, const char *name, const char *what, poise_error *error)
{
    if (!v3_is_finite(*axis)) {
        return pz_error_set(error, POISE_ERROR_MODEL, "joint \"%s\": %s is not finite", name, what);
    }
    vec3 unit = unit_vec3(*axis);
    if (unit.x == 0 && unit.y == 0 && unit.z == 0) {
        return pz_error_set(error, POISE_ERROR_MODEL, "joint \"%s\": %s is zero: give it a direction", name, what);
    }
    *axis = unit;
    return POISE_OK;
}

static poise_status check_axes(poise_joint *joint, poise_error *error)
{
    poise_joint_type type = joint->type;
    if (type == POISE_JOINT_REVOLUTE || type == POISE_JOINT_PRISMATIC || type == POISE_JOINT_UNIVERSAL) {
        poise_status status = check_axis(&joint->axis, joint->name, "axis", error);
        if (status != POISE_OK || type != POISE_JOINT_UNIVERSAL) {
            return status;
        }
        status = check_axis(&joint->axis2, joint->name, "axis2", error);
        if (status != POISE_OK) {
            return status;
        }
        if (fabs(v3_dot(joint->axis, joint->axis2)) > ORTHOGONAL) {
            return pz_error_set(error, POISE_ERROR_MODEL,
                                "joint \"%s\": axis and axis2 must be orthogonal; otherwise use two revolute joints",
                                joint->name);
        }
        return POISE_OK;
    }
    return check_quat(&joint->axes, "joint", joint->name, "axes", error);
}

// Axes of functions that are there; those of others may be anything.
static poise_status check_curve(const poise_joint *joint, poise_error *error)
{
    static const char *const names[] = {"turn 1", "turn 2", "turn 3", "slide 1", "slide 2", "slide 3"};
    if ((joint->type == POISE_JOINT_CURVE) != (joint->curve != NULL)) {
        return pz_error_set(error, POISE_ERROR_MODEL,
                            joint->curve ? "joint \"%s\": only curve joints take a curve" : "joint \"%s\": give it a curve",
                            joint->name);
    }
    for (int i = 0; joint->curve && i < 6; ++i) {
        vec3 axis = joint->curve->axis[i];
        poise_status status = pz_function_check(&joint->curve->value[i], joint->name, names[i], error);
        if (status == POISE_OK && joint->curve->value[i].count > 0) {
            status = check_axis(&axis, joint->name, names[i], error);
        }
        if (status != POISE_OK) {
            return status;
        }
    }
    return POISE_OK;
}

static poise_status check_limits(const poise_joint *joint, poise_error *error)
{
    pz_step_kind steps[PZ_MAX_STEPS];
    int step_count = pz_joint_steps(joint->type, joint->order, steps);
    int c = 0;
    for (int s = 0; s < step_count; ++s) {
        for (int i = 0; i < pz_step_nq(steps[s]); ++i, ++c) {
            double lower = joint->lower[c], upper = joint->upper[c];
            if (lower != lower || upper != upper) {
                return pz_error_set(error, POISE_ERROR_MODEL, "joint \"%s\": %s limit nan; without one it is %sINFINITY",
                                    joint->name, lower != lower ? "lower" : "upper", lower != lower ? "-" : "");
            }
            if (lower > upper) {
                return pz_error_set(error, POISE_ERROR_MODEL,
                                    "joint \"%s\": lower limit %g is above upper limit %g: exchange them, or correct one",
                                    joint->name, lower, upper);
            }
            if (lower == INFINITY || upper == -INFINITY) {
                return pz_error_set(error, POISE_ERROR_MODEL, "joint \"%s\": limits %g to %g leave no value", joint->name,
                                    lower, upper);
            }
            if (steps[s] == PZ_QUATERNION && (is_finite(lower) || is_finite(upper))) {
                return pz_error_set(error, POISE_ERROR_MODEL,
                                    "joint \"%s\": quaternion coordinates take no limits; use "
                                    "swing_twist",
                                    joint->name);
            }
        }
    }
    return POISE_OK;
}

static poise_status check_swing(const poise_joint *joint, poise_error *error)
{
    double a = joint->swing[0], b = joint->swing[1];
    if (a == INFINITY && b == INFINITY) {
        return POISE_OK;
    }
    if (joint->type != POISE_JOINT_SWING_TWIST) {
        return pz_error_set(error, POISE_ERROR_MODEL, "joint \"%s\": only swing_twist joints take a swing limit",
                            joint->name);
    }
    if (!(a > 0 && a < PZ_PI && b > 0 && b < PZ_PI)) {
        return pz_error_set(error, POISE_ERROR_MODEL, "joint \"%s\": swing limits %g and %g must lie between 0 and pi",
                            joint->name, a, b);
    }
    // the ray to the centre must lead into the box as well
    if (!(joint->lower[0] <= 0 && 0 <= joint->upper[0] && joint->lower[1] <= 0 && 0 <= joint->upper[1])) {
        return pz_error_set(error, POISE_ERROR_MODEL,
                            "joint \"%s\": with a swing ellipse, the limits of the swing coordinates must include 0",
                            joint->name);
    }
    return POISE_OK;
}

static poise_status check_mimic_function(const poise_joint *joint, poise_error *error)
{
    if (!joint->mimic) {
        return pz_error_set(error, POISE_ERROR_MODEL, "joint \"%s\": mimic_function without a joint to mimic", joint->name);
    }
    if (joint->mimic_multiplier != 1.0 || joint->mimic_offset != 0.0) {
        return pz_error_set(error, POISE_ERROR_MODEL,
                            "joint \"%s\": give it a multiplier and an offset, or a mimic_function, not both", joint->name);
    }
    if (is_finite(joint->lower[0]) || is_finite(joint->upper[0])) {
        return pz_error_set(
            error, POISE_ERROR_MODEL,
            "joint \"%s\": follows \"%s\" by a function, so it cannot have limits; set them on the joint it follows",
            joint->name, joint->mimic);
    }
    if (joint->mimic_function->count < 1) {
        return pz_error_set(error, POISE_ERROR_MODEL, "joint \"%s\": mimic_function has no numbers", joint->name);
    }
    return pz_function_check(joint->mimic_function, joint->name, "mimic_function", error);
}

static poise_status check_mimic(const poise_joint *joint, poise_error *error)
{
    if (joint->mimic_function) {
        poise_status status = check_mimic_function(joint, error);
        if (status != POISE_OK) {
            return status;
        }
    }
    if (!joint->mimic) {
        return POISE_OK;
    }
    if (strcmp(joint->mimic, joint->name) == 0) {
        return pz_error_set(error, POISE_ERROR_MODEL, "joint \"%s\": it mimics itself; name another joint, or none",
                            joint->name);
    }
    if (joint->type != POISE_JOINT_REVOLUTE && joint->type != POISE_JOINT_PRISMATIC && joint->type != POISE_JOINT_CURVE) {
        return pz_error_set(error, POISE_ERROR_MODEL, "joint \"%s\": only revolute, prismatic and curve joints can mimic",
                            joint->name);
    }
    if (!in_range(joint->mimic_multiplier) || !in_range(joint->mimic_offset)) {
        return pz_error_set(error, POISE_ERROR_MODEL, "joint \"%s\": mimic multiplier and offset must be finite",
                            joint->name);
    }
    return POISE_OK;
}

poise_status pz_joint_check(poise_joint *joint, poise_error *error)
{
    if (!joint->name || !joint->name[0] || (joint->body && !joint->body[0])) {
        return pz_error_set(error, POISE_ERROR_MODEL, "a joint and its body need a name");
    }
    if (!pz_joint_row_of(joint->type) || (unsigned)joint->order >= POISE_EULER_ORDER_COUNT) {
        return pz_error_set(error, POISE_ERROR_MODEL, "joint \"%s\": unknown type or Euler order", joint->name);
    }
    if (!vec3_in_range(joint->offset.position)) {
        return pz_error_set(error, POISE_ERROR_MODEL, "joint \"%s\": offset is not finite, or beyond 1e100", joint->name);
    }
    if (!(joint->mass >= 0 && joint->mass <= LARGEST) || !vec3_in_range(joint->mass_center)) {
        return pz_error_set(error, POISE_ERROR_MODEL, "joint \"%s\": mass must be finite and not negative", joint->name);
    }
    if (!(joint->velocity >= 0)) {
        return pz_error_set(error, POISE_ERROR_MODEL, "joint \"%s\": velocity must not be negative", joint->name);
    }
    poise_status status = check_quat(&joint->offset.rotation, "joint", joint->name, "offset", error);
    if (status == POISE_OK) {
        status = check_axes(joint, error);
    }
    if (status == POISE_OK) {
        status = check_curve(joint, error);
    }
    if (status == POISE_OK) {
        status = check_limits(joint, error);
    }
    if (status == POISE_OK) {
        status = check_swing(joint, error);
    }
    return status == POISE_OK ? check_mimic(joint, error) : status;
}

poise_status pz_tool_check(poise_tool *tool, poise_error *error)
{
    if (!tool->name || !tool->name[0]) {
        return pz_error_set(error, POISE_ERROR_MODEL, "a tool needs a name");
    }
    if (!tool->body || !tool->body[0]) {
        return pz_error_set(error, POISE_ERROR_MODEL, "tool \"%s\": name the body that carries it", tool->name);
    }
    if (!vec3_in_range(tool->pose.position)) {
        return pz_error_set(error, POISE_ERROR_MODEL, "tool \"%s\": position is not finite, or beyond 1e100", tool->name);
    }
    return check_quat(&tool->pose.rotation, "tool", tool->name, "rotation", error);
}

// ---- Limits of a configuration: boxes by coordinate, an ellipse for swings -----------------------------------------------

void poise_model_neutral(const poise_model *model, double *q)
{
    if (!model || !q) {
        return;
    }
    for (int i = 0; i < model->nq; ++i) {
        q[i] = 0.0;
    }
    for (int s = 0; s < model->step_count; ++s) {
        if (model->steps[s].kind == PZ_QUATERNION) {
            q[model->steps[s].q + 3] = 1.0;
        }
    }
}

// ---- Limits: swings ------------------------------------------------------------------------------------------------------

// Beyond this the squares of a swing may overflow. Any swing of length 4 is outside still.
#define LONG_SWING 1e100

#define SHRINKING 64 // rounds

// Shrink along the ray to the centre. Rounding may leave the result a hair outside, so shrink on until it is inside. An
// ellipse of denormal numbers has no points but its centre.
static void clamp_swing(const poise_joint *given, double *q)
{
    double largest = max2(fabs(q[0]), fabs(q[1]));
    if (largest > LONG_SWING) {
        q[0] = 4.0 * (q[0] / largest);
        q[1] = 4.0 * (q[1] / largest);
    }
    double size = sqrt(pz_swing_excess(given, q));
    for (int round = 0; !(pz_swing_excess(given, q) <= 1.0); ++round) {
        q[0] = round < SHRINKING ? q[0] / size : 0.0;
        q[1] = round < SHRINKING ? q[1] / size : 0.0;
        size = 1.0 + PZ_EPSILON;
    }
}

static bool is_swing(const poise_model *model, int k)
{
    return model->given[k].type == POISE_JOINT_SWING_TWIST;
}

void pz_model_clamp_swings(const poise_model *model, double *q)
{
    for (int k = 0; k < model->joint_count; ++k) {
        if (is_swing(model, k)) {
            clamp_swing(&model->given[k], q + model->joints[k].q_begin);
        }
    }
}

// The edge as clamp_swing leaves it: a few roundings inside.
bool pz_model_at_swing_edge(const poise_model *model, const double *q, int coordinate)
{
    for (int k = 0; k < model->joint_count; ++k) {
        int first = model->joints[k].q_begin;
        if (is_swing(model, k) && (coordinate == first || coordinate == first + 1)) {
            return pz_swing_excess(&model->given[k], q + first) >= 1.0 - 8.0 * PZ_EPSILON;
        }
    }
    return false;
}

// ---- Limits: all ---------------------------------------------------------------------------------------------------------

static bool quaternions_are_sound(const poise_model *model, const double *q)
{
    for (int s = 0; s < model->step_count; ++s) {
        const pz_step *step = &model->steps[s];
        if (step->kind == PZ_QUATERNION) {
            const double *c = q + step->q;
            if (c[0] == 0 && c[1] == 0 && c[2] == 0 && c[3] == 0) {
                return false;
            }
        }
    }
    return true;
}

bool pz_model_accepts(const poise_model *model, const double *q)
{
    return all_finite(q, (size_t)model->nq) && (model->nq == model->nv || quaternions_are_sound(model, q));
}

int poise_model_suspect_degrees(const poise_model *model, const double *q)
{
    const double turn = 6.3, turns = 20, none = 1e6;
    for (int i = 0; model && q && i < model->nq; ++i) {
        if (q[i] >= -turn && q[i] <= turn) {
            continue;
        }
        poise_coordinate c = poise_model_coordinate(model, i);
        bool is_angle = c.unit == POISE_UNIT_ANGLE && model->given[c.joint].type != POISE_JOINT_FREE;
        bool is_limited = model->lower[i] > -none && model->upper[i] < none;
        bool is_far = is_limited ? q[i] < model->lower[i] || q[i] > model->upper[i] : q[i] < -turns || q[i] > turns;
        if (is_angle && is_far) {
            return i;
        }
    }
    return POISE_NONE;
}

bool poise_model_within_limits(const poise_model *model, const double *q)
{
    if (!model || !q || !pz_model_accepts(model, q)) {
        return false;
    }
    for (int i = 0; i < model->nq; ++i) {
        if (!(model->lower[i] <= q[i] && q[i] <= model->upper[i])) {
            return false;
        }
    }
    for (int k = 0; k < model->joint_count; ++k) {
        if (is_swing(model, k) && pz_swing_excess(&model->given[k], q + model->joints[k].q_begin) > 1.0) {
            return false;
        }
    }
    return true;
}

static bool clamp_joint(const poise_model *model, int k, double *q)
{
    const pz_joint *joint = &model->joints[k];
    bool moved = false;
    if (is_swing(model, k) && pz_swing_excess(&model->given[k], q + joint->q_begin) > 1.0) {
        clamp_swing(&model->given[k], q + joint->q_begin);
        moved = true;
    }
    for (int i = joint->q_begin; i < joint->q_end; ++i) {
        double inside = clamp(q[i], model->lower[i], model->upper[i]);
        moved = moved || inside != q[i];
        q[i] = inside;
    }
    return moved;
}

poise_status poise_model_clamp(const poise_model *model, double *q, int *moved, poise_error *error)
{
    if (!model) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "model must not be NULL");
    }
    if (!q || !pz_model_accepts(model, q)) {
        return pz_refuse_q(model, q, "q", error);
    }
    int count = 0;
    for (int k = 0; k < model->joint_count; ++k) {
        count += clamp_joint(model, k, q);
    }
    for (int s = 0; s < model->step_count; ++s) {
        if (model->steps[s].kind == PZ_QUATERNION) {
            double *c = q + model->steps[s].q;
            quat unit = pz_unit_quat((quat){c[0], c[1], c[2], c[3]});
            c[0] = unit.x, c[1] = unit.y, c[2] = unit.z, c[3] = unit.w;
        }
    }
    if (moved) {
        *moved = count;
    }
    return POISE_OK;
}
