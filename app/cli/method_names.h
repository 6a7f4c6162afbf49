// Methods of a solver by the names that users give.
#ifndef APP_METHOD_NAMES_H
#define APP_METHOD_NAMES_H

#include <poise/solve.h>

// What every command that solves takes, in the order of its help.
#define METHODS_COMMON                                                                                                      \
    "auto newton trust_region levenberg_marquardt bfgs lbfgs conjugate_gradient damped_least_squares selectively_damped "   \
    "pseudo_inverse jacobian_transpose gradient_descent"

// By the library's name, or "newton" for the projected one. False after one line on standard error that lists the names.
bool method_by_name(const char *name, poise_method *method);

#endif
