// What text needs below the level of files: characters, an index of names, the decimal digits of a double.
#ifndef PZ_BASE_TEXT_H
#define PZ_BASE_TEXT_H

#include <poise/base.h>

// ---- Characters of ASCII, whatever the locale ----------------------------------------------------------------------------

static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static inline bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static inline bool is_letter(char c)
{
    return is_lower(c) || is_upper(c);
}

static inline char to_lower(char c)
{
    return is_upper(c) ? (char)(c - 'A' + 'a') : c;
}

static inline char to_upper(char c)
{
    return is_lower(c) ? (char)(c - 'a' + 'A') : c;
}

// The value of a hexadecimal digit, or -1.
static inline int hex_digit(char c)
{
    return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// ---- An index of names ---------------------------------------------------------------------------------------------------

// A hash table of positions in a list that somebody else keeps: open addressing over `capacity` slots, a power of two; a
// slot holds 0 (empty) or position + 1.
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

// ---- The decimal digits of a double --------------------------------------------------------------------------------------

// A natural number of many digits, in limbs of nine decimal digits, the lowest first.
//
// The largest needed is (2^54 - 1) 5^1075, the digits of a point halfway between two doubles: 768 digits, 86 limbs.
typedef struct pz_natural {
    uint32_t limb[88];
    int count;
} pz_natural;

// The digits of m 2^e, for m < 2^54 and -1075 <= e <= 971: fills `n` and returns x with m 2^e = n 10^x.
int pz_natural_from_binary(uint64_t m, int e, pz_natural *n);

// Digit `i` of n, 0 the lowest.
int pz_natural_digit(const pz_natural *n, int i);

// The number of digits, without leading zeros; 1 for zero.
int pz_natural_length(const pz_natural *n);

#endif
