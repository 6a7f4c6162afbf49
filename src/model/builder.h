// What a builder holds: descriptions in the order they were added, texts in one pool.
#ifndef PZ_MODEL_BUILDER_H
#define PZ_MODEL_BUILDER_H

#include "model/model.h"

// A text in the pool; PZ_NO_TEXT for none.
#define PZ_NO_TEXT SIZE_MAX

// A description whose texts live in the pool: the pointers to texts in `joint` are not used.
typedef struct pz_joint_entry {
    poise_joint joint;
    size_t name, body, parent, mimic;
    void *functions; // what `joint.curve` and `joint.mimic_function` point to, or NULL
} pz_joint_entry;

typedef struct pz_tool_entry {
    poise_tool tool;
    size_t name, body;
} pz_tool_entry;

struct poise_builder {
    poise_allocator allocator;
    bool has_allocator;
    pz_joint_entry *joints;
    int joint_count, joint_capacity;
    pz_tool_entry *tools;
    int tool_count, tool_capacity;
    char *text;
    size_t text_size, text_capacity;
    pz_names joint_names, body_names, tool_names;
};

static inline const poise_allocator *pz_builder_allocator(const poise_builder *builder)
{
    return builder->has_allocator ? &builder->allocator : NULL;
}

// Take back what was added since the builder held that many joints and that much text. No tool may hang on it.
void pz_builder_take_back(poise_builder *builder, int joint_count, size_t text_size);

const char *pz_builder_joint_name_at(const void *builder, int position);
const char *pz_builder_body_name_at(const void *builder, int position);

// What one description must satisfy by itself; normalises its axes and quaternions in place.
poise_status pz_joint_check(poise_joint *joint, poise_error *error);
poise_status pz_tool_check(poise_tool *tool, poise_error *error);

#endif
