// Models and kinematics.
#include "glue.h"

#include "scenes/scenes.h"

#include <string.h>

// ---- Building ------------------------------------------------------------------------------------------------------------

poise_builder *WEB_EXPORT(web_builder_create)(void)
{
    poise_builder *builder = NULL;
    poise_builder_create(NULL, &builder, web_error_clear());
    return builder;
}

// Row: type, offset (7), axis (3), axis2 (3), axes (4), order, lower (7), upper (7), swing (2), multiplier and offset of the
// mimic, mass, its centre (3). Names may be 0 as in poise_joint.
poise_status WEB_EXPORT(web_builder_joint)(poise_builder *builder, const char *name, const char *body, const char *parent,
                                           const char *mimic, double *numbers)
{
    web_row row = {numbers};
    poise_joint joint = poise_joint_default();
    joint.name = name;
    joint.body = body;
    joint.parent = parent;
    joint.mimic = mimic;
    joint.type = (poise_joint_type)web_get_int(&row);
    joint.offset = web_get_pose(&row);
    joint.axis = web_get_vec3(&row);
    joint.axis2 = web_get_vec3(&row);
    joint.axes = web_get_quat(&row);
    joint.order = (poise_euler_order)web_get_int(&row);
    memcpy(joint.lower, row.at, sizeof joint.lower);
    row.at += 7;
    memcpy(joint.upper, row.at, sizeof joint.upper);
    row.at += 7;
    joint.swing[0] = web_get(&row);
    joint.swing[1] = web_get(&row);
    joint.mimic_multiplier = web_get(&row);
    joint.mimic_offset = web_get(&row);
    joint.mass = web_get(&row);
    joint.mass_center = web_get_vec3(&row);
    return poise_builder_add_joint(builder, &joint, web_error_clear());
}

static void put_joint(web_row *row, const poise_joint *joint)
{
    web_put(row, joint->type);
    web_put_pose(row, joint->offset);
    web_put_vec3(row, joint->axis);
    web_put_vec3(row, joint->axis2);
    web_put_quat(row, joint->axes);
    web_put(row, joint->order);
    memcpy(row->at, joint->lower, sizeof joint->lower);
    row->at += 7;
    memcpy(row->at, joint->upper, sizeof joint->upper);
    row->at += 7;
    web_put(row, joint->swing[0]);
    web_put(row, joint->swing[1]);
    web_put(row, joint->mimic_multiplier);
    web_put(row, joint->mimic_offset);
    web_put(row, joint->mass);
    web_put_vec3(row, joint->mass_center);
}

// The joint as it was described; the default joint for an index out of range, or without a model.
void WEB_EXPORT(web_joint)(const poise_model *model, int joint, double *numbers)
{
    web_row row = {numbers};
    poise_joint described = model ? poise_model_joint(model, joint) : poise_joint_default();
    put_joint(&row, &described);
}

poise_status WEB_EXPORT(web_builder_tool)(poise_builder *builder, const char *name, const char *body, double *pose)
{
    web_row row = {pose};
    poise_tool tool = {.name = name, .body = body, .pose = web_get_pose(&row)};
    return poise_builder_add_tool(builder, &tool, web_error_clear());
}

// Rows: a, alpha, d, theta, is prismatic, lower, upper.
poise_status WEB_EXPORT(web_builder_dh)(poise_builder *builder, const char *prefix, const char *parent, int convention,
                                        double *numbers, int count)
{
    poise_dh_row *rows = web_take((size_t)count, sizeof *rows);
    if (!rows) {
        return POISE_ERROR_MEMORY;
    }
    web_row row = {numbers};
    for (int i = 0; i < count; ++i) {
        rows[i].a = web_get(&row);
        rows[i].alpha = web_get(&row);
        rows[i].d = web_get(&row);
        rows[i].theta = web_get(&row);
        rows[i].prismatic = web_get_bool(&row);
        rows[i].lower = web_get(&row);
        rows[i].upper = web_get(&row);
    }
    poise_status status =
        poise_builder_add_dh(builder, prefix, parent, (poise_dh_convention)convention, rows, count, web_error_clear());
    web_release(rows);
    return status;
}

poise_model *WEB_EXPORT(web_model_create)(const poise_builder *builder)
{
    poise_model *model = NULL;
    poise_model_create(builder, NULL, &model, web_error_clear());
    return model;
}

poise_model *WEB_EXPORT(web_scene_create)(const char *name)
{
    poise_model *model = NULL;
    poise_error *error = web_error_clear();
    poise_status status = scene_create(name, NULL, &model, error);
    if (status != POISE_OK && error->status == POISE_OK) {
        web_fail(status, "there is no such scene");
    }
    return model;
}

// ---- Asking --------------------------------------------------------------------------------------------------------------

// Row: joints, tools, nq, nv, the addresses of the lower and the upper limits.
void WEB_EXPORT(web_model_info)(const poise_model *model, double *numbers)
{
    web_row row = {numbers};
    poise_model_summary info = poise_model_info(model);
    web_put(&row, info.joints);
    web_put(&row, info.tools);
    web_put(&row, info.nq);
    web_put(&row, info.nv);
    web_put_address(&row, info.lower);
    web_put_address(&row, info.upper);
}

// Eight numbers for each joint: type, parent, where its numbers start in q, how many, the same for a step, the joint it
// mimics, joints in its subtree.
void WEB_EXPORT(web_model_table)(const poise_model *model, int32_t *table)
{
    for (int joint = 0; joint < poise_model_info(model).joints; ++joint, table += 8) {
        poise_joint_info info = poise_model_joint_info(model, joint);
        const int row[8] = {(int)info.type,
                            info.parent,
                            info.q,
                            info.nq,
                            info.v,
                            info.nv,
                            info.mimic == POISE_NONE ? POISE_WORLD : info.mimic,
                            info.subtree};
        for (int i = 0; i < 8; ++i) {
            table[i] = row[i];
        }
    }
}

const char *WEB_EXPORT(web_joint_name)(const poise_model *model, int joint)
{
    return poise_model_joint_info(model, joint).name;
}

const char *WEB_EXPORT(web_body_name)(const poise_model *model, int body)
{
    return poise_model_joint_info(model, body).body;
}

// Fills the pose and returns the name.
const char *WEB_EXPORT(web_tool)(const poise_model *model, int tool, double *pose)
{
    poise_tool_info info = poise_model_tool_info(model, tool);
    web_put_pose(&(web_row){pose}, info.pose);
    return info.name;
}

int WEB_EXPORT(web_tool_body)(const poise_model *model, int tool)
{
    return poise_model_tool_info(model, tool).body;
}

// Joints moved, or -1 when a number is not finite or a quaternion is zero.
int WEB_EXPORT(web_clamp)(const poise_model *model, double *q)
{
    int moved = 0;
    return poise_model_clamp(model, q, &moved, NULL) == POISE_OK ? moved : -1;
}

// A new model with bones `scale` (one number for each joint) as long.
poise_model *WEB_EXPORT(web_model_rescale)(const poise_model *model, const double *scale)
{
    poise_model *rescaled = NULL;
    poise_model_rescale(model, scale, NULL, &rescaled, web_error_clear());
    return rescaled;
}

// ---- Kinematics ----------------------------------------------------------------------------------------------------------

poise_kinematics *WEB_EXPORT(web_kinematics_create)(const poise_model *model)
{
    poise_kinematics *kinematics = NULL;
    poise_kinematics_create(model, NULL, &kinematics, web_error_clear());
    return kinematics;
}

// Update for q, then fill `poses` (7 for each body) and `tools` (7 for each tool).
poise_status WEB_EXPORT(web_forward)(poise_kinematics *kinematics, const poise_model *model, const double *q, double *poses,
                                     double *tools)
{
    poise_status status = poise_kinematics_update(kinematics, q, web_error_clear());
    if (status != POISE_OK) {
        return status;
    }
    web_row row = {poses};
    for (int body = 0; body < poise_model_info(model).joints; ++body) {
        web_put_pose(&row, poise_kinematics_body_pose(kinematics, body));
    }
    row.at = tools;
    for (int tool = 0; tool < poise_model_info(model).tools; ++tool) {
        web_put_pose(&row, poise_kinematics_tool_pose(kinematics, tool));
    }
    return POISE_OK;
}

void WEB_EXPORT(web_point)(const poise_kinematics *kinematics, int body, double x, double y, double z, double *point)
{
    web_put_vec3(&(web_row){point}, poise_kinematics_point(kinematics, body, poise_vec3_make(x, y, z)));
}

void WEB_EXPORT(web_direction)(const poise_kinematics *kinematics, int body, double x, double y, double z, double *out)
{
    web_put_vec3(&(web_row){out}, poise_kinematics_direction(kinematics, body, poise_vec3_make(x, y, z)));
}

// Mass; the centre in `center`.
double WEB_EXPORT(web_mass_center)(const poise_kinematics *kinematics, double *center)
{
    poise_vec3 c;
    double mass = poise_kinematics_mass_center(kinematics, &c);
    web_put_vec3(&(web_row){center}, c);
    return mass;
}

typedef enum jacobian_kind { JACOBIAN_POINT, JACOBIAN_DIRECTION, JACOBIAN_FRAME, JACOBIAN_MASS_CENTER } jacobian_kind;

poise_status WEB_EXPORT(web_jacobian)(const poise_kinematics *kinematics, jacobian_kind kind, int body, double x, double y,
                                      double z, double *J)
{
    poise_vec3 local = poise_vec3_make(x, y, z);
    poise_error *error = web_error_clear();
    switch (kind) {
    case JACOBIAN_POINT:
        return poise_kinematics_point_jacobian(kinematics, body, local, J, error);
    case JACOBIAN_DIRECTION:
        return poise_kinematics_direction_jacobian(kinematics, body, local, J, error);
    case JACOBIAN_FRAME:
        return poise_kinematics_frame_jacobian(kinematics, body, local, J, error);
    default:
        return poise_kinematics_mass_center_jacobian(kinematics, J, error);
    }
}

poise_status WEB_EXPORT(web_point_tensor)(const poise_kinematics *kinematics, int body, double x, double y, double z,
                                          double *K)
{
    return poise_kinematics_point_tensor(kinematics, body, poise_vec3_make(x, y, z), K, web_error_clear());
}

// ---- Rotations -----------------------------------------------------------------------------------------------------------

void WEB_EXPORT(web_quat_from_axis_angle)(double x, double y, double z, double angle, double *quat)
{
    web_put_quat(&(web_row){quat}, poise_quat_from_axis_angle(poise_vec3_make(x, y, z), angle));
}
