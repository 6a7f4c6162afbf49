// Pictures become files.
#include "save_picture.h"

#include "terminal.h"
#include "whole_files.h"

bool save_picture(picture *p, poise_kinematics *kinematics, const char *name)
{
    text_file file;
    bool works = p && kinematics && picture_is_whole(p);
    if (!works) {
        complain("%s: no memory left for the picture", name);
    } else if ((works = text_open(&file))) {
        picture_write(p, file.stream);
        works = text_close(&file, name);
    }
    picture_destroy(p);
    poise_kinematics_destroy(kinematics);
    return works;
}
