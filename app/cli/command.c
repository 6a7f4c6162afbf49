// The command line of one command.
#include <poise/base.h>

#include "command.h"
#include "files.h"
#include "load.h"
#include "programs.h"
#include "system/system.h"
#include "terminal.h"
#include "words.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
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

// ---- One command, from its words to its exit status ----------------------------------------------------------------------

app_exit app_run_with(const app_command *command, app_exit (*run)(const arguments *args), int count, char **words)
{
    arguments *args = arguments_parse(command, count, words);
    if (!args) {
        return APP_BAD;
    }
    app_exit status = APP_DONE;
    if (option_given(args, "help")) {
        help_command(stdout, command);
    } else {
        status = run(args);
    }
    progress_end();
    arguments_destroy(args);
    return status;
}

// Become the program of the command. Returns only when that fails.
static app_exit run_program(const app_command *command, int count, char **words)
{
    const char *const places[] = {command->program, NULL};
    char path[PATH_MAX], name[64];
    snprintf(name, sizeof name, "poise %s", command->name);
    if (find_beside_program(places, path, sizeof path)) {
        become_program(path, name, NULL, count, words);
    } else {
        complain("%s: there is no %s beside this program; \"make\" in a clone of Poise builds it, in build/bin",
                 command->name, command->program);
    }
    return APP_BAD;
}

app_exit app_run(const app_command *command, int count, char **words)
{
    seconds_begin();
    bool asks = count > 0 && (strcmp(words[0], "--help") == 0 || strcmp(words[0], "-h") == 0);
    return command->program && !asks ? run_program(command, count, words)
                                     : app_run_with(command, command->run, count, words);
}

// ---- Names and numbers that users give for parts of a model: bodies, postures --------------------------------------------

// ---- Bodies --------------------------------------------------------------------------------------------------------------

int find_body(const poise_model *model, const char *name, poise_pose *local)
{
    poise_error error;
    int body = poise_model_find_part(model, name, local, &error);
    if (body < 0) {
        complain("%s%s", error.text, strchr(error.text, ';') ? "" : "; \"poise info\" lists them");
    }
    return body;
}

void coordinate_label(const poise_model *model, int i, char *label, size_t size)
{
    poise_coordinate c = poise_model_coordinate(model, i);
    snprintf(label, size, "%s%s%s", poise_model_joint_info(model, c.joint).name, c.label[0] ? " " : "", c.label);
}

// ---- Postures ------------------------------------------------------------------------------------------------------------

static bool frame_of_motion(const poise_file *model, const char *name, int frame, double *q)
{
    load_options options = {.model = model->model};
    poise_file *file = load_file(name, &options);
    bool works = false;
    int nq = poise_model_info(model->model).nq;
    if (file && file->clip && file->clip->nq != nq) {
        complain("%s: its motion has %d coordinates, the skeleton has %d", name, file->clip->nq, nq);
    } else if (file && file->clip && frame < file->clip->frames) {
        memcpy(q, file->clip->q + (size_t)frame * (size_t)nq, sizeof *q * (size_t)nq);
        works = true;
    } else if (file && file->clip) {
        complain("%s: has no frame %d, only 0 to %d", name, frame, file->clip->frames - 1);
    } else if (file) {
        complain("%s: holds no motion to take a posture from", name);
    }
    poise_file_destroy(file);
    return works;
}

static const char *posture_name(const void *file, int index)
{
    return ((const poise_file *)file)->postures[index].name;
}

bool load_more_postures(const char *name, poise_file *model, more_postures *more)
{
    *more = (more_postures){0};
    if (!name) {
        return true;
    }
    load_options options = {.model = model->model};
    more->file = load_file(name, &options);
    if (more->file && more->file->posture_count == 0) {
        complain("%s: holds no postures; write {\"poise\": 1, \"postures\": {\"nod\": [...]}}", name);
    }
    if (!more->file || more->file->posture_count == 0) {
        release_more_postures(more);
        return false;
    }
    add_more_postures(model, more);
    return true;
}

void add_more_postures(poise_file *model, more_postures *more)
{
    size_t own = (size_t)model->posture_count, added = (size_t)more->file->posture_count;
    more->list = needed(malloc((own + added + 1) * sizeof *more->list));
    for (size_t i = 0; i < own + added; ++i) {
        more->list[i] = i < own ? model->postures[i] : more->file->postures[i - own];
    }
    model->postures = more->list;
    model->posture_count = (int)(own + added);
}

void release_more_postures(more_postures *more)
{
    free(more->list);
    poise_file_destroy(more->file);
    *more = (more_postures){0};
}

static void ask_for_unit(const poise_model *model, const char *text, const double *q)
{
    int i = poise_model_suspect_degrees(model, q);
    if (i != POISE_NONE) {
        warn("\"%s\": %g rad for joint \"%s\": are these degrees? write \"%s deg\"", text, q[i],
             poise_model_joint_info(model, poise_model_coordinate(model, i).joint).name, text);
    }
}

int posture_numbers(const poise_model *model, const char *text, double *q)
{
    char numbers[4096];
    size_t length = strlen(text);
    static const char *const words[] = {"degrees", "deg"};
    bool is_degrees = false;
    for (size_t i = 0; i < 2 && !is_degrees; ++i) {
        size_t size = strlen(words[i]);
        is_degrees = length > size && strcmp(text + length - size, words[i]) == 0;
        length -= is_degrees ? size : 0;
    }
    snprintf(numbers, sizeof numbers, "%.*s", (int)length, text);
    int nq = poise_model_info(model).nq, count = length < sizeof numbers ? parse_numbers(numbers, q, nq) : -1;
    for (int i = 0; is_degrees && i < count && i < nq; ++i) {
        q[i] /= poise_model_coordinate(model, i).unit == POISE_UNIT_ANGLE ? DEGREES_PER_RADIAN : 1;
    }
    if (count == nq && !is_degrees) {
        ask_for_unit(model, text, q);
    }
    return count;
}

bool load_posture(const poise_file *model, const char *posture, double *q)
{
    int nq = poise_model_info(model->model).nq;
    if (strcmp(posture, "neutral") == 0) {
        poise_model_neutral(model->model, q);
        return true;
    }
    for (int i = 0; i < model->posture_count; ++i) {
        if (strcmp(model->postures[i].name, posture) == 0) {
            memcpy(q, model->postures[i].q, sizeof *q * (size_t)nq);
            return true;
        }
    }
    int count = posture_numbers(model->model, posture, q);
    if (count == nq && nq > 0) {
        return true;
    }
    if (count > 0) {
        complain("posture \"%s\" has %d numbers; the skeleton takes %d", posture, count, nq);
        return false;
    }
    char name[PATH_MAX];
    const char *at = strrchr(posture, '@');
    double frame = 0;
    if (at && parse_number(at + 1, &frame) && frame >= 0 && frame == (int)frame) {
        snprintf(name, sizeof name, "%.*s", (int)(at - posture), posture);
        return frame_of_motion(model, name, (int)frame, q);
    }
    if (strchr(posture, '.') || strpbrk(posture, "/\\") || strcmp(posture, "-") == 0) {
        return frame_of_motion(model, posture, 0, q);
    }
    const char *near = poise_nearest_name(posture, posture_name, model, model->posture_count);
    complain("no posture is called \"%s\"%s%s%s \"neutral\", FILE@FRAME or %d numbers also work", posture,
             near ? "; did you mean \"" : ";", near ? near : "", near ? "\"?" : "", nq);
    return false;
}

// ---- Pages of help: commands and topics ----------------------------------------------------------------------------------

static int page_columns(FILE *stream)
{
    int columns = terminal_columns(stream);
    return columns > 100 ? 100 : columns < 40 ? 40 : columns;
}

void help_head(FILE *stream, const char *text)
{
    bool styled = stream == stdout;
    fprintf(stream, "%s%s%s\n", styled ? style_code(STYLE_BOLD) : "", text, styled ? style_code(STYLE_PLAIN) : "");
}

// "-o, --output FILE" in `text`.
static void option_form(char *text, size_t size, const app_option *option)
{
    char letter[8] = "";
    if (option->letter) {
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    }
    snprintf(text, size, "%s--%s%s%s", letter, option->name, option->value ? " " : "", option->value ? option->value : "");
}

void help_of_option(char *text, size_t size, const app_option *option)
{
    bool extensions = option->choices && option->kind == OPTION_OUTPUT;
    const char *before = extensions ? " (" : option->choices ? "; one of: " : "";
    int used = snprintf(text, size, "%s%s%s%s%s", option->help, before, option->choices ? option->choices : "",
                        extensions ? ")" : "", option->repeats ? "; may be repeated" : "");
    before = "; also --";
    for (const char *c = option->alias ? option->alias : ""; *c && used >= 0 && (size_t)used < size; before = ", --") {
        int length = (int)strcspn(c, " ");
        used += snprintf(text + used, size - (size_t)used, "%s%.*s", before, length, c);
        c += length + (c[length] == ' ');
    }
}

static void print_options(FILE *stream, const app_option *options)
{
    enum { WIDTH = 24 };
    for (; options && options->name; ++options) {
        if (options->is_old) {
            continue;
        }
        char form[80];
        option_form(form, sizeof form, options);
        int width = text_columns(form);
        char text[1024];
        help_of_option(text, sizeof text, options);
        fprintf(stream, "  %s", form);
        if (width > WIDTH - 2) {
            fprintf(stream, "\n");
        }
        // the first line of the help stands beside the form, the others below each other
        memory_stream wrapped;
        need(system_memory_open(&wrapped));
        print_wrapped(wrapped.stream, text, WIDTH + 2, page_columns(stream));
        need(system_memory_close(&wrapped));
        fputs(width > WIDTH - 2 ? wrapped.text : wrapped.text + 2 + width, stream);
        free(wrapped.text);
    }
}

// How long the first word of a command is, quotes and all.
static int word_size(const char *c)
{
    char quote = '\0';
    int size = 0;
    for (; c[size] && (quote || c[size] != ' '); ++size) {
        quote = c[size] == quote ? '\0' : !quote && (c[size] == '"' || c[size] == '\'') ? c[size] : quote;
    }
    return size;
}

// A line of a shell goes on after a backslash; it is cut between words, not inside quotes nor between an option and its
// value.
void help_example(FILE *stream, const char *command, int indent, int columns, const char *backslash)
{
    int column = fprintf(stream, "%*s", indent, "");
    for (const char *c = command; *c;) {
        int size = word_size(c);
        bool has_value = c[0] == '-' && c[size] == ' ' && c[size + 1] != '-';
        size += has_value ? 1 + word_size(c + size + 1) : 0;
        if (column > indent && column + 1 + size + 2 > columns) {
            fprintf(stream, " %s\n%*s", backslash, indent + 4, "");
            column = indent + 4;
        } else if (c != command) {
            column += fprintf(stream, " ");
        }
        column += fprintf(stream, "%.*s", size, c);
        c += size + (c[size] == ' ');
    }
    fputc('\n', stream);
}

void help_command(FILE *stream, const app_command *command)
{
    fprintf(stream, "poise %s: %s\n\n", command->name, command->summary);
    help_head(stream, "Usage");
    fprintf(stream, "  poise %s%s%s%s\n\n", command->name, command->synopsis[0] ? " " : "", command->synopsis,
            command->options ? " [OPTIONS]" : "");
    print_wrapped(stream, command->description, 0, page_columns(stream));
    fprintf(stream, "\n");
    help_head(stream, "Options");
    print_options(stream, command->options);
    print_options(stream, arguments_common_options());
    if (command->examples) {
        fprintf(stream, "\n");
        help_head(stream, "Examples");
    }
    for (const app_example *e = command->examples; e && e->what; ++e) {
        fprintf(stream, "  # %s\n", e->what);
        help_example(stream, e->command, 2, page_columns(stream), "\\");
    }
}

void help_topic(FILE *stream, const app_topic *topic)
{
    print_wrapped(stream, topic->text, 0, page_columns(stream));
}

// ---- Numbers that users type ---------------------------------------------------------------------------------------------

bool parse_number(const char *text, double *number)
{
    char *end;
    double value = strtod(text, &end); // the program never leaves the "C" locale
    if (end == text || *end || !isfinite(value)) {
        return false;
    }
    *number = value;
    return true;
}

bool parse_unit(const char *text, double *metres)
{
    static const struct {
        const char *name;
        double metres;
    } units[] = {{"m", 1}, {"cm", 0.01}, {"mm", 0.001}, {"in", 0.0254}, {"ft", 0.3048}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; ++i) {
        if (strcmp(text, units[i].name) == 0) {
            *metres = units[i].metres;
            return true;
        }
    }
    return parse_number(text, metres) && *metres >= 1e-9 && *metres <= 1e9;
}

int parse_numbers(const char *text, double *numbers, int capacity)
{
    int count = 0;
    for (const char *c = text;;) {
        c += strspn(c, " ,\t\n");
        if (!*c) {
            return count;
        }
        char word[64];
        size_t size = strcspn(c, " ,\t\n");
        if (size >= sizeof word) {
            return -1;
        }
        memcpy(word, c, size);
        word[size] = '\0';
        double number;
        if (!parse_number(word, &number)) {
            return -1;
        }
        if (count < capacity) {
            numbers[count] = number;
        }
        count += 1;
        c += size;
    }
}

static const char *word_at(const void *words, int index)
{
    return ((char *const *)words)[index];
}

const char *did_you_mean(const char *words, const char *text, char *hint, size_t size)
{
    enum { MOST = 64 };
    char copy[1024], *word[MOST];
    int count = 0;
    snprintf(copy, sizeof copy, "%s", words);
    for (char *at = copy; *at && count < MOST; ++count) {
        word[count] = at;
        at += strcspn(at, " ");
        if (*at) {
            *at++ = '\0';
        }
    }
    const char *near = poise_nearest_name(text, word_at, word, count);
    snprintf(hint, size, "%s%s%s", near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    return hint;
}
