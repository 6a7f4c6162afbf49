// The promise of the same bits everywhere: one hash over the numbers of a computation that goes through the whole library.
//
// The computation is deterministic and uses nothing but the library and sqrt, so its hash must not depend on the compiler,
// on optimisation, on the processor or on the C library. test_golden.c holds it against the constant in golden_value.h,
// which tools/check_bits.sh update writes; tools/check_bits.sh builds it with every compiler and level of optimisation.
#ifndef TEST_GOLDEN_H
#define TEST_GOLDEN_H

#include <stdint.h>

// The computation has parts, hashed apart, so that a difference can be traced to a layer.
int golden_part_count(void);
const char *golden_part_name(int part);

// What one part came to. Every number is finite and every call works; `troubles` counts what did not.
typedef struct golden_result {
    uint64_t hash; // FNV-1a (Fowler, Noll, Vo), 64 bit, over the bits of each number, lowest byte first
    long numbers;
    long troubles;
} golden_result;

golden_result golden_part(int part);

// All parts, one after the other.
golden_result golden_all(void);

#endif
