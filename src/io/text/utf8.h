// Characters as UTF-8.
#ifndef PZ_IO_UTF8_H
#define PZ_IO_UTF8_H

#include <stddef.h>
#include <stdint.h>

// Bytes of the character at [at, end), at < end; 0 when there is none: overlong forms, surrogates, what is beyond U+10FFFF
// and characters that are cut off (Unicode 15, table 3-7).
size_t pz_utf8_length(const char *at, const char *end);

// Write a character up to U+10FFFF; returns its bytes, at most 4.
size_t pz_utf8_put(char *to, uint32_t character);

// The first byte in [at, end) that does not belong to a character; `end` when all do.
const char *pz_utf8_check(const char *at, const char *end);

#endif
