// Poise: motion. Clips of joint values, and recorded markers.
//
// A clip is a time series of configurations of one model; a marker set is a time series of labelled points, as a motion
// capture system records them. Both are plain structs that own their arrays: read and write the arrays directly, release
// the whole with its _destroy function.
//
// **Units.** Lengths keep the unit of their source, so that a file can be read and written with the same bits. `scale`
// gives that unit. Angles are radians, times seconds.
#ifndef POISE_MOTION_H
#define POISE_MOTION_H

#include <poise/solve.h>

#ifdef __cplusplus
extern "C" {
#endif

// Which axis points upwards.
typedef enum poise_up { POISE_UP_UNKNOWN = 0, POISE_UP_X, POISE_UP_Y, POISE_UP_Z } poise_up;

// The unit of length and the upward axis.
typedef struct poise_scale {
    double metres; // per unit of length; 0: unknown
    poise_up up;   // the axis that points upwards
} poise_scale;

// "centimetres" for 0.01; NULL for a unit without a name.
POISE_API const char *poise_unit_name(double metres);

// ---- Clips ---------------------------------------------------------------------------------------------------------------

// A motion: a configuration for every frame.
typedef struct poise_clip {
    int frames;                // how many
    int nq;                    // of the model it moves
    double frame_time;         // seconds from frame to frame, > 0
    double start_time;         // of frame 0
    double *q;                 // frames x nq, row by row
    poise_allocator allocator; // source of its memory
    bool has_allocator;        // false: malloc
} poise_clip;

// A clip of zeros; one allocation. `allocator` may be NULL. ARGUMENT: a count is negative, or frame_time is not > 0.
POISE_API poise_status poise_clip_create(int frames, int nq, double frame_time, const poise_allocator *allocator,
                                         poise_clip **clip, poise_error *error);
POISE_API void poise_clip_destroy(poise_clip *clip); // NULL is allowed

// A new clip of frames [first, first + count) of this one.
POISE_API poise_status poise_clip_trim(const poise_clip *clip, int first, int count, const poise_allocator *allocator,
                                       poise_clip **trimmed, poise_error *error);

// A new clip of the same duration, sampled every `frame_time` seconds. Between two frames each joint takes the shortest way
// at constant speed (poise_difference, poise_retract); an angle that jumps by a whole turn does not move.
POISE_API poise_status poise_clip_resample(const poise_clip *clip, const poise_model *model, double frame_time,
                                           const poise_allocator *allocator, poise_clip **resampled, poise_error *error);

// The configuration at `time`, interpolated as above; times outside the clip give its first or last frame.
POISE_API poise_status poise_clip_sample(const poise_clip *clip, const poise_model *model, double time, double *q,
                                         poise_error *error);

// ---- Markers -------------------------------------------------------------------------------------------------------------

// A recording: the positions of labelled points in every frame.
typedef struct poise_markers {
    int frames, count;         // of markers
    double rate;               // frames per second, > 0
    int first_frame;           // number of frame 0 in the recording
    double start_time;         // of frame 0, seconds
    poise_scale scale;         // of the positions
    poise_vec3 *position;      // frames x count, row by row; all three NaN if the marker was not seen
    float *residual;           // frames x count: the recording system's residual of each point; NULL: none
    const char **label;        // count; zero-terminated, never NULL
    poise_allocator allocator; // source of its memory
    bool has_allocator;        // false: malloc
} poise_markers;

// A recording in which no marker was seen. Labels are copied; NULL gives the labels "1", "2", ... ARGUMENT: a count is
// negative, or rate is not > 0.
POISE_API poise_status poise_markers_create(int frames, int count, double rate, const char *const *labels,
                                            const poise_allocator *allocator, poise_markers **markers, poise_error *error);
POISE_API void poise_markers_destroy(poise_markers *markers); // NULL is allowed

// An array for how far off each point may be, as many floats as positions: it becomes markers->residual, and is not filled. For
// sets that poise_markers_create made.
POISE_API float *poise_markers_add_residuals(poise_markers *markers);

// Was this point seen?
static inline bool poise_markers_seen(const poise_markers *markers, int frame, int marker)
{
    poise_vec3 p = markers->position[(size_t)frame * (size_t)markers->count + (size_t)marker];
    return p.x == p.x && p.y == p.y && p.z == p.z;
}

// Index by label: an exact match or, without the subject's name, a match with the part after the last colon ("LFHD" finds
// "Daniel:LFHD"). POISE_NONE if there is none.
POISE_API int poise_markers_find(const poise_markers *markers, const char *label);

// A person, or a thing, among several in one recording.
typedef struct poise_subject {
    char name[64]; // zero-terminated
    int markers;   // number of its markers
    int seen;      // of these, seen in at least a tenth of the frames
    bool is_whole; // 12 or more are seen: a person rather than a prop
} poise_subject;

// Find the subjects of a recording: the distinct names before the last colon of the labels ("Daniel:LFHD") or, if no label
// has a colon, before an underscore if the part after it repeats. Returns their number and writes the first `capacity` to
// `subjects` (may be NULL).
POISE_API int poise_markers_subjects(const poise_markers *markers, poise_subject *subjects, int capacity);

// A new set with the markers of one subject, its name removed from the labels. `subject` NULL selects the only whole
// subject; *part is NULL if there is nothing to choose: fewer than two subjects, or none that is whole. UNSUPPORTED, with
// the names in `error`: several are whole. NOT_FOUND: no subject has this name.
POISE_API poise_status poise_markers_select(const poise_markers *markers, const char *subject,
                                            const poise_allocator *allocator, poise_markers **part, poise_error *error);

// A new set of frames [first, first + count) of this one.
POISE_API poise_status poise_markers_trim(const poise_markers *markers, int first, int count,
                                          const poise_allocator *allocator, poise_markers **trimmed, poise_error *error);

// A new set at another rate, by linear interpolation; a gap wherever either neighbour is missing.
POISE_API poise_status poise_markers_resample(const poise_markers *markers, double rate, const poise_allocator *allocator,
                                              poise_markers **resampled, poise_error *error);

// Convert all points in place to another unit and upward axis (by a cyclic permutation of the axes). UNSUPPORTED if the
// current scale is unknown.
POISE_API poise_status poise_markers_rescale(poise_markers *markers, poise_scale scale, poise_error *error);

// ---- Markers on bodies ---------------------------------------------------------------------------------------------------

// Where a marker sits.
typedef struct poise_placement {
    const char *label; // of the marker, as for poise_markers_find; must stay valid
    int body;          // the body that carries it
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
