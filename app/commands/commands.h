// The commands, one file <name>.c each, and the topics of help.
#ifndef APP_COMMANDS_H
#define APP_COMMANDS_H

#include "cli/command.h"

#include <stdio.h>

extern const app_command cmd_aim;
extern const app_command cmd_convert;
extern const app_command cmd_edit;
extern const app_command cmd_fk;
extern const app_command cmd_stream;
extern const app_command cmd_track;
extern const app_command cmd_retarget;
extern const app_command cmd_demo;
extern const app_command cmd_help;
extern const app_command cmd_info;
extern const app_command cmd_solve;
extern const app_command cmd_view;
extern const app_command cmd_scale;
extern const app_command cmd_warp;

extern const app_topic topic_formats;
extern const app_topic topic_goals;
extern const app_topic topic_markers;
extern const app_topic topic_scenes;

// All of them, in the order of help; both end with NULL.
extern const app_command *const app_commands[];
extern const app_topic *const app_topics[];

const app_command *app_find_command(const char *name); // NULL: there is none

// One line on standard error: there is no such command, but perhaps one with a similar name.
void complain_of_command(const char *name);

// ---- Help that is made from all tables -----------------------------------------------------------------------------------

// The page that "poise" alone shows.
void help_overview(FILE *stream);

// "poise.1" for NULL, "poise-NAME.1" for a command, in the language of man.
void help_manual(FILE *stream, const app_command *command);

// Completion for "bash" or "zsh"; false for another shell.
bool help_completion(FILE *stream, const char *shell);

#endif
