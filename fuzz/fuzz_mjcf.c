// Any bytes as MJCF, which may include itself under any name.
#include "fuzz.h"

typedef struct bytes {
    const uint8_t *data;
    size_t size;
} bytes;

static poise_status load(void *user, const char *name, const void **data, size_t *size)
{
    (void)name;
    *data = ((const bytes *)user)->data;
    *size = ((const bytes *)user)->size;
    return POISE_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    poise_file_destroy(fuzz_read(POISE_FORMAT_MJCF, NULL, data, size));
    bytes itself = {data, size};
    poise_read_options options = {0};
    options.format = POISE_FORMAT_MJCF;
    options.load = load;
    options.user = &itself;
    options.floating = true;
    poise_file *file = NULL;
    if (poise_read(data, size, &options, NULL, &file, NULL) == POISE_OK) {
        poise_file_destroy(file);
    }
    return 0;
}
