// Model.sensitivity: how an answer moves with its goals. model_gradients.c does it for many.
#include "extension.h"

#include <string.h>

typedef struct sensitivity_object {
    PyObject ob_base;
    PyObject *model; // kept alive: the goals point into it
    goal_array goals;
    poise_sensitivity *sensitivity;
    poise_goal_change *changes; // by goal
} sensitivity_object;

static PyTypeObject *sensitivity_type;

static void sensitivity_dealloc(PyObject *self)
{
    sensitivity_object *s = (sensitivity_object *)self;
    poise_sensitivity_destroy(s->sensitivity);
    PyMem_Free(s->changes);
    if (s->goals.goals) {
        goals_release(&s->goals);
    }
    Py_DecRef(s->model);
    object_release(self);
}

static bool look(sensitivity_object *s, const model_object *m, PyObject *at, bool use_limits)
{
    numbers q;
    poise_error error;
    if (!numbers_take_count(&q, at, "q", m->info.nq)) {
        return false;
    }
    int coupled = goals_coupled(&s->goals);
    s->changes = PyMem_Malloc((size_t)s->goals.count * sizeof *s->changes + 1);
    bool ok = s->changes != NULL;
    if (!ok) {
        PyErr_NoMemory();
    } else if (poise_sensitivity_create(m->model, coupled, NULL, &s->sensitivity, &error) != POISE_OK ||
               poise_sensitivity_update(s->sensitivity, s->goals.goals, s->goals.count, q.at, use_limits, &error) !=
                   POISE_OK) {
        raise_refusal(&error);
        ok = false;
    }
    numbers_release(&q);
    return ok;
}

PyObject *model_sensitivity(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"goals", "q", "use_limits", NULL};
    PyObject *given, *at;
    int use_limits = 1;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "OO|$p:sensitivity", names, &given, &at, &use_limits) ||
        !loops_are_left_open((const model_object *)self, "sensitivity")) {
        return NULL;
    }
    sensitivity_object *s = (sensitivity_object *)PyType_GenericAlloc(sensitivity_type, 0);
    if (!s) {
        return NULL;
    }
    s->model = self;
    Py_IncRef(s->model);
    if (!goals_take(&s->goals, (const model_object *)self, given)) {
        s->goals.goals = NULL;
        Py_DecRef((PyObject *)s);
        return NULL;
    }
    if (!look(s, (const model_object *)self, at, use_limits) || goals_failed(&s->goals)) {
        Py_DecRef((PyObject *)s);
        return NULL;
    }
    return (PyObject *)s;
}

// ---- Forward -------------------------------------------------------------------------------------------------------------

static bool check_goal(const sensitivity_object *s, int goal)
{
    if (goal < 0 || goal >= s->goals.count) {
        PyErr_Format(PyExc_IndexError, "goal %d: there are %d, from 0", goal, s->goals.count);
        return false;
    }
    return true;
}

// dq for the change that `changes` holds, into out
static bool follow(sensitivity_object *s, double *dq)
{
    poise_error error;
    if (poise_sensitivity_forward(s->sensitivity, s->changes, dq, &error) != POISE_OK) {
        raise_refusal(&error);
        return false;
    }
    return true;
}

static void clear_changes(sensitivity_object *s)
{
    for (int i = 0; i < s->goals.count; ++i) {
        s->changes[i] = (poise_goal_change){.posture = NULL};
    }
}

static PyObject *sensitivity_forward(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"goal", "translation", "rotation", "weight", "rotation_weight", "posture", NULL};
    sensitivity_object *s = (sensitivity_object *)self;
    int goal = 0, nv = ((model_object *)s->model)->info.nv;
    PyObject *translation = NULL, *rotation = NULL, *posture = NULL;
    double by[6] = {0}, weight = 0, rotation_weight = 0;
    numbers step, dq;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|i$OOddO:forward", names, &goal, &translation, &rotation, &weight,
                                     &rotation_weight, &posture) ||
        !check_goal(s, goal) || (translation && !numbers_copy(translation, "translation", by, 3)) ||
        (rotation && !numbers_copy(rotation, "rotation", by + 3, 3)) ||
        (posture && !numbers_take_count(&step, posture, "posture", nv))) {
        return NULL;
    }
    PyObject *array = numbers_make_vector(&dq, nv);
    if (!array) {
        if (posture) {
            numbers_release(&step);
        }
        return NULL;
    }
    clear_changes(s);
    s->changes[goal].translation = (poise_vec3){by[0], by[1], by[2]};
    s->changes[goal].rotation = (poise_vec3){by[3], by[4], by[5]};
    s->changes[goal].weight = weight;
    s->changes[goal].rotation_weight = rotation_weight;
    s->changes[goal].posture = posture ? step.at : NULL;
    bool ok = follow(s, dq.at);
    s->changes[goal].posture = NULL;
    if (posture) {
        numbers_release(&step);
    }
    numbers_release(&dq);
    if (!ok) {
        Py_DecRef(array);
        return NULL;
    }
    return array;
}

// (nv, 6): columns for translations and rotations of the target along x, y, z
static PyObject *sensitivity_jacobian(PyObject *self, PyObject *arguments)
{
    sensitivity_object *s = (sensitivity_object *)self;
    int goal = 0, nv = ((model_object *)s->model)->info.nv;
    if (!PyArg_ParseTuple(arguments, "|i:jacobian", &goal) || !check_goal(s, goal)) {
        return NULL;
    }
    numbers J, column;
    PyObject *array = numbers_make(&J, 2, (const Py_ssize_t[]){nv, 6});
    PyObject *scratch = array ? numbers_make_vector(&column, nv) : NULL;
    bool ok = scratch != NULL;
    for (int c = 0; c < 6 && ok; ++c) {
        clear_changes(s);
        double *entry = c < 3 ? &s->changes[goal].translation.x : &s->changes[goal].rotation.x;
        entry[c % 3] = 1.0;
        ok = follow(s, column.at);
        for (int i = 0; i < nv && ok; ++i) {
            J.at[6 * i + c] = column.at[i];
        }
    }
    if (scratch) {
        numbers_release(&column);
    }
    Py_DecRef(scratch);
    if (array) {
        numbers_release(&J);
    }
    if (!ok) {
        Py_DecRef(array);
        return NULL;
    }
    return array;
}

// ---- What limits do ------------------------------------------------------------------------------------------------------

static poise_sensitivity_info info_of(const PyObject *self)
{
    return poise_sensitivity_describe(((const sensitivity_object *)self)->sensitivity);
}

// Names of the coordinates of which `limits` says lower or upper. Quaternions have no limits, and come last in a joint.
static PyObject *names_of(const sensitivity_object *s, int lower, int upper)
{
    const model_object *m = (const model_object *)s->model;
    const signed char *limits = poise_sensitivity_describe(s->sensitivity).limits;
    PyObject *list = PyList_New(0), *names = PyObject_GetAttrString(s->model, "coordinates");
    bool ok = list && names;
    for (int i = 0; i < m->info.nq && ok; ++i) {
        poise_coordinate c = poise_model_coordinate(m->model, i);
        poise_joint_info joint = poise_model_joint_info(m->model, c.joint);
        int limit = c.place < joint.nv ? limits[joint.v + c.place] : POISE_FREE;
        ok = (limit != lower && limit != upper) || PyList_Append(list, PyTuple_GetItem(names, i)) == 0;
    }
    PyObject *tuple = ok ? PyList_AsTuple(list) : NULL;
    Py_DecRef(list);
    Py_DecRef(names);
    return tuple;
}

static PyObject *get_open(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromLong(info_of(self).open);
}

static PyObject *get_held(PyObject *self, void *closure)
{
    (void)closure;
    return names_of((const sensitivity_object *)self, POISE_HELD_LOWER, POISE_HELD_UPPER);
}

static PyObject *get_touching(PyObject *self, void *closure)
{
    (void)closure;
    return names_of((const sensitivity_object *)self, POISE_TOUCHES_LOWER, POISE_TOUCHES_UPPER);
}

static PyObject *sensitivity_repr(PyObject *self)
{
    poise_sensitivity_info info = info_of(self);
    return PyUnicode_FromFormat(
        "<poise.Sensitivity: %d goal%s, %d open, %d held, %d touching>", ((const sensitivity_object *)self)->goals.count,
        ((const sensitivity_object *)self)->goals.count == 1 ? "" : "s", info.open, info.held, info.touching);
}

// ---- Backward ------------------------------------------------------------------------------------------------------------

static PyObject *columns_of(const poise_goal_change *changes, int count, size_t offset, int width)
{
    numbers out;
    PyObject *array =
        width == 1 ? numbers_make_vector(&out, count) : numbers_make(&out, 2, (const Py_ssize_t[]){count, width});
    for (int i = 0; array && i < count; ++i) {
        const double *from = (const double *)(const void *)((const char *)&changes[i] + offset);
        for (int k = 0; k < width; ++k) {
            out.at[i * width + k] = from[k];
        }
    }
    if (array) {
        numbers_release(&out);
    }
    return array;
}

static PyObject *gradients_out(const sensitivity_object *s, PyObject *lower, PyObject *upper, PyObject *posture)
{
    const poise_goal_change *c = s->changes;
    int n = s->goals.count;
    PyObject *all = Py_BuildValue(
        "{s:N,s:N,s:N,s:N,s:O,s:O}", "translation", columns_of(c, n, offsetof(poise_goal_change, translation), 3),
        "rotation", columns_of(c, n, offsetof(poise_goal_change, rotation), 3), "weight",
        columns_of(c, n, offsetof(poise_goal_change, weight), 1), "rotation_weight",
        columns_of(c, n, offsetof(poise_goal_change, rotation_weight), 1), "lower", lower, "upper", upper);
    if (all && posture && PyDict_SetItemString(all, "posture", posture) != 0) {
        Py_DecRef(all);
        return NULL;
    }
    return all;
}

static bool has_posture(const sensitivity_object *s)
{
    bool has = false;
    for (int i = 0; i < s->goals.count; ++i) {
        has = has || s->goals.goals[i].q;
    }
    return has;
}

static PyObject *sensitivity_backward(PyObject *self, PyObject *given)
{
    sensitivity_object *s = (sensitivity_object *)self;
    int nv = ((model_object *)s->model)->info.nv, goals = s->goals.count;
    bool postures = has_posture(s);
    numbers dL, out[3]; // limits, lower and upper; postures
    if (!numbers_take_count(&dL, given, "dL_dq", nv)) {
        return NULL;
    }
    PyObject *result = NULL, *arrays[3] = {numbers_make_vector(&out[0], nv), NULL, NULL};
    arrays[1] = arrays[0] ? numbers_make_vector(&out[1], nv) : NULL;
    arrays[2] = arrays[1] && postures ? numbers_make(&out[2], 2, (const Py_ssize_t[]){goals, nv}) : NULL;
    if (arrays[1] && (arrays[2] || !postures)) {
        poise_error error;
        clear_changes(s);
        for (int i = 0; i < goals && postures; ++i) {
            s->changes[i].posture = out[2].at + (Py_ssize_t)i * nv;
            memset(s->changes[i].posture, 0, (size_t)nv * sizeof(double)); // goals without one leave it
        }
        poise_status status = poise_sensitivity_backward(s->sensitivity, dL.at, s->changes, out[0].at, out[1].at, &error);
        result = status == POISE_OK ? gradients_out(s, arrays[0], arrays[1], arrays[2]) : raise_refusal(&error);
        clear_changes(s);
    }
    for (int i = 0; i < 3; ++i) {
        if (arrays[i]) {
            numbers_release(&out[i]);
        }
        Py_DecRef(arrays[i]);
    }
    numbers_release(&dL);
    return result;
}

// ---- The type ------------------------------------------------------------------------------------------------------------

static PyMethodDef methods[] = {
    {"forward", (PyCFunction)(void (*)(void))sensitivity_forward, METH_VARARGS | METH_KEYWORDS,
     "forward($self, goal=0, *, translation=..., rotation=..., weight=..., rotation_weight=..., posture=...)\n--\n\n"
     "The change of the answer, a step of nv numbers, for a small change of one goal: of its target's position, of its\n"
     "rotation in world axes, of its weights; of the configuration of a posture, a step as well."},
    {"jacobian", sensitivity_jacobian, METH_VARARGS,
     "jacobian($self, goal=0)\n--\n\n(nv, 6): the answer by the translation and the rotation of a goal's target."},
    {"backward", sensitivity_backward, METH_O,
     "backward($self, dL_dq)\n--\n\nFrom dL/dq (nv) the derivatives of a loss by all goals and limits, as a dictionary of "
     "arrays:\n"
     "translation and rotation (goals, 3), weight and rotation_weight (goals), lower and upper (nv); with postures among\n"
     "the goals also posture (goals, nv)."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef attributes[] = {
    {"open", get_open, NULL, "dimensions in which the answer may move without a goal noticing", NULL},
    {"held", get_held, NULL, "names of the coordinates that a limit holds: the answer moves with it", NULL},
    {"touching", get_touching, NULL,
     "names of the coordinates at a limit that nothing pushes against. They move to one side only: forward and jacobian\n"
     "give what happens along each change, backward the side within the limits",
     NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "How an answer moves with its goals and limits: made by Model.sensitivity."},
    {Py_tp_repr, sensitivity_repr},
    {Py_tp_getset, attributes},
    {Py_tp_new, new_refused},
    {Py_tp_dealloc, sensitivity_dealloc},
    {Py_tp_methods, methods},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "poise.Sensitivity", .basicsize = sizeof(sensitivity_object), .flags = Py_TPFLAGS_DEFAULT, .slots = slots};

bool sensitivity_add(PyObject *module)
{
    sensitivity_type = (PyTypeObject *)type_add(module, &spec);
    return sensitivity_type != NULL;
}
