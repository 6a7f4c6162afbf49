// Poise's own JSON, which holds everything.
//
//   { "poise": 1, "title": "...", "scale": {"metres": 1, "up": "z"},
//     "model": {"joints": [...], "tools": [...]},
//     "clip": {"frame_time": 0.01, "start_time": 0, "q": [[...], ...]},
//     "markers": {"rate": 100, "first_frame": 1, "scale": {...}, "labels": [...],
//                 "positions": [[[x, y, z], null, ...], ...], "residuals": [[...], ...]},
//     "postures": {"name": [...]},
//     "goals": [{"kind": "position", "body": "hand", "target": {"position": [x, y, z]}, ...}],
//     "placements": [{"label": "LFHD", "body": "head", "local": [x, y, z], "weight": 1}],
//     "shapes": [{"kind": "capsule", "body": "hand", "half": [0, 0, 0.1], "radius": 0.05}, ...],
//     "excluded": [["hand", "arm"], ...],
//     "loops": [{"kind": "connect", "body": "rod", "body2": "crank", "local": {...}, "target": {...}}] }
//
// Members have the names and meanings of the fields of the structs they stand for, bodies and joints are given by name.
// What is left out has its default. A limit or tolerance of null is infinite, a marker of null was not seen. Angles are
// radians, quaternions x y z w. Shapes, pairs and loops without a body, or with null for it, are of the world: a file of
// shapes alone describes obstacles. Every number reads back to the same bits.
//
// Warned of: unknown keys, by name.
// Refused: whatever does not fit, by its way ("model.joints[3].axis: missing; give an array") and line; writing numbers that
// are not finite, and parts that need a model without one.
#include "io/json.h"

#include "io/skeleton.h"

#include <float.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>

// Version of the format.
#define JSON_VERSION 1

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

// One entry of an array, read into its place.
typedef poise_status (*json_entry)(const pz_item *item, const poise_model *model, void *entry);

// ---- Parts of all members ------------------------------------------------------------------------------------------------

static bool same_numbers(const double *a, const double *b, size_t count)
{
    return memcmp(a, b, count * sizeof *a) == 0;
}

// Numbers of which null stands for `missing`.
static poise_status json_numbers_or(const pz_item *item, double *values, size_t count, double missing)
{
    poise_status status = pz_json_need_length(item, count);
    for (size_t i = 0; i < count && status == POISE_OK; ++i) {
        pz_item element = pz_json_at(item, i);
        values[i] = missing;
        status = element.value ? pz_json_number(&element, &values[i]) : POISE_OK;
    }
    return status;
}

// A direction or quaternion that is unit to 1e-6 as it is, another one made unit; zero fails.
static poise_status json_unit_of(const pz_item *object, const char *key, double *values, size_t count)
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

// position and rotation, members of `object`.
static poise_status json_pose_of(const pz_item *object, poise_pose *pose)
{
    double p[3] = {pose->position.x, pose->position.y, pose->position.z};
    double r[4] = {pose->rotation.x, pose->rotation.y, pose->rotation.z, pose->rotation.w};
    poise_status status = pz_json_numbers_of(object, "position", p, 3);
    status = status == POISE_OK ? json_unit_of(object, "rotation", r, 4) : status;
    *pose = (poise_pose){{r[0], r[1], r[2], r[3]}, {p[0], p[1], p[2]}};
    return status;
}

static void json_put_pose(pz_json_writer *writer, poise_pose pose)
{
    double p[3] = {pose.position.x, pose.position.y, pose.position.z};
    double r[4] = {pose.rotation.x, pose.rotation.y, pose.rotation.z, pose.rotation.w};
    if (!same_numbers(p, (double[]){0, 0, 0}, 3)) {
        pz_json_put_numbers(writer, "position", p, 3);
    }
    if (!same_numbers(r, (double[]){0, 0, 0, 1}, 4)) {
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

// A whole number of `count` that a list of names gives.
static poise_status json_choice_of(const pz_item *object, const char *key, const char *(*name)(int), int count, int *value)
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

// A body by its name.
static poise_status json_body(const pz_item *item, const poise_model *model, int *body)
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

// Fails without a model.
static poise_status json_need_model(const pz_item *item, const poise_model *model)
{
    return model ? POISE_OK
                 : pz_json_fail(item, POISE_ERROR_FORMAT, "%s without a model; put one into the file, or give it as model",
                                item->key);
}

// The array `key` of `root`, whose entries of `size` bytes speak of a model, kept with the file. NULL where it is missing or
// empty, or cannot be read, as *status then says; what failed before is left alone.
static void *json_entries(const pz_item *root, const char *key, const poise_model *model, json_entry read, size_t size,
                          int *count, poise_status *status)
{
    pz_item list = pz_json_get(root, key);
    if (*status != POISE_OK || !list.value) {
        return NULL;
    }
    *status = pz_json_need_array(&list);
    *status = *status == POISE_OK ? json_need_model(&list, model) : *status;
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

// ---- Functions of one coordinate, and the curves that are made of them ---------------------------------------------------

static const char *const kinds[] = {"polynomial", "spline", "lines"}; // by poise_function_kind

// ---- Functions: reading --------------------------------------------------------------------------------------------------

static poise_status read_knots(const pz_item *item, double *x, double *y)
{
    poise_status status = POISE_OK;
    for (size_t i = 0; i < pz_json_length(item) && status == POISE_OK; ++i) {
        pz_item point = pz_json_at(item, i);
        double xy[2] = {0, 0};
        status = pz_json_numbers(&point, xy, 2);
        x[i] = xy[0];
        y[i] = xy[1];
    }
    return status;
}

// The one member of `item` that is a function.
static poise_status read_function(const pz_item *item, poise_function *f)
{
    pz_input *input = item->json->input;
    for (int kind = 0; kind < (int)COUNT(kinds); ++kind) {
        pz_item list = pz_json_get(item, kinds[kind]);
        if (!list.value) {
            continue;
        }
        poise_status status = pz_json_need_array(&list);
        size_t count = pz_json_length(&list);
        double *x = pz_pool_take(&input->pool, count, sizeof *x), *y = pz_pool_take(&input->pool, count, sizeof *y);
        if (status == POISE_OK && (!x || !y || count > INT32_MAX / 8)) {
            return pz_input_no_memory(input);
        }
        if (status == POISE_OK) {
            bool is_polynomial = kind == POISE_FUNCTION_POLYNOMIAL;
            status = is_polynomial ? pz_json_numbers(&list, y, count) : read_knots(&list, x, y);
        }
        *f = (poise_function){.kind = (poise_function_kind)kind, .count = (int)count, .x = x, .y = y};
        return status;
    }
    return pz_json_fail(item, POISE_ERROR_FORMAT, "no function: give it a polynomial, a spline or lines");
}

static poise_status read_steps(const pz_item *curve, const char *key, poise_vec3 *axes, poise_function *values)
{
    static const char *const known[] = {"axis", "polynomial", "spline", "lines"};
    pz_item list = pz_json_get(curve, key);
    poise_status status = list.value ? pz_json_need_array(&list) : POISE_OK;
    if (status == POISE_OK && pz_json_length(&list) > 3) {
        return pz_json_fail(&list, POISE_ERROR_FORMAT, "at most three %s", key);
    }
    for (size_t i = 0; i < pz_json_length(&list) && status == POISE_OK; ++i) {
        pz_item step = pz_json_at(&list, i);
        if (!step.value) {
            continue;
        }
        double axis[3] = {0, 0, 1};
        status = pz_json_need_object(&step);
        status = status == POISE_OK ? json_unit_of(&step, "axis", axis, 3) : status;
        status = status == POISE_OK ? read_function(&step, &values[i]) : status;
        axes[i] = (poise_vec3){axis[0], axis[1], axis[2]};
        if (status == POISE_OK) {
            pz_json_warn_unknown(&step, known, COUNT(known));
        }
    }
    return status;
}

// The members "curve" of a joint and "function" of its mimic, whose numbers go to the pool of the input.
//
//   "curve": {"turns": [{"axis": [0, 0, 1], "polynomial": [1, 0]}],
//             "slides": [{"axis": [1, 0, 0], "spline": [[x, y], ...]}]}
//   "function": {"lines": [[x, y], ...]}
//
// Of turns and slides there are up to three, null for one without a function.
static poise_status json_curve(const pz_item *joint_item, poise_joint *joint)
{
    static const char *const known[] = {"turns", "slides"};
    pz_item item = pz_json_get(joint_item, "curve");
    if (!item.value) {
        return POISE_OK;
    }
    poise_curve *curve = pz_pool_take(&item.json->input->pool, 1, sizeof *curve);
    if (!curve) {
        return pz_input_no_memory(item.json->input);
    }
    *curve = (poise_curve){.value = {{.count = 0}}};
    poise_status status = pz_json_need_object(&item);
    status = status == POISE_OK ? read_steps(&item, "turns", curve->axis, curve->value) : status;
    status = status == POISE_OK ? read_steps(&item, "slides", curve->axis + 3, curve->value + 3) : status;
    joint->curve = curve;
    if (status == POISE_OK) {
        pz_json_warn_unknown(&item, known, COUNT(known));
    }
    return status;
}

static poise_status json_mimic_function(const pz_item *mimic_item, poise_joint *joint)
{
    pz_item item = pz_json_get(mimic_item, "function");
    if (!item.value) {
        return POISE_OK;
    }
    poise_function *function = pz_pool_take(&item.json->input->pool, 1, sizeof *function);
    if (!function) {
        return pz_input_no_memory(item.json->input);
    }
    joint->mimic_function = function;
    poise_status status = pz_json_need_object(&item);
    return status == POISE_OK ? read_function(&item, function) : status;
}

// ---- Functions: writing --------------------------------------------------------------------------------------------------

static void json_put_function(pz_json_writer *writer, const char *key, const poise_function *function,
                              const poise_vec3 *axis)
{
    pz_json_open_flat(writer, key, "{");
    if (axis) {
        pz_json_put_numbers(writer, "axis", (double[]){axis->x, axis->y, axis->z}, 3);
    }
    if (function->kind == POISE_FUNCTION_POLYNOMIAL) {
        pz_json_put_numbers(writer, kinds[function->kind], function->y, (size_t)function->count);
    } else {
        pz_json_open(writer, kinds[function->kind], "[");
        for (int i = 0; i < function->count; ++i) {
            pz_json_put_numbers(writer, NULL, (double[]){function->x[i], function->y[i]}, 2);
        }
        pz_json_close(writer, "]");
    }
    pz_json_close_flat(writer, "}");
}

static void write_steps(pz_json_writer *writer, const char *key, const poise_vec3 *axes, const poise_function *values)
{
    int count = 3;
    while (count > 0 && values[count - 1].count == 0) {
        count -= 1;
    }
    if (count == 0) {
        return;
    }
    pz_json_open(writer, key, "[");
    for (int i = 0; i < count; ++i) {
        if (values[i].count > 0) {
            json_put_function(writer, NULL, &values[i], &axes[i]);
        } else {
            pz_json_put_null(writer, NULL);
        }
    }
    pz_json_close(writer, "]");
}

static void json_put_curve(pz_json_writer *writer, const poise_curve *curve)
{
    pz_json_open(writer, "curve", "{");
    write_steps(writer, "turns", curve->axis, curve->value);
    write_steps(writer, "slides", curve->axis + 3, curve->value + 3);
    pz_json_close(writer, "}");
}

// ---- Joints and tools ----------------------------------------------------------------------------------------------------

// Coordinates of a joint type that does not mimic.
static int joint_coordinates(poise_joint_type type)
{
    poise_joint joint = {.type = type};
    int count = 0;
    while (poise_joint_coordinate(&joint, count).name) {
        count += 1;
    }
    return count;
}

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
    if (pz_json_is(item.value, PZ_JSON_NUMBER) && count == 1) { // a joint of one coordinate may leave the brackets out
        return pz_json_number(&item, limit);
    }
    return json_numbers_or(&item, limit, count, none);
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
    status = status == POISE_OK ? json_mimic_function(&item, joint) : status;
    if (status == POISE_OK) {
        pz_json_warn_unknown(&item, known, COUNT(known));
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
    status = status == POISE_OK ? json_choice_of(item, "type", type_name, POISE_JOINT_TYPE_COUNT, &type) : status;
    status = status == POISE_OK ? json_choice_of(item, "order", pz_euler_name, POISE_EULER_ORDER_COUNT, &order) : status;
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
    size_t count = (size_t)joint_coordinates(joint->type);
    double axis[3] = {joint->axis.x, joint->axis.y, joint->axis.z}, center[3] = {0, 0, 0};
    double axis2[3] = {joint->axis2.x, joint->axis2.y, joint->axis2.z}, axes[4] = {0, 0, 0, 1};
    status = status == POISE_OK ? json_pose_of(item, &joint->offset) : status;
    status = status == POISE_OK ? json_unit_of(item, "axis", axis, 3) : status;
    status = status == POISE_OK ? json_unit_of(item, "axis2", axis2, 3) : status;
    status = status == POISE_OK ? json_unit_of(item, "axes", axes, 4) : status;
    status = status == POISE_OK ? read_limit(item, "lower", count, -INFINITY, joint->lower) : status;
    status = status == POISE_OK ? read_limit(item, "upper", count, INFINITY, joint->upper) : status;
    status = status == POISE_OK ? pz_json_numbers_of(item, "swing", joint->swing, 2) : status;
    status = status == POISE_OK ? read_mimic(item, joint) : status;
    status = status == POISE_OK ? json_curve(item, joint) : status;
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
    pz_json_warn_unknown(item, known, COUNT(known));
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
    status = status == POISE_OK ? json_pose_of(item, &tool->pose) : status;
    if (status == POISE_OK) {
        pz_json_warn_unknown(item, known, COUNT(known));
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

static poise_status json_read_model(const pz_item *item, poise_model **model)
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
        pz_json_warn_unknown(item, known, COUNT(known));
    }
    return status;
}

// ---- Models: writing -----------------------------------------------------------------------------------------------------

static void write_vec3(pz_json_writer *writer, const char *key, vec3 v)
{
    pz_json_put_numbers(writer, key, (double[]){v.x, v.y, v.z}, 3);
}

static void write_limit(pz_json_writer *writer, const char *key, const double *limit, size_t count)
{
    bool is_limited = false;
    for (size_t i = 0; i < count; ++i) {
        is_limited = is_limited || is_finite(limit[i]);
    }
    if (is_limited) {
        pz_json_put_numbers(writer, key, limit, count);
    }
}

static void write_axes(pz_json_writer *writer, const poise_joint *joint)
{
    if (has_axis(joint->type)) {
        write_vec3(writer, "axis", joint->axis);
        if (joint->type == POISE_JOINT_UNIVERSAL) {
            write_vec3(writer, "axis2", joint->axis2);
        }
        return;
    }
    double axes[4] = {joint->axes.x, joint->axes.y, joint->axes.z, joint->axes.w};
    if (!same_numbers(axes, (double[]){0, 0, 0, 1}, 4)) {
        pz_json_put_numbers(writer, "axes", axes, 4);
    }
    if (joint->type == POISE_JOINT_BALL_EULER || joint->type == POISE_JOINT_FREE_EULER) {
        pz_json_put_text(writer, "order", pz_euler_name((int)joint->order));
    }
}

static void write_joint(pz_json_writer *writer, const poise_joint *joint)
{
    size_t count = (size_t)joint_coordinates(joint->type);
    pz_json_open_flat(writer, NULL, "{");
    pz_json_put_text(writer, "name", joint->name);
    if (joint->body && strcmp(joint->body, joint->name) != 0) {
        pz_json_put_text(writer, "body", joint->body);
    }
    if (joint->parent) {
        pz_json_put_text(writer, "parent", joint->parent);
    }
    pz_json_put_text(writer, "type", type_name((int)joint->type));
    json_put_pose(writer, joint->offset);
    write_axes(writer, joint);
    if (joint->curve) {
        json_put_curve(writer, joint->curve);
    }
    write_limit(writer, "lower", joint->lower, count);
    write_limit(writer, "upper", joint->upper, count);
    if (is_finite(joint->swing[0])) {
        pz_json_put_numbers(writer, "swing", joint->swing, 2);
    }
    if (joint->mimic) {
        pz_json_open(writer, "mimic", "{");
        pz_json_put_text(writer, "joint", joint->mimic);
        if (joint->mimic_function) {
            json_put_function(writer, "function", joint->mimic_function, NULL);
        } else {
            pz_json_put_number(writer, "multiplier", joint->mimic_multiplier);
            pz_json_put_number(writer, "offset", joint->mimic_offset);
        }
        pz_json_close(writer, "}");
    }
    double center[3] = {joint->mass_center.x, joint->mass_center.y, joint->mass_center.z};
    if (!same_numbers(&joint->mass, (double[]){0}, 1)) {
        pz_json_put_number(writer, "mass", joint->mass);
    }
    if (!same_numbers(center, (double[]){0, 0, 0}, 3)) {
        write_vec3(writer, "mass_center", joint->mass_center);
    }
    if (joint->velocity > 0) {
        pz_json_put_number(writer, "velocity", joint->velocity);
    }
    pz_json_close_flat(writer, "}");
}

static void json_put_model(pz_json_writer *writer, const poise_model *model)
{
    pz_json_open(writer, "model", "{");
    pz_json_open(writer, "joints", "[");
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        poise_joint joint = *poise_model_joint_info(model, k).given;
        write_joint(writer, &joint);
    }
    pz_json_close(writer, "]");
    if (poise_model_info(model).tools > 0) {
        pz_json_open(writer, "tools", "[");
        for (int i = 0; i < poise_model_info(model).tools; ++i) {
            pz_json_open_flat(writer, NULL, "{");
            pz_json_put_text(writer, "name", poise_model_tool_info(model, i).name);
            pz_json_put_text(writer, "body", poise_model_joint_info(model, poise_model_tool_info(model, i).body).body);
            json_put_pose(writer, poise_model_tool_info(model, i).pose);
            pz_json_close_flat(writer, "}");
        }
        pz_json_close(writer, "]");
    }
    pz_json_close(writer, "}");
}

// ---- Goals, read and written by one table of members ---------------------------------------------------------------------

typedef enum meaning {
    A_NUMBER = 0,
    A_DIRECTION, // made unit when it is read
    A_BAND       // null is infinite
} meaning;

typedef struct member {
    const char *name;
    size_t offset; // in poise_goal
    size_t count;
    meaning what;
} member;

static const member members[] = {
    {"weight", offsetof(poise_goal, weight), 1, A_NUMBER},
    {"loss_scale", offsetof(poise_goal, loss_scale), 1, A_NUMBER},
    {"tolerance", offsetof(poise_goal, tolerance), 3, A_BAND},
    {"axis", offsetof(poise_goal, axis), 3, A_DIRECTION},
    {"direction", offsetof(poise_goal, direction), 3, A_DIRECTION},
    {"distance", offsetof(poise_goal, distance), 1, A_NUMBER},
    {"rotation_weight", offsetof(poise_goal, rotation_weight), 1, A_NUMBER},
    {"rotation_tolerance", offsetof(poise_goal, rotation_tolerance), 3, A_BAND},
};

static const char *loss_name(int loss)
{
    return poise_name(POISE_TYPE_LOSS, loss);
}

static const char *kind_name(int kind)
{
    return poise_goal_kind_name((poise_goal_kind)kind);
}

static bool needs_body(poise_goal_kind kind)
{
    return kind != POISE_GOAL_POSTURE && kind != POISE_GOAL_SMOOTHNESS && kind != POISE_GOAL_CENTER_OF_MASS;
}

// ---- Goals: reading ------------------------------------------------------------------------------------------------------

static poise_status read_members(const pz_item *item, poise_goal *goal)
{
    poise_status status = POISE_OK;
    for (size_t i = 0; i < COUNT(members) && status == POISE_OK; ++i) {
        const member *m = &members[i];
        double values[3];
        void *at = (unsigned char *)goal + m->offset;
        memcpy(values, at, m->count * sizeof(double));
        pz_item value = pz_json_get(item, m->name);
        if (m->what == A_DIRECTION) {
            status = json_unit_of(item, m->name, values, m->count);
        } else if (m->count == 1) {
            status = pz_json_number_of(item, m->name, values);
        } else if (value.value) {
            status = json_numbers_or(&value, values, m->count, INFINITY);
        }
        memcpy(at, values, m->count * sizeof(double));
    }
    return status;
}

// Numbers that the file keeps.
static poise_status read_list(const pz_item *object, const char *key, int count, const double **list)
{
    pz_item item = pz_json_get(object, key);
    if (!item.value) {
        return POISE_OK;
    }
    pz_input *input = object->json->input;
    poise_status status = pz_json_need_length(&item, (size_t)count);
    double *numbers = status == POISE_OK ? pz_pool_take(&input->kept, (size_t)count, sizeof *numbers) : NULL;
    if (!numbers) {
        return status != POISE_OK ? status : pz_input_no_memory(input);
    }
    *list = numbers;
    return pz_json_numbers(&item, numbers, (size_t)count);
}

// The body, by its name or by that of a tool on it, whose frame is then the local one.
static poise_status read_bodies(const pz_item *item, const poise_model *model, poise_goal *goal)
{
    pz_item body = pz_json_get(item, "body"), body2 = pz_json_get(item, "body2"), tool = pz_json_get(item, "tool");
    poise_status status = POISE_OK;
    if (tool.value) {
        const char *name = NULL;
        status = pz_json_string(&tool, &name);
        int index = status == POISE_OK ? poise_model_find_tool(model, name) : POISE_NONE;
        if (status == POISE_OK && index == POISE_NONE) {
            status = pz_json_fail(&tool, POISE_ERROR_NOT_FOUND, "the model has no tool \"%s\"", name);
        }
        goal->body = index != POISE_NONE ? poise_model_tool_info(model, index).body : 0;
        goal->local = poise_model_tool_info(model, index).pose;
    } else if (body.value || needs_body(goal->kind)) {
        status = json_body(&body, model, &goal->body);
    }
    return status == POISE_OK && body2.value ? json_body(&body2, model, &goal->body2) : status;
}

static poise_status read_pose(const pz_item *object, const char *key, poise_pose *pose)
{
    static const char *const known[] = {"position", "rotation"};
    pz_item item = pz_json_get(object, key);
    poise_status status = item.value ? pz_json_need_object(&item) : POISE_OK;
    if (status != POISE_OK || !item.value) {
        return status;
    }
    pz_json_warn_unknown(&item, known, COUNT(known));
    return json_pose_of(&item, pose);
}

static poise_status json_goal(const pz_item *item, const poise_model *model, void *entry)
{
    static const char *const known[] = {
        "kind",      "body",       "body2",           "tool",     "priority",  "weight",
        "loss",      "loss_scale", "local",           "target",   "axis",      "direction",
        "tolerance", "distance",   "rotation_weight", "q_before", "q_weights", "rotation_tolerance",
        "q"};
    poise_goal *goal = entry;
    int kind = POISE_GOAL_POSITION, loss = POISE_LOSS_NONE, nq = poise_model_info(model).nq;
    pz_item kind_at = pz_json_get(item, "kind");
    const char *text = NULL;
    poise_status status = pz_json_need_object(item);
    status = status == POISE_OK ? pz_json_string(&kind_at, &text) : status;
    status = status == POISE_OK ? json_choice_of(item, "kind", kind_name, POISE_GOAL_KIND_COUNT, &kind) : status;
    status = status == POISE_OK ? json_choice_of(item, "loss", loss_name, POISE_LOSS_COUNT, &loss) : status;
    *goal = poise_goal_default((poise_goal_kind)kind);
    goal->loss = (poise_loss)loss;
    if (status == POISE_OK && kind == POISE_GOAL_CALLBACK) {
        return pz_json_fail(&kind_at, POISE_ERROR_UNSUPPORTED, "a file cannot hold a function");
    }
    status = status == POISE_OK ? read_bodies(item, model, goal) : status;
    status = status == POISE_OK ? pz_json_integer_of(item, "priority", INT_MIN, INT_MAX, &goal->priority) : status;
    status = status == POISE_OK ? read_members(item, goal) : status;
    status = status == POISE_OK ? read_pose(item, "local", &goal->local) : status;
    status = status == POISE_OK ? read_pose(item, "target", &goal->target) : status;
    status = status == POISE_OK ? read_list(item, "q", nq, &goal->q) : status;
    status = status == POISE_OK ? read_list(item, "q_before", nq, &goal->q_before) : status;
    status = status == POISE_OK ? read_list(item, "q_weights", poise_model_info(model).nv, &goal->q_weights) : status;
    if (status != POISE_OK) {
        return status;
    }
    pz_json_warn_unknown(item, known, COUNT(known));
    poise_error said = {.line = 0};
    status = poise_goal_check(goal, model, &said);
    return status == POISE_OK ? status : pz_json_fail(item, POISE_ERROR_FORMAT, "%s", said.text);
}

// ---- Goals: writing ------------------------------------------------------------------------------------------------------

static void write_members(pz_json_writer *writer, const poise_goal *goal, const poise_goal *defaults)
{
    for (size_t i = 0; i < COUNT(members); ++i) {
        const member *m = &members[i];
        double values[3], others[3];
        memcpy(values, (const unsigned char *)goal + m->offset, m->count * sizeof(double));
        memcpy(others, (const unsigned char *)defaults + m->offset, m->count * sizeof(double));
        // what a kind does not use may hold anything
        if (same_numbers(values, others, m->count) || (m->what != A_BAND && !all_finite(values, m->count))) {
            continue;
        }
        if (m->count == 1) {
            pz_json_put_number(writer, m->name, values[0]);
        } else {
            pz_json_put_numbers(writer, m->name, values, m->count);
        }
    }
}

static void write_target(pz_json_writer *writer, const char *key, poise_pose pose)
{
    poise_pose identity = poise_pose_identity();
    bool is_finite_pose = quat_is_finite(pose.rotation) && v3_is_finite(pose.position);
    if (is_finite_pose && memcmp(&pose, &identity, sizeof pose) != 0) {
        pz_json_open(writer, key, "{");
        json_put_pose(writer, pose);
        pz_json_close(writer, "}");
    }
}

static void write_list(pz_json_writer *writer, const char *key, const double *list, int count)
{
    if (list) {
        pz_json_put_numbers(writer, key, list, (size_t)count);
    }
}

static void write_goal(pz_json_writer *writer, const poise_goal *goal, const poise_model *model)
{
    poise_goal defaults = poise_goal_default(goal->kind);
    bool has_q = goal->kind == POISE_GOAL_POSTURE || goal->kind == POISE_GOAL_SMOOTHNESS;
    pz_json_open_flat(writer, NULL, "{");
    pz_json_put_text(writer, "kind", kind_name((int)goal->kind));
    if (needs_body(goal->kind)) {
        pz_json_put_text(writer, "body", poise_model_joint_info(model, goal->body).body);
    }
    if (goal->kind == POISE_GOAL_RELATIVE && goal->body2 != POISE_WORLD) {
        pz_json_put_text(writer, "body2", poise_model_joint_info(model, goal->body2).body);
    }
    if (goal->priority != 0) {
        pz_json_put_integer(writer, "priority", goal->priority);
    }
    if (goal->loss != POISE_LOSS_NONE) {
        pz_json_put_text(writer, "loss", loss_name((int)goal->loss));
    }
    write_members(writer, goal, &defaults);
    write_target(writer, "local", goal->local);
    write_target(writer, "target", goal->target);
    write_list(writer, "q", has_q ? goal->q : NULL, poise_model_info(model).nq);
    write_list(writer, "q_before", has_q ? goal->q_before : NULL, poise_model_info(model).nq);
    write_list(writer, "q_weights", has_q ? goal->q_weights : NULL, poise_model_info(model).nv);
    pz_json_close_flat(writer, "}");
}

static void json_put_goals(pz_json_writer *writer, const poise_file *file, const poise_model *model)
{
    pz_json_open(writer, "goals", "[");
    for (int i = 0; i < file->goal_count; ++i) {
        if (file->goals[i].kind == POISE_GOAL_CALLBACK) {
            pz_output_warn(writer->output, "goal %d is a function, which a file cannot hold; left out", i);
        } else {
            write_goal(writer, &file->goals[i], model);
        }
    }
    pz_json_close(writer, "]");
}

// ---- Collision shapes, pairs that may touch, loops -----------------------------------------------------------------------

static const char *shape_name(int kind)
{
    return poise_shape_kind_name((poise_shape_kind)kind);
}

static const char *loop_name(int kind) // those that close loops lie between the first kind and the last
{
    return poise_constraint_kind_name((poise_constraint_kind)(kind + POISE_CONSTRAINT_CONNECT));
}

#define LOOP_KINDS (POISE_CONSTRAINT_BALANCE - POISE_CONSTRAINT_CONNECT)

// A body by its name, the world where there is none.
static poise_status body_or_world(const pz_item *item, const poise_model *model, int *body)
{
    *body = POISE_WORLD;
    return item->value ? json_body(item, model, body) : POISE_OK;
}

// ---- Shapes and pairs ----------------------------------------------------------------------------------------------------

static poise_status read_bits(const pz_item *object, const char *key, uint32_t *bits)
{
    pz_item item = pz_json_get(object, key);
    double value = 0;
    poise_status status = item.value ? pz_json_number(&item, &value) : POISE_OK;
    if (status == POISE_OK && !(value >= 0 && value <= (double)UINT32_MAX && value == round_down(value))) {
        return pz_json_fail(&item, POISE_ERROR_FORMAT, "%g; bits are a whole number from 0 to 4294967295", value);
    }
    *bits = status == POISE_OK ? (uint32_t)value : 0;
    return status;
}

// Entries of the members shapes, excluded and loops.
static poise_status json_shape(const pz_item *item, const poise_model *model, void *entry)
{
    static const char *const known[] = {"kind", "body", "position", "rotation", "half", "radius", "groups", "against"};
    poise_shape *shape = entry;
    int kind = POISE_SHAPE_CAPSULE;
    double half[3] = {0, 0, 0};
    pz_item body = pz_json_get(item, "body");
    *shape = (poise_shape){.pose = poise_pose_identity()};
    poise_status status = pz_json_need_object(item);
    status = status == POISE_OK ? json_choice_of(item, "kind", shape_name, POISE_SHAPE_KIND_COUNT, &kind) : status;
    status = status == POISE_OK ? body_or_world(&body, model, &shape->body) : status;
    status = status == POISE_OK ? json_pose_of(item, &shape->pose) : status;
    status = status == POISE_OK ? pz_json_numbers_of(item, "half", half, 3) : status;
    status = status == POISE_OK ? pz_json_number_of(item, "radius", &shape->radius) : status;
    status = status == POISE_OK ? read_bits(item, "groups", &shape->groups) : status;
    status = status == POISE_OK ? read_bits(item, "against", &shape->against) : status;
    shape->kind = (poise_shape_kind)kind;
    shape->half = v3(half[0], half[1], half[2]);
    poise_error said = {.line = 0};
    if (status == POISE_OK && poise_shape_check(shape, model, &said) != POISE_OK) {
        return pz_json_fail_as(item, POISE_ERROR_FORMAT, &said);
    }
    if (status == POISE_OK) {
        pz_json_warn_unknown(item, known, COUNT(known));
    }
    return status;
}

static poise_status json_excluded(const pz_item *item, const poise_model *model, void *entry)
{
    poise_pair *pair = entry;
    pz_item a = pz_json_at(item, 0), b = pz_json_at(item, 1);
    poise_status status = pz_json_need_length(item, 2);
    status = status == POISE_OK ? body_or_world(&a, model, &pair->a) : status;
    return status == POISE_OK ? body_or_world(&b, model, &pair->b) : status;
}

// ---- Loops ---------------------------------------------------------------------------------------------------------------

static poise_status read_bound(const pz_item *object, const char *key, double none, double *value)
{
    pz_item item = pz_json_get(object, key);
    if (item.value) {
        return pz_json_number(&item, value);
    }
    for (int i = 0; i < pz_json_member_count(object); ++i) { // null is no bound; what is left out has its default
        *value = strcmp(pz_json_member(object, i).key, key) == 0 ? none : *value;
    }
    return POISE_OK;
}

static poise_status json_loop(const pz_item *item, const poise_model *model, void *entry)
{
    static const char *const known[] = {"kind", "body", "body2", "local", "target", "lower", "upper"};
    poise_constraint *loop = entry;
    int kind = 0;
    pz_item body = pz_json_get(item, "body"), body2 = pz_json_get(item, "body2");
    pz_item local = pz_json_get(item, "local"), target = pz_json_get(item, "target");
    poise_status status = pz_json_need_object(item);
    status = status == POISE_OK ? json_choice_of(item, "kind", loop_name, LOOP_KINDS, &kind) : status;
    *loop = poise_constraint_default((poise_constraint_kind)(kind + POISE_CONSTRAINT_CONNECT));
    status = status == POISE_OK ? body_or_world(&body, model, &loop->body) : status;
    status = status == POISE_OK ? body_or_world(&body2, model, &loop->body2) : status;
    status = status == POISE_OK && local.value ? json_pose_of(&local, &loop->local) : status;
    status = status == POISE_OK && target.value ? json_pose_of(&target, &loop->target) : status;
    status = status == POISE_OK ? read_bound(item, "lower", -INFINITY, &loop->lower) : status;
    status = status == POISE_OK ? read_bound(item, "upper", INFINITY, &loop->upper) : status;
    poise_error said = {.line = 0};
    if (status == POISE_OK && poise_constraint_check(loop, model, &said) != POISE_OK) {
        return pz_json_fail_as(item, POISE_ERROR_FORMAT, &said);
    }
    if (status == POISE_OK) {
        pz_json_warn_unknown(item, known, COUNT(known));
    }
    return status;
}

// ---- Shapes, pairs, loops: writing ---------------------------------------------------------------------------------------

static void write_body(pz_json_writer *writer, const char *key, const poise_model *model, int body)
{
    if (body != POISE_WORLD) {
        pz_json_put_text(writer, key, poise_model_joint_info(model, body).body);
    } else if (!key) {
        pz_json_put_null(writer, NULL);
    }
}

static void write_shape(pz_json_writer *writer, const poise_model *model, const poise_shape *shape)
{
    double half[3] = {shape->half.x, shape->half.y, shape->half.z};
    pz_json_open_flat(writer, NULL, "{");
    pz_json_put_text(writer, "kind", poise_shape_kind_name(shape->kind));
    write_body(writer, "body", model, shape->body);
    json_put_pose(writer, shape->pose);
    if (!same_numbers(half, (double[]){0, 0, 0}, 3)) {
        pz_json_put_numbers(writer, "half", half, 3);
    }
    if (!same_numbers(&shape->radius, (double[]){0}, 1)) {
        pz_json_put_number(writer, "radius", shape->radius);
    }
    if (shape->groups != 0 || shape->against != 0) {
        pz_json_put_integer(writer, "groups", shape->groups);
        pz_json_put_integer(writer, "against", shape->against);
    }
    pz_json_close_flat(writer, "}");
}

static void write_frame(pz_json_writer *writer, const char *key, poise_pose pose)
{
    pz_json_open_flat(writer, key, "{");
    json_put_pose(writer, pose);
    pz_json_close_flat(writer, "}");
}

static void write_loop(pz_json_writer *writer, const poise_model *model, const poise_constraint *loop)
{
    pz_json_open_flat(writer, NULL, "{");
    pz_json_put_text(writer, "kind", poise_constraint_kind_name(loop->kind));
    write_body(writer, "body", model, loop->body);
    write_body(writer, "body2", model, loop->body2);
    write_frame(writer, "local", loop->local);
    write_frame(writer, "target", loop->target);
    if (loop->kind == POISE_CONSTRAINT_DISTANCE || loop->kind == POISE_CONSTRAINT_PLANE) {
        pz_json_put_number(writer, "lower", loop->lower);
        pz_json_put_number(writer, "upper", loop->upper);
    }
    pz_json_close_flat(writer, "}");
}

static void json_put_bounds(pz_json_writer *writer, const poise_file *file)
{
    if (file->shape_count > 0) {
        pz_json_open(writer, "shapes", "[");
        for (int i = 0; i < file->shape_count; ++i) {
            write_shape(writer, file->model, &file->shapes[i]);
        }
        pz_json_close(writer, "]");
    }
    if (file->excluded_count > 0) {
        pz_json_open(writer, "excluded", "[");
        for (int i = 0; i < file->excluded_count; ++i) {
            pz_json_open_flat(writer, NULL, "[");
            write_body(writer, NULL, file->model, file->excluded[i].a);
            write_body(writer, NULL, file->model, file->excluded[i].b);
            pz_json_close_flat(writer, "]");
        }
        pz_json_close(writer, "]");
    }
    if (file->loop_count > 0) {
        pz_json_open(writer, "loops", "[");
        for (int i = 0; i < file->loop_count; ++i) {
            write_loop(writer, file->model, &file->loops[i]);
        }
        pz_json_close(writer, "]");
    }
}

static bool is_loop(poise_constraint_kind kind)
{
    switch (kind) {
    case POISE_CONSTRAINT_CONNECT:
    case POISE_CONSTRAINT_WELD:
    case POISE_CONSTRAINT_HINGE:
    case POISE_CONSTRAINT_DISTANCE:
    case POISE_CONSTRAINT_PLANE:
        return true;
    default:
        return false;
    }
}

static poise_status json_check_bounds(const poise_file *file, pz_output *output)
{
    poise_error said = {.line = 0};
    int joints = poise_model_info(file->model).joints;
    for (int i = 0; i < file->shape_count; ++i) {
        if (poise_shape_check(&file->shapes[i], file->model, &said) != POISE_OK) {
            return pz_error_set(output->error, POISE_ERROR_ARGUMENT, "shape %d: %s", i, said.text);
        }
    }
    for (int i = 0; i < file->excluded_count; ++i) {
        poise_pair pair = file->excluded[i];
        bool is_pair = pair.a >= POISE_WORLD && pair.a < joints && pair.b >= POISE_WORLD && pair.b < joints;
        if (!is_pair) {
            return pz_error_set(output->error, POISE_ERROR_ARGUMENT, "excluded pair %d: the model has no such body", i);
        }
    }
    for (int i = 0; i < file->loop_count; ++i) {
        const poise_constraint *loop = &file->loops[i];
        if (!is_loop(loop->kind) || poise_constraint_check(loop, file->model, &said) != POISE_OK) {
            return pz_error_set(output->error, POISE_ERROR_ARGUMENT, "loop %d: %s", i,
                                is_loop(loop->kind) ? said.text : "clearances and balance are not kept in files");
        }
    }
    return POISE_OK;
}

// ---- Reading a file ------------------------------------------------------------------------------------------------------

static const poise_model *model_of(const pz_input *input)
{
    return input->file->model ? input->file->model : input->options->model;
}

static const char *up_name(int up)
{
    static const char *const names[] = {"unknown", "x", "y", "z"};
    return names[up];
}

static poise_status read_scale(const pz_item *object, poise_scale *scale)
{
    static const char *const known[] = {"metres", "up"};
    pz_item item = pz_json_get(object, "scale");
    if (!item.value) {
        return POISE_OK;
    }
    int up = POISE_UP_UNKNOWN;
    poise_status status = pz_json_need_object(&item);
    status = status == POISE_OK ? pz_json_number_of(&item, "metres", &scale->metres) : status;
    status = status == POISE_OK ? json_choice_of(&item, "up", up_name, 4, &up) : status;
    if (status != POISE_OK) {
        return status;
    }
    if (!(scale->metres >= 0)) {
        pz_item metres = pz_json_get(&item, "metres");
        return pz_json_fail(&metres, POISE_ERROR_FORMAT, "%g metres per unit; give a number above 0", scale->metres);
    }
    scale->up = (poise_up)up;
    pz_json_warn_unknown(&item, known, COUNT(known));
    return POISE_OK;
}

// Numbers that are a configuration; of->nq of them.
static poise_status read_configuration(const pz_item *item, const pz_configurations *of, double *q)
{
    poise_status status = pz_json_numbers(item, q, (size_t)of->nq);
    if (status == POISE_OK && !pz_is_configuration(of, q)) {
        return pz_json_fail(item, POISE_ERROR_FORMAT, "a quaternion is zero; [0, 0, 0, 1] means no rotation");
    }
    return status;
}

// A number above 0 that must be there.
static poise_status read_positive(const pz_item *object, const char *key, double *value)
{
    pz_item item = pz_json_get(object, key);
    poise_status status = pz_json_number(&item, value);
    if (status == POISE_OK && !(*value > 0)) {
        return pz_json_fail(&item, POISE_ERROR_FORMAT, "%g instead of a number above 0", *value);
    }
    return status;
}

// ---- Clips ---------------------------------------------------------------------------------------------------------------

static poise_status read_clip(const pz_item *item)
{
    static const char *const known[] = {"frame_time", "start_time", "q"};
    pz_input *input = item->json->input;
    const poise_model *model = model_of(input);
    double frame_time = 0, start_time = 0;
    pz_item q = pz_json_get(item, "q");
    poise_status status = pz_json_need_object(item);
    status = status == POISE_OK ? read_positive(item, "frame_time", &frame_time) : status;
    status = status == POISE_OK ? pz_json_number_of(item, "start_time", &start_time) : status;
    status = status == POISE_OK ? pz_json_need_array(&q) : status;
    if (status != POISE_OK) {
        return status;
    }
    pz_item first = pz_json_at(&q, 0);
    int frames = (int)pz_json_length(&q);
    pz_configurations of = {.nq = (int)pz_json_length(&first)};
    if (model && !pz_configurations_of(model, &input->pool, &of)) {
        return pz_input_no_memory(input);
    }
    // every row is checked before the memory for all of them is asked for
    for (int f = 0; f < frames && status == POISE_OK; ++f) {
        pz_item row = pz_json_at(&q, (size_t)f);
        status = pz_json_need_length(&row, (size_t)of.nq);
    }
    if (status == POISE_OK &&
        poise_clip_create(frames, of.nq, frame_time, input->allocator, &input->file->clip, NULL) != POISE_OK) {
        return pz_input_no_memory(input);
    }
    for (int f = 0; f < frames && status == POISE_OK; ++f) {
        pz_item row = pz_json_at(&q, (size_t)f);
        status = read_configuration(&row, &of, input->file->clip->q + (size_t)f * (size_t)of.nq);
    }
    if (status == POISE_OK) {
        input->file->clip->start_time = start_time;
        pz_json_warn_unknown(item, known, COUNT(known));
    }
    return status;
}

// ---- Markers -------------------------------------------------------------------------------------------------------------

static poise_status read_labels(const pz_item *labels, const char ***texts)
{
    pz_input *input = labels->json->input;
    poise_status status = pz_json_need_array(labels);
    size_t count = pz_json_length(labels);
    const char **list = status == POISE_OK ? pz_pool_take(&input->pool, count, sizeof *list) : NULL;
    if (!list) {
        return status != POISE_OK ? status : pz_input_no_memory(input);
    }
    for (size_t i = 0; i < count && status == POISE_OK; ++i) {
        pz_item item = pz_json_at(labels, i);
        status = pz_json_string(&item, &list[i]);
    }
    *texts = list;
    return status;
}

// A row of points; null was not seen.
static poise_status read_points(const pz_item *row, poise_vec3 *points, int count)
{
    poise_status status = POISE_OK;
    for (int i = 0; i < count && status == POISE_OK; ++i) {
        pz_item item = pz_json_at(row, (size_t)i);
        double p[3] = {NAN, NAN, NAN};
        status = item.value ? pz_json_numbers(&item, p, 3) : POISE_OK;
        points[i] = v3(p[0], p[1], p[2]);
    }
    return status;
}

static poise_status read_residuals(const pz_item *residuals, poise_markers *markers)
{
    poise_status status = pz_json_need_length(residuals, (size_t)markers->frames);
    poise_markers_add_residuals(markers);
    for (int f = 0; f < markers->frames && status == POISE_OK; ++f) {
        pz_item row = pz_json_at(residuals, (size_t)f);
        status = pz_json_need_length(&row, (size_t)markers->count);
        for (int i = 0; i < markers->count && status == POISE_OK; ++i) {
            pz_item item = pz_json_at(&row, (size_t)i);
            double value = 0;
            status = item.value ? pz_json_number(&item, &value) : POISE_OK;
            if (fabs(value) > (double)FLT_MAX) {
                status = pz_json_fail(&item, POISE_ERROR_FORMAT, "%g is too large for a 32-bit float", value);
            }
            markers->residual[(size_t)f * (size_t)markers->count + (size_t)i] = status != POISE_OK ? 0.0f
                                                                                : item.value       ? (float)value
                                                                                                   : (float)NAN;
        }
    }
    return status;
}

static poise_status read_positions(const pz_item *item, const char *const *labels, int count, double rate)
{
    pz_input *input = item->json->input;
    pz_item positions = pz_json_get(item, "positions"), residuals = pz_json_get(item, "residuals");
    poise_status status = pz_json_need_array(&positions);
    int frames = (int)pz_json_length(&positions);
    for (int f = 0; f < frames && status == POISE_OK; ++f) {
        pz_item row = pz_json_at(&positions, (size_t)f);
        status = pz_json_need_length(&row, (size_t)count);
    }
    if (status != POISE_OK) {
        return status;
    }
    if (poise_markers_create(frames, count, rate, labels, input->allocator, &input->file->markers, NULL) != POISE_OK) {
        return pz_input_no_memory(input);
    }
    for (int f = 0; f < frames && status == POISE_OK; ++f) {
        pz_item row = pz_json_at(&positions, (size_t)f);
        status = read_points(&row, input->file->markers->position + (size_t)f * (size_t)count, count);
    }
    return status == POISE_OK && residuals.value ? read_residuals(&residuals, input->file->markers) : status;
}

static poise_status read_markers(const pz_item *item)
{
    static const char *const known[] = {"rate", "first_frame", "start_time", "scale", "labels", "positions", "residuals"};
    double rate = 0, start_time = 0;
    int first_frame = 1;
    poise_scale scale = {0};
    const char **labels = NULL;
    pz_item labels_at = pz_json_get(item, "labels");
    poise_status status = pz_json_need_object(item);
    status = status == POISE_OK ? read_positive(item, "rate", &rate) : status;
    status = status == POISE_OK ? pz_json_integer_of(item, "first_frame", INT_MIN, INT_MAX, &first_frame) : status;
    status = status == POISE_OK ? pz_json_number_of(item, "start_time", &start_time) : status;
    status = status == POISE_OK ? read_scale(item, &scale) : status;
    status = status == POISE_OK ? read_labels(&labels_at, &labels) : status;
    status = status == POISE_OK ? read_positions(item, labels, (int)pz_json_length(&labels_at), rate) : status;
    if (status == POISE_OK) {
        poise_markers *markers = item->json->input->file->markers;
        markers->first_frame = first_frame;
        markers->start_time = start_time;
        markers->scale = scale;
        pz_json_warn_unknown(item, known, COUNT(known));
    }
    return status;
}

// ---- Postures and placements ---------------------------------------------------------------------------------------------

static poise_status read_posture(const pz_item *item, const pz_configurations *of, poise_posture *posture)
{
    pz_input *input = item->json->input;
    poise_status status = pz_json_need_length(item, (size_t)of->nq);
    if (status != POISE_OK) {
        return status;
    }
    double *q = pz_pool_take(&input->kept, (size_t)of->nq, sizeof *q);
    posture->name = pz_pool_copy(&input->kept, item->key, strlen(item->key));
    posture->q = q;
    return q && posture->name ? read_configuration(item, of, q) : pz_input_no_memory(input);
}

static poise_status read_postures(const pz_item *item, const poise_model *model)
{
    pz_input *input = item->json->input;
    poise_status status = pz_json_need_object(item);
    status = status == POISE_OK ? json_need_model(item, model) : status;
    int count = pz_json_member_count(item);
    poise_posture *postures = status == POISE_OK ? pz_pool_take(&input->kept, (size_t)count, sizeof *postures) : NULL;
    pz_configurations of;
    if (!postures || !pz_configurations_of(model, &input->pool, &of)) {
        return status != POISE_OK ? status : pz_input_no_memory(input);
    }
    for (int i = 0; i < count && status == POISE_OK; ++i) {
        pz_item posture = pz_json_member(item, i);
        status = read_posture(&posture, &of, &postures[i]);
    }
    input->file->postures = count > 0 ? postures : NULL;
    input->file->posture_count = count;
    return status;
}

static poise_status read_placement(const pz_item *item, const poise_model *model, void *entry)
{
    static const char *const known[] = {"label", "body", "local", "weight"};
    poise_placement *placement = entry;
    pz_input *input = item->json->input;
    const char *label = NULL;
    double local[3] = {NAN, NAN, NAN};
    *placement = (poise_placement){.weight = 1.0};
    poise_status status = pz_json_need_object(item);
    pz_item label_at = pz_json_get(item, "label"), body = pz_json_get(item, "body");
    status = status == POISE_OK ? pz_json_string(&label_at, &label) : status;
    status = status == POISE_OK ? json_body(&body, model, &placement->body) : status;
    status = status == POISE_OK ? pz_json_numbers_of(item, "local", local, 3) : status;
    status = status == POISE_OK ? pz_json_number_of(item, "weight", &placement->weight) : status;
    if (status != POISE_OK) {
        return status;
    }
    if (!(placement->weight >= 0)) {
        pz_item weight = pz_json_get(item, "weight");
        return pz_json_fail(&weight, POISE_ERROR_FORMAT, "%g; a weight must not be negative", placement->weight);
    }
    placement->local = v3(local[0], local[1], local[2]);
    placement->label = pz_pool_copy(&input->kept, label, strlen(label));
    pz_json_warn_unknown(item, known, COUNT(known));
    return placement->label ? POISE_OK : pz_input_no_memory(input);
}

// ---- The whole -----------------------------------------------------------------------------------------------------------

static poise_status read_head(const pz_item *root)
{
    static const char *const known[] = {"poise",    "title", "scale",      "model",  "clip",     "markers",
                                        "postures", "goals", "placements", "shapes", "excluded", "loops"};
    pz_input *input = root->json->input;
    poise_status status = pz_json_need_object(root);
    pz_item version_at = pz_json_get(root, "poise");
    int version = 0;
    const char *title = NULL;
    if (status == POISE_OK && !version_at.value) {
        return pz_json_fail(&version_at, POISE_ERROR_FORMAT, "missing; a Poise file begins with { \"poise\": %d",
                            JSON_VERSION);
    }
    status = status == POISE_OK ? pz_json_integer(&version_at, 0, INT_MAX, &version) : status;
    if (status == POISE_OK && version != JSON_VERSION) {
        return pz_json_fail(&version_at, POISE_ERROR_UNSUPPORTED, "version %d; only version %d is supported", version,
                            JSON_VERSION);
    }
    status = status == POISE_OK ? read_scale(root, &input->file->scale) : status;
    status = status == POISE_OK ? pz_json_string_of(root, "title", &title) : status;
    if (status != POISE_OK) {
        return status;
    }
    pz_json_warn_unknown(root, known, COUNT(known));
    input->file->title = title ? pz_pool_copy(&input->pool, title, strlen(title)) : NULL;
    return title && !input->file->title ? pz_input_no_memory(input) : POISE_OK;
}

static poise_status read_parts(const pz_item *root)
{
    pz_input *input = root->json->input;
    pz_item model = pz_json_get(root, "model"), clip = pz_json_get(root, "clip"), markers = pz_json_get(root, "markers");
    pz_item postures = pz_json_get(root, "postures");
    poise_file *file = input->file;
    poise_status status = model.value ? json_read_model(&model, &file->model) : POISE_OK;
    const poise_model *of = model_of(input);
    status = status == POISE_OK && clip.value ? read_clip(&clip) : status;
    status = status == POISE_OK && markers.value ? read_markers(&markers) : status;
    status = status == POISE_OK && postures.value ? read_postures(&postures, of) : status;
    file->goals = json_entries(root, "goals", of, json_goal, sizeof *file->goals, &file->goal_count, &status);
    file->placements =
        json_entries(root, "placements", of, read_placement, sizeof *file->placements, &file->placement_count, &status);
    file->shapes = json_entries(root, "shapes", of, json_shape, sizeof *file->shapes, &file->shape_count, &status);
    file->excluded =
        json_entries(root, "excluded", of, json_excluded, sizeof *file->excluded, &file->excluded_count, &status);
    file->loops = json_entries(root, "loops", of, json_loop, sizeof *file->loops, &file->loop_count, &status);
    return status;
}

static poise_status read_json(pz_input *input)
{
    pz_json json;
    poise_status status = pz_json_load(input, input->bytes, input->size, 0, &json);
    if (status == POISE_OK) {
        pz_item root = pz_json_root(&json);
        status = read_head(&root);
        status = status == POISE_OK ? read_parts(&root) : status;
        pz_json_release(&json);
    }
    return status;
}

// ---- Writing a file ------------------------------------------------------------------------------------------------------

static void write_scale(pz_json_writer *writer, poise_scale scale)
{
    static const char *const names[] = {"unknown", "x", "y", "z"};
    if (scale.metres == 0 && scale.up == POISE_UP_UNKNOWN) {
        return;
    }
    pz_json_open_flat(writer, "scale", "{");
    pz_json_put_number(writer, "metres", scale.metres);
    pz_json_put_text(writer, "up", names[(unsigned)scale.up <= POISE_UP_Z ? scale.up : POISE_UP_UNKNOWN]);
    pz_json_close_flat(writer, "}");
}

static void write_clip(pz_json_writer *writer, const poise_clip *clip)
{
    pz_json_open(writer, "clip", "{");
    pz_json_put_number(writer, "frame_time", clip->frame_time);
    pz_json_put_number(writer, "start_time", clip->start_time);
    pz_json_open(writer, "q", "[");
    for (int f = 0; f < clip->frames; ++f) {
        pz_json_put_numbers(writer, NULL, clip->q + (size_t)f * (size_t)clip->nq, (size_t)clip->nq);
    }
    pz_json_close(writer, "]");
    pz_json_close(writer, "}");
}

static void write_positions(pz_json_writer *writer, const poise_markers *markers)
{
    pz_json_open(writer, "positions", "[");
    for (int f = 0; f < markers->frames; ++f) {
        pz_json_open_flat(writer, NULL, "[");
        for (int i = 0; i < markers->count; ++i) {
            poise_vec3 p = markers->position[(size_t)f * (size_t)markers->count + (size_t)i];
            if (poise_markers_seen(markers, f, i)) {
                pz_json_put_numbers(writer, NULL, (double[]){p.x, p.y, p.z}, 3);
            } else {
                pz_json_put_null(writer, NULL);
            }
        }
        pz_json_close_flat(writer, "]");
    }
    pz_json_close(writer, "]");
}

static void write_residuals(pz_json_writer *writer, const poise_markers *markers)
{
    pz_json_open(writer, "residuals", "[");
    for (int f = 0; f < markers->frames; ++f) {
        pz_json_open_flat(writer, NULL, "[");
        for (int i = 0; i < markers->count; ++i) {
            pz_json_put_number(writer, NULL, (double)markers->residual[(size_t)f * (size_t)markers->count + (size_t)i]);
        }
        pz_json_close_flat(writer, "]");
    }
    pz_json_close(writer, "]");
}

static void write_markers(pz_json_writer *writer, const poise_markers *markers)
{
    pz_json_open(writer, "markers", "{");
    pz_json_put_number(writer, "rate", markers->rate);
    pz_json_put_integer(writer, "first_frame", markers->first_frame);
    if (markers->start_time != 0.0) {
        pz_json_put_number(writer, "start_time", markers->start_time);
    }
    write_scale(writer, markers->scale);
    pz_json_open_flat(writer, "labels", "[");
    for (int i = 0; i < markers->count; ++i) {
        pz_json_put_text(writer, NULL, markers->label[i]);
    }
    pz_json_close_flat(writer, "]");
    write_positions(writer, markers);
    if (markers->residual) {
        write_residuals(writer, markers);
    }
    pz_json_close(writer, "}");
}

static void write_postures(pz_json_writer *writer, const poise_file *file)
{
    pz_json_open(writer, "postures", "{");
    for (int i = 0; i < file->posture_count; ++i) {
        pz_json_put_numbers(writer, file->postures[i].name, file->postures[i].q, (size_t)poise_model_info(file->model).nq);
    }
    pz_json_close(writer, "}");
}

static void write_placements(pz_json_writer *writer, const poise_file *file)
{
    pz_json_open(writer, "placements", "[");
    for (int i = 0; i < file->placement_count; ++i) {
        const poise_placement *p = &file->placements[i];
        pz_json_open_flat(writer, NULL, "{");
        pz_json_put_text(writer, "label", p->label);
        pz_json_put_text(writer, "body", poise_model_joint_info(file->model, p->body).body);
        if (v3_is_finite(p->local)) {
            pz_json_put_numbers(writer, "local", (double[]){p->local.x, p->local.y, p->local.z}, 3);
        }
        if (!same_numbers(&p->weight, (double[]){1}, 1)) {
            pz_json_put_number(writer, "weight", p->weight);
        }
        pz_json_close_flat(writer, "}");
    }
    pz_json_close(writer, "]");
}

// ---- What a file must satisfy to be written ------------------------------------------------------------------------------

static poise_status refuse(pz_output *output, const char *what, int index, const char *why)
{
    return pz_error_set(output->error, POISE_ERROR_ARGUMENT, "%s %d: %s", what, index, why);
}

static poise_status check_clip(const poise_clip *clip, pz_output *output)
{
    if (!(clip->frame_time > 0) || !is_finite(clip->frame_time) || !is_finite(clip->start_time)) {
        return pz_error_set(output->error, POISE_ERROR_ARGUMENT, "clip: its times must be finite, frame_time above 0");
    }
    for (int f = 0; f < clip->frames; ++f) {
        if (!all_finite(clip->q + (size_t)f * (size_t)clip->nq, (size_t)clip->nq)) {
            return refuse(output, "frame of the clip", f, "a number is not finite");
        }
    }
    return POISE_OK;
}

static poise_status check_markers(const poise_markers *markers, pz_output *output)
{
    if (!(markers->rate > 0) || !is_finite(markers->rate)) {
        return pz_error_set(output->error, POISE_ERROR_ARGUMENT, "markers: their rate must be finite and above 0");
    }
    for (int f = 0; f < markers->frames; ++f) {
        for (int i = 0; i < markers->count; ++i) {
            if (poise_markers_seen(markers, f, i) &&
                !v3_is_finite(markers->position[(size_t)f * (size_t)markers->count + (size_t)i])) {
                return refuse(output, "frame of the markers", f, "a position is infinite");
            }
        }
    }
    return POISE_OK;
}

static poise_status check_postures(const poise_file *file, pz_output *output)
{
    pz_pool pool = {.allocator = output->allocator};
    pz_configurations of;
    poise_status status = POISE_OK;
    if (!pz_configurations_of(file->model, &pool, &of)) {
        status = pz_error_set(output->error, POISE_ERROR_MEMORY, "out of memory");
    }
    for (int i = 0; i < file->posture_count && status == POISE_OK; ++i) {
        const poise_posture *posture = &file->postures[i];
        if (!posture->name || !posture->q || !pz_is_configuration(&of, posture->q)) {
            status = refuse(output, "posture", i, "it needs a name and nq finite numbers without a zero quaternion");
        }
    }
    pz_pool_release(&pool);
    return status;
}

// What names bodies, or depends on nq, needs the model.
static poise_status check_with_model(const poise_file *file, pz_output *output)
{
    const poise_model *model = file->model;
    if (!model) {
        return pz_error_set(output->error, POISE_ERROR_ARGUMENT,
                            "goals, postures, placements, shapes and loops are written with their model: the file has none");
    }
    poise_status status = check_postures(file, output);
    if (status != POISE_OK) {
        return status;
    }
    for (int i = 0; i < file->placement_count; ++i) {
        const poise_placement *p = &file->placements[i];
        if (!p->label || p->body < 0 || p->body >= poise_model_info(model).joints || !(p->weight >= 0) ||
            !is_finite(p->weight)) {
            return refuse(output, "placement", i, "it needs a label, a body and a finite weight that is not negative");
        }
    }
    for (int i = 0; i < file->goal_count; ++i) {
        poise_error said = {.line = 0};
        if (file->goals[i].kind != POISE_GOAL_CALLBACK && poise_goal_check(&file->goals[i], model, &said) != POISE_OK) {
            return refuse(output, "goal", i, said.text);
        }
    }
    return json_check_bounds(file, output);
}

static poise_status write_json(const poise_file *file, pz_output *output)
{
    bool has_bounds = file->shape_count > 0 || file->excluded_count > 0 || file->loop_count > 0;
    bool needs_model = file->goal_count > 0 || file->posture_count > 0 || file->placement_count > 0 || has_bounds;
    poise_status status = file->clip ? check_clip(file->clip, output) : POISE_OK;
    status = status == POISE_OK && file->markers ? check_markers(file->markers, output) : status;
    status = status == POISE_OK && needs_model ? check_with_model(file, output) : status;
    if (status == POISE_OK && !(file->scale.metres >= 0 && is_finite(file->scale.metres))) {
        status = pz_error_set(output->error, POISE_ERROR_ARGUMENT, "scale: metres per unit must be finite and not negative");
    }
    if (status == POISE_OK && file->clip && file->model && file->clip->nq != poise_model_info(file->model).nq) {
        status =
            pz_error_set(output->error, POISE_ERROR_ARGUMENT, "the clip has %d coordinates per frame, but the model has %d",
                         file->clip->nq, poise_model_info(file->model).nq);
    }
    if (status != POISE_OK) {
        return status;
    }
    pz_json_writer writer = {.output = output};
    pz_json_open(&writer, NULL, "{");
    pz_json_put_integer(&writer, "poise", JSON_VERSION);
    if (file->title) {
        pz_json_put_text(&writer, "title", file->title);
    }
    write_scale(&writer, file->scale);
    if (file->model) {
        json_put_model(&writer, file->model);
    }
    if (file->clip) {
        write_clip(&writer, file->clip);
    }
    if (file->markers) {
        write_markers(&writer, file->markers);
    }
    if (file->posture_count > 0) {
        write_postures(&writer, file);
    }
    if (file->goal_count > 0) {
        json_put_goals(&writer, file, file->model);
    }
    if (file->placement_count > 0) {
        write_placements(&writer, file);
    }
    json_put_bounds(&writer, file);
    pz_json_close(&writer, "}");
    pz_put(output, "\n");
    return POISE_OK;
}

const pz_format_row pz_json_format = {.name = "json", .extension = ".json", .read = read_json, .write = write_json};
