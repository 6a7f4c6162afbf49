// What users say and read: methods of a solver, units, axes, angles, verdicts.
#ifndef POISE_CLI_WORDS_H
#define POISE_CLI_WORDS_H

#include "command.h"
#include "json.h"

#include <poise/model.h>
#include <poise/solve.h>
#include <poise/track.h>
#include <poise/verdict.h>

#include <stdio.h>

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

// ---- Verdicts ------------------------------------------------------------------------------------------------------------

// --accept: the worst verdict of exit status 0.
poise_verdict_level verdict_level_by_name(const char *name);

// --threshold WHAT=N[,N], all of them. False after one line on standard error.
bool verdict_read_thresholds(const arguments *args, poise_thresholds *thresholds);

typedef enum verdict_subject {
    VERDICT_OF_TRACK,
    VERDICT_OF_RETARGETING,
    VERDICT_OF_BARE_RETARGETING, // of a skeleton without shapes: overlaps are null
    VERDICT_OF_PATH,
    VERDICT_OF_EDIT,
    VERDICT_OF_BARE_EDIT
} verdict_subject;

void verdict_print(const poise_verdict *verdict, const poise_finding *findings, FILE *stream);
json_node *verdict_as_json(const poise_verdict *verdict, const poise_finding *findings, verdict_subject subject);

#endif
