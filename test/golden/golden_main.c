// Prints the golden hash: a line for each part, and one for all.
#include "golden.h"

#include <stdio.h>

static int print(const char *name, golden_result r)
{
    printf("%-12s %016llx %6ld numbers\n", name, (unsigned long long)r.hash, r.numbers);
    if (r.troubles != 0) {
        printf("%s: %ld numbers are not finite, or calls failed\n", name, r.troubles);
    }
    return r.troubles != 0;
}

int main(void)
{
    for (int part = 0; part < golden_part_count(); ++part) {
        print(golden_part_name(part), golden_part(part));
    }
    return print("all", golden_all());
}
