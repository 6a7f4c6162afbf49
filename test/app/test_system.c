// What the programs ask of the system (app/system), whichever it is.
#include "support/test_main.h"

#include <app/system/system.h>

// The time of a solve is microseconds: each clock must tell one from the next. What it counts in divides all its steps, however
// long another program keeps this one waiting between two looks.
static void check_steps(int64_t (*read_clock)(void))
{
    enum { STEPS = 20 };
    int64_t unit = 0, last = read_clock();
    for (int seen = 0; seen < STEPS;) {
        int64_t now = read_clock();
        ck_assert(now >= last);
        if (now > last) {
            for (int64_t rest = now - last; rest > 0;) { // Euclid's greatest common divisor
                int64_t remainder = unit % rest;
                unit = rest;
                rest = remainder;
            }
            last = now;
            seen += 1;
        }
    }
    ck_assert_int_lt(unit, 20000);
}

TEST(clocks_count_microseconds)
{
    check_steps(system_nanoseconds);
    check_steps(system_thread_nanoseconds);
}
