// Three-vectors and six-vectors in registers of their own, for sweeps that keep them there from joint to joint.
//
// A pack3 is the column of a frame, its origin or an axis, along a chain; a six is a motion [w ; v] or a wrench [n ; f],
// along a tree, and six_by_six a symmetric matrix between them. With lanes (real.h) every entry has a register by its lanes:
// both are plain vectors of reals. For one problem a source may define REAL_PACKED, with the width 1 and PZ_HAS_WIDE
// (base/cpu.h): then a pack3 is one register of four, its components side by side, the fourth unused. Every component takes
// the same operations in the same order, so all forms have the same bits.
#ifndef PZ_NUM_REGISTERS_H
#define PZ_NUM_REGISTERS_H

#include "num/vector.h"

#if defined(REAL_PACKED) && !defined(REAL_IS_PACKED)
#error "REAL_PACKED comes before every header that includes num/real.h"
#endif

#if defined(REAL_PACKED)

// ---- Three-vectors: one register of four ---------------------------------------------------------------------------------

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

REAL_FN pack3 pack3_where(real_mask m, pack3 a)
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
REAL_FN pack33 pack33_add_where(real_mask m, pack33 A, pack33 B)
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

// ---- Three-vectors: reals ------------------------------------------------------------------------------------------------

typedef real3 pack3;
typedef real33 pack33;
typedef real_sym pack_sym;

#define pack3_add           v3_add
#define pack3_sub           v3_sub
#define pack3_scale         v3_scale
#define pack3_mad           v3_mad
#define pack3_combine       v3_combine
#define pack3_cross         v3_cross
#define pack3_where         v3_where
#define pack_sym_identity   sym3_identity
#define pack_sym_add_square sym3_add_square
#define pack33_of_sym       sym3_matrix

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

// s a - t b, the bits of s a + (-t) b
REAL_FN pack3 pack3_differ(real s, pack3 a, real t, pack3 b)
{
    return (pack3){s * a.x - t * b.x, s * a.y - t * b.y, s * a.z - t * b.z};
}

REAL_FN pack3 pack3_products(pack3 a, pack3 b)
{
    return (pack3){a.x * b.x, a.y * b.y, a.z * b.z};
}

REAL_FN real pack3_sum(pack3 a)
{
    return a.x + a.y + a.z;
}

REAL_FN pack3 pack3_apply(pack3 x, pack3 y, pack3 z, real3 v)
{
    return (pack3){x.x * v.x + y.x * v.y + z.x * v.z, x.y * v.x + y.y * v.y + z.y * v.z, x.z * v.x + y.z * v.y + z.z * v.z};
}

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

REAL_FN pack33 pack33_add_outer(pack33 A, pack3 u, pack3 w)
{
    return (pack33){v3_mad(A.x, w.x, u), v3_mad(A.y, w.y, u), v3_mad(A.z, w.z, u)};
}

REAL_FN pack33 pack33_add_where(real_mask m, pack33 A, pack33 B)
{
    return (pack33){v3_add(A.x, v3_where(m, B.x)), v3_add(A.y, v3_where(m, B.y)), v3_add(A.z, v3_where(m, B.z))};
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

#ifndef __CUDACC__ // a device has no registers for six-vectors

#if REAL_WIDTH == 1

// ---- Six-vectors: registers of two, or of four and two -------------------------------------------------------------------
//
// Registers of two doubles every target of today has (SSE2, NEON, wasm). Matrices are full, and symmetric to the last bit.

typedef double two __attribute__((vector_size(16)));

REAL_FN two two_of(double s)
{
    return (two){s, s};
}

#if defined(REAL_PACKED)

// One register of four and one of two, as near to each other in memory as six numbers.
typedef double four_of_six __attribute__((vector_size(32), aligned(16)));

typedef struct six {
    four_of_six a;
    two c;
} six;

// Four numbers by a load of four: memcpy would go by way of the stack, in halves, and wait for them.
REAL_FN six six_load(const double *from)
{
    typedef double unaligned __attribute__((vector_size(32), aligned(8), may_alias));
    two c;
    memcpy(&c, from + 4, sizeof c);
    return (six){*(const unaligned *)from, c};
}

REAL_FN six six_zero(void)
{
    return (six){(four_of_six){0.0, 0.0, 0.0, 0.0}, two_of(0.0)};
}

REAL_FN six six_add(six u, six v)
{
    return (six){u.a + v.a, u.c + v.c};
}

REAL_FN six six_scale(six u, double s)
{
    return (six){u.a * s, u.c * s};
}

// u + s v
REAL_FN six six_mad(six u, double s, six v)
{
    return (six){u.a + v.a * s, u.c + v.c * s};
}

// Even places, then odd ones.
REAL_FN double six_dot(six u, six v)
{
    four_of_six product = u.a * v.a;
    two low = REAL_PICK2(product, 0, 1), high = REAL_PICK2(product, 2, 3);
    two sum = low + high + u.c * v.c;
    return sum[0] + sum[1];
}

#else

typedef struct six {
    two a, b, c;
} six;

REAL_FN six six_load(const double *from)
{
    six v;
    memcpy(&v, from, sizeof v);
    return v;
}

REAL_FN six six_zero(void)
{
    return (six){two_of(0.0), two_of(0.0), two_of(0.0)};
}

REAL_FN six six_add(six u, six v)
{
    return (six){u.a + v.a, u.b + v.b, u.c + v.c};
}

REAL_FN six six_scale(six u, double s)
{
    two t = two_of(s);
    return (six){u.a * t, u.b * t, u.c * t};
}

// u + s v
REAL_FN six six_mad(six u, double s, six v)
{
    two t = two_of(s);
    return (six){u.a + t * v.a, u.b + t * v.b, u.c + t * v.c};
}

// Even places, then odd ones.
REAL_FN double six_dot(six u, six v)
{
    two sum = u.a * v.a + u.b * v.b + u.c * v.c;
    return sum[0] + sum[1];
}

#endif

typedef struct six_by_six {
    six column[6];
} six_by_six;

REAL_FN six six_select(bool m, six u, six v)
{
    return m ? u : v;
}

// u + A v, for the six numbers of v
REAL_FN six six_apply(six u, const six_by_six *A, const double *v)
{
    REAL_UNROLL
    for (int i = 0; i < 6; ++i) {
        u = six_mad(u, v[i], A->column[i]);
    }
    return u;
}

// to + A - sum over k of u_k u_k^T, where A NULL is 0, and `to` if it begins. `count`, that of u, is a constant.
REAL_FN void six_by_six_hand_on(const six_by_six *A, int count, const six *u, bool begins, six_by_six *to)
{
    REAL_UNROLL
    for (int i = 0; i < 6; ++i) {
        six column = A ? A->column[i] : six_zero();
        REAL_UNROLL
        for (int k = 0; k < count; ++k) {
            double s;
            memcpy(&s, (const char *)&u[k] + (size_t)i * sizeof s, sizeof s);
            column = six_mad(column, -s, u[k]);
        }
        to->column[i] = six_add(begins ? six_zero() : to->column[i], column);
    }
}

#else

// ---- Six-vectors: reals, of a matrix one half ----------------------------------------------------------------------------

typedef struct six {
    real3 a, b;
} six;

// The lower triangle, row by row.
typedef struct six_by_six {
    real m[21];
} six_by_six;

#define SIX_AT(i, j) ((i) >= (j) ? (i) * ((i) + 1) / 2 + (j) : (j) * ((j) + 1) / 2 + (i))
#define SIX_PLACE(u, i)                                                                                                     \
    ((i) == 0 ? (u).a.x : (i) == 1 ? (u).a.y : (i) == 2 ? (u).a.z : (i) == 3 ? (u).b.x : (i) == 4 ? (u).b.y : (u).b.z)

REAL_FN six six_load(const real *from)
{
    return (six){{from[0], from[1], from[2]}, {from[3], from[4], from[5]}};
}

REAL_FN six six_zero(void)
{
    return (six){v3_zero(), v3_zero()};
}

REAL_FN six six_add(six u, six v)
{
    return (six){v3_add(u.a, v.a), v3_add(u.b, v.b)};
}

REAL_FN six six_scale(six u, real s)
{
    return (six){v3_scale(u.a, s), v3_scale(u.b, s)};
}

// u + s v
REAL_FN six six_mad(six u, real s, six v)
{
    return (six){v3_mad(u.a, s, v.a), v3_mad(u.b, s, v.b)};
}

REAL_FN six six_select(real_mask m, six u, six v)
{
    return (six){v3_select(m, u.a, v.a), v3_select(m, u.b, v.b)};
}

// Even places, then odd ones.
REAL_FN real six_dot(six u, six v)
{
    real even = u.a.x * v.a.x + u.a.z * v.a.z + u.b.y * v.b.y;
    real odd = u.a.y * v.a.y + u.b.x * v.b.x + u.b.z * v.b.z;
    return even + odd;
}

// u + A v, column by column
REAL_FN six six_apply(six u, const six_by_six *A, const real *v)
{
    real sum[6] = {u.a.x, u.a.y, u.a.z, u.b.x, u.b.y, u.b.z};
    REAL_UNROLL
    for (int i = 0; i < 6; ++i) {
        REAL_UNROLL
        for (int j = 0; j < 6; ++j) {
            sum[i] = sum[i] + v[j] * A->m[SIX_AT(i, j)];
        }
    }
    return six_load(sum);
}

// to + A - sum over k of u_k u_k^T, where A NULL is 0, and `to` if it begins.
REAL_FN void six_by_six_hand_on(const six_by_six *A, int count, const six *u, bool begins, six_by_six *to)
{
    REAL_UNROLL
    for (int i = 0; i < 6; ++i) {
        REAL_UNROLL
        for (int j = 0; j <= i; ++j) {
            real entry = A ? A->m[SIX_AT(i, j)] : real_of(0.0);
            REAL_UNROLL
            for (int k = 0; k < count; ++k) {
                entry = entry - SIX_PLACE(u[k], j) * SIX_PLACE(u[k], i);
            }
            to->m[SIX_AT(i, j)] = (begins ? real_of(0.0) : to->m[SIX_AT(i, j)]) + entry;
        }
    }
}

#endif

#endif

#endif
