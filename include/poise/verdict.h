// Poise: how far a track can be trusted: the uncertainty of every joint angle, and a verdict on the whole.
//
// Small marker errors prove nothing: a calibration that may put markers anywhere fits them best, with the joints in the
// wrong places. The verdict therefore compares marker positions with anatomy and left with right, and looks at bone
// lengths, held frames, and joints that no marker sees.
//
//   poise_verdict_problem problem = poise_verdict_problem_default();
//   problem.track = problem_of_track; // as it was tracked
//   problem.clip = clip;
//   problem.frames = frames;
//   problem.priors = priors;          // poise_places_by_name
//   poise_verdict_find(&problem, NULL, &verdict, findings, 64, &error);
#ifndef POISE_VERDICT_H
#define POISE_VERDICT_H

#include <poise/hull.h>
#include <poise/track.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- Uncertainty ---------------------------------------------------------------------------------------------------------

// What the deviations are based on.
typedef struct poise_uncertainty_report {
    double noise; // standard deviation of a marker's coordinate, in length units
} poise_uncertainty_report;

// The standard deviation of every degree of freedom in every frame of a track: clip->frames x nv numbers, radians or length
// units, by frame. sqrt(noise^2 diag H^-1) with the exact Hessian H of the markers at the answer, in O(sum of squared
// depths) a frame; a weight counts as the inverse of a marker's variance. Infinite for a degree of freedom that no marker
// determines, and in held frames. Limits and the pull to a posture do not count: what only they hold is not observed.
//
// `noise` is the standard deviation of a marker's coordinate, independent from marker to marker; 0 estimates it from the
// marker errors of this clip or, if these do not determine it, uses 0.006 of the stature. Skin motion is not independent
// between frames: where it dominates, the true deviations are larger. `frames` may be NULL. `report` may be NULL.
POISE_API poise_status poise_track_uncertainty(const poise_track_problem *problem, const poise_clip *clip,
                                               const poise_track_frame *frames, double noise,
                                               const poise_allocator *allocator, double *deviation,
                                               poise_uncertainty_report *report, poise_error *error);

// The same of the clinical angles (poise_joint_angles) in every frame of a track: clip->frames x POISE_ANGLE_COUNT numbers,
// degrees. Infinite where the skeleton has no such angle, where no marker determines it, and in held frames. The angles of a
// sequence near gimbal lock, such as the plane of a hanging arm, are hardly determined by however sharp markers.
POISE_API poise_status poise_joint_angle_deviations(const poise_track_problem *problem, const poise_clip *clip,
                                                    const poise_track_frame *frames, const poise_allocator *allocator,
                                                    double *deviation, poise_error *error);

// ---- Verdict -------------------------------------------------------------------------------------------------------------

// How far a track can be trusted.
typedef enum poise_verdict_level {
    POISE_VERDICT_GOOD = 0, // nothing is wrong
    POISE_VERDICT_DOUBTFUL, // something may be wrong: look at it
    POISE_VERDICT_FAILED    // the skeleton does not follow the person
} poise_verdict_level;

// A short lower-case name: "good", "doubtful", "failed".
static inline const char *poise_verdict_name(poise_verdict_level level)
{
    return poise_name(POISE_TYPE_VERDICT_LEVEL, (int)level);
}

// Kinds of findings. Each has a value, and two thresholds beyond which it makes the track doubtful or failed: the numbers here.
// Without a second number it never fails.
typedef enum poise_finding_kind {
    POISE_FINDING_MISS = 0,  // 0.01, 0.015: error of markers against their calibrated placements: root mean square by
                             // weight, relative to stature
    POISE_FINDING_GIVEN,     // 0.012, 0.024: the same for given placements, such as those of an OpenSim model
    POISE_FINDING_FAR,       // 0.024: mean error of one marker against its given placement, relative to stature; only
                             // markers of at least half the mean weight
    POISE_FINDING_PLACES,    // 0.8, 1: placements differ from anatomy as a whole: root mean square, in standard deviations
    POISE_FINDING_MOVED,     // 1.35, 2.5: the same for one marker
    POISE_FINDING_UNEQUAL,   // 0.027, 0.048: a placement on the left is not the mirror image of that on the right: distance
                             // relative to stature
    POISE_FINDING_SWAPPED,   // 9: two markers fit better with their names exchanged: reduction of their squared errors, in
                             // standard deviations
    POISE_FINDING_SIZE,      // 1.25, 1.6: the person differs in size from the skeleton: ratio, > 1. Where units are known,
                             // only as far as they are shorter than 1.075 m or taller than 1.85 m
    POISE_FINDING_STRETCHED, // 1.15, 1.35: a bone was scaled more or less than the others: ratio, > 1
    POISE_FINDING_SIDES,     // 1.1, 1.25: left and right were scaled differently: ratio, > 1
    POISE_FINDING_UNSEEN,    // 0.55, 0.75: share of the degrees of freedom above markers that these do not determine
    POISE_FINDING_BARE,      // 0.6, 0.9: share of the body (parts, or degrees of freedom) with no marker on or beyond it
    POISE_FINDING_HELD,      // 0, 0.5: share of frames that could not be trusted
    POISE_FINDING_LET_GO,    // 0.2: share of frames in which a marker was ignored because no pose fits it
    POISE_FINDING_LOST,      // 0.2: a body whose markers were mostly ignored for a while, with another one on it or next to
                             // it: the longest time in seconds
    POISE_FINDING_HIDDEN,    // 0.5: a limb that no marker sees for a while (poise_track_hidden), by its first joint: the
                             // longest time in seconds
    POISE_FINDING_BLOCKED,   // 0.045: a joint that stays at a limit while a marker beyond it is far off, which it is not
                             // without limits: distance relative to stature
    POISE_FINDING_SNAPPED,   // 0.8: a body turns from one frame to the next, against those it hangs on, and not so before
                             // or after: angle, radians
    POISE_FINDING_TRADED,    // 0: two markers leap to each other's place from one frame to the next: how often
    POISE_FINDING_ASTRAY,    // 0.12: a marker of unknown name moves with another but is far from all bones: mean distance
                             // relative to stature
    POISE_FINDING_UNPLACED,  // 0.02: a marker of unknown name, seen in nine frames of ten, that moves with a body: how far
                             // it wanders on it, relative to stature
    POISE_FINDING_AT_LIMIT,  // 0.02: a joint that clinical angles read is at a limit, and without it an angle would be
                             // elsewhere: share of frames
    POISE_FINDING_UNSURE,    // 5 degrees: a clinical angle that markers hardly tell, while one of unknown name was left out
                             // that would tell more: the standard deviation of the turn about its axis that a tenth of the
                             // frames exceed, radians
    POISE_FINDING_VAGUE,     // never: the same where no marker was left out: by itself no fault
    POISE_FINDING_BLURRED,   // never: a joint centre: the standard deviation that a tenth of the frames exceed, relative to
                             // stature; by itself no fault
    POISE_FINDING_FOREIGN,   // 0.75: share of the markers with common names whose part of the body the skeleton lacks
    POISE_FINDING_AMBIGUOUS, // 0.02: two markers of one name that are not at one place: share of frames
    POISE_FINDING_LYING,     // 0: x points up by how the person stands, and nothing else says so: they may lie: value 1.
                             // Nothing says what points up, nor does how they stand: 2, named by the axis that is taken
    POISE_FINDING_TURNED,    // 0.2, 0.5: error of sensors against the orientations of their bodies: root mean square,
                             // radians
    POISE_FINDING_ABSENT,    // 0: a marker or body required by a setup is missing: value 1
    POISE_FINDING_FROZEN,    // 3: frames of all markers, or of one, that repeat the one before to the last digit while the
                             // person moves: the longest row of them
    POISE_FINDING_DOUBLED,   // 1.1: how often each frame comes, to the last digit, where the person moves: on average
    POISE_FINDING_FILLED,    // 0.5: a marker follows a straight line at an even pace, as far as the digits tell: the
                             // longest time in seconds
    POISE_FINDING_CUT,       // 0.004: all markers leap from one frame to the next, against the frames around it: middle
                             // distance relative to stature
    POISE_FINDING_PUSHED,    // 0.0125: markers of one body leap together and stay there: distance relative to stature
    POISE_FINDING_KNOCKED,   // 0.0165: one marker leaps by itself and sits elsewhere from then on: distance relative to
                             // stature, the geometric mean of its leap and of what its place on the body changes by
    POISE_FINDING_HASTY,     // 100, 300: markers accelerate more than people's do: middle of their means, m/s^2; 1.75 m
                             // tall where the unit is not known
    POISE_FINDING_SLOW,      // 2.5: steps that take too long: the middle one, seconds
    POISE_FINDING_BACKWARDS, // 0.7: share of the moving frames of a walk in which the foot that carries goes forwards
    POISE_FINDING_MIRRORED,  // 0.5: share of the frames in which the markers are the mirror image of a person
    POISE_FINDING_FALLING,   // 0.3: share of frames in which hips fall at more than twice the acceleration of gravity
    POISE_FINDING_TILTED,    // 10 degrees: hips over feet, and soles that rest, lean the same way: the lesser angle,
                             // radians
    POISE_FINDING_SKEWED,    // 0.012: distances that should not change depend on their direction: one axis against another,
                             // as a share
    POISE_FINDING_SHIFTED,   // 0.014: two markers on one body, or at the ends of a bone, are not as far apart in one part
                             // of the take as in another: difference relative to stature
    POISE_FINDING_DRIFTED,   // 0.0125: a marker sits elsewhere on its body in one part of the take than in another, or those
                             // of the next body do: difference relative to stature
    POISE_FINDING_MISPLACED, // 0.03: another skeleton's motion: a joint is off by more than three times as much as most:
                             // mean distance relative to stature
    POISE_FINDING_JOINT,     // never: a joint that no marker determines: value 1; not a fault in itself
    POISE_FINDING_LEFT_OUT,  // never: a recorded marker without a placement: value 1; not a fault in itself
    POISE_FINDING_UNMATCHED, // 0, 1: retargeting: a limb or trunk that only one skeleton has: 1; hips whose legs follow: 2;
                             // a head: 0
    POISE_FINDING_POSE,      // 0: retargeting: no upright pose to compare limbs in, neither the neutral one nor a frame:
                             // value 1
    POISE_FINDING_BONES,     // 0.2, 0.6: retargeting, motions: bones deviate from those they follow: mean angle, radians
    POISE_FINDING_HIPS,      // 0.08, 0.3: retargeting: hips deviate from their path: mean distance relative to leg length
    POISE_FINDING_SKATE,     // 0.02, 0.3: retargeting: planted feet slip: mean speed in leg lengths per second
    POISE_FINDING_SUNK,      // 0.0025, 0.06: retargeting: soles are below the ground: depth relative to leg length
    POISE_FINDING_JUMPED,    // 0, 0.1: retargeting: share of frames in which a body turns far more than the one it follows
    POISE_FINDING_LATE,      // 0.05, 0.5: share of frames that limits of velocity or acceleration held back
    POISE_FINDING_LIMB,      // 0.5, 1.2: retargeting, motions: one limb deviates from the one it follows: mean angle,
                             // radians
    POISE_FINDING_REVERSED,  // 0: retargeting: feet point backwards, judging by the names of the hips: value 1
    POISE_FINDING_SLIPPED,   // 0.3, 3: retargeting: a planted foot slips: largest speed in leg lengths per second
    POISE_FINDING_RELEASED,  // 0.1: retargeting: share of frames in which feet could not be planted like the actor's
    POISE_FINDING_APART,     // never: retargeting: the first frame is a pose of its own: value 1, by itself no fault
    POISE_FINDING_TIPPED,    // 0.05: retargeting: share of frames in which a sole is tilted where the actor's stands flat
    POISE_FINDING_BURIED,    // 0.03, 0.25: retargeting: a part other than a foot is below the ground: depth relative to leg
                             // length
    POISE_FINDING_FIXED,     // 0: retargeting: a limb that the target has but cannot move: value 1
    POISE_FINDING_UNPLANTED, // 0.3: retargeting: no foot ever rests, yet one is near the ground: share of frames
    POISE_FINDING_ASIDE,     // 0.1: retargeting: one limb points more than 45 degrees away from the one it follows: share
                             // of frames
    POISE_FINDING_LEAPT,     // 7 degrees, 30 degrees: tool paths: a joint turns from one pose to the next as following the
                             // tool cannot: angle, radians
    POISE_FINDING_SLID,      // 0.02, 0.1: the same of a slide: metres
    POISE_FINDING_SELF,      // 0.02: robots: share of frames in which two bodies overlap by more than 5 mm (hull.h)
    POISE_FINDING_PIERCED,   // 0.02, 0.1: the same by more than 20 mm
    POISE_FINDING_FLOOR,     // 0.02: retargeting: share of frames in which a body is more than 5 mm below the ground
    POISE_FINDING_UNCHECKED, // 0: collision shapes of the model were not read, or bodies of a robot have none, or a tool path
                             // does not watch them, so that overlaps are not known: how many
    POISE_FINDING_FAST,      // 1: retargeting, edits, tool paths: a joint is faster than its limit, or than 20 rad/s: how
                             // many times
    POISE_FINDING_ABRUPT,    // 0.02: retargeting: share of frames in which a joint accelerates by more than 1000 rad/s^2
    POISE_FINDING_LOOSE,     // 0.05: retargeting: of the frames in which a foot of the actor rests, the share in which the
                             // target's, which is not planted, slides
    POISE_FINDING_LURCHED,   // 1: retargeting: the hips are faster than the actor's, scaled, or than 12 m/s: by how much,
                             // m/s
    POISE_FINDING_OVERTURNED, // 0.5: retargeting: share of the frames with the target's head above its hips in which the
                              // actor's is below
    POISE_FINDING_SCUFFED,    // 0.02: retargeting: share of frames in which a foot that is not planted scrapes over the
                              // ground
    POISE_FINDING_HOVERING,   // 0.02: retargeting: share of frames in which nothing is near the ground, for longer than in a
                              // jump
    POISE_FINDING_UNCLOSED,   // 0.002: retargeting: a loop that the target's file closes is open: by how much, metres or
                              // radians
    POISE_FINDING_AFLOAT,     // 0.05: poses: the lowest sole is above the ground that the figure stands on at rest: height
                              // relative to leg length
    POISE_FINDING_UNMET,      // 0: edits: a pin is out of reach: share of the frames in which it should hold; tool paths:
                              // share of the poses that were missed
    POISE_FINDING_JOLTED,     // 0: edits: a joint snaps, or a foot jolts, and did not before: value 1
    POISE_FINDING_COLLAR,     // 0.5: edits: a clavicle is turned against the chest, compared with the motion as it was:
                              // radians
    POISE_FINDING_TWISTED,    // 1: edits: a bone of an arm or a leg is twisted about its length, compared likewise: radians
    POISE_FINDING_DRAGGED,    // 0.35: edits: the chest is turned in the world, though no pin holds the trunk: radians
    POISE_FINDING_BENT,       // 0.3: edits: an elbow or a knee leaves the plane and the side of its bend: radians
    POISE_FINDING_CLEARANCE,  // 0: constraints: share of frames in which shapes are nearer than they may be
    POISE_FINDING_BALANCE,    // 0: constraints: share of frames in which the centre of mass leaves its polygon
    POISE_FINDING_LOOPS,      // 0: constraints: share of frames in which a loop is open
    POISE_FINDING_KIND_COUNT
} poise_finding_kind;

// A short lower-case name such as "miss"; "unknown" outside the enumeration.
static inline const char *poise_finding_name(poise_finding_kind kind)
{
    return poise_name(POISE_TYPE_FINDING_KIND, (int)kind);
}

// Values beyond these make a track doubtful, or failed.
typedef struct poise_thresholds {
    double doubtful[POISE_FINDING_KIND_COUNT]; // the first number of the finding
    double failed[POISE_FINDING_KIND_COUNT];   // the second one, or never (1e300); at least as large
} poise_thresholds;

// The numbers beside the findings.
static inline poise_thresholds poise_thresholds_default(void)
{
    poise_thresholds thresholds;
    poise_init(POISE_TYPE_THRESHOLDS, &thresholds, sizeof thresholds);
    return thresholds;
}

// Set the thresholds of a finding by its name, such as "moved". A negative `failed` keeps the current one, or `doubtful` if
// that is larger. NOT_FOUND: there is no such finding, or it has no thresholds; ARGUMENT: `doubtful` is negative or not a
// number.
POISE_API poise_status poise_thresholds_set(poise_thresholds *thresholds, const char *name, double doubtful, double failed,
                                            poise_error *error);

// One thing that was found.
typedef struct poise_finding {
    poise_finding_kind kind;   // what it is
    poise_verdict_level level; // its effect on the verdict; GOOD: for information
    const char *name;          // of the marker, joint or bone; NULL: none. Points into the model or the markers
    const char *other;         // of a second one; NULL: none
    double value;              // as above
    int first, last;           // LOST, HIDDEN, BLOCKED, SNAPPED, FROZEN, FILLED, CUT, PUSHED, AT_LIMIT (the longest time):
        // frames; TRADED: the first time; SELF, PIERCED, FLOOR, FAST, ABRUPT, LOOSE, LURCHED, SCUFFED,
        // UNCLOSED, UNMET, CLEARANCE, BALANCE, LOOPS: the frame in which it is worst; HOVERING: the longest
        // time; LEAPT, SLID: poses, the first of the path is 1; COLLAR, TWISTED, DRAGGED, BENT: the frames
        // around the worst one in which it is too large; else 0
    double distance; // LOST: of the farthest marker, relative to stature; BLOCKED: without limits; SELF, PIERCED,
                     // FLOOR: the largest depth in metres; FAST, ABRUPT: the largest speed or acceleration in
                     // radians; LURCHED, SCUFFED: the speed in m/s; else 0
    bool in_trial;   // it was found in the static trial (poise_recording_problem.standing)
} poise_finding;

// What to judge. Fill with poise_verdict_problem_default(), set track and clip, and of the others what you have.
typedef struct poise_verdict_problem {
    const poise_track_problem *track;            // as it was tracked: model, placements, markers
    const poise_clip *clip;                      // the answer
    const poise_track_frame *frames;             // NULL: how each frame went
    const poise_place_prior *priors;             // NULL: anatomical prior of each placement
    const poise_calibration_report *calibration; // NULL: not calibrated
    const poise_places_report *places;           // NULL: markers were not placed by name
    const poise_model *before;                   // NULL: the skeleton before scaling
    const char *const *absent;                   // NULL: names required by a setup but missing
    int absent_count;                            // 0: how many
    bool from_motion;                            // false: the markers are another skeleton's joints: limbs are compared by
                                                 // where they point (BONES, LIMB), not places (GIVEN, FAR)
    bool unit_by_size;           // false: the unit was chosen to make person and skeleton equally large, and in another one
                                 // the person would be as tall as people are, too
    poise_thresholds thresholds; // poise_thresholds_default
} poise_verdict_problem;

// The defaults given beside the members.
static inline poise_verdict_problem poise_verdict_problem_default(void)
{
    poise_verdict_problem problem;
    poise_init(POISE_TYPE_VERDICT_PROBLEM, &problem, sizeof problem);
    return problem;
}

// The verdict.
typedef struct poise_verdict {
    poise_verdict_level level;              // of the worst finding
    int count;                              // findings, including those beyond the capacity
    double worst[POISE_FINDING_KIND_COUNT]; // the largest value of each kind; 0: not examined, or nothing found
} poise_verdict;

// Judge a track. `findings` receives up to `capacity` findings, worst level first.
POISE_API poise_status poise_verdict_find(const poise_verdict_problem *problem, const poise_allocator *allocator,
                                          poise_verdict *verdict, poise_finding *findings, int capacity, poise_error *error);

// A skeleton scaled by measurements. Set all members; `thresholds` to poise_scaling_thresholds or your own.
typedef struct poise_scaling_problem {
    const poise_model *model;    // as scaled
    const poise_vec3 *factors;   // by body, along its axes; NaN: not scaled
    double miss;                 // marker error of the static pose: root mean square by weight, in length units
    const char *const *absent;   // names required but missing
    int absent_count;            // how many
    poise_thresholds thresholds; // poise_scaling_thresholds
} poise_scaling_problem;

// poise_thresholds_default with wider ones for measurements: size 1.6, 2.5; stretched 1.25, 1.6.
POISE_API poise_thresholds poise_scaling_thresholds(void);

// Judge a scaling: the size of the person relative to the model (SIZE: the median factor), bodies scaled unlike the others
// (STRETCHED: relative to the median), left unlike right (SIDES), the static pose (GIVEN), and what is missing (ABSENT).
POISE_API poise_status poise_scaling_judge(const poise_scaling_problem *problem, const poise_allocator *allocator,
                                           poise_verdict *verdict, poise_finding *findings, int capacity,
                                           poise_error *error);

// The path of a tool: what a solver answered, pose by pose. Start from poise_path_problem_default(), set model, q and poses,
// and the tool.
typedef struct poise_path_problem {
    const poise_model *model; // the arm
    const double *q;          // poses x nq, row by row
    int poses;                // 0: how many
    int body;          // NONE: that carries the tool (poise_model_find_part); POISE_NONE: none, so that every long step
                       // counts
    poise_pose local;  // identity: the tool in the body's frame
    double metres;     // 1: per unit of length
    double frame_time; // 0: seconds from pose to pose; 0: not known, so that speeds are not judged
    int missed;        // 0: poses whose goals the solver missed
    int unwatched;     // 0: collision shapes, or pairs of them, that were to be kept apart and are not watched
    poise_thresholds thresholds; // poise_thresholds_default
} poise_path_problem;

// The defaults given beside the members.
static inline poise_path_problem poise_path_problem_default(void)
{
    poise_path_problem problem;
    poise_init(POISE_TYPE_PATH_PROBLEM, &problem, sizeof problem);
    return problem;
}

// Judge a tool path: does a joint leap from one pose to the next (LEAPT, SLID), as where the arm takes another of its
// answers or a hinge has come to its limit? Steps within the threshold do not count, nor do those of poses that lie far
// apart, if the arm can follow the tool along the straight line between them in steps within the threshold. With a frame
// time also: is a joint faster than its limit (FAST)? Poses that were missed fail it (UNMET), shapes that were not watched make
// it doubtful (UNCHECKED), as the caller says; nothing else is judged.
POISE_API poise_status poise_path_judge(const poise_path_problem *problem, const poise_allocator *allocator,
                                        poise_verdict *verdict, poise_finding *findings, int capacity, poise_error *error);

// A motion, and the constraints that it should keep to. Start from poise_kept_problem_default().
typedef struct poise_kept_problem {
    const poise_model *model;            // of the clip
    const poise_clip *clip;              // the motion
    const poise_constraint *constraints; // of every frame
    int constraint_count;                // 0: how many
    double closure_tolerance;            // 1e-12: by which a loop may be open, in length units or radians
} poise_kept_problem;

// The defaults given beside the members.
static inline poise_kept_problem poise_kept_problem_default(void)
{
    poise_kept_problem problem;
    poise_init(POISE_TYPE_KEPT_PROBLEM, &problem, sizeof problem);
    return problem;
}

// Sorts of constraints that are judged together.
typedef enum poise_kept_sort {
    POISE_KEPT_CLEARANCE = 0, // shapes apart
    POISE_KEPT_BALANCE,       // the centre of mass above its polygon
    POISE_KEPT_LOOPS,         // all others
    POISE_KEPT_SORTS          // how many there are
} poise_kept_sort;

// A short lower-case name such as "clearance"; "unknown" outside the enumeration.
static inline const char *poise_kept_name(poise_kept_sort sort)
{
    return poise_name(POISE_TYPE_KEPT_SORT, (int)sort);
}

// Which sort a constraint is of.
POISE_API poise_kept_sort poise_kept_sort_of(const poise_constraint *constraint);

// Where constraints of one sort are worst.
typedef struct poise_kept_worst {
    double room;    // as poise_constraint_room: below 0 it does not hold; infinite: there are none of this sort
    int frame;      // in which that is; POISE_NONE: none
    int constraint; // of which that is
    int item;       // its pair, side or row
    int broken;     // frames in which one of this sort does not hold
} poise_kept_worst;

// How a motion keeps to constraints.
typedef struct poise_kept {
    poise_kept_worst worst[POISE_KEPT_SORTS]; // by sort
    int broken;                               // frames in which some constraint does not hold
} poise_kept;

// Look at every frame of a motion. `broken` (may be NULL) receives a byte for each: bit 1 << sort where that sort does not
// hold.
POISE_API poise_status poise_kept_measure(const poise_kept_problem *problem, const poise_allocator *allocator,
                                          poise_kept *kept, unsigned char *broken, poise_error *error);

// What speaks against the motion (CLEARANCE, BALANCE, LOOPS), added to a verdict. poise_verdict_find does so itself for the
// constraints of its track.
POISE_API void poise_kept_judge(const poise_kept_problem *problem, const poise_kept *kept,
                                const poise_thresholds *thresholds, poise_verdict *verdict, poise_finding *findings,
                                int capacity);

// Add a finding of your own to a verdict: its level follows from the thresholds. A finding within them is kept only if
// `always`. Start with a verdict of {0}; `findings` has room for `capacity`, sorted by level, worst first.
POISE_API void poise_verdict_weigh(const poise_thresholds *thresholds, poise_finding finding, bool always,
                                   poise_verdict *verdict, poise_finding *findings, int capacity);

// Add what another verdict found, `others` with room for other_capacity, to one: of a motion that was made of a track, what
// speaks against the track. What is there for information alone is left out, but for joints that nothing tells (JOINT).
POISE_API void poise_verdict_join(poise_verdict *verdict, poise_finding *findings, int capacity, const poise_verdict *other,
                                  const poise_finding *others, int other_capacity);

// Describe a finding in words, such as "RFIN was moved to 3.1 deviations from where anatomy has it". Truncated to `size`
// bytes, terminating zero included.
POISE_API void poise_finding_describe(const poise_finding *finding, char *text, size_t size);

// Add to a verdict what speaks against the motion: SELF (share of frames with an overlap of more than 5 mm) and PIERCED (20
// mm). Start with a verdict of {0}, or go on with one; `thresholds` NULL means the defaults.
POISE_API void poise_overlap_judge(const poise_overlap_problem *problem, const poise_overlap *overlap,
                                   const poise_thresholds *thresholds, poise_verdict *verdict, poise_finding *findings,
                                   int capacity);

#ifdef __cplusplus
}
#endif

#endif
