#include "test_main.h"

#include <stdatomic.h>
#include <string.h>

#define SKIPPED 77 // the exit status that CTest reports as "skipped"

static test_entry *first, **end = &first;
static atomic_long checks;

void test_register(test_entry *entry)
{
    *end = entry;
    end = &entry->next;
}

// In place of Check's, which writes to a file for every assertion that holds: the last place before a crash, which only a
// process that forks can report.
void __wrap__mark_point(const char *file, int line);

void __wrap__mark_point(const char *file, int line)
{
    (void)file, (void)line;
    atomic_fetch_add_explicit(&checks, 1, memory_order_relaxed);
}

bool test_has_shared(const char *path)
{
    char full[4096];
    snprintf(full, sizeof full, "%s/%s", POISE_SHARED_DIR, path);
    FILE *file = fopen(full, "rb");
    if (file) {
        fclose(file);
    }
    return file != NULL;
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
    const char *slash = strrchr(entry->test.file, '/'), *base = slash ? slash + 1 : entry->test.file;
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

static void run_suite(const char *name, tally *sum)
{
    Suite *suite = suite_create(name);
    tally own = {0};
    for (test_entry *entry = first; entry; entry = entry->next) {
        char reason[256];
        if (!is_of(entry, name)) {
            continue;
        }
        if (lacks(entry, reason)) {
            snprintf(own.reason, sizeof own.reason, "%s", own.left_out == 0 ? reason : own.reason);
            own.left_out += 1;
            continue;
        }
        TCase *one = tcase_create(entry->test.name); // a case of its own, so that it can be picked by name
        tcase_add_checked_fixture(one, NULL, test_sweep);
        tcase_add_loop_test(one, &entry->test, 0, entry->rows);
        suite_add_tcase(suite, one);
        own.run += 1;
    }
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    if (own.run > 0) {
        long before = atomic_load(&checks);
        srunner_run_all(runner, CK_NORMAL);
        printf("%s: %ld assertions\n", name, atomic_load(&checks) - before);
    }
    if (own.left_out > 0) {
        printf(own.run > 0 ? "%s: left out %d of %d tests: %s\n" : "%s: skipped %d of %d tests: %s\n", name, own.left_out,
               own.left_out + own.run, own.reason);
    }
    sum->failed += srunner_ntests_failed(runner);
    sum->run += own.run;
    sum->left_out += own.left_out;
    srunner_free(runner);
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
