#include "base/names.h"

#include <string.h>

size_t pz_names_capacity(size_t count)
{
    size_t capacity = 8;
    while (capacity < 2 * count) {
        capacity *= 2;
    }
    return capacity;
}

// FNV-1a (Fowler, Noll, Vo), 64 bit.
static uint64_t hash(const char *name)
{
    uint64_t h = 14695981039346656037u;
    for (const unsigned char *c = (const unsigned char *)name; *c; ++c) {
        h = (h ^ *c) * 1099511628211u;
    }
    return h;
}

int pz_names_find(const pz_names *names, const char *name, pz_name_at at, const void *owner)
{
    if (names->capacity == 0) {
        return -1;
    }
    size_t mask = names->capacity - 1;
    for (size_t slot = (size_t)hash(name) & mask; names->slots[slot] != 0; slot = (slot + 1) & mask) {
        int position = names->slots[slot] - 1;
        if (strcmp(at(owner, position), name) == 0) {
            return position;
        }
    }
    return -1;
}

void pz_names_add(pz_names *names, const char *name, int position)
{
    size_t mask = names->capacity - 1;
    size_t slot = (size_t)hash(name) & mask;
    while (names->slots[slot] != 0) {
        slot = (slot + 1) & mask;
    }
    names->slots[slot] = position + 1;
}
