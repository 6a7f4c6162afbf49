// Frames of recordings on a CUDA device: stretches of all chunks are clips.
#include "cuda_device.h"

#include <poise/cuda.h>

#include <stdlib.h>
#include <string.h>

static void *open_body(const poise_track_plan *plan, poise_error *error)
{
    poise_cuda_options options = poise_cuda_options_default();
    poise_cuda *cuda;
    options.solver = *plan->solver;
    options.capacity = 1; // clips bring their own memory
    options.host_memory = false;
    return poise_cuda_create(plan->model, plan->goals, plan->goal_count, &options, &cuda, error) == POISE_OK ? cuda : NULL;
}

static poise_status no_memory(poise_error *error)
{
    if (error) {
        *error = (poise_error){.status = POISE_ERROR_MEMORY, .text = "out of memory"};
    }
    return POISE_ERROR_MEMORY;
}

static void take_answers(const poise_cuda_clip *clip, poise_track_stretch *s)
{
    for (int f = 0; f < s->frames; ++f) {
        s->outcomes[f] = clip->status == POISE_OK ? clip->answers[f].outcome : POISE_OUTCOME_STALLED;
        s->iterations[f] = clip->status == POISE_OK ? clip->answers[f].iterations : 0;
    }
}

static poise_status solve(void *body, const poise_track_plan *plan, poise_track_stretch *stretches, int count,
                          poise_error *error)
{
    size_t frames = 0, nq = (size_t)poise_model_info(plan->model).nq;
    for (int i = 0; i < count; ++i) {
        frames += (size_t)stretches[i].frames;
    }
    poise_cuda_clip *clips = calloc((size_t)count, sizeof *clips);
    poise_cuda_tree_answer *answers = calloc(frames, sizeof *answers);
    poise_status status = clips && answers ? POISE_OK : no_memory(error);
    size_t at = 0;
    for (int i = 0; i < count && status == POISE_OK; ++i) {
        const poise_track_stretch *s = &stretches[i];
        memcpy(s->q, s->start, nq * sizeof *s->q);
        clips[i] = (poise_cuda_clip){.frames = s->frames,
                                     .targets = s->targets,
                                     .weights = s->weights,
                                     .q = s->q,
                                     .answers = answers + at,
                                     .calm = {s->usual, plan->rate, plan->turn, plan->most}};
        at += (size_t)s->frames;
    }
    status = status == POISE_OK ? poise_cuda_solve_clips(body, clips, count, error) : status;
    for (int i = 0; i < count && status == POISE_OK; ++i) {
        take_answers(&clips[i], &stretches[i]);
    }
    free(clips);
    free(answers);
    return status;
}

static void close_body(void *body)
{
    poise_cuda_destroy(body);
}

const track_device cuda_track_device = {cuda_device_begin, cuda_device_name, open_body, solve, close_body};
