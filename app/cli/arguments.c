// The command line of one command.
#include "arguments.h"

#include "command.h"
#include "load.h"
#include "memory.h"
#include "terminal.h"
#include "whole_files.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct given {
    const app_option *option;
    const char *text;
    double number;
} given;

struct arguments {
    const app_command *command;
    int argument_count, given_count, word_count;
    char **words; // as they came
    const char **argument;
    given *given;
};

// Options that every command has.
static const app_option common_options[] = {
    {.name = "json", .help = "print JSON instead of a table"},
    {.name = "help", .letter = 'h', .help = "print this help"},
    {0},
};

// ---- Finding -------------------------------------------------------------------------------------------------------------

// Is the name one of the words, which are separated by spaces?
static bool is_word(const char *words, const char *name, size_t length)
{
    for (const char *c = words; *c;) {
        size_t size = strcspn(c, " ");
        if (size == length && memcmp(c, name, length) == 0) {
            return true;
        }
        c += size + (c[size] == ' ');
    }
    return false;
}

static const app_option *find_in(const app_option *options, const char *name, size_t length, char letter)
{
    const app_option *alias = NULL;
    for (; options && options->name; ++options) {
        if (letter ? options->letter == letter : is_word(options->name, name, length)) {
            return options;
        }
        if (!letter && options->alias && is_word(options->alias, name, length)) {
            alias = options;
        }
    }
    return alias;
}

static const app_option *find(const app_command *command, const char *name, size_t length, char letter)
{
    const app_option *option = find_in(command->options, name, length, letter);
    return option ? option : find_in(common_options, name, length, letter);
}

const app_option *arguments_common_options(void)
{
    return common_options;
}

// ---- Reading -------------------------------------------------------------------------------------------------------------

static bool is_choice(const char *choices, const char *word)
{
    return is_word(choices, word, strlen(word));
}

// Say which choices there are, and which of them is nearest to what was given.
static void complain_of_choice(const app_command *command, const app_option *option, const char *text)
{
    char hint[96];
    complain("%s: --%s \"%s\" is not one of: %s%s", command->name, option->name, text, option->choices,
             did_you_mean(option->choices, text, hint, sizeof hint));
}

// Check a value against its option; false after a line on standard error.
static bool check_value(const app_command *command, const app_option *option, given *g)
{
    if (option->kind == OPTION_CHOICE && !is_choice(option->choices, g->text) &&
        !(option->also && is_choice(option->also, g->text))) {
        complain_of_choice(command, option, g->text);
        return false;
    }
    if (option->kind == OPTION_UNIT && !parse_unit(g->text, &g->number)) {
        complain("%s: --%s \"%s\" is neither a unit (m cm mm in ft) nor a number of metres above 0", command->name,
                 option->name, g->text);
        return false;
    }
    if (option->kind != OPTION_NUMBER && option->kind != OPTION_COUNT) {
        return true;
    }
    if (!parse_number(g->text, &g->number)) {
        complain("%s: --%s \"%s\" is not a number", command->name, option->name, g->text);
        return false;
    }
    bool whole = option->kind == OPTION_COUNT;
    if (whole && (g->number != floor(g->number) || fabs(g->number) > INT_MAX)) {
        complain("%s: --%s \"%s\" is not a whole number", command->name, option->name, g->text);
        return false;
    }
    bool bounded = option->lowest < option->highest;
    if (bounded && g->number < option->lowest && option->highest >= INT_MAX) {
        complain("%s: --%s %s is less than %g", command->name, option->name, g->text, option->lowest);
        return false;
    }
    if (bounded && (g->number < option->lowest || g->number > option->highest)) {
        complain("%s: --%s %s is not between %g and %g", command->name, option->name, g->text, option->lowest,
                 option->highest);
        return false;
    }
    return true;
}

// A word that begins with a dash is an option unless it is "-" or begins with a number: "-0.5", "-1 0 0".
static bool is_option(const char *word)
{
    return word[0] == '-' && word[1] && !strchr("0123456789.", word[1]);
}

// The names of options that a misspelt one is compared with: of the command, then those that every command has.
typedef struct option_names {
    char name[256][48];
    int count;
} option_names;

static void add_names(option_names *names, const char *words)
{
    for (const char *c = words ? words : ""; *c && names->count < 256;) {
        int size = (int)strcspn(c, " ");
        snprintf(names->name[names->count++], sizeof names->name[0], "%.*s", size, c);
        c += size + (c[size] == ' ');
    }
}

static const char *name_at(const void *names, int index)
{
    return ((const option_names *)names)->name[index];
}

static void complain_of_option(const app_command *command, const char *word, size_t length)
{
    option_names *names = needed(calloc(1, sizeof *names));
    const app_option *lists[] = {command->options, common_options};
    for (int i = 0; i < 2; ++i) {
        for (const app_option *o = lists[i]; o && o->name; ++o) {
            add_names(names, o->is_old ? NULL : o->name);
            add_names(names, o->alias);
        }
    }
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    const char *near = length > 2 ? poise_nearest_name(name + 2, name_at, names, names->count) : NULL;
    if (near) {
        complain("%s: no option %s; did you mean --%s?", command->name, name, near);
    } else {
        complain("%s: no option %s; try \"poise help %s\"", command->name, name, command->name);
    }
    free(names);
}

// Read the option at words[*i] and its value; false after a line on standard error.
static bool read_option(arguments *args, int count, char **words, int *i)
{
    const app_command *command = args->command;
    const char *word = words[*i], *value = NULL;
    bool is_long = word[1] == '-';
    size_t length = is_long ? strcspn(word + 2, "=") : 1;
    const app_option *option = find(command, is_long ? word + 2 : word + 1, length, is_long ? 0 : word[1]);
    if (!option) {
        complain_of_option(command, word, is_long ? length + 2 : 2);
        return false;
    }
    const char *rest = is_long ? word + 2 + length : word + 2;
    if (*rest) {
        value = is_long ? rest + 1 : rest;
    }
    if (option->kind == OPTION_FLAG && value) {
        complain("%s: --%s takes no value", command->name, option->name);
        return false;
    }
    if (option->kind != OPTION_FLAG && !value) {
        if (*i + 1 == count || is_option(words[*i + 1])) {
            complain("%s: --%s needs a value: --%s %s", command->name, option->name, option->name, option->value);
            return false;
        }
        value = words[++*i];
    }
    if (!option->repeats && option_given(args, option->name)) {
        bool by_alias = is_long && !is_word(option->name, word + 2, length);
        complain(by_alias ? "%s: --%s is given twice: %.*s is another name of it" : "%s: --%s is given twice", command->name,
                 option->name, (int)length + 2, word);
        return false;
    }
    given *g = &args->given[args->given_count];
    *g = (given){.option = option, .text = value};
    if (!check_value(command, option, g)) {
        return false;
    }
    args->given_count += 1;
    return true;
}

static bool read_words(arguments *args, int count, char **words)
{
    bool options = true;
    for (int i = 0; i < count; ++i) {
        if (options && strcmp(words[i], "--") == 0) {
            options = false;
        } else if (options && is_option(words[i])) {
            if (!read_option(args, count, words, &i)) {
                return false;
            }
        } else {
            args->argument[args->argument_count++] = words[i];
        }
    }
    return true;
}

static bool check_count(const arguments *args)
{
    const app_command *command = args->command;
    if (option_given(args, "help")) {
        return true;
    }
    if (args->argument_count < command->least) {
        complain("%s: missing argument; usage: poise %s %s", command->name, command->name, command->synopsis);
        return false;
    }
    if (command->most >= 0 && args->argument_count > command->most) {
        bool has_goal = find(command, "goal", strlen("goal"), 0) && option_given(args, "goal");
        complain("%s: unexpected argument \"%s\"; usage: poise %s %s%s", command->name, args->argument[command->most],
                 command->name, command->synopsis, has_goal ? "; put a goal in quotes: --goal \"position tip ...\"" : "");
        return false;
    }
    return true;
}

// Is it one of the extensions, which are words separated by spaces?
static bool has_extension(const char *name, const char *extensions)
{
    const char *dot = strrchr(path_base(name), '.');
    char lower[16] = "";
    for (size_t i = 0; dot && dot[i] && i + 1 < sizeof lower; ++i) {
        lower[i] = (char)(dot[i] >= 'A' && dot[i] <= 'Z' ? dot[i] - 'A' + 'a' : dot[i]);
    }
    return is_choice(extensions, lower);
}

bool arguments_check_output(const arguments *args, const char *name, const char *extensions)
{
    if (strcmp(name, "-") == 0) {
        return true;
    }
    if (extensions && !has_extension(name, extensions)) {
        complain("%s: no output format has this extension; use one of %s", name, extensions);
        return false;
    }
    for (int i = 0; i < args->argument_count + args->given_count; ++i) {
        const given *g = i < args->argument_count ? NULL : &args->given[i - args->argument_count];
        const char *other = g ? g->text : args->argument[i];
        if (other != name && (!g || g->option->kind == OPTION_FILE) && files_are_same(name, other)) {
            complain("%s: is also an input and would be overwritten; write to another file", name);
            return false;
        }
    }
    return file_can_be_written(name);
}

// Does an option before `own` write to the same file? Then what it wrote would be lost.
static bool check_apart(const arguments *args, const given *own)
{
    for (const given *g = args->given; g < own; ++g) {
        if (g->option->kind == OPTION_OUTPUT && g->option != own->option && files_would_be_same(g->text, own->text)) {
            complain("%s: --%s and --%s would both write to it; give each a file of its own", own->text, g->option->name,
                     own->option->name);
            return false;
        }
    }
    return true;
}

static bool check_outputs(const arguments *args)
{
    for (int i = 0; i < args->given_count; ++i) {
        const given *g = &args->given[i];
        if (g->option->kind == OPTION_OUTPUT && !check_apart(args, g)) {
            return false;
        }
        if (g->option->kind == OPTION_OUTPUT && !arguments_check_output(args, g->text, g->option->choices)) {
            return false;
        }
    }
    return true;
}

arguments *arguments_parse(const app_command *command, int count, char **words)
{
    arguments *args = needed(calloc(1, sizeof *args));
    size_t room = (size_t)(count > 0 ? count : 1);
    *args = (arguments){.command = command, .words = words, .word_count = count};
    args->argument = needed(calloc(room, sizeof *args->argument));
    args->given = needed(calloc(room, sizeof *args->given));
    if (!read_words(args, count, words) || !check_count(args) || !check_outputs(args)) {
        arguments_destroy(args);
        return NULL;
    }
    return args;
}

void arguments_destroy(arguments *args)
{
    if (args) {
        free(args->argument);
        free(args->given);
        free(args);
    }
}

// ---- Asking --------------------------------------------------------------------------------------------------------------

const app_command *arguments_command(const arguments *args)
{
    return args->command;
}

char *const *arguments_words(const arguments *args, int *count)
{
    *count = args->word_count;
    return args->words;
}

int arguments_count(const arguments *args)
{
    return args->argument_count;
}

const char *arguments_at(const arguments *args, int index)
{
    return index < args->argument_count ? args->argument[index] : NULL;
}

// The last value of an option, or NULL when it was not given.
static const given *look_up(const arguments *args, const char *name, bool is_number)
{
    const app_option *option = find(args->command, name, strlen(name), 0);
    if (!option ||
        (is_number && option->kind != OPTION_NUMBER && option->kind != OPTION_COUNT && option->kind != OPTION_UNIT)) {
        complain("the table of \"%s\" has no such option --%s", args->command->name, name);
        abort();
    }
    for (int i = args->given_count - 1; i >= 0; --i) {
        if (args->given[i].option == option) {
            return &args->given[i];
        }
    }
    return NULL;
}

bool option_given(const arguments *args, const char *name)
{
    return look_up(args, name, false) != NULL;
}

const char *option_text(const arguments *args, const char *name, const char *otherwise)
{
    const given *g = look_up(args, name, false);
    return g ? g->text : otherwise;
}

double option_number(const arguments *args, const char *name, double otherwise)
{
    const given *g = look_up(args, name, true);
    return g ? g->number : otherwise;
}

int option_count(const arguments *args, const char *name, int otherwise)
{
    const given *g = look_up(args, name, true);
    return g ? (int)g->number : otherwise;
}

const char *option_text_at(const arguments *args, const char *name, int index)
{
    const app_option *option = look_up(args, name, false) ? find(args->command, name, strlen(name), 0) : NULL;
    for (int i = 0; option && i < args->given_count; ++i) {
        if (args->given[i].option == option && index-- == 0) {
            return args->given[i].text;
        }
    }
    return NULL;
}

bool arguments_json(const arguments *args)
{
    return option_given(args, "json");
}
