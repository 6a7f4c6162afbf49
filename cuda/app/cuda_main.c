// poise-cuda: commands of poise with a CUDA device. `poise ... --device cuda` becomes this program, so that the others need
// nothing of CUDA.
#include "cuda_device.h"

#include "cli/terminal.h"
#include "cli/whole_files.h"
#include "commands/commands.h"
#include "research/run_reproduce.h"

#include <poise/base.h>

#include <stdio.h>
#include <string.h>

static const char usage[] =
    " poise reproduce NAME... --device cuda [OPTION]...\n"
    " poise track --jobs-from LIST --device cuda [OPTION]...\n"
    "\n"
    "This program belongs to poise, which runs it for commands with --device cuda. Options: \"poise help reproduce\" and "
    "\"poise help track\".\n";

int main(int count, char **words)
{
    system_begin();
    files_clean_up_on_signals();
    device_join(&cuda_device);
    track_device_join(&cuda_track_device);
    app_exit status = APP_DONE;
    const char *name = count > 1 ? words[1] : "";
    if (strcmp(name, "reproduce") == 0) {
        status = run_reproduce(count - 2, words + 2);
    } else if (strcmp(name, "track") == 0) {
        status = app_run(&cmd_track, count - 2, words + 2);
    } else if (strcmp(name, "--version") == 0) {
        printf("poise-cuda %s\n", poise_version());
    } else if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        print_wrapped(stdout, usage, 0, terminal_columns(stdout));
    } else {
        complain("poise-cuda runs \"reproduce\" and \"track\"; see poise-cuda --help");
        status = APP_BAD;
    }
    return files_flush_output() ? (int)status : APP_BAD;
}
