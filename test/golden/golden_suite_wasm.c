// The golden suite for a host, a function for each of its parts.
#include "golden_suite.h"

static uint64_t hashes[GOLDEN_PROBLEMS];

__attribute__((export_name("solves"))) uint64_t golden_wasm_solves(void);
uint64_t golden_wasm_solves(void)
{
    for (int i = 0; i < GOLDEN_PROBLEMS; ++i) {
        hashes[i] = golden_suite_problem(i);
    }
    return golden_suite_join(hashes, GOLDEN_PROBLEMS);
}

__attribute__((export_name("batch"))) uint64_t golden_wasm_batch(int size);
uint64_t golden_wasm_batch(int size)
{
    golden_spread spread = {.size = size, .workers = 1};
    return golden_suite_batch(&spread);
}

__attribute__((export_name("track"))) uint64_t golden_wasm_track(void);
uint64_t golden_wasm_track(void)
{
    golden_spread spread = {.size = 1, .workers = 1};
    return golden_suite_track(&spread);
}

__attribute__((export_name("files"))) uint64_t golden_wasm_files(void);
uint64_t golden_wasm_files(void)
{
    return golden_suite_files();
}
