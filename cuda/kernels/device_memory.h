// Memory in the sources of the library (device_sources.h): arenas, which C++ wants to know the types of, and copies of
// numbers.
#ifndef POISE_CUDA_DEVICE_MEMORY_H
#define POISE_CUDA_DEVICE_MEMORY_H

#include <string.h>

#define pz_arena_take pz_arena_take_bytes
#include "base/arena.c"
#undef pz_arena_take

// A pointer that becomes one of any type, as C's void * does.
struct anything {
    void *memory;

    template <class T> __device__ operator T *() const
    {
        return (T *)memory;
    }
};

static inline anything pz_arena_take(pz_arena *arena, size_t count, size_t element)
{
    return anything{pz_arena_take_bytes(arena, count, element)};
}

// The device's own copy byte by byte where they do not know better.
template <class T> static inline void set_to_zero(T *to, size_t size)
{
    if (alignof(T) % sizeof(double) == 0) {
        for (size_t i = 0; i < size / sizeof(double); ++i) {
            ((double *)to)[i] = 0.0;
        }
    } else {
        memset(to, 0, size);
    }
}

static inline void copy_numbers(double *to, const double *from, size_t size)
{
    for (size_t i = 0; i < size / sizeof(double); ++i) {
        to[i] = from[i];
    }
}

template <class To, class From> static inline void copy_numbers(To *to, const From *from, size_t size)
{
    if (sizeof(To) > sizeof(double) && alignof(To) % sizeof(double) == 0 && alignof(From) % sizeof(double) == 0) {
        for (size_t i = 0; i < size / sizeof(double); ++i) {
            ((double *)to)[i] = ((const double *)from)[i];
        }
    } else {
        memcpy(to, from, size);
    }
}

// 0 where all bits are the same.
static inline int differ_by_bits(const double *a, const double *b, size_t size)
{
    bool same = true;
    for (size_t i = 0; i < size / sizeof(double); ++i) {
        same = same && __double_as_longlong(a[i]) == __double_as_longlong(b[i]);
    }
    return same ? 0 : 1;
}

#define memcmp(a, b, size)     differ_by_bits(a, b, size)
#define memset(to, zero, size) set_to_zero(to, size)
#define memcpy(to, from, size) copy_numbers(to, from, size)

#endif
