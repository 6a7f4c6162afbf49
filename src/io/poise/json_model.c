// The Poise JSON format: models.
#include "io/poise/json_poise.h"

#include <string.h>

// ---- Parts of all members ------------------------------------------------------------------------------------------------

bool pz_same_numbers(const double *a, const double *b, size_t count)
{
    return memcmp(a, b, count * sizeof *a) == 0;
}

poise_status pz_json_numbers_or(const pz_item *item, double *values, size_t count, double missing)
{
    poise_status status = pz_json_need_length(item, count);
    for (size_t i = 0; i < count && status == POISE_OK; ++i) {
        pz_item element = pz_json_at(item, i);
        values[i] = missing;
        status = element.value ? pz_json_number(&element, &values[i]) : POISE_OK;
    }
    return status;
}

poise_status pz_json_unit_of(const pz_item *object, const char *key, double *values, size_t count)
{
    pz_item item = pz_json_get(object, key);
    poise_status status = item.value ? pz_json_numbers(&item, values, count) : POISE_OK;
    if (status != POISE_OK || !item.value) {
        return status;
    }
    double square = 0;
    for (size_t i = 0; i < count; ++i) {
        square += values[i] * values[i];
    }
    if (fabs(square - 1.0) <= 2e-6) {
        return POISE_OK;
    }
    quat unit = quat_normalize((quat){values[0], values[1], values[2], count > 3 ? values[3] : 0.0});
    if (unit.x == 0 && unit.y == 0 && unit.z == 0 && unit.w == 0) {
        return pz_json_fail(&item, POISE_ERROR_FORMAT, "zero length; give %s",
                            count > 3 ? "a quaternion such as [0, 0, 0, 1]" : "a direction such as [0, 0, 1]");
    }
    memcpy(values, (double[]){unit.x, unit.y, unit.z, unit.w}, count * sizeof *values);
    return POISE_OK;
}

poise_status pz_json_pose_of(const pz_item *object, poise_pose *pose)
{
    double p[3] = {pose->position.x, pose->position.y, pose->position.z};
    double r[4] = {pose->rotation.x, pose->rotation.y, pose->rotation.z, pose->rotation.w};
    poise_status status = pz_json_numbers_of(object, "position", p, 3);
    status = status == POISE_OK ? pz_json_unit_of(object, "rotation", r, 4) : status;
    *pose = (poise_pose){{r[0], r[1], r[2], r[3]}, {p[0], p[1], p[2]}};
    return status;
}

void pz_json_put_pose(pz_json_writer *writer, poise_pose pose)
{
    double p[3] = {pose.position.x, pose.position.y, pose.position.z};
    double r[4] = {pose.rotation.x, pose.rotation.y, pose.rotation.z, pose.rotation.w};
    if (!pz_same_numbers(p, (double[]){0, 0, 0}, 3)) {
        pz_json_put_numbers(writer, "position", p, 3);
    }
    if (!pz_same_numbers(r, (double[]){0, 0, 0, 1}, 4)) {
        pz_json_put_numbers(writer, "rotation", r, 4);
    }
}

// "a, b, c"; cut where it does not fit.
static void list_names(const char *(*name)(int), int count, char *text, size_t size)
{
    size_t at = 0;
    for (int i = 0; i < count; ++i) {
        size_t length = strlen(name(i));
        if (at + length + 3 > size) {
            break;
        }
        memcpy(text + at, ", ", 2);
        at += i > 0 ? 2 : 0;
        memcpy(text + at, name(i), length);
        at += length;
    }
    text[at] = '\0';
}

poise_status pz_json_choice_of(const pz_item *object, const char *key, const char *(*name)(int), int count, int *value)
{
    pz_item item = pz_json_get(object, key);
    const char *text = NULL;
    poise_status status = item.value ? pz_json_string(&item, &text) : POISE_OK;
    if (status != POISE_OK || !text) {
        return status;
    }
    for (int i = 0; i < count; ++i) {
        if (strcmp(text, name(i)) == 0) {
            *value = i;
            return POISE_OK;
        }
    }
    char all[180];
    list_names(name, count, all, sizeof all);
    return pz_json_fail(&item, POISE_ERROR_FORMAT, "\"%s\" is not one of %s", text, all);
}

poise_status pz_json_body(const pz_item *item, const poise_model *model, int *body)
{
    const char *name = NULL;
    poise_status status = pz_json_string(item, &name);
    if (status != POISE_OK) {
        return status;
    }
    int found = poise_model_find_body(model, name);
    if (found == POISE_NONE) {
        return pz_json_fail(item, POISE_ERROR_NOT_FOUND, "the model has no body \"%s\"", name);
    }
    *body = found;
    return POISE_OK;
}

poise_status pz_json_need_model(const pz_item *item, const poise_model *model)
{
    return model ? POISE_OK
                 : pz_json_fail(item, POISE_ERROR_FORMAT, "%s without a model; put one into the file, or give it as model",
                                item->key);
}

void *pz_json_entries(const pz_item *root, const char *key, const poise_model *model, pz_json_entry read, size_t size,
                      int *count, poise_status *status)
{
    pz_item list = pz_json_get(root, key);
    if (*status != POISE_OK || !list.value) {
        return NULL;
    }
    *status = pz_json_need_array(&list);
    *status = *status == POISE_OK ? pz_json_need_model(&list, model) : *status;
    size_t length = pz_json_length(&list);
    if (*status != POISE_OK || length == 0) {
        return NULL;
    }
    unsigned char *entries = pz_pool_take(&root->json->input->kept, length, size);
    *status = entries ? POISE_OK : pz_input_no_memory(root->json->input);
    for (size_t i = 0; i < length && *status == POISE_OK; ++i) {
        pz_item item = pz_json_at(&list, i);
        *status = read(&item, model, entries + i * size);
    }
    *count = *status == POISE_OK ? (int)length : 0;
    return *status == POISE_OK ? entries : NULL;
}

// ---- Joints --------------------------------------------------------------------------------------------------------------

static const char *type_name(int type)
{
    return poise_joint_type_name((poise_joint_type)type);
}

static bool has_axis(poise_joint_type type)
{
    return type == POISE_JOINT_REVOLUTE || type == POISE_JOINT_PRISMATIC || type == POISE_JOINT_UNIVERSAL;
}

static poise_status read_limit(const pz_item *object, const char *key, size_t count, double none, double *limit)
{
    pz_item item = pz_json_get(object, key);
    if (!item.value) {
        return POISE_OK;
    }
    if (pz_json_is_number(&item) && count == 1) { // a joint of one coordinate may leave the brackets out
        return pz_json_number(&item, limit);
    }
    return pz_json_numbers_or(&item, limit, count, none);
}

static poise_status read_mimic(const pz_item *object, poise_joint *joint)
{
    static const char *const known[] = {"joint", "multiplier", "offset", "function"};
    pz_item item = pz_json_get(object, "mimic");
    if (!item.value) {
        return POISE_OK;
    }
    poise_status status = pz_json_need_object(&item);
    pz_item other = pz_json_get(&item, "joint");
    status = status == POISE_OK ? pz_json_string(&other, &joint->mimic) : status;
    status = status == POISE_OK ? pz_json_number_of(&item, "multiplier", &joint->mimic_multiplier) : status;
    status = status == POISE_OK ? pz_json_number_of(&item, "offset", &joint->mimic_offset) : status;
    status = status == POISE_OK ? pz_json_mimic_function(&item, joint) : status;
    if (status == POISE_OK) {
        pz_json_warn_unknown(&item, known, PZ_COUNT(known));
    }
    return status;
}

static poise_status read_names(const pz_item *item, poise_joint *joint)
{
    int type = (int)joint->type, order = (int)joint->order;
    pz_item name = pz_json_get(item, "name");
    poise_status status = pz_json_need_object(item);
    status = status == POISE_OK ? pz_json_string(&name, &joint->name) : status;
    status = status == POISE_OK ? pz_json_string_of(item, "body", &joint->body) : status;
    status = status == POISE_OK ? pz_json_string_of(item, "parent", &joint->parent) : status;
    status = status == POISE_OK ? pz_json_choice_of(item, "type", type_name, POISE_JOINT_TYPE_COUNT, &type) : status;
    status = status == POISE_OK ? pz_json_choice_of(item, "order", pz_euler_name, POISE_EULER_ORDER_COUNT, &order) : status;
    joint->type = (poise_joint_type)type;
    joint->order = (poise_euler_order)order;
    return status;
}

static poise_status read_joint(const pz_item *item, poise_joint *joint)
{
    static const char *const known[] = {"name",  "body",  "parent", "type",        "position", "rotation",
                                        "axis",  "axis2", "axes",   "order",       "lower",    "upper",
                                        "swing", "mimic", "mass",   "mass_center", "curve",    "velocity"};
    *joint = poise_joint_default();
    poise_status status = read_names(item, joint);
    size_t count = (size_t)pz_joint_coordinates(joint->type);
    double axis[3] = {joint->axis.x, joint->axis.y, joint->axis.z}, center[3] = {0, 0, 0};
    double axis2[3] = {joint->axis2.x, joint->axis2.y, joint->axis2.z}, axes[4] = {0, 0, 0, 1};
    status = status == POISE_OK ? pz_json_pose_of(item, &joint->offset) : status;
    status = status == POISE_OK ? pz_json_unit_of(item, "axis", axis, 3) : status;
    status = status == POISE_OK ? pz_json_unit_of(item, "axis2", axis2, 3) : status;
    status = status == POISE_OK ? pz_json_unit_of(item, "axes", axes, 4) : status;
    status = status == POISE_OK ? read_limit(item, "lower", count, -INFINITY, joint->lower) : status;
    status = status == POISE_OK ? read_limit(item, "upper", count, INFINITY, joint->upper) : status;
    status = status == POISE_OK ? pz_json_numbers_of(item, "swing", joint->swing, 2) : status;
    status = status == POISE_OK ? read_mimic(item, joint) : status;
    status = status == POISE_OK ? pz_json_curve(item, joint) : status;
    status = status == POISE_OK ? pz_json_number_of(item, "mass", &joint->mass) : status;
    status = status == POISE_OK ? pz_json_number_of(item, "velocity", &joint->velocity) : status;
    status = status == POISE_OK ? pz_json_numbers_of(item, "mass_center", center, 3) : status;
    if (status != POISE_OK) {
        return status;
    }
    joint->axis = v3(axis[0], axis[1], axis[2]);
    joint->axis2 = v3(axis2[0], axis2[1], axis2[2]);
    joint->axes = (quat){axes[0], axes[1], axes[2], axes[3]};
    joint->mass_center = v3(center[0], center[1], center[2]);
    pz_json_warn_unknown(item, known, PZ_COUNT(known));
    return POISE_OK;
}

static poise_status read_tool(const pz_item *item, poise_tool *tool)
{
    static const char *const known[] = {"name", "body", "position", "rotation"};
    *tool = (poise_tool){.pose = poise_pose_identity()};
    pz_item name = pz_json_get(item, "name"), body = pz_json_get(item, "body");
    poise_status status = pz_json_need_object(item);
    status = status == POISE_OK ? pz_json_string(&name, &tool->name) : status;
    status = status == POISE_OK ? pz_json_string(&body, &tool->body) : status;
    status = status == POISE_OK ? pz_json_pose_of(item, &tool->pose) : status;
    if (status == POISE_OK) {
        pz_json_warn_unknown(item, known, PZ_COUNT(known));
    }
    return status;
}

// ---- Models --------------------------------------------------------------------------------------------------------------

static poise_status add_joints(const pz_item *joints, poise_builder *builder)
{
    poise_status status = pz_json_need_array(joints);
    for (size_t i = 0; i < pz_json_length(joints) && status == POISE_OK; ++i) {
        pz_item item = pz_json_at(joints, i);
        poise_joint joint;
        poise_error said = {.line = 0};
        status = read_joint(&item, &joint);
        if (status == POISE_OK) {
            status = poise_builder_add_joint(builder, &joint, &said);
            status = status == POISE_OK ? status : pz_json_fail_as(&item, status, &said);
        }
    }
    return status;
}

static poise_status add_tools(const pz_item *tools, poise_builder *builder)
{
    poise_status status = tools->value ? pz_json_need_array(tools) : POISE_OK;
    for (size_t i = 0; i < pz_json_length(tools) && status == POISE_OK; ++i) {
        pz_item item = pz_json_at(tools, i);
        poise_tool tool;
        poise_error said = {.line = 0};
        status = read_tool(&item, &tool);
        if (status == POISE_OK) {
            status = poise_builder_add_tool(builder, &tool, &said);
            status = status == POISE_OK ? status : pz_json_fail_as(&item, status, &said);
        }
    }
    return status;
}

poise_status pz_json_read_model(const pz_item *item, poise_model **model)
{
    static const char *const known[] = {"joints", "tools"};
    poise_status status = pz_json_need_object(item);
    if (status != POISE_OK) {
        return status;
    }
    pz_input *input = item->json->input;
    poise_builder *builder = NULL;
    if (poise_builder_create(input->allocator, &builder, NULL) != POISE_OK) {
        return pz_input_no_memory(input);
    }
    pz_item joints = pz_json_get(item, "joints"), tools = pz_json_get(item, "tools");
    status = add_joints(&joints, builder);
    status = status == POISE_OK ? add_tools(&tools, builder) : status;
    if (status == POISE_OK) {
        poise_error said = {.line = 0};
        status = poise_model_create(builder, input->allocator, model, &said);
        status = status == POISE_OK ? status : pz_json_fail_as(item, status, &said);
    }
    poise_builder_destroy(builder);
    if (status == POISE_OK) {
        pz_json_warn_unknown(item, known, PZ_COUNT(known));
    }
    return status;
}

// ---- Writing -------------------------------------------------------------------------------------------------------------

static void put_vec3(pz_json_writer *writer, const char *key, vec3 v)
{
    pz_json_put_numbers(writer, key, (double[]){v.x, v.y, v.z}, 3);
}

static void put_limit(pz_json_writer *writer, const char *key, const double *limit, size_t count)
{
    bool is_limited = false;
    for (size_t i = 0; i < count; ++i) {
        is_limited = is_limited || is_finite(limit[i]);
    }
    if (is_limited) {
        pz_json_put_numbers(writer, key, limit, count);
    }
}

static void put_axes(pz_json_writer *writer, const poise_joint *joint)
{
    if (has_axis(joint->type)) {
        put_vec3(writer, "axis", joint->axis);
        if (joint->type == POISE_JOINT_UNIVERSAL) {
            put_vec3(writer, "axis2", joint->axis2);
        }
        return;
    }
    double axes[4] = {joint->axes.x, joint->axes.y, joint->axes.z, joint->axes.w};
    if (!pz_same_numbers(axes, (double[]){0, 0, 0, 1}, 4)) {
        pz_json_put_numbers(writer, "axes", axes, 4);
    }
    if (joint->type == POISE_JOINT_BALL_EULER || joint->type == POISE_JOINT_FREE_EULER) {
        pz_json_put_text(writer, "order", pz_euler_name((int)joint->order));
    }
}

static void put_joint(pz_json_writer *writer, const poise_joint *joint)
{
    size_t count = (size_t)pz_joint_coordinates(joint->type);
    pz_json_open_flat(writer, NULL, "{");
    pz_json_put_text(writer, "name", joint->name);
    if (joint->body && strcmp(joint->body, joint->name) != 0) {
        pz_json_put_text(writer, "body", joint->body);
    }
    if (joint->parent) {
        pz_json_put_text(writer, "parent", joint->parent);
    }
    pz_json_put_text(writer, "type", type_name((int)joint->type));
    pz_json_put_pose(writer, joint->offset);
    put_axes(writer, joint);
    if (joint->curve) {
        pz_json_put_curve(writer, joint->curve);
    }
    put_limit(writer, "lower", joint->lower, count);
    put_limit(writer, "upper", joint->upper, count);
    if (is_finite(joint->swing[0])) {
        pz_json_put_numbers(writer, "swing", joint->swing, 2);
    }
    if (joint->mimic) {
        pz_json_open(writer, "mimic", "{");
        pz_json_put_text(writer, "joint", joint->mimic);
        if (joint->mimic_function) {
            pz_json_put_function(writer, "function", joint->mimic_function, NULL);
        } else {
            pz_json_put_number(writer, "multiplier", joint->mimic_multiplier);
            pz_json_put_number(writer, "offset", joint->mimic_offset);
        }
        pz_json_close(writer, "}");
    }
    double center[3] = {joint->mass_center.x, joint->mass_center.y, joint->mass_center.z};
    if (!pz_same_numbers(&joint->mass, (double[]){0}, 1)) {
        pz_json_put_number(writer, "mass", joint->mass);
    }
    if (!pz_same_numbers(center, (double[]){0, 0, 0}, 3)) {
        put_vec3(writer, "mass_center", joint->mass_center);
    }
    if (joint->velocity > 0) {
        pz_json_put_number(writer, "velocity", joint->velocity);
    }
    pz_json_close_flat(writer, "}");
}

void pz_json_put_model(pz_json_writer *writer, const poise_model *model)
{
    pz_json_open(writer, "model", "{");
    pz_json_open(writer, "joints", "[");
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        poise_joint joint = *poise_model_joint_info(model, k).given;
        put_joint(writer, &joint);
    }
    pz_json_close(writer, "]");
    if (poise_model_info(model).tools > 0) {
        pz_json_open(writer, "tools", "[");
        for (int i = 0; i < poise_model_info(model).tools; ++i) {
            pz_json_open_flat(writer, NULL, "{");
            pz_json_put_text(writer, "name", poise_model_tool_info(model, i).name);
            pz_json_put_text(writer, "body", poise_model_joint_info(model, poise_model_tool_info(model, i).body).body);
            pz_json_put_pose(writer, poise_model_tool_info(model, i).pose);
            pz_json_close_flat(writer, "}");
        }
        pz_json_close(writer, "]");
    }
    pz_json_close(writer, "}");
}
