// glTF that Poise writes reads back to the same motion; and glTF that is cut short, or read where memory runs out.
#include "support/gltf_text.h"
#include "support/io_check.h"
#include "support/random_model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GLTF POISE_FORMAT_GLTF
#define GLB  POISE_FORMAT_GLB

static poise_file *read_or_fail(const char *text)
{
    return io_read_text(text, GLTF, NULL);
}

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
