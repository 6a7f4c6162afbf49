// Loops of <equality>, and what it shares with other sections that name bodies.
//
// connect   a point of body1, in its frame, is one with the point of body2 that is there in the configuration of the file
// weld      body2 keeps the pose in body1's frame that `relpose` says or, without one, that the file draws
//
// Either may name two sites instead, whose points or frames are one. Those to a mocap body are left out.
#include "io/mjcf/mjcf.h"

#include "math/quat.h"

#include <string.h>

// ---- Sections of the root ------------------------------------------------------------------------------------------------

static const pz_xml_node *first_named(const pz_xml_node *node, const char *name)
{
    while (node && name && !pz_xml_is(node, name)) {
        node = node->next;
    }
    return node;
}

const pz_xml_node *pz_mjcf_next_in(const pz_mjcf *m, const char *section, const char *name, const pz_xml_node *after)
{
    const pz_xml_node *at = after ? after->parent : m->root->first;
    const pz_xml_node *found = after ? first_named(after->next, name) : NULL;
    for (at = after ? at->next : at; at && !found; at = at->next) {
        found = pz_xml_is(at, section) ? first_named(at->first, name) : NULL;
    }
    return found;
}

bool pz_mjcf_is_active(const pz_xml_node *equality)
{
    const char *active = pz_xml_get(equality, "active");
    return !active || strcmp(active, "false") != 0;
}

poise_status pz_mjcf_body_named(pz_mjcf *m, const pz_xml_node *node, const char *attribute, int *body)
{
    const char *name = pz_xml_get(node, attribute);
    *body = POISE_WORLD;
    if (!name || strcmp(name, "world") == 0) {
        return POISE_OK;
    }
    *body = poise_model_find_body(m->input->file->model, name);
    if (*body == POISE_NONE) {
        return pz_xml_fail(m->input, node, POISE_ERROR_MODEL, "%s of <%s>: there is no body \"%s\"", attribute, node->name,
                           name);
    }
    return POISE_OK;
}

// ---- Loops ---------------------------------------------------------------------------------------------------------------

typedef struct drawn_body {
    poise_pose pose; // in the world
    bool is_mocap;
} drawn_body;

// Where the file draws the bodies of the model.
static drawn_body *draw_bodies(pz_mjcf *m)
{
    const poise_model *model = m->input->file->model;
    drawn_body *drawn = pz_pool_take(&m->input->pool, (size_t)poise_model_info(model).joints, sizeof *drawn);
    poise_pose *by_number = pz_pool_take(&m->input->pool, (size_t)m->body_count, sizeof *by_number);
    for (int b = 0; drawn && by_number && b < m->body_count; ++b) {
        const pz_mjcf_body *body = &m->bodies[b];
        by_number[b] = body->parent == POISE_WORLD ? body->pose : poise_pose_multiply(by_number[body->parent], body->pose);
        drawn[poise_model_find_body(model, body->name)] = (drawn_body){by_number[b], pz_mjcf_is_mocap(body->node)};
    }
    return by_number ? drawn : NULL;
}

static poise_pose drawn_pose(const drawn_body *drawn, int body)
{
    return body == POISE_WORLD ? poise_pose_identity() : drawn[body].pose;
}

static poise_status site_named(pz_mjcf *m, const pz_xml_node *node, const char *attribute, int *body, poise_pose *pose)
{
    const poise_model *model = m->input->file->model;
    const char *name = pz_xml_get(node, attribute);
    int tool = name ? poise_model_find_tool(model, name) : POISE_NONE;
    if (tool == POISE_NONE) {
        return pz_xml_fail(m->input, node, POISE_ERROR_MODEL, "%s of <%s>: there is no site \"%s\" on a body", attribute,
                           node->name, name ? name : "");
    }
    *body = poise_model_tool_info(model, tool).body;
    *pose = poise_model_tool_info(model, tool).pose;
    return POISE_OK;
}

static poise_status between_bodies(pz_mjcf *m, const pz_xml_node *node, const drawn_body *drawn, poise_constraint *loop)
{
    double anchor[3] = {0, 0, 0}, relative[7] = {0, 1, 0, 0, 0, 0, 0};
    poise_status status = pz_mjcf_body_named(m, node, "body1", &loop->body);
    status = status == POISE_OK ? pz_mjcf_body_named(m, node, "body2", &loop->body2) : status;
    status = status == POISE_OK ? pz_xml_exactly(m->input, node, "anchor", 3, anchor) : status;
    status = status == POISE_OK ? pz_xml_exactly(m->input, node, "relpose", 7, relative) : status;
    if (status != POISE_OK) {
        return status;
    }
    poise_pose first = drawn_pose(drawn, loop->body), second = drawn_pose(drawn, loop->body2);
    poise_pose from_second = poise_pose_multiply(poise_pose_inverse(second), first);
    if (loop->kind == POISE_CONSTRAINT_CONNECT) {
        loop->local.position = v3(anchor[0], anchor[1], anchor[2]);
        loop->target.position = poise_pose_transform(from_second, loop->local.position);
        return POISE_OK;
    }
    poise_quat turn = {relative[4], relative[5], relative[6], relative[3]};
    bool is_given = turn.x != 0 || turn.y != 0 || turn.z != 0 || turn.w != 0;
    loop->local = is_given ? (poise_pose){quat_normalize(turn), v3(relative[0], relative[1], relative[2])}
                           : poise_pose_inverse(from_second);
    return POISE_OK;
}

static poise_status read_loop(pz_mjcf *m, const pz_xml_node *node, const drawn_body *drawn, poise_constraint *loop)
{
    *loop = poise_constraint_default(pz_xml_is(node, "weld") ? POISE_CONSTRAINT_WELD : POISE_CONSTRAINT_CONNECT);
    if (!pz_xml_get(node, "site1") && !pz_xml_get(node, "site2")) {
        return between_bodies(m, node, drawn, loop);
    }
    poise_status status = site_named(m, node, "site1", &loop->body, &loop->local);
    return status == POISE_OK ? site_named(m, node, "site2", &loop->body2, &loop->target) : status;
}

// A body that a program moves, and drags others by: where the file draws it is no place to hold them.
static bool is_handle(const drawn_body *drawn, int body)
{
    return body != POISE_WORLD && drawn[body].is_mocap;
}

static bool is_loop(const pz_xml_node *node)
{
    return pz_mjcf_is_active(node) && (pz_xml_is(node, "connect") || pz_xml_is(node, "weld"));
}

poise_status pz_mjcf_read_loops(pz_mjcf *m)
{
    size_t most = 0;
    for (const pz_xml_node *node = pz_mjcf_next_in(m, "equality", NULL, NULL); node;
         node = pz_mjcf_next_in(m, "equality", NULL, node)) {
        most += is_loop(node);
        if (pz_mjcf_is_active(node) && !is_loop(node) && !pz_xml_is(node, "joint")) {
            pz_xml_warn(m->input, &m->causes[MJCF_EQUALITY], node, "<%s> of <equality> is not supported", node->name);
        }
    }
    if (most == 0) {
        return POISE_OK;
    }
    poise_file *file = m->input->file;
    const drawn_body *drawn = draw_bodies(m);
    file->loops = pz_pool_take(&m->input->kept, most, sizeof *file->loops);
    if (!drawn || !file->loops) {
        return pz_input_no_memory(m->input);
    }
    poise_status status = POISE_OK;
    for (const pz_xml_node *node = pz_mjcf_next_in(m, "equality", NULL, NULL); node && status == POISE_OK;
         node = pz_mjcf_next_in(m, "equality", NULL, node)) {
        if (!is_loop(node)) {
            continue;
        }
        poise_constraint *loop = &file->loops[file->loop_count];
        status = read_loop(m, node, drawn, loop);
        bool is_idle = loop->body == loop->body2; // nothing moves against itself
        bool is_dragged = status == POISE_OK && (is_handle(drawn, loop->body) || is_handle(drawn, loop->body2));
        if (is_dragged) {
            pz_xml_warn(m->input, &m->causes[MJCF_EQUALITY], node,
                        "<%s> to a mocap body is not kept: say with a goal where that body should be", node->name);
        }
        file->loop_count += status == POISE_OK && !is_idle && !is_dragged;
    }
    return status;
}
