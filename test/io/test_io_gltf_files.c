// glTF files of others: the facts of the manifest, and every body's pose against the matrices of the file, multiplied out.
#include "support/io_check.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

// ---- Facts ---------------------------------------------------------------------------------------------------------------

typedef struct clip_fact {
    int keys;
    double end;
    int frames;    // keys where they are evenly spaced, more where the curve is sampled; 0: only scales are animated
    bool is_exact; // frames are the keys
} clip_fact;

// clang-format off
static const struct {
    const char *path;
    int nodes, skin_joints;
    const char *first_joint; // NULL: nameless, or there is no skin
    int clips;
    clip_fact clip[9];
} facts[] = {
    {"gltf/RiggedSimple.glb", 5, 2, "Bone", 1, {{50, 2.0833, 50, true}}},
    {"gltf/RiggedFigure.glb", 22, 19, "torso_joint_1", 1, {{2, 1.25, 2, true}}},
    {"gltf/CesiumMan.glb", 22, 19, "Skeleton_torso_joint_1", 1, {{48, 2, 48, true}}},
    {"gltf/Fox.glb", 26, 24, "_rootJoint", 3, {{83, 3.4167, 83, true}, {18, 0.7083, 18, true}, {25, 1.1583, 71, false}}},
    {"gltf/InterpolationTest.glb", 10, 0, NULL, 9,
     {{5, 2, 0, false}, {5, 2, 0, false}, {5, 2, 0, false}, {5, 2, 121, false}, {5, 2, 121, false}, {5, 2, 5, true},
      {5, 2, 121, false}, {5, 2, 121, false}, {5, 2, 5, true}}},
    {"gltf/SimpleSkin.gltf", 3, 2, NULL, 1, {{12, 5.5, 12, true}}},
};
// clang-format on

static poise_file *read_shared(const char *path, int animation)
{
    poise_read_options options = {0};
    options.name = path;
    options.animation = animation;
    return io_read_bytes(io_load(path), &options);
}

TEST_DATA(files_hold_what_the_manifest_says, "gltf")
{
    for (size_t i = 0; i < TEST_COUNT(facts); ++i) {
        for (int a = 0; a < facts[i].clips; ++a) {
            poise_file *file = read_shared(facts[i].path, a);
            clip_fact fact = facts[i].clip[a];
            ck_assert_int_eq(poise_model_info(file->model).joints + poise_model_info(file->model).tools, facts[i].nodes);
            int moving = 0;
            for (int k = 0; k < poise_model_info(file->model).joints; ++k) {
                moving += poise_model_joint_info(file->model, k).type != POISE_JOINT_FIXED;
            }
            ck_assert_int_ge(moving, facts[i].skin_joints);
            if (facts[i].first_joint) {
                int first = poise_model_find_joint(file->model, facts[i].first_joint);
                ck_assert_int_ne(poise_model_joint_info(file->model, first).type, POISE_JOINT_FIXED);
            }
            ck_assert_msg(file->clip ? file->clip->frames == fact.frames : fact.frames == 0, "%s, clip %d: %d frames",
                          facts[i].path, a, file->clip ? file->clip->frames : 0);
            if (file->clip) {
                double end = file->clip->start_time + (file->clip->frames - 1) * file->clip->frame_time;
                // the manifest has four decimals; a clip of 60 Hz ends within a frame after the last key
                ck_assert_msg(end >= fact.end - 1e-4 && end <= fact.end + (fact.is_exact ? 1e-4 : 1.0 / 60), "%g", end);
            }
        }
    }
}

// ---- Poses by matrices ---------------------------------------------------------------------------------------------------

typedef struct matrix {
    double m[16]; // column by column
} matrix;

static matrix multiply(matrix a, matrix b)
{
    matrix c;
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) {
            c.m[4 * j + i] = 0;
            for (int k = 0; k < 4; ++k) {
                c.m[4 * j + i] += a.m[4 * k + i] * b.m[4 * j + k];
            }
        }
    }
    return c;
}

typedef struct trs {
    double t[3], r[4], s[3];
} trs;

static matrix compose(const trs *p)
{
    const double *r = p->r;
    double x = r[0], y = r[1], z = r[2], w = r[3], n = 2 / (x * x + y * y + z * z + w * w);
    double R[9] = {1 - n * (y * y + z * z), n * (x * y - w * z),     n * (x * z + w * y),
                   n * (x * y + w * z),     1 - n * (x * x + z * z), n * (y * z - w * x),
                   n * (x * z - w * y),     n * (y * z + w * x),     1 - n * (x * x + y * y)};
    matrix m = {{0}};
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            m.m[4 * j + i] = R[3 * i + j] * p->s[j];
        }
        m.m[12 + i] = p->t[i];
    }
    m.m[15] = 1;
    return m;
}

static void take_numbers(const json_t *array, double *values)
{
    for (size_t i = 0; i < json_array_size(array); ++i) {
        values[i] = json_number_value(json_array_get(array, i));
    }
}

static int integer_of(const json_t *object, const char *key)
{
    return (int)json_integer_value(json_object_get(object, key));
}

// A GLB taken apart without a check; the file is known.
typedef struct plain {
    json_t *json;
    unsigned char *bytes;
    const unsigned char *binary;
} plain;

static plain open_plain(const char *path)
{
    plain p = {.bytes = io_load(path).bytes};
    uint32_t length = 0;
    memcpy(&length, p.bytes + 12, 4);
    p.json = json_loadb((const char *)p.bytes + 20, length, 0, NULL);
    p.binary = p.bytes + 20 + length + 8;
    return p;
}

// Element i of an accessor of floats.
static void element(const plain *p, int accessor, int components, int i, double *values)
{
    const json_t *a = json_array_get(json_object_get(p->json, "accessors"), (size_t)accessor);
    const json_t *view = json_array_get(json_object_get(p->json, "bufferViews"), (size_t)integer_of(a, "bufferView"));
    int stride = integer_of(view, "byteStride");
    stride = stride ? stride : 4 * components;
    const unsigned char *at = p->binary + integer_of(view, "byteOffset") + integer_of(a, "byteOffset") + i * stride;
    for (int k = 0; k < components; ++k) {
        float value;
        memcpy(&value, at + 4 * k, 4);
        values[k] = (double)value;
    }
}

// World matrices of all nodes with animation `a` at key `key`, which all its channels have.
static void world_matrices(const plain *p, int a, int key, matrix *world)
{
    json_t *nodes = json_object_get(p->json, "nodes");
    int count = (int)json_array_size(nodes);
    trs *local = malloc((size_t)count * sizeof *local);
    int *parent = malloc((size_t)count * sizeof *parent);
    for (int i = 0; i < count; ++i) {
        parent[i] = -1;
    }
    for (int i = 0; i < count; ++i) {
        json_t *node = json_array_get(nodes, (size_t)i);
        local[i] = (trs){{0, 0, 0}, {0, 0, 0, 1}, {1, 1, 1}};
        take_numbers(json_object_get(node, "translation"), local[i].t);
        take_numbers(json_object_get(node, "rotation"), local[i].r);
        take_numbers(json_object_get(node, "scale"), local[i].s);
        json_t *children = json_object_get(node, "children");
        for (size_t c = 0; c < json_array_size(children); ++c) {
            parent[json_integer_value(json_array_get(children, c))] = i;
        }
    }
    json_t *animation = json_array_get(json_object_get(p->json, "animations"), (size_t)a);
    json_t *channels = json_object_get(animation, "channels"), *samplers = json_object_get(animation, "samplers");
    for (size_t c = 0; c < json_array_size(channels); ++c) {
        json_t *channel = json_array_get(channels, c), *target = json_object_get(channel, "target");
        json_t *sampler = json_array_get(samplers, (size_t)integer_of(channel, "sampler"));
        const char *path = json_string_value(json_object_get(target, "path"));
        trs *l = &local[integer_of(target, "node")];
        bool turns = strcmp(path, "rotation") == 0;
        double *to = turns ? l->r : strcmp(path, "scale") == 0 ? l->s : l->t;
        element(p, integer_of(sampler, "output"), turns ? 4 : 3, key, to);
    }
    for (int i = 0; i < count; ++i) {
        world[i] = (matrix){{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}};
        for (int k = i; k >= 0; k = parent[k]) {
            json_t *given = json_object_get(json_array_get(nodes, (size_t)k), "matrix");
            matrix m = compose(&local[k]);
            take_numbers(given, m.m);
            world[i] = multiply(m, world[i]);
        }
    }
    free(local);
    free(parent);
}

static void check_pose(poise_pose pose, const matrix *m, double size, const char *name)
{
    // scales of 1.0000001 that exporters leave are taken as 1: a few 1e-7 for each of up to ten nodes on the way
    double p[3] = {pose.position.x, pose.position.y, pose.position.z}, R[9];
    poise_quat_to_matrix(pose.rotation, R);
    for (int i = 0; i < 3; ++i) {
        ck_assert_msg(fabs(p[i] - m->m[12 + i]) <= 3e-6 * size, "%s: position %d is %g, not %g", name, i, p[i],
                      m->m[12 + i]);
        for (int j = 0; j < 3; ++j) {
            ck_assert_msg(fabs(R[3 * i + j] - m->m[4 * j + i]) <= 1e-5, "%s: rotation %d %d", name, i, j);
        }
    }
}

TEST_DATA(bodies_are_where_the_matrices_of_the_file_put_them_at_every_key, "gltf")
{
    static const struct {
        const char *path;
        int animation, keys;
        double size;
    } cases[] = {{"gltf/RiggedSimple.glb", 0, 50, 10},
                 {"gltf/RiggedFigure.glb", 0, 2, 2},
                 {"gltf/CesiumMan.glb", 0, 48, 2},
                 {"gltf/Fox.glb", 0, 83, 200},
                 {"gltf/Fox.glb", 1, 18, 200},
                 {"gltf/InterpolationTest.glb", 5, 5, 10},
                 {"gltf/InterpolationTest.glb", 8, 5, 10}};
    for (size_t c = 0; c < TEST_COUNT(cases); ++c) {
        poise_file *file = read_shared(cases[c].path, cases[c].animation);
        plain p = open_plain(cases[c].path);
        json_t *nodes = json_object_get(p.json, "nodes");
        matrix world[32];
        poise_kinematics *kinematics = NULL;
        ck_assert_int_eq(poise_kinematics_create(file->model, NULL, &kinematics, NULL), POISE_OK);
        ck_assert_int_eq(file->clip->frames, cases[c].keys);
        for (int key = 0; key < cases[c].keys; ++key) {
            world_matrices(&p, cases[c].animation, key, world);
            ck_assert_int_eq(poise_kinematics_update(kinematics, file->clip->q + key * file->clip->nq, NULL), POISE_OK);
            for (size_t i = 0; i < json_array_size(nodes); ++i) {
                const char *name = json_string_value(json_object_get(json_array_get(nodes, i), "name"));
                int body = poise_model_find_body(file->model, name);
                ck_assert_int_ne(body, POISE_WORLD);
                if (strcmp(name, "Plane") != 0) { // its own scale is in its matrix, and in no pose
                    check_pose(poise_kinematics_body_pose(kinematics, body), &world[i], cases[c].size, name);
                }
            }
        }
        poise_kinematics_destroy(kinematics);
        json_decref(p.json);
    }
}

TEST_DATA(files_come_back_with_the_same_clip_after_writing_and_reading, "gltf")
{
    for (size_t i = 0; i < TEST_COUNT(facts); ++i) {
        poise_file *file = read_shared(facts[i].path, 0);
        void *bytes = NULL;
        size_t size = 0;
        poise_error error = {.text = ""};
        ck_assert_int_eq(poise_write(file, POISE_FORMAT_GLB, NULL, &bytes, &size, NULL, NULL, &error), POISE_OK);
        poise_file *again = NULL;
        ck_assert_msg(poise_read(bytes, size, NULL, NULL, &again, &error) == POISE_OK, "%s", error.text);
        ck_assert_int_eq(poise_model_info(again->model).joints, poise_model_info(file->model).joints);
        ck_assert(!again->clip == !file->clip);
        for (int k = 0; file->clip && k < file->clip->frames * file->clip->nq; ++k) {
            // rest rotation times its inverse times the float: small components are rounded anew, others have the same bits
            ck_assert_msg(fabs(file->clip->q[k] - again->clip->q[k]) <= 1e-15, "%s: number %d: %.17g, not %.17g",
                          facts[i].path, k, again->clip->q[k], file->clip->q[k]);
        }
        poise_bytes_release(NULL, bytes);
        poise_file_destroy(again);
    }
}

// ---- Known-bad files -----------------------------------------------------------------------------------------------------

// `words`: of the error where the file is refused, of a warning where it is read with one; "" where it is read without.
static const struct {
    const char *name;
    bool is_read;
    const char *words;
} bad[] = {
    {"glb_bom.glb", true, "byte order mark"},
    {"glb_chunk_too_big.glb", false, "byte 8: the stated length is"},
    {"glb_empty_file.glb", false, "byte 0: the file ends inside its header"},
    {"glb_empty_json_chunk.glb", false, "byte 20: not JSON"},
    {"glb_empty_json_object.glb", false, "asset: missing"},
    {"glb_extra_data.glb", true, "byte 48: there is data after the end of the file"},
    {"glb_invalid_json_chunk.glb", false, "byte 22: not JSON"},
    {"glb_invalid_magic.glb", false, "byte 0: a GLB must begin with the letters glTF"},
    {"glb_invalid_version.glb", false, "byte 4: version"},
    {"glb_json_and_two_buffers.glb", true, "a second chunk of the same type"},
    {"glb_length_mismatch.glb", false, "byte 8: the stated length is 49 bytes; the file has 48"},
    {"glb_misplaced_bin_chunk.glb", true, "no model"},
    {"glb_no_header.glb", false, "byte 1: the file ends inside its header"},
    {"glb_only_bin_chunk.glb", false, "byte 16: the first chunk must be JSON"},
    {"glb_only_header.glb", false, "byte 8: the stated length"},
    {"glb_truncated_chunk_data.glb", false, "byte 8: the stated length is 48 bytes; the file has 47"},
    {"glb_truncated_chunk_header.glb", false, "byte 8: the stated length"},
    {"glb_two_bin_chunks.glb", false, "the first chunk must be JSON"},
    {"glb_two_empty_bin_chunks.glb", false, "the first chunk must be JSON"},
    {"glb_two_empty_json_chunks.glb", false, "not JSON"},
    {"glb_two_images.glb", true, "no model"},
    {"glb_two_valid_json_chunks.glb", true, "a second chunk of the same type"},
    {"glb_unaligned_chunk.glb", true, "not a multiple of 4"},
    {"glb_unknown_chunk.glb", false, "the first chunk must be JSON"},
    {"glb_valid.glb", true, "no model"},
    {"glb_valid_buffer.glb", true, "no model"},
    {"glb_zero_chunk_header.glb", false, "the first chunk must be JSON"},
    {"glb_zero_length.glb", false, "byte 8: the stated length is 0"},
    {"skin_buffer_view_bytestride.gltf", true, ""},
    {"skin_custom_property.gltf", true, ""},
    {"skin_empty_array.gltf", true, "no model"},
    {"skin_empty_joints_array.gltf", true, "skins[0].joints: a skin without joints"},
    {"skin_empty_object.gltf", false, "skins[0].joints: missing"},
    {"skin_ibm_invalid_count.gltf", true, "skins[2].inverseBindMatrices: not a matrix for every joint"},
    {"skin_ibm_invalid_format.gltf", true, "skins[0].inverseBindMatrices: not a matrix"},
    {"skin_ignored_animated_transform.gltf", true, "an animated scale"},
    {"skin_ignored_local_transform.gltf", true, ""},
    {"skin_ignored_parent_transform.gltf", true, ""},
    {"skin_no_common_root.gltf", true, ""},
    {"skin_no_joints_in_scene.gltf", true, ""},
    {"skin_skeleton_invalid.gltf", true, ""},
    {"skin_unresolved_ibm.gltf", true, "skins[0].inverseBindMatrices: there is no such accessor"},
    {"skin_unresolved_joint.gltf", false, "skins[0].joints[0]: there is no nodes[0]"},
    {"skin_unresolved_skeleton.gltf", true, "skins[0].skeleton: there is no such node"},
    {"skin_valid.gltf", true, ""},
    {"node_custom_property.gltf", true, ""},
    {"node_empty_array.gltf", true, "no model"},
    {"node_empty_children_array.gltf", true, ""},
    {"node_infinite_transform.gltf", false, "real number overflow"},
    {"node_matrix_default.gltf", true, ""},
    {"node_matrix_indecomposable.gltf", true, "nodes[0].matrix: the matrix is singular"},
    {"node_matrix_trs.gltf", true, "nodes[0]: a matrix together with translation"},
    {"node_node_empty.gltf", true, ""},
    {"node_node_loop.gltf", false, "nodes[0]: the node is its own ancestor"},
    {"node_node_loop_scene.gltf", false, "already has a parent"},
    {"node_node_parent_override.gltf", false, "nodes[2] already has a parent, nodes[0]"},
    {"node_node_skin_without_skinned_mesh.gltf", true, ""},
    {"node_node_skinned_mesh_without_skin.gltf", true, ""},
    {"node_node_weights_invalid.gltf", true, ""},
    {"node_node_weights_override.gltf", true, ""},
    {"node_rotation_non_unit.gltf", true, "nodes[0].rotation: a quaternion of length 2"},
    {"node_skin_with_no_mesh.gltf", true, ""},
    {"node_unresolved_camera.gltf", true, ""},
    {"node_unresolved_child_node.gltf", false, "nodes[0].children[0]: there is no nodes[1]"},
    {"node_unresolved_mesh.gltf", true, ""},
    {"node_unresolved_skin.gltf", true, ""},
    {"node_valid.gltf", true, ""},
    {"node_weights_with_no_mesh.gltf", true, ""},
};

TEST_DATA(known_bad_files_are_refused_or_read_with_a_warning_as_the_manifest_says, "gltf")
{
    for (size_t i = 0; i < TEST_COUNT(bad); ++i) {
        char path[256];
        snprintf(path, sizeof path, "bad/gltf/%s", bad[i].name);
        io_bytes bytes = io_load(path);
        poise_read_options options = {0};
        options.name = path;
        options.format = strstr(path, ".glb") ? POISE_FORMAT_GLB : POISE_FORMAT_GLTF;
        poise_file *file = NULL;
        poise_error error = {.text = ""};
        bool is_read = poise_read(bytes.bytes, bytes.size, &options, NULL, &file, &error) == POISE_OK;
        ck_assert_msg(is_read == bad[i].is_read, "%s: %s", bad[i].name, error.text);
        bool is_said = strstr(error.text, bad[i].words) != NULL;
        for (int k = 0; file && k < file->warning_count; ++k) {
            is_said = is_said || strstr(file->warnings[k].text, bad[i].words);
        }
        ck_assert_msg(is_said, "%s: nobody says \"%s\"; %s", bad[i].name, bad[i].words, error.text);
        ck_assert_msg(!file || bad[i].words[0] || file->warning_count == 0, "%s: a warning", bad[i].name);
        poise_file_destroy(file);
    }
}

// Lists of a document that skeleton and clip have no say in.
static void check_lists(const char *path, json_t *before, json_t *after, bool same_motion)
{
    static const char *const lists[] = {"meshes", "materials", "skins", "textures", "images", "scenes", "nodes"};
    for (size_t i = 0; i < TEST_COUNT(lists); ++i) {
        json_t *a = json_object_get(before, lists[i]), *b = json_object_get(after, lists[i]);
        ck_assert_msg(json_equal(a, b) || (!a && !b), "%s: %s", path, lists[i]);
    }
    json_t *a = json_object_get(before, "animations"), *b = json_object_get(after, "animations");
    ck_assert_msg(json_array_size(a) == json_array_size(b) && json_equal(a, b) == same_motion, "%s: animations", path);
    for (size_t i = 1; i < json_array_size(a); ++i) {
        ck_assert(json_equal(json_array_get(a, i), json_array_get(b, i)));
    }
}

static json_t *written(const poise_file *file)
{
    void *bytes;
    size_t size;
    ck_assert_int_eq(poise_write(file, POISE_FORMAT_GLTF, NULL, &bytes, &size, NULL, NULL, NULL), POISE_OK);
    json_t *document = json_loadb(bytes, size, JSON_DECODE_INT_AS_REAL, NULL);
    ck_assert_ptr_nonnull(document);
    poise_bytes_release(NULL, bytes);
    return document;
}

TEST_DATA(everything_else_in_a_file_goes_on, "gltf")
{
    static const char *const paths[] = {"gltf/CesiumMan.glb", "gltf/Fox.glb", "gltf/RiggedFigure.glb"};
    for (size_t i = 0; i < TEST_COUNT(paths); ++i) {
        poise_file *file = read_shared(paths[i], 0);
        io_bytes bytes = io_load(paths[i]);
        size_t length = bytes.bytes[12] | (size_t)bytes.bytes[13] << 8 | (size_t)bytes.bytes[14] << 16;
        json_t *before = json_loadb((const char *)bytes.bytes + 20, length, JSON_DECODE_INT_AS_REAL, NULL),
               *after = written(file);
        check_lists(paths[i], before, after, true);
        json_decref(after);
        poise_edit edit = {.first = 1};
        ck_assert_int_eq(poise_file_edit(file, &edit, NULL, NULL), POISE_OK);
        after = written(file);
        check_lists(paths[i], before, after, false);
        json_decref(after);
        json_decref(before);
    }
}
