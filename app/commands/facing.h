// Holding a posture while the end of a skeleton faces something: what it faces, and the methods that do it. Shared by the
// commands aim, warp and stream.
#ifndef APP_FACING_H
#define APP_FACING_H

#include "cli/command.h"

#include <papers/plain/two_task.h>
#include <poise/expressive.h>
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

// By the name of a tool, body or joint that something moves; NULL: the best guess.
// `axis` holds three numbers; NULL for the direction of the last segment: from the body's joint to the tip. False after one
// line on standard error.
bool aim_find_end(const poise_model *model, const char *name, const char *axis, aim_end *end);

// As load_posture, and "points:x,y,z,x,y,z,...": places of the joints of the chain to the end and of the tip, root first,
// whose directions the posture takes (poise_erik_posture_from_positions). Warns of numbers beyond the limits.
bool aim_load_posture(const poise_file *file, const aim_end *end, const char *name, double *q);

// A target from numbers: a direction or point takes three, an orientation four (x y z w of a quaternion of any length) or
// three (degrees of roll, pitch and yaw about fixed x, y and z, as URDF has them). NULL when it is one, else what is wrong.
const char *aim_make_target(poise_aim_kind kind, const double *numbers, int count, poise_aim_target *target);

// The kind that a word means: "orientation", "direction", "at" or "aim" or "point". False when it means none.
bool aim_kind_by_name(const char *word, size_t size, poise_aim_kind *kind);

// Targets in a row.
typedef struct aim_path {
    int count;
    poise_aim_target *targets; // release with free
} aim_path;

// An option that gives a single target.
typedef struct aim_option {
    const char *name;
    poise_aim_kind kind;
} aim_option;

// The target as a goal of the end.
poise_goal aim_goal(const aim_end *end, const poise_aim_target *target);

// What the user wants to face, by one of these options or --path (with --steps). False after one line on standard error.
bool aim_read_path(const arguments *args, const aim_option options[3], const poise_file *model, aim_path *path);

// The target at a share of the way (0 to 1), between two of the path; where they are of two kinds, the first.
poise_aim_target aim_path_at(const aim_path *path, double share);

// Bodies that stay where the posture has them.
typedef struct aim_holds {
    int count, body[POISE_AIM_MOST_HELD];
} aim_holds;

// Of the option --keep: bodies by name, "none" for none. Without it, the root of a skeleton that moves freely in space.
bool aim_read_holds(const arguments *args, const poise_model *model, aim_holds *holds);

// The goals of the holds, where the kinematics hold the posture; up to POISE_AIM_MOST_HELD. How many there are.
int aim_hold_goals(const aim_holds *holds, const poise_kinematics *kinematics, poise_goal *goals);

// ---- Methods -------------------------------------------------------------------------------------------------------------

typedef enum aim_method { AIM_EXPRESSIVE = 0, AIM_ERIK, AIM_TWO_TASK } aim_method;

typedef struct aim_settings {
    aim_method method;
    poise_aim_options aim;
    two_task_options two_task;
} aim_settings;

// An orientation among the targets of `path` (NULL: not known yet) is met as it is, without half a turn more.
aim_settings aim_settings_default(const aim_end *end, const aim_path *path);

// Bodies that stay where the posture has them, for AIM_EXPRESSIVE.
void aim_settings_hold(aim_settings *settings, const aim_holds *holds);

// "name=value", a setting of `settings->method` or one that all methods have. False after one line on standard error.
bool aim_set(aim_settings *settings, const char *assignment);

typedef struct aim_result {
    const char *outcome; // in words; "failed": nothing was solved
    poise_aim_report made;
    double seconds; // of CPU time that it took
} aim_result;

// With AIM_TWO_TASK `settings` must outlive it. NULL after one line on standard error, which begins with `name`, or, with
// `reason` (of POISE_ERROR_TEXT_SIZE), after filling that instead.
poise_aim *aim_create(const poise_model *model, const char *name, aim_settings *settings, char *reason);

// As poise_aim_solve, with its time.
bool aim_solve(poise_aim *aim, const poise_aim_target *target, const double *posture, bool follows, double *q,
               aim_result *result);

// ---- The motion filter ---------------------------------------------------------------------------------------------------

typedef struct smoother smoother;

// `text` holds words "velocity=2", "acceleration=10", "jerk=100", "smoothness=0", "responsiveness=0", "soft=0", separated by
// spaces or commas, for all joints, or "JOINT.velocity=1" for one; later words come first; "nutty" is the paper's filter. A
// root that moves freely is left alone unless it is named. Lengths count in metres, of which a unit of the model has
// `metres`, or, where that is 0, in the size of the model. NULL: defaults. "off": set-points come out as they are. NULL
// after one line on standard error.
smoother *smoother_create(const poise_model *model, double metres, const char *text);
void smoother_destroy(smoother *s); // NULL is allowed

// The limits of velocity and acceleration by dof (nv numbers each), for poise_step; infinity where nothing is filtered.
void smoother_limits(const smoother *s, double *velocity, double *acceleration);

// As poise_filter_reset, _step and _rests.
void smoother_reset(smoother *s, const double *q);
void smoother_step(smoother *s, const double *setpoint, double dt, double *q);
bool smoother_rests(const smoother *s);

// ---- Options -------------------------------------------------------------------------------------------------------------

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
