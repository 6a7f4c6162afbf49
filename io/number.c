// Numbers from decimals, correctly rounded, and to the shortest decimals that read back.
//
// Both ways go through the product of an integer and a power of ten, to 128 bits.
#include "io/text.h"

#include "base/text.h"

#include <string.h>

// ---- Powers of ten: made by tools/tables/make_power_table.py -------------------------------------------------------------

#define PZ_POWER_FIRST (-342)
#define PZ_POWER_LAST  350
#define PZ_POWER_STEP  28
#define PZ_POWER_BASES 13 // below 10^0

// 5^r, shifted up until its top bit is set
static const uint64_t small_fives[PZ_POWER_STEP] = {
    0x8000000000000000, 0xa000000000000000, 0xc800000000000000, 0xfa00000000000000, 0x9c40000000000000, 0xc350000000000000,
    0xf424000000000000, 0x9896800000000000, 0xbebc200000000000, 0xee6b280000000000, 0x9502f90000000000, 0xba43b74000000000,
    0xe8d4a51000000000, 0x9184e72a00000000, 0xb5e620f480000000, 0xe35fa931a0000000, 0x8e1bc9bf04000000, 0xb1a2bc2ec5000000,
    0xde0b6b3a76400000, 0x8ac7230489e80000, 0xad78ebc5ac620000, 0xd8d726b7177a8000, 0x878678326eac9000, 0xa968163f0a57b400,
    0xd3c21bcecceda100, 0x84595161401484a0, 0xa56fa5b99019a5c8, 0xcecb8f27f4200f3a};

// Row k + PZ_POWER_BASES: the leading 192 bits of 10^(k PZ_POWER_STEP), cut off. With them the leading 128 bits of all
// powers come out right, which the program that writes this checks.
static const uint64_t base_powers[][3] = {
    {0xe1afa13afbd14d6d, 0x82189c09a3a1ec21, 0x7a43516213c7e04c},
    {0xe3e27a444d8d98b7, 0xfd1b1b2308169b25, 0x363b1f2c568dc3e2},
    {0xe61acf033d1a45df, 0x6fb92487298e33bd, 0xadd7728c20b99bd1},
    {0xe858ad248f5c22c9, 0xd1b3400f8f9cff68, 0xf910f9f648232f14},
    {0xea9c227723ee8bcb, 0x465e15a979c1cadc, 0x0a0ce827eac11f2d},
    {0xece53cec4a314ebd, 0xa4f8bf5635246428, 0x4609ac5c7899ca36},
    {0xef340a98172aace4, 0x86fb897116c87c34, 0x9c39c1da4c49278d},
    {0xf18899b1bc3f8ca1, 0xdc44e6c3cb279ac1, 0xf80f36174730ca34},
    {0xf3e2f893dec3f126, 0x5a89dba3c3efccfa, 0xd8ecb58659be9c90},
    {0xf64335bcf065d37d, 0x4d4617b5ff4a16d5, 0xaa09501d5954a559},
    {0xf8a95fcf88747d94, 0x75a44c6397ce912a, 0x33cca6c06b07b74d},
    {0xfb158592be068d2e, 0xeed6e2f0f0d56712, 0xac2e4f162cfad40a},
    {0xfd87b5f28300ca0d, 0x8bca9d6e188853fc, 0x76dcb60081ce0fa5},
    {0x8000000000000000, 0x0000000000000000, 0x0000000000000000},
    {0x813f3978f8940984, 0x4000000000000000, 0x0000000000000000},
    {0x82818f1281ed449f, 0xbff8f10e7a8921a4, 0x2000000000000000},
    {0x83c7088e1aab65db, 0x792667c6da79e0fa, 0x0861d3ee22d1cc53},
    {0x850fadc09923329e, 0x03e2cf6bc604ddb0, 0x74a7ef0198791097},
    {0x865b86925b9bc5c2, 0x0b8a2392ba45a9b2, 0x5c6658d409fb8bf7},
    {0x87aa9aff79042286, 0x90fb44d2f05d0842, 0xfb118fc9c217a1d2},
    {0x88fcf317f22241e2, 0x441fece3bdf81f03, 0x12f274928400100d},
    {0x8a5296ffe33cc92f, 0x82bd6b70d99aaa6f, 0xbc10c5c5cda97c8d},
    {0x8bab8eefb6409c1a, 0x1ad089b6c2f7548e, 0x25c7b885ba466e37},
    {0x8d07e33455637eb2, 0xdb0b487b6423e1e8, 0x7ec63730f500b406},
    {0x8e679c2f5e44ff8f, 0x570f09eaa7ea7648, 0x5961db50c6d2b886},
    {0x8fcac257558ee4e6, 0x213a4f0aa5e8a7b1, 0x949063d8a46f0c0e},
};

// ---- Parts of both ways --------------------------------------------------------------------------------------------------

// The leading zero bits of x > 0.
static inline int leading_zeros(uint64_t x)
{
#if defined(__GNUC__)
    return __builtin_clzll(x);
#else
    int count = 0;
    for (; x >> 63 == 0; x <<= 1) {
        ++count;
    }
    return count;
#endif
}

// floor(log2(10^q)) for |q| <= 400: log2 10 = 3.321928..., 217706 / 65536 = 3.321930 and the product's error stays below the
// distance of q log2 10 to the next integer. The sum keeps the shifted number positive.
static inline int floor_log2_power10(int q)
{
    return ((q * 217706 + (4096 << 16)) >> 16) - 4096;
}

static inline uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline double double_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// A finite value > 0 as m 2^e with an integer m < 2^53, from its bits.
static inline uint64_t split_double(uint64_t bits, int *e)
{
    int field = (int)(bits >> 52) & 0x7ff;
    *e = (field > 0 ? field : 1) - 1075;
    return (bits & 0xfffffffffffff) | (field > 0 ? (uint64_t)1 << 52 : 0);
}

#define PRODUCT_SLACK 4

// The leading 128 bits of 10^q, cut off; exact for 0 <= q <= 55. PZ_POWER_FIRST <= q <= PZ_POWER_LAST.
//
// 10^q = 10^b 10^r with b a multiple of PZ_POWER_STEP and 0 <= r < PZ_POWER_STEP: 192 bits of 10^b times 5^r.
static u128 power10(int q)
{
    int row = (q + PZ_POWER_BASES * PZ_POWER_STEP) / PZ_POWER_STEP;
    int r = q + PZ_POWER_BASES * PZ_POWER_STEP - row * PZ_POWER_STEP;
    uint64_t five = small_fives[r];
    if (row == PZ_POWER_BASES) {
        return (u128){five, 0};
    }
    const uint64_t *base = base_powers[row];
    u128 high = u128_multiply(base[0], five), middle = u128_multiply(base[1], five), low = u128_multiply(base[2], five);
    uint64_t third = middle.lo + low.hi;
    uint64_t carry = third < low.hi ? 1 : 0; // middle.hi + 1 has room: it is below 2^64 - 1
    uint64_t second = high.lo + middle.hi + carry;
    uint64_t first = high.hi + (second < high.lo ? 1 : 0);
    return first >> 63 ? (u128){first, second} : (u128){first << 1 | second >> 63, second << 1 | third >> 63};
}

// The leading 128 bits of w 10^q, w > 0: fills `product` (top bit set) and returns e with
//
//   product 2^e <= w 10^q < (product + PRODUCT_SLACK) 2^e
//
// With w shifted up by s until its top bit is set, p = floor(log2 10^q) and T the leading 128 bits of 10^q,
//
//   w 10^q = (w 2^s) T 2^(p - 127 - s)
//
// T is cut off by less than 1, so the product of 192 bits is too small by less than 2^64: by less than 1 once its lowest 64
// bits are cut off, which takes away less than 1 again. A shift by one bit to set the top bit doubles that: below 4.
static int product10(uint64_t w, int q, u128 *product)
{
    int s = leading_zeros(w);
    u128 power = power10(q);
    u128 high = u128_multiply(w << s, power.hi);
    u128 low = u128_multiply(w << s, power.lo);
    uint64_t lo = high.lo + low.hi;
    uint64_t hi = high.hi + (lo < low.hi ? 1 : 0);
    int e = floor_log2_power10(q) - 127 - s + 64;
    if (hi >> 63 == 0) {
        hi = hi << 1 | lo >> 63;
        lo = lo << 1 | low.lo >> 63;
        e -= 1;
    }
    *product = (u128){hi, lo};
    return e;
}

// ---- From decimals to doubles --------------------------------------------------------------------------------------------
//
// The first 19 digits make an integer w, so that the number is w 10^q or, with more digits, between w 10^q and (w + 1) 10^q.
// Three ways to the nearest double, the next one where the one before cannot tell:
//   - w and the power of ten are doubles: one rounded operation (Clinger 1990);
//   - w times the leading 128 bits of the power of ten: 75 bits below the last bit of the result say which way to round,
//     unless the number is very near to halfway between two doubles (after Lemire 2021);
//   - all decimal digits of that halfway point, compared with the text.

// The value lies in [2^E, 2^(E+1)), E = e + 127. Of its 128 bits, `keep` are the double's: 53, fewer below 2^-1022. The
// other n = 128 - keep >= 75 are compared with one half of the last bit, 2^(n-1). Adding 1 to the bits of a double gives
// the next one, from one power of two to the next and up to infinity.
static uint64_t round_product(u128 product, int e, uint64_t slack, bool *is_certain)
{
    *is_certain = true;
    int E = e + 127;
    if (E > 1023) {
        return (uint64_t)0x7ff << 52;
    }
    int keep = E >= -1022 ? 53 : 53 + 1022 + E;
    if (keep < 0) {
        *is_certain = keep < -1 || product.hi != UINT64_MAX; // nearly 2^-1075
        return 0;
    }
    int cut = 64 - keep; // bits of the high half below the result's last, 11 .. 64
    uint64_t m = keep == 0 ? 0 : product.hi >> cut;
    uint64_t rest = keep == 0 ? product.hi : product.hi & (((uint64_t)1 << cut) - 1);
    uint64_t half = (uint64_t)1 << (cut - 1);
    uint64_t bits = E >= -1022 ? ((uint64_t)(E + 1022) << 52) + m : m; // the 53rd bit of m adds one to the exponent
    if (rest > half || (rest == half && product.lo > 0)) {
        return bits + 1;
    }
    *is_certain = rest < half && (rest < half - 1 || product.lo <= UINT64_MAX - slack);
    return bits;
}

// ---- The text ------------------------------------------------------------------------------------------------------------

// A decimal number as it stands in a text.
typedef struct decimal {
    uint64_t w;        // its first 19 significant digits
    int64_t q;         // number = w.(rest) 10^q
    int64_t digits;    // significant ones, from the first that is not 0
    const char *first; // the first of them; NULL: the number is 0
    const char *after; // end of the digits
    bool is_negative;
} decimal;

// The sum of digits at `at` onto *w, modulo 2^64.
static const char *parse_digits(const char *at, const char *end, uint64_t *w)
{
    uint64_t sum = *w;
    for (; at < end && is_digit(*at); ++at) {
        sum = 10 * sum + (uint64_t)(*at - '0');
    }
    *w = sum;
    return at;
}

#define EXPONENT_MOST 1000000000000 // far beyond any text's number of digits, far below overflow

// [e [+-] digits] at `at`; without digits there is no exponent.
static const char *parse_exponent(const char *at, const char *end, int64_t *exponent)
{
    if (at >= end || (*at != 'e' && *at != 'E')) {
        return at;
    }
    const char *next = at + 1;
    bool is_negative = next < end && *next == '-';
    next += next < end && (*next == '-' || *next == '+') ? 1 : 0;
    if (next >= end || !is_digit(*next)) {
        return at;
    }
    int64_t sum = 0;
    for (; next < end && is_digit(*next); ++next) {
        sum = sum < EXPONENT_MOST ? 10 * sum + (*next - '0') : sum;
    }
    *exponent = is_negative ? -sum : sum;
    return next;
}

// More than 19 digits: w from the first 19, once more.
static void cut_digits(decimal *number)
{
    number->w = 0;
    const char *at = number->first;
    for (int taken = 0; taken < 19; ++at) {
        if (*at != '.') {
            number->w = 10 * number->w + (uint64_t)(*at - '0');
            ++taken;
        }
    }
    number->q += number->digits - 19;
}

// [digits] [. digits] [exponent] at `at`; returns `at` when there is no digit.
static const char *parse_decimal(const char *at, const char *end, decimal *number)
{
    number->w = 0;
    const char *point = parse_digits(at, end, &number->w);
    const char *after = point;
    int64_t count = point - at;
    number->q = 0;
    if (point < end && *point == '.') {
        after = parse_digits(point + 1, end, &number->w);
        number->q = -(after - point - 1);
        count -= number->q;
    }
    if (count == 0) {
        return at;
    }
    const char *first = at;
    while (first < after && (*first == '0' || *first == '.')) {
        count -= *first == '0' ? 1 : 0;
        ++first;
    }
    number->first = count > 0 ? first : NULL;
    number->after = after;
    number->digits = count;
    if (count > 19) {
        cut_digits(number);
    }
    int64_t exponent = 0;
    const char *next = parse_exponent(after, end, &exponent);
    number->q += exponent;
    return next;
}

// ---- Rounding ------------------------------------------------------------------------------------------------------------

// -1, 0 or 1: the number compared with the point halfway between the double `bits` and the next.
static int compare_with_halfway(const decimal *number, uint64_t bits)
{
    int e;
    uint64_t m = split_double(bits, &e);
    pz_natural half;
    int last = pz_natural_from_binary(2 * m + 1, e - 1, &half);
    int length = pz_natural_length(&half);

    // powers of ten of the first digits
    int64_t shown = number->digits < 19 ? number->digits : 19;
    int64_t mine = number->q + shown - 1;
    if (mine != length - 1 + last) {
        return mine < length - 1 + last ? -1 : 1;
    }
    int i = length;
    for (const char *at = number->first; at < number->after; ++at) {
        if (*at == '.') {
            continue;
        }
        int digit = i > 0 ? pz_natural_digit(&half, --i) : 0;
        if (*at - '0' != digit) {
            return *at - '0' < digit ? -1 : 1;
        }
    }
    while (i > 0) {
        if (pz_natural_digit(&half, --i) != 0) {
            return -1;
        }
    }
    return 0;
}

static uint64_t nearest(const decimal *number)
{
    if (number->q < PZ_POWER_FIRST) {
        return 0; // w < 10^19, so the number is below 10^-324
    }
    if (number->q > 308) {
        return (uint64_t)0x7ff << 52;
    }
    u128 product;
    int e = product10(number->w, (int)number->q, &product);
    bool is_certain;
    uint64_t bits = round_product(product, e, PRODUCT_SLACK, &is_certain);
    if (is_certain && number->digits > 19) {
        e = product10(number->w + 1, (int)number->q, &product);
        is_certain = round_product(product, e, PRODUCT_SLACK, &is_certain) == bits && is_certain;
    }
    // 19 digits are finer than half the distance of two doubles: the answer is this one or the next
    if (!is_certain && bits < (uint64_t)0x7ff << 52) {
        int order = compare_with_halfway(number, bits);
        bits += order > 0 || (order == 0 && (bits & 1) != 0) ? 1 : 0;
    }
    return bits;
}

// Clinger: 10^0 .. 10^22 are doubles, and so are integers up to 2^53.
static const double small_power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                     1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static double value_of(const decimal *number)
{
    if (!number->first) {
        return 0.0;
    }
    if (number->digits <= 19 && number->w <= (uint64_t)1 << 53 && number->q >= -22 && number->q <= 22) {
        double w = (double)number->w;
        return number->q < 0 ? w / small_power[-number->q] : w * small_power[number->q];
    }
    return double_of(nearest(number));
}

// ---- Names of what is not finite -----------------------------------------------------------------------------------------

// Past `word` (lower case) in any case; NULL when something else is there.
static const char *parse_word(const char *at, const char *end, const char *word)
{
    for (; *word; ++word, ++at) {
        if (at >= end || (*at | 0x20) != *word) {
            return NULL;
        }
    }
    return at;
}

static const char *parse_special(const char *at, const char *end, double *value)
{
    const char *next = parse_word(at, end, "nan");
    if (next) {
        *value = double_of((uint64_t)0x7ff8 << 48);
        return next;
    }
    next = parse_word(at, end, "infinity");
    next = next ? next : parse_word(at, end, "inf");
    if (next) {
        *value = double_of((uint64_t)0x7ff << 52);
        return next;
    }
    return at;
}

static inline const char *read_number(const char *at, const char *end, double *value, decimal *number)
{
    const char *start = at;
    number->is_negative = at < end && *at == '-';
    at += at < end && (*at == '-' || *at == '+') ? 1 : 0;
    double magnitude;
    number->digits = 0;
    const char *next = parse_decimal(at, end, number);
    if (next != at) {
        magnitude = value_of(number);
    } else {
        number->digits = 0;
        next = parse_special(at, end, &magnitude);
        if (next == at) {
            return start;
        }
    }
    *value = number->is_negative ? -magnitude : magnitude;
    return next;
}

const char *pz_number_read(const char *at, const char *end, double *value)
{
    decimal number;
    return read_number(at, end, value, &number);
}

// With up to 17 digits, which say all that a double can hold, the product of two doubles, rounded. With more, the number is
// taken as its first 19 digits say, to 63 bits, and the product is rounded once.
const char *pz_number_read_scaled(const char *at, const char *end, double factor, double *value)
{
    decimal number;
    double read;
    const char *next = read_number(at, end, &read, &number);
    if (next == at) {
        return at;
    }
    *value = read * factor;
    if (number.digits <= 17 || number.q < PZ_POWER_FIRST || number.q > PZ_POWER_LAST) {
        return next;
    }
    u128 product;
    int e = product10(number.w, (int)number.q, &product);
    int factor_e;
    uint64_t m = split_double(bits_of(factor), &factor_e);
    int s = leading_zeros(m);
    product = u128_multiply(product.hi, m << s);
    e += 64 + factor_e - s;
    if (product.hi >> 63 == 0) {
        product = (u128){product.hi << 1 | product.lo >> 63, product.lo << 1};
        e -= 1;
    }
    bool is_certain;
    double magnitude = double_of(round_product(product, e, 0, &is_certain));
    *value = number.is_negative ? -magnitude : magnitude;
    return next;
}

// ---- From doubles to decimals: the shortest that reads back --------------------------------------------------------------

// digits 10^exponent
typedef struct shortest {
    uint64_t digits;
    int exponent;
} shortest;

// g c / 2^128, cut off, with its lowest bit set if anything but a little was cut: "rounded to odd". g is the leading 128
// bits of a power of ten, rounded up; the tolerance of 1 in the middle word is its error.
static uint64_t round_to_odd(u128 g, uint64_t c)
{
    u128 low = u128_multiply(g.lo, c);
    u128 high = u128_multiply(g.hi, c);
    uint64_t middle = high.lo + low.hi;
    uint64_t top = high.hi + (middle < low.hi ? 1 : 0);
    return top | (middle > 1 ? 1 : 0);
}

// floor(log10(2^e)), or floor(log10(3/4 2^e)), for |e| <= 1200, in fixed point with 22 bits: log10 2 = 1262611.2 / 2^22,
// log10 4/3 = 524031.4 / 2^22. The sum keeps the shifted number positive.
static int floor_log10_power2(int e, bool three_quarters)
{
    int64_t log = (int64_t)e * 1262611 - (three_quarters ? 524031 : 0);
    return (int)((log + ((int64_t)1024 << 22)) >> 22) - 1024;
}

// The shortest decimal that rounds to m 2^e > 0 and, of those, the nearest to it (Schubfach; Giulietti 2020).
//
// The numbers that round to m 2^e are those between the midpoints to its neighbours, with the midpoints themselves when m is
// even. With k = floor(log10(width of that interval)), 10^k is at most the width and 10^(k+1) above it: the interval holds
// at least one multiple of 10^k and at most one of 10^(k+1). So only four candidates are left: the multiples of 10^(k+1) and
// of 10^k next to m 2^e, below and above. They are compared in units of 10^k / 4, in which
//
//   lower = (4 m - 2) 2^e / 10^k,   value = 4 m 2^e / 10^k,   upper = (4 m + 2) 2^e / 10^k
//
// rounded to odd, which keeps their order to the even numbers 4 s, 4 s + 2 and 4 s + 4 that they are compared with.
static shortest shortest_of(uint64_t bits)
{
    int e;
    uint64_t m = split_double(bits, &e);
    if (e <= 0 && e > -53 && (m & (((uint64_t)1 << -e) - 1)) == 0) {
        return (shortest){m >> -e, 0}; // an integer below 2^53: its neighbours are at most 1 away
    }
    bool is_even = m % 2 == 0;
    bool is_power = (bits & 0xfffffffffffff) == 0 && e > -1074; // then the next double below is only half as far
    int k = floor_log10_power2(e, is_power);
    int h = e + floor_log2_power10(-k) + 1; // 1 .. 4
    u128 g = power10(-k);
    if (k > 0 || k < -55) { // not exact: round up
        g.lo += 1;
        g.hi += g.lo == 0 ? 1 : 0;
    }
    uint64_t lower = round_to_odd(g, (4 * m - (is_power ? 1 : 2)) << h) + (is_even ? 0 : 1);
    uint64_t value = round_to_odd(g, (4 * m) << h);
    uint64_t upper = round_to_odd(g, (4 * m + 2) << h) - (is_even ? 0 : 1);

    uint64_t s = value / 4;
    if (s >= 10) {
        uint64_t tens = s / 10;
        bool down = lower <= 40 * tens;
        bool up = 40 * tens + 40 <= upper;
        if (down != up) {
            return (shortest){tens + (up ? 1 : 0), k + 1};
        }
    }
    bool down = lower <= 4 * s;
    bool up = 4 * s + 4 <= upper;
    if (down == up) { // both: the nearer, or the even one
        up = value > 4 * s + 2 || (value == 4 * s + 2 && s % 2 != 0);
    }
    return (shortest){s + (up ? 1 : 0), k};
}

static shortest without_zeros(shortest number)
{
    while (number.digits >= 100000000 && number.digits % 100000000 == 0) {
        number.digits /= 100000000;
        number.exponent += 8;
    }
    while (number.digits >= 10 && number.digits % 10 == 0) {
        number.digits /= 10;
        number.exponent += 1;
    }
    return number;
}

// The decimal digits of `number` at `text`; returns how many.
static int write_digits(uint64_t number, char *text)
{
    char reversed[20];
    int count = 0;
    do {
        reversed[count++] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    for (int i = 0; i < count; ++i) {
        text[i] = reversed[count - 1 - i];
    }
    return count;
}

static int write_exponent(int exponent, char *text)
{
    int at = 0;
    text[at++] = 'e';
    if (exponent < 0) {
        text[at++] = '-';
    }
    return at + write_digits((uint64_t)(exponent < 0 ? -exponent : exponent), text + at);
}

// Plain from 1e-6 to below 1e17, otherwise d.ddde5: at most 25 characters with the sign.
static int write_number(shortest number, bool is_negative, char *text)
{
    char digits[20];
    int count = write_digits(number.digits, digits);
    int point = count + number.exponent; // value = 0.digits 10^point
    int at = 0;
    if (is_negative) {
        text[at++] = '-';
    }
    bool is_plain = point > -6 && point <= 17;
    int whole = is_plain ? point : 1; // digits before the point
    if (whole <= 0) {
        text[at++] = '0';
    }
    for (int i = 0; i < whole; ++i) {
        text[at++] = i < count ? digits[i] : '0';
    }
    if (count > whole) {
        text[at++] = '.';
        for (int i = whole; i < count; ++i) {
            text[at++] = i < 0 ? '0' : digits[i];
        }
    }
    if (!is_plain) {
        at += write_exponent(point - 1, text + at);
    }
    text[at] = '\0';
    return at;
}

// 0 and what is not finite; 0: neither.
static int write_special(double value, char text[PZ_NUMBER_SIZE])
{
    bool is_negative = bits_of(value) >> 63 != 0;
    const char *name = value == 0.0 ? "-0" : value != value ? "-nan" : value - value != 0.0 ? "-inf" : NULL;
    if (!name) {
        return 0;
    }
    name += is_negative && value == value ? 0 : 1;
    size_t length = strlen(name);
    memcpy(text, name, length + 1);
    return (int)length;
}

#define SIGN_OFF (UINT64_MAX >> 1)

int pz_number_write(double value, char text[PZ_NUMBER_SIZE])
{
    int length = write_special(value, text);
    if (length > 0) {
        return length;
    }
    uint64_t bits = bits_of(value);
    return write_number(without_zeros(shortest_of(bits & SIGN_OFF)), bits >> 63 != 0, text);
}

// ---- Scaled --------------------------------------------------------------------------------------------------------------

// The first 64 bits of a / b for a, b > 0: returns them, top bit set, with a / b = them 2^*e, less 1 unit at most.
static uint64_t quotient(double a, double b, int *e)
{
    int ea, eb;
    uint64_t ma = split_double(bits_of(a), &ea), mb = split_double(bits_of(b), &eb);
    int sa = leading_zeros(ma), sb = leading_zeros(mb);
    ma <<= sa;
    mb <<= sb;
    // long division, one bit at a time: rare enough
    uint64_t bits = 0;
    uint64_t rest = ma;
    *e = ea - sa - eb + sb - 63;
    if (rest < mb) { // the first bit would be 0
        *e -= 1;
        bits = 0;
    } else {
        rest -= mb;
        bits = 1;
    }
    while (bits >> 63 == 0) {
        bool carry = rest >> 63 != 0;
        rest <<= 1;
        bits <<= 1;
        if (carry || rest >= mb) {
            rest -= mb;
            bits |= 1;
        }
    }
    return bits;
}

// 18 digits of value / factor: more than a double holds, so that reading takes the exact product and rounds once. The
// numbers that round to `value` span 1.1e-16 of it, 18 digits are at most 1e-17 apart, and the arithmetic here and in
// reading is good to 2^-61: the digits nearest to the quotient cannot miss.
static shortest long_quotient(double value, double factor)
{
    int e;
    uint64_t bits = quotient(value, factor, &e);
    // 10^17 <= bits 2^e 10^-k < 10^18: k by the binary exponent, which may be one too small
    int k = floor_log10_power2(e + 63, false) - 17;
    k = k < -PZ_POWER_LAST ? -PZ_POWER_LAST : k;
    for (;;) {
        u128 product;
        int shift = -(e + product10(bits, -k, &product)) - 64; // of the high half, down to the integer
        uint64_t digits = (product.hi >> shift) + (product.hi >> (shift - 1) & 1);
        if (digits < 1000000000000000000u) {
            return (shortest){digits, k};
        }
        ++k;
    }
}

static int digit_count(uint64_t number)
{
    int count = 1;
    for (; number >= 10; number /= 10) {
        ++count;
    }
    return count;
}

// The doubles d with fl(d factor) = value lie next to value / factor, at most a few of them, since a step of d changes the
// product by more than half a unit of its last place. A decimal that reads as one of them is as good as another: the
// shortest wins. Where d's steps are longer than the product's there may be none; then the number is written to more digits
// than a double has, which reading honours (pz_number_read_scaled).
int pz_number_write_scaled(double value, double factor, char text[PZ_NUMBER_SIZE])
{
    int length = write_special(value, text);
    if (length > 0) {
        return length;
    }
    bool is_negative = bits_of(value) >> 63 != 0;
    double magnitude = is_negative ? -value : value;
    uint64_t middle = bits_of(magnitude / factor);
    shortest best = {.digits = 0};
    for (int step = 0; step < 5; ++step) {
        static const int order[] = {0, -1, 1, -2, 2}; // the nearest first
        uint64_t bits = middle + (uint64_t)(int64_t)order[step];
        if (bits - 1 >= ((uint64_t)0x7ff << 52) - 1 || double_of(bits) * factor != magnitude) {
            continue;
        }
        shortest found = without_zeros(shortest_of(bits));
        if (best.digits == 0 || digit_count(found.digits) < digit_count(best.digits)) {
            best = found;
        }
    }
    return write_number(best.digits > 0 ? best : long_quotient(magnitude, factor), is_negative, text);
}
