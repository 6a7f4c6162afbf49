// What every reader promises, over a table of documents: cut anywhere, with any byte changed or without memory it gives a
// sound file or an error with a place; what is written reads back to the same bits. A new format is a row of `documents`, and one
// of `growths` in test_growth.c.
#include "documents.h"
#include "support/c3d_forge.h"
#include "support/gltf_text.h"
#include "support/io_check.h"
#include "support/skeleton.h"

#include <app/cli/data_files.h>
#include <scenes/scenes.h>

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

TEST_ROWS(files_of_others_survive_the_same, TEST_COUNT(folders))
{
    poise_file *skeleton =
        folders[test_row].skeleton ? io_read_data(folders[test_row].skeleton, POISE_FORMAT_ASF, NULL) : NULL;
    const poise_model *model = skeleton ? skeleton->model : NULL;
    int found = 0;
    const char *path;
    for (int i = 0; (path = data_listed(folders[test_row].folder, i)); ++i) {
        size_t length = strlen(path), end = strlen(folders[test_row].extension);
        if (length < end || strcmp(path + length - end, folders[test_row].extension) != 0) {
            continue;
        }
        io_bytes bytes = io_load(path);
        io_survives_cuts(bytes, folders[test_row].format, model);
        io_survives_changes(bytes, folders[test_row].format, model);
        check_there_and_back(bytes, test_row, model);
        found += 1;
    }
    ck_assert_msg(found > 0, "no %s in %s", folders[test_row].extension, folders[test_row].folder);
}
