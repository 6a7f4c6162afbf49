#include "arm_batch.h"

#include "bench.h"
#include "thread_pool.h"

#include <math.h>
#include <stdlib.h>

#define BEYOND  1.6 // positions of targets out of reach are multiplied by this
#define PIECE   4096
#define THREADS 64 // of a crew

arm_batch arm_batch_create(const arm *a, int most, int threads)
{
    arm_batch b = {.arm = a, .threads = threads < 1 ? 1 : threads > THREADS ? THREADS : threads};
    b.targets = bench_take((size_t)most, sizeof *b.targets);
    b.q = bench_take((size_t)most * (size_t)a->n, sizeof *b.q);
    b.told = bench_take((size_t)most, sizeof *b.told);
    b.moved = bench_take((size_t)most, sizeof *b.moved);
    return b;
}

void arm_batch_destroy(arm_batch *b)
{
    free(b->targets);
    free(b->q);
    free(b->told);
    free(b->moved);
}

// ---- Targets -------------------------------------------------------------------------------------------------------------

static void make_one(arm_batch *b, int i)
{
    double joints[ARM_MOST];
    scene_random random = scene_random_make(b->seed + (uint64_t)i);
    arm_draw(b->arm, SEED_MID, &random, joints, b->q + (size_t)i * (size_t)b->arm->n);
    frame at = arm_forward(b->arm, joints);
    b->targets[i] = arm_pose_of(&at);
    b->moved[i] = b->beyond && i % b->beyond == 0;
    if (b->moved[i]) {
        poise_vec3 *p = &b->targets[i].position;
        *p = poise_vec3_make(BEYOND * p->x, BEYOND * p->y, BEYOND * p->z);
    }
}

static int end_of(const arm_batch *b, int piece)
{
    return b->count - piece * PIECE < PIECE ? b->count : (piece + 1) * PIECE;
}

static int pieces_of(const arm_batch *b)
{
    return (b->count + PIECE - 1) / PIECE;
}

static void make_piece(void *user, int piece, int worker)
{
    arm_batch *b = user;
    (void)worker;
    for (int i = piece * PIECE; i < end_of(b, piece); ++i) {
        make_one(b, i);
    }
}

void arm_batch_make(arm_batch *b, int count, uint64_t seed, int beyond)
{
    crew c = {.threads = b->threads};
    b->count = count;
    b->seed = seed;
    b->beyond = beyond;
    crew_run(&c, pieces_of(b), make_piece, b);
}

// ---- Judgement -----------------------------------------------------------------------------------------------------------

typedef struct court {
    const arm_batch *batch;
    arm_verdict verdicts[THREADS]; // by worker
} court;

static void judge_one(const arm_batch *b, int i, arm_verdict *v)
{
    const double *q = b->q + (size_t)i * (size_t)b->arm->n;
    bool is_inside = arm_within_limits(b->arm, q, 0.0);
    for (int k = 0; k < b->arm->n; ++k) {
        is_inside = is_inside && isfinite(q[k]);
    }
    frame at = arm_forward(b->arm, q), there;
    double distance, angle;
    poise_vec3 p = b->targets[i].position;
    poise_quat_to_matrix(b->targets[i].rotation, there.R);
    there.p[0] = p.x, there.p[1] = p.y, there.p[2] = p.z;
    arm_errors(&at, &there, &distance, &angle);
    bool is_reached = is_inside && distance <= ARM_TOLERANCE && angle <= ARM_TOLERANCE;
    v->reached += is_reached;
    v->missed += !is_reached && !b->moved[i];
    v->outside += !is_inside;
    v->wrong += !is_reached && b->told[i];
    v->worst = is_reached ? fmax(v->worst, fmax(distance, angle)) : v->worst;
}

static void judge_piece(void *user, int piece, int worker)
{
    court *c = user;
    for (int i = piece * PIECE; i < end_of(c->batch, piece); ++i) {
        judge_one(c->batch, i, &c->verdicts[worker]);
    }
}

arm_verdict arm_batch_judge(const arm_batch *b)
{
    court all = {.batch = b};
    crew c = {.threads = b->threads};
    crew_run(&c, pieces_of(b), judge_piece, &all);
    arm_verdict sum = {.reached = 0};
    for (int t = 0; t < THREADS; ++t) {
        const arm_verdict *v = &all.verdicts[t];
        sum.reached += v->reached, sum.missed += v->missed, sum.outside += v->outside, sum.wrong += v->wrong;
        sum.worst = fmax(sum.worst, v->worst);
    }
    return sum;
}
