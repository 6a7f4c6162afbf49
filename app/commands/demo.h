// What the sources of `poise demo` share: the jobs, their results, the pictures.
#ifndef APP_DEMO_H
#define APP_DEMO_H

#include "track/track_parts.h"

enum { DEMO_STEPS = 360, DEMO_REACHES = 1000, DEMO_WAYS = 6, LAMP_NQ = 6, ARM_NQ = 7 };

#define PI      3.14159265358979323846
#define DEGREES (180 / PI)

// What one job came to. Errors in metres or radians, times in seconds.
typedef struct demo_tally {
    const char *job, *items;    // "track walk", "frames"
    const char *unit;           // of errors in the table
    double per_unit;            // units in a metre or radian
    int count, solved, outside; // answers, those that are as wanted, those that break a limit
    double mean, most;          // error
    double mean_time, p99;
} demo_tally;

// A recording of a humanoid, tracked as `poise track` does it, and the markers without noise and gaps.
typedef struct demo_clip {
    const char *motion;
    track_result r;
    poise_file *clean;
} demo_clip;

// The lamp's way round a circle on the desk.
typedef struct demo_lamp {
    poise_model *model;
    poise_vec3 center;
    double radius;
    poise_vec3 target[DEMO_STEPS];
    poise_clip *clip;
    double largest_step; // of any joint between two steps, the last and the first included
    double largest_bend; // mean over the joints of how far the shape is from the posture, largest of all steps
} demo_lamp;

// The arm's poses; and one pose that it reaches in several ways.
typedef struct demo_arm {
    poise_model *model;
    poise_pose target[DEMO_REACHES];
    double q[DEMO_REACHES][ARM_NQ];
    bool reached[DEMO_REACHES];
    double largest_angle; // of a pose that was reached
    poise_pose one;
    int ways;
    double way[DEMO_WAYS][ARM_NQ];
} demo_arm;

// All: false after one line on standard error.
bool demo_track(const char *motion, demo_clip *clip, demo_tally *tally);
bool demo_aim(demo_lamp *lamp, demo_tally *tally);
bool demo_reach(demo_arm *arm, demo_tally *tally);

void demo_release(demo_clip *clip);

// Draw and save; false after one line on standard error.
bool draw_tracking(const demo_clip *cartwheel, const demo_clip *walk, const char *path);
bool draw_lamp(const demo_lamp *lamp, const char *path);
bool draw_arm(const demo_arm *arm, const char *path);

#endif
