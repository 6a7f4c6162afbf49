// Pages of help: commands and topics.
#include "help.h"

#include "memory.h"
#include "system/system.h"
#include "terminal.h"

#include <stdlib.h>
#include <string.h>

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
