// One command, from its words to its exit status.
#include "commands/commands.h"
#include "help.h"
#include "terminal.h"

#include <stdio.h>
#include <string.h>

app_exit app_run(const app_command *command, int count, char **words)
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
