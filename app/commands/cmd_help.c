// poise help: pages, manual pages, shell completion.
#include "cli/help.h"
#include "cli/json_output.h"
#include "cli/load.h"
#include "cli/terminal.h"
#include "commands.h"

#include <poise/base.h>

#include <string.h>

static const app_topic *find_topic(const char *name)
{
    for (int i = 0; app_topics[i]; ++i) {
        if (strcmp(app_topics[i]->name, name) == 0) {
            return app_topics[i];
        }
    }
    return NULL;
}

static const char *command_name(const void *user, int index)
{
    (void)user;
    return app_commands[index]->name;
}

void complain_of_command(const char *name)
{
    if (name[0] == '-') {
        char hint[96];
        did_you_mean("--help --version", name, hint, sizeof hint);
        complain("no option %s%s", name, hint[0] ? hint : "; try \"poise help\"");
        return;
    }
    int count = 0;
    while (app_commands[count]) {
        count += 1;
    }
    const char *near = poise_nearest_name(name, command_name, NULL, count);
    if (near) {
        complain("there is no command \"%s\"; did you mean \"%s\"?", name, near);
    } else {
        complain("there is no command \"%s\"; \"poise help\" lists them", name);
    }
}

void help_overview(FILE *stream)
{
    fprintf(stream, "poise %s: inverse kinematics, from skeletons and goals to joint angles\n\n", poise_version());
    help_head(stream, "Usage");
    fprintf(stream, "  poise COMMAND [OPTIONS] ...\n\n");
    help_head(stream, "Commands");
    for (int i = 0; app_commands[i]; ++i) {
        fprintf(stream, "  %-13s %s\n", app_commands[i]->name, app_commands[i]->summary);
    }
    fprintf(stream, "\n");
    help_head(stream, "Help");
    fprintf(stream, "  %-13s how to use a command, with examples\n", "help COMMAND");
    for (int i = 0; app_topics[i]; ++i) {
        char name[32];
        snprintf(name, sizeof name, "help %s", app_topics[i]->name);
        fprintf(stream, "  %-13s %s\n", name, app_topics[i]->summary);
    }
}

// For programs that make menus or check examples.
static app_exit print_tables(void)
{
    json_node *commands = json_new(JSON_ARRAY);
    for (int i = 0; app_commands[i]; ++i) {
        const app_command *c = app_commands[i];
        json_node *options = json_new(JSON_ARRAY), *examples = json_new(JSON_ARRAY);
        for (const app_option *o = c->options; o && o->name; ++o) {
            if (!o->is_old) {
                json_append(options, json_make("{s:s, s:s, s:s}", "name", o->name, "value", o->value, "help", o->help));
            }
        }
        for (const app_example *e = c->examples; e && e->what; ++e) {
            json_append(examples, json_make("{s:s, s:s}", "what", e->what, "command", e->command));
        }
        json_append(commands, json_make("{s:s, s:s, s:s, s:o, s:o, s:b}", "name", c->name, "synopsis", c->synopsis,
                                        "summary", c->summary, "options", options, "examples", examples, "waits", c->waits));
    }
    json_node *topics = json_new(JSON_ARRAY);
    for (int i = 0; app_topics[i]; ++i) {
        json_append(topics, json_make("{s:s, s:s}", "name", app_topics[i]->name, "summary", app_topics[i]->summary));
    }
    return json_print(json_make("{s:o, s:o}", "commands", commands, "topics", topics)) ? APP_DONE : APP_BAD;
}

static app_exit run(const arguments *args)
{
    const char *name = arguments_at(args, 0), *shell = option_text(args, "completion", NULL);
    const app_command *command = name ? app_find_command(name) : NULL;
    const app_topic *topic = name ? find_topic(name) : NULL;
    if (shell) {
        help_completion(stdout, shell);
    } else if (name && !command && !topic) {
        complain_of_command(name);
        return APP_BAD;
    } else if (option_given(args, "manual")) {
        help_manual(stdout, command);
    } else if (arguments_json(args) && topic) {
        return json_print(json_make("{s:s, s:s, s:s}", "name", topic->name, "summary", topic->summary, "text", topic->text))
                   ? APP_DONE
                   : APP_BAD;
    } else if (arguments_json(args)) {
        return print_tables();
    } else if (command) {
        help_command(stdout, command);
    } else if (topic) {
        help_topic(stdout, topic);
    } else {
        help_overview(stdout);
    }
    return APP_DONE;
}

static const app_option options[] = {
    {"manual", .help = "print the page in man format"},
    {"completion", 0, OPTION_CHOICE, "SHELL", .choices = "bash zsh", .help = "print a completion script for a shell"},
    {0},
};

static const app_example examples[] = {
    {"How to write goals", "poise help goals"},
    {"Complete commands and options in this bash", "source <(poise help --completion bash)"},
    {0},
};

const app_command cmd_help = {
    .name = "help",
    .synopsis = "[COMMAND | TOPIC]",
    .most = 1,
    .summary = "explain a command or a topic",
    .description = "Without a name, lists all commands and topics.",
    .options = options,
    .examples = examples,
    .run = run,
};
