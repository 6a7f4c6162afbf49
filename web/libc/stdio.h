// The part of <stdio.h> that the scenes use, for builds without a C library: %s, %d, %c and %%, without widths.
#ifndef WEB_LIBC_STDIO_H
#define WEB_LIBC_STDIO_H

#include <stddef.h>

int snprintf(char *restrict text, size_t size, const char *restrict format, ...) __attribute__((format(printf, 3, 4)));

#endif
