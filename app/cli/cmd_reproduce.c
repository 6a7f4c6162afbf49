// poise reproduce: its page and its options. The program poise-reproduce (papers/reproduce/) does the work.
#include "command.h"

#include <stddef.h>

static const app_option options[] = {
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

static const app_example examples[] = {
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
    .options = options,
    .examples = examples,
    .program = "poise-reproduce",
};
