// glTF 2.0, text and binary: nodes become joints, one animation becomes a clip.
//
// Every node is a joint with a body of the same name; its rest transform is the joint's offset, so that the neutral
// configuration is the pose in the file. What moves by an animation, joints of skins and bones of a VRM get freedom:
//
//   turns, or is such a joint or bone BALL_QUATERNION
//   moves as well                     FREE, axes along the parent's
//   moves only                        TRANSLATION, axes along the parent's
//   neither                           FIXED
//
// With options.floating the skeleton moves as a whole: the joint of a skin that carries most of the others gets FREE, unless
// it or a node above it moves already.
//
// Lengths are metres, y points upwards.
#include "io/gltf/gltf_document.h"

#include <string.h>

// ---- The binary container ------------------------------------------------------------------------------------------------

#define GLB_HEADER 12
#define GLB_CHUNK  8
#define CHUNK_JSON 0x4E4F534Au
#define CHUNK_BIN  0x004E4942u

static uint32_t word_at(const unsigned char *at)
{
    // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): inside the bytes handed in
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static poise_status check_header(pz_input *input, size_t *size)
{
    const unsigned char *bytes = input->bytes;
    if (input->size < GLB_HEADER) {
        return pz_input_fail(input, POISE_ERROR_FORMAT, 0, "byte %d: the file ends inside its header of 12 bytes",
                             (int)input->size);
    }
    if (memcmp(bytes, "glTF", 4) != 0) {
        return pz_input_fail(input, POISE_ERROR_FORMAT, 0, "byte 0: a GLB must begin with the letters glTF");
    }
    if (word_at(bytes + 4) != 2) {
        return pz_input_fail(input, POISE_ERROR_UNSUPPORTED, 0, "byte 4: version %g; only version 2 is supported",
                             (double)word_at(bytes + 4));
    }
    size_t length = word_at(bytes + 8);
    if (length > input->size || length < GLB_HEADER + GLB_CHUNK) {
        return pz_input_fail(input, POISE_ERROR_FORMAT, 0, "byte 8: the stated length is %u bytes; the file has %u",
                             (unsigned)length, (unsigned)input->size);
    }
    if (length < input->size) {
        pz_input_warn(input, 0, "byte %g: there is data after the end of the file; it is ignored", (double)length);
    }
    *size = length;
    return POISE_OK;
}

// Find the JSON chunk, which comes first, and the BIN chunk, which may follow. Chunks of other types are to be ignored.
static poise_status read_chunks(pz_gltf *gltf, size_t *json, size_t *json_size)
{
    pz_input *input = gltf->input;
    size_t size = 0;
    poise_status status = check_header(input, &size);
    *json_size = 0;
    for (size_t at = GLB_HEADER; status == POISE_OK && at < size;) {
        if (size - at < GLB_CHUNK) {
            return pz_input_fail(input, POISE_ERROR_FORMAT, 0, "byte %u: the file ends inside the header of a chunk",
                                 (unsigned)at);
        }
        size_t length = word_at(input->bytes + at);
        uint32_t type = word_at(input->bytes + at + 4);
        at += GLB_CHUNK;
        if (length > size - at) {
            return pz_input_fail(input, POISE_ERROR_FORMAT, 0, "byte %u: a chunk of %u bytes, but only %u follow",
                                 (unsigned)at, (unsigned)length, (unsigned)(size - at));
        }
        if (at == GLB_HEADER + GLB_CHUNK && type != CHUNK_JSON) {
            return pz_input_fail(input, POISE_ERROR_FORMAT, 0, "byte %g: the first chunk must be JSON", (double)at - 4);
        }
        if (length % 4 != 0) {
            pz_input_warn(input, 0, "byte %g: the length of a chunk is not a multiple of 4", (double)at - 8);
        }
        if (type == CHUNK_JSON && *json_size == 0) {
            *json = at;
            *json_size = length;
        } else if (type == CHUNK_BIN && !gltf->binary) {
            gltf->binary = input->bytes + at;
            gltf->binary_size = length;
        } else if (type == CHUNK_JSON || type == CHUNK_BIN) {
            pz_input_warn(input, 0, "byte %g: a second chunk of the same type; left out", (double)at - 8);
        }
        at += length;
    }
    return status;
}

// ---- The document --------------------------------------------------------------------------------------------------------

static poise_status check_asset(const pz_gltf *gltf)
{
    const char *version = NULL, *least = "2.0";
    pz_item asset = pz_json_get(&gltf->root, "asset");
    poise_status status = pz_json_need_object(&asset);
    pz_item version_at = pz_json_get(&asset, "version");
    status = status == POISE_OK ? pz_json_string(&version_at, &version) : status;
    status = status == POISE_OK ? pz_json_string_of(&asset, "minVersion", &least) : status;
    if (status != POISE_OK) {
        return status;
    }
    if (strncmp(version, "2.", 2) != 0 || strcmp(least, "2.0") != 0) {
        return pz_json_fail(&asset, POISE_ERROR_UNSUPPORTED, "version %s; only glTF 2.0 is supported", version);
    }
    return POISE_OK;
}

static void warn_extensions(const pz_gltf *gltf)
{
    pz_item required = pz_json_get(&gltf->root, "extensionsRequired");
    for (size_t i = 0; i < pz_json_length(&required) && i < 5; ++i) {
        pz_item item = pz_json_at(&required, i);
        const char *name = pz_json_as_text(item.value);
        if (name) {
            pz_json_warn(&item, "the extension %s is not supported and is ignored", name);
        }
    }
}

// The name of the scene that is to be shown. Scenes name roots, and all nodes are read, so that they say nothing else.
static poise_status read_title(pz_gltf *gltf)
{
    pz_item scenes = pz_json_get(&gltf->root, "scenes"), reference = pz_json_get(&gltf->root, "scene");
    int index = 0;
    const char *name = NULL;
    poise_status status = reference.value ? pz_gltf_index(&reference, &scenes, &index) : POISE_OK;
    pz_item scene = pz_json_at(&scenes, (size_t)index);
    status = status == POISE_OK && scene.value ? pz_json_string_of(&scene, "name", &name) : status;
    if (status == POISE_OK && name) {
        gltf->input->file->title = pz_pool_copy(&gltf->input->pool, name, strlen(name));
        return gltf->input->file->title ? POISE_OK : pz_input_no_memory(gltf->input);
    }
    return status;
}

// ---- The model -----------------------------------------------------------------------------------------------------------

static vec3 carried_offset(const pz_gltf_node *node)
{
    return v3(node->carried.x * node->translation.x, node->carried.y * node->translation.y,
              node->carried.z * node->translation.z);
}

static poise_status add_node(const pz_gltf *gltf, poise_builder *builder, pz_gltf_node *node, int *joints, poise_error *said)
{
    poise_pose rest = {node->rotation, carried_offset(node)};
    const char *parent = node->parent == POISE_WORLD ? NULL : gltf->nodes[node->parent].name;
    if (node->is_tool) {
        poise_tool tool = {node->name, parent, rest};
        return poise_builder_add_tool(builder, &tool, said);
    }
    bool turns = node->turns || node->is_bone;
    poise_joint joint = poise_joint_default();
    joint.name = node->name;
    joint.parent = parent;
    joint.offset = rest;
    joint.type = turns ? (node->moves ? POISE_JOINT_FREE : POISE_JOINT_BALL_QUATERNION)
                       : (node->moves ? POISE_JOINT_TRANSLATION : POISE_JOINT_FIXED);
    if (node->moves) {
        joint.axes = quat_conj(node->rotation); // the offset's turn undone: x, y, z are the parent's
    }
    node->joint = (*joints)++; // depth first: the model keeps this order
    return poise_builder_add_joint(builder, &joint, said);
}

static poise_status build_model(pz_gltf *gltf)
{
    pz_input *input = gltf->input;
    pz_item nodes = pz_json_get(&gltf->root, "nodes");
    if (gltf->node_count == 0) {
        pz_json_warn(&gltf->root, "there are no nodes, so no model");
        return POISE_OK;
    }
    poise_builder *builder = NULL;
    poise_status status = poise_builder_create(input->allocator, &builder, NULL);
    if (status != POISE_OK) {
        return pz_input_no_memory(input);
    }
    int joints = 0;
    for (int k = 0; k < gltf->node_count && status == POISE_OK; ++k) {
        poise_error said = {.line = 0};
        status = add_node(gltf, builder, &gltf->nodes[gltf->order[k]], &joints, &said);
        if (status != POISE_OK) {
            pz_item item = pz_json_at(&nodes, (size_t)gltf->order[k]);
            pz_json_fail_as(&item, status, &said);
        }
    }
    if (status == POISE_OK) {
        poise_error said = {.line = 0};
        status = poise_model_create(builder, input->allocator, &input->file->model, &said);
        if (status != POISE_OK) {
            pz_json_fail_as(&nodes, status, &said);
        }
    }
    poise_builder_destroy(builder);
    return status;
}

// Is this node, or one above it, moved by an animation?
static bool is_moved(const pz_gltf *gltf, int index)
{
    while (index != POISE_WORLD && !gltf->nodes[index].moves) {
        index = gltf->nodes[index].parent;
    }
    return index != POISE_WORLD;
}

// options.floating: of the joints of skins that hang from none, the one that carries most of them. In gltf->order what hangs
// from a node follows it.
static void free_root(pz_gltf *gltf)
{
    int root = POISE_WORLD, top = POISE_WORLD, most = 0, carried = 0;
    for (int k = 0; k < gltf->node_count; ++k) {
        int index = gltf->order[k], above = gltf->nodes[index].parent;
        while (above != POISE_WORLD && above != top) {
            above = gltf->nodes[above].parent;
        }
        if (!gltf->nodes[index].is_bone) {
            continue;
        }
        bool hangs = top != POISE_WORLD && above == top;
        top = hangs ? top : index;
        carried = hangs ? carried + 1 : 1;
        root = carried > most ? top : root;
        most = carried > most ? carried : most;
    }
    if (root != POISE_WORLD && !is_moved(gltf, root)) {
        gltf->nodes[root].moves = true;
    }
}

static poise_status read_document(pz_gltf *gltf)
{
    poise_status status = pz_json_need_object(&gltf->root);
    status = status == POISE_OK ? check_asset(gltf) : status;
    if (status != POISE_OK) {
        return status;
    }
    warn_extensions(gltf);
    status = read_title(gltf);
    status = status == POISE_OK ? pz_gltf_read_nodes(gltf) : status;
    status = status == POISE_OK ? pz_gltf_find_motion(gltf) : status;
    if (status == POISE_OK && gltf->input->options->floating) {
        free_root(gltf);
    }
    for (int i = 0; i < gltf->node_count && status == POISE_OK; ++i) {
        gltf->nodes[i].is_tool = gltf->nodes[i].is_tool && !gltf->nodes[i].turns && !gltf->nodes[i].moves;
    }
    status = status == POISE_OK ? build_model(gltf) : status;
    return status == POISE_OK && gltf->input->file->model ? pz_gltf_read_clip(gltf) : status;
}

poise_status pz_read_gltf(pz_input *input)
{
    pz_gltf gltf = {.input = input, .numbers_left = PZ_GLTF_NUMBERS + PZ_GLTF_NUMBERS_PER_BYTE * input->size};
    size_t json = 0, json_size = input->size;
    bool is_binary = (input->size >= 4 && memcmp(input->bytes, "glTF", 4) == 0) || input->file->format == POISE_FORMAT_GLB;
    poise_status status = is_binary ? read_chunks(&gltf, &json, &json_size) : POISE_OK;
    if (status != POISE_OK) {
        return status;
    }
    input->file->format = is_binary ? POISE_FORMAT_GLB : POISE_FORMAT_GLTF;
    input->file->scale = (poise_scale){.metres = 1.0, .up = POISE_UP_Y};
    status = pz_json_load(input, input->bytes + json, json_size, json, &gltf.json);
    if (status == POISE_OK) {
        gltf.root = pz_json_root(&gltf.json);
        status = read_document(&gltf);
        status = status == POISE_OK ? pz_gltf_carry(&gltf, (const char *)input->bytes + json, json_size) : status;
        pz_json_release(&gltf.json);
    }
    return status;
}
