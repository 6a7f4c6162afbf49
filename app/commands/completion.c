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
        if (!options->is_old) {
            fprintf(stream, " --%s", options->name);
        }
    }
}

// After an option with a value: its choices, the postures of the skeleton in the line, or files.
static void put_bash_values(FILE *stream, const app_command *command)
{
    for (const app_option *o = command->options; o && o->name; ++o) {
        bool is_posture = o->value && strcmp(o->value, "POSTURE") == 0;
        if ((o->kind != OPTION_CHOICE && !is_posture) || o->is_old) {
            continue;
        }
        fprintf(stream, "    %s:--%s", command->name, o->name);
        for (const char *c = o->alias ? o->alias : ""; *c;) {
            int length = (int)strcspn(c, " ");
            fprintf(stream, "|%s:--%.*s", command->name, length, c);
            c += length + (c[length] == ' ');
        }
        if (o->letter) {
            fprintf(stream, "|%s:-%c", command->name, o->letter);
        }
        if (is_posture) {
            fputs(") words=\"neutral $(_poise_postures \"${all[@]}\")\" ;;\n", stream);
        } else {
            fprintf(stream, ") words=\"%s\" ;;\n", o->choices);
        }
    }
}

// What commands take as arguments that is neither a file nor known here: asked for when it is wanted. The same lines serve
// both shells; names are looked for in what people read.
static const char functions[] =
    "_poise_scenes() { poise info scene: --names scenes 2>/dev/null; }\n"
    "_poise_experiments() { poise reproduce 2>/dev/null | sed -n '2,/^$/s/ .*//p'; echo all; }\n"
    "_poise_suites() { poise bench --list 2>/dev/null | sed -n 's/^  \\([a-z][a-z0-9-]*\\) .*/\\1/p'; }\n"
    "# those of the first word that is a skeleton\n"
    "_poise_postures() {\n"
    "    local word found\n"
    "    for word in \"${@:3}\"; do\n"
    "        [ \"${word#-}\" = \"$word\" ] || continue\n"
    "        found=$(poise info \"$word\" --names postures 2>/dev/null)\n"
    "        [ -z \"$found\" ] || { echo \"$found\"; return; }\n"
    "    done\n"
    "}\n";

static void put_bash(FILE *stream)
{
    fputs("# Completion of poise for bash: source this file, or put it into bash-completion's folder as \"poise\".\n",
          stream);
    fputs(functions, stream);
    fputs("_poise() {\n"
          "    # bash cuts words at ':' and '='; here a word is what stands between spaces\n"
          "    local line=${COMP_LINE:0:COMP_POINT} words=\"\" i\n"
          "    local word=${line##*[[:space:]]}\n"
          "    local -a all\n"
          "    read -r -a all <<<\"${line%\"$word\"}\"\n"
          "    local before=${all[${#all[@]}-1]} command=${all[1]} cut=\"\"\n"
          "    case $COMP_WORDBREAKS in *:*) cut=${word%\"${word##*:}\"} ;; esac\n"
          "    if [ ${#all[@]} -eq 1 ]; then\n"
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
    fputs("        esac\n"
          "    elif [ -z \"$words\" ]; then\n"
          "        case \"$command\" in\n"
          "        reproduce) [ \"${before#-}\" != \"$before\" ] || words=$(_poise_experiments) ;;\n"
          "        bench) [ \"${before#-}\" != \"$before\" ] || words=$(_poise_suites) ;;\n"
          "        *) case $word in scene:*) words=$(_poise_scenes) ;; esac ;;\n"
          "        esac\n"
          "    fi\n"
          "    if [ -n \"$words\" ]; then\n"
          "        COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
          "        for ((i = 0; i < ${#COMPREPLY[@]}; ++i)); do COMPREPLY[i]=${COMPREPLY[i]#\"$cut\"}; done\n"
          "    else\n"
          "        COMPREPLY=($(compgen -f -- \"$word\"))\n"
          "        case scene: in\n"
          "        \"$word\"*)\n"
          "            COMPREPLY+=(scene:)\n"
          "            [ ${#COMPREPLY[@]} -gt 1 ] || compopt -o nospace 2>/dev/null ;;\n"
          "        esac\n"
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
        if (options->is_old) {
            continue;
        }
        fprintf(stream, "        '%s--%s[", options->repeats ? "*" : "", options->name);
        put_quoted(stream, options->help);
        fputs("]", stream);
        if (options->kind == OPTION_CHOICE) {
            fprintf(stream, ":%s:(%s)", options->value, options->choices);
        } else if (options->kind != OPTION_FLAG) {
            bool is_posture = strcmp(options->value, "POSTURE") == 0;
            fprintf(stream, ":%s:%s", options->value,
                    is_posture                       ? "_poise_put_postures"
                    : options->kind == OPTION_OUTPUT ? "_files"
                    : options->kind == OPTION_FILE   ? "_poise_put_files"
                                                     : "");
        }
        fputs("' \\\n", stream);
    }
}

static void put_zsh(FILE *stream)
{
    fputs("#compdef poise\n"
          "# Completion of poise for zsh: put this file into a folder of $fpath as \"_poise\".\n",
          stream);
    fputs(functions, stream);
    fputs("_poise_put_files() { case $PREFIX in scene:*) compadd -- ${(f)\"$(_poise_scenes)\"} ;; *) _files; compadd -S '' "
          "-- scene: ;; esac }\n"
          "_poise_put_postures() { compadd -- neutral ${(f)\"$(_poise_postures poise \"${words[@]}\")\"} }\n"
          "_poise_put_experiments() { compadd -- ${(f)\"$(_poise_experiments)\"} }\n"
          "_poise_put_suites() { compadd -- ${(f)\"$(_poise_suites)\"} }\n"
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
        const char *name = app_commands[i]->name;
        fprintf(stream, "        '*:%s' ;;\n",
                strcmp(name, "reproduce") == 0 ? "experiment:_poise_put_experiments"
                : strcmp(name, "bench") == 0   ? "suite:_poise_put_suites"
                                               : "file:_poise_put_files");
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
