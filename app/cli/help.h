// Help, manual pages and shell completion, all made from the tables of the commands.
#ifndef APP_HELP_H
#define APP_HELP_H

#include "command.h"

#include <stdio.h>

// The page that "poise" alone shows.
void help_overview(FILE *stream);

// The page of one command, or of a topic.
void help_command(FILE *stream, const app_command *command);
void help_topic(FILE *stream, const app_topic *topic);

// An example after `indent` spaces, cut into lines of a shell where it is wider than `columns`, with `backslash` at their
// ends.
void help_example(FILE *stream, const char *command, int indent, int columns, const char *backslash);

// "poise.1" for NULL, "poise-NAME.1" for a command, in the language of man.
void help_manual(FILE *stream, const app_command *command);

// Completion for "bash" or "zsh"; false for another shell.
bool help_completion(FILE *stream, const char *shell);

#endif
