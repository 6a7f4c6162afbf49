// The command line of one command: its arguments and options, checked against a table.
//
// Options are --name VALUE, --name=VALUE, -l VALUE or -lVALUE; flags are --name or -l. `--` ends the options. A word that
// begins with a negative number is a value, not an option.
#ifndef POISE_CLI_COMMAND_H
#define POISE_CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef enum app_option_kind {
    OPTION_FLAG = 0,
    OPTION_TEXT,
    OPTION_FILE,   // a file to read, by which completion knows it; "-" is a standard stream
    OPTION_OUTPUT, // a file to write; checked before the work: its folder, its extension, that it is no file to read
    OPTION_NUMBER, // a finite number within [lowest, highest]
    OPTION_UNIT,   // metres, as a number or by a unit's name
    OPTION_COUNT,  // a whole one
    OPTION_CHOICE  // one of the words in `choices`
} app_option_kind;

typedef struct app_option {
    const char *name; // without the dashes; NULL ends a table
    char letter;      // 0: none
    app_option_kind kind;
    const char *value;      // what help calls the value: "FILE"; NULL for flags
    const char *help;       // one sentence without a full stop, with the default where there is one
    const char *choices;    // words separated by spaces; of an output, its extensions
    const char *also;       // choices that are accepted but not listed
    double lowest, highest; // of numbers and counts; both 0: any
    bool repeats;           // may be given more than once
    const char *alias;      // other names that it is known by, words separated by spaces
    bool is_old;            // accepted, but neither listed nor suggested: what it said is said by other options now
} app_option;

// The options that every command has.
const app_option *arguments_common_options(void);

typedef struct arguments arguments;

// Check the words after the command's name. NULL after one line on standard error. Release with arguments_destroy; the words
// must stay valid.
struct app_command;
arguments *arguments_parse(const struct app_command *command, int count, char **words);
void arguments_destroy(arguments *args); // NULL is allowed

const struct app_command *arguments_command(const arguments *args);

// The words themselves.
char *const *arguments_words(const arguments *args, int *count);

// The arguments that are no options. NULL beyond the last.
int arguments_count(const arguments *args);
const char *arguments_at(const arguments *args, int index);

// Can this file be written: an output among the arguments? False after one line on standard error. For options of the kind
// OUTPUT this was done when they were parsed.
bool arguments_check_output(const arguments *args, const char *name, const char *extensions);

// Options by name. Asking for one that the command's table does not have, or as another kind, is a mistake of the program
// and stops it. The last value counts where one is given more than once.
bool option_given(const arguments *args, const char *name);
const char *option_text(const arguments *args, const char *name, const char *otherwise); // text, files, choices
double option_number(const arguments *args, const char *name, double otherwise);
int option_count(const arguments *args, const char *name, int otherwise);

// Value number `index` of an option that may be repeated; NULL beyond the last.
const char *option_text_at(const arguments *args, const char *name, int index);

// Does the user want JSON?
bool arguments_json(const arguments *args);

// ---- Numbers that users type ---------------------------------------------------------------------------------------------

// A finite number, the whole of `text`. False when it is not one.
bool parse_number(const char *text, double *number);

// A unit of length in metres: one of m cm mm in ft, or a number from 1e-9 to 1e9.
bool parse_unit(const char *text, double *metres);

// The numbers in a text, separated by spaces or commas: how many there are, of which `numbers` takes up to `capacity`; -1
// when something else is in it.
int parse_numbers(const char *text, double *numbers, int capacity);

// "; did you mean "NAME"?" with the nearest of these words, which are separated by spaces; empty when none is near.
const char *did_you_mean(const char *words, const char *text, char *hint, size_t size);

// ---- A command of the tool -----------------------------------------------------------------------------------------------
//
// Each is one file <name>.c with one table like this, listed in commands/help.c. Help, manual
// pages and shell completion are made from the tables, so that they say what the program does.

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

// ---- Pages of help, made from the table of a command or the text of a topic ----------------------------------------------

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
