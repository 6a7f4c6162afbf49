// One command, from its words to its exit status.
#include "help.h"
#include "programs.h"
#include "terminal.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

app_exit app_run_with(const app_command *command, app_exit (*run)(const arguments *args), int count, char **words)
{
    arguments *args = arguments_parse(command, count, words);
    if (!args) {
        return APP_BAD;
    }
    app_exit status = APP_DONE;
    if (option_given(args, "help")) {
        help_command(stdout, command);
    } else {
        status = run(args);
    }
    progress_end();
    arguments_destroy(args);
    return status;
}

// Become the program of the command. Returns only when that fails.
static app_exit run_program(const app_command *command, int count, char **words)
{
    const char *const places[] = {command->program, NULL};
    char path[PATH_MAX], name[64];
    snprintf(name, sizeof name, "poise %s", command->name);
    if (find_beside_program(places, path, sizeof path)) {
        become_program(path, name, NULL, count, words);
    } else {
        complain("%s: there is no %s beside this program; \"make\" in a clone of Poise builds it, in build/bin",
                 command->name, command->program);
    }
    return APP_BAD;
}

app_exit app_run(const app_command *command, int count, char **words)
{
    seconds_begin();
    bool asks = count > 0 && (strcmp(words[0], "--help") == 0 || strcmp(words[0], "-h") == 0);
    return command->program && !asks ? run_program(command, count, words)
                                     : app_run_with(command, command->run, count, words);
}
