// Prints the microseconds of a frame, the least of several rounds, and the sum of all answers as bits.
#include "speed.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

// Of this process, so that others on the machine do not count.
static double seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

int main(void)
{
    if (speed_prepare() != 0) {
        return 1;
    }
    double best = 1e9, sum = 0.0;
    for (int i = 0; i < 20; ++i) {
        double from = seconds();
        sum = speed_run(1);
        double took = seconds() - from;
        best = took < best ? took : best;
    }
    uint64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    printf("%.3f %016" PRIx64 "\n", 1e6 * best / speed_frames(), bits);
    return 0;
}
