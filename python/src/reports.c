// Report: how one solve went. Members are read from C when they are asked for.
#include "extension.h"

#include <stdio.h>
#include <string.h>

typedef struct report_object {
    PyObject ob_base;
    poise_report report;
    bool reached;
    int count;
    poise_goal_error *errors;
    poise_goal_error first;       // where there is only one
    PyObject *nearest, *blocking; // NULL: none
    PyObject *reason;             // of a report from another process; NULL: report.reason
} report_object;

static PyTypeObject *report_type, *goal_error_type;

PyObject *report_wrap(const poise_report *report, bool reached, const poise_goal_error *errors, int count)
{
    report_object *self = (report_object *)PyType_GenericAlloc(report_type, 0);
    if (!self) {
        return NULL;
    }
    self->report = *report;
    self->reached = reached;
    self->count = errors ? count : 0;
    self->errors = &self->first;
    if (self->count > 1) {
        self->errors = PyMem_Malloc((size_t)count * sizeof *errors);
        if (!self->errors) {
            self->count = 0;
            Py_DecRef((PyObject *)self);
            return PyErr_NoMemory();
        }
    }
    if (self->count > 0) {
        memcpy(self->errors, errors, (size_t)count * sizeof *errors);
    }
    return (PyObject *)self;
}

void report_set_names(PyObject *report, PyObject *nearest, PyObject *blocking)
{
    report_object *r = (report_object *)report;
    r->nearest = nearest;
    r->blocking = blocking;
}

static void report_dealloc(PyObject *self)
{
    report_object *r = (report_object *)self;
    if (r->count > 1) {
        PyMem_Free(r->errors);
    }
    Py_DecRef(r->nearest);
    Py_DecRef(r->blocking);
    Py_DecRef(r->reason);
    object_release(self);
}

PyObject *or_none(PyObject *object)
{
    object = object ? object : Py_None;
    Py_IncRef(object);
    return object;
}

static PyObject *report_reason(PyObject *self, void *closure)
{
    (void)closure;
    const report_object *r = (const report_object *)self;
    if (r->reason) {
        return or_none(r->reason);
    }
    return r->blocking && !r->reached ? PyUnicode_FromFormat("%s; in the way: %U", r->report.reason, r->blocking)
                                      : PyUnicode_FromString(r->report.reason);
}

static PyObject *report_nearest(PyObject *self, void *closure)
{
    (void)closure;
    return or_none(((report_object *)self)->nearest);
}

static PyObject *report_blocking(PyObject *self, void *closure)
{
    (void)closure;
    return or_none(((report_object *)self)->blocking);
}

// None where no shapes were kept apart.
static PyObject *report_clearance(PyObject *self, void *closure)
{
    (void)closure;
    const report_object *r = (const report_object *)self;
    return r->nearest ? PyFloat_FromDouble(r->report.clearance) : or_none(NULL);
}

static PyObject *report_reached(PyObject *self, void *closure)
{
    (void)closure;
    return PyBool_FromLong(((report_object *)self)->reached);
}

static PyObject *report_errors(PyObject *self, void *closure)
{
    (void)closure;
    const report_object *r = (const report_object *)self;
    PyObject *list = PyList_New(r->count);
    for (int i = 0; list && i < r->count; ++i) {
        PyObject *entry = PyStructSequence_New(goal_error_type);
        if (!entry) {
            Py_DecRef(list);
            return NULL;
        }
        PyStructSequence_SetItem(entry, 0, PyFloat_FromDouble(r->errors[i].error));
        PyStructSequence_SetItem(entry, 1, PyUnicode_FromString(poise_name(POISE_TYPE_UNIT, r->errors[i].unit)));
        PyStructSequence_SetItem(entry, 2, PyFloat_FromDouble(r->errors[i].rotation_error));
        PyList_SetItem(list, i, entry);
    }
    return list;
}

static PyObject *report_repr(PyObject *self)
{
    const poise_report *r = &((report_object *)self)->report;
    char text[128];
    snprintf(text, sizeof text, "<poise.Report: %s, %d iteration%s, off by %.3g (length) and %.3g rad>",
             poise_outcome_name(r->outcome), r->iterations, r->iterations == 1 ? "" : "s", r->worst_length, r->worst_angle);
    return PyUnicode_FromString(text);
}

static int report_bool(PyObject *self)
{
    return ((report_object *)self)->reached;
}

// ---- To other processes --------------------------------------------------------------------------------------------------

// What report_restore takes.
// The numbers of a report alone: addresses mean nothing in another process, and equal reports have equal pickles.
static PyObject *report_bytes(const poise_report *report)
{
    poise_report plain = *report;
    plain.reason = NULL;
    return PyBytes_FromStringAndSize((const char *)&plain, (Py_ssize_t)sizeof plain);
}

static PyObject *error_bytes(const poise_goal_error *errors, int count)
{
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)((size_t)count * sizeof *errors));
    char *to = bytes ? PyBytes_AsString(bytes) : NULL;
    for (int i = 0; i < count && to; ++i) {
        poise_goal_error plain;
        memset(&plain, 0, sizeof plain); // with what lies between the members
        plain.error = errors[i].error;
        plain.unit = errors[i].unit;
        plain.rotation_error = errors[i].rotation_error;
        memcpy(to + (size_t)i * sizeof plain, &plain, sizeof plain);
    }
    return bytes;
}

static PyObject *report_reduce(PyObject *self, PyObject *unused)
{
    (void)unused;
    const report_object *r = (const report_object *)self;
    PyObject *module = PyImport_ImportModule("poise._poise");
    PyObject *restore = module ? PyObject_GetAttrString(module, "restore_report") : NULL;
    PyObject *reason = restore ? report_reason(self, NULL) : NULL;
    PyObject *plain = reason ? report_bytes(&r->report) : NULL;
    PyObject *errors = plain ? error_bytes(r->errors, r->count) : NULL;
    PyObject *result = NULL;
    if (errors) {
        result = Py_BuildValue("N(OOiNNO)", restore, plain, errors, (int)r->reached, or_none(r->nearest),
                               or_none(r->blocking), reason);
    } else {
        Py_DecRef(restore);
    }
    Py_DecRef(errors);
    Py_DecRef(plain);
    Py_DecRef(reason);
    Py_DecRef(module);
    return result;
}

static PyObject *not_none(PyObject *object)
{
    Py_IncRef(object);
    return object == Py_None ? NULL : object;
}

static PyObject *restore_report(PyObject *module, PyObject *arguments)
{
    (void)module;
    const char *bytes, *error_bytes;
    Py_ssize_t size, error_size;
    int reached;
    PyObject *nearest, *blocking, *reason;
    poise_report report;
    if (!PyArg_ParseTuple(arguments, "y#y#iOOU", &bytes, &size, &error_bytes, &error_size, &reached, &nearest, &blocking,
                          &reason)) {
        return NULL;
    }
    Py_ssize_t count = error_size / (Py_ssize_t)sizeof(poise_goal_error);
    if (size != sizeof report || error_size != count * (Py_ssize_t)sizeof(poise_goal_error) || count > 1000000) {
        PyErr_SetString(PyExc_ValueError, "a report of another version of Poise");
        return NULL;
    }
    poise_goal_error *errors = PyMem_Malloc((size_t)error_size + 1);
    if (!errors) {
        return PyErr_NoMemory();
    }
    memcpy(&report, bytes, sizeof report);
    memcpy(errors, error_bytes, (size_t)error_size);
    report.reason = "";
    bool is_sound = (unsigned)report.outcome <= POISE_OUTCOME_INFEASIBLE;
    for (Py_ssize_t i = 0; i < count; ++i) {
        is_sound = is_sound && (unsigned)errors[i].unit <= 2;
    }
    report_object *made = is_sound ? (report_object *)report_wrap(&report, reached, errors, (int)count) : NULL;
    PyMem_Free(errors);
    if (made) {
        made->nearest = not_none(nearest);
        made->blocking = not_none(blocking);
        made->reason = reason;
        Py_IncRef(reason);
    } else if (!is_sound) {
        PyErr_SetString(PyExc_ValueError, "a report of another version of Poise");
    }
    return (PyObject *)made;
}

static PyMethodDef report_methods[] = {
    {"__reduce__", report_reduce, METH_NOARGS, "For pickle."},
    {NULL, NULL, 0, NULL},
};

static PyMethodDef functions[] = {
    {"restore_report", restore_report, METH_VARARGS,
     "restore_report(report, errors, reached, nearest, blocking, reason, /)\n--\n\nWhat pickle calls."},
    {NULL, NULL, 0, NULL},
};

// ---- The types -----------------------------------------------------------------------------------------------------------

// Besides the members of poise_report.
static const PyGetSetDef report_attributes[] = {
    {"reason", report_reason, NULL, "in words", NULL},
    {"reached", report_reached, NULL,
     "is every goal met to its tolerance, but for postures and smoothness, which only pull, and does every constraint hold? "
     "So is the truth value.",
     NULL},
    {"clearance", report_clearance, NULL, "least distance of shapes that were kept apart, < 0: overlap; None without any",
     NULL},
    {"nearest", report_nearest, NULL, "the names of those two: bodies, \"obstacle 1 (box)\"; None without any", NULL},
    {"blocking", report_blocking, NULL, "what is in the way: the constraint with least room, if any is near", NULL},
    {"errors", report_errors, NULL, "by goal: (error, unit, rotation_error)", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot report_slots[] = {
    {Py_tp_doc, "How a solve went. It is true when every goal was reached."},
    {Py_tp_new, new_refused},
    {Py_tp_dealloc, report_dealloc},
    {Py_tp_repr, report_repr},
    {Py_nb_bool, report_bool},
    {Py_tp_methods, report_methods},
    {Py_tp_getset, NULL}, // reports_add
    {0, NULL},
};

static PyType_Spec report_spec = {
    .name = "poise.Report", .basicsize = sizeof(report_object), .flags = Py_TPFLAGS_DEFAULT, .slots = report_slots};

static PyStructSequence_Field goal_error_fields[] = {
    {"error", "in `unit`, beyond the goal's tolerance"},
    {"unit", "\"length\", \"angle\" or \"none\""},
    {"rotation_error", "radians; of poses, else 0"},
    {NULL, NULL},
};

static PyStructSequence_Desc goal_error_description = {
    .name = "poise.GoalError", .doc = "How far a goal is from being met.", .fields = goal_error_fields, .n_in_sequence = 3};

bool reports_add(PyObject *module)
{
    for (PyType_Slot *slot = report_slots; slot->slot; ++slot) {
        if (slot->slot == Py_tp_getset) {
            slot->pfunc = attributes_of(&report_table, offsetof(report_object, report), report_attributes);
            if (!slot->pfunc) {
                return false;
            }
        }
    }
    report_type = (PyTypeObject *)type_add(module, &report_spec);
    goal_error_type = row_type_add(module, &goal_error_description);
    return report_type && goal_error_type && PyModule_AddFunctions(module, functions) == 0;
}
