// Three-vectors in one register of four, for processors that have one (base/cpu.h). The fourth lane is of no account.
//
// Each lane does what the scalar code of vec3.h does, in the same order, so both give the same bits.
#ifndef PZ_MATH_FOUR_H
#define PZ_MATH_FOUR_H

#include "base/cpu.h"
#include "math/mat3.h"

#if PZ_HAS_WIDE

typedef double four __attribute__((vector_size(32)));

// Reads 8 bytes beyond the vector: what follows it must be readable.
PZ_WIDE static inline four four_load(const vec3 *from)
{
    four v;
    memcpy(&v, from, sizeof v);
    return v;
}

// Writes the three lanes that count.
PZ_WIDE static inline void four_store(four v, vec3 *to)
{
    memcpy(to, &v, sizeof *to);
}

PZ_WIDE static inline four four_of(double s)
{
    return (four){s, s, s, s};
}

PZ_WIDE static inline four four_combine(four s, four a, four t, four b)
{
    return s * a + t * b;
}

// A v for the columns of A
PZ_WIDE static inline four four_apply(four x, four y, four z, const vec3 *v)
{
    return x * four_of(v->x) + y * four_of(v->y) + z * four_of(v->z);
}

PZ_WIDE static inline four four_yzx(four a)
{
    return __builtin_shufflevector(a, a, 1, 2, 0, 3);
}

// a x b = (a * b.yzx - a.yzx * b).yzx: the products of v3_cross, its differences up to the sign, which is exact
PZ_WIDE static inline four four_cross(four a, four b)
{
    return four_yzx(a * four_yzx(b) - four_yzx(a) * b);
}

#endif

#endif
