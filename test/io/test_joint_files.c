// Every joint in files, over the table of joints (support/joint_facts.c): Poise's own format keeps every bit, the others
// carry its motion, or say what they cannot.
#include "support/io_check.h"
#include "support/joint_facts.h"

#include <math.h>

#define FRAMES 12

// The joint with a tip below it, without mass, and a clip of random poses; a mimic follows a hinge before it.
static poise_file moving(const joint_facts *row, bool has_limits)
{
    poise_builder *builder = new_builder();
    poise_joint joint = joint_of_row(row), tip = joint_of("tip", "subject", POISE_JOINT_FIXED);
    joint.parent = row->mimic ? "base" : NULL;
    if (row->mimic) {
        add_plain(builder, "base", NULL, POISE_JOINT_REVOLUTE);
    }
    joint.mass = has_limits ? joint.mass : 0.0;
    for (int i = 0; i < 6 && has_limits && row->quaternion == NO_QUATERNION && !row->function; ++i) {
        joint.lower[i] = i % 3 == 1 ? -INFINITY : -0.1 - i / 3.0;
        joint.upper[i] = i % 3 == 2 ? INFINITY : 0.7 + i / 7.0;
    }
    joint.swing[0] = has_limits && row->type == POISE_JOINT_SWING_TWIST ? 0.4 : INFINITY;
    joint.swing[1] = has_limits && row->type == POISE_JOINT_SWING_TWIST ? 1.1 : INFINITY;
    add(builder, &joint);
    tip.offset.position = poise_vec3_make(0.2, 0.3, -0.1);
    add(builder, &tip);
    poise_model *model = model_of(builder);
    poise_clip *clip = NULL;
    int nq = poise_model_info(model).nq;
    scene_random random = scene_random_make(7);
    ck_assert_int_eq(poise_clip_create(FRAMES, nq, 0.02, NULL, &clip, NULL), POISE_OK);
    for (int f = 0; f < FRAMES; ++f) {
        scene_random_configuration(&random, model, clip->q + (size_t)f * (size_t)nq);
    }
    return (poise_file){.model = model, .clip = own_clip(clip), .scale = {1.0, POISE_UP_Y}};
}

TEST_EACH_JOINT(poise_keeps_every_bit)
{
    for (int has_limits = 0; has_limits < 2; ++has_limits) {
        poise_file file = moving(&joint_rows[test_row], has_limits);
        io_round_trip(&file, POISE_FORMAT_JSON, 0);
    }
}

// ---- Formats of others ---------------------------------------------------------------------------------------------------

static const struct {
    poise_format format;
    bool has_motion;
    int carried;      // rows; the others are refused in words
    double tolerance; // of places: decimals of degrees, or single precision
} formats[] = {
    {POISE_FORMAT_BVH, true, JOINT_ROWS, 1e-12},
    {POISE_FORMAT_ASF, false, 9, 1e-12},
    {POISE_FORMAT_GLTF, true, JOINT_ROWS, 2e-6},
    {POISE_FORMAT_GLB, true, JOINT_ROWS, 2e-6},
};

// Write it, read it, and compare where the tip is. False: refused.
static bool is_carried(const poise_file *file, int row)
{
    void *bytes = NULL;
    size_t size = 0;
    poise_error error = {0};
    poise_format format = formats[row].format;
    if (poise_write(file, format, NULL, &bytes, &size, NULL, NULL, &error) != POISE_OK) {
        ck_assert_msg(strstr(error.text, "\"subject\"") != NULL, "%s", error.text);
        return false;
    }
    poise_file *read = io_read(bytes, size, format, NULL);
    bool moves = formats[row].has_motion && (read->clip || file->clip->nq > 0); // glTF animates what moves
    ck_assert(!moves || read->clip);
    for (int f = 0; f < FRAMES; ++f) {
        poise_vec3 a = moves ? io_place(file->model, file->clip, f, "tip") : io_pose(file->model, NULL, "tip").position;
        poise_vec3 b = moves ? io_place(read->model, read->clip, f, "tip") : io_pose(read->model, NULL, "tip").position;
        io_near(b, (double[]){a.x, a.y, a.z}, formats[row].tolerance, "tip");
    }
    poise_bytes_release(NULL, bytes);
    return true;
}

TEST_ROWS(what_is_written_moves_as_before, TEST_COUNT(formats))
{
    int carried = 0;
    for (int i = 0; i < JOINT_ROWS; ++i) {
        poise_file file = moving(&joint_rows[i], false);
        file.clip = formats[test_row].has_motion ? file.clip : NULL;
        carried += is_carried(&file, test_row);
    }
    ck_assert_int_eq(carried, formats[test_row].carried);
}
