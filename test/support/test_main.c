#include "test_main.h"

#include <app/cli/data_files.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>

#define SKIPPED 77 // the exit status that CTest reports as "skipped"

static test_entry *first;
static atomic_long checks;

// Those of a file in the order of their lines, which is not that of constructors everywhere.
void test_register(test_entry *entry)
{
    test_entry **at = &first;
    while (*at && (strcmp((*at)->file, entry->file) != 0 || (*at)->line < entry->line)) {
        at = &(*at)->next;
    }
    entry->next = *at;
    *at = entry;
}

// ---- Assertions ----------------------------------------------------------------------------------------------------------

static const test_entry *running;
static int running_row;
static jmp_buf ended;
enum { ENDED_FAILED = 1, ENDED_LEFT_OUT }; // what comes back through `ended`
static char reason_left_out[sizeof((data_files *)NULL)->line];

void test_count(void)
{
    atomic_fetch_add_explicit(&checks, 1, memory_order_relaxed);
}

void test_fail(const char *file, int line, const char *format, ...)
{
    printf("%s:%d: %s, row %d: ", file, line, running->name, running_row);
    va_list values;
    va_start(values, format);
    vprintf(format, values);
    va_end(values);
    printf("\n");
    fflush(stdout);
    longjmp(ended, ENDED_FAILED);
}

const char *test_data(const char *what)
{
    static char paths[4][sizeof((data_files *)NULL)->path];
    static int calls;
    data_files found = data_find(NULL, what);
    if (found.state == DATA_MISSING) {
        memcpy(reason_left_out, found.line, sizeof reason_left_out);
        longjmp(ended, ENDED_LEFT_OUT);
    }
    ck_assert_msg(found.state == DATA_HERE, "%s", found.line);
    return memcpy(paths[calls++ % 4], found.path, sizeof paths[0]);
}

// ---- What belongs to the running test ------------------------------------------------------------------------------------

typedef struct belonging {
    void (*destroy)(void *what);
    void *what;
    struct belonging *before;
} belonging;

static belonging *latest;

void test_own(void (*destroy)(void *what), void *what)
{
    belonging *one = malloc(sizeof *one);
    *one = (belonging){destroy, what, latest};
    latest = one;
}

void test_sweep(void)
{
    while (latest) {
        belonging *one = latest;
        latest = one->before;
        one->destroy(one->what);
        free(one);
    }
}

// ---- Suites --------------------------------------------------------------------------------------------------------------

// "so3" for ".../test_so3.c".
static void suite_name(const test_entry *entry, char name[64])
{
    const char *slash = strrchr(entry->file, '/'), *base = slash ? slash + 1 : entry->file;
    base += strncmp(base, "test_", 5) == 0 ? 5 : 0;
    snprintf(name, 64, "%.*s", (int)strcspn(base, "."), base);
}

static bool is_of(const test_entry *entry, const char *suite)
{
    char name[64];
    suite_name(entry, name);
    return strcmp(name, suite) == 0;
}

typedef struct tally {
    int run, left_out, failed;
    char reason[sizeof reason_left_out]; // of the first that was left out
} tally;

// How one row of a test ended: 0 where it holds.
static int run_row(const test_entry *entry, int row)
{
    running = entry;
    running_row = row;
    int how = setjmp(ended);
    if (how == 0) {
        if (entry->data) {
            test_data(entry->data);
        }
        entry->run(row);
    }
    test_sweep();
    return how;
}

static void run_test(const test_entry *entry, tally *sum)
{
    const char *only = getenv("TEST_ONLY"), *lack = entry->lack ? entry->lack() : NULL;
    if (only && strcmp(only, entry->name) != 0) {
        return;
    }
    int failed = 0, left_out = lack != NULL;
    snprintf(reason_left_out, sizeof reason_left_out, "%s", lack ? lack : "");
    for (int row = 0; row < entry->rows && !lack; ++row) {
        int how = run_row(entry, row);
        failed += how == ENDED_FAILED;
        left_out += how == ENDED_LEFT_OUT;
    }
    if (left_out > 0 && sum->left_out == 0) {
        memcpy(sum->reason, reason_left_out, sizeof sum->reason);
    }
    sum->left_out += left_out > 0 && failed == 0;
    sum->run += left_out == 0 || failed > 0;
    sum->failed += failed > 0;
}

static void run_suite(const char *name, tally *sum)
{
    tally own = {0};
    long before = atomic_load(&checks);
    for (const test_entry *entry = first; entry; entry = entry->next) {
        if (is_of(entry, name)) {
            run_test(entry, &own);
        }
    }
    if (own.run > 0) {
        printf("%s: %d tests, %d failed, %ld assertions\n", name, own.run, own.failed, atomic_load(&checks) - before);
    }
    if (own.left_out > 0) {
        printf(own.run > 0 ? "%s: left out %d of %d tests: %s\n" : "%s: skipped %d of %d tests: %s\n", name, own.left_out,
               own.left_out + own.run, own.reason);
    }
    sum->failed += own.failed;
    sum->run += own.run;
    sum->left_out += own.left_out;
}

// Is it the first test of its suite?
static bool opens_suite(const test_entry *entry, const char *name)
{
    for (const test_entry *before = first; before != entry; before = before->next) {
        if (is_of(before, name)) {
            return false;
        }
    }
    return true;
}

int main(int count, char **arguments)
{
    tally sum = {0};
    for (int i = 1; i < count; ++i) {
        run_suite(arguments[i], &sum);
    }
    for (const test_entry *entry = first; entry && count < 2; entry = entry->next) {
        char name[64];
        suite_name(entry, name);
        if (opens_suite(entry, name)) {
            run_suite(name, &sum);
        }
    }
    if (sum.run + sum.left_out == 0) {
        printf("no such suite\n");
        return EXIT_FAILURE;
    }
    return sum.failed > 0 ? EXIT_FAILURE : sum.run > 0 ? EXIT_SUCCESS : SKIPPED;
}
