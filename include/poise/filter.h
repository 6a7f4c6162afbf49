// Poise: the motion filter. Turns set-points, at any rate and with any jumps, into smooth motion within the limits of a
// robot.
//
//   poise_filter_create(model, NULL, 0, NULL, &filter, &error);
//   poise_filter_reset(filter, x, &error);
//   poise_filter_step(filter, setpoints, dt, x, &error);               // every dt seconds
//
// Each joint moves to its set-point as fast as its limits of velocity, acceleration and jerk allow and comes to rest there
// without overshoot, unless the set-point jumps too close for the joint to stop in time. The motion between two steps is a
// piecewise cubic, sampled every dt, so the first, second and third differences of the output, over dt, dt^2 and dt^3, obey
// the limits at any rate, to rounding. Positions never leave [lower, upper].
//
// Shape, after the Nutty Motion Filter of Ribeiro & Paiva 2019 (section 3.7): `smoothness` makes a heavy, gentle character
// by planning with lower accelerations, `responsiveness` restores them, `soft` slows the approach to the ends of the range.
// The limits hold for any values. The paper's own filter (eq. 23) is a mode of its own: it swings and creeps as a character
// would, and keeps acceleration and jerk only approximately within their limits (jerk within twice its limit). As printed it
// depends on the rate: its command counts in units of what one step covers, so the speed that it reaches falls as steps get
// shorter. With the default limits (2 rad/s) and a set-point 1.5 rad away it reaches 1.12 rad/s at 30 steps a second, 0.58 at
// 100 and 0.14 at 1000. TIME_OPTIMAL reaches the limits at any rate.
//
// **Threads.** A poise_filter belongs to one thread at a time.
#ifndef POISE_FILTER_H
#define POISE_FILTER_H

#include <poise/model.h>

#ifdef __cplusplus
extern "C" {
#endif

// How a joint moves to its set-point.
typedef enum poise_filter_mode {
    POISE_FILTER_TIME_OPTIMAL = 0, // as fast as the limits allow
    POISE_FILTER_NUTTY,            // eq. 23: smoothness is its sigma, responsiveness its rho (< 1), soft its beta (0: 1)
    POISE_FILTER_OFF,              // at once; only the range holds
    POISE_FILTER_MODE_COUNT
} poise_filter_mode;

// One joint. Fill with poise_filter_joint_default(), change what you like. Units: those of the coordinate, and seconds.
typedef struct poise_filter_joint {
    double lower;           // -infinity: least position
    double upper;           // infinity: largest
    double velocity;        // 2: limit; > 0, finite
    double acceleration;    // 10
    double jerk;            // 100
    double smoothness;      // 0: how gently it moves, in [0, 1); 0: as fast as the limits allow
    double responsiveness;  // 0: how much of the smoothness to undo, in [0, 1]
    double soft;            // 0: exponent of the slowing near an end of the range, >= 0; 1 slows everywhere but in the
                            // middle, 10 near the ends only; 0: none
    poise_filter_mode mode; // TIME_OPTIMAL
    double length_unit;     // 0: model length units per length unit of the limits, such as 100 for a model in centimetres
                            // with limits in metres; 0: the model's size, the longest path from root to leaf
} poise_filter_joint;

// The defaults given beside the members.
static inline poise_filter_joint poise_filter_joint_default(void)
{
    poise_filter_joint joint;
    poise_init(POISE_TYPE_FILTER_JOINT, &joint, sizeof joint);
    return joint;
}

// The joints of a model as set-points for a robot or character are filtered: the defaults for each (one entry for each of its
// joints), but for a root that moves freely, which is let through (OFF). `metres`: in a length unit of the model, so that
// limits count in metres; 0: not known.
POISE_API void poise_filter_joints(const poise_model *model, double metres, poise_filter_joint *joints);

// Joints in motion: opaque.
typedef struct poise_filter poise_filter;

// A filter for `count` independent joints, at rest at 0 or at the nearest value within the limits. One allocation.
// ARGUMENT: a number is out of range.
//
// With a `model` (NULL: none), which must outlive it, it filters configurations: poise_filter_reset and _step use nq
// numbers. `joints` has one entry for each joint of the model (NULL and 0: defaults); position limits are the model's.
// Quaternions are filtered as the rotation vector from the pose of the last reset; rotation vectors, Euler angles and
// hinges without limits use the nearest of their equivalent values. A swing ellipse takes precedence over the limits of
// velocity, acceleration and jerk.
POISE_API poise_status poise_filter_create(const poise_model *model, const poise_filter_joint *joints, int count,
                                           const poise_allocator *allocator, poise_filter **filter, poise_error *error);
POISE_API void poise_filter_destroy(poise_filter *filter); // NULL is allowed

// Change the limits, character or mode of one joint at any time; the motion continues from its current state. `number` is
// the index of a joint of the model or, without a model, of the filter.
POISE_API poise_status poise_filter_set_joint(poise_filter *filter, int number, const poise_filter_joint *limits,
                                              poise_error *error);

// Set the state to rest at x (count numbers), clamped to the limits.
POISE_API poise_status poise_filter_reset(poise_filter *filter, const double *x, poise_error *error);

// Advance by dt seconds (> 0, finite) towards the set-points (count numbers; clamped to the limits) and write the positions
// to x. A non-finite set-point leaves the joint's previous one in force. The output is always finite: a joint whose motion
// would overflow (limits or set-points near 1e300) stays where it is. Allocates nothing.
POISE_API poise_status poise_filter_step(poise_filter *filter, const double *setpoints, double dt, double *x,
                                         poise_error *error);

// Has every joint come to rest at its set-point, or nearly so (1e-5 away, 1e-3 per second)?
POISE_API bool poise_filter_rests(const poise_filter *filter);

// The state of the filtered numbers after the last step; each array may be NULL. `time_left`: seconds until a joint comes
// to rest at its set-point, 0 when it has.
POISE_API void poise_filter_state(const poise_filter *filter, double *x, double *velocity, double *acceleration,
                                  double *time_left);

// The limits of velocity and acceleration that a filter keeps, by degree of freedom of its model (nv numbers each), as
// poise_step takes them; without a model by number. Infinity where it lets set-points through. Each array may be NULL.
POISE_API void poise_filter_limits(const poise_filter *filter, double *velocity, double *acceleration);

#ifdef __cplusplus
}
#endif

#endif
