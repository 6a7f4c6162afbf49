#include "model/builder.h"

#include "base/error.h"

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

void pz_builder_take_back(poise_builder *builder, int joint_count, size_t text_size)
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
