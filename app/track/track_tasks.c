// Following a recording as OpenSim's inverse kinematics does: its tasks, its times, its table of errors.
#include "track_parts.h"

#include "cli/files.h"
#include "cli/terminal.h"

#include <poise/opensim.h>

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
