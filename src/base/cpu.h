// Code for wider registers, chosen at run time.
//
// A loop that vectorises gets a second copy, compiled for AVX2, behind a flag that a model keeps (no global state). Both
// copies give the same bits: contraction is off, and a vectorised loop does the same operations in the same order.
#ifndef PZ_BASE_CPU_H
#define PZ_BASE_CPU_H

#include <stdbool.h>

// For functions that both copies share: each must have its own code for them.
#if defined(__GNUC__)
#define PZ_INLINE         static inline __attribute__((always_inline))
#define PZ_FETCH(address) __builtin_prefetch(address) // it will be read soon
#else
#define PZ_INLINE         static inline
#define PZ_FETCH(address) ((void)(address))
#endif

// Marks functions that a graphics processor runs, too: cuda/kernels/ compiles their sources a second time and marks them in
// its own way, by defining this before it includes them.
#ifndef PZ_DEVICE
#define PZ_DEVICE
#endif

// Lanes of two: NEON, which every arm64 has. SSE2 would do as well, but few x86-64 processors lack AVX2.
#ifndef PZ_HAS_PAIRS
#if defined(__aarch64__) && defined(__GNUC__) && !defined(__CUDACC__)
#define PZ_HAS_PAIRS 1
#else
#define PZ_HAS_PAIRS 0
#endif
#endif

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__CUDACC__)
#define PZ_HAS_WIDE 1
#define PZ_WIDE     __attribute__((target("avx2")))
#define PZ_WIDEST   __attribute__((target("avx512f,avx512dq,avx512vl")))
#define PZ_FUSED    __attribute__((target("avx2,fma"))) // fma and fmaf are instructions
static inline bool pz_cpu_is_wide(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") != 0;
}
static inline bool pz_cpu_is_widest(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
static inline bool pz_cpu_is_fused(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#else
#define PZ_HAS_WIDE 0
#define PZ_WIDE
#define PZ_FUSED
static inline bool pz_cpu_is_fused(void)
{
#ifdef __aarch64__
    return true;
#else
    return false;
#endif
}
static inline bool pz_cpu_is_wide(void)
{
    return false;
}
static inline bool pz_cpu_is_widest(void)
{
    return false;
}
#endif

// The widest registers that the processor has, in doubles, up to `wanted`; 1 for less than two.
static inline int pz_cpu_lanes(int wanted)
{
    return wanted >= 8 && pz_cpu_is_widest() ? 8 : wanted >= 4 && pz_cpu_is_wide() ? 4 : wanted >= 2 && PZ_HAS_PAIRS ? 2 : 1;
}

#endif
