// Files and programs beside this one, and the processes that share its job.
#include "programs.h"
#include "command.h"
#include "system/system.h"
#include "terminal.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool find_beside_program(const char *const *places, char *path, size_t size)
{
    char program[PATH_MAX];
    if (!system_program_path(program, sizeof program)) {
        return false;
    }
    *strrchr(program, '/') = '\0';
    for (; *places; ++places) {
        if (snprintf(path, size, "%s/%s", program, *places) < (int)size && access(path, R_OK) == 0) {
            return true;
        }
    }
    return false;
}

void become_program(const char *path, const char *name, const char *command, int count, char *const *words)
{
    char **all = needed(calloc((size_t)count + 3, sizeof *all));
    int given = 0;
    all[given++] = (char *)name;
    if (command) {
        all[given++] = (char *)command;
    }
    for (int i = 0; i < count; ++i) {
        all[given++] = words[i];
    }
    system_become(path, all);
    complain("%s: cannot be run: %s", path, strerror(errno));
    free(all);
}

void become_device_program(const arguments *args, const char *command)
{
    static const char *const places[] = {"poise-cuda", NULL};
    char path[PATH_MAX];
    int count;
    char *const *words = arguments_words(args, &count);
    if (!ranks_are_unset()) {
        complain("--device cuda is for one process: poise %s, not poise-mpi", command);
    } else if (!find_beside_program(places, path, sizeof path)) {
        complain("there is no poise-cuda beside this program: build with a CUDA compiler, -DPOISE_BUILD_CUDA=ON, or leave "
                 "--device cuda out");
    } else {
        become_program(path, "poise-cuda", command, count, words);
    }
}

// ---- poise bench: its page -----------------------------------------------------------------------------------------------

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

// ---- poise reproduce: its page and its options ---------------------------------------------------------------------------

static const app_option cmd_reproduce_options[] = {
    {"data", 0, OPTION_FILE, "FOLDER",
     .help = "the data folder (tools/data.sh), with recordings of HDM05 in hdm05/ (HDM_dg.asf, HDM_dg_03-05_02_120.amc and "
             ".c3d ...); what is not there is replaced, and the output says by what (environment POISE_DATA)"},
    {"output", 'o', OPTION_FILE, "FOLDER", .help = "folder for CSV and SVG files (reproduce)"},
    {"full", .help = "all frames and samples; an interrupted ERIK evaluation continues"},
    {"every", 0, OPTION_COUNT, "K", .lowest = 1, .highest = 1000000,
     .help = "hessian tables and sweep: one frame in K; of a motion, pieces spread over it"},
    {"samples", 0, OPTION_COUNT, "N", .lowest = 1, .highest = 1000000000,
     .help = "samples of each ERIK skeleton (100000); frames of each convergence panel"},
    {"threads", 0, OPTION_COUNT, "N", .lowest = 1, .highest = 256, .help = "number of threads (all)"},
    {0},
};

static const app_example cmd_reproduce_examples[] = {
    {.what = "List what is available", .command = "poise reproduce"},
    {.what = "Definiteness of the Hessian of two links", .command = "poise reproduce hessian-a10 -o figures"},
    {.what = "A quick look at the errors of ERIK", .command = "poise reproduce erik-table9 --samples 2000 -o figures"},
    {0},
};

const app_command cmd_reproduce = {
    .name = "reproduce",
    .synopsis = "[NAME... | all]",
    .most = -1,
    .summary = "reproduce the papers' tables and figures",
    .description =
        "Reproduces tables and figures of the papers: prints our numbers beside the printed ones and writes CSV and SVG "
        "files. Without a name, it lists what is available.\n\n"
        "By default it takes a sample, which needs seconds; --full takes everything. The same command gives the same "
        "files for any number of threads; machine-dependent times go into separate files that end in -times.csv.\n\n"
        "A full ERIK evaluation leaves *.progress files in the output folder; an interrupted run continues from them.",
    .options = cmd_reproduce_options,
    .examples = cmd_reproduce_examples,
    .program = "poise-reproduce",
};

// ---- The ranks: a single process -----------------------------------------------------------------------------------------

static atomic_int counter;

static void start(void)
{
    atomic_store(&counter, 0);
}

static int next(void)
{
    return atomic_fetch_add(&counter, 1);
}

static int most(int value)
{
    return value;
}

static bool agree(bool works)
{
    return works;
}

static void share(void *bytes, size_t size)
{
    (void)bytes;
    (void)size;
}

static void collect(int count, const bool *mine, void *items, size_t size)
{
    (void)count;
    (void)mine;
    (void)items;
    (void)size;
}

// What pieces have said before those ahead of them: messages and output, each with its end.
static struct {
    char **text;
    int count, printed;
} said;

static void listen(int count)
{
    said.text = needed(calloc((size_t)count + 1, sizeof *said.text));
    said.count = count;
    said.printed = 0;
}

static void say(int piece, const char *messages, const char *output)
{
    size_t first = strlen(messages) + 1, second = strlen(output) + 1;
    said.text[piece] = needed(malloc(first + second));
    memcpy(said.text[piece], messages, first);
    memcpy(said.text[piece] + first, output, second);
    for (char *text; said.printed < said.count && (text = said.text[said.printed]) != NULL; ++said.printed) {
        fputs(text, stderr);
        fputs(text + strlen(text) + 1, stdout);
        fflush(stdout);
        free(text);
    }
}

static void hear_out(void)
{
    free(said.text);
    said.text = NULL;
}

static const ranks alone = {0, 1, start, next, most, agree, share, collect, listen, say, hear_out};
static const ranks *joined = &alone;

const ranks *ranks_current(void)
{
    return joined;
}

void ranks_join(const ranks *r)
{
    joined = r;
}

bool rank_leads(void)
{
    return joined->rank == 0;
}

bool ranks_are_unset(void)
{
    return joined == &alone;
}
