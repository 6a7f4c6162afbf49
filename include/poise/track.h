// Poise: following recordings. From markers, frame by frame, to a motion of a skeleton.
//
//   poise_track_problem problem = poise_track_problem_default();
//   problem.model = model;
//   problem.placements = placements; // poise_places_by_name, or from a file
//   problem.placement_count = count;
//   problem.markers = markers; // in the model's units and axes: poise_markers_match
//   poise_track(&problem, NULL, &clip, frames, &error);
//
// or, for data that arrives as it is recorded, one frame at a time and in constant memory:
//
//   poise_tracker_create(&problem, NULL, &tracker, &error);
//   poise_tracker_next(tracker, seen, q, &frame, &error);
//
// The first frame is found from a cold start: the root aligned with the markers, with restarts. Every other frame starts
// from the last good one. Bad data does not stop the work: a marker that was not seen has no weight; markers that are
// swapped or far off are let go; a frame that cannot be trusted is flagged, holds the last good pose and is not started
// from.
#ifndef POISE_TRACK_H
#define POISE_TRACK_H

#include <poise/batch.h>
#include <poise/motion.h>

#ifdef __cplusplus
extern "C" {
#endif

// What was special about a frame: bits of poise_track_frame.flags.
typedef enum poise_track_flag {
    POISE_TRACK_GAPS = 1,      // markers were missing
    POISE_TRACK_OUTLIERS = 2,  // markers were let go, because they fit no pose that the others do
    POISE_TRACK_RESTARTED = 4, // found from a cold start: the first frame, or the way from the last one led astray
    POISE_TRACK_JUMP = 8,      // some body turned by more than max_turn since the last frame
    POISE_TRACK_HELD = 16      // too few markers, or a jump that gaps or outliers explain: the last good pose is held
} poise_track_flag;

// What a frame came to. Numbers are finite: what is too large for a number is DBL_MAX.
typedef struct poise_track_frame {
    int flags;             // poise_track_flag, or-ed
    poise_outcome outcome; // of the last solve; BUDGET for a frame that is held
    int iterations;        // of all solves of this frame
    int seen;              // markers
    int let_go;            // of those
    double rms;            // distance of the others, in length units
    double worst;          // of those
    double turn;           // largest rotation of any body since the last frame, radians
} poise_track_frame;

// What to follow, and how. Fill with poise_track_problem_default(), set model, placements and markers, change what you like.
typedef struct poise_track_problem {
    const poise_model *model;          // the skeleton that is to follow
    const poise_placement *placements; // where the markers sit; their labels must stay valid
    int placement_count;               // how many there are
    const poise_markers *markers; // the recording, in length units of the model; poise_tracker_create takes no notice of it
    const double *q_start;        // NULL, the neutral configuration: where a cold start begins; nq numbers
    poise_solver_options solver;  // of every frame; its start and restarts are set by the tracker. gradient_tolerance 1e-4
    int restarts;                 // 8: of a cold start
    int least_markers;            // 3: with fewer seen a frame is held
    bool robust;                  // true: let markers go that are far off
    double outlier;               // 0: how far that is, in length units; 0 for a tenth of the skeleton's reach, or six times
                                  // the frame's median where that is more
    double smoothness;            // 0: weight of staying near the last frame (goal SMOOTHNESS), against markers of weight 1
    const double *posture;        // NULL: nv weights >= 0 of the neutral configuration against markers of weight 1, such as
                                  // poise_posture_weights gives: they hold what no marker sees
    const double *task;           // NULL; nq values that coordinates are held near, for task_frames frames one after another
    int task_frames;              // 1: the same for all frames, or as many as the recording has
    const double
        *task_weights; // NULL: none; nv weights >= 0 of their squares, against the markers' weighted mean: OpenSim's
                       // tasks. With them gaps add no pull to the last frame
    const poise_constraint
        *constraints;                // NULL; what every frame holds: no collisions, feet above the ground, closed loops. A
                                     // frame that could not has the outcome INFEASIBLE. The recording is then one chunk
    int constraint_count;            // 0: of those
    double max_turn;                 // 0.5 rad: more than this in one frame, with gaps or outliers, is not believed
    int chunk;                       // 500: frames that poise_track gives to one worker; the answer depends on it
    int workers;                     // 1: as in batch.h
    poise_parallel_for parallel_for; // NULL: the calling thread does it all
    void *user;                      // handed to parallel_for and on_frame
    void (*on_frame)(void *user, int frame, int worker); // NULL; poise_track calls it after each pass over a frame, on the
                                                         // thread that made it; frames around seams see several passes
} poise_track_problem;

// The defaults that stand beside the members; model, placements and markers are NULL.
POISE_API poise_track_problem poise_track_problem_default(void);

// A tracker between two frames: opaque.
typedef struct poise_tracker poise_tracker;

// A tracker for these markers; one allocation. Placements are copied, their labels not. ARGUMENT, with a reason in `error`
// (may be NULL): a body is out of range, a number is not finite, a weight is negative, the options make no sense.
POISE_API poise_status poise_tracker_create(const poise_track_problem *problem, const poise_allocator *allocator,
                                            poise_tracker **tracker, poise_error *error);
POISE_API void poise_tracker_destroy(poise_tracker *tracker); // NULL is allowed

// Forget the past: the next frame is found from a cold start at `q` (nq numbers; NULL: the neutral configuration).
POISE_API poise_status poise_tracker_reset(poise_tracker *tracker, const double *q, poise_error *error);

// The next frame: `seen` has a point for every placement, not finite where it was not seen. Fills q (nq numbers) and `frame`
// (may be NULL). Allocates nothing. UNSUPPORTED: the solver's method does not serve this model. After an error nothing has
// changed; otherwise q is finite and within the limits.
POISE_API poise_status poise_tracker_next(poise_tracker *tracker, const poise_vec3 *seen, double *q,
                                          poise_track_frame *frame, poise_error *error);

// Track a whole recording into a new clip. Markers are found by the placements' labels; one that is not there counts as
// never seen. `frames` (may be NULL) takes markers->frames records.
//
// The recording is cut into chunks, which workers track on their own, each from a cold start a few frames ahead. Around a
// seam both neighbours track, and their poses go over into each other; where they found different poses, the later chunk is
// tracked again from the end of the earlier one. So the answer does not depend on the number of workers.
POISE_API poise_status poise_track(const poise_track_problem *problem, const poise_allocator *allocator, poise_clip **clip,
                                   poise_track_frame *frames, poise_error *error);

// ---- How well it went ----------------------------------------------------------------------------------------------------

// What became of one marker over a clip. Distances in length units, over frames in which it was seen and not let go and
// which were not held.
typedef struct poise_marker_error {
    int seen, let_go;   // frames
    double mean, worst; // distance from its place
    int worst_frame;    // where the largest is
} poise_marker_error;

// How a clip follows its markers. Distances as above. Start with {0}.
typedef struct poise_track_summary {
    double *distances;             // NULL, or room for markers->frames x placement_count: NaN where a marker was not seen
    poise_marker_error *markers;   // NULL, or room for placement_count: by placement
    double mean, rms, worst;       // of all markers
    double weighted;               // root mean square in which each counts by its weight
    int worst_frame, worst_marker; // where the largest is: frame, placement
    int held, jumps, outliers, restarts, gaps; // frames with the flag; held and gaps without those before and after
    double mean_iterations;                    // of a frame
    int most_iterations;                       // of a frame
    int before;                                // frames before the first with least_markers: the person is not there yet
    int after;                                 // frames after the last one: the person is gone
} poise_track_summary;

// Was a marker at this distance among those that the tracker let go in the frame?
static inline bool poise_track_lets_go(const poise_track_frame *frame, double distance)
{
    return frame->let_go > 0 && distance > frame->worst * (1 + 1e-9);
}

// Measure the clip, and its frames, that poise_track made of `problem`.
POISE_API poise_status poise_track_measure(const poise_track_problem *problem, const poise_clip *clip,
                                           const poise_track_frame *frames, const poise_allocator *allocator,
                                           poise_track_summary *summary, poise_error *error);

// ---- Markers from a motion -----------------------------------------------------------------------------------------------

// The paths that points of a model's bodies take in a clip, as markers: `points` says which, their labels name them. So one
// skeleton's motion can be followed by another's: place these labels on the other one and track.
POISE_API poise_status poise_markers_from_clip(const poise_model *model, const poise_clip *clip, poise_scale scale,
                                               const poise_placement *points, int count, const poise_allocator *allocator,
                                               poise_markers **markers, poise_error *error);

// Another skeleton's motion to follow. Start with {0}.
typedef struct poise_retarget_problem {
    const poise_model *from;  // the skeleton that moves
    const poise_clip *clip;   // its motion
    poise_scale from_scale;   // of its lengths and axes
    const poise_model *to;    // the skeleton that is to follow
    poise_scale to_scale;     // of its lengths and axes
    const char *const *pairs; // "SOURCE=TARGET": bodies that belong together though their names differ
    int pair_count;           // how many there are
    bool keep_size;           // convert units only; false: scale the motion to the size of the skeleton that follows
} poise_retarget_problem;

// How the motion came over.
typedef struct poise_retarget_report {
    int points;        // that both skeletons have: placements filled
    double factor;     // that lengths were multiplied by
    bool is_turned;    // the upward axes differed
    poise_scale scale; // of the markers: `to_scale`, with an upward axis that only the motion knows
} poise_retarget_report;

// The points that two skeletons have in common, as markers that one makes and the other can be tracked on: the origins of
// bodies that are the same part of a human body, whatever they are called (LeftUpLeg, lfemur, left_thigh), and of bodies and
// tools of the same name. Case, punctuation and what stands before a colon do not count.
//
// *markers are the points' paths in the units, axes and size of `to`; `placements` says where they sit on it, with labels
// that point into *markers, and has room for as many as `from` has joints and tools. `report` may be NULL. NOT_FOUND, with
// the fix in `error`, where fewer than 3 points are common; ARGUMENT where a pair names nothing. Then `placements` may have
// been written to.
POISE_API poise_status poise_retarget_points(const poise_retarget_problem *problem, const poise_allocator *allocator,
                                             poise_markers **markers, poise_placement *placements,
                                             poise_retarget_report *report, poise_error *error);

// ---- What clinicians read ------------------------------------------------------------------------------------------------

// Joint angles of a human skeleton by the sequences of the International Society of Biomechanics (Wu and others 2002, 2005):
// Z-X-Y, with the floating axis in the middle; Y-X-Y at the shoulder; of the pelvis in the room Y-X-Z, so that tilt and
// obliquity are the same wherever a person looks. Segments have the axes x forward, y towards the head, along the bone, z to
// the right; in the neutral configuration limbs that hang have all angles 0. Both sides have the same
// signs: flexion, adduction and internal rotation are positive. The plane in which an arm is raised is 0 outwards and 90
// degrees forwards; its elevation is never negative.
enum { POISE_ANGLE_COUNT = 39 };

// "hip_flexion_r"; "" outside.
POISE_API const char *poise_angle_name(int angle);

// All of them in every frame of a clip, degrees: frames x POISE_ANGLE_COUNT numbers, NaN where the skeleton lacks a part;
// angles go on from frame to frame, those of the pelvis over whole turns, those of joints up to 270 degrees.
// NOT_FOUND: this is no human skeleton, by the names of its bodies.
POISE_API poise_status poise_joint_angles(const poise_model *model, const poise_clip *clip, const poise_allocator *allocator,
                                          double *angles, poise_error *error);

// Joint centres of hips, knees, ankles, shoulders, elbows and wrists, as places on the skeleton: RHJC, RKJC, RAJC, RSJC,
// REJC, RWJC and the left ones, for poise_markers_from_clip. Returns how many there are; at most `capacity` are written.
POISE_API int poise_joint_centres(const poise_model *model, const poise_allocator *allocator, poise_placement *places,
                                  int capacity);

// ---- Units and axes ------------------------------------------------------------------------------------------------------

// A person, as markers or a skeleton show them.
typedef struct poise_figure {
    bool is_named;       // by names of markers from feet to hips or head, or of bodies; otherwise by the box around all
    double height;       // of what is there, in length units; 0: nothing is
    poise_up up;         // the axis along which they stand; UNKNOWN: it does not tell
    bool is_upside_down; // head below feet: that axis points down
    double metres;       // the unit of m, cm, mm, in and Acclaim's 0.0254/0.45 that makes them as tall as people are, to a
                         // factor of 2.5; 0: none does
} poise_figure;

// The figure in a recording, over all its frames; what its scale says does not count.
POISE_API poise_status poise_markers_figure(const poise_markers *markers, poise_figure *figure, poise_error *error);

// The figure of a skeleton in its neutral configuration: nothing unless the names of its bodies tell a human one.
POISE_API poise_status poise_model_figure(const poise_model *model, poise_figure *figure, poise_error *error);

// How poise_markers_match found the units.
typedef struct poise_scale_match {
    poise_scale from;     // of the markers before, with what was found out
    bool markers_unknown; // their unit was not known
    bool model_unknown;   // nor was the model's
    bool by_size;         // an unknown unit is the one that makes recording and skeleton equally large
    bool up_by_figure;    // an unknown upward axis is the one along which the person, or the skeleton, stands
    bool turned_over;     // the person stood on their head, along the axis said to point up, and was turned over
} poise_scale_match;

// Bring a recording, in place, into the units and axes of a model, which *scale says; what it does not say is filled in.
// Where only one of them has a unit, the other's is found by size: that of metre, decimetre, centimetre, millimetre, inch,
// foot and 0.0254/0.45 m (CMU's skeletons) that makes both as large, to a factor of 2.5; where none does, the same unit.
// Sizes are compared by distances between markers that keep them where their names are known (poise_places_by_name),
// otherwise by the boxes around markers and bodies. An upward axis that is not known is the one along which the person
// stands, or the skeleton, by their parts' names; where those do not tell and only one of them has an axis, it is both's.
// What neither has stays unknown. A person who stands on their head in the whole recording is turned over. `match` (may be
// NULL) says what was done.
POISE_API poise_status poise_markers_match(poise_markers *markers, const poise_model *model, poise_scale *scale,
                                           poise_scale_match *match, poise_error *error);

// ---- Markers by name -----------------------------------------------------------------------------------------------------

// What is known of a marker's place before the recording is looked at.
typedef struct poise_place_prior {
    poise_vec3 place;   // where it should be, in the body's frame
    poise_vec3 axis;    // unit vector in the body's frame, along which it deviates by
    double along;       // so much (standard deviation, in length units), and
    double across;      // so much at right angles to it. Not > 0: nothing is known
    poise_vec3 outward; // unit vector across the axis that is mirrored on the other side of the body; 0: not known
} poise_place_prior;

// What names tell of a recording and a skeleton.
typedef struct poise_places_report {
    int placed;     // markers that were recognised: placements filled, where there is room
    double stature; // of the skeleton by its legs, in length units; 0: its bodies' names tell no human skeleton
    double size;    // of the person that was recorded against the skeleton: median ratio of distances between markers that
                    // keep them; 0: no such markers
    int pairs;      // distances that it is the median of
    poise_up up;    // of the recording: the axis along which heads and shoulders are above feet; UNKNOWN: it does not tell
    poise_up model_up; // of the skeleton, in its neutral configuration, likewise
} poise_places_report;

// Place the markers whose labels belong to a common set (Plug-in Gait and its relatives, Helen Hayes, CAST and clusters,
// OpenSim's, OpenPose's and others) on the bodies of a human skeleton, by the names that bodies have in ASF/AMC, BVH,
// OpenSim, glTF or our own humanoid. Case, punctuation and a subject before a colon do not count; RKNE, R.Knee, Knee_R and
// RightKnee are one name.
//
// `table` (may be NULL) is text of your own in the format that `poise help markers` explains; its rows go before the
// built-in ones, poise_marker_sets. Writes at most `capacity` placements and priors (which may be NULL), in the order of
// the markers; labels point into `markers`. `local` is where anatomy has the marker; it is not finite, and its prior says
// nothing, where the skeleton has the body but does not tell its frame. `report` may be NULL. FORMAT: the table makes no
// sense, with its line in `error`.
POISE_API poise_status poise_places_by_name(const poise_model *model, const poise_markers *markers, const char *table,
                                            poise_placement *placements, poise_place_prior *priors, int capacity,
                                            poise_places_report *report, poise_error *error);

// How strongly a calibration with priors holds the joints of a human skeleton to the neutral configuration, beside markers
// of weight 1 that miss their places by `noise` (length units; 0: 0.006 of the stature): (noise/deviation)^2 with deviations
// of 0.15 rad for spine, neck and clavicles, 0.5 rad elsewhere, and none at the root. Fills nv weights.
POISE_API poise_status poise_posture_weights(const poise_model *model, double noise, double *weights, poise_error *error);

// Which degrees of freedom (nv) does no placement with a weight see, and no task hold? Lock them (poise_solver_options) and
// they stay where they start.
POISE_API void poise_unseen_dofs(const poise_model *model, const poise_placement *placements, int count,
                                 const double *task_weights, bool *unseen);

// The built-in table, as text in sections; NULL beyond the last.
POISE_API const char *poise_marker_sets(int section);

// ---- Fitting a skeleton to its markers -----------------------------------------------------------------------------------

// Which bones a calibration may scale.
typedef enum poise_scaling {
    POISE_SCALING_NONE = 0,
    POISE_SCALING_UNIFORM, // one factor for all bones
    POISE_SCALING_SEGMENTS // one for each bone, held near the common one
} poise_scaling;

// A new model with the offset of every joint from its parent's origin multiplied by scale[joint] (joint_count numbers > 0);
// offsets of joints that hang from the world stay. Tools, masses and limits are kept, tools scaled with the mean factor of
// the joints that hang from their body (its own where none does).
POISE_API poise_status poise_model_rescale(const poise_model *model, const double *scale, const poise_allocator *allocator,
                                           poise_model **rescaled, poise_error *error);

// What to fit, and how. Fill with poise_calibration_default(), set model, placements, markers and frame_count, change what
// you like.
typedef struct poise_calibration {
    const poise_model *model;     // the skeleton
    poise_placement *placements;  // label, body and weight of each marker; takes `local`. One that is not finite on the way
    int placement_count;          // in is guessed to begin with
    const poise_markers *markers; // the recording, in length units of the model
    const int *frames;            // NULL: which frames to use; NULL for frame_count of them, evenly spread
    int frame_count;              // 0: how many
    double *q;                    // NULL: a pose like that of the first of them (nq numbers), which becomes that pose as
                                  // fitted: where to begin tracking
    poise_solver_options solver;  // of the poses
    poise_scaling scaling;        // NONE
    double size;                  // 1: of the person against the skeleton (poise_places_report): what bones, and priors on
                                  // places, are multiplied by to begin with
    const poise_place_prior *priors; // NULL: places are free, which fits markers best and puts joints anywhere; otherwise
                                     // what is known of each, as poise_places_by_name gives it
    double noise;                    // 0: what a marker misses its place by in one frame, beside the priors; 0 for 0.006 of
                                     // the stature
    double scale_prior;              // 0.001: without priors, how strongly a bone's factor is held to the common one
    double bone_deviation; // 0.03: with priors, of a bone's factor from the common one, and of that from 1; left = right
    int rounds;            // 50: at most; as many again for SEGMENTS, which begins with UNIFORM
    double tolerance;      // 1e-4: stop when a round lowers the squared error by less than this share
} poise_calibration;

// The defaults that stand beside the members; model, placements and markers are NULL.
POISE_API poise_calibration poise_calibration_default(void);

// What a calibration came to.
typedef struct poise_calibration_report {
    int frames;   // used
    int rounds;   // done
    int points;   // marker positions used
    double rms;   // distance of the markers, over those frames
    double mean;  // the same, not squared
    double scale; // the common factor; `size` without scaling
    double size;  // that it began with, and that priors on places were multiplied by
} poise_calibration_report;

// Find where markers sit on their bodies, and how long the bones are, from a recording: poses, offsets and factors that fit
// the markers best, in turn until they agree. *fitted (may be NULL without scaling) is the model with its bones scaled;
// release it with poise_model_destroy. `report` may be NULL. NUMERIC: the markers do not determine it: none is seen, or
// they are too far off for numbers. On failure the placements and q are untouched.
POISE_API poise_status poise_calibrate(const poise_calibration *problem, const poise_allocator *allocator,
                                       poise_model **fitted, poise_calibration_report *report, poise_error *error);

#ifdef __cplusplus
}
#endif

#endif
