// poise bench: its page. The program poise-bench (bench/) does the work: its baselines are large and start slowly.
#include "command.h"

#include <stddef.h>

// What help shows; poise-bench reads them itself, and has more.
static const app_option options[] = {
    {"peers", .help = "also run the baselines that are built in"},
    {"quick", .help = "run in seconds: to see that it works, not to quote"},
    {"list", .help = "list the suites and their tables"},
    {"tables", 0, OPTION_TEXT, "A,B", .help = "only these tables of the suites"},
    {"rounds", 0, OPTION_COUNT, "N", .help = "number of runs; the fastest counts"},
    {"threads", 0, OPTION_COUNT, "N", .help = "threads for suites that use several"},
    {"data", 0, OPTION_FILE, "FOLDER",
     .help = "recordings and robots of others (docs/data.md); without them what needs them is left out (environment "
             "POISE_DATA)"},
    {"markdown", .help = "print Markdown instead of tables"},
    {"save", 0, OPTION_OUTPUT, "FILE", .help = "also write the results as JSON"},
    {"draw", 0, OPTION_FILE, "FILE",
     .help = "run nothing: throughput against batch size from JSON of gpu-arms, as SVG to -o"},
    {"output", 'o', OPTION_OUTPUT, "FILE", .help = "where --draw writes"},
    {0},
};

static const app_example examples[] = {
    {"List the suites", "poise bench --list"},
    {"Try one", "poise bench scaling --quick"},
    {0},
};

const app_command cmd_bench = {
    .name = "bench",
    .synopsis = "[SUITE ...]",
    .most = -1,
    .summary = "measure speed and accuracy beside other solvers",
    .description =
        "Runs benchmark suites, all unless some are named. Every row shows quality beside speed. \"gpu\" stands for all "
        "suites of a CUDA device (gpu-arms and so on); without a device they say so.\n\n"
        "\"poise-bench --help\" lists the options of single suites; docs/performance.md and docs/scale.md explain the "
        "tables.",
    .options = options,
    .examples = examples,
    .program = "poise-bench",
};
