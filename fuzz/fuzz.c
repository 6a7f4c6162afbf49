#include "fuzz.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void require(bool condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "broken: %s\n", what);
        abort();
    }
}

static bool same_bits(const double *a, const double *b, size_t count)
{
    return count == 0 || memcmp(a, b, count * sizeof *a) == 0;
}

static bool is_finite_pose(poise_pose pose)
{
    double sum = pose.position.x + pose.position.y + pose.position.z;
    sum += pose.rotation.x + pose.rotation.y + pose.rotation.z + pose.rotation.w;
    return isfinite(sum) || !isnan(sum); // a sum of finite numbers may overflow
}

static void check_numbers(const poise_file *file)
{
    for (int j = 0; file->model && j < poise_model_info(file->model).joints; ++j) {
        require(is_finite_pose(poise_model_joint_info(file->model, j).given->offset), "a joint's offset is not finite");
    }
    for (int t = 0; file->model && t < poise_model_info(file->model).tools; ++t) {
        require(is_finite_pose(poise_model_tool_info(file->model, t).pose), "a tool's pose is not finite");
    }
    if (file->clip) {
        size_t count = (size_t)file->clip->frames * (size_t)file->clip->nq;
        for (size_t i = 0; i < count; ++i) {
            require(isfinite(file->clip->q[i]), "a number of the clip is not finite");
        }
        require(isfinite(file->clip->frame_time) && file->clip->frame_time > 0, "frame time");
    }
    if (file->markers) {
        require(isfinite(file->markers->rate) && file->markers->rate > 0, "rate");
    }
}

// Formats that hold a skeleton as it is give every joint back.
static void check_same_joints(const poise_model *a, const poise_model *b)
{
    for (int j = 0; j < poise_model_info(a).joints; ++j) {
        poise_joint x = *poise_model_joint_info(a, j).given, y = *poise_model_joint_info(b, j).given;
        require(x.type == y.type && x.order == y.order, "type of a joint");
        require(memcmp(&x.offset, &y.offset, sizeof x.offset) == 0, "offset of a joint");
        require(memcmp(x.lower, y.lower, sizeof x.lower) == 0, "limits of a joint");
        require(poise_model_joint_info(a, j).parent == poise_model_joint_info(b, j).parent, "parent of a joint");
    }
}

static void check_same(const poise_file *a, const poise_file *b)
{
    require(!a->model == !b->model && !a->clip == !b->clip && !a->markers == !b->markers, "a part was lost");
    if (a->model) {
        require(poise_model_info(a->model).joints == poise_model_info(b->model).joints, "joints");
        require(poise_model_info(a->model).nq == poise_model_info(b->model).nq, "nq");
        if (a->format == POISE_FORMAT_BVH || a->format == POISE_FORMAT_ASF) {
            check_same_joints(a->model, b->model);
        }
    }
    if (a->clip) {
        require(a->clip->frames == b->clip->frames && a->clip->nq == b->clip->nq, "size of the clip");
        require(same_bits(&a->clip->frame_time, &b->clip->frame_time, 1), "frame time");
        require(same_bits(a->clip->q, b->clip->q, (size_t)a->clip->frames * (size_t)a->clip->nq), "bits of the clip");
    }
    if (a->markers) {
        require(a->markers->frames == b->markers->frames && a->markers->count == b->markers->count, "size of the markers");
    }
}

static void check_round_trip(const poise_file *file, const poise_model *model)
{
    poise_error error = {.text = ""};
    void *bytes;
    size_t size;
    poise_file written = *file;
    written.model = file->model ? file->model : (poise_model *)(uintptr_t)model; // a clip needs its model to be written
    poise_status status = poise_write(&written, file->format, NULL, &bytes, &size, NULL, NULL, &error);
    if (status == POISE_ERROR_UNSUPPORTED) {
        return;
    }
    require(status == POISE_OK, error.text);
    poise_read_options options = {0};
    options.format = file->format;
    options.model = model;
    poise_file *again = NULL;
    status = poise_read(bytes, size, &options, NULL, &again, &error);
    if (status != POISE_OK) {
        fprintf(stderr, "line %d of:\n%.2000s\n", error.line, (const char *)bytes);
    }
    require(status == POISE_OK, error.text);
    check_same(file, again);
    poise_file_destroy(again);
    poise_bytes_release(NULL, bytes);
}

poise_file *fuzz_read(poise_format format, const poise_model *model, const uint8_t *data, size_t size)
{
    poise_read_options options = {0};
    options.format = format;
    options.model = model;
    poise_error error = {.text = ""};
    poise_file *file = NULL;
    if (poise_read(data, size, &options, NULL, &file, &error) != POISE_OK) {
        require(error.text[0] != '\0' && !file, "an error without a text");
        return NULL;
    }
    check_numbers(file);
    check_round_trip(file, model);
    return file;
}
