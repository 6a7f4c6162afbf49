#include "base/arena.h"

#include <stdlib.h>

pz_arena pz_arena_over(void *memory, size_t size)
{
    size_t past = (size_t)((uintptr_t)memory % PZ_ALIGNMENT);
    size_t skip = past == 0 ? 0 : PZ_ALIGNMENT - past;
    if (size < skip) {
        return (pz_arena){.base = (unsigned char *)memory, .used = 0, .size = 0, .full = true};
    }
    return (pz_arena){.base = (unsigned char *)memory + skip, .used = 0, .size = size - skip, .full = false};
}

void *pz_arena_take(pz_arena *arena, size_t count, size_t element)
{
    if (arena->full || (element != 0 && count > (SIZE_MAX / 2) / element)) {
        arena->full = true;
        return NULL;
    }
    size_t bytes = count * element;
    size_t rounded = (bytes + PZ_ALIGNMENT - 1) / PZ_ALIGNMENT * PZ_ALIGNMENT;
    if (rounded > arena->size - arena->used) {
        arena->full = true;
        return NULL;
    }
    void *taken = arena->base ? arena->base + arena->used : NULL;
    arena->used += rounded;
    return taken;
}

size_t pz_arena_bytes(const pz_arena *arena)
{
    if (arena->full || arena->used > SIZE_MAX - PZ_ALIGNMENT) {
        return 0;
    }
    return arena->used + PZ_ALIGNMENT;
}

void *pz_allocate(const poise_allocator *allocator, size_t size)
{
    return allocator ? allocator->allocate(allocator->user, size) : malloc(size);
}

void pz_release(const poise_allocator *allocator, void *memory)
{
    if (!memory) {
        return;
    }
    if (allocator) {
        allocator->release(allocator->user, memory);
    } else {
        free(memory);
    }
}

void *pz_owned_take(pz_owned *owned, const poise_allocator *allocator, size_t size)
{
    *owned = (pz_owned){.memory = size > 0 ? pz_allocate(allocator, size) : NULL};
    if (allocator) {
        owned->allocator = *allocator;
    }
    return owned->memory;
}

void pz_owned_release(const pz_owned *owned)
{
    poise_allocator allocator = owned->allocator; // the object that holds it goes
    pz_release(allocator.release ? &allocator : NULL, owned->memory);
}
