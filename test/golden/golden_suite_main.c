// Prints the hashes of the golden suite: golden_suite [THREADS] [BATCH SIZE]
#include "golden_suite.h"
#include "golden_threads.h"

#include <stdio.h>
#include <stdlib.h>

static uint64_t hashes[GOLDEN_PROBLEMS];

static void run_problem(void *work, int piece, int worker)
{
    (void)work;
    (void)worker;
    hashes[piece] = golden_suite_problem(piece);
}

int main(int count, char **arguments)
{
    int threads = count > 1 ? atoi(arguments[1]) : 1, size = count > 2 ? atoi(arguments[2]) : 1000;
    if (threads < 1 || threads > GOLDEN_THREADS_MOST || size < 1) {
        fprintf(stderr, "usage: golden_suite [THREADS] [BATCH SIZE]\n");
        return EXIT_FAILURE;
    }
    golden_spread spread = {size, threads, golden_parallel_for, &threads};
    golden_parallel_for(&threads, GOLDEN_PROBLEMS, run_problem, NULL);
    printf("solves %016llx\n", (unsigned long long)golden_suite_join(hashes, GOLDEN_PROBLEMS));
    printf("batch  %016llx\n", (unsigned long long)golden_suite_batch(&spread));
    printf("track  %016llx\n", (unsigned long long)golden_suite_track(&spread));
    printf("files  %016llx\n", (unsigned long long)golden_suite_files());
    return EXIT_SUCCESS;
}
