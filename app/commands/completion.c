// Shell completion: scripts for bash and zsh.
#include "commands.h"

#include <string.h>

static void put_names(FILE *stream)
{
    for (int i = 0; app_commands[i]; ++i) {
        fprintf(stream, "%s%s", i > 0 ? " " : "", app_commands[i]->name);
    }
}

static void put_option_names(FILE *stream, const app_option *options)
{
    for (; options && options->name; ++options) {
        fprintf(stream, " --%s", options->name);
    }
}

// After an option with a value: its choices, or files.
static void put_bash_values(FILE *stream, const app_command *command)
{
    for (const app_option *o = command->options; o && o->name; ++o) {
        if (o->kind == OPTION_CHOICE) {
            fprintf(stream, "    %s:--%s) words=\"%s\" ;;\n", command->name, o->name, o->choices);
        }
    }
}

static void put_bash(FILE *stream)
{
    fputs(
        "# Completion of poise for bash: source this file, or put it into bash-completion's folder as \"poise\".\n"
        "_poise() {\n"
        "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]} words=\"\"\n"
        "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
        "        COMPREPLY=($(compgen -W \"",
        stream);
    put_names(stream);
    fputs("\" -- \"$word\"))\n        return\n    fi\n    case \"$command:$before\" in\n", stream);
    for (int i = 0; app_commands[i]; ++i) {
        put_bash_values(stream, app_commands[i]);
    }
    fputs("    help:help) words=\"", stream);
    put_names(stream);
    for (int i = 0; app_topics[i]; ++i) {
        fprintf(stream, " %s", app_topics[i]->name);
    }
    fputs("\" ;;\n    esac\n"
          "    if [ -z \"$words\" ] && [ \"${word#-}\" != \"$word\" ]; then\n        case \"$command\" in\n",
          stream);
    for (int i = 0; app_commands[i]; ++i) {
        fprintf(stream, "        %s) words=\"", app_commands[i]->name);
        put_option_names(stream, app_commands[i]->options);
        put_option_names(stream, arguments_common_options());
        fputs("\" ;;\n", stream);
    }
    fputs("        esac\n    fi\n"
          "    if [ -n \"$words\" ]; then\n"
          "        COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
          "    else\n"
          "        COMPREPLY=($(compgen -f -- \"$word\"))\n"
          "    fi\n}\ncomplete -o filenames -F _poise poise\n",
          stream);
}

// Text inside single quotes and square brackets of _arguments.
static void put_quoted(FILE *stream, const char *text)
{
    for (; *text; ++text) {
        if (*text == '\'') {
            fputs("'\\''", stream);
        } else {
            if (strchr("[]:\\", *text)) {
                fputc('\\', stream);
            }
            fputc(*text, stream);
        }
    }
}

static void put_zsh_options(FILE *stream, const app_option *options)
{
    for (; options && options->name; ++options) {
        fprintf(stream, "        '%s--%s[", options->repeats ? "*" : "", options->name);
        put_quoted(stream, options->help);
        fputs("]", stream);
        if (options->kind == OPTION_CHOICE) {
            fprintf(stream, ":%s:(%s)", options->value, options->choices);
        } else if (options->kind != OPTION_FLAG) {
            fprintf(stream, ":%s:%s", options->value,
                    options->kind == OPTION_FILE || options->kind == OPTION_OUTPUT ? "_files" : "");
        }
        fputs("' \\\n", stream);
    }
}

static void put_zsh(FILE *stream)
{
    fputs("#compdef poise\n"
          "# Completion of poise for zsh: put this file into a folder of $fpath as \"_poise\".\n"
          "_poise() {\n    if (( CURRENT == 2 )); then\n        local -a commands=(\n",
          stream);
    for (int i = 0; app_commands[i]; ++i) {
        fprintf(stream, "            '%s:", app_commands[i]->name);
        put_quoted(stream, app_commands[i]->summary);
        fputs("'\n", stream);
    }
    fputs("        )\n        _describe command commands\n        return\n    fi\n"
          "    local command=$words[2]\n    shift words\n    (( CURRENT-- ))\n    case $command in\n",
          stream);
    for (int i = 0; app_commands[i]; ++i) {
        fprintf(stream, "    %s) _arguments \\\n", app_commands[i]->name);
        put_zsh_options(stream, app_commands[i]->options);
        put_zsh_options(stream, arguments_common_options());
        fputs("        '*:file:_files' ;;\n", stream);
    }
    fputs("    esac\n}\n_poise \"$@\"\n", stream);
}

bool help_completion(FILE *stream, const char *shell)
{
    if (strcmp(shell, "bash") == 0) {
        put_bash(stream);
        return true;
    }
    if (strcmp(shell, "zsh") == 0) {
        put_zsh(stream);
        return true;
    }
    return false;
}
