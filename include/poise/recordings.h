// Poise: turns a recording into a motion and a verdict in one call.
//
//   poise_recording_problem problem = poise_recording_of_files(skeleton, recording); // io.h: what poise_read gave
//   poise_recording_result *result;
//   poise_track_recording(&problem, NULL, &result, &error);
//   ... result->clip, result->model, result->verdict, result->findings ...
//   poise_recording_destroy(result);
//
// The steps, each described in the header named beside it:
//
//   match   choose the subject and the frames, reconcile units and axes, find where markers sit: from the skeleton's file,
//           otherwise from their names and anatomy (motion.h, track.h); a motion becomes points of bodies (retargeting)
//   follow  calibrate what is unknown, track frame by frame or all at once (track.h, sequence.h), measure, and judge
//           (verdict.h)
//
// Never assume that a result is good: check verdict.level and the findings, which say what is wrong (in words with
// poise_finding_describe). Lengths are in the skeleton's unit unless stated to be metres.
#ifndef POISE_RECORDINGS_H
#define POISE_RECORDINGS_H

#include <poise/sequence.h>
#include <poise/verdict.h>

#ifdef __cplusplus
extern "C" {
#endif

// What to fit to the recording before tracking.
typedef enum poise_fit {
    POISE_FIT_DECIDE = 0, // PLACES if some are unknown, otherwise NONE
    POISE_FIT_NONE,       // nothing: all placements must be known
    POISE_FIT_PLACES,     // where markers sit
    POISE_FIT_UNIFORM,    // PLACES, and one factor for all bones
    POISE_FIT_SEGMENTS    // PLACES, and one factor for each bone
} poise_fit;

// The stages of the work that take time.
typedef enum poise_recording_stage {
    POISE_STAGE_CALIBRATE = 0, // fitting placements and bones
    POISE_STAGE_TRACK,         // tracking; poise_track_problem.on_frame counts frames
    POISE_STAGE_JUDGE          // measuring and judging
} poise_recording_stage;

// A skeleton, what it follows, and how. Fill with poise_recording_problem_default() or poise_recording_of_files(), change
// what you like. What it points to is not changed and must stay valid as long as the result.
typedef struct poise_recording_problem {
    const poise_model *model;           // the skeleton
    poise_scale scale;                  // zero: its unit and axes; unknown parts are found from the figure
    const double *posture;              // NULL: nq numbers to start from; what no marker sees stays there (OpenSim's
                                        // default)
    const poise_placement *placements;  // NULL: where markers sit, as far as known; a non-finite `local` is unknown
    int placement_count;                // 0: how many there are
    const poise_model *placements_from; // NULL: `model`; otherwise the skeleton whose bodies the placements refer to,
                                        // matched by name
    bool only_placements;               // false: markers without a placement are placed by name (poise_places_by_name)
    const char *labels;                 // NULL: a table of marker names of your own, used before the built-in one

    const poise_markers *markers; // what to follow: markers, or
    const poise_model *from;      // NULL: another skeleton, and
    const poise_clip *clip;       // NULL: its motion, where `markers` is NULL
    poise_scale from_scale;       // zero: unit and axes of what is followed; 0 and UNKNOWN: those of the markers
    const char *const *pairs;     // NULL: "SOURCE=TARGET": bodies that correspond although their names differ
    int pair_count;               // 0: how many there are
    bool keep_size;               // false: scale another skeleton's motion to the size of this one

    const char *subject; // NULL: the only whole one; otherwise its name
    int first;           // 0: the first frame
    int last;            // -1: the last frame; < 0: the recording's last
    double rate;         // 0: frames per second to resample to; 0: as recorded

    poise_fit fit;                   // DECIDE
    int calibration_frames;          // 50
    poise_track_problem track;       // tracking options, `outlier` in metres; model, placements, markers, q_start and
                                     // posture are overwritten. `user` is passed to on_stage, too
    bool whole;                      // false; true: all frames at once (sequence.h), with
    poise_sequence_options sequence; // these options, `noise` in metres; velocity and acceleration are set here
    int lag;                         // -1: track as a live tracker this many frames behind; < 0: off
    double velocity;                 // 0: limit for all joints but a free root, radians or metres per second; 0: none
    double acceleration;             // 0: the same, per second squared
    bool deviations;                 // false; true: compute the standard deviation of every degree of freedom in every frame
    const char *const *absent;       // NULL: names required by a setup but missing, for the verdict
    int absent_count;                // 0: how many there are
    const struct poise_recording_result *standing; // NULL: the static trial that `model` and `placements` come from: what
                                                   // speaks against it speaks against this as well
    poise_thresholds thresholds;                   // of the verdict: poise_thresholds_default
    void (*on_stage)(void *user, poise_recording_stage stage, int frames); // NULL: called when a stage begins, with its
                                                                           // number of frames
} poise_recording_problem;

// The defaults given beside the members, without a skeleton or anything to follow.
static inline poise_recording_problem poise_recording_problem_default(void)
{
    poise_recording_problem problem;
    poise_init(POISE_TYPE_RECORDING_PROBLEM, &problem, sizeof problem);
    return problem;
}

// A static trial of what `problem` follows: all frames of these markers, whose file says `scale` of them, with what the
// problem says of the skeleton. Follow it first (poise_track_recording); then poise_recording_stand.
POISE_API poise_recording_problem poise_recording_trial(const poise_recording_problem *problem, const poise_markers *markers,
                                                        poise_scale scale);

// Hold a problem to what its trial told: bones and marker places are those of the trial's result, which must outlive this
// and its own result, and nothing is scaled or placed anew.
POISE_API void poise_recording_stand(poise_recording_problem *problem, const struct poise_recording_result *stood);

// The result. It owns its memory, except for `model` if that is the problem's, and names in findings that point into it.
// Release with poise_recording_destroy.
typedef struct poise_recording_result {
    // matched
    poise_markers *markers;      // what was followed, in the skeleton's units and axes
    poise_placement *placements; // where the markers sit; all of these markers are in the recording
    int placement_count;         // how many there are
    poise_place_prior *priors;   // by placement: the anatomical prior; NULL: none
    poise_scale scale;           // of all lengths here
    int first;                   // recorded frame that is frame 0 here; 0 if resampled
    bool from_motion;            // the points followed come from another skeleton's motion
    // how that was decided
    poise_scale said;               // scale stated for the markers
    poise_scale model_said;         // scale stated for the skeleton
    poise_figure figure;            // of the recording before conversion
    poise_scale_match match;        // how units and axes were determined
    poise_retarget_report retarget; // of another skeleton's motion
    int recorded;                   // markers in the recording, of all subjects
    double rate_before;             // frames per second before resampling; 0: not resampled
    int given;                      // placements of the problem that are on bodies of the model
    int given_seen;                 // of these, with a marker in the recording
    int named;                      // placements found by marker name
    poise_places_report anatomy;    // what the names revealed
    // followed
    const poise_model *model;             // the model that the clip moves: `fitted`, or the problem's
    poise_model *fitted;                  // with scaled bones; NULL: not scaled
    bool calibrated;                      // placements were fitted
    poise_calibration_report calibration; // how
    bool *unseen;                         // nv flags: no marker sees it, and it stays at `posture`; NULL: not requested
    double *q_start;                      // nq: where tracking began
    poise_clip *clip;                     // the motion
    poise_track_frame *frames;            // how each frame went; rms is the error of its markers
    poise_sequence_report sequence;       // of tracking all frames at once
    double *distances;                    // frames x placements: distance of a marker from its placement; NaN if not seen
    poise_marker_error *by_marker;        // by placement
    poise_track_summary summary;          // of all
    bool *hidden;                         // frames x joints: no marker determines it in this frame (poise_track_hidden)
    double *deviation;                    // frames x nv: standard deviations (verdict.h); NULL: not requested
    poise_uncertainty_report uncertainty; // what the deviations are based on
    poise_verdict verdict;                // how far the result can be trusted
    poise_finding *findings;              // verdict.count, the worst first
    // its memory
    char *labels;              // of placements that do not use the markers' labels
    poise_allocator allocator; // source of its memory
    bool has_allocator;        // false: malloc
} poise_recording_result;

// Match and follow. NOT_FOUND: no marker could be placed on the skeleton, or too few bodies correspond; UNSUPPORTED:
// several people, and no subject named; FORMAT: `labels` is invalid; NUMERIC: the markers do not determine their
// placements. `error` says what to do.
POISE_API poise_status poise_track_recording(const poise_recording_problem *problem, const poise_allocator *allocator,
                                             poise_recording_result **result, poise_error *error);

// The first step alone, to see what was decided before the work begins. Between the steps you may change the weights and
// positions of placements, and remove some.
POISE_API poise_status poise_recording_match(const poise_recording_problem *problem, const poise_allocator *allocator,
                                             poise_recording_result **result, poise_error *error);

// The second step, to be called once on the result of the first, with the same problem. After an error the result can only
// be destroyed.
POISE_API poise_status poise_recording_follow(const poise_recording_problem *problem, poise_recording_result *result,
                                              poise_error *error);

// The clinical angles of a result (poise_joint_angles) in every frame, in degrees: frames x POISE_ANGLE_COUNT numbers, NaN
// where nothing is known: the skeleton has no such angle, no marker sees it or what it hangs on, nobody is there, the frame
// is held, or the angle's standard deviation is above 10 degrees: by noise in this frame (poise_joint_angle_deviations), or
// in the findings (VAGUE, UNSURE).
POISE_API poise_status poise_recording_angles(const poise_recording_result *result, const poise_allocator *allocator,
                                              double *angles, poise_error *error);

// The joint centres of a result (poise_joint_centres) as markers, in the units and axes of the recording; gaps where nothing is
// known, as of angles: no marker sees the limb, it is hidden, or the centre's standard deviation is above 1.7 % of the stature,
// 30 mm of an adult. NOT_FOUND: by the names of its bodies it is not a human skeleton.
POISE_API poise_status poise_recording_centres(const poise_recording_result *result, const poise_allocator *allocator,
                                               poise_markers **centres, poise_error *error);

POISE_API void poise_recording_destroy(poise_recording_result *result); // NULL is allowed

// Was a recording made with these placements? So it was where it has half of them, or where they have half of its markers: a few
// names in common, such as LASI and RASI, do not make it so.
POISE_API bool poise_placements_cover(const poise_placement *placements, int count, const poise_markers *markers);

#ifdef __cplusplus
}
#endif

#endif
