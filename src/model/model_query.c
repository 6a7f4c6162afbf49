#include "model/packed_model.h"

static bool has_joint(const poise_model *model, int joint)
{
    return model && joint >= 0 && joint < model->joint_count;
}

static bool has_tool(const poise_model *model, int tool)
{
    return model && tool >= 0 && tool < model->tool_count;
}

// ---- Counts and names ----------------------------------------------------------------------------------------------------

int poise_model_joint_count(const poise_model *model)
{
    return model ? model->joint_count : 0;
}

int poise_model_nq(const poise_model *model)
{
    return model ? model->nq : 0;
}

int poise_model_nv(const poise_model *model)
{
    return model ? model->nv : 0;
}

int poise_model_tool_count(const poise_model *model)
{
    return model ? model->tool_count : 0;
}

const char *pz_model_joint_name_at(const void *model, int position)
{
    return ((const poise_model *)model)->given[position].name;
}

const char *pz_model_body_name_at(const void *model, int position)
{
    return ((const poise_model *)model)->given[position].body;
}

const char *pz_model_tool_name_at(const void *model, int position)
{
    return ((const poise_model *)model)->tools[position].name;
}

static int find(const pz_names *names, const char *name, pz_name_at at, const poise_model *model)
{
    int found = name ? pz_names_find(names, name, at, model) : -1;
    return found >= 0 ? found : POISE_NONE;
}

int poise_model_find_joint(const poise_model *model, const char *name)
{
    return model ? find(&model->joint_names, name, pz_model_joint_name_at, model) : POISE_NONE;
}

int poise_model_find_body(const poise_model *model, const char *name)
{
    return model ? find(&model->body_names, name, pz_model_body_name_at, model) : POISE_NONE;
}

int poise_model_find_tool(const poise_model *model, const char *name)
{
    return model ? find(&model->tool_names, name, pz_model_tool_name_at, model) : POISE_NONE;
}

const char *poise_model_joint_name(const poise_model *model, int joint)
{
    return has_joint(model, joint) ? model->given[joint].name : NULL;
}

const char *poise_model_body_name(const poise_model *model, int body)
{
    return has_joint(model, body) ? model->given[body].body : NULL;
}

const char *poise_model_tool_name(const poise_model *model, int tool)
{
    return has_tool(model, tool) ? model->tools[tool].name : NULL;
}

// ---- Joints --------------------------------------------------------------------------------------------------------------

poise_joint poise_model_joint(const poise_model *model, int joint)
{
    return has_joint(model, joint) ? model->given[joint] : poise_joint_default();
}

poise_joint_type poise_model_joint_type(const poise_model *model, int joint)
{
    return has_joint(model, joint) ? model->given[joint].type : POISE_JOINT_FIXED;
}

int poise_model_parent(const poise_model *model, int joint)
{
    return has_joint(model, joint) ? model->joints[joint].parent : POISE_WORLD;
}

int poise_model_joint_q(const poise_model *model, int joint, int *count)
{
    bool there = has_joint(model, joint);
    if (count) {
        *count = there ? model->joints[joint].q_end - model->joints[joint].q_begin : 0;
    }
    return there ? model->joints[joint].q_begin : 0;
}

int poise_model_joint_v(const poise_model *model, int joint, int *count)
{
    bool there = has_joint(model, joint);
    if (count) {
        *count = there ? model->joints[joint].v_end - model->joints[joint].v_begin : 0;
    }
    return there ? model->joints[joint].v_begin : 0;
}

int poise_model_mimic(const poise_model *model, int joint)
{
    return has_joint(model, joint) ? model->joints[joint].mimic : POISE_WORLD;
}

// ---- Tree ----------------------------------------------------------------------------------------------------------------

int poise_model_subtree(const poise_model *model, int joint)
{
    return has_joint(model, joint) ? model->joints[joint].subtree : 0;
}

// Depth-first order: the subtree of a joint is a run of indices.
bool poise_model_is_ancestor(const poise_model *model, int ancestor, int body)
{
    if (!has_joint(model, body)) {
        return false;
    }
    if (ancestor == POISE_WORLD) {
        return true;
    }
    return has_joint(model, ancestor) && ancestor <= body && body < ancestor + model->joints[ancestor].subtree;
}

int poise_model_path(const poise_model *model, int body, int *path, int capacity)
{
    if (!has_joint(model, body)) {
        return 0;
    }
    int length = 0;
    for (int k = body; k != POISE_WORLD; k = model->joints[k].parent) {
        length += 1;
    }
    int place = length - 1;
    for (int k = body; path && k != POISE_WORLD; k = model->joints[k].parent, --place) {
        if (place < capacity) {
            path[place] = k;
        }
    }
    return length;
}

// ---- Tools ---------------------------------------------------------------------------------------------------------------

int poise_model_tool_body(const poise_model *model, int tool)
{
    return has_tool(model, tool) ? model->tool_body[tool] : POISE_NONE;
}

poise_pose poise_model_tool_pose(const poise_model *model, int tool)
{
    return has_tool(model, tool) ? model->tools[tool].pose : (poise_pose){{0, 0, 0, 1}, {0, 0, 0}};
}
