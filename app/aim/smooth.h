// The motion filter over configurations (<poise/filter.h>), set up by words.
#ifndef APP_SMOOTH_H
#define APP_SMOOTH_H

#include <poise/poise.h>

typedef struct smoother smoother;

// `text` holds words "velocity=2", "acceleration=10", "jerk=100", "smoothness=0", "responsiveness=0", "soft=0", separated by
// spaces or commas, for all joints, or "JOINT.velocity=1" for one; later words come first; "nutty" is the paper's filter. A
// root that moves freely is left alone unless it is named. Lengths count in metres, of which a unit of the model has
// `metres`, or, where that is 0, in the size of the model. NULL: defaults. "off": set-points come out as they are. NULL
// after one line on standard error.
smoother *smoother_create(const poise_model *model, double metres, const char *text);
void smoother_destroy(smoother *s); // NULL is allowed

// The limits of velocity and acceleration by dof (nv numbers each), for poise_step; infinity where nothing is filtered.
void smoother_limits(const smoother *s, double *velocity, double *acceleration);

// As poise_filter_reset, _step and _rests.
void smoother_reset(smoother *s, const double *q);
void smoother_step(smoother *s, const double *setpoint, double dt, double *q);
bool smoother_rests(const smoother *s);

#endif
