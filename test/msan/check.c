// What tests use of Check's library, for the memory sanitizer: that sees only the writes of code compiled with it, so
// Check's own would be missed. All tests in one process; CK_RUN_CASE picks one.
#include <check.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct TCase {
    const TTest *test;
    int from, to; // rows
    SFun teardown;
    TCase *next;
};

struct Suite {
    const char *name;
    TCase *first, **end;
};

struct SRunner {
    Suite *suite;
    int failed;
};

static const TTest *running;
static jmp_buf start;

static void *take(size_t size)
{
    void *memory = calloc(1, size);
    if (!memory) {
        abort();
    }
    return memory;
}

Suite *suite_create(const char *name)
{
    Suite *suite = take(sizeof *suite);
    suite->name = name;
    suite->end = &suite->first;
    return suite;
}

TCase *tcase_create(const char *name)
{
    (void)name; // that of its only test
    return take(sizeof(TCase));
}

void _tcase_add_test(TCase *one, const TTest *test, int signal, int status, int from, int to)
{
    (void)signal, (void)status;
    one->test = test;
    one->from = from, one->to = to;
}

void tcase_add_checked_fixture(TCase *one, SFun setup, SFun teardown)
{
    (void)setup;
    one->teardown = teardown;
}

void suite_add_tcase(Suite *suite, TCase *one)
{
    *suite->end = one;
    suite->end = &one->next;
}

SRunner *srunner_create(Suite *suite)
{
    SRunner *runner = take(sizeof *runner);
    runner->suite = suite;
    return runner;
}

void srunner_set_fork_status(SRunner *runner, enum fork_status status)
{
    (void)runner, (void)status;
}

void _mark_point(const char *file, int line)
{
    (void)file, (void)line;
}

void _ck_assert_failed(const char *file, int line, const char *expression, const char *message, ...)
{
    printf("%s:%d: %s: ", file, line, running->name);
    va_list list;
    va_start(list, message);
    if (message) {
        vprintf(message, list);
    } else {
        printf("%s", expression);
    }
    va_end(list);
    printf("\n");
    longjmp(start, 1);
}

void srunner_run_all(SRunner *runner, enum print_output mode)
{
    (void)mode;
    int count = 0;
    const char *only = getenv("CK_RUN_CASE");
    for (const TCase *volatile one = runner->suite->first; one; one = one->next) {
        if (only && strcmp(only, one->test->name) != 0) {
            continue;
        }
        for (volatile int row = one->from; row < one->to; ++row) {
            ++count;
            running = one->test;
            if (setjmp(start) == 0) {
                one->test->fn(row);
            } else {
                ++runner->failed;
            }
            if (one->teardown) {
                one->teardown();
            }
        }
    }
    printf("%s, memory sanitizer: %d checks, %d failures\n", runner->suite->name, count, runner->failed);
}

int srunner_ntests_failed(SRunner *runner)
{
    return runner->failed;
}

void srunner_free(SRunner *runner)
{
    for (TCase *one = runner->suite->first; one;) {
        TCase *next = one->next;
        free(one);
        one = next;
    }
    free(runner->suite);
    free(runner);
}
