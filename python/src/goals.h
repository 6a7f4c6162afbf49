// A Goal as Python holds it: what goals.c, which makes them, and goal_type.c, their type, share.
#ifndef POISE_PYTHON_GOALS_H
#define POISE_PYTHON_GOALS_H

#include "extension.h"

enum { GOAL_ARRAYS = 3 }; // q, q_before, weights

typedef struct goal_object {
    PyObject ob_base;
    poise_goal goal; // body and body2 not yet known
    PyObject *body, *body2;
    numbers arrays[GOAL_ARRAYS]; // what the goal points to
    bool has_array[GOAL_ARRAYS];
    goal_function function;
} goal_object;

extern PyTypeObject *goal_type;

// Set a parameter by its name. False with an exception, also where goals of this kind have none of that name.
bool goal_set(goal_object *goal, const char *name, PyObject *value);

// Its value, as Python sees it. NULL with an AttributeError where goals of this kind have none of that name.
PyObject *goal_get(const goal_object *goal, const char *name);

// Are its numbers what a solve takes? False with an exception. Arrays, and names of bodies, are for the solve to look at.
bool goal_is_sound(const goal_object *goal);

// The method Goal.each.
PyObject *goal_each(PyObject *self, PyObject *targets);

// Add the type to the module, and what pickle calls. False with an exception.
bool goal_type_add(PyObject *module);

#endif
