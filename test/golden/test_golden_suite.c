// The golden suite of this build, on several threads.
#include "golden_suite.h"
#include "golden_suite_value.h"
#include "golden_threads.h"
#include "support/test_main.h"

static uint64_t hashes[GOLDEN_PROBLEMS];

static void run_problem(void *work, int piece, int worker)
{
    (void)work;
    (void)worker;
    hashes[piece] = golden_suite_problem(piece);
}

static void check(const char *what, uint64_t hash, uint64_t expected)
{
    ck_assert_msg(hash == expected, "%s: %016llx", what, (unsigned long long)hash);
}

TEST(ten_thousand_solves_on_three_threads_have_the_same_bits_as_everywhere)
{
    int threads = 3;
    golden_parallel_for(&threads, GOLDEN_PROBLEMS, run_problem, NULL);
    check("solves", golden_suite_join(hashes, GOLDEN_PROBLEMS), GOLDEN_SUITE_SOLVES);
}

TEST(batches_of_any_size_on_any_number_of_threads_have_the_same_bits)
{
    int threads = 3;
    golden_spread spread = {137, threads, golden_parallel_for, &threads};
    check("batch", golden_suite_batch(&spread), GOLDEN_SUITE_BATCH);
}

TEST(recordings_tracked_by_any_number_of_threads_have_the_same_bits)
{
    int threads = 3;
    golden_spread spread = {1, threads, golden_parallel_for, &threads};
    check("track", golden_suite_track(&spread), GOLDEN_SUITE_TRACK);
}

TEST(files_have_the_same_bytes_everywhere)
{
    check("files", golden_suite_files(), GOLDEN_SUITE_FILES);
}
