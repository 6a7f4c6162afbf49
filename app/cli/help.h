// Pages of help, made from the table of a command or the text of a topic.
#ifndef APP_HELP_H
#define APP_HELP_H

#include "command.h"

#include <stdio.h>

// The page of one command, or of a topic.
void help_command(FILE *stream, const app_command *command);
void help_topic(FILE *stream, const app_topic *topic);

// What an option does, with its choices, or with the extensions of the file it writes.
void help_of_option(char *text, size_t size, const app_option *option);

// The headline of a part of a page.
void help_head(FILE *stream, const char *text);

// An example after `indent` spaces, cut into lines of a shell where it is wider than `columns`, with `backslash` at their
// ends.
void help_example(FILE *stream, const char *command, int indent, int columns, const char *backslash);

#endif
