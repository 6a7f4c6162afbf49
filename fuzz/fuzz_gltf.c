// Any bytes as glTF, text or binary: read or refused. What is read is finite, and can be written and read again, with the
// same bodies; numbers go through single precision, so that not all bits come back.
#include "fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Other files that the input names: the bytes of the input itself.
typedef struct self {
    const uint8_t *data;
    size_t size;
} self;

static poise_status load_self(void *user, const char *name, const void **bytes, size_t *size)
{
    (void)name;
    *bytes = ((const self *)user)->data;
    *size = ((const self *)user)->size;
    return POISE_OK;
}

static void require(bool condition)
{
    if (!condition) {
        abort();
    }
}

static void check_finite(const poise_file *file)
{
    for (int j = 0; file->model && j < poise_model_info(file->model).joints; ++j) {
        poise_pose pose = poise_model_joint_info(file->model, j).given->offset;
        require(isfinite(pose.position.x) && isfinite(pose.position.y) && isfinite(pose.position.z));
        require(isfinite(pose.rotation.x) && isfinite(pose.rotation.w));
    }
    for (size_t i = 0; file->clip && i < (size_t)file->clip->frames * (size_t)file->clip->nq; ++i) {
        require(isfinite(file->clip->q[i]));
    }
}

static void check_written(const poise_file *file, poise_format format)
{
    void *bytes = NULL;
    size_t size = 0;
    poise_error error = {.text = ""};
    poise_status status = poise_write(file, format, NULL, &bytes, &size, NULL, NULL, &error);
    // a number beyond a float, a clip too long, or no model: refused with words
    require(status == POISE_OK || error.text[0] != '\0');
    if (status != POISE_OK) {
        return;
    }
    poise_read_options options = {0};
    options.format = format;
    poise_file *again = NULL;
    require(poise_read(bytes, size, &options, NULL, &again, &error) == POISE_OK);
    require(poise_model_info(again->model).joints == poise_model_info(file->model).joints);
    require(poise_model_info(again->model).tools == poise_model_info(file->model).tools);
    for (int k = 0; k < poise_model_info(file->model).joints; ++k) {
        require(strcmp(poise_model_joint_info(file->model, k).body, poise_model_joint_info(again->model, k).body) == 0);
    }
    poise_file_destroy(again);
    poise_bytes_release(NULL, bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    self given = {data, size};
    poise_read_options options = {0};
    options.format = size > 0 && data[0] == 'g' ? POISE_FORMAT_GLB : POISE_FORMAT_GLTF;
    options.load = load_self;
    options.user = &given;
    poise_error error = {.text = ""};
    poise_file *file = NULL;
    if (poise_read(data, size, &options, NULL, &file, &error) != POISE_OK) {
        require(error.text[0] != '\0' && !file);
        return 0;
    }
    check_finite(file);
    check_written(file, size % 2 ? POISE_FORMAT_GLTF : POISE_FORMAT_GLB);
    poise_file_destroy(file);
    return 0;
}
