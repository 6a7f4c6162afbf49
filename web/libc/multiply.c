// The product of two integers of 128 bits, which the compiler calls by this name where the processor has none.
#include <stdint.h>

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 unsigned_wide;

#define HALF 0xffffffffu

// x y of 64 bits each, by halves of 32 bits.
static unsigned_wide multiply(uint64_t x, uint64_t y)
{
    uint64_t x0 = x & HALF, x1 = x >> 32, y0 = y & HALF, y1 = y >> 32;
    uint64_t low = x0 * y0, middle = x1 * y0 + (low >> 32), other = x0 * y1 + (middle & HALF);
    uint64_t high = x1 * y1 + (middle >> 32) + (other >> 32);
    return (unsigned_wide)high << 64 | (other << 32 | (low & HALF));
}

wide __multi3(wide a, wide b);
wide __multi3(wide a, wide b)
{
    uint64_t a0 = (uint64_t)a, a1 = (uint64_t)((unsigned_wide)a >> 64);
    uint64_t b0 = (uint64_t)b, b1 = (uint64_t)((unsigned_wide)b >> 64);
    unsigned_wide product = multiply(a0, b0);
    return (wide)(product + ((unsigned_wide)(a0 * b1 + a1 * b0) << 64));
}
