// Manual pages, in the language of man (groff_man(7)).
#include "cli/help.h"
#include "cli/memory.h"
#include "cli/whole_files.h"
#include "commands.h"

#include <poise/base.h>

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// One line of running text: what roff would take for itself is escaped.
static void put_text(FILE *stream, const char *text, size_t size)
{
    if (size > 0 && (text[0] == '.' || text[0] == '\'')) {
        fputs("\\&", stream);
    }
    for (size_t i = 0; i < size; ++i) {
        if (text[i] == '\\') {
            fputs("\\e", stream);
        } else if (text[i] == '-') {
            fputs("\\-", stream);
        } else {
            fputc(text[i], stream);
        }
    }
}

// Columns before the lines from here on that are set as they are, such that the longest fits into 80.
static int margin_of(const char *text)
{
    enum { USUAL = 9, LINE = 79 };
    size_t longest = 0;
    for (; *text == ' ' || *text == '\n'; text += *text == '\n') {
        size_t size = strcspn(text, "\n");
        longest = size > longest ? size : longest;
        text += size;
    }
    return longest + USUAL <= LINE ? USUAL : longest < LINE ? LINE - (int)longest : 0;
}

// Paragraphs as print_wrapped takes them; lines that begin with a space are set as they are.
static void put_paragraphs(FILE *stream, const char *text)
{
    bool example = false;
    for (; *text; text += *text == '\n') {
        size_t size = strcspn(text, "\n");
        bool kept = text[0] == ' ';
        if (kept != example && size > 0) {
            if (kept) {
                fprintf(stream, ".PP\n.nf\n.in %dn\n", margin_of(text));
            } else {
                fputs(".in\n.fi\n.PP\n", stream);
            }
            example = kept;
        }
        if (size == 0 && !example) {
            fputs(".PP\n", stream);
        } else {
            put_text(stream, text, size);
            fputc('\n', stream);
        }
        text += size;
    }
    fputs(example ? ".in\n.fi\n" : "", stream);
}

static void put_line(FILE *stream, const char *text)
{
    put_text(stream, text, strlen(text));
}

static void put_options(FILE *stream, const app_option *options)
{
    for (; options && options->name; ++options) {
        if (options->is_old) {
            continue;
        }
        fputs(".TP\n", stream);
        if (options->letter) {
            fprintf(stream, "\\fB\\-%c\\fR, ", options->letter);
        }
        fputs("\\fB\\-\\-", stream);
        put_line(stream, options->name);
        fputs("\\fR", stream);
        if (options->value) {
            fprintf(stream, " \\fI%s\\fR", options->value);
        }
        fputc('\n', stream);
        char text[1024];
        help_of_option(text, sizeof text, options);
        put_line(stream, text);
        fputc('\n', stream);
    }
}

// Cut into lines first; escapes would count as columns.
static void put_example(FILE *stream, const char *command)
{
    text_file example;
    text_open(&example);
    help_example(example.stream, command, 0, 70, "\\");
    need(system_memory_close(&example));
    for (const char *line = example.text; *line; line += strcspn(line, "\n") + 1) {
        put_text(stream, line, strcspn(line, "\n"));
        fputc('\n', stream);
    }
    free(example.text);
}

static void put_title(FILE *stream, const char *name)
{
    fputs(".TH ", stream);
    for (const char *c = name; *c; ++c) {
        fputc(toupper((unsigned char)*c), stream);
    }
    fprintf(stream, " 1 \"\" \"poise %s\" \"Poise\"\n.SH NAME\n", poise_version());
}

static void put_command(FILE *stream, const app_command *command)
{
    char name[64];
    snprintf(name, sizeof name, "poise-%s", command->name);
    put_title(stream, name);
    put_line(stream, name);
    fputs(" \\- ", stream);
    put_line(stream, command->summary);
    fprintf(stream, "\n.SH SYNOPSIS\n\\fBpoise %s\\fR ", command->name);
    put_line(stream, command->synopsis);
    fputs(" [\\fIoptions\\fR]\n.SH DESCRIPTION\n", stream);
    put_paragraphs(stream, command->description);
    fputs(".SH OPTIONS\n", stream);
    put_options(stream, command->options);
    put_options(stream, arguments_common_options());
    if (command->examples) {
        fputs(".SH EXAMPLES\n", stream);
    }
    for (const app_example *e = command->examples; e && e->what; ++e) {
        fputs(".PP\n", stream);
        put_line(stream, e->what);
        fputs(":\n.PP\n.nf\n.RS 2\n", stream);
        put_example(stream, e->command);
        fputs(".RE\n.fi\n", stream);
    }
    fputs(".SH EXIT STATUS\n0: done; 1: a goal was not reached; 2: wrong use or input.\n.SH SEE ALSO\n\\fBpoise\\fR(1)\n",
          stream);
}

static void put_overview(FILE *stream)
{
    put_title(stream, "poise");
    fputs("poise \\- inverse kinematics, from skeletons and goals to joint angles\n.SH SYNOPSIS\n"
          "\\fBpoise\\fR \\fIcommand\\fR [\\fIoptions\\fR] ...\n.SH COMMANDS\n",
          stream);
    for (int i = 0; app_commands[i]; ++i) {
        fprintf(stream, ".TP\n\\fB%s\\fR\n", app_commands[i]->name);
        put_line(stream, app_commands[i]->summary);
        fputs("\n", stream);
    }
    for (int i = 0; app_topics[i]; ++i) {
        fputs(".SH ", stream);
        for (const char *c = app_topics[i]->name; *c; ++c) {
            fputc(toupper((unsigned char)*c), stream);
        }
        fputc('\n', stream);
        put_paragraphs(stream, app_topics[i]->text);
    }
    fputs(".SH EXIT STATUS\n0: done; 1: a goal was not reached; 2: wrong use or input.\n.SH SEE ALSO\n", stream);
    for (int i = 0; app_commands[i]; ++i) {
        fprintf(stream, "\\fBpoise\\-%s\\fR(1)%s\n", app_commands[i]->name, app_commands[i + 1] ? "," : "");
    }
}

void help_manual(FILE *stream, const app_command *command)
{
    if (command) {
        put_command(stream, command);
    } else {
        put_overview(stream);
    }
}
