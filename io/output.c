// Writing: bytes that grow, and the frame around every format's writer.
#include "io/io_core.h"

#include "base/arena.h"

#include <string.h>

void pz_put_bytes(pz_output *output, const void *bytes, size_t size)
{
    if (output->failed || size > SIZE_MAX / 4 - output->size) {
        output->failed = true;
        return;
    }
    if (output->size + size >= output->capacity) { // one byte stays free for the closing zero
        size_t capacity = 2 * (output->size + size) + 4096;
        unsigned char *larger = pz_allocate(output->allocator, capacity);
        if (!larger) {
            output->failed = true;
            return;
        }
        if (output->size > 0) {
            memcpy(larger, output->bytes, output->size);
        }
        pz_release(output->allocator, output->bytes);
        output->bytes = larger;
        output->capacity = capacity;
    }
    if (size > 0) {
        memcpy(output->bytes + output->size, bytes, size);
    }
    output->size += size;
}

void pz_put(pz_output *output, const char *text)
{
    pz_put_bytes(output, text, strlen(text));
}

void pz_put_number(pz_output *output, double value)
{
    char text[PZ_NUMBER_SIZE];
    pz_put_bytes(output, text, (size_t)pz_number_write(value, text));
}

void pz_put_degrees(pz_output *output, double radians)
{
    char text[PZ_NUMBER_SIZE];
    pz_put_bytes(output, text, (size_t)pz_number_write_scaled(radians, PZ_RADIANS_PER_DEGREE, text));
}

void pz_put_integer(pz_output *output, long long value)
{
    char text[24];
    size_t at = sizeof text;
    unsigned long long left = value < 0 ? 0ull - (unsigned long long)value : (unsigned long long)value;
    do {
        text[--at] = (char)('0' + left % 10);
        left /= 10;
    } while (left > 0);
    if (value < 0) {
        text[--at] = '-';
    }
    pz_put_bytes(output, text + at, sizeof text - at);
}

void pz_output_warn(pz_output *output, const char *format, ...)
{
    if (output->warnings && output->warning_count < output->warning_capacity) {
        poise_error said = {.line = 0};
        va_list arguments;
        va_start(arguments, format);
        pz_error_set_list(&said, POISE_OK, format, arguments);
        va_end(arguments);
        output->warnings[output->warning_count].line = 0;
        memcpy(output->warnings[output->warning_count].text, said.text, sizeof said.text);
    }
    output->warning_count += 1;
}

poise_status poise_write(const poise_file *file, poise_format format, const poise_allocator *allocator, void **bytes,
                         size_t *size, poise_warning *warnings, int *warning_count, poise_error *error)
{
    if (!file || !bytes || !size || (warnings && !warning_count)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "file, bytes and size must not be NULL, and warnings need warning_count");
    }
    const pz_format_row *row = pz_format_row_of(format);
    if (!row || !row->write) {
        return pz_error_set(error, POISE_ERROR_UNSUPPORTED, "%s: not a format that can be written",
                            poise_format_name(format));
    }
    pz_output output = {.allocator = allocator,
                        .error = error,
                        .warnings = warnings,
                        .warning_capacity = warnings && warning_count ? *warning_count : 0};
    poise_format kind = format == POISE_FORMAT_GLB ? POISE_FORMAT_GLTF : format;
    if (file->carried && file->carried->format != kind && file->carried->text[0]) {
        pz_output_warn(&output, "left out: %s", file->carried->text);
    }
    if (file->clip && (format == POISE_FORMAT_DH || format == POISE_FORMAT_ASF)) {
        pz_output_warn(&output, "left out: the motion, which %s files do not hold", row->extension);
    }
    poise_status status = row->write(file, &output);
    pz_put_bytes(&output, "", 0); // so that an empty file has its zero, too
    if (status == POISE_OK && output.failed) {
        status = pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    if (status != POISE_OK) {
        pz_release(allocator, output.bytes);
        return status;
    }
    output.bytes[output.size] = '\0';
    *bytes = output.bytes;
    *size = output.size;
    if (warning_count) {
        *warning_count = output.warning_count;
    }
    return POISE_OK;
}

void poise_bytes_release(const poise_allocator *allocator, void *bytes)
{
    pz_release(allocator, bytes);
}
