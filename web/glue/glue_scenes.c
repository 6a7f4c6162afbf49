// The built-in scenes.
#include "glue.h"

#include "scenes/scenes.h"

// The names of the scenes, for an index in range; else NULL.
const char *WEB_EXPORT(web_scene_name)(int scene)
{
    return scene_name(scene);
}

const char *WEB_EXPORT(web_scene_description)(int scene)
{
    return scene_description(scene);
}

// Names at `names`, 32 bytes each; at `numbers` the body and the place (3) of each. Returns how many there are.
int WEB_EXPORT(web_scene_markers)(const char *scene, int capacity, char *names, double *numbers)
{
    scene_marker *markers = web_take((size_t)capacity, sizeof *markers);
    if (!markers) {
        return 0;
    }
    int count = scene_markers(scene, markers, capacity);
    web_row row = {numbers};
    for (int i = 0; i < count && i < capacity; ++i) {
        for (size_t c = 0; c < sizeof markers[i].name; ++c) {
            *names++ = markers[i].name[c];
        }
        web_put(&row, markers[i].body);
        web_put_vec3(&row, markers[i].local);
    }
    web_release(markers);
    return count;
}

const char *WEB_EXPORT(web_scene_posture_name)(const char *scene, int posture)
{
    return scene_posture_name(scene, posture);
}

poise_status WEB_EXPORT(web_scene_posture)(const poise_model *model, const char *scene, const char *posture, double *q)
{
    poise_status status = scene_posture(model, scene, posture, q);
    return status == POISE_OK ? status : web_fail(status, "the scene has no such posture, or the model is another one");
}

const char *WEB_EXPORT(web_motion_name)(int motion)
{
    return scene_motion_name(motion);
}

double WEB_EXPORT(web_motion_duration)(const char *motion)
{
    return scene_motion_duration(motion);
}

poise_status WEB_EXPORT(web_motion_pose)(const poise_model *model, const char *motion, double t, double *q)
{
    poise_status status = scene_motion_pose(model, motion, t, q);
    return status == POISE_OK ? status : web_fail(status, "there is no such motion, or the model is not a humanoid");
}
