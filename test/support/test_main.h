// What every test program needs around its tests: a runner over a table, skipping, and nothing else.
//
//   START_TEST(exp_of_log_is_the_identity)
//   {
//       ck_assert_double_eq_tol(...);
//   }
//   END_TEST
//
//   static const test_case tests[] = {&exp_of_log_is_the_identity};
//
//   int main(void)
//   {
//       return test_run("so3", tests, TEST_COUNT(tests));
//   }
//
// A test that is missing from the table is an unused variable, which the warnings turn into an error.
//
// All tests run in this one process: sanitizers, valgrind and debuggers see them, and a failed assertion ends only its own
// test. CK_RUN_CASE=<name of a test> in the environment runs that test alone.
#ifndef TEST_TEST_MAIN_H
#define TEST_TEST_MAIN_H

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef POISE_SHARED_DIR // the build sets it
#define POISE_SHARED_DIR "../shared"
#endif

#define TEST_COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define TEST_SKIPPED      77 // the exit status that CTest reports as "skipped"

// Address of the name that START_TEST declares.
typedef const TTest **test_case;

// Run the tests of the table and print a line for each failure and a closing line. The exit status for main.
static inline int test_run(const char *suite_name, const test_case *tests, size_t count)
{
    Suite *suite = suite_create(suite_name);
    for (size_t i = 0; i < count; ++i) {
        const TTest *test = *tests[i];
        TCase *one = tcase_create(test->name); // a case of its own, so that it can be picked by name
        tcase_add_test(one, test);
        suite_add_tcase(suite, one);
    }
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

// The data beside the repository, which a bare clone lacks. A program that needs a file there begins main with
//
//   if (!test_has_shared("chains/arms.json")) {
//       return test_skip("chains/arms.json");
//   }
static inline bool test_has_shared(const char *path)
{
    char full[4096];
    snprintf(full, sizeof full, "%s/%s", POISE_SHARED_DIR, path);
    FILE *file = fopen(full, "rb");
    if (file) {
        fclose(file);
    }
    return file != NULL;
}

static inline int test_skip(const char *path)
{
    printf("skipped: no %s/%s\n", POISE_SHARED_DIR, path);
    return TEST_SKIPPED;
}

#endif
