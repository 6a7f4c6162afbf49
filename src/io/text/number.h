// What reading and writing numbers share: 128-bit products, powers of ten and the last rounding.
#ifndef PZ_IO_NUMBER_H
#define PZ_IO_NUMBER_H

#include "io/io_core.h"

#include <string.h>

// hi 2^64 + lo
typedef struct u128 {
    uint64_t hi, lo;
} u128;

// The same by halves, for machines that have no such product.
u128 pz_u128_multiply_halves(uint64_t a, uint64_t b);

static inline u128 u128_multiply(uint64_t a, uint64_t b)
{
#if defined(__SIZEOF_INT128__) && !defined(__wasm__)
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)a * b;
    return (u128){(uint64_t)(product >> 64), (uint64_t)product};
#else
    return pz_u128_multiply_halves(a, b);
#endif
}

// The leading zero bits of x > 0.
static inline int leading_zeros(uint64_t x)
{
#if defined(__GNUC__)
    return __builtin_clzll(x);
#else
    int count = 0;
    for (; x >> 63 == 0; x <<= 1) {
        ++count;
    }
    return count;
#endif
}

// floor(log2(10^q)) for |q| <= 400: log2 10 = 3.321928..., 217706 / 65536 = 3.321930 and the product's error stays below the
// distance of q log2 10 to the next integer. The sum keeps the shifted number positive.
static inline int floor_log2_power10(int q)
{
    return ((q * 217706 + (4096 << 16)) >> 16) - 4096;
}

static inline uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline double double_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// A finite value > 0 as m 2^e with an integer m < 2^53, from its bits.
static inline uint64_t split_double(uint64_t bits, int *e)
{
    int field = (int)(bits >> 52) & 0x7ff;
    *e = (field > 0 ? field : 1) - 1075;
    return (bits & 0xfffffffffffff) | (field > 0 ? (uint64_t)1 << 52 : 0);
}

// The leading 128 bits of 10^q, cut off; exact for 0 <= q <= 55. PZ_POWER_FIRST <= q <= PZ_POWER_LAST (power_table.h).
u128 pz_power10(int q);

// The leading 128 bits of w 10^q, w > 0: fills `product` (top bit set) and returns e with
//
//   product 2^e <= w 10^q < (product + PZ_PRODUCT_SLACK) 2^e
int pz_product10(uint64_t w, int q, u128 *product);

#define PZ_PRODUCT_SLACK 4

#endif
