// Arrays in the memory of a CUDA device: those of other libraries, by DLPack, and our own.
#include "extension.h"

#include "device_array.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_AXES = 3 };

static const char *const capsule_name[] = {"dltensor", "dltensor_versioned"};
static const char *const used_name[] = {"used_dltensor", "used_dltensor_versioned"};

// ---- Of others -----------------------------------------------------------------------------------------------------------

bool device_holds(PyObject *object)
{
    PyObject *place = PyObject_CallMethod(object, "__dlpack_device__", NULL);
    PyObject *kind = place && PyTuple_Check(place) && PyTuple_Size(place) == 2 ? PyTuple_GetItem(place, 0) : NULL;
    long number = kind ? PyLong_AsLong(kind) : 0;
    Py_DecRef(place);
    PyErr_Clear();
    return number == DL_CUDA || number == DL_CUDA_MANAGED;
}

// The capsule of an array, whose producer makes the default stream wait for what it has queued. Old producers do not know of
// versions. NULL with an exception.
static PyObject *capsule_of(PyObject *object)
{
    PyObject *call = PyObject_GetAttrString(object, "__dlpack__"), *none = PyTuple_New(0);
    PyObject *words = Py_BuildValue("{s:i,s:(ii)}", "stream", 1, "max_version", 1, 0);
    PyObject *capsule = call && none && words ? PyObject_Call(call, none, words) : NULL;
    if (!capsule && call && words && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        capsule = PyDict_DelItemString(words, "max_version") == 0 ? PyObject_Call(call, none, words) : NULL;
    }
    Py_DecRef(call);
    Py_DecRef(none);
    Py_DecRef(words);
    return capsule;
}

// What a capsule holds, which is ours from then on. False with an exception.
static bool open_capsule(device_view *view, PyObject *capsule, const char *what)
{
    view->is_versioned = PyCapsule_IsValid(capsule, capsule_name[1]);
    if (!view->is_versioned && !PyCapsule_IsValid(capsule, capsule_name[0])) {
        PyErr_Format(PyExc_TypeError, "%s: __dlpack__ gave no DLPack capsule that is unused", what);
        return false;
    }
    void *held = PyCapsule_GetPointer(capsule, capsule_name[view->is_versioned]);
    const dl_versioned *versioned = view->is_versioned ? held : NULL;
    if (versioned && versioned->major != 1) {
        PyErr_Format(PyExc_BufferError, "%s: expected an array of DLPack 1, got %d", what, (int)versioned->major);
        return false;
    }
    if (PyCapsule_SetName(capsule, used_name[view->is_versioned]) != 0) {
        return false;
    }
    view->managed = held;
    view->tensor = versioned ? versioned->tensor : ((const dl_managed *)held)->tensor;
    view->is_read_only = versioned && (versioned->flags & DL_READ_ONLY);
    return true;
}

static const char *type_name(dl_type type)
{
    static const char *const names[] = {
        [DL_INTEGER] = "int", [DL_UNSIGNED] = "uint", [DL_FLOAT] = "float", [DL_COMPLEX] = "complex", [DL_BOOL] = "bool"};
    const char *name = type.kind < sizeof names / sizeof *names ? names[type.kind] : NULL;
    return name ? name : "unknown";
}

static bool is_fit(const dl_tensor *t, const char *what)
{
    if (t->device.kind != DL_CUDA && t->device.kind != DL_CUDA_MANAGED) {
        PyErr_Format(PyExc_ValueError, "%s: expected memory of a CUDA device", what);
    } else if (t->type.kind != DL_FLOAT || t->type.lanes != 1 || (t->type.bits != 32 && t->type.bits != 64)) {
        PyErr_Format(PyExc_TypeError, "%s: expected float32 or float64 on a device, got %s%d", what, type_name(t->type),
                     (int)t->type.bits);
    } else if (t->axes < 1 || t->axes > MOST_AXES) {
        PyErr_Format(PyExc_ValueError, "%s: expected an array of 1 to %d axes, got one of %d", what, (int)MOST_AXES,
                     (int)t->axes);
    } else {
        return true;
    }
    return false;
}

bool device_view_take(device_view *view, PyObject *object, const char *what)
{
    *view = (device_view){.managed = NULL};
    PyObject *capsule = capsule_of(object);
    bool ok = capsule && open_capsule(view, capsule, what) && is_fit(&view->tensor, what);
    Py_DecRef(capsule);
    if (!ok) {
        device_view_release(view);
    }
    return ok;
}

// Also with an exception set, which the owner, if it runs Python, must not see.
void device_view_release(device_view *view)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    if (view->managed && view->is_versioned) {
        dl_versioned *held = view->managed;
        if (held->destroy) {
            held->destroy(held);
        }
    } else if (view->managed) {
        dl_managed *held = view->managed;
        if (held->destroy) {
            held->destroy(held);
        }
    }
    view->managed = NULL;
    PyErr_Restore(type, value, trace);
}

int64_t device_view_stride(const device_view *view, int axis)
{
    const dl_tensor *t = &view->tensor;
    if (t->strides) {
        return t->strides[axis];
    }
    int64_t stride = 1;
    for (int i = t->axes - 1; i > axis; --i) {
        stride *= t->shape[i];
    }
    return stride;
}

bool device_view_is_writable(const device_view *view, const char *what)
{
    const dl_tensor *t = &view->tensor;
    int64_t stride = 1;
    bool is_dense = true;
    for (int i = t->axes - 1; i >= 0; --i) {
        is_dense = is_dense && (t->shape[i] <= 1 || device_view_stride(view, i) == stride);
        stride *= t->shape[i];
    }
    if (view->is_read_only) {
        PyErr_Format(PyExc_ValueError, "%s: the array is read-only", what);
    } else if (t->type.bits != 64) {
        PyErr_Format(PyExc_TypeError, "%s: answers are float64, and so must be the array", what);
    } else if (!is_dense) {
        PyErr_Format(PyExc_ValueError, "%s: expected an array in C order, without gaps", what);
    } else {
        return true;
    }
    return false;
}

// ---- Our own -------------------------------------------------------------------------------------------------------------

struct device_block {
    atomic_int uses;
    int device;
    void *memory;
    void (*release)(int device, void *memory);
};

device_block *device_block_make(int device, void *memory, void (*release)(int device, void *memory))
{
    device_block *block = malloc(sizeof *block);
    if (!block) {
        release(device, memory);
        PyErr_NoMemory();
        return NULL;
    }
    *block = (device_block){.device = device, .memory = memory, .release = release};
    atomic_init(&block->uses, 1);
    return block;
}

void device_block_drop(device_block *block)
{
    if (block && atomic_fetch_sub(&block->uses, 1) == 1) {
        block->release(block->device, block->memory);
        free(block);
    }
}

typedef struct array_object {
    PyObject ob_base;
    device_block *block;
    void *at;
    dl_type type;
    int axes;
    int64_t shape[MOST_AXES];
} array_object;

static PyTypeObject *array_type;

PyObject *device_array_make(device_block *block, void *at, dl_type type, int axes, const int64_t *shape)
{
    array_object *self = (array_object *)PyType_GenericAlloc(array_type, 0);
    if (self) {
        atomic_fetch_add(&block->uses, 1);
        self->block = block;
        self->at = at;
        self->type = type;
        self->axes = axes;
        memcpy(self->shape, shape, (size_t)axes * sizeof *shape);
    }
    return (PyObject *)self;
}

static void array_dealloc(PyObject *self)
{
    device_block_drop(((array_object *)self)->block);
    object_release(self);
}

static PyObject *array_shape(PyObject *self, void *unused)
{
    (void)unused;
    const array_object *a = (const array_object *)self;
    PyObject *shape = PyTuple_New(a->axes);
    for (int i = 0; shape && i < a->axes; ++i) {
        PyTuple_SetItem(shape, i, PyLong_FromLongLong(a->shape[i]));
    }
    return shape;
}

static PyObject *array_dtype(PyObject *self, void *unused)
{
    (void)unused;
    dl_type type = ((array_object *)self)->type;
    return type.kind == DL_BOOL ? PyUnicode_FromString("bool")
                                : PyUnicode_FromFormat("%s%d", type_name(type), (int)type.bits);
}

static PyObject *array_device(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromFormat("cuda:%d", ((array_object *)self)->block->device);
}

static Py_ssize_t array_length(PyObject *self)
{
    return (Py_ssize_t)((array_object *)self)->shape[0];
}

static PyObject *array_repr(PyObject *self)
{
    PyObject *shape = array_shape(self, NULL), *type = array_dtype(self, NULL);
    PyObject *text = shape && type
                         ? PyUnicode_FromFormat("<poise.DeviceArray: %R %U on cuda:%d; torch.from_dlpack takes it>", shape,
                                                type, ((array_object *)self)->block->device)
                         : NULL;
    Py_DecRef(shape);
    Py_DecRef(type);
    return text;
}

// For CuPy and Numba: the CUDA array interface, version 3. All work is done, so that there is no stream to wait for.
static PyObject *array_interface(PyObject *self, void *unused)
{
    (void)unused;
    const array_object *a = (const array_object *)self;
    const char *type = a->type.kind == DL_BOOL ? "|b1" : a->type.kind == DL_INTEGER ? "<i4" : "<f8";
    return Py_BuildValue("{s:N,s:s,s:(NO),s:O,s:i,s:O}", "shape", array_shape(self, NULL), "typestr", type, "data",
                         PyLong_FromVoidPtr(a->at), Py_False, "strides", Py_None, "version", 3, "stream", Py_None);
}

// ---- Our own, for others -------------------------------------------------------------------------------------------------

// What a capsule of ours holds: the struct of either version, and what it points to.
typedef struct export
{
    union {
        dl_managed old;
        dl_versioned versioned;
    } as;
    int64_t shape[MOST_AXES], strides[MOST_AXES];
    device_block *block;
}
export;

static void export_destroy(export *e)
{
    device_block_drop(e->block);
    free(e);
}

static void destroy_old(dl_managed *self)
{
    export_destroy(self->owner);
}

static void destroy_versioned(dl_versioned *self)
{
    export_destroy(self->owner);
}

// Of a capsule that nobody took.
static void capsule_dealloc(PyObject *capsule)
{
    for (int i = 0; i < 2; ++i) {
        if (PyCapsule_IsValid(capsule, capsule_name[i])) {
            void *held = PyCapsule_GetPointer(capsule, capsule_name[i]);
            export_destroy(i == 1 ? ((dl_versioned *)held)->owner : ((dl_managed *)held)->owner);
            return;
        }
    }
}

static PyObject *export_make(const array_object *a, bool is_versioned)
{
    export *e = calloc(1, sizeof *e);
    if (!e) {
        return PyErr_NoMemory();
    }
    int64_t stride = 1;
    for (int i = a->axes - 1; i >= 0; --i) {
        e->shape[i] = a->shape[i];
        e->strides[i] = stride;
        stride *= a->shape[i];
    }
    e->block = a->block;
    atomic_fetch_add(&e->block->uses, 1);
    dl_tensor tensor = {.data = a->at,
                        .device = {DL_CUDA, a->block->device},
                        .axes = a->axes,
                        .type = a->type,
                        .shape = e->shape,
                        .strides = e->strides};
    if (is_versioned) {
        e->as.versioned = (dl_versioned){.major = 1, .owner = e, .destroy = destroy_versioned, .tensor = tensor};
    } else {
        e->as.old = (dl_managed){.tensor = tensor, .owner = e, .destroy = destroy_old};
    }
    PyObject *capsule = PyCapsule_New(&e->as, capsule_name[is_versioned], capsule_dealloc);
    if (!capsule) {
        export_destroy(e);
    }
    return capsule;
}

static PyObject *array_dlpack(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"stream", "max_version", "dl_device", "copy", NULL};
    const array_object *a = (const array_object *)self;
    PyObject *stream = Py_None, *version = Py_None, *device = Py_None, *copy = Py_None;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|$OOOO:__dlpack__", names, &stream, &version, &device, &copy)) {
        return NULL;
    }
    int kind = DL_CUDA, number = a->block->device, major = 0, minor = 0;
    if ((device != Py_None && !PyArg_ParseTuple(device, "ii", &kind, &number)) ||
        (version != Py_None && !PyArg_ParseTuple(version, "ii", &major, &minor))) {
        return NULL;
    }
    if (kind != DL_CUDA || number != a->block->device || copy == Py_True) {
        PyErr_Format(PyExc_BufferError, "the array cannot leave cuda:%d: import it there without a copy", a->block->device);
        return NULL;
    }
    return export_make(a, major >= 1);
}

static PyObject *array_dlpack_device(PyObject *self, PyObject *unused)
{
    (void)unused;
    return Py_BuildValue("(ii)", (int)DL_CUDA, ((array_object *)self)->block->device);
}

static PyMethodDef array_methods[] = {
    {"__dlpack__", (PyCFunction)(void (*)(void))array_dlpack, METH_VARARGS | METH_KEYWORDS,
     "__dlpack__($self, *, stream=None, max_version=None, dl_device=None, copy=None)\n--\n\nFor torch.from_dlpack and its "
     "like."},
    {"__dlpack_device__", array_dlpack_device, METH_NOARGS,
     "__dlpack_device__($self)\n--\n\nKind and number of the device."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef array_attributes[] = {
    {"shape", array_shape, NULL, "numbers along each axis", NULL},
    {"dtype", array_dtype, NULL, "\"float64\", \"int32\" or \"bool\"", NULL},
    {"device", array_device, NULL, "\"cuda:0\" and so on", NULL},
    {"__cuda_array_interface__", array_interface, NULL, "for cupy.asarray and its like", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot array_slots[] = {
    {Py_tp_doc,
     "An array in the memory of a CUDA device, which solve_batch made. torch.from_dlpack(array), cupy.from_dlpack(array)\n"
     "and jax.dlpack.from_dlpack(array) take it without a copy."},
    {Py_tp_new, new_refused},
    {Py_tp_dealloc, array_dealloc},
    {Py_tp_repr, array_repr},
    {Py_mp_length, array_length},
    {Py_tp_getset, array_attributes},
    {Py_tp_methods, array_methods},
    {0, NULL},
};

static PyType_Spec array_spec = {
    .name = "poise.DeviceArray", .basicsize = sizeof(array_object), .flags = Py_TPFLAGS_DEFAULT, .slots = array_slots};

bool device_array_add(PyObject *module)
{
    array_type = (PyTypeObject *)type_add(module, &array_spec);
    return array_type != NULL;
}
