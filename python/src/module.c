// The module _poise: exceptions, options by name, and what the other files add.
#include "extension.h"

#include <string.h>

PyObject *error_type;

bool errors_add(PyObject *module)
{
    error_type = PyErr_NewExceptionWithDoc(
        "poise.Error",
        "What the library refuses, with the reason and the fix. `status` is a short name such as \"format\"; `line` and\n"
        "`column` are those of the text that was read, 0 where there is none.",
        PyExc_ValueError, NULL);
    if (!error_type) {
        return false;
    }
    Py_IncRef(error_type);
    return PyModule_AddObject(module, "Error", error_type) == 0;
}

static void set_attribute(PyObject *object, const char *name, PyObject *value)
{
    if (!value || PyObject_SetAttrString(object, name, value) != 0) {
        PyErr_Clear();
    }
    Py_DecRef(value);
}

PyObject *raise_refusal(const poise_error *error)
{
    if (error->status == POISE_ERROR_MEMORY) {
        PyErr_SetString(PyExc_MemoryError, error->text[0] ? error->text : "out of memory");
        return NULL;
    }
    PyObject *text = error->line > 0 && error->column > 0
                         ? PyUnicode_FromFormat("line %d, column %d: %s", error->line, error->column, error->text)
                     : error->line > 0 ? PyUnicode_FromFormat("line %d: %s", error->line, error->text)
                                       : PyUnicode_FromString(error->text);
    PyObject *exception = text ? PyObject_CallFunctionObjArgs(error_type, text, NULL) : NULL;
    Py_DecRef(text);
    if (exception) {
        set_attribute(exception, "status", PyUnicode_FromString(poise_status_name(error->status)));
        set_attribute(exception, "line", PyLong_FromLong(error->line));
        set_attribute(exception, "column", PyLong_FromLong(error->column));
        PyErr_SetObject(error_type, exception);
        Py_DecRef(exception);
    }
    return NULL;
}

PyObject *type_add(PyObject *module, PyType_Spec *spec)
{
    PyObject *type = PyType_FromSpec(spec);
    if (!type) {
        return NULL;
    }
    Py_IncRef(type);
    return PyModule_AddObject(module, strrchr(spec->name, '.') + 1, type) == 0 ? type : NULL;
}

PyTypeObject *row_type_add(PyObject *module, PyStructSequence_Desc *description)
{
    PyTypeObject *type = PyStructSequence_NewType(description);
    if (!type) {
        return NULL;
    }
    Py_IncRef((PyObject *)type);
    return PyModule_AddObject(module, strrchr(description->name, '.') + 1, (PyObject *)type) == 0 ? type : NULL;
}

PyObject *new_refused(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    (void)arguments, (void)keywords;
    PyErr_Format(PyExc_TypeError, "%R is made by functions of poise, not by a call of its own", (PyObject *)type);
    return NULL;
}

void object_release(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DecRef((PyObject *)type);
}

bool ask_for_degrees(const poise_model *model, const char *what, const double *q, Py_ssize_t rows)
{
    int nq = poise_model_info(model).nq;
    for (Py_ssize_t row = 0; row < rows; ++row) {
        int i = poise_model_suspect_degrees(model, q + row * nq);
        if (i != POISE_NONE) {
            char text[512];
            PyOS_snprintf(text, sizeof text, "%s: %g rad for joint \"%s\": are these degrees? np.radians(q) turns them",
                          what, q[row * nq + i], poise_model_joint_info(model, poise_model_coordinate(model, i).joint).name);
            return PyErr_WarnEx(PyExc_UserWarning, text, 1) == 0;
        }
    }
    return true;
}

bool ask_for_millimetres(const poise_model *model, const poise_goal *goals, int count, const double *q)
{
    poise_kinematics *kinematics;
    if (poise_kinematics_create(model, NULL, &kinematics, NULL) != POISE_OK) {
        return true; // it is only a question
    }
    bool ok = true, asked = poise_kinematics_update(kinematics, q, NULL) != POISE_OK;
    for (int i = 0; i < count && !asked; ++i) {
        double distance, reach;
        asked = poise_goal_suspect_millimetres(&goals[i], kinematics, &distance, &reach);
        if (asked) {
            char text[256];
            PyOS_snprintf(text, sizeof text, "goal %d is %.4g from its chain, which is %.4g long: are these millimetres?", i,
                          distance, reach);
            ok = PyErr_WarnEx(PyExc_UserWarning, text, 1) == 0;
        }
    }
    poise_kinematics_destroy(kinematics);
    return ok;
}

bool start_is_misnamed(const char *name, const char *what)
{
    static const char *const likely[] = {"q0",     "q_start", "q_init",  "initial", "x0",
                                         "seed_q", "start_q", "posture", "from_"};
    for (size_t i = 0; i < sizeof likely / sizeof *likely; ++i) {
        if (strcmp(name, likely[i]) == 0) {
            PyErr_Format(PyExc_TypeError, "%s has no option \"%s\": the configuration to start from is q=", what, name);
            return true;
        }
    }
    return false;
}

// ---- The module ----------------------------------------------------------------------------------------------------------

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "poise._poise",
    .m_doc = "The C side of the package poise.",
    .m_size = -1,
};

PyMODINIT_FUNC PyInit__poise(void);
PyMODINIT_FUNC PyInit__poise(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (!module) {
        return NULL;
    }
    if (!arrays_ready() || !errors_add(module) || !goals_add(module) || !reports_add(module) || !model_add(module) ||
        !batch_add(module) || !device_add(module) || !sensitivity_add(module) || !files_add(module) ||
        !constraints_add(module) || !express_add(module) || !live_add(module) || !recordings_add(module) ||
        !motions_add(module) || !opensim_add(module) ||
        PyModule_AddStringConstant(module, "__version__", poise_version()) != 0) {
        Py_DecRef(module);
        return NULL;
    }
    return module;
}
