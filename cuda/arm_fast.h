// The search of solve/arm_search.c in single precision, for six and seven hinges: which zero to go to is a question that
// seven digits answer. A search that comes near takes one more step and is handed on to double precision.
//
// Products and sums are fused where it says fmaf and nowhere else (-fmad=false): a search gives the same bits in every
// kernel that it is inlined to. Sines, roots and reciprocals are the hardware's, good to about 4e-7.
#ifndef POISE_CUDA_ARM_FAST_H
#define POISE_CUDA_ARM_FAST_H

#include "arm.h"

#define FAST_DAMPING_LEAST 2e-6f // as large as the rounding of the matrix
#define FAST_PIVOT_LEAST   1e-7f
#define FAST_TWO_PI        6.2831853f

struct float3x {
    float x, y, z;
};

__device__ __forceinline__ float3x f3(float x, float y, float z)
{
    return float3x{x, y, z};
}

__device__ __forceinline__ float3x f3_sub(float3x a, float3x b)
{
    return f3(a.x - b.x, a.y - b.y, a.z - b.z);
}

__device__ __forceinline__ float f3_dot(float3x a, float3x b)
{
    return fmaf(a.x, b.x, fmaf(a.y, b.y, a.z * b.z));
}

// d + a . b
__device__ __forceinline__ float f3_dot_on(float d, float3x a, float3x b)
{
    return fmaf(a.x, b.x, fmaf(a.y, b.y, fmaf(a.z, b.z, d)));
}

// a + s b
__device__ __forceinline__ float3x f3_mad(float3x a, float s, float3x b)
{
    return f3(fmaf(s, b.x, a.x), fmaf(s, b.y, a.y), fmaf(s, b.z, a.z));
}

// s a + t b
__device__ __forceinline__ float3x f3_combine(float s, float3x a, float t, float3x b)
{
    return f3(fmaf(s, a.x, t * b.x), fmaf(s, a.y, t * b.y), fmaf(s, a.z, t * b.z));
}

__device__ __forceinline__ float3x f3_cross(float3x a, float3x b)
{
    return f3(fmaf(a.y, b.z, -(a.z * b.y)), fmaf(a.z, b.x, -(a.x * b.z)), fmaf(a.x, b.y, -(a.y * b.x)));
}

// d + a x b
__device__ __forceinline__ float3x f3_cross_on(float3x d, float3x a, float3x b)
{
    return f3(fmaf(a.y, b.z, fmaf(-a.z, b.y, d.x)), fmaf(a.z, b.x, fmaf(-a.x, b.z, d.y)),
              fmaf(a.x, b.y, fmaf(-a.y, b.x, d.z)));
}

struct fast_target {
    float3x ux, uy, uz, t;
};

// One search as it goes on. Bit i of low, high: joint i is at that limit.
template <int N> struct fast_run {
    float q[N];
    unsigned low, high;
    float f, f1, f2, f3; // at q and at the iterates before
    int k;
};

// Where the chain is: all but the first joint, whose axis is z and whose origin is 0.
template <int N> struct fast_point {
    float3x a[N], o[N], p, r, v;
    float e;
};

// ---- Begin ---------------------------------------------------------------------------------------------------------------

// As pz_arm_aim, with unit quaternions taken as such.
template <int N> __device__ __forceinline__ fast_target fast_aim(const pz_fast_chain &chain, const poise_pose *pose)
{
    const float *B = chain.back, *T = chain.tail_back;
    float x = (float)pose->rotation.x, y = (float)pose->rotation.y, z = (float)pose->rotation.z, w = (float)pose->rotation.w;
    float3x at = f3((float)(pose->position.x - chain.base_at[0]), (float)(pose->position.y - chain.base_at[1]),
                    (float)(pose->position.z - chain.base_at[2]));
    float s = 2.0f / fmaf(x, x, fmaf(y, y, fmaf(z, z, w * w)));
    float3x R[3] = {f3(fmaf(-s, fmaf(y, y, z * z), 1.0f), s * fmaf(x, y, w * z), s * fmaf(x, z, -(w * y))),
                    f3(s * fmaf(x, y, -(w * z)), fmaf(-s, fmaf(x, x, z * z), 1.0f), s * fmaf(y, z, w * x)),
                    f3(s * fmaf(x, z, w * y), s * fmaf(y, z, -(w * x)), fmaf(-s, fmaf(x, x, y * y), 1.0f))};
    // columns of back * R, then times the transposed tail
    float3x b[3] = {f3(B[0], B[1], B[2]), f3(B[3], B[4], B[5]), f3(B[6], B[7], B[8])}; // columns
    float3x u[3];
#pragma unroll
    for (int c = 0; c < 3; ++c) {
        u[c] = f3_mad(f3_combine(R[c].x, b[0], R[c].y, b[1]), R[c].z, b[2]);
    }
    fast_target target;
    target.ux = f3_mad(f3_combine(T[0], u[0], T[1], u[1]), T[2], u[2]);
    target.uy = f3_mad(f3_combine(T[3], u[0], T[4], u[1]), T[5], u[2]);
    target.uz = f3_mad(f3_combine(T[6], u[0], T[7], u[1]), T[8], u[2]);
    float3x t = f3_mad(f3_combine(at.x, b[0], at.y, b[1]), at.z, b[2]);
    target.t = f3(chain.scale * t.x, chain.scale * t.y, chain.scale * t.z);
    return target;
}

// q_i within its interval, as arm_bring_back.
template <int N>
__device__ __forceinline__ void fast_bring_back(const pz_fast_chain &chain, int i, float q, fast_run<N> &run)
{
    float turned = fmaf(-FAST_TWO_PI, rintf((q - chain.middle[i]) * (1.0f / FAST_TWO_PI)), q);
    q = turned > chain.lower[i] && turned < chain.upper[i] ? turned : q;
    bool below = q <= chain.lower[i], above = !below && q >= chain.upper[i];
    run.low |= below ? 1u << i : 0u;
    run.high |= above ? 1u << i : 0u;
    run.q[i] = below ? chain.lower[i] : above ? chain.upper[i] : q;
}

template <int N> __device__ __forceinline__ void fast_put(const pz_fast_chain &chain, int i, float q, fast_run<N> &run)
{
    run.q[i] = q;
    if (!(q > chain.lower[i] && q < chain.upper[i])) {
        fast_bring_back(chain, i, q, run);
    }
}

// Search number m begins at the caller's start, or at a point of the sequence.
template <int N>
__device__ __forceinline__ void fast_begin(const pz_fast_chain &chain, int m, const double *start, fast_run<N> &run)
{
    run.low = run.high = 0;
    run.k = 0;
    run.f1 = run.f2 = run.f3 = INFINITY;
#pragma unroll
    for (int i = 0; i < N; ++i) {
        double at = 0.5 + (double)(chain.first_start + m) * chain.ratio[i];
        at -= (double)(int64_t)at;
        double q = m == 0 ? start[chain.q[i]] : chain.first[i] + chain.span[i] * at;
        if (m == 0 && chain.is_endless[i]) { // in double, so that a start many turns away keeps its digits
            q -= 6.28318530717958647692 * rint(q * (1.0 / 6.28318530717958647692));
        }
        fast_put(chain, i, (float)q, run);
    }
}

// ---- Look ----------------------------------------------------------------------------------------------------------------

template <int N>
__device__ __forceinline__ void fast_look(const pz_fast_chain &chain, const fast_target &u, fast_run<N> &run,
                                          fast_point<N> &at)
{
    float s, c;
    __sincosf(run.q[0] + chain.offset[0], &s, &c);
    float3x x = f3(c, s, 0.0f);
    float3x p = f3(fmaf(chain.tx[0], c, -(chain.ty[0] * s)), fmaf(chain.tx[0], s, chain.ty[0] * c), chain.tz[0]);
    float3x y = f3(-(chain.ca[0] * s), chain.ca[0] * c, chain.sa[0]);
    float3x z = f3(chain.sa[0] * s, -(chain.sa[0] * c), chain.ca[0]);
#pragma unroll
    for (int i = 1; i < N; ++i) {
        at.a[i] = z;
        at.o[i] = p;
        __sincosf(run.q[i] + chain.offset[i], &s, &c);
        float3x across = f3_combine(c, y, -s, x);
        x = f3_combine(c, x, s, y);
        p = f3_mad(f3_mad(f3_mad(p, chain.tx[i], x), chain.ty[i], across), chain.tz[i], z);
        y = across;
        if (i < N - 1) {
            y = f3_combine(chain.ca[i], across, chain.sa[i], z);
            z = f3_combine(chain.ca[i], z, -chain.sa[i], across);
        }
    }
    float3x ex = f3_sub(x, u.ux), ey = f3_sub(y, u.uy), ez = f3_sub(z, u.uz);
    float3x twice = f3_cross_on(f3_cross_on(f3_cross(u.ux, ex), u.uy, ey), u.uz, ez);
    at.p = p;
    at.r = f3_sub(p, u.t);
    at.v = f3(0.5f * twice.x, 0.5f * twice.y, 0.5f * twice.z);
    at.e = 0.25f * f3_dot_on(f3_dot_on(f3_dot(ex, ex), ey, ey), ez, ez);
    run.f = fmaf(0.5f, f3_dot(at.r, at.r), at.e);
}

// ---- Step ----------------------------------------------------------------------------------------------------------------

// x of A x = b, A symmetric and positive, 6 x 6, its lower triangle by rows; A and b are spoilt.
__device__ __forceinline__ void fast_solve(float (&A)[6][6], float (&b)[6])
{
#pragma unroll
    for (int k = 0; k < 6; ++k) {
        float inverse = __frcp_rn(fmaxf(A[k][k], FAST_PIVOT_LEAST));
        A[k][k] = inverse;
#pragma unroll
        for (int i = k + 1; i < 6; ++i) {
            float factor = A[i][k] * inverse;
#pragma unroll
            for (int j = k + 1; j <= i; ++j) {
                A[i][j] = fmaf(-factor, A[j][k], A[i][j]);
            }
            b[i] = fmaf(-factor, b[k], b[i]);
        }
    }
#pragma unroll
    for (int k = 5; k >= 0; --k) {
        float sum = b[k];
#pragma unroll
        for (int i = k + 1; i < 6; ++i) {
            sum = fmaf(-A[i][k], b[i], sum);
        }
        b[k] = sum * A[k][k];
    }
}

// The step of arm_search.c by its 6 x 6 system, limits kept.
template <int N> __device__ __forceinline__ void fast_step(const pz_fast_chain &chain, fast_point<N> &at, fast_run<N> &run)
{
    float inverse = rsqrtf(fmaxf(fmaf(-0.5f, at.e, 1.0f), (float)ARM_KAPPA_LEAST));
    float lambda = fmaf((float)ARM_DAMPING, run.f, FAST_DAMPING_LEAST);
    float3x J[N];
    float A[6][6] = {};
    A[0][0] = A[1][1] = A[2][2] = lambda;
    A[3][3] = A[4][4] = A[5][5] = lambda * inverse;
    unsigned held = 0;
    if (run.low | run.high) { // few are at a limit
#pragma unroll
        for (int i = 0; i < N; ++i) {
            float3x a = i ? at.a[i] : f3(0.0f, 0.0f, 1.0f);
            float3x Ji = i ? f3_cross(a, f3_sub(at.p, at.o[i])) : f3(-at.p.y, at.p.x, 0.0f);
            float g = f3_dot_on(f3_dot(a, at.v), Ji, at.r);
            if (((run.low >> i & 1u) && g > 0.0f) || ((run.high >> i & 1u) && g < 0.0f)) {
                held |= 1u << i;
                at.a[i] = f3(0.0f, 0.0f, 0.0f); // clears the column
            }
        }
    }
    if (!(held & 1u)) { // a = z, J = z x p
        A[0][0] = fmaf(at.p.y, at.p.y, A[0][0]);
        A[1][0] = -(at.p.x * at.p.y);
        A[1][1] = fmaf(at.p.x, at.p.x, A[1][1]);
        A[5][0] = -at.p.y;
        A[5][1] = at.p.x;
        A[5][5] += 1.0f;
    }
#pragma unroll
    for (int i = 1; i < N; ++i) {
        J[i] = f3_cross(at.a[i], f3_sub(at.p, at.o[i]));
        float column[6] = {J[i].x, J[i].y, J[i].z, at.a[i].x, at.a[i].y, at.a[i].z};
#pragma unroll
        for (int r = 0; r < 6; ++r) {
#pragma unroll
            for (int c = 0; c <= r; ++c) {
                A[r][c] = fmaf(column[r], column[c], A[r][c]);
            }
        }
    }
    float b[6] = {-at.r.x, -at.r.y, -at.r.z, -inverse * at.v.x, -inverse * at.v.y, -inverse * at.v.z};
    fast_solve(A, b);
    float3x y = f3(b[0], b[1], b[2]), z = f3(b[3], b[4], b[5]);
    run.low = run.low & held, run.high = run.high & held;
#pragma unroll
    for (int i = 0; i < N; ++i) {
        float x = i ? f3_dot_on(f3_dot(at.a[i], z), J[i], y) : fmaf(at.p.x, y.y, fmaf(-at.p.y, y.x, z.z));
        if (!(held >> i & 1u)) {
            fast_put(chain, i, run.q[i] + x, run);
        }
    }
}

// ---- Judge ---------------------------------------------------------------------------------------------------------------

enum fast_end { FAST_GOES_ON = 0, FAST_NEAR, FAST_DROPPED };

// Does the search end at the point that was looked at?
template <int N> __device__ __forceinline__ fast_end fast_judge(const fast_point<N> &at, fast_run<N> &run)
{
    bool near = f3_dot(at.r, at.r) <= PZ_FAST_NEAR * PZ_FAST_NEAR && 2.0f * at.e <= PZ_FAST_NEAR * PZ_FAST_NEAR;
    bool creeps = run.k >= ARM_FIRST_LOOK && !(run.f <= (float)ARM_CREEPS * run.f3);
    fast_end end = near ? FAST_NEAR : creeps || run.k >= PZ_ARM_SEARCH_ITERATIONS ? FAST_DROPPED : FAST_GOES_ON;
    run.f3 = run.f2, run.f2 = run.f1, run.f1 = run.f;
    run.k += 1;
    return end;
}

#endif
