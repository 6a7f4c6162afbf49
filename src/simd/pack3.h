// Three-vectors as sweeps along a chain hold them: the columns of a frame, its origin, an axis.
//
// A pack3 is a real3. For a source that defines REAL_PACKED, with the width 1 and PZ_HAS_WIDE (base/cpu.h), it is one
// register of four instead: one problem, its three components side by side, the fourth unused. Every component takes the
// same operations in the same order, so both have the same bits.
#ifndef PZ_SIMD_PACK3_H
#define PZ_SIMD_PACK3_H

#include "simd/real3.h"

#if defined(REAL_PACKED)

typedef double pack3 __attribute__((vector_size(32)));

// Not 0 in the fourth: gcc would use a form of vmovq that valgrind 3.19 does not know.
REAL_FN pack3 pack3_of(real3 v)
{
    return (pack3){v.x, v.y, v.z, v.z};
}

REAL_FN real3 pack3_vector(pack3 v)
{
    return v3(v[0], v[1], v[2]);
}

// Reads 8 bytes beyond the vector: what follows it must be readable.
REAL_FN pack3 pack3_load(const real3 *from)
{
    pack3 v;
    memcpy(&v, from, sizeof v);
    return v;
}

// Writes the three components that count. By halves: a copy of 24 bytes would go by way of the stack.
REAL_FN void pack3_store(pack3 v, real3 *to)
{
    typedef double half __attribute__((vector_size(16)));
    half xy = REAL_PICK2(v, 0, 1);
    memcpy(to, &xy, sizeof xy);
    to->z = v[2];
}

// s in all components
REAL_FN pack3 pack3_splat(real s)
{
    return (pack3){s, s, s, s};
}

REAL_FN pack3 pack3_add(pack3 a, pack3 b)
{
    return a + b;
}

REAL_FN pack3 pack3_sub(pack3 a, pack3 b)
{
    return a - b;
}

REAL_FN pack3 pack3_scale(pack3 a, real s)
{
    return a * pack3_splat(s);
}

// a + s b
REAL_FN pack3 pack3_mad(pack3 a, real s, pack3 b)
{
    return a + pack3_splat(s) * b;
}

// s a + t b
REAL_FN pack3 pack3_combine(real s, pack3 a, real t, pack3 b)
{
    return pack3_splat(s) * a + pack3_splat(t) * b;
}

// s a - t b
REAL_FN pack3 pack3_differ(real s, pack3 a, real t, pack3 b)
{
    return pack3_splat(s) * a - pack3_splat(t) * b;
}

REAL_FN pack3 pack3_yzx(pack3 a)
{
    return REAL_PICK4(a, 1, 2, 0, 3);
}

// a x b = (a * b.yzx - a.yzx * b).yzx: the products of v3_cross, its differences up to the sign, which is exact
REAL_FN pack3 pack3_cross(pack3 a, pack3 b)
{
    return pack3_yzx(a * pack3_yzx(b) - pack3_yzx(a) * b);
}

// The three products of components, and the sum of three, first to last.
REAL_FN pack3 pack3_products(pack3 a, pack3 b)
{
    return a * b;
}

REAL_FN real pack3_sum(pack3 a)
{
    return a[0] + a[1] + a[2];
}

REAL_FN pack3 pack3_where(mask m, pack3 a)
{
    return m ? a : pack3_splat(0.0);
}

// A v for the columns of A
REAL_FN pack3 pack3_apply(pack3 x, pack3 y, pack3 z, real3 v)
{
    return x * pack3_splat(v.x) + y * pack3_splat(v.y) + z * pack3_splat(v.z);
}

typedef struct pack33 {
    pack3 x, y, z; // columns
} pack33;

typedef pack33 pack_sym; // all nine entries, by columns

// Reads 8 bytes beyond, as pack3_load.
REAL_FN pack33 pack33_load(const real33 *from)
{
    return (pack33){pack3_load(&from->x), pack3_load(&from->y), pack3_load(&from->z)};
}

REAL_FN real33 pack33_matrix(const pack33 *A)
{
    return (real33){pack3_vector(A->x), pack3_vector(A->y), pack3_vector(A->z)};
}

REAL_FN real_sym pack_sym_matrix(const pack_sym *A)
{
    return (real_sym){.xx = A->x[0], .xy = A->x[1], .xz = A->x[2], .yy = A->y[1], .yz = A->y[2], .zz = A->z[2]};
}

// s I
REAL_FN pack_sym pack_sym_identity(real s)
{
    typedef int64_t choice __attribute__((vector_size(32)));
    choice all = (choice)pack3_splat(s), x = {-1, 0, 0, 0}, y = {0, -1, 0, 0}, z = {0, 0, -1, 0};
    return (pack_sym){(pack3)(all & x), (pack3)(all & y), (pack3)(all & z)};
}

// A + u u^T
REAL_FN pack_sym pack_sym_add_square(pack_sym A, pack3 u)
{
    return (pack_sym){pack3_mad(A.x, u[0], u), pack3_mad(A.y, u[1], u), pack3_mad(A.z, u[2], u)};
}

// A + u w^T
REAL_FN pack33 pack33_add_outer(pack33 A, pack3 u, pack3 w)
{
    return (pack33){pack3_mad(A.x, w[0], u), pack3_mad(A.y, w[1], u), pack3_mad(A.z, w[2], u)};
}

// A symmetric matrix in memory, by columns: (xx xy xz) (xy yy yz) (xz yz zz) of xx xy xz yy yz zz.
REAL_FN pack33 pack33_of_sym(const real_sym *A)
{
    pack3 low, high;
    memcpy(&low, &A->xx, sizeof low);
    memcpy(&high, &A->xz, sizeof high);
    return (pack33){low, REAL_BLEND4(high, REAL_PICK4(low, 1, 1, 1, 1), 4, 1, 2, 3), REAL_PICK4(high, 0, 2, 3, 3)};
}

// A + B where m holds, A elsewhere
REAL_FN pack33 pack33_add_where(mask m, pack33 A, pack33 B)
{
    return m ? (pack33){A.x + B.x, A.y + B.y, A.z + B.z} : A;
}

// A - [n]x, whose columns are n x e. What a diagonal loses is 0: it stays as it is.
REAL_FN pack33 pack33_sub_cross(pack33 A, pack3 n)
{
    pack3 zero = pack3_splat(0.0), minus = -n;
    return (pack33){A.x - REAL_BLEND4(REAL_BLEND4(zero, n, 0, 6, 2, 3), minus, 0, 1, 5, 3),
                    A.y - REAL_BLEND4(REAL_BLEND4(zero, n, 0, 1, 4, 3), minus, 6, 1, 2, 3),
                    A.z - REAL_BLEND4(REAL_BLEND4(zero, n, 5, 1, 2, 3), minus, 0, 4, 2, 3)};
}

// A + s I
REAL_FN pack33 pack33_add_diagonal(pack33 A, real s)
{
    pack3 all = pack3_splat(s);
    return (pack33){REAL_BLEND4(A.x, A.x + all, 4, 1, 2, 3), REAL_BLEND4(A.y, A.y + all, 0, 5, 2, 3),
                    REAL_BLEND4(A.z, A.z + all, 0, 1, 6, 3)};
}

#else

typedef real3 pack3;

REAL_FN pack3 pack3_of(real3 v)
{
    return v;
}

REAL_FN real3 pack3_vector(pack3 v)
{
    return v;
}

REAL_FN pack3 pack3_load(const real3 *from)
{
    return *from;
}

REAL_FN void pack3_store(pack3 v, real3 *to)
{
    *to = v;
}

REAL_FN pack3 pack3_add(pack3 a, pack3 b)
{
    return real3_add(a, b);
}

REAL_FN pack3 pack3_sub(pack3 a, pack3 b)
{
    return real3_sub(a, b);
}

REAL_FN pack3 pack3_scale(pack3 a, real s)
{
    return real3_scale(a, s);
}

// a + s b
REAL_FN pack3 pack3_mad(pack3 a, real s, pack3 b)
{
    return real3_mad(a, s, b);
}

// s a + t b
REAL_FN pack3 pack3_combine(real s, pack3 a, real t, pack3 b)
{
    return real3_combine(s, a, t, b);
}

// s a - t b, the bits of s a + (-t) b
REAL_FN pack3 pack3_differ(real s, pack3 a, real t, pack3 b)
{
    return (pack3){s * a.x - t * b.x, s * a.y - t * b.y, s * a.z - t * b.z};
}

REAL_FN pack3 pack3_cross(pack3 a, pack3 b)
{
    return real3_cross(a, b);
}

REAL_FN pack3 pack3_products(pack3 a, pack3 b)
{
    return (pack3){a.x * b.x, a.y * b.y, a.z * b.z};
}

REAL_FN real pack3_sum(pack3 a)
{
    return a.x + a.y + a.z;
}

REAL_FN pack3 pack3_where(mask m, pack3 a)
{
    return real3_where(m, a);
}

REAL_FN pack3 pack3_apply(pack3 x, pack3 y, pack3 z, real3 v)
{
    return (pack3){x.x * v.x + y.x * v.y + z.x * v.z, x.y * v.x + y.y * v.y + z.y * v.z, x.z * v.x + y.z * v.y + z.z * v.z};
}

typedef real33 pack33;
typedef real_sym pack_sym;

REAL_FN pack33 pack33_load(const real33 *from)
{
    return *from;
}

REAL_FN real33 pack33_matrix(const pack33 *A)
{
    return *A;
}

REAL_FN real_sym pack_sym_matrix(const pack_sym *A)
{
    return *A;
}

REAL_FN pack_sym pack_sym_identity(real s)
{
    return real_sym_identity(s);
}

REAL_FN pack_sym pack_sym_add_square(pack_sym A, pack3 u)
{
    return real_sym_add_square(A, u);
}

REAL_FN pack33 pack33_add_outer(pack33 A, pack3 u, pack3 w)
{
    return (pack33){real3_mad(A.x, w.x, u), real3_mad(A.y, w.y, u), real3_mad(A.z, w.z, u)};
}

REAL_FN pack33 pack33_of_sym(const real_sym *A)
{
    return real_sym_matrix(A);
}

REAL_FN pack33 pack33_add_where(mask m, pack33 A, pack33 B)
{
    return (pack33){real3_add(A.x, real3_where(m, B.x)), real3_add(A.y, real3_where(m, B.y)),
                    real3_add(A.z, real3_where(m, B.z))};
}

REAL_FN pack33 pack33_sub_cross(pack33 A, pack3 n)
{
    A.x.y -= n.z, A.x.z += n.y, A.y.x += n.z, A.y.z -= n.x, A.z.x -= n.y, A.z.y += n.x;
    return A;
}

REAL_FN pack33 pack33_add_diagonal(pack33 A, real s)
{
    A.x.x += s, A.y.y += s, A.z.z += s;
    return A;
}

#endif

#endif
