// The motion filter over whole configurations: set-points in, motion out that a robot can follow.
//
// Every number of a configuration goes through a filter of its own (<poise/filter.h>), within the joint's limits. Rotations
// as quaternions go as the three numbers of the rotation vector from the pose of the last reset. Rotation vectors and hinges
// without limits take the nearest of the numbers that mean the same. Where a swing is limited by an ellipse, which no filter
// of single numbers knows, the ellipse comes before the limits of velocity, acceleration and jerk.
#ifndef APP_SMOOTH_H
#define APP_SMOOTH_H

#include <poise/poise.h>

typedef struct smoother smoother;

// `text` holds words "velocity=2", "acceleration=10", "jerk=100", "smoothness=0", "responsiveness=0", "soft=0", parted by
// spaces or commas, for all joints, or "JOINT.velocity=1" for one; later words come first. NULL: defaults. "off": set-points
// come out as they are. NULL after one line on standard error.
smoother *smoother_create(const poise_model *model, const char *text);
void smoother_destroy(smoother *s); // NULL is allowed

// Come to rest at q (nq numbers), moved into the limits.
void smoother_reset(smoother *s, const double *q);

// Go on by dt seconds towards `setpoint` (nq numbers) and write the configuration (nq numbers).
void smoother_step(smoother *s, const double *setpoint, double dt, double *q);

// Has every joint come to rest at its set-point, or as good as that (1e-5, 1e-3 per second)?
bool smoother_rests(const smoother *s);

#endif
