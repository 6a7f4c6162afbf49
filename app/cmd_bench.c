// poise bench: runs poise-bench, a program of its own, since the rivals in it are large and start slowly.
#include "commands.h"
#include "programs.h"
#include "terminal.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static app_exit run_words(int count, char **words)
{
    static const char *const places[] = {"poise-bench", NULL};
    char path[PATH_MAX];
    if (!find_beside_program(places, path, sizeof path)) {
        complain("bench: there is no poise-bench beside this program; it is not installed: run build/bin/poise bench");
        return APP_BAD;
    }
    char **all = calloc((size_t)count + 2, sizeof *all);
    if (!all) {
        complain("no memory left");
        return APP_BAD;
    }
    all[0] = (char *)"poise bench";
    memcpy(all + 1, words, sizeof *all * (size_t)count);
    execv(path, all);
    complain("%s: cannot be run: %s", path, strerror(errno));
    free(all);
    return APP_BAD;
}

// What help shows; poise-bench reads them itself, and has more.
static const app_option options[] = {
    {.name = "peers", .help = "run the rivals too, where they are built in"},
    {.name = "quick", .help = "all suites in seconds: to see that they work, not to quote"},
    {.name = "list", .help = "name the suites and their tables"},
    {.name = "tables", .kind = OPTION_TEXT, .value = "A,B", .help = "these tables of the suites only"},
    {.name = "rounds", .kind = OPTION_COUNT, .value = "N", .help = "runs, of which the fastest counts"},
    {.name = "threads", .kind = OPTION_COUNT, .value = "N", .help = "threads of the suites that use several"},
    {.name = "data", .kind = OPTION_FILE, .value = "FOLDER", .help = "recordings for hdm05 and fits"},
    {.name = "robots", .kind = OPTION_FILE, .value = "FOLDER", .help = "robots for kinematics, arms and arm-batches"},
    {.name = "markdown", .help = "print Markdown instead of tables"},
    {.name = "save", .kind = OPTION_FILE, .value = "FILE", .help = "write the JSON there, whatever is printed"},
    {0},
};

static const app_example examples[] = {
    {"The suites", "poise bench --list"},
    {"One of them, just to see it work", "poise bench scaling --quick"},
    {0},
};

const app_command cmd_bench = {
    .name = "bench",
    .synopsis = "[SUITE ...]",
    .most = -1,
    .summary = "how fast and how good: tables, with rivals in the same run",
    .description = "Runs suites of benchmarks, all unless some are named. Every row has quality beside speed. \"poise-bench "
                   "--help\" lists the options of single suites; docs/performance.md explains the tables.",
    .options = options,
    .examples = examples,
    .run_words = run_words,
};
