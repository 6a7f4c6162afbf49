#include "hdm05_task.h"

#include <poise/io.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CM_PER_UNIT (2.5189 / 0.45)

static const struct {
    const char *label, *bone;
} places[HDM05_MARKERS] = {
    {"LFHD", "head"},     {"RFHD", "head"},      {"LBHD", "head"},      {"RBHD", "head"},      {"C7", "lowerneck"},
    {"T10", "lowerback"}, {"CLAV", "thorax"},    {"STRN", "upperback"}, {"RBAC", "upperback"}, {"LSHO", "lclavicle"},
    {"LUPA", "lhumerus"}, {"LELB", "lhumerus"},  {"LFRM", "lradius"},   {"LWRA", "lwrist"},    {"LWRB", "lwrist"},
    {"LFIN", "lfingers"}, {"RSHO", "rclavicle"}, {"RUPA", "rhumerus"},  {"RELB", "rhumerus"},  {"RFRM", "rradius"},
    {"RWRA", "rwrist"},   {"RWRB", "rwrist"},    {"RFIN", "rfingers"},  {"LFWT", "root"},      {"RFWT", "root"},
    {"LBWT", "root"},     {"RBWT", "root"},      {"LTHI", "lfemur"},    {"LKNE", "lfemur"},    {"LSHN", "ltibia"},
    {"LANK", "lfoot"},    {"LHEE", "lfoot"},     {"LTOE", "ltoes"},     {"LMT5", "ltoes"},     {"RTHI", "rfemur"},
    {"RKNE", "rfemur"},   {"RSHN", "rtibia"},    {"RANK", "rfoot"},     {"RHEE", "rfoot"},     {"RTOE", "rtoes"},
    {"RMT5", "rtoes"},
};

// ---- Reading -------------------------------------------------------------------------------------------------------------

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    if (!memory) {
        fprintf(stderr, "out of memory\n");
        exit(EXIT_FAILURE);
    }
    return memory;
}

static void *load(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        return NULL;
    }
    fseek(file, 0, SEEK_END);
    long length = ftell(file);
    rewind(file);
    char *bytes = allocate((size_t)(length > 0 ? length : 0) + 1, 1);
    *size = fread(bytes, 1, length > 0 ? (size_t)length : 0, file);
    fclose(file);
    return bytes;
}

static poise_file *read_one(const char *folder, const char *name, const char *extension, const poise_model *model)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s%s", folder, name, extension);
    size_t size;
    void *bytes = load(path, &size);
    if (!bytes) {
        fprintf(stderr, "%s: not there\n", path);
        return NULL;
    }
    poise_read_options options = poise_read_options_default();
    options.name = path;
    options.model = model;
    poise_error error;
    poise_file *file = NULL;
    if (poise_read(bytes, size, &options, NULL, &file, &error) != POISE_OK) {
        fprintf(stderr, "%s:%d: %s\n", path, error.line, error.text);
    }
    free(bytes);
    return file;
}

// The skeleton in cm.
static bool take_model(hdm05_task *task, const poise_model *read)
{
    int joints = poise_model_joint_count(read);
    double *scale = allocate((size_t)joints, sizeof *scale);
    for (int k = 0; k < joints; ++k) {
        scale[k] = CM_PER_UNIT;
    }
    poise_status status = poise_model_rescale(read, scale, NULL, &task->model, NULL);
    free(scale);
    if (status != POISE_OK || poise_kinematics_create(task->model, NULL, &task->kinematics) != POISE_OK) {
        return false;
    }
    task->nq = poise_model_nq(task->model);
    task->nv = poise_model_nv(task->model);
    task->locked = allocate((size_t)task->nv, sizeof *task->locked);
    for (int k = 0; k < joints; ++k) {
        int count, first = poise_model_joint_v(task->model, k, &count);
        for (int i = 0; i < count; ++i) {
            task->locked[first + i] = strstr(poise_model_body_name(task->model, k), "thumb") != NULL;
        }
    }
    for (int i = 0; i < HDM05_MARKERS; ++i) {
        snprintf(task->label[i], sizeof task->label[i], "%s", places[i].label);
        task->body[i] = poise_model_find_body(task->model, places[i].bone);
        if (task->body[i] == POISE_WORLD) {
            fprintf(stderr, "the skeleton has no bone \"%s\"\n", places[i].bone);
            return false;
        }
    }
    return true;
}

static void take_clip(hdm05_task *task, const poise_clip *clip)
{
    task->frames = clip->frames;
    task->frame_time = clip->frame_time;
    size_t count = (size_t)clip->frames * (size_t)task->nq;
    task->amc = allocate(count, sizeof *task->amc);
    memcpy(task->amc, clip->q, count * sizeof *task->amc);
    for (int f = 0; f < clip->frames; ++f) {
        double *q = task->amc + (size_t)f * (size_t)task->nq;
        for (int i = 0; i < 3; ++i) {
            q[i] *= CM_PER_UNIT;
        }
        for (int i = 0; i < task->nq; ++i) {
            q[i] = task->locked[i] ? 0.0 : q[i];
        }
    }
}

static bool take_markers(hdm05_task *task, const poise_markers *markers)
{
    if (markers->frames < task->frames) {
        fprintf(stderr, "%d frames of markers for %d of motion\n", markers->frames, task->frames);
        return false;
    }
    task->target = allocate((size_t)task->frames * HDM05_MARKERS, sizeof *task->target);
    for (int i = 0; i < HDM05_MARKERS; ++i) {
        int m = poise_markers_find(markers, places[i].label);
        if (m == POISE_WORLD) {
            fprintf(stderr, "there is no marker \"%s\"\n", places[i].label);
            return false;
        }
        for (int f = 0; f < task->frames; ++f) {
            poise_vec3 p = markers->position[(size_t)f * (size_t)markers->count + (size_t)m];
            task->target[(size_t)f * HDM05_MARKERS + (size_t)i] = poise_vec3_make(p.y / 10.0, p.z / 10.0, p.x / 10.0);
        }
    }
    return true;
}

// Where the markers of each frame sit in the bones of its AMC pose, and the means.
static void find_places(hdm05_task *task)
{
    task->own = allocate((size_t)task->frames * HDM05_MARKERS, sizeof *task->own);
    for (int f = 0; f < task->frames; ++f) {
        poise_kinematics_update(task->kinematics, hdm05_pose(task, f));
        for (int i = 0; i < HDM05_MARKERS; ++i) {
            size_t at = (size_t)f * HDM05_MARKERS + (size_t)i;
            poise_pose inverse = poise_pose_inverse(poise_kinematics_body_pose(task->kinematics, task->body[i]));
            poise_vec3 l = poise_pose_transform(inverse, task->target[at]);
            task->own[at] = l;
            task->mean[i].x += l.x / task->frames;
            task->mean[i].y += l.y / task->frames;
            task->mean[i].z += l.z / task->frames;
        }
    }
}

bool hdm05_read(const char *folder, const char *skeleton, const char *take, hdm05_task *task)
{
    *task = (hdm05_task){.frames = 0};
    poise_file *asf = read_one(folder, skeleton, ".asf", NULL);
    bool works = asf && take_model(task, asf->model);
    poise_file *amc = works ? read_one(folder, take, ".amc", asf->model) : NULL;
    poise_file *c3d = amc ? read_one(folder, take, ".c3d", NULL) : NULL;
    works = works && amc && amc->clip && c3d && c3d->markers;
    if (works) {
        take_clip(task, amc->clip);
        works = take_markers(task, c3d->markers);
    }
    poise_file_destroy(asf);
    poise_file_destroy(amc);
    poise_file_destroy(c3d);
    if (works) {
        find_places(task);
    } else {
        hdm05_free(task);
    }
    return works;
}

void hdm05_free(hdm05_task *task)
{
    poise_kinematics_destroy(task->kinematics);
    poise_model_destroy(task->model);
    free(task->amc);
    free(task->target);
    free(task->own);
    free(task->locked);
    *task = (hdm05_task){.frames = 0};
}

// ---- Problems ------------------------------------------------------------------------------------------------------------

void hdm05_goals(const hdm05_task *task, int frame, hdm05_kind kind, poise_goal *goals)
{
    poise_kinematics_update(task->kinematics, hdm05_pose(task, frame));
    for (int i = 0; i < HDM05_MARKERS; ++i) {
        size_t at = (size_t)frame * HDM05_MARKERS + (size_t)i;
        poise_vec3 local = kind == HDM05_OWN_PLACES ? task->own[at] : task->mean[i], target = task->target[at];
        if (kind == HDM05_MADE_MARKERS) {
            target = poise_kinematics_point(task->kinematics, task->body[i], local);
        }
        goals[i] = poise_goal_position(task->body[i], local, target);
    }
}

void hdm05_zero(const hdm05_task *task, int frame, double *q)
{
    memset(q, 0, (size_t)task->nq * sizeof *q);
    for (int i = 0; i < HDM05_MARKERS; ++i) {
        poise_vec3 t = task->target[(size_t)frame * HDM05_MARKERS + (size_t)i];
        q[0] += t.x / HDM05_MARKERS;
        q[1] += t.y / HDM05_MARKERS;
        q[2] += t.z / HDM05_MARKERS;
    }
}
