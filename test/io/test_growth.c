// Ten times the bytes take ten times the steps (support/steps.h), whatever the format: no reader looks through a list for each
// entry of another. The library of this program counts its steps. Models of thousands of joints: the same.
#include "documents.h"
#include "support/c3d_forge.h"
#include "support/gltf_text.h"
#include "support/io_check.h"
#include "support/skeleton.h"
#include "support/steps.h"

#include <stdio.h>
#include <string.h>

// ---- Models that a motion needs ------------------------------------------------------------------------------------------

static poise_model *of_asf(void)
{
    return io_read_text(document_asf, POISE_FORMAT_ASF, NULL)->model;
}

static poise_model *of_json(void)
{
    return io_read_text(document_json, POISE_FORMAT_JSON, NULL)->model;
}

static poise_model *of_mot(void)
{
    poise_builder *builder = new_builder();
    add_plain(builder, "root", NULL, POISE_JOINT_FREE_EULER);
    add_plain(builder, "slide", "root", POISE_JOINT_PRISMATIC);
    add_plain(builder, "knee", "slide", POISE_JOINT_REVOLUTE);
    return model_of(builder);
}

// ---- Documents of any size -----------------------------------------------------------------------------------------------

// Links in a row, the joints before the links and backwards, each following the one before.
static void grow_urdf(io_text *out, int n)
{
    io_put(out, "<robot name='chain'>\n");
    for (int i = n; i > 0; --i) {
        io_put(out, "<joint name='joint%d' type='revolute'><parent link='link%d'/><child link='link%d'/>", i, i - 1, i);
        if (i > 1) {
            io_put(out, "<mimic joint='joint%d'/>", i - 1);
        }
        io_put(out, "<origin xyz='0 0 0.1'/></joint>\n");
    }
    for (int i = 0; i <= n; ++i) {
        io_put(out, "<link name='link%d'/>\n", i);
    }
    io_put(out, "</robot>");
}

// Spheres and cylinders that touch none of each other, on one link.
static void grow_urdf_shapes(io_text *out, int n)
{
    io_put(out, "<robot name='cloud'><link name='link'>\n");
    for (int i = 0; i < n; ++i) {
        const char *shape = i % 2 ? "sphere radius='1'" : "cylinder radius='1' length='1'";
        io_put(out, "<collision><origin xyz='%d 0 0'/><geometry><%s/></geometry></collision>\n", 4 * i, shape);
    }
    io_put(out, "</link></robot>");
}

// Pins in a row, backwards, each coordinate following the one before, and a marker on each body.
static void grow_osim(io_text *out, int n)
{
    io_put(out, "<OpenSimDocument Version=\"40000\"><Model><BodySet><objects>\n");
    for (int i = 0; i < n; ++i) {
        io_put(out, "<Body name=\"b%d\"><mass>1</mass></Body>\n", i);
    }
    io_put(out, "</objects></BodySet><JointSet><objects>\n");
    for (int i = n - 1; i >= 0; --i) {
        io_put(out, "<PinJoint name=\"j%d\"><socket_parent_frame>%s%d</socket_parent_frame>", i, i ? "b" : "ground/o",
               i - 1);
        io_put(out, "<socket_child_frame>f</socket_child_frame><frames><PhysicalOffsetFrame name=\"%s\">", i ? "g" : "o-1");
        io_put(out, "<socket_parent>%s</socket_parent></PhysicalOffsetFrame>", i ? "b1" : "ground");
        io_put(out, "<PhysicalOffsetFrame name=\"f\"><socket_parent>b%d</socket_parent></PhysicalOffsetFrame></frames>", i);
        io_put(out, "<coordinates><Coordinate name=\"q%d\"/></coordinates></PinJoint>\n", i);
    }
    io_put(out, "</objects></JointSet><ConstraintSet><objects>\n");
    for (int i = 1; i < n; ++i) {
        io_put(out, "<CoordinateCouplerConstraint><coupled_coordinates_function><LinearFunction><coefficients>1 0");
        io_put(out, "</coefficients></LinearFunction></coupled_coordinates_function><independent_coordinate_names>q%d",
               i - 1);
        io_put(out, "</independent_coordinate_names><dependent_coordinate_name>q%d</dependent_coordinate_name>", i);
        io_put(out, "</CoordinateCouplerConstraint>\n");
    }
    io_put(out, "</objects></ConstraintSet><MarkerSet><objects>\n");
    for (int i = 0; i < n; ++i) {
        io_put(out, "<Marker name=\"m%d\"><socket_parent_frame>/bodyset/b%d</socket_parent_frame></Marker>\n", i, i);
    }
    io_put(out, "</objects></MarkerSet></Model></OpenSimDocument>");
}

// Limbs of fifty bodies within each other, nothing named.
static void grow_mjcf_limbs(io_text *out, int n)
{
    io_put(out, "<mujoco><worldbody>");
    for (int i = 0; i < n; ++i) {
        io_put(out, "<body pos='0 0 1'><joint pos='0 0 .1'/><joint axis='1 0 0'/><geom/><site name='s%d'/>\n", i);
        for (int k = i % 50; k >= 0 && (i % 50 == 49 || i == n - 1); --k) {
            io_put(out, "</body>");
        }
    }
    io_put(out, "</worldbody></mujoco>");
}

// Classes within classes and bodies within bodies, as deep as it goes.
static void grow_mjcf_depth(io_text *out, int n)
{
    io_put(out, "<mujoco><default>");
    for (int i = 0; i < n; ++i) {
        io_put(out, "<default class='c%d'><joint axis='0 1 0'/>\n", i);
    }
    for (int i = 0; i < n; ++i) {
        io_put(out, "</default>");
    }
    io_put(out, "</default><worldbody>");
    for (int i = 0; i < n; ++i) {
        io_put(out, "<body name='b%d' childclass='c%d'><joint/><frame pos='0 0 1'>", i, n - 1 - i);
    }
    for (int i = 0; i < n; ++i) {
        io_put(out, "</frame></body>");
    }
    io_put(out, "</worldbody></mujoco>");
}

static void grow_srdf(io_text *out, int n)
{
    io_put(out, "<robot>");
    for (int i = 0; i < n; ++i) {
        io_put(out, "<disable_collisions link1='base' link2='%s'/>\n", i % 2 ? "arm" : "nothing");
    }
    io_put(out, "</robot>");
}

// `joints` below each other or side by side, and `rows` of numbers.
static void put_bvh(io_text *out, int joints, int rows, bool is_deep, bool same_names)
{
    io_put(out, "HIERARCHY\n");
    for (int j = 0; j < joints; ++j) {
        io_put(out, "%s j%d {\nOFFSET 0 1 0\nCHANNELS 1 Zrotation\n%s", is_deep && j > 0 ? "JOINT" : "ROOT",
               same_names ? 0 : j, is_deep ? "" : "}\n");
    }
    for (int j = 0; is_deep && j < joints; ++j) {
        io_put(out, "}");
    }
    io_put(out, "\nMOTION\nFrames: %d\nFrame Time: 1\n", rows);
    for (int i = 0; i < rows * joints; ++i) {
        io_put(out, "%d.%d%s", (i / joints + i % joints) % 100, i % joints % 1000, i % joints == joints - 1 ? "\n" : " ");
    }
}

static void grow_bvh_rows(io_text *out, int n)
{
    put_bvh(out, 30, n, true, false);
}

static void grow_bvh_breadth(io_text *out, int n)
{
    put_bvh(out, n, 2, false, false);
}

static void grow_bvh_depth(io_text *out, int n)
{
    put_bvh(out, n, 2, true, false);
}

static void grow_bvh_names(io_text *out, int n)
{
    put_bvh(out, n, 2, false, true);
}

static void put_asf(io_text *out, int bones, bool is_deep)
{
    io_put(out,
           ":units\nangle deg\n:root\norder TX TY TZ RX RY RZ\naxis XYZ\nposition 0 0 0\norientation 0 0 0\n:bonedata\n");
    for (int i = 0; i < bones; ++i) {
        io_put(out, "begin\nname b%d\ndirection 0 1 0\nlength 1\naxis 0 0 20 XYZ\ndof rx\nend\n", i);
    }
    io_put(out, ":hierarchy\nroot b0\n");
    for (int i = 1; i < bones; ++i) {
        char parent[16] = "root";
        snprintf(parent, is_deep ? sizeof parent : 0, "b%d", i - 1);
        io_put(out, "%s b%d\n", parent, i);
    }
}

static void grow_asf_depth(io_text *out, int n)
{
    put_asf(out, n, true);
}

static void grow_asf_breadth(io_text *out, int n)
{
    put_asf(out, n, false);
}

static void grow_amc(io_text *out, int n)
{
    io_put(out, ":DEGREES\n");
    for (int i = 0; i < n; ++i) {
        io_put(out, "%d\nroot 1.25 2 3 4.5 5 6\nspine 1 2 3.125\nthigh 1 2 3\nshin 1\nfoot 1 2\n", i + 1);
    }
}

static void grow_trc(io_text *out, int n)
{
    io_put(out, "PathFileType\t4\t(X/Y/Z)\tx.trc\nDataRate\tNumFrames\tNumMarkers\tUnits\n60\t%d\t40\tmm\nFrame#\tTime", n);
    for (int i = 0; i < 40; ++i) {
        io_put(out, "\tm%d\t\t", i);
    }
    for (int f = 0; f < n; ++f) {
        io_put(out, "\n%d\t%.17g", f + 1, f / 60.0);
        for (int i = 0; i < 120; ++i) {
            io_put(out, "\t%d.%d", i, f);
        }
    }
    io_put(out, "\n");
}

static void grow_mot(io_text *out, int n)
{
    io_put(out, "x\nversion=1\ninDegrees=yes\nendheader\ntime\tknee\tslide\n");
    for (int i = 0; i < n; ++i) {
        io_put(out, "%.17g\t%d.125\t0.%d\n", i / 60.0, i % 90, i);
    }
}

static void grow_dh(io_text *out, int n)
{
    io_put(out, "# convention: classic\na,alpha_deg,d,theta_deg\n");
    for (int i = 0; i < n; ++i) {
        io_put(out, "0.%d,90,-0.125,%d\n", i, i % 90);
    }
}

// A tree of joints with postures and markers.
static void grow_json(io_text *out, int n)
{
    io_put(out, "{\"poise\": 1, \"model\": {\"joints\": [{\"name\": \"j0\"}");
    for (int i = 1; i < n; ++i) {
        io_put(out, ", {\"name\": \"j%d\", \"parent\": \"j%d\", \"position\": [0.%d, 0, 1]}", i, i / 2, i);
    }
    io_put(out, "]}, \"postures\": {\"p0\": []");
    for (int i = 1; i < n; ++i) {
        io_put(out, ", \"p%d\": []", i);
    }
    io_put(out, "}, \"markers\": {\"rate\": 1, \"labels\": [\"A\"], \"positions\": [[null]");
    for (int i = 1; i < n; ++i) {
        io_put(out, ", [[%d.5, %d.25, 1e-%d]]", i, i, i % 300);
    }
    io_put(out, "]}}");
}

// A chain of nodes of two names, and an animation of many keys.
static void grow_gltf(io_text *out, int n)
{
    float *times = calloc((size_t)n, sizeof *times), *r = calloc((size_t)n * 4, sizeof *r);
    for (int i = 0; i < n; ++i) {
        times[i] = (float)i / 128;
        r[4 * i + 3] = 1;
    }
    char *text = gltf_text_animated(0, "rotation", "", times, n, r, 4, 1, "");
    char *skins = strstr(text, "\"skins\"");
    io_put(out, "{\"asset\": {\"version\": \"2.0\"},\n\"nodes\": [{\"name\": \"a\"}");
    for (int i = 1; i < n; ++i) {
        io_put(out, ", {\"name\": \"%s\", \"children\": [%d]}", i % 2 ? "b" : "c", i + 1 < n ? i + 1 : 0);
    }
    io_put(out, "],\n");
    for (size_t length = strlen(skins); length > 0;) {
        int piece = length < 4000 ? (int)length : 4000;
        io_put(out, "%.*s", piece, skins);
        skins += piece, length -= (size_t)piece;
    }
    free(times);
    free(r);
}

// ---- Readers -------------------------------------------------------------------------------------------------------------

static const struct {
    const char *name;
    poise_format format;
    void (*grow)(io_text *out, int n);
    int n;
    poise_model *(*model)(void);
} growths[] = {
    {"urdf: links, mimics", POISE_FORMAT_URDF, grow_urdf, 2000, NULL},
    {"urdf: shapes", POISE_FORMAT_URDF, grow_urdf_shapes, 3000, NULL},
    {"osim: joints, couplers, markers", POISE_FORMAT_OSIM, grow_osim, 500, NULL},
    {"mjcf: limbs", POISE_FORMAT_MJCF, grow_mjcf_limbs, 1500, NULL},
    {"mjcf: depth", POISE_FORMAT_MJCF, grow_mjcf_depth, 490, NULL},
    {"srdf: pairs", POISE_FORMAT_SRDF, grow_srdf, 2000, of_json},
    {"bvh: rows", POISE_FORMAT_BVH, grow_bvh_rows, 1000, NULL},
    {"bvh: breadth", POISE_FORMAT_BVH, grow_bvh_breadth, 1500, NULL},
    {"bvh: depth", POISE_FORMAT_BVH, grow_bvh_depth, 1500, NULL},
    {"bvh: names", POISE_FORMAT_BVH, grow_bvh_names, 1000, NULL},
    {"asf: depth", POISE_FORMAT_ASF, grow_asf_depth, 1000, NULL},
    {"asf: breadth", POISE_FORMAT_ASF, grow_asf_breadth, 1000, NULL},
    {"amc: frames", POISE_FORMAT_AMC, grow_amc, 3000, of_asf},
    {"trc: rows", POISE_FORMAT_TRC, grow_trc, 300, NULL},
    {"mot: rows", POISE_FORMAT_MOT, grow_mot, 5000, of_mot},
    {"dh: rows", POISE_FORMAT_DH, grow_dh, 3000, NULL},
    {"json: all", POISE_FORMAT_JSON, grow_json, 1500, NULL},
    {"gltf: nodes, keys", POISE_FORMAT_GLTF, grow_gltf, 2000, NULL},
};

static uint64_t steps_to_read(io_bytes file, const poise_read_options *options)
{
    poise_file *read = NULL;
    poise_error error = {.text = ""};
    uint64_t before = steps_so_far();
    poise_status status = poise_read(file.bytes, file.size, options, NULL, &read, &error);
    uint64_t steps = steps_so_far() - before;
    ck_assert_msg(status == POISE_OK, "line %d: %s", error.line, error.text);
    ck_assert_msg(steps > file.size / 100, "only %g steps for %zu bytes are seen", (double)steps, file.size);
    poise_file_destroy(read);
    return steps;
}

// Sorting takes a factor that grows with the logarithm: here it stays within a twentieth.
static void assert_linear(io_bytes small, io_bytes large, poise_format format, const poise_model *model)
{
    poise_read_options options = io_options(format, model);
    double more = (double)steps_to_read(large, &options) / (double)steps_to_read(small, &options);
    double bytes = (double)large.size / (double)small.size;
    ck_assert_msg(more < 1.2 * bytes, "%.1f times the bytes take %.1f times the steps", bytes, more);
}

TEST_ROWS(ten_times_the_bytes_take_ten_times_the_steps, TEST_COUNT(growths))
{
    io_text text[2] = {{0}, {0}};
    poise_model *model = growths[test_row].model ? growths[test_row].model() : NULL;
    growths[test_row].grow(&text[0], growths[test_row].n);
    growths[test_row].grow(&text[1], 10 * growths[test_row].n);
    io_bytes small = {(unsigned char *)text[0].text, text[0].size}, large = {(unsigned char *)text[1].text, text[1].size};
    assert_linear(small, large, growths[test_row].format, model);
    free(text[0].text);
    free(text[1].text);
}

TEST(ten_times_the_frames_of_a_c3d_take_ten_times_the_steps)
{
    io_bytes bytes[2];
    for (int k = 0; k < 2; ++k) {
        poise_markers *markers;
        ck_assert_int_eq(poise_markers_create(k == 0 ? 500 : 5000, 40, 100, NULL, NULL, &markers, NULL), POISE_OK);
        for (int i = 0; i < markers->frames * 40; ++i) {
            markers->position[i] = (poise_vec3){i % 1000, 0.5 * (i % 77), i % 7};
        }
        bytes[k] = io_write(&(poise_file){.markers = markers}, POISE_FORMAT_C3D, -1);
        poise_markers_destroy(markers);
    }
    assert_linear(bytes[0], bytes[1], POISE_FORMAT_C3D, NULL);
}

// ---- Models and names ----------------------------------------------------------------------------------------------------

#define MANY 20000

// Steps to build a model of so many joints: in one chain, or each on a random earlier one.
static uint64_t steps_to_build(int joints, bool chain, poise_model **model)
{
    scene_random random = scene_random_make(5);
    uint64_t before = steps_so_far();
    poise_builder *builder = new_builder();
    char name[32], body[32], parent[32];
    int added = 0; // asserted once: Check takes longer than the library
    for (int i = 0; i < joints; ++i) {
        poise_joint joint = poise_joint_default();
        snprintf(name, sizeof name, "joint number %d", i);
        snprintf(body, sizeof body, "body%d", i);
        snprintf(parent, sizeof parent, "body%d", chain || i == 0 ? i - 1 : scene_random_index(&random, i));
        joint.name = name;
        joint.body = body;
        joint.parent = i == 0 ? NULL : parent;
        joint.type = (poise_joint_type)(i % POISE_JOINT_TYPE_COUNT);
        joint.curve = joint.type == POISE_JOINT_CURVE ? random_curves : NULL;
        added += poise_builder_add_joint(builder, &joint, NULL) == POISE_OK;
    }
    ck_assert_int_eq(added, joints);
    *model = model_of(builder);
    return steps_so_far() - before;
}

// A list searched from one end would take a hundred times the steps.
TEST_ROWS(ten_times_the_joints_take_ten_times_the_steps, 2)
{
    poise_model *model;
    bool chain = test_row == 1;
    uint64_t some = steps_to_build(MANY / 10, chain, &model), many = steps_to_build(MANY, chain, &model);
    ck_assert_msg((double)many < 13.0 * (double)some, "%.1f times the steps", (double)many / (double)some);
}

// Steps to find every joint and every body of a model by its name.
static uint64_t steps_to_find(const poise_model *model, int joints)
{
    uint64_t before = steps_so_far();
    int found = 0;
    for (int k = 0; k < joints; ++k) {
        found += poise_model_find_joint(model, poise_model_joint_info(model, k).name) == k;
        found += poise_model_find_body(model, poise_model_joint_info(model, k).body) == k;
    }
    ck_assert_int_eq(found, 2 * joints);
    return steps_so_far() - before;
}

TEST(every_one_of_thousands_of_names_is_found_in_as_many_steps_as_one_of_hundreds)
{
    poise_model *some, *many;
    steps_to_build(MANY / 100, false, &some);
    steps_to_build(MANY, false, &many);
    double ratio = (double)steps_to_find(many, MANY) / (100.0 * (double)steps_to_find(some, MANY / 100));
    ck_assert_msg(ratio < 1.3, "%.1f times the steps", ratio);
    ck_assert_int_eq(poise_model_find_joint(many, "joint number 20000"), POISE_NONE);
    ck_assert_int_eq(poise_model_find_joint(many, "body7"), POISE_NONE);
    ck_assert_int_eq(poise_model_find_body(many, "joint number 7"), POISE_NONE);
    ck_assert_int_eq(poise_model_find_joint(many, ""), POISE_NONE);
    ck_assert_int_eq(poise_model_find_joint(many, NULL), POISE_NONE);
    ck_assert_int_eq(poise_model_find_tool(many, "body7"), POISE_NONE);
}
