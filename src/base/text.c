#include "base/text.h"

#include "base/error.h"

#include <string.h>

// ---- An index of names ---------------------------------------------------------------------------------------------------

size_t pz_names_capacity(size_t count)
{
    size_t capacity = 8;
    while (capacity < 2 * count) {
        capacity *= 2;
    }
    return capacity;
}

// FNV-1a (Fowler, Noll, Vo), 64 bit.
static uint64_t hash(const char *name)
{
    uint64_t h = 14695981039346656037u;
    for (const unsigned char *c = (const unsigned char *)name; *c; ++c) {
        h = (h ^ *c) * 1099511628211u;
    }
    return h;
}

int pz_names_find(const pz_names *names, const char *name, pz_name_at at, const void *owner)
{
    if (names->capacity == 0) {
        return -1;
    }
    size_t mask = names->capacity - 1;
    for (size_t slot = (size_t)hash(name) & mask; names->slots[slot] != 0; slot = (slot + 1) & mask) {
        int position = names->slots[slot] - 1;
        if (strcmp(at(owner, position), name) == 0) {
            return position;
        }
    }
    return -1;
}

void pz_names_add(pz_names *names, const char *name, int position)
{
    size_t mask = names->capacity - 1;
    size_t slot = (size_t)hash(name) & mask;
    while (names->slots[slot] != 0) {
        slot = (slot + 1) & mask;
    }
    names->slots[slot] = position + 1;
}

// ---- The decimal digits of a double --------------------------------------------------------------------------------------

static const uint32_t LIMB_BASE = 1000000000;

static void scale(pz_natural *n, uint32_t factor)
{
    uint64_t carry = 0;
    for (int i = 0; i < n->count; ++i) {
        uint64_t product = (uint64_t)n->limb[i] * factor + carry;
        n->limb[i] = (uint32_t)(product % LIMB_BASE);
        carry = product / LIMB_BASE;
    }
    if (carry != 0) {
        n->limb[n->count++] = (uint32_t)carry; // below the base, since factor <= base
    }
}

// n <- n base^power, by factors of base^stride that fit in a limb.
static void scale_power(pz_natural *n, uint32_t base, int power, int stride)
{
    uint32_t step = 1;
    for (int i = 0; i < stride; ++i) {
        step *= base;
    }
    for (; power >= stride; power -= stride) {
        scale(n, step);
    }
    for (; power > 0; --power) {
        scale(n, base);
    }
}

// Exact, because every double is a finite decimal: for e < 0
//
//   m 2^e = (m 5^-e) 10^e
//
// so the digits are those of the natural number m 2^e or m 5^-e.
int pz_natural_from_binary(uint64_t m, int e, pz_natural *n)
{
    n->limb[0] = (uint32_t)(m % LIMB_BASE);
    n->limb[1] = (uint32_t)(m / LIMB_BASE);
    n->count = 2;
    scale_power(n, e < 0 ? 5 : 2, e < 0 ? -e : e, e < 0 ? 12 : 29);
    return e < 0 ? e : 0;
}

int pz_natural_digit(const pz_natural *n, int i)
{
    uint32_t limb = n->limb[i / 9];
    for (int k = i % 9; k > 0; --k) {
        limb /= 10;
    }
    return (int)(limb % 10);
}

int pz_natural_length(const pz_natural *n)
{
    int length = 9 * n->count;
    while (length > 1 && pz_natural_digit(n, length - 1) == 0) {
        --length;
    }
    return length;
}

// ---- The text of an error (error.h) --------------------------------------------------------------------------------------

// Text under construction: `used` bytes and always room for the closing zero. What does not fit is dropped.
typedef struct text {
    char bytes[POISE_ERROR_TEXT_SIZE];
    size_t used;
    bool cut;
} text;

// One byte. The text is one line, so a control character (a name out of a file may hold one) becomes '?'.
static void put(text *out, char byte)
{
    if (out->used + 1 >= sizeof out->bytes) {
        out->cut = true;
        return;
    }
    unsigned char code = (unsigned char)byte;
    out->bytes[out->used++] = code < 0x20 || code == 0x7f ? '?' : byte;
}

static void put_string(text *out, const char *string)
{
    for (const char *s = string ? string : "(none)"; *s && !out->cut; ++s) {
        put(out, *s);
    }
}

static void put_unsigned(text *out, unsigned number)
{
    char digits[10]; // 2^32 - 1 has ten
    int count = 0;
    do {
        digits[count++] = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    while (count > 0) {
        put(out, digits[--count]);
    }
}

static void put_int(text *out, int number)
{
    if (number < 0) {
        put(out, '-');
    }
    put_unsigned(out, number < 0 ? 0u - (unsigned)number : (unsigned)number);
}

#define DIGITS 6 // significant digits of %g

// The decimal digits of x > 0, rounded to DIGITS (nearest, ties to even): x ~ d[0].d[1]d[2]... 10^exponent. Returns the
// exponent. Exact: all digits of x are computed.
static int decimal(double x, int digit[DIGITS])
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int field = (int)(bits >> 52);
    uint64_t m = (bits & 0xfffffffffffff) | (field > 0 ? (uint64_t)1 << 52 : 0);
    int e = (field > 0 ? field : 1) - 1075;

    pz_natural n;
    int last = pz_natural_from_binary(m, e, &n); // the power of ten of the last digit

    int length = pz_natural_length(&n);
    for (int i = 0; i < DIGITS; ++i) {
        digit[i] = i < length ? pz_natural_digit(&n, length - 1 - i) : 0;
    }
    int exponent = length - 1 + last;
    if (length <= DIGITS) {
        return exponent;
    }

    int next = pz_natural_digit(&n, length - 1 - DIGITS);
    bool rest = false;
    for (int i = length - 2 - DIGITS; i >= 0 && !rest; --i) {
        rest = pz_natural_digit(&n, i) != 0;
    }
    if (next < 5 || (next == 5 && !rest && digit[DIGITS - 1] % 2 == 0)) {
        return exponent;
    }
    for (int i = DIGITS - 1; i >= 0; --i) {
        if (++digit[i] < 10) {
            return exponent;
        }
        digit[i] = 0;
    }
    digit[0] = 1; // 9.99... became 10
    return exponent + 1;
}

// Digits from..to of a number, as characters.
static void put_digits(text *out, const int digit[DIGITS], int from, int to)
{
    for (int i = from; i < to; ++i) {
        put(out, (char)('0' + (i < DIGITS ? digit[i] : 0)));
    }
}

// x as C's %g writes it in the "C" locale, but for NaN, which has no sign here.
static void put_double(text *out, double x)
{
    if (x != x) {
        put_string(out, "nan");
        return;
    }
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    if (bits >> 63 != 0) {
        put(out, '-');
        x = -x;
    }
    if (x - x != 0.0) {
        put_string(out, "inf");
        return;
    }
    if (x == 0.0) {
        put(out, '0');
        return;
    }

    int digit[DIGITS];
    int exponent = decimal(x, digit);
    int last = DIGITS;
    while (digit[last - 1] == 0) {
        --last;
    }
    bool plain = exponent >= -4 && exponent < DIGITS;
    int whole = plain ? exponent + 1 : 1; // digits before the point
    if (whole > 0) {
        put_digits(out, digit, 0, whole);
    } else {
        put(out, '0');
    }
    if (last > whole) {
        put(out, '.');
        for (int i = whole; i < 0; ++i) {
            put(out, '0');
        }
        put_digits(out, digit, whole > 0 ? whole : 0, last);
    }
    if (!plain) {
        put(out, 'e');
        put(out, exponent < 0 ? '-' : '+');
        unsigned size = (unsigned)(exponent < 0 ? -exponent : exponent);
        put_string(out, size < 10 ? "0" : "");
        put_unsigned(out, size);
    }
}

// Where the text was cut, drop a UTF-8 character of which only the first bytes are left.
static void drop_partial_character(text *out)
{
    size_t start = out->used;
    while (start > 0 && out->used - start < 3 && ((unsigned char)out->bytes[start - 1] & 0xc0) == 0x80) {
        --start;
    }
    if (start == 0) {
        return;
    }
    unsigned char lead = (unsigned char)out->bytes[start - 1];
    size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
    if (out->used - (start - 1) < length) {
        out->used = start - 1;
    }
}

poise_status pz_error_set_list(poise_error *error, poise_status status, const char *format, va_list arguments)
{
    if (!error) {
        return status;
    }
    text out = {.used = 0}; // apart from *error, since an argument may be the text of an earlier error
    for (const char *f = format; *f; ++f) {
        if (*f != '%' || !f[1]) {
            put(&out, *f);
            continue;
        }
        switch (*++f) {
        case 's':
            put_string(&out, va_arg(arguments, const char *));
            break;
        case 'd':
            put_int(&out, va_arg(arguments, int));
            break;
        case 'u':
            put_unsigned(&out, va_arg(arguments, unsigned));
            break;
        case 'g':
            put_double(&out, va_arg(arguments, double));
            break;
        default:
            put(&out, *f); // %%
            break;
        }
    }
    if (out.cut) {
        drop_partial_character(&out);
    }

    error->status = status;
    error->line = 0;
    error->column = 0;
    memcpy(error->text, out.bytes, out.used);
    error->text[out.used] = '\0';
    return status;
}

#undef pz_error_set // which the path analyser sees as a macro
poise_status pz_error_set(poise_error *error, poise_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    pz_error_set_list(error, status, format, arguments);
    va_end(arguments);
    return status;
}
