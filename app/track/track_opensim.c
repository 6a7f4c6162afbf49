// Following a recording as OpenSim's inverse kinematics does: its tasks, its times, its table of errors.
#include "cli/files.h"
#include "cli/terminal.h"
#include "cli/words.h"
#include "track/track.h"

#include <poise/opensim.h>

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool no_memory(void)
{
    complain("no memory left");
    return false;
}

static poise_ik_setup *read_setup(const char *name)
{
    file_bytes file = {.bytes = NULL};
    poise_ik_setup *setup = NULL;
    poise_error error = {0};
    if (!file_read(name, &file)) {
        return NULL;
    }
    if (poise_ik_setup_read(file.bytes, file.size, NULL, &setup, &error) != POISE_OK) {
        complain("%s:%d: %s", name, error.line, error.text);
        setup = NULL;
    }
    file_release(&file);
    return setup;
}

// Frames between the times of the setup, unless the command line names frames.
bool track_take_times(const char *tasks, const poise_markers *markers, poise_recording_problem *problem)
{
    poise_ik_setup *setup = read_setup(tasks);
    if (!setup) {
        return false;
    }
    const double slack = 1e-6; // of a frame: times are rounded
    double first = ceil((setup->start - markers->start_time) * markers->rate - slack);
    double last = floor((setup->end - markers->start_time) * markers->rate + slack);
    poise_ik_setup_destroy(setup);
    if (first > markers->frames - 1 || last < 0) {
        complain("%s: its time_range contains no frame of the recording, which runs from %g to %g s", tasks,
                 markers->start_time, markers->start_time + (markers->frames - 1) / markers->rate);
        return false;
    }
    if (problem->first == 0 && first > 0) {
        problem->first = (int)first;
    }
    if (problem->last < 0 && last < markers->frames - 1) {
        problem->last = (int)last;
    }
    return true;
}

const double *track_default_posture(const track_result *r)
{
    for (int i = 0; i < r->skeleton->posture_count; ++i) {
        if (strcmp(r->skeleton->postures[i].name, "default") == 0) {
            return r->skeleton->postures[i].q;
        }
    }
    return NULL;
}

static const char *label_at(const void *markers, int i)
{
    return ((const poise_markers *)markers)->label[i];
}

static bool is_placed(const track_result *r, const char *label)
{
    for (int i = 0; i < r->made->placement_count; ++i) {
        if (strcmp(r->made->placements[i].label, label) == 0) {
            return true;
        }
    }
    return false;
}

// Marker tasks with a weight whose marker model or recording lack: each a warning, and a name for the verdict. Call before
// placements without a task leave.
static bool find_absent(const char *name, const poise_ik_setup *setup, track_result *r)
{
    r->absent = calloc((size_t)setup->task_count + 1, sizeof *r->absent);
    for (int i = 0; r->absent && i < setup->task_count; ++i) {
        const poise_ik_task *t = &setup->tasks[i];
        if (t->is_coordinate || !(t->weight > 0) || is_placed(r, t->name)) {
            continue;
        }
        bool is_seen = poise_markers_find(r->made->markers, t->name) >= 0;
        const char *nearest =
            is_seen ? NULL : poise_nearest_name(t->name, label_at, r->made->markers, r->made->markers->count);
        warn("%s: task \"%s\" has no marker in %s%s%s%s", name, t->name, is_seen ? r->model_name : r->source_name,
             nearest ? "; did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "");
        if ((r->absent[r->absent_count] = strdup(t->name)) == NULL) {
            return no_memory();
        }
        r->absent_count += 1;
    }
    return r->absent || no_memory();
}

static bool refuse_files(const char *name, const poise_ik_setup *setup)
{
    for (int i = 0; i < setup->task_count; ++i) {
        if (setup->tasks[i].is_coordinate && setup->tasks[i].value == POISE_IK_FILE) {
            complain("%s: task \"%s\" takes its values from a file, which is not supported: give it a manual_value", name,
                     setup->tasks[i].name);
            return false;
        }
    }
    return true;
}

static bool apply_tasks(const char *name, const poise_ik_setup *setup, track_result *r)
{
    poise_model_summary size = poise_model_info(r->made->model);
    r->task = calloc((size_t)size.nq + 1, sizeof *r->task);
    r->task_weights = calloc((size_t)size.nv + 1, sizeof *r->task_weights);
    if (!r->task || !r->task_weights) {
        return no_memory();
    }
    poise_error error = {0};
    int before = r->made->placement_count;
    if (poise_ik_setup_apply(setup, r->made->model, track_default_posture(r), r->made->placements, &r->made->placement_count,
                             r->task, r->task_weights, &error) != POISE_OK) {
        complain("%s: %s", name, error.text);
        return false;
    }
    r->untasked = before - r->made->placement_count;
    r->problem.track.task = r->task;
    r->problem.track.task_weights = r->task_weights;
    r->problem.absent = (const char *const *)r->absent;
    r->problem.absent_count = r->absent_count;
    return true;
}

bool track_take_tasks(const char *tasks, track_result *r)
{
    poise_ik_setup *setup = read_setup(tasks);
    bool works = setup && refuse_files(tasks, setup) && find_absent(tasks, setup, r) && apply_tasks(tasks, setup, r);
    poise_ik_setup_destroy(setup);
    return works;
}

bool track_write_errors(const track_result *r, const char *name)
{
    text_file out;
    text_open(&out);
    fprintf(out.stream, "marker_errors\nversion=1\nnRows=%d\nnColumns=4\ninDegrees=no\nendheader\n", r->made->clip->frames);
    fprintf(out.stream, "time\ttotal_squared_error\tmarker_error_RMS\tmarker_error_max\n");
    for (int f = 0; f < r->made->clip->frames; ++f) {
        double sum = 0, worst = 0;
        int seen = 0;
        for (int i = 0; i < r->made->placement_count; ++i) {
            double d = r->made->distances[(size_t)f * (size_t)r->made->placement_count + (size_t)i];
            if (!isnan(d)) {
                sum += d * d;
                worst = fmax(worst, d);
                seen += 1;
            }
        }
        fprintf(out.stream, "%.9g\t%.9g\t%.9g\t%.9g\n", r->made->clip->start_time + f * r->made->clip->frame_time, sum,
                seen > 0 ? sqrt(sum / seen) : 0.0, worst);
    }
    return text_close(&out, name);
}

// ---- Following sensors of orientation, as OpenSense has them -------------------------------------------------------------

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
static bool track_sensors_read_setup(sensor_job *j, const char *name)
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
    bool works =
        j.skeleton && (j.recording = read_orientations(request->source)) != NULL && track_sensors_read_setup(&j, setup);
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
