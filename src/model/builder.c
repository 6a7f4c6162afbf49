// A builder: joints and tools are checked and copied as they are added, one by one or from a Denavit-Hartenberg table;
// model.c packs them. What is refused leaves the builder as it was.
#include "model/model.h"

#include "base/error.h"
#include "num/trig.h"

#include <limits.h>
#include <string.h>

const char *pz_builder_joint_name_at(const void *builder, int position)
{
    const poise_builder *b = builder;
    return b->text + b->joints[position].name;
}

const char *pz_builder_body_name_at(const void *builder, int position)
{
    const poise_builder *b = builder;
    return b->text + b->joints[position].body;
}

static const char *tool_name_at(const void *builder, int position)
{
    const poise_builder *b = builder;
    return b->text + b->tools[position].name;
}

poise_status poise_builder_create(const poise_allocator *allocator, poise_builder **builder, poise_error *error)
{
    if (!builder) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "builder must not be NULL");
    }
    poise_builder *b = pz_allocate(allocator, sizeof *b);
    if (!b) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    *b = (poise_builder){.has_allocator = allocator != NULL};
    if (allocator) {
        b->allocator = *allocator;
    }
    *builder = b;
    return POISE_OK;
}

static void release_functions(const poise_builder *builder, int first)
{
    for (int i = first; i < builder->joint_count; ++i) {
        pz_release(pz_builder_allocator(builder), builder->joints[i].functions);
    }
}

void poise_builder_destroy(poise_builder *builder)
{
    if (!builder) {
        return;
    }
    poise_allocator copy = builder->allocator;
    const poise_allocator *allocator = builder->has_allocator ? &copy : NULL;
    release_functions(builder, 0);
    pz_release(allocator, builder->joints);
    pz_release(allocator, builder->tools);
    pz_release(allocator, builder->text);
    pz_release(allocator, builder->joint_names.slots);
    pz_release(allocator, builder->body_names.slots);
    pz_release(allocator, builder->tool_names.slots);
    pz_release(allocator, builder);
}

// ---- Growing -------------------------------------------------------------------------------------------------------------
// Everything is grown before anything is changed, so a failed allocation leaves the builder as it was.

// `array` itself when it has room for one more element of `element` bytes, else a larger copy in its place; NULL, with the
// array untouched, when there is no memory.
static void *grown(const poise_builder *builder, void *array, int count, int *capacity, size_t element)
{
    if (count < *capacity) {
        return array;
    }
    if (*capacity > INT_MAX / 4) {
        return NULL;
    }
    int larger = *capacity ? 2 * *capacity : 16;
    void *fresh = pz_allocate(pz_builder_allocator(builder), (size_t)larger * element);
    if (!fresh) {
        return NULL;
    }
    if (count > 0) {
        memcpy(fresh, array, (size_t)count * element);
    }
    pz_release(pz_builder_allocator(builder), array);
    *capacity = larger;
    return fresh;
}

static bool grow_joints(poise_builder *builder)
{
    void *joints = grown(builder, builder->joints, builder->joint_count, &builder->joint_capacity, sizeof *builder->joints);
    builder->joints = joints ? joints : builder->joints;
    return joints != NULL;
}

static bool grow_tools(poise_builder *builder)
{
    void *tools = grown(builder, builder->tools, builder->tool_count, &builder->tool_capacity, sizeof *builder->tools);
    builder->tools = tools ? tools : builder->tools;
    return tools != NULL;
}

static bool grow_text(poise_builder *builder, size_t more)
{
    if (more <= builder->text_capacity - builder->text_size) {
        return true;
    }
    size_t larger = 2 * builder->text_capacity + more + 256;
    char *fresh = pz_allocate(pz_builder_allocator(builder), larger);
    if (!fresh) {
        return false;
    }
    if (builder->text_size > 0) {
        memcpy(fresh, builder->text, builder->text_size);
    }
    pz_release(pz_builder_allocator(builder), builder->text);
    builder->text = fresh;
    builder->text_capacity = larger;
    return true;
}

static void fill_names(const poise_builder *builder, pz_names *names, int count, pz_name_at at)
{
    memset(names->slots, 0, names->capacity * sizeof *names->slots);
    for (int i = 0; i < count; ++i) {
        pz_names_add(names, at(builder, i), i);
    }
}

static bool grow_names(const poise_builder *builder, pz_names *names, int count, pz_name_at at)
{
    size_t capacity = pz_names_capacity((size_t)count + 1);
    if (capacity <= names->capacity) {
        return true;
    }
    int32_t *slots = pz_allocate(pz_builder_allocator(builder), capacity * sizeof *slots);
    if (!slots) {
        return false;
    }
    pz_release(pz_builder_allocator(builder), names->slots);
    *names = (pz_names){slots, capacity};
    fill_names(builder, names, count, at);
    return true;
}

static size_t text_length(const char *text)
{
    return text ? strlen(text) + 1 : 0;
}

// Copy into room that grow_text has made.
static size_t keep_text(poise_builder *builder, const char *text)
{
    if (!text) {
        return PZ_NO_TEXT;
    }
    size_t start = builder->text_size;
    memcpy(builder->text + start, text, strlen(text) + 1);
    builder->text_size += strlen(text) + 1;
    return start;
}

// Take back what was added since the builder held that many joints and that much text. No tool may hang on it.
static void take_back(poise_builder *builder, int joint_count, size_t text_size)
{
    if (builder->joint_count == joint_count) {
        return;
    }
    release_functions(builder, joint_count);
    builder->joint_count = joint_count;
    builder->text_size = text_size;
    fill_names(builder, &builder->joint_names, joint_count, pz_builder_joint_name_at);
    fill_names(builder, &builder->body_names, joint_count, pz_builder_body_name_at);
}

// ---- Adding --------------------------------------------------------------------------------------------------------------

poise_status poise_builder_add_joint(poise_builder *builder, const poise_joint *joint, poise_error *error)
{
    if (!builder || !joint) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "builder and joint must not be NULL");
    }
    poise_joint checked = *joint;
    poise_status status = pz_joint_check(&checked, error);
    if (status != POISE_OK) {
        return status;
    }
    const char *body = joint->body ? joint->body : joint->name;
    if (pz_names_find(&builder->joint_names, joint->name, pz_builder_joint_name_at, builder) >= 0) {
        return pz_error_set(error, POISE_ERROR_MODEL, "joint \"%s\": there is already a joint of that name", joint->name);
    }
    if (pz_names_find(&builder->body_names, body, pz_builder_body_name_at, builder) >= 0) {
        return pz_error_set(error, POISE_ERROR_MODEL, "joint \"%s\": there is already a body \"%s\"", joint->name, body);
    }
    size_t text = text_length(joint->name) + text_length(body) + text_length(joint->parent) + text_length(joint->mimic);
    size_t size = pz_functions_size(&checked);
    void *functions = NULL;
    if (!grow_joints(builder) || !grow_text(builder, text) ||
        !grow_names(builder, &builder->joint_names, builder->joint_count, pz_builder_joint_name_at) ||
        !grow_names(builder, &builder->body_names, builder->joint_count, pz_builder_body_name_at) ||
        (size > 0 && !(functions = pz_allocate(pz_builder_allocator(builder), size)))) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "joint \"%s\": out of memory", joint->name);
    }
    pz_joint_entry *entry = &builder->joints[builder->joint_count];
    if (functions) {
        pz_functions_copy(&checked, functions);
    }
    entry->joint = checked;
    entry->functions = functions;
    entry->name = keep_text(builder, joint->name);
    entry->body = keep_text(builder, body);
    entry->parent = keep_text(builder, joint->parent);
    entry->mimic = keep_text(builder, joint->mimic);
    pz_names_add(&builder->joint_names, joint->name, builder->joint_count);
    pz_names_add(&builder->body_names, body, builder->joint_count);
    builder->joint_count += 1;
    return POISE_OK;
}

poise_status poise_builder_add_tool(poise_builder *builder, const poise_tool *tool, poise_error *error)
{
    if (!builder || !tool) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "builder and tool must not be NULL");
    }
    poise_tool checked = *tool;
    poise_status status = pz_tool_check(&checked, error);
    if (status != POISE_OK) {
        return status;
    }
    if (pz_names_find(&builder->tool_names, tool->name, tool_name_at, builder) >= 0) {
        return pz_error_set(error, POISE_ERROR_MODEL, "tool \"%s\": there is already a tool of that name", tool->name);
    }
    if (!grow_tools(builder) || !grow_text(builder, text_length(tool->name) + text_length(tool->body)) ||
        !grow_names(builder, &builder->tool_names, builder->tool_count, tool_name_at)) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "tool \"%s\": out of memory", tool->name);
    }
    pz_tool_entry *entry = &builder->tools[builder->tool_count];
    entry->tool = checked;
    entry->name = keep_text(builder, tool->name);
    entry->body = keep_text(builder, tool->body);
    pz_names_add(&builder->tool_names, tool->name, builder->tool_count);
    builder->tool_count += 1;
    return POISE_OK;
}

// ---- Denavit-Hartenberg tables -------------------------------------------------------------------------------------------
//
//   classic    A_i = Rz(theta) Tz(d) Tx(a) Rx(alpha)     the joint moves about the z of the frame before
//   modified   A_i = Rx(alpha) Tx(a) Rz(theta) Tz(d)     the joint moves about its own z (Craig)
//
// Both are a product of constants and motions about or along z. Classic: row i's constant after the motion, Tz(d) Tx(a)
// Rx(alpha), belongs to the offset of joint i+1, or to the tip. Modified: Rz and Tz commute, so the whole constant comes
// first. A constant theta (or the d of a revolute joint) commutes with the motion and joins the constant.

#define NAME_SIZE 64

static quat turn_x(double angle)
{
    double s, c;
    pz_sincos(0.5 * angle, &s, &c);
    return (quat){s, 0, 0, c};
}

static quat turn_z(double angle)
{
    double s, c;
    pz_sincos(0.5 * angle, &s, &c);
    return (quat){0, 0, s, c};
}

// Rz(theta) Tz(d)
static poise_pose along_z(const poise_dh_row *row)
{
    return (poise_pose){turn_z(row->theta), {0, 0, row->d}};
}

// Tx(a) Rx(alpha); the two commute
static poise_pose along_x(const poise_dh_row *row)
{
    return (poise_pose){turn_x(row->alpha), {row->a, 0, 0}};
}

// prefix followed by the decimal digits of `number`
static bool numbered_name(char name[NAME_SIZE], const char *prefix, int number)
{
    char digits[12];
    size_t count = 0;
    for (int n = number; n > 0; n /= 10) {
        digits[count++] = (char)('0' + n % 10);
    }
    size_t length = strlen(prefix);
    if (length + count >= NAME_SIZE) {
        return false;
    }
    memcpy(name, prefix, length);
    for (size_t i = 0; i < count; ++i) {
        name[length + i] = digits[count - 1 - i];
    }
    name[length + count] = '\0';
    return true;
}

static poise_status check_row(const poise_dh_row *row, int number, poise_error *error)
{
    if (!(is_finite(row->a) && is_finite(row->alpha) && is_finite(row->d) && is_finite(row->theta))) {
        return pz_error_set(error, POISE_ERROR_MODEL, "Denavit-Hartenberg row %d: a number is not finite", number);
    }
    return POISE_OK;
}

static poise_status add_tip(poise_builder *builder, const char *prefix, const char *body, poise_pose pose,
                            poise_error *error)
{
    char name[NAME_SIZE];
    size_t length = strlen(prefix);
    if (length + 4 > NAME_SIZE) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "the prefix of a Denavit-Hartenberg chain is too long");
    }
    memcpy(name, prefix, length);
    memcpy(name + length, "tip", 4);
    return poise_builder_add_tool(builder, &(poise_tool){.name = name, .body = body, .pose = pose}, error);
}

// The rows as joints, each below the one before; the constant after the last motion is the tip.
static poise_status add_rows(poise_builder *builder, const char *prefix, const char *parent, poise_dh_convention convention,
                             const poise_dh_row *rows, int count, poise_error *error)
{
    char name[NAME_SIZE], before[NAME_SIZE];
    poise_pose pending = poise_pose_identity(); // constant since the last joint
    for (int i = 0; i < count; ++i) {
        poise_status status = check_row(&rows[i], i + 1, error);
        if (status != POISE_OK) {
            return status;
        }
        if (!numbered_name(name, prefix, i + 1)) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT, "the prefix of a Denavit-Hartenberg chain is too long");
        }
        if (convention == POISE_DH_MODIFIED) {
            pending = poise_pose_multiply(pending, along_x(&rows[i]));
        }
        poise_joint joint = poise_joint_default();
        joint.name = name;
        joint.parent = i == 0 ? parent : before;
        joint.type = rows[i].prismatic ? POISE_JOINT_PRISMATIC : POISE_JOINT_REVOLUTE;
        joint.offset = poise_pose_multiply(pending, along_z(&rows[i]));
        joint.lower[0] = rows[i].lower;
        joint.upper[0] = rows[i].upper;
        status = poise_builder_add_joint(builder, &joint, error);
        if (status != POISE_OK) {
            return status;
        }
        pending = convention == POISE_DH_CLASSIC ? along_x(&rows[i]) : poise_pose_identity();
        memcpy(before, name, sizeof before);
    }
    return add_tip(builder, prefix, before, pending, error);
}

poise_status poise_builder_add_dh(poise_builder *builder, const char *prefix, const char *parent,
                                  poise_dh_convention convention, const poise_dh_row *rows, int count, poise_error *error)
{
    if (!builder || !prefix || !rows) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "a Denavit-Hartenberg chain: %s must not be NULL",
                            !builder  ? "builder"
                            : !prefix ? "prefix"
                                      : "rows");
    }
    if (count < 1) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "a Denavit-Hartenberg chain has at least one row, not %d", count);
    }
    if ((unsigned)convention > POISE_DH_MODIFIED) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "a Denavit-Hartenberg chain is POISE_DH_CLASSIC or POISE_DH_MODIFIED, not %d", (int)convention);
    }
    int joint_count = builder->joint_count;
    size_t text_size = builder->text_size;
    poise_status status = add_rows(builder, prefix, parent, convention, rows, count, error);
    if (status != POISE_OK) {
        take_back(builder, joint_count, text_size); // all rows or none
    }
    return status;
}
