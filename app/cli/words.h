// Methods of a solver by the names that users give.
#ifndef POISE_CLI_WORDS_H
#define POISE_CLI_WORDS_H

#include <poise/model.h>
#include <poise/solve.h>
#include <poise/track.h>

// What every command that solves takes, in the order of its help.
#define METHODS_COMMON                                                                                                      \
    "auto newton trust_region levenberg_marquardt bfgs lbfgs conjugate_gradient damped_least_squares selectively_damped "   \
    "pseudo_inverse jacobian_transpose gradient_descent"

// By the library's name, or "newton" for the projected one. False after one line on standard error that lists the names.
bool method_by_name(const char *name, poise_method *method);

// ---- Units and axes in words ---------------------------------------------------------------------------------------------

// "x", "y", "z"; NULL for an axis that is not known.
const char *up_name(poise_up up);

// The axis of that name; UNKNOWN for NULL and anything else.
poise_up up_by_name(const char *name);

// "centimetres", or "units of 0.0564 m", which goes to `text`.
const char *unit_name(double metres, char text[32]);

// Would the figure, in this unit, be nothing like a person, and in another unit be one?
bool is_no_person(const poise_figure *figure, double metres);

// ---- Angles as people read them ------------------------------------------------------------------------------------------

#define DEGREES_PER_RADIAN (180 / 3.14159265358979323846)

// What people read for a value that is in radians or length units: degrees, or the value itself.
static inline double value_for_people(poise_unit unit, double value)
{
    return unit == POISE_UNIT_ANGLE ? value * DEGREES_PER_RADIAN : value;
}

#endif
