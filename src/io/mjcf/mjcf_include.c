// <include>: the children of another file's root take its place.
#include "io/mjcf/mjcf.h"

#include <string.h>

#define INCLUDES_MOST 1000

// Put the children of `root` where `*link` is, and go on with the first of them, which may be an <include> itself.
static void splice(pz_xml_node *parent, pz_xml_node **link, pz_xml_node *previous, pz_xml_node *root)
{
    pz_xml_node *include = *link;
    for (pz_xml_node *child = root ? root->first : NULL; child; child = child->next) {
        child->parent = parent;
    }
    if (root && root->first) {
        root->last->next = include->next;
        *link = root->first;
    } else {
        *link = include->next;
    }
    if (parent->last == include) {
        parent->last = root && root->last ? root->last : previous;
    }
}

// The name of a file beside the one that `node` comes from, for the caller's folder; NULL: the two are the same.
static const char *beside(pz_mjcf *m, const pz_xml_node *node, const char *file)
{
    const char *slash = node->file ? strrchr(node->file, '/') : NULL;
    size_t folder = slash ? (size_t)(slash - node->file) + 1 : 0, length = strlen(file);
    char *name = folder > 0 && file[0] != '/' ? pz_pool_take(&m->input->pool, folder + length + 1, 1) : NULL;
    if (name) {
        memcpy(name, node->file, folder);
        memcpy(name + folder, file, length + 1);
    }
    return name;
}

static poise_status load(pz_mjcf *m, const pz_xml_node *node, pz_name_set *seen, pz_xml_node **root)
{
    pz_input *input = m->input;
    const char *file = pz_xml_get(node, "file");
    *root = NULL;
    if (!file) {
        return pz_xml_fail(input, node, POISE_ERROR_FORMAT, "<include> names no file: file=\"...\"");
    }
    if (!input->options->load) {
        pz_xml_warn(input, &m->causes[MJCF_NOT_LOADED], node, "\"%s\" is not included: set options.load", file);
        return POISE_OK;
    }
    const void *bytes = NULL;
    size_t size = 0;
    const char *near = beside(m, node, file);
    poise_status status = near ? input->options->load(input->options->user, near, &bytes, &size) : POISE_ERROR_NOT_FOUND;
    if (status == POISE_OK) {
        file = near;
    } else {
        status = input->options->load(input->options->user, file, &bytes, &size);
    }
    if (status != POISE_OK) {
        return pz_xml_fail(input, node, status, "\"%s\" cannot be loaded: its path begins at the folder of this file", file);
    }
    if (seen->count >= INCLUDES_MOST || !pz_name_set_add(seen, file)) {
        return pz_xml_fail(input, node, POISE_ERROR_FORMAT, "\"%s\" is included twice, or there are too many files", file);
    }
    status = pz_xml_parse(input, bytes, size, file, root);
    if (status == POISE_OK && !pz_xml_is(*root, "mujoco") && !pz_xml_is(*root, "mujocoinclude")) {
        return pz_xml_fail(input, *root, POISE_ERROR_FORMAT, "this is <%s>, not <mujocoinclude>", (*root)->name);
    }
    return status;
}

static poise_status include_children(pz_mjcf *m, pz_xml_node *parent, pz_name_set *seen)
{
    pz_xml_node **link = &parent->first, *previous = NULL;
    while (*link) {
        if (!pz_xml_is(*link, "include")) {
            previous = *link;
            link = &previous->next;
            continue;
        }
        pz_xml_node *root;
        poise_status status = load(m, *link, seen, &root);
        if (status != POISE_OK) {
            return status;
        }
        splice(parent, link, previous, root);
    }
    return POISE_OK;
}

poise_status pz_mjcf_include(pz_mjcf *m)
{
    pz_name_set seen;
    if (!pz_name_set_make(&m->input->pool, INCLUDES_MOST, &seen)) {
        return pz_input_no_memory(m->input);
    }
    poise_status status = POISE_OK;
    for (pz_xml_node *node = m->root; status == POISE_OK && node; node = pz_xml_after(node, m->root, false)) {
        status = include_children(m, node, &seen);
    }
    return status;
}
