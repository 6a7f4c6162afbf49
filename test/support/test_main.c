#include "test_main.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>

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
static jmp_buf failed;

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
    longjmp(failed, 1);
}

bool test_has_shared(const char *path)
{
    char full[4096];
    snprintf(full, sizeof full, "%s/%s", POISE_SHARED_DIR, path);
    struct stat status; // a folder cannot be opened everywhere
    return stat(full, &status) == 0;
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

// Why a test cannot run, in `reason`; false if it can.
static bool lacks(const test_entry *entry, char reason[256])
{
    const char *said = entry->lack ? entry->lack() : NULL;
    if (entry->data && !test_has_shared(entry->data)) {
        snprintf(reason, 256, "no %s/%s", POISE_SHARED_DIR, entry->data);
        return true;
    }
    snprintf(reason, 256, "%s", said ? said : "");
    return said != NULL;
}

typedef struct tally {
    int run, left_out, failed;
    char reason[256]; // of the first that was left out
} tally;

// Does one row of a test hold?
static bool holds(const test_entry *entry, int row)
{
    running = entry;
    running_row = row;
    bool passed = setjmp(failed) == 0;
    if (passed) {
        entry->run(row);
    }
    test_sweep();
    return passed;
}

static void run_test(const test_entry *entry, tally *sum)
{
    const char *only = getenv("TEST_ONLY");
    if (only && strcmp(only, entry->name) != 0) {
        return;
    }
    int bad = 0;
    for (int row = 0; row < entry->rows; ++row) {
        bad += !holds(entry, row);
    }
    sum->run += 1;
    sum->failed += bad > 0;
}

static void run_suite(const char *name, tally *sum)
{
    tally own = {0};
    long before = atomic_load(&checks);
    for (const test_entry *entry = first; entry; entry = entry->next) {
        char reason[256];
        if (!is_of(entry, name)) {
            continue;
        }
        if (!lacks(entry, reason)) {
            run_test(entry, &own);
            continue;
        }
        if (own.left_out == 0) {
            memcpy(own.reason, reason, sizeof reason);
        }
        own.left_out += 1;
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
