// What every test program needs around its tests: they register themselves, and support/test_main.c runs them.
//
//   TEST(exp_of_log_is_the_identity)
//   {
//       ck_assert_double_eq_tol(...);
//   }
//
//   TEST_ROWS(every_method_holds_the_limits, POISE_METHOD_COUNT) // once for each row of a table: test_row is its index
//   {
//       solve_with((poise_method)test_row);
//   }
//
//   TEST_DATA(facts_of_real_files_hold, "bvh") // left out where the data folder lacks files of that folder (docs/data.md)
//   {
//       ...
//   }
//
// A source is a suite: that of test_so3.c is called so3. A program runs the suites named by its arguments, or all that it
// holds. TEST_ONLY=<name of a test> in the environment runs that test alone.
//
// All tests run in this one process: sanitizers, valgrind and debuggers see them, and a failed assertion ends only its own
// test. Each suite prints how many tests ran, how many assertions they made and how many were left out; a program that
// leaves out all of its tests exits with the status that CTest reports as skipped.
#ifndef TEST_TEST_MAIN_H
#define TEST_TEST_MAIN_H

#include "check.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#define TEST_COUNT(table) (sizeof(table) / sizeof((table)[0]))

typedef struct test_entry {
    const char *name;
    void (*run)(int row);
    const char *file;
    int line;
    int rows;                  // it runs once for each
    const char *data;          // what it needs of the data folder (data_find); NULL: nothing
    const char *(*lack)(void); // why it cannot run, or NULL; may be NULL itself
    struct test_entry *next;
} test_entry;

void test_register(test_entry *entry);

#define TEST_OF(name, rows, data, lack)                                                                                     \
    static void name(int test_row);                                                                                         \
    __attribute__((constructor)) static void name##_register(void)                                                          \
    {                                                                                                                       \
        static test_entry entry = {#name, name, __FILE__, __LINE__, rows, data, lack, NULL};                                \
        test_register(&entry);                                                                                              \
    }                                                                                                                       \
    static void name(__attribute__((unused)) int test_row)

#define TEST(name)                       TEST_OF(name, 1, NULL, NULL)
#define TEST_ROWS(name, rows)            TEST_OF(name, rows, NULL, NULL)
#define TEST_DATA(name, data)            TEST_OF(name, 1, data, NULL)
#define TEST_DATA_ROWS(name, rows, data) TEST_OF(name, rows, data, NULL)
#define TEST_IF(name, lack)              TEST_OF(name, 1, NULL, lack)

// What a helper made for a test is released after it, the latest first, also when the test fails: helpers hand it over, so
// that tests need not. A loop that makes a lot calls test_sweep at the end of each round.
void test_own(void (*destroy)(void *what), void *what);
void test_sweep(void);

// Where a file or folder of the data folder is (docs/data.md). Where something of it is missing, the running test is left out;
// where something is another file than listed, it fails. Valid until the fourth call after this.
const char *test_data(const char *what);

#endif
