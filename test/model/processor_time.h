// Processor time of the program, which other work on the machine hardly changes.
#ifndef TEST_PROCESSOR_TIME_H
#define TEST_PROCESSOR_TIME_H

#include <time.h>

// In seconds, to a hundredth or two.
static inline double processor_seconds(void)
{
#ifdef _WIN32 // where clock() tells the time
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
#else
    return (double)clock() / CLOCKS_PER_SEC;
#endif
}

#endif
