// glTF: nodes and skins.
#include "io/gltf/gltf.h"

#include "base/names.h"

#include <string.h>

// How far the three scales of a node may differ from each other, and two columns of a matrix from orthogonal: the rounding
// of exporters that work in single precision.
#define UNIFORM    1e-4
#define ORTHOGONAL 1e-4

// ---- Transforms ----------------------------------------------------------------------------------------------------------

// The rotation of three columns by Gram and Schmidt; false when they have no volume.
static bool orthonormal(vec3 columns[3])
{
    for (int i = 0; i < 3; ++i) {
        vec3 before = columns[i];
        for (int k = 0; k < i; ++k) {
            columns[i] = v3_mad(columns[i], -v3_dot(columns[i], columns[k]), columns[k]);
        }
        if (!(v3_norm(columns[i]) > 1e-6 * v3_norm(before))) {
            return false;
        }
        columns[i] = v3_normalize(columns[i]);
    }
    return true;
}

// M = T R S: the columns of R are those of M over their lengths. A mirror (negative determinant) is taken as three negative
// scales, so that a uniform one stays uniform.
static poise_status read_matrix(const pz_item *item, pz_gltf_node *node)
{
    double m[16];
    poise_status status = pz_json_numbers(item, m, 16);
    if (status != POISE_OK) {
        return status;
    }
    node->translation = v3(m[12], m[13], m[14]);
    vec3 columns[3] = {v3(m[0], m[1], m[2]), v3(m[4], m[5], m[6]), v3(m[8], m[9], m[10])};
    double sign = v3_dot(v3_cross(columns[0], columns[1]), columns[2]) < 0 ? -1.0 : 1.0;
    double length[3];
    for (int i = 0; i < 3; ++i) {
        length[i] = sign * v3_norm(columns[i]);
        columns[i] = v3_scale(v3_normalize(columns[i]), sign);
    }
    double shear = max2(max2(fabs(v3_dot(columns[0], columns[1])), fabs(v3_dot(columns[1], columns[2]))),
                        fabs(v3_dot(columns[2], columns[0])));
    node->scale = v3(length[0], length[1], length[2]);
    bool has_volume = orthonormal(columns);
    if (!has_volume) {
        pz_json_warn(item, "the matrix is singular; its rotation is left out");
        return POISE_OK;
    }
    if (shear > ORTHOGONAL) {
        pz_json_warn(item, "the matrix shears, which joints do not support; the nearest rotation is used");
    }
    // the third column anew: a determinant of exactly +1, whatever was rounded
    vec3 x = columns[0], y = columns[1], z = v3_cross(x, y);
    node->rotation = quat_normalize(poise_quat_from_matrix((double[]){x.x, y.x, z.x, x.y, y.y, z.y, x.z, y.z, z.z}));
    return POISE_OK;
}

static poise_status read_rotation(const pz_item *object, pz_gltf_node *node)
{
    pz_item item = pz_json_get(object, "rotation");
    double r[4] = {0, 0, 0, 1};
    poise_status status = item.value ? pz_json_numbers(&item, r, 4) : POISE_OK;
    if (status != POISE_OK) {
        return status;
    }
    quat given = {r[0], r[1], r[2], r[3]}, unit = quat_normalize(given);
    if (unit.x == 0 && unit.y == 0 && unit.z == 0 && unit.w == 0) {
        return pz_json_fail(&item, POISE_ERROR_FORMAT, "a zero quaternion; [0, 0, 0, 1] means no rotation");
    }
    double length = given.x * unit.x + given.y * unit.y + given.z * unit.z + given.w * unit.w;
    if (!(fabs(length - 1.0) < 1e-3)) {
        pz_json_warn(&item, "a quaternion of length %g; normalised", length);
    }
    node->rotation = unit;
    return POISE_OK;
}

static poise_status read_transform(const pz_item *object, pz_gltf_node *node)
{
    pz_item matrix = pz_json_get(object, "matrix");
    pz_item parts[] = {pz_json_get(object, "translation"), pz_json_get(object, "rotation"), pz_json_get(object, "scale")};
    if (matrix.value) {
        if (parts[0].value || parts[1].value || parts[2].value) {
            pz_json_warn(object, "a matrix together with translation, rotation or scale; the matrix is used");
        }
        return read_matrix(&matrix, node);
    }
    double t[3] = {0, 0, 0}, s[3] = {1, 1, 1};
    poise_status status = parts[0].value ? pz_json_numbers(&parts[0], t, 3) : POISE_OK;
    status = status == POISE_OK && parts[2].value ? pz_json_numbers(&parts[2], s, 3) : status;
    node->translation = v3(t[0], t[1], t[2]);
    node->scale = v3(s[0], s[1], s[2]);
    return status == POISE_OK ? read_rotation(object, node) : status;
}

// ---- The tree ------------------------------------------------------------------------------------------------------------

static poise_status read_children(pz_gltf *gltf, const pz_item *object, const pz_item *nodes, int parent)
{
    pz_item children = pz_json_get(object, "children");
    poise_status status = children.value ? pz_json_need_array(&children) : POISE_OK;
    for (size_t i = 0; i < pz_json_length(&children) && status == POISE_OK; ++i) {
        pz_item item = pz_json_at(&children, i);
        int child = 0;
        status = pz_gltf_index(&item, nodes, &child);
        if (status != POISE_OK) {
            return status;
        }
        pz_gltf_node *node = &gltf->nodes[child];
        if (node->parent != POISE_WORLD || child == parent) {
            return pz_json_fail(&item, POISE_ERROR_FORMAT,
                                "nodes[%d] already has a parent, nodes[%d]; a node can have only one", child,
                                child == parent ? child : node->parent);
        }
        node->parent = parent;
        pz_gltf_node *above = &gltf->nodes[parent];
        if (above->last_child == POISE_WORLD) {
            above->first_child = child;
        } else {
            gltf->nodes[above->last_child].next = child;
        }
        above->last_child = child;
    }
    return status;
}

// Depth first from every root, by the links alone.
static poise_status sort_nodes(pz_gltf *gltf, const pz_item *nodes)
{
    int count = 0;
    for (int root = 0; root < gltf->node_count; ++root) {
        if (gltf->nodes[root].parent != POISE_WORLD) {
            continue;
        }
        int at = root;
        while (at != POISE_WORLD) {
            gltf->nodes[at].joint = count; // visited
            gltf->order[count++] = at;
            int down = gltf->nodes[at].first_child;
            while (down == POISE_WORLD && at != root) {
                down = gltf->nodes[at].next;
                at = gltf->nodes[at].parent;
            }
            at = down;
        }
    }
    for (int i = 0; i < gltf->node_count && count < gltf->node_count; ++i) {
        if (gltf->nodes[i].joint == POISE_WORLD) {
            pz_item item = pz_json_at(nodes, (size_t)i);
            return pz_json_fail(&item, POISE_ERROR_FORMAT, "the node is its own ancestor; break the loop of children");
        }
    }
    return POISE_OK;
}

// What scales make of lengths below them. A uniform scale commutes with rotations, so that it can be multiplied into every
// translation below; another one reaches the translations of its children only.
static void carry_scales(pz_gltf *gltf, const pz_item *nodes)
{
    int warned = 0;
    for (int k = 0; k < gltf->node_count; ++k) {
        int index = gltf->order[k];
        pz_gltf_node *node = &gltf->nodes[index];
        node->carried = v3(1, 1, 1);
        node->reach = 1.0;
        if (node->parent == POISE_WORLD) {
            continue;
        }
        const pz_gltf_node *above = &gltf->nodes[node->parent];
        vec3 s = above->scale;
        double mean = (s.x + s.y + s.z) / 3.0;
        double spread = max2(max2(fabs(s.x - mean), fabs(s.y - mean)), fabs(s.z - mean));
        if (spread <= UNIFORM * fabs(mean)) {
            // exporters leave 0.99999994 where 1 was meant
            node->reach = above->reach * (fabs(mean - 1.0) < 1e-6 ? 1.0 : mean);
            node->carried = v3(node->reach, node->reach, node->reach);
        } else {
            node->reach = above->reach;
            node->carried = v3_scale(s, above->reach);
        }
        bool is_odd = spread > UNIFORM * fabs(mean) || mean < 0;
        if (is_odd && above->first_child == index && warned++ < 5) {
            pz_item item = pz_json_at(nodes, (size_t)node->parent);
            pz_json_warn(&item, "scale %g %g %g %s", s.x, s.y, s.z,
                         mean < 0 && spread <= UNIFORM * fabs(mean)
                             ? "mirrors: positions are carried over, handedness is not"
                             : "is not uniform: it applies only to the offsets of the node's children");
        }
    }
    if (warned > 5) {
        pz_json_warn(nodes, "and %d more scales that cannot be represented", warned - 5);
    }
}

// ---- Names ---------------------------------------------------------------------------------------------------------------

static const char *node_name_at(const void *owner, int position)
{
    return ((const pz_gltf_node *)owner)[position].name;
}

// "<name>.<index>", with "_" after it until nobody has it.
static char *other_name(pz_pool *pool, const char *name, int index, const pz_names *names, const pz_gltf_node *nodes)
{
    size_t length = strlen(name);
    for (size_t tail = 0;; ++tail) {
        char *text = pz_pool_take(pool, length + tail + 16, 1);
        if (!text) {
            return NULL;
        }
        memcpy(text, name, length);
        char digits[12];
        size_t d = sizeof digits;
        int left = index;
        do {
            digits[--d] = (char)('0' + left % 10);
            left /= 10;
        } while (left > 0);
        size_t at = length;
        text[at++] = '.';
        memcpy(text + at, digits + d, sizeof digits - d);
        at += sizeof digits - d;
        memset(text + at, '_', tail);
        text[at + tail] = '\0';
        if (pz_names_find(names, text, node_name_at, nodes) < 0) {
            return text;
        }
    }
}

// Names as they are for the first node that bears each, other names for the rest.
static poise_status name_nodes(pz_gltf *gltf, const pz_item *nodes)
{
    pz_pool *pool = &gltf->input->pool;
    size_t count = (size_t)gltf->node_count;
    pz_names names;
    bool *is_named = pz_pool_take(pool, count, sizeof *is_named);
    if (!is_named || !pz_pool_names(pool, count, &names)) {
        return pz_input_no_memory(gltf->input);
    }
    for (int pass = 0, doubles = 0; pass < 2; ++pass) {
        for (int i = 0; i < gltf->node_count; ++i) {
            pz_gltf_node *node = &gltf->nodes[i];
            if (pass == 0) {
                is_named[i] = node->name[0] && pz_names_find(&names, node->name, node_name_at, gltf->nodes) < 0;
            } else if (is_named[i]) {
                continue;
            } else {
                bool is_double = node->name[0] != '\0';
                char *text = other_name(pool, is_double ? node->name : "node", i, &names, gltf->nodes);
                if (!text) {
                    return pz_input_no_memory(gltf->input);
                }
                if (is_double && doubles++ < 5) {
                    pz_item item = pz_json_at(nodes, (size_t)i);
                    pz_json_warn(&item, "another node is called \"%s\"; this one becomes \"%s\"", node->name, text);
                }
                node->name = text;
                is_named[i] = true;
            }
            if (is_named[i]) {
                pz_names_add(&names, node->name, i);
            }
        }
        if (doubles > 5) {
            pz_json_warn(nodes, "and %d more names that are not unique", doubles - 5);
        }
    }
    return POISE_OK;
}

// ---- Skins ---------------------------------------------------------------------------------------------------------------

// Joints must be nodes. Everything else of a skin is for drawing; what is wrong with it does no harm here.
static poise_status read_skin(pz_gltf *gltf, const pz_item *skin, const pz_item *nodes)
{
    poise_status status = pz_json_need_object(skin);
    pz_item joints = pz_json_get(skin, "joints");
    status = status == POISE_OK ? pz_json_need_array(&joints) : status;
    for (size_t i = 0; i < pz_json_length(&joints) && status == POISE_OK; ++i) {
        pz_item item = pz_json_at(&joints, i);
        int node = 0;
        status = pz_gltf_index(&item, nodes, &node);
        if (status == POISE_OK) {
            gltf->nodes[node].is_bone = true;
        }
    }
    if (status != POISE_OK) {
        return status;
    }
    if (pz_json_length(&joints) == 0) {
        pz_json_warn(&joints, "a skin without joints");
    }
    pz_item accessors = pz_json_get(&gltf->root, "accessors"), bind = pz_json_get(skin, "inverseBindMatrices");
    double index = bind.value ? pz_json_as_number(bind.value) : 0;
    if (bind.value && !(index >= 0 && index < (double)pz_json_length(&accessors))) {
        pz_json_warn(&bind, "there is no such accessor; bind matrices are not used");
    } else if (bind.value) {
        pz_item accessor = pz_json_at(&accessors, (size_t)index);
        double matrices = pz_json_as_number(pz_json_find(accessor.value, "count"));
        const char *type = pz_json_as_text(pz_json_find(accessor.value, "type"));
        if (matrices < (double)pz_json_length(&joints) || !type || strcmp(type, "MAT4") != 0) {
            pz_json_warn(&bind, "not a matrix for every joint; bind matrices are not used");
        }
    }
    pz_item skeleton = pz_json_get(skin, "skeleton");
    double root = skeleton.value ? pz_json_as_number(skeleton.value) : 0;
    if (skeleton.value && !(root >= 0 && root < (double)gltf->node_count)) {
        pz_json_warn(&skeleton, "there is no such node");
    }
    return POISE_OK;
}

// Bones of a VRM can turn, whether a skin or single meshes hang from them. Version 0 has a list of them, version 1
// members by name. What is wrong with them does no harm here.
static void read_vrm_bones(pz_gltf *gltf)
{
    pz_item extensions = pz_json_get(&gltf->root, "extensions");
    pz_item old = pz_json_get(&extensions, "VRM"), new = pz_json_get(&extensions, "VRMC_vrm");
    pz_item humanoid = pz_json_get(new.value ? &new : &old, "humanoid"), bones = pz_json_get(&humanoid, "humanBones");
    int members = pz_json_member_count(&bones), count = members > 0 ? members : (int)pz_json_length(&bones);
    for (int i = 0; i < count; ++i) {
        pz_item bone = members > 0 ? pz_json_member(&bones, i) : pz_json_at(&bones, (size_t)i);
        pz_item node = pz_json_get(&bone, "node");
        double index = node.value ? pz_json_as_number(node.value) : -1;
        if (index >= 0 && index < gltf->node_count) {
            gltf->nodes[(int)index].is_bone = true;
        }
    }
}

// ---- All -----------------------------------------------------------------------------------------------------------------

// A leaf that a writer of Poise marked as a frame on its parent, or that is called "<parent>.tip".
static bool is_tool(const pz_gltf *gltf, const pz_gltf_node *node, const pz_json_value *extras)
{
    if (node->first_child != POISE_WORLD || node->parent == POISE_WORLD || node->is_bone) {
        return false;
    }
    const char *mark = pz_json_as_text(pz_json_find(extras, "poise"));
    const char *above = gltf->nodes[node->parent].name;
    size_t length = strlen(above);
    return (mark && strcmp(mark, "tool") == 0) ||
           (strncmp(node->name, above, length) == 0 && strcmp(node->name + length, ".tip") == 0);
}

static poise_status read_all(pz_gltf *gltf, const pz_item *nodes)
{
    poise_status status = POISE_OK;
    for (int i = 0; i < gltf->node_count; ++i) {
        gltf->nodes[i] = (pz_gltf_node){.name = "",
                                        .parent = POISE_WORLD,
                                        .first_child = POISE_WORLD,
                                        .next = POISE_WORLD,
                                        .last_child = POISE_WORLD,
                                        .rotation = {0, 0, 0, 1},
                                        .joint = POISE_WORLD};
    }
    for (int i = 0; i < gltf->node_count && status == POISE_OK; ++i) {
        pz_item item = pz_json_at(nodes, (size_t)i);
        status = pz_json_need_object(&item);
        status = status == POISE_OK ? pz_json_string_of(&item, "name", &gltf->nodes[i].name) : status;
        status = status == POISE_OK ? read_transform(&item, &gltf->nodes[i]) : status;
        status = status == POISE_OK ? read_children(gltf, &item, nodes, i) : status;
    }
    return status;
}

poise_status pz_gltf_read_nodes(pz_gltf *gltf)
{
    pz_item nodes = pz_json_get(&gltf->root, "nodes"), skins = pz_json_get(&gltf->root, "skins");
    poise_status status = nodes.value ? pz_json_need_array(&nodes) : POISE_OK;
    status = status == POISE_OK && skins.value ? pz_json_need_array(&skins) : status;
    if (status != POISE_OK) {
        return status;
    }
    gltf->node_count = (int)pz_json_length(&nodes);
    gltf->nodes = pz_pool_take(&gltf->input->pool, (size_t)gltf->node_count, sizeof *gltf->nodes);
    gltf->order = pz_pool_take(&gltf->input->pool, (size_t)gltf->node_count, sizeof *gltf->order);
    if (!gltf->nodes || !gltf->order) {
        return pz_input_no_memory(gltf->input);
    }
    status = read_all(gltf, &nodes);
    status = status == POISE_OK ? sort_nodes(gltf, &nodes) : status;
    status = status == POISE_OK ? name_nodes(gltf, &nodes) : status;
    for (size_t i = 0; i < pz_json_length(&skins) && status == POISE_OK; ++i) {
        pz_item skin = pz_json_at(&skins, i);
        status = read_skin(gltf, &skin, &nodes);
    }
    read_vrm_bones(gltf);
    if (status != POISE_OK) {
        return status;
    }
    carry_scales(gltf, &nodes);
    for (int i = 0; i < gltf->node_count; ++i) {
        const pz_json_value *extras = pz_json_find(pz_json_element(nodes.value, (size_t)i), "extras");
        gltf->nodes[i].is_tool = is_tool(gltf, &gltf->nodes[i], extras);
    }
    return POISE_OK;
}
