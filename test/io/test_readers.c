// What every reader promises, over a table of documents: cut anywhere, with any byte changed or without memory it gives a
// sound file or an error with a place; it takes time in proportion; what is written reads back to the same bits. A new
// format is a row of `documents` and one of `growths`.
#include "documents.h"
#include "support/c3d_forge.h"
#include "support/gltf_text.h"
#include "support/io_check.h"
#include "support/skeleton.h"

#include <scenes/scenes.h>

#include <dirent.h>

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

static poise_model *of_scene(const char *name)
{
    poise_model *model;
    ck_assert_int_eq(scene_create(name, NULL, &model, NULL), POISE_OK);
    return own_model(model);
}

static poise_model *of_arm(void)
{
    return of_scene("erik-c-dh");
}

static poise_model *of_euler_asf(void) // the humanoid as an ASF has it
{
    io_bytes bytes = io_write(&(poise_file){.model = of_scene("humanoid-euler")}, POISE_FORMAT_ASF, -1);
    return io_read(bytes.bytes, bytes.size, POISE_FORMAT_ASF, NULL)->model;
}

// ---- Documents that are made ---------------------------------------------------------------------------------------------

static io_bytes copy_of(const void *bytes, size_t size)
{
    io_bytes copy = {malloc(size), size};
    memcpy(copy.bytes, bytes, size);
    test_own(free, copy.bytes);
    return copy;
}

#define BVH_ONE(offset, channels, row)                                                                                      \
    "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 0\nJOINT b\n{\nOFFSET " offset "\nCHANNELS " channels                     \
    "\nEnd Site\n{\nOFFSET 0 1 0\n}\n}\n}\nMOTION\nFrames: 1\nFrame Time: 1\n" row "\n"

static const char bvh_positions[] =
    BVH_ONE("0 94 0", "6 Xposition Yposition Zposition Zrotation Xrotation Yrotation", "1 88 3 4 5 6");
static const char bvh_odd[] = BVH_ONE("0 94 0", "2 Yposition Xrotation", "1 2 3"); // warnings, and a clip that is cut
static const char amc_odd[] =
    ":DEGREES\n1\nroot 1 2 3 4 5 6\nspine 1 2 3\nthigh 1 2 3\nshin 1\nfoot 1 2\n2\nroot 1 2 3 4 5 6\n";

// All orders of bytes and kinds of number, by `variant`.
static io_bytes forged(int variant)
{
    recipe r = forge_recipe();
    r.order = (pz_c3d_order)(PZ_C3D_INTEL + variant % 3);
    r.is_float = variant < 3;
    r.trial_first = 5, r.trial_last = 8;
    r.labels = 2;
    forge f = forge_file(r);
    return copy_of(f.bytes, f.size);
}

static io_bytes animated(int variant)
{
    const float times[] = {0, 0.5f, 1}, r[] = {0, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0, 0};
    char *text = gltf_text_animated(0, "rotation", "", times, 3, r, 4, 1, "\"scenes\": [{\"name\": \"s\"}],\n");
    bool is_binary = variant == 1;
    return is_binary ? io_write(io_read_text(text, POISE_FORMAT_GLTF, NULL), POISE_FORMAT_GLB, -1)
                     : (io_bytes){(unsigned char *)text, strlen(text)};
}

#define FRAMES 8

// What a format can hold of a scene that walks.
typedef struct walk {
    poise_file file;
    poise_posture posture;
    poise_goal goal;
    scene_marker sites[41]; // the names of the placements
    poise_placement placements[41];
} walk;

static void make_walk(walk *w, poise_format format)
{
    bool has_markers = format == POISE_FORMAT_C3D || format == POISE_FORMAT_TRC || format == POISE_FORMAT_JSON;
    bool is_euler = format == POISE_FORMAT_ASF || format == POISE_FORMAT_AMC;
    bool is_arm = format == POISE_FORMAT_DH || format == POISE_FORMAT_MOT;
    *w = (walk){.file = {.scale = {1.0, POISE_UP_Y}}};
    poise_model *model = of_scene(is_arm ? "erik-c-dh" : is_euler ? "humanoid-euler" : "humanoid");
    poise_clip *clip;
    int nq = poise_model_info(model).nq;
    ck_assert_int_eq(poise_clip_create(FRAMES, nq, 0.02, NULL, &clip, NULL), POISE_OK);
    own_clip(clip);
    for (int f = 0; f < FRAMES && !is_arm; ++f) {
        scene_motion_pose(model, "walk", f * 0.02, clip->q + (size_t)f * (size_t)nq);
    }
    w->file.model = model;
    w->file.clip = clip;
    if (!has_markers) {
        return;
    }
    const scene_marker *sites = w->sites;
    ck_assert_int_eq(scene_markers("humanoid", w->sites, 41), 41);
    for (int i = 0; i < 41; ++i) {
        w->placements[i] = (poise_placement){sites[i].name, sites[i].body, sites[i].local, 1.0};
    }
    ck_assert_int_eq(poise_markers_from_clip(model, clip, w->file.scale, w->placements, 41, NULL, &w->file.markers, NULL),
                     POISE_OK);
    own_markers(w->file.markers);
    if (format == POISE_FORMAT_JSON) {
        w->posture = (poise_posture){"stand", clip->q};
        w->goal = poise_goal_posture(clip->q, 1.0);
        w->file.postures = &w->posture, w->file.posture_count = 1;
        w->file.goals = &w->goal, w->file.goal_count = 1;
        w->file.placements = w->placements, w->file.placement_count = 41;
    }
}

static io_bytes walking(int format)
{
    walk w;
    make_walk(&w, (poise_format)format);
    return io_write(&w.file, (poise_format)format, -1);
}

// ---- The table -----------------------------------------------------------------------------------------------------------

// What comes of writing what was read. Sums: other positions are rounded with the OFFSET that they hold, and the same from
// then on. Rounded: likewise to single precision, whatever is read.
enum { NOT_WRITTEN, SAME, SUMS, ROUNDED };

typedef struct document {
    const char *name;
    poise_format format;
    int written;
    const char *text; // or
    io_bytes (*make)(int how);
    int how;
    poise_model *(*model)(void); // that it moves; NULL: none
} document;

static const document documents[] = {
    {"urdf", POISE_FORMAT_URDF, NOT_WRITTEN, document_urdf, NULL, 0, NULL},
    {"mjcf", POISE_FORMAT_MJCF, NOT_WRITTEN, document_mjcf, NULL, 0, NULL},
    {"osim", POISE_FORMAT_OSIM, NOT_WRITTEN, document_osim, NULL, 0, NULL},
    {"old osim", POISE_FORMAT_OSIM, NOT_WRITTEN, document_osim_old, NULL, 0, NULL},
    {"bvh", POISE_FORMAT_BVH, SAME, document_bvh, NULL, 0, NULL},
    {"bvh with positions", POISE_FORMAT_BVH, SUMS, bvh_positions, NULL, 0, NULL},
    {"odd bvh", POISE_FORMAT_BVH, SAME, bvh_odd, NULL, 0, NULL},
    {"asf", POISE_FORMAT_ASF, SAME, document_asf, NULL, 0, NULL},
    {"amc", POISE_FORMAT_AMC, SAME, document_amc, NULL, 0, of_asf},
    {"odd amc", POISE_FORMAT_AMC, SAME, amc_odd, NULL, 0, of_asf},
    {"c3d, Intel float", POISE_FORMAT_C3D, SAME, NULL, forged, 0, NULL},
    {"c3d, DEC float", POISE_FORMAT_C3D, SAME, NULL, forged, 1, NULL},
    {"c3d, MIPS float", POISE_FORMAT_C3D, SAME, NULL, forged, 2, NULL},
    {"c3d, Intel integer", POISE_FORMAT_C3D, SAME, NULL, forged, 3, NULL},
    {"c3d, DEC integer", POISE_FORMAT_C3D, SAME, NULL, forged, 4, NULL},
    {"c3d, MIPS integer", POISE_FORMAT_C3D, SAME, NULL, forged, 5, NULL},
    {"trc", POISE_FORMAT_TRC, SAME, document_trc, NULL, 0, NULL},
    {"mot", POISE_FORMAT_MOT, SAME, document_mot, NULL, 0, of_mot},
    {"dh", POISE_FORMAT_DH, ROUNDED, document_dh, NULL, 0, NULL},
    {"gltf", POISE_FORMAT_GLTF, ROUNDED, NULL, animated, 0, NULL},
    {"glb", POISE_FORMAT_GLB, ROUNDED, NULL, animated, 1, NULL},
    {"json", POISE_FORMAT_JSON, SAME, document_json, NULL, 0, NULL},
    {"srdf", POISE_FORMAT_SRDF, NOT_WRITTEN, document_srdf, NULL, 0, of_json},
    {"walk as bvh", POISE_FORMAT_BVH, SAME, NULL, walking, POISE_FORMAT_BVH, NULL},
    {"walk as asf", POISE_FORMAT_ASF, SAME, NULL, walking, POISE_FORMAT_ASF, NULL},
    {"walk as amc", POISE_FORMAT_AMC, SAME, NULL, walking, POISE_FORMAT_AMC, of_euler_asf},
    {"walk as c3d", POISE_FORMAT_C3D, SAME, NULL, walking, POISE_FORMAT_C3D, NULL},
    {"walk as trc", POISE_FORMAT_TRC, SAME, NULL, walking, POISE_FORMAT_TRC, NULL},
    {"arm as mot", POISE_FORMAT_MOT, SAME, NULL, walking, POISE_FORMAT_MOT, of_arm},
    {"arm as dh", POISE_FORMAT_DH, SAME, NULL, walking, POISE_FORMAT_DH, NULL},
    {"walk as gltf", POISE_FORMAT_GLTF, ROUNDED, NULL, walking, POISE_FORMAT_GLTF, NULL},
    {"walk as glb", POISE_FORMAT_GLB, ROUNDED, NULL, walking, POISE_FORMAT_GLB, NULL},
    {"walk as json", POISE_FORMAT_JSON, SAME, NULL, walking, POISE_FORMAT_JSON, NULL},
};

#define EACH_DOCUMENT(name) TEST_ROWS(name, TEST_COUNT(documents))

static io_bytes bytes_of(const document *d)
{
    return d->text ? copy_of(d->text, strlen(d->text)) : d->make(d->how);
}

static poise_model *model_for(const document *d)
{
    return d->model ? d->model() : NULL;
}

// Do it to the bytes of a document, with the model that it needs.
static void with_document(int row, void (*act)(io_bytes bytes, poise_format format, const poise_model *model))
{
    io_bytes bytes = bytes_of(&documents[row]);
    poise_model *model = model_for(&documents[row]);
    act(bytes, documents[row].format, model);
}

static void read_without_format(io_bytes bytes, poise_format format, const poise_model *model)
{
    ck_assert_int_eq(poise_format_detect(bytes.bytes, bytes.size, "x.txt"), format);
    poise_file *file = io_read(bytes.bytes, bytes.size, POISE_FORMAT_UNKNOWN, model);
    ck_assert_int_eq(file->format, format);
    ck_assert(io_is_sound(file));
}

EACH_DOCUMENT(its_content_tells_its_format)
{
    with_document(test_row, read_without_format);
}

EACH_DOCUMENT(cut_anywhere_it_is_read_or_refused)
{
    with_document(test_row, io_survives_cuts);
}

EACH_DOCUMENT(with_any_byte_changed_it_is_read_or_refused)
{
    with_document(test_row, io_survives_changes);
}

static void read_without_memory(io_bytes bytes, poise_format format, const poise_model *model)
{
    ck_assert_int_gt(io_reads_without_memory(bytes, format, model), 1);
}

EACH_DOCUMENT(without_memory_it_is_refused)
{
    with_document(test_row, read_without_memory);
}

// Also numbers that no decimal of 17 digits gives: those of a clip are replaced.
EACH_DOCUMENT(written_it_reads_back_to_the_same_bits)
{
    const document *d = &documents[test_row];
    if (d->written == NOT_WRITTEN) {
        return;
    }
    io_bytes bytes = bytes_of(d);
    poise_model *model = model_for(d);
    poise_file *read = io_read(bytes.bytes, bytes.size, d->format, model);
    poise_file file = *read;
    file.model = file.model ? file.model : model;
    if (d->written == ROUNDED) {
        io_bytes once = io_write(&file, d->format, -1);
        read = io_read(once.bytes, once.size, d->format, model);
        file = *read;
    }
    io_round_trip(&file, d->format, -1);
    io_writes_without_memory(&file, d->format);
    bool has_euler = d->format == POISE_FORMAT_BVH || d->format == POISE_FORMAT_AMC || d->format == POISE_FORMAT_MOT;
    scene_random random = scene_random_make(5);
    for (int i = 0; has_euler && i < file.clip->frames * file.clip->nq; ++i) {
        file.clip->q[i] = scene_random_range(&random, -3.5, 3.5);
    }
    if (d->written == SUMS) {
        io_bytes once = io_write(&file, d->format, -1);
        file = *io_read(once.bytes, once.size, d->format, model);
    }
    if (has_euler) {
        io_round_trip(&file, d->format, -1);
    }
}

// What a format does not hold as it is, is written all the same, or memory is missing.
TEST_ROWS(a_scene_is_written_or_memory_is_missing, POISE_FORMAT_COUNT - 1)
{
    poise_format format = (poise_format)(1 + test_row);
    if (format == POISE_FORMAT_URDF || format == POISE_FORMAT_MJCF || format == POISE_FORMAT_OSIM ||
        format == POISE_FORMAT_SRDF) {
        void *bytes = NULL;
        size_t size;
        ck_assert_int_eq(poise_write(&(poise_file){0}, format, NULL, &bytes, &size, NULL, NULL, NULL),
                         POISE_ERROR_UNSUPPORTED);
        return;
    }
    walk w;
    make_walk(&w, format);
    ck_assert_int_gt(io_writes_without_memory(&w.file, format), 0);
}

// ---- Time in proportion --------------------------------------------------------------------------------------------------

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

TEST_ROWS(ten_times_the_bytes_take_ten_times_the_time, TEST_COUNT(growths))
{
    io_text text[2] = {{0}, {0}};
    poise_model *model = growths[test_row].model ? growths[test_row].model() : NULL;
    growths[test_row].grow(&text[0], growths[test_row].n);
    growths[test_row].grow(&text[1], 10 * growths[test_row].n);
    io_bytes small = {(unsigned char *)text[0].text, text[0].size}, large = {(unsigned char *)text[1].text, text[1].size};
    io_is_linear(small, large, growths[test_row].format, model);
    free(text[0].text);
    free(text[1].text);
}

TEST(ten_times_the_frames_of_a_c3d_take_ten_times_the_time)
{
    io_bytes bytes[2];
    for (int k = 0; k < 2; ++k) {
        poise_markers *markers;
        ck_assert_int_eq(poise_markers_create(k == 0 ? 5000 : 50000, 40, 100, NULL, NULL, &markers, NULL), POISE_OK);
        for (int i = 0; i < markers->frames * 40; ++i) {
            markers->position[i] = (poise_vec3){i % 1000, 0.5 * (i % 77), i % 7};
        }
        bytes[k] = io_write(&(poise_file){.markers = markers}, POISE_FORMAT_C3D, -1);
        poise_markers_destroy(markers);
    }
    io_is_linear(bytes[0], bytes[1], POISE_FORMAT_C3D, NULL);
}

// ---- Files of others -----------------------------------------------------------------------------------------------------

static const struct {
    const char *folder, *extension;
    poise_format format;
    int written;
    const char *skeleton; // whose model the file moves
} folders[] = {
    {"urdf", ".urdf", POISE_FORMAT_URDF, NOT_WRITTEN, NULL},
    {"bad/urdf", ".urdf", POISE_FORMAT_URDF, NOT_WRITTEN, NULL},
    {"mjcf", ".xml", POISE_FORMAT_MJCF, NOT_WRITTEN, NULL},
    {"osim/zoo", ".osim", POISE_FORMAT_OSIM, NOT_WRITTEN, NULL},
    {"bvh", ".bvh", POISE_FORMAT_BVH, SAME, NULL},
    {"asfamc", ".asf", POISE_FORMAT_ASF, SAME, NULL},
    {"asfamc", ".amc", POISE_FORMAT_AMC, SAME, "asfamc/07-walk.asf"},
    {"hdm05", ".asf", POISE_FORMAT_ASF, SAME, NULL},
    {"hdm05", ".amc", POISE_FORMAT_AMC, SAME, "hdm05/HDM_dg.asf"},
    {"hdm05", ".c3d", POISE_FORMAT_C3D, ROUNDED, NULL},
    {"c3d", ".c3d", POISE_FORMAT_C3D, ROUNDED, NULL},
    {"c3d", ".C3D", POISE_FORMAT_C3D, ROUNDED, NULL},
    {"bad/c3d", "3d", POISE_FORMAT_C3D, NOT_WRITTEN, NULL},
    {"trc", ".trc", POISE_FORMAT_TRC, SAME, NULL},
    {"opensim", ".trc", POISE_FORMAT_TRC, SAME, NULL},
    {"bad/trc", ".trc", POISE_FORMAT_TRC, SAME, NULL},
    {"gltf", ".gltf", POISE_FORMAT_GLTF, NOT_WRITTEN, NULL},
    {"gltf", ".glb", POISE_FORMAT_GLB, NOT_WRITTEN, NULL},
    {"bad/gltf", ".gltf", POISE_FORMAT_GLTF, NOT_WRITTEN, NULL},
    {"bad/gltf", ".glb", POISE_FORMAT_GLB, NOT_WRITTEN, NULL},
};

// A file that can be read comes back as it was, after one writing where that rounds.
static void check_there_and_back(io_bytes bytes, int row, const poise_model *model)
{
    poise_format format = folders[row].format;
    poise_read_options options = io_options(format, model);
    poise_file *read = NULL;
    if (folders[row].written == NOT_WRITTEN ||
        poise_read(bytes.bytes, bytes.size, &options, NULL, &read, NULL) != POISE_OK) {
        return;
    }
    poise_file file = *io_own(read);
    file.model = file.model ? file.model : (poise_model *)model;
    if (folders[row].written == ROUNDED) {
        io_bytes once = io_write(&file, format, -1);
        file = *io_read(once.bytes, once.size, format, NULL);
    }
    io_round_trip(&file, format, -1);
}

TEST_DATA_ROWS(files_of_others_survive_the_same, TEST_COUNT(folders), "data")
{
    char path[4096];
    snprintf(path, sizeof path, "%s/data/%s", POISE_SHARED_DIR, folders[test_row].folder);
    DIR *folder = opendir(path);
    ck_assert_msg(folder != NULL, "%s", path);
    poise_file *skeleton =
        folders[test_row].skeleton ? io_read_shared(folders[test_row].skeleton, POISE_FORMAT_ASF, NULL) : NULL;
    const poise_model *model = skeleton ? skeleton->model : NULL;
    int found = 0;
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        const char *tail = strstr(entry->d_name, folders[test_row].extension);
        if (!tail || strlen(tail) != strlen(folders[test_row].extension)) {
            continue;
        }
        snprintf(path, sizeof path, "%s/%s", folders[test_row].folder, entry->d_name);
        io_bytes bytes = io_load(path);
        io_survives_cuts(bytes, folders[test_row].format, model);
        io_survives_changes(bytes, folders[test_row].format, model);
        check_there_and_back(bytes, test_row, model);
        found += 1;
    }
    ck_assert_msg(found > 0, "no %s in %s", folders[test_row].extension, folders[test_row].folder);
    closedir(folder);
}
