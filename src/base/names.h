// An index of names: a hash table of positions in a list that somebody else keeps.
#ifndef PZ_BASE_NAMES_H
#define PZ_BASE_NAMES_H

#include <poise/base.h>

// Open addressing over `capacity` slots, a power of two; a slot holds 0 (empty) or position + 1.
typedef struct pz_names {
    int32_t *slots;
    size_t capacity;
} pz_names;

// Slots for `count` names, at most half full.
size_t pz_names_capacity(size_t count);

// Text of the name at a position of the owner's list.
typedef const char *(*pz_name_at)(const void *owner, int position);

// The position of `name`, or -1.
int pz_names_find(const pz_names *names, const char *name, pz_name_at at, const void *owner);

// Add the position of a name that is not in the table yet. There must be an empty slot.
void pz_names_add(pz_names *names, const char *name, int position);

#endif
