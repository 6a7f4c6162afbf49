// An allocator that fails when told to, and counts what is not released.
#ifndef TEST_METER_H
#define TEST_METER_H

#include "check.h"

#include <stdlib.h>

typedef struct meter {
    int requests;  // so far
    int fail_from; // number of the first request that fails; 0: none
    int fail_to;   // number of the last
    int live;      // blocks not yet released
} meter;

static inline void *meter_allocate(void *user, size_t size)
{
    meter *m = user;
    m->requests += 1;
    if (m->fail_from != 0 && m->requests >= m->fail_from && m->requests <= m->fail_to) {
        return NULL;
    }
    void *memory = malloc(size);
    m->live += memory != NULL;
    return memory;
}

static inline void meter_release(void *user, void *memory)
{
    ck_assert_ptr_nonnull(memory);
    ((meter *)user)->live -= 1;
    free(memory);
}

#endif
