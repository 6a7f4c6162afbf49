// Threads: the parallel-for that the library's calls take.
#ifndef APP_THREADS_H
#define APP_THREADS_H

#include <poise/batch.h>

// How many processors the program may use; at least 1, and at most what it was told.
int threads_available(void);
void threads_limit(int most);

// A poise_parallel_for; `user` points to an int, the number of threads. Pieces are handed out one by one, in order.
void threads_run(void *user, int count, poise_piece run, void *work);

#endif
