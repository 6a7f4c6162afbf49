// Goals: poise.position(...), poise.pose(...) and the others make a Goal; names become indices when a model is at hand.
//
// A parameter is a row of `parameters`, a kind of goal a row of `kinds`; constructors and attributes follow from them.
#include "extension.h"

#include <limits.h>
#include <string.h>

enum { ARRAY_COUNT = 3 }; // q, q_before, weights

typedef struct goal_object {
    PyObject ob_base;
    poise_goal goal; // body and body2 not yet known
    PyObject *body, *body2;
    numbers arrays[ARRAY_COUNT]; // what the goal points to
    bool has_array[ARRAY_COUNT];
} goal_object;

static PyTypeObject *goal_type;

// ---- Parameters ----------------------------------------------------------------------------------------------------------

static poise_vec3 vector(const double *at)
{
    return (poise_vec3){at[0], at[1], at[2]};
}

// with a unit quaternion, to the bit as the library's constructors make it
static poise_pose unit_pose(poise_pose pose)
{
    return poise_goal_pose(0, poise_pose_identity(), pose).target;
}

bool pose_from_numbers(const double *n, int count, const char *what, poise_pose *pose)
{
    if (count == 7) {
        *pose = unit_pose((poise_pose){.rotation = {n[3], n[4], n[5], n[6]}, .position = vector(n)});
        return true;
    }
    if (count != 16) {
        PyErr_Format(PyExc_ValueError, "%s: a (4, 4) matrix or 7 numbers, x y z and a quaternion x y z w, are wanted", what);
        return false;
    }
    poise_pose given;
    if (!poise_pose_from_matrix(n, &given)) {
        PyErr_Format(PyExc_ValueError, "%s: the matrix is no pose (a rotation to 1e-3, then 0 0 0 1)", what);
        return false;
    }
    *pose = unit_pose(given);
    return true;
}

bool pose_take(PyObject *object, const char *what, poise_pose *pose)
{
    numbers array;
    if (!numbers_take(&array, object, what)) {
        return false;
    }
    bool ok = pose_from_numbers(array.at, array.count > 16 ? 0 : (int)array.count, what, pose);
    numbers_release(&array);
    return ok;
}

bool poses_fit(const numbers *targets)
{
    bool matrices = targets->axes == 3 && targets->shape[1] == 4 && targets->shape[2] == 4;
    if (!matrices && !(targets->axes == 2 && targets->shape[1] == 7)) {
        PyErr_SetString(PyExc_ValueError, "targets: an array of shape (N, 4, 4) or (N, 7) is wanted; of one pose T[None]");
        return false;
    }
    for (Py_ssize_t i = 0; matrices && i < targets->shape[0]; ++i) {
        if (!poise_pose_from_matrix(targets->at + 16 * i, NULL)) {
            PyErr_Format(PyExc_ValueError, "targets[%zd]: the matrix is no pose (a rotation to 1e-3, then 0 0 0 1)", i);
            return false;
        }
    }
    return true;
}

poise_pose pose_of(const double *n, int size)
{
    if (size == 7) {
        return (poise_pose){.rotation = {n[3], n[4], n[5], n[6]}, .position = vector(n)};
    }
    const double matrix[9] = {n[0], n[1], n[2], n[4], n[5], n[6], n[8], n[9], n[10]};
    return (poise_pose){.rotation = poise_quat_from_matrix(matrix), .position = {n[3], n[7], n[11]}};
}

// A rotation from a (3, 3) matrix or a quaternion x y z w.
static bool rotation_take(PyObject *object, const char *what, poise_quat *rotation)
{
    numbers array;
    if (!numbers_take(&array, object, what)) {
        return false;
    }
    const double *n = array.at;
    bool ok = array.count == 4 || array.count == 9;
    if (array.count == 4) {
        *rotation = poise_goal_orientation(0, (poise_quat){n[0], n[1], n[2], n[3]}).target.rotation;
    } else if (array.count == 9) {
        const double matrix[16] = {n[0], n[1], n[2], 0, n[3], n[4], n[5], 0, n[6], n[7], n[8], 0, 0, 0, 0, 1};
        poise_pose pose;
        ok = pose_from_numbers(matrix, 16, what, &pose);
        *rotation = pose.rotation;
    } else {
        PyErr_Format(PyExc_ValueError, "%s: a (3, 3) matrix or a quaternion x y z w is wanted", what);
    }
    numbers_release(&array);
    return ok;
}

static bool vector_take(PyObject *object, const char *what, poise_vec3 *out)
{
    double xyz[3];
    if (!numbers_copy(object, what, xyz, 3)) {
        return false;
    }
    *out = vector(xyz);
    return true;
}

static bool set_name(PyObject **place, PyObject *value, const char *what)
{
    if (!PyUnicode_Check(value) && !PyLong_Check(value)) {
        PyErr_Format(PyExc_TypeError, "%s: a name or an index is wanted, not %R", what, (PyObject *)Py_TYPE(value));
        return false;
    }
    Py_IncRef(value);
    Py_DecRef(*place);
    *place = value;
    return true;
}

static bool set_body(goal_object *g, PyObject *value)
{
    return set_name(&g->body, value, "body");
}

static bool set_other(goal_object *g, PyObject *value)
{
    return set_name(&g->body2, value, "other");
}

static bool set_target(goal_object *g, PyObject *value)
{
    switch (g->goal.kind) {
    case POISE_GOAL_POSE:
    case POISE_GOAL_RELATIVE:
        return pose_take(value, "target", &g->goal.target);
    case POISE_GOAL_ORIENTATION:
        return rotation_take(value, "target", &g->goal.target.rotation);
    default:
        return vector_take(value, "target", &g->goal.target.position);
    }
}

// unit directions: made so here, so that any length will do
static bool set_unit(poise_vec3 *place, PyObject *value, const char *what)
{
    poise_vec3 v;
    if (!vector_take(value, what, &v)) {
        return false;
    }
    poise_goal made = poise_goal_direction(0, v, v);
    *place = made.axis;
    return true;
}

static bool set_direction(goal_object *g, PyObject *value)
{
    return set_unit(&g->goal.direction, value, "direction");
}

static bool set_axis(goal_object *g, PyObject *value)
{
    return set_unit(&g->goal.axis, value, "axis");
}

static bool set_point(goal_object *g, PyObject *value)
{
    return vector_take(value, "point", &g->goal.local.position);
}

static bool set_local(goal_object *g, PyObject *value)
{
    return pose_take(value, "local", &g->goal.local);
}

// Half the width of a band by axis; one number holds for all three.
static bool band_take(PyObject *value, const char *what, poise_vec3 *band)
{
    if (!PyFloat_Check(value) && !PyLong_Check(value)) {
        return vector_take(value, what, band);
    }
    double half = PyFloat_AsDouble(value);
    *band = (poise_vec3){half, half, half};
    return !PyErr_Occurred();
}

static bool set_tolerance(goal_object *g, PyObject *value)
{
    return band_take(value, "tolerance", &g->goal.tolerance);
}

static bool set_rotation_tolerance(goal_object *g, PyObject *value)
{
    return band_take(value, "rotation_tolerance", &g->goal.rotation_tolerance);
}

// an array that the goal points to: held, not copied, so that a caller may write the next frame into it
static bool set_array(goal_object *g, int which, PyObject *value, const char *what, const double **place)
{
    numbers array;
    if (!numbers_take(&array, value, what)) {
        return false;
    }
    if (g->has_array[which]) {
        numbers_release(&g->arrays[which]);
    }
    g->arrays[which] = array;
    g->has_array[which] = true;
    *place = array.at;
    return true;
}

static bool set_q(goal_object *g, PyObject *value)
{
    return set_array(g, 0, value, "q", &g->goal.q);
}

static bool set_q_before(goal_object *g, PyObject *value)
{
    return value == Py_None || set_array(g, 1, value, "q_before", &g->goal.q_before);
}

static bool set_weights(goal_object *g, PyObject *value)
{
    return value == Py_None || set_array(g, 2, value, "weights", &g->goal.q_weights);
}

static const char *loss_choice(int value)
{
    static const char *const names[] = {"none", "huber", "geman_mcclure"};
    return value < POISE_LOSS_COUNT ? names[value] : NULL;
}

#define KIND(name) (1u << POISE_GOAL_##name)
enum {
    PLACED = KIND(POSITION) | KIND(AIM) | KIND(PLANE) | KIND(LINE) | KIND(DISTANCE), // a point of a body
    FRAMED = KIND(POSE) | KIND(RELATIVE),
    TURNED = FRAMED | KIND(ORIENTATION),
    PLAIN = KIND(POSTURE) | KIND(SMOOTHNESS),
    ALL = (1u << POISE_GOAL_KIND_COUNT) - 1,
    BODIED = ALL & ~(PLAIN | KIND(CENTER_OF_MASS)),
};

// What a constructor takes, by name: a setter, or a member as options.c sets it.
typedef struct parameter {
    const char *name;
    unsigned kinds;
    bool (*set)(goal_object *goal, PyObject *value);
    option member;
} parameter;

#define GOAL(name, kind)                                                                                                    \
    {                                                                                                                       \
#name, kind, offsetof(poise_goal, name), NULL                                                                       \
    }
static const parameter parameters[] = {
    {"body", BODIED, set_body, {0}},
    {"other", KIND(RELATIVE), set_other, {0}},
    {"target", PLACED | TURNED | KIND(CENTER_OF_MASS), set_target, {0}},
    {"direction", KIND(DIRECTION) | KIND(LINE), set_direction, {0}},
    {"normal", KIND(PLANE), set_direction, {0}},
    {"axis", KIND(DIRECTION) | KIND(AIM), set_axis, {0}},
    {"point", PLACED, set_point, {0}},
    {"local", TURNED, set_local, {0}},
    {"distance", KIND(DISTANCE), NULL, GOAL(distance, OPTION_NUMBER)},
    {"q", PLAIN, set_q, {0}},
    {"q_before", KIND(SMOOTHNESS), set_q_before, {0}},
    {"weights", PLAIN, set_weights, {0}},
    {"weight", ALL, NULL, GOAL(weight, OPTION_NUMBER)},
    {"rotation_weight", FRAMED, NULL, GOAL(rotation_weight, OPTION_NUMBER)},
    {"priority", ALL, NULL, GOAL(priority, OPTION_INTEGER)},
    {"tolerance", KIND(POSITION) | KIND(POSE), set_tolerance, {0}},
    {"rotation_tolerance", KIND(ORIENTATION) | KIND(POSE), set_rotation_tolerance, {0}},
    {"loss", PLACED | KIND(POSE), NULL, {"loss", OPTION_CHOICE, offsetof(poise_goal, loss), loss_choice}},
    {"loss_scale", PLACED | KIND(POSE), NULL, GOAL(loss_scale, OPTION_NUMBER)},
};
enum { PARAMETER_COUNT = sizeof parameters / sizeof *parameters };

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
};

static bool set_parameter(goal_object *g, const char *name, PyObject *value)
{
    for (int i = 0; i < PARAMETER_COUNT; ++i) {
        const parameter *p = &parameters[i];
        if (strcmp(p->name, name) == 0 && (p->kinds >> g->goal.kind & 1)) {
            if (p->set) {
                return p->set(g, value);
            }
            PyObject *key = PyUnicode_FromString(name);
            bool ok = key && option_set(&g->goal, &p->member, 1, "a goal", key, value);
            Py_DecRef(key);
            return ok;
        }
    }
    PyErr_Format(PyExc_TypeError, "a goal of kind \"%s\" takes no \"%s\"", poise_goal_kind_name(g->goal.kind), name);
    return false;
}

static bool set_all(goal_object *g, const kind *k, PyObject *arguments, PyObject *keywords)
{
    Py_ssize_t count = PyTuple_Size(arguments);
    if (count > MOST_POSITIONAL || (count > 0 && !k->positional[count - 1])) {
        PyErr_Format(PyExc_TypeError, "poise.%s takes fewer arguments", poise_goal_kind_name(k->kind));
        return false;
    }
    for (Py_ssize_t i = 0; i < count; ++i) {
        if (!set_parameter(g, k->positional[i], PyTuple_GetItem(arguments, i))) {
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
        if (!set_parameter(g, PyUnicode_AsUTF8AndSize(name, NULL), value)) {
            return false;
        }
    }
    return true;
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
    {NULL, NULL, 0, NULL},
};

// ---- Goals of a call -----------------------------------------------------------------------------------------------------

// q, q_before and weights have as many numbers as the model asks for
static bool check_arrays(const goal_object *g, const model_object *model)
{
    static const char *const names[ARRAY_COUNT] = {"q", "q_before", "weights"};
    for (int i = 0; i < ARRAY_COUNT; ++i) {
        Py_ssize_t wanted = i < 2 ? model->info.nq : model->info.nv;
        if (g->has_array[i] && g->arrays[i].count != wanted) {
            PyErr_Format(PyExc_ValueError, "%s of a %s goal: %zd numbers are wanted, not %zd", names[i],
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

static bool take_one(poise_goal *out, const model_object *model, PyObject *object)
{
    if (Py_TYPE(object) != goal_type) {
        PyErr_Format(PyExc_TypeError, "a goal is wanted, such as poise.pose(...), not %R", (PyObject *)Py_TYPE(object));
        return false;
    }
    return resolve(out, (const goal_object *)object, model);
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
        raise_refusal(&error);
        return false;
    }
    array->goals = array->words->goals;
    array->count = array->words->count;
    return true;
}

static bool take_sequence(goal_array *array, const model_object *model, PyObject *goals)
{
    Py_ssize_t count = PySequence_Size(goals);
    if (count < 0 || count > INT_MAX / 2) {
        PyErr_Format(PyExc_TypeError, "goals: a goal or a list of goals is wanted, not %R", (PyObject *)Py_TYPE(goals));
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
        PyObject *one = PySequence_GetItem(goals, array->count);
        bool ok = one && take_one(&array->goals[array->count], model, one);
        Py_DecRef(one);
        if (!ok) {
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
    bool ok;
    if (Py_TYPE(goals) == goal_type) {
        ok = take_one(array->goals, model, goals);
        array->count = ok;
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
}

int goals_coupled(const goal_array *array)
{
    int coupled = 0;
    for (int i = 0; i < array->count; ++i) {
        coupled += array->goals[i].kind == POISE_GOAL_RELATIVE || array->goals[i].kind == POISE_GOAL_CENTER_OF_MASS;
    }
    return coupled;
}

// ---- The type ------------------------------------------------------------------------------------------------------------

static void goal_dealloc(PyObject *self)
{
    goal_object *g = (goal_object *)self;
    for (int i = 0; i < ARRAY_COUNT; ++i) {
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
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
    return text && set_parameter((goal_object *)self, text, value) ? 0 : -1;
}

static PyObject *goal_kind(PyObject *self, void *closure)
{
    (void)closure;
    return PyUnicode_FromString(poise_goal_kind_name(((goal_object *)self)->goal.kind));
}

static PyObject *goal_weight(PyObject *self, void *closure)
{
    (void)closure;
    return PyFloat_FromDouble(((goal_object *)self)->goal.weight);
}

static PyGetSetDef goal_attributes[] = {
    {"kind", goal_kind, NULL, "\"position\", \"pose\" and so on", NULL},
    {"weight", goal_weight, NULL, "of its squared error", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot goal_slots[] = {
    {Py_tp_doc,
     "What a skeleton should do. Made by poise.position, poise.pose and the others; parameters of a goal can be set\n"
     "anew: goal.target = T."},
    {Py_tp_new, new_refused},
    {Py_tp_dealloc, goal_dealloc},
    {Py_tp_repr, goal_repr},
    {Py_tp_setattro, goal_setattr},
    {Py_tp_getset, goal_attributes},
    {0, NULL},
};

static PyType_Spec goal_spec = {
    .name = "poise.Goal", .basicsize = sizeof(goal_object), .flags = Py_TPFLAGS_DEFAULT, .slots = goal_slots};

bool goals_add(PyObject *module)
{
    goal_type = (PyTypeObject *)type_add(module, &goal_spec);
    return goal_type && PyModule_AddFunctions(module, makers) == 0;
}
