// Pictures of skeletons, from an empty page to a file.
#include "save.h"
#include "cli/files.h"
#include "cli/save.h"
#include "files.h"
#include "memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TOP = 80 }; // pixels above, for the title

picture *begin_picture(int width, int height, const char *title, const char *caption, const poise_model *model,
                       poise_kinematics **kinematics)
{
    picture *p = needed(picture_create(width, height));
    need(poise_kinematics_create(model, NULL, kinematics, NULL) == POISE_OK);
    picture_text(p, 30, 40, 20, PICTURE_LEFT, INK, title);
    picture_text(p, 30, 62, 13, PICTURE_LEFT, PALE_INK, caption);
    return p;
}

// The axis across which all lies in one plane: 0, 1, 2; -1: none, or a single line.
static int flat_axis(const drawing_box *box)
{
    double size[3] = {box->most.x - box->least.x, box->most.y - box->least.y, box->most.z - box->least.z};
    double largest = fmax(fmax(size[0], size[1]), size[2]);
    int flat = -1, count = 0;
    for (int axis = 0; axis < 3; ++axis) {
        if (size[axis] < 1e-3 * largest) {
            flat = axis;
            count += 1;
        }
    }
    return count == 1 ? flat : -1;
}

// What lies in a plane is seen from straight ahead, the upward axis, or else y, upwards.
static void show_flat(picture *p, const drawing_box *box, poise_vec3 up, int axis, double edge)
{
    double front = up.z > 0.5 ? -1 : 1; // robots with z up stand before -y
    poise_vec3 from = poise_vec3_make(axis == 0, axis == 1 ? front : 0, axis == 2);
    bool is_seen_from_above = (axis == 1 && up.y > 0.5) || (axis == 2 && up.z > 0.5);
    poise_vec3 upwards = !is_seen_from_above ? up : axis == 2 ? poise_vec3_make(0, 1, 0) : poise_vec3_make(0, 0, -1);
    picture_view view = picture_look(from, upwards);
    drawing_fit_view(&view, box, SKELETON_WIDTH / 2.0, (SKELETON_HEIGHT + TOP) / 2.0, SKELETON_WIDTH - 2 * edge,
                     SKELETON_HEIGHT - TOP - 2 * edge + 40);
    picture_set_view(p, &view);
}

void show_box(picture *p, const poise_file *file, drawing_box *box, double edge)
{
    poise_up side = file->scale.up;
    poise_vec3 up = side == POISE_UP_Y   ? poise_vec3_make(0, 1, 0)
                    : side == POISE_UP_Z ? poise_vec3_make(0, 0, 1)
                                         : drawing_guess_up(file->model);
    int flat = flat_axis(box);
    if (flat >= 0) {
        show_flat(p, box, up, flat, edge);
        return;
    }
    double *floor = up.y > 0.5 ? &box->least.y : &box->least.z;
    *floor = fmin(*floor, 0);
    picture_view view = drawing_view(box, up, SKELETON_WIDTH / 2.0, (SKELETON_HEIGHT + TOP) / 2.0, SKELETON_WIDTH - 2 * edge,
                                     SKELETON_HEIGHT - TOP - 2 * edge + 40);
    picture_set_view(p, &view);
    drawing_ground(p, box, up, *floor, "#e3e8ed");
}

bool save_picture(picture *p, poise_kinematics *kinematics, const char *name)
{
    text_file file;
    need(picture_is_whole(p));
    text_open(&file);
    picture_write(p, file.stream);
    bool works = text_close(&file, name);
    picture_destroy(p);
    poise_kinematics_destroy(kinematics);
    return works;
}

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
