// Poise: how far a track can be trusted. How sure every joint angle is, and a verdict over the whole.
//
// Small distances between markers and their places are no proof: a calibration that may put markers anywhere fits them
// best and has the joints in the wrong places. The verdict therefore looks at where markers ended beside where anatomy has
// them, at left against right, at bones, at frames that were held, and at joints that no marker sees.
//
//   poise_verdict_problem problem = poise_verdict_problem_default();
//   problem.track = problem_of_track; // as it was tracked
//   problem.clip = clip;
//   problem.frames = frames;
//   problem.priors = priors;          // poise_places_by_name
//   poise_verdict_find(&problem, NULL, &verdict, findings, 64, &error);
#ifndef POISE_VERDICT_H
#define POISE_VERDICT_H

#include <poise/track.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- Uncertainty ---------------------------------------------------------------------------------------------------------

// What the deviations were computed from.
typedef struct poise_uncertainty_report {
    double noise; // standard deviation of a marker's coordinate, in length units
} poise_uncertainty_report;

// The standard deviation of every degree of freedom in every frame of a track: clip->frames x nv numbers, radians or
// length units, by frame. sqrt(noise^2 diag H^-1) with the exact Hessian H of the markers at the answer, in O(sum of
// squared depths) a frame; a weight counts as the inverse of a marker's variance. Infinite where no marker determines a
// degree of freedom, and in frames that were held. Limits and the posture's pull are not counted: what only they hold is
// not observed.
//
// `noise` is the standard deviation of a marker's coordinate, independent from marker to marker; 0 takes it from what the
// markers of this clip miss by, or, where they leave nothing to tell it by, as 0.006 of the stature. Skin that moves with
// the motion is not independent: where it is the largest error the true deviations are larger. `frames` may be NULL.
// `report` may be NULL.
POISE_API poise_status poise_track_uncertainty(const poise_track_problem *problem, const poise_clip *clip,
                                               const poise_track_frame *frames, double noise,
                                               const poise_allocator *allocator, double *deviation,
                                               poise_uncertainty_report *report, poise_error *error);

// ---- Verdict -------------------------------------------------------------------------------------------------------------

// How far a track can be trusted.
typedef enum poise_verdict_level {
    POISE_VERDICT_GOOD = 0, // nothing speaks against it
    POISE_VERDICT_DOUBTFUL, // something does: look at it
    POISE_VERDICT_FAILED    // the skeleton is not where the person was
} poise_verdict_level;

// A short lower-case name: "good", "doubtful", "failed".
POISE_API const char *poise_verdict_name(poise_verdict_level level);

// What may be found. Each has a value, and two thresholds beyond which it makes the track doubtful or failed.
typedef enum poise_finding_kind {
    POISE_FINDING_MISS = 0,  // markers miss their calibrated places: root mean square by weight, over the stature
    POISE_FINDING_GIVEN,     // the same where places were given and not calibrated, as an OpenSim model gives them
    POISE_FINDING_FAR,       // one marker misses its given place: mean over the stature; of half the mean weight at least
    POISE_FINDING_PLACES,    // places are not where anatomy has them, taken together: root mean square over deviations
    POISE_FINDING_MOVED,     // the same of one marker
    POISE_FINDING_UNEQUAL,   // a place on the left is not that on the right, mirrored: distance over the stature
    POISE_FINDING_SWAPPED,   // two markers fit better by each other's names: what the squared misses of both, in deviations,
                             // come down by
    POISE_FINDING_SIZE,      // the person is not of the skeleton's size: ratio, > 1
    POISE_FINDING_STRETCHED, // a bone was scaled by more or less than the others: ratio, > 1
    POISE_FINDING_SIDES,     // left and right were scaled differently: ratio, > 1
    POISE_FINDING_UNSEEN,    // share of the degrees of freedom above markers that these tell nothing of
    POISE_FINDING_BARE,      // share of the body (its parts, or degrees of freedom) on and beyond which there is no marker
    POISE_FINDING_HELD,      // share of frames that could not be trusted
    POISE_FINDING_LET_GO,    // share of frames in which a marker fitted no pose
    POISE_FINDING_ASTRAY,    // a marker of unknown name goes with another and is far from all bones: mean over the stature
    POISE_FINDING_TURNED,    // sensors miss the orientations of their bodies: root mean square, radians
    POISE_FINDING_ABSENT,    // a marker or body that a setup asks for is not there: value 1
    POISE_FINDING_JOINT,     // a joint that no marker determines: value 1, by itself no fault
    POISE_FINDING_LEFT_OUT,  // a marker of the recording without a place: value 1, by itself no fault
    POISE_FINDING_UNMATCHED, // retargeting: a limb or trunk that only one has: 1; hips whose legs follow: 2; a head: 0
    POISE_FINDING_POSE,      // retargeting: neither the neutral pose nor a frame stands upright to compare limbs in: value 1
    POISE_FINDING_BONES,     // retargeting: bones point elsewhere than those they follow: mean angle, radians
    POISE_FINDING_HIPS,      // retargeting: hips are not where they are to go: mean over the leg's length
    POISE_FINDING_SKATE,     // retargeting: planted feet slip: mean speed over the leg's length, per second
    POISE_FINDING_SUNK,      // retargeting: soles are below the ground: depth over the leg's length
    POISE_FINDING_JUMPED,    // retargeting: share of frames in which something turns far more than what it follows
    POISE_FINDING_LATE,      // retargeting: share of frames that velocity limits held back
    POISE_FINDING_LIMB,      // retargeting: one limb points elsewhere than the one it follows: mean angle, radians
    POISE_FINDING_REVERSED,  // retargeting: feet point backwards, by the names of the hips: value 1
    POISE_FINDING_SLIPPED,   // retargeting: a planted foot slips: largest speed over the leg's length, per second
    POISE_FINDING_RELEASED,  // retargeting: share of frames in which feet could not be planted as the actor's are
    POISE_FINDING_KIND_COUNT
} poise_finding_kind;

// A short lower-case name such as "miss"; "unknown" outside the enumeration.
POISE_API const char *poise_finding_name(poise_finding_kind kind);

// Beyond these a value makes a track doubtful, or failed.
typedef struct poise_thresholds {
    double doubtful[POISE_FINDING_KIND_COUNT]; // by kind
    double failed[POISE_FINDING_KIND_COUNT];   // likewise; at least as large
} poise_thresholds;

// miss 0.010, 0.015; given 0.012, 0.024; far 0.024; places 0.7, 1; moved 1.2, 2.5; unequal 0.027, 0.048; swapped 9; size
// 1.25, 1.6; stretched 1.15, 1.35; sides 1.1, 1.25; unseen 0.55, 0.75; bare 0.6, 0.9; held 0, 0.5; let_go 0.2; astray 0.12;
// turned 0.2, 0.5; absent 0; unmatched 0, 1; pose 0; bones 0.2, 0.6; hips 0.08, 0.3; skate 0.02, 0.3; sunk 0.01, 0.06;
// jumped 0, 0.1; late 0.05, 0.5; limb 0.5, 1.2; reversed 0; slipped 0.3, 3; released 0.1.
// Without a second number: never failed.
POISE_API poise_thresholds poise_thresholds_default(void);

// Set the thresholds of a finding by its name, such as "moved". `failed` below 0: as it is, or `doubtful` where that is
// more. NOT_FOUND: there is no such finding, or it is only worth knowing; ARGUMENT: `doubtful` is below 0 or no number.
POISE_API poise_status poise_thresholds_set(poise_thresholds *thresholds, const char *name, double doubtful, double failed,
                                            poise_error *error);

// One thing that was found.
typedef struct poise_finding {
    poise_finding_kind kind;   // what it is
    poise_verdict_level level; // what it makes of the track; GOOD: worth knowing
    const char *name;          // of the marker, joint or bone; NULL: of none. Points into the model or the markers
    const char *other;         // of a second one; NULL: of none
    double value;              // as above
} poise_finding;

// What to judge. Fill with poise_verdict_problem_default(), set track and clip, and of the others what there is.
typedef struct poise_verdict_problem {
    const poise_track_problem *track;            // as it was tracked: model, placements, markers
    const poise_clip *clip;                      // the answer
    const poise_track_frame *frames;             // NULL: how each frame went
    const poise_place_prior *priors;             // NULL: by placement, what anatomy says of it
    const poise_calibration_report *calibration; // NULL: not calibrated
    const poise_places_report *places;           // NULL: markers were not placed by name
    const poise_model *before;                   // NULL: the skeleton before its bones were scaled
    const char *const *absent;                   // NULL: names that a setup asks for and that are not there
    int absent_count;                            // how many
    poise_thresholds thresholds;                 // poise_thresholds_default
} poise_verdict_problem;

// The defaults that stand beside the members.
POISE_API poise_verdict_problem poise_verdict_problem_default(void);

// The verdict.
typedef struct poise_verdict {
    poise_verdict_level level;              // of the worst finding
    int count;                              // findings, also those that there was no room for
    double worst[POISE_FINDING_KIND_COUNT]; // the largest value of each kind; 0: not looked at, or nothing
} poise_verdict;

// Judge a track. `findings` takes up to `capacity` of what was found, the worst level first.
POISE_API poise_status poise_verdict_find(const poise_verdict_problem *problem, const poise_allocator *allocator,
                                          poise_verdict *verdict, poise_finding *findings, int capacity, poise_error *error);

// A skeleton that was scaled by measurements. Set all but `thresholds`, which begin as poise_scaling_thresholds.
typedef struct poise_scaling_problem {
    const poise_model *model;    // as scaled
    const poise_vec3 *factors;   // by body, along its axes; NaN: not scaled
    double miss;                 // of the static pose from its markers: root mean square by weight, in length units
    const char *const *absent;   // names that were asked for and are not there
    int absent_count;            // how many
    poise_thresholds thresholds; // poise_scaling_thresholds
} poise_scaling_problem;

// poise_thresholds_default, with wider ones for what a measurement may say: size 1.6, 2.5; stretched 1.25, 1.6.
POISE_API poise_thresholds poise_scaling_thresholds(void);

// Judge it: how large the person is against the model (SIZE: the middle factor), bodies that are scaled unlike the others
// (STRETCHED: against the middle one), left unlike right (SIDES), the static pose (GIVEN), and what is missing (ABSENT).
POISE_API poise_status poise_scaling_judge(const poise_scaling_problem *problem, const poise_allocator *allocator,
                                           poise_verdict *verdict, poise_finding *findings, int capacity,
                                           poise_error *error);

// Weigh a finding of your own against its thresholds: its level is filled in. What is within them is kept only where
// `always` says so. Start with {0}; `findings` has room for `capacity`, the worst level first.
POISE_API void poise_verdict_weigh(const poise_thresholds *thresholds, poise_finding finding, bool always,
                                   poise_verdict *verdict, poise_finding *findings, int capacity);

// A finding in words, such as "RFIN was moved to 3.1 deviations from where anatomy has it". Cut to `size` bytes, the zero
// at the end included.
POISE_API void poise_finding_describe(const poise_finding *finding, char *text, size_t size);

#ifdef __cplusplus
}
#endif

#endif
