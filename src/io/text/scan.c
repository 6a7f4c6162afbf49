// A cursor over a text.
#include "io/io_core.h"

#include "base/letters.h"

#include <string.h>

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
