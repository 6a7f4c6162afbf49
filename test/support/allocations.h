// Counts what a test program and the library in it ask of malloc, calloc and realloc. CMake: poise_count_allocations(test).
#ifndef TEST_ALLOCATIONS_H
#define TEST_ALLOCATIONS_H

// Requests so far, of all threads.
int allocations_so_far(void);

#endif
