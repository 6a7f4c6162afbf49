#include "hdm05_task.h"

#include <poise/io.h>
#include <scenes/scenes.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CM_PER_UNIT (2.5189 / 0.45)
#define CM_PER_MM   ((double)0.1f) // the scale of the C3D, single precision, by which the authors' program multiplies

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

// Say why there is no task. Always false.
static bool fail(hdm05_task *task, poise_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    task->error.status = status;
    vsnprintf(task->error.text, sizeof task->error.text, format, arguments);
    va_end(arguments);
    return false;
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

// Free all but the reason.
static void free_but_error(hdm05_task *task)
{
    poise_error error = task->error;
    hdm05_free(task);
    task->error = error;
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
    char *bytes = calloc((size_t)(length > 0 ? length : 0) + 1, 1);
    *size = bytes ? fread(bytes, 1, length > 0 ? (size_t)length : 0, file) : 0;
    fclose(file);
    return bytes;
}

// The bytes of a file, with a 0 after the last.
static char *load_text(const char *folder, const char *name, const char *extension)
{
    char path[1024];
    size_t size;
    snprintf(path, sizeof path, "%s/%s%s", folder, name, extension);
    return load(path, &size);
}

// NULL, with the reason in task->error, when it cannot be read.
static poise_file *read_one(hdm05_task *task, const char *folder, const char *name, const char *extension,
                            const poise_model *model)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s%s", folder, name, extension);
    size_t size;
    void *bytes = load(path, &size);
    if (!bytes) {
        fail(task, POISE_ERROR_NOT_FOUND, "%.200s: cannot be read", path);
        return NULL;
    }
    poise_read_options options = {0};
    options.name = path;
    options.model = model;
    poise_error error;
    poise_file *file = NULL;
    poise_status status = poise_read(bytes, size, &options, NULL, &file, &error);
    if (status != POISE_OK) {
        fail(task, status, "%.80s:%d: %.150s", path, error.line, error.text);
    }
    free(bytes);
    return file;
}

// Room for poses, targets and places of task->frames frames.
static bool make_room(hdm05_task *task)
{
    size_t frames = (size_t)task->frames;
    task->amc = calloc(frames * (size_t)task->nq + 1, sizeof *task->amc);
    task->target = calloc(frames * HDM05_MARKERS + 1, sizeof *task->target);
    task->own = calloc(frames * HDM05_MARKERS + 1, sizeof *task->own);
    return (task->amc && task->target && task->own) || fail(task, POISE_ERROR_MEMORY, "out of memory");
}

// What follows from task->model.
static bool take_sizes(hdm05_task *task)
{
    task->nq = poise_model_info(task->model).nq;
    task->nv = poise_model_info(task->model).nv;
    task->locked = calloc((size_t)task->nv, sizeof *task->locked);
    return task->locked && poise_kinematics_create(task->model, NULL, &task->kinematics, NULL) == POISE_OK;
}

// The length of the direction that an ASF gives a bone, a unit vector of six digits; 1 of the root, which has none.
static double direction_length(const char *asf, const char *bone)
{
    char word[64];
    int used = 0;
    bool is_here = false;
    for (const char *at = asf; sscanf(at, "%63s%n", word, &used) == 1; at += used) {
        double x, y, z;
        if (strcmp(word, "name") == 0 && sscanf(at + used, "%63s", word) == 1) {
            is_here = strcmp(word, bone) == 0;
        } else if (is_here && strcmp(word, "direction") == 0 && sscanf(at + used, "%lf %lf %lf", &x, &y, &z) == 3) {
            return sqrt(x * x + y * y + z * z);
        }
    }
    return 1.0;
}

// The skeleton in cm, its bones as long as the ASF says: directions are normalised, as in the authors' program.
static bool take_model(hdm05_task *task, const poise_model *read, const char *asf)
{
    int joints = poise_model_info(read).joints;
    double *scale = malloc((size_t)joints * sizeof *scale);
    for (int k = 0; scale && k < joints; ++k) {
        int parent = poise_model_joint_info(read, k).parent;
        const char *bone = parent >= 0 ? poise_model_joint_info(read, parent).body : "";
        scale[k] = CM_PER_UNIT / direction_length(asf, bone);
    }
    poise_status status = scale ? poise_model_rescale(read, scale, NULL, &task->model, NULL) : POISE_ERROR_MEMORY;
    free(scale);
    if (status != POISE_OK || !take_sizes(task)) {
        return fail(task, POISE_ERROR_MEMORY, "the skeleton cannot be scaled");
    }
    for (int k = 0; k < joints; ++k) {
        int first = poise_model_joint_info(task->model, k).v, count = poise_model_joint_info(task->model, k).nv;
        for (int i = 0; i < count; ++i) {
            task->locked[first + i] = strstr(poise_model_joint_info(task->model, k).body, "thumb") != NULL;
        }
    }
    for (int i = 0; i < HDM05_MARKERS; ++i) {
        snprintf(task->label[i], sizeof task->label[i], "%s", places[i].label);
        task->body[i] = poise_model_find_body(task->model, places[i].bone);
        if (task->body[i] == POISE_NONE) {
            return fail(task, POISE_ERROR_NOT_FOUND, "the skeleton has no bone \"%s\"", places[i].bone);
        }
    }
    return true;
}

static void take_clip(hdm05_task *task, const poise_clip *clip)
{
    memcpy(task->amc, clip->q, (size_t)clip->frames * (size_t)task->nq * sizeof *task->amc);
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
        return fail(task, POISE_ERROR_ARGUMENT, "%d frames of markers for %d of motion", markers->frames, task->frames);
    }
    for (int i = 0; i < HDM05_MARKERS; ++i) {
        int m = poise_markers_find(markers, places[i].label);
        if (m == POISE_NONE) {
            return fail(task, POISE_ERROR_NOT_FOUND, "there is no marker \"%s\"", places[i].label);
        }
        for (int f = 0; f < task->frames; ++f) {
            poise_vec3 p = markers->position[(size_t)f * (size_t)markers->count + (size_t)m];
            task->target[(size_t)f * HDM05_MARKERS + (size_t)i] =
                poise_vec3_make(CM_PER_MM * p.y, CM_PER_MM * p.z, CM_PER_MM * p.x);
        }
    }
    return true;
}

// Where the markers of each frame sit in the bones of its AMC pose, and the means.
static void find_places(hdm05_task *task)
{
    for (int f = 0; f < task->frames; ++f) {
        poise_kinematics_update(task->kinematics, hdm05_pose(task, f), NULL);
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
    *task = (hdm05_task){.is_recording = true, .has_flips = strstr(take, "dg_03-05_02") != NULL};
    poise_file *asf = read_one(task, folder, skeleton, ".asf", NULL);
    char *text = asf ? load_text(folder, skeleton, ".asf") : NULL;
    bool works = text && take_model(task, asf->model, text);
    free(text);
    poise_file *amc = works ? read_one(task, folder, take, ".amc", asf->model) : NULL;
    poise_file *c3d = amc ? read_one(task, folder, take, ".c3d", NULL) : NULL;
    works = works && amc && c3d;
    if (works && !(amc->clip && c3d->markers)) {
        works = fail(task, POISE_ERROR_ARGUMENT, "%.200s: no motion or no markers", take);
    }
    if (works) {
        task->frames = amc->clip->frames;
        task->frame_time = amc->clip->frame_time;
        works = make_room(task);
    }
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
        free_but_error(task);
    }
    return works;
}

// ---- The stand-in --------------------------------------------------------------------------------------------------------

#define STAND_IN_SCENE "humanoid-euler"
#define STAND_IN_RATE  120.0
#define CM_PER_METRE   100.0

static poise_vec3 in_cm(poise_vec3 p)
{
    return poise_vec3_make(CM_PER_METRE * p.x, CM_PER_METRE * p.y, CM_PER_METRE * p.z);
}

// The humanoid in cm, without limits and masses.
static poise_status make_humanoid(const poise_model *humanoid, poise_model **model, poise_error *error)
{
    poise_builder *builder = NULL;
    poise_status status = poise_builder_create(NULL, &builder, NULL);
    for (int k = 0; k < poise_model_info(humanoid).joints && status == POISE_OK; ++k) {
        poise_joint joint = *poise_model_joint_info(humanoid, k).given, none = poise_joint_default();
        joint.offset.position = in_cm(joint.offset.position);
        memcpy(joint.lower, none.lower, sizeof joint.lower);
        memcpy(joint.upper, none.upper, sizeof joint.upper);
        joint.mass = 0.0;
        status = poise_builder_add_joint(builder, &joint, error);
    }
    status = status == POISE_OK ? poise_model_create(builder, NULL, model, error) : status;
    poise_builder_destroy(builder);
    return status;
}

static void film(hdm05_task *task, const poise_model *humanoid, const char *motion)
{
    for (int f = 0; f < task->frames; ++f) {
        double *q = task->amc + (size_t)f * (size_t)task->nq;
        scene_motion_pose(humanoid, motion, f * task->frame_time, q);
        for (int i = 0; i < 3; ++i) {
            q[i] *= CM_PER_METRE;
        }
        poise_kinematics_update(task->kinematics, q, NULL);
        for (int i = 0; i < HDM05_MARKERS; ++i) {
            size_t at = (size_t)f * HDM05_MARKERS + (size_t)i;
            task->own[at] = task->mean[i];
            task->target[at] = poise_kinematics_point(task->kinematics, task->body[i], task->mean[i]);
        }
    }
}

_Static_assert(sizeof((scene_marker *)0)->name == sizeof((hdm05_task *)0)->label[0], "names of markers");

bool hdm05_make(const char *motion, hdm05_task *task)
{
    scene_marker markers[HDM05_MARKERS];
    poise_model *humanoid = NULL;
    *task = (hdm05_task){.frame_time = 1.0 / STAND_IN_RATE};
    task->frames = (int)(scene_motion_duration(motion) * STAND_IN_RATE + 0.5);
    if (task->frames == 0) {
        return fail(task, POISE_ERROR_NOT_FOUND, "the humanoid has no motion \"%.200s\"", motion);
    }
    poise_status status = scene_create(STAND_IN_SCENE, NULL, &humanoid, &task->error);
    status = status == POISE_OK ? make_humanoid(humanoid, &task->model, &task->error) : status;
    bool works = status == POISE_OK && scene_markers(STAND_IN_SCENE, markers, HDM05_MARKERS) == HDM05_MARKERS &&
                 take_sizes(task) && make_room(task);
    for (int i = 0; works && i < HDM05_MARKERS; ++i) {
        memcpy(task->label[i], markers[i].name, sizeof task->label[i]);
        task->body[i] = markers[i].body;
        task->mean[i] = in_cm(markers[i].local);
    }
    if (works) {
        film(task, humanoid, motion);
    } else {
        fail(task, status, "the humanoid cannot be made");
        free_but_error(task);
    }
    poise_model_destroy(humanoid);
    return works;
}

// ---- Problems ------------------------------------------------------------------------------------------------------------

void hdm05_goals(const hdm05_task *task, int frame, hdm05_kind kind, poise_goal *goals)
{
    if (kind == HDM05_MADE_MARKERS) {
        poise_kinematics_update(task->kinematics, hdm05_pose(task, frame), NULL);
    }
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
