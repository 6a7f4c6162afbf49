// Text as all readers have it: words and lines, cells of tables, numbers that read back, characters, units of length.
#ifndef PZ_IO_TEXT_H
#define PZ_IO_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// ---- Words and lines (text.c) --------------------------------------------------------------------------------------------

// A cursor over a text. Lines end with LF, CR LF or CR.
typedef struct pz_scan {
    const char *at, *end;
    int line; // of `at`, 1-based
} pz_scan;

// A piece of the text, not terminated.
typedef struct pz_word {
    const char *text;
    size_t length;
} pz_word;

pz_scan pz_scan_over(const void *bytes, size_t size);

// To the next character that is not white space; false at the end.
bool pz_scan_skip(pz_scan *scan);

// The next word: characters up to white space. False at the end. pz_scan_word_in_line stops at the end of the line, too.
bool pz_scan_word(pz_scan *scan, pz_word *word);
bool pz_scan_word_in_line(pz_scan *scan, pz_word *word);

// The rest of the line without its end; the cursor goes to the next line. False at the end of the text.
bool pz_scan_line(pz_scan *scan, pz_word *line);

// The next word as a number; false, with the cursor where it was, when there is none.
bool pz_scan_number(pz_scan *scan, double *value);

bool pz_word_is(pz_word word, const char *text);      // exactly
bool pz_word_is_like(pz_word word, const char *text); // in any case of A-Z
bool pz_word_number(pz_word word, double *value);     // all of it, finite
bool pz_word_degrees(pz_word word, double *radians);  // all of it, finite, times PZ_RADIANS_PER_DEGREE
bool pz_word_integer(pz_word word, int *value);       // all of it

// ---- Cells of a line: between tabs, where they may be empty, or words between blanks, where they may not -----------------

typedef struct pz_cells {
    const char *at, *end; // `at` beyond `end`: no cell is left
    char separator;       // ' ': blanks
} pz_cells;

static inline bool pz_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

// The cells of a line: between tabs if it has any.
static inline pz_cells pz_cells_of(pz_word line)
{
    bool has_tabs = line.length > 0 && memchr(line.text, '\t', line.length);
    return (pz_cells){line.text, line.text + line.length, has_tabs ? '\t' : ' '};
}

// Without the blanks around it.
static inline pz_word pz_word_trimmed(const char *at, const char *end)
{
    while (at < end && pz_is_blank(*at)) {
        ++at;
    }
    while (at < end && pz_is_blank(end[-1])) {
        --end;
    }
    return (pz_word){at, (size_t)(end - at)};
}

// The first line of a motion as a table with commas: "time,shoulder,elbow".
static inline bool pz_begins_table(pz_word line)
{
    const char *comma = line.length > 0 ? memchr(line.text, ',', line.length) : NULL;
    return comma && pz_word_is_like(pz_word_trimmed(line.text, comma), "time");
}

// The end of a MOT header as spreadsheets write it: "endheader,,,".
static inline bool pz_ends_header_with_commas(pz_word line)
{
    const size_t length = sizeof "endheader" - 1;
    return line.length > length && line.text[length] == ',' && pz_word_is_like((pz_word){line.text, length}, "endheader");
}

// The next cell, which may be empty between separators other than blanks. False when none is left.
static inline bool pz_cells_next(pz_cells *cells, pz_word *cell)
{
    if (cells->separator == ' ') {
        while (cells->at < cells->end && pz_is_blank(*cells->at)) {
            ++cells->at;
        }
        const char *first = cells->at;
        while (cells->at < cells->end && !pz_is_blank(*cells->at)) {
            ++cells->at;
        }
        *cell = (pz_word){first, (size_t)(cells->at - first)};
        return cell->length > 0;
    }
    if (cells->at > cells->end) {
        return false;
    }
    const char *stop = cells->at < cells->end ? memchr(cells->at, cells->separator, (size_t)(cells->end - cells->at)) : NULL;
    stop = stop ? stop : cells->end;
    *cell = pz_word_trimmed(cells->at, stop);
    cells->at = stop + 1;
    return true;
}

// A copy for a message, zero-terminated and cut to fit.
#define PZ_SAID_SIZE 48
static inline const char *pz_word_said(pz_word word, char text[PZ_SAID_SIZE])
{
    size_t length = word.length < PZ_SAID_SIZE - 1 ? word.length : PZ_SAID_SIZE - 1;
    memcpy(text, word.text, length);
    text[length] = '\0';
    return text;
}

// ---- Numbers (number.c) --------------------------------------------------------------------------------------------------

// Read the longest decimal number at [at, end): [+-] digits [. digits] [e [+-] digits], and nan, inf, infinity in any case.
// Correctly rounded. Returns the first character after it; `at` when there is none.
const char *pz_number_read(const char *at, const char *end, double *value);

#define PZ_NUMBER_SIZE 32

// The shortest decimal that reads back to the same bits, zero-terminated. Returns its length. Not finite: nan, inf, -inf.
int pz_number_write(double value, char text[PZ_NUMBER_SIZE]);

// Read a number and multiply it, for instance degrees into radians: `value` is the product of the double nearest to the
// number and `factor`, rounded; of a number of more than 17 digits, more than any double needs, the exact product, rounded.
const char *pz_number_read_scaled(const char *at, const char *end, double factor, double *value);

// The shortest decimal that pz_number_read_scaled makes `value` of, bit for bit, factor > 0: degrees for radians.
int pz_number_write_scaled(double value, double factor, char text[PZ_NUMBER_SIZE]);

#define PZ_RADIANS_PER_DEGREE 0.017453292519943295

// Might an angle of radians have been written in degrees? One of more than three turns, unless it stands for "no limit".
static inline bool pz_may_be_degrees(double radians)
{
    double a = radians < 0.0 ? -radians : radians;
    return a > 20.0 && a < 2000.0 && a != 100.0 && a != 1000.0;
}

// Products of 64-bit integers, to all their 128 bits: hi 2^64 + lo. What number.c computes with.
typedef struct u128 {
    uint64_t hi, lo;
} u128;

// By halves, for machines that have no such product.
static inline u128 u128_multiply_halves(uint64_t a, uint64_t b)
{
    uint64_t a0 = a & UINT32_MAX, a1 = a >> 32, b0 = b & UINT32_MAX, b1 = b >> 32;
    uint64_t low = a0 * b0;
    uint64_t middle = a1 * b0 + (low >> 32); // at most (2^32 - 1)^2 + 2^32 - 1 < 2^64
    uint64_t other = a0 * b1 + (middle & UINT32_MAX);
    return (u128){a1 * b1 + (middle >> 32) + (other >> 32), (other << 32) | (low & UINT32_MAX)};
}

static inline u128 u128_multiply(uint64_t a, uint64_t b)
{
#if defined(__SIZEOF_INT128__) && !defined(__wasm__)
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)a * b;
    return (u128){(uint64_t)(product >> 64), (uint64_t)product};
#else
    return u128_multiply_halves(a, b);
#endif
}

// ---- Characters as UTF-8 (text.c) ----------------------------------------------------------------------------------------

// Bytes of the character at [at, end), at < end; 0 when there is none: overlong forms, surrogates, what is beyond U+10FFFF
// and characters that are cut off (Unicode 15, table 3-7).
size_t pz_utf8_length(const char *at, const char *end);

// Write a character up to U+10FFFF; returns its bytes, at most 4.
size_t pz_utf8_put(char *to, uint32_t character);

// The first byte in [at, end) that does not belong to a character; `end` when all do.
const char *pz_utf8_check(const char *at, const char *end);

// ---- Units of length (text.c) --------------------------------------------------------------------------------------------

// Metres per unit of that name ("mm", "Inches", "mete"), in any case; 0: no such unit.
double pz_unit_metres(pz_word name);

// The short name of a unit of so many metres, or NULL.
const char *pz_unit_name(double metres);

#endif
