#include "cli/save_table.h"

#include "cli/whole_files.h"

#include <stdio.h>
#include <string.h>

bool is_joint_table(const char *name)
{
    const char *dot = name ? strrchr(name, '.') : NULL;
    return dot && strcmp(dot, ".csv") == 0;
}

bool save_joint_table(const poise_model *model, const poise_clip *clip, const char *name)
{
    text_file text;
    text_open(&text);
    fputs("time", text.stream);
    for (int i = 0; i < clip->nq; ++i) {
        poise_coordinate c = poise_model_coordinate(model, i);
        poise_joint_info joint = poise_model_joint_info(model, c.joint);
        fprintf(text.stream, joint.nq > 1 ? ",%s/%s" : ",%s", joint.name, c.name);
    }
    for (int f = 0; f < clip->frames; ++f) {
        fprintf(text.stream, "\n%.9g", clip->start_time + f * clip->frame_time);
        for (int i = 0; i < clip->nq; ++i) {
            fprintf(text.stream, ",%.17g", clip->q[(size_t)f * (size_t)clip->nq + (size_t)i]);
        }
    }
    fputc('\n', text.stream);
    return text_close(&text, name);
}
