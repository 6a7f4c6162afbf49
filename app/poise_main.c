// poise: one program, a command for each job.
#include "cli/files.h"
#include "commands/commands.h"

#include <poise/base.h>

#include <stdio.h>
#include <string.h>

int main(int count, char **words)
{
    system_begin();
    files_clean_up_on_signals();
    app_exit status = APP_DONE;
    const char *name = count > 1 ? words[1] : NULL;
    const app_command *command = name ? app_find_command(name) : NULL;
    if (command) {
        status = app_run(command, count - 2, words + 2);
    } else if (!name) {
        help_overview(stderr);
        status = APP_BAD;
    } else if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        help_overview(stdout);
    } else if (strcmp(name, "--version") == 0) {
        printf("poise %s\n", poise_version());
    } else {
        complain_of_command(name);
        status = APP_BAD;
    }
    return files_flush_output() ? (int)status : APP_BAD;
}
