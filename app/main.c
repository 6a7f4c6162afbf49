// poise: one program, a command for each job.
#include "commands.h"
#include "files.h"
#include "help.h"
#include "terminal.h"

#include <poise/base.h>

#include <stdio.h>
#include <string.h>

static app_exit run_command(const app_command *command, int count, char **words)
{
    bool asks = count > 0 && (strcmp(words[0], "--help") == 0 || strcmp(words[0], "-h") == 0);
    if (command->run_words && !asks) {
        return command->run_words(count, words);
    }
    arguments *args = arguments_parse(command, count, words);
    if (!args) {
        return APP_BAD;
    }
    app_exit status = APP_DONE;
    if (option_given(args, "help")) {
        help_command(stdout, command);
    } else {
        status = command->run(args);
    }
    progress_end();
    arguments_destroy(args);
    return status;
}

int main(int count, char **words)
{
    files_clean_up_on_signals();
    app_exit status = APP_DONE;
    const char *name = count > 1 ? words[1] : NULL;
    const app_command *command = name ? app_find_command(name) : NULL;
    if (command) {
        status = run_command(command, count - 2, words + 2);
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
