#include "model/packed_model.h"

#include "base/error.h"

#define LISTED 128 // characters of names in an error

static bool has_joint(const poise_model *model, int joint)
{
    return model && joint >= 0 && joint < model->joint_count;
}

static bool has_tool(const poise_model *model, int tool)
{
    return model && tool >= 0 && tool < model->tool_count;
}

// ---- Counts and names ----------------------------------------------------------------------------------------------------

poise_model_summary poise_model_info(const poise_model *model)
{
    poise_model_summary none = {0, 0, 0, 0, NULL, NULL};
    if (!model) {
        return none;
    }
    poise_model_summary info = {model->joint_count, model->tool_count, model->nq, model->nv, model->lower, model->upper};
    return info;
}

// Names by position, for pz_names.
static const char *joint_name_at(const void *model, int position)
{
    return ((const poise_model *)model)->given[position].name;
}

const char *pz_model_body_name_at(const void *model, int position)
{
    return ((const poise_model *)model)->given[position].body;
}

static const char *tool_name_at(const void *model, int position)
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
    return model ? find(&model->joint_names, name, joint_name_at, model) : POISE_NONE;
}

int poise_model_find_body(const poise_model *model, const char *name)
{
    return model ? find(&model->body_names, name, pz_model_body_name_at, model) : POISE_NONE;
}

int poise_model_find_tool(const poise_model *model, const char *name)
{
    return model ? find(&model->tool_names, name, tool_name_at, model) : POISE_NONE;
}

// Bodies first, then tools, then joints.
static const char *part_name(const void *user, int index)
{
    const poise_model *model = (const poise_model *)user;
    int tool = index - model->joint_count, joint = tool - model->tool_count;
    return tool < 0 ? model->given[index].body : joint < 0 ? model->tools[tool].name : model->given[joint].name;
}

// Add text to what is in `list`, of which *used characters are taken; what does not fit is left out.
static void add_text(char list[LISTED], int *used, const char *text)
{
    while (*text && *used < LISTED - 1) {
        list[(*used)++] = *text++;
    }
    list[*used] = '\0';
}

// Names of tools, then bodies, until the list is full.
static void list_parts(const poise_model *model, char list[LISTED])
{
    const int enough = LISTED - 64;
    int count = model->tool_count + model->joint_count, used = 0;
    list[0] = '\0';
    for (int i = 0; i < count; ++i) {
        add_text(list, &used, i > 0 ? ", " : "");
        if (used > enough) {
            add_text(list, &used, "...");
            return;
        }
        add_text(list, &used, part_name(model, (i + model->joint_count) % count));
    }
}

int poise_model_find_part(const poise_model *model, const char *name, poise_pose *local, poise_error *error)
{
    if (!model || !name) {
        pz_error_set(error, POISE_ERROR_ARGUMENT, "model and name must not be NULL");
        return POISE_NONE;
    }
    int body = poise_model_find_body(model, name), tool = -1;
    body = body < 0 ? poise_model_find_joint(model, name) : body;
    if (body < 0) {
        tool = poise_model_find_tool(model, name);
        body = tool < 0 ? -1 : poise_model_tool_info(model, tool).body;
    }
    if (body < 0) {
        const char *near = poise_nearest_name(name, part_name, model, 2 * model->joint_count + model->tool_count);
        char others[LISTED];
        list_parts(model, others);
        pz_error_set(error, POISE_ERROR_NOT_FOUND, "no body, joint or tool is called \"%s\"; %s%s%s", name,
                     near ? "did you mean \"" : "there are ", near ? near : others, near ? "\"?" : "");
        return POISE_NONE;
    }
    if (local) {
        *local = tool < 0 ? poise_pose_identity() : model->tools[tool].pose;
    }
    return body;
}

// ---- Joints and tools ----------------------------------------------------------------------------------------------------

poise_joint_info poise_model_joint_info(const poise_model *model, int joint)
{
    if (!has_joint(model, joint)) {
        return (poise_joint_info){.parent = POISE_WORLD, .mimic = POISE_NONE};
    }
    const pz_joint *j = &model->joints[joint];
    return (poise_joint_info){.name = model->given[joint].name,
                              .body = model->given[joint].body,
                              .type = model->given[joint].type,
                              .parent = j->parent,
                              .mimic = j->mimic >= 0 ? j->mimic : POISE_NONE,
                              .subtree = j->subtree,
                              .q = j->q_begin,
                              .nq = j->q_end - j->q_begin,
                              .v = j->v_begin,
                              .nv = j->v_end - j->v_begin,
                              .given = &model->given[joint]};
}

poise_tool_info poise_model_tool_info(const poise_model *model, int tool)
{
    if (!has_tool(model, tool)) {
        return (poise_tool_info){.body = POISE_NONE, .pose = {{0, 0, 0, 1}, {0, 0, 0}}};
    }
    return (poise_tool_info){
        .name = model->tools[tool].name, .body = model->tool_body[tool], .pose = model->tools[tool].pose};
}

// ---- Tree ----------------------------------------------------------------------------------------------------------------

// Depth-first order: the subtree of a joint is a run of indices.
bool pz_model_is_ancestor(const poise_model *model, int ancestor, int body)
{
    if (!has_joint(model, body)) {
        return false;
    }
    if (ancestor == POISE_WORLD) {
        return true;
    }
    return has_joint(model, ancestor) && ancestor <= body && body < ancestor + model->joints[ancestor].subtree;
}

int pz_model_path(const poise_model *model, int body, int *path, int capacity)
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
