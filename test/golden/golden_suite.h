// The promise of the same bits over many solves: 10,000 problems of every kind and method, batches, tracking, and files.
//
// Like golden.h, but through the public interface alone, and in pieces that may run in any order and on any thread: the
// hashes must not depend on that either. test_golden_suite.c holds them against golden_suite_value.h;
// tools/check_bits.sh runs golden_suite_main.c with every compiler, level of optimisation, number of threads and size of batch.
#ifndef TEST_GOLDEN_SUITE_H
#define TEST_GOLDEN_SUITE_H

#include <poise/track.h>

#define GOLDEN_PROBLEMS 10000

// Problem number i, below GOLDEN_PROBLEMS, solved and hashed: a tree with any method, an arm, all answers of an arm, ERIK,
// the method it is compared with, its successor, a filter. 0 when a call failed or a number is not finite.
uint64_t golden_suite_problem(int i);

// The hashes of all problems in their order, made into one.
uint64_t golden_suite_join(const uint64_t *hashes, int count);

// How a batch or a recording is spread; parallel_for may be NULL.
typedef struct golden_spread {
    int size;    // problems in one call of poise_batch_solve
    int workers; // worker numbers that parallel_for uses
    poise_parallel_for parallel_for;
    void *user;
} golden_spread;

// Arms and trees through batches, and the same from poise_solve. 0 when these differ.
uint64_t golden_suite_batch(const golden_spread *spread);

// A recording with gaps and outliers, tracked; markers and bones found from it.
uint64_t golden_suite_track(const golden_spread *spread);

// Every format that Poise writes, written and read: the bytes, and the numbers that come back. In golden_suite_io.c.
uint64_t golden_suite_files(void);

// FNV-1a (Fowler, Noll, Vo), 64 bit, to begin with and to go on.
#define GOLDEN_START UINT64_C(14695981039346656037)
uint64_t golden_hash(uint64_t hash, const void *bytes, size_t size);
uint64_t golden_hash_numbers(uint64_t hash, const double *x, int count);

#endif
