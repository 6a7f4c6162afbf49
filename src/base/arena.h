// Bump allocation inside memory that was handed in, and the two-pass pattern that sizes it.
//
// A layout function takes every array it needs from an arena. Run over an arena without memory it only counts; run over
// memory of that size it hands out the arrays. One function, so size and layout cannot disagree.
#ifndef PZ_BASE_ARENA_H
#define PZ_BASE_ARENA_H

#include <poise/base.h>

#include "base/cpu.h"

#define PZ_ALIGNMENT 64 // a cache line: no array shares one with another object's

typedef struct pz_arena {
    unsigned char *base; // NULL: count only
    size_t used;
    size_t size;
    bool full; // something did not fit, or a size overflowed
} pz_arena;

// An arena that counts.
static inline pz_arena pz_arena_counting(void)
{
    return (pz_arena){.base = NULL, .used = 0, .size = SIZE_MAX, .full = false};
}

// An arena over `memory`, which may have any alignment.
pz_arena pz_arena_over(void *memory, size_t size);

// `count` elements of `element` bytes, aligned to PZ_ALIGNMENT; NULL when counting or full. Not cleared.
void *pz_arena_take(pz_arena *arena, size_t count, size_t element);

// Bytes that a request for all that was counted needs, whatever the alignment of the memory.
size_t pz_arena_bytes(const pz_arena *arena);

// Where the memory of an object came from, for its _destroy. All zeros: owned by somebody else.
typedef struct pz_owned {
    void *memory;
    poise_allocator allocator; // no functions: malloc
} pz_owned;

// `size` bytes from `allocator` (NULL: malloc), remembered in *owned; NULL when there are none, or size is 0.
void *pz_owned_take(pz_owned *owned, const poise_allocator *allocator, size_t size);
void pz_owned_release(const pz_owned *owned);

// Memory from `allocator` or malloc, and back.
void *pz_allocate(const poise_allocator *allocator, size_t size);
void pz_release(const poise_allocator *allocator, void *memory);

#endif
