// Names and numbers that users give for parts of a model: bodies, postures.
#include "load.h"

#include "arguments.h"
#include "degrees.h"
#include "memory.h"
#include "parse_text.h"
#include "terminal.h"
#include "whole_files.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

// ---- Bodies --------------------------------------------------------------------------------------------------------------

int find_body(const poise_model *model, const char *name, poise_pose *local)
{
    poise_error error;
    int body = poise_model_find_part(model, name, local, &error);
    if (body < 0) {
        complain("%s%s", error.text, strchr(error.text, ';') ? "" : "; \"poise info\" lists them");
    }
    return body;
}

void coordinate_label(const poise_model *model, int i, char *label, size_t size)
{
    poise_coordinate c = poise_model_coordinate(model, i);
    snprintf(label, size, "%s%s%s", poise_model_joint_info(model, c.joint).name, c.label[0] ? " " : "", c.label);
}

// ---- Postures ------------------------------------------------------------------------------------------------------------

static bool frame_of_motion(const poise_file *model, const char *name, int frame, double *q)
{
    load_options options = {.model = model->model};
    poise_file *file = load_file(name, &options);
    bool works = false;
    int nq = poise_model_info(model->model).nq;
    if (file && file->clip && file->clip->nq != nq) {
        complain("%s: its motion has %d coordinates, the skeleton has %d", name, file->clip->nq, nq);
    } else if (file && file->clip && frame < file->clip->frames) {
        memcpy(q, file->clip->q + (size_t)frame * (size_t)nq, sizeof *q * (size_t)nq);
        works = true;
    } else if (file && file->clip) {
        complain("%s: has no frame %d, only 0 to %d", name, frame, file->clip->frames - 1);
    } else if (file) {
        complain("%s: holds no motion to take a posture from", name);
    }
    poise_file_destroy(file);
    return works;
}

static const char *posture_name(const void *file, int index)
{
    return ((const poise_file *)file)->postures[index].name;
}

bool load_more_postures(const char *name, poise_file *model, more_postures *more)
{
    *more = (more_postures){0};
    if (!name) {
        return true;
    }
    load_options options = {.model = model->model};
    more->file = load_file(name, &options);
    if (more->file && more->file->posture_count == 0) {
        complain("%s: holds no postures; write {\"poise\": 1, \"postures\": {\"nod\": [...]}}", name);
    }
    if (!more->file || more->file->posture_count == 0) {
        release_more_postures(more);
        return false;
    }
    add_more_postures(model, more);
    return true;
}

void add_more_postures(poise_file *model, more_postures *more)
{
    size_t own = (size_t)model->posture_count, added = (size_t)more->file->posture_count;
    more->list = needed(malloc((own + added + 1) * sizeof *more->list));
    for (size_t i = 0; i < own + added; ++i) {
        more->list[i] = i < own ? model->postures[i] : more->file->postures[i - own];
    }
    model->postures = more->list;
    model->posture_count = (int)(own + added);
}

void release_more_postures(more_postures *more)
{
    free(more->list);
    poise_file_destroy(more->file);
    *more = (more_postures){0};
}

static void ask_for_unit(const poise_model *model, const char *text, const double *q)
{
    int i = poise_model_suspect_degrees(model, q);
    if (i != POISE_NONE) {
        warn("\"%s\": %g rad for joint \"%s\": are these degrees? write \"%s deg\"", text, q[i],
             poise_model_joint_info(model, poise_model_coordinate(model, i).joint).name, text);
    }
}

int posture_numbers(const poise_model *model, const char *text, double *q)
{
    char numbers[4096];
    size_t length = strlen(text);
    static const char *const words[] = {"degrees", "deg"};
    bool is_degrees = false;
    for (size_t i = 0; i < 2 && !is_degrees; ++i) {
        size_t size = strlen(words[i]);
        is_degrees = length > size && strcmp(text + length - size, words[i]) == 0;
        length -= is_degrees ? size : 0;
    }
    snprintf(numbers, sizeof numbers, "%.*s", (int)length, text);
    int nq = poise_model_info(model).nq, count = length < sizeof numbers ? parse_numbers(numbers, q, nq) : -1;
    for (int i = 0; is_degrees && i < count && i < nq; ++i) {
        q[i] /= poise_model_coordinate(model, i).unit == POISE_UNIT_ANGLE ? DEGREES_PER_RADIAN : 1;
    }
    if (count == nq && !is_degrees) {
        ask_for_unit(model, text, q);
    }
    return count;
}

bool load_posture(const poise_file *model, const char *posture, double *q)
{
    int nq = poise_model_info(model->model).nq;
    if (strcmp(posture, "neutral") == 0) {
        poise_model_neutral(model->model, q);
        return true;
    }
    for (int i = 0; i < model->posture_count; ++i) {
        if (strcmp(model->postures[i].name, posture) == 0) {
            memcpy(q, model->postures[i].q, sizeof *q * (size_t)nq);
            return true;
        }
    }
    int count = posture_numbers(model->model, posture, q);
    if (count == nq && nq > 0) {
        return true;
    }
    if (count > 0) {
        complain("posture \"%s\" has %d numbers; the skeleton takes %d", posture, count, nq);
        return false;
    }
    char name[PATH_MAX];
    const char *at = strrchr(posture, '@');
    double frame = 0;
    if (at && parse_number(at + 1, &frame) && frame >= 0 && frame == (int)frame) {
        snprintf(name, sizeof name, "%.*s", (int)(at - posture), posture);
        return frame_of_motion(model, name, (int)frame, q);
    }
    if (strchr(posture, '.') || strpbrk(posture, "/\\") || strcmp(posture, "-") == 0) {
        return frame_of_motion(model, posture, 0, q);
    }
    const char *near = poise_nearest_name(posture, posture_name, model, model->posture_count);
    complain("no posture is called \"%s\"%s%s%s \"neutral\", FILE@FRAME or %d numbers also work", posture,
             near ? "; did you mean \"" : ";", near ? near : "", near ? "\"?" : "", nq);
    return false;
}
