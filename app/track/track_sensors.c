// Following sensors of orientation, as OpenSense has them.
#include "track_parts.h"

#include "cli/files.h"
#include "cli/terminal.h"
#include "cli/verdict_text.h"

#include <poise/opensim.h>

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#define DEGREES 57.29577951308232

typedef struct sensor_job {
    poise_file *skeleton;
    poise_orientations *recording, *calibration;
    poise_sensor_setup setup;
    poise_sensor *sensors;
    poise_clip *clip;
    double *rms;
    poise_verdict verdict;
    poise_finding *findings; // room for all: one for the angles, one for each sensor
} sensor_job;

static void release(sensor_job *j)
{
    poise_file_destroy(j->skeleton);
    poise_orientations_destroy(j->recording);
    poise_orientations_destroy(j->calibration);
    poise_clip_destroy(j->clip);
    free(j->sensors);
    free(j->rms);
    free(j->findings);
}

static poise_orientations *read_orientations(const char *name)
{
    file_bytes file = {.bytes = NULL};
    poise_orientations *made = NULL;
    poise_error error = {0};
    if (!file_read(name, &file)) {
        return NULL;
    }
    if (poise_orientations_read(file.bytes, file.size, NULL, &made, &error) != POISE_OK) {
        complain("%s:%d: %s", name, error.line, error.text);
        made = NULL;
    }
    file_release(&file);
    return made;
}

// The calibration that the setup names, beside it; without one the first row of the recording counts.
static bool read_setup(sensor_job *j, const char *name)
{
    file_bytes file = {.bytes = NULL};
    poise_error error = {0};
    char path[PATH_MAX];
    if (!file_read(name, &file)) {
        return false;
    }
    bool works = poise_sensor_setup_read(file.bytes, file.size, &j->setup, &error) == POISE_OK;
    file_release(&file);
    if (!works) {
        complain("%s:%d: %s", name, error.line, error.text);
        return false;
    }
    if (j->setup.file[0] == '\0') {
        return true;
    }
    int folder = system_is_absolute(j->setup.file) ? 0 : (int)(path_base(name) - name);
    works = snprintf(path, sizeof path, "%.*s%s", folder, name, j->setup.file) < (int)sizeof path;
    return works && (j->calibration = read_orientations(path)) != NULL;
}

static const double *start_of(const poise_file *skeleton)
{
    return skeleton->posture_count > 0 ? skeleton->postures[0].q : NULL;
}

static double rms_of(const sensor_job *j)
{
    double square = 0;
    for (int f = 0; f < j->clip->frames; ++f) {
        square += j->rms[f] * j->rms[f];
    }
    return sqrt(square / j->clip->frames);
}

static bool judge(const track_request *request, sensor_job *j, const poise_sensor_problem *problem)
{
    int capacity = j->recording->count + 1;
    j->findings = calloc((size_t)capacity, sizeof *j->findings);
    if (!j->findings) {
        complain("no memory left");
        return false;
    }
    return poise_sensors_judge(problem, j->rms, &request->problem.thresholds, &j->verdict, j->findings, capacity, NULL) ==
           POISE_OK;
}

static bool follow(const track_request *request, sensor_job *j, double *heading)
{
    const poise_orientations *o = j->recording, *c = j->calibration ? j->calibration : o;
    const double *start = start_of(j->skeleton);
    int last = request->problem.last < 0 || request->problem.last >= o->frames ? o->frames - 1 : request->problem.last;
    j->sensors = calloc((size_t)c->count + 1, sizeof *j->sensors);
    j->rms = calloc((size_t)o->frames + 1, sizeof *j->rms);
    if (!j->sensors || !j->rms || !start || request->problem.first > last) {
        complain("%s: %s", request->source,
                 start ? "has no such frames" : "the skeleton's file has no posture to begin with");
        return false;
    }
    int count = poise_place_sensors(j->skeleton->model, start, c, &j->setup, j->sensors, c->count, heading);
    int kept = poise_find_sensors(c, o, j->sensors, count);
    if (kept == 0) {
        complain("%s: none of its sensors, such as \"%s\", is called after a body of %s", request->source, o->label[0],
                 request->model);
        return false;
    }
    poise_sensor_problem problem = {.model = j->skeleton->model,
                                    .q_start = start,
                                    .orientations = o,
                                    .rotations = j->setup.rotations,
                                    .heading = *heading,
                                    .sensors = j->sensors,
                                    .sensor_count = kept,
                                    .first = request->problem.first,
                                    .count = last - request->problem.first + 1};
    poise_error error = {0};
    if (poise_track_sensors(&problem, NULL, &j->clip, j->rms, &error) != POISE_OK) {
        complain("%s: %s", request->source, error.text);
        j->clip = NULL;
        return false;
    }
    return judge(request, j, &problem);
}

static void print(const track_request *request, const sensor_job *j, double heading, double seconds)
{
    double worst = 0;
    int frame = 0;
    for (int f = 0; f < j->clip->frames; ++f) {
        frame = j->rms[f] > worst ? f : frame;
        worst = fmax(worst, j->rms[f]);
    }
    printf("%s follows the sensors of %s\n", request->model, request->source);
    printf("  recording   %d frame%s, %g per second, %d sensor%s\n", j->clip->frames, j->clip->frames == 1 ? "" : "s",
           j->recording->rate, j->recording->count, j->recording->count == 1 ? "" : "s");
    printf("  heading     %.3f degrees%s\n", heading * DEGREES, j->setup.base[0] ? "" : ": no base sensor, not corrected");
    printf("  error       rms %.3f degrees, largest %.3f in frame %d\n", rms_of(j) * DEGREES, worst * DEGREES,
           request->problem.first + frame);
    printf("  time        %.0f us a frame\n", 1e6 * seconds / j->clip->frames);
    verdict_print(&j->verdict, j->findings, stdout);
}

bool track_sensors(const track_request *request, const char *setup, const char *out, poise_verdict_level *level)
{
    sensor_job j = {.setup = {.axis = 'x'}};
    double heading = 0;
    j.skeleton = load_model(request->model, NULL);
    bool works = j.skeleton && (j.recording = read_orientations(request->source)) != NULL && read_setup(&j, setup);
    double start = seconds_now();
    works = works && (!out || motion_can_be_written(j.skeleton, out)) && follow(request, &j, &heading);
    double seconds = seconds_now() - start;
    if (works && out) {
        poise_file file = {.format = j.skeleton->format,
                           .model = j.skeleton->model,
                           .clip = j.clip,
                           .scale = j.skeleton->scale,
                           .title = j.skeleton->title};
        works = save_motion(out, &file);
    }
    if (works) {
        print(request, &j, heading, seconds);
        *level = j.verdict.level;
    }
    release(&j);
    return works;
}
