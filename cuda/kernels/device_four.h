// Four numbers with the arithmetic of a vector of four (goal/marker_sums.c), where there is none.
#ifndef POISE_CUDA_DEVICE_FOUR_H
#define POISE_CUDA_DEVICE_FOUR_H

struct four {
    double lane[4];

    __device__ double operator[](int i) const
    {
        return lane[i];
    }
};

static inline four operator+(four a, four b)
{
    return four{a.lane[0] + b.lane[0], a.lane[1] + b.lane[1], a.lane[2] + b.lane[2], a.lane[3] + b.lane[3]};
}

static inline four operator-(four a, four b)
{
    return four{a.lane[0] - b.lane[0], a.lane[1] - b.lane[1], a.lane[2] - b.lane[2], a.lane[3] - b.lane[3]};
}

static inline four operator*(four a, four b)
{
    return four{a.lane[0] * b.lane[0], a.lane[1] * b.lane[1], a.lane[2] * b.lane[2], a.lane[3] * b.lane[3]};
}

static inline four operator*(double s, four a)
{
    return four{s * a.lane[0], s * a.lane[1], s * a.lane[2], s * a.lane[3]};
}

static inline four operator+(four a, double s)
{
    return four{a.lane[0] + s, a.lane[1] + s, a.lane[2] + s, a.lane[3] + s};
}

#endif
