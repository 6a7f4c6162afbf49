// The Poise JSON format: goals, read and written by one table of members.
#include "io/poise/json_poise.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

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
    static const char *const names[POISE_LOSS_COUNT] = {"none", "huber", "geman_mcclure"};
    return names[loss];
}

static const char *kind_name(int kind)
{
    return poise_goal_kind_name((poise_goal_kind)kind);
}

static bool needs_body(poise_goal_kind kind)
{
    return kind != POISE_GOAL_POSTURE && kind != POISE_GOAL_SMOOTHNESS && kind != POISE_GOAL_CENTER_OF_MASS;
}

// ---- Reading -------------------------------------------------------------------------------------------------------------

static poise_status read_members(const pz_item *item, poise_goal *goal)
{
    poise_status status = POISE_OK;
    for (size_t i = 0; i < PZ_COUNT(members) && status == POISE_OK; ++i) {
        const member *m = &members[i];
        double values[3];
        void *at = (unsigned char *)goal + m->offset;
        memcpy(values, at, m->count * sizeof(double));
        pz_item value = pz_json_get(item, m->name);
        if (m->what == A_DIRECTION) {
            status = pz_json_unit_of(item, m->name, values, m->count);
        } else if (m->count == 1) {
            status = pz_json_number_of(item, m->name, values);
        } else if (value.value) {
            status = pz_json_numbers_or(&value, values, m->count, INFINITY);
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
        status = pz_json_body(&body, model, &goal->body);
    }
    return status == POISE_OK && body2.value ? pz_json_body(&body2, model, &goal->body2) : status;
}

static poise_status read_pose(const pz_item *object, const char *key, poise_pose *pose)
{
    static const char *const known[] = {"position", "rotation"};
    pz_item item = pz_json_get(object, key);
    poise_status status = item.value ? pz_json_need_object(&item) : POISE_OK;
    if (status != POISE_OK || !item.value) {
        return status;
    }
    pz_json_warn_unknown(&item, known, PZ_COUNT(known));
    return pz_json_pose_of(&item, pose);
}

poise_status pz_json_goal(const pz_item *item, const poise_model *model, void *entry)
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
    status = status == POISE_OK ? pz_json_choice_of(item, "kind", kind_name, POISE_GOAL_KIND_COUNT, &kind) : status;
    status = status == POISE_OK ? pz_json_choice_of(item, "loss", loss_name, POISE_LOSS_COUNT, &loss) : status;
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
    pz_json_warn_unknown(item, known, PZ_COUNT(known));
    poise_error said = {.line = 0};
    status = poise_goal_check(goal, model, &said);
    return status == POISE_OK ? status : pz_json_fail(item, POISE_ERROR_FORMAT, "%s", said.text);
}

// ---- Writing -------------------------------------------------------------------------------------------------------------

static void put_members(pz_json_writer *writer, const poise_goal *goal, const poise_goal *usual)
{
    for (size_t i = 0; i < PZ_COUNT(members); ++i) {
        const member *m = &members[i];
        double values[3], others[3];
        memcpy(values, (const unsigned char *)goal + m->offset, m->count * sizeof(double));
        memcpy(others, (const unsigned char *)usual + m->offset, m->count * sizeof(double));
        // what a kind does not use may hold anything
        if (pz_same_numbers(values, others, m->count) || (m->what != A_BAND && !all_finite(values, m->count))) {
            continue;
        }
        if (m->count == 1) {
            pz_json_put_number(writer, m->name, values[0]);
        } else {
            pz_json_put_numbers(writer, m->name, values, m->count);
        }
    }
}

static void put_frame(pz_json_writer *writer, const char *key, poise_pose pose)
{
    poise_pose identity = poise_pose_identity();
    bool is_finite_pose = quat_is_finite(pose.rotation) && v3_is_finite(pose.position);
    if (is_finite_pose && memcmp(&pose, &identity, sizeof pose) != 0) {
        pz_json_open(writer, key, "{");
        pz_json_put_pose(writer, pose);
        pz_json_close(writer, "}");
    }
}

static void put_list(pz_json_writer *writer, const char *key, const double *list, int count)
{
    if (list) {
        pz_json_put_numbers(writer, key, list, (size_t)count);
    }
}

static void put_goal(pz_json_writer *writer, const poise_goal *goal, const poise_model *model)
{
    poise_goal usual = poise_goal_default(goal->kind);
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
    put_members(writer, goal, &usual);
    put_frame(writer, "local", goal->local);
    put_frame(writer, "target", goal->target);
    put_list(writer, "q", has_q ? goal->q : NULL, poise_model_info(model).nq);
    put_list(writer, "q_before", has_q ? goal->q_before : NULL, poise_model_info(model).nq);
    put_list(writer, "q_weights", has_q ? goal->q_weights : NULL, poise_model_info(model).nv);
    pz_json_close_flat(writer, "}");
}

void pz_json_put_goals(pz_json_writer *writer, const poise_file *file, const poise_model *model)
{
    pz_json_open(writer, "goals", "[");
    for (int i = 0; i < file->goal_count; ++i) {
        if (file->goals[i].kind == POISE_GOAL_CALLBACK) {
            pz_output_warn(writer->output, "goal %d is a function, which a file cannot hold; left out", i);
        } else {
            put_goal(writer, &file->goals[i], model);
        }
    }
    pz_json_close(writer, "]");
}
