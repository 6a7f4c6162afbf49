// Any bytes as XML: what expat says.
#include "support/oracles.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char reason[REASON_SIZE];
    if (xml_against_expat(data, size, reason) == VERDICT_DIFFERENT) {
        fprintf(stderr, "%s\n", reason);
        abort();
    }
    return 0;
}
