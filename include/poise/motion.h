// Poise: motion. Clips of joint values, and recorded markers.
//
// A clip is a time series of configurations of one model; a marker set is a time series of labelled points, as a motion
// capture system records them. Both are plain structs that own their arrays: read and write the arrays as you like, release
// the whole with its _destroy.
//
// **Units.** Lengths are in the units of wherever the numbers came from, so that a file that was read can be written with
// the same bits. `scale` says what they mean. Angles are radians, times seconds.
#ifndef POISE_MOTION_H
#define POISE_MOTION_H

#include <poise/solve.h>

#ifdef __cplusplus
extern "C" {
#endif

// Which axis points upwards.
typedef enum poise_up { POISE_UP_UNKNOWN = 0, POISE_UP_X, POISE_UP_Y, POISE_UP_Z } poise_up;

// What lengths and directions mean.
typedef struct poise_scale {
    double metres; // per unit of length; 0: unknown
    poise_up up;   // the axis that points upwards
} poise_scale;

// ---- Clips ---------------------------------------------------------------------------------------------------------------

// A motion: a configuration for every frame.
typedef struct poise_clip {
    int frames;                // how many
    int nq;                    // of the model it moves
    double frame_time;         // seconds from frame to frame, > 0
    double start_time;         // of frame 0
    double *q;                 // frames x nq, row by row
    poise_allocator allocator; // that its memory came from
    bool has_allocator;        // false: malloc
} poise_clip;

// A clip of zeros; one allocation. `allocator` may be NULL. ARGUMENT: a count is negative, or frame_time is not > 0.
POISE_API poise_status poise_clip_create(int frames, int nq, double frame_time, const poise_allocator *allocator,
                                         poise_clip **clip, poise_error *error);
POISE_API void poise_clip_destroy(poise_clip *clip); // NULL is allowed

// A new clip of frames [first, first + count) of this one.
POISE_API poise_status poise_clip_trim(const poise_clip *clip, int first, int count, const poise_allocator *allocator,
                                       poise_clip **trimmed, poise_error *error);

// A new clip of the same length in time, sampled every `frame_time` seconds. Between two frames each joint goes the
// shortest way at constant speed (poise_difference, poise_retract); an angle that jumps by a whole turn stays.
POISE_API poise_status poise_clip_resample(const poise_clip *clip, const poise_model *model, double frame_time,
                                           const poise_allocator *allocator, poise_clip **resampled, poise_error *error);

// The configuration at `time`, between frames as above, before the first frame the first, after the last the last.
POISE_API poise_status poise_clip_sample(const poise_clip *clip, const poise_model *model, double time, double *q,
                                         poise_error *error);

// Where a motion leads: the configuration after the last of `count` frames, nq numbers each, oldest first, as in a clip. A
// tracker that starts poise_solve there instead of at its last answer needs fewer iterations, one instead of three on smooth
// motions. It goes on with the speed of the last frames, or with their change of speed, if that would have foretold the last
// frame three times as well as the simpler guess; where noise makes it no better, after a jump, and from fewer than three
// frames the answer is the last frame. At most four frames are looked at. Limits are not: a solver moves its start inside.
// `q` may be the last frame itself. Nothing is remembered from call to call.
POISE_API poise_status poise_predict(const poise_model *model, const double *frames, int count, double *q,
                                     poise_error *error);

// ---- Markers -------------------------------------------------------------------------------------------------------------

// A recording: where each of some labelled points was in every frame.
typedef struct poise_markers {
    int frames, count;         // of markers
    double rate;               // frames per second, > 0
    int first_frame;           // number of frame 0 in the recording
    double start_time;         // of frame 0, seconds
    poise_scale scale;         // of the positions
    poise_vec3 *position;      // frames x count, row by row; NaN in all three where a marker was not seen
    float *residual;           // frames x count: what the recording system says of each point; NULL: it says nothing
    const char **label;        // count; zero-terminated, never NULL
    poise_allocator allocator; // that its memory came from
    bool has_allocator;        // false: malloc
} poise_markers;

// All gaps. Labels are copied; NULL for labels "1", "2", ... ARGUMENT: a count is negative, or rate is not > 0.
POISE_API poise_status poise_markers_create(int frames, int count, double rate, const char *const *labels,
                                            const poise_allocator *allocator, poise_markers **markers, poise_error *error);
POISE_API void poise_markers_destroy(poise_markers *markers); // NULL is allowed

// Was this point seen?
static inline bool poise_markers_seen(const poise_markers *markers, int frame, int marker)
{
    poise_vec3 p = markers->position[(size_t)frame * (size_t)markers->count + (size_t)marker];
    return p.x == p.x && p.y == p.y && p.z == p.z;
}

// Index by label, exactly or, with the subject's name left out, by what follows the last colon ("Daniel:LFHD" is "LFHD").
// POISE_NONE when there is none.
POISE_API int poise_markers_find(const poise_markers *markers, const char *label);

// A person, or a thing, among several in one recording.
typedef struct poise_subject {
    char name[64]; // zero-terminated
    int markers;   // that are its own
    int seen;      // of them, in a tenth of the frames or more
    bool is_whole; // 12 or more are seen: a person, not a prop
} poise_subject;

// Who is in a recording: the different names before the last colon of labels ("Daniel:LFHD"), or, where no label has one,
// before an underscore if what follows it repeats. How many there are; the first `capacity` go to `subjects` (may be NULL).
POISE_API int poise_markers_subjects(const poise_markers *markers, poise_subject *subjects, int capacity);

// A new set of the markers of one subject, with labels that leave out its name. `subject` NULL: the only whole one; *part is
// NULL where there is nothing to choose: fewer than two subjects, or none that is whole. UNSUPPORTED, with their names in
// `error`: several are whole. NOT_FOUND: none has this name.
POISE_API poise_status poise_markers_select(const poise_markers *markers, const char *subject,
                                            const poise_allocator *allocator, poise_markers **part, poise_error *error);

// A new set of frames [first, first + count) of this one.
POISE_API poise_status poise_markers_trim(const poise_markers *markers, int first, int count,
                                          const poise_allocator *allocator, poise_markers **trimmed, poise_error *error);

// A new set at another rate: straight lines between frames, a gap where either end is one.
POISE_API poise_status poise_markers_resample(const poise_markers *markers, double rate, const poise_allocator *allocator,
                                              poise_markers **resampled, poise_error *error);

// Turn and scale all points in place: into metres (or any unit) and another upward axis, by a cyclic change of axes.
// UNSUPPORTED when the present scale is unknown.
POISE_API poise_status poise_markers_rescale(poise_markers *markers, poise_scale scale, poise_error *error);

// ---- Markers on bodies ---------------------------------------------------------------------------------------------------

// Where a marker sits.
typedef struct poise_placement {
    const char *label; // of the marker, as poise_markers_find takes it; must stay valid
    int body;          // that carries it
    poise_vec3 local;  // in the body's frame
    double weight;     // >= 0; 1 for an ordinary marker
} poise_placement;

// A named configuration.
typedef struct poise_posture {
    const char *name; // of the posture
    const double *q;  // nq
} poise_posture;

#ifdef __cplusplus
}
#endif

#endif
