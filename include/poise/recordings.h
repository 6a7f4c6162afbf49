// Poise: from a recording to a motion and a verdict, in one call.
//
//   poise_recording_problem problem = poise_recording_of_files(skeleton, recording); // io.h: what poise_read gave
//   poise_recording_result *result;
//   poise_track_recording(&problem, NULL, &result, &error);
//   ... result->clip, result->model, result->verdict, result->findings ...
//   poise_recording_destroy(result);
//
// What is done on the way, each step as the header named beside it says:
//
//   match   choose the subject and the frames, bring units and axes together, find where markers sit: by what the skeleton
//           says, else by their names and anatomy (motion.h, track.h); a motion becomes points of bodies (retargeting)
//   follow  calibrate what is not known, track frame by frame or all at once (track.h, sequence.h), measure, and judge
//           (verdict.h)
//
// A result is never good by default: look at verdict.level, and at the findings, which say in words what speaks against it
// (poise_finding_describe). Lengths are in the skeleton's unit unless metres are named.
#ifndef POISE_RECORDINGS_H
#define POISE_RECORDINGS_H

#include <poise/sequence.h>
#include <poise/verdict.h>

#ifdef __cplusplus
extern "C" {
#endif

// What a recording is to decide about a skeleton before it is tracked.
typedef enum poise_fit {
    POISE_FIT_DECIDE = 0, // PLACES where some are not known, else NONE
    POISE_FIT_NONE,       // nothing: all places must be known
    POISE_FIT_PLACES,     // where markers sit
    POISE_FIT_UNIFORM,    // that, and one factor for all bones
    POISE_FIT_SEGMENTS    // that, and one factor for each bone
} poise_fit;

// The parts of the work that take time.
typedef enum poise_recording_stage {
    POISE_STAGE_CALIBRATE = 0, // fitting places and bones
    POISE_STAGE_TRACK,         // following; poise_track_problem.on_frame counts
    POISE_STAGE_JUDGE          // measuring and judging
} poise_recording_stage;

// A skeleton, what it is to follow, and how. Fill with poise_recording_problem_default() or poise_recording_of_files(),
// change what you like. What it points to must stay valid as long as the result, and is not changed.
typedef struct poise_recording_problem {
    const poise_model *model; // the skeleton
    poise_scale scale;        // of its lengths and axes; what is not known is found by the figure
    const double *posture;    // NULL: nq numbers to start from, at which what no marker sees stays (OpenSim's default)
    const poise_placement *placements; // NULL: where markers sit, as far as it is known; `local` not finite: not known
    int placement_count;               // 0: how many there are
    const poise_model
        *placements_from; // NULL: `model`; else the skeleton whose bodies they name: those of the same names count
    bool only_placements; // false: markers that have none are placed by their names (poise_places_by_name)
    const char *labels;   // NULL: a table of names and places of your own, before the built-in one

    const poise_markers *markers; // what to follow: markers, or
    const poise_model *from;      // NULL: another skeleton, and
    const poise_clip *clip;       // NULL: its motion, where `markers` is NULL
    poise_scale from_scale;       // of lengths and axes of what is followed; 0 and UNKNOWN: as the markers say
    const char *const *pairs;     // NULL: "SOURCE=TARGET": bodies that belong together though their names differ
    int pair_count;               // 0: how many there are
    bool keep_size;               // false: scale another skeleton's motion to the size of this one

    const char *subject; // NULL: the only whole one, of several people
    int first;           // 0: the first frame
    int last;            // -1: the last frame; < 0: the recording's last
    double rate;         // 0: frames a second to resample to; 0: as recorded

    poise_fit fit;                   // DECIDE
    int calibration_frames;          // 50
    poise_track_problem track;       // options of the tracking, `outlier` in metres; model, placements, markers, q_start and
                                     // posture are set here. `user` is handed to on_stage, too
    bool whole;                      // false: all frames at once (sequence.h), by
    poise_sequence_options sequence; // these options, `noise` in metres; velocity and acceleration are set here
    int lag;                         // -1: as a live tracker gives it, so many frames behind; < 0: none
    double velocity;                 // 0: limit of all joints but a free root, radians or metres a second; 0: none
    double acceleration;             // 0: the same, a second squared
    bool deviations;                 // false: compute the deviation of every degree of freedom in every frame
    const char *const *absent;       // NULL: names that a setup asks for and that are not there, for the verdict
    int absent_count;                // 0: how many there are
    poise_thresholds thresholds;     // of the verdict: poise_thresholds_default
    void (*on_stage)(void *user, poise_recording_stage stage, int frames); // NULL; called when a stage begins, on how many
                                                                           // frames
} poise_recording_problem;

// The defaults that stand beside the members; there is no skeleton and nothing to follow.
POISE_API poise_recording_problem poise_recording_problem_default(void);

// What came of it. All its memory is its own but for `model` where that is the problem's, and names in findings that point
// into it. Release with poise_recording_destroy.
typedef struct poise_recording_result {
    // matched
    poise_markers *markers;      // what was followed, in the skeleton's units and axes
    poise_placement *placements; // where the markers sit; all of them are in the recording
    int placement_count;         // how many there are
    poise_place_prior *priors;   // by placement: what anatomy says; NULL: nothing
    poise_scale scale;           // of all lengths here
    int first;                   // frame of the recording that is frame 0 here; 0 where it was resampled
    bool from_motion;            // points of another skeleton's bodies were followed
    // how that was decided
    poise_scale said;               // scale of the markers before
    poise_scale model_said;         // of the skeleton before
    poise_figure figure;            // of the recording before
    poise_scale_match match;        // how units and axes were found
    poise_retarget_report retarget; // of another skeleton's motion
    int recorded;                   // markers of the recording, all subjects together
    double rate_before;             // frames a second before they were resampled; 0: they were not
    int given;                      // placements that the problem has on bodies of the model
    int given_seen;                 // of those: with a marker in the recording
    int named;                      // placements that come from common names
    poise_places_report anatomy;    // what names tell
    // followed
    const poise_model *model;             // that the clip moves: `fitted`, or the problem's
    poise_model *fitted;                  // with its bones scaled; NULL: they were not
    bool calibrated;                      // places were fitted
    poise_calibration_report calibration; // how
    bool *unseen;                         // nv: no marker sees it, and it stays at `posture`; NULL: not asked
    double *q_start;                      // nq: where the tracking began
    poise_clip *clip;                     // the motion
    poise_track_frame *frames;            // how each frame went: rms is what its markers miss by
    poise_sequence_report sequence;       // of all frames at once
    double *distances;                    // frames x placements: of a marker from its place; NaN where it was not seen
    poise_marker_error *by_marker;        // by placement
    poise_track_summary summary;          // of all
    double *deviation;                    // frames x nv: standard deviations (verdict.h); NULL: not asked
    poise_uncertainty_report uncertainty; // what they were computed from
    poise_verdict verdict;                // how far it can be trusted
    poise_finding *findings;              // verdict.count, the worst first
    // its memory
    char *labels;              // of the placements, where they are not the markers'
    poise_allocator allocator; // that it came from
    bool has_allocator;        // false: malloc
} poise_recording_result;

// Both steps. NOT_FOUND: no marker has a place on the skeleton, or too few bodies have partners; UNSUPPORTED: there are
// several people, and no subject is named; FORMAT: `labels` make no sense; NUMERIC: the markers do not determine the places.
// `error` says what to do.
POISE_API poise_status poise_track_recording(const poise_recording_problem *problem, const poise_allocator *allocator,
                                             poise_recording_result **result, poise_error *error);

// The first step alone, to see what was decided before the work begins. Placements may be changed between the steps: weights
// and places, and some may be taken out.
POISE_API poise_status poise_recording_match(const poise_recording_problem *problem, const poise_allocator *allocator,
                                             poise_recording_result **result, poise_error *error);

// The second step, once, on what the first made of the same problem. After an error the result can only be destroyed.
POISE_API poise_status poise_recording_follow(const poise_recording_problem *problem, poise_recording_result *result,
                                              poise_error *error);

POISE_API void poise_recording_destroy(poise_recording_result *result); // NULL is allowed

#ifdef __cplusplus
}
#endif

#endif
