// The built-in scenes as if they were files.
#include "load.h"

#include "memory.h"
#include "terminal.h"

#include <scenes/recording.h>
#include <scenes/scenes.h>

#include <stdlib.h>
#include <string.h>

// A scene while it is put together; poise_read makes an owned copy of it.
typedef struct scene_parts {
    poise_file file;
    scene_marker *places;
} scene_parts;

static void release(scene_parts *parts)
{
    for (int i = 0; i < parts->file.posture_count; ++i) {
        free((void *)parts->file.postures[i].q);
    }
    free(parts->file.postures);
    free(parts->file.placements);
    free(parts->places);
    poise_clip_destroy(parts->file.clip);
    poise_markers_destroy(parts->file.markers);
    poise_model_destroy(parts->file.model);
}

static void add_postures(scene_parts *parts, const char *scene)
{
    poise_file *file = &parts->file;
    file->posture_count = scene_posture_count(scene);
    file->postures = needed(calloc((size_t)file->posture_count + 1, sizeof *file->postures));
    for (int i = 0; i < file->posture_count; ++i) {
        double *q = needed(calloc((size_t)poise_model_info(file->model).nq + 1, sizeof *q));
        file->postures[i] = (poise_posture){.name = scene_posture_name(scene, i), .q = q};
        need(scene_posture(file->model, scene, file->postures[i].name, q) == POISE_OK);
    }
}

static void add_placements(scene_parts *parts, const char *scene)
{
    poise_file *file = &parts->file;
    int count = scene_marker_count(scene);
    parts->places = needed(calloc((size_t)count + 1, sizeof *parts->places));
    file->placements = needed(calloc((size_t)count + 1, sizeof *file->placements));
    file->placement_count = scene_markers(scene, parts->places, count);
    for (int i = 0; i < count; ++i) {
        const scene_marker *m = &parts->places[i];
        file->placements[i] = (poise_placement){.label = m->name, .body = m->body, .local = m->local, .weight = 1};
    }
}

// False after a line on standard error: "scene" exists, its motion may not.
static bool add_motion(scene_parts *parts, const char *scene, const char *motion)
{
    char name[64];
    snprintf(name, sizeof name, "%s", motion);
    char *slash = strchr(name, '/');
    if (slash) {
        *slash++ = '\0';
    }
    if (slash && strcmp(slash, "noisy") != 0) {
        complain("scene:%s/%s: there is \"%s/noisy\", but not \"%s/%s\"", scene, motion, name, name, slash);
        return false;
    }
    scene_recording how = slash ? scene_recording_noisy() : scene_recording_default();
    poise_status status = scene_record(parts->file.model, scene, name, &how, &parts->file.clip, &parts->file.markers);
    if (status == POISE_ERROR_UNSUPPORTED) {
        complain("scene:%s/%s: only the humanoids have motions", scene, motion);
    } else if (status != POISE_OK) {
        complain("scene:%s/%s: no such motion; there are walk, punch, kick and cartwheel", scene, motion);
    }
    return status == POISE_OK;
}

// Write it and read it back: then all parts are the file's own.
static poise_file *own(const scene_parts *parts, const char *scene)
{
    void *bytes;
    size_t size;
    int warnings = 0;
    poise_file *file = NULL;
    poise_error error = {0};
    poise_read_options options = {0};
    options.name = "scene.json";
    if (poise_write(&parts->file, POISE_FORMAT_JSON, NULL, &bytes, &size, NULL, &warnings, &error) == POISE_OK) {
        if (poise_read(bytes, size, &options, NULL, &file, &error) != POISE_OK) {
            file = NULL;
        }
        poise_bytes_release(NULL, bytes);
    }
    if (!file) {
        complain("scene:%s: %s", scene, error.text);
        return NULL;
    }
    file->format = POISE_FORMAT_UNKNOWN; // it comes from no file
    return file;
}

static const char *scene_at(const void *user, int index)
{
    (void)user;
    return scene_name(index);
}

// Figures that stand for people and animals have y up, machines z.
static poise_up upward(const char *scene)
{
    static const char *const families[] = {"humanoid", "lamp", "erik-"};
    for (size_t i = 0; i < sizeof families / sizeof families[0]; ++i) {
        if (strncmp(scene, families[i], strlen(families[i])) == 0) {
            return POISE_UP_Y;
        }
    }
    return POISE_UP_Z;
}

poise_file *load_scene(const char *name)
{
    char scene[64];
    snprintf(scene, sizeof scene, "%s", name);
    char *slash = strchr(scene, '/');
    if (slash) {
        *slash = '\0';
    }
    scene_parts parts = {.file.scale = {.metres = 1, .up = upward(scene)}, .file.title = scene};
    poise_file *file = NULL;
    if (scene_create(scene, NULL, &parts.file.model, NULL) != POISE_OK) {
        parts.file.model = NULL;
        const char *near = poise_nearest_name(scene, scene_at, NULL, scene_count());
        complain("scene:%s: no such scene; %s%s%s", scene,
                 near ? "did you mean \"scene:" : "\"poise info scene:\" lists them", near ? near : "", near ? "\"?" : "");
        return NULL;
    }
    add_postures(&parts, scene);
    add_placements(&parts, scene);
    if (!slash || add_motion(&parts, scene, slash + 1)) {
        file = own(&parts, scene);
    }
    release(&parts);
    return file;
}
