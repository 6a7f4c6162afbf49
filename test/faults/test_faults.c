// Faults: every public call that takes memory, with the n-th request failing for every n, once and for good. Each time the
// answer is POISE_ERROR_MEMORY with words, outputs are untouched and nothing leaks.
//
// The tables of faults.h have one row for each call. One test reads the public headers and fails for a call without a row.
#include "faults.h"
#include "support/meter.h"
#include "support/test_main.h"

#include <dirent.h>
#include <string.h>

#define MOST 20000

static const fault_row *const tables[] = {solve_faults, motion_faults, edit_faults, io_faults};

#define TABLES (sizeof tables / sizeof tables[0])

// The n-th request fails, alone or with all that follow. Returns false when there was no n-th request any more.
static bool fails_well(const fault_row *row, int n, bool for_good)
{
    meter m = {.fail_from = n, .fail_to = for_good ? MOST : n};
    poise_allocator allocator = {meter_allocate, meter_release, &m};
    poise_error error = {.text = ""};
    poise_status status = row->run(&allocator, &error);
    ck_assert_msg(m.live == 0, "%s, request %d: %d blocks left", row->call, n, m.live);
    if (m.requests < n) {
        ck_assert_msg(status == POISE_OK, "%s: %s", row->call, error.text);
        return false;
    }
    ck_assert_msg(status == POISE_ERROR_MEMORY, "%s, request %d: %s", row->call, n, poise_status_name(status));
    ck_assert_msg(row->is_silent || (error.status == status && error.text[0] != '\0'), "%s, request %d: no words", row->call,
                  n);
    return true;
}

// Returns how many requests the call makes.
static int every_request_fails_once(const fault_row *row)
{
    int n = 1;
    while (fails_well(row, n, false)) {
        fails_well(row, n, true);
        n += 1;
        ck_assert_int_lt(n, MOST);
    }
    return n - 1;
}

TEST(every_call_that_takes_memory_survives_every_request_that_fails)
{
    open_stage();
    for (size_t t = 0; t < TABLES; ++t) {
        for (const fault_row *row = tables[t]; row->call; ++row) {
            ck_assert_msg(!row->run || every_request_fails_once(row) >= 1, "%s asks for no memory", row->call);
        }
    }
    close_stage();
}

// ---- No call is forgotten ------------------------------------------------------------------------------------------------

// How many rows a call has.
static int count_rows(const char *name, size_t length)
{
    int count = 0;
    for (size_t t = 0; t < TABLES; ++t) {
        for (const fault_row *row = tables[t]; row->call; ++row) {
            count += strlen(row->call) == length && strncmp(row->call, name, length) == 0;
        }
    }
    return count;
}

// Every declaration "POISE_API ... name(... const poise_allocator * ...);" of a header. Returns how many there are.
static int check_header(const char *text)
{
    int found = 0;
    for (const char *at = strstr(text, "POISE_API "); at; at = strstr(at + 1, "POISE_API ")) {
        const char *end = strchr(at, ';'), *open = strchr(at, '(');
        const char *allocator = strstr(at, "const poise_allocator *");
        if (!end || !open || open > end || !allocator || allocator > end) {
            continue; // takes no memory, or is the macro itself
        }
        const char *name = open;
        while (name > at &&
               (name[-1] == '_' || (name[-1] >= 'a' && name[-1] <= 'z') || (name[-1] >= '0' && name[-1] <= '9'))) {
            name -= 1;
        }
        found += 1;
        int count = count_rows(name, (size_t)(open - name));
        ck_assert_msg(count == 1, "%.*s takes an allocator and has %d rows", (int)(open - name), name, count);
    }
    return found;
}

static char *load(const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", POISE_HEADERS_DIR, name);
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "%s", path);
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    rewind(file);
    char *text = calloc(1, size + 1);
    ck_assert_uint_eq(fread(text, 1, size, file), size);
    fclose(file);
    return text;
}

TEST(every_public_call_with_an_allocator_has_a_row)
{
    DIR *folder = opendir(POISE_HEADERS_DIR);
    ck_assert_ptr_nonnull(folder);
    int found = 0;
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        if (strstr(entry->d_name, ".h")) {
            char *text = load(entry->d_name);
            found += check_header(text);
            free(text);
        }
    }
    closedir(folder);
    for (size_t t = 0; t < TABLES; ++t) {
        for (const fault_row *row = tables[t]; row->call; ++row) {
            found -= 1;
        }
    }
    ck_assert_int_eq(found, 0); // and no row without a call
}
