// Writing glTF 2.0, text and binary, from a model and a clip: a node for every joint and tool, and an animation of them.
//
// The rest transform of a node is that of the neutral configuration. Numbers of nodes are decimals with all their digits;
// those of animations are 32-bit floats, as the format asks. Joints that turn are listed as a skin, so that a reader knows
// them for joints where no clip moves them.
#include "io/gltf.h"

#include "io/skeleton.h"

#include <float.h>
#include <string.h>

// What is being written.
typedef struct gltf_writing {
    const poise_file *file;
    const poise_model *model;
    const pz_gltf_rest *rest; // NULL: nothing is carried
    pz_json_writer writer;
    pz_output binary;   // the buffer
    double metres;      // for a unit of length
    poise_up up;        // of the model's world
    double start;       // of the animation, seconds
    bool *moves;        // 2 x joints: does the clip change the translation, the rotation of the node?
    int channels;       // of the animation
    int first_accessor; // of the animation's; its views begin likewise
    int first_view;     //
    size_t first_byte;  // of its numbers
    poise_status status;
} gltf_writing;

// ---- Local transforms ----------------------------------------------------------------------------------------------------

static quat turn_about(vec3 axis, double angle)
{
    return poise_quat_from_axis_angle(axis, angle);
}

// The rotation of a joint in its axes frame, from its own rotation coordinates.
static quat turn_of(const poise_joint *joint, const double *q)
{
    vec3 axes[] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    vec3 v;
    const char *order;
    switch (joint->type) {
    case POISE_JOINT_BALL_QUATERNION:
    case POISE_JOINT_FREE:
        return (quat){q[0], q[1], q[2], q[3]};
    case POISE_JOINT_BALL_EXPMAP:
    case POISE_JOINT_FREE_EXPMAP:
        v = v3(q[0], q[1], q[2]);
        return turn_about(v, v3_norm(v));
    case POISE_JOINT_SWING_TWIST:
        v = v3(q[0], q[1], 0);
        return quat_mul(turn_about(v, v3_norm(v)), turn_about(axes[2], q[2]));
    case POISE_JOINT_PLANAR:
        return turn_about(axes[2], q[0]);
    case POISE_JOINT_BALL_EULER:
    case POISE_JOINT_FREE_EULER:
        order = pz_euler_name((int)joint->order);
        return quat_mul(quat_mul(turn_about(axes[order[0] - 'x'], q[0]), turn_about(axes[order[1] - 'x'], q[1])),
                        turn_about(axes[order[2] - 'x'], q[2]));
    default:
        return (quat){0, 0, 0, 1};
    }
}

// The motion of a joint in its axes frame (table of model.h): slides first.
static poise_pose motion_of(const poise_joint *joint, const double *q)
{
    int slides = 0;
    switch (joint->type) {
    case POISE_JOINT_PLANAR:
        slides = 2;
        break;
    case POISE_JOINT_TRANSLATION:
    case POISE_JOINT_FREE:
    case POISE_JOINT_FREE_EXPMAP:
    case POISE_JOINT_FREE_EULER:
        slides = 3;
        break;
    default:
        break;
    }
    vec3 p = v3(slides > 0 ? q[0] : 0, slides > 1 ? q[1] : 0, slides > 2 ? q[2] : 0);
    return (poise_pose){turn_of(joint, q + slides), p};
}

// The same for the types that have axis vectors in the joint's frame.
static poise_pose motion_about_axis(const poise_joint *joint, const double *q)
{
    if (joint->type == POISE_JOINT_PRISMATIC) {
        return (poise_pose){{0, 0, 0, 1}, v3_scale(joint->axis, q[0])};
    }
    quat r = turn_about(joint->axis, q[0]);
    return (poise_pose){joint->type == POISE_JOINT_UNIVERSAL ? quat_mul(r, turn_about(joint->axis2, q[1])) : r, {0, 0, 0}};
}

// offset A M(q) A^-1, with M the motion in the frame A of the joint's axes (table of model.h), at the joint's own
// coordinates q; of a mimic the value it takes. Quaternions in q are taken as they are: the rotation has their length.
//
// Where offset.rotation and A undo each other, up to rounding, the identity takes the place of their product: numbers that a
// file gave in the parent's axes come back with the same bits.
static poise_pose local_pose(const poise_joint *joint, const double *q)
{
    poise_joint_type type = joint->type;
    if (type == POISE_JOINT_FIXED) {
        return joint->offset;
    }
    if (type == POISE_JOINT_REVOLUTE || type == POISE_JOINT_PRISMATIC || type == POISE_JOINT_UNIVERSAL) {
        return poise_pose_multiply(joint->offset, motion_about_axis(joint, q));
    }
    poise_pose m = motion_of(joint, q);
    quat C = quat_mul(joint->offset.rotation, joint->axes);
    vec3 shift = v3_norm(quat_vec(C)) <= 8 * PZ_EPSILON ? m.position : quat_rotate(C, m.position);
    quat turn = v3_norm(quat_vec(C)) <= 8 * PZ_EPSILON ? m.rotation : quat_mul(C, m.rotation);
    bool is_plain = joint->axes.x == 0 && joint->axes.y == 0 && joint->axes.z == 0;
    return (poise_pose){is_plain ? turn : quat_mul(turn, quat_conj(joint->axes)), v3_add(joint->offset.position, shift)};
}

// The local transform of joint k at the configuration q, in metres, with y upwards by a cyclic change of axes.
static poise_pose gltf_node_transform(const gltf_writing *doc, int k, const double *q)
{
    poise_joint joint = *poise_model_joint_info(doc->model, k).given;
    int mimic = poise_model_joint_info(doc->model, k).mimic;
    double value = 0;
    const double *whose = q + poise_model_joint_info(doc->model, mimic == POISE_NONE ? k : mimic).q, *at = whose;
    if (mimic != POISE_NONE) {
        value = joint.mimic_multiplier * at[0] + joint.mimic_offset;
        at = &value;
    }
    bool is_curve = joint.curve || joint.mimic_function;
    poise_pose local = is_curve ? poise_model_curve_pose(doc->model, k, *whose) : local_pose(&joint, at);
    vec3 p = v3_scale(local.position, doc->metres);
    if (poise_model_joint_info(doc->model, k).parent == POISE_WORLD) {
        if (doc->up == POISE_UP_Z) { // x y z become z x y
            p = v3(p.y, p.z, p.x);
            local.rotation = quat_mul((quat){-0.5, -0.5, -0.5, 0.5}, local.rotation);
        } else if (doc->up == POISE_UP_X) {
            p = v3(p.z, p.x, p.y);
            local.rotation = quat_mul((quat){0.5, 0.5, 0.5, 0.5}, local.rotation);
        }
    }
    return (poise_pose){local.rotation, p};
}

// Which part of a node's transform a joint may change. Turns go about the joint's origin, which stays.
static bool part_is_free(const poise_model *model, int k, bool rotation)
{
    switch (poise_model_joint_info(model, k).type) {
    case POISE_JOINT_FIXED:
        return false;
    case POISE_JOINT_PRISMATIC:
    case POISE_JOINT_TRANSLATION:
        return !rotation;
    case POISE_JOINT_PLANAR:
    case POISE_JOINT_FREE:
    case POISE_JOINT_FREE_EXPMAP:
    case POISE_JOINT_FREE_EULER:
    case POISE_JOINT_CURVE:
        return true;
    default:
        return rotation;
    }
}

// ---- Nodes ---------------------------------------------------------------------------------------------------------------

static void write_transform(gltf_writing *doc, poise_pose pose)
{
    vec3 p = pose.position;
    quat r = pose.rotation;
    if (p.x != 0 || p.y != 0 || p.z != 0) {
        pz_json_put_numbers(&doc->writer, "translation", (double[]){p.x, p.y, p.z}, 3);
    }
    if (r.x != 0 || r.y != 0 || r.z != 0) {
        pz_json_put_numbers(&doc->writer, "rotation", (double[]){r.x, r.y, r.z, r.w}, 4);
    }
}

// Children of joint k: its child joints, then its tools. Tools come after all joints in the list of nodes.
static void write_children(gltf_writing *doc, int k, const int *first_tool, const int *next_tool)
{
    int end = k + poise_model_joint_info(doc->model, k).subtree, joints = poise_model_info(doc->model).joints;
    if (end == k + 1 && first_tool[k] == POISE_WORLD) {
        return;
    }
    pz_json_open_flat(&doc->writer, "children", "[");
    for (int child = k + 1; child < end; child += poise_model_joint_info(doc->model, child).subtree) {
        pz_json_put_integer(&doc->writer, NULL, child);
    }
    for (int tool = first_tool[k]; tool != POISE_WORLD; tool = next_tool[tool]) {
        pz_json_put_integer(&doc->writer, NULL, joints + tool);
    }
    pz_json_close_flat(&doc->writer, "]");
}

static void write_tool(gltf_writing *doc, int tool)
{
    poise_pose pose = poise_model_tool_info(doc->model, tool).pose;
    pose.position = v3_scale(pose.position, doc->metres);
    pz_json_open_flat(&doc->writer, NULL, "{");
    pz_json_put_text(&doc->writer, "name", poise_model_tool_info(doc->model, tool).name);
    write_transform(doc, pose);
    pz_json_open(&doc->writer, "extras", "{");
    pz_json_put_text(&doc->writer, "poise", "tool");
    pz_json_close(&doc->writer, "}");
    pz_json_close_flat(&doc->writer, "}");
}

static poise_status write_nodes(gltf_writing *doc, pz_pool *pool, const double *neutral)
{
    int joints = poise_model_info(doc->model).joints, tools = poise_model_info(doc->model).tools;
    int *first_tool = pz_pool_take(pool, (size_t)joints, sizeof *first_tool);
    int *next_tool = pz_pool_take(pool, (size_t)tools, sizeof *next_tool);
    if (!first_tool || !next_tool) {
        return POISE_ERROR_MEMORY;
    }
    for (int k = 0; k < joints; ++k) {
        first_tool[k] = POISE_WORLD;
    }
    for (int tool = tools - 1; tool >= 0; --tool) {
        int body = poise_model_tool_info(doc->model, tool).body;
        next_tool[tool] = first_tool[body];
        first_tool[body] = tool;
    }
    pz_json_open(&doc->writer, "nodes", "[");
    for (int k = 0; k < joints; ++k) {
        pz_json_open_flat(&doc->writer, NULL, "{");
        pz_json_put_text(&doc->writer, "name", poise_model_joint_info(doc->model, k).body);
        write_transform(doc, gltf_node_transform(doc, k, neutral));
        write_children(doc, k, first_tool, next_tool);
        pz_json_close_flat(&doc->writer, "}");
    }
    for (int tool = 0; tool < tools; ++tool) {
        write_tool(doc, tool);
    }
    pz_json_close(&doc->writer, "]");
    return POISE_OK;
}

static void write_scene_and_skin(gltf_writing *doc)
{
    pz_json_writer *writer = &doc->writer;
    int joints = poise_model_info(doc->model).joints, moving = 0;
    pz_json_put_integer(writer, "scene", 0);
    pz_json_open_flat(writer, "scenes", "[");
    pz_json_open(writer, NULL, "{");
    if (doc->file->title) {
        pz_json_put_text(writer, "name", doc->file->title);
    }
    pz_json_open(writer, "nodes", "[");
    for (int k = 0; k < joints; k += poise_model_joint_info(doc->model, k).subtree) {
        pz_json_put_integer(writer, NULL, k);
    }
    pz_json_close(writer, "]");
    pz_json_close(writer, "}");
    pz_json_close_flat(writer, "]");
    for (int k = 0; k < joints; ++k) {
        moving += part_is_free(doc->model, k, true);
    }
    if (moving == 0) {
        return;
    }
    pz_json_open_flat(writer, "skins", "[");
    pz_json_open(writer, NULL, "{");
    pz_json_open(writer, "joints", "[");
    for (int k = 0; k < joints; ++k) {
        if (part_is_free(doc->model, k, true)) {
            pz_json_put_integer(writer, NULL, k);
        }
    }
    pz_json_close(writer, "]");
    pz_json_close(writer, "}");
    pz_json_close_flat(writer, "]");
}

// ---- Animation -----------------------------------------------------------------------------------------------------------

static void write_float(gltf_writing *doc, double value)
{
    if (!(fabs(value) <= (double)FLT_MAX)) {
        doc->status = POISE_ERROR_ARGUMENT;
        return;
    }
    float single = (float)value;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    unsigned char bytes[] = {(unsigned char)bits, (unsigned char)(bits >> 8), (unsigned char)(bits >> 16),
                             (unsigned char)(bits >> 24)};
    pz_put_bytes(&doc->binary, bytes, sizeof bytes);
}

// Where the clip leaves a part at rest there is no channel: the node says the same with more digits.
static void find_moving_parts(gltf_writing *doc, const double *neutral)
{
    const poise_clip *clip = doc->file->clip;
    for (int k = 0; k < poise_model_info(doc->model).joints; ++k) {
        poise_pose rest = gltf_node_transform(doc, k, neutral);
        bool turns = part_is_free(doc->model, k, true), slides = part_is_free(doc->model, k, false);
        bool turned = false, slid = false;
        for (int f = 0; f < clip->frames && (turned < turns || slid < slides); ++f) {
            poise_pose pose = gltf_node_transform(doc, k, clip->q + (size_t)f * (size_t)clip->nq);
            turned = turned || (turns && memcmp(&pose.rotation, &rest.rotation, sizeof rest.rotation) != 0);
            slid = slid || (slides && memcmp(&pose.position, &rest.position, sizeof rest.position) != 0);
        }
        doc->moves[2 * k] = slid;
        doc->moves[2 * k + 1] = turned;
    }
}

// Quaternions as they are, unless they are too far from unit for the format's readers: what three digits leave is common.
static quat unit_enough(quat r)
{
    double square = r.x * r.x + r.y * r.y + r.z * r.z + r.w * r.w;
    return fabs(square - 1.0) < 4e-3 ? r : quat_normalize(r);
}

static void write_channel_numbers(gltf_writing *doc, int k, bool rotation)
{
    const poise_clip *clip = doc->file->clip;
    for (int f = 0; f < clip->frames; ++f) {
        poise_pose pose = gltf_node_transform(doc, k, clip->q + (size_t)f * (size_t)clip->nq);
        quat r = unit_enough(pose.rotation);
        vec3 p = pose.position, c = doc->rest ? doc->rest->carried[k] : v3(1, 1, 1);
        p = v3(p.x / c.x, p.y / c.y, p.z / c.z);
        double values[4] = {rotation ? r.x : p.x, rotation ? r.y : p.y, rotation ? r.z : p.z, r.w};
        for (int i = 0; i < (rotation ? 4 : 3); ++i) {
            write_float(doc, values[i]);
        }
    }
    doc->channels += 1;
}

static void write_accessor(gltf_writing *doc, int number, const char *type, double least, double most)
{
    pz_json_writer *writer = &doc->writer;
    pz_json_open_flat(writer, NULL, "{");
    pz_json_put_integer(writer, "bufferView", doc->first_view + number);
    pz_json_put_integer(writer, "componentType", 5126);
    pz_json_put_integer(writer, "count", doc->file->clip->frames);
    pz_json_put_text(writer, "type", type);
    if (number == 0) {
        pz_json_put_numbers(writer, "min", &least, 1);
        pz_json_put_numbers(writer, "max", &most, 1);
    }
    pz_json_close_flat(writer, "}");
}

// Call `each` for every part of every joint that moves, in the order of the channels.
typedef void (*channel_function)(gltf_writing *doc, int joint, bool rotation, int channel);

static void for_each_channel(gltf_writing *doc, channel_function each)
{
    int joints = poise_model_info(doc->model).joints, channel = 0;
    for (int k = 0; k < joints; ++k) {
        for (int rotation = 1; rotation >= 0; --rotation) {
            if (doc->moves[2 * k + rotation]) {
                each(doc, k, rotation != 0, channel++);
            }
        }
    }
}

static void numbers_of_channel(gltf_writing *doc, int joint, bool rotation, int channel)
{
    (void)channel;
    write_channel_numbers(doc, joint, rotation);
}

static void target_of_channel(gltf_writing *doc, int joint, bool rotation, int channel)
{
    pz_json_open_flat(&doc->writer, NULL, "{");
    pz_json_put_integer(&doc->writer, "sampler", channel);
    pz_json_open(&doc->writer, "target", "{");
    pz_json_put_integer(&doc->writer, "node", doc->rest ? doc->rest->node[joint] : joint);
    pz_json_put_text(&doc->writer, "path", rotation ? "rotation" : "translation");
    pz_json_close(&doc->writer, "}");
    pz_json_close_flat(&doc->writer, "}");
}

static void sampler_of_channel(gltf_writing *doc, int joint, bool rotation, int channel)
{
    (void)joint;
    (void)rotation;
    pz_json_open_flat(&doc->writer, NULL, "{");
    pz_json_put_integer(&doc->writer, "input", doc->first_accessor);
    pz_json_put_integer(&doc->writer, "output", doc->first_accessor + channel + 1);
    pz_json_close_flat(&doc->writer, "}");
}

static void accessor_of_channel(gltf_writing *doc, int joint, bool rotation, int channel)
{
    (void)joint;
    write_accessor(doc, channel + 1, rotation ? "VEC4" : "VEC3", 0, 0);
}

static void write_view(gltf_writing *doc, size_t offset, size_t size)
{
    pz_json_open_flat(&doc->writer, NULL, "{");
    pz_json_put_integer(&doc->writer, "buffer", 0);
    pz_json_put_integer(&doc->writer, "byteOffset", (long long)offset);
    pz_json_put_integer(&doc->writer, "byteLength", (long long)size);
    pz_json_close_flat(&doc->writer, "}");
}

static void gltf_put_extras(gltf_writing *doc)
{
    pz_json_open_flat(&doc->writer, "extras", "{");
    pz_json_put_number(&doc->writer, "frame_time", doc->file->clip->frame_time);
    pz_json_put_number(&doc->writer, "start_time", doc->start);
    pz_json_close_flat(&doc->writer, "}");
}

// The channels and samplers of the clip, members of its animation; its accessors and views, elements of those lists; the
// buffer.
static void gltf_put_channels(gltf_writing *doc)
{
    for_each_channel(doc, target_of_channel);
}

static void gltf_put_samplers(gltf_writing *doc)
{
    for_each_channel(doc, sampler_of_channel);
}

static void gltf_put_accessors(gltf_writing *doc)
{
    const poise_clip *clip = doc->file->clip;
    double last = doc->start + (clip->frames - 1) * clip->frame_time;
    write_accessor(doc, 0, "SCALAR", (double)(float)doc->start, (double)(float)last);
    for_each_channel(doc, accessor_of_channel);
}

static void write_animation(gltf_writing *doc)
{
    pz_json_writer *writer = &doc->writer;
    pz_json_open(writer, "animations", "[");
    pz_json_open(writer, NULL, "{");
    if (doc->file->motion) {
        pz_json_put_text(writer, "name", doc->file->motion);
    }
    gltf_put_extras(doc);
    pz_json_open(writer, "channels", "[");
    gltf_put_channels(doc);
    pz_json_close(writer, "]");
    pz_json_open(writer, "samplers", "[");
    gltf_put_samplers(doc);
    pz_json_close(writer, "]");
    pz_json_close(writer, "}");
    pz_json_close(writer, "]");
    pz_json_open(writer, "accessors", "[");
    gltf_put_accessors(doc);
    pz_json_close(writer, "]");
}

static void gltf_put_views(gltf_writing *doc)
{
    size_t frames = (size_t)doc->file->clip->frames, offset = doc->first_byte + 4 * frames;
    write_view(doc, doc->first_byte, 4 * frames);
    for (int k = 0; k < poise_model_info(doc->model).joints; ++k) {
        for (int rotation = 1; rotation >= 0; --rotation) {
            if (doc->moves[2 * k + rotation]) {
                size_t size = frames * (rotation ? 16 : 12);
                write_view(doc, offset, size);
                offset += size;
            }
        }
    }
}

static void write_views(gltf_writing *doc)
{
    pz_json_open(&doc->writer, "bufferViews", "[");
    gltf_put_views(doc);
    pz_json_close(&doc->writer, "]");
}

// ---- The buffer ----------------------------------------------------------------------------------------------------------

static void write_base64(pz_output *output, const unsigned char *bytes, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        size_t left = size - i;
        unsigned bits = (unsigned)bytes[i] << 16 | (left > 1 ? (unsigned)bytes[i + 1] << 8 : 0) |
                        (left > 2 ? (unsigned)bytes[i + 2] : 0);
        char text[5] = {digits[bits >> 18], digits[bits >> 12 & 63], left > 1 ? digits[bits >> 6 & 63] : '=',
                        left > 2 ? digits[bits & 63] : '=', '\0'};
        pz_put(output, text);
    }
}

static void gltf_put_buffer(gltf_writing *doc, bool embed)
{
    pz_json_open(&doc->writer, "buffers", "[");
    pz_json_open_flat(&doc->writer, NULL, "{");
    pz_json_put_integer(&doc->writer, "byteLength", (long long)doc->binary.size);
    if (embed) {
        pz_json_begin(&doc->writer, "uri");
        pz_put(doc->writer.output, "\"data:application/octet-stream;base64,");
        write_base64(doc->writer.output, doc->binary.bytes, doc->binary.size);
        pz_put(doc->writer.output, "\"");
    }
    pz_json_close_flat(&doc->writer, "}");
    pz_json_close(&doc->writer, "]");
}

// ---- A document that was read, with what changed -------------------------------------------------------------------------
//
// Written value by value as it was, but for these: all buffers become one; the animation that became the clip is written
// from the clip, if that changed, with the channels that no joint has (weights, scales) as long as their times are still the
// clip's; a clip that is another motion (file.motion) comes before all animations; nodes whose rest transform changed get
// the new one.

// Is the clip, bit for bit, the one that was read?
static bool gltf_is_same_motion(const pz_gltf_rest *rest, const poise_clip *clip)
{
    return rest->motion == pz_gltf_motion_hash(clip);
}

// What is carried and fits the model; NULL: nothing.
static const pz_gltf_rest *gltf_rest_of(const poise_file *file)
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

static void write_value(pz_json_writer *writer, const char *key, const pz_json_value *value);

static void write_members(pz_json_writer *writer, const pz_json_value *object, const char *const *without, size_t count)
{
    for (size_t i = 0; object && i < object->count; ++i) {
        const char *key = object->is.members->pairs[2 * i].is.text;
        bool is_left_out = false;
        for (size_t k = 0; k < count; ++k) {
            is_left_out = is_left_out || strcmp(key, without[k]) == 0;
        }
        if (!is_left_out) {
            write_value(writer, key, &object->is.members->pairs[2 * i + 1]);
        }
    }
}

// A value as it was; the parser lets nothing in that is nested too deep.
static void write_value(pz_json_writer *writer, const char *key, const pz_json_value *value)
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
            write_value(writer, NULL, &value->is.elements[i]);
        }
        pz_json_close_flat(writer, "]");
        break;
    case PZ_JSON_OBJECT:
        pz_json_open_flat(writer, key, "{");
        write_members(writer, value, NULL, 0);
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
static void write_old_node(gltf_writing *doc, const pz_json_value *node, int k, const double *neutral)
{
    static const char *const transform[] = {"matrix", "translation", "rotation", "scale"};
    const pz_gltf_rest *rest = doc->rest;
    poise_pose pose = k >= 0 ? gltf_node_transform(doc, k, neutral) : poise_pose_identity();
    if (k < 0 || is_same_pose(pose, rest->offset[k])) {
        write_value(&doc->writer, NULL, node);
        return;
    }
    vec3 c = rest->carried[k], s = rest->scale[k], p = pose.position;
    quat r = pose.rotation;
    pz_json_open_flat(&doc->writer, NULL, "{");
    write_members(&doc->writer, node, transform, 4);
    pz_json_put_numbers(&doc->writer, "translation", (double[]){p.x / c.x, p.y / c.y, p.z / c.z}, 3);
    pz_json_put_numbers(&doc->writer, "rotation", (double[]){r.x, r.y, r.z, r.w}, 4);
    pz_json_put_numbers(&doc->writer, "scale", (double[]){s.x, s.y, s.z}, 3);
    pz_json_close_flat(&doc->writer, "}");
}

static poise_status write_old_nodes(gltf_writing *doc, pz_pool *pool, const pz_json_value *nodes, const double *neutral)
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
        write_old_node(doc, &nodes->is.elements[i], joint[i], neutral);
    }
    pz_json_close(&doc->writer, "]");
    return POISE_OK;
}

// Views of one buffer instead of several.
static void write_old_views(gltf_writing *doc, const pz_json_value *views)
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
        write_members(&doc->writer, view, moved, 2);
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
static bool has_same_times(const gltf_writing *doc)
{
    const poise_clip *clip = doc->file->clip;
    double end = doc->start + (clip->frames - 1) * clip->frame_time, frame = (1 - 1e-6) * clip->frame_time;
    return doc->start == doc->rest->start && fabs(end - doc->rest->end) < frame;
}

// Channels of the old animation that go on, or their samplers: those that are no joint's, where the times are the same.
static void write_other_channels(gltf_writing *doc, const pz_json_value *animation, bool samplers)
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
            write_value(&doc->writer, NULL, sampler);
        } else {
            pz_json_open_flat(&doc->writer, NULL, "{");
            pz_json_put_integer(&doc->writer, "sampler", at++);
            write_members(&doc->writer, channel, moved, 1);
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
static void write_motion_name(gltf_writing *doc)
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
static void write_new_animation(gltf_writing *doc, const pz_json_value *old)
{
    static const char *const replaced[] = {"channels", "samplers", "extras"};
    pz_json_open(&doc->writer, NULL, "{");
    write_members(&doc->writer, old, replaced, 3);
    if (doc->file->motion) {
        write_motion_name(doc);
    }
    gltf_put_extras(doc);
    pz_json_open(&doc->writer, "channels", "[");
    gltf_put_channels(doc);
    write_other_channels(doc, old, false);
    pz_json_close(&doc->writer, "]");
    pz_json_open(&doc->writer, "samplers", "[");
    gltf_put_samplers(doc);
    write_other_channels(doc, old, true);
    pz_json_close(&doc->writer, "]");
    pz_json_close(&doc->writer, "}");
}

// The lists that the clip adds to; `value` NULL: the document has none.
static void write_old_list(gltf_writing *doc, const char *key, const pz_json_value *value, bool embed)
{
    bool is_views = strcmp(key, "bufferViews") == 0, is_animations = strcmp(key, "animations") == 0;
    if (strcmp(key, "buffers") == 0) {
        gltf_put_buffer(doc, embed);
        return;
    }
    pz_json_open(&doc->writer, key, "[");
    bool is_put = is_animations && doc->channels > 0 && doc->file->motion;
    if (is_put) {
        write_new_animation(doc, NULL);
    }
    if (is_views) {
        write_old_views(doc, value);
    }
    for (size_t i = 0; value && !is_views && i < value->count; ++i) {
        if (is_animations && !is_put && doc->channels > 0 && (int)i == doc->rest->animation) {
            write_new_animation(doc, &value->is.elements[i]);
        } else {
            write_value(&doc->writer, NULL, &value->is.elements[i]);
        }
    }
    if (is_animations && !is_put && doc->channels > 0 && (!value || doc->rest->animation >= (int)value->count)) {
        write_new_animation(doc, NULL);
    } else if (is_views && doc->channels > 0) {
        gltf_put_views(doc);
    } else if (!is_animations && doc->channels > 0) {
        gltf_put_accessors(doc);
    }
    pz_json_close(&doc->writer, "]");
}

// The document that was read, with the clip and the rest transforms of now. Numbers of the clip are in doc->binary.
static poise_status gltf_put_carried(gltf_writing *doc, pz_pool *pool, const double *neutral, bool embed)
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
            write_old_list(doc, key, value, embed);
        } else if (strcmp(key, "nodes") == 0) {
            status = write_old_nodes(doc, pool, value, neutral);
        } else {
            write_value(&doc->writer, key, value);
        }
    }
    for (int k = 0; status == POISE_OK && k < 4; ++k) { // what the clip needs and the document does not have
        if (doc->channels > 0 && !pz_json_find(&root, lists[k])) {
            write_old_list(doc, lists[k], NULL, embed);
        }
    }
    pz_json_close(&doc->writer, "}");
    pz_put(doc->writer.output, "\n");
    return status == POISE_OK ? doc->status : status;
}

// ---- The whole -----------------------------------------------------------------------------------------------------------

// The numbers of the clip, behind what the buffer holds.
static void write_numbers(gltf_writing *doc, const double *neutral)
{
    const poise_clip *clip = doc->file->clip;
    find_moving_parts(doc, neutral);
    for (int f = 0; f < clip->frames; ++f) {
        write_float(doc, doc->start + f * clip->frame_time);
    }
    for_each_channel(doc, numbers_of_channel);
}

static poise_status write_plain(gltf_writing *doc, pz_pool *pool, const double *neutral, bool embed)
{
    const poise_clip *clip = doc->file->clip;
    pz_json_open(&doc->writer, NULL, "{");
    pz_json_open_flat(&doc->writer, "asset", "{");
    pz_json_put_text(&doc->writer, "version", "2.0");
    pz_json_put_text(&doc->writer, "generator", "Poise");
    pz_json_close_flat(&doc->writer, "}");
    write_scene_and_skin(doc);
    poise_status status = write_nodes(doc, pool, neutral);
    if (status == POISE_OK && clip && clip->frames > 0) {
        write_numbers(doc, neutral);
        if (doc->channels > 0) {
            write_animation(doc);
            write_views(doc);
            gltf_put_buffer(doc, embed);
        }
    }
    pz_json_close(&doc->writer, "}");
    pz_put(doc->writer.output, "\n");
    return status == POISE_OK ? doc->status : status;
}

static poise_status put_document(gltf_writing *doc, pz_pool *pool, bool embed)
{
    const poise_clip *clip = doc->file->clip;
    double *neutral = pz_pool_take(pool, (size_t)poise_model_info(doc->model).nq, sizeof *neutral);
    doc->moves = pz_pool_take(pool, 2 * (size_t)poise_model_info(doc->model).joints, sizeof *doc->moves);
    if (!neutral || !doc->moves) {
        return POISE_ERROR_MEMORY;
    }
    poise_model_neutral(doc->model, neutral);
    doc->rest = gltf_rest_of(doc->file);
    if (!doc->rest) {
        if (doc->file->carried && doc->file->carried->format == POISE_FORMAT_GLTF) {
            pz_output_warn(doc->writer.output,
                           "left out: %s; the skeleton is another one, or buffers are missing or compressed (gltfpack or "
                           "gltf-transform can decompress them)",
                           doc->file->carried->text);
        }
        return write_plain(doc, pool, neutral, embed);
    }
    pz_put_bytes(&doc->binary, doc->rest->bytes, doc->rest->size);
    doc->first_byte = doc->rest->size;
    if (clip && clip->frames > 0 && (doc->file->motion || !gltf_is_same_motion(doc->rest, clip))) {
        write_numbers(doc, neutral);
    }
    return gltf_put_carried(doc, pool, neutral, embed);
}

// Do the times of the frames differ in single precision? At the end they are largest.
static bool has_times(const poise_clip *clip, double start)
{
    double last = start + (clip->frames - 1) * clip->frame_time;
    double size = max2(fabs(start), fabs(last));
    return size <= (double)FLT_MAX && clip->frame_time > 0x1p-20 * size;
}

// Where the animation begins: with the clip, or at 0 where there are too few digits for that.
static poise_status check_times(const poise_clip *clip, pz_output *output, double *start)
{
    *start = clip->start_time;
    if (clip->frames > 1 && !has_times(clip, *start)) {
        *start = 0;
        pz_output_warn(output, "the clip begins at %g s, too late for the times of its frames in single precision: now at 0",
                       clip->start_time);
    }
    if (clip->frames > 1 && !has_times(clip, *start)) {
        return pz_error_set(output->error, POISE_ERROR_UNSUPPORTED,
                            "%d frames every %g s: too many for times in single precision", clip->frames, clip->frame_time);
    }
    return POISE_OK;
}

static poise_status check_frames(const poise_file *file, pz_output *output)
{
    const poise_clip *clip = file->clip;
    pz_pool pool = {.allocator = output->allocator};
    pz_configurations of;
    poise_status status = POISE_OK;
    if (!pz_configurations_of(file->model, &pool, &of)) {
        status = pz_error_set(output->error, POISE_ERROR_MEMORY, "out of memory");
    }
    for (int f = 0; f < clip->frames && status == POISE_OK; ++f) {
        if (!pz_is_configuration(&of, clip->q + (size_t)f * (size_t)clip->nq)) {
            status = pz_error_set(output->error, POISE_ERROR_ARGUMENT,
                                  "frame %d of the clip has a number that is not finite, or a zero quaternion", f);
        }
    }
    pz_pool_release(&pool);
    return status;
}

static poise_status check_file(const poise_file *file, pz_output *output)
{
    if (!file->model) {
        return pz_error_set(output->error, POISE_ERROR_UNSUPPORTED, "glTF holds skeletons: the file has no model");
    }
    const poise_clip *clip = file->clip;
    if (clip && clip->nq != poise_model_info(file->model).nq) {
        return pz_error_set(output->error, POISE_ERROR_ARGUMENT,
                            "the clip has %d coordinates per frame, but the model has %d", clip->nq,
                            poise_model_info(file->model).nq);
    }
    poise_status status = clip ? check_frames(file, output) : POISE_OK;
    if (status != POISE_OK) {
        return status;
    }
    if (file->markers) {
        pz_output_warn(output, "glTF holds no markers; left out");
    }
    return POISE_OK;
}

// The unit and the upward axis of the model. What the file does not say is taken from the figure, with a warning.
static poise_scale scale_of(const poise_file *file, pz_output *output)
{
    poise_scale scale = file->scale;
    poise_figure figure = {.metres = 0};
    bool needs_unit = !(scale.metres > 0), needs_up = scale.up == POISE_UP_UNKNOWN;
    if (needs_unit || needs_up) {
        poise_clip_figure(file->model, file->clip, &figure, NULL);
    }
    bool has_unit = needs_unit && figure.metres > 0;
    bool has_up = needs_up && figure.up != POISE_UP_UNKNOWN && !figure.is_upside_down;
    const char *up = !has_up ? "" : figure.up == POISE_UP_X ? ", x up" : figure.up == POISE_UP_Y ? ", y up" : ", z up";
    if (has_unit && poise_unit_name(figure.metres)) {
        pz_output_warn(output, "%s%s assumed from the figure", poise_unit_name(figure.metres), up);
    } else if (has_unit) {
        pz_output_warn(output, "units of %g m%s assumed from the figure", figure.metres, up);
    } else if (needs_unit) {
        pz_output_warn(output, "the unit of length is unknown; metres%s assumed", up);
    } else if (has_up && figure.up != POISE_UP_Y) {
        pz_output_warn(output, "%s assumed from the figure", up + 2);
    }
    scale.metres = has_unit ? figure.metres : needs_unit ? 1.0 : scale.metres;
    scale.up = has_up ? figure.up : scale.up;
    return scale;
}

static poise_status write_document(const poise_file *file, pz_output *output, bool embed, pz_output *binary)
{
    poise_status status = check_file(file, output);
    poise_scale scale = status == POISE_OK ? scale_of(file, output) : file->scale;
    double start = 0;
    status = status == POISE_OK && file->clip ? check_times(file->clip, output, &start) : status;
    if (status != POISE_OK) {
        return status;
    }
    pz_pool pool = {.allocator = output->allocator};
    gltf_writing doc = {.file = file,
                        .model = file->model,
                        .writer = {.output = output},
                        .binary = {.allocator = output->allocator},
                        .start = start,
                        .metres = scale.metres,
                        .up = scale.up};
    status = put_document(&doc, &pool, embed);
    pz_pool_release(&pool);
    *binary = doc.binary;
    if (status == POISE_ERROR_MEMORY || doc.binary.failed) {
        return pz_error_set(output->error, POISE_ERROR_MEMORY, "out of memory");
    }
    return status == POISE_OK ? status
                              : pz_error_set(output->error, status, "a number of the clip is too large for a 32-bit float");
}

static poise_status write_gltf(const poise_file *file, pz_output *output)
{
    pz_output binary = {0};
    poise_status status = write_document(file, output, true, &binary);
    if (binary.bytes) {
        poise_bytes_release(output->allocator, binary.bytes);
    }
    return status;
}

static void write_word(pz_output *output, size_t value)
{
    unsigned char bytes[] = {(unsigned char)value, (unsigned char)(value >> 8), (unsigned char)(value >> 16),
                             (unsigned char)(value >> 24)};
    pz_put_bytes(output, bytes, sizeof bytes);
}

static poise_status write_glb(const poise_file *file, pz_output *output)
{
    pz_output text = {.allocator = output->allocator,
                      .error = output->error,
                      .warnings = output->warnings,
                      .warning_capacity = output->warning_capacity};
    pz_output binary = {0};
    poise_status status = write_document(file, &text, false, &binary);
    output->warning_count = text.warning_count;
    while (status == POISE_OK && !text.failed && text.size % 4 != 0) {
        pz_put(&text, " ");
    }
    size_t size = 12 + 8 + text.size + (binary.size > 0 ? 8 + binary.size : 0); // floats: a multiple of 4
    if (status == POISE_OK && size > UINT32_MAX) {
        status = pz_error_set(output->error, POISE_ERROR_UNSUPPORTED, "a GLB holds 4 GB at most");
    }
    if (status == POISE_OK) {
        pz_put(output, "glTF");
        write_word(output, 2);
        write_word(output, size);
        write_word(output, text.size);
        pz_put(output, "JSON");
        pz_put_bytes(output, text.bytes, text.size);
    }
    if (status == POISE_OK && binary.size > 0) {
        write_word(output, binary.size);
        pz_put_bytes(output, "BIN\0", 4);
        pz_put_bytes(output, binary.bytes, binary.size);
    }
    output->failed = output->failed || text.failed;
    poise_bytes_release(output->allocator, text.bytes);
    poise_bytes_release(output->allocator, binary.bytes);
    return status;
}

const pz_format_row pz_gltf_format = {.name = "gltf", .extension = ".gltf", .read = pz_gltf_read, .write = write_gltf};
const pz_format_row pz_glb_format = {.name = "glb", .extension = ".glb", .read = pz_gltf_read, .write = write_glb};
