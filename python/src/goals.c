// Goals: poise.position(...), poise.pose(...) and the others make a Goal; names become indices when a model is known.
//
// A kind of goal is a row of `kinds`, from which its constructor follows; goal_parameters.c has what it is made of.
#include "goals.h"

#include <limits.h>

// ---- Kinds ---------------------------------------------------------------------------------------------------------------

enum { MOST_POSITIONAL = 4 };

typedef struct kind {
    poise_goal_kind kind;
    const char *positional[MOST_POSITIONAL]; // required ones first
    int required;
} kind;

static const kind kinds[] = {
    {POISE_GOAL_POSITION, {"body", "target", "point"}, 2},
    {POISE_GOAL_DIRECTION, {"body", "direction", "axis"}, 2},
    {POISE_GOAL_ORIENTATION, {"body", "target"}, 2},
    {POISE_GOAL_POSE, {"body", "target", "local"}, 2},
    {POISE_GOAL_AIM, {"body", "target", "axis"}, 2},
    {POISE_GOAL_PLANE, {"body", "target", "normal", "point"}, 3},
    {POISE_GOAL_LINE, {"body", "target", "direction", "point"}, 3},
    {POISE_GOAL_DISTANCE, {"body", "target", "distance", "point"}, 3},
    {POISE_GOAL_POSTURE, {"q", "weight", "weights"}, 1},
    {POISE_GOAL_SMOOTHNESS, {"q", "q_before", "weight", "weights"}, 1},
    {POISE_GOAL_RELATIVE, {"body", "other", "target", "local"}, 3},
    {POISE_GOAL_CENTER_OF_MASS, {"target", "weight"}, 1},
    {POISE_GOAL_CALLBACK, {"body", "function", "weight", "priority"}, 2},
};

static bool set_all(goal_object *g, const kind *k, PyObject *arguments, PyObject *keywords)
{
    Py_ssize_t count = PyTuple_Size(arguments);
    if (count > MOST_POSITIONAL || (count > 0 && !k->positional[count - 1])) {
        PyErr_Format(PyExc_TypeError, "poise.%s takes fewer arguments", poise_goal_kind_name(k->kind));
        return false;
    }
    for (Py_ssize_t i = 0; i < count; ++i) {
        if (!goal_set(g, k->positional[i], PyTuple_GetItem(arguments, i))) {
            return false;
        }
    }
    for (Py_ssize_t i = count; i < k->required; ++i) {
        PyObject *name = keywords ? PyUnicode_FromString(k->positional[i]) : NULL;
        bool given = name && PyDict_Contains(keywords, name) == 1;
        Py_DecRef(name);
        if (!given) {
            PyErr_Format(PyExc_TypeError, "poise.%s: \"%s\" is missing", poise_goal_kind_name(k->kind), k->positional[i]);
            return false;
        }
    }
    PyObject *name, *value;
    Py_ssize_t at = 0;
    while (keywords && PyDict_Next(keywords, &at, &name, &value)) {
        const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
        if (!text || !goal_set(g, text, value)) {
            return false;
        }
    }
    return goal_is_sound(g);
}

static PyObject *make(const kind *k, PyObject *arguments, PyObject *keywords)
{
    goal_object *g = (goal_object *)PyType_GenericAlloc(goal_type, 0);
    if (!g) {
        return NULL;
    }
    g->goal = poise_goal_default(k->kind);
    if (!set_all(g, k, arguments, keywords)) {
        Py_DecRef((PyObject *)g);
        return NULL;
    }
    return (PyObject *)g;
}

// one entry of the module each, as Python wants a function of its own
#define MAKER(index, name)                                                                                                  \
    static PyObject *make_##name(PyObject *module, PyObject *arguments, PyObject *keywords)                                 \
    {                                                                                                                       \
        (void)module;                                                                                                       \
        return make(&kinds[index], arguments, keywords);                                                                    \
    }
MAKER(0, position)
MAKER(1, direction)
MAKER(2, orientation)
MAKER(3, pose)
MAKER(4, aim)
MAKER(5, plane)
MAKER(6, line)
MAKER(7, distance)
MAKER(8, posture)
MAKER(9, smoothness)
MAKER(10, relative)
MAKER(11, center_of_mass)
MAKER(12, callback)

#define MAKES(name, text)                                                                                                   \
    {                                                                                                                       \
#name, (PyCFunction)(void (*)(void))make_##name, METH_VARARGS | METH_KEYWORDS, text                                 \
    }
static PyMethodDef makers[] = {
    MAKES(position, "position($module, body, target, point=(0, 0, 0), *, weight=1, priority=0, tolerance=0, loss=..., "
                    "loss_scale=...)\n--\n\n"
                    "The point of a body at a point of the world: a marker. `body` names a body, a joint or a tool."),
    MAKES(direction, "direction($module, body, direction, axis=(0, 0, 1), *, weight=1, priority=0)\n--\n\n"
                     "A direction fixed in a body along a direction of the world."),
    MAKES(orientation, "orientation($module, body, target, *, local=..., weight=1, priority=0, rotation_tolerance=0)\n--\n\n"
                       "A body's rotation; `target` is a (3, 3) matrix or a quaternion x y z w."),
    MAKES(pose, "pose($module, body, target, local=None, *, weight=1, rotation_weight=1, priority=0, tolerance=0, "
                "rotation_tolerance=0, loss=...,\n"
                "     loss_scale=...)\n--\n\n"
                "A frame of a body at a pose of the world, a (4, 4) matrix or x y z and a quaternion x y z w."),
    MAKES(aim, "aim($module, body, target, axis=(0, 0, 1), *, point=..., weight=1, priority=0)\n--\n\n"
               "A direction fixed in a body towards a point of the world: a gaze, a lamp."),
    MAKES(plane,
          "plane($module, body, target, normal, point=(0, 0, 0), *, weight=1, priority=0, loss=..., loss_scale=...)\n--\n\n"
          "The point of a body on the plane through `target`."),
    MAKES(
        line,
        "line($module, body, target, direction, point=(0, 0, 0), *, weight=1, priority=0, loss=..., loss_scale=...)\n--\n\n"
        "The point of a body on the line through `target`."),
    MAKES(distance, "distance($module, body, target, distance, point=(0, 0, 0), *, weight=1, priority=0, loss=..., "
                    "loss_scale=...)\n--\n\n"
                    "The point of a body at a distance from `target`."),
    MAKES(posture, "posture($module, q, weight=1, weights=None, *, priority=0)\n--\n\n"
                   "The configuration near q. Arrays of float64 are looked at during a solve, not copied."),
    MAKES(smoothness, "smoothness($module, q, q_before=None, weight=1, weights=None, *, priority=0)\n--\n\n"
                      "The configuration near the last frame, or near where the last two lead."),
    MAKES(relative, "relative($module, body, other, target, local=None, *, weight=1, rotation_weight=1, priority=0)\n--\n\n"
                    "A frame of a body at a pose in the frame of another one: two hands on one object."),
    MAKES(center_of_mass,
          "center_of_mass($module, target, weight=1, *, priority=0)\n--\n\nThe centre of mass at a point of the world."),
    MAKES(
        callback,
        "callback($module, body, function, weight=1, priority=0)\n--\n\n"
        "A goal of your own. function(T) gets the pose of the body, a (4, 4) matrix, and returns (energy, gradient, "
        "hessian):\n"
        "a cost, 0 where the goal is met, and its derivatives by small moves of the body in the world, translation first, "
        "then rotation, (6,) and\n"
        "(6, 6). Without the Hessian, differences of the gradient serve, twelve calls each time. None leaves the goal out.\n"
        "Its error in reports is sqrt(2 energy); an exception ends the solve."),
    {NULL, NULL, 0, NULL},
};

// ---- Goals of a call -----------------------------------------------------------------------------------------------------

// q, q_before and weights have as many numbers as the model asks for
static bool check_arrays(const goal_object *g, const model_object *model)
{
    static const char *const names[GOAL_ARRAYS] = {"q", "q_before", "weights"};
    for (int i = 0; i < GOAL_ARRAYS; ++i) {
        Py_ssize_t wanted = i < 2 ? model->info.nq : model->info.nv;
        if (g->has_array[i] && g->arrays[i].count != wanted) {
            PyErr_Format(PyExc_ValueError, "%s of a %s goal: expected %zd numbers, got %zd", names[i],
                         poise_goal_kind_name(g->goal.kind), wanted, g->arrays[i].count);
            return false;
        }
    }
    return true;
}

static bool resolve(poise_goal *out, const goal_object *g, const model_object *model)
{
    *out = g->goal;
    poise_pose frame;
    if (g->body) {
        if (!model_body(model, g->body, &out->body, &frame)) {
            return false;
        }
        out->local = poise_pose_multiply(frame, out->local);
        out->axis = poise_quat_rotate(frame.rotation, out->axis);
    }
    if (g->body2) {
        if (!model_body(model, g->body2, &out->body2, &frame)) {
            return false;
        }
        out->target = poise_pose_multiply(frame, out->target);
    }
    return check_arrays(g, model);
}

// Keep the arrays of a goal as they are until the call is over. False with an exception.
static bool hold_arrays(goal_array *array, const goal_object *g)
{
    bool ok = true;
    for (int i = 0; ok && i < GOAL_ARRAYS; ++i) {
        if (g->has_array[i]) {
            array->looked_at = array->looked_at ? array->looked_at : PyList_New(0);
            PyObject *view = array->looked_at ? PyMemoryView_FromObject(g->arrays[i].view.obj) : NULL;
            ok = view && PyList_Append(array->looked_at, view) == 0;
            Py_DecRef(view);
        }
    }
    return ok;
}

static bool take_one(goal_array *array, poise_goal *out, const model_object *model, PyObject *object)
{
    if (Py_TYPE(object) != goal_type) {
        PyErr_Format(PyExc_TypeError, "expected a goal, such as poise.pose(...), got %R", (PyObject *)Py_TYPE(object));
        return false;
    }
    return resolve(out, (const goal_object *)object, model) && hold_arrays(array, (const goal_object *)object);
}

static bool take_words(goal_array *array, const model_object *model, PyObject *text)
{
    poise_error error;
    poise_goal_words words = {.model = model->model};
    const char *utf8 = PyUnicode_AsUTF8AndSize(text, NULL);
    if (!utf8) {
        return false;
    }
    if (poise_goal_list_create(NULL, &array->words, &error) != POISE_OK ||
        poise_goal_list_parse(array->words, &words, utf8, &error) != POISE_OK) {
        if (poise_model_find_body(model->model, utf8) != POISE_NONE ||
            poise_model_find_tool(model->model, utf8) != POISE_NONE) {
            PyErr_Format(PyExc_TypeError, "goals: \"%s\" is a body, and no goal; poise.pose(\"%s\", T) is one", utf8, utf8);
        } else {
            raise_refusal(&error);
        }
        return false;
    }
    array->goals = array->words->goals;
    array->count = array->words->count;
    return true;
}

static bool take_sequence(goal_array *array, const model_object *model, PyObject *goals)
{
    array->held = PySequence_Tuple(goals); // a list may change during the call
    Py_ssize_t count = array->held ? PyTuple_Size(array->held) : -1;
    if (count < 0 && !PyErr_ExceptionMatches(PyExc_TypeError)) {
        return false; // what an iterator raised
    }
    if (count < 0 || count > INT_MAX / 2) {
        PyErr_Format(PyExc_TypeError, "goals: expected a goal or a list of goals, got %R", (PyObject *)Py_TYPE(goals));
        return false;
    }
    if (count > (Py_ssize_t)(sizeof array->few / sizeof *array->few)) {
        array->goals = PyMem_Malloc((size_t)count * sizeof *array->goals);
        if (!array->goals) {
            PyErr_NoMemory();
            return false;
        }
    }
    for (; array->count < count; ++array->count) {
        if (!take_one(array, &array->goals[array->count], model, PyTuple_GetItem(array->held, array->count))) {
            return false;
        }
    }
    return true;
}

bool goals_take(goal_array *array, const model_object *model, PyObject *goals)
{
    array->goals = array->few;
    array->count = 0;
    array->words = NULL;
    array->held = array->looked_at = NULL;
    bool ok;
    if (Py_TYPE(goals) == goal_type) {
        ok = take_one(array, array->goals, model, goals);
        array->count = ok;
        array->held = goals;
        Py_IncRef(goals);
    } else if (PyUnicode_Check(goals)) {
        ok = take_words(array, model, goals);
    } else {
        ok = take_sequence(array, model, goals);
    }
    if (!ok) {
        goals_release(array);
    }
    return ok;
}

void goals_release(goal_array *array)
{
    if (array->words) {
        poise_goal_list_destroy(array->words);
    } else if (array->goals != array->few) {
        PyMem_Free(array->goals);
    }
    Py_DecRef(array->held);
    Py_DecRef(array->looked_at);
}

bool goals_failed(const goal_array *array)
{
    bool failed = false;
    for (int i = 0; i < array->count; ++i) {
        failed |= array->goals[i].kind == POISE_GOAL_CALLBACK && goal_function_failed(array->goals[i].user);
    }
    return failed;
}

PyObject *goals_finish(goal_array *array, PyObject *result)
{
    bool failed = goals_failed(array);
    goals_release(array);
    if (failed) {
        Py_DecRef(result);
        return NULL;
    }
    return result;
}

int goals_coupled(const goal_array *array)
{
    int coupled = 0;
    for (int i = 0; i < array->count; ++i) {
        coupled += array->goals[i].kind == POISE_GOAL_RELATIVE || array->goals[i].kind == POISE_GOAL_CENTER_OF_MASS;
    }
    return coupled;
}

bool goals_add(PyObject *module)
{
    return goal_type_add(module) && PyModule_AddFunctions(module, makers) == 0;
}
