// Threads: the parallel-for that the library's calls take.
#include "threads.h"

#include "system/system.h"

#include <pthread.h>
#include <stdatomic.h>

enum { MOST_THREADS = 256 };

typedef struct crew {
    atomic_int next;
    int count;
    poise_piece run;
    void *work;
} crew;

typedef struct worker {
    crew *crew;
    int number;
} worker;

static int limit = MOST_THREADS;

void threads_limit(int most)
{
    limit = most < 1 ? 1 : most > MOST_THREADS ? MOST_THREADS : most;
}

int threads_available(void)
{
    int count = system_processors();
    return count > limit ? limit : count;
}

static void *run_pieces(void *argument)
{
    const worker *w = argument;
    for (;;) {
        int piece = atomic_fetch_add(&w->crew->next, 1);
        if (piece >= w->crew->count) {
            return NULL;
        }
        w->crew->run(w->crew->work, piece, w->number);
    }
}

// A thread that cannot be started leaves its pieces to the others; the calling thread is worker 0.
void threads_run(void *user, int count, poise_piece run, void *work)
{
    int threads = *(const int *)user;
    threads = threads > MOST_THREADS ? MOST_THREADS : threads > count ? count : threads;
    crew c = {.count = count, .run = run, .work = work};
    worker workers[MOST_THREADS];
    pthread_t thread[MOST_THREADS];
    bool started[MOST_THREADS] = {false};
    for (int i = 1; i < threads; ++i) {
        workers[i] = (worker){.crew = &c, .number = i};
        started[i] = pthread_create(&thread[i], NULL, run_pieces, &workers[i]) == 0;
    }
    workers[0] = (worker){.crew = &c};
    run_pieces(&workers[0]);
    for (int i = 1; i < threads; ++i) {
        if (started[i]) {
            pthread_join(thread[i], NULL);
        }
    }
}
