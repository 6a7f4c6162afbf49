// Arrays in the memory of a CUDA device: those of other libraries, by DLPack, and our own.
#ifndef POISE_PYTHON_DEVICE_ARRAY_H
#define POISE_PYTHON_DEVICE_ARRAY_H

#include "dlpack.h"

// ---- Of others -----------------------------------------------------------------------------------------------------------

// An array that is looked at: hold it until the device is done with it.
typedef struct device_view {
    dl_tensor tensor; // its strides may be NULL
    bool is_read_only;
    void *managed; // a dl_managed or a dl_versioned; NULL: nothing is held
    bool is_versioned;
} device_view;

// Float32 or float64 numbers of an array, ready for work on the default stream of its device. False with an exception, in
// which `what` names it.
bool device_view_take(device_view *view, PyObject *object, const char *what);
void device_view_release(device_view *view);

// Is it float64 in C order, and may be written to? False with an exception.
bool device_view_is_writable(const device_view *view, const char *what);

// Numbers from one place to the next along an axis.
int64_t device_view_stride(const device_view *view, int axis);

// ---- Our own -------------------------------------------------------------------------------------------------------------

// Memory that several arrays share; the last one releases it. Its functions need no lock of Python's: other libraries may
// give memory back at any time.
typedef struct device_block device_block;

// Takes over the memory, `release` gives it back. NULL with an exception, and the memory is given back.
device_block *device_block_make(int device, void *memory, void (*release)(int device, void *memory));
void device_block_drop(device_block *block);

// A part of a block as an array. NULL with an exception.
PyObject *device_array_make(device_block *block, void *at, dl_type type, int axes, const int64_t *shape);

bool device_array_add(PyObject *module);

#endif
