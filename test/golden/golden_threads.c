#include "golden_threads.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct pool {
    int count;
    atomic_int next;
    poise_piece run;
    void *work;
} pool;

typedef struct member {
    pool *pool;
    int worker;
} member;

static void *take_pieces(void *argument)
{
    member *m = argument;
    for (int i = atomic_fetch_add(&m->pool->next, 1); i < m->pool->count; i = atomic_fetch_add(&m->pool->next, 1)) {
        m->pool->run(m->pool->work, i, m->worker);
    }
    return NULL;
}

void golden_parallel_for(void *user, int count, poise_piece run, void *work)
{
    int threads = *(const int *)user, started = 0;
    pool all = {.count = count, .run = run, .work = work};
    pthread_t thread[GOLDEN_THREADS_MOST];
    member members[GOLDEN_THREADS_MOST];
    for (int w = 0; w < threads && w < GOLDEN_THREADS_MOST; ++w) {
        members[w] = (member){&all, w};
    }
    while (started < threads - 1 && pthread_create(&thread[started], NULL, take_pieces, &members[started + 1]) == 0) {
        started += 1;
    }
    take_pieces(&members[0]);
    for (int i = 0; i < started; ++i) {
        pthread_join(thread[i], NULL);
    }
}
