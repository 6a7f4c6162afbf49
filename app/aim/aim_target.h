// Holding a posture while the end of a skeleton faces something: what it faces, and the methods that do it. Shared by the
// commands aim, warp and stream.
#ifndef APP_AIM_TARGET_H
#define APP_AIM_TARGET_H

#include "cli/command.h"

#include <papers/plain/two_task.h>
#include <poise/io.h>
#include <poise/poise.h>

// ---- What is aimed, and where --------------------------------------------------------------------------------------------

// The end that faces something. `axis` is the direction that it faces with, in the frame of the body.
typedef struct aim_end {
    const char *name;
    int body;
    poise_pose tip; // in the body
    poise_vec3 axis;
} aim_end;

// By the name of a tool, body or joint that something moves; NULL: the best guess (aim_end.c).
// `axis` holds three numbers; NULL for the direction of the last segment: from the body's joint to the tip. False after one
// line on standard error.
bool aim_find_end(const poise_model *model, const char *name, const char *axis, aim_end *end);

// As load_posture, and "points:x,y,z,x,y,z,...": places of the joints of the chain to the end and of the tip, root first,
// whose directions the posture takes (poise_erik_posture_from_positions). Warns of numbers beyond the limits.
bool aim_load_posture(const poise_file *file, const aim_end *end, const char *name, double *q);

typedef enum aim_kind {
    AIM_ORIENTATION = 0, // the tip has this rotation in the world
    AIM_DIRECTION,       // the axis has this direction in the world; the roll about it is free
    AIM_POINT            // the axis points from the tip to this place
} aim_kind;

typedef struct aim_target {
    aim_kind kind;
    poise_quat rotation; // unit
    poise_vec3 vector;   // unit for a direction
} aim_target;

// A target from numbers: a direction or point takes three, an orientation four (x y z w of a quaternion of any length) or
// three (degrees of roll, pitch and yaw about fixed x, y and z, as URDF has them). NULL when it is one, else what is wrong.
const char *aim_make_target(aim_kind kind, const double *numbers, int count, aim_target *target);

// The kind that a word means: "orientation", "direction", "at" or "aim" or "point". False when it means none.
bool aim_kind_by_name(const char *word, size_t size, aim_kind *kind);

poise_goal aim_goal(const aim_end *end, const aim_target *target);

// Targets in a row.
typedef struct aim_path {
    int count;
    aim_target *targets; // release with free
} aim_path;

// An option that gives a single target.
typedef struct aim_option {
    const char *name;
    aim_kind kind;
} aim_option;

// What the user wants to face, by one of these options or --path (with --steps). False after one line on standard error.
bool aim_read_path(const arguments *args, const aim_option options[3], const poise_file *model, aim_path *path);

// The target at a share of the way (0 to 1), between two of the path; where they are of two kinds, the first.
aim_target aim_path_at(const aim_path *path, double share);

// Bodies that stay where the posture has them, by goals of their own.
enum { AIM_MOST_HOLDS = 8 };

typedef struct aim_holds {
    int count, body[AIM_MOST_HOLDS];
} aim_holds;

// Of the option --hold: bodies by name, "none" for none. Without it, the root of a skeleton that moves freely in space.
bool aim_read_holds(const arguments *args, const poise_model *model, aim_holds *holds);

// The goals of the holds, where the kinematics hold the posture; up to AIM_MOST_HOLDS. How many there are.
int aim_hold_goals(const aim_holds *holds, const poise_kinematics *kinematics, poise_goal *goals);

// ---- Methods -------------------------------------------------------------------------------------------------------------

typedef enum aim_method { AIM_EXPRESSIVE = 0, AIM_ERIK, AIM_TWO_TASK } aim_method;

typedef struct aim_settings {
    aim_method method;
    aim_holds holds; // for EXPRESSIVE
    bool symmetric;  // an orientation may be met rolled by half a turn about the last segment
    poise_expressive_options expressive;
    poise_erik_options erik;
    two_task_options two_task;
} aim_settings;

// Radians or lengths: how far a joint goes in one step of a path while the answer is left for a better one.
#define AIM_STRIDE 0.1

// An orientation among the targets of `path` (NULL: not known yet) is met as it is, without half a turn more.
aim_settings aim_settings_default(const aim_end *end, const aim_path *path);

// "name=value", a setting of `settings->method` or one that all methods have. False after one line on standard error.
bool aim_set(aim_settings *settings, const char *assignment);

// How one solve went; angles in radians.
typedef struct aim_result {
    const char *outcome; // "reached": the end faces its target to within the threshold; else why not
    bool faces;          // that it does
    bool within;         // the combined error is within the threshold, too: success as the ERIK paper counts it
    int iterations;      // of ERIK or two tasks; for the successor, evaluations of its objective
    double angle;        // left between the end and the target
    double orientation;  // the same as an error from 0 to 1: sqrt(2) sin(angle / 4)
    double posture;      // error of the posture, 0 to 1
    double error;        // weighted sum of both
    double shape;        // mean turn of the bends against the posture, signs seen (1); NaN where there is no chain of hinges
    bool limits_hold;
    double seconds; // of CPU time that it took
} aim_result;
// (1) Weighted as the posture error is. A run of bends between two twisters may go the other way as a whole with half a turn
//     of the twister before it.

typedef struct aim_solver aim_solver;

// NULL after one line on standard error, or, with `reason` (of POISE_ERROR_TEXT_SIZE), after filling that instead.
aim_solver *aim_solver_create(const poise_model *model, const aim_end *end, const aim_settings *settings, char *reason);
void aim_solver_destroy(aim_solver *solver); // NULL is allowed

// Find q (nq numbers). `follows`: q comes in as the last answer of a sequence.
bool aim_solve(aim_solver *solver, const aim_target *target, const double *posture, bool follows, double *q,
               aim_result *result);

// The angle left between the end and a target at any q, in radians.
double aim_angle(aim_solver *solver, const aim_target *target, const double *q);

// Has a joint moved by more than 20 degrees (0.35 length units) between two answers? The paper's measure of a jump.
bool aim_has_jumped(const poise_model *model, const double *before, const double *q);

// Options that aim, warp and stream have in common: which part of the skeleton faces the target, and with what.
#define AIM_OPTION_BODY                                                                                                     \
    {                                                                                                                       \
        .name = "body", .letter = 'b', .kind = OPTION_TEXT, .value = "NAME",                                                \
        .help = "the tool or body that faces the target (a tool, a hand or head, an end with most joints)"                  \
    }
#define AIM_OPTION_POSTURES                                                                                                 \
    {                                                                                                                       \
        .name = "postures", .kind = OPTION_FILE, .value = "FILE",                                                           \
        .help = "postures for a skeleton whose file has none: {\"poise\": 1, \"postures\": {\"bow\": [0.1, ...]}}"          \
    }
#define AIM_OPTION_AXIS                                                                                                     \
    {                                                                                                                       \
        .name = "axis", .kind = OPTION_TEXT, .value = "X,Y,Z",                                                              \
        .help = "the direction it faces with, in the body's frame (from its joint to the tip)"                              \
    }
#define AIM_OPTION_HOLD                                                                                                     \
    {                                                                                                                       \
        .name = "keep", .alias = "hold", .kind = OPTION_TEXT, .value = "BODY",                                              \
        .help = "a body that stays where the posture has it, or \"none\" (the root, where it is free)", .repeats = true     \
    }

#endif
