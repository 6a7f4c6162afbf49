// Poise: what OpenSim's tools do, on OpenSim's own files. Library poise_io.
//
//   poise_ik_setup_read(bytes, size, NULL, &setup, &error);       // an InverseKinematicsTool, or a set of tasks alone
//   poise_ik_setup_apply(setup, model, posture, placements, &count, task, task_weights, &error);
//   problem.task = task, problem.task_weights = task_weights;     // poise_track_problem
//
// Models, marker sets and motions are read by poise_read (io.h).
#ifndef POISE_OPENSIM_H
#define POISE_OPENSIM_H

#include <poise/io.h>
#include <poise/verdict.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- Inverse kinematics: tasks -------------------------------------------------------------------------------------------

// Where the value of a coordinate task comes from.
typedef enum poise_ik_value {
    POISE_IK_DEFAULT = 0, // the model's default
    POISE_IK_MANUAL,      // the task's own
    POISE_IK_FILE         // the column of that name in `coordinates`
} poise_ik_value;

// One active task: a marker to follow, or a coordinate to hold.
typedef struct poise_ik_task {
    const char *name;     // of the marker or coordinate
    bool is_coordinate;   // otherwise a marker
    double weight;        // of its squared distance, in metres or radians
    poise_ik_value value; // coordinates: what they are held near
    double manual;        // for MANUAL
} poise_ik_task;

// The contents of a setup. File names are as written there; NULL: none.
typedef struct poise_ik_setup {
    const char *model;       // .osim
    const char *markers;     // .trc
    const char *coordinates; // .mot with values of coordinate tasks
    const char *output;      // .mot
    double start, end;       // time range, seconds; -infinity, infinity: everything
    poise_ik_task *tasks;    // the active ones
    int task_count;          // how many there are
} poise_ik_setup;

// Read an InverseKinematicsTool, or an IKTaskSet alone. Release with poise_ik_setup_destroy.
POISE_API poise_status poise_ik_setup_read(const void *bytes, size_t size, const poise_allocator *allocator,
                                           poise_ik_setup **setup, poise_error *error);
POISE_API void poise_ik_setup_destroy(poise_ik_setup *setup); // NULL is allowed

// Apply the tasks to a model: sets the weights of the placements, removes those without a task (*count shrinks), and fills
// the values (nq) and weights (nv) of coordinates for poise_track_problem. `posture` holds the defaults (nq; NULL:
// neutral). Coordinates whose values come from a file get those of `posture`: fill them in frame by frame. NOT_FOUND: a
// coordinate task names no joint of the model.
POISE_API poise_status poise_ik_setup_apply(const poise_ik_setup *setup, const poise_model *model, const double *posture,
                                            poise_placement *placements, int *count, double *task, double *task_weights,
                                            poise_error *error);

// ---- Scaling -------------------------------------------------------------------------------------------------------------

// The input of a ScaleTool: scales bodies by distances between markers, then places markers from a static trial.
typedef struct poise_osim_scaling {
    const void *model;            // the generic .osim
    size_t model_size;            // its bytes
    const void *marker_set;       // NULL: the model's own markers; otherwise a MarkerSet file
    size_t marker_set_size;       // its bytes
    const void *setup;            // the ScaleTool
    size_t setup_size;            // its bytes
    const poise_markers *markers; // the static trial, y up; its scale gives the unit
} poise_osim_scaling;

// The result. It owns its memory.
typedef struct poise_osim_scaled {
    poise_file *file;          // scaled model, placements, posture "default"
    poise_body_scale *factors; // of every scaled body
    int factor_count;          // how many there are
    double *q;                 // nq: the static pose; the default posture if markers are not placed
    double rms, worst;         // marker errors in it, before markers are moved; metres
    double weighted;           // root mean square by task weight; metres
    int placed;                // markers that were moved
    const char **absent;       // markers of tasks, and bodies of measurements, missing from model or recording
    int absent_count;          // how many there are
} poise_osim_scaled;

// Scale a model by OpenSim's rules. Release with poise_osim_scaled_destroy. FORMAT: the setup is not a ScaleTool, or
// neither scales nor places.
POISE_API poise_status poise_osim_scale(const poise_osim_scaling *problem, const poise_allocator *allocator,
                                        poise_osim_scaled **scaled, poise_error *error);
POISE_API void poise_osim_scaled_destroy(poise_osim_scaled *scaled); // NULL is allowed

// Judge the result with poise_scaling_judge; names in findings point into `scaled`.
POISE_API poise_status poise_osim_scale_judge(const poise_osim_scaled *scaled, const poise_thresholds *thresholds,
                                              const poise_allocator *allocator, poise_verdict *verdict,
                                              poise_finding *findings, int capacity, poise_error *error);

// The marker set file named by a ScaleTool, in `name` (truncated to `room` bytes); "" if none.
POISE_API poise_status poise_osim_scale_marker_set(const void *setup, size_t size, char *name, size_t room,
                                                   poise_error *error);

// ---- Sensors -------------------------------------------------------------------------------------------------------------

// Orientations over time, as in OpenSense: a STO file with DataType=Quaternion.
typedef struct poise_orientations {
    int frames, count;    // of sensors
    double rate;          // frames per second
    double start_time;    // of frame 0, seconds
    const char **label;   // count
    poise_quat *rotation; // frames x count, row by row: of the sensor in the world; zero if missing
} poise_orientations;

// Read such a file. Release with poise_orientations_destroy.
POISE_API poise_status poise_orientations_read(const void *bytes, size_t size, const poise_allocator *allocator,
                                               poise_orientations **orientations, poise_error *error);
POISE_API void poise_orientations_destroy(poise_orientations *orientations); // NULL is allowed

enum { POISE_SENSOR_WEIGHTS = 64 }; // most weights of a setup

// The weight of a sensor.
typedef struct poise_sensor_weight {
    char label[64]; // of the sensor
    double weight;  // of its squared angle
} poise_sensor_weight;

// How sensors are placed on a model: an IMUPlacer. Start with poise_sensor_setup_read.
typedef struct poise_sensor_setup {
    poise_vec3 rotations;                              // rotation from the sensors' world to the model's: about x, then y,
                                                       // then z; radians
    char base[64];                                     // label of the sensor that gives the heading; "": no correction
    char axis;                                         // 'x', 'y' or 'z': which of its axes points forward
    bool is_backward;                                  // the axis points backward
    double start, end;                                 // time_range of an IMUInverseKinematicsTool, seconds; -infinity,
                                                       // infinity: all
    poise_sensor_weight weights[POISE_SENSOR_WEIGHTS]; // orientation_weights of the latter; 1 for sensors without one
    int weight_count;                                  // how many there are
    char file[256];                                    // its file of orientations: for calibration, or to follow; "": none
} poise_sensor_setup;

// Read an IMUPlacer or an IMUInverseKinematicsTool.
POISE_API poise_status poise_sensor_setup_read(const void *bytes, size_t size, poise_sensor_setup *setup,
                                               poise_error *error);

// A sensor on a body.
typedef struct poise_sensor {
    int column;        // of the orientations
    int body;          // that carries it
    poise_quat offset; // of the sensor in the body
    double weight;     // 1
} poise_sensor;

// Place the sensors whose labels are body names, with or without the suffix "_imu", in the pose `q` (nq) in which frame 0
// of `calibration` was recorded, with the weights of the setup. *heading is the rotation about y, in radians, that aligns
// both. Returns how many there are; writes at most `capacity`.
POISE_API int poise_place_sensors(const poise_model *model, const double *q, const poise_orientations *calibration,
                                  const poise_sensor_setup *setup, poise_sensor *sensors, int capacity, double *heading);

// Move sensors from the columns of the calibration that placed them to those of the same labels in `recording`; those that
// it lacks are removed. Returns how many are left.
POISE_API int poise_find_sensors(const poise_orientations *calibration, const poise_orientations *recording,
                                 poise_sensor *sensors, int count);

// Sensor orientations to follow. Start with {0}.
typedef struct poise_sensor_problem {
    const poise_model *model;               // the skeleton
    const double *q_start;                  // nq: start of the first frame, and values of what no sensor sees
    const poise_orientations *orientations; // the recording
    poise_vec3 rotations;                   // of the setup
    double heading;                         // of poise_place_sensors
    const poise_sensor *sensors;            // where the sensors sit
    int sensor_count;                       // how many there are
    int first, count, step;                 // frames: from `first`, `count` of them, every `step`th (0: 1)
} poise_sensor_problem;

// Follow sensors: in every frame, find the pose with the least sum of weighted squared angles between sensors and their
// bodies. Slides are locked, and what no sensor sees keeps its initial value. `rms` (may be NULL) receives `count` root
// mean square angles by weight, radians.
POISE_API poise_status poise_track_sensors(const poise_sensor_problem *problem, const poise_allocator *allocator,
                                           poise_clip **clip, double *rms, poise_error *error);

// Judge the result by its `rms`: the angle over all frames (TURNED), and sensors of the recording that no body carries
// (LEFT_OUT). At most orientations->count + 1 findings; their names point into the orientations.
POISE_API poise_status poise_sensors_judge(const poise_sensor_problem *problem, const double *rms,
                                           const poise_thresholds *thresholds, poise_verdict *verdict,
                                           poise_finding *findings, int capacity, poise_error *error);

#ifdef __cplusplus
}
#endif

#endif
