// The Nutty Motion Filter as a step of one number.
#ifndef PZ_EXPRESS_NUTTY_FILTER_H
#define PZ_EXPRESS_NUTTY_FILTER_H

#include <poise/filter.h>

// From position, velocity and acceleration after the last step to those after the next, dt seconds later.
void pz_nutty_step(const poise_filter_joint *joint, double setpoint, double dt, double *x, double *velocity,
                   double *acceleration);

#endif
