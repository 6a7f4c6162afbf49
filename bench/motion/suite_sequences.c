// Whole clips: markers of known motions, solved frame by frame, filtered, and all at once.
//
// The filters act on the joints of the frame-by-frame track and are tuned for each row against the truth, which nobody has:
// the better of Butterworth over 20 cut-offs and Whittaker over 28 weights. The whole clip estimates its noise from
// the markers and is told nothing. Errors are angles between the true and the found rotation of a joint, rms over joints and
// frames; frames/s is all in, from markers to the clip, on one core.
#include "bench/suite.h"
#include "motion_filters.h"

#include <poise/poise.h>
#include <scenes/recording.h>
#include <scenes/scenes.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEGREES (180 / 3.14159265358979323846)
#define SCENE   "humanoid"
#define JUMP    0.2 // radians that some joint turns farther than the truth in one frame

typedef struct scene {
    poise_model *model;
    poise_kinematics *kin;
    poise_placement *placements;
    scene_marker *markers;
    int count, joints;
    poise_clip *truth;
    poise_markers *seen;
    poise_quat *rotations; // frames x joints: of the truth, each joint against its parent
} scene;

// ---- Errors --------------------------------------------------------------------------------------------------------------

// The rotation of every joint against its parent.
static void joint_rotations(const scene *s, const double *q, poise_quat *out)
{
    if (poise_kinematics_update(s->kin, q, NULL) != POISE_OK) {
        bench_fail("a pose is not finite");
    }
    for (int k = 0; k < s->joints; ++k) {
        int parent = poise_model_joint_info(s->model, k).parent;
        poise_quat own = poise_kinematics_body_pose(s->kin, k).rotation;
        poise_quat above =
            parent == POISE_WORLD ? poise_pose_identity().rotation : poise_kinematics_body_pose(s->kin, parent).rotation;
        out[k] = poise_quat_multiply((poise_quat){-above.x, -above.y, -above.z, above.w}, own);
    }
}

static double angle_between(poise_quat a, poise_quat b)
{
    poise_quat d = poise_quat_multiply((poise_quat){-a.x, -a.y, -a.z, a.w}, b);
    return 2 * atan2(sqrt(d.x * d.x + d.y * d.y + d.z * d.z), fabs(d.w));
}

typedef struct errors {
    double rms, worst; // radians
    int jumps;         // frames in which a joint turns by JUMP more than the truth
    int outside;       // frames outside the limits
} errors;

static errors errors_of(const scene *s, const poise_clip *clip)
{
    errors e = {0};
    size_t n = (size_t)s->joints;
    poise_quat *now = bench_take(2 * n, sizeof *now), *before = now + n;
    double squares = 0;
    for (int t = 0; t < clip->frames; ++t) {
        const double *q = clip->q + (size_t)t * (size_t)clip->nq;
        const poise_quat *truth = s->rotations + (size_t)t * n;
        bool has_jumped = false;
        joint_rotations(s, q, now);
        for (size_t k = 0; k < n; ++k) {
            double angle = angle_between(truth[k], now[k]);
            squares += angle * angle;
            e.worst = fmax(e.worst, angle);
            has_jumped =
                has_jumped || (t > 0 && angle_between(before[k], now[k]) > angle_between(truth[k], (truth - n)[k]) + JUMP);
        }
        e.jumps += has_jumped;
        e.outside += !poise_model_within_limits(s->model, q);
        memcpy(before, now, n * sizeof *now);
    }
    e.rms = sqrt(squares / ((double)clip->frames * (double)n));
    free(now);
    return e;
}

// The least error of any filter.
static double best_filter(const scene *s, const poise_clip *tracked)
{
    poise_clip *from = NULL, *to = NULL;
    double best = INFINITY;
    if (poise_clip_trim(tracked, 0, tracked->frames, NULL, &from, NULL) ||
        poise_clip_trim(tracked, 0, tracked->frames, NULL, &to, NULL)) {
        bench_fail("no memory");
    }
    filter_unwrap(s->model, from);
    for (int i = 0; i < 28; ++i) {
        filter_whittaker(from, 0.01 * pow(10, i / 27.0 * 6), to);
        best = fmin(best, errors_of(s, to).rms);
    }
    for (int i = 0; i < 20; ++i) {
        filter_butterworth(from, 1.5 * pow(1.17, i), to);
        best = fmin(best, errors_of(s, to).rms);
    }
    poise_clip_destroy(from);
    poise_clip_destroy(to);
    return best;
}

// ---- Rows ----------------------------------------------------------------------------------------------------------------

static poise_track_problem problem_of(const scene *s)
{
    poise_track_problem p = poise_track_problem_default();
    p.model = s->model;
    p.placements = s->placements;
    p.placement_count = s->count;
    p.markers = s->seen;
    return p;
}

static void run_row(const bench *b, scene *s, const char *name)
{
    poise_track_problem problem = problem_of(s);
    poise_clip *tracked = NULL, *whole = NULL;
    poise_sequence_options options = poise_sequence_options_default();
    poise_sequence_report report;
    poise_error error;
    bench_progress(b, name);
    if (poise_track(&problem, NULL, &tracked, NULL, &error) != POISE_OK) {
        bench_fail("%s: %s", name, error.text);
    }
    double begin = bench_now();
    if (poise_track_whole(&problem, &options, NULL, &whole, NULL, &report, &error) != POISE_OK) {
        bench_fail("%s: %s", name, error.text);
    }
    double seconds = 1e-9 * (bench_now() - begin);
    errors frame = errors_of(s, tracked), all = errors_of(s, whole);
    double filter = best_filter(s, tracked);
    report_row(b->report, name, "poise",
               REPORT_VALUES(s->seen->frames, frame.rms * DEGREES, filter * DEGREES, all.rms * DEGREES, all.rms / filter,
                             all.worst * DEGREES, all.jumps, all.outside, 1e3 * report.noise, report.iterations,
                             report.converged, s->seen->frames / seconds));
    report_promise(b->report, all.outside == 0, "%s: %d frames outside the limits", name, all.outside);
    poise_clip_destroy(tracked);
    poise_clip_destroy(whole);
}

static scene make_scene(void)
{
    scene s = {0};
    if (scene_create(SCENE, NULL, &s.model, NULL) || poise_kinematics_create(s.model, NULL, &s.kin, NULL)) {
        bench_fail("no scene " SCENE);
    }
    s.joints = poise_model_info(s.model).joints;
    s.count = scene_marker_count(SCENE);
    s.markers = bench_take((size_t)s.count, sizeof *s.markers);
    s.placements = bench_take((size_t)s.count, sizeof *s.placements);
    scene_markers(SCENE, s.markers, s.count);
    for (int i = 0; i < s.count; ++i) {
        s.placements[i] = (poise_placement){s.markers[i].name, s.markers[i].body, s.markers[i].local, 1};
    }
    return s;
}

static void run_motion(const bench *b, scene *s, const char *motion, const char *kind, const scene_recording *how)
{
    char name[64];
    snprintf(name, sizeof name, "%s, %s", motion, kind);
    if (scene_record(s->model, SCENE, motion, how, &s->truth, &s->seen) != POISE_OK) {
        bench_fail("%s: no such motion", motion);
    }
    s->rotations = bench_take((size_t)s->truth->frames * (size_t)s->joints, sizeof *s->rotations);
    for (int t = 0; t < s->truth->frames; ++t) {
        joint_rotations(s, s->truth->q + (size_t)t * (size_t)s->truth->nq, s->rotations + (size_t)t * (size_t)s->joints);
    }
    run_row(b, s, name);
    free(s->rotations);
    poise_clip_destroy(s->truth);
    poise_markers_destroy(s->seen);
}

void suite_sequences(const bench *b)
{
    static const report_column columns[] = {{"frames", "frames", 0, REPORT_FIXED, false},
                                            {"frame_degrees", "by frame deg", 3, REPORT_FIXED, false},
                                            {"filter_degrees", "filter deg", 3, REPORT_FIXED, false},
                                            {"whole_degrees", "whole deg", 3, REPORT_FIXED, false},
                                            {"share", "of filter", 2, REPORT_FIXED, false},
                                            {"worst_degrees", "worst deg", 1, REPORT_FIXED, false},
                                            {"jumps", "jumps", 0, REPORT_FIXED, false},
                                            {"outside", "outside", 0, REPORT_FIXED, false},
                                            {"noise_mm", "noise mm", 2, REPORT_FIXED, false},
                                            {"iterations", "iterations", 0, REPORT_FIXED, false},
                                            {"converged", "converged", 0, REPORT_FIXED, false},
                                            {"per_second", "frames/s", 0, REPORT_FIXED, false}};
    static const report_table table = {
        "motions", "Joint angles from markers: by frame, with the best filter (an oracle's), and the whole clip at once",
        "motion", columns, 12};
    static const struct {
        const char *name;
        double noise, gaps;
        bool swapped;
    } kinds[] = {{"clean", 0, 0, false},
                 {"1 mm", 1e-3, 0, false},
                 {"3 mm", 3e-3, 0, false},
                 {"3 mm, 3 % gaps, swaps", 3e-3, 0.03, true},
                 {"3 mm, 20 % gaps", 3e-3, 0.2, false}};
    static const char *const motions[] = {"walk", "kick", "punch", "cartwheel"};
    scene s = make_scene();
    report_begin_table(b->report, &table);
    for (size_t m = 0; m < sizeof motions / sizeof motions[0]; ++m) {
        for (size_t k = b->is_quick ? 3 : 0; k < (b->is_quick ? 4 : sizeof kinds / sizeof kinds[0]); ++k) {
            scene_recording how = scene_recording_default();
            how.periods = b->is_quick ? 1 : m == 3 ? 1 : 3;
            how.noise = kinds[k].noise;
            how.gaps = kinds[k].gaps;
            how.swapped = kinds[k].swapped;
            run_motion(b, &s, motions[m], kinds[k].name, &how);
        }
    }
    free(s.markers);
    free(s.placements);
    poise_kinematics_destroy(s.kin);
    poise_model_destroy(s.model);
}
