// The linker sends malloc, calloc and realloc to the __wrap_ functions.
#include "allocations.h"

#include <stdatomic.h>
#include <stddef.h>

static atomic_int requests;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);

int allocations_so_far(void)
{
    return atomic_load(&requests);
}

void *__wrap_malloc(size_t size)
{
    atomic_fetch_add(&requests, 1);
    return __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    atomic_fetch_add(&requests, 1);
    return __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
    atomic_fetch_add(&requests, 1);
    return __real_realloc(memory, size);
}
