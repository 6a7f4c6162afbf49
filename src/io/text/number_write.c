// From doubles to decimals: the shortest that reads back.
#include "io/text/number.h"

#include "io/text/power_table.h"

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
    u128 g = pz_power10(-k);
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
static int put_digits(uint64_t number, char *text)
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

static int put_exponent(int exponent, char *text)
{
    int at = 0;
    text[at++] = 'e';
    if (exponent < 0) {
        text[at++] = '-';
    }
    return at + put_digits((uint64_t)(exponent < 0 ? -exponent : exponent), text + at);
}

// Plain from 1e-6 to below 1e17, otherwise d.ddde5: at most 25 characters with the sign.
static int put_number(shortest number, bool is_negative, char *text)
{
    char digits[20];
    int count = put_digits(number.digits, digits);
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
        at += put_exponent(point - 1, text + at);
    }
    text[at] = '\0';
    return at;
}

// 0 and what is not finite; 0: neither.
static int put_special(double value, char text[PZ_NUMBER_SIZE])
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
    int length = put_special(value, text);
    if (length > 0) {
        return length;
    }
    uint64_t bits = bits_of(value);
    return put_number(without_zeros(shortest_of(bits & SIGN_OFF)), bits >> 63 != 0, text);
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
        int shift = -(e + pz_product10(bits, -k, &product)) - 64; // of the high half, down to the integer
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
    int length = put_special(value, text);
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
    return put_number(best.digits > 0 ? best : long_quotient(magnitude, factor), is_negative, text);
}
