// Writing JSON: brackets, commas and indentation; numbers as the shortest decimal that reads back to the same bits.
#include "io/json/json_document.h"

#include "math/scalar.h"

static void new_line(pz_json_writer *writer)
{
    pz_put(writer->output, "\n");
    for (int i = 0; i < writer->depth; ++i) {
        pz_put(writer->output, "  ");
    }
}

// What goes between values.
static void before_value(pz_json_writer *writer)
{
    if (writer->after_key) {
        writer->after_key = false;
    } else if (writer->depth > 0) {
        pz_put(writer->output, !writer->has_before ? "" : writer->flat > 0 ? ", " : ",");
        if (writer->flat == 0) {
            new_line(writer);
        }
    }
    writer->has_before = true;
}

void pz_json_open(pz_json_writer *writer, const char *bracket)
{
    before_value(writer);
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

void pz_json_open_flat(pz_json_writer *writer, const char *bracket)
{
    pz_json_open(writer, bracket);
    writer->flat += 1;
}

void pz_json_close_flat(pz_json_writer *writer, const char *bracket)
{
    pz_json_close(writer, bracket);
    writer->flat -= 1;
}

// Length of the UTF-8 character at `text`, 0 when it is none (overlong forms, surrogates and what is beyond U+10FFFF count
// as none; Unicode 15, table 3-7).
static size_t character_at(const unsigned char *text)
{
    unsigned char c = text[0];
    if (c < 0x80) {
        return 1;
    }
    if (c < 0xC2 || c > 0xF4) {
        return 0;
    }
    size_t length = c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
    unsigned char least = c == 0xE0 ? 0xA0 : c == 0xF0 ? 0x90 : 0x80;
    unsigned char most = c == 0xED ? 0x9F : c == 0xF4 ? 0x8F : 0xBF;
    if (text[1] < least || text[1] > most) {
        return 0;
    }
    for (size_t i = 2; i < length; ++i) {
        if (text[i] < 0x80 || text[i] > 0xBF) {
            return 0;
        }
    }
    return length;
}

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
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        size_t length = character_at(at);
        is_foreign = is_foreign || length == 0;
        if (*at == '"' || *at == '\\') {
            pz_put(output, "\\");
        }
        if (length == 0 || *at < 0x20 || *at == 0x7F) {
            put_escaped(output, *at);
        } else {
            pz_put_bytes(output, at, length);
        }
        at += length > 0 ? length : 1;
    }
    pz_put(output, "\"");
    if (is_foreign) {
        pz_output_warn(output, "\"%s\" is not UTF-8; taken as Latin-1", text);
    }
}

void pz_json_key(pz_json_writer *writer, const char *key)
{
    before_value(writer);
    put_string(writer->output, key);
    pz_put(writer->output, ": ");
    writer->after_key = true;
}

void pz_json_put_text(pz_json_writer *writer, const char *text)
{
    before_value(writer);
    put_string(writer->output, text);
}

void pz_json_put_number(pz_json_writer *writer, double value)
{
    if (!is_finite(value)) {
        pz_json_put_null(writer);
        return;
    }
    before_value(writer);
    pz_put_number(writer->output, value);
}

void pz_json_put_integer(pz_json_writer *writer, long long value)
{
    before_value(writer);
    pz_put_integer(writer->output, value);
}

void pz_json_put_numbers(pz_json_writer *writer, const double *values, size_t count)
{
    pz_json_open_flat(writer, "[");
    for (size_t i = 0; i < count; ++i) {
        pz_json_put_number(writer, values[i]);
    }
    pz_json_close_flat(writer, "]");
}

void pz_json_put_null(pz_json_writer *writer)
{
    before_value(writer);
    pz_put(writer->output, "null");
}
