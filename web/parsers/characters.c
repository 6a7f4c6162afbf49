// Characters, encodings and the declaration of XML.
#include "characters.h"

#include <string.h>

bool xml_is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool xml_starts_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':' || (unsigned char)c >= 0x80;
}

bool xml_is_in_name(char c)
{
    return xml_starts_name(c) || (c >= '0' && c <= '9') || c == '-' || c == '.';
}

int xml_digit(char c, int base)
{
    int value = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;
    return value < base ? value : -1;
}

bool xml_is_allowed(uint32_t c)
{
    return c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c < 0xd800) || (c >= 0xe000 && c < 0xfffe) ||
           (c >= 0x10000 && c <= 0x10ffff);
}

// Bytes that a character has by its first one; 0: none begins so.
static size_t length_of(unsigned char first)
{
    return first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
}

size_t xml_character(const char *at, const char *end)
{
    const unsigned char *s = (const unsigned char *)at;
    size_t length = length_of(s[0]);
    if (length == 0 || (size_t)(end - at) < length) {
        return 0;
    }
    uint32_t c = length == 1 ? s[0] : s[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; ++i) {
        if ((s[i] & 0xc0) != 0x80) {
            return 0;
        }
        c = c << 6 | (s[i] & 0x3f);
    }
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    return c >= least[length] && xml_is_allowed(c) ? length : 0;
}

bool xml_is_cut(const char *at, const char *end)
{
    size_t length = length_of((unsigned char)*at);
    if (length <= (size_t)(end - at)) {
        return false;
    }
    for (const char *c = at + 1; c < end; ++c) {
        if (((unsigned char)*c & 0xc0) != 0x80) {
            return false;
        }
    }
    return true;
}

size_t xml_put(char *to, uint32_t c)
{
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    size_t length = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = length - 1; i > 0; --i, c >>= 6) {
        to[i] = (char)(0x80 | (c & 0x3f));
    }
    to[0] = (char)((0xf00 >> length & 0xff) | c);
    return length;
}

uint32_t xml_entity(const char *name, size_t length)
{
    static const struct {
        const char *name;
        char value;
    } known[] = {{"lt", '<'}, {"gt", '>'}, {"amp", '&'}, {"quot", '"'}, {"apos", '\''}};
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
        if (strlen(known[i].name) == length && memcmp(known[i].name, name, length) == 0) {
            return (uint32_t)known[i].value;
        }
    }
    return 0;
}

// ---- Encodings -----------------------------------------------------------------------------------------------------------

xml_encoding xml_detect(const char *at, const char *end)
{
    unsigned char first = end - at >= 2 ? (unsigned char)at[0] : 0, second = end - at >= 2 ? (unsigned char)at[1] : 0;
    if ((first == 0xff && second == 0xfe) || (first == '<' && second == 0)) {
        return XML_ENCODING_WIDE;
    }
    if ((first == 0xfe && second == 0xff) || (end - at >= 2 && first == 0 && second == '<')) {
        return XML_ENCODING_WIDE_SWAPPED;
    }
    xml_declaration declaration = {.encoding = XML_ENCODING_NONE};
    bool is_declared = end - at >= 6 && memcmp(at, "<?xml", 5) == 0 && xml_is_space(at[5]);
    if (is_declared && xml_read_declaration(at, end, &declaration) && declaration.encoding == XML_ENCODING_LATIN) {
        return XML_ENCODING_LATIN;
    }
    return XML_ENCODING_UTF8;
}

static size_t convert_wide(bool swapped, const unsigned char *from, size_t size, char *to)
{
    char *at = to;
    uint32_t high = 0; // first half of a pair
    for (size_t i = 0; i + 1 < size; i += 2) {
        uint32_t unit = swapped ? (uint32_t)(from[i] << 8 | from[i + 1]) : (uint32_t)(from[i + 1] << 8 | from[i]);
        if (i == 0 && unit == 0xfeff) {
            continue;
        }
        bool is_low = unit >= 0xdc00 && unit < 0xe000;
        if ((high != 0) != is_low) { // a half alone
            *at++ = (char)0xff;
            high = 0;
        }
        if (unit >= 0xd800 && unit < 0xdc00) {
            high = unit;
        } else if (!is_low) {
            at += xml_put(at, unit);
        } else if (high != 0) {
            at += xml_put(at, 0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00));
            high = 0;
        }
    }
    if (high != 0 || size % 2 != 0) {
        *at++ = (char)0xff;
    }
    return (size_t)(at - to);
}

size_t xml_convert(xml_encoding encoding, const char *from, size_t size, char *to)
{
    const unsigned char *bytes = (const unsigned char *)from;
    if (encoding != XML_ENCODING_LATIN) {
        return convert_wide(encoding == XML_ENCODING_WIDE_SWAPPED, bytes, size, to);
    }
    char *at = to;
    for (size_t i = 0; i < size; ++i) {
        at += xml_put(at, bytes[i]);
    }
    return (size_t)(at - to);
}

// ---- The declaration -----------------------------------------------------------------------------------------------------

typedef struct attribute {
    const char *name, *value;
    size_t name_length, value_length;
} attribute;

static const char *skip_space(const char *at, const char *end)
{
    while (at < end && xml_is_space(*at)) {
        ++at;
    }
    return at;
}

// name="value" with white space in front. Returns the place behind it, NULL with *wrong set when it is not that.
static const char *read_attribute(const char *at, const char *end, attribute *a, const char **wrong)
{
    const char *from = at;
    at = skip_space(at, end);
    *wrong = at;
    a->name = at;
    while (at < end && *at >= 'a' && *at <= 'z') {
        ++at;
    }
    a->name_length = (size_t)(at - a->name);
    at = skip_space(at, end);
    if (a->name == from || a->name_length == 0 || at >= end || *at != '=') {
        *wrong = at;
        return NULL;
    }
    at = skip_space(at + 1, end);
    *wrong = at;
    if (at >= end || (*at != '"' && *at != '\'')) {
        return NULL;
    }
    char quote = *at++;
    a->value = at;
    while (at < end && (xml_is_in_name(*at) && (unsigned char)*at < 0x80)) {
        ++at;
    }
    a->value_length = (size_t)(at - a->value);
    *wrong = at;
    return at < end && *at == quote ? at + 1 : NULL;
}

static bool is_text(const char *text, size_t length, const char *other)
{
    if (strlen(other) != length) {
        return false;
    }
    for (size_t i = 0; i < length; ++i) {
        char c = text[i] >= 'a' && text[i] <= 'z' ? (char)(text[i] - 'a' + 'A') : text[i];
        if (c != other[i]) {
            return false;
        }
    }
    return true;
}

static xml_encoding encoding_named(const attribute *a)
{
    static const struct {
        const char *name;
        xml_encoding encoding;
    } known[] = {{"UTF-8", XML_ENCODING_UTF8},  {"US-ASCII", XML_ENCODING_LATIN}, {"ISO-8859-1", XML_ENCODING_LATIN},
                 {"UTF-16", XML_ENCODING_WIDE}, {"UTF-16LE", XML_ENCODING_WIDE},  {"UTF-16BE", XML_ENCODING_WIDE}};
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
        if (is_text(a->value, a->value_length, known[i].name)) {
            return known[i].encoding;
        }
    }
    return XML_ENCODING_UNKNOWN;
}

const char *xml_read_declaration(const char *at, const char *end, xml_declaration *d)
{
    static const char *const names[] = {"VERSION", "ENCODING", "STANDALONE"};
    *d = (xml_declaration){.encoding = XML_ENCODING_NONE};
    const char *encoding_at = NULL;
    at += 5;
    for (int next = 0;;) {
        const char *after = skip_space(at, end);
        if (after + 1 < end && after[0] == '?' && after[1] == '>') {
            d->wrong = next == 0 ? after : encoding_at;
            return next == 0 ? NULL : after + 2;
        }
        attribute a;
        at = read_attribute(at, end, &a, &d->wrong);
        if (!at) {
            return NULL;
        }
        while (next < 3 && !is_text(a.name, a.name_length, names[next])) {
            next = next == 0 ? 3 : next + 1; // the version must be there
        }
        if (next >= 3) {
            d->wrong = a.name;
            return NULL;
        }
        if (next == 1) {
            d->encoding = encoding_named(&a);
            encoding_at = a.value;
        }
        next += 1;
    }
}
