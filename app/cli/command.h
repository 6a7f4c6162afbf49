// A command of the tool. Each is one file cmd_<name>.c with one table like this, listed in commands/commands.c. Help, manual
// pages and shell completion are made from the tables, so that they say what the program does.
#ifndef APP_COMMAND_H
#define APP_COMMAND_H

#include "arguments.h"

// Exit status. DONE: the job is done. MISSED: it ran, and a goal was not reached. BAD: wrong use or input; one line on
// standard error says what is wrong and how to fix it.
typedef enum app_exit { APP_DONE = 0, APP_MISSED = 1, APP_BAD = 2 } app_exit;

typedef struct app_example {
    const char *what;    // one line, no full stop; NULL ends the list
    const char *command; // as typed in a shell; tests run it, in the order of the list, in one folder
} app_example;

typedef struct app_command {
    const char *name;
    const char *synopsis;        // the arguments after the options: "MODEL MARKERS"
    int least, most;             // how many arguments that is; most < 0: any number
    const char *summary;         // one line, no full stop
    const char *description;     // paragraphs separated by an empty line; a line that begins with a space is kept as it is
    const app_option *options;   // ends with a NULL name; every command has --json and --help as well
    const app_example *examples; // ends with a NULL `what`
    bool waits;                  // its examples go on until they are interrupted
    app_exit (*run)(const arguments *args);
    const char *program; // in place of `run`: a program beside this one that takes the words as they are
} app_command;

// A page of help that is no command: `poise help goals`.
typedef struct app_topic {
    const char *name, *summary, *text; // text as `description` above
} app_topic;

// Run a command with the words after its name; --help prints its page.
app_exit app_run(const app_command *command, int count, char **words);

// The same with another function in place of command->run: for the programs of commands that name one.
app_exit app_run_with(const app_command *command, app_exit (*run)(const arguments *args), int count, char **words);

// Commands that programs of their own do: their tables, which both sides read.
extern const app_command cmd_bench;
extern const app_command cmd_reproduce;

#endif
