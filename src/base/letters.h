// Characters of ASCII, whatever the locale.
#ifndef PZ_BASE_LETTERS_H
#define PZ_BASE_LETTERS_H

#include <stdbool.h>

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

#endif
