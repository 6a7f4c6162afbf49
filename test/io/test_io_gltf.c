// glTF on small files of our own: what every part of the format means, and what is written reads back.
#include "support/gltf_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/io_check.h"
#include "support/random_model.h"

#define GLTF POISE_FORMAT_GLTF
#define GLB  POISE_FORMAT_GLB

// A file around nodes.
#define NODES(nodes) "{\"asset\": {\"version\": \"2.0\"},\n\"nodes\": [" nodes "]}"

static poise_file *read_or_fail(const char *text)
{
    return io_read_text(text, GLTF, NULL);
}

// World pose of a body at a configuration; NULL for the neutral one.
static poise_pose pose_of(const poise_model *model, const double *q, int body)
{
    return io_pose(model, q, poise_model_joint_info(model, body).body);
}

// ---- Nodes ---------------------------------------------------------------------------------------------------------------

TEST(nodes_become_joints_whose_neutral_pose_is_the_files)
{
    poise_file *file = read_or_fail(
        NODES("{\"name\": \"root\", \"children\": [2, 1], \"translation\": [1, 0, 0]}, {\"name\": \"late\"},\n"
              "{\"name\": \"arm\", \"rotation\": [0, 0, 0.6, 0.8], \"translation\": [0, 1, 0], \"children\": [3]},\n"
              "{\"name\": \"hand\", \"translation\": [0.5, 0, 0]}, {\"name\": \"other root\"}"));
    ck_assert_int_eq(poise_model_info(file->model).joints, 5);
    ck_assert_int_eq(poise_model_info(file->model).nq, 0);
    ck_assert_int_eq(poise_model_joint_info(file->model, poise_model_find_body(file->model, "other root")).parent,
                     POISE_WORLD);
    ck_assert_str_eq(poise_model_joint_info(file->model, 1).body, "arm"); // children in their order, depth first
    int hand = poise_model_find_body(file->model, "hand");
    // cos = 0.8^2 - 0.6^2 = 0.28, sin = 2 * 0.6 * 0.8 = 0.96
    gltf_check_vec3(pose_of(file->model, NULL, hand).position, 1 + 0.5 * 0.28, 1 + 0.5 * 0.96, 0, 1e-15);
    ck_assert_int_eq(file->scale.up, POISE_UP_Y);
    ck_assert(file->scale.metres == 1);
}

TEST(a_matrix_is_taken_apart_into_translation_rotation_and_scale)
{
    // Rz(90 degrees) times 2, column by column, then a child one along x
    poise_file *file =
        read_or_fail(NODES("{\"matrix\": [0, 2, 0, 0, -2, 0, 0, 0, 0, 0, 2, 0, 5, 6, 7, 1], \"children\": [1]},"
                           "{\"name\": \"tip\", \"translation\": [1, 0, 0]}"));
    gltf_check_vec3(pose_of(file->model, NULL, 1).position, 5, 8, 7, 1e-14);
    ck_assert_int_eq(file->warning_count, 0);
    // a mirror of size 3: positions come over
    file = read_or_fail(NODES("{\"matrix\": [-3, 0, 0, 0, 0, -3, 0, 0, 0, 0, -3, 0, 0, 0, 0, 1], \"children\": [1]},"
                              "{\"name\": \"tip\", \"translation\": [1, 2, 3]}"));
    gltf_check_vec3(pose_of(file->model, NULL, 1).position, -3, -6, -9, 1e-14);
    ck_assert_int_eq(file->warning_count, 1);
}

TEST(uniform_scales_reach_every_offset_below_and_others_the_children_with_a_warning)
{
    poise_file *file = read_or_fail(NODES(
        "{\"scale\": [2, 2, 2], \"children\": [1]}, {\"translation\": [1, 0, 0], \"rotation\": [0, 0, 1, 0],"
        "\"scale\": [0.5, 0.5, 0.5], \"children\": [2]},"
        "{\"name\": \"c\", \"translation\": [1, 1, 0], \"scale\": [3, 1, 1], \"children\": [3]},"
        "{\"name\": \"d\", \"translation\": [1, 1, 1], \"children\": [4]}, {\"name\": \"e\", \"translation\": [1, 0, 0]}"));
    gltf_check_vec3(pose_of(file->model, NULL, 2).position, 1, -1, 0, 1e-15);
    gltf_check_vec3(pose_of(file->model, NULL, 3).position, -2, -2, 1, 1e-15); // (3, 1, 1) turned by half a turn
    gltf_check_vec3(pose_of(file->model, NULL, 4).position, -3, -2, 1, 1e-15);
    ck_assert_int_eq(file->warning_count, 1);
    ck_assert(strstr(file->warnings[0].text, "nodes[2]: scale 3 1 1 is not uniform"));
}

TEST(names_become_unique)
{
    poise_file *file =
        read_or_fail(NODES("{\"name\": \"a\"}, {\"name\": \"a\"}, {}, {\"name\": \"a.1\"}, {\"name\": \"\"}"));
    static const char *const names[] = {"a", "a.1_", "node.2", "a.1", "node.4"};
    for (int i = 0; i < 5; ++i) {
        ck_assert_str_eq(poise_model_joint_info(file->model, i).name, names[i]);
    }
    ck_assert_int_eq(file->warning_count, 1);
}

TEST(joints_of_skins_can_turn_and_tools_are_leaves_that_say_so)
{
    poise_file *file = read_or_fail("{\"asset\": {\"version\": \"2.0\"}, \"skins\": [{\"joints\": [0, 1]}], \"nodes\": "
                                    "[{\"name\": \"a\", \"children\": [1, 2]},"
                                    "{\"name\": \"b\", \"children\": [3]}, {\"name\": \"eye\", \"extras\": {\"poise\": "
                                    "\"tool\"}, \"translation\": [0, 1, 0]},"
                                    "{\"name\": \"b.tip\", \"translation\": [1, 0, 0]}]}");
    ck_assert_int_eq(poise_model_info(file->model).joints, 2);
    ck_assert_int_eq(poise_model_joint_info(file->model, 1).type, POISE_JOINT_BALL_QUATERNION);
    ck_assert_int_eq(poise_model_info(file->model).tools, 2);
    ck_assert_int_eq(poise_model_tool_info(file->model, poise_model_find_tool(file->model, "b.tip")).body, 1);
}

TEST(bones_of_a_vrm_can_turn_without_a_skin)
{
    static const char *const bones[] = {
        "\"VRMC_vrm\": {\"humanoid\": {\"humanBones\": {\"hips\": {\"node\": 1}, \"head\": {\"node\": 2}, \"neck\": "
        "{\"node\": 9}, \"jaw\": 7}}}",
        "\"VRM\": {\"humanoid\": {\"humanBones\": [{\"bone\": \"hips\", \"node\": 1}, {\"bone\": \"head\", "
        "\"node\": 2}, {\"bone\": \"neck\", \"node\": -1}, {\"bone\": \"jaw\"}]}}",
    };
    for (int k = 0; k < 2; ++k) {
        char text[1000];
        snprintf(text, sizeof text,
                 "{\"asset\": {\"version\": \"2.0\"}, \"extensions\": {%s}, \"nodes\": [{\"name\": \"root\", "
                 "\"children\": [1]}, {\"name\": \"hips\", \"children\": [2, 3]}, {\"name\": \"head\"}, {\"name\": "
                 "\"hat\"}]}",
                 bones[k]);
        poise_file *file = read_or_fail(text);
        for (int i = 0; i < 4; ++i) {
            poise_joint_info joint = poise_model_joint_info(file->model, i);
            bool is_bone = strcmp(joint.body, "hips") == 0 || strcmp(joint.body, "head") == 0;
            ck_assert_int_eq(joint.type, is_bone ? POISE_JOINT_BALL_QUATERNION : POISE_JOINT_FIXED);
        }
    }
}

TEST(a_skin_moves_as_a_whole_where_it_is_asked_to_float)
{
    // a prop of one joint, then a character under a node that is none: its hips carry most
    static const char text[] =
        "{\"asset\": {\"version\": \"2.0\"}, \"skins\": [{\"joints\": [0]}, {\"joints\": [2, 3]}],"
        "\"nodes\": [{\"name\": \"prop\"}, {\"name\": \"scene\", \"children\": [2]},"
        "{\"name\": \"hips\", \"children\": [3], \"translation\": [0, 1, 0]}, {\"name\": \"spine\"}]}";
    static const int types[2][4] = {
        {POISE_JOINT_BALL_QUATERNION, POISE_JOINT_FIXED, POISE_JOINT_BALL_QUATERNION, POISE_JOINT_BALL_QUATERNION},
        {POISE_JOINT_BALL_QUATERNION, POISE_JOINT_FIXED, POISE_JOINT_FREE, POISE_JOINT_BALL_QUATERNION}};
    for (int floats = 0; floats < 2; ++floats) {
        poise_read_options options = {.format = GLTF, .floating = floats != 0};
        poise_file *file = NULL;
        ck_assert_int_eq(poise_read(text, strlen(text), &options, NULL, &file, NULL), POISE_OK);
        for (int k = 0; k < 4; ++k) {
            ck_assert_int_eq(poise_model_joint_info(file->model, k).type, types[floats][k]);
        }
        gltf_check_vec3(pose_of(file->model, NULL, 2).position, 0, 1, 0, 1e-15);
        poise_file_destroy(file);
    }
}

// ---- Animations ----------------------------------------------------------------------------------------------------------

#define HALF 0.70710678118654752440

TEST(linear_keys_on_a_grid_become_the_frames_as_they_are)
{
    const float times[] = {0.5f, 0.6f, 0.8f, 1.0f}; // the finest spacing is 0.1; 0.7 and 0.9 lie between
    const float r[] = {0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 1, 0.25f, 0, 0, 1};
    char *text = gltf_text_animated(0, "rotation", "", times, 4, r, 4, 1, "");
    poise_file *file = read_or_fail(text);
    ck_assert_int_eq(file->warning_count, 0);
    ck_assert_int_eq(file->clip->frames, 6);
    ck_assert_double_eq_tol(file->clip->frame_time, 0.1, 1e-8);
    ck_assert(file->clip->start_time == 0.5);
    const double *q = file->clip->q;
    ck_assert(q[0] == 0 && q[3] == 1 && q[4 + 2] == 1 && q[4 + 3] == 0); // the keys with their bits
    ck_assert(q[20] == 0.25 && q[23] == 1);                              // not made unit, either
    ck_assert_double_eq_tol(fabs(q[8 + 2]), HALF, 1e-6);                 // half of half a turn; times are floats
}

TEST(between_linear_keys_a_rotation_goes_the_shorter_way_at_constant_speed)
{
    const float times[] = {0, 3, 4}; // frames every second: 1 and 2 lie between the first two keys
    const float r[] = {0, 0, 0, 1, 0, 0, -(float)HALF, -(float)HALF, 0, 0, 0, 1}; // a quarter about z, as its negative
    char *text = gltf_text_animated(0, "rotation", "", times, 3, r, 4, 1, "");
    poise_file *file = read_or_fail(text);
    ck_assert_int_eq(file->clip->frames, 5);
    const double *q = file->clip->q;
    ck_assert_double_eq_tol(q[4 + 2] / q[4 + 3], tan(acos(-1.0) / 12), 1e-7); // half of 30 degrees; keys are floats
    ck_assert_double_eq_tol(q[8 + 2] / q[8 + 3], tan(acos(-1.0) / 6), 1e-7);
}

TEST(animated_joints_get_the_freedom_they_need_and_constant_channels_none)
{
    const float times[] = {0, 1};
    const float still[] = {0, 2, 0, 0, 2, 0}, moving[] = {0, 2, 0, 3, 2, 1}, turn[] = {0, 0, 0, 1, 0, 0, 1, 0};
    char *text = gltf_text_animated(1, "translation", "", times, 2, still, 3, 1, "");
    poise_file *file = read_or_fail(text);
    ck_assert_int_eq(poise_model_joint_info(file->model, 0).type, POISE_JOINT_BALL_QUATERNION); // of the skin
    ck_assert_int_eq(poise_model_joint_info(file->model, 1).type, POISE_JOINT_FIXED);
    ck_assert(!file->clip);

    text = gltf_text_animated(1, "translation", "", times, 2, moving, 3, 1, "");
    file = read_or_fail(text);
    ck_assert_int_eq(poise_model_joint_info(file->model, 1).type, POISE_JOINT_TRANSLATION);
    const double *q = file->clip->q + 7;
    ck_assert(q[4] == 3 && q[5] == 0 && q[6] == 1); // from rest, along the parent's axes
    poise_pose pose = pose_of(file->model, q, 1);
    gltf_check_vec3(pose.position, 3, 2, 1, 1e-15);
    ck_assert_double_lt(gltf_angle(pose.rotation, (poise_quat){HALF, 0, 0, HALF}), 1e-15);

    text = gltf_text_animated(0, "translation", "", times, 2, moving, 3, 1, "");
    file = read_or_fail(text);
    ck_assert_int_eq(poise_model_joint_info(file->model, 0).type, POISE_JOINT_FREE);
    gltf_check_vec3(pose_of(file->model, file->clip->q, 0).position, 0, 2, 0, 0);

    text = gltf_text_animated(1, "rotation", "", times, 2, turn, 4, 1, "");
    file = read_or_fail(text);
    ck_assert_int_eq(poise_model_joint_info(file->model, 1).type, POISE_JOINT_BALL_QUATERNION);
    pose = pose_of(file->model, file->clip->q + 8, 1);
    ck_assert_double_lt(gltf_angle(pose.rotation, (poise_quat){0, 0, 1, 0}), 1e-15); // instead of the rest's
}

TEST(a_scale_above_reaches_an_animated_translation)
{
    const float times[] = {0, 1}, moving[] = {0, 2, 0, 3, 2, 1};
    char *text = gltf_text_animated(1, "translation", "", times, 2, moving, 3, 1, ""), scaled[4096];
    char *at = strstr(text, "\"children\": [1]");
    snprintf(scaled, sizeof scaled, "%.*s\"scale\": [10, 10, 10], %s", (int)(at - text), text, at);
    poise_file *file = read_or_fail(scaled);
    gltf_check_vec3(pose_of(file->model, file->clip->q + file->clip->nq, 1).position, 30, 20, 10, 1e-14);
}

TEST(steps_and_cubic_curves_are_sampled_finely_with_a_warning)
{
    const float times[] = {0, 1};
    const float step[] = {0, 2, 0, 1, 2, 0};
    char *text = gltf_text_animated(1, "translation", ", \"interpolation\": \"STEP\"", times, 2, step, 3, 1, "");
    poise_file *file = read_or_fail(text);
    ck_assert_int_eq(file->clip->frames, 61);
    ck_assert_int_eq(file->warning_count, 1);
    ck_assert(file->clip->q[59 * 7 + 4] == 0 && file->clip->q[60 * 7 + 4] == 1);

    // in, value, out at each key: x from 0 to 1 with slopes 4 and -2
    const float cubic[] = {0, 0, 0, 0, 2, 0, 4, 0, 0, -2, 0, 0, 1, 2, 0, 0, 0, 0};
    text = gltf_text_animated(1, "translation", ", \"interpolation\": \"CUBICSPLINE\"", times, 2, cubic, 3, 3, "");
    file = read_or_fail(text);
    ck_assert_int_eq(file->clip->frames, 61);
    for (int f = 0; f <= 60; ++f) {
        double t = f / 60.0; // Hermite by hand
        double x = 4 * (t * t * t - 2 * t * t + t) + (3 * t * t - 2 * t * t * t) - 2 * (t * t * t - t * t);
        ck_assert_double_eq_tol(file->clip->q[f * 7 + 4], x, 1e-14);
    }

    const float odd[] = {0, 0.3f, 1.0f, 1.234567f};
    const float r[] = {0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0};
    text = gltf_text_animated(0, "rotation", "", odd, 4, r, 4, 1, "");
    file = read_or_fail(text);
    ck_assert_int_eq(file->clip->frames, 76); // 1.234567 s at 60 Hz, the last one held
    ck_assert(strstr(file->warnings[0].text, "sampled every 0.0166667 s"));
    ck_assert(file->clip->q[75 * 4] == 1);
}

// Two nodes that turn, with keys of their own.
static poise_file *read_two_channels(const float *times_a, int a, const float *times_b, int b)
{
    float numbers[64] = {0};
    int total = 5 * (a + b);
    memcpy(numbers, times_a, (size_t)a * sizeof *numbers);
    memcpy(numbers + a, times_b, (size_t)b * sizeof *numbers);
    for (int i = 0; i < a + b; ++i) { // each another turn about z
        numbers[a + b + 4 * i + 2] = 0.1f * (float)i;
        numbers[a + b + 4 * i + 3] = 1.0f;
    }
    char *uri = gltf_text_uri(numbers, (size_t)total * sizeof *numbers);
    static char text[8192];
    snprintf(text, sizeof text,
             "{\"asset\": {\"version\": \"2.0\"}, \"nodes\": [{}, {}], \"animations\": [{"
             "\"samplers\": [{\"input\": 0, \"output\": 1}, {\"input\": 2, \"output\": 3}], \"channels\": ["
             "{\"sampler\": 0, \"target\": {\"node\": 0, \"path\": \"rotation\"}},"
             "{\"sampler\": 1, \"target\": {\"node\": 1, \"path\": \"rotation\"}}]}], \"accessors\": ["
             "{\"count\": %d, \"type\": \"SCALAR\", \"componentType\": 5126, \"bufferView\": 0},"
             "{\"count\": %d, \"type\": \"VEC4\", \"componentType\": 5126, \"bufferView\": 0, \"byteOffset\": %d},"
             "{\"count\": %d, \"type\": \"SCALAR\", \"componentType\": 5126, \"bufferView\": 0, \"byteOffset\": %d},"
             "{\"count\": %d, \"type\": \"VEC4\", \"componentType\": 5126, \"bufferView\": 0, \"byteOffset\": %d}],"
             "\"bufferViews\": [{\"buffer\": 0, \"byteLength\": %d}],"
             "\"buffers\": [{\"byteLength\": %d, \"uri\": \"%s\"}]}",
             a, a, 4 * (a + b), b, 4 * a, b, 4 * (a + b) + 16 * a, 4 * total, 4 * total, uri);
    free(uri);
    return read_or_fail(text);
}

// The grid keeps every key: also one that lies at a half of the finest spacing, and one that stands alone in its channel.
TEST(keys_of_several_channels_lie_on_one_grid)
{
    static const float every_2[] = {0, 2, 4, 6}, every_3[] = {0, 3, 6}, ends[] = {0, 10}, alone[] = {1};
    poise_file *file = read_two_channels(every_2, 4, every_3, 3);
    ck_assert_int_eq(file->clip->frames, 7);
    ck_assert(file->clip->frame_time == 1 && file->warning_count == 0);
    file = read_two_channels(ends, 2, alone, 1);
    ck_assert_int_eq(file->clip->frames, 11);
    ck_assert(file->clip->frame_time == 1 && file->warning_count == 0);
}

TEST(one_of_several_animations_is_chosen)
{
    const float times[] = {0, 1}, r[] = {0, 0, 0, 1, 0, 0, 1, 0};
    char *text = gltf_text_animated(0, "rotation", "", times, 2, r, 4, 1, "");
    char *brace = strstr(text, "\"animations\": [");
    char more[8192];
    snprintf(more, sizeof more, "%.*s\"animations\": [{\"name\": \"still\", \"channels\": [], \"samplers\": []}, %s",
             (int)(brace - text), text, brace + strlen("\"animations\": ["));
    poise_read_options options = {0};
    options.format = GLTF;
    poise_file *file = NULL;
    poise_error error = {.text = ""};
    for (options.animation = 0; options.animation < 2; ++options.animation) {
        ck_assert_int_eq(poise_read(more, strlen(more), &options, NULL, &file, &error), POISE_OK);
        ck_assert_int_eq(file->clip != NULL, options.animation == 1);
        ck_assert_int_eq(poise_model_info(file->model).nq, 4); // the model does not depend on it
        poise_file_destroy(file);
    }
    ck_assert_int_eq(poise_read(more, strlen(more), &options, NULL, &file, &error), POISE_ERROR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.text, "no animation 2; there are 2: 0 \"still\""));
    options.animation_name = "still"; // goes before the number
    ck_assert_int_eq(poise_read(more, strlen(more), &options, NULL, &file, &error), POISE_OK);
    ck_assert_ptr_null(file->clip);
    ck_assert_int_eq(file->warning_count, 0); // it was asked for by name
    poise_file_destroy(file);
    options.animation_name = "run";
    ck_assert_int_eq(poise_read(more, strlen(more), &options, NULL, &file, &error), POISE_ERROR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.text, "called \"run\"; there are 2: 0 \"still\""));
}

// ---- Accessors -----------------------------------------------------------------------------------------------------------

// Two keys of node 0's rotation behind an accessor of this kind.
static poise_file *read_packed(const void *bytes, size_t size, const char *accessor, const char *views)
{
    char *uri = gltf_text_uri(bytes, size);
    static char text[8192];
    snprintf(
        text, sizeof text,
        "{\"asset\": {\"version\": \"2.0\"}, \"nodes\": [{}], \"animations\": [{\"samplers\": [{\"input\": 0, \"output\": "
        "1}],"
        "\"channels\": [{\"sampler\": 0, \"target\": {\"node\": 0, \"path\": \"rotation\"}}]}],"
        "\"accessors\": [{\"count\": 2, \"type\": \"SCALAR\", \"componentType\": 5126, \"sparse\": {\"count\": 1,"
        "\"indices\": {\"bufferView\": 0, \"componentType\": 5121}, \"values\": {\"bufferView\": 0, \"byteOffset\": 4}}},"
        "{\"count\": 2, \"type\": \"VEC4\", %s}],\n\"bufferViews\": [{\"buffer\": 0, \"byteLength\": 8}, %s],"
        "\"buffers\": [{\"byteLength\": %zu, \"uri\": \"%s\"}]}",
        accessor, views, size, uri);
    free(uri);
    return read_or_fail(text);
}

TEST(accessors_of_every_component_type_with_strides_and_sparse_parts)
{
    // times: zeros, but element 1 is 1.0f
    unsigned char b[64] = {1, 0, 0, 0, 0, 0, 0x80, 0x3F};
    const signed char bytes[] = {0, 0, 0, 127, -128, 0, 0, 0};
    memcpy(b + 8, bytes, sizeof bytes);
    poise_file *file = read_packed(b, 16, "\"bufferView\": 1, \"componentType\": 5120, \"normalized\": true",
                                   "{\"buffer\": 0, \"byteOffset\": 8, \"byteLength\": 8}");
    ck_assert_int_eq(file->clip->frames, 2);
    ck_assert(file->clip->frame_time == 1 && file->clip->q[3] == 1 && file->clip->q[4] == -1); // -128 is -1, too

    const unsigned char unsigned_bytes[] = {0, 0, 0, 255, 51, 0, 0, 204};
    memcpy(b + 8, unsigned_bytes, sizeof unsigned_bytes);
    file = read_packed(b, 16, "\"bufferView\": 1, \"componentType\": 5121, \"normalized\": true",
                       "{\"buffer\": 0, \"byteOffset\": 8, \"byteLength\": 8}");
    ck_assert(file->clip->q[3] == 1 && file->clip->q[4] == 51 / 255.0);

    const short shorts[] = {0, 0, 0, 32767, 77, -16384, 0, 0, 16384}; // a gap of one short: byteStride 10
    memcpy(b + 8, shorts, sizeof shorts);
    file = read_packed(b, 26, "\"bufferView\": 1, \"componentType\": 5122, \"normalized\": true",
                       "{\"buffer\": 0, \"byteOffset\": 8, \"byteLength\": 18, \"byteStride\": 10}");
    ck_assert(file->clip->q[3] == 1 && file->clip->q[4] == -16384 / 32767.0 && file->clip->q[7] == 16384 / 32767.0);

    const unsigned short unsigned_shorts[] = {9, 0, 0, 0, 65535, 13107, 0, 0, 0}; // from the second short on
    memcpy(b + 8, unsigned_shorts, sizeof unsigned_shorts);
    file = read_packed(b, 26, "\"bufferView\": 1, \"byteOffset\": 2, \"componentType\": 5123, \"normalized\": true",
                       "{\"buffer\": 0, \"byteOffset\": 8, \"byteLength\": 18}");
    ck_assert(file->clip->q[3] == 1 && file->clip->q[4] == 13107 / 65535.0);

    // base values from view 1, key 0 replaced from view 2
    const float base[] = {0, 0, 0, 0, 0, 0, 0, 1}, other[] = {0.5f, 0.5f, 0.5f, 0.5f};
    unsigned char c[72];
    memcpy(c, b, 8);
    memcpy(c + 8, base, 32);
    memset(c + 40, 0, 4);
    memcpy(c + 44, other, 16);
    file = read_packed(
        c, 60,
        "\"bufferView\": 1, \"componentType\": 5126, \"sparse\": {\"count\": 1, \"indices\": {\"bufferView\": 2,"
        "\"componentType\": 5125}, \"values\": {\"bufferView\": 3}}",
        "{\"buffer\": 0, \"byteOffset\": 8, \"byteLength\": 32}, {\"buffer\": 0, \"byteOffset\": 40, \"byteLength\": 4},"
        "{\"buffer\": 0, \"byteOffset\": 44, \"byteLength\": 16}");
    ck_assert(file->clip->q[0] == 0.5 && file->clip->q[3] == 0.5 && file->clip->q[7] == 1);
}

typedef struct other_file {
    const void *bytes;
    size_t size;
    char name[64]; // of the last request
} other_file;

static poise_status hand_in(void *user, const char *name, const void **bytes, size_t *size)
{
    other_file *file = user;
    snprintf(file->name, sizeof file->name, "%s", name);
    *bytes = file->bytes;
    *size = file->size;
    return file->bytes ? POISE_OK : POISE_ERROR_NOT_FOUND;
}

TEST(buffers_in_other_files_come_from_the_caller)
{
    const char *text = "{\"asset\": {\"version\": \"2.0\"}, \"nodes\": [{}], \"animations\": [{\"samplers\": [{\"input\": "
                       "0, \"output\": 1}],"
                       "\"channels\": [{\"sampler\": 0, \"target\": {\"node\": 0, \"path\": \"rotation\"}}]}],"
                       "\"accessors\": [{\"count\": 2, \"type\": \"SCALAR\", \"componentType\": 5126, \"bufferView\": 0},"
                       "{\"count\": 2, \"type\": \"VEC4\", \"componentType\": 5126, \"bufferView\": 0, \"byteOffset\": 8}],"
                       "\"bufferViews\": [{\"buffer\": 0, \"byteLength\": 40}],\n\"buffers\": [{\"byteLength\": 40, "
                       "\"uri\": \"my%20file.bin\"}]}";
    const float numbers[] = {0, 1, 0, 0, 0, 1, 1, 0, 0, 0};
    other_file other = {.bytes = numbers, .size = sizeof numbers};
    poise_read_options options = {0};
    options.format = GLTF;
    options.load = hand_in;
    options.user = &other;
    poise_file *file = NULL;
    poise_error error = {.text = ""};
    ck_assert_int_eq(poise_read(text, strlen(text), &options, NULL, &file, &error), POISE_OK);
    ck_assert_str_eq(other.name, "my file.bin");
    io_own(file);
    ck_assert(file->clip->q[4] == 1);

    other.size = 39;
    ck_assert_int_eq(poise_read(text, strlen(text), &options, NULL, &file, &error), POISE_ERROR_FORMAT);
    ck_assert(strstr(error.text, "bytes 0 to 40 of a buffer of 39 bytes"));
    other.bytes = NULL;
    ck_assert_int_eq(poise_read(text, strlen(text), &options, NULL, &file, &error), POISE_ERROR_NOT_FOUND);
    ck_assert(strstr(error.text, "buffers[0].uri: cannot load the file \"my file.bin\""));
    ck_assert_int_eq(error.line, 2);

    // nobody hands it in: the skeleton is read, the clip is not
    file = read_or_fail(text);
    ck_assert(file->model && !file->clip && file->warning_count == 1);
    ck_assert_int_eq(poise_model_joint_info(file->model, 0).type, POISE_JOINT_BALL_QUATERNION);
}

// ---- Mistakes ------------------------------------------------------------------------------------------------------------

#define ACCESSOR(channel, accessor)                                                                                         \
    "{\"asset\": {\"version\": \"2.0\"}, \"nodes\": [{}], \"animations\": [{\"samplers\": [{\"input\": 0, \"output\": "     \
    "1}],\n"                                                                                                                \
    "\"channels\": [" channel "]}],\n\"accessors\": [" accessor "],\n"                                                      \
    "\"bufferViews\": [{\"buffer\": 0, \"byteLength\": 8}, {\"buffer\": 0, \"byteLength\": 99}, {\"buffer\": 1, "           \
    "\"byteLength\": 1},\n"                                                                                                 \
    "{\"buffer\": 2, \"byteLength\": 1}, {\"buffer\": 3, \"byteLength\": 1}, {\"buffer\": 0, \"byteOffset\": 8, "           \
    "\"byteLength\": 0}],\n"                                                                                                \
    "\"buffers\": [{\"byteLength\": 8, \"uri\": \"data:;base64,AAAAAAAAgD8=\"}, {},\n"                                      \
    "{\"uri\": \"data:;base64,A*==\"}, {\"uri\": \"data:text/plain,abc\"}]}"
#define TURNS          "{\"sampler\": 0, \"target\": {\"node\": 0, \"path\": \"rotation\"}}"
#define TIMES          "{\"count\": 2, \"type\": \"SCALAR\", \"componentType\": 5126, \"bufferView\": 0}"
#define ZEROS          ", {\"count\": 2, \"type\": \"VEC4\", \"componentType\": 5126}"
#define ONLY(accessor) ACCESSOR(TURNS, accessor)

static const io_case mistakes[] = {
    {"{\n", 2, "not JSON"},
    {"[]", 1, "an array instead of an object"},
    {"{}", 1, "asset: missing"},
    {"{\"asset\": {}}", 1, "asset.version: missing"},
    {"{\"asset\": {\"version\": \"1.0\"}}", 1, "asset: version 1.0; only glTF 2.0"},
    {"{\"asset\": {\"version\": \"2.0\"},\n\"scene\": 3}", 2, "scene: there is no scenes[3]; the file has 0"},
    {"{\"asset\": {\"version\": \"2.0\"},\n\"nodes\": {}}", 2, "nodes: an object instead of an array"},
    {NODES("3"), 2, "nodes[0]: a number"},
    {NODES("{\"name\": 3}"), 2, "nodes[0].name: a number instead of a text"},
    {NODES("{\"rotation\": [0, 0, 0]}"), 2, "nodes[0].rotation: 3 values instead of 4"},
    {NODES("{},\n{\"rotation\": [0, 0, 0, 0]}"), 3, "nodes[1].rotation: a zero quaternion"},
    {NODES("{\"translation\": [0, \"x\", 0]}"), 2, "nodes[0].translation[1]: a text instead of a number"},
    {NODES("{\"translation\": [0, 1e200, 0]}"), 2, "nodes[0]: joint \"node.0\""},
    {NODES("{\"matrix\": [0]}"), 2, "nodes[0].matrix: 1 values instead of 16"},
    {NODES("{\"children\": [7]}"), 2, "nodes[0].children[0]: there is no nodes[7]"},
    {NODES("{\"children\": [0]}"), 2, "already has a parent"},
    {NODES("{\"children\": [1]},\n{\"children\": [0]}"), 2, "its own ancestor"},
    {NODES("{\"children\": [2]}, {\"children\":\n[2]}, {}"), 3, "nodes[2] already has a parent, nodes[0]"},
    {"{\"asset\": {\"version\": \"2.0\"}, \"nodes\": [{}],\n\"skins\": [{\"joints\": [1]}]}", 2,
     "skins[0].joints[0]: there is no"},
    {ACCESSOR("3", TIMES), 2, "animations[0].channels[0]: a number"},
    {ACCESSOR("{}", TIMES), 2, "channels[0].target: missing"},
    {ACCESSOR("{\"target\": {\"node\": 0}}", TIMES), 2, "target.path: missing"},
    {ACCESSOR("{\"target\": {\"node\": 9, \"path\": \"rotation\"}}", TIMES), 2, "target.node: there is no nodes[9]"},
    {ACCESSOR("{\"target\": {\"node\": 0, \"path\": \"rotation\"}}", TIMES), 2, "channels[0].sampler: missing"},
    {ACCESSOR("{\"sampler\": 1, \"target\": {\"node\": 0, \"path\": \"rotation\"}}", TIMES), 2, "there is no samplers[1]"},
    {ONLY(""), 1, "samplers[0].input: there is no accessors[0]"},
    {ONLY("{}"), 3, "accessors[0].type: missing"},
    {ONLY("{\"type\": \"VEC9\", \"count\": 1, \"componentType\": 5126}"), 3,
     "accessors[0].type: VEC9 is not an element type"},
    {ONLY("{\"type\": \"VEC3\", \"count\": 1, \"componentType\": 1}"), 3, "componentType: 1 is not a component type"},
    {ONLY("{\"type\": \"VEC3\", \"count\": 1, \"componentType\": 5126}"), 3, "accessors[0]: 3 numbers per element"},
    {ONLY("{\"type\": \"SCALAR\", \"count\": -1, \"componentType\": 5126}"), 3, "accessors[0].count: -1"},
    {ONLY("{\"type\": \"SCALAR\", \"count\": 2000000000, \"componentType\": 5126}"), 3, "asks for 2e+09 numbers"},
    {ONLY("{\"type\": \"SCALAR\", \"count\": 2000000, \"componentType\": 5126}"), 3, "asks for 2e+06 numbers"},
    {ONLY("{\"type\": \"SCALAR\", \"count\": 1, \"componentType\": 5126, \"bufferView\": 9}"), 3,
     "there is no bufferViews[9]"},
    {ONLY("{\"type\": \"SCALAR\", \"count\": 3, \"componentType\": 5126, \"bufferView\": 0}"), 3,
     "3 elements end at byte 12 of a view that has 8"},
    {ONLY("{\"type\": \"SCALAR\", \"count\": 1, \"componentType\": 5126, \"bufferView\": 5}"), 3,
     "1 elements end at byte 4 of a view that has 0"},
    {ONLY("{\"type\": \"SCALAR\", \"count\": 1, \"componentType\": 5126, \"bufferView\": 1}"), 4,
     "bufferViews[1]: bytes 0 to 99 of a buffer of 8 bytes"},
    {ONLY("{\"type\": \"SCALAR\", \"count\": 1, \"componentType\": 5120, \"bufferView\": 2}"), 6, "buffers[1]: no data"},
    {ONLY("{\"type\": \"SCALAR\", \"count\": 1, \"componentType\": 5120, \"bufferView\": 3}"), 7,
     "buffers[2].uri: character 2 of the data is not base64"},
    {ONLY("{\"type\": \"SCALAR\", \"count\": 1, \"componentType\": 5120, \"bufferView\": 4}"), 7, "data that is not base64"},
    {ONLY("{\"type\": \"SCALAR\", \"count\": 1, \"componentType\": 5126, \"sparse\": {\"count\": 1,"
          "\"indices\": {\"bufferView\": 0, \"componentType\": 5121, \"byteOffset\": 6},\"values\": {\"bufferView\": "
          "0}}}"),
     3, "sparse.indices: there is no element 128 to replace; there are 1"},
    {ONLY(TIMES ZEROS), 1, "samplers[0]: key 0 is a zero quaternion"},
    {ONLY(TIMES ", {\"count\": 3, \"type\": \"VEC4\", \"componentType\": 5126}"), 1, "2 times need 2 values; there are 3"},
    {ONLY("{\"count\": 0, \"type\": \"SCALAR\", \"componentType\": 5126},"
          "{\"count\": 0, \"type\": \"VEC4\", \"componentType\": 5126}"),
     1, "there are no keys"},
};

TEST_ROWS(every_mistake_has_its_line_its_place_and_a_fix, TEST_COUNT(mistakes))
{
    io_case_refused(&mistakes[test_row], GLTF, NULL);
}

TEST(every_mistake_in_the_numbers_has_its_place)
{
    const float times[] = {0, 1}, r[] = {0, 0, 0, 1, 0, 0, 0, NAN},
                opposite[] = {0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, 0, 0, 0, 0};
    char *text = gltf_text_animated(0, "rotation", "", times, 2, r, 4, 1, "");
    io_refused_text(text, GLTF, NULL, 8, "accessors[1]: element 1 is not finite");
    text = gltf_text_animated(0, "rotation", ", \"interpolation\": \"CUBICSPLINE\"", times, 2, opposite, 4, 3, "");
    io_refused_text(text, GLTF, NULL, 5, "passes through a zero quaternion");
    text = gltf_text_animated(0, "rotation", ", \"interpolation\": \"SLERP\"", times, 2, r, 4, 1, "");
    io_refused_text(text, GLTF, NULL, 6, "SLERP is not LINEAR, STEP or CUBICSPLINE");
    const float far_apart[] = {0, 0.1f, 3e7f}, three[] = {0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 1};
    text = gltf_text_animated(0, "rotation", "", far_apart, 3, three, 4, 1, "");
    io_refused_text(text, GLTF, NULL, 5, "resample the animation");
    const float back[] = {0, 0.25f, 0.125f}, same[] = {0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 1};
    text = gltf_text_animated(0, "rotation", "", back, 3, same, 4, 1, "");
    io_refused_text(text, GLTF, NULL, 6, "key 2 comes 0.125 s before the one in front of it, at 0.25 s");
}

// Exporters write two keys at one time, up to rounding, where something jumps.
TEST(of_keys_at_the_same_time_the_later_one_counts)
{
    const float times[] = {0, 0.5f, 0.5f, 1}, rounded[] = {0, 0.5f, 0.49999997f, 1};
    const float x[] = {0, 0, 0, 1, 0, 0, 5, 0, 0, 6, 0, 0};
    const float *const both[] = {times, rounded};
    for (int i = 0; i < 2; ++i) {
        char *text = gltf_text_animated(0, "translation", "", both[i], 4, x, 3, 1, "");
        io_warned_text(text, GLTF, 5, "1 key has the time of the one before, such as key 2 at 0.5 s; the later one counts");
        poise_file *file = read_or_fail(text);
        ck_assert_int_eq(file->clip->frames, 3);
        ck_assert_double_eq_tol(file->clip->frame_time, 0.5, 1e-6);
        for (int f = 0; f < 3; ++f) {
            ck_assert_double_eq_tol(file->clip->q[f * file->clip->nq] - file->clip->q[0], f == 0 ? 0 : 4 + f, 1e-6);
        }
    }
}

// Finding a line takes time, which a file of oddities must not multiply.
TEST(the_first_64_warnings_have_their_line)
{
    char text[6000] = "{\"asset\": {\"version\": \"2.0\"}, \"nodes\": [\n";
    for (int i = 0; i < 100; ++i) {
        strcat(text, i < 99 ? "{\"rotation\": [0, 0, 0, 2]},\n" : "{\"rotation\": [0, 0, 0, 2]}]}");
    }
    poise_file *file = read_or_fail(text);
    ck_assert(io_warned(file, 65, "nodes[63].rotation") && !io_warned(file, 66, "") && io_warned(file, 0, "nodes[99]"));
}

TEST(odd_things_are_warned_of_in_their_line)
{
    io_warned_text(NODES("{\"matrix\": [1, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]}"), GLTF, 2, "shears");
    io_warned_text(NODES("{\n\"rotation\": [0, 0, 0, 2]}"), GLTF, 3, "nodes[0].rotation: a quaternion of length 2");
    io_warned_text("{\"asset\": {\"version\": \"2.0\"},\n\"extensionsRequired\": [\"KHR_x\"]}", GLTF, 2,
                   "KHR_x is not supported");
    const float times[] = {0, 1}, s[] = {1, 1, 1, 2, 1, 1}, r[] = {0, 0, 0, 1, 0, 0, 1, 0};
    char *text = gltf_text_animated(0, "scale", "", times, 2, s, 3, 1, "");
    io_warned_text(text, GLTF, 5, "animations[0].channels[0]: an animated scale");
    text = gltf_text_animated(0, "rotation", "", times, 2, r, 4, 1, "");
    char twice[4096];
    char *comma = strstr(text, "}}],\n");
    snprintf(twice, sizeof twice, "%.*s}},\n{\"sampler\": 0, \"target\": {\"node\": 0, \"path\": \"rotation\"}}],\n%s",
             (int)(comma - text), text, comma + 5);
    io_warned_text(twice, GLTF, 6, "another channel animates the same property");
}

// ---- Io gltf write ------------------------------------------------------------------------------------------------------
//
// glTF that Poise writes reads back to the same motion; and glTF that is cut short, or read where memory runs out.

// ---- Writing -------------------------------------------------------------------------------------------------------------

static poise_file *write_and_read(const poise_file *file, poise_format format)
{
    io_bytes bytes = io_write(file, format, -1);
    ck_assert_int_eq(poise_format_detect(bytes.bytes, bytes.size, NULL), format);
    return io_read(bytes.bytes, bytes.size, format, NULL);
}

// Every body, by name, at every frame: positions to single precision, and the unit and the upward axis changed.
static void check_same_motion(const poise_file *a, const poise_file *b, double metres, poise_up up, double size)
{
    ck_assert_int_eq(a->clip->frames, b->clip->frames);
    poise_kinematics *ka = NULL, *kb = NULL;
    poise_kinematics_create(a->model, NULL, &ka, NULL);
    poise_kinematics_create(b->model, NULL, &kb, NULL);
    for (int f = 0; f < a->clip->frames; ++f) {
        ck_assert_int_eq(poise_kinematics_update(ka, a->clip->q + f * a->clip->nq, NULL), POISE_OK);
        ck_assert_int_eq(poise_kinematics_update(kb, b->clip->q + f * b->clip->nq, NULL), POISE_OK);
        for (int k = 0; k < poise_model_info(a->model).joints; ++k) {
            int other = poise_model_find_body(b->model, poise_model_joint_info(a->model, k).body);
            poise_pose pa = poise_kinematics_body_pose(ka, k), pb = poise_kinematics_body_pose(kb, other);
            poise_vec3 p = pa.position;
            p = up == POISE_UP_Z ? poise_vec3_make(p.y, p.z, p.x) : p;
            gltf_check_vec3(pb.position, metres * p.x, metres * p.y, metres * p.z, 1e-6 * size);
            poise_quat turned =
                up == POISE_UP_Z ? poise_quat_multiply((poise_quat){-0.5, -0.5, -0.5, 0.5}, pa.rotation) : pa.rotation;
            ck_assert_double_lt(gltf_angle(turned, pb.rotation), 1e-5); // 6e-8 for each of up to 30 joints, and slack
        }
    }
    poise_kinematics_destroy(ka);
    poise_kinematics_destroy(kb);
}

TEST(joints_of_every_type_move_the_same_after_writing_and_reading)
{
    scene_random random = scene_random_make(7);
    for (int round = 0; round < 20; ++round) {
        poise_model *model = random_model(&random, 30, RANDOM_MIMICS | RANDOM_FOREST | RANDOM_CURVES);
        int nq = poise_model_info(model).nq;
        poise_clip *clip = NULL;
        ck_assert_int_eq(poise_clip_create(4, nq, 1.0 / 120, NULL, &clip, NULL), POISE_OK);
        for (int f = 0; f < 4; ++f) {
            poise_model_neutral(model, clip->q + f * nq);
        }
        for (int i = 0; i < 4 * nq; ++i) {
            clip->q[i] += scene_random_range(&random, -1, 1);
        }
        bool turned = round % 2 == 0;
        poise_file file = {
            .model = model, .clip = clip, .title = "t", .scale = {turned ? 0.01 : 1.0, turned ? POISE_UP_Z : POISE_UP_Y}};
        poise_file *again = write_and_read(&file, round % 4 < 2 ? GLTF : GLB);
        check_same_motion(&file, again, file.scale.metres, file.scale.up, turned ? 0.3 : 30); // 30 joints of about 1
        ck_assert(again->clip->frame_time == clip->frame_time && again->clip->start_time == 0);
        ck_assert_int_eq(poise_model_info(again->model).tools, poise_model_info(model).tools);
        ck_assert_str_eq(again->title, "t");
        ck_assert_int_eq(again->warning_count, 0);
        poise_clip_destroy(clip);
        poise_model_destroy(model);
    }
}

TEST(floats_of_an_animation_come_back_with_their_bits)
{
    scene_random random = scene_random_make(11);
    float times[50], r[200], t[150];
    for (int i = 0; i < 50; ++i) {
        times[i] = (float)(0.25 + i / 24.0);
        poise_quat turn = scene_random_rotation(&random);
        float four[] = {(float)turn.x, (float)turn.y, (float)turn.z, (float)turn.w};
        memcpy(r + 4 * i, four, sizeof four);
        for (int k = 0; k < 3; ++k) {
            t[3 * i + k] = (float)scene_random_range(&random, -3, 3);
        }
    }
    for (int which = 0; which < 2; ++which) {
        char *text =
            gltf_text_animated(1, which ? "rotation" : "translation", "", times, 50, which ? r : t, which ? 4 : 3, 1, "");
        poise_file *file = read_or_fail(text);
        ck_assert_int_eq(file->clip->frames, 50);
        poise_file *again = write_and_read(file, GLTF), *third = write_and_read(again, GLB);
        for (int i = 0; i < 50 * file->clip->nq; ++i) {
            ck_assert_msg(file->clip->q[i] == again->clip->q[i] && file->clip->q[i] == third->clip->q[i], "number %d", i);
        }
        ck_assert(file->clip->frame_time == third->clip->frame_time && file->clip->start_time == third->clip->start_time);
        io_same_models(again->model, third->model);
    }
}

// Half a minute at 120 frames a second: the difference of two times in single precision is off by a quarter of a thousandth.
TEST(a_long_animation_keeps_its_frames)
{
    enum { MOST = 20000 };
    static float times[MOST], t[3 * MOST];
    static const struct {
        double start, rate;
        int frames;
    } cases[] = {{0, 120, 3868}, {0, 29.97, 20000}, {12.5, 100, 10000}, {0, 240, 15000}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        for (int f = 0; f < cases[i].frames; ++f) {
            times[f] = (float)(cases[i].start + f / cases[i].rate);
            t[3 * f] = (float)(f % 7);
        }
        poise_file *file = read_or_fail(gltf_text_animated(1, "translation", "", times, cases[i].frames, t, 3, 1, ""));
        ck_assert_int_eq(file->warning_count, 0);
        ck_assert_int_eq(file->clip->frames, cases[i].frames);
        ck_assert_double_eq_tol(file->clip->frame_time * cases[i].rate, 1, 1e-6);
    }
}

// Readers allocate by it: the accessor of times says where they begin and end.
TEST(the_times_of_an_animation_have_their_bounds)
{
    const float times[] = {0.5f, 0.75f, 1}, r[] = {0, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0, 0};
    io_bytes bytes = io_write(read_or_fail(gltf_text_animated(0, "rotation", "", times, 3, r, 4, 1, "")), GLTF, -1);
    const char *low = strstr((const char *)bytes.bytes, "\"min\""), *high = strstr((const char *)bytes.bytes, "\"max\"");
    ck_assert(low && high);
    ck_assert_double_eq(strtod(low + strcspn(low, "[") + 1, NULL), 0.5);
    ck_assert_double_eq(strtod(high + strcspn(high, "[") + 1, NULL), 1.0);
}

TEST(a_skeleton_without_a_clip_keeps_its_joints_and_tools)
{
    poise_file *file =
        read_or_fail("{\"asset\": {\"version\": \"2.0\"}, \"skins\": [{\"joints\": [0, 1]}], \"nodes\": [{\"name\": \"a\","
                     "\"children\": [1, 2], \"rotation\": [0.1, 0.2, 0.3, 0.9]}, {\"name\": \"b\", \"children\": [3],"
                     "\"translation\": [0.1, 1e-20, 3]}, {\"name\": \"c\"}, {\"name\": \"b.tip\"}]}");
    poise_file *again = write_and_read(file, GLTF);
    io_same_files(file, again);
}

TEST(what_cannot_be_written_is_refused_with_a_reason)
{
    const float times[] = {0, 1}, r[] = {0, 0, 0, 1, 0, 0, 1, 0};
    char *text = gltf_text_animated(0, "rotation", "", times, 2, r, 4, 1, "");
    poise_file *file = read_or_fail(text);
    void *bytes = NULL;
    size_t size = 0;
    poise_error error = {.text = ""};
    poise_file empty = {0};
    ck_assert_int_eq(poise_write(&empty, GLB, NULL, &bytes, &size, NULL, NULL, &error), POISE_ERROR_UNSUPPORTED);
    ck_assert(strstr(error.text, "no model"));
    poise_clip clip = *file->clip;
    poise_file given = {.model = file->model, .clip = &clip};
    clip.nq = 3;
    ck_assert_int_eq(poise_write(&given, GLTF, NULL, &bytes, &size, NULL, NULL, &error), POISE_ERROR_ARGUMENT);
    ck_assert(strstr(error.text, "3 coordinates"));
    clip = *file->clip;
    double zero[8] = {0};
    clip.q = zero;
    ck_assert_int_eq(poise_write(&given, GLTF, NULL, &bytes, &size, NULL, NULL, &error), POISE_ERROR_ARGUMENT);
    ck_assert(strstr(error.text, "frame 0"));
    clip = *file->clip;
    clip.start_time = 1e9; // too late for steps of a second in single precision: moved to 0
    poise_warning warnings[4];
    int count = 4;
    ck_assert_int_eq(poise_write(&given, GLTF, NULL, &bytes, &size, warnings, &count, &error), POISE_OK);
    ck_assert_int_eq(count, 2);
    ck_assert(strstr(warnings[0].text, "unit of length") && strstr(warnings[1].text, "begins at 1e+09 s"));
    poise_bytes_release(NULL, bytes);
}

// ---- Hostile input -------------------------------------------------------------------------------------------------------

// The header says so, so that chunks and numbers are cut and not the file.
TEST(chunks_cut_at_any_byte_are_refused)
{
    const float times[] = {0, 0.5f, 1}, r[] = {0, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0, 0};
    char *text = gltf_text_animated(0, "rotation", "", times, 3, r, 4, 1, "");
    poise_file *file = read_or_fail(text);
    void *bytes = NULL;
    size_t size = 0;
    ck_assert_int_eq(poise_write(file, GLB, NULL, &bytes, &size, NULL, NULL, NULL), POISE_OK);
    unsigned char *cut = malloc(size);
    for (size_t n = 20; n < size; ++n) {
        memcpy(cut, bytes, size);
        unsigned char length[] = {(unsigned char)n, (unsigned char)(n >> 8), 0, 0};
        memcpy(cut + 8, length, sizeof length);
        poise_file *part = NULL;
        poise_read_options options = {0};
        options.format = GLB;
        ck_assert_int_ne(poise_read(cut, n, &options, NULL, &part, NULL), POISE_OK);
    }
    free(cut);
    poise_bytes_release(NULL, bytes);
}

// ---- What is carried -----------------------------------------------------------------------------------------------------

static const char character[] =
    "{\"asset\": {\"version\": \"2.0\", \"generator\": \"another\"}, \"scene\": 0, \"scenes\": [{\"nodes\": [2, 0]}],"
    "\"nodes\": [{\"name\": \"root\", \"children\": [1], \"scale\": [2, 2, 2]},"
    "{\"name\": \"arm\", \"translation\": [0, 1, 0]}, {\"name\": \"skinned\", \"mesh\": 0, \"skin\": 0}],"
    "\"skins\": [{\"joints\": [0, 1]}], \"materials\": [{\"name\": \"red\", \"doubleSided\": true}],"
    "\"meshes\": [{\"primitives\": [{\"attributes\": {\"POSITION\": 0}, \"material\": 0}]}],"
    "\"accessors\": [{\"componentType\": 5126, \"count\": 3, \"type\": \"VEC3\", \"bufferView\": 0}],"
    "\"bufferViews\": [{\"buffer\": 1, \"byteOffset\": 3, \"byteLength\": 36}],"
    "\"buffers\": [{\"byteLength\": 3, \"uri\": \"data:;base64,AAAA\"}, {\"byteLength\": 39, \"uri\": "
    "\"data:;base64,AAAAAACAPwAAAEAAAEBAAACAQAAAoEAAAMBAAADgQAAAAEEAABBB\"}], \"extras\": {\"note\": \"kept\"}}";

TEST(meshes_skins_and_materials_go_on_from_gltf_to_gltf)
{
    poise_file *file = read_or_fail(character);
    ck_assert(file->carried && file->carried->meshes == 1 && file->carried->animations == 0);
    int nq = poise_model_info(file->model).nq;
    ck_assert_int_eq(poise_clip_create(3, nq, 0.5, NULL, &file->clip, NULL), POISE_OK);
    poise_joint_info arm = poise_model_joint_info(file->model, poise_model_find_joint(file->model, "arm"));
    for (int f = 0; f < 3; ++f) {
        double *q = file->clip->q + f * nq;
        poise_model_neutral(file->model, q);
        q[arm.q] = 0.6 * f / 2;
        q[arm.q + 3] = sqrt(1 - q[arm.q] * q[arm.q]);
    }
    for (int format = GLTF; format <= GLB; ++format) {
        poise_file *again = write_and_read(file, (poise_format)format);
        ck_assert(again->carried->meshes == 1 && again->carried->animations == 1 && again->clip->frames == 3);
        ck_assert_ptr_null(strstr(again->carried->text, "animation")); // the one that was read is no other
        ck_assert_double_eq_tol(again->clip->q[2 * nq + arm.q], 0.6, 1e-7);
        gltf_check_vec3(io_place(again->model, again->clip, 0, "arm"), 0, 2, 0, 0);
        poise_file *third = write_and_read(again, (poise_format)format); // an animation of another's is left as it is
        ck_assert_mem_eq(third->clip->q, again->clip->q, (size_t)(3 * nq) * sizeof(double));
    }
    io_bytes text = io_write(file, GLTF, 0);
    const char *const kept[] = {"\"name\": \"red\", \"doubleSided\": true",
                                "\"skin\": 0",
                                "\"generator\": \"another\"",
                                "\"POSITION\": 0",
                                "\"note\": \"kept\"",
                                "\"byteOffset\": 11",
                                "\"scale\": [2, 2, 2]"};
    for (size_t i = 0; i < TEST_COUNT(kept); ++i) {
        ck_assert_msg(strstr((const char *)text.bytes, kept[i]), "no %s in %s", kept[i], (const char *)text.bytes);
    }
    io_write_warns(file, POISE_FORMAT_JSON, "left out: 1 mesh, 1 material");
}

// Animations "idle" and "walk" of one arm: turns of 1 s, a scale that stays and one that moves.
static poise_file *read_dancer(int animation)
{
    const float numbers[] = {0, 1, /* rotation */ 0, 0, 0, 1, 0, 0, 1, 0, /* scales */ 1, 2, 3, 1, 2, 3, 1, 2, 3, 2, 2, 3};
    char *uri = gltf_text_uri(numbers, sizeof numbers), *text = malloc(8192);
    static const char curve[] =
        "\"channels\": [{\"sampler\": 0, \"target\": {\"node\": 0, \"path\": \"rotation\"}}, {\"sampler\": 1, \"target\": "
        "{\"node\": 0, \"path\": \"scale\"}}], \"samplers\": [{\"input\": 0, \"output\": 1}, {\"input\": 0, \"output\": ";
    snprintf(text, 8192,
             "{\"asset\": {\"version\": \"2.0\"}, \"nodes\": [{\"name\": \"arm\", \"scale\": [1, 2, 3]}], \"skins\": "
             "[{\"joints\": [0]}],"
             "\"animations\": [{\"name\": \"idle\", %s2}]}, {\"name\": \"walk\", %s3}]}], \"accessors\": ["
             "{\"componentType\": 5126, \"count\": 2, \"type\": \"SCALAR\", \"bufferView\": 0},"
             "{\"componentType\": 5126, \"count\": 2, \"type\": \"VEC4\", \"bufferView\": 0, \"byteOffset\": 8},"
             "{\"componentType\": 5126, \"count\": 2, \"type\": \"VEC3\", \"bufferView\": 0, \"byteOffset\": 40},"
             "{\"componentType\": 5126, \"count\": 2, \"type\": \"VEC3\", \"bufferView\": 0, \"byteOffset\": 64}],"
             "\"bufferViews\": [{\"buffer\": 0, \"byteLength\": 88}], \"buffers\": [{\"byteLength\": 88, \"uri\": \"%s\"}]}",
             curve, curve, uri);
    poise_read_options options = {.format = GLTF, .animation = animation};
    poise_file *file = io_read_with(text, &options);
    free(uri);
    free(text);
    return file;
}

static int times_in(const char *text, const char *part)
{
    int count = 0;
    for (const char *at = strstr(text, part); at; at = strstr(at + 1, part)) {
        ++count;
    }
    return count;
}

TEST(another_motion_comes_before_the_animations_of_the_file)
{
    poise_file *file = read_dancer(0);
    ck_assert_str_eq(file->carried->animation_name[1], "walk");
    file->clip->q[0] = 0.6; // of another motion
    file->clip->q[3] = 0.8;
    file->clip->frame_time = 3;
    file->motion = "dance";
    for (int format = GLTF; format <= GLB; ++format) {
        poise_file *again = write_and_read(file, (poise_format)format);
        ck_assert_int_eq(again->carried->animations, 3);
        ck_assert_str_eq(again->carried->animation_name[0], "dance");
        ck_assert_str_eq(again->carried->animation_name[1], "idle");
        ck_assert_str_eq(again->carried->animation_name[2], "walk");
        ck_assert_double_eq_tol(again->clip->q[0], 0.6, 1e-7); // the first, without being asked for
        ck_assert_double_eq(again->clip->frame_time, 3);
    }
    ck_assert_int_eq(times_in((const char *)io_write(file, GLTF, 0).bytes, "\"path\": \"scale\""),
                     2); // idle and walk have theirs
    file->motion = "walk";
    ck_assert_str_eq(write_and_read(file, GLB)->carried->animation_name[0], "walk.2");
}

TEST(an_edited_animation_keeps_its_name_and_no_channel_outlives_it)
{
    for (int animation = 0; animation < 2; ++animation) {
        poise_file *file = read_dancer(animation);
        file->clip->q[0] = 0.6;
        file->clip->q[3] = 0.8;
        ck_assert_int_eq(times_in((const char *)io_write(file, GLTF, 0).bytes, "\"path\": \"scale\""),
                         2); // the times are the same
        file->clip->frame_time = 0.25;
        io_bytes text = io_write(file, GLTF, animation); // the one that moves is warned of
        ck_assert_int_eq(times_in((const char *)text.bytes, "\"path\": \"scale\""), 1);
        poise_read_options options = {.format = GLTF, .animation = animation};
        poise_file *again = io_read_with((const char *)text.bytes, &options);
        ck_assert_int_eq(again->carried->animations, 2);
        ck_assert_str_eq(again->carried->animation_name[animation], animation == 0 ? "idle" : "walk");
        ck_assert_double_eq_tol(again->clip->q[0], 0.6, 1e-7);
    }
    poise_file *file = read_dancer(1);
    file->clip->frame_time = 0.25;
    io_write_warns(file, GLB, "left out: 1 channel of scales or weights of the animation \"walk\"");
}

TEST(a_longer_bone_keeps_its_mesh_and_another_skeleton_does_not)
{
    poise_file *file = read_or_fail(character);
    double factor[3] = {1, 1, 1};
    factor[poise_model_find_joint(file->model, "arm")] = 1.5;
    poise_model *longer, *other = file->model;
    ck_assert_int_eq(poise_model_rescale(other, factor, NULL, &longer, NULL), POISE_OK);
    file->model = longer;
    poise_file *again = write_and_read(file, GLTF);
    ck_assert_int_eq(again->carried->meshes, 1);
    gltf_check_vec3(poise_model_joint_info(again->model, poise_model_find_joint(again->model, "arm")).given->offset.position,
                    0, 3, 0, 1e-12);
    poise_file *stranger = read_or_fail("{\"asset\": {\"version\": \"2.0\"}, \"nodes\": [{\"name\": \"x\"}]}");
    poise_file mixed = {.model = stranger->model, .carried = file->carried, .scale = {1, POISE_UP_Y}};
    io_write_warns(&mixed, GLTF, "left out: 1 mesh, 1 material; the skeleton is another one");
    poise_model_destroy(other);
}

// What makes a VRM animation one is an extension of the document, beside nodes and an animation.
TEST(extensions_of_a_document_are_kept_and_their_loss_is_said)
{
    poise_file *file =
        read_or_fail("{\"asset\": {\"version\": \"2.0\"}, \"extensionsUsed\": [\"VRMC_vrm_animation\"], \"extensions\": "
                     "{\"VRMC_vrm_animation\": {\"humanoid\": {\"humanBones\": {\"hips\": {\"node\": 0}}}}}, \"nodes\": "
                     "[{\"name\": \"x\"}]}");
    io_bytes text = io_write(file, GLTF, 0);
    ck_assert_int_eq(times_in((const char *)text.bytes, "\"VRMC_vrm_animation\""), 2);
    ck_assert_int_eq(times_in((const char *)text.bytes, "\"humanBones\""), 1);
    io_write_warns(file, POISE_FORMAT_BVH, "left out: 1 extension");
}
