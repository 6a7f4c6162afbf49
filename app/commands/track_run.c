// Following a recording: calibrating, tracking, measuring, writing.
#include "track_parts.h"

#include "cli/terminal.h"
#include "cli/threads.h"

#include <math.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DEGREES    (180 / 3.14159265358979323846)
#define SIZE_PAIRS 3    // distances between markers that tell a size, and
#define SIZE_SLACK 0.07 // how far from the skeleton's it may be for that to stay as it is

static bool no_memory(void)
{
    complain("no memory left");
    return false;
}

// ---- Calibrating ---------------------------------------------------------------------------------------------------------

// Is every place measured, not only what anatomy says?
static bool all_places_known(const track_result *r)
{
    bool known = r->named == 0;
    for (int i = 0; i < r->placement_count; ++i) {
        poise_vec3 p = r->placements[i].local;
        known = known && isfinite(p.x) && isfinite(p.y) && isfinite(p.z);
    }
    return known;
}

static poise_scaling scaling_of(track_calibrate wanted)
{
    return wanted == TRACK_CALIBRATE_UNIFORM    ? POISE_SCALING_UNIFORM
           : wanted == TRACK_CALIBRATE_SEGMENTS ? POISE_SCALING_SEGMENTS
                                                : POISE_SCALING_NONE;
}

static bool calibrate(const track_request *request, track_result *r)
{
    bool known = all_places_known(r);
    track_calibrate wanted = request->calibrate;
    if (wanted == TRACK_CALIBRATE_DECIDE) {
        wanted = known ? TRACK_CALIBRATE_NONE : TRACK_CALIBRATE_PLACES;
    }
    if (wanted == TRACK_CALIBRATE_NONE && !known) {
        complain("%s: where its markers sit is not known; --calibrate places finds it", r->source_name);
        return false;
    }
    if (wanted == TRACK_CALIBRATE_NONE) {
        return true;
    }
    poise_calibration problem = poise_calibration_default();
    problem.model = r->model;
    problem.placements = r->placements;
    problem.placement_count = r->placement_count;
    problem.markers = r->markers;
    problem.q = r->q_start;
    problem.frame_count =
        request->calibration_frames < r->markers->frames ? request->calibration_frames : r->markers->frames;
    problem.scaling = scaling_of(wanted);
    problem.priors = r->named > 0 || problem.scaling != POISE_SCALING_NONE ? r->priors : NULL;
    if (r->named > 0 && r->anatomy.pairs >= SIZE_PAIRS && fabs(r->anatomy.size - 1) > SIZE_SLACK) {
        problem.size = r->anatomy.size;
    }
    poise_error error = {0};
    progress_start("calibrating", "frames", problem.frame_count);
    progress_show(0);
    poise_model *fitted = NULL;
    poise_status status = poise_calibrate(&problem, NULL, &fitted, &r->calibration, &error);
    progress_end();
    if (status != POISE_OK) {
        complain("%s: the markers could not be calibrated: %s", r->source_name, error.text);
        return false;
    }
    r->calibrated = true;
    if (problem.size != 1) {
        track_note(r, "the skeleton times %.3f, to the size of the recorded person", problem.size);
    }
    if (problem.scaling == POISE_SCALING_NONE && problem.size == 1) {
        poise_model_destroy(fitted);
    } else {
        r->fitted = fitted;
        r->model = fitted;
    }
    return true;
}

// ---- Tracking ------------------------------------------------------------------------------------------------------------

enum { MOST_WORKERS = 256 };

// Counts frames for the progress bar and takes the processor time of each, on whichever thread it is tracked.
typedef struct watch {
    int threads;
    poise_piece run;
    void *work;
    double stamp[MOST_WORKERS]; // by worker: its thread's processor time when the last frame was done
    atomic_llong *nanoseconds;  // by frame
    atomic_int done;            // frames that have been tracked at least once
} watch;

static double thread_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void watched_piece(void *argument, int piece, int worker)
{
    watch *w = argument;
    w->stamp[worker] = thread_seconds();
    w->run(w->work, piece, worker);
}

// poise_parallel_for. What comes after it, on the calling thread, is worker 0's as well.
static void run_watched(void *user, int count, poise_piece run, void *work)
{
    watch *w = user;
    w->run = run;
    w->work = work;
    threads_run(&w->threads, count, watched_piece, w);
    w->stamp[0] = thread_seconds();
}

static void on_frame(void *user, int frame, int worker)
{
    watch *w = user;
    double now = thread_seconds();
    long long spent = (long long)(1e9 * (now - w->stamp[worker])) + 1;
    w->stamp[worker] = now;
    bool is_new = atomic_fetch_add(&w->nanoseconds[frame], spent) == 0;
    int done = atomic_fetch_add(&w->done, is_new) + is_new;
    if (worker == 0) {
        progress_show(done);
    }
}

static bool moves_freely(poise_joint_type type)
{
    return type == POISE_JOINT_FREE || type == POISE_JOINT_FREE_EXPMAP || type == POISE_JOINT_FREE_EULER;
}

// A limit for every dof but those of a free root; NULL: none is wanted.
static const double *limits_of(const track_result *r, double limit, double *numbers)
{
    for (int k = 0; limit > 0 && k < poise_model_info(r->model).joints; ++k) {
        poise_joint_info joint = poise_model_joint_info(r->model, k);
        for (int i = 0; i < joint.nv; ++i) {
            bool is_length = poise_model_coordinate(r->model, joint.q + i).unit == POISE_UNIT_LENGTH;
            double unit = is_length && r->scale.metres > 0 ? r->scale.metres : 1;
            numbers[joint.v + i] = moves_freely(joint.type) ? INFINITY : limit / unit;
        }
    }
    return limit > 0 ? numbers : NULL;
}

// All frames at once. Each frame has its share of the time.
static poise_status track_whole(const track_request *request, const poise_track_problem *problem, track_result *r, watch *w,
                                poise_error *error)
{
    size_t nv = (size_t)poise_model_info(r->model).nv;
    double *limits = calloc(2 * nv + 1, sizeof *limits), begin = thread_seconds();
    poise_sequence_options o = request->sequence;
    if (!limits) {
        snprintf(error->text, sizeof error->text, "no memory left");
        return POISE_ERROR_MEMORY;
    }
    o.noise /= r->scale.metres > 0 ? r->scale.metres : 1;
    o.velocity = limits_of(r, request->velocity, limits);
    o.acceleration = limits_of(r, request->acceleration, limits + nv);
    poise_status status = poise_track_whole(problem, &o, NULL, &r->clip, r->frames, &r->sequence, error);
    r->whole = true;
    for (int f = 0; f < r->markers->frames; ++f) {
        atomic_store(&w->nanoseconds[f], (long long)(1e9 * (thread_seconds() - begin) / r->markers->frames));
    }
    free(limits);
    return status;
}

static bool track(const track_request *request, track_result *r, watch *w)
{
    poise_track_problem problem = request->track;
    problem.model = r->model;
    problem.placements = r->placements;
    problem.placement_count = r->placement_count;
    problem.markers = r->markers;
    problem.q_start = r->q_start;
    problem.task = r->task;
    problem.task_weights = r->task_weights;
    problem.solver.locked = r->unseen;
    problem.workers = r->threads = w->threads = request->threads < MOST_WORKERS ? request->threads : MOST_WORKERS;
    problem.parallel_for = run_watched;
    problem.on_frame = request->whole ? NULL : on_frame;
    problem.user = w;
    r->method = problem.solver.method;
    poise_error error = {0};
    double *posture = r->named > 0 ? calloc((size_t)poise_model_info(r->model).nv + 1, sizeof *posture) : NULL;
    if (posture && poise_posture_weights(r->model, 0, posture, NULL) == POISE_OK) {
        problem.posture = posture;
    }
    progress_start("tracking", "frames", r->markers->frames);
    double start = seconds_now();
    poise_status status = request->whole ? track_whole(request, &problem, r, w, &error)
                                         : poise_track(&problem, NULL, &r->clip, r->frames, &error);
    r->wall = seconds_now() - start;
    progress_end();
    free(posture);
    if (status != POISE_OK) {
        r->clip = NULL;
        complain("%s: %s", r->source_name, error.text);
        return false;
    }
    r->sum = (poise_track_summary){.distances = r->distances, .markers = r->by_marker};
    return poise_track_measure(&problem, r->clip, r->frames, NULL, &r->sum, NULL) == POISE_OK || no_memory();
}

// ---- Times --------------------------------------------------------------------------------------------------------------

static int by_size(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static bool measure_times(track_result *r, const watch *w)
{
    int n = r->markers->frames;
    double *sorted = calloc((size_t)n, sizeof *sorted);
    if (!sorted) {
        return no_memory();
    }
    for (int f = 0; f < n; ++f) {
        r->seconds[f] = sorted[f] = 1e-9 * (double)atomic_load(&w->nanoseconds[f]);
        r->mean_time += r->seconds[f] / n;
    }
    qsort(sorted, (size_t)n, sizeof *sorted, by_size);
    r->p50 = sorted[n / 2];
    r->p99 = sorted[(int)(0.99 * (n - 1))];
    free(sorted);
    return true;
}

bool track_run(const track_request *request, track_result *r)
{
    size_t frames = (size_t)r->markers->frames;
    r->q_start = calloc((size_t)poise_model_info(r->model).nq + 1, sizeof *r->q_start);
    r->frames = calloc(frames, sizeof *r->frames);
    r->seconds = calloc(frames, sizeof *r->seconds);
    r->distances = calloc(frames * (size_t)r->placement_count, sizeof *r->distances);
    r->by_marker = calloc((size_t)r->placement_count, sizeof *r->by_marker);
    watch *w = calloc(1, sizeof *w);
    atomic_llong *nanoseconds = calloc(frames, sizeof *nanoseconds);
    if (!r->q_start || !r->frames || !r->seconds || !r->distances || !r->by_marker || !w || !nanoseconds) {
        free(w);
        free(nanoseconds);
        return no_memory();
    }
    w->nanoseconds = nanoseconds;
    poise_model_neutral(r->model, r->q_start);
    bool works = track_take_default(r) && calibrate(request, r) && track(request, r, w) && measure_times(r, w) &&
                 track_judge(request, r);
    free(nanoseconds);
    free(w);
    return works;
}

// ---- In words ------------------------------------------------------------------------------------------------------------

double track_unit(const track_result *r, const char **unit)
{
    *unit = r->scale.metres > 0 ? "mm" : "units";
    return r->scale.metres > 0 ? 1000 * r->scale.metres : 1;
}

// Add words to a list separated by commas; what does not fit is left out.
static void say(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    if (used > 0 && used + 3 < size) {
        memcpy(text + used, ", ", 3);
        used += 2;
    }
    va_list values;
    va_start(values, format);
    vsnprintf(text + used, size - used, format, values);
    va_end(values);
}

void track_reason(const track_result *r, int frame, char *text, size_t size)
{
    const poise_track_frame *f = &r->frames[frame];
    text[0] = '\0';
    if (f->flags & POISE_TRACK_HELD) {
        if (f->flags & POISE_TRACK_JUMP) {
            say(text, size, "held: its jump is not believed");
        } else {
            say(text, size, "held: %d markers seen", f->seen);
        }
    } else if (f->flags & POISE_TRACK_JUMP) {
        say(text, size, "jump of %.0f degrees", f->turn * DEGREES);
    }
    if (f->flags & POISE_TRACK_RESTARTED && frame > 0) {
        say(text, size, "found afresh");
    }
    if (f->flags & POISE_TRACK_OUTLIERS) {
        say(text, size, "%d let go", f->let_go);
    }
    if (f->flags & POISE_TRACK_GAPS) {
        say(text, size, "%d missing", r->placement_count - f->seen);
    }
}

// ---- Writing -------------------------------------------------------------------------------------------------------------

static poise_file as_file(const track_result *r, poise_clip *clip)
{
    bool is_opensim = r->skeleton->format == POISE_FORMAT_OSIM || r->task;
    return (poise_file){.format = is_opensim ? POISE_FORMAT_OSIM : r->skeleton->format,
                        .model = (poise_model *)r->model,
                        .clip = clip,
                        .scale = r->scale,
                        .placements = r->placements,
                        .placement_count = r->placement_count,
                        .carried = clip ? r->skeleton->carried : NULL, // the mesh of a character
                        .title = r->skeleton->title};
}

static bool holds(const poise_file *file, poise_format format, poise_error *error)
{
    void *bytes;
    size_t size;
    int warnings = 0;
    bool works = poise_write(file, format, NULL, &bytes, &size, NULL, &warnings, error) == POISE_OK;
    if (works) {
        poise_bytes_release(NULL, bytes);
    }
    return works;
}

bool track_can_write(const track_result *r, const char *name)
{
    static const struct {
        const char *extension;
        poise_format format;
    } motions[] = {{".bvh", POISE_FORMAT_BVH}, {".amc", POISE_FORMAT_AMC},   {".mot", POISE_FORMAT_MOT},
                   {".glb", POISE_FORMAT_GLB}, {".gltf", POISE_FORMAT_GLTF}, {".json", POISE_FORMAT_JSON}};
    enum { COUNT = sizeof motions / sizeof motions[0] };
    poise_format format = strcmp(name, "-") == 0 ? POISE_FORMAT_JSON : format_by_name(name);
    if (format == POISE_FORMAT_UNKNOWN) {
        return false;
    }
    poise_clip *clip;
    if (poise_clip_create(1, poise_model_info(r->model).nq, 1, NULL, &clip, NULL) != POISE_OK) {
        return no_memory();
    }
    poise_model_neutral(r->model, clip->q);
    poise_file file = as_file(r, clip);
    file.placement_count = 0;
    poise_error error = {0};
    bool is_motion = false;
    char able[64] = "";
    for (int i = 0; i < COUNT; ++i) {
        is_motion = is_motion || motions[i].format == format;
    }
    bool works = is_motion && holds(&file, format, &error);
    for (int i = 0; i < COUNT && !works; ++i) {
        if (motions[i].format != format && holds(&file, motions[i].format, NULL)) {
            snprintf(able + strlen(able), sizeof able - strlen(able), " %s", motions[i].extension);
        }
    }
    poise_clip_destroy(clip);
    if (!works) {
        complain("%s: %s; this motion can be written as%s", name, is_motion ? error.text : "such a file holds no motion",
                 able);
    }
    return works;
}

bool track_write(const track_result *r, const char *name)
{
    poise_file file = as_file(r, r->clip);
    return save_file(name, &file) && (!r->fitted || save_skeleton_of(name, &file, r->model_name));
}
