#include "base/text.h"

#include <string.h>

// ---- An index of names ---------------------------------------------------------------------------------------------------

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

// ---- The decimal digits of a double --------------------------------------------------------------------------------------

static const uint32_t LIMB_BASE = 1000000000;

static void scale(pz_natural *n, uint32_t factor)
{
    uint64_t carry = 0;
    for (int i = 0; i < n->count; ++i) {
        uint64_t product = (uint64_t)n->limb[i] * factor + carry;
        n->limb[i] = (uint32_t)(product % LIMB_BASE);
        carry = product / LIMB_BASE;
    }
    if (carry != 0) {
        n->limb[n->count++] = (uint32_t)carry; // below the base, since factor <= base
    }
}

// n <- n base^power, by factors of base^stride that fit in a limb.
static void scale_power(pz_natural *n, uint32_t base, int power, int stride)
{
    uint32_t step = 1;
    for (int i = 0; i < stride; ++i) {
        step *= base;
    }
    for (; power >= stride; power -= stride) {
        scale(n, step);
    }
    for (; power > 0; --power) {
        scale(n, base);
    }
}

// Exact, because every double is a finite decimal: for e < 0
//
//   m 2^e = (m 5^-e) 10^e
//
// so the digits are those of the natural number m 2^e or m 5^-e.
int pz_natural_from_binary(uint64_t m, int e, pz_natural *n)
{
    n->limb[0] = (uint32_t)(m % LIMB_BASE);
    n->limb[1] = (uint32_t)(m / LIMB_BASE);
    n->count = 2;
    scale_power(n, e < 0 ? 5 : 2, e < 0 ? -e : e, e < 0 ? 12 : 29);
    return e < 0 ? e : 0;
}

int pz_natural_digit(const pz_natural *n, int i)
{
    uint32_t limb = n->limb[i / 9];
    for (int k = i % 9; k > 0; --k) {
        limb /= 10;
    }
    return (int)(limb % 10);
}

int pz_natural_length(const pz_natural *n)
{
    int length = 9 * n->count;
    while (length > 1 && pz_natural_digit(n, length - 1) == 0) {
        --length;
    }
    return length;
}
