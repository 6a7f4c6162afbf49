// Any clip of any model, cut, sampled and brought to another skeleton, and filtered as it comes.
#include "fuzz.h"
#include "structured.h"

#include <poise/filter.h>
#include <poise/track.h>

#include <math.h>

#define FRAMES 6
#define STEPS  4 // of the filter, in each frame

// Every number of a clip that was made of sound frames is finite.
static void check_clip(const poise_model *model, const poise_clip *clip)
{
    for (int f = 0; f < clip->frames; ++f) {
        fuzz_check_answer(model, clip->q + (size_t)f * (size_t)clip->nq, false);
    }
}

static void cut(fuzz_bytes *bytes, const poise_model *model, const poise_clip *clip)
{
    poise_clip *made = NULL;
    poise_error error = {.text = ""};
    double q[FUZZ_NUMBERS];
    if (poise_clip_sample(clip, model, fuzz_number(bytes), q, &error) == POISE_OK) {
        fuzz_check_answer(model, q, false);
    }
    poise_status status = poise_clip_trim(clip, fuzz_index(bytes, 8) - 1, fuzz_index(bytes, 8) - 1, NULL, &made, &error);
    fuzz_require(status == POISE_OK || (!made && error.text[0] != '\0'), "an error without a text");
    poise_clip_destroy(made);
    made = NULL;
    double frame_time = fuzz_number_or(bytes, 0.004);
    if (clip->frames * (clip->frame_time / frame_time) < 1e4) { // more frames are only slow
        status = poise_clip_resample(clip, model, frame_time, NULL, &made, &error);
        fuzz_require(status == POISE_OK || (!made && error.text[0] != '\0'), "an error without a text");
        if (status == POISE_OK) {
            check_clip(model, made);
        }
        poise_clip_destroy(made);
    }
}

static void retarget(fuzz_bytes *bytes, const poise_model *from, const poise_clip *clip)
{
    static const char *const pairs[] = {"a=b", "b=nothing"};
    poise_model *to = fuzz_model(bytes, NULL, 0);
    if (!to) {
        return;
    }
    int features = fuzz_byte(bytes);
    poise_retarget_problem problem = {.from = from,
                                      .clip = clip,
                                      .from_scale = {fuzz_number_or(bytes, 1.0), (poise_up)fuzz_index(bytes, 4)},
                                      .to = to,
                                      .to_scale = {fuzz_number_or(bytes, 0.01), (poise_up)fuzz_index(bytes, 4)},
                                      .pairs = pairs,
                                      .pair_count = features & 3 ? 0 : 1 + (features >> 2 & 1),
                                      .keep_size = features & 8};
    poise_placement placements[2 * FUZZ_JOINTS];
    poise_markers *markers = NULL;
    poise_retarget_report report;
    poise_error error = {.text = ""};
    poise_status status = poise_retarget_points(&problem, NULL, &markers, placements, &report, &error);
    fuzz_require(status == POISE_OK || (!markers && error.text[0] != '\0'), "an error without a text");
    for (int i = 0; status == POISE_OK && i < report.points; ++i) {
        fuzz_require(placements[i].body >= 0 && placements[i].body < poise_model_info(to).joints, "a point on no body");
        fuzz_require(poise_markers_find(markers, placements[i].label) >= 0, "a point without its marker");
    }
    poise_markers_destroy(markers);
    poise_model_destroy(to);
}

static void filter(fuzz_bytes *bytes, const poise_model *model, const poise_clip *clip)
{
    poise_filter_joint joints[FUZZ_JOINTS];
    for (int k = 0; k < FUZZ_JOINTS; ++k) {
        joints[k] = poise_filter_joint_default();
        joints[k].velocity = fuzz_number_or(bytes, 2.0);
        joints[k].acceleration = fuzz_number_or(bytes, 10.0);
        joints[k].jerk = fuzz_number_or(bytes, 100.0);
        joints[k].smoothness = fuzz_number_or(bytes, 0.0);
        joints[k].mode = (poise_filter_mode)fuzz_index(bytes, POISE_FILTER_MODE_COUNT);
    }
    poise_filter *made = NULL;
    if (poise_filter_create(model, joints, poise_model_info(model).joints, NULL, &made, NULL) != POISE_OK) {
        return;
    }
    double q[FUZZ_NUMBERS];
    for (int f = 0; f < clip->frames; ++f) {
        const double *setpoint = clip->q + (size_t)f * (size_t)clip->nq;
        poise_status status = f == 0 ? poise_filter_reset(made, setpoint, NULL) : POISE_OK;
        for (int step = 0; step < STEPS && status == POISE_OK; ++step) {
            if (poise_filter_step(made, setpoint, fuzz_number_or(bytes, 0.02), q, NULL) == POISE_OK) {
                fuzz_check_answer(model, q, true);
            }
        }
        int number = fuzz_index(bytes, FUZZ_JOINTS + 1); // beyond the model's: refused
        poise_filter_set_joint(made, number, &joints[number % FUZZ_JOINTS], NULL);
    }
    double x[FUZZ_NUMBERS] = {0}, velocity[FUZZ_NUMBERS] = {0}, acceleration[FUZZ_NUMBERS] = {0}, left[FUZZ_NUMBERS];
    bool rests = poise_filter_rests(made);
    poise_filter_state(made, x, velocity, acceleration, left);
    for (int i = 0; i < poise_model_info(model).nv; ++i) {
        fuzz_require(isfinite(x[i]) && isfinite(velocity[i]) && isfinite(acceleration[i]), "the state is not finite");
        fuzz_require(!rests || fabs(velocity[i]) <= 1e-3, "at rest, and moving");
    }
    poise_filter_destroy(made);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_bytes bytes = {data, data + size};
    int kind = fuzz_index(&bytes, 3);
    poise_model *model = fuzz_model(&bytes, NULL, 0);
    poise_clip *clip = model ? fuzz_clip(&bytes, model, 0, FRAMES, 0.01) : NULL;
    if (clip && kind == 0) {
        cut(&bytes, model, clip);
    } else if (clip && kind == 1) {
        retarget(&bytes, model, clip);
    } else if (clip) {
        filter(&bytes, model, clip);
    }
    poise_clip_destroy(clip);
    poise_model_destroy(model);
    return 0;
}
