// Code for other processors: wider registers, chosen at run time, and the device that nvcc compiles for.
//
// A loop that vectorises gets a second copy, compiled for AVX2, behind a flag that a model keeps (no global state). Both
// copies give the same bits: contraction is off, and a vectorised loop does the same operations in the same order.
#ifndef PZ_BASE_CPU_H
#define PZ_BASE_CPU_H

#include <stdbool.h>

// Functions of headers that kernels are made of. Each kernel has its own code for them: that for wider registers, and, where
// nvcc compiles it, that of a graphics processor, for which they are functions of the device.
//
//   PZ_INLINE    part of whoever calls it
//   PZ_FN        inlined where the compiler thinks so
//   PZ_CALL      long, and called from many places: one copy in the library, one in a kernel of the device. Its text is in a
//                header that one source of the library includes (num/trig_kernel.h)
//
// Such a function does not return a struct from several places that is then looked at through its address: CUDA 13.0 may
// give it the memory of another one that is still in use. It fills one that it is handed.
#if defined(__CUDACC__)
#define PZ_INLINE static __device__ __forceinline__
#define PZ_FN     static __device__ inline
#define PZ_CALL   static __device__ __noinline__
#define restrict __restrict__ // C++ spells it so
#elif defined(__GNUC__)
#define PZ_INLINE static inline __attribute__((always_inline))
#define PZ_FN     static inline
#define PZ_CALL
#else
#define PZ_INLINE static inline
#define PZ_FN     static inline
#define PZ_CALL
#endif

#if defined(__GNUC__)
#define PZ_FETCH(address) __builtin_prefetch(address) // it will be read soon
#else
#define PZ_FETCH(address) ((void)(address))
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
