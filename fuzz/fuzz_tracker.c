// Any model, placements and frames for the tracker, and calibration from the same frames.
#include "fuzz.h"
#include "structured.h"

#include <poise/track.h>

#include <math.h>

#define MARKERS 6
#define FRAMES  6

typedef struct task {
    poise_model *model;
    int count, frames;
    poise_placement placements[MARKERS];
    poise_markers *markers;
} task;

static void take_markers(fuzz_bytes *bytes, task *t)
{
    static const char *const labels[MARKERS] = {"a", "b", "c", "d", "e", "f"};
    t->count = 1 + fuzz_index(bytes, MARKERS);
    t->frames = 1 + fuzz_index(bytes, FRAMES);
    for (int i = 0; i < t->count; ++i) {
        int body = fuzz_index(bytes, poise_model_info(t->model).joints);
        poise_vec3 local = fuzz_vec3(bytes);
        t->placements[i] = (poise_placement){labels[i], body, local, fuzz_number_or(bytes, 1.0)};
    }
    if (poise_markers_create(t->frames, t->count, 100.0, labels, NULL, &t->markers, NULL) != POISE_OK) {
        return;
    }
    for (int i = 0; i < t->frames * t->count; ++i) {
        t->markers->position[i] = fuzz_vec3(bytes);
    }
}

static void follow(fuzz_bytes *bytes, const task *t)
{
    poise_track_problem problem = poise_track_problem_default();
    problem.model = t->model;
    problem.placements = t->placements;
    problem.placement_count = t->count;
    problem.markers = t->markers;
    int features = fuzz_byte(bytes);
    problem.solver.max_iterations = 1 + fuzz_index(bytes, 12);
    problem.restarts = fuzz_index(bytes, 3);
    problem.least_markers = fuzz_index(bytes, 5);
    problem.robust = features & 1;
    problem.chunk = 1 + fuzz_index(bytes, 4);
    if (features & 2) {
        problem.outlier = fuzz_number(bytes);
        problem.smoothness = fuzz_number(bytes);
        problem.max_turn = fuzz_number(bytes);
    }
    poise_clip *clip = NULL;
    poise_track_frame frames[FRAMES];
    poise_error error = {.text = ""};
    poise_status status = poise_track(&problem, NULL, &clip, frames, &error);
    if (status != POISE_OK) {
        fuzz_require(!clip && error.text[0] != '\0', "an error without a text");
        return;
    }
    for (int f = 0; f < t->frames; ++f) {
        fuzz_check_answer(t->model, clip->q + (size_t)f * (size_t)clip->nq, true);
        fuzz_require(isfinite(frames[f].rms), "the rms of a frame is not finite");
        fuzz_require(isfinite(frames[f].worst), "the worst error of a frame is not finite");
        fuzz_require(isfinite(frames[f].turn), "the turn of a frame is not finite");
    }
    poise_clip_destroy(clip);
}

// Where the placements are, more or less, along a bone that lies along x.
static void take_priors(fuzz_bytes *bytes, const task *t, poise_place_prior *priors)
{
    for (int i = 0; i < t->count; ++i) {
        priors[i] = (poise_place_prior){.place = t->placements[i].local, .axis = {1, 0, 0}, .outward = {0, i % 2, 0}};
        priors[i].along = fuzz_number_or(bytes, 0.05);
        priors[i].across = fuzz_number_or(bytes, 0.02);
    }
}

static void calibrate(fuzz_bytes *bytes, task *t)
{
    poise_calibration problem = poise_calibration_default();
    problem.model = t->model;
    problem.placements = t->placements;
    problem.placement_count = t->count;
    problem.markers = t->markers;
    problem.frame_count = t->frames;
    problem.solver.max_iterations = 1 + fuzz_index(bytes, 6);
    problem.rounds = 1 + fuzz_index(bytes, 3);
    problem.scaling = (poise_scaling)fuzz_index(bytes, 3);
    problem.scale_prior = fuzz_number_or(bytes, problem.scale_prior);
    int features = fuzz_byte(bytes);
    poise_place_prior priors[MARKERS];
    double q[FUZZ_NUMBERS];
    if (features & 1) {
        take_priors(bytes, t, priors);
        problem.priors = priors;
        problem.noise = fuzz_number_or(bytes, 0.0);
        problem.size = fuzz_number_or(bytes, 1.0);
    }
    if (features & 2) {
        fuzz_configuration(bytes, t->model, q);
        problem.q = q;
    }
    poise_model *fitted = NULL;
    poise_error error = {.text = ""};
    poise_status status = poise_calibrate(&problem, NULL, &fitted, NULL, &error);
    fuzz_require(status == POISE_OK || (!fitted && error.text[0] != '\0'), "an error without a text");
    for (int i = 0; i < t->count && status == POISE_OK; ++i) {
        poise_vec3 p = t->placements[i].local;
        fuzz_require(isfinite(p.x) && isfinite(p.y) && isfinite(p.z), "an offset is not finite");
    }
    if (status == POISE_OK && problem.q) {
        fuzz_check_answer(fitted ? fitted : t->model, q, true);
    }
    poise_model_destroy(fitted);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_bytes bytes = {data, data + size};
    int kind = fuzz_byte(&bytes);
    task t = {.model = fuzz_model(&bytes, NULL, 0)};
    if (!t.model) {
        return 0;
    }
    take_markers(&bytes, &t);
    if (t.markers && kind & 1) {
        calibrate(&bytes, &t);
    } else if (t.markers) {
        follow(&bytes, &t);
    }
    poise_markers_destroy(t.markers);
    poise_model_destroy(t.model);
    return 0;
}
