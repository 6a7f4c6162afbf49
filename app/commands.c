// The table of commands, in the order of help, and the topics.
#include "commands.h"

#include <string.h>

const app_command *const app_commands[] = {
    &cmd_info,
    &cmd_view,
    &cmd_help,
    NULL,
};

const app_topic *const app_topics[] = {
    &topic_scenes,
    NULL,
};

const app_command *app_find_command(const char *name)
{
    for (int i = 0; app_commands[i]; ++i) {
        if (strcmp(app_commands[i]->name, name) == 0) {
            return app_commands[i];
        }
    }
    return NULL;
}
