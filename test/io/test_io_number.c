// Numbers in texts, against the C library's, which is correctly rounded.
#include "support/test_main.h"

#include "io/text.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

// SplitMix64 (Steele, Lea, Flood 2014).
static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static double finite_from_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return isfinite(x) ? x : 0.0;
}

// Assertions of Check write to a pipe each time; in long loops this is faster.
#define REQUIRE(condition, ...)                                                                                             \
    do {                                                                                                                    \
        if (!(condition)) {                                                                                                 \
            ck_abort_msg(__VA_ARGS__);                                                                                      \
        }                                                                                                                   \
    } while (0)

// Reads all of `text`, with other characters right behind it.
static double read_all(const char *text)
{
    char room[4096];
    size_t length = strlen(text);
    REQUIRE(length + 2 < sizeof room, "%s: too long", text);
    memcpy(room, text, length);
    memcpy(room + length, "7", 2); // a digit beyond the end must not be read
    double value = NAN;
    const char *after = pz_number_read(room, room + length, &value);
    REQUIRE(after == room + length, "%s: read %d of %d characters", text, (int)(after - room), (int)length);
    return value;
}

static void check_read(const char *text)
{
    double expected = strtod(text, NULL), read = read_all(text);
    REQUIRE(bits_of(expected) == bits_of(read), "%s: read as %a, should be %a", text, read, expected);
}

TEST(numbers_of_up_to_20_digits_read_as_by_strtod)
{
    static const char *const formats[] = {"%.17g", "%.15g", "%.6g", "%.4f", "%.16e", "%.19e", "%.3g", "%.0f", "%.9f"};
    uint64_t state = 1;
    char text[1024];
    for (int i = 0; i < 100000; ++i) {
        double any = finite_from_bits(draw(&state));
        double angle = ((double)(draw(&state) >> 11) * 0x1p-53 - 0.5) * 720.0;
        for (size_t f = 0; f < TEST_COUNT(formats); ++f) {
            bool is_long = strchr(formats[f], 'f') && fabs(any) > 1e30;
            snprintf(text, sizeof text, formats[f], i % 2 == 0 && !is_long ? any : angle);
            check_read(text);
        }
    }
}

TEST(random_digits_and_exponents_read_as_by_strtod)
{
    uint64_t state = 2;
    char text[128];
    for (int i = 0; i < 300000; ++i) {
        int digits = 1 + (int)(draw(&state) % 40), point = (int)(draw(&state) % 41), at = 0;
        for (int d = 0; d < digits; ++d) {
            if (d == point) {
                text[at++] = '.';
            }
            text[at++] = (char)('0' + draw(&state) % 10);
        }
        snprintf(text + at, sizeof text - (size_t)at, "e%d", (int)(draw(&state) % 700) - 360);
        check_read(text);
    }
}

// Exact decimal of the point halfway between x and the next double: a long double holds it, and printf gives all its digits.
static void check_halfway(double x)
{
    if (LDBL_MANT_DIG < 64 || x == DBL_MAX) {
        return;
    }
    long double half = ((long double)x + (long double)nextafter(x, INFINITY)) / 2;
    char text[1200], more[1220];
    snprintf(text, sizeof text, "%.1100Le", half);
    check_read(text);
    // the same with its zeros cut off, and a little above
    char *exponent = strchr(text, 'e');
    size_t digits = (size_t)(exponent - text);
    while (text[digits - 1] == '0') {
        --digits;
    }
    snprintf(more, sizeof more, "%.*s%s", (int)digits, text, exponent);
    check_read(more);
    snprintf(more, sizeof more, "%.*s000000000000000000000001%s", (int)digits, text, exponent);
    check_read(more);
    // a little below: the last digit, not 0, less 1, then nines
    text[digits - 1] = (char)(text[digits - 1] - 1);
    snprintf(more, sizeof more, "%.*s99999999999%s", (int)digits, text, exponent);
    check_read(more);
}

// Where there is nothing to compare with.
static const char *lacks_exact_strtod(void)
{
#ifdef _WIN32
    return "strtod of this system rounds twice";
#else
    return NULL;
#endif
}

TEST_IF(points_halfway_between_doubles_go_to_the_even_one, lacks_exact_strtod)
{
    uint64_t state = 3;
    for (int i = 0; i < 4000; ++i) {
        uint64_t bits = draw(&state) & (UINT64_MAX >> 1);
        check_halfway(finite_from_bits(bits));
        check_halfway(finite_from_bits(bits & 0xfffffffffffff));                          // subnormal
        check_halfway(finite_from_bits((bits & 0xfffffffffffff) | (uint64_t)1023 << 52)); // 1 .. 2
        check_halfway(finite_from_bits((bits & 0x7ff0000000000000)));                     // powers of two
        check_halfway(finite_from_bits((bits & 0x7ff0000000000000) + 0xfffffffffffff));   // and below them
        check_halfway((double)(draw(&state) >> 10));                                      // integers about 2^53
    }
    check_halfway(0.0);
    check_halfway(DBL_MIN);
    check_halfway(0x1p-1074);
}

TEST(edges_of_the_range_read_as_by_strtod)
{
    static const char *const texts[] = {
        "0",
        "-0",
        "+0.0",
        "00012",
        "000.000",
        "1e400",
        "-1e400",
        "1e-400",
        "-1e-400",
        "0e999999999999999999999",
        "1e99999999999999999999",
        "1e-99999999999999999999",
        "4.9406564584124654e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "2.47032822920623272088284396434110686182e-324",
        "2.2250738585072011e-308",
        "2.2250738585072014e-308",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "1797693134862315807937289714053034150799341327100378269361737789804449682927647509466490179775872070963302864166928"
        "87"
        "9109465555478519404026306574886715058206819089020007083836762738548458177115317644757302700698555713669596228429148"
        "1"
        "986083493647529271907416844436551070434271155969950809304288e0",
        "9007199254740993",
        "9007199254740992.999999999999999999999",
        "9007199254740993.000000000000000000001",
        "18446744073709551615",
        "18446744073709551616",
        "99999999999999999999999999999999999999",
        "1e22",
        "1e23",
        "8.5e22",
        "123456789012345678901234567890e-30",
        "0.1",
        "0.30000000000000004",
        ".0083333",
        "5.",
        "-.5e1",
        "1E+5",
        "1e-5",
    };
    for (size_t i = 0; i < TEST_COUNT(texts); ++i) {
        check_read(texts[i]);
    }
}

TEST(very_long_numbers_read_as_by_strtod)
{
    char text[3000];
    for (int zeros = 1; zeros < 2500; zeros += 83) {
        memset(text, '0', sizeof text);
        snprintf(text + zeros, sizeof text - (size_t)zeros, "1234567890123456789012345e0");
        text[zeros / 2] = '.';
        check_read(text);
        memset(text, '9', sizeof text);
        snprintf(text + zeros, sizeof text - (size_t)zeros, "e-%d", zeros);
        check_read(text);
    }
}

TEST(products_of_128_bits_are_the_same_by_halves)
{
    static const struct {
        uint64_t factor[2];
        u128 product;
    } known[] = {
        {{UINT64_C(0xffffffffffffffff), UINT64_C(0xffffffffffffffff)}, {UINT64_C(0xfffffffffffffffe), UINT64_C(0x1)}},
        {{UINT64_C(0xfedcba9876543210), UINT64_C(0xf1e2d3c4b5a6978)},
         {UINT64_C(0xf0cf9d5a05a0299), UINT64_C(0x9aacd00449a00780)}},
        {{UINT64_C(0xffffffff00000001), UINT64_C(0x1ffffffff)}, {UINT64_C(0x1fffffffd), UINT64_C(0x2ffffffff)}},
    };
    for (size_t i = 0; i < TEST_COUNT(known); ++i) {
        u128 whole = u128_multiply(known[i].factor[0], known[i].factor[1]);
        u128 halves = u128_multiply_halves(known[i].factor[0], known[i].factor[1]);
        ck_assert(whole.hi == known[i].product.hi && whole.lo == known[i].product.lo);
        ck_assert(halves.hi == known[i].product.hi && halves.lo == known[i].product.lo);
    }
}

TEST(reading_stops_where_the_number_ends)
{
    static const struct {
        const char *text;
        int length;
    } cases[] = {
        {"", 0},     {"-", 0},      {"+", 0},     {".", 0},        {"-.", 0},   {"e5", 0},    {"x", 0},
        {"--1", 0},  {"1e", 1},     {"1e+", 1},   {"1.5e-x", 3},   {"1,5", 1},  {"1.2.3", 3}, {"0x10", 1},
        {"12 3", 2}, {"nan(1)", 3}, {"infin", 3}, {"INFINITY", 8}, {"-Inf", 4}, {"+NaN", 4},  {"na", 0},
        {".e5", 0},  {"1e5e5", 3},  {"5.e2", 4},  {"-5.", 3},
    };
    for (size_t i = 0; i < TEST_COUNT(cases); ++i) {
        const char *text = cases[i].text;
        double value = 3.0;
        REQUIRE(pz_number_read(text, text + strlen(text), &value) == text + cases[i].length, "%s", text);
        REQUIRE(cases[i].length > 0 || value == 3.0, "%s", text);
    }
    ck_assert(isnan(read_all("NaN")) && read_all("-inf") == -INFINITY && read_all("Infinity") == INFINITY);
}

// The fewest digits, by printf, that read back to x.
static int digits_needed(double x, char text[64])
{
    for (int digits = 1;; ++digits) {
        snprintf(text, 64, "%.*e", digits - 1, x);
        if (digits >= 17 || strtod(text, NULL) == x) {
            return digits;
        }
    }
}

// Significant digits of a text, without leading and closing zeros, and the text of them.
static int significant(const char *text, char digits[64])
{
    int count = 0;
    for (; *text && *text != 'e'; ++text) {
        if (*text >= '0' && *text <= '9' && (count > 0 || *text != '0')) {
            digits[count++] = *text;
        }
    }
    while (count > 0 && digits[count - 1] == '0') {
        --count;
    }
    digits[count] = '\0';
    return count;
}

static void check_write(double x)
{
    char text[PZ_NUMBER_SIZE], expected[64], mine[64], theirs[64];
    int length = pz_number_write(x, text);
    REQUIRE(length == (int)strlen(text), "%s", text);
    REQUIRE(bits_of(read_all(text)) == bits_of(x) && bits_of(strtod(text, NULL)) == bits_of(x), "%a: %s", x, text);
    if (x == 0.0) {
        return;
    }
    int needed = digits_needed(x, expected);
    int count = significant(text, mine);
    significant(expected, theirs);
    REQUIRE(count <= needed, "%s has more digits than %s", text, expected);
    // next to a power of two a decimal that is not the nearest of its length may do
    REQUIRE(count < needed || strtod(expected, NULL) != x || strcmp(mine, theirs) == 0, "%s is not %s", text, expected);
}

TEST_IF(written_numbers_are_the_shortest_that_read_back, lacks_exact_strtod)
{
    uint64_t state = 4;
    for (int i = 0; i < 60000; ++i) {
        uint64_t bits = draw(&state);
        check_write(finite_from_bits(bits));
        check_write(((double)(bits >> 11) * 0x1p-53 - 0.5) * 720.0);
        check_write((double)(int)(bits % 20000000 - 10000000) / 10000.0);
    }
    for (int e = -1074; e <= 1023; ++e) { // powers of two and their neighbours
        double x = ldexp(1.0, e);
        check_write(x);
        check_write(-x);
        check_write(nextafter(x, 0.0));
        check_write(nextafter(x, INFINITY));
    }
    for (int e = -323; e <= 308; ++e) {
        char text[16];
        snprintf(text, sizeof text, "1e%d", e);
        double x = strtod(text, NULL);
        check_write(x);
        check_write(nextafter(x, 0.0));
        check_write(nextafter(x, INFINITY));
    }
}

TEST(millions_of_written_numbers_read_back)
{
    uint64_t state = 5;
    for (int i = 0; i < 2000000; ++i) {
        double x = finite_from_bits(draw(&state)), read = NAN;
        char text[PZ_NUMBER_SIZE];
        int length = pz_number_write(x, text);
        pz_number_read(text, text + length, &read);
        REQUIRE(bits_of(read) == bits_of(x), "%a: %s", x, text);
    }
}

TEST(written_numbers_look_as_people_write_them)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0.0, "0"},
        {-0.0, "-0"},
        {1.0, "1"},
        {-12.5, "-12.5"},
        {0.001, "0.001"},
        {1e-6, "0.000001"},
        {1e-7, "1e-7"},
        {1e16, "10000000000000000"},
        {1e17, "1e17"},
        {123456789.0, "123456789"},
        {1.5e300, "1.5e300"},
        {5e-324, "5e-324"},
        {0.1 + 0.2, "0.30000000000000004"},
        {DBL_MAX, "1.7976931348623157e308"},
        {1e23, "1e23"},
        {9007199254740993e3, "9007199254740992000"},
        {NAN, "nan"},
        {INFINITY, "inf"},
        {-INFINITY, "-inf"},
        {-1.2345678901234568e-5, "-0.000012345678901234568"},
    };
    char text[PZ_NUMBER_SIZE];
    for (size_t i = 0; i < TEST_COUNT(cases); ++i) {
        pz_number_write(cases[i].value, text);
        if (fabs(cases[i].value) < 1e17 || isinf(cases[i].value) || isnan(cases[i].value)) {
            ck_assert_str_eq(text, cases[i].text);
        } else {
            ck_assert_double_eq(strtod(text, NULL), cases[i].value);
        }
    }
}

static void check_scaled(double radians)
{
    char text[PZ_NUMBER_SIZE];
    int length = pz_number_write_scaled(radians, PZ_RADIANS_PER_DEGREE, text);
    double read = NAN;
    const char *after = pz_number_read_scaled(text, text + length, PZ_RADIANS_PER_DEGREE, &read);
    REQUIRE(length == (int)strlen(text), "%s", text);
    REQUIRE(after == text + length, "%s", text);
    REQUIRE(bits_of(read) == bits_of(radians), "%a: written %s, read %a", radians, text, read);
}

TEST(any_radians_written_as_degrees_read_back_to_the_same_bits)
{
    uint64_t state = 6;
    for (int i = 0; i < 1000000; ++i) {
        uint64_t bits = draw(&state);
        check_scaled(finite_from_bits(bits));
        check_scaled(((double)(bits >> 11) * 0x1p-53 - 0.5) * 12.6);
    }
    static const double odd[] = {0.0, -0.0, DBL_MAX, -DBL_MAX, DBL_MIN, 0x1p-1074, 1e-310, 3.14159265358979312, 1e-300};
    for (size_t i = 0; i < TEST_COUNT(odd); ++i) {
        check_scaled(odd[i]);
    }
}

TEST(degrees_of_a_file_are_written_as_they_were)
{
    uint64_t state = 7;
    for (int i = 0; i < 100000; ++i) {
        char in[64], out[PZ_NUMBER_SIZE], digits_in[64], digits_out[64];
        snprintf(in, sizeof in, "%.*f", (int)(draw(&state) % 8), ((double)(draw(&state) >> 11) * 0x1p-53 - 0.5) * 720.0);
        double radians = NAN;
        pz_number_read_scaled(in, in + strlen(in), PZ_RADIANS_PER_DEGREE, &radians);
        REQUIRE(radians == strtod(in, NULL) * PZ_RADIANS_PER_DEGREE, "%s", in);
        pz_number_write_scaled(radians, PZ_RADIANS_PER_DEGREE, out);
        significant(in, digits_in);
        significant(out, digits_out);
        REQUIRE(strcmp(digits_in, digits_out) == 0, "%s: %s", in, out);
    }
}

// A unit is a word, wherever that ends: what follows in the file is no part of it.
TEST(a_unit_of_length_is_known_by_its_word_alone)
{
    static const struct {
        const char *text;
        size_t length;
        double metres;
    } rows[] = {{"m", 1, 1},         {"mm", 2, 0.001}, {"metres", 6, 1},      {"Millimeter", 10, 0.001},
                {"mill", 4, 0.001},  {"cm", 2, 0.01},  {"inches", 6, 0.0254}, {"inches", 2, 0.0254},
                {"feet", 4, 0.3048}, {"feet", 1, 0},   {"metres", 2, 0},      {"centimetres", 2, 0},
                {"furlong", 7, 0},   {"", 0, 0}};
    for (size_t i = 0; i < TEST_COUNT(rows); ++i) {
        ck_assert_msg(pz_unit_metres((pz_word){rows[i].text, rows[i].length}) == rows[i].metres, "%.*s", (int)rows[i].length,
                      rows[i].text);
    }
}
