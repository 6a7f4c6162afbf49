// What a command of the tool is. A command is one file cmd_<name>.c with one table like this, listed in commands.c; help,
// manual pages and shell completion are made from it, so that they say what the program does.
#ifndef APP_COMMAND_H
#define APP_COMMAND_H

#include "arguments.h"

// Exit status. DONE: the job is done. MISSED: it ran, and a goal was not reached. BAD: wrong use or input; one line on
// standard error says what and how to mend it.
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
    const char *description;     // paragraphs parted by an empty line; a line that begins with a space is kept as it is
    const app_option *options;   // ends with a NULL name; every command has --json and --help as well
    const app_example *examples; // ends with a NULL `what`
    bool waits;                  // its examples go on until they are interrupted
    app_exit (*run)(const arguments *args);
    app_exit (*run_words)(int count, char **words); // in place of `run`: takes the words as they are
} app_command;

// A page of help that is no command: `poise help goals`.
typedef struct app_topic {
    const char *name, *summary, *text; // text as `description` above
} app_topic;

extern const app_command *const app_commands[]; // ends with NULL
extern const app_topic *const app_topics[];     // ends with NULL

const app_command *app_find_command(const char *name); // NULL: there is none

#endif
