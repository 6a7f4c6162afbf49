// Assertions. One that fails prints its place and both values, and ends the running test; one that holds is counted.
#ifndef TEST_CHECK_H
#define TEST_CHECK_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#ifdef __MINGW32__ // whose printf is the C standard's, not the system's
#define CHECK_PRINTF __MINGW_PRINTF_FORMAT
#else
#define CHECK_PRINTF printf
#endif

void test_count(void);
__attribute__((noreturn, format(CHECK_PRINTF, 3, 4))) void test_fail(const char *file, int line, const char *format, ...);

#define ck_assert_msg(holds, ...) ((holds) ? test_count() : test_fail(__FILE__, __LINE__, __VA_ARGS__))
#define ck_assert(holds)          ck_assert_msg(holds, "%s", #holds)
#define ck_abort_msg(...)         test_fail(__FILE__, __LINE__, __VA_ARGS__)

// a RELATION b, both evaluated once as values of a type, which `form` prints
#define CHECK_PAIR(type, form, a, relation, b)                                                                              \
    do {                                                                                                                    \
        type ck_a = (type)(a);                                                                                              \
        type ck_b = (type)(b);                                                                                              \
        ck_assert_msg(ck_a relation ck_b, "%s %s %s: " form ", " form, #a, #relation, #b, ck_a, ck_b);                      \
    } while (0)

#define ck_assert_int_eq(a, b)    CHECK_PAIR(long long, "%lld", a, ==, b)
#define ck_assert_int_ne(a, b)    CHECK_PAIR(long long, "%lld", a, !=, b)
#define ck_assert_int_lt(a, b)    CHECK_PAIR(long long, "%lld", a, <, b)
#define ck_assert_int_le(a, b)    CHECK_PAIR(long long, "%lld", a, <=, b)
#define ck_assert_int_gt(a, b)    CHECK_PAIR(long long, "%lld", a, >, b)
#define ck_assert_int_ge(a, b)    CHECK_PAIR(long long, "%lld", a, >=, b)
#define ck_assert_uint_eq(a, b)   CHECK_PAIR(unsigned long long, "%llu", a, ==, b)
#define ck_assert_uint_ne(a, b)   CHECK_PAIR(unsigned long long, "%llu", a, !=, b)
#define ck_assert_uint_lt(a, b)   CHECK_PAIR(unsigned long long, "%llu", a, <, b)
#define ck_assert_uint_le(a, b)   CHECK_PAIR(unsigned long long, "%llu", a, <=, b)
#define ck_assert_uint_gt(a, b)   CHECK_PAIR(unsigned long long, "%llu", a, >, b)
#define ck_assert_uint_ge(a, b)   CHECK_PAIR(unsigned long long, "%llu", a, >=, b)
#define ck_assert_float_eq(a, b)  CHECK_PAIR(double, "%.9g", a, ==, b)
#define ck_assert_double_eq(a, b) CHECK_PAIR(double, "%.17g", a, ==, b)
#define ck_assert_double_ne(a, b) CHECK_PAIR(double, "%.17g", a, !=, b)
#define ck_assert_double_lt(a, b) CHECK_PAIR(double, "%.17g", a, <, b)
#define ck_assert_double_le(a, b) CHECK_PAIR(double, "%.17g", a, <=, b)
#define ck_assert_double_gt(a, b) CHECK_PAIR(double, "%.17g", a, >, b)
#define ck_assert_double_ge(a, b) CHECK_PAIR(double, "%.17g", a, >=, b)
#define ck_assert_ptr_eq(a, b)    CHECK_PAIR(const void *, "%p", a, ==, b)
#define ck_assert_ptr_ne(a, b)    CHECK_PAIR(const void *, "%p", a, !=, b)
#define ck_assert_ptr_null(a)     ck_assert_ptr_eq(a, NULL)
#define ck_assert_ptr_nonnull(a)  ck_assert_ptr_ne(a, NULL)

// |a - b| <= tolerance; never true of NaN
#define ck_assert_double_eq_tol(a, b, tolerance)                                                                            \
    do {                                                                                                                    \
        double ck_a = (a), ck_b = (b), ck_t = (tolerance);                                                                  \
        ck_assert_msg(fabs(ck_a - ck_b) <= ck_t, "%s == %s: %.17g, %.17g, %.3g apart, allowed %.3g", #a, #b, ck_a, ck_b,    \
                      fabs(ck_a - ck_b), ck_t);                                                                             \
    } while (0)

#define CHECK_TEXTS(a, relation, b)                                                                                         \
    do {                                                                                                                    \
        const char *ck_a = (a), *ck_b = (b);                                                                                \
        ck_assert_msg(ck_a &&ck_b &&strcmp(ck_a, ck_b) relation 0, "%s %s %s: \"%s\", \"%s\"", #a, #relation, #b,           \
                      ck_a ? ck_a : "(null)", ck_b ? ck_b : "(null)");                                                      \
    } while (0)
#define ck_assert_str_eq(a, b) CHECK_TEXTS(a, ==, b)
#define ck_assert_str_ne(a, b) CHECK_TEXTS(a, !=, b)

#define ck_assert_mem_eq(a, b, size) ck_assert_msg(memcmp(a, b, size) == 0, "%s == %s: other bytes", #a, #b)

#endif
