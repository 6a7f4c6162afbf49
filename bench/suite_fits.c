// A skeleton fitted to a real recording, and the recording tracked with it: HDM05, actor dg.
//
// Nothing is known of the markers but the bone each sits on. Offsets and bone lengths are calibrated on every tenth frame,
// then the whole take is tracked, as it is and spoilt in several ways. Distances are between a marker and its place on the
// tracked skeleton.
#include "hdm05_suites.h"

#include "cli/data_files.h"

#include <scenes/random.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TAKE   "HDM_dg_03-05_02_120"
#define DEGREE (3.14159265358979 / 180.0)

bool hdm05_suite_read(const bench *b, hdm05_task *task)
{
    const char *take = bench_text(b, "--take", TAKE);
    char files[512];
    snprintf(files, sizeof files, "hdm05/HDM_dg.asf hdm05/%.100s.amc hdm05/%.100s.c3d", take, take);
    data_files found = data_find(bench_text(b, "--data", NULL), files);
    if (found.state == DATA_MISSING) {
        report_skip(b->report, "%s", found.line);
        return false;
    }
    if (found.state == DATA_HERE) {
        *strrchr(found.path, '/') = '\0';
    }
    if (found.state == DATA_WRONG || !hdm05_read(found.path, "HDM_dg", take, task)) {
        bench_fail("%s", found.state == DATA_WRONG ? found.line : task->error.text);
    }
    report_note(b->report, "%s: %d frames.", take, task->frames);
    return true;
}

typedef struct subject {
    const bench *bench;
    hdm05_task task;
    int frames;         // that are used
    poise_model *model; // fitted
    poise_placement placements[HDM05_MARKERS];
    poise_markers *markers;
    poise_vec3 *clean; // the positions as they were recorded
    double *q;         // nq: pose of the first frame
} subject;

static void take_markers(subject *s)
{
    const char *labels[HDM05_MARKERS];
    for (int i = 0; i < HDM05_MARKERS; ++i) {
        labels[i] = s->task.label[i];
        s->placements[i] = (poise_placement){labels[i], s->task.body[i], {NAN, NAN, NAN}, 1.0};
    }
    if (poise_markers_create(s->frames, HDM05_MARKERS, 1.0 / s->task.frame_time, labels, NULL, &s->markers, NULL) !=
        POISE_OK) {
        bench_fail("no room for the markers");
    }
    s->clean = s->task.target;
    memcpy(s->markers->position, s->clean, (size_t)s->frames * HDM05_MARKERS * sizeof *s->clean);
    s->markers->scale = (poise_scale){0.01, POISE_UP_Y};
}

static void calibrate(subject *s, poise_scaling scaling, const char *name)
{
    poise_placement placements[HDM05_MARKERS];
    memcpy(placements, s->placements, sizeof placements);
    poise_calibration problem = poise_calibration_default();
    problem.model = s->task.model;
    problem.placements = placements;
    problem.placement_count = HDM05_MARKERS;
    problem.markers = s->markers;
    problem.frame_count = s->frames / bench_number(s->bench, "--every", 10, 10);
    problem.q = s->q;
    problem.scaling = scaling;
    problem.solver.use_limits = false;
    poise_model *fitted;
    memcpy(s->q, hdm05_pose(&s->task, 0), (size_t)s->task.nq * sizeof *s->q);
    poise_calibration_report report;
    poise_error error;
    bench_progress(s->bench, name);
    double before = bench_now();
    if (poise_calibrate(&problem, NULL, &fitted, &report, &error) != POISE_OK) {
        bench_fail("%s", error.text);
    }
    double seconds = (bench_now() - before) / 1e9;
    report_row(s->bench->report, name, "poise",
               REPORT_VALUES(report.frames, report.rounds, report.mean, report.rms, report.scale, seconds));
    poise_model_destroy(s->model);
    s->model = fitted;
    if (scaling == POISE_SCALING_SEGMENTS) {
        memcpy(s->placements, placements, sizeof placements);
    }
}

// ---- Spoiling ------------------------------------------------------------------------------------------------------------

static void lose(subject *s, double share)
{
    scene_random random = scene_random_make(1);
    for (int i = 0; i < s->frames * HDM05_MARKERS; ++i) {
        if (scene_random_uniform(&random) < share) {
            s->markers->position[i] = (poise_vec3){NAN, NAN, NAN};
        }
    }
}

// The wrists of both arms, for a second.
static void swap_wrists(subject *s)
{
    int a = poise_markers_find(s->markers, "LWRA"), b = poise_markers_find(s->markers, "RWRA");
    for (int f = 1000; f < 1120 && f < s->frames; ++f) {
        poise_vec3 *row = s->markers->position + (size_t)f * HDM05_MARKERS, kept = row[a];
        row[a] = row[b];
        row[b] = kept;
    }
}

// ---- Tracking ------------------------------------------------------------------------------------------------------------

typedef struct tally {
    double sum, worst, turn, iterations;
    int held, outliers, restarted, points;
} tally;

// Against the recording as it was.
static void measure(const subject *s, const poise_clip *clip, const poise_track_frame *report, tally *t)
{
    poise_kinematics *kinematics;
    if (poise_kinematics_create(s->model, NULL, &kinematics, NULL) != POISE_OK) {
        bench_fail("no kinematics");
    }
    for (int f = 0; f < s->frames; ++f) {
        poise_kinematics_update(kinematics, clip->q + (size_t)f * (size_t)clip->nq, NULL);
        for (int i = 0; i < HDM05_MARKERS; ++i) {
            poise_vec3 x = poise_kinematics_point(kinematics, s->placements[i].body, s->placements[i].local);
            poise_vec3 y = s->clean[(size_t)f * HDM05_MARKERS + (size_t)i];
            double d = sqrt((x.x - y.x) * (x.x - y.x) + (x.y - y.y) * (x.y - y.y) + (x.z - y.z) * (x.z - y.z));
            t->sum += d;
            t->worst = fmax(t->worst, d);
            t->points += 1;
        }
        t->turn = fmax(t->turn, report[f].turn);
        t->iterations += report[f].iterations;
        t->held += (report[f].flags & POISE_TRACK_HELD) != 0;
        t->outliers += (report[f].flags & POISE_TRACK_OUTLIERS) != 0;
        t->restarted += (report[f].flags & POISE_TRACK_RESTARTED) != 0;
    }
    poise_kinematics_destroy(kinematics);
}

static void track(subject *s, const char *name)
{
    poise_track_frame *report = bench_take((size_t)s->frames, sizeof *report);
    poise_track_problem problem = poise_track_problem_default();
    problem.model = s->model;
    problem.placements = s->placements;
    problem.placement_count = HDM05_MARKERS;
    problem.markers = s->markers;
    problem.q_start = s->q;
    problem.solver.use_limits = false;
    poise_clip *clip;
    poise_error error;
    bench_progress(s->bench, name);
    double before = bench_now();
    if (poise_track(&problem, NULL, &clip, report, &error) != POISE_OK) {
        bench_fail("%s", error.text);
    }
    double us = (bench_now() - before) / 1e3 / s->frames;
    tally t = {.sum = 0.0};
    measure(s, clip, report, &t);
    report_row(s->bench->report, name, "poise",
               REPORT_VALUES(t.sum / t.points, t.worst, t.turn / DEGREE, t.held, t.outliers, t.restarted,
                             t.iterations / s->frames, us));
    poise_clip_destroy(clip);
    free(report);
    memcpy(s->markers->position, s->clean, (size_t)s->frames * HDM05_MARKERS * sizeof *s->clean);
}

// ---- The suite -----------------------------------------------------------------------------------------------------------

static void run_calibrations(subject *s)
{
    static const report_column columns[] = {
        {"frames", "frames", 0, REPORT_FIXED, false},         {"rounds", "rounds", 0, REPORT_FIXED, false},
        {"error_mean_cm", "mean cm", 3, REPORT_FIXED, false}, {"error_rms_cm", "rms cm", 3, REPORT_FIXED, false},
        {"scale", "bones x", 3, REPORT_FIXED, false},         {"seconds", "time s", 2, REPORT_FIXED, false}};
    static const report_table table = {"calibration", "Marker places and bone lengths", "fitted", columns, 6};
    report_begin_table(s->bench->report, &table);
    calibrate(s, POISE_SCALING_NONE, "places");
    calibrate(s, POISE_SCALING_UNIFORM, "places, one length");
    calibrate(s, POISE_SCALING_SEGMENTS, "places, all lengths");
}

static void run_tracks(subject *s)
{
    static const report_column columns[] = {
        {"error_mean_cm", "mean cm", 3, REPORT_FIXED, false},  {"error_worst_cm", "worst cm", 2, REPORT_FIXED, false},
        {"turn_degrees", "turn deg", 1, REPORT_FIXED, false},  {"held", "frames held", 0, REPORT_FIXED, false},
        {"outliers", "with outliers", 0, REPORT_FIXED, false}, {"restarted", "re- started", 0, REPORT_FIXED, false},
        {"iterations", "iter.", 2, REPORT_FIXED, false},       {"us_mean", "us /frame", 1, REPORT_FIXED, false}};
    static const report_table table = {"tracking", "The whole take; errors against the recording as it was", "recording",
                                       columns, 8};
    report_begin_table(s->bench->report, &table);
    track(s, "as it is");
    lose(s, 0.05);
    track(s, "5 % of points lost");
    lose(s, 0.1);
    track(s, "10 % lost");
    lose(s, 0.3);
    track(s, "30 % lost");
    swap_wrists(s);
    track(s, "wrists swapped, 1 s");
}

void suite_fits(const bench *b)
{
    subject s = {.bench = b};
    if (!hdm05_suite_read(b, &s.task)) {
        return;
    }
    s.frames = b->is_quick && s.task.frames > 40 ? 40 : s.task.frames;
    take_markers(&s);
    s.q = bench_take((size_t)s.task.nq, sizeof *s.q);
    run_calibrations(&s); // the fitted skeleton is what is tracked
    if (bench_wants(b, "tracking")) {
        run_tracks(&s);
    }
    free(s.q);
    poise_markers_destroy(s.markers);
    poise_model_destroy(s.model);
    hdm05_free(&s.task);
}
