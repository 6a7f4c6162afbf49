// The type poise.Goal: its attributes, its memory, and its way to other processes.
#include "goals.h"

#include <string.h>

PyTypeObject *goal_type;

// ---- To other processes --------------------------------------------------------------------------------------------------

// What restore_goal takes. Arrays go along as such: a copy of a goal looks at the same ones.
static PyObject *goal_reduce(PyObject *self, PyObject *unused)
{
    (void)unused;
    const goal_object *g = (const goal_object *)self;
    if (g->goal.kind == POISE_GOAL_CALLBACK) { // as it was made
        PyObject *package = PyImport_ImportModule("poise"),
                 *maker = package ? PyObject_GetAttrString(package, "callback") : NULL;
        Py_DecRef(package);
        return maker ? Py_BuildValue("N(OOdi)", maker, g->body, g->function.call, g->goal.weight, g->goal.priority) : NULL;
    }
    poise_goal bare = g->goal;
    bare.q = bare.q_before = bare.q_weights = NULL;
    PyObject *arrays[GOAL_ARRAYS], *module = PyImport_ImportModule("poise._poise");
    PyObject *restore = module ? PyObject_GetAttrString(module, "restore_goal") : NULL;
    Py_DecRef(module);
    if (!restore) {
        return NULL;
    }
    for (int i = 0; i < GOAL_ARRAYS; ++i) {
        arrays[i] = or_none(g->has_array[i] ? g->arrays[i].view.obj : NULL);
    }
    return Py_BuildValue("N(sy#NNNNN)", restore, poise_version(), (const char *)&bare, (Py_ssize_t)sizeof bare,
                         or_none(g->body), or_none(g->body2), arrays[0], arrays[1], arrays[2]);
}

static PyObject *restore_goal(PyObject *module, PyObject *arguments)
{
    (void)module;
    const char *version, *bytes;
    Py_ssize_t size;
    PyObject *body, *other, *q, *q_before, *weights;
    poise_goal bare = {.kind = POISE_GOAL_KIND_COUNT};
    if (!PyArg_ParseTuple(arguments, "sy#OOOOO", &version, &bytes, &size, &body, &other, &q, &q_before, &weights)) {
        return NULL;
    }
    if (strcmp(version, poise_version()) == 0 && size == sizeof bare) {
        memcpy(&bare, bytes, sizeof bare);
    }
    if ((unsigned)bare.kind >= POISE_GOAL_CALLBACK || (unsigned)bare.loss >= POISE_LOSS_COUNT) {
        PyErr_SetString(PyExc_ValueError, "a goal of another version of Poise");
        return NULL;
    }
    bare.q = bare.q_before = bare.q_weights = NULL;
    goal_object *g = (goal_object *)PyType_GenericAlloc(goal_type, 0);
    if (!g) {
        return NULL;
    }
    g->goal = bare;
    bool ok = (body == Py_None || goal_set(g, "body", body)) && (other == Py_None || goal_set(g, "other", other)) &&
              (q == Py_None || goal_set(g, "q", q)) && (q_before == Py_None || goal_set(g, "q_before", q_before)) &&
              (weights == Py_None || goal_set(g, "weights", weights));
    if (!ok) {
        Py_DecRef((PyObject *)g);
        return NULL;
    }
    return (PyObject *)g;
}

static PyMethodDef goal_methods[] = {
    {"__reduce__", goal_reduce, METH_NOARGS, "For pickle."},
    {"each", goal_each, METH_O,
     "each($self, targets, /)\n--\n\nA list of goals like this one, with a target of their own from each row: of shape (N, "
     "4, 4) "
     "or (N, 7) for poses,\n"
     "(N, 3) for places and directions, (N, nq) for postures. robot.solve_batch(list(zip(left.each(L), right.each(R))))."},
    {NULL, NULL, 0, NULL},
};

static PyMethodDef functions[] = {
    {"restore_goal", restore_goal, METH_VARARGS,
     "restore_goal(version, goal, body, other, q, q_before, weights, /)\n--\n\nWhat pickle calls."},
    {NULL, NULL, 0, NULL},
};

// ---- The type ------------------------------------------------------------------------------------------------------------

// A function may well be a method of what holds the goal: a cycle, which Python's collector sees.
static int goal_traverse(PyObject *self, visitproc visit, void *arg)
{
    goal_object *g = (goal_object *)self;
    Py_VISIT(g->function.call);
    Py_VISIT(Py_TYPE(self));
    return 0;
}

static int goal_clear(PyObject *self)
{
    goal_object *g = (goal_object *)self;
    g->goal.function = NULL; // and the goal is refused
    Py_CLEAR(g->function.call);
    return 0;
}

static void goal_dealloc(PyObject *self)
{
    goal_object *g = (goal_object *)self;
    PyObject_GC_UnTrack(self);
    goal_clear(self);
    for (int i = 0; i < 3; ++i) {
        Py_DecRef(g->function.raised[i]);
    }
    for (int i = 0; i < GOAL_ARRAYS; ++i) {
        if (g->has_array[i]) {
            numbers_release(&g->arrays[i]);
        }
    }
    Py_DecRef(g->body);
    Py_DecRef(g->body2);
    object_release(self);
}

static PyObject *goal_repr(PyObject *self)
{
    const goal_object *g = (const goal_object *)self;
    const char *name = poise_goal_kind_name(g->goal.kind);
    return g->body ? PyUnicode_FromFormat("<poise.Goal %s of %R>", name, g->body)
                   : PyUnicode_FromFormat("<poise.Goal %s>", name);
}

static int goal_setattr(PyObject *self, PyObject *name, PyObject *value)
{
    if (!value) {
        PyErr_SetString(PyExc_AttributeError, "parameters of a goal cannot be deleted");
        return -1;
    }
    goal_object *g = (goal_object *)self;
    poise_goal before = g->goal;
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
    if (!text || !goal_set(g, text, value)) {
        return -1;
    }
    if (!goal_is_sound(g)) { // no array, of which nothing is checked here
        g->goal = before;
        return -1;
    }
    return 0;
}

static PyObject *goal_kind(PyObject *self, void *closure)
{
    (void)closure;
    return PyUnicode_FromString(poise_goal_kind_name(((goal_object *)self)->goal.kind));
}

// `closure` is the name of a parameter.
static PyObject *goal_parameter(PyObject *self, void *closure)
{
    return goal_get((const goal_object *)self, closure);
}

#define PARAMETER(name, text)                                                                                               \
    {                                                                                                                       \
        name, goal_parameter, NULL, text, name                                                                              \
    }
static PyGetSetDef goal_attributes[] = {
    {"kind", goal_kind, NULL, "\"position\", \"pose\" and so on", NULL},
    PARAMETER("body", "name or index of the body, joint or tool"),
    PARAMETER("other", "of a relative goal: the body that sees it"),
    PARAMETER("target", "a place (3,), of poses a (4, 4) and of orientations a (3, 3) matrix"),
    PARAMETER("direction", "in the world, of length 1"),
    PARAMETER("normal", "of a plane, of length 1"),
    PARAMETER("axis", "in the body, of length 1"),
    PARAMETER("point", "in the body"),
    PARAMETER("local", "frame in the body, a (4, 4) matrix"),
    PARAMETER("distance", "from the target"),
    PARAMETER("q", "the configuration: the array that the goal looks at"),
    PARAMETER("q_before", "the configuration before q"),
    PARAMETER("weights", "one for each number of a step; None: all 1"),
    PARAMETER("function", "of a callback"),
    PARAMETER("weight", "of its squared error"),
    PARAMETER("rotation_weight", "of the squared angle"),
    PARAMETER("priority", "its level, 0 the first"),
    PARAMETER("tolerance", "half the sides of a box around the target, along its axes, within which the place is met"),
    PARAMETER("rotation_tolerance", "likewise of the rotation, in radians about the axes"),
    PARAMETER("loss", "\"none\", \"huber\" or \"geman_mcclure\""),
    PARAMETER("loss_scale", "the error from which on the loss counts less"),
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot goal_slots[] = {
    {Py_tp_doc,
     "What a skeleton should do. Made by poise.position, poise.pose and the others. Parameters can be read, and set anew:\n"
     "goal.target = T."},
    {Py_tp_new, new_refused},
    {Py_tp_dealloc, goal_dealloc},
    {Py_tp_traverse, goal_traverse},
    {Py_tp_clear, goal_clear},
    {Py_tp_repr, goal_repr},
    {Py_tp_setattro, goal_setattr},
    {Py_tp_methods, goal_methods},
    {Py_tp_getset, goal_attributes},
    {0, NULL},
};

static PyType_Spec goal_spec = {.name = "poise.Goal",
                                .basicsize = sizeof(goal_object),
                                .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
                                .slots = goal_slots};

bool goal_type_add(PyObject *module)
{
    goal_type = (PyTypeObject *)type_add(module, &goal_spec);
    return goal_type && PyModule_AddFunctions(module, functions) == 0;
}
