// Counts what a test program and the library in it ask of malloc, calloc and realloc. CMake: poise_count_allocations(test).
#ifndef TEST_ALLOCATIONS_H
#define TEST_ALLOCATIONS_H

#include <stddef.h>

// Requests so far, of all threads.
int allocations_so_far(void);

// A function in the place of malloc, calloc, realloc or free, for the program and all that is linked into it:
//
//   void *WRAPPED(malloc)(size_t size) { ...; return GENUINE(malloc)(size); }
//
// The linker sends calls there by --wrap (CMake: poise_wrap). That of macOS cannot; there a program's own malloc comes
// before the system's.
#ifdef __APPLE__
#include <malloc/malloc.h>
#include <stdlib.h>

#define WRAPPED(name) name
#define GENUINE(name) genuine_##name

static inline void *genuine_malloc(size_t size)
{
    return malloc_zone_malloc(malloc_default_zone(), size);
}

static inline void *genuine_calloc(size_t count, size_t size)
{
    return malloc_zone_calloc(malloc_default_zone(), count, size);
}

static inline void *genuine_realloc(void *memory, size_t size)
{
    return memory ? malloc_zone_realloc(malloc_zone_from_ptr(memory), memory, size) : genuine_malloc(size);
}

static inline void genuine_free(void *memory)
{
    if (memory) {
        malloc_zone_free(malloc_zone_from_ptr(memory), memory);
    }
}
#else
#define WRAPPED(name) __wrap_##name
#define GENUINE(name) __real_##name

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void __real_free(void *memory);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void __wrap_free(void *memory);
#endif

#endif
