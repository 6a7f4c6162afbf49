// Following a recording: what `poise track`, its report and the demonstration share.
//
//   names -> track_load (files, poise_recording_match) -> track_run (poise_recording_follow) -> track_write
#ifndef APP_TRACK_H
#define APP_TRACK_H

#include "cli/command.h"
#include "cli/json.h"
#include "cli/load.h"
#include "commands/avoid.h"

#include <poise/recordings.h>
#include <poise/track.h>

#include <stdio.h>

// ---- A device that tracks ------------------------------------------------------------------------------------------------

// What a program brings along to solve the frames of recordings: poise has none, poise-cuda has one.
typedef struct track_device {
    // Is it there? False after one line on standard error.
    bool (*begin)(void);

    // What it is called, after begin.
    const char *(*name)(void);

    // A skeleton with its markers, made for the stretches of a recording; NULL, with a reason in `error`: UNSUPPORTED, it
    // does not serve these. Any thread may ask.
    void *(*open)(const poise_track_plan *plan, poise_error *error);
    poise_status (*solve)(void *body, const poise_track_plan *plan, poise_track_stretch *stretches, int count,
                          poise_error *error);
    void (*close)(void *body); // NULL is allowed
} track_device;

// The device that the program has; NULL: none.
const track_device *track_device_now(void);
void track_device_join(const track_device *device);

// What --device asks for: NULL for the processors. Where the program has no device it becomes the one that has. False after
// one line on standard error.
bool track_device_find(const arguments *args, const track_device **found);

// A recording on the device.
typedef struct track_on_device {
    const track_device *device;
    void *body;
    char why[256]; // it is not served; "" if it is
} track_on_device;

// poise_track_problem.ahead; `user` is a track_on_device. Close it with track_device_leave.
poise_status track_device_ahead(void *user, const poise_track_plan *plan, poise_track_stretch *stretches, int count,
                                poise_error *error);
void track_device_leave(track_on_device *on);

// Jobs side by side: one at a time works here, between these two, and lets others have their turn while the device works for
// it.
void track_turn_take(void);
void track_turn_leave(void);

// ---- Following a recording -----------------------------------------------------------------------------------------------

// What is wanted. Fill with track_request_default(), change what you like.
typedef struct track_request {
    const char *model, *source;      // names as load.h takes them
    const char *source_model;        // skeleton of a motion that holds none; NULL: none
    const char *placements;          // NULL: those of the skeleton's file, or of the source's, or by common names
    const char *labels;              // NULL: a file with a table of marker names and places before the built-in one
    const char *tasks;               // NULL: a setup of OpenSim's inverse kinematics
    const char *standing;            // NULL: a recording of the person standing, to find marker places and bones on
    poise_scale scale;               // of the skeleton where its file says nothing, or something else; 0: as the file says
    poise_scale source_scale;        // of the source, likewise
    bool floating, use_bodies;       // let the root move; follow the bodies of a source that has markers, too
    const arguments *kept;           // NULL: options of what every frame keeps to (avoid.h), lengths in metres
    bool has_floor;                  // nothing below
    double floor;                    // this height, in metres
    int threads;                     // 1
    const track_device *device;      // NULL: the processors solve the frames
    poise_recording_problem problem; // its options; what it is about is filled in by track_load
} track_request;

track_request track_request_default(void);

enum { TRACK_NOTES = 20, TRACK_NOTE_SIZE = 240 };

// What every frame keeps to (track_run.c). Lengths in the skeleton's unit.
typedef struct track_clearance {
    bool asked[POISE_KEPT_SORTS]; // what is kept
    bool has_floor;               // the last shape
    bool checks_all;              // there are pairs to watch, and no mesh is missing
    avoided avoided;              // of the options and the skeleton's file
    more_postures srdf;           // its pairs
    poise_shape *points;          // joints and tools of a skeleton without shapes; NULL: it has some
    poise_pair *pairs;            // that are watched; NULL: those of the options
    poise_constraint *kept;       // the clearance, if it is asked for, then the balance, then loops
    int count;                    // of those
    poise_kept found;             // how the answer keeps to them
    unsigned char *broken;        // by frame: bits of poise_kept_sort that do not hold
} track_clearance;

// A recording and what it became.
typedef struct track_result {
    const char *model_name, *source_name, *places_name;
    poise_file *skeleton, *source, *other, *places; // as read
    bool freed;                                     // the root of the skeleton, which no animation of its file moves
    char *labels;                                   // the user's table of names
    poise_recording_problem problem;                // as it was done; of the request and the files
    poise_recording_result *made;
    poise_file *standing;          // the static trial
    poise_recording_result *stood; // what it told; NULL: there is none
    double *task, *task_weights;   // of coordinates, by OpenSim's tasks; NULL: none
    char **absent;                 // names of tasks whose marker is not there
    int absent_count;
    int untasked; // markers with a place and no task
    track_clearance clearance;
    double *seconds; // by frame: processor time of all passes over it
    double wall;     // seconds of the process, or of one job of a list: reading and writing included
    int threads;
    double mean_time, p50, p99;              // seconds
    char note[TRACK_NOTES][TRACK_NOTE_SIZE]; // what was decided for the user
    int note_count;
} track_result;

// All of these: false after one line on standard error. Release the result with track_release in any case.
bool track_load(const track_request *request, track_result *r);
bool track_run(const track_request *request, track_result *r);
bool track_write(const track_result *r, const char *name);

// Standard deviations of all joint angles by frame, as CSV.
bool track_write_deviations(const track_result *r, const char *name);

// Joint angles as clinicians name them, as .csv or .mot, and joint centres as markers.
bool track_write_angles(const track_result *r, const char *name);
bool track_write_centres(const track_result *r, const char *name);

// Can a motion of this skeleton be written under that name? Asked before the work begins. False after one line on standard
// error that says which formats can hold it.
bool track_can_write(const track_result *r, const char *name);

void track_release(track_result *r);

// What was decided for the user (track_print.c): one line, and all that matching and following came to.
void track_note(track_result *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
void track_note_matched(track_result *r);
void track_note_followed(track_result *r);

// Does the clip leave the limits of velocity and acceleration that it was to keep?
static inline bool track_leaves_limits(const track_result *r)
{
    return r->made->sequence.velocity > 1 + 1e-6 || r->made->sequence.acceleration > 1 + 1e-6;
}

// Is nobody there yet in this frame, or no longer? Such frames have too few markers, hold a pose and are no fault.
static inline bool track_is_away(const track_result *r, int frame)
{
    const poise_track_summary *s = &r->made->summary;
    return frame < s->before || frame >= r->made->markers->frames - s->after;
}

// Lengths as people read them: a number to multiply by, and its unit.
double track_unit(const track_result *r, const char **unit);

// OpenSim's tasks (track_opensim.c): its times become frames of the problem; weights and values onto the skeleton; errors as
// its .sto has them. False after one line on standard error.
bool track_take_times(const char *tasks, const poise_markers *markers, poise_recording_problem *problem);
bool track_take_tasks(const char *tasks, track_result *r);
bool track_write_errors(const track_result *r, const char *name);

// Marker places and bones from a static trial (track_run.c), which the problem then holds to. False after one line on
// standard error.
bool track_take_standing(const char *name, poise_scale scale, track_result *r);

// The skeleton's default posture; NULL: it has none.
const double *track_default_posture(const track_result *r);

// No collisions, nothing below the ground, balance and closed loops (track_run.c): make them part of the problem, and
// look at the answer. False after one line on standard error.
bool track_take_clearance(const track_request *request, track_result *r);
bool track_check_clearance(track_result *r);
void track_release_clearance(track_clearance *clearance);

// Was it asked for and not kept, or not all of it looked after?
bool track_leaves_clearance(const track_result *r);

// Why a frame does not keep to it; NULL: it does. "a loop is open".
const char *track_kept_reason(const track_clearance *clearance, int frame);

// What some frame does not keep to: "floor, shapes and loops".
const char *track_kept_words(const track_clearance *clearance);

// The worst frame in words, with the number of frames that could not keep it.
void track_describe_kept(const track_result *r, poise_kept_sort which, char *text, size_t size);

// Are loops of the skeleton held? Frame by frame they are.
bool track_holds_loops(const track_request *request);

// Follow sensors of orientation (track_opensim.c), placed by `setup`; writes `out` (may be NULL), prints and judges.
bool track_sensors(const track_request *request, const char *setup, const char *out, poise_verdict_level *level);

// What was special about a frame, in words. "" for nothing.
void track_reason(const track_result *r, int frame, char *text, size_t size);

// ---- What is said of it --------------------------------------------------------------------------------------------------

void track_print(const track_result *r, FILE *stream);

// How sure the angles of each joint are: [name, median over frames of the standard deviation, in degrees, of its least sure
// angle], null where markers do not determine it.
json_node *track_sureness_as_json(const track_result *r);

// Curves of joint angles as clinicians name them: {name, step, values}; none for a skeleton that is not human.
json_node *track_angles_as_json(const track_result *r);

json_node *track_as_json(const track_result *r, const char *out, const char *report);

// A page about it: everything in one file, nothing from the network. False after one line on standard error. The command
// line is shown as the arguments say.
bool report_write(const track_result *r, const char *name, const arguments *args);

// Was this kept in every frame? Only where it was asked for (track_run.c).
json_node *track_kept_as_json(const track_result *r, poise_kept_sort which);

#endif
