// Forward kinematics against plain products of poses; first and second derivatives against differences and closed forms.
#include "model/model.h"
#include "num/vector.h"
#include "support/derivative_check.h"

#include <float.h>

#define MODELS  40
#define JOINTS  24
#define NUMBERS (7 * JOINTS)

static double distance(poise_vec3 a, poise_vec3 b)
{
    return v3_norm(v3_sub(a, b));
}

// Length of the vector part of a b*: half the angle between them, for small ones.
static double turn_between(poise_quat a, poise_quat b)
{
    return v3_norm(quat_vec(quat_mul(a, quat_conj(b))));
}

// ---- Forward kinematics, the plain way -----------------------------------------------------------------------------------

static poise_pose turn_about(poise_vec3 axis, double angle)
{
    return (poise_pose){poise_quat_from_axis_angle(axis, angle), {0, 0, 0}};
}

static poise_pose slide_by(double x, double y, double z)
{
    return (poise_pose){{0, 0, 0, 1}, {x, y, z}};
}

static poise_pose turn_by_vector(double x, double y, double z)
{
    return turn_about(v3(x, y, z), v3_norm(v3(x, y, z)));
}

static poise_pose turn_by_quat(const double *q)
{
    return (poise_pose){quat_normalize((quat){q[0], q[1], q[2], q[3]}), {0, 0, 0}};
}

static poise_pose turn_by_euler(poise_euler_order order, const double *q)
{
    static const char *const letters[POISE_EULER_ORDER_COUNT] = {
        [POISE_EULER_XYZ] = "xyz", [POISE_EULER_XZY] = "xzy", [POISE_EULER_YXZ] = "yxz", [POISE_EULER_YZX] = "yzx",
        [POISE_EULER_ZXY] = "zxy", [POISE_EULER_ZYX] = "zyx", [POISE_EULER_XYX] = "xyx", [POISE_EULER_XZX] = "xzx",
        [POISE_EULER_YXY] = "yxy", [POISE_EULER_YZY] = "yzy", [POISE_EULER_ZXZ] = "zxz", [POISE_EULER_ZYZ] = "zyz"};
    poise_pose pose = poise_pose_identity();
    for (int i = 0; i < 3; ++i) {
        char c = letters[order][i];
        pose = poise_pose_multiply(pose, turn_about(v3(c == 'x', c == 'y', c == 'z'), q[i]));
    }
    return pose;
}

static double value_of(const poise_function *f, double x)
{
    double room[64];
    ck_assert_uint_le(pz_function_room(f), TEST_COUNT(room));
    pz_function packed = pz_function_pack(f, room); // test_curve.c tells whether that is right
    return pz_function_at(&packed, x).f;
}

static poise_pose curve_motion(const poise_curve *curve, double q)
{
    poise_pose pose = poise_pose_identity();
    for (int i = 3; i < 9; ++i) {
        vec3 a = v3_normalize(curve->axis[i % 6]);
        double value = value_of(&curve->value[i % 6], q);
        pose = poise_pose_multiply(pose, i < 6 ? slide_by(value * a.x, value * a.y, value * a.z) : turn_about(a, value));
    }
    return pose;
}

// motion_k(q) in the frame of the joint's axes, as the table in model.h has it.
static poise_pose motion(const poise_joint *joint, const double *q)
{
    const poise_vec3 z = {0, 0, 1};
    switch (joint->type) {
    case POISE_JOINT_REVOLUTE:
        return turn_about(joint->axis, q[0]);
    case POISE_JOINT_PRISMATIC:
        return slide_by(q[0] * joint->axis.x, q[0] * joint->axis.y, q[0] * joint->axis.z);
    case POISE_JOINT_UNIVERSAL:
        return poise_pose_multiply(turn_about(joint->axis, q[0]), turn_about(joint->axis2, q[1]));
    case POISE_JOINT_BALL_EULER:
        return turn_by_euler(joint->order, q);
    case POISE_JOINT_BALL_EXPMAP:
        return turn_by_vector(q[0], q[1], q[2]);
    case POISE_JOINT_BALL_QUATERNION:
        return turn_by_quat(q);
    case POISE_JOINT_SWING_TWIST:
        return poise_pose_multiply(turn_by_vector(q[0], q[1], 0), turn_about(z, q[2]));
    case POISE_JOINT_TRANSLATION:
        return slide_by(q[0], q[1], q[2]);
    case POISE_JOINT_PLANAR:
        return poise_pose_multiply(slide_by(q[0], q[1], 0), turn_about(z, q[2]));
    case POISE_JOINT_FREE:
        return poise_pose_multiply(slide_by(q[0], q[1], q[2]), turn_by_quat(q + 3));
    case POISE_JOINT_FREE_EXPMAP:
        return poise_pose_multiply(slide_by(q[0], q[1], q[2]), turn_by_vector(q[3], q[4], q[5]));
    case POISE_JOINT_FREE_EULER:
        return poise_pose_multiply(slide_by(q[0], q[1], q[2]), turn_by_euler(joint->order, q + 3));
    case POISE_JOINT_CURVE:
        return curve_motion(joint->curve, q[0]);
    case POISE_JOINT_FIXED:
    case POISE_JOINT_TYPE_COUNT:
        break;
    }
    return poise_pose_identity();
}

static poise_pose plain_pose(const figure *f, int k)
{
    poise_joint joint = *poise_model_joint_info(f->model, k).given;
    int parent = poise_model_joint_info(f->model, k).parent, leader = poise_model_joint_info(f->model, k).mimic;
    const double *q = f->q + poise_model_joint_info(f->model, leader == POISE_NONE ? k : leader).q;
    double followed = leader == POISE_NONE   ? 0.0
                      : joint.mimic_function ? value_of(joint.mimic_function, q[0])
                                             : joint.mimic_multiplier * q[0] + joint.mimic_offset;
    poise_pose pose = motion(&joint, leader == POISE_NONE ? q : &followed);
    bool has_axes =
        joint.type != POISE_JOINT_REVOLUTE && joint.type != POISE_JOINT_PRISMATIC && joint.type != POISE_JOINT_UNIVERSAL;
    if (has_axes) {
        poise_pose A = {joint.axes, {0, 0, 0}};
        pose = poise_pose_multiply(poise_pose_multiply(A, pose), poise_pose_inverse(A));
    }
    pose = poise_pose_multiply(joint.offset, pose);
    return parent == POISE_WORLD ? pose : poise_pose_multiply(plain_pose(f, parent), pose);
}

// Each joint on a path turns by some five quaternions, each of which rounds a few times, on both sides; the arms are below 3
// (offset, slide), so that a point moves by at most 3 * depth times the angle.
#define POSE_BOUND(depth) (64 * DBL_EPSILON * (depth))

static void check_poses(const figure *f)
{
    for (int k = 0; k < poise_model_info(f->model).joints; ++k) {
        poise_pose expected = plain_pose(f, k), pose = poise_kinematics_body_pose(f->kin, k);
        int depth = pz_model_path(f->model, k, NULL, 0);
        ck_assert_double_le(turn_between(pose.rotation, expected.rotation), POSE_BOUND(depth));
        ck_assert_double_le(distance(pose.position, expected.position), 3 * depth * POSE_BOUND(depth));
        ck_assert_double_le(fabs(quat_mul(pose.rotation, quat_conj(pose.rotation)).w - 1.0), 8 * DBL_EPSILON);
        ck_assert_double_ge(pose.rotation.w, 0.0);
        poise_vec3 local = {0.3, -0.2, 0.5};
        ck_assert_double_le(distance(poise_kinematics_point(f->kin, k, local), poise_pose_transform(expected, local)),
                            3 * depth * POSE_BOUND(depth));
        ck_assert_double_le(
            distance(poise_kinematics_direction(f->kin, k, local), poise_quat_rotate(expected.rotation, local)),
            2 * POSE_BOUND(depth));
    }
}

TEST(bodies_are_where_the_product_of_poses_puts_them)
{
    scene_random random = scene_random_make(1);
    for (int i = 0; i < 5 * MODELS; ++i) {
        figure f = random_figure(&random, JOINTS, RANDOM_FOREST | RANDOM_MIMICS | (i % 2 ? RANDOM_CURVES : 0));
        check_poses(&f);
    }
}

TEST(every_joint_type_alone_moves_as_the_table_says)
{
    scene_random random = scene_random_make(2);
    for (int type = 0; type < POISE_JOINT_TYPE_COUNT; ++type) {
        for (int trial = 0; trial < 50; ++trial) {
            poise_builder *builder = new_builder();
            poise_joint joint = random_joint(&random, (poise_joint_type)type);
            joint.name = "a";
            if (trial < POISE_EULER_ORDER_COUNT) {
                joint.order = (poise_euler_order)trial;
            }
            add(builder, &joint);
            figure f = figure_of(model_of(builder));
            scene_random_configuration(&random, f.model, f.q);
            update(&f);
            check_poses(&f);
        }
    }
}

TEST(tools_and_frames_agree_with_the_poses_of_their_bodies)
{
    scene_random random = scene_random_make(3);
    for (int i = 0; i < MODELS; ++i) {
        figure f = random_figure(&random, JOINTS, RANDOM_FOREST);
        for (int t = 0; t < poise_model_info(f.model).tools; ++t) {
            poise_pose body = poise_kinematics_body_pose(f.kin, poise_model_tool_info(f.model, t).body);
            poise_pose expected = poise_pose_multiply(body, poise_model_tool_info(f.model, t).pose);
            poise_pose tool = poise_kinematics_tool_pose(f.kin, t);
            ck_assert_mem_eq(&tool, &expected, sizeof tool);
        }
        for (int k = 0; k < JOINTS; ++k) {
            poise_pose pose = poise_kinematics_body_pose(f.kin, k);
            double R[9], p[3], expected[9];
            poise_kinematics_body_frame(f.kin, k, R, p);
            poise_quat_to_matrix(pose.rotation, expected);
            ck_assert(p[0] == pose.position.x && p[1] == pose.position.y && p[2] == pose.position.z);
            for (int j = 0; j < 9; ++j) {
                // the frame has been through up to JOINTS products that the quaternion's normalisation takes out
                ck_assert_double_eq_tol(R[j], expected[j], POSE_BOUND(JOINTS));
            }
        }
    }
}

// One angle of every size, up to many turns, the others near: on a chain whose last register of four is not full.
TEST(far_angles_have_the_same_bits_with_wide_and_narrow_registers)
{
    enum { HINGES = 7 };
    static const char names[] = "a\0b\0c\0d\0e\0f\0g";
    poise_builder *builder = new_builder();
    for (int i = 0; i < HINGES; ++i) {
        add_plain(builder, names + 2 * i, i > 0 ? names + 2 * (i - 1) : NULL, POISE_JOINT_REVOLUTE);
    }
    figure f = figure_of(model_of(builder));
    bool is_wide = f.model->is_wide;
    double R[2][HINGES][9], position[3];
    scene_random random = scene_random_make(5);
    for (int exponent = 0; exponent < 60; ++exponent) {
        for (int i = 0; i < HINGES; ++i) {
            f.q[i] = ldexp(scene_random_normal(&random), i == exponent % HINGES ? exponent : 0);
        }
        for (int narrow = 0; narrow < 2; ++narrow) {
            f.model->is_wide = is_wide && !narrow;
            update(&f);
            for (int body = 0; body < HINGES; ++body) {
                poise_kinematics_body_frame(f.kin, body, R[narrow][body], position);
            }
        }
        ck_assert_mem_eq(R[0], R[1], sizeof R[0]);
    }
}

TEST(bodies_out_of_range_do_not_move)
{
    scene_random random = scene_random_make(4);
    figure f = random_figure(&random, 5, RANDOM_PLAIN);
    poise_vec3 x = {1, 2, 3};
    for (int i = 0; i < 3; ++i) {
        int k = (int[]){POISE_WORLD, -5, 5}[i];
        poise_pose pose = poise_kinematics_body_pose(f.kin, k), tool = poise_kinematics_tool_pose(f.kin, k);
        poise_pose identity = poise_pose_identity();
        ck_assert_mem_eq(&pose, &identity, sizeof pose);
        ck_assert_mem_eq(&tool, &identity, sizeof tool);
        poise_vec3 point = poise_kinematics_point(f.kin, k, x), d = poise_kinematics_direction(f.kin, k, x);
        ck_assert_mem_eq(&point, &x, sizeof x);
        ck_assert_mem_eq(&d, &x, sizeof x);
    }
}

// ---- Far from the origin -------------------------------------------------------------------------------------------------

// The same skeleton with its root at 0 and at 1e6. World positions have units of 1.2e-10 there, so that a difference of two
// misses the true one by at most half a unit in each component; derivatives know nothing of the distance.
TEST(a_root_at_a_million_costs_positions_their_last_unit_and_derivatives_nothing)
{
    scene_random random = scene_random_make(5);
    const double unit = 0x1p-33; // of numbers between 2^19 and 2^20
    for (int trial = 0; trial < MODELS; ++trial) {
        poise_builder *builder = new_builder();
        add_plain(builder, "root", NULL, POISE_JOINT_FREE);
        for (int i = 1; i < 10; ++i) {
            char name[16], parent[16];
            snprintf(name, sizeof name, "j%d", i);
            snprintf(parent, sizeof parent, "j%d", i - 1);
            poise_joint joint = random_joint(&random, (poise_joint_type)scene_random_index(&random, POISE_JOINT_TYPE_COUNT));
            joint.name = name;
            joint.parent = i == 1 ? "root" : parent;
            add(builder, &joint);
        }
        figure f = figure_of(model_of(builder));
        scene_random_configuration(&random, f.model, f.q);
        f.q[0] = f.q[1] = f.q[2] = 0.0;
        update(&f);
        poise_vec3 x = {0.1, 0.2, 0.3}, near = poise_kinematics_point(f.kin, 9, x);
        double near_J[3 * NUMBERS], far_J[3 * NUMBERS];
        ck_assert_int_eq(poise_kinematics_jacobian(f.kin, 9, x, near_J, NULL, NULL), POISE_OK);
        poise_vec3 root = {1e6, -1e6, 1e6};
        f.q[0] = root.x, f.q[1] = root.y, f.q[2] = root.z;
        update(&f);
        poise_vec3 far = v3_sub(poise_kinematics_point(f.kin, 9, x), root);
        ck_assert_int_eq(poise_kinematics_jacobian(f.kin, 9, x, far_J, NULL, NULL), POISE_OK);
        ck_assert_mem_eq(near_J, far_J, (size_t)(3 * f.nv) * sizeof *near_J);
        ck_assert_double_le(fabs(far.x - near.x), 0.5 * unit);
        ck_assert_double_le(fabs(far.y - near.y), 0.5 * unit);
        ck_assert_double_le(fabs(far.z - near.z), 0.5 * unit);
    }
}

// ---- The planar case -----------------------------------------------------------------------------------------------------

// Every axis is +z: turning joint j moves the end p_i of bone i by R(pi/2) (p_i - p_j), p_j the joint's own place.
TEST(in_the_plane_a_column_is_the_arm_turned_by_a_right_angle)
{
    enum { BONES = 12 };
    scene_random random = scene_random_make(6);
    poise_builder *builder = new_builder();
    for (int i = 0; i < BONES; ++i) {
        char name[16], parent[16];
        snprintf(name, sizeof name, "j%d", i);
        snprintf(parent, sizeof parent, "j%d", i == 0 ? 0 : scene_random_index(&random, i));
        poise_joint joint = joint_of(name, i == 0 ? NULL : parent, POISE_JOINT_REVOLUTE);
        joint.offset.position = poise_vec3_make(scene_random_range(&random, 0.2, 1.0), i == 0 ? 3.0 : 0.0, 0);
        add(builder, &joint);
    }
    figure f = figure_of(model_of(builder));
    for (int trial = 0; trial < MODELS; ++trial) {
        scene_random_configuration(&random, f.model, f.q);
        update(&f);
        for (int i = 0; i < BONES; ++i) {
            double J[3 * BONES];
            poise_vec3 tip = {0.5, 0, 0}, p_i = poise_kinematics_point(f.kin, i, tip);
            ck_assert_int_eq(poise_kinematics_jacobian(f.kin, i, tip, J, NULL, NULL), POISE_OK);
            for (int j = 0; j < BONES; ++j) {
                poise_vec3 p_j = poise_kinematics_body_pose(f.kin, j).position;
                bool moves = pz_model_is_ancestor(f.model, j, i);
                // some ten additions of lengths up to 10
                ck_assert_double_eq_tol(J[j], moves ? -(p_i.y - p_j.y) : 0.0, 64 * DBL_EPSILON);
                ck_assert_double_eq_tol(J[BONES + j], moves ? p_i.x - p_j.x : 0.0, 64 * DBL_EPSILON);
                ck_assert_double_eq(J[2 * BONES + j], 0.0);
            }
        }
    }
}

// ---- Derivatives ---------------------------------------------------------------------------------------------------------

// Of each type of joint: test_joints.c.
TEST(derivatives_in_random_trees_match_differences)
{
    scene_random random = scene_random_make(7);
    for (int i = 0; i < MODELS; ++i) {
        figure f = random_figure(&random, JOINTS / 2, RANDOM_MIMICS | RANDOM_FOREST);
        int body = scene_random_index(&random, JOINTS / 2);
        check_motion(&f, body, random_vector(&random, 0.5));
    }
}

TEST(the_mass_center_is_the_weighted_mean_of_its_bodies)
{
    scene_random random = scene_random_make(11);
    for (int i = 0; i < MODELS; ++i) {
        figure f = random_figure(&random, JOINTS, RANDOM_FOREST);
        double total = 0;
        poise_vec3 sum = {0, 0, 0}, center;
        for (int k = 0; k < JOINTS; ++k) {
            poise_joint joint = *poise_model_joint_info(f.model, k).given;
            total += joint.mass;
            sum = v3_mad(sum, joint.mass, poise_kinematics_point(f.kin, k, joint.mass_center));
        }
        ck_assert_double_eq_tol(poise_kinematics_mass_center(f.kin, &center, NULL), total, JOINTS * DBL_EPSILON * total);
        ck_assert_double_le(distance(center, v3_scale(sum, 1.0 / total)), 10 * JOINTS * DBL_EPSILON);
    }
}

TEST(a_model_without_mass_has_no_mass_center)
{
    poise_builder *builder = new_builder();
    add_plain(builder, "a", NULL, POISE_JOINT_FREE);
    figure f = figure_of(model_of(builder));
    poise_vec3 center = {9, 9, 9};
    double J[18];
    memset(J, 0x55, sizeof J);
    ck_assert_double_eq(poise_kinematics_mass_center(f.kin, &center, J), 0.0);
    ck_assert(center.x == 0 && center.y == 0 && center.z == 0);
    for (size_t i = 0; i < sizeof J; ++i) {
        ck_assert_int_eq(((unsigned char *)J)[i], 0x55);
    }
}

// ---- Refusals ------------------------------------------------------------------------------------------------------------

TEST(update_refuses_what_is_not_a_configuration_and_keeps_the_last)
{
    scene_random random = scene_random_make(12);
    figure f = random_figure(&random, JOINTS, RANDOM_PLAIN);
    poise_pose before[JOINTS];
    for (int k = 0; k < JOINTS; ++k) {
        before[k] = poise_kinematics_body_pose(f.kin, k);
    }
    for (int i = 0; i < f.nq; ++i) {
        for (int k = 0; k < 3; ++k) {
            double q[NUMBERS];
            poise_model_neutral(f.model, q);
            q[i] = (double[]){NAN, INFINITY, -INFINITY}[k];
            ck_assert_int_eq(poise_kinematics_update(f.kin, q, NULL), POISE_ERROR_ARGUMENT);
        }
    }
    for (int k = 0; k < JOINTS; ++k) {
        poise_joint_type type = poise_model_joint_info(f.model, k).type;
        if (type == POISE_JOINT_BALL_QUATERNION || type == POISE_JOINT_FREE) {
            double q[NUMBERS];
            poise_model_neutral(f.model, q);
            int first = poise_model_joint_info(f.model, k).q, count = poise_model_joint_info(f.model, k).nq;
            q[first + count - 1] = 0.0;
            poise_error error;
            char quoted[32];
            snprintf(quoted, sizeof quoted, "\"%s\" is zero", poise_model_joint_info(f.model, k).name);
            ck_assert_int_eq(poise_kinematics_update(f.kin, q, &error), POISE_ERROR_ARGUMENT);
            ck_assert_msg(strstr(error.text, quoted) != NULL, "%s", error.text);
        }
    }
    ck_assert_int_eq(poise_kinematics_update(f.kin, NULL, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_kinematics_update(NULL, f.q, NULL), POISE_ERROR_ARGUMENT);
    for (int k = 0; k < JOINTS; ++k) {
        poise_pose pose = poise_kinematics_body_pose(f.kin, k);
        ck_assert_mem_eq(&pose, &before[k], sizeof pose);
    }
}

typedef poise_status (*derivative)(const poise_kinematics *kin, int body, poise_vec3 local, double *out, poise_error *error);

static poise_status point_jacobian(const poise_kinematics *kin, int body, poise_vec3 local, double *out, poise_error *error)
{
    return poise_kinematics_jacobian(kin, body, local, out, NULL, error);
}

static poise_status turn_jacobian(const poise_kinematics *kin, int body, poise_vec3 local, double *out, poise_error *error)
{
    return poise_kinematics_jacobian(kin, body, local, NULL, out, error);
}

TEST(derivatives_refuse_bad_arguments_and_write_nothing)
{
    static const derivative all[] = {point_jacobian, turn_jacobian, poise_kinematics_direction_jacobian,
                                     poise_kinematics_point_tensor};
    scene_random random = scene_random_make(13);
    figure f = random_figure(&random, 3, RANDOM_PLAIN);
    double *out = calloc((size_t)(6 * NUMBERS + 3 * f.nv * f.nv), sizeof *out);
    for (size_t i = 0; i < TEST_COUNT(all); ++i) {
        out[0] = -7;
        ck_assert_int_eq(all[i](f.kin, POISE_WORLD, v3(0, 0, 0), out, NULL), POISE_ERROR_ARGUMENT);
        ck_assert_int_eq(all[i](f.kin, 3, v3(0, 0, 0), out, NULL), POISE_ERROR_ARGUMENT);
        ck_assert_int_eq(all[i](f.kin, 0, v3(0, NAN, 0), out, NULL), POISE_ERROR_ARGUMENT);
        ck_assert_int_eq(all[i](f.kin, 0, v3(0, 0, 0), NULL, NULL), POISE_ERROR_ARGUMENT);
        ck_assert_int_eq(all[i](NULL, 0, v3(0, 0, 0), out, NULL), POISE_ERROR_ARGUMENT);
        ck_assert_double_eq(out[0], -7);
    }
    ck_assert_double_eq(poise_kinematics_mass_center(NULL, NULL, out), 0);
    ck_assert_double_eq(out[0], -7);
    free(out);
}
