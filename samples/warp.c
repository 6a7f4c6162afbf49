// Warping an animation: a robot of eight joints plays a gesture while its head follows a moving target, at 1000 Hz.
//
//   warp [seconds]
//
// The gesture is a clip at 30 frames a second, in a loop; each tick takes the pose between two frames as the posture, aims
// the end at where the target is, and lets the motion filter keep velocity, acceleration and jerk within the motors'
// limits. In the middle of the run the target leaps to the other side: the answer leaps, the robot does not.
#include <poise/poise.h>
#include <scenes/scenes.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define JOINTS 8
#define FRAMES 60
#define RATE   1000

static double now(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

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

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static poise_filter *make_filter(const poise_model *model)
{
    poise_filter_joint joints[JOINTS];
    poise_filter *filter = NULL;
    for (int j = 0; j < JOINTS; ++j) {
        joints[j] = poise_filter_joint_default();
        joints[j].lower = poise_model_lower(model)[j];
        joints[j].upper = poise_model_upper(model)[j];
        joints[j].velocity = 4.0;
        joints[j].acceleration = 40.0;
        joints[j].jerk = 800.0;
    }
    return poise_filter_create(joints, JOINTS, NULL, &filter) == POISE_OK ? filter : NULL;
}

static void run(poise_expressive *expressive, poise_filter *filter, int end, double seconds)
{
    static double clip[FRAMES][JOINTS];
    int ticks = (int)(seconds * RATE), leaps = 0;
    double posture[JOINTS], answer[JOINTS] = {0}, before[JOINTS], q[JOINTS] = {0}, last[JOINTS];
    double fastest = 0.0, *times = malloc((size_t)ticks * sizeof *times);
    make_clip(clip);
    for (int i = 0; i < ticks && times; ++i) {
        double t = (double)i / RATE;
        poise_goal goal = poise_goal_orientation(end, target_at(t, seconds));
        memcpy(last, q, sizeof q);
        memcpy(before, answer, sizeof answer);
        double begin = now();
        pose_at(clip, t, posture);
        poise_expressive_warp(expressive, &goal, 1, posture, filter, 1.0 / RATE, answer, q, NULL);
        times[i] = 1e6 * (now() - begin);
        bool leapt = false;
        for (int j = 0; j < JOINTS; ++j) {
            fastest = fmax(fastest, fabs(q[j] - last[j]) * RATE);
            leapt = leapt || (i > 0 && fabs(answer[j] - before[j]) > 0.35);
        }
        leaps += leapt;
    }
    if (times && ticks > 0) {
        qsort(times, (size_t)ticks, sizeof *times, by_size);
        printf("%d ticks of 1000 us: median %.0f us, p99 %.0f us, longest %.0f us\n", ticks, times[ticks / 2],
               times[ticks * 99 / 100], times[ticks - 1]);
        printf("answers that moved a joint by more than 20 degrees: %d; fastest joint that was sent: %.2f rad/s\n", leaps,
               fastest);
    }
    free(times);
}

int main(int count, char **arguments)
{
    double seconds = count > 1 ? atof(arguments[1]) : 20.0;
    poise_model *model = NULL;
    poise_expressive *expressive = NULL;
    poise_expressive_options options = poise_expressive_options_default();
    options.mode = POISE_EXPRESSIVE_SHAPE;
    options.gain = 0.01; // a robot would rather stay than save a little
    if (!(seconds > 0.0 && seconds < 1e4) || scene_create("erik-g", NULL, &model, NULL) != POISE_OK) {
        return EXIT_FAILURE;
    }
    int tip = poise_model_find_tool(model, "tip");
    options.body = poise_model_tool_body(model, tip);
    options.tip = poise_model_tool_pose(model, tip);
    poise_filter *filter = make_filter(model);
    bool made = filter && poise_expressive_create(model, &options, NULL, &expressive, NULL) == POISE_OK;
    if (made) {
        run(expressive, filter, options.body, seconds);
    }
    poise_expressive_destroy(expressive);
    poise_filter_destroy(filter);
    poise_model_destroy(model);
    return made ? EXIT_SUCCESS : EXIT_FAILURE;
}
