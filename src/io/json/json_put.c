// Writing JSON: brackets, commas and indentation; numbers as the shortest decimal that reads back to the same bits.
#include "io/json/json_document.h"

#include "math/scalar.h"

#include <string.h>

static void put_escaped(pz_output *output, unsigned char c)
{
    static const char digits[] = "0123456789abcdef";
    char escape[] = {'\\', 'u', '0', '0', digits[c >> 4], digits[c & 15], '\0'};
    pz_put(output, c == '\n' ? "\\n" : c == '\t' ? "\\t" : escape);
}

// Bytes that are no UTF-8 are taken as Latin-1, with a warning: JSON has no other way to carry them.
static void put_string(pz_output *output, const char *text)
{
    bool is_foreign = false;
    pz_put(output, "\"");
    const char *end = text + strlen(text);
    for (const char *at = text; at < end;) {
        size_t length = pz_utf8_length(at, end);
        is_foreign = is_foreign || length == 0;
        if (*at == '"' || *at == '\\') {
            pz_put(output, "\\");
        }
        if (length == 0 || (unsigned char)*at < 0x20 || *at == 0x7F) {
            put_escaped(output, (unsigned char)*at);
        } else {
            pz_put_bytes(output, at, length);
        }
        at += length > 0 ? length : 1;
    }
    pz_put(output, "\"");
    if (is_foreign) {
        pz_output_warn(output, "\"%s\" is not UTF-8; Latin-1 assumed", text);
    }
}

static void new_line(pz_json_writer *writer)
{
    pz_put(writer->output, "\n");
    for (int i = 0; i < writer->depth; ++i) {
        pz_put(writer->output, "  ");
    }
}

void pz_json_begin(pz_json_writer *writer, const char *key)
{
    if (writer->depth > 0) {
        pz_put(writer->output, !writer->has_before ? "" : writer->flat > 0 ? ", " : ",");
        if (writer->flat == 0) {
            new_line(writer);
        }
    }
    writer->has_before = true;
    if (key) {
        put_string(writer->output, key);
        pz_put(writer->output, ": ");
    }
}

void pz_json_open(pz_json_writer *writer, const char *key, const char *bracket)
{
    pz_json_begin(writer, key);
    pz_put(writer->output, bracket);
    writer->depth += 1;
    writer->has_before = false;
}

void pz_json_close(pz_json_writer *writer, const char *bracket)
{
    writer->depth -= 1;
    if (writer->has_before && writer->flat == 0) {
        new_line(writer);
    }
    pz_put(writer->output, bracket);
    writer->has_before = true;
}

void pz_json_open_flat(pz_json_writer *writer, const char *key, const char *bracket)
{
    pz_json_open(writer, key, bracket);
    writer->flat += 1;
}

void pz_json_close_flat(pz_json_writer *writer, const char *bracket)
{
    pz_json_close(writer, bracket);
    writer->flat -= 1;
}

void pz_json_put_text(pz_json_writer *writer, const char *key, const char *text)
{
    pz_json_begin(writer, key);
    put_string(writer->output, text);
}

void pz_json_put_number(pz_json_writer *writer, const char *key, double value)
{
    if (!is_finite(value)) {
        pz_json_put_null(writer, key);
        return;
    }
    pz_json_begin(writer, key);
    pz_put_number(writer->output, value);
}

void pz_json_put_integer(pz_json_writer *writer, const char *key, long long value)
{
    pz_json_begin(writer, key);
    pz_put_integer(writer->output, value);
}

void pz_json_put_numbers(pz_json_writer *writer, const char *key, const double *values, size_t count)
{
    pz_json_open_flat(writer, key, "[");
    for (size_t i = 0; i < count; ++i) {
        pz_json_put_number(writer, NULL, values[i]);
    }
    pz_json_close_flat(writer, "]");
}

void pz_json_put_null(pz_json_writer *writer, const char *key)
{
    pz_json_begin(writer, key);
    pz_put(writer->output, "null");
}
