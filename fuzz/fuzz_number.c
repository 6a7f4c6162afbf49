// Any bytes as a number: as strtod reads it; and any double written and read back.
#include "fuzz.h"

#include "io/io_core.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    double value = 0.0;
    const char *text = (const char *)data;
    const char *after = pz_number_read(text, text + size, &value);
    if (after != text && value == value) {
        size_t length = (size_t)(after - text);
        char *copy = malloc(length + 1);
        memcpy(copy, text, length);
        copy[length] = '\0';
        double expected = strtod(copy, NULL);
        if (memcmp(&expected, &value, sizeof value) != 0) {
            abort();
        }
        free(copy);
    }
    if (size >= sizeof value) {
        char written[PZ_NUMBER_SIZE];
        memcpy(&value, data, sizeof value);
        double read = 0.0;
        int length = pz_number_write(value, written);
        if (pz_number_read(written, written + length, &read) != written + length ||
            (value == value && memcmp(&read, &value, sizeof value) != 0)) {
            abort();
        }
        length = pz_number_write_scaled(value, PZ_RADIANS_PER_DEGREE, written);
        if (pz_number_read_scaled(written, written + length, PZ_RADIANS_PER_DEGREE, &read) != written + length ||
            (value == value && memcmp(&read, &value, sizeof value) != 0)) {
            abort();
        }
    }
    return 0;
}
