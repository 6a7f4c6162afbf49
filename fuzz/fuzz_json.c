// Any bytes as the Poise JSON format: read or refused; what is read comes back with the same bits.
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    poise_file_destroy(fuzz_read(POISE_FORMAT_JSON, NULL, data, size));
    return 0;
}
