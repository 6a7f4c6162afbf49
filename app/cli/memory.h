// Memory that a program cannot go on without.
#ifndef APP_MEMORY_H
#define APP_MEMORY_H

#include <stdbool.h>

// What malloc and its like returned. Where that is NULL the program ends: one line on standard error, exit status 2.
void *needed(void *memory);

// The same for calls of the library that fail for lack of memory only.
void need(bool has_memory);

#endif
