// Poise: editing clips. Goals that hold for a while, feet that stay planted, clips mirrored, looped and joined.
//
//   poise_pin pin = poise_pin_default();
//   pin.goal = poise_goal_position(hand, poise_vec3_make(0, 0, 0), poise_vec3_make(1.2, 0.3, 0.9));
//   pin.from = 2, pin.to = 3;                                      // seconds; it fades in before and out after that
//   poise_clip_pin(model, &pin, 1, NULL, clip, NULL, &result, &report, &error);
//
// **What an edit changes.** A pin holds from `from` to `to`. During the fades the goal blends from the clip's own motion to
// the pin by S(u) = u^3 (10 - 15 u + 6 u^2), whose first two derivatives vanish at both ends, so smooth motion stays
// smooth. Frames outside the fades keep their bits. In every other frame the answer is
//
//   min over q  sum_i w_i (q_i - original_i)^2   while the goals hold
//
// within the joint limits, where w_i measures how far degree of freedom i moves the skeleton; limbs that are not pinned
// count ten times. The change is then smoothed in time, and the least change from that is solved for again. So an arm
// follows its hand, and the trunk leans only as far as it must.
//
// **Limits** hold exactly. A joint that the clip itself takes beyond its limits may go that far.
#ifndef POISE_EDIT_H
#define POISE_EDIT_H

#include <poise/verdict.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- Pins ----------------------------------------------------------------------------------------------------------------

// Where a pin takes its target from.
typedef enum poise_pin_target {
    POISE_PIN_GIVEN = 0, // its goal, or its keys
    POISE_PIN_HERE,      // where the body is at `from`: it stays there
    POISE_PIN_PATH,      // where the body is in each frame: it moves as before, whatever else is pinned
    POISE_PIN_SHIFT      // its goal, a position without keys; in the fades the body keeps its own path, shifted by what is
                         // left of the correction, so that a foot that steps off quickly still does
} poise_pin_target;

// A goal at a moment.
typedef struct poise_pin_key {
    double time;     // seconds, in the time of the clip; later than that of the key before
    poise_goal goal; // of the pin's kind and body; any but POSTURE and SMOOTHNESS
} poise_pin_key;

// A goal that holds for a while. Fill with poise_pin_default(), set the goal, change what you like. Times are in seconds, in
// the time of the clip: frame k is at start_time + k frame_time.
typedef struct poise_pin {
    poise_goal goal;           // what holds; every kind but CALLBACK
    poise_pin_target target;   // GIVEN
    const poise_pin_key *keys; // NULL: the goal passes through these on a natural cubic spline
    int key_count;             // 0: how many
    double from;               // -infinity: the beginning of the clip; with keys, the time of the first
    double to;                 // infinity: the end; with keys, the time of the last
    double fade_in;            // 0.25: seconds before `from`
    double fade_out;           // 0.25: seconds after `to`
} poise_pin;

// The defaults given beside the members; the goal is poise_goal_default(POISE_GOAL_POSITION).
static inline poise_pin poise_pin_default(void)
{
    poise_pin pin;
    poise_init(POISE_TYPE_PIN, &pin, sizeof pin);
    return pin;
}

// How pins are met.
typedef struct poise_pin_options {
    const bool *locked;        // NULL: nv flags: degrees of freedom that no pin may move
    bool keep_feet;            // true: feet of a human skeleton that are not pinned stay on their path
    double position_tolerance; // 0: larger errors of a pin count as missed; 0: 1e-6 m, for SHIFT 1e-4 m, by `metres`
    double rotation_tolerance; // 1e-6: the same in radians
    double metres;             // 0: metres per length unit; 0: estimated from the size of the skeleton
} poise_pin_options;

// The defaults given beside the members.
static inline poise_pin_options poise_pin_options_default(void)
{
    poise_pin_options options;
    poise_init(POISE_TYPE_PIN_OPTIONS, &options, sizeof options);
    return options;
}

// How a pin went, in the frames in which it holds in full.
typedef struct poise_pin_result {
    int first, last;      // frames that it affects, fades included; first > last: none
    int held_first;       // frames in which it holds in full
    int held_last;        // likewise
    int missed;           // of these, frames in which it missed
    double size;          // of the skeleton, in length units
    double worst_length;  // largest error, in length units
    double worst_angle;   // the same in radians
    int worst_frame;      // where that is; POISE_NONE: it holds everywhere
    double before_length; // largest error before the edit
    double before_angle;  // the same in radians
} poise_pin_result;

// The effect of all pins together.
typedef struct poise_pin_report {
    int frames;          // changed
    int missed;          // frames in which some pin missed
    int kept;            // feet that were kept on their path
    double kept_length;  // the farthest that such a foot left its path, in length units
    int widened;         // coordinates that the clip itself takes beyond their limits
    int outside;         // frames that left the limits through the edit: always 0
    double turn;         // largest change of a joint's rotation, radians, at most pi
    int turn_dof;        // a degree of freedom of that joint
    int turn_frame;      // when
    double speed_before; // largest speed of a degree of freedom that turns, in the frames that changed, radians a second
    double speed_after;  // the same after the edit
    int snap_frame;      // where a joint turns by more than a quarter of a radian between two frames, twice as much as
                         // before and as in the frames around, or by 0.8; or where a body jolts; POISE_NONE: nowhere
    int snap_dof;        // which joint; POISE_NONE: a body jolts
    int jolt_body;       // which body; POISE_NONE: none
    double jolt;         // what the edit adds to the jolt |x(f+1) - 2 x(f) + x(f-1)| of a foot that a SHIFT pin holds, in
                         // length units; more than 1.2 % of the skeleton's size counts (2 cm of a person)
    int iterations;      // of all frames
} poise_pin_report;

// Apply pins to a clip. Pins of one point of a body follow each other, positions and poses alike: if the next begins before
// one has faded out, it takes over. A body that is pinned in some of a run of changed frames stays on its path in the rest.
// `options` NULL: the defaults. `results` (may be NULL) receives `count` of them; `report` may be NULL. On any status but
// POISE_OK the clip is unchanged. A pin out of reach is not an error: its result says by how much, and the limb goes as near
// as it can.
POISE_API poise_status poise_clip_pin(const poise_model *model, const poise_pin *pins, int count,
                                      const poise_pin_options *options, poise_clip *clip, const poise_allocator *allocator,
                                      poise_pin_result *results, poise_pin_report *report, poise_error *error);

// ---- Feet ----------------------------------------------------------------------------------------------------------------

#define POISE_FEET_FADE 0.15 // seconds: the shortest fade of the pins of feet

// How feet stand in a clip.
typedef struct poise_feet_report {
    int contacts;       // of both feet with the ground
    int frames;         // their total duration
    double skate_mean;  // speed along the ground during contacts, in length units a second
    double skate_worst; // largest
} poise_feet_report;

// Find the contacts of a human skeleton's feet with the ground, by height and speed, and make a pin for each: the ball of
// the foot stays at its mean position. Passed to poise_clip_pin, they remove foot skate from a clip. Writes up to
// `capacity` to `pins`; report->contacts is their total number. NOT_FOUND: no legs were recognised by the names of bodies.
POISE_API poise_status poise_feet_pins(const poise_model *model, const poise_clip *clip, const poise_allocator *allocator,
                                       poise_pin *pins, int capacity, poise_feet_report *report, poise_error *error);

// ---- Verdict -------------------------------------------------------------------------------------------------------------

// What to judge of an edit. Fill with poise_edit_problem_default(), set model, before and after, and of the others what you
// have.
typedef struct poise_edit_problem {
    const poise_model *model;             // the figure, of both motions
    const poise_clip *before;             // the motion as it was when pins and feet began
    const poise_clip *after;              // as it is: of as many frames
    const poise_pin *pins;                // NULL: what it was edited by
    int pin_count;                        // 0: how many
    const poise_pin_result *results;      // NULL: of each
    const poise_pin_report *report;       // NULL: of all
    const poise_overlap_problem *overlap; // NULL: overlaps are not checked; else its hulls, shapes, excluded pairs, rest and
                                          // metres
    int unread;                           // 0: collision shapes that the model's file has and that were not read
    double metres;                        // 0: per unit of length; 0: not known
    poise_thresholds thresholds;          // poise_thresholds_default
} poise_edit_problem;

// The defaults given beside the members.
static inline poise_edit_problem poise_edit_problem_default(void)
{
    poise_edit_problem problem;
    poise_init(POISE_TYPE_EDIT_PROBLEM, &problem, sizeof problem);
    return problem;
}

// Judge an edit: what it did to the body that no pin asked for, within the limits of the file or not. UNMET, JOLTED; COLLAR,
// TWISTED, DRAGGED, BENT, of the parts that the skeleton has by the names and the tree of its bodies; FAST; SELF and
// PIERCED, as shares of the changed frames, beyond what the motion had before; UNCHECKED. An elbow or a knee that is straight in the
// whole motion shows no side to which it bends, and is not judged. `findings` receives up to `capacity`, worst first; their
// frames are those around the worst one in which it is too large, or the worst one itself (UNMET, FAST, SELF, PIERCED).
// Doubtful beyond unmet 0; jolted 0; collar 0.5; twisted 1, of a forearm 2; dragged 0.35; bent 0.3; fast 1.
POISE_API poise_status poise_edit_judge(const poise_edit_problem *problem, const poise_allocator *allocator,
                                        poise_verdict *verdict, poise_finding *findings, int capacity, poise_error *error);

// ---- Clips ---------------------------------------------------------------------------------------------------------------

// How well a clip was mirrored.
typedef struct poise_mirror_report {
    int pairs;              // left and right bodies, by their names
    double worst_angle;     // largest angle of a body from its mirror image, radians; for the root's position, distance over
                            // size
    int worst_body;         // which body; POISE_NONE: none is off
    int worst_frame;        // in which frame; POISE_NONE: none is off
    double size;            // of the skeleton, in length units
    double worst_length;    // largest distance of a body from the mirror image of its counterpart
    int worst_length_body;  // which body; POISE_NONE: none is off
    int worst_length_frame; // likewise
} poise_mirror_report;

// A new, mirrored clip: the right does what the left did, across the plane between left and right of the neutral pose, or
// of the clip if the figure does not stand in its neutral pose. Sides are found by name. Limbs keep their lengths, so if
// the sides of a skeleton differ its bodies are off by that much; orientations are mirrored as rotations from the neutral
// pose, which should be symmetric. NOT_FOUND: no left and right were recognised by name. `report` may be NULL.
POISE_API poise_status poise_clip_mirror(const poise_model *model, const poise_clip *clip, const poise_allocator *allocator,
                                         poise_clip **mirrored, poise_mirror_report *report, poise_error *error);

// The axis along which a figure stands in most of a clip, for skeletons whose neutral pose does not show it. UNKNOWN: no
// legs were recognised by name, or out of memory.
POISE_API poise_up poise_clip_up(const poise_model *model, const poise_clip *clip);

// The figure of a skeleton, as poise_model_figure finds it. If it does not stand in its neutral pose, or along x, as bones
// are laid out, the upward axis is the one along which it stands in most of the clip; `clip` may be NULL.
POISE_API poise_status poise_clip_figure(const poise_model *model, const poise_clip *clip, poise_figure *figure,
                                         poise_error *error);

// A new clip: `clip` followed by `next`, blended over the last and first `blend` seconds. `next` is turned about the upward
// axis and moved along the ground so that root and heading agree in the middle of the blend, and resampled to the frame
// time of `clip`. UNSUPPORTED: the root cannot be moved that way.
POISE_API poise_status poise_clip_append(const poise_model *model, const poise_clip *clip, const poise_clip *next,
                                         double blend, poise_up up, const poise_allocator *allocator, poise_clip **joined,
                                         poise_error *error);

// A new clip that can be repeated: its last `blend` seconds, moved to where it begins, fade into its first ones, and it is
// shorter by that much. Its last frame is followed by its first, apart from the travel of the root.
POISE_API poise_status poise_clip_loop(const poise_model *model, const poise_clip *clip, double blend, poise_up up,
                                       const poise_allocator *allocator, poise_clip **looped, poise_error *error);

// Where a clip that is repeated goes: the next repetition begins turned by this much, and moved.
typedef struct poise_clip_travel {
    double turn;   // about the upward axis, radians, from -pi to pi
    double length; // along the ground, from the beginning of one repetition to that of the next, in length units
} poise_clip_travel;

// Where it goes. The frame after the last one moves on from it as the second does from the first.
POISE_API poise_status poise_clip_repeated(const poise_model *model, const poise_clip *clip, poise_up up,
                                           const poise_allocator *allocator, poise_clip_travel *travel, poise_error *error);

// A new clip that runs backwards.
POISE_API poise_status poise_clip_reverse(const poise_clip *clip, const poise_allocator *allocator, poise_clip **reversed,
                                          poise_error *error);

// A new clip of the same frame time that runs `speed` times as fast, > 0.
POISE_API poise_status poise_clip_speed(const poise_clip *clip, const poise_model *model, double speed,
                                        const poise_allocator *allocator, poise_clip **changed, poise_error *error);

#ifdef __cplusplus
}
#endif

#endif
