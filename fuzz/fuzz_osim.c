// Any bytes as OSIM, and scaled.
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    poise_file_destroy(fuzz_read(POISE_FORMAT_OSIM, NULL, data, size));
    const poise_body_scale scales[] = {{"pelvis", {1.1, 0.9, 1.0}, 2.0}, {"femur", {1.2, 1.3, 0.7}, 0.0}};
    poise_read_options options = {0};
    options.format = POISE_FORMAT_OSIM;
    options.body_scales = scales;
    options.body_scale_count = 2;
    poise_file *file = NULL;
    if (poise_read(data, size, &options, NULL, &file, NULL) == POISE_OK) {
        poise_file_destroy(file);
    }
    return 0;
}
