// The command line of one command: its arguments and options, checked against a table.
//
// Options are --name VALUE, --name=VALUE, -l VALUE or -lVALUE; flags are --name or -l. `--` ends the options. A word that
// begins with a negative number is a value, not an option.
#ifndef APP_ARGUMENTS_H
#define APP_ARGUMENTS_H

#include "parse_text.h"

#include <stdbool.h>

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

#endif
