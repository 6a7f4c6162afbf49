// A parallel-for over threads of the system, for tests.
#ifndef TEST_GOLDEN_THREADS_H
#define TEST_GOLDEN_THREADS_H

#include <poise/batch.h>

#define GOLDEN_THREADS_MOST 64

// As poise_parallel_for asks for; `user` points to an int, the number of threads (1 to GOLDEN_THREADS_MOST). Thread w takes
// pieces as they come, as worker w.
void golden_parallel_for(void *user, int count, poise_piece run, void *work);

#endif
