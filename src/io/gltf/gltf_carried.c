// glTF: what a file holds beside skeleton and clip (meshes, skins, materials, other animations), kept and written again.
//
// The document is written value by value as it was, but for these: all buffers become one; the animation that became the
// clip is written from the clip, if that changed, with the channels that no joint has (weights, scales) as long as their
// times are still the clip's; a clip that is another motion (file.motion) comes before all animations; nodes whose rest
// transform changed get the new one.
#include "io/gltf/gltf_document.h"

#include <string.h>

// ---- Keeping -------------------------------------------------------------------------------------------------------------

// FNV-1a over the bits of a clip.
static uint64_t hash_of(const poise_clip *clip)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    double facts[4] = {clip ? clip->frames : 0, clip ? clip->nq : 0, clip ? clip->frame_time : 0,
                       clip ? clip->start_time : 0};
    size_t numbers = clip ? (size_t)clip->frames * (size_t)clip->nq : 0;
    for (size_t i = 0; i < 4 + numbers; ++i) {
        uint64_t bits;
        memcpy(&bits, i < 4 ? &facts[i] : &clip->q[i - 4], sizeof bits);
        hash = (hash ^ bits) * UINT64_C(1099511628211);
    }
    return hash;
}

bool pz_gltf_is_same_motion(const pz_gltf_rest *rest, const poise_clip *clip)
{
    return rest->motion == hash_of(clip);
}

// Is a buffer in the file itself, or is there a way to ask for it?
static bool is_at_hand(const pz_gltf *gltf, int index)
{
    pz_item buffers = pz_json_get(&gltf->root, "buffers"), buffer = pz_json_at(&buffers, (size_t)index);
    const char *uri = pz_json_as_text(pz_json_find(buffer.value, "uri"));
    return !uri || strncmp(uri, "data:", 5) == 0 || gltf->input->options->load;
}

static bool keep_buffers(pz_gltf *gltf, pz_gltf_rest *rest)
{
    pz_pool *kept = &gltf->input->kept;
    pz_item buffers = pz_json_get(&gltf->root, "buffers");
    rest->buffer_count = (int)pz_json_length(&buffers);
    rest->base = pz_pool_take(kept, (size_t)rest->buffer_count, sizeof *rest->base);
    rest->is_whole = true;
    size_t size = 0;
    for (int i = 0; i < rest->buffer_count && rest->base; ++i) {
        const pz_gltf_buffer *buffer = NULL;
        if (!is_at_hand(gltf, i) || pz_gltf_fetch(gltf, i, &buffer) != POISE_OK || buffer->is_missing) {
            rest->is_whole = false;
            return true;
        }
        rest->base[i] = size;
        size += (buffer->size + 7) / 8 * 8;
    }
    unsigned char *bytes = pz_pool_take(kept, size, 1);
    if (!bytes || !rest->base) {
        return false;
    }
    memset(bytes, 0, size);
    for (int i = 0; i < rest->buffer_count; ++i) {
        const pz_gltf_buffer *buffer = NULL;
        pz_gltf_fetch(gltf, i, &buffer);
        memcpy(bytes + rest->base[i], buffer->bytes, buffer->size);
    }
    rest->bytes = bytes;
    rest->size = size;
    return true;
}

static bool keep_joints(pz_gltf *gltf, pz_gltf_rest *rest)
{
    pz_pool *kept = &gltf->input->kept;
    size_t joints = (size_t)poise_model_info(gltf->input->file->model).joints;
    rest->joints = (int)joints;
    rest->node = pz_pool_take(kept, joints, sizeof *rest->node);
    rest->name = pz_pool_take(kept, joints, sizeof *rest->name);
    rest->offset = pz_pool_take(kept, joints, sizeof *rest->offset);
    rest->carried = pz_pool_take(kept, joints, sizeof *rest->carried);
    rest->scale = pz_pool_take(kept, joints, sizeof *rest->scale);
    if (!rest->node || !rest->name || !rest->offset || !rest->carried || !rest->scale) {
        return false;
    }
    for (int i = 0; i < gltf->node_count; ++i) {
        const pz_gltf_node *node = &gltf->nodes[i];
        if (!node->is_tool) {
            int k = node->joint;
            rest->node[k] = i;
            rest->name[k] = pz_pool_copy(kept, node->name, strlen(node->name));
            rest->offset[k] = poise_model_joint_info(gltf->input->file->model, k).given->offset;
            rest->carried[k] = node->carried;
            rest->scale[k] = node->scale;
            if (!rest->name[k]) {
                return false;
            }
        }
    }
    return true;
}

// Do all keys of a scale (3 numbers) or of weights say what the node says without them? CUBICSPLINE has a tangent before and
// after each value.
static bool stays(const pz_gltf_array *values, bool is_cubic, size_t n, const double *scale, const pz_json_value *weights)
{
    size_t numbers = values->count * (size_t)values->components;
    for (size_t i = 0; i < numbers; ++i) {
        bool is_tangent = is_cubic && i / n % 3 != 1;
        double rest = is_tangent ? 0 : scale ? scale[i % n] : pz_json_as_number(pz_json_element(weights, i % n));
        if (!(fabs(values->values[i] - rest) <= 1e-4)) {
            return false;
        }
    }
    return true;
}

static bool is_still(pz_gltf *gltf, const pz_item *animation, const pz_item *channel)
{
    pz_item target = pz_json_get(channel, "target"), samplers = pz_json_get(animation, "samplers");
    pz_item nodes = pz_json_get(&gltf->root, "nodes"), meshes = pz_json_get(&gltf->root, "meshes");
    const char *path = pz_json_as_text(pz_json_find(target.value, "path")), *how = NULL;
    pz_item node_at = pz_json_get(&target, "node"), sampler_at = pz_json_get(channel, "sampler");
    bool is_scale = path && strcmp(path, "scale") == 0, is_weights = path && strcmp(path, "weights") == 0;
    int node = 0, sampler = 0;
    if ((!is_scale && !is_weights) || pz_gltf_index(&node_at, &nodes, &node) != POISE_OK ||
        pz_gltf_index(&sampler_at, &samplers, &sampler) != POISE_OK) {
        return false;
    }
    pz_item curve = pz_json_at(&samplers, (size_t)sampler), body = pz_json_at(&nodes, (size_t)node);
    pz_item input = pz_json_get(&curve, "input"), output = pz_json_get(&curve, "output");
    pz_gltf_array times = {0}, values = {0};
    if (pz_gltf_accessor(gltf, &input, 1, &times) != POISE_OK ||
        pz_gltf_accessor(gltf, &output, is_scale ? 3 : 1, &values) != POISE_OK || !values.values || times.count == 0) {
        return false;
    }
    how = pz_json_as_text(pz_json_find(curve.value, "interpolation"));
    bool is_cubic = how && strcmp(how, "CUBICSPLINE") == 0;
    size_t n = is_scale ? 3 : values.count / (times.count * (is_cubic ? 3 : 1));
    const pz_json_value *weights = pz_json_find(body.value, "weights"), *mesh = pz_json_find(body.value, "mesh");
    if (!weights && mesh) {
        weights = pz_json_find(pz_json_element(meshes.value, (size_t)pz_json_as_number(mesh)), "weights");
    }
    vec3 s = gltf->nodes[node].scale;
    return n > 0 && stays(&values, is_cubic, n, is_scale ? (double[]){s.x, s.y, s.z} : NULL, weights);
}

// Names of all animations, and which channels of the clip's stand still. What is wrong with a channel that Poise does not
// read is no error.
static bool keep_animations(pz_gltf *gltf, pz_gltf_rest *rest, poise_carried *carried)
{
    pz_pool *kept = &gltf->input->kept;
    poise_error *error = gltf->input->error;
    pz_item animations = pz_json_get(&gltf->root, "animations");
    pz_item animation = pz_json_at(&animations, (size_t)rest->animation);
    pz_item channels = pz_json_get(&animation, "channels");
    size_t count = pz_json_length(&channels), total = pz_json_length(&animations);
    rest->is_still = pz_pool_take(kept, count, sizeof *rest->is_still);
    carried->animation_name = pz_pool_take(kept, total, sizeof *carried->animation_name);
    bool works = rest->is_still && carried->animation_name;
    gltf->input->error = NULL;
    for (size_t i = 0; i < count && works; ++i) {
        pz_item channel = pz_json_at(&channels, i);
        rest->is_still[i] = is_still(gltf, &animation, &channel);
    }
    gltf->input->error = error;
    for (size_t i = 0; i < total && works; ++i) {
        pz_item item = pz_json_at(&animations, i);
        const char *name = pz_json_as_text(pz_json_find(item.value, "name"));
        carried->animation_name[i] = pz_pool_copy(kept, name ? name : "", name ? strlen(name) : 0);
        works = carried->animation_name[i] != NULL;
    }
    return works;
}

static int count_of(const pz_gltf *gltf, const char *list)
{
    pz_item item = pz_json_get(&gltf->root, list);
    return (int)pz_json_length(&item);
}

poise_status pz_gltf_carry(pz_gltf *gltf, const char *text, size_t size)
{
    pz_input *input = gltf->input;
    int meshes = count_of(gltf, "meshes"), animations = count_of(gltf, "animations");
    int materials = count_of(gltf, "materials"), cameras = count_of(gltf, "cameras");
    const pz_json_value *extensions = pz_json_find(gltf->root.value, "extensions"); // such as what makes a VRM one
    int extended = extensions ? (int)extensions->count : 0;
    if (!input->file->model || (meshes == 0 && animations <= 1 && materials == 0 && cameras == 0 && extended == 0)) {
        return POISE_OK;
    }
    poise_carried *carried = pz_pool_take(&input->kept, 1, sizeof *carried);
    pz_gltf_rest *rest = pz_pool_take(&input->kept, 1, sizeof *rest);
    if (!carried || !rest) {
        return pz_input_no_memory(input);
    }
    *rest = (pz_gltf_rest){.text_size = size, .animation = gltf->animation, .motion = hash_of(input->file->clip)};
    rest->text = pz_pool_copy(&input->kept, text, size);
    if (input->file->clip) {
        const poise_clip *clip = input->file->clip;
        rest->start = clip->start_time;
        rest->end = clip->start_time + (clip->frames - 1) * clip->frame_time;
    }
    if (!rest->text || !keep_buffers(gltf, rest) || !keep_joints(gltf, rest)) {
        return pz_input_no_memory(input);
    }
    *carried = (poise_carried){
        .format = POISE_FORMAT_GLTF, .meshes = meshes, .animations = animations, .animation = gltf->animation, .rest = rest};
    if (!keep_animations(gltf, rest, carried)) {
        return pz_input_no_memory(input);
    }
    poise_error said = {.line = 0};
    pz_carried_say(&said, meshes, meshes == 1 ? "mesh" : "meshe");
    pz_carried_say(&said, materials, "material");
    pz_carried_say(&said, cameras, "camera");
    pz_carried_say(&said, animations - 1, "other animation");
    pz_carried_say(&said, extended, "extension");
    carried->text = pz_pool_copy(&input->kept, said.text, strlen(said.text));
    input->file->carried = carried;
    return carried->text ? POISE_OK : pz_input_no_memory(input);
}

const pz_gltf_rest *pz_gltf_rest_of(const poise_file *file)
{
    const poise_carried *carried = file->carried;
    const pz_gltf_rest *rest = carried && carried->format == POISE_FORMAT_GLTF ? carried->rest : NULL;
    if (!rest || !rest->is_whole || poise_model_info(file->model).joints != rest->joints) {
        return NULL;
    }
    for (int k = 0; k < rest->joints; ++k) {
        if (strcmp(poise_model_joint_info(file->model, k).body, rest->name[k]) != 0) {
            return NULL;
        }
    }
    return rest;
}

// ---- Writing -------------------------------------------------------------------------------------------------------------

static void put_value(pz_json_writer *writer, const char *key, const pz_json_value *value);

static void put_members(pz_json_writer *writer, const pz_json_value *object, const char *const *without, size_t count)
{
    for (size_t i = 0; object && i < object->count; ++i) {
        const char *key = object->is.members->pairs[2 * i].is.text;
        bool is_left_out = false;
        for (size_t k = 0; k < count; ++k) {
            is_left_out = is_left_out || strcmp(key, without[k]) == 0;
        }
        if (!is_left_out) {
            put_value(writer, key, &object->is.members->pairs[2 * i + 1]);
        }
    }
}

// A value as it was; the parser lets nothing in that is nested too deep.
static void put_value(pz_json_writer *writer, const char *key, const pz_json_value *value)
{
    switch ((pz_json_type)value->type) {
    case PZ_JSON_NULL:
        pz_json_put_null(writer, key);
        break;
    case PZ_JSON_FALSE:
    case PZ_JSON_TRUE:
        pz_json_begin(writer, key);
        pz_put(writer->output, value->type == PZ_JSON_TRUE ? "true" : "false");
        break;
    case PZ_JSON_NUMBER:
        pz_json_put_number(writer, key, value->is.number);
        break;
    case PZ_JSON_TEXT:
        pz_json_put_text(writer, key, value->is.text);
        break;
    case PZ_JSON_ARRAY:
        pz_json_open_flat(writer, key, "[");
        for (size_t i = 0; i < value->count; ++i) {
            put_value(writer, NULL, &value->is.elements[i]);
        }
        pz_json_close_flat(writer, "]");
        break;
    case PZ_JSON_OBJECT:
        pz_json_open_flat(writer, key, "{");
        put_members(writer, value, NULL, 0);
        pz_json_close_flat(writer, "}");
        break;
    }
}

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * max2(1.0, fabs(b));
}

static bool is_same_pose(poise_pose a, poise_pose b)
{
    return is_near(a.position.x, b.position.x) && is_near(a.position.y, b.position.y) &&
           is_near(a.position.z, b.position.z) && is_near(a.rotation.x, b.rotation.x) &&
           is_near(a.rotation.y, b.rotation.y) && is_near(a.rotation.z, b.rotation.z) && is_near(a.rotation.w, b.rotation.w);
}

// A node, with the rest transform of joint k if that is another one now.
static void put_node(pz_gltf_writing *doc, const pz_json_value *node, int k, const double *neutral)
{
    static const char *const transform[] = {"matrix", "translation", "rotation", "scale"};
    const pz_gltf_rest *rest = doc->rest;
    poise_pose pose = k >= 0 ? pz_gltf_node_transform(doc, k, neutral) : poise_pose_identity();
    if (k < 0 || is_same_pose(pose, rest->offset[k])) {
        put_value(&doc->writer, NULL, node);
        return;
    }
    vec3 c = rest->carried[k], s = rest->scale[k], p = pose.position;
    quat r = pose.rotation;
    pz_json_open_flat(&doc->writer, NULL, "{");
    put_members(&doc->writer, node, transform, 4);
    pz_json_put_numbers(&doc->writer, "translation", (double[]){p.x / c.x, p.y / c.y, p.z / c.z}, 3);
    pz_json_put_numbers(&doc->writer, "rotation", (double[]){r.x, r.y, r.z, r.w}, 4);
    pz_json_put_numbers(&doc->writer, "scale", (double[]){s.x, s.y, s.z}, 3);
    pz_json_close_flat(&doc->writer, "}");
}

static poise_status put_nodes(pz_gltf_writing *doc, pz_pool *pool, const pz_json_value *nodes, const double *neutral)
{
    int *joint = pz_pool_take(pool, nodes->count, sizeof *joint);
    if (!joint) {
        return POISE_ERROR_MEMORY;
    }
    for (size_t i = 0; i < nodes->count; ++i) {
        joint[i] = -1;
    }
    for (int k = 0; k < doc->rest->joints; ++k) {
        joint[doc->rest->node[k]] = k;
    }
    pz_json_open(&doc->writer, "nodes", "[");
    for (size_t i = 0; i < nodes->count; ++i) {
        put_node(doc, &nodes->is.elements[i], joint[i], neutral);
    }
    pz_json_close(&doc->writer, "]");
    return POISE_OK;
}

// Views of one buffer instead of several.
static void put_old_views(pz_gltf_writing *doc, const pz_json_value *views)
{
    static const char *const moved[] = {"buffer", "byteOffset"};
    for (size_t i = 0; views && i < views->count; ++i) {
        const pz_json_value *view = &views->is.elements[i];
        size_t buffer = (size_t)pz_json_as_number(pz_json_find(view, "buffer"));
        size_t offset = (size_t)pz_json_as_number(pz_json_find(view, "byteOffset"));
        pz_json_open_flat(&doc->writer, NULL, "{");
        pz_json_put_integer(&doc->writer, "buffer", 0);
        size_t base = buffer < (size_t)doc->rest->buffer_count ? doc->rest->base[buffer] : 0;
        pz_json_put_integer(&doc->writer, "byteOffset", (long long)(base + offset));
        put_members(&doc->writer, view, moved, 2);
        pz_json_close_flat(&doc->writer, "}");
    }
}

// Does a channel move what a joint has no coordinate for?
static bool is_other_channel(const pz_json_value *channel)
{
    const char *path = pz_json_as_text(pz_json_find(pz_json_find(channel, "target"), "path"));
    return path && strcmp(path, "rotation") != 0 && strcmp(path, "translation") != 0;
}

// Does the clip still begin when it did, and end when it did to less than a frame?
static bool has_same_times(const pz_gltf_writing *doc)
{
    const poise_clip *clip = doc->file->clip;
    double end = doc->start + (clip->frames - 1) * clip->frame_time, frame = (1 - 1e-6) * clip->frame_time;
    return doc->start == doc->rest->start && fabs(end - doc->rest->end) < frame;
}

// Channels of the old animation that go on, or their samplers: those that are no joint's, where the times are the same.
static void put_other_channels(pz_gltf_writing *doc, const pz_json_value *animation, bool samplers)
{
    const pz_json_value *channels = pz_json_find(animation, "channels"), *old = pz_json_find(animation, "samplers");
    static const char *const moved[] = {"sampler"};
    int at = doc->channels, lost = 0;
    bool goes_on = has_same_times(doc);
    for (size_t i = 0; channels && old && i < channels->count; ++i) {
        const pz_json_value *channel = &channels->is.elements[i];
        const pz_json_value *sampler = pz_json_element(old, (size_t)pz_json_as_number(pz_json_find(channel, "sampler")));
        if (!is_other_channel(channel) || !sampler) {
            continue;
        }
        if (!goes_on) {
            lost += !doc->rest->is_still[i];
        } else if (samplers) {
            put_value(&doc->writer, NULL, sampler);
        } else {
            pz_json_open_flat(&doc->writer, NULL, "{");
            pz_json_put_integer(&doc->writer, "sampler", at++);
            put_members(&doc->writer, channel, moved, 1);
            pz_json_close_flat(&doc->writer, "}");
        }
    }
    if (lost > 0 && samplers) {
        pz_output_warn(doc->writer.output,
                       "left out: %d channel%s of scales or weights of the animation \"%s\", made for the times it had",
                       lost, lost == 1 ? "" : "s", doc->file->carried->animation_name[doc->rest->animation]);
    }
}

// The name of a new animation: where there is one of that name, "walk.2" and so on.
static void put_motion_name(pz_gltf_writing *doc)
{
    const poise_carried *carried = doc->file->carried;
    poise_error name = {.line = 0};
    pz_error_set(&name, POISE_OK, "%s", doc->file->motion);
    for (int i = 0, next = 2; i < carried->animations; ++i) {
        if (strcmp(carried->animation_name[i], name.text) == 0) {
            pz_error_set(&name, POISE_OK, "%s.%d", doc->file->motion, next++);
            i = -1; // all again
        }
    }
    pz_json_put_text(&doc->writer, "name", name.text);
}

// From the clip, with what goes on of the old one; NULL: there is none.
static void put_new_animation(pz_gltf_writing *doc, const pz_json_value *old)
{
    static const char *const replaced[] = {"channels", "samplers", "extras"};
    pz_json_open(&doc->writer, NULL, "{");
    put_members(&doc->writer, old, replaced, 3);
    if (doc->file->motion) {
        put_motion_name(doc);
    }
    pz_gltf_put_extras(doc);
    pz_json_open(&doc->writer, "channels", "[");
    pz_gltf_put_channels(doc);
    put_other_channels(doc, old, false);
    pz_json_close(&doc->writer, "]");
    pz_json_open(&doc->writer, "samplers", "[");
    pz_gltf_put_samplers(doc);
    put_other_channels(doc, old, true);
    pz_json_close(&doc->writer, "]");
    pz_json_close(&doc->writer, "}");
}

// The lists that the clip adds to; `value` NULL: the document has none.
static void put_list(pz_gltf_writing *doc, const char *key, const pz_json_value *value, bool embed)
{
    bool is_views = strcmp(key, "bufferViews") == 0, is_animations = strcmp(key, "animations") == 0;
    if (strcmp(key, "buffers") == 0) {
        pz_gltf_put_buffer(doc, embed);
        return;
    }
    pz_json_open(&doc->writer, key, "[");
    bool is_put = is_animations && doc->channels > 0 && doc->file->motion;
    if (is_put) {
        put_new_animation(doc, NULL);
    }
    if (is_views) {
        put_old_views(doc, value);
    }
    for (size_t i = 0; value && !is_views && i < value->count; ++i) {
        if (is_animations && !is_put && doc->channels > 0 && (int)i == doc->rest->animation) {
            put_new_animation(doc, &value->is.elements[i]);
        } else {
            put_value(&doc->writer, NULL, &value->is.elements[i]);
        }
    }
    if (is_animations && !is_put && doc->channels > 0 && (!value || doc->rest->animation >= (int)value->count)) {
        put_new_animation(doc, NULL);
    } else if (is_views && doc->channels > 0) {
        pz_gltf_put_views(doc);
    } else if (!is_animations && doc->channels > 0) {
        pz_gltf_put_accessors(doc);
    }
    pz_json_close(&doc->writer, "]");
}

poise_status pz_gltf_put_carried(pz_gltf_writing *doc, pz_pool *pool, const double *neutral, bool embed)
{
    static const char *const lists[] = {"animations", "accessors", "bufferViews", "buffers"};
    pz_json_value root;
    size_t place;
    poise_status status = pz_json_parse(pool, doc->rest->text, doc->rest->text_size, &root, NULL, &place);
    const pz_json_value *accessors = status == POISE_OK ? pz_json_find(&root, "accessors") : NULL;
    const pz_json_value *views = status == POISE_OK ? pz_json_find(&root, "bufferViews") : NULL;
    doc->first_accessor = accessors ? (int)accessors->count : 0;
    doc->first_view = views ? (int)views->count : 0;
    pz_json_open(&doc->writer, NULL, "{");
    for (size_t i = 0; status == POISE_OK && i < root.count; ++i) {
        const char *key = root.is.members->pairs[2 * i].is.text;
        const pz_json_value *value = &root.is.members->pairs[2 * i + 1];
        bool is_list = false;
        for (int k = 0; k < 4; ++k) {
            is_list = is_list || strcmp(key, lists[k]) == 0;
        }
        if (is_list) {
            put_list(doc, key, value, embed);
        } else if (strcmp(key, "nodes") == 0) {
            status = put_nodes(doc, pool, value, neutral);
        } else {
            put_value(&doc->writer, key, value);
        }
    }
    for (int k = 0; status == POISE_OK && k < 4; ++k) { // what the clip needs and the document does not have
        if (doc->channels > 0 && !pz_json_find(&root, lists[k])) {
            put_list(doc, lists[k], NULL, embed);
        }
    }
    pz_json_close(&doc->writer, "}");
    pz_put(doc->writer.output, "\n");
    return status == POISE_OK ? doc->status : status;
}
