// The module _poise: exceptions, options by name, and what the other files add.
#include "extension.h"

#include <limits.h>
#include <stdio.h>
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

// ---- Options by name -----------------------------------------------------------------------------------------------------

static const char *method_choice(int value)
{
    return poise_method_name((poise_method)value);
}

static const char *start_choice(int value)
{
    static const char *const names[] = {"warm", "cold"};
    return value < 2 ? names[value] : NULL;
}

#define MEMBER(type, name, kind)                                                                                            \
    {                                                                                                                       \
#name, kind, offsetof(type, name), NULL                                                                             \
    }
#define SOLVER(name, kind) MEMBER(poise_solver_options, name, kind)
const option solver_option_table[] = {
    {"method", OPTION_CHOICE, offsetof(poise_solver_options, method), method_choice},
    {"start", OPTION_CHOICE, offsetof(poise_solver_options, start), start_choice},
    SOLVER(use_limits, OPTION_FLAG),
    SOLVER(max_iterations, OPTION_INTEGER),
    SOLVER(restarts, OPTION_INTEGER),
    SOLVER(seed, OPTION_SEED),
    SOLVER(cost_tolerance, OPTION_NUMBER),
    SOLVER(gradient_tolerance, OPTION_NUMBER),
    SOLVER(position_tolerance, OPTION_NUMBER),
    SOLVER(rotation_tolerance, OPTION_NUMBER),
    SOLVER(prior, OPTION_NUMBER),
    SOLVER(step_limit, OPTION_NUMBER),
    SOLVER(damping, OPTION_NUMBER),
    SOLVER(coupled_goals, OPTION_INTEGER),
};
const int solver_option_count = sizeof solver_option_table / sizeof *solver_option_table;

static const char *option_name_at(const void *table, int index)
{
    return ((const option *)table)[index].name;
}

static const char *choice_at(const void *row, int index)
{
    return ((const option *)row)->choice(index);
}

static bool set_choice(int *member, const option *row, PyObject *value)
{
    const char *text = PyUnicode_Check(value) ? PyUnicode_AsUTF8AndSize(value, NULL) : NULL;
    const char *name;
    if (text && strcmp(text, "newton_projected") == 0) {
        text = "newton"; // as it was called
    }
    int count = 0;
    for (; (name = row->choice(count)) != NULL && strcmp(name, "unknown") != 0; ++count) {
        if (text && strcmp(text, name) == 0) {
            *member = count;
            return true;
        }
    }
    const char *near = text ? poise_nearest_name(text, choice_at, row, count) : NULL;
    if (!PyErr_Occurred()) {
        char all[512] = "";
        for (int i = 0; (name = row->choice(i)) != NULL && strcmp(name, "unknown") != 0; ++i) {
            size_t used = strlen(all);
            PyOS_snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "", name);
        }
        PyErr_Format(PyExc_ValueError,
                     near ? "%s=%R: did you mean \"%s\"? the choices are %s" : "%s=%R: %sthe choices are %s", row->name,
                     value, near ? near : "", all);
    }
    return false;
}

static bool set_member(void *member, const option *row, PyObject *value)
{
    switch (row->type) {
    case OPTION_NUMBER:
        *(double *)member = PyFloat_AsDouble(value);
        break;
    case OPTION_INTEGER: {
        long number = PyLong_AsLong(value);
        if (number > INT_MAX || number < INT_MIN) {
            PyErr_Format(PyExc_OverflowError, "%s=%R is too large", row->name, value);
        }
        *(int *)member = (int)number;
        break;
    }
    case OPTION_SEED:
        *(uint64_t *)member = PyLong_AsUnsignedLongLong(value);
        break;
    case OPTION_FLAG:
        *(bool *)member = PyObject_IsTrue(value) > 0;
        break;
    case OPTION_CHOICE:
        return set_choice(member, row, value);
    }
    return !PyErr_Occurred();
}

// There is no such option: a name that is near, or all of them.
static void raise_no_option(const option *table, int count, const char *what, const char *text)
{
    const char *near = poise_nearest_name(text, option_name_at, table, count);
    char all[512] = "";
    for (size_t i = 0, used = 0; !near && i < (size_t)count && used + strlen(table[i].name) + 3 < sizeof all; ++i) {
        used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", i > 0 ? ", " : "", table[i].name);
    }
    PyErr_Format(PyExc_TypeError,
                 near ? "%s has no option \"%s\"; did you mean \"%s\"?" : "%s has no option \"%s\"; there are %s", what,
                 text, near ? near : all);
}

// What the command calls differently.
static const char *option_name(const char *text)
{
    static const char *const names[][2] = {{"iterations", "max_iterations"}};
    for (size_t i = 0; text && i < sizeof names / sizeof *names; ++i) {
        if (strcmp(text, names[i][0]) == 0) {
            return names[i][1];
        }
    }
    return text;
}

bool option_set(void *options, const option *table, int count, const char *what, PyObject *name, PyObject *value)
{
    const char *text = option_name(PyUnicode_AsUTF8AndSize(name, NULL));
    for (int i = 0; text && i < count; ++i) {
        if (strcmp(text, table[i].name) == 0) {
            return set_member((char *)options + table[i].offset, &table[i], value);
        }
    }
    if (text) {
        raise_no_option(table, count, what, text);
    }
    return false;
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

bool options_set(void *options, const option *table, int count, const char *what, PyObject *keywords)
{
    PyObject *name, *value;
    Py_ssize_t at = 0;
    while (keywords && PyDict_Next(keywords, &at, &name, &value)) {
        if (!option_set(options, table, count, what, name, value)) {
            return false;
        }
    }
    return true;
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
