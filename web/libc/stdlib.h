// The part of <stdlib.h> that Poise uses, for builds without a C library.
#ifndef WEB_LIBC_STDLIB_H
#define WEB_LIBC_STDLIB_H

#include <stddef.h>

void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void free(void *memory);

// Bytes that malloc has given out and not got back, what it keeps beside them included.
size_t web_heap_used(void);

#endif
