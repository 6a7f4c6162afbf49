// Poise: tracking. Follows the markers of a recording frame by frame and gives the motion of a skeleton.
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
// from the last good one. Bad data does not stop it: an unseen marker has no weight; swapped or outlying
// markers are ignored; a frame that cannot be trusted is flagged, holds the last good pose and is not used as a start.
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
    POISE_TRACK_OUTLIERS = 2,  // markers were ignored because they contradict the others
    POISE_TRACK_RESTARTED = 4, // found from a cold start: the first frame, or a warm start that failed
    POISE_TRACK_JUMP = 8,      // some body turned by more than max_turn since the last frame
    POISE_TRACK_HELD = 16      // too few markers, or a jump explained by gaps or outliers: the last good pose is held
} poise_track_flag;

// The result of a frame. Numbers are finite: a value too large to represent is DBL_MAX.
typedef struct poise_track_frame {
    int flags;             // poise_track_flag, or-ed
    poise_outcome outcome; // of the last solve; BUDGET for a held frame
    int iterations;        // of all solves of this frame
    int seen;              // markers
    int let_go;            // markers ignored
    double rms;            // root mean square distance of the others, in length units
    double worst;          // largest distance
    double turn;           // largest rotation of any body since the last frame, radians
    bool is_ahead;         // the solve was done ahead of the tracker (poise_track_problem.ahead)
} poise_track_frame;

// Frames in sequence, each started from the answer to the one before, to be solved ahead of the tracker.
typedef struct poise_track_stretch {
    int frames;                // at least 1
    const double *start;       // nq: the start of the first frame
    const poise_vec3 *targets; // frames x goal_count points
    const double *weights;     // the same; 0 for a marker that was not seen
    double usual;              // error of the frames before
    double *q;                 // out: frames x nq
    poise_outcome *outcomes;   // out: one per frame
    int *iterations;           // out: one per frame
} poise_track_stretch;

// What stretches have in common. In frames with an unseen marker, min((usual/turn)^2, most) is added to the weight of
// SMOOTHNESS. After each frame usual += rate (rms - usual), where rms is the root mean square distance of the seen markers.
typedef struct poise_track_plan {
    const poise_model *model;           // the skeleton
    const poise_goal *goals;            // POSITION, one for each marker; POSTURE, if there is one; SMOOTHNESS
    int goal_count;                     // how many there are
    const poise_solver_options *solver; // of every frame
    double rate;                        // by which `usual` follows the errors
    double turn;                        // radians; see above
    double most;                        // weight of SMOOTHNESS that is added at most
    int round;                          // how often it was asked before, in this recording
} poise_track_plan;

// Solves stretches, all at once. After UNSUPPORTED the tracker solves the frames itself; any other error ends poise_track.
typedef poise_status (*poise_track_ahead)(void *user, const poise_track_plan *plan, poise_track_stretch *stretches,
                                          int count, poise_error *error);

// What to follow, and how. Fill with poise_track_problem_default(), set model, placements and markers, change what you like.
typedef struct poise_track_problem {
    const poise_model *model;          // the skeleton that is to follow
    const poise_placement *placements; // where the markers sit; their labels must stay valid
    int placement_count;               // 0: how many there are
    const poise_markers *markers;      // the recording, in length units of the model; poise_tracker_create ignores it
    const double *q_start;             // NULL: the neutral configuration; where a cold start begins; nq numbers
    poise_solver_options solver; // gradient_tolerance = 1e-4, coupled_goals = 0: of every frame; its start and restarts
                                 // are set by the tracker
    int restarts;                // 8: of a cold start
    int least_markers;           // 3: a frame with fewer seen markers is held
    bool robust;                 // true: ignore outlying markers
    double outlier;              // 0: distance that makes a marker an outlier, in length units; 0: a tenth of the
                                 // skeleton's reach or six times the frame's median, whichever is larger
    double smoothness;           // 0: weight of staying near the last frame (goal SMOOTHNESS), against markers of
                                 // weight 1
    const double *posture;       // NULL: nv weights >= 0 of a pull to the neutral configuration, against markers of
                                 // weight 1, such as those of poise_posture_weights: they hold what no marker
                                 // determines
    const double *task;          // NULL: values to hold coordinates near, task_frames x nq
    int task_frames;             // 1: the same values for all frames; otherwise as many as the recording has
    const double *task_weights;  // NULL: nv weights >= 0 of their squared errors, against the markers' weighted
                                 // mean: OpenSim's tasks. With tasks, gaps add no pull to the last frame
    const poise_constraint *constraints; // NULL: constraints of every frame: no collisions, feet above the ground, closed
                                         // loops. A frame in which they cannot hold has the outcome INFEASIBLE. The
                                         // recording is then one chunk
    int constraint_count;                // 0: how many
    double max_turn;                     // 0.5 [rad]: a larger turn in one frame, with gaps or outliers, is rejected
    int chunk;                           // 500: frames per worker in poise_track; the answer depends on it
    int workers;                         // 1: as in batch.h
    poise_parallel_for parallel_for;     // NULL: the calling thread does all the work
    void *user;                          // handed to parallel_for and on_frame
    void (*on_frame)(void *user, int frame, int worker); // NULL; poise_track calls it after each pass over a frame, on the
                                                         // thread that made it; some frames see several passes
    poise_track_ahead ahead; // NULL: solves frames of all chunks ahead, for example on a device. The tracker checks each
                             // answer; a frame that needs more (outliers, a jump) it solves itself, and asks again from
                             // there. Not used with constraints and tasks, nor by poise_tracker_next
    void *ahead_user;        // handed to it
} poise_track_problem;

// The defaults given beside the members; model, placements and markers are NULL.
static inline poise_track_problem poise_track_problem_default(void)
{
    poise_track_problem problem;
    poise_init(POISE_TYPE_TRACK_PROBLEM, &problem, sizeof problem);
    return problem;
}

// A tracker between two frames: opaque.
typedef struct poise_tracker poise_tracker;

// A tracker for these markers; one allocation. Placements are copied, but not their labels. ARGUMENT, with a reason in
// `error` (may be NULL): a body is out of range, a number is not finite, a weight is negative, an option is invalid.
POISE_API poise_status poise_tracker_create(const poise_track_problem *problem, const poise_allocator *allocator,
                                            poise_tracker **tracker, poise_error *error);
POISE_API void poise_tracker_destroy(poise_tracker *tracker); // NULL is allowed

// Forget the past: the next frame is found from a cold start at `q` (nq numbers; NULL: the neutral configuration).
POISE_API poise_status poise_tracker_reset(poise_tracker *tracker, const double *q, poise_error *error);

// Track the next frame: `seen` has a point for every placement, non-finite if the marker was not seen. Fills q (nq numbers)
// and `frame` (may be NULL). Allocates nothing. UNSUPPORTED: the solver's method does not support this model. After an
// error nothing has changed; otherwise q is finite and within the limits.
POISE_API poise_status poise_tracker_next(poise_tracker *tracker, const poise_vec3 *seen, double *q,
                                          poise_track_frame *frame, poise_error *error);

// Track a whole recording into a new clip. Markers are matched by the placements' labels; a missing one counts as
// never seen. `frames` (may be NULL) takes markers->frames records.
//
// The recording is cut into chunks, which workers track on their own, each from a cold start a few frames ahead. Around a
// seam both neighbours track and their poses are blended; if they found different poses, the later chunk is tracked again
// from the end of the earlier one. So the answer does not depend on the number of workers. Frames before one that was found
// afresh are tracked backwards from it, for as long as that follows the markers better. A limb that no marker sees for a
// while (poise_track_hidden) goes smoothly from where it was to where it is found again; without a later frame that sees it,
// and before the first one, it stays. poise_tracker_next, which does not know the future, lets it stay. Neither does so with
// tasks.
POISE_API poise_status poise_track(const poise_track_problem *problem, const poise_allocator *allocator, poise_clip **clip,
                                   poise_track_frame *frames, poise_error *error);

// ---- Quality of a track --------------------------------------------------------------------------------------------------

// The errors of one marker over a clip. Distances in length units, over frames in which it was seen and not ignored and
// which were not held.
typedef struct poise_marker_error {
    int seen, let_go;   // frames
    int counted;        // frames that the errors are of: it is seen and not let go, and the frame is not held
    double mean, worst; // distance from its placement
    int worst_frame;    // where the largest is
} poise_marker_error;

// How a clip follows its markers. Distances as above. Start with {0}.
typedef struct poise_track_summary {
    double *distances;                         // NULL, or room for markers->frames x placement_count: NaN where a marker was
                                               // not seen
    poise_marker_error *markers;               // NULL, or room for placement_count: by placement
    double mean, rms, worst;                   // of all markers
    double weighted;                           // root mean square over markers, by weight
    int worst_frame, worst_marker;             // where the largest is: frame, placement
    int held, jumps, outliers, restarts, gaps; // frames with that flag; held and gaps do not count `before` and `after`
    double mean_iterations;                    // of a frame
    int most_iterations;                       // of a frame
    int before;                                // frames before the first with least_markers: the person has not arrived
    int after;                                 // frames after the last with least_markers: the person has left
    int ahead;                                 // frames solved ahead
} poise_track_summary;

// Joints that are hidden in a frame: the markers seen there, without those ignored, tell far less of them than all
// markers of the recording would. frames x joints flags; held frames have those of the frame before. Joints that no
// marker ever determines do not count, nor does the root. What a track has there is a guess. `frames` may be NULL: none
// is held and nothing ignored.
POISE_API poise_status poise_track_hidden(const poise_track_problem *problem, const poise_clip *clip,
                                          const poise_track_frame *frames, const poise_allocator *allocator, bool *hidden,
                                          poise_error *error);

// Was a marker at this distance ignored by the tracker in this frame? Its distance is in no error then, nor are those of a
// frame that is held.
static inline bool poise_track_lets_go(const poise_track_frame *frame, double distance)
{
    return frame->let_go > 0 && distance > frame->worst * (1 + 1e-9);
}

// Measure the clip, and its frames, that poise_track made of `problem`.
POISE_API poise_status poise_track_measure(const poise_track_problem *problem, const poise_clip *clip,
                                           const poise_track_frame *frames, const poise_allocator *allocator,
                                           poise_track_summary *summary, poise_error *error);

// ---- Markers from a motion -----------------------------------------------------------------------------------------------

// The paths of points on a model's bodies in a clip, as markers: `points` gives the points and their labels. To make
// another skeleton follow the motion, place these labels on it and track.
POISE_API poise_status poise_markers_from_clip(const poise_model *model, const poise_clip *clip, poise_scale scale,
                                               const poise_placement *points, int count, const poise_allocator *allocator,
                                               poise_markers **markers, poise_error *error);

// The motion of another skeleton, to be followed by this one. Start with {0}.
typedef struct poise_retarget_problem {
    const poise_model *from;  // the skeleton that moves
    const poise_clip *clip;   // its motion
    poise_scale from_scale;   // of its lengths and axes
    const poise_model *to;    // the skeleton that is to follow
    poise_scale to_scale;     // of its lengths and axes
    const char *const *pairs; // "SOURCE=TARGET": bodies that correspond although their names differ
    int pair_count;           // how many there are
    bool keep_size;           // true: convert units only; false: scale the motion to the size of `to`
} poise_retarget_problem;

// How the motion was converted.
typedef struct poise_retarget_report {
    int points;        // points that both skeletons have: placements filled
    double factor;     // factor applied to lengths
    bool is_turned;    // the upward axes differed
    poise_scale scale; // of the markers: `to_scale`, with the upward axis filled in from the motion if need be
} poise_retarget_report;

// The points that two skeletons have in common, as markers recorded from one and tracked on the other: the origins of
// bodies that are the same part of a human body, whatever they are called (LeftUpLeg, lfemur, left_thigh), and of bodies
// and tools of the same name. Case, punctuation and anything before a colon are ignored.
//
// *markers receives the paths of the points in the units, axes and size of `to`; `placements` receives where they sit on
// `to`, with labels that point into *markers, and must have room for all joints and tools of `from`. `report` may be NULL.
// NOT_FOUND, with the fix in `error`: fewer than 3 points in common; ARGUMENT: a pair names an unknown body. `placements`
// may have been written to in both cases.
POISE_API poise_status poise_retarget_points(const poise_retarget_problem *problem, const poise_allocator *allocator,
                                             poise_markers **markers, poise_placement *placements,
                                             poise_retarget_report *report, poise_error *error);

// ---- Clinical angles -----------------------------------------------------------------------------------------------------

// Joint angles of a human skeleton by the sequences of the International Society of Biomechanics (Wu et al. 2002, 2005):
// Z-X-Y, with the floating axis in the middle; Y-X-Y at the shoulder; Y-X-Z for the pelvis in the room, so that tilt and
// obliquity do not depend on the heading. Segment axes are x forward, y along the bone towards the head, z to the right; in
// the neutral configuration all angles of hanging limbs are 0. Both sides have the same signs: flexion, adduction and
// internal rotation are positive. The plane of elevation of an arm is 0 to the side and 90 degrees to the front; elevation
// is never negative.
enum { POISE_ANGLE_COUNT = 39 };

// "hip_flexion_r"; "" outside.
POISE_API const char *poise_angle_name(int angle);

// All of these angles in every frame of a clip, in degrees: frames x POISE_ANGLE_COUNT numbers, NaN if the skeleton lacks a
// part, or no joint between the two turns about that axis: a knee that is a hinge has no adduction. Angles are continuous from
// frame to frame, those of the pelvis over whole turns, those of joints up to 270 degrees. NOT_FOUND: by the names of its bodies it is not a human skeleton.
POISE_API poise_status poise_joint_angles(const poise_model *model, const poise_clip *clip, const poise_allocator *allocator,
                                          double *angles, poise_error *error);

// Which of these angles markers see: POISE_ANGLE_COUNT flags. An angle shows the rest posture, not the person, unless a
// placement with a weight > 0 is on a body beyond its joint, and unless the joint turns about its axis.
POISE_API poise_status poise_joint_angles_seen(const poise_model *model, const poise_placement *placements, int count,
                                               const poise_allocator *allocator, bool *seen, poise_error *error);

// Which of these angles are hidden in each frame, by the joints that are (frames x joints flags of poise_track_hidden):
// frames x POISE_ANGLE_COUNT flags.
POISE_API poise_status poise_joint_angles_hidden(const poise_model *model, const bool *joints, int frames,
                                                 const poise_allocator *allocator, bool *hidden, poise_error *error);

// The joint centres of hips, knees, ankles, shoulders, elbows and wrists as placements for poise_markers_from_clip: RHJC,
// RKJC, RAJC, RSJC, REJC, RWJC and their left counterparts. Returns how many there are; writes at most `capacity`.
POISE_API int poise_joint_centres(const poise_model *model, const poise_allocator *allocator, poise_placement *places,
                                  int capacity);

// ---- Units and axes ------------------------------------------------------------------------------------------------------

// The person seen in a recording or a skeleton.
typedef struct poise_figure {
    bool is_named;       // found by names, of markers from feet to hips or head or of bodies; otherwise from the bounding
                         // box
    double height;       // of the parts present, in length units; 0: nothing is present
    poise_up up;         // the axis along which they stand; UNKNOWN: undecided
    bool is_upside_down; // head below feet: the axis points down
    double metres; // the unit (m, cm, mm, in, Acclaim's 0.0254/0.45) that gives a human height to a factor 2.5; 0: none
} poise_figure;

// The figure in a recording, over all its frames, ignoring its `scale`.
POISE_API poise_status poise_markers_figure(const poise_markers *markers, poise_figure *figure, poise_error *error);

// The figure of a skeleton in its neutral configuration; empty unless its body names are those of a human skeleton.
POISE_API poise_status poise_model_figure(const poise_model *model, poise_figure *figure, poise_error *error);

// How poise_markers_match found the units.
typedef struct poise_scale_match {
    poise_scale from;     // of the markers before, with unknown parts filled in
    bool markers_unknown; // their unit was not known
    bool model_unknown;   // nor was the model's
    bool by_size;         // an unknown unit was chosen so that recording and skeleton have the same size
    bool up_by_figure;    // an unknown upward axis was taken from how the person, or the skeleton, stands
    bool turned_over;     // the person was upside down along the stated upward axis, and was turned over
} poise_scale_match;

// Convert a recording, in place, to the units and axes of a model, given by *scale; unknown parts of *scale are filled in.
// If only one of the two has a unit, the other's is found by size: the one among metre, decimetre, centimetre, millimetre,
// inch, foot and 0.0254/0.45 m (CMU's skeletons) that makes both equally large, to a factor of 2.5; if none does, the same
// unit. Sizes are compared by distances between markers that stay constant, if their names are known
// (poise_places_by_name), otherwise by bounding boxes. An unknown upward axis is taken from how the person, or the
// skeleton, stands, by the names of their parts; if these do not tell and only one of the two has an axis, both use it.
// What neither has stays unknown. A person who is upside down in the whole recording is turned over. `match` (may be NULL)
// says what was done.
POISE_API poise_status poise_markers_match(poise_markers *markers, const poise_model *model, poise_scale *scale,
                                           poise_scale_match *match, poise_error *error);

// The way back: points in the units and axes that poise_markers_match gave a recording, in place to those it had. Parts that
// neither side knew stay as they are.
POISE_API poise_status poise_markers_restore(poise_markers *markers, const poise_scale_match *match, poise_error *error);

// ---- Markers by name -----------------------------------------------------------------------------------------------------

// What is known about a marker's position on its body before the recording is used.
typedef struct poise_place_prior {
    poise_vec3 place;   // expected position, in the body's frame
    poise_vec3 axis;    // unit vector in the body's frame
    double along;       // standard deviation along that axis, in length units
    double across;      // the same at right angles to it. Not > 0: nothing is known
    poise_vec3 outward; // unit vector across the axis, mirrored on the other side of the body; 0: unknown
} poise_place_prior;

// What names reveal about a recording and a skeleton.
typedef struct poise_places_report {
    int placed;        // markers recognised: placements filled, up to the capacity
    double stature;    // of the skeleton, from its legs, in length units; 0: by its body names it is not human
    double size;       // of the person over the skeleton: middle ratio of distances that stay constant; 0: there are none
    double deviation;  // standard deviation of that size, by where markers may sit and how far the distances agree
    int pairs;         // number of distances behind it
    poise_up up;       // of the recording: the axis along which heads and shoulders are above feet; UNKNOWN: undecided
    poise_up model_up; // the same for the skeleton in its neutral configuration
} poise_places_report;

// Place the markers whose labels belong to a common set (Plug-in Gait and its relatives, Helen Hayes, CAST and clusters,
// OpenSim's, OpenPose's and others) on the bodies of a human skeleton, by the body names of ASF/AMC, BVH, OpenSim, glTF or
// Poise's humanoid. Case, punctuation and a subject before a colon are ignored; RKNE, R.Knee, Knee_R and RightKnee are the
// same name.
//
// `table` (may be NULL) is a table of your own in the format that `poise help markers` explains; its rows take precedence
// over the built-in ones (poise_marker_sets). Writes at most `capacity` placements and priors (which may be NULL), in the
// order of the markers; labels point into `markers`. `local` is the anatomical position; it is non-finite, and the prior
// unset, if the skeleton has the body but its frame is unclear. `report` may be NULL. FORMAT: the table is invalid; `error`
// has the line.
POISE_API poise_status poise_places_by_name(const poise_model *model, const poise_markers *markers, const char *table,
                                            poise_placement *placements, poise_place_prior *priors, int capacity,
                                            poise_places_report *report, poise_error *error);

// The weights (nv) with which a calibration with priors holds the joints of a human skeleton to the neutral configuration,
// against markers of weight 1 with errors of `noise` (length units; 0: 0.006 of the stature): (noise/deviation)^2, with
// deviations of 0.15 rad for spine, neck and clavicles and 0.5 rad elsewhere; the root is free.
POISE_API poise_status poise_posture_weights(const poise_model *model, double noise, double *weights, poise_error *error);

// Mark the degrees of freedom (nv flags) that no weighted placement sees and no task holds. Lock them
// (poise_solver_options) and they keep their initial values.
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
// the offsets of root joints stay. Masses and limits are kept; tools are scaled by the mean factor of their body's child
// joints (its own if it has none).
POISE_API poise_status poise_model_rescale(const poise_model *model, const double *scale, const poise_allocator *allocator,
                                           poise_model **rescaled, poise_error *error);

// What to fit, and how. Fill with poise_calibration_default(), set model, placements, markers and frame_count, change what
// you like.
typedef struct poise_calibration {
    const poise_model *model;        // the skeleton
    poise_placement *placements;     // label, body and weight of each marker; `local` receives the fitted
    int placement_count;             // 0: how many; position and, if not finite on input, is guessed first
    const poise_markers *markers;    // the recording, in length units of the model
    const int *frames;               // NULL: which frames to use; NULL for frame_count of them, evenly spread
    int frame_count;                 // 0: how many
    double *q;                       // NULL: nq numbers: in, a pose close to that of the first frame used; out, that pose as
                                     // fitted, where to start tracking
    poise_solver_options solver;     // gradient_tolerance = 1e-6, coupled_goals = 0: of the poses
    poise_scaling scaling;           // NONE
    double size;                     // 1: size of the person relative to the skeleton (poise_places_report): initial factor
                                     // of the bones, and of the priors
    const poise_place_prior *priors; // NULL: positions are free, which fits the markers best but may put joints anywhere;
                                     // otherwise one for each marker, as from poise_places_by_name
    double noise;                    // 0: error of a marker in one frame, weighed against the priors; 0 for 0.006 of the
                                     // stature
    double scale_prior;              // 0.001: without priors: how strongly a bone's factor is held to the common one
    double bone_deviation;           // 0.03: with priors: deviation of a bone's factor from the common one, and of that from
                                     // 1; left = right
    int rounds;                      // 50: at most; as many again for SEGMENTS, which begins with UNIFORM
    double tolerance;                // 1e-4: stop when a round lowers the squared error by less than this share
} poise_calibration;

// The defaults given beside the members; model, placements and markers are NULL.
static inline poise_calibration poise_calibration_default(void)
{
    poise_calibration calibration;
    poise_init(POISE_TYPE_CALIBRATION, &calibration, sizeof calibration);
    return calibration;
}

// The result of a calibration.
typedef struct poise_calibration_report {
    int frames;   // used
    int rounds;   // done
    int points;   // marker positions used
    double rms;   // root mean square distance of the markers over those frames
    double mean;  // mean distance
    double scale; // the common factor; `size` without scaling
    double size;  // the initial factor, also applied to the priors
} poise_calibration_report;

// Find where markers sit on their bodies, and how long the bones are, from a recording: poses, offsets and factors are
// fitted to the markers in turn until they agree. *fitted (may be NULL without scaling) is the model with its bones scaled;
// release it with poise_model_destroy. `report` may be NULL. NUMERIC: the markers do not determine the answer: none is
// seen, or their coordinates are too large. On failure the placements and q are untouched.
POISE_API poise_status poise_calibrate(const poise_calibration *problem, const poise_allocator *allocator,
                                       poise_model **fitted, poise_calibration_report *report, poise_error *error);

#ifdef __cplusplus
}
#endif

#endif
