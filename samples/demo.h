// What the sources of the demonstration share: the jobs' results, how they are counted and printed, files, pictures.
#ifndef SAMPLES_DEMO_H
#define SAMPLES_DEMO_H

#include <poise/poise.h>
#include <scenes/scenes.h>

#include <stdio.h>

#define PI      3.14159265358979323846
#define DEGREES (180 / PI)

enum { MARKERS = 41, BODY_NQ = 58, LAMP_NQ = 6, ARM_NQ = 7 };
enum { MOST_FRAMES = 600, STEPS = 360, REACHES = 1000, WAYS = 6 };

// ---- The jobs' results ---------------------------------------------------------------------------------------------------

typedef enum sight { SEEN = 0, MISSING, SWAPPED } sight;

// A clip of markers, and the joint values that were found for it.
typedef struct clip {
    const char *motion;
    int frames;
    poise_vec3 truth[MOST_FRAMES][MARKERS], seen[MOST_FRAMES][MARKERS];
    sight sight[MOST_FRAMES][MARKERS];
    double q[MOST_FRAMES][BODY_NQ];
} clip;

// The lamp's way round the circle.
typedef struct lamp_path {
    poise_vec3 center; // of the circle, which lies on the desk
    double radius;
    poise_vec3 target[STEPS];
    double q[STEPS][LAMP_NQ];
    double largest_step; // of any joint between two steps, the last and the first included
} lamp_path;

// The arm's poses; and one pose that it reaches in several ways.
typedef struct arm_reaches {
    poise_pose target[REACHES];
    double q[REACHES][ARM_NQ];
    bool reached[REACHES];
    double largest_angle; // of a pose that was reached
    poise_pose one;
    int ways;
    double way[WAYS][ARM_NQ];
} arm_reaches;

// ---- Terminal (demo_report.c) --------------------------------------------------------------------------------------------

// The escape sequence `code` where colours are wanted, else "".
const char *style(const char *code);

typedef struct progress {
    const char *job, *items;
    int total, drawn; // items; cells of the bar
    double start;     // seconds
} progress;

progress progress_start(const char *job, const char *items, int total);

// A bar with the rate, drawn again when it has grown. Nothing unless standard output is a terminal.
void progress_show(progress *p, int done);

// ---- Counting ------------------------------------------------------------------------------------------------------------

// What one job came to.
typedef struct tally {
    const char *job, *items;
    const char *unit;           // of errors in the table
    double per_unit;            // units in a metre or radian
    poise_outcome accept;       // a solve ended well when it ended so or better
    int count, solved, outside; // solves, those that ended well, those that broke a limit
    int errors;
    double error_sum, largest_error;
    double time[REACHES]; // seconds
} tally;

// One solve on the clock, counted. False, with a line on standard error, when the call failed.
bool tally_solve(tally *t, const poise_model *model, poise_solver *solver, const poise_goal *goals, int count, double *q,
                 poise_report *report);

// Count one error, in metres or radians.
void tally_error(tally *t, double error);
double tally_mean(const tally *t); // of the errors; infinity without any

void print_head(void);
void print_row(tally *t); // sorts the times

// ---- Files ---------------------------------------------------------------------------------------------------------------

// A file that appears under its name when it is complete.
typedef struct output {
    FILE *file;
    char name[1024], partial[1032];
} output;

// All three: false, with a line on standard error, when it cannot be done.
bool make_folder(const char *folder);
bool output_open(output *out, const char *folder, const char *name);
bool output_close(output *out);

// ---- Pictures (demo_pictures.c) ------------------------------------------------------------------------------------------

// Draw and save; false, with a line on standard error, when it cannot be done.
bool draw_tracking(const poise_model *body, const clip *cartwheel, const clip *walk, const char *folder, const char *name);
bool draw_lamp(const poise_model *lamp, const lamp_path *path, const char *folder, const char *name);
bool draw_arm(const poise_model *arm, const arm_reaches *reaches, const char *folder, const char *name);

#endif
