// Following a recording: calibrating, tracking, measuring, writing.
#include "track_parts.h"

#include "cli/latency.h"
#include "cli/terminal.h"
#include "cli/threads.h"
#include "cli/words.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define DEGREES (180 / 3.14159265358979323846)

static bool no_memory(void)
{
    complain("no memory left");
    return false;
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
    double begin_spent, spent;  // of the tracking: the calling thread's processor time, seconds
} watch;

static void watched_piece(void *argument, int piece, int worker)
{
    watch *w = argument;
    w->stamp[worker] = cpu_seconds_now();
    w->run(w->work, piece, worker);
}

// poise_parallel_for. What comes after it, on the calling thread, is worker 0's as well.
static void run_watched(void *user, int count, poise_piece run, void *work)
{
    watch *w = user;
    w->run = run;
    w->work = work;
    threads_run(&w->threads, count, watched_piece, w);
    w->stamp[0] = cpu_seconds_now();
}

static void on_frame(void *user, int frame, int worker)
{
    watch *w = user;
    double now = cpu_seconds_now();
    long long spent = (long long)(1e9 * (now - w->stamp[worker])) + 1;
    w->stamp[worker] = now;
    bool is_new = atomic_fetch_add(&w->nanoseconds[frame], spent) == 0;
    int done = atomic_fetch_add(&w->done, is_new) + is_new;
    if (worker == 0) {
        progress_show(done);
    }
}

// poise_recording_problem.on_stage
static void on_stage(void *user, poise_recording_stage stage, int frames)
{
    watch *w = user;
    progress_end();
    if (stage == POISE_STAGE_CALIBRATE) {
        progress_start("calibrating", "frames", frames);
        progress_show(0);
    } else if (stage == POISE_STAGE_TRACK) {
        progress_start("tracking", "frames", frames);
        w->begin_spent = w->stamp[0] = cpu_seconds_now();
    } else {
        w->spent = cpu_seconds_now() - w->begin_spent;
    }
}

// ---- Times ---------------------------------------------------------------------------------------------------------------

static int by_size(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static bool measure_times(track_result *r, const watch *w)
{
    int n = r->made->markers->frames;
    double *sorted = n > 0 ? calloc((size_t)n, sizeof *sorted) : NULL;
    if (!sorted) {
        return no_memory();
    }
    for (int f = 0; f < n; ++f) {
        r->seconds[f] = sorted[f] = 1e-9 * (double)atomic_load(&w->nanoseconds[f]);
        r->mean_time += r->seconds[f] / n;
    }
    qsort(sorted, (size_t)n, sizeof *sorted, by_size);
    r->p50 = sorted_quantile(sorted, n, 0.5);
    r->p99 = sorted_quantile(sorted, n, 0.99);
    free(sorted);
    return true;
}

// All frames at once have the same share of the time.
static void share_time(const track_result *r, watch *w)
{
    int frames = r->made->markers->frames;
    for (int f = 0; f < frames && r->problem.whole; ++f) {
        atomic_store(&w->nanoseconds[f], (long long)(1e9 * w->spent / frames));
    }
}

// ---- On a device ---------------------------------------------------------------------------------------------------------

// Why no frame can be solved there; NULL: the device decides.
static const char *why_not_on_device(const track_result *r)
{
    const poise_recording_problem *p = &r->problem;
    return p->whole                        ? "all frames are solved at once (--whole)"
           : p->lag >= 0                   ? "frames are solved as they come in (--lag)"
           : p->track.constraint_count > 0 ? "what every frame keeps to is held there"
           : p->track.task_weights != NULL ? "tasks of coordinates are met there"
                                           : NULL;
}

static void put_on_device(const track_request *request, track_result *r, track_on_device *on)
{
    const char *why = why_not_on_device(r);
    on->device = request->device;
    if (why) {
        snprintf(on->why, sizeof on->why, "%s", why);
    } else if (request->device) {
        r->problem.track.ahead = track_device_ahead;
        r->problem.track.ahead_user = on;
    }
}

static void say_who_solved(track_result *r, const track_on_device *on)
{
    if (on->device && on->why[0]) {
        warn("%s: solved on the processors: %s", r->source_name, on->why);
    } else if (on->device) {
        track_note(r, "%d of %d frames solved on the %s, the others on the processors", r->made->summary.ahead,
                   r->made->markers->frames, on->device->name());
    }
}

static bool follow(const track_request *request, track_result *r, watch *w)
{
    poise_recording_problem *p = &r->problem;
    poise_error error = {0};
    p->track.workers = r->threads = w->threads = request->threads < MOST_WORKERS ? request->threads : MOST_WORKERS;
    p->track.parallel_for = run_watched;
    p->track.on_frame = p->whole ? NULL : on_frame;
    p->track.user = w;
    p->on_stage = on_stage;
    track_on_device on = {.device = NULL};
    put_on_device(request, r, &on);
    bool works = poise_recording_follow(p, r->made, &error) == POISE_OK;
    track_device_leave(&on);
    progress_end();
    double metres = r->made->said.metres;
    if (!works && metres > 0 && is_no_person(&r->made->figure, metres)) {
        complain("%s: in its units of %g m the person is %.3g m tall; --source-unit %g would make it %.3g m", r->source_name,
                 metres, r->made->figure.height * metres, r->made->figure.metres,
                 r->made->figure.height * r->made->figure.metres);
    } else if (!works) {
        complain("%s: %s", r->source_name, error.text);
    }
    if (!works) {
        return false;
    }
    track_note_followed(r);
    say_who_solved(r, &on);
    share_time(r, w);
    return track_check_clearance(r) && measure_times(r, w);
}

bool track_run(const track_request *request, track_result *r)
{
    size_t frames = (size_t)r->made->markers->frames;
    r->seconds = calloc(frames, sizeof *r->seconds);
    watch *w = calloc(1, sizeof *w);
    atomic_llong *nanoseconds = calloc(frames, sizeof *nanoseconds);
    bool works = r->seconds && w && nanoseconds;
    if (works) {
        w->nanoseconds = nanoseconds;
        works = follow(request, r, w);
    } else {
        no_memory();
    }
    free(nanoseconds);
    free(w);
    return works;
}

// ---- In words ------------------------------------------------------------------------------------------------------------

double track_unit(const track_result *r, const char **unit)
{
    *unit = r->made->scale.metres > 0 ? "mm" : "units";
    return r->made->scale.metres > 0 ? 1000 * r->made->scale.metres : 1;
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
    const poise_track_frame *f = &r->made->frames[frame];
    text[0] = '\0';
    if (f->flags & POISE_TRACK_HELD) {
        if (f->flags & POISE_TRACK_JUMP) {
            say(text, size, "held: its jump is not believed");
        } else {
            say(text, size, "held: %d marker%s seen", f->seen, f->seen == 1 ? "" : "s");
        }
    } else if (f->flags & POISE_TRACK_JUMP) {
        say(text, size, "jump of %.0f degrees", f->turn * DEGREES);
    }
    const char *kept = track_kept_reason(&r->clearance, frame);
    if (kept) {
        say(text, size, "%s", kept);
    }
    if (f->flags & POISE_TRACK_RESTARTED && frame > 0) {
        say(text, size, "found afresh");
    }
    if (f->flags & POISE_TRACK_OUTLIERS) {
        say(text, size, "%d ignored", f->let_go);
    }
    if (f->flags & POISE_TRACK_GAPS) {
        say(text, size, "%d missing", r->made->placement_count - f->seen);
    }
}

// ---- Writing -------------------------------------------------------------------------------------------------------------

static poise_file as_file(const track_result *r, poise_clip *clip)
{
    bool is_opensim = r->skeleton->format == POISE_FORMAT_OSIM || r->task;
    return (poise_file){.format = is_opensim ? POISE_FORMAT_OSIM : r->skeleton->format,
                        .model = (poise_model *)r->made->model,
                        .clip = clip,
                        .scale = r->made->scale,
                        .placements = r->made->placements,
                        .placement_count = r->made->placement_count,
                        .carried = clip ? r->skeleton->carried : NULL, // the mesh of a character
                        .title = r->skeleton->title};
}

bool track_can_write(const track_result *r, const char *name)
{
    poise_file file = as_file(r, NULL);
    file.carried = r->skeleton->carried;
    return motion_can_be_written(&file, name);
}

bool track_write(const track_result *r, const char *name)
{
    poise_file file = as_file(r, r->made->clip);
    char motion[128];
    name_of_motion(r->source, r->source_name, motion, sizeof motion);
    file.motion = motion;
    return save_motion(name, &file) && (!r->made->fitted || save_skeleton_of(name, &file, r->model_name));
}
