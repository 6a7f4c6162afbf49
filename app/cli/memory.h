// Memory that a program cannot go on without.
#ifndef APP_MEMORY_H
#define APP_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

// What malloc and similar calls returned. Where that is NULL the program ends, with one line on standard error, exit status
// 2.
void *needed(void *memory);

// A copy of so many bytes, ended by a zero.
char *needed_copy(const void *bytes, size_t size);

// The same for calls of the library that fail for lack of memory only.
void need(bool has_memory);

#endif
