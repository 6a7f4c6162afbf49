// The commands, one file cmd_<name>.c each, and the topics of help.
#ifndef APP_COMMANDS_H
#define APP_COMMANDS_H

#include "cli/command.h"

extern const app_command cmd_aim;
extern const app_command cmd_convert;
extern const app_command cmd_fk;
extern const app_command cmd_stream;
extern const app_command cmd_track;
extern const app_command cmd_demo;
extern const app_command cmd_bench;
extern const app_command cmd_help;
extern const app_command cmd_info;
extern const app_command cmd_solve;
extern const app_command cmd_reproduce;
extern const app_command cmd_view;
extern const app_command cmd_warp;

extern const app_topic topic_formats;
extern const app_topic topic_goals;
extern const app_topic topic_scenes;

// Run a command with the words after its name; --help prints its page.
app_exit app_run(const app_command *command, int count, char **words);

// One line on standard error: there is no such command, but perhaps one with a similar name.
void complain_of_command(const char *name);

#endif
