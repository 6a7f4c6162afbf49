// Poise: the motion filter. Set-points in, at any rate and with any jumps; smooth motion out, within the limits of a robot.
//
//   poise_filter_create(model, NULL, 0, NULL, &filter, &error);
//   poise_filter_reset(filter, x, &error);
//   poise_filter_step(filter, setpoints, dt, x, &error);               // every dt seconds
//
// Each joint goes to its set-point as fast as its limits of velocity, acceleration and jerk allow and comes to rest there
// without passing it, unless the set-point itself comes too near too late. The motion between two steps is a piecewise
// cubic, sampled every dt: so the differences of the output, first, second and third, over dt, dt^2 and dt^3, obey the
// limits at any rate, to rounding. Positions never leave [lower, upper].
//
// Shape, after the Nutty Motion Filter of Ribeiro & Paiva 2019 (section 3.7): `smoothness` makes a heavy, gentle character
// by lowering the accelerations that are planned with, `responsiveness` gives them back, `soft` slows the way to the ends of
// the range. The limits hold for any values. That paper's own filter (eq. 23) is a mode beside this one: it swings and
// creeps as a character would, and keeps acceleration and jerk within their limits only nearly.
//
// **Threads.** A poise_filter belongs to one thread at a time.
#ifndef POISE_FILTER_H
#define POISE_FILTER_H

#include <poise/model.h>

#ifdef __cplusplus
extern "C" {
#endif

// How a joint goes to its set-point.
typedef enum poise_filter_mode {
    POISE_FILTER_TIME_OPTIMAL = 0, // as fast as the limits allow
    POISE_FILTER_NUTTY,            // eq. 23: smoothness is its sigma, responsiveness its rho (< 1), soft its beta (0: 1)
    POISE_FILTER_OFF,              // it is there at once; the range holds
    POISE_FILTER_MODE_COUNT
} poise_filter_mode;

// One joint. Fill with poise_filter_joint_default(), change what you like. Units: those of the coordinate, and seconds.
typedef struct poise_filter_joint {
    double lower, upper;   // -infinity, infinity
    double velocity;       // 2: largest; > 0, finite
    double acceleration;   // 10
    double jerk;           // 100
    double smoothness;     // 0: in [0, 1); how gently it moves; 0: as the limits allow
    double responsiveness; // 0: in [0, 1]; how much of the smoothness to take back
    double soft; // 0: exponent of the slowing near an end of the range, >= 0; 1 slows everywhere but in the middle,
                 // 10 near the ends only; 0: none
    poise_filter_mode mode; // TIME_OPTIMAL
    double length_unit;     // 0: of a model's lengths, how many make the one that the limits count in, such as 100 for
                            // centimetres and limits in metres; 0: the model's size, the longest way from its root to a leaf
} poise_filter_joint;

// The defaults that stand beside the members.
POISE_API poise_filter_joint poise_filter_joint_default(void);

// Joints in motion: opaque.
typedef struct poise_filter poise_filter;

// A filter at rest at 0, or at the nearest number within the limits, for `count` joints of their own. One allocation.
// ARGUMENT: a number is out of range.
//
// With a `model` (NULL: none), which must outlive it, it filters configurations: poise_filter_reset and _step take and give
// nq numbers. `joints` has one entry for each joint of the model (NULL and 0: defaults); the limits are the model's.
// Rotations as quaternions go as the three numbers of the rotation vector from the pose of the last reset; rotation vectors,
// Euler angles and hinges without limits take the nearest of the numbers that mean the same. Where a swing is limited by an
// ellipse, the ellipse comes before the limits of velocity, acceleration and jerk.
POISE_API poise_status poise_filter_create(const poise_model *model, const poise_filter_joint *joints, int count,
                                           const poise_allocator *allocator, poise_filter **filter, poise_error *error);
POISE_API void poise_filter_destroy(poise_filter *filter); // NULL is allowed

// Other limits, another character or another mode for one joint, at any time: the motion goes on from where it is. `number`
// is that of a joint of the model, or, without a model, of a joint of the filter.
POISE_API poise_status poise_filter_set_joint(poise_filter *filter, int number, const poise_filter_joint *limits,
                                              poise_error *error);

// Come to rest at x (count numbers), clamped to the limits.
POISE_API poise_status poise_filter_reset(poise_filter *filter, const double *x, poise_error *error);

// Go on by dt seconds (> 0, finite) towards the set-points (count numbers; clamped to the limits) and write the positions.
// A set-point that is not finite leaves the joint's last one in force. Numbers are finite: a joint whose way is too long for
// them (limits or set-points near 1e300) stays where it is. Allocates nothing.
POISE_API poise_status poise_filter_step(poise_filter *filter, const double *setpoints, double dt, double *x,
                                         poise_error *error);

// Has every joint come to rest at its set-point, or nearly so (1e-5 away, 1e-3 per second)?
POISE_API bool poise_filter_rests(const poise_filter *filter);

// The state after the last step, of the numbers that are filtered; each may be NULL. `time_left`: seconds until a joint
// comes to rest at its set-point, 0 when it has.
POISE_API void poise_filter_state(const poise_filter *filter, double *x, double *velocity, double *acceleration,
                                  double *time_left);

#ifdef __cplusplus
}
#endif

#endif
