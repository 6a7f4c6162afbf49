#include "cuda_clips.h"

#include "base/error.h"
#include "model/model.h"

#include <math.h>
#include <stdlib.h>

#define MOST_FRAMES 1000000 // on the device at once

// Frames in a row, on the host and on the device.
typedef struct row {
    int clips, frames;
    size_t nq, goals, target; // numbers of a frame, and the bytes of a target
    int *begin;               // clips + 1, on the host
    poise_cuda_calm *calm;    // by clip
    unsigned char *memory;    // on the device: begin, calm, targets, weights, q, answers
} row;

// ---- What is sound -------------------------------------------------------------------------------------------------------

static bool are_finite(const double *x, size_t count)
{
    bool finite = true;
    for (size_t i = 0; i < count && finite; ++i) {
        finite = isfinite(x[i]);
    }
    return finite;
}

static bool are_weights(const double *w, size_t count)
{
    bool sound = true;
    for (size_t i = 0; i < count && sound; ++i) {
        sound = isfinite(w[i]) && w[i] >= 0.0;
    }
    return sound;
}

static bool is_calm(const poise_cuda_calm *c)
{
    bool is_none = c->turn == 0.0;
    return is_none || (c->turn > 0 && c->usual >= 0 && c->rate >= 0 && c->rate <= 1 && c->most >= 0 && isfinite(c->usual));
}

static poise_status check_clip(const pz_cuda_clips *all, const poise_cuda_clip *c)
{
    size_t targets = (size_t)(c->frames > 0 ? c->frames : 0) * (size_t)all->goal_count;
    const double *numbers = all->has_poses ? (const double *)c->poses : (const double *)c->targets;
    if (c->frames < 1 || !numbers || !c->q) {
        return POISE_ERROR_ARGUMENT;
    }
    bool sound = is_calm(&c->calm) && pz_model_accepts(all->model, c->q) &&
                 are_finite(numbers, targets * (all->has_poses ? 7 : 3)) &&
                 (!c->weights || are_weights(c->weights, targets));
    for (size_t i = 0; i < targets && sound && all->has_poses; ++i) {
        poise_quat r = c->poses[i].rotation;
        int kind = all->goals[i % (size_t)all->goal_count].kind;
        bool turns = kind == POISE_GOAL_POSE || kind == POISE_GOAL_ORIENTATION;
        sound = !turns || r.x * r.x + r.y * r.y + r.z * r.z + r.w * r.w > 0.0;
    }
    return sound ? POISE_OK : POISE_ERROR_ARGUMENT;
}

// ---- There and back ------------------------------------------------------------------------------------------------------

static size_t round_up(size_t size)
{
    return (size + 255) / 256 * 256;
}

// Where the parts of the memory begin, and all of it.
typedef struct parts {
    size_t calm, targets, weights, q, answers, size;
} parts;

static parts parts_of(const row *r)
{
    size_t frames = (size_t)r->frames, goals = frames * r->goals;
    parts p = {.calm = round_up(((size_t)r->clips + 1) * sizeof(int))};
    p.targets = p.calm + round_up((size_t)r->clips * sizeof *r->calm);
    p.weights = p.targets + round_up(goals * r->target);
    p.q = p.weights + round_up(goals * sizeof(double));
    p.answers = p.q + round_up(frames * r->nq * sizeof(double));
    p.size = p.answers + round_up(frames * sizeof(poise_cuda_tree_answer));
    return p;
}

// Weights of a clip that has none are those of the goals.
static cudaError_t put_weights(const pz_cuda_clips *all, const poise_cuda_clip *c, double *to, cudaStream_t stream)
{
    size_t goals = (size_t)all->goal_count, count = (size_t)c->frames * goals;
    double *own = c->weights ? NULL : malloc(count * sizeof *own);
    if (!c->weights && !own) {
        return cudaErrorMemoryAllocation;
    }
    for (size_t i = 0; i < count && own; ++i) {
        own[i] = all->goals[i % goals].weight;
    }
    cudaError_t e = cudaMemcpyAsync(to, own ? own : c->weights, count * sizeof *to, cudaMemcpyHostToDevice, stream);
    e = e || !own ? e : cudaStreamSynchronize(stream); // before it is released
    free(own);
    return e;
}

static cudaError_t put_clip(const pz_cuda_clips *all, const row *r, const parts *p, const poise_cuda_clip *c, int first,
                            cudaStream_t stream)
{
    size_t at = (size_t)first, goals = at * r->goals;
    const void *targets = all->has_poses ? (const void *)c->poses : (const void *)c->targets;
    cudaError_t e = cudaMemcpyAsync(r->memory + p->targets + goals * r->target, targets,
                                    (size_t)c->frames * r->goals * r->target, cudaMemcpyHostToDevice, stream);
    e = e ? e : put_weights(all, c, (double *)(r->memory + p->weights) + goals, stream);
    return e ? e
             : cudaMemcpyAsync((double *)(r->memory + p->q) + at * r->nq, c->q, r->nq * sizeof(double),
                               cudaMemcpyHostToDevice, stream);
}

static cudaError_t get_clip(const row *r, const parts *p, const poise_cuda_clip *c, int first, cudaStream_t stream)
{
    size_t at = (size_t)first, frames = (size_t)c->frames;
    cudaError_t e = cudaMemcpyAsync(c->q, (double *)(r->memory + p->q) + at * r->nq, frames * r->nq * sizeof(double),
                                    cudaMemcpyDeviceToHost, stream);
    return e || !c->answers ? e
                            : cudaMemcpyAsync(c->answers, (poise_cuda_tree_answer *)(r->memory + p->answers) + at,
                                              frames * sizeof *c->answers, cudaMemcpyDeviceToHost, stream);
}

static cudaError_t solve_row(pz_cuda_room *room, const pz_cuda_body *body, const pz_cuda_clips *all, row *r,
                             poise_cuda_clip *const *clips)
{
    parts p = parts_of(r);
    cudaStream_t stream = room->stream;
    cudaError_t e = cudaMallocAsync((void **)&r->memory, p.size, stream);
    e = e ? e : cudaMemcpyAsync(r->memory, r->begin, ((size_t)r->clips + 1) * sizeof(int), cudaMemcpyHostToDevice, stream);
    e = e ? e
          : cudaMemcpyAsync(r->memory + p.calm, r->calm, (size_t)r->clips * sizeof *r->calm, cudaMemcpyHostToDevice, stream);
    for (int i = 0; i < r->clips && !e; ++i) {
        e = put_clip(all, r, &p, clips[i], r->begin[i], stream);
    }
    pz_cuda_tree_batch batch = {.targets = all->has_poses ? NULL : (const poise_vec3 *)(r->memory + p.targets),
                                .poses = all->has_poses ? (const poise_pose *)(r->memory + p.targets) : NULL,
                                .weights = (const double *)(r->memory + p.weights),
                                .q = (double *)(r->memory + p.q),
                                .answers = (poise_cuda_tree_answer *)(r->memory + p.answers),
                                .count = r->frames};
    body_clips on_device = {
        .begin = (const int *)r->memory, .calm = (const poise_cuda_calm *)(r->memory + p.calm), .count = r->clips};
    e = e ? e : pz_cuda_body_queue_clips(body, &batch, &on_device, stream);
    for (int i = 0; i < r->clips && !e; ++i) {
        e = get_clip(r, &p, clips[i], r->begin[i], stream);
    }
    cudaError_t freed = r->memory ? cudaFreeAsync(r->memory, stream) : cudaSuccess;
    cudaError_t done = cudaStreamSynchronize(stream);
    return e ? e : freed ? freed : done;
}

poise_status pz_cuda_clips_solve(pz_cuda_room *room, const pz_cuda_body *body, const pz_cuda_clips *all,
                                 poise_cuda_clip *clips, int count, poise_error *error)
{
    poise_cuda_clip **sound = malloc(((size_t)count + 1) * sizeof(void *));
    int *begin = malloc(((size_t)count + 1) * sizeof *begin);
    poise_cuda_calm *calm = malloc(((size_t)count + 1) * sizeof *calm);
    cudaError_t e = sound && begin && calm ? cudaSetDevice(room->device) : cudaErrorMemoryAllocation;
    for (int done = 0; done < count && !e;) {
        row r = {.nq = (size_t)all->model->nq,
                 .goals = (size_t)all->goal_count,
                 .target = all->has_poses ? sizeof(poise_pose) : sizeof(poise_vec3),
                 .begin = begin,
                 .calm = calm};
        for (; done < count && (r.clips == 0 || r.frames + (long long)clips[done].frames <= MOST_FRAMES); ++done) {
            clips[done].status = check_clip(all, &clips[done]);
            if (clips[done].status == POISE_OK) {
                sound[r.clips] = &clips[done];
                calm[r.clips] = clips[done].calm;
                begin[r.clips++] = r.frames;
                r.frames += clips[done].frames;
            }
        }
        begin[r.clips] = r.frames;
        e = r.clips > 0 ? solve_row(room, body, all, &r, sound) : cudaSuccess;
    }
    free(sound);
    free(begin);
    free(calm);
    return pz_cuda_explain(e, "solving clips", error);
}
