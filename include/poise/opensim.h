// Poise: the work of OpenSim's tools on its own files. Library poise_io.
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

// One task that is applied: a marker to follow, or a coordinate to hold.
typedef struct poise_ik_task {
    const char *name;     // of the marker or coordinate
    bool is_coordinate;   // else a marker
    double weight;        // of its squared distance, in metres or radians
    poise_ik_value value; // coordinates: what they are held near
    double manual;        // for MANUAL
} poise_ik_task;

// What a setup says. Files are named as they stand there, NULL where it names none.
typedef struct poise_ik_setup {
    const char *model;       // .osim
    const char *markers;     // .trc
    const char *coordinates; // .mot with values of coordinate tasks
    const char *output;      // .mot
    double start, end;       // of the frames to do, seconds; -infinity, infinity: all
    poise_ik_task *tasks;    // those that are applied
    int task_count;          // how many there are
} poise_ik_setup;

// Read an InverseKinematicsTool, or an IKTaskSet alone. Release with poise_ik_setup_destroy.
POISE_API poise_status poise_ik_setup_read(const void *bytes, size_t size, const poise_allocator *allocator,
                                           poise_ik_setup **setup, poise_error *error);
POISE_API void poise_ik_setup_destroy(poise_ik_setup *setup); // NULL is allowed

// Bring tasks onto a model: weights of the placements, of which those without a task leave, so that *count shrinks; values
// (nq) and weights (nv) of coordinates for poise_track_problem. `posture` holds the defaults (nq; NULL: neutral). Values
// from a file are those of `posture`: fill them in frame by frame. NOT_FOUND: a coordinate task names no joint of the model.
POISE_API poise_status poise_ik_setup_apply(const poise_ik_setup *setup, const poise_model *model, const double *posture,
                                            poise_placement *placements, int *count, double *task, double *task_weights,
                                            poise_error *error);

// ---- Scaling -------------------------------------------------------------------------------------------------------------

// A ScaleTool's job: factors of bodies from distances of markers, then marker places from a static trial.
typedef struct poise_osim_scaling {
    const void *model;            // the generic .osim
    size_t model_size;            // its bytes
    const void *marker_set;       // NULL: the model's own markers; else a MarkerSet file
    size_t marker_set_size;       // its bytes
    const void *setup;            // the ScaleTool
    size_t setup_size;            // its bytes
    const poise_markers *markers; // the static trial, y up; its scale says the unit
} poise_osim_scaling;

// What came of it. All its memory is its own.
typedef struct poise_osim_scaled {
    poise_file *file;          // scaled model, placements, posture "default"
    poise_body_scale *factors; // of every body that has some
    int factor_count;          // how many there are
    double *q;                 // nq: the static pose; the default posture where markers are not placed
    double rms, worst;         // distance of the markers in it, before they move; metres
    double weighted;           // root mean square in which each counts by its task's weight; metres
    int placed;                // markers that were moved
    const char **absent;       // markers of tasks, and bodies of measurements, that model or recording lack
    int absent_count;          // how many there are
} poise_osim_scaled;

// Do it by OpenSim's own rules. Release with poise_osim_scaled_destroy. FORMAT: the setup is no ScaleTool, or one that
// neither scales nor places.
POISE_API poise_status poise_osim_scale(const poise_osim_scaling *problem, const poise_allocator *allocator,
                                        poise_osim_scaled **scaled, poise_error *error);
POISE_API void poise_osim_scaled_destroy(poise_osim_scaled *scaled); // NULL is allowed

// Judge it, by poise_scaling_judge; names of findings point into `scaled`.
POISE_API poise_status poise_osim_scale_judge(const poise_osim_scaled *scaled, const poise_thresholds *thresholds,
                                              const poise_allocator *allocator, poise_verdict *verdict,
                                              poise_finding *findings, int capacity, poise_error *error);

// The marker set that a ScaleTool names, into `name` (cut to `room` bytes); "" where it names none.
POISE_API poise_status poise_osim_scale_marker_set(const void *setup, size_t size, char *name, size_t room,
                                                   poise_error *error);

// ---- Sensors -------------------------------------------------------------------------------------------------------------

// Orientations over time, as OpenSense has them: a STO file with DataType=Quaternion.
typedef struct poise_orientations {
    int frames, count;    // of sensors
    double rate;          // frames per second
    double start_time;    // of frame 0, seconds
    const char **label;   // count
    poise_quat *rotation; // frames x count, row by row: of the sensor in the world; zero where it has none
} poise_orientations;

// Read one. Release with poise_orientations_destroy.
POISE_API poise_status poise_orientations_read(const void *bytes, size_t size, const poise_allocator *allocator,
                                               poise_orientations **orientations, poise_error *error);
POISE_API void poise_orientations_destroy(poise_orientations *orientations); // NULL is allowed

enum { POISE_SENSOR_WEIGHTS = 64 }; // that a setup may have

// What a sensor counts.
typedef struct poise_sensor_weight {
    char label[64]; // of the sensor
    double weight;  // of its squared angle
} poise_sensor_weight;

// How sensors are placed on a model: an IMUPlacer. Start with poise_sensor_setup_read.
typedef struct poise_sensor_setup {
    poise_vec3 rotations; // turns of the sensors' world to the model's: about x, then y, then z; radians
    char base[64];        // label of the sensor that tells the heading; "": no correction
    char axis;            // 'x', 'y' or 'z': which of its axes points forward
    bool is_backward;     // against that axis
    double start, end;    // time_range of an IMUInverseKinematicsTool, seconds; -infinity, infinity: all
    poise_sensor_weight weights[POISE_SENSOR_WEIGHTS]; // orientation_weights of the latter; sensors without one count 1
    int weight_count;                                  // how many there are
    char file[256];                                    // orientations that it names: for calibration, or to follow; "": none
} poise_sensor_setup;

// An IMUPlacer, or an IMUInverseKinematicsTool.
POISE_API poise_status poise_sensor_setup_read(const void *bytes, size_t size, poise_sensor_setup *setup,
                                               poise_error *error);

// A sensor on a body.
typedef struct poise_sensor {
    int column;        // of the orientations
    int body;          // that carries it
    poise_quat offset; // of the sensor in the body
    double weight;     // 1
} poise_sensor;

// Place the sensors whose labels are bodies' names, with "_imu" behind them or not, in the pose `q` (nq), in which frame 0
// of `calibration` was recorded, with the weights of the setup. `heading` is the turn about y that lines both up, radians.
// Returns how many there are; at most `capacity` are written.
POISE_API int poise_place_sensors(const poise_model *model, const double *q, const poise_orientations *calibration,
                                  const poise_sensor_setup *setup, poise_sensor *sensors, int capacity, double *heading);

// A motion of sensors to follow. Start with {0}.
typedef struct poise_sensor_problem {
    const poise_model *model;               // the skeleton
    const double *q_start;                  // nq: where the first frame begins, and what nothing sees
    const poise_orientations *orientations; // the recording
    poise_vec3 rotations;                   // of the setup
    double heading;                         // of poise_place_sensors
    const poise_sensor *sensors;            // where they sit
    int sensor_count;                       // how many there are
    int first, count, step;                 // frames: from `first`, `count` of them, every `step`th (0: 1)
} poise_sensor_problem;

// Follow: in every frame the pose with the least sum of weighted squared angles between sensors and their bodies. Slides are
// locked, and what no sensor sees stays where it starts. `rms` (may be NULL) takes `count` angles: root mean squares by
// weight, radians.
POISE_API poise_status poise_track_sensors(const poise_sensor_problem *problem, const poise_allocator *allocator,
                                           poise_clip **clip, double *rms, poise_error *error);

#ifdef __cplusplus
}
#endif

#endif
