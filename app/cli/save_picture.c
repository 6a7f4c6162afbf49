// Pictures of skeletons, from an empty page to a file.
#include "save_picture.h"

#include "memory.h"
#include "whole_files.h"

#include <math.h>

picture *begin_picture(int width, int height, const char *title, const char *caption, const poise_model *model,
                       poise_kinematics **kinematics)
{
    picture *p = needed(picture_create(width, height));
    need(poise_kinematics_create(model, NULL, kinematics, NULL) == POISE_OK);
    picture_text(p, 30, 40, 20, PICTURE_LEFT, INK, title);
    picture_text(p, 30, 62, 13, PICTURE_LEFT, PALE_INK, caption);
    return p;
}

void show_box(picture *p, const poise_file *file, drawing_box *box, double edge)
{
    enum { TOP = 80 };
    poise_up side = file->scale.up;
    poise_vec3 up = side == POISE_UP_Y   ? poise_vec3_make(0, 1, 0)
                    : side == POISE_UP_Z ? poise_vec3_make(0, 0, 1)
                                         : drawing_guess_up(file->model);
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
