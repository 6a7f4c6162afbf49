// Threads for benchmarks that use several: pieces of work, each to whoever is free. They are kept from one run to the next.
#ifndef BENCH_THREAD_POOL_H
#define BENCH_THREAD_POOL_H

typedef struct crew {
    int threads;    // the calling one included; at most 64
    double busiest; // nanoseconds of CPU time that the busiest thread of the last run had
} crew;

// Run pieces 0 .. count - 1; `worker` is below crew.threads. `user` is a crew: fits poise_parallel_for. From one thread at a
// time, and not from within a piece.
void crew_run(void *user, int count, void (*run)(void *work, int piece, int worker), void *work);

#endif
