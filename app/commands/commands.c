// The table of commands, in the order of help, and the topics.
#include "commands.h"

#include <string.h>

// one line for each
// clang-format off
const app_command *const app_commands[] = {
    &cmd_info,
    &cmd_convert,
    &cmd_edit,
    &cmd_fk,
    &cmd_solve,
    &cmd_track,
    &cmd_retarget,
    &cmd_aim,
    &cmd_scale,
    &cmd_warp,
    &cmd_stream,
    &cmd_reproduce,
    &cmd_bench,
    &cmd_view,
    &cmd_demo,
    &cmd_help,
    NULL,
};

const app_topic *const app_topics[] = {
    &topic_goals,
    &topic_formats,
    &topic_markers,
    &topic_scenes,
    NULL,
};
// clang-format on

const app_command *app_find_command(const char *name)
{
    for (int i = 0; app_commands[i]; ++i) {
        if (strcmp(app_commands[i]->name, name) == 0) {
            return app_commands[i];
        }
    }
    return NULL;
}
