// Natural numbers of many digits: what the exact decimal digits of a double need.
#ifndef PZ_BASE_BIG_INTEGER_H
#define PZ_BASE_BIG_INTEGER_H

#include <stdint.h>

// In limbs of nine decimal digits, the lowest first.
//
// The largest needed is (2^54 - 1) 5^1075, the digits of a point halfway between two doubles: 768 digits, 86 limbs.
typedef struct pz_natural {
    uint32_t limb[88];
    int count;
} pz_natural;

// The digits of m 2^e, for m < 2^54 and -1075 <= e <= 971: fills `n` and returns x with m 2^e = n 10^x.
int pz_natural_from_binary(uint64_t m, int e, pz_natural *n);

// Digit `i` of n, 0 the lowest.
int pz_natural_digit(const pz_natural *n, int i);

// The number of digits, without leading zeros; 1 for zero.
int pz_natural_length(const pz_natural *n);

#endif
