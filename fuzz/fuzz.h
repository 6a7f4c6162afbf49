// What fuzz programs share.
#ifndef POISE_FUZZ_H
#define POISE_FUZZ_H

#include <poise/io.h>

// The entry that clang's fuzzer calls.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Read bytes as `format`, for `model` (may be NULL). Aborts when a number of the result is not finite, when an error has no
// text, or when the file, written in its own format, does not read back to the same bits. Returns the file, or NULL.
poise_file *fuzz_read(poise_format format, const poise_model *model, const uint8_t *data, size_t size);

#endif
