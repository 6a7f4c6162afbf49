// Two numbers with the arithmetic of a register of two (math/six.h), where there is none, and 6 x 6 matrices that are small
// enough to stay in registers.
#ifndef POISE_CUDA_DEVICE_TWO_H
#define POISE_CUDA_DEVICE_TWO_H

#define PZ_HAS_TWO

struct two {
    double lane[2];

    __device__ double operator[](int i) const
    {
        return lane[i];
    }
};

static inline two operator+(two a, two b)
{
    return two{a.lane[0] + b.lane[0], a.lane[1] + b.lane[1]};
}

static inline two operator-(two a, two b)
{
    return two{a.lane[0] - b.lane[0], a.lane[1] - b.lane[1]};
}

static inline two operator*(two a, two b)
{
    return two{a.lane[0] * b.lane[0], a.lane[1] * b.lane[1]};
}

static inline two operator*(double s, two a)
{
    return two{s * a.lane[0], s * a.lane[1]};
}

static inline two operator+(two a, double s)
{
    return two{a.lane[0] + s, a.lane[1] + s};
}

// Symmetric: the lower triangle, row by row.
struct six_by_six {
    double entry[21];
};

#include "math/six.h"

static inline double six_at(const six &u, int i)
{
    return i < 2 ? u.a[i] : i < 4 ? u.b[i - 2] : u.c[i - 4];
}

static inline six_by_six six_by_six_add(six_by_six A, const six_by_six *B)
{
    for (int k = 0; k < 21; ++k) {
        A.entry[k] = A.entry[k] + B->entry[k];
    }
    return A;
}

// u + A v, column by column
static inline six six_apply(six u, const six_by_six *A, six v)
{
    double sum[6];
    for (int i = 0; i < 6; ++i) {
        sum[i] = six_at(u, i);
        for (int j = 0; j < 6; ++j) {
            sum[i] += six_at(v, j) * A->entry[i < j ? j * (j + 1) / 2 + i : i * (i + 1) / 2 + j];
        }
    }
    return six{{sum[0], sum[1]}, {sum[2], sum[3]}, {sum[4], sum[5]}};
}

// A - u u^T
static inline void six_subtract_square(six_by_six *A, six u)
{
    for (int i = 0; i < 6; ++i) {
        for (int j = 0; j <= i; ++j) {
            A->entry[i * (i + 1) / 2 + j] += -six_at(u, j) * six_at(u, i);
        }
    }
}

#endif
