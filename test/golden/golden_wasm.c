// The golden computation for a host: its hash in two halves.
#include "golden.h"

static golden_result result;

__attribute__((export_name("run"))) void golden_run(void);
void golden_run(void)
{
    result = golden_all();
}

__attribute__((export_name("hash_high"))) uint32_t golden_hash_high(void);
uint32_t golden_hash_high(void)
{
    return (uint32_t)(result.hash >> 32);
}

__attribute__((export_name("hash_low"))) uint32_t golden_hash_low(void);
uint32_t golden_hash_low(void)
{
    return (uint32_t)result.hash;
}

__attribute__((export_name("numbers"))) int32_t golden_numbers(void);
int32_t golden_numbers(void)
{
    return (int32_t)result.numbers;
}

__attribute__((export_name("troubles"))) int32_t golden_troubles(void);
int32_t golden_troubles(void)
{
    return (int32_t)result.troubles;
}
