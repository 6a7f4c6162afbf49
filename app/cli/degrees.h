// Angles as people read them.
#ifndef APP_DEGREES_H
#define APP_DEGREES_H

#include <poise/model.h>

#define DEGREES_PER_RADIAN (180 / 3.14159265358979323846)

// What people read for a value that is in radians or length units: degrees, or the value itself.
static inline double value_for_people(poise_unit unit, double value)
{
    return unit == POISE_UNIT_ANGLE ? value * DEGREES_PER_RADIAN : value;
}

#endif
