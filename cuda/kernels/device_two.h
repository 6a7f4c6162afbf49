// Two numbers with the arithmetic of a register of two (simd/six.h), where there is none.
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

static inline two two_of(double s)
{
    return two{s, s};
}

#endif
