// Following a recording: what `poise track`, its report and the demonstration share.
//
//   names -> track_load (skeleton, points, units, marker places) -> track_run (calibrate, track, measure) -> track_write
#ifndef APP_TRACK_PARTS_H
#define APP_TRACK_PARTS_H

#include "cli/load.h"

#include <poise/sequence.h>
#include <poise/verdict.h>

#include <stdio.h>

typedef enum track_calibrate {
    TRACK_CALIBRATE_DECIDE = 0, // PLACES where some are not known, else NONE
    TRACK_CALIBRATE_NONE,
    TRACK_CALIBRATE_PLACES,
    TRACK_CALIBRATE_UNIFORM,
    TRACK_CALIBRATE_SEGMENTS
} track_calibrate;

// What is wanted. Fill with track_request_default(), change what you like.
typedef struct track_request {
    const char *model, *source; // names as load.h takes them
    const char *source_model;   // skeleton of a motion that holds none; NULL: none
    const char *placements;     // NULL: those of the skeleton's file, or of the source's, or by common names
    const char *labels;         // NULL: a file with a table of marker names and places before the built-in one
    const char *subject;        // NULL: the only whole one, of several people in the recording
    const char *const *pairs;   // "source=target": bodies that belong together though their names differ
    int pair_count;
    poise_scale scale;               // of the skeleton where its file says nothing, or something else; 0: as the file says
    poise_scale source_scale;        // of the source, likewise
    bool floating, use_bodies;       // let the root move; follow the bodies of a source that has markers, too
    bool keep_size;                  // do not scale another skeleton's motion to the size of this one
    int first, last;                 // frames of the recording; last < 0: to its end
    double rate;                     // frames per second; 0: as recorded
    track_calibrate calibrate;       // DECIDE
    int calibration_frames;          // 50
    poise_thresholds thresholds;     // of the verdict
    const char *tasks;               // NULL: a setup of OpenSim's inverse kinematics
    poise_track_problem track;       // its options; threads are set by `threads`
    bool whole;                      // all frames at once, by
    poise_sequence_options sequence; // these options; noise in metres, limits by
    double velocity, acceleration;   // of all joints but a free root, radians or metres a second (squared); 0: none
    int threads;                     // 1
} track_request;

track_request track_request_default(void);

enum { TRACK_NOTES = 20, TRACK_NOTE_SIZE = 240 };

// A recording and what it became.
typedef struct track_result {
    const char *model_name, *source_name;
    poise_file *skeleton, *source, *places; // as read: labels of the placements point into them, or into `markers`
    poise_model *fitted;                    // with its bones scaled; NULL: not scaled
    const poise_model *model;               // of the two the one that was tracked
    poise_scale scale;                      // of all lengths here
    poise_markers *markers;                 // frames wanted, in the skeleton's units and axes
    poise_placement *placements;
    poise_place_prior *priors; // by placement: what anatomy says; NULL: it says nothing
    int placement_count;
    int named; // of those: places that come from common names
    poise_places_report anatomy;
    double *task, *task_weights; // of coordinates, by OpenSim's tasks; NULL: none
    char **absent;               // names of tasks whose marker is not there
    int absent_count;
    bool *unseen; // degrees of freedom that nothing sees; NULL: not asked
    int first;    // frame of the recording that is frame 0 here
    bool from_motion, calibrated;
    poise_calibration_report calibration;
    double *q_start;
    poise_clip *clip;
    bool whole; // all frames at once
    poise_sequence_report sequence;
    poise_track_frame *frames;
    double *seconds; // by frame: processor time of all passes over it
    double wall;     // seconds from start to end of the tracking
    int threads;
    poise_method method;
    // measured
    double *distances;             // frames x placements
    poise_marker_error *by_marker; // by placement
    poise_track_summary sum;
    poise_verdict verdict;
    poise_finding *findings;                 // verdict.count
    double mean_time, p50, p99;              // seconds
    char note[TRACK_NOTES][TRACK_NOTE_SIZE]; // what was decided for the user
    int note_count;
} track_result;

// All of these: false after one line on standard error. Release the result with track_release in any case.
bool track_load(const track_request *request, track_result *r);
bool track_run(const track_request *request, track_result *r);
bool track_judge(const track_request *request, track_result *r);
bool track_write(const track_result *r, const char *name);

// Standard deviations of all joint angles by frame, as CSV.
bool track_write_deviations(const track_result *r, const char *name);

// Joint angles as clinicians name them, as .csv or .mot, and joint centres as markers.
bool track_write_angles(const track_result *r, const char *name);
bool track_write_centres(const track_result *r, const char *name);

// The model, placements and markers that were tracked.
poise_track_problem track_problem_of(const track_result *r);

// Can a motion of this skeleton be written under that name? Asked before the work begins. False after one line on standard
// error that says which formats can hold it.
bool track_can_write(const track_result *r, const char *name);

void track_release(track_result *r);

void track_note(track_result *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Does the clip leave the limits of velocity and acceleration that it was to keep?
static inline bool track_leaves_limits(const track_result *r)
{
    return r->sequence.velocity > 1 + 1e-6 || r->sequence.acceleration > 1 + 1e-6;
}

// Lengths as people read them: a number to multiply by, and its unit.
double track_unit(const track_result *r, const char **unit);

// OpenSim's tasks (track_tasks.c): its times become frames of the request; weights and values onto the skeleton; errors as
// its .sto has them. False after one line on standard error.
bool track_take_times(track_request *request, const poise_markers *markers);
bool track_take_tasks(const track_request *request, track_result *r);
bool track_write_errors(const track_result *r, const char *name);

// Follow sensors of orientation (track_sensors.c), placed by `setup`; writes `out` (may be NULL), prints and judges.
bool track_sensors(const track_request *request, const char *setup, const char *out, poise_verdict_level *level);

// Start where the skeleton's file has its joints, and let those that nothing sees stay there.
bool track_take_default(track_result *r);

// What was special about a frame, in words. "" for nothing.
void track_reason(const track_result *r, int frame, char *text, size_t size);

#endif
