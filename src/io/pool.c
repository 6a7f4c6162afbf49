#include "io/io_core.h"

#include "base/arena.h"

#include <string.h>

#define BLOCK 65536 // bytes; larger requests get a block of their own

typedef struct pz_pool_block {
    struct pz_pool_block *next;
    size_t used, size;
    max_align_t bytes[];
} pz_pool_block;

static size_t rounded(size_t size)
{
    return (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
}

void *pz_pool_take(pz_pool *pool, size_t count, size_t element)
{
    if (element != 0 && count > (SIZE_MAX / 2 - BLOCK) / element) {
        return NULL;
    }
    size_t size = rounded(count * element + 1); // never 0, and a spare byte for a closing zero
    pz_pool_block *block = pool->blocks;
    if (!block || block->size - block->used < size) {
        size_t room = size > BLOCK / 4 ? size : BLOCK;
        pz_pool_block *fresh = pz_allocate(pool->allocator, sizeof *fresh + room);
        if (!fresh) {
            return NULL;
        }
        *fresh = (pz_pool_block){.size = room};
        bool keeps_open = block && room == size; // a large request does not close a block that has room left
        fresh->next = keeps_open ? block->next : block;
        if (keeps_open) {
            block->next = fresh;
        } else {
            pool->blocks = fresh;
        }
        block = fresh;
    }
    void *taken = (unsigned char *)block->bytes + block->used;
    block->used += size;
    return taken;
}

void pz_pool_release(pz_pool *pool)
{
    while (pool->blocks) {
        pz_pool_block *next = pool->blocks->next;
        pz_release(pool->allocator, pool->blocks);
        pool->blocks = next;
    }
}

void *pz_pool_grow(pz_pool *pool, void *array, size_t count, size_t *capacity, size_t element)
{
    if (count < *capacity) {
        return array;
    }
    size_t room = *capacity < 8 ? 8 : *capacity > SIZE_MAX / 2 ? SIZE_MAX : 2 * *capacity;
    void *larger = pz_pool_take(pool, room, element);
    if (!larger) {
        return NULL;
    }
    if (count > 0) {
        memcpy(larger, array, count * element);
    }
    *capacity = room;
    return larger;
}

bool pz_pool_names(pz_pool *pool, size_t count, pz_names *names)
{
    names->capacity = pz_names_capacity(count);
    names->slots = pz_pool_take(pool, names->capacity, sizeof *names->slots);
    if (names->slots) {
        memset(names->slots, 0, names->capacity * sizeof *names->slots);
    }
    return names->slots != NULL;
}

char *pz_pool_copy(pz_pool *pool, const char *text, size_t length)
{
    char *copy = pz_pool_take(pool, length + 1, 1);
    if (copy) {
        memcpy(copy, text, length);
        copy[length] = '\0';
    }
    return copy;
}
