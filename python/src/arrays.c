// Numbers from and for Python: float64 in C order, by the buffer protocol.
#include "extension.h"

#include <string.h>

static PyObject *numpy_empty, *numpy_ascontiguousarray, *float64;

bool arrays_ready(void)
{
    PyObject *numpy = PyImport_ImportModule("numpy");
    if (!numpy) {
        return false;
    }
    numpy_empty = PyObject_GetAttrString(numpy, "empty");
    numpy_ascontiguousarray = PyObject_GetAttrString(numpy, "ascontiguousarray");
    float64 = PyObject_GetAttrString(numpy, "float64");
    Py_DecRef(numpy);
    return numpy_empty && numpy_ascontiguousarray && float64;
}

// Look at a buffer that is float64 in C order. False, without an exception, when it is anything else.
static bool look(numbers *array, PyObject *object, int flags)
{
    if (PyObject_GetBuffer(object, &array->view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | flags) != 0) {
        PyErr_Clear();
        return false;
    }
    const char *format = array->view.format;
    if (!format || (strcmp(format, "d") != 0 && strcmp(format, "<d") != 0) || array->view.ndim > NUMBERS_MOST_AXES) {
        PyBuffer_Release(&array->view);
        return false;
    }
    array->at = array->view.buf;
    array->axes = array->view.ndim;
    array->count = array->view.len / (Py_ssize_t)sizeof(double);
    for (int i = 0; i < array->axes; ++i) {
        array->shape[i] = array->view.shape[i];
    }
    return true;
}

// What an object of another library says it is as a matrix: a rotation of scipy or mink, an SE3 of pinocchio. NULL: nothing.
static PyObject *matrix_of(PyObject *object)
{
    PyObject *matrix = PyObject_HasAttrString(object, "as_matrix")     ? PyObject_CallMethod(object, "as_matrix", NULL)
                       : PyObject_HasAttrString(object, "homogeneous") ? PyObject_GetAttrString(object, "homogeneous")
                                                                       : NULL;
    if (!matrix) {
        PyErr_Clear();
    }
    return matrix;
}

// A copy as float64 in C order of what numpy makes of an object, if that is whole or real numbers: of complex ones it would
// drop a part, and text it would parse. NULL, maybe with an exception that says why.
static PyObject *convert(PyObject *object)
{
    PyObject *matrix = matrix_of(object);
    PyObject *given = PyObject_CallFunctionObjArgs(numpy_ascontiguousarray, matrix ? matrix : object, NULL);
    PyObject *type = given ? PyObject_GetAttrString(given, "dtype") : NULL;
    PyObject *kind = type ? PyObject_GetAttrString(type, "kind") : NULL;
    const char *letter = kind ? PyUnicode_AsUTF8AndSize(kind, NULL) : NULL;
    PyObject *copy = letter && strchr("biuf", letter[0])
                         ? PyObject_CallFunctionObjArgs(numpy_ascontiguousarray, given, float64, NULL)
                         : NULL;
    if (letter && !copy && !PyErr_Occurred() && PySequence_Check(object) && !PyUnicode_Check(object)) {
        PyErr_Format(PyExc_TypeError, "its dtype is %S; numpy.%s", type,
                     letter[0] == 'c' ? "real(...) takes the real parts" : "asarray(..., float) converts it");
    }
    Py_DecRef(matrix);
    Py_DecRef(given);
    Py_DecRef(type);
    Py_DecRef(kind);
    return copy;
}

// A TypeError, with the reason, if there is one: a tensor that wants to be detached, rows of different lengths.
static void refuse(PyObject *object, const char *what)
{
    PyObject *type, *reason, *trace;
    PyErr_Fetch(&type, &reason, &trace);
    PyErr_Format(PyExc_TypeError, reason ? "%s: expected numbers, got %R: %S" : "%s: expected numbers, got %R", what,
                 (PyObject *)Py_TYPE(object), reason);
    Py_DecRef(type);
    Py_DecRef(reason);
    Py_DecRef(trace);
}

bool numbers_take(numbers *array, PyObject *object, const char *what)
{
    if (look(array, object, 0)) {
        return true;
    }
    PyObject *copy = convert(object);
    if (!copy) {
        refuse(object, what);
        return false;
    }
    bool found = look(array, copy, 0);
    Py_DecRef(copy); // the view holds it
    if (!found) {
        PyErr_Format(PyExc_ValueError, "%s: expected an array of at most %d axes", what, (int)NUMBERS_MOST_AXES);
    }
    return found;
}

bool numbers_take_count(numbers *array, PyObject *object, const char *what, Py_ssize_t count)
{
    if (!numbers_take(array, object, what)) {
        return false;
    }
    if (array->count != count) {
        PyErr_Format(PyExc_ValueError, "%s: expected %zd numbers, got %zd", what, count, array->count);
        numbers_release(array);
        return false;
    }
    return true;
}

bool numbers_take_rows(numbers *array, PyObject *object, const char *what, Py_ssize_t width)
{
    if (!numbers_take(array, object, what)) {
        return false;
    }
    if (array->axes < 1 || array->axes > 2 || array->shape[array->axes - 1] != width) {
        PyErr_Format(PyExc_ValueError, "%s: expected %zd numbers, or rows of as many", what, width);
        numbers_release(array);
        return false;
    }
    return true;
}

bool numbers_copy(PyObject *object, const char *what, double *out, Py_ssize_t count)
{
    if (PyTuple_Check(object) && PyTuple_Size(object) == count) { // the usual way to write a point; numpy is slower
        for (Py_ssize_t i = 0; i < count; ++i) {
            out[i] = PyFloat_AsDouble(PyTuple_GetItem(object, i));
        }
        if (!PyErr_Occurred()) {
            return true;
        }
        PyErr_Clear();
    }
    numbers array;
    if (!numbers_take_count(&array, object, what, count)) {
        return false;
    }
    memcpy(out, array.at, (size_t)count * sizeof *out);
    numbers_release(&array);
    return true;
}

void numbers_release(numbers *array)
{
    PyBuffer_Release(&array->view);
}

// An array of this shape, which the call takes over.
static PyObject *make_of(numbers *array, PyObject *shape)
{
    PyObject *made = shape ? PyObject_CallFunctionObjArgs(numpy_empty, shape, NULL) : NULL;
    Py_DecRef(shape);
    if (made && !look(array, made, PyBUF_WRITABLE)) {
        PyErr_SetString(PyExc_RuntimeError, "numpy.empty gave no writable array of float64");
        Py_DecRef(made);
        made = NULL;
    }
    return made;
}

PyObject *numbers_make(numbers *array, int axes, const Py_ssize_t *shape)
{
    PyObject *tuple = PyTuple_New(axes);
    for (int i = 0; tuple && i < axes; ++i) {
        PyTuple_SetItem(tuple, i, PyLong_FromSsize_t(shape[i]));
    }
    return make_of(array, tuple);
}

PyObject *numbers_make_vector(numbers *array, Py_ssize_t count)
{
    return make_of(array, PyLong_FromSsize_t(count));
}

PyObject *numbers_make_for(numbers *array, const numbers *rows, int axes, const Py_ssize_t *shape)
{
    Py_ssize_t whole[NUMBERS_MOST_AXES] = {rows->shape[0]};
    int front = rows->axes - 1;
    memcpy(whole + front, shape, (size_t)axes * sizeof *shape);
    return numbers_make(array, front + axes, whole);
}

PyObject *vector_of(const double *values, Py_ssize_t count)
{
    numbers array;
    PyObject *made = numbers_make_vector(&array, count);
    if (made) {
        memcpy(array.at, values, (size_t)count * sizeof *values);
        numbers_release(&array);
    }
    return made;
}
