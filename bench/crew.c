#include "crew.h"

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
    job *job;
    int number;
    pthread_t thread;
    double own; // nanoseconds of CPU time
} member;

static void *work_along(void *user)
{
    member *m = user;
    double start = bench_now();
    for (int i; (i = atomic_fetch_add(&m->job->next, 1)) < m->job->count;) {
        m->job->run(m->job->work, i, m->number);
    }
    m->own = bench_now() - start;
    return NULL;
}

void crew_run(void *user, int count, void (*run)(void *work, int piece, int worker), void *work)
{
    crew *c = user;
    job j = {.run = run, .work = work, .count = count};
    member members[MOST];
    int started = 1;
    for (int i = 0; i < MOST; ++i) {
        members[i] = (member){.job = &j, .number = i};
    }
    while (started < c->threads && started < MOST &&
           pthread_create(&members[started].thread, NULL, work_along, &members[started]) == 0) {
        started += 1;
    }
    work_along(&members[0]);
    c->busiest = members[0].own;
    for (int i = 1; i < started; ++i) {
        pthread_join(members[i].thread, NULL);
        c->busiest = fmax(c->busiest, members[i].own);
    }
}
