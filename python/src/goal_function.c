// The function of a poise.callback goal: Python's, called by a solve on whichever thread runs it.
//
// Python counts translation before rotation, as its Jacobians do; the library the other way round.
#include "extension.h"

#include <math.h>
#include <string.h>

#define STEP 1e-5 // of the differences of a gradient: in radians, and beside the coordinates of the place

enum { DIRECTIONS = 6 };

// Where Python's direction i stands in the library's arrays.
static int place_of(int i)
{
    return (i + 3) % DIRECTIONS;
}

// The frame moved by `step` along direction i: x, y, z, then about them.
static poise_pose moved(poise_pose pose, int i, double step)
{
    poise_vec3 axis = poise_vec3_make(i % 3 == 0, i % 3 == 1, i % 3 == 2);
    if (i < 3) {
        pose.position.x += step * axis.x;
        pose.position.y += step * axis.y;
        pose.position.z += step * axis.z;
    } else {
        pose.rotation = poise_quat_multiply(poise_quat_from_axis_angle(axis, step), pose.rotation);
    }
    return pose;
}

// What the function returns for a pose, as a (4, 4) matrix. NULL with an exception.
static PyObject *call(const goal_function *f, const poise_pose *pose)
{
    numbers out;
    PyObject *matrix = numbers_make(&out, 2, (const Py_ssize_t[]){4, 4});
    if (!matrix) {
        return NULL;
    }
    double R[9];
    poise_quat_to_matrix(pose->rotation, R);
    const double T[16] = {R[0], R[1], R[2], pose->position.x, R[3], R[4], R[5], pose->position.y,
                          R[6], R[7], R[8], pose->position.z, 0,    0,    0,    1};
    memcpy(out.at, T, sizeof T);
    numbers_release(&out);
    PyObject *function = f->call; // which may set the goal another
    Py_IncRef(function);
    PyObject *answer = PyObject_CallFunctionObjArgs(function, matrix, NULL);
    Py_DecRef(function);
    Py_DecRef(matrix);
    return answer;
}

// Energy and gradient of an answer, and the Hessian where it has one. False with an exception.
static bool take(PyObject *answer, double *energy, double gradient[6], double hessian[36], bool *has_hessian)
{
    Py_ssize_t count = PyTuple_Check(answer) ? PyTuple_Size(answer) : 0;
    if (count != 2 && count != 3) {
        PyErr_Format(PyExc_TypeError,
                     "the function of a goal returns energy, gradient (6,) and, if it is known, hessian (6, 6); or None, to "
                     "be left out; not %R",
                     answer);
        return false;
    }
    *has_hessian = count == 3 && PyTuple_GetItem(answer, 2) != Py_None;
    *energy = PyFloat_AsDouble(PyTuple_GetItem(answer, 0));
    return !PyErr_Occurred() && numbers_copy(PyTuple_GetItem(answer, 1), "gradient", gradient, 6) &&
           (!*has_hessian || numbers_copy(PyTuple_GetItem(answer, 2), "hessian", hessian, 36));
}

// The Hessian by central differences of the gradient; the library makes it symmetric. False with an exception.
static bool differences(const goal_function *f, const poise_pose *pose, double hessian[36])
{
    double length = fmax(1, fmax(fabs(pose->position.x), fmax(fabs(pose->position.y), fabs(pose->position.z))));
    for (int i = 0; i < DIRECTIONS; ++i) {
        double step = i < 3 ? STEP * length : STEP, gradients[2][6], energy;
        for (int side = 0; side < 2; ++side) {
            poise_pose at = moved(*pose, i, side ? step : -step);
            bool unused;
            PyObject *answer = call(f, &at);
            bool ok = answer && take(answer, &energy, gradients[side], hessian, &unused);
            Py_DecRef(answer);
            if (!ok) {
                return false;
            }
        }
        for (int k = 0; k < DIRECTIONS; ++k) {
            hessian[DIRECTIONS * i + k] = (gradients[1][k] - gradients[0][k]) / (2 * step);
        }
    }
    return true;
}

// With Python's lock: is the goal part of this evaluation? No, with an exception, where the function fails.
static bool fill(const goal_function *f, const poise_pose *pose, poise_body_energy *out)
{
    PyObject *answer = call(f, pose);
    double gradient[6], hessian[36];
    bool is_given = false, counts = answer && answer != Py_None && take(answer, &out->energy, gradient, hessian, &is_given);
    Py_DecRef(answer);
    if (!counts || (!is_given && !differences(f, pose, hessian))) {
        return false;
    }
    for (int i = 0; i < DIRECTIONS; ++i) {
        out->gradient[place_of(i)] = gradient[i];
        for (int k = 0; k < DIRECTIONS; ++k) {
            out->hessian[DIRECTIONS * place_of(i) + place_of(k)] = hessian[DIRECTIONS * i + k];
        }
    }
    return true;
}

bool goal_function_ask(void *user, const poise_pose *pose, poise_body_energy *out)
{
    goal_function *f = user;
    PyGILState_STATE state = PyGILState_Ensure();
    bool counts = !f->raised[0] && fill(f, pose, out);
    if (PyErr_Occurred() && !f->raised[0]) {
        PyErr_Fetch(&f->raised[0], &f->raised[1], &f->raised[2]);
    }
    PyGILState_Release(state);
    return counts;
}

bool goal_function_failed(goal_function *f)
{
    if (!f->raised[0]) {
        return false;
    }
    PyErr_Restore(f->raised[0], f->raised[1], f->raised[2]);
    memset(f->raised, 0, sizeof f->raised);
    return true;
}
