// Any bytes as a Denavit-Hartenberg table.
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    poise_file_destroy(fuzz_read(POISE_FORMAT_DH, NULL, data, size));
    return 0;
}
