// Which takes the authors show, and what stands in where a user does not have them.
#include <research/reproduce_hessian.h>

#include <stdio.h>
#include <string.h>

// Frames as the authors' scripts have them, counted from 1.
static const int walking[] = {287, 321, 3375, 6538}, punching[] = {3612, 3624, 4005}, kicking[] = {489, 2469, 2842};

#define COUNT(a) ((int)(sizeof(a) / sizeof(a)[0]))

static const struct {
    const char *motion, *take;
    const int *frames;
    int count;
    const char *recording, *own; // what stands in: a recording, else our own motion
} scenes[PAPER_SCENES] = {
    {"walking", "dg_03-02_01", walking, COUNT(walking), NULL, "walk"},
    {"punching", "dg_03-02_01", punching, COUNT(punching), NULL, "punch"},
    {"kicking", "dg_03-02_01", kicking, COUNT(kicking), NULL, "kick"},
    {"workout", "mm_03-05_02", NULL, 0, REPRODUCE_TAKE, "cartwheel"},
};

static bool load(reproduce *r, paper_scene scene, scene_take *take)
{
    const char *recording = scenes[scene].recording;
    bool is_theirs = reproduce_has_take(r, scenes[scene].take);
    bool is_recording = !is_theirs && recording && reproduce_has_take(r, recording);
    const char *name = is_theirs ? scenes[scene].take : is_recording ? recording : scenes[scene].own;
    *take = (scene_take){.motion = scenes[scene].motion, .study = reproduce_take(r, name), .is_theirs = is_theirs};
    if (!take->study) {
        return false;
    }
    while (is_theirs && take->count < scenes[scene].count && scenes[scene].frames[take->count] <= take->study->task.frames) {
        take->frames = scenes[scene].frames; // a take that was cut has the first of them
        take->count += 1;
    }
    snprintf(take->title, sizeof take->title,
             is_theirs      ? "%s, %s"
             : is_recording ? "%s%s"
                            : "%sour %s",
             is_theirs ? take->motion : "", name);
    return true;
}

bool reproduce_scenes(reproduce *r, paper_scene first, int count, scene_take *takes)
{
    char text[1024] = "";
    for (int i = 0; i < count; ++i) {
        if (!load(r, (paper_scene)((int)first + i), &takes[i])) {
            return false;
        }
    }
    for (int i = 0; i < count; ++i) { // scenes of one take follow each other
        const char *take = scenes[(int)first + i].take;
        bool begins = i == 0 || strcmp(take, scenes[(int)first + i - 1].take) != 0;
        bool ends = i == count - 1 || strcmp(take, scenes[(int)first + i + 1].take) != 0;
        size_t used = strlen(text);
        if (!takes[i].is_theirs) {
            const char *whose = takes[i].study->task.is_recording ? "the recording " : "our own ";
            snprintf(text + used, sizeof text - used, "%s%s%s%s%s", begins && i > 0 ? " " : "",
                     begins ? "In place of HDM05 " : "", begins ? take : "",
                     begins ? ": "
                     : ends ? " and "
                            : ", ",
                     whose);
            used = strlen(text);
            snprintf(text + used, sizeof text - used, "%s%s", takes[i].study->name, ends ? "." : "");
        }
    }
    if (text[0]) {
        reproduce_note(r, "%s %s", text, reproduce_no_take(r));
    }
    return true;
}
