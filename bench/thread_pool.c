#include "thread_pool.h"

#include "bench.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>

#define MOST 64

typedef struct job {
    void (*run)(void *work, int piece, int worker);
    void *work;
    int count;
    atomic_int next;
} job;

typedef struct member {
    int number;
    double own; // nanoseconds of CPU time
} member;

// Threads that wait for the next job. They stay until the program ends, so that a call does not pay for their start.
static struct {
    pthread_mutex_t lock;
    pthread_cond_t begins, ends;
    job *job;
    unsigned long round; // of jobs
    int started;         // members 1 .. started are threads
    int wanted, busy;    // members below `wanted` take part; so many are not done
    member members[MOST];
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .begins = PTHREAD_COND_INITIALIZER, .ends = PTHREAD_COND_INITIALIZER};

static void work_along(member *m, job *j)
{
    double start = bench_now();
    for (int i; (i = atomic_fetch_add(&j->next, 1)) < j->count;) {
        j->run(j->work, i, m->number);
    }
    m->own = bench_now() - start;
}

static void *wait_for_jobs(void *user)
{
    member *m = user;
    unsigned long seen = 0;
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        while (pool.round == seen || m->number >= pool.wanted) {
            seen = pool.round;
            pthread_cond_wait(&pool.begins, &pool.lock);
        }
        seen = pool.round;
        job *j = pool.job;
        pthread_mutex_unlock(&pool.lock);
        work_along(m, j);
        pthread_mutex_lock(&pool.lock);
        pool.busy -= 1;
        if (pool.busy == 0) {
            pthread_cond_signal(&pool.ends);
        }
    }
    return NULL;
}

// Members 1 .. threads - 1, as far as they can be had; under the lock.
static void grow(int threads)
{
    while (pool.started + 1 < threads && pool.started + 1 < MOST) {
        member *m = &pool.members[pool.started + 1];
        pthread_t thread;
        m->number = pool.started + 1;
        if (pthread_create(&thread, NULL, wait_for_jobs, m) != 0) {
            return;
        }
        pthread_detach(thread);
        pool.started += 1;
    }
}

void crew_run(void *user, int count, void (*run)(void *work, int piece, int worker), void *work)
{
    crew *c = user;
    job j = {.run = run, .work = work, .count = count};
    pthread_mutex_lock(&pool.lock);
    grow(c->threads);
    pool.job = &j;
    pool.wanted = c->threads < pool.started + 1 ? c->threads : pool.started + 1;
    pool.busy = pool.wanted - 1;
    pool.round += 1;
    pthread_cond_broadcast(&pool.begins);
    pthread_mutex_unlock(&pool.lock);
    work_along(&pool.members[0], &j);
    pthread_mutex_lock(&pool.lock);
    while (pool.busy > 0) {
        pthread_cond_wait(&pool.ends, &pool.lock);
    }
    c->busiest = 0.0;
    for (int i = 0; i < pool.wanted; ++i) {
        c->busiest = fmax(c->busiest, pool.members[i].own);
    }
    pthread_mutex_unlock(&pool.lock);
}
