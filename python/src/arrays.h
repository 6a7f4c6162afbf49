// Numbers from and for Python: float64 in C order, by the buffer protocol.
#ifndef POISE_PYTHON_ARRAYS_H
#define POISE_PYTHON_ARRAYS_H

// The buffer protocol joined the limited API with 3.11. Python 3.9 and 3.10 export the same functions over the same struct,
// but hide the declarations.
#if Py_LIMITED_API < 0x030b0000
typedef struct {
    void *buf;
    PyObject *obj;
    Py_ssize_t len, itemsize;
    int readonly, ndim;
    char *format;
    Py_ssize_t *shape, *strides, *suboffsets;
    void *internal;
} Py_buffer;
PyAPI_FUNC(int) PyObject_GetBuffer(PyObject *object, Py_buffer *view, int flags);
PyAPI_FUNC(void) PyBuffer_Release(Py_buffer *view);
#define PyBUF_WRITABLE     0x0001
#define PyBUF_FORMAT       0x0004
#define PyBUF_ND           0x0008
#define PyBUF_STRIDES      (0x0010 | PyBUF_ND)
#define PyBUF_C_CONTIGUOUS (0x0020 | PyBUF_STRIDES)
#endif
#if Py_LIMITED_API < 0x030a0000
PyAPI_FUNC(const char *) PyUnicode_AsUTF8AndSize(PyObject *unicode, Py_ssize_t *size);
#endif

enum { NUMBERS_MOST_AXES = 4 };

// An array that is looked at: hold it until the numbers are no longer needed.
typedef struct numbers {
    double *at;
    int axes;
    Py_ssize_t shape[NUMBERS_MOST_AXES];
    Py_ssize_t count; // of all
    Py_buffer view;
} numbers;

// The numbers of an array, without a copy where it is float64 in C order; else of a copy that numpy makes. `what` names it
// in the exception that comes with false.
bool numbers_take(numbers *array, PyObject *object, const char *what);

// The same, and it has just `count` numbers, in any shape.
bool numbers_take_count(numbers *array, PyObject *object, const char *what, Py_ssize_t count);

// The same of one row of `width` numbers, or of rows: (width) or (N, width).
bool numbers_take_rows(numbers *array, PyObject *object, const char *what, Py_ssize_t width);

// `count` numbers into `out`, of an array or of a sequence.
bool numbers_copy(PyObject *object, const char *what, double *out, Py_ssize_t count);

void numbers_release(numbers *array);

// A new numpy array, not filled; a reference for the caller, and its numbers to write. NULL with an exception.
PyObject *numbers_make(numbers *array, int axes, const Py_ssize_t *shape);
PyObject *numbers_make_vector(numbers *array, Py_ssize_t count);

// The same for what comes of `rows` (numbers_take_rows): of one row in this shape, of several with an axis of them in front.
PyObject *numbers_make_for(numbers *array, const numbers *rows, int axes, const Py_ssize_t *shape);

// A new numpy vector that holds a copy.
PyObject *vector_of(const double *values, Py_ssize_t count);

#endif
