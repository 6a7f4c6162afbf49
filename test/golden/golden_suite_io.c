// The part of the golden suite that writes and reads files.
#include "golden_suite.h"

#include "scenes/scenes.h"

#include <poise/io.h>

#define FRAMES 5

static uint64_t hash_model(uint64_t hash, const poise_model *model)
{
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        poise_joint joint = *poise_model_joint_info(model, k).given;
        hash = golden_hash(hash, &joint.offset, sizeof joint.offset);
        hash = golden_hash(hash, joint.lower, sizeof joint.lower);
        hash = golden_hash(hash, joint.upper, sizeof joint.upper);
        hash = golden_hash(hash, &joint.axis, sizeof joint.axis);
    }
    return hash;
}

// Write, read, and hash both. A format that cannot hold the scene counts as well, with its status.
static uint64_t round_trip(const poise_file *file, poise_format format, uint64_t hash)
{
    void *bytes = NULL;
    size_t size = 0;
    poise_status status = poise_write(file, format, NULL, &bytes, &size, NULL, NULL, NULL);
    if (status != POISE_OK) {
        double why = status;
        return golden_hash_numbers(hash, &why, 1);
    }
    hash = golden_hash(hash, bytes, size);
    poise_read_options options = {0};
    poise_file *again = NULL;
    options.format = format;
    options.model = format == POISE_FORMAT_MOT ? file->model : NULL;
    status = format == POISE_FORMAT_AMC ? POISE_OK : poise_read(bytes, size, &options, NULL, &again, NULL);
    poise_bytes_release(NULL, bytes);
    if (again && again->model) {
        hash = hash_model(hash, again->model);
    }
    if (again && again->clip) {
        hash = golden_hash_numbers(hash, again->clip->q, again->clip->frames * again->clip->nq);
    }
    if (again && again->markers) {
        hash = golden_hash(hash, again->markers->position,
                           (size_t)(again->markers->frames * again->markers->count) * sizeof *again->markers->position);
    }
    poise_file_destroy(again);
    return status == POISE_OK ? hash : 0;
}

static uint64_t scene_files(const char *scene)
{
    poise_model *model = NULL;
    poise_clip *clip = NULL;
    poise_markers *markers = NULL;
    uint64_t hash = 0;
    if (scene_create(scene, NULL, &model, NULL) == POISE_OK &&
        poise_clip_create(FRAMES, poise_model_info(model).nq, 0.01, NULL, &clip, NULL) == POISE_OK &&
        poise_markers_create(FRAMES, 3, 120.0, NULL, NULL, &markers, NULL) == POISE_OK) {
        for (int f = 0; f < FRAMES; ++f) {
            double *q = clip->q + (size_t)f * (size_t)clip->nq;
            poise_model_neutral(model, q);
            if (scene_motion_pose(model, "kick", 0.1 * f, q) != POISE_OK) {
                poise_model_clamp(model, q, NULL, NULL);
            }
            for (int i = 0; i < 2; ++i) { // the third is never seen
                markers->position[3 * f + i] = poise_vec3_make(0.1 * f + i / 3.0, 1.0 / (1.0 + f), -2.0 / 7.0);
            }
        }
        poise_scale metres = {1.0, POISE_UP_Y};
        poise_file file = {.model = model, .clip = clip, .markers = markers, .scale = metres};
        hash = GOLDEN_START;
        for (int format = 1; format <= POISE_FORMAT_JSON && hash != 0; ++format) {
            hash = round_trip(&file, (poise_format)format, hash);
        }
    }
    poise_markers_destroy(markers);
    poise_clip_destroy(clip);
    poise_model_destroy(model);
    return hash;
}

uint64_t golden_suite_files(void)
{
    static const char *const scenes[] = {"arm6",  "gantry",   "hand",           "erik-c-dh",
                                         "scara", "humanoid", "humanoid-euler", "humanoid-quaternion"};
    uint64_t hashes[8];
    for (int i = 0; i < 8; ++i) {
        hashes[i] = scene_files(scenes[i]);
    }
    return golden_suite_join(hashes, 8);
}
