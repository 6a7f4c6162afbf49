// A skeleton fitted to a real recording, and the recording tracked with it: HDM05, actor dg.
//
//   bench_fit [--data FOLDER] [--take NAME]
//
// Nothing is known of the markers but the bone each sits on. Offsets and bone lengths are calibrated on a tenth of the
// frames, then the whole take is tracked, as it is and spoilt in several ways. Distances are between a marker and its place
// on the tracked skeleton.
#include "bench.h"

#include <evaluate/hdm05_task.h>
#include <scenes/random.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER "../shared/data/hdm05"
#define TAKE   "HDM_dg_03-05_02_120"
#define DEGREE (3.14159265358979 / 180.0)

typedef struct subject {
    hdm05_task task;
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
    if (poise_markers_create(s->task.frames, HDM05_MARKERS, 1.0 / s->task.frame_time, labels, NULL, &s->markers) !=
        POISE_OK) {
        exit(EXIT_FAILURE);
    }
    s->clean = s->task.target;
    memcpy(s->markers->position, s->clean, (size_t)s->task.frames * HDM05_MARKERS * sizeof *s->clean);
    s->markers->scale = (poise_scale){0.01, POISE_UP_Y};
}

static void calibrate(subject *s, poise_scaling scaling, const char *name)
{
    poise_calibration_options options = poise_calibration_options_default();
    options.scaling = scaling;
    options.solver.use_limits = false;
    poise_placement placements[HDM05_MARKERS];
    memcpy(placements, s->placements, sizeof placements);
    poise_model *fitted;
    memcpy(s->q, hdm05_pose(&s->task, 0), (size_t)s->task.nq * sizeof *s->q);
    poise_calibration report;
    poise_error error;
    double before = bench_now();
    if (poise_calibrate(s->task.model, placements, HDM05_MARKERS, s->markers, NULL, s->task.frames / 10, s->q, &options,
                        NULL, &fitted, &report, &error) != POISE_OK) {
        fprintf(stderr, "bench_fit: %s\n", error.text);
        exit(EXIT_FAILURE);
    }
    printf("%-10s %6d frames %4d rounds %8.2f s   mean %.3f cm   rms %.3f cm   bones x %.3f\n", name, report.frames,
           report.rounds, (bench_now() - before) / 1e9, report.mean, report.rms, report.scale);
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
    for (int i = 0; i < s->task.frames * HDM05_MARKERS; ++i) {
        if (scene_random_uniform(&random) < share) {
            s->markers->position[i] = (poise_vec3){NAN, NAN, NAN};
        }
    }
}

// The wrists of both arms, for a second.
static void swap_wrists(subject *s)
{
    int a = poise_markers_find(s->markers, "LWRA"), b = poise_markers_find(s->markers, "RWRA");
    for (int f = 1000; f < 1120 && f < s->task.frames; ++f) {
        poise_vec3 *row = s->markers->position + (size_t)f * HDM05_MARKERS, kept = row[a];
        row[a] = row[b];
        row[b] = kept;
    }
}

// ---- Tracking ------------------------------------------------------------------------------------------------------------

static void track(subject *s, const char *name)
{
    int frames = s->task.frames;
    poise_track_frame *report = calloc((size_t)frames, sizeof *report);
    poise_tracker_options options = poise_tracker_options_default();
    options.solver.use_limits = false;
    poise_clip *clip;
    poise_error error;
    double before = bench_now();
    if (!report || poise_track(s->model, s->placements, HDM05_MARKERS, s->markers, s->q, &options, NULL, &clip, report,
                               &error) != POISE_OK) {
        fprintf(stderr, "bench_fit: %s\n", error.text);
        exit(EXIT_FAILURE);
    }
    double us = (bench_now() - before) / 1e3 / frames, sum = 0.0, worst = 0.0, turn = 0.0, iterations = 0.0;
    int held = 0, outliers = 0, restarted = 0, points = 0;
    poise_kinematics *kinematics;
    if (poise_kinematics_create(s->model, NULL, &kinematics) != POISE_OK) {
        exit(EXIT_FAILURE);
    }
    for (int f = 0; f < frames; ++f) {
        poise_kinematics_update(kinematics, clip->q + (size_t)f * (size_t)clip->nq);
        for (int i = 0; i < HDM05_MARKERS; ++i) { // against the recording as it was
            poise_vec3 x = poise_kinematics_point(kinematics, s->placements[i].body, s->placements[i].local);
            poise_vec3 t = s->clean[(size_t)f * HDM05_MARKERS + (size_t)i];
            double d = sqrt((x.x - t.x) * (x.x - t.x) + (x.y - t.y) * (x.y - t.y) + (x.z - t.z) * (x.z - t.z));
            sum += d;
            worst = fmax(worst, d);
            points += 1;
        }
        turn = fmax(turn, report[f].turn);
        iterations += report[f].iterations;
        held += (report[f].flags & POISE_TRACK_HELD) != 0;
        outliers += (report[f].flags & POISE_TRACK_OUTLIERS) != 0;
        restarted += (report[f].flags & POISE_TRACK_RESTARTED) != 0;
    }
    printf("%-22s %9.3f %9.2f %9.1f %7d %7d %9d %7.2f %9.1f\n", name, sum / points, worst, turn / DEGREE, held, outliers,
           restarted, iterations / frames, us);
    poise_kinematics_destroy(kinematics);
    poise_clip_destroy(clip);
    free(report);
    memcpy(s->markers->position, s->clean, (size_t)frames * HDM05_MARKERS * sizeof *s->clean);
}

int main(int count, char **words)
{
    const char *folder = FOLDER, *take = TAKE;
    for (int i = 1; i + 1 < count; i += 2) {
        folder = strcmp(words[i], "--data") == 0 ? words[i + 1] : folder;
        take = strcmp(words[i], "--take") == 0 ? words[i + 1] : take;
    }
    subject s = {.model = NULL};
    if (!hdm05_read(folder, "HDM_dg", take, &s.task)) {
        fprintf(stderr, "%s\n", s.task.error.text);
        return 2;
    }
    take_markers(&s);
    s.q = calloc((size_t)s.task.nq, sizeof *s.q);
    if (!s.q) {
        return EXIT_FAILURE;
    }
    bench_print_machine();
    printf("%s: %d frames, %d markers\n\nCalibration on every tenth frame\n", take, s.task.frames, HDM05_MARKERS);
    calibrate(&s, POISE_SCALING_NONE, "offsets");
    calibrate(&s, POISE_SCALING_UNIFORM, "uniform");
    calibrate(&s, POISE_SCALING_SEGMENTS, "segments");
    printf("\nThe whole take\n%-22s %9s %9s %9s %7s %7s %9s %7s %9s\n", "recording", "mean cm", "worst cm", "turn deg",
           "held", "outl.", "restarts", "iter.", "us/frame");
    track(&s, "as it is");
    lose(&s, 0.05);
    track(&s, "5 % of points lost");
    lose(&s, 0.1);
    track(&s, "10 % lost");
    lose(&s, 0.3);
    track(&s, "30 % lost");
    swap_wrists(&s);
    track(&s, "wrists swapped, 1 s");
    free(s.q);
    poise_markers_destroy(s.markers);
    poise_model_destroy(s.model);
    hdm05_free(&s.task);
    return EXIT_SUCCESS;
}
