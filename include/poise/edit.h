// Poise: editing clips. Goals that hold for a while, feet that stay where they stand, clips mirrored, looped and joined.
//
//   poise_pin pin = poise_pin_default();
//   pin.goal = poise_goal_position(hand, poise_vec3_make(0, 0, 0), poise_vec3_make(1.2, 0.3, 0.9));
//   pin.from = 2, pin.to = 3;                                      // seconds; it fades in before and out after that
//   poise_clip_pin(model, &pin, 1, NULL, clip, NULL, &result, &report, &error);
//
// **What an edit changes.** A pin holds from `from` to `to`. Over its fades the goal moves from what the clip does to what
// the pin asks for, by S(u) = u^3 (10 - 15 u + 6 u^2), whose first two derivatives are 0 at both ends: what was smooth stays
// smooth. Frames beyond the fades keep their bits. In every other frame the answer is
//
//   min over q  sum_i w_i (q_i - original_i)^2   while the goals hold
//
// within the joint limits, w_i being how far degree of freedom i moves the skeleton; then the change is made smooth in time,
// and the least change from that taken again. So an arm follows its hand, and the hips move only as far as they must.
//
// **Limits** hold exactly. A joint that the clip itself takes beyond its limits may go as far as it does there.
#ifndef POISE_EDIT_H
#define POISE_EDIT_H

#include <poise/track.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- Pins ----------------------------------------------------------------------------------------------------------------

// Where a pin takes its target from.
typedef enum poise_pin_target {
    POISE_PIN_GIVEN = 0, // its goal, or its keys
    POISE_PIN_HERE,      // where the body is at `from`: it stays there
    POISE_PIN_PATH       // where the body is in each frame: it moves as before, whatever else is pinned
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
    const poise_pin_key *keys; // NULL; the goal goes through these, as a natural cubic spline, from the first to the last
    int key_count;             // 0: of them
    double from;               // -infinity: the beginning of the clip; of keys, the first one's time
    double to;                 // infinity: the end; of keys, the last one's time
    double fade_in;            // 0.25: seconds before `from`
    double fade_out;           // 0.25: seconds after `to`
} poise_pin;

// The defaults that stand beside the members; the goal is poise_goal_default(POISE_GOAL_POSITION).
POISE_API poise_pin poise_pin_default(void);

// How pins are met.
typedef struct poise_pin_options {
    const bool *locked;        // NULL: nv flags: degrees of freedom that no pin may move
    bool keep_feet;            // true: feet of a human skeleton that are not pinned stay on their path
    double position_tolerance; // 0: a pin that is farther off has missed; 0: 1e-6 of a metre, by `metres`
    double rotation_tolerance; // 1e-6: the same in radians
    double metres;             // 0: of a unit of length; 0: by the size of the skeleton
} poise_pin_options;

// The defaults that stand beside the members.
POISE_API poise_pin_options poise_pin_options_default(void);

// How a pin went, in the frames in which it holds in full.
typedef struct poise_pin_result {
    int first, last;      // frames that it changes, fades included; first > last: none
    int held_first;       // frames in which it holds in full
    int held_last;        // likewise
    int missed;           // of those, in which it missed
    double worst_length;  // largest error, in length units
    double worst_angle;   // the same in radians
    int worst_frame;      // in which that is; POISE_NONE: it holds everywhere
    double before_length; // largest error of the clip as it was
    double before_angle;  // the same in radians
} poise_pin_result;

// What all pins together came to.
typedef struct poise_pin_report {
    int frames;          // changed
    int missed;          // frames in which some pin missed
    int kept;            // feet that were kept on their path
    double kept_length;  // the farthest that such a foot left it, in length units
    int widened;         // coordinates that the clip itself takes beyond their limits
    int outside;         // frames outside the limits that were within them: 0
    double turn;         // largest change of a degree of freedom that turns, radians
    int turn_dof;        // which
    int turn_frame;      // when
    double speed_before; // largest speed of a degree of freedom that turns, in the frames that changed, radians a second
    double speed_after;  // the same after the edit
    int snap_frame;      // where a joint turns by more than a quarter of a radian from one frame to the next, and by twice
                         // as much as before at least; POISE_NONE: nowhere
    int snap_dof;        // which joint
    int iterations;      // of all frames
} poise_pin_report;

// Pin. Pins of one goal kind at one place of a body follow each other: where the next begins before one has faded out, it
// takes over from it. `options` NULL: the defaults. `results` (may be NULL) takes `count` of them; `report` may be NULL. On
// any status but POISE_OK the clip is as it was. A pin that is out of reach is no error: its result says how far, and the
// limb goes to the nearest place that it reaches.
POISE_API poise_status poise_clip_pin(const poise_model *model, const poise_pin *pins, int count,
                                      const poise_pin_options *options, poise_clip *clip, const poise_allocator *allocator,
                                      poise_pin_result *results, poise_pin_report *report, poise_error *error);

// ---- Feet ----------------------------------------------------------------------------------------------------------------

#define POISE_FEET_FADE 0.15 // seconds: of the pins of feet

// How feet rest in a clip.
typedef struct poise_feet_report {
    int contacts;       // of both feet with the ground
    int frames;         // that they last, all together
    double skate_mean;  // speed along the ground during contacts, in length units a second
    double skate_worst; // largest
} poise_feet_report;

// Find the contacts of a human skeleton's feet with the ground, by height and speed, and a pin for each: the ball of the
// foot stays at the mean of its places. Handed to poise_clip_pin they clean a clip of feet that skate. Up to `capacity` are
// written to `pins`; report->contacts says how many there are. NOT_FOUND: the names of bodies tell no legs.
POISE_API poise_status poise_feet_pins(const poise_model *model, const poise_clip *clip, const poise_allocator *allocator,
                                       poise_pin *pins, int capacity, poise_feet_report *report, poise_error *error);

// ---- Clips ---------------------------------------------------------------------------------------------------------------

// How a clip in the mirror came out.
typedef struct poise_mirror_report {
    int pairs;          // of bodies, left and right, by their names
    double worst_angle; // largest angle of a body from where the mirror has it, radians; of the root's place, over its size
    int worst_frame;    // in which that is; POISE_NONE: none is off
} poise_mirror_report;

// A new clip in the mirror: what the left did the right does, across the plane between left and right of the neutral pose.
// Sides are found by name. Limbs keep their lengths; orientations are mirrored as turns from the neutral pose, which should
// be symmetric. NOT_FOUND: the names tell no left and right. `report` may be NULL.
POISE_API poise_status poise_clip_mirror(const poise_model *model, const poise_clip *clip, const poise_allocator *allocator,
                                         poise_clip **mirrored, poise_mirror_report *report, poise_error *error);

// A new clip: `clip`, and `next` after it, over `blend` seconds of both of which the one fades into the other. `next` is
// turned about the upward axis and moved along the ground so that root and heading agree in the middle of that, and brought
// to the frame time of `clip`. UNSUPPORTED: the root cannot be moved so.
POISE_API poise_status poise_clip_append(const poise_model *model, const poise_clip *clip, const poise_clip *next,
                                         double blend, poise_up up, const poise_allocator *allocator, poise_clip **joined,
                                         poise_error *error);

// A new clip that can be repeated: its last `blend` seconds, brought to where it begins, fade into its first ones, and it is
// shorter by as much. After its last frame the first one comes, but for where the root has gone.
POISE_API poise_status poise_clip_loop(const poise_model *model, const poise_clip *clip, double blend, poise_up up,
                                       const poise_allocator *allocator, poise_clip **looped, poise_error *error);

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
