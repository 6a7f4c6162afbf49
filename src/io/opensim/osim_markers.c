// Markers: those of a model, or a set in a file of its own.
#include "io/opensim/osim.h"

#include <string.h>

typedef struct marker_list {
    osim *o; // with a document's bodies and frames; `model` is the one that is read, or the options'
    const poise_model *model;
    poise_placement *placements;
    int count;
    pz_cause lost;
} marker_list;

static const char *kept_text(osim *o, const char *text)
{
    return pz_pool_copy(&o->input->kept, text, strlen(text));
}

static poise_status find_place(marker_list *m, const pz_xml_node *node, int *body, poise_pose *pose)
{
    osim *o = m->o;
    const char *path = pz_osim_socket(node, "parent_frame");
    path = path ? path : pz_xml_child_text(node, "body");
    *pose = poise_pose_identity();
    *body = POISE_NONE;
    if (!path) {
        return POISE_OK;
    }
    if (o->body_count == 0) { // a set alone: bodies are those of the model
        const char *slash = strrchr(path, '/');
        *body = poise_model_find_body(m->model, slash ? slash + 1 : path);
        return POISE_OK;
    }
    poise_status status = pz_osim_resolve(o, node, NULL, path, body, pose);
    *body = status == POISE_OK && *body >= 0 ? poise_model_find_body(m->model, o->bodies[*body].name) : POISE_NONE;
    return status;
}

static poise_status add_marker(marker_list *m, const pz_xml_node *node)
{
    osim *o = m->o;
    const char *name = pz_osim_name(node);
    vec3 local = {0, 0, 0};
    int body;
    poise_pose pose;
    poise_status status = find_place(m, node, &body, &pose);
    status = status == POISE_OK ? pz_osim_vec3(o, node, "location", &local) : status;
    if (status != POISE_OK) {
        return status;
    }
    if (!name || body == POISE_NONE) {
        pz_xml_warn(o->input, &m->lost, node, "marker \"%s\" is not on a body of the model and is left out",
                    name ? name : "");
        return POISE_OK;
    }
    if (o->body_count > 0) {
        int at = pz_name_set_find(&o->body_names, poise_model_joint_info(m->model, body).body);
        vec3 s = at >= 0 ? o->bodies[at].scale : v3(1, 1, 1);
        local = v3(local.x * s.x, local.y * s.y, local.z * s.z);
    }
    const char *label = kept_text(o, name);
    if (!label) {
        return pz_input_no_memory(o->input);
    }
    m->placements[m->count++] = (poise_placement){label, body, poise_pose_transform(pose, local), 1.0};
    return POISE_OK;
}

static poise_status read_markers(marker_list *m, const pz_xml_node *parent)
{
    const pz_xml_node *list = pz_osim_objects(parent, "MarkerSet");
    size_t count = 0;
    for (const pz_xml_node *node = list ? list->first : NULL; node; node = node->next) {
        count += pz_xml_is(node, "Marker");
    }
    m->placements = pz_pool_take(&m->o->input->kept, count, sizeof *m->placements);
    if (!m->placements) {
        return pz_input_no_memory(m->o->input);
    }
    m->lost = (pz_cause){.what = "markers that are not on a body"};
    poise_status status = POISE_OK;
    for (const pz_xml_node *node = list ? list->first : NULL; node && status == POISE_OK; node = node->next) {
        status = pz_xml_is(node, "Marker") ? add_marker(m, node) : POISE_OK;
    }
    pz_causes_close(m->o->input, &m->lost, 1);
    m->o->input->file->placements = m->count > 0 ? m->placements : NULL;
    m->o->input->file->placement_count = m->count;
    return status;
}

poise_status pz_osim_markers(osim *o)
{
    marker_list m = {.o = o, .model = o->input->file->model};
    return read_markers(&m, o->model);
}

poise_status pz_osim_marker_set(osim *o)
{
    marker_list m = {.o = o, .model = o->input->options->model};
    if (!m.model) {
        return pz_input_fail(o->input, POISE_ERROR_ARGUMENT, 0, "a marker set needs its model: give it as model");
    }
    return read_markers(&m, o->document);
}
