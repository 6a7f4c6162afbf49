// What the library does, counted: the same number in every run, on a busy machine or an idle one. A step is a basic block that is
// entered, as the compiler sees them (-fsanitize-coverage=trace-pc), or eight bytes that a function of string.h goes over. Only for
// programs whose library is compiled so (CMake: poise_count_steps).
#ifndef TEST_STEPS_H
#define TEST_STEPS_H

#include <stdint.h>

// So far, of all threads.
uint64_t steps_so_far(void);

#endif
