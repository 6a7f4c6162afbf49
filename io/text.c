// Text as all readers have it: a cursor over words and lines, characters as UTF-8, units of length.
#include "io/text.h"

#include "base/text.h"

#include <string.h>

// ---- Words and lines -----------------------------------------------------------------------------------------------------

pz_scan pz_scan_over(const void *bytes, size_t size)
{
    const char *text = bytes;
    bool has_mark = size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0; // UTF-8 byte order mark
    return (pz_scan){.at = text + (has_mark ? 3 : 0), .end = text + size, .line = 1};
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\v' || c == '\f';
}

static bool is_line_end(char c)
{
    return c == '\n' || c == '\r';
}

static void skip_blanks(pz_scan *scan)
{
    while (scan->at < scan->end && is_blank(*scan->at)) {
        ++scan->at;
    }
}

// Past LF, CR LF or CR.
static void skip_line_end(pz_scan *scan)
{
    bool is_pair = *scan->at == '\r' && scan->at + 1 < scan->end && scan->at[1] == '\n';
    scan->at += is_pair ? 2 : 1;
    scan->line += 1;
}

bool pz_scan_word_in_line(pz_scan *scan, pz_word *word)
{
    skip_blanks(scan);
    const char *first = scan->at;
    while (scan->at < scan->end && !is_blank(*scan->at) && !is_line_end(*scan->at)) {
        ++scan->at;
    }
    *word = (pz_word){first, (size_t)(scan->at - first)};
    return word->length > 0;
}

bool pz_scan_skip(pz_scan *scan)
{
    skip_blanks(scan);
    while (scan->at < scan->end && is_line_end(*scan->at)) {
        skip_line_end(scan);
        skip_blanks(scan);
    }
    return scan->at < scan->end;
}

bool pz_scan_word(pz_scan *scan, pz_word *word)
{
    pz_scan_skip(scan);
    return pz_scan_word_in_line(scan, word);
}

bool pz_scan_line(pz_scan *scan, pz_word *line)
{
    if (scan->at >= scan->end) {
        return false;
    }
    const char *first = scan->at;
    while (scan->at < scan->end && !is_line_end(*scan->at)) {
        ++scan->at;
    }
    *line = (pz_word){first, (size_t)(scan->at - first)};
    if (scan->at < scan->end) {
        skip_line_end(scan);
    }
    return true;
}

bool pz_scan_number(pz_scan *scan, double *value)
{
    pz_scan start = *scan;
    pz_word word;
    if (pz_scan_word(scan, &word) && pz_word_number(word, value)) {
        return true;
    }
    *scan = start;
    return false;
}

bool pz_word_is(pz_word word, const char *text)
{
    return strlen(text) == word.length && memcmp(word.text, text, word.length) == 0;
}

bool pz_word_is_like(pz_word word, const char *text)
{
    size_t length = strlen(text);
    for (size_t i = 0; i < length && i < word.length; ++i) {
        if (to_lower(word.text[i]) != to_lower(text[i])) {
            return false;
        }
    }
    return length == word.length;
}

bool pz_word_number(pz_word word, double *value)
{
    const char *end = word.text + word.length;
    double read;
    if (word.length == 0 || pz_number_read(word.text, end, &read) != end || read - read != 0.0) {
        return false;
    }
    *value = read;
    return true;
}

bool pz_word_degrees(pz_word word, double *radians)
{
    const char *end = word.text + word.length;
    double read;
    if (word.length == 0 || pz_number_read_scaled(word.text, end, PZ_RADIANS_PER_DEGREE, &read) != end ||
        read - read != 0.0) {
        return false;
    }
    *radians = read;
    return true;
}

bool pz_word_integer(pz_word word, int *value)
{
    bool is_negative = word.length > 0 && word.text[0] == '-';
    size_t i = word.length > 0 && (is_negative || word.text[0] == '+') ? 1 : 0;
    if (i >= word.length) {
        return false;
    }
    long long sum = 0;
    for (; i < word.length; ++i) {
        int digit = word.text[i] - '0';
        if (digit < 0 || digit > 9 || sum > 1000000000) {
            return false;
        }
        sum = 10 * sum + digit;
    }
    sum = is_negative ? -sum : sum;
    if (sum > INT32_MAX || sum < INT32_MIN) {
        return false;
    }
    *value = (int)sum;
    return true;
}

// ---- Characters as UTF-8 -------------------------------------------------------------------------------------------------

size_t pz_utf8_length(const char *at, const char *end)
{
    const unsigned char *s = (const unsigned char *)at;
    unsigned char c = s[0];
    if (c < 0x80) {
        return 1;
    }
    size_t length = c < 0xC2 ? 0 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : c < 0xF5 ? 4 : 0;
    if (length == 0 || (size_t)(end - at) < length) {
        return 0;
    }
    unsigned char least = c == 0xE0 ? 0xA0 : c == 0xF0 ? 0x90 : 0x80;
    unsigned char most = c == 0xED ? 0x9F : c == 0xF4 ? 0x8F : 0xBF;
    if (s[1] < least || s[1] > most) {
        return 0;
    }
    for (size_t i = 2; i < length; ++i) {
        if ((s[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    return length;
}

size_t pz_utf8_put(char *to, uint32_t c)
{
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    size_t length = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = length - 1; i > 0; --i, c >>= 6) {
        to[i] = (char)(0x80 | (c & 0x3F));
    }
    to[0] = (char)((0xF00 >> length & 0xFF) | c);
    return length;
}

const char *pz_utf8_check(const char *at, const char *end)
{
    while (at < end) {
        uint64_t eight;
        if (end - at >= 8 && (memcpy(&eight, at, 8), (eight & 0x8080808080808080u) == 0)) {
            at += 8;
            continue;
        }
        size_t length = pz_utf8_length(at, end);
        if (length == 0) {
            return at;
        }
        at += length;
    }
    return end;
}

// ---- Units of length -----------------------------------------------------------------------------------------------------

typedef struct unit {
    const char *name; // the short one
    const char *stem; // what the long name begins with, in every spelling; files cut it after as few as four letters
    double metres;
} unit;

static const unit units[] = {
    {"mm", "mil", 0.001}, {"m", "met", 1.0},    {"cm", "cen", 0.01},     {"in", "inc", 0.0254}, {"ft", "fe", 0.3048},
    {"dm", "dec", 0.1},   {"km", "kil", 1000.}, {"um", "mic", 0.000001}, {"ft", "foo", 0.3048}, {"yd", "yar", 0.9144},
};

#define UNIT_COUNT (sizeof units / sizeof units[0])

double pz_unit_metres(pz_word name)
{
    for (size_t i = 0; i < UNIT_COUNT; ++i) {
        pz_word start = {name.text, 0};
        while (start.length < name.length && units[i].stem[start.length] != '\0') {
            ++start.length;
        }
        if (pz_word_is_like(name, units[i].name) || pz_word_is_like(start, units[i].stem)) {
            return units[i].metres;
        }
    }
    return 0.0;
}

const char *pz_unit_name(double metres)
{
    for (size_t i = 0; i < UNIT_COUNT; ++i) {
        if (units[i].metres == metres) {
            return units[i].name;
        }
    }
    return NULL;
}
