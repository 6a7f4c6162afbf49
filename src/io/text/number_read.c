// From decimals to doubles, correctly rounded.
//
// The first 19 digits make an integer w, so that the number is w 10^q or, with more digits, between w 10^q and (w + 1) 10^q.
// Three ways to the nearest double, the next one where the one before cannot tell:
//   - w and the power of ten are doubles: one rounded operation (Clinger 1990);
//   - w times the leading 128 bits of the power of ten: 75 bits below the last bit of the result say which way to round,
//     unless the number is very near to halfway between two doubles (after Lemire 2021);
//   - all decimal digits of that halfway point, compared with the text.
#include "io/text/number.h"

#include "base/big_integer.h"
#include "base/letters.h"
#include "io/text/power_table.h"

u128 pz_u128_multiply_halves(uint64_t a, uint64_t b)
{
    uint64_t a0 = a & UINT32_MAX, a1 = a >> 32, b0 = b & UINT32_MAX, b1 = b >> 32;
    uint64_t low = a0 * b0;
    uint64_t middle = a1 * b0 + (low >> 32); // at most (2^32 - 1)^2 + 2^32 - 1 < 2^64
    uint64_t other = a0 * b1 + (middle & UINT32_MAX);
    return (u128){a1 * b1 + (middle >> 32) + (other >> 32), (other << 32) | (low & UINT32_MAX)};
}

// 10^q = 10^b 10^r with b a multiple of PZ_POWER_STEP and 0 <= r < PZ_POWER_STEP: 192 bits of 10^b times 5^r.
u128 pz_power10(int q)
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

// With w shifted up by s until its top bit is set, p = floor(log2 10^q) and T the leading 128 bits of 10^q,
//
//   w 10^q = (w 2^s) T 2^(p - 127 - s)
//
// T is cut off by less than 1, so the product of 192 bits is too small by less than 2^64: by less than 1 once its lowest 64
// bits are cut off, which takes away less than 1 again. A shift by one bit to set the top bit doubles that: below 4.
int pz_product10(uint64_t w, int q, u128 *product)
{
    int s = leading_zeros(w);
    u128 power = pz_power10(q);
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
static const char *take_digits(const char *at, const char *end, uint64_t *w)
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
static const char *take_exponent(const char *at, const char *end, int64_t *exponent)
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
static const char *take_decimal(const char *at, const char *end, decimal *number)
{
    number->w = 0;
    const char *point = take_digits(at, end, &number->w);
    const char *after = point;
    int64_t count = point - at;
    number->q = 0;
    if (point < end && *point == '.') {
        after = take_digits(point + 1, end, &number->w);
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
    const char *next = take_exponent(after, end, &exponent);
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
    int e = pz_product10(number->w, (int)number->q, &product);
    bool is_certain;
    uint64_t bits = round_product(product, e, PZ_PRODUCT_SLACK, &is_certain);
    if (is_certain && number->digits > 19) {
        e = pz_product10(number->w + 1, (int)number->q, &product);
        is_certain = round_product(product, e, PZ_PRODUCT_SLACK, &is_certain) == bits && is_certain;
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
static const char *take_word(const char *at, const char *end, const char *word)
{
    for (; *word; ++word, ++at) {
        if (at >= end || (*at | 0x20) != *word) {
            return NULL;
        }
    }
    return at;
}

static const char *take_special(const char *at, const char *end, double *value)
{
    const char *next = take_word(at, end, "nan");
    if (next) {
        *value = double_of((uint64_t)0x7ff8 << 48);
        return next;
    }
    next = take_word(at, end, "infinity");
    next = next ? next : take_word(at, end, "inf");
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
    const char *next = take_decimal(at, end, number);
    if (next != at) {
        magnitude = value_of(number);
    } else {
        number->digits = 0;
        next = take_special(at, end, &magnitude);
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
    int e = pz_product10(number.w, (int)number.q, &product);
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
