// Products of 64-bit integers, to all their 128 bits.
#ifndef PZ_IO_U128_H
#define PZ_IO_U128_H

#include <stdint.h>

// hi 2^64 + lo
typedef struct u128 {
    uint64_t hi, lo;
} u128;

// By halves, for machines that have no such product.
static inline u128 u128_multiply_halves(uint64_t a, uint64_t b)
{
    uint64_t a0 = a & UINT32_MAX, a1 = a >> 32, b0 = b & UINT32_MAX, b1 = b >> 32;
    uint64_t low = a0 * b0;
    uint64_t middle = a1 * b0 + (low >> 32); // at most (2^32 - 1)^2 + 2^32 - 1 < 2^64
    uint64_t other = a0 * b1 + (middle & UINT32_MAX);
    return (u128){a1 * b1 + (middle >> 32) + (other >> 32), (other << 32) | (low & UINT32_MAX)};
}

static inline u128 u128_multiply(uint64_t a, uint64_t b)
{
#if defined(__SIZEOF_INT128__) && !defined(__wasm__)
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)a * b;
    return (u128){(uint64_t)(product >> 64), (uint64_t)product};
#else
    return u128_multiply_halves(a, b);
#endif
}

#endif
