// What the programs ask of the system (app/system), whichever it is.
#include "support/test_main.h"

#include <app/system/system.h>

// The time of a solve is microseconds: each clock must tell one from the next.
static void check_steps(int64_t (*read_clock)(void))
{
    enum { STEPS = 20 };
    int64_t least = INT64_MAX, last = read_clock();
    for (int seen = 0; seen < STEPS;) {
        int64_t now = read_clock();
        ck_assert(now >= last);
        if (now > last) {
            least = now - last < least ? now - last : least;
            last = now;
            seen += 1;
        }
    }
    ck_assert_int_lt(least, 20000);
}

TEST(clocks_count_microseconds)
{
    check_steps(system_nanoseconds);
    check_steps(system_thread_nanoseconds);
}
