// poise bench: runs poise-bench, a program of its own, since the rivals in it are large and start slowly; and draws what it
// has saved.
#include "bench_picture.h"
#include "cli/programs.h"
#include "cli/terminal.h"
#include "commands.h"

#include <limits.h>
#include <string.h>

static app_exit draw(int count, char **words)
{
    arguments *args = arguments_parse(&cmd_bench, count, words);
    if (!args) {
        return APP_BAD;
    }
    app_exit status = APP_BAD;
    if (!option_given(args, "output") || arguments_count(args) > 0) {
        complain("bench: --draw goes with -o alone: poise bench --draw REPORT.json -o FILE.svg");
    } else if (draw_bench(option_text(args, "draw", NULL), option_text(args, "output", NULL))) {
        status = APP_DONE;
    }
    arguments_destroy(args);
    return status;
}

static app_exit run_words(int count, char **words)
{
    for (int i = 0; i < count; ++i) {
        if (strcmp(words[i], "--draw") == 0) {
            return draw(count, words);
        }
    }
    static const char *const places[] = {"poise-bench", NULL};
    char path[PATH_MAX];
    if (!find_beside_program(places, path, sizeof path)) {
        complain("bench: there is no poise-bench beside this program; it is not installed: run build/bin/poise bench");
        return APP_BAD;
    }
    become_program(path, "poise bench", NULL, count, words);
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
    {.name = "robots",
     .kind = OPTION_FILE,
     .value = "FOLDER",
     .help = "robots for kinematics, arms, arm-batches and gpu-arms"},
    {.name = "markdown", .help = "print Markdown instead of tables"},
    {.name = "save", .kind = OPTION_FILE, .value = "FILE", .help = "write the JSON there, whatever is printed"},
    {.name = "draw",
     .kind = OPTION_FILE,
     .value = "FILE",
     .help = "run nothing: throughput against batch size from JSON of gpu-arms, as SVG to -o"},
    {.name = "output", .letter = 'o', .kind = OPTION_FILE, .value = "FILE", .help = "where --draw writes"},
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
    .description =
        "Runs suites of benchmarks, all unless some are named. Every row has quality beside speed. \"gpu\" stands "
        "for all suites of a CUDA device, gpu-arms and so on; without a device they say so.\n\n"
        "\"poise-bench --help\" lists the options of single suites; docs/performance.md and docs/scale.md explain "
        "the tables.",
    .options = options,
    .examples = examples,
    .run_words = run_words,
};
