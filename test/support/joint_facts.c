#include "joint_facts.h"

#define EULER(letters)                                                                                                      \
    {                                                                                                                       \
        "ball_euler " #letters, POISE_JOINT_BALL_EULER, POISE_EULER_##letters, false, 3, 3, 0, 0, NO_QUATERNION, 0, false   \
    }

const joint_facts joint_rows[JOINT_ROWS] = {
    {"fixed", POISE_JOINT_FIXED, POISE_EULER_XYZ, false, 0, 0, 0, 0, NO_QUATERNION, 0, false},
    {"revolute", POISE_JOINT_REVOLUTE, POISE_EULER_XYZ, false, 1, 1, 0, 0, NO_QUATERNION, 0, false},
    {"prismatic", POISE_JOINT_PRISMATIC, POISE_EULER_XYZ, false, 1, 1, 0, 0, NO_QUATERNION, 0, false},
    {"universal", POISE_JOINT_UNIVERSAL, POISE_EULER_XYZ, false, 2, 2, 0, 0, NO_QUATERNION, 0, false},
    EULER(XYZ),
    EULER(XZY),
    EULER(YXZ),
    EULER(YZX),
    EULER(ZXY),
    EULER(ZYX),
    EULER(XYX),
    EULER(XZX),
    EULER(YXY),
    EULER(YZY),
    EULER(ZXZ),
    EULER(ZYZ),
    {"ball_expmap", POISE_JOINT_BALL_EXPMAP, POISE_EULER_XYZ, false, 3, 3, 0, 3, NO_QUATERNION, 0, false},
    {"ball_quaternion", POISE_JOINT_BALL_QUATERNION, POISE_EULER_XYZ, false, 4, 3, 0, 0, 0, 0, false},
    {"swing_twist", POISE_JOINT_SWING_TWIST, POISE_EULER_XYZ, false, 3, 3, 0, 2, NO_QUATERNION, 0, false},
    {"translation", POISE_JOINT_TRANSLATION, POISE_EULER_XYZ, false, 3, 3, 0, 0, NO_QUATERNION, 0, false},
    {"planar", POISE_JOINT_PLANAR, POISE_EULER_XYZ, false, 3, 3, 0, 0, NO_QUATERNION, 0, false},
    {"free", POISE_JOINT_FREE, POISE_EULER_XYZ, false, 7, 6, 0, 0, 3, 0, false},
    {"free_expmap", POISE_JOINT_FREE_EXPMAP, POISE_EULER_XYZ, false, 6, 6, 3, 3, NO_QUATERNION, 0, false},
    {"free_euler", POISE_JOINT_FREE_EULER, POISE_EULER_ZYX, false, 6, 6, 0, 0, NO_QUATERNION, 0, false},
    {"revolute mimic", POISE_JOINT_REVOLUTE, POISE_EULER_XYZ, true, 1, 1, 0, 0, NO_QUATERNION, 0, false},
    {"prismatic mimic", POISE_JOINT_PRISMATIC, POISE_EULER_XYZ, true, 1, 1, 0, 0, NO_QUATERNION, 0, false},
    {"curve of a knee", POISE_JOINT_CURVE, POISE_EULER_XYZ, false, 1, 1, 0, 0, NO_QUATERNION, 0, false},
    {"curve of oblique axes", POISE_JOINT_CURVE, POISE_EULER_XYZ, false, 1, 1, 0, 0, NO_QUATERNION, 1, false},
    {"curve that slides", POISE_JOINT_CURVE, POISE_EULER_XYZ, false, 1, 1, 0, 0, NO_QUATERNION, 2, false},
    {"curve mimic", POISE_JOINT_CURVE, POISE_EULER_XYZ, true, 1, 1, 0, 0, NO_QUATERNION, 1, false},
    {"revolute by a function", POISE_JOINT_REVOLUTE, POISE_EULER_XYZ, true, 1, 1, 0, 0, NO_QUATERNION, 0, true},
    {"prismatic by a function", POISE_JOINT_PRISMATIC, POISE_EULER_XYZ, true, 1, 1, 0, 0, NO_QUATERNION, 0, true},
    {"curve by a function", POISE_JOINT_CURVE, POISE_EULER_XYZ, true, 1, 1, 0, 0, NO_QUATERNION, 1, true},
};

// Points where no difference steps.
static const double follow_x[] = {-3, -1.5, 1.5, 3}, follow_y[] = {0.4, 0.1, -0.3, 0.5};
static const poise_function follow = {POISE_FUNCTION_SPLINE, 4, follow_x, follow_y};

poise_joint joint_of_row(const joint_facts *row)
{
    poise_joint joint = joint_of("subject", "base", row->type);
    joint.order = row->order;
    joint.offset = (poise_pose){poise_quat_from_axis_angle(poise_vec3_make(1, 2, -1), 0.7), {0.2, 0.1, 0.4}};
    joint.axis = poise_vec3_make(1, 1, 0.5);
    joint.axis2 = poise_vec3_make(1, -1, 0);
    joint.axes = poise_quat_from_axis_angle(poise_vec3_make(-1, 1, 3), 0.4);
    joint.mass = 1.5;
    joint.mass_center = poise_vec3_make(0.1, 0.05, 0.2);
    joint.curve = row->type == POISE_JOINT_CURVE ? &random_curves[row->curve] : NULL;
    if (row->function) {
        joint.mimic = "base";
        joint.mimic_function = &follow;
    } else if (row->mimic) {
        joint.mimic = "base";
        joint.mimic_multiplier = -1.7;
        joint.mimic_offset = 0.3;
    }
    return joint;
}

static void add_link(poise_builder *builder, const char *name, const char *parent, poise_joint_type type, poise_vec3 at,
                     poise_vec3 axis, double mass)
{
    poise_joint joint = joint_of(name, parent, type);
    joint.offset.position = at;
    joint.axis = axis;
    joint.mass = mass;
    joint.mass_center = poise_vec3_make(0.2, 0.1, 0);
    add(builder, &joint);
}

poise_model *limb_of_row(const joint_facts *row)
{
    poise_builder *builder = new_builder();
    poise_joint joint = joint_of_row(row);
    for (int i = 0; i < 6 && row->quaternion == NO_QUATERNION && !row->mimic; ++i) {
        joint.lower[i] = -100.0;
        joint.upper[i] = 100.0;
    }
    add_link(builder, "base", NULL, POISE_JOINT_REVOLUTE, poise_vec3_make(3, -2, 1), poise_vec3_make(0, 1, 0), 2.0);
    add(builder, &joint);
    add_link(builder, "elbow", "subject", POISE_JOINT_REVOLUTE, poise_vec3_make(0.1, 0, 0.5), poise_vec3_make(1, 0, 0), 0.0);
    add_link(builder, "slide", "elbow", POISE_JOINT_PRISMATIC, poise_vec3_make(0, 0.1, 0.4), poise_vec3_make(0.3, -0.2, 1),
             1.0);
    add_link(builder, "wrist", "slide", POISE_JOINT_REVOLUTE, poise_vec3_make(0, 0, 0), poise_vec3_make(0, 1, 1), 0.0);
    add_link(builder, "other", "base", POISE_JOINT_REVOLUTE, poise_vec3_make(-0.3, 0.2, 0.1), poise_vec3_make(0, 0, 1), 0.7);
    return model_of(builder);
}

void pose_limb(const joint_facts *row, const poise_model *model, scene_random *random, int pose, double *q)
{
    static const double hard[HARD_POSES] = {
        0.0, 1e-9, 1e-5, 1.5707963267948966, 3.14159165358979323846, -3.14159165358979323846};
    for (int i = 0; i < poise_model_info(model).nq; ++i) {
        q[i] = scene_random_range(random, -1.2, 1.2);
    }
    if (pose >= HARD_POSES) {
        return;
    }
    poise_joint_info info = poise_model_joint_info(model, poise_model_find_joint(model, "subject"));
    for (int i = 0; i < info.nq && row->quaternion == NO_QUATERNION; ++i) {
        q[info.q + i] = i == info.nq / 2 || pose < 3 ? hard[pose] : 0.0;
    }
    if (row->quaternion != NO_QUATERNION) {
        poise_quat turn = poise_quat_from_axis_angle(poise_vec3_make(1, 1, -1), hard[pose]);
        double *c = q + info.q + row->quaternion;
        c[0] = turn.x, c[1] = turn.y, c[2] = turn.z, c[3] = turn.w;
    }
    if (pose == 0) { // a straight limb
        q[poise_model_joint_info(model, poise_model_find_joint(model, "elbow")).q] = 0.0;
        q[poise_model_joint_info(model, poise_model_find_joint(model, "wrist")).q] = 0.0;
    }
}
