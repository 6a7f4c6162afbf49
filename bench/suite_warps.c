// Warping an animation: a robot of eight joints plays a gesture while its head follows a moving target, at 1000 Hz.
//
// The gesture is a clip at 30 frames a second, in a loop; each tick takes the pose between two frames as the posture, aims
// the end at where the target is, and lets the motion filter keep velocity, acceleration and jerk within the motors'
// limits. In the middle of the run the target leaps to the other side: the answer leaps, the robot does not.
#include "suite.h"

#include <poise/poise.h>
#include <scenes/scenes.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define JOINTS   8
#define FRAMES   60
#define RATE     1000
#define VELOCITY 4.0  // radians a second, of every motor
#define LEAP     0.35 // radians, about 20 degrees

// Frame of the gesture: a bow that comes and goes, and a wave that runs through the bends.
static void make_clip(double clip[FRAMES][JOINTS])
{
    for (int f = 0; f < FRAMES; ++f) {
        double phase = 6.283185307179586 * f / FRAMES;
        for (int j = 0; j < JOINTS; ++j) {
            bool is_end = j == 0 || j == JOINTS - 1;
            clip[f][j] = is_end ? 0.0 : 0.35 * (1.0 - cos(phase)) * (j < 4 ? 0.6 : 0.4) + 0.3 * sin(phase - 0.8 * j);
        }
    }
}

static void pose_at(double clip[FRAMES][JOINTS], double t, double *q)
{
    double frame = fmod(t * 30.0, FRAMES);
    int f = (int)frame, next = (f + 1) % FRAMES;
    for (int j = 0; j < JOINTS; ++j) {
        q[j] = clip[f][j] + (frame - f) * (clip[next][j] - clip[f][j]);
    }
}

// Where the end looks: slowly round, tilted, and after half the time to the other side.
static poise_quat target_at(double t, double seconds)
{
    double turn = 0.6 * sin(0.7 * t) + (t > 0.5 * seconds ? -1.2 : 1.2);
    poise_quat yaw = poise_quat_from_axis_angle(poise_vec3_make(0, 1, 0), turn);
    poise_quat pitch = poise_quat_from_axis_angle(poise_vec3_make(1, 0, 0), 1.2 + 0.2 * sin(1.3 * t));
    return poise_quat_multiply(yaw, pitch);
}

static poise_filter *make_filter(const poise_model *model)
{
    poise_filter_joint joints[JOINTS];
    poise_filter *filter = NULL;
    for (int j = 0; j < JOINTS; ++j) {
        joints[j] = poise_filter_joint_default();
        joints[j].lower = poise_model_info(model).lower[j];
        joints[j].upper = poise_model_info(model).upper[j];
        joints[j].velocity = VELOCITY;
        joints[j].acceleration = 40.0;
        joints[j].jerk = 800.0;
    }
    return poise_filter_create(NULL, joints, JOINTS, NULL, &filter, NULL) == POISE_OK ? filter : NULL;
}

// What came of a run.
typedef struct tally {
    int leaps, outside;
    double fastest; // of the joints as sent, radians a second
    double aim;     // largest angle that an answer leaves, radians
} tally;

static void note_tick(tally *t, const double *before, const double *answer, const double *last, const double *q)
{
    bool has_leapt = false;
    for (int j = 0; j < JOINTS; ++j) {
        t->fastest = fmax(t->fastest, fabs(q[j] - last[j]) * RATE);
        has_leapt = has_leapt || fabs(answer[j] - before[j]) > LEAP;
    }
    t->leaps += has_leapt;
}

static void run(const bench *b, const poise_model *model, poise_expressive *expressive, poise_filter *filter, int end)
{
    static double clip[FRAMES][JOINTS];
    int seconds = bench_number(b, "--seconds", 10, 1), ticks = seconds * RATE;
    double posture[JOINTS], answer[JOINTS] = {0}, before[JOINTS], q[JOINTS] = {0}, last[JOINTS];
    double *us = bench_take((size_t)ticks, sizeof *us);
    tally t = {.leaps = 0};
    make_clip(clip);
    for (int i = 0; i < ticks; ++i) {
        double at = (double)i / RATE;
        poise_quat target = target_at(at, seconds);
        poise_goal goal = poise_goal_orientation(end, target);
        memcpy(last, q, sizeof q);
        memcpy(before, answer, sizeof answer);
        poise_expressive_report report;
        double begin = bench_now();
        pose_at(clip, at, posture);
        poise_expressive_warp(expressive, &goal, 1, posture, filter, 1.0 / RATE, answer, q, &report, NULL);
        us[i] = 1e-3 * (bench_now() - begin);
        note_tick(&t, i > 0 ? before : answer, answer, last, q);
        t.outside += !poise_model_within_limits(model, q);
        t.aim = fmax(t.aim, report.worst_angle);
    }
    bench_times times = bench_times_of(us, ticks);
    report_row(b->report, "erik-g", "poise",
               REPORT_VALUES(ticks, t.aim * 180.0 / 3.14159265358979, t.leaps, t.fastest, t.outside, times.mean, times.p50,
                             times.p99, times.most));
    report_promise(b->report, t.outside == 0, "%d poses outside the limits", t.outside);
    report_promise(b->report, t.fastest <= VELOCITY * (1.0 + 1e-9), "a joint at %g rad/s", t.fastest);
    free(us);
}

void suite_warps(const bench *b)
{
    static const report_column columns[] = {
        {"ticks", "ticks", 0, REPORT_FIXED, false},       {"error_degrees", "worst deg", 0, REPORT_FIGURES, false},
        {"leaps", "leaps asked", 0, REPORT_FIXED, false}, {"fastest", "fastest rad/s", 2, REPORT_FIXED, false},
        {"outside", "outside", 0, REPORT_FIXED, false},   {"us_mean", "us mean", 1, REPORT_FIXED, false},
        {"us_p50", "us p50", 1, REPORT_FIXED, false},     {"us_p99", "us p99", 1, REPORT_FIXED, false},
        {"us_max", "us max", 0, REPORT_FIXED, false}};
    static const report_table table = {
        "ticks", "Posture, aim and motion filter, a tick of 1000 us each; motors turn at up to 4 rad/s", "robot", columns,
        9};
    poise_model *model = NULL;
    poise_expressive *expressive = NULL;
    poise_expressive_options options = poise_expressive_options_default();
    options.symmetric_endpoint = true;
    options.mode = POISE_EXPRESSIVE_SHAPE;
    if (scene_create("erik-g", NULL, &model, NULL) != POISE_OK) {
        bench_fail("no scene erik-g");
    }
    int tip = poise_model_find_tool(model, "tip");
    options.body = poise_model_tool_info(model, tip).body;
    options.tip = poise_model_tool_info(model, tip).pose;
    poise_filter *filter = make_filter(model);
    if (!filter || poise_expressive_create(model, &options, NULL, &expressive, NULL) != POISE_OK) {
        bench_fail("no solver for erik-g");
    }
    report_begin_table(b->report, &table);
    run(b, model, expressive, filter, options.body);
    poise_expressive_destroy(expressive);
    poise_filter_destroy(filter);
    poise_model_destroy(model);
}
