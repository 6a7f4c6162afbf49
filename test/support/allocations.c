#include "allocations.h"

#include <stdatomic.h>

static atomic_int requests;

int allocations_so_far(void)
{
    return atomic_load(&requests);
}

void *WRAPPED(malloc)(size_t size)
{
    atomic_fetch_add(&requests, 1);
    return GENUINE(malloc)(size);
}

void *WRAPPED(calloc)(size_t count, size_t size)
{
    atomic_fetch_add(&requests, 1);
    return GENUINE(calloc)(count, size);
}

void *WRAPPED(realloc)(void *memory, size_t size)
{
    atomic_fetch_add(&requests, 1);
    return GENUINE(realloc)(memory, size);
}
